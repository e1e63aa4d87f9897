/* Words from a list of names. */
#include "base/words.h"

#include "check.h"

#include <string.h>

static const char *const fruit[] = { "apple", "pear", "plum", NULL };

TEST(a_word_is_found_or_refused_with_the_nearest_name_and_all)
{
    abut_err err = { 0 };
    int at = -1;
    CHECK(!abut_name_find("--fruit", "plum", fruit, &at, &err) && at == 2);
    CHECK(abut_name_find("--fruit", "appel", fruit, &at, &err) == ABUT_E_ARG);
    CHECK(!strcmp(err.msg, "--fruit appel: did you mean apple? know apple, pear, plum"));
    CHECK(abut_name_find("--fruit", "xyz", fruit, &at, &err) == ABUT_E_ARG);
    CHECK(!strcmp(err.msg, "--fruit xyz: know apple, pear, plum"));
}

TEST(a_name_is_near_where_at_most_a_third_of_the_letters_differ)
{
    static const char *const keys[] = { "solver", "of", NULL };
    CHECK(!strcmp(abut_name_nearest("slover", keys), "solver") && !strcmp(abut_name_nearest("savler", keys), "solver"));
    CHECK(!abut_name_nearest("colour", keys));
    CHECK(!strcmp(abut_name_nearest("if", keys), "of") && !abut_name_nearest("it", keys) && !abut_name_nearest("", keys));
}

TEST(names_are_joined_as_far_as_they_fit)
{
    char text[32], few[8];
    CHECK(!strcmp(abut_names_join(fruit, text, sizeof text), "apple, pear, plum"));
    CHECK(!strcmp(abut_names_join(fruit, few, sizeof few), "apple, "));
    CHECK(!strcmp(abut_names_join(fruit + 3, text, sizeof text), ""));
}

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

TEST(letters_that_are_left_out_doubled_changed_or_swapped_count_one_each)
{
    static const char *const keys[] = { "abcdefghi", NULL };      /* of seven letters three may differ, of ten four */
    static const char *const near[] = { "abcdefghi", "bcdefghi", "abcdefgh", "aabcdefghi", "abcdefghii", "bacdefghi", "abcdefgih",
                                        "badcfeghi", "xyzdefghi", "abcdefxyz", "cdefghi", "abcdefg", "xbacdefghi" };
    static const char *const far[] = { "badcfehgi", "wxyzefghi", "abcdewxyz", "defghi", "abcdef", "efghi", "abcde", "" };
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) CHECK(abut_name_nearest(near[i], keys) == keys[0]);
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) CHECK(!abut_name_nearest(far[i], keys));
    static const char *const two[] = { "xxcdefghi", "xbcdefghi", "abcdefghx", NULL };
    CHECK(abut_name_nearest("abcdefghi", two) == two[1]);         /* the nearest, of equals the first */
}

TEST(words_of_forty_letters_are_compared_and_longer_ones_are_near_nothing)
{
    char word[42], name[42];
    const char *const keys[] = { name, NULL };
    for (int n = 39; n <= 41; n++)
        for (int m = 39; m <= 41; m++) {
            memset(word, 'a', sizeof word), memset(name, 'a', sizeof name);
            word[n] = name[m] = '\0', word[0] = 'b';
            CHECK(abut_name_nearest(word, keys) == (n <= 40 && m <= 40 ? name : NULL));
        }
}

TEST(one_thing_is_singular_and_no_other_number_is)
{
    CHECK(!strcmp(abut_s(1), "") && !strcmp(abut_s(0), "s") && !strcmp(abut_s(2), "s") && !strcmp(abut_s(-1), "s"));
    CHECK(!strcmp(abut_plural(1, "body", "bodies"), "body") && !strcmp(abut_plural(3, "body", "bodies"), "bodies"));
}

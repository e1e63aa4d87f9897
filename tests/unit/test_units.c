/* Units of quantities against their definitions. */
#include "base/words.h"

#include "check.h"

#include <math.h>
#include <string.h>

TEST(a_number_of_units_is_that_many_of_the_si_unit)
{
    static const struct {
        abut_quantity q;
        const char *name;
        double in_one;      /* so many of the unit are one of SI */
    } known[] = { { ABUT_Q_TIME, "ms", 1000 },     { ABUT_Q_TIME, "min", 1 / 60. },         { ABUT_Q_TIME, "h", 1 / 3600. },
                  { ABUT_Q_LENGTH, "um", 1e6 },    { ABUT_Q_SPEED, "km/h", 3.6 },           { ABUT_Q_DENSITY, "g/cm^3", 1e-3 },
                  { ABUT_Q_DENSITY, "t/mm^3", 1e-12 }, { ABUT_Q_PRESSURE, "N/mm^2", 1e-6 }, { ABUT_Q_VOLUME, "cm^3", 1e6 },
                  { ABUT_Q_STIFFNESS, "N/mm", 1e-3 },  { ABUT_Q_ANGLE, "deg", 180 / 3.141592653589793 },
                  { ABUT_Q_RATE, "rpm", 30 / 3.141592653589793 } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const abut_unit *u = abut_unit_find(known[i].q, known[i].name);
        CHECK(u && fabs(u->factor * known[i].in_one - 1) < 1e-14);
    }
    CHECK(!abut_unit_find(ABUT_Q_LENGTH, "ms") && !abut_unit_find(ABUT_Q_TIME, "") && !abut_unit_find(ABUT_Q_PURE, "m"));
    CHECK(!abut_unit_find(ABUT_Q_LENGTH, "l") && abut_unit_find(ABUT_Q_LENGTH_OR_L, "l")->per_length);
}

TEST(an_si_unit_says_what_it_measures)
{
    CHECK(abut_unit_measures("s") == ABUT_Q_TIME && abut_unit_measures("m") == ABUT_Q_LENGTH);
    CHECK(abut_unit_measures("m/s") == ABUT_Q_SPEED && abut_unit_measures("N/m") == ABUT_Q_STIFFNESS);
    CHECK(abut_unit_measures("ms") == ABUT_Q_PURE && abut_unit_measures("l") == ABUT_Q_PURE);
    CHECK(abut_unit_measures("FILE") == ABUT_Q_PURE && abut_unit_measures(NULL) == ABUT_Q_PURE);
}

TEST(other_spellings_of_a_unit_are_known_and_other_words_are_not)
{
    static const struct {
        abut_quantity q;
        const char *said, *is;
    } known[] = {
        { ABUT_Q_TIME, "sec", "s" },             { ABUT_Q_TIME, "Seconds", "s" },       { ABUT_Q_TIME, "msec", "ms" },
        { ABUT_Q_TIME, "minutes", "min" },       { ABUT_Q_TIME, "\xc2\xb5s", "us" },    { ABUT_Q_TIME, "hrs", "h" },
        { ABUT_Q_LENGTH, "MM", "mm" },           { ABUT_Q_LENGTH, "metres", "m" },      { ABUT_Q_LENGTH, "centimeter", "cm" },
        { ABUT_Q_SPEED, "meters per second", "m/s" },                                   { ABUT_Q_ACCELERATION, "m/s2", "m/s^2" },
        { ABUT_Q_ACCELERATION, "m/s\xc2\xb2", "m/s^2" },                                { ABUT_Q_DENSITY, "kg/m3", "kg/m^3" },
        { ABUT_Q_PRESSURE, "kilopascal", "kPa" }, { ABUT_Q_PRESSURE, "mpa", "MPa" },    { ABUT_Q_ANGLE, "\xc2\xb0", "deg" },
        { ABUT_Q_RATE, "degrees/sec", "deg/s" },  { ABUT_Q_RATE, "RPM", "rpm" } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const abut_unit *u = abut_unit_like(known[i].q, known[i].said);
        CHECK(u && u == abut_unit_find(known[i].q, known[i].is));
    }
    static const char *const none[] = { "", "kg", "x", "seconds seconds seconds seconds seconds", "m" };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) CHECK(!abut_unit_like(ABUT_Q_TIME, none[i]));
}

TEST(names_of_units_are_listed_as_far_as_they_fit)
{
    char text[32], few[6];
    CHECK(!strcmp(abut_unit_names(ABUT_Q_TIME, text, sizeof text), "s, ms, us, min, h"));
    CHECK(!strcmp(abut_unit_names(ABUT_Q_TIME, few, sizeof few), "s, ms"));
    CHECK(!strcmp(abut_unit_names(ABUT_Q_PURE, text, sizeof text), ""));
}

TEST(words_of_any_length_and_spelling_are_compared_with_units)
{
    char degrees[2 * 16 + 1] = "";
    for (int n = 1; n <= 16; n++) {     /* of two bytes, spelt with three letters */
        strcat(degrees, "\xc2\xb0");
        const abut_unit *u = abut_unit_like(ABUT_Q_ANGLE, degrees);
        CHECK(n == 1 ? u && !strcmp(u->name, "deg") : !u);
    }
    /* a word is not taken for the one asked for before */
    CHECK(abut_unit_like(ABUT_Q_TIME, "sec") && !abut_unit_like(ABUT_Q_TIME, ""));
    CHECK(abut_unit_like(ABUT_Q_TIME, "minutes") && !abut_unit_like(ABUT_Q_TIME, "m"));
    CHECK(!abut_unit_like(ABUT_Q_LENGTH, "sec") && !abut_unit_like(ABUT_Q_PURE, "m"));
}

TEST(every_unit_has_its_factor_and_those_of_l_alone_follow_the_length_of_the_scene)
{
    static const struct { const char *name; double factor; } all[] = {
        { "s", 1 }, { "ms", 1e-3 }, { "us", 1e-6 }, { "min", 60 }, { "h", 3600 }, { "1/s", 1 },
        { "m", 1 }, { "cm", 1e-2 }, { "mm", 1e-3 }, { "um", 1e-6 }, { "nm", 1e-9 }, { "l", 1 },
        { "m/s", 1 }, { "cm/s", 1e-2 }, { "mm/s", 1e-3 }, { "um/s", 1e-6 }, { "km/h", 1000. / 3600 }, { "l/s", 1 },
        { "m/s^2", 1 }, { "mm/s^2", 1e-3 }, { "N", 1 }, { "mN", 1e-3 }, { "kN", 1e3 }, { "N m", 1 }, { "mN m", 1e-3 },
        { "kN m", 1e3 }, { "N m/rad", 1 }, { "N s/m", 1 }, { "N m s/rad", 1 }, { "N/m", 1 }, { "kN/m", 1e3 },
        { "N/mm", 1e3 }, { "N/m^3", 1 }, { "kg/m^3", 1 }, { "g/cm^3", 1e3 }, { "t/mm^3", 1e12 }, { "Pa", 1 }, { "kPa", 1e3 },
        { "MPa", 1e6 }, { "GPa", 1e9 }, { "N/mm^2", 1e6 }, { "bar", 1e5 }, { "m^3", 1 }, { "cm^3", 1e-6 }, { "mm^3", 1e-9 },
        { "kg", 1 }, { "g", 1e-3 }, { "t", 1e3 }, { "kg m^2", 1 }, { "g cm^2", 1e-7 },
        { "deg", 3.141592653589793 / 180 }, { "rad", 1 }, { "deg/s", 3.141592653589793 / 180 }, { "rad/s", 1 },
        { "rpm", 3.141592653589793 / 30 } };
    enum { ALL = sizeof all / sizeof *all };
    int seen[ALL] = { 0 };
    for (int q = ABUT_Q_PURE; q <= ABUT_Q_RATE; q++) {
        char text[256];
        abut_unit_names((abut_quantity)q, text, sizeof text);
        for (char *name = strtok(text, ","); name; name = strtok(NULL, ",")) {
            name += *name == ' ';
            const abut_unit *u = abut_unit_find((abut_quantity)q, name);
            int at = 0;
            while (at < ALL && strcmp(all[at].name, name)) at++;
            CHECK(u && at < ALL);
            if (!u || at == ALL) continue;
            seen[at]++;
            CHECK(fabs(u->factor - all[at].factor) <= 1e-15 * all[at].factor && u->per_length == (*name == 'l'));
            /* an SI unit measures one quantity, the one without l */
            const int is_si = u->factor == 1 && !u->per_length;
            if (q != ABUT_Q_LENGTH_OR_L && q != ABUT_Q_SPEED_OR_L) CHECK((int)abut_unit_measures(name) == is_si * q);
        }
    }
    for (int i = 0; i < ALL; i++) CHECK(seen[i] > 0);
}

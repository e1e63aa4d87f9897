#include "base/words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 40 };

/* Letters to insert, delete or change, counting a swap of neighbours as one (optimal string alignment). */
static int word_distance(const char *a, const char *b)
{
    const int n = (int)strlen(a), m = (int)strlen(b);
    int d[WORD_MAX + 1][WORD_MAX + 1];
    if (n > WORD_MAX || m > WORD_MAX) return WORD_MAX;
    for (int i = 0; i <= n; i++) d[i][0] = i;
    for (int k = 0; k <= m; k++) d[0][k] = k;
    for (int i = 1; i <= n; i++)
        for (int k = 1; k <= m; k++) {
            int best = d[i - 1][k - 1] + (a[i - 1] != b[k - 1]);
            if (d[i - 1][k] + 1 < best) best = d[i - 1][k] + 1;
            if (d[i][k - 1] + 1 < best) best = d[i][k - 1] + 1;
            const int swapped = i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1];
            if (swapped && d[i - 2][k - 2] + 1 < best) best = d[i - 2][k - 2] + 1;
            d[i][k] = best;
        }
    return d[n][m];
}

const char *abut_name_nearest(const char *word, const char *const *names)
{
    const char *best = NULL;
    int least = ((int)strlen(word) + 2) / 3 + 1;
    for (; *names; names++) {
        const int d = word_distance(word, *names);
        if (d < least) least = d, best = *names;
    }
    return best;
}

const char *abut_names_join(const char *const *names, char *buf, size_t size)
{
    size_t used = 0;
    *buf = 0;
    for (int i = 0; names[i] && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? ", " : "", names[i]);
    return buf;
}

abut_status abut_name_find(const char *what, const char *word, const char *const *names, int *index, abut_err *err)
{
    char all[240];
    for (*index = 0; names[*index]; ++*index)
        if (!strcmp(word, names[*index])) return ABUT_OK;
    const char *near = abut_name_nearest(word, names);
    return abut_fail(err, ABUT_E_ARG, "%s %.80s: %s%s%sknow %s", what, word, near ? "did you mean " : "", near ? near : "",
                     near ? "? " : "", abut_names_join(names, all, sizeof all));
}

/* ---- units ---- */

static const double DEGREE = 0.017453292519943295;

static const abut_unit UNITS[] = {
    { ABUT_Q_TIME, "s", 1, 0 },             { ABUT_Q_TIME, "ms", 1e-3, 0 },         { ABUT_Q_TIME, "us", 1e-6, 0 },
    { ABUT_Q_TIME, "min", 60, 0 },          { ABUT_Q_TIME, "h", 3600, 0 },
    { ABUT_Q_PER_TIME, "1/s", 1, 0 },
    { ABUT_Q_LENGTH, "m", 1, 0 },           { ABUT_Q_LENGTH, "cm", 1e-2, 0 },       { ABUT_Q_LENGTH, "mm", 1e-3, 0 },
    { ABUT_Q_LENGTH, "um", 1e-6, 0 },       { ABUT_Q_LENGTH, "nm", 1e-9, 0 },
    { ABUT_Q_LENGTH_OR_L, "m", 1, 0 },      { ABUT_Q_LENGTH_OR_L, "cm", 1e-2, 0 },  { ABUT_Q_LENGTH_OR_L, "mm", 1e-3, 0 },
    { ABUT_Q_LENGTH_OR_L, "um", 1e-6, 0 },  { ABUT_Q_LENGTH_OR_L, "nm", 1e-9, 0 },  { ABUT_Q_LENGTH_OR_L, "l", 1, 1 },
    { ABUT_Q_SPEED, "m/s", 1, 0 },          { ABUT_Q_SPEED, "cm/s", 1e-2, 0 },      { ABUT_Q_SPEED, "mm/s", 1e-3, 0 },
    { ABUT_Q_SPEED, "km/h", 1 / 3.6, 0 },
    { ABUT_Q_SPEED_OR_L, "m/s", 1, 0 },     { ABUT_Q_SPEED_OR_L, "cm/s", 1e-2, 0 }, { ABUT_Q_SPEED_OR_L, "mm/s", 1e-3, 0 },
    { ABUT_Q_SPEED_OR_L, "um/s", 1e-6, 0 }, { ABUT_Q_SPEED_OR_L, "l/s", 1, 1 },
    { ABUT_Q_ACCELERATION, "m/s^2", 1, 0 }, { ABUT_Q_ACCELERATION, "mm/s^2", 1e-3, 0 },
    { ABUT_Q_FORCE, "N", 1, 0 },            { ABUT_Q_FORCE, "mN", 1e-3, 0 },        { ABUT_Q_FORCE, "kN", 1e3, 0 },
    { ABUT_Q_TORQUE, "N m", 1, 0 },         { ABUT_Q_TORQUE, "mN m", 1e-3, 0 },     { ABUT_Q_TORQUE, "kN m", 1e3, 0 },
    { ABUT_Q_STIFFNESS, "N/m", 1, 0 },      { ABUT_Q_STIFFNESS, "kN/m", 1e3, 0 },   { ABUT_Q_STIFFNESS, "N/mm", 1e3, 0 },
    { ABUT_Q_TWIST, "N m/rad", 1, 0 },      { ABUT_Q_DRAG, "N s/m", 1, 0 },         { ABUT_Q_TWIST_DRAG, "N m s/rad", 1, 0 },
    { ABUT_Q_FORCE_DENSITY, "N/m^3", 1, 0 },
    { ABUT_Q_DENSITY, "kg/m^3", 1, 0 },     { ABUT_Q_DENSITY, "g/cm^3", 1e3, 0 },   { ABUT_Q_DENSITY, "t/mm^3", 1e12, 0 },
    { ABUT_Q_PRESSURE, "Pa", 1, 0 },        { ABUT_Q_PRESSURE, "kPa", 1e3, 0 },     { ABUT_Q_PRESSURE, "MPa", 1e6, 0 },
    { ABUT_Q_PRESSURE, "GPa", 1e9, 0 },     { ABUT_Q_PRESSURE, "N/mm^2", 1e6, 0 },  { ABUT_Q_PRESSURE, "bar", 1e5, 0 },
    { ABUT_Q_VOLUME, "m^3", 1, 0 },         { ABUT_Q_VOLUME, "cm^3", 1e-6, 0 },     { ABUT_Q_VOLUME, "mm^3", 1e-9, 0 },
    { ABUT_Q_MASS, "kg", 1, 0 },            { ABUT_Q_MASS, "g", 1e-3, 0 },          { ABUT_Q_MASS, "t", 1e3, 0 },
    { ABUT_Q_INERTIA, "kg m^2", 1, 0 },     { ABUT_Q_INERTIA, "g cm^2", 1e-7, 0 },
    { ABUT_Q_ANGLE, "deg", DEGREE, 0 },     { ABUT_Q_ANGLE, "rad", 1, 0 },
    { ABUT_Q_RATE, "deg/s", DEGREE, 0 },    { ABUT_Q_RATE, "rad/s", 1, 0 },
    { ABUT_Q_RATE, "rpm", 6 * DEGREE, 0 },
};
enum { NUNITS = sizeof UNITS / sizeof *UNITS };

const abut_unit *abut_unit_find(abut_quantity q, const char *name)
{
    for (int i = 0; i < NUNITS; i++)
        if (UNITS[i].q == q && !strcmp(UNITS[i].name, name)) return &UNITS[i];
    return NULL;
}

enum { SPELT = 48 };    /* 31 bytes, of which two become at most three, and the end */

/* Name in lower case, without spaces and ^, words and signs as the table has them. */
static void spell(const char *name, char text[SPELT])
{
    static const char *const said[][2] = {
        { "milli", "m" }, { "micro", "u" }, { "centi", "c" }, { "nano", "n" }, { "kilo", "k" }, { "mega", "m" }, { "giga", "g" },
        { "seconds", "s" }, { "second", "s" }, { "secs", "s" }, { "sec", "s" }, { "minutes", "min" }, { "minute", "min" },
        { "mins", "min" }, { "hours", "h" }, { "hour", "h" }, { "hrs", "h" }, { "hr", "h" }, { "meters", "m" }, { "metres", "m" },
        { "meter", "m" }, { "metre", "m" }, { "microns", "um" }, { "micron", "um" }, { "newtons", "n" }, { "newton", "n" },
        { "pascals", "pa" }, { "pascal", "pa" }, { "degrees", "deg" }, { "degree", "deg" }, { "radians", "rad" },
        { "radian", "rad" }, { "per", "/" }, { "\xc2\xb0", "deg" }, { "\xc2\xb5", "u" }, { "\xce\xbc", "u" },
        { "\xc2\xb2", "2" }, { "\xc2\xb3", "3" }, { "^", "" }, { " ", "" } };
    enum { N = sizeof said / sizeof *said };
    char low[32];
    size_t n = 0;
    snprintf(low, sizeof low, "%s", name);
    for (char *s = low; *s; s++) *s = (char)tolower((unsigned char)*s);
    for (const char *s = low; *s;) {
        size_t i = 0;
        while (i < N && strncmp(s, said[i][0], strlen(said[i][0]))) i++;
        n += (size_t)snprintf(text + n, SPELT - n, "%.*s", i < N ? 3 : 1, i < N ? said[i][1] : s);
        s += i < N ? strlen(said[i][0]) : 1;
    }
    text[n] = '\0';
}

const abut_unit *abut_unit_like(abut_quantity q, const char *name)
{
    char a[SPELT], b[SPELT];
    spell(name, a);
    for (int i = 0; i < NUNITS; i++) {
        spell(UNITS[i].name, b);
        if (UNITS[i].q == q && !strcmp(a, b)) return &UNITS[i];
    }
    return NULL;
}

abut_quantity abut_unit_measures(const char *name)
{
    for (int i = 0; name && i < NUNITS; i++)
        if (UNITS[i].factor == 1 && !UNITS[i].per_length && !strcmp(UNITS[i].name, name)) return UNITS[i].q;
    return ABUT_Q_PURE;
}

const char *abut_unit_names(abut_quantity q, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < NUNITS && used < size; i++)
        if (UNITS[i].q == q) used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", UNITS[i].name);
    return text;
}

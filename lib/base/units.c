#include "base/units.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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
    { ABUT_Q_STIFFNESS, "N/m", 1, 0 },      { ABUT_Q_STIFFNESS, "kN/m", 1e3, 0 },   { ABUT_Q_STIFFNESS, "N/mm", 1e3, 0 },
    { ABUT_Q_FORCE_DENSITY, "N/m^3", 1, 0 },
    { ABUT_Q_DENSITY, "kg/m^3", 1, 0 },     { ABUT_Q_DENSITY, "g/cm^3", 1e3, 0 },   { ABUT_Q_DENSITY, "t/mm^3", 1e12, 0 },
    { ABUT_Q_PRESSURE, "Pa", 1, 0 },        { ABUT_Q_PRESSURE, "kPa", 1e3, 0 },     { ABUT_Q_PRESSURE, "MPa", 1e6, 0 },
    { ABUT_Q_PRESSURE, "GPa", 1e9, 0 },     { ABUT_Q_PRESSURE, "N/mm^2", 1e6, 0 },  { ABUT_Q_PRESSURE, "bar", 1e5, 0 },
    { ABUT_Q_VOLUME, "m^3", 1, 0 },         { ABUT_Q_VOLUME, "cm^3", 1e-6, 0 },     { ABUT_Q_VOLUME, "mm^3", 1e-9, 0 },
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

/* Name in lower case, without spaces and ^, words and signs as the table has them. */
static void spell(const char *name, char text[32])
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
        n += (size_t)snprintf(text + n, 32 - n, "%.*s", i < N ? 3 : 1, i < N ? said[i][1] : s);
        s += i < N ? strlen(said[i][0]) : 1;
    }
    text[n] = '\0';
}

const abut_unit *abut_unit_like(abut_quantity q, const char *name)
{
    char a[32], b[32];
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

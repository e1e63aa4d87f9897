/* Words from a list of names, as options and keys have them; units of physical quantities: names, and factors to SI units. */
#ifndef ABUT_BASE_WORDS_H
#define ABUT_BASE_WORDS_H

#include "base/err.h"

#include <stddef.h>

/** The name nearest to `word` (fewest letters to change: at most a third of its own, rounded up), NULL: none is near.
 * names: NULL-terminated. */
const char *abut_name_nearest(const char *word, const char *const *names);

/** The names in their order, comma separated, as far as they fit; returns buf. */
const char *abut_names_join(const char *const *names, char *buf, size_t size);

/** For messages with numbers: "s" unless n is 1, as in "%d frame%s", n, abut_s(n); or one of two words. */
static inline const char *abut_plural(long long n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}
static inline const char *abut_s(long long n)
{
    return abut_plural(n, "", "s");
}

/** *index: the place of `word` among names.
 * Fails  ABUT_E_ARG with `what` and the word, the nearest name and all of them */
ABUT_MUST_USE abut_status abut_name_find(const char *what, const char *word, const char *const *names, int *index, abut_err *err);

/* ---- units ---- */

/* Quantity of a number, in SI units; words.c has a table of other units.  For quantities marked "unit" the scene language rejects
 * a number without a unit, because it is ambiguous. */
typedef enum abut_quantity {
    ABUT_Q_PURE,            /* no unit                                  */
    ABUT_Q_TIME,            /* s                                        */
    ABUT_Q_PER_TIME,        /* 1/s                                      */
    ABUT_Q_LENGTH,          /* m                                        */
    ABUT_Q_LENGTH_OR_L,     /* unit: m or l                             */
    ABUT_Q_SPEED,           /* m/s                                      */
    ABUT_Q_SPEED_OR_L,      /* unit: m/s or l/s                         */
    ABUT_Q_ACCELERATION,    /* m/s^2                                    */
    ABUT_Q_FORCE,           /* N                                        */
    ABUT_Q_TORQUE,          /* N m                                      */
    ABUT_Q_STIFFNESS,       /* N/m                                      */
    ABUT_Q_TWIST,           /* N m/rad                                  */
    ABUT_Q_DRAG,            /* N s/m                                    */
    ABUT_Q_TWIST_DRAG,      /* N m s/rad                                */
    ABUT_Q_FORCE_DENSITY,   /* N/m^3                                    */
    ABUT_Q_DENSITY,         /* kg/m^3                                   */
    ABUT_Q_PRESSURE,        /* Pa                                       */
    ABUT_Q_VOLUME,          /* m^3                                      */
    ABUT_Q_MASS,            /* kg                                       */
    ABUT_Q_INERTIA,         /* kg m^2                                   */
    ABUT_Q_ANGLE,           /* unit: deg or rad                         */
    ABUT_Q_RATE             /* unit: deg/s or rad/s                     */
} abut_quantity;

typedef struct abut_unit {
    abut_quantity q;
    const char *name;
    double factor;          /* to SI */
    int per_length;         /* of the length l of the scene */
} abut_unit;

/** The unit of q with that name; NULL: there is none. */
const abut_unit *abut_unit_find(abut_quantity q, const char *name);

/** The unit of q that another spelling may mean, such as "sec", "M", "m/s2"; NULL: none. */
const abut_unit *abut_unit_like(abut_quantity q, const char *name);

/** The quantity whose SI unit has that name (NULL allowed), for lengths and speeds the one without l; ABUT_Q_PURE: none. */
abut_quantity abut_unit_measures(const char *name);

/** Writes the names of the units of q, such as "s, ms, us, min", into text[size]; "" if it has none.  Returns text. */
const char *abut_unit_names(abut_quantity q, char *text, size_t size);

#endif

/* Time schemes that a MODEL names by number: a row each, in the order of these numbers, which stand in streams: append only.
 *
 * A row has the name in scenes, what is true of the scheme, its order, and the numbers of its equations.  All else asks the row;
 * solve/integrator.h has the equations of each form. */
#ifndef ABUT_MODEL_SCHEMES_H
#define ABUT_MODEL_SCHEMES_H

#include "model/model.h"

/* Equations of a step (solve/integrator.c). */
enum {
    ABUT_FORM_MULTISTEP,    /* backward differences, with the numbers b and a of the row */
    ABUT_FORM_BDF2,         /* those of second order, by differences of neighbouring states: other bits, the same numbers */
    ABUT_FORM_NEWMARK,      /* a state has accelerations */
    ABUT_FORM_MIDPOINT,
    ABUT_FORM_STATIC
};

/* Properties. */
enum {
    ABUT_SCHEME_INERTIA = 1,
    ABUT_SCHEME_A_STABLE = 2,       /* no step, however long, amplifies a damped oscillation */
    ABUT_SCHEME_DAMPS = 4,          /* every step damps every oscillation */
    ABUT_SCHEME_KEEPS_ENERGY = 8,   /* of linear oscillations, as x' = x + h (v + v')/2 does; those of stiff bodies that turn may
                                     * gain: implicit Euler takes such steps (solve/step/energy.c) */
    ABUT_SCHEME_PLAIN = 16,         /* v' = (x' - x) / h, all forces at the end, nothing from before the frame: the scheme of
                                     * steps that are halved or damped, and of solvers with a step of their own */
    ABUT_SCHEME_ACCELERATION = 32,  /* a state of the scheme has accelerations, node/a */
    ABUT_SCHEME_BETA_GAMMA = 64     /* the scene may choose its numbers: time.newmark */
};

/* Numbers: elasticity is that at x + share (x' - x), where also smooth loads act; the velocity after a step is
 * rate (x' - c) / h; PAST states before the start are read; s is s_I, b and a_1, ... are those of BDF (solve/integrator.h).
 * A scheme whose numbers are a scene's has those of the defaults here. */
#define ABUT_MULTISTEP(FORM, PAST, B, ...) \
    .form = FORM, .share = 1, .s = (B) * (B), .rate = 1 / (B), .past = PAST, .b = B, .a = { __VA_ARGS__ }
#define ABUT_ONE_STEP(FORM, SHARE, S, RATE) .form = FORM, .share = SHARE, .s = S, .rate = RATE, .b = 1

/*         last part of its enumerator, name, order, properties, numbers */
#define ABUT_TIME_SCHEMES(SCHEME) \
    SCHEME(IMPLICIT_EULER, "implicit-euler", 1, \
           ABUT_SCHEME_INERTIA | ABUT_SCHEME_A_STABLE | ABUT_SCHEME_DAMPS | ABUT_SCHEME_PLAIN, \
           ABUT_MULTISTEP(ABUT_FORM_MULTISTEP, 0, 1.0, 0)) \
    SCHEME(IMPLICIT_NEWMARK, "implicit-newmark", 2, \
           ABUT_SCHEME_INERTIA | ABUT_SCHEME_A_STABLE | ABUT_SCHEME_KEEPS_ENERGY | ABUT_SCHEME_ACCELERATION | \
           ABUT_SCHEME_BETA_GAMMA, ABUT_ONE_STEP(ABUT_FORM_NEWMARK, 1, 0.5, 2)) \
    SCHEME(BDF2, "bdf2", 2, ABUT_SCHEME_INERTIA | ABUT_SCHEME_A_STABLE | ABUT_SCHEME_DAMPS, \
           ABUT_MULTISTEP(ABUT_FORM_BDF2, 1, 2.0 / 3, -1.0 / 3)) \
    SCHEME(MIDPOINT, "midpoint", 2, ABUT_SCHEME_INERTIA | ABUT_SCHEME_A_STABLE | ABUT_SCHEME_KEEPS_ENERGY, \
           ABUT_ONE_STEP(ABUT_FORM_MIDPOINT, 0.5, 0.5, 2)) \
    SCHEME(QUASI_STATIC, "quasi-static", 0, ABUT_SCHEME_A_STABLE, ABUT_ONE_STEP(ABUT_FORM_STATIC, 1, 1, 1)) \
    SCHEME(BDF3, "bdf3", 3, ABUT_SCHEME_INERTIA, \
           ABUT_MULTISTEP(ABUT_FORM_MULTISTEP, 2, 6.0 / 11, -9.0 / 11, 2.0 / 11)) \
    SCHEME(BDF4, "bdf4", 4, ABUT_SCHEME_INERTIA, \
           ABUT_MULTISTEP(ABUT_FORM_MULTISTEP, 3, 12.0 / 25, -36.0 / 25, 16.0 / 25, -3.0 / 25)) \
    SCHEME(BDF5, "bdf5", 5, ABUT_SCHEME_INERTIA, \
           ABUT_MULTISTEP(ABUT_FORM_MULTISTEP, 4, 60.0 / 137, -300.0 / 137, 200.0 / 137, -75.0 / 137, 12.0 / 137)) \
    SCHEME(BDF6, "bdf6", 6, ABUT_SCHEME_INERTIA, \
           ABUT_MULTISTEP(ABUT_FORM_MULTISTEP, 5, 20.0 / 49, -450.0 / 147, 400.0 / 147, -225.0 / 147, 72.0 / 147, -10.0 / 147)) \
    /* append here */

#define ABUT_SCHEME_ID(id, ...) ABUT_##id,
enum { ABUT_TIME_SCHEMES(ABUT_SCHEME_ID) ABUT_ALL_SCHEMES };

typedef struct abut_scheme {
    const char *name;
    int order;
    unsigned is;        /* ABUT_SCHEME_* */
    int form, past;
    double share, s, rate, b, a[ABUT_PAST];
} abut_scheme;
extern const abut_scheme abut_schemes[ABUT_ALL_SCHEMES];
extern const char *const abut_scheme_names[];   /* NULL at the end */

/* Scheme of a model without time/scheme, and of damped steps: it is plain. */
enum { ABUT_FIRST_SCHEME = 0 };

static inline int abut_scheme_of(const abut_model *m) { return m->scheme ? m->scheme[0] : ABUT_FIRST_SCHEME; }
static inline int abut_scheme_is(int scheme, unsigned property) { return (abut_schemes[scheme].is & property) != 0; }
/** Returns the scheme of highest order with a property, among equals the first. */
int abut_scheme_with(unsigned property);

#endif

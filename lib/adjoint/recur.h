/* Linear maps of a time scheme.  The inertial prediction, the positions at which friction rests, and the velocity and
 * acceleration after a step are linear in the numbers below, component by component.  Their coefficients are computed with
 * solve/integrator.c, one unit input after the other: every scheme there has its transposed map here. */
#ifndef ABUT_ADJOINT_RECUR_H
#define ABUT_ADJOINT_RECUR_H

#include "adjoint/bars.h"
#include "solve/integrator.h"

/* Coefficients of one output. */
typedef struct abut_recur_row {
    double end;             /* of x' */
    double x, v, a, acc, target;
    double past_x[ABUT_PAST], past_v[ABUT_PAST];
} abut_recur_row;

/* still, v: of free nodes and of prescribed ones; a: of free nodes (Newmark). */
typedef struct abut_recur {
    abut_recur_row xhat, still[2], v[2], a;
} abut_recur;

/** m: its time step and the numbers of its scheme; force_scale: s_I h^2, or T^2 of a quasi-static step, s^2. */
void abut_recur_of(const abut_model *m, int scheme, double force_scale, abut_recur *r);

/* Bars that the bar of an output adds to. */
typedef struct abut_recur_bars {
    abut_state_bar *start;
    double *end, *acc, *target;     /* [3 nv] */
} abut_recur_bars;
/** Component i of the bars += the coefficients times b, the bar of component i of an output. */
void abut_recur_give(const abut_recur_row *r, size_t i, double b, const abut_recur_bars *to);

#endif

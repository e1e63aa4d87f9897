/* Upper stretch limits of shells that a direction meets.
 *
 * A slack shell has the stiffness of its membrane; with 1 % more stretch, in the barrier of its limit, it is 1e5 times as stiff.
 * The Hessian at the iterate does not show this: its direction stretches shells far beyond their limits to first order, and steps
 * are bounded at a few hundredths of it.  So barriers b along the principal axes of the strain at the end of a direction p are
 * replaced by their tangents at the stretch c to which p leads to first order.  c is bounded: by a little more than the begin of
 * the barrier, or by a part of the distance to the limit:
 *
 *   b(s + d) = b(c) + b'(c) (s + d - c) + b''(c) (s + d - c)^2 / 2,   d = (ds/dx) p,
 *
 * which is a second Newton iteration on the quadratic model with exact barriers.  If b''(c) - b''(s) is positive, it is added to
 * the matrix, and b'(c) - b''(c) (c - s) - b'(s) to the gradient. */
#ifndef ABUT_ENERGY_STRETCH_AHEAD_H
#define ABUT_ENERGY_STRETCH_AHEAD_H

#include "energy/codim.h"

/* Tangents of one shell: axis, a unit vector of its rest plane; d2b and db, additions to the second and first derivative of b by
 * stretch along the axis [0] and across it [1]. */
typedef struct abut_stretch_tangent {
    double axis[2];
    double d2b[2], db[2];
} abut_stretch_tangent;

/* Zero-filled is empty. */
typedef struct abut_stretch_ahead {
    abut_stretch_tangent *of;   /* [nsh] */
    int any;                    /* 0: all barriers are those at the iterate; `of` is not read */
} abut_stretch_ahead;

/** Allocates tangents for the shells of a model with upper limits; else none.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_stretch_ahead_init(abut_stretch_ahead *a, const abut_model *m, abut_err *err);
void abut_stretch_ahead_clear(abut_stretch_ahead *a);

/** Takes the tangents for the direction p[3 nv] at x[3 nv], if p leads some shell twice as far as its tangent may lie; returns
 * a->any.  Same bits for any thread count. */
int abut_stretch_ahead_take(abut_stretch_ahead *a, const abut_codim *t, const double *x, const double *p);
/** g[3 nv] += scale kappa V times the addition to the gradient, at the same x. */
void abut_stretch_ahead_gradient(const abut_stretch_ahead *a, const abut_codim *t, const double *x, double kappa, double scale,
                                 double *g);
/** G += kappa times the addition to the second derivative of a shell by F, in the frame in which F is diag(s) V^T: by the entries
 * 0 0, 0 1, 1 0, 1 1 of F V, row major. */
void abut_stretch_ahead_frame(const abut_stretch_tangent *of, double kappa, const double s[2], const double V[4], double G[16]);

#endif

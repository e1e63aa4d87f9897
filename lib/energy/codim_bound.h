/* Bounds of shells: which are reached, and how far a direction may be followed (Li 2020, 5.4).
 *
 * Bounds are the stretch limits, the strains of cloth, and for a neo-Hookean membrane that its area is not 0. */
#ifndef ABUT_ENERGY_CODIM_BOUND_H
#define ABUT_ENERGY_CODIM_BOUND_H

#include "contact/step_bound.h"
#include "energy/codim.h"

#define ABUT_STRETCH_LEFT 0.5   /* fraction of the distance to a bound that a step leaves */

/* A bound that a shell is at or beyond. */
typedef struct abut_codim_excess {
    int32_t shell;
    const char *what;       /* "largest stretch", "smallest stretch", "strain along warp", "strain along weft", "shear strain" */
    double value, limit;
    int below;              /* the limit is one from below */
} abut_codim_excess;

/** 1 when some shell is not strictly inside its bounds at x, or has no area (smallest stretch 0); *out is the first of them. */
int abut_codim_outside(const abut_codim *t, const double *x, abut_codim_excess *out);

/* Principal stretches over all shells, and the shells that have them (the lowest number where several do). */
typedef struct abut_codim_stretch {
    double min, max;            /* 1, 1 without shells */
    int32_t min_shell, max_shell;   /* -1 without shells */
    double room; /* smallest remaining fraction of a stretch barrier's width or of a strain bound; 1: none is active */
    int32_t room_shell;         /* -1: none is active */
} abut_codim_stretch;

/** Same bits for any thread count.  scratch: one abut_codim_stretch per block of shells. */
ABUT_MUST_USE abut_status abut_codim_stretch_find(const abut_codim *t, const double *x, abut_codim_stretch *out,
                                                 abut_arena *scratch, abut_err *err);

/** Lowers lim->alpha to the largest step along x -> x + alpha p that leaves every shell the fraction `slack`, in (0, 1), of its
 * distance to each bound at x, as contact/step_bound.h does; lim->tet is the shell.  May be too small by up to 1 %. */
void abut_limit_stretch(const abut_codim *t, const double *x, const double *p, double slack, abut_limit *lim);

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

/* Principal stretches of tets and shells, the singular values of the deformation gradient, 1 at rest; and bounds of shells: which
 * are reached, and how far a direction may be followed (Li 2020, 5.4).  Bounds are the stretch limits, the strains of cloth, and
 * for a neo-Hookean membrane that its area is not 0. */
#ifndef ABUT_ENERGY_STRETCH_H
#define ABUT_ENERGY_STRETCH_H

#include "contact/step_bound.h"
#include "energy/codim.h"
#include "energy/elastic.h"
#include "energy/membrane.h"

/* Extremes over a mesh, and the tets that have them (the lowest index where several do). */
typedef struct abut_stretch {
    double min, max;            /* min is negative when that tet is inverted */
    int32_t min_tet, max_tet;   /* -1 when there is no tet; min and max are 1 then */
} abut_stretch;

/** The smallest and largest principal stretch over all tets at x; same bits for any thread count.
 * scratch: one abut_stretch per block of tets. */
ABUT_MUST_USE abut_status abut_stretch_find(const abut_elastic *e, const double *x, abut_stretch *out, abut_arena *scratch,
                                            abut_err *err);

/* ---- shells ---- */

enum { ABUT_SPAN_BINS = 20 };

/* Extremes over shells; of several the one with the lowest row.  Rows are -1 where there is none. */
typedef struct abut_shell_span {
    int32_t n;                  /* shells looked at */
    double min, max;            /* principal stretches; 1 without shells */
    int32_t min_row, max_row;
    double room;                /* smallest remaining fraction of a barrier's width; 1: none is active, 0: a limit is reached */
    int32_t room_row;
    double strain[3];           /* of cloth: largest |E11|, |E22|, |E12| as a share of its limit; 1 and more: reached */
    int32_t strain_row[3];
    int32_t outside;            /* shells that reach a limit of either kind, or go beyond */
    int64_t bin[ABUT_SPAN_BINS];/* both principal stretches of every shell, in bins from `from` on, `width` each; the first and
                                   last take what lies beyond */
    double from, width;
} abut_shell_span;

/** Looks at the shells of the objects with chosen[object] (NULL: all) at x[3 nv].
 *
 * limits  [4 nsh] as shell/stretch-limit; NULL: none
 * half    the bins reach from 1 - half to 1 + half */
void abut_shell_span_find(const abut_codim *t, const double *x, const double *limits, const uint8_t *chosen, double half,
                          abut_shell_span *out);

/** Copies the model's rows of limits, if any, and sets these limits and thresholds in the rows of chosen objects.  A limit of NAN
 * does not change its side.
 *
 * rows  [4 nsh] out */
void abut_shell_limits(const abut_model *m, const uint8_t *chosen, double lower, double lower_begins, double upper_begins,
                       double upper, double *rows);

/* ---- bounds of shells ---- */

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

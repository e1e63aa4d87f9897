/* Rods that are curved at rest, and their twist: discrete elastic rods (Bergou et al. 2008, 2010) with the twist in equilibrium.
 *
 * Segments of a rod follow each other: edges e^j with unit tangents t^j, each with a material frame (m1, m2, t).  A bend i is
 * between e^{i-1} and e^i:
 *
 *     kb = 2 t^{i-1} x t^i / (1 + t^{i-1}.t^i),   kappa1 = kb.(m2^{i-1} + m2^i)/2,   kappa2 = -kb.(m1^{i-1} + m1^i)/2
 *     m_i = the angle about t^i from m1^{i-1}, taken there by the rotation that takes t^{i-1} to t^i, to m1^i
 *     U = sum k [(kappa1 - kappa1_0)^2 + (kappa2 - kappa2_0)^2] + k/(1 + nu) (m - m_0)^2                          J
 *
 * k is bend/stiffness, E I/(2 l), l the mean rest length of the two segments; of a circular section G J = E I/(1 + nu).
 * kappa_0 = l rod/curvature, m_0 = rod/twist.
 *
 * Material frames are no unknowns: m1 = cos(theta) u + sin(theta) t x u.  u is m1 of the start of the step, rotated as the
 * tangent rotates from there to x, and theta minimises U,
 *
 *     Ue(x) = min over theta of U(x, theta),
 *
 * so that dUe/dx is the partial derivative at that theta.  Only bends j and j + 1 depend on theta^j: each rod is solved by
 * Newton's method with a tridiagonal matrix, from theta = 0.  Edges whose two nodes are held are clamps: theta is the angle by
 * which their motion rotates them about their tangent.  The Hessian is the Gauss-Newton Hessian at that theta.
 *
 * m_i is tracked from the start of the step on, also beyond a half revolution.  Frames cannot distinguish m_i from m_i + 2 pi: at
 * the end of a step |m_i| must be less than pi. */
#ifndef ABUT_ENERGY_CURVED_ROD_H
#define ABUT_ENERGY_CURVED_ROD_H

#include "model/model.h"

/* All rods of a model.  Owns its arrays; borrows the model.  Zero-filled is empty. */
typedef struct abut_curved_rods {
    const abut_model *model;
    int32_t n;                  /* rods: rows of segments that follow each other */
    int32_t *first, *edge;      /* [n + 1]; [nrd] segments, rod after rod */
    int32_t *bend;              /* [nrd] the bend between a segment and the one before it in `edge`; -1: the first of a rod */
    double *rest;               /* [3 nbd] kappa1_0, kappa2_0, m_0 */
    double *twist;              /* [nbd] J: k/(1 + nu) */
    double *t0, *u0;            /* [3 nrd] tangents and material directions m1 at the start of the step */
    uint8_t *clamped;           /* [nrd] */
    double *spin;               /* [nrd] rad: theta of clamps at the end of the step, 0 of others */
    double *m0;                 /* [nrd] m of the bend before a segment at the start, by place as the next */
    double part;                /* fraction of the step at which rods are evaluated: theta of clamps is part spin */
    int32_t *owner;             /* [nv] the motion of each node */
    int has_frame;              /* 1: the frame that the step starts from has rod/frame */
    double *frame;              /* [3 nrd] rod/frame */
    struct abut_curved_rods_work {   /* by segments, in their order in `edge` but for theta, which is by segment */
        double *t, *u, *length; /* [3 nrd], [3 nrd], [nrd] */
        double *kb, *mref;      /* [3 nrd], [nrd] of the bend before a segment */
        double *theta, *m;      /* [nrd]; [6 nrd] m1, m2 */
        double *matrix;         /* [6 nrd] of Newton's method */
        double *f;              /* [9 nbd] */
    } work;
    int iterations;             /* of Newton's method in the last evaluation, the most of any rod */
} abut_curved_rods;

/** Fails  ABUT_E_FORMAT segments of a bend do not follow each other, a rod is closed or branches (names it); ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_curved_rods_init(abut_curved_rods *r, const abut_model *m, abut_err *err);
void abut_curved_rods_clear(abut_curved_rods *r);

/** The curvature of bends at x with frames that are parallel along each rod, in the array's form: out[2 nbd], 1/m. */
ABUT_MUST_USE abut_status abut_curved_rods_measure(abut_curved_rods *r, const double *x, double *out, abut_err *err);

/* As a term, an instance is an abut_curved_rods.  Its operations fail with ABUT_E_NUMERIC if the twist of a rod has not
 * converged.  The energy is +inf where a segment has no length or one folds back onto the one before; there is no gradient. */
struct abut_term_ops;
extern const struct abut_term_ops abut_term_curved_rods;

/* For solvers in which no other term has a state that outlives a step.  No effect if no rod is curved. */
struct abut_terms;
struct abut_at;
/** Loads rod/frame of the frame that a step starts from; call before the terms begin the step. */
ABUT_MUST_USE abut_status abut_curved_rods_load(const struct abut_terms *terms, const abut_frame *f, abut_err *err);
/** *work, J: work of the moments that rotate clamps about their tangents in this step, with the moments at a point of it; 0 if
 * no rod is curved. */
ABUT_MUST_USE abut_status abut_curved_rods_reaction(const struct abut_terms *terms, const struct abut_at *at, double *work,
                                                    abut_err *err);
/** Adds "rod/frame" to a frame that has "node/x".  Fails  ABUT_E_NUMERIC a bend twists by pi or more; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_curved_rods_store(const struct abut_terms *terms, abut_arrays *out, abut_err *err);

#endif

/* Time steps of implicit Euler with contact as linearised inequalities: sequential quadratic programming (SQP), or one fixed
 * quadratic a step (QP).  Barriers are compared with it (Li et al. 2020, section 8 and supplement): it guarantees nothing about
 * intersections, has no friction, and fails if a program has no solution.
 *
 *     x = x_n, held nodes at their targets;   active set = pairs near there
 *     repeat
 *         p = argmin g.p + 1/2 p^T H p   subject to   c_i(x) + dc_i/dx p >= 0,  i in the active set       (solve/baselines/qp.h)
 *         x += alpha p
 *         active set += pairs that the motion x_n -> x meets, pairs near at x
 *     until |p|_inf / h <= tolerance and nothing has joined the active set
 *
 * SQP: g and H are of the objective E at x, H projected; alpha is the first of 1, 1/2, ... that does not raise the exact penalty
 * E + rho sum max(0, -c_i) with rho twice the largest multiplier so far (Nocedal and Wright 2006, 18.3), or alpha = 1 of the
 * first finite E.  QP: E is its quadratic at the start of the step, and alpha = 1. */
#ifndef ABUT_SOLVE_BASELINES_SQP_H
#define ABUT_SOLVE_BASELINES_SQP_H

#include "contact/step_bound.h"
#include "solve/integrator.h"
#include "solve/nodal/failsafe.h"
#include "solve/options.h"
#include "solve/objective.h"
#include "solve/stepper.h"
#include "solve/baselines/qp.h"

/* The active set of quadratic programs: pairs of primitives, and vertices above half-spaces, that have an
 * inequality c(x) >= 0 in the programs of a step.  It grows within a step and ends with it.
 *
 * Proximity finds pairs nearer than dhat beyond the offset; CCD finds pairs that lose all but a tenth of their gap on the motion
 * from the start of the step to the iterate.  A pair is the stencil of its nearest features when it was found, so nearly parallel
 * edges become vertex-edge pairs; in the form `volume` it keeps its four points.  Pairs of fewer points have frozen normals in
 * all forms, and half-spaces are equal in all. */
typedef struct abut_active_pair {
    int32_t vert[4];        /* collision vertices, -1 unused */
    int32_t plane;          /* half-space, -1: none; then kind is ABUT_PP and vert[0] alone is used */
    int32_t kind;           /* abut_stencil */
    double w[4], n[3];      /* frozen where the pair was found */
} abut_active_pair;

/* Owns its arrays.  The owner sets form, by and offset.  Zero-filled is empty; the memory is kept from step to step. */
typedef struct abut_active_set {
    int form, by;               /* ABUT_CONSTRAINT_*, ABUT_ACTIVE_* (model/model.h) */
    double offset;              /* m: least gaps beyond the thickness, 0 or more */
    size_t n, cap;
    abut_active_pair *pair;     /* [n] ascending in (plane, kind, vert) */
    int32_t *row;               /* [4 cap] nodes of the pairs, -1: unused, or held */
    double *a, *c;              /* [12 cap], [cap] */
    uint8_t *fixed;             /* [nc] vertices whose nodes are held */
    abut_candidates cand;
    abut_candidate_search search;
    abut_arena scratch;
} abut_active_set;

/* Zero-filled is empty. */
typedef struct abut_sqp {
    const abut_solve_options *user;
    int fixed;                  /* 1: one quadratic a step */
    abut_model model;           /* as the options change it */
    abut_objective objective;
    abut_point at, trial;       /* points at which E is linearised, and evaluated */
    abut_active_set set;
    abut_bsr H;
    abut_linear_solver linear;
    abut_instant from;
    struct abut_sqp_fields {    /* [3 nv] but for w and diag [nv] */
        double *v0, *v, *acc;   /* m/s, m/s, m/s^2 */
        double *x, *p;          /* m: iterate, step */
        double *g;              /* kg m */
        double *rows_g, *rows_p, *w, *diag;     /* of the unknowns */
        double *y0, *y;         /* [3 nc] m: collision vertices at the start, at the iterate */
    } of;
    double *lambda;             /* [set.n] multipliers of the last program */
    size_t cap_lambda;
    double rho;                 /* of the penalty */
    abut_guard guard;
    int unwritten;              /* no frame shows the end of the present step */
    size_t hits;                /* of the steps since the last frame that was written */
    abut_arena scratch;
} abut_sqp;

/* Steppers of `step --solver sqp` and `qp`.  Every step is judged like by ccd-check, and written in any case.  The number of hits
 * is in the report and in the frame (sqp/hits); with abut_hard_options.strict a step with hits fails. */
extern const abut_stepper_ops abut_sqp_stepper_ops, abut_qp_stepper_ops;

#endif

/* Implicit Euler steps with a constant matrix: fast mass-springs and projective dynamics (Liu 2018, 5 to 7), for real time.
 *
 *     x <- xhat;   repeat   x <- x - A^-1 grad E(x)
 *
 * with the objective E of all solvers (solve/objective.h) and A = M + h^2 L constant, factored when a simulation starts
 * (solve/direction/initial_laplacian.h).  Where every energy is a squared distance (springs, ARAP, attachments), one such
 * iteration is the local step (each element projected to its set) and the global one (all of them fitted) of projective
 * dynamics: (M + h^2 L) x = M xhat + h^2 J p.  Then it never raises E, and its only fixed points are those of implicit Euler.
 * Other materials are fitted by one stiffness each, and a line search ensures descent (Liu 2018, 7.1).  With a history, A is the
 * initial matrix of L-BFGS with a line search (Liu 2018, 7.2, algorithm 4); it forgets its pairs if the set of collisions
 * changes.  A method may have local variables of its own, and matrices.
 *
 * A step that has to converge ends by its residual forces, since slowly converging iterations are short far from the minimum.
 * Near its minimum x*, E has Hessians of at least M, so |x - x*|_M <= |grad E|_M^-1: residual forces of a share of the largest
 * force move bodies by about that share of the motion by the largest.  By default, such a step uses L-BFGS: thin elements would
 * take thousands of iterations without.
 *
 * NOTHING is guaranteed about intersections or inversion: contact is not in E.  The caller chooses to ignore it, or to answer
 * penetrations by springs (abut_collision_springs).  The report names the choice. */
#ifndef ABUT_SOLVE_LOCAL_GLOBAL_LOCAL_GLOBAL_H
#define ABUT_SOLVE_LOCAL_GLOBAL_LOCAL_GLOBAL_H

#include "contact/candidates.h"
#include "solve/direction/initial_laplacian.h"
#include "solve/direction/lbfgs.h"
#include "solve/options.h"
#include "solve/search/equilibrium.h"
#include "solve/stepper.h"

/* Springs that answer collisions after the fact (Liu 2018, 8.5): fast, and without any guarantee.  A vertex that has gone
 * through a half-space, or a little behind a triangle, is pulled back along the normal, with the triangle's corners pushed
 * in the opposite direction.  Behind a triangle that bounds a body of tets is its inside; behind any other, the side that the
 * vertex was not on at the start of the step:
 *     E = h^2 sum k/2 d^2,   d = n . (x_v - sum w_j x_j) - o < 0                               kg m^2
 * A spring keeps its normal and weights w for the rest of the step.  It stays in the set at d >= 0, without a force, so that the
 * next iteration cannot go back in.
 * Edges that pass through edges, self-collisions of bodies of tets, and penetrations deeper than `reach` are not found.  No
 * friction. */
typedef struct abut_collision_spring {
    int32_t node[4];        /* -1 unused */
    double weight[4];       /* 1, then -w */
    double normal[3], offset;   /* unit; m */
} abut_collision_spring;

/* Zero-filled is empty. */
typedef struct abut_collision_springs {
    double stiffness;       /* k, N/m */
    abut_collision_spring *spring;
    size_t n, cap;
    abut_candidates near;   /* of this step */
    uint8_t *seen;          /* has a spring: vertex and half-space [nc * nh], then candidates */
    size_t seen_cap;
    double *y0, *y1;        /* [3 nc] */
    uint8_t *outward;       /* [nct] the triangle bounds a body of tets */
    double reach;           /* m: the furthest behind a triangle that counts, half a mean edge */
} abut_collision_springs;

struct abut_local_global;

/* Operations of one method. */
typedef struct abut_lg_method {
    const char *name;
    /** Fails  ABUT_E_FORMAT elements that it cannot take */
    abut_status (*check)(const abut_model *m, abut_err *err);
    /** Makes local variables, s->own, once, and starts them in each step; NULL: there are none, and no multipliers. */
    abut_status (*init)(struct abut_local_global *s, abut_err *err);
    abut_status (*start)(struct abut_local_global *s, abut_report *rep, abut_err *err);
    /** s->dx: right-hand side of A at s->x.  NULL: A is solved for the gradient of E in s->g, with a line search. */
    abut_status (*local_step)(struct abut_local_global *s, abut_report *rep, abut_err *err);
    int whole;              /* 1: local_step computes the step from s->x itself, and there is no A */
    /** Entries, operations and bytes of its factors.  NULL: they are those of A. */
    abut_linear_stats (*stats)(const void *own);
    void (*free)(void *own);
} abut_lg_method;
extern const abut_lg_method abut_lg_projective, abut_lg_springs /* and attachments alone */;
/* Stepper by the method of a row (solve/solvers.h). */
extern const abut_stepper_ops abut_lg_stepper_ops;

/* Zero-filled is empty. */
typedef struct abut_local_global {
    struct abut_lg_how {
        const abut_lg_method *method;
        const abut_solve_options *user;
        int iterations;         /* of each step; 0: until it has converged: */
        double norm;            /* ... |grad E| is at most this times h^2 and the characteristic force (energy/elastic.h);
                                 * 0: |x - x_last|_inf / h is at most the model's tolerance, and forces balance to a thousandth
                                 * of the largest on a body, or to the model's force_tolerance if that is less */
        int most;               /* iterations of a step that has to converge: reaching it is an error; 100000 */
    } how;
    abut_objective objective;
    abut_linear_solver A;
    void *own;                  /* local variables of the method; NULL: none */
    abut_collision_springs collisions;
    abut_instant at;            /* start of the step */
    abut_quasi quasi;           /* pairs of L-BFGS in this step */
    struct abut_lg_progress {
        int moved;              /* by the last iteration, which started at xt */
        size_t springs;         /* collisions in the objective of the history */
        double enough;          /* norm of the gradient that ends a step, kg m */
    } progress;
    uint8_t *factored;          /* [nv] nodes held when A was factored */
    int exact;                  /* every energy is a squared distance, and there is no history: no line search */
    abut_pairs none;            /* no contacts */
    double *x, *xt, *v, *v_end, *acc;   /* [3 nv] iterate, trial, velocities, accelerations */
    double *g, *dx, *rhs;       /* [3 nv] gradient, direction; of the unknowns */
    abut_arena scratch;
} abut_local_global;

/** Fails  ABUT_E_FORMAT a model for other methods: another time scheme than implicit Euler, stiffness damping, contact without
 *         a choice in the options, elements that the method cannot take; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_lg_init(abut_local_global *s, const abut_model *m, const abut_lg_method *method,
                                       const abut_solve_options *o, abut_err *err);
void abut_lg_clear(abut_local_global *s);

/** A step in parts, for callers that read s->x in between.  abut_lg_begin loads the frame and sets s->x to the first iterate;
 * abut_lg_iterate makes one iteration, with |dx|_inf / h in *speed, m/s.
 * Fails  ABUT_E_GEOM the frame cannot be stepped from (an element of infinite energy) */
ABUT_MUST_USE abut_status abut_lg_begin(abut_local_global *s, const abut_arrays *frame, abut_instant at, abut_report *rep,
                                        abut_err *err);
ABUT_MUST_USE abut_status abut_lg_iterate(abut_local_global *s, double *speed, abut_report *rep, abut_err *err);
/** Energy of the springs of collisions at x[3 nv], kg m^2. */
double abut_collision_springs_energy(const abut_collision_springs *c, const abut_objective *p, const double *x);

#endif

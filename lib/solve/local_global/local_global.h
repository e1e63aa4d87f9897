/* Implicit Euler steps with a constant matrix: fast mass-springs and projective dynamics (Liu 2018, 5 to 7), for real time.
 *
 *     x <- xhat;   repeat   x <- x - A^-1 grad E(x)
 *
 * with E the same objective as everywhere (solve/objective.h) and A = M + h^2 L constant, factored when a simulation starts
 * (solve/direction/initial_laplacian.h).  Where every energy is a squared distance (springs, ARAP, attachments), one such
 * iteration is the local step (each element projected to its set) and the global one (all of them fitted) of projective
 * dynamics: (M + h^2 L) x = M xhat + h^2 J p.  Then it never raises E, and its only fixed points are those of implicit Euler.
 * Other materials are fitted by one stiffness each, and a line search sees to the descent (Liu 2018, 7.1).  With a history A is
 * the initial matrix of L-BFGS (Liu 2018, 7.2, algorithm 4), whose steps are searched for, too; it forgets where the collisions
 * become others.  admm-pd solves with the same matrix for local variables of its own (solve/local_global/admm.h); admm-dd has
 * matrices of parts (solve/local_global/consensus.h).
 *
 * A step that has to converge ends by the forces that it leaves, for short iterations prove nothing where they crawl.  E has
 * Hessians of at least M near its minimum x*, so |x - x*|_M <= |grad E|_M^-1: forces out of balance by a share of the largest
 * move bodies by about that share of what the largest does.  Unless the caller says how many pairs L-BFGS keeps, such a step
 * keeps some: thin elements would take thousands of iterations without.
 *
 * NOTHING is guaranteed about intersections or inversion: contact is not in E.  It is ignored, or answered by springs where
 * things overlap already (solve/collision_springs.h), and only when the caller says so.  Which is in the report. */
#ifndef ABUT_SOLVE_LOCAL_GLOBAL_LOCAL_GLOBAL_H
#define ABUT_SOLVE_LOCAL_GLOBAL_LOCAL_GLOBAL_H

#include "solve/local_global/admm.h"
#include "solve/local_global/consensus.h"
#include "solve/collision_springs.h"
#include "solve/direction/initial_laplacian.h"
#include "solve/direction/quasi.h"
#include "solve/search/equilibrium.h"
#include "solve/step/options.h"
#include "solve/stepper.h"

struct abut_local_global;

/* What distinguishes the methods. */
typedef struct abut_lg_method {
    const char *name;
    /** Fails  ABUT_E_FORMAT elements that it cannot take */
    abut_status (*check)(const abut_model *m, abut_err *err);
    /** Local variables, made once and started in each step; NULL: there are none, and no multipliers. */
    abut_status (*init)(struct abut_local_global *s, abut_err *err);
    abut_status (*start)(struct abut_local_global *s, abut_report *rep, abut_err *err);
    /** What A is solved for at s->x, in s->dx; NULL: the gradient of E in s->g, and steps are searched along. */
    abut_status (*local_step)(struct abut_local_global *s, abut_report *rep, abut_err *err);
    int whole;              /* 1: that is the step from s->x itself, and there is no A */
} abut_lg_method;
extern const abut_lg_method abut_lg_projective, abut_lg_springs /* and attachments alone */, abut_lg_admm, abut_lg_consensus;
/* The same as steppers. */
extern const abut_stepper_ops abut_pd_stepper_ops, abut_mass_springs_stepper_ops, abut_admm_stepper_ops, abut_admm_dd_stepper_ops;

typedef struct abut_lg_opts {
    const abut_lg_method *method;
    int contact;            /* ABUT_CONTACT_REFUSED, ...: the caller has to choose */
    int iterations;         /* of each step; 0: until it has converged: */
    double norm;            /* ... |grad E| is at most this times h^2 and the characteristic force (energy/characteristic.h);
                               0: |x - x_last|_inf / h is at most the model's tolerance, and forces balance to a thousandth of
                               the largest on a body, or to the model's force_tolerance if that is less */
    int max_iterations;     /* of a step that has to converge: reaching it is an error; 100000 */
    const abut_own_term *terms; /* refused by name: no matrix has them; NULL: none */
    double fit_low, fit_high;   /* stretches over which materials are fitted; 0.5, 1.5 */
    int history;            /* pairs that L-BFGS keeps; 0: the matrix alone.  Not with local variables */
    abut_partition cut;     /* of admm-dd, borrowed; none: parts of its own */
    int parts;              /* how many; 0: by the number of nodes */
} abut_lg_opts;
abut_lg_opts abut_lg_defaults(void);

/* Zero-filled is empty. */
typedef struct abut_local_global {
    abut_lg_opts opt;
    abut_objective objective;
    abut_linear_solver A;
    struct abut_lg_split {
        abut_admm admm;
        abut_consensus *parts;
    } split;                    /* of methods with local variables */
    abut_collision_springs collisions;
    abut_instant at;            /* start of the step */
    abut_quasi quasi;           /* what L-BFGS remembers of the step */
    struct abut_lg_progress {
        int moved;              /* the last iteration: xt is where it came from */
        size_t springs;         /* collisions that the history knows: with others the objective is another one */
        double enough;          /* norm of the gradient that ends a step, kg m */
    } progress;
    uint8_t *factored;          /* [nv] what was held when A was factored */
    int exact;                  /* every energy is a squared distance, and nothing is remembered: no line search */
    abut_pairs none;            /* no contacts */
    double *x, *xt, *v, *v_end, *acc;   /* [3 nv] iterate, trial, velocities, accelerations */
    double *g, *dx, *rhs;       /* [3 nv] gradient, direction; of the unknowns */
    abut_arena scratch;
} abut_local_global;

/** Fails  ABUT_E_FORMAT what these methods cannot do: another time scheme than implicit Euler, stiffness damping, contact
 *         that nobody decided about, elements that the method cannot take; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_lg_init(abut_local_global *s, const abut_model *m, const abut_lg_opts *opt, abut_err *err);
void abut_lg_clear(abut_local_global *s);

/** A step in parts, for whoever wants to look in between: loads the frame and sets s->x where the iterations start; one
 * iteration, with |dx|_inf / h in *speed, m/s.
 * Fails  ABUT_E_GEOM the frame cannot be stepped from (an element of infinite energy) */
ABUT_MUST_USE abut_status abut_lg_begin(abut_local_global *s, const abut_arrays *frame, abut_instant at, abut_report *rep,
                                        abut_err *err);
ABUT_MUST_USE abut_status abut_lg_iterate(abut_local_global *s, double *speed, abut_report *rep, abut_err *err);
/** As many iterations as the options say.  Fails  ABUT_E_NUMERIC the step had to converge and did not */
ABUT_MUST_USE abut_status abut_lg_solve(abut_local_global *s, abut_report *rep, abut_err *err);
/** What the momentum balance of E lacks at x.  s->g is lost.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_lg_balance(abut_local_global *s, const double *x, abut_equilibrium *e, abut_err *err);
/** The next frame at s->x into out (cleared first), and what the report tells of it. */
ABUT_MUST_USE abut_status abut_lg_put_frame(abut_local_global *s, const abut_arrays *carry, abut_arrays *out, abut_err *err);
ABUT_MUST_USE abut_status abut_lg_report(abut_local_global *s, abut_report *rep, abut_err *err);
#endif

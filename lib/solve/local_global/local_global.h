/* Implicit Euler steps with a constant matrix: fast mass-springs and projective dynamics (Liu 2018, 5 to 7), for real time.
 *
 *     x <- xhat;   repeat   x <- x - A^-1 grad E(x)
 *
 * with E the same objective as everywhere (solve/problem.h) and A = M + h^2 L constant, factored when a simulation starts
 * (solve/direction/initial_laplacian.h).  Where every energy is a squared distance (springs, ARAP, attachments), one such
 * iteration is the local step (each element projected to its set) and the global one (all of them fitted) of projective
 * dynamics: (M + h^2 L) x = M xhat + h^2 J p.  Then it never raises E, and its only fixed points are those of implicit Euler.
 * Other materials are fitted by one stiffness each, and a line search sees to the descent (Liu 2018, 9.4).  admm-pd takes the
 * same matrix another way (solve/local_global/admm.h).
 *
 * NOTHING is guaranteed about intersections or inversion: contact is not in E.  It is ignored, or answered by springs that
 * push after the fact (solve/collision_springs.h), and only when the caller says so.  Which is in the report. */
#ifndef ABUT_SOLVE_LOCAL_GLOBAL_LOCAL_GLOBAL_H
#define ABUT_SOLVE_LOCAL_GLOBAL_LOCAL_GLOBAL_H

#include "solve/local_global/admm.h"
#include "solve/collision_springs.h"
#include "solve/direction/initial_laplacian.h"
#include "solve/step/barrier_stepper.h"

/* The methods, and their names as options of `step`, in that order, NULL at the end. */
enum { ABUT_LG_PROJECTIVE = 0, ABUT_LG_SPRINGS = 1 /* only springs and attachments */, ABUT_LG_ADMM = 2,
       ABUT_LGS = 3 /* how many */ };
extern const char *const abut_lg_names[ABUT_LGS + 1];

/* What becomes of contact, and the names of that: the caller has to choose. */
enum { ABUT_LG_REFUSE = 0 /* a model that could touch anything */, ABUT_LG_IGNORE = 1, ABUT_LG_COLLISIONS = 2 };
extern const char *const abut_lg_contact_names[ABUT_LG_COLLISIONS + 1];

typedef struct abut_lg_opts {
    int method;             /* ABUT_LG_* */
    int contact;            /* ABUT_LG_REFUSE, ... */
    int iterations;         /* of each step; 0: until it has converged: */
    double norm;            /* ... |grad E| is at most this times h^2 and the characteristic force (energy/characteristic.h);
                               0: |x - x_last|_inf / h is at most the model's tolerance */
    int max_iterations;     /* of a step that has to converge: reaching it is an error; 100000 */
    double fit_low, fit_high;   /* stretches over which materials are fitted; 0.5, 1.5 */
} abut_lg_opts;
abut_lg_opts abut_lg_defaults(void);

/* Zero-filled is empty. */
typedef struct abut_local_global {
    abut_lg_opts opt;
    abut_problem prob;
    abut_linear_solver A;
    abut_admm admm;
    abut_collision_springs collisions;
    int moved;                  /* the last iteration: xt is where it came from */
    double enough;              /* norm of the gradient that ends a step, kg m */
    uint8_t *factored;          /* [nv] what was held when A was factored */
    int exact;                  /* every energy is a squared distance: no line search */
    abut_pairs none;            /* no contacts */
    double *x, *xt, *v, *v_end, *acc;   /* [3 nv] iterate, trial, velocities, accelerations */
    double *g, *dx, *rhs;       /* [3 nv] gradient, direction; of the unknowns */
    abut_arena scratch;
} abut_local_global;

/** Fails  ABUT_E_FORMAT what these methods cannot do: another time scheme than implicit Euler, stiffness damping, contact
 *         that nobody decided about, with ABUT_LG_SPRINGS other elements than springs; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_lg_init(abut_local_global *s, const abut_model *m, const abut_lg_opts *opt, abut_err *err);
void abut_lg_clear(abut_local_global *s);

/** The step that follows a COMMITTED frame; out: the next one (cleared first).
 * Fails  ABUT_E_GEOM the frame cannot be stepped from (an element of infinite energy); ABUT_E_NUMERIC it had to converge
 *        and did not, or the matrix cannot be factored */
ABUT_MUST_USE abut_status abut_lg_advance(abut_local_global *s, const abut_arrays *frame, abut_instant *at, abut_arrays *out,
                                          abut_report *rep, abut_err *err);

/** The same in parts, for whoever wants to look in between: loads the frame and sets s->x where the iterations start; one
 * iteration, with |dx|_inf / h in *speed, m/s. */
ABUT_MUST_USE abut_status abut_lg_begin(abut_local_global *s, const abut_arrays *frame, abut_instant at, abut_report *rep,
                                        abut_err *err);
ABUT_MUST_USE abut_status abut_lg_iterate(abut_local_global *s, double *speed, abut_report *rep, abut_err *err);
/** E(s->x), kg m^2; +inf where it is not defined. */
ABUT_MUST_USE abut_status abut_lg_objective(abut_local_global *s, double *sum, abut_err *err);

#endif

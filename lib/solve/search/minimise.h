/* The minimiser of one objective: a direction and a feasible line search (Li 2020, algorithms 1 and 3).
 *
 * It ends by one of two rules.  Newton: no entry of a Newton direction is beyond h times the tolerance (published), nor is more
 * than ABUT_NEAR times that left to the minimum, by the direction that the same matrix has from there; and forces balance as far
 * as the model asks for that (solve/search/equilibrium.h).  Characteristic norm (Li 2020, 3.5.2): |dE/dx|_2 <= epsilon psi C, C
 * the characteristic force of the mesh (energy/characteristic.h), psi the weight of the elastic energy; it needs no Newton
 * direction, and says little where contact forces are large. */
#ifndef ABUT_SOLVE_SEARCH_MINIMISE_H
#define ABUT_SOLVE_SEARCH_MINIMISE_H

#include "solve/device/device.h"
#include "solve/directions.h"
#include "solve/failure.h"
#include "solve/search/path.h"
#include "solve/problem.h"
#include "solve/report.h"
#include "solve/without.h"

typedef struct abut_solver_opts {
    double slack_ccd;       /* share of a mesh pair's gap that a step must leave; 0.2 */
    double slack_plane;     /* of a half-space gap; 0.1 */
    double slack_volume;    /* of a tet's volume; 0.2 */
    double slack_stretch;   /* of what is left to a bound of a shell; 0.5 */
    int max_newton;         /* iterations per solve: reaching it is an error; 10000 */
    const abut_arrays *names;   /* the arrays of the model, for the names in messages; NULL: objects have numbers */
    const abut_direction_ops *direction;    /* NULL: the first of abut_directions */
    const abut_linear_solver_ops *linear;   /* of Newton matrices; NULL: the first of the table */
    int history;            /* pairs that quasi-Newton directions keep; 5 */
    abut_partition cut;     /* of the tets for dot, borrowed; none: it makes its own */
    int parts;              /* dot and lbfgs-jh: subdomains of their own; 0: by the number of nodes */
    int one_level;          /* dot without its coarse space */
    double norm;            /* epsilon of the characteristic norm; 0: the Newton rule */
    int plain;              /* of that only what is published */
    unsigned without;       /* ABUT_WITHOUT_* */
    const abut_own_term *terms; /* of the caller's own, beside those of the model (energy/terms.h), borrowed; NULL: none */
    int threads;            /* of the factorisation; the bits do not depend on it */
    abut_device_kind device;    /* where minimisations run; the processor */
    int device_number;      /* which of several */
    abut_device_precond precond;    /* of its conjugate gradients */
    const struct abut_watch *watch; /* of its buffers (gpu/machine.h), for tests; NULL: none */
} abut_solver_opts;
abut_solver_opts abut_solver_defaults(void);

/* A problem, a direction, the iterate and its contacts.  Zero-filled is empty. */
typedef struct abut_solver {
    abut_solver_opts opt;
    abut_problem prob;
    abut_direction dir;
    abut_direction_info info;   /* of the last direction */
    double *x, *y;              /* [3 nv], [3 nc] the iterate; y = W x */
    abut_pairs pairs;           /* contacts there */
    abut_path path;             /* where the step went; started by whoever starts a step */
    abut_candidates cand;       /* of the last sweep */
    abut_candidate_search near; /* what their searches keep; leaves no trace in the results */
    abut_pairs trial;
    int lengthens;              /* directions that turn out too short are made longer */
    int passes_go_on;           /* a direction with refreshed friction judges the end of this minimisation, not its own rest */
    double last_bound;          /* of the last direction, before it was refined */
    abut_failure failed;        /* the last minimisation; kind says whether it failed */
    struct abut_turn {          /* steps without the stretch that turns bring (turn.c); NULL without shells and rods */
        double *meant;          /* [3 nv] the step before it was corrected; once it is taken, where that would have led */
        double *full, *full_meant;  /* [3 nv] p and meant of a full step while a longer one is tried */
        double *p, *q, *g;      /* [3 nv] it corrected, the last correction, the gradient of the next */
        int taken;              /* the last step is a corrected one */
        int wait, patience;     /* directions before steps beyond the bounds of shells are tried again, as it was last time */
    } turn;
    struct abut_push {          /* scripted motion that the augmented Lagrangian pushes */
        double eta;             /* share of the way when it last got on */
        int updates;            /* since then */
    } push;
    double characteristic;      /* kg m: the gradient of the characteristic force */
    int vain;                   /* Newton directions in a row that changed the objective by no more than its rounding */
    double last_speed;          /* m/s, of the direction before; infinite at first */
    int adrift;                 /* steps of this minimisation that nothing but their length bounded */
    double *xt, *yt, *p, *g;    /* trial point, direction, gradient */
    struct abut_kept {          /* a trial point that may be gone back to */
        double *x, *y;
        abut_pairs pairs;
    } kept;
    abut_arena scratch;
    abut_device *device;        /* NULL: none */
} abut_solver;

ABUT_MUST_USE abut_status abut_solver_init(abut_solver *s, const abut_model *model, const abut_solver_opts *opt,
                                           abut_err *err);
void abut_solver_clear(abut_solver *s);

/** Directions forget what they keep for one time step: called where a process may start. */
void abut_solver_forget(abut_solver *s);

/** Contacts at s->x, from scratch. */
ABUT_MUST_USE abut_status abut_solver_contacts(abut_solver *s, abut_report *rep, abut_err *err);

/** The same when s->x + h v, v[3 nv] m/s, is where it will be tried to go next: one broad phase serves both. */
ABUT_MUST_USE abut_status abut_solver_contacts_before(abut_solver *s, const double *v, abut_report *rep, abut_err *err);

/** The largest feasible step along s->p from s->x, no longer than `most` (in (0, 1]; below 1 it is ABUT_LIMIT_LENGTH that binds),
 * and the candidates of that sweep in s->cand. */
ABUT_MUST_USE abut_status abut_solver_bound(abut_solver *s, double most, abut_limit *lim, abut_report *rep, abut_err *err);

/** Moves prescribed nodes towards their targets as far as that is feasible; what is left goes to the augmented Lagrangian. */
ABUT_MUST_USE abut_status abut_solver_move_held(abut_solver *s, abut_report *rep, abut_err *err);

/** Starts a step where it would go by itself: prescribed nodes at their targets, the others at s->x + h v, v[3 nv] m/s, all on
 * their straight ways at once.  Taken only when nothing bounds that motion and the objective is lower there than with the
 * others at s->x; *coasts says so, and s->x, s->y, s->pairs follow.  Where the motion of a step resembles that of the one
 * before this saves iterations, and near handles it keeps elements in shape that would be crushed by moving handles alone.
 * s->pairs are the contacts at s->x. */
ABUT_MUST_USE abut_status abut_solver_coast(abut_solver *s, const double *v, int *coasts, abut_report *rep, abut_err *err);

/** Contacts at s->x, those of half-spaces too. */
size_t abut_solver_count(const abut_solver *s);
/** abut_problem_kappa at s->x, which the barrier takes. */
ABUT_MUST_USE abut_status abut_solver_kappa(abut_solver *s, abut_err *err);

/** Share of the scripted way that prescribed nodes have covered (Li 2020, App. E, eq. 5); 1 when nothing moves. */
double abut_solver_progress(const abut_solver *s);

/** Minimises from s->x until the stopping rule holds and all scripted motion is done; s->pairs, s->x, s->y follow.
 * Fails  ABUT_E_NUMERIC with the reason (solve/failure.h); s->failed has its numbers, s->x is where it got stuck */
ABUT_MUST_USE abut_status abut_solver_minimise(abut_solver *s, abut_report *rep, abut_err *err);

/** |H^-1 g|_inf / h at s->x with the problem as it is now, m/s: how far from a minimum. */
ABUT_MUST_USE abut_status abut_solver_residual(abut_solver *s, double *residual, abut_report *rep, abut_err *err);

#endif

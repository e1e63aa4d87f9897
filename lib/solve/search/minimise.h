/* The minimiser of one objective: a direction and a feasible line search (Li 2020, algorithms 1 and 3).
 *
 * It decides by numbers alone: the loop with its stopping rules (minimise.c) and its moves (rotate.c,
 * line.c) reach positions through a table of operations (search_ops.h), of which the processor has one and a device another.
 *
 * Stopping rules.
 *   newton          no entry of a Newton direction is beyond h times the tolerance (published); the distance to the minimum,
 *                   estimated by the next direction of the same matrix, is at most ABUT_NEAR times that (a long direction may
 *                   be the last one if this estimate is smaller, rules.h); and forces balance to the tolerance of the model
 *                   (solve/search/equilibrium.h)
 *   published       the first condition of newton alone: the direction is short, and is followed
 *   step            a Newton direction is short, from the second one on, and is not followed (Huang et al. 2024, algorithm 1)
 *   gradient        |dE/dx|_inf / (s_I h^2 l) <= tolerance, N/m: the largest force out of balance for each metre of the length l
 *                   of the scene (Huang et al. 2024, supplement)
 *   characteristic  |dE/dx|_2 <= epsilon psi C (Li 2020, 3.5.2), C the characteristic force of the mesh
 *                   (energy/elastic.h), psi the weight of the elastic energy
 * The last two need no Newton direction; the last is weak where contact forces are large.
 * A number of iterations in place of a rule ends a minimisation without a test of convergence, for real time (Liu 2018, 7.3);
 * sooner where no step lowers the objective. */
#ifndef ABUT_SOLVE_SEARCH_MINIMISE_H
#define ABUT_SOLVE_SEARCH_MINIMISE_H

#include "contact/candidates.h"
#include "solve/direction.h"
#include "solve/failure.h"
#include "solve/objective.h"
#include "solve/report.h"
#include "solve/search/path.h"
#include "solve/search/rules.h"
#include "solve/solvers.h"

struct abut_search_ops;     /* solve/search/search_ops.h */
struct abut_stop_rule;      /* solve/search/search_parts.h */

/* Fractions of the gap of a mesh pair, and of a half-space gap, that a step must leave. */
#define ABUT_SLACK_CCD 0.2
#define ABUT_SLACK_PLANE 0.1

/* Correction of steps for the stretch that rotations cause (rotate.c).  NULL without shells and rods. */
typedef struct abut_second_order {
    double *linear_step;        /* [3 nv] the step before its correction; once it is taken, its end without correction */
    double *full, *full_linear; /* [3 nv] p and linear_step of a full step while a longer one is tried */
    double *p, *q, *g;          /* [3 nv] it corrected, the last correction, the gradient of the next */
    abut_rule_wait beyond;      /* before steps beyond the bounds of shells are tried again */
} abut_second_order;

typedef struct abut_rotations abut_rotations;    /* solve/search/rotate.c */

/* Progress of a minimisation. */
typedef struct abut_progress {
    abut_rule_stall error, forces;  /* of the rest to the minimum, of forces that do not balance */
    int stalled;                /* exact directions in a row without progress beyond rounding, and without halving this norm: */
    double norm;                /* of rules that have one; infinite at first */
    abut_rule_stagnation idle;  /* iterations without progress */
    int changes;                /* of the objective, at the start of idle */
    int blocked;                /* directions that contacts bounded */
    int unbounded;              /* steps that nothing but their length bounded */
    double speed, bound;        /* of the last direction: m/s (infinite at first); its feasible part */
    double characteristic;      /* kg m: the gradient of the characteristic force */
} abut_progress;

/* An objective, a direction, points and contacts.  Zero-filled is empty. */
typedef struct abut_search {
    const abut_solve_options *opt;
    abut_objective prob;
    abut_direction dir;
    const struct abut_search_ops *ops;  /* where the points are: from enter to leave, opt->device.place.ops */
    void *device;               /* made by these; NULL: none */
    abut_point here;            /* the iterate */
    abut_point trial, kept;     /* the point that is tried; a point to return to */
    double *p;                  /* [3 nv] m: the direction */
    struct abut_aim {           /* properties of p */
        double speed;           /* m/s: |p|_inf / h; infinite when p is not finite */
        int exact;              /* Newton's, with the second derivative of every friction contact */
        int approximate;        /* found by iterations */
        int ahead;              /* with bounds met by an earlier direction (energy/term.h): not exact */
        int fair;               /* its matrix makes no rod much stiffer than it is: a short direction means a minimum nearby */
    } aim;
    abut_path path;             /* of the step; the caller starts it at each step */
    abut_candidates cand;       /* of the last sweep */
    abut_candidate_search near; /* scratch of their searches; no effect on results */
    struct abut_pass {          /* role of the minimisation in its step; the stepper sets it */
        int lengthens;          /* directions that are found too short are lengthened */
        int others_follow;      /* a direction with refreshed friction judges its end, not the distance to its own minimum */
    } pass;
    abut_failure failed;        /* of the last minimisation; kind says whether it failed */
    abut_progress progress;
    abut_second_order second_order;
    abut_rotations *rotations;  /* of stiff bodies; NULL: none */
    abut_rule_blocked scripted; /* scripted motion that the augmented Lagrangian moves */
    abut_arena scratch;
} abut_search;

/** row: gives the direction and its linear solver; NULL: Newton's direction. */
ABUT_MUST_USE abut_status abut_search_init(abut_search *s, const abut_model *model, const abut_solver_row *row,
                                           const abut_solve_options *o, abut_err *err);
void abut_search_clear(abut_search *s);

/** Makes the direction forget its state of the time step, at points where a process may start. */
void abut_search_forget(abut_search *s);
/** Sets the iterate to x[3 nv], without contacts. */
void abut_search_place(abut_search *s, const double *x);
/** Begins a minimisation, or a step, at s->here: moves its numbers to the device.  v[3 nv], m/s: of the warm start; NULL: no warm
 * start.  Fails  ABUT_E_FORMAT the step has something that a device cannot do (names it) */
ABUT_MUST_USE abut_status abut_search_enter(abut_search *s, const double *v, abut_err *err);

/** Finds the contacts at s->here anew; here.x may have been written to. */
ABUT_MUST_USE abut_status abut_search_contacts(abut_search *s, abut_report *rep, abut_err *err);
/** Finds them before a step to here.x + h v, v[3 nv] m/s: one broad phase serves both. */
ABUT_MUST_USE abut_status abut_search_contacts_before(abut_search *s, const double *v, abut_report *rep, abut_err *err);

/** Moves prescribed nodes towards their targets as far as feasible; the augmented Lagrangian does the rest. */
ABUT_MUST_USE abut_status abut_search_move_held(abut_search *s, abut_report *rep, abut_err *err);

/** Moves s->here to a predicted end of the step: prescribed nodes to their targets, free nodes to x + h v, v[3 nv] m/s, all along
 * straight lines at once.  *taken 1 if nothing bounds that motion and the objective is lower there than with free nodes at x;
 * else s->here stays.  If consecutive steps are alike, this saves iterations; near handles it keeps elements in shape that
 * moving handles alone would crush.  s->here has contacts. */
ABUT_MUST_USE abut_status abut_search_warm_start(abut_search *s, const double *v, int *taken, abut_report *rep, abut_err *err);

/** Returns the number of contacts at s->here, including half-spaces. */
size_t abut_search_count(const abut_search *s);
/** Sets the stiffness of the barrier by abut_objective_set_kappa at s->here, whose contacts are known; keep 1: bodies with
 * contact keep theirs. */
ABUT_MUST_USE abut_status abut_search_kappa(abut_search *s, int keep, abut_err *err);

/** Returns the part of the scripted motion that prescribed nodes have covered (Li 2020, App. E, eq. 5); 1 if none moves. */
double abut_search_progress(const abut_search *s);

/** Minimises from s->here until the stopping rule holds and all scripted motion is done; s->here follows.
 * Fails  ABUT_E_NUMERIC with the reason (solve/failure.h); s->failed has its numbers, s->here the last iterate */
ABUT_MUST_USE abut_status abut_search_minimise(abut_search *s, abut_report *rep, abut_err *err);

/** *residual = |H^-1 g|_inf / h at s->here with the present objective, m/s: distance to a minimum. */
ABUT_MUST_USE abut_status abut_search_residual(abut_search *s, double *residual, abut_report *rep, abut_err *err);

#endif

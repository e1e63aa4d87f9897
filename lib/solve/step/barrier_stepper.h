/* From frame to frame: one time step (solve/integrator.h) with lagged friction (Li 2020, 2.1, 4.5).
 *
 * A step is one or several passes, each a minimisation with the friction contacts frozen, always from the same start:
 *     abut_step_begin     COMMITTED frame: predictor, scripted motion, stiffness, friction data
 *     abut_step_resume    PENDING frame: picks the same step up again at its candidate
 *     abut_step_solve     minimises
 *     abut_step_refresh   freezes friction at the candidate and measures its distance to equilibrium then (lag residual)
 *     abut_step_again     another pass: sets its normal forces
 *     abut_step_commit    velocities; the next COMMITTED frame        or  abut_step_suspend: a PENDING frame
 * `step` runs them in one process; `step --one-pass | friction-lag` runs them as stages, to the same bytes. */
#ifndef ABUT_SOLVE_STEP_BARRIER_STEPPER_H
#define ABUT_SOLVE_STEP_BARRIER_STEPPER_H

#include "energy/friction.h"
#include "solve/search/minimise.h"
#include "solve/step/measures.h"
#include "solve/stepper.h"

/* Passes after which a step fails whose friction has to converge; passes by Newton's method before plain ones. */
enum { ABUT_LAGS_MAX = 1000, ABUT_LAGS_FOLLOWED = 12 };

typedef struct abut_stepper {
    abut_search solver;
    double *v;          /* [3 nv] at the start of the step */
    double *acc;        /* [3 nv] m/s^2: gravity, scripted forces, loads of the air; after the step also its drag */
    double *air;        /* [3 nv] N: of the air alone; NULL when it is still */
    double *a;          /* [3 nv] Newmark: acceleration by all forces at the start of the step */
    struct abut_stepper_past {
        double *x[ABUT_PAST], *v[ABUT_PAST];    /* [3 nv] BDF: one step before the start, ...; NULL beyond its order */
    } past;
    double *v_end, *a_end;  /* [3 nv] after the step */
    abut_instant at;    /* start of the step */
    double *acc0;       /* [3 nv] acc one step earlier */
    abut_lag solved_lag;    /* friction of the last pass, once the term has the contacts for the next */
    int32_t about_to_slide; /* friction contacts that stick, and would slide after the direction of the lag residual */
    int pass;           /* passes solved so far in this step */
    int newton;         /* Newton iterations of these passes */
    struct abut_stepper_kept {
        int n, room;    /* passes whose results are kept for the frame; capacity */
        double *x, *kappa, *strain_kappa;   /* [3 nv] m, kg/m^2 (of this step), Pa, of each */
    } kept;
    int start_checked;  /* the first frame of this process was free of intersections; later ones are by construction */
    int end_unwritten;  /* no frame will show the end of the present step: the path to the next one continues from it */
    int path_continues; /* end_unwritten of the step before: its path continues; 2: the path is at the start of the step */
    struct abut_rebound_damping {
        double gain;    /* J: created by elasticity, in midpoint or Newmark, since the last damped step */
        int32_t steps_left; /* still to be taken by implicit Euler */
        int32_t last_run;   /* length of the last run of such steps; halved by a step of the model's scheme */
        int again;          /* 1: implicit Euler takes this step, independent of the frame */
        const abut_arrays *frame;   /* COMMITTED, from which the step can be taken again, borrowed; NULL: not known */
    } damping;
    abut_energy_watch watch;
} abut_stepper;

ABUT_MUST_USE abut_status abut_stepper_init(abut_stepper *s, const abut_model *m, const abut_solver_row *row,
                                            const abut_solve_options *o, abut_err *err);
void abut_stepper_clear(abut_stepper *s);

/** Starts the step that follows a COMMITTED frame.
 * Fails  ABUT_E_GEOM the frame touches or intersects (names it) */
ABUT_MUST_USE abut_status abut_step_begin(abut_stepper *s, const abut_arrays *frame, abut_instant at, abut_report *rep,
                                          abut_err *err);
/** Continues the step of a PENDING frame (arrays step/x0 and step/pass besides the usual ones; step/penalty and
 * step/multiplier when scripted nodes have not arrived). */
ABUT_MUST_USE abut_status abut_step_resume(abut_stepper *s, const abut_arrays *frame, abut_instant at, abut_report *rep,
                                           abut_err *err);
ABUT_MUST_USE abut_status abut_step_solve(abut_stepper *s, abut_report *rep, abut_err *err);
/** Call once after every solve.  measure: also computes rep->lag_residual, m/s, by one factorisation. */
ABUT_MUST_USE abut_status abut_step_refresh(abut_stepper *s, int measure, abut_report *rep, abut_err *err);
/** *settled, after a measured refresh: the passes end here.  They have converged if the lag residual is at most tol (m/s) and, in
 * the first nine, no contact that sticks is about to slide.  They end after `limit`, converged or not; 0: only if converged.
 * Fails  ABUT_E_NUMERIC limit is 0 and ABUT_LAGS_MAX passes have not converged */
ABUT_MUST_USE abut_status abut_step_settled(const abut_stepper *s, const abut_report *rep, int limit, double tol, int *settled,
                                            abut_err *err);
/** Sets the normal forces of the next pass, after a refresh that did not settle.  Nine passes take the new ones (Li 2020, 4.5);
 * later passes take half, a quarter, an eighth of the change, because undamped passes can cycle.  limit 0: the first
 * ABUT_LAGS_FOLLOWED passes use Newton's method on their fixed point (solve/step/passes.c), if the solver has a matrix for it,
 * on the processor. */
ABUT_MUST_USE abut_status abut_step_again(abut_stepper *s, int limit, abut_report *rep, abut_err *err);
/** Checks the candidate by exact predicates, fills the report and writes the next frame into out (cleared first).
 * carry: the frame before, whose ABUT_A_CARRY arrays go along.  with: ABUT_WITH_* (solve/step/measures.h). */
ABUT_MUST_USE abut_status abut_step_commit(abut_stepper *s, const abut_arrays *carry, int with, abut_arrays *out,
                                           abut_instant *at, abut_report *rep, abut_err *err);
ABUT_MUST_USE abut_status abut_step_suspend(abut_stepper *s, const abut_arrays *carry, abut_arrays *out, abut_err *err);

/** Operations of this stepper (barrier_ops.c). */
extern const abut_stepper_ops abut_barrier_stepper_ops;

/** Takes a whole step from a frame of either phase, with the model's lags and tolerance.  rep->lag_residual is that of the last
 * pass; it is not measured if only one is allowed. */
ABUT_MUST_USE abut_status abut_step_advance(abut_stepper *s, const abut_arrays *frame, int pending, abut_instant *at,
                                            int with, abut_arrays *out, abut_report *rep, abut_err *err);

/* The classical two-step splitting of strain limits, for comparison with solving them together (Li 2020, 5.6.3):
 *
 *     predictor   x~ = a time step without limits
 *     projection  x = argmin 1/2 |x - x~|^2_M + h^2 kappa_s sum V b + kappa B(x),   from the last frame within the limits
 *
 * The barrier of contact stays, so that nothing intersects and the path from the last frame is free.  The projection is itself a
 * step of implicit Euler: of a model with the limits, but no other forces, and from a frame with the velocity (x~ - x_n) / h, so
 * that x~ is its inertial target. */

/** Copies a model without other forces: elasticity of every kind (materials keep 1e-20 Pa, so that tets still cannot invert),
 * gravity, forces, wind, damping, friction.  Stretch limits, cloth (whose energy is its limit), contact and scripted positions
 * stay.
 * Fails  ABUT_E_FORMAT a time scheme that is not implicit Euler; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_split_model(const abut_arrays *model, abut_arrays *out, abut_err *err);

/** Projects the predictor of a step.  s: a stepper of the model by abut_split_model.
 *
 * start      the frame before, within the limits, at the instant `at`
 * predictor  the frame after a step without limits
 * out        the next frame: the predictor with other positions, velocities, waypoints and stiffnesses
 * Fails  as abut_step_advance; ABUT_E_GEOM the start is beyond a limit */
ABUT_MUST_USE abut_status abut_split_project(abut_stepper *s, const abut_arrays *start, abut_instant at,
                                             const abut_arrays *predictor, abut_arrays *out, abut_report *rep, abut_err *err);

#endif

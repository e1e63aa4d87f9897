/* Time steppers: from frame to frame.  A stepper is a table of operations and an instance; solve/solvers.h has the solvers with
 * their steppers.  A step is one pass or several:
 *
 *     begin (COMMITTED frame) or resume (PENDING frame);  solve;  settle, and while that wants another pass: solve, settle;
 *     commit: the next COMMITTED frame, or suspend: a PENDING frame
 *
 * Between two steps an instance keeps only state that a new process would recompute from the frame, to the byte. */
#ifndef ABUT_SOLVE_STEPPER_H
#define ABUT_SOLVE_STEPPER_H

#include "model/model.h"
#include "solve/failure.h"
#include "solve/objective.h"
#include "solve/report.h"

struct abut_solver_row;     /* solve/solvers.h */
struct abut_solve_options;  /* solve/options.h */
struct abut_path;           /* solve/search/path.h */

/* Start of a step. */
typedef struct abut_instant {
    int64_t step;
    double time;    /* s */
} abut_instant;

/** Returns the instant one step of h later.  Whole multiples of h stay exact; from other times, h is added. */
abut_instant abut_instant_next(abut_instant at, double h);

/* An operation may be NULL: its comment says what that means. */
typedef struct abut_stepper_ops {
    /** Borrows m and o.
     * Fails  ABUT_E_FORMAT the model has something that this stepper does not support (names it); ABUT_E_ARG, ABUT_E_NOMEM */
    abut_status (*make)(void **self, const abut_model *m, const struct abut_solver_row *solver,
                        const struct abut_solve_options *o, abut_err *err);
    /** Begins a step.  *written: whether a frame shall show its end; becomes 1 if a frame is required.
     * Fails  ABUT_E_GEOM the frame cannot be stepped from, and why */
    abut_status (*begin)(void *self, const abut_arrays *frame, abut_instant at, int *written, abut_report *rep, abut_err *err);
    /** Continues the step of a PENDING frame.  NULL: such frames are refused. */
    abut_status (*resume)(void *self, const abut_arrays *frame, abut_instant at, int *written, abut_report *rep, abut_err *err);
    /** Solves one pass.  Fails  ABUT_E_NUMERIC it has not converged */
    abut_status (*solve)(void *self, abut_report *rep, abut_err *err);
    /** *again: another pass is needed.  NULL: a step is one pass. */
    abut_status (*settle)(void *self, int *again, abut_report *rep, abut_err *err);
    /** Writes a PENDING frame into out (cleared first).  NULL: the stepper has none. */
    abut_status (*suspend)(void *self, const abut_arrays *carry, abut_arrays *out, abut_err *err);
    /** Writes the next frame into out (cleared first), with `record` (ABUT_WITH_*, solve/step/measures.h); *at, rep->step and
     * rep->time become its own.  carry: the frame before. */
    abut_status (*commit)(void *self, const abut_arrays *carry, int record, abut_arrays *out, abut_instant *at, abut_report *rep,
                          abut_err *err);
    /** Writes the stuck iterate as a PENDING frame, after solve failed (formats/STATE.md, stuck/); *kept 0: there is none.  NULL:
     * there never is. */
    abut_status (*stuck)(void *self, const abut_arrays *carry, const abut_report *rep, const char *why, abut_arrays *out,
                         int *kept, abut_err *err);
    /** Returns the path of the last step, on which nothing touched.  NULL: the stepper proves no path. */
    const struct abut_path *(*path)(const void *self);
    void (*free)(void *self);
} abut_stepper_ops;

/** Begins or resumes a step, and solves one pass. */
ABUT_MUST_USE abut_status abut_stepper_pass(const abut_stepper_ops *ops, void *self, const abut_arrays *frame, int pending,
                                            abut_instant at, int *written, abut_report *rep, abut_err *err);

/** Takes a whole step from a frame of either phase, and measures its seconds and processor time. */
ABUT_MUST_USE abut_status abut_stepper_advance(const abut_stepper_ops *ops, void *self, const abut_arrays *frame, int pending,
                                               abut_instant *at, int *written, int record, abut_arrays *out, abut_report *rep,
                                               abut_err *err);

/** Starts a step of implicit Euler at a frame, of solvers with a step of their own: xn, targets, weights, terms, xhat and still
 * of p; acc[3 nv], m/s^2: all loads that are no term of the objective.
 *
 * room   [3 nv] scratch
 * Fails  as abut_objective_begin, and abut_mass_solve (energy/mass.h) */
ABUT_MUST_USE abut_status abut_plain_begin(abut_objective *p, const abut_frame *f, double time, double *acc, double *room,
                                           abut_arena *scratch, abut_err *err);

#endif

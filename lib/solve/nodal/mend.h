/* The step of the barrier in place of one that the judge refused: the same start, the same end of the scripts, Newton's method,
 * and friction frozen from the impulses that hard contact has found (Li 2020, 4.5, in one pass). */
#ifndef ABUT_SOLVE_NODAL_MEND_H
#define ABUT_SOLVE_NODAL_MEND_H

#include "contact/touching.h"
#include "contact/collision_mesh.h"
#include "energy/friction.h"
#include "solve/search/path.h"
#include "solve/step/options.h"
#include "solve/stepper.h"

/* Zero-filled is empty; the barrier's stepper is made when it is needed and stays. */
typedef struct abut_mend {
    const abut_model *model;    /* borrowed, as o and what it points to */
    abut_step_options o;
    void *barrier;              /* abut_barrier_stepper_ops; NULL: none yet */
    abut_arrays start;          /* the frame that it starts from */
    abut_lag lag;
} abut_mend;

/** o: of the solver that is mended: threads, names, tolerances, force tolerance and iterations of Newton are taken from it. */
void abut_mend_init(abut_mend *r, const abut_model *m, const abut_step_options *o);
void abut_mend_clear(abut_mend *r);

/** Takes the step from `frame`, at that instant.
 *
 * t    contacts with their impulses, settled, of a step of h (s); NULL: friction is frozen from what touches at the start
 * cm   whose vertices they name, of the same model; y[3 nc] its vertices at the start, m
 * Fails  as abut_step_begin, abut_step_solve: ABUT_E_NUMERIC the barrier gave up, too */
ABUT_MUST_USE abut_status abut_mend_step(abut_mend *r, const abut_arrays *frame, abut_instant at, const abut_touching *t,
                                         const abut_collmesh *cm, const double *y, double h, int *written, abut_report *rep,
                                         abut_err *err);
/** The path of that step. */
const abut_path *abut_mend_path(const abut_mend *r);
/** The next frame after that, as `commit` of the barrier's stepper. */
ABUT_MUST_USE abut_status abut_mend_commit(abut_mend *r, const abut_arrays *carry, int record, abut_arrays *out,
                                           abut_instant *at, abut_report *rep, abut_err *err);
/** A step that is given up as a PENDING frame from which `step --solver newton` goes on: where the barrier's iterations begin.
 * stuck/why: the message; stuck/x [nv, 3] m: where the step that was refused leads.  out is cleared first.
 * x  [3 nv] that end
 * Fails  as abut_step_begin */
ABUT_MUST_USE abut_status abut_mend_stuck(abut_mend *r, const abut_arrays *frame, abut_instant at, const double *x,
                                          const char *why, abut_arrays *out, abut_err *err);

#endif

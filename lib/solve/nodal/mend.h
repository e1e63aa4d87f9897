/* The barrier step in place of a step that the judge refused: the same start, the same end of the scripts, Newton's method, and
 * friction frozen from the impulses of hard contact (Li 2020, 4.5, in one pass). */
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
    const abut_model *model;    /* borrowed, as all pointers of o */
    abut_step_options o;
    void *barrier;              /* abut_barrier_stepper_ops; NULL: none yet */
    abut_arrays start;          /* the frame that it starts from */
    abut_lag lag;
} abut_mend;

/** o: of hard contact; gives threads, names, tolerances, force tolerance and iterations of Newton. */
void abut_mend_init(abut_mend *r, const abut_model *m, const abut_step_options *o);
void abut_mend_clear(abut_mend *r);

/** Takes the step from `frame`, at that instant.
 *
 * t    contacts with their impulses, settled, of a step of h (s); NULL: friction is frozen from the contacts at the start
 * cm   collision mesh of these contacts, of the same model; y[3 nc] its vertices at the start, m
 * Fails  as abut_step_begin, abut_step_solve: ABUT_E_NUMERIC the barrier failed, too */
ABUT_MUST_USE abut_status abut_mend_step(abut_mend *r, const abut_arrays *frame, abut_instant at, const abut_touching *t,
                                         const abut_collmesh *cm, const double *y, double h, int *written, abut_report *rep,
                                         abut_err *err);
/** Returns the path of that step. */
const abut_path *abut_mend_path(const abut_mend *r);
/** Writes the next frame after that step, as `commit` of the barrier's stepper. */
ABUT_MUST_USE abut_status abut_mend_commit(abut_mend *r, const abut_arrays *carry, int record, abut_arrays *out,
                                           abut_instant *at, abut_report *rep, abut_err *err);
/** Writes a failed step as a PENDING frame, at the barrier's first iterate, from which `step --solver newton` can continue.
 * stuck/why: the message; stuck/x [nv, 3] m: the end of the refused step.  out is cleared first.
 * x  [3 nv] that end
 * Fails  as abut_step_begin */
ABUT_MUST_USE abut_status abut_mend_stuck(abut_mend *r, const abut_arrays *frame, abut_instant at, const double *x,
                                          const char *why, abut_arrays *out, abut_err *err);

#endif

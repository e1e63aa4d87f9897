#include "solve/stepper.h"

#include "base/timer.h"
#include "energy/curved_rod.h"
#include "energy/elastic.h"
#include "energy/mass.h"
#include "energy/pressure.h"
#include "model/motion.h"

#include <assert.h>
#include <math.h>
#include <string.h>

abut_instant abut_instant_next(abut_instant at, double h)
{
    const int on_grid = fabs(at.time - (double)at.step * h) <= 1e-9 * h;
    return (abut_instant){ at.step + 1, on_grid ? (double)(at.step + 1) * h : at.time + h };
}

static abut_status start(const abut_stepper_ops *ops, void *self, const abut_arrays *frame, int pending, abut_instant at,
                         int *written, abut_report *rep, abut_err *err)
{
    if (!pending) return ops->begin(self, frame, at, written, rep, err);
    if (ops->resume) return ops->resume(self, frame, at, written, rep, err);
    return abut_fail(err, ABUT_E_FORMAT, "frame %lld is PENDING: the solver does not go on from there", (long long)at.step);
}

/* Refuses an end whose numbers no stage would accept. */
static abut_status check_end(const abut_arrays *out, abut_err *err)
{
    static const char *const name[] = { "node/x", "node/v" };
    for (int k = 0; k < 2; k++) {
        const abut_array *a = abut_arrays_find(out, name[k]);
        const double most = a ? abut_largest(a->data, (size_t)abut_array_count(a)) : 0;
        if (!(most <= ABUT_FARTHEST))
            return abut_fail(err, ABUT_E_NUMERIC, "the step ends with %s of %g %s, at most %g is possible: a smaller time step "
                             "may help", k ? "velocities" : "coordinates", most, k ? "m/s" : "m", ABUT_FARTHEST);
    }
    return ABUT_OK;
}

abut_status abut_stepper_pass(const abut_stepper_ops *ops, void *self, const abut_arrays *frame, int pending, abut_instant at,
                              int *written, abut_report *rep, abut_err *err)
{
    assert(ops);
    const abut_status rc = start(ops, self, frame, pending, at, written, rep, err);
    return rc ? rc : ops->solve(self, rep, err);
}

abut_status abut_stepper_advance(const abut_stepper_ops *ops, void *self, const abut_arrays *frame, int pending, abut_instant *at,
                                 int *written, int record, abut_arrays *out, abut_report *rep, abut_err *err)
{
    const double clock = abut_time_wall(), cpu = abut_time_cpu();
    const abut_instant from = *at;
    abut_status rc = start(ops, self, frame, pending, *at, written, rep, err);
    for (int again = 1; !rc && again;) {
        again = 0;
        rc = ops->solve(self, rep, err);
        if (!rc && ops->settle) rc = ops->settle(self, &again, rep, err);
    }
    if (!rc) rc = ops->commit(self, frame, record, out, at, rep, err);
    if (!rc && (rc = check_end(out, err))) abut_wrap(err, "step %lld (t = %g s)", (long long)from.step + 1, from.time);
    rep->seconds.total += abut_time_wall() - clock;
    rep->cpu += abut_time_cpu() - cpu;
    return rc;
}

/* ---- steps of solvers of their own ---- */

/* acc[3 nv], m/s^2: gravity, scripted forces, and the air of open surfaces at p->xn, in the step from `time` on: all loads that
 * are no term of the objective.  room[3 nv]: scratch. */
static abut_status explicit_loads(const abut_objective *p, double time, double *acc, double *room, abut_arena *scratch,
                                  abut_err *err)
{
    const abut_air *air = abut_air_of(&p->terms);
    const abut_mass *M = abut_mass_of(&p->terms);
    const double at = abut_motion_load_time(p->model, time);
    abut_motion_acceleration(p->model, time, p->xn, at, acc);
    abut_status rc = ABUT_OK;
    if (abut_motion_load(p->model, time, at, room)) rc = abut_mass_accelerate(M, room, acc, scratch, err);
    if (rc || !air || !air->open) return rc;
    memset(room, 0, 3 * (size_t)p->model->nv * sizeof *room);
    abut_air_load(air, p->xn, room);
    return abut_mass_accelerate(M, room, acc, scratch, err);
}

abut_status abut_plain_begin(abut_objective *p, const abut_frame *f, double time, double *acc, double *room, abut_arena *scratch,
                             abut_err *err)
{
    const abut_model *m = p->model;
    memcpy(p->xn, f->x, 3 * (size_t)m->nv * sizeof *p->xn);
    abut_motion_targets(m, time, p->xn, p->target, p->held);
    abut_objective_weigh(p, abut_integrator_weights(m, ABUT_FIRST_SCHEME));
    abut_rigid_load(abut_elastic_of(&p->terms), f);
    abut_status rc = abut_curved_rods_load(&p->terms, f, err);
    if (!rc) rc = abut_objective_begin(p, time, err);
    if (!rc) rc = explicit_loads(p, time, acc, room, scratch, err);
    if (rc) return rc;
    const abut_start from = { .x = p->xn, .v = f->v, .acc = acc };
    abut_integrator_predict(m, ABUT_FIRST_SCHEME, &from, p->xhat);
    abut_integrator_still(m, ABUT_FIRST_SCHEME, &from, p->held, p->target, p->still);
    return ABUT_OK;
}

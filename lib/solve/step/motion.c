#include "energy/pressure.h"
#include "solve/step/step_parts.h"

#include "model/motion.h"
#include "model/naming.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* drag is a term of the objective; in equilibria it is a load */
static int drags(const abut_objective *p)
{
    const abut_air *air = abut_air_of(&p->terms);
    return air && air->drags && p->w.inertia;
}

/* Acceleration of a body that nothing touches: a = g - M^-1 (dPsi/dx + C v + dR/dv), m/s^2; of obstacles none. */
static abut_status free_acceleration(abut_stepper *s, const double *x, const double *v, double *a, abut_err *err)
{
    abut_objective *p = &s->solver.prob;
    const abut_model *m = p->model;
    memset(a, 0, 3 * (size_t)m->nv * sizeof *a);
    const abut_at at = abut_objective_at(p, x, NULL, NULL);
    abut_status rc = abut_objective_potential_gradient(p, &at, -1, a, &s->solver.scratch, err);
    if (!rc) rc = abut_objective_damping_force(p, v, a, &s->solver.scratch, err);
    if (!rc && drags(p)) abut_air_drag_gradient(abut_air_of(&p->terms), v, NULL, 1, -1, a);
    if (rc) return rc;
    for (int32_t i = 0; i < 3 * m->nv; i++) {
        a[i] = m->role[i / 3] == ABUT_NODE_OBSTACLE ? 0 : s->acc[i] + a[i] / m->mass[i / 3];
        if (!isfinite(a[i])) return abut_fail(err, ABUT_E_GEOM, "%s: its elastic force is not finite",
                                                   abut_nodes_words(m, &(int32_t){ i / 3 }, 1, (char[ABUT_NODES_WORDS]){ 0 }));
    }
    return ABUT_OK;
}

static abut_start start_of(const abut_stepper *s)
{
    return (abut_start){ s->solver.prob.xn, s->v, s->acc, s->a, s->past.x, s->past.v };
}

abut_status abut_step_load_past(abut_stepper *s, const abut_frame *f, abut_err *err)
{
    abut_objective *p = &s->solver.prob;
    const size_t bytes = 3 * (size_t)p->model->nv * sizeof(double);
    abut_status rc = ABUT_OK;
    const double *x[ABUT_PAST], *v[ABUT_PAST];
    const int reads = abut_integrator_past(p->w.scheme);
    if (reads) (void)abut_integrator_past_of(f, x, v);
    for (int k = 0; k < reads; k++) {
        memcpy(s->past.x[k], x[k], bytes);
        memcpy(s->past.v[k], v[k], bytes);
    }
    if (p->w.scheme == ABUT_IMPLICIT_NEWMARK) {
        if (f->a) memcpy(s->a, f->a, bytes);
        else rc = free_acceleration(s, p->xn, s->v, s->a, err);
    }
    const abut_start at = start_of(s);
    if (rc) return rc;
    abut_integrator_predict(p->model, p->w.scheme, &at, p->xhat);
    abut_integrator_still(p->model, p->w.scheme, &at, p->held, p->target, p->still);
    return ABUT_OK;
}

/* acc += f / m, of what has mass */
static void add_force(const abut_model *m, const double *f, double *acc)
{
    for (int32_t i = 0; i < 3 * m->nv; i++)
        if (m->role[i / 3] != ABUT_NODE_OBSTACLE) acc[i] += f[i] / m->mass[i / 3];
}

void abut_step_load_forces(abut_stepper *s)
{
    abut_objective *p = &s->solver.prob;
    abut_motion_acceleration(p->model, s->at.time, s->acc);
    if (!s->air) return;
    const abut_air *air = abut_air_of(&p->terms);
    memset(s->air, 0, 3 * (size_t)p->model->nv * sizeof *s->air);
    abut_air_load(air, p->xn, s->air);
    if (!drags(p)) abut_air_drag_gradient(air, s->v, NULL, 1, -1, s->air);
    add_force(p->model, s->air, s->acc);
}

abut_status abut_step_finish_drag(abut_stepper *s, const abut_arrays *before, abut_err *err)
{
    assert(s);
    const abut_objective *p = &s->solver.prob;
    const abut_air *air = abut_air_of(&p->terms);
    const abut_array *last = s->at.step > 0 ? abut_arrays_find(before, "node/air-force") : NULL;
    const size_t n3 = 3 * (size_t)p->model->nv;
    const abut_mark mark = abut_arena_mark(&s->solver.scratch);
    double *drag = ABUT_NEW(&s->solver.scratch, double, n3);
    if (!drag) return abut_fail(err, ABUT_E_NOMEM, "drag: %d nodes", p->model->nv);
    memcpy(drag, s->air, n3 * sizeof *drag);
    if (drags(p)) abut_air_drag_gradient(air, s->v, NULL, 1, -1, drag);
    add_force(p->model, last ? last->data : drag, s->acc0);
    memset(drag, 0, n3 * sizeof *drag);
    if (drags(p)) abut_air_drag_gradient(air, s->solver.here.x, p->step.x_damp, p->step.damp_time, -1, drag);
    add_force(p->model, drag, s->acc);
    for (size_t i = 0; i < n3; i++) s->air[i] += drag[i];
    abut_arena_release(&s->solver.scratch, mark);
    return ABUT_OK;
}

abut_status abut_step_finish(abut_stepper *s, abut_err *err)
{
    abut_objective *p = &s->solver.prob;
    const abut_start at = start_of(s);
    abut_integrator_finish(p->model, p->w.scheme, &at, p->held, p->xhat, s->solver.here.x, s->v_end, s->a_end);
    if (p->w.scheme != ABUT_IMPLICIT_NEWMARK) return ABUT_OK;
    const abut_status rc = free_acceleration(s, s->solver.here.x, s->v_end, s->a_end, err);
    if (!rc) abut_integrator_finish(p->model, p->w.scheme, &at, p->held, p->xhat, s->solver.here.x, s->v_end, s->a_end);
    return rc;
}

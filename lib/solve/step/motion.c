/* The motion of a step by inertia and loads: the first iterate, the inertial target, and the velocities at the end. */
#include "solve/step/step_parts.h"

#include "energy/mass.h"
#include "energy/pressure.h"
#include "math/mat3.h"
#include "model/motion.h"
#include "solve/direction/matrix.h"
#include "solve/search/search_ops.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* drag is a term of the objective; in equilibria it is a load */
static int drags(const abut_objective *p)
{
    const abut_air *air = abut_air_of(&p->terms);
    return air && air->drags && p->w.inertia;
}

/* a[3 nv] m/s^2: the acceleration without contact at x with v, acc - M^-1 (dPsi/dx + C v + dR/dv), with acc by loads; of
 * obstacles 0. */
static abut_status step_free_acceleration(abut_stepper *s, const double *x, const double *v, const double *acc, double *a,
                                          abut_err *err)
{
    abut_objective *p = &s->solver.prob;
    const abut_model *m = p->model;
    memset(a, 0, 3 * (size_t)m->nv * sizeof *a);
    const abut_at at = abut_objective_at(p, x, NULL, NULL);
    abut_status rc = abut_objective_potential_gradient(p, &at, -1, a, &s->solver.scratch, err);
    if (!rc) rc = abut_objective_damping_force(p, v, a, &s->solver.scratch, err);
    if (!rc && drags(p)) abut_air_drag_gradient(abut_air_of(&p->terms), v, NULL, 1, -1, a);
    /* prescribed nodes of consistent rows do not accelerate, so their rows give no part to others */
    const abut_mass *M = abut_mass_of(&p->terms);
    for (int32_t i = 0; i < 3 * m->nv && M->order; i++)
        if (p->held[i / 3] && M->order[i / 3]) a[i] = -acc[i];
    if (!rc) rc = abut_mass_solve(M, p->held, a, &s->solver.scratch, err);
    if (rc) return rc;
    for (int32_t i = 0; i < 3 * m->nv; i++) {
        a[i] = m->role[i / 3] == ABUT_NODE_OBSTACLE ? 0 : acc[i] + a[i];
        if (!isfinite(a[i])) return abut_fail(err, ABUT_E_GEOM, "%s: its elastic force is not finite",
                                                   abut_nodes_words(m, &(int32_t){ i / 3 }, 1, (char[ABUT_NODES_WORDS]){ 0 }));
    }
    return ABUT_OK;
}

/* x - xhat of prescribed nodes with consistent rows, which pull their neighbours: the weight of smooth forces times their
 * acceleration (v' - v)/h, v' = (target - x)/h, less that by loads.  In implicit Euler xhat has that already. */
static void pull_along(abut_stepper *s)
{
    abut_objective *p = &s->solver.prob;
    const abut_mass *M = abut_mass_of(&p->terms);
    const double h = p->model->h[0], scale = p->w.smooth;
    for (int32_t i = 0; i < 3 * p->model->nv && M->order; i++) {
        if (!p->held[i / 3] || !M->order[i / 3]) continue;
        const double dv = (p->target[i] - p->xn[i]) / h - s->v[i];
        p->xhat[i] = p->target[i] - scale * (dv / h - s->acc[i]);
    }
}

static abut_start start_of(const abut_stepper *s)
{
    return (abut_start){ s->solver.prob.xn, s->v, s->acc, s->a, s->past.x, s->past.v };
}

/* acc += M^-1 f; f is lost */
static abut_status add_force(abut_stepper *s, double *f, double *acc, abut_err *err)
{
    return abut_mass_accelerate(abut_mass_of(&s->solver.prob.terms), f, acc, &s->solver.scratch, err);
}

abut_status abut_step_accelerate(abut_stepper *s, double time, double at, double *acc, abut_err *err)
{
    const abut_model *m = s->solver.prob.model;
    abut_motion_acceleration(m, time, s->solver.prob.xn, at, acc);
    if (!m->mo_newtons) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(&s->solver.scratch);
    double *f = ABUT_ROOM(&s->solver.scratch, double, 3 * (size_t)m->nv + 1);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "loads: %d nodes", m->nv);
    const abut_status rc = abut_motion_load(m, time, at, f) ? add_force(s, f, acc, err) : ABUT_OK;
    abut_arena_release(&s->solver.scratch, mark);
    return rc;
}

/* f[3 nv] N: loads of the air at the start of the step */
static void air_at_start(const abut_stepper *s, double *f)
{
    const abut_objective *p = &s->solver.prob;
    const abut_air *air = abut_air_of(&p->terms);
    memset(f, 0, 3 * (size_t)p->model->nv * sizeof *f);
    abut_air_load(air, p->xn, f);
    if (!drags(p)) abut_air_drag_gradient(air, s->v, NULL, 1, -1, f);
}

abut_status abut_step_load_forces(abut_stepper *s, abut_err *err)
{
    abut_objective *p = &s->solver.prob;
    const size_t n3 = 3 * (size_t)p->model->nv;
    abut_status rc = abut_step_accelerate(s, s->at.time, abut_motion_load_time(p->model, s->at.time), s->acc, err);
    if (rc || !s->air) return rc;
    const abut_mark mark = abut_arena_mark(&s->solver.scratch);
    double *f = ABUT_ROOM(&s->solver.scratch, double, n3 + 1);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "air: %d nodes", p->model->nv);
    air_at_start(s, s->air);
    memcpy(f, s->air, n3 * sizeof *f);
    rc = add_force(s, f, s->acc, err);
    abut_arena_release(&s->solver.scratch, mark);
    return rc;
}

/* Computes the acceleration by all forces at the start of the first step of Newmark, under the loads there. */
static abut_status first_acceleration(abut_stepper *s, abut_err *err)
{
    const abut_objective *p = &s->solver.prob;
    if (!p->model->key_factor) return step_free_acceleration(s, p->xn, s->v, s->acc, s->a, err);
    abut_air *air = abut_air_of(&p->terms);
    const abut_mark mark = abut_arena_mark(&s->solver.scratch);
    double *f = ABUT_ROOM(&s->solver.scratch, double, 3 * (size_t)p->model->nv + 1);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "loads: %d nodes", p->model->nv);
    if (air) abut_air_press(air, s->at.time);
    abut_status rc = abut_step_accelerate(s, s->at.time, s->at.time, s->acc0, err);
    if (!rc && s->air) {
        air_at_start(s, f);
        rc = add_force(s, f, s->acc0, err);
    }
    if (!rc) rc = step_free_acceleration(s, p->xn, s->v, s->acc0, s->a, err);
    if (air) abut_air_press(air, p->step.load_time);
    abut_arena_release(&s->solver.scratch, mark);
    return rc;
}

/* Returns 1 if states of the model have accelerations. */
static int accelerates(const abut_objective *p) { return abut_scheme_is(abut_scheme_of(p->model), ABUT_SCHEME_ACCELERATION); }

abut_status abut_step_load_past(abut_stepper *s, const abut_frame *f, abut_err *err)
{
    abut_objective *p = &s->solver.prob;
    const size_t bytes = 3 * (size_t)p->model->nv * sizeof(double);
    abut_status rc = ABUT_OK;
    const double *x[ABUT_PAST], *v[ABUT_PAST];
    const int reads = abut_schemes[p->w.scheme].past;
    if (reads) (void)abut_integrator_past_of(f, x, v);
    for (int k = 0; k < reads; k++) {
        memcpy(s->past.x[k], x[k], bytes);
        memcpy(s->past.v[k], v[k], bytes);
    }
    if (accelerates(p)) {
        if (f->a) memcpy(s->a, f->a, bytes);
        else rc = first_acceleration(s, err);
    }
    const abut_start at = start_of(s);
    if (rc) return rc;
    abut_integrator_predict(p->model, p->w.scheme, &at, p->xhat);
    if (p->w.inertia) pull_along(s);
    abut_integrator_still(p->model, p->w.scheme, &at, p->held, p->target, p->still);
    return ABUT_OK;
}

abut_status abut_step_finish_drag(abut_stepper *s, const abut_arrays *before, abut_err *err)
{
    assert(s);
    const abut_objective *p = &s->solver.prob;
    const abut_air *air = abut_air_of(&p->terms);
    const abut_array *last = s->at.step > 0 ? abut_arrays_find(before, "node/air-force") : NULL;
    const size_t n3 = 3 * (size_t)p->model->nv;
    const abut_mark mark = abut_arena_mark(&s->solver.scratch);
    double *drag = ABUT_NEW(&s->solver.scratch, double, n3), *f = ABUT_ROOM(&s->solver.scratch, double, n3 + 1);
    if (!drag || !f) return abut_fail(err, ABUT_E_NOMEM, "drag: %d nodes", p->model->nv);
    memcpy(f, s->air, n3 * sizeof *f);
    if (drags(p)) abut_air_drag_gradient(air, s->v, NULL, 1, -1, f);
    if (last) memcpy(f, last->data, n3 * sizeof *f);
    abut_status rc = add_force(s, f, s->acc0, err);
    if (drags(p)) abut_air_drag_gradient(air, s->solver.here.x, p->step.x_damp, p->step.damp_time, -1, drag);
    for (size_t i = 0; i < n3; i++) s->air[i] += drag[i];
    if (!rc) rc = add_force(s, drag, s->acc, err);
    abut_arena_release(&s->solver.scratch, mark);
    return rc;
}

/* s->a_end += sign times the acceleration by contact and friction. */
static abut_status add_contact(abut_stepper *s, double sign, abut_err *err)
{
    abut_search *so = &s->solver;
    const abut_objective *p = &so->prob;
    const size_t n3 = 3 * (size_t)p->model->nv;
    const abut_at at = abut_objective_at(p, so->here.x, so->here.y, &so->here.pairs);
    if (!abut_search_count(so) && !abut_lag_of(&p->terms)->n) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(&so->scratch);
    double *f = ABUT_NEW(&so->scratch, double, n3);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "forces of contact: %zu numbers", n3);
    const int contact = 1 << ABUT_TERM_CONTACT | 1 << ABUT_TERM_FRICTION;
    abut_status rc = abut_objective_gradient_add(p, &at, contact, f, &so->scratch, err);
    for (size_t i = 0; i < n3; i++)
        if (p->held[i / 3]) f[i] = 0;
    if (!rc) rc = abut_mass_solve(abut_mass_of(&p->terms), p->held, f, &so->scratch, err);
    for (size_t i = 0; i < n3 && !rc; i++)
        if (!p->held[i / 3]) s->a_end[i] -= sign * f[i] / p->w.smooth;
    abut_arena_release(&so->scratch, mark);
    return rc;
}

void abut_step_velocities(abut_stepper *s)
{
    const abut_objective *p = &s->solver.prob;
    const abut_start at = start_of(s);
    abut_integrator_finish(p->model, p->w.scheme, &at, p->held, p->xhat, s->solver.here.x, s->v_end, s->a_end);
}

abut_status abut_step_finish(abut_stepper *s, abut_err *err)
{
    abut_objective *p = &s->solver.prob;
    abut_step_velocities(s);
    if (!accelerates(p)) return ABUT_OK;
    const abut_status rc = step_free_acceleration(s, s->solver.here.x, s->v_end, s->acc, s->a_end, err);
    const int keeps = abut_integrator_weights(p->model, abut_scheme_of(p->model)).late_contact != 1;
    if (rc) return rc;
    if (!abut_scheme_is(p->w.scheme, ABUT_SCHEME_ACCELERATION)) return keeps ? add_contact(s, 1, err) : ABUT_OK;
    abut_step_velocities(s);
    return keeps ? ABUT_OK : add_contact(s, -1, err);
}

/* ---- first iterates ---- */

/* First iterate of a step (--guess): one of the six points of the public code of Li 2020, whose scenes use the first.  Each is a
 * guess of the end of the step, given by velocities of the nodes. */

/* One iteration of Jacobi's method on 3x3 blocks, from the start: v = -D^-1 g / h. */
static abut_status jacobi(abut_search *s, double *v, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->prob;
    abut_newton_matrix H = { 0 };
    abut_ordering order = { 0 };
    abut_status rc = s->ops->points.evaluate(s, &s->here, ABUT_HAS_GRADIENT, rep, err);
    if (!rc) rc = abut_newton_matrix_init(&H, p, ABUT_WITHOUT_MAJORANT, err);
    if (!rc) rc = abut_ordering_init(&order, p->model->nv, NULL, err);
    if (!rc) rc = abut_newton_matrix_sum(&H, &order, p, &s->here, rep, err);
    memset(v, 0, 3 * (size_t)p->model->nv * sizeof *v);
    for (int32_t i = 0; i < p->model->nv && !rc; i++) {
        const int32_t row = p->row[i];
        double inverse[9];
        if (row < 0) continue;
        if (!(abut_m3_inverse(inverse, H.A.val + 9 * H.A.ptr[row]) > 0))
            rc = abut_fail(err, ABUT_E_NUMERIC, "guess: the diagonal block of node %d is not positive definite", i);
        for (int k = 0; k < 9 && !rc; k++) v[3 * i + k / 3] -= inverse[k] * s->here.g[3 * i + k % 3] / p->model->h[0];
    }
    abut_ordering_clear(&order);
    abut_newton_matrix_clear(&H);
    return rc;
}

static abut_status guess(abut_stepper *s, double *v, int *none, abut_report *rep, abut_err *err)
{
    abut_search *so = &s->solver;
    const abut_objective *p = &so->prob;
    const double h = p->model->h[0];
    const int32_t n3 = 3 * p->model->nv;
    abut_status rc = ABUT_OK;
    *none = 0;
    switch (so->opt->search.guess) {
    case ABUT_GUESS_COAST: memcpy(v, s->v, (size_t)n3 * sizeof *v); return ABUT_OK;
    case ABUT_GUESS_JACOBI: return jacobi(so, v, rep, err);
    case ABUT_GUESS_START: *none = 1; return ABUT_OK;
    }
    if (!p->w.inertia) return *none = 1, ABUT_OK;
    if (so->opt->search.guess == ABUT_GUESS_INERTIA) {
        for (int32_t i = 0; i < n3; i++) v[i] = (p->xhat[i] - p->xn[i]) / h;
        return ABUT_OK;
    }
    const double part = so->opt->search.guess == ABUT_GUESS_SYMPLECTIC ? h : h / 2;
    rc = step_free_acceleration(s, p->xn, s->v, s->acc, v, err);
    for (int32_t i = 0; i < n3 && !rc; i++) v[i] = s->v[i] + part * v[i];
    return rc;
}

abut_status abut_step_guess(abut_stepper *s, double *v, int *none, abut_report *rep, abut_err *err)
{
    const abut_status rc = guess(s, v, none, rep, err);
    if (!rc && !*none) abut_objective_rotate(&s->solver.prob, v);
    return rc;
}

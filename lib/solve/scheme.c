#include "solve/scheme.h"

#include "base/timer.h"
#include "contact/cross.h"
#include "energy/stretch_limit.h"
#include "energy/thin_limit.h"
#include "model/motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

abut_instant abut_instant_next(abut_instant at, double h)
{
    const int on_grid = fabs(at.time - (double)at.step * h) <= 1e-9 * h;
    return (abut_instant){ at.step + 1, on_grid ? (double)(at.step + 1) * h : at.time + h };
}

abut_status abut_stepper_init(abut_stepper *s, const abut_model *m, const abut_solver_opts *opt, abut_err *err)
{
    *s = (abut_stepper){ 0 };
    abut_status rc = abut_solver_init(&s->solver, m, opt, err);
    if (rc) return rc;
    double **field[] = { &s->v, &s->acc, &s->acc0, &s->v_end, &s->a, &s->a_end, &s->x1, &s->v1, &s->air };
    for (int i = 0; i < 8 + abut_air_acts(&s->solver.prob.air); i++) {
        *field[i] = calloc(3 * (size_t)m->nv, sizeof(double));
        if (*field[i]) continue;
        abut_stepper_clear(s);
        return abut_fail(err, ABUT_E_NOMEM, "step: %d nodes", m->nv);
    }
    return ABUT_OK;
}

void abut_stepper_clear(abut_stepper *s)
{
    abut_solver_clear(&s->solver);
    free(s->v);
    free(s->acc);
    free(s->air);
    free(s->acc0);
    free(s->v_end);
    free(s->a);
    free(s->a_end);
    free(s->x1);
    free(s->v1);
    abut_lag_clear(&s->acted);
    *s = (abut_stepper){ 0 };
}

/* f -= C v, N, with the damping of this step */
static abut_status subtract_damping(abut_stepper *s, const double *v, double *f, abut_err *err)
{
    const abut_problem *p = &s->solver.prob;
    abut_arena *scratch = &s->solver.scratch;
    const size_t n3 = 3 * (size_t)p->model->nv;
    if (!abut_damping_acts(&p->damping)) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(scratch);
    double *rest = ABUT_NEW(scratch, double, n3);
    if (!rest) return abut_fail(err, ABUT_E_NOMEM, "damping: %zu numbers", n3);
    memset(rest, 0, n3 * sizeof *rest);
    const abut_status rc = abut_damping_gradient(&p->damping, &p->elastic, &p->thin, v, rest, -1, f, scratch, err);
    abut_arena_release(scratch, mark);
    return rc;
}

/* Acceleration of a body that nothing touches: a = g - M^-1 (dPsi/dx + C v + dR/dv), m/s^2; of obstacles none. */
static abut_status free_acceleration(abut_stepper *s, const double *x, const double *v, double *a, abut_err *err)
{
    abut_problem *p = &s->solver.prob;
    const abut_model *m = p->model;
    memset(a, 0, 3 * (size_t)m->nv * sizeof *a);
    abut_status rc = abut_problem_potential_gradient(p, x, -1, a, &s->solver.scratch, err);
    if (!rc) rc = subtract_damping(s, v, a, err);
    if (!rc && abut_problem_drags(p)) abut_air_drag_gradient(&p->air, v, NULL, 1, -1, a);
    if (rc) return rc;
    for (int32_t i = 0; i < 3 * m->nv; i++) {
        a[i] = m->role[i / 3] == ABUT_NODE_OBSTACLE ? 0 : s->acc[i] + a[i] / m->mass[i / 3];
        if (!isfinite(a[i])) return abut_fail(err, ABUT_E_GEOM, "node %d: its elastic force is not finite", i / 3);
    }
    return ABUT_OK;
}

static abut_start start_of(const abut_stepper *s)
{
    return (abut_start){ s->solver.prob.xn, s->v, s->acc, s->a, s->x1, s->v1 };
}

/* What the scheme of this step remembers of the one before, and where inertia leads from there. */
static abut_status load_past(abut_stepper *s, const abut_frame *f, abut_err *err)
{
    abut_problem *p = &s->solver.prob;
    const size_t bytes = 3 * (size_t)p->model->nv * sizeof(double);
    abut_status rc = ABUT_OK;
    abut_damping_freeze(&p->damping, &p->elastic, &p->thin, p->xn);
    if (p->w.scheme == ABUT_BDF2) {
        memcpy(s->x1, f->x1, bytes);
        memcpy(s->v1, f->v1, bytes);
    } else if (p->w.scheme == ABUT_IMPLICIT_NEWMARK) {
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

/* What accelerates the nodes in this step but the forces of the objective: explicit, as at its start. */
static void load_accelerations(abut_stepper *s)
{
    abut_problem *p = &s->solver.prob;
    abut_motion_acceleration(p->model, s->at.time, s->acc);
    abut_air_start(&p->air, p->xn);
    if (!s->air) return;
    memset(s->air, 0, 3 * (size_t)p->model->nv * sizeof *s->air);
    abut_air_load(&p->air, p->xn, s->air);
    if (!abut_problem_drags(p)) abut_air_drag_gradient(&p->air, s->v, NULL, 1, -1, s->air);
    add_force(p->model, s->air, s->acc);
}

/* What both phases share: start values, inertial target, friction data of the frame. */
static abut_status load(abut_stepper *s, const abut_arrays *frame, const double *x0, abut_instant at, abut_frame *f,
                        abut_err *err)
{
    abut_problem *p = &s->solver.prob;
    const abut_model *m = p->model;
    abut_status rc = abut_frame_view(frame, m, f, err);
    if (!rc) rc = abut_lag_from_frame(f, &p->lag, err);
    if (rc) return rc;
    if (!x0) x0 = f->x;
    const size_t n3 = 3 * (size_t)m->nv;
    memcpy(s->v, f->v, n3 * sizeof(double));
    memcpy(p->xn, x0, n3 * sizeof(double));
    memcpy(s->solver.x, f->x, n3 * sizeof(double));
    abut_motion_targets(m, at.time, x0, p->target, p->held);
    s->at = at;
    p->strain_kappa = f->strain_kappa ? f->strain_kappa[0] : ABUT_STRAIN_KAPPA_MIN;
    p->w = abut_integrator_weights(m, abut_integrator_scheme(m, f));
    load_accelerations(s);
    abut_direction_reset(&s->solver.dir);
    p->al.on = 0;
    abut_problem_number(p);
    return load_past(s, f, err);
}

static int rubs(const abut_model *m)
{
    for (int32_t i = 0; i < m->ng * m->ng; i++)
        if (m->mu[i] > 0) return 1;
    return 0;
}

/* Implicit Euler balances the stiffness anew in every step.  The other schemes keep that of the frame while anything
 * touches: a barrier that changes from step to step does work, and they have little to take it out again. */
static abut_status start_kappa(abut_stepper *s, const abut_frame *f, abut_err *err)
{
    abut_solver *so = &s->solver;
    const abut_model *m = so->prob.model;
    const int keeps = m->scheme && m->scheme[0] != ABUT_IMPLICIT_EULER;
    if (!keeps || !f->kappa || so->pairs.n + so->pairs.n_plane == 0)
        return abut_problem_kappa(&so->prob, so->x, so->y, &so->pairs, &so->prob.kappa, &so->scratch, err);
    so->prob.kappa = fmin(m->kappa_max[0], fmax(m->kappa_min[0], f->kappa[0]));
    return ABUT_OK;
}

/* Shells are inside their bounds. */
static abut_status check_bounds(const abut_solver *so, abut_status code, const char *when, abut_err *err)
{
    const abut_model *m = so->prob.model;
    abut_thin_excess e;
    if (!abut_thin_outside(&so->prob.thin, so->x, &e)) return ABUT_OK;
    const int32_t *n = m->shell + 3 * (size_t)e.shell;
    return abut_fail(err, code, "shell %d (object %d, nodes %d %d %d): %s %.9g, expected %s %.9g, %s", e.shell, m->body[n[0]],
                     n[0], n[1], n[2], e.what, e.value, e.below ? "more than" : "less than", e.limit, when);
}

/* Nothing may touch and no injective element may be inverted, by exact arithmetic; shells are inside their bounds.  code and
 * when say whose fault it is.  joined: exact arithmetic has led a free straight line here from where no edge went through a
 * triangle, and one gets there by touching only: half-spaces are left to look at. */
static abut_status check_configuration(const abut_solver *so, int joined, abut_status code, const char *when, abut_err *err)
{
    const abut_collmesh *cm = &so->prob.cm;
    const abut_model *m = so->prob.model;
    abut_cross hit;
    size_t found = 0;
    abut_status rc = ABUT_OK;
    if (joined) found = abut_cross_planes(cm, so->y, so->prob.obstacle, 1, &hit);
    else rc = abut_cross_find(cm, so->y, so->prob.obstacle, 1, &hit, &found, err);
    if (rc) return rc;
    if (found && hit.tri < 0)
        return abut_fail(err, code, "node %d lies on or under half-space %d %s", cm->node[hit.vert], hit.plane, when);
    if (found) {
        const int32_t *e = cm->edge + 2 * hit.edge, *t = cm->tri + 3 * hit.tri, *n = cm->node;
        return abut_fail(err, code, "edge %d %d (object %d) touches triangle %d %d %d (object %d) %s (%zu such pairs)", n[e[0]],
                         n[e[1]], m->body[n[e[0]]], n[t[0]], n[t[1]], n[t[2]], m->body[n[t[0]]], when, found);
    }
    const int32_t tet = abut_inverted_find(m, so->x, 1);
    if (tet >= 0)
        return abut_fail(err, code, "tet %d (nodes %d %d %d %d) is inverted %s", abut_problem_tet(&so->prob, tet),
                         m->tet[4 * tet], m->tet[4 * tet + 1], m->tet[4 * tet + 2], m->tet[4 * tet + 3], when);
    return check_bounds(so, code, when, err);
}

/* Where the iterations of a step begin. */
static abut_status start(abut_stepper *s, const abut_frame *f, abut_report *rep, abut_err *err)
{
    int coasts = 0;
    abut_status rc = start_kappa(s, f, err);
    if (!rc) rc = abut_solver_coast(&s->solver, s->v, &coasts, rep, err);
    if (rc || coasts) return rc;
    rc = abut_solver_move_held(&s->solver, rep, err);
    const abut_problem *p = &s->solver.prob;
    if (rc || !memcmp(s->solver.x, p->xn, 3 * (size_t)p->model->nv * sizeof *p->xn)) return rc;   /* nothing was moved */
    rc = abut_solver_contacts(&s->solver, rep, err);
    return rc ? rc : start_kappa(s, f, err);
}

abut_status abut_step_begin(abut_stepper *s, const abut_arrays *frame, abut_instant at, abut_report *rep, abut_err *err)
{
    abut_problem *p = &s->solver.prob;
    const double clock = abut_time_wall();
    abut_frame f;
    s->pass = s->newton = 0;
    abut_status rc = load(s, frame, NULL, at, &f, err);
    if (rc) return abut_wrap(err, "frame %lld", (long long)at.step), rc;
    rc = abut_direction_order_ahead(&s->solver.dir, p, err);
    if (rc) return rc;
    rc = s->way_goes_on ? abut_path_next_step(&s->solver.path, &p->cm, p->obstacle, &s->solver.near, err)
                        : abut_path_start(&s->solver.path, &p->cm, s->solver.x, err);
    if (!rc && !s->start_checked) {
        abut_collmesh_gather(&p->cm, s->solver.x, s->solver.y);
        rc = check_configuration(&s->solver, 0, ABUT_E_GEOM, "at the start", err);
    }
    if (!rc) rc = abut_solver_contacts_before(&s->solver, s->v, rep, err);
    if (rc) return abut_wrap(err, "frame %lld", (long long)at.step), rc;
    s->start_checked = 1;

    /* the first frame of a scene has no friction data yet: freeze what touches now */
    const int first = !abut_arrays_find(frame, "lag/node");
    if (first && rubs(p->model)) {
        rc = abut_problem_kappa(p, s->solver.x, s->solver.y, &s->solver.pairs, &p->kappa, &s->solver.scratch, err);
        if (!rc) rc = abut_lag_freeze(&p->cm, &s->solver.pairs, s->solver.y, p->kappa, p->w.h_force, &p->lag, err);
    }
    if (!rc) rc = start(s, &f, rep, err);
    rep->seconds.predict += abut_time_wall() - clock;
    return rc;
}

/* The augmented Lagrangian of a step that was given up while prescribed nodes were on their way. */
static abut_status load_lagrangian(abut_problem *p, const abut_arrays *frame, int64_t step, abut_err *err)
{
    const abut_array *kap = abut_arrays_find(frame, "step/penalty"), *lam = abut_arrays_find(frame, "step/multiplier");
    const int32_t nv = p->model->nv;
    if (!kap && !lam) return ABUT_OK;
    if (!kap || kap->type != ABUT_F64 || kap->rank != 0 || !lam || lam->type != ABUT_F64 || lam->rank != 2 ||
        lam->shape[0] != nv || lam->shape[1] != 3)
        return abut_fail(err, ABUT_E_FORMAT, "frame %lld: expected step/penalty (f64) and step/multiplier (f64, %d x 3) together",
                         (long long)step, nv);
    memcpy(&p->al.kap, kap->data, sizeof p->al.kap);
    memcpy(p->al.lam, lam->data, 3 * (size_t)nv * sizeof *p->al.lam);
    p->al.on = 1;
    abut_problem_number(p);
    return ABUT_OK;
}

static abut_status put_lagrangian(const abut_problem *p, abut_arrays *out, abut_err *err)
{
    const int32_t nv = p->model->nv;
    const abut_status rc = abut_arrays_put_f64(out, "step/penalty", p->al.kap, "", err);
    if (rc) return rc;
    double *lam = abut_arrays_put_rows(out, "step/multiplier", ABUT_F64, nv, 3, "kg^(1/2) m", err);
    if (!lam) return err->code;
    memcpy(lam, p->al.lam, 3 * (size_t)nv * sizeof *lam);
    return ABUT_OK;
}

abut_status abut_step_resume(abut_stepper *s, const abut_arrays *frame, abut_instant at, abut_report *rep, abut_err *err)
{
    abut_problem *p = &s->solver.prob;
    const abut_array *x0 = abut_arrays_find(frame, "step/x0"), *pass = abut_arrays_find(frame, "step/pass");
    abut_frame f;
    if (!x0 || x0->type != ABUT_F64 || x0->rank != 2 || x0->shape[0] != p->model->nv || x0->shape[1] != 3 || !pass ||
        pass->type != ABUT_I32 || pass->rank != 0)
        return abut_fail(err, ABUT_E_FORMAT, "frame %lld is PENDING but has no step/x0 (f64, %d x 3) and step/pass (i32)",
                         (long long)at.step, p->model->nv);
    abut_status rc = load(s, frame, x0->data, at, &f, err);
    if (rc) return abut_wrap(err, "frame %lld", (long long)at.step), rc;
    if (!f.kappa) return abut_fail(err, ABUT_E_FORMAT, "frame %lld is PENDING but has no contact/kappa", (long long)at.step);
    memcpy(&s->pass, pass->data, sizeof(int32_t));
    p->kappa = f.kappa[0];
    s->newton = f.iterations ? f.iterations[0] : 0;
    rc = load_lagrangian(p, frame, at.step, err);
    if (!rc) rc = abut_path_start(&s->solver.path, &p->cm, p->xn, err);
    for (int32_t i = 0; i < f.nw && !rc; i += f.nv)
        rc = abut_path_add(&s->solver.path, &p->cm, p->obstacle, f.way + 3 * (size_t)i, &s->solver.near, err);
    if (!rc) rc = abut_path_add(&s->solver.path, &p->cm, p->obstacle, s->solver.x, &s->solver.near, err);
    return rc ? rc : abut_solver_contacts(&s->solver, rep, err);
}

abut_status abut_step_solve(abut_stepper *s, abut_report *rep, abut_err *err)
{
    abut_direction_reset(&s->solver.dir);   /* a pass resumed in another process starts like this too */
    const int before = rep->newton;
    /* passes that shall agree must stay in one valley */
    s->solver.lengthens = s->solver.prob.model->lags[0] == 1;
    abut_status rc = abut_solver_minimise(&s->solver, rep, err);
    s->newton += rep->newton - before;
    if (rc) return abut_wrap(err, "step %lld (t = %g s)", (long long)s->at.step + 1, s->at.time), rc;
    rep->passes = ++s->pass;
    const double clock = abut_time_wall();
    rc = abut_path_shorten(&s->solver.path, &s->solver.prob.cm, s->solver.prob.obstacle, &s->solver.near, err);
    rep->seconds.check += abut_time_wall() - clock;
    return rc;
}

abut_status abut_step_refresh(abut_stepper *s, int measure, abut_report *rep, abut_err *err)
{
    abut_problem *p = &s->solver.prob;
    const double clock = abut_time_wall();
    abut_status rc = ABUT_OK;
    rep->lag_residual = -1;
    if (rubs(p->model)) {
        const abut_lag old = s->acted;
        s->acted = p->lag;
        p->lag = old;
        rc = abut_lag_freeze(&p->cm, &s->solver.pairs, s->solver.y, p->kappa, p->w.h_force, &p->lag, err);
    }
    if (!rc && measure) {
        rep->lag_residual = 0;
        abut_direction_reset(&s->solver.dir);
        if (p->lag.n) rc = abut_solver_residual(&s->solver, &rep->lag_residual, rep, err);
    }
    rep->seconds.friction += abut_time_wall() - clock;
    return rc;
}

abut_status abut_step_settled(const abut_stepper *s, const abut_report *rep, int limit, double tol, int *settled, abut_err *err)
{
    *settled = rep->lag_residual <= tol || (limit > 0 && s->pass >= limit);
    if (*settled || s->pass < ABUT_LAGS_MAX || limit > 0) return ABUT_OK;
    return abut_fail(err, ABUT_E_NUMERIC, "step %lld (t = %g s): friction has not converged after %d passes: lag residual %.3g "
                     "m/s, want %.3g", (long long)s->at.step + 1, s->at.time, s->pass, rep->lag_residual, tol);
}

/* What a pass takes of the new normal forces: all of them at first, as published; but passes that go on and on go around in a
 * circle, which half of them or less leaves. */
static double relaxation(int pass)
{
    return pass < 10 ? 1 : pass < 40 ? 0.5 : pass < 160 ? 0.25 : 0.125;
}

abut_status abut_step_again(abut_stepper *s, abut_err *err)
{
    const double w = relaxation(s->pass);
    return w < 1 ? abut_lag_relax(&s->solver.prob.lag, &s->acted, w, err) : ABUT_OK;
}

static abut_status check_candidate(abut_stepper *s, abut_report *rep, abut_err *err)
{
    const double clock = abut_time_wall();
    const int joined = s->start_checked && s->solver.path.proven;
    const abut_status rc = check_configuration(&s->solver, joined, ABUT_E_NUMERIC, "after the step", err);
    rep->seconds.check += abut_time_wall() - clock;
    int32_t flattest;
    rep->min_jacobian = abut_smallest_jacobian(s->solver.prob.model, s->solver.x, &flattest);
    rep->min_jacobian_tet = abut_problem_tet(&s->solver.prob, flattest);
    return rc ? abut_wrap(err, "step %lld", (long long)s->at.step + 1), rc : ABUT_OK;
}

/* The way of the steps since the last frame that was written. */
static abut_status join_steps(abut_stepper *s, abut_report *rep, abut_err *err)
{
    const double clock = abut_time_wall();
    const abut_status rc = abut_path_join(&s->solver.path, &s->solver.prob.cm, s->solver.prob.obstacle, &s->solver.near, err);
    rep->seconds.check += abut_time_wall() - clock;
    return rc;
}

static void report_contacts(const abut_solver *so, abut_report *rep)
{
    const abut_pairs *q = &so->pairs;
    const int32_t *node = so->prob.cm.node;
    rep->contact = so->prob.cm.nc ? ABUT_CONTACT_BARRIER : ABUT_CONTACT_OFF;
    rep->contacts = (int32_t)q->n;
    rep->mollified = (int32_t)(q->n - q->n_plain);
    rep->planes = (int32_t)q->n_plane;
    rep->min_gap = -1;
    size_t i;
    const double gap = abut_pairs_smallest_gap(&so->prob.cm, q, &i);
    if (!isfinite(gap)) return;
    rep->min_gap = gap;
    for (int k = 0; k < 4; k++) rep->gap_node[k] = i >= q->n || q->vert[i][k] < 0 ? -1 : node[q->vert[i][k]];
    if (i < q->n) return;
    rep->gap_node[0] = node[q->plane_vert[i - q->n]];
    rep->gap_node[3] = q->plane[i - q->n];
}

static abut_status report_stretch(abut_stepper *s, abut_report *rep, abut_err *err)
{
    const abut_problem *p = &s->solver.prob;
    abut_thin_stretch now;
    const abut_status rc = abut_thin_stretch_find(&p->thin, s->solver.x, &now, &s->solver.scratch, err);
    if (rc) return rc;
    rep->min_stretch = now.min;
    rep->max_stretch = now.max;
    rep->max_stretch_shell = now.max_shell;
    rep->stretch_room = now.room;
    rep->strain_kappa = p->strain_kappa;
    return ABUT_OK;
}

static abut_status report_physics(abut_stepper *s, abut_report *rep, abut_err *err)
{
    const abut_problem *p = &s->solver.prob;
    const double *x = s->solver.x;
    const abut_creep creep = abut_creep_find(p, &s->acted, x);
    rep->kinetic = abut_kinetic_energy(p->model, s->v_end);
    rep->gravity = abut_gravity_energy(p->model, x);
    abut_linear_momentum(p->model, s->v_end, rep->momentum);
    abut_angular_momentum(p->model, x, s->v_end, rep->angular);
    rep->sticking = creep.sticking;
    rep->sliding = creep.sliding;
    rep->creep_max = creep.max;
    rep->creep_mean = creep.mean;
    return abut_problem_potential(p, x, &rep->elastic, &s->solver.scratch, err);
}

static abut_status carry_arrays(const abut_arrays *from, abut_arrays *out, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int i = 0; from && i < from->n && !rc; i++)
        if (from->a[i].flags & ABUT_A_CARRY) rc = abut_arrays_copy(out, &from->a[i], err);
    return rc;
}

static abut_status put_nodes(const char *name, const double *value, int32_t nv, abut_arrays *out, abut_err *err)
{
    double *to = abut_frame_put(out, name, nv, err);
    if (!to) return err->code;
    memcpy(to, value, 3 * (size_t)nv * sizeof *to);
    return ABUT_OK;
}

/* What the step after a COMMITTED frame has to know, or (pending) the one that goes on. */
static abut_status put_past(const abut_stepper *s, int pending, abut_arrays *out, abut_err *err)
{
    const abut_problem *p = &s->solver.prob;
    const int32_t nv = p->model->nv;
    const int scheme = p->model->scheme ? p->model->scheme[0] : ABUT_IMPLICIT_EULER;
    if (scheme == ABUT_IMPLICIT_NEWMARK) return put_nodes("node/a", pending ? s->a : s->a_end, nv, out, err);
    if (scheme != ABUT_BDF2 || (pending && p->w.scheme != ABUT_BDF2)) return ABUT_OK;
    const abut_status rc = put_nodes("node/x1", pending ? s->x1 : p->xn, nv, out, err);
    return rc ? rc : put_nodes("node/v1", pending ? s->v1 : s->v, nv, out, err);
}

/* x, v, the past, kappa, the way and the frozen friction: what both phases of a frame hold. */
static abut_status put_state(const abut_stepper *s, const double *v, int pending, abut_arrays *out, abut_err *err)
{
    const abut_problem *p = &s->solver.prob;
    const int32_t nv = p->model->nv;
    abut_status rc = put_nodes("node/x", s->solver.x, nv, out, err);
    if (!rc) rc = put_nodes("node/v", v, nv, out, err);
    if (!rc) rc = put_past(s, pending, out, err);
    if (rc) return rc;
    double *kappa = abut_frame_put(out, "contact/kappa", 1, err);
    if (!kappa) return err->code;
    /* a reader of the frame converts it to newtons by the weight of the model's scheme: so does the first step of BDF2 */
    const int starts = !pending && p->model->scheme && p->w.scheme != p->model->scheme[0];
    *kappa = starts ? p->kappa * abut_integrator_step_weight(p->model->scheme[0]) : p->kappa;
    if (p->thin.bounded) {
        double *strain = abut_frame_put(out, "strain/kappa", 1, err);
        if (!strain) return err->code;
        *strain = p->strain_kappa;
    }
    const abut_path *path = &s->solver.path;
    const int first = path->step + 1, points = path->n - 1 - first;
    if (points > 0) {
        double *way = abut_frame_put(out, "step/way", (int64_t)points * nv, err);
        if (!way) return err->code;
        for (int i = 0; i < points; i++) memcpy(way + (size_t)i * path->n3, path->point[first + i], path->n3 * sizeof *way);
    }
    return rubs(p->model) ? abut_lag_to_frame(&p->lag, out, err) : ABUT_OK;
}

/* The drag at the end of a step joins the loads of the air under which it was taken; before: where a Newmark step takes those
 * of its start from. */
static abut_status finish_air(abut_stepper *s, const abut_arrays *before, abut_err *err)
{
    const abut_problem *p = &s->solver.prob;
    const abut_array *last = s->at.step > 0 ? abut_arrays_find(before, "node/air-force") : NULL;
    const size_t n3 = 3 * (size_t)p->model->nv;
    const abut_mark mark = abut_arena_mark(&s->solver.scratch);
    double *drag = ABUT_NEW(&s->solver.scratch, double, n3);
    if (!drag) return abut_fail(err, ABUT_E_NOMEM, "drag: %d nodes", p->model->nv);
    memcpy(drag, s->air, n3 * sizeof *drag);
    if (abut_problem_drags(p)) abut_air_drag_gradient(&p->air, s->v, NULL, 1, -1, drag);
    add_force(p->model, last ? last->data : drag, s->acc0);
    memset(drag, 0, n3 * sizeof *drag);
    if (abut_problem_drags(p))
        abut_air_drag_gradient(&p->air, s->solver.x, abut_problem_undamped(p), abut_problem_damped_time(p), -1, drag);
    add_force(p->model, drag, s->acc);
    for (size_t i = 0; i < n3; i++) s->air[i] += drag[i];
    abut_arena_release(&s->solver.scratch, mark);
    return ABUT_OK;
}

/* What --with asks for. */
static abut_status put_record(abut_stepper *s, int with, const abut_arrays *before, abut_arrays *out, abut_err *err)
{
    abut_solver *so = &s->solver;
    const abut_solved done = { .prob = &so->prob, .lag = &s->acted, .pairs = &so->pairs, .x = so->x, .y = so->y, .v0 = s->v,
                               .v = s->v_end, .v1 = s->v1, .acc0 = s->acc0, .acc = s->acc, .air = s->air,
                               .first = s->at.step == 0 };
    if (with) abut_motion_acceleration(so->prob.model, s->at.time - (done.first ? 0 : so->prob.model->h[0]), s->acc0);
    const abut_status rc = with && s->air ? finish_air(s, before, err) : ABUT_OK;
    return rc ? rc : abut_record_put(&done, with, s->newton, before, out, &so->scratch, err);
}

/* Velocities, and in Newmark accelerations: of a prescribed node the one it would have if it were let go. */
static abut_status finish(abut_stepper *s, abut_err *err)
{
    abut_problem *p = &s->solver.prob;
    const abut_start at = start_of(s);
    abut_integrator_finish(p->model, p->w.scheme, &at, p->held, p->xhat, s->solver.x, s->v_end, s->a_end);
    if (p->w.scheme != ABUT_IMPLICIT_NEWMARK) return ABUT_OK;
    const abut_status rc = free_acceleration(s, s->solver.x, s->v_end, s->a_end, err);
    if (!rc) abut_integrator_finish(p->model, p->w.scheme, &at, p->held, p->xhat, s->solver.x, s->v_end, s->a_end);
    return rc;
}

abut_status abut_step_commit(abut_stepper *s, const abut_arrays *carry, int with, abut_arrays *out, abut_instant *at,
                             abut_report *rep, abut_err *err)
{
    const abut_problem *p = &s->solver.prob;
    const double h = p->model->h[0];
    abut_arrays_clear(out);
    abut_status rc = check_candidate(s, rep, err);
    if (!rc && !s->skips_frame) rc = join_steps(s, rep, err);
    if (rc) return rc;
    s->way_goes_on = s->skips_frame;
    rc = finish(s, err);
    if (!rc) rc = carry_arrays(carry, out, err);
    if (!rc) rc = put_state(s, s->v_end, 0, out, err);
    if (!rc) rc = put_record(s, with, carry, out, err);
    if (!rc) rc = report_physics(s, rep, err);
    if (!rc) rc = report_stretch(s, rep, err);
    if (rc) return rc;
    *at = abut_instant_next(s->at, h);
    rep->step = at->step;
    rep->time = at->time;
    rep->kappa = p->kappa;
    rep->waypoints = s->solver.path.n - s->solver.path.step > 2 ? s->solver.path.n - s->solver.path.step - 2 : 0;
    rep->eta = abut_solver_progress(&s->solver);
    rep->memory_peak = abut_memory_peak();
    report_contacts(&s->solver, rep);
    return ABUT_OK;
}

abut_status abut_step_suspend(abut_stepper *s, const abut_arrays *carry, abut_arrays *out, abut_err *err)
{
    const abut_problem *p = &s->solver.prob;
    abut_arrays_clear(out);
    abut_status rc = carry_arrays(carry, out, err);
    if (!rc) rc = put_state(s, s->v, 1, out, err);
    if (!rc) rc = abut_record_keep(carry, out, err);
    if (rc) return rc;
    int32_t *newton = abut_frame_put(out, "step/iterations", 1, err);
    if (!newton) return err->code;
    *newton = s->newton;
    double *x0 = abut_arrays_put_rows(out, "step/x0", ABUT_F64, p->model->nv, 3, "m", err);
    if (!x0) return err->code;
    memcpy(x0, p->xn, 3 * (size_t)p->model->nv * sizeof(double));
    rc = abut_arrays_put_i32(out, "step/pass", s->pass, err);
    return rc || !p->al.on ? rc : put_lagrangian(p, out, err);
}

abut_status abut_step_advance(abut_stepper *s, const abut_arrays *frame, int pending, abut_instant *at, int with,
                              abut_arrays *out, abut_report *rep, abut_err *err)
{
    const abut_model *m = s->solver.prob.model;
    const double clock = abut_time_wall(), cpu = abut_time_cpu();
    abut_status rc = pending ? abut_step_resume(s, frame, *at, rep, err) : abut_step_begin(s, frame, *at, rep, err);
    for (int done = 0; !rc && !done;) {
        rc = abut_step_solve(s, rep, err);
        if (rc) break;
        const int only = m->lags[0] == 1;
        rc = abut_step_refresh(s, !only, rep, err);
        done = only;
        if (!rc && !only) rc = abut_step_settled(s, rep, m->lags[0], m->tolerance[0], &done, err);
        if (!rc && !done) rc = abut_step_again(s, err);
    }
    if (!rc) rc = abut_step_commit(s, frame, with, out, at, rep, err);
    rep->seconds.total += abut_time_wall() - clock;
    rep->cpu += abut_time_cpu() - cpu;
    return rc;
}

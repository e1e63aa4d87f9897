#include "solve/scheme.h"

#include "base/par.h"
#include "base/timer.h"
#include "contact/cross.h"
#include "linalg/vec3.h"
#include "model/motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

abut_status abut_stepper_init(abut_stepper *s, const abut_model *m, const abut_solver_opts *opt, abut_err *err)
{
    *s = (abut_stepper){ 0 };
    abut_status rc = abut_solver_init(&s->solver, m, opt, err);
    if (rc) return rc;
    s->v = calloc(3 * (size_t)m->nv, sizeof *s->v);
    s->acc = calloc(3 * (size_t)m->nv, sizeof *s->acc);
    if (s->v && s->acc) return ABUT_OK;
    abut_stepper_clear(s);
    return abut_fail(err, ABUT_E_NOMEM, "step: %d nodes", m->nv);
}

void abut_stepper_clear(abut_stepper *s)
{
    abut_solver_clear(&s->solver);
    free(s->v);
    free(s->acc);
    *s = (abut_stepper){ 0 };
}

/* What both phases share: start values, inertial target, friction data of the frame. */
static abut_status load(abut_stepper *s, const abut_arrays *frame, const double *x0, abut_instant at, abut_frame *f,
                        abut_err *err)
{
    abut_problem *p = &s->solver.prob;
    const abut_model *m = p->model;
    const double h = m->h[0];
    abut_status rc = abut_frame_view(frame, m, f, err);
    if (!rc) rc = abut_lag_from_frame(f, &p->lag, err);
    if (rc) return rc;
    if (!x0) x0 = f->x;
    const size_t n3 = 3 * (size_t)m->nv;
    memcpy(s->v, f->v, n3 * sizeof(double));
    memcpy(p->xn, x0, n3 * sizeof(double));
    memcpy(s->solver.x, f->x, n3 * sizeof(double));
    abut_motion_targets(m, at.time, x0, p->target, p->held);
    abut_motion_acceleration(m, at.time, s->acc);
    for (size_t i = 0; i < n3; i++) p->xhat[i] = x0[i] + h * s->v[i] + h * h * s->acc[i];
    s->at = at;
    abut_direction_reset(&s->solver.dir);
    p->al.on = 0;
    abut_problem_number(p);
    return ABUT_OK;
}

static int rubs(const abut_model *m)
{
    for (int32_t i = 0; i < m->ng * m->ng; i++)
        if (m->mu[i] > 0) return 1;
    return 0;
}

abut_status abut_step_begin(abut_stepper *s, const abut_arrays *frame, abut_instant at, abut_report *rep, abut_err *err)
{
    abut_problem *p = &s->solver.prob;
    const double clock = abut_time_wall();
    abut_frame f;
    s->pass = 0;
    abut_status rc = load(s, frame, NULL, at, &f, err);
    if (rc) return abut_wrap(err, "frame %lld", (long long)at.step), rc;
    if (!s->way_goes_on || !s->solver.path.n) rc = abut_path_start(&s->solver.path, &p->cm, s->solver.x, err);
    if (!rc) rc = abut_solver_contacts(&s->solver, rep, err);
    if (rc) return abut_wrap(err, "frame %lld", (long long)at.step), rc;

    /* the first frame of a scene has no friction data yet: freeze what touches now */
    const int first = !abut_arrays_find(frame, "lag/node");
    if (first && rubs(p->model)) {
        rc = abut_problem_kappa(p, s->solver.x, s->solver.y, &s->solver.pairs, &p->kappa, &s->solver.scratch, err);
        if (!rc) rc = abut_lag_freeze(&p->cm, &s->solver.pairs, s->solver.y, p->kappa, p->model->h[0], &p->lag, err);
    }
    if (!rc) rc = abut_solver_move_held(&s->solver, rep, err);
    if (!rc) rc = abut_solver_contacts(&s->solver, rep, err);
    if (!rc)
        rc = abut_problem_kappa(p, s->solver.x, s->solver.y, &s->solver.pairs, &p->kappa, &s->solver.scratch, err);
    rep->seconds.predict += abut_time_wall() - clock;
    return rc;
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
    rc = abut_path_start(&s->solver.path, &p->cm, p->xn, err);
    for (int32_t i = 0; i < f.nw && !rc; i += f.nv)
        rc = abut_path_add(&s->solver.path, &p->cm, p->obstacle, f.way + 3 * (size_t)i, &s->solver.near, err);
    if (!rc) rc = abut_path_add(&s->solver.path, &p->cm, p->obstacle, s->solver.x, &s->solver.near, err);
    return rc ? rc : abut_solver_contacts(&s->solver, rep, err);
}

abut_status abut_step_solve(abut_stepper *s, abut_report *rep, abut_err *err)
{
    abut_direction_reset(&s->solver.dir);   /* a pass resumed in another process starts like this too */
    abut_status rc = abut_solver_minimise(&s->solver, rep, err);
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
    if (rubs(p->model))
        rc = abut_lag_freeze(&p->cm, &s->solver.pairs, s->solver.y, p->kappa, p->model->h[0], &p->lag, err);
    if (!rc && measure) {
        rep->lag_residual = 0;
        abut_direction_reset(&s->solver.dir);
        if (p->lag.n) rc = abut_solver_residual(&s->solver, &rep->lag_residual, rep, err);
    }
    rep->seconds.friction += abut_time_wall() - clock;
    return rc;
}

static abut_status crossing(const abut_collmesh *cm, const abut_cross *hit, size_t found, int64_t step, abut_err *err)
{
    if (hit->tri < 0)
        return abut_fail(err, ABUT_E_NUMERIC, "step %lld: node %d lies on or under half-space %d after the step",
                         (long long)step, cm->node[hit->vert], hit->plane);
    const int32_t *e = cm->edge + 2 * hit->edge, *t = cm->tri + 3 * hit->tri;
    return abut_fail(err, ABUT_E_NUMERIC, "step %lld: edge %d %d touches triangle %d %d %d after the step (%zu such pairs)",
                     (long long)step, cm->node[e[0]], cm->node[e[1]], cm->node[t[0]], cm->node[t[1]], cm->node[t[2]], found);
}

/* Nothing may touch and no injective element may be inverted, by exact arithmetic. */
static abut_status check_candidate(abut_stepper *s, abut_report *rep, abut_err *err)
{
    abut_solver *so = &s->solver;
    const abut_problem *p = &so->prob;
    const double clock = abut_time_wall();
    abut_cross hit;
    size_t found = 0;
    abut_status rc = abut_cross_find(&p->cm, so->y, p->obstacle, 1, &hit, &found, err);
    rep->seconds.check += abut_time_wall() - clock;
    if (rc) return rc;
    if (found) return crossing(&p->cm, &hit, found, s->at.step + 1, err);
    rep->min_jacobian = abut_smallest_jacobian(p->model, so->x, &rep->min_jacobian_tet);
    const int32_t t = rep->min_jacobian_tet;
    if (t >= 0 && !(rep->min_jacobian > 0) && p->model->mat_model[p->model->tet_mat[t]] == ABUT_NEO_HOOKEAN)
        return abut_fail(err, ABUT_E_NUMERIC, "step %lld: tet %d has J = %.3g after the step", (long long)s->at.step + 1, t,
                         rep->min_jacobian);
    return ABUT_OK;
}

static void report_contacts(const abut_solver *so, abut_report *rep)
{
    const abut_pairs *q = &so->pairs;
    const int32_t *node = so->prob.cm.node;
    rep->contacts = (int32_t)q->n;
    rep->mollified = (int32_t)(q->n - q->n_plain);
    rep->planes = (int32_t)q->n_plane;
    rep->min_gap = -1;
    double best = INFINITY;
    for (size_t i = 0; i < q->n; i++) {
        if (q->dist2[i] >= best * best) continue;
        best = sqrt(q->dist2[i]);
        for (int k = 0; k < 4; k++) rep->gap_node[k] = q->vert[i][k] < 0 ? -1 : node[q->vert[i][k]];
    }
    for (size_t i = 0; i < q->n_plane; i++) {
        if (q->plane_dist[i] >= best) continue;
        best = q->plane_dist[i];
        rep->gap_node[0] = node[q->plane_vert[i]];
        rep->gap_node[1] = rep->gap_node[2] = -1;
        rep->gap_node[3] = q->plane[i];
    }
    if (isfinite(best)) rep->min_gap = best;
}

/* Energies and momenta of the simulated nodes. */
static abut_status report_physics(abut_stepper *s, const double *v, abut_report *rep, abut_err *err)
{
    const abut_solver *so = &s->solver;
    const abut_model *m = so->prob.model;
    abut_acc kinetic = { 0, 0 }, gravity = { 0, 0 }, mom[6] = { { 0, 0 } };
    const abut_vec3 g = abut_v3_get(m->gravity);
    for (int32_t i = 0; i < m->nv; i++) {
        if (m->role[i] == ABUT_NODE_OBSTACLE) continue;
        const abut_vec3 xi = abut_v3_get(so->x + 3 * i), vi = abut_v3_get(v + 3 * i);
        const abut_vec3 l = abut_v3_cross(xi, vi);
        const double mi = m->mass[i], part[6] = { vi.x, vi.y, vi.z, l.x, l.y, l.z };
        abut_acc_add(&kinetic, 0.5 * mi * abut_v3_norm2(vi));
        abut_acc_add(&gravity, -mi * abut_v3_dot(g, xi));
        for (int k = 0; k < 6; k++) abut_acc_add(&mom[k], mi * part[k]);
    }
    rep->kinetic = kinetic.hi + kinetic.lo;
    rep->gravity = gravity.hi + gravity.lo;
    for (int k = 0; k < 6; k++) (k < 3 ? rep->momentum : rep->angular - 3)[k] = mom[k].hi + mom[k].lo;
    return abut_elastic_energy(&so->prob.elastic, so->x, &rep->elastic, &s->solver.scratch, err);
}

static abut_status carry_arrays(const abut_arrays *from, abut_arrays *out, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int i = 0; from && i < from->n && !rc; i++)
        if (from->a[i].flags & ABUT_A_CARRY) rc = abut_arrays_copy(out, &from->a[i], err);
    return rc;
}

/* x, v, kappa, the way and the frozen friction: what both phases of a frame hold. */
static abut_status put_state(const abut_stepper *s, const double *v, abut_arrays *out, abut_err *err)
{
    const abut_problem *p = &s->solver.prob;
    const int32_t nv = p->model->nv;
    double *x_out = abut_frame_put(out, "node/x", nv, err);
    if (!x_out) return err->code;
    memcpy(x_out, s->solver.x, 3 * (size_t)nv * sizeof(double));
    double *v_out = abut_frame_put(out, "node/v", nv, err);
    if (!v_out) return err->code;
    memcpy(v_out, v, 3 * (size_t)nv * sizeof(double));
    double *kappa = abut_frame_put(out, "contact/kappa", 1, err);
    if (!kappa) return err->code;
    *kappa = p->kappa;
    const abut_path *path = &s->solver.path;
    if (path->n > 2) {
        double *way = abut_frame_put(out, "step/way", (int64_t)(path->n - 2) * nv, err);
        if (!way) return err->code;
        for (int i = 1; i + 1 < path->n; i++) memcpy(way + (size_t)(i - 1) * path->n3, path->point[i], path->n3 * sizeof *way);
    }
    return rubs(p->model) ? abut_lag_to_frame(&p->lag, out, err) : ABUT_OK;
}

/* node/contact-force: barrier force on every node, N */
static abut_status put_forces(abut_stepper *s, abut_arrays *out, abut_err *err)
{
    abut_solver *so = &s->solver;
    const abut_model *m = so->prob.model;
    double *f = abut_arrays_put_rows(out, "node/contact-force", ABUT_F64, m->nv, 3, "N", err);
    if (!f) return err->code;
    abut_status rc = abut_barrier_gradient(&so->prob.cm, &so->pairs, so->y, so->prob.kappa, f, &so->scratch, err);
    for (int32_t i = 0; i < 3 * m->nv && !rc; i++) f[i] /= -m->h[0] * m->h[0];
    return rc;
}

abut_status abut_step_commit(abut_stepper *s, const abut_arrays *carry, int forces, abut_arrays *out, abut_instant *at,
                             abut_report *rep, abut_err *err)
{
    const abut_problem *p = &s->solver.prob;
    const double h = p->model->h[0];
    const int32_t n3 = 3 * p->model->nv;
    abut_arrays_clear(out);
    abut_status rc = check_candidate(s, rep, err);
    if (rc) return rc;
    for (int32_t i = 0; i < n3; i++) s->v[i] = (s->solver.x[i] - p->xn[i]) / h;

    rc = carry_arrays(carry, out, err);
    if (!rc) rc = put_state(s, s->v, out, err);
    if (!rc && forces) rc = put_forces(s, out, err);
    if (!rc) rc = report_physics(s, s->v, rep, err);
    if (rc) return rc;
    /* whole multiples of h stay exact; a simulation that does not start at 0 adds up */
    const double grid = (double)s->at.step * h;
    at->time = fabs(s->at.time - grid) <= 1e-9 * h ? (double)(s->at.step + 1) * h : s->at.time + h;
    at->step = s->at.step + 1;
    rep->step = at->step;
    rep->time = at->time;
    rep->kappa = p->kappa;
    rep->waypoints = s->solver.path.n > 2 ? s->solver.path.n - 2 : 0;
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
    if (!rc) rc = put_state(s, s->v, out, err);
    if (rc) return rc;
    double *x0 = abut_arrays_put_rows(out, "step/x0", ABUT_F64, p->model->nv, 3, "m", err);
    if (!x0) return err->code;
    memcpy(x0, p->xn, 3 * (size_t)p->model->nv * sizeof(double));
    return abut_arrays_put_i32(out, "step/pass", s->pass, err);
}

abut_status abut_step_advance(abut_stepper *s, const abut_arrays *frame, int pending, abut_instant *at, int forces,
                              abut_arrays *out, abut_report *rep, abut_err *err)
{
    const abut_model *m = s->solver.prob.model;
    const double clock = abut_time_wall(), cpu = abut_time_cpu();
    abut_status rc = pending ? abut_step_resume(s, frame, *at, rep, err) : abut_step_begin(s, frame, *at, rep, err);
    for (int done = 0; !rc && !done;) {
        rc = abut_step_solve(s, rep, err);
        if (rc) break;
        const int last = s->pass >= m->lags[0];
        rc = abut_step_refresh(s, !last, rep, err);
        done = last || (rep->lag_residual >= 0 && rep->lag_residual <= m->tolerance[0]);
    }
    if (!rc) rc = abut_step_commit(s, frame, forces, out, at, rep, err);
    rep->seconds.total += abut_time_wall() - clock;
    rep->cpu += abut_time_cpu() - cpu;
    return rc;
}

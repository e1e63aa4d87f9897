/* Backwards through one minimisation. */
#include "adjoint/adjoint_parts.h"

#include "base/words.h"
#include "energy/codim.h"
#include "solve/direction/matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- linear maps of a time scheme ---- */

enum { INPUTS = sizeof(abut_recur_row) / sizeof(double) };

/* All outputs of one node for the inputs `in`, along x. */
static void respond(const abut_model *m, int scheme, double force_scale, const abut_recur_row *in, double out[6])
{
    const abut_model one = { .nv = 1, .h = m->h, .newmark_beta = m->newmark_beta, .newmark_gamma = m->newmark_gamma };
    const double x[3] = { in->x }, v[3] = { in->v }, a[3] = { in->a }, acc[3] = { in->acc }, target[3] = { in->target },
                 end[3] = { in->end };
    double past[2 * ABUT_PAST][3] = { { 0 } }, *past_x[ABUT_PAST], *past_v[ABUT_PAST], xhat[3], to[3], after[3];
    for (int k = 0; k < ABUT_PAST; k++) {
        past[k][0] = in->past_x[k], past[ABUT_PAST + k][0] = in->past_v[k];
        past_x[k] = past[k], past_v[k] = past[ABUT_PAST + k];
    }
    const abut_start at = { x, v, acc, a, past_x, past_v };
    if (!abut_scheme_is(scheme, ABUT_SCHEME_INERTIA))
        xhat[0] = x[0] + force_scale * acc[0], xhat[1] = xhat[2] = 0;   /* T is of a whole model */
    else abut_integrator_predict(&one, scheme, &at, xhat);
    out[0] = xhat[0];
    for (uint8_t held = 0; held < 2; held++) {
        double changed[3] = { 0 };
        abut_integrator_still(&one, scheme, &at, &held, target, to);
        abut_integrator_finish(&one, scheme, &at, &held, xhat, end, after, changed);
        out[1 + held] = to[0];
        out[3 + held] = after[0];
        if (!held) out[5] = changed[0];
    }
}

void abut_recur_of(const abut_model *m, int scheme, double force_scale, abut_recur *r)
{
    double *const row[6] = { (double *)&r->xhat, (double *)&r->still[0], (double *)&r->still[1], (double *)&r->v[0],
                             (double *)&r->v[1], (double *)&r->a };
    memset(r, 0, sizeof *r);
    for (int k = 0; k < INPUTS; k++) {
        abut_recur_row in;
        double unit[INPUTS] = { 0 }, out[6];
        unit[k] = 1;
        memcpy(&in, unit, sizeof in);
        respond(m, scheme, force_scale, &in, out);
        for (int j = 0; j < 6; j++) row[j][k] = out[j];
    }
}

void abut_recur_give(const abut_recur_row *r, size_t i, double b, const abut_recur_bars *to)
{
    to->end[i] += r->end * b;
    to->acc[i] += r->acc * b;
    to->target[i] += r->target * b;
    to->start->x[i] += r->x * b;
    to->start->v[i] += r->v * b;
    to->start->a[i] += r->a * b;
    for (int k = 0; k < ABUT_PAST && to->start->past_x[k]; k++) {
        to->start->past_x[k][i] += r->past_x[k] * b;
        to->start->past_v[k][i] += r->past_v[k] * b;
    }
}

/* ---- the end of a pass ---- */

enum { ROUNDS_MOST = 400 };
#define ROUNDS_CLOSE 1e-13
#define RESIDUAL_MOST 1e3   /* tolerances that an end may be off: more is no end of this step */

abut_status abut_adjoint_freeze(abut_adjoint *a, const abut_adjoint_pass *pass, abut_err *err)
{
    abut_search *so = &a->s.solver;
    abut_objective *o = &so->prob;
    const double kappa = pass->from_kappa;
    abut_search_place(so, pass->from);
    abut_status rc = abut_objective_part(o, pass->from_part, err);
    if (!rc) rc = abut_search_contacts(so, &a->report, err);
    if (!rc) rc = abut_lag_freeze(&o->cm, &so->here.pairs, so->here.y, kappa, o->w.h_force, abut_lag_of(&o->terms), err);
    return rc ? rc : abut_frozen_take(&a->frozen, &o->cm, &so->here.pairs, so->here.y, kappa, o->w.h_force, err);
}

abut_status abut_adjoint_arrive(abut_adjoint *a, const abut_adjoint_pass *pass, abut_at *at, abut_err *err)
{
    abut_search *so = &a->s.solver;
    abut_objective *o = &so->prob;
    abut_search_place(so, pass->x);
    abut_status rc = abut_objective_part(o, pass->part, err);
    if (!rc) rc = abut_search_contacts(so, &a->report, err);
    if (rc) return rc;
    abut_barrier_state_of(&o->terms)->kappa = pass->kappa;
    abut_codim_state_of(&o->terms)->strain_kappa = pass->strain_kappa;
    *at = abut_point_at(&so->here, o);
    return abut_objective_gradient(o, at, ABUT_KINDS_ALL, a->work.g, &so->scratch, err);
}

/* H p = -bar; in rep how well */
static abut_status solve(abut_adjoint *a, const double *bar, double *p, abut_adjoint_report *rep, abut_err *err)
{
    const size_t n3 = 3 * (size_t)a->model->nv;
    abut_adjoint_solution how;
    for (size_t i = 0; i < n3; i++) a->work.u[i] = -bar[i];
    const abut_status rc = abut_adjoint_system_solve(&a->system, a->work.u, p, &how, err);
    rep->solve_error = fmax(rep->solve_error, how.error);
    rep->iterations += how.iterations;
    return rc;
}

/* friction of the pass, differentiated by the positions at which it was frozen; x_bar: their bars, NULL: they are constant */
static abut_status friction_back(abut_adjoint *a, const double *x, double *x_bar, int counts, abut_adjoint_report *rep,
                                 abut_err *err)
{
    const abut_objective *o = &a->s.solver.prob;
    const size_t n3 = 3 * (size_t)a->model->nv;
    const abut_stiction law = abut_stiction_of(a->model, &o->step);
    abut_parameter_bar *b = &a->bars;
    abut_frozen_bars bars = { .x = x_bar, .mu = b->mu };
    double *u = a->work.u;
    if (!a->frozen.n) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(&a->s.solver.scratch);
    double *unused = ABUT_NEW(&a->s.solver.scratch, double, (size_t)(a->model->ng * a->model->ng));
    if (!unused) return abut_fail(err, ABUT_E_NOMEM, "friction classes");
    if (!counts) bars.mu = unused;
    for (size_t i = 0; i < n3; i++) u[i] = x[i] - o->still[i];
    const abut_status rc = abut_frozen_back(&a->frozen, &o->cm, &law, a->model->eps_v[0], u, a->work.p, &bars,
                                            &a->s.solver.scratch, err);
    abut_arena_release(&a->s.solver.scratch, mark);
    if (rc || !counts) return rc;
    b->eps_v[0] += bars.eps_v;
    b->dhat[0] += bars.dhat;
    b->kappa[0] += bars.kappa;
    rep->kappa += bars.kappa;
    rep->frozen += bars.acting;
    return ABUT_OK;
}

/* (H + L)^T p = -bar, L the derivative of F by x' through friction that is frozen there */
static abut_status solve_converged(abut_adjoint *a, const double *x, abut_adjoint_report *rep, abut_err *err)
{
    const size_t n3 = 3 * (size_t)a->model->nv;
    const double size = sqrt(abut_adjoint_dot(n3, a->work.end, a->work.end));
    abut_status rc = solve(a, a->work.end, a->work.p, rep, err);
    double change = INFINITY;
    const abut_mark mark = abut_arena_mark(&a->s.solver.scratch);
    double *bar = ABUT_NEW(&a->s.solver.scratch, double, n3), *before = ABUT_NEW(&a->s.solver.scratch, double, n3);
    if (!bar || !before) return abut_fail(err, ABUT_E_NOMEM, "backward pass: %d nodes", a->model->nv);
    for (; !rc && change > ROUNDS_CLOSE && rep->rounds < ROUNDS_MOST && size > 0 && a->frozen.n; rep->rounds++) {
        memcpy(before, a->work.p, n3 * sizeof *before);
        memcpy(bar, a->work.end, n3 * sizeof *bar);
        rc = friction_back(a, x, bar, 0, rep, err);
        if (!rc) rc = solve(a, bar, a->work.p, rep, err);
        const double now = sqrt(abut_adjoint_dot(n3, a->work.p, a->work.p));
        for (size_t i = 0; i < n3; i++) before[i] -= a->work.p[i];
        change = now > 0 ? sqrt(abut_adjoint_dot(n3, before, before)) / now : 0;
    }
    abut_arena_release(&a->s.solver.scratch, mark);
    if (rc || rep->rounds < ROUNDS_MOST || change <= ROUNDS_CLOSE) return rc;
    return abut_fail(err, ABUT_E_NUMERIC, "friction that has converged: %d solutions still change by %.3g, expected %.0e",
                     ROUNDS_MOST, change, ROUNDS_CLOSE);
}

/* correction of L by the residual, and distance of the frame from the end of its step */
static abut_status judge(abut_adjoint *a, abut_adjoint_report *rep, abut_err *err)
{
    const size_t n3 = 3 * (size_t)a->model->nv;
    abut_adjoint_solution how;
    rep->correction += abut_adjoint_dot(n3, a->work.p, a->work.g);
    const abut_status rc = abut_adjoint_system_solve(&a->system, a->work.g, a->work.u, &how, err);
    const double speed = abut_largest(a->work.u, n3) / a->model->h[0], most = RESIDUAL_MOST * a->model->tolerance[0];
    rep->residual = fmax(rep->residual, speed);
    if (rc || speed <= most) return rc;
    return abut_fail(err, ABUT_E_FORMAT, "the end is %.3g m/s from where the forces of this step balance, expected at most %.3g "
                     "m/s: another solver or options have made it (--tolerance and --lags are those of the run)", speed, most);
}

/* bars of xhat = -M p and of the masses in F */
static void inertia_back(abut_adjoint *a, const double *x, const abut_recur_bars *to)
{
    const abut_objective *o = &a->s.solver.prob;
    const abut_model *m = a->model;
    const double *p = a->work.p, scale = o->w.h_force * o->w.h_force;
    for (size_t i = 0; i < 3 * (size_t)m->nv; i++) {
        if (o->held[i / 3]) continue;
        const double xhat = -m->mass[i / 3] * p[i];
        if (o->w.inertia) {
            a->bars.mass[i / 3] += p[i] * (x[i] - o->xhat[i]);
            abut_recur_give(&a->recur.xhat, i, xhat, to);
        } else {
            a->bars.mass[i / 3] -= scale * p[i] * a->s.acc[i];
            to->acc[i] += scale * xhat;
        }
    }
}

/* bars of the rest positions of friction and damping, c = -D_xx p; terms at z have bars by x_n */
static abut_status smooth_back(abut_adjoint *a, const abut_at *at, const double *q, const abut_recur_bars *to, abut_err *err)
{
    abut_objective *o = &a->s.solver.prob;
    const abut_model *m = a->model;
    const size_t n3 = 3 * (size_t)m->nv;
    const double share = o->w.share, *p = a->work.p, mass = o->step.damping * (m->damp_mass ? m->damp_mass[0] : 0);
    double *c = a->work.g;
    memset(c, 0, n3 * sizeof *c);
    const int opposing = 1 << ABUT_TERM_DAMPING | 1 << ABUT_TERM_LOAD;
    abut_status rc = abut_adjoint_product(o, at, opposing, -1, p, c, &a->s.solver.scratch, err);
    for (size_t i = 0; i < n3 && mass > 0; i++) c[i] -= mass * m->mass[i / 3] * p[i];
    if (share < 1) {
        for (size_t i = 0; i < n3; i++) to->start->x[i] += c[i];
        memset(c, 0, n3 * sizeof *c);
        if (!rc) rc = abut_adjoint_product_at_z(o, at, (1 - share) / share, p, to->start->x, &a->s.solver.scratch, err);
    }
    if (!rc) rc = abut_adjoint_product(o, at, 1 << ABUT_TERM_FRICTION, -1, p, c, &a->s.solver.scratch, err);
    if (!rc && abut_scheme_is(o->w.scheme, ABUT_SCHEME_ACCELERATION))
        rc = abut_adjoint_product(o, at, 1 << ABUT_TERM_FRICTION, -1, q, c, &a->s.solver.scratch, err);
    for (size_t i = 0; i < n3; i++) abut_recur_give(&a->recur.still[o->held[i / 3]], i, c[i], to);
    return rc;
}

/* bars of the targets of prescribed nodes: bars of x', and those through the other nodes */
static abut_status held_back(abut_adjoint *a, const abut_at *at, const double *x, abut_adjoint_report *rep, abut_err *err)
{
    const abut_objective *o = &a->s.solver.prob;
    const size_t n3 = 3 * (size_t)a->model->nv;
    const double length = a->model->length[0];
    double *H = a->work.u;
    int any = 0;
    for (int32_t i = 0; i < a->model->nv; i++) any |= o->held[i];
    if (!any) return ABUT_OK;
    memset(H, 0, n3 * sizeof *H);
    const abut_status rc = abut_adjoint_product(o, at, ABUT_KINDS_ALL, 1, a->work.p, H, &a->s.solver.scratch, err);
    for (size_t i = 0; i < n3; i++) {
        if (!o->held[i / 3]) continue;
        const double bar = a->work.end[i] + H[i], off = fabs(x[i] - o->target[i]);
        a->work.target[i] += bar;
        if (off > 1e-12 * (fabs(o->target[i]) + length)) rep->unreached += off * fabs(bar);
    }
    return rc;
}

/* bar of the stiffness of the barrier */
static abut_status barrier_back(abut_adjoint *a, const abut_at *at, abut_adjoint_report *rep, abut_err *err)
{
    abut_objective *o = &a->s.solver.prob;
    const size_t n3 = 3 * (size_t)a->model->nv;
    const abut_barrier_state *b = abut_barrier_state_of(&o->terms);
    double *g = a->work.g;
    memset(g, 0, n3 * sizeof *g);
    const abut_status rc = abut_barrier_unit_gradient(b, at, g, &a->s.solver.scratch, err);
    const double by = b->kappa * abut_adjoint_dot(n3, g, a->work.p);
    a->bars.kappa[0] += by;
    rep->kappa += by;
    return rc;
}

/* p.(dg/d contact/dhat) of one contact that has the part dhat of it: its gradient at Dhat a little more and less */
static double dhat_of(const abut_objective *o, abut_stencil kind, const double x[12], double eps_x, double dhat, double xi,
                      const int32_t *vert, int moving, const double *p)
{
    const abut_barrier_law law = abut_model_barrier(o->model, dhat, xi);
    const double step = ABUT_DHAT_STEP * law.dhat2;
    double along[2] = { 0, 0 }, q[3];
    for (int side = 0; side < 2; side++) {
        double g[12];
        abut_pair_barrier_grad((abut_barrier_law){ law.dhat2 + (side ? step : -step), law.number, xi, 0, 0 }, kind, x, eps_x, g);
        for (int j = 0; j < moving; j++) {
            abut_collmesh_motion(&o->cm, p, vert[j], q);
            for (int d = 0; d < 3; d++) along[side] += g[3 * j + d] * q[d];
        }
    }
    return (along[1] - along[0]) / (2 * step) * 2 * (xi + dhat) * (dhat / o->model->dhat[0]);
}

/* The threshold of the mollifier, 1e-3 |e|^2 |f|^2 of rest edges, by the rest shape. */
static void mollifier_back(abut_adjoint *a, const abut_pairs *pairs, size_t i, const double x[12])
{
    const abut_objective *o = &a->s.solver.prob;
    const abut_barrier_law law = abut_model_barrier(o->model, abut_pairs_dhat(&o->cm, pairs, i), abut_pairs_xi(&o->cm, pairs, i));
    const double eps = pairs->eps_x[i], scale = abut_barrier_state_of(&o->terms)->kappa * pairs->mult[i];
    const int32_t *v = pairs->vert[i];
    double along[2] = { 0, 0 }, q[3];
    for (int side = 0; side < 2; side++) {
        double g[12];
        abut_pair_barrier_grad(law, ABUT_EE, x, eps * (1 + (side ? 1e-5 : -1e-5)), g);
        for (int j = 0; j < 12; j++) {
            if (j % 3 == 0) abut_collmesh_motion(&o->cm, a->work.p, v[j / 3], q);
            along[side] += g[j] * q[j % 3];
        }
    }
    const double by = scale * (along[1] - along[0]) / 2e-5;     /* by the logarithm of the threshold */
    for (int e = 0; e < 4 && abut_collmesh_selects(&o->cm); e += 2) {
        const size_t m = 3 * (size_t)abut_collmesh_slot(&o->cm, v[e]), n = 3 * (size_t)abut_collmesh_slot(&o->cm, v[e + 1]);
        const double *X = o->model->X;
        double l2 = 0;
        for (size_t d = 0; d < 3; d++) l2 += (X[n + d] - X[m + d]) * (X[n + d] - X[m + d]);
        for (size_t d = 0; d < 3; d++) {
            a->bars.rest[n + d] += by * 2 * (X[n + d] - X[m + d]) / l2;
            a->bars.rest[m + d] -= by * 2 * (X[n + d] - X[m + d]) / l2;
        }
    }
}

static void dhat_back(abut_adjoint *a, const abut_at *at)
{
    const abut_objective *o = &a->s.solver.prob;
    const abut_pairs *pairs = at->pairs;
    double sum = 0;
    for (size_t i = 0; i < pairs->n; i++) {
        double x[12];
        const abut_stencil kind = abut_pairs_get(pairs, i, at->y, x);
        if (pairs->eps_x[i] > 0) mollifier_back(a, pairs, i, x);
        sum += pairs->mult[i] * dhat_of(o, kind, x, pairs->eps_x[i], abut_pairs_dhat(&o->cm, pairs, i),
                                        abut_pairs_xi(&o->cm, pairs, i), pairs->vert[i], abut_stencil_size(kind), a->work.p);
    }
    for (size_t i = 0; i < pairs->n_plane; i++) {   /* a vertex and its foot, which stays */
        const double *n = o->model->hs_normal + 3 * (size_t)pairs->plane[i], *y = at->y + 3 * (size_t)pairs->plane_vert[i];
        double x[12] = { y[0], y[1], y[2] };
        for (int d = 0; d < 3; d++) x[3 + d] = y[d] - pairs->plane_dist[i] * n[d];
        sum += pairs->plane_mult[i] * dhat_of(o, ABUT_PP, x, 0, abut_pairs_plane_dhat(&o->cm, pairs, i),
                                              abut_pairs_plane_xi(&o->cm, pairs, i), pairs->plane_vert + i, 1, a->work.p);
    }
    a->bars.dhat[0] += abut_barrier_state_of(&o->terms)->kappa * sum;
}

/* The gradient G of contact and friction is in F and, times M^-1, in Newmark's a' (motion.c of the stepper).  Turns the bar of a'
 * through G into bars of x' and of masses; moves work.q to q, so that it is 0 for earlier passes. */
static abut_status acceleration_back(abut_adjoint *a, const abut_at *at, const double *x, int converged, double *q,
                                     abut_adjoint_report *rep, abut_err *err)
{
    const abut_objective *o = &a->s.solver.prob;
    const size_t n3 = 3 * (size_t)a->model->nv;
    const int contact = 1 << ABUT_TERM_CONTACT | 1 << ABUT_TERM_FRICTION;
    memcpy(q, a->work.q, n3 * sizeof *q);
    memset(a->work.q, 0, n3 * sizeof *q);
    if (!abut_scheme_is(o->w.scheme, ABUT_SCHEME_ACCELERATION)) return ABUT_OK;
    abut_status rc = abut_adjoint_product(o, at, contact, 1, q, a->work.end, &a->s.solver.scratch, err);
    memcpy(a->work.p, q, n3 * sizeof *q);
    if (!rc && converged && !a->opt.lag_constant) rc = friction_back(a, x, a->work.end, 0, rep, err);
    memset(a->work.u, 0, n3 * sizeof *q);
    if (!rc) rc = abut_objective_gradient_add(o, at, contact, a->work.u, &a->s.solver.scratch, err);
    for (size_t i = 0; i < n3; i++) a->bars.mass[i / 3] -= q[i] * a->work.u[i] / a->model->mass[i / 3];
    return rc;
}

abut_status abut_adjoint_pass_back(abut_adjoint *a, const abut_adjoint_pass *pass, int converged, abut_adjoint_report *rep,
                                   abut_err *err)
{
    abut_objective *o = &a->s.solver.prob;
    const size_t n3 = 3 * (size_t)a->model->nv;
    const abut_recur_bars to = { &a->work.start, a->work.end, a->work.acc, a->work.target };
    abut_at at;
    abut_status rc = abut_adjoint_arrive(a, pass, &at, err);
    if (!rc) rc = abut_adjoint_system_take(&a->system, &at, err);
    if (rc) return rc;
    rep->indefinite |= a->system.indefinite;
    if (a->system.indefinite) rep->bad_node = a->system.bad_node;
    rep->contacts = (int)abut_search_count(&a->s.solver);
    const abut_mark mark = abut_arena_mark(&a->s.solver.scratch);
    double *q = ABUT_NEW(&a->s.solver.scratch, double, n3);
    if (!q) return abut_fail(err, ABUT_E_NOMEM, "backward pass: %d nodes", a->model->nv);
    if ((rc = acceleration_back(a, &at, pass->x, converged, q, rep, err))) return rc;
    rc = converged && !a->opt.lag_constant ? solve_converged(a, pass->x, rep, err) : solve(a, a->work.end, a->work.p, rep, err);
    if (!rc) rc = judge(a, rep, err);
    if (!rc) rc = held_back(a, &at, pass->x, rep, err);
    if (rc) return rc;
    inertia_back(a, pass->x, &to);
    rc = abut_adjoint_forces_back(a, &at, a->work.p, o->w.psi * o->w.share, err);
    abut_adjoint_drag_back(a, pass->x);
    for (size_t i = 0; i < n3; i++) a->work.u[i] = pass->x[i] - o->step.x_damp[i];
    if (!rc) rc = abut_adjoint_damping_back(a, a->work.u, err);
    if (!rc) rc = smooth_back(a, &at, q, &to, err);
    for (size_t i = 0; i < n3; i++) a->work.p[i] += q[i];
    abut_arena_release(&a->s.solver.scratch, mark);
    if (!rc) rc = barrier_back(a, &at, rep, err);
    if (!rc && !o->cm.area) dhat_back(a, &at);
    memset(a->work.next, 0, n3 * sizeof *a->work.next);
    if (!rc) rc = friction_back(a, pass->x, a->opt.lag_constant ? NULL : a->work.next, 1, rep, err);
    if (!converged) return rc;
    /* with converged friction the equation for p has the bars of free nodes; bars of prescribed nodes go to their targets */
    for (size_t i = 0; i < n3; i++)
        if (o->held[i / 3]) a->work.target[i] += a->work.next[i];
    memset(a->work.next, 0, n3 * sizeof *a->work.next);
    return rc;
}

/* ---- the linear system ---- */

/* H p = b with the second derivative H of the objective of a step, without projection, majorant or shift. */

abut_status abut_adjoint_system_init(abut_adjoint_system *s, abut_objective *o, int threads, abut_err *err)
{
    const size_t nv = (size_t)o->model->nv;
    *s = (abut_adjoint_system){ .o = o, .of_run = abut_barrier_state_of(&o->terms)->curvature };
    abut_status rc = abut_linear_solver_init(&s->linear, abut_linear_solvers[0], threads, err);
    if (!rc && !ABUT_ARRAYS(ABUT_ITEMS(s->rows, nv), ABUT_ITEMS(s->diag, nv), ABUT_ITEMS(s->work, 27 * nv)))
        rc = abut_fail(err, ABUT_E_NOMEM, "backward pass: %zu nodes", nv);
    for (size_t i = 0; s->rows && i < nv; i++) s->rows[i] = -2;
    if (rc) abut_adjoint_system_clear(s);
    return rc;
}

void abut_adjoint_system_clear(abut_adjoint_system *s)
{
    abut_bsr_clear(&s->A);
    abut_linear_solver_clear(&s->linear);
    ABUT_FREE(s->rows, s->diag, s->work);
    *s = (abut_adjoint_system){ 0 };
}

/* ---- the matrix ---- */

/* Chooses second derivatives without projection, or projected ones with the shift of directions. */
static abut_status choose(abut_objective *o, int as_is, abut_err *err)
{
    const abut_barrier_hessian_ops *ops = abut_barrier_hessians[0];
    const abut_status rc = as_is ? abut_barrier_hessian_find("full", NULL, &ops, err) : ABUT_OK;
    if (rc) return rc;
    abut_barrier_state_of(&o->terms)->curvature = (abut_barrier_curvature){ ops, 0 };
    abut_barrier_state_of(&o->terms)->bends = 1;
    o->step.as_is = as_is;
    o->step.shift = as_is ? 0 : o->w.shift;
    return ABUT_OK;
}

void abut_adjoint_system_leave(const abut_adjoint_system *s)
{
    abut_barrier_state_of(&s->o->terms)->curvature = s->of_run;
    abut_barrier_state_of(&s->o->terms)->bends = 0;
    s->o->step.as_is = 0;
    s->o->step.shift = s->o->w.shift;
}

/* s->A at a point */
static abut_status sum(abut_adjoint_system *s, const abut_at *at, int as_is, int *changed, abut_err *err)
{
    abut_objective *o = s->o;
    abut_elements sets[ABUT_SETS_MAX];
    const size_t bytes = (size_t)o->model->nv * sizeof *s->rows;
    int n = 0;
    abut_objective_majorant_forget(o);
    abut_status rc = choose(o, as_is, err);
    if (!rc) rc = abut_objective_sets(o, at, 0, sets, &n, err);
    if (rc) return rc;
    if (s->A.n == o->nrow && s->A.nnz && !memcmp(s->rows, o->row, bytes)) {
        rc = abut_bsr_update(&s->A, sets, n, o->lasting, 1, changed, err);
    } else {
        rc = abut_bsr_pattern(&s->A, o->nrow, sets, n, err);
        *changed = 1;
        memcpy(s->rows, o->row, bytes);
    }
    if (rc) return rc;
    abut_objective_diagonal(o, s->diag);
    abut_bsr_assemble(&s->A, s->diag, sets, n);
    return ABUT_OK;
}

static abut_status factor(abut_adjoint_system *s, int changed, abut_err *err)
{
    const abut_operator A = { .matrix = &s->A, .n = s->A.n };
    abut_status rc = changed ? abut_linear_analyse(&s->linear, &A, NULL, err) : ABUT_OK;
    return rc ? rc : abut_linear_factor(&s->linear, &A, ABUT_DOUBLE, err);
}

abut_status abut_adjoint_system_take(abut_adjoint_system *s, const abut_at *at, abut_err *err)
{
    int changed = 0, again = 0;
    s->indefinite = 0;
    s->bad_node = -1;
    if (!s->o->nrow) return ABUT_OK;
    abut_err why = { 0 };
    abut_status rc = sum(s, at, 1, &changed, err);
    if (rc) return rc;
    rc = factor(s, changed, &why);
    if (rc && rc != ABUT_E_NUMERIC && err) *err = why;
    if (rc != ABUT_E_NUMERIC) return rc;
    s->indefinite = 1;
    s->bad_node = abut_newton_matrix_node_of_row(s->o, abut_linear_bad_row(&s->linear));
    if ((rc = sum(s, at, 0, &changed, err))) return rc;
    if ((rc = factor(s, changed, err))) return abut_wrap(err, "the projected second derivative"), rc;
    return sum(s, at, 1, &again, err);      /* the same pattern: the factor stays good as a preconditioner */
}

/* ---- solutions ---- */

/* r = b - A x; |r| */
static double rest(abut_adjoint_system *s, const double *b, const double *x, double *r)
{
    const size_t n = 3 * (size_t)s->A.n;
    abut_bsr_multiply(&s->A, x, r);
    for (size_t i = 0; i < n; i++) r[i] = b[i] - r[i];
    return sqrt(abut_adjoint_dot(n, r, r));
}

/* x = A^-1 b by the factor, and one step of refinement in the same precision, kept if it is better */
static abut_status direct(abut_adjoint_system *s, const double *b, double *x, double *error, abut_err *err)
{
    const size_t n = 3 * (size_t)s->A.n;
    const abut_operator A = { .matrix = &s->A, .n = s->A.n };
    double *r = s->work + 3 * n, *d = s->work + 4 * n, *better = s->work + 5 * n;
    abut_status rc = abut_linear_solve(&s->linear, &A, b, NULL, x, err);
    if (rc) return rc;
    *error = rest(s, b, x, r);
    if ((rc = abut_linear_solve(&s->linear, &A, r, NULL, d, err))) return rc;
    for (size_t i = 0; i < n; i++) better[i] = x[i] + d[i];
    const double left = rest(s, b, better, r);
    if (left < *error) memcpy(x, better, n * sizeof *x), *error = left;
    return ABUT_OK;
}

enum { MINRES_MOST = 2000, RESTARTS = 4 };

/* Adds to x the solution d of A d = r by MINRES, preconditioned by the factor (Paige and Saunders 1975, in the form of Elman,
 * Silvester and Wathen 2005, algorithm 2.4), until the norm of the preconditioned residual has fallen by `close`. */
static abut_status minres(abut_adjoint_system *s, double *r, double close, double *x, int *iterations, abut_err *err)
{
    const size_t n = 3 * (size_t)s->A.n;
    const abut_operator A = { .matrix = &s->A, .n = s->A.n };
    double *z = s->work + 4 * n, *v = r, *v_old = s->work + 5 * n, *w = s->work + 6 * n, *w_old = s->work + 7 * n,
           *q = s->work + 8 * n;
    memset(v_old, 0, n * sizeof *v);
    memset(w, 0, n * sizeof *w);
    memset(w_old, 0, n * sizeof *w);
    abut_status rc = abut_linear_solve(&s->linear, &A, v, NULL, z, err);
    double gamma_old = 1, gamma = rc ? 0 : sqrt(fmax(0, abut_adjoint_dot(n, z, v))), eta = gamma;
    double s_old = 0, sn = 0, c_old = 1, c = 1;
    const double first = gamma;
    for (int it = 0; it < MINRES_MOST && !rc && fabs(eta) > close * first && gamma > 0; it++, ++*iterations) {
        for (size_t i = 0; i < n; i++) z[i] /= gamma;
        abut_bsr_multiply(&s->A, z, q);
        const double delta = abut_adjoint_dot(n, q, z);
        for (size_t i = 0; i < n; i++) {
            const double next = q[i] - delta / gamma * v[i] - gamma / gamma_old * v_old[i];
            v_old[i] = v[i];
            v[i] = next;
        }
        const double a0 = c * delta - c_old * sn * gamma, a2 = sn * delta + c_old * c * gamma, a3 = s_old * gamma;
        for (size_t i = 0; i < n; i++) q[i] = z[i];
        if ((rc = abut_linear_solve(&s->linear, &A, v, NULL, z, err))) break;
        const double gamma_next = sqrt(fmax(0, abut_adjoint_dot(n, z, v))), a1 = hypot(a0, gamma_next);
        if (!(a1 > 0)) break;
        c_old = c, s_old = sn;
        c = a0 / a1, sn = gamma_next / a1;
        for (size_t i = 0; i < n; i++) {
            const double next = (q[i] - a3 * w_old[i] - a2 * w[i]) / a1;
            w_old[i] = w[i];
            w[i] = next;
            x[i] += c * eta * next;
        }
        eta = -sn * eta;
        gamma_old = gamma, gamma = gamma_next;
    }
    return rc;
}

static abut_status iterate(abut_adjoint_system *s, const double *b, double *x, abut_adjoint_solution *how, abut_err *err)
{
    const size_t n = 3 * (size_t)s->A.n;
    const double size = sqrt(abut_adjoint_dot(n, b, b));
    double *r = s->work + 3 * n;
    memset(x, 0, n * sizeof *x);
    how->error = size;
    for (int k = 0; k < RESTARTS && how->error > 1e-13 * size; k++) {
        (void)rest(s, b, x, r);
        const abut_status rc = minres(s, r, 1e-12, x, &how->iterations, err);
        if (rc) return rc;
        how->error = rest(s, b, x, r);
    }
    if (how->error <= 1e-8 * size) return ABUT_OK;
    return abut_fail(err, ABUT_E_NUMERIC,
        "its second derivative is indefinite, and %d %s %.3g of the right-hand side, expected at most 1e-8",
        how->iterations, abut_plural(how->iterations, "iteration leaves", "iterations leave"), how->error / size);
}

abut_status abut_adjoint_system_solve(abut_adjoint_system *s, const double *b, double *p, abut_adjoint_solution *how,
                                      abut_err *err)
{
    const abut_objective *o = s->o;
    const size_t n = 3 * (size_t)o->nrow, nv = (size_t)o->model->nv;
    double *rhs = s->work, *x = s->work + n;
    *how = (abut_adjoint_solution){ 0 };
    memset(p, 0, 3 * nv * sizeof *p);
    if (!n) return ABUT_OK;
    for (size_t i = 0; i < nv; i++)
        if (o->row[i] >= 0) memcpy(rhs + 3 * (size_t)o->row[i], b + 3 * i, 3 * sizeof *b);
    const double size = sqrt(abut_adjoint_dot(n, rhs, rhs));
    if (size == 0) return ABUT_OK;
    if (!isfinite(size)) return abut_fail(err, ABUT_E_NUMERIC, "the derivative of the loss by its end is not finite");
    const abut_status rc = s->indefinite ? iterate(s, rhs, x, how, err) : direct(s, rhs, x, &how->error, err);
    if (rc) return rc;
    how->error /= size;
    for (size_t i = 0; i < nv; i++)
        if (o->row[i] >= 0) memcpy(p + 3 * i, x + 3 * (size_t)o->row[i], 3 * sizeof *p);
    return ABUT_OK;
}

/* ---- products ---- */

/* f += H d of elements [lo, hi) with packed matrices val */
static void multiply(const abut_elements *set, size_t lo, size_t hi, const double *val, double scale, const double *d, double *f)
{
    const size_t c = (size_t)set->corners;
    for (size_t e = lo; e < hi; e++) {
        const int32_t *row = set->row + c * e;
        for (size_t a = 0; a < c; a++)
            for (size_t b = a; b < c; b++, val += 9) {
                if (row[a] < 0 || row[b] < 0) continue;
                double *fa = f + 3 * (size_t)row[a], *fb = f + 3 * (size_t)row[b];
                const double *da = d + 3 * (size_t)row[a], *db = d + 3 * (size_t)row[b];
                for (size_t i = 0; i < 3; i++)
                    for (size_t j = 0; j < 3; j++) {
                        fa[i] += scale * val[3 * i + j] * db[j];
                        if (a != b) fb[j] += scale * val[3 * i + j] * da[i];
                    }
            }
    }
}

static const abut_term *owner_of(const abut_objective *o, const char *set)
{
    for (int i = 0; i < o->terms.n; i++)
        if (o->terms.term[i].ops->elements && !strcmp(o->terms.term[i].ops->set, set)) return &o->terms.term[i];
    return NULL;
}

static abut_status multiply_term(const abut_objective *o, const abut_term *t, const abut_at *at, double scale, const double *p,
                                 double *out, abut_arena *scratch, abut_err *err)
{
    enum { AT_ONCE = 256 };
    const abut_term *owner = owner_of(o, t->ops->set);
    abut_elements set = { .name = t->ops->set };
    abut_status rc = owner->ops->elements(owner->self, at, &set, err);
    if (rc || !set.n) return rc;
    const size_t by = owner->ops->set_is & ABUT_SET_FUSED ? AT_ONCE : set.n, size = abut_packed_size(set.corners);
    const abut_mark mark = abut_arena_mark(scratch);
    double *val = ABUT_ROOM(scratch, double, by * size), *d = NULL, *f = NULL;
    if (set.map) d = ABUT_ROOM(scratch, double, 3 * (size_t)set.map->rows), f = ABUT_NEW(scratch, double,
                                                                                         3 * (size_t)set.map->rows);
    if (!val || (set.map && !(d && f))) return abut_fail(err, ABUT_E_NOMEM, "products of %zu elements", set.n);
    if (set.map) abut_row_map_apply(set.map, p, d);
    for (size_t lo = 0; lo < set.n; lo += by) {
        const size_t hi = lo + by < set.n ? lo + by : set.n;
        memset(val, 0, (hi - lo) * size * sizeof *val);
        t->ops->hessian(t->self, at, abut_objective_weight(o, t->ops, 2), lo, hi, val);
        multiply(&set, lo, hi, val, scale, set.map ? d : p, set.map ? f : out);
    }
    if (set.map) abut_row_map_apply_transposed(set.map, f, out);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

static abut_status product(const abut_objective *o, const abut_at *at, int kinds, int weights, double scale, const double *p,
                           double *out, abut_arena *scratch, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int i = 0; i < o->terms.n && !rc; i++) {
        const abut_term *t = &o->terms.term[i];
        if (!t->ops->hessian || !(kinds & 1 << t->ops->kind) || !(weights & 1 << t->ops->weight)) continue;
        rc = multiply_term(o, t, at, scale, p, out, scratch, err);
    }
    return rc;
}

abut_status abut_adjoint_product(const abut_objective *o, const abut_at *at, int kinds, double scale, const double *p,
                                 double *out, abut_arena *scratch, abut_err *err)
{
    return product(o, at, kinds, ~0, scale, p, out, scratch, err);
}

abut_status abut_adjoint_product_at_z(const abut_objective *o, const abut_at *at, double scale, const double *p, double *out,
                                      abut_arena *scratch, abut_err *err)
{
    return product(o, at, ABUT_KINDS_POTENTIAL, 1 << ABUT_TERM_AT_Z, scale, p, out, scratch, err);
}

#include "solve/nodal/nodal.h"

#include "base/timer.h"
#include "energy/curved_rod.h"
#include "math/spd_inline.h"
#include "math/vec3.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HALVINGS = 8 };
#define NEAR 0.003   /* of the gap of contacts */

abut_nodal_options abut_nodal_defaults(void)
{
    return (abut_nodal_options){ .newton = 2, .beta = 25, .sigma = 1e-3, .user = &abut_solve_defaults,
                                 .admm = { .iterations = 100, .sweeps = 10, .balance = 3e-4, .freeze = 0.01, .accelerated = 1,
                                           .refresh = 5 } };
}

/* ---- models that it accepts ---- */

static abut_status check_model(const abut_model *m, abut_err *err)
{
    const abut_status rc = abut_integrator_plain(m, "nodal", err);
    if (rc) return rc;
    if (m->shell_limit || m->mat_strain)
        return abut_fail(err, ABUT_E_FORMAT, "solver nodal: shells with limits of their stretch (%s), expected none: a linear "
                         "problem cannot keep them", m->shell_limit ? "shell/stretch-limit" : "material/strain-limit");
    return ABUT_OK;
}

static abut_status allocate(abut_nodal *s, abut_err *err)
{
    const size_t nv = (size_t)s->objective.model->nv, nc = (size_t)s->objective.model->nc;
    struct abut_nodal_fields *f = &s->of;
    const struct { double **to; size_t n; } all[] = { { &f->v0, 3 * nv }, { &f->acc, 3 * nv }, { &f->before, 3 * nv },
        { &f->vk, 3 * nv }, { &f->f, 3 * nv }, { &f->w, nv }, { &f->inv_w, nv }, { &f->times, nv },
        { &f->impulse, 3 * nv }, { &f->bore, 3 * nv }, { &f->end, 3 * nv }, { &f->x, 3 * nv }, { &f->y0, 3 * nc },
        { &f->y1, 3 * nc } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!(*all[i].to = calloc(all[i].n + 1, sizeof(double)))) return abut_fail(err, ABUT_E_NOMEM, "step: %zu nodes", nv);
    return ABUT_OK;
}

abut_status abut_nodal_init(abut_nodal *s, const abut_model *m, const abut_nodal_options *opt, abut_err *err)
{
    *s = (abut_nodal){ .opt = *opt };
    if (!(s->opt.reserve > 0)) s->opt.reserve = abut_least_dhat(m) / 2;
    const abut_direction_options direction = { .user = opt->user, .linear = opt->user->linear.solver };
    abut_status rc = check_model(m, err);
    if (!rc) rc = abut_objective_init(&s->objective, m, opt->user->terms, err);
    if (!rc) rc = abut_point_init(&s->at, &s->objective, 0, err);
    if (!rc) rc = abut_newton_matrix_init(&s->matrix, &s->objective, 0, err);
    if (!rc) rc = abut_newton_solve_init(&s->solve, &s->objective, &direction, 1, err);
    if (!rc) rc = abut_coulomb_state_init(&s->state, m->nv, err);
    if (opt->split && !rc) abut_objective_weigh(&s->objective, abut_integrator_weights(m, ABUT_FIRST_SCHEME));
    if (opt->split && !rc) rc = abut_split_init(&s->split, &s->objective, err);
    if (!rc) rc = allocate(s, err);
    if (rc) abut_nodal_clear(s);
    return rc;
}

void abut_nodal_clear(abut_nodal *s)
{
    const struct abut_nodal_fields f = s->of;
    double *all[] = { f.v0, f.acc, f.before, f.vk, f.f, f.w, f.inv_w, f.times, f.impulse, f.bore, f.end, f.x, f.y0, f.y1 };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    abut_touching_clear(&s->contacts);
    abut_touch_search_clear(&s->search);
    abut_coulomb_state_clear(&s->state);
    abut_components_clear(&s->parts);
    abut_split_clear(&s->split);
    abut_newton_solve_clear(&s->solve);
    abut_newton_matrix_clear(&s->matrix);
    abut_point_clear(&s->at);
    abut_arena_clear(&s->scratch);
    abut_objective_clear(&s->objective);    /* last: the others borrow it */
    *s = (abut_nodal){ 0 };
}

/* ---- where a step starts ---- */

static size_t numbers(const abut_nodal *s)
{
    return 3 * (size_t)s->objective.model->nv;
}

static double step_size(const abut_nodal *s)
{
    return s->objective.model->h[0];
}

/* x = end of a step with velocities v; held nodes exactly at their targets. */
static void lead(const abut_nodal *s, const double *v, double *x)
{
    const abut_objective *p = &s->objective;
    const double h = step_size(s);
    for (size_t i = 0; i < numbers(s); i++) x[i] = p->held[i / 3] ? p->target[i] : p->xn[i] + h * v[i];
}

/* Impulses in the frame, if they are of the step that made it: the dual variables of the last step. */
static void load_impulse(abut_nodal *s, const abut_frame *f, abut_instant at)
{
    const int fresh = f->impulse && f->nodal_step && f->nodal_step[0] == at.step;
    for (size_t i = 0; i < numbers(s); i++) s->of.impulse[i] = fresh && !s->objective.held[i / 3] ? f->impulse[i] : 0;
    memcpy(s->of.bore, s->of.impulse, numbers(s) * sizeof(double));
}

abut_status abut_nodal_begin(abut_nodal *s, const abut_arrays *frame, abut_instant at, abut_err *err)
{
    abut_objective *p = &s->objective;
    const abut_model *m = p->model;
    struct abut_nodal_fields *of = &s->of;
    const double h = m->h[0];
    abut_frame f;
    abut_status rc = abut_frame_view(frame, m, &f, err);
    if (rc) return rc;
    s->from = at;
    rc = abut_plain_begin(p, &f, at.time, of->acc, of->f, &s->scratch, err);
    if (rc) return rc;
    memcpy(of->before, f.v, numbers(s) * sizeof(double));
    for (size_t i = 0; i < numbers(s); i++) of->v0[i] = p->held[i / 3] ? (p->target[i] - p->xn[i]) / h : f.v[i];
    load_impulse(s, &f, at);
    for (size_t i = 0; i < numbers(s) / 3; i++) of->times[i] = 1;
    abut_objective_number(p);
    abut_newton_solve_begin_step(&s->solve, &s->matrix);
    abut_collmesh_positions(&p->cm, p->xn, of->y0);
    return abut_touching_begin(&s->contacts, m->nv, err);
}

/* ---- one linear problem ---- */

/* Evaluates the point at x_n + h v; *energy, kg m^2, +inf if an element has none. */
static abut_status look(abut_nodal *s, const double *v, unsigned what, double *energy, abut_err *err)
{
    lead(s, v, s->of.x);
    abut_point_set(&s->at, &s->objective, s->of.x, 0, NULL);
    s->at.has |= ABUT_HAS_CONTACTS;     /* none: the objective is without them here */
    abut_status rc = abut_point_evaluate(&s->at, &s->objective, ABUT_HAS_ENERGY, NULL, &s->scratch, err);
    *energy = s->at.e.sum;
    if (!rc && isfinite(*energy) && what & ABUT_HAS_GRADIENT)
        rc = abut_point_evaluate(&s->at, &s->objective, ABUT_HAS_GRADIENT, NULL, &s->scratch, err);
    return rc;
}

/* E/h^2 less the work of the impulses, J: the merit that a step must lower. */
static double merit(const abut_nodal *s, const double *J, const double *v, double energy)
{
    const double h = step_size(s);
    abut_acc sum = { 0, 0 };
    for (size_t i = 0; i < numbers(s); i++) abut_acc_add(&sum, J[i] * v[i]);
    return energy / (h * h) - (sum.hi + sum.lo);
}

/* f = A v - g/h, g[3 nv] a gradient at v. */
static void aim(abut_nodal *s, const double *v, const double *g)
{
    const abut_objective *p = &s->objective;
    const double h = step_size(s);
    abut_rows_gather(p, v, 1, s->solve.rhs);
    abut_bsr_multiply(&s->matrix.A, s->solve.rhs, s->solve.sol);
    abut_rows_scatter(p, s->solve.sol, 1, s->of.f);
    for (size_t i = 0; i < numbers(s); i++)
        if (p->row[i / 3] >= 0) s->of.f[i] -= (s->weighed ? s->of.w[i / 3] * v[i] : 0) + g[i] / h;
}

/* Sums A of E at s->of.vk, and f there; s->at has the gradient. */
static abut_status linearise(abut_nodal *s, abut_err *err)
{
    const abut_objective *p = &s->objective;
    const abut_status rc = abut_newton_matrix_sum(&s->matrix, &s->solve.order, p, &s->at, s->rep, err);
    if (!rc) aim(s, s->of.vk, s->at.g);
    return rc;
}

/* Solves A v = f: the motion without contacts. */
static abut_status solve_free(abut_nodal *s, double *v, abut_err *err)
{
    const abut_objective *p = &s->objective;
    const double h = step_size(s);
    memcpy(v, s->of.vk, numbers(s) * sizeof *v);
    if (!p->nrow) return ABUT_OK;
    abut_status rc = abut_newton_factor(&s->solve, &s->matrix, p, s->rep, err);
    for (size_t i = 0; i < numbers(s); i++) s->state.rhs[i] = -s->at.g[i] / h;
    if (!rc) rc = abut_nodal_solve_rows(s, s->state.rhs, s->state.next, err);
    for (size_t i = 0; i < numbers(s) && !rc; i++) v[i] += p->row[i / 3] < 0 ? 0 : s->state.next[i];
    return rc;
}

/* Adds W of node i to the diagonal of the matrix, unless it has one; returns 1 if it is new. */
static int weigh(abut_nodal *s, int32_t i)
{
    const abut_objective *p = &s->objective;
    const int32_t row = p->row[i];
    if (row < 0 || s->of.w[i] > 0) return 0;
    double *block = s->matrix.A.val + 9 * s->matrix.A.ptr[row];
    const double body = abut_components_mass(&s->parts, row);
    const double first = abut_nodal_weight(block, p->model->mass[i], body, s->opt.beta, s->opt.sigma);
    const double w = s->of.times[s->parts.of[row]] * first;
    s->of.w[i] = w;
    s->of.inv_w[i] = 1 / w;
    for (int k = 0; k < 3; k++) block[4 * k] += w;
    abut_components_wake(&s->parts, row);
    return 1;
}

/* Factors A + W, W the weights of the nodes of contacts; contacts from number `first` on are new. */
static abut_status factor_weighed(abut_nodal *s, size_t first, abut_err *err)
{
    const abut_touching *t = &s->contacts;
    int fresh = 0;
    if (!s->weighed) {
        const abut_status rc = abut_components_find(&s->parts, &s->matrix.A, s->objective.model->nv, err);
        if (rc) return rc;
        memset(s->of.w, 0, numbers(s) / 3 * sizeof *s->of.w);
        memset(s->of.inv_w, 0, numbers(s) / 3 * sizeof *s->of.w);
        for (int32_t i = 0; s->opt.everywhere && i < s->objective.model->nv; i++) fresh |= weigh(s, i);
    }
    for (size_t e = (size_t)t->first[first]; e < t->m; e++) fresh |= weigh(s, t->node[e]);
    const int unchanged = s->weighed && !fresh;
    if (!unchanged) abut_components_list(&s->parts, s->objective.row, s->objective.model->nv);
    s->weighed = 1;
    return unchanged ? ABUT_OK : abut_newton_factor(&s->solve, &s->matrix, &s->objective, s->rep, err);
}

/* Multiplies the weights of each component, and factors A + W if one changes.  A component with a node of half of its mass, as a
 * frame's, keeps its weights. */
static abut_status reweigh(void *ctx, double *times, int *changed, abut_err *err)
{
    abut_nodal *s = ctx;
    const abut_objective *p = &s->objective;
    for (int32_t i = 0; i < p->model->nv; i++) {
        const int32_t row = p->row[i];
        if (row >= 0 && s->of.w[i] >= abut_components_mass(&s->parts, row) / 2) times[s->parts.of[row]] = 1;
    }
    for (int32_t i = 0; i < p->model->nv; i++) {
        const int32_t row = p->row[i];
        if (row < 0 || !(s->of.w[i] > 0)) continue;
        const double by = times[s->parts.of[row]];
        for (size_t k = 0, at = 9 * s->matrix.A.ptr[row]; k < 3; k++) s->matrix.A.val[at + 4 * k] += (by - 1) * s->of.w[i];
        *changed |= by != 1;
        s->of.w[i] *= by;
        s->of.inv_w[i] = 1 / s->of.w[i];
    }
    for (int32_t c = 0; c < s->parts.rows; c++) s->of.times[c] *= times[c];
    return *changed ? abut_newton_factor(&s->solve, &s->matrix, p, s->rep, err) : ABUT_OK;
}

/* ---- contacts ---- */

abut_touch_step abut_nodal_touch_step(const abut_nodal *s)
{
    const abut_objective *p = &s->objective;
    return (abut_touch_step){ &p->cm, s->of.y0, p->held, s->of.v0, p->model->h[0], s->opt.reserve, s->opt.compliance };
}

/* Appends the contacts that the motion by v meets and, in round 0, the pairs near at the start. */
static abut_status append(void *ctx, const double *v, int round, abut_touching *t, abut_err *err)
{
    abut_nodal *s = ctx;
    const abut_touch_step step = abut_nodal_touch_step(s);
    const double clock = abut_time_wall();
    size_t hits = 0;
    abut_status rc = ABUT_OK;
    if (!s->objective.cm.nc) return ABUT_OK;
    lead(s, v, s->of.x);
    abut_collmesh_positions(&s->objective.cm, s->of.x, s->of.y1);
    if (!round) rc = abut_touch_find_near(&s->search, &step, s->of.y1, t, err);
    if (!rc) rc = abut_touch_find_hits(&s->search, &step, s->of.y1, round ? round : 1, t, &hits, err);
    s->rep->nodal.detect += abut_time_wall() - clock;
    return rc || !round ? rc : factor_weighed(s, t->settled, err);
}

static void multiply(void *ctx, const double *d, double *out)
{
    abut_nodal *s = ctx;
    abut_rows_gather(&s->objective, d, 1, s->solve.rhs);
    abut_bsr_multiply(&s->matrix.A, s->solve.rhs, s->solve.sol);
    abut_rows_scatter(&s->objective, s->solve.sol, 1, out);
}

/* Updates the split elements at x_n + h v, and f with their forces. */
static abut_status split(void *ctx, const double *v, double *left, abut_err *err)
{
    abut_nodal *s = ctx;
    lead(s, v, s->of.x);
    const abut_status rc = abut_split_local(&s->split, &s->objective, s->of.x, left, &s->scratch, err);
    if (!rc) aim(s, v, s->split.r);
    return rc;
}

/* ---- a step ---- */

static abut_coulomb_system system_of(abut_nodal *s)
{
    return (abut_coulomb_system){ .nodes = s->objective.model->nv, .h = step_size(s), .f = s->of.f, .w = s->of.w,
                                  .inv_w = s->of.inv_w, .times = s->of.times, .x = s->objective.xn,
                                  .body = s->parts.body, .bodies = s->parts.rows, .awake = s->opt.split ? NULL : &s->parts.awake,
                                  .solve = abut_nodal_solve_iteration,
                                  .near = NEAR * s->opt.reserve, .multiply = s->opt.split ? NULL : multiply, .append = append,
                                  .reweigh = s->opt.split ? NULL : reweigh, .local = s->opt.split ? split : NULL, .ctx = s };
}

static abut_status run(abut_nodal *s, const abut_coulomb_system *y, const abut_coulomb_options *o, abut_err *err)
{
    const int before = s->state.iterations;
    const abut_status rc = abut_coulomb_iterate(&s->state, y, &s->contacts, o, err);
    s->rep->nodal.iterations += s->state.iterations - before;
    s->rep->nodal.delta_inf = s->state.delta;
    s->rep->nodal.delta_2 = s->state.delta_2;
    s->rep->nodal.delta_elastic = s->state.left;
    s->rep->nodal.unbalanced = s->contacts.n ? s->state.unbalanced : 0;
    return rc;
}

/* A component whose end, p, lacks momentum. */
typedef struct drift {
    double lacks[3], dv[3]; /* N s, m/s */
    double normals[9];      /* sum of n n^T of the contacts that bear on it */
    int rubs;               /* one of them has friction */
} drift;

#define TILT 1e-6   /* part of the normals: a direction with less is free of them */
#define ROUND 1e-6  /* of the mass: components whose inertia differs by more are held */

/* Adds the contacts that bear to the components of their nodes. */
static void add_normals(const abut_nodal *s, drift *of)
{
    const abut_touching *t = &s->contacts;
    for (size_t c = 0; c < t->n; c++) {
        const double *n = t->normal + 3 * c, *rbar = t->rbar + 3 * c;
        if (!(abut_v3_norm2(abut_v3_get(rbar)) > 0)) continue;
        for (int32_t k = t->first[c]; k < t->first[c + 1]; k++) {
            drift *to = &of[s->parts.body[t->node[k]]];
            to->rubs |= t->mu[c] > 0;
            for (int d = 0; d < 9; d++) to->normals[d] += n[d / 3] * n[d % 3];
        }
    }
}

/* d->dv: the translation that gives a component the momentum that it lacks, in directions without normals; 0 for those with
 * friction, which joins the motion along a contact to its force, and for those that are held. */
static void make_up(drift *d, const double inertia[9])
{
    const double mass = (inertia[0] + inertia[4] + inertia[8]) / 3, size = d->normals[0] + d->normals[4] + d->normals[8];
    double w[3], e[9];
    if (d->rubs) return;
    for (int k = 0; k < 9; k++)
        if (fabs(inertia[k] - (k % 4 ? 0 : mass)) > ROUND * mass) return;
    abut_sym_eigen(3, d->normals, w, e);
    for (int k = 0; k < 3; k++) {
        if (w[k] > TILT * size) continue;
        const double part = (e[3 * k] * d->lacks[0] + e[3 * k + 1] * d->lacks[1] + e[3 * k + 2] * d->lacks[2]) / mass;
        for (int i = 0; i < 3; i++) d->dv[i] += part * e[3 * k + i];
    }
}

/* Moves each component at p as a whole, so that it has the momentum of its impulses where no contact decides its motion: what
 * the iterations leave there, (A + W) (v - p), would add up from step to step. */
static abut_status keep_momentum(abut_nodal *s, double *p, abut_err *err)
{
    const abut_node_list *awake = &s->parts.awake;
    double *off = s->state.next, *lacks = s->state.rhs;
    drift *of = calloc((size_t)s->parts.rows + 1, sizeof *of);
    if (!of) return abut_fail(err, ABUT_E_NOMEM, "momentum of %d components", s->parts.rows);
    for (size_t i = 0; i < numbers(s); i++) off[i] = s->state.v[i] - s->state.p[i];
    multiply(s, off, lacks);
    add_normals(s, of);
    for (int32_t k = 0; k < awake->n; k++)
        for (int d = 0; d < 3; d++) of[s->parts.body[awake->node[k]]].lacks[d] += lacks[3 * (size_t)awake->node[k] + d];
    for (int32_t b = 0; b < s->parts.rows; b++)
        if (s->parts.of[b] == b && s->parts.woken[b]) make_up(&of[b], s->parts.inertia + 9 * (size_t)b);
    for (int32_t k = 0; k < awake->n; k++)
        for (int d = 0; d < 3; d++) p[3 * (size_t)awake->node[k] + d] += of[s->parts.body[awake->node[k]]].dv[d];
    free(of);
    return ABUT_OK;
}

static abut_status iterate(abut_nodal *s, const abut_coulomb_options *o, abut_err *err)
{
    const abut_coulomb_system y = system_of(s);
    const abut_status rc = run(s, &y, o, err);
    for (size_t i = 0; i < numbers(s) && !rc; i++) s->of.impulse[i] = s->of.w[i / 3] * s->state.lambda[i];
    memcpy(s->of.end, s->opt.elastic ? s->state.v : s->state.p, numbers(s) * sizeof *s->of.end);
    return rc || s->opt.elastic || s->opt.split ? rc : keep_momentum(s, s->of.end, err);
}

/* Solves the linear problem at vk with the contacts of s->contacts, from s->state.v. */
static abut_status solve_contacts(abut_nodal *s, const abut_coulomb_options *o, abut_err *err)
{
    abut_status rc = factor_weighed(s, 0, err);
    if (!rc) rc = abut_touching_settle(&s->contacts, s->of.inv_w, err);
    if (rc) return rc;
    for (size_t i = 0; i < numbers(s); i++) s->state.lambda[i] = s->of.inv_w[i / 3] * s->of.impulse[i];
    abut_coulomb_begin(&s->state);
    return iterate(s, o, err);
}

/* Guesses s->state.v: the motion without contacts, with the impulses of the last step on nodes that have contacts in this one;
 * the solution if these do not change. */
static abut_status guess(abut_nodal *s, abut_err *err)
{
    double *J = s->state.rhs, *dv = s->state.next;
    memset(J, 0, numbers(s) * sizeof *J);
    for (size_t e = 0; e < s->contacts.m; e++) {
        const size_t at = 3 * (size_t)s->contacts.node[e];
        memcpy(J + at, s->of.impulse + at, 3 * sizeof *J);
    }
    const abut_status rc = abut_nodal_solve_rows(s, J, dv, err);
    for (size_t i = 0; i < numbers(s) && !rc; i++) s->state.v[i] += s->objective.row[i / 3] < 0 ? 0 : dv[i];
    return rc;
}

#define COARSE 20   /* times the balance, where another linearisation follows */

/* One linearisation, of several: from vk to s->of.end. */
static abut_status newton(abut_nodal *s, int first, int last, abut_err *err)
{
    abut_coulomb_options admm = s->opt.admm;
    const size_t bytes = numbers(s) * sizeof(double);
    s->weighed = 0;
    abut_status rc = linearise(s, err);
    if (rc) return rc;
    if (first) rc = solve_free(s, s->state.v, err);
    else memcpy(s->state.v, s->of.vk, bytes);
    if (!rc) rc = abut_touching_begin(&s->contacts, s->objective.model->nv, err);
    if (!rc) rc = append(s, s->state.v, 0, &s->contacts, err);
    if (!rc && first && s->contacts.n) rc = guess(s, err);
    if (rc) return rc;
    admm.balance *= last ? 1 : COARSE;
    admm.rough = !last;
    if (s->contacts.n) return solve_contacts(s, &admm, err);
    memset(s->of.impulse, 0, bytes);
    if (!first) rc = solve_free(s, s->state.v, err);
    memcpy(s->of.end, s->state.v, bytes);
    memcpy(s->state.p, s->state.v, bytes);
    return rc;
}

/* Rounding of the work of J: velocities are as exact as the positions that they lead to. */
static double noise_of_work(const abut_nodal *s, const double *J)
{
    double sum = 0;
    for (size_t i = 0; i < numbers(s); i++) sum += fabs(J[i] * s->of.x[i]);
    return DBL_EPSILON * sum / step_size(s);
}

/* J = A v - f: the impulses with which v is the solution of the last linear problem. */
static void impulses_of(abut_nodal *s, const double *v, double *J)
{
    const abut_objective *p = &s->objective;
    const abut_newton_solve *q = &s->solve;
    abut_rows_gather(p, v, 1, q->rhs);
    abut_bsr_multiply(&s->matrix.A, q->rhs, q->sol);
    abut_rows_scatter(p, q->sol, 1, J);
    for (size_t i = 0; i < numbers(s); i++)
        J[i] = p->row[i / 3] < 0 ? 0 : J[i] - (s->weighed ? s->of.w[i / 3] * v[i] : 0) - s->of.f[i];
}

/* Sets the tensions for the next matrix: from those of the last one, by the linear problem at vk, of whose solution v is the part
 * `part` (energy/term.h). */
static void forecast(abut_nodal *s, const double *v, double part)
{
    const abut_objective *p = &s->objective;
    double *from = s->state.next;
    lead(s, s->of.vk, from);
    lead(s, v, s->of.x);
    const abut_at at = abut_objective_at(p, from, NULL, NULL);
    abut_objective_forecast_step(p, &at, s->of.x, part);
}

/* Sets vk for the next linearisation: v of this one, or a part of the way to it, halved while the merit rises, under the impulses
 * for which v minimises the linear problem.  *halvings: their number. */
static abut_status advance(abut_nodal *s, int *halvings, abut_err *err)
{
    double energy, before, part = 1, *J = s->state.next;
    s->rep->nodal.delta_elastic = 0;
    for (size_t i = 0; i < numbers(s); i++)
        s->rep->nodal.delta_elastic = fmax(s->rep->nodal.delta_elastic, step_size(s) * fabs(s->state.v[i] - s->of.vk[i]));
    impulses_of(s, s->state.v, J);
    abut_status rc = look(s, s->of.vk, 0, &before, err);
    before = merit(s, J, s->of.vk, before);
    const double noise = s->at.e.noise / (step_size(s) * step_size(s)) + noise_of_work(s, J);
    for (*halvings = 0; !rc; ++*halvings, part /= 2) {
        for (size_t i = 0; i < numbers(s); i++) s->state.rhs[i] = s->of.vk[i] + part * (s->state.v[i] - s->of.vk[i]);
        rc = look(s, s->state.rhs, 0, &energy, err);
        if (rc || *halvings == MOST_HALVINGS || merit(s, J, s->state.rhs, energy) <= before + noise) break;
    }
    if (!rc) forecast(s, s->state.rhs, part);
    memcpy(s->of.vk, s->state.rhs, numbers(s) * sizeof(double));
    return rc;
}

/* vk = v_n, of rigid objects as a rotation; if E is not finite there, 0 except at held nodes. */
static abut_status start(abut_nodal *s, abut_err *err)
{
    double energy;
    memcpy(s->of.vk, s->of.v0, numbers(s) * sizeof(double));
    abut_objective_rotate(&s->objective, s->of.vk);
    abut_status rc = look(s, s->of.vk, ABUT_HAS_GRADIENT, &energy, err);
    if (rc || isfinite(energy)) return rc;
    for (size_t i = 0; i < numbers(s); i++)
        if (!s->objective.held[i / 3]) s->of.vk[i] = 0;
    rc = look(s, s->of.vk, ABUT_HAS_GRADIENT, &energy, err);
    if (rc || isfinite(energy)) return rc;
    return abut_fail(err, ABUT_E_NUMERIC, "an element has no finite energy where the step starts");
}

/* Adds a row to the report. */
static abut_status note(abut_nodal *s, int halvings, abut_err *err)
{
    abut_iteration *it = abut_report_iteration(s->rep);
    if (!it) return abut_fail(err, ABUT_E_NOMEM, "step report: iteration %d", s->rep->newton);
    *it = (abut_iteration){ .residual = s->contacts.n ? s->state.delta / step_size(s) : 0, .bound = 1,
                            .alpha = ldexp(1, -halvings), .contacts = (int32_t)s->contacts.n, .trials = halvings };
    s->rep->nodal.linearisations++;
    return ABUT_OK;
}

/* Begins without contacts, with the matrix of split elements. */
static abut_status begin_split_round(abut_nodal *s, abut_err *err)
{
    const abut_objective *p = &s->objective;
    s->weighed = 0;
    lead(s, s->of.vk, s->of.x);
    const abut_status rc = abut_split_matrix(&s->split, p, s->of.x, &s->matrix, &s->solve.order, err);
    return rc ? rc : abut_touching_begin(&s->contacts, p->model->nv, err);
}

/* Solves the velocities without contacts, from vk: s->state.v.  The impulses stay. */
static abut_status split_free(abut_nodal *s, abut_err *err)
{
    abut_coulomb_system y = system_of(s);
    abut_status rc = begin_split_round(s, err);
    if (rc) return rc;
    y.append = NULL;
    abut_split_begin(&s->split, &s->objective, s->of.x);
    memcpy(s->state.v, s->of.vk, numbers(s) * sizeof(double));
    memset(s->state.lambda, 0, numbers(s) * sizeof(double));
    abut_coulomb_begin(&s->state);
    rc = factor_weighed(s, 0, err);
    if (!rc) rc = abut_touching_settle(&s->contacts, s->of.inv_w, err);
    return rc ? rc : run(s, &y, &s->opt.admm, err);
}

/* Solves a step with split elements. */
static abut_status solve_split(abut_nodal *s, abut_err *err)
{
    abut_status rc = split_free(s, err);
    for (int k = 0; k < s->opt.newton && !rc; k++) {
        rc = begin_split_round(s, err);
        if (!rc) rc = append(s, s->state.v, 0, &s->contacts, err);
        if (!rc) rc = solve_contacts(s, &s->opt.admm, err);
    }
    return rc;
}

abut_status abut_nodal_solve(abut_nodal *s, abut_report *rep, abut_err *err)
{
    double energy = 0;
    int halvings = 0, halved = 0;
    s->rep = rep;
    s->rising = 0;
    rep->nodal.solved = 1;
    s->state.projection.visits = s->state.projection.skipped = 0;
    s->state.seconds = (struct abut_coulomb_seconds){ 0 };
    abut_status rc = start(s, err);
    const abut_at begins = abut_objective_at(&s->objective, s->objective.xn, NULL, NULL);
    abut_objective_forecast_start(&s->objective, &begins);
    if (!rc && s->opt.split) rc = solve_split(s, err);
    if (s->opt.split) return rc;
    for (int k = 0; k < s->opt.newton + halved && !rc; k++) {
        if (k) rc = look(s, s->of.vk, ABUT_HAS_GRADIENT, &energy, err);
        if (k && !isfinite(energy)) break;
        if (!rc) rc = newton(s, k == 0, k + 1 >= s->opt.newton, err);
        if (!rc) rc = advance(s, &halvings, err);
        if (!rc) rc = note(s, halvings, err);
        if (!rc && halvings && halved < MOST_HALVINGS) halved++;
    }
    s->rising = halvings > 0;
    return rc;
}

abut_status abut_nodal_check(abut_nodal *s, abut_err *err)
{
    double energy;
    const abut_status rc = look(s, s->of.end, 0, &energy, err);
    s->rising |= !isfinite(energy);
    return rc;
}

abut_status abut_nodal_go_on(abut_nodal *s, int iterations, int sweeps, abut_report *rep, abut_err *err)
{
    abut_coulomb_options o = s->opt.admm;
    s->rep = rep;
    o.iterations = iterations;
    o.sweeps = sweeps;
    if (!s->contacts.n) return ABUT_OK;
    if (!s->weighed) return solve_contacts(s, &o, err);
    abut_status rc = factor_weighed(s, s->contacts.settled, err);
    if (!rc) rc = abut_touching_renew(&s->contacts, s->of.inv_w, err);
    return rc ? rc : iterate(s, &o, err);
}

abut_status abut_nodal_refine(abut_nodal *s, double balance, int iterations, abut_err *err)
{
    const abut_coulomb_system y = system_of(s);
    abut_report unread = { 0 }, *const rep = s->rep;
    abut_coulomb_options o = s->opt.admm;
    o.iterations = iterations;
    o.balance = balance;
    o.tolerance = o.refresh = 0;
    s->rep = &unread;
    const abut_status rc = abut_coulomb_iterate(&s->state, &y, &s->contacts, &o, err);
    abut_report_clear(&unread);
    s->rep = rep;
    return rc;
}

void abut_nodal_end(const abut_nodal *s, double *x)
{
    lead(s, s->of.end, x);
}

#include "solve/baselines/sqp.h"

#include "base/order.h"
#include "base/timer.h"
#include "base/words.h"
#include "contact/intersect.h"
#include "energy/curved_rod.h"
#include "solve/direction/newton.h"
#include "solve/search/equilibrium.h"
#include "solve/step/measures.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HALVINGS = 30, QP_ITERATIONS = 200 };
#define QP_SHARE 1e-3       /* largest error of a program, relative to the tolerance of the iterations, and to the offset */
#define FAR 1e3             /* lengths of the scene: a step beyond them is none */
#define SLACK 0.1       /* of the gap that a motion must leave: less is an impact */

/* ---- the active set ---- */

static void clear_set(abut_active_set *s)
{
    ABUT_FREE(s->pair, s->row, s->a, s->c, s->fixed);
    abut_candidates_clear(&s->cand);
    abut_candidate_search_clear(&s->search);
    abut_arena_clear(&s->scratch);
    *s = (abut_active_set){ 0 };
}

/* Begins a step without pairs.  held[nv]: prescribed nodes.  Fails  ABUT_E_NOMEM */
static abut_status begin_set(abut_active_set *s, const abut_collmesh *cm, const uint8_t *held, abut_err *err)
{
    s->n = 0;
    if (!s->fixed && !(s->fixed = malloc((size_t)cm->nc + 1))) return abut_fail(err, ABUT_E_NOMEM, "constraints");
    for (int32_t v = 0; v < cm->nc; v++) s->fixed[v] = held[abut_collmesh_node(cm, v)];
    return ABUT_OK;
}

static abut_status reserve(abut_active_set *s, size_t n, abut_err *err)
{
    const size_t cap = s->cap ? 2 * s->cap : 64;
    if (n <= s->cap) return ABUT_OK;
    if (!ABUT_RESIZE(s->pair, cap) || !ABUT_RESIZE(s->row, 4 * cap) || !ABUT_RESIZE(s->a, 12 * cap) || !ABUT_RESIZE(s->c, cap))
        return abut_fail(err, ABUT_E_NOMEM, "%zu constraints", n);
    s->cap = cap;
    return ABUT_OK;
}

static int compare(const void *p, const void *q)
{
    const abut_active_pair *a = p, *b = q;
    const int32_t u[6] = { a->plane, a->kind, a->vert[0], a->vert[1], a->vert[2], a->vert[3] };
    const int32_t v[6] = { b->plane, b->kind, b->vert[0], b->vert[1], b->vert[2], b->vert[3] };
    return abut_compare(u, v, 6);
}

static void gather(const double *y, int n, const int32_t *v, double x[12])
{
    for (int k = 0; k < n; k++) memcpy(x + 3 * k, y + 3 * (size_t)v[k], 3 * sizeof *x);
}

/* ---- pairs that join the active set ---- */

/* Updates the pair among the first `settled`, or appends it. */
static abut_status put(abut_active_set *s, const abut_active_pair *pair, size_t settled, int renew, abut_err *err)
{
    abut_active_pair *old = settled ? bsearch(pair, s->pair, settled, sizeof *pair, compare) : NULL;
    if (old) {
        if (renew) *old = *pair;
        return ABUT_OK;
    }
    const abut_status rc = reserve(s, s->n + 1, err);
    if (!rc) s->pair[s->n++] = *pair;
    return rc;
}

/* A stencil of vertices v whose primitives are at z[3 k] when it is found, at x0 when the step starts. */
static abut_status put_stencil(abut_active_set *s, abut_stencil kind, const int32_t v[4], const double *y0, const double *z,
                               size_t settled, int renew, abut_err *err)
{
    const abut_feature f = abut_nearest(kind, z, NULL);
    abut_active_pair pair = { .vert = { -1, -1, -1, -1 }, .plane = -1, .kind = (int32_t)f.kind };
    double x0[12], at[12] = { 0 };
    if (s->form == ABUT_CONSTRAINT_VOLUME && abut_stencil_size(kind) == 4) {
        pair.kind = (int32_t)kind;
        memcpy(pair.vert, v, sizeof pair.vert);
        memcpy(at, z, sizeof at);
    } else {
        (void)abut_pairs_order(&f, v, pair.vert);
        for (int k = 0; k < abut_stencil_size(f.kind); k++)
            for (int j = 0; j < 4 && v[j] >= 0; j++)
                if (v[j] == pair.vert[k]) memcpy(at + 3 * k, z + 3 * j, 3 * sizeof *at);
    }
    const abut_stencil as = (abut_stencil)pair.kind;
    gather(y0, abut_stencil_size(as), pair.vert, x0);
    if (!abut_gap_freeze(as, x0, at, pair.w, pair.n)) return ABUT_OK;
    return put(s, &pair, settled, renew, err);
}

static abut_status put_plane(abut_active_set *s, int32_t v, int32_t plane, size_t settled, abut_err *err)
{
    const abut_active_pair pair = { .vert = { v, -1, -1, -1 }, .plane = plane, .kind = ABUT_PP };
    return put(s, &pair, settled, 0, err);
}

static abut_status find_near(abut_active_set *s, const abut_collmesh *cm, const double *y0, const double *y, size_t settled,
                             abut_err *err)
{
    const double reach = s->offset + cm->model->dhat[0];
    abut_status rc = abut_candidates_again(cm, y, NULL, reach, s->fixed, &s->search, &s->cand, err);
    for (int l = 0; l < ABUT_CANDIDATE_LISTS && !rc; l++) {
        const abut_pair_list *list = abut_candidates_list(&s->cand, l);
        const abut_stencil kind = abut_candidates_kind(l);
        for (size_t k = 0; k < list->n && !rc; k++) {
            int32_t v[4];
            double z[12], d2;
            abut_candidate_vertices(cm, kind, list->ij[k], v);
            gather(y, abut_stencil_size(kind), v, z);
            (void)abut_nearest(kind, z, &d2);
            if (sqrt(d2) < reach + abut_candidate_xi(cm, kind, list->ij[k])) rc = put_stencil(s, kind, v, y0, z, settled, 0, err);
        }
    }
    for (int32_t v = 0; v < cm->nc && cm->model->nh; v++)
        for (int32_t h = 0; h < cm->model->nh && !s->fixed[v] && !rc; h++)
            if (abut_collmesh_plane_height(cm, y, v, h) < reach) rc = put_plane(s, v, h, settled, err);
    return rc;
}

static abut_status find_impacts(abut_active_set *s, const abut_collmesh *cm, const double *y0, const double *y1, size_t settled,
                                abut_err *err)
{
    abut_impact *hit;
    size_t n = 0;
    abut_status rc = abut_candidates_find(cm, y0, y1, 0, s->fixed, &s->cand, err);
    const abut_mark mark = abut_arena_mark(&s->scratch);
    if (!rc) rc = abut_impacts_all(cm, &s->cand, y0, y1, SLACK, 1, s->fixed, &hit, &n, &s->scratch, err);
    for (size_t i = 0; i < n && !rc; i++) {
        double z[12];
        if (hit[i].plane >= 0) {
            rc = put_plane(s, hit[i].vert[0], hit[i].plane, settled, err);
            continue;
        }
        for (int k = 0; k < abut_stencil_size(hit[i].kind); k++)
            for (size_t d = 0, j = 3 * (size_t)hit[i].vert[k]; d < 3; d++)
                z[3 * k + (int)d] = y0[j + d] + hit[i].toi * (y1[j + d] - y0[j + d]);
        rc = put_stencil(s, hit[i].kind, hit[i].vert, y0, z, settled, 1, err);
    }
    abut_arena_release(&s->scratch, mark);
    return rc;
}

/* Sorts the pairs put behind the first `settled` into the others; of equal pairs the first stays. */
static void settle(abut_active_set *s)
{
    size_t kept = 0;
    if (s->n) qsort(s->pair, s->n, sizeof *s->pair, compare);
    for (size_t i = 0; i < s->n; i++)
        if (!kept || compare(&s->pair[kept - 1], &s->pair[i])) s->pair[kept++] = s->pair[i];
    s->n = kept;
}

/* Adds the pairs found at y1 and on the motion y0 -> y1, y0 the start of the step.  A pair whose impact is found again takes the
 * frozen normal of the last impact.  *fresh: number of new pairs.
 * Fails  ABUT_E_GEOM a position is not finite (names it); ABUT_E_NOMEM */
static abut_status extend_set(abut_active_set *s, const abut_collmesh *cm, const double *y0, const double *y1, size_t *fresh,
                              abut_err *err)
{
    assert(s->fixed);
    const size_t before = s->n;
    abut_status rc = cm->nc ? abut_candidates_check(cm, y1, err) : ABUT_OK;
    *fresh = 0;
    if (rc || !cm->nc) return rc;
    if (s->by != ABUT_ACTIVE_NEAR) rc = find_impacts(s, cm, y0, y1, before, err);
    settle(s);
    if (!rc && s->by != ABUT_ACTIVE_IMPACTS) rc = find_near(s, cm, y0, y1, s->n, err);
    settle(s);
    *fresh = s->n - before;
    return rc;
}

/* ---- values of the inequalities ---- */

static void evaluate(const abut_active_set *s, const abut_collmesh *cm, const abut_active_pair *p, const double *y0,
                     const double *y, abut_gap_row *row)
{
    const abut_stencil kind = (abut_stencil)p->kind;
    double x0[12], x[12];
    int known = 1;
    *row = (abut_gap_row){ 0 };
    if (p->plane >= 0) {
        row->c = abut_collmesh_plane_height(cm, y, p->vert[0], p->plane) - s->offset;
        memcpy(row->a, cm->model->hs_normal + 3 * (size_t)p->plane, 3 * sizeof *row->a);
        return;
    }
    const double offset = s->offset + abut_collmesh_xi(cm, kind, p->vert);
    gather(y0, abut_stencil_size(kind), p->vert, x0);
    gather(y, abut_stencil_size(kind), p->vert, x);
    if (s->form == ABUT_CONSTRAINT_IMPACT || abut_stencil_size(kind) < 4) abut_gap_frozen(kind, p->w, p->n, x, offset, row);
    else if (s->form == ABUT_CONSTRAINT_GAP) known = abut_gap_projected(kind, x0, x, offset, row);
    else known = abut_gap_volume(kind, x0, x, offset, row);
    if (!known) *row = (abut_gap_row){ 0 };
}

/* Computes s->c, s->a of all pairs at y[3 nc], and s->row: nodes.  A pair without a normal at y has a = 0 and c = 0. */
static void evaluate_set(abut_active_set *s, const abut_collmesh *cm, const double *y0, const double *y)
{
    const size_t blocks = abut_blocks(s->n);
    #pragma omp parallel for schedule(static) if (blocks > 2)
    for (size_t b = 0; b < blocks; b++) {
        const abut_range r = abut_block(s->n, b);
        for (size_t i = r.lo; i < r.hi; i++) {
            abut_gap_row row;
            evaluate(s, cm, &s->pair[i], y0, y, &row);
            s->c[i] = row.c;
            memcpy(s->a + 12 * i, row.a, sizeof row.a);
            for (int k = 0; k < 4; k++) {
                const int32_t v = s->pair[i].vert[k];
                s->row[4 * i + (size_t)k] = v < 0 || s->fixed[v] ? -1 : abut_collmesh_node(cm, v);
            }
        }
    }
}

/* Returns the smallest distance less thickness of all pairs at y, m, below 0 under half-spaces, and *which; +inf: no pair. */
static double least_gap(const abut_active_set *s, const abut_collmesh *cm, const double *y, size_t *which)
{
    double least = INFINITY;
    *which = 0;
    for (size_t i = 0; i < s->n; i++) {
        const abut_active_pair *p = &s->pair[i];
        const abut_stencil kind = (abut_stencil)p->kind;
        double x[12], d2, gap;
        if (p->plane >= 0) {
            gap = abut_collmesh_plane_height(cm, y, p->vert[0], p->plane);
        } else {
            gather(y, abut_stencil_size(kind), p->vert, x);
            (void)abut_nearest(kind, x, &d2);
            gap = abut_beyond(d2, abut_collmesh_xi(cm, kind, p->vert));
        }
        if (gap < least) least = gap, *which = i;
    }
    return least;
}

/* "edge 3 4 of 'rope' and triangle 1 2 5 of 'floor'"; returns text. */
static const char *pair_words(const abut_active_set *s, const abut_collmesh *cm, size_t i, char *text, size_t size)
{
    char one[ABUT_NODES_WORDS], two[ABUT_NODES_WORDS];
    const abut_active_pair *p = &s->pair[i];
    const abut_stencil kind = (abut_stencil)p->kind;
    const int first = p->plane >= 0 ? 1 : abut_stencil_second(kind);
    abut_collmesh_words(cm, p->vert, first, one);
    if (p->plane >= 0) (void)abut_half_space_words(cm->model, p->plane, two);
    else abut_collmesh_words(cm, p->vert + first, abut_stencil_size(kind) - first, two);
    snprintf(text, size, "%s and %s", one, two);
    return text;
}

/* ---- models that it accepts ---- */

static abut_status check_model(const abut_model *m, const char *name, abut_err *err)
{
    const abut_status rc = abut_integrator_plain(m, name, err);
    if (rc) return rc;
    if (m->shell_limit || m->mat_strain)
        return abut_fail(err, ABUT_E_FORMAT, "solver %s: shells with limits of their stretch, expected none", name);
    for (int32_t i = 0; i < m->ng * m->ng; i++)
        if (m->mu[i] > 0)
            return abut_fail(err, ABUT_E_FORMAT, "solver %s: a friction coefficient of %g, expected none: it has no friction "
                             "(mesh-prep --set contact.friction.mu=0)", name, m->mu[i]);
    return ABUT_OK;
}

static size_t numbers(const abut_sqp *s)
{
    return 3 * (size_t)s->objective.model->nv;
}

static abut_status allocate(abut_sqp *s, abut_err *err)
{
    const size_t n3 = numbers(s), nv = n3 / 3, nc3 = 3 * (size_t)s->objective.cm.nc;
    struct abut_sqp_fields *f = &s->of;
    const struct { double **to; size_t n; } all[] = { { &f->v0, n3 }, { &f->v, n3 }, { &f->acc, n3 }, { &f->x, n3 },
        { &f->p, n3 }, { &f->g, n3 }, { &f->rows_g, n3 }, { &f->rows_p, n3 }, { &f->w, nv }, { &f->diag, nv }, { &f->y0, nc3 },
        { &f->y, nc3 } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!(*all[i].to = calloc(all[i].n + 1, sizeof(double)))) return abut_fail(err, ABUT_E_NOMEM, "step: %zu nodes", nv);
    return ABUT_OK;
}

static void sqp_clear(abut_sqp *s)
{
    const struct abut_sqp_fields f = s->of;
    double *all[] = { f.v0, f.v, f.acc, f.x, f.p, f.g, f.rows_g, f.rows_p, f.w, f.diag, f.y0, f.y, s->lambda };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    clear_set(&s->set);
    abut_linear_solver_clear(&s->linear);
    abut_bsr_clear(&s->H);
    abut_point_clear(&s->at);
    abut_point_clear(&s->trial);
    abut_arena_clear(&s->scratch);
    abut_guard_clear(&s->guard);
    abut_objective_clear(&s->objective);    /* last: the others borrow it */
    *s = (abut_sqp){ 0 };
}

/* ---- where a step starts ---- */

static abut_status sqp_begin(abut_sqp *s, const abut_arrays *frame, abut_instant at, abut_err *err)
{
    abut_objective *p = &s->objective;
    const abut_model *m = p->model;
    abut_frame f;
    abut_status rc = abut_frame_view(frame, m, &f, err);
    if (rc) return rc;
    s->from = at;
    s->rho = 0;
    memcpy(s->of.v0, f.v, numbers(s) * sizeof(double));
    rc = abut_plain_begin(p, &f, at.time, s->of.acc, s->of.g, &s->scratch, err);
    if (rc) return rc;
    abut_objective_number(p);
    abut_linear_begin_step(&s->linear);
    for (int32_t i = 0; i < m->nv; i++)
        if (p->row[i] >= 0) s->of.w[p->row[i]] = m->mass[i];
    for (size_t i = 0; i < numbers(s); i++) s->of.x[i] = p->held[i / 3] ? p->target[i] : p->xn[i];
    abut_collmesh_positions(&p->cm, p->xn, s->of.y0);
    return begin_set(&s->set, &p->cm, p->held, err);
}

/* ---- the objective ---- */

/* Computes the energy at x, +inf if an element has none, and the gradient if the energy is finite. */
static abut_status look(abut_sqp *s, abut_point *at, const double *x, unsigned what, abut_err *err)
{
    abut_point_set(at, &s->objective, x, 0, NULL);
    at->has |= ABUT_HAS_CONTACTS;       /* none: the objective is without them here */
    abut_status rc = abut_point_evaluate(at, &s->objective, ABUT_HAS_ENERGY, NULL, &s->scratch, err);
    if (!rc && isfinite(at->e.sum) && what & ABUT_HAS_GRADIENT)
        rc = abut_point_evaluate(at, &s->objective, ABUT_HAS_GRADIENT, NULL, &s->scratch, err);
    return rc;
}

static void no_values(void *ctx, size_t lo, size_t hi, double *val)
{
    (void)ctx;
    memset(val, 0, (hi - lo) * abut_packed_size(4) * sizeof *val);
}

/* Sums H where E is linearised, in a pattern with the pairs. */
static abut_status sum_matrix(abut_sqp *s, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->objective;
    const abut_at here = abut_point_at(&s->at, p);
    abut_elements sets[ABUT_SETS_MAX];
    double clock = abut_time_wall();
    int n;
    abut_status rc = abut_objective_sets(p, &here, 0, sets, &n, err);
    if (!rc && n == ABUT_SETS_MAX) rc = abut_fail(err, ABUT_E_ARG, "solver sqp: %d sets of elements, no room for pairs", n);
    if (rc) return rc;
    sets[n++] = (abut_elements){ .name = "pairs", .corners = 4, .n = s->set.n, .row = s->set.row, .make = no_values };
    rc = abut_bsr_pattern(&s->H, p->nrow, sets, n, err);
    if (rc) return rc;
    abut_objective_diagonal(p, s->of.diag);
    abut_bsr_assemble(&s->H, s->of.diag, sets, n);
    rep->seconds.assemble += abut_time_lap(&clock);
    const abut_operator A = { .matrix = &s->H };
    rc = abut_linear_analyse(&s->linear, &A, NULL, err);
    rep->seconds.analyse += abut_time_lap(&clock);
    return rc;
}

/* ---- one program ---- */

static abut_status infeasible(const abut_sqp *s, const abut_qp_result *r, abut_err *err)
{
    char text[400] = "?";
    size_t worst = 0;
    for (size_t i = 1; i < s->set.n; i++)
        if (s->lambda[i] > s->lambda[worst]) worst = i;
    if (s->set.n) (void)pair_words(&s->set, &s->objective.cm, worst, text, sizeof text);
    if (r->answer == ABUT_QP_INFEASIBLE)
        return abut_fail(err, ABUT_E_NUMERIC,
                         "the linearised constraints of %zu pair%s exclude each other (no step below %.3g m keeps them), above "
                         "all that of %s: a smaller offset or time step may help",
                         s->set.n, abut_s(s->set.n), r->reach, text);
    return abut_fail(err, ABUT_E_NUMERIC,
                     "the quadratic program of %zu pair%s has not converged after %d iteration%s: it is %.3g, %.3g and %.3g m "
                     "off (forces, gaps, products), above all at %s",
                     s->set.n, abut_s(s->set.n), r->iterations, abut_s(r->iterations), r->stationary, r->feasible,
                     r->complementary, text);
}

/* Solves the program at the iterate: s->of.p. */
static abut_status solve_program(abut_sqp *s, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->objective;
    const double h = p->model->h[0], close = QP_SHARE * h * p->model->tolerance[0];
    const abut_qp_rows rows = { s->set.n, s->set.row, s->set.a, s->set.c };
    abut_qp_options o = { .within = close, .far = FAR * p->model->length[0], .iterations = QP_ITERATIONS };
    if (s->set.offset > 0) o.within = fmin(o.within, QP_SHARE * s->set.offset);
    for (size_t i = 0; i < 4 * s->set.n; i++)
        if (s->set.row[i] >= 0) s->set.row[i] = p->row[s->set.row[i]];
    if (!ABUT_GROW(s->lambda, s->set.cap, s->cap_lambda)) return abut_fail(err, ABUT_E_NOMEM, "%zu constraints", s->set.n);
    abut_status rc = sum_matrix(s, rep, err);
    if (rc) return rc;
    abut_rows_gather(p, s->at.g, 1, s->of.rows_g);
    if (s->fixed) {     /* g + H (x - x of g) */
        for (size_t i = 0; i < numbers(s); i++) s->of.p[i] = s->of.x[i] - s->at.x[i];
        double *Hp = s->of.g;
        abut_rows_gather(p, s->of.p, 1, s->of.rows_p);
        abut_bsr_multiply(&s->H, s->of.rows_p, Hp);
        for (int32_t i = 0; i < 3 * p->nrow; i++) s->of.rows_g[i] += Hp[i];
    }
    abut_qp_result *r = &rep->sqp.last;
    const double clock = abut_time_wall();
    rc = abut_qp_solve(&s->H, s->of.rows_g, s->of.w, &rows, &o, &s->linear, s->of.rows_p, s->lambda, r, err);
    rep->seconds.solve += abut_time_wall() - clock;
    rep->sqp.programs++;
    rep->sqp.qp_iterations += r->iterations;
    rep->factorisations += r->iterations + 1;
    rep->factorisations_double += r->iterations + 1;
    if (rc) return rc;
    abut_rows_scatter(p, s->of.rows_p, 1, s->of.p);
    for (size_t i = 0; i < s->set.n; i++) s->rho = fmax(s->rho, 2 * s->lambda[i]);
    return r->answer == ABUT_QP_SOLVED ? ABUT_OK : infeasible(s, r, err);
}

/* ---- how far ---- */

/* Returns the penalty of x, which has the energy E. */
static double penalty(abut_sqp *s, double E, const double *x)
{
    abut_acc sum = { 0, 0 };
    abut_collmesh_positions(&s->objective.cm, x, s->of.y);
    evaluate_set(&s->set, &s->objective.cm, s->of.y0, s->of.y);
    for (size_t i = 0; i < s->set.n; i++) abut_acc_add(&sum, fmax(0, -s->set.c[i]));
    return E + s->rho * (sum.hi + sum.lo);
}

/* x += alpha p; *halvings: of alpha = 1.  whole: alpha = 1 if E is finite. */
static abut_status search(abut_sqp *s, int whole, int *halvings, abut_report *rep, abut_err *err)
{
    const double clock = abut_time_wall(), before = penalty(s, s->at.e.sum, s->of.x);
    double alpha = 1;
    abut_status rc = ABUT_OK;
    for (*halvings = 0; *halvings <= HALVINGS && !rc; ++*halvings, alpha /= 2) {
        for (size_t i = 0; i < numbers(s); i++) s->of.g[i] = s->of.x[i] + alpha * s->of.p[i];
        rc = look(s, &s->trial, s->of.g, 0, err);
        rep->trials++;
        if (rc || !isfinite(s->trial.e.sum)) continue;
        if (!whole && penalty(s, s->trial.e.sum, s->of.g) > before + s->at.e.noise) continue;
        memcpy(s->of.x, s->of.g, numbers(s) * sizeof(double));
        rep->seconds.line_search += abut_time_wall() - clock;
        return ABUT_OK;
    }
    return rc ? rc
              : abut_fail(err, ABUT_E_NUMERIC,
                          "no step along the direction of the quadratic program lowers the penalty of %zu pair%s", s->set.n,
                          abut_s(s->set.n));
}

static abut_status note(abut_sqp *s, double speed, int halvings, abut_report *rep, abut_err *err)
{
    abut_iteration *it = abut_report_iteration(rep);
    if (!it) return abut_fail(err, ABUT_E_NOMEM, "step report: iteration %d", rep->newton);
    rep->residual = speed;
    *it = (abut_iteration){ .residual = speed, .bound = 1, .alpha = ldexp(1, -halvings), .contacts = (int32_t)s->set.n,
                            .trials = halvings + 1 };
    return ABUT_OK;
}

static abut_status find_pairs(abut_sqp *s, size_t *fresh, abut_report *rep, abut_err *err)
{
    const abut_collmesh *cm = &s->objective.cm;
    const double clock = abut_time_wall();
    abut_collmesh_positions(cm, s->of.x, s->of.y);
    const abut_status rc = extend_set(&s->set, cm, s->of.y0, s->of.y, fresh, err);
    rep->seconds.candidates += abut_time_wall() - clock;
    return rc;
}

/* Evaluates E and its derivatives at the iterate. */
static abut_status linearise(abut_sqp *s, abut_report *rep, abut_err *err)
{
    const double clock = abut_time_wall();
    const abut_status rc = look(s, &s->at, s->of.x, ABUT_HAS_GRADIENT, err);
    const abut_at here = abut_point_at(&s->at, &s->objective);
    abut_objective_forecast_start(&s->objective, &here);
    rep->seconds.gradient += abut_time_wall() - clock;
    if (rc || isfinite(s->at.e.sum)) return rc;
    return abut_fail(err, ABUT_E_NUMERIC, "an element has no finite energy where the step starts");
}

/* Moves to the next iterate; *speed, m/s: of the fastest node, if all of p is taken. */
static abut_status iterate(abut_sqp *s, double *speed, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->objective;
    int halvings = 0;
    const int full = s->user->inequalities.line_search == ABUT_SEARCH_NONE;
    *speed = 0;
    abut_status rc = s->fixed && rep->newton ? ABUT_OK : linearise(s, rep, err);
    if (rc) return rc;
    abut_collmesh_positions(&p->cm, s->of.x, s->of.y);
    evaluate_set(&s->set, &p->cm, s->of.y0, s->of.y);
    if (p->nrow) rc = solve_program(s, rep, err);
    else memset(s->of.p, 0, numbers(s) * sizeof(double));
    if (rc) return rc;
    for (size_t i = 0; i < numbers(s); i++) *speed = fmax(*speed, fabs(s->of.p[i]) / p->model->h[0]);
    if (s->fixed)
        for (size_t i = 0; i < numbers(s); i++) s->of.x[i] += s->of.p[i];
    else rc = search(s, full || *speed <= p->model->tolerance[0], &halvings, rep, err);
    return rc ? rc : note(s, *speed, halvings, rep, err);
}

/* QP: reports the residual of the momentum balance at the end of the step, including the forces of the last program's
 * constraints; not if an element has no finite energy. */
static abut_status balance(abut_sqp *s, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->objective;
    const double clock = abut_time_wall();
    abut_equilibrium e;
    abut_status rc = look(s, &s->trial, s->of.x, ABUT_HAS_GRADIENT, err);
    if (rc || !isfinite(s->trial.e.sum) || !p->nrow) return rc;
    abut_rows_gather(p, s->trial.g, 1, s->of.rows_g);
    for (size_t i = 0; i < 12 * s->set.n; i++) {
        const int32_t row = s->set.row[i / 3];
        if (row >= 0) s->of.rows_g[3 * row + (int)(i % 3)] -= s->lambda[i / 12] * s->set.a[i];
    }
    abut_rows_scatter(p, s->of.rows_g, 1, s->trial.g);
    rc = abut_equilibrium_find(p, &s->trial, NULL, &e, NULL, &s->scratch, err);
    rep->seconds.gradient += abut_time_wall() - clock;
    if (rc) return rc;
    rep->force_residual = e.left > 0 ? e.left / e.largest : 0;
    rep->force_largest = e.of_all;
    return ABUT_OK;
}

/* Solves the step: s->of.x, its end, and rep->sqp. */
static abut_status sqp_solve(abut_sqp *s, abut_report *rep, abut_err *err)
{
    const double tolerance = s->objective.model->tolerance[0];
    double speed = INFINITY;
    size_t fresh;
    assert(s->user->search.max_newton > 0);
    rep->sqp.solved = 1;
    abut_status rc = find_pairs(s, &fresh, rep, err);
    for (int k = 1; !rc; k++) {
        rc = iterate(s, &speed, rep, err);
        if (!rc) rc = find_pairs(s, &fresh, rep, err);
        rep->sqp.pairs = s->set.n;
        if (rc) return abut_wrap(err, "iteration %d", k), rc;
        if (speed <= tolerance && !fresh) return s->fixed ? balance(s, rep, err) : ABUT_OK;
        if (k == s->user->search.max_newton)
            return abut_fail(err, ABUT_E_NUMERIC,
                             "not converged after %d quadratic program%s: residual %.3g m/s, want %.3g, and %zu pair%s joined "
                             "the active set of %zu",
                             k, abut_s(k), speed, tolerance, fresh, abut_s(fresh), s->set.n);
    }
    return rc;
}

/* ---- the next frame ---- */

/* Reports the smallest gap of the active set, at least 0. */
static void report_gap(const abut_sqp *s, abut_report *rep)
{
    const abut_collmesh *cm = &s->objective.cm;
    size_t i;
    const double gap = least_gap(&s->set, cm, s->of.y, &i);
    rep->min_gap = -1;
    if (!isfinite(gap)) return;
    const abut_active_pair *p = &s->set.pair[i];
    rep->min_gap = fmax(gap, 0);
    for (int k = 0; k < 4; k++) rep->gap_node[k] = p->vert[k] < 0 ? -1 : abut_collmesh_node(cm, p->vert[k]);
    if (p->plane >= 0) rep->gap_node[3] = p->plane;
}

static abut_status report(abut_sqp *s, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->objective;
    const double *x = s->of.x;
    abut_collmesh_positions(&p->cm, x, s->of.y);
    evaluate_set(&s->set, &p->cm, s->of.y0, s->of.y);
    for (size_t i = 0; i < s->set.n; i++) {
        rep->sqp.violation = fmax(rep->sqp.violation, -s->set.c[i]);
        rep->planes += s->set.pair[i].plane >= 0;
    }
    rep->contacts = (int32_t)s->set.n - rep->planes;
    abut_report_plain(p, x, s->of.v, rep);
    report_gap(s, rep);
    const abut_linear_stats c = abut_linear_get_stats(&s->linear);
    rep->factor_nnz = c.nnz;
    rep->factor_flops = c.flops;
    rep->factor_bytes = (double)c.bytes;
    return abut_objective_potential(p, x, &rep->elastic, &s->scratch, err);
}

/* Writes the next frame into out (cleared first), and its figures into the report. */
static abut_status sqp_put_frame(abut_sqp *s, const abut_arrays *carry, abut_arrays *out, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->objective;
    const abut_model *m = p->model;
    const abut_start from = { .x = p->xn, .v = s->of.v0, .acc = s->of.acc };
    abut_integrator_finish(m, ABUT_FIRST_SCHEME, &from, p->held, p->xhat, s->of.x, s->of.v, NULL);
    abut_arrays_clear(out);
    const abut_status rc = abut_frame_carry(carry, out, err);
    double *x = rc ? NULL : abut_frame_put(out, "node/x", m->nv, err), *v = x ? abut_frame_put(out, "node/v", m->nv, err) : NULL;
    int32_t *number = v ? abut_frame_put(out, "sqp/hits", 1, err) : NULL;
    if (!number) return err->code;
    memcpy(x, s->of.x, numbers(s) * sizeof *x);
    memcpy(v, s->of.v, numbers(s) * sizeof *v);
    *number = (int32_t)(s->hits < INT32_MAX ? s->hits : INT32_MAX);
    return report(s, rep, err);
}

/* ---- as a stepper: every step is judged, and the hits are reported ---- */

static void free_it(void *self)
{
    sqp_clear(self);
    free(self);
}

static abut_status make(void **self, const abut_model *model, const abut_solve_options *o, int fixed, abut_err *err)
{
    abut_sqp *s = calloc(1, sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "step: a stepper");
    abut_solve_view(&s->model, model, o);
    const abut_model *m = &s->model;
    const abut_linear_options *l = &o->linear;
    s->user = o;
    s->fixed = fixed;
    s->set.form = m->sqp_constraints ? m->sqp_constraints[0] : ABUT_CONSTRAINT_GAP;
    s->set.by = m->sqp_active_set ? m->sqp_active_set[0] : ABUT_ACTIVE_BOTH;
    s->set.offset = m->sqp_offset ? m->sqp_offset[0] : abut_least_dhat(m);
    const char *name = fixed ? "solver qp" : "solver sqp";
    abut_status rc = check_model(m, name + strlen("solver "), err);
    if (!rc) rc = abut_objective_init(&s->objective, m, o->terms, err);
    if (!rc) rc = abut_collmesh_expect_nodes(&s->objective.cm, name, err);
    if (!rc && abut_terms_find(&s->objective.terms, abut_term_curved_rods.name))
        rc = abut_fail(err, ABUT_E_FORMAT, "%s: rods that are curved at rest, expected none", name);
    if (!rc) rc = abut_point_init(&s->at, &s->objective, 0, err);
    if (!rc) rc = abut_point_init(&s->trial, &s->objective, 1, err);
    if (!rc) rc = abut_linear_solver_init(&s->linear, l->solver ? l->solver : abut_linear_solvers[0], l->threads, err);
    if (!rc) rc = allocate(s, err);
    if (!rc) rc = abut_guard_init(&s->guard, m, &s->objective.cm, err);
    if (rc) free_it(s);
    else *self = s;
    return rc;
}

static abut_status make_sqp(void **self, const abut_model *m, const struct abut_solver_row *row, const abut_solve_options *o,
                            abut_err *err)
{
    (void)row;
    return make(self, m, o, 0, err);
}

static abut_status make_qp(void **self, const abut_model *m, const struct abut_solver_row *row, const abut_solve_options *o,
                           abut_err *err)
{
    (void)row;
    return make(self, m, o, 1, err);
}

static abut_status name_step(const abut_sqp *s, abut_status rc, abut_err *err)
{
    const abut_instant *at = &s->from;
    return rc ? abut_wrap(err, "step %lld (t = %g s)", (long long)at->step + 1, at->time), rc : ABUT_OK;
}

static abut_status begin(void *self, const abut_arrays *frame, abut_instant at, int *written, abut_report *rep, abut_err *err)
{
    abut_sqp *s = self;
    const double clock = abut_time_wall();
    s->unwritten = !*written;
    const abut_status rc = sqp_begin(s, frame, at, err);
    rep->seconds.predict += abut_time_wall() - clock;
    return name_step(s, rc, err);
}

/* Reports pairs that meet and elements that invert on the motion of the step; with --strict they are an error. */
static abut_status judge(abut_sqp *s, abut_report *rep, abut_err *err)
{
    const double clock = abut_time_wall();
    char words[ABUT_GUARD_WORDS];
    int clean;
    const abut_status rc = abut_guard_motion(&s->guard, s->objective.xn, s->of.x, &clean, err);
    rep->seconds.check += abut_time_wall() - clock;
    rep->sqp.hits = rc ? 0 : s->guard.hits.n;
    if (rc || clean || !s->user->hard.strict) return rc;
    return abut_fail(err, ABUT_E_NUMERIC, "%s (--strict)", abut_guard_words(&s->guard, words));
}

static abut_status solve(void *self, abut_report *rep, abut_err *err)
{
    abut_sqp *s = self;
    rep->contact = !s->objective.cm.nc ? ABUT_CONTACT_OFF : ABUT_CONTACT_LINEARISED;
    abut_status rc = sqp_solve(s, rep, err);
    if (!rc) rc = judge(s, rep, err);
    return name_step(s, rc, err);
}

static abut_status commit(void *self, const abut_arrays *carry, int record, abut_arrays *out, abut_instant *at, abut_report *rep,
                          abut_err *err)
{
    abut_sqp *s = self;
    (void)record;
    s->hits += rep->sqp.hits;
    const abut_status rc = sqp_put_frame(s, carry, out, rep, err);
    if (rc) return name_step(s, rc, err);
    if (!s->unwritten) s->hits = 0;
    *at = abut_instant_next(s->from, s->model.h[0]);
    rep->step = at->step;
    rep->time = at->time;
    return ABUT_OK;
}

#define OPERATIONS .begin = begin, .solve = solve, .commit = commit, .free = free_it
const abut_stepper_ops abut_sqp_stepper_ops = { .make = make_sqp, OPERATIONS };
const abut_stepper_ops abut_qp_stepper_ops = { .make = make_qp, OPERATIONS };

#include "energy/barrier.h"

#include "contact/area.h"
#include "energy/term.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

abut_barrier_law abut_barrier_law_of_contact(const abut_collmesh *cm, const abut_pairs *pairs, size_t i)
{
    const double xi = abut_pairs_xi(cm, pairs, i);
    abut_barrier_law law = abut_model_barrier(cm->model, abut_pairs_dhat(cm, pairs, i), xi);
    if (cm->area) {
        const double inner = abut_area_inner(cm, pairs, i, &law.inner_part);
        law.inner2 = (2 * xi + inner) * inner;
    }
    return law;
}

abut_barrier_law abut_barrier_law_of_plane(const abut_collmesh *cm, const abut_pairs *pairs, size_t i, double *D)
{
    const double xi = abut_pairs_plane_xi(cm, pairs, i), d = pairs->plane_dist[i];
    *D = d > xi ? (d - xi) * (d + xi) : 0;
    return abut_model_barrier(cm->model, abut_pairs_plane_dhat(cm, pairs, i), xi);
}

/* the contacts of r, four at a time, summed in their order */
static double block_energy(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, abut_range r)
{
    abut_barrier_law law[ABUT_LANES];
    double D[ABUT_LANES], b[ABUT_LANES], sum = 0;
    for (size_t i = r.lo; i < r.hi; i += ABUT_LANES) {
        const size_t n = r.hi - i < ABUT_LANES ? r.hi - i : ABUT_LANES;
        for (size_t l = 0; l < ABUT_LANES; l++) {
            const size_t k = i + (l < n ? l : 0);
            law[l] = abut_barrier_law_of_contact(cm, pairs, k);
            D[l] = abut_beyond2(pairs->dist2[k], law[l].xi);
        }
        abut_barrier_four(law, D, b);
        for (size_t l = 0; l < n; l++) {
            double x[12], e = 1;
            if (pairs->eps_x[i + l] > 0) {
                (void)abut_pairs_get(pairs, i + l, y, x);
                e = abut_mollify(abut_cross2(x, NULL, NULL), pairs->eps_x[i + l], NULL, NULL);
            }
            sum += pairs->mult[i + l] * (b[l] == 0 || isinf(b[l]) ? b[l] : e * b[l]);
        }
    }
    return sum;
}

abut_status abut_barrier_energy(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, double kappa,
                                double *energy, abut_arena *scratch, abut_err *err)
{
    assert(pairs);
    const size_t n = pairs->n, nb = abut_blocks(n), npb = abut_blocks(pairs->n_plane);
    const abut_mark mark = abut_arena_mark(scratch);
    double *part = ABUT_NEW(scratch, double, nb + npb);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "barrier: %zu partial sums", nb + npb);

    #pragma omp parallel for schedule(static) if (nb > 2)
    for (size_t b = 0; b < nb; b++) part[b] = block_energy(cm, pairs, y, abut_block(n, b));
    for (size_t b = 0; b < npb; b++) {
        const abut_range r = abut_block(pairs->n_plane, b);
        double sum = 0;
        for (size_t i = r.lo; i < r.hi; i++) {
            double D;
            const abut_barrier_law law = abut_barrier_law_of_plane(cm, pairs, i, &D);
            sum += pairs->plane_mult[i] * abut_barrier(law, D, NULL, NULL);
        }
        part[nb + b] = sum;
    }

    const double total = kappa * abut_sum(part, nb + npb);
    abut_arena_release(scratch, mark);
    *energy = isfinite(total) ? total : INFINITY;
    return ABUT_OK;
}

/* Contacts that go together: up to four of one kind, plain or mollified. */
typedef struct group {
    size_t n;
    abut_stencil kind;
    int mollified;
    double x[ABUT_LANES][12];
    abut_barrier_law law[ABUT_LANES];
} group;

/* Takes contacts i, i + 1, .. < hi into g, up to the first of another kind. */
static void group_take(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, size_t i, size_t hi, group *g)
{
    g->mollified = pairs->eps_x[i] > 0;
    for (g->n = 0; g->n < ABUT_LANES && i < hi; g->n++, i++) {
        if (g->n && ((pairs->eps_x[i] > 0) != g->mollified || (abut_stencil)pairs->kind[i] != g->kind)) return;
        g->kind = abut_pairs_get(pairs, i, y, g->x[g->n]);
        g->law[g->n] = abut_barrier_law_of_contact(cm, pairs, i);
    }
}

/* gradients of the contacts of r, kappa not included */
static void block_gradient(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, abut_range r, double (*g)[12])
{
    group four;
    for (size_t i = r.lo; i < r.hi; i += four.n) {
        group_take(cm, pairs, y, i, r.hi, &four);
        for (size_t l = 0; l < four.n && four.mollified; l++)
            abut_pair_barrier_grad(four.law[l], four.kind, four.x[l], pairs->eps_x[i + l], g[i + l]);
        if (!four.mollified) abut_pair_barrier_grads(four.law, four.kind, four.n, (const double (*)[12])four.x, g + i);
    }
}

abut_status abut_barrier_gradient(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, double kappa,
                                  double *g, abut_arena *scratch, abut_err *err)
{
    assert(pairs);
    const size_t n = pairs->n, nb = abut_blocks(n);
    const abut_mark mark = abut_arena_mark(scratch);
    double *part = ABUT_ROOM(scratch, double, 12 * n), *f = abut_collmesh_sum_begin(cm, g, scratch);
    if (!part || !f) return abut_fail(err, ABUT_E_NOMEM, "barrier: gradients of %zu contacts", n);

    #pragma omp parallel for schedule(static) if (nb > 2)
    for (size_t b = 0; b < nb; b++) block_gradient(cm, pairs, y, abut_block(n, b), (double (*)[12])part);
    /* contacts are few beside their cost: one thread adds them up, in their order */
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 4 && pairs->vert[i][c] >= 0; c++) {
            double *to = f + 3 * (size_t)abut_collmesh_slot(cm, pairs->vert[i][c]);
            for (int d = 0; d < 3; d++) to[d] += kappa * pairs->mult[i] * part[12 * i + 3 * (size_t)c + d];
        }
    if (cm->area) abut_barrier_factors_gradient(cm, pairs, y, kappa, f);
    for (size_t i = 0; i < pairs->n_plane; i++) {
        const double dist = pairs->plane_dist[i], *normal = cm->model->hs_normal + 3 * (size_t)pairs->plane[i];
        double D, db, *to = f + 3 * (size_t)abut_collmesh_slot(cm, pairs->plane_vert[i]);
        const abut_barrier_law law = abut_barrier_law_of_plane(cm, pairs, i, &D);
        (void)abut_barrier(law, D, &db, NULL);
        for (int d = 0; d < 3; d++) to[d] += kappa * pairs->plane_mult[i] * db * 2 * dist * normal[d];
    }
    abut_collmesh_sum_end(cm, f, g);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

size_t abut_barrier_elements(const abut_barrier_curvature *c, const abut_pairs *pairs)
{
    return pairs->n_plain + (pairs->n - pairs->n_plain) * abut_mollified_elements(c->ops) + pairs->n_plane;
}

size_t abut_barrier_element_of(const abut_barrier_curvature *c, const abut_pairs *pairs, size_t i)
{
    return i < pairs->n_plain ? i : pairs->n_plain + (i - pairs->n_plain) * abut_mollified_elements(c->ops);
}

size_t abut_barrier_element_size(const abut_barrier_curvature *c)
{
    return c->ops->rank ? ABUT_RANK_ONE * (size_t)c->ops->rank : abut_packed_size(4);
}

/* 1: contact i is of a vertex of a body and an obstacle, whose curvature has no unknowns: the matrix nearest to the Hessian of
 * all corners would hold the vertex along the obstacle, too. */
static int vertex_of_body(const abut_collmesh *cm, const abut_pairs *pairs, size_t i)
{
    const int32_t *v = pairs->vert[i];
    if (pairs->kind[i] == ABUT_EE || cm->obstacle[v[0]] == cm->obstacle[v[1]]) return 0;
    return !cm->obstacle[v[0]] || pairs->kind[i] == ABUT_PP;
}

/* A matrix of the directions normal to the feature, whose part of the vertex is the positive semidefinite one nearest to the
 * Hessian: with a scale > 0 along the normal n, else across it. */
static void normal_hessian(abut_barrier_law law, abut_stencil kind, const double x[12], double scale, double *to)
{
    const int corners = abut_stencil_size(kind);
    double w[4], n[3] = { 0 }, t[3] = { 0 }, db, ddb;
    const double d2 = abut_dist2(kind, x, w);
    (void)abut_barrier(law, abut_beyond2(d2, law.xi), &db, &ddb);
    for (int k = 0; k < 3 * corners; k++) n[k % 3] += w[k / 3] * x[k];
    for (int k = 0; k < (kind == ABUT_PE ? 3 : 0); k++) t[k] = x[6 + k] - x[3 + k];
    const double along = fmax(scale * (4 * d2 * ddb + 2 * db), 0) / d2, across = kind == ABUT_PT ? 0 : fmax(2 * scale * db, 0);
    const double length2 = fmax(t[0] * t[0] + t[1] * t[1] + t[2] * t[2], DBL_MIN);
    for (int k = 0; k < 9; k++) {
        const int i = k / 3, j = k % 3;
        const double M = (along - across / d2) * n[i] * n[j] + across * ((i == j) - t[i] * t[j] / length2);
        for (int a = 0; a < corners; a++)
            for (int b = a; b < corners; b++) to[9 * abut_packed_block(4, a, b) + (size_t)k] = w[a] * w[b] * M;
    }
}

/* Hessians of the contacts of r */
static void block_hessian(const abut_collmesh *cm, const abut_pairs *pairs, const abut_barrier_curvature *c, const double *y,
                          double kappa, abut_range r, double *val)
{
    group four;
    double scale[ABUT_LANES];
    for (size_t i = r.lo; i < r.hi; i += four.n) {
        double *to = val + abut_barrier_element_size(c) * abut_barrier_element_of(c, pairs, i);
        group_take(cm, pairs, y, i, r.hi, &four);
        for (size_t l = 0; l < four.n; l++) scale[l] = kappa * fmax(pairs->mult[i + l], c->ops->rank ? 0 : -INFINITY);
        const double (*x)[12] = (const double (*)[12])four.x;
        if (four.mollified) c->ops->mollified(four.law, c->least, four.n, x, pairs->eps_x + i, scale, to);
        else c->ops->plain(four.law, c->least, four.kind, four.n, x, scale, to);
        if (!cm->area || four.mollified || c->ops->kernel != ABUT_HESSIAN_PROJECTED) continue;
        for (size_t l = 0; l < four.n; l++)
            if (vertex_of_body(cm, pairs, i + l))
                normal_hessian(four.law[l], four.kind, x[l], scale[l], to + l * abut_barrier_element_size(c));
    }
    if (cm->area && c->ops->kernel == ABUT_HESSIAN_PROJECTED) abut_barrier_factors_hessian(cm, pairs, c, y, kappa, r, val);
}

void abut_barrier_slots(const abut_collmesh *cm, const abut_pairs *pairs, const abut_barrier_curvature *c, int32_t *slot)
{
    for (size_t i = 0; i < pairs->n; i++)
        for (size_t k = abut_barrier_element_of(c, pairs, i); k < abut_barrier_element_of(c, pairs, i + 1); k++)
            for (size_t j = 0; j < 4; j++) slot[4 * k + j] = abut_collmesh_slot(cm, pairs->vert[i][j]);
    for (size_t i = 0; i < pairs->n_plane; i++) {
        int32_t *to = slot + 4 * (abut_barrier_element_of(c, pairs, pairs->n) + i);
        to[0] = abut_collmesh_slot(cm, pairs->plane_vert[i]);
        to[1] = to[2] = to[3] = -1;
    }
}

/* Writes the element of half-space contact i: only its normal direction has curvature. */
static void plane_hessian(const abut_collmesh *cm, const abut_pairs *pairs, const abut_barrier_curvature *c, double kappa,
                          size_t i, double *to)
{
    const double d = pairs->plane_dist[i], *normal = cm->model->hs_normal + 3 * (size_t)pairs->plane[i];
    double D, db, ddb;
    const abut_barrier_law law = abut_barrier_law_of_plane(cm, pairs, i, &D);
    kappa *= pairs->plane_mult[i];
    if (c->ops->rank) {
        memset(to, 0, abut_barrier_element_size(c) * sizeof *to);
        to[0] = kappa * abut_barrier_normal(c, law, d);
        for (int p = 0; p < 3; p++) to[1 + p] = normal[p];
        return;
    }
    (void)abut_barrier(law, D, &db, &ddb);
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++) to[3 * p + q] = kappa * (4 * (d * d) * ddb + 2 * db) * (normal[p] * normal[q]);
}

void abut_barrier_hessian_by(const abut_collmesh *cm, const abut_pairs *pairs, const abut_barrier_curvature *c, const double *y,
                             double kappa, double *val)
{
    const size_t n = pairs->n, nb = abut_blocks(n);
    #pragma omp parallel for schedule(dynamic, 1) if (nb > 2)
    for (size_t b = 0; b < nb; b++) block_hessian(cm, pairs, c, y, kappa, abut_block(n, b), val);
    double *plane = val + abut_barrier_element_size(c) * abut_barrier_element_of(c, pairs, n);
    for (size_t i = 0; i < pairs->n_plane; i++) plane_hessian(cm, pairs, c, kappa, i, plane + abut_barrier_element_size(c) * i);
}

double abut_barrier_force(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, double kappa, double h, size_t i)
{
    double D, db, e = 1;
    if (i >= pairs->n) {
        const abut_barrier_law law = abut_barrier_law_of_plane(cm, pairs, i - pairs->n, &D);
        (void)abut_barrier(law, D, &db, NULL);
        return -kappa * db * 2 * pairs->plane_dist[i - pairs->n] * pairs->plane_mult[i - pairs->n] / (h * h);
    }
    if (pairs->eps_x[i] > 0) {
        double x[12];
        (void)abut_pairs_get(pairs, i, y, x);
        e = abut_mollify(abut_cross2(x, NULL, NULL), pairs->eps_x[i], NULL, NULL);
    }
    const abut_barrier_law law = abut_barrier_law_of_contact(cm, pairs, i);
    (void)abut_barrier(law, abut_beyond2(pairs->dist2[i], law.xi), &db, NULL);
    return -kappa * e * db * 2 * sqrt(pairs->dist2[i]) * pairs->mult[i] / (h * h);
}

double abut_barrier_force_slope(const abut_collmesh *cm, const abut_pairs *pairs, double kappa, double h, size_t i)
{
    const int plane = i >= pairs->n;
    double D, db, ddb;
    const abut_barrier_law law = plane ? abut_barrier_law_of_plane(cm, pairs, i - pairs->n, &D)
                                       : abut_barrier_law_of_contact(cm, pairs, i);
    const double d2 = plane ? pairs->plane_dist[i - pairs->n] * pairs->plane_dist[i - pairs->n] : pairs->dist2[i];
    if (!plane) D = abut_beyond2(d2, law.xi);
    (void)abut_barrier(law, D, &db, &ddb);
    return -kappa * (plane ? pairs->plane_mult[i - pairs->n] : pairs->mult[i]) * (4 * d2 * ddb + 2 * db) / (h * h);
}

/* ---- term ---- */

#define STIFFEN_BELOW 1e-9  /* fraction of the length of the scene (Li 2020, App. F) */
#define CREEPS 0.9          /* least part of a gap that an iteration leaves where Newton's method converges */

abut_barrier_state *abut_barrier_state_of(const abut_terms *terms) { return abut_terms_find(terms, "barrier"); }

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    abut_barrier_state *b = *self = malloc(sizeof *b);
    if (!b) return abut_fail(err, ABUT_E_NOMEM, "barrier");
    *b = (abut_barrier_state){ .model = w->model, .cm = w->cm, .curvature = { abut_barrier_hessians[0], 0 } };
    return ABUT_OK;
}

static abut_status load(void *self, const abut_frame *f, const abut_term_frame *as, abut_err *err)
{
    abut_barrier_state *b = self;
    (void)err;
    if (as->pending) return ABUT_OK;
    b->in_frame = f->kappa ? f->kappa[0] / as->weight : NAN;
    if (f->kappa) b->kappa = b->in_frame;
    return ABUT_OK;
}

static abut_status store(const void *self, const abut_term_frame *as, abut_arrays *out, abut_err *err)
{
    if (as->pending) return ABUT_OK;
    double *kappa = abut_frame_put(out, "contact/kappa", 1, err);
    if (!kappa) return err->code;
    *kappa = ((const abut_barrier_state *)self)->kappa * as->weight;
    return ABUT_OK;
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    const abut_barrier_state *b = self;
    return abut_barrier_energy(b->cm, at->pairs, at->y, scale * b->kappa, e, scratch, err);
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const abut_barrier_state *b = self;
    return abut_barrier_gradient(b->cm, at->pairs, at->y, scale * b->kappa, g, scratch, err);
}

/* ---- contacts that have bounded a direction ---- */

#define LEFT 0.25       /* least part of their gap that the next direction leaves: more than what a bound leaves (minimise.h) */
#define STIFF_AT 0.1    /* of dhat: a new one is as stiff as a contact there */

static int compare_blocked(const void *a, const void *b)
{
    const abut_blocked *p = a, *q = b;
    if (p->plane != q->plane) return p->plane < q->plane ? -1 : 1;
    if (p->kind != q->kind) return p->kind < q->kind ? -1 : 1;
    for (int k = 0; k < 4; k++)
        if (p->vert[k] != q->vert[k]) return p->vert[k] < q->vert[k] ? -1 : 1;
    return 0;
}

/* One of them at y: its vertices move along w and the normal n; force F and curvature k of the barrier at its gap. */
typedef struct blocked_at {
    int corners;
    double w[4], n[3], gap, F, k, stiff;
} blocked_at;

static blocked_at place_blocked(const abut_barrier_state *b, const abut_blocked *c, const double *y)
{
    const abut_collmesh *cm = b->cm;
    const int32_t *v = c->vert, second = c->plane >= 0 ? -1 : v[abut_stencil_second(c->kind)];
    blocked_at at = { .corners = c->plane >= 0 ? 1 : abut_stencil_size(c->kind), .w = { 1 } };
    double x[12], d, xi, dhat, db, ddb;
    if (c->plane >= 0) {
        memcpy(at.n, cm->model->hs_normal + 3 * (size_t)c->plane, sizeof at.n);
        xi = abut_collmesh_plane_xi(cm, v[0]), dhat = abut_collmesh_plane_dhat(cm, v[0]);
        d = abut_collmesh_plane_height(cm, y, v[0], c->plane) + xi;
    } else {
        abut_raw_points(y, v, at.corners, x);
        d = sqrt(abut_closest(c->kind, x, at.w));
        for (int k = 0; k < 3 * at.corners; k++) at.n[k % 3] += at.w[k / 3] * x[k] / d;
        xi = abut_collmesh_xi(cm, c->kind, v), dhat = abut_collmesh_dhat(cm, c->kind, v);
    }
    const double kappa = b->kappa * abut_pair_weight(&cm->scale, v[0], second, xi);
    const abut_barrier_law law = abut_model_barrier(cm->model, dhat, xi);
    (void)abut_barrier(law, abut_beyond2(d * d, xi), &db, &ddb);
    at.gap = d - xi;
    at.F = -kappa * 2 * d * db;
    at.k = kappa * (4 * d * d * ddb + 2 * db);
    at.stiff = kappa * abut_barrier_along(law, xi + STIFF_AT * dhat, 0, 0);
    return at;
}

/* The curvature that the barrier lacks for directions that end at that force. */
static double lacks(const blocked_at *at, double force)
{
    if (!(force > at->F && at->gap > 0)) return 0;
    return fmax(0, fmax(force / at->gap, (force - at->F) / ((1 - LEFT) * at->gap)) - at->k);
}

/* By how much nodes that move by to - from close the gap; from NULL: by to. */
static double closing(const abut_barrier_state *b, const abut_blocked *c, const blocked_at *at, const double *from,
                      const double *to)
{
    double sum = 0;
    for (int k = 0; k < at->corners; k++) {
        double q[3], q0[3] = { 0 };
        abut_collmesh_motion(b->cm, to, c->vert[k], q);
        if (from) abut_collmesh_motion(b->cm, from, c->vert[k], q0);
        for (int d = 0; d < 3; d++) sum -= at->w[k] * at->n[d] * (q[d] - q0[d]);
    }
    return sum;
}

abut_status abut_barrier_block(abut_barrier_state *b, const abut_at *at, const double *p, const abut_impact *hit, size_t n,
                               abut_err *err)
{
    assert(b && at && p);
    const size_t old = b->n_blocked;
    if (old + n > b->cap_blocked) {
        const size_t cap = 2 * (old + n);
        abut_blocked *c = realloc(b->blocked, cap * sizeof *c);
        if (!c) return abut_fail(err, ABUT_E_NOMEM, "barrier: %zu contacts that bound a direction", old + n);
        b->blocked = c;
        b->cap_blocked = cap;
    }
    for (size_t i = 0; i < n; i++) {
        abut_blocked c = { .vert = { -1, -1, -1, -1 }, .plane = hit[i].plane, .kind = hit[i].kind, .is_new = 1 };
        const size_t corners = c.plane >= 0 ? 1 : (size_t)abut_stencil_size(c.kind);
        memcpy(c.vert, hit[i].vert, corners * sizeof *c.vert);
        if (old && bsearch(&c, b->blocked, old, sizeof c, compare_blocked)) continue;
        const blocked_at here = place_blocked(b, &c, at->y);
        c.force = here.F + fmax(here.k, here.stiff) * closing(b, &c, &here, NULL, p);
        if (c.force > here.F) b->blocked[b->n_blocked++] = c;
    }
    if (b->n_blocked) qsort(b->blocked, b->n_blocked, sizeof *b->blocked, compare_blocked);
    return ABUT_OK;
}

/* Number of their elements: 0 in a Hessian that is not projected. */
static size_t blocked_elements(const abut_barrier_state *b, const abut_at *at)
{
    return at->pairs && !at->step->as_is ? b->n_blocked : 0;
}

static void blocked_hessian(const abut_barrier_state *b, const abut_at *at, double scale, double *to)
{
    for (size_t i = 0; i < blocked_elements(b, at); i++, to += abut_barrier_element_size(&b->curvature)) {
        const blocked_at c = place_blocked(b, &b->blocked[i], at->y);
        const double k = scale * lacks(&c, b->blocked[i].force);
        memset(to, 0, abut_barrier_element_size(&b->curvature) * sizeof *to);
        if (b->curvature.ops->rank) {
            to[0] = k;
            for (int j = 0; j < 3 * c.corners; j++) to[1 + j] = c.w[j / 3] * c.n[j % 3];
            continue;
        }
        for (int a = 0; a < c.corners; a++)
            for (int e = a; e < c.corners; e++)
                for (int j = 0; j < 9; j++)
                    to[9 * abut_packed_block(4, a, e) + (size_t)j] = k * c.w[a] * c.w[e] * c.n[j / 3] * c.n[j % 3];
    }
}

static void forecast_start(void *self, const abut_at *at)
{
    (void)at;
    ((abut_barrier_state *)self)->n_blocked = 0;
}

/* Takes the forces to which the whole direction led; contacts that it opens are left to the barrier. */
static void forecast_step(void *self, const abut_at *from, const double *to, double alpha)
{
    abut_barrier_state *b = self;
    size_t left = 0;
    for (size_t i = 0; i < b->n_blocked; i++) {
        abut_blocked c = b->blocked[i];
        const blocked_at at = place_blocked(b, &c, from->y);
        if (!c.is_new) c.force = at.F + (at.k + lacks(&at, c.force)) * closing(b, &c, &at, from->x, to) / alpha;
        c.is_new = 0;
        if (c.force > at.F) b->blocked[left++] = c;
    }
    b->n_blocked = left;
}

/* 1: no contact is stiffer than its barrier */
static int forecast_is_fair(const void *self, const abut_at *at)
{
    const abut_barrier_state *b = self;
    for (size_t i = 0; i < b->n_blocked; i++) {
        const blocked_at c = place_blocked(b, &b->blocked[i], at->y);
        if (lacks(&c, b->blocked[i].force) > 0) return 0;
    }
    return 1;
}

/* ---- its matrices ---- */

static abut_status elements(void *self, const abut_at *at, abut_elements *set, abut_err *err)
{
    abut_barrier_state *b = self;
    const size_t pairs = at->pairs ? abut_barrier_elements(&b->curvature, at->pairs) : 0, n = pairs + blocked_elements(b, at);
    if (n > b->cap) {
        free(b->slot);
        b->cap = n + n / 2 + 64;
        b->slot = malloc(4 * b->cap * sizeof *b->slot);
        if (!b->slot) return b->cap = 0, abut_fail(err, ABUT_E_NOMEM, "barrier: %zu contacts", n);
    }
    if (pairs) abut_barrier_slots(b->cm, at->pairs, &b->curvature, b->slot);
    for (size_t i = 4 * pairs; i < 4 * n; i++)
        b->slot[i] = abut_collmesh_slot(b->cm, b->blocked[i / 4 - pairs].vert[i % 4]);
    set->corners = 4, set->rank = b->curvature.ops->rank, set->n = n, set->row = b->slot;
    set->map = abut_collmesh_selects(b->cm) ? NULL : &b->cm->W;
    return ABUT_OK;
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    const abut_barrier_state *b = self;
    (void)lo, (void)hi;
    if (!at->pairs) return;
    abut_barrier_hessian_by(b->cm, at->pairs, &b->curvature, at->y, scale * b->kappa, val);
    blocked_hessian(b, at, scale, val + abut_barrier_element_size(&b->curvature) *
                                        abut_barrier_elements(&b->curvature, at->pairs));
}

static void destroy(void *self)
{
    ABUT_FREE(((abut_barrier_state *)self)->slot, ((abut_barrier_state *)self)->blocked, self);
}

abut_status abut_barrier_choose(abut_barrier_state *b, const abut_barrier_hessian_ops *ops, abut_err *err)
{
    const double filter = b->model->barrier_filter ? b->model->barrier_filter[0] : 0;
    if (!ops) ops = abut_barrier_hessians[0];
    if (filter > 0 && !ops->filters)
        return abut_fail(err, ABUT_E_FORMAT, "contact.barrier.filter is %g: --barrier-hessian %s takes none; gn, ipc-gn and "
                         "shi-kim do", filter, ops->name);
    b->curvature = (abut_barrier_curvature){ ops, filter * abut_least_dhat(b->model) };
    return ABUT_OK;
}

abut_status abut_barrier_unit_gradient(const abut_barrier_state *b, const abut_at *at, double *g, abut_arena *scratch,
                                       abut_err *err)
{
    assert(b && at);
    return abut_barrier_gradient(b->cm, at->pairs, at->y, 1, g, scratch, err);
}

double abut_barrier_stiffer(double kappa, double most, double below, double gap_before, double gap_after)
{
    const int collapses = gap_before < below && gap_after < below && gap_after < CREEPS * gap_before;
    return collapses ? fmin(most, 2 * kappa) : kappa;
}

int abut_barrier_stiffen(abut_barrier_state *b, double gap_before, double gap_after)
{
    const abut_model *m = b->model;
    const double below = m->stiffen_below ? m->stiffen_below[0] : STIFFEN_BELOW * m->length[0], kappa = b->kappa;
    b->kappa = abut_barrier_stiffer(kappa, m->kappa_max[0], below, gap_before, gap_after);
    return b->kappa > kappa;
}

/* The pressure of contact by area is too soft where the momentum of bodies meets few vertices or edges: the force f of one of
 * weight w has the gap 2 kappa w reach / f where it is small, and an iteration leaves a tenth of a gap that is too large.  So it
 * doubles the pressure where a gap below LOW of the reach shrinks; a load of 130 times the pressure has a larger one at rest.
 * Steps halve it again. */
#define LOW 0.015
#define MOST 1024           /* times the pressure of the scene */

/* The least gap over its reach among the contacts that push. */
static double least_part(const abut_collmesh *cm, const abut_pairs *p)
{
    double least = INFINITY;
    for (size_t i = 0; i < p->n + p->n_plane; i++)
        if (i >= p->n || p->mult[i] > 0)
            least = fmin(least, abut_pairs_gap(cm, p, i) / (i < p->n ? p->reach[i] : abut_pairs_plane_dhat(cm, p, i - p->n)));
    return least;
}

double abut_barrier_start_by_area(const abut_barrier_state *b, double least, int keeps, size_t contacts)
{
    return contacts && b->in_frame > least ? fmax(least, (keeps ? 1 : 0.5) * b->in_frame) : least;
}

static abut_status stiffen(void *self, const abut_at *from, const abut_at *to, int *raised, abut_arena *scratch, abut_err *err)
{
    abut_barrier_state *b = self;
    (void)scratch, (void)err;
    if (b->cm->area) {
        const double most = MOST * b->model->pressure[0] * to->step->h_force * to->step->h_force, kappa = b->kappa;
        const double before = least_part(b->cm, from->pairs), after = least_part(b->cm, to->pairs);
        b->kappa = abut_barrier_stiffer(kappa, fmax(kappa, most), LOW, before, after);
        *raised |= b->kappa > kappa;
        return ABUT_OK;
    }
    *raised |= abut_barrier_stiffen(b, abut_pairs_smallest_gap(b->cm, from->pairs, NULL),
                                    abut_pairs_smallest_gap(b->cm, to->pairs, NULL));
    return ABUT_OK;
}

const abut_term_ops abut_term_barrier = { .name = "barrier", .kind = ABUT_TERM_CONTACT, .weight = ABUT_TERM_WEIGHED, .make = make,
                                          .load = load, .store = store, .energy = energy, .gradient = gradient,
                                          .set = "contacts", .elements = elements, .hessian = hessian, .stiffen = stiffen,
                                          .forecast_start = forecast_start, .forecast_step = forecast_step,
                                          .forecast_is_fair = forecast_is_fair, .free = destroy };

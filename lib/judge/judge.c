/* Collisions of a motion, of a configuration, and the smallest gap. */
#include "judge/judge.h"

#include "base/order.h"
#include "base/par.h"
#include "geom/exact/predicates.h"
#include "geom/jacobian.h"
#include "model/tets.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- hits ---- */

static const struct {
    const char *name;
    int nodes, first;
} kinds[] = {
    [ABUT_HIT_POINT_POINT] = { "vertex-vertex", 2, 1 },  [ABUT_HIT_POINT_EDGE] = { "vertex-edge", 3, 1 },
    [ABUT_HIT_POINT_TRI] = { "vertex-triangle", 4, 1 },  [ABUT_HIT_EDGE_EDGE] = { "edge-edge", 4, 2 },
    [ABUT_HIT_EDGE_TRI] = { "edge-triangle", 5, 2 },     [ABUT_HIT_POINT_TET] = { "vertex in tet", 5, 1 },
    [ABUT_HIT_POINT_BODY] = { "vertex in body", 1, 1 },
    [ABUT_HIT_PLANE] = { "vertex-half-space", 1, 1 },    [ABUT_HIT_FOLD] = { "folded triangles", 4, 2 },
    [ABUT_HIT_DUPLICATE] = { "duplicate triangle", 3, 3 }, [ABUT_HIT_INVERTED] = { "inverted tet", 4, 4 },
    [ABUT_HIT_FLAT_TRI] = { "triangle without area", 3, 3 }, [ABUT_HIT_FLAT_EDGE] = { "edge without length", 2, 2 },
};

const char *abut_hit_name(abut_hit_kind kind) { return kinds[kind].name; }

int abut_hit_nodes(abut_hit_kind kind, int *first)
{
    *first = kinds[kind].first;
    return kinds[kind].nodes;
}

abut_status abut_hits_add(abut_hits *h, const abut_hit *hit, abut_err *err)
{
    if (!ABUT_GROW(h->hit, h->n + 1, h->cap)) return abut_fail(err, ABUT_E_NOMEM, "judge: a list of %zu collisions", h->n + 1);
    h->hit[h->n++] = *hit;
    return ABUT_OK;
}

static int in_order(const void *pa, const void *pb)
{
    const abut_hit *const a = pa, *const b = pb;
    if (a->t_lo != b->t_lo) return a->t_lo < b->t_lo ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    const int by = abut_compare(a->node, b->node, 5);
    return by ? by : (a->item > b->item) - (a->item < b->item);
}

void abut_hits_sort(abut_hits *h) { if (h->n) qsort(h->hit, h->n, sizeof *h->hit, in_order); }

void abut_hits_clear(abut_hits *h)
{
    free(h->hit);
    *h = (abut_hits){ .n = 0 };
}

/* ---- pairs: a broad phase between two lists of elements, then a decision on each pair, in parallel ---- */

/* Decides one pair: x0 and x1 hold the points of a, then of b, at t = 0 and t = 1; opts->min_sep >= 0 is the separation of the
 * pair.  1 with *t_lo, *t_hi set, or 0. */
typedef int pair_test(abut_hit_kind kind, const double *x0, const double *x1, const abut_judge_opts *opts, abut_arena *scratch,
                      double *t_lo, double *t_hi);

/* One class of pairs, i of a and j of b, over the motion x0 -> x1; b == a: pairs i < j. */
typedef struct job {
    const abut_judge_shape *s;
    abut_hit_kind kind;
    const abut_simplices *a, *b;
    const double *x0, *x1;
    const abut_judge_opts *opts;
    pair_test *test;
} job;

/* Boxes and flags of a list, the boxes grown by half the separation of two such elements and half of reach; items borrows
 * the nodes */
static abut_status make_items(const job *w, const abut_simplices *e, double reach, abut_items *items, abut_err *err)
{
    abut_box *box = malloc((e->n + 1) * sizeof *box);
    uint8_t *still = malloc(e->n + 1);
    *items = (abut_items){ e->n, e->k, e->node, still, box };
    if (!box || !still) return abut_fail(err, ABUT_E_NOMEM, "judge: boxes of %zu elements", e->n);
    #pragma omp parallel for schedule(static) if (e->n >= ABUT_PAR_MIN)
    for (size_t i = 0; i < e->n; i++) {
        const int32_t *const node = e->node + i * (size_t)e->k;
        const double sep = (w->opts->min_sep >= 0 ? w->opts->min_sep : abut_judge_thickness(w->s, e, i)) + reach;
        box[i] = abut_box_points(w->x0, w->x1, node, e->k, sep > 0 ? nextafter(sep / 2, INFINITY) : 0);
        still[i] = 1;
        for (int k = 0; k < e->k; k++) still[i] &= w->s->still[node[k]];
    }
    return ABUT_OK;
}

static void free_items(abut_items *items) { ABUT_FREE((void *)(uintptr_t)items->box, (void *)(uintptr_t)items->still); }

/* The pairs whose boxes, grown by the separation and by reach, overlap. */
static abut_status find_pairs(const job *w, double reach, abut_pair_list *pairs, abut_err *err)
{
    abut_items a = { 0 }, b = { 0 };
    if (w->a->n == 0 || w->b->n == 0) return ABUT_OK;
    abut_status rc = make_items(w, w->a, reach, &a, err);
    if (!rc && w->b != w->a) rc = make_items(w, w->b, reach, &b, err);
    if (!rc) rc = abut_box_pairs(&a, w->b == w->a ? &a : &b, pairs, err);
    free_items(&a);
    free_items(&b);
    return rc;
}

/* the nodes of a pair, as a hit at time 0; returns how many */
static int name_pair(const job *w, const int32_t ij[2], abut_hit *hit)
{
    *hit = (abut_hit){ w->kind, { -1, -1, -1, -1, -1 }, -1, 0, 0 };
    int n = 0;
    for (int side = 0; side < 2; side++) {
        const abut_simplices *const e = side ? w->b : w->a;
        for (int k = 0; k < e->k; k++) hit->node[n++] = e->node[(size_t)ij[side] * (size_t)e->k + (size_t)k];
    }
    return n;
}

/* required separation of the two, m */
static double separation(const job *w, const int32_t ij[2])
{
    if (w->opts->min_sep >= 0) return w->opts->min_sep;
    return 0.5 * (abut_judge_thickness(w->s, w->a, (size_t)ij[0]) + abut_judge_thickness(w->s, w->b, (size_t)ij[1]));
}

/* Pairs of bodies that do not meet, and of obstacles, are no collisions. */
static int is_left_out(const job *w, const abut_hit *hit)
{
    const int32_t p = hit->node[0], q = hit->node[w->a->k];
    return abut_judge_passes(w->s, p, q) || (w->s->still[p] && w->s->still[q]);
}

/* Tests one pair; fills the hit if the test returns 1. */
static int decide(const job *w, const int32_t ij[2], abut_arena *scratch, abut_hit *hit)
{
    double p0[15], p1[15];
    const int n = name_pair(w, ij, hit);
    if (is_left_out(w, hit)) return 0;
    for (int i = 0; i < n; i++) {
        memcpy(p0 + 3 * i, w->x0 + 3 * (size_t)hit->node[i], 3 * sizeof(double));
        memcpy(p1 + 3 * i, w->x1 + 3 * (size_t)hit->node[i], 3 * sizeof(double));
    }
    abut_judge_opts opts = *w->opts;
    opts.min_sep = separation(w, ij);
    return w->test(w->kind, p0, p1, &opts, scratch, &hit->t_lo, &hit->t_hi);
}

/* Appends the hits: one list of hits a block, joined in block order */
static abut_status decide_all(const job *w, const abut_pair_list *pairs, abut_hits *out, abut_err *err)
{
    const size_t nb = abut_blocks(pairs->n);
    abut_hits *part = calloc(nb + 1, sizeof *part);
    uint8_t *failed = calloc(nb + 1, 1);
    abut_status rc = part && failed ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "judge: %zu blocks of pairs", nb);
    #pragma omp parallel for schedule(dynamic) if (nb > 2)
    for (size_t b = 0; b < (rc ? 0 : nb); b++) {
        const abut_range r = abut_block(pairs->n, b);
        abut_arena scratch = { 0 };
        abut_hit hit;
        for (size_t i = r.lo; i < r.hi && !failed[b]; i++)
            if (decide(w, pairs->ij[i], &scratch, &hit)) failed[b] = abut_hits_add(&part[b], &hit, NULL) != ABUT_OK;
        abut_arena_clear(&scratch);
    }
    for (size_t b = 0; !rc && b < nb; b++) {
        if (failed[b]) rc = abut_fail(err, ABUT_E_NOMEM, "judge: a list of collisions");
        for (size_t i = 0; !rc && i < part[b].n; i++) rc = abut_hits_add(out, &part[b].hit[i], err);
    }
    for (size_t b = 0; part && b < nb; b++) abut_hits_clear(&part[b]);
    ABUT_FREE(part, failed);
    return rc;
}

/* Appends a hit for every pair of a class for which its test returns 1.  Order and bits do not depend on the thread count. */
static abut_status judge_pairs(const job *w, abut_hits *out, abut_err *err)
{
    abut_pair_list pairs = { 0 };
    abut_status rc = find_pairs(w, 0, &pairs, err);
    if (!rc) rc = decide_all(w, &pairs, out, err);
    out->pairs += pairs.n;
    abut_pair_list_clear(&pairs);
    return rc;
}

/* the smallest gap of a block of pairs */
static void least_of(const job *w, const abut_pair_list *pairs, abut_range r, abut_judge_gap *least)
{
    for (size_t i = r.lo; i < r.hi; i++) {
        abut_hit at;
        double x[12] = { 0 };
        const int n = name_pair(w, pairs->ij[i], &at);
        if (is_left_out(w, &at)) continue;
        for (int k = 0; k < n; k++) memcpy(x + 3 * k, w->x0 + 3 * (size_t)at.node[k], 3 * sizeof *x);
        const double gap = abut_separation((abut_stencil)w->kind, x) - separation(w, pairs->ij[i]);
        if (gap < least->gap) *least = (abut_judge_gap){ gap, at };
    }
}

/* Lowers *least to the smallest gap of the pairs, if smaller. */
static abut_status find_least(const job *w, abut_judge_gap *least, abut_err *err)
{
    abut_pair_list pairs = { 0 };
    abut_judge_gap *part = NULL;
    abut_status rc = find_pairs(w, least->gap, &pairs, err);
    const size_t nb = rc ? 0 : abut_blocks(pairs.n);
    if (!rc && !(part = malloc((nb + 1) * sizeof *part))) rc = abut_fail(err, ABUT_E_NOMEM, "judge: %zu blocks of pairs", nb);
    #pragma omp parallel for schedule(dynamic) if (nb > 2)
    for (size_t k = 0; k < (rc ? 0 : nb); k++) {
        part[k] = *least;
        least_of(w, &pairs, abut_block(pairs.n, k), &part[k]);
    }
    for (size_t k = 0; k < (rc ? 0 : nb); k++)
        if (part[k].gap < least->gap) *least = part[k];
    free(part);
    abut_pair_list_clear(&pairs);
    return rc;
}

/* ---- tests of one pair ---- */

/* The part of the start gap that a pair must keep: a smaller one costs steps, a larger one reports near misses. */
static const double additive_slack = 0.01;

abut_judge_opts abut_judge_defaults(void)
{
    return (abut_judge_opts){ ABUT_JUDGE_EXACT, -1, 1e-6, 1000000 };
}

static int conservative(abut_stencil s, const double *x0, const double *x1, const abut_judge_opts *o, abut_arena *scratch,
                        double *toi)
{
    *toi = 0;
    if (o->method == ABUT_JUDGE_TIGHT)
        return abut_ccd_inclusion(s, x0, x1, o->min_sep, o->delta, 1, o->max_boxes, toi, scratch) != ABUT_CCD_CLEAR;
    return abut_ccd_additive(s, x0, x1, o->min_sep, additive_slack, 1, toi) != ABUT_CCD_CLEAR;
}

int abut_judge_pair(abut_stencil s, const double *x0, const double *x1, const abut_judge_opts *opts, abut_arena *scratch)
{
    double toi;
    abut_judge_opts alone = *opts;
    const abut_judge_opts *const o = &alone;
    alone.min_sep = opts->min_sep > 0 ? opts->min_sep : 0;
    if (o->method != ABUT_JUDGE_EXACT) return conservative(s, x0, x1, o, scratch, &toi);
    return o->min_sep > 0 ? abut_ccd_exact_within(s, x0, x1, o->min_sep, NULL, NULL) : abut_ccd_exact(s, x0, x1, NULL, NULL);
}

/* abut_judge_pair with the time of a collision, which costs more: the exact time is computed for collisions only */
static int moving_pair(abut_hit_kind kind, const double *x0, const double *x1, const abut_judge_opts *o,
                       abut_arena *scratch, double *t_lo, double *t_hi)
{
    const abut_stencil s = (abut_stencil)kind;
    if (o->method != ABUT_JUDGE_EXACT) {
        const int hit = conservative(s, x0, x1, o, scratch, t_lo);
        *t_hi = *t_lo;
        return hit;
    }
    if (o->min_sep > 0) return abut_ccd_exact_within(s, x0, x1, o->min_sep, t_lo, t_hi);
    return abut_ccd_exact(s, x0, x1, NULL, NULL) && abut_ccd_exact(s, x0, x1, t_lo, t_hi);
}

static int static_pair(abut_hit_kind kind, const double *x, const double *x1, const abut_judge_opts *o,
                       abut_arena *scratch, double *t_lo, double *t_hi)
{
    (void)x1, (void)o, (void)scratch;
    *t_lo = *t_hi = 0;
    switch (kind) {
    case ABUT_HIT_POINT_POINT: return x[0] == x[3] && x[1] == x[4] && x[2] == x[5];
    case ABUT_HIT_POINT_EDGE: return abut_touch_point_edge(x, x + 3, x + 6);
    case ABUT_HIT_POINT_TRI: return abut_touch_point_tri(x, x + 3, x + 6, x + 9);
    case ABUT_HIT_EDGE_EDGE: return abut_touch_edge_edge(x, x + 3, x + 6, x + 9);
    case ABUT_HIT_POINT_TET: return abut_touch_point_tet(x, x + 3, x + 6, x + 9, x + 12);
    default: return abut_touch_edge_tri(x, x + 3, x + 6, x + 9, x + 12);
    }
}

/* ---- half-spaces ---- */

/* n . (x - p) and a bound on its rounding error */
static double height(const double n[3], const double p[3], const double *x, double *error)
{
    double sum = 0, size = 0;
    for (int k = 0; k < 3; k++) {
        const double t = n[k] * (x[k] - p[k]);
        sum += t;
        size += fabs(t);
    }
    *error = 0x1p-50 * size + 0x1p-1060;
    return sum;
}

/* On or under the plane, or within min_sep of it.  The height is affine in time, so its ends decide; exact without min_sep,
 * on the side of reporting with it. */
static int meets_plane(const double n[3], const double p[3], const double *x0, const double *x1, double min_sep,
                       double *t_lo, double *t_hi)
{
    double e0, e1;
    const double lift = min_sep * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) * (1 + 0x1p-50);
    const double g0 = height(n, p, x0, &e0) - lift, g1 = height(n, p, x1, &e1) - lift;
    const int low0 = min_sep > 0 ? !(g0 > e0) : abut_plane_side(n, p, x0) <= 0;
    const int low1 = min_sep > 0 ? !(g1 > e1) : abut_plane_side(n, p, x1) <= 0;
    if (!low0 && !low1) return 0;
    *t_lo = *t_hi = 0;
    if (low0) return 1;
    const double fall = g0 - g1, e = e0 + e1;
    *t_lo = fmax(0, (g0 - e) / (fall + e));
    *t_hi = fall > e ? fmin(1, (g0 + e) / (fall - e)) : 1;
    return 1;
}

static abut_status planes(const abut_judge_shape *s, const double *x0, const double *x1, const abut_judge_opts *o, abut_hits *out,
                          abut_err *err)
{
    for (int32_t h = 0; h < s->n_plane; h++) {
        for (size_t i = 0; i < s->vert.n; i++) {
            const int32_t v = s->vert.node[i];
            if (s->still[v]) continue;
            abut_hit hit = { ABUT_HIT_PLANE, { v, -1, -1, -1, -1 }, h, 0, 0 };
            out->pairs++;
            const double sep = o->min_sep >= 0 ? o->min_sep : 0.5 * abut_judge_thickness(s, &s->vert, i);
            if (!meets_plane(s->plane_normal + 3 * h, s->plane_point + 3 * h, x0 + 3 * (size_t)v, x1 + 3 * (size_t)v, sep,
                             &hit.t_lo, &hit.t_hi))
                continue;
            const abut_status rc = abut_hits_add(out, &hit, err);
            if (rc) return rc;
        }
    }
    return ABUT_OK;
}

static void least_plane(const abut_judge_shape *s, const double *x, const abut_judge_opts *o, abut_judge_gap *least)
{
    for (int32_t h = 0; h < s->n_plane; h++)
        for (size_t i = 0; i < s->vert.n; i++) {
            const int32_t v = s->vert.node[i];
            double e;
            const double *n = s->plane_normal + 3 * h, d = height(n, s->plane_point + 3 * h, x + 3 * (size_t)v, &e) - e;
            const double gap = d - (o->min_sep >= 0 ? o->min_sep : 0.5 * abut_judge_thickness(s, &s->vert, i));
            if (s->still[v] || !(gap < least->gap)) continue;
            *least = (abut_judge_gap){ gap, { ABUT_HIT_PLANE, { v, -1, -1, -1, -1 }, h, 0, 0 } };
        }
}

/* ---- verdicts ---- */

/* The kind and the lists of a class of pairs. */
typedef struct pair_class {
    abut_hit_kind kind;
    const abut_simplices *a, *b;
} pair_class;

static abut_status judge_classes(const abut_judge_shape *s, const pair_class *c, size_t n, const double *x0, const double *x1,
                                 const abut_judge_opts *o, pair_test *test, abut_hits *out, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (size_t i = 0; !rc && i < n; i++) {
        const job w = { s, c[i].kind, c[i].a, c[i].b, x0, x1, o, test };
        rc = judge_pairs(&w, out, err);
    }
    return rc ? rc : planes(s, x0, x1, o, out, err);
}

/* Pairs that may collide in a motion. */
enum { MOVING = 4 };
static void moving_classes(const abut_judge_shape *s, pair_class c[MOVING])
{
    c[0] = (pair_class){ ABUT_HIT_POINT_TRI, &s->vert, &s->tri };
    c[1] = (pair_class){ ABUT_HIT_EDGE_EDGE, &s->edge, &s->edge };
    c[2] = (pair_class){ ABUT_HIT_POINT_EDGE, &s->point, &s->edge };
    c[3] = (pair_class){ ABUT_HIT_POINT_POINT, &s->point, &s->point };
}

static abut_status add_motion(const abut_judge_shape *s, const double *x0, const double *x1, const abut_judge_opts *opts,
                              abut_hits *out, abut_err *err)
{
    pair_class c[MOVING];
    moving_classes(s, c);
    const job folds = { s, ABUT_HIT_POINT_EDGE, &s->tip, &s->rod, x0, x1, opts, moving_pair };
    const abut_status rc = judge_classes(s, c, MOVING, x0, x1, opts, moving_pair, out, err);
    if (rc) return rc;
    out->pairs += s->folds.n;
    return decide_all(&folds, &s->folds, out, err);
}

abut_status abut_judge_motion(const abut_judge_shape *s, const double *x0, const double *x1, const abut_judge_opts *opts,
                              abut_hits *out, abut_err *err)
{
    out->n = out->pairs = 0;
    const abut_status rc = add_motion(s, x0, x1, opts, out, err);
    abut_hits_sort(out);
    return rc;
}

abut_status abut_judge_near(const abut_judge_shape *s, const double *x, const abut_judge_opts *opts, abut_hits *out,
                            abut_err *err)
{
    assert(s && opts);
    if (!(opts->min_sep > 0) && !(opts->min_sep < 0 && s->thick)) return ABUT_OK;
    return add_motion(s, x, x, opts, out, err);
}

abut_status abut_judge_smallest_gap(const abut_judge_shape *s, const double *x, double reach, const abut_judge_opts *opts,
                                    abut_judge_gap *out, abut_err *err)
{
    pair_class c[MOVING];
    abut_status rc = ABUT_OK;
    moving_classes(s, c);
    *out = (abut_judge_gap){ .gap = reach };
    for (int i = 0; i < MOVING && !rc; i++) {
        const job w = { s, c[i].kind, c[i].a, c[i].b, x, x, opts, NULL };
        rc = find_least(&w, out, err);
    }
    const job folds = { s, ABUT_HIT_POINT_EDGE, &s->tip, &s->rod, x, x, opts, NULL };
    if (!rc) least_of(&folds, &s->folds, (abut_range){ 0, s->folds.n }, out);
    least_plane(s, x, opts, out);
    if (!(out->gap < reach)) out->gap = INFINITY;
    return rc;
}

abut_status abut_judge_static(const abut_judge_shape *s, const double *x, abut_hits *out, abut_err *err)
{
    /* Closed triangles hold their sides and corners, so triangles need the first class and folds.  A rod that hangs on a
     * triangle is no pair with it; its end and its crossings with the sides are. */
    const pair_class c[] = { { ABUT_HIT_EDGE_TRI, &s->edge, &s->tri },    { ABUT_HIT_POINT_TRI, &s->loose, &s->tri },
                             { ABUT_HIT_EDGE_EDGE, &s->rod, &s->rod },    { ABUT_HIT_EDGE_EDGE, &s->rod, &s->side },
                             { ABUT_HIT_POINT_EDGE, &s->loose, &s->rod }, { ABUT_HIT_POINT_POINT, &s->point, &s->point },
                             { ABUT_HIT_POINT_TET, &s->vert, &s->tet } };
    const abut_judge_opts o = { ABUT_JUDGE_EXACT, 0, 1, 0 };
    /* if vertices are sums of nodes, surfaces replace tets, and so the last class */
    const size_t classes = sizeof c / sizeof *c - (s->map != NULL);
    out->n = out->pairs = 0;
    abut_status rc = judge_classes(s, c, classes, x, x, &o, static_pair, out, err);
    if (!rc) rc = abut_judge_inside(s, x, out, err);
    if (!rc) rc = abut_judge_folds(s, x, out, err);
    abut_hits_sort(out);
    return rc;
}

/* ---- single elements, and triangles that share an edge ---- */

static const double *at(const double *x, int32_t node) { return x + 3 * (size_t)node; }

typedef const double (*places)[3];

/* 1 for a tet of order 2 and more: its sign at x0, or on the motion to x1. */
static int curved_sign(const abut_judge_shape *s, const double *x0, const double *x1, size_t tet, abut_jacobian_sign *sign,
                       abut_jacobian_at *at)
{
    double from[ABUT_TET_NODES_MAX][3], to[ABUT_TET_NODES_MAX][3];
    if (!s->curved || abut_tet_geometry_order(s->curved, (int32_t)tet) == 1) return 0;
    const int order = abut_tet_shape(s->curved, (int32_t)tet, x0, from);
    if (x1) abut_tet_shape(s->curved, (int32_t)tet, x1, to);
    *sign = x1 ? abut_jacobian_check_motion(order, (places)from, (places)to, at) : abut_jacobian_check(order, (places)from, at);
    return 1;
}

abut_status abut_judge_inverted(const abut_judge_shape *s, const double *x, int only_injective, abut_hits *out, abut_err *err)
{
    assert(s);
    for (size_t i = 0; i < s->tet.n; i++) {
        const int32_t *const n = s->tet.node + 4 * i;
        if (only_injective && !s->injective[i]) continue;
        abut_jacobian_sign sign;
        const int curved = curved_sign(s, x, NULL, i, &sign, NULL);
        if (curved && sign == ABUT_JACOBIAN_POSITIVE) continue;
        if (!curved && abut_orient3d(at(x, n[0]), at(x, n[1]), at(x, n[2]), at(x, n[3])) < 0) continue;
        const abut_hit hit = { ABUT_HIT_INVERTED, { n[0], n[1], n[2], n[3], -1 }, (int32_t)i, 0, 0 };
        const abut_status rc = abut_hits_add(out, &hit, err);
        if (rc) return rc;
    }
    return ABUT_OK;
}

/* 1: the tet loses its volume in the motion; fills the hit. */
static int inverts(const abut_judge_shape *s, const double *x0, const double *x1, size_t tet, abut_hit *hit)
{
    double p0[12], p1[12];
    const int32_t *const n = s->tet.node + 4 * tet;
    abut_jacobian_sign sign;
    abut_jacobian_at where = { .t = 0 };
    *hit = (abut_hit){ ABUT_HIT_INVERTED, { n[0], n[1], n[2], n[3], -1 }, (int32_t)tet, 0, 0 };
    if (curved_sign(s, x0, x1, tet, &sign, &where)) {
        hit->t_lo = hit->t_hi = where.t;
        return sign != ABUT_JACOBIAN_POSITIVE;
    }
    for (int k = 0; k < 4; k++) {
        memcpy(p0 + 3 * k, at(x0, n[k]), 3 * sizeof *p0);
        memcpy(p1 + 3 * k, at(x1, n[k]), 3 * sizeof *p1);
    }
    return abut_ccd_exact_inverts(p0, p1, &hit->t_lo, &hit->t_hi);
}

abut_status abut_judge_inverting(const abut_judge_shape *s, const double *x0, const double *x1, int only_injective,
                                 abut_hits *out, abut_err *err)
{
    abut_hit hit;
    abut_status rc = ABUT_OK;
    uint8_t *bad = calloc(s->tet.n + 1, 1);
    if (!bad) return abut_fail(err, ABUT_E_NOMEM, "judge: %zu tets", s->tet.n);
    #pragma omp parallel for schedule(static) private(hit) if (s->tet.n >= ABUT_PAR_MIN)
    for (size_t i = 0; i < s->tet.n; i++)
        bad[i] = (!only_injective || s->injective[i]) && inverts(s, x0, x1, i, &hit);
    for (size_t i = 0; i < s->tet.n && !rc; i++)
        if (bad[i] && inverts(s, x0, x1, i, &hit)) rc = abut_hits_add(out, &hit, err);
    free(bad);
    abut_hits_sort(out);
    return rc;
}

abut_status abut_judge_flat(const abut_judge_shape *s, const double *x, abut_hits *out, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (size_t i = 0; !rc && i < s->edge.n; i++) {
        const int32_t *const n = s->edge.node + 2 * i;
        const double *const a = at(x, n[0]), *const b = at(x, n[1]);
        const abut_hit hit = { ABUT_HIT_FLAT_EDGE, { n[0], n[1], -1, -1, -1 }, -1, 0, 0 };
        if (a[0] == b[0] && a[1] == b[1] && a[2] == b[2]) rc = abut_hits_add(out, &hit, err);
    }
    for (size_t i = 0; !rc && i < s->tri.n; i++) {
        const int32_t *const n = s->tri.node + 3 * i;
        const double *const p[3] = { at(x, n[0]), at(x, n[1]), at(x, n[2]) };
        int area = 0;
        for (int k = 0; k < 3 && !area; k++) {
            const int l = (k + 1) % 3;
            area = abut_orient2d((double[2]){ p[0][k], p[0][l] }, (double[2]){ p[1][k], p[1][l] },
                                 (double[2]){ p[2][k], p[2][l] });
        }
        const abut_hit hit = { ABUT_HIT_FLAT_TRI, { n[0], n[1], n[2], -1, -1 }, -1, 0, 0 };
        if (!area) rc = abut_hits_add(out, &hit, err);
    }
    return rc;
}

/* A side of a triangle, a < b, and the corner opposite */
typedef struct side {
    int32_t a, b, apex;
} side;

/* two triangles on the side p->a p->b; a duplicate is reported on its lowest side only */
static abut_status judge_wing(const abut_judge_shape *s, const double *x, const side *p, const side *q, abut_hits *out,
                              abut_err *err)
{
    if (s->still[p->a] && s->still[p->b] && s->still[p->apex] && s->still[q->apex]) return ABUT_OK;
    if (abut_judge_passes(s, p->a, p->b)) return ABUT_OK;
    if (p->apex == q->apex) {
        const abut_hit twice = { ABUT_HIT_DUPLICATE, { p->a, p->b, p->apex, -1, -1 }, -1, 0, 0 };
        return p->apex > p->b ? abut_hits_add(out, &twice, err) : ABUT_OK;
    }
    const double *const a = at(x, p->a), *const b = at(x, p->b), *const c = at(x, p->apex), *const d = at(x, q->apex);
    /* the touches add triangles without area, whose apex lies on the common edge */
    if (!abut_fold_over(a, b, c, d) && !abut_touch_point_tri(c, a, b, d) && !abut_touch_point_tri(d, a, b, c)) return ABUT_OK;
    const abut_hit fold = { ABUT_HIT_FOLD, { p->a, p->b, p->apex, q->apex, -1 }, -1, 0, 0 };
    return abut_hits_add(out, &fold, err);
}

abut_status abut_judge_folds(const abut_judge_shape *s, const double *x, abut_hits *out, abut_err *err)
{
    const size_t n = 3 * s->tri.n;
    side *side_of = malloc((n + 1) * sizeof *side_of);
    if (!side_of) return abut_fail(err, ABUT_E_NOMEM, "judge: %zu sides of triangles", n);
    for (size_t i = 0; i < n; i++) {
        const int32_t *const t = s->tri.node + 3 * (i / 3);
        const int32_t a = t[i % 3], b = t[(i + 1) % 3];
        side_of[i] = (side){ a < b ? a : b, a < b ? b : a, t[(i + 2) % 3] };
    }
    qsort(side_of, n, sizeof *side_of, abut_by_three);
    abut_status rc = ABUT_OK;
    for (size_t i = 0; !rc && i < n; i++)
        for (size_t j = i + 1; !rc && j < n && side_of[j].a == side_of[i].a && side_of[j].b == side_of[i].b; j++)
            rc = judge_wing(s, x, &side_of[i], &side_of[j], out, err);
    free(side_of);
    return rc;
}

/* Candidates: boxes of vertices, trees over primitives, queries that are counted and then written. */
#include "gpu/touch_parts.h"

#include "geom/broad_phase_inline.h"

#include <stdlib.h>

enum { FRESH = 32 };    /* searches after which primitives are put in order again */

/* Primitives of k vertices; name: what pairs call them, NULL: their number. */
typedef struct side {
    size_t n;
    uint32_t k;
    const int32_t *vert;    /* NULL: vertex i */
    const int32_t *name;
    abut_gpu_tree *tree;    /* NULL: they are never searched */
} side;

static int bits_of(size_t n)
{
    int b = 1;
    while (n > (size_t)1 << b) b++;
    return b;
}

/* ---- trees ---- */

static abut_status tree_order(abut_gpu_touch *c, const side *s, abut_err *err)
{
    abut_queue *q = c->q;
    const size_t nc = (size_t)c->cm->nc;
    abut_status rc = abut_buffer_need(q, &c->side, "sides", 6 * nc, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(q, &c->value, "least sides", 6, sizeof(abut_least), err);
    if (!rc) rc = abut_buffer_need(q, &c->key, "keys of a tree", s->n, sizeof(uint64_t), err);
    if (!rc) rc = abut_buffer_need(q, &s->tree->order, "order of a tree", s->n, sizeof(uint32_t), err);
    if (rc) return rc;
    const abut_sides_args sides = { ABUT_AT(c->y0, double), ABUT_AT(c->side, double), nc };
    const abut_curve_args curve = { ABUT_AT(c->y0, double), ABUT_AT(c->value, double), s->vert, s->k, ABUT_AT(c->key, uint64_t),
                                    ABUT_AT(s->tree->order, uint32_t) };
    rc = ABUT_RUN(q, vertex_sides, &sides, nc, err);
    for (size_t k = 0; k < 6 && !rc; k++)
        rc = q->on->least(q, ABUT_AT(c->side, double) + k * nc, nc, ABUT_AT(c->value, abut_least) + k, err);
    if (!rc) rc = ABUT_RUN(q, tree_curve, &curve, s->n, err);
    if (!rc) rc = q->on->sort(q, curve.key, curve.order, s->n, 42, err);
    if (!rc) s->tree->n = s->n;
    return rc;
}

/* Rows of all levels with the boxes of now. */
static abut_status tree_fit(abut_gpu_touch *c, const side *s, abut_err *err)
{
    abut_gpu_tree *t = s->tree;
    size_t rows = 0, n[ABUT_TREE_LEVELS];
    t->levels = 0;
    for (size_t k = s->n;; k = (k + ABUT_TREE_WIDE - 1) / ABUT_TREE_WIDE) {
        t->first[t->levels] = (uint32_t)rows;
        n[t->levels++] = k;
        rows += k;
        if (k == 1) break;
    }
    abut_status rc = abut_buffer_need(c->q, &t->row, "rows of a tree", rows, ABUT_TREE_ROW * sizeof(float), err);
    if (rc) return rc;
    float *row = ABUT_AT(t->row, float);
    const abut_leaf_args leaf = { ABUT_AT(c->box, float), s->vert, s->k, ABUT_AT(t->order, uint32_t), ABUT_AT(c->fixed, uint8_t),
                                  row };
    rc = ABUT_RUN(c->q, tree_leaf, &leaf, s->n, err);
    for (uint32_t l = 1; l < t->levels && !rc; l++) {
        const abut_level_args up = { row + (size_t)ABUT_TREE_ROW * t->first[l - 1], (uint32_t)n[l - 1],
                                     row + (size_t)ABUT_TREE_ROW * t->first[l] };
        rc = ABUT_RUN(c->q, tree_level, &up, n[l], err);
    }
    return rc;
}

static abut_status tree_ready(abut_gpu_touch *c, const side *s, abut_err *err)
{
    abut_status rc = ABUT_OK;
    if (s->tree->n != s->n || c->searches % FRESH == 0) rc = tree_order(c, s, err);
    return rc ? rc : tree_fit(c, s, err);
}

/* ---- queries ---- */

static abut_walk_args walk_of(const abut_gpu_touch *c, const side *a, const side *b, double reach, double rounding)
{
    const abut_gpu_tree *t = b->tree;
    abut_walk_args w = {
        .tree = { ABUT_AT(t->row, float), ABUT_AT(t->order, uint32_t), b->vert, (uint32_t)b->n, b->k, t->levels, { 0 } },
        .vert = a->vert, .order = a == b ? ABUT_AT(t->order, uint32_t) : NULL, .box = ABUT_AT(c->box, float),
        .y0 = ABUT_AT(c->y0, double), .xi = ABUT_AT(c->xi, double), .fixed = ABUT_AT(c->fixed, uint8_t),
        .passes = ABUT_AT(c->passes, uint8_t), .reach = reach,
        .rounding = rounding, .times = abut_broad_times(ABUT_BROAD_TIMES),
        .times2 = abut_broad_times2(ABUT_BROAD_TIMES), .k = a->k,
        .same = a == b, .shift = (uint32_t)bits_of(b->n), .count = ABUT_AT(c->count, uint32_t),
        .kept = ABUT_AT(c->walked, uint32_t), .n = a->n };
    for (uint32_t l = 0; l < t->levels; l++) w.tree.first[l] = t->first[l];
    return w;
}

/* Pairs of a and b into list number l. */
static abut_status pairs(abut_gpu_touch *c, const side *a, const side *b, double reach, double rounding, int l, abut_err *err)
{
    abut_queue *q = c->q;
    uint64_t total = 0;
    if (!a->n || !b->n) return ABUT_OK;
    abut_status rc = tree_ready(c, b, err);
    if (!rc) rc = abut_buffer_need(q, &c->count, "counts of pairs", a->n, sizeof(uint32_t), err);
    if (!rc) rc = abut_buffer_need(q, &c->first, "places of pairs", a->n + 1, sizeof(uint32_t), err);
    if (!rc) rc = abut_buffer_need(q, &c->walked, "first of the pairs", a->n, ABUT_WALK_KEPT * sizeof(uint32_t), err);
    if (rc) return rc;
    abut_walk_args w = walk_of(c, a, b, reach, rounding);
    rc = ABUT_RUN(q, tree_walk, &w, a->n, err);
    if (!rc) rc = q->on->scan(q, w.count, a->n, ABUT_AT(c->first, uint32_t), &total, err);
    if (rc || !total) return rc;
    if (total >= (uint64_t)1 << 31)
        return abut_fail(err, ABUT_E_NOMEM, "candidates: %llu pairs, fewer than 2^31 can be sorted here; a smaller step or dhat "
                         "brings fewer", (unsigned long long)total);
    rc = abut_buffer_need(q, &c->key, "keys of pairs", total, sizeof(uint64_t), err);
    if (!rc) rc = abut_buffer_need(q, &c->list[l], "candidates", total, 2 * sizeof(int32_t), err);
    if (rc) return rc;
    w.first = ABUT_AT(c->first, uint32_t);
    w.key = ABUT_AT(c->key, uint64_t);
    const abut_unpack_args u = { w.key, w.shift, a->name, b->name, ABUT_AT(c->list[l], int32_t) };
    rc = ABUT_RUN(q, tree_walk, &w, a->n, err);
    if (!rc) rc = q->on->sort(q, w.key, NULL, total, bits_of(a->n) + (int)w.shift, err);
    if (!rc) rc = ABUT_RUN(q, pair_unpack, &u, total, err);
    if (!rc) c->n[l] = total;
    return rc;
}

static abut_status search(abut_gpu_touch *c, double reach, double rounding, abut_err *err)
{
    const abut_collmesh *cm = c->cm;
    const int32_t *loose = ABUT_AT(c->loose, int32_t), *seg = ABUT_AT(c->seg, int32_t), *point = ABUT_AT(c->point, int32_t);
    const side v = { (size_t)cm->nc, 1, NULL, NULL, NULL }, t = { (size_t)cm->nt, 3, ABUT_AT(c->tri, int32_t), NULL, &c->of_tri },
               e = { (size_t)cm->ne, 2, ABUT_AT(c->edge, int32_t), NULL, &c->of_edge },
               o = { (size_t)cm->n_loose, 1, loose, loose, NULL },
               s = { (size_t)cm->n_seg, 2, ABUT_AT(c->seg_edge, int32_t), seg, &c->of_seg },
               p = { (size_t)cm->n_point, 1, point, point, &c->of_point };
    abut_status rc = pairs(c, &v, &t, reach, rounding, 0, err);
    if (rc) return abut_wrap(err, "vertices against triangles"), rc;
    rc = pairs(c, &e, &e, reach, rounding, 1, err);
    if (rc) return abut_wrap(err, "edges against edges"), rc;
    rc = pairs(c, &o, &s, reach, rounding, 2, err);
    if (rc) return abut_wrap(err, "vertices against edges"), rc;
    rc = pairs(c, &p, &p, reach, rounding, 3, err);
    if (rc) return abut_wrap(err, "vertices against vertices"), rc;
    if (abut_gpu_candidates_count(c) >= (size_t)1 << 31)
        return abut_fail(err, ABUT_E_NOMEM, "candidates: %zu pairs, fewer than 2^31 can be counted here; a smaller step or dhat "
                         "brings fewer", abut_gpu_candidates_count(c));
    return ABUT_OK;
}

/* ---- the motion ---- */

/* A coordinate is not finite or very large: which one, in the words of the search without a GPU. */
static abut_status check(abut_gpu_touch *c, const abut_buffer *y, abut_err *err)
{
    double *host = NULL;
    abut_status rc = abut_gpu_fetch(c, ABUT_AT(*y, double), &host, err);
    if (!rc) rc = abut_candidates_check(c->cm, host, err);
    free(host);
    return rc;
}

static abut_status motion(abut_gpu_touch *c, const double *x, const double *p, double share, double reach, double *rounding,
                          abut_err *err)
{
    abut_queue *q = c->q;
    const size_t nc = (size_t)c->cm->nc, n3 = 3 * (size_t)c->cm->model->nv;
    c->moves = p != NULL;
    abut_status rc = abut_buffer_need(q, &c->y0, "positions", 3 * nc, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(q, &c->box, "boxes", nc, ABUT_ROWS * sizeof(float), err);
    if (!rc) rc = abut_buffer_need(q, &c->size, "sizes", nc, sizeof(double), err);
    if (!rc && p) rc = abut_buffer_need(q, &c->xt, "positions", n3, sizeof(double), err);
    if (!rc && p) rc = abut_buffer_need(q, &c->y1, "positions", 3 * nc, sizeof(double), err);
    if (!rc) rc = abut_gpu_gather(c, x, ABUT_AT(c->y0, double), err);
    const abut_axpy_args step = { x, p, ABUT_AT(c->xt, double), share, NULL };
    if (!rc && p) rc = ABUT_RUN(q, axpy, &step, n3, err);
    if (!rc && p) rc = abut_gpu_gather(c, step.out, ABUT_AT(c->y1, double), err);
    const abut_boxes_args boxes = { ABUT_AT(c->y0, double), p ? ABUT_AT(c->y1, double) : NULL, ABUT_AT(c->xi, double), reach,
                                    ABUT_AT(c->box, float), ABUT_AT(c->size, double) };
    double most = 0;
    if (!rc) rc = ABUT_RUN(q, vertex_boxes, &boxes, nc, err);
    if (!rc) rc = q->on->largest(q, boxes.size, nc, ABUT_PULSE(c, size), err);
    if (!rc) rc = q->on->get(q, &most, ABUT_PULSE(c, size), sizeof most, err);
    if (!rc && !(most <= DBL_MAX / 32)) {
        rc = check(c, &c->y0, err);
        if (!rc && p) rc = check(c, &c->y1, err);
    }
    *rounding = abut_broad_rounding(most);
    return rc;
}

abut_status abut_gpu_touch_candidates(abut_gpu_touch *c, const double *x, const double *p, double share, double reach,
                                      abut_err *err)
{
    double rounding;
    for (int l = 0; l < ABUT_CANDIDATE_LISTS; l++) c->n[l] = 0;
    abut_status rc = motion(c, x, p, share, reach, &rounding, err);
    if (!rc) rc = search(c, reach, rounding, err);
    c->searches++;
    for (int l = 0; l < ABUT_CANDIDATE_LISTS && rc; l++) c->n[l] = 0;
    return rc;
}

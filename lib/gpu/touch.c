#include "gpu/touch.h"

#include "geom/broad_phase_inline.h"
#include "geom/ccd/ccd_inline.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* Numbers that the host decides by: they come in one piece. */
typedef struct abut_gpu_pulse {
    abut_least pair, plane, best;
    double size;                            /* largest coordinate */
    uint32_t n, n_plain, n_plane, pad;
} abut_gpu_pulse;

#define ABUT_PULSE(c, field) ((void *)((char *)(c)->pulse.at + offsetof(abut_gpu_pulse, field)))

/* ---- what lasts ---- */

static abut_status put_mesh(abut_gpu_touch *c, abut_err *err)
{
    const abut_collmesh *cm = c->cm;
    const size_t nc = (size_t)cm->nc, ne = (size_t)cm->ne, nt = (size_t)cm->nt, nh = (size_t)cm->model->nh;
    const size_t three = 3 * sizeof(double), word = sizeof(int32_t);
    abut_queue *q = c->q;
    abut_status rc = abut_buffer_put(q, &c->node, "nodes of collision vertices", cm->W.col, nc, word, err);
    if (!rc) rc = abut_buffer_put(q, &c->edge, "collision edges", cm->edge, ne, 2 * word, err);
    if (!rc) rc = abut_buffer_put(q, &c->tri, "collision triangles", cm->tri, nt, 3 * word, err);
    if (!rc) rc = abut_buffer_put(q, &c->rest2, "rest lengths", cm->rest2, ne, sizeof(double), err);
    if (!rc && cm->xi) rc = abut_buffer_put(q, &c->xi, "thickness", cm->xi, nc, sizeof(double), err);
    if (!rc && cm->scale.of) rc = abut_buffer_put(q, &c->scale, "sizes of bodies", cm->scale.of, nc, three, err);
    if (!rc) rc = abut_buffer_put(q, &c->loose, "loose vertices", cm->loose, (size_t)cm->n_loose, word, err);
    if (!rc) rc = abut_buffer_put(q, &c->seg, "loose edges", cm->seg, (size_t)cm->n_seg, word, err);
    if (!rc) rc = abut_buffer_put(q, &c->point, "points", cm->point, (size_t)cm->n_point, word, err);
    if (!rc && nh)
        rc = ABUT_BUFFERS(q, "half-spaces", err, { &c->hs_point, cm->model->hs_point, nh, three },
                          { &c->hs_normal, cm->model->hs_normal, nh, three });
    return rc;
}

/* Ends of the loose edges; nodes of obstacles. */
static abut_status put_made(abut_gpu_touch *c, const uint8_t *obstacle, abut_err *err)
{
    const abut_collmesh *cm = c->cm;
    int32_t *ends = malloc((2 * (size_t)cm->n_seg + 1) * sizeof *ends);
    uint8_t *drop = calloc((size_t)cm->model->nv + 1, 1);
    abut_status rc = ends && drop ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "contact: no memory for %d vertices", (int)cm->nc);
    if (!rc) {
        for (int32_t i = 0; i < cm->n_seg; i++) memcpy(ends + 2 * i, cm->edge + 2 * (size_t)cm->seg[i], 2 * sizeof *ends);
        rc = abut_buffer_put(c->q, &c->seg_edge, "loose edges", ends, (size_t)cm->n_seg, 2 * sizeof *ends, err);
    }
    if (!rc && obstacle) {
        for (int32_t v = 0; v < cm->nc; v++) drop[cm->W.col[v]] = obstacle[v];
        rc = abut_buffer_put(c->q, &c->fixed, "obstacles", obstacle, (size_t)cm->nc, 1, err);
        if (!rc) rc = abut_buffer_put(c->q, &c->drop, "obstacles", drop, (size_t)cm->model->nv, 1, err);
    }
    ABUT_FREE(ends, drop);
    return rc;
}

abut_status abut_gpu_touch_init(abut_gpu_touch *c, abut_queue *q, const abut_collmesh *cm, const uint8_t *obstacle, abut_err *err)
{
    *c = (abut_gpu_touch){ .q = q, .cm = cm };
    if (cm->nc >= 1 << 29)
        return abut_fail(err, ABUT_E_ARG, "contact: %d collision vertices, fewer than 2^29 can be sorted here", (int)cm->nc);
    abut_status rc = abut_buffer_need(q, &c->pulse, "pulse", 1, sizeof(abut_gpu_pulse), err);
    if (!rc) rc = put_mesh(c, err);
    if (!rc) rc = put_made(c, obstacle, err);
    if (rc) abut_gpu_touch_clear(c);
    return rc;
}

abut_status abut_gpu_touch_pass(abut_gpu_touch *c, const uint8_t *passes, abut_err *err)
{
    return abut_buffer_put(c->q, &c->passes, "objects that pass", passes, (size_t)c->cm->nc, 1, err);
}

abut_status abut_gpu_touch_part(abut_gpu_touch *c, abut_err *err)
{
    const double *part = c->cm->scale.part;
    return part ? abut_buffer_put(c->q, &c->part, "parts of kappa", part, (size_t)c->cm->nc, sizeof *part, err) : ABUT_OK;
}

void abut_gpu_touch_clear(abut_gpu_touch *c)
{
    ABUT_BUFFERS_CLEAR(c->q, &c->node, &c->edge, &c->tri, &c->xi, &c->scale, &c->part, &c->rest2, &c->seg_edge, &c->loose,
                       &c->seg, &c->point, &c->fixed, &c->passes, &c->drop, &c->hs_point, &c->hs_normal, &c->xt, &c->y0, &c->y1,
                       &c->box, &c->size, &c->side, &c->pulse, &c->y, &c->key, &c->order, &c->count, &c->first, &c->walked,
                       &c->value, &c->head, &c->start, &c->node_of, &c->slots, &c->blocks, &c->slot_first, &c->lag.node,
                       &c->lag.weight, &c->lag.basis, &c->lag.force, &c->lag.mu, &c->lag.above, &c->lag.blocks,
                       &c->of_tri.order, &c->of_tri.row, &c->of_edge.order, &c->of_edge.row, &c->of_seg.order, &c->of_seg.row,
                       &c->of_point.order, &c->of_point.row);
    for (int i = 0; i < 4; i++)
        ABUT_BUFFERS_CLEAR(c->q, &c->list[i], &c->motion[0][i], &c->motion[1][i], &c->raw[i]);
    *c = (abut_gpu_touch){ .q = NULL };
}

void abut_gpu_contacts_clear(abut_queue *q, abut_gpu_contacts *set)
{
    ABUT_BUFFERS_CLEAR(q, &set->kind, &set->vert, &set->mult, &set->dist2, &set->eps_x, &set->plane_vert, &set->plane,
                       &set->plane_dist, &set->plane_mult);
    *set = (abut_gpu_contacts){ .n = 0 };
}

abut_status abut_gpu_gather(abut_gpu_touch *c, const double *x, double *y, abut_err *err)
{
    const abut_pick_args a = { ABUT_AT(c->node, int32_t), x, y };
    return ABUT_RUN(c->q, pick, &a, (size_t)c->cm->nc, err);
}

abut_pair_scale abut_gpu_scale(const abut_gpu_touch *c)
{
    abut_pair_scale s = c->cm->scale;
    if (s.of) s.of = ABUT_AT(c->scale, double);
    else s.dhat = c->cm->model->dhat[0];
    if (s.part) s.part = ABUT_AT(c->part, double);
    return s;
}

/* All candidates as one list. */
static abut_near_view near_of(const abut_gpu_touch *c)
{
    abut_near_view v = { .edge = ABUT_AT(c->edge, int32_t), .tri = ABUT_AT(c->tri, int32_t), .xi = ABUT_AT(c->xi, double) };
    size_t end = 0;
    for (int l = 0; l < ABUT_CANDIDATE_LISTS; l++) {
        v.ij[l] = ABUT_AT(c->list[l], int32_t);
        v.end[l] = (uint32_t)(end += c->n[l]);
    }
    return v;
}

/* Candidate k of all: its kind and its two primitives. */
static abut_status candidate(abut_gpu_touch *c, size_t k, abut_stencil *s, int32_t ij[2], abut_err *err)
{
    int l = 0;
    for (; l + 1 < ABUT_CANDIDATE_LISTS && k >= c->n[l]; l++) k -= c->n[l];
    *s = abut_candidates_kind(l);
    return c->q->on->get(c->q, ij, ABUT_AT(c->list[l], int32_t) + 2 * k, 2 * sizeof *ij, err);
}

/* A copy of y[3 nc] for the host, malloc'ed. */
static abut_status fetch(abut_gpu_touch *c, const double *y, double **host, abut_err *err)
{
    const size_t n3 = 3 * (size_t)c->cm->nc;
    *host = malloc(n3 * sizeof **host + 1);
    if (!*host) return abut_fail(err, ABUT_E_NOMEM, "contact: no memory for %zu coordinates", n3);
    return c->q->on->get(c->q, *host, y, n3 * sizeof **host, err);
}

/* ---- candidates: trees over primitives, queries that are counted and then written ---- */

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
static abut_status list_pairs(abut_gpu_touch *c, const side *a, const side *b, double reach, double rounding, int l,
                              abut_err *err)
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
    abut_status rc = list_pairs(c, &v, &t, reach, rounding, 0, err);
    if (rc) return abut_wrap(err, "vertices against triangles"), rc;
    rc = list_pairs(c, &e, &e, reach, rounding, 1, err);
    if (rc) return abut_wrap(err, "edges against edges"), rc;
    rc = list_pairs(c, &o, &s, reach, rounding, 2, err);
    if (rc) return abut_wrap(err, "vertices against edges"), rc;
    rc = list_pairs(c, &p, &p, reach, rounding, 3, err);
    if (rc) return abut_wrap(err, "vertices against vertices"), rc;
    if (abut_gpu_candidates_count(c) >= (size_t)1 << 31)
        return abut_fail(err, ABUT_E_NOMEM, "candidates: %zu pairs, fewer than 2^31 can be counted here; a smaller step or dhat "
                         "brings fewer", abut_gpu_candidates_count(c));
    return ABUT_OK;
}

/* A coordinate is not finite or very large: which one, in the words of the search without a GPU. */
static abut_status check_motion(abut_gpu_touch *c, const abut_buffer *y, abut_err *err)
{
    double *host = NULL;
    abut_status rc = fetch(c, ABUT_AT(*y, double), &host, err);
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
    if (!rc && p)
        rc = ABUT_BUFFERS(q, "positions", err, { &c->xt, NULL, n3, sizeof(double) }, { &c->y1, NULL, 3 * nc, sizeof(double) });
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
        rc = check_motion(c, &c->y0, err);
        if (!rc && p) rc = check_motion(c, &c->y1, err);
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

/* ---- step bounds: CCD of the candidates, half-spaces ---- */

static abut_status motions_need(abut_gpu_touch *c, int which, size_t m, abut_motions_view *v, abut_err *err)
{
    abut_buffer *b = c->motion[which];
    abut_status rc = abut_buffer_need(c->q, &b[0], "open motions", m, sizeof(uint32_t), err);
    for (int k = 1; k < 4 && !rc; k++) rc = abut_buffer_need(c->q, &b[k], "open motions", m, sizeof(double), err);
    *v = (abut_motions_view){ ABUT_AT(b[0], uint32_t), ABUT_AT(b[1], double), ABUT_AT(b[2], double), ABUT_AT(b[3], double) };
    return rc;
}

/* m open pairs in motion[0]: rounds of ever more steps, after each of which those that have ended are left out. */
static abut_status rounds(abut_gpu_touch *c, abut_steps_args *a, uint64_t m, size_t n, abut_err *err)
{
    abut_queue *q = c->q;
    int taken = 0, from = 0;
    abut_status rc = ABUT_OK;
    for (a->steps = 4; !rc && m; a->steps *= 4) {
        if (a->steps > ABUT_CCD_STEPS - taken) a->steps = ABUT_CCD_STEPS - taken;
        taken += a->steps;
        a->last = taken == ABUT_CCD_STEPS;
        rc = q->on->least(q, a->toi, n, ABUT_PULSE(c, best), err);
        if (!rc) rc = ABUT_RUN(q, ccd_steps, a, m, err);
        uint64_t left = 0;
        if (!rc && !a->last) rc = q->on->scan(q, a->open, m, ABUT_AT(c->first, uint32_t), &left, err);
        if (!rc && left) rc = motions_need(c, !from, left, &a->to, err);
        if (!rc && left) rc = ABUT_RUN(q, ccd_keep, a, m, err);
        a->from = a->to;
        from = !from;
        m = left;
    }
    return rc;
}

/* toi of all n candidates. */
static abut_status candidate_times(abut_gpu_touch *c, size_t n, double slack, double t_max, abut_err *err)
{
    abut_queue *q = c->q;
    const double *y0 = ABUT_AT(c->y0, double), *y1 = c->moves ? ABUT_AT(c->y1, double) : y0;
    uint64_t m = 0;
    abut_status rc = abut_buffer_need(q, &c->value, "times of candidates", n, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(q, &c->count, "open candidates", n, sizeof(uint32_t), err);
    if (!rc) rc = abut_buffer_need(q, &c->first, "open candidates", n + 1, sizeof(uint32_t), err);
    if (rc) return rc;
    abut_ccd_args a = { .near = near_of(c), .y0 = y0, .y1 = y1, .slack = slack, .t_max = t_max,
                        .toi = ABUT_AT(c->value, double), .open = ABUT_AT(c->count, uint32_t),
                        .first = ABUT_AT(c->first, uint32_t) };
    rc = ABUT_RUN(q, ccd_first, &a, n, err);
    if (!rc) rc = q->on->scan(q, a.open, n, ABUT_AT(c->first, uint32_t), &m, err);
    if (!rc && m) rc = motions_need(c, 0, m, &a.to, err);
    if (!rc && m) rc = ABUT_RUN(q, ccd_enter, &a, n, err);
    abut_steps_args s = { .near = a.near, .y0 = y0, .y1 = y1, .t_max = t_max, .best = ABUT_PULSE(c, best), .from = a.to,
                          .toi = a.toi, .open = a.open, .first = a.first };
    return rc || !m ? rc : rounds(c, &s, m, n, err);
}

static abut_status too_close(abut_gpu_touch *c, abut_stencil s, const int32_t ij[2], abut_err *err)
{
    double *y = NULL;
    abut_status rc = fetch(c, ABUT_AT(c->y0, double), &y, err);
    if (!rc) rc = abut_limit_too_close(c->cm, s, ij, y, err);
    free(y);
    return rc;
}

abut_status abut_gpu_touch_ccd(abut_gpu_touch *c, double slack, abut_limit *lim, abut_err *err)
{
    const size_t n = abut_gpu_candidates_count(c);
    abut_least least = { 0 };
    abut_stencil s;
    int32_t ij[2];
    if (!n) return ABUT_OK;
    abut_status rc = candidate_times(c, n, slack, lim->alpha, err);
    if (!rc) rc = abut_least_get(c->q, ABUT_AT(c->value, double), n, ABUT_PULSE(c, best), &least, err);
    if (rc || !(least.value < lim->alpha)) return rc;
    rc = candidate(c, least.number, &s, ij, err);
    if (rc) return rc;
    if (least.value < 0) return too_close(c, s, ij, err);
    *lim = abut_limit_by_pair(c->cm, s, ij, least.value);
    return ABUT_OK;
}

abut_status abut_gpu_touch_planes(abut_gpu_touch *c, const double *x, const double *p, double slack, abut_limit *lim,
                                  abut_err *err)
{
    abut_queue *q = c->q;
    const size_t nc = (size_t)c->cm->nc, nh = (size_t)c->cm->model->nh, n3 = 3 * (size_t)c->cm->model->nv;
    abut_least least = { 0 };
    if (!nh || !nc) return ABUT_OK;
    abut_status rc = ABUT_BUFFERS(q, "positions", err, { &c->xt, NULL, n3, sizeof(double) },
                                  { &c->y, NULL, 3 * nc, sizeof(double) });
    if (!rc) rc = abut_buffer_need(q, &c->side, "sides", 6 * nc, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(q, &c->value, "bounds of vertices", nc * nh, sizeof(double), err);
    if (rc) return rc;
    const abut_axpy_args step = { x, p, ABUT_AT(c->xt, double), 1, NULL };
    const abut_plane_bound_args a = { ABUT_AT(c->y, double), ABUT_AT(c->side, double), ABUT_AT(c->xi, double),
                                      ABUT_AT(c->fixed, uint8_t), ABUT_AT(c->hs_point, double), ABUT_AT(c->hs_normal, double),
                                      (uint32_t)nh, slack, ABUT_AT(c->value, double) };
    rc = ABUT_RUN(q, axpy, &step, n3, err);
    if (!rc) rc = abut_gpu_gather(c, x, ABUT_AT(c->y, double), err);
    if (!rc) rc = abut_gpu_gather(c, step.out, ABUT_AT(c->side, double), err);
    if (!rc) rc = ABUT_RUN(q, plane_bound, &a, nc * nh, err);
    if (!rc) rc = abut_least_get(q, a.bound, nc * nh, ABUT_PULSE(c, best), &least, err);
    if (rc || !(least.value < lim->alpha)) return rc;
    const int32_t v = c->cm->W.col[least.number / nh], h = (int32_t)(least.number % nh);
    *lim = (abut_limit){ least.value, ABUT_LIMIT_PLANE, { v, h, -1, -1 }, -1, NULL };
    return ABUT_OK;
}

/* ---- contacts: hits are counted, written, sorted by what they are, and equal ones merged ---- */

enum { CLASS_BITS = 3 };

static abut_status set_need(abut_gpu_touch *c, abut_gpu_contacts *s, size_t m, abut_err *err)
{
    return ABUT_BUFFERS(c->q, "contacts", err, { &s->kind, NULL, m, sizeof(uint8_t) }, { &s->vert, NULL, m, 4 * sizeof(int32_t) },
                        { &s->mult, NULL, m, sizeof(double) }, { &s->dist2, NULL, m, sizeof(double) },
                        { &s->eps_x, NULL, m, sizeof(double) });
}

static abut_status raw_need(abut_gpu_touch *c, size_t m, abut_raw_view *v, abut_err *err)
{
    abut_queue *q = c->q;
    abut_status rc = ABUT_BUFFERS(q, "contacts before merging", err, { &c->raw[0], NULL, m, 4 * sizeof(int32_t) },
                                  { &c->raw[1], NULL, m, sizeof(uint32_t) }, { &c->raw[2], NULL, m, sizeof(double) },
                                  { &c->raw[3], NULL, m, sizeof(double) });
    if (!rc) rc = abut_buffer_need(q, &c->key, "keys of contacts", m, sizeof(uint64_t), err);
    if (!rc) rc = abut_buffer_need(q, &c->order, "order of contacts", m, sizeof(uint32_t), err);
    if (!rc)
        rc = ABUT_BUFFERS(q, "contacts before merging", err, { &c->head, NULL, m, sizeof(uint32_t) },
                          { &c->start, NULL, m, sizeof(uint32_t) });
    *v = (abut_raw_view){ ABUT_AT(c->raw[0], int32_t), ABUT_AT(c->raw[1], uint32_t), ABUT_AT(c->raw[2], double),
                          ABUT_AT(c->raw[3], double) };
    return rc;
}

static abut_merge_args merge_of(abut_gpu_touch *c, const abut_gpu_contacts *s, abut_raw_view raw, size_t m, int bits)
{
    return (abut_merge_args){
        .raw = raw, .order = ABUT_AT(c->order, uint32_t), .key = ABUT_AT(c->key, uint64_t), .bits = (uint32_t)bits,
        .m = (uint32_t)m,
        .head = ABUT_AT(c->head, uint32_t), .first = ABUT_AT(c->first, uint32_t), .start = ABUT_AT(c->start, uint32_t),
        .scale = abut_gpu_scale(c), .xi = ABUT_AT(c->xi, double),
        .kind = ABUT_AT(s->kind, uint8_t), .vert = ABUT_AT(s->vert, int32_t), .mult = ABUT_AT(s->mult, double),
        .dist2 = ABUT_AT(s->dist2, double), .eps_x = ABUT_AT(s->eps_x, double), .n_plain = ABUT_PULSE(c, n_plain) };
}

/* m hits: sorted by (class, vertices) in two stable halves; the number of heads comes in the pulse. */
static abut_status merge(abut_gpu_touch *c, const abut_contact_args *a, abut_gpu_contacts *s, size_t n, size_t m, abut_err *err)
{
    abut_queue *q = c->q;
    abut_contact_args raw = *a;
    abut_status rc = raw_need(c, m, &raw.raw, err);
    if (!rc) rc = set_need(c, s, m, err);
    if (rc) return rc;
    raw.key = ABUT_AT(c->key, uint64_t);
    raw.order = ABUT_AT(c->order, uint32_t);
    raw.first = ABUT_AT(c->first, uint32_t);
    const abut_merge_args g = merge_of(c, s, raw.raw, m, (int)a->bits);
    rc = ABUT_RUN(q, contact_raw, &raw, n, err);
    if (!rc) rc = q->on->sort(q, raw.key, raw.order, m, 2 * (int)a->bits, err);
    if (!rc) rc = ABUT_RUN(q, contact_key, &g, m, err);
    if (!rc) rc = q->on->sort(q, raw.key, raw.order, m, 2 * (int)a->bits + CLASS_BITS, err);
    if (!rc) rc = ABUT_RUN(q, contact_head, &g, m, err);
    if (!rc) rc = q->on->scan(q, g.head, m, ABUT_AT(c->first, uint32_t), NULL, err);
    if (!rc) rc = ABUT_RUN(q, contact_start, &g, m, err);
    if (!rc) rc = ABUT_RUN(q, contact_write, &g, m, err);
    if (!rc) rc = q->on->copy(q, ABUT_PULSE(c, n), g.first + m, sizeof(uint32_t), err);
    return rc;
}

static abut_status find_pairs(abut_gpu_touch *c, const double *y, abut_gpu_contacts *s, size_t *hits, abut_err *err)
{
    abut_queue *q = c->q;
    const size_t n = abut_gpu_candidates_count(c);
    uint64_t m = 0;
    *hits = 0;
    if (!n) return ABUT_OK;
    abut_status rc = abut_buffer_need(q, &c->count, "candidates that touch", n, sizeof(uint32_t), err);
    if (!rc) rc = abut_buffer_need(q, &c->first, "candidates that touch", n + 1, sizeof(uint32_t), err);
    if (!rc) rc = abut_buffer_need(q, &c->value, "gaps", n, sizeof(double), err);
    if (rc) return rc;
    abut_contact_args a = { .near = near_of(c), .y = y, .rest2 = ABUT_AT(c->rest2, double), .scale = abut_gpu_scale(c),
                            .hit = ABUT_AT(c->count, uint32_t), .gap = ABUT_AT(c->value, double), .bits = 1 };
    while ((int64_t)1 << a.bits <= c->cm->nc) a.bits++;
    rc = ABUT_RUN(q, contact_classify, &a, n, err);
    if (!rc) rc = q->on->least(q, a.gap, n, ABUT_PULSE(c, pair), err);
    if (!rc) rc = q->on->scan(q, a.hit, n, ABUT_AT(c->first, uint32_t), &m, err);
    *hits = m;
    return rc || !m ? rc : merge(c, &a, s, n, m, err);
}

static abut_status find_planes(abut_gpu_touch *c, const double *y, abut_gpu_contacts *s, abut_err *err)
{
    abut_queue *q = c->q;
    const size_t nh = (size_t)c->cm->model->nh, n = nh * (size_t)c->cm->nc;
    if (!n) return ABUT_OK;
    abut_status rc = abut_buffer_need(q, &c->count, "vertices that touch", n, sizeof(uint32_t), err);
    if (!rc) rc = abut_buffer_need(q, &c->first, "vertices that touch", n + 1, sizeof(uint32_t), err);
    if (!rc) rc = abut_buffer_need(q, &c->value, "heights", n, sizeof(double), err);
    if (!rc)
        rc = ABUT_BUFFERS(q, "half-space contacts", err, { &s->plane_vert, NULL, n, sizeof(int32_t) },
                          { &s->plane, NULL, n, sizeof(int32_t) }, { &s->plane_dist, NULL, n, sizeof(double) },
                          { &s->plane_mult, NULL, n, sizeof(double) });
    if (rc) return rc;
    const abut_plane_args a = { y, ABUT_AT(c->xi, double), ABUT_AT(c->fixed, uint8_t), ABUT_AT(c->hs_point, double),
                                ABUT_AT(c->hs_normal, double), (uint32_t)nh, abut_gpu_scale(c), ABUT_AT(c->count, uint32_t),
                                ABUT_AT(c->value, double), ABUT_AT(c->first, uint32_t), ABUT_AT(s->plane_vert, int32_t),
                                ABUT_AT(s->plane, int32_t), ABUT_AT(s->plane_dist, double), ABUT_AT(s->plane_mult, double) };
    rc = ABUT_RUN(q, plane_classify, &a, n, err);
    if (!rc) rc = q->on->least(q, a.gap, n, ABUT_PULSE(c, plane), err);
    if (!rc) rc = q->on->scan(q, a.hit, n, ABUT_AT(c->first, uint32_t), NULL, err);
    if (!rc) rc = ABUT_RUN(q, plane_write, &a, n, err);
    if (!rc) rc = q->on->copy(q, ABUT_PULSE(c, n_plane), a.first + n, sizeof(uint32_t), err);
    return rc;
}

/* The failures, in the words of the search without a GPU. */
static abut_status pair_touches(abut_gpu_touch *c, const double *y, size_t k, abut_err *err)
{
    abut_stencil s;
    int32_t ij[2];
    const abut_status rc = candidate(c, k, &s, ij, err);
    return rc ? rc : abut_pairs_too_close(c->cm, s, ij, y, err);
}

static abut_status plane_touches(const abut_gpu_touch *c, const double *y, size_t k, abut_err *err)
{
    const abut_model *m = c->cm->model;
    const size_t v = k / (size_t)m->nh, h = k % (size_t)m->nh;
    const double *o = m->hs_point + 3 * h, *n = m->hs_normal + 3 * h, *p = y + 3 * v;
    return abut_pairs_plane_too_close(c->cm, (int32_t)v, (int32_t)h,
                                     n[0] * (p[0] - o[0]) + n[1] * (p[1] - o[1]) + n[2] * (p[2] - o[2]), err);
}

static abut_status fails(abut_gpu_touch *c, const abut_gpu_pulse *p, const double *on_machine, abut_err *err)
{
    double *y = NULL;
    abut_status rc = fetch(c, on_machine, &y, err);
    if (!rc) rc = abut_pairs_check(c->cm, y, err);
    if (!rc && p->pair.value < 0) rc = pair_touches(c, y, p->pair.number, err);
    if (!rc && p->plane.value < 0) rc = plane_touches(c, y, p->plane.number, err);
    free(y);
    return rc;
}

abut_status abut_gpu_touch_find(abut_gpu_touch *c, const double *x, abut_gpu_contacts *set, abut_err *err)
{
    abut_queue *q = c->q;
    const size_t nc = (size_t)c->cm->nc;
    const abut_gpu_pulse none = { .pair = { INFINITY, UINT64_MAX }, .plane = { INFINITY, UINT64_MAX }, .n_plain = UINT32_MAX };
    abut_gpu_pulse p = none;
    size_t hits = 0;
    set->n = set->n_plain = set->n_plane = 0;
    set->smallest_gap = INFINITY;
    abut_status rc = abut_buffer_need(q, &c->y, "positions", 3 * nc, sizeof(double), err);
    if (rc) return rc;
    double *y = ABUT_AT(c->y, double);
    rc = abut_gpu_gather(c, x, y, err);
    if (!rc) rc = q->on->put(q, c->pulse.at, &none, sizeof none, err);
    if (!rc) rc = q->on->largest(q, y, 3 * nc, ABUT_PULSE(c, size), err);
    if (!rc) rc = find_pairs(c, y, set, &hits, err);
    if (!rc) rc = find_planes(c, y, set, err);
    if (!rc) rc = q->on->get(q, &p, c->pulse.at, sizeof p, err);
    if (!rc && (!(p.size <= DBL_MAX) || p.pair.value < 0 || p.plane.value < 0)) rc = fails(c, &p, y, err);
    if (rc) return rc;
    set->n = p.n;
    set->n_plain = p.n_plain < p.n ? p.n_plain : p.n;
    set->n_plane = p.n_plane;
    set->smallest_gap = p.pair.value < p.plane.value ? p.pair.value : p.plane.value;
    return ABUT_OK;
}

abut_status abut_gpu_contacts_get(abut_queue *q, const abut_gpu_contacts *set, abut_pairs *out, abut_err *err)
{
    const size_t n = set->n, m = set->n_plane;
    abut_status rc = abut_pairs_reserve(out, n, m, err);
    if (rc) return rc;
    const struct {
        void *to;
        const abut_buffer *from;
        size_t bytes;
    } all[] = { { out->kind, &set->kind, n * sizeof *out->kind },
                { out->vert, &set->vert, n * sizeof *out->vert },
                { out->mult, &set->mult, n * sizeof *out->mult },
                { out->dist2, &set->dist2, n * sizeof *out->dist2 },
                { out->eps_x, &set->eps_x, n * sizeof *out->eps_x },
                { out->plane_vert, &set->plane_vert, m * sizeof *out->plane_vert },
                { out->plane, &set->plane, m * sizeof *out->plane },
                { out->plane_dist, &set->plane_dist, m * sizeof *out->plane_dist },
                { out->plane_mult, &set->plane_mult, m * sizeof *out->plane_mult } };
    for (size_t i = 0; i < sizeof all / sizeof *all && !rc; i++)
        if (all[i].bytes) rc = q->on->get(q, all[i].to, all[i].from->at, all[i].bytes, err);
    if (rc) return rc;
    out->n = n;
    out->n_plain = set->n_plain;
    out->n_plane = m;
    return ABUT_OK;
}

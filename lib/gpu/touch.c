#include "gpu/touch_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- what lasts ---- */

static abut_status put(abut_gpu_touch *c, abut_buffer *b, const char *name, const void *host, size_t n, size_t size,
                       abut_err *err)
{
    return abut_buffer_put(c->q, b, name, host, n, size, err);
}

static abut_status put_mesh(abut_gpu_touch *c, abut_err *err)
{
    const abut_collmesh *cm = c->cm;
    const size_t nc = (size_t)cm->nc, ne = (size_t)cm->ne, nt = (size_t)cm->nt, nh = (size_t)cm->model->nh;
    abut_status rc = put(c, &c->node, "nodes of collision vertices", cm->W.col, nc, sizeof(int32_t), err);
    if (!rc) rc = put(c, &c->edge, "collision edges", cm->edge, ne, 2 * sizeof(int32_t), err);
    if (!rc) rc = put(c, &c->tri, "collision triangles", cm->tri, nt, 3 * sizeof(int32_t), err);
    if (!rc) rc = put(c, &c->rest2, "rest lengths", cm->rest2, ne, sizeof(double), err);
    if (!rc && cm->xi) rc = put(c, &c->xi, "thickness", cm->xi, nc, sizeof(double), err);
    if (!rc && cm->scale.of) rc = put(c, &c->scale, "sizes of bodies", cm->scale.of, nc, 3 * sizeof(double), err);
    if (!rc) rc = put(c, &c->loose, "loose vertices", cm->loose, (size_t)cm->n_loose, sizeof(int32_t), err);
    if (!rc) rc = put(c, &c->seg, "loose edges", cm->seg, (size_t)cm->n_seg, sizeof(int32_t), err);
    if (!rc) rc = put(c, &c->point, "points", cm->point, (size_t)cm->n_point, sizeof(int32_t), err);
    if (!rc && nh) rc = put(c, &c->hs_point, "half-spaces", cm->model->hs_point, nh, 3 * sizeof(double), err);
    if (!rc && nh) rc = put(c, &c->hs_normal, "half-spaces", cm->model->hs_normal, nh, 3 * sizeof(double), err);
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
        rc = put(c, &c->seg_edge, "loose edges", ends, (size_t)cm->n_seg, 2 * sizeof *ends, err);
    }
    if (!rc && obstacle) {
        for (int32_t v = 0; v < cm->nc; v++) drop[cm->W.col[v]] = obstacle[v];
        rc = put(c, &c->fixed, "obstacles", obstacle, (size_t)cm->nc, 1, err);
        if (!rc) rc = put(c, &c->drop, "obstacles", drop, (size_t)cm->model->nv, 1, err);
    }
    free(ends);
    free(drop);
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
    return put(c, &c->passes, "objects that pass", passes, (size_t)c->cm->nc, 1, err);
}

static void tree_clear(abut_gpu_touch *c, abut_gpu_tree *t)
{
    abut_buffer_clear(c->q, &t->order);
    abut_buffer_clear(c->q, &t->row);
}

void abut_gpu_touch_clear(abut_gpu_touch *c)
{
    abut_buffer *all[] = { &c->node, &c->edge, &c->tri, &c->xi, &c->scale, &c->rest2, &c->seg_edge, &c->loose, &c->seg, &c->point,
                           &c->fixed, &c->passes, &c->drop, &c->hs_point, &c->hs_normal, &c->xt, &c->y0, &c->y1, &c->box,
                           &c->size, &c->side, &c->pulse, &c->y, &c->key, &c->order, &c->count, &c->first, &c->walked, &c->value,
                           &c->head, &c->start, &c->node_of, &c->slots, &c->blocks, &c->slot_first, &c->lag.node,
                           &c->lag.weight, &c->lag.basis, &c->lag.force, &c->lag.mu, &c->lag.above, &c->lag.blocks };
    if (!c->q) return;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) abut_buffer_clear(c->q, all[i]);
    for (int i = 0; i < ABUT_CANDIDATE_LISTS; i++) abut_buffer_clear(c->q, &c->list[i]);
    for (int i = 0; i < 4; i++) {
        abut_buffer_clear(c->q, &c->motion[0][i]);
        abut_buffer_clear(c->q, &c->motion[1][i]);
        abut_buffer_clear(c->q, &c->raw[i]);
    }
    tree_clear(c, &c->of_tri);
    tree_clear(c, &c->of_edge);
    tree_clear(c, &c->of_seg);
    tree_clear(c, &c->of_point);
    *c = (abut_gpu_touch){ .q = NULL };
}

void abut_gpu_contacts_clear(abut_queue *q, abut_gpu_contacts *set)
{
    abut_buffer *all[] = { &set->kind, &set->vert, &set->mult, &set->dist2, &set->eps_x, &set->plane_vert, &set->plane,
                           &set->plane_dist, &set->plane_mult };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) abut_buffer_clear(q, all[i]);
    *set = (abut_gpu_contacts){ .n = 0 };
}

/* ---- shared ---- */

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
    return s;
}

abut_near_view abut_gpu_near(const abut_gpu_touch *c)
{
    abut_near_view v = { .edge = ABUT_AT(c->edge, int32_t), .tri = ABUT_AT(c->tri, int32_t), .xi = ABUT_AT(c->xi, double) };
    size_t end = 0;
    for (int l = 0; l < ABUT_CANDIDATE_LISTS; l++) {
        v.ij[l] = ABUT_AT(c->list[l], int32_t);
        v.end[l] = (uint32_t)(end += c->n[l]);
    }
    return v;
}

abut_status abut_gpu_candidate(abut_gpu_touch *c, size_t k, abut_stencil *s, int32_t ij[2], abut_err *err)
{
    int l = 0;
    for (; l + 1 < ABUT_CANDIDATE_LISTS && k >= c->n[l]; l++) k -= c->n[l];
    *s = abut_candidates_kind(l);
    return c->q->on->get(c->q, ij, ABUT_AT(c->list[l], int32_t) + 2 * k, 2 * sizeof *ij, err);
}

abut_status abut_gpu_fetch(abut_gpu_touch *c, const double *y, double **host, abut_err *err)
{
    const size_t n3 = 3 * (size_t)c->cm->nc;
    *host = malloc(n3 * sizeof **host + 1);
    if (!*host) return abut_fail(err, ABUT_E_NOMEM, "contact: no memory for %zu coordinates", n3);
    return c->q->on->get(c->q, *host, y, n3 * sizeof **host, err);
}

abut_status abut_gpu_pulse_get(abut_gpu_touch *c, abut_gpu_pulse *p, abut_err *err)
{
    return c->q->on->get(c->q, p, c->pulse.at, sizeof *p, err);
}

#include "contact/collision_mesh.h"

#include "contact/area.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static abut_status no_memory(const abut_model *m, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "collision mesh: no memory for %d vertices, %d edges", m->nc, m->nce);
}

/* Squared lengths of the edges of the collision mesh at rest. */
static abut_status rest_lengths(abut_collmesh *cm, abut_err *err)
{
    const abut_model *m = cm->model;
    double *Y = malloc((3 * (size_t)cm->nc + 1) * sizeof *Y);
    cm->rest2 = calloc((size_t)cm->ne + 1, sizeof *cm->rest2);
    if (Y && cm->rest2) abut_collmesh_positions(cm, m->X, Y);
    for (size_t e = 0; e < (Y && cm->rest2 ? (size_t)cm->ne : 0); e++) {
        const double *a = Y + 3 * (size_t)cm->edge[2 * e], *b = Y + 3 * (size_t)cm->edge[2 * e + 1];
        for (int d = 0; d < 3; d++) cm->rest2[e] += (b[d] - a[d]) * (b[d] - a[d]);
    }
    const abut_status rc = Y && cm->rest2 ? ABUT_OK : no_memory(m, err);
    free(Y);
    return rc;
}

/* Marks the edges that are sides of triangles.  Sides are kept by their lower vertex: side[first[a] .. first[a + 1]) holds
 * the upper ones. */
static abut_status mark_sides(const abut_collmesh *cm, uint8_t *is_side, abut_err *err)
{
    const size_t n = 3 * (size_t)cm->nt;
    size_t *first = calloc((size_t)cm->nc + 2, sizeof *first);
    int32_t *upper = malloc((n + 1) * sizeof *upper);
    const abut_status rc = first && upper ? ABUT_OK : no_memory(cm->model, err);
    for (int fill = 0; fill < (rc ? 0 : 2); fill++) {
        for (size_t i = 0; i < n; i++) {
            const int32_t p = cm->tri[i], q = cm->tri[i % 3 == 2 ? i - 2 : i + 1], low = p < q ? p : q;
            if (fill) upper[first[low + 1]++] = p < q ? q : p;
            else first[low + 2]++;
        }
        for (size_t v = 0; v < (fill ? 0 : (size_t)cm->nc); v++) first[v + 2] += first[v + 1];
    }
    for (size_t e = 0; e < (rc ? 0 : (size_t)cm->ne); e++) {
        const int32_t p = cm->edge[2 * e], q = cm->edge[2 * e + 1], low = p < q ? p : q;
        for (size_t k = first[low]; k < first[low + 1] && !is_side[e]; k++) is_side[e] = upper[k] == (p < q ? q : p);
    }
    ABUT_FREE(first, upper);
    return rc;
}

/* Rows 0 .. n - 1 that are not flagged, ascending; NULL when memory is out. */
static int32_t *without(const uint8_t *flag, int32_t n, int32_t *count)
{
    *count = 0;
    for (int32_t i = 0; i < n; i++) *count += !flag[i];
    int32_t *list = malloc(((size_t)*count + 1) * sizeof *list);
    for (int32_t i = 0, k = 0; i < n && list; i++)
        if (!flag[i]) list[k++] = i;
    return list;
}

static abut_status lower_dimensions(abut_collmesh *cm, abut_err *err)
{
    uint8_t *side = calloc((size_t)cm->ne + 1, 1), *used = calloc((size_t)cm->nc + 1, 1);
    abut_status rc = side && used ? mark_sides(cm, side, err) : no_memory(cm->model, err);
    if (!rc) {
        for (size_t i = 0; i < 3 * (size_t)cm->nt; i++) used[cm->tri[i]] = 1;
        cm->loose = without(used, cm->nc, &cm->n_loose);
        cm->seg = without(side, cm->ne, &cm->n_seg);
        for (size_t i = 0; i < 2 * (size_t)cm->ne; i++) used[cm->edge[i]] = 1;
        cm->point = without(used, cm->nc, &cm->n_point);
        if (!cm->loose || !cm->seg || !cm->point) rc = no_memory(cm->model, err);
    }
    ABUT_FREE(side, used);
    return rc;
}

static abut_status thickness(abut_collmesh *cm, abut_err *err)
{
    const abut_model *m = cm->model;
    int any = 0;
    for (int32_t o = 0; o < m->no && m->obj_thick; o++) any |= m->obj_thick[o] > 0;
    if (!any) return ABUT_OK;
    cm->xi = malloc(((size_t)cm->nc + 1) * sizeof *cm->xi);
    if (!cm->xi) return no_memory(m, err);
    for (int32_t v = 0; v < cm->nc; v++) cm->xi[v] = m->obj_thick[abut_collmesh_object(cm, v)];
    return ABUT_OK;
}

/* dhat, length and mean nodal mass of an object; the last two 0 where all are alike. */
static void scale_of(const abut_model *m, int32_t o, double of[3])
{
    of[0] = m->dhat[0] * (m->obj_dhat ? m->obj_dhat[o] : 1);
    of[1] = m->obj_length ? m->obj_length[o] : 0;
    of[2] = m->obj_node_mass ? m->obj_node_mass[o] : 0;
}

/* The least of all bodies, and the largest. */
static void bounds_of_bodies(const abut_model *m, double least[3], double most[3])
{
    for (int k = 0; k < 3; k++) least[k] = INFINITY, most[k] = 0;
    for (int32_t o = 0; o < m->no; o++) {
        double of[3];
        scale_of(m, o, of);
        for (int k = 0; k < 3; k++) {
            most[k] = fmax(most[k], of[k]);
            if (!m->obj_length || m->obj_length[o] > 0) least[k] = fmin(least[k], of[k]);
        }
    }
}

double abut_least_dhat(const abut_model *m)
{
    double least[3], most[3];
    if (!m->obj_dhat) return m->dhat[0];
    bounds_of_bodies(m, least, most);
    return fmin(least[0], m->dhat[0]);
}

static abut_status scales(abut_collmesh *cm, abut_err *err)
{
    const abut_model *m = cm->model;
    double least[3], most[3];
    if (!m->obj_length && !m->obj_dhat) return ABUT_OK;
    bounds_of_bodies(m, least, most);
    cm->scale = (abut_pair_scale){ NULL, fmin(least[0], m->dhat[0]), least[1], least[2], NULL };
    if (!(most[0] > least[0] || most[1] > least[1] || most[2] > least[2])) return ABUT_OK;
    cm->scale.of = cm->body_scale = malloc(3 * ((size_t)cm->nc + 1) * sizeof *cm->body_scale);
    if (!cm->body_scale) return no_memory(m, err);
    for (int32_t v = 0; v < cm->nc; v++) {
        const int32_t o = abut_collmesh_object(cm, v);
        double *of = cm->body_scale + 3 * (size_t)v;
        scale_of(m, o, of);
        if (m->obj_length && !(m->obj_length[o] > 0)) of[1] = most[1];
    }
    return ABUT_OK;
}

abut_status abut_collmesh_part(abut_collmesh *cm, const double *part, abut_err *err)
{
    int32_t o = 0;
    while (part && o < cm->model->no && part[o] == 1) o++;
    cm->scale.part = NULL;
    if (!part || o == cm->model->no) return ABUT_OK;
    if (!cm->body_part) cm->body_part = malloc(((size_t)cm->nc + 1) * sizeof *cm->body_part);
    if (!cm->body_part) return no_memory(cm->model, err);
    for (int32_t v = 0; v < cm->nc; v++) cm->body_part[v] = cm->obstacle[v] ? 0 : part[abut_collmesh_object(cm, v)];
    cm->scale.part = cm->body_part;
    return ABUT_OK;
}

static abut_status obstacles(abut_collmesh *cm, abut_err *err)
{
    cm->obstacle = malloc((size_t)cm->nc + 1);
    if (!cm->obstacle) return no_memory(cm->model, err);
    for (int32_t v = 0; v < cm->nc; v++)
        cm->obstacle[v] = cm->model->role && cm->model->role[abut_collmesh_node(cm, v)] == ABUT_NODE_OBSTACLE;
    return ABUT_OK;
}

/* Rows of the model one after the other. */
static abut_status sums(abut_collmesh *cm, abut_err *err)
{
    const abut_model *m = cm->model;
    abut_row_map *W = &cm->W;
    size_t n = 0;
    for (int32_t v = 0; v < m->nc; v++) n += (size_t)(m->map_first[2 * v + 1] - m->map_first[2 * v]);
    if (n > INT32_MAX) return abut_fail(err, ABUT_E_FORMAT, "array 'contact/map-first': %zu entries, at most %d", n, INT32_MAX);
    *W = (abut_row_map){ .rows = m->nc, .cols = m->nv, .first = calloc((size_t)m->nc + 1, sizeof(int32_t)),
                         .col = malloc((n + 1) * sizeof(int32_t)), .weight = malloc((n + 1) * sizeof(double)) };
    if (!W->first || !W->col || !W->weight) return no_memory(m, err);
    for (int32_t v = 0; v < m->nc; v++) {
        const int32_t lo = m->map_first[2 * v], count = m->map_first[2 * v + 1] - lo;
        memcpy(W->col + W->first[v], m->map_node + lo, (size_t)count * sizeof *W->col);
        memcpy(W->weight + W->first[v], m->map_weight + lo, (size_t)count * sizeof *W->weight);
        W->first[v + 1] = W->first[v] + count;
        double size = 1;        /* part of y0, which is no larger than the scene */
        for (int32_t k = 0; k < count; k++) size += fabs(m->map_weight[lo + k]);
        cm->rounding = fmax(cm->rounding, (count + 2) * 0x1p-53 * size);
    }
    cm->y0 = m->map_offset;
    return abut_row_map_transpose(W, err);
}

static abut_status selection(abut_collmesh *cm, abut_err *err)
{
    const abut_model *m = cm->model;
    cm->W = (abut_row_map){ .rows = m->nc, .cols = m->nv, .col = malloc(((size_t)m->nc + 1) * sizeof(int32_t)) };
    if (!cm->W.col) return no_memory(m, err);
    if (m->nc) memcpy(cm->W.col, m->coll_node, (size_t)m->nc * sizeof(int32_t));
    return ABUT_OK;
}

abut_status abut_collmesh_init(abut_collmesh *cm, const abut_model *model, abut_err *err)
{
    assert(model);
    *cm = (abut_collmesh){ .model = model, .nc = model->nc, .ne = model->nce, .nt = model->nct, .edge = model->coll_edge,
                           .tri = model->coll_tri };
    abut_status rc = model->map_first ? sums(cm, err) : selection(cm, err);
    if (!rc) rc = obstacles(cm, err);
    if (!rc) rc = rest_lengths(cm, err);
    if (!rc) rc = lower_dimensions(cm, err);
    if (!rc) rc = thickness(cm, err);
    if (!rc) rc = scales(cm, err);
    if (!rc) rc = abut_area_init(cm, err);
    if (rc) abut_collmesh_clear(cm);
    return rc;
}

void abut_collmesh_clear(abut_collmesh *cm)
{
    abut_row_map_clear(&cm->W);
    ABUT_FREE(cm->obstacle, cm->rest2, cm->loose, cm->seg, cm->point, cm->xi, cm->body_scale, cm->body_part);
    abut_area_clear(cm->area);
    *cm = (abut_collmesh){ 0 };
}

/* ---- the map ---- */

abut_status abut_collmesh_expect_nodes(const abut_collmesh *cm, const char *who, abut_err *err)
{
    if (abut_collmesh_selects(cm)) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "%s: the contact surface is a map of nodes (array 'contact/map-first'), expected nodes "
                     "themselves ('contact/node')", who);
}

void abut_collmesh_positions(const abut_collmesh *cm, const double *x, double *y)
{
    const abut_row_map *W = &cm->W;
    if (W->first) {
        abut_row_map_apply(W, x, y);
        for (size_t i = 0; i < (cm->y0 ? 3 * (size_t)cm->nc : 0); i++) y[i] += cm->y0[i];
        return;
    }
    #pragma omp parallel for schedule(static) if ((size_t)cm->nc >= 8 * ABUT_PAR_MIN)
    for (int32_t v = 0; v < cm->nc; v++)
        for (int d = 0; d < 3; d++) y[3 * (size_t)v + (size_t)d] = x[3 * (size_t)W->col[v] + (size_t)d];
}

void abut_collmesh_motion(const abut_collmesh *cm, const double *p, int32_t vertex, double q[3])
{
    const abut_row_map *W = &cm->W;
    if (!W->first) {
        memcpy(q, p + 3 * (size_t)W->col[vertex], 3 * sizeof *q);
        return;
    }
    q[0] = q[1] = q[2] = 0;
    for (int32_t k = W->first[vertex]; k < W->first[vertex + 1]; k++)
        for (int d = 0; d < 3; d++) q[d] += W->weight[k] * p[3 * (size_t)W->col[k] + (size_t)d];
}

double *abut_collmesh_sum_begin(const abut_collmesh *cm, double *g, abut_arena *scratch)
{
    return cm->W.first ? ABUT_NEW(scratch, double, 3 * (size_t)cm->nc) : g;
}

void abut_collmesh_sum_end(const abut_collmesh *cm, const double *f, double *g)
{
    if (f != g) abut_row_map_apply_transposed(&cm->W, f, g);
}

/* W with row[] of its columns as columns. */
static abut_status rename_columns(const abut_row_map *W, const int32_t *row, int32_t nrow, abut_row_map *map, abut_err *err)
{
    const size_t n = (size_t)W->first[W->rows];
    abut_row_map_clear(map);
    *map = (abut_row_map){ .rows = W->rows, .cols = nrow, .first = malloc(((size_t)W->rows + 1) * sizeof(int32_t)),
                           .col = malloc((n + 1) * sizeof(int32_t)), .weight = malloc((n + 1) * sizeof(double)) };
    abut_status rc = map->first && map->col && map->weight
                         ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "collision mesh: %zu entries of its map", n);
    if (!rc) {
        memcpy(map->first, W->first, ((size_t)W->rows + 1) * sizeof *map->first);
        memcpy(map->weight, W->weight, n * sizeof *map->weight);
        for (size_t k = 0; k < n; k++) map->col[k] = row[W->col[k]];
        rc = abut_row_map_transpose(map, err);
    }
    if (rc) abut_row_map_clear(map);
    return rc;
}

abut_status abut_collmesh_map_set(const abut_collmesh *cm, const int32_t *row, int32_t nrow, const int32_t *slot, int32_t *rows,
                                  abut_row_map *map, abut_elements *set, abut_err *err)
{
    assert(set);
    const size_t n = set->n * (size_t)set->corners;
    set->row = rows;
    set->map = NULL;
    if (abut_collmesh_selects(cm)) {
        #pragma omp parallel for schedule(static) if (n >= 8 * ABUT_PAR_MIN)
        for (size_t i = 0; i < n; i++) rows[i] = slot[i] < 0 ? -1 : row[slot[i]];
        return ABUT_OK;
    }
    if (n) memcpy(rows, slot, n * sizeof *rows);
    set->map = map;
    return rename_columns(&cm->W, row, nrow, map, err);
}

int32_t abut_collmesh_node(const abut_collmesh *cm, int32_t vertex)
{
    const abut_row_map *W = &cm->W;
    if (!W->first) return W->col[vertex];
    int32_t best = W->first[vertex];
    for (int32_t k = best + 1; k < W->first[vertex + 1]; k++)
        if (W->weight[k] > W->weight[best]) best = k;
    return W->col[best];
}

/* Sums of nodes go by their own numbers, which ccd-check names, too. */
static const char *vertices_words(const abut_collmesh *cm, const int32_t *vertex, int n, char buf[ABUT_NODES_WORDS])
{
    static const char *const what[] = { "", "vertex", "edge of vertices", "triangle of vertices" };
    char object[ABUT_OBJECT_WORDS];
    int used = snprintf(buf, ABUT_NODES_WORDS, "%s", what[n < 4 ? n : 3]);
    for (int k = 0; k < n; k++) used += snprintf(buf + used, ABUT_NODES_WORDS - (size_t)used, " %d", vertex[k]);
    snprintf(buf + used, ABUT_NODES_WORDS - (size_t)used, " of %s",
             abut_object_words(cm->model, abut_collmesh_object(cm, vertex[0]), object));
    return buf;
}

const char *abut_collmesh_words(const abut_collmesh *cm, const int32_t *vertex, int n, char buf[ABUT_NODES_WORDS])
{
    int32_t node[4];
    if (cm->W.first) return vertices_words(cm, vertex, n, buf);
    for (int k = 0; k < n && k < 4; k++) node[k] = abut_collmesh_node(cm, vertex[k]);
    return abut_nodes_words(cm->model, node, n, buf);
}

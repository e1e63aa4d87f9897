#include "judge/shape.h"
#include "base/order.h"
#include "mesh/surface.h"

#include "base/arena.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static abut_status make_elements(abut_simplices *e, int k, size_t n, abut_err *err)
{
    e->k = k;
    e->n = n;
    e->node = malloc((n ? n : 1) * (size_t)k * sizeof *e->node);
    return e->node ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "judge: %zu elements of %d nodes", n, k);
}

/* the edges of `all` that are not in `part`; both sorted */
static abut_status edges_without(const abut_simplices *all, const abut_simplices *part, abut_simplices *out, abut_err *err)
{
    const abut_status rc = make_elements(out, 2, all->n, err);
    if (rc) return rc;
    out->n = 0;
    for (size_t i = 0, j = 0; i < all->n; i++) {
        while (j < part->n && abut_compare(part->node + 2 * j, all->node + 2 * i, 2) < 0) j++;
        if (j < part->n && abut_compare(part->node + 2 * j, all->node + 2 * i, 2) == 0) continue;
        memcpy(out->node + 2 * out->n++, all->node + 2 * i, 2 * sizeof *out->node);
    }
    return ABUT_OK;
}

static abut_status find_edges(const abut_simplices *tri, const int32_t *seg, size_t ns, abut_simplices *out, abut_err *err)
{
    int32_t n = 0;
    out->k = 2;
    const abut_status rc = abut_surface_edges(tri->node, (int32_t)tri->n, seg, (int32_t)ns, &out->node, &n, err);
    out->n = rc ? 0 : (size_t)n;
    return rc;
}

/* Vertices: the listed nodes, and nodes of edges and triangles; sorted into points, rod ends and corners of triangles. */
static abut_status find_vertices(abut_judge_shape *s, const int32_t *listed, size_t n, abut_err *err)
{
    enum { NONE, POINT, END, CORNER };
    uint8_t *use = calloc((size_t)s->nv + 1, 1);
    if (!use) return abut_fail(err, ABUT_E_NOMEM, "judge: %d nodes", s->nv);
    for (size_t i = 0; i < n; i++) use[listed[i]] = POINT;
    for (size_t i = 0; i < 2 * s->rod.n; i++) use[s->rod.node[i]] = END;
    for (size_t i = 0; i < 3 * s->tri.n; i++) use[s->tri.node[i]] = CORNER;
    abut_status rc = make_elements(&s->vert, 1, (size_t)s->nv, err);
    if (!rc) rc = make_elements(&s->point, 1, (size_t)s->nv, err);
    if (!rc) rc = make_elements(&s->loose, 1, (size_t)s->nv, err);
    s->vert.n = s->point.n = s->loose.n = 0;
    for (int32_t i = 0; !rc && i < s->nv; i++) {
        if (use[i] != NONE) s->vert.node[s->vert.n++] = i;
        if (use[i] == POINT) s->point.node[s->point.n++] = i;
        if (use[i] == POINT || use[i] == END) s->loose.node[s->loose.n++] = i;
    }
    free(use);
    return rc;
}

/* Ends of rods, and the edges that an end's own edge ends in: a rod that folds brings these together, and the two edges, which
 * have a node in common, are no pair. */
static abut_status find_folds(abut_judge_shape *s, abut_err *err)
{
    uint8_t *edges = calloc((size_t)s->nv + 1, 1);
    int32_t *first = calloc((size_t)s->nv + 2, sizeof *first), *at = malloc((2 * s->rod.n + 1) * sizeof *at);
    abut_status rc = edges && first && at ? make_elements(&s->tip, 1, 2 * s->rod.n, err)
                                          : abut_fail(err, ABUT_E_NOMEM, "judge: %d nodes", s->nv);
    s->tip.n = 0;
    for (size_t i = 0; i < 2 * s->edge.n && !rc; i++) edges[s->edge.node[i]] += edges[s->edge.node[i]] < 2;
    /* rods by their nodes */
    for (size_t i = 0; i < 2 * s->rod.n && !rc; i++) first[s->rod.node[i] + 2]++;
    size_t n = 0;
    for (size_t i = 0; i < 2 * s->rod.n && !rc; i++)
        if (edges[s->rod.node[i]] == 1) n += (size_t)(first[s->rod.node[i ^ 1] + 2] - 1);
    for (int32_t i = 0; i < s->nv && !rc; i++) first[i + 2] += first[i + 1];
    if (!rc) rc = abut_pair_list_reserve(&s->folds, n, err);
    for (size_t i = 0; i < 2 * s->rod.n && !rc; i++) at[first[s->rod.node[i] + 1]++] = (int32_t)(i / 2);
    for (size_t i = 0; i < 2 * s->rod.n && !rc; i++) {
        const int32_t tip = s->rod.node[i], other = s->rod.node[i ^ 1];
        if (edges[tip] != 1) continue;
        s->tip.node[s->tip.n++] = tip;
        for (int32_t k = first[other]; k < first[other + 1]; k++) {
            if (at[k] == (int32_t)(i / 2)) continue;
            s->folds.ij[s->folds.n][0] = (int32_t)s->tip.n - 1;
            s->folds.ij[s->folds.n++][1] = at[k];
        }
    }
    ABUT_FREE(edges, first, at);
    return rc;
}

/* tri is set; seg [ns * 2] and listed [n] are nodes */
static abut_status complete(abut_judge_shape *s, const int32_t *seg, size_t ns, const int32_t *listed, size_t n, abut_err *err)
{
    abut_status rc = find_edges(&s->tri, seg, ns, &s->edge, err);
    if (!rc) rc = find_edges(&s->tri, NULL, 0, &s->side, err);
    if (!rc) rc = edges_without(&s->edge, &s->side, &s->rod, err);
    if (!rc) rc = find_vertices(s, listed, n, err);
    if (!rc) rc = find_folds(s, err);
    return rc;
}

static abut_status copy_planes(abut_judge_shape *s, const abut_model *m, abut_err *err)
{
    const size_t n = 3 * (size_t)m->nh;
    s->n_plane = m->nh;
    s->plane_point = malloc((n + 1) * sizeof(double));
    s->plane_normal = malloc((n + 1) * sizeof(double));
    if (!s->plane_point || !s->plane_normal) return abut_fail(err, ABUT_E_NOMEM, "judge: %d half-spaces", m->nh);
    if (n) memcpy(s->plane_point, m->hs_point, n * sizeof(double));
    if (n) memcpy(s->plane_normal, m->hs_normal, n * sizeof(double));
    return ABUT_OK;
}

static abut_status copy_tets(abut_judge_shape *s, const int32_t *tet, int32_t nt, abut_err *err)
{
    const abut_status rc = make_elements(&s->tet, 4, (size_t)nt, err);
    s->injective = calloc((size_t)nt + 1, 1);
    s->still = calloc((size_t)s->nv + 1, 1);
    if (rc || !s->injective || !s->still) return abut_fail(err, ABUT_E_NOMEM, "judge: %d tets, %d nodes", nt, s->nv);
    if (nt) memcpy(s->tet.node, tet, 4 * (size_t)nt * sizeof *tet);
    return ABUT_OK;
}

/* The node of a point; of a vertex that is a sum of nodes its first, which is of its object. */
static int32_t node_of(const abut_model *m, int32_t point)
{
    return point < m->nv ? point : m->map_node[m->map_first[2 * (size_t)(point - m->nv)]];
}

static abut_status copy_thickness(abut_judge_shape *s, const abut_model *m, abut_err *err)
{
    int any = 0;
    for (int32_t o = 0; m->obj_thick && o < m->no; o++) any |= m->obj_thick[o] > 0;
    if (!any) return ABUT_OK;
    s->thick = malloc(((size_t)s->nv + 1) * sizeof *s->thick);
    if (!s->thick) return abut_fail(err, ABUT_E_NOMEM, "judge: thickness of %d points", s->nv);
    for (int32_t i = 0; i < s->nv; i++) s->thick[i] = m->obj_thick[m->body[node_of(m, i)]];
    return ABUT_OK;
}

double abut_judge_thickness(const abut_judge_shape *s, const abut_simplices *e, size_t i)
{
    double most = 0;
    for (size_t k = i * (size_t)e->k; s->thick && k < (i + 1) * (size_t)e->k; k++)
        if (s->thick[e->node[k]] > most) most = s->thick[e->node[k]];
    return most;
}

static abut_status copy_objects(abut_judge_shape *s, const abut_model *m, abut_err *err)
{
    if (!m->nex) return ABUT_OK;
    s->excluding = m;
    s->object = malloc(((size_t)s->nv + 1) * sizeof *s->object);
    if (!s->object) return abut_fail(err, ABUT_E_NOMEM, "judge: objects of %d points", s->nv);
    for (int32_t i = 0; i < s->nv; i++) s->object[i] = m->body[node_of(m, i)];
    return ABUT_OK;
}

/* The point that a collision vertex is. */
static int32_t point_of(const abut_model *m, int32_t vert)
{
    return m->map_first ? m->nv + vert : abut_model_contact_node(m, vert);
}

/* points of collision vertices */
static abut_status gather(abut_simplices *out, int k, const abut_model *m, const int32_t *vert, int32_t n, abut_err *err)
{
    const abut_status rc = make_elements(out, k, (size_t)n, err);
    if (rc) return rc;
    for (size_t i = 0; i < (size_t)n * (size_t)k; i++) out->node[i] = point_of(m, vert[i]);
    return ABUT_OK;
}

static abut_status gather_all(abut_simplices *out, const abut_model *m, abut_err *err)
{
    const abut_status rc = make_elements(out, 1, (size_t)m->nc, err);
    for (int32_t i = 0; i < (rc ? 0 : m->nc); i++) out->node[i] = point_of(m, i);
    return rc;
}

abut_status abut_judge_points(const abut_judge_shape *s, const double *x, double *room, const double **points, abut_err *err)
{
    assert(s);
    const abut_model *m = s->map;
    *points = m ? room : x;
    if (!m) return ABUT_OK;
    memcpy(room, x, 3 * (size_t)m->nv * sizeof *x);
    for (int32_t v = 0; v < m->nc; v++)
        for (size_t d = 0; d < 3; d++) {
            double sum = 0;
            for (int32_t k = m->map_first[2 * v]; k < m->map_first[2 * v + 1]; k++)
                sum += m->map_weight[k] * x[3 * (size_t)m->map_node[k] + d];
            if (m->map_offset) sum += m->map_offset[3 * (size_t)v + d];
            if (!(fabs(sum) <= ABUT_FARTHEST))
                return abut_fail(err, ABUT_E_GEOM, "collision vertex %d has a coordinate of %g m, expected a number between "
                                 "-%g and %g", v, sum, ABUT_FARTHEST, ABUT_FARTHEST);
            room[3 * (size_t)(m->nv + v) + d] = sum;
        }
    return ABUT_OK;
}

abut_status abut_judge_shape_model(abut_judge_shape *s, const abut_model *m, abut_err *err)
{
    abut_simplices seg = { 0 };
    if (m->map_first && m->nv > INT32_MAX - m->nc)
        return abut_fail(err, ABUT_E_NOMEM, "judge: %d nodes and %d collision vertices", m->nv, m->nc);
    *s = (abut_judge_shape){ .nv = m->nv + (m->map_first ? m->nc : 0), .map = m->map_first ? m : NULL };
    abut_simplices all = { 0 };
    abut_status rc = copy_tets(s, m->tet, m->nt, err);
    s->bodies_pass = m->bodies_meet && !m->bodies_meet[0];
    s->curved = m->tet_order || m->geo_order ? m : NULL;
    if (!rc) rc = copy_planes(s, m, err);
    if (!rc) rc = copy_thickness(s, m, err);
    if (!rc) rc = copy_objects(s, m, err);
    if (!rc) rc = gather(&s->tri, 3, m, m->coll_tri, m->nct, err);
    if (!rc) rc = gather(&seg, 2, m, m->coll_edge, m->nce, err);
    if (!rc) rc = gather_all(&all, m, err);
    if (!rc) rc = complete(s, seg.node, seg.n, all.node, all.n, err);
    for (int32_t i = 0; !rc && i < m->nt; i++)
        s->injective[i] = (uint8_t)abut_material_injective(m->mat_model[m->tet_mat[i]]);
    for (int32_t i = 0; !rc && i < s->nv; i++) s->still[i] = m->role[node_of(m, i)] == ABUT_NODE_OBSTACLE;
    ABUT_FREE(seg.node, all.node);
    if (rc) abut_judge_shape_clear(s);
    return rc;
}

/* A face of a tet: its nodes sorted, then outward for a positive tet */
typedef struct face {
    int32_t key[3], node[3];
} face;

/* Faces that occur once among all tets, however the tets are oriented; appended to s->tri */
static abut_status add_boundary(abut_judge_shape *s, abut_err *err)
{
    static const int corner[4][3] = { { 1, 2, 3 }, { 0, 3, 2 }, { 0, 1, 3 }, { 0, 2, 1 } };
    const size_t n = 4 * s->tet.n;
    face *f = malloc((n + 1) * sizeof *f);
    int32_t *tri = realloc(s->tri.node, (s->tri.n + n + 1) * 3 * sizeof *tri);
    if (tri) s->tri.node = tri;
    if (!f || !tri) {
        free(f);
        return abut_fail(err, ABUT_E_NOMEM, "judge: %zu faces of tets", n);
    }
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) f[i].key[k] = f[i].node[k] = s->tet.node[4 * (i / 4) + (size_t)corner[i % 4][k]];
        qsort(f[i].key, 3, sizeof(int32_t), abut_by_one);
    }
    qsort(f, n, sizeof *f, abut_by_three);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && abut_by_three(&f[i], &f[j]) == 0; j++) {}
        if (j == i + 1) memcpy(s->tri.node + 3 * s->tri.n++, f[i].node, sizeof f[i].node);
    }
    free(f);
    return ABUT_OK;
}

abut_status abut_judge_shape_mesh(abut_judge_shape *s, const abut_mesh *m, abut_err *err)
{
    *s = (abut_judge_shape){ .nv = m->nv };
    abut_status rc = abut_mesh_check(m, err);
    if (!rc) rc = copy_tets(s, m->tet, m->nt, err);
    if (!rc) rc = make_elements(&s->tri, 3, (size_t)m->nf, err);
    if (!rc && m->nf) memcpy(s->tri.node, m->tri, 3 * (size_t)m->nf * sizeof *m->tri);
    if (!rc) rc = add_boundary(s, err);
    if (!rc) rc = complete(s, m->seg, (size_t)m->ns, m->point, (size_t)m->np, err);
    if (rc) abut_judge_shape_clear(s);
    return rc;
}

void abut_judge_shape_clear(abut_judge_shape *s)
{
    abut_simplices *const e[] = { &s->vert, &s->point, &s->loose, &s->tip, &s->edge, &s->side, &s->rod, &s->tri, &s->tet };
    for (size_t i = 0; i < sizeof e / sizeof *e; i++) free(e[i]->node);
    abut_pair_list_clear(&s->folds);
    ABUT_FREE(s->injective, s->still, s->object, s->thick, s->plane_point, s->plane_normal);
    *s = (abut_judge_shape){ .nv = 0 };
}

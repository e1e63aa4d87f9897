#include "contact/enclosed.h"

#include "base/par.h"
#include "mesh/triangle_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static abut_status no_memory(const abut_collmesh *cm, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "closed surfaces: no memory for %d triangles", cm->nt);
}

/* The triangles of an object into tri; 0 unless every side is of two of them. */
static int32_t closed_surface(const abut_collmesh *cm, int32_t object, const uint8_t *is_rod, int32_t *tri)
{
    int32_t n = 0, sides = 0;
    for (int32_t t = 0; t < cm->nt; t++)
        if (abut_collmesh_object(cm, cm->tri[3 * (size_t)t]) == object)
            memcpy(tri + 3 * (size_t)n++, cm->tri + 3 * (size_t)t, 3 * sizeof *tri);
    for (int32_t e = 0; e < cm->ne; e++) sides += !is_rod[e] && abut_collmesh_object(cm, cm->edge[2 * (size_t)e]) == object;
    return 3 * (int64_t)n == 2 * (int64_t)sides ? n : 0;
}

static void look(const abut_collmesh *cm, const double *y, int32_t object, const abut_triangle_tree *tree, const double lo[3],
                 const double hi[3], int32_t *in)
{
    #pragma omp parallel for schedule(dynamic, 64) if ((size_t)cm->nc >= ABUT_PAR_MIN)
    for (int32_t v = 0; v < cm->nc; v++) {
        const double *p = y + 3 * (size_t)v;
        int near = in[v] < 0 && abut_collmesh_object(cm, v) != object && !abut_collmesh_passes(cm, v, v);
        for (int d = 0; d < 3; d++) near = near && p[d] > lo[d] && p[d] < hi[d];
        if (near && abut_triangles_inside(tree, abut_v3_get(p))) in[v] = object;
    }
}

static abut_status look_in(const abut_collmesh *cm, const double *y, int32_t object, const int32_t *tri, int32_t n, int32_t *in,
                           abut_err *err)
{
    double lo[3] = { INFINITY, INFINITY, INFINITY }, hi[3] = { -INFINITY, -INFINITY, -INFINITY };
    abut_triangle_tree *tree = NULL;
    for (size_t i = 0; i < 3 * (size_t)n; i++)
        for (int d = 0; d < 3; d++) {
            lo[d] = fmin(lo[d], y[3 * (size_t)tri[i] + (size_t)d]);
            hi[d] = fmax(hi[d], y[3 * (size_t)tri[i] + (size_t)d]);
        }
    const abut_status rc = abut_triangle_tree_new(&tree, y, tri, n, err);
    if (!rc) look(cm, y, object, tree, lo, hi, in);
    abut_triangle_tree_free(&tree);
    return rc;
}

abut_status abut_enclosed_find(const abut_collmesh *cm, const double *y, int32_t *in, abut_err *err)
{
    const abut_model *m = cm->model;
    uint8_t *is_rod = calloc((size_t)cm->ne + 1, 1), *has_tets = calloc((size_t)m->no + 1, 1);
    int32_t *tri = malloc((3 * (size_t)cm->nt + 1) * sizeof *tri);
    abut_status rc = is_rod && has_tets && tri ? ABUT_OK : no_memory(cm, err);
    for (int32_t v = 0; v < cm->nc; v++) in[v] = -1;
    for (int32_t i = 0; i < (rc ? 0 : cm->n_seg); i++) is_rod[cm->seg[i]] = 1;
    for (int32_t t = 0; t < (rc ? 0 : m->nt); t++) has_tets[m->body[m->tet[4 * (size_t)t]]] = 1;
    for (int32_t o = 0; o < m->no && !rc; o++) {
        const int32_t n = has_tets[o] ? closed_surface(cm, o, is_rod, tri) : 0;
        if (n) rc = look_in(cm, y, o, tri, n, in, err);
    }
    free(is_rod), free(has_tets), free(tri);
    return rc;
}

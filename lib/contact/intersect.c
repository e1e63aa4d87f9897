#include "contact/intersect.h"

#include "contact/step_bound.h"
#include "geom/ccd/ccd.h"
#include "geom/ccd/slab.h"
#include "geom/exact/predicates.h"
#include "geom/lagrange.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- edges and triangles ---- */

struct items_memory {
    abut_box *box;
    uint8_t *still;
};

static int items_make(const int32_t *vert, int32_t n, int k, const double *y, const uint8_t *fixed, struct items_memory *memory,
                      abut_items *items)
{
    *memory = (struct items_memory){ malloc(((size_t)n + 1) * sizeof *memory->box), malloc((size_t)n + 1) };
    if (!memory->box || !memory->still) return 0;
    #pragma omp parallel for schedule(static) if ((size_t)n >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < n; i++) {
        const int32_t *v = vert + (size_t)k * (size_t)i;
        memory->box[i] = abut_box_points(y, NULL, v, k, 0);
        memory->still[i] = fixed != NULL;
        for (int c = 0; c < k && fixed; c++) memory->still[i] &= fixed[v[c]] != 0;
    }
    *items = (abut_items){ (size_t)n, k, vert, fixed ? memory->still : NULL, memory->box };
    return 1;
}

static void items_free(struct items_memory *memory)
{
    ABUT_FREE(memory->box, memory->still);
}

/* The slab along the line of the centroids separates most neighbours, which on a flat sheet else need exact arithmetic. */
static int intersect(const abut_collmesh *cm, const double *y, const int32_t ij[2])
{
    const int32_t *e = cm->edge + 2 * (size_t)ij[0], *t = cm->tri + 3 * (size_t)ij[1];
    if (abut_collmesh_passes(cm, e[0], t[0]) || abut_slab_centroids2(y, e, 2, t, 3) > 0) return 0;
    return abut_touch_edge_tri(y + 3 * (size_t)e[0], y + 3 * (size_t)e[1], y + 3 * (size_t)t[0], y + 3 * (size_t)t[1],
                               y + 3 * (size_t)t[2]);
}

/* Moves the intersecting pairs of each block to its front; kept[b] counts them. */
static void intersecting_keep(const abut_collmesh *cm, const double *y, abut_pair_list *pairs, size_t *kept)
{
    #pragma omp parallel for schedule(dynamic, 4) if (pairs->n >= ABUT_PAR_MIN)
    for (size_t b = 0; b < abut_blocks(pairs->n); b++) {
        const abut_range r = abut_block(pairs->n, b);
        size_t m = r.lo;
        for (size_t k = r.lo; k < r.hi; k++)
            if (intersect(cm, y, pairs->ij[k])) memmove(pairs->ij[m++], pairs->ij[k], sizeof *pairs->ij);
        kept[b] = m - r.lo;
    }
}

static abut_status mesh_intersections(const abut_collmesh *cm, const double *y, const uint8_t *fixed, size_t max,
                                      abut_intersection *list, size_t *found, abut_err *err)
{
    struct items_memory re = { 0 }, rt = { 0 };
    abut_items e, t;
    abut_pair_list pairs = { 0 };
    size_t *kept = NULL;
    abut_status rc = ABUT_OK;
    if (!items_make(cm->edge, cm->ne, 2, y, fixed, &re, &e) || !items_make(cm->tri, cm->nt, 3, y, fixed, &rt, &t)) {
        rc = abut_fail(err, ABUT_E_NOMEM, "intersections: no memory for %d edges, %d triangles", (int)cm->ne, (int)cm->nt);
        goto done;
    }
    rc = abut_box_pairs(&e, &t, &pairs, err);
    if (rc) {
        abut_wrap(err, "intersections: edges against triangles");
        goto done;
    }
    kept = malloc((abut_blocks(pairs.n) + 1) * sizeof *kept);
    if (!kept) {
        rc = abut_fail(err, ABUT_E_NOMEM, "intersections: no memory for %zu pairs", pairs.n);
        goto done;
    }
    intersecting_keep(cm, y, &pairs, kept);
    for (size_t b = 0; b < abut_blocks(pairs.n); b++)
        for (size_t k = 0; k < kept[b]; k++, ++*found) {
            const int32_t *ij = pairs.ij[abut_block(pairs.n, b).lo + k];
            if (*found < max) list[*found] = (abut_intersection){ ij[0], ij[1], -1, -1 };
        }
done:
    free(kept);
    abut_pair_list_clear(&pairs);
    items_free(&re);
    items_free(&rt);
    return rc;
}

static void plane_intersections(const abut_collmesh *cm, const double *y, const uint8_t *fixed, size_t max,
                                abut_intersection *list, size_t *found)
{
    const abut_model *m = cm->model;
    for (int32_t v = 0; v < (m->nh ? cm->nc : 0); v++) {
        if (fixed && fixed[v]) continue;
        for (int32_t h = 0; h < m->nh; h++) {
            if (abut_plane_side(m->hs_normal + 3 * h, m->hs_point + 3 * h, y + 3 * (size_t)v) > 0) continue;
            if (*found < max) list[*found] = (abut_intersection){ -1, -1, v, h };
            ++*found;
        }
    }
}

abut_status abut_intersections_find(const abut_collmesh *cm, const double *y, const uint8_t *fixed, size_t max,
                                    abut_intersection *list, size_t *found, abut_err *err)
{
    size_t n = 0;
    const abut_status rc = mesh_intersections(cm, y, fixed, max, list, &n, err);
    if (rc) return rc;
    plane_intersections(cm, y, fixed, max, list, &n);
    *found = n;
    return ABUT_OK;
}

size_t abut_intersections_planes(const abut_collmesh *cm, const double *y, const uint8_t *fixed, size_t max,
                                 abut_intersection *list)
{
    size_t found = 0;
    plane_intersections(cm, y, fixed, max, list, &found);
    return found;
}

/* ---- tetrahedra ---- */

int32_t abut_inverted_find(const abut_model *m, const double *x, int only_injective)
{
    int32_t first = INT32_MAX;
    #pragma omp parallel for schedule(static) reduction(min : first) if ((size_t)m->nt >= ABUT_PAR_MIN)
    for (int32_t t = 0; t < m->nt; t++) {
        const int32_t *v = m->tet + 4 * (size_t)t;
        if (only_injective && !abut_material_injective(m->mat_model[m->tet_mat[t]])) continue;
        if (abut_is_curved(m, t)) {
            if (t < first && abut_curved_inverted(m, t, x)) first = t;
            continue;
        }
        /* a positive volume has sign -1 */
        const int sign = abut_orient3d(x + 3 * (size_t)v[0], x + 3 * (size_t)v[1], x + 3 * (size_t)v[2], x + 3 * (size_t)v[3]);
        if (sign >= 0 && t < first) first = t;
    }
    return first == INT32_MAX ? -1 : first;
}

int abut_inverting_tet(const abut_model *m, const double *x0, const double *x1, int32_t tet)
{
    double p0[12], p1[12];
    if (!abut_material_injective(m->mat_model[m->tet_mat[tet]])) return 0;
    if (abut_is_curved(m, tet)) return abut_curved_inverting(m, tet, x0, x1);
    for (int k = 0; k < 4; k++) {
        const size_t v = 3 * (size_t)m->tet[4 * (size_t)tet + (size_t)k];
        memcpy(p0 + 3 * k, x0 + v, 3 * sizeof *p0);
        memcpy(p1 + 3 * k, x1 + v, 3 * sizeof *p1);
    }
    return abut_ccd_exact_inverts(p0, p1, NULL, NULL);
}

int32_t abut_inverting_find(const abut_model *m, const double *x0, const double *x1)
{
    int32_t first = INT32_MAX;
    #pragma omp parallel for schedule(static) reduction(min : first) if ((size_t)m->nt >= ABUT_PAR_MIN)
    for (int32_t t = 0; t < m->nt; t++)
        if (t < first && abut_inverting_tet(m, x0, x1, t)) first = t;
    return first == INT32_MAX ? -1 : first;
}

double abut_smallest_jacobian(const abut_model *m, const double *x, int32_t *tet)
{
    double least = INFINITY;
    int32_t which = -1;
    #pragma omp parallel if ((size_t)m->nt >= ABUT_PAR_MIN)
    {
        double mine = INFINITY;
        int32_t at = -1;
        #pragma omp for schedule(static) nowait
        for (int32_t t = 0; t < m->nt; t++) {
            const int32_t *v = m->tet + 4 * (size_t)t;
            const double J = abut_is_curved(m, t) ? abut_curved_jacobian(m, t, x, INFINITY, NULL)
                                                  : abut_tet_volume6(x, v) / abut_tet_volume6(m->X, v);
            if (J < mine) mine = J, at = t;
        }
        /* least J, then lowest tet: an order in which any thread may come first */
        #pragma omp critical(abut_smallest_jacobian)
        if (at >= 0 && (mine < least || (mine <= least && at < which))) least = mine, which = at;
    }
    if (tet) *tet = which;
    return least;
}

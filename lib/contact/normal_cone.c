#include "contact/normal_cone.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rings ---- */

void abut_rings_clear(abut_rings *rings)
{
    free(rings->edge_first);
    free(rings->edge);
    free(rings->tri_first);
    free(rings->tri);
    *rings = (abut_rings){ 0 };
}

/* Lists the numbers of the n primitives of `size` corners at each vertex; of edges the other ends.  Returns 0 without memory. */
static int list(int32_t nc, const int32_t *corner, int32_t n, int size, int32_t **first, int32_t **item)
{
    *first = calloc((size_t)nc + 2, sizeof **first);
    *item = malloc(((size_t)n * (size_t)size + 1) * sizeof **item);
    if (!*first || !*item) return 0;
    for (size_t i = 0; i < (size_t)n * (size_t)size; i++) (*first)[corner[i] + 2]++;
    for (int32_t v = 0; v < nc; v++) (*first)[v + 2] += (*first)[v + 1];
    for (size_t i = 0; i < (size_t)n * (size_t)size; i++)
        (*item)[(*first)[corner[i] + 1]++] = size == 2 ? corner[i ^ 1] : (int32_t)(i / (size_t)size);
    return 1;
}

abut_status abut_rings_init(abut_rings *rings, const abut_collmesh *cm, abut_err *err)
{
    assert(cm);
    *rings = (abut_rings){ 0 };
    if (list(cm->nc, cm->edge, cm->ne, 2, &rings->edge_first, &rings->edge) &&
        list(cm->nc, cm->tri, cm->nt, 3, &rings->tri_first, &rings->tri))
        return ABUT_OK;
    abut_rings_clear(rings);
    return abut_fail(err, ABUT_E_NOMEM, "edges and triangles around %d vertices", cm->nc);
}

/* ---- cones ---- */

/* The vertices of one primitive that carry the closest point: a vertex, an edge or a triangle. */
typedef struct feature {
    int n;
    int32_t v[3];
} feature;

/* t[3] = from a to b. */
static void between(const abut_moving *m, int32_t a, int32_t b, double t[3])
{
    const size_t i = 3 * (size_t)a, j = 3 * (size_t)b;
    for (size_t d = 0; d < 3; d++) {
        t[d] = m->y[j + d] - m->y[i + d];
        if (m->t > 0) t[d] += m->t * ((m->y1[j + d] - m->y1[i + d]) - t[d]);
    }
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static int has(const int32_t *v, int n, int32_t one)
{
    for (int k = 0; k < n; k++)
        if (v[k] == one) return 1;
    return 0;
}

/* Makes t a unit vector and returns r . t; 0 if t has no length. */
static double along(const double r[3], double t[3])
{
    const double t2 = dot(t, t);
    if (!(t2 > 0)) return 0;
    for (int d = 0; d < 3; d++) t[d] /= sqrt(t2);
    return dot(r, t);
}

/* Projects r across the unit vector t. */
static void remove_part(const double t[3], double r[3])
{
    const double s = dot(r, t);
    for (int d = 0; d < 3; d++) r[d] -= s * t[d];
}

/* Turns r[3], which is normal to edge ab, to the normal of the edge's triangle into which it leads furthest, if into any.
 * Triangles with one of other[n_other] do not count. */
static void turn_to_face(const abut_rings *rings, const abut_collmesh *cm, const abut_moving *m, int32_t a, int32_t b,
                         const int32_t *other, int n_other, double r[3])
{
    double most = 0, best[3], e[3], t[3];
    between(m, a, b, e);
    if (!(along(e, e) > 0)) return;
    for (int32_t k = rings->tri_first[a]; k < rings->tri_first[a + 1]; k++) {
        const int32_t *v = cm->tri + 3 * (size_t)rings->tri[k];
        if (!has(v, 3, b)) continue;
        const int32_t c = v[0] != a && v[0] != b ? v[0] : v[1] != a && v[1] != b ? v[1] : v[2];
        if (has(other, n_other, c)) continue;
        between(m, a, c, t);
        remove_part(e, t);
        const double s = along(r, t);
        if (s > most) most = s, memcpy(best, t, sizeof best);
    }
    if (most > 0) remove_part(best, r);
}

/* Turns r[3] to a normal of the edge of vertex a along which it leads furthest, if along any, and on to that of a triangle. */
static void turn_to_edge(const abut_rings *rings, const abut_collmesh *cm, const abut_moving *m, int32_t a,
                         const int32_t *other, int n_other, double r[3])
{
    double most = 0, best[3], t[3];
    int32_t b = -1;
    for (int32_t k = rings->edge_first[a]; k < rings->edge_first[a + 1]; k++) {
        if (has(other, n_other, rings->edge[k])) continue;
        between(m, a, rings->edge[k], t);
        const double s = along(r, t);
        if (s > most) most = s, b = rings->edge[k], memcpy(best, t, sizeof best);
    }
    if (b < 0) return;
    remove_part(best, r);
    turn_to_face(rings, cm, m, a, b, other, n_other, r);
}

static void turn(const abut_rings *rings, const abut_collmesh *cm, const abut_moving *m, const feature *f,
                 const int32_t *other, int n_other, double r[3])
{
    if (f->n == 1) turn_to_edge(rings, cm, m, f->v[0], other, n_other, r);
    else if (f->n == 2) turn_to_face(rings, cm, m, f->v[0], f->v[1], other, n_other, r);
}

double abut_cone_turn(const abut_rings *rings, const abut_collmesh *cm, const abut_moving *m, abut_stencil kind,
                      const int32_t v[4], const double w[4], double r[3])
{
    const int second = abut_stencil_second(kind), n = abut_stencil_size(kind);
    double a[3] = { -r[0], -r[1], -r[2] }, b[3] = { r[0], r[1], r[2] };
    const double r2 = dot(r, r);
    feature of[2] = { { 0 }, { 0 } };
    for (int k = 0; k < n; k++)
        if (w[k] > 0 || w[k] < 0) of[k >= second].v[of[k >= second].n++] = v[k];
    turn(rings, cm, m, &of[0], v + second, n - second, a);
    turn(rings, cm, m, &of[1], v, second, b);
    const double a2 = dot(a, a), b2 = dot(b, b), left = fmin(a2, b2);
    if (!(left < r2)) return 0;
    if (of[0].n < 3 && of[1].n < 3)
        for (int d = 0; d < 3; d++) r[d] = a2 < b2 ? -a[d] : b[d];
    return sqrt(1 - left / r2);
}

#include "judge/boundary.h"

#include "base/order.h"
#include "base/par.h"
#include "mesh/surface.h"
#include "mesh/triangle_tree.h"
#include "model/tets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Contact surface of one object. */
typedef struct body {
    abut_triangle_tree *tree;   /* NULL: it has no triangles */
    int32_t *tri, n;
    double lo[3], hi[3];
    int still;                  /* an obstacle */
} body;

typedef struct scene {
    const abut_model *m;
    const double *x, *y;
    body *body;                 /* [m->no] */
    int64_t *face;              /* boundary faces of tets, 4 t + f */
    int32_t faces;
} scene;

static void clear(scene *s)
{
    for (int32_t o = 0; s->body && o < s->m->no; o++) {
        abut_triangle_tree_free(&s->body[o].tree);
        free(s->body[o].tri);
    }
    free(s->body), free(s->face);
}

static abut_status no_memory(const abut_model *m, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "true boundary: no memory for %d triangles of %d objects", m->nct, m->no);
}

/* *closed 1: each side of a triangle is a side of another one in the other direction; an open surface has no inside. */
static abut_status is_closed(const body *b, int *closed, const abut_model *m, abut_err *err)
{
    const size_t n = 3 * (size_t)b->n;
    int64_t *edge = malloc((n + 1) * sizeof *edge);     /* 2 (least 2^31 + largest) + 1 from the largest to the least */
    if (!edge) return no_memory(m, err);
    for (size_t k = 0; k < n; k++) {
        const int64_t p = b->tri[k], q = b->tri[k % 3 == 2 ? k - 2 : k + 1];
        edge[k] = p < q ? (p << 31 | q) << 1 : (q << 31 | p) << 1 | 1;
    }
    qsort(edge, n, sizeof *edge, abut_by_int64);
    *closed = 1;
    for (size_t k = 0, end; k < n && *closed; k = end) {
        int64_t forward = 0;
        for (end = k; end < n && edge[end] >> 1 == edge[k] >> 1; end++) forward += edge[end] % 2 ? -1 : 1;
        *closed = forward == 0;
    }
    free(edge);
    return ABUT_OK;
}

static int is_still(const abut_model *m, int32_t node) { return m->role[node] == ABUT_NODE_OBSTACLE; }

static abut_status body_of(scene *s, int32_t object, abut_err *err)
{
    const abut_model *m = s->m;
    body *b = &s->body[object];
    int closed = 0;
    abut_status rc;
    for (int d = 0; d < 3; d++) b->lo[d] = INFINITY, b->hi[d] = -INFINITY;
    b->tri = malloc((3 * (size_t)m->nct + 1) * sizeof *b->tri);
    if (!b->tri) return no_memory(m, err);
    for (int32_t t = 0; t < m->nct; t++) {
        const int32_t *v = m->coll_tri + 3 * (size_t)t;
        if (m->body[abut_model_contact_node(m, v[0])] != object) continue;
        b->still = is_still(m, abut_model_contact_node(m, v[0]));
        memcpy(b->tri + 3 * (size_t)b->n++, v, 3 * sizeof *v);
        for (int k = 0; k < 3; k++)
            for (int d = 0; d < 3; d++) {
                b->lo[d] = fmin(b->lo[d], s->y[3 * (size_t)v[k] + (size_t)d]);
                b->hi[d] = fmax(b->hi[d], s->y[3 * (size_t)v[k] + (size_t)d]);
            }
    }
    rc = is_closed(b, &closed, m, err);
    return b->n && closed && !rc ? abut_triangle_tree_new(&b->tree, s->y, b->tri, b->n, err) : rc;
}

/* Obstacles may meet, and so may bodies where contact.bodies is off. */
static int may_meet(const abut_model *m, int a_still, int b_still)
{
    const int bodies_pass = m->bodies_meet && !m->bodies_meet[0];
    return (a_still && b_still) || (bodies_pass && !a_still && !b_still);
}

static void look_at(const scene *s, int32_t tet, const double p[3], abut_boundary_depth *out)
{
    const abut_model *m = s->m;
    const int32_t own = m->body[m->tet[4 * (size_t)tet]];
    const int still = is_still(m, m->tet[4 * (size_t)tet]);
    out->samples++;
    for (int32_t h = 0; h < m->nh && !still; h++) {
        const double *n = m->hs_normal + 3 * (size_t)h, *o = m->hs_point + 3 * (size_t)h;
        const double depth = -(n[0] * (p[0] - o[0]) + n[1] * (p[1] - o[1]) + n[2] * (p[2] - o[2]));
        if (depth > out->depth) *out = (abut_boundary_depth){ depth, tet, -1, h, { p[0], p[1], p[2] }, out->samples };
    }
    for (int32_t k = 0; k < m->no; k++) {
        const body *b = &s->body[k];
        abut_vec3 near;
        int in_box = k != own && b->tree != NULL && !may_meet(m, still, b->still);
        for (int d = 0; d < 3; d++) in_box = in_box && p[d] > b->lo[d] && p[d] < b->hi[d];
        if (!in_box || !abut_triangles_inside(b->tree, abut_v3_get(p))) continue;
        if (abut_triangle_nearest(b->tree, abut_v3_get(p), NULL, 0, 0, INFINITY, &near) < 0) continue;
        const double depth = abut_v3_norm(abut_v3_sub(near, abut_v3_get(p)));
        if (depth > out->depth) *out = (abut_boundary_depth){ depth, tet, k, -1, { p[0], p[1], p[2] }, out->samples };
    }
}

static void sample_face(const scene *s, int64_t face, int n, abut_boundary_depth *out)
{
    const int32_t tet = (int32_t)(face / 4);
    const signed char *corner = abut_tet_face[face % 4];
    double X[ABUT_TET_NODES_MAX][3], p[3];
    const int order = abut_tet_shape(s->m, tet, s->x, X);
    for (int j = 0; j <= n; j++)
        for (int i = 0; i + j <= n; i++) {
            double L[4] = { 0 };
            L[corner[0]] = (double)(n - i - j) / n, L[corner[1]] = (double)i / n, L[corner[2]] = (double)j / n;
            abut_tet_point(order, (const double(*)[3])X, L, p, NULL);
            look_at(s, tet, p, out);
        }
}

/* Blocks of faces, joined in their order: the first of equally deep samples stays. */
static abut_status sample_all(const scene *s, int segments, abut_boundary_depth *out, abut_err *err)
{
    const size_t nb = abut_blocks((size_t)s->faces);
    abut_boundary_depth *part = calloc(nb + 1, sizeof *part);
    if (!part) return no_memory(s->m, err);
    #pragma omp parallel for schedule(dynamic) if (nb > 1)
    for (size_t b = 0; b < nb; b++) {
        const abut_range r = abut_block((size_t)s->faces, b);
        part[b] = (abut_boundary_depth){ .tet = -1, .object = -1, .plane = -1 };
        for (size_t f = r.lo; f < r.hi; f++)
            if (abut_tet_geometry_order(s->m, (int32_t)(s->face[f] / 4)) > 1) sample_face(s, s->face[f], segments, &part[b]);
    }
    for (size_t b = 0; b < nb; b++) {
        const size_t samples = out->samples + part[b].samples;
        if (part[b].depth > out->depth) *out = part[b];
        out->samples = samples;
    }
    free(part);
    return ABUT_OK;
}

abut_status abut_judge_boundary(const abut_model *m, const double *x, const double *y, int segments, abut_boundary_depth *out,
                                abut_err *err)
{
    scene s = { .m = m, .x = x, .body = calloc((size_t)m->no + 1, sizeof *s.body) };
    double *nodes = y ? NULL : malloc((3 * (size_t)m->nc + 1) * sizeof *nodes);
    *out = (abut_boundary_depth){ .tet = -1, .object = -1, .plane = -1 };
    abut_status rc = s.body && (y || nodes) ? abut_surface_faces(m->tet, m->nt, m->nv, &s.face, &s.faces, err)
                                            : no_memory(m, err);
    for (int32_t v = 0; nodes && v < m->nc; v++)
        memcpy(nodes + 3 * (size_t)v, x + 3 * (size_t)abut_model_contact_node(m, v), 3 * sizeof *nodes);
    s.y = y ? y : nodes;
    for (int32_t o = 0; o < m->no && !rc; o++) rc = body_of(&s, o, err);
    if (!rc) rc = sample_all(&s, segments, out, err);
    clear(&s);
    free(nodes);
    return rc;
}

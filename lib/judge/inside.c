/* Inside of closed contact surfaces: vertices, and samples of the true boundary of curved tets. */
#include "judge/judge.h"

#include "base/order.h"
#include "base/par.h"
#include "geom/exact/predicates.h"
#include "mesh/surface.h"
#include "mesh/triangle_tree.h"
#include "model/tets.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* *closed 1: every side occurs as often in one direction as in the other, so that there is an inside. */
static abut_status is_closed(const int32_t *tri, size_t n, int *closed, abut_err *err)
{
    int64_t *side = malloc((3 * n + 1) * sizeof *side);     /* 2 (least 2^31 + largest) + 1 from the largest to the least */
    if (!side) return abut_fail(err, ABUT_E_NOMEM, "judge: sides of %zu triangles", n);
    for (size_t i = 0; i < 3 * n; i++) {
        const int64_t p = tri[i], q = tri[i % 3 == 2 ? i - 2 : i + 1];
        side[i] = p < q ? (p << 31 | q) << 1 : (q << 31 | p) << 1 | 1;
    }
    qsort(side, 3 * n, sizeof *side, abut_by_int64);
    *closed = n > 0;
    for (size_t i = 0, end; i < 3 * n && *closed; i = end) {
        int64_t forward = 0;
        for (end = i; end < 3 * n && side[end] >> 1 == side[i] >> 1; end++) forward += side[end] % 2 ? -1 : 1;
        *closed = forward == 0;
    }
    free(side);
    return ABUT_OK;
}

/* ---- vertices inside contact surfaces ---- */

/* Closed surface of one body, and the vertices in its box, each with the column of space above it. */
typedef struct body {
    int32_t *tri, *vert;        /* [3 n], [m]: points */
    abut_box *tri_box, *column; /* [n], [m] */
    uint8_t *tri_still, *still;
    size_t n, m;
    abut_box box;
} body;

static void clear(body *b)
{
    free(b->tri), free(b->vert), free(b->tri_box), free(b->column), free(b->tri_still), free(b->still);
}

static abut_status make(body *b, const abut_judge_shape *s, abut_err *err)
{
    const size_t n = s->tri.n + 1, m = s->vert.n + 1;
    *b = (body){ malloc(3 * n * sizeof *b->tri), malloc(m * sizeof *b->vert), malloc(n * sizeof *b->tri_box),
                 malloc(m * sizeof *b->column), malloc(n), malloc(m), 0, 0, { { 0 }, { 0 } } };
    if (b->tri && b->vert && b->tri_box && b->column && b->tri_still && b->still) return ABUT_OK;
    return abut_fail(err, ABUT_E_NOMEM, "judge: closed surfaces of %zu triangles", s->tri.n);
}

/* The object of a point that is a sum of nodes. */
static int32_t object_of(const abut_model *m, int32_t point)
{
    return m->body[m->map_node[m->map_first[2 * (size_t)(point - m->nv)]]];
}

static void gather_surface(body *b, const abut_judge_shape *s, const double *x, int32_t object)
{
    b->n = 0;
    for (size_t t = 0; t < s->tri.n; t++) {
        const int32_t *v = s->tri.node + 3 * t;
        if (object_of(s->map, v[0]) != object) continue;
        memcpy(b->tri + 3 * b->n, v, 3 * sizeof *v);
        b->tri_still[b->n] = s->still[v[0]];
        b->tri_box[b->n] = abut_box_points(x, NULL, v, 3, 0);
        b->box = b->n ? abut_box_join(b->box, &b->tri_box[b->n]) : b->tri_box[b->n];
        b->n++;
    }
}

/* Vertices of other objects that may be inside. */
static void gather_vertices(body *b, const abut_judge_shape *s, const double *x, int32_t object)
{
    b->m = 0;
    for (size_t i = 0; i < s->vert.n; i++) {
        const int32_t v = s->vert.node[i];
        const double *p = x + 3 * (size_t)v;
        int near = object_of(s->map, v) != object && !abut_judge_passes(s, v, b->tri[0]);
        for (int k = 0; k < 3; k++) near = near && p[k] >= b->box.lo[k] && p[k] <= b->box.hi[k];
        if (!near) continue;
        b->vert[b->m] = v;
        b->still[b->m] = s->still[v];
        b->column[b->m] = abut_box_points(x, NULL, &v, 1, 0);
        b->column[b->m++].hi[2] = b->box.hi[2];
    }
}

/* On which side of a b, seen from above, is p moved by (e^2, e) for an endlessly small e?  0: a and b are one point. */
static int side_of(const double *a, const double *b, const double *p)
{
    const int s = abut_orient2d(a, b, p);
    if (s) return s;
    return b[0] != a[0] ? (b[0] > a[0] ? 1 : -1) : (a[1] > b[1]) - (a[1] < b[1]);
}

/* +1 or -1 if the triangle is above p, moved as above: the side that it shows upwards; 0 if it is not above p. */
static int above(const double *a, const double *b, const double *c, const double *p)
{
    const int s = side_of(a, b, p);
    if (!s || side_of(b, c, p) != s || side_of(c, a, p) != s) return 0;
    return abut_orient3d(a, b, c, p) == s ? s : 0;
}

static abut_status look(const body *b, int32_t object, const double *x, abut_hits *out, abut_err *err)
{
    const abut_items vert = { b->m, 1, b->vert, b->still, b->column }, tri = { b->n, 3, b->tri, b->tri_still, b->tri_box };
    abut_pair_list pairs = { 0 };
    abut_status rc = abut_box_pairs(&vert, &tri, &pairs, err);
    for (size_t k = 0, end; k < pairs.n && !rc; k = end) {
        const int32_t i = pairs.ij[k][0];
        int winding = 0;
        for (end = k; end < pairs.n && pairs.ij[end][0] == i; end++) {
            const int32_t *v = b->tri + 3 * (size_t)pairs.ij[end][1];
            winding += above(x + 3 * (size_t)v[0], x + 3 * (size_t)v[1], x + 3 * (size_t)v[2], x + 3 * (size_t)b->vert[i]);
        }
        const abut_hit hit = { ABUT_HIT_POINT_BODY, { b->vert[i], -1, -1, -1, -1 }, object, 0, 0 };
        if (winding) rc = abut_hits_add(out, &hit, err);
    }
    out->pairs += pairs.n;
    abut_pair_list_clear(&pairs);
    return rc;
}

abut_status abut_judge_inside(const abut_judge_shape *s, const double *x, abut_hits *out, abut_err *err)
{
    assert(s && x && out);
    const abut_model *m = s->map;
    if (!m) return ABUT_OK;
    body b;
    uint8_t *solid = calloc((size_t)m->no + 1, 1);
    abut_status rc = make(&b, s, err);
    if (!rc && !solid) rc = abut_fail(err, ABUT_E_NOMEM, "judge: %d objects", m->no);
    for (int32_t t = 0; t < (rc ? 0 : m->nt); t++) solid[m->body[m->tet[4 * (size_t)t]]] = 1;
    for (int32_t o = 0; o < m->no && !rc; o++) {
        int closed = 0;
        if (!solid[o]) continue;
        gather_surface(&b, s, x, o);
        rc = is_closed(b.tri, b.n, &closed, err);
        if (rc || !closed) continue;
        gather_vertices(&b, s, x, o);
        rc = look(&b, o, x, out, err);
    }
    clear(&b);
    free(solid);
    return rc;
}

/* ---- depth of the true boundary ---- */

/* Contact surface of one object. */
typedef struct hull {
    abut_triangle_tree *tree;   /* NULL: it has no triangles */
    int32_t *tri, n;
    double lo[3], hi[3];
    int still;                  /* an obstacle */
} hull;

typedef struct scene {
    const abut_model *m;
    const double *x, *y;
    hull *body;                 /* [m->no] */
    int64_t *face;              /* boundary faces of tets, 4 t + f */
    int32_t faces;
} scene;

static void clear_scene(scene *s)
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

static int is_still(const abut_model *m, int32_t node) { return m->role[node] == ABUT_NODE_OBSTACLE; }

static abut_status body_of(scene *s, int32_t object, abut_err *err)
{
    const abut_model *m = s->m;
    hull *b = &s->body[object];
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
    rc = is_closed(b->tri, (size_t)b->n, &closed, err);
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
        const hull *b = &s->body[k];
        abut_vec3 near;
        int in_box = k != own && b->tree != NULL && !may_meet(m, still, b->still) && !abut_model_excludes(m, own, k);
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
    abut_status rc = s.body && (y || nodes) ? abut_surface_faces(m->tet, m->nt, &s.face, &s.faces, err)
                                            : no_memory(m, err);
    for (int32_t v = 0; nodes && v < m->nc; v++)
        memcpy(nodes + 3 * (size_t)v, x + 3 * (size_t)abut_model_contact_node(m, v), 3 * sizeof *nodes);
    s.y = y ? y : nodes;
    for (int32_t o = 0; o < m->no && !rc; o++) rc = body_of(&s, o, err);
    if (!rc) rc = sample_all(&s, segments, out, err);
    clear_scene(&s);
    free(nodes);
    return rc;
}

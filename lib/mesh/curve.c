/* The surface of a mesh of tets put onto a smooth shape: the shapes, then corners, edges, faces and nodes. */
#include "mesh/tet_nodes.h"

#include "base/arena.h"
#include "base/order.h"
#include "geom/jacobian.h"
#include "geom/lagrange.h"
#include "geom/quadrature.h"
#include "mesh/surface.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- shapes ---- */

/* Signed distance to a capsule and its gradient, a unit vector (0 on the axis). */
static double capsule_distance(const abut_capsule *c, const double p[3], double grad[3])
{
    double d[3], along = 0, length2 = 0, out2 = 0;
    for (int k = 0; k < 3; k++) {
        d[k] = c->b[k] - c->a[k];
        along += d[k] * (p[k] - c->a[k]), length2 += d[k] * d[k];
    }
    const double s = length2 > 0 ? fmin(fmax(along / length2, 0), 1) : 0;
    for (int k = 0; k < 3; k++) {
        grad[k] = p[k] - c->a[k] - s * d[k];
        out2 += grad[k] * grad[k];
    }
    const double out = sqrt(out2);
    for (int k = 0; k < 3; k++) grad[k] = out > 0 ? grad[k] / out : 0;
    return out - c->radius;
}

/* The sum is taken relative to the least distance, so that no exponential overflows. */
double abut_capsules_value(const abut_capsules *f, const double p[3], double grad[3])
{
    double least = INFINITY, g[3], sum = 0;
    for (int32_t i = 0; i < f->n; i++) {
        const double d = capsule_distance(&f->capsule[i], p, g);
        if (d < least) least = d, memcpy(grad, g, sizeof g);
    }
    if (!(f->blend > 0)) return least;
    double blended[3] = { 0 };
    for (int32_t i = 0; i < f->n; i++) {
        const double far = (capsule_distance(&f->capsule[i], p, g) - least) / f->blend;
        if (far > 40) continue;                 /* below the rounding of the sum, which is 1 or more */
        const double w = exp(-far);
        sum += w;
        for (int k = 0; k < 3; k++) blended[k] += w * g[k];
    }
    for (int k = 0; k < 3; k++) grad[k] = blended[k] / sum;
    return least - f->blend * log(sum);
}

abut_status abut_snap_begin(abut_snap *s, abut_err *err)
{
    if (s->kind != ABUT_SNAP_MESH || s->tree) return ABUT_OK;
    return abut_triangle_tree_new(&s->tree, s->mesh.x, s->mesh.tri, s->mesh.nf, err);
}

void abut_snap_clear(abut_snap *s)
{
    abut_triangle_tree_free(&s->tree);
    abut_mesh_clear(&s->mesh);
    free(s->capsule);
    memset(s, 0, sizeof *s);
}

/* Moves p to the distance r from the axis y, or, in space, from the origin.  Returns 0 if p lies there. */
static int to_radius(abut_vec3 *p, int in_space, double r)
{
    const double d = sqrt(p->x * p->x + p->z * p->z + (in_space ? p->y * p->y : 0));
    if (!(d > 0)) return 0;
    const double s = r / d;
    p->x *= s, p->z *= s;
    if (in_space) p->y *= s;
    return 1;
}

static int to_cylinder(const abut_snap *s, abut_vec3 *p, const abut_vec3 *normal, int k)
{
    int side = 0, end = 0;
    for (int i = 0; i < k; i++)
        if (fabs(normal[i].y) > 0.7071067811865476) end = 1;
        else side = 1;
    if (end) p->y = p->y < 0 ? -s->size / 2 : s->size / 2;
    return !side || to_radius(p, 0, s->radius);
}

static int to_torus(const abut_snap *s, abut_vec3 *p)
{
    const double out = sqrt(p->x * p->x + p->z * p->z);
    abut_vec3 q = { out - s->radius, p->y, 0 };         /* in the plane of the axis and p, from the middle of the section */
    if (!(out > 0) || !to_radius(&q, 1, s->size)) return 0;
    const double f = (s->radius + q.x) / out;
    *p = abut_v3(p->x * f, q.y, p->z * f);
    return 1;
}

/* Newton along the gradient of the implicit shape. */
static int to_capsules(const abut_snap *s, abut_vec3 *p)
{
    const abut_capsules f = { s->capsule, s->ncapsules, s->blend };
    double x[3], g[3];
    abut_v3_put(x, *p);
    for (int it = 0; it < 40; it++) {
        const double value = abut_capsules_value(&f, x, g), g2 = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
        if (!(g2 > 1e-12)) return 0;
        for (int k = 0; k < 3; k++) x[k] -= value * g[k] / g2;
        if (fabs(value) < 1e-14 * (fabs(x[0]) + fabs(x[1]) + fabs(x[2]) + s->capsule[0].radius)) break;
    }
    *p = abut_v3_get(x);
    return 1;
}

/* Finds the point y of the shape for a point x on a surface.
 *
 * normal  [k] unit normals of the faces that meet at x: they decide whether x is on the side, an end or the rim of a cylinder;
 *         of a mesh, only triangles within 60 degrees of one of them are considered
 * reach   m: largest distance to a mesh
 * y       out
 * returns 0: there is no such point, and x stays */
static int snap_point(const abut_snap *s, abut_vec3 x, const abut_vec3 *normal, int k, double reach, abut_vec3 *y)
{
    const abut_vec3 c = abut_v3_get(s->center);
    abut_vec3 p = abut_v3_sub(x, c);
    int found = 0;
    switch (s->kind) {
    case ABUT_SNAP_SPHERE: found = to_radius(&p, 1, s->radius); break;
    case ABUT_SNAP_CYLINDER: found = to_cylinder(s, &p, normal, k); break;
    case ABUT_SNAP_TORUS: found = to_torus(s, &p); break;
    case ABUT_SNAP_CAPSULES: found = to_capsules(s, &x), p = abut_v3_sub(x, c); break;
    case ABUT_SNAP_MESH: return abut_triangle_nearest(s->tree, x, normal, k, 0.5, reach, y) >= 0;
    default: break;
    }
    if (found) *y = abut_v3_add(p, c);
    return found;
}

enum { HALVES = 6, NORMALS = 32, EDGE_FACES = 4, SAMPLES = 6 };

static const signed char EDGE[6][2] = { { 0, 1 }, { 1, 2 }, { 2, 0 }, { 3, 0 }, { 3, 2 }, { 3, 1 } };

/* A mesh while its surface is put onto the shape. */
typedef struct work {
    abut_mesh *m;
    const abut_snap *s;
    int order, face_inner;      /* order of the tets; inner nodes of a face */
    int32_t nf, ne;
    int64_t *face;              /* [nf] 4 t + f, ascending */
    int32_t *first;             /* [nt + 1] faces of tet t: face[first[t]] on */
    int32_t *tri, *edge;        /* [3 nf], [2 ne]: corners; edges ascending, smaller corner first */
    int32_t *edge_face;         /* [EDGE_FACES ne] -1 unused */
    abut_vec3 *normal;          /* [nf] unit, of the straight faces */
    double *edge_move;          /* [3 (order - 1) ne] from its smaller corner on */
    double *face_move;          /* [3 face_inner nf] in the order of a triangle of that face */
    signed char *edge_halves, *face_halves;     /* halvings of their moves */
} work;

static abut_vec3 point(const abut_mesh *m, int32_t i)
{
    return abut_v3_get(m->x + 3 * (size_t)i);
}

static abut_status begin(work *w, abut_err *err)
{
    abut_mesh *m = w->m;
    abut_status rc = abut_surface_faces(m->tet, m->nt, &w->face, &w->nf, err);
    if (rc) return rc;
    const size_t nf = (size_t)w->nf;
    if (!ABUT_ARRAYS(ABUT_ZEROS(w->first, (size_t)m->nt + 2), ABUT_ITEMS(w->tri, 3 * nf), ABUT_ITEMS(w->normal, nf)))
        return abut_fail(err, ABUT_E_NOMEM, "surface: no memory for %d faces", w->nf);
    for (size_t i = 0; i < nf; i++) {
        const size_t t = (size_t)(w->face[i] / 4);
        w->first[t + 1]++;
        for (int c = 0; c < 3; c++) w->tri[3 * i + (size_t)c] = m->tet[4 * t + (size_t)abut_tet_face[w->face[i] % 4][c]];
    }
    for (int32_t t = 0; t < m->nt; t++) w->first[t + 1] += w->first[t];
    return abut_surface_edges(w->tri, w->nf, NULL, 0, &w->edge, &w->ne, err);
}

static void find_normals(work *w)
{
    for (int32_t i = 0; i < w->nf; i++) {
        const int32_t *v = w->tri + 3 * (size_t)i;
        const abut_vec3 a = point(w->m, v[0]);
        const abut_vec3 n = abut_v3_cross(abut_v3_sub(point(w->m, v[1]), a), abut_v3_sub(point(w->m, v[2]), a));
        const double size = abut_v3_norm(n);
        w->normal[i] = size > 0 ? abut_v3_scale(1 / size, n) : abut_v3(0, 0, 0);
    }
}

static double longest_edge(const work *w, int32_t face)
{
    const int32_t *v = w->tri + 3 * (size_t)face;
    double most2 = 0;
    for (int c = 0; c < 3; c++)
        most2 = fmax(most2, abut_v3_norm2(abut_v3_sub(point(w->m, v[c]), point(w->m, v[(c + 1) % 3]))));
    return sqrt(most2);
}

/* ---- corners ---- */

/* Items of lists of `width` points by point: list[row[v] .. row[v + 1]) are the items of v. */
typedef struct items {
    int32_t *row, *list;
} items;

static abut_status items_of(const int32_t *e, int32_t n, int width, int32_t nv, items *out, abut_err *err)
{
    const size_t total = (size_t)n * (size_t)width;
    if (!ABUT_ARRAYS(ABUT_ZEROS(out->row, (size_t)nv + 2), ABUT_ITEMS(out->list, total)))
        return abut_fail(err, ABUT_E_NOMEM, "surface: no memory for %d items", n);
    for (size_t i = 0; i < total; i++) out->row[e[i] + 2]++;
    for (int32_t v = 0; v < nv; v++) out->row[v + 2] += out->row[v + 1];
    for (size_t i = 0; i < total; i++) out->list[out->row[e[i] + 1]++] = (int32_t)(i / (size_t)width);
    return ABUT_OK;
}

static void items_free(items *l)
{
    free(l->row), free(l->list);
}

/* Finds the target y of surface corner v on the shape.  Returns 0 if it has none or lies there within `tiny`. */
static int corner_target(const work *w, const items *faces, int32_t v, double tiny, abut_vec3 *y)
{
    abut_vec3 normal[NORMALS];
    int k = 0;
    double reach = 0;
    for (int32_t i = faces->row[v]; i < faces->row[v + 1] && k < NORMALS; i++) {
        normal[k++] = w->normal[faces->list[i]];
        reach = fmax(reach, 0.5 * longest_edge(w, faces->list[i]));
    }
    if (!k || !snap_point(w->s, point(w->m, v), normal, k, reach, y)) return 0;
    return abut_v3_norm(abut_v3_sub(*y, point(w->m, v))) > tiny;
}

/* Moves corner v towards y as far as its tets keep a fifth of their volumes `before`.  Returns 1 if v reaches y. */
static int move_corner(work *w, const items *tets, int32_t v, abut_vec3 y, const double *before)
{
    const abut_vec3 from = point(w->m, v), d = abut_v3_sub(y, from);
    double share = 1;
    for (int halves = 0; halves <= HALVES; halves++, share /= 2) {
        int fine = 1;
        abut_v3_put(w->m->x + 3 * (size_t)v, halves ? abut_v3_axpy(from, share, d) : y);
        for (int32_t i = tets->row[v]; i < tets->row[v + 1] && fine; i++)
            fine = abut_tet_volume6(w->m->x, w->m->tet + 4 * (size_t)tets->list[i]) >= 0.2 * before[tets->list[i]];
        if (fine) return halves == 0;
    }
    abut_v3_put(w->m->x + 3 * (size_t)v, from);
    return 0;
}

static abut_status move_corners(work *w, abut_curved *out, abut_err *err)
{
    abut_mesh *m = w->m;
    items tets = { 0 }, faces = { 0 };
    double *before = malloc(((size_t)m->nt + 1) * sizeof *before), lo[3], hi[3];
    abut_status rc = before ? items_of(m->tet, m->nt, 4, m->nv, &tets, err)
                            : abut_fail(err, ABUT_E_NOMEM, "surface: no memory for %d volumes", m->nt);
    if (!rc) rc = items_of(w->tri, w->nf, 3, m->nv, &faces, err);
    abut_mesh_bounds(m, lo, hi);
    const double tiny = 1e-12 * (hi[0] - lo[0] + hi[1] - lo[1] + hi[2] - lo[2]);
    for (int32_t t = 0; t < m->nt && !rc; t++) {
        before[t] = abut_tet_volume6(m->x, m->tet + 4 * (size_t)t);
        if (!(before[t] > 0))
            rc = abut_fail(err, ABUT_E_GEOM, "tet %d has six times the volume %g m^3: expected more than 0", t, before[t]);
    }
    for (int32_t v = 0; v < m->nv && !rc; v++) {
        abut_vec3 y;
        if (!corner_target(w, &faces, v, tiny, &y)) continue;
        out->corners++;
        out->held += !move_corner(w, &tets, v, y, before);
    }
    items_free(&tets), items_free(&faces), free(before);
    return rc;
}

/* ---- edges and faces ---- */

static int32_t find_edge(const work *w, int32_t a, int32_t b)
{
    const int32_t key[2] = { a < b ? a : b, a < b ? b : a };
    const int32_t *e = bsearch(key, w->edge, (size_t)w->ne, 2 * sizeof *w->edge, abut_by_two);
    return e ? (int32_t)((e - w->edge) / 2) : -1;
}

static abut_status make_moves(work *w, abut_err *err)
{
    const size_t ne = (size_t)w->ne, nf = (size_t)w->nf;
    w->face_inner = (w->order - 1) * (w->order - 2) / 2;
    if (!ABUT_ARRAYS(ABUT_ITEMS(w->edge_face, EDGE_FACES * ne), ABUT_ZEROS(w->edge_move, 3 * (size_t)(w->order - 1) * ne),
                     ABUT_ZEROS(w->face_move, 3 * (size_t)w->face_inner * nf), ABUT_ZEROS(w->edge_halves, ne),
                     ABUT_ZEROS(w->face_halves, nf)))
        return abut_fail(err, ABUT_E_NOMEM, "surface: no memory for %d edges and %d faces", w->ne, w->nf);
    for (size_t i = 0; i < EDGE_FACES * ne; i++) w->edge_face[i] = -1;
    for (int32_t i = 0; i < w->nf; i++)
        for (int c = 0; c < 3; c++) {
            const int32_t *v = w->tri + 3 * (size_t)i;
            int32_t *at = w->edge_face + EDGE_FACES * (size_t)find_edge(w, v[c], v[(c + 1) % 3]);
            int k = 0;
            while (k < EDGE_FACES && at[k] >= 0) k++;
            if (k < EDGE_FACES) at[k] = i;
        }
    return ABUT_OK;
}

/* Writes the displacement from x to the shape; `move` stays unchanged if there is none. */
static void move_to(const work *w, abut_vec3 x, const int32_t *face, int n, double *move)
{
    abut_vec3 normal[EDGE_FACES], y;
    double reach = 0;
    int k = 0;
    for (; k < n && face[k] >= 0; k++) {
        normal[k] = w->normal[face[k]];
        reach = fmax(reach, 0.5 * longest_edge(w, face[k]));
    }
    if (snap_point(w->s, x, normal, k, reach, &y)) abut_v3_put(move, abut_v3_sub(y, x));
}

static void find_moves(work *w)
{
    const int g = w->order;
    for (int32_t e = 0; e < w->ne; e++) {
        const int32_t *v = w->edge + 2 * (size_t)e;
        const abut_vec3 a = point(w->m, v[0]), d = abut_v3_sub(point(w->m, v[1]), a);
        for (int j = 1; j < g; j++)
            move_to(w, abut_v3_axpy(a, (double)j / g, d), w->edge_face + EDGE_FACES * (size_t)e, EDGE_FACES,
                    w->edge_move + 3 * ((size_t)e * (size_t)(g - 1) + (size_t)(j - 1)));
    }
    const signed char(*a)[3] = abut_triangle_lattice(g);
    for (int32_t i = 0; i < w->nf; i++)
        for (int k = 0; k < w->face_inner; k++) {
            const signed char *at = a[3 * g + k];
            abut_vec3 x = abut_v3(0, 0, 0);
            for (int c = 0; c < 3; c++) x = abut_v3_axpy(x, (double)at[c] / g, point(w->m, w->tri[3 * (size_t)i + (size_t)c]));
            move_to(w, x, &i, 1, w->face_move + 3 * ((size_t)i * (size_t)w->face_inner + (size_t)k));
        }
}

/* ---- nodes ---- */

static double share_of(signed char halves)
{
    return halves > HALVES ? 0 : ldexp(1, -halves);
}

/* Displacement of edge e at the fraction t from its smaller corner. */
static abut_vec3 edge_at(const work *w, int32_t e, double t)
{
    const int g = w->order;
    abut_vec3 sum = abut_v3(0, 0, 0);
    for (int j = 1; j < g; j++) {
        double phi = 1;
        for (int i = 0; i <= g; i++)
            if (i != j) phi *= (g * t - i) / (j - i);
        sum = abut_v3_axpy(sum, phi * share_of(w->edge_halves[e]),
                           abut_v3_get(w->edge_move + 3 * ((size_t)e * (size_t)(g - 1) + (size_t)(j - 1))));
    }
    return sum;
}

/* Lists the six edges of tet t by their number on the surface; -1: inside. */
static void edges_of(const work *w, int32_t t, int32_t edge[6])
{
    const int32_t *v = w->m->tet + 4 * (size_t)t;
    for (int e = 0; e < 6; e++) edge[e] = find_edge(w, v[EDGE[e][0]], v[EDGE[e][1]]);
}

static abut_vec3 blend(const work *w, int32_t t, const int32_t edge[6], const signed char a[4])
{
    abut_vec3 sum = abut_v3(0, 0, 0);
    for (int e = 0; e < 6; e++) {
        int i = EDGE[e][0], j = EDGE[e][1];
        if (edge[e] < 0 || !a[i] || !a[j]) continue;
        if (w->m->tet[4 * (size_t)t + (size_t)i] > w->m->tet[4 * (size_t)t + (size_t)j]) i = EDGE[e][1], j = EDGE[e][0];
        const double both = (double)(a[i] + a[j]) / w->order;
        sum = abut_v3_axpy(sum, both * both, edge_at(w, edge[e], (double)a[j] / (a[i] + a[j])));
    }
    return sum;
}

/* Returns the face of tet t on the surface that has the node a of the lattice; -1: none. */
static int32_t face_with(const work *w, int32_t t, const signed char a[4])
{
    for (int32_t i = w->first[t]; i < w->first[t + 1]; i++)
        if (!a[w->face[i] % 4]) return i;
    return -1;
}

static abut_vec3 face_move(const work *w, int32_t face, const signed char a[4])
{
    const signed char(*at)[3] = abut_triangle_lattice(w->order), *corner = abut_tet_face[w->face[face] % 4];
    int k = 3 * w->order;
    while (at[k][0] != a[corner[0]] || at[k][1] != a[corner[1]]) k++;
    k -= 3 * w->order;
    return abut_v3_scale(share_of(w->face_halves[face]),
                         abut_v3_get(w->face_move + 3 * ((size_t)face * (size_t)w->face_inner + (size_t)k)));
}

/* Places the nodes of tet t beyond its corners. */
static void place_nodes(work *w, int32_t t)
{
    abut_mesh *m = w->m;
    const int32_t *v = m->tet + 4 * (size_t)t;
    const signed char(*a)[4] = abut_tet_lattice(w->order);
    const int n = abut_tet_nodes(w->order);
    int32_t edge[6];
    edges_of(w, t, edge);
    for (int i = 4; i < n; i++) {
        const abut_node_key key = abut_node_key_of(v, a[i]);
        const int size = abut_node_key_size(&key);
        const int32_t e = size == 2 ? find_edge(w, key.corner[0], key.corner[1]) : -1;
        const int32_t face = size == 3 ? face_with(w, t, a[i]) : -1;
        abut_vec3 x = abut_v3(0, 0, 0), move = abut_v3(0, 0, 0);
        for (int c = 0; c < size; c++) x = abut_v3_axpy(x, key.weight[c], point(m, key.corner[c]));
        x = abut_v3(x.x / w->order, x.y / w->order, x.z / w->order);
        if (e >= 0) move = edge_at(w, e, (double)key.weight[1] / w->order);
        else if (face >= 0) move = face_move(w, face, a[i]);
        else move = blend(w, t, edge, a[i]);
        abut_v3_put(m->x + 3 * (size_t)m->more[(size_t)(n - 4) * (size_t)t + (size_t)i - 4], abut_v3_add(x, move));
    }
}

static void halve(signed char *halves)
{
    if (*halves <= HALVES) ++*halves;
}

/* Halves the moves on the surface of each tet whose Jacobian determinant is not proven positive; returns 1 if any was left. */
static int ease(work *w, char *eased)
{
    int found = 0;
    for (int32_t t = 0; t < w->m->nt; t++) {
        double X[ABUT_TET_NODES_MAX][3];
        int32_t edge[6];
        abut_mesh_tet_places(w->m, t, X);
        if (abut_jacobian_check(w->order, (const double(*)[3])X, NULL) == ABUT_JACOBIAN_POSITIVE) continue;
        edges_of(w, t, edge);
        int curved = 0;
        for (int e = 0; e < 6; e++)
            if (edge[e] >= 0) curved |= w->edge_halves[edge[e]] <= HALVES, halve(&w->edge_halves[edge[e]]);
        for (int32_t i = w->first[t]; i < w->first[t + 1]; i++)
            curved |= w->face_halves[i] <= HALVES, halve(&w->face_halves[i]);
        eased[t] = 1;
        found |= curved;
    }
    return found;
}

static abut_status move_nodes(work *w, abut_curved *out, abut_err *err)
{
    const int32_t nt = w->m->nt;
    char *eased = calloc((size_t)nt + 1, 1);
    if (!eased) return abut_fail(err, ABUT_E_NOMEM, "surface: no memory for %d tets", nt);
    do
        for (int32_t t = 0; t < nt; t++)
            place_nodes(w, t);
    while (ease(w, eased));
    for (int32_t t = nt - 1; t >= 0; t--)
        if (eased[t]) out->eased++, out->first = t;
    free(eased);
    return ABUT_OK;
}

/* ---- facts of the result ---- */

static double face_gap(const work *w, int32_t face)
{
    const int f = (int)(w->face[face] % 4);
    double X[ABUT_TET_NODES_MAX][3], most = 0;
    abut_mesh_tet_places(w->m, (int32_t)(w->face[face] / 4), X);
    for (int i = 0; i <= SAMPLES; i++)
        for (int j = 0; i + j <= SAMPLES; j++) {
            double L[4] = { 0 }, x[3];
            abut_vec3 y;
            const int at[3] = { i, j, SAMPLES - i - j };
            for (int c = 0; c < 3; c++) L[abut_tet_face[f][c]] = (double)at[c] / SAMPLES;
            abut_tet_point(w->order, (const double(*)[3])X, L, x, NULL);
            if (snap_point(w->s, abut_v3_get(x), &w->normal[face], 1, longest_edge(w, face), &y))
                most = fmax(most, abut_v3_norm(abut_v3_sub(y, abut_v3_get(x))));
        }
    return most;
}

static abut_status measure(const work *w, abut_curved *out, abut_err *err)
{
    abut_quadrature q = { 0 };
    const abut_status rc = abut_quadrature_tet(3 * (w->order - 1), &q, err);
    out->least = 1;
    for (int32_t t = 0; t < w->m->nt && !rc; t++) {
        double X[ABUT_TET_NODES_MAX][3], J[9], mean = 0;
        abut_mesh_tet_places(w->m, t, X);
        for (int i = 0; i < q.n; i++)
            mean += q.w[i] * abut_tet_point(w->order, (const double(*)[3])X, q.L + 4 * i, NULL, J);
        out->least = fmin(out->least, abut_jacobian_least(w->order, (const double(*)[3])X, NULL) / mean);
    }
    for (int32_t i = 0; i < w->nf && !rc; i++) out->gap = fmax(out->gap, face_gap(w, i));
    abut_quadrature_clear(&q);
    return rc;
}

abut_status abut_mesh_curve(abut_mesh *m, const abut_snap *s, int order, abut_curved *out, abut_err *err)
{
    assert(abut_mesh_order(m) == 1 && order >= 1 && order <= ABUT_ORDER_MAX);
    work w = { .m = m, .s = s, .order = order };
    *out = (abut_curved){ .first = -1 };
    abut_status rc = begin(&w, err);
    if (!rc) find_normals(&w);
    if (!rc) rc = move_corners(&w, out, err);
    if (!rc) find_normals(&w);
    if (!rc) rc = abut_mesh_set_order(m, order, err);
    if (!rc) rc = make_moves(&w, err);
    if (!rc) find_moves(&w);
    if (!rc) rc = move_nodes(&w, out, err);
    if (!rc) rc = measure(&w, out, err);
    free(w.face), free(w.first), free(w.tri), free(w.edge), free(w.edge_face), free(w.normal), free(w.edge_move);
    free(w.face_move), free(w.edge_halves), free(w.face_halves);
    return rc;
}

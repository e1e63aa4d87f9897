#include "mesh/proxy.h"

#include "base/words.h"
#include "geom/boxes.h"
#include "mesh/surface.h"
#include "mesh/tet_nodes.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A vertex as a face has it. */
typedef struct place {
    abut_node_key key;
    int64_t face;       /* 4 tet + face */
    int32_t slot;       /* among the lattice points of all faces, face by face */
} place;

static int by_key(const void *a, const void *b)
{
    const place *p = a, *q = b;
    const int by = abut_node_key_compare(&p->key, &q->key);
    if (by) return by;
    if (p->face != q->face) return p->face < q->face ? -1 : 1;
    return (p->slot > q->slot) - (p->slot < q->slot);
}

/* Lattice point (i, j) of a face: i, j segments from its first corner towards the second and third.  Row after row of j. */
static int lattice_at(int n, int i, int j) { return j * (n + 1) - j * (j - 1) / 2 + i; }

static void put_point(const signed char corner[3], int n, int i, int j, signed char a[4])
{
    memset(a, 0, 4);
    a[corner[0]] = (signed char)(n - i - j);
    a[corner[1]] = (signed char)i;
    a[corner[2]] = (signed char)j;
}

static abut_status no_memory(const char *what, size_t n, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "proxy: no memory for %zu %s", n, what);
}

/* All lattice points of the faces, by keys. */
static abut_status list_places(const abut_mesh *m, const int64_t *face, int32_t n, int segments, place **list, abut_err *err)
{
    const size_t each = (size_t)abut_triangle_nodes(segments);
    const double vertices = 0.5 * n * segments * segments;      /* of a closed surface, as E = 3 F/2 and V = F/2 + 2 */
    if (vertices > ABUT_POINTS_MOST)
        return abut_fail(err, ABUT_E_FORMAT, "%d faces with %d segments on a side: about %.3g points: expected at most %g", n,
                         segments, vertices, ABUT_POINTS_MOST);
    place *p = malloc(((size_t)n * each + 1) * sizeof *p);
    if (!p) return no_memory("vertices of faces", (size_t)n * each, err);
    for (int32_t f = 0; f < n; f++)
        for (int j = 0; j <= segments; j++)
            for (int i = 0; i + j <= segments; i++) {
                const int32_t slot = (int32_t)((size_t)f * each) + lattice_at(segments, i, j);
                signed char a[4];
                put_point(abut_tet_face[face[f] % 4], segments, i, j, a);
                p[slot] = (place){ abut_node_key_of(m->tet + 4 * (face[f] / 4), a), face[f], slot };
            }
    qsort(p, (size_t)n * each, sizeof *p, by_key);
    *list = p;
    return ABUT_OK;
}

/* Barycentric coordinates of a place in its tet. */
static void barycentric(const abut_mesh *m, const place *p, int segments, double L[4])
{
    const int32_t *corner = m->tet + 4 * (p->face / 4);
    for (int c = 0; c < 4; c++) {
        L[c] = 0;
        for (int k = 0; k < 4 && p->key.weight[k]; k++)
            if (p->key.corner[k] == corner[c]) L[c] = (double)p->key.weight[k] / segments;
    }
}

/* Writes row v, after the rows before: the nodes of tet t whose basis is 1e-12 or more at L, ascending. */
static void proxy_row(const abut_mesh *m, int32_t t, const double L[4], abut_proxy *out, int32_t v)
{
    double phi[ABUT_TET_NODES_MAX];
    int32_t node[ABUT_TET_NODES_MAX], k = out->first[v];
    const int n = abut_mesh_tet_nodes(m, t, node);
    abut_tet_basis(abut_mesh_order(m), L, phi, NULL);
    for (int i = 0; i < n; i++) {
        if (fabs(phi[i]) < 1e-12) continue;
        int32_t at = k++;
        for (; at > out->first[v] && out->point[at - 1] > node[i]; at--)
            out->point[at] = out->point[at - 1], out->weight[at] = out->weight[at - 1];
        out->point[at] = node[i];
        out->weight[at] = phi[i];
    }
    out->first[v + 1] = k;
}

/* Nodes of the rest shape of a tet; returns its order. */
static int shape_of(const abut_mesh *m, abut_rest_shape shape, int32_t t, double X[ABUT_TET_NODES_MAX][3])
{
    const size_t n = 3 * (size_t)abut_tet_nodes(shape.order);
    if (shape.order) memcpy(X, shape.x + n * (size_t)t, n * sizeof(double));
    else abut_mesh_tet_places(m, t, X);
    return shape.order ? shape.order : abut_mesh_order(m);
}

static void write_vertex(const abut_mesh *m, abut_rest_shape shape, const place *p, int segments, abut_proxy *out, int32_t v)
{
    double L[4], X[ABUT_TET_NODES_MAX][3];
    const int32_t t = (int32_t)(p->face / 4);
    const int order = shape_of(m, shape, t, X);
    barycentric(m, p, segments, L);
    abut_tet_point(order, (const double(*)[3])X, L, out->X + 3 * (size_t)v, NULL);
    proxy_row(m, t, L, out, v);
}

/* Puts the offset X - W x; none if all are at most 1e-12 of the size of the mesh.  *largest, m: the largest. */
static abut_status proxy_offset(const abut_mesh *m, abut_proxy *p, double *largest, abut_err *err)
{
    double lo[3], hi[3], *offset = malloc((3 * (size_t)p->nv + 1) * sizeof *offset);
    if (!offset) return no_memory("offsets", (size_t)p->nv, err);
    abut_mesh_bounds(m, lo, hi);
    *largest = 0;
    for (int32_t v = 0; v < p->nv; v++)
        for (size_t d = 0; d < 3; d++) {
            double sum = 0;
            for (int32_t k = p->first[v]; k < p->first[v + 1]; k++) sum += p->weight[k] * m->x[3 * (size_t)p->point[k] + d];
            offset[3 * (size_t)v + d] = p->X[3 * (size_t)v + d] - sum;
            *largest = fmax(*largest, fabs(offset[3 * (size_t)v + d]));
        }
    free(p->offset);
    p->offset = offset;
    if (*largest > 1e-12 * abut_v3_norm(abut_v3_sub(abut_v3_get(hi), abut_v3_get(lo)))) return ABUT_OK;
    free(offset);
    p->offset = NULL;
    return ABUT_OK;
}

/* Triangles (i,j) (i+1,j) (i,j+1) and (i+1,j) (i+1,j+1) (i,j+1) of every face. */
static void write_triangles(int32_t faces, int segments, const int32_t *vertex, int32_t *tri)
{
    for (int32_t f = 0; f < faces; f++, vertex += abut_triangle_nodes(segments))
        for (int j = 0; j < segments; j++)
            for (int i = 0; i + j < segments; i++) {
                const int32_t a = vertex[lattice_at(segments, i, j)], b = vertex[lattice_at(segments, i + 1, j)],
                              c = vertex[lattice_at(segments, i, j + 1)];
                *tri++ = a, *tri++ = b, *tri++ = c;
                if (i + j + 1 == segments) continue;
                *tri++ = b, *tri++ = vertex[lattice_at(segments, i + 1, j + 1)], *tri++ = c;
            }
}

/* Room for so many vertices, with up to `width` points in a row, and triangles. */
static abut_status proxy_room(abut_proxy *p, int32_t nv, int32_t nf, int32_t width, abut_err *err)
{
    const size_t entries = (size_t)nv * (size_t)width + 1;
    *p = (abut_proxy){ nv, nf, calloc((size_t)nv + 1, sizeof *p->first), malloc(entries * sizeof *p->point),
                       malloc(entries * sizeof *p->weight), malloc((3 * (size_t)nv + 1) * sizeof *p->X), NULL,
                       malloc((3 * (size_t)nf + 1) * sizeof *p->tri) };
    if (p->first && p->point && p->weight && p->X && p->tri) return ABUT_OK;
    abut_proxy_clear(p);
    return no_memory("vertices", (size_t)nv, err);
}

abut_status abut_proxy_upsample(const abut_mesh *m, abut_rest_shape shape, int segments, abut_proxy *out, abut_err *err)
{
    assert(segments >= 1 && segments <= ABUT_SEGMENTS_MOST);
    int64_t *face = NULL;
    int32_t n = 0, nv = 0, *vertex = NULL;
    place *list = NULL;
    *out = (abut_proxy){ 0 };
    abut_status rc = abut_surface_faces(m->tet, m->nt, &face, &n, err);
    const size_t all = (size_t)n * (size_t)abut_triangle_nodes(segments);
    if (!rc) rc = list_places(m, face, n, segments, &list, err);
    for (size_t i = 0; i < (rc ? 0 : all); i++) nv += i == 0 || abut_node_key_compare(&list[i - 1].key, &list[i].key) != 0;
    if (!rc && !(vertex = malloc((all + 1) * sizeof *vertex))) rc = no_memory("vertices of faces", all, err);
    if (!rc) rc = proxy_room(out, nv, n * segments * segments, abut_triangle_nodes(abut_mesh_order(m)), err);
    for (size_t i = 0; i < (rc ? 0 : all); i++) {
        const int is_new = i == 0 || abut_node_key_compare(&list[i - 1].key, &list[i].key) != 0;
        if (is_new) nv = i ? nv + 1 : 0;
        if (is_new) write_vertex(m, shape, &list[i], segments, out, nv);      /* of the lowest face that has it */
        vertex[list[i].slot] = nv;
    }
    if (!rc) write_triangles(n, segments, vertex, out->tri);
    double largest;
    if (!rc && shape.order) rc = proxy_offset(m, out, &largest, err);
    if (rc) abut_proxy_clear(out);
    free(face), free(list), free(vertex);
    return rc;
}

void abut_proxy_clear(abut_proxy *p)
{
    free(p->first), free(p->point), free(p->weight), free(p->X), free(p->offset), free(p->tri);
    *p = (abut_proxy){ 0 };
}

/* ---- how far it is from the boundary ---- */

/* Distance of the boundary at L, the mean of n lattice points, from the plane of a triangle with corners y. */
static double off_plane(int order, double (*X)[3], const double (*L)[4], int n, double (*y)[3])
{
    double mean[4] = { 0 }, x[3];
    for (int k = 0; k < n; k++)
        for (int c = 0; c < 4; c++) mean[c] += L[k][c] / n;
    abut_tet_point(order, (const double(*)[3])X, mean, x, NULL);
    const abut_vec3 a = abut_v3_get(y[0]), u = abut_v3_sub(abut_v3_get(y[1]), a), v = abut_v3_sub(abut_v3_get(y[2]), a);
    const abut_vec3 normal = abut_v3_cross(u, v);
    const double size = abut_v3_norm(normal);
    return size > 0 ? fabs(abut_v3_dot(normal, abut_v3_sub(abut_v3_get(x), a))) / size
                    : abut_v3_norm(abut_v3_sub(abut_v3_get(x), a));
}

static double measure_face(int order, double (*X)[3], const signed char corner[3], int n)
{
    double worst = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i + j < n; i++)
            for (int up = 0; up < (i + j + 1 < n ? 2 : 1); up++) {
                const int at[3][2] = { { i + up, j }, { i + 1, j + up }, { i, j + 1 } };
                double L[6][4], y[3][3];
                for (int k = 0; k < 3; k++) {
                    signed char a[4];
                    put_point(corner, n, at[k][0], at[k][1], a);
                    for (int c = 0; c < 4; c++) L[k][c] = (double)a[c] / n;
                    abut_tet_point(order, (const double(*)[3])X, L[k], y[k], NULL);
                }
                memcpy(L + 3, L, 3 * sizeof *L);
                for (int k = 0; k < 3; k++) worst = fmax(worst, off_plane(order, X, (const double(*)[4])(L + k), 2, y));
                worst = fmax(worst, off_plane(order, X, (const double(*)[4])L, 3, y));
            }
    return worst;
}

/* The largest second difference of the Bernstein coefficients along a side of the face, times order (order - 1). */
static double curvature(int order, double (*X)[3], const signed char corner[3])
{
    double b[ABUT_TET_NODES_MAX][3], worst = 0;
    if (order == 1) return 0;
    abut_bernstein_of_nodes(order, (const double(*)[3])X, b, NULL);
    for (int j = 0; j <= order - 2; j++)
        for (int i = 0; i + j <= order - 2; i++)
            for (int side = 0; side < 3; side++) {
                double d2 = 0;
                int at[3];
                for (int k = 0; k < 3; k++) {   /* two at the one end, one at each, two at the other */
                    signed char a[4];
                    put_point(corner, order - 2, i, j, a);
                    a[corner[side]] = (signed char)(a[corner[side]] + 2 - k);
                    a[corner[(side + 1) % 3]] = (signed char)(a[corner[(side + 1) % 3]] + k);
                    at[k] = abut_bernstein_index(a[1], a[2], a[3]);
                }
                for (int d = 0; d < 3; d++) {
                    const double s = b[at[0]][d] - 2 * b[at[1]][d] + b[at[2]][d];
                    d2 += s * s;
                }
                worst = fmax(worst, sqrt(d2));
            }
    return order * (order - 1) * worst;
}

static void chord_of(const abut_mesh *m, abut_rest_shape shape, const int64_t *face, int32_t n, int segments, abut_chord *out)
{
    double far = 0;
    *out = (abut_chord){ 0, 0 };
    for (int32_t f = 0; f < n; f++) {
        double X[ABUT_TET_NODES_MAX][3];
        const signed char *corner = abut_tet_face[face[f] % 4];
        const int order = shape_of(m, shape, (int32_t)(face[f] / 4), X);
        out->measured = fmax(out->measured, measure_face(order, X, corner, segments));
        out->bound = fmax(out->bound, curvature(order, X, corner) / (6. * segments * segments));
        for (int i = 0; i < 3 * abut_tet_nodes(order); i++) far = fmax(far, fabs(X[i / 3][i % 3]));
    }
    out->bound += 0x1p-49 * far;        /* rounding of positions */
}

abut_status abut_proxy_chord(const abut_mesh *m, abut_rest_shape shape, int segments, abut_chord *out, abut_err *err)
{
    int64_t *face = NULL;
    int32_t n = 0;
    abut_status rc = abut_surface_faces(m->tet, m->nt, &face, &n, err);
    if (!rc) chord_of(m, shape, face, n, segments, out);
    free(face);
    return rc;
}

abut_status abut_proxy_segments_for(const abut_mesh *m, abut_rest_shape shape, double tolerance, int *segments, abut_chord *chord,
                                    abut_err *err)
{
    int64_t *face = NULL;
    int32_t n = 0;
    abut_status rc = abut_surface_faces(m->tet, m->nt, &face, &n, err);
    for (*segments = 1; !rc; ++*segments) {
        chord_of(m, shape, face, n, *segments, chord);
        if (chord->measured <= tolerance || *segments == ABUT_SEGMENTS_CHOSEN) break;
    }
    free(face);
    return rc;
}

abut_status abut_proxy_longest_side(const abut_mesh *m, double *length, abut_err *err)
{
    int32_t *tri = NULL, n = 0;
    const abut_status rc = abut_surface_triangles(m->tet, m->nt, &tri, &n, err);
    *length = 0;
    for (size_t i = 0; i < (rc ? 0 : 3 * (size_t)n); i++) {
        const double *a = m->x + 3 * (size_t)tri[i], *b = m->x + 3 * (size_t)tri[i % 3 == 2 ? i - 2 : i + 1];
        *length = fmax(*length, abut_v3_norm(abut_v3_sub(abut_v3_get(b), abut_v3_get(a))));
    }
    free(tri);
    return rc;
}

double abut_proxy_altitude(const abut_proxy *p)
{
    double least = INFINITY;
    for (int32_t f = 0; f < p->nf; f++) {
        abut_vec3 x[3];
        double longest = 0;
        for (int k = 0; k < 3; k++) x[k] = abut_v3_get(p->X + 3 * (size_t)p->tri[3 * (size_t)f + (size_t)k]);
        for (int k = 0; k < 3; k++) longest = fmax(longest, abut_v3_norm(abut_v3_sub(x[(k + 1) % 3], x[k])));
        const double twice = abut_v3_norm(abut_v3_cross(abut_v3_sub(x[1], x[0]), abut_v3_sub(x[2], x[0])));
        least = fmin(least, longest > 0 ? twice / longest : 0);
    }
    return least;
}

/* ---- embedding ---- */

typedef const double (*places)[3];

/* ---- the inverse of one map ---- */

static double size_of(const double L[4]) { return fabs(L[0]) + fabs(L[1]) + fabs(L[2]) + fabs(L[3]); }

static double least_of(const double L[4]) { return fmin(fmin(L[0], L[1]), fmin(L[2], L[3])); }

/* d = J^-1 r; 0 where J has no inverse */
static int solve3(const double J[9], const double r[3], double d[3])
{
    const abut_vec3 a = { J[0], J[3], J[6] }, b = { J[1], J[4], J[7] }, c = { J[2], J[5], J[8] }, v = abut_v3_get(r);
    const abut_vec3 bc = abut_v3_cross(b, c);
    const double det = abut_v3_dot(a, bc);
    if (!(fabs(det) > 0)) return 0;
    d[0] = abut_v3_dot(v, bc) / det;
    d[1] = abut_v3_dot(a, abut_v3_cross(v, c)) / det;
    d[2] = abut_v3_dot(a, abut_v3_cross(b, v)) / det;
    return isfinite(d[0]) && isfinite(d[1]) && isfinite(d[2]);
}

static double residual(int order, places X, const double s[3], const double L[4], double r[3], double J[9])
{
    double x[3];
    abut_tet_point(order, X, L, x, J);
    for (int d = 0; d < 3; d++) r[d] = s[d] - x[d];
    return sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
}

/* Damped Newton from L; the distance left. */
static double newton(int order, places X, const double s[3], double L[4])
{
    double r[3], J[9], d[3], left = residual(order, X, s, L, r, J);
    for (int it = 0; it < 60 && left > 0; it++) {
        if (!solve3(J, r, d)) return left;
        double step = fabs(d[0]) + fabs(d[1]) + fabs(d[2]), next[4], after = INFINITY;
        step = step > 0.5 ? 0.5 / step : 1;
        for (int half = 0; half < 30 && !(after < left); half++, step *= 0.5) {
            for (int c = 0; c < 3; c++) next[c + 1] = L[c + 1] + step * d[c];
            next[0] = 1 - next[1] - next[2] - next[3];
            after = residual(order, X, s, next, r, J);
        }
        if (!(after < left)) {
            residual(order, X, s, L, r, J);
            return left;
        }
        memcpy(L, next, sizeof next);
        left = after;
    }
    return left;
}

double abut_tet_invert(int order, const double (*X)[3], const double s[3], double L[4])
{
    static const double start[10][4] = { { .4, .2, .2, .2 }, { .2, .4, .2, .2 }, { .2, .2, .4, .2 }, { .2, .2, .2, .4 },
                                         { .25, .25, .25, .25 }, { .01, .33, .33, .33 }, { .33, .01, .33, .33 },
                                         { .33, .33, .01, .33 }, { .33, .33, .33, .01 }, { 1, 0, 0, 0 } };
    double extent = 0, best = INFINITY, first[4] = { 1, 0, 0, 0 };
    for (int c = 1; c < 4; c++)
        for (int d = 0; d < 3; d++) extent = fmax(extent, fabs(X[c][d] - X[0][d]));
    newton(1, X, s, first);
    memcpy(L, start[9], sizeof first);
    for (int k = -1; k < 9; k++) {
        double at[4];
        memcpy(at, k < 0 ? first : start[k], sizeof at);
        const double left = newton(order, X, s, at);
        const int solves = left <= 1e-10 * extent;
        if (solves && (!(best <= 1e-10 * extent) || size_of(at) < size_of(L))) memcpy(L, at, sizeof at), best = left;
        if (!solves && left < best) memcpy(L, at, sizeof at), best = left;
        if ((order == 1 && k < 0) || (solves && least_of(L) >= -1e-10)) break;
    }
    return best;
}

/* ---- which tet ---- */

typedef struct search {
    const abut_mesh *m, *surface;
    abut_box *box;              /* [nt] that hold the tets */
    double edge, diagonal, most;    /* m: a usual edge of a tet, of the box of all; of extrapolation */
    int32_t *tet;               /* [surface->nv] */
    double *L;                  /* [4 surface->nv] */
    double *left;               /* [surface->nv] m: residuals */
} search;

static abut_status no_room(size_t n, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "proxy: no memory for %zu boxes", n);
}

/* Boxes of Bernstein coefficients: a curved tet lies in their hull. */
static abut_status make_boxes(search *s, abut_err *err)
{
    const abut_mesh *m = s->m;
    double X[ABUT_TET_NODES_MAX][3], b[ABUT_TET_NODES_MAX][3], lo[3], hi[3], sum = 0;
    s->box = malloc(((size_t)m->nt + 1) * sizeof *s->box);
    if (!s->box) return no_room((size_t)m->nt, err);
    abut_mesh_bounds(m, lo, hi);
    s->diagonal = abut_v3_norm(abut_v3_sub(abut_v3_get(hi), abut_v3_get(lo)));
    for (int32_t t = 0; t < m->nt; t++) {
        const int n = abut_mesh_tet_places(m, t, X);
        abut_bernstein_of_nodes(abut_mesh_order(m), (places)X, b, NULL);
        for (int i = 0; i < n; i++)
            for (int d = 0; d < 3; d++) b[i][d] += X[0][d];
        s->box[t] = abut_box_points(&b[0][0], NULL, (const int32_t[]){ 0 }, 1, 0);
        for (int32_t i = 1; i < n; i++) {
            const abut_box one = abut_box_points(&b[0][0], NULL, &i, 1, 1e-9 * s->diagonal);
            for (int d = 0; d < 3; d++) {
                s->box[t].lo[d] = fmin(s->box[t].lo[d], one.lo[d]);
                s->box[t].hi[d] = fmax(s->box[t].hi[d], one.hi[d]);
            }
        }
        for (int c = 1; c < 4; c++) sum += abut_v3_norm(abut_v3_sub(abut_v3_get(X[c]), abut_v3_get(X[0])));
    }
    s->edge = m->nt ? sum / (3 * (double)m->nt) : 0;
    return ABUT_OK;
}

/* Tet t for vertex v, if it suits it better than the one before. */
static void try_tet(search *s, int32_t v, int32_t t)
{
    double X[ABUT_TET_NODES_MAX][3], L[4], *best = s->L + 4 * (size_t)v;
    abut_mesh_tet_places(s->m, t, X);
    const double left = abut_tet_invert(abut_mesh_order(s->m), (places)X, s->surface->x + 3 * (size_t)v, L);
    if (!(left <= 1e-9 * s->diagonal)) return;
    const int inside = least_of(L) >= -1e-10, had = s->tet[v] >= 0, was_inside = had && least_of(best) >= -1e-10;
    const int better = !had || (inside && (!was_inside || least_of(L) > least_of(best))) ||
                       (!inside && !was_inside && size_of(L) < size_of(best));
    if (!better) return;
    s->tet[v] = t;
    s->left[v] = left;
    memcpy(best, L, sizeof L);
}

/* Vertices in boxes of tets. */
static abut_status look_inside(search *s, abut_err *err)
{
    const size_t n = (size_t)s->surface->nv;
    abut_box *point = malloc((n + 1) * sizeof *point);
    int32_t *number = malloc((n + 1) * sizeof *number), *apart = malloc(((size_t)s->m->nt + 1) * sizeof *apart);
    abut_pair_list pairs = { 0 };
    abut_status rc = point && number && apart ? ABUT_OK : no_room(n, err);
    if (!rc) {
        for (int32_t i = 0; i < s->surface->nv; i++) {
            number[i] = i;
            point[i] = abut_box_points(s->surface->x, NULL, &i, 1, 0);
        }
        for (int32_t t = 0; t < s->m->nt; t++) apart[t] = (int32_t)n + t;    /* no common vertices */
        const abut_items a = { n, 1, number, NULL, point }, b = { (size_t)s->m->nt, 1, apart, NULL, s->box };
        rc = abut_box_pairs(&a, &b, &pairs, err);
    }
    for (size_t i = 0; i < (rc ? 0 : pairs.n); i++) try_tet(s, pairs.ij[i][0], pairs.ij[i][1]);
    abut_pair_list_clear(&pairs);
    free(point), free(number), free(apart);
    return rc;
}

static double box_distance2(const abut_box *b, const double *x)
{
    double d2 = 0;
    for (int d = 0; d < 3; d++) {
        const double out = fmax(fmax((double)b->lo[d] - x[d], x[d] - (double)b->hi[d]), 0);
        d2 += out * out;
    }
    return d2;
}

/* A vertex that no tet holds: those whose boxes are nearest, three at least, and all not much further away. */
static void look_outside(search *s, int32_t v)
{
    const double *x = s->surface->x + 3 * (size_t)v;
    double nearest[3] = { INFINITY, INFINITY, INFINITY };
    for (int32_t t = 0; t < s->m->nt; t++) {
        double d2 = box_distance2(&s->box[t], x);
        for (int k = 0; k < 3; k++)
            if (d2 < nearest[k]) {
                const double was = nearest[k];
                nearest[k] = d2, d2 = was;
            }
    }
    const double reach = fmax(1.1 * sqrt(isfinite(nearest[2]) ? nearest[2] : nearest[0]), sqrt(nearest[0]) + 0.1 * s->edge);
    for (int32_t t = 0; t < s->m->nt; t++)
        if (box_distance2(&s->box[t], x) <= reach * reach) try_tet(s, v, t);
}

static abut_status check_places(const search *s, abut_embedding *facts, abut_err *err)
{
    int32_t lost = 0, far = 0, worst = -1, first = -1;
    for (int32_t v = 0; v < s->surface->nv; v++) {
        if (s->tet[v] < 0) {
            if (!lost++) first = v;
            continue;
        }
        const double by = 0.5 * (size_of(s->L + 4 * (size_t)v) - 1);
        facts->residual = fmax(facts->residual, s->left[v]);
        facts->outside += least_of(s->L + 4 * (size_t)v) < -1e-10;
        far += by > s->most + 1e-9;
        if (by > facts->extrapolation) facts->extrapolation = by, worst = v;
    }
    const double *x = s->surface->x + 3 * (size_t)(lost ? first : worst >= 0 ? worst : 0);
    if (lost)
        return abut_fail(err, ABUT_E_GEOM,
                         "%d %s in no tet and near none, the first is %d at (%.6g, %.6g, %.6g): the inverse "
                         "of the map of no tet leads there; expected a surface in the tets",
                         lost, abut_plural(lost, "vertex of the surface is", "vertices of the surface are"), first, x[0], x[1],
                         x[2]);
    if (far)
        return abut_fail(err, ABUT_E_GEOM,
                         "%d %s outside of all tets by more than %g, the furthest is %d at (%.6g, %.6g, %.6g) "
                         "by %.3g of tet %d (sum of its negative barycentric coordinates): expected tets around the surface, or "
                         "a larger max-extrapolation",
                         far, abut_plural(far, "vertex of the surface is", "vertices of the surface are"), s->most, worst, x[0],
                         x[1], x[2], facts->extrapolation, s->tet[worst]);
    return ABUT_OK;
}

/* ---- which tets are near each other ---- */

/* Tets by corner: list[first[i] .. first[i + 1]). */
typedef struct stars {
    int32_t *first, *list, *seen, *queue;
} stars;

static abut_status make_stars(const abut_mesh *m, stars *s, abut_err *err)
{
    *s = (stars){ calloc((size_t)m->nv + 2, sizeof *s->first), malloc((4 * (size_t)m->nt + 1) * sizeof *s->list),
                  calloc((size_t)m->nt + 1, sizeof *s->seen), malloc(((size_t)m->nt + 1) * sizeof *s->queue) };
    if (!s->first || !s->list || !s->seen || !s->queue) return no_room((size_t)m->nt, err);
    for (size_t i = 0; i < 4 * (size_t)m->nt; i++) s->first[m->tet[i] + 2]++;
    for (int32_t i = 0; i < m->nv; i++) s->first[i + 2] += s->first[i + 1];
    for (size_t i = 0; i < 4 * (size_t)m->nt; i++) s->list[s->first[m->tet[i] + 1]++] = (int32_t)(i / 4);
    return ABUT_OK;
}

/* Whether a chain of at most `most` tets, each with a common corner with the one before, leads from a to b.  mark: > 0, another
 * one for every call. */
static int is_near(const abut_mesh *m, stars *s, int32_t a, int32_t b, int most, int32_t mark)
{
    int32_t lo = 0, hi = 0;
    s->queue[hi++] = a, s->seen[a] = mark;
    for (int level = 0; level <= most && lo < hi; level++)
        for (const int32_t end = hi; lo < end; lo++) {
            const int32_t t = s->queue[lo];
            if (t == b) return 1;
            for (int c = 0; c < 4 && level < most; c++) {
                const int32_t v = m->tet[4 * (size_t)t + (size_t)c];
                for (int32_t k = s->first[v]; k < s->first[v + 1]; k++)
                    if (s->seen[s->list[k]] != mark) s->seen[s->list[k]] = mark, s->queue[hi++] = s->list[k];
            }
        }
    return 0;
}

static abut_status check_sides(const search *s, abut_err *err)
{
    const abut_mesh *S = s->surface;
    stars near = { 0 };
    abut_status rc = make_stars(s->m, &near, err);
    int32_t far = 0, at[2] = { 0, 0 };
    for (size_t i = 0; i < (rc ? 0 : 3 * (size_t)S->nf); i++) {
        const int32_t a = S->tri[i], b = S->tri[i % 3 == 2 ? i - 2 : i + 1];
        const double length = abut_v3_norm(abut_v3_sub(abut_v3_get(S->x + 3 * (size_t)b), abut_v3_get(S->x + 3 * (size_t)a)));
        const int most = 4 + (int)fmin(3 * length / s->edge, 1000);
        if (s->tet[a] == s->tet[b] || is_near(s->m, &near, s->tet[a], s->tet[b], most, (int32_t)(i % INT32_MAX) + 1)) continue;
        if (!far++) at[0] = a, at[1] = b;
    }
    if (!rc && far)
        rc = abut_fail(err, ABUT_E_GEOM,
                       "%d %s tets far apart, the first vertices %d in tet %d and %d in tet %d: expected "
                       "tets that are apart where the surface is",
                       far, abut_plural(far, "side of the surface joins", "sides of the surface join"), at[0], s->tet[at[0]],
                       at[1], s->tet[at[1]]);
    free(near.first), free(near.list), free(near.seen), free(near.queue);
    return rc;
}

/* ---- the proxy ---- */

static abut_status make(search *s, abut_proxy *out, abut_embedding *facts, abut_err *err)
{
    const abut_mesh *S = s->surface;
    const size_t n = (size_t)S->nv;
    s->tet = malloc((n + 1) * sizeof *s->tet), s->L = malloc((4 * n + 1) * sizeof *s->L);
    s->left = malloc((n + 1) * sizeof *s->left);
    abut_status rc = s->tet && s->L && s->left ? make_boxes(s, err) : no_room(n, err);
    for (size_t v = 0; v < (rc ? 0 : n); v++) s->tet[v] = -1;
    if (!rc) rc = look_inside(s, err);
    for (int32_t v = 0; v < S->nv && !rc; v++)
        if (s->tet[v] < 0 || least_of(s->L + 4 * (size_t)v) < -1e-10) look_outside(s, v);
    if (!rc) rc = check_places(s, facts, err);
    if (!rc) rc = check_sides(s, err);
    if (!rc) rc = proxy_room(out, S->nv, S->nf, abut_tet_nodes(abut_mesh_order(s->m)), err);
    if (rc) return rc;
    memcpy(out->X, S->x, 3 * n * sizeof *out->X);
    if (S->nf) memcpy(out->tri, S->tri, 3 * (size_t)S->nf * sizeof *out->tri);
    for (int32_t v = 0; v < S->nv; v++) proxy_row(s->m, s->tet[v], s->L + 4 * (size_t)v, out, v);
    return proxy_offset(s->m, out, &facts->offset, err);
}

abut_status abut_proxy_embed(const abut_mesh *m, const abut_mesh *surface, double most, abut_proxy *out, abut_embedding *facts,
                             abut_err *err)
{
    assert(most >= 0);
    search s = { .m = m, .surface = surface, .most = most };
    *out = (abut_proxy){ 0 };
    *facts = (abut_embedding){ 0 };
    const abut_status rc = make(&s, out, facts, err);
    free(s.box), free(s.tet), free(s.L), free(s.left);
    if (rc) abut_proxy_clear(out);
    return rc;
}

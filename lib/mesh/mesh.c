#include "mesh/mesh.h"

#include "base/order.h"
#include "base/words.h"
#include "geom/quadrature.h"
#include "math/spd.h"
#include "math/vec3.h"
#include "mesh/surface.h"
#include "mesh/tet_nodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more row of `width` numbers; doubles, so that n appends cost O(n). */
static abut_status grow(void **data, int32_t n, int32_t *cap, int32_t more, size_t row, const char *what, abut_err *err)
{
    if (more <= *cap - n) return ABUT_OK;
    if (more > INT32_MAX / 4 - n) return abut_fail(err, ABUT_E_FORMAT, "more than %d %s", INT32_MAX / 4, what);
    int32_t want = *cap ? *cap : 16;
    while (want < n + more) want *= 2;
    void *p = realloc(*data, (size_t)want * row);
    if (!p) return abut_fail(err, ABUT_E_NOMEM, "mesh: no memory for %d %s", want, what);
    *data = p;
    *cap = want;
    return ABUT_OK;
}

static abut_status room(abut_mesh *m, int kind, int32_t more, abut_err *err)
{
    switch (kind) {
    case 0: return grow((void **)&m->x, m->nv, &m->cap[0], more, 3 * sizeof *m->x, "points", err);
    case 1: return grow((void **)&m->tet, m->nt, &m->cap[1], more, 4 * sizeof *m->tet, "tets", err);
    case 2: return grow((void **)&m->tri, m->nf, &m->cap[2], more, 3 * sizeof *m->tri, "triangles", err);
    case 5: return grow((void **)&m->more, m->nt, &m->cap[5], more, (size_t)(abut_tet_nodes(m->order) - 4) * sizeof *m->more,
                        "tets", err);
    case 3: return grow((void **)&m->seg, m->ns, &m->cap[3], more, 2 * sizeof *m->seg, "segments", err);
    default: return grow((void **)&m->point, m->np, &m->cap[4], more, sizeof *m->point, "isolated points", err);
    }
}

abut_status abut_mesh_add_vertex(abut_mesh *m, const double x[3], abut_err *err)
{
    const abut_status rc = room(m, 0, 1, err);
    if (!rc) memcpy(m->x + 3 * (size_t)m->nv++, x, 3 * sizeof *x);
    return rc;
}

int abut_mesh_tet_nodes(const abut_mesh *m, int32_t t, int32_t node[ABUT_TET_NODES_MAX])
{
    const size_t more = (size_t)abut_mesh_more(m);
    memcpy(node, m->tet + 4 * (size_t)t, 4 * sizeof *node);
    if (more) memcpy(node + 4, m->more + more * (size_t)t, more * sizeof *node);
    return 4 + (int)more;
}

/* Room for tets of that order, which the mesh has from now on. */
static abut_status room_for_tets(abut_mesh *m, int order, int32_t n, abut_err *err)
{
    if (m->nt && abut_mesh_order(m) != order)
        return abut_fail(err, ABUT_E_FORMAT, "tets of order %d after others of order %d: expected one order in a mesh", order,
                         abut_mesh_order(m));
    if (!m->nt && m->order != order) m->cap[5] = 0;     /* its rows were of another width */
    if (!m->nt) m->order = order;
    const abut_status rc = room(m, 1, n, err);
    return rc || order == 1 ? rc : room(m, 5, n, err);
}

abut_status abut_mesh_add_tet_of(abut_mesh *m, int order, const int32_t *node, abut_err *err)
{
    const abut_status rc = room_for_tets(m, order, 1, err);
    if (rc) return rc;
    const size_t more = (size_t)abut_tet_nodes(order) - 4, t = (size_t)m->nt++;
    memcpy(m->tet + 4 * t, node, 4 * sizeof *node);
    if (more) memcpy(m->more + more * t, node + 4, more * sizeof *node);
    return ABUT_OK;
}

abut_status abut_mesh_add_tet(abut_mesh *m, int32_t a, int32_t b, int32_t c, int32_t d, abut_err *err)
{
    return abut_mesh_add_tet_of(m, 1, (const int32_t[4]){ a, b, c, d }, err);
}

abut_status abut_mesh_add_tri(abut_mesh *m, int32_t a, int32_t b, int32_t c, abut_err *err)
{
    const abut_status rc = room(m, 2, 1, err);
    if (!rc) memcpy(m->tri + 3 * (size_t)m->nf++, (int32_t[3]){ a, b, c }, 3 * sizeof a);
    return rc;
}

abut_status abut_mesh_add_seg(abut_mesh *m, int32_t a, int32_t b, abut_err *err)
{
    const abut_status rc = room(m, 3, 1, err);
    if (!rc) memcpy(m->seg + 2 * (size_t)m->ns++, (int32_t[2]){ a, b }, 2 * sizeof a);
    return rc;
}

abut_status abut_mesh_add_point(abut_mesh *m, int32_t a, abut_err *err)
{
    const abut_status rc = room(m, 4, 1, err);
    if (!rc) m->point[m->np++] = a;
    return rc;
}

static void copy_shifted(int32_t *to, size_t at, const int32_t *from, size_t n, int32_t shift)
{
    for (size_t i = 0; i < n; i++) to[at + i] = from[i] + shift;
}

/* The pattern of a, before the triangles of b follow its own. */
static abut_status append_pattern(abut_mesh *a, const abut_mesh *b, abut_err *err)
{
    if (!b->nf) return ABUT_OK;
    if (!b->uv || (a->nf && !a->uv)) {
        free(a->uv);
        a->uv = NULL;
        return ABUT_OK;
    }
    double *uv = realloc(a->uv, 6 * ((size_t)a->nf + (size_t)b->nf) * sizeof *uv);
    if (!uv) return abut_fail(err, ABUT_E_NOMEM, "mesh: no memory for the pattern of %d triangles", a->nf);
    memcpy(uv + 6 * (size_t)a->nf, b->uv, 6 * (size_t)b->nf * sizeof *uv);
    a->uv = uv;
    return ABUT_OK;
}

double abut_mesh_elements(const abut_mesh *m)
{
    return (double)m->nt + m->nf + m->ns + m->np;
}

abut_status abut_mesh_bound(double points, double elements, const char *what, abut_err *err)
{
    if (points > ABUT_POINTS_MOST)
        return abut_fail(err, ABUT_E_ARG, "%s: %.9g points: expected at most %g", what, points, ABUT_POINTS_MOST);
    if (elements > ABUT_ELEMENTS_MOST)
        return abut_fail(err, ABUT_E_ARG, "%s: %.9g elements: expected at most %g", what, elements, ABUT_ELEMENTS_MOST);
    return ABUT_OK;
}

abut_status abut_mesh_append(abut_mesh *a, const abut_mesh *b, abut_err *err)
{
    const int32_t more[5] = { b->nv, b->nt, b->nf, b->ns, b->np }, base = a->nv;
    abut_status rc = b->nt ? room_for_tets(a, abut_mesh_order(b), b->nt, err) : ABUT_OK;
    for (int k = 0; k < 5 && !rc; k++) rc = room(a, k, more[k], err);
    if (!rc) rc = append_pattern(a, b, err);
    if (rc) return rc;
    if (b->nv) memcpy(a->x + 3 * (size_t)a->nv, b->x, 3 * (size_t)b->nv * sizeof *b->x);
    copy_shifted(a->tet, 4 * (size_t)a->nt, b->tet, 4 * (size_t)b->nt, base);
    const size_t inner = (size_t)abut_mesh_more(b);
    copy_shifted(a->more, inner * (size_t)a->nt, b->more, inner * (size_t)b->nt, base);
    copy_shifted(a->tri, 3 * (size_t)a->nf, b->tri, 3 * (size_t)b->nf, base);
    copy_shifted(a->seg, 2 * (size_t)a->ns, b->seg, 2 * (size_t)b->ns, base);
    copy_shifted(a->point, (size_t)a->np, b->point, (size_t)b->np, base);
    a->nv += b->nv, a->nt += b->nt, a->nf += b->nf, a->ns += b->ns, a->np += b->np;
    return ABUT_OK;
}

static abut_status check_rows(const char *what, const int32_t *e, int32_t n, int width, int32_t nv, abut_err *err)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t *r = e + (size_t)width * (size_t)i;
        for (int j = 0; j < width; j++) {
            if (r[j] < 0 || r[j] >= nv)
                return abut_fail(err, ABUT_E_FORMAT, "%s %d: point %d is not among the %d point%s", what, i, r[j], nv,
                                 abut_s(nv));
            for (int k = 0; k < j; k++)
                if (r[j] == r[k]) return abut_fail(err, ABUT_E_FORMAT, "%s %d names point %d twice", what, i, r[j]);
        }
    }
    return ABUT_OK;
}

abut_status abut_mesh_check(const abut_mesh *m, abut_err *err)
{
    for (int32_t i = 0; i < m->nv; i++)
        for (int k = 0; k < 3; k++)
            if (!isfinite(m->x[3 * (size_t)i + k]))
                return abut_fail(err, ABUT_E_FORMAT, "point %d: coordinate %d is not a finite number", i, k);
    abut_status rc = check_rows("tet", m->tet, m->nt, 4, m->nv, err);
    if (!rc && abut_mesh_more(m)) rc = check_rows("inside of tet", m->more, m->nt, abut_mesh_more(m), m->nv, err);
    if (!rc) rc = check_rows("triangle", m->tri, m->nf, 3, m->nv, err);
    if (!rc) rc = check_rows("segment", m->seg, m->ns, 2, m->nv, err);
    return rc ? rc : check_rows("isolated point", m->point, m->np, 1, m->nv, err);
}

static void swap(int32_t *a, int32_t *b)
{
    const int32_t t = *a;
    *a = *b, *b = t;
}

/* The nodes of tets whose corners 2 and 3 change places do so, too. */
static void flip_more(abut_mesh *m)
{
    const int n = abut_tet_nodes(abut_mesh_order(m));
    const signed char(*a)[4] = abut_tet_lattice(abut_mesh_order(m));
    for (int i = 4; i < n; i++) {
        int k = 4;
        while (a[k][0] != a[i][0] || a[k][1] != a[i][1] || a[k][2] != a[i][3]) k++;
        for (int32_t t = 0; t < m->nt && k > i; t++) {
            int32_t *v = m->more + (size_t)(n - 4) * (size_t)t - 4;
            swap(&v[i], &v[k]);
        }
    }
}

void abut_mesh_flip(abut_mesh *m)
{
    for (int32_t i = 0; i < m->nt; i++) swap(&m->tet[4 * (size_t)i + 2], &m->tet[4 * (size_t)i + 3]);
    flip_more(m);
    for (int32_t i = 0; i < m->nf; i++) swap(&m->tri[3 * (size_t)i + 1], &m->tri[3 * (size_t)i + 2]);
    for (int32_t i = 0; m->uv && i < m->nf; i++) {
        double *p = m->uv + 6 * (size_t)i + 2, q[2] = { p[0], p[1] };
        memcpy(p, p + 2, sizeof q);
        memcpy(p + 2, q, sizeof q);
    }
}

void abut_mesh_transform(abut_mesh *m, const double A[9], const double b[3])
{
    for (int32_t i = 0; i < m->nv; i++) {
        double *p = m->x + 3 * (size_t)i;
        const double q[3] = { p[0], p[1], p[2] };
        for (int r = 0; r < 3; r++) p[r] = A[3 * r] * q[0] + A[3 * r + 1] * q[1] + A[3 * r + 2] * q[2] + b[r];
    }
    const double det = A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) +
                       A[2] * (A[3] * A[7] - A[4] * A[6]);
    if (det < 0) abut_mesh_flip(m);
}

void abut_mesh_bounds(const abut_mesh *m, double lo[3], double hi[3])
{
    for (int k = 0; k < 3; k++) {
        lo[k] = hi[k] = m->nv ? m->x[k] : 0;
        for (int32_t i = 1; i < m->nv; i++) {
            const double v = m->x[3 * (size_t)i + k];
            if (v < lo[k]) lo[k] = v;
            if (v > hi[k]) hi[k] = v;
        }
    }
}

/* Keeps the rows that have a point without a mark, and their rows of uv (NULL: none); returns how many stay. */
static int32_t keep_unmarked(int32_t *e, int32_t n, int width, const uint8_t *mark, double *uv)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t *r = e + (size_t)width * (size_t)i;
        int marked = 1;
        for (int k = 0; k < width; k++) marked &= mark[r[k]];
        if (marked) continue;
        memmove(e + (size_t)width * (size_t)kept, r, (size_t)width * sizeof *e);
        if (uv) memmove(uv + 6 * (size_t)kept, uv + 6 * (size_t)i, 6 * sizeof *uv);
        kept++;
    }
    return kept;
}

static void mark_rows(uint8_t *mark, const int32_t *e, size_t n)
{
    for (size_t i = 0; i < n; i++) mark[e[i]] = 1;
}

abut_status abut_mesh_drop_markers(abut_mesh *m, abut_err *err)
{
    uint8_t *mark = calloc((size_t)m->nv + 1, 1);
    if (!mark) return abut_fail(err, ABUT_E_NOMEM, "mesh: no memory for %d marks", m->nv);
    mark_rows(mark, m->tet, 4 * (size_t)m->nt);
    mark_rows(mark, m->more, (size_t)abut_mesh_more(m) * (size_t)m->nt);
    m->nf = keep_unmarked(m->tri, m->nf, 3, mark, m->uv);
    mark_rows(mark, m->tri, 3 * (size_t)m->nf);
    m->ns = keep_unmarked(m->seg, m->ns, 2, mark, NULL);
    mark_rows(mark, m->seg, 2 * (size_t)m->ns);
    m->np = keep_unmarked(m->point, m->np, 1, mark, NULL);
    free(mark);
    return ABUT_OK;
}

/* ---- points that are one ---- */

typedef struct sorted_point { double x; int32_t i; } sorted_point;

static int by_x(const void *a, const void *b)
{
    const sorted_point *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->i > q->i) - (p->i < q->i);
}

static int nearer(const double *p, const double *q, double distance)
{
    const double d[3] = { p[0] - q[0], p[1] - q[1], p[2] - q[2] };
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < distance * distance;
}

/* The axis along which the mesh is longest. */
static int longest_axis(const abut_mesh *m)
{
    double lo[3], hi[3];
    int axis = 0;
    abut_mesh_bounds(m, lo, hi);
    for (int k = 1; k < 3; k++)
        if (hi[k] - lo[k] > hi[axis] - lo[axis]) axis = k;
    return axis;
}

/* The lowest number of each cluster of near points, by a sweep along one axis. */
static void cluster(const abut_mesh *m, double distance, sorted_point *s, int32_t *parent)
{
    const int axis = longest_axis(m);
    for (int32_t i = 0; i < m->nv; i++) parent[i] = i, s[i] = (sorted_point){ m->x[3 * (size_t)i + (size_t)axis], i };
    qsort(s, (size_t)m->nv, sizeof *s, by_x);
    for (int32_t a = 0; a < m->nv; a++)
        for (int32_t b = a + 1; b < m->nv && s[b].x - s[a].x < distance; b++)
            if (nearer(m->x + 3 * (size_t)s[a].i, m->x + 3 * (size_t)s[b].i, distance)) abut_set_join(parent, s[a].i, s[b].i);
}

static void rename_points(int32_t *e, size_t n, int32_t *parent)
{
    for (size_t i = 0; i < n; i++) e[i] = abut_set_root(parent, e[i]);
}

abut_status abut_mesh_weld(abut_mesh *m, double distance, abut_err *err)
{
    sorted_point *s = malloc(((size_t)m->nv + 1) * sizeof *s);
    int32_t *parent = malloc(((size_t)m->nv + 1) * sizeof *parent);
    abut_status rc = s && parent ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "mesh: no memory for %d points", m->nv);
    if (!rc) {
        cluster(m, distance, s, parent);
        rename_points(m->tet, 4 * (size_t)m->nt, parent);
        rename_points(m->more, (size_t)abut_mesh_more(m) * (size_t)m->nt, parent);
        rename_points(m->tri, 3 * (size_t)m->nf, parent);
        rename_points(m->seg, 2 * (size_t)m->ns, parent);
        rename_points(m->point, (size_t)m->np, parent);
        rc = abut_mesh_check(m, err);
    }
    free(s), free(parent);
    return rc;
}

void abut_mesh_clear(abut_mesh *m)
{
    free(m->x), free(m->tet), free(m->more), free(m->tri), free(m->seg), free(m->point), free(m->uv);
    memset(m, 0, sizeof *m);
}

/* ---- moments ---- */

#define FLAT 1e-12          /* of the largest diagonal entry of S: a smaller pivot is none */

/* Adds the tet of these corners, relative to `from`: its volume, and its parts of int x and int x x^T. */
static void add_tet(const abut_vec3 a[4], double *volume, double first[3], double second[9])
{
    const double V = abut_v3_dot(abut_v3_sub(a[1], a[0]), abut_v3_cross(abut_v3_sub(a[2], a[0]), abut_v3_sub(a[3], a[0]))) / 6;
    double sum[3] = { 0 }, x[4][3];
    for (int k = 0; k < 4; k++) {
        abut_v3_put(x[k], a[k]);
        for (int d = 0; d < 3; d++) sum[d] += x[k][d];
    }
    *volume += V;
    for (int i = 0; i < 3; i++) {
        first[i] += V / 4 * sum[i];
        for (int j = 0; j < 3; j++) {
            double own = sum[i] * sum[j];
            for (int k = 0; k < 4; k++) own += x[k][i] * x[k][j];
            second[3 * i + j] += V / 20 * own;
        }
    }
}

abut_status abut_mesh_moments(const abut_mesh *m, double *volume, double center[3], double S[9], abut_err *err)
{
    double lo[3], hi[3], first[3] = { 0 }, second[9] = { 0 };
    *volume = 0;
    abut_mesh_bounds(m, lo, hi);
    const abut_vec3 mid = abut_v3_scale(0.5, abut_v3_add(abut_v3_get(lo), abut_v3_get(hi)));
    for (int32_t t = 0; t < (m->nt ? m->nt : m->nf); t++) {
        abut_vec3 a[4] = { { 0, 0, 0 } };       /* of a triangle: with the middle of the box */
        for (int k = 0; k < (m->nt ? 4 : 3); k++) {
            const int32_t v = m->nt ? m->tet[4 * (size_t)t + (size_t)k] : m->tri[3 * (size_t)t + (size_t)k];
            a[m->nt ? k : k + 1] = abut_v3_sub(abut_v3_get(m->x + 3 * (size_t)v), mid);
        }
        add_tet(a, volume, first, second);
    }
    if (!(*volume > 0))
        return abut_fail(err, ABUT_E_GEOM, "a volume of %.6g m^3: expected tets, or a closed surface with its normals outward",
                         *volume);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) S[3 * i + j] = second[3 * i + j] / *volume - first[i] / *volume * (first[j] / *volume);
    for (int d = 0; d < 3; d++) center[d] = first[d] / *volume;
    abut_v3_put(center, abut_v3_add(abut_v3_get(center), mid));
    return ABUT_OK;
}

abut_status abut_mesh_solid_check(const abut_mesh *m, abut_err *err)
{
    double volume, center[3], S[9];
    const abut_status rc = m->nt ? ABUT_OK : abut_closed_surface_check(m->x, m->nv, m->tri, m->nf, err);
    return rc ? rc : abut_mesh_moments(m, &volume, center, S, err);
}

/* L of S = L L^T; 0: S is flat. */
static int factor(const double S[9], double L[9])
{
    const double most = fmax(S[0], fmax(S[4], S[8]));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double s = S[3 * i + j];
            for (int k = 0; k < j; k++) s -= L[3 * i + k] * L[3 * j + k];
            if (i == j && !(s > FLAT * most)) return 0;
            L[3 * i + j] = j > i ? 0 : i == j ? sqrt(s) : s / L[4 * j];
        }
    return 1;
}

/* The surface for contact: the boundary of tets, or all triangles; segments, points; and the points that these have. */
static abut_status boundary(const abut_mesh *m, abut_mesh *surface, abut_err *err)
{
    int32_t *made = NULL, n = 0, *number = malloc(((size_t)m->nv + 1) * sizeof *number);
    abut_status rc = number ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "surface of %d points", m->nv);
    if (!rc && m->nt) rc = abut_surface_triangles(m->tet, m->nt, &made, &n, err);
    const struct { size_t n, corners; const int32_t *of; } cells[4] = {
        { (size_t)n, 3, made }, { (size_t)m->nf, 3, m->tri }, { (size_t)m->ns, 2, m->seg }, { (size_t)m->np, 1, m->point } };
    for (int32_t i = 0; i < m->nv && !rc; i++) number[i] = -1;
    for (int q = 0; q < 4 && !rc; q++)
        for (size_t i = 0; i < cells[q].corners * cells[q].n; i++) number[cells[q].of[i]] = 0;
    for (int32_t i = 0; i < m->nv && !rc; i++) {
        if (number[i] < 0) continue;
        number[i] = surface->nv;
        rc = abut_mesh_add_vertex(surface, m->x + 3 * (size_t)i, err);
    }
    for (int q = 0; q < 4; q++)
        for (size_t t = 0; t < cells[q].n && !rc; t++) {
            const int32_t *v = cells[q].of + cells[q].corners * t;
            if (q < 2) rc = abut_mesh_add_tri(surface, number[v[0]], number[v[1]], number[v[2]], err);
            else if (q == 2) rc = abut_mesh_add_seg(surface, number[v[0]], number[v[1]], err);
            else rc = abut_mesh_add_point(surface, number[v[0]], err);
        }
    free(made);
    free(number);
    return rc;
}

/* The four points of a body of these moments, and its surface. */
static abut_status frame_of(const abut_mesh *m, double volume, const double center[3], const double S[9], abut_mesh *frame,
                            abut_mesh *surface, double *fill, abut_err *err)
{
    static const double s[4][3] = { { 1, 1, 1 }, { -1, 1, -1 }, { 1, -1, -1 }, { -1, -1, 1 } };
    double L[9];
    abut_status rc = factor(S, L) ? ABUT_OK : abut_fail(err, ABUT_E_GEOM, "a flat body: expected an extent in every direction");
    for (int k = 0; k < 4 && !rc; k++) {
        double x[3];
        for (int i = 0; i < 3; i++) x[i] = center[i] + L[3 * i] * s[k][0] + L[3 * i + 1] * s[k][1] + L[3 * i + 2] * s[k][2];
        rc = abut_mesh_add_vertex(frame, x, err);
    }
    if (!rc) rc = abut_mesh_add_tet(frame, 0, 1, 2, 3, err);
    if (rc) return rc;
    *fill = volume / (8. / 3 * L[0] * L[4] * L[8]);
    return boundary(m, surface, err);
}

abut_status abut_mesh_frame(const abut_mesh *m, abut_mesh *frame, abut_mesh *surface, double *fill, abut_err *err)
{
    double volume, center[3], S[9];
    abut_status rc = abut_mesh_solid_check(m, err);
    if (!rc) rc = abut_mesh_moments(m, &volume, center, S, err);
    return rc ? rc : frame_of(m, volume, center, S, frame, surface, fill, err);
}

/* Adds a cell with n corners at a, of volume V: V/n sum x, V/(n (n + 1)) (sum x sum x^T + sum x x^T). */
static void add_cell(int n, const abut_vec3 *a, double V, double *volume, double first[3], double second[9])
{
    double sum[3] = { 0 }, x[3][3];
    for (int k = 0; k < n; k++) {
        abut_v3_put(x[k], a[k]);
        for (int d = 0; d < 3; d++) sum[d] += x[k][d];
    }
    *volume += V;
    for (int i = 0; i < 3; i++) {
        first[i] += V / n * sum[i];
        for (int j = 0; j < 3; j++) {
            double own = sum[i] * sum[j];
            for (int k = 0; k < n; k++) own += x[k][i] * x[k][j];
            second[3 * i + j] += V / (n * (n + 1)) * own;
        }
    }
}

/* Moments of all cells: triangles with their own across the thickness, or as the surface of a solid, segments, points, tets. */
static abut_status all_moments(const abut_mesh *m, const abut_body *b, double *volume, double center[3], double S[9],
                               abut_err *err)
{
    double lo[3], hi[3], V = 0, first[3] = { 0 }, second[9] = { 0 };
    abut_mesh_bounds(m, lo, hi);
    const abut_vec3 mid = abut_v3_scale(0.5, abut_v3_add(abut_v3_get(lo), abut_v3_get(hi)));
    const int solid = m->nf && !(b->thickness > 0);
    const abut_status rc = solid ? abut_closed_surface_check(m->x, m->nv, m->tri, m->nf, err) : ABUT_OK;
    if (rc) return rc;
    const struct { int n, corners; const int32_t *of; } kind[4] = { { m->nf, 3, m->tri },
        { b->section > 0 ? m->ns : 0, 2, m->seg }, { b->point > 0 ? m->np : 0, 1, m->point }, { m->nt, 4, m->tet } };
    for (int q = 0; q < 4; q++)
        for (int32_t t = 0; t < kind[q].n; t++) {
            abut_vec3 a[4] = { { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } };     /* the last: the middle of the box */
            for (int k = 0; k < kind[q].corners; k++)
                a[k] = abut_v3_sub(abut_v3_get(m->x + 3 * (size_t)kind[q].of[kind[q].corners * (size_t)t + (size_t)k]), mid);
            if (q == 3) add_tet(a, &V, first, second);
            if (q == 2) add_cell(1, a, b->point, &V, first, second);
            if (q == 1) add_cell(2, a, b->section * abut_v3_norm(abut_v3_sub(a[1], a[0])), &V, first, second);
            if (q != 0) continue;
            if (solid) {
                add_tet((const abut_vec3[4]){ a[3], a[0], a[1], a[2] }, &V, first, second);
                continue;
            }
            double n[3];
            const abut_vec3 area = abut_v3_scale(0.5, abut_v3_cross(abut_v3_sub(a[1], a[0]), abut_v3_sub(a[2], a[0])));
            const double A = abut_v3_norm(area), d = b->thickness;
            add_cell(3, a, A * d, &V, first, second);
            abut_v3_put(n, area);
            for (int i = 0; i < 9 && A > 0; i++) second[i] += d * d * d / 12 / A * n[i / 3] * n[i % 3];
        }
    if (!(V > 0)) return abut_fail(err, ABUT_E_GEOM, "no mass: expected tets, a closed surface, or a thickness of shell, rod or "
                                   "particle");
    *volume = V;
    for (int i = 0; i < 9; i++) S[i] = second[i] / V - first[i / 3] / V * (first[i % 3] / V);
    for (int d = 0; d < 3; d++) center[d] = first[d] / V;
    abut_v3_put(center, abut_v3_add(abut_v3_get(center), mid));
    return ABUT_OK;
}

#define LEAST_MOMENT 1e-6   /* of the largest: S of a body that is thinner is raised to that */

/* Raises small eigenvalues of S; a body with none of them keeps its bits. */
static abut_status raise_small(double S[9], abut_err *err)
{
    double w[3], Q[9];
    abut_sym_eigen(3, S, w, Q);
    const double most = fmax(w[0], fmax(w[1], w[2]));
    if (!(most > 0)) return abut_fail(err, ABUT_E_GEOM, "a single point: expected a body with an extent, or a particle");
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 9 && w[k] < LEAST_MOMENT * most; i++)
            S[i] += (LEAST_MOMENT * most - w[k]) * Q[3 * k + i / 3] * Q[3 * k + i % 3];
    return ABUT_OK;
}

/* Ascending eigenvalues. */
static void principal_moments(const double I[9], double w[3])
{
    double Q[9], v[3];
    abut_sym_eigen(3, I, v, Q);
    w[0] = fmin(v[0], fmin(v[1], v[2])), w[2] = fmax(v[0], fmax(v[1], v[2]));
    w[1] = v[0] + v[1] + v[2] - w[0] - w[2];
}

/* S of a given tensor I and mass: (tr I/2 - I)/mass; ratio: of its principal moments to those of the mesh, unless S is NULL. */
static abut_status given_inertia(const double I[9], double mass, const double *of_mesh, double S[9], double *ratio, abut_err *err)
{
    double given[3], own[9], other[3];
    const double half = 0.5 * (I[0] + I[4] + I[8]);
    principal_moments(I, given);
    if (given[0] + given[1] - given[2] < -2e-6 * half)  /* twice the least eigenvalue of mass S, whose trace is half */
        return abut_fail(err, ABUT_E_FORMAT, "an inertia that no body has: %.6g + %.6g < %.6g kg m^2", given[0], given[1],
                         given[2]);
    for (int i = 0; of_mesh && i < 9; i++)
        own[i] = mass * ((i % 4 ? 0 : of_mesh[0] + of_mesh[4] + of_mesh[8]) - of_mesh[i]);
    if (of_mesh) principal_moments(own, other);
    for (int k = 0; of_mesh && k < 3; k++) *ratio = fmax(*ratio, fmax(given[k] / other[k], other[k] / given[k]));
    for (int i = 0; i < 9; i++) S[i] = ((i % 4 ? 0 : half) - I[i]) / mass;
    return ABUT_OK;
}

abut_status abut_mesh_stiff_frame(const abut_mesh *m, const abut_body *b, abut_mesh *frame, abut_mesh *surface, double *fill,
                                  double *ratio, abut_err *err)
{
    const int given = b->has_mass && b->has_center && b->has_inertia;
    const int solid = (m->nt || m->nf) && !(b->thickness > 0 || b->section > 0 || b->point > 0);
    double volume = 0, center[3], S[9];
    *ratio = 1;
    abut_status rc = solid ? abut_mesh_solid_check(m, given ? NULL : err) : ABUT_OK;
    if (!rc) rc = solid ? abut_mesh_moments(m, &volume, center, S, given ? NULL : err)
                        : all_moments(m, b, &volume, center, S, given ? NULL : err);
    const int known = !rc;
    if (rc && !given) return rc;
    if (b->has_mass) volume = b->mass / b->density;
    if (b->has_center) memcpy(center, b->center, sizeof center);
    rc = b->has_inertia ? given_inertia(b->inertia, b->density * volume, known ? S : NULL, S, ratio, err) : ABUT_OK;
    if (!rc) rc = raise_small(S, err);
    return rc ? rc : frame_of(m, volume, center, S, frame, surface, fill, err);
}

void abut_tet_moments(int order, const double (*X)[3], const double *L, const double *w, int n, double *volume, double center[3])
{
    *volume = center[0] = center[1] = center[2] = 0;
    for (int q = 0; q < n; q++) {
        double x[3], J[9];
        const double v = w[q] / 6 * abut_tet_point(order, X, L + 4 * q, x, J);
        *volume += v;
        for (int d = 0; d < 3; d++) center[d] += v * x[d];
    }
    for (int d = 0; d < 3; d++) center[d] /= *volume;
}

static abut_status tets_volume(const abut_mesh *m, double *volume, double moment[3], abut_err *err)
{
    abut_quadrature q = { 0 };
    const int order = abut_mesh_order(m);
    const abut_status rc = abut_quadrature_tet(4 * order - 3, &q, err);
    for (int32_t t = 0; t < m->nt && !rc; t++) {
        double X[ABUT_TET_NODES_MAX][3], v, c[3];
        abut_mesh_tet_places(m, t, X);
        abut_tet_moments(order, (const double(*)[3])X, q.L, q.w, q.n, &v, c);
        *volume += v;
        for (int d = 0; d < 3; d++) moment[d] += v * c[d];
    }
    abut_quadrature_clear(&q);
    return rc;
}

abut_status abut_mesh_volume(const abut_mesh *m, double *volume, double center[3], abut_err *err)
{
    double lo[3], hi[3], moment[3] = { 0 };
    abut_status rc = ABUT_OK;
    *volume = 0;
    abut_mesh_bounds(m, lo, hi);
    if (m->nt) rc = tets_volume(m, volume, moment, err);
    for (int32_t t = 0; t < (m->nt ? 0 : m->nf); t++) {     /* tets between triangles and the middle of the box */
        abut_vec3 x[3], mid = abut_v3_scale(0.5, abut_v3_add(abut_v3_get(lo), abut_v3_get(hi)));
        for (int k = 0; k < 3; k++) x[k] = abut_v3_sub(abut_v3_get(m->x + 3 * (size_t)m->tri[3 * (size_t)t + (size_t)k]), mid);
        const double v = abut_v3_dot(x[0], abut_v3_cross(x[1], x[2])) / 6;
        const abut_vec3 c = abut_v3_add(mid, abut_v3_scale(0.25, abut_v3_add(x[0], abut_v3_add(x[1], x[2]))));
        *volume += v;
        moment[0] += v * c.x, moment[1] += v * c.y, moment[2] += v * c.z;
    }
    if (!rc && !(*volume > 0))
        rc = abut_fail(err, ABUT_E_GEOM, "a volume of %.6g m^3: expected tets, or a closed surface with its normals outward",
                       *volume);
    for (int d = 0; d < 3; d++) center[d] = moment[d] / *volume;
    return rc;
}

/* Solves A y = b for a symmetric positive semidefinite matrix of 4 rows by Cholesky, y in place of b.  A pivot of 0 makes its y
 * 0: centres in a plane do not determine the direction across it.  Returns 0 if there is no solution. */
static int solve4(double A[4][4], double b[4])
{
    const double size = A[0][0] + A[1][1] + A[2][2] + A[3][3];
    double B[4][4], left[4], most = 0;
    memcpy(B, A, sizeof B), memcpy(left, b, sizeof left);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j <= i; j++) {
            double s = A[i][j];
            for (int k = 0; k < j; k++) s -= A[i][k] * A[j][k];
            if (i == j) A[i][j] = s > 1e-12 * size ? sqrt(s) : INFINITY;
            else A[i][j] = s / A[j][j];
        }
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < i; k++) b[i] -= A[i][k] * b[k];
        b[i] /= A[i][i];
    }
    for (int i = 3; i >= 0; i--) {
        for (int k = i + 1; k < 4; k++) b[i] -= A[k][i] * b[k];
        b[i] /= A[i][i];
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) left[i] -= B[i][j] * b[j];
        most = fmax(most, fabs(left[i]));
    }
    return most <= 1e-9 * size;
}

/* Row of the conditions for one tet, lengths in units of `unit`. */
static void row_of(const double *center, const double at[3], double unit, double a[4])
{
    a[0] = 1;
    for (int d = 0; d < 3; d++) a[d + 1] = (center[d] - at[d]) / unit;
}

abut_status abut_match_mass(int32_t n, const double *volume, const double (*center)[3], double total, const double at[3],
                            double least, double *factor, abut_err *err)
{
    unsigned char *low = calloc((size_t)n + 1, 1);
    double unit = 0;
    if (!low) return abut_fail(err, ABUT_E_NOMEM, "densities of %d tets", n);
    for (int32_t e = 0; e < n; e++)
        for (int d = 0; d < 3; d++) unit = fmax(unit, fabs(center[e][d] - at[d]));
    if (unit == 0) unit = 1;
    for (int again = 1; again;) {
        double A[4][4] = { { 0 } }, b[4] = { total, 0, 0, 0 }, a[4];
        for (int32_t e = 0; e < n; e++) {
            row_of(center[e], at, unit, a);
            for (int i = 0; i < 4; i++) {
                b[i] -= volume[e] * a[i] * (low[e] ? least : 1);
                for (int j = 0; j < 4 && !low[e]; j++) A[i][j] += volume[e] * a[i] * a[j];
            }
        }
        if (!solve4(A, b)) {
            free(low);
            return abut_fail(err, ABUT_E_GEOM, "no densities of %d tets, all at least %g of the material's, give the volume %.6g "
                             "m^3 with its centre at (%.6g, %.6g, %.6g): expected tets around it", n, least, total, at[0], at[1],
                             at[2]);
        }
        again = 0;
        for (int32_t e = 0; e < n; e++) {
            row_of(center[e], at, unit, a);
            factor[e] = low[e] ? least : 1 + a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
            if (!(factor[e] >= least)) low[e] = 1, again = 1;
        }
    }
    free(low);
    return ABUT_OK;
}

#include "mesh/mesh.h"

#include "base/order.h"
#include "base/words.h"
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

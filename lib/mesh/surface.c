#include "mesh/surface.h"

#include "geom/lagrange.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A face or edge in the bucket of its smallest vertex. */
typedef struct entry {
    int32_t mid, max;   /* the other vertices, ascending; an edge has max = -1 */
    int32_t id;
    int32_t odd;        /* orientation: is the sorted order an odd permutation of the face's? */
} entry;

static int by_vertices(const void *a, const void *b)
{
    const entry *p = a, *q = b;
    if (p->mid != q->mid) return p->mid < q->mid ? -1 : 1;
    if (p->max != q->max) return p->max < q->max ? -1 : 1;
    return (p->id > q->id) - (p->id < q->id);
}

/* Entries of n items sorted into buckets by smallest vertex; row[v] .. row[v + 1] is a bucket. */
typedef struct buckets {
    entry *e;
    int64_t *row;
} buckets;

static void buckets_free(buckets *b)
{
    free(b->e);
    free(b->row);
}

static abut_status buckets_new(buckets *b, int64_t n, int32_t nv, abut_err *err)
{
    b->e = malloc(((size_t)n + 1) * sizeof *b->e);
    b->row = calloc((size_t)nv + 2, sizeof *b->row);
    if (b->e && b->row) return ABUT_OK;
    buckets_free(b);
    return abut_fail(err, ABUT_E_NOMEM, "surface: no memory for %lld faces", (long long)n);
}

/* Turns counts in row[v + 1] into starts in row[v]; filling then moves each start to its end. */
static void buckets_start(buckets *b, int32_t nv)
{
    for (int32_t v = 0; v < nv; v++) b->row[v + 1] += b->row[v];
}

/* Restores starts after filling, when row[v] is the end of bucket v, and sorts the buckets. */
static void buckets_sort(buckets *b, int32_t nv)
{
    for (int32_t v = nv; v > 0; v--) b->row[v] = b->row[v - 1];
    b->row[0] = 0;
    for (int32_t v = 0; v < nv; v++)
        qsort(b->e + b->row[v], (size_t)(b->row[v + 1] - b->row[v]), sizeof *b->e, by_vertices);
}

static int32_t face_entry(const int32_t *tet, int64_t id, entry *e)
{
    const int32_t *t = tet + 4 * (id / 4);
    const signed char *f = abut_tet_face[id % 4];
    int32_t a = t[f[0]], b = t[f[1]], c = t[f[2]], s;
    int odd = 0;
    if (a > b) s = a, a = b, b = s, odd ^= 1;
    if (b > c) s = b, b = c, c = s, odd ^= 1;
    if (a > b) s = a, a = b, b = s, odd ^= 1;
    *e = (entry){ b, c, (int32_t)id, odd };
    return a;
}

/* Marks in shared[] the faces that two tets have in common. */
static abut_status match_faces(const buckets *b, int32_t nv, uint8_t *shared, abut_err *err)
{
    for (int32_t v = 0; v < nv; v++)
        for (int64_t i = b->row[v] + 1; i < b->row[v + 1]; i++) {
            const entry *p = &b->e[i - 1], *q = &b->e[i];
            if (p->mid != q->mid || p->max != q->max) continue;
            if (shared[p->id])
                return abut_fail(err, ABUT_E_GEOM, "face %d %d %d belongs to more than two tets, one is tet %d", v,
                                 p->mid, p->max, q->id / 4);
            if (p->odd == q->odd)
                return abut_fail(err, ABUT_E_GEOM, "tets %d and %d lie on the same side of their common face %d %d %d",
                                 p->id / 4, q->id / 4, v, p->mid, p->max);
            shared[p->id] = shared[q->id] = 1;
        }
    return ABUT_OK;
}

static abut_status collect(int64_t n, const uint8_t *shared, int64_t **face, int32_t *count, abut_err *err)
{
    size_t k = 0;
    for (int64_t i = 0; i < n; i++) k += !shared[i];
    int64_t *out = malloc((k + 1) * sizeof *out);
    if (!out) return abut_fail(err, ABUT_E_NOMEM, "surface: no memory for %zu triangles", k);
    *face = out;
    *count = (int32_t)k;
    for (int64_t i = 0; i < n; i++)
        if (!shared[i]) *out++ = i;
    return ABUT_OK;
}

abut_status abut_surface_faces(const int32_t *tet, int32_t nt, int32_t nv, int64_t **face, int32_t *n, abut_err *err)
{
    assert(nt >= 0 && nv >= 0);
    const int64_t nfaces = 4 * (int64_t)nt;
    buckets b = { 0 };
    entry e;
    uint8_t *shared = calloc((size_t)nfaces + 1, 1);
    if (!shared) return abut_fail(err, ABUT_E_NOMEM, "surface: no memory for %d tets", nt);
    abut_status rc = buckets_new(&b, nfaces, nv, err);
    if (!rc) {
        for (int64_t i = 0; i < nfaces; i++) b.row[face_entry(tet, i, &e) + 1]++;
        buckets_start(&b, nv);
        for (int64_t i = 0; i < nfaces; i++) {
            const int32_t v = face_entry(tet, i, &e);
            b.e[b.row[v]++] = e;
        }
        buckets_sort(&b, nv);
        rc = match_faces(&b, nv, shared, err);
        buckets_free(&b);
    }
    if (!rc) rc = collect(nfaces, shared, face, n, err);
    free(shared);
    return rc;
}

abut_status abut_surface_triangles(const int32_t *tet, int32_t nt, int32_t nv, int32_t **tri, int32_t *n, abut_err *err)
{
    int64_t *face = NULL;
    int32_t k = 0;
    abut_status rc = abut_surface_faces(tet, nt, nv, &face, &k, err);
    int32_t *out = rc ? NULL : malloc((3 * (size_t)k + 1) * sizeof *out);
    if (!rc && !out) rc = abut_fail(err, ABUT_E_NOMEM, "surface: no memory for %d triangles", k);
    for (int32_t i = 0; i < k && !rc; i++)
        for (int c = 0; c < 3; c++) out[3 * (size_t)i + (size_t)c] = tet[4 * (face[i] / 4) + abut_tet_face[face[i] % 4][c]];
    if (!rc) *tri = out, *n = k;
    free(face);
    return rc;
}

static void edge_get(const int32_t *tri, int64_t nf3, const int32_t *seg, int64_t i, int32_t *lo, int32_t *hi)
{
    const int32_t *t = i < nf3 ? tri + 3 * (i / 3) : seg + 2 * (i - nf3);
    const int32_t a = i < nf3 ? t[i % 3] : t[0], b = i < nf3 ? t[(i + 1) % 3] : t[1];
    *lo = a < b ? a : b;
    *hi = a < b ? b : a;
}

abut_status abut_surface_edges(const int32_t *tri, int32_t nf, const int32_t *seg, int32_t ns, int32_t nv, int32_t **edge,
                               int32_t *n, abut_err *err)
{
    const int64_t nf3 = 3 * (int64_t)nf, total = nf3 + ns;
    buckets b = { 0 };
    int32_t lo, hi;
    abut_status rc = buckets_new(&b, total, nv, err);
    if (rc) return rc;
    for (int64_t i = 0; i < total; i++) {
        edge_get(tri, nf3, seg, i, &lo, &hi);
        b.row[lo + 1]++;
    }
    buckets_start(&b, nv);
    for (int64_t i = 0; i < total; i++) {
        edge_get(tri, nf3, seg, i, &lo, &hi);
        b.e[b.row[lo]++] = (entry){ hi, -1, (int32_t)i, 0 };
    }
    buckets_sort(&b, nv);
    int32_t *out = malloc((2 * (size_t)total + 1) * sizeof *out);
    if (!out) rc = abut_fail(err, ABUT_E_NOMEM, "surface: no memory for %lld edges", (long long)total);
    int32_t k = 0;
    for (int32_t v = 0; v < nv && !rc; v++)
        for (int64_t i = b.row[v]; i < b.row[v + 1]; i++) {
            if (i > b.row[v] && b.e[i].mid == b.e[i - 1].mid) continue;
            out[2 * (size_t)k] = v;
            out[2 * (size_t)k + 1] = b.e[i].mid;
            k++;
        }
    buckets_free(&b);
    if (!rc) *edge = out, *n = k;
    return rc;
}

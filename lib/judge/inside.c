#include "judge/inside.h"

#include "geom/bvh.h"
#include "geom/exact/predicates.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

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

typedef struct side {
    int32_t lo, hi, sign;       /* +1 from lo to hi, -1 back */
} side;

static int by_ends(const void *a, const void *b)
{
    const side *p = a, *q = b;
    return p->lo != q->lo ? (p->lo > q->lo) - (p->lo < q->lo) : (p->hi > q->hi) - (p->hi < q->hi);
}

/* *closed 1: every side occurs as often in one direction as in the other, so that winding numbers are defined. */
static abut_status is_closed(const body *b, int *closed, abut_err *err)
{
    side *s = malloc((3 * b->n + 1) * sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "judge: sides of %zu triangles", b->n);
    for (size_t i = 0; i < 3 * b->n; i++) {
        const int32_t p = b->tri[i], q = b->tri[i % 3 == 2 ? i - 2 : i + 1];
        s[i] = p < q ? (side){ p, q, 1 } : (side){ q, p, -1 };
    }
    qsort(s, 3 * b->n, sizeof *s, by_ends);
    *closed = b->n > 0;
    for (size_t i = 0, j; i < 3 * b->n; i = j) {
        int sum = 0;
        for (j = i; j < 3 * b->n && !by_ends(&s[i], &s[j]); j++) sum += s[j].sign;
        if (sum) *closed = 0;
    }
    free(s);
    return ABUT_OK;
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
    abut_status rc = abut_bvh_pairs(&vert, &tri, &pairs, err);
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
        rc = is_closed(&b, &closed, err);
        if (rc || !closed) continue;
        gather_vertices(&b, s, x, o);
        rc = look(&b, o, x, out, err);
    }
    clear(&b);
    free(solid);
    return rc;
}

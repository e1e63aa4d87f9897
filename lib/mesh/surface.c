#include "mesh/surface.h"

#include "base/arena.h"
#include "base/order.h"
#include "geom/boxes.h"
#include "geom/ccd/slab.h"
#include "geom/exact/predicates.h"
#include "geom/lagrange.h"
#include "math/vec3.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- boundaries and edges ---- */

/* A face of a tet: its vertices, ascending, and its number. */
typedef struct tet_face {
    int32_t v[3], id;
} tet_face;

/* *odd: whether the ascending order is an odd permutation of the face's. */
static tet_face face_of(const int32_t *tet, int32_t id, int *odd)
{
    const int32_t *t = tet + 4 * (size_t)(id / 4);
    const signed char *f = abut_tet_face[id % 4];
    int32_t a = t[f[0]], b = t[f[1]], c = t[f[2]], s;
    *odd = 0;
    if (a > b) s = a, a = b, b = s, *odd ^= 1;
    if (b > c) s = b, b = c, c = s, *odd ^= 1;
    if (a > b) s = a, a = b, b = s, *odd ^= 1;
    return (tet_face){ { a, b, c }, id };
}

/* Marks in shared[] those of n sorted faces that two tets have in common. */
static abut_status match_faces(const int32_t *tet, const tet_face *f, int32_t n, uint8_t *shared, abut_err *err)
{
    for (int32_t i = 1; i < n; i++) {
        const tet_face *p = &f[i - 1], *q = &f[i];
        int odd[2];
        if (abut_compare(p->v, q->v, 3)) continue;
        if (shared[p->id])
            return abut_fail(err, ABUT_E_GEOM, "face %d %d %d belongs to more than two tets, one is tet %d", p->v[0], p->v[1],
                             p->v[2], q->id / 4);
        (void)face_of(tet, p->id, &odd[0]), (void)face_of(tet, q->id, &odd[1]);
        if (odd[0] == odd[1])
            return abut_fail(err, ABUT_E_GEOM, "tets %d and %d lie on the same side of their common face %d %d %d", p->id / 4,
                             q->id / 4, p->v[0], p->v[1], p->v[2]);
        shared[p->id] = shared[q->id] = 1;
    }
    return ABUT_OK;
}

static abut_status collect(int32_t n, const uint8_t *shared, int64_t **face, int32_t *count, abut_err *err)
{
    size_t k = 0;
    for (int32_t i = 0; i < n; i++) k += !shared[i];
    int64_t *out = malloc((k + 1) * sizeof *out);
    if (!out) return abut_fail(err, ABUT_E_NOMEM, "surface: no memory for %zu triangles", k);
    *face = out;
    *count = (int32_t)k;
    for (int32_t i = 0; i < n; i++)
        if (!shared[i]) *out++ = i;
    return ABUT_OK;
}

abut_status abut_surface_faces(const int32_t *tet, int32_t nt, int64_t **face, int32_t *n, abut_err *err)
{
    assert(nt >= 0);
    const int32_t n_faces = 4 * nt;
    uint8_t *shared = calloc((size_t)n_faces + 1, 1);
    tet_face *f = malloc(((size_t)n_faces + 1) * sizeof *f);
    abut_status rc = shared && f ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "surface: no memory for %d tets", nt);
    if (!rc) {
        int odd;
        for (int32_t i = 0; i < n_faces; i++) f[i] = face_of(tet, i, &odd);
        qsort(f, (size_t)n_faces, sizeof *f, abut_by_four);
        rc = match_faces(tet, f, n_faces, shared, err);
    }
    if (!rc) rc = collect(n_faces, shared, face, n, err);
    ABUT_FREE(shared, f);
    return rc;
}

abut_status abut_surface_triangles(const int32_t *tet, int32_t nt, int32_t **tri, int32_t *n, abut_err *err)
{
    int64_t *face = NULL;
    int32_t k = 0;
    abut_status rc = abut_surface_faces(tet, nt, &face, &k, err);
    int32_t *out = rc ? NULL : malloc((3 * (size_t)k + 1) * sizeof *out);
    if (!rc && !out) rc = abut_fail(err, ABUT_E_NOMEM, "surface: no memory for %d triangles", k);
    for (int32_t i = 0; i < k && !rc; i++)
        for (int c = 0; c < 3; c++) out[3 * (size_t)i + (size_t)c] = tet[4 * (face[i] / 4) + abut_tet_face[face[i] % 4][c]];
    if (!rc) *tri = out, *n = k;
    free(face);
    return rc;
}

abut_status abut_surface_edges(const int32_t *tri, int32_t nf, const int32_t *seg, int32_t ns, int32_t **edge, int32_t *n,
                               abut_err *err)
{
    const size_t nf3 = 3 * (size_t)nf, total = nf3 + (size_t)ns;
    int32_t *out = malloc((2 * total + 1) * sizeof *out), k = 0;
    if (!out) return abut_fail(err, ABUT_E_NOMEM, "surface: no memory for %zu edges", total);
    for (size_t i = 0; i < total; i++) {
        const int32_t *t = i < nf3 ? tri + 3 * (i / 3) : seg + 2 * (i - nf3);
        const int32_t a = i < nf3 ? t[i % 3] : t[0], b = i < nf3 ? t[(i + 1) % 3] : t[1];
        out[2 * i] = a < b ? a : b;
        out[2 * i + 1] = a < b ? b : a;
    }
    qsort(out, total, 2 * sizeof *out, abut_by_two);
    for (size_t i = 0; i < total; i++)
        if (!k || abut_by_two(out + 2 * i, out + 2 * (size_t)(k - 1)))
            memmove(out + 2 * (size_t)k++, out + 2 * i, 2 * sizeof *out);
    *edge = out, *n = k;
    return ABUT_OK;
}

/* ---- is it the boundary of a solid? ---- */

/* A side of a triangle: lo < hi, and the sense in which the triangle passes it. */
typedef struct side {
    int32_t lo, hi, tri, sense;   /* sense 1: from lo to hi; -1: from hi to lo */
} side;

typedef struct corners {
    int32_t v[3], tri;          /* ascending */
} corners;

typedef struct surface {
    const double *x;
    int32_t nv, nf;
    const int32_t *said;        /* [nf * 3] the triangles as they are given */
    int32_t *tri;               /* [nf * 3] the same, of points at one place the one with the lowest number */
    side *side;                 /* [nf * 3] sorted */
    int32_t *edge, *owner, ne;  /* [ne * 2], [ne] each edge once, and the first triangle that has it */
} surface;

static const double *at(const surface *s, int32_t v) { return s->x + 3 * (size_t)v; }

/* ---- what has the same place ---- */

typedef struct place {
    double x[3];
    int32_t v;
} place;

static int by_place(const void *a, const void *b)
{
    const place *p = a, *q = b;
    for (int k = 0; k < 3; k++)
        if (p->x[k] < q->x[k] || p->x[k] > q->x[k]) return p->x[k] < q->x[k] ? -1 : 1;
    return (p->v > q->v) - (p->v < q->v);
}

static abut_status merge(surface *s, abut_err *err)
{
    place *p = malloc(((size_t)s->nv + 1) * sizeof *p);
    int32_t *first = malloc(((size_t)s->nv + 1) * sizeof *first);
    s->tri = malloc((3 * (size_t)s->nf + 1) * sizeof *s->tri);
    const int ok = p && first && s->tri;
    for (int32_t v = 0; ok && v < s->nv; v++) {
        memcpy(p[v].x, at(s, v), sizeof p[v].x);
        p[v].v = v;
    }
    if (ok) qsort(p, (size_t)s->nv, sizeof *p, by_place);
    for (int32_t i = 0; ok && i < s->nv; i++) {
        const int same = i && p[i].x[0] == p[i - 1].x[0] && p[i].x[1] == p[i - 1].x[1] && p[i].x[2] == p[i - 1].x[2];
        first[p[i].v] = same ? first[p[i - 1].v] : p[i].v;
    }
    for (size_t i = 0; ok && i < 3 * (size_t)s->nf; i++) s->tri[i] = first[s->said[i]];
    ABUT_FREE(p, first);
    return ok ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "surface: no memory for %d points, %d triangles", s->nv, s->nf);
}

/* ---- triangles by themselves ---- */

/* "triangle 3 (points 0, 4, 5)" */
static const char *words(const surface *s, int32_t t, char buf[80])
{
    const int32_t *v = s->said + 3 * (size_t)t;
    snprintf(buf, 80, "triangle %d (points %d, %d, %d)", t, v[0], v[1], v[2]);
    return buf;
}

/* Whether the points are on a line: they are if they are in each of three projections (exact). */
static int has_no_area(const surface *s, const int32_t *v)
{
    for (int k = 0; k < 3; k++) {
        const int l = (k + 1) % 3;
        double p[3][2];
        for (int c = 0; c < 3; c++) p[c][0] = at(s, v[c])[k], p[c][1] = at(s, v[c])[l];
        if (abut_orient2d(p[0], p[1], p[2]) != 0) return 0;
    }
    return 1;
}

static abut_status check_areas(const surface *s, abut_err *err)
{
    char one[80];
    for (int32_t t = 0; t < s->nf; t++) {
        const int32_t *v = s->tri + 3 * (size_t)t;
        const double *p = at(s, v[0]);
        if (v[0] != v[1] && v[1] != v[2] && v[2] != v[0] && !has_no_area(s, v)) continue;
        return abut_fail(err, ABUT_E_GEOM, "%s at (%.6g, %.6g, %.6g) has no area: expected a closed surface of triangles that "
                         "have one", words(s, t, one), p[0], p[1], p[2]);
    }
    return ABUT_OK;
}

static abut_status check_twice(const surface *s, abut_err *err)
{
    char one[80], other[80];
    int32_t first = -1, again = -1, more = 0;
    corners *c = malloc(((size_t)s->nf + 1) * sizeof *c);
    if (!c) return abut_fail(err, ABUT_E_NOMEM, "surface: no memory for %d triangles", s->nf);
    for (int32_t t = 0; t < s->nf; t++) {
        memcpy(c[t].v, s->tri + 3 * (size_t)t, sizeof c[t].v);
        qsort(c[t].v, 3, sizeof *c[t].v, abut_by_one);
        c[t].tri = t;
    }
    qsort(c, (size_t)s->nf, sizeof *c, abut_by_four);
    for (int32_t i = 1; i < s->nf; i++) {
        if (memcmp(c[i - 1].v, c[i].v, sizeof c[i].v)) continue;
        more++;
        if (again < 0 || c[i].tri < again) first = c[i - 1].tri, again = c[i].tri;
    }
    free(c);
    if (again < 0) return ABUT_OK;
    return abut_fail(err, ABUT_E_GEOM, "%s has the corners of %s, the first of %d that do so: expected every triangle of a "
                     "closed surface once", words(s, again, one), words(s, first, other), more);
}

/* ---- edges ---- */

static abut_status list_sides(surface *s, abut_err *err)
{
    const size_t n = 3 * (size_t)s->nf;
    if (!ABUT_ARRAYS(ABUT_ITEMS(s->side, n), ABUT_ITEMS(s->edge, 2 * n), ABUT_ITEMS(s->owner, n)))
        return abut_fail(err, ABUT_E_NOMEM, "surface: no memory for %d triangles", s->nf);
    for (size_t i = 0; i < n; i++) {
        const int32_t a = s->tri[i], b = s->tri[i - i % 3 + (i + 1) % 3];
        s->side[i] = (side){ a < b ? a : b, a < b ? b : a, (int32_t)(i / 3), a < b ? 1 : -1 };
    }
    qsort(s->side, n, sizeof *s->side, abut_by_three);
    return ABUT_OK;
}

/* The end of the sides of one edge that begin at i. */
static size_t edge_end(const surface *s, size_t i)
{
    size_t j = i + 1;
    while (j < 3 * (size_t)s->nf && s->side[j].lo == s->side[i].lo && s->side[j].hi == s->side[i].hi) j++;
    return j;
}

/* Sides [i, j) are those of an edge that is passed more often in one direction than in the other. */
static abut_status edge_fail(const surface *s, size_t i, size_t j, abut_err *err)
{
    char one[80], other[80];
    const side *e = &s->side[i];
    const double *p = at(s, e->lo), *q = at(s, e->hi);
    words(s, e->tri, one);
    if (j - i == 1)
        return abut_fail(err, ABUT_E_GEOM, "the edge of points %d and %d, from (%.6g, %.6g, %.6g) to (%.6g, %.6g, %.6g), is of "
                         "%s alone: expected a closed surface, whose edges have two triangles", e->lo, e->hi, p[0], p[1], p[2],
                         q[0], q[1], q[2], one);
    words(s, e[1].tri, other);
    if (j - i == 2)
        return abut_fail(err, ABUT_E_GEOM, "%s and %s pass their edge of points %d and %d in the same direction: one of the two "
                         "is turned over; expected all counter-clockwise from outside", one, other, e->lo, e->hi);
    return abut_fail(err, ABUT_E_GEOM, "the edge of points %d and %d at (%.6g, %.6g, %.6g) is of %zu triangles, among them %s "
                     "and %s: expected a closed surface, whose edges have two", e->lo, e->hi, p[0], p[1], p[2], j - i, one,
                     other);
}

/* Every edge once, and in both directions alike; of wrong ones that of the lowest triangle is named. */
static abut_status check_edges(surface *s, abut_err *err)
{
    size_t bad = SIZE_MAX;
    for (size_t i = 0, j; i < 3 * (size_t)s->nf; i = j) {
        int32_t sum = 0;
        j = edge_end(s, i);
        for (size_t k = i; k < j; k++) sum += s->side[k].sense;
        if (sum && (bad == SIZE_MAX || s->side[i].tri < s->side[bad].tri)) bad = i;
        s->edge[2 * (size_t)s->ne] = s->side[i].lo;
        s->edge[2 * (size_t)s->ne + 1] = s->side[i].hi;
        s->owner[s->ne++] = s->side[i].tri;
    }
    return bad == SIZE_MAX ? ABUT_OK : edge_fail(s, bad, edge_end(s, bad), err);
}

/* ---- what crosses ---- */

/* The corner of triangle t that is not on the side. */
static int32_t apex(const surface *s, const side *e)
{
    const int32_t *v = s->tri + 3 * (size_t)e->tri;
    int k = 0;
    while (v[k] == e->lo || v[k] == e->hi) k++;
    return v[k];
}

static abut_status meet_fail(const surface *s, const char *how, int32_t a, int32_t b, abut_err *err)
{
    char one[80], other[80];
    const double *p = at(s, s->tri[3 * (size_t)a]), *q = at(s, s->tri[3 * (size_t)b]);
    return abut_fail(err, ABUT_E_GEOM, "%s at (%.6g, %.6g, %.6g) and %s at (%.6g, %.6g, %.6g) %s: expected a closed surface that "
                     "neither touches nor crosses itself", words(s, a, one), p[0], p[1], p[2], words(s, b, other), q[0], q[1],
                     q[2], how);
}

/* Two triangles of one edge lie on each other. */
static abut_status check_folds(const surface *s, abut_err *err)
{
    for (size_t i = 0, j; i < 3 * (size_t)s->nf; i = j) {
        j = edge_end(s, i);
        for (size_t k = i; k < j; k++)
            for (size_t l = k + 1; l < j; l++) {
                const side *e = &s->side[k], *f = &s->side[l];
                if (abut_fold_over(at(s, e->lo), at(s, e->hi), at(s, apex(s, e)), at(s, apex(s, f))))
                    return meet_fail(s, "are folded onto each other", e->tri, f->tri, err);
            }
    }
    return ABUT_OK;
}

static abut_box *boxes(const surface *s, const int32_t *vert, int32_t n, int k)
{
    abut_box *box = malloc(((size_t)n + 1) * sizeof *box);
    for (int32_t i = 0; box && i < n; i++) box[i] = abut_box_points(s->x, NULL, vert + (size_t)k * (size_t)i, k, 0);
    return box;
}

/* The first edge that touches a triangle it has no point in common with; two triangles with one common point meet elsewhere only
 * where the edge opposite to it of one touches the other. */
static abut_status check_crossings(const surface *s, abut_err *err)
{
    abut_box *eb = boxes(s, s->edge, s->ne, 2), *tb = boxes(s, s->tri, s->nf, 3);
    abut_pair_list pairs = { 0 };
    const abut_items e = { (size_t)s->ne, 2, s->edge, NULL, eb }, t = { (size_t)s->nf, 3, s->tri, NULL, tb };
    abut_status rc = eb && tb ? abut_box_pairs(&e, &t, &pairs, err)
                              : abut_fail(err, ABUT_E_NOMEM, "surface: no memory for %d edges", s->ne);
    for (size_t i = 0; i < pairs.n && !rc; i++) {
        const int32_t *v = s->edge + 2 * (size_t)pairs.ij[i][0], *w = s->tri + 3 * (size_t)pairs.ij[i][1];
        if (abut_slab_centroids2(s->x, v, 2, w, 3) > 0) continue;
        if (abut_touch_edge_tri(at(s, v[0]), at(s, v[1]), at(s, w[0]), at(s, w[1]), at(s, w[2])))
            rc = meet_fail(s, "touch or cross", s->owner[pairs.ij[i][0]], pairs.ij[i][1], err);
    }
    abut_pair_list_clear(&pairs);
    ABUT_FREE(eb, tb);
    return rc;
}

abut_status abut_closed_surface_check(const double *x, int32_t nv, const int32_t *tri, int32_t nf, abut_err *err)
{
    assert(x && tri && nf > 0);
    surface s = { .x = x, .nv = nv, .nf = nf, .said = tri };
    abut_status rc = merge(&s, err);
    if (!rc) rc = check_areas(&s, err);
    if (!rc) rc = check_twice(&s, err);
    if (!rc) rc = list_sides(&s, err);
    if (!rc) rc = check_edges(&s, err);
    if (!rc) rc = check_folds(&s, err);
    if (!rc) rc = check_crossings(&s, err);
    free(s.tri), free(s.side), free(s.edge), free(s.owner);
    return rc;
}

/* ---- hinges ---- */

static const double PI = 3.14159265358979323846;

/* A wing of a triangle, or an end of a segment (hi 0): what can be common. */
typedef struct wing {
    int32_t lo, hi, of; /* of: 3 triangle + corner where it begins, 2 segment + end */
} wing;

static int same(const wing *p, const wing *q)
{
    return p->lo == q->lo && p->hi == q->hi;
}

/* Sides of the same nodes are adjacent; within each group by `of`. */
static wing *sorted_sides(const int32_t *e, size_t n, int width)
{
    wing *s = malloc((n + 1) * sizeof *s);
    for (size_t i = 0; s && i < n; i++) {
        const size_t first = i - i % (size_t)width;
        const int32_t a = e[i], b = width == 3 ? e[first + (i + 1) % 3] : 0;
        s[i] = width == 2 ? (wing){ a, 0, (int32_t)i } : (wing){ a < b ? a : b, a < b ? b : a, (int32_t)i };
    }
    if (s) qsort(s, n, sizeof *s, abut_by_three);
    return s;
}

static size_t group_end(const wing *s, size_t i, size_t n)
{
    size_t k = i + 1;
    while (k < n && same(&s[i], &s[k]))
        k++;
    return k;
}

static int32_t opposite(const int32_t *tri, int32_t of)
{
    return tri[of - of % 3 + (of + 2) % 3];
}

static abut_status make_hinge(const int32_t *tri, const wing *s, size_t n, abut_hinge *out, abut_err *err)
{
    const int32_t a = s[0].of, b = s[1].of;
    if (n > 2)
        return abut_fail(err, ABUT_E_GEOM, "triangles %d, %d and %d have the edge %d %d in common: expected one or two",
                         a / 3, b / 3, s[2].of / 3, s->lo, s->hi);
    *out = (abut_hinge){ { tri[a], tri[a - a % 3 + (a + 1) % 3], opposite(tri, a), opposite(tri, b) }, { a / 3, b / 3 } };
    if (out->node[2] == out->node[3])
        return abut_fail(err, ABUT_E_GEOM, "triangles %d and %d have the same corners %d %d %d", a / 3, b / 3, s->lo, s->hi,
                         out->node[2]);
    return ABUT_OK;
}

abut_status abut_hinges_find(const int32_t *tri, int32_t nf, int32_t nv, abut_hinge **hinge, int32_t *n, abut_err *err)
{
    assert(nv >= 0);
    const size_t sides = 3 * (size_t)nf;
    wing *s = sorted_sides(tri, sides, 3);
    abut_hinge *out = malloc((sides + 1) * sizeof *out);
    abut_status rc = s && out ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "no memory for the hinges of %d points", nv);
    int32_t found = 0;
    for (size_t i = 0, end; i < sides && !rc; i = end) {
        end = group_end(s, i, sides);
        if (end - i > 1) rc = make_hinge(tri, s + i, end - i, &out[found++], err);
    }
    free(s);
    if (rc)
        free(out);
    else
        *hinge = out, *n = found;
    return rc;
}

abut_status abut_bends_find(const int32_t *seg, int32_t ns, int32_t nv, abut_bend **bend, int32_t *n, abut_err *err)
{
    const size_t ends = 2 * (size_t)ns;
    wing *s = sorted_sides(seg, ends, 2);
    abut_bend *out = malloc((ends + 1) * sizeof *out);
    abut_status rc = s && out ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "no memory for the bends of %d points", nv);
    int32_t found = 0;
    for (size_t i = 0, end; i < ends && !rc; i = end) {
        end = group_end(s, i, ends);
        for (size_t a = i; a < end && !rc; a++)
            for (size_t b = i; b < a && !rc; b++)
                if (seg[s[a].of ^ 1] == seg[s[b].of ^ 1])
                    rc = abut_fail(err, ABUT_E_GEOM, "segments %d and %d have the same ends %d %d", s[b].of / 2, s[a].of / 2,
                                   s[i].lo, seg[s[a].of ^ 1]);
        if (rc || end - i != 2) continue;
        out[found++] = (abut_bend){ { seg[s[i].of ^ 1], s[i].lo, seg[s[i + 1].of ^ 1] }, { s[i].of / 2, s[i + 1].of / 2 } };
    }
    free(s);
    if (rc)
        free(out);
    else
        *bend = out, *n = found;
    return rc;
}

double abut_hinge_angle(const double x[12])
{
    const abut_vec3 o = abut_v3_get(x), e = abut_v3_sub(abut_v3_get(x + 3), o);
    const abut_vec3 nA = abut_v3_cross(e, abut_v3_sub(abut_v3_get(x + 6), o));
    const abut_vec3 nB = abut_v3_cross(abut_v3_sub(abut_v3_get(x + 9), o), e);
    return atan2(abut_v3_dot(abut_v3_cross(nA, nB), e) / abut_v3_norm(e), abut_v3_dot(nA, nB));
}

double abut_hinge_stiffness(double young, double poisson, double thickness, double edge, double area, int plate)
{
    const double k = young * thickness * thickness * thickness / (24 * (1 - poisson * poisson));
    return (plate ? 1 : 3) * k * edge * edge / area;
}

double abut_bend_stiffness(double young, double radius, double l1, double l2)
{
    const double r2 = radius * radius;
    return young * PI * r2 * r2 / (4 * (l1 + l2));
}

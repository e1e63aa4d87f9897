#include "mesh/hinges.h"

#include "math/vec3.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846;

/* A side of a triangle, or an end of a segment (hi 0): what can be common. */
typedef struct side {
    int32_t lo, hi, of; /* of: 3 triangle + corner where it begins, 2 segment + end */
} side;

static int by_nodes(const void *a, const void *b)
{
    const side *p = a, *q = b;
    if (p->lo != q->lo) return p->lo < q->lo ? -1 : 1;
    if (p->hi != q->hi) return p->hi < q->hi ? -1 : 1;
    return (p->of > q->of) - (p->of < q->of);
}

static int same(const side *p, const side *q)
{
    return p->lo == q->lo && p->hi == q->hi;
}

/* Sides of the same nodes are adjacent; within each group by `of`. */
static side *sorted_sides(const int32_t *e, size_t n, int width)
{
    side *s = malloc((n + 1) * sizeof *s);
    for (size_t i = 0; s && i < n; i++) {
        const size_t first = i - i % (size_t)width;
        const int32_t a = e[i], b = width == 3 ? e[first + (i + 1) % 3] : 0;
        s[i] = width == 2 ? (side){ a, 0, (int32_t)i } : (side){ a < b ? a : b, a < b ? b : a, (int32_t)i };
    }
    if (s) qsort(s, n, sizeof *s, by_nodes);
    return s;
}

static size_t group_end(const side *s, size_t i, size_t n)
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

static abut_status make_hinge(const int32_t *tri, const side *s, size_t n, abut_hinge *out, abut_err *err)
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
    side *s = sorted_sides(tri, sides, 3);
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
    side *s = sorted_sides(seg, ends, 2);
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

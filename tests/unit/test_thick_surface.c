/* Surfaces of shells, rods and particles with their thickness: closed, outward, as thick as asked. */
#include "check.h"

#include "formats/result/surfaces.h"

static const double THICK = 0.02;       /* m, of the object */

/* A sheet of n x n squares of 0.1 m, then a segment of length 0.3 m, then a point, as parts of one object each. */
typedef struct thing {
    int32_t n, nv, body[200], node[200], tri[600], seg[2], point[1], lead[200];
    double X[600], v[600], obj_thick[3];
    abut_part part[3];
    abut_model model;
    abut_parts parts;
} thing;

static void build(thing *t, int n)
{
    const int32_t rim = n + 1;
    *t = (thing){ .n = n, .nv = rim * rim + 3, .obj_thick = { THICK, THICK, THICK } };
    for (int32_t i = 0; i < rim * rim; i++) {
        t->X[3 * i] = 0.1 * (i % rim);
        t->X[3 * i + 1] = 0.1 * (double)(i / rim);
    }
    int32_t *tri = t->tri;
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = 0; i < n; i++, tri += 6) {
            const int32_t a = j * rim + i, two[6] = { a, a + 1, a + rim, a + 1, a + rim + 1, a + rim };
            memcpy(tri, two, sizeof two);
        }
    const int32_t s = rim * rim;
    const double ends[9] = { 1, 0, 0, 1, 0.18, 0.24, 2, 1, 1 };
    memcpy(t->X + 3 * s, ends, sizeof ends);
    for (int32_t i = 0; i < t->nv; i++) {
        t->node[i] = t->lead[i] = i;
        t->body[i] = i < s ? 0 : i < s + 2 ? 1 : 2;
        for (int d = 0; d < 3; d++) t->v[3 * i + d] = i + 0.1 * d;
    }
    t->seg[1] = 1;
    t->part[0] = (abut_part){ .name = "sheet", .object = 0, .nv = s, .node = t->node, .ntri = 2 * n * n, .tri = t->tri };
    t->part[1] = (abut_part){ .name = "rod", .object = 1, .nv = 2, .node = t->node + s, .nseg = 1, .seg = t->seg };
    t->part[2] = (abut_part){ .name = "grain", .object = 2, .nv = 1, .node = t->node + s + 2, .npoint = 1, .point = t->point };
    t->model = (abut_model){ .nv = t->nv, .no = 3, .body = t->body, .obj_thick = t->obj_thick };
    t->parts = (abut_parts){ .n = 3, .part = t->part, .n_points = t->nv, .lead = t->lead };
}

/* Every edge of its triangles is there once in each direction. */
static void check_closed(const abut_part *p)
{
    for (int32_t i = 0; i < 3 * p->ntri; i++) {
        const int32_t a = p->tri[i], b = p->tri[i % 3 == 2 ? i - 2 : i + 1];
        int same = 0, back = 0;
        for (int32_t j = 0; j < 3 * p->ntri; j++) {
            const int32_t c = p->tri[j], d = p->tri[j % 3 == 2 ? j - 2 : j + 1];
            same += c == a && d == b;
            back += c == b && d == a;
        }
        CHECK(same == 1 && back == 1);
    }
    CHECK(p->nseg == 0 && p->npoint == 0);
}

static double volume(const abut_part *p, const double *x)
{
    double sum = 0;
    for (int32_t i = 0; i < p->ntri; i++) {
        const int32_t *q = p->tri + 3 * i;
        const double *a = x + 3 * p->node[q[0]], *b = x + 3 * p->node[q[1]], *c = x + 3 * p->node[q[2]];
        sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    return sum / 6;
}

TEST(surfaces_are_closed_and_outward_and_a_flat_sheet_has_the_volume_of_its_area_times_its_thickness)
{
    thing t;
    abut_thick k;
    abut_err err = { 0 };
    build(&t, 4);
    CHECK(!abut_thick_make(&t.parts, &t.model, t.X, &k, &err));
    for (int i = 0; i < 3; i++) check_closed(&k.parts.part[i]);
    const double r = THICK / 2, ball = 4.0 / 3 * 3.141592653589793 * r * r * r, rod = 3.141592653589793 * r * r * 0.3 + ball;
    CHECK_NEAR(volume(&k.parts.part[0], k.X), 0.16 * THICK, 1e-15);
    const double v1 = volume(&k.parts.part[1], k.X), v2 = volume(&k.parts.part[2], k.X);
    CHECK(v1 < rod && v1 > 0.93 * rod);         /* polygons in circles: sin(2 pi / 12) / (2 pi / 12) = 0.955 */
    CHECK(v2 < ball && v2 > 0.85 * ball);
    abut_thick_clear(&k);
}

TEST(points_of_rods_and_grains_are_a_radius_from_them_and_every_point_follows_its_own)
{
    thing t;
    abut_thick k;
    abut_err err = { 0 };
    build(&t, 2);
    CHECK(!abut_thick_make(&t.parts, &t.model, t.X, &k, &err));
    double x[600];
    for (int32_t i = 0; i < 3 * t.nv; i++) x[i] = t.X[i] + (i % 3 == 0 ? 5 : -1);     /* moved as a whole */
    abut_thick_frame(&k, x, t.v);
    const double *a = x + 27, *b = x + 30;
    for (int i = 0; i < 3; i++)
        for (int32_t j = 0; j < k.parts.part[i].nv; j++) {
            const int32_t q = k.parts.part[i].node[j];
            const double *at = k.x + 3 * q;
            for (int d = 0; d < 3; d++) CHECK_NEAR(at[d] - k.X[3 * q + d], d == 0 ? 5 : -1, 1e-12);
            CHECK(k.parts.lead[q] == k.own[q] && t.body[k.own[q]] == i);
            for (int d = 0; d < 3; d++) CHECK(k.v[3 * q + d] == t.v[3 * k.own[q] + d]);
            double s = 0, len2 = 0, d2 = 0;
            for (int d = 0; d < 3; d++) s += (at[d] - a[d]) * (b[d] - a[d]), len2 += (b[d] - a[d]) * (b[d] - a[d]);
            s = i == 1 ? fmin(fmax(s / len2, 0), 1) : 0;
            const double *o = i == 1 ? a : x + 3 * k.own[q];
            for (int d = 0; d < 3; d++) {
                const double e = at[d] - o[d] - (i == 1 ? s * (b[d] - a[d]) : 0);
                d2 += e * e;
            }
            CHECK_NEAR(sqrt(d2), THICK / 2, 1e-14);
        }
    CHECK(!memcmp(k.x, x, 3 * sizeof *x * (size_t)t.nv) && !memcmp(k.v, t.v, 3 * sizeof *x * (size_t)t.nv));
    abut_thick_clear(&k);
}

TEST(what_has_no_thickness_and_what_is_solid_stay_as_they_are)
{
    thing t;
    abut_thick k;
    abut_err err = { 0 };
    build(&t, 2);
    t.obj_thick[1] = t.obj_thick[2] = 0;
    t.part[0].solid = 1;
    CHECK(!abut_thick_make(&t.parts, &t.model, t.X, &k, &err));
    CHECK(k.parts.n_points == t.nv && !memcmp(k.parts.part, t.part, sizeof t.part));
    abut_thick_clear(&k);
    const double radius[1] = { 0.05 };      /* of the material, more than half of what the object keeps */
    t.model.rod = (int32_t[2]){ 9, 10 }, t.model.nrd = 1, t.model.rod_radius = radius;
    CHECK(!abut_thick_make(&t.parts, &t.model, t.X, &k, &err));
    CHECK_NEAR(k.part[1].radius, 0.05, 0);
    CHECK(k.parts.part[1].ntri > 0 && k.parts.part[2].npoint == 1 && k.parts.part[0].ntri == 8);
    abut_thick_clear(&k);
}

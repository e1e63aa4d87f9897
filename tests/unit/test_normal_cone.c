/* Normal cones of features of two surfaces, against the nearest of all pairs of their primitives. */
#include "base/rng.h"
#include "contact/touch_find.h"

#include "check.h"

#include <math.h>
#include <string.h>

enum { MOST_V = 64, MOST_E = 128, MOST_T = 96 };

typedef struct surfaces {
    abut_collmesh cm;
    abut_rings rings;
    double y[3 * MOST_V];
    int32_t edge[2 * MOST_E], tri[3 * MOST_T];
} surfaces;

static void edge(surfaces *s, int32_t a, int32_t b)
{
    for (int32_t e = 0; e < s->cm.ne; e++)
        if ((s->edge[2 * e] == a && s->edge[2 * e + 1] == b) || (s->edge[2 * e] == b && s->edge[2 * e + 1] == a)) return;
    s->edge[2 * s->cm.ne] = a, s->edge[2 * s->cm.ne++ + 1] = b;
    CHECK(s->cm.ne < MOST_E);
}

static void triangle(surfaces *s, int32_t a, int32_t b, int32_t c)
{
    const int32_t v[3] = { a, b, c };
    memcpy(s->tri + 3 * s->cm.nt++, v, sizeof v);
    edge(s, a, b), edge(s, b, c), edge(s, c, a);
}

static int32_t vertex(surfaces *s, double x, double y, double z)
{
    const double p[3] = { x, y, z };
    memcpy(s->y + 3 * s->cm.nc, p, sizeof p);
    return s->cm.nc++;
}

/* A fan of triangles around a corner, the rim at random heights: open or closed; convex, flat, a groove or a saddle. */
static void fan(surfaces *s, abut_rng *r, double high, double up)
{
    const int n = 3 + (int)abut_rng_real(r, 0, 4), open = abut_rng_real(r, 0, 1) < 0.3;
    const double same = abut_rng_real(r, -1, 1), each = abut_rng_real(r, 0, 1) < 0.5 ? 0 : 0.5, a0 = abut_rng_real(r, 0, 6);
    const int32_t apex = vertex(s, abut_rng_real(r, -0.1, 0.1), high, abut_rng_real(r, -0.1, 0.1));
    for (int k = 0; k < n; k++) {
        const double a = a0 + 6.283185307179586 * k / n;
        vertex(s, cos(a), high - up * (same + each * abut_rng_real(r, -1, 1)), sin(a));
    }
    for (int k = 0; k < n - open; k++) triangle(s, apex, apex + 1 + k, apex + 1 + (k + 1) % n);
}

/* A rod of four vertices, or a point. */
static void thin(surfaces *s, abut_rng *r, double high, int n)
{
    for (int k = 0; k < n; k++) {
        const int32_t v = vertex(s, (n > 1 ? k - 1.5 : 0) + abut_rng_real(r, -0.3, 0.3), high + abut_rng_real(r, -0.3, 0.3),
                                 abut_rng_real(r, -0.3, 0.3));
        if (k) edge(s, v - 1, v);
    }
}

static void settle(surfaces *s)
{
    s->cm.edge = s->edge, s->cm.tri = s->tri;
    CHECK(s->cm.nc < MOST_V && s->cm.nt < MOST_T);
    CHECK(!abut_rings_init(&s->rings, &s->cm, NULL));
}

/* The turn of a pair of primitives with its distance; r[3] as turned, and the separation before. */
static double turn_of(const surfaces *s, abut_stencil kind, const int32_t v[4], double *distance, double before[3], double r[3])
{
    double x[12], w[4];
    for (int k = 0; k < abut_stencil_size(kind); k++) memcpy(x + 3 * k, s->y + 3 * v[k], 3 * sizeof *x);
    *distance = sqrt(abut_closest(kind, x, w));
    before[0] = before[1] = before[2] = 0;
    for (int k = 0; k < 3 * abut_stencil_size(kind); k++) before[k % 3] += w[k / 3] * x[k];
    memcpy(r, before, 3 * sizeof *r);
    return abut_cone_turn(&s->rings, &s->cm, &(abut_moving){ s->y, s->y, 0 }, kind, v, w, r);
}

/* Pair number i of a vertex below `split` with one from it on; returns 0 if there is none. */
static int pair(const surfaces *s, int32_t split, int32_t i, abut_stencil *kind, int32_t v[4])
{
    const int32_t nc = s->cm.nc, nt = s->cm.nt, ne = s->cm.ne;
    const int32_t pt = nc * nt, ee = ne * ne, pe = nc * ne;
    int first = 1;
    memset(v, -1, 4 * sizeof *v);
    if (i < pt) {
        *kind = ABUT_PT, v[0] = i / nt;
        memcpy(v + 1, s->tri + 3 * (i % nt), 3 * sizeof *v);
    } else if (i < pt + ee) {
        *kind = ABUT_EE, first = 2;
        memcpy(v, s->edge + 2 * ((i - pt) / ne), 2 * sizeof *v);
        memcpy(v + 2, s->edge + 2 * ((i - pt) % ne), 2 * sizeof *v);
        if (v[0] >= split) return 0;
    } else if (i < pt + ee + pe) {
        *kind = ABUT_PE, v[0] = (i - pt - ee) / ne;
        memcpy(v + 1, s->edge + 2 * ((i - pt - ee) % ne), 2 * sizeof *v);
    } else {
        *kind = ABUT_PP, v[0] = (i - pt - ee - pe) / nc, v[1] = (i - pt - ee - pe) % nc;
    }
    return (v[0] < split) != (v[first] < split);
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

TEST(the_nearest_of_all_pairs_is_in_its_cones_and_what_leaves_them_has_a_nearer_pair)
{
    abut_rng r = { 5 };
    size_t turned = 0, inside = 0;
    for (int n = 0; n < 600; n++) {
        surfaces s = { 0 };
        fan(&s, &r, 0, 1);
        const int32_t split = s.cm.nc;
        if (n % 4 < 2) fan(&s, &r, 2.5, -1);
        else thin(&s, &r, 2.5, n % 4 == 2 ? 4 : 1);
        settle(&s);
        const int32_t all = s.cm.nc * s.cm.nt + s.cm.ne * s.cm.ne + s.cm.nc * s.cm.ne + s.cm.nc * s.cm.nc;
        double least = INFINITY, d, before[3], after[3];
        abut_stencil kind;
        int32_t v[4];
        for (int32_t i = 0; i < all; i++) {
            if (!pair(&s, split, i, &kind, v)) continue;
            (void)turn_of(&s, kind, v, &d, before, after);
            least = fmin(least, d);
        }
        CHECK(least > 0.1 && isfinite(least));
        for (int32_t i = 0; i < all; i++) {
            if (!pair(&s, split, i, &kind, v)) continue;
            const double sine = turn_of(&s, kind, v, &d, before, after);
            if (d < least * (1 + 1e-14)) CHECK(sine < 1e-6);
            if (sine > 1e-6) CHECK(d > least);
            CHECK(sine >= 0 && sine <= 1);
            const double cosine = sqrt(1 - sine * sine);
            if (dot(after, after) < dot(before, before)) {
                CHECK_NEAR(sqrt(dot(after, after)), cosine * d, 1e-7);
                CHECK_NEAR(dot(after, before), dot(after, after), 1e-12);       /* a projection */
            }
            turned += sine > 1e-3, inside += sine < 1e-6;
        }
        abut_rings_clear(&s.rings);
    }
    CHECK(turned > 10000 && inside > 2000);
}

/* The point moves from one side of the sheet to the other. */
TEST(a_flat_sheet_of_any_triangles_has_its_two_normals_everywhere_within)
{
    abut_rng r = { 8 };
    enum { N = 5 };
    int edges = 0, vertices = 0;
    for (int n = 0; n < 300; n++) {
        surfaces s = { 0 };
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) vertex(&s, i + abut_rng_real(&r, -0.2, 0.2), 0, j + abut_rng_real(&r, -0.2, 0.2));
        for (int32_t i = 0; i + 1 < N; i++)
            for (int32_t j = 0; j + 1 < N; j++) {
                const int32_t a = N * i + j;
                if (n % 2) triangle(&s, a, a + 1, a + N), triangle(&s, a + 1, a + N + 1, a + N);
                else triangle(&s, a, a + 1, a + N + 1), triangle(&s, a, a + N + 1, a + N);
            }
        const int32_t p = vertex(&s, abut_rng_real(&r, 1, N - 2), abut_rng_real(&r, 0.01, 0.2) * (n % 3 ? 1 : -1),
                                 abut_rng_real(&r, 1, N - 2));
        settle(&s);
        for (int32_t i = 0; i < s.cm.nt + p; i++) {
            const int32_t *t = s.tri + 3 * i;
            const abut_stencil kind = i < s.cm.nt ? ABUT_PT : ABUT_PP;
            int32_t v[4] = { p, i - s.cm.nt, -1, -1 };
            if (kind == ABUT_PT) memcpy(v + 1, t, 3 * sizeof *v);
            double d, before[3], after[3], x[12], w[4];
            int within = 0;
            for (int k = 0; k < abut_stencil_size(kind); k++) memcpy(x + 3 * k, s.y + 3 * v[k], 3 * sizeof *x);
            (void)abut_closest(kind, x, w);
            for (int k = 1; k < abut_stencil_size(kind); k++)
                within |= w[k] < 0 && v[k] / N % (N - 1) && v[k] % N % (N - 1);
            if (!within) continue;      /* at the rim of the sheet */
            const double sine = turn_of(&s, kind, v, &d, before, after);
            CHECK_NEAR(after[0], 0, 1e-12);
            CHECK_NEAR(after[1], s.y[3 * p + 1], 1e-12);
            CHECK_NEAR(after[2], 0, 1e-12);
            edges += kind == ABUT_PT && sine > 0, vertices += kind == ABUT_PP;
        }
        abut_rings_clear(&s.rings);
    }
    CHECK(edges > 100 && vertices > 20);
}

TEST(an_edge_of_a_box_has_an_arc_a_groove_its_faces_a_rim_a_half_plane_and_neighbours_do_not_count)
{
    double d, before[3], r[3];
    /* two triangles of the edge x = y = 0: along -x, and downwards, or upwards as a groove */
    for (int k = 0; k < 2; k++) {
        surfaces s = { 0 };
        const int32_t a = vertex(&s, 0, 0, -5), b = vertex(&s, 0, 0, 5), c = vertex(&s, -5, 0, 0);
        triangle(&s, a, b, c), triangle(&s, a, b, vertex(&s, 3, k ? 3 : -3, 0));
        const int32_t right = vertex(&s, 0.1, 0.3, 0), left = vertex(&s, -0.1, 0.3, 0);
        settle(&s);
        const double length = sqrt(0.1);
        CHECK_NEAR(turn_of(&s, ABUT_PE, (int32_t[]){ right, a, b, -1 }, &d, before, r), k ? 0.4 / sqrt(2) / length : 0, 1e-12);
        CHECK_NEAR(k ? r[0] + r[1] : r[0] - 0.1, 0, 1e-15);     /* normal to the face that rises */
        CHECK_NEAR(turn_of(&s, ABUT_PE, (int32_t[]){ left, a, b, -1 }, &d, before, r), (k ? 0.2 / sqrt(2) : 0.1) / length, 1e-12);
        CHECK_NEAR(k ? r[0] + r[1] : r[0], 0, 1e-15);
        abut_rings_clear(&s.rings);
    }
    /* the rim of a triangle: all that leads away from it, above and below */
    surfaces s = { 0 };
    const int32_t a = vertex(&s, 0, 0, -5), b = vertex(&s, 0, 0, 5), c = vertex(&s, -5, 0, 0);
    triangle(&s, a, b, c);
    const int32_t beside = vertex(&s, 0.2, 0, 0), above = vertex(&s, 0.01, 0.2, 0), below = vertex(&s, 0.01, -0.2, 0);
    const int32_t within = vertex(&s, -0.3, 0.4, 0);
    settle(&s);
    for (int k = 0; k < 3; k++)
        CHECK(turn_of(&s, ABUT_PE, (int32_t[]){ (int32_t[]){ beside, above, below }[k], a, b, -1 }, &d, before, r) == 0);
    CHECK_NEAR(turn_of(&s, ABUT_PE, (int32_t[]){ within, a, b, -1 }, &d, before, r), 0.6, 1e-12);
    CHECK_NEAR(r[1], 0.4, 1e-15);
    /* c is a vertex of the only triangle of edge ab: that is no pair with c */
    CHECK(turn_of(&s, ABUT_PE, (int32_t[]){ c, a, b, -1 }, &d, before, r) == 0);
    abut_rings_clear(&s.rings);
}

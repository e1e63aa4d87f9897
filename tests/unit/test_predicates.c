/* The static predicates against rational arithmetic (signs) and against a twin that works in another way (touching):
 * on small grids two hulls are apart exactly when one of finitely many planes separates them. */
#include "base/rng.h"
#include "check.h"
#include "geom/exact/predicates.h"

#include <float.h>
#include <gmp.h>

/* sign of the determinant of the rows p_i - p_n, n = 2 or 3, in rationals; v[(n + 1) n] */
static int rational_orient(const double *v, int n)
{
    mpq_t D[3][3], t, det;
    mpq_inits(t, det, NULL);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            mpq_init(D[i][k]);
            mpq_set_d(D[i][k], v[n * i + k]);
            mpq_set_d(t, v[n * n + k]);
            mpq_sub(D[i][k], D[i][k], t);
        }
    static const int perm[6][3] = { { 0, 1, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 1, 0, 2 }, { 0, 2, 1 }, { 2, 1, 0 } };
    for (int p = 0; p < 6; p++) {
        if (n == 2 && perm[p][2] != 2) continue;
        mpq_set_si(t, p < 3 ? 1 : -1, 1);
        for (int i = 0; i < n; i++) mpq_mul(t, t, D[i][perm[p][i]]);
        mpq_add(det, det, t);
    }
    const int sign = mpq_sgn(det);
    for (int i = 0; i < n * n; i++) mpq_clear(D[i / n][i % n]);
    mpq_clears(t, det, NULL);
    return sign;
}

static int orient3d_of(const double *v) { return abut_orient3d(v, v + 3, v + 6, v + 9); }
static int orient2d_of(const double *v) { return abut_orient2d(v, v + 2, v + 4); }

TEST(orientation_has_the_documented_sign)
{
    const double o[3] = { 0, 0, 0 }, x[3] = { 1, 0, 0 }, y[3] = { 0, 1, 0 }, z[3] = { 0, 0, 1 };
    CHECK(abut_orient2d(o, x, y) == 1 && abut_orient2d(x, o, y) == -1 && abut_orient2d(o, x, x) == 0);
    CHECK(abut_orient3d(o, x, y, z) == -1 && abut_orient3d(o, y, x, z) == 1 && abut_orient3d(o, x, y, x) == 0);
}

TEST(orientation_of_nearly_coplanar_points_equals_rational_arithmetic)
{
    abut_rng r = { 1 };
    int zero = 0;
    for (int it = 0, runs = check_runs(20000, 2000000); it < runs; it++) {
        const double offset = ldexp(1, (int)abut_rng_below(&r, 30) - 2);
        double v[12];
        for (int i = 0; i < 9; i++) v[i] = offset + abut_rng_real(&r, -1, 1);
        /* an affine combination of the first three, off by rounding and now and then by one ulp */
        const double s = abut_rng_real(&r, -1, 2), t = abut_rng_real(&r, -1, 2);
        for (int k = 0; k < 3; k++) v[9 + k] = (1 - s - t) * v[k] + s * v[3 + k] + t * v[6 + k];
        if (it % 3 == 0) for (int k = 0; k < 3; k++) v[9 + k] = (v[k] + v[3 + k]) / 2;
        if (it % 5 == 0) v[10] = nextafter(v[10], 10);
        const int want = rational_orient(v, 3);
        zero += want == 0;
        CHECK(orient3d_of(v) == want);
        CHECK(orient2d_of(v) == rational_orient(v, 2));
    }
    CHECK(zero > 10);
}

TEST(orientation_of_nearly_collinear_points_in_the_plane_equals_rational_arithmetic)
{
    abut_rng r = { 6 };
    int zero = 0;
    for (int it = 0, runs = check_runs(20000, 2000000); it < runs; it++) {
        const double offset = it % 4 ? 0 : ldexp(1, (int)abut_rng_below(&r, 30) - 2), s = abut_rng_real(&r, -1, 2);
        double v[6];
        for (int i = 0; i < 4; i++) v[i] = offset + abut_rng_real(&r, -1, 1);
        for (int k = 0; k < 2; k++) v[4 + k] = it % 3 ? v[k] + s * (v[2 + k] - v[k]) : (v[k] + v[2 + k]) / 2;
        if (it % 5 == 0) v[4] = nextafter(v[4], 10);
        const int want = rational_orient(v, 2);
        zero += want == 0;
        CHECK(orient2d_of(v) == want);
    }
    CHECK(zero > 10);
}

TEST(orientation_on_small_grids_equals_rational_arithmetic)
{
    abut_rng r = { 2 };
    for (int it = 0, runs = check_runs(20000, 2000000); it < runs; it++) {
        double v[12];
        /* thirds are not exact: differences round, and expansions get tails */
        for (int i = 0; i < 12; i++) v[i] = ((int)abut_rng_below(&r, 5) - 2) / (it % 2 ? 3.0 : 1.0);
        CHECK(orient3d_of(v) == rational_orient(v, 3));
        CHECK(orient2d_of(v) == rational_orient(v, 2));
    }
}

TEST(orientation_survives_subnormal_and_huge_coordinates)
{
    abut_rng r = { 3 };
    int nonzero = 0;
    for (int it = 0, runs = check_runs(20000, 2000000); it < runs; it++) {
        double v[12];
        const int common = (int)abut_rng_below(&r, 2000) - 1020;
        for (int i = 0; i < 12; i++) {
            const int e = it % 2 ? common : (int)abut_rng_below(&r, 2050) - 1074;
            v[i] = ldexp((int)abut_rng_below(&r, 9) - 4, e > 1000 ? 1000 : e);
        }
        const int want = rational_orient(v, 3);
        nonzero += want != 0;
        CHECK(orient3d_of(v) == want);
        CHECK(orient2d_of(v) == rational_orient(v, 2));
    }
    CHECK(nonzero > 10000);
    const double m = DBL_MAX, v[12] = { m, 0, 0, -m, 0, 0, 0, m, 0, 0, 0, DBL_TRUE_MIN };
    CHECK(orient3d_of(v) == rational_orient(v, 3));
}

TEST(orientation_changes_sign_with_every_swap)
{
    abut_rng r = { 4 };
    for (int it = 0, runs = check_runs(5000, 500000); it < runs; it++) {
        double v[12], w[12];
        for (int i = 0; i < 12; i++) w[i] = v[i] = 0.1 * (int)abut_rng_below(&r, 4);
        const int i = (int)abut_rng_below(&r, 4), j = (i + 1 + (int)abut_rng_below(&r, 3)) % 4;
        for (int k = 0; k < 3; k++) w[3 * i + k] = v[3 * j + k], w[3 * j + k] = v[3 * i + k];
        CHECK(orient3d_of(v) == -orient3d_of(w));
    }
}

TEST(not_a_number_has_no_orientation)
{
    const double v[12] = { NAN, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 }, w[12] = { 0, 0, 0, INFINITY, 0, 0, 0, 1, 0, 0, 0, 1 };
    CHECK(orient3d_of(v) == 0 && orient3d_of(w) == 0 && orient2d_of(v) == 0);
    const double p[3] = { 0.2, 0.2, NAN }, q[3] = { 0.2, 0.2, 1 }, a[3] = { 0, 0, 0 }, b[3] = { 1, 0, 0 }, c[3] = { 0, 1, 0 };
    CHECK(abut_touch_edge_tri(p, q, a, b, c));
    CHECK(abut_touch_point_tri(p, a, b, c));
}

TEST(side_of_a_plane_equals_rational_arithmetic)
{
    abut_rng r = { 5 };
    int zero = 0;
    for (int it = 0, runs = check_runs(20000, 2000000); it < runs; it++) {
        double n[3], p[3], x[3];
        const int scale = it % 4 ? 0 : (int)abut_rng_below(&r, 1600) - 1000;
        for (int k = 0; k < 3; k++) n[k] = (int)abut_rng_below(&r, 5) - 2, p[k] = abut_rng_real(&r, -1, 1);
        for (int k = 0; k < 3; k++) x[k] = p[k] + n[(k + 1) % 3] * 0.1 - n[(k + 2) % 3] * 0.1;
        if (it % 3 == 0) for (int k = 0; k < 3; k++) n[k] = ldexp(n[k] + 0.1, scale);
        if (it % 7 == 0) for (int k = 0; k < 3; k++) p[k] = ldexp(p[k], -1000), x[k] = ldexp(x[k], -1000);
        mpq_t sum, a, b;
        mpq_inits(sum, a, b, NULL);
        for (int k = 0; k < 3; k++) {
            mpq_set_d(a, x[k]);
            mpq_set_d(b, p[k]);
            mpq_sub(a, a, b);
            mpq_set_d(b, n[k]);
            mpq_mul(a, a, b);
            mpq_add(sum, sum, a);
        }
        const int want = mpq_sgn(sum);
        zero += want == 0;
        CHECK(abut_plane_side(n, p, x) == want);
        mpq_clears(sum, a, b, NULL);
    }
    CHECK(zero > 100);
}

TEST(expansions_are_exact)
{
    abut_rng r = { 6 };
    mpq_t want, got, t;
    mpq_inits(want, got, t, NULL);
    for (int it = 0, runs = check_runs(3000, 300000); it < runs; it++) {
        double e[2], f[2], g[4], h[16], scratch[16], v[6];
        for (int i = 0; i < 6; i++) v[i] = ldexp(abut_rng_real(&r, -1, 1), (int)abut_rng_below(&r, 60) - 30);
        const int ne = abut_expansion_diff(v[0], v[1], e), nf = abut_expansion_diff(v[2], v[3], f);
        const int ng = abut_expansion_sum(e, ne, f, nf, g), nh = abut_expansion_times2(g, ng, f, nf, h, scratch);
        mpq_set_d(want, v[0]);
        for (int i = 1; i < 4; i++) {
            mpq_set_d(t, i == 2 ? v[i] : -v[i]);
            mpq_add(want, want, t);
        }
        mpq_set_d(t, v[2]);
        mpq_set_d(got, v[3]);
        mpq_sub(t, t, got);
        mpq_mul(want, want, t);
        mpq_set_ui(got, 0, 1);
        for (int i = 0; i < nh; i++) {
            mpq_set_d(t, h[i]);
            mpq_add(got, got, t);
            if (i) CHECK(fabs(h[i - 1]) < fabs(h[i]));
        }
        CHECK(mpq_equal(want, got));
        CHECK(abut_expansion_sign(h, nh) == mpq_sgn(want));
    }
    mpq_clears(want, got, t, NULL);
}

/* Touching.  Twin: do the convex hulls of integer points p[np], q[nq] meet?  They do unless a plane separates them
 * strictly; for hulls of at most 4 points each a strictly separating normal exists among the directions tried here, because
 * the difference hull is a polytope whose facets are spanned by differences of two points of p, two of q. */
typedef struct point { long x[3]; } point;

static point sub(point a, point b) { return (point){ { a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2] } }; }
static long dot(point a, point b) { return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2]; }
static point cross(point a, point b)
{
    return (point){ { a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2],
                      a.x[0] * b.x[1] - a.x[1] * b.x[0] } };
}

static int separates(point n, const point *p, int np, const point *q, int nq)
{
    long min_p = dot(n, p[0]), max_q = dot(n, q[0]);
    for (int i = 1; i < np; i++) min_p = dot(n, p[i]) < min_p ? dot(n, p[i]) : min_p;
    for (int i = 1; i < nq; i++) max_q = dot(n, q[i]) > max_q ? dot(n, q[i]) : max_q;
    return min_p > max_q;
}

static int hulls_meet(const point *p, int np, const point *q, int nq)
{
    point d[64];    /* edge directions of the difference hull, and vertex differences for hulls of lower dimension */
    int nd = 0;
    for (int i = 0; i < np; i++) for (int j = 0; j < i; j++) d[nd++] = sub(p[i], p[j]);
    for (int i = 0; i < nq; i++) for (int j = 0; j < i; j++) d[nd++] = sub(q[i], q[j]);
    for (int i = 0; i < np; i++) for (int j = 0; j < nq; j++) d[nd++] = sub(p[i], q[j]);
    for (int i = 0; i < nd; i++) {
        if (separates(d[i], p, np, q, nq) || separates(d[i], q, nq, p, np)) return 0;
        for (int j = 0; j < i; j++) {
            const point n = cross(d[i], d[j]);
            if (separates(n, p, np, q, nq) || separates(n, q, nq, p, np)) return 0;
            for (int k = 0; k < nd; k++) {   /* within a plane: normal to an edge and to the plane's normal */
                const point m = cross(n, d[k]);
                if (separates(m, p, np, q, nq) || separates(m, q, nq, p, np)) return 0;
            }
        }
    }
    return 1;
}

static void random_points(abut_rng *r, int range, int n, point *p, double (*x)[3])
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) p[i].x[k] = (long)abut_rng_below(r, (uint32_t)range) - range / 2;
    const uint32_t shape = abut_rng_below(r, 6);
    for (int i = 0; i < n; i++) {
        if (shape <= 1) p[i].x[2] = 0;                          /* flat, often with repeated points */
        if (shape == 2) p[i].x[1] = p[i].x[0], p[i].x[2] = 0;   /* on one line */
        for (int k = 0; k < 3; k++) x[i][k] = (double)p[i].x[k];
    }
}

/* two triangles that share k = 0 or 1 vertices: x, y [9] each; with k = 1 the shared vertex comes first in both */
static int touch_tri_tri(const double x[9], const double y[9], int shared)
{
    if (shared)
        return abut_touch_edge_tri(x + 3, x + 6, y, y + 3, y + 6) || abut_touch_edge_tri(y + 3, y + 6, x, x + 3, x + 6);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3;
        if (abut_touch_edge_tri(x + 3 * i, x + 3 * j, y, y + 3, y + 6)) return 1;
        if (abut_touch_edge_tri(y + 3 * i, y + 3 * j, x, x + 3, x + 6)) return 1;
    }
    return 0;
}

static int touch(int kind, double (*x)[3])
{
    switch (kind) {
    case 0: return abut_touch_edge_tri(x[0], x[1], x[2], x[3], x[4]);
    case 1: return abut_touch_edge_edge(x[0], x[1], x[2], x[3]);
    case 2: return abut_touch_point_tri(x[0], x[1], x[2], x[3]);
    case 3: return abut_touch_point_edge(x[0], x[1], x[2]);
    case 4: return abut_touch_point_tet(x[0], x[1], x[2], x[3], x[4]);
    default: return touch_tri_tri(x[0], x[3], 0);
    }
}

TEST(touching_on_small_grids_equals_a_search_for_a_separating_plane)
{
    static const int np[6] = { 2, 2, 1, 1, 1, 3 }, nq[6] = { 3, 2, 3, 2, 4, 3 };
    abut_rng r = { 7 };
    int yes[6] = { 0 }, all[6] = { 0 };
    for (int it = 0, runs = check_runs(6000, 600000); it < runs; it++) {
        const int kind = it % 6;
        point p[6];
        double x[6][3];
        random_points(&r, it % 12 < 6 ? 3 : it % 24 < 12 ? 5 : 9, np[kind] + nq[kind], p, x);
        const int want = hulls_meet(p, np[kind], p + np[kind], nq[kind]);
        CHECK(touch(kind, x) == want);
        /* the same shape off the dyadic grid by an exact axis-wise scaling and shift keeps its answer */
        for (int i = 0; i < np[kind] + nq[kind]; i++) x[i][0] = x[i][0] * 0x1.8p-40 + 4, x[i][1] *= 0x1p+60, x[i][2] *= 0x1p-70;
        CHECK(touch(kind, x) == want);
        yes[kind] += want, all[kind]++;
    }
    for (int kind = 0; kind < 6; kind++) CHECK(yes[kind] > 20 && yes[kind] < all[kind] - 20);
}

TEST(triangles_with_a_common_vertex_touch_only_beyond_it)
{
    abut_rng r = { 8 };
    const int runs = check_runs(1000, 100000);
    int yes = 0;
    for (int it = 0; it < runs; it++) {
        point p[5];
        double x[5][3], a[9], b[9];
        random_points(&r, 4, 5, p, x);
        /* twin: an edge opposite the shared vertex p[0] meets the other triangle */
        const point f[3] = { p[0], p[1], p[2] }, g[3] = { p[0], p[3], p[4] };
        const int want = hulls_meet(f + 1, 2, g, 3) || hulls_meet(g + 1, 2, f, 3);
        memcpy(a, x, sizeof a);
        memcpy(b, x[0], 3 * sizeof(double));
        memcpy(b + 3, x[3], 6 * sizeof(double));
        CHECK(touch_tri_tri(a, b, 1) == want);
        yes += want;
    }
    CHECK(yes > runs / 20 && yes < runs - runs / 20);
}

TEST(fold_over_is_flat_and_on_one_side)
{
    const double a[3] = { 0, 0, 0 }, b[3] = { 1, 1, 1 }, c[3] = { 1, 0, 0 }, d[3] = { 2, 1, 1 }, e[3] = { -1, 0, 0 };
    const double off[3] = { 2, 1, nextafter(1, 2) }, on[3] = { 2, 2, 2 };
    CHECK(abut_fold_over(a, b, c, d) && abut_fold_over(b, a, d, c));
    CHECK(!abut_fold_over(a, b, c, e));
    CHECK(!abut_fold_over(a, b, c, off));
    CHECK(!abut_fold_over(a, b, c, on) && !abut_fold_over(a, b, on, c));
}

TEST(segment_inside_a_coplanar_triangle_touches_it_and_one_beside_does_not)
{
    const double a[3] = { 0, 0, 0 }, b[3] = { 9, 0, 9 }, c[3] = { 0, 9, 9 };    /* in the plane z = x + y */
    const double p[3] = { 2, 2, 4 }, q[3] = { 3, 2, 5 }, out[3] = { 6, 6, 12 }, far[3] = { 9, 6, 15 };
    CHECK(abut_touch_edge_tri(p, q, a, b, c) && abut_touch_edge_tri(p, out, a, b, c));
    CHECK(!abut_touch_edge_tri(out, far, a, b, c));
    const double i[3] = { 1, 1, 1 }, j[3] = { 2, 2, 2 }, k[3] = { 3, 3, 3 }, l[3] = { 4, 4, 4 };
    CHECK(abut_touch_edge_edge(i, l, j, k) && abut_touch_edge_edge(j, k, i, l) && abut_touch_edge_edge(i, k, j, l));
    CHECK(!abut_touch_edge_edge(i, j, k, l));
}

TEST(one_ulp_decides_between_touch_and_gap)
{
    for (int e = 0; e <= 20; e += 10) {
        const double o = ldexp(1, e) - 1, top = nextafter(o, 1e9), low = nextafter(o, -1e9);
        const double a[3] = { o, o, o }, b[3] = { o + 1, o, o }, c[3] = { o, o + 1, o };
        const double p[3] = { o + 0.25, o + 0.25, o }, q[3] = { o + 0.25, o + 0.25, o + 1 };
        const double p_above[3] = { o + 0.25, o + 0.25, top }, p_below[3] = { o + 0.25, o + 0.25, low };
        CHECK(abut_touch_edge_tri(p, q, a, b, c) && abut_touch_edge_tri(p_below, q, a, b, c));
        CHECK(!abut_touch_edge_tri(p_above, q, a, b, c));
        const double rim[3] = { o + 0.5, o + 0.5, o }, out[3] = { nextafter(o + 0.5, 1e9), o + 0.5, o };
        CHECK(abut_touch_point_tri(rim, a, b, c) && !abut_touch_point_tri(out, a, b, c));
        CHECK(abut_touch_point_edge(rim, b, c) && !abut_touch_point_edge(out, b, c));
    }
}

/* Signed gaps against finite differences, unsigned distances, closed forms and motions through. */
#include "check.h"

#include "base/rng.h"
#include "geom/dist.h"

static const abut_stencil ALL[] = { ABUT_PT, ABUT_EE, ABUT_PE, ABUT_PP };
typedef int form(abut_stencil s, const double *x0, const double *x, double offset, abut_gap_row *row);
static form *const FORMS[] = { abut_gap_projected, abut_gap_volume };

static void random_points(abut_rng *r, double x[12], double size)
{
    for (int i = 0; i < 12; i++) x[i] = abut_rng_real(r, -size, size);
}

TEST(gradients_are_central_differences)
{
    abut_rng r = { 1 };
    double worst = 0;
    for (int it = 0; it < 400; it++) {
        const abut_stencil s = ALL[it % 2];
        double x0[12], x[12];
        abut_gap_row row, up, down;
        random_points(&r, x0, 1);
        for (int i = 0; i < 12; i++) x[i] = x0[i] + abut_rng_real(&r, -0.1, 0.1);
        for (int k = 0; k < 2; k++) {
            if (!FORMS[k](s, x0, x, 0.01, &row) || abut_dist2(s, x, NULL) < 0.01) continue;
            for (int i = 0; i < 3 * abut_stencil_size(s); i++) {
                const double at = x[i], e = 1e-6;
                x[i] = at + e;
                CHECK(FORMS[k](s, x0, x, 0.01, &up));
                x[i] = at - e;
                CHECK(FORMS[k](s, x0, x, 0.01, &down));
                x[i] = at;
                double size = 1;
                for (int j = 0; j < 12; j++) size = fmax(size, fabs(row.a[j]));
                worst = fmax(worst, fabs((up.c - down.c) / (2 * e) - row.a[i]) / (size * size));
            }
        }
    }
    printf("# off by %.2g\n", worst);
    CHECK(worst < 1e-7);
}

TEST(without_an_offset_the_size_of_a_projected_gap_is_the_distance_and_its_sign_that_of_the_start)
{
    abut_rng r = { 2 };
    for (int it = 0; it < 400; it++) {
        const abut_stencil s = ALL[it % 2];
        double x[12];
        abut_gap_row row, less;
        random_points(&r, x, 1);
        if (!abut_gap_projected(s, x, x, 0, &row)) continue;
        const double d = sqrt(abut_dist2(s, x, NULL));
        CHECK_NEAR(row.c, d, 1e-12 / d);
        CHECK(abut_gap_projected(s, x, x, 0.25, &less));
        CHECK_NEAR(less.c, row.c - 0.25, 1e-15);
    }
}

/* The vertex falls through the middle of a triangle, an edge through an edge. */
TEST(a_pair_that_passes_through_has_a_negative_gap_and_volume)
{
    const double pt[12] = { 0.25, 0.25, 0.5, 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    const double ee[12] = { -1, 0, 0.5, 1, 0, 0.5, 0, -1, 0, 0, 1, 0 };
    double below[12];
    abut_gap_row row;
    memcpy(below, pt, sizeof below);
    below[2] = -0.5;
    CHECK(abut_gap_projected(ABUT_PT, pt, below, 0.125, &row));
    CHECK_NEAR(row.c, -0.625, 1e-15);
    CHECK_NEAR(row.a[2], 1, 1e-15);
    CHECK_NEAR(row.a[5], -0.5, 1e-15);
    CHECK(abut_gap_volume(ABUT_PT, pt, below, 0, &row));
    CHECK_NEAR(row.c, -0.5 / 6, 1e-15);     /* B d / 3, B = 1/2 */
    CHECK(abut_gap_volume(ABUT_PT, pt, pt, 0.25, &row));
    CHECK_NEAR(row.c, 0.25 / 6, 1e-15);     /* as if it was an offset nearer */
    memcpy(below, ee, sizeof below);
    below[2] = below[5] = -0.25;
    CHECK(abut_gap_projected(ABUT_EE, ee, below, 0, &row));
    CHECK_NEAR(row.c, -0.25, 1e-15);
    CHECK(abut_gap_volume(ABUT_EE, ee, below, 0, &row));
    CHECK_NEAR(row.c, -0.25 * 4 / 6, 1e-15);
    /* the order of the corners does not matter, nor which edge is the first */
    const double other[12] = { 0, 1, 0, 0, -1, 0, -1, 0, 0.5, 1, 0, 0.5 };
    const double gone[12] = { 0, 1, 0, 0, -1, 0, -1, 0, -0.25, 1, 0, -0.25 };
    CHECK(abut_gap_projected(ABUT_EE, other, gone, 0, &row));
    CHECK_NEAR(row.c, -0.25, 1e-15);
}

TEST(rigid_motions_change_no_gap_and_translations_are_in_no_gradient)
{
    abut_rng r = { 3 };
    for (int it = 0; it < 200; it++) {
        const abut_stencil s = ALL[it % 2];
        const double angle = abut_rng_real(&r, 0, 6), c = cos(angle), d = sin(angle);
        double x[12], y[12], t[3] = { 0.3, -0.2, 0.7 };
        abut_gap_row one, two;
        random_points(&r, x, 1);
        for (int k = 0; k < 4; k++) {
            y[3 * k] = c * x[3 * k] - d * x[3 * k + 1] + t[0];
            y[3 * k + 1] = d * x[3 * k] + c * x[3 * k + 1] + t[1];
            y[3 * k + 2] = x[3 * k + 2] + t[2];
        }
        for (int f = 0; f < 2; f++) {
            if (!FORMS[f](s, x, x, 0.1, &one)) continue;
            CHECK(FORMS[f](s, y, y, 0.1, &two));
            CHECK_NEAR(one.c, two.c, 1e-11);
            double sum[3] = { 0, 0, 0 };
            for (int i = 0; i < 3 * abut_stencil_size(s); i++) sum[i % 3] += one.a[i];
            for (int k = 0; k < 3; k++) CHECK_NEAR(sum[k], 0, 1e-11);
        }
    }
}

TEST(what_is_frozen_is_linear_and_points_to_where_the_pair_began)
{
    abut_rng r = { 4 };
    int frozen = 0;
    for (int it = 0; it < 200; it++) {
        const abut_stencil s = ALL[it % 4];
        double x0[12], z[12], x1[12], mid[12], w[4], n[3];
        abut_gap_row a, b, m;
        random_points(&r, x0, 1);
        random_points(&r, z, 1);
        random_points(&r, x1, 1);
        if (!abut_gap_freeze(s, x0, z, w, n)) continue;
        frozen++;
        for (int i = 0; i < 12; i++) mid[i] = 0.5 * (x0[i] + x1[i]);
        abut_gap_frozen(s, w, n, x0, 0.2, &a);
        abut_gap_frozen(s, w, n, x1, 0.2, &b);
        abut_gap_frozen(s, w, n, mid, 0.2, &m);
        CHECK_NEAR(m.c, 0.5 * (a.c + b.c), 1e-13);
        CHECK(a.c >= -0.2);
        CHECK_NEAR(n[0] * n[0] + n[1] * n[1] + n[2] * n[2], 1, 1e-14);
        double at = -0.2;
        for (int i = 0; i < 12; i++) at += a.a[i] * x1[i];
        CHECK_NEAR(at, b.c, 1e-13);
    }
    CHECK(frozen > 100);
}

TEST(what_spans_no_normal_has_no_gap)
{
    const double line[12] = { 0, 0, 1, 0, 0, 0, 1, 0, 0, 2, 0, 0 }, parallel[12] = { 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0, 0 };
    const double touching[12] = { 1, 2, 3, 1, 2, 3 };
    double w[4], n[3];
    abut_gap_row row;
    for (int f = 0; f < 2; f++) {
        CHECK(!FORMS[f](ABUT_PT, line, line, 0, &row));
        CHECK(!FORMS[f](ABUT_EE, parallel, parallel, 0, &row));
    }
    CHECK(!abut_gap_freeze(ABUT_PP, touching, touching, w, n));
}

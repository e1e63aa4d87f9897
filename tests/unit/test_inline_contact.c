/* Barrier and friction of one contact, which a GPU runs, against those of four contacts at once. */
#include "base/rng.h"
#include "check.h"
#include "energy/barrier_inline.h"
#include "energy/barrier_pair.h"
#include "energy/friction.h"
#include "energy/friction_inline.h"
#include "geom/dist.h"
#include "math/spd_inline.h"

static void any_points(abut_rng *r, int k, double x[12])
{
    const double size = pow(10, abut_rng_real(r, -3, 1));
    for (int i = 0; i < 12; i++) x[i] = (k % 5 ? 0 : 1e3) + size * abut_rng_real(r, -1, 1);
}

/* as wide as the points are apart, or wider */
static abut_barrier_law any_law(abut_rng *r, int k, double d)
{
    return abut_barrier_law_of(d * abut_rng_real(r, 0.3, 4), k % 3, k % 4 ? 0 : 0.6 * d);
}

TEST(barriers_have_the_bits_of_four)
{
    abut_rng r = { 1 };
    for (int k = 0; k < 20000; k++) {
        const double D = k == 0 ? 0 : pow(10, abut_rng_real(&r, -12, 1)), four_D[4] = { D, 1, 2, D };
        const abut_barrier_law law = { k % 2 || !k ? 1 : D * abut_rng_real(&r, 0.5, 2), k % 3, 0, 0, 0 };
        const abut_barrier_law four[4] = { law, law, law, law };
        double b[4], db, ddb, exact_db, exact_ddb;
        abut_barrier_four(four, four_D, b);
        const double one = abut_barrier_fn(law, D, &db, &ddb), exact = abut_barrier(law, D, &exact_db, &exact_ddb);
        CHECK(one == b[3] && (isinf(exact) ? one == exact : fabs(one - exact) <= 1e-14 * fabs(exact)));
        if (isinf(exact)) continue;
        CHECK_NEAR(db, exact_db, 1e-13 * fabs(exact_db) + 1e-300);
        CHECK_NEAR(ddb, exact_ddb, 1e-13 * fabs(exact_ddb) + 1e-300);
    }
}

TEST(gradients_of_plain_contacts_have_the_bits_of_four)
{
    abut_rng r = { 2 };
    for (int k = 0; k < 8000; k++) {
        const abut_stencil kind = (abut_stencil)(k % 4);
        double x[12], four[4][12], one[12], g[4][12];
        any_points(&r, k, x);
        const abut_barrier_law law = any_law(&r, k, sqrt(abut_dist2(kind, x, NULL))), laws[4] = { law, law, law, law };
        for (int l = 0; l < 4; l++) memcpy(four[l], x, sizeof x);
        abut_pair_barrier_grads(laws, kind, 3, (const double (*)[12])four, g);
        abut_pair_barrier_grad_fn(law, kind, x, 0, one);
        CHECK(!memcmp(one, g[2], 3 * (size_t)abut_stencil_size(kind) * sizeof *one));
    }
}

/* The largest difference of two packed matrices over the blocks of so many corners, and the size of the first. */
static double packed_apart(const double *a, const double *b, int corners, double *size)
{
    double worst = 0;
    *size = 0;
    for (int p = 0, at = 0; p < 4; p++)
        for (int q = p; q < 4; q++, at += 9)
            for (int k = 0; k < 9 && q < corners; k++) {
                worst = fmax(worst, fabs(a[at + k] - b[at + k]));
                *size = fmax(*size, fabs(a[at + k]));
            }
    return worst;
}

/* The least eigenvalue of a packed matrix over the largest. */
static double least_share(const double *H, int corners)
{
    double A[144], w[12], Q[144], least = INFINITY, most = 0;
    const int n = 3 * corners;
    for (int p = 0, at = 0; p < 4; p++)
        for (int q = p; q < 4; q++, at += 9)
            for (int k = 0; k < 9 && q < corners; k++)
                A[n * (3 * p + k / 3) + 3 * q + k % 3] = A[n * (3 * q + k % 3) + 3 * p + k / 3] = H[at + k];
    abut_sym_eigen(n, A, w, Q);
    for (int i = 0; i < n; i++) least = fmin(least, w[i]), most = fmax(most, fabs(w[i]));
    return most > 0 ? least / most : 0;
}

TEST(hessians_are_those_of_four_and_semidefinite)
{
    abut_rng r = { 3 };
    const double scale[4] = { 2, 2, 2, 2 };
    for (int k = 0; k < 4000; k++) {
        const abut_stencil kind = (abut_stencil)(k % 4);
        const int mollified = k % 8 == 3, corners = abut_stencil_size(kind);
        double x[12], four[4][12], H[4 * ABUT_PACKED] = { 0 }, one[ABUT_PACKED] = { 0 }, d2, size;
        any_points(&r, k, x);
        (void)abut_nearest(kind, x, &d2);
        const double eps = 4 * abut_cross2(x, NULL, NULL), eps_x[4] = { eps, eps, eps, eps };
        const abut_barrier_law law = any_law(&r, k, sqrt(mollified ? d2 : abut_dist2(kind, x, NULL)));
        const abut_barrier_law laws[4] = { law, law, law, law };
        for (int l = 0; l < 4; l++) memcpy(four[l], x, sizeof x);
        if (mollified) {
            abut_pair_mollified_hess(laws, 4, (const double (*)[12])four, eps_x, scale, H);
            abut_pair_mollified_hess_fn(law, x, eps, 2, one);
        } else {
            abut_pair_barrier_hess(laws, kind, 4, (const double (*)[12])four, scale, H);
            abut_pair_barrier_hess_fn(law, kind, x, 2, one);
        }
        const double apart = packed_apart(H + ABUT_PACKED, one, corners, &size);
        CHECK(apart <= 1e-12 * size);
        CHECK(least_share(one, corners) > -1e-13);
    }
}

TEST(sliding_and_kinks_are_those_of_the_library)
{
    abut_rng r = { 4 };
    for (int k = 0; k < 8000; k++) {
        double b, d, b_fn, d_fn, c, s;
        const int smoothing = k % 3;
        const double w = 0.02, y = k ? 0.05 * abut_rng_real(&r, 0, 1) : 0;
        const double u[2] = { y, 0.3 * y }, size = abut_friction_polar(u, &c, &s);
        CHECK(abut_friction_f0(smoothing, y, w, &b, &d) == abut_friction_f0_fn(smoothing, y, w, &b_fn, &d_fn));
        CHECK(b == b_fn && d == d_fn);
        CHECK_NEAR(c * c + s * s, 1, 1e-15);
        CHECK_NEAR(size * c, u[0], 1e-17);
    }
}

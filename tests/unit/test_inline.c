/* Functions of one number, which a GPU runs, against those of four numbers at once: the same bits. */
#include "check.h"
#include "kuhn.h"

#include "energy/elastic.h"
#include "gpu/elements_inline.h"
#include "sparse/bsr.h"
#include "math/lanes.h"
#include "math/svd3.h"
#include "sparse/packed_lanes.h"

static double any_size(abut_rng *r, double lo, double hi) { return pow(10, abut_rng_real(r, lo, hi)); }

static int same(const void *a, const void *b, size_t n) { return !memcmp(a, b, n * sizeof(double)); }

TEST(powers_of_two_are_those_of_the_library)
{
    abut_rng r = { 1 };
    for (int k = 0; k < 20000; k++) {
        const double x = ldexp(abut_rng_real(&r, 0.5, 1), -1060 + (int)abut_rng_below(&r, 2080)) * (k % 2 ? 1 : -1);
        int e;
        (void)frexp(x, &e);
        CHECK(abut_exponent(x) == e);
        const double scaled = abut_times_power2(x, -e);
        CHECK(fabs(scaled) >= 0.5 && fabs(scaled) < 1 && ldexp(x, -e) == scaled);
        CHECK(abut_times_power2(scaled, e) == x);
        const int by = -300 + (int)abut_rng_below(&r, 600);
        CHECK(abut_times_power2(x, by) == ldexp(x, by));
    }
}

TEST(logarithms_are_those_of_four)
{
    abut_rng r = { 2 };
    for (int k = 0; k < 20000; k++) {
        const double x = k == 0 ? 0 : k == 1 ? -1 : k == 2 ? (double)INFINITY : k % 2 ? any_size(&r, -320, 308)
                                                                                     : abut_rng_real(&r, 0.5, 2);
        const abut_lanes four = ABUT_LANES_ALL(x);
        abut_lanes y;
        abut_log_lanes(&four, &y);
        const double one = abut_log(x), other = y[2];
        CHECK(isnan(one) ? isnan(other) : one == other);
        const double small = k % 2 ? any_size(&r, -300, 0) * (k % 4 == 1 ? 1 : -1) : abut_rng_real(&r, -1, 1);
        const abut_lanes v = ABUT_LANES_ALL(small);
        if (small <= -1) continue;
        abut_log1p_lanes(&v, &y);
        CHECK(abut_log1p(small) == y[1]);
    }
}

/* A deformation gradient: near the identity, any, inverted, flat, of very different stretches. */
static void any_deformation(abut_rng *r, int k, double F[9])
{
    for (int i = 0; i < 9; i++) F[i] = (i % 4 ? 0 : 1) + abut_rng_real(r, -1, 1) * (k % 3 ? 0.1 : 1);
    if (k % 7 == 0)
        for (int i = 0; i < 9; i++) F[i] *= any_size(r, -6, 3);
    if (k % 11 == 0) F[0] = F[1] = F[2] = 0;
}

TEST(densities_are_those_of_four)
{
    abut_rng r = { 3 };
    for (int k = 0; k < 4000; k++) {
        const double mu = 3e4, lambda = 2e5;
        const abut_lanes mus = ABUT_LANES_ALL(mu), lambdas = ABUT_LANES_ALL(lambda);
        double F[9], P[9] = { 0 }, U[9], s[3], V[9];
        abut_lanes Fs[9], Ps[9] = { { 0 } }, psi;
        any_deformation(&r, k, F);
        for (int i = 0; i < 9; i++) Fs[i] = ABUT_LANES_ALL(F[i]);
        abut_svd3(F, U, s, V);
        const abut_lanes ss[3] = { ABUT_LANES_ALL(s[0]), ABUT_LANES_ALL(s[1]), ABUT_LANES_ALL(s[2]) };
        for (int model = 0; model < ABUT_SPLINE; model++) {
            if (abut_density_need(model) == ABUT_NEEDS_F) {
                const double one = abut_psi_one(model, mu, lambda, F, P);
                abut_density_direct(model, &mus, &lambdas, Fs, &psi, Ps);
                CHECK(one == psi[3]);
                for (int i = 0; i < 9; i++) CHECK(P[i] == Ps[i][3]);
            }
            CHECK(abut_density_is_direct(model) == (abut_density_need(model) == ABUT_NEEDS_F));
            if (model == ABUT_NEO_HOOKEAN && !(s[2] > 0)) continue;
            abut_principal one, four;
            abut_principals all;
            abut_form_principal_one(model, &mu, &lambda, s, &one);
            abut_density_principals(model, &mus, &lambdas, ss, &all);
            for (int projected = 0; projected < 2; projected++) {
                four = (abut_principal){ .psi = all.psi[1] };
                for (int i = 0; i < 9; i++) four.A[i] = all.A[i][1];
                for (int i = 0; i < 3; i++) {
                    four.d[i] = all.d[i][1];
                    four.flip[i] = all.flip[i][1];
                    four.twist[i] = all.twist[i][1];
                }
                CHECK(same(&one, &four, sizeof one / sizeof(double)));
                abut_principal_project_one(&one);
                abut_principals_project(&all);
            }
        }
    }
}

TEST(tets_are_those_of_four)
{
    kuhn_box b;
    abut_elastic e;
    abut_rng r = { 4 };
    kuhn_build(&b, 3, 0.1, 0.15, 6);
    CHECK(!abut_elastic_init(&e, &b.model, NULL));
    double *x = malloc(3 * (size_t)b.model.nv * sizeof *x), *H = malloc((size_t)b.model.nt * ABUT_PACKED * sizeof *H);
    for (int i = 0; i < 3 * b.model.nv; i++) x[i] = b.X[i] + abut_rng_real(&r, -0.01, 0.01);
    abut_elastic_hessian(&e, x, 0.3, H);
    for (int32_t t = 0; t < b.model.nt; t++) {
        double at[12], F[9], G[9], K[ABUT_PACKED];
        for (int c = 0; c < 12; c++) at[c] = x[3 * b.tet[4 * t + c / 3] + c % 3];
        abut_tet_deformation(at, e.B + 9 * t, F);
        (void)abut_elastic_deformation(&e, x, t, G);
        CHECK(same(F, G, 9));
        abut_tet_hessian(b.mat_model[b.tet_mat[t]], e.lame[2 * t], e.lame[2 * t + 1], F, e.B + 9 * t, 0.3 * e.vol[t], K);
        CHECK(same(K, H + (size_t)t * ABUT_PACKED, ABUT_PACKED));
    }
    free(x), free(H);
    abut_elastic_clear(&e);
    kuhn_free(&b);
}

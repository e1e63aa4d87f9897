#include "base/par.h"
#include "energy/stretch.h"
#include "math/mat3.h"
#include "math/svd3.h"

#include "check.h"
#include "kuhn.h"

static abut_stretch find(const abut_elastic *e, const double *x)
{
    abut_arena a = { 0 };
    abut_stretch s = { 0 };
    CHECK(!abut_stretch_find(e, x, &s, &a, NULL));
    abut_arena_clear(&a);
    return s;
}

TEST(a_uniform_deformation_gives_its_own_stretches_whatever_the_rotation)
{
    kuhn_box b;
    abut_elastic e;
    kuhn_build(&b, 3, 0.1, 0.1, 1);
    CHECK(!abut_elastic_init(&e, &b.model, NULL));
    double *x = malloc(3 * (size_t)b.model.nv * sizeof *x), R[9], s[3], V[9], A[9];
    static const double seed[9] = { 1, 2, 3, -1, 0.5, 2, 0.3, 1, -2 }, S[9] = { 0.9, 0, 0, 0, 1.25, 0, 0, 0, 1 };
    abut_svd3(seed, R, s, V);
    abut_m3_mul(A, R, S);
    for (int i = 0; i < b.model.nv; i++)
        for (int d = 0; d < 3; d++)
            x[3 * i + d] = 7 + A[3 * d] * b.X[3 * i] + A[3 * d + 1] * b.X[3 * i + 1] + A[3 * d + 2] * b.X[3 * i + 2];
    const abut_stretch rest = find(&e, b.X), moved = find(&e, x);
    CHECK_NEAR(rest.min, 1, 1e-13);
    CHECK_NEAR(rest.max, 1, 1e-13);
    CHECK_NEAR(moved.min, 0.9, 1e-12);
    CHECK_NEAR(moved.max, 1.25, 1e-12);
    free(x);
    abut_elastic_clear(&e);
    kuhn_free(&b);
}

TEST(extremes_name_their_tets_and_equal_a_plain_loop_at_every_thread_count)
{
    kuhn_box b;
    abut_elastic e;
    kuhn_build(&b, 6, 0.1, 0.1, 1);
    CHECK(!abut_elastic_init(&e, &b.model, NULL));
    double *x = malloc(3 * (size_t)b.model.nv * sizeof *x), lo = 1, hi = 1;
    abut_rng r = { 5 };
    for (int i = 0; i < 3 * b.model.nv; i++) x[i] = b.X[i] + abut_rng_real(&r, -0.03, 0.03);
    int32_t lo_tet = -1, hi_tet = -1;
    for (int32_t t = 0; t < b.model.nt; t++) {
        double F[9], U[9], s[3], V[9];
        abut_elastic_deformation(&e, x, t, F);
        abut_svd3(F, U, s, V);
        if (s[2] < lo) lo = s[2], lo_tet = t;
        if (s[0] > hi) hi = s[0], hi_tet = t;
    }
    static const int threads[] = { 1, 2, 7 };
    for (int i = 0; i < 3; i++) {
        abut_threads_set(threads[i]);
        const abut_stretch s = find(&e, x);
        CHECK(s.min == lo && s.max == hi && s.min_tet == lo_tet && s.max_tet == hi_tet);
    }
    free(x);
    abut_elastic_clear(&e);
    kuhn_free(&b);
}

TEST(an_inverted_tet_has_a_negative_smallest_stretch_and_no_tets_have_none)
{
    kuhn_box b;
    abut_elastic e;
    kuhn_build(&b, 2, 0.1, 0, 1);
    CHECK(!abut_elastic_init(&e, &b.model, NULL));
    const int32_t t = 17, node = b.tet[4 * t + 3];
    double *x = malloc(3 * (size_t)b.model.nv * sizeof *x);
    memcpy(x, b.X, 3 * (size_t)b.model.nv * sizeof *x);
    for (int d = 0; d < 3; d++)   /* through the opposite face */
        x[3 * node + d] += 2 * (b.X[3 * b.tet[4 * t] + d] - b.X[3 * node + d]);
    CHECK(find(&e, x).min < 0);
    free(x);
    abut_elastic_clear(&e);
    abut_model none = { 0 };
    CHECK(!abut_elastic_init(&e, &none, NULL));
    const abut_stretch s = find(&e, NULL);
    CHECK(s.min_tet == -1 && s.max_tet == -1);
    CHECK_NEAR(s.min + s.max, 2, 0);
    abut_elastic_clear(&e);
    kuhn_free(&b);
}

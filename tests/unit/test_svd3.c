#include "base/rng.h"
#include "math/mat3.h"
#include "math/svd3.h"

#include "check.h"

static void random_matrix(abut_rng *r, double A[9])
{
    for (int i = 0; i < 9; i++) A[i] = abut_rng_real(r, -1, 1);
}

static void rotation(abut_rng *r, double R[9])
{
    double A[9], s[3], V[9];
    random_matrix(r, A);
    abut_svd3(A, R, s, V);
}

/* C = A^T B */
static void mul_tn(double C[9], const double A[9], const double B[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
}

/* orthonormal, det +1 */
static double rotation_error(const double R[9])
{
    double G[9], err = fabs(abut_m3_det(R) - 1);
    mul_tn(G, R, R);
    for (int i = 0; i < 9; i++) err = fmax(err, fabs(G[i] - (i % 4 == 0)));
    return err;
}

/* checks all that the header promises; returns the relative backward error */
static double check_svd(const double F[9])
{
    double U[9], s[3], V[9], US[9], G[9], err = 0, big = 0;
    abut_svd3(F, U, s, V);
    for (int i = 0; i < 9; i++) US[i] = U[i] * s[i % 3], big = fmax(big, fabs(F[i]));
    abut_m3_mul_nt(G, US, V);
    for (int i = 0; i < 9; i++) err = fmax(err, fabs(G[i] - F[i]));
    CHECK_NEAR(rotation_error(U), 0, 4e-15);
    CHECK_NEAR(rotation_error(V), 0, 4e-15);
    CHECK(s[0] >= s[1] * (1 - 1e-15) && s[1] >= fabs(s[2]) * (1 - 1e-15) - 1e-16 * s[0] && s[1] >= 0);
    return big > 0 ? err / big : err;
}

TEST(svd_of_random_matrices_is_exact_to_rounding)
{
    abut_rng r = { 1 };
    double worst = 0;
    for (int k = 0; k < 20000; k++) {
        double F[9];
        random_matrix(&r, F);
        worst = fmax(worst, check_svd(F));
    }
    CHECK_NEAR(worst, 0, 6e-15);
}

TEST(svd_finds_prescribed_singular_values_in_every_regime)
{
    static const double cases[][3] = { { 1, 1, 1 },       { 1, 1, -1 },        { 2, 2, 0.5 },    { 3, 1, 1 },
                                       { 1, 0, 0 },       { 1, 1e-9, 0 },      { 1, 1e-9, 1e-9 }, { 1, 1, 1e-14 },
                                       { 1, 1e-5, -1e-9 }, { 1 + 1e-15, 1, 1 }, { 1 + 1e-8, 1, 1 - 1e-8 },
                                       { 5, 1e-3, -1e-3 }, { 1e3, 1, 1e-3 } };
    abut_rng r = { 2 };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int k = 0; k < 200; k++) {
            double U[9], V[9], F[9], s[3], A[9];
            const double *want = cases[c];
            rotation(&r, U);
            rotation(&r, V);
            for (int i = 0; i < 9; i++) A[i] = U[i] * want[i % 3];
            abut_m3_mul_nt(F, A, V);
            CHECK_NEAR(check_svd(F), 0, 6e-15);
            abut_svd3(F, U, s, V);
            for (int i = 0; i < 3; i++) CHECK_NEAR(s[i], want[i], 4e-15 * want[0]);
        }
}

TEST(svd_survives_zero_rank_one_reflections_and_extreme_magnitudes)
{
    static const double cases[][9] = { { 0 },
                                       { 1, 0, 0, 0, 1, 0, 0, 0, 1 },
                                       { -1, 0, 0, 0, -1, 0, 0, 0, -1 },
                                       { 0, 0, 0, 0, 0, 0, 0, 0, 7 },
                                       { 1, 2, 3, 2, 4, 6, 3, 6, 9 },
                                       { 1, 1, 1, 1, 1, 1, 1, 1, 1 },
                                       { 1, 0, 0, 0, 1e-85, 1e-85, 0, 1e-85, -1e-85 },
                                       { 1, 1e-160, 0, 0, 1e-160, 1e-161, 0, 0, 1e-162 },
                                       { 1e300, 2e300, 0, 0, 1e299, 1e298, 3e300, 0, 1e300 },
                                       { 1e-300, 2e-300, 0, 0, 1e-299, 1e-298, 3e-300, 0, 1e-300 },
                                       { 5e-324, 0, 0, 0, 5e-324, 0, 0, 0, -5e-324 },
                                       { 0, 1, 0, 0, 0, 1, 1, 0, 0 },
                                       { 0, -1, 0, 1, 0, 0, 0, 0, -1 } };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) CHECK_NEAR(check_svd(cases[c]), 0, 6e-15);
    abut_rng r = { 3 };
    for (int k = 0; k < 5000; k++) {   /* graded columns and rows over the whole range */
        double F[9];
        for (int i = 0; i < 9; i++) F[i] = abut_rng_real(&r, -1, 1) * pow(10, abut_rng_real(&r, -25, 3));
        CHECK_NEAR(check_svd(F), 0, 6e-15);
    }
}

TEST(the_last_singular_value_carries_the_sign_of_the_determinant)
{
    abut_rng r = { 4 };
    for (int k = 0; k < 1000; k++) {
        double F[9], U[9], s[3], V[9];
        random_matrix(&r, F);
        abut_svd3(F, U, s, V);
        CHECK_NEAR(s[0] * s[1] * s[2], abut_m3_det(F), 1e-14);
    }
}

TEST(small_singular_values_of_column_graded_matrices_keep_their_digits)
{
    abut_rng r = { 5 };
    for (int k = 0; k < 200; k++) {   /* F = R diag(1, 1e-6, 1e-12): squaring F^T F alone would lose the last one */
        double R[9], F[9], U[9], s[3], V[9];
        static const double want[3] = { 1, 1e-6, 1e-12 };
        rotation(&r, R);
        for (int i = 0; i < 9; i++) F[i] = R[i] * want[i % 3];
        abut_svd3(F, U, s, V);
        for (int i = 0; i < 3; i++) CHECK_NEAR(s[i], want[i], 1e-14 * want[i]);
    }
}

TEST(four_at_a_time_give_the_bits_of_one_at_a_time_whatever_the_company)
{
    abut_rng r = { 7 };
    for (int k = 0; k < 3000; k++) {
        abut_lanes F[9], U[9], S[3], V[9];
        double f[ABUT_LANES][9];
        for (int l = 0; l < ABUT_LANES; l++) {   /* plain, near rotations, rank deficient, tiny, zero, mixed in one set */
            const uint32_t sort = abut_rng_below(&r, k % 2 ? 8 : 2);
            random_matrix(&r, f[l]);
            if (sort == 1 || sort == 2)
                for (int i = 0; i < 9; i++) f[l][i] = (i % 4 == 0) + (sort == 1 ? 1e-3 : 1e-12) * f[l][i];
            if (sort == 3)
                for (int i = 0; i < 9; i++) f[l][i] = f[l][i / 3] * f[l][3 + i % 3];
            if (sort == 4)
                for (int i = 0; i < 3; i++) f[l][3 * i + 2] = f[l][3 * i] - 2 * f[l][3 * i + 1];
            for (int i = 0; i < 9; i++) f[l][i] *= sort == 5 ? 1e-200 : sort == 6 ? 0 : sort == 7 && i > 2 ? 1e-90 : 1;
            for (int i = 0; i < 9; i++) F[i][l] = f[l][i];
        }
        abut_svd3_lanes(F, U, S, V);
        for (int l = 0; l < ABUT_LANES; l++) {
            double u[9], s[3], v[9];
            int same = 1;
            abut_svd3(f[l], u, s, v);
            for (int i = 0; i < 9; i++) same &= U[i][l] == u[i] && V[i][l] == v[i];
            for (int i = 0; i < 3; i++) same &= S[i][l] == s[i];
            CHECK(same);
        }
    }
}

/* of all sorts: near rest, any, far too large, reflected, flat, without rank */
static void any_matrix(abut_rng *r, double F[9])
{
    const uint32_t sort = abut_rng_below(r, 7);
    random_matrix(r, F);
    for (int i = 0; i < 9; i++) {
        if (sort == 0) F[i] = (i % 4 == 0) + 0.3 * F[i];
        if (sort == 1) F[i] *= 1e3;
        if (sort == 2) F[i] = (i % 4 == 0) * (i == 8 ? -1 : 1) + 0.1 * F[i];
        if (sort == 3 && i % 3 == 2) F[i] *= 1e-4;
        if (sort == 4) F[i] = F[i / 3];
    }
}

TEST(the_rotations_of_four_matrices_are_those_of_their_singular_vectors)
{
    abut_rng r = { 8 };
    for (int k = 0; k < 5000; k++) {
        abut_lanes F[9], R[9];
        double f[ABUT_LANES][9];
        for (int l = 0; l < ABUT_LANES; l++) {
            any_matrix(&r, f[l]);
            for (int i = 0; i < 9; i++) F[i][l] = f[l][i];
        }
        abut_polar3_lanes(F, R);
        for (int l = 0; l < ABUT_LANES; l++) {
            double U[9], s[3], V[9], want[9], got[9];
            abut_svd3(f[l], U, s, V);
            abut_m3_mul_nt(want, U, V);
            for (int i = 0; i < 9; i++) got[i] = R[i][l];
            CHECK_NEAR(rotation_error(got), 0, 1e-14);
            if (s[1] + s[2] < 1e-6 * s[0]) continue;    /* any rotation in a plane will do */
            for (int i = 0; i < 9; i++) CHECK_NEAR(got[i], want[i], 4e-15 * fmax(1, s[0] / (s[1] + s[2])));
        }
    }
}

TEST(a_rotation_depends_on_its_own_matrix_alone)
{
    abut_rng r = { 9 };
    for (int k = 0; k < 2000; k++) {
        abut_lanes F[9], R[9], alone[9], S[9];
        for (int l = 0; l < ABUT_LANES; l++) {
            double f[9];
            any_matrix(&r, f);
            for (int i = 0; i < 9; i++) F[i][l] = f[i];
        }
        abut_polar3_lanes(F, R);
        for (int l = 0; l < ABUT_LANES; l++) {
            int same = 1;
            for (int i = 0; i < 9; i++) S[i] = ABUT_LANES_ALL(F[i][l]);
            abut_polar3_lanes(S, alone);
            for (int i = 0; i < 9; i++) same &= alone[i][0] == R[i][l] && alone[i][3] == R[i][l];
            CHECK(same);
        }
    }
}

TEST(inverse_and_cofactor_agree_with_the_product)
{
    abut_rng r = { 6 };
    for (int k = 0; k < 1000; k++) {
        double A[9], C[9], I[9], cof[9];
        random_matrix(&r, A);
        const double det = abut_m3_inverse(C, A);
        if (fabs(det) < 1e-2) continue;
        abut_m3_mul(I, A, C);
        abut_m3_cofactor(cof, A);
        for (int i = 0; i < 9; i++) CHECK_NEAR(I[i], i % 4 == 0, 1e-12);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) CHECK_NEAR(cof[3 * i + j], det * C[3 * j + i], 1e-14);
        CHECK_NEAR(det, abut_m3_det(A), 1e-15);
    }
}

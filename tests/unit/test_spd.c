#include "base/rng.h"
#include "math/spd_inline.h"
#include "math/lanes.h"

#include "check.h"

enum { M = ABUT_SYM_MAX };

static void random_symmetric(abut_rng *r, int n, double *A)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) A[n * i + j] = A[n * j + i] = abut_rng_real(r, -1, 1);
}

/* A = sum of rank outer products: semidefinite, singular when rank < n */
static void random_semidefinite(abut_rng *r, int n, int rank, double *A)
{
    memset(A, 0, sizeof *A * (size_t)(n * n));
    for (int k = 0; k < rank; k++) {
        double v[M];
        for (int i = 0; i < n; i++) v[i] = abut_rng_real(r, -1, 1);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) A[n * i + j] += v[i] * v[j];
    }
}

static double norm(int n, const double *A)
{
    double s = 0;
    for (int i = 0; i < n * n; i++) s += A[i] * A[i];
    return sqrt(s);
}

static void check_decomposition(int n, const double *A)
{
    double w[M], Q[M * M];
    abut_sym_eigen(n, A, w, Q);
    const double tol = 1e-14 * n * fmax(norm(n, A), 1e-300);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double qq = 0, qwq = 0;
            for (int k = 0; k < n; k++) qq += Q[n * i + k] * Q[n * j + k], qwq += Q[n * k + i] * w[k] * Q[n * k + j];
            CHECK_NEAR(qq, i == j, 1e-14 * n);
            CHECK_NEAR(qwq, A[n * i + j], tol);
        }
}

TEST(eigen_decomposition_rebuilds_the_matrix_for_every_size)
{
    abut_rng r = { 1 };
    for (int n = 1; n <= M; n++)
        for (int k = 0; k < 60; k++) {
            double A[M * M];
            random_symmetric(&r, n, A);
            check_decomposition(n, A);
            random_semidefinite(&r, n, n / 2, A);
            check_decomposition(n, A);
        }
}

TEST(eigen_decomposition_handles_zero_diagonal_and_graded_matrices)
{
    abut_rng r = { 2 };
    for (int n = 1; n <= M; n++) {
        double A[M * M] = { 0 };
        check_decomposition(n, A);
        for (int i = 0; i < n; i++) A[n * i + i] = i % 3;
        check_decomposition(n, A);
        for (int k = 0; k < 30; k++) {
            double scale[M];
            for (int i = 0; i < n; i++) scale[i] = pow(10, abut_rng_real(&r, -12, 12));
            random_symmetric(&r, n, A);
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) A[n * i + j] *= scale[i] * scale[j];
            for (int i = 0; i < n; i++)
                for (int j = 0; j < i; j++) A[n * j + i] = A[n * i + j];
            check_decomposition(n, A);
        }
    }
}

/* Squares of small entries are 0, or have lost their digits: the iteration meets rows that have come apart on the way.  And
 * a matrix may be that small as a whole. */
TEST(eigen_decomposition_survives_underflow)
{
    abut_rng r = { 6 };
    for (int k = 0; k < 4000; k++) {
        const int n = 2 + (int)abut_rng_below(&r, M - 1);
        double A[M * M];
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++) {
                const double v = (double)abut_rng_below(&r, 3) - 1;     /* many of them 0 */
                A[n * i + j] = A[n * j + i] = v * ldexp(1, -(int)abut_rng_below(&r, k % 2 ? 1070 : 300));
            }
        double big = 0, w[M], Q[M * M];
        for (int i = 0; i < n * n; i++) big = fmax(big, fabs(A[i]));
        abut_sym_eigen(n, A, w, Q);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double qq = 0, qwq = 0;
                for (int l = 0; l < n; l++) qq += Q[n * i + l] * Q[n * j + l], qwq += Q[n * l + i] * w[l] * Q[n * l + j];
                CHECK_NEAR(qq, i == j, 1e-14 * n);
                CHECK_NEAR(qwq, A[n * i + j], 1e-14 * n * big + n * 1e-322);
            }
    }
}

TEST(eigenvalues_of_the_path_laplacian_have_their_closed_form)
{
    for (int n = 2; n <= M; n++) {   /* 2 - 2 cos(k pi / (n + 1)) */
        double A[M * M] = { 0 }, w[M], Q[M * M];
        for (int i = 0; i < n; i++) {
            A[n * i + i] = 2;
            if (i) A[n * i + i - 1] = A[n * (i - 1) + i] = -1;
        }
        abut_sym_eigen(n, A, w, Q);
        for (int k = 1; k <= n; k++) {
            double best = 1;
            for (int i = 0; i < n; i++) best = fmin(best, fabs(w[i] - 2 + 2 * cos(k * acos(-1) / (n + 1))));
            CHECK_NEAR(best, 0, 1e-14);
        }
    }
}

TEST(projection_of_a_semidefinite_matrix_is_the_identity)
{
    abut_rng r = { 3 };
    for (int n = 1; n <= M; n++)
        for (int k = 0; k < 40; k++) {
            double A[M * M], B[M * M];
            random_semidefinite(&r, n, k % 2 ? n + 2 : (n + 1) / 2, A);
            memcpy(B, A, sizeof A);
            abut_psd_project(n, B);
            for (int i = 0; i < n * n; i++) CHECK_NEAR(B[i], A[i], 2e-15 * norm(n, A));
        }
}

TEST(projection_is_semidefinite_symmetric_and_the_nearest)
{
    abut_rng r = { 4 };
    for (int n = 2; n <= M; n++)
        for (int k = 0; k < 40; k++) {
            double A[M * M], B[M * M], N[M * M], w[M], Q[M * M], dot = 0;
            random_symmetric(&r, n, A);
            memcpy(B, A, sizeof A);
            const int negative = abut_psd_project(n, B);
            abut_sym_eigen(n, A, w, Q);
            int count = 0;
            for (int i = 0; i < n; i++) count += w[i] < 0;
            CHECK(negative == count);
            abut_sym_eigen(n, B, w, Q);
            for (int i = 0; i < n; i++) CHECK(w[i] >= -1e-14 * norm(n, A));
            /* nearest in the cone: B - A is semidefinite and orthogonal to B */
            for (int i = 0; i < n * n; i++) N[i] = B[i] - A[i], dot += N[i] * B[i];
            CHECK_NEAR(dot, 0, 1e-13 * norm(n, A) * norm(n, A));
            abut_sym_eigen(n, N, w, Q);
            for (int i = 0; i < n; i++) CHECK(w[i] >= -1e-14 * norm(n, A));
            for (int i = 0; i < n; i++)
                for (int j = 0; j < i; j++) CHECK(B[n * i + j] == B[n * j + i]);
        }
}

TEST(four_projections_at_once_equal_single_ones_whatever_the_company)
{
    abut_rng r = { 5 };
    for (int k = 0; k < 3000; k++) {
        const int n = k % 4 == 3 ? 9 : 3 + k % 4;
        double A[ABUT_LANES][81], B[ABUT_LANES][81];
        abut_lanes L[81], R[81];
        for (int l = 0; l < ABUT_LANES; l++) {   /* random, semidefinite, zero, graded, in two parts, diagonal, near 0 */
            const uint32_t sort = abut_rng_below(&r, 7);
            const int cut = 1 + (int)abut_rng_below(&r, (uint32_t)n - 1);
            random_symmetric(&r, n, A[l]);
            if (sort == 1) random_semidefinite(&r, n, n / 2, A[l]);
            for (int i = 0; i < n && sort == 6; i++)    /* squares that are 0 or have lost their digits */
                for (int j = 0; j <= i; j++) {
                    const double v = (double)abut_rng_below(&r, 3) - 1;
                    A[l][n * i + j] = A[l][n * j + i] = v * ldexp(1, -(int)abut_rng_below(&r, 1070));
                }
            for (int i = 0; i < n * n; i++) {
                const double grade = pow(10, -4 * (i / n + i % n));
                A[l][i] *= sort == 2 ? 0 : sort == 3 ? grade : 1e5;
                if ((sort == 4 && (i / n < cut) != (i % n < cut)) || (sort == 5 && i % (n + 1))) A[l][i] = 0;
                L[i][l] = R[i][(l + k) % ABUT_LANES] = A[l][i];
            }
            memcpy(B[l], A[l], sizeof B[l]);
            abut_psd_project(n, B[l]);
        }
        if (n == 3) abut_psd_project3_lanes(L), abut_psd_project3_lanes(R);
        else if (n == 4) abut_psd_project4_lanes(L), abut_psd_project4_lanes(R);
        else if (n == 5) abut_psd_project5_lanes(L), abut_psd_project5_lanes(R);
        else abut_psd_project9_lanes(L), abut_psd_project9_lanes(R);
        for (int l = 0; l < ABUT_LANES; l++)
            for (int i = 0; i < n * n; i++) {
                CHECK_NEAR(L[i][l], B[l][i], (n == 9 ? 3e-14 : 1e-14) * norm(n, A[l]) + 1e-138);
                CHECK(L[i][l] == R[i][(l + k) % ABUT_LANES]);
            }
    }
}

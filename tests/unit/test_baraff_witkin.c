/* The membrane of Baraff and Witkin: its closed forms against the formula of its energy, against second derivatives by columns,
 * and against their numerical projection. */
#include "check.h"

#include "base/rng.h"
#include "energy/membrane_inline.h"
#include "math/spd_inline.h"

#include <math.h>
#include <string.h>

static const double LAW[ABUT_BW_NUMBERS] = { [ABUT_BW_WARP] = 700, [ABUT_BW_WEFT] = 450, [ABUT_BW_COMPRESSION] = 0.01,
                                             [ABUT_BW_SHEAR] = 120 };

/* the formula, of the columns of F[6], row major */
static double psi_of(const double *law, const double F[6])
{
    double uu = 0, vv = 0, uv = 0;
    for (int i = 0; i < 3; i++) uu += F[2 * i] * F[2 * i], vv += F[2 * i + 1] * F[2 * i + 1], uv += F[2 * i] * F[2 * i + 1];
    const double a = sqrt(uu), b = sqrt(vv), left = law[ABUT_BW_COMPRESSION];
    const double along = law[ABUT_BW_WARP] * (a < 1 ? left : 1) * (a - 1) * (a - 1);
    return along + law[ABUT_BW_WEFT] * (b < 1 ? left : 1) * (b - 1) * (b - 1) + law[ABUT_BW_SHEAR] * uv * uv;
}

/* dpsi/dF by the closed form */
static double stress(const double *law, const double F[6], double P[6])
{
    double U[6], s[2], V[4], T[4], UT[6];
    abut_thin_svd_one(F, U, s, V);
    const double psi = abut_bw_stress(law, s, V, T);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) UT[2 * i + j] = U[2 * i] * T[j] + U[2 * i + 1] * T[2 + j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) P[2 * i + j] = UT[2 * i] * V[2 * j] + UT[2 * i + 1] * V[2 * j + 1];
    return psi;
}

/* d2psi/dF2 of the closed form, projected: H[6][6] of the entries of F, column after column */
static void hessian(const double *law, const double F[6], double H[36])
{
    double U[6], s[2], V[4], G[16], R[3], T[6][6], M[6][6] = { { 0 } };
    abut_thin_svd_one(F, U, s, V);
    abut_bw_hessian(law, s, V, 1, G, R);
    const double n[3] = { U[2] * U[5] - U[4] * U[3], U[4] * U[1] - U[0] * U[5], U[0] * U[3] - U[2] * U[1] };
    for (int c = 0; c < 2; c++)         /* entry i of column c, in the frame */
        for (int i = 0; i < 3; i++)
            for (int p = 0; p < 2; p++) {
                for (int a = 0; a < 2; a++) T[2 * a + p][3 * c + i] = U[2 * i + a] * V[2 * c + p];
                T[4 + p][3 * c + i] = n[i] * V[2 * c + p];
            }
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) M[a][b] = G[4 * a + b];
    M[4][4] = R[0], M[4][5] = M[5][4] = R[1], M[5][5] = R[2];
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            H[6 * i + j] = 0;
            for (int a = 0; a < 6; a++)
                for (int b = 0; b < 6; b++) H[6 * i + j] += T[a][i] * M[a][b] * T[b][j];
        }
}

/* Second derivatives as published, by columns: of the stretches, of the shear; neither of them projected. */
static void stretches(const double *law, const double F[6], double H[36])
{
    memset(H, 0, 36 * sizeof *H);
    for (int c = 0; c < 2; c++) {
        const double f[3] = { F[c], F[2 + c], F[4 + c] }, l = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
        const double k = 2 * law[c] * (l < 1 ? law[ABUT_BW_COMPRESSION] : 1);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                H[6 * (3 * c + i) + 3 * c + j] = k * (f[i] * f[j] / (l * l) + (1 - 1 / l) * ((i == j) - f[i] * f[j] / (l * l)));
    }
}

static void shear(const double *law, const double F[6], double H[36])
{
    double g[6], I = 0;
    for (int i = 0; i < 3; i++) g[i] = F[2 * i + 1], g[3 + i] = F[2 * i], I += F[2 * i] * F[2 * i + 1];
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            H[6 * i + j] = 2 * law[ABUT_BW_SHEAR] * (g[i] * g[j] + I * ((i + 3) % 6 == j));
}

/* Deformations: anywhere, compressed, sheared either way, stretched along warp alone, nearly a line, nearly nothing. */
static void deformation(int k, abut_rng *r, double F[6])
{
    const double size = k % 3 == 1 ? 0.6 : k % 3 == 2 ? 1e-3 : 1.5;
    for (int i = 0; i < 6; i++) F[i] = abut_rng_real(r, -size, size);
    if (k % 7 == 3)     /* warp and weft at right angles */
        for (int i = 0; i < 6; i++) F[i] = i == 0 ? 1 + abut_rng_real(r, -0.2, 0.2) : i == 3 ? 0.97 : 0;
    if (k % 11 == 5)    /* nearly a line */
        for (int i = 0; i < 3; i++) F[2 * i + 1] = -0.8 * F[2 * i] + abut_rng_real(r, -1e-6, 1e-6);
}

static double largest(const double *A, int n)
{
    double big = 0;
    for (int i = 0; i < n; i++) big = fmax(big, fabs(A[i]));
    return big;
}

TEST(energy_and_stress_are_those_of_the_formula)
{
    abut_rng r = { 1 };
    for (int k = 0; k < check_runs(2000, 50000); k++) {
        double F[6], P[6];
        deformation(k, &r, F);
        const double psi = stress(LAW, F, P);
        CHECK_NEAR(psi, psi_of(LAW, F), 1e-13 * (1 + psi));
        if (k % 3 == 2) continue;       /* too small for differences */
        for (int i = 0; i < 6; i++) {
            double at[4], G[6];
            for (int q = 0; q < 4; q++) {
                memcpy(G, F, sizeof G);
                G[i] += (q < 2 ? 1e-5 : 2e-5) * (q % 2 ? -1 : 1);
                at[q] = psi_of(LAW, G);
            }
            CHECK_NEAR(P[i], (8 * (at[0] - at[1]) - (at[2] - at[3])) / 12e-5, 2e-5 * (1000 + largest(P, 6)));
        }
    }
}

TEST(the_published_second_derivatives_are_those_of_the_stress)
{
    abut_rng r = { 2 };
    for (int k = 0; k < check_runs(500, 20000); k++) {
        double F[6], A[36], B[36];
        deformation(3 * k, &r, F);
        double near[2];
        for (int c = 0; c < 2; c++) near[c] = fabs(sqrt(F[c] * F[c] + F[2 + c] * F[2 + c] + F[4 + c] * F[4 + c]) - 1);
        const double least = fmin(near[0], near[1]);
        if (least < 1e-3 || F[0] * F[0] + F[2] * F[2] + F[4] * F[4] < 0.01) continue;   /* compression begins between */
        stretches(LAW, F, A);
        shear(LAW, F, B);
        for (int j = 0; j < 6; j++) {
            double P[4][6], G[6];
            const int at = 2 * (j % 3) + j / 3;
            for (int q = 0; q < 4; q++) {
                memcpy(G, F, sizeof G);
                G[at] += (q < 2 ? 1e-5 : 2e-5) * (q % 2 ? -1 : 1);
                (void)stress(LAW, G, P[q]);
            }
            for (int i = 0; i < 6; i++) {
                const int of = 2 * (i % 3) + i / 3;
                const double d = (8 * (P[0][of] - P[1][of]) - (P[2][of] - P[3][of])) / 12e-5;
                CHECK_NEAR(A[6 * i + j] + B[6 * i + j], d, 1e-5 * (1000 + largest(A, 36) + largest(B, 36)));
            }
        }
    }
}

/* of thousands of deformations: the closed form less the numerical projection of the published matrix, over its size */
static double off(const double *law, void (*of)(const double *, const double *, double *), int *lifted)
{
    abut_rng r = { 3 };
    double worst = 0;
    *lifted = 0;
    for (int k = 0; k < check_runs(4000, 200000); k++) {
        double F[6], H[36], N[36];
        deformation(k, &r, F);
        hessian(law, F, H);
        of(law, F, N);
        const double size = largest(N, 36);
        *lifted += abut_psd_project(6, N) > 0;
        for (int i = 0; i < 36; i++) worst = fmax(worst, fabs(H[i] - N[i]) / size);
    }
    return worst;
}

TEST(the_closed_eigensystems_project_as_numerical_ones_do)
{
    const double only_stretch[ABUT_BW_NUMBERS] = { 700, 450, 0.01, 0 }, only_shear[ABUT_BW_NUMBERS] = { 0, 0, 1, 120 };
    int lifted;
    CHECK_NEAR(off(only_stretch, stretches, &lifted), 0, 1e-11);
    CHECK(lifted > 1000);
    CHECK_NEAR(off(only_shear, shear, &lifted), 0, 1e-11);
    CHECK(lifted > 3000);       /* the shear is never convex where warp and weft are not at right angles */
}

TEST(the_projected_matrix_is_semidefinite_and_lies_above_the_second_derivative)
{
    abut_rng r = { 4 };
    for (int k = 0; k < check_runs(2000, 50000); k++) {
        double F[6], H[36], A[36], B[36], w[6], Q[36];
        deformation(k, &r, F);
        hessian(LAW, F, H);
        stretches(LAW, F, A);
        shear(LAW, F, B);
        const double size = largest(H, 36) + largest(A, 36);
        abut_sym_eigen(6, H, w, Q);
        for (int i = 0; i < 6; i++) CHECK(w[i] >= -1e-12 * size);
        for (int i = 0; i < 36; i++) A[i] = H[i] - A[i] - B[i];
        abut_sym_eigen(6, A, w, Q);
        for (int i = 0; i < 6; i++) CHECK(w[i] >= -1e-11 * size);
    }
}

TEST(the_eigenvalues_of_the_shear_are_those_of_its_closed_form)
{
    abut_rng r = { 5 };
    const double law[ABUT_BW_NUMBERS] = { 0, 0, 1, 0.5 };       /* 2 k_s is 1 */
    for (int k = 0; k < check_runs(500, 20000); k++) {
        double F[6], H[36], w[6], Q[36], want[6], I = 0, sum = 0;
        deformation(3 * k, &r, F);
        for (int i = 0; i < 3; i++) I += F[2 * i] * F[2 * i + 1], sum += F[2 * i] * F[2 * i] + F[2 * i + 1] * F[2 * i + 1];
        shear(law, F, H);
        abut_sym_eigen(6, H, w, Q);
        const double root = sqrt(sum * sum + 12 * I * I), a = fabs(I);
        const double all[6] = { 0.5 * (sum - root), -a, -a, a, a, 0.5 * (sum + root) };
        memcpy(want, all, sizeof want);
        for (int i = 0; i < 6; i++)     /* each of one list is in the other */
            for (int q = 0; q < 2; q++) {
                double least = INFINITY;
                for (int j = 0; j < 6; j++) least = fmin(least, q ? fabs(w[i] - want[j]) : fabs(w[j] - want[i]));
                CHECK(least <= 1e-12 * (1 + sum));
            }
    }
}

TEST(a_rotation_in_space_changes_nothing_and_one_of_the_fabric_by_a_right_angle_exchanges_warp_and_weft)
{
    abut_rng r = { 6 };
    const double swapped[ABUT_BW_NUMBERS] = { LAW[1], LAW[0], LAW[2], LAW[3] };
    for (int k = 0; k < 300; k++) {
        double F[6], A[9], w[3], Q[9], G[6], P[6], T[6];
        deformation(k, &r, F);
        for (int i = 0; i < 9; i++) A[i] = abut_rng_real(&r, -1, 1);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < i; j++) A[3 * i + j] = A[3 * j + i];
        abut_sym_eigen(3, A, w, Q);
        for (int i = 0; i < 3; i++)
            for (int c = 0; c < 2; c++)
                G[2 * i + c] = Q[3 * i] * F[c] + Q[3 * i + 1] * F[2 + c] + Q[3 * i + 2] * F[4 + c];
        const double psi = stress(LAW, F, P), size = 1e-12 * (1000 + largest(P, 6));
        CHECK_NEAR(stress(LAW, G, T), psi, 1e-12 * (1 + psi));
        for (int i = 0; i < 3; i++)     /* the stress rotates along */
            for (int c = 0; c < 2; c++)
                CHECK_NEAR(T[2 * i + c], Q[3 * i] * P[c] + Q[3 * i + 1] * P[2 + c] + Q[3 * i + 2] * P[4 + c], size);
        for (int i = 0; i < 3; i++) G[2 * i] = F[2 * i + 1], G[2 * i + 1] = F[2 * i];
        CHECK_NEAR(stress(swapped, G, T), psi, 1e-12 * (1 + psi));
    }
}

TEST(compression_is_softer_by_its_factor_and_begins_without_a_jump_of_the_stress)
{
    double P[6];
    for (double d = 0x1p-6; d > 0x1p-40; d /= 8) {
        const double out[6] = { 1 + d, 0, 0, 1, 0, 0 }, in[6] = { 1 - d, 0, 0, 1, 0, 0 };
        CHECK_NEAR(stress(LAW, out, P), 700 * d * d, 1e-10 * 700 * d * d + 1e-28);
        CHECK_NEAR(P[0], 2 * 700 * d, 1e-10 * 1400 * d + 1e-12);
        CHECK_NEAR(stress(LAW, in, P), 0.01 * 700 * d * d, 1e-10 * 7 * d * d + 1e-28);
        CHECK_NEAR(P[0], -0.01 * 2 * 700 * d, 1e-10 * 14 * d + 1e-12);
    }
}

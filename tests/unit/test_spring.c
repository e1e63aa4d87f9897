/* Springs: derivatives, bounds and sums of the energy. */
#include "base/rng.h"
#include "base/par.h"
#include "sparse/bsr.h"
#include "math/spd_inline.h"

#include "term_calls.h"

#include <stdlib.h>

enum { NODES = 4, SPRINGS = 7 };
static const int32_t ENDS[2 * SPRINGS] = { 0, 1, 1, 2, 2, 0, 3, 0, 3, 1, 2, 3, 0, 1 };   /* two of them side by side */
static const double LENGTH[SPRINGS] = { 1, 0.5, 2, 0.3, 1.5, 0.7, 3 }, STIFFNESS[SPRINGS] = { 3, 10, 1, 7, 2, 20, 5 };
static const abut_model NET = { .nv = NODES, .nsp = SPRINGS, .spring = ENDS, .spring_length = LENGTH,
                                .spring_stiffness = STIFFNESS };

static void somewhere(abut_rng *r, double x[3 * NODES])
{
    for (int i = 0; i < 3 * NODES; i++) x[i] = abut_rng_real(r, -1, 1);
}

static double energy(const void *s, const double *x) { return term_energy(&abut_term_spring, s, x); }

static void gradient(const void *s, int nodes, const double *x, double scale, double *g)
{
    memset(g, 0, 3 * (size_t)nodes * sizeof *g);
    term_gradient(&abut_term_spring, s, x, scale, g);
}

/* dense 3 nv x 3 nv matrix of element blocks */
static void dense(const double *H, double *A)
{
    const int n = 3 * NODES;
    static const int at[4] = { 0, 9, 9, 18 };
    memset(A, 0, (size_t)(n * n) * sizeof *A);
    for (int s = 0; s < SPRINGS; s++)
        for (int p = 0; p < 2; p++)
            for (int q = 0; q < 2; q++)
                for (int k = 0; k < 9; k++)
                    A[(3 * ENDS[2 * s + p] + k / 3) * n + 3 * ENDS[2 * s + q] + k % 3] +=
                        H[27 * s + at[2 * p + q] + (p > q ? 3 * (k % 3) + k / 3 : k)];
}

TEST(gradient_is_the_derivative_of_the_energy)
{
    abut_rng r = { 5 };
    double x[3 * NODES], g[3 * NODES];
    void *s = term_make(&abut_term_spring, &NET);
    for (int round = 0; round < 20; round++) {
        somewhere(&r, x);
        gradient(s, NODES, x, 2, g);
        for (int i = 0; i < 3 * NODES; i++) {
            const double at = x[i], h = 1e-6;
            x[i] = at + h;
            const double up = energy(s, x);
            x[i] = at - h;
            CHECK_NEAR((up - energy(s, x)) / h, g[i], 1e-6);
            x[i] = at;
        }
    }
    abut_term_spring.free(s);
}

TEST(energy_is_the_smallest_distance_to_a_vector_of_the_rest_length)
{
    abut_rng r = { 6 };
    double x[3 * NODES];
    const abut_model one = { .nv = 2, .nsp = 1, .spring = ENDS, .spring_length = LENGTH, .spring_stiffness = STIFFNESS };
    void *s = term_make(&abut_term_spring, &one);
    for (int round = 0; round < 20; round++) {
        double best = INFINITY;
        somewhere(&r, x);
        const double e = energy(s, x);
        for (int k = 0; k < 4000; k++) {
            double p[3], n2 = 0, d2 = 0;
            for (int d = 0; d < 3; d++) p[d] = abut_rng_real(&r, -1, 1), n2 += p[d] * p[d];
            if (n2 < 1e-6) continue;
            for (int d = 0; d < 3; d++) d2 += pow(x[d] - x[3 + d] - LENGTH[0] * p[d] / sqrt(n2), 2);
            best = fmin(best, 0.5 * STIFFNESS[0] * d2);
        }
        CHECK(best >= e - 1e-12);
        CHECK(best <= e + 0.02);
    }
    abut_term_spring.free(s);
}

/* where all springs are longer than at rest the projection has nothing to do */
TEST(hessian_is_the_derivative_of_the_gradient_of_stretched_springs)
{
    abut_rng r = { 7 };
    double x[3 * NODES], up[3 * NODES], down[3 * NODES], H[SPRINGS * 27], A[9 * NODES * NODES];
    const int n = 3 * NODES;
    void *s = term_make(&abut_term_spring, &NET);
    for (int round = 0; round < 5; round++) {
        do {
            somewhere(&r, x);
            for (int i = 0; i < n; i++) x[i] *= 20;
            double shortest = INFINITY;
            for (int k = 0; k < SPRINGS; k++) {
                double d2 = 0;
                for (int d = 0; d < 3; d++) d2 += pow(x[3 * ENDS[2 * k] + d] - x[3 * ENDS[2 * k + 1] + d], 2);
                shortest = fmin(shortest, sqrt(d2));
            }
            if (shortest > 3.1) break;
        } while (1);
        term_hessian(&abut_term_spring, s, x, 3, 0, SPRINGS, H);
        dense(H, A);
        for (int i = 0; i < n; i++) {
            const double at = x[i], h = 1e-5;
            x[i] = at + h;
            gradient(s, NODES, x, 3, up);
            x[i] = at - h;
            gradient(s, NODES, x, 3, down);
            x[i] = at;
            for (int j = 0; j < n; j++) CHECK_NEAR((up[j] - down[j]) / (2 * h), A[n * j + i], 1e-7);
        }
    }
    abut_term_spring.free(s);
}

TEST(hessian_lies_between_zero_and_the_constant_matrix)
{
    abut_rng r = { 8 };
    double x[3 * NODES], H[SPRINGS * 27], A[9 * NODES * NODES], w[3 * NODES], Q[9 * NODES * NODES];
    const int n = 3 * NODES;
    void *s = term_make(&abut_term_spring, &NET);
    for (int round = 0; round < 50; round++) {
        somewhere(&r, x);
        if (round == 0) memcpy(x, x + 3, 3 * sizeof *x);   /* the first spring has no length at all */
        term_hessian(&abut_term_spring, s, x, 1, 0, SPRINGS, H);
        dense(H, A);
        for (int i = 0; i < n * n; i++) CHECK(isfinite(A[i]));
        abut_sym_eigen(n, A, w, Q);
        for (int i = 0; i < n; i++) CHECK(w[i] >= -1e-12);
        for (int i = 0; i < n * n; i++) A[i] = -A[i];
        for (int k = 0; k < SPRINGS; k++)
            for (int d = 0; d < 3; d++) {
                const int a = 3 * ENDS[2 * k] + d, b = 3 * ENDS[2 * k + 1] + d;
                A[n * a + a] += STIFFNESS[k], A[n * b + b] += STIFFNESS[k];
                A[n * a + b] -= STIFFNESS[k], A[n * b + a] -= STIFFNESS[k];
            }
        abut_sym_eigen(n, A, w, Q);
        for (int i = 0; i < n; i++) CHECK(w[i] >= -1e-12);
    }
    abut_term_spring.free(s);
}

TEST(forces_and_moments_of_a_large_net_balance_and_no_thread_count_changes_a_bit)
{
    enum { N = 4000, M = 3 * N };
    int32_t *ends = malloc(2 * M * sizeof *ends);
    double *num = malloc((2 * M + 3 * N) * sizeof *num), *g = malloc(3 * N * sizeof *g), *again = malloc(3 * N * sizeof *g);
    abut_rng r = { 9 };
    for (int i = 0; i < M; i++) {
        ends[2 * i] = i % N;
        ends[2 * i + 1] = (i % N + 1 + (i / N) * 17) % N;
        num[i] = abut_rng_real(&r, 0.1, 1);
        num[M + i] = abut_rng_real(&r, 1, 100);
    }
    double *x = num + 2 * M, force[3] = { 0 }, moment[3] = { 0 };
    for (int i = 0; i < 3 * N; i++) x[i] = abut_rng_real(&r, -1, 1);
    const abut_model m = { .nv = N, .nsp = M, .spring = ends, .spring_length = num, .spring_stiffness = num + M };
    void *s = term_make(&abut_term_spring, &m);
    gradient(s, N, x, 1, g);
    for (int i = 0; i < N; i++)
        for (int d = 0; d < 3; d++) {
            force[d] += g[3 * i + d];
            moment[d] += x[3 * i + (d + 1) % 3] * g[3 * i + (d + 2) % 3] - x[3 * i + (d + 2) % 3] * g[3 * i + (d + 1) % 3];
        }
    for (int d = 0; d < 3; d++) CHECK_NEAR(force[d], 0, 1e-9);
    for (int d = 0; d < 3; d++) CHECK_NEAR(moment[d], 0, 1e-9);
    const double e = energy(s, x);
    for (int threads = 1; threads <= 3; threads++) {
        abut_threads_set(threads);
        gradient(s, N, x, 1, again);
        CHECK(!memcmp(g, again, 3 * N * sizeof *g));
        CHECK(energy(s, x) == e);
    }
    abut_term_spring.free(s);
    free(ends);
    free(num);
    free(g);
    free(again);
}

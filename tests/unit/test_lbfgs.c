#include "base/par.h"
#include "base/rng.h"
#include "sparse/lbfgs.h"

#include "check.h"

enum { ROWS = 7, N = 3 * ROWS, PAIRS = 9 };

/* A start operator, full and symmetric positive definite: D = I + W W^T / N. */
typedef struct start {
    double D[N * N];
} start;

static abut_status start_apply(void *of, const double *r, double *z, abut_err *err)
{
    (void)err;
    const start *s = of;
    for (int i = 0; i < N; i++) {
        z[i] = 0;
        for (int j = 0; j < N; j++) z[i] += s->D[N * i + j] * r[j];
    }
    return ABUT_OK;
}

static void random_spd(double *D, uint64_t seed)
{
    abut_rng rng = { seed };
    double W[N * N];
    for (int i = 0; i < N * N; i++) W[i] = abut_rng_real(&rng, -1, 1);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            D[N * i + j] = i == j;
            for (int k = 0; k < N; k++) D[N * i + j] += W[N * i + k] * W[N * j + k] / N;
        }
}

/* Iterates of a quadratic with Hessian H: x[k], g[k] = H x[k]. */
typedef struct path {
    double x[PAIRS + 1][N], g[PAIRS + 1][N];
} path;

static path random_path(const double *H, uint64_t seed)
{
    path p;
    abut_rng rng = { seed };
    for (int k = 0; k <= PAIRS; k++)
        for (int i = 0; i < N; i++) p.x[k][i] = abut_rng_real(&rng, -1, 1);
    for (int k = 0; k <= PAIRS; k++)
        for (int i = 0; i < N; i++) {
            p.g[k][i] = 0;
            for (int j = 0; j < N; j++) p.g[k][i] += H[N * i + j] * p.x[k][j];
        }
    return p;
}

/* B <- V^T B V + s s^T / (y . s), V = I - y s^T / (y . s): the update of the header, as matrices. */
static void dense_update(double *B, const double *s, const double *y)
{
    double V[N * N], BV[N * N], ys = 0;
    for (int i = 0; i < N; i++) ys += y[i] * s[i];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) V[N * i + j] = (i == j) - y[i] * s[j] / ys;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            BV[N * i + j] = 0;
            for (int k = 0; k < N; k++) BV[N * i + j] += B[N * i + k] * V[N * k + j];
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            B[N * i + j] = s[i] * s[j] / ys;
            for (int k = 0; k < N; k++) B[N * i + j] += V[N * k + i] * BV[N * k + j];
        }
}

static void check_against_dense(int most)
{
    start s;
    double H[N * N], B[N * N], q[N], r[N], want[N];
    abut_rng rng = { 5 };
    random_spd(s.D, 1);
    random_spd(H, 2);
    const path p = random_path(H, 3);
    const abut_precond D = { start_apply, &s, ROWS, NULL };
    abut_lbfgs l = { 0 };
    CHECK(!abut_lbfgs_size(&l, N, most, NULL));
    for (int k = 0; k < PAIRS; k++) {
        CHECK(abut_lbfgs_push(&l, p.x[k], p.x[k + 1], p.g[k], p.g[k + 1]) == (most > 0));
        memcpy(B, s.D, sizeof B);
        for (int a = k + 1 - most < 0 ? 0 : k + 1 - most; a <= k; a++) {
            double step[N], change[N];
            for (int i = 0; i < N; i++) step[i] = p.x[a + 1][i] - p.x[a][i], change[i] = p.g[a + 1][i] - p.g[a][i];
            dense_update(B, step, change);
        }
        for (int i = 0; i < N; i++) q[i] = abut_rng_real(&rng, -1, 1);
        start dense;
        memcpy(dense.D, B, sizeof B);
        start_apply(&dense, q, want, NULL);
        CHECK(!abut_lbfgs_apply(&l, &D, q, r, NULL));
        for (int i = 0; i < N; i++) CHECK_NEAR(r[i], want[i], 1e-9);
    }
    abut_lbfgs_clear(&l);
}

TEST(the_two_loops_apply_the_matrix_of_the_updates)
{
    check_against_dense(1);
    check_against_dense(3);
    check_against_dense(PAIRS);
}

TEST(without_history_it_is_the_start_operator_to_the_bit)
{
    start s;
    double q[N], r[N], want[N];
    abut_rng rng = { 8 };
    random_spd(s.D, 4);
    const abut_precond D = { start_apply, &s, ROWS, NULL };
    abut_lbfgs l = { 0 };
    for (int most = 0; most < 3; most++) {
        CHECK(!abut_lbfgs_size(&l, N, most, NULL));
        for (int i = 0; i < N; i++) q[i] = abut_rng_real(&rng, -1, 1);
        start_apply(&s, q, want, NULL);
        CHECK(!abut_lbfgs_apply(&l, &D, q, r, NULL));
        CHECK(!memcmp(r, want, sizeof r));
    }
    abut_lbfgs_clear(&l);
}

TEST(the_newest_step_satisfies_the_secant_equation)
{
    start s;
    double H[N * N], q[N], r[N];
    random_spd(s.D, 6);
    random_spd(H, 7);
    const path p = random_path(H, 9);
    const abut_precond D = { start_apply, &s, ROWS, NULL };
    abut_lbfgs l = { 0 };
    CHECK(!abut_lbfgs_size(&l, N, 4, NULL));
    for (int k = 0; k < PAIRS; k++) {
        CHECK(abut_lbfgs_push(&l, p.x[k], p.x[k + 1], p.g[k], p.g[k + 1]));
        for (int i = 0; i < N; i++) q[i] = p.g[k + 1][i] - p.g[k][i];
        CHECK(!abut_lbfgs_apply(&l, &D, q, r, NULL));
        for (int i = 0; i < N; i++) CHECK_NEAR(r[i], p.x[k + 1][i] - p.x[k][i], 1e-12);
    }
    abut_lbfgs_clear(&l);
}

TEST(a_pair_without_curvature_is_not_kept)
{
    double zero[N] = { 0 }, step[N], back[N], nothing[N] = { 0 };
    abut_lbfgs l = { 0 };
    for (int i = 0; i < N; i++) step[i] = 1 + i, back[i] = -step[i];
    CHECK(!abut_lbfgs_size(&l, N, 2, NULL));
    CHECK(abut_lbfgs_push(&l, zero, step, zero, back) == 0);        /* y . s < 0 */
    CHECK(abut_lbfgs_push(&l, zero, step, zero, nothing) == 0);     /* y = 0 */
    CHECK(abut_lbfgs_push(&l, zero, nothing, zero, step) == 0);     /* s = 0 */
    back[3] = NAN;
    CHECK(abut_lbfgs_push(&l, zero, step, zero, back) == 0);
    CHECK(l.n == 0);
    CHECK(abut_lbfgs_push(&l, zero, step, zero, step) == 1);
    CHECK(abut_lbfgs_push(&l, zero, step, zero, step) == 1);
    CHECK(l.n == 2);
    CHECK(abut_lbfgs_push(&l, zero, step, zero, nothing) == 0);     /* the oldest has made room for it */
    CHECK(l.n == 1);
    abut_lbfgs_clear(&l);
}

TEST(another_size_or_number_of_pairs_and_the_same_ones_begin_with_an_empty_history)
{
    static const struct { size_t size; int most; } asked[] = { { N, 3 }, { N, 3 }, { 6, 3 }, { N, 3 }, { 3, 8 }, { 12, 2 },
                                                               { N, 1 } };
    double H[N * N];
    random_spd(H, 9);
    const path p = random_path(H, 10);
    abut_lbfgs l = { 0 };
    for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
        CHECK(!abut_lbfgs_size(&l, asked[k].size, asked[k].most, NULL));
        CHECK(l.n == 0 && l.newest == -1 && l.size == asked[k].size && l.most == asked[k].most);
        for (int i = 0; i < 3; i++) CHECK(abut_lbfgs_push(&l, p.x[i], p.x[i + 1], p.x[i], p.x[i + 1]));
        CHECK(l.n == (asked[k].most < 3 ? asked[k].most : 3));
    }
    abut_err err = { 0 };
    CHECK(abut_lbfgs_size(&l, N, -1, &err) == ABUT_E_ARG && strstr(err.msg, "-1 pairs, want 0 or more"));
    abut_lbfgs_clear(&l);
}

static abut_status copy_apply(void *of, const double *r, double *z, abut_err *err)
{
    (void)err;
    memcpy(z, r, *(const size_t *)of * sizeof *z);
    return ABUT_OK;
}

TEST(thread_counts_give_the_same_bits)
{
    enum { BIG = 3 * 20000 };
    double *v = malloc(6 * BIG * sizeof *v), *r[3];
    abut_rng rng = { 11 };
    for (int i = 0; i < 6 * BIG; i++) v[i] = abut_rng_real(&rng, 0.5, 1);
    const int threads[3] = { 1, 2, 7 }, before = abut_threads();
    for (int t = 0; t < 3; t++) {
        abut_threads_set(threads[t]);
        double *q = malloc(BIG * sizeof *q), *zero = calloc(BIG, sizeof *zero);
        r[t] = calloc(BIG, sizeof *r[t]);
        abut_lbfgs l = { 0 };
        CHECK(!abut_lbfgs_size(&l, BIG, 2, NULL));
        CHECK(abut_lbfgs_push(&l, zero, v, zero, v + BIG));
        CHECK(abut_lbfgs_push(&l, zero, v + 2 * BIG, zero, v + 3 * BIG));
        memcpy(q, v + 4 * BIG, BIG * sizeof *q);
        size_t big = BIG;
        const abut_precond D = { copy_apply, &big, BIG / 3, NULL };
        CHECK(!abut_lbfgs_apply(&l, &D, q, r[t], NULL));
        CHECK(!memcmp(r[0], r[t], BIG * sizeof *r[0]));
        abut_lbfgs_clear(&l);
        free(q), free(zero);
    }
    abut_threads_set(before);
    free(v), free(r[0]), free(r[1]), free(r[2]);
}

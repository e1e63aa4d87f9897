/* A patched scalar factor against the block factor of the whole sum. */
#include "base/par.h"
#include "base/rng.h"
#include "sparse/own/cholesky.h"
#include "sparse/woodbury.h"
#include "sparse/packed_lanes.h"

#include "check.h"

#include <stdlib.h>

enum { N = 400, LINKS = 1200 };

/* springs along a chain and across, and masses: multiples of the identity */
static void base_elements(int32_t *row, double *val, double *diag)
{
    abut_rng r = { 5 };
    memset(val, 0, LINKS * ABUT_PACKED * sizeof *val);
    for (int32_t e = 0; e < LINKS; e++) {
        const int32_t a = e % N, b = e < N ? (a + 1) % N : (int32_t)abut_rng_below(&r, N);
        const double k = abut_rng_real(&r, 1, 100);
        row[4 * e] = a, row[4 * e + 1] = a == b ? -1 : b, row[4 * e + 2] = row[4 * e + 3] = -1;
        for (int d = 0; d < 9; d += 4) {
            val[ABUT_PACKED * e + d] = val[ABUT_PACKED * e + 36 + d] = k;
            val[ABUT_PACKED * e + 9 + d] = -k;
        }
    }
    for (int32_t i = 0; i < N; i++) diag[i] = abut_rng_real(&r, 0.1, 1);
}

/* n elements on the rows below `below`: w w^T times a stiffness, of rank one as contacts are; some corners unused or shared */
static void touch(size_t n, int32_t below, int32_t *row, double *val)
{
    abut_rng r = { 6 };
    for (size_t e = 0; e < n; e++) {
        double w[12], *H = val + ABUT_PACKED * e;
        const double k = pow(10, abut_rng_real(&r, -2, 6));
        for (size_t c = 0; c < 4; c++)
            row[4 * e + c] = abut_rng_below(&r, 6) ? (int32_t)abut_rng_below(&r, (uint32_t)below) * (N / below) : -1;
        for (int i = 0; i < 12; i++) w[i] = abut_rng_real(&r, -1, 1);
        for (int a = 0; a < 4; a++)
            for (int b = a; b < 4; b++)
                for (int i = 0; i < 9; i++) *H++ = k * w[3 * a + i / 3] * w[3 * b + i % 3];
    }
}

static void factor_base(abut_linear_solver *base, const abut_bsr *A)
{
    const abut_operator op = { .matrix = A, .scalar = 1 };
    CHECK(!abut_linear_solver_init(base, &abut_linear_cholmod, 1, NULL) && !abut_linear_analyse(base, &op, NULL, NULL));
    CHECK(!abut_linear_factor(base, &op, ABUT_DOUBLE, NULL));
}

TEST(solutions_are_those_of_the_whole_matrix)
{
    static const size_t contacts[] = { 0, 1, 2, 30, 300 };
    int32_t *row = malloc(4 * LINKS * sizeof *row), *trow = malloc(4 * 300 * sizeof *trow);
    double *val = malloc(LINKS * ABUT_PACKED * sizeof *val), *tval = malloc(300 * ABUT_PACKED * sizeof *tval), diag[N];
    double b[3 * N], x[3 * N], want[3 * N], g[3 * N];
    base_elements(row, val, diag);
    for (int c = 0; c < 5; c++) {
        abut_bsr A0 = { 0 }, A = { 0 };
        abut_linear_solver base;
        abut_chol *whole = NULL;
        abut_woodbury s = { 0 };
        abut_rng r = { 7 };
        int32_t m;
        touch(contacts[c], c == 4 ? 40 : N, trow, tval);
        const abut_elements sets[2] = { { .corners = 4, .n = LINKS, .row = row, .val = val },
                                        { .corners = 4, .n = contacts[c], .row = trow, .val = tval } };
        CHECK(!abut_bsr_pattern(&A0, N, sets, 1, NULL) && !abut_bsr_pattern(&A, N, sets, 2, NULL));
        abut_bsr_assemble(&A0, diag, sets, 1);
        abut_bsr_assemble(&A, diag, sets, 2);
        factor_base(&base, &A0);
        CHECK(!abut_chol_new(&whole, &A, NULL, 1, NULL) && !abut_chol_factor(whole, &A, NULL));
        CHECK(!abut_woodbury_make(&s, &base, N, &sets[1], NULL));
        CHECK(!abut_woodbury_count(N, &sets[1], &m, NULL) && m == s.m);
        CHECK(c == 4 ? m == 40 : m <= 4 * (int32_t)contacts[c]);
        const abut_precond D = abut_woodbury_precond(&s);
        double most = 0, left = 0;
        for (int i = 0; i < 3 * N; i++) b[i] = abut_rng_real(&r, -1, 1);
        CHECK(D.rows == N && !D.apply(D.of, b, x, NULL));
        CHECK(!abut_chol_solve(whole, b, want, NULL));
        for (int i = 0; i < 3 * N; i++) most = fmax(most, fabs(want[i]));
        for (int i = 0; i < 3 * N; i++) CHECK_NEAR(x[i], want[i], 1e-9 * most);
        abut_bsr_multiply(&A, x, g);
        for (int i = 0; i < 3 * N; i++) left = fmax(left, fabs(g[i] - b[i]));
        CHECK(left < 1e-6);     /* of stiffnesses up to 1e6 */
        abut_threads_set(2);
        CHECK(!D.apply(D.of, b, g, NULL) && !memcmp(g, x, sizeof g));
        abut_threads_set(1);
        abut_woodbury_clear(&s);
        abut_linear_solver_clear(&base);
        abut_chol_free(&whole);
        abut_bsr_clear(&A0);
        abut_bsr_clear(&A);
    }
    free(row), free(trow), free(val), free(tval);
}

TEST(a_sum_that_is_not_positive_definite_is_refused)
{
    const int32_t row[4] = { 1, -1, -1, -1 };
    double val[ABUT_PACKED] = { -3 }, diag[2] = { 1, 1 };
    const abut_elements none = { 0 }, bad = { .corners = 4, .n = 1, .row = row, .val = val };
    abut_bsr A = { 0 };
    abut_linear_solver base;
    abut_woodbury s = { 0 };
    abut_err err = { 0 };
    CHECK(!abut_bsr_pattern(&A, 2, &none, 1, NULL));
    abut_bsr_assemble(&A, diag, &none, 1);
    factor_base(&base, &A);
    CHECK(abut_woodbury_make(&s, &base, 2, &bad, &err) == ABUT_E_NUMERIC && strstr(err.msg, "positive definite") && !s.row);
    abut_linear_solver_clear(&base);
    abut_bsr_clear(&A);
}

static void give_terms(void *ctx, size_t lo, size_t hi, double *val)
{
    memcpy(val, (const double *)ctx + 16 * lo, 16 * (hi - lo) * sizeof *val);
}

/* Contacts of five corners and rank one, made while they are summed, also for the whole matrix.  A map is refused. */
TEST(contacts_may_have_any_corners_and_rank_but_no_map)
{
    enum { CONTACTS = 30 };
    int32_t *row = malloc(4 * LINKS * sizeof *row), many[5 * CONTACTS], m;
    double *val = malloc(LINKS * ABUT_PACKED * sizeof *val), term[16 * CONTACTS], diag[N], b[3 * N], x[3 * N], g[3 * N];
    abut_bsr A0 = { 0 }, A = { 0 };
    abut_linear_solver base;
    abut_woodbury s = { 0 };
    abut_rng r = { 9 };
    abut_err err = { 0 };
    base_elements(row, val, diag);
    for (int k = 0; k < 5 * CONTACTS; k++) many[k] = (int32_t)abut_rng_below(&r, N + 1) - 1;
    for (int k = 0; k < 16 * CONTACTS; k++) term[k] = k % 16 ? abut_rng_real(&r, -1, 1) : abut_rng_real(&r, 1, 1e3);
    for (int i = 0; i < 3 * N; i++) b[i] = abut_rng_real(&r, -1, 1);
    abut_elements sets[2] = { { .corners = 4, .n = LINKS, .row = row, .val = val },
                              { .corners = 5, .rank = 1, .n = CONTACTS, .row = many, .make = give_terms, .ctx = term } };
    CHECK(!abut_bsr_pattern(&A0, N, sets, 1, NULL) && !abut_bsr_pattern(&A, N, sets, 2, NULL));
    abut_bsr_assemble(&A0, diag, sets, 1);
    abut_bsr_assemble(&A, diag, sets, 2);
    factor_base(&base, &A0);
    CHECK(!abut_woodbury_make(&s, &base, N, &sets[1], NULL));
    const abut_precond D = abut_woodbury_precond(&s);
    CHECK(!D.apply(D.of, b, x, NULL));
    abut_bsr_multiply(&A, x, g);
    for (int i = 0; i < 3 * N; i++) CHECK_NEAR(g[i], b[i], 1e-8);
    abut_woodbury_clear(&s);
    const abut_row_map W = { .rows = N, .cols = N };
    sets[1].map = &W;
    CHECK(abut_woodbury_count(N, &sets[1], &m, &err) == ABUT_E_ARG && strstr(err.msg, "have a map of their rows"));
    CHECK(abut_woodbury_make(&s, &base, N, &sets[1], &err) == ABUT_E_ARG && !s.K);
    abut_linear_solver_clear(&base);
    abut_bsr_clear(&A0);
    abut_bsr_clear(&A);
    free(row), free(val);
}

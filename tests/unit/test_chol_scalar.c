/* The scalar factor against the block factor and against residuals, on graphs of several shapes. */
#include "base/par.h"
#include "base/rng.h"
#include "linalg/chol.h"
#include "linalg/chol_scalar.h"
#include "part/graph.h"

#include "check.h"

#include <stdlib.h>

typedef struct net {
    int32_t n, ne;
    int32_t *row;       /* [4 ne] */
    double *val, *diag;
    abut_bsr A;
} net;

/* ne random springs of stiffness 1 .. 100 among n nodes: along a chain, and jumps of up to `reach` rows */
static void net_make(net *g, int32_t n, int32_t ne, int32_t reach, uint64_t seed)
{
    abut_rng r = { seed };
    *g = (net){ n, ne, malloc(4 * (size_t)(ne + 1) * sizeof *g->row), calloc((size_t)ne + 1, ABUT_PACKED * sizeof *g->val),
                malloc((size_t)n * sizeof *g->diag), { 0 } };
    for (int32_t e = 0; e < ne; e++) {
        const int32_t a = e % n, jump = e < n ? 1 : 1 + (int32_t)abut_rng_real(&r, 0, reach), b = a + jump < n ? a + jump : a;
        const double k = abut_rng_real(&r, 1, 100);
        g->row[4 * e] = a;
        g->row[4 * e + 1] = b == a ? -1 : b;
        g->row[4 * e + 2] = g->row[4 * e + 3] = -1;
        for (int d = 0; d < 9; d += 4) {
            g->val[ABUT_PACKED * e + d] = g->val[ABUT_PACKED * e + 36 + d] = k;
            g->val[ABUT_PACKED * e + 9 + d] = -k;
        }
    }
    for (int32_t i = 0; i < n; i++) g->diag[i] = abut_rng_real(&r, 0.1, 1);
    const abut_elems set = { (size_t)ne, g->row, g->val };
    CHECK(!abut_bsr_pattern(&g->A, n, &set, 1, NULL));
    abut_bsr_assemble(&g->A, g->diag, &set, 1);
}

static void net_free(net *g)
{
    abut_bsr_clear(&g->A);
    free(g->row);
    free(g->val);
    free(g->diag);
}

static double largest(size_t n, const double *v)
{
    double big = 0;
    for (size_t i = 0; i < n; i++) big = fmax(big, fabs(v[i]));
    return big;
}

TEST(solutions_leave_no_residual_and_agree_with_the_block_factor)
{
    static const int32_t shape[][3] = { { 1, 0, 1 },        { 2, 1, 1 },     { 7, 40, 6 },       { 50, 50, 1 },
                                        { 300, 1500, 290 }, { 900, 900, 1 }, { 1500, 4500, 40 }, { 3000, 9000, 12 } };
    for (size_t c = 0; c < sizeof shape / sizeof *shape; c++)
        for (int ordered = 0; ordered < 2; ordered++) {
            net g;
            abut_rng r = { 3 };
            net_make(&g, shape[c][0], shape[c][1], shape[c][2], 11 + c);
            const size_t n3 = 3 * (size_t)g.n;
            double *b = malloc(n3 * sizeof *b), *x = malloc(n3 * sizeof *b), *y = malloc(n3 * sizeof *b);
            int32_t *perm = malloc((size_t)g.n * sizeof *perm);
            for (size_t i = 0; i < n3; i++) b[i] = abut_rng_real(&r, -1, 1);
            CHECK(!abut_graph_order(&g.A, perm, NULL));
            abut_chol_scalar *s = NULL;
            abut_chol *block = NULL;
            abut_err err = { 0 };
            CHECK(!abut_chol_scalar_new(&s, &g.A, ordered ? perm : NULL, &err));
            CHECK(!abut_chol_new(&block, &g.A, perm, 1, NULL));
            CHECK(!abut_chol_factor(block, &g.A, NULL));
            if (s) {
                abut_chol_scalar_solve(s, b, x);
                CHECK(!abut_chol_solve(block, b, y, NULL));
                for (size_t i = 0; i < n3; i++) CHECK_NEAR(x[i], y[i], 1e-11 * largest(n3, y));
                abut_bsr_multiply(&g.A, x, y);
                for (size_t i = 0; i < n3; i++) CHECK_NEAR(y[i], b[i], 1e-11 * fmax(1, 500 * largest(n3, x)));
                memcpy(y, b, n3 * sizeof *y);
                abut_chol_scalar_solve(s, y, y);
                CHECK(!memcmp(x, y, n3 * sizeof *x));
            }
            abut_chol_scalar_free(&s);
            abut_chol_free(&block);
            free(b);
            free(x);
            free(y);
            free(perm);
            net_free(&g);
        }
}

/* the entries that are stored are those of L, found by eliminating a full matrix, and some zeros */
TEST(the_factor_stores_no_less_than_the_fill_and_not_much_more)
{
    net g;
    net_make(&g, 200, 700, 25, 5);
    const size_t n = (size_t)g.n;
    char *full = calloc(n * n, 1);
    for (size_t c = 0; c < n; c++)
        for (size_t k = g.A.ptr[c]; k < g.A.ptr[c + 1]; k++) full[(size_t)g.A.row[k] * n + c] = 1;
    for (size_t c = 0; c < n; c++)
        for (size_t i = c + 1; i < n; i++)
            for (size_t j = c + 1; j <= i; j++) full[i * n + j] = (char)(full[i * n + j] | (full[i * n + c] & full[j * n + c]));
    double fill = 0;
    for (size_t i = 0; i < n * n; i++) fill += full[i];
    abut_chol_scalar *s = NULL;
    CHECK(!abut_chol_scalar_new(&s, &g.A, NULL, NULL));
    if (s) {
        const double stored = abut_chol_scalar_get_stats(s).factor_nnz;
        printf("# %g entries, %g stored\n", fill, stored);
        CHECK(stored >= fill && stored < 2.2 * fill);   /* the square blocks on the diagonal are stored whole */
    }
    abut_chol_scalar_free(&s);
    free(full);
    net_free(&g);
}

TEST(no_thread_count_changes_a_bit)
{
    net g;
    net_make(&g, 5000, 20000, 60, 6);
    const size_t n3 = 3 * (size_t)g.n;
    double *b = malloc(n3 * sizeof *b), *x = malloc(n3 * sizeof *b), *first = malloc(n3 * sizeof *b);
    int32_t *perm = malloc((size_t)g.n * sizeof *perm);
    abut_rng r = { 4 };
    for (size_t i = 0; i < n3; i++) b[i] = abut_rng_real(&r, -1, 1);
    CHECK(!abut_graph_order(&g.A, perm, NULL));
    for (int threads = 1; threads <= 7; threads += 3) {
        abut_chol_scalar *s = NULL;
        abut_threads_set(threads);
        CHECK(!abut_chol_scalar_new(&s, &g.A, perm, NULL));
        abut_chol_scalar_solve(s, b, x);
        if (threads == 1) memcpy(first, x, n3 * sizeof *x);
        CHECK(!memcmp(first, x, n3 * sizeof *x));
        abut_chol_scalar_free(&s);
    }
    free(b);
    free(x);
    free(first);
    free(perm);
    net_free(&g);
}

TEST(what_cannot_be_factored_is_refused_by_its_row)
{
    net g;
    abut_chol_scalar *s = NULL;
    abut_err err = { 0 };
    net_make(&g, 40, 60, 5, 7);
    g.A.val[9 * g.A.ptr[17]] = -1;
    CHECK(abut_chol_scalar_new(&s, &g.A, NULL, &err) == ABUT_E_NUMERIC && !s);
    CHECK(strstr(err.msg, "pivot 17 "));
    g.A.val[9 * g.A.ptr[17]] = NAN;
    CHECK(abut_chol_scalar_new(&s, &g.A, NULL, &err) == ABUT_E_NUMERIC && !s);
    int32_t perm[40] = { 0 };
    CHECK(abut_chol_scalar_new(&s, &g.A, perm, &err) == ABUT_E_ARG && !s);
    CHECK(strstr(err.msg, "entry 1 is 0"));
    net_free(&g);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    RUN(solutions_leave_no_residual_and_agree_with_the_block_factor);
    RUN(the_factor_stores_no_less_than_the_fill_and_not_much_more);
    RUN(no_thread_count_changes_a_bit);
    RUN(what_cannot_be_factored_is_refused_by_its_row);
    return check_done();
}

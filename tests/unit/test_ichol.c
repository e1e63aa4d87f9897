#include "box_tets.h"
#include "solve/baselines/ichol.h"
#include "sparse/pcg.h"

#include "check.h"

#define OF(A) &(abut_operator){ .matrix = (A) }

static abut_bsr matrix_of(const box_tets *b, double mass)
{
    const abut_elements set = { .corners = 4, .n = (size_t)b->nt, .row = b->tet, .val = b->val };
    abut_bsr A = { 0 };
    double *diag = malloc((size_t)b->nv * sizeof *diag);
    for (int32_t i = 0; i < b->nv; i++) diag[i] = mass;
    if (abut_bsr_pattern(&A, b->nv, &set, 1, NULL)) abort();
    abut_bsr_assemble(&A, diag, &set, 1);
    free(diag);
    return A;
}

static double *dense_lower(const abut_bsr *L)
{
    const size_t n = 3 * (size_t)L->n;
    double *D = calloc(n * n, sizeof *D);
    for (int32_t c = 0; c < L->n; c++)
        for (size_t b = L->ptr[c]; b < L->ptr[c + 1]; b++)
            for (size_t i = 0; i < 9; i++) D[(3 * (size_t)L->row[b] + i / 3) * n + 3 * (size_t)c + i % 3] = L->val[9 * b + i];
    return D;
}

TEST(the_product_is_the_matrix_where_the_matrix_has_blocks)
{
    box_tets box = box_tets_make(3, 3, 2, 5);
    abut_bsr A = matrix_of(&box, 5);
    abut_ichol f = { 0 };
    CHECK(!abut_ichol_factor(&f, &A, NULL));
    CHECK(f.shift == 0);
    const size_t n = 3 * (size_t)A.n;
    double *D = dense_lower(&f.L), elsewhere = 0;
    for (int32_t c = 0; c < A.n; c++) {
        size_t b = A.ptr[c];
        for (int32_t r = c; r < A.n; r++) {
            const int has = b < A.ptr[c + 1] && A.row[b] == r;
            for (size_t e = 0; e < 9; e++) {
                const size_t i = 3 * (size_t)r + e / 3, j = 3 * (size_t)c + e % 3;
                double sum = 0;
                for (size_t k = 0; k < n; k++) sum += D[i * n + k] * D[j * n + k];
                if (has) CHECK_NEAR(sum, A.val[9 * b + e], 1e-12);
                else elsewhere = fmax(elsewhere, fabs(sum));
            }
            b += (size_t)has;
        }
    }
    CHECK(elsewhere > 1e-3);    /* it is not the whole factor */
    free(D);
    abut_ichol_clear(&f);
    abut_bsr_clear(&A);
    box_tets_free(&box);
}

TEST(applying_it_solves_with_both_triangles)
{
    box_tets box = box_tets_make(2, 3, 2, 6);
    abut_bsr A = matrix_of(&box, 1);
    abut_ichol f = { 0 };
    CHECK(!abut_ichol_factor(&f, &A, NULL));
    const size_t n = 3 * (size_t)A.n;
    double *D = dense_lower(&f.L), *r = malloc(n * sizeof *r), *z = malloc(n * sizeof *z), *y = calloc(n, sizeof *y);
    abut_rng rng = { 9 };
    for (size_t i = 0; i < n; i++) r[i] = abut_rng_real(&rng, -1, 1);
    const abut_precond M = abut_ichol_precond(&f);
    CHECK(M.rows == A.n && !M.apply(M.of, r, z, NULL));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) y[i] += D[k * n + i] * z[k];
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < n; k++) sum += D[i * n + k] * y[k];
        CHECK_NEAR(sum, r[i], 1e-10);
    }
    free(D), free(r), free(z), free(y);
    abut_ichol_clear(&f);
    abut_bsr_clear(&A);
    box_tets_free(&box);
}

TEST(conjugate_gradients_need_fewer_iterations_with_it_than_with_the_diagonal)
{
    box_tets box = box_tets_make(6, 6, 6, 8);
    abut_bsr A = matrix_of(&box, 1e-2);
    abut_ichol f = { 0 };
    CHECK(!abut_ichol_factor(&f, &A, NULL));
    const size_t n = 3 * (size_t)A.n;
    double *b = malloc(n * sizeof *b), *x = calloc(n, sizeof *x);
    abut_rng rng = { 9 };
    for (size_t i = 0; i < n; i++) b[i] = abut_rng_real(&rng, -1, 1);
    const abut_precond M = abut_ichol_precond(&f);
    abut_pcg_report with, without;
    abut_arena scratch = { 0 };
    CHECK(!abut_pcg_solve(OF(&A), &M, b, x, (abut_pcg_opts){ 1e-8, 1000 }, &with, &scratch, NULL) && with.converged);
    memset(x, 0, n * sizeof *x);
    CHECK(!abut_pcg_solve(OF(&A), NULL, b, x, (abut_pcg_opts){ 1e-8, 1000 }, &without, &scratch, NULL) && without.converged);
    CHECK(2 * with.iterations < without.iterations);
    free(b), free(x);
    abut_arena_clear(&scratch);
    abut_ichol_clear(&f);
    abut_bsr_clear(&A);
    box_tets_free(&box);
}

/* Two unknowns whose coupling grows until the matrix is indefinite; a shift below 1 mends it up to twice the diagonal. */
TEST(a_pivot_that_is_not_positive_is_mended_by_a_shift_and_a_hopeless_matrix_refused)
{
    double H[ABUT_PACKED] = { 0 };
    const int32_t row[4] = { 0, 1, -1, -1 };
    const abut_elements set = { .corners = 4, .n = 1, .row = row, .val = H };
    const double couplings[] = { 0.5, 1.2, 3, NAN, 1 };
    abut_err err = { 0 };
    for (int i = 0; i < 5; i++) {
        for (int d = 0; d < 9; d += 4) H[d] = H[36 + d] = 1, H[9 + d] = couplings[i];
        abut_bsr A = { 0 };
        abut_ichol f = { 0 };
        CHECK(!abut_bsr_pattern(&A, 2, &set, 1, NULL));
        abut_bsr_assemble(&A, NULL, &set, 1);
        const abut_status rc = abut_ichol_factor(&f, &A, &err);
        if (i == 0) CHECK(!rc && f.shift == 0);
        if (i == 1) CHECK(!rc && f.shift > 0.2 && f.shift < 0.6);
        if (i == 4) CHECK(!rc && f.shift > 0 && f.shift < 0.01);       /* a pivot of 0 */
        else if (i > 1) CHECK(rc == ABUT_E_NUMERIC && !f.L.val);
        abut_ichol_clear(&f);
        abut_bsr_clear(&A);
    }
}

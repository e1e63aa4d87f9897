/* Incomplete factors of chunks of rows against those of whole matrices, and parts of rows. */
#include "base/par.h"
#include "box_tets.h"
#include "solve/baselines/ichol.h"
#include "sparse/incomplete/incomplete.h"
#include "sparse/operator.h"

#include "check.h"

/* A box of springs, with contacts of rank one between rows far apart. */
typedef struct fixture {
    box_tets box;
    abut_elements set[2];
    int32_t *touch;
    double *term, *diag, *r, *z, *other;
    abut_bsr A;
    abut_product *product;
    size_t n;
} fixture;

enum { TOUCH = 60 };

static fixture *fixture_make(int nx, int ny, int nz, double mass)
{
    fixture *f = calloc(1, sizeof *f);
    abut_rng rng = { 52 };
    f->box = box_tets_make(nx, ny, nz, 51);
    f->n = 3 * (size_t)f->box.nv;
    f->touch = malloc(4 * TOUCH * sizeof *f->touch);
    f->term = malloc(13 * TOUCH * sizeof *f->term);
    for (int k = 0; k < 4 * TOUCH; k++) f->touch[k] = (int32_t)abut_rng_below(&rng, (uint32_t)f->box.nv);
    for (int k = 0; k < 13 * TOUCH; k++) f->term[k] = k % 13 ? abut_rng_real(&rng, -1, 1) : abut_rng_real(&rng, 0, 5);
    f->set[0] = (abut_elements){ .corners = 4, .n = (size_t)f->box.nt, .row = f->box.tet, .val = f->box.val };
    f->set[1] = (abut_elements){ .corners = 4, .rank = 1, .n = TOUCH, .row = f->touch, .val = f->term };
    double **v[] = { &f->diag, &f->r, &f->z, &f->other };
    for (int k = 0; k < 4; k++) *v[k] = calloc(f->n, sizeof **v[k]);
    for (size_t i = 0; i < f->n; i++) f->diag[i] = mass, f->r[i] = abut_rng_real(&rng, -1, 1);
    if (abut_bsr_pattern(&f->A, f->box.nv, f->set, 2, NULL)) abort();
    abut_bsr_assemble(&f->A, f->diag, f->set, 2);
    return f;
}

static abut_operator product_of(fixture *f, int summed)
{
    abut_product_free(&f->product);
    if (abut_product_make(&f->product, f->box.nv, f->set, 2, summed, NULL)) abort();
    return abut_product_set(f->product, f->diag, f->set);
}

static void fixture_free(fixture *f)
{
    box_tets_free(&f->box);
    abut_bsr_clear(&f->A);
    abut_product_free(&f->product);
    free(f->touch), free(f->term), free(f->diag), free(f->r), free(f->z), free(f->other), free(f);
}

static double apart(const double *a, const double *b, size_t n)
{
    double d = 0;
    for (size_t i = 0; i < n; i++) d = fmax(d, fabs(a[i] - b[i]));
    return d;
}

static abut_incomplete_stats solve_by(const abut_operator *A, const double *r, double *z)
{
    abut_incomplete *f = NULL;
    CHECK(!abut_incomplete_factor(&f, A, NULL));
    const abut_precond M = abut_incomplete_precond(f);
    CHECK(M.rows == abut_operator_rows(A) && !M.apply(M.of, r, z, NULL));
    const abut_incomplete_stats s = abut_incomplete_get_stats(f);
    abut_incomplete_free(&f);
    abut_incomplete_free(&f);
    return s;
}

/* Blocks of rows and columns lo .. hi-1 of A, in arrays of its own. */
static abut_bsr cut_out(const abut_bsr *A, int32_t lo, int32_t hi)
{
    abut_bsr B = { .n = hi - lo, .ptr = malloc(((size_t)(hi - lo) + 1) * sizeof *B.ptr), .row = malloc(A->nnz * sizeof *B.row),
                   .val = malloc(9 * A->nnz * sizeof *B.val) };
    for (int32_t c = lo; c < hi; c++) {
        B.ptr[c - lo] = B.nnz;
        for (size_t b = A->ptr[c]; b < A->ptr[c + 1]; b++) {
            if (A->row[b] >= hi) continue;
            B.row[B.nnz] = A->row[b] - lo;
            memcpy(B.val + 9 * B.nnz++, A->val + 9 * b, 9 * sizeof *B.val);
        }
    }
    B.ptr[B.n] = B.nnz;
    return B;
}

TEST(chunks_are_solved_as_by_the_incomplete_factor_of_their_own_matrix)
{
    fixture *f = fixture_make(16, 16, 16, 3);       /* 4913 rows: three chunks */
    const abut_operator A = { .matrix = &f->A };
    const abut_incomplete_stats s = solve_by(&A, f->r, f->z);
    size_t blocks = 0;      /* with both rows in one chunk */
    for (int32_t c = 0; c < f->A.n; c++)
        for (size_t b = f->A.ptr[c]; b < f->A.ptr[c + 1]; b++)
            blocks += c / ABUT_INCOMPLETE_ROWS == f->A.row[b] / ABUT_INCOMPLETE_ROWS;
    CHECK(s.chunks == 3 && s.raised == 0 && blocks < f->A.nnz);
    CHECK_NEAR(s.nnz, 9.0 * (double)blocks, 0);
    CHECK(s.bytes == blocks * (9 * sizeof(float) + sizeof(int32_t)));
    for (int32_t lo = 0; lo < f->A.n; lo += ABUT_INCOMPLETE_ROWS) {
        const int32_t hi = lo + ABUT_INCOMPLETE_ROWS < f->A.n ? lo + ABUT_INCOMPLETE_ROWS : f->A.n;
        abut_bsr B = cut_out(&f->A, lo, hi);
        abut_ichol whole = { 0 };
        CHECK(!abut_ichol_factor(&whole, &B, NULL) && whole.shift == 0);
        const abut_precond M = abut_ichol_precond(&whole);
        CHECK(!M.apply(M.of, f->r + 3 * lo, f->other, NULL));
        const size_t n3 = 3 * (size_t)(hi - lo);
        CHECK_NEAR(apart(f->z + 3 * lo, f->other, n3), 0, 1e-6 * abut_largest(f->other, n3));
        abut_ichol_clear(&whole);
        abut_bsr_clear(&B);
    }
    fixture_free(f);
}

TEST(a_matrix_its_element_sets_and_some_of_them_summed_have_the_same_factor)
{
    fixture *f = fixture_make(13, 12, 14, 0.1);
    const abut_operator A = { .matrix = &f->A };
    const double nnz = solve_by(&A, f->r, f->z).nnz;
    for (int summed = 0; summed < 3; summed++) {
        const abut_operator P = product_of(f, summed);
        CHECK(solve_by(&P, f->r, f->other).nnz == nnz);
        CHECK_NEAR(apart(f->z, f->other, f->n), 0, 1e-6 * abut_largest(f->z, f->n));
    }
    fixture_free(f);
}

TEST(the_same_bits_at_1_2_4_and_7_threads)
{
    static const int threads[4] = { 1, 2, 4, 7 };
    fixture *f = fixture_make(20, 15, 16, 0.1);
    for (int summed = 0; summed < 2; summed++)
        for (int k = 0; k < 4; k++) {
            abut_threads_set(threads[k]);
            const abut_operator P = product_of(f, summed);
            CHECK(solve_by(&P, f->r, k ? f->other : f->z).chunks == 3);
            CHECK(!k || !memcmp(f->z, f->other, f->n * sizeof *f->z));
        }
    abut_threads_set(1);
    fixture_free(f);
}

/* Kershaw 1978: positive definite, and its incomplete factor has a pivot of -5. */
TEST(the_diagonal_is_raised_where_there_is_no_factor_and_a_matrix_that_none_helps_is_refused)
{
    static const double K[4][4] = { { 3, -2, 0, 2 }, { -2, 3, -2, 0 }, { 0, -2, 3, -2 }, { 2, 0, -2, 3 } };
    const int32_t row[8] = { 0, 1, 1, 2, 2, 3, 0, 3 };
    double val[4 * 27] = { 0 }, diag[4] = { 3, 3, 3, 3 }, r[12], z[12];
    for (int e = 0; e < 4; e++)
        for (int d = 0; d < 3; d++) val[27 * e + 9 + 4 * d] = K[row[2 * e]][row[2 * e + 1]];
    const abut_elements set = { .corners = 2, .n = 4, .row = row, .val = val };
    abut_product *p = NULL;
    abut_err err = { 0 };
    CHECK(!abut_product_make(&p, 4, &set, 1, 0, NULL));
    const abut_operator A = abut_product_set(p, diag, &set);
    for (int i = 0; i < 12; i++) r[i] = i % 5 - 2;
    CHECK(solve_by(&A, r, z).raised == 1);
    double work = 0;
    for (int i = 0; i < 12; i++) work += r[i] * z[i];
    CHECK(work > 0);
    diag[2] = -1;
    abut_incomplete *f = NULL;
    CHECK(abut_incomplete_factor(&f, &A, &err) == ABUT_E_NUMERIC && strstr(err.msg, "rows 0 to 3"));
    const abut_precond M = abut_incomplete_precond(f);
    CHECK(M.apply(M.of, r, z, &err) == ABUT_E_ARG && strstr(err.msg, "there is none"));
    abut_incomplete_free(&f);
    abut_product_free(&p);
}

TEST(parts_are_what_is_joined_among_rows_that_follow_each_other)
{
    /* chains 0-1-2, 3-4, 5 alone, 6-7-8 with 9, alone among the next nine rows, 10-11 */
    const int32_t row[] = { 0, 1, 2, 1, 4, 3, 6, 7, 8, 7, 8, 9, 10, 11 };
    const abut_elements set = { .corners = 2, .n = 7, .row = row, .val = calloc(7, 27 * sizeof(double)) };
    const double diag[12] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    static const int32_t first[] = { 0, 3, 5, 9, 11 }, want[] = { 0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11 };
    for (int summed = 0; summed < 2; summed++) {
        abut_product *p = NULL;
        abut_row_parts parts = { 0 };
        CHECK(!abut_product_make(&p, 12, &set, 1, summed, NULL));
        const abut_operator A = abut_product_set(p, diag, &set);
        CHECK(!abut_row_parts_make(&parts, &A, 9, NULL));
        CHECK(parts.k == 4 && !memcmp(parts.first, first, sizeof first) && !memcmp(parts.row, want, sizeof want));
        abut_row_parts_clear(&parts);
        abut_product_free(&p);
    }
    free((void *)(uintptr_t)set.val);
}

TEST(one_row_is_a_chunk)
{
    abut_bsr A = { 0 };
    const double diag = 4, r[3] = { 8, -2, 1 };
    double z[3];
    CHECK(!abut_bsr_pattern(&A, 1, NULL, 0, NULL));
    abut_bsr_assemble(&A, &diag, NULL, 0);
    const abut_incomplete_stats s = solve_by(&(abut_operator){ .matrix = &A }, r, z);
    CHECK(s.chunks == 1 && s.raised == 0);
    for (int d = 0; d < 3; d++) CHECK_NEAR(z[d], r[d] / 4, 1e-6);
    abut_bsr_clear(&A);
}

#include "base/par.h"
#include "box_tets.h"
#include "sparse/bsr.h"

#include "check.h"

/* The dense sum of the same element matrices, one entry after the other: no blocks, no triangle, no transposes. */
static void dense_add(int n, double *D, const abut_elements *set)
{
    static const int pair[4][4] = { { 0, 1, 2, 3 }, { 1, 4, 5, 6 }, { 2, 5, 7, 8 }, { 3, 6, 8, 9 } };
    for (size_t e = 0; e < set->n; e++)
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++) {
                const int32_t r = set->row[4 * e + (size_t)a], c = set->row[4 * e + (size_t)b];
                if (r < 0 || c < 0) continue;
                const double *H = set->val + ABUT_PACKED * e + 9 * (size_t)pair[a][b];
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++) D[(3 * r + i) * 3 * n + 3 * c + j] += a <= b ? H[3 * i + j] : H[3 * j + i];
            }
}

static void check_equals_dense(const abut_bsr *A, const double *D)
{
    const int n = A->n;
    double *S = calloc((size_t)(9 * n * n), sizeof *S);
    for (int c = 0; c < n; c++)
        for (size_t k = A->ptr[c]; k < A->ptr[c + 1]; k++) {
            const int r = A->row[k];
            CHECK(r >= c && (k == A->ptr[c] ? r == c : r > A->row[k - 1]));
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    const double v = A->val[9 * k + (size_t)(3 * i + j)];
                    S[(3 * r + i) * 3 * n + 3 * c + j] = v;
                    S[(3 * c + j) * 3 * n + 3 * r + i] = v;
                }
        }
    for (int k = 0; k < 9 * n * n; k++) CHECK_NEAR(S[k], D[k], 1e-13);
    free(S);
}

/* m elements on n rows with no structure: repeated corners, unused corners, whose blocks must not be read */
static void random_elems(abut_rng *r, int n, size_t m, int32_t *row, double *val)
{
    for (size_t k = 0; k < 4 * m; k++) row[k] = (int32_t)abut_rng_below(r, (uint32_t)n + 1) - 1;
    for (size_t e = 0; e < m; e++, row += 4) {
        double *block = val + ABUT_PACKED * e;
        spring_matrix(r, block);
        for (int a = 0; a < 4; a++)
            for (int b = a; b < 4; b++, block += 9)
                for (int k = 0; k < 9 && (row[a] < 0 || row[b] < 0); k++) block[k] = NAN;
    }
}

enum { N = 12, M = 20 };

TEST(assembly_equals_the_dense_sum_for_several_sets_with_repeated_and_eliminated_corners)
{
    abut_rng rng = { 7 };
    for (int trial = 0; trial < 20; trial++) {
        int32_t row[2][4 * M];
        static double val[2][ABUT_PACKED * M];
        abut_elements sets[2];
        double diag[N], *D = calloc(9 * N * N, sizeof *D);
        for (int s = 0; s < 2; s++) {
            random_elems(&rng, N, M, row[s], val[s]);
            sets[s] = (abut_elements){ .corners = 4, .n = M, .row = row[s], .val = val[s] };
            dense_add(N, D, &sets[s]);
        }
        for (int k = 0; k < N; k++) {
            diag[k] = abut_rng_real(&rng, 0, 1);
            for (int i = 0; i < 3; i++) D[(3 * k + i) * (3 * N + 1)] += diag[k];
        }
        abut_bsr A = { 0 };
        abut_err err = { 0 };
        CHECK(abut_bsr_pattern(&A, N, sets, 2, &err) == ABUT_OK);
        abut_bsr_assemble(&A, diag, sets, 2);
        check_equals_dense(&A, D);
        abut_bsr_assemble(&A, diag, sets, 2);   /* nothing is left over from the first time */
        check_equals_dense(&A, D);

        double x[3 * N], y[3 * N];
        for (int k = 0; k < 3 * N; k++) x[k] = abut_rng_real(&rng, -1, 1);
        abut_bsr_multiply(&A, x, y);
        for (int i = 0; i < 3 * N; i++) {
            double want = 0;
            for (int j = 0; j < 3 * N; j++) want += D[i * 3 * N + j] * x[j];
            CHECK_NEAR(y[i], want, 1e-12);
        }
        abut_bsr_clear(&A);
        free(D);
    }
}

TEST(values_and_products_have_the_same_bits_at_1_2_and_7_threads)
{
    box_tets box = box_tets_make(9, 8, 7, 3);
    const abut_elements set = { .corners = 4, .n = (size_t)box.nt, .row = box.tet, .val = box.val };
    abut_bsr A = { 0 };
    CHECK(abut_bsr_pattern(&A, box.nv, &set, 1, NULL) == ABUT_OK);
    double *x = malloc((size_t)box.nv * 3 * sizeof *x), *y = malloc((size_t)box.nv * 3 * sizeof *y);
    double *y1 = malloc((size_t)box.nv * 3 * sizeof *y1), *v1 = malloc(A.nnz * 9 * sizeof *v1);
    abut_rng r = { 4 };
    for (int i = 0; i < 3 * box.nv; i++) x[i] = abut_rng_real(&r, -1, 1);
    const int threads[] = { 1, 2, 7 }, before = abut_threads();
    for (int t = 0; t < 3; t++) {
        abut_threads_set(threads[t]);
        abut_bsr_assemble(&A, x, &set, 1);
        abut_bsr_multiply(&A, x, y);
        if (t == 0) memcpy(v1, A.val, A.nnz * 9 * sizeof *v1), memcpy(y1, y, (size_t)box.nv * 3 * sizeof *y1);
        CHECK(memcmp(v1, A.val, A.nnz * 9 * sizeof *v1) == 0);
        CHECK(memcmp(y1, y, (size_t)box.nv * 3 * sizeof *y1) == 0);
    }
    abut_threads_set(before);
    free(x), free(y), free(y1), free(v1);
    abut_bsr_clear(&A);
    box_tets_free(&box);
}

/* ---- elements made where they are summed ---- */

static void copy_values(void *ctx, size_t lo, size_t hi, double *val)
{
    memcpy(val, (const double *)ctx + ABUT_PACKED * lo, ABUT_PACKED * (hi - lo) * sizeof *val);
}

TEST(elements_made_piece_by_chunk_sum_to_what_stored_ones_do_with_the_same_bits_at_1_2_and_7_threads)
{
    box_tets box = box_tets_make(9, 8, 7, 3);   /* a dozen chunks; some blocks lie in several, as do those of corners dropped */
    for (int32_t k = 0; k < 4 * box.nt; k += 97) box.tet[k] = -1;
    enum { FEW = 40 };
    int32_t row[4 * FEW];
    static double val[ABUT_PACKED * FEW];
    abut_rng rng = { 21 };
    random_elems(&rng, box.nv, FEW, row, val);  /* as contacts: blocks that no tet has */
    const abut_elements sets[2] = { { .corners = 4, .n = (size_t)box.nt, .row = box.tet, .val = box.val },
                                    { .corners = 4, .n = FEW, .row = row, .val = val } };
    const abut_elements unread[2] = {
        { .corners = 4, .n = (size_t)box.nt, .row = box.tet, .make = copy_values, .ctx = box.val }, sets[1]
    };
    double *diag = malloc((size_t)box.nv * sizeof *diag), *first = NULL;
    for (int32_t i = 0; i < box.nv; i++) diag[i] = abut_rng_real(&rng, 0, 1);
    const int threads[] = { 1, 2, 7 }, before = abut_threads();
    for (int nsets = 1; nsets <= 2; nsets++) {
        abut_bsr A = { 0 }, B = { 0 };
        CHECK(!abut_bsr_pattern(&A, box.nv, unread, 1, NULL) && !abut_bsr_pattern(&B, box.nv, sets, nsets, NULL));
        abut_bsr_assemble(&A, diag, unread, 1);
        int changed;    /* the chunks outlive a change of the other sets */
        CHECK(!abut_bsr_update(&A, unread, nsets, 1, 0, &changed, NULL));
        abut_bsr_assemble(&B, diag, sets, nsets);
        for (int t = 0; t < 3; t++) {
            abut_threads_set(threads[t]);
            for (size_t k = 0; k < 9 * A.nnz; k++) A.val[k] = NAN;
            abut_bsr_assemble(&A, diag, unread, nsets);
            if (t == 0) {
                first = malloc(9 * A.nnz * sizeof *first);
                memcpy(first, A.val, 9 * A.nnz * sizeof *first);
            }
            CHECK(!memcmp(first, A.val, 9 * A.nnz * sizeof *first));
        }
        CHECK(A.nnz == B.nnz && !memcmp(A.row, B.row, A.nnz * sizeof *A.row));
        for (size_t k = 0; k < 9 * A.nnz; k++) CHECK_NEAR(A.val[k], B.val[k], 1e-13);
        free(first);
        abut_bsr_clear(&A);
        abut_bsr_clear(&B);
    }
    abut_threads_set(before);
    free(diag);
    box_tets_free(&box);
}

static int same_matrix(const abut_bsr *A, const abut_bsr *B)
{
    return A->n == B->n && A->nnz == B->nnz && memcmp(A->ptr, B->ptr, ((size_t)A->n + 1) * sizeof *A->ptr) == 0 &&
           memcmp(A->row, B->row, A->nnz * sizeof *A->row) == 0 && memcmp(A->val, B->val, 9 * A->nnz * sizeof *A->val) == 0;
}

TEST(an_update_equals_a_new_pattern_and_says_whether_it_changed)
{
    box_tets box = box_tets_make(3, 3, 3, 5);
    abut_rng rng = { 8 };
    abut_bsr A = { 0 };
    abut_elements sets[2] = { { .corners = 4, .n = (size_t)box.nt, .row = box.tet, .val = box.val } };
    CHECK(abut_bsr_pattern(&A, box.nv, sets, 1, NULL) == ABUT_OK);
    int32_t row[4 * M];
    double *val = malloc(ABUT_PACKED * M * sizeof *val);
    for (int trial = 0; trial < 6; trial++) {
        const int again = trial == 3;           /* the contacts of trial 2 once more */
        if (!again) random_elems(&rng, box.nv, M, row, val);
        sets[1] = (abut_elements){ .corners = 4, .n = M, .row = row, .val = val };
        const int nsets = trial == 5 ? 1 : 2;
        abut_bsr B = { 0 };
        int changed = -1;
        CHECK(abut_bsr_update(&A, sets, nsets, 1, 0, &changed, NULL) == ABUT_OK);
        CHECK(changed == !again);
        CHECK(abut_bsr_pattern(&B, box.nv, sets, nsets, NULL) == ABUT_OK);
        abut_bsr_assemble(&A, NULL, sets, nsets);
        abut_bsr_assemble(&B, NULL, sets, nsets);
        CHECK(same_matrix(&A, &B));
        abut_bsr_clear(&B);
    }
    free(val);
    abut_bsr_clear(&A);
    box_tets_free(&box);
}

/* y = A x by the blocks below the diagonal and their mirrors. */
static void multiply_simply(const abut_bsr *A, const double *x, double *y)
{
    memset(y, 0, 3 * (size_t)A->n * sizeof *y);
    for (int32_t c = 0; c < A->n; c++)
        for (size_t k = A->ptr[c]; k < A->ptr[c + 1]; k++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    const double v = A->val[9 * k + (size_t)(3 * i + j)];
                    y[3 * A->row[k] + i] += v * x[3 * c + j];
                    if (A->row[k] != c) y[3 * c + j] += v * x[3 * A->row[k] + i];
                }
}

TEST(a_pattern_of_many_rows_and_its_updates_are_the_same_at_1_2_and_7_threads)
{
    enum { TOUCH = 300 };
    box_tets box = box_tets_make(13, 12, 14, 6);    /* more rows than one thread takes alone */
    const size_t n3 = 3 * (size_t)box.nv;
    double *val = malloc(ABUT_PACKED * TOUCH * sizeof *val), *x = malloc(n3 * sizeof *x), *y = malloc(n3 * sizeof *y);
    double *want = malloc(n3 * sizeof *want);
    int32_t row[4 * TOUCH];
    const int threads[] = { 1, 2, 7 }, before = abut_threads();
    abut_bsr one[2] = { { 0 }, { 0 } };
    for (int t = 0; t < 3; t++) {
        abut_rng rng = { 12 };
        abut_elements sets[2] = { { .corners = 4, .n = (size_t)box.nt, .row = box.tet, .val = box.val },
                                  { .corners = 4, .n = TOUCH, .row = row, .val = val } };
        abut_bsr A = { 0 };
        int changed;
        abut_threads_set(threads[t]);
        CHECK(abut_bsr_pattern(&A, box.nv, sets, 1, NULL) == ABUT_OK);
        for (size_t i = 0; i < n3; i++) x[i] = abut_rng_real(&rng, -1, 1);
        for (int trial = 0; trial < 2; trial++) {
            random_elems(&rng, box.nv, TOUCH, row, val);
            CHECK(abut_bsr_update(&A, sets, 2, 1, 0, &changed, NULL) == ABUT_OK && changed);
            for (size_t i = 0; i < 9 * A.nnz; i++) CHECK(A.val[i] == 0);
            abut_bsr_assemble(&A, NULL, sets, 2);
            abut_bsr_multiply(&A, x, y);
            multiply_simply(&A, x, want);
            for (size_t i = 0; i < n3; i++) CHECK_NEAR(y[i], want[i], 1e-11);
            if (t == 0) {
                CHECK(abut_bsr_pattern(&one[trial], box.nv, sets, 2, NULL) == ABUT_OK);
                abut_bsr_assemble(&one[trial], NULL, sets, 2);
            }
            CHECK(same_matrix(&A, &one[trial]));
        }
        abut_bsr_clear(&A);
    }
    abut_threads_set(before);
    free(val), free(x), free(y), free(want);
    for (int i = 0; i < 2; i++) abut_bsr_clear(&one[i]);
    box_tets_free(&box);
}

TEST(a_kept_pattern_stays_while_new_contacts_fit_and_its_empty_blocks_are_zero)
{
    box_tets box = box_tets_make(3, 3, 3, 5);
    double *D = calloc((size_t)(9 * box.nv * box.nv), sizeof *D);
    int32_t row[8] = { 0, 5, 20, 63, 1, 2, 40, -1 };
    double val[2 * ABUT_PACKED];
    abut_rng rng = { 9 };
    spring_matrix(&rng, val), spring_matrix(&rng, val + ABUT_PACKED);
    abut_elements sets[2] = { { .corners = 4, .n = (size_t)box.nt, .row = box.tet, .val = box.val },
                              { .corners = 4, .n = 2, .row = row, .val = val } };
    abut_bsr A = { 0 };
    int changed = -1;
    CHECK(abut_bsr_pattern(&A, box.nv, sets, 2, NULL) == ABUT_OK);
    const size_t nnz = A.nnz;
    sets[1].n = 1;
    CHECK(abut_bsr_update(&A, sets, 2, 1, 1, &changed, NULL) == ABUT_OK);
    CHECK(!changed && A.nnz == nnz);
    abut_bsr_assemble(&A, NULL, sets, 2);
    dense_add(box.nv, D, &sets[0]);
    dense_add(box.nv, D, &sets[1]);
    check_equals_dense(&A, D);
    row[3] = 62;
    CHECK(abut_bsr_update(&A, sets, 2, 1, 1, &changed, NULL) == ABUT_OK);
    CHECK(changed && A.nnz > nnz);
    abut_bsr_clear(&A);
    box_tets_free(&box);
    free(D);
}

TEST(a_row_out_of_range_is_refused_by_name_and_leaves_the_matrix_as_it_was)
{
    box_tets box = box_tets_make(1, 1, 1, 5);
    int32_t row[4] = { 0, 1, 8, -1 };
    abut_elements sets[2] = { { .corners = 4, .n = (size_t)box.nt, .row = box.tet, .val = box.val },
                              { .corners = 4, .n = 1, .row = row } };
    abut_bsr A = { 0 };
    abut_err err = { 0 };
    CHECK(abut_bsr_pattern(&A, box.nv, sets, 2, &err) == ABUT_E_ARG);
    CHECK(strstr(err.msg, "element set 1, element 0, corner 2: row 8 is not in -1 .. 7"));
    CHECK(!A.plan && !A.ptr && A.n == 0);
    CHECK(abut_bsr_pattern(&A, box.nv, sets, 1, &err) == ABUT_OK);
    const size_t nnz = A.nnz;
    int changed;
    row[2] = -2;
    CHECK(abut_bsr_update(&A, sets, 2, 1, 0, &changed, &err) == ABUT_E_ARG);
    CHECK(A.nnz == nnz);
    CHECK(abut_bsr_update(&A, sets, 3, 2, 0, &changed, &err) == ABUT_E_ARG);
    abut_bsr_assemble(&A, NULL, sets, 1);
    abut_bsr_clear(&A);
    abut_bsr_clear(&A);
    box_tets_free(&box);
}

TEST(a_matrix_without_elements_is_its_diagonal_and_one_without_rows_is_empty)
{
    abut_bsr A = { 0 };
    const double diag[2] = { 2, 3 }, x[6] = { 1, 2, 3, 4, 5, 6 };
    double y[6];
    CHECK(abut_bsr_pattern(&A, 2, NULL, 0, NULL) == ABUT_OK);
    abut_bsr_assemble(&A, diag, NULL, 0);
    abut_bsr_multiply(&A, x, y);
    for (int i = 0; i < 6; i++) CHECK_NEAR(y[i], diag[i / 3] * x[i], 0);
    CHECK(abut_bsr_pattern(&A, 0, NULL, 0, NULL) == ABUT_OK);
    CHECK(A.nnz == 0 && A.ptr[0] == 0);
    abut_bsr_assemble(&A, NULL, NULL, 0);
    abut_bsr_clear(&A);
}

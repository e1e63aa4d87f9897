/* The order of small bandwidth, and the matrix in it. */
#include "box_tets.h"
#include "solve/baselines/ichol.h"

#include "check.h"

/* A matrix of single blocks: links[n][2] with numbers of their own, diagonal blocks 10 on the diagonal. */
static abut_bsr of_links(int32_t n, int nlinks, const int32_t (*link)[2])
{
    const size_t most = (size_t)n + (size_t)nlinks;
    abut_bsr A = { .n = n, .ptr = calloc((size_t)n + 1, sizeof *A.ptr), .row = malloc(most * sizeof *A.row),
                   .val = calloc(9 * most, sizeof *A.val) };
    for (int32_t c = 0; c < n; c++) {
        A.ptr[c] = A.nnz;
        for (int k = 0; k < 9; k += 4) A.val[9 * A.nnz + (size_t)k] = 10;
        A.row[A.nnz++] = c;
        for (int32_t r = c + 1; r < n; r++)
            for (int l = 0; l < nlinks; l++)
                if ((link[l][0] == c && link[l][1] == r) || (link[l][0] == r && link[l][1] == c)) {
                    for (int k = 0; k < 9; k++) A.val[9 * A.nnz + (size_t)k] = 1 + l + 0.1 * k;
                    A.row[A.nnz++] = r;
                }
    }
    A.ptr[n] = A.nnz;
    return A;
}

static int is_permutation(const int32_t *order, int32_t n)
{
    char *seen = calloc((size_t)n + 1, 1);
    int ok = 1;
    for (int32_t k = 0; k < n; k++) ok = ok && order[k] >= 0 && order[k] < n && !seen[order[k]]++;
    free(seen);
    return ok;
}

static int32_t bandwidth(const abut_bsr *A)
{
    int32_t most = 0;
    for (int32_t c = 0; c < A->n; c++)
        for (size_t b = A->ptr[c]; b < A->ptr[c + 1]; b++) most = A->row[b] - c > most ? A->row[b] - c : most;
    return most;
}

static double *dense(const abut_bsr *A)
{
    const size_t n = 3 * (size_t)A->n;
    double *D = calloc(n * n, sizeof *D);
    for (int32_t c = 0; c < A->n; c++)
        for (size_t b = A->ptr[c]; b < A->ptr[c + 1]; b++)
            for (size_t e = 0; e < 9; e++) {
                const size_t i = 3 * (size_t)A->row[b] + e / 3, j = 3 * (size_t)c + e % 3;
                D[i * n + j] = D[j * n + i] = A->val[9 * b + e];
            }
    return D;
}

/* B is A in that order, rows ascending in each column, the diagonal first. */
static void check_permuted(const abut_bsr *A, const int32_t *order, const abut_bsr *B)
{
    const size_t n = 3 * (size_t)A->n;
    double *DA = dense(A), *DB = dense(B);
    int same = 1;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            same = same && DB[i * n + j] == DA[(3 * (size_t)order[i / 3] + i % 3) * n + 3 * (size_t)order[j / 3] + j % 3];
    CHECK(same);
    CHECK(B->nnz == A->nnz && B->ptr[B->n] == B->nnz);
    for (int32_t c = 0; c < B->n; c++) {
        CHECK(B->row[B->ptr[c]] == c);
        for (size_t b = B->ptr[c] + 1; b < B->ptr[c + 1]; b++) CHECK(B->row[b] > B->row[b - 1]);
    }
    free(DA), free(DB);
}

TEST(a_scrambled_path_and_a_piece_apart_from_it_get_bandwidth_one)
{
    static const int32_t link[][2] = { { 3, 7 }, { 7, 0 }, { 0, 5 }, { 5, 2 }, { 2, 9 }, { 9, 4 }, { 1, 8 } };  /* 6 alone */
    abut_bsr A = of_links(10, 7, link), B = { 0 };
    int32_t order[10];
    CHECK(!abut_band_order(&A, order, NULL) && is_permutation(order, 10));
    CHECK(!abut_band_permuted(&A, order, &B, NULL));
    CHECK(bandwidth(&A) > 5 && bandwidth(&B) == 1);
    check_permuted(&A, order, &B);
    abut_bsr_clear(&A);
    abut_bsr_clear(&B);
}

TEST(a_long_box_has_the_band_of_its_sections_whatever_the_numbers_of_its_rows)
{
    box_tets box = box_tets_make(12, 2, 2, 5);
    abut_rng rng = { 3 };
    int32_t *number = malloc((size_t)box.nv * sizeof *number), *order = malloc((size_t)box.nv * sizeof *order);
    for (int32_t i = 0; i < box.nv; i++) number[i] = i;
    for (int32_t i = box.nv - 1; i > 0; i--) {
        const int32_t j = (int32_t)abut_rng_below(&rng, (uint32_t)i + 1), t = number[i];
        number[i] = number[j], number[j] = t;
    }
    for (int32_t k = 0; k < 4 * box.nt; k++) box.tet[k] = number[box.tet[k]];
    const abut_elements set = { .corners = 4, .n = (size_t)box.nt, .row = box.tet, .val = box.val };
    abut_bsr A = { 0 }, B = { 0 };
    double *diag = calloc((size_t)box.nv, sizeof *diag);
    CHECK(!abut_bsr_pattern(&A, box.nv, &set, 1, NULL));
    abut_bsr_assemble(&A, diag, &set, 1);
    CHECK(!abut_band_order(&A, order, NULL) && is_permutation(order, box.nv));
    CHECK(!abut_band_permuted(&A, order, &B, NULL));
    CHECK(bandwidth(&A) > 60 && bandwidth(&B) <= 2 * 9);      /* sections have nine nodes; a level joins two of them at most */
    check_permuted(&A, order, &B);
    free(diag), free(number), free(order);
    abut_bsr_clear(&A);
    abut_bsr_clear(&B);
    box_tets_free(&box);
}

TEST(a_matrix_without_rows_has_an_order)
{
    abut_bsr A = { .ptr = calloc(1, sizeof *A.ptr), .row = malloc(4), .val = malloc(8) }, B = { 0 };
    int32_t order[1];
    CHECK(!abut_band_order(&A, order, NULL) && !abut_band_permuted(&A, order, &B, NULL) && B.nnz == 0);
    abut_bsr_clear(&A);
    abut_bsr_clear(&B);
}

/* Sets of every kind, assembled and multiplied, against dense sums that know none of the code under test. */
#include "base/par.h"
#include "base/rng.h"
#include "sparse/operator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* ---- random sets ---- */

typedef struct world {
    abut_elements set;
    int32_t *row;
    double *val;
    abut_row_map W;         /* used where mapped */
    int mapped;             /* 0: no map; 1: W has 2 to 10 entries a row; 2: W selects */
} world;

static void give(void *ctx, size_t lo, size_t hi, double *val)
{
    const world *w = ctx;
    const size_t size = abut_element_size(&w->set);
    memcpy(val, w->val + size * lo, size * (hi - lo) * sizeof *val);
}

static void map_make(abut_rng *r, abut_row_map *W, int32_t rows, int32_t cols, int selects)
{
    *W = (abut_row_map){ .rows = rows, .cols = cols, .col = malloc(10 * (size_t)rows * sizeof *W->col) };
    if (!selects) W->first = calloc((size_t)rows + 1, sizeof *W->first);
    if (!selects) W->weight = malloc(10 * (size_t)rows * sizeof *W->weight);
    for (int32_t i = 0, k = 0; i < rows; i++) {
        const int32_t n = selects ? 1 : 2 + (int32_t)abut_rng_below(r, 9);
        for (int32_t j = 0; j < n; j++, k++) {     /* some of them eliminated, some twice in a row */
            W->col[k] = (int32_t)abut_rng_below(r, (uint32_t)cols + 1) - 1;
            if (!selects) W->weight[k] = abut_rng_real(r, -1, 1);
        }
        if (!selects) W->first[i + 1] = k;
    }
    CHECK(!abut_row_map_transpose(W, NULL));
}

/* Corners without a row, several corners in one; what must not be read is NaN. */
static world world_make(abut_rng *r, int32_t nrows, int corners, int rank, int made, int mapped, size_t n)
{
    world w = { .set = { .corners = corners, .rank = rank, .n = n }, .mapped = mapped };
    const int32_t rows = mapped ? nrows / 2 + 3 : nrows;
    const size_t size = abut_element_size(&w.set), c = (size_t)corners;
    w.row = malloc((c * n + 1) * sizeof *w.row);
    w.val = malloc((size * n + 1) * sizeof *w.val);
    if (mapped) map_make(r, &w.W, rows, nrows, mapped == 2);
    for (size_t k = 0; k < c * n; k++) w.row[k] = (int32_t)abut_rng_below(r, (uint32_t)rows + 1) - 1;
    for (size_t k = 0; k < size * n; k++) w.val[k] = abut_rng_real(r, -1, 1);
    for (size_t e = 0; e < n && !rank; e++) {
        double *H = w.val + size * e;
        for (size_t a = 0; a < c; a++)
            for (size_t b = a; b < c; b++, H += 9) {
                for (int i = 0; i < 9; i++) H[i] = w.row[c * e + a] < 0 || w.row[c * e + b] < 0 ? NAN : H[i];
                for (int i = 0; i < 3 && a == b; i++)
                    for (int j = 0; j < i; j++) H[3 * i + j] = H[3 * j + i];
            }
    }
    w.set.row = w.row;
    w.set.val = made ? NULL : w.val;
    w.set.make = made ? give : NULL;
    return w;
}

/* Sets pointers into w itself, at its final address. */
static void world_place(world *w)
{
    w->set.ctx = w;
    w->set.map = w->mapped ? &w->W : NULL;
}

static void world_free(world *w)
{
    free(w->row);
    free(w->val);
    abut_row_map_clear(&w->W);
}

/* ---- dense twins ---- */

/* Number (3 a + i, 3 b + j) of element e. */
static double number(const world *w, size_t e, size_t a, size_t b, size_t i, size_t j)
{
    const size_t c = (size_t)w->set.corners, size = abut_element_size(&w->set);
    const double *H = w->val + size * e;
    double sum = 0;
    for (int r = 0; r < w->set.rank; r++, H += 3 * c + 1) sum += H[0] * H[1 + 3 * a + i] * H[1 + 3 * b + j];
    if (w->set.rank) return sum;
    if (a > b) return number(w, e, b, a, j, i);
    size_t k = 0;
    for (size_t p = 0; p < a; p++) k += c - p;
    return H[9 * (k + b - a) + 3 * i + j];
}

/* D += W^T H W; W dense [rows x n] */
static void dense_add(const world *w, size_t n, double *D)
{
    const size_t c = (size_t)w->set.corners, rows = w->mapped ? (size_t)w->W.rows : n, n3 = 3 * n;
    double *W = calloc(rows * n, sizeof *W), *H = calloc(9 * rows * rows, sizeof *H), *HW = calloc(9 * rows * n, sizeof *HW);
    for (size_t i = 0; i < rows; i++)
        for (int32_t k = w->W.first ? w->W.first[i] : (int32_t)i; k < (w->W.first ? w->W.first[i + 1] : (int32_t)i + 1); k++) {
            if (!w->mapped) W[i * n + i] = 1;
            else if (w->W.col[k] >= 0) W[i * n + (size_t)w->W.col[k]] += w->W.first ? w->W.weight[k] : 1;
        }
    for (size_t e = 0; e < w->set.n; e++)
        for (size_t a = 0; a < c; a++)
            for (size_t b = 0; b < c; b++) {
                const int32_t r = w->row[c * e + a], s = w->row[c * e + b];
                for (size_t i = 0; r >= 0 && s >= 0 && i < 9; i++)
                    H[(3 * (size_t)r + i / 3) * 3 * rows + 3 * (size_t)s + i % 3] += number(w, e, a, b, i / 3, i % 3);
            }
    for (size_t i = 0; i < 3 * rows; i++)
        for (size_t k = 0; k < rows; k++)
            for (size_t j = 0; j < n3; j++) HW[i * n3 + j] += H[i * 3 * rows + 3 * k + j % 3] * W[k * n + j / 3];
    for (size_t k = 0; k < rows; k++)
        for (size_t i = 0; i < n3; i++)
            for (size_t j = 0; W[k * n + i / 3] != 0 && j < n3; j++)
                D[i * n3 + j] += W[k * n + i / 3] * HW[(3 * k + i % 3) * n3 + j];
    free(W), free(H), free(HW);
}

static void check_equals_dense(const abut_bsr *A, const double *D, double size)
{
    const size_t n3 = 3 * (size_t)A->n;
    double *S = calloc(n3 * n3, sizeof *S);
    for (size_t c = 0; c < (size_t)A->n; c++)
        for (size_t k = A->ptr[c]; k < A->ptr[c + 1]; k++) {
            const size_t r = (size_t)A->row[k];
            CHECK(k == A->ptr[c] ? r == c : r > c && A->row[k] > A->row[k - 1]);
            for (size_t i = 0; i < 9; i++) {
                S[(3 * r + i / 3) * n3 + 3 * c + i % 3] = A->val[9 * k + i];
                S[(3 * c + i % 3) * n3 + 3 * r + i / 3] = A->val[9 * k + i];
            }
        }
    for (size_t k = 0; k < n3 * n3; k++) CHECK_NEAR(S[k], D[k], 1e-13 * size);
    free(S);
}

static int same_matrix(const abut_bsr *A, const abut_bsr *B)
{
    return A->n == B->n && A->nnz == B->nnz && !memcmp(A->ptr, B->ptr, ((size_t)A->n + 1) * sizeof *A->ptr) &&
           !memcmp(A->row, B->row, A->nnz * sizeof *A->row) && !memcmp(A->val, B->val, 9 * A->nnz * sizeof *A->val);
}

static const int CORNERS[] = { 1, 2, 3, 4, 5, 10, 35 };
enum { KINDS = 7, N = 14 };

/* Visits every kind of set: corners, packed or of rank 1 and 3, stored and made, without a map, with one, with a selection. */
static world kind_make(abut_rng *r, int32_t n, int kind, size_t elements)
{
    static const int rank[3] = { 0, 1, 3 };
    return world_make(r, n, CORNERS[kind % KINDS], rank[kind / KINDS % 3], kind / KINDS / 3 % 2, kind / KINDS / 6, elements);
}
enum { ALL_KINDS = KINDS * 3 * 2 * 3 };

TEST(sets_of_every_kind_sum_to_the_dense_sum_alone_and_behind_another)
{
    abut_rng rng = { 17 };
    for (int kind = 0; kind < ALL_KINDS; kind++) {
        double diag[N], *D = calloc(9 * N * N, sizeof *D);
        world w[3];
        abut_elements sets[3];
        for (int i = 0; i < N; i++) diag[i] = abut_rng_real(&rng, 0, 1);
        for (size_t i = 0; i < 3 * N; i++) D[i * (3 * N + 1)] = diag[i / 3];
        for (int s = 0; s < 3; s++) {
            w[s] = kind_make(&rng, N, s == 1 ? (kind + 40) % ALL_KINDS : s ? 3 : kind, s == 1 ? 4 : 9);
            world_place(&w[s]);
            sets[s] = w[s].set;
        }
        for (int nsets = 1; nsets <= 3; nsets++) {
            abut_bsr A = { 0 };
            abut_err err = { 0 };
            dense_add(&w[nsets - 1], N, D);
            CHECK(!abut_bsr_pattern(&A, N, sets, nsets, &err));
            for (int twice = 0; twice < 2; twice++) {
                for (size_t k = 0; k < 9 * A.nnz; k++) A.val[k] = NAN;
                abut_bsr_assemble(&A, diag, sets, nsets);
                check_equals_dense(&A, D, 500);
            }
            abut_bsr_clear(&A);
        }
        for (int s = 0; s < 3; s++) world_free(&w[s]);
        free(D);
    }
}

TEST(sets_of_every_kind_have_the_same_bits_at_1_2_and_7_threads_and_an_update_equals_a_new_pattern)
{
    enum { ROWS = 2100, FEW = 1200 };
    const int threads[] = { 1, 2, 7 }, before = abut_threads();
    abut_rng rng = { 18 };
    for (int kind = 2; kind < ALL_KINDS; kind += 11) {
        const size_t c = (size_t)CORNERS[kind % KINDS];
        world w[3] = { world_make(&rng, ROWS, 4, 0, 1, 0, FEW), kind_make(&rng, ROWS, kind, FEW / (c * c) + 5),
                       kind_make(&rng, ROWS, kind, FEW / (c * c) + 5) };
        abut_bsr one = { 0 };
        abut_elements sets[3];
        for (int s = 0; s < 3; s++) world_place(&w[s]), sets[s] = w[s].set;
        for (int t = 0; t < 3; t++) {
            abut_bsr A = { 0 };
            int changed;
            abut_threads_set(threads[t]);
            if (t == 0) {
                CHECK(!abut_bsr_pattern(&one, ROWS, sets, 2, NULL));
                abut_bsr_assemble(&one, NULL, sets, 2);
            }
            abut_elements before_that[2] = { sets[0], sets[2] };
            CHECK(!abut_bsr_pattern(&A, ROWS, before_that, 2, NULL));
            abut_bsr_assemble(&A, NULL, before_that, 2);
            CHECK(!abut_bsr_update(&A, sets, 2, 1, 0, &changed, NULL) && changed == (c > 1 || w[1].mapped == 1));
            abut_bsr_assemble(&A, NULL, sets, 2);
            CHECK(same_matrix(&A, &one));
            CHECK(!abut_bsr_update(&A, sets, 2, 1, 0, &changed, NULL) && !changed);
            abut_bsr_assemble(&A, NULL, sets, 2);
            CHECK(same_matrix(&A, &one));
            abut_bsr_clear(&A);
        }
        abut_bsr_clear(&one);
        for (int s = 0; s < 3; s++) world_free(&w[s]);
    }
    abut_threads_set(before);
}

TEST(products_without_a_matrix_and_their_diagonals_equal_the_dense_ones)
{
    abut_rng rng = { 23 };
    for (int kind = 0; kind < ALL_KINDS; kind++) {
        double diag[N], x[3 * N], y[3 * N], B[9 * N], *D = calloc(9 * N * N, sizeof *D);
        world w[2] = { kind_make(&rng, N, kind, 9), kind_make(&rng, N, (kind + 31) % ALL_KINDS, 4) };
        abut_elements sets[2];
        abut_product *p = NULL;
        for (size_t i = 0; i < 3 * N; i++) x[i] = abut_rng_real(&rng, -1, 1);
        for (int i = 0; i < N; i++) diag[i] = abut_rng_real(&rng, 0, 1);
        for (size_t i = 0; i < 3 * N; i++) D[i * (3 * N + 1)] = diag[i / 3];
        for (int s = 0; s < 2; s++) world_place(&w[s]), sets[s] = w[s].set, dense_add(&w[s], N, D);
        for (int twice = 0; twice < 4; twice++) {     /* without, and with the first summed, which lasts */
            int lasted;
            CHECK(!abut_product_renew(&p, N, sets, 2, twice / 2, &lasted, NULL) && lasted == twice % 2);
            abut_product_set(p, diag, sets);
            abut_product_multiply(p, x, y);
            for (size_t i = 0; i < 3 * N; i++) {
                double want = 0;
                for (size_t j = 0; j < 3 * N; j++) want += D[i * 3 * N + j] * x[j];
                CHECK_NEAR(y[i], want, 1e-11);
            }
            abut_product_diagonal(p, B);
            for (size_t i = 0; i < 9 * N; i++)
                CHECK_NEAR(B[i], D[(3 * (i / 9) + i % 9 / 3) * 3 * N + 3 * (i / 9) + i % 3], 1e-11);
        }
        abut_product_free(&p);
        for (int s = 0; s < 2; s++) world_free(&w[s]);
        free(D);
    }
}

/* A reader that sums to D, the dense matrix of N rows. */
static void read_diagonal(void *ctx, const double *diag)
{
    double *D = ctx;
    for (size_t i = 0; i < 3 * N; i++) D[i * (3 * N + 1)] += diag[i / 3];
}

static void read_matrix(void *ctx, const abut_bsr *S)
{
    double *D = ctx;
    for (int32_t c = 0; c < S->n; c++)
        for (size_t b = S->ptr[c]; b < S->ptr[c + 1]; b++)
            for (size_t i = 0; i < 9; i++) {
                const size_t r = 3 * (size_t)S->row[b] + i / 3, s = 3 * (size_t)c + i % 3;
                D[3 * N * r + s] += S->val[9 * b + i];
                if (S->row[b] != c) D[3 * N * s + r] += S->val[9 * b + i];
            }
}

static double weight_of(const abut_row_map *W, int32_t row, int32_t col)
{
    double sum = 0;
    if (!W) return row == col;
    for (int32_t k = W->first[row]; k < W->first[row + 1]; k++) sum += W->col[k] == col ? W->weight[k] : 0;
    return sum;
}

static void read_elements(void *ctx, const abut_operator_elements *e)
{
    double *D = ctx;
    const size_t c = (size_t)e->corners;
    double room[9];
    for (size_t k = 0; k < e->n; k++)
        for (size_t a = 0; a < c; a++)
            for (size_t b = a; b < c; b++)
                for (size_t i = 0; i < 9 * N * N; i++) {
                    const double *H = abut_operator_block(e, k, (int)a, (int)b, room);
                    const int32_t r = (int32_t)(i / (9 * N)), s = (int32_t)(i % (3 * N) / 3);
                    const int32_t p = e->row[c * k + a], q = e->row[c * k + b];
                    if (p < 0 || q < 0) continue;
                    const size_t x = i / (3 * N) % 3, y = i % 3;
                    D[i] += weight_of(e->map, p, r) * weight_of(e->map, q, s) * H[3 * x + y];
                    if (b > a) D[i] += weight_of(e->map, q, r) * weight_of(e->map, p, s) * H[3 * y + x];
                }
}

TEST(the_element_matrices_that_a_product_hands_over_sum_to_the_dense_sum)
{
    abut_rng rng = { 23 };
    for (int kind = 0; kind < ALL_KINDS; kind++) {
        if (CORNERS[kind % KINDS] > 5) continue;
        double diag[N], *D = calloc(9 * N * N, sizeof *D), *S = calloc(9 * N * N, sizeof *S), size = 1;
        world w = kind_make(&rng, N, kind, 9);
        abut_product *p = NULL;
        world_place(&w);
        for (int i = 0; i < N; i++) diag[i] = abut_rng_real(&rng, 0, 1);
        read_diagonal(D, diag);
        dense_add(&w, N, D);
        for (size_t i = 0; i < 9 * N * N; i++) size = fmax(size, fabs(D[i]));
        for (int summed = 0; summed < 2; summed++) {
            memset(S, 0, 9 * N * N * sizeof *S);
            CHECK(!abut_product_make(&p, N, &w.set, 1, summed, NULL));
            abut_product_set(p, diag, &w.set);
            const abut_operator_reader to = { read_diagonal, read_elements, S, read_matrix };
            CHECK(!abut_product_read(p, 1, &to, NULL));
            for (size_t i = 0; i < 9 * N * N; i++) CHECK_NEAR(S[i], D[i], 1e-13 * size);
            abut_product_free(&p);
        }
        world_free(&w);
        free(D), free(S);
    }
}

TEST(products_without_a_matrix_have_the_same_bits_at_1_2_and_7_threads)
{
    enum { ROWS = 2100, FEW = 1200 };
    const int threads[] = { 1, 2, 7 }, before = abut_threads();
    abut_rng rng = { 24 };
    double *num = malloc(27 * ROWS * sizeof *num), *x = num, *y = num + 3 * ROWS, *D = num + 6 * ROWS, *first = num + 15 * ROWS;
    for (size_t i = 0; i < 3 * ROWS; i++) x[i] = abut_rng_real(&rng, -1, 1);
    for (int kind = 1; kind < ALL_KINDS; kind += 9) {
        const size_t c = (size_t)CORNERS[kind % KINDS];
        world w = kind_make(&rng, ROWS, kind, FEW / c + 5);
        abut_product *p = NULL;
        world_place(&w);
        CHECK(!abut_product_make(&p, ROWS, &w.set, 1, 0, NULL));
        abut_product_set(p, NULL, &w.set);
        for (int t = 0; t < 3; t++) {
            abut_threads_set(threads[t]);
            abut_product_multiply(p, x, y);
            abut_product_diagonal(p, D);
            if (t == 0) memcpy(first, D, 9 * ROWS * sizeof *D), memcpy(first + 9 * ROWS, y, 3 * ROWS * sizeof *y);
            CHECK(!memcmp(first, D, 9 * ROWS * sizeof *D) && !memcmp(first + 9 * ROWS, y, 3 * ROWS * sizeof *y));
        }
        abut_product_free(&p);
        world_free(&w);
    }
    abut_threads_set(before);
    free(num);
}

TEST(a_set_of_four_corners_has_the_bits_of_the_same_elements_with_a_fifth_unused)
{
    abut_rng rng = { 19 };
    for (int mapped = 0; mapped < 3; mapped++) {
        world w = world_make(&rng, N, 4, 0, 0, mapped, 40);
        int32_t row[5 * 40];
        double *val = malloc(135 * 40 * sizeof *val);
        for (size_t k = 0; k < 135 * 40; k++) val[k] = NAN;
        for (size_t e = 0; e < 40; e++) {
            const double *H = w.val + 90 * e;
            memcpy(row + 5 * e, w.row + 4 * e, 4 * sizeof *row);
            row[5 * e + 4] = -1;
            for (int a = 0; a < 4; a++)
                for (int b = a; b < 4; b++, H += 9) memcpy(val + 135 * e + 9 * abut_packed_block(5, a, b), H, 9 * sizeof *H);
        }
        world_place(&w);
        abut_elements five = w.set;
        five.corners = 5, five.row = row, five.val = val;
        abut_bsr A = { 0 }, B = { 0 };
        CHECK(!abut_bsr_pattern(&A, N, &w.set, 1, NULL) && !abut_bsr_pattern(&B, N, &five, 1, NULL));
        abut_bsr_assemble(&A, NULL, &w.set, 1);
        abut_bsr_assemble(&B, NULL, &five, 1);
        CHECK(same_matrix(&A, &B));
        abut_bsr_clear(&A), abut_bsr_clear(&B);
        world_free(&w);
        free(val);
    }
}

TEST(blocks_on_the_diagonal_of_a_mapped_set_are_symmetric_to_the_last_bit)
{
    abut_rng rng = { 22 };
    for (int rank = 0; rank < 3; rank++) {
        world w = world_make(&rng, N, 4, rank, 0, 1, 9);
        for (int32_t k = 0; k < 36; k++) w.row[k] = (k + k / 4) % w.W.rows;     /* four different vertices each */
        for (size_t k = 0; k < 9 * abut_element_size(&w.set); k++)
            if (isnan(w.val[k])) w.val[k] = 0;
        world_place(&w);
        abut_bsr A = { 0 };
        CHECK(!abut_bsr_pattern(&A, N, &w.set, 1, NULL));
        abut_bsr_assemble(&A, NULL, &w.set, 1);
        for (int32_t c = 0; c < N; c++)
            for (size_t i = 0; i < 9; i++) CHECK(A.val[9 * A.ptr[c] + i] == A.val[9 * A.ptr[c] + 3 * (i % 3) + i / 3]);
        abut_bsr_clear(&A);
        world_free(&w);
    }
}

TEST(a_mapped_set_adds_no_blocks_for_vertices_that_no_element_has)
{
    abut_rng rng = { 20 };
    abut_row_map W;
    map_make(&rng, &W, 40, N, 0);
    const int32_t row[3] = { 7, 7, -1 };
    double val[54] = { 0 };
    const abut_elements set = { .corners = 3, .n = 1, .row = row, .val = val, .map = &W };
    abut_bsr A = { 0 };
    CHECK(!abut_bsr_pattern(&A, N, &set, 1, NULL));
    size_t below = 0;
    for (int32_t k = W.first[7]; k < W.first[8]; k++)
        for (int32_t j = W.first[7]; j < W.first[8]; j++) below += W.col[j] >= 0 && W.col[k] > W.col[j];
    CHECK(A.nnz <= N + below && A.nnz > N);
    abut_bsr_clear(&A);
    abut_row_map_clear(&W);
}

/* ---- what is refused ---- */

static void check_refused(abut_elements set, const char *why)
{
    abut_bsr A = { 0 };
    abut_err err = { 0 };
    CHECK(abut_bsr_pattern(&A, N, &set, 1, &err) == ABUT_E_ARG);
    if (!strstr(err.msg, why)) printf("# %s, want %s\n", err.msg, why);
    CHECK(strstr(err.msg, why));
    CHECK(!A.plan && !A.n);
}

TEST(corners_ranks_maps_and_numbers_of_sets_out_of_range_are_refused)
{
    int32_t row[4] = { 0, 1, 2, 3 }, col[2] = { 3, N }, first[3] = { 0, 1, 2 };
    double weight[2] = { 1, 1 };
    abut_row_map W = { .rows = 2, .cols = N - 1, .col = col };
    const abut_elements set = { .corners = 4, .n = 1, .row = row };
    abut_elements e = set;
    e.corners = 0;
    check_refused(e, "element set 0 has 0 corners, want 1 .. 35");
    e.corners = 36;
    check_refused(e, "element set 0 has 36 corners");
    e = set, e.rank = 13;
    check_refused(e, "of rank 13, want 0 .. 12");
    e = set, e.map = &W;
    check_refused(e, "its map has 13 columns, want 14");
    W.cols = N;
    check_refused(e, "element 0, corner 2: row 2 is not in -1 .. 1");
    row[2] = row[3] = -1;
    check_refused(e, "element 0, corner 1: row 14 is not in -1 .. 13");
    W.first = first, W.weight = weight;
    check_refused(e, "its map has no transpose");
    abut_err err = { 0 };
    CHECK(abut_row_map_transpose(&W, &err) == ABUT_E_ARG && strstr(err.msg, "entry 1: column 14 is not in -1 .. 13"));
    first[1] = 3;
    CHECK(abut_row_map_transpose(&W, &err) == ABUT_E_ARG && strstr(err.msg, "row 1 ends at 2, before its begin 3"));
    const int32_t begins = W.first[0];
    W.first[0] = 1;
    CHECK(abut_row_map_transpose(&W, &err) == ABUT_E_ARG && strstr(err.msg, "the first row begins at 1, want 0"));
    W.first[0] = begins;
    const abut_elements many[ABUT_SETS_MAX + 1] = { { 0 } };
    abut_bsr A = { 0 };
    CHECK(!abut_bsr_pattern(&A, N, many, ABUT_SETS_MAX, NULL));
    CHECK(abut_bsr_pattern(&A, N, many, ABUT_SETS_MAX + 1, &err) == ABUT_E_ARG && strstr(err.msg, "17 element sets, at most 16"));
    abut_product *p = NULL;
    CHECK(abut_product_make(&p, N, many, ABUT_SETS_MAX + 1, 0, &err) == ABUT_E_ARG && !p);
    CHECK(strstr(err.msg, "product: 17 element sets, at most 16"));
    for (int lasted, again = 0; again < 2; again++)
        CHECK(!abut_product_renew(&p, N, many, ABUT_SETS_MAX, 0, &lasted, &err) && p && lasted == again);
    abut_product_free(&p);
}

TEST(a_row_map_and_its_transpose_are_adjoint_and_equal_the_dense_product)
{
    abut_rng rng = { 21 };
    for (int selects = 0; selects < 2; selects++) {
        abut_row_map W;
        map_make(&rng, &W, 31, N, selects);
        double x[3 * N], y[93], z[93], back[3 * N] = { 0 }, dot[2] = { 0 };
        for (int i = 0; i < 3 * N; i++) x[i] = abut_rng_real(&rng, -1, 1);
        for (int i = 0; i < 93; i++) z[i] = abut_rng_real(&rng, -1, 1);
        abut_row_map_apply(&W, x, y);
        for (int32_t i = 0; i < 31; i++)
            for (int d = 0; d < 3; d++) {
                double want = 0;
                for (int32_t k = selects ? i : W.first[i]; k < (selects ? i + 1 : W.first[i + 1]); k++)
                    if (W.col[k] >= 0) want += (selects ? 1 : W.weight[k]) * x[3 * W.col[k] + d];
                CHECK_NEAR(y[3 * i + d], want, 1e-14);
            }
        abut_row_map_apply_transposed(&W, z, back);
        for (int i = 0; i < 93; i++) dot[0] += y[i] * z[i];
        for (int i = 0; i < 3 * N; i++) dot[1] += back[i] * x[i];
        CHECK_NEAR(dot[0], dot[1], 1e-12);
        abut_row_map_clear(&W);
    }
}

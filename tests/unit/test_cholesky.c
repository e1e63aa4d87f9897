#include "base/par.h"
#include "box_tets.h"
#include "sparse/own/cholesky.h"
#include "graph/graph.h"

#include "check.h"

typedef struct fixture {
    box_tets box;
    abut_elements set;
    abut_bsr A;
    double *diag, *b, *x, *y;
    int32_t *perm;      /* random */
} fixture;

static fixture fixture_make(int nx, int ny, int nz)
{
    fixture f = { .box = box_tets_make(nx, ny, nz, 11) };
    const size_t n = (size_t)f.box.nv;
    f.set = (abut_elements){ .corners = 4, .n = (size_t)f.box.nt, .row = f.box.tet, .val = f.box.val };
    f.diag = malloc(n * sizeof *f.diag);
    f.b = malloc(3 * n * sizeof *f.b);
    f.x = malloc(3 * n * sizeof *f.x);
    f.y = malloc(3 * n * sizeof *f.y);
    f.perm = malloc(n * sizeof *f.perm);
    abut_rng r = { 12 };
    for (size_t i = 0; i < n; i++) f.diag[i] = abut_rng_real(&r, 0.01, 0.1);
    for (size_t i = 0; i < 3 * n; i++) f.b[i] = abut_rng_real(&r, -1, 1);
    for (size_t i = 0; i < n; i++) {
        const size_t j = abut_rng_below(&r, (uint32_t)i + 1);
        f.perm[i] = f.perm[j];
        f.perm[j] = (int32_t)i;
    }
    if (abut_bsr_pattern(&f.A, f.box.nv, &f.set, 1, NULL)) abort();
    abut_bsr_assemble(&f.A, f.diag, &f.set, 1);
    return f;
}

static void fixture_free(fixture *f)
{
    box_tets_free(&f->box);
    abut_bsr_clear(&f->A);
    free(f->diag), free(f->b), free(f->x), free(f->y), free(f->perm);
}

/* |A x - b| / |b|, by the matrix itself */
static double residual(fixture *f)
{
    double r2 = 0, b2 = 0;
    abut_bsr_multiply(&f->A, f->x, f->y);
    for (int i = 0; i < 3 * f->box.nv; i++) {
        r2 += (f->y[i] - f->b[i]) * (f->y[i] - f->b[i]);
        b2 += f->b[i] * f->b[i];
    }
    return sqrt(r2 / b2);
}

TEST(a_solve_leaves_no_residual_for_natural_random_and_amd_orderings)
{
    fixture f = fixture_make(7, 6, 5);
    int32_t *natural = malloc((size_t)f.box.nv * sizeof *natural);
    for (int32_t i = 0; i < f.box.nv; i++) natural[i] = i;
    const int32_t *order[] = { natural, f.perm, NULL };
    for (int k = 0; k < 3; k++)
        for (int threads = 1; threads <= 3; threads++) {
            abut_chol *c = NULL;
            abut_err err = { 0 };
            CHECK(abut_chol_new(&c, &f.A, order[k], threads, &err) == ABUT_OK);
            CHECK(abut_chol_factor(c, &f.A, &err) == ABUT_OK);
            CHECK(abut_chol_solve(c, f.b, f.x, &err) == ABUT_OK);
            CHECK(residual(&f) < 1e-12);
            memcpy(f.x, f.b, 3 * (size_t)f.box.nv * sizeof *f.x);
            CHECK(abut_chol_solve(c, f.x, f.x, &err) == ABUT_OK);
            CHECK(residual(&f) < 1e-12);
            abut_chol_free(&c);
        }
    free(natural);
    fixture_free(&f);
}

/* Factors and solves into x: bits to compare. */
static void factor_and_solve(fixture *f, abut_chol *c, double *x)
{
    CHECK(abut_chol_factor(c, &f->A, NULL) == ABUT_OK);
    CHECK(abut_chol_solve(c, f->b, x, NULL) == ABUT_OK);
}

TEST(a_factor_has_the_same_bits_for_every_thread_count)
{
    fixture f = fixture_make(15, 14, 13);   /* wide supernodes of several panels and tiles, many subtrees */
    const size_t bytes = 3 * (size_t)f.box.nv * sizeof *f.x;
    const int threads[] = { 1, 2, 3, 7 }, before = abut_threads();
    int32_t *perm = malloc((size_t)f.box.nv * sizeof *perm);
    CHECK(abut_graph_order_nested_dissection(abut_bsr_graph(&f.A), perm, NULL) == ABUT_OK);
    for (int t = 0; t < 4; t++) {
        abut_chol *c = NULL;
        abut_threads_set(threads[3 - t]);   /* the setting outside does not matter either, and stays */
        CHECK(abut_chol_new(&c, &f.A, perm, threads[t], NULL) == ABUT_OK);
        factor_and_solve(&f, c, f.x);
        if (t == 0) {
            CHECK(residual(&f) < 1e-12);
            memcpy(f.y, f.x, bytes);
        }
        CHECK(memcmp(f.x, f.y, bytes) == 0);
        CHECK(abut_threads() == threads[3 - t]);
        abut_chol_free(&c);
    }
    abut_threads_set(before);
    free(perm);
    fixture_free(&f);
}

TEST(a_single_precision_factor_has_the_same_bits_for_every_thread_count_and_solves_to_single_precision)
{
    fixture f = fixture_make(15, 14, 13);
    const size_t n = 3 * (size_t)f.box.nv;
    double *exact = malloc(n * sizeof *exact), worst = 0, largest = 0;
    abut_chol *c = NULL;
    CHECK(abut_chol_new(&c, &f.A, NULL, 1, NULL) == ABUT_OK);
    factor_and_solve(&f, c, exact);
    abut_chol_free(&c);
    for (int threads = 1; threads <= 7; threads += 3) {
        CHECK(abut_chol_new(&c, &f.A, NULL, threads, NULL) == ABUT_OK);
        const size_t bytes = abut_chol_get_stats(c).bytes;
        CHECK(abut_chol_factor_single(c, &f.A, NULL) == ABUT_OK);
        CHECK(abut_chol_get_stats(c).bytes < 0.6 * (double)bytes);
        CHECK(abut_chol_solve(c, f.b, f.x, NULL) == ABUT_OK);
        if (threads == 1) memcpy(f.y, f.x, n * sizeof *f.x);
        CHECK(memcmp(f.x, f.y, n * sizeof *f.x) == 0);
        abut_chol_free(&c);
    }
    for (size_t i = 0; i < n; i++) worst = fmax(worst, fabs(f.x[i] - exact[i])), largest = fmax(largest, fabs(exact[i]));
    CHECK(worst < 1e-4 * largest);
    CHECK(worst > 1e-9 * largest);      /* it is single */
    free(exact);
    fixture_free(&f);
}

TEST(no_right_hand_side_is_out_of_the_range_of_a_single_precision_factor)
{
    fixture f = fixture_make(3, 3, 3);
    const size_t n = 3 * (size_t)f.box.nv;
    const double scale[] = { 1, 1e-200, 1e200, 5e-310, 0 };
    abut_chol *c = NULL;
    CHECK(abut_chol_new(&c, &f.A, NULL, 1, NULL) == ABUT_OK);
    CHECK(abut_chol_factor_single(c, &f.A, NULL) == ABUT_OK);
    CHECK(abut_chol_solve(c, f.b, f.y, NULL) == ABUT_OK);
    for (int k = 0; k < 5; k++) {
        double *b = malloc(n * sizeof *b);
        for (size_t i = 0; i < n; i++) b[i] = scale[k] * f.b[i];
        CHECK(abut_chol_solve(c, b, f.x, NULL) == ABUT_OK);
        for (size_t i = 0; i < n; i++) CHECK_NEAR(f.x[i], scale[k] * f.y[i], 1e-4 * scale[k] * (1 + fabs(f.y[i])));
        free(b);
    }
    abut_chol_free(&c);
    fixture_free(&f);
}

TEST(nothing_is_left_over_from_other_values_failures_and_patterns)
{
    fixture f = fixture_make(7, 6, 5), g = fixture_make(5, 5, 9);
    const size_t bytes = 3 * (size_t)f.box.nv * sizeof *f.x;
    abut_chol *c = NULL;
    CHECK(abut_chol_new(&c, &f.A, f.perm, 2, NULL) == ABUT_OK);
    factor_and_solve(&f, c, f.y);
    for (int32_t k = 0; k < f.box.nv; k++) f.A.val[9 * f.A.ptr[k]] += 100;
    factor_and_solve(&f, c, f.x);
    CHECK(memcmp(f.x, f.y, bytes) != 0);
    CHECK(abut_chol_factor_single(c, &f.A, NULL) == ABUT_OK);
    abut_bsr_assemble(&f.A, f.b, &f.set, 1);
    CHECK(abut_chol_factor_single(c, &f.A, NULL) == ABUT_E_NUMERIC);
    CHECK(abut_chol_solve(c, f.b, f.x, NULL) == ABUT_E_ARG);
    CHECK(abut_chol_factor(c, &f.A, NULL) == ABUT_E_NUMERIC);
    abut_bsr_assemble(&f.A, f.diag, &f.set, 1);
    factor_and_solve(&f, c, f.x);
    CHECK(memcmp(f.x, f.y, bytes) == 0);
    CHECK(abut_chol_renew(c, &g.A, g.perm, NULL) == ABUT_OK);
    factor_and_solve(&g, c, g.x);
    CHECK(residual(&g) < 1e-12);
    g.perm[0] = -1;
    CHECK(abut_chol_renew(c, &g.A, g.perm, NULL) == ABUT_E_ARG);
    CHECK(abut_chol_factor(c, &g.A, NULL) == ABUT_E_ARG);
    CHECK(abut_chol_renew(c, &f.A, f.perm, NULL) == ABUT_OK);
    CHECK(abut_chol_solve(c, f.b, f.x, NULL) == ABUT_E_ARG);
    factor_and_solve(&f, c, f.x);
    CHECK(memcmp(f.x, f.y, bytes) == 0);
    abut_chol_free(&c);
    fixture_free(&f);
    fixture_free(&g);
}

TEST(the_pivot_reported_does_not_depend_on_the_thread_count)
{
    fixture f = fixture_make(7, 6, 5);
    abut_err err[4] = { 0 };
    abut_bsr_assemble(&f.A, f.b, &f.set, 1);    /* many bad pivots all over the tree */
    for (int t = 0; t < 4; t++) {
        abut_chol *c = NULL;
        CHECK(abut_chol_new(&c, &f.A, f.perm, t + 1, NULL) == ABUT_OK);
        CHECK(abut_chol_factor(c, &f.A, &err[t]) == ABUT_E_NUMERIC);
        CHECK(strcmp(err[t].msg, err[0].msg) == 0);
        abut_chol_free(&c);
    }
    fixture_free(&f);
}

TEST(an_indefinite_matrix_is_refused_with_its_row_and_a_later_definite_one_is_factored)
{
    fixture f = fixture_make(4, 4, 4);
    abut_chol *c = NULL;
    abut_err err = { 0 };
    CHECK(abut_chol_new(&c, &f.A, f.perm, 1, &err) == ABUT_OK);
    CHECK(abut_chol_solve(c, f.b, f.x, &err) == ABUT_E_ARG);
    const double bad[] = { -1e3, NAN, INFINITY };
    for (int k = 0; k < 3; k++) {
        const size_t at = 9 * f.A.ptr[f.perm[0]] + 4;   /* eliminated first, or nearly: the pivot is the entry */
        const double good = f.A.val[at];
        f.A.val[at] = bad[k];
        CHECK(abut_chol_factor(c, &f.A, &err) == ABUT_E_NUMERIC);
        CHECK(strstr(err.msg, "is not positive"));
        if (k == 0) {
            char want[80];
            snprintf(want, sizeof want, "pivot %d is not positive (block row %d, component 1)", 3 * f.perm[0] + 1, f.perm[0]);
            CHECK(strstr(err.msg, want));
        }
        CHECK(abut_chol_solve(c, f.b, f.x, &err) == ABUT_E_ARG);
        f.A.val[at] = good;
        CHECK(abut_chol_factor(c, &f.A, &err) == ABUT_OK);
        CHECK(abut_chol_solve(c, f.b, f.x, &err) == ABUT_OK);
        CHECK(residual(&f) < 1e-12);
    }
    abut_chol_free(&c);
    abut_chol_free(&c);
    fixture_free(&f);
}

TEST(a_factor_outlives_its_matrix)
{
    fixture f = fixture_make(4, 4, 4);
    abut_chol *c = NULL;
    CHECK(abut_chol_new(&c, &f.A, NULL, 1, NULL) == ABUT_OK);
    CHECK(abut_chol_factor(c, &f.A, NULL) == ABUT_OK);
    abut_bsr_clear(&f.A);
    CHECK(abut_chol_solve(c, f.b, f.x, NULL) == ABUT_OK);
    CHECK(abut_bsr_pattern(&f.A, f.box.nv, &f.set, 1, NULL) == ABUT_OK);
    abut_bsr_assemble(&f.A, f.diag, &f.set, 1);
    CHECK(residual(&f) < 1e-12);
    abut_chol_free(&c);
    fixture_free(&f);
}

TEST(bad_orderings_thread_counts_and_other_patterns_are_refused)
{
    fixture f = fixture_make(2, 2, 2), g = fixture_make(3, 2, 2);
    abut_chol *c = NULL;
    abut_err err = { 0 };
    CHECK(abut_chol_new(&c, &f.A, NULL, 0, &err) == ABUT_E_ARG);
    f.perm[3] = f.perm[5];
    CHECK(abut_chol_new(&c, &f.A, f.perm, 1, &err) == ABUT_E_ARG && strstr(err.msg, "met before"));
    f.perm[3] = f.box.nv;
    CHECK(abut_chol_new(&c, &f.A, f.perm, 1, &err) == ABUT_E_ARG && !c);
    const abut_bsr many_rows = { .n = INT32_MAX / 3 + 1 }, many_blocks = { .n = 1, .nnz = (size_t)INT32_MAX + 1 };
    CHECK(abut_chol_new(&c, &many_rows, NULL, 1, &err) == ABUT_E_ARG && strstr(err.msg, "715827883 block rows"));
    CHECK(abut_chol_new(&c, &many_blocks, NULL, 1, &err) == ABUT_E_ARG && strstr(err.msg, "2147483648 blocks: too many"));
    CHECK(abut_chol_new(&c, &f.A, NULL, 1, &err) == ABUT_OK);
    CHECK(abut_chol_factor(c, &g.A, &err) == ABUT_E_ARG);
    abut_chol_free(&c);
    fixture_free(&f);
    fixture_free(&g);
}

TEST(the_counts_of_a_dense_block_are_those_of_dense_cholesky)
{
    const int32_t row[4] = { 0, 1, 2, 3 };
    const abut_elements set = { .corners = 4, .n = 1, .row = row };
    abut_bsr A = { 0 };
    abut_chol *c = NULL;
    CHECK(abut_bsr_pattern(&A, 4, &set, 1, NULL) == ABUT_OK);
    CHECK(abut_chol_new(&c, &A, NULL, 1, NULL) == ABUT_OK);
    const abut_chol_stats s = abut_chol_get_stats(c);
    CHECK_NEAR(s.factor_nnz, 12 * 13 / 2, 0);
    CHECK_NEAR(s.factor_flops, 12 * 13 * 25 / 6, 0);   /* sum of squares of the column lengths */
    abut_chol_free(&c);
    CHECK(abut_bsr_pattern(&A, 0, NULL, 0, NULL) == ABUT_OK);
    CHECK(abut_chol_new(&c, &A, NULL, 1, NULL) == ABUT_OK);
    CHECK(abut_chol_factor(c, &A, NULL) == ABUT_OK);
    CHECK(abut_chol_solve(c, NULL, NULL, NULL) == ABUT_OK);
    abut_chol_free(&c);
    abut_bsr_clear(&A);
}

/* Block (i, j) of a dense matrix of n blocks: symmetric, dominated by its diagonal. */
static double dense_entry(int n, int i, int j)
{
    return i == j ? 3.0 * n : cos(1.0 + (i < j ? i + 7.0 * j : j + 7.0 * i));
}

/* The matrix of those blocks, and b = A 1. */
static void dense_make(int n, abut_bsr *A, double *b)
{
    const size_t n3 = 3 * (size_t)n;
    int32_t *row = malloc(2 * (size_t)n * (size_t)(n + 1) * sizeof *row);
    size_t e = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) memcpy(row + 4 * e++, (int32_t[]){ i, i == j ? -1 : j, -1, -1 }, 4 * sizeof *row);
    const abut_elements set = { .corners = 4, .n = e, .row = row };
    CHECK(abut_bsr_pattern(A, n, &set, 1, NULL) == ABUT_OK);
    for (int c = 0; c < n; c++)
        for (size_t k = A->ptr[c]; k < A->ptr[c + 1]; k++)
            for (int a = 0; a < 9; a++) A->val[9 * k + (size_t)a] = dense_entry(3 * n, 3 * A->row[k] + a / 3, 3 * c + a % 3);
    for (size_t i = 0; i < n3; i++) {
        b[i] = 0;
        for (size_t j = 0; j < n3; j++) b[i] += dense_entry(3 * n, (int)i, (int)j);
    }
    free(row);
}

static void check_ones(int n, const double *x, double tolerance)
{
    double worst = 0;
    for (int i = 0; i < 3 * n; i++) worst = fmax(worst, isnan(x[i]) ? INFINITY : fabs(x[i] - 1));
    CHECK_NEAR(worst, 0, tolerance);
}

/* Every size of the last group, and of the last panel, has its own edges. */
TEST(dense_matrices_of_all_sizes_about_a_group_and_a_panel_are_solved_in_double_and_in_single)
{
    static const int sizes[] = { 1, 2, 3, 7, 8, 9, 15, 16, 17, 23, 63, 64, 65, 71, 127, 128, 129, 136, 137, 193 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const int n = sizes[k];
        int32_t *natural = malloc((size_t)n * sizeof *natural);
        double *b = malloc(3 * (size_t)n * sizeof *b), *x = malloc(3 * (size_t)n * sizeof *x);
        for (int i = 0; i < n; i++) natural[i] = i;
        abut_bsr A = { 0 };
        abut_chol *c = NULL;
        dense_make(n, &A, b);
        CHECK(abut_chol_new(&c, &A, natural, 2, NULL) == ABUT_OK);
        CHECK(abut_chol_factor(c, &A, NULL) == ABUT_OK);
        CHECK(abut_chol_solve(c, b, x, NULL) == ABUT_OK);
        check_ones(n, x, 1e-13);
        CHECK(abut_chol_factor_single(c, &A, NULL) == ABUT_OK);
        CHECK(abut_chol_solve(c, b, x, NULL) == ABUT_OK);
        check_ones(n, x, 3e-6);
        abut_chol_free(&c);
        abut_bsr_clear(&A);
        free(natural), free(b), free(x);
    }
}

/* Panels of half a million numbers and more are substituted by several tasks, which are few in boxes that a test can afford. */
SLOW_TEST(a_solution_through_wide_panels_has_the_same_bits_for_every_thread_count)
{
    const int n = 1100;
    const size_t bytes = 3 * (size_t)n * sizeof(double);
    double *b = malloc(bytes), *x = malloc(bytes), *first = malloc(bytes);
    abut_bsr A = { 0 };
    dense_make(n, &A, b);
    for (int single = 0; single < 2; single++) {
        for (int threads = 1; threads <= 3; threads++) {
            abut_chol *c = NULL;
            CHECK(abut_chol_new(&c, &A, NULL, threads, NULL) == ABUT_OK);
            CHECK((single ? abut_chol_factor_single : abut_chol_factor)(c, &A, NULL) == ABUT_OK);
            CHECK(abut_chol_solve(c, b, x, NULL) == ABUT_OK);
            check_ones(n, x, single ? 3e-5 : 1e-12);
            if (threads == 1) memcpy(first, x, bytes);
            CHECK(memcmp(first, x, bytes) == 0);
            abut_chol_free(&c);
        }
    }
    abut_bsr_clear(&A);
    free(b), free(x), free(first);
}

/* Five boxes that do not touch, their rows mixed. */
TEST(parts_that_are_wanted_have_the_bits_of_the_whole_solution_and_the_others_stay)
{
    enum { BOXES = 5 };
    fixture f = fixture_make(4, 3, 3);
    const size_t nv = (size_t)f.box.nv, nt = (size_t)f.box.nt, n = BOXES * nv;
    int32_t *row = malloc(4 * BOXES * nt * sizeof *row), *place = malloc(n * sizeof *place);
    double *val = malloc(BOXES * nt * 90 * sizeof *val), *diag = malloc(n * sizeof *diag), *b = malloc(3 * n * sizeof *b);
    double *x = malloc(3 * n * sizeof *x), *y = malloc(3 * n * sizeof *y);
    uint8_t *wanted = calloc(n, 1);
    abut_rng r = { 31 };
    abut_bsr A = { 0 };
    abut_chol *c = NULL;
    size_t same = 0, stayed = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t j = abut_rng_below(&r, (uint32_t)i + 1);
        place[i] = place[j];
        place[j] = (int32_t)i;
    }
    for (size_t k = 0; k < BOXES; k++) {
        for (size_t i = 0; i < 4 * nt; i++) row[4 * k * nt + i] = place[k * nv + (size_t)f.box.tet[i]];
        memcpy(val + 90 * k * nt, f.box.val, 90 * nt * sizeof *val);
    }
    for (size_t i = 0; i < n; i++) diag[i] = abut_rng_real(&r, 0.01, 0.1);
    for (size_t i = 0; i < 3 * n; i++) b[i] = abut_rng_real(&r, -1, 1);
    const abut_elements set = { .corners = 4, .n = BOXES * nt, .row = row, .val = val };
    CHECK(!abut_bsr_pattern(&A, (int32_t)n, &set, 1, NULL));
    abut_bsr_assemble(&A, diag, &set, 1);
    for (int threads = 1; threads <= 7; threads += 3) {
        CHECK(!abut_chol_new(&c, &A, NULL, threads, NULL) && !abut_chol_factor(c, &A, NULL));
        CHECK(!abut_chol_solve(c, b, x, NULL));
        memset(wanted, 0, n);
        wanted[place[nv + 3]] = wanted[place[nv + 7]] = wanted[place[4 * nv]] = 1;      /* of the second and of the last */
        for (size_t i = 0; i < 3 * n; i++) y[i] = 77;
        CHECK(!abut_chol_solve_parts(c, wanted, b, y, NULL));
        for (size_t k = 0; k < n; k++) {
            const size_t i = 3 * (size_t)place[k];
            if (k / nv == 1 || k / nv == 4) same += !memcmp(x + i, y + i, 3 * sizeof *x);
            else stayed += y[i] == 77 && y[i + 1] == 77 && y[i + 2] == 77;
        }
        abut_chol_free(&c);
    }
    CHECK(same == 3 * 2 * nv && stayed == 3 * 3 * nv);
    free(row), free(place), free(val), free(diag), free(b), free(x), free(y), free(wanted);
    abut_bsr_clear(&A);
    fixture_free(&f);
}

/* Every linear solver of the table on the same equations: the same solutions, the same refusals, the same bits for any number of
 * threads. */
#include "base/par.h"
#include "box_tets.h"
#include "math/blas.h"
#include "sparse/linear_solver.h"
#include "sparse/operator.h"

#include "check.h"

typedef struct equation {
    box_tets box;
    abut_elements set;
    abut_bsr A;
    size_t n;                   /* scalar rows */
    double *diag, *b, *x, *y, *where;
} equation;

static equation equation_make(int nx, int ny, int nz, uint64_t seed)
{
    equation q = { .box = box_tets_make(nx, ny, nz, seed) };
    q.n = 3 * (size_t)q.box.nv;
    q.set = (abut_elements){ .corners = 4, .n = (size_t)q.box.nt, .row = q.box.tet, .val = q.box.val };
    q.diag = malloc(q.n * sizeof *q.diag), q.b = malloc(q.n * sizeof *q.b), q.x = malloc(q.n * sizeof *q.x);
    q.y = malloc(q.n * sizeof *q.y), q.where = malloc(q.n * sizeof *q.where);
    abut_rng r = { seed + 1 };
    for (size_t i = 0; i < q.n; i++)
        q.diag[i] = abut_rng_real(&r, 0.01, 0.1), q.b[i] = abut_rng_real(&r, -1, 1), q.where[i] = abut_rng_real(&r, 0, 1);
    if (abut_bsr_pattern(&q.A, q.box.nv, &q.set, 1, NULL)) abort();
    abut_bsr_assemble(&q.A, q.diag, &q.set, 1);
    return q;
}

static void equation_free(equation *q)
{
    box_tets_free(&q->box);
    abut_bsr_clear(&q->A);
    free(q->diag), free(q->b), free(q->x), free(q->y), free(q->where);
}

static abut_operator operator_of(const equation *q)
{
    return (abut_operator){ .matrix = &q->A, .where = q->where };
}

/* |A x - b| / |b| */
static double residual(equation *q, const double *x, const double *b)
{
    double r2 = 0, b2 = 0;
    abut_bsr_multiply(&q->A, x, q->y);
    for (size_t i = 0; i < q->n; i++) r2 += (q->y[i] - b[i]) * (q->y[i] - b[i]), b2 += b[i] * b[i];
    return sqrt(r2 / b2);
}

static const abut_solve_goal tight = { .far = 1e-12, .close = 1e-12 };

static void solve_with(const abut_linear_solver_ops *ops, equation *q, int threads, double *x)
{
    const abut_operator A = operator_of(q);
    abut_linear_solver s;
    CHECK(!abut_linear_solver_init(&s, ops, threads, NULL));
    abut_linear_begin_step(&s);
    CHECK(!abut_linear_analyse(&s, &A, NULL, NULL));
    CHECK(!abut_linear_factor(&s, &A, ABUT_DOUBLE, NULL));
    CHECK(!abut_linear_solve(&s, &A, q->b, &tight, x, NULL));
    const abut_linear_stats stats = abut_linear_get_stats(&s);
    CHECK((stats.iterations > 0) == abut_linear_can(&s, ABUT_IS_ITERATIVE));
    abut_linear_solver_clear(&s);
    abut_linear_solver_clear(&s);
}

TEST(every_solver_of_the_table_solves_the_same_equation)
{
    equation q = equation_make(7, 6, 5, 71);
    double *own = malloc(q.n * sizeof *own), size = 0;
    solve_with(abut_linear_solvers[0], &q, 1, own);
    for (size_t i = 0; i < q.n; i++) size = fmax(size, fabs(own[i]));
    for (int k = 0; abut_linear_solvers[k]; k++) {
        double apart = 0;
        solve_with(abut_linear_solvers[k], &q, 1, q.x);
        CHECK(residual(&q, q.x, q.b) < 1e-11);
        for (size_t i = 0; i < q.n; i++) apart = fmax(apart, fabs(q.x[i] - own[i]));
        CHECK_NEAR(apart, 0, 1e-10 * size);
        if (check_bad) printf("# %s\n", abut_linear_solvers[k]->name);
    }
    free(own);
    equation_free(&q);
}

TEST(a_solver_that_needs_no_matrix_has_the_same_solution_by_products_and_the_others_refuse)
{
    equation q = equation_make(7, 6, 5, 71);
    abut_product *p = NULL;
    int solved = 0;
    CHECK(!abut_product_make(&p, q.A.n, &q.set, 1, 0, NULL));
    abut_operator A = abut_product_set(p, q.diag, &q.set);
    A.where = q.where;
    for (int k = 0; abut_linear_solvers[k]; k++) {
        abut_linear_solver s;
        abut_err err = { 0 };
        CHECK(!abut_linear_solver_init(&s, abut_linear_solvers[k], 1, NULL));
        const abut_status rc = abut_linear_analyse(&s, &A, NULL, &err);
        if (rc) CHECK(rc == ABUT_E_ARG && strstr(err.msg, "needs a matrix") && strstr(err.msg, abut_linear_solvers[k]->name));
        CHECK((rc == ABUT_OK) == abut_linear_can(&s, ABUT_CAN_MATRIX_FREE));
        if (!rc) {
            CHECK(!abut_linear_factor(&s, &A, ABUT_DOUBLE, NULL) && !abut_linear_solve(&s, &A, q.b, &tight, q.x, NULL));
            CHECK(residual(&q, q.x, q.b) < 1e-11);
            solved++;
        }
        abut_linear_solver_clear(&s);
    }
    CHECK(solved);
    abut_product_free(&p);
    equation_free(&q);
}

TEST(no_solver_changes_its_bits_with_the_number_of_threads)
{
    equation q = equation_make(12, 11, 10, 72);
    double *one = malloc(q.n * sizeof *one);
    for (int k = 0; abut_linear_solvers[k]; k++)
        for (int threads = 1; threads <= 7; threads += 3) {
            abut_threads_set(threads);
            solve_with(abut_linear_solvers[k], &q, threads, threads == 1 ? one : q.x);
            CHECK(threads == 1 || !memcmp(one, q.x, q.n * sizeof *one));
        }
    abut_threads_set(1);
    free(one);
    equation_free(&q);
}

TEST(a_factor_is_made_in_the_order_given_and_made_again_for_other_values_and_patterns)
{
    equation q = equation_make(5, 4, 6, 73), other = equation_make(6, 3, 3, 74);
    const abut_operator A = operator_of(&q), B = operator_of(&other);
    int32_t *order = malloc((size_t)q.A.n * sizeof *order);
    const double mass = q.diag[3];
    for (int k = 0; abut_linear_solvers[k]; k++) {
        abut_linear_solver s;
        abut_err err = { 0 };
        q.diag[3] = mass;
        CHECK(!abut_linear_solver_init(&s, abut_linear_solvers[k], 2, NULL));
        for (int32_t i = 0; i < q.A.n; i++) order[i] = q.A.n - 1 - i;
        CHECK(!abut_linear_analyse(&s, &A, order, NULL));
        for (int again = 0; again < 2; again++) {
            q.diag[3] *= 10;
            abut_bsr_assemble(&q.A, q.diag, &q.set, 1);
            CHECK(!abut_linear_factor(&s, &A, ABUT_DOUBLE, NULL) && !abut_linear_solve(&s, &A, q.b, &tight, q.x, NULL));
            CHECK(residual(&q, q.x, q.b) < 1e-11);
        }
        abut_linear_begin_step(&s);
        CHECK(!abut_linear_analyse(&s, &B, NULL, NULL) && !abut_linear_factor(&s, &B, ABUT_DOUBLE, NULL));
        CHECK(!abut_linear_solve(&s, &B, other.b, &tight, other.x, NULL) && residual(&other, other.x, other.b) < 1e-11);
        if (!abut_linear_can(&s, ABUT_IS_ITERATIVE)) {
            CHECK(abut_linear_factor(&s, &A, ABUT_DOUBLE, &err) == ABUT_E_ARG);     /* not the pattern that was analysed */
            if (!abut_linear_can(&s, ABUT_HAS_OWN_ORDER)) {
                order[2] = order[1];
                CHECK(abut_linear_analyse(&s, &A, order, &err) == ABUT_E_ARG && strstr(err.msg, "ordering"));
            }
            CHECK(abut_linear_solve(&s, &A, q.b, NULL, q.x, &err) == ABUT_E_ARG);
        }
        abut_linear_solver_clear(&s);
    }
    free(order);
    equation_free(&q), equation_free(&other);
}

TEST(direct_solvers_name_the_row_of_a_pivot_that_is_not_positive)
{
    equation q = equation_make(4, 4, 4, 75);
    const abut_operator A = operator_of(&q);
    for (int k = 0; abut_linear_solvers[k]; k++) {
        abut_linear_solver s;
        abut_err err = { 0 };
        if (abut_linear_solvers[k]->can & ABUT_IS_ITERATIVE) continue;
        CHECK(!abut_linear_solver_init(&s, abut_linear_solvers[k], 1, NULL) && !abut_linear_analyse(&s, &A, NULL, NULL));
        for (int32_t row = 0; row < q.A.n; row += 17) {
            abut_bsr_assemble(&q.A, q.diag, &q.set, 1);
            q.A.val[9 * q.A.ptr[row] + 4] = -1;
            CHECK(abut_linear_factor(&s, &A, ABUT_DOUBLE, &err) == ABUT_E_NUMERIC);
            CHECK(abut_linear_bad_row(&s) == (s.ops->bad_row ? row : -1) && strstr(err.msg, "not positive"));
            char pivot[96];
            snprintf(pivot, sizeof pivot, "pivot %d is not positive (block row %d, component 1)", 3 * row + 1, row);
            if (s.ops == &abut_linear_own) CHECK(strstr(err.msg, pivot));
            *strchr(pivot, '(') = '\0', pivot[strlen(pivot) - 1] = '\0';
            CHECK(strstr(err.msg, pivot));
            CHECK(abut_linear_solve(&s, &A, q.b, NULL, q.x, &err) == ABUT_E_ARG);
            abut_bsr_assemble(&q.A, q.diag, &q.set, 1);
            CHECK(!abut_linear_factor(&s, &A, ABUT_DOUBLE, NULL) && abut_linear_bad_row(&s) == -1);
        }
        abut_linear_solver_clear(&s);
    }
    equation_free(&q);
}

TEST(an_old_factor_of_a_direct_solver_preconditions_and_names_are_found)
{
    equation q = equation_make(4, 3, 5, 78);
    const abut_operator A = operator_of(&q);
    const abut_linear_solver_ops *ops = NULL;
    abut_err err = { 0 };
    for (int k = 0; abut_linear_solvers[k]; k++) {
        abut_linear_solver s;
        CHECK(!abut_linear_solver_find(abut_linear_solvers[k]->name, &ops, NULL) && ops == abut_linear_solvers[k]);
        CHECK(!abut_linear_solver_init(&s, ops, 1, NULL));
        CHECK(abut_linear_can(&s, ABUT_CAN_PRECONDITION) == (ops->apply != NULL));
        if (ops->apply) {
            CHECK(!abut_linear_analyse(&s, &A, NULL, NULL) && !abut_linear_factor(&s, &A, ABUT_DOUBLE, NULL));
            const abut_precond M = abut_linear_precond(&s);
            CHECK(M.rows == q.A.n && !M.apply(M.of, q.b, q.x, NULL) && residual(&q, q.x, q.b) < 1e-11);
        }
        abut_linear_solver_clear(&s);
    }
    CHECK(abut_linear_solver_find("cholesky", &ops, &err) == ABUT_E_ARG);
    char want[sizeof err.msg] = "linear solver cholesky: know ";
    for (int k = 0; abut_linear_solvers[k]; k++) strcat(strcat(want, k ? ", " : ""), abut_linear_solvers[k]->name);
    CHECK(!strcmp(err.msg, want) && strstr(want, "own, cholmod, cg-schwarz, mas, mas-rigid, cg"));
    CHECK(abut_linear_solver_find("petsc", &ops, &err) == ABUT_E_ARG);
    CHECK(!strstr(want, "petsc") == (strstr(err.msg, "this build has no PETSc") != NULL));
    equation_free(&q);
}

/* blocks s I of a scalar matrix S: the solutions are those of the matrix of blocks */
TEST(scalar_matrices_solve_for_x_y_and_z_alike)
{
    equation q = equation_make(6, 5, 4, 79);
    int32_t *order = malloc((size_t)q.A.n * sizeof *order);
    for (int32_t i = 0; i < q.A.n; i++) order[i] = (i + 7) % q.A.n;
    for (size_t b = 0; b < q.A.nnz; b++) {      /* the trace of each block, as a Laplacian has it, made dominant */
        double *v = q.A.val + 9 * b;
        const double t = v[0] + v[4] + v[8];
        for (int d = 0; d < 9; d++) v[d] = d % 4 ? 0 : t;
    }
    for (int32_t i = 0; i < q.A.n; i++)
        for (int d = 0; d < 9; d += 4) q.A.val[9 * q.A.ptr[i] + (size_t)d] += 100;
    for (int k = 0; abut_linear_solvers[k]; k++)
        for (int ordered = 0; ordered < 2; ordered++) {
            const abut_operator L = { .matrix = &q.A, .scalar = 1 };
            abut_linear_solver s;
            abut_err err = { 0 };
            CHECK(!abut_linear_solver_init(&s, abut_linear_solvers[k], 1, NULL));
            if (abut_linear_can(&s, ABUT_CAN_SCALAR)) {
                CHECK(!abut_linear_analyse(&s, &L, ordered ? order : NULL, NULL));
                CHECK(!abut_linear_factor(&s, &L, ABUT_DOUBLE, NULL));
                CHECK(!abut_linear_solve(&s, &L, q.b, NULL, q.x, NULL) && residual(&q, q.x, q.b) < 1e-12);
                const double v = q.A.val[9 * q.A.ptr[11]];
                q.A.val[9 * q.A.ptr[11]] = -1;
                CHECK(abut_linear_factor(&s, &L, ABUT_DOUBLE, &err) == ABUT_E_NUMERIC && abut_linear_bad_row(&s) == 11);
                CHECK(strstr(err.msg, "pivot 11 is not positive"));
                q.A.val[9 * q.A.ptr[11]] = v;
            } else {
                CHECK(abut_linear_analyse(&s, &L, NULL, &err) == ABUT_E_ARG && strstr(err.msg, "scalar"));
            }
            abut_linear_solver_clear(&s);
        }
    free(order);
    equation_free(&q);
}

TEST(a_library_that_is_not_installed_is_named_with_its_package_and_a_function_that_it_lacks_by_name)
{
    abut_err err = { 0 };
    void *library = NULL;
    void (*function)(void) = NULL;
    abut_blas blas;
    CHECK(abut_library_open(&library, "libnone.so.9", 0, "libnone9", &err) == ABUT_E_IO);
    CHECK(strstr(err.msg, "libnone.so.9: ") && strstr(err.msg, ": install Debian's libnone9"));
    CHECK(abut_library_open(&library, "/proc/self/cmdline", 0, "none", &err) == ABUT_E_IO && !strstr(err.msg, "install"));
    CHECK(!abut_blas_open(&blas, NULL) && !abut_library_open(&library, "libopenblas.so.0", 0, "libopenblas0", NULL));
    CHECK(abut_library_function(library, "abut_none", &function, &err) == ABUT_E_IO && strstr(err.msg, "abut_none") && !function);
}

/* One element of four corners: a dense matrix of 12 rows. */
TEST(direct_solvers_count_the_numbers_and_the_operations_of_a_dense_factor)
{
    double val[ABUT_PACKED] = { 0 }, diag[4] = { 1, 1, 1, 1 };
    const int32_t row[4] = { 0, 1, 2, 3 };
    const abut_elements set = { .corners = 4, .n = 1, .row = row, .val = val };
    abut_bsr A = { 0 };
    CHECK(!abut_bsr_pattern(&A, 4, &set, 1, NULL));
    abut_bsr_assemble(&A, diag, &set, 1);
    const abut_operator of = { .matrix = &A };
    for (int k = 0; k < 2; k++) {
        abut_linear_solver s;
        CHECK(!abut_linear_solver_init(&s, k ? &abut_linear_cholmod : &abut_linear_own, 1, NULL));
        abut_linear_stats has = abut_linear_get_stats(&s);
        CHECK(has.nnz == 0 && has.flops == 0 && has.bytes == 0 && abut_linear_bad_row(&s) == -1);
        CHECK(!abut_linear_analyse(&s, &of, NULL, NULL) && !abut_linear_factor(&s, &of, ABUT_DOUBLE, NULL));
        has = abut_linear_get_stats(&s);
        CHECK_NEAR(has.nnz, k ? 12 * 12 : 12 * 13 / 2, 0);      /* CHOLMOD keeps the square */
        CHECK_NEAR(has.flops, 12 * 13 * 25 / 6, 0);             /* sum of the squares of the column lengths */
        CHECK(has.bytes >= 12 * 13 / 2 * sizeof(double) && (!k || has.bytes == 144 * sizeof(double)) && has.iterations == 0);
        abut_linear_solver_clear(&s);
        has = abut_linear_get_stats(&s);
        CHECK(has.nnz == 0 && !abut_linear_can(&s, 0) && abut_linear_bad_row(&s) == -1);
    }
    abut_bsr_clear(&A);
}

TEST(direct_solvers_take_a_matrix_without_rows_and_refuse_what_their_indices_cannot_count)
{
    abut_bsr A = { 0 };
    const abut_bsr many = { .n = 7, .nnz = (size_t)INT32_MAX + 1 };
    CHECK(!abut_bsr_pattern(&A, 0, NULL, 0, NULL));
    for (int k = 0; abut_linear_solvers[k]; k++) {
        const abut_operator of = { .matrix = &A }, too_many = { .matrix = &many };
        abut_linear_solver s;
        abut_err err = { 0 };
        if (abut_linear_solvers[k]->can & ABUT_IS_ITERATIVE) continue;
        CHECK(!abut_linear_solver_init(&s, abut_linear_solvers[k], 1, NULL) && !abut_linear_analyse(&s, &of, NULL, NULL));
        CHECK(abut_linear_solve(&s, &of, NULL, NULL, NULL, &err) == ABUT_E_ARG && strstr(err.msg, "without a factor"));
        CHECK(!abut_linear_factor(&s, &of, ABUT_DOUBLE, NULL) && !abut_linear_solve(&s, &of, NULL, NULL, NULL, NULL));
        if (s.ops == &abut_linear_own || s.ops == &abut_linear_cholmod) {
            CHECK(abut_linear_analyse(&s, &too_many, NULL, &err) == ABUT_E_ARG && strstr(err.msg, "2147483648 blocks"));
            CHECK(abut_linear_factor(&s, &of, ABUT_DOUBLE, &err) == ABUT_E_ARG);      /* there is no analysis now */
        }
        abut_linear_solver_clear(&s);
    }
    abut_bsr_clear(&A);
}

/* Factor reuse over every solver of the table that has factors. */
#include "box_tets.h"
#include "sparse/linear_solver.h"
#include "sparse/reuse.h"

#include "check.h"

/* A matrix, what solves it with old factors, and the solver underneath alone. */
typedef struct equation {
    box_tets box;
    abut_elements set;
    abut_bsr A;
    abut_linear_solver linear;
    const abut_linear_solver_ops *ops;
    size_t n;
    double *diag, *b, *x, *exact;
} equation;

static equation equation_make(const abut_linear_solver_ops *ops, double mass, const abut_reuse_order *order)
{
    equation q = { .box = box_tets_make(9, 8, 7, 31), .ops = ops };
    abut_linear_solver inner;
    q.n = 3 * (size_t)q.box.nv;
    q.set = (abut_elements){ .corners = 4, .n = (size_t)q.box.nt, .row = q.box.tet, .val = q.box.val };
    q.diag = malloc(q.n * sizeof *q.diag);
    q.b = malloc(q.n * sizeof *q.b);
    q.x = malloc(q.n * sizeof *q.x);
    q.exact = malloc(q.n * sizeof *q.exact);
    abut_rng r = { 32 };
    for (size_t i = 0; i < q.n; i++) q.diag[i] = mass * abut_rng_real(&r, 1, 2), q.b[i] = abut_rng_real(&r, -1, 1);
    if (abut_bsr_pattern(&q.A, q.box.nv, &q.set, 1, NULL)) abort();
    abut_bsr_assemble(&q.A, q.diag, &q.set, 1);
    if (abut_linear_solver_init(&inner, ops, 1, NULL) || abut_reuse_make(&q.linear, &inner, order, NULL)) abort();
    CHECK(!inner.ops && !abut_linear_can(&q.linear, ABUT_IS_ITERATIVE));
    abut_linear_begin_step(&q.linear);
    if (abut_linear_analyse(&q.linear, &(abut_operator){ .matrix = &q.A }, NULL, NULL)) abort();
    return q;
}

static void equation_free(equation *q)
{
    box_tets_free(&q->box);
    abut_bsr_clear(&q->A);
    abut_linear_solver_clear(&q->linear);
    free(q->diag), free(q->b), free(q->x), free(q->exact);
}

/* Every other element `by` times as stiff; the solution by a factor of the new matrix. */
static void change(equation *q, double by)
{
    const abut_operator A = { .matrix = &q->A };
    abut_linear_solver twin;
    for (size_t k = 0; k < q->set.n; k += 2)
        for (size_t i = 0; i < ABUT_PACKED; i++) q->box.val[ABUT_PACKED * k + i] *= by;
    abut_bsr_assemble(&q->A, q->diag, &q->set, 1);
    if (abut_linear_solver_init(&twin, q->ops, 1, NULL) || abut_linear_analyse(&twin, &A, NULL, NULL)) abort();
    if (abut_linear_factor(&twin, &A, ABUT_DOUBLE, NULL) || abut_linear_solve(&twin, &A, q->b, NULL, q->exact, NULL)) abort();
    abut_linear_solver_clear(&twin);
}

/* Largest of |exact| and of |x - exact|. */
static double length_of(const equation *q, double *error)
{
    double big = *error = 0;
    for (size_t i = 0; i < q->n; i++) {
        big = fmax(big, fabs(q->exact[i]));
        *error = fmax(*error, fabs(q->x[i] - q->exact[i]));
    }
    return big;
}

static abut_status note(equation *q)
{
    return abut_linear_factor(&q->linear, &(abut_operator){ .matrix = &q->A }, ABUT_DOUBLE, NULL);
}

/* near 0: exact */
static abut_status solve(equation *q, double near, abut_err *err)
{
    const abut_solve_goal goal = { .far = 0.1, .near = near, .fraction = 0.1, .within = 1e-3 * near };
    return abut_linear_solve(&q->linear, &(abut_operator){ .matrix = &q->A }, q->b, near > 0 ? &goal : NULL, q->x, err);
}

/* Solvers of the table that have factors. */
static int next_direct(int *k)
{
    while (abut_linear_solvers[*k] && (abut_linear_solvers[*k]->can & ABUT_IS_ITERATIVE)) ++*k;
    return abut_linear_solvers[*k] != NULL;
}

TEST(a_factor_in_single_precision_solves_to_what_is_promised_of_long_and_short_solutions)
{
    equation q = equation_make(&abut_linear_own, 0.1, NULL);
    double error;
    change(&q, 1);
    for (int small = 0; small < 2; small++) {
        CHECK(!abut_linear_analyse(&q.linear, &(abut_operator){ .matrix = &q.A }, NULL, NULL));     /* no older factor */
        CHECK(!note(&q));
        CHECK(!solve(&q, small ? 1e3 : 1e-3, NULL));
        const abut_reuse_info last = abut_reuse_last(&q.linear);
        CHECK(last.approximate && last.factors == 1 && !last.in_double && last.iterations <= 3 && last.iterations);
        CHECK(abut_linear_get_stats(&q.linear).iterations == last.iterations);
        const double length = length_of(&q, &error);
        CHECK(error < 1e-5 * length);
    }
    equation_free(&q);
}

TEST(where_single_precision_is_not_exact_enough_a_factor_in_double_is_made_and_single_not_tried_again_in_the_step)
{
    equation q = equation_make(&abut_linear_own, 1e-11, NULL);      /* all that holds the box, among stiffnesses of order 1 */
    double error;
    change(&q, 1);
    for (int k = 0; k < 3; k++) {
        if (k == 2) abut_linear_begin_step(&q.linear);
        CHECK(!abut_linear_analyse(&q.linear, &(abut_operator){ .matrix = &q.A }, NULL, NULL));
        CHECK(!note(&q) && !solve(&q, 1, NULL));
        const abut_reuse_info last = abut_reuse_last(&q.linear);
        CHECK(last.factors == (k == 1 ? 1 : 2) && last.in_double == 1 && !last.approximate);
        const double length = length_of(&q, &error);
        CHECK(error <= 0 && length > 0);
    }
    equation_free(&q);
}

TEST(an_old_factor_of_every_solver_serves_a_matrix_that_is_close_and_no_other)
{
    for (int k = 0; next_direct(&k); k++) {
        equation q = equation_make(abut_linear_solvers[k], 0.1, NULL);
        double error;
        CHECK(!note(&q) && !solve(&q, 0, NULL));        /* there is none yet */
        abut_reuse_info last = abut_reuse_last(&q.linear);
        CHECK(last.factors == 1 && last.in_double == 1 && !last.iterations && !last.approximate);
        change(&q, 1.3);
        CHECK(!note(&q) && !solve(&q, 1e-3, NULL));
        last = abut_reuse_last(&q.linear);
        CHECK(!last.factors && last.iterations > 1 && last.approximate);
        const double length = length_of(&q, &error);
        CHECK(length > 1e-3 && error < 0.1 * length);
        CHECK(!solve(&q, 1e-3, NULL));                  /* the same matrix: the same factor */
        CHECK(!abut_reuse_last(&q.linear).factors && abut_reuse_last(&q.linear).iterations == last.iterations);
        /* exact: one of its own, and the next solution with it takes no iterations */
        CHECK(!note(&q) && !solve(&q, 0, NULL));
        CHECK(length_of(&q, &error) > 0 && error <= 0);
        CHECK(!solve(&q, 1e-3, NULL));
        last = abut_reuse_last(&q.linear);
        CHECK(!last.iterations && !last.factors && !last.approximate);
        CHECK(length_of(&q, &error) > 0 && error <= 0);
        equation_free(&q);
    }
}

/* The matrix changes so much that iterations on a factor of this size are given up. */
TEST(an_old_factor_that_is_no_good_is_tried_again_after_1_3_9_and_16_solutions)
{
    equation q = equation_make(&abut_linear_own, 0.1, NULL);
    CHECK(!note(&q) && !solve(&q, 0, NULL));
    const int wait[] = { 1, 3, 9, 16, 16 };
    for (int k = 0; k < 5; k++) {
        change(&q, k % 2 ? 1e-4 : 1e4);
        CHECK(!note(&q) && !solve(&q, 1e-3, NULL));
        abut_reuse_info last = abut_reuse_last(&q.linear);
        CHECK(last.factors == 1 && last.iterations > 2 && last.iterations < 20);    /* given up, then one in single */
        for (int i = 0; i < wait[k]; i++) {
            CHECK(!note(&q) && !solve(&q, 1e-3, NULL));
            last = abut_reuse_last(&q.linear);
            CHECK(last.factors == 1 && last.iterations <= 3);
        }
    }
    equation_free(&q);
}

TEST(a_matrix_that_is_not_definite_fails_with_its_row_and_a_shifted_one_is_solved)
{
    for (int k = 0; next_direct(&k); k++) {
        equation q = equation_make(abut_linear_solvers[k], 0.1, NULL);
        abut_err err = { 0 };
        CHECK(!note(&q) && !solve(&q, 0, NULL));
        for (int32_t j = 0; j < q.A.n; j++)
            for (size_t d = 0; d < 9; d += 4) q.A.val[9 * q.A.ptr[j] + d] -= 100;
        CHECK(!note(&q) && solve(&q, 1, &err) == ABUT_E_NUMERIC && strstr(err.msg, "pivot"));
        CHECK(abut_linear_bad_row(&q.linear) >= 0);
        change(&q, 1);
        CHECK(!note(&q) && !solve(&q, 0, NULL));
        double error;
        CHECK(length_of(&q, &error) > 0 && error <= 0);
        equation_free(&q);
    }
}

/* ---- the order ---- */

typedef struct asked {
    int analysed, analyses, reorders;
    abut_linear_solver *linear;
} asked;

static int is_analysed(const void *ctx) { return ((const asked *)ctx)->analysed; }

static abut_status analyse(void *ctx, const abut_bsr *A, abut_err *err)
{
    asked *a = ctx;
    if (a->analysed) return ABUT_OK;
    a->analysed = 1;
    a->analyses++;
    return abut_linear_analyse(a->linear, &(abut_operator){ .matrix = A }, NULL, err);
}

static abut_status reorder(void *ctx, const abut_bsr *A, abut_err *err)
{
    ((asked *)ctx)->reorders++;
    return analyse(ctx, A, err);
}

TEST(a_pattern_is_analysed_and_ordered_only_when_a_factor_of_it_is_wanted)
{
    asked a = { .analysed = 1 };
    equation q = equation_make(&abut_linear_own, 0.1, &(abut_reuse_order){ is_analysed, analyse, reorder, &a });
    a.linear = &q.linear;
    CHECK(!note(&q) && !solve(&q, 0, NULL) && a.reorders == 1 && a.analyses == 0);
    a.analysed = 0;     /* as if the pattern were another one */
    change(&q, 1.3);
    CHECK(!note(&q) && !solve(&q, 1e-3, NULL) && a.reorders == 1 && a.analyses == 0);
    CHECK(!abut_reuse_last(&q.linear).factors);
    CHECK(!note(&q) && !solve(&q, 0, NULL) && a.reorders == 2 && a.analyses == 1);
    equation_free(&q);
}

TEST(factor_reuse_is_refused_over_iterations_and_small_factors_are_made_for_every_matrix)
{
    abut_linear_solver inner, s;
    abut_err err = { 0 };
    CHECK(!abut_linear_solver_init(&inner, &abut_linear_cg, 1, NULL));
    CHECK(abut_reuse_make(&s, &inner, NULL, &err) == ABUT_E_ARG && strstr(err.msg, "linear solver cg has no factors"));
    CHECK(!inner.ops);
    box_tets box = box_tets_make(2, 2, 2, 5);
    const abut_elements set = { .corners = 4, .n = (size_t)box.nt, .row = box.tet, .val = box.val };
    double diag[27], b[81], x[81];
    for (int i = 0; i < 81; i++) diag[i % 27] = 1, b[i] = i;
    abut_bsr A = { 0 };
    CHECK(!abut_bsr_pattern(&A, 27, &set, 1, NULL));
    abut_bsr_assemble(&A, diag, &set, 1);
    const abut_operator of = { .matrix = &A };
    const abut_solve_goal goal = { .far = 0.1, .near = 1, .fraction = 0.1, .within = 1 };
    CHECK(!abut_linear_solver_init(&inner, &abut_linear_cholmod, 1, NULL));
    const int applies = abut_linear_can(&inner, ABUT_CAN_PRECONDITION);
    CHECK(!abut_reuse_make(&s, &inner, NULL, NULL) && !abut_linear_analyse(&s, &of, NULL, NULL));
    const abut_precond M = abut_linear_precond(&s);
    CHECK(M.rows == 27);
    if (!applies) CHECK(M.apply(M.of, b, x, &err) == ABUT_E_ARG && strstr(err.msg, "solver cholmod: does not precondition"));
    const abut_operator free_of_it = { .n = 27 };
    CHECK(abut_linear_factor(&s, &free_of_it, ABUT_DOUBLE, &err) == ABUT_E_ARG && strstr(err.msg, "needs a matrix"));
    abut_linear_solver_clear(&s);
    CHECK(!abut_linear_solver_init(&inner, &abut_linear_own, 1, NULL) && !abut_reuse_make(&s, &inner, NULL, NULL));
    CHECK(!abut_linear_analyse(&s, &of, NULL, NULL));
    for (int k = 0; k < 2; k++) {
        CHECK(!abut_linear_factor(&s, &of, ABUT_DOUBLE, NULL) && !abut_linear_solve(&s, &of, b, &goal, x, NULL));
        CHECK(abut_reuse_last(&s).in_double == 1 && abut_reuse_last(&s).factors == 1 && !abut_reuse_last(&s).iterations);
    }
    abut_linear_solver_clear(&s);
    abut_bsr_clear(&A);
    box_tets_free(&box);
}

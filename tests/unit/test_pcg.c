#include "base/par.h"
#include "box_tets.h"
#include "sparse/own/cholesky.h"
#include "sparse/pcg.h"

#include "check.h"

#define OF(A) &(abut_operator){ .matrix = (A) }

typedef struct fixture {
    box_tets box;
    abut_elements set;
    abut_bsr A;
    size_t n;
    double *diag, *b, *x, *y;
    abut_arena scratch;
} fixture;

static fixture fixture_make(void)
{
    fixture f = { .box = box_tets_make(8, 7, 6, 21) };
    f.n = 3 * (size_t)f.box.nv;
    f.set = (abut_elements){ .corners = 4, .n = (size_t)f.box.nt, .row = f.box.tet, .val = f.box.val };
    f.diag = calloc(f.n, sizeof *f.diag);
    f.b = calloc(f.n, sizeof *f.b);
    f.x = calloc(f.n, sizeof *f.x);
    f.y = calloc(f.n, sizeof *f.y);
    abut_rng r = { 22 };
    for (size_t i = 0; i < f.n; i++) f.diag[i] = abut_rng_real(&r, 0.01, 0.1), f.b[i] = abut_rng_real(&r, -1, 1);
    if (abut_bsr_pattern(&f.A, f.box.nv, &f.set, 1, NULL)) abort();
    abut_bsr_assemble(&f.A, f.diag, &f.set, 1);
    return f;
}

static void fixture_free(fixture *f)
{
    box_tets_free(&f->box);
    abut_bsr_clear(&f->A);
    abut_arena_clear(&f->scratch);
    free(f->diag), free(f->b), free(f->x), free(f->y);
}

static double residual(fixture *f)
{
    double r2 = 0, b2 = 0;
    abut_bsr_multiply(&f->A, f->x, f->y);
    for (size_t i = 0; i < f->n; i++) {
        r2 += (f->y[i] - f->b[i]) * (f->y[i] - f->b[i]);
        b2 += f->b[i] * f->b[i];
    }
    return sqrt(r2 / b2);
}

static abut_chol *factor_of(const abut_bsr *A)
{
    abut_chol *c = NULL;
    if (abut_chol_new(&c, A, NULL, 1, NULL) || abut_chol_factor(c, A, NULL)) abort();
    return c;
}

TEST(diagonal_blocks_alone_reach_the_tolerance_and_the_report_tells_the_true_residual)
{
    fixture f = fixture_make();
    abut_pcg_report rep;
    const double tol[] = { 1e-3, 1e-6, 1e-10 };
    int last = 0;
    for (int k = 0; k < 3; k++) {
        memset(f.x, 0, f.n * sizeof *f.x);
        CHECK(abut_pcg_solve(OF(&f.A), NULL, f.b, f.x, (abut_pcg_opts){ tol[k], 1000 }, &rep, &f.scratch, NULL) == ABUT_OK);
        CHECK(rep.converged && rep.iterations > last);
        CHECK(residual(&f) <= tol[k] * (1 + 1e-6));
        CHECK_NEAR(rep.residual, residual(&f), 1e-13);
        last = rep.iterations;
    }
    /* from the solution there is nothing to do */
    CHECK(abut_pcg_solve(OF(&f.A), NULL, f.b, f.x, (abut_pcg_opts){ 1e-9, 1000 }, &rep, &f.scratch, NULL) == ABUT_OK);
    CHECK(rep.converged && rep.iterations == 0);
    fixture_free(&f);
}

TEST(the_factor_of_the_matrix_needs_one_iteration_and_a_stale_one_fewer_than_the_diagonal)
{
    fixture f = fixture_make();
    abut_chol *c = factor_of(&f.A);
    const abut_precond M = abut_chol_precond(c);
    abut_pcg_report rep, jacobi;
    const abut_pcg_opts opts = { 1e-10, 1000 };
    CHECK(abut_pcg_solve(OF(&f.A), &M, f.b, f.x, opts, &rep, &f.scratch, NULL) == ABUT_OK);
    CHECK(rep.converged && rep.iterations == 1 && residual(&f) < 1e-10);
    abut_rng r = { 23 };
    for (size_t k = 0; k < (size_t)f.set.n; k++) {      /* every element up to a tenth stiffer */
        const double s = abut_rng_real(&r, 1, 1.1);
        for (size_t i = 0; i < ABUT_PACKED; i++) f.box.val[ABUT_PACKED * k + i] *= s;
    }
    abut_bsr_assemble(&f.A, f.diag, &f.set, 1);
    memset(f.x, 0, f.n * sizeof *f.x);
    CHECK(abut_pcg_solve(OF(&f.A), &M, f.b, f.x, opts, &rep, &f.scratch, NULL) == ABUT_OK);
    CHECK(rep.converged && residual(&f) < 2e-10);
    memset(f.x, 0, f.n * sizeof *f.x);
    CHECK(abut_pcg_solve(OF(&f.A), NULL, f.b, f.x, opts, &jacobi, &f.scratch, NULL) == ABUT_OK);
    CHECK(3 * rep.iterations < jacobi.iterations);
    abut_chol_free(&c);
    fixture_free(&f);
}

TEST(running_out_of_iterations_is_reported_and_keeps_the_iterate)
{
    fixture f = fixture_make();
    abut_pcg_report rep;
    CHECK(abut_pcg_solve(OF(&f.A), NULL, f.b, f.x, (abut_pcg_opts){ 1e-12, 5 }, &rep, &f.scratch, NULL) == ABUT_OK);
    CHECK(!rep.converged && rep.iterations == 5 && rep.residual > 1e-12);
    const abut_mark before = abut_arena_mark(&f.scratch);       /* all is given back */
    memset(f.x, 0, f.n * sizeof *f.x);
    CHECK(abut_pcg_solve(OF(&f.A), NULL, f.b, f.x, (abut_pcg_opts){ 1e-12, 5 }, &rep, &f.scratch, NULL) == ABUT_OK);
    CHECK(abut_arena_mark(&f.scratch).chunk == before.chunk && abut_arena_mark(&f.scratch).used == before.used);
    CHECK_NEAR(rep.residual, residual(&f), 1e-12);
    CHECK(residual(&f) < 1);
    fixture_free(&f);
}

TEST(a_matrix_that_is_not_definite_and_bad_options_are_refused)
{
    fixture f = fixture_make();
    abut_pcg_report rep;
    abut_err err = { 0 };
    const abut_pcg_opts opts = { 1e-6, 1000 };
    CHECK(abut_pcg_solve(OF(&f.A), NULL, f.b, f.x, (abut_pcg_opts){ 0, 5 }, &rep, &f.scratch, &err) == ABUT_E_ARG);
    CHECK(abut_pcg_solve(OF(&f.A), NULL, f.b, f.x, (abut_pcg_opts){ 1e-6, -1 }, &rep, &f.scratch, &err) == ABUT_E_ARG);
    abut_chol *c = factor_of(&f.A);
    const abut_precond M = abut_chol_precond(c);
    f.A.val[9 * f.A.ptr[5]] = -1e3;
    CHECK(abut_pcg_solve(OF(&f.A), NULL, f.b, f.x, opts, &rep, &f.scratch, &err) == ABUT_E_NUMERIC);
    CHECK(strstr(err.msg, "diagonal block 5 is not positive definite"));
    CHECK(abut_pcg_solve(OF(&f.A), &M, f.b, f.x, opts, &rep, &f.scratch, &err) == ABUT_E_NUMERIC);
    CHECK(strstr(err.msg, "the matrix is not positive definite"));
    f.b[0] = NAN;
    CHECK(abut_pcg_solve(OF(&f.A), &M, f.b, f.x, opts, &rep, &f.scratch, &err) == ABUT_E_NUMERIC);
    abut_arena tiny = { .limit = 1000 };
    f.b[0] = 1;
    CHECK(abut_pcg_solve(OF(&f.A), &M, f.b, f.x, opts, &rep, &tiny, &err) == ABUT_E_NOMEM);
    abut_arena_clear(&tiny);
    abut_chol_free(&c);
    fixture_free(&f);
}

static abut_status negate(void *of, const double *r, double *z, abut_err *err)
{
    (void)err;
    for (size_t i = 0; i < *(size_t *)of; i++) z[i] = -r[i];
    return ABUT_OK;
}

TEST(preconditioners_that_are_negative_or_of_other_rows_are_refused_and_a_drop_that_is_not_reached_is_told)
{
    fixture f = fixture_make();
    abut_pcg_report rep;
    abut_err err = { 0 };
    abut_precond M = { negate, &f.n, f.box.nv, NULL };
    const abut_pcg_opts opts = { 1e-6, 1000 };
    CHECK(abut_pcg_solve(OF(&f.A), &M, f.b, f.x, opts, &rep, &f.scratch, &err) == ABUT_E_NUMERIC);
    CHECK(strstr(err.msg, "iteration 0: the preconditioner is not positive definite (r . z = -"));
    M.rows--;
    CHECK(abut_pcg_solve(OF(&f.A), &M, f.b, f.x, opts, &rep, &f.scratch, &err) == ABUT_E_ARG);
    CHECK(strstr(err.msg, "matrix of 504 block rows, preconditioner of 503"));
    abut_cg_state s = { 0 };
    abut_solve_goal close = { .far = 1, .close = 1e-9, .most = 3 }, drop = close;
    drop.drop = 1e-20;
    CHECK(abut_cg_solve(&s, OF(&f.A), NULL, NULL, NULL, f.b, &drop, f.x, &err) == ABUT_E_NUMERIC && s.iterations == 3);
    CHECK(strstr(err.msg, "after 3 iterations, want its square in the norm of the preconditioner at 1e-20"));
    CHECK(abut_cg_solve(&s, OF(&f.A), NULL, NULL, NULL, f.b, &close, f.x, &err) == ABUT_E_NUMERIC);
    CHECK(strstr(err.msg, "after 3 iterations, want 1e-09"));
    abut_cg_clear(&s);
    fixture_free(&f);
}

TEST(a_zero_right_hand_side_gives_zero)
{
    fixture f = fixture_make();
    abut_pcg_report rep;
    memset(f.b, 0, f.n * sizeof *f.b);
    f.x[3] = 7;
    CHECK(abut_pcg_solve(OF(&f.A), NULL, f.b, f.x, (abut_pcg_opts){ 1e-6, 10 }, &rep, &f.scratch, NULL) == ABUT_OK);
    CHECK(rep.converged && rep.iterations == 0 && f.x[3] == 0);
    fixture_free(&f);
}

TEST(iterates_have_the_same_bits_at_1_2_and_7_threads)
{
    fixture f = fixture_make();
    const int threads[] = { 1, 2, 7 }, before = abut_threads();
    double *first = calloc(f.n, sizeof *first);
    abut_pcg_report rep;
    for (int t = 0; t < 3; t++) {
        abut_threads_set(threads[t]);
        memset(f.x, 0, f.n * sizeof *f.x);
        CHECK(abut_pcg_solve(OF(&f.A), NULL, f.b, f.x, (abut_pcg_opts){ 1e-8, 1000 }, &rep, &f.scratch, NULL) == ABUT_OK);
        if (t == 0) memcpy(first, f.x, f.n * sizeof *first);
        CHECK(memcmp(first, f.x, f.n * sizeof *first) == 0);
    }
    abut_threads_set(before);
    free(first);
    fixture_free(&f);
}

static double largest(const double *v, size_t n)
{
    double big = 0;
    for (size_t i = 0; i < n; i++) big = fmax(big, fabs(v[i]));
    return big;
}

/* Elements of other stiffness, by up to a factor of `by`. */
static void stiffen(fixture *f, double by)
{
    abut_rng r = { 24 };
    for (size_t k = 0; k < (size_t)f->set.n; k++) {
        const double s = abut_rng_real(&r, 1, by);
        for (size_t i = 0; i < ABUT_PACKED; i++) f->box.val[ABUT_PACKED * k + i] *= s;
    }
    abut_bsr_assemble(&f->A, f->diag, &f->set, 1);
}

/* The true error, by a factor of the matrix itself, for a preconditioner that is more and more out of date. */
TEST(approaching_a_goal_leaves_an_error_below_it)
{
    const double by[] = { 1, 1.2, 2, 5 }, share[] = { 0.1, 1e-2, 1e-4 };
    for (int k = 0; k < 4; k++) {
        fixture f = fixture_make();
        abut_chol *old = factor_of(&f.A);
        const abut_precond M = abut_chol_precond(old);
        stiffen(&f, by[k]);
        abut_chol *now = factor_of(&f.A);
        CHECK(!abut_chol_solve(now, f.b, f.y, NULL));
        const double length = largest(f.y, f.n);
        int last = 0;
        for (int j = 0; j < 3; j++) {
            abut_pcg_report rep, close;
            CHECK(!abut_pcg_approach(OF(&f.A), &M, f.b, f.x, (abut_pcg_goal){ 0.1, share[j], 0, 1, 100 }, &rep, &f.scratch,
                                     NULL));
            CHECK(rep.converged && rep.residual <= 0.1 && rep.iterations >= last);
            for (size_t i = 0; i < f.n; i++) CHECK_NEAR(f.x[i], f.y[i], share[j] * length);
            last = rep.iterations;
            /* the bound for short directions applies to these alone */
            CHECK(!abut_pcg_approach(OF(&f.A), &M, f.b, f.x, (abut_pcg_goal){ 0.1, 0.1, 0.5 * length, 1e-6 * length, 100 }, &rep,
                                     &f.scratch, NULL));
            CHECK(!abut_pcg_approach(OF(&f.A), &M, f.b, f.x, (abut_pcg_goal){ 0.1, 0.1, 2 * length, 1e-6 * length, 100 }, &close,
                                     &f.scratch, NULL));
            CHECK(close.converged && (k == 0 || close.iterations > rep.iterations));
            for (size_t i = 0; i < f.n; i++) CHECK_NEAR(f.x[i], f.y[i], 1e-6 * length);
        }
        abut_chol_free(&old);
        abut_chol_free(&now);
        fixture_free(&f);
    }
}

/* A contact that was stiff in the preconditioner and is gone: M^-1 r does not see what it held, the residual does. */
TEST(what_the_preconditioner_holds_and_the_matrix_does_not_is_not_taken_for_solved)
{
    fixture f = fixture_make();
    const size_t at = 9 * f.A.ptr[17];
    for (size_t d = 0; d < 9; d += 4) f.A.val[at + d] += 1e9;
    abut_chol *old = factor_of(&f.A);
    const abut_precond M = abut_chol_precond(old);
    abut_bsr_assemble(&f.A, f.diag, &f.set, 1);
    abut_chol *now = factor_of(&f.A);
    memset(f.b, 0, f.n * sizeof *f.b);
    for (size_t i = 0; i < f.n; i += 3) f.b[i] = 1;     /* a body that leans on it, let go */
    abut_pcg_report rep;
    CHECK(!abut_chol_solve(now, f.b, f.y, NULL));
    CHECK(!abut_pcg_approach(OF(&f.A), &M, f.b, f.x, (abut_pcg_goal){ 0.1, 0.1, 0, 1, 100 }, &rep, &f.scratch, NULL));
    CHECK(rep.converged);
    for (size_t i = 0; i < f.n; i++) CHECK_NEAR(f.x[i], f.y[i], 0.1 * largest(f.y, f.n));
    abut_chol_free(&old);
    abut_chol_free(&now);
    fixture_free(&f);
}

TEST(an_approach_without_hope_is_given_up_early_and_bad_goals_are_refused)
{
    fixture f = fixture_make();
    abut_chol *old = factor_of(&f.A);
    const abut_precond M = abut_chol_precond(old);
    abut_pcg_report rep;
    for (size_t k = 0; k < (size_t)f.set.n; k++)
        for (size_t i = 0; i < ABUT_PACKED; i++) f.box.val[ABUT_PACKED * k + i] *= k % 2 ? 1e4 : 1;
    abut_bsr_assemble(&f.A, f.diag, &f.set, 1);
    CHECK(!abut_pcg_approach(OF(&f.A), &M, f.b, f.x, (abut_pcg_goal){ 0.1, 1e-9, 0, 1, 12 }, &rep, &f.scratch, NULL));
    CHECK(!rep.converged && rep.iterations < 6);
    CHECK(!abut_pcg_approach(OF(&f.A), &M, f.b, f.x, (abut_pcg_goal){ 0.1, 1e-9, 0, 1, 1000 }, &rep, &f.scratch, NULL));
    CHECK(rep.converged && rep.iterations > 12 && residual(&f) < 1e-6);
    const abut_pcg_goal bad[] = { { 0, 1, 1, 1, 1 }, { 1, 0, 1, 1, 1 }, { 1, 1, 1, 0, 1 }, { 1, 1, 1, 1, 0 } };
    for (int k = 0; k < 4; k++) CHECK(abut_pcg_approach(OF(&f.A), &M, f.b, f.x, bad[k], &rep, &f.scratch, NULL) == ABUT_E_ARG);
    memset(f.b, 0, f.n * sizeof *f.b);
    CHECK(!abut_pcg_approach(OF(&f.A), &M, f.b, f.x, (abut_pcg_goal){ 0.1, 0.1, 0, 1, 12 }, &rep, &f.scratch, NULL));
    CHECK(rep.converged && rep.iterations == 0 && largest(f.x, f.n) == 0);
    abut_chol_free(&old);
    fixture_free(&f);
}

static double farthest(const double *x, const double *y, size_t n)
{
    double d = 0;
    for (size_t i = 0; i < n; i++) d = fmax(d, fabs(x[i] - y[i]));
    return d;
}

/* By diagonal blocks of systems that are ever closer to singular, x against that of a factor. */
TEST(iterations_end_when_the_error_of_no_row_is_beyond_the_goal_which_they_tell_themselves)
{
    for (double mass = 10; mass > 1e-3; mass /= 10) {
        fixture f = fixture_make();
        int last = 0;
        for (size_t i = 0; i < f.n; i++) f.diag[i] *= mass;
        abut_bsr_assemble(&f.A, f.diag, &f.set, 1);
        abut_chol *c = factor_of(&f.A);
        CHECK(!abut_chol_solve(c, f.b, f.y, NULL));
        const double length = abut_largest(f.y, f.n);
        for (double fraction = 0.1; fraction > 1e-5; fraction /= 10) {
            abut_pcg_reach reach = { .far = 1, .close = 1e-14, .fraction = fraction, .max_iterations = 5000 };
            abut_pcg_report rep;
            CHECK(!abut_pcg_solve_near(OF(&f.A), NULL, f.b, f.x, reach, &rep, &f.scratch, NULL) && rep.converged);
            CHECK(farthest(f.x, f.y, f.n) <= fraction * length && rep.iterations >= last && rep.residual > 1e-14);
            last = rep.iterations;
            reach.near = 2 * length, reach.within = 1e-2 * fraction * length;
            CHECK(!abut_pcg_solve_near(OF(&f.A), NULL, f.b, f.x, reach, &rep, &f.scratch, NULL) && rep.converged);
            CHECK(farthest(f.x, f.y, f.n) <= reach.within && rep.iterations >= last);
            reach.near = length / 2;        /* x is beyond it */
            CHECK(!abut_pcg_solve_near(OF(&f.A), NULL, f.b, f.x, reach, &rep, &f.scratch, NULL) && rep.iterations == last);
        }
        CHECK(last > 30);
        abut_chol_free(&c);
        fixture_free(&f);
    }
}

/* r . D^-1 r of x with the diagonal blocks D, by Gaussian elimination. */
static double squared(fixture *f)
{
    double sum = 0;
    abut_bsr_multiply(&f->A, f->x, f->y);
    for (size_t c = 0; 3 * c < f->n; c++) {
        const double *D = f->A.val + 9 * f->A.ptr[c];
        double M[3][4];
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) M[i][j] = D[3 * i + j];
            M[i][3] = f->b[3 * c + (size_t)i] - f->y[3 * c + (size_t)i];
        }
        double z[3];
        for (int i = 0; i < 3; i++)
            for (int k = i + 1; k < 3; k++)
                for (int j = 3; j >= i; j--) M[k][j] -= M[k][i] / M[i][i] * M[i][j];
        for (int i = 2; i >= 0; i--) {
            z[i] = M[i][3];
            for (int j = i + 1; j < 3; j++) z[i] -= M[i][j] * z[j];
            z[i] /= M[i][i];
        }
        for (int i = 0; i < 3; i++) sum += z[i] * (f->b[3 * c + (size_t)i] - f->y[3 * c + (size_t)i]);
    }
    return sum;
}

TEST(a_drop_of_the_squared_residual_in_the_norm_of_the_preconditioner_ends_iterations_at_once_and_nothing_else_does)
{
    fixture f = fixture_make();
    int last = 0;
    const double first = squared(&f);       /* x is 0 */
    for (double drop = 1e-1; drop > 1e-13; drop /= 1e3) {
        abut_pcg_reach reach = { .far = 1, .close = 0.9, .fraction = 100, .drop = drop, .max_iterations = 5000 };
        abut_pcg_report rep;
        CHECK(!abut_pcg_solve_near(OF(&f.A), NULL, f.b, f.x, reach, &rep, &f.scratch, NULL) && rep.converged);
        CHECK(squared(&f) <= drop * first * (1 + 1e-6) && rep.iterations > last);
        last = reach.max_iterations = rep.iterations - 1;
        CHECK(!abut_pcg_solve_near(OF(&f.A), NULL, f.b, f.x, reach, &rep, &f.scratch, NULL) && !rep.converged);
        CHECK(squared(&f) > drop * first * (1 - 1e-6));
    }
    fixture_free(&f);
}

TEST(a_residual_that_is_close_enough_ends_iterations_whatever_the_error_and_a_far_one_does_not)
{
    fixture f = fixture_make();
    const abut_pcg_reach close = { .far = 1e-3, .close = 1e-3, .max_iterations = 1000 };
    const abut_pcg_reach loose = { .far = 1e-3, .close = 1e-14, .fraction = 100, .max_iterations = 1000 };
    abut_pcg_report rep, few;
    abut_err err = { 0 };
    CHECK(!abut_pcg_solve_near(OF(&f.A), NULL, f.b, f.x, close, &rep, &f.scratch, NULL) && rep.converged);
    CHECK(residual(&f) <= 1e-3 * (1 + 1e-6));
    CHECK(!abut_pcg_solve_near(OF(&f.A), NULL, f.b, f.x, loose, &rep, &f.scratch, NULL) && rep.converged);
    CHECK(residual(&f) <= 1e-3 * (1 + 1e-6));
    few = rep;
    const abut_pcg_reach five = { .far = 1e-3, .close = 1e-14, .max_iterations = 5 };
    CHECK(!abut_pcg_solve_near(OF(&f.A), NULL, f.b, f.x, five, &rep, &f.scratch, NULL));
    CHECK(!rep.converged && rep.iterations == 5 && few.iterations > 5);
    CHECK(abut_pcg_solve_near(OF(&f.A), NULL, f.b, f.x, (abut_pcg_reach){ .far = 1 }, &rep, &f.scratch, &err) == ABUT_E_ARG);
    CHECK(strstr(err.msg, "close 0"));
    const abut_pcg_reach bad[] = { { .far = 0, .close = 1 }, { .far = 1, .close = 1, .drop = -1 },
                                   { .far = 1, .close = 1, .max_iterations = -1 } };
    for (int k = 0; k < 3; k++)
        CHECK(abut_pcg_solve_near(OF(&f.A), NULL, f.b, f.x, bad[k], &rep, &f.scratch, &err) == ABUT_E_ARG);
    const abut_pcg_reach none = { .far = 1, .close = 1e-3 };     /* no iteration: the report tells where x is */
    CHECK(!abut_pcg_solve_near(OF(&f.A), NULL, f.b, f.x, none, &rep, &f.scratch, &err) && !rep.converged && !rep.iterations);
    CHECK_NEAR(rep.residual, 1, 1e-14);
    fixture_free(&f);
}

/* ---- factors that serve several matrices ---- */

/* Counts what a solver is asked for; `renew` brings the exact factor, before it M is the identity. */
typedef struct served {
    abut_chol *chol;
    size_t n;
    int renewed, applied, exact;
    abut_status fails;
} served;

static abut_status served_renew(void *self, const abut_operator *A, abut_err *err)
{
    served *s = self;
    (void)A;
    s->renewed++;
    if (s->fails) return abut_fail(err, s->fails, "as told");
    s->exact = 1;
    return ABUT_OK;
}

static abut_status served_apply(void *of, const double *r, double *z, abut_err *err)
{
    served *s = of;
    s->applied++;
    if (s->exact) return abut_chol_solve(s->chol, r, z, err);
    memcpy(z, r, s->n * sizeof *z);
    return ABUT_OK;
}

TEST(factors_serve_eight_matrices_unless_iterations_become_a_third_more)
{
    const abut_operator A = { .n = 0 };
    abut_cg_state s = { 0 };
    served by = { 0 };
    abut_err err = { 0 };
    for (int k = 0; k < 17; k++) {
        CHECK(!abut_cg_factor(&s, &A, served_renew, &by, &err));
        CHECK(by.renewed == 1 + k / 8 && s.matrices == 1 + k % 8);
        s.fresh = 10, s.last = 13;      /* 1.3 times them */
    }
    s.last = 13.01;
    CHECK(!abut_cg_factor(&s, &A, served_renew, &by, &err) && by.renewed == 4 && s.matrices == 1 && s.fresh == 0 && s.last == 0);
    abut_cg_forget(&s);
    CHECK(!abut_cg_factor(&s, &A, served_renew, &by, &err) && by.renewed == 5);
    s.last = 1, by.fails = ABUT_E_NUMERIC;
    CHECK(abut_cg_factor(&s, &A, served_renew, &by, &err) == ABUT_E_NUMERIC && by.renewed == 6 && !s.matrices);
    by.fails = ABUT_OK;
    CHECK(!abut_cg_factor(&s, &A, served_renew, &by, &err) && by.renewed == 7 && s.matrices == 1);
    abut_cg_clear(&s);
}

/* Patience: three times the iterations of fresh factors for all digits that are asked for, and one more. */
TEST(old_factors_are_given_up_after_three_times_the_iterations_of_fresh_ones)
{
    fixture f = fixture_make();
    served by = { .chol = factor_of(&f.A), .n = f.n };
    const abut_precond M = { served_apply, &by, f.box.nv, NULL };
    abut_err err = { 0 };
    const struct { abut_solve_goal goal; int most; } tried[] = {
        { { .far = 1, .close = 1e-6 }, 3 * 6 + 1 },
        { { .far = 1, .close = 1e-6, .most = 5 }, 5 },
        { { .far = 1, .close = 1e-6, .drop = 1e-8 }, 3 * 4 + 1 },     /* of a square */
    };
    for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
        abut_cg_state s = { .matrices = 2, .fresh = 1 };
        by.renewed = by.applied = by.exact = 0;
        CHECK(!abut_cg_solve(&s, OF(&f.A), &M, served_renew, &by, f.b, &tried[k].goal, f.x, &err));
        CHECK(by.renewed == 1 && s.matrices == 1 && residual(&f) < 1e-4);
        CHECK(s.iterations >= 1 && s.iterations <= 4 && by.applied - tried[k].most >= s.iterations);
        CHECK(by.applied - tried[k].most <= s.iterations + 1);      /* the last application only measures */
        CHECK(s.fresh == s.last);
        /* its own factors are not made again, however slow */
        s.fresh = 1, s.matrices = 1, by.exact = by.applied = 0;
        const abut_solve_goal close = { .far = 1, .close = 1e-6 };
        CHECK(!abut_cg_solve(&s, OF(&f.A), &M, served_renew, &by, f.b, &close, f.x, &err) && by.renewed == 1);
        CHECK(s.iterations > 3 * 6 + 1 && residual(&f) < 1.01e-6 && s.fresh == 1);
        CHECK(s.last > 1 && s.last < s.iterations / 6.);       /* iterations for a tenth of the residual */
        abut_cg_clear(&s);
    }
    abut_chol_free(&by.chol);
    fixture_free(&f);
}

/* ---- a first guess of the preconditioner ---- */

/* The identity, and `factor` times a known vector. */
typedef struct guesser {
    size_t n;
    double factor;
    const double *x;
} guesser;

static abut_status guesser_apply(void *of, const double *r, double *z, abut_err *err)
{
    (void)err;
    memcpy(z, r, ((const guesser *)of)->n * sizeof *z);
    return ABUT_OK;
}

static abut_status guesser_guess(void *of, const double *b, double *x, abut_err *err)
{
    const guesser *g = of;
    (void)b, (void)err;
    for (size_t i = 0; i < g->n; i++) x[i] = g->factor * g->x[i];
    return ABUT_OK;
}

TEST(the_best_multiple_of_a_guess_is_taken_and_a_guess_of_zero_changes_nothing)
{
    fixture f = fixture_make();
    abut_chol *c = factor_of(&f.A);
    double *exact = malloc(f.n * sizeof *exact), *plain = malloc(f.n * sizeof *plain);
    CHECK(!abut_chol_solve(c, f.b, exact, NULL));
    guesser g = { f.n, 0, exact };
    abut_precond M = { guesser_apply, &g, f.box.nv, NULL };
    const abut_pcg_reach reach = { .far = 1, .close = 1e-10, .max_iterations = 2000 };
    abut_pcg_report rep, without;
    CHECK(!abut_pcg_solve_near(OF(&f.A), &M, f.b, plain, reach, &without, &f.scratch, NULL) && without.converged);
    M.guess = guesser_guess;
    for (int k = 0; k < 3; k++) {
        g.factor = k == 0 ? 0 : k == 1 ? 0.37 : -5;
        CHECK(!abut_pcg_solve_near(OF(&f.A), &M, f.b, f.x, reach, &rep, &f.scratch, NULL) && rep.converged);
        CHECK(rep.iterations == (k ? 0 : without.iterations) && residual(&f) < 1.01e-10);
        if (k == 0) CHECK(!memcmp(f.x, plain, f.n * sizeof *plain));
    }
    free(exact), free(plain);
    abut_chol_free(&c);
    fixture_free(&f);
}

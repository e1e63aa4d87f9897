/* Quadratic programs against a twin that tries every active set, closed forms, programs that nothing can satisfy, and bits. */
#include "base/par.h"
#include "box_tets.h"
#include "dense.h"
#include "sparse/linear_solver.h"
#include "solve/baselines/qp.h"

#include "check.h"

enum { MOST = 64 };

typedef struct program {
    box_tets box;
    abut_bsr H;
    size_t n;                   /* scalar rows */
    double *g, *w, *p;
    int32_t row[4 * MOST];
    double a[12 * MOST], c[MOST], lambda[MOST];
    abut_qp_rows rows;
    abut_qp_result r;
} program;

/* Random rows of one to four nodes each. */
static void program_make(program *q, int nx, int m, uint64_t seed)
{
    memset(q, 0, sizeof *q);
    q->box = box_tets_make(nx, 1, 1, seed);
    q->n = 3 * (size_t)q->box.nv;
    q->g = malloc(q->n * sizeof *q->g), q->w = malloc(q->n * sizeof *q->w), q->p = malloc(q->n * sizeof *q->p);
    abut_rng r = { seed + 1 };
    for (size_t i = 0; i < q->n; i++) q->w[i] = abut_rng_real(&r, 0.5, 1), q->g[i] = abut_rng_real(&r, -1, 1);
    for (int i = 0; i < m; i++) {
        const int corners = 1 + (int)abut_rng_below(&r, 4);
        for (int k = 0; k < 4; k++) q->row[4 * i + k] = -1;
        for (int k = 0; k < corners; k++) {
            int32_t node = (int32_t)abut_rng_below(&r, (uint32_t)q->box.nv);
            for (int l = 0; l < k; l++)
                if (q->row[4 * i + l] == node) node = -1;
            q->row[4 * i + k] = node;
            for (int d = 0; d < 3; d++) q->a[12 * i + 3 * k + d] = abut_rng_real(&r, -1, 1);
        }
        q->c[i] = abut_rng_real(&r, -0.3, 0.3);
    }
    q->rows = (abut_qp_rows){ (size_t)m, q->row, q->a, q->c };
}

/* H in a pattern with the rows. */
static void program_sum(program *q)
{
    double *none = calloc(90 * MOST, sizeof *none);
    const abut_elements sets[2] = { { .corners = 4, .n = (size_t)q->box.nt, .row = q->box.tet, .val = q->box.val },
                                    { .corners = 4, .n = q->rows.n, .row = q->row, .val = none } };
    abut_bsr_clear(&q->H);
    CHECK(!abut_bsr_pattern(&q->H, q->box.nv, sets, 2, NULL));
    abut_bsr_assemble(&q->H, q->w, sets, 2);
    free(none);
}

static abut_status program_try(program *q, int threads, abut_err *err)
{
    const abut_qp_options o = { .within = 1e-10, .far = 1e4, .iterations = 100 };
    abut_linear_solver s;
    program_sum(q);
    const abut_operator A = { .matrix = &q->H };
    CHECK(!abut_linear_solver_init(&s, abut_linear_solvers[0], threads, err) && !abut_linear_analyse(&s, &A, NULL, err));
    const abut_status rc = abut_qp_solve(&q->H, q->g, q->w, &q->rows, &o, &s, q->p, q->lambda, &q->r, err);
    abut_linear_solver_clear(&s);
    return rc;
}

static abut_qp_answer program_solve(program *q, int threads)
{
    abut_err err = { 0 };
    if (program_try(q, threads, &err)) check_bad++, printf("# %s\n", err.msg);
    return q->r.answer;
}

static void program_free(program *q)
{
    box_tets_free(&q->box);
    abut_bsr_clear(&q->H);
    free(q->g), free(q->w), free(q->p);
}

static double row_entry(const program *q, size_t i, size_t j)
{
    for (int k = 0; k < 4; k++)
        if (q->row[4 * i + (size_t)k] == (int32_t)(j / 3)) return q->a[12 * i + 3 * (size_t)k + j % 3];
    return 0;
}

/* c + A p */
static double row_value(const program *q, size_t i, const double *p)
{
    double v = q->c[i];
    for (size_t j = 0; j < q->n; j++) v += row_entry(q, i, j) * p[j];
    return v;
}

/* The minimum with the rows of `active` as equations, if it has multipliers of the right sign and keeps the others: 1. */
static int twin_of(const program *q, const double *D, unsigned active, double *p)
{
    const size_t m = (size_t)__builtin_popcount(active), n = q->n, k = n + m;
    double *M = calloc(k * k, sizeof *M), *b = calloc(k, sizeof *b);
    size_t at = 0, which[MOST];
    for (size_t i = 0; i < q->rows.n; i++)
        if (active >> i & 1) which[at++] = i;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) M[i * k + j] = D[i * n + j];
        for (size_t e = 0; e < m; e++) {
            M[(n + e) * k + i] = row_entry(q, which[e], i);
            M[i * k + n + e] = -M[(n + e) * k + i];
        }
        b[i] = -q->g[i];
    }
    for (size_t e = 0; e < m; e++) b[n + e] = -q->c[which[e]];
    dense_solve(M, b, k);
    int good = 1;
    for (size_t e = 0; e < m; e++) good &= b[n + e] >= 0;
    for (size_t i = 0; i < q->rows.n; i++) good &= (active >> i & 1) || row_value(q, i, b) >= 0;
    if (good) memcpy(p, b, n * sizeof *p);
    free(M), free(b);
    return good;
}

TEST(the_minimum_is_that_of_the_one_active_set_whose_multipliers_have_the_right_sign)
{
    int bound = 0, solved = 0;
    double worst = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        program q;
        program_make(&q, 1, 7, seed);
        program_sum(&q);
        double *D = dense_of(&q.H), *p = malloc(q.n * sizeof *p);
        int found = 0;
        for (unsigned active = 0; active < 1u << 7 && !found; active++) {
            found = twin_of(&q, D, active, p);
            if (found) bound += __builtin_popcount(active);
        }
        const abut_qp_answer answer = program_solve(&q, 1);
        CHECK((answer == ABUT_QP_SOLVED) == found);
        if (!found) CHECK(answer == ABUT_QP_INFEASIBLE);
        for (size_t i = 0; i < q.n && found; i++) worst = fmax(worst, fabs(p[i] - q.p[i]));
        solved += found;
        free(D), free(p);
        program_free(&q);
    }
    printf("# %d of 60 have a solution, with %d active rows; off by %.2g\n", solved, bound, worst);
    CHECK(solved > 40 && bound > 80 && worst < 1e-8);
}

TEST(residuals_are_what_the_conditions_of_kuhn_and_tucker_lack)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        program q;
        program_make(&q, 8, 30, 100 + seed);
        if (program_solve(&q, 1) != ABUT_QP_SOLVED) {
            program_free(&q);
            continue;
        }
        program_sum(&q);
        double *r = malloc(q.n * sizeof *r), off = 0;
        abut_bsr_multiply(&q.H, q.p, r);
        for (size_t j = 0; j < q.n; j++) {
            r[j] += q.g[j];
            for (size_t i = 0; i < q.rows.n; i++) r[j] -= row_entry(&q, i, j) * q.lambda[i];
            off = fmax(off, fabs(r[j]) / q.w[j / 3]);
        }
        CHECK_NEAR(off, q.r.stationary, 1e-12);
        for (size_t i = 0; i < q.rows.n; i++) {
            const double v = row_value(&q, i, q.p);
            CHECK(q.lambda[i] >= 0 && v >= -1e-9);
            CHECK(v < 1e-8 || q.lambda[i] < 1e-8);
        }
        CHECK(q.r.iterations < 40 && q.r.feasible <= 1e-10 && q.r.complementary <= 1e-10);
        free(r);
        program_free(&q);
    }
}

/* A free point of mass w with the gradient g: p = -g / w, or its projection onto a plane. */
TEST(a_point_falls_freely_or_onto_a_plane_or_into_a_corner)
{
    const double w = 2, g[3] = { 0, 4, 0 }, far[3] = { 9, 9, 9 };
    const int32_t row[12] = { 0, -1, -1, -1, 0, -1, -1, -1, 0, -1, -1, -1 };
    const double r2 = sqrt(0.5);
    double a[36] = { 0 }, p[3], lambda[3];
    a[0] = -3 * r2, a[1] = 3 * r2;              /* two walls at 45 degrees, not of unit length; one far away */
    a[12] = 5 * r2, a[13] = 5 * r2;
    a[24] = 1;
    const double corner[3] = { 3 * 0.5 * r2, 5 * 0.5 * r2, far[0] };     /* meet at y = -0.5 */
    const abut_qp_options o = { 1e-12, 1e3, 60 };
    for (size_t m = 0; m <= 3; m++) {
        double none[3 * 90] = { 0 };
        const abut_elements set = { .corners = 4, .n = m, .row = row, .val = none };
        abut_bsr H = { 0 };
        abut_linear_solver s;
        abut_qp_result r;
        CHECK(!abut_bsr_pattern(&H, 1, &set, 1, NULL));
        abut_bsr_assemble(&H, &w, &set, 1);
        const abut_operator A = { .matrix = &H };
        CHECK(!abut_linear_solver_init(&s, &abut_linear_own, 1, NULL) && !abut_linear_analyse(&s, &A, NULL, NULL));
        const abut_qp_rows rows = { m, row, a, corner };
        CHECK(!abut_qp_solve(&H, g, &w, &rows, &o, &s, p, lambda, &r, NULL) && r.answer == ABUT_QP_SOLVED);
        /* free: -2; onto the first wall, y - x >= -0.5: (-0.75, -1.25); in the corner: (0, -0.5) */
        CHECK_NEAR(p[0], m == 1 ? -0.75 : 0, 1e-10);
        CHECK_NEAR(p[1], m == 0 ? -2 : m == 1 ? -1.25 : -0.5, 1e-10);
        if (m == 1) CHECK_NEAR(lambda[0], 1.5 / (3 * r2), 1e-10);      /* w p + g = lambda a */
        if (m >= 2) CHECK_NEAR(3 * r2 * lambda[0] + 5 * r2 * lambda[1], 3, 1e-9);
        if (m == 3) CHECK(lambda[2] < 1e-10);
        abut_linear_solver_clear(&s);
        abut_bsr_clear(&H);
    }
}

/* Two rows that exclude each other; then one is moved until they do not. */
TEST(rows_that_exclude_each_other_are_infeasible_with_a_certificate)
{
    program q;
    program_make(&q, 2, 12, 7);
    for (int j = 0; j < 12; j++) q.a[12 + j] = -2 * q.a[j];
    memcpy(q.row + 4, q.row, 4 * sizeof *q.row);
    q.c[0] = -0.5, q.c[1] = 0.9;                 /* a p >= 0.5 and a p <= 0.45 */
    CHECK(program_solve(&q, 1) == ABUT_QP_INFEASIBLE);
    CHECK(q.r.reach >= 1e4);
    double l1 = 0, work = 0;
    for (size_t j = 0; j < q.n; j++) {
        double f = 0;
        for (size_t i = 0; i < q.rows.n; i++) f += row_entry(&q, i, j) * q.lambda[i];
        l1 += fabs(f);
    }
    for (size_t i = 0; i < q.rows.n; i++) work -= q.c[i] * q.lambda[i];
    CHECK(work > 0 && work / l1 >= 0.99e4);     /* the claim, from lambda alone */
    q.rows.n = 2;
    q.c[1] = 1.1;
    CHECK(program_solve(&q, 1) == ABUT_QP_SOLVED);
    program_free(&q);
}

TEST(rows_that_are_there_many_times_or_hold_nothing_do_no_harm)
{
    program q, once;
    program_make(&q, 2, 24, 11);
    for (int i = 0; i < 24; i++) {
        const int of = i % 3;
        memcpy(q.row + 4 * i, q.row + 4 * of, 4 * sizeof *q.row);
        memcpy(q.a + 12 * i, q.a + 12 * of, 12 * sizeof *q.a);
        q.c[i] = -0.1;
    }
    memset(q.a + 12 * 23, 0, 12 * sizeof *q.a);
    q.c[23] = 0.2;
    once = q;
    once.H = (abut_bsr){ 0 };
    once.p = malloc(q.n * sizeof *q.p);
    once.rows = (abut_qp_rows){ 3, once.row, once.a, once.c };
    CHECK(program_solve(&q, 1) == ABUT_QP_SOLVED && program_solve(&once, 1) == ABUT_QP_SOLVED);
    for (size_t i = 0; i < q.n; i++) CHECK_NEAR(q.p[i], once.p[i], 1e-8);
    q.c[23] = -0.2;                             /* 0 >= 0.2 */
    CHECK(program_solve(&q, 1) == ABUT_QP_INFEASIBLE);
    free(once.p);
    abut_bsr_clear(&once.H);
    program_free(&q);
}

TEST(the_same_bits_for_every_number_of_threads_and_an_honest_limit)
{
    program q;
    program_make(&q, 40, 60, 5);
    (void)program_solve(&q, 1);
    double *one = malloc(q.n * sizeof *one);
    memcpy(one, q.p, q.n * sizeof *one);
    for (int threads = 2; threads < 8; threads += 5) {
        (void)program_solve(&q, threads);
        CHECK(!memcmp(one, q.p, q.n * sizeof *one));
    }
    const abut_qp_options o = { .within = 1e-10, .far = 1e4, .iterations = 2 };
    abut_linear_solver s;
    program_sum(&q);
    const abut_operator A = { .matrix = &q.H };
    CHECK(!abut_linear_solver_init(&s, abut_linear_solvers[0], 1, NULL) && !abut_linear_analyse(&s, &A, NULL, NULL));
    CHECK(!abut_qp_solve(&q.H, q.g, q.w, &q.rows, &o, &s, q.p, q.lambda, &q.r, NULL));
    CHECK(q.r.answer == ABUT_QP_LIMIT && q.r.iterations == 2);
    abut_linear_solver_clear(&s);
    free(one);
    program_free(&q);
}

TEST(residuals_of_the_start_are_in_metres_whatever_the_lengths_of_the_rows)
{
    program q;
    program_make(&q, 8, 30, 5);
    program_sum(&q);
    const abut_operator A = { .matrix = &q.H };
    abut_linear_solver s;
    CHECK(!abut_linear_solver_init(&s, abut_linear_solvers[0], 1, NULL) && !abut_linear_analyse(&s, &A, NULL, NULL));
    CHECK(!abut_qp_solve(&q.H, q.g, q.w, &q.rows, &(abut_qp_options){ 1e-10, 1e4, 0 }, &s, q.p, q.lambda, &q.r, NULL));
    CHECK(q.r.answer == ABUT_QP_LIMIT && q.r.iterations == 0);
    double lacks = 0, force = 0;        /* p is the minimum without the rows, so the multipliers alone push */
    for (size_t i = 0; i < q.rows.n; i++) {
        double size2 = 0;
        for (size_t j = 0; j < q.n; j++) size2 += row_entry(&q, i, j) * row_entry(&q, i, j);
        lacks = fmax(lacks, -row_value(&q, i, q.p) / sqrt(size2));
    }
    for (size_t j = 0; j < q.n; j++) {
        double f = 0;
        for (size_t i = 0; i < q.rows.n; i++) f += row_entry(&q, i, j) * q.lambda[i];
        force = fmax(force, fabs(f) / q.w[j / 3]);
    }
    CHECK(lacks > 0.1 && force > 0.1);
    CHECK_NEAR(q.r.feasible, lacks, 1e-12);
    CHECK_NEAR(q.r.stationary, force, 1e-12 * force);
    abut_linear_solver_clear(&s);
    program_free(&q);
}

TEST(a_program_with_what_is_not_a_number_has_no_solution)
{
    for (int which = 0; which < 2; which++) {
        program q;
        abut_err err = { 0 };
        program_make(&q, 2, 4, 5);
        if (which) q.c[1] = NAN;
        else q.g[2] = NAN;
        CHECK(program_try(&q, 1, &err) == ABUT_E_NUMERIC && strstr(err.msg, "not finite"));
        program_free(&q);
    }
}

#include "base/par.h"
#include "box_tets.h"
#include "part/graph.h"
#include "solve/order_ahead.h"

#include "check.h"

enum { SETS = 3 };

typedef struct problem {
    box_tets box;
    int32_t *node_row, nrow;
} problem;

/* Every seventh node has no row. */
static problem problem_make(void)
{
    problem p = { .box = box_tets_make(13, 12, 14, 2) };
    p.node_row = malloc((size_t)p.box.nv * sizeof *p.node_row);
    for (int32_t i = 0; i < p.box.nv; i++) p.node_row[i] = i % 7 == 3 ? -1 : p.nrow++;
    return p;
}

static void problem_free(problem *p)
{
    free(p->node_row);
    box_tets_free(&p->box);
}

static abut_order_ahead *begin(const problem *p)
{
    abut_order_ahead *job = NULL;
    CHECK(!abut_order_ahead_begin(&job, p->box.nv, p->node_row, p->nrow, p->box.nt, p->box.tet, SETS, 1, NULL) && job);
    return job;
}

/* Both factored and applied to the same vector: the same bits. */
static void check_same_solution(const problem *p, const abut_elems *set, abut_bsr *A, abut_chol *a, abut_bsr *B, abut_chol *b)
{
    const size_t n3 = 3 * (size_t)p->nrow;
    double *rhs = malloc(n3 * sizeof *rhs), *diag = malloc(n3 * sizeof *diag);
    double *x = malloc(n3 * sizeof *x), *y = malloc(n3 * sizeof *y);
    for (size_t i = 0; i < n3; i++) rhs[i] = sin((double)i), diag[i] = 1;
    abut_bsr_assemble(A, diag, set, SETS);
    abut_bsr_assemble(B, diag, set, SETS);
    CHECK(!abut_chol_factor(a, A, NULL) && !abut_chol_factor(b, B, NULL));
    CHECK(!abut_chol_solve(a, rhs, x, NULL) && !abut_chol_solve(b, rhs, y, NULL));
    CHECK(!memcmp(x, y, n3 * sizeof *x));
    free(rhs), free(x), free(y), free(diag);
}

TEST(what_is_taken_is_what_the_same_calls_in_line_give)
{
    problem p = problem_make();
    int32_t *row = malloc(4 * (size_t)p.box.nt * sizeof *row), *perm = malloc((size_t)p.nrow * sizeof *perm);
    int32_t *want = malloc((size_t)p.nrow * sizeof *want);
    for (int32_t i = 0; i < 4 * p.box.nt; i++) row[i] = p.node_row[p.box.tet[i]];
    const abut_elems set[SETS] = { { (size_t)p.box.nt, row, p.box.val } };
    abut_bsr A = { 0 }, B = { 0 };
    abut_chol *a = NULL, *b = NULL;
    CHECK(!abut_bsr_pattern(&B, p.nrow, set, SETS, NULL) && !abut_graph_order(&B, want, NULL));
    CHECK(!abut_chol_new(&b, &B, want, 1, NULL));
    CHECK(!abut_bsr_pattern(&A, 2, NULL, 0, NULL) && !abut_chol_new(&a, &A, NULL, 1, NULL));  /* what there was is given up */
    const int before = abut_threads();
    abut_threads_set(3);
    abut_order_ahead *job = begin(&p);
    CHECK(abut_threads() == 2);     /* one is at work elsewhere */
    CHECK(!abut_order_ahead_take(job, &A, perm, &a, NULL));
    CHECK(abut_threads() == 3);
    abut_order_ahead_free(&job);
    CHECK(!job);
    abut_threads_set(before);
    CHECK(!memcmp(perm, want, (size_t)p.nrow * sizeof *perm));
    check_same_solution(&p, set, &A, a, &B, b);
    abut_bsr_clear(&A), abut_bsr_clear(&B);
    abut_chol_free(&a), abut_chol_free(&b);
    free(row), free(perm), free(want);
    problem_free(&p);
}

TEST(it_serves_its_own_numbering_alone_and_may_be_waited_for_or_left)
{
    problem p = problem_make();
    const int before = abut_threads();
    abut_threads_set(2);
    abut_order_ahead *job = begin(&p);
    CHECK(abut_order_ahead_serves(job, p.box.nv, p.node_row, p.nrow));
    CHECK(!abut_order_ahead_serves(job, p.box.nv, p.node_row, p.nrow - 1));
    p.node_row[0] = -1;             /* it has a copy */
    CHECK(!abut_order_ahead_serves(job, p.box.nv, p.node_row, p.nrow));
    abut_order_ahead_wait(job);
    CHECK(abut_threads() == 2);
    abut_order_ahead_wait(job);
    abut_order_ahead_free(&job);
    p.node_row[0] = 0;
    job = begin(&p);
    abut_order_ahead_free(&job);    /* under way */
    CHECK(!job && abut_threads() == 2);
    abut_order_ahead_free(&job);
    abut_order_ahead_wait(NULL);
    abut_threads_set(before);
    problem_free(&p);
}

TEST(its_failure_is_told_when_it_is_taken)
{
    problem p = problem_make();
    p.node_row[5] = p.nrow;         /* one more than there are */
    abut_order_ahead *job = begin(&p);
    abut_bsr A = { 0 };
    abut_chol *chol = NULL;
    abut_err err = { 0 };
    int32_t *perm = malloc((size_t)p.nrow * sizeof *perm);
    CHECK(abut_order_ahead_take(job, &A, perm, &chol, &err) == ABUT_E_ARG && strstr(err.msg, "row"));
    CHECK(!A.plan && !chol);
    abut_order_ahead_free(&job);
    free(perm);
    problem_free(&p);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    RUN(what_is_taken_is_what_the_same_calls_in_line_give);
    RUN(it_serves_its_own_numbering_alone_and_may_be_waited_for_or_left);
    RUN(its_failure_is_told_when_it_is_taken);
    return check_done();
}

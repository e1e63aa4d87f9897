/* Linear solvers by conjugate gradients with a multilevel Schwarz preconditioner, on the rows of the first matrix of a step.
 *
 * mas: all levels, of translations; products alone will do.  mas-rigid: level 0 and the rigid motions of larger parts. */
#include "sparse/linear_solvers.h"
#include "sparse/mas/mas.h"
#include "sparse/pcg.h"

#include <stdlib.h>

typedef struct cg {
    abut_mas_opts opts;
    abut_mas *mas;
    int32_t n;          /* rows of mas; 0: another step */
    abut_cg_state state;
} cg;

static abut_status make(void **self, abut_mas_opts opts, abut_err *err)
{
    cg *s = calloc(1, sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "conjugate gradients: out of memory");
    s->opts = opts;
    *self = s;
    return ABUT_OK;
}

static abut_status make_levels(void **self, int threads, abut_err *err)
{
    (void)threads;
    return make(self, (abut_mas_opts){ 0 }, err);
}

static abut_status make_rigid(void **self, int threads, abut_err *err)
{
    (void)threads;
    return make(self, (abut_mas_opts){ .levels = 1, .rigid = 1 }, err);
}

static void begin_step(void *self)
{
    cg *s = self;
    s->n = 0;
    abut_cg_forget(&s->state);
}

static void release(void *self)
{
    cg *s = self;
    abut_mas_free(&s->mas);
    abut_cg_clear(&s->state);
    free(s);
}

static abut_status analyse(void *self, const abut_operator *A, const int32_t *order, abut_err *err)
{
    cg *s = self;
    (void)order;
    if (s->mas && s->n == abut_operator_rows(A)) return ABUT_OK;
    abut_mas_free(&s->mas);
    abut_cg_forget(&s->state);
    s->n = abut_operator_rows(A);
    return abut_mas_make(&s->mas, A, s->opts, err);
}

static abut_status renew(void *self, const abut_operator *A, abut_err *err)
{
    cg *s = self;
    const abut_status rc = abut_mas_analyse(s->mas, A, err);
    return rc ? rc : abut_mas_factor(s->mas, A, err);
}

static abut_status factor(void *self, const abut_operator *A, abut_precision precision, abut_err *err)
{
    cg *s = self;
    (void)precision;
    if (!s->mas) return abut_fail(err, ABUT_E_ARG, "conjugate gradients: no analysis");
    return abut_cg_factor(&s->state, A, renew, s, err);
}

static abut_status solve(void *self, const abut_operator *A, const double *b, const abut_solve_goal *goal, double *x,
                         abut_err *err)
{
    cg *s = self;
    if (!s->mas) return abut_fail(err, ABUT_E_ARG, "conjugate gradients: no analysis");
    const abut_precond M = abut_mas_precond(s->mas);
    return abut_cg_solve(&s->state, A, &M, renew, s, b, goal, x, err);
}

static abut_linear_stats stats(const void *self)
{
    const cg *s = self;
    const abut_mas_stats p = s->mas ? abut_mas_get_stats(s->mas) : (abut_mas_stats){ 0 };
    return (abut_linear_stats){ p.nnz, p.flops, p.bytes, s->state.iterations };
}

const abut_linear_solver_ops abut_linear_mas = {
    .name = "mas", .help = "conjugate gradients with a multilevel Schwarz preconditioner",
    .can = ABUT_IS_ITERATIVE | ABUT_CAN_MATRIX_FREE,
    .make = make_levels, .begin_step = begin_step, .analyse = analyse, .factor = factor, .solve = solve, .stats = stats,
    .free = release,
};
const abut_linear_solver_ops abut_linear_mas_rigid = {
    .name = "mas-rigid", .help = "mas of one level, and rigid motions of larger parts",
    .can = ABUT_IS_ITERATIVE | ABUT_CAN_MATRIX_FREE,
    .make = make_rigid, .begin_step = begin_step, .analyse = analyse, .factor = factor, .solve = solve, .stats = stats,
    .free = release,
};

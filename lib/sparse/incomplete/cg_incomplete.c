/* Linear solvers by conjugate gradients with incomplete Cholesky factors of chunks of rows; products alone will do.
 *
 * ic: the factors alone.  ic-rigid: and the rigid motions of parts of consecutive rows, each of which the operator joins. */
#include "sparse/incomplete/incomplete.h"
#include "sparse/linear_solvers.h"
#include "sparse/pcg.h"
#include "sparse/schwarz/coarse_space.h"

#include <stdlib.h>
#include <string.h>

typedef struct cg {
    int rigid;
    int32_t n;              /* rows of the step; -1: none yet */
    abut_incomplete *factor;
    abut_coarse_space *coarse;  /* NULL: without */
    abut_row_parts parts;
    double *where;          /* [3 n] m, when the parts were made */
    abut_cg_state state;
} cg;

static abut_status make(void **self, int rigid, abut_err *err)
{
    cg *s = calloc(1, sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "conjugate gradients: out of memory");
    s->rigid = rigid;
    s->n = -1;
    *self = s;
    return ABUT_OK;
}

static abut_status make_plain(void **self, int threads, abut_err *err)
{
    (void)threads;
    return make(self, 0, err);
}

static abut_status make_rigid(void **self, int threads, abut_err *err)
{
    (void)threads;
    return make(self, 1, err);
}

static void begin_step(void *self)
{
    cg *s = self;
    s->n = -1;
    abut_cg_forget(&s->state);
}

static void release(void *self)
{
    cg *s = self;
    abut_incomplete_free(&s->factor);
    abut_coarse_space_free(&s->coarse);
    abut_row_parts_clear(&s->parts);
    free(s->where);
    abut_cg_clear(&s->state);
    free(s);
}

static abut_status cut(cg *s, const abut_operator *A, abut_err *err)
{
    const size_t n3 = 3 * (size_t)s->n;
    if (!A->where) return abut_fail(err, ABUT_E_ARG, "ic-rigid: the positions of %d rows are not known", s->n);
    free(s->where);
    s->where = malloc((n3 + 1) * sizeof *s->where);
    if (!s->where) return abut_fail(err, ABUT_E_NOMEM, "conjugate gradients: %d rows", s->n);
    memcpy(s->where, A->where, n3 * sizeof *s->where);
    return abut_row_parts_make(&s->parts, A, ABUT_PART_ROWS, err);
}

/* Rows that nothing joins have no rigid motions. */
static int is_rigid(const cg *s) { return s->rigid && s->parts.k; }

static abut_status analyse(void *self, const abut_operator *A, const int32_t *order, abut_err *err)
{
    cg *s = self;
    const int32_t n = abut_operator_rows(A);
    (void)order;
    if (s->n == n) return ABUT_OK;
    s->n = n;
    abut_cg_forget(&s->state);
    const abut_status rc = s->rigid ? cut(s, A, err) : ABUT_OK;
    if (rc) s->n = -1;
    return rc;
}

static abut_status renew(void *self, const abut_operator *A, abut_err *err)
{
    cg *s = self;
    abut_status rc = abut_incomplete_factor(&s->factor, A, err);
    if (rc || !is_rigid(s)) return rc;
    rc = abut_coarse_space_analyse(&s->coarse, A, s->parts.k, s->parts.first, s->parts.row, err);
    return rc ? rc : abut_coarse_space_factor(s->coarse, A, s->where, err);
}

static abut_status factor(void *self, const abut_operator *A, abut_precision precision, abut_err *err)
{
    cg *s = self;
    (void)precision;
    if (s->n != abut_operator_rows(A)) return abut_fail(err, ABUT_E_ARG, "conjugate gradients: no analysis");
    return abut_cg_factor(&s->state, A, renew, s, err);
}

static abut_status precondition(void *of, const double *r, double *z, abut_err *err)
{
    cg *s = of;
    const abut_precond M = abut_incomplete_precond(s->factor);
    const abut_status rc = M.apply(M.of, r, z, err);
    return rc || !is_rigid(s) ? rc : abut_coarse_space_add(s->coarse, r, z, err);
}

static abut_status solve(void *self, const abut_operator *A, const double *b, const abut_solve_goal *goal, double *x,
                         abut_err *err)
{
    cg *s = self;
    if (!s->state.matrices) return abut_fail(err, ABUT_E_ARG, "conjugate gradients: no factor");
    const abut_precond M = { precondition, s, s->n };
    return abut_cg_solve(&s->state, A, &M, renew, s, b, goal, x, err);
}

static abut_linear_stats stats(const void *self)
{
    const cg *s = self;
    const abut_incomplete_stats f = s->factor ? abut_incomplete_get_stats(s->factor) : (abut_incomplete_stats){ 0 };
    const abut_coarse_space_stats c = s->coarse ? abut_coarse_space_get_stats(s->coarse) : (abut_coarse_space_stats){ 0 };
    return (abut_linear_stats){ f.nnz + c.factor_nnz, f.flops + c.factor_flops, f.bytes + c.bytes, s->state.iterations };
}

const abut_linear_solver_ops abut_linear_ic = {
    .name = "ic", .help = "conjugate gradients with incomplete Cholesky factors of chunks of rows",
    .can = ABUT_IS_ITERATIVE | ABUT_CAN_MATRIX_FREE,
    .make = make_plain, .begin_step = begin_step, .analyse = analyse, .factor = factor, .solve = solve, .stats = stats,
    .free = release,
};
const abut_linear_solver_ops abut_linear_ic_rigid = {
    .name = "ic-rigid", .help = "ic, and rigid motions of parts", .can = ABUT_IS_ITERATIVE | ABUT_CAN_MATRIX_FREE,
    .make = make_rigid, .begin_step = begin_step, .analyse = analyse, .factor = factor, .solve = solve, .stats = stats,
    .free = release,
};

/* Linear solvers by conjugate gradients, for scenes whose whole factor is too large: memory and time grow with the number of
 * rows (sparse/pcg.h).
 *
 * cg-schwarz: a two-level Schwarz preconditioner on parts of the first matrix of a step, contacts included, cut by its values,
 * so that what is in stiff contact shares a part.  cg: inverted diagonal blocks. */
#include "sparse/linear_solvers.h"
#include "sparse/pcg.h"
#include "sparse/schwarz/schwarz.h"

#include <stdlib.h>
#include <string.h>

typedef struct cg {
    int by_blocks;      /* the preconditioner is the inverted diagonal blocks */
    abut_schwarz *schwarz;
    int is_analysed;    /* for the pattern of the matrix at hand */
    abut_strong_parts parts;    /* empty: not cut yet in this step */
    double *where;      /* [3 n] positions of the rows when they were cut into parts, m */
    int32_t cap;
    abut_cg_state state;
} cg;

static abut_status make(void **self, int by_blocks, abut_err *err)
{
    cg *s = calloc(1, sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "conjugate gradients: out of memory");
    s->by_blocks = by_blocks;
    *self = s;
    return ABUT_OK;
}

static abut_status make_schwarz(void **self, int threads, abut_err *err)
{
    (void)threads;
    return make(self, 0, err);
}

static abut_status make_blocks(void **self, int threads, abut_err *err)
{
    (void)threads;
    return make(self, 1, err);
}

static void cg_begin_step(void *self)
{
    abut_strong_parts_clear(&((cg *)self)->parts);
}

static void cg_free(void *self)
{
    cg *s = self;
    abut_schwarz_free(&s->schwarz);
    abut_strong_parts_clear(&s->parts);
    free(s->where);
    abut_cg_clear(&s->state);
    free(s);
}

static abut_status reserve(cg *s, int32_t n, abut_err *err)
{
    if (n <= s->cap) return ABUT_OK;
    free(s->where);
    s->where = malloc(3 * (size_t)n * sizeof *s->where);
    s->cap = s->where ? n : 0;
    return s->cap ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "conjugate gradients: %d rows", n);
}

static abut_status cut(cg *s, const abut_operator *A, abut_err *err)
{
    const int32_t n = A->matrix->n;
    if (!A->where) return abut_fail(err, ABUT_E_ARG, "cg-schwarz: the positions of %d rows are not known", n);
    const abut_status rc = reserve(s, n, err);
    if (rc) return rc;
    memcpy(s->where, A->where, 3 * (size_t)n * sizeof *s->where);
    return abut_strong_parts_cut(&s->parts, A, err);
}

/* Parts are cut by the values of a matrix, so all is left to factor. */
static abut_status cg_analyse(void *self, const abut_operator *A, const int32_t *order, abut_err *err)
{
    (void)A;
    (void)order;
    (void)err;
    ((cg *)self)->is_analysed = 0;
    return ABUT_OK;
}

static abut_status analyse_now(cg *s, const abut_operator *A, abut_err *err)
{
    const int is_cut = s->parts.k && s->parts.n == A->matrix->n;
    abut_status rc = is_cut ? ABUT_OK : cut(s, A, err);
    if (!rc && !(is_cut && s->is_analysed)) rc = abut_schwarz_analyse(&s->schwarz, A->matrix, &s->parts, s->where, err);
    s->is_analysed = !rc;
    return rc;
}

static abut_status cg_factor(void *self, const abut_operator *A, abut_precision precision, abut_err *err)
{
    cg *s = self;
    (void)precision;
    if (s->by_blocks) return ABUT_OK;
    const abut_status rc = analyse_now(s, A, err);
    return rc ? rc : abut_schwarz_factor(s->schwarz, A->matrix, err);
}

static abut_status cg_solve(void *self, const abut_operator *A, const double *b, const abut_solve_goal *goal, double *x,
                            abut_err *err)
{
    cg *s = self;
    const abut_precond M = s->by_blocks ? (abut_precond){ 0 } : abut_schwarz_precond(s->schwarz);
    return abut_cg_solve(&s->state, A, s->by_blocks ? NULL : &M, NULL, NULL, b, goal, x, err);
}

static abut_linear_stats cg_stats(const void *self)
{
    const cg *s = self;
    const abut_schwarz_stats p = s->schwarz ? abut_schwarz_get_stats(s->schwarz) : (abut_schwarz_stats){ 0 };
    return (abut_linear_stats){ p.factor_nnz, p.factor_flops, p.bytes, s->state.iterations };
}

const abut_linear_solver_ops abut_linear_cg_schwarz = {
    .name = "cg-schwarz", .help = "conjugate gradients with a two-level Schwarz preconditioner", .can = ABUT_IS_ITERATIVE,
    .make = make_schwarz, .begin_step = cg_begin_step, .analyse = cg_analyse, .factor = cg_factor, .solve = cg_solve,
    .stats = cg_stats, .free = cg_free,
};
const abut_linear_solver_ops abut_linear_cg = {
    .name = "cg", .help = "conjugate gradients with inverted diagonal blocks",
    .can = ABUT_IS_ITERATIVE | ABUT_CAN_MATRIX_FREE,
    .make = make_blocks, .analyse = cg_analyse, .factor = cg_factor, .solve = cg_solve, .stats = cg_stats, .free = cg_free,
};

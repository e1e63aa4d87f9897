#include "sparse/linear_solver.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const abut_linear_solver_ops *const abut_linear_solvers[] = {
    &abut_linear_own,
    &abut_linear_cholmod,
    &abut_linear_cg_schwarz,
    &abut_linear_mas,
    &abut_linear_mas_rigid,
    &abut_linear_cg,
    &abut_linear_ic,
    &abut_linear_ic_rigid,
    /* of another library, at the end: without it these are NULL */
    &abut_linear_petsc_schwarz,
    &abut_linear_petsc_gamg,
    &abut_linear_petsc_cholmod,
    &abut_linear_petsc_mumps,
    NULL,
};

abut_status abut_linear_solver_find(const char *name, const abut_linear_solver_ops **ops, abut_err *err)
{
    char known[256] = "";
    size_t n = 0;
    for (int i = 0; abut_linear_solvers[i]; i++) {
        if (!strcmp(name, abut_linear_solvers[i]->name)) return *ops = abut_linear_solvers[i], ABUT_OK;
        const int wrote = snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", abut_linear_solvers[i]->name);
        n += wrote > 0 && (size_t)wrote < sizeof known - n ? (size_t)wrote : 0;
    }
    return abut_fail(err, ABUT_E_ARG, "linear solver %s: know %s%s", name, known,
                     strncmp(name, "petsc", 5) || &abut_linear_petsc_schwarz ? "" :
                     "; this build has no PETSc, whose solvers are in one by make PETSC=1");
}

abut_status abut_linear_solver_init(abut_linear_solver *s, const abut_linear_solver_ops *ops, int threads, abut_err *err)
{
    assert(s && ops);
    *s = (abut_linear_solver){ 0 };
    void *self = calloc(1, ops->size);
    abut_status rc = self ? ABUT_OK : abut_no_memory(ops->name, err);
    if (!rc && ops->make) rc = ops->make(self, ops, threads, err);
    if (rc) return free(self), rc;
    s->ops = ops;
    s->self = self;
    return ABUT_OK;
}

void abut_linear_solver_clear(abut_linear_solver *s)
{
    if (s->ops) s->ops->clear(s->self);
    free(s->self);
    *s = (abut_linear_solver){ 0 };
}

int abut_linear_can(const abut_linear_solver *s, unsigned what)
{
    return s->ops && (s->ops->can & what) == what;
}

void abut_linear_begin_step(abut_linear_solver *s)
{
    if (s->ops && s->ops->begin_step) s->ops->begin_step(s->self);
}

abut_status abut_linear_analyse(abut_linear_solver *s, const abut_operator *A, const int32_t *order, abut_err *err)
{
    if (A->scalar && !abut_linear_can(s, ABUT_CAN_SCALAR))
        return abut_fail(err, ABUT_E_ARG, "linear solver %s: takes no scalar matrices", s->ops->name);
    if (!A->matrix && !abut_linear_can(s, ABUT_CAN_MATRIX_FREE))
        return abut_fail(err, ABUT_E_ARG, "linear solver %s: needs a matrix", s->ops->name);
    const abut_status rc = s->ops->analyse(s->self, A, order, err);
    s->n = rc ? -1 : abut_operator_rows(A);
    return rc;
}

abut_status abut_linear_factor(abut_linear_solver *s, const abut_operator *A, abut_precision precision, abut_err *err)
{
    return s->ops->factor(s->self, A, precision, err);
}

abut_status abut_linear_solve(abut_linear_solver *s, const abut_operator *A, const double *b, const abut_solve_goal *goal,
                              double *x, abut_err *err)
{
    return s->ops->solve(s->self, A, b, goal, x, err);
}

abut_status abut_linear_solve_parts(abut_linear_solver *s, const abut_operator *A, const uint8_t *wanted, const double *b,
                                    double *x, abut_err *err)
{
    assert(!abut_linear_can(s, ABUT_IS_ITERATIVE) && b != x);
    return s->ops->solve_parts ? s->ops->solve_parts(s->self, wanted, b, x, err) : s->ops->solve(s->self, A, b, NULL, x, err);
}

static abut_status apply(void *of, const double *r, double *z, abut_err *err)
{
    abut_linear_solver *s = of;
    return s->ops->apply(s->self, r, z, err);
}

abut_precond abut_linear_precond(abut_linear_solver *s)
{
    return (abut_precond){ apply, s, s->n, NULL };
}

int32_t abut_linear_bad_row(const abut_linear_solver *s)
{
    return s->ops && s->ops->bad_row ? s->ops->bad_row(s->self) : -1;
}

abut_linear_stats abut_linear_get_stats(const abut_linear_solver *s)
{
    return s->ops ? s->ops->stats(s->self) : (abut_linear_stats){ 0 };
}

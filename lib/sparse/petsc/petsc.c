#include "sparse/petsc/petsc.h"

#include "sparse/pcg.h"
#include "sparse/petsc/gamg.h"
#include "sparse/petsc/schwarz.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define WORD(n) #n
#define NUMBER(n) WORD(n)
#define VERSION NUMBER(PETSC_VERSION_MAJOR) "." NUMBER(PETSC_VERSION_MINOR) "." NUMBER(PETSC_VERSION_SUBMINOR)

typedef struct backend {
    abut_petsc_matrix A;
    PC pc;
    Vec b, x;               /* without arrays of their own */
    MatSolverType direct;   /* NULL: GAMG, or Schwarz, then with parts */
    int by_parts;
    abut_strong_parts parts; /* of this step, once there is a matrix */
    abut_petsc_schwarz schwarz;
    const abut_ranks *ranks;    /* of the matrix; NULL: it is here whole */
    int damped;             /* of ranks: the sweeps are damped, as Chebyshev's polynomials were no good in this step */
    double *where;          /* [3 n] m: the rows as they were analysed */
    int32_t n;              /* rows analysed; -1: none */
    size_t nnz;
    int factored;
    abut_cg_state state;
} backend;

/* Calls `what` with one thread, BLAS included: no bit depends on the number of threads. */
static PetscErrorCode alone(PetscErrorCode (*what)(backend *s), backend *s)
{
    PetscErrorCode code = 0;
    #pragma omp parallel num_threads(1)
    {
        const int levels = omp_get_max_active_levels();
        omp_set_num_threads(1);
        omp_set_max_active_levels(0);
        code = what(s);
        omp_set_max_active_levels(levels);
    }
    return code;
}

static abut_status make(void **self, MatSolverType direct, abut_err *err)
{
    const abut_status rc = abut_petsc_start(err);
    if (rc) return rc;
    backend *s = calloc(1, sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "PETSc: out of memory");
    s->direct = direct;
    s->n = -1;
    *self = s;
    return ABUT_OK;
}

static abut_status make_gamg(void **self, int threads, abut_err *err)
{
    (void)threads;
    return make(self, NULL, err);
}

static abut_status make_schwarz(void **self, int threads, abut_err *err)
{
    const abut_status rc = make_gamg(self, threads, err);
    if (!rc) ((backend *)*self)->by_parts = 1;
    return rc;
}

static abut_status make_cholmod(void **self, int threads, abut_err *err)
{
    (void)threads;
    return make(self, MATSOLVERCHOLMOD, err);
}

static abut_status make_mumps(void **self, int threads, abut_err *err)
{
    (void)threads;
    return make(self, MATSOLVERMUMPS, err);
}

/* Without preconditioner and matrix; the analysis stays. */
static void forget_matrix(backend *s)
{
    PCDestroy(&s->pc);
    abut_petsc_schwarz_clear(&s->schwarz);
    VecDestroy(&s->b);
    VecDestroy(&s->x);
    abut_petsc_matrix_clear(&s->A);
    s->factored = 0;
}

static void begin_step(void *self)
{
    backend *s = self;
    forget_matrix(s);
    abut_strong_parts_clear(&s->parts);
    s->n = -1;
    s->damped = 0;
    abut_cg_forget(&s->state);
}

static void release(void *self)
{
    backend *s = self;
    forget_matrix(s);
    abut_strong_parts_clear(&s->parts);
    abut_cg_clear(&s->state);
    free(s->where);
    free(s);
}

/* ---- the preconditioner ---- */

/* A vector of the rows that are here, over values (NULL: to be placed). */
static PetscErrorCode rows_here(const backend *s, const double *values, Vec *v)
{
    const PetscInt n = (PetscInt)(3 * (s->A.rows.hi - s->A.rows.lo));
    if (s->A.is_part) return VecCreateMPIWithArray(PETSC_COMM_WORLD, 3, n, 3 * s->n, values, v);
    return VecCreateSeqWithArray(PETSC_COMM_SELF, 3, n, values, v);
}

/* The six rigid motions at the positions of the rows. */
static PetscErrorCode set_rigid(backend *s)
{
    Vec where = NULL;
    MatNullSpace rigid = NULL;
    PetscErrorCode code = rows_here(s, s->where + 3 * s->A.rows.lo, &where);
    if (!code) code = MatNullSpaceCreateRigidBody(where, &rigid);
    if (!code) code = MatSetNearNullSpace(s->A.mat, rigid);
    MatNullSpaceDestroy(&rigid);
    VecDestroy(&where);
    return code;
}

static PetscErrorCode configure_direct(backend *s)
{
    PetscErrorCode code = PCSetType(s->pc, PCCHOLESKY);
    if (!code) code = PCFactorSetMatSolverType(s->pc, s->direct);
    return code ? code : PCFactorSetMatOrderingType(s->pc, MATORDERINGEXTERNAL);
}

static PetscErrorCode create(backend *s)
{
    PetscErrorCode code = s->direct || s->by_parts ? 0 : set_rigid(s);
    if (!code) code = rows_here(s, NULL, &s->b);
    if (!code) code = rows_here(s, NULL, &s->x);
    if (!code) code = PCCreate(s->A.is_part ? PETSC_COMM_WORLD : PETSC_COMM_SELF, &s->pc);
    if (!code) code = PCSetErrorIfFailure(s->pc, PETSC_FALSE);
    if (!code) code = PCSetOperators(s->pc, s->A.mat, s->A.mat);
    if (code) return code;
    if (s->by_parts) return abut_petsc_schwarz_create(&s->schwarz, s->pc, &s->A, &s->parts, s->where, s->ranks);
    return s->direct ? configure_direct(s) : abut_petsc_gamg_configure(s->pc, s->A.mat, s->ranks && !s->damped, s->damped);
}

static PetscErrorCode set_up(backend *s)
{
    return s->by_parts ? abut_petsc_schwarz_set_up(&s->schwarz, s->pc, &s->A) : PCSetUp(s->pc);
}

/* *flag: some rank has it. */
static abut_status any_of_ranks(const abut_ranks *r, int *flag, abut_err *err)
{
    size_t n;
    const abut_status rc = abut_ranks_count(r, *flag != 0, &n, err);
    if (!rc && r) *flag = n > 0;
    return rc;
}

/* MUMPS goes on from negative pivots, and counts them. */
static PetscErrorCode count_negative(backend *s, PetscInt *negative)
{
    Mat F = NULL;
    PetscErrorCode code = PCFactorGetMatrix(s->pc, &F);
    return code ? code : MatMumpsGetInfog(F, 12, negative);
}

static abut_status factor_failed(backend *s, abut_err *err)
{
    PCFailedReason why = PC_NOERROR;
    PetscInt negative = 0;
    PetscErrorCode code = PCGetFailedReason(s->pc, &why);
    if (!code && why == PC_NOERROR && s->direct && !strcmp(s->direct, MATSOLVERMUMPS)) code = count_negative(s, &negative);
    abut_status rc = abut_petsc_check(code, "the factorisation", err);
    int failed = why != PC_NOERROR || s->schwarz.failed;
    if (!rc) rc = any_of_ranks(s->ranks, &failed, err);
    if (failed && why == PC_NOERROR) why = PC_SUBPC_ERROR;
    if (rc || (why == PC_NOERROR && !negative)) return rc;
    if (why == PC_FACTOR_OUTMEMORY) return abut_fail(err, ABUT_E_NOMEM, "PETSc: the factorisation: out of memory");
    if (!s->direct && !s->by_parts)
        return abut_fail(err, ABUT_E_NUMERIC, "petsc-gamg: the hierarchy failed with PETSc's reason %d", (int)why);
    return abut_fail(err, ABUT_E_NUMERIC, "PETSc: the factorisation: a pivot is not positive");
}

/* The preconditioner of A; what depends on the pattern alone is kept while that is the same. */
static abut_status renew_once(void *self, const abut_operator *A, abut_err *err)
{
    backend *s = self;
    int is_new = !abut_petsc_matrix_fits(&s->A, A->matrix);
    abut_status rc = any_of_ranks(A->ranks, &is_new, err);
    s->factored = 0;
    s->ranks = A->ranks;
    if (!rc && s->by_parts && s->parts.n != s->n) rc = abut_strong_parts_cut(&s->parts, A, err);
    if (!rc && is_new) {
        forget_matrix(s);
        rc = abut_petsc_matrix_set(&s->A, A->matrix, s->ranks, err);
    }
    if (!rc) rc = abut_petsc_matrix_fill(&s->A, A->matrix, err);
    if (!rc && is_new && s->n) rc = abut_petsc_check(create(s), "the preconditioner", err);
    if (!rc && s->n) rc = abut_petsc_check(alone(set_up, s), s->direct ? "the factorisation" : "the hierarchy", err);
    if (!rc && s->n) rc = factor_failed(s, err);
    if (rc) forget_matrix(s);
    s->factored = !rc;
    return rc;
}

/* Makes the preconditioner damped, for the rest of the step. */
static abut_status renew_damped(backend *s, const abut_operator *A, abut_err *err)
{
    s->damped = 1;
    forget_matrix(s);
    return renew_once(s, A, err);
}

static abut_status renew(void *self, const abut_operator *A, abut_err *err)
{
    backend *s = self;
    const abut_status rc = renew_once(s, A, err);
    return rc == ABUT_E_NUMERIC && A->ranks && !s->damped && !s->by_parts ? renew_damped(s, A, err) : rc;
}

static PetscErrorCode run(backend *s)
{
    return PCApply(s->pc, s->b, s->x);
}

static abut_status apply(void *self, const double *b, double *x, abut_err *err)
{
    backend *s = self;
    if (!s->factored) return abut_fail(err, ABUT_E_ARG, "PETSc: a solution without a factor");
    if (!s->n) return ABUT_OK;
    PetscErrorCode code = VecPlaceArray(s->b, b + 3 * s->A.rows.lo);
    if (!code) code = VecPlaceArray(s->x, x + 3 * s->A.rows.lo);
    if (!code) code = alone(run, s);
    VecResetArray(s->b);
    VecResetArray(s->x);
    abut_ranks_join(s->ranks, x, (size_t)s->n, 3 * sizeof *x);
    return abut_petsc_check(code, "the solution", err);
}

/* ---- the operations ---- */

static abut_status analyse(void *self, const abut_operator *A, const int32_t *order, abut_err *err)
{
    backend *s = self;
    const int32_t n = A->matrix->n;
    (void)order;
    s->nnz = A->matrix->nnz;
    if (s->direct) {
        s->n = n;
        return ABUT_OK;
    }
    if (!A->where) return abut_fail(err, ABUT_E_ARG, "PETSc: the positions of %d rows are not known", n);
    if (s->n == n) return ABUT_OK;
    begin_step(s);
    double *where = realloc(s->where, (3 * (size_t)n + 1) * sizeof *where);
    if (!where) return abut_fail(err, ABUT_E_NOMEM, "PETSc: %d rows", n);
    memcpy(where, A->where, 3 * (size_t)n * sizeof *where);
    s->where = where;
    s->n = n;
    return ABUT_OK;
}

static abut_status factor_gamg(void *self, const abut_operator *A, abut_precision precision, abut_err *err)
{
    backend *s = self;
    (void)precision;
    if (s->n != A->matrix->n) return abut_fail(err, ABUT_E_ARG, "PETSc: %d rows, analysed for %d", A->matrix->n, s->n);
    return abut_cg_factor(&s->state, A, renew, s, err);
}

/* The matrix of ranks as one: each multiplies its rows, and all get all. */
typedef struct divided {
    backend *s;
    const abut_operator *A;
} divided;

static void multiply_divided(void *self, const double *x, double *y)
{
    const divided *d = self;
    abut_bsr_multiply(d->A->matrix, x, y);
    abut_ranks_join(d->A->ranks, y, (size_t)d->s->n, 3 * sizeof *y);
}

static abut_status renew_divided(void *self, const abut_operator *A, abut_err *err)
{
    (void)A;
    return renew(((divided *)self)->s, ((divided *)self)->A, err);
}

static abut_status solve_gamg(void *self, const abut_operator *A, const double *b, const abut_solve_goal *goal, double *x,
                              abut_err *err)
{
    backend *s = self;
    const abut_precond M = { apply, s, s->n };
    if (!s->factored) return abut_fail(err, ABUT_E_ARG, "PETSc: a solution without a factor");
    if (!A->ranks) return abut_cg_solve(&s->state, A, &M, renew, s, b, goal, x, err);
    divided d = { s, A };
    const abut_operator joined = { .n = s->n, .multiply = multiply_divided, .self = &d };
    abut_status rc = abut_cg_solve(&s->state, &joined, &M, renew_divided, &d, b, goal, x, err);
    if (rc == ABUT_E_NUMERIC && !s->damped && !s->by_parts) {
        rc = renew_damped(s, A, err);
        if (!rc) rc = abut_cg_solve(&s->state, &joined, &M, renew_divided, &d, b, goal, x, err);
    }
    return rc;
}

/* Parts have factors of each matrix: old ones take more iterations than they save. */
static abut_status factor_schwarz(void *self, const abut_operator *A, abut_precision precision, abut_err *err)
{
    abut_cg_forget(&((backend *)self)->state);
    return factor_gamg(self, A, precision, err);
}

static abut_status factor_direct(void *self, const abut_operator *A, abut_precision precision, abut_err *err)
{
    backend *s = self;
    (void)precision;
    s->factored = 0;
    if (s->n != A->matrix->n || s->nnz != A->matrix->nnz)
        return abut_fail(err, ABUT_E_ARG, "PETSc: %d rows and %zu blocks, analysed for %d and %zu", A->matrix->n, A->matrix->nnz,
                         s->n, s->nnz);
    return renew(s, A, err);
}

/* x may be b. */
static abut_status solve_direct(void *self, const abut_operator *A, const double *b, const abut_solve_goal *goal, double *x,
                                abut_err *err)
{
    backend *s = self;
    (void)A, (void)goal;
    if (b != x) return apply(s, b, x, err);
    const size_t size = 3 * (size_t)(s->n > 0 ? s->n : 0) * sizeof *x;
    double *copy = malloc(size + 1);
    if (!copy) return abut_fail(err, ABUT_E_NOMEM, "PETSc: %d rows", s->n);
    memcpy(copy, b, size);
    const abut_status rc = apply(s, copy, x, err);
    free(copy);
    return rc;
}

static abut_linear_stats stats(const void *self)
{
    const backend *s = self;
    MatInfo info;
    Mat F = NULL;
    abut_linear_stats is = { .iterations = s->state.iterations };
    if (!s->direct || !s->factored || !s->n || PCFactorGetMatrix(s->pc, &F) || !F || MatGetInfo(F, MAT_LOCAL, &info)) return is;
    is.nnz = info.nz_used;
    is.bytes = (size_t)info.nz_used * sizeof(double);
    return is;
}

const abut_linear_solver_ops abut_linear_petsc_gamg = {
    .name = "petsc-gamg", .help = "conjugate gradients with PETSc's algebraic multigrid on rigid motions",
    .can = ABUT_IS_ITERATIVE, .history = "petsc-gamg of PETSc " VERSION,
    .make = make_gamg, .begin_step = begin_step, .analyse = analyse, .factor = factor_gamg, .solve = solve_gamg, .stats = stats,
    .free = release,
};
const abut_linear_solver_ops abut_linear_petsc_schwarz = {
    .name = "petsc-schwarz", .help = "conjugate gradients with PETSc's Schwarz methods on parts and rigid motions",
    .can = ABUT_IS_ITERATIVE, .history = "petsc-schwarz of PETSc " VERSION,
    .make = make_schwarz, .begin_step = begin_step, .analyse = analyse, .factor = factor_schwarz, .solve = solve_gamg,
    .stats = stats, .free = release,
};
const abut_linear_solver_ops abut_linear_petsc_cholmod = {
    .name = "petsc-cholmod", .help = "CHOLMOD as PETSc calls it, for comparison",
    .can = ABUT_CAN_PRECONDITION | ABUT_HAS_OWN_ORDER, .history = "petsc-cholmod of PETSc " VERSION,
    .make = make_cholmod, .analyse = analyse, .factor = factor_direct, .solve = solve_direct, .apply = apply, .stats = stats,
    .free = release,
};
const abut_linear_solver_ops abut_linear_petsc_mumps = {
    .name = "petsc-mumps", .help = "MUMPS as PETSc calls it, for comparison",
    .can = ABUT_CAN_PRECONDITION | ABUT_HAS_OWN_ORDER, .history = "petsc-mumps of PETSc " VERSION,
    .make = make_mumps, .analyse = analyse, .factor = factor_direct, .solve = solve_direct, .apply = apply, .stats = stats,
    .free = release,
};

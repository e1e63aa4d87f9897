/* PETSc in one process, behind the seam of linear solvers; built by `make PETSC=1`, which finds it by pkg-config.
 *
 * petsc-gamg    conjugate gradients of this library (sparse/pcg.h), preconditioned by a cycle of smoothed aggregation: PCGAMG on
 *               scalar rows in blocks of three, with the rigid motions at the positions of the rows as near-null space (Vanek,
 *               Mandel and Brezina 1996).  Interpolation lasts while the pattern of the matrix does, within a step.
 * petsc-schwarz conjugate gradients of this library, preconditioned by Cholesky factors of parts of some hundred rows and by
 *               the rigid motions of sets of them (sparse/petsc/petsc.h), made of each matrix; parts last for a step.
 * petsc-cholmod, petsc-mumps    Cholesky of these libraries as PETSc offers them, in orders of their own.
 *
 * The matrix of ranks (sparse/operator.h) is PETSc's MPIAIJ over all processes of MPI.  All of them make and apply the
 * preconditioner, products go by rows, and each has the whole vectors of the iterations.  Parts and motions of petsc-schwarz,
 * and so its iterations, do not depend on the number of ranks; aggregates and sweeps of petsc-gamg do.
 *
 * Same matrices, same bytes, for every number of threads, with one version of PETSc and its libraries: one thread does all work.
 * The code sets all options: option files are not read, and PETSC_OPTIONS is cleared after the start.  The first solver that is
 * made starts PETSc, and MPI on one process unless MPI has been started. */
#include "sparse/petsc/petsc.h"

#include "base/arena.h"
#include "sparse/linear_solver.h"
#include "sparse/pcg.h"

#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD(n) #n
#define NUMBER(n) WORD(n)
#define VERSION NUMBER(PETSC_VERSION_MAJOR) "." NUMBER(PETSC_VERSION_MINOR) "." NUMBER(PETSC_VERSION_SUBMINOR)

/* ---- PETSc itself ---- */

static void finish(void)
{
    PetscBool done = PETSC_FALSE;
    if (!PetscFinalized(&done) && !done) PetscFinalize();
}

/* Turns PETSc's code into a status, `what` in the message: ABUT_OK, ABUT_E_NOMEM, ABUT_E_NUMERIC for a pivot and all else. */
static abut_status check(PetscErrorCode code, const char *what, abut_err *err)
{
    const char *text = NULL;
    if (!code) return ABUT_OK;
    if (code == PETSC_ERR_MEM) return abut_fail(err, ABUT_E_NOMEM, "PETSc: %s: out of memory", what);
    if (code == PETSC_ERR_MAT_CH_ZRPVT || code == PETSC_ERR_MAT_LU_ZRPVT)
        return abut_fail(err, ABUT_E_NUMERIC, "PETSc: %s: a pivot is not positive", what);
    if (PetscErrorMessage(code, &text, NULL) || !text) text = "no message";
    return abut_fail(err, ABUT_E_NUMERIC, "PETSc: %s failed with code %d: %s", what, (int)code, text);
}

/* Starts PETSc unless it runs; on one process unless MPI has been started: state of the process.
 * Fails  ABUT_E_IO as PETSc says */
static abut_status start(abut_err *err)
{
    static char name[] = "abut", no_file[] = "-skip_petscrc", no_signals[] = "-no_signal_handler";
    char *words[] = { name, no_file, no_signals, NULL }, **argv = words;
    int argc = 3;
    PetscBool is_ready = PETSC_FALSE;
    if (PetscInitialized(&is_ready)) return abut_fail(err, ABUT_E_IO, "PETSc does not answer");
    if (is_ready) return ABUT_OK;
    if (PetscInitialize(&argc, &argv, NULL, NULL)) return abut_fail(err, ABUT_E_IO, "PETSc does not start");
    atexit(finish);
    /* failures are returned, not printed; PETSC_OPTIONS is cleared */
    PetscErrorCode code = PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
    if (!code) code = PetscOptionsClear(NULL);
    if (!code) code = PetscOptionsSetValue(NULL, "-mat_no_inode", "1");
    if (!code) code = PetscOptionsSetValue(NULL, "-mat_cholmod_print", "0");
    return check(code, "the start", err);
}

/* ---- the matrix ---- */

static void matrix_clear(abut_petsc_matrix *m)
{
    MatDestroy(&m->mat);
    ABUT_FREE(m->ptr, m->row, m->first, m->col, m->val, m->slot);
    *m = (abut_petsc_matrix){ 0 };
}

/* 1: m has the pattern of A. */
static int matrix_fits(const abut_petsc_matrix *m, const abut_bsr *A)
{
    return m->mat && m->n == A->n && m->nnz == A->nnz && !memcmp(m->ptr, A->ptr, ((size_t)A->n + 1) * sizeof *A->ptr) &&
           !memcmp(m->row, A->row, A->nnz * sizeof *A->row);
}

static abut_status reserve(abut_petsc_matrix *m, const abut_bsr *A, size_t blocks)
{
    const size_t n = m->rows.hi - m->rows.lo;
    m->ptr = malloc(((size_t)A->n + 1) * sizeof *m->ptr);
    m->row = malloc((A->nnz + 1) * sizeof *m->row);
    m->first = malloc((3 * n + 1) * sizeof *m->first);
    m->col = malloc((9 * blocks + 1) * sizeof *m->col);
    m->val = calloc(9 * blocks + 1, sizeof *m->val);
    m->slot = calloc(n + 1, sizeof *m->slot);
    return m->ptr && m->row && m->first && m->col && m->val && m->slot ? ABUT_OK : ABUT_E_NOMEM;
}

static int is_here(const abut_petsc_matrix *m, int32_t r)
{
    return (size_t)r >= m->rows.lo && (size_t)r < m->rows.hi;
}

/* Takes the next free block of the r-th local block row: returns the index of its entry (0, 0); *row: entries of a scalar row. */
static PetscInt take(abut_petsc_matrix *m, size_t r, PetscInt *row)
{
    *row = (m->first[3 * r + 1] - m->first[3 * r]);
    return m->first[3 * r] + 3 * m->slot[r]++;
}

/* Columns ascend, so each block row gets its blocks left of the diagonal first, then its own column from the diagonal on. */
static void each_block(abut_petsc_matrix *m, const abut_bsr *A, void (*put)(abut_petsc_matrix *m, PetscInt at, PetscInt row,
                       int32_t column, const double *v, int transposed))
{
    const size_t lo = m->rows.lo;
    PetscInt row;
    memset(m->slot, 0, (m->rows.hi - lo) * sizeof *m->slot);
    for (int32_t c = 0; c < A->n; c++)
        for (size_t b = A->ptr[c]; b < A->ptr[c + 1]; b++) {
            const int32_t r = A->row[b];
            if (is_here(m, r)) {
                const PetscInt own = take(m, (size_t)r - lo, &row);
                put(m, own, row, c, A->val + 9 * b, 0);
            }
            if (r == c || !is_here(m, c)) continue;
            const PetscInt other = take(m, (size_t)c - lo, &row);
            put(m, other, row, r, A->val + 9 * b, 1);
        }
}

static void put_columns(abut_petsc_matrix *m, PetscInt at, PetscInt row, int32_t column, const double *v, int transposed)
{
    (void)v, (void)transposed;
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++) m->col[at + d * row + e] = 3 * column + e;
}

static void put_values(abut_petsc_matrix *m, PetscInt at, PetscInt row, int32_t column, const double *v, int transposed)
{
    (void)column;
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++) m->val[at + d * row + e] = transposed ? v[3 * e + d] : v[3 * d + e];
}

static void set_pattern(abut_petsc_matrix *m, const abut_bsr *A)
{
    const size_t lo = m->rows.lo, n = m->rows.hi - lo;
    PetscInt *blocks = m->slot, at = 0;
    memcpy(m->ptr, A->ptr, ((size_t)A->n + 1) * sizeof *m->ptr);
    memcpy(m->row, A->row, A->nnz * sizeof *m->row);
    for (int32_t c = 0; c < A->n; c++)
        for (size_t b = A->ptr[c]; b < A->ptr[c + 1]; b++) {
            if (is_here(m, A->row[b])) blocks[(size_t)A->row[b] - lo]++;
            if (is_here(m, c)) blocks[(size_t)c - lo] += A->row[b] != c;
        }
    for (size_t r = 0; r < n; r++)
        for (size_t d = 0; d < 3; d++, at += 3 * blocks[r]) m->first[3 * r + d] = at;
    m->first[3 * n] = at;
    m->n = A->n;
    m->nnz = A->nnz;
    each_block(m, A, put_columns);
}

/* Blocks of the rows that are here. */
static size_t count_blocks(const abut_petsc_matrix *m, const abut_bsr *A)
{
    size_t n = 0;
    for (int32_t c = 0; c < A->n; c++)
        for (size_t b = A->ptr[c]; b < A->ptr[c + 1]; b++)
            n += (size_t)is_here(m, A->row[b]) + (size_t)(A->row[b] != c && is_here(m, c));
    return n;
}

/* PETSc copies what it gets of a part. */
static PetscErrorCode create_matrix(abut_petsc_matrix *m, const abut_bsr *A)
{
    const PetscInt n = (PetscInt)(3 * (m->rows.hi - m->rows.lo)), all = 3 * A->n;
    if (!m->is_part) return MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, m->first, m->col, m->val, &m->mat);
    const PetscErrorCode code = MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, n, n, all, all, m->first, m->col, m->val, &m->mat);
    ABUT_FREE(m->col, m->val);
    m->col = NULL;
    m->val = NULL;
    return code;
}

/* The pattern of A, values zero, in the place of what m had.  ranks: A has the rows of this one whole, and all ranks come here;
 * NULL: it has all rows.  Fails  ABUT_E_ARG more entries than PETSc numbers; ABUT_E_NOMEM */
static abut_status matrix_set(abut_petsc_matrix *m, const abut_bsr *A, const abut_ranks *ranks, abut_err *err)
{
    matrix_clear(m);
    m->is_part = ranks && ranks->size > 1;
    m->rows = abut_ranks_part(ranks, (size_t)A->n);
    const size_t blocks = count_blocks(m, A);
    if (9 * blocks >= INT_MAX || A->n > (INT_MAX - 1) / 3)
        return abut_fail(err, ABUT_E_ARG, "PETSc: %zu entries: its numbers have 32 bits, want less than 2^31", 9 * blocks);
    if (reserve(m, A, blocks)) return matrix_clear(m), abut_fail(err, ABUT_E_NOMEM, "PETSc: %zu entries", 9 * blocks);
    set_pattern(m, A);
    PetscErrorCode code = create_matrix(m, A);
    if (!code) code = MatSetBlockSize(m->mat, 3);
    if (!code) code = MatSetOption(m->mat, MAT_SPD, PETSC_TRUE);
    const abut_status rc = check(code, "the matrix", err);
    if (rc) matrix_clear(m);
    return rc;
}

/* PETSc copies them: they are here only meanwhile. */
static abut_status fill_part(abut_petsc_matrix *m, const abut_bsr *A, abut_err *err)
{
    const size_t entries = (size_t)m->first[3 * (m->rows.hi - m->rows.lo)];
    m->val = malloc((entries + 1) * sizeof *m->val);
    if (!m->val) return abut_fail(err, ABUT_E_NOMEM, "PETSc: %zu values", entries);
    each_block(m, A, put_values);
    const abut_status rc = check(MatUpdateMPIAIJWithArray(m->mat, m->val), "the values", err);
    free(m->val);
    m->val = NULL;
    return rc;
}

/* The values of A, which has the pattern. */
static abut_status matrix_fill(abut_petsc_matrix *m, const abut_bsr *A, abut_err *err)
{
    PetscScalar *val;       /* m->val; that it was lent tells the library of new values */
    if (m->is_part) return fill_part(m, A, err);
    const abut_status rc = check(MatSeqAIJGetArray(m->mat, &val), "the values", err);
    if (rc) return rc;
    each_block(m, A, put_values);
    return check(MatSeqAIJRestoreArray(m->mat, &val), "the values", err);
}

/* ---- PCGAMG as this library wants it ---- */

#define DAMPED "0.4"        /* sweeps of ranks: below a half, as an element of four corners touches no more than four of them */

static PetscErrorCode set_option(const char *name, const char *value)
{
    return PetscOptionsSetValue(NULL, name, value);
}

/* Smoothed aggregation of nodes; symmetric Gauss-Seidel sweeps, which converge for every positive definite matrix, so that the
 * cycle is positive definite.  Chebyshev's, PETSc's default, need a bound on eigenvalues: its estimate is too low where contacts
 * are stiff.  An aggregate of one or two nodes has fewer unknowns than rigid motions, hence rows of zeros on the coarse level:
 * the shift, too small to be seen elsewhere, lets the sweeps divide there, 0 by it (start switches inodes off, of
 * which blocks would be inverted).
 *
 * Ranks sweep side by side, each by its own rows, and with more than two of them such sweeps need not converge.  So theirs are
 * accelerated by Chebyshev's polynomials, with more steps for the bound, which few rows between ranks exceed; where the estimate
 * turns out too low all the same, they are damped. */
static PetscErrorCode configure_gamg(PC pc, Mat A, int polynomials, int damped)
{
    char shift[32];
    PetscReal most = 0;
    Vec diagonal = NULL;
    PetscErrorCode code = MatCreateVecs(A, &diagonal, NULL);
    if (!code) code = MatGetDiagonal(A, diagonal);
    if (!code) code = VecMax(diagonal, NULL, &most);
    VecDestroy(&diagonal);
    snprintf(shift, sizeof shift, "%.3e", 1e-13 * (most > 0 ? most : 1));
    if (!code) code = PCSetType(pc, PCGAMG);
    if (!code) code = set_option("-abut_mg_levels_pc_sor_diagonal_shift", shift);
    if (!code) code = PCSetOptionsPrefix(pc, "abut_");
    if (!code) code = set_option("-abut_pc_gamg_agg_nsmooths", "1");
    if (!code) code = set_option("-abut_mg_levels_ksp_type", polynomials ? "chebyshev" : "richardson");
    if (!code) code = set_option("-abut_mg_levels_ksp_chebyshev_esteig", "0,0.1,0,1.2");
    if (!code) code = set_option("-abut_mg_levels_esteig_ksp_max_it", "20");
    if (!code) code = set_option("-abut_mg_levels_ksp_richardson_scale", damped ? DAMPED : "1");
    if (!code) code = set_option("-abut_mg_levels_pc_type", "sor");
    if (!code) code = PCGAMGSetReuseInterpolation(pc, PETSC_TRUE);
    return code ? code : PCSetFromOptions(pc);
}

/* ---- the solvers ---- */

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

static abut_status make(void *self, const abut_linear_solver_ops *ops, int threads, abut_err *err)
{
    backend *s = self;
    (void)threads;
    s->n = -1;
    s->by_parts = ops == &abut_linear_petsc_schwarz;
    s->direct = ops == &abut_linear_petsc_cholmod ? MATSOLVERCHOLMOD : ops == &abut_linear_petsc_mumps ? MATSOLVERMUMPS : NULL;
    return start(err);
}

/* Without preconditioner and matrix; the analysis stays. */
static void forget_matrix(backend *s)
{
    PCDestroy(&s->pc);
    abut_petsc_schwarz_clear(&s->schwarz);
    VecDestroy(&s->b);
    VecDestroy(&s->x);
    matrix_clear(&s->A);
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

static void clear(void *self)
{
    backend *s = self;
    forget_matrix(s);
    abut_strong_parts_clear(&s->parts);
    abut_cg_clear(&s->state);
    free(s->where);
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
    return s->direct ? configure_direct(s) : configure_gamg(s->pc, s->A.mat, s->ranks && !s->damped, s->damped);
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
    abut_status rc = check(code, "the factorisation", err);
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
    int is_new = !matrix_fits(&s->A, A->matrix);
    abut_status rc = any_of_ranks(A->ranks, &is_new, err);
    s->factored = 0;
    s->ranks = A->ranks;
    if (!rc && s->by_parts && s->parts.n != s->n) rc = abut_strong_parts_cut(&s->parts, A, err);
    if (!rc && is_new) {
        forget_matrix(s);
        rc = matrix_set(&s->A, A->matrix, s->ranks, err);
    }
    if (!rc) rc = matrix_fill(&s->A, A->matrix, err);
    if (!rc && is_new && s->n) rc = check(create(s), "the preconditioner", err);
    if (!rc && s->n) rc = check(alone(set_up, s), s->direct ? "the factorisation" : "the hierarchy", err);
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
    return check(code, "the solution", err);
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
    const abut_precond M = { apply, s, s->n, NULL };
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
    .size = sizeof(backend), .make = make, .begin_step = begin_step, .analyse = analyse, .factor = factor_gamg,
    .solve = solve_gamg, .stats = stats, .clear = clear,
};
const abut_linear_solver_ops abut_linear_petsc_schwarz = {
    .name = "petsc-schwarz", .help = "conjugate gradients with PETSc's Schwarz methods on parts and rigid motions",
    .can = ABUT_IS_ITERATIVE, .history = "petsc-schwarz of PETSc " VERSION,
    .size = sizeof(backend), .make = make, .begin_step = begin_step, .analyse = analyse, .factor = factor_schwarz,
    .solve = solve_gamg, .stats = stats, .clear = clear,
};
const abut_linear_solver_ops abut_linear_petsc_cholmod = {
    .name = "petsc-cholmod", .help = "CHOLMOD as PETSc calls it, for comparison",
    .can = ABUT_CAN_PRECONDITION | ABUT_HAS_OWN_ORDER, .history = "petsc-cholmod of PETSc " VERSION,
    .size = sizeof(backend), .make = make, .analyse = analyse, .factor = factor_direct, .solve = solve_direct,
    .apply = apply, .stats = stats, .clear = clear,
};
const abut_linear_solver_ops abut_linear_petsc_mumps = {
    .name = "petsc-mumps", .help = "MUMPS as PETSc calls it, for comparison",
    .can = ABUT_CAN_PRECONDITION | ABUT_HAS_OWN_ORDER, .history = "petsc-mumps of PETSc " VERSION,
    .size = sizeof(backend), .make = make, .analyse = analyse, .factor = factor_direct, .solve = solve_direct,
    .apply = apply, .stats = stats, .clear = clear,
};

/* SuiteSparse CHOLMOD (Chen, Davis, Hager and Rajamanickam 2008): as a linear solver, and its ordering by approximate minimum
 * degree.  This file alone includes the library's header.  BLAS runs in one thread, so no bit depends on their number. */
#include "sparse/linear_solver.h"

#include "math/blas.h"

#include <cholmod.h>
#include <limits.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* The library is loaded when a matrix is first factored or ordered, after OpenBLAS, whose routines it then takes. */
#define FUNCTIONS(F) \
    F(start) F(finish) F(allocate_sparse) F(free_sparse) F(allocate_dense) F(free_dense) F(free_factor) F(amd) F(analyze_p) \
    F(factorize) F(solve2)
typedef struct library {
    #define F(name) __typeof__(cholmod_##name) *name;
    FUNCTIONS(F)
    #undef F
} library;

/* soname and Debian's package have the number of the interface that was compiled against */
#define TEXT(x) #x
#define NUMBER(x) TEXT(x)
#define NUMBERED(before) before NUMBER(CHOLMOD_MAIN_VERSION)

static abut_status load(library *lib, abut_err *err)
{
    abut_blas blas;
    void *so;
    abut_status rc = abut_blas_open(&blas, err);
    if (!rc) rc = abut_library_open(&so, NUMBERED("libcholmod.so."), 0, NUMBERED("libcholmod"), err);
    #define F(name) if (!rc) rc = abut_library_function(so, "cholmod_" #name, &lib->name, err);
    FUNCTIONS(F)
    #undef F
    return rc;
}

typedef struct backend {
    library lib;
    cholmod_common com;
    int32_t n;              /* block rows; -1: no analysis */
    size_t nnz;             /* blocks of the matrix as analysed */
    int scalar;             /* one number of each block is a matrix for x, y and z alike */
    cholmod_sparse *A;      /* scalar lower triangle; its pattern is the analysed one */
    cholmod_factor *L;
    int factored;
    double flops;           /* of one factorisation; com's last value is lost when an order is asked for */
    int32_t bad_row;
    cholmod_dense *b, *x, *Y, *E;   /* right-hand side, solution, CHOLMOD's work space */
} backend;

static abut_status library_failed(const cholmod_common *com, const char *what, abut_err *err)
{
    if (com->status == CHOLMOD_OUT_OF_MEMORY || com->status == CHOLMOD_TOO_LARGE) return abut_no_memory("CHOLMOD", err);
    return abut_fail(err, ABUT_E_NUMERIC, "CHOLMOD: %s failed with status %d", what, com->status);
}

/* ---- ordering ---- */

/* A matrix of one entry for each block, lower triangle, without values. */
static cholmod_sparse *block_pattern(const library *lib, const abut_bsr *A, int kind, cholmod_common *com)
{
    cholmod_sparse *G = lib->allocate_sparse((size_t)A->n, (size_t)A->n, A->nnz, 1, 1, -1, kind, com);
    if (!G) return NULL;
    int *p = G->p, *i = G->i;
    for (int32_t c = 0; c <= A->n; c++) p[c] = (int)A->ptr[c];
    memcpy(i, A->row, A->nnz * sizeof *i);
    return G;
}

abut_status abut_cholmod_order(const abut_bsr *A, int32_t *perm, abut_err *err)
{
    library loaded, *const lib = &loaded;
    cholmod_common com;
    abut_status rc = load(lib, err);
    if (rc) return rc;
    lib->start(&com);
    com.print = 0;
    cholmod_sparse *G = block_pattern(lib, A, CHOLMOD_PATTERN, &com);
    const int done = G && lib->amd(G, NULL, 0, perm, &com);
    rc = done || !A->n ? ABUT_OK : library_failed(&com, "the ordering", err);
    lib->free_sparse(&G, &com);
    lib->finish(&com);
    return rc;
}

/* ---- the matrix ---- */

/* The first entries of the blocks. */
static void first_entries(const abut_bsr *A, double *to)
{
    for (size_t b = 0; b < A->nnz; b++) to[b] = A->val[9 * b];
}

/* Scalar columns of block column c: block rows from the diagonal on, of the diagonal block the lower triangle. */
static cholmod_sparse *scalar_pattern(const library *lib, const abut_bsr *A, cholmod_common *com)
{
    const size_t entries = 9 * A->nnz - 3 * (size_t)A->n;
    cholmod_sparse *S = lib->allocate_sparse(3 * (size_t)A->n, 3 * (size_t)A->n, entries, 1, 1, -1, CHOLMOD_REAL, com);
    if (!S) return NULL;
    int *p = S->p, *row = S->i, at = 0;
    for (int32_t c = 0; c < A->n; c++)
        for (int k = 0; k < 3; k++) {
            p[3 * c + k] = at;
            for (size_t b = A->ptr[c]; b < A->ptr[c + 1]; b++)
                for (int d = b == A->ptr[c] ? k : 0; d < 3; d++) row[at++] = 3 * A->row[b] + d;
        }
    p[3 * A->n] = at;
    return S;
}

static void scalar_values(const abut_bsr *A, double *to)
{
    for (int32_t c = 0; c < A->n; c++)
        for (int k = 0; k < 3; k++)
            for (size_t b = A->ptr[c]; b < A->ptr[c + 1]; b++)
                for (int d = b == A->ptr[c] ? k : 0; d < 3; d++) *to++ = A->val[9 * b + 3 * (size_t)d + (size_t)k];
}

/* ---- the operations ---- */

static abut_status cholmod_make(void *self, const abut_linear_solver_ops *ops, int threads, abut_err *err)
{
    backend *s = self;
    (void)ops, (void)threads;
    const abut_status rc = load(&s->lib, err);
    if (rc) return rc;
    s->lib.start(&s->com);
    s->com.print = 0;
    s->com.supernodal = CHOLMOD_SUPERNODAL;
    s->com.final_ll = 1;
    s->com.nmethods = 1;
    s->com.postorder = 1;
    s->n = s->bad_row = -1;
    return ABUT_OK;
}

static void forget(backend *s)
{
    s->lib.free_sparse(&s->A, &s->com);
    s->lib.free_factor(&s->L, &s->com);
    s->lib.free_dense(&s->b, &s->com);
    s->lib.free_dense(&s->x, &s->com);
    s->lib.free_dense(&s->Y, &s->com);
    s->lib.free_dense(&s->E, &s->com);
    s->n = s->bad_row = -1;
    s->factored = 0;
}

/* The order of scalar rows from that of blocks. */
static int *scalar_order(const int32_t *order, int32_t n, int rows)
{
    int *perm = malloc(((size_t)rows * (size_t)n + 1) * sizeof *perm);
    for (int32_t k = 0; perm && k < n; k++)
        for (int d = 0; d < rows; d++) perm[rows * k + d] = rows * order[k] + d;
    return perm;
}

static abut_status analyse(backend *s, const abut_bsr *A, const int32_t *order, abut_err *err)
{
    const int rows = s->scalar ? 1 : 3;
    if (9 * A->nnz > INT_MAX) return abut_fail(err, ABUT_E_ARG, "CHOLMOD: %zu blocks, at most %d", A->nnz, INT_MAX / 9);
    s->A = s->scalar ? block_pattern(&s->lib, A, CHOLMOD_REAL, &s->com) : scalar_pattern(&s->lib, A, &s->com);
    const size_t n = (size_t)rows * (size_t)A->n;
    s->b = s->A ? s->lib.allocate_dense(n, s->scalar ? 3 : 1, n, CHOLMOD_REAL, &s->com) : NULL;
    int *perm = order ? scalar_order(order, A->n, rows) : NULL;
    if (!s->A || !s->b || (order && !perm)) return free(perm), abut_no_memory("CHOLMOD", err);
    s->com.method[0].ordering = order ? CHOLMOD_GIVEN : CHOLMOD_AMD;
    s->L = s->lib.analyze_p(s->A, perm, NULL, 0, &s->com);
    free(perm);
    if (!s->L) return s->com.status == CHOLMOD_INVALID
                          ? abut_fail(err, ABUT_E_ARG, "CHOLMOD: ordering: no permutation of %d block rows", A->n)
                          : library_failed(&s->com, "the analysis", err);
    s->flops = s->com.fl;
    /* all that a solution writes to: the library does not look whether it got its own work space */
    const size_t sides = s->scalar ? 3 : 1;
    s->x = s->lib.allocate_dense(n, sides, n, CHOLMOD_REAL, &s->com);
    s->Y = s->lib.allocate_dense(n, sides, n, CHOLMOD_REAL, &s->com);
    s->E = s->lib.allocate_dense(sides, s->L->maxesize, sides, CHOLMOD_REAL, &s->com);
    return s->x && s->Y && s->E ? ABUT_OK : abut_no_memory("CHOLMOD", err);
}

static abut_status cholmod_analyse_pattern(void *self, const abut_operator *A, const int32_t *order, abut_err *err)
{
    backend *s = self;
    forget(s);
    s->scalar = A->scalar;
    const abut_status rc = analyse(s, A->matrix, order, err);
    if (rc) forget(s);
    else s->n = A->matrix->n, s->nnz = A->matrix->nnz;
    return rc;
}

/* Calls `what` with one thread: CHOLMOD would take a fixed number of threads, BLAS all of them. */
static int alone(int (*what)(backend *s), backend *s)
{
    int done = 0;
    #pragma omp parallel num_threads(1)
    {
        const int levels = omp_get_max_active_levels();
        omp_set_num_threads(1);
        omp_set_max_active_levels(0);
        done = what(s);
        omp_set_max_active_levels(levels);
    }
    return done;
}

static int factorise(backend *s) { return s->lib.factorize(s->A, s->L, &s->com); }

/* CHOLMOD reports a matrix that is not positive definite as a positive status of a call that returns true. */
static abut_status cholmod_factor_values(void *self, const abut_operator *A, abut_precision precision, abut_err *err)
{
    backend *s = self;
    (void)precision;
    s->factored = 0;
    s->bad_row = -1;
    if (s->n != A->matrix->n || s->nnz != A->matrix->nnz)
        return abut_fail(err, ABUT_E_ARG, "CHOLMOD: %d rows and %zu blocks, analysed for %d and %zu", A->matrix->n,
                         A->matrix->nnz, s->n, s->nnz);
    if (!s->n) return s->factored = 1, ABUT_OK;
    if (s->scalar) first_entries(A->matrix, s->A->x);
    else scalar_values(A->matrix, s->A->x);
    const int done = alone(factorise, s);
    if (done && s->com.status == CHOLMOD_OK && s->L->minor == s->L->n) return s->factored = 1, ABUT_OK;
    if (s->com.status != CHOLMOD_NOT_POSDEF && s->L->minor == s->L->n) return library_failed(&s->com, "the factorisation", err);
    const int *perm = s->L->Perm;
    const int pivot = perm[s->L->minor < s->L->n ? s->L->minor : s->L->n - 1];
    s->bad_row = s->scalar ? pivot : pivot / 3;
    return abut_fail(err, ABUT_E_NUMERIC, "pivot %d is not positive", pivot);
}

static int solve(backend *s)
{
    return s->lib.solve2(CHOLMOD_A, s->L, s->b, NULL, &s->x, NULL, &s->Y, &s->E, &s->com);
}

static abut_status cholmod_apply(void *self, const double *b, double *x, abut_err *err)
{
    backend *s = self;
    if (!s->factored) return abut_fail(err, ABUT_E_ARG, "CHOLMOD: a solution without a factor");
    if (!s->n) return ABUT_OK;
    /* x, y and z of a row lie together; where they are three right-hand sides, they are columns of the library */
    const size_t n = (size_t)s->n, row = s->scalar ? 1 : 3, column = s->scalar ? n : 1;
    double *to = s->b->x;
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < 3; d++) to[row * i + column * d] = b[3 * i + d];
    if (!alone(solve, s)) return library_failed(&s->com, "the solution", err);
    const double *from = s->x->x;
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < 3; d++) x[3 * i + d] = from[row * i + column * d];
    return ABUT_OK;
}

static abut_status cholmod_solve_system(void *self, const abut_operator *A, const double *b, const abut_solve_goal *goal,
                                        double *x, abut_err *err)
{
    (void)A, (void)goal;
    return cholmod_apply(self, b, x, err);
}

static int32_t cholmod_bad_row(const void *self)
{
    return ((const backend *)self)->bad_row;
}

static abut_linear_stats cholmod_stats(const void *self)
{
    const backend *s = self;
    if (!s->L) return (abut_linear_stats){ 0 };
    return (abut_linear_stats){ .nnz = (double)s->L->xsize, .flops = s->flops, .bytes = s->L->xsize * sizeof(double) };
}

static void cholmod_clear(void *self)
{
    backend *s = self;
    forget(s);
    s->lib.finish(&s->com);
}

const abut_linear_solver_ops abut_linear_cholmod = {
    .name = "cholmod", .help = "supernodal Cholesky of SuiteSparse",
    .can = ABUT_CAN_PRECONDITION | ABUT_CAN_SCALAR,
    .size = sizeof(backend), .make = cholmod_make, .analyse = cholmod_analyse_pattern, .factor = cholmod_factor_values,
    .solve = cholmod_solve_system, .apply = cholmod_apply, .bad_row = cholmod_bad_row, .stats = cholmod_stats,
    .clear = cholmod_clear,
};

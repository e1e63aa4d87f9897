/* Linear solvers A x = b for a symmetric positive definite A of 3x3 blocks: analyse (pattern), factor (values), solve, each as
 * often as wanted.  A backend is a table of operations; a new one is a file with its table and a row in linear_solver.c.
 *
 * A factor keeps no matrix: it may outlive the matrix that it came from and precondition a later one.  The results of every
 * backend have the same bits for every number of threads. */
#ifndef ABUT_SPARSE_LINEAR_SOLVER_H
#define ABUT_SPARSE_LINEAR_SOLVER_H

#include "sparse/operator.h"

/* Stopping rule of iterations with the residual r: |r|_2 <= close |b|_2; or |r|_2 <= far |b|_2 and the estimated error of every
 * x_i (sparse/pcg.h) is at most `fraction` of max |x_i|, and at most `within` if max |x_i| <= near.  With `drop`, the only test
 * is r . M^-1 r <= drop b . M^-1 b, M the preconditioner.  If M is a factor close to A (sparse/reuse.h), M^-1 r estimates the
 * error, and neither `close` nor `drop` applies. */
typedef struct abut_solve_goal {
    double far, close;
    double near;            /* m */
    double fraction;
    double within;          /* m */
    double drop;            /* 0: none */
    int most;               /* iterations, after which the solution is given up; 0: as many as the solver thinks fit */
} abut_solve_goal;

typedef struct abut_linear_stats {
    double nnz, flops;      /* of the factors; 0: none */
    size_t bytes;           /* of the factors, in the precision that they have */
    int iterations;         /* of the last solve; 0: direct */
} abut_linear_stats;

typedef enum abut_precision { ABUT_DOUBLE, ABUT_SINGLE } abut_precision;
enum {
    ABUT_CAN_SINGLE = 1,        /* factors in single precision */
    ABUT_CAN_PRECONDITION = 2,  /* `apply` is there */
    ABUT_IS_ITERATIVE = 4,      /* solve reads the matrix and the goal */
    ABUT_CAN_SCALAR = 8,        /* operators that are scalar */
    ABUT_CAN_MATRIX_FREE = 16,  /* operators without a matrix */
    ABUT_HAS_OWN_ORDER = 32     /* direct; eliminates in its own order and ignores the one given to `analyse` */
};

typedef struct abut_linear_solver_ops {
    const char *name, *help;    /* of step --linear-solver */
    unsigned can;               /* ABUT_CAN_*, ABUT_IS_*, ABUT_HAS_* */
    const char *history;        /* name with the version of the library that its bits depend on, for streams; NULL: name */
    size_t size;                /* bytes of an instance */
    /** self: an instance filled with 0, to be made one of the row `ops`, without an analysis; NULL: that is all.
     * threads >= 1: no bit depends on it.  Fails  ABUT_E_ARG, ABUT_E_NOMEM; then self owns nothing */
    abut_status (*make)(void *self, const struct abut_linear_solver_ops *ops, int threads, abut_err *err);
    /** The rows of the first matrix from here on may be cut into parts that last until the next call; NULL: nothing lasts. */
    void (*begin_step)(void *self);
    /** order[n]: block row order[k] is eliminated k-th; NULL: the solver's own.  On failure there is no analysis. */
    abut_status (*analyse)(void *self, const abut_operator *A, const int32_t *order, abut_err *err);
    /** Fails  ABUT_E_NUMERIC a pivot is not positive: bad_row says where; the former factor is lost */
    abut_status (*factor)(void *self, const abut_operator *A, abut_precision precision, abut_err *err);
    /** x = A^-1 b, [3 n]; a direct solver takes no goal, and its x may be b.
     * Fails  ABUT_E_NUMERIC the goal is out of reach, or, after 0 iterations by the stats, A is not positive definite;
     *        ABUT_E_ARG no factor */
    abut_status (*solve)(void *self, const abut_operator *A, const double *b, const abut_solve_goal *goal, double *x,
                         abut_err *err);
    /** Solves for the connected parts of A that have a row among wanted[n] (1), with the bits of `solve`; x of other parts may
     * stay unchanged or be solved for.  Direct solvers only; x is not b.  NULL: `solve` is called. */
    abut_status (*solve_parts)(void *self, const uint8_t *wanted, const double *b, double *x, abut_err *err);
    /** x = M^-1 b by the factor alone, x not b; NULL: it cannot precondition. */
    abut_status (*apply)(void *self, const double *b, double *x, abut_err *err);
    /** Block row of the pivot that failed in the last factor, -1: none or not known; NULL: never known. */
    int32_t (*bad_row)(const void *self);
    abut_linear_stats (*stats)(const void *self);
    /** Frees what an instance owns. */
    void (*clear)(void *self);
} abut_linear_solver_ops;

/* Zero-filled is empty. */
typedef struct abut_linear_solver {
    const abut_linear_solver_ops *ops;
    void *self;
    int32_t n;              /* block rows as analysed */
} abut_linear_solver;

ABUT_MUST_USE abut_status abut_linear_solver_init(abut_linear_solver *s, const abut_linear_solver_ops *ops, int threads,
                                                  abut_err *err);
void abut_linear_solver_clear(abut_linear_solver *s);
int abut_linear_can(const abut_linear_solver *s, unsigned what);
void abut_linear_begin_step(abut_linear_solver *s);
ABUT_MUST_USE abut_status abut_linear_analyse(abut_linear_solver *s, const abut_operator *A, const int32_t *order, abut_err *err);
ABUT_MUST_USE abut_status abut_linear_factor(abut_linear_solver *s, const abut_operator *A, abut_precision precision,
                                             abut_err *err);
ABUT_MUST_USE abut_status abut_linear_solve(abut_linear_solver *s, const abut_operator *A, const double *b,
                                            const abut_solve_goal *goal, double *x, abut_err *err);
/** Calls `solve_parts` of a direct solver. */
ABUT_MUST_USE abut_status abut_linear_solve_parts(abut_linear_solver *s, const abut_operator *A, const uint8_t *wanted,
                                                  const double *b, double *x, abut_err *err);
/** The factor as a preconditioner, of its matrix or of a later one; good as long as s. */
abut_precond abut_linear_precond(abut_linear_solver *s);
int32_t abut_linear_bad_row(const abut_linear_solver *s);
abut_linear_stats abut_linear_get_stats(const abut_linear_solver *s);

/* ---- the linear solvers of this build: what `step --linear-solver NAME` chooses from ---- */

/* NULL at the end; the first is the default. */
extern const abut_linear_solver_ops *const abut_linear_solvers[];
extern const abut_linear_solver_ops abut_linear_own;        /* sparse/own/cholesky.h */
extern const abut_linear_solver_ops abut_linear_cholmod;
/** Conjugate gradients with a multilevel Schwarz preconditioner (sparse/mas/mas.h), without and with rigid motions. */
extern const abut_linear_solver_ops abut_linear_mas, abut_linear_mas_rigid;
/** Conjugate gradients with a two-level Schwarz preconditioner (sparse/schwarz/schwarz.h), and with inverted diagonal blocks. */
extern const abut_linear_solver_ops abut_linear_cg_schwarz, abut_linear_cg;
/** Conjugate gradients with incomplete Cholesky factors (sparse/incomplete/incomplete.h), without and with rigid motions. */
extern const abut_linear_solver_ops abut_linear_ic, abut_linear_ic_rigid;
/** Solvers of PETSc (sparse/petsc/petsc.c), in the library libabut_petsc.a of builds with PETSC=1; without it not there. */
__attribute__((weak)) extern const abut_linear_solver_ops abut_linear_petsc_schwarz, abut_linear_petsc_gamg,
    abut_linear_petsc_cholmod, abut_linear_petsc_mumps;

/** Fails  ABUT_E_ARG: no solver of that name; the message lists all names */
ABUT_MUST_USE abut_status abut_linear_solver_find(const char *name, const abut_linear_solver_ops **ops, abut_err *err);
/** CHOLMOD's ordering.  perm[n]: block row perm[k] is eliminated k-th, by approximate minimum degree on the graph of blocks.
 * Fails  ABUT_E_NOMEM; ABUT_E_NUMERIC with CHOLMOD's status */
ABUT_MUST_USE abut_status abut_cholmod_order(const abut_bsr *A, int32_t *perm, abut_err *err);

#endif

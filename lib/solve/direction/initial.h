/* Initial matrices of quasi-Newton directions: found at the first iterate of a minimisation, factored there, and kept.  One is
 * a table of operations and an instance:
 *
 *     lbfgs-h    hessian      the Newton matrix A, by sparse Cholesky, in single precision if that leaves at most a tenth of the
 *                             gradient, as nearly always; if factors would be expensive, by conjugate gradients as long
 *                             as these cost less
 *     dot        subdomains   A on overlapping sets of nodes, the nodes of the elements of one part each
 *     lbfgs-pd   laplacian    D + the Laplacian of the elements, and the Hessians of contact and friction
 *
 * State that an instance keeps beyond a minimisation depends on the mesh and the numbering alone. */
#ifndef ABUT_SOLVE_DIRECTION_INITIAL_H
#define ABUT_SOLVE_DIRECTION_INITIAL_H

#include "solve/direction/matrix.h"
#include "solve/direction/newton.h"

/* Inputs of an initial matrix: objective, iterate, and the Newton matrix and its solver. */
typedef struct abut_initial_at {
    const abut_objective *p;
    const abut_point *at;
    abut_newton_matrix *matrix;
    abut_newton_solve *solve;
} abut_initial_at;

/* Requirements of an initial matrix, bits. */
enum {
    ABUT_NEEDS_MATRIX = 1,  /* the Newton matrix, summed at the iterate before `factor` */
    ABUT_NEEDS_FACTOR = 2   /* its unknowns ordered, to be factored by `solve` */
};

typedef struct abut_initial_ops {
    unsigned needs;
    size_t size;            /* bytes of an instance, filled with 0 before `make` */
    /** Keeps what it needs of the options.  NULL: nothing. */
    void (*make)(void *self, const abut_direction_options *opt);
    /** Fails  ABUT_E_NUMERIC no factor, with where; ABUT_E_FORMAT a model that the matrix is not for; ABUT_E_NOMEM */
    abut_status (*factor)(void *self, const abut_initial_at *at, abut_report *rep, abut_err *err);
    /** Prepares D to precondition the Newton matrix of another iterate, just summed.  NULL: not needed. */
    abut_status (*settle)(void *self, abut_err *err);
    /** Returns D, an approximate inverse, valid as long as self.  symmetric: D is positive definite, for conjugate gradients. */
    abut_precond (*precond)(void *self, int symmetric);
    /** Returns 1 if D is the inverse of the Newton matrix in double precision.  NULL: never. */
    int (*is_exact)(const void *self);
    /** Factors again: D was not exact, and not good enough.  NULL: D cannot be improved. */
    abut_status (*refine)(void *self, const abut_initial_at *at, abut_report *rep, abut_err *err);
    /** Entries of the factors, operations to compute them, memory that they take. */
    void (*stats)(const void *self, abut_report *rep);
    /** Frees what an instance owns.  NULL: nothing. */
    void (*clear)(void *self);
    /** Receives y . s > 0 and y . y of the newest pair before an application; 0, 0: no pair.  NULL: not used. */
    void (*learn)(void *self, double ys, double yy);
    int scaled;         /* D is not of this step: L-BFGS scales it by the newest pair */
} abut_initial_ops;

static inline abut_status abut_initial_no_memory(const abut_objective *p, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "initial matrix: %d unknowns", 3 * p->nrow);
}

extern const abut_initial_ops abut_initial_hessian, abut_initial_subdomains, abut_initial_laplacian;

#endif

/* Descent directions.  A direction proposes, and the search decides how far to follow it; this is the interface between them.
 * A direction forgets its state after each time step, but for state that a new process would recompute to the byte.
 *
 * A direction is a table of operations and an instance; solve/solvers.c has the rows.  An operation may be NULL: its comment
 * says what that means. */
#ifndef ABUT_SOLVE_DIRECTION_H
#define ABUT_SOLVE_DIRECTION_H

#include "model/tets.h"
#include "solve/options.h"
#include "solve/objective.h"
#include "solve/report.h"
#include "sparse/linear_solver.h"

/* Its pointers are borrowed until the direction is freed. */
typedef struct abut_direction_options {
    const abut_solve_options *user;
    const abut_linear_solver_ops *linear;   /* of Newton matrices; NULL: the first of abut_linear_solvers */
    const abut_linear_solver_ops *instead;  /* newton, and lbfgs-h that proves nothing: iterates if the
                                             * factors of `linear` would be expensive; NULL: none */
    abut_partition cut;     /* of the tets; none: its own */
    int proves;             /* 1: exact directions alone end a minimisation, so a short one has to be exact */
} abut_direction_options;

typedef struct abut_direction_info {
    int exact;              /* Newton's, by every term's own second derivatives */
    int ahead;              /* contains bounds of terms that an earlier direction crossed */
    int approximate;        /* not solved to rounding: a direction that is required to be exact may be better */
    int32_t bad_node;       /* after ABUT_E_NUMERIC: where the matrix is not positive definite, -1: unknown */
    int guessed;            /* the matrix failed as a whole, and bad_node has the worst diagonal block */
} abut_direction_info;

typedef struct abut_direction_ops {
    const char *name;
    /** p: the objective, borrowed.  Fails  ABUT_E_ARG, ABUT_E_NOMEM */
    abut_status (*make)(void **self, const abut_objective *p, const abut_direction_options *opt, abut_err *err);
    void (*begin_step)(void *self);             /* forgets its state of the time step */
    /** dir[3 nv] at `at`, which has contacts and gradient, downhill; 0 for nodes that do not move.
     * Fails  ABUT_E_NUMERIC no shift of the diagonal makes a matrix positive definite, or iterations do not converge */
    abut_status (*find)(void *self, const abut_point *at, double *dir, abut_direction_info *info, abut_report *rep,
                        abut_err *err);
    void (*require_exact)(void *self);          /* the next direction shall be exact */
    /** dir[3 nv] = -H^-1 g with the matrix of the last find, for second-order corrections and the error of a step.
     * NULL: there is no such matrix, so no correction and no error. */
    abut_status (*resolve)(void *self, const double *g, double *dir, abut_report *rep, abut_err *err);
    /** dir[3 nv] = -H^-1 g to a relative 1e-3, after a find that was exact, for the error of a step; asked only if resolve is
     * NULL.  NULL: that error is not known. */
    abut_status (*resolve_exact)(void *self, const double *g, double *dir, abut_report *rep, abut_err *err);
    void (*free)(void *self);
} abut_direction_ops;

/* Zero-filled is empty. */
typedef struct abut_direction {
    const abut_direction_ops *ops;
    void *self;
} abut_direction;

ABUT_MUST_USE static inline abut_status abut_direction_make(abut_direction *d, const abut_direction_ops *ops,
                                                            const abut_objective *p, const abut_direction_options *opt,
                                                            abut_err *err)
{
    *d = (abut_direction){ .ops = ops };
    const abut_status rc = ops->make(&d->self, p, opt, err);
    if (rc) *d = (abut_direction){ 0 };
    return rc;
}

static inline void abut_direction_clear(abut_direction *d)
{
    if (d->ops) d->ops->free(d->self);
    *d = (abut_direction){ 0 };
}

/* Directions that solvers of the first table have. */
/** Newton: p = -H^-1 g, every element Hessian projected to positive semidefinite (Teran et al. 2005; Li 2020, 4.4.3), by any
 * linear solver (solve/direction/newton.c). */
extern const abut_direction_ops abut_direction_newton;
/** L-BFGS on an initial matrix (solve/direction/lbfgs.h, initial.h): the Newton matrix, the Laplacian,
 * subdomains. */
extern const abut_direction_ops abut_direction_lbfgs_h, abut_direction_lbfgs_pd, abut_direction_dot;

#endif

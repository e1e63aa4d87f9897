/* Descent directions.  Newton: p = -H^-1 g with every element Hessian projected to positive semidefinite (Teran et al. 2005;
 * Li 2020, 4.4.3), by a linear solver of the table; quasi-Newton ones are in solve/direction/lbfgs.h.
 *
 * What a direction keeps between calls (pattern, ordering, factor) lives for one time step, but for what a new process would
 * make again to the byte: the ordering of the elements alone, which no contact touches, their part of the pattern, and the
 * analysis of the very pattern in the very order.  So a restart from any frame meets the same pivots and gives the same bytes.
 *
 * Cholesky factors are not made for every matrix: solve/direction/factor_reuse.h.
 *
 * Friction: where a direction leads over the kink between sticking and sliding, which the second derivative of the law does
 * not know, the line search goes back again and again.  A contact that the last direction led over its kink is stiffer in
 * the next matrix (energy/friction.h: the model from above).  The solution of such a matrix is a descent direction, but too
 * short to tell how far the minimum is: a minimisation ends with the exact one. */
#ifndef ABUT_SOLVE_DIRECTION_NEWTON_H
#define ABUT_SOLVE_DIRECTION_NEWTON_H

#include "sparse/bsr.h"
#include "solve/direction/initial.h"
#include "solve/direction/lbfgs.h"
#include "solve/direction/factor_reuse.h"
#include "solve/linear_solvers.h"
#include "solve/problem.h"
#include "solve/report.h"
#include "solve/without.h"

/* Which direction. */
enum { ABUT_SOLVE_NEWTON, ABUT_SOLVE_LBFGS_H, ABUT_SOLVE_LBFGS_PD, ABUT_SOLVE_LBFGS_JH, ABUT_SOLVE_LBFGS_IC,
       ABUT_SOLVE_DOT, ABUT_SOLVE_GRADIENT, ABUT_SOLVES /* how many */ };
/* Their names as options of `step`, in that order, NULL at the end. */
extern const char *const abut_solve_names[ABUT_SOLVES + 1];

/* Zero-filled is empty. */
typedef struct abut_direction {
    int method;             /* ABUT_SOLVE_* */
    int threads;
    unsigned without;       /* ABUT_WITHOUT_* */
    abut_bsr A;
    abut_linear_solver linear;
    double *where;          /* [3 n] positions of the rows of A; NULL: the linear solver does not ask */
    abut_factor_reuse reuse;
    abut_quasi quasi;
    abut_initial initial;
    int analysed;           /* linear is for the pattern that A has now, ordered by perm */
    int exact;              /* the last direction was Newton's, with the second derivative of every friction contact */
    int32_t *perm;          /* [n_perm] elimination order of this step's unknowns */
    int32_t n_perm;
    struct abut_tet_order { /* the same without contacts, but with attachments: of the model and what is held; outlives a step.
                             * [1]: with the nodes that an augmented Lagrangian moves */
        int32_t *node_row;  /* [nv] the numbering that it is for */
        int32_t *perm;      /* [n] */
        int32_t n;
        double cost;        /* of its factor: abut_factor_cost */
    } tets[2];
    double ordered_cost;    /* of the factor of what perm was made for */
    double overspent;       /* what factors since then have cost on top of that each */
    int by_degree;          /* A is ordered anew by minimum degree: nothing has shown yet that this is no good */
    int32_t *planned;       /* [nv] the numbering of the pattern of A */
    int32_t *tet_row;
    double *codim_H;         /* Hessians of thin elements, packed */
    int32_t *codim_row;
    int32_t *attach_row;    /* attachments: rows, Hessians */
    double *attach_H;
    int32_t *spring_row;
    double *spring_H;
    struct abut_touching {  /* contacts, half-spaces and friction: nodes, rows, Hessians */
        size_t n, cap;
        int32_t *node, *row;
        double *H;
    } touch;
    struct abut_kinks {     /* friction contacts */
        uint8_t *above;     /* [cap] the next matrix has the model from above */
        size_t n, cap;      /* n 0: none has, whatever there is */
    } kinks;
    int32_t *seen_row;      /* touch.row of the analysed pattern */
    size_t seen_n, seen_cap;
    int32_t seen_nrow;
    double *diag, *rhs, *sol;
    int32_t bad_node;       /* after a failed factorisation: node of the pivot, or -1 */
} abut_direction;

/** linear: the solver of Newton matrices (NULL: the first of abut_linear_solvers); lbfgs-h wants one that preconditions. */
ABUT_MUST_USE abut_status abut_direction_init(abut_direction *d, const abut_problem *p, int method,
                                              const abut_linear_solver_ops *linear, int threads, abut_err *err);
void abut_direction_clear(abut_direction *d);
/** Forgets what belongs to one time step: call at the start of each. */
void abut_direction_reset(abut_direction *d);

/** The next direction shall be Newton's, with the second derivative of every friction contact. */
void abut_direction_insist(abut_direction *d);

/** dir[3 nv]: the direction of the method at x, zero for nodes that do not move; d->exact says whether it is Newton's.  Fails as
 * abut_direction_newton does. */
ABUT_MUST_USE abut_status abut_direction_find(abut_direction *d, const abut_problem *p, const double *x, const double *y,
                                              const abut_pairs *pairs, const double *g, double *dir, abut_report *rep,
                                              abut_err *err);
/** The node whose diagonal block of the matrix is the least positive definite for its size: where to look when a matrix fails as
 * a whole.  -1 when there is no matrix of these unknowns. */
int32_t abut_direction_worst_node(const abut_direction *d, const abut_problem *p);
/** dir[3 nv] = -H^-1 g at x, zero for nodes that do not move.  g as abut_problem_gradient gives it.
 * Fails  ABUT_E_NUMERIC when no shift of the diagonal makes the matrix positive definite: d->bad_node says where (Cholesky), else
 *        -1; when conjugate gradients do not converge */
ABUT_MUST_USE abut_status abut_direction_newton(abut_direction *d, const abut_problem *p, const double *x, const double *y,
                                                const abut_pairs *pairs, const double *g, double *dir, abut_report *rep,
                                                abut_err *err);

/** dir[3 nv] = -H^-1 g with the matrix that the last Newton direction was found with, to the precision of its factor. */
ABUT_MUST_USE abut_status abut_direction_again(abut_direction *d, const abut_problem *p, const double *g, double *dir,
                                               abut_report *rep, abut_err *err);

/** Whether the last direction was made with a factor of its own matrix: then d->linear has that. */
int abut_direction_has_factor(const abut_direction *d);
/** dir[3 nv] = -H^-1 g, as exact as the factor. */
ABUT_MUST_USE abut_status abut_direction_by_factor(abut_direction *d, const abut_problem *p, const double *g, double *dir,
                                                   abut_err *err);

/* What quasi-Newton directions take from here. */
/** Whether the next matrix has every friction contact by its second derivative. */
int abut_direction_none_above(const abut_direction *d);
/** d->A: the Newton matrix at x; no factor. */
ABUT_MUST_USE abut_status abut_direction_matrix(abut_direction *d, const abut_problem *p, const double *x, const double *y,
                                                const abut_pairs *pairs, abut_report *rep, abut_err *err);
/** Its Cholesky factor; fails as abut_direction_newton. */
ABUT_MUST_USE abut_status abut_direction_factor(abut_direction *d, const abut_problem *p, abut_report *rep, abut_err *err);
/** The same in single precision, *coarse 1, unless the factor is small or would have no positive pivots. */
ABUT_MUST_USE abut_status abut_direction_factor_coarse(abut_direction *d, const abut_problem *p, int *coarse, abut_report *rep,
                                                       abut_err *err);
/** The Hessians of contact and friction at x alone, in arrays of d. */
ABUT_MUST_USE abut_status abut_direction_touching(abut_direction *d, const abut_problem *p, const double *x, const double *y,
                                                  const abut_pairs *pairs, abut_elements *set, abut_err *err);

#endif

/* The initial matrices of quasi-Newton directions: made at the first iterate of a minimisation, factored there, and kept.
 *
 *     lbfgs-h    the Newton matrix A = D + sum of the projected Hessians, by sparse Cholesky, in single precision where that is
 *                good to a tenth of a gradient, which it nearly always is
 *     dot        A on subdomains: nodes of the elements of one part each.  Nodes on interfaces stand in several of them, and
 *                are completed: what the elements of neighbours add there is counted too.  So a subdomain has the principal
 *                submatrix of A on its nodes; z = mean over the copies of the subdomain solutions (Li 2020, eq. 3.6-3.13).
 *                In single precision.  Not in the source: a coarse space C (sparse/schwarz/coarse_space.h), of the rigid
 *                motions of the subdomains: z = S (r - A C r), z + C (r - A z), with S the symmetric mean of the subdomain
 *                solutions (Toselli and Widlund 2005, 6.2), and iterations no longer grow with their number; and nodes that
 *                touch those of a subdomain are in it, too
 *     lbfgs-jh   A on disjoint sets of nodes: block Jacobi
 *     lbfgs-ic   A by incomplete Cholesky without fill
 *     lbfgs-pd   D + the Laplacian of the elements (solve/direction/initial_laplacian.h), one scalar matrix for x, y and z,
 *                and the Hessians of contact and friction: on few rows they patch its factor (sparse/woodbury.h), else the sum is
 *                factored
 *     gradient   the diagonal blocks of A
 *
 * What joins nodes of different subdomains is dropped from them, but for what it adds to the diagonal.  A partition depends on
 * the mesh alone and outlives a step, as does the scalar factor; the others end with the minimisation. */
#ifndef ABUT_SOLVE_DIRECTION_INITIAL_H
#define ABUT_SOLVE_DIRECTION_INITIAL_H

#include "sparse/own/cholesky.h"
#include "sparse/schwarz/coarse_space.h"
#include "sparse/schwarz/subdomains.h"
#include "sparse/ichol.h"
#include "sparse/woodbury.h"
#include "model/partition.h"
#include "solve/problem.h"
#include "solve/report.h"


/* Zero-filled is empty. */
typedef struct abut_initial {
    int kind;               /* ABUT_SOLVE_* */
    abut_partition given;   /* borrowed */
    int32_t parts;          /* wanted; 0: by the number of nodes */
    int32_t k, *part;       /* own partition of the tets, once it has been made */
    int one_level;          /* dot without the coarse space, as published */
    abut_subdomains *domains;
    abut_coarse_space *rigid;     /* dot: rigid motions of the subdomains */
    double *where, *rest;   /* [3 room] positions of rows; scratch */
    int32_t room;
    int coarse;             /* the factor of lbfgs-h is in single precision */
    abut_ichol ic;
    double *inverse;        /* [9 cap] inverted diagonal blocks, row major */
    int32_t rows, cap;
    struct abut_constant {  /* the Laplacian's factor, for the numbering and the weight that it was made with */
        abut_linear_solver factor;
        int32_t *node_row;  /* [nv] */
        double psi;
    } constant;
    abut_woodbury patched;   /* the same with contacts on a few rows */
    abut_chol *touching;    /* with many */
    enum { ABUT_TOUCHES_NOTHING, ABUT_TOUCHES_FEW, ABUT_TOUCHES_MANY } touches;     /* which of the three is in use */
} abut_initial;

struct abut_direction;

/** The matrix at the iterate, factored.  d->A is the Newton matrix there (not for lbfgs-pd).
 * Fails  ABUT_E_NUMERIC no factor, with where; ABUT_E_ARG dot without tets; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_initial_make(struct abut_direction *d, const abut_problem *p, const double *x, const double *y,
                                            const abut_pairs *pairs, abut_report *rep, abut_err *err);
/** z = D r, an approximate inverse.  symmetric: positive definite, as conjugate gradients want it; else dot's without
 * coarse space is the mean of the copies, which need not be symmetric.  Good as long as d. */
abut_precond abut_initial_precond(struct abut_direction *d, int symmetric);
/** lbfgs-h: factors the matrix of the last abut_initial_make in double precision. */
ABUT_MUST_USE abut_status abut_initial_refine(struct abut_direction *d, const abut_problem *p, abut_report *rep, abut_err *err);
/** Entries of the factors, operations to compute them, memory that they take. */
void abut_initial_stats(const struct abut_direction *d, abut_report *rep);
void abut_initial_clear(abut_initial *s);

#endif

/* Published solvers to compare with, in tables of their own (solve/solvers.h).  Other rooms know the tables, not the rows. */
#ifndef ABUT_SOLVE_BASELINES_BASELINES_H
#define ABUT_SOLVE_BASELINES_BASELINES_H

#include "energy/barrier.h"
#include "solve/direction/lbfgs.h"
#include "solve/local_global/local_global.h"
#include "solve/solvers.h"

/* Name NULL at the end. */
extern const abut_solver_row abut_baseline_table[];
/* Hessians of contacts for `step --barrier-hessian`; NULL at the end. */
extern const abut_barrier_hessian_ops *const abut_baseline_hessians[];

/* Initial matrices of L-BFGS (solve/direction/initial.h), each with a direction:
 *
 *     lbfgs-jh     blocks     the Newton matrix on disjoint sets of nodes: block Jacobi
 *     lbfgs-ic     ichol      the Newton matrix by incomplete Cholesky without fill, rows in an order of small bandwidth
 *     gradient     diagonal   the diagonal blocks of the Newton matrix
 *     lbfgs-rest   rest       the Hessian of elasticity at rest, and those of contact and friction at the iterate
 *     lbfgs-warped warped     as rest, the rows of each node rotated like the mean of its tets
 *     lbfgs-id     identity   a multiple of the identity */
extern const abut_initial_ops abut_initial_blocks, abut_initial_ichol, abut_initial_diagonal, abut_initial_rest,
    abut_initial_warped, abut_initial_identity;
extern const abut_direction_ops abut_direction_lbfgs_jh, abut_direction_lbfgs_ic, abut_direction_gradient,
    abut_direction_lbfgs_rest, abut_direction_lbfgs_warped, abut_direction_lbfgs_id;

/* Methods with local variables: admm-pd of elements (solve/local_global/admm.h), with the matrix of pd; admm-dd of subdomains
 * (consensus.h), with a matrix for each. */
extern const abut_lg_method abut_lg_admm, abut_lg_consensus;

#endif

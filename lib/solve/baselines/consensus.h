/* ADMM on the subdomains of dot, for comparison (Li 2020, 3.4.4 and 3.4.6; Boyd et al. 2011, 7.1).  E is the sum of the energies
 * E_j of parts on copies x_j of their nodes; the copies z_j of nodes on borders have to agree with those nodes:
 *
 *     x_j = argmin E_j(x_j) + 1/2 |z_j - y + u_j|^2_Kj             each part by itself
 *     y   = argmin sum_j 1/2 |z_j - y + u_j|^2_Kj                  the nodes on borders
 *     u_j = u_j + z_j - y
 *
 * K_j completes the Hessian of E_j at the start of the step to the principal submatrix H_j of the whole Hessian (Li 2020, eq.
 * 3.9): entries by tets of other parts between nodes of part j, and the rest of their masses.  H_j, factored once, is the initial
 * matrix of the L-BFGS iterations for the first problem, with one line search over all parts.
 *
 * Iterations start from x_j = x and u_j = 0.  The objective may rise between them, and convergence is not guaranteed for energies
 * that are not convex. */
#ifndef ABUT_SOLVE_BASELINES_CONSENSUS_H
#define ABUT_SOLVE_BASELINES_CONSENSUS_H

#include "model/tets.h"
#include "solve/objective.h"
#include "solve/report.h"
#include "sparse/linear_solver.h"

typedef struct abut_consensus abut_consensus;

/** given: a partition of the tets; none: it makes `parts`, or for 0 a number by the nodes.
 * Fails  ABUT_E_FORMAT no tets, a node that moves is of no tet, a term that parts do not have, by name; ABUT_E_NOMEM; as
 *        abut_partition_tets */
ABUT_MUST_USE abut_status abut_consensus_new(abut_consensus **c, const abut_objective *p, const abut_partition *given, int parts,
                                             abut_err *err);
void abut_consensus_free(abut_consensus **c);
/** Begins a step of p, at x[3 nv].  Fails  ABUT_E_NUMERIC a matrix is not positive definite; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_consensus_start(abut_consensus *c, const abut_objective *p, const double *x, abut_report *rep,
                                               abut_err *err);
/** Makes one iteration: x + dx, each [3 nv], are the next nodes. */
ABUT_MUST_USE abut_status abut_consensus_step(abut_consensus *c, const abut_objective *p, const double *x, double *dx,
                                              abut_report *rep, abut_arena *scratch, abut_err *err);
/** Returns entries, operations and bytes of all factors. */
abut_linear_stats abut_consensus_stats(const abut_consensus *c);

/* ---- the mesh cut along the borders of its parts ---- */

/* A model whose nodes are copies, one for each part that a node is in (Li 2020, 3.4.3).  It has the same tets, and each copy of a
 * node has the mass of the tets in its part, so an energy of it is the sum of the energies of the parts.  Pairs of a tet and
 * another part with one of its nodes complete a part at its borders.
 *
 * Owns its arrays; the model borrows them, and all other arrays of the given model.  Zero-filled is empty. */
typedef struct abut_copies {
    abut_model model;       /* tets in the order of the given one */
    int32_t k;              /* parts */
    int32_t *node;          /* [model.nv] whose copy it is; copies of a part are neighbours */
    int32_t *part;          /* [model.nv], ascending */
    int32_t *at, *of;       /* copies of[at[i] .. at[i+1]) of node i of the given model, parts ascending */
    size_t beside;          /* tets beside parts */
    int32_t *beside_tet;    /* [beside] */
    int32_t *beside_copy;   /* [4 beside] of its corners in that part; -1: not in it */
    double *X, *mass;
    int32_t *role, *body, *tet;
} abut_copies;

/** part[p->model->nt], in 0 .. k-1.
 * Fails  ABUT_E_FORMAT a node that is no obstacle is of no tet; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_copies_init(abut_copies *c, const abut_objective *p, int32_t k, const int32_t *part,
                                           abut_err *err);
void abut_copies_clear(abut_copies *c);

#endif

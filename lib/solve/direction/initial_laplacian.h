/* The constant matrix of a step and its factor: A = D + psi L with D the masses (and what damps them) and L the Laplacian of
 * the elements (Liu 2018, 8.1):
 *     tet          vol k (g_a . g_b)       g_a the gradients of the corners, k the fitted stiffness of the material
 *                  and of its fibres kappa (g_a . d)(g_b . d)
 *     spring       k [1 -1; -1 1]
 *     attachment   k c c^T,  c = (1, -w)
 *     thin         trace of each 3x3 block of the Hessian at rest (shells, hinges, rods: energy/codim.h)
 * One number for each pair of nodes, so x, y and z share it and it is the same in every orientation.  If all energies are
 * squared distances, psi L + D bounds the Hessian from above at every x (Liu 2018, 7.1). */
#ifndef ABUT_SOLVE_DIRECTION_INITIAL_LAPLACIAN_H
#define ABUT_SOLVE_DIRECTION_INITIAL_LAPLACIAN_H

#include "sparse/linear_solver.h"
#include "solve/objective.h"

/* Key of a matrix that outlives its step: the unknowns and the weights that it was made for.  Zero-filled: no matrix. */
typedef struct abut_made_for {
    int32_t *node_row;      /* [nv] */
    abut_weights w;
    int known;
} abut_made_for;

void abut_made_for_clear(abut_made_for *m);
/** Returns 1 if p has the same unknowns and weights, and the augmented Lagrangian, whose penalty changes, is off. */
int abut_made_for_is(const abut_made_for *m, const abut_objective *p);
/** Stores the unknowns and weights of p.  Fails  ABUT_E_NOMEM; then there is no matrix */
ABUT_MUST_USE abut_status abut_made_for_take(abut_made_for *m, const abut_objective *p, abut_err *err);

/** Makes the element sets of L, sets[ABUT_TERMS_MAX], *n of them, with allocated rows and values.
 * Fails  as `constant` of the terms; ABUT_E_NOMEM; then there are none */
ABUT_MUST_USE abut_status abut_laplacian_sets(const abut_objective *p, const double fit[2], abut_elements *sets, int *n,
                                              abut_err *err);
void abut_laplacian_sets_clear(abut_elements *sets, int n);

/** Sums A for the unknowns of p (p->row), in blocks that are multiples of the identity, from `constant` of the terms
 * (energy/term.h), with materials fitted over stretches fit[0] .. fit[1].  more: other elements, in rows, added with all their
 * entries; NULL: none.
 * Fails  as `constant` of the terms; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_laplacian(const abut_objective *p, const double fit[2], const abut_elements *more, abut_bsr *A,
                                         abut_err *err);

/** Factors A with a nested-dissection ordering.  *c is replaced.
 * mean  N/m, out: the mean stiffness of a node, by the diagonal of L; NULL to skip
 * Fails  as abut_laplacian and abut_linear_factor; *c has the row of a bad pivot */
ABUT_MUST_USE abut_status abut_laplacian_factor(const abut_objective *p, const double fit[2], abut_linear_solver *c,
                                                double *mean, abut_err *err);

#endif

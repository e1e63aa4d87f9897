/* Elasticity by ADMM in place of Newton's method: the energies are split by elements, and contact is another constraint of the
 * same iterations (Daviet 2020, 6.1, 7.4; Overby et al. 2017):
 *
 *     z_e, u_e of every element at x = x_n + h v      solve/local_global/admm.h
 *     (A + W) v = f + W (p + lambda),    A = M + h^2 sum D^T K D constant
 *     f = A v - r/h,    r = M (x - xhat) + h^2 sum D^T K (D x - z + u)
 *     p and lambda by the law of contact              solve/nodal/coulomb_solve.h
 *
 * The twist of curved rods couples all bends of a rod, so their energy U is not split but majorised in every iteration: r has
 * h^2 dU/dx at x, and A has h^2 C, where C of straight rods, several times as stiff, exceeds the second derivatives of U.  At a
 * fixed point U itself balances (Hunter and Lange 2004).
 *
 * The first iterations run without contact; they continue after each detection of contacts, all with the same A.  The residual
 * that ends them includes, besides that of contact, |D x - z| and the change of z.  A step begins with multipliers u that balance
 * the forces of its elements at the start, so no state is kept between steps. */
#ifndef ABUT_SOLVE_NODAL_SPLIT_H
#define ABUT_SOLVE_NODAL_SPLIT_H

#include "solve/direction/matrix.h"
#include "solve/direction/newton_solve.h"
#include "solve/local_global/admm.h"

/* Zero-filled is empty. */
typedef struct abut_split {
    abut_admm admm;
    double *r;              /* [3 nv] kg m */
    int32_t *row;           /* [4 n] of the corners of thin elements */
    double *beyond;         /* [ABUT_PACKED n] (energy/codim_apart.h) */
} abut_split;

/** Fails  ABUT_E_FORMAT the model has elements of high order, fibres, or a term that is not split (names it); ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_split_init(abut_split *s, const abut_objective *p, abut_err *err);
void abut_split_clear(abut_split *s);

/** Begins a step, with the variables at x[3 nv], of finite energy. */
void abut_split_begin(abut_split *s, const abut_objective *p, const double *x);
/** Sums A, with the order of its factor; x[3 nv]: positions of nodes. */
ABUT_MUST_USE abut_status abut_split_matrix(abut_split *s, const abut_objective *p, const double *x, abut_newton_matrix *A,
                                            abut_ordering *order, abut_err *err);
/** Updates the variables of the elements at x, and s->r; *left, m: their residual.
 * Fails  ABUT_E_NUMERIC an element has no minimum, a curved rod at x no finite energy */
ABUT_MUST_USE abut_status abut_split_local(abut_split *s, const abut_objective *p, const double *x, double *left,
                                           abut_arena *scratch, abut_err *err);

#endif

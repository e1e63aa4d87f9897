/* Elasticity by ADMM, too, in place of Newton's method: the energies are split into those of their elements, and contact is one
 * more constraint of the same iterations (Daviet 2020, 6.1, 7.4; Overby et al. 2017):
 *
 *     z_e, u_e of every element at x = x_n + h v      solve/local_global/admm.h
 *     (A + W) v = f + W (p + lambda),    A = M + h^2 sum D^T K D constant
 *     f = A v - r/h,    r = M (x - xhat) + h^2 sum D^T K (D x - z + u)
 *     p and lambda by the law of contact              solve/nodal/coulomb_solve.h
 *
 * The twist of curved rods ties all bends of a rod to each other, so their energy U is not split.  It is bounded in every
 * iteration: r has h^2 dU/dx at x, and A has h^2 C, C of straight rods and several times as stiff as they are, which is more than
 * the second derivatives of U.  Where x rests, U itself balances (Hunter and Lange 2004).
 *
 * Before contact the iterations run without it, and where contacts are looked for again, they go on.  A is the same for all.
 * The residual that ends the iterations has, besides that of contact, how far D x and z are apart, and how far z moved.  A step
 * begins with multipliers u that balance the forces of its elements at the start, so that nothing is kept from step to step. */
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

/** A step begins, with the variables at x[3 nv], of finite energy. */
void abut_split_begin(abut_split *s, const abut_objective *p, const double *x);
/** A, with the order of its factor; x[3 nv]: where nodes are. */
ABUT_MUST_USE abut_status abut_split_matrix(abut_split *s, const abut_objective *p, const double *x, abut_newton_matrix *A,
                                            abut_ordering *order, abut_err *err);
/** The variables of the elements at x, and s->r; *left, m: what they are off.
 * Fails  ABUT_E_NUMERIC an element has no minimum, a curved rod at x no finite energy */
ABUT_MUST_USE abut_status abut_split_local(abut_split *s, const abut_objective *p, const double *x, double *left,
                                           abut_arena *scratch, abut_err *err);

#endif

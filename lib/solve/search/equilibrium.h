/* Balance of the forces of an iterate, body by body.
 *
 * r_i is the residual force at a free node, N: minus the gradient of the objective over h_force^2 (solve/integrator.h).  Sums go
 * over the magnitudes of the nodal forces of one object, so nothing cancels:
 *
 *     left    = sum |r_i|
 *     largest = the largest of the sums of contact forces, of loads and inertia, of pressures, and of the elastic forces on
 *               prescribed nodes
 *
 * The forces on any part of a body sum up to at most `left`. */
#ifndef ABUT_SOLVE_SEARCH_EQUILIBRIUM_H
#define ABUT_SOLVE_SEARCH_EQUILIBRIUM_H

#include "solve/objective.h"

typedef struct abut_equilibrium {
    double left, largest;   /* N: of the object where left / largest is largest; largest is 0 only without a body */
    int32_t object;         /* the object of left and largest */
    double of_all;          /* N: the largest of all objects */
} abut_equilibrium;

/** Finds it at a point with contacts and gradient.  `largest` is at least 1e-9 of the force that strains the object by 1, below
 * which `left` is rounding.  For an object without elements it is 1e-9 of the force that moves it by its length in a step.
 * near: a point whose positions differ by rounding, with gradient; NULL: none.  The change of the forces between the two is
 * rounding; divided by the force tolerance of the model, its sum over an object counts as a force on the object.
 * each: [no] N, receives the largest of every object; NULL: not wanted.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_equilibrium_find(const abut_objective *o, const abut_point *at, const abut_point *near,
                                                abut_equilibrium *e, double *each, abut_arena *scratch, abut_err *err);

#endif

/* How well the forces of an iterate balance, body by body.
 *
 * r_i is what the momentum balance of a free node lacks, N: minus the gradient of the objective over h_force^2
 * (solve/integrator.h).  Sums go over the nodes of one object, of the magnitudes of nodal forces, so nothing cancels:
 *
 *     left    = sum |r_i|
 *     largest = the largest of the sums of contact forces, of loads and inertia, of pressures, and of what holds prescribed nodes
 *               against elasticity
 *
 * Whatever part of a body one looks at, the forces on it sum up to at most `left`. */
#ifndef ABUT_SOLVE_SEARCH_EQUILIBRIUM_H
#define ABUT_SOLVE_SEARCH_EQUILIBRIUM_H

#include "solve/point.h"

typedef struct abut_equilibrium {
    double left, largest;   /* N: of the object where left / largest is largest; largest is 0 only without a body */
    int32_t object;         /* that one */
    double of_all;          /* N: the largest of all objects */
} abut_equilibrium;

/** At a point with contacts and gradient.  Forces of less than 1e-9 of what a strain of 1 takes count as that much: there `left`
 * is rounding.  Without an elastic element it is 1e-9 of what moves all bodies by the length of the scene within the step.
 * near: a point whose positions differ by rounding, with gradient; NULL: none.  The change of the forces between the two is
 * rounding; divided by the force tolerance of the model, its sum over an object counts as a force on the object.
 * each: [no] N, takes the largest of every object; NULL: not asked for.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_equilibrium_find(const abut_objective *o, const abut_point *at, const abut_point *near,
                                                abut_equilibrium *e, double *each, abut_arena *scratch, abut_err *err);

#endif

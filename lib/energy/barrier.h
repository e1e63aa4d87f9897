/* The contact barrier: b(D) of a law of energy/barrier_laws.h with D = d^2 - xi^2, Dhat = (xi + dhat)^2 - xi^2, zero beyond
 * xi + dhat, infinite at the thickness xi of the pair (Li 2020, 4.6, 5.5, App. B, J).  One contact alone is in
 * energy/barrier_pair.h; here are the sums over all of them.
 *
 * pairs    the contacts at y (contact/pairs.h): kind, multiplicity and squared distance of each are taken as stored
 * y        collision vertices, m; dhat, thickness and the law come from cm and its model
 * kappa    barrier stiffness, kg/m^2 */
#ifndef ABUT_ENERGY_BARRIER_H
#define ABUT_ENERGY_BARRIER_H

#include "base/arena.h"
#include "contact/pairs.h"
#include "energy/barrier_hessians.h"

/** E = kappa * sum mult * e * b over pairs and half-spaces, kg m^2, e the edge-edge mollifier (1 for plain pairs).
 * +inf if a contact is at its thickness.  scratch: one double per block of contacts. */
ABUT_MUST_USE abut_status abut_barrier_energy(const abut_collmesh *cm, const abut_pairs *pairs, const double *y,
                                              double kappa, double *energy, abut_arena *scratch, abut_err *err);
/** g[3 nv] += kappa * dE/dx on nodes (W^T applied); same bits for any thread count.  scratch: 12 doubles per contact, and 3 per
 * vertex where W is no selection. */
ABUT_MUST_USE abut_status abut_barrier_gradient(const abut_collmesh *cm, const abut_pairs *pairs, const double *y,
                                                double kappa, double *g, abut_arena *scratch, abut_err *err);
/** Number of elements of the Hessians c: one for a plain pair, one or two for a mollified pair, one for a half-space contact. */
size_t abut_barrier_elements(const abut_barrier_curvature *c, const abut_pairs *pairs);
/** slot[4 * elements]: slots of the elements' vertices (contact/collision_mesh.h), -1 unused. */
void abut_barrier_slots(const abut_collmesh *cm, const abut_pairs *pairs, const abut_barrier_curvature *c, int32_t *slot);
/** val: matrices of the elements (sparse/elements.h), kappa included: terms of rank one, or packed matrices, whose blocks of
 * unused corners are not written, or 0. */
void abut_barrier_hessian_by(const abut_collmesh *cm, const abut_pairs *pairs, const abut_barrier_curvature *c, const double *y,
                             double kappa, double *val);
/** Normal force magnitude of contact i, N, for a step of length h: -kappa e b' 2 d mult / h^2 (i >= n: half-space i - n); d is
 * the whole distance, thickness included.
 * A scheme that weighs forces with s h^2 instead of h^2 passes h sqrt(s). */
double abut_barrier_force(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, double kappa, double h,
                          size_t i);
/** Derivative of that force by the distance, N/m, of a plain contact. */
double abut_barrier_force_slope(const abut_collmesh *cm, const abut_pairs *pairs, double kappa, double h, size_t i);

#endif

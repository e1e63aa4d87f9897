/* The contact barrier: b(d^2) = -(d^2 - dhat^2)^2 ln(d^2 / dhat^2), C2, zero beyond dhat (Li 2020, 4.6, App. B, J). */
#ifndef ABUT_ENERGY_BARRIER_H
#define ABUT_ENERGY_BARRIER_H

#include "base/arena.h"
#include "contact/pairs.h"

/** b, m^4, and its first and second derivative in d2 (NULL to skip).  0 for d2 >= dhat2; +inf for d2 <= 0. */
double abut_barrier(double d2, double dhat2, double *db, double *ddb);

/** E = kappa * sum mult * e * b over pairs and half-spaces, kg m^2.  +inf when something touches. */
ABUT_MUST_USE abut_status abut_barrier_energy(const abut_collmesh *cm, const abut_pairs *pairs, const double *y,
                                              double kappa, double *energy, abut_arena *scratch, abut_err *err);
/** g[3 nv] += kappa * dE/dx on nodes (W^T applied); same bits for any thread count. */
ABUT_MUST_USE abut_status abut_barrier_gradient(const abut_collmesh *cm, const abut_pairs *pairs, const double *y,
                                                double kappa, double *g, abut_arena *scratch, abut_err *err);
/** Projected Hessians, packed (linalg/bsr.h), kappa included: one element per pair, then one per half-space contact.
 * node[(n + n_plane) * 4]: their nodes, -1 unused;  H[(n + n_plane) * ABUT_PACKED]. */
void abut_barrier_hessian(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, double kappa,
                          int32_t *node, double *H);
/** Normal force magnitude of contact i, N, for a step of length h: -kappa e b' 2 d mult / h^2 (i >= n: half-space). */
double abut_barrier_force(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, double kappa, double h,
                          size_t i);
/** Bounds of the stiffness (Li 2020, App. F): kappa_min for length l (m) and mean nodal mass (kg), kg/m^2. */
double abut_kappa_min(double length, double dhat, double mean_mass);

#endif

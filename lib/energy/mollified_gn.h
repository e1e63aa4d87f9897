/* The Gauss-Newton matrix of a mollified edge pair, e(c) b(d), c = |e1 x e2|^2 (geom/dist.h), in the variables s = sqrt(c)
 * and d (Huang et al. 2024, GIPC, 6):
 *
 *     [a v] M [a v]^T,   a = grad s, v = grad d, M = (m11 m12, m12 m22) the second derivatives of e b in s and d,
 *
 * of rank 2 at most.  M is indefinite: its projection depends on the variables. */
#ifndef ABUT_ENERGY_MOLLIFIED_GN_H
#define ABUT_ENERGY_MOLLIFIED_GN_H

#include "energy/barrier_pair.h"
#include "energy/mollified_gn_inline.h"

/** Computes m of the edges x[12]; squared: m22 from the curvature in d^2, 4 d^2 b'', in place of b_dd.  If the gap is smaller
 * than `least`, m, its curvature is that at `least`.  All 0 if the edges are parallel to rounding. */
void abut_mollified_gn_of(abut_barrier_law law, double least, int squared, const double *x, double eps_x, abut_mollified_gn *m);

/** mu[k], z[k][12], k = 0, 1: the positive semidefinite part is sum mu z z^T, mu >= 0.
 * In space: of the matrix of 12 rows, which does not depend on units of length. */
void abut_mollified_gn_in_space(const abut_mollified_gn *m, double mu[2], double z[2][12]);
/** In (s, d/dhat), as published: it depends on the unit of length. */
void abut_mollified_gn_in_variables(const abut_mollified_gn *m, double mu[2], double z[2][12]);

#endif

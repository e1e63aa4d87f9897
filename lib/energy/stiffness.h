/* Two measures of how stiff a body is: its characteristic force, and one stiffness for each of its materials. */
#ifndef ABUT_ENERGY_STIFFNESS_H
#define ABUT_ENERGY_STIFFNESS_H

#include "energy/elastic.h"

/* The characteristic force of a mesh: the scale of its elastic forces (Li 2020, 3.5.2).
 *
 *     C = | (W l)_v |_2,    (W l)_v = sum over the tets t at node v of W_t a_tv                              N
 *
 * W_t, Pa, is the Frobenius norm of d2psi/dF2 of the material of t at rest, a_tv, m^2, the rest area of the face of t opposite
 * to v.  With one material C is W |l|_2 of eq. 3.15; with several materials every node has its own W. */

/** C * sqrt(fraction of free nodes among the nodes with tets), N; held[nv]: nodes that are not free.  node[nv] is scratch. */
double abut_characteristic_force(const abut_elastic *e, const uint8_t *held, double *node);

/* One stiffness of a nonlinear material, for a constant matrix (Liu 2018, 7.1).
 *
 *     k = sum f(x) (x - 1) / sum (x - 1)^2,    f(x) = dpsi/ds_1 at stretches (x, 1, 1),   x = lo, lo + 0.01, .., hi
 *
 * is the slope of the straight line through rest that comes closest to the stress along one axis.  The second derivative at rest
 * suffices for some materials (2 mu + lambda for the corotated ones, at any range), but is zero for others.  With k the Laplacian
 * of a mesh, sum_t vol k g_a . g_b, is one scalar matrix for x, y and z, independent of orientation. */

/* The default stretches, those of the source. */
#define ABUT_FIT_LOW 0.5
#define ABUT_FIT_HIGH 1.5

/** k[nm], Pa, over stretches 0 < lo < 1 < hi, of every material of the model: of its density, plus the stiffness of its squared
 * distances (energy/material/model_laws.h), which bounds their second derivative.
 * Fails  ABUT_E_ARG lo, hi not 0 < lo < 1 < hi; ABUT_E_FORMAT a material whose k is not positive (names it) */
ABUT_MUST_USE abut_status abut_stiffness_fit_materials(const abut_elastic *e, double lo, double hi, double *k, abut_err *err);

#endif

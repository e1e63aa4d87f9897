/* One stiffness of a nonlinear material, for a constant matrix (Liu 2018, 7.1).
 *
 *     k = sum f(x) (x - 1) / sum (x - 1)^2,    f(x) = dpsi/ds_1 at stretches (x, 1, 1),   x = lo, lo + 0.01, .., hi
 *
 * is the slope of the straight line through rest that comes closest to the stress along one axis.  The second derivative at rest
 * suffices for some materials (2 mu + lambda for the corotated ones, at any range), but is zero for others.  With k the Laplacian
 * of a mesh, sum_t vol k g_a . g_b, is one scalar matrix for x, y and z, independent of orientation. */
#ifndef ABUT_ENERGY_STIFFNESS_FIT_H
#define ABUT_ENERGY_STIFFNESS_FIT_H

#include "energy/elastic.h"

/* The default stretches, those of the source. */
#define ABUT_FIT_LOW 0.5
#define ABUT_FIT_HIGH 1.5

/** k[nm], Pa, over stretches 0 < lo < 1 < hi, of every material of the model: of its density, plus the stiffness of its squared
 * distances (energy/material/projection.h), which bounds their second derivative.
 * Fails  ABUT_E_ARG lo, hi not 0 < lo < 1 < hi; ABUT_E_FORMAT a material whose k is not positive (names it) */
ABUT_MUST_USE abut_status abut_stiffness_fit_materials(const abut_elastic *e, double lo, double hi, double *k, abut_err *err);

#endif

/* Derivatives of a program's energies against differences of their values. */
#ifndef ABUT_ENERGY_ELEMENT_CHECK_H
#define ABUT_ENERGY_ELEMENT_CHECK_H

#include "energy/element_energy.h"

/** Compares the gradient and the second derivatives of every element at z with central differences of its value and its gradient
 * over 1e-4 and 5e-5 of its size, extrapolated.  Tolerance: twice the difference of the two, plus rounding, plus 1e-6 of the
 * largest entry.  Elements with infinite energy are left out, and so are axes along which the energy is infinite nearby.
 *
 * z  [3 nv]  m
 * Fails  ABUT_E_ARG a derivative differs (names the element, its nodes, axes and both numbers), or is not a number */
ABUT_MUST_USE abut_status abut_element_check(const abut_element_energy *e, const double *z, abut_err *err);

#endif

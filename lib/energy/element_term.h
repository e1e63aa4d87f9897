/* Energies of a program (energy/element_energy.h) as terms of the objective, and a check of their derivatives. */
#ifndef ABUT_ENERGY_ELEMENT_TERM_H
#define ABUT_ENERGY_ELEMENT_TERM_H

#include "energy/element_energy.h"
#include "energy/terms.h"

/** The term of an energy: *ops is filled and *row names it; e and *ops are borrowed for as long as the term lives.
 * Its `make` fails with ABUT_E_ARG on a number of corners, of elements or of a node that cannot be. */
void abut_element_term(const abut_element_energy *e, abut_term_ops *ops, abut_own_term *row);

/** Compares the gradient and the second derivatives of every element at z with central differences of its value and its gradient
 * over 1e-4 and 5e-5 of its size, extrapolated.  Tolerance: twice the difference of the two, plus rounding, plus 1e-6 of the
 * largest entry.  Elements with infinite energy are left out, and so are axes along which the energy is infinite nearby.
 *
 * z  [3 nv]  m
 * Fails  ABUT_E_ARG a derivative differs (names the element, its nodes, axes and both numbers), or is not a number */
ABUT_MUST_USE abut_status abut_element_check(const abut_element_energy *e, const double *z, abut_err *err);

#endif

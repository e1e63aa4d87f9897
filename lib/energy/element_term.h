/* Energies of a program (energy/element_energy.h) as terms of the objective. */
#ifndef ABUT_ENERGY_ELEMENT_TERM_H
#define ABUT_ENERGY_ELEMENT_TERM_H

#include "energy/element_energy.h"
#include "energy/terms.h"

/** The term of an energy: *ops is filled and *row names it; e and *ops are borrowed for as long as the term lives.
 * Its `make` fails with ABUT_E_ARG on a number of corners, of elements or of a node that cannot be. */
void abut_element_term(const abut_element_energy *e, abut_term_ops *ops, abut_own_term *row);

#endif

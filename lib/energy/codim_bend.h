/* Hinges, rod segments and bends of rods among the thin elements (energy/codim.h): not for use outside of lib/energy. */
#ifndef ABUT_ENERGY_CODIM_BEND_H
#define ABUT_ENERGY_CODIM_BEND_H

#include "energy/codim_shell.h"

/** All for the elements lo .. hi - 1, of one kind that is no shell.  These have no bounds: results are 0 without
 * ABUT_CODIM_ELASTIC in a->parts.  Energy: J, +inf if an element is infeasible. */
double abut_codim_bend_energy(const abut_codim_ask *a, int kind, size_t lo, size_t hi);
/** f[12 * (element - base) + 3 * corner + axis] = scale * dE/dx; 0 at unused corners. */
void abut_codim_bend_gradient(const abut_codim_ask *a, int kind, size_t lo, size_t hi, double *f);
/** H[ABUT_PACKED * (element - base)] = scale * d2E/dx2, projected; += where a->add. */
void abut_codim_bend_hessian(const abut_codim_ask *a, int kind, size_t lo, size_t hi, double *H);
/** Sum of their stiffnesses, J. */
double abut_codim_bend_stiffness(const abut_codim *t);

#endif

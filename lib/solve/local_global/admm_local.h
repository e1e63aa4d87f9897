/* Local steps of ADMM on tets, four at a time: energies of elements as functions of their stretches. */
#ifndef ABUT_SOLVE_LOCAL_GLOBAL_ADMM_LOCAL_H
#define ABUT_SOLVE_LOCAL_GLOBAL_ADMM_LOCAL_H

#include "energy/elastic_lanes.h"

/** s[3]: stretches that minimise psi(s) + k/2 |s - s0|^2 of tet t, by Newton from s0; k > 0.  Returns 0 if that fails. */
int abut_admm_project(const abut_elastic *e, size_t t, double k, const double s0[3], double s[3]);

/** Projects tets t .. t + n - 1, n <= ABUT_LANES, by whole steps of Newton with the unprojected second derivative.  A lane whose
 * second derivative is not positive definite, or whose whole step does not descend, is left to abut_admm_project.
 * Returns the number of lanes before the first that fails; n: all have converged. */
size_t abut_admm_project_lanes(const abut_elastic *e, size_t t, size_t n, const abut_lanes *k, const abut_lanes s0[3],
                               abut_lanes s[3]);

#endif

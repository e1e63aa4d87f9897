/* Local steps of ADMM on tets, four at a time: energies of elements as functions of their stretches. */
#ifndef ABUT_SOLVE_LOCAL_GLOBAL_ADMM_LOCAL_H
#define ABUT_SOLVE_LOCAL_GLOBAL_ADMM_LOCAL_H

#include "energy/elastic_lanes.h"

/** s[3]: the stretches with the smallest psi(s) + k/2 |s - s0|^2 of tet t that Newton finds from s0; k > 0.  0: it does not. */
int abut_admm_project(const abut_elastic *e, size_t t, double k, const double s0[3], double s[3]);

/** The same of tets t .. t + n - 1, n <= ABUT_LANES, by whole steps of Newton with the second derivative as it is; a lane whose
 * second derivative is not positive definite there, or whose whole step does not descend, is left to abut_admm_project.
 * Returns how many of the first n lanes have found theirs, counted up to the first that has not. */
size_t abut_admm_project_lanes(const abut_elastic *e, size_t t, size_t n, const abut_lanes *k, const abut_lanes s0[3],
                               abut_lanes s[3]);

#endif

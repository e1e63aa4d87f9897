/* Rayleigh damping with a lagged stiffness: forces -C v with C = a_M M + b_K K, K the elastic Hessian at the start of the
 * step, projected to positive semidefinite, so that the damping is a convex quadratic of the positions (stretch limits are no
 * part of K: they are no material; nor are springs and attachments):
 *     D(x) = scale/2 (x - c)^T C (x - c),     v = rate (x - c) / h.
 * Tets of order 2 and more have terms of their own.
 * Source: Rayleigh 1877, 81 (forces proportional to mass and stiffness). */
#ifndef ABUT_ENERGY_DAMPING_H
#define ABUT_ENERGY_DAMPING_H

#include "energy/codim.h"
#include "energy/elastic.h"
#include "energy/mass.h"

/* Zero-filled: no damping.  K is owned here. */
typedef struct abut_damping {
    const abut_mass *M;
    double mass;        /* a_M, 1/s */
    double stiffness;   /* b_K, s */
    double *K;          /* [nt * ABUT_PACKED] b_K K of each tet, N s/m; NULL when b_K is 0 */
    double *codim_K;     /* [thin elements * ABUT_PACKED] */
} abut_damping;

struct abut_terms;
/** Returns the damping of the list, which "damping" (mass and tets) and "codim damping" share; NULL: none. */
abut_damping *abut_damping_of(const struct abut_terms *terms);

#endif

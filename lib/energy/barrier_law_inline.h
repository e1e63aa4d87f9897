/* The barrier law of a pair. */
#ifndef ABUT_ENERGY_BARRIER_LAW_INLINE_H
#define ABUT_ENERGY_BARRIER_LAW_INLINE_H

#include "base/fn.h"
#include "model/laws_inline.h"

typedef struct abut_barrier_law {
    double dhat2;       /* m^2: Dhat = (xi + dhat)^2 - xi^2 = (2 xi + dhat) dhat, at which the barrier ends */
    int number;         /* ABUT_BARRIER_IPC, ...: energy/barrier_laws.h */
    double xi;          /* m: thickness of the pair */
} abut_barrier_law;

/* Hessians of contacts that a GPU has kernels for (energy/barrier_hessians.h). */
enum { ABUT_HESSIAN_WITHOUT_KERNEL = 0, ABUT_HESSIAN_PROJECTED, ABUT_HESSIAN_GN, ABUT_HESSIAN_IPC_GN };

ABUT_FN abut_barrier_law abut_barrier_law_of(double dhat, int number, double xi)
{
    abut_barrier_law law = { (2 * xi + dhat) * dhat, number, xi };
    return law;
}

#endif

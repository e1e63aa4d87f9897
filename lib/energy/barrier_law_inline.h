/* The barrier law of a pair, and the Gauss-Newton matrix of a mollified one (energy/barrier_pair.h). */
#ifndef ABUT_ENERGY_BARRIER_LAW_INLINE_H
#define ABUT_ENERGY_BARRIER_LAW_INLINE_H

#include "base/fn.h"
#include "model/laws.h"

typedef struct abut_barrier_law {
    double dhat2;       /* m^2: Dhat = (xi + dhat)^2 - xi^2 = (2 xi + dhat) dhat, at which the barrier ends */
    int number;         /* ABUT_BARRIER_IPC, ...: energy/contact_laws.h */
    double xi;          /* m: thickness of the pair */
    double inner2;      /* m^2 */
    double inner_part;  /* the law is b(D; Dhat) - inner_part b(D; inner2); 0: b alone */
} abut_barrier_law;

/* Hessians of contacts that a GPU has kernels for (energy/barrier.h). */
enum { ABUT_HESSIAN_WITHOUT_KERNEL = 0, ABUT_HESSIAN_PROJECTED, ABUT_HESSIAN_GN, ABUT_HESSIAN_IPC_GN };

typedef struct abut_mollified_gn {
    double a[12], v[12];    /* m; 1 */
    double m11, m12, m22;   /* 1, m, m^2 */
    double dhat;            /* m */
} abut_mollified_gn;

ABUT_FN abut_barrier_law abut_barrier_law_of(double dhat, int number, double xi)
{
    abut_barrier_law law = { (2 * xi + dhat) * dhat, number, xi, 0, 0 };
    return law;
}

#endif

/* Functions shared by kernels of thin elements; for k_*.c. */
#ifndef ABUT_GPU_CODIM_ITEM_H
#define ABUT_GPU_CODIM_ITEM_H

#include "gpu/kernel.h"

#include <float.h>

/* v[3 corners] of element e */
ABUT_FN void corners_of(const abut_codim_args *a, size_t e, size_t corners, const double *v, double *at)
{
    for (size_t c = 0; c < corners; c++) {
        const double *from = v + 3 * (size_t)a->node[c * a->n + e];
        for (size_t k = 0; k < 3; k++) at[3 * c + k] = from[k];
    }
}

/* energy of element e and its derivative f[n], 0 beyond */
ABUT_FN void put_energy(const abut_codim_args *a, size_t e, double energy, size_t n, const double *f)
{
    a->energy[e] = energy <= DBL_MAX ? energy : (double)INFINITY;
    for (size_t k = 0; k < 12; k++) a->force[12 * e + k] = k < n ? f[k] : 0;
}

#endif

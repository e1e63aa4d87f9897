/* Rank-one Hessians of contacts (energy/barrier_hessians.h), of one contact for a GPU. */
#ifndef ABUT_ENERGY_MOLLIFIED_GN_INLINE_H
#define ABUT_ENERGY_MOLLIFIED_GN_INLINE_H

#include "math/vec3.h"

typedef struct abut_mollified_gn {
    double a[12], v[12];    /* m; 1 */
    double m11, m12, m22;   /* 1, m, m^2 */
    double dhat;            /* m */
} abut_mollified_gn;

#endif

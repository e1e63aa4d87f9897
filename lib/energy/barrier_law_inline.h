/* Which barrier a pair has. */
#ifndef ABUT_ENERGY_BARRIER_LAW_INLINE_H
#define ABUT_ENERGY_BARRIER_LAW_INLINE_H

#include "base/fn.h"
#include "model/continuity_inline.h"

/* As smooth at its end as its name says. */
typedef struct abut_barrier_law {
    double dhat2;       /* m^2: Dhat = (xi + dhat)^2 - xi^2 = (2 xi + dhat) dhat, where it ends */
    int continuity;     /* ABUT_C0, ABUT_C1, ABUT_C2 (published) */
    double xi;          /* m: thickness of the pair */
} abut_barrier_law;

ABUT_FN abut_barrier_law abut_barrier_law_of(double dhat, int continuity, double xi)
{
    abut_barrier_law law = { (2 * xi + dhat) * dhat, continuity, xi };
    return law;
}

#endif

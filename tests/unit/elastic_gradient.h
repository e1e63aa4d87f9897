/* Energy and gradient of elasticity where a test wants one of them once. */
#ifndef ABUT_TESTS_ELASTIC_GRADIENT_H
#define ABUT_TESTS_ELASTIC_GRADIENT_H

#include "energy/elastic.h"

/* J; as it was after a failure */
static inline abut_status elastic_energy(const abut_elastic *e, const double *x, double *energy, abut_arena *scratch,
                                         abut_err *err)
{
    abut_elastic_memo memo = { 0 };
    const abut_status rc = abut_elastic_recall(e, x, &memo, scratch, err);
    if (!rc) *energy = memo.energy;
    abut_elastic_memo_clear(&memo);
    return rc;
}

/* g[3 nv] += scale * dE/dx, at an x of finite energy */
static inline abut_status elastic_gradient(const abut_elastic *e, const double *x, double scale, double *g, abut_arena *scratch,
                                           abut_err *err)
{
    abut_elastic_memo memo = { 0 };
    abut_status rc = abut_elastic_recall(e, x, &memo, scratch, err);
    if (!rc && memo.f) rc = abut_elastic_gather(e, &memo, scale, g, scratch, err);
    abut_elastic_memo_clear(&memo);
    return rc;
}

#endif

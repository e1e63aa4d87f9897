/* A straight motion of a whole collision mesh, and the test before a CCD: candidates that the first slab clears. */
#ifndef ABUT_CONTACT_SWEEP_H
#define ABUT_CONTACT_SWEEP_H

#include "base/par.h"
#include "contact/candidates.h"
#include "geom/ccd/slab_lanes.h"

#include <math.h>
#include <string.h>

typedef struct abut_sweep {
    const double *y, *y1;   /* [3 nc] start, end */
    double slack;           /* fraction of the start gap that must be left */
    double round;           /* m: bound on the effect of rounding of y0 + W x on a gap, at both ends; 0 if W selects */
    double tiny;            /* m: smaller gaps, of which rounding is a visible part, are left to the CCD */
} abut_sweep;

static inline abut_sweep abut_sweep_of(const abut_collmesh *cm, const double *y, const double *y1, double slack)
{
    const size_t n = 3 * (size_t)cm->nc;
    double most = 0;
    #pragma omp parallel for schedule(static) reduction(max : most) if (n >= 8 * ABUT_PAR_MIN)
    for (size_t i = 0; i < n; i++) {
        const double a = fabs(y[i]), b = fabs(y1[i]);
        most = a > most ? a : most;
        most = b > most ? b : most;
    }
    return (abut_sweep){ y, y1, slack, 4 * cm->rounding * most, 0x1p-43 * most };
}

/** Returns a bit for each of four candidates, set if the first slab proves that it keeps its slack up to t_max. */
static inline int abut_sweep_clear(abut_stencil s, const abut_candidate_four *f, const abut_sweep *m, double t_max)
{
    double xi[ABUT_LANES];
    for (int l = 0; l < ABUT_LANES; l++) xi[l] = f->xi[l] + m->round;
    return abut_slab_clear_lanes(s, m->y, m->y1, (const int32_t (*)[4])f->v, xi, m->slack, m->tiny, t_max);
}

static inline void abut_sweep_gather(const double *y, const int32_t *v, int n, double *x)
{
    for (int k = 0; k < n; k++) memcpy(x + 3 * k, y + 3 * (size_t)v[k], 3 * sizeof *x);
}

#endif

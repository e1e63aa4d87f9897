/* Principal stretches of the elements: the singular values of the deformation gradient, 1 at rest. */
#ifndef ABUT_ENERGY_STRETCH_H
#define ABUT_ENERGY_STRETCH_H

#include "energy/elastic.h"

/* Extremes over a mesh, and the tets that have them (the lowest index where several do). */
typedef struct abut_stretch {
    double min, max;            /* min is negative when that tet is inverted */
    int32_t min_tet, max_tet;   /* -1 when there is no tet; min and max are 1 then */
} abut_stretch;

/** The smallest and largest principal stretch over all tets at x; same bits for any thread count.
 * scratch: one abut_stretch per block of tets. */
ABUT_MUST_USE abut_status abut_stretch_find(const abut_elastic *e, const double *x, abut_stretch *out, abut_arena *scratch,
                                            abut_err *err);

#endif

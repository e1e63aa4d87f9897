/* Slabs (geom/ccd/slab.h) of four moving pairs at once: the first one proves most candidates of a CCD free. */
#ifndef ABUT_GEOM_CCD_SLAB_LANES_H
#define ABUT_GEOM_CCD_SLAB_LANES_H

#include "geom/dist.h"
#include "math/lanes.h"

#include <stdint.h>

/** Bit l is set if abut_ccd_additive returns CLEAR for the stencil of vertices v[l] of y0 -> y1 by its first slab: in [0, t_max]
 * the pair stays beyond min_sep[l] + slack * (start gap - min_sep[l]).  Other pairs may be clear, too.
 *  tiny  m: slack * (start gap - min_sep) below it is left open; at least 1000 * 2^-53 of the largest coordinate
 * Source: abut_slab_quick, abut_slab_advance at t = 0, in lanes. */
int abut_slab_clear_lanes(abut_stencil s, const double *y0, const double *y1, const int32_t v[ABUT_LANES][4],
                          const double min_sep[ABUT_LANES], double slack, double tiny, double t_max);

#endif

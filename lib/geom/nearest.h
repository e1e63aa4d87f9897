/* Nearest features (geom/dist.h) of four stencils of one kind at once. */
#ifndef ABUT_GEOM_NEAREST_H
#define ABUT_GEOM_NEAREST_H

#include "geom/dist.h"
#include "math/lanes.h"

#include <stdint.h>

typedef struct abut_nearest_four {
    double dist2[ABUT_LANES];                   /* m^2 */
    double cross2[ABUT_LANES];                  /* EE: m^4, abut_cross2 (geom/mollify.h) */
    const abut_feature *feature[ABUT_LANES];    /* constants */
} abut_nearest_four;

/** abut_nearest, to the bit, of the stencils of vertices v[0] to v[3] of y. */
void abut_nearest_lanes(abut_stencil s, const double *y, const int32_t v[ABUT_LANES][4], abut_nearest_four *out);

#endif

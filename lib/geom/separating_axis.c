#include "geom/separating_axis.h"

#include "geom/separating_axis_inline.h"

void abut_direction_nearest(abut_stencil s, const double *x, double n[3])
{
    abut_direction_nearest_fn(s, x, n);
}

int abut_direction_all(abut_stencil s, const double *x, double n[ABUT_DIRECTIONS_MAX][3])
{
    return abut_direction_all_fn(s, x, n);
}

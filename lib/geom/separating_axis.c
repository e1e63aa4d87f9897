#include "geom/separating_axis.h"

#include "geom/separating_axis_inline.h"

void abut_axis_nearest(abut_stencil s, const double *x, double n[3])
{
    abut_axis_nearest_fn(s, x, n);
}

int abut_axis_all(abut_stencil s, const double *x, double n[ABUT_AXES_MAX][3])
{
    return abut_axis_all_fn(s, x, n);
}

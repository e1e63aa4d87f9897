#include "geom/dist.h"

#include "geom/dist_inline.h"

abut_feature abut_nearest(abut_stencil s, const double *x, double *dist2)
{
    return abut_nearest_fn(s, x, dist2);
}

double abut_closest(abut_stencil s, const double *x, double w[4])
{
    return abut_closest_fn(s, x, w);
}

double abut_dist2_all(abut_stencil s, const double *x, double *w, double *g, double *H)
{
    return abut_dist2_all_fn(s, x, w, g, H);
}

double abut_dist2(abut_stencil s, const double *x, double *w)
{
    return abut_dist2_all(s, x, w, NULL, NULL);
}

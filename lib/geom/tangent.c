#include "geom/tangent.h"

#include "geom/tangent_inline.h"

void abut_tangent(abut_stencil s, const double *x, double P[6])
{
    abut_tangent_fn(s, x, P);
}

void abut_tangent_plane(const double n[3], double P[6])
{
    abut_tangent_plane_fn(n, P);
}

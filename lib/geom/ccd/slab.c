#include "geom/ccd/slab.h"

#include "geom/ccd/slab_inline.h"

double abut_slab_quick(abut_stencil s, const double *x, const double *x0, const double *x1, abut_slab *l)
{
    return abut_slab_quick_fn(s, x, x0, x1, l);
}

double abut_slab_advance(const abut_slab *l, double t, double target)
{
    return abut_slab_advance_fn(l, t, target);
}

double abut_slab_furthest(abut_stencil s, const double *x, const double *x0, const double *x1, double t, double target)
{
    return abut_slab_furthest_fn(s, x, x0, x1, t, target);
}

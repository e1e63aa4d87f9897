#include "geom/mollify.h"

#include "geom/mollify_inline.h"

double abut_cross2(const double x[12], double *g, double *H)
{
    return abut_cross2_fn(x, g, H);
}

double abut_mollify_eps(double rest2_a, double rest2_b)
{
    return abut_mollify_eps_fn(rest2_a, rest2_b);
}

double abut_mollify(double c, double eps, double *d1, double *d2)
{
    return abut_mollify_fn(c, eps, d1, d2);
}

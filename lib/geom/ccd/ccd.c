#include "geom/ccd/ccd.h"

#include "geom/ccd/ccd_inline.h"

double abut_separation(abut_stencil s, const double *x)
{
    return abut_separation_fn(s, x);
}

abut_ccd_answer abut_ccd_additive(abut_stencil s, const double *x0, const double *x1, double min_sep, double slack,
                                  double t_max, double *toi)
{
    return abut_ccd_additive_fn(s, x0, x1, min_sep, slack, t_max, toi);
}

/* Exact minimum separation along straight motions; stencils and motions as in geom/ccd/ccd.h. */
#ifndef ABUT_GEOM_CCD_WITHIN_H
#define ABUT_GEOM_CCD_WITHIN_H

#include "geom/dist.h"

/** Do the closed primitives come within sep (m, > 0, finite) of each other at some t in [0, 1]: distance <= sep in real
 * arithmetic on the stored doubles?  1 yes, 0 no.  A coordinate that is not finite: 1, at any time.
 * t_lo, t_hi (NULL to skip; set when 1): doubles that enclose the first such time.
 *
 * A floating filter first, then polynomials over big integers: squared distances of all features (two points, degree 2; point
 * and line, 4; point and plane or two lines, 6) against sep^2, each with the conditions that the nearest points are inside. */
int abut_ccd_exact_within(abut_stencil s, const double *x0, const double *x1, double sep, double *t_lo, double *t_hi);

#endif

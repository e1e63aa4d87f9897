/* The floating-point filter in front of the exact contact decision: certified answers, or none. */
#ifndef ABUT_GEOM_CCD_FILTER_H
#define ABUT_GEOM_CCD_FILTER_H

#include "geom/dist.h"

/* Which stage decided: boxes of the motions, the sign of the coplanarity cubic, separating planes over slabs of time,
 * a certified crossing. */
enum { ABUT_FILTER_OPEN = 0, ABUT_FILTER_BOX, ABUT_FILTER_CUBIC, ABUT_FILTER_SLAB, ABUT_FILTER_CROSS, ABUT_FILTER_STAGES };

/** Do the closed primitives of s touch somewhere along x0 -> x1?  1 yes, 0 no, both proved; -1 undecided.
 * stage (NULL to skip): ABUT_FILTER_*.  A coordinate that is not finite, or beyond 2^98, leaves it undecided. */
int abut_ccd_filter(abut_stencil s, const double *x0, const double *x1, int *stage);

/** Do they stay farther apart than sep (m, >= 0) over the whole motion?  1 proved, 0 not. */
int abut_ccd_filter_apart(abut_stencil s, const double *x0, const double *x1, double sep);

/** Does the tetrahedron of four points keep a positive volume, det(p1 - p0, p2 - p0, p3 - p0) > 0, all along x0 -> x1?
 * 1 proved, 0 not. */
int abut_ccd_filter_volume(const double x0[12], const double x1[12]);

#endif

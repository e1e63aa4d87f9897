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

/* The corners of a stencil: triples (r; x, y) of a point of one primitive and two points of the other, from which the exact
 * decision and its filter build every sign.  A PP stencil is read as a PE stencil whose edge is one point. */

typedef struct abut_corners {
    int n;              /* corners */
    int at[4][3];       /* r, x, y */
    int split;          /* points 0 .. split-1 are the first primitive */
    int np;             /* points */
    int normal[4];      /* (p0 - p1) x (p2 - p3) is normal to a face or to two edges; all 0 without one */
} abut_corners;

static inline const abut_corners *abut_corners_of(abut_stencil s)
{
    static const abut_corners table[4] = {
        [ABUT_PP] = { 1, { { 0, 1, 1 } }, 1, 2, { 0 } },
        [ABUT_PE] = { 1, { { 0, 1, 2 } }, 1, 3, { 0 } },
        [ABUT_PT] = { 3, { { 0, 1, 2 }, { 0, 2, 3 }, { 0, 3, 1 } }, 1, 4, { 2, 1, 3, 1 } },
        [ABUT_EE] = { 4, { { 0, 2, 3 }, { 1, 2, 3 }, { 2, 0, 1 }, { 3, 0, 1 } }, 2, 4, { 1, 0, 3, 2 } },
    };
    return &table[s];
}

#endif

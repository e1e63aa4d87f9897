/* The corners of a stencil: triples (r; x, y) of a point of one primitive and two points of the other, from which the exact
 * decision and its filter build every sign.  A PP stencil is read as a PE stencil whose edge is one point. */
#ifndef ABUT_GEOM_CCD_CORNER_H
#define ABUT_GEOM_CCD_CORNER_H

#include "geom/dist.h"

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

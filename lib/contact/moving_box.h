/* Boxes that tell most candidates from those that may meet on a straight motion: what comes before a CCD. */
#ifndef ABUT_CONTACT_MOVING_BOX_H
#define ABUT_CONTACT_MOVING_BOX_H

#include "base/par.h"
#include "geom/aabb.h"

#include <math.h>
#include <string.h>

/* What one search is about.  Gaps below `rounding` (its square, m^2) are never judged by boxes. */
typedef struct abut_swept {
    const double *y, *y1, *move;    /* [3 nc] start, end, y1 - y */
    double slack, rounding2;
} abut_swept;

/* Boxes of a primitive and of the displacements of its vertices. */
typedef struct abut_moving_box {
    abut_box at, by;
} abut_moving_box;

static inline abut_moving_box abut_moving_box_of(const abut_swept *m, const int32_t *idx, int k)
{
    return (abut_moving_box){ abut_box_of(m->y, idx, k), abut_box_of(m->move, idx, k) };
}

/** The pair keeps its slack up to t: gap2 is a lower bound of its squared distance, span2 an upper one of its squared relative
 * displacement.  In time t a distance falls by at most t |relative displacement|, and up to (1 - slack) of what is beyond the
 * thickness may go.  One part in ten is left to the stopping rule of the CCD, so that it would have said the same. */
static inline int abut_far_apart(const abut_swept *m, double gap2, double span2, double xi, double t)
{
    const double fall = 1.1 * t / (1 - m->slack);
    if (xi > 0) {
        const double gap = sqrt(gap2) - xi;
        return gap > 0 && gap * gap > m->rounding2 && gap >= fall * sqrt(span2);
    }
    return gap2 > m->rounding2 && gap2 >= fall * fall * span2;
}

/** move = y1 - y; returns the squared gap of which the rounding of stored positions may take a visible part. */
static inline double abut_swept_fill(int32_t nc, const double *y, const double *y1, double *move)
{
    double most = 0;
    #pragma omp parallel for schedule(static) reduction(max : most) if ((size_t)nc >= ABUT_PAR_MIN)
    for (size_t i = 0; i < 3 * (size_t)nc; i++) {
        move[i] = y1[i] - y[i];
        most = abut_max(most, abut_max(fabs(y[i]), fabs(y1[i])));
    }
    return (0x1p-40 * most) * (0x1p-40 * most);
}

static inline void abut_swept_gather(const double *y, const int32_t *v, int n, double *x)
{
    for (int k = 0; k < n; k++) memcpy(x + 3 * k, y + 3 * (size_t)v[k], 3 * sizeof *x);
}

#endif

/* Certified separation and additive CCD: the proof is that of geom/slab.h, the steps are what is decided here. */
#include "geom/ccd.h"

#include "geom/slab.h"

#include <math.h>

#define EPS 0x1p-53
#define MAX_STEPS 10000

double abut_separation(abut_stencil s, const double *x)
{
    abut_slab l;
    const double d = abut_slab_quick(s, x, x, x, &l);
    if (!(l.least0 >= d * (1 - 32 * EPS))) abut_slab_best(s, x, x, &l);
    return l.least0 > 0 ? l.least0 : 0;
}

/* Largest coordinate, and largest coordinate of a displacement. */
static double magnitude(abut_stencil s, const double *x0, const double *x1, double *move)
{
    double big0 = 0, big1 = 0, most = 0;
    for (int i = 0; i < 3 * abut_stencil_size(s); i++) {
        const double a = fabs(x0[i]), b = fabs(x1[i]), p = fabs(x1[i] - x0[i]);
        big0 = a > big0 ? a : big0;
        big1 = b > big1 ? b : big1;
        most = p > most ? p : most;
    }
    *move = most;
    return big0 > big1 ? big0 : big1;
}

/* Distance that the rounding of stored positions x0 + t (x1 - x0) can take away, for both primitives. */
static double resolution(double big, double move)
{
    return move > 0 ? 8 * EPS * big + 22 * EPS * move : 0;
}

abut_ccd_answer abut_ccd_additive(abut_stencil s, const double *x0, const double *x1, double min_sep, double slack,
                                  double t_max, double *toi)
{
    double x[12], move;
    abut_slab l;
    double d = abut_slab_quick(s, x0, x0, x1, &l);

    /* the start gap: the quick guess will do when it lost next to nothing */
    if (!(l.least0 >= d * (1 - 1e-8) && d - l.least0 <= 1e-6 * (l.least0 - min_sep))) abut_slab_best(s, x0, x1, &l);
    const double gap = l.least0 - min_sep, goal = slack * gap, target = (min_sep + goal) * (1 + 4 * EPS);
    const double big = magnitude(s, x0, x1, &move);
    *toi = 0;
    if (!(gap > 0 && goal >= 16 * resolution(big, move) && target < INFINITY)) return ABUT_CCD_BAD;

    /* near enough to the goal to stop: steps shrink with what is left */
    const double enough = goal + 0.05 * (goal < gap - goal ? goal : gap - goal);
    const int n3 = 3 * abut_stencil_size(s);
    double t = abut_slab_advance(&l, 0, target);
    for (int step = 0; t < t_max && step < MAX_STEPS; step++) {
        for (int i = 0; i < n3; i++) x[i] = x0[i] + t * (x1[i] - x0[i]);
        d = abut_slab_quick(s, x, x0, x1, &l);
        if (d - min_sep <= enough) break;
        double next = abut_slab_advance(&l, t, target);
        if (!(next > t)) next = abut_slab_furthest(s, x, x0, x1, t, target);
        if (!(next > t)) break;
        t = next;
    }
    if (t >= t_max) {
        *toi = t_max;
        return ABUT_CCD_CLEAR;
    }
    *toi = t;
    return t > 0 ? ABUT_CCD_HIT : ABUT_CCD_BAD;
}

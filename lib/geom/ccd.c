/* Certified separation and additive CCD.
 *
 * For any vector n with |n| <= 1, every point pair of two convex hulls is at least min_ij n.(a_i - b_j) apart: a linear
 * function on the difference of two hulls is smallest at a pair of vertices.  Along straight motions each of these numbers
 * is linear in t, so its values at t = 0 and t = 1, computed from the stored doubles with their rounding error taken off,
 * bound the distance at every time between.  Nothing else is trusted: directions are guesses (geom/direction.h). */
#include "geom/ccd.h"

#include "geom/direction.h"

#include <math.h>

#define EPS 0x1p-53
/* n.(a - b): one rounding in a difference, one in a product, two in the sum; two more pay for taking off the error and
 * for |n| = 1 + 4 eps. */
#define DOT_ERROR (6 * (1 + 0x1p-20) * EPS)
#define DOT_TINY 0x1p-1020
#define MAX_STEPS 10000

/* Lower bounds of n.(a_i - b_j) at t = 0 and t = 1. */
typedef struct lines {
    int n;
    double h0[4], h1[4];
    double least0, least1;
} lines;

/* n scaled to length 1; 0 when it has no direction. */
static int normalise(double n[3])
{
    double nn = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    if (!(nn > 0x1p-900 && nn < 0x1p900)) {
        const double big = fmax(fabs(n[0]), fmax(fabs(n[1]), fabs(n[2])));
        if (!(big > 0 && big < INFINITY)) return 0;
        for (int k = 0; k < 3; k++) n[k] /= big;
        nn = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    }
    const double inv = 1 / sqrt(nn);
    for (int k = 0; k < 3; k++) n[k] *= inv;
    return 1;
}

static inline double low_dot(const double *n, const double *a, const double *b)
{
    const double p = n[0] * (a[0] - b[0]), q = n[1] * (a[1] - b[1]), r = n[2] * (a[2] - b[2]);
    return p + q + r - (DOT_ERROR * (fabs(p) + fabs(q) + fabs(r)) + DOT_TINY);
}

/* na, nb are literals at the hot calls, so the loops unroll. */
static inline __attribute__((always_inline)) void project_n(int na, int nb, const double *x0, const double *x1,
                                                            const double *n, lines *l)
{
    l->n = na * nb;
    l->least0 = l->least1 = INFINITY;
    for (int i = 0; i < na; i++)
        for (int j = 0; j < nb; j++) {
            const int a = 3 * i, b = 3 * (na + j), k = nb * i + j;
            const double h0 = low_dot(n, x0 + a, x0 + b), h1 = low_dot(n, x1 + a, x1 + b);
            l->h0[k] = h0, l->h1[k] = h1;
            /* a NaN is taken and then kept: it fails every test that follows */
            l->least0 = h0 < l->least0 || h0 != h0 ? h0 : l->least0;
            l->least1 = h1 < l->least1 || h1 != h1 ? h1 : l->least1;
        }
}

static void project(abut_stencil s, const double *x0, const double *x1, const double *n, lines *l)
{
    if (s == ABUT_EE) project_n(2, 2, x0, x1, n, l);
    else if (s == ABUT_PT) project_n(1, 3, x0, x1, n, l);
    else project_n(1, s == ABUT_PE ? 2 : 1, x0, x1, n, l);
}

/* -- distance ----------------------------------------------------------------------------------------------------- */

/* Points n from the second primitive to the first, as far as it tells them apart at all. */
static void orient(abut_stencil s, const double *x, double n[3])
{
    const int k = abut_stencil_size(s), na = s == ABUT_EE ? 2 : 1;
    double sum = 0;
    for (int i = 0; i < na; i++)
        for (int j = na; j < k; j++)
            for (int c = 0; c < 3; c++) sum += n[c] * (x[3 * i + c] - x[3 * j + c]);
    for (int c = 0; c < 3 && sum < 0; c++) n[c] = -n[c];
}

/* Unit directions worth trying at x; returns how many. */
static int directions(abut_stencil s, const double *x, double n[ABUT_DIRECTIONS_MAX][3])
{
    const int all = abut_direction_all(s, x, n);
    int m = 0;
    for (int k = 0; k < all; k++) {
        double *to = n[m];
        for (int c = 0; c < 3; c++) to[c] = n[k][c];
        if (!normalise(to)) continue;
        orient(s, x, to);
        m++;
    }
    return m;
}

/* Largest certified distance at x0 over the careful set of directions, with its lines; what *l holds when none is better. */
static void separate_best(abut_stencil s, const double *x0, const double *x1, lines *l)
{
    double n[ABUT_DIRECTIONS_MAX][3];
    const int m = directions(s, x0, n);
    for (int k = 0; k < m; k++) {
        lines other;
        project(s, x0, x1, n[k], &other);
        if (other.least0 > l->least0) *l = other;
    }
}

/* Lines of the quick guess at x (x0 or a configuration between); d = length of the guess, an upper bound of the distance
 * but for rounding.  No direction: the lines certify nothing. */
static double separate_quick(abut_stencil s, const double *x, const double *x0, const double *x1, lines *l)
{
    double n[3];
    abut_direction_nearest(s, x, n);
    const double d = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    if (normalise(n)) project(s, x0, x1, n, l);
    else *l = (lines){ .n = 1, .h0 = { -1 }, .h1 = { -1 }, .least0 = -1, .least1 = -1 };
    return d;
}

double abut_separation(abut_stencil s, const double *x)
{
    lines l;
    const double d = separate_quick(s, x, x, x, &l);
    if (!(l.least0 >= d * (1 - 32 * EPS))) separate_best(s, x, x, &l);
    return l.least0 > 0 ? l.least0 : 0;
}

/* -- motion ------------------------------------------------------------------------------------------------------- */

/* The latest time in [t, 1] up to which every line stays at or above target; t itself when one is below it there. */
static double advance(const lines *l, double t, double target)
{
    double end = 1;
    for (int k = 0; k < l->n; k++) {
        const double h0 = l->h0[k], h1 = l->h1[k];
        const double h = h0 + t * (h1 - h0) - 8 * EPS * (fabs(h0) + fabs(h1));
        if (!(h >= target)) return t;
        if (h1 >= target) continue;
        const double until = t + (h - target) / (h0 - h1) * (1 - 8 * EPS);
        if (!(until >= end)) end = until;
    }
    return end > t ? end : t;
}

/* The furthest any careful direction at the configuration of time t leads. */
static double advance_best(abut_stencil s, const double *x, const double *x0, const double *x1, double t, double target)
{
    double n[ABUT_DIRECTIONS_MAX][3], end = t;
    const int m = directions(s, x, n);
    for (int k = 0; k < m; k++) {
        lines l;
        project(s, x0, x1, n[k], &l);
        end = fmax(end, advance(&l, t, target));
    }
    return end;
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
    lines l;
    double d = separate_quick(s, x0, x0, x1, &l);

    /* the start gap: the quick guess will do when it lost next to nothing */
    if (!(l.least0 >= d * (1 - 1e-8) && d - l.least0 <= 1e-3 * (l.least0 - min_sep))) separate_best(s, x0, x1, &l);
    const double gap = l.least0 - min_sep, goal = slack * gap, target = (min_sep + goal) * (1 + 4 * EPS);
    const double big = magnitude(s, x0, x1, &move);
    *toi = 0;
    if (!(gap > 0 && goal >= 16 * resolution(big, move) && target < INFINITY)) return ABUT_CCD_BAD;

    /* near enough to the goal to stop: steps shrink with what is left */
    const double enough = goal + 0.05 * (goal < gap - goal ? goal : gap - goal);
    const int n3 = 3 * abut_stencil_size(s);
    double t = advance(&l, 0, target);
    for (int step = 0; t < t_max && step < MAX_STEPS; step++) {
        for (int i = 0; i < n3; i++) x[i] = x0[i] + t * (x1[i] - x0[i]);
        d = separate_quick(s, x, x0, x1, &l);
        if (d - min_sep <= enough) break;
        double next = advance(&l, t, target);
        if (!(next > t)) next = advance_best(s, x, x0, x1, t, target);
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

/* Additive CCD of geom/ccd/ccd.h, for the processor and for a GPU: the proof is that of geom/ccd/slab.h, the steps are what is
 * decided here. */
#ifndef ABUT_GEOM_CCD_CCD_INLINE_H
#define ABUT_GEOM_CCD_CCD_INLINE_H

#include "geom/ccd/ccd.h"
#include "geom/ccd/slab_inline.h"

enum {
    ABUT_CCD_STEPS = 10000,     /* at most */
    ABUT_CCD_PLAIN = 16         /* before directions that move are tried */
};

/* A pair in motion: what abut_ccd_start finds and abut_ccd_steps continues with. */
typedef struct abut_ccd_motion {
    double t;           /* safe up to here */
    double target;      /* m, distance that slabs must prove */
    double enough;      /* m beyond the smallest separation: near enough to the goal to end */
} abut_ccd_motion;

ABUT_FN double abut_separation_fn(abut_stencil s, const double *x)
{
    abut_slab l;
    const double d = abut_slab_quick_fn(s, x, x, x, &l);
    if (!(l.least0 >= d * (1 - 32 * ABUT_SLAB_EPS))) abut_slab_best_fn(s, x, x, &l);
    return l.least0 > 0 ? l.least0 : 0;
}

/* Largest coordinate, and largest coordinate of a displacement. */
ABUT_FN double ccd_magnitude(abut_stencil s, const double *x0, const double *x1, double *move)
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
ABUT_FN double ccd_resolution(double big, double move)
{
    return move > 0 ? 8 * ABUT_SLAB_EPS * big + 22 * ABUT_SLAB_EPS * move : 0;
}

/* The start gap and the first step; 0 when the pair is BAD. */
ABUT_FN int abut_ccd_start(abut_stencil s, const double *x0, const double *x1, double min_sep, double slack, abut_ccd_motion *w)
{
    double move;
    abut_slab l;
    const double d = abut_slab_quick_fn(s, x0, x0, x1, &l);

    /* the start gap: the quick guess will do when it lost next to nothing */
    if (!(l.least0 >= d * (1 - 1e-8) && d - l.least0 <= 1e-6 * (l.least0 - min_sep))) abut_slab_best_fn(s, x0, x1, &l);
    const double gap = l.least0 - min_sep, goal = slack * gap, target = (min_sep + goal) * (1 + 4 * ABUT_SLAB_EPS);
    const double big = ccd_magnitude(s, x0, x1, &move);
    if (!(gap > 0 && goal >= 16 * ccd_resolution(big, move) && target < INFINITY)) return 0;

    w->target = target;
    w->enough = goal + 0.05 * (goal < gap - goal ? goal : gap - goal);  /* steps shrink with what is left */
    w->t = abut_slab_advance_fn(&l, 0, target);
    return 1;
}

/* The end of a step from w->t, or w->t, by directions that move from that of l on: over *width, or half of it, or ..., where that
 * is longer than the step to `next`.  *width becomes what the next step tries first. */
ABUT_FN double ccd_moving(abut_stencil s, const double *x0, const double *x1, const abut_ccd_motion *w, const abut_slab *l,
                          double next, double *width)
{
    double x[12];
    abut_slab there;
    const int n3 = 3 * abut_stencil_size(s);
    for (; *width > 2 * (next - w->t); *width *= 0.5) {
        const double u = w->t + *width;
        for (int i = 0; i < n3; i++) x[i] = x0[i] + u * (x1[i] - x0[i]);
        abut_slab_quick_fn(s, x, x0, x1, &there);
        if (!abut_slab_between_fn(l, &there, w->t, u, w->target)) continue;
        *width *= 2;
        return u;
    }
    *width *= 2;
    return w->t;
}

/* So many steps more; 0 when there is none left to take: w->t is the answer then, CLEAR from t_max on. */
ABUT_FN int abut_ccd_steps(abut_stencil s, const double *x0, const double *x1, double min_sep, double t_max, int steps,
                           abut_ccd_motion *w)
{
    double x[12], width = t_max;
    abut_slab l;
    const int n3 = 3 * abut_stencil_size(s), plain = steps - ABUT_CCD_PLAIN;
    for (; w->t < t_max && steps > 0; steps--) {
        for (int i = 0; i < n3; i++) x[i] = x0[i] + w->t * (x1[i] - x0[i]);
        const double d = abut_slab_quick_fn(s, x, x0, x1, &l);
        if (d - min_sep <= w->enough) return 0;
        double next = abut_slab_advance_fn(&l, w->t, w->target);
        if (steps <= plain && next > w->t && next < t_max) {
            width = width < t_max - w->t ? width : t_max - w->t;
            const double u = ccd_moving(s, x0, x1, w, &l, next, &width);
            next = u > next ? u : next;
        }
        if (!(next > w->t)) next = abut_slab_furthest_fn(s, x, x0, x1, w->t, w->target);
        if (!(next > w->t)) return 0;
        w->t = next;
    }
    return w->t < t_max;
}

ABUT_FN abut_ccd_answer abut_ccd_additive_fn(abut_stencil s, const double *x0, const double *x1, double min_sep, double slack,
                                             double t_max, double *toi)
{
    abut_ccd_motion w;
    *toi = 0;
    if (!abut_ccd_start(s, x0, x1, min_sep, slack, &w)) return ABUT_CCD_BAD;
    (void)abut_ccd_steps(s, x0, x1, min_sep, t_max, ABUT_CCD_STEPS, &w);
    *toi = w.t >= t_max ? t_max : w.t;
    return w.t >= t_max ? ABUT_CCD_CLEAR : w.t > 0 ? ABUT_CCD_HIT : ABUT_CCD_BAD;
}

#endif

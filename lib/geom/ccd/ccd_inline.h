/* Additive CCD of geom/ccd/ccd.h, for the processor and for a GPU: it chooses the steps, which geom/ccd/slab.h proves. */
#ifndef ABUT_GEOM_CCD_CCD_INLINE_H
#define ABUT_GEOM_CCD_CCD_INLINE_H

#include "geom/ccd/ccd.h"
#include "geom/ccd/slab_inline.h"

enum {
    ABUT_CCD_STEPS = 10000,     /* at most */
    ABUT_CCD_PLAIN = 16,        /* before directions that move are tried, for a pair that they prove clear */
    ABUT_CCD_MANY = 512,        /* before they are followed as far as they lead, and again after so many more */
    ABUT_CCD_TRIES = 32         /* of directions that move, the first time; then ABUT_CCD_MANY */
};

/* A pair in motion: the state of abut_ccd_start and abut_ccd_steps. */
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

    /* the start gap: the quick guess suffices if it lost next to nothing */
    if (!(l.least0 >= d * (1 - 1e-8) && d - l.least0 <= 1e-6 * (l.least0 - min_sep))) abut_slab_best_fn(s, x0, x1, &l);
    const double gap = l.least0 - min_sep, goal = slack * gap, target = (min_sep + goal) * (1 + 4 * ABUT_SLAB_EPS);
    const double big = ccd_magnitude(s, x0, x1, &move);
    if (!(gap > 0 && goal >= 16 * ccd_resolution(big, move) && target < INFINITY)) return 0;

    w->target = target;
    w->enough = goal + 0.05 * (goal < gap - goal ? goal : gap - goal);  /* steps shrink with the remaining gap */
    w->t = abut_slab_advance_fn(&l, 0, target);
    return 1;
}

/* Time to which `tries` of directions that move lead from w->t on, at configuration x: over the remaining time, or half of it,
 * or ... */
ABUT_FN double ccd_moving(abut_stencil s, double x[12], const double *x0, const double *x1, const abut_ccd_motion *w,
                          double t_max, int tries)
{
    double t = w->t, width = t_max - t;
    abut_slab here, there;
    const int n3 = 3 * abut_stencil_size(s);
    if (tries) abut_slab_careful_fn(s, x, x0, x1, t, &here);
    for (int k = 0; k < tries && t < t_max; k++) {
        const double u = width < t_max - t ? t + width : t_max;
        for (int i = 0; i < n3; i++) x[i] = x0[i] + u * (x1[i] - x0[i]);
        abut_slab_careful_fn(s, x, x0, x1, u, &there);
        if (abut_slab_between_fn(&here, &there, t, u, w->target)) {
            here = there;
            t = u;
            width *= 2;
        } else {
            width *= 0.5;
        }
    }
    return t;
}

/* Takes more steps; 0: no step is left, and w->t is the answer, CLEAR from t_max on. */
ABUT_FN int abut_ccd_steps(abut_stencil s, const double *x0, const double *x1, double min_sep, double t_max, int steps,
                           abut_ccd_motion *w)
{
    double x[12];
    abut_slab l;
    const int n3 = 3 * abut_stencil_size(s);
    for (int k = 0; w->t < t_max && k < steps; k++) {
        for (int i = 0; i < n3; i++) x[i] = x0[i] + w->t * (x1[i] - x0[i]);
        const double d = abut_slab_quick_fn(s, x, x0, x1, &l);
        if (d - min_sep <= w->enough) return 0;
        double next = abut_slab_advance_fn(&l, w->t, w->target);
        if (!(next > w->t)) next = abut_slab_furthest_fn(s, x, x0, x1, w->t, w->target);
        if (!(next > w->t)) return 0;
        const int many = k > 0 && k % ABUT_CCD_MANY == 0;
        const int tries = many ? ABUT_CCD_MANY : k == ABUT_CCD_PLAIN ? ABUT_CCD_TRIES : 0;
        const double moved = ccd_moving(s, x, x0, x1, w, t_max, tries);
        w->t = moved >= t_max || (many && moved > next) ? moved : next;
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

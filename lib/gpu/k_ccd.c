/* Step bounds of pairs: additive CCD (geom/ccd/ccd_inline.h) in rounds, and half-spaces. */
#include "geom/ccd/ccd_inline.h"
#include "math/elementary_inline.h"

#include "gpu/near_inline.h"

#include "gpu/kernel.h"

/* Points of a pair at both ends of its motion. */
ABUT_FN_LITERAL void pair_points(const double *y0, const double *y1, const int32_t *v, int n, double x0[12], double x1[12])
{
    abut_near_points(y0, v, n, x0);
    abut_near_points(y1, v, n, x1);
}

/* 0 when the pair is BAD; the kind is a literal. */
ABUT_FN_LITERAL int start_of_kind(abut_stencil s, const abut_ccd_args *a, const abut_near_pair *p, abut_ccd_motion *w)
{
    double x0[12], x1[12];
    pair_points(a->y0, a->y1, p->v, abut_stencil_size(s), x0, x1);
    return abut_ccd_start(s, x0, x1, p->xi, a->slack, w);
}

ABUT_FN int pair_start(const abut_ccd_args *a, const abut_near_pair *p, abut_ccd_motion *w)
{
    switch (p->kind) {
    case ABUT_PT: return start_of_kind(ABUT_PT, a, p, w);
    case ABUT_EE: return start_of_kind(ABUT_EE, a, p, w);
    case ABUT_PE: return start_of_kind(ABUT_PE, a, p, w);
    default: return start_of_kind(ABUT_PP, a, p, w);
    }
}

ABUT_KERNEL(ccd_first, abut_ccd_args)
{
    const abut_near_pair p = abut_near_at(&a->near, i);
    abut_ccd_motion w;
    const int good = pair_start(a, &p, &w);
    a->open[i] = good && w.t < a->t_max;
    a->toi[i] = good ? (double)INFINITY : -1;
}

ABUT_FN void motion_put(const abut_motions_view *to, size_t at, uint32_t pair, const abut_ccd_motion *w)
{
    to->pair[at] = pair;
    to->t[at] = w->t;
    to->target[at] = w->target;
    to->enough[at] = w->enough;
}

ABUT_FN abut_ccd_motion motion_get(const abut_motions_view *from, size_t at)
{
    abut_ccd_motion w;
    w.t = from->t[at];
    w.target = from->target[at];
    w.enough = from->enough[at];
    return w;
}

ABUT_KERNEL(ccd_enter, abut_ccd_args)
{
    if (!a->open[i]) return;
    const abut_near_pair p = abut_near_at(&a->near, i);
    abut_ccd_motion w;
    (void)pair_start(a, &p, &w);
    motion_put(&a->to, a->first[i], (uint32_t)i, &w);
}

ABUT_FN_LITERAL int steps_of_kind(abut_stencil s, const abut_steps_args *a, const abut_near_pair *p, double t_max,
                                  abut_ccd_motion *w)
{
    double x0[12], x1[12];
    pair_points(a->y0, a->y1, p->v, abut_stencil_size(s), x0, x1);
    return abut_ccd_steps(s, x0, x1, p->xi, t_max, a->steps, w);
}

ABUT_KERNEL(ccd_steps, abut_steps_args)
{
    const uint32_t pair = a->from.pair[i];
    const abut_near_pair p = abut_near_at(&a->near, pair);
    abut_ccd_motion w = motion_get(&a->from, i);
    /* a pair that ends just at the best time is still wanted: it may be the first one */
    const double best = *a->best, above = best > 0 && best < a->t_max ? abut_from_bits(abut_bits(best) + 1) : a->t_max;
    const double t_max = above < a->t_max ? above : a->t_max;
    int open;
    switch (p.kind) {
    case ABUT_PT: open = steps_of_kind(ABUT_PT, a, &p, t_max, &w); break;
    case ABUT_EE: open = steps_of_kind(ABUT_EE, a, &p, t_max, &w); break;
    case ABUT_PE: open = steps_of_kind(ABUT_PE, a, &p, t_max, &w); break;
    default: open = steps_of_kind(ABUT_PP, a, &p, t_max, &w);
    }
    a->open[i] = open && !a->last;
    a->from.t[i] = w.t;
    if (!a->open[i] && w.t < t_max) a->toi[pair] = w.t > 0 ? w.t : -1;
}

ABUT_KERNEL(ccd_keep, abut_steps_args)
{
    if (!a->open[i]) return;
    const abut_ccd_motion w = motion_get(&a->from, i);
    motion_put(&a->to, a->first[i], a->from.pair[i], &w);
}

ABUT_KERNEL(plane_bound, abut_plane_bound_args)
{
    const size_t v = i / a->nh, h = i % a->nh;
    const double xi = a->xi ? 0.5 * a->xi[v] : 0;
    a->bound[i] = a->fixed && a->fixed[v] ? (double)INFINITY
                  : abut_near_plane_bound(a->y0 + 3 * v, a->y1 + 3 * v, xi, a->point + 3 * h, a->normal + 3 * h, a->slack);
}

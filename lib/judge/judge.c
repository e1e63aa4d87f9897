#include "judge/judge.h"
#include "judge/inside.h"
#include "judge/pairs.h"
#include "geom/ccd/ccd.h"
#include "geom/exact/predicates.h"

#include <assert.h>
#include <math.h>

/* The part of the start gap that a pair must keep: a smaller one costs steps, a larger one reports near misses. */
static const double additive_slack = 0.01;

abut_judge_opts abut_judge_defaults(void)
{
    return (abut_judge_opts){ ABUT_JUDGE_EXACT, -1, 1e-6, 1000000 };
}

static int conservative(abut_stencil s, const double *x0, const double *x1, const abut_judge_opts *o, abut_arena *scratch,
                        double *toi)
{
    *toi = 0;
    if (o->method == ABUT_JUDGE_TIGHT)
        return abut_ccd_inclusion(s, x0, x1, o->min_sep, o->delta, 1, o->max_boxes, toi, scratch) != ABUT_CCD_CLEAR;
    return abut_ccd_additive(s, x0, x1, o->min_sep, additive_slack, 1, toi) != ABUT_CCD_CLEAR;
}

int abut_judge_pair(abut_stencil s, const double *x0, const double *x1, const abut_judge_opts *opts, abut_arena *scratch)
{
    double toi;
    abut_judge_opts alone = *opts;
    const abut_judge_opts *const o = &alone;
    alone.min_sep = opts->min_sep > 0 ? opts->min_sep : 0;
    if (o->method != ABUT_JUDGE_EXACT) return conservative(s, x0, x1, o, scratch, &toi);
    return o->min_sep > 0 ? abut_ccd_exact_within(s, x0, x1, o->min_sep, NULL, NULL)
                          : abut_ccd_exact(s, x0, x1, NULL, NULL);
}

/* abut_judge_pair with the time of a collision, which costs more: the exact time is computed for collisions only */
static int moving_pair(abut_hit_kind kind, const double *x0, const double *x1, const abut_judge_opts *o,
                       abut_arena *scratch, double *t_lo, double *t_hi)
{
    const abut_stencil s = (abut_stencil)kind;
    if (o->method != ABUT_JUDGE_EXACT) {
        const int hit = conservative(s, x0, x1, o, scratch, t_lo);
        *t_hi = *t_lo;
        return hit;
    }
    if (o->min_sep > 0) return abut_ccd_exact_within(s, x0, x1, o->min_sep, t_lo, t_hi);
    return abut_ccd_exact(s, x0, x1, NULL, NULL) && abut_ccd_exact(s, x0, x1, t_lo, t_hi);
}

/* n . (x - p) and a bound on its rounding error */
static double height(const double n[3], const double p[3], const double *x, double *error)
{
    double sum = 0, size = 0;
    for (int k = 0; k < 3; k++) {
        const double t = n[k] * (x[k] - p[k]);
        sum += t;
        size += fabs(t);
    }
    *error = 0x1p-50 * size + 0x1p-1060;
    return sum;
}

/* On or under the plane, or within min_sep of it.  The height is affine in time, so its ends decide; exact without min_sep,
 * on the side of reporting with it. */
static int meets_plane(const double n[3], const double p[3], const double *x0, const double *x1, double min_sep,
                       double *t_lo, double *t_hi)
{
    double e0, e1;
    const double lift = min_sep * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) * (1 + 0x1p-50);
    const double g0 = height(n, p, x0, &e0) - lift, g1 = height(n, p, x1, &e1) - lift;
    const int low0 = min_sep > 0 ? !(g0 > e0) : abut_plane_side(n, p, x0) <= 0;
    const int low1 = min_sep > 0 ? !(g1 > e1) : abut_plane_side(n, p, x1) <= 0;
    if (!low0 && !low1) return 0;
    *t_lo = *t_hi = 0;
    if (low0) return 1;
    const double fall = g0 - g1, e = e0 + e1;
    *t_lo = fmax(0, (g0 - e) / (fall + e));
    *t_hi = fall > e ? fmin(1, (g0 + e) / (fall - e)) : 1;
    return 1;
}

static abut_status planes(const abut_judge_shape *s, const double *x0, const double *x1, const abut_judge_opts *o, abut_hits *out,
                          abut_err *err)
{
    for (int32_t h = 0; h < s->n_plane; h++) {
        for (size_t i = 0; i < s->vert.n; i++) {
            const int32_t v = s->vert.node[i];
            if (s->still[v]) continue;
            abut_hit hit = { ABUT_HIT_PLANE, { v, -1, -1, -1, -1 }, h, 0, 0 };
            out->pairs++;
            const double sep = o->min_sep >= 0 ? o->min_sep : 0.5 * abut_judge_thickness(s, &s->vert, i);
            if (!meets_plane(s->plane_normal + 3 * h, s->plane_point + 3 * h, x0 + 3 * (size_t)v, x1 + 3 * (size_t)v, sep,
                             &hit.t_lo, &hit.t_hi))
                continue;
            const abut_status rc = abut_hits_add(out, &hit, err);
            if (rc) return rc;
        }
    }
    return ABUT_OK;
}

/* One class of pairs */
typedef struct pair_class {
    abut_hit_kind kind;
    const abut_simplices *a, *b;
} pair_class;

static abut_status judge_classes(const abut_judge_shape *s, const pair_class *c, size_t n, const double *x0, const double *x1,
                                 const abut_judge_opts *o, abut_pair_test *test, abut_hits *out, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (size_t i = 0; !rc && i < n; i++) rc = abut_judge_pairs(s, c[i].kind, c[i].a, c[i].b, x0, x1, o, test, out, err);
    if (!rc) rc = planes(s, x0, x1, o, out, err);
    return rc;
}

/* Pairs that may collide in a motion. */
enum { MOVING = 4 };
static void moving_classes(const abut_judge_shape *s, pair_class c[MOVING])
{
    c[0] = (pair_class){ ABUT_HIT_POINT_TRI, &s->vert, &s->tri };
    c[1] = (pair_class){ ABUT_HIT_EDGE_EDGE, &s->edge, &s->edge };
    c[2] = (pair_class){ ABUT_HIT_POINT_EDGE, &s->point, &s->edge };
    c[3] = (pair_class){ ABUT_HIT_POINT_POINT, &s->point, &s->point };
}

static abut_status add_motion(const abut_judge_shape *s, const double *x0, const double *x1, const abut_judge_opts *opts,
                              abut_hits *out, abut_err *err)
{
    pair_class c[MOVING];
    moving_classes(s, c);
    const abut_status rc = judge_classes(s, c, MOVING, x0, x1, opts, moving_pair, out, err);
    return rc ? rc : abut_judge_listed(s, ABUT_HIT_POINT_EDGE, &s->tip, &s->rod, &s->folds, x0, x1, opts, moving_pair, out, err);
}

abut_status abut_judge_motion(const abut_judge_shape *s, const double *x0, const double *x1, const abut_judge_opts *opts,
                              abut_hits *out, abut_err *err)
{
    out->n = out->pairs = 0;
    const abut_status rc = add_motion(s, x0, x1, opts, out, err);
    abut_hits_sort(out);
    return rc;
}

abut_status abut_judge_near(const abut_judge_shape *s, const double *x, const abut_judge_opts *opts, abut_hits *out,
                            abut_err *err)
{
    assert(s && opts);
    if (!(opts->min_sep > 0) && !(opts->min_sep < 0 && s->thick)) return ABUT_OK;
    return add_motion(s, x, x, opts, out, err);
}

static void least_plane(const abut_judge_shape *s, const double *x, const abut_judge_opts *o, abut_judge_gap *least)
{
    for (int32_t h = 0; h < s->n_plane; h++)
        for (size_t i = 0; i < s->vert.n; i++) {
            const int32_t v = s->vert.node[i];
            double e;
            const double *n = s->plane_normal + 3 * h, d = height(n, s->plane_point + 3 * h, x + 3 * (size_t)v, &e) - e;
            const double gap = d - (o->min_sep >= 0 ? o->min_sep : 0.5 * abut_judge_thickness(s, &s->vert, i));
            if (s->still[v] || !(gap < least->gap)) continue;
            *least = (abut_judge_gap){ gap, { ABUT_HIT_PLANE, { v, -1, -1, -1, -1 }, h, 0, 0 } };
        }
}

abut_status abut_judge_smallest_gap(const abut_judge_shape *s, const double *x, double reach, const abut_judge_opts *opts,
                                    abut_judge_gap *out, abut_err *err)
{
    pair_class c[MOVING];
    abut_status rc = ABUT_OK;
    moving_classes(s, c);
    *out = (abut_judge_gap){ .gap = reach };
    for (int i = 0; i < MOVING && !rc; i++) rc = abut_judge_least(s, c[i].kind, c[i].a, c[i].b, x, opts, out, err);
    if (!rc) abut_judge_least_listed(s, ABUT_HIT_POINT_EDGE, &s->tip, &s->rod, &s->folds, x, opts, out);
    least_plane(s, x, opts, out);
    if (!(out->gap < reach)) out->gap = INFINITY;
    return rc;
}

static int static_pair(abut_hit_kind kind, const double *x, const double *x1, const abut_judge_opts *o,
                       abut_arena *scratch, double *t_lo, double *t_hi)
{
    (void)x1, (void)o, (void)scratch;
    *t_lo = *t_hi = 0;
    switch (kind) {
    case ABUT_HIT_POINT_POINT: return x[0] == x[3] && x[1] == x[4] && x[2] == x[5];
    case ABUT_HIT_POINT_EDGE: return abut_touch_point_edge(x, x + 3, x + 6);
    case ABUT_HIT_POINT_TRI: return abut_touch_point_tri(x, x + 3, x + 6, x + 9);
    case ABUT_HIT_EDGE_EDGE: return abut_touch_edge_edge(x, x + 3, x + 6, x + 9);
    case ABUT_HIT_POINT_TET: return abut_touch_point_tet(x, x + 3, x + 6, x + 9, x + 12);
    default: return abut_touch_edge_tri(x, x + 3, x + 6, x + 9, x + 12);
    }
}

abut_status abut_judge_static(const abut_judge_shape *s, const double *x, abut_hits *out, abut_err *err)
{
    /* Closed triangles hold their sides and corners, so triangles need the first class and folds.  A rod that hangs on a
     * triangle is no pair with it; its end and its crossings with the sides are. */
    const pair_class c[] = { { ABUT_HIT_EDGE_TRI, &s->edge, &s->tri },    { ABUT_HIT_POINT_TRI, &s->loose, &s->tri },
                             { ABUT_HIT_EDGE_EDGE, &s->rod, &s->rod },    { ABUT_HIT_EDGE_EDGE, &s->rod, &s->side },
                             { ABUT_HIT_POINT_EDGE, &s->loose, &s->rod }, { ABUT_HIT_POINT_POINT, &s->point, &s->point },
                             { ABUT_HIT_POINT_TET, &s->vert, &s->tet } };
    const abut_judge_opts o = { ABUT_JUDGE_EXACT, 0, 1, 0 };
    /* if vertices are sums of nodes, surfaces replace tets, and so the last class */
    const size_t classes = sizeof c / sizeof *c - (s->map != NULL);
    out->n = out->pairs = 0;
    abut_status rc = judge_classes(s, c, classes, x, x, &o, static_pair, out, err);
    if (!rc) rc = abut_judge_inside(s, x, out, err);
    if (!rc) rc = abut_judge_folds(s, x, out, err);
    abut_hits_sort(out);
    return rc;
}

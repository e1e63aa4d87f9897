/* Additive CCD, and the slabs that prove its steps: of one pair, and the first slab of four at once. */
#include "geom/ccd/ccd.h"

#include "geom/ccd/ccd_inline.h"
#include "geom/ccd/slab.h"
#include "geom/ccd/slab_inline.h"
#include "geom/dist_lanes.h"

#include <math.h>
#include <string.h>

double abut_separation(abut_stencil s, const double *x)
{
    return abut_separation_fn(s, x);
}

abut_ccd_answer abut_ccd_additive(abut_stencil s, const double *x0, const double *x1, double min_sep, double slack,
                                  double t_max, double *toi)
{
    return abut_ccd_additive_fn(s, x0, x1, min_sep, slack, t_max, toi);
}

double abut_slab_quick(abut_stencil s, const double *x, const double *x0, const double *x1, abut_slab *l)
{
    return abut_slab_quick_fn(s, x, x0, x1, l);
}

double abut_slab_advance(const abut_slab *l, double t, double target)
{
    return abut_slab_advance_fn(l, t, target);
}

/* The furthest that any careful direction at x, the configuration at time t, leads. */
static double slab_furthest(abut_stencil s, const double *x, const double *x0, const double *x1, double t, double target)
{
    return abut_slab_furthest_fn(s, x, x0, x1, t, target);
}

/* -- four pairs ---------------------------------------------------------------------------------------------------- */

#include "math/forms_lanes.h"
#define DOT ABUT_LANES_DOT

/* ---- the quick guess: axis_nearest, case by case ---- */

/* Parameter of the point of e nearest to r, from the same origin; 0 for an edge without length. */
FORM void along(const abut_lanes *r, const abut_lanes *e, abut_lanes *t)
{
    const abut_lanes ee = DOT(e, e), q = DOT(r, e) / ee, at = ABUT_LANES_CLAMP01(q);
    *t = PICK(ee > 0, at, ALL(0.));
}

FORM void nearest_pe(abut_lanes x[4][3], abut_lanes n[3])
{
    abut_lanes e[3], t;
    abut_lanes3_sub(x[0], x[1], n);
    abut_lanes3_sub(x[2], x[1], e);
    along(n, e, &t);
    t = -t;
    abut_lanes3_add(n, &t, e);
}

FORM void nearest_ee(abut_lanes x[4][3], abut_lanes n[3])
{
    abut_lanes u[3], v[3];
    abut_lanes3_sub(x[1], x[0], u);
    abut_lanes3_sub(x[3], x[2], v);
    abut_lanes3_sub(x[0], x[2], n);
    const abut_lanes uu = DOT(u, u), vv = DOT(v, v), uv = DOT(u, v), ur = DOT(u, n), vr = DOT(v, n), det = uu * vv - uv * uv;
    const abut_lanes first = (uv * vr - vv * ur) / det;
    abut_lanes g = PICK(det > 0, ABUT_LANES_CLAMP01(first), ALL(0.));
    abut_lanes c = PICK(vv > 0, (uv * g + vr) / vv, ALL(0.));
    const abut_lane_mask outside = ~((c >= 0) & (c <= 1));
    c = PICK(outside, PICK(c < 0, ALL(0.), ALL(1.)), c);
    const abut_lanes again = (c * uv - ur) / uu;
    g = PICK(outside, PICK(uu > 0, ABUT_LANES_CLAMP01(again), ALL(0.)), g);
    c = -c;
    abut_lanes3_add(n, &g, u);
    abut_lanes3_add(n, &c, v);
}

/* The foot inside, or the nearest of the three sides. */
FORM void nearest_pt(abut_lanes x[4][3], abut_lanes n[3])
{
    abut_lanes r[3], u[3], v[3], w[3], q[3], side[3][3], t;
    abut_lanes3_sub(x[0], x[1], r);
    abut_lanes3_sub(x[2], x[1], u);
    abut_lanes3_sub(x[3], x[1], v);
    const abut_lanes uu = DOT(u, u), vv = DOT(v, v), uv = DOT(u, v), ru = DOT(r, u), rv = DOT(r, v), det = uu * vv - uv * uv;
    const abut_lanes b = vv * ru - uv * rv, c = uu * rv - uv * ru;
    const abut_lane_mask inside = (b > 0) & (c > 0) & (b + c < det);

    abut_lanes3_sub(v, u, w);
    abut_lanes3_sub(r, u, q);
    for (int i = 0; i < 3; i++) n[i] = side[0][i] = side[1][i] = r[i], side[2][i] = q[i];
    along(r, u, &t), t = -t, abut_lanes3_add(side[0], &t, u);
    along(r, v, &t), t = -t, abut_lanes3_add(side[1], &t, v);
    along(q, w, &t), t = -t, abut_lanes3_add(side[2], &t, w);
    const abut_lanes d0 = DOT(side[0], side[0]), d1 = DOT(side[1], side[1]), d2 = DOT(side[2], side[2]);
    const abut_lane_mask second = d1 < d0, third = d2 < PICK(second, d1, d0);
    t = -b / det, abut_lanes3_add(n, &t, u);
    t = -c / det, abut_lanes3_add(n, &t, v);
    for (int i = 0; i < 3; i++) n[i] = PICK(inside, n[i], PICK(third, side[2][i], PICK(second, side[1][i], side[0][i])));
}

/* ---- its slab ---- */

FORM void low_dot(const abut_lanes *n, const abut_lanes *a, const abut_lanes *b, abut_lanes *h)
{
    const abut_lanes p = n[0] * (a[0] - b[0]), q = n[1] * (a[1] - b[1]), r = n[2] * (a[2] - b[2]);
    *h = p + q + r - (ABUT_SLAB_DOT_ERROR * (ABUT_LANES_ABS(p) + ABUT_LANES_ABS(q) + ABUT_LANES_ABS(r)) + ABUT_SLAB_DOT_TINY);
}

/* Whether each line from h0 to h1, a number of lanes, is not below the target before t_max. */
FORM void lines_stay(int lines, const abut_lanes *h0, const abut_lanes *h1, const abut_lanes *target, double t_max,
                       abut_lane_mask *stay)
{
    for (int k = 0; k < lines; k++) {
        const abut_lanes h = h0[k] - 8 * ABUT_SLAB_EPS * (ABUT_LANES_ABS(h0[k]) + ABUT_LANES_ABS(h1[k]));
        const abut_lanes until = (h - *target) / (h0[k] - h1[k]) * (1 - 8 * ABUT_SLAB_EPS);
        *stay &= (h >= *target) & ((h1[k] >= *target) | (until >= t_max));
    }
}

/* The kind is a literal at every call. */
FORM int clear(abut_stencil s, const double *y0, const double *y1, const int32_t (*v)[4], const double *min_sep, double slack,
                 double tiny, double t_max)
{
    const int na = abut_stencil_second(s), nb = abut_stencil_size(s) - na;
    abut_lanes x0[4][3], x1[4][3], n[3], h0[4], h1[4];
    for (int k = 0; k < na + nb; k++) abut_lanes3_gather(y0, v, k, x0[k]), abut_lanes3_gather(y1, v, k, x1[k]);
    if (s == ABUT_PP) abut_lanes3_sub(x0[0], x0[1], n);
    else if (s == ABUT_PE) nearest_pe(x0, n);
    else if (s == ABUT_PT) nearest_pt(x0, n);
    else nearest_ee(x0, n);

    const abut_lanes nn = DOT(n, n), xi = { min_sep[0], min_sep[1], min_sep[2], min_sep[3] };
    abut_lanes d = nn, least = ALL(INFINITY);
    abut_lanes_sqrt(&d);
    const abut_lanes inv = 1 / d;
    for (int i = 0; i < 3; i++) n[i] = n[i] * inv;
    /* all comparisons fail with what is not a number, and for a guess without direction */
    abut_lane_mask certain = (nn > 0x1p-900) & (nn < 0x1p900);
    for (int i = 0; i < na; i++)
        for (int j = 0; j < nb; j++) {
            const int k = nb * i + j;
            low_dot(n, x0[i], x0[na + j], &h0[k]);
            low_dot(n, x1[i], x1[na + j], &h1[k]);
            certain &= h0[k] >= d * (1 - 1e-8);
            least = PICK(h0[k] < least, h0[k], least);
        }
    const abut_lanes gap = least - xi, goal = slack * gap, target = (xi + goal) * (1 + 4 * ABUT_SLAB_EPS);
    certain &= (d - least <= 1e-6 * gap) & (goal >= tiny);
    abut_lane_mask stay = certain;
    for (int k = 0; k < na * nb; k++) stay &= (h0[k] >= target) & (h1[k] >= target);
    if (abut_lanes_bits(&stay) == (1 << ABUT_LANES) - 1) return (1 << ABUT_LANES) - 1;    /* the usual case */
    lines_stay(na * nb, h0, h1, &target, t_max, &certain);
    stay |= certain;
    return abut_lanes_bits(&stay);
}

ABUT_LANES_CLONES
int abut_slab_clear_lanes(abut_stencil s, const double *y0, const double *y1, const int32_t v[ABUT_LANES][4],
                          const double min_sep[ABUT_LANES], double slack, double tiny, double t_max)
{
    return ABUT_OF_KIND(s, clear, y0, y1, v, min_sep, slack, tiny, t_max);
}

/* ---- inclusion-based CCD (Wang et al. 2021) ----
 *
 * Bisection of (t, u, v), boxes of F(t, u, v) = a point of the first primitive minus a point of the second.  F is affine in each
 * parameter, so its values at the eight corners of a parameter box span the tightest axis-aligned box around its image. */

#define EPS 0x1p-53
#define MAX_DEPTH 50            /* lower, upper, 1 - t and u + v stay exact doubles */
#define SLAB_STEPS 16
#define FIRST_CELLS 128
#define EXACT_AFTER 64         /* boxes: a pair that needs more slides or touches, and costs less decided exactly */

/* A parameter box: [k, k + 1] / 2^depth in t, u and v; all boxes of one level have the same depths. */
typedef struct cell {
    uint64_t k[3];
} cell;

/* Boxes of a level in ascending (t, u, v).  Both arrays live in the arena, except for the small ones of the start. */
typedef struct level {
    cell *cells;
    size_t n, cap;
} level;

typedef struct query {
    int face;                   /* vertex-face, else edge-edge */
    double x0[3][4], x1[3][4];  /* by axis */
    double margin[3];           /* m: a hull beyond it on one axis holds no contact */
    double tol[3];              /* widths of t, u, v at which no hull is larger than delta */
    double delta, t_max;
    long max_boxes;
} query;

/* How a search ended: every box accounted for, or cut short with *t a time that no contact is before. */
typedef enum outcome { DONE, CUT } outcome;

typedef enum verdict { MISS, CROSS, SMALL } verdict;

/* -- the map and its hulls ---------------------------------------------------------------------------------------- */

static double mix(double t, double a, double b) { return (1 - t) * a + t * b; }

/* Extremes over u, v of F on one axis at one time; p are the four points there.  Weights are convex combinations with
 * exact weights: each value errs by at most 12 (edge-edge) or 24 (vertex-face) eps of the largest coordinate. */
static void extremes(int face, const double p[4], const double u[2], const double v[2], double *lo, double *hi)
{
    if (!face) {
        const double a0 = mix(u[0], p[0], p[1]), a1 = mix(u[1], p[0], p[1]);
        const double b0 = mix(v[0], p[2], p[3]), b1 = mix(v[1], p[2], p[3]);
        *lo = (a0 < a1 ? a0 : a1) - (b0 > b1 ? b0 : b1);
        *hi = (a0 > a1 ? a0 : a1) - (b0 < b1 ? b0 : b1);
        return;
    }
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const double q = ((1 - u[i] - v[j]) * p[1] + u[i] * p[2]) + v[j] * p[3];
            least = q < least ? q : least;
            most = q > most ? q : most;
        }
    *lo = p[0] - most;
    *hi = p[0] - least;
}

/* SMALL: the hull is at most delta wide, or nowhere further than the margin. */
static verdict look(const query *q, const double t[2], const double u[2], const double v[2])
{
    int small = 1, inside = 1;
    for (int axis = 0; axis < 3; axis++) {
        double p[4], lo[2], hi[2];
        for (int e = 0; e < 2; e++) {
            for (int i = 0; i < 4; i++) p[i] = mix(t[e], q->x0[axis][i], q->x1[axis][i]);
            extremes(q->face, p, u, v, &lo[e], &hi[e]);
        }
        const double l = lo[0] < lo[1] ? lo[0] : lo[1], h = hi[0] > hi[1] ? hi[0] : hi[1], m = q->margin[axis];
        if (l > m || h < -m) return MISS;
        small &= h - l <= q->delta;
        inside &= l >= -m && h <= m;
    }
    return small || inside ? SMALL : CROSS;
}

/* Largest change of F along each parameter over the unit box: tol = delta / (3 change). */
static void set_tolerances(query *q)
{
    double change[3] = { 0, 0, 0 };
    for (int axis = 0; axis < 3; axis++) {
        const double *const x[2] = { q->x0[axis], q->x1[axis] };
        double f[2][2][2];
        for (int c = 0; c < 8; c++) {
            const double *p = x[c >> 2], u = (c >> 1) & 1, v = c & 1;
            f[c >> 2][(c >> 1) & 1][c & 1] = q->face ? p[0] - ((1 - u - v) * p[1] + u * p[2] + v * p[3])
                                                     : mix(u, p[0], p[1]) - mix(v, p[2], p[3]);
        }
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) {
                change[0] = fmax(change[0], fabs(f[1][i][j] - f[0][i][j]));
                change[1] = fmax(change[1], fabs(f[i][1][j] - f[i][0][j]));
                change[2] = fmax(change[2], fabs(f[i][j][1] - f[i][j][0]));
            }
    }
    for (int j = 0; j < 3; j++) q->tol[j] = change[j] > 0 ? q->delta / (3 * change[j]) : INFINITY;
}

/* Point and edge stencils become edge-edge: an edge may be a point. */
static int set_query(query *q, abut_stencil s, const double *x0, const double *x1, double min_sep, double delta, double t_max)
{
    static const int point[4][4] = { { 0, 0, 1, 1 }, { 0, 0, 1, 2 }, { 0, 1, 2, 3 }, { 0, 1, 2, 3 } };
    q->face = s == ABUT_PT;
    q->delta = delta;
    q->t_max = t_max;
    for (int axis = 0; axis < 3; axis++) {
        double big = 0;
        for (int i = 0; i < 4; i++) {
            const double a = x0[3 * point[s][i] + axis], b = x1[3 * point[s][i] + axis];
            if (!isfinite(a) || !isfinite(b)) return 0;
            q->x0[axis][i] = a, q->x1[axis][i] = b;
            big = fmax(big, fmax(fabs(a), fabs(b)));
        }
        q->margin[axis] = nextafter((q->face ? 24 : 12) * EPS * big + 0x1p-1060 + min_sep, INFINITY);
    }
    set_tolerances(q);
    return 1;
}

/* -- the search --------------------------------------------------------------------------------------------------- */

/* Allocates n cells in both levels; the cells of cur are kept. */
static int reserve(level *cur, level *next, size_t n, abut_arena *scratch)
{
    if (n <= next->cap) return 1;
    size_t cap = next->cap;
    while (cap < n) cap *= 2;
    cell *a = ABUT_NEW(scratch, cell, cap), *b = a ? ABUT_NEW(scratch, cell, cap) : NULL;
    if (!b) return 0;
    memcpy(a, cur->cells, cur->n * sizeof *a);
    cur->cells = a, next->cells = b;
    cur->cap = next->cap = cap;
    return 1;
}

/* Is the half with these indices part of the domain? */
static int admitted(const query *q, const cell *c, const int depth[3])
{
    if (ldexp((double)c->k[0], -depth[0]) > q->t_max) return 0;
    return !q->face || ldexp((double)c->k[1], -depth[1]) + ldexp((double)c->k[2], -depth[2]) <= 1;
}

/* Halves every cell of cur along parameter j.  Runs of equal keys before j give first their low, then their high halves:
 * next stays in ascending order. */
static void split(const query *q, const level *cur, int j, const int depth[3], level *next)
{
    next->n = 0;
    for (size_t lo = 0, hi; lo < cur->n; lo = hi) {
        for (hi = lo + 1; hi < cur->n && !memcmp(cur->cells[lo].k, cur->cells[hi].k, (size_t)(j + 1) * sizeof(uint64_t));)
            hi++;
        for (int half = 0; half < 2; half++)
            for (size_t i = lo; i < hi; i++) {
                cell c = cur->cells[i];
                c.k[j] = 2 * c.k[j] + (uint64_t)half;
                if (admitted(q, &c, depth)) next->cells[next->n++] = c;
            }
    }
}

/* The parameter whose width exceeds its tolerance most; -1 when none does. */
static int widest(const query *q, const int depth[3])
{
    int j = -1;
    double most = 1;
    for (int k = 0; k < 3; k++) {
        const double ratio = ldexp(1, -depth[k]) / q->tol[k];
        if (ratio > most) most = ratio, j = k;
    }
    return j;
}

/* The boxes of the level that bisection is at; [0, t_clear] is known to be free. */
typedef struct sweep {
    const query *q;
    double t_clear, skip, level_toi;
    long spent;
    int depth[3], widest;
} sweep;

/* Tests every box of a level and keeps the boxes to halve.  1: the search is over, s->level_toi is the answer. */
static int sweep_level(sweep *s, level *cur)
{
    const double w[3] = { ldexp(1, -s->depth[0]), ldexp(1, -s->depth[1]), ldexp(1, -s->depth[2]) };
    size_t kept = 0;
    s->level_toi = INFINITY;
    for (size_t i = 0; i < cur->n; i++) {
        const cell c = cur->cells[i];
        double box[3][2];
        for (int k = 0; k < 3; k++) box[k][0] = (double)c.k[k] * w[k], box[k][1] = (double)(c.k[k] + 1) * w[k];
        if (box[0][0] >= s->skip) break;            /* ascending in t: so are all that follow */
        if (box[0][1] <= s->t_clear) continue;
        s->spent++;
        const verdict found = look(s->q, box[0], box[1], box[2]);
        if (found == MISS) continue;
        const int first = s->level_toi == INFINITY;
        if (first) s->level_toi = box[0][0];
        if (first && (s->widest < 0 || found == SMALL)) return 1;
        if (found == SMALL) s->skip = box[0][0];
        else cur->cells[kept++] = c;
    }
    cur->n = kept;
    return 0;
}

/* *t: the earliest time at which a box survives, INFINITY when none does.  Breadth first: the first survivor of a level is
 * not later than any contact left, so a search cut short has a safe answer too. */
static outcome search(const query *q, double t_clear, abut_arena *scratch, double *t)
{
    cell few[2][FIRST_CELLS];
    level cur = { few[0], 1, FIRST_CELLS }, next = { few[1], 0, FIRST_CELLS };
    sweep s = { q, t_clear, INFINITY, INFINITY, 0, { 0, 0, 0 }, 0 };
    memset(few[0], 0, sizeof(cell));
    while (cur.n > 0) {
        s.widest = widest(q, s.depth);
        if (sweep_level(&s, &cur)) {
            *t = s.level_toi;
            return DONE;
        }
        if (cur.n == 0) break;
        const int j = s.widest, full = q->max_boxes > 0 && s.spent + (long)cur.n > q->max_boxes;
        if (full || s.depth[j] == MAX_DEPTH || !reserve(&cur, &next, 2 * cur.n, scratch)) {
            *t = s.level_toi;
            return CUT;
        }
        s.depth[j]++;
        split(q, &cur, j, s.depth, &next);
        const level other = cur;
        cur = next, next = other;
    }
    *t = s.skip;
    return DONE;
}

/* A time up to which slabs prove the distance above min_sep: clears most pairs before any box is tested. */
static double clear_by_slabs(abut_stencil s, const double *x0, const double *x1, double min_sep, double t_max)
{
    const double target = nextafter(min_sep, INFINITY);
    double t = 0;
    for (int step = 0; t < t_max && step < SLAB_STEPS; step++) {
        double x[12];
        abut_slab l;
        for (int i = 0; i < 3 * abut_stencil_size(s); i++) x[i] = x0[i] + t * (x1[i] - x0[i]);
        abut_slab_quick(s, x, x0, x1, &l);
        double next = abut_slab_advance(&l, t, target);
        if (!(next > t)) next = slab_furthest(s, x, x0, x1, t, target);
        if (!(next - t > 1e-6)) return fmax(t, next);
        t = next;
    }
    return t;
}

static abut_ccd_answer answer(double t, double t_clear, double t_max, double *toi)
{
    *toi = t > t_max ? t_max : t > t_clear ? t : t_clear;
    return t > t_max ? ABUT_CCD_CLEAR : *toi > 0 ? ABUT_CCD_HIT : ABUT_CCD_BAD;
}

abut_ccd_answer abut_ccd_bisect(abut_stencil s, const double *x0, const double *x1, double min_sep, double delta,
                                double t_max, long max_boxes, double *toi, abut_arena *scratch)
{
    query q;
    *toi = 0;
    if (!set_query(&q, s, x0, x1, min_sep, delta, t_max)) return ABUT_CCD_BAD;
    const abut_mark mark = abut_arena_mark(scratch);
    double t;
    q.max_boxes = max_boxes;
    search(&q, 0, scratch, &t);
    abut_arena_release(scratch, mark);
    return answer(t, 0, t_max, toi);
}

abut_ccd_answer abut_ccd_inclusion(abut_stencil s, const double *x0, const double *x1, double min_sep, double delta,
                                   double t_max, long max_boxes, double *toi, abut_arena *scratch)
{
    query q;
    *toi = 0;
    if (!set_query(&q, s, x0, x1, min_sep, delta, t_max)) return ABUT_CCD_BAD;
    const double t_clear = clear_by_slabs(s, x0, x1, min_sep, t_max);
    if (t_clear >= t_max) return answer(INFINITY, t_clear, t_max, toi);

    const int exact = max_boxes <= 0 || max_boxes > EXACT_AFTER;
    const abut_mark mark = abut_arena_mark(scratch);
    double t, t_hi;
    q.max_boxes = exact ? EXACT_AFTER : max_boxes;
    const outcome end = search(&q, t_clear, scratch, &t);
    abut_arena_release(scratch, mark);
    if (end == CUT && exact) {
        const int yes = min_sep > 0 ? abut_ccd_exact_within(s, x0, x1, min_sep, &t, &t_hi) : abut_ccd_exact(s, x0, x1, &t, &t_hi);
        if (!yes) t = INFINITY;
    }
    return answer(t, t_clear, t_max, toi);
}

#include "contact/max_step.h"

#include "base/par.h"
#include "geom/ccd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- collisions ---- */

/* Blocks of candidates searched under one bound.  Rounds grow: the first, small ones lower the bound before most of the
 * work is done; that their size is fixed keeps the answer the same for any thread count. */
#define ROUND_MAX 256

struct block_bound {
    double toi;
    size_t index;       /* of the candidate that gave it: vertex-triangle pairs first, then edge pairs */
    int found, bad;
};

static abut_stencil candidate_get(const abut_collmesh *cm, const abut_candidates *cand, size_t k, int32_t v[4])
{
    if (k < cand->vt.n) {
        v[0] = cand->vt.ij[k][0];
        memcpy(v + 1, cm->tri + 3 * (size_t)cand->vt.ij[k][1], 3 * sizeof *v);
        return ABUT_PT;
    }
    const int32_t *ij = cand->ee.ij[k - cand->vt.n];
    memcpy(v, cm->edge + 2 * (size_t)ij[0], 2 * sizeof *v);
    memcpy(v + 2, cm->edge + 2 * (size_t)ij[1], 2 * sizeof *v);
    return ABUT_EE;
}

static inline void gather(const double *y, const int32_t v[4], double x[12])
{
    for (int k = 0; k < 4; k++)
        for (int d = 0; d < 3; d++) x[3 * k + d] = y[3 * (size_t)v[k] + (size_t)d];
}

/* Boxes of a primitive and of the displacements of its vertices. */
struct moving_box {
    abut_box at, by;
};

static inline struct moving_box moving_box(const double *y, const double *move, const int32_t *idx, int k)
{
    return (struct moving_box){ abut_box_of(y, idx, k), abut_box_of(move, idx, k) };
}

/* What one search is about.  Gaps below `rounding` (its square, m^2) are never judged by boxes. */
struct motion {
    const double *y, *y1, *move;
    double slack, rounding2;
};

/* The pair keeps its slack up to t, shown by boxes alone: in time t a distance falls by at most t |relative displacement|,
 * and up to (1 - slack) of it may go.  One part in ten is left to the stopping rule of the CCD, so that it would have said
 * the same. */
static inline int far_apart(const struct motion *m, const struct moving_box *a, const struct moving_box *b, double t)
{
    const double gap2 = abut_box_gap2(&a->at, &b->at), fall = 1.1 * t / (1 - m->slack);
    return gap2 > m->rounding2 && gap2 >= fall * fall * abut_box_span2(&a->by, &b->by);
}

static void pair_bound(const abut_collmesh *cm, const abut_candidates *cand, const struct motion *m, size_t k,
                       struct block_bound *out)
{
    int32_t v[4];
    double x0[12], x1[12], toi;
    const abut_stencil s = candidate_get(cm, cand, k, v);
    gather(m->y, v, x0);
    gather(m->y1, v, x1);
    const abut_ccd_answer a = abut_ccd_additive(s, x0, x1, 0, m->slack, out->toi, &toi);
    if (a == ABUT_CCD_CLEAR || (a == ABUT_CCD_HIT && !(toi < out->toi))) return;
    *out = (struct block_bound){ toi, k, 1, a == ABUT_CCD_BAD };
}

/* Candidates come in runs of one first primitive: its boxes are made once. */
static void block_bound(const abut_collmesh *cm, const abut_candidates *cand, abut_range r, const struct motion *m,
                        double t_max, struct block_bound *out)
{
    int32_t last = -1;
    struct moving_box first = { { { 0 }, { 0 } }, { { 0 }, { 0 } } };
    *out = (struct block_bound){ .toi = t_max };
    for (size_t k = r.lo; k < r.hi && !out->bad; k++) {
        const int ee = k >= cand->vt.n;
        const int32_t *ij = ee ? cand->ee.ij[k - cand->vt.n] : cand->vt.ij[k];
        if (ij[0] != last || k == cand->vt.n)
            first = ee ? moving_box(m->y, m->move, cm->edge + 2 * (size_t)ij[0], 2) : moving_box(m->y, m->move, ij, 1);
        last = ij[0];
        const struct moving_box second = ee ? moving_box(m->y, m->move, cm->edge + 2 * (size_t)ij[1], 2)
                                            : moving_box(m->y, m->move, cm->tri + 3 * (size_t)ij[1], 3);
        if (!far_apart(m, &first, &second, out->toi)) pair_bound(cm, cand, m, k, out);
    }
}

/* move = y1 - y; returns the squared gap of which the rounding of stored positions may take a visible part. */
static double motion_fill(const abut_collmesh *cm, const double *y, const double *y1, double *move)
{
    double most = 0;
    #pragma omp parallel for schedule(static) reduction(max : most) if ((size_t)cm->nc >= ABUT_PAR_MIN)
    for (size_t i = 0; i < 3 * (size_t)cm->nc; i++) {
        move[i] = y1[i] - y[i];
        most = fmax(most, fmax(fabs(y[i]), fabs(y1[i])));
    }
    return (0x1p-40 * most) * (0x1p-40 * most);
}

static abut_status too_close(const abut_collmesh *cm, const abut_candidates *cand, size_t k, const double *y, abut_err *err)
{
    int32_t v[4];
    double x[12];
    const abut_stencil s = candidate_get(cm, cand, k, v);
    gather(y, v, x);
    const int32_t *n = cm->node;
    return abut_fail(err, ABUT_E_GEOM, "collision: %s of nodes %d | %d | %d | %d are %.3g m apart, too close to move at all",
                     s == ABUT_EE ? "edges" : "vertex and triangle", (int)n[v[0]], (int)n[v[1]], (int)n[v[2]], (int)n[v[3]],
                     abut_separation(s, x));
}

static abut_status mesh_bound(const abut_collmesh *cm, const abut_candidates *cand, const struct motion *m, double *alpha,
                              size_t *best, abut_err *err)
{
    const size_t n = cand->vt.n + cand->ee.n, blocks = abut_blocks(n);
    struct block_bound bound[ROUND_MAX];
    for (size_t first = 0, round = 1; first < blocks; first += round, round = round < ROUND_MAX ? 2 * round : round) {
        const size_t end = first + round < blocks ? first + round : blocks;
        const double t_max = *alpha;
        #pragma omp parallel for schedule(dynamic, 1) if (end - first > 2)
        for (size_t b = first; b < end; b++) block_bound(cm, cand, abut_block(n, b), m, t_max, &bound[b - first]);
        for (size_t b = 0; b < end - first; b++) {
            if (bound[b].bad) return too_close(cm, cand, bound[b].index, m->y, err);
            if (!bound[b].found || !(bound[b].toi < *alpha)) continue;
            *alpha = bound[b].toi;
            *best = bound[b].index;
        }
    }
    return ABUT_OK;
}

abut_status abut_limit_ccd(const abut_collmesh *cm, const abut_candidates *cand, const double *y, const double *y1,
                           double slack, abut_limit *lim, abut_err *err)
{
    double *move = malloc((3 * (size_t)cm->nc + 1) * sizeof *move), alpha = lim->alpha;
    if (!move) return abut_fail(err, ABUT_E_NOMEM, "collision: no memory for %d displacements", (int)cm->nc);
    const struct motion m = { y, y1, move, slack, motion_fill(cm, y, y1, move) };
    size_t best = SIZE_MAX;
    const abut_status rc = mesh_bound(cm, cand, &m, &alpha, &best, err);
    free(move);
    if (rc || best == SIZE_MAX) return rc;

    int32_t v[4];
    const abut_stencil s = candidate_get(cm, cand, best, v);
    *lim = (abut_limit){ .alpha = alpha, .kind = s == ABUT_PT ? ABUT_LIMIT_VT : ABUT_LIMIT_EE, .tet = -1 };
    for (int k = 0; k < 4; k++) lim->node[k] = cm->node[v[k]];
    return ABUT_OK;
}

/* ---- half-spaces ---- */

void abut_limit_planes(const abut_collmesh *cm, const double *y, const double *y1, const uint8_t *fixed, double slack,
                       abut_limit *lim)
{
    const abut_model *m = cm->model;
    for (int32_t v = 0; v < (m->nh ? cm->nc : 0); v++) {
        if (fixed && fixed[v]) continue;
        for (int32_t h = 0; h < m->nh; h++) {
            const double *o = m->hs_point + 3 * h, *n = m->hs_normal + 3 * h;
            const double *a = y + 3 * (size_t)v, *b = y1 + 3 * (size_t)v;
            double d = 0, move = 0;
            for (int k = 0; k < 3; k++) d += n[k] * (a[k] - o[k]), move += n[k] * (b[k] - a[k]);
            double alpha = d > 0 ? 1 : 0;
            if (d > 0 && move < 0) alpha = (1 - slack) * (1 - 1e-12) * d / -move;
            if (!(alpha < lim->alpha)) continue;
            *lim = (abut_limit){ alpha, ABUT_LIMIT_PLANE, { cm->node[v], h, -1, -1 }, -1 };
        }
    }
}

/* ---- inversions ---- */

static double det3(const double *a, const double *b, const double *c)
{
    return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

static void edges_of(const double x[12], double e[9])
{
    for (int k = 0; k < 9; k++) e[k] = x[3 + k] - x[k % 3];
}

static inline double cubic(const double a[4], double t)
{
    return ((a[3] * t + a[2]) * t + a[1]) * t + a[0];
}

/* The largest t in [0, 1] such that the cubic is not negative up to it (within 1e-6 of t, on the safe side).  Between its
 * extrema it is monotone: the first piece that ends below zero is bisected. */
static double cubic_positive_until(const double a[4])
{
    double end[3] = { 1, 1, 1 };
    const double disc = a[2] * a[2] - 3 * a[3] * a[1];
    int n = 0;
    if (disc > 0) {
        const double q = -(a[2] + copysign(sqrt(disc), a[2])), r[2] = { q / (3 * a[3]), a[1] / q };
        for (int k = 0; k < 2; k++)
            if (r[k] > 0 && r[k] < 1) end[n++] = r[k];
        if (n == 2 && end[1] < end[0]) {
            const double t = end[0];
            end[0] = end[1];
            end[1] = t;
        }
    }
    double lo = 0;
    for (int k = 0; k <= n; k++) {
        double hi = end[k];
        if (cubic(a, hi) >= 0) {
            lo = hi;
            continue;
        }
        while (hi - lo > 1e-6 * hi && hi > 0x1p-900) {
            const double mid = 0.5 * (lo + hi);
            if (cubic(a, mid) >= 0) lo = mid;
            else hi = mid;
        }
        return lo;
    }
    return 1;
}

/* det((1, t) . (d, q)) = c0 + c1 t + c2 t^2 + c3 t^3 */
static void det_cubic(const double d[9], const double q[9], double c[4])
{
    c[0] = det3(d, d + 3, d + 6);
    c[1] = det3(q, d + 3, d + 6) + det3(d, q + 3, d + 6) + det3(d, d + 3, q + 6);
    c[2] = det3(d, q + 3, q + 6) + det3(q, d + 3, q + 6) + det3(q, q + 3, d + 6);
    c[3] = det3(q, q + 3, q + 6);
}

double abut_tet_max_step(const double x[12], const double p[12], double slack)
{
    double d[9], q[9], c[4], moved[12], e[9];
    edges_of(x, d);
    edges_of(p, q);
    det_cubic(d, q, c);
    const double det0 = c[0];
    if (!(det0 > 0)) return 0;
    /* aimed a little high, so that rounding seldom spoils the check below */
    for (int k = 1; k < 4; k++) c[k] /= det0;
    c[0] = 1 - (slack + 1e-7 * (1 - slack));
    if (c[0] - fabs(c[1]) - fabs(c[2]) - fabs(c[3]) > 0) return 1;
    double t = cubic_positive_until(c);
    for (; t > 0; t *= 0.5) {
        for (int k = 0; k < 12; k++) moved[k] = x[k] + t * p[k];
        edges_of(moved, e);
        if (det3(e, e + 3, e + 6) >= slack * det0) break;
    }
    return t;
}

static int injective(const abut_model *m, size_t t)
{
    return abut_material_injective(m->mat_model[m->tet_mat[t]]);
}

static double tet_bound(const abut_model *m, const double *x, const double *p, size_t t, double slack)
{
    double a[12], b[12];
    for (int k = 0; k < 4; k++) {
        const size_t v = 3 * (size_t)m->tet[4 * t + (size_t)k];
        memcpy(a + 3 * k, x + v, 3 * sizeof *a);
        memcpy(b + 3 * k, p + v, 3 * sizeof *b);
    }
    return abut_tet_max_step(a, b, slack);
}

void abut_limit_inversion(const abut_model *m, const double *x, const double *p, double slack, abut_limit *lim)
{
    double least = lim->alpha;
    int32_t which = INT32_MAX;
    #pragma omp parallel if ((size_t)m->nt >= ABUT_PAR_MIN)
    {
        /* least bound, then lowest tet: an order in which any thread may come first */
        double mine = lim->alpha;
        int32_t tet = INT32_MAX;
        #pragma omp for schedule(static) nowait
        for (int32_t t = 0; t < m->nt; t++) {
            if (!injective(m, (size_t)t)) continue;
            const double bound = tet_bound(m, x, p, (size_t)t, slack);
            if (bound < mine) mine = bound, tet = t;
        }
        #pragma omp critical(abut_limit_inversion)
        if (mine < least || (mine <= least && tet < which)) least = mine, which = tet;
    }
    if (which == INT32_MAX) return;
    *lim = (abut_limit){ .alpha = least, .kind = ABUT_LIMIT_TET, .tet = which };
    memcpy(lim->node, m->tet + 4 * (size_t)which, sizeof lim->node);
}

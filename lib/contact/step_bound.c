#include "contact/step_bound.h"

#include "geom/cubic_inline.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- collisions ---- */

/* Blocks of candidates searched under one bound.  Rounds grow: the first, small ones lower the bound before most of the
 * work is done; that their size is fixed keeps the answer the same for any thread count. */
#define ROUND_MAX 256

struct block_bound {
    double toi;
    size_t index;       /* of the candidate that sets toi, counted through all lists */
    int found, bad;
};

static inline __attribute__((always_inline)) void pair_bound(abut_stencil s, const int32_t v[4], const abut_sweep *m, double xi,
                                                             size_t k, struct block_bound *out)
{
    double x0[12], x1[12], toi;
    const int n = abut_stencil_size(s);
    abut_sweep_gather(m->y, v, n, x0);
    abut_sweep_gather(m->y1, v, n, x1);
    const abut_ccd_answer a = abut_ccd_additive(s, x0, x1, xi + m->round, m->slack, out->toi, &toi);
    if (a == ABUT_CCD_CLEAR || (a == ABUT_CCD_HIT && !(toi < out->toi))) return;
    *out = (struct block_bound){ toi, k, 1, a == ABUT_CCD_BAD };
}

/* Bounds candidates [lo, hi) of a list; the first is candidate `index` of all lists.  Four at a time: a slab clears most of them.
 * The kind is a literal at every call. */
static inline __attribute__((always_inline)) void bound_of_kind(abut_stencil s, const abut_collmesh *cm,
                                                                const abut_pair_list *list, size_t lo, size_t hi, size_t index,
                                                                const abut_sweep *m, struct block_bound *out)
{
    abut_candidate_four four;
    for (size_t k = lo; k < hi && !out->bad; k += ABUT_LANES) {
        abut_candidates_take(cm, s, list, k, hi, &four);
        const int clear = abut_sweep_clear(s, &four, m, out->toi);
        for (size_t l = 0; l < four.n && !out->bad; l++)
            if (!(clear >> l & 1)) pair_bound(s, four.v[l], m, four.xi[l], index + (k + l - lo), out);
    }
}

/* Candidates r of all lists together. */
static void block_bound(const abut_collmesh *cm, const abut_candidates *cand, abut_range r, const abut_sweep *m,
                        double t_max, struct block_bound *out)
{
    *out = (struct block_bound){ .toi = t_max };
    size_t before = 0;
    for (int l = 0; l < ABUT_CANDIDATE_LISTS; l++) {
        const abut_pair_list *list = abut_candidates_list(cand, l);
        const size_t lo = r.lo > before ? r.lo - before : 0, hi = r.hi < before + list->n ? r.hi : before + list->n;
        if (hi > before + lo) {
            const size_t end = hi - before, index = before + lo;
            ABUT_OF_KIND(abut_candidates_kind(l), bound_of_kind, cm, list, lo, end, index, m, out);
        }
        before += list->n;
    }
}

abut_status abut_limit_too_close(const abut_collmesh *cm, abut_stencil s, const int32_t ij[2], const double *y, abut_err *err)
{
    int32_t v[4];
    double x[12];
    char one[ABUT_NODES_WORDS], two[ABUT_NODES_WORDS], beyond[48] = "";
    const int n = abut_stencil_size(s), first = abut_stencil_second(s);
    const double xi = abut_candidate_xi(cm, s, ij);
    abut_candidate_vertices(cm, s, ij, v);
    abut_sweep_gather(y, v, n, x);
    if (xi > 0) snprintf(beyond, sizeof beyond, " beyond their thickness of %.9g m", xi);
    return abut_fail(err, ABUT_E_GEOM, "collision: %s and %s are %.3g m apart%s, too close to move at all",
                     abut_collmesh_words(cm, v, first, one), abut_collmesh_words(cm, v + first, n - first, two),
                     abut_separation(s, x) - xi, beyond);
}

abut_limit abut_limit_by_pair(const abut_collmesh *cm, abut_stencil s, const int32_t ij[2], double alpha)
{
    static const abut_limit_kind kind[] = { [ABUT_PP] = ABUT_LIMIT_VV, [ABUT_PE] = ABUT_LIMIT_VE, [ABUT_PT] = ABUT_LIMIT_VT,
                                            [ABUT_EE] = ABUT_LIMIT_EE };
    abut_limit lim = { .alpha = alpha, .kind = kind[s], .tet = -1 };
    int32_t v[4];
    abut_candidate_vertices(cm, s, ij, v);
    for (int k = 0; k < 4; k++) lim.node[k] = v[k] < 0 ? -1 : abut_collmesh_node(cm, v[k]);
    return lim;
}

/* Bound of all candidates: the pair and its list (-1: no bound), alpha, and bad 1 if the pair is too close to move at all. */
struct binder {
    double alpha;
    int32_t list, ij[2], bad;
};

static void set_binder(const abut_candidates *cand, const struct block_bound *b, struct binder *to)
{
    size_t k = b->index;
    int l = 0;
    for (; l + 1 < ABUT_CANDIDATE_LISTS && k >= abut_candidates_list(cand, l)->n; l++) k -= abut_candidates_list(cand, l)->n;
    *to = (struct binder){ .alpha = b->toi, .list = l, .bad = b->bad };
    memcpy(to->ij, abut_candidates_list(cand, l)->ij[k], sizeof to->ij);
}

static void mesh_bound(const abut_collmesh *cm, const abut_candidates *cand, const abut_sweep *m, struct binder *best)
{
    const size_t n = abut_candidates_count(cand), blocks = abut_blocks(n);
    struct block_bound bound[ROUND_MAX];
    for (size_t first = 0, round = 1; first < blocks; first += round, round = round < ROUND_MAX ? 2 * round : round) {
        const size_t end = first + round < blocks ? first + round : blocks;
        const double t_max = best->alpha;
        #pragma omp parallel for schedule(dynamic, 1) if (end - first > 1)
        for (size_t b = first; b < end; b++) block_bound(cm, cand, abut_block(n, b), m, t_max, &bound[b - first]);
        for (size_t b = 0; b < end - first; b++) {
            if (bound[b].bad || (bound[b].found && bound[b].toi < best->alpha)) set_binder(cand, &bound[b], best);
            if (bound[b].bad) return;
        }
    }
}

/* Order of binders: too close first, then the smaller alpha, then the first pair. */
static int binds_before(const struct binder *a, const struct binder *b)
{
    if (a->list < 0 || b->list < 0) return a->list >= 0;
    if (a->bad != b->bad) return a->bad;
    if (a->alpha < b->alpha || a->alpha > b->alpha) return a->alpha < b->alpha;
    if (a->list != b->list) return a->list < b->list;
    return a->ij[0] != b->ij[0] ? a->ij[0] < b->ij[0] : a->ij[1] < b->ij[1];
}

static abut_status least_of_ranks(const abut_ranks *r, struct binder *best, abut_err *err)
{
    void *all;
    if (!r) return ABUT_OK;
    const abut_status rc = abut_ranks_each(r, best, sizeof *best, &all, err);
    if (rc) return rc;
    const struct binder *each = all;
    *best = each[0];
    for (int k = 1; k < r->size; k++)
        if (binds_before(&each[k], best)) *best = each[k];
    free(all);
    return ABUT_OK;
}

abut_status abut_limit_ccd(const abut_collmesh *cm, const abut_candidates *cand, const double *y, const double *y1,
                           double slack, abut_limit *lim, abut_err *err)
{
    assert(lim);
    const abut_sweep m = abut_sweep_of(cm, y, y1, slack);
    struct binder best = { .alpha = lim->alpha, .list = -1 };
    mesh_bound(cm, cand, &m, &best);
    const abut_status rc = least_of_ranks(cand->ranks, &best, err);
    if (rc || best.list < 0) return rc;
    if (best.bad) return abut_limit_too_close(cm, abut_candidates_kind(best.list), best.ij, y, err);
    *lim = abut_limit_by_pair(cm, abut_candidates_kind(best.list), best.ij, best.alpha);
    return ABUT_OK;
}

int abut_limit_stencil(abut_limit_kind kind)
{
    return kind == ABUT_LIMIT_VT ? ABUT_PT : kind == ABUT_LIMIT_EE ? ABUT_EE : kind == ABUT_LIMIT_VE ? ABUT_PE
           : kind == ABUT_LIMIT_VV ? ABUT_PP : -1;
}

/* ---- half-spaces ---- */

/* Lowers lim to the step bound of vertex v by half-spaces; lim is unchanged if no bound is smaller. */
static void vertex_limit(const abut_collmesh *cm, const double *y, const double *y1, double slack, int32_t v, abut_limit *lim)
{
    const abut_model *m = cm->model;
    const double xi = abut_collmesh_plane_xi(cm, v);
    for (int32_t h = 0; h < m->nh; h++) {
        const double *o = m->hs_point + 3 * h, *n = m->hs_normal + 3 * h;
        const double *a = y + 3 * (size_t)v, *b = y1 + 3 * (size_t)v;
        double d = 0, move = 0;
        for (int k = 0; k < 3; k++) d += n[k] * (a[k] - o[k]), move += n[k] * (b[k] - a[k]);
        d -= xi;
        double alpha = d > 0 ? 1 : 0;
        if (d > 0 && move < 0) alpha = (1 - slack) * (1 - 1e-12) * d / -move;
        if (!(alpha < lim->alpha)) continue;
        *lim = (abut_limit){ alpha, ABUT_LIMIT_PLANE, { abut_collmesh_node(cm, v), h, -1, -1 }, -1, NULL };
    }
}

void abut_limit_planes(const abut_collmesh *cm, const double *y, const double *y1, const uint8_t *fixed, double slack,
                       abut_limit *lim)
{
    const int32_t n = cm->model->nh ? cm->nc : 0;
    abut_limit least = *lim;
    int32_t which = INT32_MAX;
    #pragma omp parallel if ((size_t)n >= ABUT_PAR_MIN)
    {
        /* least bound, then lowest vertex: an order in which any thread may come first */
        abut_limit mine = *lim;
        int32_t vertex = INT32_MAX;
        #pragma omp for schedule(static) nowait
        for (int32_t v = 0; v < n; v++) {
            const double before = mine.alpha;
            if (!fixed || !fixed[v]) vertex_limit(cm, y, y1, slack, v, &mine);
            if (mine.alpha < before) vertex = v;
        }
        #pragma omp critical(abut_limit_planes)
        if (mine.alpha < least.alpha || (mine.alpha <= least.alpha && vertex < which)) least = mine, which = vertex;
    }
    *lim = least;
}

/* ---- inversions ---- */

/* Straight, of a material that forbids inversion. */
static int injective(const abut_model *m, size_t t)
{
    return !abut_is_curved(m, (int32_t)t) && abut_material_injective(m->mat_model[m->tet_mat[t]]);
}

static double tet_bound(const abut_model *m, const double *x, const double *p, size_t t, double slack)
{
    double a[12], b[12];
    for (int k = 0; k < 4; k++) {
        const size_t v = 3 * (size_t)m->tet[4 * t + (size_t)k];
        memcpy(a + 3 * k, x + v, 3 * sizeof *a);
        memcpy(b + 3 * k, p + v, 3 * sizeof *b);
    }
    return abut_tet_step(a, b, slack);
}

/* edges[9] of n tets from t on, as edges_of; with the first one again in lanes without one */
ABUT_LANES_INLINE void edges_of_four(const abut_model *m, const double *x, size_t t, size_t n, abut_lanes *edges)
{
    const double *at[ABUT_LANES];
    abut_lanes first[3];
    for (size_t c = 0; c < 4; c++) {
        for (size_t l = 0; l < ABUT_LANES; l++) at[l] = x + 3 * (size_t)m->tet[4 * (t + (l < n ? l : 0)) + c];
        abut_lanes_gather3(at, c ? edges + 3 * (c - 1) : first);
        for (size_t i = 0; c && i < 3; i++) edges[3 * (c - 1) + i] -= first[i];
    }
}

/* Marks those of n tets from t on whose coefficients of the cubic do not prove that the whole step is allowed. */
ABUT_LANES_CLONES
static void bounded_tets(const abut_model *m, const double *x, const double *p, size_t t, size_t n, double slack,
                         abut_lane_mask *bounded)
{
    abut_lanes d[9], q[9], C[9], c[4], sum = ABUT_LANES_ALL(0.);
    edges_of_four(m, x, t, n, d);
    edges_of_four(m, p, t, n, q);
    abut_lanes_cofactors(d, C);
    c[0] = d[0] * C[0] + d[1] * C[1] + d[2] * C[2];
    c[1] = ABUT_LANES_ALL(0.);
    for (int i = 0; i < 9; i++) c[1] += q[i] * C[i];
    abut_lanes_cofactors(q, C);
    c[3] = q[0] * C[0] + q[1] * C[1] + q[2] * C[2];
    c[2] = ABUT_LANES_ALL(0.);
    for (int i = 0; i < 9; i++) c[2] += d[i] * C[i];
    for (int k = 1; k < 4; k++) sum += ABUT_LANES_ABS(c[k]);
    *bounded = ~((c[0] > 0) & ((1 - (slack + 1e-7 * (1 - slack))) * c[0] > sum));
}

/* ---- tets of higher order ---- */

typedef const double (*places)[3];

int abut_curved_inverted(const abut_model *m, int32_t t, const double *x)
{
    double at[ABUT_TET_NODES_MAX][3];
    const int order = abut_tet_shape(m, t, x, at);
    return abut_jacobian_check(order, (places)at, NULL) != ABUT_JACOBIAN_POSITIVE;
}

int abut_curved_inverting(const abut_model *m, int32_t t, const double *x0, const double *x1)
{
    double from[ABUT_TET_NODES_MAX][3], to[ABUT_TET_NODES_MAX][3];
    const int order = abut_tet_shape(m, t, x0, from);
    abut_tet_shape(m, t, x1, to);
    return abut_jacobian_check_motion(order, (places)from, (places)to, NULL) != ABUT_JACOBIAN_POSITIVE;
}

double abut_curved_jacobian(const abut_model *m, int32_t t, const double *x, double enough, abut_jacobian_at *where)
{
    double at[ABUT_TET_NODES_MAX][3], rest[ABUT_TET_NODES_MAX][3];
    const int order = abut_tet_shape(m, t, x, at);
    abut_tet_shape(m, t, m->X, rest);
    return abut_jacobian_least_ratio(order, (places)at, (places)rest, enough, where);
}

static double curved_bound(const abut_model *m, int32_t t, const double *x, const double *p, double slack)
{
    double at[ABUT_TET_NODES_MAX][3], along[ABUT_TET_NODES_MAX][3];
    const int order = abut_tet_shape(m, t, x, at);
    abut_tet_motion(m, t, p, along);
    return abut_jacobian_max_step(order, (places)at, (places)along, slack);
}

/* abut_limit_inversion for tets of order 2 and more alone. */
static void limit_curved(const abut_model *m, const double *x, const double *p, double slack, abut_limit *lim)
{
    if (!m->tet_order && !m->geo_order) return;
    double least = lim->alpha;
    int32_t which = INT32_MAX;
    #pragma omp parallel
    {
        /* least bound, then lowest tet: an order in which any thread may come first */
        double mine = lim->alpha;
        int32_t tet = INT32_MAX;
        #pragma omp for schedule(monotonic : dynamic, 16) nowait
        for (int32_t t = 0; t < m->nt; t++) {
            if (!abut_is_curved(m, t) || !abut_material_injective(m->mat_model[m->tet_mat[t]])) continue;
            const double bound = curved_bound(m, t, x, p, slack);
            if (bound < mine) mine = bound, tet = t;
        }
        #pragma omp critical(limit_curved)
        if (mine < least || (mine <= least && tet < which)) least = mine, which = tet;
    }
    if (which == INT32_MAX) return;
    *lim = (abut_limit){ .alpha = least, .kind = ABUT_LIMIT_TET, .tet = which };
    memcpy(lim->node, m->tet + 4 * (size_t)which, sizeof lim->node);
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
        for (int32_t t = 0; t < m->nt; t += ABUT_LANES) {
            const int32_t n = m->nt - t < ABUT_LANES ? m->nt - t : ABUT_LANES;
            int32_t l = 0;
            abut_lane_mask bounded;
            while (l < n && !injective(m, (size_t)(t + l))) l++;
            if (l == n) continue;
            bounded_tets(m, x, p, (size_t)t, (size_t)n, slack, &bounded);
            for (; l < n; l++) {
                if (!bounded[l] || !injective(m, (size_t)(t + l))) continue;
                const double bound = tet_bound(m, x, p, (size_t)(t + l), slack);
                if (bound < mine) mine = bound, tet = t + l;
            }
        }
        #pragma omp critical(abut_limit_inversion)
        if (mine < least || (mine <= least && tet < which)) least = mine, which = tet;
    }
    if (which != INT32_MAX) {
        *lim = (abut_limit){ .alpha = least, .kind = ABUT_LIMIT_TET, .tet = which };
        memcpy(lim->node, m->tet + 4 * (size_t)which, sizeof lim->node);
    }
    limit_curved(m, x, p, slack, lim);
}

/* ---- all impacts along a motion ---- */

/* Times of impact in a list, 1: not before `until`; the kind is a literal at every call. */
static inline __attribute__((always_inline)) void times_of_kind(abut_stencil s, const abut_collmesh *cm,
                                                                const abut_pair_list *list, abut_range r, const abut_sweep *m,
                                                                double until, double *toi)
{
    const int n = abut_stencil_size(s);
    abut_candidate_four four;
    for (size_t k = r.lo; k < r.hi; k += ABUT_LANES) {
        abut_candidates_take(cm, s, list, k, r.hi, &four);
        const int clear = abut_sweep_clear(s, &four, m, until);
        for (size_t l = 0; l < four.n; l++) {
            double x0[12], x1[12], t;
            toi[k + l] = 1;
            if (clear >> l & 1) continue;
            abut_sweep_gather(m->y, four.v[l], n, x0);
            abut_sweep_gather(m->y1, four.v[l], n, x1);
            if (abut_ccd_additive(s, x0, x1, four.xi[l], m->slack, until, &t) == ABUT_CCD_HIT) toi[k + l] = t;
        }
    }
}

static void times_of_list(const abut_collmesh *cm, const abut_candidates *cand, int l, const abut_sweep *m, double until,
                          double *toi)
{
    const abut_pair_list *list = abut_candidates_list(cand, l);
    const size_t blocks = abut_blocks(list->n);
    #pragma omp parallel for schedule(dynamic, 1) if (blocks > 2)
    for (size_t b = 0; b < blocks; b++) {
        const abut_range r = abut_block(list->n, b);
        ABUT_OF_KIND(abut_candidates_kind(l), times_of_kind, cm, list, r, m, until, toi);
    }
}

/* The fraction of the motion after which vertex v has only the slack left to half-space h, at most 1; 1 if it moves away or is
 * behind. */
static double plane_toi(const abut_collmesh *cm, const abut_sweep *m, int32_t v, int32_t h)
{
    const abut_model *model = cm->model;
    const double *o = model->hs_point + 3 * h, *n = model->hs_normal + 3 * h;
    const double *a = m->y + 3 * (size_t)v, *b = m->y1 + 3 * (size_t)v;
    double d = -abut_collmesh_plane_xi(cm, v), move = 0;
    for (int k = 0; k < 3; k++) d += n[k] * (a[k] - o[k]), move += n[k] * (b[k] - a[k]);
    return d > 0 && move < 0 ? fmin(1, (1 - m->slack) * d / -move) : 1;
}

/* Sorts by time, with a stable merge sort; room[n] is scratch. */
static void sort_by_time(abut_impact *hit, size_t n, abut_impact *room)
{
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t lo = 0; lo < n; lo += 2 * width) {
            const size_t mid = lo + width < n ? lo + width : n, hi = mid + width < n ? mid + width : n;
            for (size_t i = lo, j = mid, k = lo; k < hi; k++)
                room[k] = j == hi || (i < mid && !(hit[j].toi < hit[i].toi)) ? hit[i++] : hit[j++];
        }
        memcpy(hit, room, n * sizeof *hit);
    }
}

/* Pairs of list l, or vertices with half-spaces, whose time is before `until`: written to out unless NULL; returns how many. */
static size_t pick_pairs(const abut_collmesh *cm, const abut_candidates *cand, int l, const double *toi, double until,
                         abut_impact *out)
{
    const abut_pair_list *list = abut_candidates_list(cand, l);
    size_t n = 0;
    for (size_t k = 0; k < list->n; k++) {
        if (!(toi[k] < until)) continue;
        if (out) {
            out[n] = (abut_impact){ .toi = toi[k], .kind = abut_candidates_kind(l), .plane = -1 };
            abut_candidate_vertices(cm, out[n].kind, list->ij[k], out[n].vert);
        }
        n++;
    }
    return n;
}

static size_t pick_planes(const abut_collmesh *cm, const abut_sweep *m, double until, const uint8_t *fixed, abut_impact *out)
{
    size_t n = 0;
    for (int32_t v = 0; v < (cm->model->nh ? cm->nc : 0); v++)
        for (int32_t h = 0; h < cm->model->nh && !(fixed && fixed[v]); h++) {
            const abut_impact hit = { plane_toi(cm, m, v, h), ABUT_PP, { v, -1, -1, -1 }, h };
            if (!(hit.toi < until)) continue;
            if (out) out[n] = hit;
            n++;
        }
    return n;
}

/* All of them, counted where out is NULL. */
static size_t pick(const abut_collmesh *cm, const abut_candidates *cand, const abut_sweep *m, const double *toi, double until,
                   const uint8_t *fixed, abut_impact *out)
{
    size_t n = 0;
    for (int l = 0; l < ABUT_CANDIDATE_LISTS; l++) {
        n += pick_pairs(cm, cand, l, toi, until, out ? out + n : NULL);
        toi += abut_candidates_list(cand, l)->n;
    }
    return n + pick_planes(cm, m, until, fixed, out ? out + n : NULL);
}

abut_status abut_impacts_all(const abut_collmesh *cm, const abut_candidates *cand, const double *y, const double *y1,
                             double slack, double until, const uint8_t *fixed, abut_impact **out, size_t *n,
                             abut_arena *scratch, abut_err *err)
{
    const size_t all = abut_candidates_count(cand);
    double *toi = ABUT_ROOM(scratch, double, all + 1);
    *n = 0;
    if (!toi) return abut_fail(err, ABUT_E_NOMEM, "impacts: %zu pairs", all);
    const abut_sweep m = abut_sweep_of(cm, y, y1, slack);
    double *at = toi;
    for (int l = 0; l < ABUT_CANDIDATE_LISTS; l++) {
        times_of_list(cm, cand, l, &m, until, at);
        at += abut_candidates_list(cand, l)->n;
    }
    const size_t found = pick(cm, cand, &m, toi, until, fixed, NULL);
    *out = ABUT_ROOM(scratch, abut_impact, found + 1);
    abut_impact *room = ABUT_ROOM(scratch, abut_impact, found + 1);
    if (!*out || !room) return abut_fail(err, ABUT_E_NOMEM, "impacts: %zu of %zu pairs", found, all);
    *n = pick(cm, cand, &m, toi, until, fixed, *out);
    sort_by_time(*out, *n, room);
    return ABUT_OK;
}

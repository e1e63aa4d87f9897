#include "contact/impacts.h"

#include "base/par.h"
#include "contact/sweep.h"
#include "geom/ccd/ccd.h"

#include <math.h>
#include <string.h>

/* Times of impact in a list, 1: not before `until`; the kind is a literal at every call. */
static inline __attribute__((always_inline)) void times_of_kind(const abut_collmesh *cm, const abut_pair_list *list,
                                                                abut_stencil s, abut_range r, const abut_sweep *m, double until,
                                                                double *toi)
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
        switch (abut_candidates_kind(l)) {
        case ABUT_PT: times_of_kind(cm, list, ABUT_PT, r, m, until, toi); break;
        case ABUT_EE: times_of_kind(cm, list, ABUT_EE, r, m, until, toi); break;
        case ABUT_PE: times_of_kind(cm, list, ABUT_PE, r, m, until, toi); break;
        case ABUT_PP: times_of_kind(cm, list, ABUT_PP, r, m, until, toi); break;
        }
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

abut_status abut_impacts_find(const abut_collmesh *cm, const abut_candidates *cand, const double *y, const double *y1,
                              double slack, double until, const uint8_t *fixed, size_t most, abut_impact *out, size_t *n,
                              abut_arena *scratch, abut_err *err)
{
    const abut_mark mark = abut_arena_mark(scratch);
    abut_impact *all;
    const abut_status rc = abut_impacts_all(cm, cand, y, y1, slack, until, fixed, &all, n, scratch, err);
    if (*n > most) *n = most;
    if (!rc) memcpy(out, all, *n * sizeof *out);
    abut_arena_release(scratch, mark);
    return rc;
}

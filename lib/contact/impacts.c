#include "contact/impacts.h"

#include "base/par.h"
#include "contact/moving_box.h"
#include "geom/ccd.h"
#include "geom/slab.h"

#include <math.h>
#include <string.h>

/* Times of impact in a list, 1: not before `until`.  Pairs come in runs of one first primitive, whose boxes are made once; the
 * kind is a literal at every call. */
static inline __attribute__((always_inline)) void times_of_kind(const abut_collmesh *cm, const abut_pair_list *list,
                                                                abut_stencil s, abut_range r, const abut_swept *m, double until,
                                                                double *toi)
{
    const int na = s == ABUT_EE ? 2 : 1, nb = s == ABUT_PT ? 3 : s == ABUT_PP ? 1 : 2;
    abut_moving_box first = { { { 0 }, { 0 } }, { { 0 }, { 0 } } };
    int32_t last = -1;
    for (size_t k = r.lo; k < r.hi; k++) {
        const int32_t *ij = list->ij[k], *a, *b;
        double x0[12], x1[12], t;
        (void)abut_candidate_first(cm, s, ij, &a);
        (void)abut_candidate_second(cm, s, ij, &b);
        if (ij[0] != last) first = abut_moving_box_of(m, a, na);
        last = ij[0];
        toi[k] = 1;
        const abut_moving_box second = abut_moving_box_of(m, b, nb);
        const double xi = abut_candidate_xi(cm, s, ij), span2 = abut_box_span2(&first.by, &second.by);
        if (abut_far_apart(m, abut_box_gap2(&first.at, &second.at), span2, xi, until)) continue;
        if (abut_far_apart(m, abut_slab_centroids2(m->y, a, na, b, nb), span2, xi, until)) continue;
        abut_swept_gather(m->y, a, na, x0);
        abut_swept_gather(m->y, b, nb, x0 + 3 * na);
        abut_swept_gather(m->y1, a, na, x1);
        abut_swept_gather(m->y1, b, nb, x1 + 3 * na);
        if (abut_ccd_additive(s, x0, x1, xi, m->slack, until, &t) == ABUT_CCD_HIT) toi[k] = t;
    }
}

static void times_of_list(const abut_collmesh *cm, const abut_candidates *cand, int l, const abut_swept *m, double until,
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

/* As abut_limit_planes has it for one vertex and one half-space. */
static double plane_toi(const abut_collmesh *cm, const abut_swept *m, int32_t v, int32_t h)
{
    const abut_model *model = cm->model;
    const double *o = model->hs_point + 3 * h, *n = model->hs_normal + 3 * h;
    const double *a = m->y + 3 * (size_t)v, *b = m->y1 + 3 * (size_t)v;
    double d = -abut_collmesh_plane_xi(cm, v), move = 0;
    for (int k = 0; k < 3; k++) d += n[k] * (a[k] - o[k]), move += n[k] * (b[k] - a[k]);
    return d > 0 && move < 0 ? fmin(1, (1 - m->slack) * d / -move) : 1;
}

/* Into the ascending out[*n], of which `most` are kept; the earlier one of a tie stays first. */
static void insert(abut_impact *out, size_t *n, size_t most, const abut_impact *hit)
{
    size_t at = *n;
    while (at > 0 && out[at - 1].toi > hit->toi) at--;
    if (at == most) return;
    if (*n < most) ++*n;
    memmove(out + at + 1, out + at, (*n - 1 - at) * sizeof *out);
    out[at] = *hit;
}

abut_status abut_impacts_find(const abut_collmesh *cm, const abut_candidates *cand, const double *y, const double *y1,
                              double slack, double until, const uint8_t *fixed, size_t most, abut_impact *out, size_t *n,
                              abut_arena *scratch, abut_err *err)
{
    const size_t all = abut_candidates_count(cand);
    const abut_mark mark = abut_arena_mark(scratch);
    double *toi = ABUT_ROOM(scratch, double, all + 1), *move = ABUT_ROOM(scratch, double, 3 * (size_t)cm->nc + 1);
    *n = 0;
    if (!toi || !move) return abut_fail(err, ABUT_E_NOMEM, "impacts: %zu pairs", all);
    const abut_swept m = { y, y1, move, slack, abut_swept_fill(cm->nc, y, y1, move) };
    for (int l = 0; l < ABUT_CANDIDATE_LISTS; l++) {
        const abut_pair_list *list = abut_candidates_list(cand, l);
        times_of_list(cm, cand, l, &m, until, toi);
        for (size_t k = 0; k < list->n; k++) {
            abut_impact hit = { .toi = toi[k], .kind = abut_candidates_kind(l), .plane = -1 };
            if (!(hit.toi < until)) continue;
            abut_candidate_vertices(cm, hit.kind, list->ij[k], hit.vert);
            insert(out, n, most, &hit);
        }
    }
    abut_arena_release(scratch, mark);
    for (int32_t v = 0; v < (cm->model->nh ? cm->nc : 0); v++)
        for (int32_t h = 0; h < cm->model->nh && !(fixed && fixed[v]); h++) {
            const abut_impact hit = { plane_toi(cm, &m, v, h), ABUT_PP, { v, -1, -1, -1 }, h };
            if (hit.toi < until) insert(out, n, most, &hit);
        }
    return ABUT_OK;
}

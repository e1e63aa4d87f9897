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

/* As abut_limit_planes has it for one vertex and one half-space. */
static double plane_toi(const abut_collmesh *cm, const abut_sweep *m, int32_t v, int32_t h)
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
    double *toi = ABUT_ROOM(scratch, double, all + 1);
    *n = 0;
    if (!toi) return abut_fail(err, ABUT_E_NOMEM, "impacts: %zu pairs", all);
    const abut_sweep m = abut_sweep_of(cm, y, y1, slack);
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

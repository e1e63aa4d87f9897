#include "judge/pairs.h"

#include "base/par.h"
#include "geom/bvh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Boxes and flags of a list, the boxes grown by half the separation of two such elements and half of reach; items borrows
 * the nodes */
static abut_status make_items(const abut_judge_shape *s, const abut_simplices *e, const double *x0, const double *x1,
                              double min_sep, double reach, abut_items *items, abut_err *err)
{
    abut_box *box = malloc((e->n + 1) * sizeof *box);
    uint8_t *still = malloc(e->n + 1);
    *items = (abut_items){ e->n, e->k, e->node, still, box };
    if (!box || !still) return abut_fail(err, ABUT_E_NOMEM, "judge: boxes of %zu elements", e->n);
    #pragma omp parallel for schedule(static) if (e->n >= ABUT_PAR_MIN)
    for (size_t i = 0; i < e->n; i++) {
        const int32_t *const node = e->node + i * (size_t)e->k;
        const double sep = (min_sep >= 0 ? min_sep : abut_judge_thickness(s, e, i)) + reach;
        box[i] = abut_box_points(x0, x1, node, e->k, sep > 0 ? nextafter(sep / 2, INFINITY) : 0);
        still[i] = 1;
        for (int k = 0; k < e->k; k++) still[i] &= s->still[node[k]];
    }
    return ABUT_OK;
}

static void free_items(abut_items *items)
{
    free((void *)(uintptr_t)items->box);
    free((void *)(uintptr_t)items->still);
}

typedef struct job {
    const abut_judge_shape *s;
    abut_hit_kind kind;
    const abut_simplices *a, *b;
    const double *x0, *x1;
    const abut_judge_opts *opts;
    abut_pair_test *test;
} job;

/* the nodes of a pair, as a hit at time 0; returns how many */
static int name_pair(const job *w, const int32_t ij[2], abut_hit *hit)
{
    *hit = (abut_hit){ w->kind, { -1, -1, -1, -1, -1 }, -1, 0, 0 };
    int n = 0;
    for (int side = 0; side < 2; side++) {
        const abut_simplices *const e = side ? w->b : w->a;
        for (int k = 0; k < e->k; k++) hit->node[n++] = e->node[(size_t)ij[side] * (size_t)e->k + (size_t)k];
    }
    return n;
}

/* required separation of the two, m */
static double separation(const job *w, const int32_t ij[2])
{
    if (w->opts->min_sep >= 0) return w->opts->min_sep;
    return 0.5 * (abut_judge_thickness(w->s, w->a, (size_t)ij[0]) + abut_judge_thickness(w->s, w->b, (size_t)ij[1]));
}

/* Tests one pair; fills the hit if the test returns 1. */
static int decide(const job *w, const int32_t ij[2], abut_arena *scratch, abut_hit *hit)
{
    double p0[15], p1[15];
    const int n = name_pair(w, ij, hit);
    if (abut_judge_passes(w->s, hit->node[0], hit->node[w->a->k])) return 0;
    if (w->s->still[hit->node[0]] && w->s->still[hit->node[w->a->k]]) return 0;
    for (int i = 0; i < n; i++) {
        memcpy(p0 + 3 * i, w->x0 + 3 * (size_t)hit->node[i], 3 * sizeof(double));
        memcpy(p1 + 3 * i, w->x1 + 3 * (size_t)hit->node[i], 3 * sizeof(double));
    }
    abut_judge_opts opts = *w->opts;
    opts.min_sep = separation(w, ij);
    return w->test(w->kind, p0, p1, &opts, scratch, &hit->t_lo, &hit->t_hi);
}

/* one list of hits a block, joined in block order */
static abut_status decide_all(const job *w, const abut_pair_list *pairs, abut_hits *out, abut_err *err)
{
    const size_t nb = abut_blocks(pairs->n);
    abut_hits *part = calloc(nb + 1, sizeof *part);
    uint8_t *failed = calloc(nb + 1, 1);
    abut_status rc = part && failed ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "judge: %zu blocks of pairs", nb);
    #pragma omp parallel for schedule(dynamic) if (nb > 2)
    for (size_t b = 0; b < (rc ? 0 : nb); b++) {
        const abut_range r = abut_block(pairs->n, b);
        abut_arena scratch = { 0 };
        abut_hit hit;
        for (size_t i = r.lo; i < r.hi && !failed[b]; i++)
            if (decide(w, pairs->ij[i], &scratch, &hit)) failed[b] = abut_hits_add(&part[b], &hit, NULL) != ABUT_OK;
        abut_arena_clear(&scratch);
    }
    for (size_t b = 0; !rc && b < nb; b++) {
        if (failed[b]) rc = abut_fail(err, ABUT_E_NOMEM, "judge: a list of collisions");
        for (size_t i = 0; !rc && i < part[b].n; i++) rc = abut_hits_add(out, &part[b].hit[i], err);
    }
    for (size_t b = 0; part && b < nb; b++) abut_hits_clear(&part[b]);
    free(part);
    free(failed);
    return rc;
}

abut_status abut_judge_pairs(const abut_judge_shape *s, abut_hit_kind kind, const abut_simplices *a, const abut_simplices *b,
                             const double *x0, const double *x1, const abut_judge_opts *opts, abut_pair_test *test,
                             abut_hits *out, abut_err *err)
{
    if (a->n == 0 || b->n == 0) return ABUT_OK;
    const job w = { s, kind, a, b, x0, x1, opts, test };
    abut_items ia = { 0 }, ib = { 0 };
    abut_pair_list pairs = { 0 };
    abut_status rc = make_items(s, a, x0, x1, opts->min_sep, 0, &ia, err);
    if (!rc && b != a) rc = make_items(s, b, x0, x1, opts->min_sep, 0, &ib, err);
    if (!rc) rc = abut_bvh_pairs(&ia, b == a ? &ia : &ib, &pairs, err);
    if (!rc) rc = decide_all(&w, &pairs, out, err);
    out->pairs += pairs.n;
    abut_pair_list_clear(&pairs);
    free_items(&ia);
    free_items(&ib);
    return rc;
}

abut_status abut_judge_listed(const abut_judge_shape *s, abut_hit_kind kind, const abut_simplices *a, const abut_simplices *b,
                              const abut_pair_list *pairs, const double *x0, const double *x1, const abut_judge_opts *opts,
                              abut_pair_test *test, abut_hits *out, abut_err *err)
{
    const job w = { s, kind, a, b, x0, x1, opts, test };
    out->pairs += pairs->n;
    return decide_all(&w, pairs, out, err);
}

/* the smallest gap of a block of pairs */
static void least_of(const job *w, const abut_pair_list *pairs, abut_range r, abut_judge_gap *least)
{
    for (size_t i = r.lo; i < r.hi; i++) {
        abut_hit at;
        double x[12] = { 0 };
        const int n = name_pair(w, pairs->ij[i], &at);
        if (abut_judge_passes(w->s, at.node[0], at.node[w->a->k])) continue;
        if (w->s->still[at.node[0]] && w->s->still[at.node[w->a->k]]) continue;
        for (int k = 0; k < n; k++) memcpy(x + 3 * k, w->x0 + 3 * (size_t)at.node[k], 3 * sizeof *x);
        const double gap = abut_separation((abut_stencil)w->kind, x) - separation(w, pairs->ij[i]);
        if (gap < least->gap) *least = (abut_judge_gap){ gap, at };
    }
}

void abut_judge_least_listed(const abut_judge_shape *s, abut_hit_kind kind, const abut_simplices *a, const abut_simplices *b,
                             const abut_pair_list *pairs, const double *x, const abut_judge_opts *opts, abut_judge_gap *least)
{
    const job w = { s, kind, a, b, x, x, opts, NULL };
    least_of(&w, pairs, (abut_range){ 0, pairs->n }, least);
}

abut_status abut_judge_least(const abut_judge_shape *s, abut_hit_kind kind, const abut_simplices *a, const abut_simplices *b,
                             const double *x, const abut_judge_opts *opts, abut_judge_gap *least, abut_err *err)
{
    if (a->n == 0 || b->n == 0) return ABUT_OK;
    const job w = { s, kind, a, b, x, x, opts, NULL };
    abut_items ia = { 0 }, ib = { 0 };
    abut_pair_list pairs = { 0 };
    abut_judge_gap *part = NULL;
    abut_status rc = make_items(s, a, x, NULL, opts->min_sep, least->gap, &ia, err);
    if (!rc && b != a) rc = make_items(s, b, x, NULL, opts->min_sep, least->gap, &ib, err);
    if (!rc) rc = abut_bvh_pairs(&ia, b == a ? &ia : &ib, &pairs, err);
    const size_t nb = abut_blocks(pairs.n);
    if (!rc && !(part = malloc((nb + 1) * sizeof *part))) rc = abut_fail(err, ABUT_E_NOMEM, "judge: %zu blocks of pairs", nb);
    #pragma omp parallel for schedule(dynamic) if (nb > 2)
    for (size_t k = 0; k < (rc ? 0 : nb); k++) {
        part[k] = *least;
        least_of(&w, &pairs, abut_block(pairs.n, k), &part[k]);
    }
    for (size_t k = 0; k < (rc ? 0 : nb); k++)
        if (part[k].gap < least->gap) *least = part[k];
    free(part);
    abut_pair_list_clear(&pairs);
    free_items(&ia);
    free_items(&ib);
    return rc;
}

#include "solve/baselines/active_set.h"

#include "base/order.h"
#include "base/par.h"
#include "contact/pairs.h"
#include "model/naming.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLACK 0.1       /* of the gap that a motion must leave: less is an impact */

void abut_active_set_clear(abut_active_set *s)
{
    free(s->pair);
    free(s->row);
    free(s->a);
    free(s->c);
    free(s->fixed);
    abut_candidates_clear(&s->cand);
    abut_candidate_search_clear(&s->search);
    abut_arena_clear(&s->scratch);
    *s = (abut_active_set){ 0 };
}

abut_status abut_active_set_begin(abut_active_set *s, const abut_collmesh *cm, const uint8_t *held, abut_err *err)
{
    s->n = 0;
    if (!s->fixed && !(s->fixed = malloc((size_t)cm->nc + 1))) return abut_fail(err, ABUT_E_NOMEM, "constraints");
    for (int32_t v = 0; v < cm->nc; v++) s->fixed[v] = held[abut_collmesh_node(cm, v)];
    return ABUT_OK;
}

static abut_status reserve(abut_active_set *s, size_t n, abut_err *err)
{
    const size_t cap = s->cap ? 2 * s->cap : 64;
    if (n <= s->cap) return ABUT_OK;
    abut_active_pair *pair = realloc(s->pair, cap * sizeof *pair);
    if (pair) s->pair = pair;
    int32_t *row = realloc(s->row, 4 * cap * sizeof *row);
    if (row) s->row = row;
    double *a = realloc(s->a, 12 * cap * sizeof *a);
    if (a) s->a = a;
    double *c = realloc(s->c, cap * sizeof *c);
    if (c) s->c = c;
    if (!pair || !row || !a || !c) return abut_fail(err, ABUT_E_NOMEM, "%zu constraints", n);
    s->cap = cap;
    return ABUT_OK;
}

static int compare(const void *p, const void *q)
{
    const abut_active_pair *a = p, *b = q;
    const int32_t u[6] = { a->plane, a->kind, a->vert[0], a->vert[1], a->vert[2], a->vert[3] };
    const int32_t v[6] = { b->plane, b->kind, b->vert[0], b->vert[1], b->vert[2], b->vert[3] };
    return abut_compare(u, v, 6);
}

static void gather(const double *y, int n, const int32_t *v, double x[12])
{
    for (int k = 0; k < n; k++) memcpy(x + 3 * k, y + 3 * (size_t)v[k], 3 * sizeof *x);
}

/* ---- detection ---- */

/* Updates the pair among the first `settled`, or appends it. */
static abut_status put(abut_active_set *s, const abut_active_pair *pair, size_t settled, int renew, abut_err *err)
{
    abut_active_pair *old = settled ? bsearch(pair, s->pair, settled, sizeof *pair, compare) : NULL;
    if (old) {
        if (renew) *old = *pair;
        return ABUT_OK;
    }
    const abut_status rc = reserve(s, s->n + 1, err);
    if (!rc) s->pair[s->n++] = *pair;
    return rc;
}

/* A stencil of vertices v whose primitives are at z[3 k] when it is found, at x0 when the step starts. */
static abut_status put_stencil(abut_active_set *s, abut_stencil kind, const int32_t v[4], const double *y0, const double *z,
                               size_t settled, int renew, abut_err *err)
{
    const abut_feature f = abut_nearest(kind, z, NULL);
    abut_active_pair pair = { .vert = { -1, -1, -1, -1 }, .plane = -1, .kind = (int32_t)f.kind };
    double x0[12], at[12] = { 0 };
    if (s->form == ABUT_CONSTRAINT_VOLUME && abut_stencil_size(kind) == 4) {
        pair.kind = (int32_t)kind;
        memcpy(pair.vert, v, sizeof pair.vert);
        memcpy(at, z, sizeof at);
    } else {
        (void)abut_pairs_order(&f, v, pair.vert);
        for (int k = 0; k < abut_stencil_size(f.kind); k++)
            for (int j = 0; j < 4 && v[j] >= 0; j++)
                if (v[j] == pair.vert[k]) memcpy(at + 3 * k, z + 3 * j, 3 * sizeof *at);
    }
    const abut_stencil as = (abut_stencil)pair.kind;
    gather(y0, abut_stencil_size(as), pair.vert, x0);
    if (!abut_gap_freeze(as, x0, at, pair.w, pair.n)) return ABUT_OK;
    return put(s, &pair, settled, renew, err);
}

static abut_status put_plane(abut_active_set *s, int32_t v, int32_t plane, size_t settled, abut_err *err)
{
    const abut_active_pair pair = { .vert = { v, -1, -1, -1 }, .plane = plane, .kind = ABUT_PP };
    return put(s, &pair, settled, 0, err);
}

static abut_status find_near(abut_active_set *s, const abut_collmesh *cm, const double *y0, const double *y, size_t settled,
                             abut_err *err)
{
    const double reach = s->offset + cm->model->dhat[0];
    abut_status rc = abut_candidates_again(cm, y, NULL, reach, s->fixed, &s->search, &s->cand, err);
    for (int l = 0; l < ABUT_CANDIDATE_LISTS && !rc; l++) {
        const abut_pair_list *list = abut_candidates_list(&s->cand, l);
        const abut_stencil kind = abut_candidates_kind(l);
        for (size_t k = 0; k < list->n && !rc; k++) {
            int32_t v[4];
            double z[12], d2;
            abut_candidate_vertices(cm, kind, list->ij[k], v);
            gather(y, abut_stencil_size(kind), v, z);
            (void)abut_nearest(kind, z, &d2);
            if (sqrt(d2) < reach + abut_candidate_xi(cm, kind, list->ij[k]))
                rc = put_stencil(s, kind, v, y0, z, settled, 0, err);
        }
    }
    for (int32_t v = 0; v < cm->nc && cm->model->nh; v++)
        for (int32_t h = 0; h < cm->model->nh && !s->fixed[v] && !rc; h++)
            if (abut_collmesh_plane_height(cm, y, v, h) < reach) rc = put_plane(s, v, h, settled, err);
    return rc;
}

static abut_status find_impacts(abut_active_set *s, const abut_collmesh *cm, const double *y0, const double *y1, size_t settled,
                                abut_err *err)
{
    abut_impact *hit;
    size_t n = 0;
    abut_status rc = abut_candidates_find(cm, y0, y1, 0, s->fixed, &s->cand, err);
    const abut_mark mark = abut_arena_mark(&s->scratch);
    if (!rc) rc = abut_impacts_all(cm, &s->cand, y0, y1, SLACK, 1, s->fixed, &hit, &n, &s->scratch, err);
    for (size_t i = 0; i < n && !rc; i++) {
        double z[12];
        if (hit[i].plane >= 0) {
            rc = put_plane(s, hit[i].vert[0], hit[i].plane, settled, err);
            continue;
        }
        for (int k = 0; k < abut_stencil_size(hit[i].kind); k++)
            for (size_t d = 0, j = 3 * (size_t)hit[i].vert[k]; d < 3; d++)
                z[3 * k + (int)d] = y0[j + d] + hit[i].toi * (y1[j + d] - y0[j + d]);
        rc = put_stencil(s, hit[i].kind, hit[i].vert, y0, z, settled, 1, err);
    }
    abut_arena_release(&s->scratch, mark);
    return rc;
}

/* Sorts the pairs put behind the first `settled` into the others; of equal pairs the first stays. */
static void settle(abut_active_set *s)
{
    size_t kept = 0;
    if (s->n) qsort(s->pair, s->n, sizeof *s->pair, compare);
    for (size_t i = 0; i < s->n; i++)
        if (!kept || compare(&s->pair[kept - 1], &s->pair[i])) s->pair[kept++] = s->pair[i];
    s->n = kept;
}

abut_status abut_active_set_extend(abut_active_set *s, const abut_collmesh *cm, const double *y0, const double *y1, size_t *fresh,
                                   abut_err *err)
{
    assert(s->fixed);
    const size_t before = s->n;
    abut_status rc = cm->nc ? abut_candidates_check(cm, y1, err) : ABUT_OK;
    *fresh = 0;
    if (rc || !cm->nc) return rc;
    if (s->by != ABUT_ACTIVE_NEAR) rc = find_impacts(s, cm, y0, y1, before, err);
    settle(s);
    if (!rc && s->by != ABUT_ACTIVE_IMPACTS) rc = find_near(s, cm, y0, y1, s->n, err);
    settle(s);
    *fresh = s->n - before;
    return rc;
}

/* ---- values of the inequalities ---- */

static void evaluate(const abut_active_set *s, const abut_collmesh *cm, const abut_active_pair *p, const double *y0,
                     const double *y, abut_gap_row *row)
{
    const abut_stencil kind = (abut_stencil)p->kind;
    double x0[12], x[12];
    int known = 1;
    *row = (abut_gap_row){ 0 };
    if (p->plane >= 0) {
        row->c = abut_collmesh_plane_height(cm, y, p->vert[0], p->plane) - s->offset;
        memcpy(row->a, cm->model->hs_normal + 3 * (size_t)p->plane, 3 * sizeof *row->a);
        return;
    }
    const double offset = s->offset + abut_collmesh_xi(cm, kind, p->vert);
    gather(y0, abut_stencil_size(kind), p->vert, x0);
    gather(y, abut_stencil_size(kind), p->vert, x);
    if (s->form == ABUT_CONSTRAINT_IMPACT || abut_stencil_size(kind) < 4) abut_gap_frozen(kind, p->w, p->n, x, offset, row);
    else if (s->form == ABUT_CONSTRAINT_GAP) known = abut_gap_projected(kind, x0, x, offset, row);
    else known = abut_gap_volume(kind, x0, x, offset, row);
    if (!known) *row = (abut_gap_row){ 0 };
}

void abut_active_set_evaluate(abut_active_set *s, const abut_collmesh *cm, const double *y0, const double *y)
{
    const size_t blocks = abut_blocks(s->n);
    #pragma omp parallel for schedule(static) if (blocks > 2)
    for (size_t b = 0; b < blocks; b++) {
        const abut_range r = abut_block(s->n, b);
        for (size_t i = r.lo; i < r.hi; i++) {
            abut_gap_row row;
            evaluate(s, cm, &s->pair[i], y0, y, &row);
            s->c[i] = row.c;
            memcpy(s->a + 12 * i, row.a, sizeof row.a);
            for (int k = 0; k < 4; k++) {
                const int32_t v = s->pair[i].vert[k];
                s->row[4 * i + (size_t)k] = v < 0 || s->fixed[v] ? -1 : abut_collmesh_node(cm, v);
            }
        }
    }
}

double abut_active_set_gap(const abut_active_set *s, const abut_collmesh *cm, const double *y, size_t *which)
{
    double least = INFINITY;
    *which = 0;
    for (size_t i = 0; i < s->n; i++) {
        const abut_active_pair *p = &s->pair[i];
        const abut_stencil kind = (abut_stencil)p->kind;
        double x[12], d2, gap;
        if (p->plane >= 0) {
            gap = abut_collmesh_plane_height(cm, y, p->vert[0], p->plane);
        } else {
            gather(y, abut_stencil_size(kind), p->vert, x);
            (void)abut_nearest(kind, x, &d2);
            gap = abut_beyond(d2, abut_collmesh_xi(cm, kind, p->vert));
        }
        if (gap < least) least = gap, *which = i;
    }
    return least;
}

const char *abut_active_set_words(const abut_active_set *s, const abut_collmesh *cm, size_t i, char *text, size_t size)
{
    char one[ABUT_NODES_WORDS], two[ABUT_NODES_WORDS];
    const abut_active_pair *p = &s->pair[i];
    const abut_stencil kind = (abut_stencil)p->kind;
    const int first = p->plane >= 0 ? 1 : abut_stencil_second(kind);
    abut_collmesh_words(cm, p->vert, first, one);
    if (p->plane >= 0) (void)abut_half_space_words(cm->model, p->plane, two);
    else abut_collmesh_words(cm, p->vert + first, abut_stencil_size(kind) - first, two);
    snprintf(text, size, "%s and %s", one, two);
    return text;
}

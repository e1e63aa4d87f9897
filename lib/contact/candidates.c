#include "contact/candidates.h"

#include "base/par.h"
#include "model/naming.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

abut_status abut_candidates_check(const abut_collmesh *cm, const double *y, abut_err *err)
{
    assert(cm);
    const size_t n = 3 * (size_t)cm->nc;
    size_t bad = 0;
    int any = 0;
    #pragma omp parallel for simd schedule(static) reduction(| : any) if (parallel : n >= ABUT_PAR_MIN)
    for (size_t i = 0; i < n; i++) any |= !(fabs(y[i]) <= DBL_MAX / 16);
    if (!any) return ABUT_OK;
    while (fabs(y[bad]) <= DBL_MAX / 16) bad++;
    return abut_fail(err, ABUT_E_GEOM, "candidates: %s has a coordinate of %g m, want a finite one",
                     abut_collmesh_words(cm, &(int32_t){ (int32_t)(bad / 3) }, 1, (char[ABUT_NODES_WORDS]){ 0 }), y[bad]);
}

static void lists_empty(abut_candidates *c)
{
    c->of.reach = -1;
    c->vt.n = c->ee.n = c->ve.n = c->vv.n = 0;
}

/* ---- search ---- */

/* 0, 1, 2, ... as a list of vertices; and the ends of the edges that are no side of a triangle. */
static abut_status names_make(const abut_collmesh *cm, abut_candidate_search *s, abut_err *err)
{
    if (s->self && s->nc == cm->nc && s->n_seg == cm->n_seg) return ABUT_OK;
    free(s->self);
    free(s->seg);
    s->self = malloc(((size_t)cm->nc + 1) * sizeof *s->self);
    s->seg = malloc((2 * (size_t)cm->n_seg + 1) * sizeof *s->seg);
    if (!s->self || !s->seg) return abut_fail(err, ABUT_E_NOMEM, "candidates: no memory for %d vertices", (int)cm->nc);
    for (int32_t i = 0; i < cm->nc; i++) s->self[i] = i;
    for (int32_t i = 0; i < cm->n_seg; i++) memcpy(s->seg + 2 * i, cm->edge + 2 * (size_t)cm->seg[i], 2 * sizeof *s->seg);
    s->nc = cm->nc;
    s->n_seg = cm->n_seg;
    return ABUT_OK;
}

/* Rows of two short lists under the numbers that they have among all. */
static void rename_pairs(abut_pair_list *l, const int32_t *first, const int32_t *second)
{
    for (size_t i = 0; i < l->n; i++) {
        l->ij[i][0] = first[l->ij[i][0]];
        l->ij[i][1] = second[l->ij[i][1]];
    }
}

/* Searches the pairs without triangles: loose vertices against their edges, and vertices of no edge against each other. */
static abut_status search_lower(const abut_collmesh *cm, abut_candidate_search *s, abut_candidates *out, abut_err *err)
{
    const abut_prims loose = { (size_t)cm->n_loose, 1, cm->loose }, seg = { (size_t)cm->n_seg, 2, s->seg },
                     point = { (size_t)cm->n_point, 1, cm->point };
    abut_status rc = abut_broad_pairs(&s->broad, &loose, &s->of_loose, &seg, &s->of_segs, &out->ve, err);
    if (rc) return abut_wrap(err, "vertices against edges"), rc;
    rename_pairs(&out->ve, cm->loose, cm->seg);
    rc = abut_broad_pairs(&s->broad, &point, &s->of_points, &point, NULL, &out->vv, err);
    if (rc) return abut_wrap(err, "vertices against vertices"), rc;
    rename_pairs(&out->vv, cm->point, cm->point);
    return ABUT_OK;
}

static abut_status search(const abut_collmesh *cm, abut_candidate_search *s, abut_candidates *out, abut_err *err)
{
    const abut_prims v = { (size_t)cm->nc, 1, s->self }, e = { (size_t)cm->ne, 2, cm->edge }, t = { (size_t)cm->nt, 3, cm->tri };
    abut_status rc = abut_broad_pairs(&s->broad, &v, &s->of_vertices, &t, &s->of_triangles, &out->vt, err);
    if (rc) return abut_wrap(err, "vertices against triangles"), rc;
    rc = abut_broad_pairs(&s->broad, &e, &s->of_edges, &e, NULL, &out->ee, err);
    if (rc) return abut_wrap(err, "edges against edges"), rc;
    return search_lower(cm, s, out, err);
}

/* Leaves out the pairs that pass through each other. */
static void drop_passing(const abut_collmesh *cm, abut_stencil kind, abut_pair_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->n; i++) {
        const int32_t *a, *b;
        (void)abut_candidate_first(cm, kind, list->ij[i], &a);
        (void)abut_candidate_second(cm, kind, list->ij[i], &b);
        if (!abut_collmesh_passes(cm, *a, *b)) memmove(list->ij[kept++], list->ij[i], sizeof *list->ij);
    }
    list->n = kept;
}

void abut_candidates_drop_passing(const abut_collmesh *cm, abut_candidates *out)
{
    if (!cm->model->bodies_meet || cm->model->bodies_meet[0]) return;
    drop_passing(cm, ABUT_PT, &out->vt), drop_passing(cm, ABUT_EE, &out->ee);
    drop_passing(cm, ABUT_PE, &out->ve), drop_passing(cm, ABUT_PP, &out->vv);
}

static abut_status find(const abut_collmesh *cm, const abut_motion *m, abut_candidate_search *s, abut_candidates *out,
                        abut_err *err)
{
    lists_empty(out);
    abut_status rc = abut_candidates_check(cm, m->y0, err);
    if (!rc && m->y1) rc = abut_candidates_check(cm, m->y1, err);
    if (!rc && m->y2) rc = abut_candidates_check(cm, m->y2, err);
    if (!rc) rc = names_make(cm, s, err);
    if (!rc) rc = abut_broad_init(&s->broad, m, err);
    if (!rc) rc = search(cm, s, out, err);
    if (rc) lists_empty(out);
    abut_candidates_drop_passing(cm, out);
    out->ranks = m->ranks;
    return rc ? rc : abut_ranks_count(out->ranks, abut_candidates_count(out), &out->total, err);
}

static abut_motion motion(const abut_collmesh *cm, const double *y0, const double *y1, double reach, const uint8_t *fixed)
{
    return (abut_motion){ .nv = (size_t)cm->nc, .y0 = y0, .y1 = y1, .reach = reach, .xi = cm->xi, .fixed = fixed };
}

abut_status abut_candidates_find(const abut_collmesh *cm, const double *y0, const double *y1, double reach,
                                 const uint8_t *fixed, abut_candidates *out, abut_err *err)
{
    assert(out);
    const abut_motion m = motion(cm, y0, y1, reach, fixed);
    return find(cm, &m, &out->search, out, err);
}

abut_status abut_candidates_around(const abut_collmesh *cm, const double *y0, const double *y1, double reach,
                                   const uint8_t *fixed, abut_candidates *out, abut_err *err)
{
    abut_motion m = motion(cm, y0, y1, reach, fixed);
    m.anywhere = 1;
    return find(cm, &m, &out->search, out, err);
}

abut_status abut_candidates_between(const abut_collmesh *cm, const double *y0, const double *y1, const double *y2, double reach,
                                    const uint8_t *fixed, abut_candidates *out, abut_err *err)
{
    abut_motion m = motion(cm, y0, y1, reach, fixed);
    m.y2 = y2;
    return find(cm, &m, &out->search, out, err);
}

/* ---- the same motion again ---- */

/* 1: the lists are for this motion; y1 NULL: 0. */
static int is_answered(const abut_candidates *c, size_t n3, const double *y0, const double *y1, double reach)
{
    return y1 && c->of.y && c->of.reach == reach && c->of.cap == 2 * n3 && !memcmp(c->of.y, y0, n3 * sizeof *y0) &&
           !memcmp(c->of.y + n3, y1, n3 * sizeof *y1);
}

static abut_status remember(abut_candidates *c, size_t n3, const double *y0, const double *y1, double reach, abut_err *err)
{
    if (!y1 || !n3) return ABUT_OK;
    if (!c->of.y || c->of.cap != 2 * n3) {
        free(c->of.y);
        c->of = (struct abut_cand_motion){ malloc(2 * n3 * sizeof *c->of.y + 1), -1, 2 * n3 };
        if (!c->of.y) return abut_fail(err, ABUT_E_NOMEM, "candidates: no memory for %zu coordinates", 2 * n3);
    }
    memcpy(c->of.y, y0, n3 * sizeof *y0);
    memcpy(c->of.y + n3, y1, n3 * sizeof *y1);
    c->of.reach = reach;
    return ABUT_OK;
}

abut_status abut_candidates_again(const abut_collmesh *cm, const double *y0, const double *y1, double reach,
                                  const uint8_t *fixed, abut_candidate_search *kept, abut_candidates *out,
                                  abut_err *err)
{
    const size_t n3 = 3 * (size_t)cm->nc;
    if (is_answered(out, n3, y0, y1, reach)) return ABUT_OK;
    abut_motion m = motion(cm, y0, y1, reach, fixed);
    m.ranks = kept->ranks;
    abut_status rc = find(cm, &m, kept, out, err);
    if (!rc) rc = remember(out, n3, y0, y1, reach, err);
    if (rc) lists_empty(out);
    return rc;
}

abut_status abut_candidates_few(const abut_collmesh *cm, const double *y0, const double *y1, double reach,
                                const uint8_t *fixed, size_t most, abut_candidate_search *kept, abut_candidates *out,
                                int *too_many, abut_err *err)
{
    abut_pair_budget budget = { .most = most };
    abut_motion m = motion(cm, y0, y1, reach, fixed);
    m.budget = &budget;
    const abut_status rc = find(cm, &m, kept, out, err);
    *too_many = budget.n > most;
    if (rc || *too_many) lists_empty(out);
    return rc;
}

void abut_candidate_search_clear(abut_candidate_search *s)
{
    abut_broad_clear(&s->broad);
    abut_broad_trees_free(&s->of_vertices);
    abut_broad_trees_free(&s->of_edges);
    abut_broad_trees_free(&s->of_triangles);
    abut_broad_trees_free(&s->of_loose);
    abut_broad_trees_free(&s->of_segs);
    abut_broad_trees_free(&s->of_points);
    free(s->self);
    free(s->seg);
    *s = (abut_candidate_search){ .self = NULL };
}

void abut_candidates_clear(abut_candidates *c)
{
    abut_pair_list_clear(&c->vt);
    abut_pair_list_clear(&c->ee);
    abut_pair_list_clear(&c->ve);
    abut_pair_list_clear(&c->vv);
    abut_candidate_search_clear(&c->search);
    free(c->of.y);
    *c = (abut_candidates){ .of = { .y = NULL } };
}

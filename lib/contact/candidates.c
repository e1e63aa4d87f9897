#include "contact/candidates.h"

#include "base/order.h"
#include "contact/area.h"
#include "geom/broad_tree.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

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
    ABUT_FREE(s->self, s->seg);
    if (!ABUT_ARRAYS(ABUT_ITEMS(s->self, cm->nc), ABUT_ITEMS(s->seg, 2 * (size_t)cm->n_seg)))
        return abut_fail(err, ABUT_E_NOMEM, "candidates: no memory for %d vertices", (int)cm->nc);
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

/* Leaves out the pairs of bodies that pass through each other (abut_collmesh_passes). */
static void candidates_drop_passing(const abut_collmesh *cm, abut_candidates *out)
{
    if (!abut_collmesh_some_pass(cm)) return;
    drop_passing(cm, ABUT_PT, &out->vt), drop_passing(cm, ABUT_EE, &out->ee);
    drop_passing(cm, ABUT_PE, &out->ve), drop_passing(cm, ABUT_PP, &out->vv);
}

static abut_status find(const abut_collmesh *cm, const abut_motion *m, abut_candidate_search *s, abut_candidates *out,
                        abut_err *err)
{
    abut_motion of = *m;
    lists_empty(out);
    abut_status rc = abut_candidates_check(cm, m->y0, err);
    if (!rc && m->y1) rc = abut_candidates_check(cm, m->y1, err);
    if (!rc && m->y2) rc = abut_candidates_check(cm, m->y2, err);
    if (!rc) rc = names_make(cm, s, err);
    if (!rc && s->by_area && cm->area && !m->y2 && !m->anywhere)
        rc = abut_flat_certify(cm, m->y0, m->y1, &s->flat, &of.quiet, err);
    if (!rc) rc = abut_broad_init(&s->broad, &of, err);
    if (!rc) rc = search(cm, s, out, err);
    if (rc) lists_empty(out);
    candidates_drop_passing(cm, out);
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

/* abut_candidates_find for all motions that end between y1 and y2, each coordinate by itself: contains the pairs of every such
 * motion. */
static abut_status candidates_between(const abut_collmesh *cm, const double *y0, const double *y1, const double *y2, double reach,
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

abut_status abut_candidates_again(const abut_collmesh *cm, const double *y0, const double *y1, double reach, const uint8_t *fixed,
                                  abut_candidate_search *kept, abut_candidates *out, abut_err *err)
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

abut_status abut_candidates_few(const abut_collmesh *cm, const double *y0, const double *y1, double reach, const uint8_t *fixed,
                                size_t most, abut_candidate_search *kept, abut_candidates *out, int *too_many, abut_err *err)
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
    ABUT_FREE(s->self, s->seg);
    abut_flat_room_free(&s->flat);
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

/* ---- changed vertices: their primitives, a small part of all, are searched against all others ---- */

/* The primitives of a set that have a changed vertex. */
typedef struct part {
    abut_prims prims;
    int32_t *vert, *number;     /* vertices of prims; number of each primitive in the whole set */
} part;

static void part_clear(part *p)
{
    ABUT_FREE(p->vert, p->number);
    *p = (part){ .number = NULL };
}

/* number[n]: names of the primitives of `of`, NULL: 0, 1, 2, ... */
static abut_status part_make(const abut_prims *of, const int32_t *number, const uint8_t *changed, part *p, abut_err *err)
{
    const size_t k = (size_t)of->k;
    size_t n = 0;
    *p = (part){ .vert = malloc((k * of->n + 1) * sizeof *p->vert), .number = malloc((of->n + 1) * sizeof *p->number) };
    if (!p->vert || !p->number) {
        part_clear(p);
        return abut_fail(err, ABUT_E_NOMEM, "candidates: no memory for %zu primitives", of->n);
    }
    for (size_t i = 0; i < of->n; i++) {
        int any = 0;
        for (size_t c = 0; c < k; c++) any |= changed[of->vert[k * i + c]];
        if (!any) continue;
        memcpy(p->vert + k * n, of->vert + k * i, k * sizeof *p->vert);
        p->number[n++] = number ? number[i] : (int32_t)i;
    }
    p->prims = (abut_prims){ n, of->k, p->vert };
    return ABUT_OK;
}

/* One side of a list: primitives, their numbers (NULL: 0, 1, 2, ...), their trees. */
typedef struct side {
    abut_prims prims;
    const int32_t *number;
    abut_broad_trees **trees;
} side;

/* Adds the sorted pairs of `more` that `list` lacks, in its order. */
static abut_status merge(abut_pair_list *list, const abut_pair_list *more, abut_err *err)
{
    abut_pair_list both = { 0 };
    size_t i = 0, j = 0;
    if (!more->n) return ABUT_OK;
    const abut_status rc = abut_pair_list_reserve(&both, list->n + more->n, err);
    if (rc) return rc;
    while (i < list->n || j < more->n) {
        const int c = i == list->n ? 1 : j == more->n ? -1 : abut_by_two(list->ij[i], more->ij[j]);
        memcpy(both.ij[both.n], c <= 0 ? list->ij[i] : more->ij[j], sizeof *both.ij);
        i += c <= 0;
        j += c >= 0;
        if (!both.n || abut_by_two(both.ij[both.n - 1], both.ij[both.n])) both.n++;
    }
    abut_pair_list_clear(list);
    *list = both;
    return ABUT_OK;
}

/* Pairs of changed primitives of one side with all of the other, by their numbers; room is scratch. */
static abut_status pairs_of(const abut_broad_phase *s, const side *a, const side *b, const uint8_t *changed, int first,
                            abut_pair_list *room, abut_pair_list *list, abut_err *err)
{
    const int self = a->prims.vert == b->prims.vert;
    part p;
    abut_broad_trees *trees = NULL;
    const side *of = first ? a : b, *other = first ? b : a;
    abut_status rc = part_make(&of->prims, of->number, changed, &p, err);
    room->n = 0;
    if (!rc && !p.prims.n) rc = abut_broad_trees_of(s, &other->prims, other->trees, err);   /* boxes of trees grow even so */
    else if (!rc && first) rc = abut_broad_pairs(s, &p.prims, &trees, &b->prims, b->trees, room, err);
    else if (!rc) rc = abut_broad_pairs(s, &a->prims, a->trees, &p.prims, &trees, room, err);
    for (size_t k = 0; k < (rc ? 0 : room->n); k++) {
        int32_t *ij = room->ij[k];
        const int32_t i = first ? p.number[ij[0]] : a->number ? a->number[ij[0]] : ij[0];
        const int32_t j = first ? (b->number ? b->number[ij[1]] : ij[1]) : p.number[ij[1]];
        ij[0] = self && j < i ? j : i;
        ij[1] = self && j < i ? i : j;
    }
    if (!rc && self && room->n) qsort(room->ij, room->n, sizeof *room->ij, abut_by_two);
    if (!rc) rc = merge(list, room, err);
    abut_broad_trees_free(&trees);
    part_clear(&p);
    return rc;
}

static abut_status extend(const abut_broad_phase *s, const side *a, const side *b, const uint8_t *changed,
                          abut_pair_list *room, abut_pair_list *list, abut_err *err)
{
    if (!a->prims.n || !b->prims.n) return ABUT_OK;
    const abut_status rc = pairs_of(s, a, b, changed, 1, room, list, err);
    return rc || a->prims.vert == b->prims.vert ? rc : pairs_of(s, a, b, changed, 0, room, list, err);
}

/* Adds to `out`, a result of candidates_between with the same y0, reach and fixed, the pairs of further ends.
 * changed[nc]: 1: the vertex may end outside its y1 and y2 of that call.  On failure out is unusable. */
static abut_status candidates_extend(const abut_collmesh *cm, const double *y0, const double *y1, const double *y2, double reach,
                                     const uint8_t *fixed, const uint8_t *changed, abut_candidates *out, abut_err *err)
{
    abut_candidate_search *of = &out->search;
    const abut_motion m = { .nv = (size_t)cm->nc, .y0 = y0, .y1 = y1, .y2 = y2, .reach = reach, .xi = cm->xi, .fixed = fixed,
                            .changed = changed };
    const side v = { { (size_t)cm->nc, 1, of->self }, NULL, &of->of_vertices },
               e = { { (size_t)cm->ne, 2, cm->edge }, NULL, &of->of_edges },
               t = { { (size_t)cm->nt, 3, cm->tri }, NULL, &of->of_triangles },
               loose = { { (size_t)cm->n_loose, 1, cm->loose }, cm->loose, &of->of_loose },
               seg = { { (size_t)cm->n_seg, 2, of->seg }, cm->seg, &of->of_segs },
               point = { { (size_t)cm->n_point, 1, cm->point }, cm->point, &of->of_points };
    abut_pair_list room = { 0 };
    abut_status rc = abut_candidates_check(cm, y1, err);
    if (!rc) rc = abut_candidates_check(cm, y2, err);
    if (!rc) rc = abut_broad_init(&of->broad, &m, err);
    if (!rc) rc = extend(&of->broad, &v, &t, changed, &room, &out->vt, err);
    if (!rc) rc = extend(&of->broad, &e, &e, changed, &room, &out->ee, err);
    if (!rc) rc = extend(&of->broad, &loose, &seg, changed, &room, &out->ve, err);
    if (!rc) rc = extend(&of->broad, &point, &point, changed, &room, &out->vv, err);
    candidates_drop_passing(cm, out);
    abut_pair_list_clear(&room);
    return rc;
}

/* ---- motions with one start ---- */

void abut_repeated_search_clear(abut_repeated_search *s)
{
    abut_candidates_clear(&s->wide);
    ABUT_FREE(s->start, s->low, s->high, s->fixed, s->changed);
    *s = (abut_repeated_search){ .known = 0 };
}

static abut_status reserve(abut_repeated_search *s, size_t nc, abut_err *err)
{
    if (s->fixed) return ABUT_OK;
    if (ABUT_ARRAYS(ABUT_ITEMS(s->start, 3 * nc), ABUT_ITEMS(s->low, 3 * nc), ABUT_ITEMS(s->high, 3 * nc),
                    ABUT_ITEMS(s->fixed, nc), ABUT_ITEMS(s->changed, nc))) return ABUT_OK;
    abut_repeated_search_clear(s);
    return abut_fail(err, ABUT_E_NOMEM, "contacts of %zu vertices", nc);
}

static int begins_there(const abut_repeated_search *s, size_t nc, const double *y0, const uint8_t *fixed)
{
    return s->known && !memcmp(s->start, y0, 3 * nc * sizeof *y0) && !memcmp(s->fixed, fixed, nc);
}

/* Boxes around y1. */
static void enclose(abut_repeated_search *s, size_t nc, const double *y1, double margin)
{
    for (size_t i = 0; i < 3 * nc; i++) {
        s->low[i] = y1[i] - margin;
        s->high[i] = y1[i] + margin;
    }
}

/* Boxes that y1 has left hold it afterwards, with the margin; 1: there are some, in s->changed. */
static int repeated_extend(abut_repeated_search *s, size_t nc, const double *y1, double margin)
{
    int left = 0;
    #pragma omp parallel for schedule(static) reduction(| : left) if (nc >= ABUT_PAR_MIN)
    for (size_t v = 0; v < nc; v++) {
        int out = 0;
        for (size_t i = 3 * v; i < 3 * v + 3; i++) {
            const double below = s->low[i] - y1[i], above = y1[i] - s->high[i];
            if (below > 0) s->low[i] = y1[i] - fmax(margin, below / 2), out = 1;
            if (above > 0) s->high[i] = y1[i] + fmax(margin, above / 2), out = 1;
        }
        s->changed[v] = (uint8_t)out;
        left |= out;
    }
    return left;
}

abut_status abut_repeated_search_find(abut_repeated_search *s, const abut_collmesh *cm, const double *y0, const double *y1,
                                      double reach, const uint8_t *fixed, double margin, abut_err *err)
{
    assert(margin >= 0 && reach >= 0);
    const size_t nc = (size_t)cm->nc;
    abut_status rc = reserve(s, nc, err);
    if (!rc) rc = abut_candidates_check(cm, y1, err);
    if (rc) return rc;
    const int known = begins_there(s, nc, y0, fixed);
    if (!known) {
        memcpy(s->start, y0, 3 * nc * sizeof *y0);
        memcpy(s->fixed, fixed, nc);
        enclose(s, nc, y1, margin);
    }
    if (!known) rc = candidates_between(cm, y0, s->low, s->high, reach, fixed, &s->wide, err);
    else if (repeated_extend(s, nc, y1, margin))
        rc = candidates_extend(cm, y0, s->low, s->high, reach, fixed, s->changed, &s->wide, err);
    s->known = !rc;
    return rc;
}

abut_candidate_search *abut_repeated_search_lend(abut_repeated_search *s)
{
    s->known = 0;
    return &s->wide.search;
}

abut_candidate_test abut_candidate_test_of(const abut_collmesh *cm, const double *y0, const double *y1, double reach)
{
    abut_candidate_test t = { .motion = { .nv = (size_t)cm->nc, .y0 = y0, .y1 = y1, .reach = reach, .xi = cm->xi } };
    t.rounding = abut_broad_rounding_of(&t.motion);
    return t;
}

int abut_candidate_test_has(const abut_candidate_test *t, abut_stencil kind, const int32_t v[4])
{
    const int first = kind == ABUT_EE ? 2 : 1;
    return abut_broad_finds(&t->motion, t->rounding, first, abut_stencil_size(kind) - first, v);
}

/* Candidates of changed vertices: their primitives, a small part of all, are searched against all others. */
#include "contact/candidates.h"
#include "base/order.h"
#include "geom/broad_tree.h"

#include <stdlib.h>
#include <string.h>

/* The primitives of a set that have a changed vertex. */
typedef struct part {
    abut_prims prims;
    int32_t *vert, *number;     /* vertices of prims; number of each primitive in the whole set */
} part;

static void part_clear(part *p)
{
    free(p->vert);
    free(p->number);
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

abut_status abut_candidates_extend(const abut_collmesh *cm, const double *y0, const double *y1, const double *y2, double reach,
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
    abut_candidates_drop_passing(cm, out);
    abut_pair_list_clear(&room);
    return rc;
}

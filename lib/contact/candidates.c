#include "contact/candidates.h"

#include "base/par.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- boxes of all primitives ---- */

static abut_status boxes_reserve(struct abut_cand_boxes *b, size_t n, abut_err *err)
{
    if (n <= b->cap) return ABUT_OK;
    free(b->box);
    free(b->still);
    *b = (struct abut_cand_boxes){ malloc(n * sizeof *b->box), malloc(n), 0 };
    if (!b->box || !b->still) return abut_fail(err, ABUT_E_NOMEM, "candidates: no memory for %zu boxes", n);
    b->cap = n;
    return ABUT_OK;
}

static abut_status positions_check(const abut_collmesh *cm, const double *y, abut_err *err)
{
    const size_t n = 3 * (size_t)cm->nc;
    size_t bad = n;
    #pragma omp parallel for schedule(static) reduction(min : bad) if (n >= ABUT_PAR_MIN)
    for (size_t i = 0; i < n; i++)
        if (!(fabs(y[i]) <= DBL_MAX / 16) && i < bad) bad = i;
    if (bad == n) return ABUT_OK;
    return abut_fail(err, ABUT_E_GEOM, "candidates: node %d has a coordinate of %g m, want a finite one",
                     (int)cm->node[bad / 3], y[bad]);
}

/* An edge or a triangle lies in the hull of its vertices, along the motion too: min and max are exact. */
static abut_box box_join(const abut_box *vert, const int32_t *idx, int k)
{
    abut_box b = vert[idx[0]];
    for (int i = 1; i < k; i++) b = abut_box_join(b, &vert[idx[i]]);
    return b;
}

/* Boxes of edges and triangles, behind those of the vertices. */
static void boxes_join(const abut_collmesh *cm, abut_box *vert)
{
    abut_box *edge = vert + cm->nc, *tri = edge + cm->ne;
    #pragma omp parallel if ((size_t)cm->nc >= ABUT_PAR_MIN)
    {
        #pragma omp for schedule(static) nowait
        for (int32_t i = 0; i < cm->ne; i++) edge[i] = box_join(vert, cm->edge + 2 * (size_t)i, 2);
        #pragma omp for schedule(static)
        for (int32_t i = 0; i < cm->nt; i++) tri[i] = box_join(vert, cm->tri + 3 * (size_t)i, 3);
    }
}

static uint8_t all_fixed(const uint8_t *fixed, const int32_t *idx, int k)
{
    uint8_t all = 1;
    for (int i = 0; i < k; i++) all &= fixed[idx[i]] != 0;
    return all;
}

/* How far the box of a vertex reaches out: its half of the reach and of the thickness.  The sum of two halves may be rounded
 * below the thickness of the pair; the boxes are rounded outward by more. */
static inline double margin(const abut_collmesh *cm, double reach, int32_t v)
{
    return 0.5 * reach + (cm->xi ? 0.5 * cm->xi[v] : 0);
}

static abut_status boxes_fill(const abut_collmesh *cm, const double *y0, const double *y1, double reach,
                              struct abut_cand_boxes *b, abut_err *err)
{
    abut_status rc = boxes_reserve(b, (size_t)cm->nc + (size_t)cm->ne + (size_t)cm->nt, err);
    if (!rc) rc = positions_check(cm, y0, err);
    if (!rc && y1) rc = positions_check(cm, y1, err);
    if (rc) return rc;
    abut_box *vert = b->box;
    #pragma omp parallel for schedule(static) if ((size_t)cm->nc >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < cm->nc; i++) vert[i] = abut_box_points(y0, y1, &i, 1, margin(cm, reach, i));
    boxes_join(cm, vert);
    return ABUT_OK;
}

static void still_fill(const abut_collmesh *cm, const uint8_t *fixed, uint8_t *still)
{
    uint8_t *edge = still + cm->nc, *tri = edge + cm->ne;
    for (int32_t i = 0; i < cm->nc; i++) still[i] = fixed[i] != 0;
    for (int32_t i = 0; i < cm->ne; i++) edge[i] = all_fixed(fixed, cm->edge + 2 * (size_t)i, 2);
    for (int32_t i = 0; i < cm->nt; i++) tri[i] = all_fixed(fixed, cm->tri + 3 * (size_t)i, 3);
}

/* ---- search ---- */

static void lists_empty(abut_candidates *c)
{
    c->of.reach = -1;
    c->vt.n = c->ee.n = c->ve.n = c->vv.n = 0;
}

/* Some of the primitives: n of them, each of k of the rows listed in pick (k = 1: vertices, 2: edges), with their boxes and
 * flags in one block of memory. */
struct some {
    abut_items items;
    int32_t *vert;
    abut_box *box;
    uint8_t *still;
    int all_still;
};

static abut_status some_make(const abut_collmesh *cm, const int32_t *pick, int32_t n, int k, const uint8_t *fixed,
                             const struct abut_cand_boxes *boxes, struct some *s, abut_err *err)
{
    const size_t m = (size_t)n + 1, base = k == 1 ? 0 : (size_t)cm->nc;
    *s = (struct some){ .vert = malloc(2 * m * sizeof *s->vert), .box = malloc(m * sizeof *s->box), .still = malloc(m),
                        .all_still = fixed != NULL };
    if (!s->vert || !s->box || !s->still) return abut_fail(err, ABUT_E_NOMEM, "candidates: no memory for %d primitives", n);
    for (size_t i = 0; i < (size_t)n; i++) {
        const size_t row = (size_t)pick[i];
        s->box[i] = boxes->box[base + row];
        s->still[i] = fixed ? boxes->still[base + row] : 0;
        s->all_still &= s->still[i];
        if (k == 1) s->vert[i] = pick[i];
        else memcpy(s->vert + 2 * i, cm->edge + 2 * row, 2 * sizeof *s->vert);
    }
    s->items = (abut_items){ (size_t)n, k, s->vert, fixed ? s->still : NULL, s->box };
    return ABUT_OK;
}

static void some_free(struct some *s)
{
    free(s->vert);
    free(s->box);
    free(s->still);
}

/* Pairs of some primitives, under the numbers that they have among all. */
static abut_status some_pairs(const struct some *a, const int32_t *pick_a, const struct some *b, const int32_t *pick_b,
                              abut_pair_list *out, abut_err *err)
{
    if (a->all_still && b->all_still) return ABUT_OK;
    const abut_status rc = abut_bvh_pairs(&a->items, &b->items, 0, out, err);
    for (size_t i = 0; i < out->n; i++) {
        out->ij[i][0] = pick_a[out->ij[i][0]];
        out->ij[i][1] = pick_b[out->ij[i][1]];
    }
    return rc;
}

/* What surfaces do not have. */
static abut_status search_lower(const abut_collmesh *cm, const uint8_t *fixed, abut_candidates *out, abut_err *err)
{
    struct some loose = { 0 }, seg = { 0 }, point = { 0 };
    abut_status rc = ABUT_OK;
    if (cm->n_loose && cm->n_seg) {
        rc = some_make(cm, cm->loose, cm->n_loose, 1, fixed, &out->boxes, &loose, err);
        if (!rc) rc = some_make(cm, cm->seg, cm->n_seg, 2, fixed, &out->boxes, &seg, err);
        if (!rc && (rc = some_pairs(&loose, cm->loose, &seg, cm->seg, &out->ve, err))) abut_wrap(err, "vertices against edges");
    }
    if (cm->n_point > 1 && !rc) {
        rc = some_make(cm, cm->point, cm->n_point, 1, fixed, &out->boxes, &point, err);
        if (!rc && (rc = some_pairs(&point, cm->point, &point, cm->point, &out->vv, err)))
            abut_wrap(err, "vertices against vertices");
    }
    some_free(&loose);
    some_free(&seg);
    some_free(&point);
    return rc;
}

/* All overlapping pairs of out->boxes. */
static abut_status search(const abut_collmesh *cm, const uint8_t *fixed, abut_candidates *out, abut_err *err)
{
    if (fixed) still_fill(cm, fixed, out->boxes.still);
    int32_t *self = malloc(((size_t)cm->nc + 1) * sizeof *self);
    if (!self) return abut_fail(err, ABUT_E_NOMEM, "candidates: no memory for %d vertices", (int)cm->nc);
    for (int32_t i = 0; i < cm->nc; i++) self[i] = i;
    const uint8_t *still = fixed ? out->boxes.still : NULL;
    const abut_box *box = out->boxes.box;
    const abut_items v = { (size_t)cm->nc, 1, self, still, box };
    const abut_items e = { (size_t)cm->ne, 2, cm->edge, still ? still + cm->nc : NULL, box + cm->nc };
    const abut_items t = { (size_t)cm->nt, 3, cm->tri, still ? still + cm->nc + cm->ne : NULL, box + cm->nc + cm->ne };
    abut_status rc = abut_bvh_pairs_kept(&v, &out->of_vertices, &t, &out->of_triangles, 0, &out->vt, err);
    if (rc) abut_wrap(err, "vertices against triangles");
    if (!rc && (rc = abut_bvh_pairs_kept(&e, &out->of_edges, &e, NULL, 0, &out->ee, err))) abut_wrap(err, "edges against edges");
    if (!rc) rc = search_lower(cm, fixed, out, err);
    if (rc) lists_empty(out);
    free(self);
    return rc;
}

abut_status abut_candidates_find(const abut_collmesh *cm, const double *y0, const double *y1, double reach,
                                 const uint8_t *fixed, abut_candidates *out, abut_err *err)
{
    lists_empty(out);
    const abut_status rc = boxes_fill(cm, y0, y1, reach, &out->boxes, err);
    return rc ? rc : search(cm, fixed, out, err);
}

/* ---- culling ---- */

/* Each block of the list is compacted in place, then the blocks are pushed together. */
static abut_status list_cull(abut_pair_list *list, const abut_box *a, const abut_box *b, abut_err *err)
{
    const size_t blocks = abut_blocks(list->n);
    size_t *kept = malloc((blocks + 1) * sizeof *kept);
    if (!kept) return abut_fail(err, ABUT_E_NOMEM, "candidates: no memory for %zu block sizes", blocks);
    #pragma omp parallel for schedule(static) if (blocks > 4)
    for (size_t k = 0; k < blocks; k++) {
        const abut_range r = abut_block(list->n, k);
        size_t m = r.lo;
        for (size_t c = r.lo; c < r.hi; c++) {
            const int32_t i = list->ij[c][0], j = list->ij[c][1];
            list->ij[m][0] = i;
            list->ij[m][1] = j;
            m += (size_t)abut_box_overlap(&a[i], &b[j]);
        }
        kept[k] = m - r.lo;
    }
    size_t n = 0;
    for (size_t k = 0; k < blocks; k++) {
        memmove(list->ij + n, list->ij + abut_block(list->n, k).lo, kept[k] * sizeof *list->ij);
        n += kept[k];
    }
    list->n = n;
    free(kept);
    return ABUT_OK;
}

static abut_status lists_cull(const abut_collmesh *cm, const abut_box *box, abut_candidates *cand, abut_err *err)
{
    abut_status rc = list_cull(&cand->vt, box, box + cm->nc + cm->ne, err);
    if (!rc) rc = list_cull(&cand->ee, box + cm->nc, box + cm->nc, err);
    if (!rc) rc = list_cull(&cand->ve, box, box + cm->nc, err);
    if (!rc) rc = list_cull(&cand->vv, box, box, err);
    return rc;
}

abut_status abut_candidates_cull(const abut_collmesh *cm, const double *y0, const double *y1, double reach,
                                 abut_candidates *cand, abut_err *err)
{
    cand->of.reach = -1;
    abut_status rc = boxes_fill(cm, y0, y1, reach, &cand->boxes, err);
    const abut_box *box = cand->boxes.box;
    if (!rc) rc = lists_cull(cm, box, cand, err);
    if (rc) lists_empty(cand);
    return rc;
}

/* ---- one search for several motions ---- */

/* Room for a motion as long as a part of this one and in any direction; a body that hardly moves may be pushed by one that
 * does, so part of the largest motion goes to every vertex. */
#define ROOM_OWN 0.25
#define ROOM_ALL 0.0625
/* Directions that shrink slowly leave this room again and again: it is doubled after a search that has served fewer motions
 * than this, and halved after one that was given up because so much of it was culled.  The first motion from y_from is longer
 * than what follows, and gets no more. */
#define FEW_USES 6
#define MOST_ROOM 8
/* A new search costs about as much as culling this many pairs for each edge (or lone vertex) and for each pair found.  A list
 * is given up when culling it has cost that much in vain. */
#define SEARCH_EDGE 48
#define SEARCH_PAIR 1

static int boxes_hold(const abut_box *wide, const abut_box *box, int32_t n)
{
    int all = 1;
    #pragma omp parallel for schedule(static) reduction(&& : all) if ((size_t)n >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < n; i++) {
        int in = 1;
        for (int k = 0; k < 3; k++) in &= (wide[i].lo[k] <= box[i].lo[k]) & (box[i].hi[k] <= wide[i].hi[k]);
        all = all && in;
    }
    return all;
}

static double motion_of(const double *y0, const double *y1, int32_t i)
{
    double most = 0;
    for (size_t k = 3 * (size_t)i; k < 3 * (size_t)i + 3; k++) most = fmax(most, fabs(y1[k] - y0[k]));
    return most;
}

/* How many times the room above a new search is to leave.  What ended with its step, or served the first motion of one, tells
 * nothing about directions. */
static double choose_room(abut_nearby *near, int starts)
{
    if (!near->searches) near->room = 1;
    else if (!near->holds) near->room = fmax(1, near->room / 2);
    else if (!starts && !near->started && near->uses < FEW_USES) near->room = fmin(MOST_ROOM, 2 * near->room);
    near->started = starts;
    return starts ? 1 : near->room;
}

/* Grows the boxes of the vertices by so many times the room above, and to where they were at y_from. */
static void boxes_widen(const abut_collmesh *cm, const abut_box *box, const double *y_from, const double *y0, const double *y1,
                        double reach, double times, abut_box *wide)
{
    const int32_t n = cm->nc;
    double most = 0;
    for (int32_t i = 0; i < (y1 ? n : 0); i++) most = fmax(most, motion_of(y0, y1, i));
    #pragma omp parallel for schedule(static) if ((size_t)n >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < n; i++) {
        const double room = times * (ROOM_ALL * most + (y1 ? ROOM_OWN * motion_of(y0, y1, i) : 0)) + 0.5 * reach;
        wide[i] = box[i];
        if (y_from) {
            const abut_box from = abut_box_points(y_from, NULL, &i, 1, margin(cm, reach, i));
            wide[i] = abut_box_join(wide[i], &from);
        }
        for (int k = 0; k < 3; k++) wide[i].lo[k] -= room, wide[i].hi[k] += room;
    }
}

static abut_status list_copy(const abut_pair_list *from, abut_pair_list *to, abut_err *err)
{
    if (from->n > to->cap) {
        const size_t cap = from->n + from->n / 4;
        free(to->ij);
        *to = (abut_pair_list){ malloc(cap * sizeof *to->ij), 0, 0 };
        if (!to->ij) return abut_fail(err, ABUT_E_NOMEM, "candidates: no memory for %zu pairs", cap);
        to->cap = cap;
    }
    if (from->n) memcpy(to->ij, from->ij, from->n * sizeof *to->ij);
    to->n = from->n;
    return ABUT_OK;
}

/* Whether the lists are those of this motion; y1 NULL is none of them. */
static int is_answered(const abut_candidates *c, size_t n3, const double *y0, const double *y1, double reach)
{
    return y1 && c->of.y && c->of.reach == reach && c->of.cap == 2 * n3 && !memcmp(c->of.y, y0, n3 * sizeof *y0) &&
           !memcmp(c->of.y + n3, y1, n3 * sizeof *y1);
}

static abut_status remember(abut_candidates *c, size_t n3, const double *y0, const double *y1, double reach, abut_err *err)
{
    if (!y1 || !n3) return ABUT_OK;
    if (c->of.cap != 2 * n3) {
        free(c->of.y);
        c->of = (struct abut_cand_motion){ malloc(2 * n3 * sizeof *c->of.y + 1), -1, 2 * n3 };
        if (!c->of.y) return abut_fail(err, ABUT_E_NOMEM, "candidates: no memory for %zu coordinates", 2 * n3);
    }
    memcpy(c->of.y, y0, n3 * sizeof *y0);
    memcpy(c->of.y + n3, y1, n3 * sizeof *y1);
    c->of.reach = reach;
    return ABUT_OK;
}

abut_status abut_candidates_near(const abut_collmesh *cm, const double *y_from, const double *y0, const double *y1,
                                 double reach, const uint8_t *fixed, abut_nearby *near, abut_candidates *out, abut_err *err)
{
    const size_t n3 = 3 * (size_t)cm->nc;
    if (is_answered(out, n3, y0, y1, reach)) return ABUT_OK;
    lists_empty(out);
    abut_status rc = boxes_fill(cm, y0, y1, reach, &out->boxes, err);
    const abut_box *box = out->boxes.box;
    if (!rc && !(near->holds && boxes_hold(near->wide.boxes.box, box, cm->nc))) {
        const double room = choose_room(near, y_from && !memcmp(y_from, y0, 3 * (size_t)cm->nc * sizeof *y0));
        near->holds = near->uses = 0;
        near->searches++;
        near->vain = 0;
        lists_empty(&near->wide);
        rc = boxes_reserve(&near->wide.boxes, (size_t)cm->nc + (size_t)cm->ne + (size_t)cm->nt, err);
        if (rc) return rc;
        boxes_widen(cm, box, y_from, y0, y1, reach, room, near->wide.boxes.box);
        boxes_join(cm, near->wide.boxes.box);
        rc = search(cm, fixed, &near->wide, err);
        near->holds = !rc;
    }
    if (!rc) rc = list_copy(&near->wide.vt, &out->vt, err);
    if (!rc) rc = list_copy(&near->wide.ee, &out->ee, err);
    if (!rc) rc = list_copy(&near->wide.ve, &out->ve, err);
    if (!rc) rc = list_copy(&near->wide.vv, &out->vv, err);
    if (!rc) rc = lists_cull(cm, box, out, err);
    if (!rc) rc = remember(out, n3, y0, y1, reach, err);
    if (rc) lists_empty(out);
    const size_t found = abut_candidates_count(&near->wide);
    near->uses++;
    near->vain += found - abut_candidates_count(out);
    if (near->vain > SEARCH_EDGE * ((size_t)cm->ne + (size_t)cm->n_point) + SEARCH_PAIR * found) near->holds = 0;
    return rc;
}

void abut_nearby_clear(abut_nearby *near)
{
    abut_candidates_clear(&near->wide);
    *near = (abut_nearby){ 0 };
}

void abut_candidates_clear(abut_candidates *c)
{
    abut_pair_list_clear(&c->vt);
    abut_pair_list_clear(&c->ee);
    abut_pair_list_clear(&c->ve);
    abut_pair_list_clear(&c->vv);
    abut_bvh_trees_free(&c->of_vertices);
    abut_bvh_trees_free(&c->of_edges);
    abut_bvh_trees_free(&c->of_triangles);
    free(c->boxes.box);
    free(c->boxes.still);
    free(c->of.y);
    *c = (abut_candidates){ 0 };
}

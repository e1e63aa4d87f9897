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

static uint8_t all_fixed(const uint8_t *fixed, const int32_t *idx, int k)
{
    uint8_t all = 1;
    for (int i = 0; i < k; i++) all &= fixed[idx[i]] != 0;
    return all;
}

static abut_status boxes_fill(const abut_collmesh *cm, const double *y0, const double *y1, double reach,
                              struct abut_cand_boxes *b, abut_err *err)
{
    abut_status rc = boxes_reserve(b, (size_t)cm->nc + (size_t)cm->ne + (size_t)cm->nt, err);
    if (!rc) rc = positions_check(cm, y0, err);
    if (!rc && y1) rc = positions_check(cm, y1, err);
    if (rc) return rc;
    abut_box *vert = b->box, *edge = vert + cm->nc, *tri = edge + cm->ne;
    #pragma omp parallel if ((size_t)cm->nc >= ABUT_PAR_MIN)
    {
        #pragma omp for schedule(static)
        for (int32_t i = 0; i < cm->nc; i++) vert[i] = abut_box_points(y0, y1, &i, 1, 0.5 * reach);
        #pragma omp for schedule(static) nowait
        for (int32_t i = 0; i < cm->ne; i++) edge[i] = box_join(vert, cm->edge + 2 * (size_t)i, 2);
        #pragma omp for schedule(static)
        for (int32_t i = 0; i < cm->nt; i++) tri[i] = box_join(vert, cm->tri + 3 * (size_t)i, 3);
    }
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

abut_status abut_candidates_find(const abut_collmesh *cm, const double *y0, const double *y1, double reach,
                                 const uint8_t *fixed, abut_candidates *out, abut_err *err)
{
    out->vt.n = out->ee.n = 0;
    abut_status rc = boxes_fill(cm, y0, y1, reach, &out->boxes, err);
    if (rc) return rc;
    if (fixed) still_fill(cm, fixed, out->boxes.still);

    int32_t *self = malloc(((size_t)cm->nc + 1) * sizeof *self);
    if (!self) return abut_fail(err, ABUT_E_NOMEM, "candidates: no memory for %d vertices", (int)cm->nc);
    for (int32_t i = 0; i < cm->nc; i++) self[i] = i;
    const uint8_t *still = fixed ? out->boxes.still : NULL;
    const abut_box *box = out->boxes.box;
    const abut_items v = { (size_t)cm->nc, 1, self, still, box };
    const abut_items e = { (size_t)cm->ne, 2, cm->edge, still ? still + cm->nc : NULL, box + cm->nc };
    const abut_items t = { (size_t)cm->nt, 3, cm->tri, still ? still + cm->nc + cm->ne : NULL, box + cm->nc + cm->ne };
    rc = abut_bvh_pairs(&v, &t, 0, &out->vt, err);
    if (rc) abut_wrap(err, "vertices against triangles");
    if (!rc && (rc = abut_bvh_pairs(&e, &e, 0, &out->ee, err))) abut_wrap(err, "edges against edges");
    if (rc) out->vt.n = out->ee.n = 0;
    free(self);
    return rc;
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

abut_status abut_candidates_cull(const abut_collmesh *cm, const double *y0, const double *y1, double reach,
                                 abut_candidates *cand, abut_err *err)
{
    abut_status rc = boxes_fill(cm, y0, y1, reach, &cand->boxes, err);
    const abut_box *box = cand->boxes.box;
    if (!rc) rc = list_cull(&cand->vt, box, box + cm->nc + cm->ne, err);
    if (!rc) rc = list_cull(&cand->ee, box + cm->nc, box + cm->nc, err);
    if (rc) cand->vt.n = cand->ee.n = 0;
    return rc;
}

void abut_candidates_clear(abut_candidates *c)
{
    abut_pair_list_clear(&c->vt);
    abut_pair_list_clear(&c->ee);
    free(c->boxes.box);
    free(c->boxes.still);
    *c = (abut_candidates){ 0 };
}

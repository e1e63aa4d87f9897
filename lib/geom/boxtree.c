#include "geom/boxtree.h"

#include "base/par.h"
#include "base/simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STACK ((ABUT_WIDE - 1) * ABUT_PACK_LEVELS + 1)

/* ---- float boxes ---- */

/* The next float up from f, a step away from zero or towards it: floats of one sign are ordered like their bits. */
static inline float next_up(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    bits = f > 0 ? bits + 1 : f < 0 ? bits - 1 : 1;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline float round_up(double v)
{
    const float f = (float)v;
    return (double)f < v ? next_up(f) : f;
}

static inline float round_down(double v)
{
    return -round_up(-v);
}

static const abut_fbox nothing = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };

/* The boxes of p->item; the first n lanes have one, and the others lane 0 until they are blanked. */
ABUT_SIMD
static void pack_fill(const abut_box *box, size_t n, abut_pack *p, abut_fbox *bound)
{
    double lo[3][ABUT_PACK], hi[3][ABUT_PACK];
    for (size_t i = 0; i < ABUT_PACK; i++) {
        const abut_box *b = &box[p->item[i < n ? i : 0]];
        for (int d = 0; d < 3; d++) lo[d][i] = b->lo[d], hi[d][i] = b->hi[d];
    }
    for (int d = 0; d < 3; d++) {
        #pragma omp simd
        for (int i = 0; i < ABUT_PACK; i++) p->lo[d][i] = round_down(lo[d][i]), p->hi[d][i] = round_up(hi[d][i]);
        bound->lo[d] = p->lo[d][0], bound->hi[d] = p->hi[d][0];
        for (size_t i = 0; i < n; i++) {
            bound->lo[d] = p->lo[d][i] < bound->lo[d] ? p->lo[d][i] : bound->lo[d];
            bound->hi[d] = p->hi[d][i] > bound->hi[d] ? p->hi[d][i] : bound->hi[d];
        }
        for (size_t i = n; i < ABUT_PACK; i++) p->lo[d][i] = p->hi[d][i] = NAN;
    }
}

static abut_fbox wide_bound(const abut_wide *w)
{
    abut_fbox b = nothing;
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < ABUT_WIDE; i++) {
            if (w->lo[d][i] < b.lo[d]) b.lo[d] = w->lo[d][i];
            if (w->hi[d][i] > b.hi[d]) b.hi[d] = w->hi[d][i];
        }
    return b;
}

static void nodes_fill(abut_boxtree *t)
{
    const abut_tree_shape *p = &t->packs;
    size_t children = p->n_pack;
    for (int l = 0; l < p->n_level; l++) {
        abut_wide *node = t->node + p->level[l];
        for (size_t c = 0; c < (children + ABUT_WIDE - 1) / ABUT_WIDE * ABUT_WIDE; c++) {
            abut_fbox b = { { NAN, NAN, NAN }, { NAN, NAN, NAN } };
            if (c < children) b = l ? wide_bound(t->node + p->level[l - 1] + c) : t->bound[c];
            for (int d = 0; d < 3; d++) {
                node[c / ABUT_WIDE].lo[d][c % ABUT_WIDE] = b.lo[d];
                node[c / ABUT_WIDE].hi[d][c % ABUT_WIDE] = b.hi[d];
            }
        }
        children = (children + ABUT_WIDE - 1) / ABUT_WIDE;
    }
}

/* The boxes of a pack lie anywhere: those of the next one are fetched early. */
static inline void pack_fetch(const abut_box *box, const int32_t item[ABUT_PACK])
{
    for (int i = 0; i < ABUT_PACK && item[i] >= 0; i++) {
        __builtin_prefetch(&box[item[i]]);
        __builtin_prefetch(&box[item[i]].hi[2]);
    }
}

static void packs_fill(const abut_box *box, abut_boxtree *t)
{
    const size_t n = t->packs.n, n_pack = t->packs.n_pack;
    #pragma omp parallel for schedule(static) if (n >= ABUT_PAR_MIN)
    for (size_t p = 0; p < n_pack; p++) {
        const size_t left = n - p * ABUT_PACK;
        if (p + 1 < n_pack) pack_fetch(box, t->packs.item[p + 1]);
        memcpy(t->pack[p].item, t->packs.item[p], sizeof t->pack[p].item);
        pack_fill(box, left < ABUT_PACK ? left : ABUT_PACK, &t->pack[p], &t->bound[p]);
    }
}

static abut_status packs_make(const abut_box *box, const int32_t *id, size_t n, abut_tree_shape *packs, abut_err *err)
{
    abut_key *k = malloc(n * sizeof *k);
    if (!k) return abut_fail(err, ABUT_E_NOMEM, "box tree: no memory for %zu items", n);
    #pragma omp parallel for schedule(static) if (n >= ABUT_PAR_MIN)
    for (size_t i = 0; i < n; i++) {
        k[i].id = id[i];
        for (int d = 0; d < 3; d++) k[i].c[d] = (float)(0.5 * box[id[i]].lo[d] + 0.5 * box[id[i]].hi[d]);
    }
    const abut_status rc = abut_tree_shape_build(k, n, packs, err);
    free(k);
    return rc;
}

abut_status abut_boxtree_build(const abut_box *box, const int32_t *id, size_t n, abut_boxtree *tree, abut_err *err)
{
    *tree = (abut_boxtree){ .bound = NULL };
    if (!n) return ABUT_OK;
    abut_status rc = packs_make(box, id, n, &tree->packs, err);
    if (!rc) {
        tree->pack = malloc(tree->packs.n_pack * sizeof *tree->pack);
        tree->bound = malloc(tree->packs.n_pack * sizeof *tree->bound);
        tree->node = malloc(tree->packs.n_node * sizeof *tree->node);
        if (!tree->pack || !tree->bound || !tree->node)
            rc = abut_fail(err, ABUT_E_NOMEM, "box tree: no memory for %zu items", n);
    }
    if (rc) return abut_boxtree_clear(tree), rc;
    packs_fill(box, tree);
    nodes_fill(tree);
    return ABUT_OK;
}

void abut_boxtree_clear(abut_boxtree *t)
{
    abut_tree_shape_clear(&t->packs);
    free(t->pack);
    free(t->bound);
    free(t->node);
    *t = (abut_boxtree){ 0 };
}

/* ---- queries ---- */

static inline void lanes_overlap(const float *restrict lo, const float *restrict hi, int n, const abut_fbox *q,
                                 int32_t *restrict hit)
{
    const float l0 = q->lo[0], l1 = q->lo[1], l2 = q->lo[2], h0 = q->hi[0], h1 = q->hi[1], h2 = q->hi[2];
    #pragma omp simd
    for (int i = 0; i < n; i++)
        hit[i] = (lo[i] <= h0) & (hi[i] >= l0) & (lo[n + i] <= h1) & (hi[n + i] >= l1) & (lo[2 * n + i] <= h2) &
                 (hi[2 * n + i] >= l2);
}

static inline void pack_mark(const abut_pack *p, const abut_fbox *q, int32_t above, abut_found *f)
{
    int32_t hit[ABUT_PACK];
    lanes_overlap(p->lo[0], p->hi[0], ABUT_PACK, q, hit);
    for (int i = 0; i < ABUT_PACK; i++) {
        const int32_t j = p->item[i];
        if (!hit[i] || j <= above) continue;
        f->bit[j >> 6] |= (uint64_t)1 << (j & 63);
        f->top[j >> 12] |= (uint64_t)1 << (j >> 6 & 63);
    }
}

ABUT_SIMD
void abut_boxtree_mark(const abut_boxtree *t, const abut_fbox *q, int32_t above, abut_found *found)
{
    if (!t->packs.n) return;
    struct { size_t node; int level; } stack[STACK];
    int depth = 0, hit[ABUT_WIDE];
    stack[depth].node = 0;
    stack[depth++].level = t->packs.n_level - 1;
    while (depth) {
        const size_t node = stack[--depth].node;
        const int level = stack[depth].level;
        const abut_wide *w = &t->node[t->packs.level[level] + node];
        lanes_overlap(w->lo[0], w->hi[0], ABUT_WIDE, q, hit);
        for (int c = 0; c < ABUT_WIDE; c++) {
            if (!hit[c]) continue;
            if (!level) {
                pack_mark(&t->pack[ABUT_WIDE * node + (size_t)c], q, above, found);
            } else {
                stack[depth].node = ABUT_WIDE * node + (size_t)c;
                stack[depth++].level = level - 1;
            }
        }
    }
}

int abut_found_init(abut_found *f, size_t n)
{
    f->n_top = n / 4096 + 1;
    f->top = calloc(f->n_top, sizeof *f->top);
    f->bit = calloc(f->n_top * 64, sizeof *f->bit);
    return f->top && f->bit;
}

void abut_found_clear(abut_found *f)
{
    free(f->top);
    free(f->bit);
    *f = (abut_found){ 0 };
}

size_t abut_found_take(abut_found *f, int32_t *id)
{
    size_t n = 0;
    for (size_t t = 0; t < f->n_top; t++) {
        for (uint64_t top = f->top[t]; top; top &= top - 1) {
            const size_t w = 64 * t + (size_t)__builtin_ctzll(top);
            for (uint64_t bits = f->bit[w]; bits; bits &= bits - 1)
                id[n++] = (int32_t)(64 * w + (size_t)__builtin_ctzll(bits));
            f->bit[w] = 0;
        }
        f->top[t] = 0;
    }
    return n;
}

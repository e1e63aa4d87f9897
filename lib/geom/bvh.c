/* A tree over packs of items that lie close together; the packs of one set descend the tree of the other. */
#include "geom/bvh.h"

#include "base/par.h"
#include "base/rng.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Bounds of the items below a pack or a node. */
typedef struct bound {
    abut_box box;
    int still;              /* 1: all items are still */
} bound;

typedef struct tree {
    abut_tree_shape shape;
    abut_box *box;          /* [n] of the items, pack by pack */
    bound *pack, *node;     /* of shape */
} tree;

/* Pairs found by one thread. */
typedef struct finds {
    int32_t (*ij)[2];
    size_t n, cap;
    int full;               /* no memory */
} finds;

/* ---- boxes ---- */

abut_box abut_box_points(const double *x0, const double *x1, const int32_t *idx, int k, double r)
{
    abut_box b = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    double nan = 0;     /* a coordinate that is not finite makes the whole box so: the search reports it */
    for (int i = 0; i < k; i++)
        for (int t = 0; t < (x1 ? 2 : 1); t++) {
            const double *p = (t ? x1 : x0) + 3 * (size_t)idx[i];
            for (int d = 0; d < 3; d++) {
                b.lo[d] = p[d] < b.lo[d] ? p[d] : b.lo[d];
                b.hi[d] = p[d] > b.hi[d] ? p[d] : b.hi[d];
                nan += 0 * p[d];
            }
        }
    for (int d = 0; d < 3; d++) {
        const double lo = fabs(b.lo[d]), hi = fabs(b.hi[d]);
        const double pad = r + 0x1p-50 * (r + (lo > hi ? lo : hi)) + DBL_MIN + nan;
        b.lo[d] -= pad;
        b.hi[d] += pad;
    }
    return b;
}

static int box_ok(const abut_box *b)
{
    int ok = 1;
    for (int d = 0; d < 3; d++) ok &= b->lo[d] >= -DBL_MAX && b->lo[d] <= b->hi[d] && b->hi[d] <= DBL_MAX;
    return ok;
}

static abut_status items_check(const abut_items *s, const char *side, abut_err *err)
{
    if (s->n > INT32_MAX) return abut_fail(err, ABUT_E_ARG, "pair search: %zu items in %s, at most %d", s->n, side, INT32_MAX);
    size_t bad = s->n;
    #pragma omp parallel for schedule(static) reduction(min : bad) if (s->n >= 8 * ABUT_PAR_MIN)
    for (size_t i = 0; i < s->n; i++)
        if (!box_ok(&s->box[i]) && i < bad) bad = i;
    if (bad == s->n) return ABUT_OK;
    const abut_box *b = &s->box[bad];
    return abut_fail(err, ABUT_E_GEOM,
                     "pair search: item %zu of %s (vertex %d) has the box [%g %g %g, %g %g %g], want finite, lo <= hi", bad, side,
                     (int)s->vert[bad * (size_t)s->k], b->lo[0], b->lo[1], b->lo[2], b->hi[0], b->hi[1], b->hi[2]);
}

/* ---- trees ---- */

static void join_bound(bound *a, const bound *b)
{
    a->box = abut_box_join(a->box, &b->box);
    a->still &= b->still;
}

static size_t pack_end(const tree *t, size_t p)
{
    const size_t end = (p + 1) * ABUT_PACK;
    return end < t->shape.n ? end : t->shape.n;
}

static void bound_packs(const abut_items *s, tree *t)
{
    #pragma omp parallel for schedule(static) if (s->n >= ABUT_PAR_MIN)
    for (size_t p = 0; p < t->shape.n_pack; p++)
        for (size_t k = p * ABUT_PACK; k < pack_end(t, p); k++) {
            const int32_t i = t->shape.item[p][k % ABUT_PACK];
            const bound one = { s->box[i], s->still && s->still[i] };
            t->box[k] = one.box;
            if (k % ABUT_PACK) join_bound(&t->pack[p], &one);
            else t->pack[p] = one;
        }
}

static void bound_nodes(tree *t)
{
    const bound *below = t->pack;
    size_t n_below = t->shape.n_pack;
    for (int l = 0; l < t->shape.n_level; l++) {
        bound *const here = t->node + t->shape.level[l];
        for (size_t c = 0; c < n_below; c++) {
            if (c % ABUT_WIDE) join_bound(&here[c / ABUT_WIDE], &below[c]);
            else here[c / ABUT_WIDE] = below[c];
        }
        below = here;
        n_below = (n_below + ABUT_WIDE - 1) / ABUT_WIDE;
    }
}

static abut_status tree_build(const abut_items *s, tree *t, abut_err *err)
{
    abut_key *key = malloc((s->n + 1) * sizeof *key);
    t->box = malloc((s->n + 1) * sizeof *t->box);
    if (!key || !t->box) {
        free(key);
        return abut_fail(err, ABUT_E_NOMEM, "pair search: a tree over %zu items", s->n);
    }
    for (size_t i = 0; i < s->n; i++) {
        const abut_box *b = &s->box[i];
        key[i] = (abut_key){ { (float)(0.5 * b->lo[0] + 0.5 * b->hi[0]), (float)(0.5 * b->lo[1] + 0.5 * b->hi[1]),
                               (float)(0.5 * b->lo[2] + 0.5 * b->hi[2]) }, (int32_t)i };
    }
    const abut_status rc = abut_tree_shape_build(key, s->n, &t->shape, err);
    free(key);
    if (rc) return rc;
    t->pack = malloc((t->shape.n_pack + 1) * sizeof *t->pack);
    t->node = malloc((t->shape.n_node + 1) * sizeof *t->node);
    if (!t->pack || !t->node) return abut_fail(err, ABUT_E_NOMEM, "pair search: a tree over %zu items", s->n);
    bound_packs(s, t);
    bound_nodes(t);
    return ABUT_OK;
}

static void tree_clear(tree *t)
{
    abut_tree_shape_clear(&t->shape);
    free(t->box);
    free(t->pack);
    free(t->node);
}

/* ---- pairs ---- */

static int share_a_vertex(const abut_items *a, int32_t i, const abut_items *b, int32_t j)
{
    const int32_t *p = a->vert + (size_t)i * (size_t)a->k, *q = b->vert + (size_t)j * (size_t)b->k;
    for (int k = 0; k < a->k; k++)
        for (int l = 0; l < b->k; l++)
            if (p[k] == q[l]) return 1;
    return 0;
}

static void keep(finds *f, int32_t i, int32_t j)
{
    if (f->n == f->cap) {
        const size_t cap = 2 * f->cap + 1024;
        void *more = f->full ? NULL : realloc(f->ij, cap * sizeof *f->ij);
        if (!more) {
            f->full = 1;
            return;
        }
        f->ij = more;
        f->cap = cap;
    }
    f->ij[f->n][0] = i;
    f->ij[f->n++][1] = j;
}

/* Two sets and their trees, or one of each twice. */
typedef struct search {
    const abut_items *a, *b;
    const tree *ta, *tb;
} search;

/* the pairs of pack p of a and pack q of b */
static void meet(const search *s, size_t p, size_t q, finds *f)
{
    const int self = s->a == s->b;
    size_t near[ABUT_PACK], n = 0;      /* items of q whose boxes overlap that of p */
    for (size_t l = q * ABUT_PACK; l < pack_end(s->tb, q); l++)
        if (abut_box_overlap(&s->ta->pack[p].box, &s->tb->box[l])) near[n++] = l;
    for (size_t k = p * ABUT_PACK; n && k < pack_end(s->ta, p); k++) {
        const abut_box *const box = &s->ta->box[k];
        const int32_t i = s->ta->shape.item[p][k % ABUT_PACK];
        if (!abut_box_overlap(box, &s->tb->pack[q].box)) continue;
        for (size_t m = 0; m < n; m++) {
            const size_t l = near[m];
            if ((self && l <= k) || !abut_box_overlap(box, &s->tb->box[l])) continue;
            const int32_t j = s->tb->shape.item[q][l % ABUT_PACK];
            if ((s->a->still && s->b->still && s->a->still[i] && s->b->still[j]) || share_a_vertex(s->a, i, s->b, j)) continue;
            if (self && j < i) keep(f, j, i);
            else keep(f, i, j);
        }
    }
}

/* the pairs of pack p of a with items below node i of a level of b; in one set, with packs from p on */
static void descend(const search *s, size_t p, int level, size_t i, finds *f)
{
    const abut_tree_shape *const shape = &s->tb->shape;
    const bound *const below = level ? s->tb->node + shape->level[level - 1] : s->tb->pack;
    const size_t n_below = level ? shape->level[level] - shape->level[level - 1] : shape->n_pack;
    const bound *const own = &s->ta->pack[p];
    for (size_t c = ABUT_WIDE * i; c < ABUT_WIDE * (i + 1) && c < n_below; c++) {
        if ((s->a == s->b && c < p >> 3 * level) || (own->still & below[c].still)) continue;
        if (!abut_box_overlap(&own->box, &below[c].box)) continue;
        if (level) descend(s, p, level - 1, c, f);
        else meet(s, p, c, f);
    }
}

/* to[]: the pairs of from[n] sorted by their number `side`, stable; first[n_items + 1] is scratch */
static void sort_by(int side, int32_t (*from)[2], size_t n, int32_t (*to)[2], size_t *first, size_t n_items)
{
    memset(first, 0, (n_items + 1) * sizeof *first);
    for (size_t k = 0; k < n; k++) first[from[k][side] + 1]++;
    for (size_t i = 1; i <= n_items; i++) first[i] += first[i - 1];
    for (size_t k = 0; k < n; k++) memcpy(to[first[from[k][side]]++], from[k], sizeof *to);
}

/* the lists of all threads, sorted by (i, j) */
static abut_status join(size_t na, size_t nb, const finds *f, int threads, abut_pair_list *out, abut_err *err)
{
    size_t total = 0, full = 0;
    for (int t = 0; t < threads; t++) total += f[t].n, full += (size_t)f[t].full;
    size_t *first = malloc(((na > nb ? na : nb) + 2) * sizeof *first);
    int32_t (*mixed)[2] = malloc((total + 1) * sizeof *mixed);
    abut_status rc = first && mixed && !full ? abut_pair_list_reserve(out, total, err)
                                             : abut_fail(err, ABUT_E_NOMEM, "pair search: more than %zu pairs", total);
    if (!rc) {
        for (int t = 0; t < threads; out->n += f[t++].n)
            if (f[t].n) memcpy(out->ij + out->n, f[t].ij, f[t].n * sizeof *out->ij);
        sort_by(1, out->ij, total, mixed, first, nb);
        sort_by(0, mixed, total, out->ij, first, na);
    }
    free(first);
    free(mixed);
    return rc;
}

abut_status abut_bvh_pairs(const abut_items *a, const abut_items *b, abut_pair_list *out, abut_err *err)
{
    assert(out);
    tree ta = { 0 }, tb = { 0 };
    const search s = { a, b, &ta, b == a ? &ta : &tb };
    out->n = 0;
    abut_status rc = items_check(a, "the first set", err);
    if (!rc && b != a) rc = items_check(b, "the second set", err);
    if (!rc) rc = tree_build(a, &ta, err);
    if (!rc && b != a) rc = tree_build(b, &tb, err);
    const int threads = omp_get_max_threads();
    finds *f = rc ? NULL : calloc((size_t)threads, sizeof *f);
    if (!rc && !f) rc = abut_fail(err, ABUT_E_NOMEM, "pair search: lists of %d threads", threads);
    #pragma omp parallel for schedule(dynamic, 16) if (a->n >= ABUT_PAR_MIN)
    for (size_t p = 0; p < (rc || !b->n ? 0 : ta.shape.n_pack); p++)
        descend(&s, p, s.tb->shape.n_level - 1, 0, &f[omp_get_thread_num()]);
    if (!rc) rc = join(a->n, b->n, f, threads, out, err);
    for (int t = 0; f && t < threads; t++) free(f[t].ij);
    free(f);
    tree_clear(&ta);
    tree_clear(&tb);
    return rc;
}

abut_status abut_pair_list_reserve(abut_pair_list *list, size_t n, abut_err *err)
{
    assert(list);
    if (n <= list->cap) return ABUT_OK;
    free(list->ij);
    /* a little more than needed: the next call of a simulation finds about as many */
    const size_t cap = n + n / 8;
    *list = (abut_pair_list){ malloc(cap * sizeof *list->ij), 0, 0 };
    if (!list->ij) return abut_fail(err, ABUT_E_NOMEM, "pair search: no memory for %zu pairs", n);
    list->cap = cap;
    return ABUT_OK;
}

void abut_pair_list_clear(abut_pair_list *list)
{
    free(list->ij);
    *list = (abut_pair_list){ 0 };
}

/* ---- the shape of a tree ---- */

#define TASK_ITEMS ((size_t)4096)   /* smaller ranges are not worth a task */
#define SAMPLE ((size_t)16)         /* keys that choose the axis of a split */
#define PIVOTS 16                   /* keys that choose the pivot of a selection */

/* Axis along which the centres spread most, judged by a sample of them. */
static int widest_axis(const abut_key *k, size_t n)
{
    float lo[3] = { INFINITY, INFINITY, INFINITY }, hi[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (size_t i = 0; i < n; i += n / SAMPLE + 1)
        for (int d = 0; d < 3; d++) {
            lo[d] = k[i].c[d] < lo[d] ? k[i].c[d] : lo[d];
            hi[d] = k[i].c[d] > hi[d] ? k[i].c[d] : hi[d];
        }
    int axis = 0;
    for (int d = 1; d < 3; d++)
        if (hi[d] - lo[d] > hi[axis] - lo[axis]) axis = d;
    return axis;
}

/* A value about which `want` of the n keys should lie: that rank of a random sample. */
static float pivot(const abut_key *k, size_t n, size_t want, int axis, abut_rng *rng)
{
    float v[PIVOTS];
    const size_t m = n < 32 * PIVOTS ? 3 : PIVOTS;
    for (size_t i = 0; i < m; i++) {
        const float c = k[abut_rng_below(rng, (uint32_t)n)].c[axis];
        size_t j = i;
        for (; j > 0 && v[j - 1] > c; j--) v[j] = v[j - 1];
        v[j] = c;
    }
    return v[want * m / n];
}

/* Reorders so that no key before `nth` is larger and none after it is smaller (Hoare's selection).  The samples have a
 * fixed seed: linear time for every order of the input, and the same result each time. */
static void select_nth(abut_key *k, size_t n, size_t nth, int axis)
{
    abut_rng rng = { n };
    ptrdiff_t lo = 0, hi = (ptrdiff_t)n - 1, want = (ptrdiff_t)nth;
    while (lo < hi) {
        const float p = pivot(k + lo, (size_t)(hi - lo + 1), (size_t)(want - lo), axis, &rng);
        ptrdiff_t i = lo, j = hi;
        while (i <= j) {
            while (k[i].c[axis] < p) i++;
            while (k[j].c[axis] > p) j--;
            if (i <= j) {
                const abut_key t = k[i];
                k[i++] = k[j];
                k[j--] = t;
            }
        }
        if (want <= j) hi = j;
        else if (want >= i) lo = i;
        else return;
    }
}

/* The left part takes the largest power of two of packs, so that 8 neighbours always are one subtree. */
static void order(abut_key *k, size_t n)
{
    while (n > ABUT_PACK) {
        const size_t packs = (n + ABUT_PACK - 1) / ABUT_PACK;
        size_t left = 1;
        while (2 * left < packs) left *= 2;
        const size_t cut = left * ABUT_PACK;
        select_nth(k, n, cut, widest_axis(k, n));
        #pragma omp task if (cut > TASK_ITEMS)
        order(k, cut);
        k += cut;
        n -= cut;
    }
}

static void levels_plan(abut_tree_shape *p)
{
    size_t children = p->n_pack;
    do {
        p->level[p->n_level++] = p->n_node;
        children = (children + ABUT_WIDE - 1) / ABUT_WIDE;
        p->n_node += children;
    } while (children > 1);
}

abut_status abut_tree_shape_build(abut_key *k, size_t n, abut_tree_shape *out, abut_err *err)
{
    abut_tree_shape *p = out;
    *p = (abut_tree_shape){ .n = n, .n_pack = (n + ABUT_PACK - 1) / ABUT_PACK };
    if (!n) return ABUT_OK;
    levels_plan(p);
    p->item = malloc(p->n_pack * sizeof *p->item);
    if (!p->item) return abut_fail(err, ABUT_E_NOMEM, "packs: no memory for %zu items", n);
    #pragma omp parallel if (n >= ABUT_PAR_MIN)
    {
        #pragma omp single
        order(k, n);
        #pragma omp for schedule(static)
        for (size_t i = 0; i < p->n_pack * ABUT_PACK; i++) p->item[i / ABUT_PACK][i % ABUT_PACK] = i < n ? k[i].id : -1;
    }
    return ABUT_OK;
}

void abut_tree_shape_clear(abut_tree_shape *p)
{
    free(p->item);
    *p = (abut_tree_shape){ 0 };
}

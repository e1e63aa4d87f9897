#include "geom/broad_tree.h"

#include "base/arena.h"
#include "base/fn.h"

#include <assert.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#define STACK ((ABUT_WIDE - 1) * ABUT_PACK_LEVELS + 1)
#define LONG_ROW 32
#define BATCH 64            /* pairs judged side by side */

/* Large items first: they are the longest work. */
static const int order[ABUT_SORTS] = { ABUT_MOVING_LARGE, ABUT_STILL_LARGE, ABUT_MOVING, ABUT_STILL };

/* ---- one pack against a tree ---- */

/* Pairs that boxes do not keep apart, to be judged side by side: their vertices, the first primitive's and the second one's. */
struct batch {
    size_t n;
    int32_t item[2][BATCH], v[4][BATCH];
    float span2[BATCH];
};
/* Pairs that one thread found. */
struct finds {
    int32_t (*ij)[2];
    size_t n, cap;
    int full;           /* no memory */
    int over;           /* beyond the budget */
    struct batch open;
};

struct search {
    const abut_broad_phase *s;
    const abut_prims *a, *b;
    const abut_broad_trees *fa, *fb;
    float times2;       /* TIMES^2, rounded up by more than the rounding of squares; +inf: relative motions are unknown */
    double times;
};

static const uint32_t lane_bit[ABUT_PACK] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768 };

/* Bits of the w lanes that may come close to q: for boxes of boxes. */
INLINE uint32_t lanes_meet(const float *restrict f, size_t w, const float *restrict q, float times2)
{
    uint32_t bits = 0;
    #pragma omp simd reduction(|:bits)
    for (size_t l = 0; l < w; l++) {
        const float gap2 = abut_broad_gap2(f, w, l, q), span2 = abut_broad_span2(f, w, l, q);
        const int hit = abut_broad_paths_meet(f, w, l, q) & ABUT_BROAD_MASK(!abut_broad_far(gap2, span2, times2));
        bits |= (uint32_t)hit & lane_bit[l];
    }
    return bits;
}

/* Lanes of a pack with their signs changed, to compare with rows of other packs. */
typedef float pack_queries[ABUT_PACK][ABUT_ROWS];
INLINE void queries_fill(const struct pack *p, pack_queries query)
{
    for (size_t r = 0; r < ABUT_ROWS; r++)
        for (size_t l = 0; l < ABUT_PACK; l++) query[l][r] = -p->f[r][l];
}

/* Returns a bit for each lane of b that may come close to q; span2: squared motion of each lane relative to q. */
INLINE uint32_t lanes_approach(const struct pack *b, const float *restrict q, float times2, float span2[ABUT_PACK])
{
    uint32_t bits = 0;
    #pragma omp simd reduction(|:bits)
    for (size_t l = 0; l < ABUT_PACK; l++) {
        span2[l] = abut_broad_span2(b->f[0], ABUT_PACK, l, q);
        const float gap2 = abut_broad_gap2(b->f[0], ABUT_PACK, l, q);
        bits |= (uint32_t)ABUT_BROAD_MASK(!abut_broad_far(gap2, span2[l], times2)) & lane_bit[l];
    }
    return bits;
}

/* Bits of the lanes of b that have no vertex of v[ka] and meet q in their motion. */
INLINE uint32_t lanes_overlap(const struct pack *b, int kb, const float *restrict q, const int32_t *v, int ka)
{
    uint32_t bits = 0;
    #pragma omp simd reduction(|:bits)
    for (size_t l = 0; l < ABUT_PACK; l++) {
        int other = ABUT_BROAD_MASK(v[0] != b->vert[0][l]);
        if (kb > 1) other &= ABUT_BROAD_MASK(v[0] != b->vert[1][l]);
        if (kb > 2) other &= ABUT_BROAD_MASK(v[0] != b->vert[2][l]);
        if (ka > 1) other &= ABUT_BROAD_MASK(v[1] != b->vert[0][l]) & ABUT_BROAD_MASK(v[1] != b->vert[1][l]);
        bits |= (uint32_t)(abut_broad_paths_meet(b->f[0], ABUT_PACK, l, q) & other) & lane_bit[l];
    }
    return bits;
}

static int finds_reserve(struct finds *f, size_t more)
{
    f->full |= !ABUT_GROW(f->ij, f->n + more, f->cap);
    return !f->full;
}

/* far[k]: the slab separates pair k by its relative motion and by the reach. */
INLINE void batch_judge(const struct search *s, const struct batch *b, int ka, int kb, int64_t far[BATCH])
{
    const abut_motion *m = &s->s->m;
    const double reach = m->reach, rounding = s->s->rounding, times = s->times;
    double p[4][3][BATCH], xi[BATCH];
    for (int i = 0; i < ka + kb; i++)
        for (size_t k = 0; k < b->n; k++) {
            const double *y = m->y0 + 3 * (size_t)b->v[i][k];
            p[i][0][k] = y[0], p[i][1][k] = y[1], p[i][2][k] = y[2];
        }
    for (size_t k = 0; k < b->n; k++) xi[k] = m->xi ? 0.5 * (m->xi[b->v[0][k]] + m->xi[b->v[ka][k]]) : 0;
    #pragma omp simd
    for (size_t k = 0; k < b->n; k++) {
        const double need = abut_broad_need(reach, xi[k], rounding, times, b->span2[k]);
        far[k] = abut_broad_apart(abut_broad_slab(ka, kb, &p[0][0][0], BATCH, k), need);
    }
}

/* Judges what is open. */
INLINE void batch_close(const struct search *s, int ka, int kb, struct finds *f)
{
    int64_t far[BATCH];
    struct batch *b = &f->open;
    const size_t before = f->n;
    if (f->over || !finds_reserve(f, b->n)) {
        b->n = 0;
        return;
    }
    batch_judge(s, b, ka, kb, far);
    for (size_t k = 0; k < b->n; k++) {
        const int32_t i = b->item[0][k], j = b->item[1][k];
        const int swaps = s->a == s->b && j < i;
        f->ij[f->n][0] = swaps ? j : i;
        f->ij[f->n][1] = swaps ? i : j;
        f->n += !far[k];
    }
    b->n = 0;
    abut_pair_budget *budget = s->s->m.budget;
    if (budget) f->over = atomic_fetch_add(&budget->n, f->n - before) + (f->n - before) > budget->most;
}

/* 1: the boxes of the places of pair k, of ka and kb vertices, are `apart`. */
static int places_apart(const abut_quiet *q, const struct batch *b, size_t k, int ka, int kb)
{
    for (int d = 0; d < 2; d++) {
        float low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY };
        for (int i = 0; i < ka + kb; i++) {
            const float at = q->place[b->v[i][k]][d];
            low[i >= ka] = at < low[i >= ka] ? at : low[i >= ka];
            high[i >= ka] = at > high[i >= ka] ? at : high[i >= ka];
        }
        if (low[0] - high[1] > q->apart || low[1] - high[0] > q->apart) return 1;
    }
    return 0;
}

/* Lane l of pack a, whose query is q, against the lanes `of` of b.  near: pairs alone whose places are not apart. */
INLINE void lane_pairs(const struct search *s, const struct pack *a, int ka, int l, const float *q, const struct pack *b, int kb,
                       uint32_t of, int near, struct finds *f)
{
    const int32_t v[2] = { a->vert[0][l], a->vert[1][l] };
    struct batch *o = &f->open;
    float span2[ABUT_PACK];
    uint32_t bits = lanes_overlap(b, kb, q, v, ka) & of;
    if (bits) bits &= lanes_approach(b, q, s->times2, span2);
    if (!bits) return;
    if (o->n + ABUT_PACK > BATCH) batch_close(s, ka, kb, f);
    for (; bits; bits &= bits - 1) {
        const int k = __builtin_ctz(bits);
        if (b->item[k] < 0) continue;       /* an unused lane, met by boxes that are infinite in floats */
        o->item[0][o->n] = a->item[l];
        o->item[1][o->n] = b->item[k];
        for (int d = 0; d < ka; d++) o->v[d][o->n] = v[d];
        for (int d = 0; d < kb; d++) o->v[ka + d][o->n] = b->vert[d][k];
        o->span2[o->n] = span2[k];
        o->n += !near || !places_apart(s->s->m.quiet, o, o->n, ka, kb);
    }
}

#define ALL_LANES ((1u << ABUT_PACK) - 1)

/* The lanes of two packs that are to be searched against all of the other: all, or, and then 1, what is kept of a certified
 * square. */
static int packs_quiet(const abut_quiet *q, const struct pack_cells *a, const struct pack_cells *b, uint32_t lanes[2])
{
    int32_t low[2], size = 0, gap = 0;
    lanes[0] = lanes[1] = ALL_LANES;
    const int whole = a->part >= 0 && a->part == b->part && q->whole[a->part];
    if (a->low[0] < 0 || b->low[0] < 0) return 0;
    for (int d = 0; d < 2; d++) {
        low[d] = a->low[d] < b->low[d] ? a->low[d] : b->low[d];
        const int32_t of = (a->high[d] > b->high[d] ? a->high[d] : b->high[d]) - low[d] + 1;
        size = of > size ? of : size;
        const int32_t up = b->low[d] - a->high[d], down = a->low[d] - b->high[d];
        gap = up > gap ? up : gap, gap = down > gap ? down : gap;
    }
    if (!whole && size > q->side[low[1] * (size_t)q->columns + (size_t)low[0]]) return 0;
    lanes[0] = gap > 2 ? 0 : a->kept, lanes[1] = gap > 2 ? 0 : b->kept;
    return 1;
}

/* 1: pack a has no pair with the packs below node b, because their part is certified as a whole. */
static int node_quiet(const abut_quiet *q, const struct pack_cells *a, const struct pack_cells *b)
{
    uint32_t lanes[2];
    return a->part >= 0 && a->part == b->part && q->whole[a->part] && packs_quiet(q, a, b, lanes) && !(lanes[0] | lanes[1]);
}

/* lanes: of a against all of b, and of b against all of a; near as in lane_pairs. */
INLINE void packs_of_kind(const struct search *s, const struct pack *a, int ka, pack_queries qa, const struct pack *b, int kb,
                          const float *query_b, const uint32_t lanes[2], int near, struct finds *f)
{
    uint32_t bits = lanes_meet(a->f[0], ABUT_PACK, query_b, s->times2);
    for (bits &= lanes[1] ? ALL_LANES : lanes[0]; bits; bits &= bits - 1) {
        const int l = __builtin_ctz(bits);
        if (a->item[l] < 0) continue;       /* no item: the pack is not full */
        const uint32_t of = lanes[0] >> l & 1 ? ALL_LANES : lanes[1];
        lane_pairs(s, a, ka, l, qa[l], b, kb, a == b ? of & ~((2u << l) - 1) : of, near, f);
    }
}

/* All pairs of two packs; of one pack with itself each once.  qa is filled if *filled. */
INLINE void packs_pairs(const struct search *s, const struct tree *ta, size_t p, pack_queries qa, int *filled,
                        const struct tree *tb, size_t q, struct finds *f)
{
    const struct pack *a = &ta->pack[p], *b = &tb->pack[q];
    const float *query_b = tb->query[q];
    uint32_t lanes[2] = { ALL_LANES, ALL_LANES };
    const int near = s->s->m.quiet && ta->cells && tb->cells && packs_quiet(s->s->m.quiet, &ta->cells[p], &tb->cells[q], lanes);
    if (!(lanes[0] | lanes[1])) return;
    if (!*filled) queries_fill(a, qa), *filled = 1;
    if (s->a->k == 2) packs_of_kind(s, a, 2, qa, b, 2, query_b, lanes, near, f);
    else if (s->b->k == 3) packs_of_kind(s, a, 1, qa, b, 3, query_b, lanes, 0, f);
    else if (s->b->k == 2) packs_of_kind(s, a, 1, qa, b, 2, query_b, lanes, 0, f);
    else packs_of_kind(s, a, 1, qa, b, 1, query_b, lanes, 0, f);
}

/* Pack p of tree ta against the packs of tb from the first-th on. */
ABUT_SIMD
static void pack_search(const struct search *s, const struct tree *ta, size_t p, const struct tree *tb, size_t first,
                        struct finds *f)
{
    struct { size_t node; int level; } stack[STACK];
    const abut_quiet *quiet = ta->cells && tb->cells ? s->s->m.quiet : NULL;
    pack_queries queries;
    int depth = 0, filled = 0;
    if (!tb->packs.n) return;
    stack[depth].node = 0;
    stack[depth++].level = tb->packs.n_level - 1;
    while (depth) {
        const size_t node = stack[--depth].node;
        const int level = stack[depth].level;
        if (quiet && node_quiet(quiet, &ta->cells[p], &tb->cells[tb->packs.n_pack + tb->packs.level[level] + node])) continue;
        uint32_t bits = lanes_meet(tb->node[tb->packs.level[level] + node].f[0], ABUT_WIDE, ta->query[p], s->times2);
        for (; bits; bits &= bits - 1) {
            const size_t child = ABUT_WIDE * node + (size_t)__builtin_ctz(bits);
            /* all its packs come before the first one, or none is below it */
            if (((child + 1) << 3 * level) <= first || child << 3 * level >= tb->packs.n_pack) continue;
            if (level) {
                stack[depth].node = child;
                stack[depth++].level = level - 1;
            } else {
                packs_pairs(s, ta, p, queries, &filled, tb, child, f);
            }
        }
    }
}

/* ---- all packs, then one list ---- */

ABUT_SIMD
static void finds_close(const struct search *s, struct finds *f)
{
    if (s->a->k == 2) batch_close(s, 2, 2, f);
    else if (s->b->k == 3) batch_close(s, 1, 3, f);
    else if (s->b->k == 2) batch_close(s, 1, 2, f);
    else batch_close(s, 1, 1, f);
}

static int is_over(const abut_broad_phase *s)
{
    abut_pair_budget *budget = s->m.budget;
    return budget && atomic_load(&budget->n) > budget->most;
}

/* Packs go to the ranks in turn: neighbours, which have many pairs at contacts, go to different ranks. */
static int is_ours(const abut_ranks *r, size_t p)
{
    return !r || p % (size_t)r->size == (size_t)r->rank;
}

/* The packs by which ranks divide the search are the same for all. */
static abut_status packs_agree(const struct search *s, abut_err *err)
{
    uint64_t mark = 0;
    if (!s->s->m.ranks) return ABUT_OK;
    for (int u = 0; u < ABUT_SORTS; u++) {
        const struct tree *t = &s->fa->tree[u];
        for (size_t p = 0; p < t->packs.n_pack; p++) mark = abut_ranks_mark(mark, t->pack[p].item, sizeof t->pack[p].item);
        mark = abut_ranks_mark(mark, &t->packs.n_pack, sizeof t->packs.n_pack);
    }
    return abut_ranks_agree(s->s->m.ranks, mark, "a search tree", err);
}

static void thread_search(const struct search *s, struct finds *f)
{
    const int self = s->a == s->b;
    for (int u = 0; u < ABUT_SORTS; u++) {
        const int q = order[u];
        const struct tree *ta = &s->fa->tree[q];
        #pragma omp for schedule(dynamic, 4) nowait
        for (size_t p = 0; p < ta->packs.n_pack; p++)
            for (int w = self ? u : 0; w < ABUT_SORTS && !f->full && !is_over(s->s); w++)
                if ((q < ABUT_STILL || order[w] < ABUT_STILL) && is_ours(s->s->m.ranks, p))
                    pack_search(s, ta, p, &s->fb->tree[order[w]], self && w == u ? p : 0, f);
    }
    finds_close(s, f);
}

static int compare_seconds(const void *p, const void *q)
{
    const int32_t a = ((const int32_t *)p)[1], b = ((const int32_t *)q)[1];
    return (a > b) - (a < b);
}

static void row_sort(int32_t (*ij)[2], size_t n)
{
    if (n > LONG_ROW) {
        qsort(ij, n, sizeof *ij, compare_seconds);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        const int32_t first = ij[i][0], key = ij[i][1];
        size_t k = i;
        for (; k > 0 && ij[k - 1][1] > key; k--) ij[k][1] = ij[k - 1][1];
        ij[k][0] = first, ij[k][1] = key;
    }
}

/* Counts the pairs found for the rows [lo, hi). */
static void rows_count(const struct finds *f, int threads, size_t lo, size_t hi, size_t *count)
{
    for (int t = 0; t < threads; t++)
        for (size_t k = 0; k < f[t].n; k++) {
            const size_t i = (size_t)f[t].ij[k][0];
            if (i >= lo && i < hi) count[i]++;
        }
}

/* Scatters it, and sorts each row; place[i] comes as the start of row i and leaves as its end. */
static void rows_fill(const struct finds *f, int threads, size_t lo, size_t hi, size_t *place, int32_t (*ij)[2])
{
    size_t start = lo < hi ? place[lo] : 0;
    for (int t = 0; t < threads; t++)
        for (size_t k = 0; k < f[t].n; k++) {
            const size_t i = (size_t)f[t].ij[k][0];
            if (i >= lo && i < hi) memcpy(ij[place[i]++], f[t].ij[k], sizeof *ij);
        }
    for (size_t i = lo; i < hi; i++) {
        row_sort(ij + start, place[i] - start);
        start = place[i];
    }
}

static void to_starts(size_t *count, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t one = count[i];
        count[i] = sum;
        sum += one;
    }
}

static abut_status join(const struct search *s, const struct finds *f, int threads, abut_pair_list *out, abut_err *err)
{
    const size_t n = s->a->n;
    size_t total = 0;
    for (int t = 0; t < threads; t++) {
        if (f[t].full) return abut_fail(err, ABUT_E_NOMEM, "pair search: no memory, after %zu pairs of one thread", f[t].n);
        total += f[t].n;
    }
    if (!total || is_over(s->s)) return ABUT_OK;
    const abut_status rc = abut_pair_list_reserve(out, total, err);
    if (rc) return rc;
    size_t *place = calloc(n, sizeof *place);
    if (!place) return abut_fail(err, ABUT_E_NOMEM, "pair search: no memory for %zu items", n);
    #pragma omp parallel num_threads(threads) if (total >= ABUT_PAR_MIN)
    {
        const size_t all = (size_t)omp_get_num_threads(), t = (size_t)omp_get_thread_num();
        const size_t lo = n * t / all, hi = n * (t + 1) / all;
        rows_count(f, threads, lo, hi, place);
        #pragma omp barrier
        #pragma omp single
        to_starts(place, n);
        rows_fill(f, threads, lo, hi, place, out->ij);
    }
    out->n = total;
    free(place);
    return ABUT_OK;
}

static abut_status search_run(const struct search *s, abut_pair_list *out, abut_err *err)
{
    const int threads = s->a->n + s->b->n >= ABUT_PAR_MIN ? abut_threads() : 1;
    struct finds *f = calloc((size_t)threads, sizeof *f);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "pair search: no memory");
    #pragma omp parallel num_threads(threads)
    thread_search(s, &f[omp_get_thread_num()]);
    const abut_status rc = join(s, f, threads, out, err);
    for (int t = 0; t < threads; t++) free(f[t].ij);
    free(f);
    return rc;
}

abut_status abut_broad_pairs(const abut_broad_phase *s, const abut_prims *a, abut_broad_trees **ta, const abut_prims *b,
                                abut_broad_trees **tb, abut_pair_list *out, abut_err *err)
{
    assert(out);
    out->n = 0;
    if (!a->n || !b->n || is_over(s)) return ABUT_OK;
    abut_status rc = abut_broad_trees_of(s, a, ta, err);
    if (!rc && a != b) rc = abut_broad_trees_of(s, b, tb, err);
    if (rc) return rc;
    const double times = s->m.anywhere ? INFINITY : ABUT_BROAD_TIMES;
    const struct search run = { .s = s, .a = a, .b = b, .fa = *ta, .fb = a == b ? *ta : *tb, .times = abut_broad_times(times),
                                .times2 = abut_broad_times2(times) };
    rc = packs_agree(&run, err);
    return rc ? rc : search_run(&run, out, err);
}

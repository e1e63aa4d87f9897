#include "geom/bvh.h"

#include "base/par.h"
#include "base/simd.h"
#include "geom/boxtree.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 1024          /* candidates tested at a time, enough for nearly every pack; their boxes stay in the second cache */
#define LARGE 16            /* an item is large when its extent is beyond this many times the usual one */
#define SAMPLE ((size_t)127)

/* Items of four sorts get trees of their own.  Large ones would spoil the packs of small ones, as boxes and as queries;
 * still ones are never searched against still ones. */
enum { MOVING = 0, MOVING_LARGE, STILL, STILL_LARGE, N_SORT };

struct trees {
    abut_boxtree tree[N_SORT];
};

/* What one thread found: second indices, item after item. */
struct finds {
    int32_t *j;
    size_t n, cap;
    int full;           /* no memory */
    int counting;       /* beyond the limit: nothing is kept any more */
};

/* Where the pairs of one item of a lie. */
struct spot {
    size_t at;
    int32_t n, thread;
};

/* One thread's room: the candidates of a pack of queries, and a chunk of their boxes side by side. */
struct room {
    abut_found found;
    int32_t *id;
    size_t n;
    double lo[3][CHUNK], hi[3][CHUNK];
    int32_t hit[CHUNK];
};

struct search {
    const abut_items *a, *b;
    const struct trees *fa, *fb;
    size_t max_pairs;
    struct spot *spot;      /* [a->n] */
};

/* ---- boxes ---- */

abut_box abut_box_points(const double *x0, const double *x1, const int32_t *idx, int k, double r)
{
    abut_box b = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    double nan = 0;     /* what is not finite makes the whole box so: the search will name it */
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

/* ---- sorts of items ---- */

static double extent(const abut_box *b)
{
    double e = 0;
    for (int d = 0; d < 3; d++) e = fmax(e, b->hi[d] - b->lo[d]);
    return e;
}

static int compare_doubles(const void *p, const void *q)
{
    const double a = *(const double *)p, b = *(const double *)q;
    return (a > b) - (a < b);
}

/* LARGE times the median extent of a sample. */
static double large_extent(const abut_items *s)
{
    double e[SAMPLE];
    const size_t stride = s->n / SAMPLE + 1;
    size_t m = 0;
    for (size_t i = 0; i < s->n; i += stride) e[m++] = extent(&s->box[i]);
    qsort(e, m, sizeof *e, compare_doubles);
    return LARGE * e[m / 2];
}

static void trees_clear(struct trees *f)
{
    for (int q = 0; q < N_SORT; q++) abut_boxtree_clear(&f->tree[q]);
}

static abut_status trees_build(const abut_items *s, struct trees *out, abut_err *err)
{
    int32_t *id = malloc(s->n * sizeof *id);
    uint8_t *sort = malloc(s->n);
    abut_status rc = ABUT_OK;
    if (!id || !sort) {
        rc = abut_fail(err, ABUT_E_NOMEM, "pair search: no memory for %zu items", s->n);
        goto done;
    }
    const double large = large_extent(s);
    for (size_t i = 0; i < s->n; i++)
        sort[i] = (uint8_t)((s->still && s->still[i] ? STILL : MOVING) + (extent(&s->box[i]) > large));
    for (int q = 0; q < N_SORT && !rc; q++) {
        size_t n = 0;
        for (size_t i = 0; i < s->n; i++)
            if (sort[i] == q) id[n++] = (int32_t)i;
        rc = abut_boxtree_build(s->box, id, n, &out->tree[q], err);
    }
done:
    free(id);
    free(sort);
    return rc;
}

/* ---- one pack of queries ---- */

static int finds_reserve(struct finds *f, size_t more)
{
    if (f->full || (f->j && f->cap - f->n >= more)) return !f->full;
    const size_t cap = f->n + more + f->cap / 2 + 1;
    int32_t *grown = realloc(f->j, cap * sizeof *grown);
    if (!grown) {
        f->full = 1;
        return 0;
    }
    f->j = grown;
    f->cap = cap;
    return 1;
}

static void chunk_load(struct room *r, const abut_box *box, size_t first, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const abut_box *b = &box[r->id[first + k]];
        for (int d = 0; d < 3; d++) {
            r->lo[d][k] = b->lo[d];
            r->hi[d][k] = b->hi[d];
        }
    }
}

/* Lanes from `from` to n of the chunk that overlap q. */
ABUT_SIMD
static size_t chunk_hits(struct room *r, size_t from, size_t n, const abut_box *q)
{
    int64_t in[CHUNK];
    const double l0 = q->lo[0], l1 = q->lo[1], l2 = q->lo[2], h0 = q->hi[0], h1 = q->hi[1], h2 = q->hi[2];
    #pragma omp simd
    for (size_t k = from; k < n; k++)
        in[k] = (r->lo[0][k] <= h0) & (r->hi[0][k] >= l0) & (r->lo[1][k] <= h1) & (r->hi[1][k] >= l1) &
                (r->lo[2][k] <= h2) & (r->hi[2][k] >= l2);
    size_t m = 0;
    for (size_t k = from; k < n; k++) {
        r->hit[m] = (int32_t)k;
        m += (size_t)in[k];
    }
    return m;
}

static inline int vertex_shared(const int32_t *va, int ka, const int32_t *vb, int kb)
{
    int same = 0;
    for (int i = 0; i < ka; i++)
        for (int j = 0; j < kb; j++) same |= va[i] == vb[j];
    return same;
}

/* Copies the hits that share no vertex to j[]; returns how many. */
static inline size_t hits_keep(const struct room *r, const int32_t *id, size_t n, const int32_t *va, int ka,
                               const int32_t *vert, int kb, int32_t *j)
{
    size_t m = 0;
    for (size_t h = 0; h < n; h++) {
        const int32_t c = id[r->hit[h]];
        j[m] = c;
        m += !vertex_shared(va, ka, vert + (size_t)kb * (size_t)c, kb);
    }
    return m;
}

static size_t hits_filter(const struct room *r, const int32_t *id, size_t n, const abut_items *a, int32_t i,
                          const abut_items *b, int32_t *j)
{
    const int32_t *va = a->vert + (size_t)a->k * (size_t)i;
    if (a->k == 1 && b->k == 3) return hits_keep(r, id, n, va, 1, b->vert, 3, j);
    if (a->k == 2 && b->k == 2) return hits_keep(r, id, n, va, 2, b->vert, 2, j);
    if (a->k == 2 && b->k == 3) return hits_keep(r, id, n, va, 2, b->vert, 3, j);
    return hits_keep(r, id, n, va, a->k, b->vert, b->k, j);
}

/* First candidate after item i. */
static size_t candidates_after(const struct room *r, int32_t i)
{
    size_t lo = 0, hi = r->n;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (r->id[mid] <= i) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

/* The pairs of item i of a among the candidates, in their order; `loaded`: one chunk holds them all already. */
static void query(const struct search *s, struct room *r, int32_t i, int loaded, struct finds *f, struct spot *spot)
{
    const size_t from = s->a == s->b ? candidates_after(r, i) : 0;
    *spot = (struct spot){ .at = f->n };
    if (!finds_reserve(f, r->n - from)) return;
    size_t end = f->n;
    for (size_t at = loaded ? 0 : from; at < r->n; at += CHUNK) {
        const size_t n = r->n - at < CHUNK ? r->n - at : CHUNK;
        if (!loaded) chunk_load(r, s->b->box, at, n);
        const size_t m = chunk_hits(r, loaded ? from : 0, n, &s->a->box[i]);
        end += hits_filter(r, r->id + at, m, s->a, i, s->b, f->j + end);
    }
    spot->n = (int32_t)(end - f->n);
    if (s->max_pairs && end > s->max_pairs) f->counting = 1;
    if (!f->counting) f->n = end;
}

static void pack_search(const struct search *s, const abut_boxtree *tree, size_t p, int still, struct room *r,
                        struct finds *f, int thread)
{
    const abut_pack *pack = &tree->pack[p];
    const size_t left = tree->packs.n - p * ABUT_PACK;
    const int n = left < ABUT_PACK ? (int)left : ABUT_PACK;
    int32_t above = -1;
    if (s->a == s->b) {
        above = pack->item[0];
        for (int c = 1; c < n; c++) above = pack->item[c] < above ? pack->item[c] : above;
    }
    for (int q = 0; q < (still ? STILL : N_SORT); q++)
        abut_boxtree_mark(&s->fb->tree[q], &tree->bound[p], above, &r->found);
    r->n = abut_found_take(&r->found, r->id);
    const int loaded = r->n <= CHUNK;
    if (loaded) chunk_load(r, s->b->box, 0, r->n);
    for (int c = 0; c < n; c++) {
        const int32_t i = pack->item[c];
        query(s, r, i, loaded, f, &s->spot[i]);
        s->spot[i].thread = thread;
    }
}

/* ---- all packs, then one list ---- */

static void thread_search(const struct search *s, struct finds *f, int thread)
{
    struct room *r = malloc(sizeof *r);
    if (r) {
        r->id = malloc(s->b->n * sizeof *r->id);
        f->full = !abut_found_init(&r->found, s->b->n) || !r->id;
    } else {
        f->full = 1;
    }
    /* large items first: they are the longest work */
    const int turn[N_SORT] = { MOVING_LARGE, STILL_LARGE, MOVING, STILL };
    for (int q = 0; q < N_SORT; q++) {
        const abut_boxtree *tree = &s->fa->tree[turn[q]];
        #pragma omp for schedule(dynamic, 4) nowait
        for (size_t p = 0; p < tree->packs.n_pack; p++)
            if (!f->full) pack_search(s, tree, p, turn[q] >= STILL, r, f, thread);
    }
    if (r) {
        abut_found_clear(&r->found);
        free(r->id);
    }
    free(r);
}

/* Turns the spots' counts into places in the list; returns the number of pairs. */
static size_t places(const struct search *s, size_t *place)
{
    size_t total = 0;
    for (size_t i = 0; i < s->a->n; i++) {
        place[i] = total;
        total += (size_t)s->spot[i].n;
    }
    return total;
}

static abut_status join(const struct search *s, const struct finds *f, int threads, abut_pair_list *out, abut_err *err)
{
    const size_t n = s->a->n;
    for (int t = 0; t < threads; t++)
        if (f[t].full) return abut_fail(err, ABUT_E_NOMEM, "pair search: no memory, after %zu pairs of one thread", f[t].n);
    size_t *place = malloc(n * sizeof *place);
    if (!place) return abut_fail(err, ABUT_E_NOMEM, "pair search: no memory for %zu items", n);
    const size_t total = places(s, place);
    abut_status rc = ABUT_OK;
    if (s->max_pairs && total > s->max_pairs)
        rc = abut_fail(err, ABUT_E_NOMEM, "pair search: %zu pairs, at most %zu allowed", total, s->max_pairs);
    else
        rc = abut_pair_list_reserve(out, total, err);
    if (!rc) {
        #pragma omp parallel for schedule(static) if (n >= ABUT_PAR_MIN)
        for (size_t i = 0; i < n; i++) {
            const struct spot *spot = &s->spot[i];
            if (!spot->n) continue;     /* and perhaps no list at all */
            const int32_t *j = f[spot->thread].j + spot->at;
            int32_t (*ij)[2] = out->ij + place[i];
            for (int32_t k = 0; k < spot->n; k++) {
                ij[k][0] = (int32_t)i;
                ij[k][1] = j[k];
            }
        }
        out->n = total;
    }
    free(place);
    return rc;
}

static abut_status search_run(const struct search *s, abut_pair_list *out, abut_err *err)
{
    const int threads = s->a->n + s->b->n >= ABUT_PAR_MIN ? abut_threads() : 1;
    struct finds *f = calloc((size_t)threads, sizeof *f);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "pair search: no memory");
    #pragma omp parallel num_threads(threads)
    thread_search(s, &f[omp_get_thread_num()], omp_get_thread_num());
    const abut_status rc = join(s, f, threads, out, err);
    for (int t = 0; t < threads; t++) free(f[t].j);
    free(f);
    return rc;
}

abut_status abut_bvh_pairs(const abut_items *a, const abut_items *b, size_t max_pairs, abut_pair_list *out, abut_err *err)
{
    out->n = 0;
    if (!a->n || !b->n) return ABUT_OK;
    struct trees ta = { .tree = { { .node = NULL } } }, tb = ta;
    abut_status rc = items_check(a, "the first set", err);
    if (!rc && a != b) rc = items_check(b, "the second set", err);
    if (!rc) rc = trees_build(a, &ta, err);
    if (!rc && a != b) rc = trees_build(b, &tb, err);
    struct search s = { .a = a, .b = b, .fa = &ta, .fb = a == b ? &ta : &tb, .max_pairs = max_pairs };
    if (!rc) {
        s.spot = malloc(a->n * sizeof *s.spot);
        rc = s.spot ? search_run(&s, out, err) : abut_fail(err, ABUT_E_NOMEM, "pair search: no memory for %zu items", a->n);
        free(s.spot);
    }
    trees_clear(&ta);
    trees_clear(&tb);
    return rc;
}

abut_status abut_pair_list_reserve(abut_pair_list *list, size_t n, abut_err *err)
{
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

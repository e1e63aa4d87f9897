/* Boxes are dealt into strips along one axis; in each strip a sweep along another axis finds the pairs. */
#include "geom/boxes.h"

#include "base/arena.h"
#include "base/order.h"
#include "base/par.h"

#include <assert.h>
#include <float.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- strips ---- */

enum { SAMPLE = 1024,       /* centres that choose axes and strips */
       CROWDED = 3,         /* strips that a box is in, on average, at most */
       MANY = 2 };          /* strips: sqrt(n) / MANY */

/* A box of a side in a strip; its axes are turned: that of the sweep, that of the strips, the third. */
typedef struct entry {
    abut_box box;
    int32_t id, begins;     /* the first strip that the box is in */
} entry;

/* Strip s has all that meets [begin[s], begin[s + 1]); the first has all before, too. */
typedef struct strips {
    int axis, along;        /* of the strips; of the sweeps in them */
    size_t n;
    double begin[SAMPLE + 1];
} strips;

/* The entries of one side, strip after strip, each sorted along the sweep. */
typedef struct dealt {
    entry *at;
    size_t *first;          /* [n + 1] */
} dealt;

/* c: a sample of the centres along an axis, sorted; returns how many. */
static size_t sample(const abut_items *s, int axis, double c[SAMPLE])
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i += s->n / SAMPLE + 1) c[n++] = 0.5 * s->box[i].lo[axis] + 0.5 * s->box[i].hi[axis];
    qsort(c, n, sizeof *c, abut_by_double);
    return n;
}

/* The strip that a coordinate lies in. */
static size_t strip_of(const strips *g, double v)
{
    return abut_count_at_most(g->begin + 1, g->n - 1, v);
}

static size_t entries_of(const strips *g, const abut_items *s)
{
    size_t sum = 0;
    for (size_t i = 0; i < s->n; i++)
        sum += strip_of(g, s->box[i].hi[g->axis]) - strip_of(g, s->box[i].lo[g->axis]) + 1;
    return sum;
}

/* Sweeps go along the axis on which the centres of a spread most, strips divide the next one in parts of equally many centres. */
static void strips_make(const abut_items *a, const abut_items *b, strips *g)
{
    double c[SAMPLE], spread[3];
    size_t m = 0;
    for (int d = 0; d < 3; d++) {
        m = sample(a, d, c);
        spread[d] = m ? c[m - 1 - m / 4] - c[m / 4] : 0;
    }
    g->along = spread[1] > spread[0];
    if (spread[2] > spread[g->along]) g->along = 2;
    g->axis = (g->along + 1) % 3;
    if (spread[(g->along + 2) % 3] > spread[g->axis]) g->axis = (g->along + 2) % 3;
    m = sample(a, g->axis, c);
    for (size_t n = (size_t)(sqrt((double)(a->n + b->n)) / MANY) + 1;; n /= 2) {
        g->n = n < m ? n : m;
        if (g->n < 1) g->n = 1;
        for (size_t s = 0; s < g->n && m; s++) g->begin[s] = c[s * m / g->n];
        if (g->n == 1 || entries_of(g, a) + entries_of(g, b) <= CROWDED * (a->n + b->n)) return;
    }
}

static void dealt_clear(dealt *d)
{
    ABUT_FREE(d->at, d->first);
}

static abut_box turned(const strips *g, const abut_box *b)
{
    const int x = g->along, y = g->axis, z = 3 - x - y;
    return (abut_box){ { b->lo[x], b->lo[y], b->lo[z] }, { b->hi[x], b->hi[y], b->hi[z] } };
}

static abut_status deal(const strips *g, const abut_items *s, dealt *d, abut_err *err)
{
    const size_t n = entries_of(g, s);
    *d = (dealt){ malloc((n + 1) * sizeof *d->at), calloc(g->n + 2, sizeof *d->first) };
    if (!d->at || !d->first) return abut_fail(err, ABUT_E_NOMEM, "pair search: strips of %zu items", s->n);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < s->n; i++) {
            const size_t lo = strip_of(g, s->box[i].lo[g->axis]), hi = strip_of(g, s->box[i].hi[g->axis]);
            for (size_t k = lo; k <= hi; k++)
                if (pass == 0) d->first[k + 2]++;
                else d->at[d->first[k + 1]++] = (entry){ turned(g, &s->box[i]), (int32_t)i, (int32_t)lo };
        }
        for (size_t k = 0; k < g->n && pass == 0; k++) d->first[k + 2] += d->first[k + 1];
    }
    return ABUT_OK;
}

static int by_low(const void *p, const void *q)
{
    const double a = ((const entry *)p)->box.lo[0], b = ((const entry *)q)->box.lo[0];
    return (a > b) - (a < b);
}

static void sort_strip(const dealt *d, size_t strip)
{
    const size_t n = d->first[strip + 1] - d->first[strip];
    if (n) qsort(d->at + d->first[strip], n, sizeof *d->at, by_low);
}

/* ---- pairs ---- */

/* Pairs found by one thread. */
typedef struct finds {
    int32_t (*ij)[2];
    size_t n, cap;
    int full;               /* no memory */
} finds;

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
    f->full |= !ABUT_GROW(f->ij, f->n + 1, f->cap);
    if (f->full) return;
    f->ij[f->n][0] = i;
    f->ij[f->n++][1] = j;
}

/* Both sides and their entries; b == a: one side. */
typedef struct search {
    const abut_items *a, *b;
    strips strips;
    dealt da, db;
} search;

/* Keeps a pair of entries that overlap, in the strip in which their overlap begins. */
static void meet(const search *s, int32_t strip, const entry *p, const entry *q, finds *f)
{
    if (!abut_box_overlap(&p->box, &q->box) || (p->begins > q->begins ? p->begins : q->begins) != strip) return;
    if (s->a->still && s->b->still && s->a->still[p->id] && s->b->still[q->id]) return;
    if (share_a_vertex(s->a, p->id, s->b, q->id)) return;
    if (s->a == s->b && q->id < p->id) keep(f, q->id, p->id);
    else keep(f, p->id, q->id);
}

/* All pairs of a strip: each box with those that begin where it does or later, and not after its end. */
static void sweep(const search *s, int32_t strip, finds *f)
{
    const int self = s->a == s->b;
    const dealt *const db = self ? &s->da : &s->db;
    const entry *p = s->da.at + s->da.first[strip], *const p_end = s->da.at + s->da.first[strip + 1];
    const entry *q = db->at + db->first[strip], *const q_end = db->at + db->first[strip + 1];
    for (; self && p < p_end; p++)
        for (const entry *r = p + 1; r < p_end && r->box.lo[0] <= p->box.hi[0]; r++) meet(s, strip, p, r, f);
    while (!self && p < p_end && q < q_end) {
        if (p->box.lo[0] <= q->box.lo[0]) {
            for (const entry *r = q; r < q_end && r->box.lo[0] <= p->box.hi[0]; r++) meet(s, strip, p, r, f);
            p++;
        } else {
            for (const entry *r = p; r < p_end && r->box.lo[0] <= q->box.hi[0]; r++) meet(s, strip, r, q, f);
            q++;
        }
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
    ABUT_FREE(first, mixed);
    return rc;
}

abut_status abut_box_pairs(const abut_items *a, const abut_items *b, abut_pair_list *out, abut_err *err)
{
    assert(out);
    search s = { .a = a, .b = b };
    out->n = 0;
    abut_status rc = items_check(a, "the first set", err);
    if (!rc && b != a) rc = items_check(b, "the second set", err);
    if (rc || !a->n || !b->n) return rc;
    strips_make(a, b, &s.strips);
    rc = deal(&s.strips, a, &s.da, err);
    if (!rc && b != a) rc = deal(&s.strips, b, &s.db, err);
    const int threads = omp_get_max_threads();
    finds *f = rc ? NULL : calloc((size_t)threads, sizeof *f);
    if (!rc && !f) rc = abut_fail(err, ABUT_E_NOMEM, "pair search: lists of %d threads", threads);
    #pragma omp parallel for schedule(dynamic, 1) if (a->n + b->n >= ABUT_PAR_MIN)
    for (size_t k = 0; k < (rc ? 0 : s.strips.n); k++) {
        sort_strip(&s.da, k);
        if (b != a) sort_strip(&s.db, k);
        sweep(&s, (int32_t)k, &f[omp_get_thread_num()]);
    }
    if (!rc) rc = join(a->n, b->n, f, threads, out, err);
    for (int t = 0; f && t < threads; t++) free(f[t].ij);
    free(f);
    dealt_clear(&s.da);
    dealt_clear(&s.db);
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

#include "graph/dual.h"

#include "base/order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static abut_status no_memory(abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "dual graph: out of memory");
}

/* A face in the bucket of its smallest node: the other two, and its element. */
typedef struct face {
    int32_t mid, max, elem;
} face;

static int face_order(const void *pa, const void *pb)
{
    const face *a = pa, *b = pb;
    if (a->mid != b->mid) return a->mid < b->mid ? -1 : 1;
    if (a->max != b->max) return a->max < b->max ? -1 : 1;
    return (a->elem > b->elem) - (a->elem < b->elem);
}

/* The three corners of t other than k, ascending. */
static void face_nodes(const int32_t *t, int k, int32_t v[3])
{
    int m = 0;
    for (int c = 0; c < 4; c++)
        if (c != k) v[m++] = t[c];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2 - i; j++)
            if (v[j] > v[j + 1]) {
                const int32_t s = v[j];
                v[j] = v[j + 1];
                v[j + 1] = s;
            }
}

/* All faces, sorted: by smallest node with a counting sort, then inside a bucket.  first[nv + 1] is scratch. */
static void sort_faces(int32_t nv, int32_t nt, const int32_t *tet, int32_t *first, face *f)
{
    int32_t v[3];
    memset(first, 0, ((size_t)nv + 1) * sizeof *first);
    for (int32_t e = 0; e < nt; e++)
        for (int k = 0; k < 4; k++) {
            face_nodes(tet + 4 * (size_t)e, k, v);
            first[v[0] + 1]++;
        }
    for (int32_t i = 0; i < nv; i++) first[i + 1] += first[i];
    for (int32_t e = 0; e < nt; e++)
        for (int k = 0; k < 4; k++) {
            face_nodes(tet + 4 * (size_t)e, k, v);
            f[first[v[0]]++] = (face){ v[1], v[2], e };
        }
    for (int32_t i = 0, lo = 0; i < nv; i++) {
        qsort(f + lo, (size_t)(first[i] - lo), sizeof *f, face_order);
        lo = first[i];
    }
}

/* Links the elements of equal neighbours in the sorted list.  end[i]: end of the bucket of node i.  With adj NULL the
 * links are only counted, into at[e]. */
static void link_faces(int32_t nv, const int32_t *end, const face *f, int32_t *at, int32_t *adj)
{
    for (int32_t i = 0, k = 0; i < nv; i++)
        for (; k < end[i]; k++) {
            if (k + 1 == end[i] || f[k].mid != f[k + 1].mid || f[k].max != f[k + 1].max) continue;
            const int32_t a = f[k].elem, b = f[k + 1].elem;
            if (adj) {
                adj[at[a]] = b;
                adj[at[b]] = a;
            }
            at[a]++;
            at[b]++;
        }
}

abut_status abut_dual_make(abut_dual *d, int32_t nv, int32_t nt, const int32_t *tet, abut_err *err)
{
    assert(nv >= 0 && nt >= 0);
    if (nv < 0 || nt < 0 || nt >= 1 << 29) return abut_fail(err, ABUT_E_ARG, "dual graph: %d nodes, %d tets", nv, nt);
    for (size_t i = 0; i < 4 * (size_t)nt; i++)
        if (tet[i] < 0 || tet[i] >= nv)
            return abut_fail(err, ABUT_E_ARG, "dual graph: tet %zu has node %d, want 0 .. %d", i / 4, tet[i], nv - 1);
    *d = (abut_dual){ nt, calloc((size_t)nt + 1, sizeof *d->ptr), malloc((4 * (size_t)nt + 1) * sizeof *d->adj) };
    int32_t *end = malloc(((size_t)nv + 1) * sizeof *end);
    face *f = malloc((4 * (size_t)nt + 1) * sizeof *f);
    abut_status rc = d->ptr && d->adj && end && f ? ABUT_OK : no_memory(err);
    if (!rc) {
        sort_faces(nv, nt, tet, end, f);
        link_faces(nv, end, f, d->ptr, NULL);
        int32_t sum = 0;
        for (int32_t e = 0; e <= nt; e++) {
            const int32_t c = d->ptr[e];
            d->ptr[e] = sum;
            sum += c;
        }
        link_faces(nv, end, f, d->ptr, d->adj);
        for (int32_t e = nt; e > 0; e--) d->ptr[e] = d->ptr[e - 1];
        d->ptr[0] = 0;
    }
    free(end);
    free(f);
    if (rc) abut_dual_clear(d);
    return rc;
}

int32_t abut_dual_pieces(const abut_dual *d, const int32_t *part, int32_t *piece, int32_t *stack)
{
    int32_t n = 0;
    for (int32_t e = 0; e < d->nt; e++) piece[e] = -1;
    for (int32_t seed = 0; seed < d->nt; seed++) {
        if (piece[seed] >= 0) continue;
        int32_t top = 0;
        stack[top++] = seed;
        piece[seed] = n;
        while (top > 0) {
            const int32_t e = stack[--top];
            for (int32_t k = d->ptr[e]; k < d->ptr[e + 1]; k++) {
                const int32_t o = d->adj[k];
                if (piece[o] >= 0 || part[o] != part[e]) continue;
                piece[o] = n;
                stack[top++] = o;
            }
        }
        n++;
    }
    return n;
}

/* For each part the largest of its pieces, the first of equals: keep[k]; size[np] is scratch. */
static void largest_pieces(const abut_dual *d, const int32_t *part, const int32_t *piece, int32_t np, int32_t k,
                           int32_t *size, int32_t *keep)
{
    memset(size, 0, (size_t)np * sizeof *size);
    for (int32_t e = 0; e < d->nt; e++) size[piece[e]]++;
    for (int32_t p = 0; p < k; p++) keep[p] = -1;
    for (int32_t e = 0; e < d->nt; e++) {
        int32_t *best = &keep[part[e]];
        if (*best < 0 || size[piece[e]] > size[*best] || (size[piece[e]] == size[*best] && piece[e] < *best))
            *best = piece[e];
    }
}

/* The part with most faces on the piece of element `seed`, -1 if it has no neighbour.  elems: its m elements. */
static int32_t best_neighbour(const abut_dual *d, const int32_t *part, const int32_t *elems, int32_t m, int32_t *faces)
{
    int32_t best = -1;
    for (int pass = 0; pass < 3; pass++)    /* count, choose, wipe: the counts of all k parts are never walked */
        for (int32_t i = 0; i < m; i++)
            for (int32_t j = d->ptr[elems[i]]; j < d->ptr[elems[i] + 1]; j++) {
                const int32_t p = part[d->adj[j]];
                if (p == part[elems[i]]) continue;
                if (pass == 0) faces[p]++;
                else if (pass == 2) faces[p] = 0;
                else if (best < 0 || faces[p] > faces[best] || (faces[p] == faces[best] && p < best)) best = p;
            }
    return best;
}

/* Scratch of one mending. */
typedef struct mend {
    int32_t *piece, *stack, *first, *elems /* of each piece */, *size, *keep, *faces;
} mend;

/* One round; returns the number of pieces given away. */
static int32_t mend_once(const abut_dual *d, int32_t k, int32_t *part, mend *m)
{
    const int32_t np = abut_dual_pieces(d, part, m->piece, m->stack);
    int32_t moved = 0;
    largest_pieces(d, part, m->piece, np, k, m->size, m->keep);
    abut_list_groups(m->piece, (size_t)d->nt, np, m->first, m->elems);
    for (int32_t p = 0; p < np; p++) {
        const int32_t *elems = m->elems + m->first[p], count = m->first[p + 1] - m->first[p];
        if (m->keep[part[elems[0]]] == p) continue;
        const int32_t to = best_neighbour(d, part, elems, count, m->faces);
        for (int32_t i = 0; to >= 0 && i < count; i++) part[elems[i]] = to;
        moved += to >= 0;
    }
    return moved;
}

abut_status abut_dual_mend(const abut_dual *d, int32_t k, int32_t *part, abut_err *err)
{
    assert(d);
    enum { ROUNDS = 8 };    /* a piece may land on one that moves itself: look again, but not for ever */
    const size_t nt = (size_t)d->nt, nk = (size_t)k;
    int32_t *pool = calloc(5 * nt + 2 * nk + 1, sizeof *pool);
    if (!pool) return no_memory(err);
    mend m = { pool, pool + nt, pool + 2 * nt, pool + 3 * nt + 1, pool + 4 * nt + 1, pool + 5 * nt + 1,
               pool + 5 * nt + nk + 1 };
    for (int r = 0; r < ROUNDS; r++)
        if (mend_once(d, k, part, &m) == 0) break;
    free(pool);
    return ABUT_OK;
}

int64_t abut_dual_cut(const abut_dual *d, const int32_t *part)
{
    int64_t cut = 0;
    for (int32_t e = 0; e < d->nt; e++)
        for (int32_t k = d->ptr[e]; k < d->ptr[e + 1]; k++) cut += part[d->adj[k]] != part[e];
    return cut / 2;
}

void abut_dual_clear(abut_dual *d)
{
    free(d->ptr);
    free(d->adj);
    *d = (abut_dual){ 0 };
}

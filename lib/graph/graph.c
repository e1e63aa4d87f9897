#include "graph/graph.h"

#include "base/arena.h"
#include "base/order.h"
#include "base/par.h"
#include "math/elementary_inline.h"

#include <assert.h>
#include <amd.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <metis.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(idx_t) == sizeof(int32_t), "METIS is built with 32-bit indices");

enum { SEED = 20 };

static void options_set(idx_t *options)
{
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = SEED;
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_DBGLVL] = 0;
}

/* METIS reports some failed allocations as other errors; errno, which the caller sets to 0 before, tells them apart. */
static abut_status metis_status(int rc, const char *doing, abut_err *err)
{
    const int why = errno;
    if (rc == METIS_OK) return ABUT_OK;
    if (rc == METIS_ERROR_MEMORY || why == ENOMEM) return abut_fail(err, ABUT_E_NOMEM, "METIS: %s: out of memory", doing);
    return abut_fail(err, ABUT_E_NUMERIC, "METIS: %s failed with status %d", doing, rc);
}

abut_status abut_graph_neighbours(abut_graph G, size_t **first, int32_t **next, abut_err *err)
{
    const size_t n = (size_t)G.n;
    size_t *at = *first = calloc(n + 2, sizeof *at);
    int32_t *to = *next = malloc((2 * G.first[n] + 1) * sizeof *to);
    if (!at || !to) {
        free(at), free(to);
        *first = NULL, *next = NULL;
        return abut_no_memory("graph", err);
    }
    at++;       /* at[i] counts the neighbours of the vertices before i, then goes to the end of its own */
    for (int32_t c = 0; c < G.n; c++)
        for (size_t k = G.first[c] + 1; k < G.first[c + 1]; k++) at[c + 1]++, at[G.col[k] + 1]++;
    for (size_t i = 0; i < n; i++) at[i + 1] += at[i];
    for (int32_t c = 0; c < G.n; c++)
        for (size_t k = G.first[c] + 1; k < G.first[c + 1]; k++) {
            to[at[c]++] = G.col[k];
            to[at[G.col[k]]++] = c;
        }
    return ABUT_OK;
}

/* ---- ordering ---- */

/* Both directions of each edge, without the vertices themselves. */
static void adjacency(abut_graph G, const int32_t *weight, idx_t *ptr, idx_t *adj, idx_t *heavy)
{
    memset(ptr, 0, ((size_t)G.n + 1) * sizeof *ptr);
    for (int32_t c = 0; c < G.n; c++)
        for (size_t k = G.first[c] + 1; k < G.first[c + 1]; k++) ptr[c + 1]++, ptr[G.col[k] + 1]++;
    for (int32_t c = 0; c < G.n; c++) ptr[c + 1] += ptr[c];
    for (int32_t c = 0; c < G.n; c++)
        for (size_t k = G.first[c] + 1; k < G.first[c + 1]; k++) {
            if (heavy) heavy[ptr[c]] = heavy[ptr[G.col[k]]] = weight[k];
            adj[ptr[c]++] = G.col[k];
            adj[ptr[G.col[k]]++] = c;
        }
    for (int32_t c = G.n; c > 0; c--) ptr[c] = ptr[c - 1];
    if (G.n > 0) ptr[0] = 0;
}

abut_status abut_graph_order_nested_dissection(abut_graph G, int32_t *perm, abut_err *err)
{
    const size_t n = (size_t)G.n, edges = 2 * (G.first[G.n] - n);
    for (int32_t k = 0; k < G.n; k++) perm[k] = k;
    if (edges == 0) return ABUT_OK;
    if (edges > INT_MAX) return abut_fail(err, ABUT_E_ARG, "graph: %zu neighbours, at most 2^31 - 1 fit", edges);
    idx_t *ptr = malloc((n + 1) * sizeof *ptr), *adj = malloc((edges + 1) * sizeof *adj);
    idx_t *inverse = malloc(n * sizeof *inverse), options[METIS_NOPTIONS], nvtxs = G.n;
    abut_status rc = ptr && adj && inverse ? ABUT_OK : abut_no_memory("graph", err);
    if (!rc) {
        options_set(options);
        adjacency(G, NULL, ptr, adj, NULL);
        errno = 0;
        rc = metis_status(METIS_NodeND(&nvtxs, ptr, adj, NULL, options, perm, inverse), "ordering", err);
    }
    ABUT_FREE(ptr, adj, inverse);
    return rc;
}

abut_status abut_graph_order_amd(abut_graph G, int32_t *perm, abut_graph_fill *fill, abut_err *err)
{
    assert(fill);
    const double n = G.n;
    double info[AMD_INFO];
    *fill = (abut_graph_fill){ 0 };
    if (G.n == 0) return ABUT_OK;
    if (G.first[G.n] > INT_MAX) return abut_fail(err, ABUT_E_ARG, "graph: %zu edges, at most 2^31 - 1 fit", G.first[G.n]);
    int *ptr = malloc(((size_t)G.n + 1) * sizeof *ptr);
    if (!ptr) return abut_no_memory("graph", err);
    for (int32_t c = 0; c <= G.n; c++) ptr[c] = (int)G.first[c];
    const int rc = amd_order(G.n, ptr, G.col, perm, NULL, info);
    free(ptr);
    if (rc == AMD_OUT_OF_MEMORY) return abut_no_memory("graph", err);
    if (rc == AMD_INVALID) return abut_fail(err, ABUT_E_NUMERIC, "AMD: ordering failed with status %d", rc);
    *fill = (abut_graph_fill){ 9 * (info[AMD_LNZ] + n), 27 * (2 * info[AMD_NMULTSUBS_LDL] + info[AMD_NDIV] + n) };
    return ABUT_OK;
}

/* ---- points along a Hilbert curve ---- */

enum { BITS = 10 /* of a coordinate */, DIGIT = 15 /* bits that are sorted at a time */, DIGITS = 1 << DIGIT };

/* The cube around the points of a group. */
typedef struct cube {
    double lo[3], side;
} cube;

static void cubes_of(size_t n, const double *x, const int32_t *group, int32_t ngroups, cube *c)
{
    for (int32_t g = 0; g < ngroups; g++) c[g] = (cube){ { INFINITY, INFINITY, INFINITY }, 0 };
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) c[group[i]].lo[d] = fmin(c[group[i]].lo[d], x[3 * i + (size_t)d]);
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) c[group[i]].side = fmax(c[group[i]].side, x[3 * i + (size_t)d] - c[group[i]].lo[d]);
}

static uint64_t place_in(const cube *c, const double x[3])
{
    uint32_t cell[3];
    for (int d = 0; d < 3; d++) {
        const double part = c->side > 0 ? (x[d] - c->lo[d]) / c->side : 0;
        cell[d] = part < 1 ? (uint32_t)(part * (1 << BITS)) : (1 << BITS) - 1;
    }
    return abut_hilbert(cell, BITS);
}

/* to[n]: from[n], sorted by the digit of their keys from `shift` on, stable */
static void sort_by_digit(size_t n, const uint64_t *key, int shift, const int32_t *from, int32_t *to, size_t *start)
{
    memset(start, 0, DIGITS * sizeof *start);
    for (size_t i = 0; i < n; i++) start[key[i] >> shift & (DIGITS - 1)]++;
    size_t sum = 0;
    for (size_t d = 0; d < DIGITS; d++) {
        const size_t many = start[d];
        start[d] = sum;
        sum += many;
    }
    for (size_t i = 0; i < n; i++) to[start[key[from[i]] >> shift & (DIGITS - 1)]++] = from[i];
}

abut_status abut_curve_order(size_t n, const double *x, const int32_t *group, int32_t ngroups, int32_t *order, abut_err *err)
{
    cube *c = malloc(((size_t)ngroups + 1) * sizeof *c);
    uint64_t *key = malloc((n + 1) * sizeof *key);
    int32_t *other = malloc((n + 1) * sizeof *other);
    size_t *start = malloc(DIGITS * sizeof *start);
    const int ok = c && key && other && start;
    if (ok) {
        cubes_of(n, x, group, ngroups, c);
        #pragma omp parallel for schedule(static) if (n >= ABUT_PAR_MIN)
        for (size_t i = 0; i < n; i++) {
            key[i] = (uint64_t)group[i] << 3 * BITS | place_in(&c[group[i]], x + 3 * i);
            other[i] = (int32_t)i;
        }
        /* two digits of the place, two of the group */
        sort_by_digit(n, key, 0, other, order, start);
        sort_by_digit(n, key, DIGIT, order, other, start);
        sort_by_digit(n, key, 2 * DIGIT, other, order, start);
        if (ngroups > DIGITS) {
            sort_by_digit(n, key, 3 * DIGIT, order, other, start);
            memcpy(order, other, n * sizeof *order);
        }
    }
    ABUT_FREE(c, key, other, start);
    return ok ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "order of %zu points along a curve: out of memory", n);
}

/* ---- rows into parts ---- */

/* Gives rows of the largest parts to parts that METIS left empty, which happens if k is near n. */
static void fill_empty(int32_t n, int32_t k, int32_t *part, int32_t *size)
{
    memset(size, 0, (size_t)k * sizeof *size);
    for (int32_t i = 0; i < n; i++) size[part[i]]++;
    int32_t next = 0;
    for (int32_t p = 0; p < k; p++) {
        if (size[p]) continue;
        while (size[part[next]] < 2) next++;
        size[part[next]]--;
        part[next] = p;
        size[p] = 1;
    }
}

abut_status abut_graph_cut(abut_graph G, const int32_t *weight, int32_t k, int32_t *part, abut_err *err)
{
    const size_t n = (size_t)G.n, edges = 2 * (G.first[G.n] - n);
    if (k < 1 || k > G.n) return abut_fail(err, ABUT_E_ARG, "graph: %d parts of %d rows, want 1 .. %d", k, G.n, G.n);
    if (edges > INT_MAX) return abut_fail(err, ABUT_E_ARG, "graph: %zu neighbours, at most 2^31 - 1 fit", edges);
    memset(part, 0, n * sizeof *part);
    if (k == 1) return ABUT_OK;
    idx_t *ptr = malloc((n + 1) * sizeof *ptr), *adj = malloc((edges + 1) * sizeof *adj);
    idx_t *heavy = weight ? malloc((edges + 1) * sizeof *heavy) : NULL;
    idx_t options[METIS_NOPTIONS], nvtxs = G.n, ncon = 1, nparts = k, cut;
    int32_t *size = malloc((size_t)k * sizeof *size);
    abut_status rc = ptr && adj && size && (heavy || !weight) ? ABUT_OK : abut_no_memory("graph", err);
    if (!rc) {
        options_set(options);
        adjacency(G, weight, ptr, adj, heavy);
        errno = 0;
        rc = metis_status(METIS_PartGraphKway(&nvtxs, &ncon, ptr, adj, NULL, NULL, heavy, &nparts, NULL, NULL, options, &cut,
                                              part), "partition of rows", err);
    }
    if (!rc) fill_empty(G.n, k, part, size);
    ABUT_FREE(ptr, adj, heavy, size);
    return rc;
}

/* ---- partition ---- */

/* Weights as METIS wants them: whole numbers, the largest WEIGHT_UNITS, and none 0. */
#define WEIGHT_UNITS 10000

static abut_status whole_weights(const double *w, int32_t n, idx_t *out, abut_err *err)
{
    double most = 0;
    for (int32_t i = 0; i < n; i++) {
        if (!(w[i] >= 0 && w[i] <= DBL_MAX))
            return abut_fail(err, ABUT_E_ARG, "partition: weight %d is %g, want 0 or more", i, w[i]);
        most = fmax(most, w[i]);
    }
    if (!(most > 0)) return abut_fail(err, ABUT_E_ARG, "partition: all %d weights are 0", n);
    for (int32_t i = 0; i < n; i++) out[i] = (idx_t)fmax(1, rint(WEIGHT_UNITS * (w[i] / most)));
    return ABUT_OK;
}

/* part[n]: a graph of n vertices cut into k parts; weight[n] may be NULL. */
static abut_status cut_graph(int32_t n, int32_t *ptr, int32_t *adj, int32_t k, int recursive, const double *weight, int32_t *part,
                             abut_err *err)
{
    memset(part, 0, (size_t)n * sizeof *part);
    idx_t options[METIS_NOPTIONS], nvtxs = n, ncon = 1, nparts = k, cut;
    idx_t *w = weight ? malloc(((size_t)n + 1) * sizeof *w) : NULL;
    abut_status rc = weight && !w ? abut_no_memory("graph", err) : weight ? whole_weights(weight, n, w, err) : ABUT_OK;
    if (!rc && k > 1) {
        options_set(options);
        errno = 0;
        const int rc_metis = (recursive ? METIS_PartGraphRecursive : METIS_PartGraphKway)
            (&nvtxs, &ncon, ptr, adj, w, NULL, NULL, &nparts, NULL, NULL, options, &cut, part);
        rc = metis_status(rc_metis, "partition", err);
    }
    free(w);
    return rc;
}

/* The graph of nodes, neighbours if they share a tet; nodes without tets are left out. */
typedef struct node_graph {
    int32_t n, *id;         /* [nv] number of a node, -1 */
    size_t *first;
    int32_t *col, *mark;
    int32_t *at, *tet;      /* tets of number i: tet[at[i] .. at[i + 1]) */
} node_graph;

static void node_graph_clear(node_graph *g)
{
    ABUT_FREE(g->id, g->first, g->col, g->mark, g->at, g->tet);
}

/* Row i of the graph into out (NULL: only counted); mark[n] holds no `seen` yet. */
static size_t row_of(const node_graph *g, const int32_t *tet, int32_t i, int32_t seen, int32_t *out)
{
    size_t n = 0;
    for (int32_t k = g->at[i]; k < g->at[i + 1]; k++)
        for (int a = 0; a < 4; a++) {
            const int32_t j = g->id[tet[4 * (size_t)g->tet[k] + (size_t)a]];
            if (j < i || g->mark[j] == seen) continue;
            g->mark[j] = seen;
            if (out) out[n] = j;
            n++;
        }
    if (out) qsort(out, n, sizeof *out, abut_by_one);
    return n;
}

static void number_nodes(node_graph *g, int32_t nv, int32_t nt, const int32_t *tet)
{
    const size_t corners = 4 * (size_t)nt;
    for (int32_t v = 0; v < nv; v++) g->id[v] = -1;
    for (size_t i = 0; i < corners; i++) g->id[tet[i]] = 0;
    for (int32_t v = 0; v < nv; v++)
        if (g->id[v] == 0) g->id[v] = g->n++;
    for (size_t i = 0; i < corners; i++) g->at[g->id[tet[i]] + 1]++;
    for (int32_t i = 0; i < g->n; i++) g->at[i + 1] += g->at[i];
    for (size_t i = 0; i < corners; i++) g->tet[g->at[g->id[tet[i]]]++] = (int32_t)(i / 4);
    for (int32_t i = g->n; i > 0; i--) g->at[i] = g->at[i - 1];
    g->at[0] = 0;
}

static abut_status node_graph_make(int32_t nv, int32_t nt, const int32_t *tet, node_graph *g, abut_err *err)
{
    const size_t n = (size_t)nv;
    *g = (node_graph){ .id = malloc((n + 1) * sizeof *g->id), .first = calloc(n + 1, sizeof *g->first),
                       .mark = calloc(n + 1, sizeof *g->mark), .at = calloc(n + 2, sizeof *g->at),
                       .tet = malloc((4 * (size_t)nt + 1) * sizeof *g->tet) };
    if (!g->id || !g->first || !g->mark || !g->at || !g->tet) return abut_no_memory("graph", err);
    number_nodes(g, nv, nt, tet);
    for (int32_t i = 0; i < g->n; i++) g->first[i + 1] = g->first[i] + row_of(g, tet, i, 1 + i, NULL);
    g->col = malloc((g->first[g->n] + 1) * sizeof *g->col);
    if (!g->col) return abut_no_memory("graph", err);
    for (int32_t i = 0; i < g->n; i++) g->mark[i] = 0;
    for (int32_t i = 0; i < g->n; i++) (void)row_of(g, tet, i, 1 + i, g->col + g->first[i]);
    return ABUT_OK;
}

/* node[nv]: the parts of the nodes. */
static abut_status cut_nodes(int32_t nv, int32_t nt, const int32_t *tet, int32_t k, const abut_cut_opts *how, int32_t *node,
                             abut_err *err)
{
    node_graph g = { 0 };
    double *weight = how->weight ? malloc(((size_t)nv + 1) * sizeof *weight) : NULL;
    abut_status rc = weight || !how->weight ? node_graph_make(nv, nt, tet, &g, err) : abut_no_memory("graph", err);
    const size_t edges = rc ? 0 : 2 * (g.first[g.n] - (size_t)g.n);
    if (!rc && edges > INT_MAX) rc = abut_fail(err, ABUT_E_ARG, "graph: %zu neighbours, at most 2^31 - 1 fit", edges);
    if (!rc && k > g.n) rc = abut_fail(err, ABUT_E_ARG, "partition: %d parts of %d nodes, want 1 .. %d", k, g.n, g.n);
    idx_t *ptr = malloc(((size_t)nv + 1) * sizeof *ptr), *adj = malloc((edges + 1) * sizeof *adj);
    int32_t *part = malloc(((size_t)nv + 1) * sizeof *part);
    if (!rc && !(ptr && adj && part)) rc = abut_no_memory("graph", err);
    if (!rc) {
        adjacency((abut_graph){ g.n, g.first, g.col }, NULL, ptr, adj, NULL);
        for (int32_t v = 0; v < nv && weight; v++)
            if (g.id[v] >= 0) weight[g.id[v]] = how->weight[v];
        rc = cut_graph(g.n, ptr, adj, k, how->recursive, weight, part, err);
    }
    for (int32_t v = 0; v < nv && !rc; v++) node[v] = g.id[v] < 0 ? -1 : part[g.id[v]];
    node_graph_clear(&g);
    ABUT_FREE(weight, ptr, adj, part);
    return rc;
}

/* Returns the part of most of the four, of equals the lowest. */
static int32_t most_of(const int32_t p[4])
{
    int32_t best = p[0];
    int n_best = 0;
    for (int i = 0; i < 4; i++) {
        int n = 0;
        for (int j = 0; j < 4; j++) n += p[j] == p[i];
        if (n > n_best || (n == n_best && p[i] < best)) best = p[i], n_best = n;
    }
    return best;
}

/* Nodes of elements in more than one part; owner[nv] is scratch. */
static int32_t count_interface(int32_t nv, int32_t nt, const int32_t *tet, const int32_t *part, int32_t *owner)
{
    enum { NONE = -1, SEVERAL = -2 };
    int32_t count = 0;
    for (int32_t v = 0; v < nv; v++) owner[v] = NONE;
    for (size_t i = 0; i < 4 * (size_t)nt; i++) {
        int32_t *o = &owner[tet[i]];
        if (*o == NONE) *o = part[i / 4];
        else if (*o >= 0 && *o != part[i / 4]) *o = SEVERAL, count++;
    }
    return count;
}

/* ---- dual graph of a mesh ---- */

/* A face: its nodes, ascending, and its element. */
typedef struct face {
    int32_t node[3], elem;
} face;

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

static void sort_faces(int32_t nt, const int32_t *tet, face *f)
{
    for (int32_t i = 0; i < 4 * nt; i++) {
        face_nodes(tet + 4 * (size_t)(i / 4), i % 4, f[i].node);
        f[i].elem = i / 4;
    }
    qsort(f, 4 * (size_t)nt, sizeof *f, abut_by_four);
}

/* Links the elements of equal neighbours among n sorted faces.  With adj NULL the links are only counted, into at[e]. */
static void link_faces(size_t n, const face *f, int32_t *at, int32_t *adj)
{
    for (size_t k = 0; k + 1 < n; k++) {
        if (abut_compare(f[k].node, f[k + 1].node, 3)) continue;
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
    const size_t n = 4 * (size_t)nt;
    face *f = malloc((n + 1) * sizeof *f);
    abut_status rc = d->ptr && d->adj && f ? ABUT_OK : abut_no_memory("graph", err);
    if (!rc) {
        sort_faces(nt, tet, f);
        link_faces(n, f, d->ptr, NULL);
        int32_t sum = 0;
        for (int32_t e = 0; e <= nt; e++) {
            const int32_t c = d->ptr[e];
            d->ptr[e] = sum;
            sum += c;
        }
        link_faces(n, f, d->ptr, d->adj);
        for (int32_t e = nt; e > 0; e--) d->ptr[e] = d->ptr[e - 1];
        d->ptr[0] = 0;
    }
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
        if (*best < 0 || size[piece[e]] > size[*best] || (size[piece[e]] == size[*best] && piece[e] < *best)) *best = piece[e];
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
    if (!pool) return abut_no_memory("graph", err);
    mend m = { pool, pool + nt, pool + 2 * nt, pool + 3 * nt + 1, pool + 4 * nt + 1, pool + 5 * nt + 1,
               pool + 5 * nt + nk + 1 };
    for (int r = 0; r < ROUNDS; r++)
        if (mend_once(d, k, part, &m) == 0) break;
    free(pool);
    return ABUT_OK;
}

/* Dual edges between different parts. */
static int64_t dual_cut(const abut_dual *d, const int32_t *part)
{
    int64_t cut = 0;
    for (int32_t e = 0; e < d->nt; e++)
        for (int32_t k = d->ptr[e]; k < d->ptr[e + 1]; k++) cut += part[d->adj[k]] != part[e];
    return cut / 2;
}

void abut_dual_clear(abut_dual *d)
{
    ABUT_FREE(d->ptr, d->adj);
    *d = (abut_dual){ 0 };
}

/* size[k] and pieces[k] are scratch, zero-filled; piece and stack [nt]. */
static void count_parts(const abut_dual *d, int32_t k, const int32_t *part, int32_t *size, int32_t *pieces, int32_t *piece,
                        int32_t *stack, abut_partition_stats *s)
{
    for (int32_t e = 0; e < d->nt; e++) size[part[e]]++;
    s->smallest = s->largest = size[0];
    for (int32_t p = 1; p < k; p++) {
        if (size[p] < s->smallest) s->smallest = size[p];
        if (size[p] > s->largest) s->largest = size[p];
    }
    s->balance = (double)s->largest * k / d->nt;
    abut_dual_pieces(d, part, piece, stack);
    for (int32_t e = 0, next = 0; e < d->nt; e++)   /* pieces are numbered by their first element */
        if (piece[e] == next) pieces[part[e]]++, next++;
    s->split = 0;
    for (int32_t p = 0; p < k; p++) s->split += pieces[p] > 1;
}

static abut_status measure(const abut_dual *d, int32_t nv, const int32_t *tet, int32_t k, const int32_t *part,
                           abut_partition_stats *s, abut_err *err)
{
    const size_t nt = (size_t)d->nt, nk = (size_t)k;
    int32_t *owner = malloc(((size_t)nv + 1) * sizeof *owner), *pool = calloc(2 * nk + 2 * nt, sizeof *pool);
    abut_status rc = owner && pool ? ABUT_OK : abut_no_memory("graph", err);
    if (!rc) {
        count_parts(d, k, part, pool, pool + nk, pool + 2 * nk, pool + 2 * nk + nt, s);
        s->interface_nodes = count_interface(nv, d->nt, tet, part, owner);
        s->faces = d->ptr[d->nt] / 2;
        s->cut = dual_cut(d, part);
    }
    ABUT_FREE(owner, pool);
    if (!rc && s->smallest == 0)
        rc = abut_fail(err, ABUT_E_ARG, "METIS: cutting %d tets into %d parts leaves one empty: want fewer parts", d->nt, k);
    return rc;
}

/* Largest sum of weights of a part over the mean; sum[k] is scratch. */
static double weighed(int32_t n, const int32_t *part, const double *weight, int32_t k, double *sum)
{
    double all = 0, most = 0;
    for (int32_t p = 0; p < k; p++) sum[p] = 0;
    for (int32_t i = 0; i < n; i++)
        if (part[i] >= 0) sum[part[i]] += weight[i], all += weight[i];
    for (int32_t p = 0; p < k; p++) most = fmax(most, sum[p]);
    return most * k / all;
}

static abut_status cut_mesh(const abut_dual *d, int32_t nv, const int32_t *tet, int32_t k, const abut_cut_opts *how,
                            int32_t *part, int32_t *node, abut_partition_stats *stats, abut_err *err)
{
    double *sum = malloc((size_t)k * sizeof *sum);
    abut_status rc = !sum ? abut_no_memory("graph", err)
                   : how->by_nodes ? cut_nodes(nv, d->nt, tet, k, how, node, err)
                                   : cut_graph(d->nt, d->ptr, d->adj, k, how->recursive, how->weight, part, err);
    for (int32_t t = 0; t < d->nt && !rc && how->by_nodes; t++)
        part[t] = most_of((const int32_t[4]){ node[tet[4 * t]], node[tet[4 * t + 1]], node[tet[4 * t + 2]],
                                              node[tet[4 * t + 3]] });
    if (!rc) rc = abut_dual_mend(d, k, part, err);
    if (!rc) rc = measure(d, nv, tet, k, part, stats, err);
    if (!rc && how->weight) stats->balance = weighed(how->by_nodes ? nv : d->nt, how->by_nodes ? node : part, how->weight, k,
                                                     sum);
    free(sum);
    return rc;
}

abut_status abut_partition_mesh(int32_t nv, int32_t nt, const int32_t *tet, int32_t k, const abut_cut_opts *how, int32_t *part,
                                int32_t *node, abut_partition_stats *stats, abut_err *err)
{
    if (k < 1 || k > nt) return abut_fail(err, ABUT_E_ARG, "partition: %d parts of %d tets, want 1 .. %d", k, nt, nt);
    abut_dual d = { 0 };
    int32_t *own = how->by_nodes && !node ? malloc(((size_t)nv + 1) * sizeof *own) : NULL;
    abut_status rc = how->by_nodes && !node && !own ? abut_no_memory("graph", err) : abut_dual_make(&d, nv, nt, tet, err);
    if (!rc) rc = cut_mesh(&d, nv, tet, k, how, part, own ? own : node, stats, err);
    abut_dual_clear(&d);
    free(own);
    return rc;
}

abut_status abut_partition_tets(int32_t nv, int32_t nt, const int32_t *tet, int32_t k, int32_t *part,
                                abut_partition_stats *stats, abut_err *err)
{
    return abut_partition_mesh(nv, nt, tet, k, &(abut_cut_opts){ 0 }, part, NULL, stats, err);
}

#include "part/graph.h"

#include "part/dual.h"

#include <limits.h>
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

static abut_status no_memory(abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "graph: out of memory");
}

static abut_status metis_status(int rc, const char *doing, abut_err *err)
{
    if (rc == METIS_OK) return ABUT_OK;
    if (rc == METIS_ERROR_MEMORY) return abut_fail(err, ABUT_E_NOMEM, "METIS: %s: out of memory", doing);
    return abut_fail(err, ABUT_E_NUMERIC, "METIS: %s failed with status %d", doing, rc);
}

/* ---- ordering ---- */

/* The graph of A without its diagonal, both directions of each edge. */
static void adjacency(const abut_bsr *A, idx_t *ptr, idx_t *adj)
{
    memset(ptr, 0, ((size_t)A->n + 1) * sizeof *ptr);
    for (int32_t c = 0; c < A->n; c++)
        for (size_t k = A->ptr[c] + 1; k < A->ptr[c + 1]; k++) ptr[c + 1]++, ptr[A->row[k] + 1]++;
    for (int32_t c = 0; c < A->n; c++) ptr[c + 1] += ptr[c];
    for (int32_t c = 0; c < A->n; c++)
        for (size_t k = A->ptr[c] + 1; k < A->ptr[c + 1]; k++) {
            adj[ptr[c]++] = A->row[k];
            adj[ptr[A->row[k]]++] = c;
        }
    for (int32_t c = A->n; c > 0; c--) ptr[c] = ptr[c - 1];
    if (A->n > 0) ptr[0] = 0;
}

abut_status abut_graph_order(const abut_bsr *A, int32_t *perm, abut_err *err)
{
    const size_t n = (size_t)A->n, edges = 2 * (A->nnz - n);
    for (int32_t k = 0; k < A->n; k++) perm[k] = k;
    if (edges == 0) return ABUT_OK;
    if (edges > INT_MAX) return abut_fail(err, ABUT_E_ARG, "graph: %zu neighbours, at most 2^31 - 1 fit", edges);
    idx_t *ptr = malloc((n + 1) * sizeof *ptr), *adj = malloc((edges + 1) * sizeof *adj);
    idx_t *inverse = malloc(n * sizeof *inverse), options[METIS_NOPTIONS], nvtxs = A->n;
    abut_status rc = ptr && adj && inverse ? ABUT_OK : no_memory(err);
    if (!rc) {
        options_set(options);
        adjacency(A, ptr, adj);
        rc = metis_status(METIS_NodeND(&nvtxs, ptr, adj, NULL, options, perm, inverse), "ordering", err);
    }
    free(ptr);
    free(adj);
    free(inverse);
    return rc;
}

/* ---- rows into parts ---- */

/* Gives rows of the largest parts to those that METIS left empty, which happens when k is near n. */
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

abut_status abut_graph_cut(const abut_bsr *A, int32_t k, int32_t *part, abut_err *err)
{
    const size_t n = (size_t)A->n, edges = 2 * (A->nnz - n);
    if (k < 1 || k > A->n) return abut_fail(err, ABUT_E_ARG, "graph: %d parts of %d rows, want 1 .. %d", k, A->n, A->n);
    if (edges > INT_MAX) return abut_fail(err, ABUT_E_ARG, "graph: %zu neighbours, at most 2^31 - 1 fit", edges);
    memset(part, 0, n * sizeof *part);
    if (k == 1) return ABUT_OK;
    idx_t *ptr = malloc((n + 1) * sizeof *ptr), *adj = malloc((edges + 1) * sizeof *adj);
    idx_t options[METIS_NOPTIONS], nvtxs = A->n, ncon = 1, nparts = k, cut;
    int32_t *size = malloc((size_t)k * sizeof *size);
    abut_status rc = ptr && adj && size ? ABUT_OK : no_memory(err);
    if (!rc) {
        options_set(options);
        adjacency(A, ptr, adj);
        rc = metis_status(METIS_PartGraphKway(&nvtxs, &ncon, ptr, adj, NULL, NULL, NULL, &nparts, NULL, NULL, options, &cut,
                                              part), "partition of rows", err);
    }
    if (!rc) fill_empty(A->n, k, part, size);
    free(ptr);
    free(adj);
    free(size);
    return rc;
}

/* ---- partition ---- */

static abut_status cut_dual(const abut_dual *d, int32_t k, int32_t *part, abut_err *err)
{
    memset(part, 0, (size_t)d->nt * sizeof *part);
    if (k == 1) return ABUT_OK;
    idx_t options[METIS_NOPTIONS], nvtxs = d->nt, ncon = 1, nparts = k, cut;
    options_set(options);
    return metis_status(METIS_PartGraphKway(&nvtxs, &ncon, d->ptr, d->adj, NULL, NULL, NULL, &nparts, NULL, NULL, options,
                                            &cut, part), "partition", err);
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
    abut_status rc = owner && pool ? ABUT_OK : no_memory(err);
    if (!rc) {
        count_parts(d, k, part, pool, pool + nk, pool + 2 * nk, pool + 2 * nk + nt, s);
        s->interface_nodes = count_interface(nv, d->nt, tet, part, owner);
        s->faces = d->ptr[d->nt] / 2;
        s->cut = abut_dual_cut(d, part);
    }
    free(owner);
    free(pool);
    if (!rc && s->smallest == 0)
        rc = abut_fail(err, ABUT_E_NUMERIC, "METIS: cutting %d tets into %d parts leaves one empty: want fewer parts", d->nt, k);
    return rc;
}

abut_status abut_partition_tets(int32_t nv, int32_t nt, const int32_t *tet, int32_t k, int32_t *part,
                                abut_partition_stats *stats, abut_err *err)
{
    if (k < 1 || k > nt) return abut_fail(err, ABUT_E_ARG, "partition: %d parts of %d tets, want 1 .. %d", k, nt, nt);
    abut_dual d = { 0 };
    abut_status rc = abut_dual_make(&d, nv, nt, tet, err);
    if (!rc) rc = cut_dual(&d, k, part, err);
    if (!rc) rc = abut_dual_mend(&d, k, part, err);
    if (!rc) rc = measure(&d, nv, tet, k, part, stats, err);
    abut_dual_clear(&d);
    return rc;
}

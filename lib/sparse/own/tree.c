#include "sparse/own/tree.h"

#include "base/order.h"
#include "base/par.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static abut_status no_memory(abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "Cholesky: out of memory in the analysis");
}

static void *new_array(size_t n, size_t size)
{
    return n >= PTRDIFF_MAX / size ? NULL : calloc(n + 1, size);
}

/* Panels that a supernode of so many columns is cut into, of nearly equal width. */
static int32_t panels(int32_t cols)
{
    return (cols + ABUT_PANEL - 1) / ABUT_PANEL;
}

/* First column of panel j of k: whole groups, the last one takes what is left. */
static int32_t first_column(int32_t cols, int32_t k, int32_t j)
{
    return j == k ? cols : (int32_t)((int64_t)abut_chol_groups(cols) * j / k) * ABUT_GROUP;
}

/* Supernodes cut into panels; a panel's rows are those of the supernode from its first column on. */
static abut_status make_panels(abut_chol_tree *t, int32_t count, const int32_t *super, const int32_t *rptr,
                               const int32_t *rows, abut_err *err)
{
    int32_t ns = 0;
    size_t nrows = 0;
    for (int32_t s = 0; s < count; s++) {
        const int32_t k = panels(super[s + 1] - super[s]);
        ns += k;
        nrows += (size_t)k * (size_t)(rptr[s + 1] - rptr[s]);
    }
    t->ns = ns;
    t->col = new_array((size_t)ns, sizeof *t->col);
    t->rptr = new_array((size_t)ns, sizeof *t->rptr);
    t->xptr = new_array((size_t)ns, sizeof *t->xptr);
    t->gptr = new_array((size_t)ns, sizeof *t->gptr);
    t->row = new_array(nrows, sizeof *t->row);
    if (!t->col || !t->rptr || !t->xptr || !t->gptr || !t->row) return no_memory(err);
    int32_t p = 0;
    for (int32_t s = 0; s < count; s++) {
        const int32_t cols = super[s + 1] - super[s], k = panels(cols);
        for (int32_t j = 0; j < k; j++, p++) {
            const int32_t lo = first_column(cols, k, j), hi = first_column(cols, k, j + 1);
            const int32_t r = rptr[s + 1] - rptr[s] - lo;
            memcpy(t->row + t->rptr[p], rows + rptr[s] + lo, (size_t)r * sizeof *t->row);
            t->col[p] = super[s] + lo;
            t->rptr[p + 1] = t->rptr[p] + (size_t)r;
            t->gptr[p + 1] = t->gptr[p] + (size_t)abut_chol_groups(r);
            t->xptr[p + 1] = t->xptr[p] + (size_t)abut_chol_groups(r) * abut_chol_group_size(hi - lo);
        }
    }
    t->col[ns] = t->n;
    return ABUT_OK;
}

/* Supernode of every column. */
static void owners(const abut_chol_tree *t, int32_t *owner)
{
    for (int32_t s = 0; s < t->ns; s++)
        for (int32_t c = t->col[s]; c < t->col[s + 1]; c++) owner[c] = s;
}

/* Calls for each run of rows of d in the columns of one supernode s > d: counts them in uptr[s], or stores them. */
static void walk_updates(abut_chol_tree *t, const int32_t *owner, int store)
{
    for (int32_t d = 0; d < t->ns; d++) {
        const int32_t *row = t->row + t->rptr[d], n = abut_chol_nrows(t, d);
        for (int32_t lo = abut_chol_cols(t, d); lo < n;) {
            const int32_t s = owner[row[lo]];
            int32_t hi = lo + 1;
            while (hi < n && row[hi] < t->col[s + 1]) hi++;
            if (store) t->upd[t->uptr[s]] = (abut_chol_update){ d, lo, hi };
            t->uptr[s]++;
            lo = hi;
        }
    }
}

static abut_status make_updates(abut_chol_tree *t, const int32_t *owner, abut_err *err)
{
    t->uptr = new_array((size_t)t->ns, sizeof *t->uptr);
    t->parent = new_array((size_t)t->ns, sizeof *t->parent);
    if (!t->uptr || !t->parent) return no_memory(err);
    walk_updates(t, owner, 0);
    size_t sum = 0;
    for (int32_t s = 0; s <= t->ns; s++) {
        const size_t k = t->uptr[s];
        t->uptr[s] = sum;
        sum += k;
    }
    t->upd = new_array(sum, sizeof *t->upd);
    if (!t->upd) return no_memory(err);
    walk_updates(t, owner, 1);
    for (int32_t s = t->ns; s > 0; s--) t->uptr[s] = t->uptr[s - 1];
    t->uptr[0] = 0;
    for (int32_t s = 0; s < t->ns; s++) {
        const int32_t c = abut_chol_cols(t, s);
        t->parent[s] = c < abut_chol_nrows(t, s) ? owner[t->row[t->rptr[s] + (size_t)c]] : -1;
    }
    return ABUT_OK;
}

/* Children by parents, and where the rows of a child are in its parent. */
static abut_status make_children(abut_chol_tree *t, abut_err *err)
{
    t->cptr = new_array((size_t)t->ns, sizeof *t->cptr);
    t->child = new_array((size_t)t->ns, sizeof *t->child);
    t->inparent = new_array(t->rptr[t->ns], sizeof *t->inparent);
    if (!t->cptr || !t->child || !t->inparent) return no_memory(err);
    abut_list_groups(t->parent, (size_t)t->ns, t->ns, t->cptr, t->child);
    #pragma omp parallel for schedule(dynamic, 64) if ((size_t)t->n >= ABUT_PAR_MIN)
    for (int32_t s = 0; s < t->ns; s++) {
        const int32_t p = t->parent[s];
        if (p < 0) continue;
        const int32_t *of_parent = t->row + t->rptr[p];
        int32_t at = 0;
        for (size_t i = t->rptr[s] + (size_t)abut_chol_cols(t, s); i < t->rptr[s + 1]; i++) {
            while (of_parent[at] != t->row[i]) at++;
            t->inparent[i] = at;
        }
    }
    return ABUT_OK;
}

/* Entries and work of the scalar columns of s: a column of length k costs k^2. */
static double count_work(const abut_chol_tree *t, int32_t s, double *nnz)
{
    const double rows = 3.0 * abut_chol_nrows(t, s);
    const int32_t cols = 3 * abut_chol_cols(t, s);
    double flops = 0;
    for (int32_t k = 0; k < cols; k++) {
        *nnz += rows - k;
        flops += (rows - k) * (rows - k);
    }
    return flops;
}

/* Cuts off the subtrees that weigh at most 1 / shares of the whole; weight[s]: of s alone, then of its subtree. */
static abut_status make_cut(const abut_chol_tree *t, int shares, double *weight, abut_chol_cut *cut, abut_err *err)
{
    const size_t ns = (size_t)t->ns;
    cut->sub = new_array(ns, sizeof *cut->sub);
    cut->is_top = new_array(ns, sizeof *cut->is_top);
    if (!cut->sub || !cut->is_top) return no_memory(err);
    double most = 0;
    for (int32_t s = 0; s < t->ns; s++) most += weight[s] / shares;
    for (int32_t s = 0; s < t->ns; s++)
        if (t->parent[s] >= 0) weight[t->parent[s]] += weight[s];
    for (int32_t s = 0; s < t->ns; s++) cut->is_top[s] = weight[s] > most && t->first[s] < s;
    for (int32_t s = 0; s < t->ns; s++)
        if (!cut->is_top[s] && (t->parent[s] < 0 || cut->is_top[t->parent[s]])) cut->sub[cut->nsub++] = s;
    return ABUT_OK;
}

static abut_status make_cuts(abut_chol_tree *t, abut_err *err)
{
    enum { SHARES_OF_WORK = 64, SHARES_OF_SIZE = 32 };
    double *work = new_array((size_t)t->ns, sizeof *work), *size = new_array((size_t)t->ns, sizeof *size);
    t->first = new_array((size_t)t->ns, sizeof *t->first);
    abut_status rc = work && size && t->first ? ABUT_OK : no_memory(err);
    t->nnz = t->flops = 0;
    for (int32_t s = 0; s < t->ns && !rc; s++) {
        t->flops += work[s] = count_work(t, s, &t->nnz);
        size[s] = (double)(t->xptr[s + 1] - t->xptr[s]);
        t->first[s] = t->cptr[s] < t->cptr[s + 1] ? t->first[t->child[t->cptr[s]]] : s;
    }
    if (!rc) rc = make_cut(t, SHARES_OF_WORK, work, &t->by_work, err);
    if (!rc) rc = make_cut(t, SHARES_OF_SIZE, size, &t->by_size, err);
    free(work);
    free(size);
    return rc;
}

abut_status abut_chol_tree_make(abut_chol_tree *t, int32_t n, int32_t count, const int32_t *super, const int32_t *rptr,
                                const int32_t *rows, abut_err *err)
{
    assert(n >= 0 && count >= 0);
    *t = (abut_chol_tree){ .n = n };
    int32_t *owner = new_array((size_t)n, sizeof *owner);
    abut_status rc = owner ? make_panels(t, count, super, rptr, rows, err) : no_memory(err);
    if (!rc) {
        owners(t, owner);
        rc = make_updates(t, owner, err);
    }
    if (!rc) rc = make_children(t, err);
    if (!rc) rc = make_cuts(t, err);
    free(owner);
    if (rc) abut_chol_tree_clear(t);
    return rc;
}

void abut_chol_tree_clear(abut_chol_tree *t)
{
    free(t->col);
    free(t->rptr);
    free(t->row);
    free(t->xptr);
    free(t->gptr);
    free(t->parent);
    free(t->cptr);
    free(t->child);
    free(t->inparent);
    free(t->uptr);
    free(t->upd);
    free(t->first);
    free(t->by_work.sub);
    free(t->by_work.is_top);
    free(t->by_size.sub);
    free(t->by_size.is_top);
    *t = (abut_chol_tree){ 0 };
}

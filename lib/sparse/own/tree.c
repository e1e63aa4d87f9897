#include "sparse/own/tree.h"

#include "base/arena.h"
#include "base/order.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void *new_array(size_t n, size_t size)
{
    return n >= PTRDIFF_MAX / size ? NULL : calloc(n + 1, size);
}

/* ---- supernodes ---- */

/* Supernodes of so many columns are merged always, or where fewer than this fraction of the entries are zeros: a third of the
 * columns that are usual for scalars. */
enum { ALWAYS = 2, FEW = 6, SOME = 16 };
static const double ZEROS_OF_FEW = 0.8, ZEROS_OF_SOME = 0.1, ZEROS_OF_MANY = 0.05;

enum { NONE = -1 };

/* The graph in elimination order, and its elimination tree. */
typedef struct graph {
    int32_t n;
    int32_t *first, *low;   /* [n + 1]: the neighbours before k are low[first[k] .. first[k+1]) */
    int32_t *begin, *high;  /* [n + 1]: those after it, ascending, high[begin[k] .. begin[k+1]) */
    int32_t *parent;        /* [n] NONE: root */
    int32_t *length;        /* [n] entries of a column of the factor, the diagonal included */
    int32_t *post;          /* [n] k-th node of a postordering */
    int32_t *work;          /* [WORKS * n] */
} graph;

enum { WORKS = 5 };

static int32_t *new_numbers(size_t n)
{
    return malloc((n + 1) * sizeof(int32_t));
}

static void graph_clear(graph *g)
{
    ABUT_FREE(g->first, g->low, g->begin, g->high, g->parent, g->length, g->post, g->work);
}

static int graph_new(graph *g, const abut_bsr *A)
{
    const size_t n = (size_t)A->n, edges = A->nnz - n;
    *g = (graph){ .n = A->n };
    g->first = new_numbers(n + 1);
    g->low = new_numbers(edges);
    g->begin = new_numbers(n + 1);
    g->high = new_numbers(edges);
    g->parent = new_numbers(n);
    g->length = new_numbers(n);
    g->post = new_numbers(n);
    g->work = new_numbers(WORKS * n);
    return g->first && g->low && g->begin && g->high && g->parent && g->length && g->post && g->work;
}

/* Counts in ptr[k + 2] become first places in ptr[k + 1]; filling moves them on to where ptr[k + 1] ends. */
static void places(int32_t *ptr, int32_t n)
{
    ptr[0] = ptr[1] = 0;
    for (int32_t k = 1; k < n; k++) ptr[k + 1] += ptr[k];
}

/* both lists of neighbours */
static void order_graph(graph *g, const abut_bsr *A, const int32_t *perm)
{
    int32_t *place = g->work;
    for (int32_t k = 0; k < g->n; k++) place[perm[k]] = k;
    memset(g->first, 0, ((size_t)g->n + 2) * sizeof *g->first);
    memset(g->begin, 0, ((size_t)g->n + 2) * sizeof *g->begin);
    for (int32_t c = 0; c < A->n; c++)
        for (size_t k = A->ptr[c] + 1; k < A->ptr[c + 1]; k++) {
            const int32_t a = place[A->row[k]], b = place[c];
            g->first[(a > b ? a : b) + 2]++;
            g->begin[(a > b ? b : a) + 2]++;
        }
    places(g->first, g->n);
    places(g->begin, g->n);
    for (int32_t c = 0; c < A->n; c++)
        for (size_t k = A->ptr[c] + 1; k < A->ptr[c + 1]; k++) {
            const int32_t a = place[A->row[k]], b = place[c], late = a > b ? a : b;
            g->low[g->first[late + 1]++] = a > b ? b : a;
        }
    for (int32_t k = 0; k < g->n; k++)
        for (int32_t p = g->first[k]; p < g->first[k + 1]; p++) g->high[g->begin[g->low[p] + 1]++] = k;
}

/* Liu 1986: the parent of i is the first row k whose tree i reaches, over ancestors that are cut short. */
static void elimination_tree(graph *g)
{
    int32_t *ancestor = g->work;
    for (int32_t k = 0; k < g->n; k++) {
        g->parent[k] = ancestor[k] = NONE;
        for (int32_t p = g->first[k]; p < g->first[k + 1]; p++)
            for (int32_t i = g->low[p], next; i != NONE && i < k; i = next) {
                next = ancestor[i];
                ancestor[i] = k;
                if (next == NONE) g->parent[i] = k;
            }
    }
}

/* post[n], from lists of children: head[n] (which is used up) and next[n] */
static void visit(const graph *g, int32_t *head, const int32_t *next, int32_t *stack)
{
    int32_t k = 0;
    for (int32_t root = 0; root < g->n; root++) {
        if (g->parent[root] != NONE) continue;
        int32_t depth = 0;
        stack[0] = root;
        while (depth >= 0) {
            const int32_t j = stack[depth], child = head[j];
            if (child == NONE) {
                g->post[k++] = j;
                depth--;
            } else {
                head[j] = next[child];
                stack[++depth] = child;
            }
        }
    }
}

static void put_child(const graph *g, int32_t j, int32_t *head, int32_t *next)
{
    const int32_t p = g->parent[j];
    if (p == NONE) return;
    next[j] = head[p];
    head[p] = j;
}

static void postorder(const graph *g)
{
    const size_t n = (size_t)g->n;
    int32_t *head = g->work, *next = head + n;
    for (int32_t j = 0; j < g->n; j++) head[j] = NONE;
    for (int32_t j = g->n - 1; j >= 0; j--) put_child(g, j, head, next);
    visit(g, head, next, next + n);
}

/* Postorders with children sorted by column length: the longest comes right before its parent, and mostly merges with it. */
static void postorder_by_length(const graph *g)
{
    const size_t n = (size_t)g->n;
    int32_t *head = g->work, *next = head + n, *bucket = next + n, *after = bucket + n;
    for (int32_t j = 0; j < g->n; j++) head[j] = bucket[j] = NONE;
    for (int32_t j = 0; j < g->n; j++) {
        int32_t *of = &bucket[g->length[j] - 1];
        after[j] = *of;
        *of = j;
    }
    for (int32_t length = g->n - 1; length >= 0; length--)
        for (int32_t j = bucket[length]; j != NONE; j = after[j]) put_child(g, j, head, next);
    visit(g, head, next, bucket);
}

/* Leaves of the row subtrees seen so far, as columns come in postorder. */
typedef struct leaves {
    int32_t *first;     /* of j: place in the postordering of the first node of its subtree */
    int32_t *latest;    /* of row i: `first` of its last leaf */
    int32_t *last;      /* of row i: its last leaf */
    int32_t *ancestor;  /* of j: itself while its subtree is visited, then one above it */
} leaves;

/* The lowest common ancestor of two leaves, of which j is the earlier. */
static int32_t common_ancestor(int32_t *ancestor, int32_t j)
{
    int32_t top = j;
    while (top != ancestor[top]) top = ancestor[top];
    for (int32_t k = j, above; k != top; k = above) {
        above = ancestor[k];
        ancestor[k] = top;
    }
    return top;
}

/* Gilbert, Ng and Peyton 1994: row i of the factor is the subtree of i that its leaves span, so a column is as long as its
 * subtree has leaves more than places where their paths join. */
static void column_lengths(graph *g)
{
    const size_t n = (size_t)g->n;
    const leaves v = { g->work, g->work + n, g->work + 2 * n, g->work + 3 * n };
    int32_t *delta = g->length;
    for (int32_t j = 0; j < g->n; j++) {
        v.first[j] = v.latest[j] = v.last[j] = NONE;
        v.ancestor[j] = j;
    }
    for (int32_t k = 0; k < g->n; k++) {
        const int32_t leaf = g->post[k];
        delta[leaf] = v.first[leaf] == NONE;
        for (int32_t j = leaf; j != NONE && v.first[j] == NONE; j = g->parent[j]) v.first[j] = k;
    }
    for (int32_t k = 0; k < g->n; k++) {
        const int32_t j = g->post[k], parent = g->parent[j];
        if (parent != NONE) delta[parent]--;
        for (int32_t p = g->begin[j]; p < g->begin[j + 1]; p++) {
            const int32_t i = g->high[p], before = v.last[i];
            if (v.first[j] <= v.latest[i]) continue;
            v.latest[i] = v.first[j];
            v.last[i] = j;
            delta[j]++;
            if (before != NONE) delta[common_ancestor(v.ancestor, before)]--;
        }
        if (parent != NONE) v.ancestor[j] = parent;
    }
    for (int32_t j = 0; j < g->n; j++)
        if (g->parent[j] != NONE) g->length[g->parent[j]] += g->length[j];
}

/* Parents and lengths in the order of `post`; place[n]: where each node has gone. */
static void renumber(graph *g, int32_t *place)
{
    const size_t n = (size_t)g->n;
    int32_t *parent = g->work, *length = parent + n;
    for (int32_t k = 0; k < g->n; k++) place[g->post[k]] = k;
    for (int32_t k = 0; k < g->n; k++) {
        const int32_t j = g->post[k];
        parent[k] = g->parent[j] == NONE ? NONE : place[g->parent[j]];
        length[k] = g->length[j];
    }
    memcpy(g->parent, parent, n * sizeof *parent);
    memcpy(g->length, length, n * sizeof *length);
}

/* Columns that follow each other and have the same rows below; super[count + 1].  children[n]: scratch. */
static int32_t fundamental(const graph *g, int32_t *super, int32_t *children)
{
    int32_t count = 0;
    memset(children, 0, (size_t)g->n * sizeof *children);
    for (int32_t j = 0; j < g->n; j++)
        if (g->parent[j] != NONE) children[g->parent[j]]++;
    for (int32_t j = 0; j < g->n; j++)
        if (!j || g->parent[j - 1] != j || g->length[j - 1] != g->length[j] + 1 || children[j] > 1) super[count++] = j;
    super[count] = g->n;
    return count;
}

/* A supernode while supernodes are merged. */
typedef struct merging {
    int32_t cols, rows;
    int64_t zeros;      /* of its entries */
    int32_t parent;
    int32_t into;       /* the supernode that it is part of now; NONE */
} merging;

static int32_t supernode_now(merging *v, int32_t s)
{
    int32_t top = s;
    while (v[top].into != NONE) top = v[top].into;
    for (int32_t k = s, next; v[k].into != NONE; k = next) {
        next = v[k].into;
        v[k].into = top;
    }
    return top;
}

/* Whether v joins its parent, the next one; *zeros: of both together, then. */
static int is_worth_merging(const merging *v, int64_t *zeros)
{
    const merging *up = v + 1;
    const int64_t more = (int64_t)v->cols * (up->rows + v->cols - v->rows), cols = v->cols + up->cols;
    *zeros = up->zeros;
    if (cols <= ALWAYS || !more) return 1;
    *zeros += more;
    const double size = 0.5 * (double)cols * (double)(cols + 1) + (double)cols * (up->rows - up->cols);
    const double share = (double)*zeros / size;
    return ((cols <= FEW && share < ZEROS_OF_FEW) || (cols <= SOME && share < ZEROS_OF_SOME) || share < ZEROS_OF_MANY) &&
           size < (double)INT_MAX / sizeof(double);
}

/* Supernodes that gain few zeros by it join the parent right after them: super[count + 1] of what is left, and rows[count]. */
static int32_t relax(merging *v, int32_t count, int32_t *super, int32_t *rows)
{
    int32_t left = 0;
    for (int32_t s = count - 2; s >= 0; s--) {
        int64_t zeros;
        if (v[s].parent == NONE || supernode_now(v, v[s].parent) != s + 1 || !is_worth_merging(&v[s], &zeros)) continue;
        v[s].zeros = zeros;
        v[s].rows = v[s].cols + v[s + 1].rows;
        v[s].cols += v[s + 1].cols;
        v[s + 1].into = s;
    }
    for (int32_t s = 0; s < count; s++) {
        if (v[s].into != NONE) continue;
        super[left] = super[s];
        rows[left++] = v[s].rows;
    }
    super[left] = super[count];
    return left;
}

/* owner[n]: the supernode of each column */
static void owners(const int32_t *super, int32_t count, int32_t *owner)
{
    for (int32_t s = 0; s < count; s++)
        for (int32_t c = super[s]; c < super[s + 1]; c++) owner[c] = s;
}

static abut_status supernodes(const graph *g, abut_chol_symbolic *out, int32_t *owner, abut_err *err)
{
    int32_t count = fundamental(g, out->super, owner);
    merging *v = malloc(((size_t)count + 1) * sizeof *v);
    if (!v) return abut_no_memory("Cholesky", err);
    owners(out->super, count, owner);
    for (int32_t s = 0; s < count; s++) {
        const int32_t up = g->parent[out->super[s + 1] - 1];
        v[s] = (merging){ out->super[s + 1] - out->super[s], g->length[out->super[s]], 0, up == NONE ? NONE : owner[up], NONE };
    }
    out->count = relax(v, count, out->super, out->rptr);
    free(v);
    owners(out->super, out->count, owner);
    int64_t sum = 0;
    for (int32_t s = 0; s <= out->count; s++) {
        const int32_t rows = s < out->count ? out->rptr[s] : 0;
        if (sum > INT_MAX) return abut_fail(err, ABUT_E_NOMEM, "Cholesky: the factor has 2^31 block rows or more");
        out->rptr[s] = (int32_t)sum;
        sum += rows;
    }
    return ABUT_OK;
}

/* Row k is in the supernodes on the paths from its neighbours before it up to its own.  place: of the nodes of g. */
static void fill_rows(const graph *g, const int32_t *place, const int32_t *owner, abut_chol_symbolic *out)
{
    const size_t n = (size_t)g->n;
    int32_t *next = g->work, *seen = next + n, *up = seen + n;
    for (int32_t s = 0; s < out->count; s++) {
        const int32_t parent = g->parent[out->super[s + 1] - 1];
        next[s] = out->rptr[s];
        seen[s] = NONE;
        up[s] = parent == NONE ? NONE : owner[parent];
    }
    for (int32_t k = 0; k < g->n; k++) {
        const int32_t own = owner[k], old = g->post[k];
        out->row[next[own]++] = k;
        seen[own] = k;
        for (int32_t p = g->first[old]; p < g->first[old + 1]; p++)
            for (int32_t s = owner[place[g->low[p]]]; seen[s] != k; s = up[s]) {
                out->row[next[s]++] = k;
                seen[s] = k;
            }
    }
}

static abut_status analyse(graph *g, const abut_bsr *A, const int32_t *perm, abut_chol_symbolic *out, abut_err *err)
{
    const size_t n = (size_t)g->n;
    int32_t *place = g->work + 3 * n, *owner = place + n;
    order_graph(g, A, perm);
    elimination_tree(g);
    postorder(g);
    column_lengths(g);
    postorder_by_length(g);
    for (int32_t k = 0; k < g->n; k++) out->perm[k] = perm[g->post[k]];
    renumber(g, place);
    const abut_status rc = supernodes(g, out, owner, err);
    if (rc) return rc;
    out->row = new_numbers((size_t)out->rptr[out->count]);
    if (!out->row) return abut_no_memory("Cholesky", err);
    fill_rows(g, place, owner, out);
    return ABUT_OK;
}

abut_status abut_chol_symbolic_make(abut_chol_symbolic *out, const abut_bsr *A, const int32_t *perm, abut_err *err)
{
    assert(A);
    const size_t n = (size_t)A->n;
    graph g;
    *out = (abut_chol_symbolic){ .n = A->n };
    out->perm = new_numbers(n);
    out->super = new_numbers(n);
    out->rptr = new_numbers(n);
    abut_status rc = graph_new(&g, A) && out->perm && out->super && out->rptr ? ABUT_OK : abut_no_memory("Cholesky", err);
    if (!rc) rc = analyse(&g, A, perm, out, err);
    graph_clear(&g);
    if (rc) abut_chol_symbolic_clear(out);
    return rc;
}

void abut_chol_symbolic_clear(abut_chol_symbolic *s)
{
    ABUT_FREE(s->perm, s->super, s->rptr, s->row);
    *s = (abut_chol_symbolic){ 0 };
}

/* ---- their tree ---- */

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
    if (!t->col || !t->rptr || !t->xptr || !t->gptr || !t->row) return abut_no_memory("Cholesky", err);
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
    if (!t->uptr || !t->parent) return abut_no_memory("Cholesky", err);
    walk_updates(t, owner, 0);
    size_t sum = 0;
    for (int32_t s = 0; s <= t->ns; s++) {
        const size_t k = t->uptr[s];
        t->uptr[s] = sum;
        sum += k;
    }
    t->upd = new_array(sum, sizeof *t->upd);
    if (!t->upd) return abut_no_memory("Cholesky", err);
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
    if (!t->cptr || !t->child || !t->inparent) return abut_no_memory("Cholesky", err);
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
    if (!cut->sub || !cut->is_top) return abut_no_memory("Cholesky", err);
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
    abut_status rc = work && size && t->first ? ABUT_OK : abut_no_memory("Cholesky", err);
    t->nnz = t->flops = 0;
    for (int32_t s = 0; s < t->ns && !rc; s++) {
        t->flops += work[s] = count_work(t, s, &t->nnz);
        size[s] = (double)(t->xptr[s + 1] - t->xptr[s]);
        t->first[s] = t->cptr[s] < t->cptr[s + 1] ? t->first[t->child[t->cptr[s]]] : s;
    }
    if (!rc) rc = make_cut(t, SHARES_OF_WORK, work, &t->by_work, err);
    if (!rc) rc = make_cut(t, SHARES_OF_SIZE, size, &t->by_size, err);
    ABUT_FREE(work, size);
    return rc;
}

abut_status abut_chol_tree_make(abut_chol_tree *t, int32_t n, int32_t count, const int32_t *super, const int32_t *rptr,
                                const int32_t *rows, abut_err *err)
{
    assert(n >= 0 && count >= 0);
    *t = (abut_chol_tree){ .n = n };
    int32_t *owner = new_array((size_t)n, sizeof *owner);
    abut_status rc = owner ? make_panels(t, count, super, rptr, rows, err) : abut_no_memory("Cholesky", err);
    if (!rc) {
        owners(t->col, t->ns, owner);
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
    ABUT_FREE(t->col, t->rptr, t->row, t->xptr, t->gptr, t->parent, t->cptr, t->child, t->inparent, t->uptr, t->upd, t->first,
              t->by_work.sub, t->by_work.is_top, t->by_size.sub, t->by_size.is_top);
    *t = (abut_chol_tree){ 0 };
}

#include "linalg/chol_scalar.h"

#include "base/par.h"
#include "linalg/blas.h"
#include "linalg/lanes.h"

#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* A supernode takes its parent in while this many columns and this share of stored zeros are not passed. */
#define WIDEST 128
#define NARROW 16
#define ZEROS_NARROW 0.4
#define ZEROS_WIDE 0.15

/* Subtrees of at most this share of the factor are worked on by one thread each. */
#define SUBTREE_SHARE (1.0 / 16)

struct abut_chol_scalar {
    int32_t n, ns;
    int32_t *perm;          /* [n] row eliminated k-th */
    int32_t *col;           /* [ns + 1] first column of each supernode, children before parents */
    size_t *rptr;           /* [ns + 1] rows of s: its own columns, then those below, ascending */
    int32_t *row;           /* [rptr[ns]] */
    int32_t *inparent;      /* [rptr[ns]] where a row below stands among the rows of the parent */
    int32_t *parent;        /* [ns] -1: root */
    int32_t *cptr, *child;  /* [ns + 1], [ns] */
    size_t *xptr;           /* [ns + 1] panel of s in L: rows by columns, row major; on the diagonal the inverse pivots */
    double *L;
    abut_lanes *x;          /* [n] */
    abut_lanes *z;          /* [rptr[ns]] */
    int32_t nsub, ntop;     /* subtrees [sub[2 i], sub[2 i + 1]), and the supernodes above them */
    int32_t *sub, *top;
    double flops;
};

/* The permuted matrix: strict lower triangle by columns, and its diagonal. */
typedef struct lower {
    size_t *ptr;            /* [n + 1] */
    int32_t *row;
    double *val, *diag;
} lower;

static abut_status no_memory(abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "scalar Cholesky: out of memory");
}

static void *new_array(size_t n, size_t size)
{
    return n > SIZE_MAX / size - 1 ? NULL : calloc(n + 1, size);
}

/* ---- the permuted matrix ---- */

static void lower_clear(lower *A)
{
    free(A->ptr);
    free(A->row);
    free(A->val);
    free(A->diag);
    *A = (lower){ 0 };
}

static abut_status permute(const abut_bsr *A, const int32_t *perm, lower *to, abut_err *err)
{
    const size_t n = (size_t)A->n;
    int32_t *at = new_array(n, sizeof *at);
    *to = (lower){ new_array(n, sizeof *to->ptr), new_array(A->nnz, sizeof *to->row), new_array(A->nnz, sizeof *to->val),
                   new_array(n, sizeof *to->diag) };
    if (!at || !to->ptr || !to->row || !to->val || !to->diag) {
        free(at);
        lower_clear(to);
        return no_memory(err);
    }
    for (int32_t k = 0; k < A->n; k++) at[perm[k]] = k;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t c = 0; c < A->n; c++)
            for (size_t k = A->ptr[c]; k < A->ptr[c + 1]; k++) {
                const int32_t i = at[A->row[k]], j = at[c], lo = i < j ? i : j, hi = i < j ? j : i;
                if (lo == hi) {
                    to->diag[lo] = A->val[9 * k];
                } else if (pass == 0) {
                    to->ptr[lo + 1]++;
                } else {
                    to->row[to->ptr[lo]] = hi;
                    to->val[to->ptr[lo]++] = A->val[9 * k];
                }
            }
        if (pass == 0)
            for (size_t c = 0; c < n; c++) to->ptr[c + 1] += to->ptr[c];
    }
    for (size_t c = n; c > 0; c--) to->ptr[c] = to->ptr[c - 1];
    to->ptr[0] = 0;
    free(at);
    return ABUT_OK;
}

/* ---- analysis ---- */

/* Elimination tree (Liu 1990): rows of the matrix in order, each entry climbs to the root of what is known. */
static abut_status elimination_tree(int32_t n, const lower *A, int32_t *parent, abut_err *err)
{
    const size_t nnz = A->ptr[n];
    size_t *ptr = new_array((size_t)n + 1, sizeof *ptr);
    int32_t *col = new_array(nnz, sizeof *col), *root = new_array((size_t)n, sizeof *root);
    const int ok = ptr && col && root;
    if (ok) {
        for (size_t k = 0; k < nnz; k++) ptr[A->row[k] + 2]++;
        for (int32_t i = 0; i < n; i++) ptr[i + 1] += ptr[i];
        for (int32_t c = 0; c < n; c++)
            for (size_t k = A->ptr[c]; k < A->ptr[c + 1]; k++) col[ptr[A->row[k] + 1]++] = c;
        for (int32_t i = 0; i < n; i++) {
            parent[i] = root[i] = -1;
            for (size_t k = ptr[i]; k < ptr[i + 1]; k++)
                for (int32_t j = col[k]; j != i;) {
                    const int32_t next = root[j];
                    root[j] = i;
                    if (next < 0) parent[j] = i;
                    j = next < 0 ? i : next;
                }
        }
    }
    free(ptr);
    free(col);
    free(root);
    return ok ? ABUT_OK : no_memory(err);
}

/* order[k] = k-th column of a walk that meets children before parents, and subtrees whole */
static abut_status postorder(int32_t n, const int32_t *parent, int32_t *order, abut_err *err)
{
    int32_t *head = new_array((size_t)n + 1, sizeof *head), *next = new_array((size_t)n, sizeof *next),
            *stack = new_array((size_t)n, sizeof *stack);
    const int ok = head && next && stack;
    if (ok) {
        for (int32_t i = 0; i <= n; i++) head[i] = -1;
        for (int32_t i = n - 1; i >= 0; i--) {
            const int32_t p = parent[i] < 0 ? n : parent[i];
            next[i] = head[p];
            head[p] = i;
        }
        int32_t k = 0, depth = 0;
        for (int32_t r = head[n]; r >= 0; r = next[r]) {
            stack[depth++] = r;
            while (depth) {
                const int32_t i = stack[depth - 1], c = head[i];
                if (c >= 0) {
                    head[i] = next[c];
                    stack[depth++] = c;
                } else {
                    order[k++] = i;
                    depth--;
                }
            }
        }
    }
    free(head);
    free(next);
    free(stack);
    return ok ? ABUT_OK : no_memory(err);
}

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Rows below the diagonal of every column of L, ascending: those of the matrix and of the children. */
typedef struct columns {
    int32_t **row, *count;
} columns;

static void columns_clear(columns *c, int32_t n)
{
    for (int32_t i = 0; c->row && i < n; i++) free(c->row[i]);
    free(c->row);
    free(c->count);
    *c = (columns){ 0 };
}

static abut_status find_columns(int32_t n, const lower *A, const int32_t *parent, columns *out, abut_err *err)
{
    int32_t *mark = new_array((size_t)n, sizeof *mark), *list = new_array((size_t)n, sizeof *list),
            *first = new_array((size_t)n, sizeof *first), *next = new_array((size_t)n, sizeof *next);
    *out = (columns){ new_array((size_t)n, sizeof *out->row), new_array((size_t)n, sizeof *out->count) };
    int ok = mark && list && first && next && out->row && out->count;
    for (int32_t j = 0; ok && j < n; j++) first[j] = mark[j] = -1;
    for (int32_t j = 0; ok && j < n; j++) {
        int32_t k = 0;
        mark[j] = j;
        for (size_t e = A->ptr[j]; e < A->ptr[j + 1]; e++)
            if (mark[A->row[e]] != j) mark[A->row[e]] = j, list[k++] = A->row[e];
        for (int32_t c = first[j]; c >= 0; c = next[c])
            for (int32_t e = 0; e < out->count[c]; e++)
                if (mark[out->row[c][e]] != j) mark[out->row[c][e]] = j, list[k++] = out->row[c][e];
        qsort(list, (size_t)k, sizeof *list, ascending);
        out->row[j] = new_array((size_t)k, sizeof *list);
        out->count[j] = k;
        ok = out->row[j] != NULL;
        if (ok) memcpy(out->row[j], list, (size_t)k * sizeof *list);
        if (parent[j] >= 0) next[j] = first[parent[j]], first[parent[j]] = j;
    }
    free(mark);
    free(list);
    free(first);
    free(next);
    if (!ok) columns_clear(out, n);
    return ok ? ABUT_OK : no_memory(err);
}

/* Columns that follow each other and their parents, with nearly the same rows, become one supernode. */
static abut_status find_supernodes(abut_chol_scalar *c, const int32_t *parent, const columns *L, abut_err *err)
{
    c->col = new_array((size_t)c->n + 1, sizeof *c->col);
    c->rptr = new_array((size_t)c->n + 1, sizeof *c->rptr);
    c->xptr = new_array((size_t)c->n + 1, sizeof *c->xptr);
    if (!c->col || !c->rptr || !c->xptr) return no_memory(err);
    for (int32_t j = 0; j < c->n;) {
        double used = L->count[j] + 1;
        int32_t last = j;
        while (last + 1 < c->n && parent[last] == last + 1 && last + 1 - j < WIDEST) {
            const double width = last + 2 - j, stored = width * (width + 1) / 2 + width * L->count[last + 1];
            const double more = used + L->count[last + 1] + 1;
            if (stored - more > (width <= NARROW ? ZEROS_NARROW : ZEROS_WIDE) * stored) break;
            used = more;
            last++;
        }
        const size_t width = (size_t)(last + 1 - j), rows = width + (size_t)L->count[last];
        c->col[c->ns] = j;
        c->rptr[c->ns + 1] = c->rptr[c->ns] + rows;
        c->xptr[c->ns + 1] = c->xptr[c->ns] + rows * width;
        for (size_t k = 0; k < width; k++) c->flops += (double)((rows - k) * (rows - k));
        c->ns++;
        j = last + 1;
    }
    c->col[c->ns] = c->n;
    return ABUT_OK;
}

static int32_t width_of(const abut_chol_scalar *c, int32_t s) { return c->col[s + 1] - c->col[s]; }
static int32_t rows_of(const abut_chol_scalar *c, int32_t s) { return (int32_t)(c->rptr[s + 1] - c->rptr[s]); }

static abut_status connect(abut_chol_scalar *c, const columns *L, abut_err *err)
{
    const size_t ns = (size_t)c->ns;
    int32_t *owner = new_array((size_t)c->n, sizeof *owner);
    c->row = new_array(c->rptr[ns], sizeof *c->row);
    c->inparent = new_array(c->rptr[ns], sizeof *c->inparent);
    c->parent = new_array(ns, sizeof *c->parent);
    c->cptr = new_array(ns + 1, sizeof *c->cptr);
    c->child = new_array(ns, sizeof *c->child);
    const int ok = owner && c->row && c->inparent && c->parent && c->cptr && c->child;
    for (int32_t s = 0; ok && s < c->ns; s++) {
        const int32_t w = width_of(c, s), last = c->col[s + 1] - 1;
        int32_t *row = c->row + c->rptr[s];
        for (int32_t k = 0; k < w; k++) row[k] = c->col[s] + k, owner[row[k]] = s;
        memcpy(row + w, L->row[last], (size_t)L->count[last] * sizeof *row);
    }
    for (int32_t s = 0; ok && s < c->ns; s++) {
        const int32_t w = width_of(c, s), m = rows_of(c, s), *row = c->row + c->rptr[s];
        const int32_t p = c->parent[s] = w < m ? owner[row[w]] : -1;
        if (p < 0) continue;
        c->cptr[p + 1]++;
        const int32_t *of_parent = c->row + c->rptr[p];
        for (int32_t i = w, at = 0; i < m; i++) {
            while (of_parent[at] != row[i]) at++;
            c->inparent[c->rptr[s] + (size_t)i] = at;
        }
    }
    for (int32_t s = 0; ok && s < c->ns; s++) c->cptr[s + 1] += c->cptr[s];
    for (int32_t s = 0; ok && s < c->ns; s++)
        if (c->parent[s] >= 0) c->child[c->cptr[c->parent[s]]++] = s;
    for (int32_t s = ok ? c->ns : 0; s > 0; s--) c->cptr[s] = c->cptr[s - 1];
    if (ok) c->cptr[0] = 0;
    free(owner);
    return ok ? ABUT_OK : no_memory(err);
}

/* Which subtrees one thread works on alone: by the factor's entries, whatever the number of threads. */
static abut_status find_subtrees(abut_chol_scalar *c, abut_err *err)
{
    const size_t ns = (size_t)c->ns;
    double *work = new_array(ns, sizeof *work);
    int32_t *size = new_array(ns, sizeof *size);
    c->sub = new_array(2 * ns, sizeof *c->sub);
    c->top = new_array(ns, sizeof *c->top);
    const int ok = work && size && c->sub && c->top;
    const double most = SUBTREE_SHARE * (double)c->xptr[ns];
    for (int32_t s = 0; ok && s < c->ns; s++) {
        work[s] += (double)(c->xptr[s + 1] - c->xptr[s]);
        size[s]++;
        if (c->parent[s] < 0) continue;
        work[c->parent[s]] += work[s];
        size[c->parent[s]] += size[s];
    }
    for (int32_t s = 0; ok && s < c->ns; s++) {
        if (work[s] > most) {
            c->top[c->ntop++] = s;
        } else if (c->parent[s] < 0 || work[c->parent[s]] > most) {
            c->sub[2 * c->nsub] = s - size[s] + 1;
            c->sub[2 * c->nsub++ + 1] = s + 1;
        }
    }
    free(work);
    free(size);
    return ok ? ABUT_OK : no_memory(err);
}

static abut_status check_perm(int32_t n, const int32_t *perm, abut_err *err)
{
    unsigned char *seen = new_array((size_t)n, 1);
    if (!seen) return no_memory(err);
    abut_status rc = ABUT_OK;
    for (int32_t k = 0; perm && k < n && !rc; k++) {
        if (perm[k] < 0 || perm[k] >= n || seen[perm[k]])
            rc = abut_fail(err, ABUT_E_ARG, "scalar Cholesky: ordering: entry %d is %d, out of 0 .. %d or met before", k, perm[k],
                           n - 1);
        else
            seen[perm[k]] = 1;
    }
    free(seen);
    return rc;
}

/* c->perm: the ordering, and within it the postorder of its tree, which keeps the fill. */
static abut_status order(abut_chol_scalar *c, const abut_bsr *A, const int32_t *perm, abut_err *err)
{
    lower P = { 0 };
    int32_t *parent = new_array((size_t)c->n, sizeof *parent), *post = new_array((size_t)c->n, sizeof *post),
            *given = new_array((size_t)c->n, sizeof *given);
    abut_status rc = parent && post && given ? check_perm(c->n, perm, err) : no_memory(err);
    for (int32_t k = 0; !rc && k < c->n; k++) given[k] = perm ? perm[k] : k;
    if (!rc) rc = permute(A, given, &P, err);
    if (!rc) rc = elimination_tree(c->n, &P, parent, err);
    if (!rc) rc = postorder(c->n, parent, post, err);
    for (int32_t k = 0; !rc && k < c->n; k++) c->perm[k] = given[post[k]];
    lower_clear(&P);
    free(parent);
    free(post);
    free(given);
    return rc;
}

static abut_status analyse(abut_chol_scalar *c, const lower *P, abut_err *err)
{
    columns L = { 0 };
    int32_t *parent = new_array((size_t)c->n, sizeof *parent);
    abut_status rc = parent ? elimination_tree(c->n, P, parent, err) : no_memory(err);
    if (!rc) rc = find_columns(c->n, P, parent, &L, err);
    if (!rc) rc = find_supernodes(c, parent, &L, err);
    if (!rc) rc = connect(c, &L, err);
    if (!rc) rc = find_subtrees(c, err);
    columns_clear(&L, c->n);
    free(parent);
    return rc;
}

/* ---- factorisation ---- */

static const double one = 1, minus_one = -1;

/* The front of s, column major, lower triangle: the matrix and what the children leave. */
static void assemble_front(const abut_chol_scalar *c, int32_t s, const lower *P, double **update, int32_t *place, double *F)
{
    const int32_t m = rows_of(c, s), *row = c->row + c->rptr[s];
    memset(F, 0, (size_t)m * (size_t)m * sizeof *F);
    for (int32_t i = 0; i < m; i++) place[row[i]] = i;
    for (int32_t k = 0; k < width_of(c, s); k++) {
        double *column = F + (size_t)k * (size_t)m;
        column[k] = P->diag[row[k]];
        for (size_t e = P->ptr[row[k]]; e < P->ptr[row[k] + 1]; e++) column[place[P->row[e]]] += P->val[e];
    }
    for (int32_t e = c->cptr[s]; e < c->cptr[s + 1]; e++) {
        const int32_t b = c->child[e], w = width_of(c, b), n = rows_of(c, b) - w, *to = c->inparent + c->rptr[b] + w;
        for (int32_t j = 0; j < n; j++)
            for (int32_t i = j; i < n; i++)
                F[(size_t)to[j] * (size_t)m + (size_t)to[i]] += update[b][(size_t)j * (size_t)n + (size_t)i];
        free(update[b]);
        update[b] = NULL;
    }
}

/* The columns of s, and in *update what they leave for the rows below.  Returns a bad column, or -1. */
static int32_t eliminate(int32_t m, int32_t w, double *F, double *update)
{
    const int rows = m, cols = w, below = m - w;
    int info = 0;
    dpotrf_("L", &cols, F, &rows, &info);
    if (info > 0) return info - 1;
    for (int32_t k = 0; k < w; k++)
        if (!(F[(size_t)k * (size_t)m + (size_t)k] < HUGE_VAL)) return k;
    if (!below) return -1;
    dtrsm_("R", "L", "T", "N", &below, &cols, &one, F, &rows, F + w, &rows);
    for (int32_t j = 0; j < below; j++)
        memcpy(update + (size_t)j * (size_t)below, F + (size_t)(w + j) * (size_t)m + w, (size_t)below * sizeof *F);
    dsyrk_("L", "N", &below, &cols, &minus_one, F + w, &rows, &one, update, &below);
    return -1;
}

static void store_panel(int32_t m, int32_t w, const double *F, double *L)
{
    for (int32_t i = 0; i < m; i++)
        for (int32_t k = 0; k < w; k++) {
            const double v = F[(size_t)k * (size_t)m + (size_t)i];
            L[(size_t)i * (size_t)w + (size_t)k] = i < k ? 0 : i == k ? 1 / v : v;
        }
}

static abut_status factor_all(abut_chol_scalar *c, const lower *P, double **update, int32_t *place, double *F, abut_err *err)
{
    for (int32_t s = 0; s < c->ns; s++) {
        const int32_t m = rows_of(c, s), w = width_of(c, s);
        const size_t below = (size_t)(m - w);
        assemble_front(c, s, P, update, place, F);
        update[s] = new_array(below * below, sizeof **update);
        if (!update[s]) return no_memory(err);
        const int32_t bad = eliminate(m, w, F, update[s]);
        if (bad >= 0)
            return abut_fail(err, ABUT_E_NUMERIC, "scalar Cholesky: pivot %d is not positive", c->perm[c->col[s] + bad]);
        store_panel(m, w, F, c->L + c->xptr[s]);
        if (c->parent[s] < 0) free(update[s]), update[s] = NULL;
    }
    return ABUT_OK;
}

static abut_status factor(abut_chol_scalar *c, const lower *P, abut_err *err)
{
    size_t largest = 1;
    for (int32_t s = 0; s < c->ns; s++) largest = (size_t)rows_of(c, s) > largest ? (size_t)rows_of(c, s) : largest;
    double **update = new_array((size_t)c->ns, sizeof *update), *F = new_array(largest * largest, sizeof *F);
    int32_t *place = new_array((size_t)c->n, sizeof *place);
    c->L = new_array(c->xptr[c->ns], sizeof *c->L);
    c->x = aligned_alloc(sizeof(abut_lanes), ((size_t)c->n + 1) * sizeof(abut_lanes));
    c->z = aligned_alloc(sizeof(abut_lanes), (c->rptr[c->ns] + 1) * sizeof(abut_lanes));
    abut_status rc = update && F && place && c->L && c->x && c->z ? ABUT_OK : no_memory(err);
    if (!rc) {
        #pragma omp parallel num_threads(1)
        {
            omp_set_num_threads(1);     /* for BLAS, inside this region: its bits would know the threads */
            rc = factor_all(c, P, update, place, F, err);
        }
    }
    for (int32_t s = 0; update && s < c->ns; s++) free(update[s]);
    free(update);
    free(F);
    free(place);
    return rc;
}

/* ---- substitution ---- */

/* y of s from the right-hand side and the children, in order */
static void gather(const abut_chol_scalar *c, int32_t s)
{
    abut_lanes *y = c->z + c->rptr[s];
    const size_t w = (size_t)width_of(c, s), m = (size_t)rows_of(c, s);
    const abut_lanes *x = c->x + c->col[s];
    for (size_t i = 0; i < w; i++) y[i] = x[i];
    for (size_t i = w; i < m; i++) y[i] = ABUT_LANES_ALL(0.);
    for (int32_t e = c->cptr[s]; e < c->cptr[s + 1]; e++) {
        const int32_t b = c->child[e];
        for (size_t i = c->rptr[b] + (size_t)width_of(c, b); i < c->rptr[b + 1]; i++) y[c->inparent[i]] += c->z[i];
    }
}

/* y = L^-1 y in the columns, minus what they give to the rows below in those */
ABUT_LANES_CLONES
static void forward(const double *L, size_t w, size_t m, abut_lanes *y)
{
    for (size_t i = 0; i < w; i++) {
        abut_lanes v = y[i];
        for (size_t k = 0; k < i; k++) v -= L[i * w + k] * y[k];
        y[i] = v * L[i * w + i];
    }
    size_t i = w;
    for (; i + 4 <= m; i += 4) {
        const double *p = L + i * w, *q = p + w, *r = q + w, *s = r + w;
        abut_lanes a = y[i], b = y[i + 1], c = y[i + 2], d = y[i + 3];
        for (size_t k = 0; k < w; k++) {
            const abut_lanes v = y[k];
            a -= p[k] * v;
            b -= q[k] * v;
            c -= r[k] * v;
            d -= s[k] * v;
        }
        y[i] = a;
        y[i + 1] = b;
        y[i + 2] = c;
        y[i + 3] = d;
    }
    for (; i < m; i++) {
        abut_lanes v = y[i];
        for (size_t k = 0; k < w; k++) v -= L[i * w + k] * y[k];
        y[i] = v;
    }
}

/* y[w] = L^-T y in the columns, with the solution x in the rows below */
ABUT_LANES_CLONES
static void backward(const double *L, size_t w, size_t m, const int32_t *row, const abut_lanes *x, abut_lanes *y)
{
    size_t i = w;
    for (; i + 4 <= m; i += 4) {
        const double *p = L + i * w, *q = p + w, *r = q + w, *s = r + w;
        const abut_lanes a = x[row[i]], b = x[row[i + 1]], c = x[row[i + 2]], d = x[row[i + 3]];
        for (size_t k = 0; k < w; k++) y[k] -= (p[k] * a + q[k] * b) + (r[k] * c + s[k] * d);
    }
    for (; i < m; i++) {
        const abut_lanes a = x[row[i]];
        for (size_t k = 0; k < w; k++) y[k] -= L[i * w + k] * a;
    }
    for (i = w; i-- > 0;) {
        const abut_lanes v = y[i] * L[i * w + i];
        for (size_t k = 0; k < i; k++) y[k] -= L[i * w + k] * v;
        y[i] = v;
    }
}

static void down(const abut_chol_scalar *c, int32_t s)
{
    gather(c, s);
    forward(c->L + c->xptr[s], (size_t)width_of(c, s), (size_t)rows_of(c, s), c->z + c->rptr[s]);
}

static void up(const abut_chol_scalar *c, int32_t s)
{
    abut_lanes *y = c->z + c->rptr[s];
    const int32_t w = width_of(c, s);
    backward(c->L + c->xptr[s], (size_t)w, (size_t)rows_of(c, s), c->row + c->rptr[s], c->x, y);
    for (int32_t i = 0; i < w; i++) c->x[c->col[s] + i] = y[i];
}

void abut_chol_scalar_solve(abut_chol_scalar *c, const double *b, double *x)
{
    for (int32_t k = 0; k < c->n; k++) {
        const double *from = b + 3 * (size_t)c->perm[k];
        c->x[k] = (abut_lanes){ from[0], from[1], from[2], 0 };
    }
    #pragma omp parallel if (c->n >= (int32_t)ABUT_PAR_MIN)
    {
        #pragma omp for schedule(dynamic, 1)
        for (int32_t i = 0; i < c->nsub; i++)
            for (int32_t s = c->sub[2 * i]; s < c->sub[2 * i + 1]; s++) down(c, s);
        #pragma omp single
        {
            for (int32_t i = 0; i < c->ntop; i++) down(c, c->top[i]);
            for (int32_t i = c->ntop - 1; i >= 0; i--) up(c, c->top[i]);
        }
        #pragma omp for schedule(dynamic, 1)
        for (int32_t i = 0; i < c->nsub; i++)
            for (int32_t s = c->sub[2 * i + 1] - 1; s >= c->sub[2 * i]; s--) up(c, s);
    }
    for (int32_t k = 0; k < c->n; k++)
        for (int d = 0; d < 3; d++) x[3 * (size_t)c->perm[k] + (size_t)d] = c->x[k][d];
}

/* ---- public ---- */

abut_status abut_chol_scalar_new(abut_chol_scalar **out, const abut_bsr *A, const int32_t *perm, abut_err *err)
{
    lower P = { 0 };
    abut_chol_scalar *c = calloc(1, sizeof *c);
    if (!c) return no_memory(err);
    c->n = A->n;
    c->perm = new_array((size_t)c->n, sizeof *c->perm);
    abut_status rc = c->perm ? order(c, A, perm, err) : no_memory(err);
    if (!rc) rc = permute(A, c->perm, &P, err);
    if (!rc) rc = analyse(c, &P, err);
    if (!rc) rc = factor(c, &P, err);
    lower_clear(&P);
    if (rc) abut_chol_scalar_free(&c);
    else *out = c;
    return rc;
}

abut_chol_scalar_stats abut_chol_scalar_get_stats(const abut_chol_scalar *c)
{
    return (abut_chol_scalar_stats){ (double)c->xptr[c->ns], c->flops, c->ns };
}

void abut_chol_scalar_free(abut_chol_scalar **out)
{
    abut_chol_scalar *c = *out;
    if (!c) return;
    free(c->perm);
    free(c->col);
    free(c->rptr);
    free(c->row);
    free(c->inparent);
    free(c->parent);
    free(c->cptr);
    free(c->child);
    free(c->xptr);
    free(c->L);
    free(c->x);
    free(c->z);
    free(c->sub);
    free(c->top);
    free(c);
    *out = NULL;
}

#include "sparse/own/cholesky.h"

#include "base/arena.h"
#include "sparse/linear_solver.h"
#include "sparse/own/tree.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };     /* bytes of the cache */

/* Memory that is kept from one analysis to the next. */
typedef struct room {
    void *v;
    size_t cap;             /* bytes */
} room;

/* The factor that there is. */
typedef enum numbers { NONE, SINGLE, DOUBLE } numbers;

struct abut_chol {
    int32_t n;              /* blocks; -1: no analysis */
    size_t nnz;             /* blocks of the matrix */
    int threads;
    numbers factored;
    int32_t bad_row;        /* block row of the pivot that failed last, or -1 */
    int32_t *perm;          /* [n] perm[k] = block row eliminated k-th, after postordering */
    abut_chol_tree tree;
    abut_chol_pattern A;
    room L;                 /* [tree.xptr[ns]] doubles or floats */
    room x, z;              /* of a solve: [3 n], [3 ABUT_GROUP gptr[ns]] of the same */
    room skip;              /* [tree.ns] of a solution for parts */
    abut_chol_work *work;   /* [threads] */
    atomic_int *pending;    /* [tree.ns] */
};

/* ---- analysis ---- */

static abut_status perm_check(int32_t n, const int32_t *perm, abut_err *err)
{
    unsigned char *seen = calloc((size_t)n + 1, 1);
    if (!seen) return abut_no_memory("Cholesky", err);
    abut_status rc = ABUT_OK;
    for (int32_t k = 0; k < n && !rc; k++) {
        if (perm[k] < 0 || perm[k] >= n || seen[perm[k]])
            rc = abut_fail(err, ABUT_E_ARG, "Cholesky: ordering: entry %d is %d, out of 0 .. %d or met before", k, perm[k],
                           n - 1);
        else
            seen[perm[k]] = 1;
    }
    free(seen);
    return rc;
}

static abut_status analyse(abut_chol *c, const abut_bsr *A, const int32_t *perm, abut_err *err)
{
    abut_chol_symbolic s = { 0 };
    abut_status rc = perm ? ABUT_OK : abut_cholmod_order(A, c->perm, err);
    if (!rc) rc = abut_chol_symbolic_make(&s, A, perm ? perm : c->perm, err);
    if (!rc) {
        memcpy(c->perm, s.perm, (size_t)c->n * sizeof *c->perm);
        rc = abut_chol_tree_make(&c->tree, c->n, s.count, s.super, s.rptr, s.row, err);
    }
    abut_chol_symbolic_clear(&s);
    return rc;
}

/* ---- the permuted matrix ---- */

/* The place of block (r, col) of the matrix in the lower triangle; returns 1 when transposed. */
static inline int goes_to(const int32_t *iperm, int32_t r, int32_t col, int32_t *to_row, int32_t *to_col)
{
    const int32_t pr = iperm[r], pc = iperm[col];
    const int transposed = pr < pc;
    *to_row = transposed ? pc : pr;
    *to_col = transposed ? pr : pc;
    return transposed;
}

static void place_blocks(abut_chol_pattern *to, const abut_bsr *A, const int32_t *iperm)
{
    int32_t to_row, to_col;
    memset(to->first, 0, ((size_t)A->n + 1) * sizeof *to->first);
    for (int32_t col = 0; col < A->n; col++)
        for (size_t k = A->ptr[col]; k < A->ptr[col + 1]; k++) {
            goes_to(iperm, A->row[k], col, &to_row, &to_col);
            to->first[to_col + 1]++;
        }
    for (int32_t col = 0; col < A->n; col++) to->first[col + 1] += to->first[col];
    for (int32_t col = 0; col < A->n; col++)
        for (size_t k = A->ptr[col]; k < A->ptr[col + 1]; k++) {
            const int transposed = goes_to(iperm, A->row[k], col, &to_row, &to_col);
            const int32_t at = to->first[to_col]++;
            to->row[at] = to_row;
            to->source[at] = 2 * (uint32_t)k + (uint32_t)transposed;
        }
    for (int32_t col = A->n; col > 0; col--) to->first[col] = to->first[col - 1];
    to->first[0] = 0;
}

static abut_status make_pattern(abut_chol *c, const abut_bsr *A, abut_err *err)
{
    const size_t n = (size_t)c->n;
    c->A.first = abut_array_new(n, sizeof *c->A.first);
    c->A.row = abut_array_new(A->nnz, sizeof *c->A.row);
    c->A.source = abut_array_new(A->nnz, sizeof *c->A.source);
    int32_t *iperm = abut_array_new(n, sizeof *iperm);
    const int ok = c->A.first && c->A.row && c->A.source && iperm;
    if (ok) {
        for (int32_t k = 0; k < c->n; k++) iperm[c->perm[k]] = k;
        place_blocks(&c->A, A, iperm);
    }
    free(iperm);
    return ok ? ABUT_OK : abut_no_memory("Cholesky", err);
}

/* ---- memory of the numeric phases ---- */

/* Makes room for n elements of any value, aligned to a cache line. */
static int reserve(room *r, size_t n, size_t size)
{
    if (r->v && r->cap / size >= n) return 1;
    free(r->v);
    const int fits = n < PTRDIFF_MAX / size - LINE;
    *r = (room){ fits ? aligned_alloc(LINE, (n * size / LINE + 1) * LINE) : NULL, n * size };
    return r->v != NULL;
}

static abut_status make_room(abut_chol *c, abut_err *err)
{
    const abut_chol_tree *t = &c->tree;
    const size_t n = (size_t)c->n;
    c->pending = abut_array_new((size_t)t->ns, sizeof *c->pending);
    if (!reserve(&c->x, 3 * n, sizeof(double)) || !reserve(&c->z, 3 * ABUT_GROUP * t->gptr[t->ns], sizeof(double)) || !c->pending)
        return abut_no_memory("Cholesky", err);
    for (int i = 0; i < c->threads; i++) {
        abut_chol_work *w = &c->work[i];
        free(w->place);
        w->place = abut_array_new(n, sizeof *w->place);
        if (!w->at) w->at = abut_array_new(ABUT_TILE, sizeof *w->at);
        if (!w->packed) w->packed = abut_array_new(ABUT_PACKED_ROWS, sizeof(double));
        if (!w->place || !w->at || !w->packed) return abut_no_memory("Cholesky", err);
    }
    return ABUT_OK;
}

/* All of one analysis; the rooms stay. */
static void forget(abut_chol *c)
{
    abut_chol_tree_clear(&c->tree);
    ABUT_FREE(c->A.first, c->A.row, c->A.source, c->perm, c->pending);
    c->pending = NULL;
    c->A = (abut_chol_pattern){ 0 };
    c->perm = NULL;
    c->n = -1;
    c->factored = NONE;
}

/* ---- public ---- */

abut_status abut_chol_renew(abut_chol *c, const abut_bsr *A, const int32_t *perm, abut_err *err)
{
    assert(A);
    forget(c);
    if (A->n > INT_MAX / 3 || A->nnz > INT_MAX)
        return abut_fail(err, ABUT_E_ARG, "Cholesky: %d block rows, %zu blocks: too many", A->n, A->nnz);
    abut_status rc = perm ? perm_check(A->n, perm, err) : ABUT_OK;
    if (rc) return rc;
    c->n = A->n;
    c->nnz = A->nnz;
    c->perm = abut_array_new((size_t)c->n, sizeof *c->perm);
    rc = c->perm ? analyse(c, A, perm, err) : abut_no_memory("Cholesky", err);
    if (!rc) rc = make_pattern(c, A, err);
    if (!rc) rc = make_room(c, err);
    if (rc) forget(c);
    return rc;
}

abut_status abut_chol_new(abut_chol **out, const abut_bsr *A, const int32_t *perm, int threads, abut_err *err)
{
    if (threads < 1) return abut_fail(err, ABUT_E_ARG, "Cholesky: %d threads, want at least 1", threads);
    abut_chol *c = calloc(1, sizeof *c);
    if (!c) return abut_no_memory("Cholesky", err);
    c->threads = threads;
    c->work = calloc((size_t)threads, sizeof *c->work);
    const abut_status rc = c->work ? abut_chol_renew(c, A, perm, err) : abut_no_memory("Cholesky", err);
    if (rc) abut_chol_free(&c);
    else *out = c;
    return rc;
}

static abut_status factor(abut_chol *c, const abut_bsr *A, numbers want, abut_err *err)
{
    if (A->n != c->n || A->nnz != c->nnz)
        return abut_fail(err, ABUT_E_ARG, "Cholesky: matrix of %d rows, %zu blocks; %d, %zu were analysed", A->n, A->nnz, c->n,
                         c->nnz);
    const size_t entries = c->tree.xptr[c->tree.ns], size = want == SINGLE ? sizeof(float) : sizeof(double);
    c->factored = NONE;
    c->bad_row = -1;
    if (!reserve(&c->L, entries, size))
        return abut_fail(err, ABUT_E_NOMEM, "Cholesky: no memory for a factor of %.3g GB", 1e-9 * (double)(entries * size));
    const int32_t bad = want == SINGLE
        ? abut_chol_numeric_single(&c->tree, &c->A, A->val, c->L.v, c->work, c->pending, c->threads)
        : abut_chol_numeric(&c->tree, &c->A, A->val, c->L.v, c->work, c->pending, c->threads);
    if (bad < 0) {
        c->factored = want;
        return ABUT_OK;
    }
    const int row = c->bad_row = c->perm[bad / 3];
    return abut_fail(err, ABUT_E_NUMERIC, "Cholesky: pivot %d is not positive (block row %d, component %d)",
                     3 * row + bad % 3, row, bad % 3);
}

abut_status abut_chol_factor(abut_chol *c, const abut_bsr *A, abut_err *err)
{
    return factor(c, A, DOUBLE, err);
}

abut_status abut_chol_factor_single(abut_chol *c, const abut_bsr *A, abut_err *err)
{
    return factor(c, A, SINGLE, err);
}

/* Rows that are worth a second thread when they are only moved. */
static int are_many(const abut_chol *c)
{
    return c->threads > 1 && (size_t)c->n >= 2 * ABUT_PAR_MIN;
}

static void solve_double(abut_chol *c, const double *b, double *x)
{
    double *y = c->x.v;
    #pragma omp parallel for schedule(static) num_threads(c->threads) if (are_many(c))
    for (int32_t k = 0; k < c->n; k++) memcpy(y + 3 * (size_t)k, b + 3 * (size_t)c->perm[k], 3 * sizeof *x);
    abut_chol_substitute(&c->tree, c->L.v, NULL, y, c->z.v, c->pending, c->threads);
    #pragma omp parallel for schedule(static) num_threads(c->threads) if (are_many(c))
    for (int32_t k = 0; k < c->n; k++) memcpy(x + 3 * (size_t)c->perm[k], y + 3 * (size_t)k, 3 * sizeof *x);
}

/* A power of two that brings the largest of v to about 1, so that no float is out of range; 1 for zeros and infinities. */
static double to_unit(const double *v, size_t n)
{
    const double big = abut_largest(v, n);
    int e = 0;
    if (big > 0 && big < HUGE_VAL) frexp(big, &e);
    return ldexp(1, e < -1000 ? 1000 : -e);
}

static void solve_single(abut_chol *c, const double *b, double *x)
{
    float *y = c->x.v;
    const double scale = to_unit(b, 3 * (size_t)c->n);
    #pragma omp parallel for schedule(static) num_threads(c->threads) if (are_many(c))
    for (int32_t k = 0; k < c->n; k++)
        for (size_t d = 0; d < 3; d++) y[3 * (size_t)k + d] = (float)(scale * b[3 * (size_t)c->perm[k] + d]);
    abut_chol_substitute_single(&c->tree, c->L.v, NULL, y, c->z.v, c->pending, c->threads);
    #pragma omp parallel for schedule(static) num_threads(c->threads) if (are_many(c))
    for (int32_t k = 0; k < c->n; k++)
        for (size_t d = 0; d < 3; d++) x[3 * (size_t)c->perm[k] + d] = (double)y[3 * (size_t)k + d] / scale;
}

abut_status abut_chol_solve(abut_chol *c, const double *b, double *x, abut_err *err)
{
    if (c->factored == NONE) return abut_fail(err, ABUT_E_ARG, "Cholesky: solve without a factor");
    if (c->factored == SINGLE) solve_single(c, b, x);
    else solve_double(c, b, x);
    return ABUT_OK;
}

/* skip[ns]: the trees without a wanted row; of the others the right-hand side, in order. */
static void gather_wanted(const abut_chol *c, const uint8_t *wanted, const double *b, uint8_t *skip, double *y)
{
    const abut_chol_tree *t = &c->tree;
    for (int32_t s = t->ns - 1; s >= 0; s = t->first[s] - 1) {
        const int32_t lo = t->col[t->first[s]], hi = t->col[s + 1];
        int any = 0;
        for (int32_t k = lo; k < hi && !any; k++) any = wanted[c->perm[k]];
        memset(skip + t->first[s], !any, (size_t)(s - t->first[s] + 1));
        for (int32_t k = lo; k < (any ? hi : lo); k++) memcpy(y + 3 * (size_t)k, b + 3 * (size_t)c->perm[k], 3 * sizeof *y);
    }
}

abut_status abut_chol_solve_parts(abut_chol *c, const uint8_t *wanted, const double *b, double *x, abut_err *err)
{
    const abut_chol_tree *t = &c->tree;
    double *y = c->x.v;
    if (c->factored != DOUBLE) return abut_chol_solve(c, b, x, err);
    if (!reserve(&c->skip, (size_t)t->ns, 1)) return abut_no_memory("Cholesky", err);
    uint8_t *skip = c->skip.v;
    gather_wanted(c, wanted, b, skip, y);
    abut_chol_substitute(t, c->L.v, skip, y, c->z.v, c->pending, c->threads);
    for (int32_t s = t->ns - 1; s >= 0; s = t->first[s] - 1)
        for (int32_t k = t->col[t->first[s]]; k < (skip[s] ? 0 : t->col[s + 1]); k++)
            memcpy(x + 3 * (size_t)c->perm[k], y + 3 * (size_t)k, 3 * sizeof *x);
    return ABUT_OK;
}

int32_t abut_chol_bad_row(const abut_chol *c)
{
    return c->bad_row;
}

static abut_status apply(void *of, const double *r, double *z, abut_err *err)
{
    return abut_chol_solve(of, r, z, err);
}

abut_precond abut_chol_precond(abut_chol *c)
{
    return (abut_precond){ apply, c, c->n, NULL };
}

abut_chol_stats abut_chol_get_stats(const abut_chol *c)
{
    const abut_chol_tree *t = &c->tree;
    const size_t number = c->factored == SINGLE ? sizeof(float) : sizeof(double);
    const size_t bytes = t->xptr[t->ns] * number + t->rptr[t->ns] * (sizeof *t->row + sizeof *t->inparent) +
                         t->uptr[t->ns] * sizeof *t->upd;
    return (abut_chol_stats){ t->nnz, t->flops, bytes };
}

void abut_chol_free(abut_chol **out)
{
    abut_chol *c = *out;
    if (!c) return;
    for (int i = 0; c->work && i < c->threads; i++) {
        ABUT_FREE(c->work[i].place, c->work[i].at, c->work[i].packed);
    }
    free(c->work);
    forget(c);
    ABUT_FREE(c->L.v, c->x.v, c->z.v, c->skip.v, c);
    *out = NULL;
}

/* ---- as a linear solver ---- */

typedef struct own {
    abut_chol *chol;        /* NULL before the first analysis */
    int threads;
} own;

static abut_status own_make(void *self, const abut_linear_solver_ops *ops, int threads, abut_err *err)
{
    (void)ops, (void)err;
    ((own *)self)->threads = threads;
    return ABUT_OK;
}

/* Keeps the memory of the last factor where it fits. */
static abut_status own_analyse(void *self, const abut_operator *A, const int32_t *order, abut_err *err)
{
    own *s = self;
    return s->chol ? abut_chol_renew(s->chol, A->matrix, order, err) : abut_chol_new(&s->chol, A->matrix, order, s->threads, err);
}

static abut_status own_factor(void *self, const abut_operator *A, abut_precision precision, abut_err *err)
{
    own *s = self;
    if (!s->chol) return abut_fail(err, ABUT_E_ARG, "Cholesky: a factor without an analysis");
    return precision == ABUT_SINGLE ? abut_chol_factor_single(s->chol, A->matrix, err)
                                    : abut_chol_factor(s->chol, A->matrix, err);
}

static abut_status own_apply(void *self, const double *b, double *x, abut_err *err)
{
    own *s = self;
    if (!s->chol) return abut_fail(err, ABUT_E_ARG, "Cholesky: a solution without a factor");
    return abut_chol_solve(s->chol, b, x, err);
}

static abut_status own_solve(void *self, const abut_operator *A, const double *b, const abut_solve_goal *goal, double *x,
                             abut_err *err)
{
    (void)A, (void)goal;
    return own_apply(self, b, x, err);
}

static abut_status own_solve_parts(void *self, const uint8_t *wanted, const double *b, double *x, abut_err *err)
{
    own *s = self;
    if (!s->chol) return abut_fail(err, ABUT_E_ARG, "Cholesky: a solution without a factor");
    return abut_chol_solve_parts(s->chol, wanted, b, x, err);
}

static int32_t own_bad_row(const void *self)
{
    const own *s = self;
    return s->chol ? abut_chol_bad_row(s->chol) : -1;
}

static abut_linear_stats own_stats(const void *self)
{
    const own *s = self;
    if (!s->chol) return (abut_linear_stats){ 0 };
    const abut_chol_stats c = abut_chol_get_stats(s->chol);
    return (abut_linear_stats){ .nnz = c.factor_nnz, .flops = c.factor_flops, .bytes = c.bytes };
}

static void own_clear(void *self) { abut_chol_free(&((own *)self)->chol); }

const abut_linear_solver_ops abut_linear_own = {
    .name = "own", .help = "supernodal Cholesky of this library",
    .can = ABUT_CAN_SINGLE | ABUT_CAN_PRECONDITION,
    .size = sizeof(own), .make = own_make, .analyse = own_analyse, .factor = own_factor, .solve = own_solve,
    .solve_parts = own_solve_parts, .apply = own_apply, .bad_row = own_bad_row, .stats = own_stats, .clear = own_clear,
};

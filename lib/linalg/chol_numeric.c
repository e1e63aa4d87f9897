#include "linalg/chol_numeric.h"

#include "linalg/chol_real.h"

#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <string.h>

static const real one = 1, minus_one = -1, zero = 0;

/* A supernode at work: panel and sizes in scalars, and the rows [lo, hi), in blocks, of one tile. */
typedef struct panel {
    int32_t s, cols, rows;
    const int32_t *row;
    real *x;
    int ld;         /* 3 rows */
} panel;

static panel panel_of(const abut_chol_tree *t, int32_t s, real *L)
{
    const int32_t rows = abut_chol_nrows(t, s);
    return (panel){ s, abut_chol_cols(t, s), rows, t->row + t->rptr[s], L + t->xptr[s], 3 * rows };
}

static int32_t tiles(int32_t rows)
{
    return (rows + ABUT_TILE - 1) / ABUT_TILE;
}

static int32_t tile_end(int32_t lo, int32_t rows)
{
    return rows - lo < ABUT_TILE ? rows : lo + ABUT_TILE;
}

/* First of the ascending rows lo .. hi that is not below r. */
static int32_t lower_bound(const int32_t *row, int32_t lo, int32_t hi, int32_t r)
{
    while (lo < hi) {
        const int32_t mid = lo + (hi - lo) / 2;
        if (row[mid] < r) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

/* ---- the matrix into a tile ---- */

static void put_block(real *restrict to, int ld, const double *restrict B, int turned)
{
    const int si = turned ? 1 : 3, sj = turned ? 3 : 1;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) to[i + j * ld] = (real)B[si * i + sj * j];
}

static void load_tile(const panel *p, int32_t col0, int32_t lo, int32_t hi, const abut_chol_pattern *A, const double *val,
                      const int32_t *place)
{
    for (int32_t j = 0; j < 3 * p->cols; j++)
        memset(p->x + (size_t)j * (size_t)p->ld + 3 * lo, 0, 3 * (size_t)(hi - lo) * sizeof *p->x);
    for (int32_t c = 0; c < p->cols; c++) {
        real *column = p->x + 3 * (size_t)c * (size_t)p->ld;
        for (int32_t k = A->first[col0 + c]; k < A->first[col0 + c + 1]; k++) {
            const int32_t at = place[A->row[k]];
            if (at < lo || at >= hi) continue;
            put_block(column + 3 * at, p->ld, val + 9 * (size_t)(A->source[k] >> 1), A->source[k] & 1);
        }
    }
}

/* ---- updates of a tile ---- */

/* The columns of d: rows [lo, hi) lie in columns of the target, [from, to) in the tile; everything in blocks. */
typedef struct source {
    const int32_t *row;
    const real *x;
    int ld, k;      /* leading dimension and columns, in scalars */
    int32_t lo, hi, from, to;
} source;

static int contiguous(const int32_t *row, int32_t lo, int32_t hi)
{
    return row[hi - 1] - row[lo] == hi - 1 - lo;
}

/* C = beta C + alpha A B^T with A the rows [from, to) and B the rows [lo, hi) of the source; where the two meet, at the top
 * of the first tile, only the lower triangle. */
static void multiply(const source *d, real alpha, real beta, real *C, int ldc)
{
    const int n = 3 * (d->hi - d->lo);
    int m = 3 * (d->to - d->from), skip = 0;
    if (d->from == d->lo) {
        BLAS(syrk)("L", "N", &n, &d->k, &alpha, d->x + 3 * d->lo, &d->ld, &beta, C, &ldc);
        skip = n;
        m -= n;
    }
    if (m > 0)
        BLAS(gemm)("N", "T", &m, &n, &d->k, &alpha, d->x + 3 * d->from + skip, &d->ld, d->x + 3 * d->lo, &d->ld, &beta,
                   C + skip, &ldc);
}

/* Subtracts the product C from the panel, block rows to their places.  Above the diagonal C holds nothing. */
static void scatter(const panel *p, int32_t col0, const source *d, const int32_t *place, const real *C, int ldc)
{
    const int diagonal = d->from == d->lo;
    for (int32_t b = d->lo; b < d->hi; b++)
        for (int j = 0; j < 3; j++) {
            real *to = p->x + (size_t)(3 * (d->row[b] - col0) + j) * (size_t)p->ld;
            const real *c = C + (size_t)(3 * (b - d->lo) + j) * (size_t)ldc;
            int32_t r = d->from;
            if (diagonal) {
                r = b + 1;
                for (int i = j; i < 3; i++) to[3 * place[d->row[b]] + i] -= c[3 * (b - d->from) + i];
            }
            for (; r < d->to; r++) {
                real *y = to + 3 * place[d->row[r]];
                const real *v = c + 3 * (r - d->from);
                y[0] -= v[0];
                y[1] -= v[1];
                y[2] -= v[2];
            }
        }
}

static void update_tile(const abut_chol_tree *t, const panel *p, int32_t lo, int32_t hi, real *L, const abut_chol_work *w)
{
    const int32_t col0 = t->col[p->s];
    for (size_t u = t->uptr[p->s]; u < t->uptr[p->s + 1]; u++) {
        const abut_chol_update *k = &t->upd[u];
        const panel q = panel_of(t, k->d, L);
        source d = { q.row, q.x, q.ld, 3 * q.cols, k->lo, k->hi, k->lo, q.rows };
        if (lo > 0) d.from = lower_bound(q.row, k->hi, q.rows, p->row[lo]);
        if (hi < p->rows) d.to = lower_bound(q.row, d.from, q.rows, p->row[hi]);
        if (d.from == d.to) continue;
        const int32_t first = w->place[q.row[d.from]], last = w->place[q.row[d.to - 1]];
        if (contiguous(q.row, d.lo, d.hi) && last - first == d.to - d.from - 1) {
            real *C = p->x + (size_t)(3 * (q.row[d.lo] - col0)) * (size_t)p->ld + 3 * first;
            multiply(&d, minus_one, one, C, p->ld);
        } else {
            const int ldc = 3 * (d.to - d.from);
            multiply(&d, one, zero, w->product, ldc);
            scatter(p, col0, &d, w->place, w->product, ldc);
        }
    }
}

/* ---- one supernode ---- */

static void set_place(const panel *p, int32_t *place)
{
    for (int32_t i = 0; i < p->rows; i++) place[p->row[i]] = i;
}

/* Factors the diagonal block.  Returns the first scalar column of the panel with a bad pivot, -1: none.  BLAS lets a NaN
 * through. */
static int32_t bad_pivot(const panel *p)
{
    const int n = 3 * p->cols;
    int info = 0;
    BLAS(potrf)("L", &n, p->x, &p->ld, &info);
    if (info > 0) return info - 1;
    for (int j = 0; j < n; j++) {
        const real d = p->x[(size_t)j * ((size_t)p->ld + 1)];
        if (!(d > 0 && d < REAL_HUGE)) return j;
    }
    return -1;
}

static void divide_tile(const panel *p, int32_t lo, int32_t hi)
{
    if (lo < p->cols) lo = p->cols;
    const int n = 3 * p->cols, m = 3 * (hi - lo);
    if (m > 0) BLAS(trsm)("R", "L", "T", "N", &m, &n, &one, p->x, &p->ld, p->x + 3 * lo, &p->ld);
}

/* A factorisation under way. */
typedef struct job {
    const abut_chol_tree *t;
    const abut_chol_pattern *A;
    const double *val;
    real *L;
    const abut_chol_work *work;     /* by thread */
    atomic_int *pending;            /* children of each top node that are not done */
    int32_t bad;                    /* first bad scalar column so far; guarded by a critical section */
} job;

/* The diagonal block; returns 0 when a pivot is bad. */
static int factor_diagonal(job *k, const panel *p)
{
    const int32_t bad = bad_pivot(p);
    if (bad < 0) return 1;
    const int32_t column = 3 * k->t->col[p->s] + bad;
    #pragma omp critical (abut_chol_bad)
    if (k->bad < 0 || column < k->bad) k->bad = column;
    return 0;
}

static void prepare_tile(const job *k, const panel *p, int32_t tile, const abut_chol_work *w)
{
    const int32_t lo = tile * ABUT_TILE, hi = tile_end(lo, p->rows);
    load_tile(p, k->t->col[p->s], lo, hi, k->A, k->val, w->place);
    update_tile(k->t, p, lo, hi, k->L, w);
}

/* Supernode s by the calling thread alone; returns 0 when a pivot is bad. */
static int factor_node(job *k, int32_t s)
{
    const panel p = panel_of(k->t, s, k->L);
    const abut_chol_work *w = &k->work[omp_get_thread_num()];
    set_place(&p, w->place);
    for (int32_t i = 0; i < tiles(p.rows); i++) prepare_tile(k, &p, i, w);
    if (!factor_diagonal(k, &p)) return 0;
    for (int32_t i = 0; i < tiles(p.rows); i++) divide_tile(&p, i * ABUT_TILE, tile_end(i * ABUT_TILE, p.rows));
    return 1;
}

/* The same with a task for each tile.  While this one waits, its thread runs only those: their scratch is its own. */
static int factor_node_tiles(job *k, int32_t s)
{
    const panel p = panel_of(k->t, s, k->L);
    for (int32_t i = 0; i < tiles(p.rows); i++) {
        #pragma omp task firstprivate(i) shared(p)
        {
            const abut_chol_work *w = &k->work[omp_get_thread_num()];
            set_place(&p, w->place);
            prepare_tile(k, &p, i, w);
        }
    }
    #pragma omp taskwait
    if (!factor_diagonal(k, &p)) return 0;
    for (int32_t i = 0; i < tiles(p.rows); i++) {
        #pragma omp task firstprivate(i) shared(p)
        divide_tile(&p, i * ABUT_TILE, tile_end(i * ABUT_TILE, p.rows));
    }
    #pragma omp taskwait
    return 1;
}

/* Goes up from a finished supernode: who finishes the last child of a node does that node. */
static void climb(job *k, int32_t s)
{
    for (int32_t p = k->t->parent[s]; p >= 0 && atomic_fetch_sub(&k->pending[p], 1) == 1; p = k->t->parent[p])
        if (!(tiles(abut_chol_nrows(k->t, p)) > 1 ? factor_node_tiles(k, p) : factor_node(k, p))) return;
}

/* Supernodes [lo, hi), the last of which is the root of the rest or a top node without children. */
static void factor_subtree(job *k, int32_t lo, int32_t hi)
{
    omp_set_num_threads(1);     /* for BLAS, in this task and those it makes */
    for (int32_t s = lo; s < hi; s++)
        if (!factor_node(k, s)) return;     /* nothing above it is started */
    climb(k, hi - 1);
}

int32_t FOR_REAL(abut_chol_numeric)(const abut_chol_tree *t, const abut_chol_pattern *A, const double *val, real *L,
                                    const abut_chol_work *work, atomic_int *pending, int threads)
{
    job k = { t, A, val, L, work, pending, -1 };
    for (int32_t i = 0; i < t->ntop; i++) {
        const int32_t s = t->top[i];
        atomic_init(&pending[s], t->cptr[s + 1] - t->cptr[s]);
    }
    #pragma omp parallel num_threads(threads)
    #pragma omp single
    for (int32_t i = 0; i < t->nsub; i++) {
        #pragma omp task firstprivate(i)
        factor_subtree(&k, t->sub[2 * i], t->sub[2 * i + 1]);
    }
    return k.bad;
}

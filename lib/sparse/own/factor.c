#include "sparse/own/tree.h"

#include "base/fn.h"
#include "sparse/own/real.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* Work that one thread has done before another has woken up. */
#define ALONE 2e6
/* Groups of rows that are worth a task. */
#define LEAST_SHARE 4

/* A supernode at work: its panel, in blocks. */
typedef struct panel {
    int32_t s, cols, rows;
    const int32_t *row;
    real *x;
    size_t group;   /* numbers from one group to the next */
} panel;

static panel panel_of(const abut_chol_tree *t, int32_t s, real *L)
{
    const int32_t cols = abut_chol_cols(t, s);
    return (panel){ s, cols, abut_chol_nrows(t, s), t->row + t->rptr[s], L + t->xptr[s], abut_chol_group_size(cols) };
}

/* Returns the offset of block row r in a panel whose groups have `group` numbers. */
static inline size_t place_of(int32_t r, size_t group)
{
    return (size_t)(r / ABUT_GROUP) * group + 3 * (size_t)(r % ABUT_GROUP);
}

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* Groups of rows in a tile, when a panel of so many groups is worked on by several threads. */
static int32_t share_of(int32_t groups)
{
    return least(ABUT_TILE / ABUT_GROUP, groups < 4 * LEAST_SHARE ? LEAST_SHARE : (groups + 3) / 4);
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

/* ---- the matrix into a tile: rows [lo, hi) of a panel, whole groups but for the last ---- */

static void put_block(real *restrict to, const double *restrict B, int transposed)
{
    const int si = transposed ? 1 : 3, sj = transposed ? 3 : 1;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) to[i + j * ROWS] = (real)B[si * i + sj * j];
}

static void load_tile(const panel *p, int32_t col0, int32_t lo, int32_t hi, const abut_chol_pattern *A, const double *val,
                      const int32_t *place)
{
    const size_t groups = (size_t)abut_chol_groups(hi - lo);
    memset(p->x + place_of(lo, p->group), 0, groups * p->group * sizeof *p->x);
    for (int32_t c = 0; c < p->cols; c++) {
        real *column = p->x + 3 * ROWS * (size_t)c;
        for (int32_t k = A->first[col0 + c]; k < A->first[col0 + c + 1]; k++) {
            const int32_t at = place[A->row[k]];
            if (at < lo || at >= hi) continue;
            put_block(column + place_of(at, p->group), val + 9 * (size_t)(A->source[k] >> 1), A->source[k] & 1);
        }
    }
}

/* ---- updates of a tile ---- */

/* The columns of d: its rows [lo, hi) lie in columns of the target, [from, to) in the tile. */
typedef struct source {
    panel of;
    int32_t lo, hi, from, to;
} source;

enum {
    DEPTH = 768 / sizeof(real),             /* columns whose group stays in the first cache while it is multiplied by many rows */
    WORTH_PACKING = 4 * ABUT_GROUP          /* rows of a source */
};

/* A product of a group of the source, and the columns of the target that it is subtracted from. */
typedef struct product {
    _Alignas(64) real T[3 * ROWS + 4];
    real *column;
    const size_t *at;   /* [n] where its block rows from `first` on belong */
    int32_t first, n;
} product;

static inline __attribute__((always_inline)) void scatter(const product *w)
{
    const four_bits three = { -1, -1, -1, 0 };
    if (w->n == ABUT_GROUP && w->at[ABUT_GROUP - 1] - w->at[0] == 3 * (ABUT_GROUP - 1)) {    /* a group of the target, too */
        lanes *to = (lanes *)(w->column + w->at[0]);
        for (int i = 0; i < 3 * VECTORS; i++) to[i] -= ((const lanes *)w->T)[i];
        return;
    }
    const real *from = w->T + 3 * w->first;
    for (int32_t i = 0; i < w->n; i++)
        for (int j = 0; j < 3; j++) {
            const four_bits v = *(const four_bits *)(from + j * ROWS + 3 * i) & three;
            *(four *)(w->column + w->at[i] + j * ROWS) -= (four)v;
        }
}

/* Three rows of a group, n columns, without what is between: out[n][3], and one number more. */
static inline __attribute__((always_inline)) void pack(const real *row, int n, real *out)
{
    for (int k = 0; k < n; k++) *(four *)(out + 3 * k) = *(const four *)(row + k * ROWS);
}

/* Subtracts the update of columns [k, k + n) of d from a tile; at[i]: place of its row from + i in the panel.  A product is
 * scattered after the next one, when its registers have been stored.
 *
 * packed   the rows that multiply, [n][3] each; NULL: they are read in place, too far apart for the first cache */
static inline __attribute__((always_inline)) void subtract_columns(const panel *p, int32_t col0, const source *d, int32_t k,
                                                                   int n, const real *packed, const size_t *at)
{
    const panel *q = &d->of;
    const real *column = q->x + (size_t)k * ROWS;
    product two[2], *now = two, *last = two + 1;
    now->T[3 * ROWS] = last->T[3 * ROWS] = 0;
    last->n = 0;
    for (int32_t g = d->from / ABUT_GROUP * ABUT_GROUP; g < d->to; g += ABUT_GROUP) {
        const int32_t end = least(g + ABUT_GROUP, d->to), first = g < d->from ? d->from : g;
        const real *A = column + place_of(g, q->group);
        for (int32_t b = d->lo; b < least(d->hi, end); b++) {
            const int32_t r = b > first ? b : first;
            if (packed) multiply(A, packed + 3 * n * (b - d->lo), 3, n, now->T);
            else multiply(A, column + place_of(b, q->group), ROWS, n, now->T);
            now->column = p->x + 3 * ROWS * (size_t)(q->row[b] - col0);
            now->at = at + (r - d->from);
            now->first = r - g;
            now->n = end - r;
            if (last->n) scatter(last);
            product *swap = last;
            last = now;
            now = swap;
        }
    }
    scatter(last);
}

ABUT_SIMD_FUSED
static void subtract_source(const panel *p, int32_t col0, const source *d, const abut_chol_work *w)
{
    const panel *q = &d->of;
    real *packed = w->packed;
    for (int32_t k = 0; k < 3 * q->cols; k += DEPTH) {
        const int n = least(3 * q->cols - k, DEPTH);
        if (d->to - d->from < WORTH_PACKING) {
            subtract_columns(p, col0, d, k, n, NULL, w->at);
        } else {
            for (int32_t b = d->lo; b < d->hi; b++)
                pack(q->x + place_of(b, q->group) + (size_t)k * ROWS, n, packed + 3 * n * (b - d->lo));
            subtract_columns(p, col0, d, k, n, packed, w->at);
        }
    }
}

static void update_tile(const abut_chol_tree *t, const panel *p, int32_t lo, int32_t hi, real *L, const abut_chol_work *w)
{
    for (size_t u = t->uptr[p->s]; u < t->uptr[p->s + 1]; u++) {
        const abut_chol_update *k = &t->upd[u];
        const panel q = panel_of(t, k->d, L);
        source d = { q, k->lo, k->hi, k->lo, q.rows };
        if (lo > 0) d.from = lower_bound(q.row, k->lo, q.rows, p->row[lo]);
        if (hi < p->rows) d.to = lower_bound(q.row, d.from, q.rows, p->row[hi]);
        for (int32_t i = d.from; i < d.to; i++) w->at[i - d.from] = place_of(w->place[q.row[i]], p->group);
        if (d.from < d.to) subtract_source(p, t->col[p->s], &d, w);
    }
}

/* ---- one supernode ---- */

static void set_place(const panel *p, int32_t *place)
{
    for (int32_t i = 0; i < p->rows; i++) place[p->row[i]] = i;
}

/* The Cholesky factor of the 3x3 block at D, its diagonal inverted, into L by columns.  Returns the column whose pivot is not
 * positive or not finite, -1: none. */
static inline __attribute__((always_inline)) int factor_block(const real *D, real L[9])
{
    for (int j = 0; j < 3; j++) {
        real d = D[j * ROWS + j];
        for (int k = 0; k < j; k++) d -= L[3 * k + j] * L[3 * k + j];
        if (!(d > 0 && d < REAL_HUGE)) return j;
        L[3 * j + j] = 1 / REAL_SQRT(d);
        for (int i = j + 1; i < 3; i++) {
            real v = D[j * ROWS + i];
            for (int k = 0; k < j; k++) v -= L[3 * k + i] * L[3 * k + j];
            L[3 * j + i] = v * L[3 * j + j];
        }
    }
    return -1;
}

/* Three columns of a group: Y = (Y - T) L^-T. */
static inline __attribute__((always_inline)) void divide(real *Y, const real *T, const real L[9])
{
    for (int i = 0; i < ROWS; i += LANES) {
        lanes *y0 = (lanes *)(Y + i), *y1 = (lanes *)(Y + ROWS + i), *y2 = (lanes *)(Y + 2 * ROWS + i);
        const lanes *t0 = (const lanes *)(T + i), *t1 = (const lanes *)(T + ROWS + i), *t2 = (const lanes *)(T + 2 * ROWS + i);
        const lanes a = (*y0 - *t0) * L[0], b = (*y1 - *t1 - a * L[1]) * L[4];
        *y0 = a;
        *y1 = b;
        *y2 = (*y2 - *t2 - a * L[2] - b * L[5]) * L[8];
    }
}

static inline __attribute__((always_inline)) void get_diagonal(const real *D, real L[9])
{
    for (int j = 0; j < 3; j++)
        for (int i = j; i < 3; i++) L[3 * j + i] = D[j * ROWS + i];
}

/* Rows of a group up to and with the block on the diagonal, which is at row r of it: zeros and L. */
static void put_diagonal(real *Y, int32_t r, const real L[9])
{
    for (int j = 0; j < 3; j++)
        for (int32_t i = 0; i < r + 3; i++) Y[j * ROWS + i] = i < r + j ? 0 : L[3 * j + i - r];
}

/* Factors the groups that hold the diagonal of a panel.  Returns the first scalar column of the panel whose pivot is not positive
 * or not finite, -1: none. */
ABUT_SIMD_FUSED
static int32_t factor_diagonal(const panel *p)
{
    _Alignas(64) real T[3 * ROWS];
    real L[9], D[3 * ROWS];
    for (int32_t g = 0; g < abut_chol_groups(p->cols); g++) {
        real *X = p->x + (size_t)g * p->group;
        for (int32_t b = 0; b < least(p->cols, (g + 1) * ABUT_GROUP); b++) {
            const int32_t r = 3 * (b % ABUT_GROUP), on = b / ABUT_GROUP == g;
            const real *row = p->x + place_of(b, p->group);
            real *Y = X + 3 * ROWS * (size_t)b;
            multiply(X, row, ROWS, 3 * b, T);
            if (on) {
                for (int j = 0; j < 3; j++)
                    for (int i = 0; i < 3; i++) D[j * ROWS + i] = Y[j * ROWS + i + r] - T[j * ROWS + i + r];
                const int bad = factor_block(D, L);
                if (bad >= 0) return 3 * b + bad;
            } else {
                get_diagonal(row + 3 * ROWS * (size_t)b, L);
            }
            divide(Y, T, L);
            if (on) put_diagonal(Y, r, L);
        }
    }
    return -1;
}

/* Divides the groups [from, to) below it by the diagonal of the panel. */
ABUT_SIMD_FUSED
static void divide_groups(const panel *p, int32_t from, int32_t to, real *packed)
{
    _Alignas(64) real T[3 * ROWS];
    real L[9];
    for (int32_t b = 0; b < p->cols; b++) pack(p->x + place_of(b, p->group), 3 * b + 3, packed + 9 * ABUT_PANEL * b);
    for (int32_t g = from; g < to; g++) {
        real *X = p->x + (size_t)g * p->group;
        for (int32_t b = 0; b < p->cols; b++) {
            multiply(X, packed + 9 * ABUT_PANEL * b, 3, 3 * b, T);
            get_diagonal(p->x + place_of(b, p->group) + 3 * ROWS * (size_t)b, L);
            divide(X + 3 * ROWS * (size_t)b, T, L);
        }
    }
}

/* A factorisation at work. */
typedef struct job {
    const abut_chol_tree *t;
    const abut_chol_pattern *A;
    const double *val;
    real *L;
    const abut_chol_work *work;     /* by thread */
    atomic_int *pending;            /* children of each top node that are not done */
    int32_t bad;                    /* first bad scalar column so far; guarded by a critical section */
} job;

/* Keeps the first column whose pivot is bad, -1 for none.  Returns 0 when it is. */
static int is_good(job *k, const panel *p, int32_t bad)
{
    if (bad < 0) return 1;
    const int32_t column = 3 * k->t->col[p->s] + bad;
    #pragma omp critical (abut_chol_bad)
    if (k->bad < 0 || column < k->bad) k->bad = column;
    return 0;
}

/* Groups [from, to) of the panel, at most ABUT_TILE rows, ready to be factored. */
static void prepare_groups(const job *k, const panel *p, int32_t from, int32_t to, const abut_chol_work *w)
{
    const int32_t lo = from * ABUT_GROUP, hi = least(to * ABUT_GROUP, p->rows);
    load_tile(p, k->t->col[p->s], lo, hi, k->A, k->val, w->place);
    update_tile(k->t, p, lo, hi, k->L, w);
}

/* Supernode s by the calling thread alone; returns 0 when a pivot is bad. */
static int factor_node(job *k, int32_t s)
{
    enum { EACH = ABUT_TILE / ABUT_GROUP };
    const panel p = panel_of(k->t, s, k->L);
    const int32_t groups = abut_chol_groups(p.rows);
    const abut_chol_work *w = &k->work[omp_get_thread_num()];
    set_place(&p, w->place);
    for (int32_t g = 0; g < groups; g += EACH) prepare_groups(k, &p, g, least(g + EACH, groups), w);
    if (!is_good(k, &p, factor_diagonal(&p))) return 0;
    divide_groups(&p, abut_chol_groups(p.cols), groups, w->packed);
    return 1;
}

/* Factors supernode s with a task for each tile.  While it waits, its thread runs only these tasks, which use its scratch. */
static int factor_node_tiles(job *k, int32_t s)
{
    const panel p = panel_of(k->t, s, k->L);
    const int32_t groups = abut_chol_groups(p.rows), diagonal = abut_chol_groups(p.cols), each = share_of(groups);
    for (int32_t g = 0; g < groups; g += each) {
        #pragma omp task firstprivate(g) shared(p)
        {
            const abut_chol_work *w = &k->work[omp_get_thread_num()];
            set_place(&p, w->place);
            prepare_groups(k, &p, g, least(g + each, groups), w);
        }
    }
    #pragma omp taskwait
    if (!is_good(k, &p, factor_diagonal(&p))) return 0;
    for (int32_t g = diagonal; g < groups; g += each) {
        #pragma omp task firstprivate(g) shared(p)
        divide_groups(&p, g, least(g + each, groups), k->work[omp_get_thread_num()].packed);
    }
    #pragma omp taskwait
    return 1;
}

/* A subtree, and every top node above it whose last child this was; nothing above a bad pivot is started. */
static void climb(job *k, int32_t root)
{
    const abut_chol_tree *t = k->t;
    for (int32_t s = t->first[root]; s <= root; s++)
        if (!factor_node(k, s)) return;
    for (int32_t p = t->parent[root]; p >= 0 && atomic_fetch_sub(&k->pending[p], 1) == 1; p = t->parent[p])
        if (!(abut_chol_nrows(t, p) > LEAST_SHARE * ABUT_GROUP ? factor_node_tiles(k, p) : factor_node(k, p))) return;
}

int32_t FOR_REAL(abut_chol_numeric)(const abut_chol_tree *t, const abut_chol_pattern *A, const double *val, real *L,
                                    const abut_chol_work *work, atomic_int *pending, int threads)
{
    job k = { t, A, val, L, work, pending, -1 };
    for (int32_t s = 0; s < t->ns; s++)
        if (t->by_work.is_top[s]) atomic_init(&pending[s], t->cptr[s + 1] - t->cptr[s]);
    #pragma omp parallel num_threads(t->flops < ALONE ? 1 : threads)
    #pragma omp single
    for (int32_t i = 0; i < t->by_work.nsub; i++) {
        #pragma omp task firstprivate(i)
        climb(&k, t->by_work.sub[i]);
    }
    return k.bad;
}

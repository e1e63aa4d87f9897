#include "solve/baselines/ichol.h"

#include "base/arena.h"
#include "math/mat3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- order: the graph ---- */

/* Neighbours of each row, and what a walk over it needs. */
typedef struct graph {
    size_t *first;          /* [n + 1] */
    int32_t *next;          /* [first[n]] */
    int32_t *seen;          /* [n] number of the last walk that met the row */
} graph;

static size_t degree(const graph *g, int32_t i)
{
    return g->first[i + 1] - g->first[i];
}

static int before(const graph *g, int32_t a, int32_t b)
{
    const size_t da = degree(g, a), db = degree(g, b);
    return da < db || (da == db && a < b);
}

/* All rows that are joined with `from`, by distance and then by degree, into list: the last is one of the farthest.  Returns how
 * many. */
static int32_t walk(graph *g, int32_t from, int32_t mark, int32_t *list)
{
    int32_t n = 1;
    list[0] = from;
    g->seen[from] = mark;
    for (int32_t k = 0; k < n; k++) {
        const int32_t first = n;
        for (size_t e = g->first[list[k]]; e < g->first[list[k] + 1]; e++) {
            const int32_t j = g->next[e];
            if (g->seen[j] == mark) continue;
            g->seen[j] = mark;
            int32_t at = n++;
            for (; at > first && before(g, j, list[at - 1]); at--) list[at] = list[at - 1];
            list[at] = j;
        }
    }
    return n;
}

abut_status abut_band_order(const abut_bsr *A, int32_t *order, abut_err *err)
{
    graph g = { .seen = calloc((size_t)A->n + 1, sizeof *g.seen) };
    abut_status rc = abut_graph_neighbours(abut_bsr_graph(A), &g.first, &g.next, err);
    if (!rc && !g.seen) rc = abut_fail(err, ABUT_E_NOMEM, "order of %d rows", A->n);
    for (int32_t i = 0, done = 0; i < A->n && !rc; i++) {
        if (g.seen[i]) continue;
        const int32_t n = walk(&g, i, 1, order + done);
        (void)walk(&g, order[done + n - 1], 2, order + done);
        done += n;
    }
    ABUT_FREE(g.first, g.next, g.seen);
    for (int32_t a = 0, b = A->n - 1; a < b && !rc; a++, b--) {
        const int32_t t = order[a];
        order[a] = order[b], order[b] = t;
    }
    return rc;
}

/* ---- the permuted matrix ---- */

/* Inserts block (row, column) into the lower triangle of B, rows ascending; transposes it if it lies above the diagonal. */
static void put(abut_bsr *B, size_t *end, int32_t row, int32_t column, const double *from)
{
    const int over = row < column;
    const int32_t r = over ? column : row, c = over ? row : column;
    size_t at = end[c]++;
    for (; at > B->ptr[c] && B->row[at - 1] > r; at--) {
        B->row[at] = B->row[at - 1];
        memcpy(B->val + 9 * at, B->val + 9 * (at - 1), 9 * sizeof *B->val);
    }
    B->row[at] = r;
    for (size_t i = 0; i < 9; i++) B->val[9 * at + i] = from[over ? 3 * (i % 3) + i / 3 : i];
}

abut_status abut_band_permuted(const abut_bsr *A, const int32_t *order, abut_bsr *B, abut_err *err)
{
    const size_t n = (size_t)A->n;
    int32_t *place = malloc((n + 1) * sizeof *place);
    size_t *end = malloc((n + 1) * sizeof *end);
    *B = (abut_bsr){ .n = A->n, .nnz = A->nnz, .ptr = calloc(n + 1, sizeof *B->ptr),
                     .row = malloc((A->nnz + 1) * sizeof *B->row), .val = malloc((9 * A->nnz + 1) * sizeof *B->val) };
    if (!place || !end || !B->ptr || !B->row || !B->val) {
        free(place), free(end);
        abut_bsr_clear(B);
        return abut_fail(err, ABUT_E_NOMEM, "permuted matrix: %zu blocks", A->nnz);
    }
    for (size_t k = 0; k < n; k++) place[order[k]] = (int32_t)k;
    for (size_t c = 0; c < n; c++)
        for (size_t b = A->ptr[c]; b < A->ptr[c + 1]; b++) {
            const int32_t i = place[A->row[b]], j = place[c];
            B->ptr[(size_t)(i < j ? i : j) + 1]++;
        }
    for (size_t k = 0; k < n; k++) B->ptr[k + 1] += B->ptr[k];
    memcpy(end, B->ptr, (n + 1) * sizeof *end);
    for (size_t c = 0; c < n; c++)
        for (size_t b = A->ptr[c]; b < A->ptr[c + 1]; b++) put(B, end, place[A->row[b]], place[c], A->val + 9 * b);
    free(place), free(end);
    return ABUT_OK;
}

/* ---- the factor ---- */

/* Factors D in place, into its lower triangle; returns 0 if a pivot is not positive. */
static int cholesky3(double D[9])
{
    for (int j = 0; j < 3; j++) {
        double d = D[4 * j];
        for (int k = 0; k < j; k++) d -= D[3 * j + k] * D[3 * j + k];
        if (!(d > 0)) return 0;
        D[4 * j] = sqrt(d);
        for (int i = j + 1; i < 3; i++) {
            double v = D[3 * i + j];
            for (int k = 0; k < j; k++) v -= D[3 * i + k] * D[3 * j + k];
            D[3 * i + j] = v / D[4 * j];
        }
    }
    D[1] = D[2] = D[5] = 0;
    return 1;
}

/* B = B D^-T, D lower triangular */
static void divide(double B[9], const double D[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double v = B[3 * i + j];
            for (int k = 0; k < j; k++) v -= B[3 * i + k] * D[3 * j + k];
            B[3 * i + j] = v / D[4 * j];
        }
}

/* Subtracts the finished column c from later ones: block (i, j) -= L_ic L_jc^T for each such block of the pattern. */
static void update(abut_bsr *L, int32_t c)
{
    const size_t end = L->ptr[c + 1];
    for (size_t b = L->ptr[c] + 1; b < end; b++) {
        const int32_t j = L->row[b];
        size_t to = L->ptr[j];
        for (size_t a = b; a < end; a++) {
            while (to < L->ptr[j + 1] && L->row[to] < L->row[a]) to++;
            if (to == L->ptr[j + 1]) break;
            if (L->row[to] == L->row[a]) abut_m3_subtract_nt(L->val + 9 * to, L->val + 9 * a, L->val + 9 * b);
        }
    }
}

static int factor(abut_bsr *L, const abut_bsr *A, double shift)
{
    memcpy(L->val, A->val, 9 * A->nnz * sizeof *L->val);
    for (int32_t c = 0; c < A->n; c++) {
        double *D = L->val + 9 * L->ptr[c];
        for (int k = 0; k < 9; k += 4) D[k] += shift * A->val[9 * A->ptr[c] + (size_t)k];
    }
    for (int32_t c = 0; c < L->n; c++) {
        double *D = L->val + 9 * L->ptr[c];
        if (!cholesky3(D)) return 0;
        for (size_t b = L->ptr[c] + 1; b < L->ptr[c + 1]; b++) divide(L->val + 9 * b, D);
        update(L, c);
    }
    return 1;
}

static abut_status copy_pattern(abut_bsr *L, const abut_bsr *A, abut_err *err)
{
    *L = (abut_bsr){ .n = A->n, .nnz = A->nnz, .ptr = malloc(((size_t)A->n + 1) * sizeof *L->ptr),
                     .row = malloc((A->nnz + 1) * sizeof *L->row), .val = malloc((9 * A->nnz + 1) * sizeof *L->val) };
    if (!L->ptr || !L->row || !L->val) return abut_fail(err, ABUT_E_NOMEM, "incomplete Cholesky: %zu blocks", A->nnz);
    memcpy(L->ptr, A->ptr, ((size_t)A->n + 1) * sizeof *L->ptr);
    memcpy(L->row, A->row, A->nnz * sizeof *L->row);
    return ABUT_OK;
}

abut_status abut_ichol_factor(abut_ichol *f, const abut_bsr *A, abut_err *err)
{
    abut_ichol_clear(f);
    abut_status rc = copy_pattern(&f->L, A, err);
    if (!rc && factor(&f->L, A, 0)) return ABUT_OK;
    for (f->shift = 1e-3; !rc && f->shift < 1; f->shift *= 2)
        if (factor(&f->L, A, f->shift)) return ABUT_OK;
    abut_ichol_clear(f);
    return rc ? rc : abut_fail(err, ABUT_E_NUMERIC, "incomplete Cholesky: no shift of the diagonal makes it positive definite");
}

/* L y = r, then L^T z = y, in z. */
static abut_status apply(void *of, const double *r, double *z, abut_err *err)
{
    (void)err;
    const abut_bsr *L = &((abut_ichol *)of)->L;
    memcpy(z, r, 3 * (size_t)L->n * sizeof *z);
    for (int32_t c = 0; c < L->n; c++) {
        const double *D = L->val + 9 * L->ptr[c];
        double *y = z + 3 * (size_t)c;
        y[0] /= D[0];
        y[1] = (y[1] - D[3] * y[0]) / D[4];
        y[2] = (y[2] - D[6] * y[0] - D[7] * y[1]) / D[8];
        for (size_t b = L->ptr[c] + 1; b < L->ptr[c + 1]; b++) {
            const double *B = L->val + 9 * b;
            double *to = z + 3 * (size_t)L->row[b];
            for (int i = 0; i < 3; i++) to[i] -= B[3 * i] * y[0] + B[3 * i + 1] * y[1] + B[3 * i + 2] * y[2];
        }
    }
    for (int32_t c = L->n - 1; c >= 0; c--) {
        const double *D = L->val + 9 * L->ptr[c];
        double *y = z + 3 * (size_t)c;
        for (size_t b = L->ptr[c] + 1; b < L->ptr[c + 1]; b++) {
            const double *B = L->val + 9 * b, *x = z + 3 * (size_t)L->row[b];
            for (int j = 0; j < 3; j++) y[j] -= B[j] * x[0] + B[3 + j] * x[1] + B[6 + j] * x[2];
        }
        y[2] /= D[8];
        y[1] = (y[1] - D[7] * y[2]) / D[4];
        y[0] = (y[0] - D[3] * y[1] - D[6] * y[2]) / D[0];
    }
    return ABUT_OK;
}

abut_precond abut_ichol_precond(abut_ichol *f)
{
    return (abut_precond){ apply, f, f->L.n, NULL };
}

void abut_ichol_clear(abut_ichol *f)
{
    abut_bsr_clear(&f->L);
    *f = (abut_ichol){ 0 };
}

#include "gpu/bisect.h"

#include <stdlib.h>
#include <string.h>

void abut_bisection_clear(abut_bisection *b)
{
    free(b->part);
    free(b->first);
    free(b->member);
    *b = (abut_bisection){ 0 };
}

/* ---- halving ---- */

/* The longest side of the box about row[n]. */
static int longest_side(const double *x, const int32_t *row, int32_t n)
{
    double longest = -1;
    int side = 0;
    for (int d = 0; d < 3; d++) {
        double lo = x[3 * (size_t)row[0] + (size_t)d], hi = lo;
        for (int32_t i = 1; i < n; i++) {
            const double v = x[3 * (size_t)row[i] + (size_t)d];
            lo = v < lo ? v : lo;
            hi = v > hi ? v : hi;
        }
        if (hi - lo > longest) longest = hi - lo, side = d;
    }
    return side;
}

static int is_before(const double *x, int side, int32_t a, int32_t b)
{
    const double u = x[3 * (size_t)a + (size_t)side], v = x[3 * (size_t)b + (size_t)side];
    return u < v || (u == v && a < b);
}

static void swap(int32_t *a, int32_t *b)
{
    const int32_t t = *a;
    *a = *b;
    *b = t;
}

/* Brings the k rows of row[n] that come first along a side to the front (Hoare's selection). */
static void select_first(const double *x, int side, int32_t *row, int32_t n, int32_t k)
{
    int32_t lo = 0, hi = n - 1;
    while (lo < hi) {
        const int32_t mid = lo + (hi - lo) / 2;
        if (is_before(x, side, row[mid], row[lo])) swap(&row[mid], &row[lo]);
        if (is_before(x, side, row[hi], row[lo])) swap(&row[hi], &row[lo]);
        if (is_before(x, side, row[hi], row[mid])) swap(&row[hi], &row[mid]);
        const int32_t pivot = row[mid];
        int32_t i = lo, j = hi;
        while (i <= j) {
            while (is_before(x, side, row[i], pivot)) i++;
            while (is_before(x, side, pivot, row[j])) j--;
            if (i <= j) swap(&row[i++], &row[j--]);
        }
        if (k <= j) hi = j;
        else if (k >= i) lo = i;
        else return;
    }
}

/* Ends of pieces, as halving puts them. */
typedef struct pieces {
    const double *x;
    int32_t size;       /* rows of a piece at most */
    int32_t *end, n;    /* end[n]: of each piece in the rows, ascending */
} pieces;

/* Rows row[n], the first of which is number `at`, into as few pieces as there can be. */
static void halve(pieces *p, int32_t *row, int32_t at, int32_t n)
{
    const int64_t m = ((int64_t)n + p->size - 1) / p->size;
    if (m <= 1) {
        if (n) p->end[p->n++] = at + n;
        return;
    }
    const int32_t left = (int32_t)(n * (m / 2) / m);
    select_first(p->x, longest_side(p->x, row, n), row, n, left);
    halve(p, row, at, left);
    halve(p, row + left, at + left, n - left);
}

/* ---- pieces of the matrix ---- */

static int32_t root_of(int32_t *up, int32_t i)
{
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

/* member: all rows, those that A joins together, in the order of their lowest; end[k] of each; returns k.  up[n]: scratch */
static int32_t joined_rows(const abut_bsr *A, int32_t *up, int32_t *member, int32_t *end)
{
    int32_t k = 0;
    for (int32_t i = 0; i < A->n; i++) up[i] = i;
    for (int32_t j = 0; j < A->n; j++)
        for (size_t b = A->ptr[j] + 1; b < A->ptr[j + 1]; b++) {
            const int32_t r = root_of(up, j), s = root_of(up, A->row[b]);
            if (r < s) up[s] = r;
            else up[r] = s;
        }
    /* a root comes before its rows: number roots, count, fill */
    for (int32_t i = 0; i < A->n; i++) up[i] = root_of(up, i);
    for (int32_t i = 0; i < A->n; i++) {
        if (up[i] == i) {
            end[k] = 0;
            up[i] = -1 - k++;
        } else {
            up[i] = up[up[i]];
        }
        end[-1 - up[i]]++;
    }
    for (int32_t c = 0, sum = 0; c < k; c++) {
        const int32_t count = end[c];
        end[c] = sum;
        sum += count;
    }
    for (int32_t i = 0; i < A->n; i++) member[end[-1 - up[i]]++] = i;
    return k;
}

/* ---- both ---- */

static void *array(size_t n) { return malloc((n + 1) * sizeof(int32_t)); }

static int64_t parts_of(const int32_t *end, int32_t k, int32_t size)
{
    int64_t parts = 0;
    for (int32_t c = 0; c < k; c++) parts += (end[c] - (c ? end[c - 1] : 0) + size - 1) / size;
    return parts;
}

static void parts_make(abut_bisection *b, const abut_bsr *A, const double *x, int32_t rows, int32_t most, int32_t *up,
                       int32_t *end)
{
    int32_t k = joined_rows(A, up, b->member, end);
    const int32_t least = (A->n + most - 1) / most;
    pieces p = { x, rows > least ? rows : least, b->first + 1, 0 };
    if (parts_of(end, k, p.size) > most && p.size == least) p.size += least / 8;    /* remainders of large pieces */
    if (parts_of(end, k, p.size) > most) k = 1, end[0] = A->n;
    for (int32_t c = 0; c < k; c++) {
        const int32_t lo = c ? end[c - 1] : 0;
        halve(&p, b->member + lo, lo, end[c] - lo);
    }
    b->first[0] = 0;
    b->parts = p.n;
    for (int32_t j = 0; j < p.n; j++)
        for (int32_t i = b->first[j]; i < b->first[j + 1]; i++) b->part[b->member[i]] = j;
}

abut_status abut_bisect(abut_bisection *b, const abut_bsr *A, const double *x, int32_t rows, int32_t most, abut_err *err)
{
    const size_t n = (size_t)A->n;
    int32_t *up = array(n), *end = array(n);
    abut_bisection_clear(b);
    b->part = array(n);
    b->first = array(n + 1);
    b->member = array(n);
    const int ok = up && end && b->part && b->first && b->member;
    if (ok) parts_make(b, A, x, rows, most, up, end);
    free(up);
    free(end);
    if (ok) return ABUT_OK;
    abut_bisection_clear(b);
    return abut_fail(err, ABUT_E_NOMEM, "parts of %zu rows: out of memory", n);
}

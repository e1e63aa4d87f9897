#include "sparse/bsr.h"

#include "base/arena.h"
#include "math/mat3.h"

#include <assert.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* ---- the pattern: the union of the sets ---- */

/* A column of something sorted, while columns are merged. */
typedef struct cursor {
    const int32_t *row, *end;
} cursor;

/* Patterns to merge: those of the sets, and the old one if its blocks are to stay. */
typedef struct merge {
    const abut_bsr *old;    /* NULL: none */
    const abut_set_plan *set;
    int nsets;
} merge;

/* Lists the non-empty sources of column c; each begins with the diagonal.  Returns their number. */
static int merge_begin(const merge *m, int32_t c, cursor list[ABUT_SETS_MAX + 1])
{
    int n = 0;
    for (int s = 0; s < m->nsets; s++) {
        const abut_set_plan *p = &m->set[s];
        if (p->col[c] < p->col[c + 1]) list[n++] = (cursor){ p->row + p->col[c], p->row + p->col[c + 1] };
    }
    if (m->old) list[n++] = (cursor){ m->old->row + m->old->ptr[c], m->old->row + m->old->ptr[c + 1] };
    return n;
}

/* The union of the lists and the diagonal of column c into out (NULL: only counted). */
static size_t merge_column(const merge *m, int32_t c, int32_t *out)
{
    cursor list[ABUT_SETS_MAX + 1];
    const int n = merge_begin(m, c, list);
    size_t k = 0;
    if (n == 1) {
        k = (size_t)(list->end - list->row);
        if (out) memcpy(out, list->row, k * sizeof *out);
        return k;
    }
    for (int32_t r = c; r >= 0;) {
        int32_t next = -1;
        for (int s = 0; s < n; s++) {
            if (list[s].row < list[s].end && *list[s].row == r) list[s].row++;
            if (list[s].row < list[s].end && (next < 0 || *list[s].row < next)) next = *list[s].row;
        }
        if (out) out[k] = r;
        k++;
        r = next;
    }
    return k;
}

/* ptr and row of the union in fresh arrays. */
static abut_status merge_sets(const merge *m, int32_t n, size_t **ptr_out, int32_t **row_out, abut_err *err)
{
    size_t *ptr = abut_array_new((size_t)n, sizeof *ptr);
    if (!ptr) return abut_no_memory("matrix", err);
    ptr[0] = 0;
    #pragma omp parallel for schedule(static) if ((size_t)n >= ABUT_PAR_MIN)
    for (int32_t c = 0; c < n; c++) ptr[c + 1] = merge_column(m, c, NULL);
    for (int32_t c = 0; c < n; c++) ptr[c + 1] += ptr[c];
    int32_t *row = ptr[n] < UINT32_MAX / 2 ? abut_array_new(ptr[n], sizeof *row) : NULL;
    if (!row) {
        free(ptr);
        return abut_no_memory("matrix", err);
    }
    #pragma omp parallel for schedule(static) if ((size_t)n >= ABUT_PAR_MIN)
    for (int32_t c = 0; c < n; c++) merge_column(m, c, row + ptr[c]);
    *ptr_out = ptr;
    *row_out = row;
    return ABUT_OK;
}

/* Finds the slot of each block of a set in its column of the matrix, which has them all. */
static void find_slots(const abut_bsr *A, abut_set_plan *p)
{
    #pragma omp parallel for schedule(static) if (p->nb >= ABUT_PAR_MIN)
    for (int32_t c = 0; c < A->n; c++) {
        const int32_t *row = A->row + A->ptr[c];
        int32_t k = 0;
        for (uint32_t b = p->col[c]; b < p->col[c + 1]; b++) {
            while (row[k] != p->row[b]) k++;
            p->slot[b] = (uint32_t)(A->ptr[c] + (size_t)k);
        }
    }
}

/* The strict lower triangle by rows: each thread moves a share of the columns to where its blocks of a row begin, which is behind
 * those of the columns before.  start[threads * n] comes as zeros. */
static void transpose(const abut_bsr *A, int threads, size_t *start, size_t *tptr, uint32_t *tslot, int32_t *tcol)
{
    const size_t n = (size_t)A->n;
    #pragma omp parallel num_threads(threads)
    {
        const size_t all = (size_t)omp_get_num_threads(), t = (size_t)omp_get_thread_num();
        const size_t lo = n * t / all, hi = n * (t + 1) / all;
        size_t *mine = start + t * n;
        for (size_t c = lo; c < hi; c++)
            for (size_t k = A->ptr[c] + 1; k < A->ptr[c + 1]; k++) mine[A->row[k]]++;
        #pragma omp barrier
        #pragma omp single
        {
            size_t sum = 0;
            for (size_t r = 0; r < n; r++) {
                tptr[r] = sum;
                for (size_t i = 0; i < all; i++) {
                    const size_t count = start[i * n + r];
                    start[i * n + r] = sum;
                    sum += count;
                }
            }
            tptr[n] = sum;
        }
        for (size_t c = lo; c < hi; c++)
            for (size_t k = A->ptr[c] + 1; k < A->ptr[c + 1]; k++) {
                const size_t at = mine[A->row[k]]++;
                tslot[at] = (uint32_t)k;
                tcol[at] = (int32_t)c;
            }
    }
}

/* Puts the pattern ptr, row (owned from here on) into A with zero values. */
static abut_status set_pattern(abut_bsr *A, size_t *ptr, int32_t *row, abut_err *err)
{
    const size_t n = (size_t)A->n, nnz = ptr[n];
    size_t *tptr = abut_array_new(n, sizeof *tptr);
    uint32_t *tslot = abut_array_new(nnz, sizeof *tslot);
    int32_t *tcol = abut_array_new(nnz, sizeof *tcol);
    double *val = abut_array_new(nnz, 9 * sizeof *val);
    const int threads = n >= ABUT_PAR_MIN ? abut_threads() : 1;
    size_t *start = calloc((size_t)threads * n + 1, sizeof *start);
    if (!tptr || !tslot || !tcol || !val || !start) {
        ABUT_FREE(start, tptr, tslot, tcol, val, ptr, row);
        return abut_no_memory("matrix", err);
    }
    ABUT_FREE(A->ptr, A->row, A->val, A->plan->tptr, A->plan->tslot, A->plan->tcol);
    A->ptr = ptr;
    A->row = row;
    A->val = val;
    A->nnz = nnz;
    A->plan->tptr = tptr;
    A->plan->tslot = tslot;
    A->plan->tcol = tcol;
    transpose(A, threads, start, tptr, tslot, tcol);
    free(start);
    #pragma omp parallel for schedule(static) if (n >= ABUT_PAR_MIN)
    for (size_t c = 0; c < n; c++) memset(val + 9 * ptr[c], 0, 9 * (ptr[c + 1] - ptr[c]) * sizeof *val);
    return ABUT_OK;
}

static int same_pattern(const abut_bsr *A, const size_t *ptr, const int32_t *row)
{
    const size_t n = (size_t)A->n;
    return A->ptr && memcmp(A->ptr, ptr, (n + 1) * sizeof *ptr) == 0 && memcmp(A->row, row, ptr[n] * sizeof *row) == 0;
}

/* The pattern of the set plans into A, and their slots; those before `first` are A's own. */
static abut_status pattern_of(abut_bsr *A, abut_set_plan *set, int nsets, int first, int keep, int *changed, abut_err *err)
{
    const merge m = { keep ? A : NULL, set, nsets };
    size_t *ptr = NULL;
    int32_t *row = NULL;
    abut_status rc = merge_sets(&m, A->n, &ptr, &row, err);
    if (rc) return rc;
    const int differs = !same_pattern(A, ptr, row);
    if (differs) {
        rc = set_pattern(A, ptr, row, err);
        if (rc) return rc;
    } else {
        ABUT_FREE(ptr, row);
    }
    for (int s = differs ? 0 : first; s < nsets; s++) find_slots(A, &set[s]);
    *changed = differs;
    return ABUT_OK;
}

abut_status abut_bsr_update(abut_bsr *A, const abut_elements *sets, int nsets, int first, int keep, int *changed, abut_err *err)
{
    assert(A);
    struct abut_bsr_plan *plan = A->plan;
    if (!plan || first < 0 || first > nsets || first > plan->nsets)
        return abut_fail(err, ABUT_E_ARG, "matrix: update from set %d of %d, the plan has %d", first, nsets,
                         plan ? plan->nsets : 0);
    if (nsets > ABUT_SETS_MAX)
        return abut_fail(err, ABUT_E_ARG, "matrix: %d element sets, at most %d", nsets, (int)ABUT_SETS_MAX);
    abut_set_plan *set = calloc((size_t)nsets + 1, sizeof *set);
    if (!set) return abut_no_memory("matrix", err);
    for (int s = 0; s < first; s++) set[s] = plan->set[s];
    abut_status rc = ABUT_OK;
    for (int s = first; s < nsets && !rc; s++) rc = abut_set_plan_make(&set[s], A->n, &sets[s], s, err);
    if (!rc) rc = pattern_of(A, set, nsets, first, keep && A->ptr, changed, err);
    if (rc) {
        for (int s = first; s < nsets; s++) abut_set_plan_clear(&set[s]);
        free(set);
        return rc;
    }
    for (int s = first; s < plan->nsets; s++) abut_set_plan_clear(&plan->set[s]);
    free(plan->set);
    plan->set = set;
    plan->nsets = nsets;
    return ABUT_OK;
}

abut_status abut_bsr_pattern(abut_bsr *A, int32_t n, const abut_elements *sets, int nsets, abut_err *err)
{
    abut_bsr_clear(A);
    if (n < 0 || nsets < 0) return abut_fail(err, ABUT_E_ARG, "matrix: %d rows, %d element sets", n, nsets);
    A->plan = calloc(1, sizeof *A->plan);
    if (!A->plan) return abut_no_memory("matrix", err);
    A->n = n;
    int changed;
    const abut_status rc = abut_bsr_update(A, sets, nsets, 0, 0, &changed, err);
    if (rc) abut_bsr_clear(A);
    return rc;
}

void abut_bsr_clear(abut_bsr *A)
{
    if (A->plan) {
        for (int s = 0; s < A->plan->nsets; s++) abut_set_plan_clear(&A->plan->set[s]);
        ABUT_FREE(A->plan->set, A->plan->tptr, A->plan->tslot, A->plan->tcol, A->plan);
    }
    ABUT_FREE(A->ptr, A->row, A->val);
    *A = (abut_bsr){ 0 };
}

/* ---- values ---- */

/* Sets [first, end) as they add to columns [lo, hi): all but the first are packed in memory. */
ABUT_SIMD
static void sum_columns(const abut_bsr *A, const double *diag, const abut_elements *sets, int first, int end, int32_t lo,
                        int32_t hi)
{
    const abut_set_plan *plan = A->plan->set;
    const int fused = first < end && plan[first].chunks, mapped = first < end && plan[first].vertices;
    for (int32_t c = lo; c < hi; c++) {
        double *V = A->val + 9 * A->ptr[c];
        if (fused) abut_chunks_finish(A, &plan[first], first, c);
        else if (!first) memset(V, 0, 9 * (A->ptr[c + 1] - A->ptr[c]) * sizeof *V);
        for (int d = 0; diag && !first && d < 9; d += 4) V[d] += diag[c];
        if (mapped) abut_map_add(A, &plan[first], sets[first].map, c);
        for (int s = first + (fused || mapped); s < end; s++) abut_bsr_add_set(A, &plan[s], sets[s].val, c);
    }
}

/* Sums chunks, and matrices on vertices, before the columns are assembled. */
static void sum_ahead(const abut_bsr *A, const abut_elements *sets, int s)
{
    const abut_set_plan *p = &A->plan->set[s];
    if (p->chunks) abut_chunks_add(A, p, &sets[s], s);
    if (p->vertices) {
        abut_elements on_vertices = sets[s];
        on_vertices.map = NULL;
        abut_bsr_assemble(p->vertices, NULL, &on_vertices, 1);
    }
}

void abut_bsr_assemble(abut_bsr *A, const double *diag, const abut_elements *sets, int nsets)
{
    const int32_t n = A->n, columns = 64;
    int s = 0;
    do {
        const int first = s;
        if (s < nsets) sum_ahead(A, sets, s++);
        while (s < nsets && !A->plan->set[s].chunks && !A->plan->set[s].vertices) s++;
        #pragma omp parallel for schedule(dynamic, 1) if ((size_t)n >= ABUT_PAR_MIN / 2)
        for (int32_t c = 0; c < n; c += columns)
            sum_columns(A, diag, sets, first, s, c, n - c < columns ? n : c + columns);
    } while (s < nsets);
}

void abut_bsr_multiply(const abut_bsr *A, const double *x, double *y)
{
    const struct abut_bsr_plan *plan = A->plan;
    #pragma omp parallel for schedule(dynamic, 64) if ((size_t)A->n >= ABUT_PAR_MIN / 2)
    for (int32_t r = 0; r < A->n; r++) {
        double s[3] = { 0, 0, 0 };
        for (size_t k = plan->tptr[r]; k < plan->tptr[r + 1]; k++)
            abut_m3_add_times(s, A->val + 9 * (size_t)plan->tslot[k], x + 3 * (size_t)plan->tcol[k]);
        size_t k = A->ptr[r];
        abut_m3_add_times(s, A->val + 9 * k, x + 3 * (size_t)r);
        for (k++; k < A->ptr[r + 1]; k++) abut_m3_add_t_times(s, A->val + 9 * k, x + 3 * (size_t)A->row[k]);
        memcpy(y + 3 * (size_t)r, s, sizeof s);
    }
}

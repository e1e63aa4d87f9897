#include "sparse/schwarz/schwarz.h"

#include "sparse/schwarz/coarse_space.h"
#include "sparse/schwarz/subdomains.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct abut_schwarz {
    int32_t n, k;
    size_t nnz;
    int32_t *part;      /* [n] */
    int32_t *first;     /* [k + 1] rows of each part are own[first[p] ..] */
    int32_t *own;       /* [n] */
    abut_subdomains *dom;  /* part i and the rows next to it */
    abut_coarse_space *coarse;/* the rigid motions of the parts */
    double *x;          /* [3 n] */
};

static abut_status no_memory(abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "Schwarz preconditioner: out of memory");
}

static void *new_array(size_t n, size_t size)
{
    return n > SIZE_MAX / size - 1 ? NULL : malloc((n + 1) * size);
}

static void layout_clear(abut_schwarz *s)
{
    free(s->part);
    free(s->first);
    free(s->own);
    free(s->x);
    s->x = NULL;
    s->part = s->first = s->own = NULL;
}

void abut_schwarz_free(abut_schwarz **out)
{
    abut_schwarz *s = *out;
    if (!s) return;
    abut_subdomains_free(&s->dom);
    abut_coarse_space_free(&s->coarse);
    layout_clear(s);
    free(s);
    *out = NULL;
}

/* ---- which row is where ---- */

/* own[first[p] .. first[p+1]): the rows of part p, ascending. */
static abut_status sort_parts(abut_schwarz *s, abut_err *err)
{
    memset(s->first, 0, ((size_t)s->k + 1) * sizeof *s->first);
    for (int32_t i = 0; i < s->n; i++) {
        if (s->part[i] < 0 || s->part[i] >= s->k)
            return abut_fail(err, ABUT_E_ARG, "Schwarz preconditioner: row %d is in part %d, want 0 .. %d", i, s->part[i],
                             s->k - 1);
        s->first[s->part[i] + 1]++;
    }
    for (int32_t p = 0; p < s->k; p++) {
        if (!s->first[p + 1]) return abut_fail(err, ABUT_E_ARG, "Schwarz preconditioner: part %d is empty", p);
        s->first[p + 1] += s->first[p];
    }
    for (int32_t i = 0; i < s->n; i++) s->own[s->first[s->part[i]]++] = i;
    for (int32_t p = s->k; p > 0; p--) s->first[p] = s->first[p - 1];
    s->first[0] = 0;
    return ABUT_OK;
}

typedef struct neighbour {
    int32_t part, row;
} neighbour;

/* Every row that is next to a part, once for each block between them; sorted by part.  start[k + 1] */
static neighbour *neighbours(const abut_schwarz *s, const abut_bsr *A, size_t *start)
{
    memset(start, 0, ((size_t)s->k + 1) * sizeof *start);
    for (int32_t c = 0; c < A->n; c++)
        for (size_t b = A->ptr[c] + 1; b < A->ptr[c + 1]; b++) {
            const int32_t pc = s->part[c], pr = s->part[A->row[b]];
            if (pc != pr) start[pc + 1]++, start[pr + 1]++;
        }
    for (int32_t p = 0; p < s->k; p++) start[p + 1] += start[p];
    neighbour *all = new_array(start[s->k], sizeof *all);
    if (!all) return NULL;
    for (int32_t c = 0; c < A->n; c++)
        for (size_t b = A->ptr[c] + 1; b < A->ptr[c + 1]; b++) {
            const int32_t r = A->row[b], pc = s->part[c], pr = s->part[r];
            if (pc == pr) continue;
            all[start[pc]++] = (neighbour){ pc, r };
            all[start[pr]++] = (neighbour){ pr, c };
        }
    for (int32_t p = s->k; p > 0; p--) start[p] = start[p - 1];
    start[0] = 0;
    return all;
}

static int by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Rows of domain p, ascending; mark[n] < p on entry.  Returns their number. */
static int32_t domain_rows(const abut_schwarz *s, int32_t p, const neighbour *near, size_t n_near, int32_t *mark, int32_t *row)
{
    int32_t m = 0;
    for (int32_t i = s->first[p]; i < s->first[p + 1]; i++) mark[row[m++] = s->own[i]] = p;
    for (size_t i = 0; i < n_near; i++) {
        if (mark[near[i].row] == p) continue;
        mark[near[i].row] = p;
        row[m++] = near[i].row;
    }
    qsort(row, (size_t)m, sizeof *row, by_number);
    return m;
}

static abut_status domains_make(abut_schwarz *s, const abut_bsr *A, abut_err *err)
{
    const size_t k = (size_t)s->k;
    size_t *start = new_array(k, sizeof *start);
    neighbour *near = start ? neighbours(s, A, start) : NULL;
    int32_t *mark = new_array((size_t)s->n, sizeof *mark), *first = new_array(k, sizeof *first);
    int32_t *row = near ? new_array((size_t)s->n + start[k], sizeof *row) : NULL;
    abut_status rc = near && mark && first && row ? ABUT_OK : no_memory(err);
    if (!rc) {
        memset(mark, -1, (size_t)s->n * sizeof *mark);
        first[0] = 0;
        for (int32_t p = 0; p < s->k; p++)
            first[p + 1] = first[p] + domain_rows(s, p, near + start[p], start[p + 1] - start[p], mark, row + first[p]);
        rc = abut_subdomains_analyse(&s->dom, A, s->k, first, row, err);
    }
    free(start);
    free(near);
    free(mark);
    free(first);
    free(row);
    return rc;
}

/* ---- public ---- */

static abut_status layout(abut_schwarz *s, const abut_bsr *A, const int32_t *part, const double *x, abut_err *err)
{
    const size_t n = (size_t)A->n;
    s->n = A->n;
    s->nnz = A->nnz;
    s->part = new_array(n, sizeof *s->part);
    s->own = new_array(n, sizeof *s->own);
    s->first = new_array((size_t)s->k, sizeof *s->first);
    s->x = new_array(3 * n, sizeof *s->x);
    if (!s->part || !s->own || !s->first || !s->x) return no_memory(err);
    memcpy(s->part, part, n * sizeof *part);
    memcpy(s->x, x, 3 * n * sizeof *x);
    abut_status rc = sort_parts(s, err);
    if (!rc) rc = domains_make(s, A, err);
    return rc ? rc : abut_coarse_space_analyse(&s->coarse, &(abut_operator){ .matrix = A }, s->k, s->first, s->own, err);
}

abut_status abut_schwarz_analyse(abut_schwarz **out, const abut_bsr *A, int32_t k, const int32_t *part, const double *x,
                                 abut_err *err)
{
    assert(A);
    if (*out && (*out)->k != k) abut_schwarz_free(out);
    if (k < 1 || A->nnz > UINT32_MAX)
        return abut_schwarz_free(out), abut_fail(err, ABUT_E_ARG, "Schwarz preconditioner: %d parts of %zu blocks", k, A->nnz);
    abut_schwarz *s = *out ? *out : calloc(1, sizeof *s);
    if (!s) return no_memory(err);
    *out = s;
    s->k = k;
    layout_clear(s);
    const abut_status rc = layout(s, A, part, x, err);
    if (rc) abut_schwarz_free(out);
    return rc;
}

abut_status abut_schwarz_factor(abut_schwarz *s, const abut_bsr *A, abut_err *err)
{
    if (A->n != s->n || A->nnz != s->nnz)
        return abut_fail(err, ABUT_E_ARG, "Schwarz preconditioner: matrix of %d rows, %zu blocks; %d, %zu were analysed", A->n,
                         A->nnz, s->n, s->nnz);
    abut_status rc = abut_subdomains_factor(s->dom, A, err);
    if (rc) return abut_wrap(err, "Schwarz preconditioner"), rc;
    rc = abut_coarse_space_factor(s->coarse, &(abut_operator){ .matrix = A }, s->x, err);
    return rc ? abut_wrap(err, "Schwarz preconditioner, coarse matrix"), rc : ABUT_OK;
}

static abut_status apply(void *of, const double *r, double *z, abut_err *err)
{
    abut_schwarz *s = of;
    memset(z, 0, 3 * (size_t)s->n * sizeof *z);
    const abut_status rc = abut_coarse_space_add(s->coarse, r, z, err);
    return rc ? rc : abut_subdomains_add(s->dom, ABUT_JOIN_SUM, r, z, err);
}

abut_precond abut_schwarz_precond(abut_schwarz *s)
{
    return (abut_precond){ apply, s, s->n };
}

abut_schwarz_stats abut_schwarz_get_stats(const abut_schwarz *s)
{
    const abut_coarse_space_stats c = abut_coarse_space_get_stats(s->coarse);
    const abut_subdomains_stats d = abut_subdomains_get_stats(s->dom);
    return (abut_schwarz_stats){ .parts = s->k, .largest = d.largest, .factor_nnz = c.factor_nnz + d.factor_nnz,
                                 .factor_flops = c.factor_flops + d.factor_flops };
}

#include "sparse/mas/sums.h"

#include "base/par.h"

#include <string.h>

enum { ROWS = ABUT_MAS_ROWS, LANES = ABUT_MAS_LANES };

/* M += w H at nodes p and q of a level that are in one domain of M's eight, and w H^T at (q, p); alone: once, a block of its own
 * transpose, p = q. */
static inline void add_block(double *M, int32_t p, int32_t q, const double *H, double w, int alone)
{
    const size_t lane = (size_t)(p / ROWS % LANES), i0 = 3 * (size_t)(p % ROWS), j0 = 3 * (size_t)(q % ROWS);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            const double h = w * H[3 * i + j];
            if (p > q) M[LANES * abut_mas_entry(i0 + i, j0 + j) + lane] += h;
            else if (p < q) M[LANES * abut_mas_entry(j0 + j, i0 + i) + lane] += h;
            else if (i == j) M[LANES * abut_mas_entry(i0 + i, i0 + i) + lane] += alone ? h : 2 * h;
            else if (i > j) M[LANES * abut_mas_entry(i0 + i, i0 + j) + lane] += h;
            else if (!alone) M[LANES * abut_mas_entry(i0 + j, i0 + i) + lane] += h;
        }
}

static void set_identity(double *M, int32_t from)
{
    for (int32_t p = from; p < ROWS * LANES; p++)
        for (size_t d = 0; d < 3; d++) {
            const size_t i = 3 * (size_t)(p % ROWS) + d;
            M[LANES * abut_mas_entry(i, i) + (size_t)(p / ROWS)] = 1;
        }
}

void abut_mas_sum_rows(const abut_mas_levels *s, const abut_bsr *A, int32_t g, double *M)
{
    const int32_t lo = g * ROWS * LANES, hi = s->n - lo < ROWS * LANES ? s->n : lo + ROWS * LANES;
    memset(M, 0, ABUT_MAS_GROUP * sizeof *M);
    for (int32_t p = lo; p < hi; p++) {
        const int32_t c = s->row[p];
        for (size_t b = A->ptr[c]; b < A->ptr[c + 1]; b++) {
            const int32_t q = s->place[A->row[b]];
            if (p / ROWS == q / ROWS) add_block(M, q, p, A->val + 9 * b, 1, p == q);
        }
    }
    set_identity(M, hi - lo);
}

/* ---- all levels ---- */

/* Threads take eights of domains in turns, and each looks at all blocks: so the sum of a domain is in their order. */
typedef struct summing {
    const abut_mas_levels *s;
    int from, stripes;
    double *const *sum;
} summing;

/* What is of stripe `mine`. */
static inline void add(const summing *t, int mine, int32_t row, int32_t other, const double *H, double w, int alone)
{
    int32_t p = t->s->place[row], q = t->s->place[other];
    for (int l = 0; l < t->s->levels; l++) {
        const int32_t domain = p / ROWS, g = domain / LANES;
        if (l >= t->from && domain == q / ROWS && (g + l) % t->stripes == mine)
            add_block(t->sum[l] + (size_t)g * ABUT_MAS_GROUP, p, q, H, w, alone);
        if (l + 1 < t->s->levels) p = t->s->level[l].up[p], q = t->s->level[l].up[q];
    }
}

static void add_matrix(const summing *t, int mine, const abut_bsr *A)
{
    for (int32_t c = 0; c < A->n; c++)
        for (size_t b = A->ptr[c]; b < A->ptr[c + 1]; b++) add(t, mine, A->row[b], c, A->val + 9 * b, 1, A->row[b] == c);
}

/* H of corners with vertices i and j of a map, by the columns that these are; same: i and j are one corner. */
static void add_mapped(const summing *t, int mine, const abut_row_map *W, int32_t i, int32_t j, const double *H, int same)
{
    for (int32_t k = W->first[i]; k < W->first[i + 1]; k++)
        for (int32_t l = same ? k : W->first[j]; l < W->first[j + 1]; l++)
            if (W->col[k] >= 0 && W->col[l] >= 0)
                add(t, mine, W->col[k], W->col[l], H, W->weight[k] * W->weight[l], same && k == l);
}

static void add_elements(const summing *t, int mine, const abut_operator_elements *e)
{
    const size_t corners = (size_t)e->corners;
    const double *H = e->val;
    for (size_t k = 0; k < e->n; k++)
        for (size_t a = 0; a < corners; a++)
            for (size_t b = a; b < corners; b++, H += 9) {
                const int32_t i = e->row[corners * k + a], j = e->row[corners * k + b];
                if (i < 0 || j < 0) continue;
                if (e->map) add_mapped(t, mine, e->map, i, j, H, a == b);
                else add(t, mine, i, j, H, 1, a == b);
            }
}

static void take_elements(void *ctx, const abut_operator_elements *e)
{
    const summing *t = ctx;
    #pragma omp parallel for schedule(static, 1) if (e->n >= ABUT_PAR_MIN / 4)
    for (int mine = 0; mine < t->stripes; mine++) add_elements(t, mine, e);
}

static void take_diagonal(void *ctx, const double *diag)
{
    const summing *t = ctx;
    #pragma omp parallel for schedule(static, 1)
    for (int mine = 0; mine < t->stripes; mine++)
        for (int32_t i = 0; i < t->s->n; i++) {
            const double H[9] = { diag[i], 0, 0, 0, diag[i], 0, 0, 0, diag[i] };
            add(t, mine, i, i, H, 1, 1);
        }
}

abut_status abut_mas_sum_levels(const abut_mas_levels *s, const abut_operator *A, int from, double *const *sum, abut_err *err)
{
    summing t = { s, from, abut_threads(), sum };
    abut_status rc = ABUT_OK;
    for (int l = from; l < s->levels; l++)
        memset(sum[l], 0, (size_t)abut_mas_groups(s->level[l].n) * ABUT_MAS_GROUP * sizeof **sum);
    if (A->matrix && from < s->levels) {
        #pragma omp parallel for schedule(static, 1)
        for (int mine = 0; mine < t.stripes; mine++) add_matrix(&t, mine, A->matrix);
    } else if (!A->matrix) {
        rc = A->read(A->self, 1, &(abut_operator_reader){ take_diagonal, take_elements, &t }, err);
    }
    for (int l = from; l < s->levels; l++) {
        const int32_t n = s->level[l].n, last = abut_mas_groups(n) - 1;
        set_identity(sum[l] + (size_t)last * ABUT_MAS_GROUP, n - last * ROWS * LANES);
    }
    return rc;
}

void abut_mas_keep_diagonal(double *M, unsigned which)
{
    for (size_t j = 0; j < ABUT_MAS_SIDE; j++)
        for (size_t i = j + 3 - j % 3; i < ABUT_MAS_SIDE; i++)
            for (size_t c = 0; c < LANES; c++)
                if (which >> c & 1) M[LANES * abut_mas_entry(i, j) + c] = 0;
}

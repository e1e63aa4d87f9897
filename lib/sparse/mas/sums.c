#include "sparse/mas/sums.h"

#include "base/par.h"

#include <stdlib.h>
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

/* Domains 8 g .. 8 g + 7 of level 0, by rows of a matrix; identity where there is no row. */
static void sum_rows(const abut_mas_levels *s, const abut_bsr *A, int32_t g, double *M)
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

/* Each thread has eights of domains of its own and looks at all blocks: so the sum of a domain is in their order. */
typedef struct summing {
    const abut_mas_levels *s;
    const abut_mas_sums *to;
    int stripes;
} summing;

/* The sum of eight domains; NULL: no element is in them. */
static inline double *sum_of(const summing *t, int l, int32_t g)
{
    const int32_t at = l || !t->to->place ? g : t->to->place[g];
    return at < 0 ? NULL : t->to->sum[l] + (size_t)at * ABUT_MAS_GROUP;
}

/* Adds block (row, other) to the sums of stripe `mine`, on the levels >= from. */
static inline void add(const summing *t, int mine, int from, int32_t row, int32_t other, const double *H, double w, int alone)
{
    int32_t p = t->s->place[row], q = t->s->place[other];
    for (int l = 0; l < t->s->levels; l++) {
        const int32_t domain = p / ROWS, g = domain / LANES;
        if (l >= from && domain == q / ROWS && (g + l) % t->stripes == mine)
            add_block(sum_of(t, l, g), p, q, H, w, alone);
        if (l + 1 < t->s->levels) p = t->s->level[l].up[p], q = t->s->level[l].up[q];
    }
}

/* Level 0 is summed by rows where it is used. */
static void take_matrix(void *ctx, const abut_bsr *A)
{
    const summing *t = ctx;
    if (t->s->levels < 2) return;
    #pragma omp parallel for schedule(static, 1)
    for (int mine = 0; mine < t->stripes; mine++)
        for (int32_t c = 0; c < A->n; c++)
            for (size_t b = A->ptr[c]; b < A->ptr[c + 1]; b++)
                add(t, mine, 1, A->row[b], c, A->val + 9 * b, 1, A->row[b] == c);
}

/* The part of the sums that one thread writes. */
typedef struct stripe {
    const summing *t;
    int mine;
} stripe;

static void add_to_stripe(void *ctx, int32_t i, int32_t j, const double *H, double w, int alone)
{
    const stripe *s = ctx;
    add(s->t, s->mine, 0, i, j, H, w, alone);
}

static void take_elements(void *ctx, const abut_operator_elements *e)
{
    const summing *t = ctx;
    #pragma omp parallel for schedule(static, 1) if (e->n >= ABUT_PAR_MIN / 4)
    for (int mine = 0; mine < t->stripes; mine++) abut_operator_each_block(e, 1, add_to_stripe, &(stripe){ t, mine });
}

static void take_diagonal(void *ctx, const double *diag)
{
    const summing *t = ctx;
    #pragma omp parallel for schedule(static, 1)
    for (int mine = 0; mine < t->stripes; mine++)
        for (int32_t i = 0; i < t->s->n; i++) {
            const double H[9] = { diag[i], 0, 0, 0, diag[i], 0, 0, 0, diag[i] };
            add(t, mine, 0, i, i, H, 1, 1);
        }
}

/* ---- which eights of domains elements are in ---- */

typedef struct marking {
    const abut_mas_levels *s;
    abut_mas_sums *to;
} marking;

static void note_matrix(void *ctx, const abut_bsr *S) { ((marking *)ctx)->to->rows = S; }

static void mark_elements(void *ctx, const abut_operator_elements *e)
{
    const marking *m = ctx;
    const abut_row_map *W = e->map;
    for (size_t k = 0; k < (size_t)e->corners * e->n; k++) {
        const int32_t r = e->row[k];
        for (int32_t i = !W || r < 0 ? 0 : W->first[r]; r >= 0 && i < (W ? W->first[r + 1] : 1); i++) {
            const int32_t row = W ? W->col[i] : r;
            if (row >= 0) m->to->place[m->s->place[row] / (ROWS * LANES)] = 0;
        }
    }
}

/* Numbers the marked ones; without a matrix all of them are. */
static void number_places(abut_mas_sums *m, int32_t groups)
{
    for (int32_t g = 0; g < groups; g++)
        if (m->place[g] >= 0 || !m->rows) m->place[g] = m->places++;
}

static abut_status find_places(abut_mas_sums *m, const abut_mas_levels *s, const abut_operator *A, abut_err *err)
{
    const int32_t groups = abut_mas_groups(s->n);
    marking mark = { s, m };
    m->rows = A->matrix;
    m->place = malloc(((size_t)groups + 1) * sizeof *m->place);
    if (!m->place) return abut_fail(err, ABUT_E_NOMEM, "multilevel Schwarz preconditioner: out of memory");
    for (int32_t g = 0; g < groups; g++) m->place[g] = -1;
    const abut_operator_reader to = { .elements = mark_elements, .ctx = &mark, .matrix = note_matrix };
    const abut_status rc = A->matrix ? ABUT_OK : A->read(A->self, 0, &to, err);
    if (!rc) number_places(m, groups);
    return rc;
}

/* ---- */

void abut_mas_sums_clear(abut_mas_sums *m)
{
    free(m->place);
    for (int l = 0; l < ABUT_MAS_LEVELS; l++) free(m->sum[l]);
    *m = (abut_mas_sums){ 0 };
}

abut_status abut_mas_sums_make(abut_mas_sums *m, const abut_mas_levels *s, const abut_operator *A, abut_err *err)
{
    const summing t = { s, m, abut_threads() };
    *m = (abut_mas_sums){ 0 };
    abut_status rc = find_places(m, s, A, err);
    for (int l = 0; l < s->levels && !rc; l++) {
        const size_t groups = (size_t)(l ? abut_mas_groups(s->level[l].n) : m->places);
        m->sum[l] = calloc(groups * ABUT_MAS_GROUP + 1, sizeof *m->sum[l]);
        if (!m->sum[l]) rc = abut_fail(err, ABUT_E_NOMEM, "multilevel Schwarz preconditioner: %zu domains", groups * LANES);
    }
    const abut_operator_reader to = { take_diagonal, take_elements, (void *)&t, take_matrix };
    if (!rc && A->matrix) take_matrix(to.ctx, A->matrix);
    else if (!rc) rc = A->read(A->self, 1, &to, err);
    for (int l = m->rows ? 1 : 0; l < s->levels && !rc; l++) {
        const int32_t n = s->level[l].n, last = abut_mas_groups(n) - 1;
        set_identity(m->sum[l] + (size_t)last * ABUT_MAS_GROUP, n - last * ROWS * LANES);
    }
    if (rc) abut_mas_sums_clear(m);
    return rc;
}

void abut_mas_sums_load(const abut_mas_sums *m, const abut_mas_levels *s, int l, int32_t g, double *M)
{
    const int32_t at = l ? g : m->place[g];
    const double *sum = at < 0 ? NULL : m->sum[l] + (size_t)at * ABUT_MAS_GROUP;
    if (l || !m->rows) {
        memcpy(M, sum, ABUT_MAS_GROUP * sizeof *M);
        return;
    }
    sum_rows(s, m->rows, g, M);
    for (int i = 0; i < ABUT_MAS_GROUP && sum; i++) M[i] += sum[i];
}

void abut_mas_keep_diagonal(double *M, unsigned which)
{
    for (size_t j = 0; j < ABUT_MAS_SIDE; j++)
        for (size_t i = j + 3 - j % 3; i < ABUT_MAS_SIDE; i++)
            for (size_t c = 0; c < LANES; c++)
                if (which >> c & 1) M[LANES * abut_mas_entry(i, j) + c] = 0;
}

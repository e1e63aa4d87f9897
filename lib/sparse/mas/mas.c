#include "sparse/mas/mas.h"

#include "base/arena.h"
#include "base/order.h"
#include "sparse/pcg.h"
#include "sparse/schwarz/coarse_space.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = ABUT_MAS_ROWS, LANES = ABUT_MAS_LANES, SIDE = ABUT_MAS_SIDE, GROUP_ROWS = ROWS * LANES };

/* ---- Cholesky factors of eight matrices side by side ---- */

/* Returns the index of entry (i, j), i >= j, of a lower triangle. */
static inline size_t entry(size_t i, size_t j)
{
    return j * SIDE - j * (j + 1) / 2 + i;
}

/* Least pivot as a fraction of its diagonal entry: smaller ones are rounding. */
static const double least = 1e-13;

/* M[ABUT_MAS_NUMBERS][8] becomes L with A = L L^T, the inverses in place of its diagonal.  Returns a bit for each matrix with a
 * pivot that is not positive, or no more than rounding leaves of its diagonal; its L is of no use. */
ABUT_SIMD
static unsigned dense_factor(double *restrict M)
{
    double smallest[SIDE][LANES];
    unsigned bad = 0;
    for (size_t k = 0; k < SIDE; k++)
        for (int c = 0; c < LANES; c++) smallest[k][c] = least * M[LANES * entry(k, k) + (size_t)c];
    for (size_t k = 0; k < SIDE; k++) {
        double *column = M + LANES * entry(k, k), inverse[LANES];
        for (int c = 0; c < LANES; c++) {
            const int good = column[c] > smallest[k][c] && smallest[k][c] > 0;
            if (!good) bad |= 1u << c;
            inverse[c] = 1 / sqrt(good ? column[c] : 1);
        }
        for (int c = 0; c < LANES; c++) column[c] = inverse[c];
        for (size_t i = 1; i < SIDE - k; i++)
            for (int c = 0; c < LANES; c++) column[LANES * i + (size_t)c] *= inverse[c];
        for (size_t j = 1; j < SIDE - k; j++) {
            double *to = M + LANES * entry(k + j, k + j), factor[LANES];
            const double *from = column + LANES * j;
            for (int c = 0; c < LANES; c++) factor[c] = from[c];
            for (size_t i = 0; i < SIDE - k - j; i++)
                for (int c = 0; c < LANES; c++) to[LANES * i + (size_t)c] -= from[LANES * i + (size_t)c] * factor[c];
        }
    }
    return bad;
}

/* x[SIDE][8] = A^-1 x.  L: the factor of dense_factor, rounded to single precision; the arithmetic is in double, so A = L L^T of
 * the rounded L: symmetric positive definite. */
ABUT_SIMD
static void dense_solve(const float *restrict L, double *restrict x)
{
    for (size_t k = 0; k < SIDE; k++) {
        const float *column = L + LANES * entry(k, k);
        double y[LANES];
        for (int c = 0; c < LANES; c++) y[c] = x[LANES * k + (size_t)c] *= (double)column[c];
        for (size_t i = 1; i < SIDE - k; i++)
            for (int c = 0; c < LANES; c++) x[LANES * (k + i) + (size_t)c] -= (double)column[LANES * i + (size_t)c] * y[c];
    }
    for (size_t k = SIDE; k-- > 0;) {
        const float *column = L + LANES * entry(k, k);
        double y[LANES];
        for (int c = 0; c < LANES; c++) y[c] = x[LANES * k + (size_t)c];
        for (size_t i = 1; i < SIDE - k; i++)
            for (int c = 0; c < LANES; c++) y[c] -= (double)column[LANES * i + (size_t)c] * x[LANES * (k + i) + (size_t)c];
        for (int c = 0; c < LANES; c++) x[LANES * k + (size_t)c] = y[c] * (double)column[c];
    }
}

/* ---- levels ---- */

static void *new_array(int32_t n)
{
    return malloc(((size_t)n + 1) * sizeof(int32_t));
}

void abut_mas_levels_clear(abut_mas_levels *s)
{
    for (int l = 0; l < ABUT_MAS_LEVELS; l++) {
        ABUT_FREE(s->level[l].up, s->level[l].first, s->level[l].child);
    }
    ABUT_FREE(s->row, s->place);
    *s = (abut_mas_levels){ 0 };
}

/* ---- level 0 ---- */

static abut_status order_rows(abut_mas_levels *s, const double *where, abut_err *err)
{
    s->row = new_array(s->n);
    s->place = new_array(s->n);
    if (!s->row || !s->place) return abut_no_memory("multilevel Schwarz", err);
    for (int32_t k = 0; k < s->n; k++) s->row[k] = k;
    abut_status rc = ABUT_OK;
    if (where) {
        int32_t *group = calloc((size_t)s->n + 1, sizeof *group);
        rc = group ? abut_curve_order((size_t)s->n, where, group, 1, s->row, err) : abut_no_memory("multilevel Schwarz", err);
        free(group);
    }
    for (int32_t k = 0; k < s->n && !rc; k++) s->place[s->row[k]] = k;
    return rc;
}

/* ---- the next level ---- */

/* Sets of nodes of the last level that are joined within a domain; the lowest node of a set is its root. */
typedef struct joining {
    const abut_mas_levels *s;
    int last;               /* the level */
    int32_t *root;
} joining;

static void join(joining *j, int32_t row, int32_t other)
{
    int32_t p = j->s->place[row], q = j->s->place[other];
    for (int l = 0; l < j->last; l++) p = j->s->level[l].up[p], q = j->s->level[l].up[q];
    if (p / ABUT_MAS_ROWS == q / ABUT_MAS_ROWS) abut_set_join(j->root, p, q);
}

static void join_elements(void *ctx, const abut_operator_elements *e)
{
    const size_t corners = (size_t)e->corners;
    const abut_row_map *W = e->map;
    for (size_t k = 0; k < e->n; k++) {
        int32_t before = -1;        /* all columns of an element are joined */
        for (size_t a = 0; a < corners; a++) {
            const int32_t r = e->row[corners * k + a];
            for (int32_t i = !W || r < 0 ? 0 : W->first[r]; r >= 0 && i < (W ? W->first[r + 1] : 1); i++) {
                const int32_t col = W ? W->col[i] : r;
                if (col >= 0 && before >= 0) join(ctx, before, col);
                if (col >= 0) before = col;
            }
        }
    }
}

static void join_blocks(void *ctx, const abut_bsr *M)
{
    for (int32_t c = 0; c < M->n; c++)
        for (size_t b = M->ptr[c] + 1; b < M->ptr[c + 1]; b++) join(ctx, c, M->row[b]);
}

static abut_status join_all(joining *j, const abut_operator *A, abut_err *err)
{
    const abut_operator_reader to = { .elements = join_elements, .ctx = j, .matrix = join_blocks };
    if (!A->matrix) return A->read(A->self, 0, &to, err);
    join_blocks(j, A->matrix);
    return ABUT_OK;
}

/* The level above the last, unless it would have as many nodes. */
static abut_status add_level(abut_mas_levels *s, const abut_operator *A, int *added, abut_err *err)
{
    abut_mas_level *last = &s->level[s->levels - 1], *next = last + 1;
    const int32_t n = last->n;
    joining j = { s, s->levels - 1, new_array(n) };
    abut_status rc = j.root ? ABUT_OK : abut_no_memory("multilevel Schwarz", err);
    for (int32_t i = 0; i < n && !rc; i++) j.root[i] = i;
    if (!rc) rc = join_all(&j, A, err);
    if (!rc) next->n = abut_set_numbers(j.root, n);
    *added = !rc && next->n < n;
    if (!*added) return free(j.root), rc;
    last->up = j.root;
    s->levels++;
    next->first = new_array(next->n);
    next->child = new_array(n);
    if (!next->first || !next->child) return abut_no_memory("multilevel Schwarz", err);
    abut_list_groups(last->up, (size_t)n, next->n, next->first, next->child);
    return ABUT_OK;
}

abut_status abut_mas_levels_make(abut_mas_levels *s, const abut_operator *A, int most, abut_err *err)
{
    assert(s && A);
    abut_mas_levels_clear(s);
    if (most < 1 || most > ABUT_MAS_LEVELS)
        return abut_fail(err, ABUT_E_ARG, "multilevel Schwarz preconditioner: %d levels, want 1 .. %d", most,
                         (int)ABUT_MAS_LEVELS);
    if (!A->matrix && !A->read)
        return abut_fail(err, ABUT_E_ARG, "multilevel Schwarz preconditioner: an operator without a matrix and without elements");
    s->n = s->level[0].n = abut_operator_rows(A);
    s->levels = 1;
    abut_status rc = order_rows(s, A->where, err);
    for (int added = 1; !rc && added && s->levels < most && s->level[s->levels - 1].n > ABUT_MAS_ROWS;)
        rc = add_level(s, A, &added, err);
    if (rc) abut_mas_levels_clear(s);
    return rc;
}

/* ---- the matrices of domains ---- */

/* M += w H at nodes p and q of a level that are in one domain of M's eight, and w H^T at (q, p); alone: once, a block of its own
 * transpose, p = q. */
static inline void add_block(double *M, int32_t p, int32_t q, const double *H, double w, int alone)
{
    const size_t lane = (size_t)(p / ROWS % LANES), i0 = 3 * (size_t)(p % ROWS), j0 = 3 * (size_t)(q % ROWS);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            const double h = w * H[3 * i + j];
            if (p > q) M[LANES * entry(i0 + i, j0 + j) + lane] += h;
            else if (p < q) M[LANES * entry(j0 + j, i0 + i) + lane] += h;
            else if (i == j) M[LANES * entry(i0 + i, i0 + i) + lane] += alone ? h : 2 * h;
            else if (i > j) M[LANES * entry(i0 + i, i0 + j) + lane] += h;
            else if (!alone) M[LANES * entry(i0 + j, i0 + i) + lane] += h;
        }
}

static void set_identity(double *M, int32_t from)
{
    for (int32_t p = from; p < ROWS * LANES; p++)
        for (size_t d = 0; d < 3; d++) {
            const size_t i = 3 * (size_t)(p % ROWS) + d;
            M[LANES * entry(i, i) + (size_t)(p / ROWS)] = 1;
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
        if (l >= from && domain == q / ROWS && (g + l) % t->stripes == mine) add_block(sum_of(t, l, g), p, q, H, w, alone);
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
    if (!m->place) return abut_no_memory("multilevel Schwarz", err);
    for (int32_t g = 0; g < groups; g++) m->place[g] = -1;
    const abut_operator_reader to = { .elements = mark_elements, .ctx = &mark, .matrix = note_matrix };
    const abut_status rc = A->matrix ? ABUT_OK : A->read(A->self, 0, &to, err);
    if (!rc) number_places(m, groups);
    return rc;
}

/* ---- the sums ---- */

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

/* Clears all but the diagonal blocks of those of eight matrices that have a bit in `which`. */
static void keep_diagonal(double *M, unsigned which)
{
    for (size_t j = 0; j < ABUT_MAS_SIDE; j++)
        for (size_t i = j + 3 - j % 3; i < ABUT_MAS_SIDE; i++)
            for (size_t c = 0; c < LANES; c++)
                if (which >> c & 1) M[LANES * entry(i, j) + c] = 0;
}

/* ---- the preconditioner ---- */

/* A level's factors and vectors. */
typedef struct level {
    float *L;           /* [groups][ABUT_MAS_GROUP]; numbers that follow each other in one domain are LANES apart */
    double *v;          /* [3 n] */
    int32_t groups;
    int32_t fallen;
} level;

struct abut_mas {
    abut_mas_levels at;
    level level[ABUT_MAS_LEVELS];
    int made;                   /* there are factors */
    abut_coarse_space *coarse;  /* NULL: without */
    int32_t parts, *first;      /* [parts + 1] of the coarse space: rows at.row[first[p] ..] */
    double *where;              /* [3 n] m, of the coarse space */
};

void abut_mas_free(abut_mas **out)
{
    abut_mas *m = *out;
    if (!m) return;
    abut_mas_levels_clear(&m->at);
    for (int l = 0; l < ABUT_MAS_LEVELS; l++) {
        ABUT_FREE(m->level[l].L, m->level[l].v);
    }
    abut_coarse_space_free(&m->coarse);
    ABUT_FREE(m->first, m->where, m);
    *out = NULL;
}

static abut_status levels_reserve(abut_mas *m, abut_err *err)
{
    for (int l = 0; l < m->at.levels; l++) {
        const int32_t n = m->at.level[l].n, groups = abut_mas_groups(n);
        m->level[l].groups = groups;
        if (!ABUT_ARRAYS(ABUT_ITEMS(m->level[l].L, (size_t)groups * ABUT_MAS_GROUP), ABUT_ITEMS(m->level[l].v, 3 * (size_t)n)))
            return abut_no_memory("multilevel Schwarz", err);
    }
    return ABUT_OK;
}

/* Parts of rows that follow each other, the last not smaller than half of the others. */
static abut_status parts_make(abut_mas *m, const abut_operator *A, abut_err *err)
{
    const int32_t n = m->at.n;
    if (!A->where)
        return abut_fail(err, ABUT_E_ARG, "multilevel Schwarz preconditioner: rigid motions of %d rows need their positions", n);
    m->parts = (n + ABUT_MAS_PART / 2) / ABUT_MAS_PART;
    if (!m->parts) m->parts = 1;
    if (!ABUT_ARRAYS(ABUT_ITEMS(m->first, (size_t)m->parts + 1), ABUT_ITEMS(m->where, 3 * (size_t)n)))
        return abut_no_memory("multilevel Schwarz", err);
    for (int32_t p = 0; p < m->parts; p++) m->first[p] = p * ABUT_MAS_PART;
    m->first[m->parts] = n;
    memcpy(m->where, A->where, 3 * (size_t)n * sizeof *m->where);
    return ABUT_OK;
}

/* Analyses another pattern of these rows, for C; does nothing without C. */
static abut_status mas_analyse(abut_mas *m, const abut_operator *A, abut_err *err)
{
    return m->parts ? abut_coarse_space_analyse(&m->coarse, A, m->parts, m->first, m->at.row, err) : ABUT_OK;
}

abut_status abut_mas_make(abut_mas **out, const abut_operator *A, abut_mas_opts opts, abut_err *err)
{
    assert(out && A);
    abut_mas *m = calloc(1, sizeof *m);
    *out = m;
    if (!m) return abut_no_memory("multilevel Schwarz", err);
    abut_status rc = abut_mas_levels_make(&m->at, A, opts.levels ? opts.levels : ABUT_MAS_LEVELS, err);
    if (!rc) rc = levels_reserve(m, err);
    if (!rc && opts.rigid) rc = parts_make(m, A, err);
    if (!rc) rc = mas_analyse(m, A, err);
    if (rc) abut_mas_free(out);
    return rc;
}

/* ---- factors ---- */

/* Returns how many fell back to their diagonal blocks, -1: these are not positive definite either. */
static int factor_group(const abut_mas *m, const abut_mas_sums *from, int l, int32_t g)
{
    double M[ABUT_MAS_GROUP];
    float *L = m->level[l].L + (size_t)g * ABUT_MAS_GROUP;
    int fallen = 0;
    abut_mas_sums_load(from, &m->at, l, g, M);
    const unsigned bad = dense_factor(M);
    if (bad) {
        abut_mas_sums_load(from, &m->at, l, g, M);
        keep_diagonal(M, bad);
        if (dense_factor(M)) return -1;
    }
    for (int e = 0; e < ABUT_MAS_GROUP; e++) L[e] = (float)M[e];
    for (unsigned b = bad; b; b &= b - 1) fallen++;
    return fallen;
}

static abut_status factor_level(abut_mas *m, int l, const abut_mas_sums *from, abut_err *err)
{
    level *v = &m->level[l];
    int32_t fallen = 0, bad = 0;
    #pragma omp parallel for schedule(dynamic, 1) reduction(+:fallen, bad)
    for (int32_t g = 0; g < v->groups; g++) {
        const int f = factor_group(m, from, l, g);
        fallen += f > 0 ? f : 0;
        bad += f < 0;
    }
    v->fallen = fallen;
    if (!bad) return ABUT_OK;
    return abut_fail(err, ABUT_E_NUMERIC, "multilevel Schwarz preconditioner: a diagonal block of level %d is not positive"
                     " definite", l);
}

static abut_status factor_levels(abut_mas *m, const abut_operator *A, abut_err *err)
{
    abut_mas_sums sums;
    abut_status rc = abut_mas_sums_make(&sums, &m->at, A, err);
    for (int l = 0; l < m->at.levels && !rc; l++) rc = factor_level(m, l, &sums, err);
    abut_mas_sums_clear(&sums);
    return rc;
}

abut_status abut_mas_factor(abut_mas *m, const abut_operator *A, abut_err *err)
{
    assert(m && A);
    m->made = 0;
    if (abut_operator_rows(A) != m->at.n)
        return abut_fail(err, ABUT_E_ARG, "multilevel Schwarz preconditioner: %d rows, made for %d", abut_operator_rows(A),
                         m->at.n);
    abut_status rc = m->at.n ? factor_levels(m, A, err) : ABUT_OK;
    if (!rc && m->coarse) rc = abut_coarse_space_factor(m->coarse, A, m->where, err);
    m->made = !rc;
    return rc;
}

/* ---- application ---- */

/* v of the level below, summed over the children of each node. */
static void restrict_to(const abut_mas_level *at, const double *below, double *v)
{
    #pragma omp parallel for schedule(static) if ((size_t)at->n >= ABUT_PAR_MIN / 4)
    for (int32_t g = 0; g < at->n; g++) {
        double sum[3] = { 0, 0, 0 };
        for (int32_t k = at->first[g]; k < at->first[g + 1]; k++)
            for (int d = 0; d < 3; d++) sum[d] += below[3 * (size_t)at->child[k] + (size_t)d];
        for (int d = 0; d < 3; d++) v[3 * (size_t)g + (size_t)d] = sum[d];
    }
}

/* Nodes of eight domains: v = B^-1 v. */
static void solve_group(const level *l, int32_t n, int32_t g)
{
    double x[ABUT_MAS_SIDE * LANES];
    const int32_t lo = g * GROUP_ROWS, many = n - lo < GROUP_ROWS ? n - lo : GROUP_ROWS;
    double *v = l->v + 3 * (size_t)lo;
    memset(x, 0, sizeof x);
    for (int32_t p = 0; p < many; p++)
        for (int d = 0; d < 3; d++) x[LANES * (3 * (p % ROWS) + d) + p / ROWS] = v[3 * p + d];
    dense_solve(l->L + (size_t)g * ABUT_MAS_GROUP, x);
    for (int32_t p = 0; p < many; p++)
        for (int d = 0; d < 3; d++) v[3 * p + d] = x[LANES * (3 * (p % ROWS) + d) + p / ROWS];
}

static void solve_levels(abut_mas *m)
{
    int32_t groups = 0;
    for (int l = 0; l < m->at.levels; l++) groups += m->level[l].groups;
    #pragma omp parallel for schedule(static) if (groups >= 8)
    for (int32_t k = 0; k < groups; k++) {
        int32_t g = k;
        int l = 0;
        while (g >= m->level[l].groups) g -= m->level[l++].groups;
        solve_group(&m->level[l], m->at.level[l].n, g);
    }
}

static abut_status apply(void *of, const double *r, double *z, abut_err *err)
{
    abut_mas *m = of;
    const abut_mas_levels *at = &m->at;
    if (!m->made) return abut_fail(err, ABUT_E_ARG, "multilevel Schwarz preconditioner: no factors");
    double *v = m->level[0].v;
    #pragma omp parallel for schedule(static) if ((size_t)at->n >= ABUT_PAR_MIN)
    for (int32_t k = 0; k < at->n; k++) memcpy(v + 3 * (size_t)k, r + 3 * (size_t)at->row[k], 3 * sizeof *v);
    for (int l = 1; l < at->levels; l++) restrict_to(&at->level[l], m->level[l - 1].v, m->level[l].v);
    solve_levels(m);
    for (int l = at->levels - 2; l >= 0; l--) {
        double *to = m->level[l].v;
        const double *from = m->level[l + 1].v;
        #pragma omp parallel for schedule(static) if ((size_t)at->level[l].n >= ABUT_PAR_MIN)
        for (int32_t k = 0; k < at->level[l].n; k++)
            for (int d = 0; d < 3; d++) to[3 * (size_t)k + (size_t)d] += from[3 * (size_t)at->level[l].up[k] + (size_t)d];
    }
    #pragma omp parallel for schedule(static) if ((size_t)at->n >= ABUT_PAR_MIN)
    for (int32_t k = 0; k < at->n; k++) memcpy(z + 3 * (size_t)at->row[k], v + 3 * (size_t)k, 3 * sizeof *v);
    return m->coarse ? abut_coarse_space_add(m->coarse, r, z, err) : ABUT_OK;
}

abut_precond abut_mas_precond(abut_mas *m)
{
    return (abut_precond){ apply, m, m->at.n, NULL };
}

abut_mas_stats abut_mas_get_stats(const abut_mas *m)
{
    const abut_coarse_space_stats c = m->coarse ? abut_coarse_space_get_stats(m->coarse) : (abut_coarse_space_stats){ 0 };
    abut_mas_stats s = { .levels = m->at.levels, .nnz = c.factor_nnz, .flops = c.factor_flops, .bytes = c.bytes };
    for (int l = 0; l < m->at.levels; l++) {
        const double groups = m->level[l].groups, side = ABUT_MAS_SIDE;
        s.domains += abut_mas_domains(m->at.level[l].n);
        s.fallen += m->level[l].fallen;
        s.nnz += groups * ABUT_MAS_GROUP;
        s.flops += groups * LANES * side * side * side / 3;
        s.bytes += (size_t)m->level[l].groups * ABUT_MAS_GROUP * sizeof(float);
    }
    return s;
}

/* ---- linear solvers ---- */

/* Linear solvers by conjugate gradients with a multilevel Schwarz preconditioner, on the rows of the first matrix of a step.
 *
 * mas: all levels, of translations; products alone will do.  mas-rigid: level 0 and the rigid motions of larger parts. */
typedef struct cg {
    abut_mas_opts opts;
    abut_mas *mas;
    int32_t n;          /* rows of mas; 0: another step */
    abut_cg_state state;
} cg;

static abut_status make(void *self, const abut_linear_solver_ops *ops, int threads, abut_err *err)
{
    (void)threads, (void)err;
    if (ops == &abut_linear_mas_rigid) ((cg *)self)->opts = (abut_mas_opts){ .levels = 1, .rigid = 1 };
    return ABUT_OK;
}

static void begin_step(void *self)
{
    cg *s = self;
    s->n = 0;
    abut_cg_forget(&s->state);
}

static void clear(void *self)
{
    cg *s = self;
    abut_mas_free(&s->mas);
    abut_cg_clear(&s->state);
}

static abut_status analyse(void *self, const abut_operator *A, const int32_t *order, abut_err *err)
{
    cg *s = self;
    (void)order;
    if (s->mas && s->n == abut_operator_rows(A)) return ABUT_OK;
    abut_mas_free(&s->mas);
    abut_cg_forget(&s->state);
    s->n = abut_operator_rows(A);
    return abut_mas_make(&s->mas, A, s->opts, err);
}

static abut_status renew(void *self, const abut_operator *A, abut_err *err)
{
    cg *s = self;
    const abut_status rc = mas_analyse(s->mas, A, err);
    return rc ? rc : abut_mas_factor(s->mas, A, err);
}

static abut_status factor(void *self, const abut_operator *A, abut_precision precision, abut_err *err)
{
    cg *s = self;
    (void)precision;
    if (!s->mas) return abut_fail(err, ABUT_E_ARG, "conjugate gradients: no analysis");
    return abut_cg_factor(&s->state, A, renew, s, err);
}

static abut_status solve(void *self, const abut_operator *A, const double *b, const abut_solve_goal *goal, double *x,
                         abut_err *err)
{
    cg *s = self;
    if (!s->mas) return abut_fail(err, ABUT_E_ARG, "conjugate gradients: no analysis");
    const abut_precond M = abut_mas_precond(s->mas);
    return abut_cg_solve(&s->state, A, &M, renew, s, b, goal, x, err);
}

static abut_linear_stats stats(const void *self)
{
    const cg *s = self;
    const abut_mas_stats p = s->mas ? abut_mas_get_stats(s->mas) : (abut_mas_stats){ 0 };
    return (abut_linear_stats){ p.nnz, p.flops, p.bytes, s->state.iterations };
}

const abut_linear_solver_ops abut_linear_mas = {
    .name = "mas", .help = "conjugate gradients with a multilevel Schwarz preconditioner",
    .can = ABUT_IS_ITERATIVE | ABUT_CAN_MATRIX_FREE,
    .size = sizeof(cg), .make = make, .begin_step = begin_step, .analyse = analyse, .factor = factor, .solve = solve,
    .stats = stats, .clear = clear,
};
const abut_linear_solver_ops abut_linear_mas_rigid = {
    .name = "mas-rigid", .help = "mas of one level, and rigid motions of larger parts",
    .can = ABUT_IS_ITERATIVE | ABUT_CAN_MATRIX_FREE,
    .size = sizeof(cg), .make = make, .begin_step = begin_step, .analyse = analyse, .factor = factor, .solve = solve,
    .stats = stats, .clear = clear,
};

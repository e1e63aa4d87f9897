#include "sparse/mas/mas.h"

#include "base/par.h"
#include "sparse/mas/sums.h"
#include "sparse/schwarz/coarse_space.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = ABUT_MAS_ROWS, LANES = ABUT_MAS_LANES, GROUP_ROWS = ROWS * LANES };

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

static abut_status no_memory(abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "multilevel Schwarz preconditioner: out of memory");
}

void abut_mas_free(abut_mas **out)
{
    abut_mas *m = *out;
    if (!m) return;
    abut_mas_levels_clear(&m->at);
    for (int l = 0; l < ABUT_MAS_LEVELS; l++) {
        free(m->level[l].L);
        free(m->level[l].v);
    }
    abut_coarse_space_free(&m->coarse);
    free(m->first);
    free(m->where);
    free(m);
    *out = NULL;
}

static abut_status levels_reserve(abut_mas *m, abut_err *err)
{
    for (int l = 0; l < m->at.levels; l++) {
        const int32_t n = m->at.level[l].n, groups = abut_mas_groups(n);
        m->level[l].groups = groups;
        m->level[l].L = malloc(((size_t)groups * ABUT_MAS_GROUP + 1) * sizeof *m->level[l].L);
        m->level[l].v = malloc((3 * (size_t)n + 1) * sizeof *m->level[l].v);
        if (!m->level[l].L || !m->level[l].v) return no_memory(err);
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
    m->first = malloc(((size_t)m->parts + 1) * sizeof *m->first);
    m->where = malloc((3 * (size_t)n + 1) * sizeof *m->where);
    if (!m->first || !m->where) return no_memory(err);
    for (int32_t p = 0; p < m->parts; p++) m->first[p] = p * ABUT_MAS_PART;
    m->first[m->parts] = n;
    memcpy(m->where, A->where, 3 * (size_t)n * sizeof *m->where);
    return ABUT_OK;
}

abut_status abut_mas_make(abut_mas **out, const abut_operator *A, abut_mas_opts opts, abut_err *err)
{
    assert(out && A);
    abut_mas *m = calloc(1, sizeof *m);
    *out = m;
    if (!m) return no_memory(err);
    abut_status rc = abut_mas_levels_make(&m->at, A, opts.levels ? opts.levels : ABUT_MAS_LEVELS, err);
    if (!rc) rc = levels_reserve(m, err);
    if (!rc && opts.rigid) rc = parts_make(m, A, err);
    if (!rc) rc = abut_mas_analyse(m, A, err);
    if (rc) abut_mas_free(out);
    return rc;
}

abut_status abut_mas_analyse(abut_mas *m, const abut_operator *A, abut_err *err)
{
    return m->parts ? abut_coarse_space_analyse(&m->coarse, A, m->parts, m->first, m->at.row, err) : ABUT_OK;
}

/* ---- factors ---- */

/* Returns how many fell back to their diagonal blocks, -1: these are not positive definite either. */
static int factor_group(const abut_mas *m, const abut_mas_sums *from, int l, int32_t g)
{
    double M[ABUT_MAS_GROUP];
    float *L = m->level[l].L + (size_t)g * ABUT_MAS_GROUP;
    int fallen = 0;
    abut_mas_sums_load(from, &m->at, l, g, M);
    const unsigned bad = abut_mas_dense_factor(M);
    if (bad) {
        abut_mas_sums_load(from, &m->at, l, g, M);
        abut_mas_keep_diagonal(M, bad);
        if (abut_mas_dense_factor(M)) return -1;
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
    abut_mas_dense_solve(l->L + (size_t)g * ABUT_MAS_GROUP, x);
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
    return (abut_precond){ apply, m, m->at.n };
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

#include "sparse/woodbury.h"

#include "base/arena.h"

#include <assert.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static const double one = 1, zero = 0;
static const int unit = 1;

static abut_status no_memory(int32_t m, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "patched matrix: %d rows", m);
}

/* at[n]: 1 + place of a row among touched rows, 0 for other rows */
static int32_t number_rows(int32_t n, const abut_elements *e, int32_t *at)
{
    int32_t m = 0;
    memset(at, 0, (size_t)n * sizeof *at);
    for (size_t i = 0; i < (size_t)e->corners * e->n; i++)
        if (e->row[i] >= 0) at[e->row[i]] = 1;
    for (int32_t i = 0; i < n; i++)
        if (at[i]) at[i] = ++m;
    return m;
}

static abut_status check(int32_t n, const abut_elements *e, abut_err *err)
{
    if (e->map)
        return abut_fail(err, ABUT_E_ARG, "patched matrix: its elements have a map of their rows, want rows of the matrix");
    return abut_elements_check(e, 0, n, err);
}

abut_status abut_woodbury_count(int32_t n, const abut_elements *e, int32_t *m, abut_err *err)
{
    assert(n >= 0);
    const abut_status rc = check(n, e, err);
    if (rc) return rc;
    int32_t *at = malloc(((size_t)n + 1) * sizeof *at);
    if (!at) return no_memory(n, err);
    *m = number_rows(n, e, at);
    free(at);
    return ABUT_OK;
}

/* x = A_0^-1 b; x may be b. */
static abut_status solve(const abut_woodbury *s, const double *b, double *x, abut_err *err)
{
    const abut_operator A = { .scalar = 1 };
    return abut_linear_solve(s->base, &A, b, NULL, x, err);
}

/* P = G: three columns with every solution. */
static abut_status compliance(abut_woodbury *s, abut_err *err)
{
    const size_t m = (size_t)s->m, n3 = 3 * (size_t)s->n;
    for (size_t c = 0; c < m; c += 3) {
        const size_t k = m - c < 3 ? m - c : 3;
        memset(s->y, 0, n3 * sizeof *s->y);
        for (size_t d = 0; d < k; d++) s->y[3 * (size_t)s->row[c + d] + d] = 1;
        const abut_status rc = solve(s, s->y, s->y, err);
        if (rc) return rc;
        for (size_t d = 0; d < k; d++)
            for (size_t i = 0; i < m; i++) s->P[(c + d) * m + i] = s->y[3 * (size_t)s->row[i] + d];
    }
    return ABUT_OK;
}

/* P = P^-1, by its Cholesky factor, which is left in F[m * m]; 0 when it is not positive definite */
static int invert(const abut_blas *b, int32_t rows, double *P, double *F)
{
    const int m = rows;
    const size_t mm = (size_t)m * (size_t)m;
    int info = 0;
    memcpy(F, P, mm * sizeof *F);
    b->potrf("L", &m, F, &m, &info);
    if (info) return 0;
    memset(P, 0, mm * sizeof *P);
    for (size_t i = 0; i < mm; i += (size_t)m + 1) P[i] = 1;
    b->trsm("L", "L", "N", "N", &m, &m, &one, F, &m, P, &m);
    b->trsm("L", "L", "T", "N", &m, &m, &one, F, &m, P, &m);
    return 1;
}

/* K += block (a, b) of an element; unless it is one of its diagonal, the transpose too */
static void add_block(double *K, size_t ld, size_t a, size_t b, int diagonal, const double *H)
{
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            K[(3 * b + j) * ld + 3 * a + i] += H[3 * i + j];
            if (!diagonal) K[(3 * a + i) * ld + 3 * b + j] += H[3 * i + j];
        }
}

/* K = P + S */
static void sum(abut_woodbury *s, const abut_elements *e, const int32_t *at)
{
    const size_t m = (size_t)s->m, ld = 3 * m;
    const double *val = NULL;
    memset(s->K, 0, ld * ld * sizeof *s->K);
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < m; i++)
            for (size_t d = 0; d < 3; d++) s->K[(3 * j + d) * ld + 3 * i + d] = s->P[j * m + i];
    const size_t corners = (size_t)e->corners, size = abut_packed_size(e->corners), each = e->n ? abut_elements_at_once(e) : 1;
    double room[ABUT_ELEMENTS_ROOM];
    for (size_t k = 0; k < e->n; k++) {
        const int32_t *row = e->row + corners * k;
        if (k % each == 0) val = abut_elements_packed(e, k, k + each < e->n ? k + each : e->n, room);
        const double *H = val + size * (k % each);
        for (size_t a = 0; a < corners; a++)
            for (size_t b = a; b < corners; b++, H += 9)
                if (row[a] >= 0 && row[b] >= 0) add_block(s->K, ld, (size_t)at[row[a]] - 1, (size_t)at[row[b]] - 1, a == b, H);
    }
}

static int factor(abut_woodbury *s, const abut_elements *e, const int32_t *at)
{
    const int n = 3 * s->m;
    int info = 0;
    if (!invert(&s->blas, s->m, s->P, s->K)) return 0;
    sum(s, e, at);
    s->blas.potrf("L", &n, s->K, &n, &info);
    return !info;
}

abut_status abut_woodbury_make(abut_woodbury *s, abut_linear_solver *base, int32_t n, const abut_elements *e, abut_err *err)
{
    abut_woodbury_clear(s);
    abut_status rc = check(n, e, err);
    if (rc) return rc;
    int32_t *at = malloc(((size_t)n + 1) * sizeof *at);
    if (!at) return no_memory(n, err);
    *s = (abut_woodbury){ .base = base, .n = n, .m = number_rows(n, e, at) };
    const size_t m = (size_t)s->m;
    rc = ABUT_ARRAYS(ABUT_ITEMS(s->row, m), ABUT_ITEMS(s->P, m * m), ABUT_ITEMS(s->K, 9 * m * m),
                     ABUT_ITEMS(s->y, 3 * (size_t)n + 9 * m)) ? ABUT_OK : no_memory(s->m, err);
    for (int32_t i = 0; i < n && !rc; i++)
        if (at[i]) s->row[at[i] - 1] = i;
    int ok = 1;
    if (!rc && m) rc = abut_blas_open(&s->blas, err);
    if (!rc) rc = compliance(s, err);
    if (!rc && m) {
        #pragma omp parallel num_threads(1)
        {
            omp_set_num_threads(1);     /* for BLAS, inside this region: its bits would know the threads */
            ok = factor(s, e, at);
        }
    }
    free(at);
    if (!rc && !ok)
        rc = abut_fail(err, ABUT_E_NUMERIC, "patched matrix: not positive definite on the %d rows that are touched", s->m);
    if (rc) abut_woodbury_clear(s);
    return rc;
}

/* out = P in, both [3 m] */
static void multiply(const abut_woodbury *s, const double *in, double *out)
{
    const int m = s->m, three = 3;
    s->blas.gemm("N", "N", &three, &m, &m, &one, in, &three, s->P, &m, &zero, out, &three);
}

/* w[3 m] from y_E = w; u, v: scratch */
static void correct(const abut_woodbury *s, double *w, double *u, double *v)
{
    const int n = 3 * s->m;
    multiply(s, w, u);
    s->blas.trsv("L", "N", "N", &n, s->K, &n, u, &unit);
    s->blas.trsv("L", "T", "N", &n, s->K, &n, u, &unit);
    for (int i = 0; i < n; i++) v[i] = u[i] - w[i];
    multiply(s, v, w);
}

static abut_status apply(void *of, const double *r, double *z, abut_err *err)
{
    const abut_woodbury *s = of;
    double *y = s->y, *w = s->y + 3 * (size_t)s->n;
    const abut_status rc = solve(s, r, z, err);
    if (rc || !s->m) return rc;
    for (int32_t i = 0; i < s->m; i++) memcpy(w + 3 * (size_t)i, z + 3 * (size_t)s->row[i], 3 * sizeof *w);
    #pragma omp parallel num_threads(1)
    {
        omp_set_num_threads(1);
        correct(s, w, w + 3 * s->m, w + 6 * s->m);
    }
    memcpy(y, r, 3 * (size_t)s->n * sizeof *y);
    for (int32_t i = 0; i < 3 * s->m; i++) y[3 * (size_t)s->row[i / 3] + (size_t)(i % 3)] += w[i];
    return solve(s, y, z, err);
}

abut_precond abut_woodbury_precond(abut_woodbury *s)
{
    return (abut_precond){ apply, s, s->n, NULL };
}

void abut_woodbury_clear(abut_woodbury *s)
{
    ABUT_FREE(s->row, s->P, s->K, s->y);
    *s = (abut_woodbury){ 0 };
}

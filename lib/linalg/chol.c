#include "linalg/chol.h"

#include <cholmod.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* of OpenBLAS; its header clashes with nothing but is not needed for two functions */
void openblas_set_num_threads(int num_threads);
int openblas_get_num_threads(void);

struct abut_chol {
    cholmod_common com;
    int32_t n;              /* blocks */
    size_t nnz;             /* blocks of the matrix */
    int threads;
    int factored;
    int32_t *perm;          /* [n] perm[k] = block row eliminated k-th, after postordering */
    cholmod_sparse *S;      /* [3 n]^2 lower triangle of the permuted matrix; the values change, the pattern stays */
    uint32_t *source;       /* [nnz] for the k-th block of S in storage order: 2 * block of the matrix + transposed */
    int32_t *place;         /* [n + 1] first block of each block column of S */
    cholmod_factor *L;
    cholmod_dense *X, *E;   /* right-hand side and workspace of a solve */
    abut_chol_stats stats;
};

/* ---- calls into CHOLMOD with their number of threads ---- */

typedef struct call {
    abut_chol *c;
    enum { CALL_FACTOR, CALL_SOLVE } what;
    int ok;
} call;

static void run(call *k)
{
    abut_chol *c = k->c;
    double beta[2] = { 0, 0 };
    if (k->what == CALL_FACTOR)
        k->ok = cholmod_super_numeric(c->S, NULL, beta, c->L, &c->com);
    else
        k->ok = cholmod_super_lsolve(c->L, c->X, c->E, &c->com) && cholmod_super_ltsolve(c->L, c->X, c->E, &c->com);
}

/* CHOLMOD as packaged asks for a fixed four threads in its loops, whatever the caller has set; on fewer cores they fight
 * with BLAS and each other.  Only a thread limit binds a num_threads clause, and only a teams region sets one at run
 * time.  BLAS follows the OpenMP setting of the calling thread. */
static void run_on(int threads, call *k)
{
    const int blas = openblas_get_num_threads(), omp = omp_get_max_threads();
    omp_set_num_threads(threads);
    openblas_set_num_threads(threads);
    #pragma omp teams num_teams(1) thread_limit(threads)
    run(k);
    openblas_set_num_threads(blas);
    omp_set_num_threads(omp);
}

static abut_status cholmod_failed(const abut_chol *c, const char *doing, abut_err *err)
{
    if (c->com.status == CHOLMOD_OUT_OF_MEMORY) return abut_fail(err, ABUT_E_NOMEM, "Cholesky: %s: out of memory", doing);
    if (c->com.status == CHOLMOD_TOO_LARGE)
        return abut_fail(err, ABUT_E_NOMEM, "Cholesky: %s: the factor has more than 2^31 entries", doing);
    return abut_fail(err, ABUT_E_NUMERIC, "Cholesky: %s: CHOLMOD status %d", doing, c->com.status);
}

/* ---- analysis ---- */

/* CHOLMOD takes the permutation as given, so it is checked here. */
static abut_status perm_check(int32_t n, const int32_t *perm, abut_err *err)
{
    unsigned char *seen = calloc((size_t)n + 1, 1);
    if (!seen) return abut_fail(err, ABUT_E_NOMEM, "Cholesky: out of memory");
    abut_status rc = ABUT_OK;
    for (int32_t k = 0; k < n && !rc; k++) {
        if (perm[k] < 0 || perm[k] >= n || seen[perm[k]])
            rc = abut_fail(err, ABUT_E_ARG, "Cholesky: ordering: entry %d is %d, out of 0 .. %d or met before", k, perm[k],
                           n - 1);
        else
            seen[perm[k]] = 1;
    }
    free(seen);
    return rc;
}

/* The graph of blocks as a CHOLMOD matrix without values, lower triangle. */
static cholmod_sparse *block_graph(const abut_bsr *A, cholmod_common *com)
{
    cholmod_sparse *G = cholmod_allocate_sparse((size_t)A->n, (size_t)A->n, A->nnz, 1, 1, -1, CHOLMOD_PATTERN, com);
    if (!G) return NULL;
    int *p = G->p, *i = G->i;
    for (int32_t c = 0; c <= A->n; c++) p[c] = (int)A->ptr[c];
    memcpy(i, A->row, A->nnz * sizeof *i);
    return G;
}

/* Supernodal analysis of the block graph: CHOLMOD's own, with the limits of its relaxed supernodes in blocks. */
static cholmod_factor *analyse_blocks(abut_chol *c, const abut_bsr *A, const int32_t *perm)
{
    cholmod_common *com = &c->com;
    com->nmethods = 1;
    com->method[0].ordering = perm ? CHOLMOD_GIVEN : CHOLMOD_AMD;
    com->postorder = 1;
    com->supernodal = CHOLMOD_SUPERNODAL;
    com->nrelax[0] = 2, com->nrelax[1] = 6, com->nrelax[2] = 16;
    cholmod_sparse *G = block_graph(A, com);
    cholmod_factor *B = NULL;
    if (G) B = cholmod_analyze_p(G, (int *)(uintptr_t)perm, NULL, 0, com);
    cholmod_free_sparse(&G, com);
    return B;
}

/* to[3 k + i] = 3 from[k] + i */
static void expand(int *to, const int *from, size_t n)
{
    for (size_t k = 0; k < n; k++)
        for (int i = 0; i < 3; i++) to[3 * k + (size_t)i] = 3 * from[k] + i;
}

/* The analysis of the scalar matrix from that of the blocks: every count in blocks times 3, or times 9. */
static abut_status expand_analysis(abut_chol *c, const cholmod_factor *B, abut_err *err)
{
    cholmod_common *com = &c->com;
    const size_t ns = B->nsuper;
    if (9 * B->xsize > INT_MAX || 3 * B->ssize > INT_MAX) {
        com->status = CHOLMOD_TOO_LARGE;
        return cholmod_failed(c, "analysis", err);
    }
    cholmod_factor *L = c->L = cholmod_allocate_factor(3 * (size_t)c->n, com);
    if (!L) return cholmod_failed(c, "analysis", err);
    L->super = cholmod_malloc(ns + 1, sizeof(int), com);
    L->pi = cholmod_malloc(ns + 1, sizeof(int), com);
    L->px = cholmod_malloc(ns + 1, sizeof(int), com);
    L->s = cholmod_malloc(3 * B->ssize, sizeof(int), com);
    /* set before anything can fail, so that cholmod_free_factor knows the sizes */
    L->is_super = L->is_ll = 1;
    L->is_monotonic = 1;
    L->nsuper = ns;
    L->ssize = 3 * B->ssize;
    L->xsize = 9 * B->xsize;
    L->maxcsize = 9 * B->maxcsize;
    L->maxesize = 3 * B->maxesize;
    L->ordering = CHOLMOD_NATURAL;
    if (com->status != CHOLMOD_OK) return cholmod_failed(c, "analysis", err);
    const int *bsuper = B->super, *bpi = B->pi, *bpx = B->px;
    int *super = L->super, *pi = L->pi, *px = L->px;
    for (size_t s = 0; s <= ns; s++) {
        super[s] = 3 * bsuper[s];
        pi[s] = 3 * bpi[s];
        px[s] = 9 * bpx[s];
    }
    expand(L->s, B->s, B->ssize);
    return ABUT_OK;
}

static void count_work(abut_chol *c)
{
    const cholmod_factor *L = c->L;
    const int *super = L->super, *pi = L->pi;
    double nnz = 0, flops = 0;
    for (size_t s = 0; s < L->nsuper; s++)
        for (int k = 0; k < super[s + 1] - super[s]; k++) {
            const double len = pi[s + 1] - pi[s] - k;
            nnz += len;
            flops += len * len;
        }
    c->stats = (abut_chol_stats){ nnz, flops, L->xsize * sizeof(double) + L->ssize * sizeof(int) };
}

/* ---- the permuted scalar matrix ---- */

/* Where block k = (r, col) of the matrix goes, iperm applied: column and row of the lower triangle. */
static inline int goes_to(const int32_t *iperm, int32_t r, int32_t col, int32_t *to_row, int32_t *to_col)
{
    const int32_t pr = iperm[r], pc = iperm[col];
    const int turned = pr < pc;
    *to_row = turned ? pc : pr;
    *to_col = turned ? pr : pc;
    return turned;
}

/* place and source, and brow[k]: the block row of the k-th block of S.  The diagonal block comes first in its column. */
static void place_blocks(abut_chol *c, const abut_bsr *A, const int32_t *iperm, int32_t *brow)
{
    int32_t *place = c->place, to_row, to_col;
    memset(place, 0, ((size_t)c->n + 1) * sizeof *place);
    for (int32_t col = 0; col < A->n; col++)
        for (size_t k = A->ptr[col]; k < A->ptr[col + 1]; k++) {
            goes_to(iperm, A->row[k], col, &to_row, &to_col);
            place[to_col + 1]++;
        }
    for (int32_t col = 0; col < c->n; col++) place[col + 1] += place[col];
    for (int pass = 0; pass < 2; pass++)
        for (int32_t col = 0; col < A->n; col++) {
            const size_t diag = A->ptr[col], lo = pass ? diag + 1 : diag, hi = pass ? A->ptr[col + 1] : diag + 1;
            for (size_t k = lo; k < hi; k++) {
                const int turned = goes_to(iperm, A->row[k], col, &to_row, &to_col);
                const int32_t at = place[to_col]++;
                brow[at] = to_row;
                c->source[at] = 2 * (uint32_t)k + (uint32_t)turned;
            }
        }
    for (int32_t col = c->n; col > 0; col--) place[col] = place[col - 1];
    place[0] = 0;
}

/* Pattern of S: column 3 b + j holds rows j .. 2 of the diagonal block, then whole blocks. */
static void scalar_pattern(abut_chol *c, const int32_t *brow)
{
    int *p = c->S->p, *i = c->S->i, at = 0;
    for (int32_t b = 0; b < c->n; b++)
        for (int j = 0; j < 3; j++) {
            p[3 * (size_t)b + (size_t)j] = at;
            for (int r = j; r < 3; r++) i[at++] = 3 * b + r;
            for (int32_t k = c->place[b] + 1; k < c->place[b + 1]; k++)
                for (int r = 0; r < 3; r++) i[at++] = 3 * brow[k] + r;
        }
    p[3 * (size_t)c->n] = at;
}

static abut_status make_matrix(abut_chol *c, const abut_bsr *A, abut_err *err)
{
    const size_t n = (size_t)c->n, entries = 9 * A->nnz - 3 * n;
    if (entries > INT_MAX) return abut_fail(err, ABUT_E_NOMEM, "Cholesky: the matrix has more than 2^31 entries");
    c->source = malloc((A->nnz + 1) * sizeof *c->source);
    c->place = malloc((n + 1) * sizeof *c->place);
    int32_t *iperm = malloc((n + 1) * sizeof *iperm), *brow = malloc((A->nnz + 1) * sizeof *brow);
    c->S = cholmod_allocate_sparse(3 * n, 3 * n, entries, 0, 1, -1, CHOLMOD_REAL, &c->com);
    abut_status rc = ABUT_OK;
    if (c->source && c->place && iperm && brow && c->S) {
        for (int32_t k = 0; k < c->n; k++) iperm[c->perm[k]] = k;
        place_blocks(c, A, iperm, brow);
        scalar_pattern(c, brow);
    } else {
        rc = abut_fail(err, ABUT_E_NOMEM, "Cholesky: out of memory for a matrix of %zu entries", entries);
    }
    free(iperm);
    free(brow);
    return rc;
}

/* The values of A into S. */
static void copy_values(abut_chol *c, const abut_bsr *A)
{
    const int *p = c->S->p;
    double *x = c->S->x;
    #pragma omp parallel for schedule(static)
    for (int32_t b = 0; b < c->n; b++) {
        const int32_t lo = c->place[b], hi = c->place[b + 1];
        double *col[3] = { x + p[3 * (size_t)b], x + p[3 * (size_t)b + 1], x + p[3 * (size_t)b + 2] };
        const double *D = A->val + 9 * (size_t)(c->source[lo] >> 1);
        for (int j = 0; j < 3; j++)
            for (int i = j; i < 3; i++) *col[j]++ = D[3 * i + j];
        for (int32_t k = lo + 1; k < hi; k++) {
            const double *V = A->val + 9 * (size_t)(c->source[k] >> 1);
            const int turned = c->source[k] & 1, si = turned ? 1 : 3, sj = turned ? 3 : 1;
            for (int j = 0; j < 3; j++)
                for (int i = 0; i < 3; i++) *col[j]++ = V[si * i + sj * j];
        }
    }
}

/* ---- public ---- */

static abut_status analyse(abut_chol *c, const abut_bsr *A, const int32_t *perm, abut_err *err)
{
    cholmod_factor *B = analyse_blocks(c, A, perm);
    abut_status rc = B && c->com.status == CHOLMOD_OK ? ABUT_OK : cholmod_failed(c, "analysis", err);
    c->perm = malloc(((size_t)c->n + 1) * sizeof *c->perm);
    if (!rc && !c->perm) rc = abut_fail(err, ABUT_E_NOMEM, "Cholesky: out of memory");
    if (!rc) {
        memcpy(c->perm, B->Perm, (size_t)c->n * sizeof *c->perm);
        rc = expand_analysis(c, B, err);
    }
    cholmod_free_factor(&B, &c->com);
    if (rc) return rc;
    count_work(c);
    c->X = cholmod_allocate_dense(c->L->n, 1, c->L->n, CHOLMOD_REAL, &c->com);
    c->E = cholmod_allocate_dense(c->L->maxesize + 1, 1, c->L->maxesize + 1, CHOLMOD_REAL, &c->com);
    if (!c->X || !c->E) return cholmod_failed(c, "analysis", err);
    return make_matrix(c, A, err);
}

abut_status abut_chol_new(abut_chol **out, const abut_bsr *A, const int32_t *perm, int blas_threads, abut_err *err)
{
    if (blas_threads < 1) return abut_fail(err, ABUT_E_ARG, "Cholesky: %d threads, want at least 1", blas_threads);
    if (A->n > INT_MAX / 3 || A->nnz > INT_MAX)
        return abut_fail(err, ABUT_E_ARG, "Cholesky: %d block rows, %zu blocks: too many", A->n, A->nnz);
    abut_status rc = perm ? perm_check(A->n, perm, err) : ABUT_OK;
    if (rc) return rc;
    abut_chol *c = calloc(1, sizeof *c);
    if (!c) return abut_fail(err, ABUT_E_NOMEM, "Cholesky: out of memory");
    cholmod_start(&c->com);
    c->com.print = 0;
    c->com.useGPU = 0;
    c->com.quick_return_if_not_posdef = 1;
    c->n = A->n;
    c->nnz = A->nnz;
    c->threads = 1;
    rc = analyse(c, A, perm, err);
    if (rc) abut_chol_free(&c);
    else *out = c;
    return rc;
}

static abut_status bad_pivot(const abut_chol *c, size_t k, abut_err *err)
{
    const int row = 3 * c->perm[k / 3] + (int)(k % 3);
    return abut_fail(err, ABUT_E_NUMERIC, "Cholesky: pivot %d is not positive (block row %d, component %d)", row, row / 3,
                     row % 3);
}

/* First column of L whose diagonal is not positive and finite: BLAS lets a NaN through.  L->n: none. */
static size_t first_bad_pivot(const cholmod_factor *L)
{
    const int *super = L->super, *pi = L->pi, *px = L->px;
    const double *x = L->x;
    for (size_t s = 0; s < L->nsuper; s++)
        for (int k = super[s], nr = pi[s + 1] - pi[s]; k < super[s + 1]; k++) {
            const double d = x[(size_t)px[s] + (size_t)(k - super[s]) * ((size_t)nr + 1)];
            if (!(d > 0 && d < HUGE_VAL)) return (size_t)k;
        }
    return L->n;
}

abut_status abut_chol_factor(abut_chol *c, const abut_bsr *A, abut_err *err)
{
    if (A->n != c->n || A->nnz != c->nnz)
        return abut_fail(err, ABUT_E_ARG, "Cholesky: matrix of %d rows, %zu blocks; %d, %zu were analysed", A->n, A->nnz, c->n,
                         c->nnz);
    c->factored = 0;
    copy_values(c, A);
    call k = { c, CALL_FACTOR, 0 };
    run_on(c->threads, &k);
    if (c->com.status == CHOLMOD_NOT_POSDEF) return bad_pivot(c, c->L->minor, err);
    if (!k.ok || c->com.status != CHOLMOD_OK) return cholmod_failed(c, "factorisation", err);
    const size_t bad = first_bad_pivot(c->L);
    if (bad < c->L->n) return bad_pivot(c, bad, err);
    c->factored = 1;
    return ABUT_OK;
}

abut_status abut_chol_solve(abut_chol *c, const double *b, double *x, abut_err *err)
{
    if (!c->factored) return abut_fail(err, ABUT_E_ARG, "Cholesky: solve without a factor");
    double *z = c->X->x;
    for (int32_t k = 0; k < c->n; k++) memcpy(z + 3 * (size_t)k, b + 3 * (size_t)c->perm[k], 3 * sizeof *z);
    call run_solve = { c, CALL_SOLVE, 0 };
    run_on(c->threads, &run_solve);
    if (!run_solve.ok) return cholmod_failed(c, "solve", err);
    for (int32_t k = 0; k < c->n; k++) memcpy(x + 3 * (size_t)c->perm[k], z + 3 * (size_t)k, 3 * sizeof *x);
    return ABUT_OK;
}

int32_t abut_chol_rows(const abut_chol *c)
{
    return c->n;
}

abut_chol_stats abut_chol_get_stats(const abut_chol *c)
{
    return c->stats;
}

void abut_chol_free(abut_chol **out)
{
    abut_chol *c = *out;
    if (!c) return;
    cholmod_free_factor(&c->L, &c->com);
    cholmod_free_sparse(&c->S, &c->com);
    cholmod_free_dense(&c->X, &c->com);
    cholmod_free_dense(&c->E, &c->com);
    cholmod_finish(&c->com);
    free(c->perm);
    free(c->source);
    free(c->place);
    free(c);
    *out = NULL;
}

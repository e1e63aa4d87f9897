/* Initial matrices of L-BFGS for comparison, and the directions by them: the Newton matrix by its diagonal blocks, by disjoint
 * sets of nodes, by an incomplete factor; the Hessian at rest (initial_rest.c); a multiple of the identity. */
#include "solve/baselines/baselines.h"

#include "base/par.h"
#include "graph/graph.h"
#include "math/mat3.h"
#include "model/tets.h"
#include "solve/direction/initial_laplacian.h"
#include "sparse/ichol.h"
#include "sparse/schwarz/schwarz.h"

#include <stdlib.h>
#include <string.h>

/* ---- diagonal blocks of the Newton matrix ---- */

/* The diagonal blocks of the Newton matrix as an initial matrix. */

typedef struct diagonal {
    double *inverse;        /* [9 cap] inverted blocks, row major */
    int32_t rows, cap;
} diagonal;

static abut_status diagonal_make(void **self, const abut_direction_options *opt, abut_err *err)
{
    (void)opt;
    *self = calloc(1, sizeof(diagonal));
    return *self ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "initial matrix");
}

static abut_status diagonal_factor(void *self, const abut_initial_at *at, abut_report *rep, abut_err *err)
{
    (void)rep;
    diagonal *s = self;
    const abut_bsr *A = &at->matrix->A;
    if (A->n > s->cap) {
        free(s->inverse);
        s->inverse = malloc(9 * (size_t)A->n * sizeof *s->inverse);
        s->cap = s->inverse ? A->n : 0;
        if (!s->inverse) return abut_fail(err, ABUT_E_NOMEM, "initial matrix: %d unknowns", 3 * A->n);
    }
    s->rows = A->n;
    for (int32_t i = 0; i < A->n; i++)
        if (!(abut_m3_inverse(s->inverse + 9 * (size_t)i, A->val + 9 * A->ptr[i]) > 0))
            return abut_fail(err, ABUT_E_NUMERIC, "initial matrix: diagonal block %d is not positive definite", i);
    return ABUT_OK;
}

static abut_status diagonal_apply(void *of, const double *r, double *z, abut_err *err)
{
    (void)err;
    const diagonal *s = of;
    #pragma omp parallel for schedule(static) if ((size_t)s->rows >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < s->rows; i++) {
        const double *I = s->inverse + 9 * (size_t)i, *b = r + 3 * (size_t)i;
        for (int k = 0; k < 3; k++) z[3 * (size_t)i + (size_t)k] = I[3 * k] * b[0] + I[3 * k + 1] * b[1] + I[3 * k + 2] * b[2];
    }
    return ABUT_OK;
}

static abut_precond diagonal_precond(void *self, int symmetric)
{
    (void)symmetric;
    return (abut_precond){ diagonal_apply, self, ((diagonal *)self)->rows };
}

static void diagonal_stats(const void *self, abut_report *rep)
{
    rep->factor_nnz = 9 * (double)((const diagonal *)self)->rows;
    rep->factor_flops = 0;
    rep->factor_bytes = (double)sizeof(double) * rep->factor_nnz;
}

static void diagonal_release(void *self)
{
    free(((diagonal *)self)->inverse);
    free(self);
}

const abut_initial_ops abut_initial_diagonal = { .needs = ABUT_NEEDS_MATRIX, .make = diagonal_make, .factor = diagonal_factor,
                                                 .precond = diagonal_precond, .stats = diagonal_stats, .free = diagonal_release };

/* ---- block Jacobi ---- */

/* The Newton matrix on disjoint sets of nodes, in single precision, as an initial matrix: block Jacobi.  Entries between
 * different sets are dropped. */

#define NODES_PER_PART 1500     /* if the options give no number of parts */

typedef struct blocks {
    abut_subdomains *domains;
    const abut_quasi_options *user;
} blocks;

static abut_status blocks_make(void **self, const abut_direction_options *opt, abut_err *err)
{
    blocks *b = *self = calloc(1, sizeof(blocks));
    if (!b) return abut_fail(err, ABUT_E_NOMEM, "initial matrix");
    b->user = &opt->user->quasi;
    return ABUT_OK;
}

/* The rows of A cut along few blocks: set j is row[first[j] .. first[j+1]), ascending; first[k + 2], part[n] is scratch. */
static abut_status cut_rows(const abut_bsr *A, int32_t k, int32_t *first, int32_t *row, int32_t *part, abut_err *err)
{
    const abut_status rc = abut_graph_cut(abut_bsr_graph(A), NULL, k, part, err);
    if (rc) return rc;
    for (int32_t i = 0; i < A->n; i++) first[part[i] + 2]++;
    for (int32_t j = 0; j < k; j++) first[j + 1] += first[j];
    for (int32_t i = 0; i < A->n; i++) row[first[part[i] + 1]++] = i;
    return ABUT_OK;
}

static abut_status blocks_factor(void *self, const abut_initial_at *at, abut_report *rep, abut_err *err)
{
    (void)rep;
    blocks *b = self;
    const abut_bsr *A = &at->matrix->A;
    const int32_t want = b->user->parts ? b->user->parts : (A->n + NODES_PER_PART - 1) / NODES_PER_PART;
    const int32_t k = want < 1 ? 1 : want < A->n ? want : A->n;
    int32_t *first = calloc((size_t)k + 2, sizeof *first), *row = malloc(((size_t)A->n + 1) * sizeof *row),
            *part = malloc(((size_t)A->n + 1) * sizeof *part);
    abut_status rc = first && row && part ? cut_rows(A, k, first, row, part, err)
                                          : abut_fail(err, ABUT_E_NOMEM, "initial matrix: %d unknowns", 3 * A->n);
    if (!rc) rc = abut_subdomains_analyse(&b->domains, A, k, first, row, err);
    if (!rc) rc = abut_subdomains_factor(b->domains, A, ABUT_SINGLE, err);
    free(first);
    free(row);
    free(part);
    return rc;
}

static abut_status blocks_apply(void *self, const double *r, double *z, abut_err *err)
{
    const blocks *b = self;
    memset(z, 0, 3 * (size_t)abut_subdomains_rows(b->domains) * sizeof *z);
    return abut_subdomains_add(b->domains, ABUT_JOIN_SUM, r, z, err);
}

static abut_precond blocks_precond(void *self, int symmetric)
{
    (void)symmetric;
    return (abut_precond){ blocks_apply, self, abut_subdomains_rows(((blocks *)self)->domains) };
}

static void blocks_stats(const void *self, abut_report *rep)
{
    const abut_subdomains_stats c = abut_subdomains_get_stats(((const blocks *)self)->domains);
    rep->factor_nnz = c.factor_nnz, rep->factor_flops = c.factor_flops, rep->factor_bytes = (double)c.bytes;
}

static void blocks_release(void *self)
{
    abut_subdomains_free(&((blocks *)self)->domains);
    free(self);
}

const abut_initial_ops abut_initial_blocks = { .needs = ABUT_NEEDS_MATRIX, .make = blocks_make, .factor = blocks_factor,
                                               .precond = blocks_precond, .stats = blocks_stats, .free = blocks_release };

/* ---- incomplete Cholesky ---- */

/* An incomplete Cholesky factor of the Newton matrix, without fill, its rows in an order of small bandwidth, as an initial
 * matrix. */

typedef struct ordered {
    abut_ichol factor;
    int32_t *order;         /* [n] row of the matrix at each place */
    double *r, *z;          /* [3 n] in that order */
} ordered;

static void empty(ordered *o)
{
    abut_ichol_clear(&o->factor);
    free(o->order);
    free(o->r);
    free(o->z);
    *o = (ordered){ 0 };
}

static abut_status ichol_make(void **self, const abut_direction_options *opt, abut_err *err)
{
    (void)opt;
    *self = calloc(1, sizeof(ordered));
    return *self ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "initial matrix");
}

static abut_status ichol_factor(void *self, const abut_initial_at *at, abut_report *rep, abut_err *err)
{
    ordered *o = self;
    const abut_bsr *A = &at->matrix->A;
    const size_t n = (size_t)A->n;
    abut_bsr B = { 0 };
    (void)rep;
    empty(o);
    o->order = malloc((n + 1) * sizeof *o->order);
    o->r = malloc((3 * n + 1) * sizeof *o->r);
    o->z = malloc((3 * n + 1) * sizeof *o->z);
    abut_status rc = o->order && o->r && o->z ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "initial matrix: %zu rows", n);
    if (!rc) rc = abut_band_order(A, o->order, err);
    if (!rc) rc = abut_band_permuted(A, o->order, &B, err);
    if (!rc) rc = abut_ichol_factor(&o->factor, &B, err);
    abut_bsr_clear(&B);
    return rc;
}

static abut_status ichol_apply(void *of, const double *r, double *z, abut_err *err)
{
    ordered *o = of;
    const abut_precond M = abut_ichol_precond(&o->factor);
    for (int32_t k = 0; k < M.rows; k++)
        for (int i = 0; i < 3; i++) o->r[3 * k + i] = r[3 * (size_t)o->order[k] + (size_t)i];
    const abut_status rc = M.apply(M.of, o->r, o->z, err);
    for (int32_t k = 0; k < M.rows && !rc; k++)
        for (int i = 0; i < 3; i++) z[3 * (size_t)o->order[k] + (size_t)i] = o->z[3 * k + i];
    return rc;
}

static abut_precond ichol_precond(void *self, int symmetric)
{
    (void)symmetric;
    return (abut_precond){ ichol_apply, self, ((ordered *)self)->factor.L.n };
}

static void ichol_stats(const void *self, abut_report *rep)
{
    rep->factor_nnz = 9 * (double)((const ordered *)self)->factor.L.nnz;
    rep->factor_flops = 0;
    rep->factor_bytes = (double)sizeof(double) * rep->factor_nnz;
}

static void ichol_release(void *self)
{
    empty(self);
    free(self);
}

const abut_initial_ops abut_initial_ichol = { .needs = ABUT_NEEDS_MATRIX, .make = ichol_make, .factor = ichol_factor,
                                              .precond = ichol_precond, .stats = ichol_stats, .free = ichol_release };

/* ---- the identity ---- */

/* A multiple of the identity as an initial matrix (Nocedal and Wright 2006, eq. 7.20; Liu 2018, eq. 7.16, which prints the
 * inverse): A_0 = (y . y)/(s . y) of the newest pair; before the first pair, the mean diagonal of the constant matrix of
 * solve/direction/initial_laplacian.h.  Nothing is factored; curvature of contact enters by the pairs alone. */

typedef struct identity {
    const double *fit;
    double first, inverse;  /* 1/kg: of the mean diagonal; in use */
    int32_t rows;
    abut_made_for mean_of;
} identity;

static abut_status identity_make(void **self, const abut_direction_options *opt, abut_err *err)
{
    identity *s = *self = calloc(1, sizeof(identity));
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "initial matrix");
    s->fit = opt->user->quasi.fit;
    return ABUT_OK;
}

/* The mean diagonal; at->solve->bad_node is where it is least, if that is not positive. */
static abut_status find_mean(identity *s, const abut_initial_at *at, abut_err *err)
{
    const abut_objective *p = at->p;
    abut_bsr A = { 0 };
    abut_acc sum = { 0, 0 };
    int32_t least = 0;
    abut_status rc = abut_linear_tets(p->model, "solver lbfgs-id", err);
    if (!rc) rc = abut_laplacian(p, s->fit, NULL, &A, err);
    if (rc) return rc;
    for (int32_t i = 0; i < A.n; i++) {
        const double d = A.val[9 * A.ptr[i]];
        abut_acc_add(&sum, d);
        if (d < A.val[9 * A.ptr[least]]) least = i;
    }
    const double mean = A.n ? (sum.hi + sum.lo) / A.n : 1;
    abut_bsr_clear(&A);
    if (!(mean > 0)) {
        at->solve->bad_node = abut_newton_matrix_node_of_row(p, least);
        return abut_fail(err, ABUT_E_NUMERIC, "initial matrix: its mean diagonal is %.3g, expected > 0", mean);
    }
    s->first = 1 / mean;
    s->rows = p->nrow;
    return abut_made_for_take(&s->mean_of, p, err);
}

static abut_status identity_factor(void *self, const abut_initial_at *at, abut_report *rep, abut_err *err)
{
    identity *s = self;
    (void)rep;
    const abut_status rc = abut_made_for_is(&s->mean_of, at->p) ? ABUT_OK : find_mean(s, at, err);
    s->inverse = s->first;
    return rc;
}

static void learn(void *self, double ys, double yy)
{
    identity *s = self;
    s->inverse = ys > 0 && yy > 0 ? ys / yy : s->first;
}

static abut_status identity_apply(void *of, const double *r, double *z, abut_err *err)
{
    (void)err;
    const identity *s = of;
    #pragma omp parallel for schedule(static) if ((size_t)s->rows >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < s->rows; i++)
        for (int k = 0; k < 3; k++) z[3 * (size_t)i + (size_t)k] = s->inverse * r[3 * (size_t)i + (size_t)k];
    return ABUT_OK;
}

static abut_precond identity_precond(void *self, int symmetric)
{
    (void)symmetric;
    return (abut_precond){ identity_apply, self, ((identity *)self)->rows };
}

static void identity_stats(const void *self, abut_report *rep)
{
    (void)self;
    rep->factor_nnz = rep->factor_flops = rep->factor_bytes = 0;
}

static void identity_release(void *self)
{
    abut_made_for_clear(&((identity *)self)->mean_of);
    free(self);
}

const abut_initial_ops abut_initial_identity = { .make = identity_make, .factor = identity_factor, .precond = identity_precond,
                                                 .stats = identity_stats, .free = identity_release, .learn = learn };

/* ---- directions ---- */

ABUT_LBFGS_DIRECTION(gradient, "gradient", abut_initial_diagonal);
ABUT_LBFGS_DIRECTION(lbfgs_jh, "lbfgs-jh", abut_initial_blocks);
ABUT_LBFGS_DIRECTION(lbfgs_ic, "lbfgs-ic", abut_initial_ichol);
ABUT_LBFGS_DIRECTION(lbfgs_id, "lbfgs-id", abut_initial_identity);
ABUT_LBFGS_DIRECTION(lbfgs_rest, "lbfgs-rest", abut_initial_rest);
ABUT_LBFGS_DIRECTION(lbfgs_warped, "lbfgs-warped", abut_initial_warped);

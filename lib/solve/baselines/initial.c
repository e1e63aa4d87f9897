/* Initial matrices of L-BFGS for comparison, and the directions by them: the Newton matrix by its diagonal blocks, by disjoint
 * sets of nodes, by an incomplete factor; the Hessian at rest; a multiple of the identity. */
#include "solve/baselines/baselines.h"

#include "base/par.h"
#include "energy/elastic.h"
#include "energy/friction.h"
#include "energy/mass.h"
#include "graph/graph.h"
#include "math/mat3.h"
#include "math/svd3.h"
#include "model/tets.h"
#include "solve/direction/initial_laplacian.h"
#include "solve/baselines/ichol.h"
#include "sparse/own/cholesky.h"
#include "sparse/schwarz/schwarz.h"

#include <stdlib.h>
#include <string.h>

/* ---- diagonal blocks of the Newton matrix ---- */

/* The diagonal blocks of the Newton matrix as an initial matrix. */

typedef struct diagonal {
    double *inverse;        /* [9 cap] inverted blocks, row major */
    int32_t rows, cap;
} diagonal;

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
    return (abut_precond){ diagonal_apply, self, ((diagonal *)self)->rows, NULL };
}

static void diagonal_stats(const void *self, abut_report *rep)
{
    rep->factor_nnz = 9 * (double)((const diagonal *)self)->rows;
    rep->factor_flops = 0;
    rep->factor_bytes = (double)sizeof(double) * rep->factor_nnz;
}

static void diagonal_clear(void *self) { free(((diagonal *)self)->inverse); }

const abut_initial_ops abut_initial_diagonal = { .needs = ABUT_NEEDS_MATRIX, .size = sizeof(diagonal),
                                                 .factor = diagonal_factor, .precond = diagonal_precond,
                                                 .stats = diagonal_stats, .clear = diagonal_clear };

/* ---- block Jacobi ---- */

/* The Newton matrix on disjoint sets of nodes, in single precision, as an initial matrix: block Jacobi.  Entries between
 * different sets are dropped. */

#define NODES_PER_PART 1500     /* if the options give no number of parts */

typedef struct blocks {
    abut_subdomains *domains;
    const abut_quasi_options *user;
} blocks;

static void blocks_make(void *self, const abut_direction_options *opt) { ((blocks *)self)->user = &opt->user->quasi; }

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
    ABUT_FREE(first, row, part);
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
    return (abut_precond){ blocks_apply, self, abut_subdomains_rows(((blocks *)self)->domains), NULL };
}

static void blocks_stats(const void *self, abut_report *rep)
{
    const abut_subdomains_stats c = abut_subdomains_get_stats(((const blocks *)self)->domains);
    rep->factor_nnz = c.factor_nnz, rep->factor_flops = c.factor_flops, rep->factor_bytes = (double)c.bytes;
}

static void blocks_clear(void *self) { abut_subdomains_free(&((blocks *)self)->domains); }

const abut_initial_ops abut_initial_blocks = { .needs = ABUT_NEEDS_MATRIX, .size = sizeof(blocks), .make = blocks_make,
                                               .factor = blocks_factor, .precond = blocks_precond, .stats = blocks_stats,
                                               .clear = blocks_clear };

/* ---- incomplete Cholesky ---- */

/* An incomplete Cholesky factor of the Newton matrix, without fill, its rows in an order of small bandwidth, as an initial
 * matrix. */

typedef struct ordered {
    abut_ichol factor;
    int32_t *order;         /* [n] row of the matrix at each place */
    double *r, *z;          /* [3 n] in that order */
} ordered;

static void empty(void *self)
{
    ordered *o = self;
    abut_ichol_clear(&o->factor);
    ABUT_FREE(o->order, o->r, o->z);
    *o = (ordered){ 0 };
}

static abut_status ichol_factor(void *self, const abut_initial_at *at, abut_report *rep, abut_err *err)
{
    ordered *o = self;
    const abut_bsr *A = &at->matrix->A;
    const size_t n = (size_t)A->n;
    abut_bsr B = { 0 };
    (void)rep;
    empty(o);
    abut_status rc = ABUT_ARRAYS(ABUT_ITEMS(o->order, n), ABUT_ITEMS(o->r, 3 * n), ABUT_ITEMS(o->z, 3 * n))
        ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "initial matrix: %zu rows", n);
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
    return (abut_precond){ ichol_apply, self, ((ordered *)self)->factor.L.n, NULL };
}

static void ichol_stats(const void *self, abut_report *rep)
{
    rep->factor_nnz = 9 * (double)((const ordered *)self)->factor.L.nnz;
    rep->factor_flops = 0;
    rep->factor_bytes = (double)sizeof(double) * rep->factor_nnz;
}

const abut_initial_ops abut_initial_ichol = { .needs = ABUT_NEEDS_MATRIX, .size = sizeof(ordered),
                                              .factor = ichol_factor, .precond = ichol_precond, .stats = ichol_stats,
                                              .clear = empty };

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

static void identity_make(void *self, const abut_direction_options *opt) { ((identity *)self)->fit = opt->user->quasi.fit; }

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
    return (abut_precond){ identity_apply, self, ((identity *)self)->rows, NULL };
}

static void identity_stats(const void *self, abut_report *rep)
{
    (void)self;
    rep->factor_nnz = rep->factor_flops = rep->factor_bytes = 0;
}

static void identity_clear(void *self) { abut_made_for_clear(&((identity *)self)->mean_of); }

const abut_initial_ops abut_initial_identity = { .size = sizeof(identity), .make = identity_make, .factor = identity_factor,
                                                 .precond = identity_precond, .stats = identity_stats,
                                                 .clear = identity_clear, .learn = learn };

/* ---- the Hessian at rest ---- */

/* The Hessian at rest, K, as an initial matrix, with the Hessians of contact and friction, C, at the iterate: lbfgs-rest.  With
 * the rows of each node rotated like the tets around it, R K R^T + C, R = diag(R_i): lbfgs-warped, stiffness warping by nodes
 * (Mueller et al. 2002; Liu 2018, 7.3).  R_i is the rotation nearest to the mean of the tets' deformation gradients by volume;
 * the identity without a tet.
 *
 * Without contacts and terms whose Hessian at rest changes from step to step (damping by stiffness, drag), the factor is of K
 * alone, R is applied around it, and it lasts until the numbering or the scheme changes.  Both matrices are for comparison: K is
 * Newton's matrix near rest, and a poor one for a body that has rotated (lbfgs-rest) or bent (both). */

typedef struct rest {
    const abut_solve_options *user;
    int warps;
    abut_chol *factor;
    abut_made_for made_for;     /* known: the factor is of K alone */
    double *R;                  /* [9 nrow] of the iterate where the matrix was found, row major; NULL: not rotated */
    double *rotated;            /* [6 nrow] scratch of an application */
    int32_t nrow;
    int around;                 /* R is not in the factor, but around it */
} rest;

static void make_rest(void *self, const abut_direction_options *opt) { ((rest *)self)->user = opt->user; }

static void make_warped(void *self, const abut_direction_options *opt)
{
    *(rest *)self = (rest){ .user = opt->user, .warps = 1 };
}

static void clear(void *self)
{
    rest *s = self;
    abut_chol_free(&s->factor);
    abut_made_for_clear(&s->made_for);
    ABUT_FREE(s->R, s->rotated);
}

/* ---- how nodes have rotated ---- */

static void rotation_of_node(const abut_elastic *e, const double *x, int32_t node, double R[9])
{
    double mean[9] = { 0 }, U[9], V[9], s[3];
    for (int32_t k = e->inc_first[node]; k < e->inc_first[node + 1]; k++) {
        double F[9];
        const int32_t t = e->inc[k] / 4;
        (void)abut_elastic_deformation(e, x, t, F);
        for (int i = 0; i < 9; i++) mean[i] += e->vol[t] * F[i];
    }
    if (e->inc_first[node] == e->inc_first[node + 1]) {
        abut_m3_identity(R);
        return;
    }
    abut_svd3(mean, U, s, V);
    abut_m3_mul_nt(R, U, V);
}

static abut_status rotate_nodes(rest *s, const abut_objective *p, const double *x, abut_err *err)
{
    const abut_elastic *e = abut_elastic_of(&p->terms);
    ABUT_FREE(s->R, s->rotated);
    if (!ABUT_ARRAYS(ABUT_ITEMS(s->R, 9 * (size_t)p->nrow), ABUT_ITEMS(s->rotated, 6 * (size_t)p->nrow)))
        return abut_initial_no_memory(p, err);
    #pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < p->model->nv; i++)
        if (p->row[i] >= 0) rotation_of_node(e, x, i, s->R + 9 * (size_t)p->row[i]);
    return ABUT_OK;
}

/* out = R_i in, or R_i^T in, for the vectors of all rows. */
static void rotate(const rest *s, int transposed, const double *in, double *out)
{
    for (int32_t i = 0; i < s->nrow; i++) {
        const double *R = s->R + 9 * (size_t)i, *a = in + 3 * (size_t)i;
        double *b = out + 3 * (size_t)i;
        for (int k = 0; k < 3; k++)
            b[k] = transposed ? R[k] * a[0] + R[3 + k] * a[1] + R[6 + k] * a[2]
                              : R[3 * k] * a[0] + R[3 * k + 1] * a[1] + R[3 * k + 2] * a[2];
    }
}

/* ---- the sum ---- */

static void write_zeros(void *ctx, size_t lo, size_t hi, double *val)
{
    memset(val, 0, (hi - lo) * abut_element_size(ctx) * sizeof *val);
}

/* Keeps sets [first, last), and gives the others values 0, in the same form (values or `make`) as before. */
static void only(abut_elements *sets, int n, int first, int last, double *zeros, abut_elements *out)
{
    for (int k = 0; k < n; k++) {
        out[k] = sets[k];
        if (k >= first && k < last) continue;
        if (out[k].val) out[k].val = zeros;
        else out[k].make = write_zeros, out[k].ctx = &sets[k];
    }
}

/* Numbers of the largest set that has its values. */
static size_t most_values(const abut_elements *sets, int n)
{
    size_t most = 0;
    for (int k = 0; k < n; k++) {
        const size_t values = sets[k].val ? sets[k].n * abut_element_size(&sets[k]) : 0;
        most = values > most ? values : most;
    }
    return most;
}

/* A += R K R^T, or K; K[9 nnz] in the pattern of A. */
static void add_rotated(const rest *s, const double *K, abut_bsr *A)
{
    for (int32_t j = 0; j < A->n; j++)
        for (size_t k = A->ptr[j]; k < A->ptr[j + 1]; k++) {
            double half[9], whole[9];
            const double *block = K + 9 * k;
            if (s->R) {
                abut_m3_mul_nt(half, block, s->R + 9 * (size_t)j);
                abut_m3_mul(whole, s->R + 9 * (size_t)A->row[k], half);
                block = whole;
            }
            for (size_t i = 0; i < 9; i++) A->val[9 * k + i] += block[i];
        }
}

/* Sums the lasting sets and the diagonal as K, rotated, and the other sets at the iterate. */
static abut_status sum_sets(const rest *s, const abut_objective *p, abut_elements *sets, int n, abut_bsr *A, abut_err *err)
{
    abut_elements some[ABUT_SETS_MAX];
    abut_status rc = abut_bsr_pattern(A, p->nrow, sets, n, err);
    if (rc) return rc;
    double *diag = malloc(((size_t)p->nrow + 1) * sizeof *diag), *K = malloc((9 * A->nnz + 1) * sizeof *K),
           *zeros = calloc(most_values(sets, n) + 1, sizeof *zeros);
    if (!diag || !K || !zeros) rc = abut_initial_no_memory(p, err);
    if (!rc) {
        abut_objective_diagonal(p, diag);
        only(sets, n, 0, p->lasting, zeros, some);
        abut_bsr_assemble(A, diag, some, n);
        memcpy(K, A->val, 9 * A->nnz * sizeof *K);
        only(sets, n, p->lasting, n, zeros, some);
        abut_bsr_assemble(A, NULL, some, n);
        add_rotated(s, K, A);
    }
    ABUT_FREE(diag, K, zeros);
    return rc;
}

static abut_status factor_sum(rest *s, const abut_bsr *A, abut_err *err)
{
    int32_t *perm = malloc(((size_t)A->n + 1) * sizeof *perm);
    abut_status rc = perm ? abut_graph_order_nested_dissection(abut_bsr_graph(A), perm, err)
                          : abut_fail(err, ABUT_E_NOMEM, "initial matrix: %d unknowns", 3 * A->n);
    if (!rc && s->factor) rc = abut_chol_renew(s->factor, A, perm, err);
    else if (!rc) rc = abut_chol_new(&s->factor, A, perm, s->user->linear.threads, err);
    if (!rc) rc = abut_chol_factor(s->factor, A, err);
    free(perm);
    return rc;
}

/* Sums elasticity at rest, all else at the iterate.  alone: there is nothing else, and the factor lasts. */
static abut_status make_factor(rest *s, const abut_initial_at *at, int alone, abut_err *err)
{
    const abut_objective *p = at->p;
    const abut_at here = { .x = at->at->x, .z = p->model->X, .y = at->at->y, .pairs = &at->at->pairs, .step = &p->step };
    abut_elements sets[ABUT_SETS_MAX];
    abut_bsr A = { 0 };
    int n = 0;
    s->made_for.known = 0;
    abut_status rc = abut_objective_sets(p, &here, 0, sets, &n, err);
    double *const R = s->R;
    if (alone) s->R = NULL;
    if (!rc) rc = sum_sets(s, p, sets, n, &A, err);
    s->R = R;
    if (!rc) rc = factor_sum(s, &A, err);
    abut_bsr_clear(&A);
    return rc || !alone ? rc : abut_made_for_take(&s->made_for, p, err);
}

/* Returns 1 if all Hessians at rest, except contact and friction, are the same in each step: masses, and energies at z without a
 * state, but not damping and drag. */
static int nothing_else(const abut_objective *p)
{
    for (int i = 0; i < p->terms.n; i++) {
        const abut_term_ops *ops = p->terms.term[i].ops;
        const int touches = ops->kind == ABUT_TERM_CONTACT || ops->kind == ABUT_TERM_FRICTION;
        const int lasts = ops->kind == ABUT_TERM_INERTIA || (ops->weight == ABUT_TERM_AT_Z && !ops->begin && !ops->load);
        if (ops->hessian && !touches && !lasts) return 0;
    }
    return 1;
}

static abut_status factor(void *self, const abut_initial_at *at, abut_report *rep, abut_err *err)
{
    rest *s = self;
    const abut_objective *p = at->p;
    const size_t touching = at->at->pairs.n + at->at->pairs.n_plane + abut_lag_of(&p->terms)->n;
    const int alone = !touching && !abut_lagrangian_of(&p->terms)->on && nothing_else(p);
    (void)rep;
    s->nrow = p->nrow;
    s->around = s->warps && alone;
    abut_status rc = s->warps ? rotate_nodes(s, p, at->at->x, err) : ABUT_OK;
    if (!rc && !(alone && abut_made_for_is(&s->made_for, p))) rc = make_factor(s, at, alone, err);
    if (rc == ABUT_E_NUMERIC) at->solve->bad_node = abut_newton_matrix_node_of_row(p, abut_chol_bad_row(s->factor));
    return rc;
}

/* z = R K^-1 R^T r */
static abut_status apply_rotated(void *of, const double *r, double *z, abut_err *err)
{
    rest *s = of;
    double *a = s->rotated, *b = a + 3 * (size_t)s->nrow;
    const abut_precond K = abut_chol_precond(s->factor);
    rotate(s, 1, r, a);
    const abut_status rc = K.apply(K.of, a, b, err);
    if (!rc) rotate(s, 0, b, z);
    return rc;
}

static abut_precond precond(void *self, int symmetric)
{
    rest *s = self;
    (void)symmetric;
    return s->around ? (abut_precond){ apply_rotated, s, s->nrow, NULL } : abut_chol_precond(s->factor);
}

static void stats(const void *self, abut_report *rep)
{
    const abut_chol_stats c = abut_chol_get_stats(((const rest *)self)->factor);
    rep->factor_nnz = c.factor_nnz;
    rep->factor_flops = c.factor_flops;
    rep->factor_bytes = (double)c.bytes;
}

const abut_initial_ops abut_initial_rest = { .size = sizeof(rest), .make = make_rest, .factor = factor, .precond = precond,
                                             .stats = stats, .clear = clear };
const abut_initial_ops abut_initial_warped = { .size = sizeof(rest), .make = make_warped, .factor = factor, .precond = precond,
                                               .stats = stats, .clear = clear };

/* ---- directions ---- */

ABUT_LBFGS_DIRECTION(gradient, "gradient", abut_initial_diagonal);
ABUT_LBFGS_DIRECTION(lbfgs_jh, "lbfgs-jh", abut_initial_blocks);
ABUT_LBFGS_DIRECTION(lbfgs_ic, "lbfgs-ic", abut_initial_ichol);
ABUT_LBFGS_DIRECTION(lbfgs_id, "lbfgs-id", abut_initial_identity);
ABUT_LBFGS_DIRECTION(lbfgs_rest, "lbfgs-rest", abut_initial_rest);
ABUT_LBFGS_DIRECTION(lbfgs_warped, "lbfgs-warped", abut_initial_warped);

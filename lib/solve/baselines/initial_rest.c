/* The Hessian at rest, K, as an initial matrix, with the Hessians of contact and friction, C, at the iterate: lbfgs-rest.  With
 * the rows of each node rotated like the tets around it, R K R^T + C, R = diag(R_i): lbfgs-warped, stiffness warping by nodes
 * (Mueller et al. 2002; Liu 2018, 7.3).  R_i is the rotation nearest to the mean of the tets' deformation gradients by volume;
 * the identity without a tet.
 *
 * Without contacts and terms whose Hessian at rest changes from step to step (damping by stiffness, drag), the factor is of K
 * alone, R is applied around it, and it lasts until the numbering or the scheme changes.  Both matrices are for comparison: K is
 * Newton's matrix near rest, and a poor one for a body that has rotated (lbfgs-rest) or bent (both). */
#include "solve/direction/initial.h"
#include "solve/direction/initial_laplacian.h"

#include "energy/elastic.h"
#include "energy/friction.h"
#include "energy/mass.h"
#include "math/mat3.h"
#include "math/svd3.h"
#include "sparse/own/cholesky.h"

#include <stdlib.h>
#include <string.h>

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

static abut_status make_one(void **self, int warps, const abut_direction_options *opt, abut_err *err)
{
    rest *s = *self = calloc(1, sizeof(rest));
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "initial matrix");
    s->user = opt->user;
    s->warps = warps;
    return ABUT_OK;
}

static abut_status make_rest(void **self, const abut_direction_options *opt, abut_err *err)
{
    return make_one(self, 0, opt, err);
}

static abut_status make_warped(void **self, const abut_direction_options *opt, abut_err *err)
{
    return make_one(self, 1, opt, err);
}

static void release(void *self)
{
    rest *s = self;
    abut_chol_free(&s->factor);
    abut_made_for_clear(&s->made_for);
    free(s->R);
    free(s->rotated);
    free(s);
}

static abut_status no_memory(const abut_objective *p, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "initial matrix: %d unknowns", 3 * p->nrow);
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
    free(s->R);
    free(s->rotated);
    s->R = malloc((9 * (size_t)p->nrow + 1) * sizeof *s->R);
    s->rotated = malloc((6 * (size_t)p->nrow + 1) * sizeof *s->rotated);
    if (!s->R || !s->rotated) return no_memory(p, err);
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
    if (!diag || !K || !zeros) rc = no_memory(p, err);
    if (!rc) {
        abut_objective_diagonal(p, diag);
        only(sets, n, 0, p->lasting, zeros, some);
        abut_bsr_assemble(A, diag, some, n);
        memcpy(K, A->val, 9 * A->nnz * sizeof *K);
        only(sets, n, p->lasting, n, zeros, some);
        abut_bsr_assemble(A, NULL, some, n);
        add_rotated(s, K, A);
    }
    free(diag);
    free(K);
    free(zeros);
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
    return s->around ? (abut_precond){ apply_rotated, s, s->nrow } : abut_chol_precond(s->factor);
}

static void stats(const void *self, abut_report *rep)
{
    const abut_chol_stats c = abut_chol_get_stats(((const rest *)self)->factor);
    rep->factor_nnz = c.factor_nnz;
    rep->factor_flops = c.factor_flops;
    rep->factor_bytes = (double)c.bytes;
}

const abut_initial_ops abut_initial_rest = { .make = make_rest, .factor = factor, .precond = precond, .stats = stats,
                                             .free = release };
const abut_initial_ops abut_initial_warped = { .make = make_warped, .factor = factor, .precond = precond, .stats = stats,
                                               .free = release };

#include "solve/direction/initial_laplacian.h"

#include "energy/attachment.h"
#include "energy/codim_term.h"
#include "energy/friction_term.h"
#include "energy/prescribed.h"
#include "energy/stiffness_fit.h"
#include "graph/graph.h"
#include "solve/direction/initial.h"
#include "sparse/own/cholesky.h"
#include "sparse/packed_inline.h"
#include "sparse/woodbury.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Block (a, b), a <= b, of a packed element of so many corners. */
static void put(double *H, int corners, int a, int b, double v)
{
    for (size_t d = 0; d < 9; d += 4) H[9 * abut_packed_block(corners, a, b) + d] = v;
}

static void tet_blocks(const abut_elastic *e, const double *k, double psi, double *H)
{
    const abut_model *m = e->model;
    for (size_t t = 0; t < (size_t)m->nt; t++) {
        const double *B = e->B + 9 * t, w = psi * e->vol[t] * k[m->tet_mat[t]];
        double g[12];
        for (int d = 0; d < 3; d++) {
            for (int a = 0; a < 3; a++) g[3 * (a + 1) + d] = B[3 * a + d];
            g[d] = -(B[d] + B[3 + d] + B[6 + d]);
        }
        const double kappa = m->mat_fibre ? psi * e->vol[t] * m->mat_fibre[m->tet_mat[t]] : 0;
        double along[4] = { 0 };    /* the fibre */
        for (int a = 0; a < 4 && kappa > 0; a++)
            for (int d = 0; d < 3; d++) along[a] += g[3 * a + d] * m->tet_fibre[3 * t + (size_t)d];
        for (int a = 0; a < 4; a++)
            for (int b = a; b < 4; b++)
                put(H + abut_packed_size(4) * t, 4, a, b,
                    kappa * along[a] * along[b] +
                        w * (g[3 * a] * g[3 * b] + g[3 * a + 1] * g[3 * b + 1] + g[3 * a + 2] * g[3 * b + 2]));
    }
}

static void spring_blocks(const abut_model *m, double psi, double *H)
{
    for (size_t s = 0; s < (size_t)m->nsp; s++, H += abut_packed_size(2)) {
        const double k = psi * m->spring_stiffness[s];
        put(H, 2, 0, 0, k);
        put(H, 2, 1, 1, k);
        put(H, 2, 0, 1, -k);
    }
}

/* no rotation of an element changes the trace of a block */
static void codim_blocks(const abut_objective *p, double *H)
{
    const abut_codim *t = abut_codim_of(&p->terms);
    if (!t->n) return;
    const abut_codim_state *state = abut_codim_state_of(&p->terms);
    abut_codim_hessian_ahead(t, p->model->X, ABUT_CODIM_ALL, state->strain_kappa, p->step.weight_z2, NULL, H);
    for (double *block = H; block < H + abut_packed_size(4) * t->n; block += 9) {
        const double trace = block[0] + block[4] + block[8];
        for (int d = 0; d < 9; d++) block[d] = d % 4 ? 0 : trace;
    }
}

/* Elements node[n * corners] as a set, its rows and values those that are free in *row and *H. */
static abut_elements set_of(const abut_objective *p, const char *name, int corners, size_t n, const int32_t *node, int32_t **row,
                            double **H)
{
    const abut_elements set = { .name = name, .corners = corners, .n = n, .row = *row, .val = *H };
    for (size_t i = 0; i < (size_t)corners * n; i++) *(*row)++ = node[i] < 0 ? -1 : p->row[node[i]];
    *H += n * abut_packed_size(corners);
    return set;
}

abut_status abut_laplacian(const abut_objective *p, const double *k, const abut_elements *more, abut_bsr *A, abut_err *err)
{
    assert(p);
    const abut_model *m = p->model;
    const size_t nt = (size_t)m->nt, ns = (size_t)m->nsp, na = (size_t)m->na, nc = abut_codim_of(&p->terms)->n;
    const double psi = p->w.psi * p->w.share * p->w.share;
    int32_t *rows = malloc((4 * (nt + nc) + 2 * ns + 5 * na + 1) * sizeof *rows), *row = rows;
    double *all = calloc((nt + nc) * abut_packed_size(4) + ns * abut_packed_size(2) + na * abut_packed_size(5) + 1, sizeof *all);
    double *H = all, *diag = malloc(((size_t)p->nrow + 1) * sizeof *diag);
    abut_status rc = rows && all && diag ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "constant matrix: %zu elements, %d nodes",
                                                               nt + ns + na + nc, m->nv);
    if (!rc) {
        abut_elements sets[5] = { { 0 } };
        tet_blocks(abut_elastic_of(&p->terms), k, psi, H);
        sets[0] = set_of(p, "tets", 4, nt, m->tet, &row, &H);
        spring_blocks(m, psi, H);
        sets[1] = set_of(p, "springs", 2, ns, m->spring, &row, &H);
        abut_attachment_hessian(m, psi, H);
        sets[2] = set_of(p, "attachments", 5, na, m->attach_node, &row, &H);
        codim_blocks(p, H);
        sets[3] = set_of(p, "codimensional elements", 4, nc, abut_codim_of(&p->terms)->node, &row, &H);
        if (more) sets[4] = *more;
        abut_objective_diagonal(p, diag);
        rc = abut_bsr_pattern(A, p->nrow, sets, more ? 5 : 4, err);
        if (!rc) abut_bsr_assemble(A, diag, sets, more ? 5 : 4);
    }
    free(rows);
    free(all);
    free(diag);
    return rc;
}

/* Mean of the diagonal of L, N/m. */
static abut_status mean_stiffness(const abut_objective *p, const abut_bsr *A, double *mean,
                                  abut_err *err)
{
    double *diag = malloc(((size_t)A->n + 1) * sizeof *diag), sum = 0;
    if (!diag) return abut_fail(err, ABUT_E_NOMEM, "constant matrix: %d nodes", A->n);
    abut_objective_diagonal(p, diag);
    for (int32_t i = 0; i < A->n; i++) sum += (A->val[9 * A->ptr[i]] - diag[i]) / p->w.psi;
    free(diag);
    *mean = A->n ? sum / A->n : 0;
    return ABUT_OK;
}

abut_status abut_laplacian_factor(const abut_objective *p, double lo, double hi, abut_linear_solver *c, double *mean,
                                  abut_err *err)
{
    abut_bsr A = { 0 };
    double *k = malloc(((size_t)p->model->nm + 1) * sizeof *k);
    int32_t *perm = malloc(((size_t)p->nrow + 1) * sizeof *perm);
    abut_linear_solver_clear(c);
    abut_status rc = k && perm ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "constant matrix: %d nodes", p->nrow);
    if (!rc && p->model->nt) rc = abut_stiffness_fit_materials(abut_elastic_of(&p->terms), lo, hi, k, err);
    if (!rc) rc = abut_laplacian(p, k, NULL, &A, err);
    if (!rc && mean) rc = mean_stiffness(p, &A, mean, err);
    if (!rc) rc = abut_graph_order_nested_dissection(abut_bsr_graph(&A), perm, err);
    const abut_operator L = { .matrix = &A, .scalar = 1 };
    if (!rc) rc = abut_linear_solver_init(c, &abut_linear_cholmod, 1, err);
    if (!rc) rc = abut_linear_analyse(c, &L, perm, err);
    if (!rc) rc = abut_linear_factor(c, &L, ABUT_DOUBLE, err);
    if (rc && rc != ABUT_E_NUMERIC) abut_linear_solver_clear(c);
    abut_bsr_clear(&A);
    free(k);
    free(perm);
    return rc;
}

/* ---- lbfgs-pd: that matrix, one for x, y and z, and the Hessians of contact and friction.  On few rows they are put on top of
 * its factor (sparse/woodbury.h), else the sum is factored.  The factor of the elements outlives a minimisation. ---- */

/* rows in contact are few: no more than this part of all, and than this, whose dense factor costs what a sparse one does */
#define FEW_OF 8
#define FEW 500

typedef struct laplacian {
    int threads;
    struct constant {       /* the factor, and the numbering and weight that it is for */
        abut_linear_solver factor;
        int32_t *node_row;  /* [nv] */
        double psi;
    } constant;
    abut_woodbury woodbury; /* the same with contacts on a few rows */
    abut_chol *sum;         /* with many */
    enum { CONTACTS_NONE, CONTACTS_FEW, CONTACTS_MANY } contacts;   /* which of the three is in use */
} laplacian;

static abut_status make(void **self, const abut_direction_options *opt, abut_err *err)
{
    laplacian *s = *self = calloc(1, sizeof(laplacian));
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "initial matrix");
    s->threads = opt->threads;
    return ABUT_OK;
}

static void release(void *self)
{
    laplacian *s = self;
    abut_linear_solver_clear(&s->constant.factor);
    free(s->constant.node_row);
    abut_woodbury_clear(&s->woodbury);
    abut_chol_free(&s->sum);
    free(s);
}

static abut_status no_memory(const abut_objective *p, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "initial matrix: %d unknowns", 3 * p->nrow);
}

/* The factor of the elements alone lasts while the numbering and the scheme do; that of an augmented Lagrangian does not. */
static abut_status constant_make(laplacian *s, const abut_objective *p, abut_err *err)
{
    struct constant *c = &s->constant;
    const size_t bytes = (size_t)p->model->nv * sizeof *c->node_row;
    const int pushed = abut_lagrangian_of(&p->terms)->on;
    if (c->factor.ops && !pushed && c->psi == p->w.psi && !memcmp(c->node_row, p->row, bytes)) return ABUT_OK;
    if (!c->node_row) c->node_row = malloc(bytes + 1);
    if (!c->node_row) return no_memory(p, err);
    const abut_status rc = abut_laplacian_factor(p, ABUT_FIT_LOW, ABUT_FIT_HIGH, &c->factor, NULL, err);
    c->psi = rc || pushed ? -1 : p->w.psi;
    memcpy(c->node_row, p->row, bytes);
    return rc;
}

/* With contacts: the Laplacian and their Hessians, in blocks. */
static abut_status sum_make(laplacian *s, const abut_objective *p, const abut_elements *contacts, int threads, abut_err *err)
{
    abut_bsr A = { 0 };
    const abut_model *m = p->model;
    double *k = malloc(((size_t)m->nm + 1) * sizeof *k);
    int32_t *perm = malloc(((size_t)p->nrow + 1) * sizeof *perm);
    abut_status rc = k && perm ? ABUT_OK : no_memory(p, err);
    if (!rc && m->nt) rc = abut_stiffness_fit_materials(abut_elastic_of(&p->terms), ABUT_FIT_LOW, ABUT_FIT_HIGH, k, err);
    if (!rc) rc = abut_laplacian(p, k, contacts, &A, err);
    if (!rc) rc = abut_graph_order_nested_dissection(abut_bsr_graph(&A), perm, err);
    if (!rc) rc = s->sum ? abut_chol_renew(s->sum, &A, perm, err) : abut_chol_new(&s->sum, &A, perm, threads, err);
    if (!rc) rc = abut_chol_factor(s->sum, &A, err);
    abut_bsr_clear(&A);
    free(k);
    free(perm);
    return rc;
}

static abut_status factor_with_contacts(laplacian *s, const abut_initial_at *at, abut_err *err)
{
    const abut_objective *p = at->p;
    abut_elements contacts;
    int32_t rows = 0;
    s->contacts = CONTACTS_NONE;
    if (at->at->pairs->n + at->at->pairs->n_plane + abut_lag_of(&p->terms)->n == 0) return constant_make(s, p, err);
    abut_status rc = abut_newton_matrix_contacts(at->matrix, p, at->at, &contacts, err);
    if (!rc && !contacts.map) rc = abut_woodbury_count(p->nrow, &contacts, &rows, err);
    if (rc) return rc;
    s->contacts = !contacts.map && rows <= FEW && rows <= p->nrow / FEW_OF ? CONTACTS_FEW : CONTACTS_MANY;
    if (s->contacts == CONTACTS_MANY) return sum_make(s, p, &contacts, s->threads, err);
    rc = constant_make(s, p, err);
    return rc ? rc : abut_woodbury_make(&s->woodbury, &s->constant.factor, p->nrow, &contacts, err);
}

static abut_status factor(void *self, const abut_initial_at *at, abut_report *rep, abut_err *err)
{
    (void)rep;
    laplacian *s = self;
    const abut_status rc = factor_with_contacts(s, at, err);
    if (rc != ABUT_E_NUMERIC) return rc;
    const int32_t row = s->contacts == CONTACTS_MANY ? abut_chol_bad_row(s->sum) : abut_linear_bad_row(&s->constant.factor);
    at->solve->bad_node = abut_newton_matrix_node_of_row(at->p, row);
    return rc;
}

static abut_precond precond(void *self, int symmetric)
{
    laplacian *s = self;
    (void)symmetric;
    switch (s->contacts) {
    case CONTACTS_MANY: return abut_chol_precond(s->sum);
    case CONTACTS_FEW: return abut_woodbury_precond(&s->woodbury);
    default: return abut_linear_precond(&s->constant.factor);
    }
}

static void stats(const void *self, abut_report *rep)
{
    const laplacian *s = self;
    if (s->contacts == CONTACTS_MANY) {
        const abut_chol_stats c = abut_chol_get_stats(s->sum);
        rep->factor_nnz = c.factor_nnz, rep->factor_flops = c.factor_flops, rep->factor_bytes = (double)c.bytes;
        return;
    }
    const abut_linear_stats c = abut_linear_get_stats(&s->constant.factor);
    const double m = s->contacts ? s->woodbury.m : 0;
    rep->factor_nnz = c.nnz + 10 * m * m, rep->factor_flops = c.flops + 9 * m * m * m;
    rep->factor_bytes = (double)sizeof(double) * rep->factor_nnz;
}

const abut_initial_ops abut_initial_laplacian = { 0, make, factor, precond, NULL, NULL, stats, release };

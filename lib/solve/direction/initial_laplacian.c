#include "solve/direction/initial_laplacian.h"

#include "energy/friction.h"
#include "energy/mass.h"
#include "solve/direction/initial.h"
#include "sparse/own/cholesky.h"
#include "sparse/woodbury.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void abut_made_for_clear(abut_made_for *m)
{
    free(m->node_row);
    *m = (abut_made_for){ 0 };
}

int abut_made_for_is(const abut_made_for *m, const abut_objective *p)
{
    return m->known && !abut_lagrangian_of(&p->terms)->on && !memcmp(&m->w, &p->w, sizeof m->w) &&
           !memcmp(m->node_row, p->row, (size_t)p->model->nv * sizeof *p->row);
}

abut_status abut_made_for_take(abut_made_for *m, const abut_objective *p, abut_err *err)
{
    const size_t bytes = (size_t)p->model->nv * sizeof *p->row;
    m->known = 0;
    if (!m->node_row) m->node_row = malloc(bytes + 1);
    if (!m->node_row) return abut_fail(err, ABUT_E_NOMEM, "constant matrix: %d nodes", p->model->nv);
    memcpy(m->node_row, p->row, bytes);
    m->w = p->w;
    m->known = !abut_lagrangian_of(&p->terms)->on;
    return ABUT_OK;
}

/* The constant elements of a term as a set, its rows and values allocated. */
static abut_status term_set(const abut_objective *p, const abut_term *term, const double fit[2], abut_elements *set,
                            abut_err *err)
{
    const abut_at rest = { p->model->X, p->model->X, NULL, NULL, &p->step };
    *set = (abut_elements){ .name = term->ops->set };
    abut_status rc = term->ops->elements(term->self, &rest, set, err);
    if (rc) return set->row = NULL, rc;
    const size_t corners = (size_t)set->corners * set->n;
    const int32_t *node = set->row;
    int32_t *row = malloc((corners + 1) * sizeof *row);
    double *val = calloc(set->n * abut_element_size(set) + 1, sizeof *val);
    set->row = row, set->val = val;
    if (!row || !val) return abut_fail(err, ABUT_E_NOMEM, "constant matrix: %zu elements (%s)", set->n, set->name);
    for (size_t i = 0; i < corners; i++) row[i] = node[i] < 0 ? -1 : p->row[node[i]];
    return term->ops->constant(term->self, fit, abut_objective_weight(p, term->ops, 2), val, err);
}

void abut_laplacian_sets_clear(abut_elements *sets, int n)
{
    for (int i = 0; i < n; i++) {
        ABUT_FREE((void *)sets[i].row, (void *)sets[i].val);
    }
}

abut_status abut_laplacian_sets(const abut_objective *p, const double fit[2], abut_elements *sets, int *n, abut_err *err)
{
    abut_status rc = ABUT_OK;
    *n = 0;
    for (int i = 0; i < p->terms.n && !rc; i++)
        if (p->terms.term[i].ops->constant) rc = term_set(p, &p->terms.term[i], fit, &sets[(*n)++], err);
    if (!rc) return ABUT_OK;
    abut_laplacian_sets_clear(sets, *n);
    *n = 0;
    return rc;
}

abut_status abut_laplacian(const abut_objective *p, const double fit[2], const abut_elements *more, abut_bsr *A, abut_err *err)
{
    assert(p);
    abut_elements sets[ABUT_TERMS_MAX + 1];
    int n = 0;
    double *diag = malloc(((size_t)p->nrow + 1) * sizeof *diag);
    abut_status rc = diag ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "constant matrix: %d nodes", p->model->nv);
    if (!rc) rc = abut_laplacian_sets(p, fit, sets, &n, err);
    if (!rc) {
        if (more) sets[n] = *more;
        abut_objective_diagonal(p, diag);
        rc = abut_bsr_pattern(A, p->nrow, sets, n + !!more, err);
        if (!rc) abut_bsr_assemble(A, diag, sets, n + !!more);
    }
    abut_laplacian_sets_clear(sets, n);
    free(diag);
    return rc;
}

/* Mean of the diagonal of L, N/m. */
static abut_status mean_stiffness(const abut_objective *p, const abut_bsr *A, double *mean, abut_err *err)
{
    double *diag = malloc(((size_t)A->n + 1) * sizeof *diag), sum = 0;
    if (!diag) return abut_fail(err, ABUT_E_NOMEM, "constant matrix: %d nodes", A->n);
    abut_objective_diagonal(p, diag);
    for (int32_t i = 0; i < A->n; i++) sum += (A->val[9 * A->ptr[i]] - diag[i]) / p->w.psi;
    free(diag);
    *mean = A->n ? sum / A->n : 0;
    return ABUT_OK;
}

abut_status abut_laplacian_factor(const abut_objective *p, const double fit[2], abut_linear_solver *c, double *mean,
                                  abut_err *err)
{
    abut_bsr A = { 0 };
    int32_t *perm = malloc(((size_t)p->nrow + 1) * sizeof *perm);
    abut_linear_solver_clear(c);
    abut_status rc = abut_linear_tets(p->model, "solver lbfgs-pd", err);
    if (!rc && !perm) rc = abut_fail(err, ABUT_E_NOMEM, "constant matrix: %d nodes", p->nrow);
    if (!rc) rc = abut_laplacian(p, fit, NULL, &A, err);
    if (!rc && mean) rc = mean_stiffness(p, &A, mean, err);
    if (!rc) rc = abut_graph_order_nested_dissection(abut_bsr_graph(&A), perm, err);
    const abut_operator L = { .matrix = &A, .scalar = 1 };
    if (!rc) rc = abut_linear_solver_init(c, &abut_linear_cholmod, 1, err);
    if (!rc) rc = abut_linear_analyse(c, &L, perm, err);
    if (!rc) rc = abut_linear_factor(c, &L, ABUT_DOUBLE, err);
    if (rc && rc != ABUT_E_NUMERIC) abut_linear_solver_clear(c);
    abut_bsr_clear(&A);
    free(perm);
    return rc;
}

/* ---- lbfgs-pd: that matrix, one for x, y and z, and the Hessians of contact and friction.  On few rows they are put on top of
 * its factor (sparse/woodbury.h), else the sum is factored.  The factor of the elements outlives a minimisation. ---- */

/* rows in contact are few: no more than this part of all, and than this, whose dense factor costs what a sparse one does */
#define FEW_OF 8
#define FEW 500

typedef struct laplacian {
    const abut_solve_options *user;
    struct constant {
        abut_linear_solver factor;
        abut_made_for made_for;
    } constant;
    abut_woodbury woodbury; /* the same with contacts on a few rows */
    abut_chol *sum;         /* with many */
    enum { CONTACTS_NONE, CONTACTS_FEW, CONTACTS_MANY } contacts;   /* which of the three is in use */
} laplacian;

static void make(void *self, const abut_direction_options *opt) { ((laplacian *)self)->user = opt->user; }

static void clear(void *self)
{
    laplacian *s = self;
    abut_linear_solver_clear(&s->constant.factor);
    abut_made_for_clear(&s->constant.made_for);
    abut_woodbury_clear(&s->woodbury);
    abut_chol_free(&s->sum);
}

/* Factors the matrix of the elements alone. */
static abut_status constant_make(laplacian *s, const abut_objective *p, abut_err *err)
{
    struct constant *c = &s->constant;
    if (abut_made_for_is(&c->made_for, p)) return ABUT_OK;
    c->made_for.known = 0;
    const abut_status rc = abut_laplacian_factor(p, s->user->quasi.fit, &c->factor, NULL, err);
    return rc ? rc : abut_made_for_take(&c->made_for, p, err);
}

/* Sums and factors the Laplacian with the Hessians of contacts, in blocks. */
static abut_status sum_make(laplacian *s, const abut_objective *p, const abut_elements *contacts, abut_err *err)
{
    abut_bsr A = { 0 };
    int32_t *perm = malloc(((size_t)p->nrow + 1) * sizeof *perm);
    abut_status rc = perm ? abut_linear_tets(p->model, "solver lbfgs-pd", err) : abut_initial_no_memory(p, err);
    if (!rc) rc = abut_laplacian(p, s->user->quasi.fit, contacts, &A, err);
    if (!rc) rc = abut_graph_order_nested_dissection(abut_bsr_graph(&A), perm, err);
    if (!rc && s->sum) rc = abut_chol_renew(s->sum, &A, perm, err);
    else if (!rc) rc = abut_chol_new(&s->sum, &A, perm, s->user->linear.threads, err);
    if (!rc) rc = abut_chol_factor(s->sum, &A, err);
    abut_bsr_clear(&A);
    free(perm);
    return rc;
}

static abut_status factor_with_contacts(laplacian *s, const abut_initial_at *at, abut_err *err)
{
    const abut_objective *p = at->p;
    abut_elements contacts;
    int32_t rows = 0;
    s->contacts = CONTACTS_NONE;
    if (at->at->pairs.n + at->at->pairs.n_plane + abut_lag_of(&p->terms)->n == 0) return constant_make(s, p, err);
    abut_status rc = abut_newton_matrix_contacts(at->matrix, p, at->at, &contacts, err);
    if (!rc && !contacts.map) rc = abut_woodbury_count(p->nrow, &contacts, &rows, err);
    if (rc) return rc;
    s->contacts = !contacts.map && rows <= FEW && rows <= p->nrow / FEW_OF ? CONTACTS_FEW : CONTACTS_MANY;
    if (s->contacts == CONTACTS_MANY) return sum_make(s, p, &contacts, err);
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

const abut_initial_ops abut_initial_laplacian = { .size = sizeof(laplacian), .make = make, .factor = factor, .precond = precond,
                                                  .stats = stats, .clear = clear, .scaled = 1 };

/* The linear systems of hard contact: which rows contacts reach, the constant matrix of split elements, and the solutions of
 * A v = f, and of (A + W) v = f + W (p + lambda) in every iteration of ADMM. */
#include "solve/nodal/nodal.h"

#include "base/order.h"
#include "energy/codim.h"
#include "energy/curved_rod.h"
#include "energy/elastic.h"
#include "model/tets.h"
#include "solve/direction/initial_laplacian.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- components of the matrix ---- */

void abut_components_clear(abut_components *c)
{
    ABUT_FREE(c->of, c->wanted, c->woken, c->awake.node, c->body, c->inertia);
    *c = (abut_components){ 0 };
}

static abut_status reserve(abut_components *c, int32_t rows, int32_t nodes, abut_err *err)
{
    if (c->of && c->rows == rows) return ABUT_OK;
    abut_components_clear(c);
    c->of = malloc(((size_t)rows + 1) * sizeof *c->of);
    c->wanted = malloc((size_t)rows + 1);
    c->woken = malloc((size_t)rows + 1);
    c->awake.node = malloc(((size_t)nodes + 1) * sizeof *c->awake.node);
    c->body = malloc(((size_t)nodes + 1) * sizeof *c->body);
    c->inertia = malloc((9 * (size_t)rows + 1) * sizeof *c->inertia);
    c->rows = rows;
    if (c->of && c->wanted && c->woken && c->awake.node && c->body && c->inertia) return ABUT_OK;
    abut_components_clear(c);
    return abut_fail(err, ABUT_E_NOMEM, "components of %d rows", rows);
}

abut_status abut_components_find(abut_components *c, const abut_bsr *A, int32_t nodes, abut_err *err)
{
    const abut_status rc = reserve(c, A->n, nodes, err);
    if (rc) return rc;
    for (int32_t i = 0; i < A->n; i++) c->of[i] = i;
    for (int32_t j = 0; j < A->n; j++)
        for (size_t k = A->ptr[j]; k < A->ptr[j + 1]; k++) abut_set_join(c->of, j, A->row[k]);
    for (int32_t i = 0; i < A->n; i++) c->of[i] = abut_set_root(c->of, i);
    memset(c->inertia, 0, 9 * (size_t)A->n * sizeof *c->inertia);
    for (int32_t j = 0; j < A->n; j++)
        for (size_t k = A->ptr[j]; k < A->ptr[j + 1]; k++) {
            const double *block = A->val + 9 * k;
            double *to = c->inertia + 9 * (size_t)c->of[j];
            for (int d = 0; d < 9; d++) to[d] += A->row[k] == j ? block[d] : block[d] + block[d % 3 * 3 + d / 3];
        }
    memset(c->woken, 0, (size_t)A->n);
    memset(c->wanted, 0, (size_t)A->n);
    c->awake.n = 0;
    return ABUT_OK;
}

void abut_components_wake(abut_components *c, int32_t row)
{
    assert(row >= 0 && row < c->rows);
    c->woken[c->of[row]] = 1;
}

void abut_components_list(abut_components *c, const int32_t *row, int32_t nodes)
{
    int32_t n = 0;
    for (int32_t i = 0; i < c->rows; i++) c->wanted[i] = c->woken[c->of[i]];
    for (int32_t i = 0; i < nodes; i++) c->body[i] = row[i] >= 0 ? c->of[row[i]] : 0;
    for (int32_t i = 0; i < nodes; i++)
        if (row[i] >= 0 && c->wanted[row[i]]) c->awake.node[n++] = i;
    c->awake.n = n;
}

double abut_components_mass(const abut_components *c, int32_t row)
{
    assert(row >= 0 && row < c->rows);
    const double *of = c->inertia + 9 * (size_t)c->of[row];
    return (of[0] + of[4] + of[8]) / 3;
}

/* ---- split elements ---- */

static const double FIT[2] = { ABUT_FIT_LOW, ABUT_FIT_HIGH };
/* Curved rods: this many times the stiffness of straight ones bounds their second derivatives.  Between segments at an angle a
 * these are 1/cos^4(a/2) times as much, and 2 tan^2(a/2)/cos^2(a/2) more where rest is straight: 4 is enough up to 70 degrees. */
static const double TIMES = 4;

/* Accepted terms: energies that are split, quadratic, or bounded by a quadratic one; contact, which has its own law here; and
 * constraints, which are kept exactly. */
static abut_status check_terms(const abut_terms *terms, abut_err *err)
{
    static const char *const taken[] = { "inertia", "elastic", "spring", "attachment", "codim", "curved rods", NULL };
    for (int i = 0; i < terms->n; i++) {
        const abut_term_ops *ops = terms->term[i].ops;
        int k = 0;
        while (taken[k] && strcmp(taken[k], ops->name)) k++;
        if (taken[k] || ops->kind == ABUT_TERM_CONTACT || ops->kind == ABUT_TERM_FRICTION || ops->kind == ABUT_TERM_CONSTRAINT)
            continue;
        return abut_fail(err, ABUT_E_FORMAT, "solver nodal: nodal.integrator admm does not split the term '%s' of the model, "
                         "expected nodal.integrator newton", ops->name);
    }
    return ABUT_OK;
}

abut_status abut_split_init(abut_split *s, const abut_objective *p, abut_err *err)
{
    const abut_model *m = p->model;
    const size_t n = abut_codim_of(&p->terms)->n;
    *s = (abut_split){ 0 };
    abut_status rc = abut_linear_tets(m, "nodal.integrator admm", err);
    if (!rc) rc = check_terms(&p->terms, err);
    if (!rc && m->mat_fibre)
        rc = abut_fail(err, ABUT_E_FORMAT, "solver nodal: nodal.integrator admm takes no fibres (material/fibre), expected "
                       "nodal.integrator newton");
    if (!rc) rc = abut_admm_init_thin(&s->admm, p, FIT[0], FIT[1], err);
    if (rc) return rc;
    s->r = malloc((3 * (size_t)m->nv + 1) * sizeof *s->r);
    s->row = malloc((4 * n + 1) * sizeof *s->row);
    s->beyond = malloc((abut_packed_size(4) * n + 1) * sizeof *s->beyond);
    if (s->r && s->row && s->beyond) {
        abut_codim_apart_beyond(&s->admm.thin, s->beyond);
        return ABUT_OK;
    }
    abut_split_clear(s);
    return abut_fail(err, ABUT_E_NOMEM, "ADMM: %d nodes", m->nv);
}

void abut_split_clear(abut_split *s)
{
    abut_admm_clear(&s->admm);
    ABUT_FREE(s->r, s->row, s->beyond);
    *s = (abut_split){ 0 };
}

void abut_split_begin(abut_split *s, const abut_objective *p, const double *x)
{
    abut_admm_start_balanced(&s->admm, p, x);
}

/* Makes the bends of curved rods in sets of `constant` TIMES as stiff. */
static void bound_rods(const abut_elements *sets, int n)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(sets[i].name, abut_term_curved_rods.set)) continue;
        double *val = (double *)sets[i].val;    /* made for the caller of abut_laplacian_sets */
        for (size_t k = 0; k < sets[i].n * abut_element_size(&sets[i]); k++) val[k] *= TIMES;
    }
}

abut_status abut_split_matrix(abut_split *s, const abut_objective *p, const double *x, abut_newton_matrix *A,
                              abut_ordering *order, abut_err *err)
{
    const abut_codim *t = abut_codim_of(&p->terms);
    abut_elements sets[ABUT_TERMS_MAX + 1];
    int n = 0;
    abut_status rc = abut_laplacian_sets(p, FIT, sets, &n, err);
    if (rc) return rc;
    for (int i = 0; i < n; i++) sets[i].lasting = 1;
    bound_rods(sets, n);
    for (size_t i = 0; i < 4 * t->n; i++) s->row[i] = t->node[i] < 0 ? -1 : p->row[t->node[i]];
    sets[n] = (abut_elements){ .name = "thin elements apart", .corners = 4, .lasting = 1, .n = t->n, .row = s->row,
                               .val = s->beyond };
    rc = abut_ordering_pattern(order, &A->A, p, x, sets, n + 1, n + 1, err);
    if (!rc) {
        abut_objective_diagonal(p, A->diag);
        abut_bsr_assemble(&A->A, A->diag, sets, n + 1);
    }
    abut_laplacian_sets_clear(sets, n);
    return rc;
}

/* r += the forces of curved rods at x, with their twist in equilibrium there; 0 at held nodes. */
static abut_status add_rods(abut_split *s, const abut_objective *p, const double *x, abut_err *err)
{
    void *rods = abut_terms_find(&p->terms, abut_term_curved_rods.name);
    if (!rods) return ABUT_OK;
    const abut_at at = { .x = x, .z = x, .step = &p->step };
    const abut_status rc = abut_term_curved_rods.gradient(rods, &at, p->w.psi, s->r, NULL, err);
    for (int32_t i = 0; i < 3 * p->model->nv && !rc; i++)
        if (p->row[i / 3] < 0) s->r[i] = 0;
    return rc;
}

abut_status abut_split_local(abut_split *s, const abut_objective *p, const double *x, double *left, abut_arena *scratch,
                             abut_err *err)
{
    const abut_status rc = abut_admm_step(&s->admm, p, x, s->r, scratch, err);
    *left = s->admm.apart + s->admm.moved;
    return rc ? rc : add_rods(s, p, x, err);
}

/* ---- solutions ---- */

/* s->solve.sol = M^-1 s->solve.rhs: by the factor that there is, or by iterations to the goal. */
static abut_status solve_to(abut_nodal *s, const abut_solve_goal *goal, abut_err *err)
{
    abut_newton_solve *q = &s->solve;
    const int iterates = abut_newton_solve_iterates(q);
    const abut_operator of = abut_newton_solve_operator(q, &s->matrix);
    abut_linear_solver *linear = iterates ? &q->linear : abut_reuse_inner(&q->linear);
    const abut_status rc = abut_linear_solve(linear, &of, q->rhs, iterates ? goal : NULL, q->sol, err);
    if (!rc && iterates) s->rep->cg_iterations += abut_linear_get_stats(linear).iterations;
    return rc;
}

#define EXACT 1e-8          /* of a right-hand side, where no residual of ADMM is known */
#define PART 1e-4           /* of that residual: largest error of a velocity (Daviet 2020, 6.2.5) */

abut_status abut_nodal_solve_rows(void *ctx, const double *rhs, double *v, abut_err *err)
{
    abut_nodal *s = ctx;
    const abut_objective *p = &s->objective;
    const abut_solve_goal goal = { .far = EXACT, .close = EXACT };
    if (!p->nrow) return ABUT_OK;
    abut_rows_gather(p, rhs, 1, s->solve.rhs);
    const abut_status rc = solve_to(s, &goal, err);
    for (int32_t i = 0; i < p->model->nv && !rc; i++)
        if (p->row[i] >= 0) memcpy(v + 3 * (size_t)i, s->solve.sol + 3 * (size_t)p->row[i], 3 * sizeof *v);
    return rc;
}

/* Solves by the factor for the rows that are awake.  Others keep the velocities of both iterations before. */
static abut_status solve_awake(abut_nodal *s, const double *rhs, double *v, abut_err *err)
{
    abut_newton_solve *q = &s->solve;
    const abut_node_list *awake = &s->parts.awake;
    const int32_t *row = s->objective.row;
    const abut_operator of = abut_newton_solve_operator(q, &s->matrix);
    for (int32_t k = 0; k < awake->n; k++)
        memcpy(q->rhs + 3 * (size_t)row[awake->node[k]], rhs + 3 * (size_t)awake->node[k], 3 * sizeof *rhs);
    const abut_status rc = abut_linear_solve_parts(abut_reuse_inner(&q->linear), &of, s->parts.wanted, q->rhs, q->sol, err);
    for (int32_t k = 0; k < awake->n && !rc; k++)
        memcpy(v + 3 * (size_t)awake->node[k], q->sol + 3 * (size_t)row[awake->node[k]], 3 * sizeof *v);
    return rc;
}

abut_status abut_nodal_solve_iteration(void *ctx, const double *rhs, double *v, abut_err *err)
{
    abut_nodal *s = ctx;
    const abut_objective *p = &s->objective;
    abut_newton_solve *q = &s->solve;
    const double *from = s->state.v_old;
    if (!p->nrow) return ABUT_OK;
    const int iterates = abut_newton_solve_iterates(q);
    if (!iterates && !s->opt.split && s->state.iterations > ABUT_COULOMB_ALL) return solve_awake(s, rhs, v, err);
    if (!iterates || isnan(s->state.delta)) return abut_nodal_solve_rows(ctx, rhs, v, err);
    const abut_solve_goal goal = { .far = 1, .close = EXACT, .fraction = 1, .near = INFINITY,
                                   .within = PART * s->state.delta / p->model->h[0] };
    abut_rows_gather(p, from, 1, q->sol);
    abut_bsr_multiply(&s->matrix.A, q->sol, q->rhs);
    for (int32_t i = 0; i < 3 * p->model->nv; i++) {
        const int32_t row = p->row[i / 3];
        if (row >= 0) q->rhs[3 * row + i % 3] = rhs[i] - q->rhs[3 * row + i % 3];
    }
    const abut_status rc = solve_to(s, &goal, err);
    for (int32_t i = 0; i < 3 * p->model->nv && !rc; i++) {
        const int32_t row = p->row[i / 3];
        if (row >= 0) v[i] = from[i] + q->sol[3 * row + i % 3];
    }
    return rc;
}

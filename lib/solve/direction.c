#include "solve/direction.h"

#include "base/par.h"
#include "base/timer.h"
#include "energy/attach.h"
#include "part/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Element sets of the matrix: those that stay come first. */
enum { SET_TETS, SET_TIES, SET_SPRINGS, SET_THIN, SET_TOUCH, SETS, SETS_THAT_STAY = SET_TOUCH };

/* An ordering costs as much as this many operations of a factorisation for each block of the matrix, by nested dissection or by
 * minimum degree: measured once. */
#define ORDER_BLOCK 4e4
#define ORDER_BLOCK_QUICKLY 1e4

/* Rows of which the ordering is made ahead. */
#define WORTH_A_THREAD 4000

const char *const abut_solve_names[ABUT_SOLVES + 1] = { "newton", "newton-cg", "lbfgs-h", "lbfgs-pd", "lbfgs-jh", "lbfgs-ic",
                                                        "dot",
                                                           "gradient", NULL };

abut_status abut_direction_init(abut_direction *d, const abut_problem *p, int method, int threads, abut_err *err)
{
    const size_t nt = (size_t)p->model->nt, nv = (size_t)p->model->nv;
    *d = (abut_direction){ .method = method, .threads = threads, .initial.kind = method };
    d->tet_row = malloc((4 * nt + 1) * sizeof(int32_t));
    d->thin_H = calloc(p->thin.n * ABUT_PACKED + 1, sizeof(double));     /* unused corners stay 0 */
    d->thin_row = malloc((4 * p->thin.n + 1) * sizeof(int32_t));
    d->perm = malloc(nv * sizeof(int32_t));
    d->tets.node_row = malloc(nv * sizeof(int32_t));
    d->tets.perm = malloc(nv * sizeof(int32_t));
    d->planned = malloc(nv * sizeof(int32_t));
    d->diag = malloc(nv * sizeof(double));
    d->rhs = malloc(3 * nv * sizeof(double));
    d->sol = malloc(3 * nv * sizeof(double));
    const size_t n_tie = (size_t)p->model->na * ABUT_ATTACH_PARTS;
    d->tie_node = malloc((4 * n_tie + 1) * sizeof(int32_t));
    d->tie_row = malloc((4 * n_tie + 1) * sizeof(int32_t));
    d->tie_H = malloc((n_tie * ABUT_PACKED + 1) * sizeof(double));
    const size_t n_spring = (size_t)p->model->nsp;
    d->spring_node = malloc((4 * n_spring + 1) * sizeof(int32_t));
    d->spring_row = malloc((4 * n_spring + 1) * sizeof(int32_t));
    d->spring_H = malloc((n_spring * ABUT_PACKED + 1) * sizeof(double));
    if (d->spring_node && d->spring_row && d->spring_H && d->tie_node && d->tie_row && d->tie_H && d->thin_H && d->thin_row &&
        d->tet_row && d->perm && d->tets.node_row && d->tets.perm && d->planned && d->diag && d->rhs && d->sol)
        return ABUT_OK;
    abut_direction_clear(d);
    return abut_fail(err, ABUT_E_NOMEM, "Newton direction: %zu tets, %zu nodes", nt, nv);
}

/* Methods that factor the whole matrix. */
static int is_whole(const abut_direction *d)
{
    return d->method == ABUT_SOLVE_CHOLESKY || d->method == ABUT_SOLVE_LBFGS_H;
}

static void forget_pattern(abut_direction *d)
{
    abut_bsr_clear(&d->A);      /* the factor keeps its memory: the next analysis overwrites all it holds */
    d->analysed = 0;
}

void abut_direction_reset(abut_direction *d)
{
    if (!is_whole(d)) forget_pattern(d);
    abut_cg_reset(&d->cg);
    abut_factor_reuse_reset(&d->reuse);
    abut_quasi_reset(&d->quasi);
    d->kinks.n = 0;
    d->n_perm = 0;
    d->seen_n = 0;
    d->seen_nrow = -1;
}

void abut_direction_insist(abut_direction *d)
{
    d->kinks.n = 0;
    d->quasi.insist = d->reuse.insist = 1;
}

void abut_direction_clear(abut_direction *d)
{
    abut_direction_reset(d);
    forget_pattern(d);
    abut_order_ahead_free(&d->ahead);
    abut_chol_free(&d->chol);
    abut_cg_clear(&d->cg);
    abut_factor_reuse_clear(&d->reuse);
    abut_initial_clear(&d->initial);
    abut_quasi_clear(&d->quasi);
    free(d->tet_row);
    free(d->thin_H);
    free(d->thin_row);
    free(d->tie_node);
    free(d->tie_row);
    free(d->tie_H);
    free(d->spring_node);
    free(d->spring_row);
    free(d->spring_H);
    free(d->perm);
    free(d->tets.node_row);
    free(d->tets.perm);
    free(d->planned);
    free(d->diag);
    free(d->rhs);
    free(d->sol);
    free(d->touch.node);
    free(d->touch.row);
    free(d->touch.H);
    free(d->seen_row);
    free(d->kinks.above);
    *d = (abut_direction){ 0 };
}

static abut_status touch_reserve(struct abut_touching *t, size_t n, abut_err *err)
{
    if (n <= t->cap) return ABUT_OK;
    const size_t cap = n + n / 2 + 64;
    free(t->node);
    free(t->row);
    free(t->H);
    t->node = malloc(4 * cap * sizeof *t->node);
    t->row = malloc(4 * cap * sizeof *t->row);
    t->H = malloc(cap * ABUT_PACKED * sizeof *t->H);
    t->cap = t->node && t->row && t->H ? cap : 0;
    return t->cap ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "Newton direction: %zu contact Hessians", n);
}

/* As many flags as there are friction contacts, none of them set unless they are those of the last direction. */
static abut_status kinks_reserve(struct abut_kinks *k, size_t n, abut_err *err)
{
    if (n > k->cap) {
        free(k->above);
        k->cap = 0;
        k->above = malloc(2 * n);
        if (!k->above) return abut_fail(err, ABUT_E_NOMEM, "Newton direction: %zu friction contacts", n);
        k->cap = 2 * n;
        k->n = 0;
    }
    if (k->n != n && n) memset(k->above, 0, n);
    k->n = n;
    return ABUT_OK;
}

int abut_direction_none_above(const abut_direction *d)
{
    const struct abut_kinks *k = &d->kinks;
    return !k->n || !memchr(k->above, 1, k->n);
}

static void rows_of(const abut_problem *p, size_t n4, const int32_t *node, int32_t *row)
{
    #pragma omp parallel for schedule(static) if (n4 >= 8 * ABUT_PAR_MIN)
    for (size_t i = 0; i < n4; i++) row[i] = node[i] < 0 ? -1 : p->row[node[i]];
}

static void sets_of(const abut_direction *d, const abut_problem *p, abut_elems *sets)
{
    const abut_model *m = p->model;
    sets[SET_TETS] = (abut_elems){ (size_t)m->nt, d->tet_row, NULL };   /* made where they are summed */
    sets[SET_TIES] = (abut_elems){ (size_t)m->na * ABUT_ATTACH_PARTS, d->tie_row, d->tie_H };
    sets[SET_SPRINGS] = (abut_elems){ (size_t)m->nsp, d->spring_row, d->spring_H };
    sets[SET_THIN] = (abut_elems){ p->thin.n, d->thin_row, d->thin_H };
    sets[SET_TOUCH] = (abut_elems){ d->touch.n, d->touch.row, d->touch.H };
}

static abut_status symbolic(abut_direction *d, abut_err *err)
{
    d->analysed = 1;
    d->reuse.held = 0;
    return d->chol ? abut_chol_renew(d->chol, &d->A, d->perm, err)
                   : abut_chol_new(&d->chol, &d->A, d->perm, d->threads, err);
}

/* The pattern of the first nsets sets into A.  The part that no contact touches stays for as long as the numbering does, and
 * with it what has been made of the whole, when that comes out the same. */
static abut_status pattern(abut_direction *d, const abut_problem *p, const abut_elems *sets, int nsets, abut_err *err)
{
    const size_t bytes = (size_t)p->model->nv * sizeof *d->planned;
    int changed = 1;
    abut_status rc;
    if (d->A.plan && d->A.n == p->nrow && !memcmp(d->planned, p->row, bytes)) {
        rc = abut_bsr_update(&d->A, sets, nsets, SETS_THAT_STAY, 0, &changed, err);
    } else {
        rc = abut_bsr_pattern(&d->A, p->nrow, sets, nsets, err);
        memcpy(d->planned, p->row, bytes);
    }
    if (changed) d->analysed = 0;
    return rc;
}

/* perm has just been made for A. */
static void set_costs(abut_direction *d, abut_status rc)
{
    d->overspent = 0;
    d->ordered_cost = rc ? 0 : abut_factor_cost(d->chol);
}

static abut_status order_anew(abut_direction *d, abut_err *err)
{
    abut_order_ahead_wait(d->ahead);    /* METIS runs once at a time */
    abut_status rc = abut_graph_order(&d->A, d->perm, err);
    if (!rc) rc = symbolic(d, err);
    set_costs(d, rc);
    return rc;
}

/* Pattern, ordering and analysis of the elements alone: those made ahead, if they are for this numbering. */
static abut_status order_elements(abut_direction *d, const abut_problem *p, const abut_elems *sets, abut_err *err)
{
    abut_status rc;
    if (d->ahead && abut_order_ahead_serves(d->ahead, p->model->nv, p->row, p->nrow)) {
        rc = abut_order_ahead_take(d->ahead, &d->A, d->perm, &d->chol, err);
        if (!rc) memcpy(d->planned, p->row, (size_t)p->model->nv * sizeof *d->planned);
        d->analysed = !rc;
        d->reuse.held = 0;
        set_costs(d, rc);
    } else {
        rc = pattern(d, p, sets, SETS_THAT_STAY, err);
        if (!rc) rc = order_anew(d, err);
    }
    abut_order_ahead_free(&d->ahead);
    return rc;
}

/* The ordering of the elements alone, made when the numbering is a new one. */
static abut_status order_tets(abut_direction *d, const abut_problem *p, const abut_elems *sets, abut_err *err)
{
    struct abut_tet_order *o = &d->tets;
    const size_t bytes = (size_t)p->model->nv * sizeof *o->node_row;
    if (o->n == p->nrow && !memcmp(o->node_row, p->row, bytes)) return ABUT_OK;
    o->n = 0;
    const abut_status rc = order_elements(d, p, sets, err);
    if (rc) return rc;
    o->cost = d->ordered_cost;
    o->n = p->nrow;
    memcpy(o->node_row, p->row, bytes);
    memcpy(o->perm, d->perm, (size_t)o->n * sizeof *o->perm);
    return ABUT_OK;
}

abut_status abut_direction_order_ahead(abut_direction *d, const abut_problem *p, abut_err *err)
{
    const abut_model *m = p->model;
    const int only_tets = !m->na && !m->nsp && !p->thin.n, is_first = !d->chol && !d->ahead;
    if (!is_whole(d) || p->al.on || !only_tets || !is_first || abut_threads() < 2 || p->nrow < WORTH_A_THREAD) return ABUT_OK;
    return abut_order_ahead_begin(&d->ahead, m->nv, p->row, p->nrow, m->nt, m->tet, SETS_THAT_STAY, d->threads, err);
}

/* Analysis of A in the order of the elements, unless that is the one at hand. */
static abut_status analyse_as_tets(abut_direction *d, abut_err *err)
{
    const size_t bytes = (size_t)d->tets.n * sizeof *d->perm;
    if (d->analysed && !memcmp(d->perm, d->tets.perm, bytes)) return ABUT_OK;
    memcpy(d->perm, d->tets.perm, bytes);
    return symbolic(d, err);
}

/* First pattern, ordering and analysis of a step by Cholesky.  The numbering of an augmented Lagrangian is short-lived: it is
 * ordered as it is. */
static abut_status analyse_first(abut_direction *d, const abut_problem *p, const abut_elems *sets, abut_err *err)
{
    const int as_tets = !p->al.on;
    d->by_degree = 1;
    d->overspent = 0;
    abut_status rc = as_tets ? order_tets(d, p, sets, err) : ABUT_OK;
    if (!rc) rc = pattern(d, p, sets, SETS, err);
    if (!rc) rc = as_tets ? analyse_as_tets(d, err) : order_anew(d, err);
    if (!rc && as_tets) d->ordered_cost = d->tets.cost;
    return rc;
}

/* A in an order of minimum degree, if its factor costs less than that in the order at hand. */
static abut_status order_quickly(abut_direction *d, abut_err *err)
{
    abut_graph_fill fill;
    int32_t *perm = malloc(((size_t)d->A.n + 1) * sizeof *perm);
    abut_status rc = perm ? abut_graph_order_quickly(&d->A, perm, &fill, err) : abut_fail(err, ABUT_E_NOMEM, "ordering");
    if (!rc) d->by_degree = abut_factor_cost_of(fill.nnz, fill.flops) < abut_factor_cost(d->chol);
    if (!rc && d->by_degree) {
        memcpy(d->perm, perm, (size_t)d->A.n * sizeof *perm);
        rc = symbolic(d, err);
        set_costs(d, rc);
    }
    free(perm);
    return rc;
}

/* Analysis of A before it is factored.  Contacts that come make a factor in an order without them dearer: once the factors have
 * cost as much more as an ordering does, A is ordered anew, by minimum degree as long as that is better than what there is. */
static abut_status analyse_to_factor(abut_direction *d, abut_err *err)
{
    const double order_block = d->by_degree ? ORDER_BLOCK_QUICKLY : ORDER_BLOCK;
    const abut_status rc = d->analysed ? ABUT_OK : symbolic(d, err);
    if (rc) return rc;
    d->overspent = fmax(0, d->overspent + abut_factor_cost(d->chol) - d->ordered_cost);
    if (d->overspent <= order_block * (double)d->A.nnz) return ABUT_OK;
    return d->by_degree ? order_quickly(d, err) : order_anew(d, err);
}

/* Pattern for the present contacts and what the method makes of it, unless the last ones were the same. */
static abut_status analyse(abut_direction *d, const abut_problem *p, const double *x, const abut_elems *sets, abut_err *err)
{
    const struct abut_touching *t = &d->touch;
    const size_t n4 = 4 * t->n;
    if (d->A.plan && d->seen_n == t->n && d->seen_nrow == p->nrow && (!n4 || !memcmp(d->seen_row, t->row, n4 * sizeof *t->row)))
        return ABUT_OK;

    if (n4 > d->seen_cap) {
        int32_t *grown = realloc(d->seen_row, 2 * n4 * sizeof *grown);
        if (!grown) return abut_fail(err, ABUT_E_NOMEM, "Newton direction: %zu contacts", t->n);
        d->seen_row = grown;
        d->seen_cap = 2 * n4;
    }
    if (n4) memcpy(d->seen_row, t->row, n4 * sizeof *t->row);
    d->seen_n = t->n;
    d->seen_nrow = p->nrow;

    /* the rows of the tets stay while no handle is let go or caught: their part of the pattern is kept */
    const int by_cg = d->method == ABUT_SOLVE_CG;
    int changed = 1;
    abut_status rc = ABUT_OK;
    if (d->A.plan && d->A.n == p->nrow && d->n_perm == p->nrow) {
        rc = abut_bsr_update(&d->A, sets, SETS, SETS_THAT_STAY, 0, &changed, err);
        if (!rc && changed) d->analysed = 0;
    } else {
        rc = is_whole(d) ? analyse_first(d, p, sets, err) : abut_bsr_pattern(&d->A, p->nrow, sets, SETS, err);
        if (!rc) d->n_perm = p->nrow;
    }
    if (!rc && changed && by_cg) rc = abut_cg_analyse(&d->cg, &d->A, p->model->nv, p->row, x, err);
    if (rc) {
        abut_direction_reset(d);
        forget_pattern(d);
    }
    return rc;
}

static abut_status factor_once(abut_direction *d, abut_err *err)
{
    return d->method == ABUT_SOLVE_CG ? abut_cg_factor(&d->cg, &d->A, err) : abut_chol_factor(d->chol, &d->A, err);
}

/* Projection leaves the matrix positive definite up to rounding; a shift of the diagonal mends the rounding. */
static abut_status factor(abut_direction *d, abut_report *rep, abut_err *err)
{
    abut_status rc = factor_once(d, err);
    double *whole = d->sol;     /* the diagonal without a shift */
    for (int32_t j = 0; j < d->A.n && rc == ABUT_E_NUMERIC; j++)
        for (int k = 0; k < 3; k++) whole[3 * j + k] = d->A.val[9 * d->A.ptr[j] + 4 * (size_t)k];
    for (double shift = 1e-10; rc == ABUT_E_NUMERIC && shift < 1; shift *= 100) {
        rep->shifts++;
        for (int32_t j = 0; j < d->A.n; j++)
            for (int k = 0; k < 3; k++) d->A.val[9 * d->A.ptr[j] + 4 * (size_t)k] = (1 + shift) * whole[3 * j + k];
        rc = factor_once(d, err);
    }
    return rc;
}

static int32_t node_of_row(const abut_problem *p, int32_t row)
{
    for (int32_t i = 0; i < p->model->nv && row >= 0; i++)
        if (p->row[i] == row) return i;
    return -1;
}

/* What conjugate gradients leave unsolved must not be seen by the convergence test, which allows h tolerance. */
static double near_the_end(const abut_problem *p)
{
    return 2 * p->model->h[0] * p->model->tolerance[0];
}

static void report_factor(const abut_direction *d, abut_report *rep)
{
    if (d->method == ABUT_SOLVE_CG) {
        const abut_schwarz_stats s = abut_schwarz_get_stats(d->cg.schwarz);
        rep->factor_nnz = s.factor_nnz;
        rep->factor_flops = s.factor_flops;
        rep->factor_bytes = 8 * s.factor_nnz;
    } else {
        const abut_chol_stats s = abut_chol_get_stats(d->chol);
        rep->factor_nnz = s.factor_nnz;
        rep->factor_flops = s.factor_flops;
        rep->factor_bytes = (double)s.bytes;
    }
}

#define LAP(phase) do { const double now_ = abut_time_wall(); rep->seconds.phase += now_ - clock; clock = now_; } while (0)

abut_status abut_direction_touching(abut_direction *d, const abut_problem *p, const double *x, const double *y,
                                    const abut_pairs *pairs, abut_elems *set, abut_err *err)
{
    const size_t n_contact = pairs->n + pairs->n_plane;
    const abut_stiction law = abut_problem_stiction(p);
    struct abut_touching *t = &d->touch;
    abut_status rc = touch_reserve(t, n_contact + p->lag.n, err);
    if (!rc) rc = kinks_reserve(&d->kinks, p->lag.n, err);
    if (rc) return rc;
    d->exact = abut_direction_none_above(d);
    t->n = n_contact + p->lag.n;
    abut_barrier_hessian(&p->cm, pairs, y, p->kappa, t->node, t->H);
    abut_friction_hessian(&p->lag, &law, x, p->still, d->kinks.above, t->node + 4 * n_contact, t->H + ABUT_PACKED * n_contact);
    rows_of(p, 4 * t->n, t->node, t->row);
    *set = (abut_elems){ t->n, t->row, t->H };
    return ABUT_OK;
}

/* Where the Hessians of the tets are taken, and their weight. */
typedef struct tets_at {
    const abut_problem *p;
    const double *z;
    double scale;
} tets_at;

static void tet_hessians(const void *of, size_t lo, size_t hi, double *H)
{
    const tets_at *t = of;
    abut_elastic_hessian_some(&t->p->elastic, t->z, t->scale, lo, hi, H);
    abut_damping_tet_hessian(&t->p->damping, lo, hi, t->p->w.damping, H);
}

abut_status abut_direction_matrix(abut_direction *d, const abut_problem *p, const double *x, const double *y,
                                  const abut_pairs *pairs, abut_report *rep, abut_err *err)
{
    const abut_model *m = p->model;
    const size_t n_tie = (size_t)m->na * ABUT_ATTACH_PARTS;
    const tets_at at = { p, abut_problem_elastic_point(p, x), p->w.psi * p->w.share * p->w.share };
    const abut_maker maker = { tet_hessians, &at };
    abut_elems sets[SETS];
    double clock = abut_time_wall();

    d->bad_node = -1;
    abut_status rc = abut_direction_touching(d, p, x, y, pairs, &sets[SET_TOUCH], err);
    if (rc) return rc;
    rows_of(p, 4 * (size_t)m->nt, m->tet, d->tet_row);
    abut_attach_hessian(m, at.scale, d->tie_node, d->tie_H);
    rows_of(p, 4 * n_tie, d->tie_node, d->tie_row);
    abut_spring_hessian(&p->springs, at.z, at.scale, d->spring_node, d->spring_H);
    rows_of(p, 4 * (size_t)m->nsp, d->spring_node, d->spring_row);
    abut_problem_thin_hessian(p, x, p->tension, d->thin_H);
    abut_damping_thin_hessian(&p->damping, &p->thin, p->w.damping, d->thin_H);
    rows_of(p, 4 * p->thin.n, p->thin.node, d->thin_row);
    LAP(hessian);

    sets_of(d, p, sets);
    rc = analyse(d, p, x, sets, err);
    LAP(analyse);
    if (rc) return rc;
    abut_problem_diagonal(p, d->diag);
    rc = abut_bsr_assemble_made(&d->A, d->diag, sets, SETS, &maker, err);
    LAP(assemble);
    return rc;
}

abut_status abut_direction_factor(abut_direction *d, const abut_problem *p, abut_report *rep, abut_err *err)
{
    double clock = abut_time_wall();
    abut_status rc = d->method == ABUT_SOLVE_CG ? ABUT_OK : analyse_to_factor(d, err);
    LAP(analyse);
    if (!rc) rc = factor(d, rep, err);
    LAP(factor);
    rep->factorisations += is_whole(d);
    rep->factorisations_double += is_whole(d);
    if (rc == ABUT_E_NUMERIC && d->method != ABUT_SOLVE_CG) d->bad_node = node_of_row(p, abut_chol_bad_row(d->chol));
    return rc ? (void)abut_wrap(err, "Newton matrix of %d unknowns", 3 * p->nrow), rc : ABUT_OK;
}

abut_status abut_direction_factor_coarse(abut_direction *d, const abut_problem *p, int *coarse, abut_report *rep, abut_err *err)
{
    double clock = abut_time_wall();
    *coarse = 0;
    abut_status rc = d->analysed ? ABUT_OK : symbolic(d, err);
    LAP(analyse);
    if (rc) return rc;
    if (abut_factor_reuse_is_coarse(&d->reuse, d->chol)) {
        rc = abut_chol_factor_single(d->chol, &d->A, err);
        LAP(factor);
        rep->factorisations++;
        *coarse = !rc;
        d->reuse.coarse = rc != ABUT_OK;
        if (rc != ABUT_E_NUMERIC) return rc;
    }
    return abut_direction_factor(d, p, rep, err);
}

/* d->sol = A^-1 rhs by the Schwarz preconditioner. */
static abut_status solve_cg(abut_direction *d, const abut_problem *p, abut_report *rep, abut_err *err)
{
    abut_status rc = abut_direction_factor(d, p, rep, err);
    if (rc) return rc;
    double clock = abut_time_wall();
    rc = abut_cg_solve(&d->cg, &d->A, d->rhs, near_the_end(p), d->sol, err);
    rep->cg_iterations += d->cg.iterations;
    LAP(solve);
    return rc;
}

/* The same by the factor that there is, by one in single precision, or in double: the first that is good enough. */
static abut_status solve_whole(abut_direction *d, const abut_problem *p, abut_report *rep, abut_err *err)
{
    abut_factor_reuse *u = &d->reuse;
    const double near = near_the_end(p);
    int solved = 0;
    abut_status rc = ABUT_OK;
    double clock = abut_time_wall();
    if (abut_factor_reuse_is_due(u, d->chol))
        rc = abut_factor_reuse_old(u, d->chol, d->analysed, &d->A, d->rhs, near, d->sol, &solved, rep, err);
    u->old = solved;
    LAP(solve);
    if (!rc && !solved && !d->analysed) rc = symbolic(d, err);
    const int coarse = !rc && !solved && abut_factor_reuse_is_coarse(u, d->chol);
    if (coarse) rc = analyse_to_factor(d, err);
    LAP(analyse);
    if (!rc && coarse)
        rc = abut_factor_reuse_single(u, d->chol, &d->A, d->rhs, near, d->sol, &solved, rep, err);
    LAP(factor);
    if (!rc && !solved) rc = abut_direction_factor(d, p, rep, err);
    clock = abut_time_wall();
    if (rc || solved) return rc;
    u->held = 1;
    u->insist = u->approximate = 0;
    rc = abut_chol_solve(d->chol, d->rhs, d->sol, err);
    LAP(solve);
    return rc;
}

/* sol = A^-1 rhs. */
static abut_status solve(abut_direction *d, const abut_problem *p, abut_report *rep, abut_err *err)
{
    return d->method == ABUT_SOLVE_CG ? solve_cg(d, p, rep, err) : solve_whole(d, p, rep, err);
}

/* The same with the matrix of the last solve. */
static abut_status solve_again(abut_direction *d, const abut_problem *p, abut_report *rep, abut_err *err)
{
    abut_factor_reuse *u = &d->reuse;
    const double clock = abut_time_wall(), near = near_the_end(p);
    int solved = 1;
    abut_status rc;
    if (d->method == ABUT_SOLVE_CG) rc = abut_cg_solve(&d->cg, &d->A, d->rhs, near, d->sol, err);
    else if (!u->old) rc = abut_chol_solve(d->chol, d->rhs, d->sol, err);
    else rc = abut_factor_reuse_old(u, d->chol, d->analysed, &d->A, d->rhs, near, d->sol, &solved, rep, err);
    if (d->method == ABUT_SOLVE_CG) rep->cg_iterations += d->cg.iterations;
    rep->seconds.solve += abut_time_wall() - clock;
    if (rc || solved) return rc;
    u->insist = 1;
    return solve_whole(d, p, rep, err);
}

static void set_rhs(abut_direction *d, const abut_problem *p, const double *g)
{
    #pragma omp parallel for schedule(static) if ((size_t)p->model->nv >= 2 * ABUT_PAR_MIN)
    for (int32_t i = 0; i < p->model->nv; i++)
        if (p->row[i] >= 0)
            for (int k = 0; k < 3; k++) d->rhs[3 * p->row[i] + k] = -g[3 * i + k];
}

static void get_solution(const abut_direction *d, const abut_problem *p, double *dir)
{
    #pragma omp parallel for schedule(static) if ((size_t)p->model->nv >= 2 * ABUT_PAR_MIN)
    for (int32_t i = 0; i < p->model->nv; i++)
        for (int k = 0; k < 3; k++) dir[3 * i + k] = p->row[i] < 0 ? 0 : d->sol[3 * p->row[i] + k];
}

abut_status abut_direction_again(abut_direction *d, const abut_problem *p, const double *g, double *dir, abut_report *rep,
                                 abut_err *err)
{
    set_rhs(d, p, g);
    const abut_status rc = solve_again(d, p, rep, err);
    if (rc) return abut_wrap(err, "Newton matrix of %d unknowns", 3 * p->nrow), rc;
    get_solution(d, p, dir);
    return ABUT_OK;
}
#undef LAP

int abut_direction_has_factor(const abut_direction *d)
{
    return d->method == ABUT_SOLVE_CHOLESKY && !d->reuse.old;
}

abut_status abut_direction_by_factor(abut_direction *d, const abut_problem *p, const double *g, double *dir, abut_err *err)
{
    set_rhs(d, p, g);
    const abut_status rc = abut_chol_solve(d->chol, d->rhs, d->sol, err);
    if (rc) return rc;
    get_solution(d, p, dir);
    return ABUT_OK;
}

static abut_status newton(abut_direction *d, const abut_problem *p, const double *x, const double *y, const abut_pairs *pairs,
                          const double *g, double *dir, abut_report *rep, abut_err *err)
{
    const abut_stiction law = abut_problem_stiction(p);
    abut_status rc = abut_direction_matrix(d, p, x, y, pairs, rep, err);
    if (rc) return rc;
    set_rhs(d, p, g);
    rc = solve(d, p, rep, err);
    if (rc) return abut_wrap(err, "Newton matrix of %d unknowns", 3 * p->nrow), rc;
    get_solution(d, p, dir);
    if (!d->plain) abut_friction_kinks(&p->lag, &law, x, p->still, dir, d->kinks.above);
    report_factor(d, rep);
    return ABUT_OK;
}

abut_status abut_direction_find(abut_direction *d, const abut_problem *p, const double *x, const double *y,
                                const abut_pairs *pairs,
                                const double *g, double *dir, abut_report *rep, abut_err *err)
{
    if (d->method > ABUT_SOLVE_CG) return abut_quasi_find(d, p, x, y, pairs, g, dir, rep, err);
    return newton(d, p, x, y, pairs, g, dir, rep, err);
}

abut_status abut_direction_newton(abut_direction *d, const abut_problem *p, const double *x, const double *y,
                                  const abut_pairs *pairs, const double *g, double *dir, abut_report *rep, abut_err *err)
{
    if (d->method > ABUT_SOLVE_CG) abut_direction_insist(d);
    return abut_direction_find(d, p, x, y, pairs, g, dir, rep, err);
}

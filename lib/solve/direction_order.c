#include "solve/direction_parts.h"

#include "base/par.h"
#include "part/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An ordering costs as much as this many operations of a factorisation for each block of the matrix, by nested dissection or by
 * minimum degree: measured once. */
#define ORDER_BLOCK 4e4
#define ORDER_BLOCK_QUICKLY 1e4

/* Rows of which the ordering is made ahead. */
#define WORTH_A_THREAD 4000

int abut_direction_is_whole(const abut_direction *d)
{
    return d->method == ABUT_SOLVE_CHOLESKY || d->method == ABUT_SOLVE_LBFGS_H;
}

void abut_direction_forget_pattern(abut_direction *d)
{
    abut_bsr_clear(&d->A);      /* the factor keeps its memory: the next analysis overwrites all it holds */
    d->analysed = 0;
}

abut_status abut_direction_symbolic(abut_direction *d, abut_err *err)
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
    if (!rc) rc = abut_direction_symbolic(d, err);
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
    if (!abut_direction_is_whole(d) || p->al.on || !only_tets || !is_first) return ABUT_OK;
    if (abut_threads() < 2 || p->nrow < WORTH_A_THREAD) return ABUT_OK;
    return abut_order_ahead_begin(&d->ahead, m->nv, p->row, p->nrow, m->nt, m->tet, SETS_THAT_STAY, d->threads, err);
}

/* Analysis of A in the order of the elements, unless that is the one at hand. */
static abut_status analyse_as_tets(abut_direction *d, abut_err *err)
{
    const size_t bytes = (size_t)d->tets.n * sizeof *d->perm;
    if (d->analysed && !memcmp(d->perm, d->tets.perm, bytes)) return ABUT_OK;
    memcpy(d->perm, d->tets.perm, bytes);
    return abut_direction_symbolic(d, err);
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
        rc = abut_direction_symbolic(d, err);
        set_costs(d, rc);
    }
    free(perm);
    return rc;
}

abut_status abut_direction_analyse_to_factor(abut_direction *d, abut_err *err)
{
    const double order_block = d->by_degree ? ORDER_BLOCK_QUICKLY : ORDER_BLOCK;
    const abut_status rc = d->analysed ? ABUT_OK : abut_direction_symbolic(d, err);
    if (rc) return rc;
    d->overspent = fmax(0, d->overspent + abut_factor_cost(d->chol) - d->ordered_cost);
    if (d->overspent <= order_block * (double)d->A.nnz) return ABUT_OK;
    return d->by_degree ? order_quickly(d, err) : order_anew(d, err);
}

abut_status abut_direction_analyse(abut_direction *d, const abut_problem *p, const double *x, const abut_elems *sets,
                                   abut_err *err)
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
        rc = abut_direction_is_whole(d) ? analyse_first(d, p, sets, err) : abut_bsr_pattern(&d->A, p->nrow, sets, SETS, err);
        if (!rc) d->n_perm = p->nrow;
    }
    if (!rc && changed && by_cg) rc = abut_cg_analyse(&d->cg, &d->A, p->model->nv, p->row, x, err);
    if (rc) {
        abut_direction_reset(d);
        abut_direction_forget_pattern(d);
    }
    return rc;
}

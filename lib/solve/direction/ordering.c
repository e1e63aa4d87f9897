#include "solve/direction/newton_parts.h"

#include "base/par.h"
#include "graph/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An ordering costs as much as this many operations of a factorisation for each block of the matrix, by nested dissection or by
 * minimum degree: measured once. */
#define ORDER_BLOCK 4e4
#define ORDER_BLOCK_QUICKLY 1e4

int abut_direction_is_whole(const abut_direction *d)
{
    return (d->method == ABUT_SOLVE_NEWTON && !abut_linear_can(&d->linear, ABUT_IS_ITERATIVE)) || d->method == ABUT_SOLVE_LBFGS_H;
}

void abut_direction_forget_pattern(abut_direction *d)
{
    abut_bsr_clear(&d->A);      /* the factor keeps its memory: the next analysis overwrites all it holds */
    d->analysed = 0;
}

static abut_status analyse_pattern(abut_direction *d, const abut_bsr *A, const int32_t *perm, abut_err *err)
{
    d->reuse.held = 0;
    return abut_linear_analyse(&d->linear, &(abut_operator){ .matrix = A }, perm, err);
}

abut_status abut_direction_symbolic(abut_direction *d, abut_err *err)
{
    d->analysed = 1;
    return analyse_pattern(d, &d->A, d->perm, err);
}

/* The pattern of the first nsets sets into A.  The part that no contact touches stays for as long as the numbering does, and
 * with it what has been made of the whole, when that comes out the same. */
static abut_status pattern(abut_direction *d, const abut_problem *p, const abut_elements *sets, int nsets, abut_err *err)
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
    d->ordered_cost = rc ? 0 : abut_factor_cost(&d->linear);
}

static abut_status order_anew(abut_direction *d, abut_err *err)
{
    abut_status rc = abut_graph_order_nested_dissection(abut_bsr_graph(&d->A), d->perm, err);
    if (!rc) rc = abut_direction_symbolic(d, err);
    set_costs(d, rc);
    return rc;
}

/* The ordering of the elements alone, made when the numbering is a new one. */
static abut_status order_tets(abut_direction *d, struct abut_tet_order *o, const abut_problem *p, const abut_elements *sets,
                              abut_err *err)
{
    const size_t bytes = (size_t)p->model->nv * sizeof *o->node_row;
    if (o->n == p->nrow && !memcmp(o->node_row, p->row, bytes)) return ABUT_OK;
    o->n = 0;
    abut_status rc = pattern(d, p, sets, SETS_THAT_STAY, err);
    if (!rc) rc = order_anew(d, err);
    if (rc) return rc;
    o->cost = d->ordered_cost;
    o->n = p->nrow;
    memcpy(o->node_row, p->row, bytes);
    memcpy(o->perm, d->perm, (size_t)o->n * sizeof *o->perm);
    return ABUT_OK;
}

/* Analysis of A in the order of the elements, unless that is the one at hand. */
static abut_status analyse_as_tets(abut_direction *d, const struct abut_tet_order *o, abut_err *err)
{
    const size_t bytes = (size_t)o->n * sizeof *d->perm;
    if (d->analysed && !memcmp(d->perm, o->perm, bytes)) return ABUT_OK;
    memcpy(d->perm, o->perm, bytes);
    return abut_direction_symbolic(d, err);
}

/* First pattern, ordering and analysis of a step by a factor. */
static abut_status analyse_first(abut_direction *d, const abut_problem *p, const abut_elements *sets, abut_err *err)
{
    struct abut_tet_order *o = &d->tets[p->al.on];
    d->by_degree = 1;
    d->overspent = 0;
    abut_status rc = order_tets(d, o, p, sets, err);
    if (!rc) rc = pattern(d, p, sets, SETS, err);
    if (!rc) rc = analyse_as_tets(d, o, err);
    if (!rc) d->ordered_cost = o->cost;
    return rc;
}

/* A in an order of minimum degree, if its factor costs less than that in the order at hand. */
static abut_status order_amd(abut_direction *d, abut_err *err)
{
    abut_graph_fill fill;
    int32_t *perm = malloc(((size_t)d->A.n + 1) * sizeof *perm);
    abut_status rc = perm ? abut_graph_order_amd(abut_bsr_graph(&d->A), perm, &fill, err)
                          : abut_fail(err, ABUT_E_NOMEM, "ordering");
    if (!rc) d->by_degree = abut_factor_cost_of(fill.nnz, fill.flops) < abut_factor_cost(&d->linear);
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
    d->overspent = fmax(0, d->overspent + abut_factor_cost(&d->linear) - d->ordered_cost);
    if (d->overspent <= order_block * (double)d->A.nnz) return ABUT_OK;
    return d->by_degree ? order_amd(d, err) : order_anew(d, err);
}

/* Iterations need no order, but may want to know where the rows are. */
static abut_status analyse_iterations(abut_direction *d, const abut_problem *p, const double *x, abut_err *err)
{
    for (int32_t i = 0; i < p->model->nv; i++)
        if (p->row[i] >= 0) memcpy(d->where + 3 * (size_t)p->row[i], x + 3 * (size_t)i, 3 * sizeof *x);
    return abut_linear_analyse(&d->linear, &(abut_operator){ .matrix = &d->A, .where = d->where }, NULL, err);
}

abut_status abut_direction_analyse(abut_direction *d, const abut_problem *p, const double *x, const abut_elements *sets,
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
    const int iterative = d->method == ABUT_SOLVE_NEWTON && abut_linear_can(&d->linear, ABUT_IS_ITERATIVE);
    int changed = 1;
    abut_status rc = ABUT_OK;
    if (d->A.plan && d->A.n == p->nrow && d->n_perm == p->nrow) {
        rc = abut_bsr_update(&d->A, sets, SETS, SETS_THAT_STAY, 0, &changed, err);
        if (!rc && changed) d->analysed = 0;
    } else {
        rc = abut_direction_is_whole(d) ? analyse_first(d, p, sets, err) : abut_bsr_pattern(&d->A, p->nrow, sets, SETS, err);
        if (!rc) d->n_perm = p->nrow;
    }
    if (!rc && changed && iterative) rc = analyse_iterations(d, p, x, err);
    if (rc) {
        abut_direction_reset(d);
        abut_direction_forget_pattern(d);
    }
    return rc;
}

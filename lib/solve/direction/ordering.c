#include "solve/direction/ordering.h"

#include "base/order.h"
#include "energy/mass.h"
#include "sparse/reuse.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An ordering costs as much as this many operations of a factorisation for each block of the matrix, by nested dissection or by
 * minimum degree: measured once. */
#define ORDER_BLOCK 4e4
#define ORDER_BLOCK_QUICKLY 1e4
#define DEAR_ROW 3e5        /* such operations per row above which a factor counts as expensive */

/* Returns 1 if o->linear factors; o->instead does not matter. */
static int factors(const abut_ordering *o)
{
    return o->linear && !abut_linear_can(o->linear, ABUT_IS_ITERATIVE);
}

/* Returns the iterative solver of this step; NULL: it has none. */
static abut_linear_solver *iterative(const abut_ordering *o)
{
    return o->by_iterations ? o->instead : o->linear && !factors(o) ? o->linear : NULL;
}

abut_status abut_ordering_init(abut_ordering *o, int32_t nv, abut_linear_solver *linear, abut_err *err)
{
    assert(nv >= 0);
    const size_t bytes = (size_t)nv * sizeof(int32_t) + 1;
    *o = (abut_ordering){ .linear = linear, .seen.nrow = -1 };
    const int has_iterative = iterative(o) != NULL;
    if (has_iterative) o->where = malloc(3 * (size_t)nv * sizeof *o->where + 1);
    o->perm = malloc(bytes);
    o->planned = malloc(bytes);
    int ok = o->perm && o->planned && (o->where || !has_iterative);
    for (int k = 0; k < 2; k++) {
        o->elements[k].node_row = malloc(bytes);
        o->elements[k].perm = malloc(bytes);
        ok &= o->elements[k].node_row && o->elements[k].perm;
    }
    if (ok) return ABUT_OK;
    abut_ordering_clear(o);
    return abut_fail(err, ABUT_E_NOMEM, "Newton direction: %d nodes", nv);
}

abut_status abut_ordering_iterate_instead(abut_ordering *o, int32_t nv, abut_linear_solver *instead, abut_err *err)
{
    assert(factors(o) && !o->where && abut_linear_can(instead, ABUT_IS_ITERATIVE));
    o->where = malloc(3 * (size_t)nv * sizeof *o->where + 1);
    if (!o->where) return abut_fail(err, ABUT_E_NOMEM, "Newton direction: %d nodes", nv);
    o->instead = instead;
    return ABUT_OK;
}

void abut_ordering_clear(abut_ordering *o)
{
    for (int k = 0; k < 2; k++) free(o->elements[k].node_row), free(o->elements[k].perm);
    ABUT_FREE(o->where, o->perm, o->planned, o->seen.row, o->degree.ptr, o->degree.col, o->degree.perm);
    *o = (abut_ordering){ 0 };
}

static void forget_pattern(abut_ordering *o, abut_bsr *A)
{
    abut_bsr_clear(A);      /* the factor keeps its memory: the next analysis overwrites all it holds */
    o->analysed = 0;
}

void abut_ordering_begin_step(abut_ordering *o, abut_bsr *A)
{
    if (!factors(o)) forget_pattern(o, A);
    o->n_perm = 0;
    o->by_iterations = 0;
    o->degree.first = 0;
    o->seen.nrow = -1;
}

abut_status abut_ordering_analyse(abut_ordering *o, const abut_bsr *A, abut_err *err)
{
    o->analysed = 1;
    return abut_linear_analyse(o->linear, &(abut_operator){ .matrix = A }, o->perm, err);
}

/* Makes the pattern of the first nsets sets in A.  The part of the elements lasts until the numbering changes, and the analysis
 * with it while the whole pattern is the same. */
static abut_status pattern(abut_ordering *o, abut_bsr *A, const abut_objective *p, const abut_elements *sets, int nsets,
                           int lasting, abut_err *err)
{
    const size_t bytes = (size_t)p->model->nv * sizeof *o->planned;
    int changed = 1;
    abut_status rc;
    if (A->plan && A->n == p->nrow && !memcmp(o->planned, p->row, bytes)) {
        rc = abut_bsr_update(A, sets, nsets, lasting, 0, &changed, err);
    } else {
        rc = abut_bsr_pattern(A, p->nrow, sets, nsets, err);
        memcpy(o->planned, p->row, bytes);
    }
    if (changed) o->analysed = 0;
    return rc;
}

/* Notes the cost of a new perm, for A. */
static void set_costs(abut_ordering *o, abut_status rc)
{
    o->overspent = 0;
    o->ordered_cost = rc ? 0 : abut_factor_cost(o->linear);
}

static abut_status order_nested_dissection(abut_ordering *o, const abut_bsr *A, abut_err *err)
{
    abut_status rc = abut_graph_order_nested_dissection(abut_bsr_graph(A), o->perm, err);
    if (!rc) rc = abut_ordering_analyse(o, A, err);
    set_costs(o, rc);
    return rc;
}

/* Finds the ordering of the elements alone, unless the numbering is unchanged. */
static abut_status order_elements(abut_ordering *o, struct abut_element_order *e, abut_bsr *A, const abut_objective *p,
                                  const abut_elements *sets, int lasting, abut_err *err)
{
    const size_t bytes = (size_t)p->model->nv * sizeof *e->node_row;
    if (e->n == p->nrow && !memcmp(e->node_row, p->row, bytes)) return ABUT_OK;
    e->n = o->degree.n = 0;
    abut_status rc = pattern(o, A, p, sets, lasting, lasting, err);
    if (!rc) rc = order_nested_dissection(o, A, err);
    if (rc) return rc;
    e->cost = o->ordered_cost;
    e->n = p->nrow;
    memcpy(e->node_row, p->row, bytes);
    memcpy(e->perm, o->perm, (size_t)e->n * sizeof *e->perm);
    return ABUT_OK;
}

/* Analysis of A in that order, unless it is the one at hand. */
static abut_status analyse_in_order(abut_ordering *o, const int32_t *perm, const abut_bsr *A, abut_err *err)
{
    const size_t bytes = (size_t)A->n * sizeof *perm;
    if (o->analysed && !memcmp(o->perm, perm, bytes)) return ABUT_OK;
    memcpy(o->perm, perm, bytes);
    return abut_ordering_analyse(o, A, err);
}

/* ---- the order of minimum degree of a recurring pattern ---- */

/* Keeps the present order, of the first factor of A, unless it changes whether the factor may be in single precision. */
static abut_status keep_degree(abut_ordering *o, const abut_bsr *A, abut_err *err)
{
    struct abut_degree_order *d = &o->degree;
    const size_t n = (size_t)A->n;
    d->n = 0;
    if (abut_factor_may_be_single(o->linear) != d->single) return ABUT_OK;
    if (!ABUT_RESIZE(d->ptr, n + 1) || !ABUT_RESIZE(d->col, A->ptr[n] + 1) || !ABUT_RESIZE(d->perm, n + 1))
        return abut_fail(err, ABUT_E_NOMEM, "ordering of %d rows", A->n);
    memcpy(d->ptr, A->ptr, (n + 1) * sizeof *d->ptr);
    memcpy(d->col, A->row, A->ptr[n] * sizeof *d->col);
    memcpy(d->perm, o->perm, n * sizeof *d->perm);
    d->cost = o->ordered_cost;
    d->n = A->n;
    return ABUT_OK;
}

static int has_degree(const abut_ordering *o, const abut_bsr *A)
{
    const struct abut_degree_order *d = &o->degree;
    const size_t n = (size_t)A->n;
    return d->on && n && d->n == A->n && d->ptr[n] == A->ptr[n] && !memcmp(d->ptr, A->ptr, (n + 1) * sizeof *d->ptr) &&
           !memcmp(d->col, A->row, d->ptr[n] * sizeof *d->col);
}

/* First pattern, ordering and analysis of a step by a factor; a step by iterations gets the order alone. */
static abut_status analyse_first(abut_ordering *o, abut_bsr *A, const abut_objective *p, const abut_elements *sets, int nsets,
                                 int lasting, abut_err *err)
{
    struct abut_element_order *e = &o->elements[abut_lagrangian_of(&p->terms)->on];
    o->by_degree = 1;
    o->overspent = 0;
    abut_status rc = order_elements(o, e, A, p, sets, lasting, err);
    if (!rc) rc = pattern(o, A, p, sets, nsets, lasting, err);
    if (rc) return rc;
    o->by_iterations = o->instead && e->cost > DEAR_ROW * e->n;
    if (o->by_iterations) {
        memcpy(o->perm, e->perm, (size_t)e->n * sizeof *o->perm);
        o->ordered_cost = e->cost;
        o->analysed = 0;
        return ABUT_OK;
    }
    const int again = has_degree(o, A);
    rc = analyse_in_order(o, again ? o->degree.perm : e->perm, A, err);
    o->ordered_cost = again ? o->degree.cost : e->cost;
    o->degree.first = !rc && !again;
    return rc;
}

/* Analyses A in an order of minimum degree, if its factor costs less than that in the order at hand. */
static abut_status order_amd(abut_ordering *o, const abut_bsr *A, abut_err *err)
{
    abut_graph_fill fill;
    int32_t *perm = malloc(((size_t)A->n + 1) * sizeof *perm);
    abut_status rc = perm ? abut_graph_order_amd(abut_bsr_graph(A), perm, &fill, err) : abut_fail(err, ABUT_E_NOMEM, "ordering");
    if (!rc) o->by_degree = abut_factor_cost_of(fill.nnz, fill.flops) < abut_factor_cost(o->linear);
    if (!rc && o->by_degree) {
        memcpy(o->perm, perm, (size_t)A->n * sizeof *perm);
        rc = abut_ordering_analyse(o, A, err);
        set_costs(o, rc);
    }
    free(perm);
    return rc;
}

abut_status abut_ordering_analyse_to_factor(abut_ordering *o, const abut_bsr *A, abut_err *err)
{
    const double order_block = o->by_degree ? ORDER_BLOCK_QUICKLY : ORDER_BLOCK;
    const int first = o->degree.first && o->analysed;
    abut_status rc = o->analysed ? ABUT_OK : abut_ordering_analyse(o, A, err);
    o->degree.first = 0;
    if (rc) return rc;
    o->overspent = fmax(0, o->overspent + abut_factor_cost(o->linear) - o->ordered_cost);
    if (o->overspent <= order_block * (double)A->nnz) return ABUT_OK;
    if (!o->by_degree) return order_nested_dissection(o, A, err);
    o->degree.single = abut_factor_may_be_single(o->linear);
    rc = order_amd(o, A, err);
    return rc || !first || !o->by_degree || !o->degree.on ? rc : keep_degree(o, A, err);
}

/* Analyses A for iterations, which need no order, but may need the positions of rows. */
static abut_status analyse_iterations(abut_ordering *o, const abut_bsr *A, const abut_objective *p, const double *x,
                                      abut_err *err)
{
    for (int32_t i = 0; i < p->model->nv; i++)
        if (p->row[i] >= 0) memcpy(o->where + 3 * (size_t)p->row[i], x + 3 * (size_t)i, 3 * sizeof *x);
    return abut_linear_analyse(iterative(o), &(abut_operator){ .matrix = A, .where = o->where }, NULL, err);
}

double abut_ordering_spared(const abut_ordering *o)
{
    return o->ordered_cost;
}

abut_status abut_ordering_factor_after_all(abut_ordering *o, const abut_bsr *A, abut_err *err)
{
    o->by_iterations = 0;
    return abut_ordering_analyse(o, A, err);
}

/* *same: the sets have the rows that were seen last.  Else their rows are the seen ones from here on. */
static abut_status see(abut_ordering *o, const abut_elements *sets, int nsets, int32_t nrow, int *same, abut_err *err)
{
    struct abut_seen_rows *s = &o->seen;
    size_t all = 0;
    *same = s->nrow == nrow;
    for (int k = 0; k < nsets; k++) {
        const size_t rows = (size_t)sets[k].corners * sets[k].n;
        *same = *same && s->n[k] == sets[k].n && (!rows || !memcmp(s->row + all, sets[k].row, rows * sizeof *s->row));
        all += rows;
    }
    if (*same) return ABUT_OK;
    if (!ABUT_GROW(s->row, all, s->cap)) return abut_fail(err, ABUT_E_NOMEM, "Newton direction: %zu rows of contacts", all);
    all = 0;
    for (int k = 0; k < nsets; k++) {
        const size_t rows = (size_t)sets[k].corners * sets[k].n;
        if (rows) memcpy(s->row + all, sets[k].row, rows * sizeof *s->row);
        s->n[k] = sets[k].n;
        all += rows;
    }
    s->nrow = nrow;
    return ABUT_OK;
}

abut_status abut_ordering_pattern(abut_ordering *o, abut_bsr *A, const abut_objective *p, const double *x,
                                  const abut_elements *sets, int nsets, int lasting, abut_err *err)
{
    int same, changed = 1;
    abut_status rc = see(o, sets + lasting, nsets - lasting, p->nrow, &same, err);
    if (rc || (same && A->plan)) return rc;
    /* rows of elements are unchanged while no handle is released or caught: their part of the pattern is kept */
    if (A->plan && A->n == p->nrow && o->n_perm == p->nrow) {
        rc = abut_bsr_update(A, sets, nsets, lasting, 0, &changed, err);
        if (!rc && changed) o->analysed = 0;
    } else {
        rc = factors(o) ? analyse_first(o, A, p, sets, nsets, lasting, err) : abut_bsr_pattern(A, p->nrow, sets, nsets, err);
        if (!rc) o->n_perm = p->nrow;
    }
    if (!rc && changed && iterative(o)) rc = analyse_iterations(o, A, p, x, err);
    if (rc) {
        abut_ordering_begin_step(o, A);
        forget_pattern(o, A);
    }
    return rc;
}

/* ---- parts of the tets ---- */

abut_status abut_tet_parts(const abut_objective *p, const abut_partition *given, int32_t k, int32_t **part, abut_err *err)
{
    const abut_model *m = p->model;
    abut_partition_stats stats;
    abut_status rc = ABUT_OK;
    assert(!given->part || given->k == k);
    int32_t *of = malloc(((size_t)m->nt + 1) * sizeof *of);
    *part = NULL;
    if (!of) return abut_fail(err, ABUT_E_NOMEM, "a partition of %d tets", m->nt);
    if (!given->part) rc = abut_partition_tets(m->nv, m->nt, m->tet, k, of, &stats, err);
    for (int32_t t = 0; t < m->nt && given->part; t++) of[t] = given->part[abut_objective_tet(p, t)];
    if (rc) free(of);
    else *part = of;
    return rc;
}

void abut_tets_by_part(const abut_partition *cut, int32_t nt, int32_t *at, int32_t *order)
{
    abut_list_groups(cut->part, (size_t)nt, cut->k, at, order);
}

#include "solve/objective_sets.h"

#include "base/par.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A set that is made while a matrix is summed. */
typedef struct fused {
    const abut_objective *o;
    int owner;
} fused;

struct abut_term_sets {
    int owner[ABUT_SETS_MAX];   /* term that has `elements` */
    fused fused[ABUT_SETS_MAX];
    abut_at at;                 /* the last point */
    double *node;               /* [nv] the diagonal, by nodes */
    int32_t *row;               /* of all sets, one after the other */
    double *val;                /* of sets that are not fused */
    size_t row_cap, val_cap;
    const double *H[ABUT_SETS_MAX]; /* values at the last point */
    abut_row_map W;             /* of the collision mesh, to rows of unknowns; empty where that selects */
};

/* ---- which there are ---- */

static int is_lasting(const abut_term_ops *ops) { return (ops->set_is & ABUT_SET_LASTS) != 0; }

abut_status abut_term_sets_new(abut_objective *o, abut_err *err)
{
    assert(o);
    struct abut_term_sets *s = o->sets = calloc(1, sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "element sets");
    s->node = malloc(((size_t)o->model->nv + 1) * sizeof *s->node);
    if (!s->node) return abut_fail(err, ABUT_E_NOMEM, "element sets: %d nodes", o->model->nv);
    for (int pass = 0; pass < 3; pass++) {      /* those that last, those of contacts, the others */
        for (int i = 0; i < o->terms.n; i++) {
            const abut_term_ops *ops = o->terms.term[i].ops;
            const int of_pass = is_lasting(ops) ? 0 : ops->kind == ABUT_TERM_CONTACT ? 1 : 2;
            if (!ops->elements || of_pass != pass) continue;
            if (o->nsets == ABUT_SETS_MAX)
                return abut_fail(err, ABUT_E_ARG, "term %s: more than %d element sets", ops->name, (int)ABUT_SETS_MAX);
            s->fused[o->nsets] = (fused){ o, i };
            s->owner[o->nsets++] = i;
        }
        if (pass == 0) o->lasting = o->nsets;
    }
    return ABUT_OK;
}

void abut_term_sets_free(abut_objective *o)
{
    if (!o->sets) return;
    free(o->sets->node);
    free(o->sets->row);
    free(o->sets->val);
    abut_row_map_clear(&o->sets->W);
    free(o->sets);
    o->sets = NULL;
}

/* ---- rows ---- */

static abut_status reserve(struct abut_term_sets *s, size_t rows, size_t values, abut_err *err)
{
    if (rows > s->row_cap) {
        free(s->row);
        s->row_cap = rows + rows / 2;
        s->row = malloc(s->row_cap * sizeof *s->row);
        if (!s->row) s->row_cap = 0;
    }
    if (values > s->val_cap) {
        free(s->val);
        s->val_cap = values + values / 2;
        s->val = calloc(s->val_cap, sizeof *s->val);    /* unused corners are not written */
        if (!s->val) s->val_cap = 0;
    }
    if (rows <= s->row_cap && values <= s->val_cap) return ABUT_OK;
    return abut_fail(err, ABUT_E_NOMEM, "element matrices: %zu numbers", values);
}

/* set->row: rows of unknowns in place of nodes, or of the map to those in place of that to nodes */
static abut_status rows_of(const abut_objective *o, abut_elements *set, int32_t *row, abut_err *err)
{
    const size_t n = set->n * (size_t)set->corners;
    const int32_t *node = set->row;
    if (set->map) return abut_collmesh_map_set(&o->cm, o->row, o->nrow, node, row, &o->sets->W, set, err);
    #pragma omp parallel for schedule(static) if (n >= 8 * ABUT_PAR_MIN)
    for (size_t i = 0; i < n; i++) row[i] = node[i] < 0 ? -1 : o->row[node[i]];
    set->row = row;
    return ABUT_OK;
}

/* ---- values ---- */

/* what all terms of a set have of its elements [lo, hi) */
static void hessians(const abut_objective *o, int owner, size_t lo, size_t hi, double *val)
{
    const abut_term *first = &o->terms.term[owner];
    const abut_at *at = &o->sets->at;
    first->ops->hessian(first->self, at, abut_objective_weight(o, first->ops, 2), lo, hi, val);
    for (int i = 0; i < o->terms.n; i++) {
        const abut_term *t = &o->terms.term[i];
        if (i == owner || !t->ops->set || !t->ops->hessian || strcmp(t->ops->set, first->ops->set)) continue;
        t->ops->hessian(t->self, at, abut_objective_weight(o, t->ops, 2), lo, hi, val);
    }
}

static void make_fused(void *ctx, size_t lo, size_t hi, double *val)
{
    const fused *f = ctx;
    hessians(f->o, f->owner, lo, hi, val);
}

/* the sets from number `first` on, neighbours of one shape as one; returns how many there are in all */
static int join(abut_elements *sets, int first, int n)
{
    int last = first;
    for (int k = first + 1; k < n; k++) {
        abut_elements *e = &sets[last];
        if (e->val && sets[k].val && e->corners == sets[k].corners && e->rank == sets[k].rank && e->map == sets[k].map)
            e->n += sets[k].n;
        else sets[++last] = sets[k];
    }
    return first < n ? last + 1 : n;
}

abut_status abut_objective_sets(const abut_objective *o, const abut_at *at, int first, abut_elements *sets, int *n, abut_err *err)
{
    struct abut_term_sets *s = o->sets;
    size_t rows = 1, values = 1;
    abut_status rc = ABUT_OK;
    s->at = *at;
    for (int k = first; k < o->nsets && !rc; k++) {
        const abut_term *t = &o->terms.term[s->owner[k]];
        sets[k] = (abut_elements){ .name = t->ops->set, .lasting = is_lasting(t->ops) };
        rc = t->ops->elements(t->self, &s->at, &sets[k], err);
        rows += (size_t)sets[k].corners * sets[k].n;
        values += t->ops->set_is & ABUT_SET_FUSED ? 0 : sets[k].n * abut_element_size(&sets[k]);
    }
    if (!rc) rc = reserve(s, rows, values, err);
    if (rc) return rc;
    int32_t *row = s->row;
    double *val = s->val;
    memset(s->H, 0, sizeof s->H);
    for (int k = first; k < o->nsets && !rc; k++) {
        const int is_fused = (o->terms.term[s->owner[k]].ops->set_is & ABUT_SET_FUSED) != 0;
        rc = rows_of(o, &sets[k], row, err);
        row += (size_t)sets[k].corners * sets[k].n;
        if (is_fused) {
            sets[k].make = make_fused;
            sets[k].ctx = &s->fused[k];
            continue;
        }
        if (sets[k].n) hessians(o, s->owner[k], 0, sets[k].n, val);
        s->H[k] = sets[k].val = val;
        val += sets[k].n * abut_element_size(&sets[k]);
    }
    *n = join(sets, o->lasting, o->nsets);
    return rc;
}

void abut_objective_diagonal(const abut_objective *o, double *diag)
{
    double *node = o->sets->node;
    memset(node, 0, (size_t)o->model->nv * sizeof *node);
    for (int i = 0; i < o->terms.n; i++) {
        const abut_term *t = &o->terms.term[i];
        if (t->ops->diagonal) t->ops->diagonal(t->self, &o->step, abut_objective_weight(o, t->ops, 2), node);
    }
    for (int32_t i = 0; i < o->model->nv; i++)
        if (o->row[i] >= 0) diag[o->row[i]] = node[i];
}

abut_status abut_objective_correction(const abut_objective *o, const abut_at *at, const double *d, const double *meant, double *g,
                                      double *cost, abut_arena *scratch, abut_err *err)
{
    abut_status rc = ABUT_OK;
    *cost = 0;
    for (int k = 0; k < o->nsets && !rc; k++) {
        const abut_term *t = &o->terms.term[o->sets->owner[k]];
        if (t->ops->correction) rc = t->ops->correction(t->self, at, d, meant, o->sets->H[k], g, cost, scratch, err);
    }
    return rc;
}

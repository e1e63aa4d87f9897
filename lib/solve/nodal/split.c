#include "solve/nodal/split.h"

#include "energy/codim_term.h"
#include "energy/curved_rod.h"
#include "energy/stiffness_fit.h"
#include "model/tets.h"
#include "solve/direction/initial_laplacian.h"

#include <stdlib.h>
#include <string.h>

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
    free(s->r);
    free(s->row);
    free(s->beyond);
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
    abut_curved_rods *rods = abut_terms_find(&p->terms, abut_term_curved_rods.name);
    if (!rods) return ABUT_OK;
    rods->part = 1;
    const abut_status rc = abut_curved_rods_gradient(rods, x, p->w.psi, s->r, err);
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

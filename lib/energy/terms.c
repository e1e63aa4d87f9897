#include "energy/term.h"

#include <string.h>

/* The table: a row for each term.  Gradients are summed in this order. */
#define ROWS(TERM) \
    TERM(inertia) \
    TERM(prescribed) \
    TERM(elastic) \
    TERM(elastic_2) \
    TERM(elastic_3) \
    TERM(elastic_4) \
    TERM(jacobian_barrier_2) \
    TERM(jacobian_barrier_3) \
    TERM(jacobian_barrier_4) \
    TERM(inertia_2) \
    TERM(inertia_3) \
    TERM(inertia_4) \
    TERM(spring) \
    TERM(attachment) \
    TERM(pressure) \
    TERM(codim) \
    TERM(codim_bounds) \
    TERM(curved_rods) \
    TERM(friction) \
    TERM(damping) \
    TERM(damping_2) \
    TERM(damping_3) \
    TERM(damping_4) \
    TERM(codim_damping) \
    TERM(drag) \
    TERM(barrier)

#define DECLARED(name) extern const abut_term_ops abut_term_##name;
#define ROW(name) &abut_term_##name,
ROWS(DECLARED)
const abut_term_ops *const abut_term_table[] = { ROWS(ROW) NULL };

static abut_status add(abut_terms *terms, const abut_term_ops *ops, const abut_term_world *w, abut_err *err)
{
    abut_term t = { .ops = ops };
    const abut_status rc = ops->make(&t.self, w, err);
    if (rc || !t.self) return rc;
    const int twice = abut_terms_number(terms, ops->name) >= 0;
    if (!twice && terms->n < ABUT_TERMS_MAX) return terms->term[terms->n++] = t, ABUT_OK;
    if (ops->free) ops->free(t.self);
    if (twice) return abut_fail(err, ABUT_E_ARG, "term '%s' is there twice, expected a name of its own", ops->name);
    return abut_fail(err, ABUT_E_ARG, "term '%s': more than %d terms", ops->name, (int)ABUT_TERMS_MAX);
}

/* Rows are found by their names, even where a model has none of them. */
static abut_status add_own(abut_terms *terms, const abut_term_ops *ops, const abut_term_world *w, abut_err *err)
{
    for (int i = 0; abut_term_table[i]; i++)
        if (!strcmp(abut_term_table[i]->name, ops->name))
            return abut_fail(err, ABUT_E_ARG, "term '%s': the table has one, expected a name of its own", ops->name);
    return add(terms, ops, w, err);
}

abut_status abut_terms_init(abut_terms *terms, const abut_term_world *w, const abut_own_term *own, abut_err *err)
{
    abut_term_world world = *w;
    abut_status rc = ABUT_OK;
    *terms = (abut_terms){ 0 };
    world.before = terms;
    for (int i = 0; abut_term_table[i] && !rc; i++) rc = add(terms, abut_term_table[i], &world, err);
    for (; own && own->ops && !rc; own++) {
        world.own = own->own;
        rc = add_own(terms, own->ops, &world, err);
    }
    if (rc) abut_terms_clear(terms);
    return rc;
}

void abut_terms_clear(abut_terms *terms)
{
    for (int i = terms->n; i-- > 0;)    /* later ones borrow earlier ones */
        if (terms->term[i].ops->free) terms->term[i].ops->free(terms->term[i].self);
    *terms = (abut_terms){ 0 };
}

int abut_terms_number(const abut_terms *terms, const char *name)
{
    for (int i = 0; i < terms->n; i++)
        if (!strcmp(terms->term[i].ops->name, name)) return i;
    return -1;
}

void *abut_terms_find(const abut_terms *terms, const char *name)
{
    const int i = abut_terms_number(terms, name);
    return i < 0 ? NULL : terms->term[i].self;
}

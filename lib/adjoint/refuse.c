#include "adjoint/parts.h"

#include "energy/pressure.h"
#include "model/tets.h"

#include <string.h>

/* The terms that are differentiated. */
static const char *const covered[] = { "inertia", "lagrangian", "elastic", "spring", "attachment", "codim", "codim bounds",
                                       "friction", "damping", "barrier", "pressure", "drag", NULL };

/* Words for users about terms that are not differentiated; a term that a program adds keeps its own name. */
static const struct refused {
    const char *term, *words;
} refused[] = { { "codim damping", "damping.stiffness of shells and rods is not differentiated" },
                { "curved rods", "rods that are curved at rest are not differentiated" } };

static abut_status refuse_term(const char *name, abut_err *err)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (!strcmp(refused[i].term, name)) return abut_fail(err, ABUT_E_FORMAT, "%s", refused[i].words);
    return abut_fail(err, ABUT_E_FORMAT, "the energy '%s' is not differentiated", name);
}

abut_status abut_adjoint_refuse(const abut_model *m, const abut_terms *terms, abut_err *err)
{
    const int order = abut_model_order(m);
    if (order != 1) return abut_fail(err, ABUT_E_FORMAT, "tets of order %d are not differentiated, expected order 1", order);
    if (m->solver && m->solver[0] == ABUT_SOLVED_BY_NODAL)
        return abut_fail(err, ABUT_E_FORMAT, "hard contact (solver nodal) is not differentiated, expected the barrier");
    const int newmark = m->scheme && m->scheme[0] == ABUT_IMPLICIT_NEWMARK;
    if (newmark && m->damp_stiffness && m->damp_stiffness[0] > 0)
        return abut_fail(err, ABUT_E_FORMAT, "damping.stiffness is %g s: it is not differentiated in implicit-newmark",
                         m->damp_stiffness[0]);
    const abut_air *air = abut_air_of(terms);
    if (air && air->open)
        return abut_fail(err, ABUT_E_FORMAT, "pressure on an open shell is not differentiated: its rim has a load");
    if (air && air->drags && (newmark || (m->scheme && m->scheme[0] == ABUT_QUASI_STATIC)))
        return abut_fail(err, ABUT_E_FORMAT, "the drag of wind is not differentiated in %s: it is a load there",
                         newmark ? "implicit-newmark" : "quasi-static");
    for (int i = 0; i < terms->n; i++) {
        const char *name = terms->term[i].ops->name;
        int k = 0;
        while (covered[k] && strcmp(covered[k], name)) k++;
        if (!covered[k]) return refuse_term(name, err);
    }
    return ABUT_OK;
}

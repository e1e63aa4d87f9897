#include "adjoint/parts.h"

#include "energy/pressure.h"
#include "model/tets.h"

#include <string.h>

/* The terms that are gone through backwards. */
static const char *const covered[] = { "inertia", "lagrangian", "elastic", "spring", "attachment", "codim", "codim bounds",
                                       "friction", "damping", "barrier", "pressure", "drag", NULL };

abut_status abut_adjoint_refuse(const abut_model *m, const abut_terms *terms, abut_err *err)
{
    const abut_status rc = abut_linear_tets(m, "adjoint", err);
    if (rc) return rc;
    if (m->solver && m->solver[0] == ABUT_SOLVED_BY_NODAL)
        return abut_fail(err, ABUT_E_FORMAT, "adjoint: hard contact (solver nodal) is not differentiated, expected the barrier");
    const int newmark = m->scheme && m->scheme[0] == ABUT_IMPLICIT_NEWMARK;
    if (newmark && m->damp_stiffness && m->damp_stiffness[0] > 0)
        return abut_fail(err, ABUT_E_FORMAT, "adjoint: damping.stiffness is %g s: it is not differentiated in implicit-newmark",
                         m->damp_stiffness[0]);
    const abut_air *air = abut_air_of(terms);
    if (air && air->open)
        return abut_fail(err, ABUT_E_FORMAT, "adjoint: pressure on an open shell is not differentiated: its rim has a load");
    if (air && air->drags && (newmark || (m->scheme && m->scheme[0] == ABUT_QUASI_STATIC)))
        return abut_fail(err, ABUT_E_FORMAT, "adjoint: the drag of wind is not differentiated in %s: it is a load there",
                         newmark ? "implicit-newmark" : "quasi-static");
    for (int i = 0; i < terms->n; i++) {
        const char *name = terms->term[i].ops->name;
        int k = 0;
        while (covered[k] && strcmp(covered[k], name)) k++;
        if (!covered[k]) return abut_fail(err, ABUT_E_FORMAT, "adjoint: the energy '%s' is not differentiated", name);
    }
    return ABUT_OK;
}

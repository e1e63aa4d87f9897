#include "adjoint/parts.h"

#include "energy/damping.h"

abut_status abut_adjoint_damping_back(abut_adjoint *a, const double *u, abut_err *err)
{
    const abut_objective *o = &a->s.solver.prob;
    const abut_model *m = a->model;
    const double w = o->step.damping, *p = a->work.p, rate = m->damp_mass ? m->damp_mass[0] : 0;
    for (size_t i = 0; i < 3 * (size_t)m->nv; i++) {
        const double along = w * p[i] * u[i];
        a->bars.damp_mass[0] += m->mass[i / 3] * along;
        a->bars.mass[i / 3] += rate * along;
    }
    if (!m->damp_stiffness || !(m->damp_stiffness[0] > 0)) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "damping.stiffness is %g s: it is not differentiated", m->damp_stiffness[0]);
}

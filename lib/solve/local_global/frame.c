/* Results of a step of solve/local_global/local_global.h: its frame and its report. */
#include "solve/local_global/local_global.h"

#include "base/timer.h"
#include "contact/intersect.h"
#include "energy/curved_rod.h"
#include "solve/step/measures.h"

#include <assert.h>
#include <string.h>

abut_status abut_lg_put_frame(abut_local_global *s, const abut_arrays *carry, abut_arrays *out, abut_err *err)
{
    assert(s);
    const abut_objective *p = &s->objective;
    const abut_model *m = p->model;
    const abut_start from = { .x = p->xn, .v = s->v, .acc = s->acc };
    abut_integrator_finish(m, ABUT_FIRST_SCHEME, &from, p->held, p->xhat, s->x, s->v_end, NULL);
    abut_arrays_clear(out);
    const abut_status rc = abut_frame_carry(carry, out, err);
    double *x = rc ? NULL : abut_frame_put(out, "node/x", m->nv, err), *v = x ? abut_frame_put(out, "node/v", m->nv, err) : NULL;
    if (!v) return err->code;
    memcpy(x, s->x, 3 * (size_t)m->nv * sizeof *x);
    memcpy(v, s->v_end, 3 * (size_t)m->nv * sizeof *v);
    return abut_curved_rods_store(&p->terms, out, err);
}

abut_status abut_lg_report(abut_local_global *s, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->objective;
    rep->kinetic = abut_kinetic_energy(abut_mass_of(&p->terms), s->v_end);
    rep->gravity = abut_gravity_energy(abut_mass_of(&p->terms), s->x);
    abut_linear_momentum(abut_mass_of(&p->terms), s->v_end, rep->momentum);
    abut_angular_momentum(abut_mass_of(&p->terms), s->x, s->v_end, rep->angular);
    int32_t flattest;
    abut_equilibrium e;
    const abut_status rc = abut_lg_balance(s, s->x, &e, err);
    if (rc) return rc;
    rep->force_residual = e.left > 0 ? e.left / e.largest : 0;
    rep->force_largest = e.of_all;
    rep->min_jacobian = abut_smallest_jacobian(p->model, s->x, &flattest);
    rep->min_jacobian_tet = abut_objective_tet(p, flattest);
    const abut_linear_stats c = s->split.parts ? abut_consensus_stats(s->split.parts) : abut_linear_get_stats(&s->A);
    rep->factor_nnz = c.nnz;
    rep->factor_flops = c.flops;
    rep->factor_bytes = (double)c.bytes;
    rep->fixed_iterations = s->how.iterations;
    rep->passes = 1;
    rep->eta = 1;
    rep->min_gap = rep->lag_residual = -1;
    rep->contacts = (int32_t)s->collisions.n;
    rep->contact = !p->cm.nc ? ABUT_CONTACT_OFF
                   : s->how.user->real_time.contact == ABUT_CONTACT_BY_SPRINGS ? ABUT_CONTACT_SPRINGS : ABUT_CONTACT_IGNORED;
    rep->memory_peak = abut_memory_peak();
    return abut_objective_potential(p, s->x, &rep->elastic, &s->scratch, err);
}

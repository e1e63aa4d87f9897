/* Results of a step of hard contact: the next frame and the report. */
#include "base/timer.h"
#include "contact/intersect.h"
#include "energy/curved_rod.h"
#include "energy/term.h"
#include "solve/nodal/nodal.h"
#include "solve/step/measures.h"

#include <math.h>
#include <string.h>

static abut_status put_impulse(const abut_nodal *s, int64_t step, abut_arrays *out, abut_err *err)
{
    const int32_t nv = s->objective.model->nv;
    if (!s->objective.cm.nc) return ABUT_OK;
    double *to = abut_frame_put(out, "node/contact-impulse", nv, err);
    int64_t *of = to ? abut_frame_put(out, "nodal/step", 1, err) : NULL;
    if (!of) return err->code;
    memcpy(to, s->of.impulse, 3 * (size_t)nv * sizeof *to);
    *of = step;
    return ABUT_OK;
}

/* Residual of momentum at x, the end of the step: dE/dx / h - B^T r, over its parts (inertia and loads, all other forces,
 * impulses of contacts) and over the momentum of a node; largest entries. */
static abut_status balance(abut_nodal *s, const double *x, double *residual, abut_err *err)
{
    const abut_objective *p = &s->objective;
    const double h = p->model->h[0], *v = s->of.end;
    const abut_at at = abut_objective_at(p, x, NULL, NULL);
    double *inertia = s->of.x, *other = s->state.rhs, *contact = s->state.next, left = 0, size = 0;
    abut_status rc = abut_objective_gradient(p, &at, 1 << ABUT_TERM_INERTIA, inertia, &s->scratch, err);
    if (!rc) rc = abut_objective_gradient(p, &at, ABUT_KINDS_SMOOTH & ~(1 << ABUT_TERM_INERTIA), other, &s->scratch, err);
    memset(contact, 0, 3 * (size_t)p->model->nv * sizeof(double));
    abut_touching_forces(&s->contacts, contact);
    for (int32_t i = 0; i < 3 * p->model->nv && !rc; i++) {
        const double m = p->model->mass[i / 3], sum[] = { inertia[i] / h, other[i] / h, -contact[i], m * v[i], m * s->of.v0[i] };
        if (p->row[i / 3] < 0) continue;
        left = fmax(left, fabs(sum[0] + sum[1] + sum[2]));
        for (int k = 0; k < 5; k++) size = fmax(size, fabs(sum[k]));
    }
    *residual = size > 0 ? left / size : 0;
    return rc;
}

/* Distance less thickness of a contact at y[3 nc], m; below a half-space 0. */
static double gap_of(const abut_collmesh *cm, const abut_touch_key *k, const double *y)
{
    const abut_model *m = cm->model;
    double x[12], w[4];
    if (k->plane >= 0) {
        const double *o = m->hs_point + 3 * (size_t)k->plane, *n = m->hs_normal + 3 * (size_t)k->plane;
        const double *p = y + 3 * (size_t)k->vert[0];
        const double above = n[0] * (p[0] - o[0]) + n[1] * (p[1] - o[1]) + n[2] * (p[2] - o[2]);
        return fmax(above - abut_collmesh_plane_xi(cm, k->vert[0]), 0);
    }
    const abut_stencil kind = (abut_stencil)k->kind;
    for (int i = 0; i < abut_stencil_size(kind); i++) memcpy(x + 3 * i, y + 3 * (size_t)k->vert[i], 3 * sizeof *x);
    return fmax(abut_beyond(abut_closest(kind, x, w), abut_collmesh_xi(cm, kind, k->vert)), 0);
}

/* Reports the smallest gap of the contacts at the end of the step, and its contact. */
static void report_gap(const abut_nodal *s, const double *x, abut_report *rep)
{
    const abut_touching *t = &s->contacts;
    const abut_collmesh *cm = &s->objective.cm;
    const abut_touch_key *least = NULL;
    rep->min_gap = -1;
    if (!t->n) return;
    abut_collmesh_positions(cm, x, s->of.y1);
    for (size_t c = 0; c < t->n; c++) {
        const double gap = gap_of(cm, &t->key[c], s->of.y1);
        if (!least || gap < rep->min_gap) rep->min_gap = gap, least = &t->key[c];
    }
    for (int k = 0; k < 4; k++) rep->gap_node[k] = least->vert[k] < 0 ? -1 : abut_collmesh_node(cm, least->vert[k]);
    if (least->plane >= 0) rep->gap_node[3] = least->plane;
}

static void report_contacts(const abut_nodal *s, abut_report *rep)
{
    const abut_touching *t = &s->contacts;
    const abut_coulomb_quality q = abut_coulomb_quality_at(t, s->of.end);
    abut_nodal_report *n = &rep->nodal;
    size_t planes = 0;
    for (size_t c = 0; c < t->n; c++) {
        planes += t->key[c].plane >= 0;
        n->appended += t->key[c].round > 0;
        n->yielding += t->give[c] > 0;
    }
    n->contacts = t->n;
    n->colours = abut_touching_colours(t);
    n->visits = s->state.projection.visits;
    n->asleep = s->state.projection.skipped;
    n->penetration = s->objective.model->h[0] * q.penetration;
    n->coulomb_residual = q.residual;
    n->sticking = q.stick;
    n->sliding = q.slide;
    n->opening = s->search.opening;
    n->project = s->state.seconds.project;
    rep->seconds.solve += s->state.seconds.solve;
    rep->sticking = (int32_t)q.stick;
    rep->sliding = (int32_t)q.slide;
    rep->contacts = (int32_t)(t->n - planes);
    rep->planes = (int32_t)planes;
    rep->residual = s->objective.model->h[0] > 0 ? n->delta_inf / s->objective.model->h[0] : 0;
}

static abut_status report(abut_nodal *s, const double *x, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->objective;
    const abut_model *m = p->model;
    const abut_mass *mass = abut_mass_of(&p->terms);
    int32_t flattest;
    rep->kinetic = abut_kinetic_energy(mass, s->of.end);
    rep->gravity = abut_gravity_energy(mass, x);
    abut_linear_momentum(mass, s->of.end, rep->momentum);
    abut_angular_momentum(mass, x, s->of.end, rep->angular);
    rep->min_jacobian = abut_smallest_jacobian(m, x, &flattest);
    rep->min_jacobian_tet = abut_objective_tet(p, flattest);
    rep->passes = 1;
    rep->eta = 1;
    rep->lag_residual = -1;
    rep->contact = !p->cm.nc ? ABUT_CONTACT_OFF : ABUT_CONTACT_HARD;
    rep->memory_peak = abut_memory_peak();
    report_contacts(s, rep);
    report_gap(s, x, rep);
    abut_newton_solve_stats(&s->solve, rep);
    const abut_status rc = balance(s, x, &rep->nodal.balance_residual, err);
    return rc ? rc : abut_objective_potential(p, x, &rep->elastic, &s->scratch, err);
}

abut_status abut_nodal_put_frame(abut_nodal *s, const abut_arrays *carry, abut_arrays *out, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->objective;
    const int32_t nv = p->model->nv;
    const size_t n3 = 3 * (size_t)nv;
    abut_arrays_clear(out);
    abut_status rc = abut_frame_carry(carry, out, err);
    double *x = rc ? NULL : abut_frame_put(out, "node/x", nv, err), *v = x ? abut_frame_put(out, "node/v", nv, err) : NULL;
    if (!v) return err->code;
    abut_nodal_end(s, x);
    memcpy(v, s->of.end, n3 * sizeof *v);
    rc = put_impulse(s, s->from.step + 1, out, err);
    if (!rc) rc = abut_curved_rods_store(&p->terms, out, err);
    const void *rods = abut_terms_find(&p->terms, abut_term_curved_rods.name);
    if (rods) rep->nodal.twist_iterations = ((const abut_curved_rods *)rods)->iterations;
    return rc ? rc : report(s, x, rep, err);
}

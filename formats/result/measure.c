#include "formats/result/measure.h"

#include "energy/barrier.h"
#include "energy/codim.h"
#include "energy/elastic.h"
#include "energy/elastic_high.h"
#include "energy/hinge.h"
#include "energy/stretch_step_inline.h"
#include "solve/step/measures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

abut_status abut_measure_init(abut_measure *ms, const abut_model *m, abut_err *err)
{
    *ms = (abut_measure){ .model = m };
    abut_status rc = abut_collmesh_init(&ms->cm, m, err);
    if (!rc && abut_model_order(m) > 1) rc = abut_reordered_new(&ms->reordered, m, err);
    const abut_model *ordered = ms->reordered ? &ms->reordered->model : m;
    const abut_term_world world = { .model = ordered, .reordered = ms->reordered, .cm = &ms->cm };
    if (!rc) rc = abut_terms_init(&ms->terms, &world, NULL, err);
    if (!rc && !ABUT_ARRAYS(ABUT_ZEROS(ms->J, m->nt), ABUT_ZEROS(ms->stress, m->nt), ABUT_ZEROS(ms->strain, 5 * (size_t)m->nsh),
                            ABUT_ZEROS(ms->bend, m->nsh), ABUT_ZEROS(ms->force, 3 * (size_t)m->nv),
                            ABUT_ZEROS(ms->plane, 6 * (size_t)m->nh), ABUT_ZEROS(ms->y, 3 * (size_t)m->nc),
                            ABUT_ZEROS(ms->center, 3 * (size_t)m->no), ABUT_ZEROS(ms->velocity, 3 * (size_t)m->no),
                            ABUT_ZEROS(ms->mass, m->no), ABUT_ITEMS(ms->held, m->nv)))
        rc = abut_fail(err, ABUT_E_NOMEM, "no memory to measure frames");
    if (!rc) memset(ms->held, 1, (size_t)m->nv);
    if (rc) abut_measure_clear(ms);
    return rc;
}

void abut_measure_clear(abut_measure *ms)
{
    abut_terms_clear(&ms->terms);
    abut_reordered_free(&ms->reordered);
    abut_collmesh_clear(&ms->cm);
    abut_candidates_clear(&ms->cand);
    abut_pairs_clear(&ms->pairs);
    ABUT_FREE(ms->J, ms->stress, ms->F, ms->sigma, ms->strain, ms->bend, ms->force, ms->plane, ms->y, ms->center, ms->velocity,
              ms->mass, ms->held);
    abut_arena_clear(&ms->scratch);
    *ms = (abut_measure){ 0 };
}

static abut_status make_tensors(abut_measure *ms, abut_err *err)
{
    const size_t n = 9 * (size_t)ms->model->nt + 1;
    if (!ms->F) ms->F = malloc(n * sizeof *ms->F);
    if (!ms->sigma) ms->sigma = malloc(n * sizeof *ms->sigma);
    return ms->F && ms->sigma ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "no memory for the tensors of %d tets", ms->model->nt);
}

/* tensors: 1: writes F and sigma, too, whose arrays exist. */
static void measure_stress(abut_measure *ms, const double *x, int tensors, abut_fields *out)
{
    const abut_elastic *elastic = abut_elastic_of(&ms->terms);
    #pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < elastic->n; t++) {
        double own[18];
        const int32_t to = ms->reordered ? ms->reordered->number[t] : t;
        double *F = tensors ? ms->F + 9 * (size_t)to : own, *sigma = tensors ? ms->sigma + 9 * (size_t)to : own + 9;
        ms->J[to] = abut_elastic_deformation(elastic, x, t, F);
        abut_elastic_stress(elastic, x, t, sigma);
        ms->stress[to] = abut_von_mises(sigma);
    }
    for (int order = 2; order <= ABUT_ORDER_MAX; order++) {
        const abut_elastic_high *e = abut_elastic_high_of(&ms->terms, order);
        #pragma omp parallel for schedule(static)
        for (int32_t t = 0; t < (e ? e->n : 0); t++) {
            const int32_t to = ms->reordered->number[e->first + t];
            const size_t at = 9 * (size_t)to;
            ms->J[to] = abut_elastic_high_stress(e, x, t, &ms->stress[to], tensors ? ms->F + at : NULL,
                                                 tensors ? ms->sigma + at : NULL);
        }
    }
    out->J = ms->J;
    out->stress = ms->stress;
    out->F = tensors ? ms->F : NULL;
    out->sigma = tensors ? ms->sigma : NULL;
}

/* ---- shells ---- */

static void measure_strain(abut_measure *ms, const double *x, abut_fields *out)
{
    #pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < ms->model->nsh; i++) {
        double F[6], s[2], *e = ms->strain + 5 * (size_t)i;
        abut_shell_deformation(abut_codim_of(&ms->terms), x, i, F, s);
        e[0] = fmax(s[0], s[1]), e[1] = fmin(s[0], s[1]);
        for (int k = 0; k < 3; k++) e[2 + k] = abut_green_strain(F, k);
    }
    out->strain = ms->strain;
}

static int has_nodes(const int32_t *tri, const int32_t *v, int n)
{
    int found = 0;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < n; i++) found += tri[k] == v[i];
    return found == n;
}

/* Lists the shells of each node; those of a hinge are among the shells of its first node. */
static abut_status measure_bend(abut_measure *ms, const double *x, abut_fields *out, abut_err *err)
{
    const abut_model *m = ms->model;
    const size_t n = (size_t)m->nv + 2, sides = 3 * (size_t)m->nsh;
    const abut_mark mark = abut_arena_mark(&ms->scratch);
    int32_t *first = ABUT_NEW(&ms->scratch, int32_t, n), *at = ABUT_NEW(&ms->scratch, int32_t, sides + 1);
    if (!first || !at) return abut_fail(err, ABUT_E_NOMEM, "no memory for the hinges of %d shells", m->nsh);
    memset(first, 0, n * sizeof *first);
    memset(ms->bend, 0, (size_t)m->nsh * sizeof *ms->bend);
    for (size_t i = 0; i < sides; i++) first[m->shell[i] + 2]++;
    for (size_t i = 2; i < n; i++) first[i] += first[i - 1];
    for (size_t i = 0; i < sides; i++) at[first[m->shell[i] + 1]++] = (int32_t)(i / 3);
    for (int32_t h = 0; h < m->nhg; h++) {
        const int32_t *v = m->hinge + 4 * (size_t)h;
        double p[12];
        for (int k = 0; k < 4; k++) memcpy(p + 3 * k, x + 3 * (size_t)v[k], 3 * sizeof *p);
        const double turned = abut_hinge_theta(p, NULL) - m->hinge_angle[h];
        for (int32_t i = first[v[0]]; i < first[v[0] + 1]; i++) {
            double *bend = &ms->bend[at[i]];
            if (has_nodes(m->shell + 3 * (size_t)at[i], v, 2) && fabs(turned) > fabs(*bend)) *bend = turned;
        }
    }
    abut_arena_release(&ms->scratch, mark);
    out->bend = ms->bend;
    return ABUT_OK;
}

/* ---- contact ---- */

/* f = -kappa dB/dx / (s_I h^2): the objective is in kg m^2, a force in N (Li 2020, 4.3); NaN if primitives touch */
static abut_status barrier_force(abut_measure *ms, const abut_frame *f, int touching, abut_err *err)
{
    const abut_model *m = ms->model;
    const size_t n = 3 * (size_t)m->nv;
    const double kappa = f->kappa ? f->kappa[0] : NAN;
    const int none = !touching && !ms->pairs.n && !ms->pairs.n_plane, unknown = touching || (!none && isnan(kappa));
    for (size_t i = 0; i < n; i++) ms->force[i] = unknown ? NAN : 0;
    if (none || unknown) return ABUT_OK;
    abut_status rc = abut_barrier_gradient(&ms->cm, &ms->pairs, ms->y, kappa, ms->force, &ms->scratch, err);
    const double scale = -abut_integrator_force_scale(m, f);
    for (size_t i = 0; i < n && !rc; i++) ms->force[i] /= scale;
    return rc;
}

/* Writes minus the sum of the barrier's forces on the vertices near each half-space; NaN if primitives touch. */
static void barrier_on_planes(const abut_measure *ms, const abut_frame *f, int touching, double *force)
{
    const abut_model *m = ms->model;
    const double kappa = f->kappa ? f->kappa[0] : NAN, h = sqrt(abut_integrator_force_scale(m, f));
    for (int32_t i = 0; i < 3 * m->nh; i++) force[i] = touching ? NAN : 0;
    for (size_t i = 0; i < (touching ? 0 : ms->pairs.n_plane); i++) {
        const size_t plane = (size_t)ms->pairs.plane[i];
        const double push = abut_barrier_force(&ms->cm, &ms->pairs, ms->y, kappa, h, ms->pairs.n + i);
        for (size_t d = 0; d < 3; d++) force[3 * plane + d] -= push * m->hs_normal[3 * plane + d];
    }
}

/* Returns whether a half-space has friction with a body; obstacles pass through half-spaces. */
static int has_friction(const abut_model *m, int32_t plane)
{
    const double *mu = m->mu + (size_t)m->ng * (size_t)m->hs_friction[plane];
    for (int32_t i = 0; i < m->nv; i++)
        if (m->role[i] != ABUT_NODE_OBSTACLE && mu[m->obj_friction[m->body[i]]] > 0) return 1;
    return 0;
}

static void friction_on_planes(const abut_model *m, const double *node, double *force)
{
    int32_t rough = 0, last = -1;
    for (int32_t h = 0; h < m->nh; h++) {
        const int has = has_friction(m, h);
        for (int32_t d = 0; d < 3; d++) force[3 * h + d] = has ? NAN : 0;
        if (has) rough++, last = h;
    }
    for (int32_t d = 0; d < (rough == 1 ? 3 : 0); d++) {
        abut_acc sum = { 0, 0 };
        for (int32_t i = 0; i < m->nv; i++) abut_acc_add(&sum, -node[3 * i + d]);
        force[3 * last + d] = sum.hi + sum.lo;
    }
}

/* touching: 1: primitives touch, and there are no pairs. */
static void measure_planes(abut_measure *ms, const abut_frame *f, int touching, abut_fields *out)
{
    const abut_model *m = ms->model;
    double *friction = ms->plane + 3 * (size_t)m->nh;
    out->plane_force = f->f_plane_contact ? f->f_plane_contact : ms->plane;
    if (!f->f_plane_contact) barrier_on_planes(ms, f, touching, ms->plane);
    out->plane_friction = f->f_plane_friction ? f->f_plane_friction : f->f_friction ? friction : NULL;
    if (out->plane_friction == friction) friction_on_planes(m, f->f_friction, friction);
}

static abut_status measure_contact(abut_measure *ms, const abut_arrays *set, const abut_frame *f, abut_fields *out, abut_err *err)
{
    abut_err touch = { 0 };
    abut_collmesh_positions(&ms->cm, f->x, ms->y);
    abut_status rc = abut_collmesh_part(&ms->cm, f->kappa_part, err);
    if (!rc) rc = abut_candidates_find(&ms->cm, ms->y, NULL, ms->model->dhat[0], ms->cm.obstacle, &ms->cand, err);
    if (rc) return rc;
    out->contacts_known = 1;
    out->cm = &ms->cm;
    out->y = ms->y;
    /* a PENDING frame keeps the forces at the start of its step */
    out->force = abut_arrays_find(set, "step/x0") ? NULL : f->f_contact;
    rc = abut_pairs_find(&ms->cm, &ms->cand, ms->y, ms->cm.obstacle, &ms->pairs, &touch);
    const int touching = rc == ABUT_E_GEOM;     /* a broken state is measured, too */
    if (rc && !touching) return abut_fail(err, touch.code, "%s", touch.msg);
    measure_planes(ms, f, touching, out);
    out->contacts = touching ? -1 : (int32_t)(ms->pairs.n + ms->pairs.n_plane);
    out->gap = touching ? 0 : abut_pairs_smallest_gap(&ms->cm, &ms->pairs, NULL);
    out->pairs = touching ? NULL : &ms->pairs;
    if (out->force) return ABUT_OK;
    out->force = ms->force;
    return barrier_force(ms, f, touching, err);
}

/* ---- totals ---- */

/* Finds the centre of mass of every object and its velocity, also of obstacles, whose masses only this uses. */
static void centers(abut_measure *ms, const abut_frame *f, abut_fields *out)
{
    const abut_model *m = ms->model;
    const abut_mass *M = abut_mass_of(&ms->terms);
    memset(ms->center, 0, 3 * (size_t)m->no * sizeof *ms->center);
    memset(ms->velocity, 0, 3 * (size_t)m->no * sizeof *ms->velocity);
    memset(ms->mass, 0, (size_t)m->no * sizeof *ms->mass);
    for (int32_t i = 0; i < m->nv; i++) {
        const int32_t o = m->body[i];
        double mx[3], mv[3];
        abut_mass_row(M, f->x, i, mx);
        abut_mass_row(M, f->v, i, mv);
        ms->mass[o] += m->mass[i];
        for (int d = 0; d < 3; d++) {
            ms->center[3 * o + d] += mx[d];
            ms->velocity[3 * o + d] += mv[d];
        }
    }
    for (int32_t o = 0; o < m->no; o++)
        for (int d = 0; d < 3; d++) {
            ms->center[3 * o + d] /= ms->mass[o];
            ms->velocity[3 * o + d] /= ms->mass[o];
        }
    out->center = ms->center;
    out->velocity = ms->velocity;
}

/* Sums the energies, J, of the terms that depend on positions alone, at the start of a step from this frame.  Every segment of a
 * curved rod counts as held: its directions are those of the frame. */
static abut_status potential(abut_measure *ms, const abut_frame *f, double time, double *sum, abut_err *err)
{
    const abut_term_step step = { .x0 = f->x, .held = ms->held, .load_time = time };
    const abut_at at = { f->x, f->x, NULL, NULL, &step };
    double e[ABUT_TERMS_MAX] = { 0 };
    for (int i = 0; i < ms->terms.n; i++) {
        const abut_term *t = &ms->terms.term[i];
        if (!(ABUT_KINDS_POTENTIAL & 1 << t->ops->kind)) continue;
        const abut_term_frame as = { .weight = 1 };
        abut_status rc = t->ops->load ? t->ops->load(t->self, f, &as, err) : ABUT_OK;
        if (!rc && t->ops->begin) rc = t->ops->begin(t->self, &step, err);
        if (!rc) rc = t->ops->energy(t->self, &at, 1, &e[i], &ms->scratch, err);
        if (rc) return rc;
    }
    *sum = abut_sum(e, (size_t)ms->terms.n);
    return ABUT_OK;
}

static abut_status measure_totals(abut_measure *ms, const abut_frame *f, double time, abut_fields *out, abut_err *err)
{
    const abut_status rc = potential(ms, f, time, &out->elastic, err);
    if (rc) return rc;
    out->kinetic = abut_kinetic_energy(abut_mass_of(&ms->terms), f->v);
    out->gravity = abut_gravity_energy(abut_mass_of(&ms->terms), f->x);
    abut_linear_momentum(abut_mass_of(&ms->terms), f->v, out->linear);
    abut_angular_momentum(abut_mass_of(&ms->terms), f->x, f->v, out->angular);
    centers(ms, f, out);
    out->min_J = NAN;
    out->min_J_tet = -1;
    for (int32_t t = 0; t < ms->model->nt; t++)
        if (!(ms->J[t] >= out->min_J)) out->min_J = ms->J[t], out->min_J_tet = t;
    out->totals_known = 1;
    return ABUT_OK;
}

abut_status abut_measure_frame(abut_measure *ms, const abut_arrays *set, const abut_frame *f, double time, int want,
                               abut_fields *out, abut_err *err)
{
    *out = (abut_fields){ 0 };
    abut_status rc = ABUT_OK;
    if (want & ABUT_WANT_TENSORS) rc = make_tensors(ms, err);
    if (rc) return rc;
    if (want & (ABUT_WANT_STRESS | ABUT_WANT_TOTALS | ABUT_WANT_TENSORS)) measure_stress(ms, f->x, want & ABUT_WANT_TENSORS, out);
    if (want & ABUT_WANT_CONTACT) rc = measure_contact(ms, set, f, out, err);
    if (want & ABUT_WANT_STRAIN) measure_strain(ms, f->x, out);
    if (!rc && (want & ABUT_WANT_STRAIN)) rc = measure_bend(ms, f->x, out, err);
    if (!rc && (want & ABUT_WANT_TOTALS)) rc = measure_totals(ms, f, time, out, err);
    return rc;
}

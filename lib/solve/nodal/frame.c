/* Results of a step of hard contact: the next frame, the report, and the records of its contacts. */
#include "base/order.h"
#include "contact/intersect.h"
#include "energy/curved_rod.h"
#include "energy/elastic.h"
#include "energy/term.h"
#include "math/mat3.h"
#include "math/vec3.h"
#include "solve/nodal/coulomb_inline.h"
#include "solve/nodal/nodal.h"
#include "solve/search/equilibrium.h"
#include "solve/step/measures.h"
#include "solve/step/step_parts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
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

/* ---- turns under load ---- */

/* The stress of a body that turns under a load acts at the end of a step, where the body has turned, so its work differs from the
 * change of its energy U by
 *
 *     A = U(x') - U(x) - dU/dx(x') . (x' - x),    a gain where loads press: of F at the radius R about F R (turn)^2 / 2
 *
 * less what stress damps: in a body of many nodes as the places that touch pass on; in one of 4, as a frame, in impacts alone,
 * so that there A is that of the moments of impulses J, 1/2 w . sum (d' - d) x J with d from the middle.
 *
 * A contact that closes a gap by the end of the step bears in all of it, and takes
 *
 *     G = sum r_N (gap closed) / h
 *
 * though what bore in the step before would have borne on meanwhile.  As a body rolls, A and G balance in the mean over many
 * steps, but not if its sides pass in time with the steps: then its speed grows or falls.  So the next frame starts with a
 * rotation that has A less and G more, of G the part that is no impact.  Positions stay. */

#define RESTS 10        /* times the tolerance: what is slower is at rest */
#define TURNS 0.5       /* of the energy about the middle: what deforms more does not turn as a whole */
#define ONE_SIDED 0.5   /* of the impulses of contacts remain in their sum: between two sides these decide the turn */
#define SIDE 20.0       /* G over A at most: twice the steps that a side takes */
#define MOST_TURN 0.1   /* of the energy of rotation across the load, that a step changes */
#define FLAT 1e-9       /* determinant of an inertia over its trace cubed, of points on a line */

/* One object, about its middle. */
typedef struct turning {
    double mass, nodes, held;       /* kg; nodes, and those with prescribed motion */
    double energy2;                 /* J: twice the kinetic energy */
    abut_vec3 middle, v;            /* at the end */
    abut_vec3 spin, l, moment;      /* w, angular momentum, 1/2 sum (d' - d) x J */
    double place[9];                /* kg m^2: sum of d (M d)^T, d from the middle */
    abut_vec3 bore, bears;          /* N s: impulse of the step before, and of this one */
    double pressed, gained, taken;  /* N s, J: sum of all |r|, A, G */
    int turns;
} turning;

/* Fields of a step at the nodes. */
typedef struct turned {
    const double *x, *v;            /* the end */
    double *Mx, *Mv;                /* M x, M v */
} turned;

static void add_middle(const abut_nodal *s, const turned *at, size_t i, turning *o)
{
    o->mass += s->objective.model->mass[i];
    o->nodes++;
    o->held += s->objective.held[i];
    o->middle = abut_v3_add(o->middle, abut_v3_get(at->Mx + 3 * i));
    o->v = abut_v3_add(o->v, abut_v3_get(at->Mv + 3 * i));
}

static void add_turn(const abut_nodal *s, const turned *at, size_t i, turning *o)
{
    const abut_vec3 d = abut_v3_sub(abut_v3_get(at->x + 3 * i), o->middle), Mv = abut_v3_get(at->Mv + 3 * i);
    const abut_vec3 moved = abut_v3_diff(at->x + 3 * i, s->objective.xn + 3 * i), J = abut_v3_get(s->of.impulse + 3 * i);
    const abut_vec3 turn = abut_v3_sub(moved, abut_v3_scale(s->objective.model->h[0], o->v));
    const double by[3] = { d.x, d.y, d.z };
    for (size_t k = 0; k < 9; k++) o->place[k] += by[k / 3] * at->Mx[3 * i + k % 3];
    o->energy2 += abut_v3_dot(abut_v3_sub(abut_v3_get(at->v + 3 * i), o->v), Mv);
    o->l = abut_v3_add(o->l, abut_v3_cross(d, Mv));
    o->bore = abut_v3_add(o->bore, abut_v3_get(s->of.bore + 3 * i));
    o->bears = abut_v3_add(o->bears, J);
    o->moment = abut_v3_add(o->moment, abut_v3_scale(0.5, abut_v3_cross(turn, J)));
}

/* Sets o->spin, and o->turns: whether it turns as a whole, freely, and faster than the residual of the solver. */
static void find_spin(const abut_model *m, turning *o)
{
    double inertia[9], inverse[9], l[3], spin[3] = { 0 };
    const double slow = RESTS * m->tolerance[0];
    const double trace = o->place[0] + o->place[4] + o->place[8];
    for (int k = 0; k < 9; k++) inertia[k] = (k % 4 ? 0 : trace) - o->place[k];
    const double det = abut_m3_inverse(inverse, inertia);
    if (o->held > 0 || !(o->mass > 0) || !(det > FLAT * trace * trace * trace)) return;
    abut_v3_put(l, o->l);
    abut_m3_add_times(spin, inverse, l);
    o->spin = abut_v3_get(spin);
    o->turns = o->energy2 > o->mass * slow * slow && abut_v3_dot(o->spin, o->l) > TURNS * o->energy2;
}

/* Returns the work of the normal impulse r_N of contact c as its gap closes in the step, J; below 0: it opens.  s->of.y1 has the
 * end.  *size: |r|, N s. */
static double closing_work(const abut_nodal *s, size_t c, double *size)
{
    const abut_touching *t = &s->contacts;
    const int32_t *vert = t->key[c].vert;
    const double *n = t->normal + 3 * c;
    double r[3], closed = 0;
    abut_touching_impulse(t, c, r);
    for (int k = 0; k < 4 && vert[k] >= 0; k++)
        for (size_t d = 0, at = 3 * (size_t)vert[k]; d < 3; d++)
            closed -= t->w[c][k] * n[d] * (s->of.y1[at + d] - s->of.y0[at + d]);
    *size = abut_v3_norm(abut_v3_get(r));
    return fmax(0, r[0] * n[0] + r[1] * n[1] + r[2] * n[2]) * closed / s->objective.model->h[0];
}

/* Adds the impulse of contact c to both of its objects, and its part of G to those that turn. */
static void add_contact(const abut_nodal *s, size_t c, turning *of)
{
    const abut_touch_key *key = &s->contacts.key[c];
    const int second = key->plane >= 0 ? 1 : abut_stencil_second((abut_stencil)key->kind);
    turning *a = &of[abut_collmesh_object(&s->objective.cm, key->vert[0])];
    turning *b = key->plane >= 0 ? NULL : &of[abut_collmesh_object(&s->objective.cm, key->vert[second])];
    double size;
    const double G = fmax(0, closing_work(s, c, &size)) / (a->turns && b && b->turns ? 2 : 1);
    a->pressed += size;
    a->taken += G;
    if (b) b->pressed += size, b->taken += G;
}

/* The change of the spin, by rotation across the load. */
static abut_vec3 change_of_spin(const turning *o)
{
    const double load2 = abut_v3_norm2(o->bears), along = abut_v3_dot(o->spin, o->bears);
    if (!o->turns || !(sqrt(load2) > ONE_SIDED * o->pressed)) return abut_v3(0, 0, 0);
    const abut_vec3 roll = abut_v3_sub(o->spin, abut_v3_scale(along / load2, o->bears));
    const double energy2 = abut_v3_dot(o->l, roll), most = MOST_TURN / 2;
    const double steady = fmax(0, fmin(1, abut_v3_dot(o->bore, o->bears) / load2));
    const double gained = fmax(0, o->gained), less = gained - fmin(steady * o->taken, SIDE * gained);
    return abut_v3_scale(energy2 > 0 ? -fmax(-most, fmin(most, less / energy2)) : 0, roll);
}

/* Sets A of the objects that turn; Simpson's rule is exact where U is of degree 4 along the step. */
static abut_status find_gains(abut_nodal *s, const turned *at, turning *of, abut_err *err)
{
    const abut_objective *p = &s->objective;
    const double share[3] = { 1. / 6, 4. / 6, 1. / 6 - 1 };
    const abut_mark mark = abut_arena_mark(&s->scratch);
    const size_t n3 = 3 * (size_t)p->model->nv;
    double *x = ABUT_NEW(&s->scratch, double, n3 + 1), *gain = ABUT_NEW(&s->scratch, double, n3 + 1);
    abut_status rc = x && gain ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "energy of a turn: %zu numbers", n3);
    int many = 0;
    for (turning *o = of; o < of + p->model->no; o++) {
        o->gained = o->nodes > 4 ? 0 : abut_v3_dot(o->spin, o->moment);
        many |= o->turns && o->nodes > 4;
    }
    for (int k = 0; k < 3 && many && !rc; k++) {
        for (size_t i = 0; i < n3; i++) x[i] = k == 1 ? 0.5 * (p->xn[i] + at->x[i]) : k ? at->x[i] : p->xn[i];
        const abut_at here = abut_objective_at(p, x, NULL, NULL);
        rc = abut_objective_potential_gradient(p, &here, share[k], gain, &s->scratch, err);
    }
    for (size_t i = 0; i < n3 && many && !rc; i++)
        if (of[p->model->body[i / 3]].nodes > 4) of[p->model->body[i / 3]].gained += gain[i] * (at->x[i] - p->xn[i]);
    abut_arena_release(&s->scratch, mark);
    return rc;
}

/* Changes v[3 nv], the velocities at the end x[3 nv] of the step, so. */
static abut_status keep_energy(abut_nodal *s, const double *x, double *v, abut_err *err)
{
    const abut_objective *p = &s->objective;
    const abut_model *m = p->model;
    const abut_mass *M = abut_mass_of(&p->terms);
    const turned at = { x, v, s->of.x, s->state.rhs };
    const abut_mark mark = abut_arena_mark(&s->scratch);
    turning *of = ABUT_NEW(&s->scratch, turning, (size_t)m->no + 1);
    assert(x != v);
    if (!of) return abut_fail(err, ABUT_E_NOMEM, "rotation of %d objects", m->no);
    abut_mass_multiply(M, x, at.Mx);
    abut_mass_multiply(M, v, at.Mv);
    abut_collmesh_positions(&p->cm, x, s->of.y1);
    for (size_t i = 0; i < (size_t)m->nv; i++) add_middle(s, &at, i, &of[m->body[i]]);
    for (turning *o = of; o < of + m->no; o++) {
        o->middle = abut_v3_scale(o->mass > 0 ? 1 / o->mass : 0, o->middle);
        o->v = abut_v3_scale(o->mass > 0 ? 1 / o->mass : 0, o->v);
    }
    for (size_t i = 0; i < (size_t)m->nv; i++) add_turn(s, &at, i, &of[m->body[i]]);
    for (turning *o = of; o < of + m->no; o++) find_spin(m, o);
    const abut_status rc = find_gains(s, &at, of, err);
    for (size_t c = 0; c < s->contacts.n; c++) add_contact(s, c, of);
    for (turning *o = of; o < of + m->no; o++) o->spin = change_of_spin(o);
    for (size_t i = 0; i < (size_t)m->nv && !rc; i++) {
        const turning *o = &of[m->body[i]];
        const abut_vec3 change = abut_v3_cross(o->spin, abut_v3_sub(abut_v3_get(x + 3 * i), o->middle));
        abut_v3_put(v + 3 * i, abut_v3_add(abut_v3_get(v + 3 * i), change));
    }
    abut_arena_release(&s->scratch, mark);
    return rc;
}

/* Writes the largest entry of the residual of momentum at x, the end of the step: dE/dx / h - B^T r; as a fraction of the largest
 * entry of its parts (inertia and loads, all other forces, impulses of contacts) and of the momenta of nodes.  Overwrites of.x,
 * state.rhs and state.next. */
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

/* Reports the smallest gap of all pairs nearer than dhat at the end of the step, also of those that the step did not solve. */
static abut_status report_gap(const abut_nodal *s, const double *x, abut_report *rep, abut_err *err)
{
    const abut_collmesh *cm = &s->objective.cm;
    abut_candidates near = { 0 };
    abut_pairs pairs = { 0 };
    rep->min_gap = -1;
    if (!cm->nc) return ABUT_OK;
    abut_collmesh_positions(cm, x, s->of.y1);
    abut_status rc = abut_candidates_find(cm, s->of.y1, NULL, s->objective.model->dhat[0], cm->obstacle, &near, err);
    if (!rc) rc = abut_pairs_find(cm, &near, s->of.y1, cm->obstacle, &pairs, err);
    if (!rc) abut_step_report_gap(cm, &pairs, rep);
    if (rc == ABUT_E_GEOM) rc = ABUT_OK;    /* within rounding of a thickness: the judge has let it pass */
    abut_pairs_clear(&pairs);
    abut_candidates_clear(&near);
    return rc;
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

static abut_status report(abut_nodal *s, const double *x, const double *v, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->objective;
    abut_report_plain(p, x, v, rep);
    rep->contact = !p->cm.nc ? ABUT_CONTACT_OFF : ABUT_CONTACT_HARD;
    report_contacts(s, rep);
    abut_newton_solve_stats(&s->solve, rep);
    abut_status rc = report_gap(s, x, rep, err);
    if (!rc) rc = balance(s, x, &rep->nodal.balance_residual, err);
    return rc ? rc : abut_objective_potential(p, x, &rep->elastic, &s->scratch, err);
}

/* Watches the energies of the report.  Springs of contacts and cohesion work, too. */
static abut_status watch(abut_nodal *s, const double *x, abut_report *rep, abut_err *err)
{
    const abut_touching *t = &s->contacts;
    abut_watched of = { .objective = &s->objective, .step = s->from.step, .v = s->of.before, .acc = s->of.acc, .x = x, .hard = 1,
                        .keeps = s->opt.keeps };
    abut_collmesh_positions(&s->objective.cm, x, s->of.y1);
    for (size_t c = 0; c < t->n; c++) {
        double unread;
        of.opened += fmax(0, -closing_work(s, c, &unread));
        of.driven |= t->give[c] > 0 || t->cohesion[c] > 0;
    }
    abut_watch_begin(&s->watch, s->from.step, 0);
    return s->objective.w.inertia ? abut_watch_energy(&s->watch, &of, rep, &s->scratch, err) : ABUT_OK;
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
    if (s->contacts.n) rc = keep_energy(s, x, v, err);
    if (!rc) rc = put_impulse(s, s->from.step + 1, out, err);
    if (!rc) rc = abut_curved_rods_store(&p->terms, out, err);
    if (!rc) rc = abut_rigid_store(abut_elastic_of(&p->terms), out, err);
    rep->rigid_strain = abut_rigid_strain(abut_elastic_of(&p->terms), x, NULL, NULL);
    const void *rods = abut_terms_find(&p->terms, abut_term_curved_rods.name);
    if (rods) rep->nodal.twist_iterations = ((const abut_curved_rods *)rods)->iterations;
    if (!rc) rc = report(s, x, v, rep, err);
    return rc ? rc : watch(s, x, rep, err);
}

/* ---- the table of contacts ---- */

/* A contact and its index among all contacts. */
typedef struct placed {
    abut_touch_key key;
    size_t at;
} placed;

static int in_order(const void *pa, const void *pb)
{
    const placed *a = pa, *b = pb;
    const abut_touch_key *p = &a->key, *q = &b->key;
    if (p->round != q->round) return p->round < q->round ? -1 : 1;
    if ((p->plane < 0) != (q->plane < 0)) return p->plane < 0 ? -1 : 1;
    if (p->toi < q->toi || p->toi > q->toi) return p->toi < q->toi ? -1 : 1;
    if (p->kind != q->kind) return p->kind < q->kind ? -1 : 1;
    const int by = abut_compare(p->vert, q->vert, 4);
    if (by) return by;
    if (p->plane != q->plane) return p->plane < q->plane ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

/* Writes the impulse r[3] of contact c without cohesion, its normal part, and the velocity u[3] of its law; returns its state. */
static abut_touch_state contact_state(const abut_nodal *s, size_t c, double r[3], double *normal, double u[3])
{
    const abut_touching *t = &s->contacts;
    const double *rbar = t->rbar + 3 * c, *n = t->normal + 3 * c;
    double star[3], unread[3];
    abut_touching_velocity(t, c, s->state.p, u);
    for (int d = 0; d < 3; d++) {
        r[d] = rbar[d] / t->s[c];
        u[d] += t->give[c] * (r[d] - t->cohesion[c] * n[d]);
        star[d] = u[d] - rbar[d];
    }
    *normal = r[0] * n[0] + r[1] * n[1] + r[2] * n[2];
    return abut_coulomb_velocity(star, n, t->mu[c], unread);
}

/* Writes the point of the first primitive of a contact that is nearest to the second, at y[3 nc]. */
static void nearest(const abut_touch_key *k, const double *y, double point[3])
{
    double x[12], w[4] = { 1, 0, 0, 0 };
    const abut_stencil kind = (abut_stencil)k->kind;
    for (int i = 0; i < 4 && k->vert[i] >= 0; i++) memcpy(x + 3 * i, y + 3 * (size_t)k->vert[i], 3 * sizeof *x);
    if (k->plane < 0) (void)abut_closest(kind, x, w);
    point[0] = point[1] = point[2] = 0;
    for (int i = 0; i < (k->plane >= 0 ? 1 : abut_stencil_second(kind)); i++)
        for (int d = 0; d < 3; d++) point[d] += w[i] * x[3 * i + d];
}

/* Arrays of the contacts of a frame. */
typedef struct rows {
    int32_t *first, *node, *state;
    double *weight, *point, *normal, *impulse, *mu;
} rows;

static abut_status put_rows(const abut_touching *t, abut_arrays *out, rows *r, abut_err *err)
{
    const int64_t n = (int64_t)t->n, m = (int64_t)t->m;
    r->first = abut_frame_put(out, "touch/first", n, err);
    r->node = r->first ? abut_frame_put(out, "touch/node", m, err) : NULL;
    r->weight = r->node ? abut_frame_put(out, "touch/weight", m, err) : NULL;
    r->point = r->weight ? abut_frame_put(out, "touch/point", n, err) : NULL;
    r->normal = r->point ? abut_frame_put(out, "touch/normal", n, err) : NULL;
    r->impulse = r->normal ? abut_frame_put(out, "touch/impulse", n, err) : NULL;
    r->mu = r->impulse ? abut_frame_put(out, "touch/mu", n, err) : NULL;
    r->state = r->mu ? abut_frame_put(out, "touch/state", n, err) : NULL;
    return r->state ? ABUT_OK : err->code;
}

static abut_status put_contacts(abut_nodal *s, abut_arrays *out, abut_err *err)
{
    const abut_touching *t = &s->contacts;
    rows r = { 0 };
    if (!t->n) return ABUT_OK;
    placed *order = malloc(t->n * sizeof *order);
    double *x = malloc(3 * (size_t)s->objective.model->nv * sizeof *x);
    abut_status rc = order && x ? put_rows(t, out, &r, err) : abut_fail(err, ABUT_E_NOMEM, "table of %zu contacts", t->n);
    int32_t at = 0;
    for (size_t i = 0; i < t->n && !rc; i++) order[i] = (placed){ t->key[i], i };
    if (!rc) qsort(order, t->n, sizeof *order, in_order);
    if (!rc) abut_nodal_end(s, x);
    if (!rc) abut_collmesh_positions(&s->objective.cm, x, s->of.y1);
    for (size_t i = 0; i < t->n && !rc; i++) {
        const size_t c = order[i].at;
        double normal, u[3], impulse[3];
        r.state[i] = (int32_t)contact_state(s, c, impulse, &normal, u);
        r.first[2 * i] = at;
        for (int32_t e = t->first[c]; e < t->first[c + 1]; e++, at++) r.node[at] = t->node[e], r.weight[at] = t->b[e];
        r.first[2 * i + 1] = at;
        nearest(&t->key[c], s->of.y1, r.point + 3 * i);
        memcpy(r.normal + 3 * i, t->normal + 3 * c, 3 * sizeof *r.normal);
        abut_touching_impulse(t, c, r.impulse + 3 * i);
        r.mu[i] = t->mu[c];
    }
    ABUT_FREE(order, x);
    return rc;
}

/* ---- forces and energies ---- */

/* Sums of the impulses of contacts, divided by h: by slots of the collision mesh, and by half-spaces. */
typedef struct received {
    double *node, *slot;        /* [3 nv]; [3 nc] if W is no selection */
    double *plane;              /* [3 nh] or NULL: there are none */
} received;

static abut_status put_received(const abut_nodal *s, const char *node, const char *plane, abut_arrays *out, abut_arena *scratch,
                                received *r, abut_err *err)
{
    const abut_model *m = s->objective.model;
    *r = (received){ .node = abut_frame_put(out, node, m->nv, err) };
    if (r->node && m->nh) r->plane = abut_frame_put(out, plane, m->nh, err);
    if (!r->node || (m->nh && !r->plane)) return err->code;
    r->slot = abut_collmesh_sum_begin(&s->objective.cm, r->node, scratch);
    return r->slot ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "forces of %zu contacts", s->contacts.n);
}

/* Adds the force f[3] of contact c on its first primitive, and its opposite on the second. */
static void receive(const abut_nodal *s, size_t c, const double f[3], received *r)
{
    const abut_touch_key *key = &s->contacts.key[c];
    const double *w = s->contacts.w[c];
    for (int k = 0; k < 4 && key->vert[k] >= 0; k++) {
        double *to = r->slot + 3 * (size_t)abut_collmesh_slot(&s->objective.cm, key->vert[k]);
        for (int d = 0; d < 3; d++) to[d] += w[k] * f[d];
    }
    for (int d = 0; d < 3 && key->plane >= 0; d++) r->plane[3 * (size_t)key->plane + (size_t)d] -= f[d];
}

static abut_status put_contact_forces(abut_nodal *s, abut_arrays *out, abut_err *err)
{
    const abut_touching *t = &s->contacts;
    const abut_collmesh *cm = &s->objective.cm;
    const double h = s->objective.model->h[0];
    const abut_mark mark = abut_arena_mark(&s->scratch);
    received normal, friction;
    abut_status rc = put_received(s, "node/contact-force", "half-space/contact-force", out, &s->scratch, &normal, err);
    if (!rc) rc = put_received(s, "node/friction-force", "half-space/friction-force", out, &s->scratch, &friction, err);
    if (rc) return rc;
    for (size_t c = 0; c < t->n; c++) {
        const double *n = t->normal + 3 * c;
        double r[3], along[3], across[3];
        abut_touching_impulse(t, c, r);
        const double r_n = r[0] * n[0] + r[1] * n[1] + r[2] * n[2];
        for (int d = 0; d < 3; d++) along[d] = r_n * n[d] / h, across[d] = (r[d] - r_n * n[d]) / h;
        receive(s, c, along, &normal);
        receive(s, c, across, &friction);
    }
    abut_collmesh_sum_end(cm, normal.slot, normal.node);
    abut_collmesh_sum_end(cm, friction.slot, friction.node);
    abut_arena_release(&s->scratch, mark);
    return ABUT_OK;
}

/* Writes the residual of the momentum balance at prescribed nodes: the reaction force. */
static abut_status put_reaction(abut_nodal *s, abut_arrays *out, abut_err *err)
{
    const abut_objective *p = &s->objective;
    const int32_t nv = p->model->nv;
    const size_t n3 = 3 * (size_t)nv;
    const abut_solved end = { .objective = p, .x = abut_arrays_find(out, "node/x")->data, .y = s->of.y1, .v0 = s->of.before,
                              .v = abut_arrays_find(out, "node/v")->data, .acc0 = s->of.acc, .acc = s->of.acc };
    const abut_mark mark = abut_arena_mark(&s->scratch);
    double *f = abut_frame_put(out, "node/reaction-force", nv, err);
    abut_forces now = { abut_arrays_find(out, "node/contact-force")->data, abut_arrays_find(out, "node/friction-force")->data,
                        ABUT_NEW(&s->scratch, double, n3 + 1), ABUT_NEW(&s->scratch, double, n3 + 1) };
    if (!f) return err->code;
    if (!now.damping || !now.elastic) return abut_fail(err, ABUT_E_NOMEM, "forces on %d nodes", nv);
    abut_status rc = abut_force(&end, ABUT_TERM_DAMPING, now.damping, &s->scratch, err);
    if (!rc) rc = abut_force_elastic(&end, end.x, now.elastic, &s->scratch, err);
    if (!rc) rc = abut_balance(&end, &now, &now, f, &s->scratch, err);
    for (size_t i = 0; i < n3 && !rc; i++)
        if (!p->held[i / 3]) f[i] = 0;
    abut_arena_release(&s->scratch, mark);
    return rc;
}

static abut_status put_number(abut_arrays *out, const char *name, double value, abut_err *err)
{
    double *to = abut_frame_put(out, name, 1, err);
    if (!to) return err->code;
    *to = value;
    return ABUT_OK;
}

/* Returns sum r_T . u_T, J: at most 0, up to rounding. */
static double friction_work(const abut_nodal *s)
{
    double sum = 0;
    for (size_t c = 0; c < s->contacts.n; c++) {
        const double *n = s->contacts.normal + 3 * c;
        double r[3], u[3], normal;
        (void)contact_state(s, c, r, &normal, u);
        for (int d = 0; d < 3; d++) sum += (r[d] - normal * n[d]) * u[d];
    }
    return sum;
}

static abut_status put_energies(abut_nodal *s, abut_arrays *out, abut_err *err)
{
    const abut_mass *mass = abut_mass_of(&s->objective.terms);
    const double *x = abut_arrays_find(out, "node/x")->data, *v = abut_arrays_find(out, "node/v")->data;
    double elastic;
    abut_status rc = abut_objective_potential(&s->objective, x, &elastic, &s->scratch, err);
    if (!rc) rc = put_number(out, "energy/kinetic", abut_kinetic_energy(mass, v), err);
    if (!rc) rc = put_number(out, "energy/elastic", elastic, err);
    if (!rc) rc = put_number(out, "energy/gravity", abut_gravity_energy(mass, x), err);
    if (!rc) rc = put_number(out, "work/friction", friction_work(s), err);
    double *p = rc ? NULL : abut_frame_put(out, "momentum/linear", 3, err);
    if (p) abut_linear_momentum(mass, v, p);
    double *l = p ? abut_frame_put(out, "momentum/angular", 3, err) : NULL;
    if (l) abut_angular_momentum(mass, x, v, l);
    double *c = l ? abut_frame_put(out, "mass/center", 3, err) : NULL;
    if (c) abut_mass_center(mass, x, c);
    return rc ? rc : c ? ABUT_OK : err->code;
}

abut_status abut_nodal_put_record(abut_nodal *s, int with, abut_arrays *out, abut_err *err)
{
    const int first = out->n;
    abut_status rc = with & ABUT_WITH_CONTACTS ? put_contacts(s, out, err) : ABUT_OK;
    if (!rc && with & ABUT_WITH_FORCES) rc = put_contact_forces(s, out, err);
    if (!rc && with & ABUT_WITH_FORCES) rc = put_reaction(s, out, err);
    if (!rc && with & ABUT_WITH_ENERGIES) rc = put_energies(s, out, err);
    if (!rc) abut_frame_sort(out, first);
    return rc;
}

/* ---- error of contact forces ---- */

/* Estimates how far the contact forces of a step are from those of its last linear problem solved exactly.
 *
 * F is the sum of contact and friction forces on an object.  The iterations go on: F1 is the sum after one more projection, with
 * more sweeps; F2 after iterations that lower the residual of momentum and of the law to SMALLER of its value.
 *
 *     law     = |F1 - F|              change by further sweeps over the laws of contact
 *     balance = |F2 - F1| / (1 - q)   change by further iterations, continued as a geometric series; q is the last residual
 *                                     divided by the first, at most RATIO_MAX */

#define SMALLER 0.01
#define RATIO_MAX 0.5
#define FAINT 1e-10     /* residual below which rounding counts */
enum { MORE = 2 };      /* iterations at most, as a multiple of those of a linearisation */

/* Writes to f[no], N, the sums of contact and friction forces, and raises most[no] to the sums of their magnitudes. */
static void sum_forces(const abut_nodal *s, double (*f)[3], double *most)
{
    const abut_touching *t = &s->contacts;
    const double h = s->objective.model->h[0];
    const int32_t no = s->objective.model->no;
    double *size = f[no];
    memset(f, 0, 4 * (size_t)no * sizeof **f);
    for (size_t c = 0; c < t->n; c++) {
        double r[3];
        abut_touching_impulse(t, c, r);
        for (int k = 0; k < 4 && t->key[c].vert[k] >= 0; k++) {
            const int32_t o = abut_collmesh_object(&s->objective.cm, t->key[c].vert[k]);
            const double w = t->w[c][k] / h;
            for (int d = 0; d < 3; d++) f[o][d] += w * r[d];
            size[o] += fabs(w) * sqrt(abut_v3_norm2(abut_v3_get(r)));
        }
    }
    for (int32_t o = 0; o < no; o++) most[o] = fmax(most[o], size[o]);
}

/* Writes to most[no], N, the largest force on each object, without contact, at the end of the step. */
static abut_status find_largest(abut_nodal *s, double *most, abut_err *err)
{
    const abut_objective *p = &s->objective;
    abut_equilibrium unread;
    abut_nodal_end(s, s->of.x);
    abut_point_set(&s->at, p, s->of.x, 0, NULL);
    s->at.has |= ABUT_HAS_CONTACTS;     /* none: the objective of this stepper has no contacts */
    const abut_status rc = abut_point_evaluate(&s->at, p, ABUT_HAS_GRADIENT, NULL, &s->scratch, err);
    return rc ? rc : abut_equilibrium_find(p, &s->at, NULL, &unread, most, &s->scratch, err);
}

abut_status abut_nodal_put_error(abut_nodal *s, abut_arrays *out, abut_report *rep, abut_err *err)
{
    const size_t no = (size_t)s->objective.model->no;
    double (*error)[3] = (double (*)[3])abut_frame_put(out, "object/contact-error", (int64_t)no, err);
    if (!error) return err->code;
    memset(error, 0, no * sizeof *error);
    if (!s->contacts.n) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(&s->scratch);
    double *sums = ABUT_NEW(&s->scratch, double, 12 * no), *most = ABUT_NEW(&s->scratch, double, no);
    if (!sums || !most) return abut_fail(err, ABUT_E_NOMEM, "error of contact forces: %zu objects", no);
    double (*F)[3] = (double (*)[3])sums, (*F1)[3] = (double (*)[3])(sums + 4 * no), (*F2)[3] = (double (*)[3])(sums + 8 * no);
    abut_status rc = find_largest(s, most, err);
    sum_forces(s, F, most);
    if (!rc) rc = abut_nodal_refine(s, 1, 1, err);
    const double first = s->state.unbalanced;
    sum_forces(s, F1, most);
    if (!rc && first > FAINT) rc = abut_nodal_refine(s, SMALLER * first, MORE * s->opt.admm.iterations, err);
    const double q = first > FAINT ? fmin(s->state.unbalanced / first, RATIO_MAX) : 0;
    sum_forces(s, F2, most);
    for (size_t o = 0; o < no && !rc; o++) {
        error[o][ABUT_ERROR_BALANCE] = abut_v3_norm(abut_v3_diff(F2[o], F1[o])) / (1 - q);
        error[o][ABUT_ERROR_PASSES] = abut_v3_norm(abut_v3_diff(F1[o], F[o]));
    }
    if (!rc) abut_step_report_error((const double (*)[3])error, most, (int32_t)no, rep);
    abut_arena_release(&s->scratch, mark);
    return rc;
}

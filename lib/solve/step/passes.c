/* The friction passes of a step: the normal forces of the next one, and results that are kept. */
#include "solve/step/step_parts.h"

#include "base/order.h"
#include "base/timer.h"
#include "energy/barrier.h"
#include "energy/codim.h"
#include "math/svd3.h"
#include "solve/search/search_ops.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Newton's method ---- */

/* Newton's method on the fixed point of lagged friction.
 *
 * A pass with normal forces l minimises to x(l); refreshed there, they are L(x).  The passes end where L(x(l)) = l.  With F(x),
 * the gradient whose friction has the forces L(x) and the sliding planes of x, and J its derivative, the Newton step of the pair
 * (x, l) is d = -J^-1 F(x), and the next pass takes l' = L(x) + L'(x) d.  J is not symmetric.  Its products are differences of F,
 * so they know every term; GCR (Eisenstat, Elman and Schultz 1983) solves with it, preconditioned by the Newton matrix.  A force
 * follows its linear model to half of L(x) or twice as much, no further: at the first touch the model is far from the truth. */

enum { PRODUCTS = 40 };
#define CLOSE 0.01          /* residual of GCR, relative */
#define APART 1e-5          /* of the smallest gap: step of differences */
#define FEWER 0.5           /* least and most that the next force is of the present one */
#define MORE 2.0

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void add(size_t n, double s, const double *a, double *to)
{
    for (size_t i = 0; i < n; i++) to[i] += s * a[i];
}

/* Computes F at a point near the iterate; the friction term then has the friction of that point. */
static abut_status gradient_near(abut_search *so, abut_point *at, abut_report *rep, abut_err *err)
{
    abut_objective *o = &so->prob;
    abut_status rc = so->ops->points.evaluate(so, at, ABUT_HAS_CONTACTS, rep, err);
    if (!rc) rc = abut_lag_freeze(&o->cm, &at->pairs, at->y, abut_barrier_state_of(&o->terms)->kappa, o->w.h_force,
                                  abut_lag_of(&o->terms), err);
    at->has &= ABUT_HAS_CONTACTS;
    return rc ? rc : so->ops->points.evaluate(so, at, ABUT_HAS_GRADIENT, rep, err);
}

/* q[n] = H^-1 J p, H the Newton matrix; work[n] */
static abut_status product(abut_search *so, const double *p, double *q, double *work, abut_report *rep, abut_err *err)
{
    const size_t n = 3 * (size_t)so->prob.model->nv;
    const double gap = fmin(abut_pairs_smallest_gap(&so->prob.cm, &so->here.pairs, NULL), abut_least_dhat(so->prob.model));
    const double step = APART * gap / abut_largest(p, n);
    abut_point_set(&so->trial, &so->prob, so->here.x, step, p);
    abut_status rc = gradient_near(so, &so->trial, rep, err);
    for (size_t i = 0; i < n && !rc; i++) work[i] = (so->here.g[i] - so->trial.g[i]) / step;
    return rc ? rc : so->ops->correct.resolve(so, work, q, rep, err);
}

/* d[n] = -J^-1 F, where so->p = -H^-1 F */
static abut_status coupled_direction(abut_search *so, double *d, abut_report *rep, abut_err *err)
{
    const size_t n = 3 * (size_t)so->prob.model->nv;
    double *p[PRODUCTS] = { NULL }, *r = malloc(2 * n * sizeof *r);
    abut_status rc = r ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "friction passes: %zu numbers", n);
    if (!rc) memcpy(r, so->p, n * sizeof *r);
    const double wanted = rc ? 0 : CLOSE * sqrt(dot(n, r, r));
    for (int m = 0; m < PRODUCTS && !rc && sqrt(dot(n, r, r)) > wanted; m++) {
        if (!(p[m] = malloc(2 * n * sizeof **p))) rc = abut_fail(err, ABUT_E_NOMEM, "friction passes: %zu numbers", n);
        if (rc) break;
        double *q = p[m] + n;
        memcpy(p[m], r, n * sizeof *r);
        rc = product(so, p[m], q, r + n, rep, err);
        for (int k = 0; k < m && !rc; k++) {
            const double by = dot(n, q, p[k] + n);
            add(n, -by, p[k] + n, q);
            add(n, -by, p[k], p[m]);
        }
        const double size = rc ? 0 : sqrt(dot(n, q, q));
        if (!(size > 0)) break;
        for (size_t i = 0; i < 2 * n; i++) p[m][i] /= size;
        const double by = dot(n, r, q);
        add(n, by, p[m], d);
        add(n, -by, q, r);
    }
    for (int m = 0; m < PRODUCTS; m++) free(p[m]);
    free(r);
    return rc;
}

/* Moves the normal forces of the term, which abut_step_refresh has refreshed, along the displacement d. */
static abut_status follow(abut_search *so, const double *d, abut_err *err)
{
    const abut_objective *o = &so->prob;
    abut_lag *lag = abut_lag_of(&o->terms);
    double (*per)[3] = malloc((lag->n + 1) * sizeof *per);
    if (!per) return abut_fail(err, ABUT_E_NOMEM, "friction passes: %zu contacts", lag->n);
    abut_lag_slopes(&o->cm, &so->here.pairs, so->here.y, abut_barrier_state_of(&o->terms)->kappa, o->w.h_force, per);
    for (size_t i = 0; i < lag->n; i++) {
        double r[3];
        const double l = lag->force[i];
        abut_friction_relative(lag, i, d, r);
        lag->force[i] = fmin(fmax(l + dot(3, per[i], r), FEWER * l), MORE * l);
    }
    free(per);
    return ABUT_OK;
}

int abut_step_can_follow(const abut_stepper *s)
{
    const abut_search *so = &s->solver;
    return !so->opt->device.place.ops && so->ops->correct.can(so) && abut_lag_of(&so->prob.terms)->n > 0;
}

abut_status abut_step_follow(abut_stepper *s, abut_report *rep, abut_err *err)
{
    abut_search *so = &s->solver;
    abut_lag *lag = abut_lag_of(&so->prob.terms), refreshed = *lag;
    const double clock = abut_time_wall();
    double *d = calloc(3 * (size_t)so->prob.model->nv + 1, sizeof *d);
    if (!d) return abut_fail(err, ABUT_E_NOMEM, "friction passes: %d nodes", so->prob.model->nv);
    *lag = (abut_lag){ 0 };     /* products write to it */
    abut_status rc = coupled_direction(so, d, rep, err);
    abut_lag_clear(lag);
    *lag = refreshed;
    so->here.has &= ABUT_HAS_CONTACTS;
    if (!rc) rc = follow(so, d, err);
    free(d);
    rep->seconds.friction += abut_time_wall() - clock;
    return rc;
}

/* ---- the first frame ---- */

/* Normal forces of a first frame, where gaps are not yet those of forces.  Contact forces between two bodies keep their
 * proportions; k_j, the size of those of meeting j over what the gaps say, is such that bodies balance as if they were rigid:
 *
 *     F_b + sum over meetings j of body b of k_j G_jb = 0,    0 <= k_j <= most_j
 *
 * F_b   sum of the forces on body b but those of contact, with inertia
 * G_jb  sum of those of the contacts of meeting j at k_j = 1
 * Bodies are nodes that elements connect; one with prescribed nodes takes any force.  Kaczmarz' method from k = 1, body by body,
 * leaves squeezes that no force on a body tells.  Contacts push, so no gap ends the step below where inertia leads: most_j is
 * what acts there.  Meetings without a free body, or
 * whose forces cancel, take the least squares of abut_objective_balance, at most 1. */

enum { SWEEPS_MOST = 2000 };
#define SWEEPS_CLOSE 1e-6       /* largest change of a k, over its value */
#define TOLD 0.01               /* |G| over the sum of the normal forces, from which on equilibrium tells k */
#define RANK 1e-6               /* singular values of sum G G^T over the largest: less is 0 */

/* Forces in kg m, as in the gradient of the objective. */
typedef struct meeting {
    int32_t body[2];            /* -1: takes any force */
    double force[3];            /* on the first body at k = 1 */
    double now, ahead;          /* sums of the normal forces at k = 1, and where inertia leads */
    double k, most;
} meeting;

/* One of a sorted list: a contact of two bodies, or a body in one of its meetings. */
typedef struct entry {
    int32_t by[2];
    size_t at;
} entry;

static int by_bodies(const void *a, const void *b)
{
    const entry *p = a, *q = b;
    for (int k = 0; k < 2; k++)
        if (p->by[k] != q->by[k]) return p->by[k] < q->by[k] ? -1 : 1;
    return (p->at > q->at) - (p->at < q->at);
}

static void join(int32_t *of, const int32_t *node, int n)
{
    for (int k = 1; k < n; k++)
        if (node[k] >= 0) abut_set_join(of, node[0], node[k]);
}

/* of[nv]: the first node of the body of a node, -1 if the body has prescribed nodes */
static void find_bodies(const abut_objective *o, int32_t *of)
{
    const abut_model *m = o->model;
    const struct { const int32_t *node; int32_t n, width; } sets[] = {
        { m->shell, m->nsh, 3 }, { m->rod, m->nrd, 2 }, { m->spring, m->nsp, 2 }, { m->attach_node, m->na, 5 } };
    int32_t node[ABUT_TET_NODES_MAX];
    for (int32_t i = 0; i < m->nv; i++) of[i] = i;
    for (int32_t t = 0; t < m->nt; t++) join(of, node, abut_tet_corners(m, t, node));
    for (int k = 0; k < 4; k++)
        for (int32_t e = 0; e < sets[k].n; e++) join(of, sets[k].node + sets[k].width * (size_t)e, sets[k].width);
    for (int32_t i = 0; i < m->nv; i++) of[i] = abut_set_root(of, i);
    for (int32_t i = 0; i < m->nv; i++)
        if (o->held[i]) of[of[i] < 0 ? i : of[i]] = -1;
    for (int32_t i = 0; i < m->nv; i++)
        if (of[i] >= 0 && of[of[i]] < 0) of[i] = -1;
}

/* n[3]: the unit vector from the second primitive of a contact to the first.  Returns the change of their distance if nodes
 * move by p. */
static double apart(const abut_objective *o, const abut_point *at, size_t i, const double *p, double n[3])
{
    const abut_pairs *pairs = &at->pairs;
    double x[12], w[4] = { 1 }, q[3], change = 0;
    const int plane = i >= pairs->n, corners = plane ? 1 : abut_stencil_size((abut_stencil)pairs->kind[i]);
    const int32_t *v = plane ? pairs->plane_vert + (i - pairs->n) : pairs->vert[i];
    if (plane) memcpy(n, o->model->hs_normal + 3 * (size_t)pairs->plane[i - pairs->n], 3 * sizeof *n);
    else {
        (void)abut_dist2(abut_pairs_get(pairs, i, at->y, x), x, w);
        for (int d = 0; d < 3; d++) n[d] = 0;
        for (int k = 0; k < 3 * corners; k++) n[k % 3] += w[k / 3] * x[k];
        const double size = sqrt(dot(3, n, n));
        for (int d = 0; d < 3; d++) n[d] /= size;
    }
    for (int k = 0; k < corners; k++) {
        abut_collmesh_motion(&o->cm, p, v[k], q);
        change += w[k] * dot(3, n, q);
    }
    return change;
}

/* the normal force of contact i if its distance changes; the pairs of `at` are as before after it */
static double force_beyond(const abut_objective *o, abut_point *at, size_t i, double kappa, double change)
{
    abut_pairs *p = &at->pairs;
    const int plane = i >= p->n;
    double *to = plane ? p->plane_dist + (i - p->n) : p->dist2 + i;
    const double was = *to, d = (plane ? was : sqrt(was)) + change;
    if (!(d > (plane ? abut_pairs_plane_xi(&o->cm, p, i - p->n) : abut_pairs_xi(&o->cm, p, i)))) return INFINITY;
    *to = plane ? d : d * d;
    const double force = abut_barrier_force(&o->cm, p, at->y, kappa, 1, i);
    *to = was;
    return force;
}

/* The meetings of the contacts at a point, sorted by bodies; of[n + n_plane]: that of each contact.  motion[3 nv], m: of nodes,
 * by inertia. */
static size_t find_meetings(const abut_objective *o, abut_point *at, const int32_t *body, const double *motion, entry *list,
                            size_t *of, meeting *meet)
{
    const abut_pairs *p = &at->pairs;
    const size_t n = p->n + p->n_plane;
    const double kappa = abut_barrier_state_of(&o->terms)->kappa;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const int plane = i >= p->n;
        const int32_t a = plane ? p->plane_vert[i - p->n] : p->vert[i][0];
        const int32_t b = plane ? -1 : p->vert[i][abut_stencil_second((abut_stencil)p->kind[i])];
        list[i] = (entry){ { body[abut_collmesh_node(&o->cm, a)], b < 0 ? -1 : body[abut_collmesh_node(&o->cm, b)] }, i };
        if (list[i].by[0] < list[i].by[1]) list[i] = (entry){ { list[i].by[1], list[i].by[0] }, i };
    }
    qsort(list, n, sizeof *list, by_bodies);
    for (size_t k = 0; k < n; k++) {
        const size_t i = list[k].at;
        double normal[3];
        if (!k || memcmp(list[k].by, list[k - 1].by, sizeof list[k].by))
            meet[count++] = (meeting){ .body = { list[k].by[0], list[k].by[1] } };
        meeting *to = &meet[of[i] = count - 1];
        const int32_t first = i < p->n ? p->vert[i][0] : p->plane_vert[i - p->n];
        const double change = apart(o, at, i, motion, normal);
        const double force = abut_barrier_force(&o->cm, p, at->y, kappa, 1, i);
        const double sign = body[abut_collmesh_node(&o->cm, first)] == to->body[0] ? 1 : -1;
        for (int d = 0; d < 3; d++) to->force[d] += sign * force * normal[d];
        if (!(force > 0)) continue;
        to->now += force;
        to->ahead += o->w.inertia ? force_beyond(o, at, i, kappa, change) : INFINITY;
    }
    return count;
}

/* Changes k of the meetings of one body least, so that the forces on it, F with them, balance. */
static double balance_body(const double F[3], const entry *side, size_t n, int32_t body, meeting *meet)
{
    double r[3] = { -F[0], -F[1], -F[2] }, A[9] = { 0 }, U[9], s[3], V[9], z[3] = { 0 }, moved = 0;
    for (size_t k = 0; k < n; k++) {
        const meeting *j = &meet[side[k].at];
        const double sign = j->body[0] == body ? 1 : -1;
        for (int d = 0; d < 3; d++) r[d] -= sign * j->k * j->force[d];
        for (int d = 0; d < 9; d++) A[d] += j->force[d / 3] * j->force[d % 3];
    }
    abut_svd3(A, U, s, V);
    for (int c = 0; c < 3; c++) {
        if (!(fabs(s[c]) > RANK * fabs(s[0]))) continue;
        const double by = (U[c] * r[0] + U[3 + c] * r[1] + U[6 + c] * r[2]) / s[c];
        for (int d = 0; d < 3; d++) z[d] += by * V[3 * d + c];
    }
    for (size_t k = 0; k < n; k++) {
        meeting *j = &meet[side[k].at];
        const double was = j->k, sign = j->body[0] == body ? 1 : -1;
        j->k = fmin(fmax(was + sign * dot(3, j->force, z), 0), j->most);
        moved = fmax(moved, fabs(j->k - was) / fmax(j->k, was));
    }
    return moved;
}

/* F[3 nv]: the force on a body at its first node; side[2 count]: scratch. */
static void balance_bodies(const double *F, entry *side, meeting *meet, size_t count)
{
    size_t n = 0;
    for (size_t j = 0; j < count; j++)
        for (int b = 0; b < 2; b++)
            if (meet[j].body[b] >= 0 && meet[j].body[0] != meet[j].body[1])
                side[n++] = (entry){ { meet[j].body[b], 0 }, j };
    qsort(side, n, sizeof *side, by_bodies);
    double moved = 1;
    for (int sweep = 0; sweep < SWEEPS_MOST && moved > SWEEPS_CLOSE; sweep++) {
        moved = 0;
        for (size_t lo = 0, hi = 0; lo < n; lo = hi) {
            const int32_t body = side[lo].by[0];
            while (hi < n && side[hi].by[0] == body) hi++;
            moved = fmax(moved, balance_body(F + 3 * (size_t)body, side + lo, hi - lo, body, meet));
        }
    }
}

abut_status abut_step_balance_first(abut_search *s, abut_err *err)
{
    abut_objective *o = &s->prob;
    abut_pairs *p = &s->here.pairs, weighed = *p;
    const size_t n3 = 3 * (size_t)o->model->nv, n = p->n + p->n_plane;
    const double kappa = abut_barrier_state_of(&o->terms)->kappa;
    const abut_at at = abut_point_at(&s->here, o);
    const abut_mark mark = abut_arena_mark(&s->scratch);
    double *F = ABUT_NEW(&s->scratch, double, n3), *g = ABUT_NEW(&s->scratch, double, n3);
    double *mult = ABUT_NEW(&s->scratch, double, n);
    int32_t *body = ABUT_NEW(&s->scratch, int32_t, n3);
    entry *list = ABUT_NEW(&s->scratch, entry, 2 * n);
    size_t *of = ABUT_NEW(&s->scratch, size_t, n);
    meeting *meet = ABUT_NEW(&s->scratch, meeting, n);
    double local;
    abut_status rc = F && g && mult && body && list && of && meet
                         ? abut_objective_balance(o, &at, &local, &s->scratch, err)
                         : abut_fail(err, ABUT_E_NOMEM, "friction: %zu contacts of the first frame", n);
    if (!rc) rc = abut_objective_gradient(o, &at, ABUT_KINDS_SMOOTH, g, &s->scratch, err);
    if (!rc) {
        find_bodies(o, body);
        for (size_t i = 0; i < n3; i++) {
            if (body[i / 3] >= 0) F[3 * (size_t)body[i / 3] + i % 3] -= g[i];
            g[i] = (o->held[i / 3] ? o->target[i] : o->xhat[i]) - o->xn[i];
        }
        const size_t count = find_meetings(o, &s->here, body, g, list, of, meet);
        for (meeting *j = meet; j < meet + count; j++) {
            const int told = j->body[0] != j->body[1] && dot(3, j->force, j->force) > TOLD * TOLD * (j->now * j->now);
            if (!told) j->body[0] = j->body[1] = -1;
            j->most = o->w.inertia ? j->ahead / j->now : INFINITY;
            j->k = told ? fmin(1, j->most) : fmin(1, fmax(0, local / kappa));
        }
        balance_bodies(F, list, meet, count);
        weighed.mult = mult, weighed.plane_mult = mult + p->n;
        for (size_t i = 0; i < n; i++) mult[i] = meet[of[i]].k * (i < p->n ? p->mult[i] : p->plane_mult[i - p->n]);
        rc = abut_lag_freeze(&o->cm, &weighed, s->here.y, kappa, o->w.h_force, abut_lag_of(&o->terms), err);
    }
    abut_arena_release(&s->scratch, mark);
    return rc;
}

/* ---- change by one more pass ---- */

abut_status abut_step_lag_change(abut_stepper *s, abut_report *rep, abut_err *err)
{
    abut_search *so = &s->solver;
    const abut_objective *o = &so->prob;
    const abut_model *m = o->model;
    const size_t n3 = 3 * (size_t)m->nv;
    const abut_stiction law = abut_stiction_of(m, &o->step);
    const abut_lag *now = abut_lag_of(&o->terms);
    rep->lags = (struct abut_lag_report){ .parts = rep->lags.parts };
    if (!now->n && !s->solved_lag.n) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(&so->scratch);
    double *new = ABUT_NEW(&so->scratch, double, n3), *old = ABUT_NEW(&so->scratch, double, n3);
    double *body = ABUT_NEW(&so->scratch, double, 4 * ((size_t)m->no + 1));
    abut_status rc = new && old && body ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "friction passes: %d nodes", m->nv);
    if (!rc) rc = abut_lag_compare(now, &s->solved_lag, &rep->lags.change, &rep->lags.largest, err);
    if (!rc) rc = abut_friction_gradient(now, &law, m->nv, so->here.x, o->step.x_ref, new, &so->scratch, err);
    if (!rc) rc = abut_friction_gradient(&s->solved_lag, &law, m->nv, so->here.x, o->step.x_ref, old, &so->scratch, err);
    for (int32_t i = 0; i < m->nv && !rc; i++) {
        double *b = body + 4 * (size_t)m->body[i];
        if (o->row[i] < 0) continue;
        b[3] += m->mass[i];
        for (int d = 0; d < 3; d++) b[d] += new[3 * i + d] - old[3 * i + d];
    }
    const double weight = o->w.h_force * o->w.h_force;
    for (int32_t i = 0; i < m->no && !rc && o->w.inertia; i++) {
        const double *b = body + 4 * (size_t)i, force = sqrt(dot(3, b, b)) / weight;
        rep->lags.friction = fmax(rep->lags.friction, force);
        if (b[3] > 0) rep->lags.speed = fmax(rep->lags.speed, m->h[0] * force / b[3]);
    }
    abut_arena_release(&so->scratch, mark);
    return rc;
}

/* ---- results, for `adjoint` ---- */

int abut_step_keeps_passes(const abut_stepper *s)
{
    const abut_model *m = s->solver.prob.model;
    return s->solver.opt->passes.keep && m->lags[0] > 1 && abut_friction_acts(m);
}

static abut_status reserve(struct abut_stepper_kept *k, size_t n3, abut_err *err)
{
    if (k->n < k->room) return ABUT_OK;
    const size_t room = 2 * (size_t)k->room + 2;
    if (!ABUT_RESIZE(k->x, room * n3) || !ABUT_RESIZE(k->kappa, room) || !ABUT_RESIZE(k->strain_kappa, room))
        return abut_fail(err, ABUT_E_NOMEM, "results of %zu friction passes", room);
    k->room = (int)room;
    return ABUT_OK;
}

abut_status abut_step_keep_pass(abut_stepper *s, abut_err *err)
{
    struct abut_stepper_kept *k = &s->kept;
    const abut_objective *o = &s->solver.prob;
    const size_t n3 = 3 * (size_t)o->model->nv;
    const abut_status rc = reserve(k, n3, err);
    if (rc) return rc;
    memcpy(k->x + (size_t)k->n * n3, s->solver.here.x, n3 * sizeof *k->x);
    k->kappa[k->n] = abut_barrier_state_of(&o->terms)->kappa;
    k->strain_kappa[k->n] = abut_codim_state_of(&o->terms)->strain_kappa;
    k->n++;
    return ABUT_OK;
}

abut_status abut_step_put_passes(const abut_stepper *s, abut_arrays *out, abut_err *err)
{
    const struct abut_stepper_kept *k = &s->kept;
    const abut_objective *o = &s->solver.prob;
    const double weight = abut_step_end_weight(o);
    const int n = k->n - 1;
    assert(k->n == s->pass);
    int32_t *count = abut_frame_put(out, "pass/count", 1, err);
    if (!count) return err->code;
    *count = k->n;
    if (n == 0) return ABUT_OK;
    double *x = abut_frame_put(out, "pass/x", (int64_t)n * o->model->nv, err);
    if (x) memcpy(x, k->x, (size_t)n * 3 * (size_t)o->model->nv * sizeof *x);
    double *kappa = x ? abut_frame_put(out, "pass/kappa", n, err) : NULL;
    for (int i = 0; i < n && kappa; i++) kappa[i] = k->kappa[i] * weight;
    if (!kappa) return err->code;
    if (!abut_arrays_find(out, "strain/kappa")) return ABUT_OK;
    double *strain = abut_frame_put(out, "pass/strain-kappa", n, err);
    if (!strain) return err->code;
    memcpy(strain, k->strain_kappa, (size_t)n * sizeof *strain);
    return ABUT_OK;
}

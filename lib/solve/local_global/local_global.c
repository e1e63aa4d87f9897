#include "solve/local_global/local_global.h"

#include "base/timer.h"
#include "base/words.h"
#include "contact/intersect.h"
#include "energy/curved_rod.h"
#include "energy/elastic.h"
#include "solve/solvers.h"
#include "solve/step/measures.h"
#include "sparse/pcg.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- springs that answer collisions ---- */

static abut_vec3 rest(const abut_collmesh *cm, int32_t v)
{
    return abut_v3_get(cm->model->X + 3 * (size_t)abut_collmesh_slot(cm, v));
}

/* Triangles of objects that have tets, and half the mean edge of all. */
static abut_status survey(abut_collision_springs *c, const abut_objective *p, abut_err *err)
{
    const abut_model *m = p->model;
    const abut_collmesh *cm = &p->cm;
    uint8_t *solid = calloc((size_t)m->no + 1, 1);
    if (!solid) return abut_fail(err, ABUT_E_NOMEM, "collision springs: %d objects", m->no);
    for (int32_t t = 0; t < 4 * m->nt; t++) solid[m->body[m->tet[t]]] = 1;
    double sum = 0;
    for (int32_t t = 0; t < m->nct; t++) {
        const int32_t *v = cm->tri + 3 * (size_t)t;
        c->outward[t] = solid[abut_collmesh_object(cm, v[0])];
        for (int k = 0; k < 3; k++)
            sum += abut_v3_norm(abut_v3_sub(rest(cm, v[k]), rest(cm, v[(k + 1) % 3])));
    }
    c->reach = m->nct ? 0.5 * sum / (3.0 * m->nct) : 0;
    free(solid);
    return ABUT_OK;
}

static void springs_clear(abut_collision_springs *c)
{
    abut_candidates_clear(&c->near);
    ABUT_FREE(c->spring, c->seen, c->y0, c->y1, c->outward);
    *c = (abut_collision_springs){ 0 };
}

static abut_status springs_init(abut_collision_springs *c, const abut_objective *p, abut_err *err)
{
    assert(p);
    const size_t n3 = 3 * (size_t)p->model->nc + 1;
    *c = (abut_collision_springs){ .y0 = malloc(n3 * sizeof(double)), .y1 = malloc(n3 * sizeof(double)),
                                   .outward = malloc((size_t)p->model->nct + 1) };
    abut_status rc = c->y0 && c->y1 && c->outward ? abut_collmesh_expect_nodes(&p->cm, "collision springs", err)
                                                  : abut_fail(err, ABUT_E_NOMEM, "collision springs: %d vertices", p->model->nc);
    if (!rc) rc = survey(c, p, err);
    if (rc) springs_clear(c);
    return rc;
}

/* Starts a step at p->xn: finds the pairs that can meet on the straight motion to x[3 nv]. */
static abut_status springs_start(abut_collision_springs *c, const abut_objective *p, const double *x, abut_err *err)
{
    c->n = 0;
    abut_collmesh_positions(&p->cm, p->xn, c->y0);
    abut_collmesh_positions(&p->cm, x, c->y1);
    const abut_status rc = abut_candidates_around(&p->cm, c->y0, c->y1, c->reach, p->cm.obstacle, &c->near, err);
    const size_t n = (size_t)p->model->nc * (size_t)p->model->nh + c->near.vt.n + 1;
    if (rc) return rc;
    if (n > c->seen_cap) {
        free(c->seen);
        c->seen = malloc(n);
        c->seen_cap = c->seen ? n : 0;
        if (!c->seen) return abut_fail(err, ABUT_E_NOMEM, "collision springs: %zu pairs", n);
    }
    memset(c->seen, 0, n);
    return ABUT_OK;
}

static abut_status add(abut_collision_springs *c, const abut_collision_spring *s, abut_err *err)
{
    if (!ABUT_GROW(c->spring, c->n + 1, c->cap)) return abut_fail(err, ABUT_E_NOMEM, "%zu collision springs", c->n + 1);
    c->spring[c->n++] = *s;
    return ABUT_OK;
}

static double depth(const abut_collision_spring *s, const double *x)
{
    double d = -s->offset;
    for (int k = 0; k < 4 && s->node[k] >= 0; k++)
        for (int i = 0; i < 3; i++) d += s->weight[k] * s->normal[i] * x[3 * (size_t)s->node[k] + (size_t)i];
    return d;
}

/* The triangle t of vertices y: unit normal, and where p lies over it, w[3].  0: it has no area. */
static int over_triangle(const double *y, const int32_t t[3], abut_vec3 p, abut_vec3 *normal, double w[3])
{
    const abut_vec3 a = abut_v3_get(y + 3 * (size_t)t[0]), e = abut_v3_sub(abut_v3_get(y + 3 * (size_t)t[1]), a),
                    f = abut_v3_sub(abut_v3_get(y + 3 * (size_t)t[2]), a), r = abut_v3_sub(p, a);
    const abut_vec3 n = abut_v3_cross(e, f);
    const double n2 = abut_v3_norm2(n);
    if (!(n2 > 0)) return 0;
    w[1] = abut_v3_dot(abut_v3_cross(r, f), n) / n2;
    w[2] = abut_v3_dot(abut_v3_cross(e, r), n) / n2;
    w[0] = 1 - w[1] - w[2];
    *normal = abut_v3_scale(1 / sqrt(n2), n);
    return 1;
}

/* Returns 1 if vertex v lies behind collision triangle `at`; s is then the spring between them. */
static int is_behind(const abut_collision_springs *c, const abut_objective *p, int32_t v, int32_t at, abut_collision_spring *s)
{
    const int32_t *t = p->cm.tri + 3 * (size_t)at;
    abut_vec3 n;
    double w[3], side = 1;
    const abut_vec3 p0 = abut_v3_get(c->y0 + 3 * (size_t)v), p1 = abut_v3_get(c->y1 + 3 * (size_t)v);
    const abut_collmesh *cm = &p->cm;
    if (c->outward[at]) {
        /* most of a body lies behind its own surface */
        if (abut_collmesh_object(cm, v) == abut_collmesh_object(cm, t[0])) return 0;
    } else {
        if (!over_triangle(c->y0, t, p0, &n, w)) return 0;
        side = abut_v3_dot(n, abut_v3_sub(p0, abut_v3_get(c->y0 + 3 * (size_t)t[0])));
    }
    if (side == 0 || !over_triangle(c->y1, t, p1, &n, w) || w[0] < 0 || w[1] < 0 || w[2] < 0) return 0;
    if (side < 0) n = abut_v3_scale(-1, n);
    const double d = abut_v3_dot(n, abut_v3_sub(p1, abut_v3_get(c->y1 + 3 * (size_t)t[0])));
    if (!(d < 0 && d > -c->reach)) return 0;
    *s = (abut_collision_spring){ .node = { abut_collmesh_slot(cm, v), abut_collmesh_slot(cm, t[0]), abut_collmesh_slot(cm, t[1]),
                                            abut_collmesh_slot(cm, t[2]) },
                                  .weight = { 1, -w[0], -w[1], -w[2] } };
    abut_v3_put(s->normal, n);
    return 1;
}

/* Adds the vertices that have penetrated at x to the set. */
static abut_status springs_find(abut_collision_springs *c, const abut_objective *p, const double *x, abut_err *err)
{
    const abut_model *m = p->model;
    abut_status rc = ABUT_OK;
    uint8_t *seen = c->seen;
    abut_collmesh_positions(&p->cm, x, c->y1);
    for (int32_t h = 0; h < m->nh; h++) {
        const double *n = m->hs_normal + 3 * (size_t)h, *o = m->hs_point + 3 * (size_t)h;
        abut_collision_spring s = { .node = { -1, -1, -1, -1 }, .weight = { 1 }, .normal = { n[0], n[1], n[2] },
                                    .offset = n[0] * o[0] + n[1] * o[1] + n[2] * o[2] };
        for (int32_t i = 0; i < m->nc && !rc; i++, seen++) {
            s.node[0] = abut_collmesh_slot(&p->cm, i);
            if (p->cm.obstacle[i] || *seen || !(depth(&s, x) < 0)) continue;
            *seen = 1;
            rc = add(c, &s, err);
        }
    }
    for (size_t k = 0; k < c->near.vt.n && !rc; k++, seen++) {
        abut_collision_spring s;
        const int32_t *pair = c->near.vt.ij[k];
        if (*seen || !is_behind(c, p, pair[0], pair[1], &s)) continue;
        *seen = 1;
        rc = add(c, &s, err);
    }
    return rc;
}

double abut_collision_springs_energy(const abut_collision_springs *c, const abut_objective *p, const double *x)
{
    abut_acc sum = { 0, 0 };
    for (size_t k = 0; k < c->n; k++) {
        const double d = fmin(0, depth(&c->spring[k], x));
        abut_acc_add(&sum, 0.5 * c->stiffness * d * d);
    }
    return p->w.psi * (sum.hi + sum.lo);
}

/* g[3 nv] += the gradient; rows of nodes that do not move stay unchanged. */
static void springs_gradient(const abut_collision_springs *c, const abut_objective *p, const double *x, double *g)
{
    for (size_t k = 0; k < c->n; k++) {
        const abut_collision_spring *s = &c->spring[k];
        const double pull = p->w.psi * c->stiffness * fmin(0, depth(s, x));
        for (int a = 0; a < 4 && s->node[a] >= 0; a++)
            for (int i = 0; i < 3 && p->row[s->node[a]] >= 0; i++)
                g[3 * (size_t)s->node[a] + (size_t)i] += pull * s->weight[a] * s->normal[i];
    }
}

/* ---- the methods ---- */

/* Armijo's constant (Liu 2018, 4.1). */
#define DECREASE 0.03
/* A converged step leaves at most this fraction of the largest force on a body, unless the model asks for less. */
#define BALANCED 1e-3
/* The balance is tested after a short iteration, and again after this part of the iterations so far. */
#define LOOKS 16
/* Stiffness of collision springs over the mean stiffness of a node. */
#define COLLISION 10

/* Iterations of a step that does not have to converge, and at most of one that has to. */
enum { ITERATIONS = 10, ITERATIONS_MOST = 100000 };

/* ---- models that it accepts ---- */

static abut_status check_model(const abut_model *m, const abut_lg_method *method, int contact, abut_err *err)
{
    const char *name = method->name;
    char who[40];
    snprintf(who, sizeof who, "solver %s", name);
    abut_status rc = abut_linear_tets(m, who, err);
    if (rc) return rc;
    rc = method->check ? method->check(m, err) : ABUT_OK;
    if (rc) return abut_wrap(err, "solver %s", name), rc;
    if ((rc = abut_integrator_plain(m, name, err))) return rc;
    if (m->damp_stiffness && m->damp_stiffness[0] > 0)
        return abut_fail(err, ABUT_E_FORMAT, "solver %s: damping/stiffness is %g s, expected 0: its matrix is not constant", name,
                         m->damp_stiffness[0]);
    if (m->shell_limit || m->mat_strain)
        return abut_fail(err, ABUT_E_FORMAT, "solver %s: shells with limits of their stretch, expected none: it cannot keep them",
                         name);
    if (contact == ABUT_CONTACT_REFUSED && m->nc)
        return abut_fail(err, ABUT_E_FORMAT,
                         "solver %s sees no contact and guarantees nothing: the model has %d collision %s and %d half-space%s, "
                         "expected a choice of what becomes of them (--contact ignore or springs)",
                         name, m->nc, abut_plural(m->nc, "vertex", "vertices"), m->nh, abut_s(m->nh));
    return ABUT_OK;
}

/* Returns 1 if a term has constant elements for the set of that name. */
static int has_constant(const abut_terms *terms, const char *set)
{
    for (int i = 0; i < terms->n && set; i++)
        if (terms->term[i].ops->constant && !strcmp(terms->term[i].ops->set, set)) return 1;
    return 0;
}

/* Its matrix has every term of E, by elements or on the diagonal. */
static abut_status check_terms(const abut_terms *terms, const char *name, abut_err *err)
{
    for (int i = 0; i < terms->n; i++) {
        const abut_term_ops *ops = terms->term[i].ops;
        const int contacts = ops->kind == ABUT_TERM_CONTACT || ops->kind == ABUT_TERM_FRICTION;     /* are not in E */
        if (contacts || ops->diagonal || has_constant(terms, ops->set)) continue;
        return abut_fail(err, ABUT_E_FORMAT, "solver %s: its matrix does not have the term '%s' of the model", name, ops->name);
    }
    return ABUT_OK;
}

/* Returns 1 if E lies below the quadratics of A everywhere. */
static int squared_distances(const abut_model *m)
{
    if (m->nsh || m->nhg || m->nrd || m->nbd || m->obj_pressure) return 0;
    for (int32_t i = 0; i < m->nm && m->nt; i++)
        if (m->mat_model[i] != ABUT_ARAP) return 0;
    return 1;
}

/* Returns 1 if springs answer penetrations. */
static int has_springs(const abut_local_global *s) { return s->how.user->real_time.contact == ABUT_CONTACT_BY_SPRINGS; }

/* A tolerance without iterations makes steps converge; by the matrix alone, slow convergence would take thousands. */
static void set_goal(abut_local_global *s, const abut_solve_options *o)
{
    const int asked = o->real_time.iterations, history = o->quasi.history, by_norm = s->how.norm > 0;
    s->how.iterations = asked >= 0 ? asked : by_norm || o->search.tolerance > 0 ? 0 : ITERATIONS;
    const int needs = !s->how.iterations && !by_norm && !s->how.method->local_step;
    s->quasi.history = history >= 0 ? history : needs ? ABUT_LBFGS_PAIRS : 0;
}

abut_status abut_lg_init(abut_local_global *s, const abut_model *m, const abut_lg_method *method, const abut_solve_options *o,
                         abut_err *err)
{
    *s = (abut_local_global){ .how = { method, o, .norm = abut_stop_norm(&o->search), .most = ITERATIONS_MOST } };
    set_goal(s, o);
    abut_status rc = check_model(m, method, o->real_time.contact, err);
    if (!rc) rc = abut_objective_init(&s->objective, m, o->terms, err);
    if (!rc) rc = check_terms(&s->objective.terms, method->name, err);
    if (!rc && has_springs(s)) rc = springs_init(&s->collisions, &s->objective, err);
    if (!rc && method->init) rc = method->init(s, err);
    if (rc) {
        abut_lg_clear(s);
        return rc;
    }
    const size_t n3 = 3 * (size_t)m->nv;
    double **field[] = { &s->x, &s->xt, &s->v, &s->v_end, &s->acc, &s->g, &s->dx, &s->rhs };
    s->factored = malloc((size_t)m->nv + 1);
    int ok = s->factored != NULL;
    for (int i = 0; i < 8; i++) ok &= (*field[i] = calloc(n3 + 1, sizeof(double))) != NULL;
    if (!ok) {
        abut_lg_clear(s);
        return abut_fail(err, ABUT_E_NOMEM, "solver %s: %d nodes", method->name, m->nv);
    }
    s->exact = !method->local_step && !s->quasi.history && !has_springs(s) && squared_distances(m);
    return ABUT_OK;
}

void abut_lg_clear(abut_local_global *s)
{
    abut_linear_solver_clear(&s->A);
    if (s->own) s->how.method->free(s->own);
    springs_clear(&s->collisions);
    abut_quasi_clear(&s->quasi);
    abut_arena_clear(&s->scratch);
    ABUT_FREE(s->factored, s->x, s->xt, s->v, s->v_end, s->acc, s->g, s->dx, s->rhs);
    abut_objective_clear(&s->objective);   /* last: the others borrow it */
    *s = (abut_local_global){ 0 };
}

/* ---- one step ---- */

static abut_status objective_at(abut_local_global *s, const double *x, double *sum, abut_err *err)
{
    abut_energy e;
    const abut_at at = abut_objective_at(&s->objective, x, NULL, &s->none);
    const abut_status rc = abut_objective_energy(&s->objective, &at, &e, &s->scratch, err);
    if (!rc) *sum = e.sum + abut_collision_springs_energy(&s->collisions, &s->objective, x);
    if (!rc && isnan(*sum)) *sum = INFINITY;
    return rc;
}

/* Makes the factor for the held nodes of this step, unless the last one is for them. */
static abut_status prepare(abut_local_global *s, abut_report *rep, abut_err *err)
{
    abut_objective *p = &s->objective;
    const size_t nv = (size_t)p->model->nv;
    const double clock = abut_time_wall();
    if (s->A.ops && !memcmp(s->factored, p->held, nv)) return ABUT_OK;
    abut_objective_number(p);
    if (s->how.method->whole) return ABUT_OK;
    const abut_status rc = abut_laplacian_factor(p, s->how.user->quasi.fit, &s->A, &s->collisions.stiffness, err);
    rep->seconds.factor += abut_time_wall() - clock;
    if (rc) {
        abut_linear_solver_clear(&s->A);    /* no factor is there for the next step to keep */
        return rc;
    }
    memcpy(s->factored, p->held, nv);
    s->collisions.stiffness *= COLLISION;
    return ABUT_OK;
}

/* First iterate: xhat, or the start of the step if E is infinite at xhat. */
static abut_status start(abut_local_global *s, abut_err *err)
{
    const abut_objective *p = &s->objective;
    const int32_t n3 = 3 * p->model->nv;
    double sum = 0;
    for (int32_t i = 0; i < n3; i++) s->x[i] = p->held[i / 3] ? p->target[i] : p->xhat[i];
    abut_status rc = s->exact ? ABUT_OK : objective_at(s, s->x, &sum, err);
    if (rc || isfinite(sum)) return rc;
    for (int32_t i = 0; i < n3; i++) s->x[i] = p->held[i / 3] ? p->target[i] : p->xn[i];
    rc = objective_at(s, s->x, &sum, err);
    return rc || isfinite(sum) ? rc : abut_fail(err, ABUT_E_GEOM, "an element has no finite energy where the step starts");
}

abut_status abut_lg_begin(abut_local_global *s, const abut_arrays *frame, abut_instant at, abut_report *rep, abut_err *err)
{
    abut_objective *p = &s->objective;
    const abut_model *m = p->model;
    abut_frame f;
    abut_status rc = abut_frame_view(frame, m, &f, err);
    if (rc) return rc;
    memcpy(s->v, f.v, 3 * (size_t)m->nv * sizeof(double));
    rc = abut_plain_begin(p, &f, at.time, s->acc, s->g, &s->scratch, err);
    if (!rc) rc = prepare(s, rep, err);
    if (!rc) rc = start(s, err);
    if (!rc && has_springs(s)) rc = springs_start(&s->collisions, p, s->x, err);
    if (!rc && s->how.method->start) rc = s->how.method->start(s, rep, err);
    abut_quasi_begin(&s->quasi);
    if (rc || !(s->how.norm > 0)) return rc;
    s->progress.enough = s->how.norm * m->h[0] * m->h[0] * abut_characteristic_force(abut_elastic_of(&p->terms), p->held, s->dx);
    return s->progress.enough > 0 ? ABUT_OK
                         : abut_fail(err, ABUT_E_FORMAT, "the characteristic norm is 0: expected tets that are stiff at rest");
}

/* s->rhs = A^-1 r, of the unknowns. */
static abut_status apply_matrix(abut_local_global *s, const double *r, abut_err *err)
{
    const abut_operator L = { .scalar = 1 };
    abut_rows_gather(&s->objective, r, 1, s->rhs);
    return abut_linear_solve(&s->A, &L, s->rhs, NULL, s->rhs, err);
}

/* s->rhs = B g with the L-BFGS matrix B of the iterates of this step since the set of collisions changed; by A^-1 alone if that
 * does not descend. */
static abut_status apply_history(abut_local_global *s, abut_report *rep, abut_err *err)
{
    abut_quasi *q = &s->quasi;
    const abut_point at = { .x = s->x, .g = s->g };
    const abut_precond A = abut_linear_precond(&s->A);
    const size_t n = 3 * (size_t)s->objective.nrow;
    double slope = 0;
    if (s->progress.springs != s->collisions.n) abut_quasi_begin(q);
    s->progress.springs = s->collisions.n;
    abut_status rc = abut_quasi_learn(q, &s->objective, &at, rep, err);
    q->started = 1;
    for (int tries = 0; !rc && n && !(slope > 0) && tries < 2; tries++) {
        if (tries) abut_lbfgs_forget(&q->pairs), rep->not_descending++;
        memcpy(q->g1, q->g0, n * sizeof *q->g1);    /* the application loses it */
        rc = abut_lbfgs_apply(&q->pairs, &A, q->g1, s->rhs, err);
        if (!rc) slope = abut_dot(q->g0, s->rhs, n, q->pairs.part);
    }
    return rc;
}

/* The largest entry of s->dx over h. */
static abut_status step_speed(const abut_local_global *s, double *speed)
{
    *speed = abut_largest(s->dx, 3 * (size_t)s->objective.model->nv) / s->objective.model->h[0];
    return ABUT_OK;
}

/* s->dx = -A^-1 r at x, or by L-BFGS, with r the gradient of E, in ADMM the residual of its global step; *speed: its largest
 * entry over h, m/s.  s->g is the gradient of E if it is needed. */
static abut_status aim(abut_local_global *s, double *speed, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->objective;
    const int32_t nv = p->model->nv;
    const abut_lg_method *method = s->how.method;
    const int splits = method->local_step != NULL;
    double clock = abut_time_wall(), big = 0, *r = splits ? s->dx : s->g;
    int finite = 1;
    abut_status rc = ABUT_OK;
    if (has_springs(s)) rc = springs_find(&s->collisions, p, s->x, err);
    if (!rc && (!splits || s->how.norm > 0)) {
        const abut_at at = abut_objective_at(p, s->x, NULL, &s->none);
        rc = abut_objective_gradient(p, &at, ABUT_KINDS_SMOOTH, s->g, &s->scratch, err);
    }
    if (!rc && splits) rc = method->local_step(s, rep, err);
    if (rc) return rc;
    if (method->whole) return step_speed(s, speed);
    springs_gradient(&s->collisions, p, s->x, r);
    if (splits && s->how.norm > 0) springs_gradient(&s->collisions, p, s->x, s->g);
    rep->seconds.gradient += abut_time_wall() - clock;
    clock = abut_time_wall();
    rc = s->quasi.history ? apply_history(s, rep, err) : apply_matrix(s, r, err);
    if (rc) return rc;
    for (int32_t i = 0; i < nv; i++) {
        static const double still[3] = { 0 };
        const double *from = p->row[i] < 0 ? still : s->rhs + 3 * (size_t)p->row[i];
        double *to = s->dx + 3 * (size_t)i;
        for (int d = 0; d < 3; d++) {
            to[d] = -from[d];
            const double size = fabs(from[d]);
            finite &= size < INFINITY;
            big = size > big ? size : big;
        }
    }
    rep->seconds.solve += abut_time_wall() - clock;
    *speed = finite ? big / p->model->h[0] : INFINITY;
    return ABUT_OK;
}

static void move(const abut_local_global *s, double alpha, double *to)
{
    for (int32_t i = 0; i < 3 * s->objective.model->nv; i++) to[i] = s->x[i] + alpha * s->dx[i];
}

/* Backtracking until the objective falls by Armijo's fraction, or stays within rounding; alpha 0: it never does. */
static abut_status search(abut_local_global *s, double *alpha, double *decrease, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->objective;
    abut_energy e;
    abut_acc slope = { 0, 0 };
    double sum;
    const abut_at at = abut_objective_at(p, s->x, NULL, &s->none);
    abut_status rc = abut_objective_energy(p, &at, &e, &s->scratch, err);
    if (rc) return rc;
    const double here = e.sum + abut_collision_springs_energy(&s->collisions, p, s->x),
                 noise = e.noise;
    for (int32_t i = 0; i < 3 * p->model->nv; i++) abut_acc_add(&slope, s->g[i] * s->dx[i]);
    for (*alpha = 1; !rc && *alpha > 0x1p-60; *alpha /= 2) {
        move(s, *alpha, s->xt);
        rc = objective_at(s, s->xt, &sum, err);
        rep->trials++;
        *decrease = here - sum;
        if (!rc && sum <= here + DECREASE * *alpha * (slope.hi + slope.lo) + noise) return ABUT_OK;
    }
    *alpha = *decrease = 0;
    return rc;
}

static void swap_points(abut_local_global *s)
{
    double *x = s->x;
    s->x = s->xt;
    s->xt = x;
}

abut_status abut_lg_iterate(abut_local_global *s, double *speed, abut_report *rep, abut_err *err)
{
    double alpha = 1, decrease = 0;
    const int before = rep->trials;
    abut_status rc = aim(s, speed, rep, err);
    if (rc) return rc;
    if (!isfinite(*speed)) return abut_fail(err, ABUT_E_NUMERIC, "the direction is not finite");
    const double clock = abut_time_wall();
    if (s->exact || s->how.method->local_step) move(s, 1, s->xt);
    else rc = search(s, &alpha, &decrease, rep, err);
    if (rc) return rc;
    s->progress.moved = alpha > 0;
    if (s->progress.moved) swap_points(s);
    rep->seconds.line_search += abut_time_wall() - clock;
    abut_iteration *it = abut_report_iteration(rep);
    if (!it) return abut_fail(err, ABUT_E_NOMEM, "step report: iteration %d", rep->newton);
    rep->residual = it->residual = *speed;
    it->bound = 1;
    it->alpha = alpha;
    it->decrease = decrease;
    it->trials = rep->trials - before;
    return ABUT_OK;
}

/* The characteristic norm of s->g. */
static double characteristic_norm(const abut_local_global *s)
{
    abut_acc sum = { 0, 0 };
    for (int32_t i = 0; i < 3 * s->objective.model->nv; i++) abut_acc_add(&sum, s->g[i] * s->g[i]);
    return s->how.norm * sqrt(sum.hi + sum.lo) / s->progress.enough;
}

/* Notes rep->norm at s->x, if the options have a norm. */
static abut_status note_norm(abut_local_global *s, abut_report *rep, abut_err *err)
{
    if (!(s->how.norm > 0)) return ABUT_OK;
    const abut_at at = abut_objective_at(&s->objective, s->x, NULL, &s->none);
    const abut_status rc = abut_objective_gradient(&s->objective, &at, ABUT_KINDS_SMOOTH, s->g, &s->scratch, err);
    if (!rc) springs_gradient(&s->collisions, &s->objective, s->x, s->g);
    rep->norm = rc ? 0 : characteristic_norm(s);
    return rc;
}

/* Returns to the iterate whose gradient was small enough, before the last iteration. */
static abut_status step_back(abut_local_global *s, abut_report *rep)
{
    rep->norm = characteristic_norm(s);
    if (s->progress.moved) swap_points(s);
    return ABUT_OK;
}

/* Computes the residual of the momentum balance of E at x.  s->g is lost. */
static abut_status lg_balance(abut_local_global *s, const double *x, abut_equilibrium *e, abut_err *err)
{
    const abut_objective *p = &s->objective;
    const abut_at at = abut_objective_at(p, x, NULL, &s->none);
    const abut_point here = { .x = (double *)(uintptr_t)x, .g = s->g };     /* only read */
    abut_status rc = abut_objective_gradient(p, &at, ABUT_KINDS_SMOOTH, s->g, &s->scratch, err);
    if (rc) return rc;
    springs_gradient(&s->collisions, p, x, s->g);
    return abut_equilibrium_find(p, &here, NULL, e, NULL, &s->scratch, err);
}

/* *stop 1: forces balance at the iterate before the last iteration, which is short; s->x returns to it. */
static abut_status look(abut_local_global *s, double *left, int *stop, abut_err *err)
{
    const abut_model *m = s->objective.model;
    const double want = m->force_tolerance && m->force_tolerance[0] > 0 ? fmin(m->force_tolerance[0], BALANCED) : BALANCED;
    abut_equilibrium e;
    const abut_status rc = lg_balance(s, s->progress.moved ? s->xt : s->x, &e, err);
    if (rc) return rc;
    *left = e.left / e.largest;
    *stop = *left <= want;
    if (*stop && s->progress.moved) swap_points(s);
    return ABUT_OK;
}

/* Returns 1 if the last iteration did not move, and the next one would be equal. */
static int is_stuck(abut_local_global *s)
{
    const int forgets = s->quasi.history && s->quasi.pairs.n;
    if (s->progress.moved) return 0;
    if (forgets) abut_quasi_begin(&s->quasi);
    return !forgets && !has_springs(s);
}

/* Iterates as the options say. */
static abut_status lg_solve(abut_local_global *s, abut_report *rep, abut_err *err)
{
    const double tolerance = s->objective.model->tolerance[0];
    const int most = s->how.iterations ? s->how.iterations : s->how.most;
    double speed = INFINITY, left = NAN;
    int made = 0, stuck = 0, stop = 0, due = 0;
    while (made < most && !stuck) {
        made++;
        const abut_status rc = abut_lg_iterate(s, &speed, rep, err);
        if (rc) return rc;
        if (s->how.iterations) continue;
        if (s->how.norm > 0 && characteristic_norm(s) <= s->how.norm) return step_back(s, rep);
        stuck = is_stuck(s);
        if (s->how.norm > 0 || !(speed <= tolerance) || (made < due && !stuck && made < most)) continue;
        due = made + 1 + made / LOOKS;
        const abut_status looked = look(s, &left, &stop, err);
        if (looked || stop) return looked;
    }
    const abut_status rc = note_norm(s, rep, err);
    if (rc || s->how.iterations) return rc;
    const char *why = stuck ? "; no step along the last direction lowers the objective" : "";
    if (s->how.norm > 0)
        return abut_fail(err, ABUT_E_NUMERIC, "not converged after %d iteration%s: characteristic norm %.3g, want %.3g%s", made,
                         abut_s(made), rep->norm, s->how.norm, why);
    if (speed <= tolerance)
        return abut_fail(err, ABUT_E_NUMERIC, "not converged after %d iteration%s: %.3g of the largest force on a body is left%s",
                         made, abut_s(made), left, why);
    return abut_fail(err, ABUT_E_NUMERIC, "not converged after %d iteration%s: residual %.3g m/s, want %.3g%s", made,
                     abut_s(made), speed, tolerance, why);
}

/* ---- the frame and the report of a step ---- */

/* Writes the next frame, at s->x, into out (cleared first).  lg_report writes its figures into the report. */
static abut_status lg_put_frame(abut_local_global *s, const abut_arrays *carry, abut_arrays *out, abut_err *err)
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

static abut_status lg_report(abut_local_global *s, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->objective;
    abut_report_plain(p, s->x, s->v_end, rep);
    abut_equilibrium e;
    const abut_status rc = lg_balance(s, s->x, &e, err);
    if (rc) return rc;
    rep->force_residual = e.left > 0 ? e.left / e.largest : 0;
    rep->force_largest = e.of_all;
    const abut_lg_method *method = s->how.method;
    const abut_linear_stats c = method->stats ? method->stats(s->own) : abut_linear_get_stats(&s->A);
    rep->factor_nnz = c.nnz;
    rep->factor_flops = c.flops;
    rep->factor_bytes = (double)c.bytes;
    rep->fixed_iterations = s->how.iterations;
    rep->min_gap = -1;
    rep->contacts = (int32_t)s->collisions.n;
    rep->contact = !p->cm.nc ? ABUT_CONTACT_OFF : has_springs(s) ? ABUT_CONTACT_SPRINGS : ABUT_CONTACT_IGNORED;
    return abut_objective_potential(p, s->x, &rep->elastic, &s->scratch, err);
}

/* ---- the methods ---- */

static abut_status only_springs(const abut_model *m, abut_err *err)
{
    if (!m->nt && !m->nsh && !m->nrd) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT,
                     "the model has %d tet%s, %d shell%s and %d rod%s, expected springs and attachments alone (pd takes all)",
                     m->nt, abut_s(m->nt), m->nsh, abut_s(m->nsh), m->nrd, abut_s(m->nrd));
}

const abut_lg_method abut_lg_projective = { .name = "pd" };
const abut_lg_method abut_lg_springs = { .name = "mass-springs", .check = only_springs };
/* ---- as a stepper ---- */

/* An instance; the solver comes first. */
typedef struct local {
    abut_local_global solver;
    abut_model model;       /* as the options change it */
} local;

static abut_status make(void **self, const abut_model *m, const struct abut_solver_row *row, const abut_solve_options *o,
                        abut_err *err)
{
    local *l = calloc(1, sizeof *l);
    if (!l) return abut_fail(err, ABUT_E_NOMEM, "solver %s", row->name);
    abut_solve_view(&l->model, m, o);
    const abut_status rc = abut_lg_init(&l->solver, &l->model, row->method, o, err);
    if (rc) free(l);
    else *self = l;
    return rc;
}

static abut_status name_step(const abut_local_global *s, abut_status rc, abut_err *err)
{
    return rc ? abut_wrap(err, "step %lld (t = %g s)", (long long)s->at.step + 1, s->at.time), rc : ABUT_OK;
}

static abut_status begin(void *self, const abut_arrays *frame, abut_instant at, int *written, abut_report *rep, abut_err *err)
{
    abut_local_global *s = self;
    (void)written;
    s->at = at;
    return name_step(s, abut_lg_begin(s, frame, at, rep, err), err);
}

static abut_status solve(void *self, abut_report *rep, abut_err *err)
{
    return name_step(self, lg_solve(self, rep, err), err);
}

static abut_status commit(void *self, const abut_arrays *carry, int record, abut_arrays *out, abut_instant *at, abut_report *rep,
                          abut_err *err)
{
    abut_local_global *s = self;
    (void)record;
    abut_status rc = lg_put_frame(s, carry, out, err);
    if (!rc) rc = lg_report(s, rep, err);
    if (rc) return name_step(s, rc, err);
    *at = abut_instant_next(s->at, s->objective.model->h[0]);
    rep->step = at->step;
    rep->time = at->time;
    return ABUT_OK;
}

static void free_it(void *self)
{
    abut_lg_clear(self);
    free(self);
}

const abut_stepper_ops abut_lg_stepper_ops = { .make = make, .begin = begin, .solve = solve, .commit = commit, .free = free_it };

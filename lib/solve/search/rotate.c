/* A straight direction that rotates a stiff body stretches it by the square of the angle.  Each step then strains the body, the
 * matrix of a strained body resists the rest of the rotation, and Newton's method takes hundreds of short steps for steel.  So
 * the rigid part of the direction, body by body, is replaced by a rotation, and the deforming part is rotated with it.  The step
 * is then the straight line from here to the rotated point, bounded and judged like any other.
 *
 * Only stress resists the rotation of a free body in equilibrium.  Its projected matrix is then nearly singular: a direction has
 * a small strain and a rotation by thousands of radians, and no step along it deforms the body enough.  The direction becomes the
 * best one of the quadratic model that rotates the body less.
 *
 * It applies only if the straight step would store more energy by rotations than a part of the decrease that the quadratic model
 * promises, and only in scenes whose contact surface is not that of their tets, as with cages.  Objects with prescribed nodes do
 * not rotate freely. */

#include "solve/search/search_parts.h"

#include "energy/codim.h"
#include "energy/elastic.h"
#include "energy/joint.h"
#include "energy/stretch.h"
#include "math/rigid.h"
#include "model/motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORTH_ROTATING 0.1      /* least energy of rotations in the straight step, over the decrease of the quadratic model */
#define LARGEST 1.              /* rad: longer steps are halved first */
#define LIMITED 0.5             /* rad: of a body that a direction would rotate by more than LARGEST */
#define WORTH_TURNING 0.1       /* least decrease by that rotation, over the decrease without it */
#define MOST_LIMITS 12          /* of one direction */

typedef struct body {
    double stiffness;           /* J: volume times (lambda + mu)/2; a linear rotation by a strains by a^2/2 across its axis */
    int32_t first, n;           /* of the nodes */
    abut_rigid motion;          /* of the direction */
} body;

struct abut_rotations {
    int32_t n;
    body *of;                   /* [n] objects with tets */
    int32_t *node;              /* their nodes */
    double *p;                  /* [3 nv] the rotated step */
    int32_t furthest;           /* of the bodies, rotated by the largest angle */
};

void abut_rotations_free(abut_rotations *r)
{
    if (!r) return;
    ABUT_FREE(r->of, r->node, r->p, r);
}

/* Stiffnesses of objects. */
static void weigh(const abut_objective *p, body *of)
{
    const abut_model *m = p->model;
    const abut_elastic *e = abut_elastic_of(&p->terms);
    for (int32_t t = 0; t < m->nt; t++) {
        const int32_t *v = m->tet + 4 * (size_t)t;
        double mu, lambda;
        if (t < e->n) mu = e->lame[2 * t], lambda = e->lame[2 * t + 1];
        else abut_lame(m->mat_young[m->tet_mat[t]], m->mat_poisson[m->tet_mat[t]], &mu, &lambda);
        const abut_vec3 a = abut_v3_get(m->X + 3 * (size_t)v[0]);
        const abut_vec3 b = abut_v3_sub(abut_v3_get(m->X + 3 * (size_t)v[1]), a);
        const abut_vec3 c = abut_v3_sub(abut_v3_get(m->X + 3 * (size_t)v[2]), a);
        const abut_vec3 d = abut_v3_sub(abut_v3_get(m->X + 3 * (size_t)v[3]), a);
        const double volume = fabs(abut_v3_dot(abut_v3_cross(b, c), d)) / 6;
        of[m->body[v[0]]].stiffness += 0.5 * (lambda + mu) * volume * (m->tet_fill ? m->tet_fill[t] : 1);
    }
}

abut_status abut_rotations_make(abut_rotations **out, const abut_objective *p, abut_err *err)
{
    const abut_model *m = p->model;
    *out = NULL;
    if (!m->nt || abut_collmesh_selects(&p->cm)) return ABUT_OK;
    abut_rotations *r = calloc(1, sizeof *r);
    body *all = calloc((size_t)m->no + 1, sizeof *all);
    if (r) {
        r->of = all;
        r->node = malloc((size_t)m->nv * sizeof *r->node);
        r->p = malloc(3 * (size_t)m->nv * sizeof *r->p);
    }
    if (!r || !all || !r->node || !r->p) {
        if (!r) free(all);
        abut_rotations_free(r);
        return abut_fail(err, ABUT_E_NOMEM, "rotations of bodies: %d nodes", m->nv);
    }
    weigh(p, all);
    for (int32_t i = 0; i < m->nv; i++) all[m->body[i]].n += m->role[i] != ABUT_NODE_OBSTACLE;
    for (int32_t o = 0; o < m->no; o++) all[o + 1].first = all[o].first + all[o].n;
    for (int32_t o = 0; o < m->no; o++) all[o].n = 0;
    for (int32_t i = 0; i < m->nv; i++)
        if (m->role[i] != ABUT_NODE_OBSTACLE) r->node[all[m->body[i]].first + all[m->body[i]].n++] = i;
    for (int32_t o = 0; o < m->no; o++)
        if (all[o].stiffness > 0) all[r->n++] = all[o];
    *out = r;
    return ABUT_OK;
}

static int is_held(const abut_objective *p, const abut_rotations *r, const body *b)
{
    const abut_joints *joints = abut_joints_of(&p->terms);
    for (int32_t k = 0; k < b->n; k++)
        if (p->held[r->node[b->first + k]] || p->row[r->node[b->first + k]] < 0 ||
            abut_locks_have(p->model, r->node[b->first + k]) || abut_joints_have(joints, r->node[b->first + k]))
            return 1;
    return 0;
}

/* Returns the energy that the straight step s->p stores by rotations, kg m^2; *angle: the largest, of body r->furthest. */
static double fit(const abut_search *s, double *angle)
{
    abut_rotations *r = s->rotations;
    const abut_objective *p = &s->prob;
    const double reach2 = p->step.reach * p->step.reach;
    double cost = 0;
    *angle = 0;
    for (int32_t k = 0; k < r->n; k++) {
        body *b = r->of + k;
        b->motion = abut_rigid_part((size_t)b->n, r->node + b->first, p->model->mass, s->here.x, s->p);
        if (is_held(p, r, b)) b->motion.spin[0] = b->motion.spin[1] = b->motion.spin[2] = 0;
        const double a2 = abut_v3_norm2(abut_v3_get(b->motion.spin));
        if (sqrt(a2) > *angle) *angle = sqrt(a2), r->furthest = k;
        cost += p->step.weight_z2 * reach2 * b->stiffness * a2 * a2;
    }
    return cost;
}

/* momentum[3 nv]: of body b if it rotates as in s->p.  Returns the decrease of the objective by that, to first order. */
static double momentum_of(const abut_search *s, const body *b, double *momentum)
{
    double decrease = 0;
    memset(momentum, 0, 3 * (size_t)s->prob.model->nv * sizeof *momentum);
    for (int32_t k = 0; k < b->n; k++) {
        const int32_t i = s->rotations->node[b->first + k];
        const abut_vec3 arm = abut_v3_diff(s->here.x + 3 * (size_t)i, b->motion.centre);
        const abut_vec3 move = abut_v3_cross(abut_v3_get(b->motion.spin), arm);
        decrease -= abut_v3_dot(abut_v3_get(s->here.g + 3 * (size_t)i), move);
        abut_v3_put(momentum + 3 * (size_t)i, abut_v3_scale(s->prob.model->mass[i], move));
    }
    return decrease;
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void subtract(double *a, double c, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++) a[i] -= c * b[i];
}

/* Limits the rotation of body b by s->p, which is `angle`: s->p becomes the minimiser of the quadratic model with a given part
 * beta of its momentum about this axis, m' p.  That is p - (1 - beta) z m' p / m' z with H z = m.  m[n], z[n]: this limit and
 * those before it, which it keeps, since z[n] is conjugate to theirs: m[k]' z[n] = 0.  *done: there is such a minimiser. */
static abut_status limit(abut_search *s, const body *b, double angle, double **m, double **z, int n, int *done, abut_report *rep,
                         abut_err *err)
{
    const size_t n3 = 3 * (size_t)s->prob.model->nv;
    const double decrease = momentum_of(s, b, m[n]);
    const abut_status rc = s->ops->correct.resolve(s, m[n], z[n], rep, err);
    if (rc) return rc;
    for (int k = 0; k < n; k++) subtract(z[n], dot(m[k], z[n], n3) / dot(m[k], z[k], n3), z[k], n3);
    const double c = dot(m[n], s->p, n3) / dot(m[n], z[n], n3), held = c * dot(s->here.g, z[n], n3) - dot(s->here.g, s->p, n3);
    *done = isfinite(c);
    if (!*done) return ABUT_OK;
    const double beta = decrease * LIMITED / angle > WORTH_TURNING * held ? LIMITED / angle : 0;
    subtract(s->p, (1 - beta) * c, z[n], n3);
    return ABUT_OK;
}

abut_status abut_rotations_limit(abut_search *s, abut_report *rep, abut_err *err)
{
    abut_rotations *r = s->rotations;
    if (!r || (s->opt->search.without & ABUT_WITHOUT_ROTATIONS)) return ABUT_OK;
    if (!s->ops->correct.can || !s->ops->correct.can(s)) return ABUT_OK;
    const size_t n3 = 3 * (size_t)s->prob.model->nv;
    const abut_mark mark = abut_arena_mark(&s->scratch);
    double angle = 0, *m[MOST_LIMITS], *z[MOST_LIMITS];
    int n = 0, done = isfinite(s->aim.speed);
    abut_status rc = ABUT_OK;
    for (; done && n < MOST_LIMITS && !rc; n++) {
        fit(s, &angle);
        if (!(angle > LARGEST)) break;
        if (!n) memcpy(r->p, s->p, n3 * sizeof *r->p);
        m[n] = ABUT_ROOM(&s->scratch, double, n3);
        z[n] = ABUT_ROOM(&s->scratch, double, n3);
        if (m[n] && z[n]) rc = limit(s, r->of + r->furthest, angle, m, z, n, &done, rep, err);
        else rc = abut_fail(err, ABUT_E_NOMEM, "rotations of bodies: %zu numbers", n3);
    }
    abut_arena_release(&s->scratch, mark);
    if (rc || !n) return rc;
    if (!(s->ops->aim.slope(s) > 0)) memcpy(s->p, r->p, n3 * sizeof *r->p);
    s->aim.speed = abut_largest(s->p, n3) / s->prob.model->h[0];
    return ABUT_OK;
}

/* r->p: alpha of s->p, rotated. */
static void rotate(const abut_search *s, double alpha)
{
    abut_rotations *r = s->rotations;
    const size_t n3 = 3 * (size_t)s->prob.model->nv;
    for (size_t i = 0; i < n3; i++) r->p[i] = alpha * s->p[i];
    for (int32_t k = 0; k < r->n; k++) {
        const body *b = r->of + k;
        abut_rigid part = b->motion;
        for (int a = 0; a < 3; a++) {
            part.shift[a] *= alpha;
            part.spin[a] *= alpha;
        }
        for (int32_t j = 0; j < b->n; j++) {
            const size_t i = 3 * (size_t)r->node[b->first + j];
            abut_rigid_rotate(&part, s->here.x + i, r->p + i, r->p + i);
        }
    }
}

abut_status abut_move_rotate(abut_search *s, abut_move *m, abut_report *rep, abut_err *err)
{
    if (!s->rotations || m->searched || !s->ops->correct.can || (s->opt->search.without & ABUT_WITHOUT_ROTATIONS)) return ABUT_OK;
    const double slope = s->ops->aim.slope(s), bound = m->lim.alpha;
    double angle, cost = fit(s, &angle), alpha = bound, fraction;
    int tried = 0;
    abut_status rc = ABUT_OK;
    for (; alpha > bound * 0x1p-60 && !m->moved && !rc; alpha /= 2) {
        const double promised = alpha * (1 - 0.5 * alpha) * slope, costs = alpha * alpha * alpha * alpha * cost;
        if (!(costs > fmax(WORTH_ROTATING * promised, s->here.e.noise))) break;
        if (alpha * angle > LARGEST) continue;
        rotate(s, alpha);
        tried = 1;
        rc = abut_search_try_along(s, &s->rotations->p, 1, 1, &fraction, m->it, rep, err);
        int falls = 0;
        if (!rc) rc = abut_search_falls(s, fraction * alpha, &falls, rep, err);
        if (!falls) continue;
        m->it->alpha = alpha * fraction;
        m->moved = m->searched = m->rotated = 1;
    }
    if (rc || m->moved || !tried) return rc;
    return s->ops->bound.candidates(s, bound, rep, err);    /* another line was the last one */
}

/* ---- elements of shells and rods ---- */

/* A direction that rotates codimensional elements, stiff rods above all, stretches them by the square of the angle, so a search
 * that must not raise the objective would take a small part of every rotation.  A second solution with the same factor removes
 * that stretch: its right-hand side has the excess after the step and the elements before it (a second-order correction: Nocedal
 * and Wright 2006, 18.3).  The step is then the straight line from here to the corrected point, bounded and judged like any
 * other.
 *
 * Bounds of shells also stop a direction by the stretch of its rotations, not by its first order: a swinging sheet would move a
 * third of its path, overstretched, and relax for the rest of the step.  If a bound of a shell stops the straight step, a longer
 * step is tried first, corrected until its stretch is that of first order.  It is taken only if shells do not bound it at all:
 * after a step that ends halfway to a limit, directions are bounded at a hundredth.
 *
 * The matrix overestimates what holds a body that tips over.  After a full step that was too short, the corrected step of the
 * length that fits its curvature is tried. */

#define WORTH_CORRECTING 0.1    /* least energy of rotations, over the decrease of the quadratic model */
#define CORRECTIONS 3           /* of one step, at most; each corrects the rest of the one before */
#define MOST_LONGER 4.          /* times a full step that was too short */
#define OF_BOUND 0.5            /* of a bound on a step that is tried because a full one was too short */

/* steps beyond the bounds of shells */
#define FIRST_ORDER 1e-3           /* of the promised decrease that rotations may cost in the end */
#define HOPELESS 1.             /* of it that they may cost before the first correction */
#define CONVERGES 0.5           /* largest rest after a correction */
#define LONG_CORRECTIONS 4
#define SHORTER 0.7             /* the next length to be tried */
#define WORTH_TRYING 1.5        /* times the straight step, or the full one */
#define LONGEST_WAIT 27         /* directions between such steps that failed */

abut_status abut_second_order_init(abut_second_order *so, const abut_model *model, abut_err *err)
{
    const size_t bytes = 3 * (size_t)model->nv * sizeof(double);
    double **field[] = { &so->linear_step, &so->p, &so->full_linear, &so->full, &so->q, &so->g };
    if (!model->nrd && !model->nsh) return ABUT_OK;
    for (int i = 0; i < 6; i++)
        if (!(*field[i] = malloc(bytes))) return abut_fail(err, ABUT_E_NOMEM, "step: %d nodes", model->nv);
    return ABUT_OK;
}

void abut_second_order_clear(abut_second_order *so)
{
    ABUT_FREE(so->linear_step, so->p, so->full_linear, so->full, so->q, so->g);
    *so = (abut_second_order){ 0 };
}

int abut_second_order_applies(const abut_search *s)
{
    const int wanted = s->second_order.p && !(s->opt->search.without & ABUT_WITHOUT_SECOND_ORDER);
    return wanted && s->ops->correct.can && s->ops->correct.can(s);
}

static size_t numbers(const abut_search *s) { return 3 * (size_t)s->prob.model->nv; }

/* Energy that the rotations of the step so->p store, and its gradient in so->g. */
static abut_status cost(abut_search *s, double *costs, abut_err *err)
{
    abut_second_order *so = &s->second_order;
    memset(so->g, 0, numbers(s) * sizeof *so->g);
    return s->ops->correct.excess(s, so->p, so->linear_step, so->g, costs, err);
}

/* so->p: length times s->p, not corrected yet; *costs: of its rotations. */
static abut_status straight(abut_search *s, double length, double *costs, abut_err *err)
{
    abut_second_order *so = &s->second_order;
    for (size_t i = 0; i < numbers(s); i++) so->p[i] = so->linear_step[i] = length * s->p[i];
    return cost(s, costs, err);
}

/* One correction of so->p; *costs: the remaining energy of its rotations. */
static abut_status correct_once(abut_search *s, double *costs, abut_report *rep, abut_err *err)
{
    abut_second_order *so = &s->second_order;
    const abut_status rc = s->ops->correct.resolve(s, so->g, so->q, rep, err);
    if (rc) return rc;
    for (size_t i = 0; i < numbers(s); i++) so->p[i] += so->q[i];
    return cost(s, costs, err);
}

/* Corrects so->p until its rotations cost less than `enough`, *costs. */
static abut_status correct(abut_search *s, double enough, double *costs, abut_report *rep, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int k = 0; k < CORRECTIONS && *costs > enough && !rc; k++)
        rc = correct_once(s, costs, rep, err);
    return rc;
}

/* Takes that fraction of the step of length alpha. */
static void arrive(abut_search *s, abut_move *m, double alpha, double fraction, int corrected)
{
    double *led = s->second_order.linear_step;
    m->it->alpha = alpha * fraction;
    for (size_t i = 0; i < numbers(s); i++) led[i] = s->here.x[i] + fraction * led[i];
    m->moved = 1;
    m->corrected = corrected;
}

/* Makes so->p the step of length alpha, corrected until it is stretched as to first order; *clear: it is, and shells do not bound
 * it. */
static abut_status correct_all(abut_search *s, double alpha, double promised, double noise, int *clear, abut_report *rep,
                               abut_err *err)
{
    const double enough = fmax(FIRST_ORDER * promised, noise);
    double costs, before = HOPELESS * promised / CONVERGES;
    abut_limit lim = { .alpha = 1 };
    *clear = 0;
    abut_status rc = straight(s, alpha, &costs, err);
    for (int k = 0; k < LONG_CORRECTIONS && !rc && costs > enough && costs < CONVERGES * before; k++) {
        before = costs;
        rc = correct_once(s, &costs, rep, err);
    }
    if (rc || costs > enough) return rc;
    abut_limit_stretch(abut_codim_of(&s->prob.terms), s->here.x, s->second_order.p, ABUT_STRETCH_LEFT, &lim);
    *clear = lim.alpha == 1;
    return ABUT_OK;
}

/* Whether to try steps beyond the bounds of shells: while something touches, where other bounds follow, only along a direction
 * that has seen these. */
static int is_due(abut_search *s, const abut_move *m)
{
    if ((s->opt->search.without & ABUT_WITHOUT_BEYOND) || (abut_search_count(s) && !s->aim.ahead)) return 0;
    if (m->lim.kind != ABUT_LIMIT_STRETCH || WORTH_TRYING * m->lim.alpha > 1) return 0;
    return abut_rule_is_due(&s->second_order.beyond);
}

/* Decrease by a step of length alpha in a quadratic model with this slope. */
static double promise(double alpha, double slope) { return alpha * (1 - 0.5 * alpha) * slope; }

/* Searches the longest corrected step that shells do not bound, if one is worth it and lowers the objective. */
static abut_status search_beyond(abut_search *s, abut_move *m, double slope, abut_report *rep, abut_err *err)
{
    const double bound = m->lim.alpha;
    for (double alpha = abut_search_longest(s, m->it->residual); alpha >= WORTH_TRYING * bound && !m->moved; alpha *= SHORTER) {
        double fraction = 0;
        int clear;
        abut_status rc = correct_all(s, alpha, promise(alpha, slope), s->here.e.noise, &clear, rep, err);
        if (!rc && clear) rc = abut_search_try_along(s, &s->second_order.p, 1, 1, &fraction, m->it, rep, err);
        int falls = 0;
        if (!rc && fraction * alpha > bound) rc = abut_search_falls(s, fraction * alpha, &falls, rep, err);
        if (rc) return rc;
        if (falls) arrive(s, m, alpha, fraction, 1);
    }
    abut_rule_tried(&s->second_order.beyond, m->moved, LONGEST_WAIT);
    return ABUT_OK;
}

/* Backtracks, with steps corrected if their rotations stretch. */
static abut_status search_corrected(abut_search *s, abut_move *m, double slope, abut_report *rep, abut_err *err)
{
    const double bound = m->lim.alpha;
    for (double alpha = bound; alpha > bound * 0x1p-60 && !m->moved; alpha /= 2) {
        const double promised = promise(alpha, slope), enough = fmax(WORTH_CORRECTING * promised, s->here.e.noise);
        double costs, fraction = 1;
        abut_status rc = straight(s, alpha, &costs, err);
        const int corrects = costs > enough;
        if (!rc && corrects) rc = correct(s, enough, &costs, rep, err);
        if (!rc && corrects && !(costs < promised)) continue;   /* rotated too far to be taken back */
        if (!rc && (corrects || alpha < bound)) {
            rc = abut_search_try_along(s, &s->second_order.p, 1, 1, &fraction, m->it, rep, err);
        } else if (!rc) {
            rc = abut_search_try(s, alpha, m->it, rep, err);
        }
        int falls = 0;
        if (!rc) rc = abut_search_falls(s, fraction * alpha, &falls, rep, err);
        if (rc) return rc;
        if (falls) arrive(s, m, alpha, fraction, corrects);
    }
    return ABUT_OK;
}

abut_status abut_move_second_order(abut_search *s, abut_move *m, abut_report *rep, abut_err *err)
{
    if (m->searched || !abut_second_order_applies(s)) return ABUT_OK;
    const double slope = s->ops->aim.slope(s);
    m->searched = 1;
    if (is_due(s, m)) {
        abut_status rc = search_beyond(s, m, slope, rep, err);
        if (!rc && !m->moved) rc = s->ops->bound.candidates(s, m->lim.alpha, rep, err);     /* another line was the last one */
        if (rc || m->moved) return rc;
    }
    return search_corrected(s, m, slope, rep, err);
}

/* Tries the corrected step of `length` times s->p in place of the full one, which is kept.  It is taken, *longer 1, if the
 * objective is lower there. */
static abut_status try_longer(abut_search *s, abut_move *m, double length, double slope, int *longer, abut_report *rep,
                              abut_err *err)
{
    const double promised = 0.5 * length * slope, enough = fmax(WORTH_CORRECTING * promised, s->kept.e.noise);
    double costs, fraction = 0;
    *longer = 0;
    abut_status rc = straight(s, length, &costs, err);
    if (!rc) rc = correct(s, enough, &costs, rep, err);
    if (!rc && costs < promised)
        rc = abut_search_try_along(s, &s->second_order.p, abut_search_longest(s, length * m->it->residual), OF_BOUND, &fraction,
                                   m->it, rep, err);
    if (rc || fraction * length <= 1 || !(s->trial.e.sum < s->kept.e.sum)) return rc;
    arrive(s, m, length, fraction, 1);
    *longer = 1;
    return ABUT_OK;
}

abut_status abut_move_lengthen_second_order(abut_search *s, abut_move *m, abut_report *rep, abut_err *err)
{
    abut_second_order *so = &s->second_order;
    if (!abut_move_may_lengthen(s, m) || !abut_second_order_applies(s)) return ABUT_OK;
    const double slope = s->ops->aim.slope(s);
    const double curvature = abut_rule_curvature(slope, s->here.e.sum, s->trial.e.sum, s->trial.e.noise);
    const double length = curvature * MOST_LONGER > 1 ? 1 / curvature : MOST_LONGER;
    int longer;
    if (length < WORTH_TRYING) return ABUT_OK;
    abut_search_exchange(s, &s->kept);
    abut_search_swap(&so->p, &so->full);
    abut_search_swap(&so->linear_step, &so->full_linear);
    const abut_status rc = try_longer(s, m, length, slope, &longer, rep, err);
    if (longer) return ABUT_OK;
    abut_search_swap(&so->p, &so->full);
    abut_search_swap(&so->linear_step, &so->full_linear);
    abut_search_exchange(s, &s->kept);
    return rc;
}

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

#include "energy/elastic.h"
#include "energy/joint.h"
#include "math/rigid.h"
#include "math/vec3.h"
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
    for (int32_t k = 0; k < b->n; k++)
        if (p->held[r->node[b->first + k]] || p->row[r->node[b->first + k]] < 0 ||
            abut_locks_have(p->model, r->node[b->first + k]) || abut_joints_have(p->model, r->node[b->first + k]))
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

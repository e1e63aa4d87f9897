/* A straight direction that rotates a stiff body stretches it by the square of the angle.  Each step then strains the body, the
 * matrix of a strained body resists the rest of the rotation, and Newton's method takes hundreds of short steps for steel.  So
 * the rigid part of the direction, body by body, is replaced by a rotation, and the deforming part is rotated with it.  The step
 * is then the straight line from here to the rotated point, bounded and judged like any other.
 *
 * It applies only if the straight step would store more energy by rotations than a part of the decrease that the quadratic model
 * promises, and only in scenes whose contact surface is not that of their tets, as with cages.  Objects with prescribed nodes do
 * not rotate freely. */

#include "solve/search/search_parts.h"

#include "energy/material/model_laws.h"
#include "math/rigid.h"
#include "math/vec3.h"

#include <math.h>
#include <stdlib.h>

#define WORTH_ROTATING 0.1      /* least energy of rotations in the straight step, over the decrease of the quadratic model */
#define LARGEST 1.              /* rad: longer steps are halved first */

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
};

void abut_rotations_free(abut_rotations *r)
{
    if (!r) return;
    ABUT_FREE(r->of, r->node, r->p, r);
}

/* Stiffnesses of objects. */
static void weigh(const abut_model *m, body *of)
{
    for (int32_t t = 0; t < m->nt; t++) {
        const int32_t *v = m->tet + 4 * (size_t)t;
        double mu, lambda;
        abut_lame(m->mat_young[m->tet_mat[t]], m->mat_poisson[m->tet_mat[t]], &mu, &lambda);
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
    weigh(m, all);
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
        if (p->held[r->node[b->first + k]] || p->row[r->node[b->first + k]] < 0) return 1;
    return 0;
}

/* Returns the energy that the straight step s->p stores by rotations, kg m^2; *angle: the largest. */
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
        *angle = fmax(*angle, sqrt(a2));
        cost += p->step.weight_z2 * reach2 * b->stiffness * a2 * a2;
    }
    return cost;
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

#include "solve/local_global/collision_springs.h"

#include "base/par.h"
#include "math/vec3.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

abut_status abut_collision_springs_init(abut_collision_springs *c, const abut_objective *p, abut_err *err)
{
    assert(p);
    const size_t n3 = 3 * (size_t)p->model->nc + 1;
    *c = (abut_collision_springs){ .y0 = malloc(n3 * sizeof(double)), .y1 = malloc(n3 * sizeof(double)),
                                   .outward = malloc((size_t)p->model->nct + 1) };
    abut_status rc = c->y0 && c->y1 && c->outward
                         ? abut_collmesh_expect_nodes(&p->cm, "collision springs", err)
                         : abut_fail(err, ABUT_E_NOMEM, "collision springs: %d vertices", p->model->nc);
    if (!rc) rc = survey(c, p, err);
    if (rc) abut_collision_springs_clear(c);
    return rc;
}

void abut_collision_springs_clear(abut_collision_springs *c)
{
    abut_candidates_clear(&c->near);
    free(c->spring);
    free(c->seen);
    free(c->y0);
    free(c->y1);
    free(c->outward);
    *c = (abut_collision_springs){ 0 };
}

abut_status abut_collision_springs_start(abut_collision_springs *c, const abut_objective *p, const double *x, abut_err *err)
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
    if (c->n == c->cap) {
        const size_t cap = 2 * c->cap + 64;
        abut_collision_spring *grown = realloc(c->spring, cap * sizeof *grown);
        if (!grown) return abut_fail(err, ABUT_E_NOMEM, "%zu collision springs", cap);
        c->spring = grown;
        c->cap = cap;
    }
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

abut_status abut_collision_springs_find(abut_collision_springs *c, const abut_objective *p, const double *x, abut_err *err)
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

void abut_collision_springs_gradient(const abut_collision_springs *c, const abut_objective *p, const double *x, double *g)
{
    for (size_t k = 0; k < c->n; k++) {
        const abut_collision_spring *s = &c->spring[k];
        const double pull = p->w.psi * c->stiffness * fmin(0, depth(s, x));
        for (int a = 0; a < 4 && s->node[a] >= 0; a++)
            for (int i = 0; i < 3 && p->row[s->node[a]] >= 0; i++)
                g[3 * (size_t)s->node[a] + (size_t)i] += pull * s->weight[a] * s->normal[i];
    }
}

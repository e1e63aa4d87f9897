#include "model/build_parts.h"

#include "linalg/vec3.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Motions as they are found, before their number is known. */
typedef struct motions {
    int32_t n, cap, nnodes, cap_nodes;
    struct row {
        int32_t kind, lo, hi;
        double window[2], linear[3], angular[3], center[3];
        const char *from;
    } *row;
    int32_t *node;
} motions;

static abut_status add_node(motions *m, int32_t node, abut_err *err)
{
    if (m->nnodes == m->cap_nodes) {
        const int32_t cap = m->cap_nodes ? 2 * m->cap_nodes : 64;
        int32_t *p = cap > INT32_MAX / 4 ? NULL : realloc(m->node, (size_t)cap * sizeof *p);
        if (!p) return abut_fail(err, ABUT_E_NOMEM, "motions: no memory for %d nodes", cap);
        m->node = p, m->cap_nodes = cap;
    }
    m->node[m->nnodes++] = node;
    return ABUT_OK;
}

/* A new motion whose nodes are those added from now on until close. */
static abut_status open(motions *m, const char *from, struct row **row, abut_err *err)
{
    if (m->n == m->cap) {
        const int32_t cap = m->cap ? 2 * m->cap : 16;
        struct row *p = realloc(m->row, (size_t)cap * sizeof *p);
        if (!p) return abut_fail(err, ABUT_E_NOMEM, "motions: no memory for %d motions", cap);
        m->row = p, m->cap = cap;
    }
    *row = &m->row[m->n++];
    memset(*row, 0, sizeof **row);
    (*row)->lo = (*row)->hi = m->nnodes;
    (*row)->window[1] = INFINITY;
    (*row)->from = from;
    return ABUT_OK;
}

static int inside(const double *x, const double lo[3], const double hi[3])
{
    for (int k = 0; k < 3; k++)
        if (!(x[k] >= lo[k] && x[k] <= hi[k])) return 0;
    return 1;
}

static int selected(const abut_scene_select *s, const abut_part *p, const double box[2][3], int32_t i)
{
    const double *x = p->object->mesh.x + 3 * (size_t)i;
    if (p->node[i] < 0 || (s->on_surface && p->vertex[i] < 0)) return 0;
    if (s->in_box && !inside(x, s->lo, s->hi)) return 0;
    if (s->in_relative_box && !inside(x, box[0], box[1])) return 0;
    if (s->in_sphere) {
        const abut_vec3 d = abut_v3_sub(abut_v3_get(x), abut_v3_get(s->center));
        if (abut_v3_norm2(d) > s->radius * s->radius) return 0;
    }
    return 1;
}

static int chosen(const abut_scene_select *s, const abut_build *b, int32_t i)
{
    return s->object == i || (s->object < 0 && !b->part[i].object->obstacle);
}

/* The box that a relative one is a fraction of: around all chosen objects. */
static void relative_box(const abut_scene_select *s, const abut_build *b, double box[2][3])
{
    for (int k = 0; k < 3; k++) {
        double lo = INFINITY, hi = -INFINITY;
        for (int32_t i = 0; i < b->scene->nobjects; i++) {
            if (!chosen(s, b, i)) continue;
            lo = fmin(lo, b->out->object[i].lo[k]);
            hi = fmax(hi, b->out->object[i].hi[k]);
        }
        box[0][k] = lo + s->rlo[k] * (hi - lo);
        box[1][k] = lo + s->rhi[k] * (hi - lo);
    }
}

static void box_center(const abut_build *b, const motions *m, const struct row *r, double center[3])
{
    for (int k = 0; k < 3; k++) {
        double lo = INFINITY, hi = -INFINITY;
        for (int32_t i = r->lo; i < r->hi; i++) {
            const double v = b->X[3 * (size_t)m->node[i] + k];
            lo = fmin(lo, v), hi = fmax(hi, v);
        }
        center[k] = 0.5 * (lo + hi);
    }
}

/* The farthest of n nodes (NULL: first, first + 1, ...) along d, times sign. */
static double farthest(const abut_build *b, const int32_t *node, int32_t first, int32_t n, abut_vec3 d, double sign)
{
    double most = -INFINITY;
    for (int32_t i = 0; i < n; i++)
        most = fmax(most, sign * abut_v3_dot(d, abut_v3_get(b->X + 3 * (size_t)(node ? node[i] : first + i))));
    return most;
}

/* The end of a motion that stops at a gap: way to go over speed. */
static abut_status stop_at_gap(const abut_build *b, const motions *m, const abut_scene_motion *s, struct row *r, abut_err *err)
{
    const abut_vec3 v = abut_v3_get(s->linear);
    const double speed = sqrt(abut_v3_norm2(v)), gap = s->gap.per_length ? s->gap.value * b->out->length : s->gap.value;
    const abut_part *to = &b->part[s->to];
    const abut_vec3 d = abut_v3_scale(1 / speed, v);
    const double apart = -farthest(b, NULL, to->first, to->nodes, d, -1) - farthest(b, m->node + r->lo, 0, r->hi - r->lo, d, 1);
    if (!(apart > gap))
        return abut_fail(err, ABUT_E_FORMAT, "%s: %g m to '%s' along the motion at the start: expected more than the gap, %g m",
                         s->gap.from, apart, to->object->name, gap);
    r->window[1] = r->window[0] + (apart - gap) / speed;
    return ABUT_OK;
}

static abut_status scripted(abut_build *b, motions *m, const abut_scene_motion *s, abut_err *err)
{
    struct row *r;
    double box[2][3];
    relative_box(&s->select, b, box);
    abut_status rc = open(m, s->from, &r, err);
    for (int32_t o = 0; o < b->scene->nobjects; o++) {
        const abut_part *p = &b->part[o];
        for (int32_t i = 0; i < p->object->mesh.nv && !rc && chosen(&s->select, b, o); i++)
            if (selected(&s->select, p, (const double(*)[3])box, i)) rc = add_node(m, p->node[i], err);
    }
    if (rc) return rc;
    r->hi = m->nnodes;
    if (r->lo == r->hi) return abut_fail(err, ABUT_E_FORMAT, "%s: this motion selects no node", s->from);
    r->kind = s->act == ABUT_ACT_MOVE ? ABUT_MOTION_MOVE : ABUT_MOTION_FORCE;
    memcpy(r->window, s->window, sizeof r->window);
    memcpy(r->linear, s->linear, sizeof r->linear);
    memcpy(r->angular, s->angular, sizeof r->angular);
    if (s->stops && (rc = stop_at_gap(b, m, s, r, err))) return rc;
    if (s->has_center) memcpy(r->center, s->center, sizeof r->center);
    else box_center(b, m, r, r->center);
    double mass = 0;
    for (int32_t i = r->lo; i < r->hi; i++) {
        if (b->role[m->node[i]] == ABUT_NODE_OBSTACLE && s->act != ABUT_ACT_MOVE)
            return abut_fail(err, ABUT_E_FORMAT, "%s: a force on an obstacle: expected a body", s->from);
        mass += b->mass[m->node[i]];
    }
    for (int k = 0; k < 3 && s->act == ABUT_ACT_FORCE; k++) r->linear[k] /= mass;
    return ABUT_OK;
}

/* An obstacle's own velocity and spin, kept for the whole run. */
static abut_status obstacle_motion(abut_build *b, motions *m, const abut_part *p, abut_err *err)
{
    const abut_scene_object *o = p->object;
    struct row *r;
    if (!o->obstacle || (abut_v3_norm2(abut_v3_get(o->velocity)) == 0 && abut_v3_norm2(abut_v3_get(o->spin)) == 0))
        return ABUT_OK;
    abut_status rc = open(m, o->from, &r, err);
    for (int32_t i = 0; i < p->nodes && !rc; i++) rc = add_node(m, p->first + i, err);
    if (rc) return rc;
    r->hi = m->nnodes;
    memcpy(r->linear, o->velocity, sizeof r->linear);
    memcpy(r->angular, o->spin, sizeof r->angular);
    if (o->has_center) memcpy(r->center, o->center, sizeof r->center);
    else box_center(b, m, r, r->center);
    return ABUT_OK;
}

/* Positions to pass through: a motion of its own for each node and interval. */
static abut_status key_motions(motions *m, const abut_part *p, abut_err *err)
{
    const abut_scene_object *o = p->object;
    const size_t nv = (size_t)o->mesh.nv;
    abut_status rc = ABUT_OK;
    for (int32_t k = 0; k + 1 < o->nkeys && !rc; k++)
        for (size_t i = 0; i < nv && !rc; i++) {
            const double *a = o->key + 3 * ((size_t)k * nv + i), *b = a + 3 * nv;
            struct row *r;
            if (p->node[i] < 0 || !memcmp(a, b, 3 * sizeof *a)) continue;
            rc = open(m, o->from, &r, err);
            if (!rc) rc = add_node(m, p->node[i], err);
            if (rc) break;
            r->hi = m->nnodes;
            r->window[0] = k * o->key_step;
            r->window[1] = (k + 1) * o->key_step;
            for (int d = 0; d < 3; d++) r->linear[d] = (b[d] - a[d]) / o->key_step;
        }
    return rc;
}

typedef struct span {
    int32_t node, motion;
    double t0, t1;
} span;

static int by_node_and_time(const void *a, const void *b)
{
    const span *p = a, *q = b;
    if (p->node != q->node) return p->node < q->node ? -1 : 1;
    if (p->t0 != q->t0) return p->t0 < q->t0 ? -1 : 1;
    return (p->motion > q->motion) - (p->motion < q->motion);
}

/* No node may have two prescribed velocities at one time. */
static abut_status check_overlap(const motions *m, abut_err *err)
{
    span *s = malloc(((size_t)m->nnodes + 1) * sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "motions: no memory for %d nodes", m->nnodes);
    size_t n = 0;
    for (int32_t k = 0; k < m->n; k++)
        for (int32_t i = m->row[k].lo; i < m->row[k].hi && m->row[k].kind == ABUT_MOTION_MOVE; i++)
            s[n++] = (span){ m->node[i], k, m->row[k].window[0], m->row[k].window[1] };
    qsort(s, n, sizeof *s, by_node_and_time);
    abut_status rc = ABUT_OK;
    for (size_t i = 1; i < n && !rc; i++)
        if (s[i].node == s[i - 1].node && s[i].t0 < s[i - 1].t1)
            rc = abut_fail(err, ABUT_E_FORMAT, "%s: node %d is moved by another motion (%s) at the same time, from %g s",
                           m->row[s[i].motion].from, s[i].node, m->row[s[i - 1].motion].from, s[i].t0);
    free(s);
    return rc;
}

static abut_status put(abut_build *b, const motions *m, abut_err *err)
{
    if (!m->n) return ABUT_OK;
    int32_t *kind = abut_model_put(b->model, "motion/kind", m->n, err);
    double *window = kind ? abut_model_put(b->model, "motion/window", m->n, err) : NULL;
    double *linear = window ? abut_model_put(b->model, "motion/linear", m->n, err) : NULL;
    double *angular = linear ? abut_model_put(b->model, "motion/angular", m->n, err) : NULL;
    double *center = angular ? abut_model_put(b->model, "motion/center", m->n, err) : NULL;
    int32_t *first = center ? abut_model_put(b->model, "motion/first", m->n, err) : NULL;
    int32_t *node = first ? abut_model_put(b->model, "motion/node", m->nnodes, err) : NULL;
    if (!node) return err ? err->code : ABUT_E_NOMEM;
    for (int32_t k = 0; k < m->n; k++) {
        const struct row *r = &m->row[k];
        kind[k] = r->kind;
        memcpy(window + 2 * (size_t)k, r->window, sizeof r->window);
        memcpy(linear + 3 * (size_t)k, r->linear, sizeof r->linear);
        memcpy(angular + 3 * (size_t)k, r->angular, sizeof r->angular);
        memcpy(center + 3 * (size_t)k, r->center, sizeof r->center);
        first[2 * (size_t)k] = r->lo, first[2 * (size_t)k + 1] = r->hi;
        for (int32_t i = r->lo; i < r->hi && r->kind == ABUT_MOTION_MOVE; i++) {
            int32_t *role = &b->role[m->node[i]];
            if (*role == ABUT_NODE_FREE) *role = ABUT_NODE_HANDLE, b->out->handles++;
        }
    }
    memcpy(node, m->node, (size_t)m->nnodes * sizeof *node);
    b->out->motions = m->n;
    return ABUT_OK;
}

abut_status abut_build_motions(abut_build *b, abut_err *err)
{
    motions m = { 0 };
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < b->scene->nobjects && !rc; i++) {
        rc = obstacle_motion(b, &m, &b->part[i], err);
        if (!rc) rc = key_motions(&m, &b->part[i], err);
    }
    for (int32_t i = 0; i < b->scene->nmotions && !rc; i++) rc = scripted(b, &m, &b->scene->motion[i], err);
    if (!rc) rc = check_overlap(&m, err);
    if (!rc) rc = put(b, &m, err);
    free(m.row);
    free(m.node);
    return rc;
}

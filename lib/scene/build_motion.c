#include "scene/build_parts.h"

#include "geom/quadrature.h"
#include "math/vec3.h"
#include "mesh/surface.h"
#include "model/model.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Motions as they are found, before their number is known. */
typedef struct motions {
    int32_t n, cap, nnodes, cap_nodes, nkeys, cap_keys, npath, cap_path;
    struct row {
        int32_t kind, lo, hi, key[2], smooth, path;
        int hold, newtons;      /* FORCE: linear times share is a force */
        double window[2], linear[3], angular[3], scale[3], center[3];
        const char *from;
    } *row;
    struct moved {
        int32_t node, point;    /* of the model; of the object's mesh */
        double share[3];        /* of the row's linear: FORCE */
    } *node;
    abut_scene_pose *key;
    double *path;               /* [3 npath] */
} motions;

/* p with room for `more` rows of `size` bytes after the n that are there; NULL without memory, and p is as it was. */
static void *grow(void *p, int32_t *cap, int32_t n, int64_t more, size_t size, abut_err *err)
{
    if (p && n + more <= *cap) return p;
    const int64_t want = 2 * (n + more) + 16;
    void *grown = want > INT32_MAX ? NULL : realloc(p, (size_t)want * size);
    if (!grown) return abut_fail(err, ABUT_E_NOMEM, "motions: no memory for %lld rows", (long long)want), NULL;
    *cap = (int32_t)want;
    return grown;
}

static abut_status add_node(motions *m, int32_t node, int32_t point, abut_err *err)
{
    struct moved *grown = grow(m->node, &m->cap_nodes, m->nnodes, 1, sizeof *grown, err);
    if (!grown) return ABUT_E_NOMEM;
    m->node = grown;
    m->node[m->nnodes++] = (struct moved){ node, point, { 1, 1, 1 } };
    return ABUT_OK;
}

static abut_status reserve_keys(motions *m, int32_t more, abut_err *err)
{
    abut_scene_pose *grown = grow(m->key, &m->cap_keys, m->nkeys, more, sizeof *grown, err);
    if (!grown) return ABUT_E_NOMEM;
    m->key = grown;
    return ABUT_OK;
}

static abut_status reserve_path(motions *m, int64_t more, abut_err *err)
{
    double *grown = grow(m->path, &m->cap_path, m->npath, more, 3 * sizeof *grown, err);
    if (!grown) return ABUT_E_NOMEM;
    m->path = grown;
    return ABUT_OK;
}

/* A new motion whose nodes are those added from now on until close. */
static abut_status open(motions *m, const char *from, struct row **row, abut_err *err)
{
    struct row *grown = grow(m->row, &m->cap, m->n, 1, sizeof *grown, err);
    if (!grown) return ABUT_E_NOMEM;
    m->row = grown;
    *row = &m->row[m->n++];
    memset(*row, 0, sizeof **row);
    (*row)->lo = (*row)->hi = m->nnodes;
    (*row)->window[1] = INFINITY;
    (*row)->from = from;
    return ABUT_OK;
}

static void box_center(const abut_build *b, const motions *m, const struct row *r, double center[3])
{
    for (int k = 0; k < 3; k++) {
        double lo = INFINITY, hi = -INFINITY;
        for (int32_t i = r->lo; i < r->hi; i++) {
            const double v = b->X[3 * (size_t)m->node[i].node + k];
            lo = fmin(lo, v), hi = fmax(hi, v);
        }
        center[k] = 0.5 * (lo + hi);
    }
}

/* The farthest of n nodes (NULL: first, first + 1, ...) along d, times sign. */
static double farthest(const abut_build *b, const struct moved *node, int32_t first, int32_t n, abut_vec3 d, double sign)
{
    double most = -INFINITY;
    for (int32_t i = 0; i < n; i++)
        most = fmax(most, sign * abut_v3_dot(d, abut_v3_get(b->X + 3 * (size_t)(node ? node[i].node : first + i))));
    return most;
}

/* The distance along d at which the motion stops, m. */
static abut_status way_to_stop(const abut_build *b, const struct moved *node, int32_t n, const abut_scene_motion *s, abut_vec3 d,
                               double *way, abut_err *err)
{
    const double value = s->gap.per_length ? s->gap.value * b->out->length : s->gap.value;
    const double sign = d.x + d.y + d.z, front = farthest(b, node, 0, n, d, 1);
    const abut_part *to = s->stop == ABUT_STOP_AT ? NULL : &b->part[s->to];
    double apart;
    switch (s->stop) {
    case ABUT_STOP_GAP:
        apart = -farthest(b, NULL, to->first, to->nodes, d, -1) - front;
        *way = apart - value;
        if (*way > 0) return ABUT_OK;
        return abut_fail(err, ABUT_E_FORMAT, "%s: %g m to '%s' along the motion at the start: expected more than the gap, %g m",
                         s->gap.from, apart, to->object->name, value);
    case ABUT_STOP_PAST:
        apart = farthest(b, NULL, to->first, to->nodes, d, 1) + farthest(b, node, 0, n, d, -1);
        *way = value * apart;
        if (*way > 0) return ABUT_OK;
        return abut_fail(err, ABUT_E_FORMAT, "%s: all selected nodes are past '%s' at the start, by %g m: expected one before "
                         "its far end", s->gap.from, to->object->name, -apart);
    default:
        *way = sign * value - front;
        if (*way > 0) return ABUT_OK;
        return abut_fail(err, ABUT_E_FORMAT, "%s: the foremost selected node starts at the coordinate %g m: expected before %g "
                         "m, where it stops", s->gap.from, sign * front, value);
    }
}

/* The end of a motion that its surroundings stop: the distance over the speed; or the end of an earlier one. */
static abut_status find_stop(const abut_build *b, const motions *m, const abut_scene_motion *s, struct row *r, abut_err *err)
{
    if (s->stop == ABUT_STOP_WITH) {
        r->window[1] = m->row[m->n - 1 - (s - b->scene->motion) + s->to].window[1];
        if (r->window[0] < r->window[1]) return ABUT_OK;
        return abut_fail(err, ABUT_E_FORMAT, "%s: from %g s until motion %d ends, at %g s: expected the start first", s->gap.from,
                         r->window[0], s->to, r->window[1]);
    }
    const abut_vec3 v = abut_v3_get(s->linear);
    const double speed = sqrt(abut_v3_norm2(v));
    double way = 0;
    const abut_status rc = way_to_stop(b, m->node + r->lo, r->hi - r->lo, s, abut_v3_scale(1 / speed, v), &way, err);
    if (!rc) r->window[1] = r->window[0] + way / speed;
    return rc;
}

static abut_status select_nodes(const abut_build *b, motions *m, const abut_scene_select *s, struct row *r, abut_err *err)
{
    char what[ABUT_SCENE_FROM + 20];
    abut_listed *list = NULL;
    int32_t n = 0;
    snprintf(what, sizeof what, "%s: this motion", r->from);
    abut_status rc = abut_build_select(b, s, what, &list, &n, err);
    for (int32_t i = 0; i < n && !rc; i++) rc = add_node(m, list[i].node, list[i].point, err);
    r->hi = m->nnodes;
    free(list);
    return rc;
}

static abut_status set_poses(motions *m, const abut_scene_motion *s, struct row *r, abut_err *err)
{
    const abut_status rc = reserve_keys(m, s->nposes, err);
    if (rc) return rc;
    r->key[0] = m->nkeys;
    for (int32_t k = 0; k < s->nposes; k++) {
        m->key[m->nkeys] = s->pose[k];
        m->key[m->nkeys++].time += s->window[0];
    }
    r->key[1] = m->nkeys;
    r->kind = ABUT_MOTION_KEYS;
    r->window[1] = m->key[m->nkeys - 1].time;
    return ABUT_OK;
}

/* The positions of the row's nodes at every key; nv points a key are given. */
static abut_status set_path(motions *m, const abut_scene_path *path, int32_t nv, double start, struct row *r, abut_err *err)
{
    const int32_t n = r->hi - r->lo;
    abut_status rc = reserve_keys(m, path->n, err);
    if (!rc) rc = reserve_path(m, (int64_t)path->n * n, err);
    if (rc) return rc;
    r->key[0] = m->nkeys;
    r->path = m->npath;
    for (int32_t k = 0; k < path->n; k++) {
        m->key[m->nkeys++] = (abut_scene_pose){ .time = start + path->time[k], .turn = { 1, 0, 0, 0 }, .scale = { 1, 1, 1 } };
        for (int32_t j = 0; j < n; j++) {
            const size_t at = (size_t)k * (size_t)nv + (size_t)m->node[r->lo + j].point;
            memcpy(m->path + 3 * (size_t)m->npath++, path->x + 3 * at, 3 * sizeof *m->path);
        }
    }
    r->key[1] = m->nkeys;
    r->kind = ABUT_MOTION_PATH;
    r->window[0] = m->key[r->key[0]].time;
    r->window[1] = m->key[m->nkeys - 1].time;
    return ABUT_OK;
}

/* Forces on the faces of tets of higher order whose nodes are all selected: the integral of each basis times the load, which the
 * bases of the face on the map of the face make a polynomial. */
static abut_status load_faces(motions *m, const abut_part *p, const abut_scene_motion *s, const int32_t *at, int32_t *loaded,
                              abut_err *err)
{
    const abut_mesh *mesh = &p->object->mesh;
    const int order = abut_mesh_order(mesh), n = abut_triangle_nodes(order);
    int64_t *face = NULL;
    int32_t faces = 0;
    abut_quadrature q = { 0 };
    abut_status rc = abut_surface_faces(mesh->tet, mesh->nt, mesh->nv, &face, &faces, err);
    if (!rc) rc = abut_quadrature_triangle(order + 2 * (order - 1), &q, err);
    for (int32_t i = 0; i < faces && !rc; i++) {
        int32_t node[ABUT_TET_NODES_MAX];
        int of_face[ABUT_FACE_NODES_MAX], all = 1;
        abut_mesh_tet_nodes(mesh, (int32_t)(face[i] / 4), node);
        abut_tet_face_nodes(order, (int)(face[i] % 4), of_face);
        for (int k = 0; k < n; k++) all &= at[node[of_face[k]]] >= 0;
        *loaded += all;
        for (int j = 0; j < q.n && all; j++) {
            double phi[ABUT_FACE_NODES_MAX], dphi[ABUT_FACE_NODES_MAX][2];
            abut_vec3 d[2] = { { 0, 0, 0 }, { 0, 0, 0 } }, f = abut_v3_get(s->linear);
            abut_triangle_basis(order, q.L + 3 * j, phi, dphi);
            for (int k = 0; k < n; k++)
                for (int c = 0; c < 2; c++)
                    d[c] = abut_v3_axpy(d[c], dphi[k][c], abut_v3_get(mesh->x + 3 * (size_t)node[of_face[k]]));
            const abut_vec3 area = abut_v3_scale(0.5 * q.w[j], abut_v3_cross(d[0], d[1]));
            f = s->act == ABUT_ACT_PRESSURE ? abut_v3_scale(-f.x, area) : abut_v3_scale(abut_v3_norm(area), f);
            for (int k = 0; k < n; k++) {
                double *share = m->node[at[node[of_face[k]]]].share;
                abut_v3_put(share, abut_v3_axpy(abut_v3_get(share), phi[k], f));
            }
        }
    }
    abut_quadrature_clear(&q);
    free(face);
    return rc;
}

/* Force per area on the triangles of an object whose corners are all selected, a third to each, in newtons or over the mass of
 * the node; returns their number.  at[nv]: the row of a point, or -1. */
static int32_t load_triangles(const abut_build *b, motions *m, const abut_part *p, const abut_scene_motion *s, const int32_t *at,
                              int newtons)
{
    int32_t loaded = 0;
    for (int32_t t = 0; t < p->ntri; t++) {
        const int32_t *v = p->tri + 3 * (size_t)t;
        abut_vec3 x[3], f = abut_v3_get(s->linear);
        if (at[v[0]] < 0 || at[v[1]] < 0 || at[v[2]] < 0) continue;
        for (int k = 0; k < 3; k++) x[k] = abut_v3_get(p->object->mesh.x + 3 * (size_t)v[k]);
        const abut_vec3 area = abut_v3_scale(0.5, abut_v3_cross(abut_v3_sub(x[1], x[0]), abut_v3_sub(x[2], x[0])));
        f = s->act == ABUT_ACT_PRESSURE ? abut_v3_scale(-f.x, area) : abut_v3_scale(abut_v3_norm(area), f);
        for (int k = 0; k < 3; k++) {
            double *share = m->node[at[v[k]]].share;
            const double mass = newtons ? 1 : b->mass[m->node[at[v[k]]].node];
            abut_v3_put(share, abut_v3_axpy(abut_v3_get(share), 1 / (3 * mass), f));
        }
        loaded++;
    }
    return loaded;
}

static abut_status load_surface(abut_build *b, motions *m, const abut_scene_motion *s, struct row *r, abut_err *err)
{
    int32_t loaded = 0;
    abut_status rc = ABUT_OK;
    for (int32_t i = r->lo; i < r->hi; i++) memset(m->node[i].share, 0, sizeof m->node[i].share);
    for (int32_t o = 0; o < b->scene->nobjects && !rc; o++) {
        const abut_part *p = &b->part[o];
        int32_t *at = malloc(((size_t)p->object->mesh.nv + 1) * sizeof *at);
        if (!at) return abut_fail(err, ABUT_E_NOMEM, "motions: no memory for %d nodes", p->object->mesh.nv);
        memset(at, -1, ((size_t)p->object->mesh.nv + 1) * sizeof *at);
        for (int32_t i = r->lo; i < r->hi; i++)
            if (m->node[i].node >= p->first && m->node[i].node < p->first + p->nodes) at[m->node[i].point] = i;
        if (abut_mesh_order(&p->object->mesh) > 1) rc = load_faces(m, p, s, at, &loaded, err);
        else loaded += load_triangles(b, m, p, s, at, r->newtons);
        free(at);
    }
    if (rc) return rc;
    return loaded ? ABUT_OK : abut_fail(err, ABUT_E_FORMAT, "%s: no triangle of a surface has all its corners among the %d "
                                        "selected "
                                        "nodes", s->from, r->hi - r->lo);
}

/* 1 when a node of the row is of tets of order 2 and more: no acceleration of it alone is a force on it alone. */
static int has_high(const abut_build *b, const motions *m, const struct row *r)
{
    for (int32_t o = 0; o < b->scene->nobjects; o++) {
        const abut_part *p = &b->part[o];
        if (abut_mesh_order(&p->object->mesh) == 1) continue;
        for (int32_t i = r->lo; i < r->hi; i++)
            if (m->node[i].node >= p->first && m->node[i].node < p->first + p->nodes) return 1;
    }
    return 0;
}

/* Forces as what each node gets of an acceleration of 1 m/s^2 along every axis, or one acceleration for all; in newtons where the
 * mass matrix is not diagonal. */
static abut_status set_force(abut_build *b, motions *m, const abut_scene_motion *s, struct row *r, abut_err *err)
{
    double mass = 0;
    for (int32_t i = r->lo; i < r->hi; i++) {
        if (b->role[m->node[i].node] == ABUT_NODE_OBSTACLE)
            return abut_fail(err, ABUT_E_FORMAT, "%s: a force on an obstacle: expected a body", s->from);
        mass += b->mass[m->node[i].node];
    }
    r->kind = ABUT_MOTION_FORCE;
    r->newtons = s->act != ABUT_ACT_ACCELERATE && s->act != ABUT_ACT_DENSITY && has_high(b, m, r);
    for (int32_t i = r->lo; i < r->hi && r->newtons && s->act == ABUT_ACT_FORCE; i++)
        for (int k = 0; k < 3; k++) m->node[i].share[k] = b->mass[m->node[i].node] / mass;
    for (int k = 0; k < 3 && s->act == ABUT_ACT_FORCE && !r->newtons; k++) r->linear[k] /= mass;
    if (s->act == ABUT_ACT_ACCELERATE || s->act == ABUT_ACT_FORCE) return ABUT_OK;
    for (int k = 0; k < 3; k++) r->linear[k] = 1;
    if (s->act != ABUT_ACT_DENSITY) return load_surface(b, m, s, r, err);
    for (int32_t o = 0; o < b->scene->nobjects; o++) {
        const abut_part *p = &b->part[o];
        for (int32_t i = r->lo; i < r->hi; i++)
            if (m->node[i].node >= p->first && m->node[i].node < p->first + p->nodes)
                for (int k = 0; k < 3; k++)
                    m->node[i].share[k] = s->linear[k] / b->scene->material[p->object->material].density;
    }
    return ABUT_OK;
}

static abut_status scripted(abut_build *b, motions *m, const abut_scene_motion *s, abut_err *err)
{
    struct row *r;
    abut_status rc = open(m, s->from, &r, err);
    if (!rc) rc = select_nodes(b, m, &s->select, r, err);
    if (rc) return rc;
    b->out->selected[s - b->scene->motion] = r->hi - r->lo;
    r->hold = s->hold;
    r->smooth = s->smooth;
    memcpy(r->window, s->window, sizeof r->window);
    memcpy(r->linear, s->linear, sizeof r->linear);
    memcpy(r->angular, s->angular, sizeof r->angular);
    memcpy(r->scale, s->scale, sizeof r->scale);
    if (s->stop && (rc = find_stop(b, m, s, r, err))) return rc;
    if (s->center_of_box) abut_build_select_center(b, &s->select, r->center);
    else if (s->has_center) memcpy(r->center, s->center, sizeof r->center);
    else box_center(b, m, r, r->center);
    if (s->act == ABUT_ACT_KEYS) rc = set_poses(m, s, r, err);
    if (s->act == ABUT_ACT_PATH) rc = set_path(m, &s->path, b->part[s->select.object].object->mesh.nv, s->window[0], r, err);
    return rc || abut_act_moves(s->act) ? rc : set_force(b, m, s, r, err);
}

static abut_status add_all_nodes(motions *m, const abut_part *p, struct row *r, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < p->object->mesh.nv && !rc; i++)
        if (p->node[i] >= 0) rc = add_node(m, p->node[i], i, err);
    r->hi = m->nnodes;
    return rc;
}

/* An obstacle's own velocity and spin, kept for the whole run, or the positions it passes through. */
static abut_status obstacle_motion(abut_build *b, motions *m, const abut_part *p, abut_err *err)
{
    const abut_scene_object *o = p->object;
    struct row *r;
    const int still = abut_v3_norm2(abut_v3_get(o->velocity)) == 0 && abut_v3_norm2(abut_v3_get(o->spin)) == 0;
    if (!o->obstacle || (still && !o->path.n)) return ABUT_OK;
    abut_status rc = open(m, o->from, &r, err);
    if (!rc) rc = add_all_nodes(m, p, r, err);
    if (rc || o->path.n) return rc ? rc : set_path(m, &o->path, o->mesh.nv, 0, r, err);
    memcpy(r->linear, o->velocity, sizeof r->linear);
    memcpy(r->angular, o->spin, sizeof r->angular);
    if (o->has_center) memcpy(r->center, o->center, sizeof r->center);
    else box_center(b, m, r, r->center);
    return ABUT_OK;
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

/* One for every node and motion that prescribes it, in the order of nodes and times. */
static abut_status list_spans(const motions *m, span **spans, size_t *count, abut_err *err)
{
    span *s = malloc(((size_t)m->nnodes + 1) * sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "motions: no memory for %d nodes", m->nnodes);
    size_t n = 0;
    for (int32_t k = 0; k < m->n; k++)
        for (int32_t i = m->row[k].lo; i < m->row[k].hi && m->row[k].kind != ABUT_MOTION_FORCE; i++)
            s[n++] = (span){ m->node[i].node, k, m->row[k].window[0], m->row[k].window[1] };
    qsort(s, n, sizeof *s, by_node_and_time);
    *spans = s;
    *count = n;
    return ABUT_OK;
}

/* No node may have two prescribed velocities at one time. */
static abut_status check_overlap(const abut_build *b, const motions *m, const span *s, size_t n, abut_err *err)
{
    for (size_t i = 1; i < n; i++)
        if (s[i].node == s[i - 1].node && s[i].t0 < s[i - 1].t1) {
            const abut_part *p = abut_part_of(b, s[i].node);
            return abut_fail(err, ABUT_E_FORMAT, "%s: node %d of '%s' is moved by another motion (%s) at the same time, from "
                             "%g s",
                             m->row[s[i].motion].from, s[i].node - p->first, p->object->name, m->row[s[i - 1].motion].from,
                             s[i].t0);
        }
    return ABUT_OK;
}

static int by_motion_and_end(const void *a, const void *b)
{
    const span *p = a, *q = b;
    if (p->motion != q->motion) return p->motion < q->motion ? -1 : 1;
    if (p->t1 != q->t1) return p->t1 < q->t1 ? -1 : 1;
    return (p->node > q->node) - (p->node < q->node);
}

/* Nodes that are held after their motion rest from its end until the next one takes them: a motion of their own, which does
 * not move them, for all that are taken at the same time.  s is used up. */
static abut_status add_holds(motions *m, span *s, size_t n, abut_err *err)
{
    abut_status rc = ABUT_OK;
    size_t held = 0;
    struct row *r = NULL;
    for (size_t i = 0; i < n; i++) {
        const double next = i + 1 < n && s[i + 1].node == s[i].node ? s[i + 1].t0 : INFINITY;
        if (m->row[s[i].motion].hold && s[i].t1 < next) s[held++] = (span){ s[i].node, s[i].motion, s[i].t1, next };
    }
    qsort(s, held, sizeof *s, by_motion_and_end);
    for (size_t i = 0; i < held && !rc; i++) {
        if (i == 0 || s[i].motion != s[i - 1].motion || s[i].t1 != s[i - 1].t1) {
            rc = open(m, m->row[s[i].motion].from, &r, err);
            if (rc) break;
            r->window[0] = s[i].t0, r->window[1] = s[i].t1;
        }
        rc = add_node(m, s[i].node, -1, err);
        r->hi = m->nnodes;
    }
    return rc;
}

static abut_status resolve_times(const abut_build *b, motions *m, abut_err *err)
{
    span *s = NULL;
    size_t n = 0;
    abut_status rc = list_spans(m, &s, &n, err);
    if (!rc) rc = check_overlap(b, m, s, n, err);
    if (!rc) rc = add_holds(m, s, n, err);
    free(s);
    return rc;
}

/* abut_model_put for callers that want a status. */
static abut_status put_array(abut_build *b, const char *name, int32_t rows, void *data, abut_err *err)
{
    void *p = abut_model_put(b->model, name, rows, err);
    memcpy(data, &p, sizeof p);
    return p ? ABUT_OK : err ? err->code : ABUT_E_NOMEM;
}

/* Arrays that a program that knows only MOVE and FORCE does without; where there are some, it must not. */
static abut_status put_scales(abut_build *b, const motions *m, abut_err *err)
{
    double *scale;
    int grows = 0;
    for (int32_t k = 0; k < m->n; k++) grows |= abut_v3_norm2(abut_v3_get(m->row[k].scale)) > 0;
    if (!grows) return ABUT_OK;
    const abut_status rc = put_array(b, "motion/scale", m->n, &scale, err);
    if (rc) return rc;
    for (int32_t k = 0; k < m->n; k++) memcpy(scale + 3 * (size_t)k, m->row[k].scale, sizeof m->row[k].scale);
    abut_arrays_find(b->model, "motion/scale")->flags |= ABUT_A_REQUIRED;
    return ABUT_OK;
}

static abut_status put_shares(abut_build *b, const motions *m, abut_err *err)
{
    double *share;
    int differ = 0;
    for (int32_t i = 0; i < m->nnodes; i++)
        for (int k = 0; k < 3; k++) differ |= m->node[i].share[k] != 1;
    if (!differ) return ABUT_OK;
    const abut_status rc = put_array(b, "motion/share", m->nnodes, &share, err);
    if (rc) return rc;
    for (int32_t i = 0; i < m->nnodes; i++) memcpy(share + 3 * (size_t)i, m->node[i].share, sizeof m->node[i].share);
    abut_arrays_find(b->model, "motion/share")->flags |= ABUT_A_REQUIRED;
    return ABUT_OK;
}

static abut_status put_newtons(abut_build *b, const motions *m, abut_err *err)
{
    int32_t *newtons;
    int some = 0;
    for (int32_t k = 0; k < m->n; k++) some |= m->row[k].newtons;
    if (!some) return ABUT_OK;
    const abut_status rc = put_array(b, "motion/newtons", m->n, &newtons, err);
    if (rc) return rc;
    for (int32_t k = 0; k < m->n; k++) newtons[k] = m->row[k].newtons;
    abut_arrays_find(b->model, "motion/newtons")->flags |= ABUT_A_REQUIRED;
    return ABUT_OK;
}

static abut_status put_keys(abut_build *b, const motions *m, abut_err *err)
{
    int32_t *key, *smooth, *path;
    double *time, *shift, *turn, *scale, *x = NULL;
    if (!m->nkeys) return ABUT_OK;
    abut_status rc = put_array(b, "motion/key", m->n, &key, err);
    if (!rc) rc = put_array(b, "motion/smooth", m->n, &smooth, err);
    if (!rc) rc = put_array(b, "motion/path", m->n, &path, err);
    if (!rc) rc = put_array(b, "key/time", m->nkeys, &time, err);
    if (!rc) rc = put_array(b, "key/translation", m->nkeys, &shift, err);
    if (!rc) rc = put_array(b, "key/rotation", m->nkeys, &turn, err);
    if (!rc) rc = put_array(b, "key/scale", m->nkeys, &scale, err);
    if (!rc && m->npath) rc = put_array(b, "path/x", m->npath, &x, err);
    if (rc) return rc;
    for (int32_t k = 0; k < m->n; k++) {
        memcpy(key + 2 * (size_t)k, m->row[k].key, sizeof m->row[k].key);
        smooth[k] = m->row[k].smooth;
        path[k] = m->row[k].path;
    }
    for (int32_t k = 0; k < m->nkeys; k++) {
        time[k] = m->key[k].time;
        memcpy(shift + 3 * (size_t)k, m->key[k].shift, sizeof m->key[k].shift);
        memcpy(turn + 4 * (size_t)k, m->key[k].turn, sizeof m->key[k].turn);
        memcpy(scale + 3 * (size_t)k, m->key[k].scale, sizeof m->key[k].scale);
    }
    if (x) memcpy(x, m->path, 3 * (size_t)m->npath * sizeof *x);
    return ABUT_OK;
}

static abut_status put(abut_build *b, const motions *m, abut_err *err)
{
    int32_t *kind, *first, *node;
    double *window, *linear, *angular, *center;
    if (!m->n) return ABUT_OK;
    abut_status rc = put_array(b, "motion/kind", m->n, &kind, err);
    if (!rc) rc = put_array(b, "motion/window", m->n, &window, err);
    if (!rc) rc = put_array(b, "motion/linear", m->n, &linear, err);
    if (!rc) rc = put_array(b, "motion/angular", m->n, &angular, err);
    if (!rc) rc = put_array(b, "motion/center", m->n, &center, err);
    if (!rc) rc = put_array(b, "motion/first", m->n, &first, err);
    if (!rc) rc = put_array(b, "motion/node", m->nnodes, &node, err);
    if (rc) return rc;
    for (int32_t k = 0; k < m->n; k++) {
        const struct row *r = &m->row[k];
        kind[k] = r->kind;
        memcpy(window + 2 * (size_t)k, r->window, sizeof r->window);
        memcpy(linear + 3 * (size_t)k, r->linear, sizeof r->linear);
        memcpy(angular + 3 * (size_t)k, r->angular, sizeof r->angular);
        memcpy(center + 3 * (size_t)k, r->center, sizeof r->center);
        first[2 * (size_t)k] = r->lo, first[2 * (size_t)k + 1] = r->hi;
        for (int32_t i = r->lo; i < r->hi; i++) {
            int32_t *role = &b->role[m->node[i].node];
            node[i] = m->node[i].node;
            if (r->kind != ABUT_MOTION_FORCE && *role == ABUT_NODE_FREE) *role = ABUT_NODE_HANDLE, b->out->handles++;
        }
    }
    b->out->motions = m->n;
    rc = put_scales(b, m, err);
    if (!rc) rc = put_shares(b, m, err);
    if (!rc) rc = put_newtons(b, m, err);
    return rc ? rc : put_keys(b, m, err);
}

abut_status abut_build_motions(abut_build *b, abut_err *err)
{
    assert(b);
    motions m = { 0 };
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < b->scene->nobjects && !rc; i++) rc = obstacle_motion(b, &m, &b->part[i], err);
    for (int32_t i = 0; i < b->scene->nmotions && !rc; i++) rc = scripted(b, &m, &b->scene->motion[i], err);
    if (!rc) rc = resolve_times(b, &m, err);
    if (!rc) rc = put(b, &m, err);
    free(m.row);
    free(m.node);
    free(m.key);
    free(m.path);
    return rc;
}

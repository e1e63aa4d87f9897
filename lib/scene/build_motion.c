/* Motions and loads of a scene, as rows: their nodes, times, keys and factors; motions of one node that exclude each other. */
#include "base/arena.h"
#include "scene/build_parts.h"

#include "base/words.h"
#include "geom/quadrature.h"
#include "math/mat3.h"
#include "math/vec3.h"
#include "mesh/surface.h"
#include "model/model.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows as they are found, before their number is known ---- */

typedef struct motion_row {
    int32_t kind, lo, hi, key[2], smooth, path;     /* nodes [lo, hi); keys [key[0], key[1]), of FORCE those of a factor */
    int32_t entry;          /* of the list `motion`; -1: an obstacle's own */
    int hold;
    int32_t newtons;        /* FORCE: linear times share is a force */
    int32_t by_force;       /* ABUT_BY_FORCE_* */
    double window[2], linear[3], angular[3], scale[3], center[3], torque[3];
    const char *from;
} motion_row;

typedef struct moved {
    int32_t node, point;    /* of the model; of the object's mesh */
    double share[3];        /* of the row's linear: FORCE */
} moved;

/* Owns its lists. */
typedef struct motion_rows {
    int32_t n, cap, nnodes, cap_nodes, nkeys, cap_keys, npath, cap_path;
    motion_row *row;
    moved *node;
    abut_scene_pose *key;
    int32_t first_pressed;      /* keys from here on are factors of pressures, in the order of objects */
    double *path;               /* [3 npath] */
} motion_rows;

/* Returns whether an object has a pressure that changes in time. */
static int pressure_varies(const abut_scene_object *o)
{
    return !o->obstacle && o->shell.pressure != 0 && o->shell.factor.n > 0;
}

/* Grows p for `more` rows of `size` bytes after the first n.  Returns NULL without memory; p is then unchanged. */
static void *grow(void *p, int32_t *cap, int32_t n, int64_t more, size_t size, abut_err *err)
{
    if (p && n + more <= *cap) return p;
    const int64_t want = 2 * (n + more) + 16;
    void *grown = want > INT32_MAX ? NULL : realloc(p, (size_t)want * size);
    if (!grown) return abut_fail(err, ABUT_E_NOMEM, "motions: no memory for %lld rows", (long long)want), NULL;
    *cap = (int32_t)want;
    return grown;
}

static abut_status add_node(motion_rows *m, int32_t node, int32_t point, abut_err *err)
{
    moved *grown = grow(m->node, &m->cap_nodes, m->nnodes, 1, sizeof *grown, err);
    if (!grown) return ABUT_E_NOMEM;
    m->node = grown;
    m->node[m->nnodes++] = (moved){ node, point, { 1, 1, 1 } };
    return ABUT_OK;
}

static abut_status reserve_keys(motion_rows *m, int32_t more, abut_err *err)
{
    abut_scene_pose *grown = grow(m->key, &m->cap_keys, m->nkeys, more, sizeof *grown, err);
    if (!grown) return ABUT_E_NOMEM;
    m->key = grown;
    return ABUT_OK;
}

static abut_status reserve_path(motion_rows *m, int64_t more, abut_err *err)
{
    double *grown = grow(m->path, &m->cap_path, m->npath, more, 3 * sizeof *grown, err);
    if (!grown) return ABUT_E_NOMEM;
    m->path = grown;
    return ABUT_OK;
}

/* Adds a row; the nodes that are added next are its own, and the caller sets r->hi. */
static abut_status add_row(motion_rows *m, const char *from, motion_row **row, abut_err *err)
{
    motion_row *grown = grow(m->row, &m->cap, m->n, 1, sizeof *grown, err);
    if (!grown) return ABUT_E_NOMEM;
    m->row = grown;
    *row = &m->row[m->n++];
    memset(*row, 0, sizeof **row);
    (*row)->lo = (*row)->hi = m->nnodes;
    (*row)->window[1] = INFINITY;
    (*row)->from = from;
    (*row)->entry = -1;
    return ABUT_OK;
}

static void box_center(const abut_build *b, const motion_rows *m, const motion_row *r, double center[3])
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

/* Returns the largest coordinate along d, times sign, of n nodes (NULL: first, first + 1, ...). */
static double farthest(const abut_build *b, const moved *node, int32_t first, int32_t n, abut_vec3 d, double sign)
{
    double most = -INFINITY;
    for (int32_t i = 0; i < n; i++)
        most = fmax(most, sign * abut_v3_dot(d, abut_v3_get(b->X + 3 * (size_t)(node ? node[i].node : first + i))));
    return most;
}

/* Finds the distance along d, m, at which the motion stops. */
static abut_status travel_to_stop(const abut_build *b, const moved *node, int32_t n, const abut_scene_motion *s, abut_vec3 d,
                                  double *travel, abut_err *err)
{
    const double value = s->gap.per_length ? s->gap.value * b->out->length : s->gap.value;
    const double sign = d.x + d.y + d.z, front = farthest(b, node, 0, n, d, 1);
    const abut_part *to = s->stop == ABUT_STOP_AT ? NULL : &b->part[s->to];
    double apart;
    switch (s->stop) {
    case ABUT_STOP_GAP:
        apart = -farthest(b, NULL, to->first, to->nodes, d, -1) - front;
        *travel = apart - value;
        if (*travel > 0) return ABUT_OK;
        return abut_fail(err, ABUT_E_FORMAT, "%s: %g m to '%s' along the motion at the start: expected more than the gap, %g m",
                         s->gap.from, apart, to->object->name, value);
    case ABUT_STOP_PAST:
        apart = farthest(b, NULL, to->first, to->nodes, d, 1) + farthest(b, node, 0, n, d, -1);
        *travel = value * apart;
        if (*travel > 0) return ABUT_OK;
        return abut_fail(err, ABUT_E_FORMAT, "%s: all selected nodes are past '%s' at the start, by %g m: expected one before "
                         "its far end", s->gap.from, to->object->name, -apart);
    default:
        *travel = sign * value - front;
        if (*travel > 0) return ABUT_OK;
        return abut_fail(err, ABUT_E_FORMAT, "%s: the foremost selected node starts at the coordinate %g m: expected before %g "
                         "m, where it stops", s->gap.from, sign * front, value);
    }
}

/* Finds the end of a motion that its surroundings stop, the distance over the speed, or that ends with an earlier one. */
static abut_status find_stop(const abut_build *b, const motion_rows *m, const abut_scene_motion *s, motion_row *r,
                             abut_err *err)
{
    if (s->stop == ABUT_STOP_WITH) {
        r->window[1] = m->row[m->n - 1 - (s - b->scene->motion) + s->to].window[1];
        if (r->window[0] < r->window[1]) return ABUT_OK;
        return abut_fail(err, ABUT_E_FORMAT, "%s: from %g s until motion %d ends, at %g s: expected the start first", s->gap.from,
                         r->window[0], s->to, r->window[1]);
    }
    const abut_vec3 v = abut_v3_get(s->linear);
    const double speed = sqrt(abut_v3_norm2(v));
    double travel = 0;
    const abut_status rc = travel_to_stop(b, m->node + r->lo, r->hi - r->lo, s, abut_v3_scale(1 / speed, v), &travel, err);
    if (!rc) r->window[1] = r->window[0] + travel / speed;
    return rc;
}

static abut_status select_nodes(const abut_build *b, motion_rows *m, const abut_scene_select *s, motion_row *r,
                                abut_err *err)
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

static abut_status set_poses(motion_rows *m, const abut_scene_motion *s, motion_row *r, abut_err *err)
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

/* Sets the positions of the row's nodes at every key, from nv points of the path; its times count from `start`. */
static abut_status set_path(motion_rows *m, const abut_scene_path *path, int32_t nv, double start, motion_row *r,
                            abut_err *err)
{
    const int32_t n = r->hi - r->lo;
    abut_status rc = reserve_keys(m, path->n, err);
    if (!rc) rc = reserve_path(m, (int64_t)path->n * n, err);
    if (rc) return rc;
    r->key[0] = m->nkeys;
    r->path = m->npath;
    for (int32_t k = 0; k < path->n; k++) {
        m->key[m->nkeys++] = (abut_scene_pose){ .time = start + path->time[k], .rotation = { 1, 0, 0, 0 }, .scale = { 1, 1, 1 } };
        for (int32_t j = 0; j < n; j++) {
            const size_t at = (size_t)k * (size_t)nv + (size_t)m->node[r->lo + j].point;
            memcpy(m->path + 3 * (size_t)m->npath++, path->x + 3 * at, 3 * sizeof *m->path);
        }
    }
    r->key[1] = m->nkeys;
    r->kind = ABUT_MOTION_PATH;
    r->window[1] = m->key[m->nkeys - 1].time;
    return ABUT_OK;
}

/* Appends the keys of a factor whose times count from `start`: rows [key[0], key[1]). */
static abut_status add_factor(motion_rows *m, const abut_scene_table *factor, double start, int32_t key[2], abut_err *err)
{
    const abut_status rc = reserve_keys(m, factor->n, err);
    if (rc) return rc;
    key[0] = m->nkeys;
    for (int32_t i = 0; i < factor->n; i++)
        m->key[m->nkeys++] = (abut_scene_pose){ .time = start + factor->time[i], .rotation = { 1, 0, 0, 0 }, .scale = { 1, 1, 1 },
                                                .factor = factor->value[i] };
    key[1] = m->nkeys;
    return ABUT_OK;
}

/* ---- loads on bodies, surfaces and volumes, as shares of nodes ---- */

/* Loads the faces of tets of higher order whose nodes are all selected: a node gets the integral of its basis times the load, a
 * polynomial on the face. */
static abut_status load_faces(motion_rows *m, const abut_part *p, const abut_scene_motion *s, const int32_t *at,
                              int32_t *loaded, abut_err *err)
{
    const abut_mesh *mesh = &p->object->mesh;
    const int order = abut_mesh_order(mesh), n = abut_triangle_nodes(order);
    int64_t *face = NULL;
    int32_t faces = 0;
    abut_quadrature q = { 0 };
    abut_status rc = abut_surface_faces(mesh->tet, mesh->nt, &face, &faces, err);
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
static int32_t load_triangles(const abut_build *b, motion_rows *m, const abut_part *p, const abut_scene_motion *s,
                              const int32_t *at, int newtons)
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

/* The tet of a frame is not its body: its triangles are no surface to load. */
static abut_status refuse_frames(const abut_build *b, const motion_rows *m, const abut_scene_motion *s,
                                 const motion_row *r, abut_err *err)
{
    for (int32_t i = r->lo; i < r->hi; i++) {
        const abut_scene_object *o = abut_part_of(b, m->node[i].node)->object;
        if (o->is_frame)
            return abut_fail(err, ABUT_E_FORMAT, "%s: a %s on '%s', which is a frame: its four nodes have no surface; expected "
                             "force, force-density or acceleration", s->from,
                             s->act == ABUT_ACT_PRESSURE ? "pressure" : "traction", o->name);
    }
    return ABUT_OK;
}

static abut_status load_surface(abut_build *b, motion_rows *m, const abut_scene_motion *s, motion_row *r, abut_err *err)
{
    int32_t loaded = 0;
    abut_status rc = refuse_frames(b, m, s, r, err);
    if (rc) return rc;
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
                                        "selected nodes", s->from, r->hi - r->lo);
}

/* Returns whether a node of the row belongs to tets of order 2 or more: there a force on one node accelerates others, too. */
static int has_high(const abut_build *b, const motion_rows *m, const motion_row *r)
{
    for (int32_t o = 0; o < b->scene->nobjects; o++) {
        const abut_part *p = &b->part[o];
        if (abut_mesh_order(&p->object->mesh) == 1) continue;
        for (int32_t i = r->lo; i < r->hi; i++)
            if (m->node[i].node >= p->first && m->node[i].node < p->first + p->nodes) return 1;
    }
    return 0;
}

/* A torque, which turns nodes about their centre of mass. */
static abut_status set_torque(const abut_build *b, const motion_rows *m, const abut_scene_motion *s, motion_row *r, abut_err *err)
{
    const abut_scene_object *o = s->select.object < 0 ? NULL : &b->scene->object[s->select.object];
    const abut_vec3 first = abut_v3_get(b->X + 3 * (size_t)m->node[r->lo].node);
    abut_vec3 along = abut_v3(0, 0, 0);
    double across = 0;
    if (!o) return abut_fail(err, ABUT_E_FORMAT, "%s: torque: turns one body: expected 'object' in select", s->from);
    if (abut_mesh_order(&o->mesh) > 1)
        return abut_fail(err, ABUT_E_FORMAT, "%s: torque on '%s', whose tets have order %d: expected order 1", s->from, o->name,
                         abut_mesh_order(&o->mesh));
    for (int32_t i = r->lo; i < r->hi; i++) {
        const abut_vec3 d = abut_v3_sub(abut_v3_get(b->X + 3 * (size_t)m->node[i].node), first);
        across = fmax(across, abut_v3_norm(abut_v3_cross(along, d)));
        if (abut_v3_norm2(d) > abut_v3_norm2(along)) along = d;
    }
    if (!(across > 1e-12 * abut_v3_norm2(along)))
        return abut_fail(err, ABUT_E_FORMAT, "%s: torque on %d %s of '%s' on one line: expected three that span a plane", s->from,
                         r->hi - r->lo, abut_plural(r->hi - r->lo, "node", "nodes"), o->name);
    memcpy(r->torque, r->linear, sizeof r->torque);
    memset(r->linear, 0, sizeof r->linear);
    return ABUT_OK;
}

/* Makes a load of the row: one acceleration of all nodes, or a share for each of 1 m/s^2 along every axis; in newtons if the mass
 * matrix is not diagonal. */
static abut_status set_force(abut_build *b, motion_rows *m, const abut_scene_motion *s, motion_row *r, abut_err *err)
{
    double mass = 0;
    for (int32_t i = r->lo; i < r->hi; i++) {
        if (b->role[m->node[i].node] == ABUT_NODE_OBSTACLE)
            return abut_fail(err, ABUT_E_FORMAT, "%s: a force on an obstacle: expected a body", s->from);
        mass += b->mass[m->node[i].node];
    }
    r->kind = ABUT_MOTION_FORCE;
    if (s->act == ABUT_ACT_TORQUE) return set_torque(b, m, s, r, err);
    r->newtons = s->act != ABUT_ACT_ACCELERATE && s->act != ABUT_ACT_DENSITY && has_high(b, m, r);
    for (int32_t i = r->lo; i < r->hi && r->newtons && s->act == ABUT_ACT_FORCE; i++)
        for (int k = 0; k < 3; k++) m->node[i].share[k] = b->mass[m->node[i].node] / mass;
    if (s->act != ABUT_ACT_ACCELERATE && !r->newtons)
        r->by_force = s->act == ABUT_ACT_FORCE ? ABUT_BY_FORCE_ON_ALL : ABUT_BY_FORCE_ON_EACH;
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

/* ---- one motion ---- */

/* Refuses angles of so many turns that rounding leaves no digit of the direction. */
static abut_status check_turns(const abut_build *b, const motion_row *r, const char *from, abut_err *err)
{
    const double turns = abut_v3_norm(abut_v3_get(r->angular)) * b->scene->step.value / ABUT_TURN;
    return turns <= ABUT_TURNS_MOST ? ABUT_OK :
           abut_fail(err, ABUT_E_FORMAT, "%s: %.3g turns in a time step of %g s: expected at most %g", from, turns,
                     b->scene->step.value, ABUT_TURNS_MOST);
}

static abut_status scripted(abut_build *b, motion_rows *m, const abut_scene_motion *s, abut_err *err)
{
    motion_row *r;
    abut_status rc = add_row(m, s->from, &r, err);
    if (!rc) rc = select_nodes(b, m, &s->select, r, err);
    if (rc) return rc;
    b->out->selected[s - b->scene->motion] = r->hi - r->lo;
    r->entry = (int32_t)(s - b->scene->motion);
    r->hold = s->hold;
    r->smooth = s->smooth;
    memcpy(r->window, s->window, sizeof r->window);
    memcpy(r->linear, s->linear, sizeof r->linear);
    memcpy(r->angular, s->angular, sizeof r->angular);
    memcpy(r->scale, s->scale, sizeof r->scale);
    if ((rc = check_turns(b, r, s->from, err))) return rc;
    if (s->stop && (rc = find_stop(b, m, s, r, err))) return rc;
    if (s->center_of_box) abut_build_select_center(b, &s->select, r->center);
    else if (s->has_center) memcpy(r->center, s->center, sizeof r->center);
    else box_center(b, m, r, r->center);
    if (s->act == ABUT_ACT_KEYS) rc = set_poses(m, s, r, err);
    if (s->act == ABUT_ACT_PATH) rc = set_path(m, &s->path, b->part[s->select.object].object->mesh.nv, s->window[0], r, err);
    if (!rc && s->factor.n) rc = add_factor(m, &s->factor, s->window[0], r->key, err);
    return rc || abut_act_moves(s->act) ? rc : set_force(b, m, s, r, err);
}

static abut_status add_all_nodes(motion_rows *m, const abut_part *p, motion_row *r, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < p->object->mesh.nv && !rc; i++)
        if (p->node[i] >= 0) rc = add_node(m, p->node[i], i, err);
    r->hi = m->nnodes;
    return rc;
}

/* Adds the row of an obstacle's own velocity and spin, for the whole run, or of its path. */
static abut_status obstacle_motion(abut_build *b, motion_rows *m, const abut_part *p, abut_err *err)
{
    const abut_scene_object *o = p->object;
    motion_row *r;
    const int still = abut_v3_norm2(abut_v3_get(o->velocity)) == 0 && abut_v3_norm2(abut_v3_get(o->spin)) == 0;
    if (!o->obstacle || (still && !o->path.n)) return ABUT_OK;
    abut_status rc = add_row(m, o->from, &r, err);
    if (!rc) rc = add_all_nodes(m, p, r, err);
    if (!rc && o->path.n) r->window[0] = o->path.time[0];
    if (rc || o->path.n) return rc ? rc : set_path(m, &o->path, o->mesh.nv, 0, r, err);
    memcpy(r->linear, o->velocity, sizeof r->linear);
    memcpy(r->angular, o->spin, sizeof r->angular);
    if ((rc = check_turns(b, r, o->from, err))) return rc;
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

/* Lists a span for every node and motion that prescribes it, in the order of nodes and times. */
static abut_status list_spans(const motion_rows *m, span **spans, size_t *count, abut_err *err)
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

/* Fails if a node has two prescribed velocities at one time. */
static abut_status check_overlap(const abut_build *b, const motion_rows *m, const span *s, size_t n, abut_err *err)
{
    for (size_t i = 1; i < n; i++)
        if (s[i].node == s[i - 1].node && s[i].t0 < s[i - 1].t1) {
            const abut_part *p = abut_part_of(b, s[i].node);
            return abut_fail(err, ABUT_E_FORMAT, "%s: node %d of '%s' is moved by another motion (%s) at the same time, from "
                             "%g s", m->row[s[i].motion].from, s[i].node - p->first, p->object->name,
                             m->row[s[i - 1].motion].from, s[i].t0);
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
 * not move them, for all that are taken at the same time.  Overwrites s. */
static abut_status add_holds(motion_rows *m, span *s, size_t n, abut_err *err)
{
    abut_status rc = ABUT_OK;
    size_t held = 0;
    motion_row *r = NULL;
    for (size_t i = 0; i < n; i++) {
        const double next = i + 1 < n && s[i + 1].node == s[i].node ? s[i + 1].t0 : INFINITY;
        if (m->row[s[i].motion].hold && s[i].t1 < next) s[held++] = (span){ s[i].node, s[i].motion, s[i].t1, next };
    }
    qsort(s, held, sizeof *s, by_motion_and_end);
    for (size_t i = 0; i < held && !rc; i++) {
        if (i == 0 || s[i].motion != s[i - 1].motion || s[i].t1 != s[i - 1].t1) {
            rc = add_row(m, m->row[s[i].motion].from, &r, err);
            if (rc) break;
            r->entry = m->row[s[i].motion].entry;
            r->window[0] = s[i].t0, r->window[1] = s[i].t1;
        }
        rc = add_node(m, s[i].node, -1, err);
        r->hi = m->nnodes;
    }
    return rc;
}

/* ---- rotations ---- */

#define ON_AXIS 1e-9    /* of the scene's length: a node that is as near to an axis does not move about it */

/* Returns whether the rotation of key k, or of the row's rate if k < 0, moves a node of the row. */
static int sweeps(const abut_build *b, const motion_rows *m, const motion_row *r, int32_t k)
{
    const abut_vec3 axis = abut_v3_get(k < 0 ? r->angular : m->key[k].rotation + 1);
    for (int32_t i = r->lo; i < r->hi; i++) {
        const abut_vec3 d = abut_v3_sub(abut_v3_get(b->X + 3 * (size_t)m->node[i].node), abut_v3_get(r->center));
        if (abut_v3_norm(abut_v3_cross(axis, d)) > ON_AXIS * b->out->length * abut_v3_norm(axis)) return 1;
    }
    return 0;
}

/* A row rotates; moves a node, by its rotation or otherwise; carries the directions of a rod; prescribes a node of a rod. */
enum { ROTATES = 1, MOVES = 2, CARRIES = 4, OF_ROD = 8 };

static int actions_of(const abut_build *b, const motion_rows *m, const motion_row *r)
{
    int is = abut_v3_norm2(abut_v3_get(r->linear)) + abut_v3_norm2(abut_v3_get(r->scale)) > 0 ? MOVES : 0;
    if (r->kind == ABUT_MOTION_MOVE && abut_v3_norm2(abut_v3_get(r->angular)) > 0)
        is |= ROTATES | (sweeps(b, m, r, -1) ? MOVES : 0);
    for (int32_t k = r->key[0]; r->kind == ABUT_MOTION_KEYS && k < r->key[1]; k++) {
        const abut_scene_pose *p = &m->key[k];
        if (abut_v3_norm2(abut_v3_get(p->rotation + 1)) > 0) is |= ROTATES | (is & MOVES || sweeps(b, m, r, k) ? MOVES : 0);
        for (int d = 0; d < 3; d++) is |= p->shift[d] != 0 || p->scale[d] != 1 ? MOVES : 0;
    }
    return is;
}

static int by_node(const void *key, const void *s) { return *(const int32_t *)key - ((const span *)s)->node; }

/* Finds the spans of a node, [*lo, *hi) of s[n]. */
static void spans_of(const span *s, size_t n, int32_t node, size_t *lo, size_t *hi)
{
    const span *found = bsearch(&node, s, n, sizeof *s, by_node);
    *lo = *hi = found ? (size_t)(found - s) : 0;
    while (*lo > 0 && s[*lo - 1].node == node) --*lo;
    while (found && *hi < n && s[*hi].node == node) ++*hi;
}

/* The directions of a segment belong to the one motion that prescribes both its nodes.  Two motions of which one rotates would
 * want different ones. */
static abut_status check_segment(const abut_build *b, const motion_rows *m, const int32_t v[2], const span *s, size_t n,
                                 int *is, abut_err *err)
{
    size_t lo[2], hi[2];
    for (int k = 0; k < 2; k++) spans_of(s, n, v[k], &lo[k], &hi[k]);
    for (size_t i = lo[0]; i < hi[0]; i++)
        for (size_t j = lo[1]; j < hi[1]; j++) {
            const int32_t row[2] = { s[i].motion, s[j].motion };
            const int k = is[row[0]] & ROTATES ? 0 : 1;
            if (row[0] == row[1]) is[row[0]] |= CARRIES;
            if (row[0] == row[1] || !(is[row[k]] & ROTATES) || !(fmax(s[i].t0, s[j].t0) < fmin(s[i].t1, s[j].t1))) continue;
            const abut_part *of = abut_part_of(b, v[0]);
            return abut_fail(err, ABUT_E_FORMAT, "%s: rotates node %d of '%s' while another motion (%s) prescribes node %d, the "
                             "other end of its segment: expected both nodes in one motion, which rotates the directions of the "
                             "rod", m->row[row[k]].from, v[k] - of->first, of->object->name, m->row[row[1 - k]].from,
                             v[1 - k] - of->first);
        }
    return ABUT_OK;
}

/* A motion that rotates nodes of a rod moves a node or carries the directions of a rod.  Later motions find nodes where others
 * have left them. */
static abut_status check_rotations(const abut_build *b, const motion_rows *m, const span *s, size_t n, abut_err *err)
{
    const int32_t *rod = b->out->rods ? abut_arrays_find(b->model, "rod/node")->data : NULL;
    const int curved = abut_arrays_find(b->model, "rod/curvature") != NULL;
    int *is = malloc(((size_t)m->n + 1) * sizeof *is);
    if (!is) return abut_fail(err, ABUT_E_NOMEM, "motions: no memory for %d rows", m->n);
    abut_status rc = ABUT_OK;
    for (int32_t k = 0; k < m->n; k++) is[k] = actions_of(b, m, &m->row[k]);
    for (int32_t i = 0; i < 2 * b->out->rods; i++) {
        size_t lo, hi;
        for (spans_of(s, n, rod[i], &lo, &hi); lo < hi; lo++) is[s[lo].motion] |= OF_ROD;
    }
    for (int32_t i = 0; i < (curved ? b->out->rods : 0) && !rc; i++) rc = check_segment(b, m, rod + 2 * i, s, n, is, err);
    for (int32_t k = 0; k < m->n && !rc; k++) {
        const motion_row *r = &m->row[k];
        if (r->entry < 0 || r->window[0] > 0 || is[k] != (ROTATES | OF_ROD)) continue;
        rc = abut_fail(err, ABUT_E_FORMAT, "%s: the rotation does nothing: %d selected %s on its axis; expected nodes beside it, "
                       "or both nodes of a segment of a rod with 'curved: true', which twists", r->from, r->hi - r->lo,
                       abut_plural(r->hi - r->lo, "node lies", "nodes lie"));
    }
    free(is);
    return rc;
}

static abut_status resolve_times(const abut_build *b, motion_rows *m, abut_err *err)
{
    span *s = NULL;
    size_t n = 0;
    abut_status rc = list_spans(m, &s, &n, err);
    if (!rc) rc = check_overlap(b, m, s, n, err);
    if (!rc) rc = add_holds(m, s, n, err);
    free(s);
    s = NULL;
    if (!rc) rc = list_spans(m, &s, &n, err);
    if (!rc) rc = check_rotations(b, m, s, n, err);
    free(s);
    return rc;
}

static abut_status pressures(const abut_build *b, motion_rows *m, abut_err *err)
{
    abut_status rc = ABUT_OK;
    int32_t rows[2];
    m->first_pressed = m->nkeys;
    for (int32_t o = 0; o < b->scene->nobjects && !rc; o++)
        if (pressure_varies(&b->scene->object[o])) rc = add_factor(m, &b->scene->object[o].shell.factor, 0, rows, err);
    return rc;
}

/* ---- arrays of the model ---- */

#define MOTION(member, array) ABUT_COLUMN(motion_row, member, array)

static abut_status put_column(abut_build *b, const motion_rows *m, abut_column c, uint32_t flags, abut_err *err)
{
    return abut_build_columns(b, &c, 1, m->row, sizeof *m->row, m->n, flags, err);
}

/* Columns that a program that knows only MOVE and FORCE does without: required if a row needs them.  The list entry of each row
 * is there if it differs from the row's number: moving obstacles come first, rests of motions that hold their nodes last. */
static abut_status put_rare(abut_build *b, const motion_rows *m, abut_err *err)
{
    static const abut_column share = ABUT_COLUMN(moved, share, "motion/share");
    int grows = 0, differ = 0, newtons = 0, by_force = 0, shifted = 0, turned = 0;
    for (int32_t k = 0; k < m->n; k++) {
        grows |= abut_v3_norm2(abut_v3_get(m->row[k].scale)) > 0;
        newtons |= m->row[k].newtons, by_force |= m->row[k].by_force;
        shifted |= m->row[k].entry != k;
        turned |= abut_v3_norm2(abut_v3_get(m->row[k].torque)) > 0;
    }
    for (int32_t i = 0; i < m->nnodes; i++)
        for (int k = 0; k < 3; k++) differ |= m->node[i].share[k] != 1;
    abut_status rc = ABUT_OK;
    if (grows) rc = put_column(b, m, (abut_column)MOTION(scale, "motion/scale"), ABUT_A_REQUIRED, err);
    if (!rc && differ) rc = abut_build_columns(b, &share, 1, m->node, sizeof *m->node, m->nnodes, ABUT_A_REQUIRED, err);
    if (!rc && newtons) rc = put_column(b, m, (abut_column)MOTION(newtons, "motion/newtons"), ABUT_A_REQUIRED, err);
    if (!rc && turned) rc = put_column(b, m, (abut_column)MOTION(torque, "motion/torque"), ABUT_A_REQUIRED, err);
    if (!rc && by_force) rc = put_column(b, m, (abut_column)MOTION(by_force, "motion/by-force"), 0, err);
    return rc || !shifted ? rc : put_column(b, m, (abut_column)MOTION(entry, "motion/entry"), 0, err);
}

/* Puts poses of keys, and positions of paths. */
static abut_status put_poses(abut_build *b, const motion_rows *m, abut_err *err)
{
    static const abut_column columns[] = { ABUT_COLUMN(abut_scene_pose, shift, "key/translation"),
                                           ABUT_COLUMN(abut_scene_pose, rotation, "key/rotation"),
                                           ABUT_COLUMN(abut_scene_pose, scale, "key/scale") };
    static const abut_column place = { "path/x", 0, 3 * sizeof(double) };
    const abut_status rc = abut_build_columns(b, columns, 3, m->key, sizeof *m->key, m->nkeys, 0, err);
    return rc || !m->npath ? rc : abut_build_columns(b, &place, 1, m->path, place.size, m->npath, 0, err);
}

/* Puts factors of loads; 1 in the rows of poses.  Required: a program that does not know them must refuse the model. */
static abut_status put_factors(abut_build *b, const motion_rows *m, abut_err *err)
{
    int32_t first = m->first_pressed;
    const int presses = first < m->nkeys;
    double *factor = abut_build_required(b, "key/factor", m->nkeys, err);
    int32_t *pressed = factor && presses ? abut_build_required(b, "object/pressure-key", b->scene->nobjects, err) : NULL;
    if (!factor || (presses && !pressed)) return err ? err->code : ABUT_E_NOMEM;
    for (int32_t k = 0; k < m->nkeys; k++) factor[k] = k < first ? 1 : m->key[k].factor;
    for (int32_t r = 0; r < m->n; r++)
        for (int32_t k = m->row[r].key[0]; k < m->row[r].key[1] && m->row[r].kind == ABUT_MOTION_FORCE; k++)
            factor[k] = m->key[k].factor;
    for (int32_t o = 0; o < (pressed ? b->scene->nobjects : 0); o++) {
        const abut_scene_object *of = &b->scene->object[o];
        pressed[2 * (size_t)o] = first;
        if (pressure_varies(of)) first += of->shell.factor.n;
        pressed[2 * (size_t)o + 1] = first;
    }
    return ABUT_OK;
}

static abut_status put_keys(abut_build *b, const motion_rows *m, abut_err *err)
{
    static const abut_column time = ABUT_COLUMN(abut_scene_pose, time, "key/time");
    int poses = 0, loads = 0, rests = 0;
    if (!m->nkeys) return ABUT_OK;
    for (int32_t k = 0; k < m->n; k++) {
        const motion_row *r = &m->row[k];
        if (r->key[0] == r->key[1]) continue;
        if (r->kind == ABUT_MOTION_FORCE) loads = 1;
        else poses = 1;
        rests |= r->smooth;
    }
    abut_status rc = poses || loads ? put_column(b, m, (abut_column)MOTION(key, "motion/key"), 0, err) : ABUT_OK;
    if (!rc && (poses || rests)) rc = put_column(b, m, (abut_column)MOTION(smooth, "motion/smooth"), 0, err);
    if (!rc && poses) rc = put_column(b, m, (abut_column)MOTION(path, "motion/path"), 0, err);
    if (!rc) rc = abut_build_columns(b, &time, 1, m->key, sizeof *m->key, m->nkeys, 0, err);
    if (!rc && poses) rc = put_poses(b, m, err);
    return rc || !(loads || m->first_pressed < m->nkeys) ? rc : put_factors(b, m, err);
}

/* Puts motion/, key/ and path/ arrays, if there is any row; free nodes that are moved become handles. */
static abut_status put_rows(abut_build *b, const motion_rows *m, abut_err *err)
{
    static const abut_column columns[] = { MOTION(kind, "motion/kind"), MOTION(window, "motion/window"),
                                           MOTION(linear, "motion/linear"), MOTION(angular, "motion/angular"),
                                           MOTION(center, "motion/center"),
                                           { "motion/first", offsetof(motion_row, lo), 2 * sizeof(int32_t) } };
    static const abut_column node = ABUT_COLUMN(moved, node, "motion/node");
    _Static_assert(offsetof(motion_row, hi) == offsetof(motion_row, lo) + sizeof(int32_t), "motion/first is [lo, hi)");
    if (!m->n) return put_keys(b, m, err);
    abut_status rc = abut_build_columns(b, columns, 6, m->row, sizeof *m->row, m->n, 0, err);
    if (!rc) rc = abut_build_columns(b, &node, 1, m->node, sizeof *m->node, m->nnodes, 0, err);
    for (int32_t k = 0; k < m->n && !rc; k++)
        for (int32_t i = m->row[k].lo; i < m->row[k].hi; i++) {
            int32_t *role = &b->role[m->node[i].node];
            if (m->row[k].kind != ABUT_MOTION_FORCE && *role == ABUT_NODE_FREE) *role = ABUT_NODE_HANDLE, b->out->handles++;
        }
    if (!rc) rc = put_rare(b, m, err);
    return rc ? rc : put_keys(b, m, err);
}

abut_status abut_build_motions(abut_build *b, abut_err *err)
{
    assert(b);
    motion_rows m = { 0 };
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < b->scene->nobjects && !rc; i++) rc = obstacle_motion(b, &m, &b->part[i], err);
    for (int32_t i = 0; i < b->scene->nmotions && !rc; i++) rc = scripted(b, &m, &b->scene->motion[i], err);
    b->out->motions = m.n;
    if (!rc) rc = resolve_times(b, &m, err);
    if (!rc) rc = pressures(b, &m, err);
    if (!rc) rc = put_rows(b, &m, err);
    ABUT_FREE(m.row, m.node, m.key, m.path);
    return rc;
}

#include "scene/motion_rows.h"

#include "geom/quadrature.h"
#include "math/vec3.h"
#include "mesh/surface.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- forces: what each node gets of a load on a body, a surface or a volume ---- */

/* Forces on the faces of tets of higher order whose nodes are all selected: the integral of each basis times the load, which the
 * bases of the face on the map of the face make a polynomial. */
static abut_status load_faces(abut_motion_rows *m, const abut_part *p, const abut_scene_motion *s, const int32_t *at,
                              int32_t *loaded, abut_err *err)
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
static int32_t load_triangles(const abut_build *b, abut_motion_rows *m, const abut_part *p, const abut_scene_motion *s,
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
static abut_status refuse_frames(const abut_build *b, const abut_motion_rows *m, const abut_scene_motion *s,
                                 const abut_motion_row *r, abut_err *err)
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

static abut_status load_surface(abut_build *b, abut_motion_rows *m, const abut_scene_motion *s, abut_motion_row *r, abut_err *err)
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
                                        "selected "
                                        "nodes", s->from, r->hi - r->lo);
}

/* 1 when a node of the row is of tets of order 2 and more: no acceleration of it alone is a force on it alone. */
static int has_high(const abut_build *b, const abut_motion_rows *m, const abut_motion_row *r)
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
abut_status abut_motion_set_force(abut_build *b, abut_motion_rows *m, const abut_scene_motion *s, abut_motion_row *r,
                                  abut_err *err)
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

/* ---- arrays of the model ---- */

/* Arrays that a program that knows only MOVE and FORCE does without; where there are some, it must not. */
static abut_status put_scales(abut_build *b, const abut_motion_rows *m, abut_err *err)
{
    double *scale;
    int grows = 0;
    for (int32_t k = 0; k < m->n; k++) grows |= abut_v3_norm2(abut_v3_get(m->row[k].scale)) > 0;
    if (!grows) return ABUT_OK;
    const abut_status rc = abut_build_put(b->model, "motion/scale", m->n, &scale, err);
    if (rc) return rc;
    for (int32_t k = 0; k < m->n; k++) memcpy(scale + 3 * (size_t)k, m->row[k].scale, sizeof m->row[k].scale);
    abut_arrays_find(b->model, "motion/scale")->flags |= ABUT_A_REQUIRED;
    return ABUT_OK;
}

static abut_status put_shares(abut_build *b, const abut_motion_rows *m, abut_err *err)
{
    double *share;
    int differ = 0;
    for (int32_t i = 0; i < m->nnodes; i++)
        for (int k = 0; k < 3; k++) differ |= m->node[i].share[k] != 1;
    if (!differ) return ABUT_OK;
    const abut_status rc = abut_build_put(b->model, "motion/share", m->nnodes, &share, err);
    if (rc) return rc;
    for (int32_t i = 0; i < m->nnodes; i++) memcpy(share + 3 * (size_t)i, m->node[i].share, sizeof m->node[i].share);
    abut_arrays_find(b->model, "motion/share")->flags |= ABUT_A_REQUIRED;
    return ABUT_OK;
}

/* A whole number of each row, the member at `at` of abut_motion_row, where a row has one that is not 0. */
static abut_status put_numbers(abut_build *b, const abut_motion_rows *m, const char *name, size_t at, uint32_t flags,
                               abut_err *err)
{
    int32_t *number;
    int some = 0;
    for (int32_t k = 0; k < m->n; k++) some |= *(const int32_t *)((const char *)&m->row[k] + at);
    if (!some) return ABUT_OK;
    const abut_status rc = abut_build_put(b->model, name, m->n, &number, err);
    if (rc) return rc;
    for (int32_t k = 0; k < m->n; k++) number[k] = *(const int32_t *)((const char *)&m->row[k] + at);
    abut_arrays_find(b->model, name)->flags |= flags;
    return ABUT_OK;
}

/* Puts the list entry of each row if it differs from the row's number: moving obstacles come first, rests of motions that hold
 * their nodes last. */
static abut_status put_entries(abut_build *b, const abut_motion_rows *m, abut_err *err)
{
    int32_t *entry;
    int differ = 0;
    for (int32_t k = 0; k < m->n; k++) differ |= m->row[k].entry != k;
    if (!differ) return ABUT_OK;
    const abut_status rc = abut_build_put(b->model, "motion/entry", m->n, &entry, err);
    if (rc) return rc;
    for (int32_t k = 0; k < m->n; k++) entry[k] = m->row[k].entry;
    return ABUT_OK;
}

/* Poses of keys, and the positions of paths. */
static abut_status put_poses(abut_build *b, const abut_motion_rows *m, abut_err *err)
{
    double *shift, *rotation, *scale, *x = NULL;
    abut_status rc = abut_build_put(b->model, "key/translation", m->nkeys, &shift, err);
    if (!rc) rc = abut_build_put(b->model, "key/rotation", m->nkeys, &rotation, err);
    if (!rc) rc = abut_build_put(b->model, "key/scale", m->nkeys, &scale, err);
    if (!rc && m->npath) rc = abut_build_put(b->model, "path/x", m->npath, &x, err);
    if (rc) return rc;
    for (int32_t k = 0; k < m->nkeys; k++) {
        memcpy(shift + 3 * (size_t)k, m->key[k].shift, sizeof m->key[k].shift);
        memcpy(rotation + 4 * (size_t)k, m->key[k].rotation, sizeof m->key[k].rotation);
        memcpy(scale + 3 * (size_t)k, m->key[k].scale, sizeof m->key[k].scale);
    }
    if (x) memcpy(x, m->path, 3 * (size_t)m->npath * sizeof *x);
    return ABUT_OK;
}

/* Puts factors of loads; 1 in the rows of poses.  Required: a program that does not know them must refuse the model. */
static abut_status put_factors(abut_build *b, const abut_motion_rows *m, abut_err *err)
{
    double *factor;
    int32_t *pressed = NULL, first = m->first_pressed;
    abut_status rc = abut_build_put(b->model, "key/factor", m->nkeys, &factor, err);
    if (!rc && first < m->nkeys) rc = abut_build_put(b->model, "object/pressure-key", b->scene->nobjects, &pressed, err);
    if (rc) return rc;
    for (int32_t k = 0; k < m->nkeys; k++) factor[k] = k < first ? 1 : m->key[k].factor;
    for (int32_t r = 0; r < m->n; r++)
        for (int32_t k = m->row[r].key[0]; k < m->row[r].key[1] && m->row[r].kind == ABUT_MOTION_FORCE; k++)
            factor[k] = m->key[k].factor;
    abut_arrays_find(b->model, "key/factor")->flags |= ABUT_A_REQUIRED;
    if (!pressed) return ABUT_OK;
    for (int32_t o = 0; o < b->scene->nobjects; o++) {
        const abut_scene_object *of = &b->scene->object[o];
        pressed[2 * (size_t)o] = first;
        if (abut_pressure_varies(of)) first += of->shell.factor.n;
        pressed[2 * (size_t)o + 1] = first;
    }
    abut_arrays_find(b->model, "object/pressure-key")->flags |= ABUT_A_REQUIRED;
    return ABUT_OK;
}

static abut_status put_keys(abut_build *b, const abut_motion_rows *m, abut_err *err)
{
    int32_t *key = NULL, *smooth = NULL, *path = NULL;
    double *time;
    int poses = 0, loads = 0, rests = 0;
    if (!m->nkeys) return ABUT_OK;
    for (int32_t k = 0; k < m->n; k++) {
        const abut_motion_row *r = &m->row[k];
        if (r->key[0] == r->key[1]) continue;
        if (r->kind == ABUT_MOTION_FORCE) loads = 1;
        else poses = 1;
        rests |= r->smooth;
    }
    abut_status rc = poses || loads ? abut_build_put(b->model, "motion/key", m->n, &key, err) : ABUT_OK;
    if (!rc && (poses || rests)) rc = abut_build_put(b->model, "motion/smooth", m->n, &smooth, err);
    if (!rc && poses) rc = abut_build_put(b->model, "motion/path", m->n, &path, err);
    if (!rc) rc = abut_build_put(b->model, "key/time", m->nkeys, &time, err);
    if (rc) return rc;
    for (int32_t k = 0; k < m->n; k++) {
        if (key) memcpy(key + 2 * (size_t)k, m->row[k].key, sizeof m->row[k].key);
        if (smooth) smooth[k] = m->row[k].smooth;
        if (path) path[k] = m->row[k].path;
    }
    for (int32_t k = 0; k < m->nkeys; k++) time[k] = m->key[k].time;
    rc = poses ? put_poses(b, m, err) : ABUT_OK;
    return rc || !(loads || m->first_pressed < m->nkeys) ? rc : put_factors(b, m, err);
}

abut_status abut_motion_rows_put(abut_build *b, const abut_motion_rows *m, abut_err *err)
{
    int32_t *kind, *first, *node;
    double *window, *linear, *angular, *center;
    if (!m->n) return put_keys(b, m, err);
    abut_status rc = abut_build_put(b->model, "motion/kind", m->n, &kind, err);
    if (!rc) rc = abut_build_put(b->model, "motion/window", m->n, &window, err);
    if (!rc) rc = abut_build_put(b->model, "motion/linear", m->n, &linear, err);
    if (!rc) rc = abut_build_put(b->model, "motion/angular", m->n, &angular, err);
    if (!rc) rc = abut_build_put(b->model, "motion/center", m->n, &center, err);
    if (!rc) rc = abut_build_put(b->model, "motion/first", m->n, &first, err);
    if (!rc) rc = abut_build_put(b->model, "motion/node", m->nnodes, &node, err);
    if (rc) return rc;
    for (int32_t k = 0; k < m->n; k++) {
        const abut_motion_row *r = &m->row[k];
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
    rc = put_scales(b, m, err);
    if (!rc) rc = put_shares(b, m, err);
    if (!rc) rc = put_numbers(b, m, "motion/newtons", offsetof(abut_motion_row, newtons), ABUT_A_REQUIRED, err);
    if (!rc) rc = put_numbers(b, m, "motion/by-force", offsetof(abut_motion_row, by_force), 0, err);
    if (!rc) rc = put_entries(b, m, err);
    return rc ? rc : put_keys(b, m, err);
}

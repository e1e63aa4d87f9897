#include "scene/scene.h"

#include "model/model.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const abut_scene_nodal_key abut_scene_nodal_keys[ABUT_NODAL_KEYS] = {
    { "newton", "nodal/newton", ABUT_NODAL_WHOLE, NULL },
    { "iterations", "nodal/iterations", ABUT_NODAL_WHOLE, NULL },
    { "sweeps", "nodal/sweeps", ABUT_NODAL_WHOLE, NULL },
    { "tolerance", "nodal/tolerance", ABUT_NODAL_LENGTH, "m" },
    { "gap", "nodal/gap", ABUT_NODAL_LENGTH, "m" },
    { "beta", "nodal/beta", ABUT_NODAL_REAL, "" },
    { "sigma", "nodal/sigma", ABUT_NODAL_REAL, "" },
    { "freeze", "nodal/freeze", ABUT_NODAL_SHARE, "" },
    { "return", "nodal/return", ABUT_NODAL_RETURN, NULL },
    { "integrator", "nodal/integrator", ABUT_NODAL_INTEGRATOR, NULL },
    { "accelerated", "nodal/accelerated", ABUT_NODAL_FLAG, NULL },
    { "compliance", "nodal/compliance", ABUT_NODAL_STIFFNESS, "N/m" },
};

static abut_param param(double value, int per_length)
{
    return (abut_param){ value, per_length, "default" };
}

abut_scene abut_scene_defaults(void)
{
    abut_scene s = { 0 };
    s.step = param(0.01, 0);
    s.end = param(0, 0);
    s.damp_mass = param(0, 0);
    s.damp_stiffness = param(0, 0);
    s.kappa_scale = param(1, 0);
    s.kappa_range = param(100, 0);
    s.newmark_beta = param(ABUT_NEWMARK_BETA, 0);
    s.newmark_gamma = param(ABUT_NEWMARK_GAMMA, 0);
    s.gravity[1] = -9.81;
    s.dhat = param(1e-3, 1);
    s.eps_v = s.tolerance = param(0, 0);
    s.force_tolerance = param(0.1, 0);
    s.mu = param(0, 0);
    s.barrier_law = ABUT_BARRIER_IPC;
    s.friction_law = ABUT_FRICTION_C1;
    s.lags = param(1, 0);
    return s;
}

static int room(void **p, int32_t n, size_t row)
{
    free(*p);
    *p = calloc((size_t)n + 1, row);
    return *p != NULL;
}

abut_status abut_scene_reserve(abut_scene *s, int32_t nmaterials, int32_t nobjects, int32_t nplanes, int32_t nmotions,
                               int32_t npairs, abut_err *err)
{
    const int ok = room((void **)&s->material, nmaterials, sizeof *s->material) &&
                   room((void **)&s->object, nobjects, sizeof *s->object) &&
                   room((void **)&s->plane, nplanes, sizeof *s->plane) &&
                   room((void **)&s->motion, nmotions, sizeof *s->motion) &&
                   room((void **)&s->pair, npairs, sizeof *s->pair);
    if (!ok) return abut_fail(err, ABUT_E_NOMEM, "scene: no memory for %d objects, %d motions", nobjects, nmotions);
    s->nmaterials = nmaterials, s->nobjects = nobjects, s->nplanes = nplanes, s->nmotions = nmotions, s->npairs = npairs;
    return ABUT_OK;
}

abut_status abut_scene_reserve_attachments(abut_scene *s, int32_t n, abut_err *err)
{
    assert(s && n >= 0);
    s->attachment = calloc((size_t)n + 1, sizeof *s->attachment);
    if (!s->attachment) return abut_fail(err, ABUT_E_NOMEM, "scene: no memory for %d attachments", n);
    s->nattachments = n;
    return ABUT_OK;
}

abut_status abut_scene_reserve_seams(abut_scene *s, int32_t n, abut_err *err)
{
    s->seam = calloc((size_t)n + 1, sizeof *s->seam);
    if (!s->seam) return abut_fail(err, ABUT_E_NOMEM, "scene: no memory for %d seams", n);
    s->nseams = n;
    return ABUT_OK;
}

abut_status abut_scene_reserve_cohesions(abut_scene *s, int32_t n, abut_err *err)
{
    s->cohesion = calloc((size_t)n + 1, sizeof *s->cohesion);
    if (!s->cohesion) return abut_fail(err, ABUT_E_NOMEM, "scene: no memory for %d cohesions", n);
    s->ncohesions = n;
    return ABUT_OK;
}

void abut_scene_path_transform(abut_scene_path *path, int32_t nv, const double A[9], const double b[3])
{
    for (size_t i = 0; i < (size_t)path->n * (size_t)nv; i++) {
        double *p = path->x + 3 * i;
        const double q[3] = { p[0], p[1], p[2] };
        for (int k = 0; k < 3; k++) p[k] = A[3 * k] * q[0] + A[3 * k + 1] * q[1] + A[3 * k + 2] * q[2] + b[k];
    }
}

/* x -> A x + b for every object that is placed and every position that it passes through. */
static void transform_all(abut_scene *s, const double A[9], const double b[3])
{
    for (int32_t i = 0; i < s->nobjects; i++) {
        abut_scene_object *o = &s->object[i];
        if (o->in_place) continue;
        abut_mesh_transform(&o->mesh, A, b);
        abut_mesh_transform(&o->proxy.surface, A, b);
        abut_mesh_transform(&o->reference, A, b);
        abut_scene_path_transform(&o->path, o->mesh.nv, A, b);
    }
    for (int32_t i = 0; i < s->nmotions; i++) {
        abut_scene_motion *m = &s->motion[i];
        const abut_scene_object *o = m->act == ABUT_ACT_PATH ? &s->object[m->select.object] : NULL;
        if (o && !o->in_place) abut_scene_path_transform(&m->path, o->mesh.nv, A, b);
    }
}

/* Bounding box of all placed objects, or of the simulated ones alone.  Returns 0 if there are none. */
static int bounds(const abut_scene *s, int simulated, double lo[3], double hi[3])
{
    double a[3], b[3];
    int any = 0;
    for (int32_t i = 0; i < s->nobjects; i++) {
        const abut_scene_object *o = &s->object[i];
        if (!o->mesh.nv || (simulated ? o->obstacle : o->in_place)) continue;
        abut_mesh_bounds(&o->mesh, a, b);
        for (int k = 0; k < 3; k++) {
            lo[k] = any && lo[k] < a[k] ? lo[k] : a[k];
            hi[k] = any && hi[k] > b[k] ? hi[k] : b[k];
        }
        any = 1;
    }
    return any;
}

/* Rest shapes grow with the scene; they do not rotate. */
static void scale_rest(abut_scene_object *o, double c)
{
    for (size_t i = 0; o->shell.rest && i < 9 * (size_t)o->mesh.nf; i++) o->shell.rest[i] *= c;
    for (int32_t i = 0; o->rod_length && i < o->mesh.ns; i++) o->rod_length[i] *= c;
}

static void fit(abut_scene *s)
{
    double lo[3], hi[3], longest = 0;
    if (!(s->fit > 0) || !bounds(s, 0, lo, hi)) return;
    for (int k = 0; k < 3; k++) longest = hi[k] - lo[k] > longest ? hi[k] - lo[k] : longest;
    if (!(longest > 0)) return;
    const double c = s->fit / longest, down[3] = { -lo[0], -lo[1], -lo[2] };
    /* moved, then scaled: the lower corner is at 0 to the last bit */
    transform_all(s, (const double[9]){ 1, 0, 0, 0, 1, 0, 0, 0, 1 }, down);
    transform_all(s, (const double[9]){ c, 0, 0, 0, c, 0, 0, 0, c }, (const double[3]){ 0 });
    for (int32_t i = 0; i < s->nobjects; i++)
        if (!s->object[i].in_place) scale_rest(&s->object[i], c);
}

static void lift(abut_scene *s)
{
    double lo[3], hi[3], d2 = 0, height = s->lift.value;
    if (height == 0) return;
    if (s->lift.per_length && bounds(s, 1, lo, hi)) {
        for (int k = 0; k < 3; k++) d2 += (hi[k] - lo[k]) * (hi[k] - lo[k]);
        height *= sqrt(d2);
    }
    transform_all(s, (const double[9]){ 1, 0, 0, 0, 1, 0, 0, 0, 1 }, (const double[3]){ 0, height, 0 });
}

void abut_scene_place(abut_scene *s)
{
    if (s->is_rotated) transform_all(s, s->rotation, (const double[3]){ 0 });
    for (int32_t i = 0; s->is_rotated && i < s->nmaterials; i++) {
        const double *R = s->rotation;
        double *f = s->material[i].fibre_direction, d[3];
        memcpy(d, f, sizeof d);
        for (int k = 0; k < 3; k++) f[k] = R[3 * k] * d[0] + R[3 * k + 1] * d[1] + R[3 * k + 2] * d[2];
    }
    fit(s);
    lift(s);
}

void abut_scene_select_clear(abut_scene_select *s)
{
    free(s->points);
    free(s->objects);
    *s = (abut_scene_select){ .object = -1 };
}

const char *abut_scene_select_words(const abut_scene *s, const abut_scene_select *select, char *buf, size_t size)
{
    size_t used = 0;
    snprintf(buf, size, "%s", select->object < 0 ? "all bodies" : s->object[select->object].name);
    for (int32_t i = 0; i < select->nobjects && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? ", " : "", s->object[select->objects[i]].name);
    return buf;
}

void abut_scene_clear(abut_scene *s)
{
    for (int32_t i = 0; i < s->nobjects; i++) {
        abut_mesh_clear(&s->object[i].mesh);
        abut_mesh_clear(&s->object[i].proxy.surface);
        abut_mesh_clear(&s->object[i].reference);
        free(s->object[i].density);
        free(s->object[i].path.time);
        free(s->object[i].path.x);
        free(s->object[i].shell.rest);
        free(s->object[i].shell.factor.time);
        free(s->object[i].shell.factor.value);
        free(s->object[i].rod_length);
        abut_snap_clear(&s->object[i].order.snap);
        free(s->object[i].order.rest);
        free(s->object[i].fill);
    }
    for (int32_t i = 0; i < s->nmotions; i++) {
        abut_scene_select_clear(&s->motion[i].select);
        free(s->motion[i].pose);
        free(s->motion[i].path.time);
        free(s->motion[i].path.x);
        free(s->motion[i].factor.time);
        free(s->motion[i].factor.value);
    }
    for (int32_t i = 0; i < s->nattachments; i++) abut_scene_select_clear(&s->attachment[i].select);
    for (int32_t i = 0; i < s->nseams; i++)
        for (int k = 0; k < 2; k++) abut_scene_select_clear(&s->seam[i].side[k]);
    free(s->attachment), free(s->seam);
    free(s->cohesion);
    for (int32_t i = 0; s->material && i < s->nmaterials; i++) free(s->material[i].knot), free(s->material[i].slope);
    free(s->material), free(s->object), free(s->plane), free(s->motion), free(s->pair);
    memset(s, 0, sizeof *s);
}

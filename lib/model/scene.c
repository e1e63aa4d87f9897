#include "model/scene.h"

#include <stdlib.h>
#include <string.h>

static abut_param param(double value, int per_length)
{
    return (abut_param){ value, per_length, "default" };
}

abut_scene abut_scene_defaults(void)
{
    abut_scene s = { 0 };
    s.step = param(0.01, 0);
    s.end = param(0, 0);
    s.gravity[1] = -9.81;
    s.dhat = param(1e-3, 1);
    s.eps_v = param(1e-3, 1);
    s.tolerance = param(1e-2, 1);
    s.mu = param(0, 0);
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

static void scale_and_move(double *x, size_t n, double scale, const double lo[3])
{
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) x[3 * i + (size_t)k] = scale * (x[3 * i + (size_t)k] - lo[k]);
}

void abut_scene_fit(abut_scene *s)
{
    double lo[3], hi[3], a[3], b[3], longest = 0;
    int any = 0;
    for (int32_t i = 0; i < s->nobjects; i++) {
        if (!s->object[i].mesh.nv) continue;
        abut_mesh_bounds(&s->object[i].mesh, a, b);
        for (int k = 0; k < 3; k++) {
            lo[k] = any && lo[k] < a[k] ? lo[k] : a[k];
            hi[k] = any && hi[k] > b[k] ? hi[k] : b[k];
        }
        any = 1;
    }
    for (int k = 0; any && k < 3; k++) longest = hi[k] - lo[k] > longest ? hi[k] - lo[k] : longest;
    if (!(s->fit > 0) || !(longest > 0)) return;
    const double scale = s->fit / longest;
    for (int32_t i = 0; i < s->nobjects; i++) {
        abut_scene_object *o = &s->object[i];
        scale_and_move(o->mesh.x, (size_t)o->mesh.nv, scale, lo);
        scale_and_move(o->key, (size_t)o->nkeys * (size_t)o->mesh.nv, scale, lo);
    }
}

void abut_scene_clear(abut_scene *s)
{
    for (int32_t i = 0; i < s->nobjects; i++) {
        abut_mesh_clear(&s->object[i].mesh);
        free(s->object[i].key);
    }
    free(s->material), free(s->object), free(s->plane), free(s->motion), free(s->pair);
    memset(s, 0, sizeof *s);
}

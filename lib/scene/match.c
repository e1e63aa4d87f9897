#include "scene/match.h"

#include "geom/quadrature.h"
#include "mesh/moments.h"
#include "mesh/tet_nodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A tet keeps at least this part of the material's density. */
static const double LEAST = 0.05;

/* Volumes, of what is solid, and centres of the tets. */
static abut_status moments(const abut_scene_object *o, double *volume, double (*center)[3], abut_err *err)
{
    const int order = o->order.kept ? o->order.kept : abut_mesh_order(&o->mesh);
    const size_t n = 3 * (size_t)abut_tet_nodes(order);
    abut_quadrature q = { 0 };
    const abut_status rc = abut_quadrature_tet(4 * order - 3, &q, err);
    for (int32_t t = 0; t < o->mesh.nt && !rc; t++) {
        double X[ABUT_TET_NODES_MAX][3];
        if (o->order.kept) memcpy(X, o->order.rest + n * (size_t)t, n * sizeof(double));
        else abut_mesh_tet_places(&o->mesh, t, X);
        abut_tet_moments(order, (const double(*)[3])X, q.L, q.w, q.n, &volume[t], center[t]);
        volume[t] *= o->fill ? fmax(o->fill[t], 1e-3) : 1;
    }
    abut_quadrature_clear(&q);
    return rc;
}

static abut_status match(abut_scene_object *o, abut_err *err)
{
    const size_t n = (size_t)o->mesh.nt;
    double *volume = malloc((n + 1) * sizeof *volume), (*center)[3] = malloc((n + 1) * sizeof *center), total, at[3];
    o->density = malloc((n + 1) * sizeof *o->density);
    abut_status rc = volume && center && o->density ? abut_mesh_volume(&o->reference, &total, at, err)
                                                    : abut_fail(err, ABUT_E_NOMEM, "densities of %zu tets", n);
    if (!rc) rc = moments(o, volume, center, err);
    if (!rc) rc = abut_match_mass(o->mesh.nt, volume, (const double(*)[3])center, total, at, LEAST, o->density, err);
    if (rc) abut_wrap(err, "%s: match-mass of '%s'", o->from, o->name);
    free(volume), free(center);
    return rc;
}

abut_status abut_scene_match(abut_scene *s, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < s->nobjects && !rc; i++)
        if (s->object[i].reference.nt || s->object[i].reference.nf) rc = match(&s->object[i], err);
    return rc;
}

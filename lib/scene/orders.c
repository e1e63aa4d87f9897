#include "scene/orders.h"

#include "mesh/tet_nodes.h"

#include <stdlib.h>
#include <string.h>

int abut_scene_order_of(const abut_scene_object *o)
{
    return o->order.order ? o->order.order : o->order.found > 1 ? o->order.found : abut_mesh_order(&o->mesh);
}

static abut_status refuse(const abut_scene_object *o, abut_err *err, const char *what, int number, const char *expected)
{
    return abut_fail(err, ABUT_E_FORMAT, "%s: object '%s': %s%d: expected %s", o->from, o->name, what, number, expected);
}

/* Checks the orders that the scene asks for against the mesh, whose tets have order `found`. */
static abut_status check(const abut_scene_object *o, int found, abut_err *err)
{
    const abut_scene_order *a = &o->order;
    if (o->obstacle && a->order > 1)
        return refuse(o, err, "order: ", a->order, "none, as an obstacle is its surface of flat triangles");
    if (o->obstacle && found > 1 && a->order != 1)
        return refuse(o, err, "an obstacle of tets of order ", found, "order: 1, which keeps their corners alone");
    if (!o->mesh.nt && (a->order > 1 || a->geometry > 1))
        return refuse(o, err, a->order > 1 ? "order: " : "geometry: ", a->order > 1 ? a->order : a->geometry, "a mesh of tets");
    if (found > 1 && a->surface)
        return refuse(o, err, "surface: for tets of order ", found, "straight tets, as theirs are curved already");
    if (found > 1 && a->geometry > found) return refuse(o, err, "geometry: ", a->geometry, "at most the order of the mesh");
    if (found == 1 && !a->snap.kind && a->geometry > 1)
        return refuse(o, err, "geometry: ", a->geometry, "1, or a surface that the mesh is put onto (surface: {snap: ...})");
    return ABUT_OK;
}

abut_status abut_scene_shape(abut_scene_object *o, abut_err *err)
{
    abut_scene_order *a = &o->order;
    const int found = abut_mesh_order(&o->mesh);
    abut_status rc = check(o, found, err);
    if (rc) return rc;
    a->found = found;
    if (!rc && a->geometry > 1 && abut_scene_order_of(o) == 1)
        return refuse(o, err, "geometry: ", a->geometry, "1 for tets of order 1, or order: 2 or more");
    const int order = abut_scene_order_of(o), smooth = a->snap.kind != ABUT_SNAP_NONE;
    const int shape = a->geometry ? a->geometry : found > 1 && found < order ? found : order;
    if (found > 1) {
        if (shape < found) rc = abut_mesh_set_order(&o->mesh, shape, err);
    } else if (smooth && o->mesh.nt && (shape > 1 || a->surface)) {
        double points = 0;
        rc = abut_mesh_order_bound(&o->mesh, shape, &points, err);
        if (!rc) rc = abut_snap_begin(&a->snap, err);
        if (!rc) rc = abut_mesh_curve(&o->mesh, &a->snap, shape, &a->facts, err);
        a->curved = !rc;
    }
    if (rc) abut_wrap(err, "%s: object '%s'", o->from, o->name);
    return rc;
}

/* The rest shape apart, tet by tet. */
static abut_status keep_shape(abut_scene_object *o, abut_err *err)
{
    const abut_mesh *m = &o->mesh;
    const size_t n = (size_t)abut_tet_nodes(abut_mesh_order(m));
    o->order.kept = abut_mesh_order(m);
    o->order.rest = malloc((3 * n * (size_t)m->nt + 1) * sizeof *o->order.rest);
    if (!o->order.rest) return abut_fail(err, ABUT_E_NOMEM, "object '%s': no memory for the shape of %d tets", o->name, m->nt);
    for (int32_t t = 0; t < m->nt; t++) {
        double X[ABUT_TET_NODES_MAX][3];
        abut_mesh_tet_places(m, t, X);
        memcpy(o->order.rest + 3 * n * (size_t)t, X, 3 * n * sizeof(double));
    }
    return ABUT_OK;
}

static abut_status set_order(abut_scene_object *o, double *points, double *elements, abut_err *err)
{
    const int order = abut_scene_order_of(o);
    abut_status rc = o->mesh.nt && abut_mesh_order(&o->mesh) > order ? keep_shape(o, err) : ABUT_OK;
    if (!rc) rc = abut_mesh_set_order(&o->mesh, order, err);
    *points += o->mesh.nv, *elements += abut_mesh_elements(&o->mesh);
    return rc ? rc : abut_mesh_bound(*points, *elements, "all objects up to this one", err);
}

abut_status abut_scene_orders(abut_scene *s, abut_err *err)
{
    double estimate = 0, points = 0, elements = 0;
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < 2 * s->nobjects && !rc; i++) {      /* all are estimated before one is made */
        abut_scene_object *o = &s->object[i % s->nobjects];
        rc = i < s->nobjects ? abut_mesh_order_bound(&o->mesh, abut_scene_order_of(o), &estimate, err)
                             : set_order(o, &points, &elements, err);
        if (rc) abut_wrap(err, "%s: object '%s'", o->from, o->name);
        if (rc == ABUT_E_ARG) rc = ABUT_E_FORMAT;
        if (rc && err) err->code = rc;
    }
    return rc;
}

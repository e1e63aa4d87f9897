#include "scene/build_parts.h"

#include "base/words.h"
#include "geom/jacobian.h"
#include "math/vec3.h"
#include "mesh/tet_nodes.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void gather(const abut_mesh *m, const int32_t *v, int n, double *x)
{
    for (int k = 0; k < n; k++) memcpy(x + 3 * k, m->x + 3 * (size_t)v[k], 3 * sizeof *x);
}

/* 6 V / L^3 with L the longest edge: about 0.7 for a regular tet, 0 for a flat one, < 0 for an inverted one. */
static double tet_shape(const double *x)
{
    double longest2 = 0;
    abut_vec3 e[3];
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < a; b++) {
            const abut_vec3 d = abut_v3_sub(abut_v3_get(x + 3 * a), abut_v3_get(x + 3 * b));
            longest2 = fmax(longest2, abut_v3_norm2(d));
            if (b == 0) e[a - 1] = d;
        }
    const double det = abut_v3_dot(e[0], abut_v3_cross(e[1], e[2]));
    const double cube = longest2 * sqrt(longest2);
    return cube > 0 && isfinite(cube) ? det / cube : 0;
}

/* 2 A / L^2 with L the longest edge. */
static double tri_shape(const double *x)
{
    const abut_vec3 a = abut_v3_get(x), u = abut_v3_sub(abut_v3_get(x + 3), a), v = abut_v3_sub(abut_v3_get(x + 6), a);
    const double longest2 = fmax(fmax(abut_v3_norm2(u), abut_v3_norm2(v)), abut_v3_norm2(abut_v3_sub(u, v)));
    return longest2 > 0 ? abut_v3_norm(abut_v3_cross(u, v)) / longest2 : 0;
}

/* Rounding in the coordinates is about 1e-16 of their size: a shape below this is not known to be positive. */
static const double FLAT = 1e-13;

static void use(int32_t *number, const int32_t *point, size_t n)
{
    for (size_t i = 0; i < n; i++) number[point[i]] = 0;
}

/* The number of each point as a node of the object: of those that an element uses; -1: left out.  NULL: no memory. */
static int32_t *number_points(const abut_mesh *m)
{
    int32_t *number = malloc(((size_t)m->nv + 1) * sizeof *number), n = 0;
    if (!number) return NULL;
    memset(number, -1, (size_t)m->nv * sizeof *number);
    use(number, m->tet, 4 * (size_t)m->nt);
    use(number, m->more, (size_t)abut_mesh_more(m) * (size_t)m->nt);
    use(number, m->tri, 3 * (size_t)m->nf);
    use(number, m->seg, 2 * (size_t)m->ns);
    use(number, m->point, (size_t)m->np);
    for (int32_t i = 0; i < m->nv; i++)
        if (number[i] == 0) number[i] = n++;
    return number;
}

/* Every tet is. */
static int is_inside_out(const abut_mesh *m)
{
    double x[12];
    int32_t t = 0;
    for (; t < m->nt; t++) {
        gather(m, m->tet + 4 * (size_t)t, 4, x);
        if (!(tet_shape(x) < -FLAT)) break;
    }
    return m->nt && t == m->nt;
}

static abut_status check_tets(const abut_scene_object *o, const int32_t *number, abut_offenders *bad, abut_err *err)
{
    double x[12];
    abut_status rc = ABUT_OK;
    if (is_inside_out(&o->mesh))
        return abut_fail(err, ABUT_E_GEOM, "%s: object '%s': all %d tets are inverted: the mesh is stored inside out, and "
                         "`flip: true` turns it over", o->from, o->name, o->mesh.nt);
    for (int32_t t = 0; t < o->mesh.nt && !rc; t++) {
        const int32_t *v = o->mesh.tet + 4 * (size_t)t;
        gather(&o->mesh, v, 4, x);
        const double shape = tet_shape(x);
        if (shape > FLAT) continue;
        rc = abut_offenders_add(bad, 4, 0, x, err, "tet %d of '%s' (nodes %d, %d, %d, %d) is %s at (%.6g, %.6g, "
                                "%.6g): 6 V / L^3 = %.3g, expected more than %g", t, o->name, number[v[0]],
                                number[v[1]], number[v[2]], number[v[3]],
                                shape < -FLAT ? "inverted" : "flat", x[0], x[1], x[2], shape, FLAT);
    }
    return rc;
}

/* The rest shapes of tets of order 2 and more are one-to-one everywhere. */
static abut_status check_curved(const abut_scene_object *o, abut_offenders *bad, abut_err *err)
{
    const int order = o->order.kept ? o->order.kept : abut_mesh_order(&o->mesh);
    abut_status rc = ABUT_OK;
    for (int32_t t = 0; t < o->mesh.nt && !rc && order > 1; t++) {
        double X[ABUT_TET_NODES_MAX][3];
        abut_jacobian_at at;
        if (o->order.kept) memcpy(X, o->order.rest + 3 * (size_t)abut_tet_nodes(order) * (size_t)t, sizeof(double[3]) *
                                  (size_t)abut_tet_nodes(order));
        else abut_mesh_tet_places(&o->mesh, t, X);
        if (abut_jacobian_check(order, (const double(*)[3])X, &at) == ABUT_JACOBIAN_POSITIVE) continue;
        rc = abut_offenders_add(bad, 4, 0, X[0], err, "tet %d of '%s', of order %d, is not one-to-one: det J = %.3g m^3 at the "
                                "barycentric point (%.4g, %.4g, %.4g, %.4g), expected more than 0", t, o->name, order, at.det,
                                at.L[0], at.L[1], at.L[2], at.L[3]);
    }
    return rc;
}

static abut_status check_surface(const abut_scene_object *o, const int32_t *number, abut_offenders *bad, abut_err *err)
{
    double x[9];
    abut_status rc = ABUT_OK;
    for (int32_t t = 0; t < o->mesh.nf && !rc; t++) {
        const int32_t *v = o->mesh.tri + 3 * (size_t)t;
        gather(&o->mesh, v, 3, x);
        const double shape = tri_shape(x);
        if (!(shape > FLAT))
            rc = abut_offenders_add(bad, 3, 0, x, err, "triangle %d of '%s' (nodes %d, %d, %d) has no area at (%.6g, "
                                    "%.6g, %.6g): 2 A / L^2 = %.3g, expected more than %g", t, o->name,
                                    number[v[0]], number[v[1]], number[v[2]], x[0], x[1],
                                    x[2], shape, FLAT);
    }
    for (int32_t s = 0; s < o->mesh.ns && !rc; s++) {
        const int32_t *v = o->mesh.seg + 2 * (size_t)s;
        gather(&o->mesh, v, 2, x);
        if (!memcmp(x, x + 3, 3 * sizeof *x))
            rc = abut_offenders_add(bad, 2, 0, x, err, "segment %d of '%s' (nodes %d, %d) has no length at (%.6g, %.6g, "
                                    "%.6g)", s, o->name, number[v[0]], number[v[1]], x[0], x[1], x[2]);
    }
    return rc;
}

abut_status abut_build_check(const abut_build *b, abut_offenders *bad, abut_err *err)
{
    assert(b);
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < b->scene->nobjects && !rc; i++) {
        const abut_scene_object *o = &b->scene->object[i];
        int32_t *number = number_points(&o->mesh);
        if (!number) return abut_fail(err, ABUT_E_NOMEM, "object '%s': no memory for %d points", o->name, o->mesh.nv);
        rc = check_surface(o, number, bad, err);
        if (!rc && !o->obstacle) rc = check_tets(o, number, bad, err);
        if (!rc && !o->obstacle) rc = check_curved(o, bad, err);
        free(number);
    }
    if (!rc && bad->total)
        rc = bad->total == 1 ? abut_fail(err, ABUT_E_GEOM, "one element cannot be simulated: %s", bad->item[0].text)
                             : abut_fail(err, ABUT_E_GEOM, "%lld elements cannot be simulated; the first: %s",
                                         (long long)bad->total, bad->item[0].text);
    return rc;
}

#include "model/build_parts.h"

#include "linalg/vec3.h"

#include <math.h>
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
    return longest2 > 0 ? det / (longest2 * sqrt(longest2)) : 0;
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

static abut_status check_tets(const abut_scene_object *o, abut_offenders *bad, abut_err *err)
{
    double x[12];
    abut_status rc = ABUT_OK;
    for (int32_t t = 0; t < o->mesh.nt && !rc; t++) {
        const int32_t *v = o->mesh.tet + 4 * (size_t)t;
        gather(&o->mesh, v, 4, x);
        const double shape = tet_shape(x);
        if (shape > FLAT) continue;
        rc = abut_offenders_add(bad, 4, 0, x, err, "%s: tet %d (points %d %d %d %d) is %s at (%.6g, %.6g, %.6g): "
                                "6 V / L^3 = %.3g, expected more than %g", o->name, t, v[0], v[1], v[2], v[3],
                                shape < -FLAT ? "inverted" : "flat", x[0], x[1], x[2], shape, FLAT);
    }
    return rc;
}

static abut_status check_surface(const abut_scene_object *o, abut_offenders *bad, abut_err *err)
{
    double x[9];
    abut_status rc = ABUT_OK;
    for (int32_t t = 0; t < o->mesh.nf && !rc; t++) {
        const int32_t *v = o->mesh.tri + 3 * (size_t)t;
        gather(&o->mesh, v, 3, x);
        const double shape = tri_shape(x);
        if (!(shape > FLAT))
            rc = abut_offenders_add(bad, 3, 0, x, err, "%s: triangle %d (points %d %d %d) has no area at (%.6g, %.6g, "
                                    "%.6g): 2 A / L^2 = %.3g, expected more than %g", o->name, t, v[0], v[1], v[2], x[0],
                                    x[1], x[2], shape, FLAT);
    }
    for (int32_t s = 0; s < o->mesh.ns && !rc; s++) {
        const int32_t *v = o->mesh.seg + 2 * (size_t)s;
        gather(&o->mesh, v, 2, x);
        if (!memcmp(x, x + 3, 3 * sizeof *x))
            rc = abut_offenders_add(bad, 2, 0, x, err, "%s: segment %d (points %d %d) has no length at (%.6g, %.6g, %.6g)",
                                    o->name, s, v[0], v[1], x[0], x[1], x[2]);
    }
    return rc;
}

abut_status abut_build_check(const abut_build *b, abut_offenders *bad, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < b->scene->nobjects && !rc; i++) {
        const abut_scene_object *o = &b->scene->object[i];
        rc = check_surface(o, bad, err);
        if (!rc && !o->obstacle) rc = check_tets(o, bad, err);
    }
    if (!rc && bad->total)
        rc = abut_fail(err, ABUT_E_GEOM, "%lld elements cannot be simulated; the first is %s", (long long)bad->total,
                       bad->item[0].text);
    return rc;
}

/* geom/tangent.h, for the processor and for a GPU. */
#ifndef ABUT_GEOM_TANGENT_INLINE_H
#define ABUT_GEOM_TANGENT_INLINE_H

#include "geom/dist_inline.h"

ABUT_FN abut_vec3 tangent_unit(abut_vec3 a)
{
    return abut_v3_scale(1 / abut_v3_norm(a), a);
}

/* A unit vector normal to n: X x n or Y x n, whichever is longer, so never shorter than |n| / sqrt 2. */
ABUT_FN abut_vec3 tangent_any_normal(abut_vec3 n)
{
    return tangent_unit(fabs(n.y) > fabs(n.x) ? abut_v3(0, -n.z, n.y) : abut_v3(n.z, 0, -n.x));
}

ABUT_FN void tangent_put_plane(abut_vec3 n, double P[6])
{
    if (!(abut_v3_norm2(n) > 0)) n = abut_v3(0, 0, 1);
    const abut_vec3 t = tangent_any_normal(n);
    abut_v3_put(P, t);
    abut_v3_put(P + 3, tangent_unit(abut_v3_cross(n, t)));
}

ABUT_FN void abut_tangent_plane_fn(const double n[3], double P[6])
{
    tangent_put_plane(abut_v3_get(n), P);
}

/* First tangent along e, the second along b, which is normal to e; 0 when one of them has no direction. */
ABUT_FN int tangent_put_along(abut_vec3 e, abut_vec3 b, double b2_min, double P[6])
{
    if (!(abut_v3_norm2(e) > 0 && abut_v3_norm2(b) > b2_min)) return 0;
    abut_v3_put(P, tangent_unit(e));
    abut_v3_put(P + 3, tangent_unit(b));
    return 1;
}

/* The plane of e and f: their cross product is a normal while their squared sine is above 1e-20, as in dist.c. */
ABUT_FN int tangent_put_spanned(abut_vec3 e, abut_vec3 f, double P[6])
{
    const abut_vec3 n = abut_v3_cross(e, f), b = abut_v3_cross(n, e);
    const double ee = abut_v3_norm2(e), ff = abut_v3_norm2(f);
    return tangent_put_along(e, b, 1e-20 * ee * ee * ff, P);
}

ABUT_FN void abut_tangent_fn(abut_stencil s, const double *x, double P[6])
{
    int done = 0;
    if (s == ABUT_PE) {
        const abut_vec3 e = abut_v3_diff(x + 6, x + 3);
        done = tangent_put_along(e, abut_v3_cross(e, abut_v3_diff(x, x + 3)), 0, P);
    } else if (s == ABUT_PT) {
        done = tangent_put_spanned(abut_v3_diff(x + 6, x + 3), abut_v3_diff(x + 9, x + 3), P);
    } else if (s == ABUT_EE) {
        done = tangent_put_spanned(abut_v3_diff(x + 3, x), abut_v3_diff(x + 9, x + 6), P);
    } else {
        tangent_put_plane(abut_v3_diff(x + 3, x), P);
        return;
    }
    if (done) return;

    /* the points span no such feature: the plane normal to the remaining separation */
    double w[4];
    abut_vec3 r = abut_v3(0, 0, 0);
    (void)abut_dist2_all_fn(s, x, w, NULL, NULL);
    for (int i = 1; i < abut_stencil_size(s); i++) r = abut_v3_axpy(r, w[i], abut_v3_diff(x + 3 * i, x));
    tangent_put_plane(r, P);
}

#endif

#include "geom/tangent.h"

#include "linalg/vec3.h"

static abut_vec3 diff(const double *a, const double *b)
{
    return abut_v3(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

static abut_vec3 unit(abut_vec3 a)
{
    return abut_v3_scale(1 / abut_v3_norm(a), a);
}

/* A unit vector normal to n: X x n or Y x n, whichever is longer, so never shorter than |n| / sqrt 2. */
static abut_vec3 any_normal(abut_vec3 n)
{
    return unit(fabs(n.y) > fabs(n.x) ? abut_v3(0, -n.z, n.y) : abut_v3(n.z, 0, -n.x));
}

static void put_plane(abut_vec3 n, double P[6])
{
    if (!(abut_v3_norm2(n) > 0)) n = abut_v3(0, 0, 1);
    const abut_vec3 t = any_normal(n);
    abut_v3_put(P, t);
    abut_v3_put(P + 3, unit(abut_v3_cross(n, t)));
}

void abut_tangent_plane(const double n[3], double P[6])
{
    put_plane(abut_v3_get(n), P);
}

/* First tangent along e, the second along b, which is normal to e; 0 when one of them has no direction. */
static int put_along(abut_vec3 e, abut_vec3 b, double b2_min, double P[6])
{
    if (!(abut_v3_norm2(e) > 0 && abut_v3_norm2(b) > b2_min)) return 0;
    abut_v3_put(P, unit(e));
    abut_v3_put(P + 3, unit(b));
    return 1;
}

/* The plane of e and f: their cross product is a normal while their squared sine is above 1e-20, as in dist.c. */
static int put_spanned(abut_vec3 e, abut_vec3 f, double P[6])
{
    const abut_vec3 n = abut_v3_cross(e, f), b = abut_v3_cross(n, e);
    const double ee = abut_v3_norm2(e), ff = abut_v3_norm2(f);
    return put_along(e, b, 1e-20 * ee * ee * ff, P);
}

void abut_tangent(abut_stencil s, const double *x, double P[6])
{
    int done = 0;
    if (s == ABUT_PE) {
        const abut_vec3 e = diff(x + 6, x + 3);
        done = put_along(e, abut_v3_cross(e, diff(x, x + 3)), 0, P);
    } else if (s == ABUT_PT) {
        done = put_spanned(diff(x + 6, x + 3), diff(x + 9, x + 3), P);
    } else if (s == ABUT_EE) {
        done = put_spanned(diff(x + 3, x), diff(x + 9, x + 6), P);
    } else {
        put_plane(diff(x + 3, x), P);
        return;
    }
    if (done) return;

    /* the points span no such feature: the plane normal to whatever separation is left */
    double w[4];
    abut_vec3 r = abut_v3(0, 0, 0);
    abut_dist2(s, x, w);
    for (int i = 1; i < abut_stencil_size(s); i++) r = abut_v3_axpy(r, w[i], diff(x + 3 * i, x));
    put_plane(r, P);
}

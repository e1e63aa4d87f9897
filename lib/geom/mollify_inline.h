/* geom/mollify.h, for the processor and for a GPU. */
#ifndef ABUT_GEOM_MOLLIFY_INLINE_H
#define ABUT_GEOM_MOLLIFY_INLINE_H

#include "math/vec3.h"

/* Puts the block B of d2c/(du or dv)(du or dv) for edges p, q (0: a, 1: b) to the four corner blocks it chains to:
 * u = a1 - a0 and v = b1 - b0 give the signs -, +. */
ABUT_FN void mollify_add_block(double *H, int p, int q, double B[3][3])
{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    H[12 * (6 * p + 3 * i + a) + 6 * q + 3 * j + b] = i == j ? B[a][b] : -B[a][b];
}

ABUT_FN void mollify_cross2_hess(const double u[3], const double v[3], double *H)
{
    const double uu = u[0] * u[0] + u[1] * u[1] + u[2] * u[2], vv = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    const double uv = u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
    double Huu[3][3], Hvv[3][3], Huv[3][3], Hvu[3][3];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            const double I = a == b;
            Huu[a][b] = 2 * (vv * I - v[a] * v[b]);
            Hvv[a][b] = 2 * (uu * I - u[a] * u[b]);
            Huv[a][b] = Hvu[b][a] = 2 * (2 * (u[a] * v[b]) - uv * I - v[a] * u[b]);
        }
    mollify_add_block(H, 0, 0, Huu);
    mollify_add_block(H, 1, 1, Hvv);
    mollify_add_block(H, 0, 1, Huv);
    mollify_add_block(H, 1, 0, Hvu);
}

ABUT_FN double abut_cross2_fn(const double *x, double *g, double *H)
{
    const abut_vec3 u = abut_v3_sub(abut_v3_get(x + 3), abut_v3_get(x));
    const abut_vec3 v = abut_v3_sub(abut_v3_get(x + 9), abut_v3_get(x + 6));
    const abut_vec3 n = abut_v3_cross(u, v);
    if (g) {
        /* dc/du = 2 v x n, dc/dv = 2 n x u: no cancellation when the edges are nearly parallel */
        const abut_vec3 gu = abut_v3_scale(2, abut_v3_cross(v, n)), gv = abut_v3_scale(2, abut_v3_cross(n, u));
        abut_v3_put(g, abut_v3_scale(-1, gu));
        abut_v3_put(g + 3, gu);
        abut_v3_put(g + 6, abut_v3_scale(-1, gv));
        abut_v3_put(g + 9, gv);
    }
    if (H) {
        const double a[3] = { u.x, u.y, u.z }, b[3] = { v.x, v.y, v.z };
        mollify_cross2_hess(a, b, H);
    }
    return abut_v3_norm2(n);
}

ABUT_FN double abut_mollify_eps_fn(double rest2_a, double rest2_b)
{
    return 1e-3 * rest2_a * rest2_b;
}

ABUT_FN double abut_mollify_fn(double c, double eps, double *d1, double *d2)
{
    if (!(c < eps)) {
        if (d1) *d1 = 0;
        if (d2) *d2 = 0;
        return 1;
    }
    const double q = c / eps;
    if (d1) *d1 = 2 * (1 - q) / eps;
    if (d2) *d2 = -2 / eps / eps;
    return q * (2 - q);
}

#endif

/* Lagged friction (energy/friction.h): energy, gradient, Hessian of each frozen contact. */
#include "energy/friction_inline.h"

#include "gpu/kernel.h"

/* u: sliding displacement of a contact at x; returns mu lambda h^2. */
ABUT_FN double slide_at(const abut_friction_args *a, size_t i, const double *x, const double *xn, double u[2])
{
    abut_friction_slide(a->node + 4 * i, a->weight + 4 * i, a->basis + 6 * i, x, xn, u);
    return a->mu[i] * a->force[i] * a->h * a->h;
}

ABUT_KERNEL(friction_energy, abut_friction_args)
{
    double u[2], c, s;
    const double f = slide_at(a, i, a->x, a->xn, u);
    a->out[i] = f * abut_friction_f0_fn(a->smoothing, abut_friction_polar(u, &c, &s), a->w, NULL, NULL);
}

ABUT_KERNEL(friction_push, abut_friction_args)
{
    double u[2], c, s, f1_over_y;
    const double f = slide_at(a, i, a->x, a->xn, u), *P = a->basis + 6 * i;
    (void)abut_friction_f0_fn(a->smoothing, abut_friction_polar(u, &c, &s), a->w, &f1_over_y, NULL);
    for (size_t k = 0; k < 4; k++)
        for (size_t d = 0; d < 3 && a->node[4 * i + k] >= 0; d++)
            a->out[12 * i + 3 * k + d] = a->weight[4 * i + k] * (f * f1_over_y * (P[d] * u[0] + P[3 + d] * u[1]));
}

ABUT_KERNEL(friction_hess, abut_friction_args)
{
    double u[2], K[9], *H = a->out + 90 * i;
    const double f = slide_at(a, i, a->x, a->xn, u), *weight = a->weight + 4 * i;
    const int32_t *node = a->node + 4 * i;
    abut_friction_stiffness(a->basis + 6 * i, u, a->smoothing, a->w, a->above && a->above[i], K);
    for (int p = 0; p < 4; p++)
        for (int q = p; q < 4; q++, H += 9) {
            if (node[p] < 0 || node[q] < 0) continue;
            const double ww = f * (weight[p] * weight[q]);
            for (int k = 0; k < 9; k++) H[k] = ww * K[k];
        }
}

ABUT_KERNEL(friction_kink, abut_friction_args)
{
    double u[2], v[2];
    (void)slide_at(a, i, a->x, a->xn, u);
    (void)slide_at(a, i, a->p, NULL, v);
    a->above[i] = (uint8_t)abut_friction_kink(a->smoothing, a->w, u, v);
}

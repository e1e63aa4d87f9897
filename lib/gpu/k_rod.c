/* Rod segments and bends between them, one an item. */
#include "energy/hinge_inline.h"
#include "energy/rod_inline.h"
#include "gpu/codim_item.h"

ABUT_KERNEL(rod_energy, abut_codim_args)
{
    double x[6], f[6];
    corners_of(a, a->rods + i, 2, a->x, x);
    const double energy = abut_rod_stretch_of(a->rod_stiffness[i], a->rod_length[i], x, f);
    put_energy(a, a->rods + i, energy, 6, f);
}

ABUT_KERNEL(rod_hessian, abut_codim_args)
{
    double x[6], H[90];
    corners_of(a, a->rods + i, 2, a->x, x);
    const double w = a->rod_stiffness[i], rest = a->rod_length[i];
    const double T = a->tension ? a->tension[i] : abut_rod_tension_of(w, rest, x);
    for (size_t k = 0; k < 90; k++) H[k] = 0;
    abut_rod_stretch_hessian_of(a->scale * w, rest, a->scale * (T > 0 ? T : 0), x, H);
    for (size_t k = 0; k < 90; k++) a->H[90 * (a->rods + i) + k] = H[k];
}

ABUT_KERNEL(rod_tension, abut_codim_args)
{
    double x[6];
    corners_of(a, a->rods + i, 2, a->x, x);
    a->tension[i] = abut_rod_tension_of(a->rod_stiffness[i], a->rod_length[i], x);
}

ABUT_KERNEL(rod_forecast, abut_codim_args)
{
    double z[6], x0[6], x1[6];
    corners_of(a, a->rods + i, 2, a->x, z);
    corners_of(a, a->rods + i, 2, a->from, x0);
    corners_of(a, a->rods + i, 2, a->to, x1);
    a->tension[i] = abut_rod_forecast_of(a->rod_stiffness[i], a->rod_length[i], z, x0, x1, a->reach, a->taken, a->tension[i]);
}

ABUT_KERNEL(rod_fairness, abut_codim_args)
{
    double x[6];
    const double *m0 = a->mass + a->node[a->rods + i], *m1 = a->mass + a->node[a->n + a->rods + i];
    const double inertia = a->inertia * (*m0 < *m1 ? *m0 : *m1) * a->rod_length[i] / a->weight;
    corners_of(a, a->rods + i, 2, a->x, x);
    a->bound[i] = abut_rod_fairness_of(a->rod_stiffness[i], a->rod_length[i], x, a->tension[i], inertia);
}

ABUT_KERNEL(bend_energy, abut_codim_args)
{
    double x[9], f[9];
    corners_of(a, a->bends + i, 3, a->x, x);
    const double energy = abut_rod_bend_of(a->bend_stiffness[i], x, f);
    put_energy(a, a->bends + i, energy, 9, f);
}

ABUT_KERNEL(bend_hessian, abut_codim_args)
{
    double x[9], v[48];
    abut_rod_modes m;
    corners_of(a, a->bends + i, 3, a->x, x);
    const int some = abut_rod_modes_of(a->scale * a->bend_stiffness[i], x, &m);
    for (int k = 0; k < 48; k++) v[k] = 0;
    for (int k = 0; k < 4 && some; k++) abut_two_modes_positive(3, m.d[k], m.o[k], m.u[k], m.w[k], v + 12 * k);
    abut_squares4_one(v, a->H + 90 * (a->bends + i));
}

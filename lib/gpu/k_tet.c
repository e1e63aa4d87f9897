/* Tetrahedra and the inertia of nodes, one an item. */
#include "contact/tet_step_inline.h"
#include "energy/tet_inline.h"
#include "gpu/kernel.h"

#include <float.h>

/* v[12]: those of the four corners of tet t */
ABUT_FN void corners(const abut_tet_args *a, size_t t, const double *v, double at[12])
{
    for (size_t c = 0; c < 4; c++) {
        const double *from = v + 3 * (size_t)a->node[c * a->nt + t];
        for (size_t k = 0; k < 3; k++) at[3 * c + k] = from[k];
    }
}

ABUT_FN void rest_of(const abut_tet_args *a, size_t t, double B[9])
{
    for (size_t k = 0; k < 9; k++) B[k] = a->B[k * a->nt + t];
}

ABUT_FN void deformation_of(const abut_tet_args *a, size_t t, double B[9], double F[9])
{
    double x[12];
    corners(a, t, a->x, x);
    rest_of(a, t, B);
    abut_tet_deformation(x, B, F);
}

ABUT_KERNEL(tet_energy, abut_tet_args)
{
    double B[9], F[9], P[9] = { 0, 0, 0, 0, 0, 0, 0, 0, 0 }, f[12];
    deformation_of(a, i, B, F);
    const double energy = a->volume[i] * abut_psi_one(a->model[i], a->mu[i], a->lambda[i], F, P);
    abut_tet_forces(P, B, a->volume[i], f);
    a->energy[i] = energy <= DBL_MAX ? energy : (double)INFINITY;
    for (size_t k = 0; k < 12; k++) a->force[12 * i + k] = f[k];
}

ABUT_KERNEL(tet_hessian, abut_tet_args)
{
    const size_t t = a->first + i;
    double B[9], F[9], H[90];
    deformation_of(a, t, B, F);
    abut_tet_hessian(a->model[t], a->mu[t], a->lambda[t], F, B, a->scale * a->volume[t], H);
    for (size_t k = 0; k < 90; k++) a->H[90 * i + k] = H[k];
}

ABUT_KERNEL(tet_bound, abut_tet_args)
{
    double x[12], p[12];
    a->bound[i] = 1;
    if (!abut_form_injective(a->model[i])) return;
    corners(a, i, a->x, x);
    corners(a, i, a->p, p);
    a->bound[i] = abut_tet_step(x, p, a->slack);
}

ABUT_KERNEL(node_energy, abut_node_args)
{
    double sum = 0;
    for (size_t k = 3 * i; k < 3 * i + 3 && !a->held[i]; k++) {
        const double d = a->x[k] - a->xhat[k];
        sum += a->inertia ? 0.5 * (d * d) : (a->xn[k] - a->xhat[k]) * (a->x[k] - a->xn[k]);
    }
    a->out[i] = a->mass[i] * sum;
}

ABUT_KERNEL(node_gradient, abut_node_args)
{
    for (size_t k = 3 * i; k < 3 * i + 3; k++)
        a->out[k] = a->held[i] ? 0 : a->mass[i] * ((a->inertia ? a->x[k] : a->xn[k]) - a->xhat[k]);
}

ABUT_KERNEL(hold, abut_hold_args)
{
    for (size_t k = 3 * i; k < 3 * i + 3 && a->held[i]; k++) a->out[k] = 0;
}

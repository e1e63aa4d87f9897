/* Kernels of elements, one an item: tets, shells, hinges, rod segments and bends, springs, attachments, damping; inertia. */
#include "geom/cubic_inline.h"
#include "energy/rod_inline.h"
#include "energy/spring_inline.h"
#include "gpu/elements_inline.h"
#include "gpu/kernel.h"
#include "sparse/packed_inline.h"

/* at[3 corners] = v at the corners of element e of n, whose nodes are node[corners][n] */
ABUT_FN void corners_of(const int32_t *node, size_t n, size_t e, size_t corners, const double *v, double *at)
{
    for (size_t c = 0; c < corners; c++) {
        const double *from = v + 3 * (size_t)node[c * n + e];
        for (size_t k = 0; k < 3; k++) at[3 * c + k] = from[k];
    }
}

/* to[k] = numbers of element e in from[k][n] */
ABUT_FN void numbers_of(const double *from, size_t n, size_t e, size_t k, double *to)
{
    for (size_t d = 0; d < k; d++) to[d] = from[d * n + e];
}

/* energy of element e and its derivative f[n], 0 beyond */
ABUT_FN void put_energy(double *energies, double *forces, size_t e, double energy, size_t n, const double *f)
{
    energies[e] = energy <= DBL_MAX ? energy : (double)INFINITY;
    for (size_t k = 0; k < 12; k++) forces[12 * e + k] = k < n ? f[k] : 0;
}

/* ---- tets ---- */

ABUT_FN void deformation_of(const abut_tet_args *a, size_t t, double B[9], double F[9])
{
    double x[12];
    corners_of(a->node, a->nt, t, 4, a->x, x);
    numbers_of(a->B, a->nt, t, 9, B);
    abut_tet_deformation(x, B, F);
}

ABUT_KERNEL(tet_energy, abut_tet_args)
{
    double B[9], F[9], P[9] = { 0, 0, 0, 0, 0, 0, 0, 0, 0 }, f[12];
    deformation_of(a, i, B, F);
    const double energy = a->volume[i] * abut_psi_one(a->model[i], a->mu[i], a->lambda[i], F, P);
    abut_tet_forces(P, B, a->volume[i], f);
    put_energy(a->energy, a->force, i, energy, 12, f);
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
    corners_of(a->node, a->nt, i, 4, a->x, x);
    corners_of(a->node, a->nt, i, 4, a->p, p);
    a->bound[i] = abut_tet_step(x, p, a->slack);
}

/* ---- shells and hinges ---- */

ABUT_FN const double *law_of(const abut_codim_args *a, size_t shell)
{
    return a->law + ABUT_PLANE_NUMBERS * (size_t)a->material[shell];
}

ABUT_FN int model_of(const abut_codim_args *a, size_t shell) { return a->model[a->material[shell]]; }

/* row[4]: stretch limits of a shell */
ABUT_FN abut_plane_limit limit_of(const abut_codim_args *a, size_t shell, double row[4])
{
    if (a->limit) numbers_of(a->limit, a->shells, shell, 4, row);
    const abut_plane_limit limit = { a->limit ? row : NULL, a->kappa };
    return limit;
}

/* bounds of its strains, or NULL */
ABUT_FN const double *strain_of(const abut_codim_args *a, size_t shell)
{
    const double *bound = law_of(a, shell) + 4;
    return model_of(a, shell) == ABUT_PLANE_WOVEN && bound[0] < (double)INFINITY ? bound : NULL;
}

ABUT_KERNEL(shell_energy, abut_codim_args)
{
    double x[9], B[4], row[4], f[12];
    corners_of(a->node, a->n, i, 3, a->x, x);
    numbers_of(a->B, a->shells, i, 4, B);
    const abut_plane_limit limit = limit_of(a, i, row);
    const double energy = abut_shell_energy_one(model_of(a, i), law_of(a, i), a->k, limit, x, B, a->volume[i], f);
    put_energy(a->energy, a->force, i, energy, 12, f);
}

ABUT_KERNEL(shell_hessian, abut_codim_args)
{
    double x[9], B[4], row[4], H[90];
    corners_of(a->node, a->n, i, 3, a->x, x);
    numbers_of(a->B, a->shells, i, 4, B);
    const abut_plane_limit limit = limit_of(a, i, row);
    abut_shell_hessian_one(model_of(a, i), law_of(a, i), a->k, limit, x, B, a->scale * a->volume[i], H);
    for (size_t k = 0; k < 90; k++) a->H[90 * i + k] = H[k];
}

ABUT_KERNEL(shell_bound, abut_codim_args)
{
    const int model = model_of(a, i), injective = model >= 0 && abut_form_injective(model);
    const double *strain = strain_of(a, i);
    double x[9], p[9], B[4], row[4], F[6], G[6];
    a->bound[i] = 1;
    if (!injective && !strain && !a->limit) return;
    corners_of(a->node, a->n, i, 3, a->x, x);
    corners_of(a->node, a->n, i, 3, a->p, p);
    numbers_of(a->B, a->shells, i, 4, B);
    abut_shell_deform(x, x + 3, x + 6, B, F);
    abut_shell_deform(p, p + 3, p + 6, B, G);
    a->bound[i] = abut_shell_step(F, G, injective, limit_of(a, i, row).row, strain, a->slack);
}

ABUT_KERNEL(shell_room, abut_codim_args)
{
    const double *strain = strain_of(a, i);
    double x[9], B[4], row[4], F[6], low, high, room = 1;
    corners_of(a->node, a->n, i, 3, a->x, x);
    numbers_of(a->B, a->shells, i, 4, B);
    abut_shell_deform(x, x + 3, x + 6, B, F);
    abut_singular_values32(F, &low, &high);
    if (limit_of(a, i, row).row) room = abut_stretch_room_of(row, low, high);
    const double left = strain ? abut_strain_room(F, strain) : 1;
    a->bound[i] = left < room ? left : room;
}

ABUT_KERNEL(hinge_energy, abut_codim_args)
{
    double x[12], f[12];
    corners_of(a->node, a->n, a->shells + i, 4, a->x, x);
    const double energy = abut_hinge_energy_one(a->stiffness[i], a->angle[i], x, f);
    put_energy(a->energy, a->force, a->shells + i, energy, 12, f);
}

ABUT_KERNEL(hinge_hessian, abut_codim_args)
{
    double x[12];
    corners_of(a->node, a->n, a->shells + i, 4, a->x, x);
    abut_hinge_hessian_one(a->scale * a->stiffness[i], a->angle[i], x, a->H + 90 * (a->shells + i));
}

/* ---- rod segments and bends ---- */

ABUT_KERNEL(rod_energy, abut_codim_args)
{
    double x[6], f[6];
    corners_of(a->node, a->n, a->rods + i, 2, a->x, x);
    const double energy = abut_rod_stretch_of(a->rod_stiffness[i], a->rod_length[i], x, f);
    put_energy(a->energy, a->force, a->rods + i, energy, 6, f);
}

ABUT_KERNEL(rod_hessian, abut_codim_args)
{
    double x[6], H[90];
    corners_of(a->node, a->n, a->rods + i, 2, a->x, x);
    const double w = a->rod_stiffness[i], rest = a->rod_length[i];
    const double T = a->tension ? a->tension[i] : abut_rod_tension_of(w, rest, x);
    for (size_t k = 0; k < 90; k++) H[k] = 0;
    abut_rod_stretch_hessian_of(a->scale * w, rest, a->scale * (T > 0 ? T : 0), x, H);
    for (size_t k = 0; k < 90; k++) a->H[90 * (a->rods + i) + k] = H[k];
}

ABUT_KERNEL(rod_tension, abut_codim_args)
{
    double x[6];
    corners_of(a->node, a->n, a->rods + i, 2, a->x, x);
    a->tension[i] = abut_rod_tension_of(a->rod_stiffness[i], a->rod_length[i], x);
}

ABUT_KERNEL(rod_forecast, abut_codim_args)
{
    double z[6], x0[6], x1[6];
    corners_of(a->node, a->n, a->rods + i, 2, a->x, z);
    corners_of(a->node, a->n, a->rods + i, 2, a->from, x0);
    corners_of(a->node, a->n, a->rods + i, 2, a->to, x1);
    a->tension[i] = abut_rod_forecast_of(a->rod_stiffness[i], a->rod_length[i], z, x0, x1, a->reach, a->taken, a->tension[i]);
}

ABUT_KERNEL(rod_fairness, abut_codim_args)
{
    double x[6];
    const double *m0 = a->mass + a->node[a->rods + i], *m1 = a->mass + a->node[a->n + a->rods + i];
    const double inertia = a->inertia * (*m0 < *m1 ? *m0 : *m1) * a->rod_length[i] / a->weight;
    corners_of(a->node, a->n, a->rods + i, 2, a->x, x);
    a->bound[i] = abut_rod_fairness_of(a->rod_stiffness[i], a->rod_length[i], x, a->tension[i], inertia);
}

ABUT_KERNEL(bend_energy, abut_codim_args)
{
    double x[9], f[9];
    corners_of(a->node, a->n, a->bends + i, 3, a->x, x);
    const double energy = abut_rod_bend_of(a->bend_stiffness[i], x, f);
    put_energy(a->energy, a->force, a->bends + i, energy, 9, f);
}

ABUT_KERNEL(bend_hessian, abut_codim_args)
{
    double x[9], v[48];
    abut_rod_modes m;
    corners_of(a->node, a->n, a->bends + i, 3, a->x, x);
    const int some = abut_rod_modes_of(a->scale * a->bend_stiffness[i], x, &m);
    for (int k = 0; k < 48; k++) v[k] = 0;
    for (int k = 0; k < 4 && some; k++) abut_two_modes_positive(3, m.d[k], m.o[k], m.u[k], m.w[k], v + 12 * k);
    abut_squares4_one(v, a->H + 90 * (a->bends + i));
}

/* ---- springs and attachments ---- */

ABUT_KERNEL(spring_energy, abut_tie_args)
{
    const int32_t *v = a->node + 2 * i;
    double d[3];
    const double l = abut_spring_span(a->x + 3 * (size_t)v[0], a->x + 3 * (size_t)v[1], d), k = a->stiffness[i];
    const double longer = l - a->length[i], pull = l > 0 ? k - k * a->length[i] / l : 0;
    a->energy[i] = 0.5 * k * longer * longer;
    for (size_t c = 0; c < 3; c++) {
        a->force[6 * i + c] = pull * d[c];
        a->force[6 * i + 3 + c] = -(pull * d[c]);
    }
}

ABUT_KERNEL(spring_hessian, abut_tie_args)
{
    const int32_t *v = a->node + 2 * i;
    double d[3];
    const double l = abut_spring_span(a->x + 3 * (size_t)v[0], a->x + 3 * (size_t)v[1], d);
    abut_spring_hessian_one(a->scale * a->stiffness[i], a->length[i], d, l, 1, a->H + 27 * i);
}

ABUT_KERNEL(tie_energy, abut_tie_args)
{
    const int32_t *v = a->node + 5 * i;
    const double *w = a->weight + 4 * i, k = a->stiffness[i];
    double r[3];
    abut_attachment_stretch(v, w, a->offset + 3 * i, a->x, r);
    a->energy[i] = 0.5 * k * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    for (size_t c = 0; c < 5; c++)
        for (size_t d = 0; d < 3; d++) a->force[15 * i + 3 * c + d] = !c ? k * r[d] : v[c] < 0 ? 0 : -(k * w[c - 1] * r[d]);
}

ABUT_KERNEL(tie_hessian, abut_tie_args)
{
    abut_attachment_hessian_one(a->node + 5 * i, a->weight + 4 * i, a->scale * a->stiffness[i], a->H + 135 * i);
}

/* ---- damping and inertia ---- */

ABUT_KERNEL(damp_element, abut_damp_args)
{
    double u[12], f[12], work = 0;
    for (size_t c = 0; c < 4; c++) {
        const int32_t v = a->node[c * a->n + i];
        for (size_t k = 0; k < 3; k++) {
            u[3 * c + k] = v < 0 ? 0 : a->x[3 * (size_t)v + k] - a->from[3 * (size_t)v + k];
            f[3 * c + k] = 0;
        }
    }
    const double *K = a->K + abut_packed_size(4) * i;
    for (int p = 0; p < 4; p++)
        for (int q = p; q < 4; q++, K += 9)
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 3; s++) {
                    f[3 * p + r] += K[3 * r + s] * u[3 * q + s];
                    if (p != q) f[3 * q + s] += K[3 * r + s] * u[3 * p + r];
                }
    for (size_t k = 0; k < 12; k++) {
        work += u[k] * f[k];
        a->force[12 * i + k] = f[k];
    }
    a->energy[i] = 0.5 * work;
}

ABUT_KERNEL(damp_node, abut_damp_args)
{
    double sum = 0;
    for (size_t k = 3 * i; k < 3 * i + 3; k++) sum += (a->x[k] - a->from[k]) * (a->x[k] - a->from[k]);
    a->energy[i] = 0.5 * a->rate * (a->mass[i] * sum);
}

ABUT_KERNEL(damp_push, abut_damp_args)
{
    for (size_t k = 3 * i; k < 3 * i + 3; k++) a->out[k] += a->rate * a->mass[i] * (a->x[k] - a->from[k]);
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

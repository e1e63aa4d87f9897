/* Shells and hinges, one an item. */
#include "energy/hinge_inline.h"
#include "energy/membrane_inline.h"
#include "gpu/codim_item.h"

ABUT_FN void rest_of(const abut_codim_args *a, size_t shell, double B[4])
{
    for (size_t k = 0; k < 4; k++) B[k] = a->B[k * a->shells + shell];
}

ABUT_FN const double *law_of(const abut_codim_args *a, size_t shell)
{
    return a->law + ABUT_PLANE_NUMBERS * (size_t)a->material[shell];
}

ABUT_FN int model_of(const abut_codim_args *a, size_t shell) { return a->model[a->material[shell]]; }

/* row[4]: stretch limits of a shell */
ABUT_FN abut_plane_limit limit_of(const abut_codim_args *a, size_t shell, double row[4])
{
    for (size_t k = 0; k < 4 && a->limit; k++) row[k] = a->limit[k * a->shells + shell];
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
    corners_of(a, i, 3, a->x, x);
    rest_of(a, i, B);
    const abut_plane_limit limit = limit_of(a, i, row);
    const double energy = abut_shell_energy_one(model_of(a, i), law_of(a, i), a->k, limit, x, B, a->volume[i], f);
    put_energy(a, i, energy, 12, f);
}

ABUT_KERNEL(shell_hessian, abut_codim_args)
{
    double x[9], B[4], row[4], H[90];
    corners_of(a, i, 3, a->x, x);
    rest_of(a, i, B);
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
    corners_of(a, i, 3, a->x, x);
    corners_of(a, i, 3, a->p, p);
    rest_of(a, i, B);
    abut_shell_deform(x, x + 3, x + 6, B, F);
    abut_shell_deform(p, p + 3, p + 6, B, G);
    a->bound[i] = abut_shell_step(F, G, injective, limit_of(a, i, row).row, strain, a->slack);
}

ABUT_KERNEL(shell_room, abut_codim_args)
{
    const double *strain = strain_of(a, i);
    double x[9], B[4], row[4], F[6], low, high, room = 1;
    corners_of(a, i, 3, a->x, x);
    rest_of(a, i, B);
    abut_shell_deform(x, x + 3, x + 6, B, F);
    abut_singular_values32(F, &low, &high);
    if (limit_of(a, i, row).row) room = abut_stretch_room_of(row, low, high);
    const double left = strain ? abut_strain_room(F, strain) : 1;
    a->bound[i] = left < room ? left : room;
}

ABUT_KERNEL(hinge_energy, abut_codim_args)
{
    double x[12], f[12];
    corners_of(a, a->shells + i, 4, a->x, x);
    const double energy = abut_hinge_energy_one(a->stiffness[i], a->angle[i], x, f);
    put_energy(a, a->shells + i, energy, 12, f);
}

ABUT_KERNEL(hinge_hessian, abut_codim_args)
{
    double x[12];
    corners_of(a, a->shells + i, 4, a->x, x);
    abut_hinge_hessian_one(a->scale * a->stiffness[i], a->angle[i], x, a->H + 90 * (a->shells + i));
}

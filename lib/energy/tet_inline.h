/* One hyperelastic tetrahedron (energy/elastic.h): deformation, forces, projected Hessian. */
#ifndef ABUT_ENERGY_TET_INLINE_H
#define ABUT_ENERGY_TET_INLINE_H

#include "energy/material/density_inline.h"

#include "math/forms_one.h"
#define PRINCIPAL abut_principal
#include "energy/tet_forms.h"
#undef PRINCIPAL
#include "math/forms_end.h"

/** F of a tet with corners x[12] and inverse rest edges B[9]. */
ABUT_FN void abut_tet_deformation(const double x[12], const double B[9], double F[9])
{
    double D[9];
    for (int c = 1; c < 4; c++)
        for (int i = 0; i < 3; i++) D[3 * i + c - 1] = x[3 * c + i] - x[i];
    abut_m3_mul(F, D, B);
}

/** f[12]: volume dpsi/dx at the corners. */
ABUT_FN void abut_tet_forces(const double P[9], const double B[9], double volume, double f[12])
{
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++)
            f[3 * a + 3 + i] = volume * (P[3 * i] * B[3 * a] + P[3 * i + 1] * B[3 * a + 1] + P[3 * i + 2] * B[3 * a + 2]);
    for (int i = 0; i < 3; i++) f[i] = -(f[3 + i] + f[6 + i] + f[9 + i]);
}

/** H, packed (sparse/elements.h): weight d2psi/dx2 at F, projected to positive semidefinite. */
ABUT_FN void abut_tet_hessian(int model, double mu, double lambda, const double F[9], const double B[9], double weight, double *H)
{
    double U[9], s[3], V[9];
    abut_principal p;
    abut_modes_one h;
    abut_svd3_one(F, U, s, V);
    abut_form_principal_one(model, &mu, &lambda, s, &p);
    abut_principal_project_one(&p);
    abut_modes_of_one(&p, &weight, &h);
    abut_mode_pack_one(&h, U, B, V, H);
}

#endif

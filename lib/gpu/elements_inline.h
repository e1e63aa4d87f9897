/* One tet (energy/elastic.h) and one hinge (energy/hinge.h), for kernels: energy, derivative, projected second derivative. */
#ifndef ABUT_GPU_ELEMENTS_INLINE_H
#define ABUT_GPU_ELEMENTS_INLINE_H

#include "energy/material/density_inline.h"

#include "math/elementary_inline.h"
#include "math/forms_one.h"
#define PRINCIPAL abut_principal
#include "energy/tet_forms.h"
#undef PRINCIPAL
#include "energy/hinge_forms.h"
#include "math/forms_end.h"

/* ---- tets ---- */

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

/* ---- hinges ---- */

/** k (theta - rest)^2, J, +inf where a wing has no normal; f[12] its derivative, 0 there. */
ABUT_FN double abut_hinge_energy_one(double k, double rest, const double x[12], double f[12])
{
    abut_hinge_one H;
    double d;
    abut_hinge_open_one(x, &H);
    abut_hinge_bent_one(&H, &rest, &d);
    abut_hinge_gradients_one(&H, f);
    for (int i = 0; i < 12; i++) f[i] = H.open ? 2 * k * d * f[i] : 0;
    return H.open ? k * d * d : (double)INFINITY;
}

/** H = the sum of v v^T over v[4 * 12], packed (sparse/elements.h). */
ABUT_FN void abut_squares4_one(const double *v, double *H)
{
    double *to = H;
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++, to += 9)
            for (int k = 0; k < 9; k++) {
                const double *f = v + 3 * a + k / 3, *g = v + 3 * b + k % 3;
                to[k] = f[0] * g[0] + f[12] * g[12] + f[24] * g[24] + f[36] * g[36];
            }
}

/** H, packed: the second derivative, projected to positive semidefinite; 0 where a wing has no normal. */
ABUT_FN void abut_hinge_hessian_one(double k, double rest, const double x[12], double *H)
{
    abut_hinge_one hinge;
    abut_hinge_mode_one m[4];
    double v[48];
    abut_hinge_open_one(x, &hinge);
    abut_hinge_modes_one(&k, &rest, &hinge, m);
    for (int i = 0; i < 4; i++) abut_hinge_positive_one(&m[i], v + 12 * i);
    for (int i = 0; i < 48; i++) v[i] = hinge.open ? v[i] : 0;
    abut_squares4_one(v, H);
}

#endif

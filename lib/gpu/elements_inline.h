/* One tet (energy/elastic.h), hinge (energy/hinge.h) or shell (energy/membrane.h), for kernels: energy, derivative, projected
 * second derivative. */
#ifndef ABUT_GPU_ELEMENTS_INLINE_H
#define ABUT_GPU_ELEMENTS_INLINE_H

#include "energy/material/density_inline.h"
#include "energy/membrane_inline.h"

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

/* ---- shells ---- */

ABUT_FN void abut_fabrics_of_one(const double *law, abut_fabrics_one *f)
{
    for (int i = 0; i < 4; i++) f->a[i] = law[i];
    for (int i = 0; i < 3; i++) f->m[i] = law[4 + i];
}

/** psi at s[2] > 0 and V, J/m^3, not finite where a bound is reached; P[4] its derivative in the frame of the singular
 * vectors. */
ABUT_FN double abut_plane_stress_one(int model, const double *law, double k, const double s[2], const double V[4], double P[4])
{
    if (model == ABUT_PLANE_BARAFF_WITKIN) return abut_bw_stress(law, s, V, P);
    for (int i = 0; i < 4; i++) P[i] = 0;
    if (model != ABUT_PLANE_WOVEN) {
        abut_plane_principal p;
        abut_plane_principal_of(model, law[0], law[1], s, model == ABUT_NEO_HOOKEAN ? abut_log(s[0] * s[1]) : 0, &p);
        P[0] = p.d[0];
        P[3] = p.d[1];
        return p.psi;
    }
    abut_fabrics_one f;
    double e[3], psi;
    abut_fabrics_of_one(law, &f);
    abut_fabric_green_one(s, V, e);
    abut_fabric_psi_one(&f, k, e, &psi);
    if (psi < (double)INFINITY) abut_fabric_stress_one(&f, k, s, V, P);
    return psi;
}

/* f of a function of the principal stretches alone, projected */
ABUT_FN void abut_plane_isotropic_one(const abut_plane_principal *p, const double s[2], abut_plane_frame *f)
{
    const double half = 0.5 * (p->A[0] - p->A[2]);
    double A[3] = { p->A[0], p->A[1], p->A[2] };
    if (!abut_plane_is_semidefinite(A)) abut_plane_lift(sqrt(half * half + A[1] * A[1]), A);
    abut_plane_frame_of(p, A, s, f);
}

/* G and R: of a law that is not isotropic */
ABUT_FN void abut_plane_woven_one(int model, const double *law, double k, const double s[2], const double V[4],
                                  abut_plane_frame *f)
{
    if (model == ABUT_PLANE_BARAFF_WITKIN) {
        abut_bw_hessian(law, s, V, 1, f->G, f->R);
        return;
    }
    abut_fabrics_one fabric;
    int taut, stiff;
    abut_fabrics_of_one(law, &fabric);
    abut_fabric_frame_one(&fabric, k, s, V, f->G, f->R, &taut, &stiff);
    if (!(taut & stiff)) {
        double w[4], Q[16];
        abut_sym_eigen_of(4, f->G, w, Q);
        abut_psd_lift(4, w, Q, f->G);
    }
    const double half = 0.5 * (f->R[0] - f->R[2]);
    if (!taut && !abut_plane_is_semidefinite(f->R)) abut_plane_lift(sqrt(half * half + f->R[1] * f->R[1]), f->R);
}

/** G[16] and R[3] (abut_plane_frame): d2psi/dF2 at s with limits, projected to positive semidefinite: the functions of principal
 * stretches are projected together. */
ABUT_FN void abut_plane_hessian_one(int model, const double *law, double k, abut_plane_limit limit, const double s[2],
                                    const double V[4], abut_plane_frame *f)
{
    const int isotropic = model != ABUT_PLANE_WOVEN && model != ABUT_PLANE_BARAFF_WITKIN;
    abut_plane_principal p = { 0, { 0, 0 }, { 0, 0, 0 }, 0, 0 };
    abut_plane_frame woven;
    if (isotropic) abut_plane_principal_of(model, law[0], law[1], s, model == ABUT_NEO_HOOKEAN ? abut_log(s[0] * s[1]) : 0, &p);
    if (limit.row) abut_stretch_limit_add_of(0, limit.row, limit.kappa, s, &p);
    if (isotropic || limit.row) abut_plane_isotropic_one(&p, s, f);
    if (isotropic) return;
    abut_plane_woven_one(model, law, k, s, V, limit.row ? &woven : f);
    for (int i = 0; i < 16 && limit.row; i++) f->G[i] += woven.G[i];
    for (int i = 0; i < 3 && limit.row; i++) f->R[i] += woven.R[i];
}

/** Energy at x, J; +inf if the shell has no area, a bound is reached or it is NaN.  f[12]: its derivative, if it is finite. */
ABUT_FN double abut_shell_energy_one(int model, const double *law, double k, abut_plane_limit limit, const double x[9],
                                     const double B[4], double volume, double f[12])
{
    double F[6], U[6], s[2], V[4], P[4];
    abut_shell_deform(x, x + 3, x + 6, B, F);
    abut_thin_svd_one(F, U, s, V);
    for (int i = 0; i < 12; i++) f[i] = 0;
    if (!(s[0] > 0 && s[1] > 0)) return (double)INFINITY;
    abut_plane_principal p = { 0, { 0, 0 }, { 0, 0, 0 }, 0, 0 };
    if (limit.row) abut_stretch_limit_add_of(0, limit.row, limit.kappa, s, &p);
    const double psi = abut_plane_stress_one(model, law, k, s, V, P) + p.psi;
    if (!(psi < (double)INFINITY)) return (double)INFINITY;
    for (int i = 0; i < 2; i++) P[3 * i] += p.d[i];
    abut_shell_forces(U, V, volume, B, P, f);
    return volume * psi;
}

/** H of four corners, packed (sparse/elements.h): weight d2psi/dx2, projected; 0 at the fourth and where psi is not finite. */
ABUT_FN void abut_shell_hessian_one(int model, const double *law, double k, abut_plane_limit limit, const double x[9],
                                    const double B[4], double weight, double *H)
{
    double F[6], U[6], s[2], V[4];
    abut_plane_frame f;
    for (size_t i = 0; i < abut_packed_size(4); i++) H[i] = 0;
    abut_shell_deform(x, x + 3, x + 6, B, F);
    abut_thin_svd_one(F, U, s, V);
    if (!(s[0] > 0 && s[1] > 0)) return;
    abut_plane_hessian_one(model, law, k, limit, s, V, &f);
    for (int i = 0; i < 16; i++) f.G[i] *= weight;
    for (int i = 0; i < 3; i++) f.R[i] *= weight;
    abut_shell_pack_one(f.G, f.R, U, B, V, H);
}

#endif

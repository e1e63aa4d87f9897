/* One membrane (energy/membrane.h) and the shell that is made of it: forces, projected second derivative. */
#ifndef ABUT_ENERGY_MEMBRANE_INLINE_H
#define ABUT_ENERGY_MEMBRANE_INLINE_H

#include "energy/baraff_witkin_inline.h"
#include "energy/stretch_step_inline.h"
#include "math/elementary_inline.h"
#include "math/spd_inline.h"
#include "math/svd3_inline.h"
#include "model/laws_inline.h"
#include "sparse/packed_inline.h"

/* A function of the principal stretches and its derivatives. */
typedef struct abut_plane_principal {
    double psi;         /* J/m^3 */
    double d[2];        /* dpsi/ds_i, Pa */
    double A[3];        /* d2psi/ds_i ds_j: 00, 01, 11 */
    double flip;        /* (d_0 - d_1) / (s_0 - s_1) */
    double twist;       /* (d_0 + d_1) / (s_0 + s_1) */
} abut_plane_principal;

/* A law in the frame of the singular vectors: u_i v_p^T is number 2 i + p. */
typedef struct abut_plane_frame {
    double P[4];        /* dpsi/dF, Pa */
    double G[16];       /* d2psi/dF2 in the plane */
    double R[3];        /* d2psi/dF2 of n v_p^T, n v_q^T: 00, 01, 11 */
} abut_plane_frame;

/* ---- isotropic laws ---- */

ABUT_FN void abut_plane_stvk(double mu, double lambda, const double s[2], abut_plane_principal *p)
{
    const double e[2] = { 0.5 * (s[0] - 1) * (s[0] + 1), 0.5 * (s[1] - 1) * (s[1] + 1) }, tr = e[0] + e[1];
    p->psi = mu * (e[0] * e[0] + e[1] * e[1]) + 0.5 * lambda * tr * tr;
    for (int i = 0; i < 2; i++) {
        p->d[i] = (2 * mu * e[i] + lambda * tr) * s[i];
        p->A[2 * i] = 2 * mu * e[i] + lambda * tr + (2 * mu + lambda) * s[i] * s[i];
    }
    p->A[1] = lambda * s[0] * s[1];
    p->flip = mu * (2 * tr + 1 + s[0] * s[1]) + lambda * tr;
    p->twist = mu * (2 * tr + 1 - s[0] * s[1]) + lambda * tr;
}

/* L = ln(s_0 s_1) */
ABUT_FN void abut_plane_neo_hookean(double mu, double lambda, const double s[2], double L,
                                   abut_plane_principal *p)
{
    const double c = mu - lambda * L, r[2] = { 1 / s[0], 1 / s[1] };
    p->psi = 0.5 * mu * ((s[0] - 1) * (s[0] + 1) + (s[1] - 1) * (s[1] + 1)) + L * (0.5 * lambda * L - mu);
    for (int i = 0; i < 2; i++) {
        p->d[i] = mu * s[i] - c * r[i];
        p->A[2 * i] = mu + (c + lambda) * r[i] * r[i];
    }
    p->A[1] = lambda * r[0] * r[1];
    p->flip = mu + c * r[0] * r[1];
    p->twist = mu - c * r[0] * r[1];
}

ABUT_FN void abut_plane_fixed_corotated(double mu, double lambda, const double s[2], abut_plane_principal *p)
{
    const double J = s[0] * s[1], pressure = lambda * (J - 1);
    p->psi = mu * ((s[0] - 1) * (s[0] - 1) + (s[1] - 1) * (s[1] - 1)) + 0.5 * pressure * (J - 1);
    for (int i = 0; i < 2; i++) {
        p->d[i] = 2 * mu * (s[i] - 1) + pressure * s[1 - i];
        p->A[2 * i] = 2 * mu + lambda * s[1 - i] * s[1 - i];
    }
    p->A[1] = lambda * (2 * J - 1);
    p->flip = 2 * mu - pressure;
    p->twist = 2 * mu * (s[0] - 1 + (s[1] - 1)) / (s[0] + s[1]) + pressure;
}

/** An isotropic law at s[2] > 0; L = ln(s_0 s_1), which only the neo-Hookean one reads. */
ABUT_FN void abut_plane_principal_of(int model, double mu, double lambda, const double s[2], double L, abut_plane_principal *p)
{
    switch (model) {
    case ABUT_STVK: abut_plane_stvk(mu, lambda, s, p); break;
    case ABUT_NEO_HOOKEAN: abut_plane_neo_hookean(mu, lambda, s, L, p); break;
    default: abut_plane_fixed_corotated(mu, lambda, s, p);
    }
}

/** Whether [a b; b c] of A[3] = a, b, c is positive semidefinite. */
ABUT_FN int abut_plane_is_semidefinite(const double A[3])
{
    return 0.5 * (A[0] + A[2]) >= 0 && A[0] * A[2] - A[1] * A[1] >= 0;
}

/** A less its negative eigenvalues: the nearest that is.  root = |((a - c)/2, b)|. */
ABUT_FN void abut_plane_lift(double root, double A[3])
{
    const double a = A[0], b = A[1], c = A[2], high = 0.5 * (a + c) + root;
    if (high <= 0) {
        A[0] = A[1] = A[2] = 0;
        return;
    }
    /* high q q^T, q = (b, high - a) or (high - c, b), whichever is the longer */
    const double q[2] = { a < c ? b : high - c, a < c ? high - a : b }, w = high / (q[0] * q[0] + q[1] * q[1]);
    A[0] = w * q[0] * q[0];
    A[1] = w * q[0] * q[1];
    A[2] = w * q[1] * q[1];
}

/** f = p with A in place of p->A, and with negative flip, twist and d_i / s_i set to 0 in the second derivative. */
ABUT_FN void abut_plane_frame_of(const abut_plane_principal *p, const double A[3], const double s[2], abut_plane_frame *f)
{
    const double flip = p->flip > 0 ? p->flip : 0, twist = p->twist > 0 ? p->twist : 0;
    for (int k = 0; k < 16; k++) f->G[k] = 0;
    for (int k = 0; k < 2; k++) {
        const double across = p->d[k] / s[k];
        f->P[3 * k] = p->d[k];
        f->R[2 * k] = across > 0 ? across : 0;
    }
    f->P[1] = f->P[2] = f->R[1] = 0;
    f->G[0] = A[0];
    f->G[3] = f->G[12] = A[1];
    f->G[15] = A[2];
    f->G[5] = f->G[10] = 0.5 * (flip + twist);
    f->G[6] = f->G[9] = 0.5 * (flip - twist);
}

/* ---- stretch limits ---- */

/* remaining fraction of the width below which a difference quotient of b' is no better than its derivative */
#define ABUT_STRETCH_SAME 1e-4

#define LIMIT_FN ABUT_FN
#define LIMIT(name) name##_one
#define LN(v) abut_log(v)
#define LN1P(v) abut_log1p(v)
#include "energy/stretch_limit_forms.h"
#undef LIMIT_FN
#undef LIMIT
#undef LN
#undef LN1P

/* A row of limits, NULL: none, and their stiffness, Pa. */
typedef struct abut_plane_limit {
    const double *row;
    double kappa;
} abut_plane_limit;

/* ---- fabrics ---- */

typedef struct abut_fabrics_one {
    double a[4], m[3];      /* abut_fabrics */
} abut_fabrics_one;

#include "math/forms_one.h"
#define FABRICS abut_fabrics_one
#include "energy/membrane_forms.h"
#undef FABRICS
#include "energy/shell_forms.h"

#include "math/forms_end.h"

/* ---- any law ---- */

/* Numbers of a law: mu and lambda; or a11, a22, a12, G12, m11, m22, m12 (INFINITY: no bound); or those of ABUT_BW_*. */
enum { ABUT_PLANE_WOVEN = -1 /* no constitutive model, but a fabric */, ABUT_PLANE_BARAFF_WITKIN = -2, ABUT_PLANE_NUMBERS = 7 };

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
    if (isotropic)
        abut_plane_principal_of(model, law[0], law[1], s, model == ABUT_NEO_HOOKEAN ? abut_log(s[0] * s[1]) : 0, &p);
    if (limit.row) abut_stretch_limit_add_one(limit.row, limit.kappa, s, &p);
    if (isotropic || limit.row) abut_plane_isotropic_one(&p, s, f);
    if (isotropic) return;
    abut_plane_woven_one(model, law, k, s, V, limit.row ? &woven : f);
    for (int i = 0; i < 16 && limit.row; i++) f->G[i] += woven.G[i];
    for (int i = 0; i < 3 && limit.row; i++) f->R[i] += woven.R[i];
}

/* ---- one shell: x[9] of its corners, B[4] inverse rest edges ---- */

/** F[6] = [x1 - x0, x2 - x0] B, row major. */
ABUT_FN void abut_shell_deform(const double *x0, const double *x1, const double *x2, const double *B, double F[6])
{
    for (int i = 0; i < 3; i++) {
        const double a = x1[i] - x0[i], b = x2[i] - x0[i];
        F[2 * i] = a * B[0] + b * B[2];
        F[2 * i + 1] = a * B[1] + b * B[3];
    }
}

/** f = weight V P g_c at the corners, g_1 and g_2 the rows of B and g_0 = -(g_1 + g_2); P = U T V^T; 0 at a fourth. */
ABUT_FN void abut_shell_forces(const double U[6], const double V[4], double weight, const double *B, const double T[4],
                               double f[12])
{
    double UT[6];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) UT[2 * i + j] = weight * (U[2 * i] * T[j] + U[2 * i + 1] * T[2 + j]);
    for (int c = 0; c < 2; c++) {
        const double y0 = V[0] * B[2 * c] + V[2] * B[2 * c + 1];
        const double y1 = V[1] * B[2 * c] + V[3] * B[2 * c + 1];
        for (int i = 0; i < 3; i++) f[3 * c + 3 + i] = UT[2 * i] * y0 + UT[2 * i + 1] * y1;
    }
    for (int i = 0; i < 3; i++) {
        f[i] = -(f[3 + i] + f[6 + i]);
        f[9 + i] = 0;
    }
}

/** Energy at x, J; +inf if the shell has no area, a bound is reached or it is NaN.  f[12]: its derivative, if it is finite. */
ABUT_FN double abut_shell_energy_one(int model, const double *law, double k, abut_plane_limit limit, const double x[9],
                                     const double B[4], double volume, double f[12])
{
    double F[6], U[6], s[2], V[4], P[4];
    abut_shell_deform(x, x + 3, x + 6, B, F);
    abut_svd32(F, U, s, V);
    for (int i = 0; i < 12; i++) f[i] = 0;
    if (!(s[0] > 0 && s[1] > 0)) return (double)INFINITY;
    abut_plane_principal p = { 0, { 0, 0 }, { 0, 0, 0 }, 0, 0 };
    if (limit.row) abut_stretch_limit_add_one(limit.row, limit.kappa, s, &p);
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
    abut_svd32(F, U, s, V);
    if (!(s[0] > 0 && s[1] > 0)) return;
    abut_plane_hessian_one(model, law, k, limit, s, V, &f);
    for (int i = 0; i < 16; i++) f.G[i] *= weight;
    for (int i = 0; i < 3; i++) f.R[i] *= weight;
    abut_shell_pack_one(f.G, f.R, U, B, V, H);
}

#endif

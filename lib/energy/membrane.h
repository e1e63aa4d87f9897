/* Membranes: energy of a surface in its own plane, J per m^3 of material, as a function of the 3x2 deformation gradient
 * F = U diag(s) V^T; its columns are what unit lengths along warp and weft become.  With J = s_0 s_1, e = (F^T F - I)/2:
 *
 *   isotropic, in plane stress: lambda = E nu / (1 - nu^2)                                        Li 2020, 2.2.2, 5.3
 *     StVK              mu e:e + lambda/2 tr(e)^2
 *     neo-Hookean       mu/2 (s_0^2 + s_1^2 - 2) - mu L + lambda/2 L^2,  L = ln J
 *     fixed corotated   mu sum (s_i - 1)^2 + lambda/2 (J - 1)^2
 *   orthotropic         a11/2 e11^2 + a22/2 e22^2 + a12 e11 e22 + G12 e12^2
 *   cloth               a11/2 b(e11^2, m11^2) + a22/2 b(e22^2, m22^2) + a12 b(e11 e22, m11 m22) + G12 b(e12^2, m12^2),
 *                       b(z, m) = -m ln(1 - z/m): the same at rest, infinite where a |e_ij| reaches m_ij       Li 2020, 5.4.2
 *                       + k (c(e11/m11) + c(e22/m22) + c(e12/m12)),   c(y) = -ln(1 - y^2) - y^2
 *
 *   Baraff-Witkin       k_u w(|f_u|) (|f_u| - 1)^2 + k_v w(|f_v|) (|f_v| - 1)^2 + k_s (f_u . f_v)^2, f_u and f_v the columns of
 *                       F, w(s) = 1 for s >= 1, else the factor of compression       Kim 2020; energy/membrane_inline.h
 *
 * The barriers of cloth are as stiff as its moduli, a m^2 / 2: cloth that is much softer than its load would come to rest closer
 * to a bound than double precision resolves.  The last term, which has neither stress nor stiffness at rest, prevents this.  The
 * solver chooses its stiffness k: the amount by which it has raised the stiffness of stretch limits, initially 0.
 *
 * A surface in space does not invert: s >= 0.  All but the orthotropic ones are smooth for s > 0 only.
 *
 * Derivatives are given in the frame of the singular vectors, n the unit normal.  An isotropic membrane has as eigenvalues of
 * d2psi/dF2 those of A (in the span of u_0 v_0^T, u_1 v_1^T), flip and twist (u_0 v_1^T + and - u_1 v_0^T, over sqrt 2), and
 * d_i / s_i (n v_i^T). */
#ifndef ABUT_ENERGY_MEMBRANE_H
#define ABUT_ENERGY_MEMBRANE_H

#include "base/err.h"
#include "energy/membrane_inline.h"
#include "math/lanes.h"
#include "model/model.h"

/* The law of one material.  Pointers point into the model. */
typedef struct abut_membrane {
    int kind;               /* ABUT_MEMBRANE_* */
    int model;              /* isotropic: ABUT_STVK, ABUT_NEO_HOOKEAN or ABUT_FIXED_COROTATED */
    double mu, lambda;      /* isotropic: Pa */
    const double *fabric;   /* orthotropic, cloth: a11, a22, a12, G12, Pa; NULL: another */
    double bw[ABUT_BW_NUMBERS]; /* Baraff-Witkin (energy/membrane_inline.h) */
    const double *strain;   /* cloth: m11, m22, m12; NULL: no bounds */
} abut_membrane;

/** The law of material `mat` of a model. */
void abut_membrane_take(const abut_model *m, int32_t mat, abut_membrane *law);
/** Checks the law of material `mat`, then takes it.
 * Fails  ABUT_E_FORMAT an isotropic membrane of another constitutive model (names both) */
ABUT_MUST_USE abut_status abut_membrane_of(const abut_model *m, int32_t mat, abut_membrane *law, abut_err *err);

/** A modulus that bounds the others of the law, Pa. */
double abut_membrane_stiffness(const abut_membrane *law);

/** An isotropic law at s[2] > 0. */
void abut_membrane_principal(const abut_membrane *law, const double s[2], abut_plane_principal *p);

/** A function of the principal stretches alone in the frame of the singular vectors, its second derivative projected to positive
 * semidefinite. */
void abut_plane_project(const abut_plane_principal *p, const double s[2], abut_plane_frame *f);

/** f of such a function, its second derivative not projected. */
void abut_plane_as_is(const abut_plane_principal *p, const double s[2], abut_plane_frame *f);

/* The fabric laws of four shells: moduli (0: no fabric) and bounds (INFINITY: none). */
typedef struct abut_fabrics {
    abut_lanes a[4], m[3];
} abut_fabrics;

/** law[ABUT_LANES], NULL for none. */
void abut_fabrics_take(const abut_membrane *const *law, abut_fabrics *f);

/* Four laws at s[2] and V[4] (row major, columns v_0, v_1), k in Pa. */

/** *psi; +inf where a bound is reached. */
void abut_fabrics_psi(const abut_fabrics *f, double k, const abut_lanes *s, const abut_lanes *V, abut_lanes *psi);
/** P[4] += dpsi/dF in the frame of the singular vectors, at finite psi. */
void abut_fabrics_stress(const abut_fabrics *f, double k, const abut_lanes *s, const abut_lanes *V, abut_lanes *P);
/** G[16] and R[3] (abut_plane_frame) += d2psi/dF2, project: to positive semidefinite, at finite psi. */
void abut_fabrics_hessian(const abut_fabrics *f, double k, const abut_lanes *s, const abut_lanes *V, int project, abut_lanes *G,
                          abut_lanes *R);

/* Bounds on the principal stretches of a shell, kept by a barrier (Li 2020, 5.4.1, App. K):
 *
 *   kappa (b(s_0) + b(s_1)),   b(s) = -y^2 ln(1 + y),   y = (t - s)/(u - t) where s > t;   0 where s <= t:
 *
 * infinite at the limit u, twice continuously differentiable at the threshold t; mirrored for a lower limit.  J per m^3 of
 * material, hence independent of the mesh; a function of y, so that one kappa serves all limits. */

/* Stiffness kappa: its initial value, and the value up to which it is doubled.  It is doubled if, in two successive iterates, a
 * stretch is closer to its limit than CLOSE times the barrier's width, or a strain of cloth to its bound than CLOSE times it. */
#define ABUT_STRAIN_KAPPA_MIN 1e3   /* Pa */
#define ABUT_STRAIN_KAPPA_MAX 1e5   /* Pa */
#define ABUT_STRAIN_CLOSE 1e-4

/** Returns the stiffness, Pa, that kappa adds to the strain bounds of cloth: 0 until kappa is raised. */
static inline double abut_strain_stiffening(double kappa)
{
    return kappa > ABUT_STRAIN_KAPPA_MIN ? kappa - ABUT_STRAIN_KAPPA_MIN : 0;
}

/** b, and its first two derivatives; begins: t, limit: u, on either side of it. +inf, derivatives untouched, at the limit and
 * beyond. */
double abut_stretch_barrier(double s, double begins, double limit, double *db, double *d2b);

/** Adds kappa times the barriers of a row to p, at s[2]; if a limit is reached, p->psi is +inf and the rest is not written. */
void abut_stretch_limit_add(const double row[4], double kappa, const double s[2], abut_plane_principal *p);

/** Smallest remaining fraction of the barrier's width between s[2] and the limits of a row; 1: none is active, <= 0: reached. */
double abut_stretch_room(const double row[4], const double s[2]);

#endif

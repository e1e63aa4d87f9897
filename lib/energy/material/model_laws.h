/* Material laws of a model: isotropic densities, squared distances to volume 1 and to a range of stretches
 * and fibres. */
#ifndef ABUT_ENERGY_MATERIAL_MODEL_LAWS_H
#define ABUT_ENERGY_MATERIAL_MODEL_LAWS_H

#include "energy/material/materials.h"

/* Squared distances of the deformation gradient to sets, as densities (Liu 2018, 6): k/2 |F - P(F)|^2 with P(F) the closest
 * point of the set, which depends on the principal stretches alone.
 *
 *     volume   det = 1:                        for soft incompressibility
 *     strain   low <= s_i <= high, each:       a soft limit of stretch; beyond it is resisted, not forbidden
 *
 * They are added to the density of a material; projective dynamics uses the projections, Newton's method the derivatives. */

/** The closest p[3] to s[3] (s[0] >= s[1] >= |s[2]|) with p0 p1 p2 = 1.  If s[2] is large, one stretch is squeezed; of equally
 * close points, the one with p2 squeezed is taken.  Returns t with p_i - s_i = t / p_i. */
double abut_project_volume(const double s[3], double p[3]);

/** *out += the density k/2 |s - p|^2 at stretches s, k in Pa, k >= 0. */
void abut_volume_principal(double k, const double s[3], abut_principal *out);
/** *out += k/2 sum (s_i - clamp(s_i, low, high))^2. */
void abut_strain_principal(double k, double low, double high, const double s[3], abut_principal *out);

/* Fibres: a direction at rest along which a material is stiffer (Liu 2018, 8.3),
 *     psi = kappa/2 (|F d| - 1)^2,     P = kappa (1 - 1/|F d|) F d d^T,                      J/m^3
 * added to the isotropic density of a tet.  It is the squared distance of F d to the unit sphere, so kappa (g_a . d)(g_b . d)
 * bounds its Hessian.  If F d = 0, the stress has no direction and is 0. */

/** psi(F), and P[9] += dpsi/dF (NULL to skip); F row major, d[3] unit, kappa Pa. */
double abut_fibre_psi(double kappa, const double d[3], const double F[9], double *P);
/** M[9], symmetric: the second derivative of psi by F d, d2psi/dF_ij dF_kl = M_ik d_j d_l; project: to positive semidefinite,
 * so that a compressed fibre does not push sideways. */
void abut_fibre_hessian(double kappa, const double d[3], const double F[9], int project, double M[9]);

/* Isotropic densities by splines, in the form of Valanis and Landel (1967) that Xu et al. 2015 fill with curves:
 *     psi = a(s0) + a(s1) + a(s2) + b(s1 s2) + b(s2 s0) + b(s0 s1) + c(s0 s1 s2)
 * The user gives a', b' and c' at knots.  Between them runs a monotone cubic (Fritsch and Carlson 1980), beyond them a straight
 * line, so that psi is twice continuously differentiable and finite for inverted elements too; a' is shifted by a constant so
 * that rest is free of stress, and psi is 0 there. */

/* One curve y(x), continuously differentiable, and its integral from 1. */
typedef struct abut_curve {
    int32_t n;
    double *x, *y, *slope;  /* [n] knots, values there, derivatives there */
    double *area;           /* [n] integral from the first knot */
    double area_at_1;
} abut_curve;

/* Owned here; zero-filled is empty. */
typedef struct abut_spline {
    abut_curve a, b, c;     /* a', b', c', Pa */
} abut_spline;

/** knot[n], slope[3 n]: a', b', c' in Pa at each knot; n >= 2, knots ascending.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_spline_init(abut_spline *s, int32_t n, const double *knot, const double *slope, abut_err *err);
void abut_spline_clear(abut_spline *s);

/** The principal form at stretches s (energy/material/materials.h). */
void abut_spline_principal(const abut_spline *p, const double s[3], abut_principal *out);

/** y at x; dy/dx and the integral from 1 (NULL to skip). */
double abut_curve_at(const abut_curve *c, double x, double *slope, double *integral);
/** (y(u) - y(v)) / (u - v) without cancellation; the derivative where u = v. */
double abut_curve_chord(const abut_curve *c, double u, double v);

/* The laws of all materials of a model.  Borrows the model.  Zero-filled is empty. */
typedef struct abut_model_laws {
    const abut_model *model;
    double *lame;       /* [nm * 2] mu, lambda, Pa */
    uint8_t *needs;     /* [nm] abut_density_needs, with all that the material has */
    abut_spline *spline;    /* [nm] of those materials that are one; NULL when none is */
    int32_t nspline;        /* how many there are, so that clearing needs no model; 0 or nm */
} abut_model_laws;

/** mu = E / (2 (1 + nu)), lambda = E nu / ((1 + nu)(1 - 2 nu)), Pa. */
void abut_lame(double young, double poisson, double *mu, double *lambda);

/** Fails  ABUT_E_FORMAT unknown material model, Young's modulus not positive, Poisson's ratio outside (-1, 1/2) */
ABUT_MUST_USE abut_status abut_model_laws_check(const abut_model *m, abut_err *err);
/** Fails  as abut_model_laws_check; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_model_laws_init(abut_model_laws *l, const abut_model *m, abut_err *err);
void abut_model_laws_clear(abut_model_laws *l);

/** The principal form of all isotropic terms of a material at stretches s. */
void abut_model_law_principal(const abut_model_laws *l, int32_t material, const double s[3], abut_principal *out);
/** 1: a density that has moduli, and nothing added. */
int abut_model_law_is_plain(const abut_model_laws *l, int32_t material);
/** Four principal forms of one material. */
void abut_model_law_principals(const abut_model_laws *l, int32_t material, const abut_lanes *s, abut_principals *out);
/** psi and P[9] of four deformation gradients F[9] of one material; fibre: its unit direction d[3] at rest, read where the
 * material has fibres.  psi +inf: P is not what is asked for. */
void abut_model_law_stress(const abut_model_laws *l, int32_t material, const double *fibre, const abut_lanes *F, abut_lanes *psi,
                           abut_lanes *P);

#endif

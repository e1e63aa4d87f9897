/* Isotropic densities by splines, in the form of Valanis and Landel (1967) that Xu et al. 2015 fill with curves:
 *     psi = a(s0) + a(s1) + a(s2) + b(s1 s2) + b(s2 s0) + b(s0 s1) + c(s0 s1 s2)
 * The user gives a', b' and c' at knots.  Between them runs a monotone cubic (Fritsch and Carlson 1980), beyond them a straight
 * line, so that psi is twice continuously differentiable and finite for inverted elements too; a' is shifted by a constant so
 * that rest is free of stress, and psi is 0 there. */
#ifndef ABUT_ENERGY_MATERIAL_SPLINE_H
#define ABUT_ENERGY_MATERIAL_SPLINE_H

#include "energy/material/density.h"

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

/** The principal form at stretches s (energy/material/density.h). */
void abut_spline_principal(const abut_spline *p, const double s[3], abut_principal *out);

/** y at x; dy/dx and the integral from 1 (NULL to skip). */
double abut_curve_at(const abut_curve *c, double x, double *slope, double *integral);
/** (y(u) - y(v)) / (u - v) without cancellation; the derivative where u = v. */
double abut_curve_chord(const abut_curve *c, double u, double v);

#endif

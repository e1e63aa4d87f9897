/* Bounds on the principal stretches of a shell, kept by a barrier (Li 2020, 5.4.1, App. K):
 *
 *   kappa (b(s_0) + b(s_1)),   b(s) = -y^2 ln(1 + y),   y = (t - s)/(u - t) where s > t;   0 where s <= t:
 *
 * infinite at the limit u, twice continuously differentiable at the threshold t; mirrored for a lower limit.  J per m^3 of
 * material, hence independent of the mesh; a function of y, so that one kappa serves all limits. */
#ifndef ABUT_ENERGY_STRETCH_LIMIT_H
#define ABUT_ENERGY_STRETCH_LIMIT_H

#include "energy/membrane.h"

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

/* Bounds on the principal stretches of a shell, kept by a barrier (Li 2020, 5.4.1, App. K):
 *
 *   kappa (b(s_0) + b(s_1)),   b(s) = -y^2 ln(1 + y),   y = (t - s)/(u - t) where s > t;   0 where s <= t:
 *
 * infinite at the limit u, twice continuously differentiable at the threshold t, where it begins; mirrored for a lower limit.
 * J per m^3 of material, so that it does not know the mesh; a function of y, so that one kappa serves all limits. */
#ifndef ABUT_ENERGY_STRETCH_LIMIT_H
#define ABUT_ENERGY_STRETCH_LIMIT_H

#include "energy/membrane.h"

/* The stiffness kappa: where a simulation starts, what it is doubled up to, and when: some stretch is closer to its limit
 * than this share of the barrier's width, or some strain of cloth to its bound than this share of it, twice in a row. */
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

/** Adds kappa times the barriers of a row to p, at s[2]; p->psi is +inf, the rest untouched, where a limit is reached. */
void abut_stretch_limit_add(const double row[4], double kappa, const double s[2], abut_plane_principal *p);

/** Smallest remaining fraction of the barrier's width between s[2] and the limits of a row; 1: none is active, <= 0: reached. */
double abut_stretch_room(const double row[4], const double s[2]);

#endif

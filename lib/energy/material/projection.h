/* Squared distances of the deformation gradient to sets, as densities (Liu 2018, 6): k/2 |F - P(F)|^2 with P(F) the closest
 * point of the set, which depends on the principal stretches alone.
 *
 *     volume   det = 1:                        for soft incompressibility
 *     strain   low <= s_i <= high, each:       a soft limit of stretch; beyond it is resisted, not forbidden
 *
 * They are added to the density of a material; projective dynamics uses the projections, Newton's method the derivatives. */
#ifndef ABUT_ENERGY_MATERIAL_PROJECTION_H
#define ABUT_ENERGY_MATERIAL_PROJECTION_H

#include "energy/material/density.h"

/** The closest p[3] to s[3] (s[0] >= s[1] >= |s[2]|) with p0 p1 p2 = 1.  If s[2] is large, one stretch is squeezed; of equally
 * close points, the one with p2 squeezed is taken.  Returns t with p_i - s_i = t / p_i. */
double abut_project_volume(const double s[3], double p[3]);

/** *out += the density k/2 |s - p|^2 at stretches s, k in Pa, k >= 0. */
void abut_volume_principal(double k, const double s[3], abut_principal *out);
/** *out += k/2 sum (s_i - clamp(s_i, low, high))^2. */
void abut_strain_principal(double k, double low, double high, const double s[3], abut_principal *out);

#endif

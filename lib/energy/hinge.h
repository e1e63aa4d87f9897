/* Bending of a shell at an inner edge: k (theta - rest)^2, theta the dihedral angle (Grinspun et al. 2003, discrete shells).
 *
 * Corners of a hinge, x[12]: edge x0, x1; x2 opposite in the triangle (0, 1, 2); x3 in (1, 0, 3).  With e = x1 - x0 of length l,
 * a = x2 - x0, b = x3 - x0, normals nA = e x a, nB = b x e of unit pA, pB, and wing heights hA = |nA|/l, hB = |nB|/l:
 *
 *     theta = atan2((nA x nB).e / l, nA.nB),     d theta = -(pA.qA)/hA - (pB.qB)/hB,
 *
 * qA the motion of x2 against the place of the edge below it (weights 1 - al, al with al = a.e/l^2), qB the same of x3.
 * theta is 0 when flat, negative when the wings rise to the side of the normals, and -+pi when they are folded onto each other.
 *
 * The second derivative falls into four pairs of modes.  Measured in angles, alpha = p.q/h (a wing rotates), beta = m.q/h (it
 * gets higher; m = the unit height), s = ê.q/h (it is sheared along the edge), t = (motion of x1 against x0)/l across the edge
 * with components tb, tc along and across the bisector of the normals, + and - sum and difference of the two wings over sqrt 2:
 *
 *     1/2 D2 theta = alpha+ beta+ + alpha- beta- + sqrt2 (tb s+ cos(theta/2) + tc s- sin(theta/2)) + sin(theta)/2 (tc^2 - tb^2)
 *
 * so the energy has, with D = theta - rest, the 2x2 matrices 2k [2 D; D 0] (alpha+, beta+), 2k [0 D; D 0] (alpha-, beta-),
 * 2kD [-sin(theta) sqrt2 cos(theta/2); . 0] (tb, s+), 2kD [sin(theta) sqrt2 sin(theta/2); . 0] (tc, s-).  Each is made positive
 * semidefinite by itself: in the metric of these angles, which knows no unit of length, that is the nearest matrix.
 *
 * Continuum limit: let the nodes lie on the surface z = x.K x/2.  An edge of direction t, m across it, with wings of heights hA
 * and hB whose feet divide it into uA, l - uA and uB, l - uB, opens by
 *
 *     theta = (hA + hB)/2 m.K m + (uA - uB) t.K m - (uA (l - uA)/hA + uB (l - uB)/hB)/2 t.K t.
 *
 * With the weight of mesh/surface.h (not that of a plate), D = E tau^3/(12 (1 - nu^2)), T = tr K, the energies per area are
 *
 *     equilateral triangles               D/2 (T^2 + 2 (K1 - K2)^2), K1 and K2 the principal curvatures
 *     squares, alternating diagonals      D/2 (3 (Kxx^2 + Kyy^2) + 12 Kxy^2 - T^2/2), h the side; nodes of four sides are in
 *                                         equilibrium T h^2/12 off that surface, which gives the last term
 *
 * The first is exactly the isotropic plate D'/2 (T^2 - 2 (1 - nu') K1 K2) with D' = 3 D and nu' = -1/3, for every nu.  A strip
 * bent lengthwise bends across to the same side, a third as much; a strip of rubber bends to the other side.  With the weight of
 * a plate, D' = D: plates clamped, or supported along straight sides, then deflect correctly, because there the term of nu'
 * integrates to 0.
 *
 * The branch of the angle is the one nearest to rest: |theta - rest| <= pi.  At pi the energy has a ridge and the moment changes
 * sign.  Wings that cannot pass through each other never get there from a rest angle of 0.  A wing with an area that is rounding
 * (sine of the angle between e and a below 1e-13) has no normal: the energy is +inf there, which no line search accepts. */
#ifndef ABUT_ENERGY_HINGE_H
#define ABUT_ENERGY_HINGE_H

#include "math/lanes.h"

/** theta in [-pi, pi], rad; NaN where a wing has no normal.  grad[12] (NULL to skip): d theta / dx, 1/m. */
double abut_hinge_theta(const double x[12], double *grad);

/** Energies k (theta - rest)^2, J, and derivatives g[12], at an x of finite energy, of four hinges: a lane of each number is one
 * of theirs.  The second derivative made positive semidefinite is the sum of the squares v v^T of four vectors, v[4 * 12]
 * (energy/material/two_modes.h), which are 0 where a wing has no normal. */
void abut_hinge_energy_lanes(const abut_lanes *k, const abut_lanes *rest, const abut_lanes *x, abut_lanes *energy);
void abut_hinge_gradient_lanes(const abut_lanes *k, const abut_lanes *rest, const abut_lanes *x, abut_lanes *g);
void abut_hinge_squares_lanes(const abut_lanes *k, const abut_lanes *rest, const abut_lanes *x, abut_lanes *v);
/** H[ABUT_PACKED] (sparse/elements.h) += the second derivative of one hinge, not projected. */
void abut_hinge_hessian_as_is(double k, double rest, const double x[12], double *H);

#endif

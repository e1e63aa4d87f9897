/* Thin rods without twist: segments that stretch, and corners between two segments that bend (Li 2020, 2.2.3).
 *
 * Segment x[6]:  w (l / rest - 1)^2, w = pi r^2 rest E / 2                                J
 * Bend x[9], e = x1 - x0, f = x2 - x1, angle phi between them, 0 when straight:
 *
 *     k |kb|^2 = 4 k tan^2(phi/2) = 4 k (1 - c) / (1 + c),     c = e.f / (|e| |f|)         J
 *
 * kb = 2 e x f / (|e| |f| + e.f) the curvature binormal (Bergou et al. 2008) with the present lengths; k = E pi r^4 / 4 over the
 * sum of the two rest lengths.  The energy goes to infinity where the rod folds back onto itself.
 *
 * The second derivative of a bend falls into modes, measured in angles: with alpha the rotations of e and f in their plane, beta
 * their relative growths, eta their rotations out of the plane, + and - sum and difference (f - e) over sqrt 2, Psi' = dPsi/dphi:
 *
 *     [2 Psi'' -Psi'; . 0] (alpha-, beta+),   [0 -Psi'; . 0] (alpha+, beta-),   Psi' cot(phi/2) (eta-),   -Psi' tan(phi/2) (eta+)
 *
 * Each is made positive semidefinite by itself. */
#ifndef ABUT_ENERGY_ROD_H
#define ABUT_ENERGY_ROD_H

/** w, J; k of a bend is in the model (bend/stiffness). */
double abut_rod_stretch_stiffness(double young, double radius, double rest);

/** J; +inf when the segment has no length. */
double abut_rod_stretch_energy(double w, double rest, const double x[6]);
void abut_rod_stretch_gradient(double w, double rest, const double x[6], double g[6]);
/** 2 w (l - rest) / rest^2, N. */
double abut_rod_tension(double w, double rest, const double x[6]);
/** H[ABUT_PACKED] (sparse/elements.h) += of corners 0 and 1: 2 w / rest^2 u u^T + T/l (I - u u^T), u the direction.  It is the
 * second derivative when T, N, is the tension; positive semidefinite when T is not negative. */
void abut_rod_stretch_hessian(double w, double rest, double tension, const double x[6], double *H);

/** J; +inf when a segment has no length or the second folds back onto the first (to within 1e-13). */
double abut_rod_bend_energy(double k, const double x[9]);
void abut_rod_bend_gradient(double k, const double x[9], double g[9]);
/** H[ABUT_PACKED] +=, of corners 0, 1, 2. */
void abut_rod_bend_hessian(double k, const double x[9], int project, double *H);

#endif

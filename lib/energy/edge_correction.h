/* What a displacement stretches an element by beyond the first order of another one, that was meant: by turning it, above all.
 *
 * An element of k + 1 corners has edges e_i = x_i - x_0 and C = e^T e, their products.  A displacement d of the edges makes
 * these (e + d)^T (e + d).  What was meant rotates and strains the element to first order, M = (e^T meant + meant^T e)/2:
 * strained so without a rotation it has the products C + 2 M + M C^-1 M.  The difference
 *
 *     X = e^T d + d^T e + d^T d - 2 M - M C^-1 M                                               m^2
 *
 * is to first order what u = e C^-1 X / 2 brings, a motion of the edges in their plane. */
#ifndef ABUT_ENERGY_EDGE_CORRECTION_H
#define ABUT_ENERGY_EDGE_CORRECTION_H

/** u[3 k], edges one after the other as in e[3 k]; k = 1 (segment) or 2 (triangle).  0 where edges are dependent to rounding. */
void abut_turn_edges(int k, const double *e, const double *d, const double *meant, double *u);

#endif

/* Stretch of an element by a displacement d beyond the first-order strain of an intended displacement: mainly that of a rotation.
 *
 * An element of k + 1 corners has edges e_i = x_i - x_0 and their products C = e^T e.  A displacement d of the edges changes the
 * products to (e + d)^T (e + d).  The intended displacement `meant` has the first-order strain M = (e^T meant + meant^T e)/2.
 * Without a rotation, M gives the products C + 2 M + M C^-1 M.  The difference
 *
 *     X = e^T d + d^T e + d^T d - 2 M - M C^-1 M                                               m^2
 *
 * is, to first order, due to u = e C^-1 X / 2, a motion of the edges in their plane. */
#ifndef ABUT_ENERGY_EDGE_CORRECTION_H
#define ABUT_ENERGY_EDGE_CORRECTION_H

/** Computes u[3 k], edge after edge as in e[3 k]; k = 1 (segment) or 2 (triangle).  u = 0 if edges are dependent to rounding. */
void abut_turn_edges(int k, const double *e, const double *d, const double *meant, double *u);

#endif

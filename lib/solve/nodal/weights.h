/* The diagonal that ADMM has in place of A: how hard each node is to move (Daviet 2020, 6.2.6).
 *
 *     w = max(sigma eta, min(beta m, eta)),   eta the smallest eigenvalue of the 3x3 block of A at the node, m its mass
 *
 * eta alone says too much where nodes are tied to each other; inertia alone too little where they are tied to a place. */
#ifndef ABUT_SOLVE_NODAL_WEIGHTS_H
#define ABUT_SOLVE_NODAL_WEIGHTS_H

/** The smallest eigenvalue of a symmetric 3x3 matrix, row major, in closed form (Smith 1961), to 1e-7 of the largest. */
double abut_smallest_eigenvalue3(const double A[9]);
/** w, kg, above 0 for m > 0 and a positive definite A. */
double abut_nodal_weight(const double A[9], double mass, double beta, double sigma);

#endif

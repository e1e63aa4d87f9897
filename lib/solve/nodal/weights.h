/* The diagonal W of ADMM in place of A: the effective inertia of each node (Daviet 2020, 6.2.6).
 *
 *     w = min(M/2, max(sigma eta, min(beta m, eta))),   eta the smallest eigenvalue of the 3x3 block of A at the node, m its mass
 *
 * eta alone is too large for nodes tied to each other; inertia alone is too small for nodes tied to a place.
 *
 * M/2: a node has at most the inertia of its rigid body, whose inverse mass at the distance d from its centre is
 * 1/M 1 - [d] I^-1 [d].  A third of its trace, averaged over the masses of the nodes, is 2/M for any body, since
 * sum m [d][d] = -I.  So both sides of a contact are as heavy as their bodies, for any stiffness, and the four nodes of a frame
 * have half of its mass each. */
#ifndef ABUT_SOLVE_NODAL_WEIGHTS_H
#define ABUT_SOLVE_NODAL_WEIGHTS_H

/** The smallest eigenvalue of a symmetric 3x3 matrix, row major, in closed form (Smith 1961), to 1e-7 of the largest. */
double abut_smallest_eigenvalue3(const double A[9]);
/** w, kg, above 0 for m > 0 and a positive definite A.  body: M, at least m; INFINITY: not known. */
double abut_nodal_weight(const double A[9], double mass, double body, double beta, double sigma);

#endif

/* Attachments: springs that tie a node to a place which other nodes carry, quadratic in the positions:
 *     E = sum k/2 |r|^2,     r = x_i - sum_j w_j x_j - o                                  J
 * With sum w = 1 and o = 0 the place moves affinely with the tet that carries it, also if it lies outside of the tet: E is then
 * invariant to rigid motions of both bodies together, and its forces balance in moment, too.  Without carriers o is a point in
 * space.  The Hessian is k c c^T x I, c = (1, -w): constant and positive semidefinite.
 * Attached bodies have contact as all other bodies. */
#ifndef ABUT_ENERGY_ATTACHMENT_H
#define ABUT_ENERGY_ATTACHMENT_H

#include "model/model.h"

/** E(x) of all attachments of the model, J. */
double abut_attachment_energy(const abut_model *m, const double *x);
/** g[3 nv] += scale dE/dx, in the order of the attachments. */
void abut_attachment_gradient(const abut_model *m, const double *x, double scale, double *g);
/** H[na * abut_packed_size(5)] (sparse/elements.h): scale d2E/dx2 of the elements m->attach_node, five corners each. */
void abut_attachment_hessian(const abut_model *m, double scale, double *H);

#endif

/* Springs between two nodes, Hookean in their length (Liu 2018, 3.3 and 5):
 *     E = sum k/2 (|x_a - x_b| - l)^2                                                      J
 * and each is the smallest k/2 |x_a - x_b - p|^2 over all p of length l: a squared distance, so E lies below the quadratic
 * with the constant matrix k [1 -1; -1 1] that touches it at any x.  A spring of length 0 at an instant has no direction: its
 * force is 0 there. */
#ifndef ABUT_ENERGY_SPRING_H
#define ABUT_ENERGY_SPRING_H

#include "base/arena.h"
#include "model/model.h"

/* The springs at each node, those of a node filled up to a multiple of ABUT_LANES by ones without stiffness to itself; owned
 * here.  Borrows the model. */
typedef struct abut_springs {
    const abut_model *model;
    int32_t *first;         /* [nv + 1] */
    int32_t *other;         /* [first[nv]] node at the other end, springs ascending */
    double *stiffness, *length;
} abut_springs;

/** Fails  ABUT_E_FORMAT more springs than can be numbered; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_springs_init(abut_springs *s, const abut_model *m, abut_err *err);
void abut_springs_clear(abut_springs *s);

/** E(x), J.  scratch: one double per block of springs. */
ABUT_MUST_USE abut_status abut_spring_energy(const abut_springs *s, const double *x, double *energy, abut_arena *scratch,
                                             abut_err *err);
/** g[3 nv] += scale dE/dx.  The forces at the two ends of a spring are opposite to the last bit. */
void abut_spring_gradient(const abut_springs *s, const double *x, double scale, double *g);
/** H[nsp * abut_packed_size(2)] (sparse/elements.h): scale d2E/dx2 of the elements m->spring, two corners each; project: to
 * positive semidefinite, so that a spring that is shorter than at rest does not push sideways. */
void abut_spring_hessian(const abut_springs *s, const double *x, double scale, int project, double *H);

/* Attachments: springs that tie a node to a place which other nodes carry, quadratic in the positions:
 *     E = sum k/2 |r|^2,     r = x_i - sum_j w_j x_j - o                                  J
 * With sum w = 1 and o = 0 the place moves affinely with the tet that carries it, also if it lies outside of the tet: E is then
 * invariant to rigid motions of both bodies together, and its forces balance in moment, too.  Without carriers o is a point in
 * space.  The Hessian is k c c^T x I, c = (1, -w): constant and positive semidefinite.
 * Attached bodies have contact as all other bodies. */

/** E(x) of all attachments of the model, J. */
double abut_attachment_energy(const abut_model *m, const double *x);
/** g[3 nv] += scale dE/dx, in the order of the attachments. */
void abut_attachment_gradient(const abut_model *m, const double *x, double scale, double *g);
/** H[na * abut_packed_size(5)] (sparse/elements.h): scale d2E/dx2 of the elements m->attach_node, five corners each. */
void abut_attachment_hessian(const abut_model *m, double scale, double *H);

#endif

/* The characteristic force of a mesh: the scale of its elastic forces (Li 2020, 3.5.2).
 *
 *     C = | (W l)_v |_2,    (W l)_v = sum over the tets t at node v of W_t a_tv                              N
 *
 * W_t, Pa, is the Frobenius norm of d2psi/dF2 of the material of t at rest, a_tv, m^2, the rest area of the face of t opposite
 * to v.  With one material C is W |l|_2 of eq. 3.15; with several materials every node has its own W. */
#ifndef ABUT_ENERGY_CHARACTERISTIC_H
#define ABUT_ENERGY_CHARACTERISTIC_H

#include "energy/elastic.h"

/** C * sqrt(fraction of free nodes among the nodes with tets), N; held[nv]: nodes that are not free.  node[nv] is scratch. */
double abut_characteristic_force(const abut_elastic *e, const uint8_t *held, double *node);

#endif

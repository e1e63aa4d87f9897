/* An energy that a program adds to the objective: a sum over elements of few nodes, defined by one function of an element.
 * The library makes the rest for the solver: sums by blocks, a gathered gradient, projected element matrices.
 *
 *     double spring(const void *own, int32_t i, const double *x, double *g, double *H) { ... return e; }
 *     abut_element_energy pull = { "pull", 1, n, node, spring, &own };
 */
#ifndef ABUT_ENERGY_ELEMENT_ENERGY_H
#define ABUT_ENERGY_ELEMENT_ENERGY_H

#include "base/err.h"

#include <stdint.h>

ABUT_PUBLIC_BEGIN

enum { ABUT_ELEMENT_CORNERS = 4 };  /* of an element at most */

/* E(x) = sum of value(x of the corners) over the elements.  All is borrowed. */
typedef struct abut_element_energy {
    const char *name;       /* in messages and reports; not that of an energy of abut */
    int corners;            /* nodes of an element, 1 .. ABUT_ELEMENT_CORNERS */
    int32_t n;              /* elements */
    const int32_t *node;    /* [n * corners] nodes of the model */
    /** The energy of an element, J; INFINITY at forbidden positions of its corners.
     *
     * x  [3 corners]     m    positions of the corners
     * g  [3 corners]     N    out: its gradient, filled with 0 by the caller; NULL: skip
     * H  [(3 corners)^2] N/m  out: its second derivatives, symmetric, may be indefinite; filled with 0 by the caller; NULL: skip
     * Many threads call it at once; equal arguments must return equal bits. */
    double (*value)(const void *own, int32_t element, const double *x, double *g, double *H);
    const void *own;
} abut_element_energy;

ABUT_PUBLIC_END

#endif

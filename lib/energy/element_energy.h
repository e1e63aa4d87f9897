/* An energy that a program adds to the objective: a sum over elements of few nodes, of which the program gives one function.
 * What the solver needs of it - sums by blocks, a gathered gradient, projected element matrices - is made here.
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
    /** The energy of an element, J; INFINITY where the corners may not be.
     *
     * x  [3 corners]     m    where they are
     * g  [3 corners]     N    out: its gradient; NULL: not asked for.  Comes filled with 0
     * H  [(3 corners)^2] N/m  out: its second derivatives, symmetric, indefinite ones too; NULL: not asked for.  Filled with 0
     * Many threads call it side by side; the same arguments give the same bits. */
    double (*value)(const void *own, int32_t element, const double *x, double *g, double *H);
    const void *own;
} abut_element_energy;

ABUT_PUBLIC_END

#endif

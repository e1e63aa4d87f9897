/* Points in an order in which neighbours in the list are neighbours in space, for locality in memory. */
#ifndef ABUT_MATH_HILBERT_H
#define ABUT_MATH_HILBERT_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/** order[n]: the points x[3 n] group by group; a group is ordered along a Hilbert curve through the cube around it, and points of
 * one cell keep their order.  The same for any thread count.
 *
 * group    [n] in 0 .. ngroups - 1
 * Fails    ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_curve_order(size_t n, const double *x, const int32_t *group, int32_t ngroups, int32_t *order,
                                           abut_err *err);

#endif

/* The directions of this build, for `step --solver NAME`.  A new one is a file with its table of operations
 * (solve/direction.h) and a row here. */
#ifndef ABUT_SOLVE_DIRECTIONS_H
#define ABUT_SOLVE_DIRECTIONS_H

#include "solve/direction.h"

/* NULL at the end; the first is the default. */
extern const abut_direction_ops *const abut_directions[];

/** Newton: p = -H^-1 g, every element Hessian projected to positive semidefinite (Teran et al. 2005; Li 2020, 4.4.3), by any
 * linear solver (solve/direction/newton.c). */
extern const abut_direction_ops abut_direction_newton;
/** L-BFGS on an initial matrix (solve/direction/lbfgs.c; solve/direction/initial.h): the Newton matrix, the Laplacian, blocks of
 * disjoint sets of nodes, an incomplete factor, subdomains, the diagonal, the Hessian at rest, the same warped, the identity. */
extern const abut_direction_ops abut_direction_lbfgs_h, abut_direction_lbfgs_pd, abut_direction_lbfgs_jh, abut_direction_lbfgs_ic,
    abut_direction_dot, abut_direction_gradient, abut_direction_lbfgs_rest, abut_direction_lbfgs_warped,
    abut_direction_lbfgs_id;

#endif

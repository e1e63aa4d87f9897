/* Arguments of the kernels of elements and of linear algebra: tets, inertia, operator, conjugate gradients, preconditioners. */
#ifndef ABUT_GPU_KERNELS_SOLVE_H
#define ABUT_GPU_KERNELS_SOLVE_H

#include <stddef.h>
#include <stdint.h>

#define ABUT_KERNELS_SOLVE(K)

#endif

/* All kernels: each is written once, in a k_*.c by ABUT_KERNEL, and is one line of a list here.  A line is a prototype per
 * machine and a pointer in its table. */
#ifndef ABUT_GPU_KERNELS_H
#define ABUT_GPU_KERNELS_H

#include "gpu/kernels_contact.h"
#include "gpu/kernels_codim.h"
#include "gpu/kernels_solve.h"
#include "gpu/kernels_tie.h"
#include "gpu/kernels_vector.h"

#define ABUT_KERNELS(K) ABUT_KERNELS_VECTOR(K) ABUT_KERNELS_CONTACT(K) ABUT_KERNELS_SOLVE(K) \
    ABUT_KERNELS_CODIM(K) ABUT_KERNELS_TIE(K)

#endif

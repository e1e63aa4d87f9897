/* The machine that a test of kernels runs on: the twin, or with ABUT_GPU=N in the environment device N. */
#ifndef ABUT_TESTS_MACHINE_OPEN_H
#define ABUT_TESTS_MACHINE_OPEN_H

#include "gpu/machine.h"

#include <stdlib.h>

static inline abut_status machine_open(abut_queue *q, abut_err *err)
{
    const char *gpu = getenv("ABUT_GPU");
    return gpu && *gpu ? abut_queue_cuda(q, atoi(gpu), err) : abut_queue_twin(q, err);
}

/* in [0, 1) */
static inline double machine_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-53;
}

#endif

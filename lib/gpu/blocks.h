/* Element matrices of four corners on a machine. */
#ifndef ABUT_GPU_BLOCKS_H
#define ABUT_GPU_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

/* n element matrices; node and val are the machine's, borrowed from the function that made them. */
typedef struct abut_gpu_blocks {
    size_t n;
    const int32_t *node;    /* [4 n] nodes, -1 unused */
    const double *val;      /* [90 n] packed (sparse/elements.h); what belongs to an unused corner is not read */
} abut_gpu_blocks;

#endif

/* A preconditioner: z = M^-1 r with a symmetric positive definite M.  Its owner fills this in. */
#ifndef ABUT_SPARSE_PRECOND_H
#define ABUT_SPARSE_PRECOND_H

#include "base/err.h"

#include <stdint.h>

typedef struct abut_precond {
    abut_status (*apply)(void *of, const double *r, double *z, abut_err *err);  /* r, z: [3 rows], not overlapping */
    void *of;
    int32_t rows;       /* blocks */
} abut_precond;

#endif

/* The inverse of a symmetric matrix of 48 rows by a group of 192 lanes: Gauss-Jordan without pivots; for k_cluster.c and
 * k_rigid.c. */
#ifndef ABUT_GPU_INVERT48_H
#define ABUT_GPU_INVERT48_H

#include "gpu/group.h"

enum { WIDE = 48, WORKERS = 192 /* lanes: each has a quarter of a column */,
       INVERT_PHASES = 2 * WIDE + 2 /* phase 0 fills M, the last one takes it */ };

typedef struct invert48 {
    double M[WIDE][WIDE], row[WIDE], col[WIDE];
    uint32_t bad;       /* a pivot was not positive */
} invert48;

/* Phases 1 .. 2 WIDE; phase 0 has set bad to 0. */
ABUT_FN void invert48_phase(invert48 *s, uint32_t lane, uint32_t phase)
{
    const uint32_t k = (phase - 1) / 2;
    if (phase % 2) {
        if (lane < WIDE) s->row[lane] = s->M[k][lane];
        else if (lane < 2 * WIDE) s->col[lane - WIDE] = s->M[lane - WIDE][k];
        else if (lane == 2 * WIDE && !(s->M[k][k] > 0)) s->bad = 1;
        return;
    }
    const uint32_t j = lane % WIDE;
    const double p = 1 / s->col[k], across = s->row[j] * p;
    for (uint32_t i = lane / WIDE; i < WIDE; i += WORKERS / WIDE) {
        double *m = &s->M[i][j];
        if (i == k) *m = j == k ? p : across;
        else *m = j == k ? -s->col[i] * p : *m - s->col[i] * across;
    }
}

#endif

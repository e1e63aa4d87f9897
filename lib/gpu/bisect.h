/* Cuts rows of a matrix, which are points in space, into parts: by repeated bisection along the longest side, disconnected pieces
 * of the matrix separately.  Deterministic. */
#ifndef ABUT_GPU_BISECT_H
#define ABUT_GPU_BISECT_H

#include "sparse/bsr.h"

/* Zero-filled is empty. */
typedef struct abut_bisection {
    int32_t parts;
    int32_t *part;      /* [n] of each row */
    int32_t *first;     /* [parts + 1]: rows of part j are member[first[j] .. first[j + 1]) */
    int32_t *member;    /* [n] */
} abut_bisection;

/** Makes parts of about `rows` rows at positions x[3 n].  Pieces of the matrix share parts only if there were more than `most`
 * parts otherwise.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_bisect(abut_bisection *b, const abut_bsr *A, const double *x, int32_t rows, int32_t most,
                                      abut_err *err);
void abut_bisection_clear(abut_bisection *b);

#endif

/* Incomplete Cholesky factors without fill (Meijerink and van der Vorst 1977) of the diagonal blocks of an operator on chunks of
 * ABUT_INCOMPLETE_ROWS consecutive rows, as a preconditioner:
 *
 *     M^-1 = sum over chunks j of R_j^T (L_j L_j^T)^-1 R_j
 *
 * L_j has blocks where the elements of the operator join two rows of the chunk, and on them L_j L_j^T is its diagonal block.
 * Such a factor need not exist: then the diagonal of its chunk is raised until it does (Manteuffel 1980).  It is made in double
 * and kept in single precision, which leaves M symmetric positive definite.  Chunks are independent of each other, and of the
 * number of threads: the same bits for every one. */
#ifndef ABUT_SPARSE_INCOMPLETE_CHUNKS_H
#define ABUT_SPARSE_INCOMPLETE_CHUNKS_H

#include "sparse/operator.h"
#include "sparse/precond.h"

enum { ABUT_INCOMPLETE_ROWS = 2048 };

typedef struct abut_incomplete abut_incomplete;

typedef struct abut_incomplete_stats {
    int32_t chunks, raised; /* number; chunks with a raised diagonal */
    double nnz, flops;
    size_t bytes;
} abut_incomplete_stats;

/** The factors of A, which is known by its matrix or has `read`; *f NULL or made before.
 * Fails  ABUT_E_ARG A has neither; ABUT_E_NUMERIC no shift below 1 makes a chunk positive definite; ABUT_E_NOMEM.  *f is then
 *        without factors */
ABUT_MUST_USE abut_status abut_incomplete_factor(abut_incomplete **f, const abut_operator *A, abut_err *err);
/** As a preconditioner; good as long as f. */
abut_precond abut_incomplete_precond(abut_incomplete *f);
abut_incomplete_stats abut_incomplete_get_stats(const abut_incomplete *f);
void abut_incomplete_free(abut_incomplete **f);

#endif

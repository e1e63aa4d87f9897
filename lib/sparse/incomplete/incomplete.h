/* Incomplete Cholesky factors without fill (Meijerink and van der Vorst 1977) of the diagonal blocks of an operator on chunks of
 * ABUT_INCOMPLETE_ROWS consecutive rows, as a preconditioner:
 *
 *     M^-1 = sum over chunks j of R_j^T (L_j L_j^T)^-1 R_j
 *
 * L_j has blocks where the elements of the operator join two rows of the chunk, and on them L_j L_j^T is its diagonal block.
 * Such a factor need not exist: then the diagonal of its chunk is raised until it does (Manteuffel 1980).  It is made in double
 * and kept in single precision, which leaves M symmetric positive definite.  Chunks are independent of each other, and of the
 * number of threads: the same bits for every one. */
#ifndef ABUT_SPARSE_INCOMPLETE_INCOMPLETE_H
#define ABUT_SPARSE_INCOMPLETE_INCOMPLETE_H

#include "sparse/operator.h"

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

/* ---- parts of rows ----
 *
 * Parts of rows for rigid motions: rows among ABUT_PART_ROWS consecutive ones that an operator's blocks connect, directly or by
 * other rows among them.  So bodies, or ends of one, that are not connected there do not move as one.  A row that none of them
 * connects is of the part of a row beyond that one connects, so that the parts of a body move as the body does.  A row that
 * no block connects is in no part: its diagonal block suffices. */

enum { ABUT_PART_ROWS = 128 };

/* Zero-filled is empty. */
typedef struct abut_row_parts {
    int32_t k;
    int32_t *first, *row;   /* [k + 1]; rows of part p: row[first[p] .. first[p+1]), ascending */
} abut_row_parts;

/** Makes the parts by the summed blocks of A, which last, or, without any, by its elements.  Equal for every thread count.
 * Fails  ABUT_E_ARG A has neither a matrix nor `read`; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_row_parts_make(abut_row_parts *p, const abut_operator *A, int32_t rows, abut_err *err);
void abut_row_parts_clear(abut_row_parts *p);

#endif

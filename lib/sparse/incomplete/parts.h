/* Parts of rows for rigid motions: rows among ABUT_PART_ROWS consecutive ones that an operator's blocks connect, directly or by
 * other rows among them.  So bodies, or ends of one, that are not connected there do not move as one.  A row alone is in no part:
 * its diagonal block suffices. */
#ifndef ABUT_SPARSE_INCOMPLETE_PARTS_H
#define ABUT_SPARSE_INCOMPLETE_PARTS_H

#include "sparse/operator.h"

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

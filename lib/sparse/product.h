/* y = (D + the sum of element sets) x without the matrix of all: each element multiplies its own rows, then each row adds what
 * its corners have.  Sets that `make` writes are made again for every product; a set with a map multiplies vertices W x and adds
 * W^T of the result.  Stored terms s v v^T are not expanded: t = s v . x, then each row adds its part of t v.  A corner takes
 * 3 numbers and an index; a tet takes a seventh of its packed matrix.
 *
 * The first sets, those whose rows last, may be summed with D into 3x3 blocks instead (sparse/bsr.h).  A product with linear tets
 * then reads a sixth of the memory of their packed matrices.  Contacts come and go; they do not change that pattern. */
#ifndef ABUT_SPARSE_PRODUCT_H
#define ABUT_SPARSE_PRODUCT_H

#include "sparse/operator.h"

/* The corners of each row, for the sets of one matrix. */
typedef struct abut_product abut_product;

/** Makes *p for n block rows.  Copies all of the sets but their values; maps must outlive *p.  Sets before number `summed`
 * (0 .. nsets) are summed.
 * Fails  as abut_elements_check; ABUT_E_ARG more than ABUT_SETS_MAX sets; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_product_make(abut_product **p, int32_t n, const abut_elements *sets, int nsets, int summed,
                                            abut_err *err);
/** Makes *p for other rows; *p is NULL or made before.  lasted: out, 1 if n and the rows of the summed sets equal those of the
 * last call; their pattern is then kept.  Fails  as abut_product_make; *p is then NULL */
ABUT_MUST_USE abut_status abut_product_renew(abut_product **p, int32_t n, const abut_elements *sets, int nsets, int summed,
                                             int *lasted, abut_err *err);
/** Sets the values: diag[n] (times identity; NULL: zero) and those of the sets given to `make`, borrowed.  Returns p as an
 * operator, valid as long as they are. */
abut_operator abut_product_set(abut_product *p, const double *diag, const abut_elements *sets);
/** p with the values that it has. */
abut_operator abut_product_operator(abut_product *p);
/** y = A x, both [3 n], not overlapping.  The same bits for every thread count.  Scratch of p: one call at a time. */
void abut_product_multiply(abut_product *p, const double *x, double *y);
/** D[9 n]: the diagonal blocks.  It makes the elements three times that are not summed. */
void abut_product_diagonal(abut_product *p, double *D);
/** Passes the summands of p to a reader, or with values 0 their pattern (sparse/operator.h).  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_product_read(abut_product *p, int values, const abut_operator_reader *to, abut_err *err);
void abut_product_free(abut_product **p);

#endif

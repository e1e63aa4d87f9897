/* y = (D + the sum of element sets) x without the matrix of all: each element multiplies its own rows, then each row adds what
 * its corners have.  Sets that `make` writes are made again for every product; a set with a map multiplies vertices W x and adds
 * W^T of the result.  Terms s v v^T that lie in memory are multiplied as they are: t = s v . x, then each row adds its part of
 * t v.  It takes 3 numbers and an index for a corner, of a tet a seventh of its packed matrix.
 *
 * The first sets, those whose rows last, may be summed with D into 3x3 blocks instead (sparse/bsr.h): of linear tets a product
 * reads a sixth of the memory then that their packed matrices take.  Contacts, which come and go, leave that pattern as it is. */
#ifndef ABUT_SPARSE_PRODUCT_H
#define ABUT_SPARSE_PRODUCT_H

#include "sparse/operator.h"

/* The corners of each row, for the sets of one matrix. */
typedef struct abut_product abut_product;

/** For n block rows.  Of the sets all but the values is read and copied; maps must outlive *p.  The sets before number `summed`
 * (0 .. nsets) are summed.
 * Fails  as abut_elements_check; ABUT_E_ARG more than ABUT_SETS_MAX sets; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_product_make(abut_product **p, int32_t n, const abut_elements *sets, int nsets, int summed,
                                            abut_err *err);
/** The same for other rows, *p NULL or made before.  lasted: out, 1 where n and the rows of the sets that are summed are those
 * of the last call, whose pattern is kept then.  Fails  likewise, and *p is NULL then */
ABUT_MUST_USE abut_status abut_product_renew(abut_product **p, int32_t n, const abut_elements *sets, int nsets, int summed,
                                             int *lasted, abut_err *err);
/** The values from here on: diag[n] (times identity; NULL: zero) and the same sets, borrowed.  Returns p as an operator, good as
 * long as they are. */
abut_operator abut_product_set(abut_product *p, const double *diag, const abut_elements *sets);
/** p with the values that it has. */
abut_operator abut_product_operator(abut_product *p);
/** y = A x, both [3 n], not overlapping.  The same bits for every thread count.  Scratch of p: one call at a time. */
void abut_product_multiply(abut_product *p, const double *x, double *y);
/** D[9 n]: the diagonal blocks.  It makes the elements three times that are not summed. */
void abut_product_diagonal(abut_product *p, double *D);
/** Hands over what it is the sum of, or with values 0 the pattern (sparse/operator.h).  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_product_read(abut_product *p, int values, const abut_operator_reader *to, abut_err *err);
void abut_product_free(abut_product **p);

#endif

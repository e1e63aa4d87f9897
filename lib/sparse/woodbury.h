/* A constant scalar matrix that has been factored, and 3x3 blocks on a few of its rows:
 *
 *     A = A_0 x I_3 + E S E^T,
 *
 * E the m rows that elements touch, S the sum of the elements.  With G = E^T A_0^-1 E, the compliance of those rows, and
 * y = A_0^-1 r (Woodbury 1950, so written that S may be singular),
 *
 *     A^-1 r = A_0^-1 (r + E w),   w = P ((P + S)^-1 P y_E - y_E),   P = G^-1 x I_3.
 *
 * Making it takes m/3 solutions with A_0 and a dense Cholesky factor of 3 m rows; a solution takes two.  The same bits for every
 * thread count. */
#ifndef ABUT_SPARSE_WOODBURY_H
#define ABUT_SPARSE_WOODBURY_H

#include "math/blas.h"
#include "sparse/bsr.h"
#include "sparse/linear_solver.h"

/* Zero-filled is empty. */
typedef struct abut_woodbury {
    abut_linear_solver *base;   /* borrowed: a factor of A_0, scalar */
    int32_t n, m, *row;     /* rows of A, those that are touched, ascending [m] */
    double *P;              /* [m * m] G^-1 */
    double *K;              /* [9 m * m] Cholesky factor of P + S, lower triangle by columns */
    double *y;              /* [3 n + 9 m] scratch of a solution */
    abut_blas blas;
} abut_woodbury;

/** Rows that the elements touch, in a matrix of n rows.  Fails  ABUT_E_ARG rows out of range, a map of rows; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_woodbury_count(int32_t n, const abut_elements *e, int32_t *m, abut_err *err);
/** Makes s anew.  base: a factor of n rows that outlives s; e: positive semidefinite, rows -1 .. n-1, without a map.
 * Fails  ABUT_E_NUMERIC the sum is not positive definite; as abut_woodbury_count, abut_blas_open.  s is then empty */
ABUT_MUST_USE abut_status abut_woodbury_make(abut_woodbury *s, abut_linear_solver *base, int32_t n, const abut_elements *e,
                                            abut_err *err);
/** As a preconditioner: z = A^-1 r; good as long as s. */
abut_precond abut_woodbury_precond(abut_woodbury *s);
void abut_woodbury_clear(abut_woodbury *s);

#endif

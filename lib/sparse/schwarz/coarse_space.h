/* The coarse space of a block matrix A on nodes in space: the six rigid motions of each of k sets of rows,
 *
 *     C = Z E^-1 Z^T,     E = Z^T A Z,     Z = sum_j R_j^T W_j [translations, rotations about the middle of set j]
 *
 * R_j the rows of set j, W_j one over the number of sets that a row is in: together the columns of Z contain the rigid motions
 * of the whole (Toselli and Widlund 2005, 3.1 and 6.2.3).  Solutions on the sets alone carry information from one to the next
 * only; C carries it across the mesh at once.  The same bits for every thread count. */
#ifndef ABUT_SPARSE_SCHWARZ_COARSE_SPACE_H
#define ABUT_SPARSE_SCHWARZ_COARSE_SPACE_H

#include "sparse/operator.h"

typedef struct abut_coarse_space abut_coarse_space;

typedef struct abut_coarse_space_stats {
    double factor_nnz, factor_flops;
    size_t bytes;           /* of the factor of E, and of A Z */
} abut_coarse_space_stats;

/** Sets row[first[j] .. first[j+1]), j < k, without repetitions, of the rows of A, of which the pattern is read; rows in no set
 * do not move.  *c is NULL at first, or made before for another A: what that has in common with this one is kept.
 * Fails  ABUT_E_NOMEM.  *c is then freed and NULL */
ABUT_MUST_USE abut_status abut_coarse_space_analyse(abut_coarse_space **c, const abut_operator *A, int32_t k,
                                                    const int32_t *first, const int32_t *row, abut_err *err);
/** A Z and the factor of E for an A with the analysed pattern, its rows at x[3 n], m.
 * Fails  ABUT_E_NUMERIC E is not positive definite */
ABUT_MUST_USE abut_status abut_coarse_space_factor(abut_coarse_space *c, const abut_operator *A, const double *x, abut_err *err);
/** z += C r; all vectors here are [3 n]. */
ABUT_MUST_USE abut_status abut_coarse_space_add(abut_coarse_space *c, const double *r, double *z, abut_err *err);
/** z += C (r - A z), with the A last factored, a matrix: Z^T A z = Z^T r then. */
ABUT_MUST_USE abut_status abut_coarse_space_correct(abut_coarse_space *c, const double *r, double *z, abut_err *err);
/** q = r - A C r, with the A last factored, a matrix: Z^T q = 0. */
ABUT_MUST_USE abut_status abut_coarse_space_project(abut_coarse_space *c, const double *r, double *q, abut_err *err);
abut_coarse_space_stats abut_coarse_space_get_stats(const abut_coarse_space *c);
void abut_coarse_space_free(abut_coarse_space **c);

#endif

/* Principal submatrices of a block matrix on sets of rows that may overlap, each with a sparse Cholesky factor of its own:
 *
 *     z += sum_j R_j^T W A_j^-1 W' R_j r,      A_j = R_j A R_j^T,     R_j the rows of domain j
 *
 * A_j is positive definite when A is.  The domains are independent of each other, so they are factored and solved side by side,
 * and fill ends at their borders.  The same bits for every thread count. */
#ifndef ABUT_SPARSE_SCHWARZ_SUBDOMAINS_H
#define ABUT_SPARSE_SCHWARZ_SUBDOMAINS_H

#include "sparse/linear_solver.h"

typedef struct abut_subdomains abut_subdomains;

/* Weights of a row with n copies. */
typedef enum abut_subdomains_join {
    ABUT_JOIN_SUM,          /* W = W' = 1: additive Schwarz */
    ABUT_JOIN_MEAN,         /* W = 1/n, W' = 1: the copies are averaged.  Not symmetric where the numbers of copies differ */
    ABUT_JOIN_EVEN          /* W = W' = 1/sqrt n: symmetric positive definite, and with equal n the mean */
} abut_subdomains_join;

typedef struct abut_subdomains_stats {
    int32_t domains, largest;   /* how many; rows of the largest */
    int64_t copies;             /* rows of all of them together */
    double factor_nnz, factor_flops;
    size_t bytes;               /* of the factors that there are */
} abut_subdomains_stats;

/** Domains row[first[j] .. first[j+1]), ascending in each, j < k, of a matrix with the pattern of A; every row of A is in one
 * at least. *d is NULL at first, or made before for another matrix: domains whose pattern is the same keep their analysis.
 * Fails  ABUT_E_ARG rows out of order or range, an empty domain, a row in none; ABUT_E_NOMEM.  *d is then freed and NULL */
ABUT_MUST_USE abut_status abut_subdomains_analyse(abut_subdomains **d, const abut_bsr *A, int32_t k, const int32_t *first,
                                               const int32_t *row,
                                               abut_err *err);
/** Factors the A_j of a matrix with the analysed pattern.  In single precision (sparse/own/cholesky.h), which takes half the
 * memory, a domain that rounding to floats makes indefinite is factored in double.
 * Fails  ABUT_E_NUMERIC one of them is not positive definite */
ABUT_MUST_USE abut_status abut_subdomains_factor(abut_subdomains *d, const abut_bsr *A, abut_precision precision, abut_err *err);
/** Adds the preconditioned r of the formula above to z; r, z: [3 rows], not overlapping. */
ABUT_MUST_USE abut_status abut_subdomains_add(abut_subdomains *d, abut_subdomains_join join, const double *r, double *z,
                                              abut_err *err);
int32_t abut_subdomains_rows(const abut_subdomains *d);
abut_subdomains_stats abut_subdomains_get_stats(const abut_subdomains *d);
void abut_subdomains_free(abut_subdomains **d);

#endif

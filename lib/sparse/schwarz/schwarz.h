/* Two-level Schwarz preconditioner of a block matrix on nodes in space, additive over parts, multiplicative between them and the
 * coarse space (Toselli and Widlund 2005, 2.5.2 and 6.2.3; Mandel 1993):
 *
 *     M^-1 = C + (I - C A) sum_i R_i^T A_i^-1 R_i (I - A C),      C = Z (Z^T A Z)^-1 Z^T
 *
 * A_i is the matrix of part i, solved by sparse Cholesky in single precision.  Parts do not overlap, so what couples strongly has
 * to share one.  The columns of Z are the six rigid motions of pieces of some hundred rows of each part; they carry information
 * across the mesh at once.  The parts are independent of each other, so memory and work grow with the number of rows, not with
 * the fill of the whole factor.  The same bits for every thread count. */
#ifndef ABUT_SPARSE_SCHWARZ_SCHWARZ_H
#define ABUT_SPARSE_SCHWARZ_SCHWARZ_H

#include "sparse/linear_solver.h"

/* ---- parts ----
 *
 * Cuts the rows of a matrix of blocks into parts of some hundred rows, for Schwarz preconditioners.  METIS minimises number and
 * size of the blocks between parts, so that rows in stiff contact share a part.
 *
 * The number of parts depends on the number of rows alone, the cut on the matrix: no part depends on the ranks that share the
 * matrix. */

/* Zero-filled is empty. */
typedef struct abut_strong_parts {
    int32_t n, k;           /* block rows, parts */
    int32_t *first;         /* [k + 1] */
    int32_t *row;           /* [n] rows of part p: row[first[p]] .. row[first[p + 1] - 1], ascending; parts by their mean row */
} abut_strong_parts;

/** Cuts the rows of A, a matrix with values.  Collective over ranks, with equal results.
 * Fails  as abut_graph_cut; *parts is then empty */
ABUT_MUST_USE abut_status abut_strong_parts_cut(abut_strong_parts *parts, const abut_operator *A, abut_err *err);
void abut_strong_parts_clear(abut_strong_parts *parts);

/* ---- domains ----
 *
 * Principal submatrices of a block matrix on sets of rows that may overlap, each with a sparse Cholesky factor of its own:
 *
 *     z += sum_j R_j^T W A_j^-1 W' R_j r,      A_j = R_j A R_j^T,     R_j the rows of domain j
 *
 * A_j is positive definite when A is.  The domains are independent of each other, so they are factored and solved side by side,
 * and fill ends at their borders.  The same bits for every thread count. */

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

/* ---- the preconditioner ---- */

typedef struct abut_schwarz abut_schwarz;

typedef struct abut_schwarz_stats {
    int32_t parts;
    int32_t largest;        /* rows of the largest A_i */
    double factor_nnz;      /* entries of all factors together */
    double factor_flops;
    size_t bytes;           /* of the factors, and of A Z */
} abut_schwarz_stats;

/** Analyses the pattern of A on these parts.  x[3 n]: where the rows are, m.
 * *s is NULL at first, or made before for another matrix: parts whose pattern is the same keep their analysis.
 * Fails  ABUT_E_ARG no parts, parts of another number of rows, or as abut_subdomains_analyse; ABUT_E_NOMEM.
 * *s is then freed and NULL */
ABUT_MUST_USE abut_status abut_schwarz_analyse(abut_schwarz **s, const abut_bsr *A, const abut_strong_parts *parts,
                                               const double *x, abut_err *err);
/** Factors the A_i and Z^T A Z of a matrix with the analysed pattern.
 * Fails  ABUT_E_NUMERIC one of them is not positive definite */
ABUT_MUST_USE abut_status abut_schwarz_factor(abut_schwarz *s, const abut_bsr *A, abut_err *err);
/** As a preconditioner; good as long as s, and as the matrix last factored has its values. */
abut_precond abut_schwarz_precond(abut_schwarz *s);
abut_schwarz_stats abut_schwarz_get_stats(const abut_schwarz *s);
void abut_schwarz_free(abut_schwarz **s);

#endif

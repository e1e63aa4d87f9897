/* Multilevel additive Schwarz preconditioner of an operator, by its matrix or by its element matrices alone (Wu, Wang and Wang
 * 2022, "A GPU-based multilevel additive Schwarz preconditioner for cloth and deformable body simulation"):
 *
 *     M^-1 = sum over levels l of P_l B_l^-1 P_l^T + C
 *
 * P_l gives each row the motion of its node of level l (sparse/mas/levels.h): translations.  B_l are the diagonal blocks of
 * P_l^T A P_l on domains of ABUT_MAS_ROWS nodes: dense Cholesky factors in single precision (sparse/mas/dense.h).  C, if wanted,
 * is the coarse space of rigid motions (sparse/schwarz/coarse_space.h) of parts of about ABUT_MAS_PART rows that follow each
 * other in level 0: it needs a matrix.  Rows stay in their domains as long as the preconditioner lives; the values may be of any
 * later matrix.
 *
 * Symmetric positive definite; the same bits for every thread count. */
#ifndef ABUT_SPARSE_MAS_MAS_H
#define ABUT_SPARSE_MAS_MAS_H

#include "sparse/operator.h"
#include "sparse/precond.h"

enum { ABUT_MAS_PART = 128 };

typedef struct abut_mas abut_mas;

/* Zero-filled: all levels that pay. */
typedef struct abut_mas_opts {
    int levels;             /* at most; 0: ABUT_MAS_LEVELS */
    int rigid;              /* 1: with C */
} abut_mas_opts;

typedef struct abut_mas_stats {
    int levels;
    int32_t domains;        /* of all levels */
    int32_t fallen;         /* domains that rounding made indefinite: they have their diagonal blocks alone */
    double nnz, flops;      /* of all factors, those of C among them */
    size_t bytes;           /* of them */
} abut_mas_stats;

/** Makes the levels for the rows of A, which has a matrix or `read`.
 * Fails  as abut_mas_levels_make; ABUT_E_ARG rigid without a matrix */
ABUT_MUST_USE abut_status abut_mas_make(abut_mas **m, const abut_operator *A, abut_mas_opts opts, abut_err *err);
/** Analyses another pattern of these rows, for C; does nothing without C. */
ABUT_MUST_USE abut_status abut_mas_analyse(abut_mas *m, const abut_operator *A, abut_err *err);
/** Factors the values of A.  Fails  ABUT_E_ARG other rows; ABUT_E_NUMERIC a diagonal block is not positive definite */
ABUT_MUST_USE abut_status abut_mas_factor(abut_mas *m, const abut_operator *A, abut_err *err);
/** As a preconditioner; good as long as m.  Scratch of m: one application at a time. */
abut_precond abut_mas_precond(abut_mas *m);
abut_mas_stats abut_mas_get_stats(const abut_mas *m);
void abut_mas_free(abut_mas **m);

#endif

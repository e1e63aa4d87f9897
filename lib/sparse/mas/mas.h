/* Multilevel additive Schwarz preconditioner of an operator, by its matrix or by its element matrices alone (Wu, Wang and Wang
 * 2022, "A GPU-based multilevel additive Schwarz preconditioner for cloth and deformable body simulation"):
 *
 *     M^-1 = sum over levels l of P_l B_l^-1 P_l^T + C
 *
 * P_l gives each row the motion of its node of level l: translations.  B_l are the diagonal blocks of P_l^T A P_l on domains of
 * ABUT_MAS_ROWS nodes: dense Cholesky factors in single precision.  C, if wanted, is the coarse space of rigid motions
 * (sparse/schwarz/coarse_space.h) of parts of about ABUT_MAS_PART rows that follow each other in level 0: it needs a matrix.
 * Rows stay in their domains as long as the preconditioner lives; the values may be of any later matrix.
 *
 * Symmetric positive definite; the same bits for every thread count. */
#ifndef ABUT_SPARSE_MAS_MAS_H
#define ABUT_SPARSE_MAS_MAS_H

#include "sparse/operator.h"

/* ---- levels ----
 *
 * Nodes of level 0 are the rows of a matrix along a Hilbert curve through their positions.  Each ABUT_MAS_ROWS consecutive nodes
 * are a domain.  Nodes that the matrix connects within a domain, directly or by other nodes of it, become one node of the next
 * level.  So bodies in one domain that do not touch stay separate nodes.  Equal for every thread count. */

enum { ABUT_MAS_ROWS = 16 /* nodes of a domain */, ABUT_MAS_LEVELS = 8 };

typedef struct abut_mas_level {
    int32_t n;
    int32_t *up;            /* [n] their nodes of the next level; NULL in the last */
    int32_t *first, *child; /* [n + 1], [first[n]] nodes of the level below, ascending; NULL in level 0 */
} abut_mas_level;

/* Zero-filled is empty. */
typedef struct abut_mas_levels {
    int32_t n;              /* rows */
    int32_t *row, *place;   /* [n] the row that is node k of level 0, and the reverse */
    int levels;
    abut_mas_level level[ABUT_MAS_LEVELS];
} abut_mas_levels;

/** Makes at most `most` levels, 1 .. ABUT_MAS_LEVELS; fewer if one domain holds a level, or if no nodes of a level are connected.
 * Reads of A its pattern, or the rows of its elements, and `where`; without `where` nodes are in the order of their rows.
 * Fails  ABUT_E_ARG neither a matrix nor its elements are known; ABUT_E_NOMEM.  *s is then empty */
ABUT_MUST_USE abut_status abut_mas_levels_make(abut_mas_levels *s, const abut_operator *A, int most, abut_err *err);
void abut_mas_levels_clear(abut_mas_levels *s);

/** Domains of n nodes. */
static inline int32_t abut_mas_domains(int32_t n)
{
    return (n + ABUT_MAS_ROWS - 1) / ABUT_MAS_ROWS;
}

/* ---- the matrices of domains ----
 *
 * The diagonal blocks of P_l^T A P_l, eight domains side by side: number e of the lower triangles of all eight lie together, so
 * that each operation is of eight numbers.  A matrix has ABUT_MAS_ROWS blocks a side; its lower triangle is stored by columns. */

enum {
    ABUT_MAS_SIDE = 3 * ABUT_MAS_ROWS,
    ABUT_MAS_NUMBERS = ABUT_MAS_SIDE * (ABUT_MAS_SIDE + 1) / 2,     /* of a lower triangle */
    ABUT_MAS_LANES = 8,
    ABUT_MAS_GROUP = ABUT_MAS_NUMBERS * ABUT_MAS_LANES  /* numbers of eight matrices */
};

/** Eights of domains of n nodes. */
static inline int32_t abut_mas_groups(int32_t n)
{
    return (abut_mas_domains(n) + ABUT_MAS_LANES - 1) / ABUT_MAS_LANES;
}

/* Level 0 of blocks that are summed already is not stored: it is summed eight domains at a time, when it is asked for.
 * Zero-filled is empty. */
typedef struct abut_mas_sums {
    const abut_bsr *rows;   /* borrowed; NULL: none, all is in `sum` */
    int32_t *place, places; /* [groups of level 0] which of sum[0] is added to rows, -1: none */
    double *sum[ABUT_MAS_LEVELS];   /* [groups][ABUT_MAS_GROUP] */
} abut_mas_sums;

/** Sums all domains of all levels.  Blocks of the matrix, then of the elements, are added in their order.
 * Fails  ABUT_E_NOMEM; *m is then empty */
ABUT_MUST_USE abut_status abut_mas_sums_make(abut_mas_sums *m, const abut_mas_levels *s, const abut_operator *A, abut_err *err);
/** M[ABUT_MAS_GROUP]: domains 8 g .. 8 g + 7 of level l; identity for missing nodes.  A must have the values of the sums. */
void abut_mas_sums_load(const abut_mas_sums *m, const abut_mas_levels *s, int l, int32_t g, double *M);
void abut_mas_sums_clear(abut_mas_sums *m);

/* ---- the preconditioner ---- */

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
/** Factors the values of A.  Fails  ABUT_E_ARG other rows; ABUT_E_NUMERIC a diagonal block is not positive definite */
ABUT_MUST_USE abut_status abut_mas_factor(abut_mas *m, const abut_operator *A, abut_err *err);
/** As a preconditioner; good as long as m.  Scratch of m: one application at a time. */
abut_precond abut_mas_precond(abut_mas *m);
abut_mas_stats abut_mas_get_stats(const abut_mas *m);
void abut_mas_free(abut_mas **m);

#endif

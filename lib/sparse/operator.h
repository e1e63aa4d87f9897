/* A symmetric matrix of 3x3 blocks as linear solvers see it: a matrix, or products alone; preconditioners of it. */
#ifndef ABUT_SPARSE_OPERATOR_H
#define ABUT_SPARSE_OPERATOR_H

#include "base/par.h"
#include "sparse/bsr.h"

/* Some of the element matrices that an operator is the sum of (sparse/elements.h). */
typedef struct abut_operator_elements {
    int corners, rank;          /* as in abut_elements */
    size_t n;
    const int32_t *row;         /* [n * corners] */
    const double *val;          /* packed, or terms; NULL: their rows are all that was asked for */
    const abut_row_map *map;    /* NULL, or not a selection: then `row` are its rows */
} abut_operator_elements;

/** Block (a, b), a <= b, of element k: in e->val, or in room[9]. */
static inline const double *abut_operator_block(const abut_operator_elements *e, size_t k, int a, int b, double *room)
{
    const size_t c = (size_t)e->corners, A = (size_t)a, B = (size_t)b;
    if (!e->rank) return e->val + 9 * (k * (c * (c + 1) / 2) + A * c - A * (A + 1) / 2 + B);
    for (int i = 0; i < 9; i++) room[i] = 0;
    for (size_t r = 0; r < (size_t)e->rank; r++) {
        const double *t = e->val + (3 * c + 1) * (k * (size_t)e->rank + r), *v = t + 1 + 3 * A, *w = t + 1 + 3 * B;
        for (int i = 0; i < 9; i++) room[i] += t[0] * v[i / 3] * w[i % 3];
    }
    return room;
}

/* w H at block rows i and j of a matrix; alone: a diagonal block, its own transpose. */
typedef void abut_operator_add(void *ctx, int32_t i, int32_t j, const double *H, double w, int alone);
/** Calls add for each block of e, of a map at the columns of its rows; values 0: of zeros, the rows are all that is wanted. */
static inline void abut_operator_each_block(const abut_operator_elements *e, int values, abut_operator_add *add, void *ctx)
{
    static const double none[9] = { 0 };
    const abut_row_map *W = e->map;
    double room[9];
    for (size_t k = 0; k < e->n; k++)
        for (int a = 0; a < e->corners; a++)
            for (int b = a; b < e->corners; b++) {
                const int32_t *row = e->row + (size_t)e->corners * k, i = row[a], j = row[b];
                if (i < 0 || j < 0) continue;
                const double *H = values ? abut_operator_block(e, k, a, b, room) : none;
                if (!W) {
                    add(ctx, i, j, H, 1, a == b);
                    continue;
                }
                for (int32_t r = W->first[i]; r < W->first[i + 1]; r++)
                    for (int32_t s = a == b ? r : W->first[j]; s < W->first[j + 1]; s++)
                        if (W->col[r] >= 0 && W->col[s] >= 0)
                            add(ctx, W->col[r], W->col[s], H, W->weight[r] * W->weight[s], a == b && r == s);
            }
}

typedef struct abut_operator_reader {
    void (*diagonal)(void *ctx, const double *diag);    /* [n] times identity, if there is one: comes first */
    void (*elements)(void *ctx, const abut_operator_elements *e);
    void *ctx;
    void (*matrix)(void *ctx, const abut_bsr *S);       /* of elements that are summed, the diagonal among them, before others */
} abut_operator_reader;

/* Borrowed for the call. */
typedef struct abut_operator {
    const abut_bsr *matrix; /* NULL: known by products alone, and n, multiply, diagonal and self are there */
    int32_t n;              /* block rows */
    void (*multiply)(void *self, const double *x, double *y);   /* y = A x, [3 n] */
    void (*diagonal)(void *self, double *D);                    /* [9 n] diagonal blocks */
    /* All that it is the sum of, or with values 0 the pattern, in an order that no thread count changes; NULL: it is not known.
     * Fails  ABUT_E_NOMEM */
    abut_status (*read)(void *self, int values, const abut_operator_reader *to, abut_err *err);
    void *self;
    const double *where;    /* [3 n] m: the rows in space, for coarse spaces; NULL: not known */
    const abut_ranks *ranks;    /* each has the blocks of `matrix` that touch the rows of its part (abut_ranks_part of n), these
                             * rows whole; NULL: all are here */
    int scalar;             /* 1: each block is its first entry times the identity: one matrix for x, y and z alike */
} abut_operator;

static inline int32_t abut_operator_rows(const abut_operator *A)
{
    return A->matrix ? A->matrix->n : A->n;
}

static inline void abut_operator_multiply(const abut_operator *A, const double *x, double *y)
{
    if (A->matrix) abut_bsr_multiply(A->matrix, x, y);
    else A->multiply(A->self, x, y);
}

/** D[9 n]: the diagonal blocks. */
void abut_operator_diagonal(const abut_operator *A, double *D);

/* A preconditioner: z = M^-1 r with a symmetric positive definite M.  Its owner fills this in. */
typedef struct abut_precond {
    abut_status (*apply)(void *of, const double *r, double *z, abut_err *err);  /* r, z: [3 rows], not overlapping */
    void *of;
    int32_t rows;       /* blocks */
    abut_status (*guess)(void *of, const double *b, double *x, abut_err *err);  /* x ~ A^-1 b, from 0; NULL: none */
} abut_precond;

/* ---- products without a matrix ----
 *
 * y = (D + the sum of element sets) x without the matrix of all: each element multiplies its own rows, then each row adds what
 * its corners have.  Sets that `make` writes are made again for every product; a set with a map multiplies vertices W x and adds
 * W^T of the result.  Stored terms s v v^T are not expanded: t = s v . x, then each row adds its part of t v.  A corner takes
 * 3 numbers and an index; a tet takes a seventh of its packed matrix.
 *
 * The first sets, those whose rows last, may be summed with D into 3x3 blocks instead (sparse/bsr.h).  A product with linear tets
 * then reads a sixth of the memory of their packed matrices.  Contacts come and go; they do not change that pattern. */

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

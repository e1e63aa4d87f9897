/* Supernodal analysis of the graph of a block matrix: which rows the columns of its Cholesky factor have, and which columns share
 * them.  The elimination tree is Liu's (1986), the lengths of columns are those of Gilbert, Ng and Peyton (1994), and supernodes
 * are relaxed by the rule and the limits of CHOLMOD (Chen et al. 2008), which would give the same analysis, but permutes the
 * graph three times over.  All counts are in blocks. */
#ifndef ABUT_SPARSE_OWN_SYMBOLIC_H
#define ABUT_SPARSE_OWN_SYMBOLIC_H

#include "sparse/bsr.h"

typedef struct abut_chol_symbolic {
    int32_t n;
    int32_t *perm;      /* [n] perm[k] = block row eliminated k-th: the order given, postordered, the longest child last */
    int32_t count;      /* supernodes, children before parents */
    int32_t *super;     /* [count + 1] first column of each */
    int32_t *rptr;      /* [count + 1] rows of s: row[rptr[s] .. rptr[s+1]), ascending, its own columns first */
    int32_t *row;
} abut_chol_symbolic;

/** Analyses the pattern of A in the order perm[n], a permutation.
 * Fails  ABUT_E_NOMEM, also where 2^31 rows of supernodes or more are needed; out is then empty */
ABUT_MUST_USE abut_status abut_chol_symbolic_make(abut_chol_symbolic *out, const abut_bsr *A, const int32_t *perm, abut_err *err);
void abut_chol_symbolic_clear(abut_chol_symbolic *s);

#endif

/* SuiteSparse CHOLMOD (Chen, Davis, Hager and Rajamanickam 2008): as a linear solver, and its ordering by approximate minimum
 * degree.  cholmod.c alone includes the library's header.  BLAS runs in one thread, so no bit depends on their number. */
#ifndef ABUT_SPARSE_CHOLMOD_H
#define ABUT_SPARSE_CHOLMOD_H

#include "sparse/linear_solver.h"

/** perm[n]: block row perm[k] is eliminated k-th, by approximate minimum degree on the graph of blocks.
 * Fails  ABUT_E_NOMEM; ABUT_E_NUMERIC with CHOLMOD's status */
ABUT_MUST_USE abut_status abut_cholmod_order(const abut_bsr *A, int32_t *perm, abut_err *err);

#endif

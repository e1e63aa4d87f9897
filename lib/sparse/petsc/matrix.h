/* A matrix of blocks for PETSc: both triangles, by scalar rows, on each rank its own rows; and PETSc's errors.  For this folder
 * alone. */
#ifndef ABUT_SPARSE_PETSC_MATRIX_H
#define ABUT_SPARSE_PETSC_MATRIX_H

#include "base/ranks.h"
#include "sparse/bsr.h"

#include <petscksp.h>

/* Zero-filled is empty. */
typedef struct abut_petsc_matrix {
    Mat mat;                /* SeqAIJ over the arrays below, or MPIAIJ with its own; block size 3 */
    int is_part;            /* of several ranks */
    abut_range rows;        /* block rows that are here */
    int32_t n;              /* block rows of all */
    size_t nnz;             /* blocks of the lower triangle */
    size_t *ptr;            /* [n + 1] and [nnz]: the pattern that it has */
    int32_t *row;
    PetscInt *first, *col;  /* [3 rows + 1], [entries] scalar columns, ascending in each row; of a part NULL, once it is made */
    PetscScalar *val;       /* likewise, but while it is filled */
    PetscInt *slot;         /* [rows] blocks of each block row that are filled, while they are */
} abut_petsc_matrix;

/** Starts PETSc unless it runs; on one process unless MPI has been started.
 * Fails  ABUT_E_IO as PETSc says */
ABUT_MUST_USE abut_status abut_petsc_start(abut_err *err);
/** Turns PETSc's code into a status, `what` in the message: ABUT_OK, ABUT_E_NOMEM, ABUT_E_NUMERIC for a pivot and all else. */
abut_status abut_petsc_check(PetscErrorCode code, const char *what, abut_err *err);

/** 1: m has the pattern of A. */
int abut_petsc_matrix_fits(const abut_petsc_matrix *m, const abut_bsr *A);
/** The pattern of A, values zero, in the place of what m had.  ranks: A has the rows of this one whole, and all ranks come here;
 * NULL: it has all rows.  Fails  ABUT_E_ARG more entries than PETSc numbers; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_petsc_matrix_set(abut_petsc_matrix *m, const abut_bsr *A, const abut_ranks *ranks, abut_err *err);
/** The values of A, which has the pattern. */
ABUT_MUST_USE abut_status abut_petsc_matrix_fill(abut_petsc_matrix *m, const abut_bsr *A, abut_err *err);
void abut_petsc_matrix_clear(abut_petsc_matrix *m);

#endif

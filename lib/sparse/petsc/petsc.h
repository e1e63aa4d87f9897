/* A matrix of blocks for PETSc: both triangles, by scalar rows, on each rank its own rows; PETSc's errors; the two-level Schwarz
 * preconditioner.  For this room alone. */
#ifndef ABUT_SPARSE_PETSC_PETSC_H
#define ABUT_SPARSE_PETSC_PETSC_H

#include "sparse/schwarz/schwarz.h"

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
    PetscScalar *val;       /* [entries]; of a part NULL but while it is filled */
    PetscInt *slot;         /* [rows] blocks of each block row that are filled, while they are */
} abut_petsc_matrix;

/* Two-level Schwarz preconditioner of PETSc's objects, on parts that do not depend on ranks: with B = sum_i R_i^T A_i^-1 R_i over
 * the parts, factored by CHOLMOD, and C = Z (Z^T A Z)^-1 Z^T of the rigid motions Z of sets of their rows,
 *
 *     M^-1 = C + (I - C A) B (I - A C)
 *
 * (the hybrid of Mandel 1993; Toselli and Widlund 2005, 2.5.2), symmetric positive definite as A is.  PCASM, PCGALERKIN and
 * PCCOMPOSITE; each rank has whole parts, and all factor Z^T A Z.  So applications differ between numbers of ranks by the
 * rounding of sums alone.  Zero-filled is empty. */
typedef struct abut_petsc_schwarz {
    PC blocks, coarse;      /* borrowed of the whole preconditioner */
    Mat Z, E;               /* E = Z^T A Z; NULL: not made yet */
    int failed;             /* the last factor of a part of this rank: a pivot is not positive */
} abut_petsc_schwarz;

/** pc is to be that of A, with its rows at where[3 n], m. */
PetscErrorCode abut_petsc_schwarz_create(abut_petsc_schwarz *s, PC pc, const abut_petsc_matrix *A, const abut_strong_parts *parts,
                                         const double *where, const abut_ranks *ranks);
/** Factors for the values of A; s->failed, which ranks have to tell each other. */
PetscErrorCode abut_petsc_schwarz_set_up(abut_petsc_schwarz *s, PC pc, const abut_petsc_matrix *A);
void abut_petsc_schwarz_clear(abut_petsc_schwarz *s);

#endif

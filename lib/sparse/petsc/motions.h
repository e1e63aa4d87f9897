/* The rigid motions of sets of rows as columns of a matrix of PETSc: a coarse space (Toselli and Widlund 2005, 6.2.3).  For this
 * room alone. */
#ifndef ABUT_SPARSE_PETSC_MOTIONS_H
#define ABUT_SPARSE_PETSC_MOTIONS_H

#include "sparse/petsc/matrix.h"
#include "sparse/schwarz/schwarz.h"

/** *Z: [3 n] rows as A has them.  Each part is cut into sets of rows that follow each other, some hundred of them, or of more
 * where that would be too many sets for one matrix of their motions; the columns of a set are its motions at where[3 n], m, made
 * orthonormal: six, or fewer where its rows lie on a line.  Those of a part belong to the rank that has it by abut_ranks_part. */
PetscErrorCode abut_petsc_motions(const abut_strong_parts *parts, const abut_petsc_matrix *A, const double *where,
                                  const abut_ranks *ranks, Mat *Z);

#endif

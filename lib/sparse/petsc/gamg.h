/* PCGAMG as this library wants it.  For this room alone. */
#ifndef ABUT_SPARSE_PETSC_GAMG_H
#define ABUT_SPARSE_PETSC_GAMG_H

#include "sparse/petsc/matrix.h"

/** Sweeps on levels are accelerated by Chebyshev's polynomials, or damped, or neither. */
PetscErrorCode abut_petsc_gamg_configure(PC pc, Mat A, int polynomials, int damped);

#endif

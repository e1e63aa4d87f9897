/* PETSc in one process, behind the seam of linear solvers; built by `make PETSC=1`, which finds it by pkg-config.
 *
 * petsc-gamg    conjugate gradients of this library (sparse/pcg.h), preconditioned by a cycle of smoothed aggregation: PCGAMG on
 *               scalar rows in blocks of three, with the rigid motions at the positions of the rows as near-null space (Vanek,
 *               Mandel and Brezina 1996).  Interpolation lasts while the pattern of the matrix does, within a step.
 * petsc-schwarz conjugate gradients likewise, preconditioned by Cholesky factors of parts of some hundred rows and by the rigid
 *               motions of sets of them (schwarz.h), made of each matrix; parts last for a step.
 * petsc-cholmod, petsc-mumps    Cholesky of these libraries as PETSc offers them, in orders of their own.
 *
 * The matrix of ranks (sparse/operator.h) is PETSc's MPIAIJ over all processes of MPI.  All of them make and apply the
 * preconditioner, products go by rows, and each has the whole vectors of the iterations.  Parts and motions of petsc-schwarz,
 * and so its iterations, do not depend on the number of ranks; aggregates and sweeps of petsc-gamg do.
 *
 * Same matrices, same bytes, for every number of threads, with one version of PETSc and its libraries: one thread does all work.
 * The code sets all options: option files are not read, and PETSC_OPTIONS is cleared after the start.  The first solver that is
 * made starts PETSc, and MPI on one process unless MPI has been started. */
#ifndef ABUT_SPARSE_PETSC_PETSC_H
#define ABUT_SPARSE_PETSC_PETSC_H

#include "sparse/linear_solver.h"

extern const abut_linear_solver_ops abut_linear_petsc_schwarz, abut_linear_petsc_gamg;
extern const abut_linear_solver_ops abut_linear_petsc_cholmod, abut_linear_petsc_mumps;

#endif

/* The linear solvers of this build: what `step --linear-solver NAME` chooses from.  A new one is a file with its table of
 * operations (sparse/linear_solver.h) and a row here. */
#ifndef ABUT_SPARSE_LINEAR_SOLVERS_H
#define ABUT_SPARSE_LINEAR_SOLVERS_H

#include "sparse/linear_solver.h"

/* NULL at the end; the first is the default. */
extern const abut_linear_solver_ops *const abut_linear_solvers[];
/** Conjugate gradients with a multilevel Schwarz preconditioner (sparse/mas/mas.h), without and with rigid motions. */
extern const abut_linear_solver_ops abut_linear_mas, abut_linear_mas_rigid;
/** Conjugate gradients with a two-level Schwarz preconditioner (sparse/schwarz/schwarz.h), and with inverted diagonal blocks. */
extern const abut_linear_solver_ops abut_linear_cg_schwarz, abut_linear_cg;
/** Conjugate gradients with incomplete Cholesky factors (sparse/incomplete/incomplete.h), without and with rigid motions. */
extern const abut_linear_solver_ops abut_linear_ic, abut_linear_ic_rigid;

/** Fails  ABUT_E_ARG: no solver of that name; the message lists all names */
ABUT_MUST_USE abut_status abut_linear_solver_find(const char *name, const abut_linear_solver_ops **ops, abut_err *err);

#endif

/* The numbers of a Cholesky factor: double, or float where ABUT_SINGLE is defined before.  chol_numeric.c and chol_solve.c are
 * written once over `real`; chol_numeric_single.c and chol_solve_single.c compile them again for floats. */
#ifndef ABUT_LINALG_CHOL_REAL_H
#define ABUT_LINALG_CHOL_REAL_H

#include "linalg/blas.h"

#ifdef ABUT_SINGLE
typedef float real;
#define BLAS(name) s##name##_
#define FOR_REAL(name) name##_single
#define REAL_HUGE HUGE_VALF
#else
typedef double real;
#define BLAS(name) d##name##_
#define FOR_REAL(name) name
#define REAL_HUGE HUGE_VAL
#endif

#endif

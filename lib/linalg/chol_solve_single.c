/* chol_solve.c once more, for floats (linalg/chol_real.h). */
#define ABUT_SINGLE
#include "linalg/chol_solve.c"

/* factor.c once more, for floats (sparse/own/real.h). */
#define ABUT_SINGLE
#include "sparse/own/factor.c"

/* Formulas that are written once (energy/material/density_forms.h, energy/tet_forms.h and others), of one number: for the
 * processor and a GPU. */
#include "math/elementary_inline.h"
#include "math/mat3.h"

#define REAL double
#define MASK int
#define FORM ABUT_FN
#define NAME(f) f##_one
#define ALL(v) (v)
#define PICK(m, yes, no) ((m) ? (yes) : (no))
#define NOT(m) (!(m))
#define ANY_OF(m) (m)
#define ABS(v) fabs(v)
#define LOG(x, y) (void)(*(y) = abut_log(*(x)))
#define COFACTORS(A, C) abut_m3_cofactor(C, A)
#define LOG1P(x, y) (void)(*(y) = abut_log1p(*(x)))
#define SQRT(v) (void)(*(v) = sqrt(*(v)))
#define ATAN2(y, x, angle) (void)(*(angle) = abut_atan2(*(y), *(x)))

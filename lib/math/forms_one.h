/* Formulas that are written once (energy/material/density_forms.h, energy/tet_forms.h and others), of one number: for the
 * processor and a GPU. */
#include "math/mat3.h"

#define REAL double
#define MASK int
#define BITS uint64_t
#define AS_BITS(v) abut_bits(v)
#define AS_REAL(b) abut_from_bits(b)
#define FORM ABUT_FN
#define NAME(f) f##_one
#define ALL(v) (v)
#define PICK(m, yes, no) ((m) ? (yes) : (no))
#define NOT(m) (!(m))
#define ANY_OF(m) (m)
#define ABS(v) fabs(v)
#define LOG(x, y) abut_log_one(x, y)
#define COFACTORS(A, C) abut_m3_cofactor(C, A)
#define LOG1P(x, y) abut_log1p_one(x, y)
#define SQRT(v) (void)(*(v) = sqrt(*(v)))
#define ATAN2(y, x, angle) abut_atan2_one(y, x, angle)

/* Formulas that are written once (energy/material/density_forms.h, energy/tet_forms.h and others), of four numbers at a time. */
#define REAL abut_lanes
#define MASK abut_lane_mask
#define BITS abut_lane_bits
#define AS_BITS(v) ((abut_lane_bits)(v))
#define AS_REAL(b) ((abut_lanes)(b))
#define FORM ABUT_LANES_INLINE
#define NAME(f) f##_lanes
#define ALL(v) ABUT_LANES_ALL(v)
#define PICK(m, yes, no) ABUT_LANES_PICK(m, yes, no)
#define NOT(m) (~(m))
#define ANY_OF(m) abut_lanes_any(&(m))
#define ABS(v) ABUT_LANES_ABS(v)
#define LOG(x, y) abut_log_lanes(x, y)
#define COFACTORS(A, C) abut_lanes_cofactors(A, C)
#define LOG1P(x, y) abut_log1p_lanes(x, y)
#define SQRT(v) abut_lanes_sqrt(v)
#define ATAN2(y, x, angle) abut_atan2_lanes(y, x, angle)

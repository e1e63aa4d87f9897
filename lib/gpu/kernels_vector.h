/* Arguments of the kernels over plain arrays of numbers. */
#ifndef ABUT_GPU_KERNELS_VECTOR_H
#define ABUT_GPU_KERNELS_VECTOR_H

#include <stddef.h>
#include <stdint.h>

/* out[i] = x[i] + scale * (*scale_at) * y[i]; scale_at NULL: 1 */
typedef struct abut_axpy_args {
    const double *x, *y;
    double *out;
    double scale;
    const double *scale_at;
} abut_axpy_args;

/* out[i] = from[i] + share (to[i] - from[i]) */
typedef struct abut_between_args {
    const double *from, *to;
    double *out;
    double share;
} abut_between_args;

/* out[width i + c] = (add ? out[width i + c] : 0) + scale * sum over k in [first[i], first[i + 1]) of in[width at[k] + c], one
 * item for every number out[j], j = width i + c.  Rows are added in pieces of 64, each from 0 in order, then the pieces in
 * order.  at NULL: at[k] = k. */
typedef struct abut_gather_args {
    const uint32_t *first, *at;
    const double *in;
    double *out;
    double scale;
    uint32_t width;
    uint32_t add;
} abut_gather_args;

/* out[3 i + k] = in[3 at[i] + k] */
typedef struct abut_pick_args {
    const int32_t *at;
    const double *in;
    double *out;
} abut_pick_args;

/* out[i] = in[i] rounded to single */
typedef struct abut_narrow_args {
    const double *in;
    float *out;
} abut_narrow_args;

/* v[i] *= by */
typedef struct abut_scale_args {
    double *v;
    double by;
} abut_scale_args;

/* Predicted positions: held nodes at target, others at x + h v. */
typedef struct abut_coast_args {
    const double *x, *v, *target;
    const uint8_t *held;
    double *out;
    double h;
} abut_coast_args;

/* Step of held nodes: p[i] = target - x, 0 for others; move: x[i] = target if alpha is 1, else x + alpha p. */
typedef struct abut_carry_args {
    const double *target;
    const uint8_t *held;
    double *x, *p;
    double alpha;
} abut_carry_args;

/* The augmented Lagrangian of held nodes short of their targets (Li 2020, App. E, eq. 4).  lagrangian: out[i] = that of node i, 0
 * of others; lagrangian_push: out[3 i + k] += its derivative. */
typedef struct abut_lagrangian_args {
    const double *x, *target, *lam, *mass;
    const uint8_t *held;
    double *out;
    double kap;
} abut_lagrangian_args;

#define ABUT_KERNELS_VECTOR(K) \
    K(axpy, abut_axpy_args) \
    K(between, abut_between_args) \
    K(gather, abut_gather_args) \
    K(pick, abut_pick_args) \
    K(narrow, abut_narrow_args) \
    K(scale, abut_scale_args) \
    K(coast, abut_coast_args) \
    K(carry_direction, abut_carry_args) \
    K(carry_move, abut_carry_args) \
    K(lagrangian, abut_lagrangian_args) \
    K(lagrangian_push, abut_lagrangian_args)

#endif

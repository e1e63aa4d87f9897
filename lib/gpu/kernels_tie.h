/* Arguments of the kernels of springs, attachments and damping. */
#ifndef ABUT_GPU_KERNELS_TIE_H
#define ABUT_GPU_KERNELS_TIE_H

#include <stddef.h>
#include <stdint.h>

/* Springs, node[2 n], and attachments (energy/spring.h), node[5 n], -1 unused, weight[4 n], offset[3 n].
 * spring_energy, tie_energy: energy[i], force[6 i + ..] or force[15 i + ..] its derivative at the corners, 0 at an unused one.
 * spring_hessian, tie_hessian: H[27 i + ..] or H[135 i + ..] = scale d2E/dx2, packed and projected. */
typedef struct abut_tie_args {
    const int32_t *node;
    const double *weight, *offset, *stiffness, *length, *x;
    double *energy, *force, *H;
    double scale;
} abut_tie_args;

/* Damping (energy/damping.h) by matrices K[90 n] of elements node[4][n], -1 unused, and by masses: u = x - from.
 * damp_element: energy[i] = u^T K u / 2, force[12 i + ..] = K u.
 * damp_node: energy[i] = rate mass u^2 / 2; damp_push: out[3 i + k] += rate mass u_k. */
typedef struct abut_damp_args {
    const int32_t *node;
    const double *K, *mass, *x, *from;
    double *energy, *force, *out;
    double rate;
    size_t n;
} abut_damp_args;

#define ABUT_KERNELS_TIE(K) \
    K(spring_energy, abut_tie_args) \
    K(spring_hessian, abut_tie_args) \
    K(tie_energy, abut_tie_args) \
    K(tie_hessian, abut_tie_args) \
    K(damp_element, abut_damp_args) \
    K(damp_node, abut_damp_args) \
    K(damp_push, abut_damp_args)

#endif

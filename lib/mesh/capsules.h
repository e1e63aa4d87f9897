/* Capsules joined smoothly: an implicit shape. */
#ifndef ABUT_MESH_CAPSULES_H
#define ABUT_MESH_CAPSULES_H

#include <stdint.h>

/* Points within `radius` of the segment from a to b. */
typedef struct abut_capsule { double a[3], b[3], radius; } abut_capsule;

/* f = -blend ln sum_i exp(-f_i / blend) of the distances f_i to n capsules (blend 0: the least f_i), m; inside f < 0. */
typedef struct abut_capsules { const abut_capsule *capsule; int32_t n; double blend; } abut_capsules;

/** f and its gradient. */
double abut_capsules_value(const abut_capsules *f, const double p[3], double grad[3]);

#endif

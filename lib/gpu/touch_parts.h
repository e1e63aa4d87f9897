/* Functions shared by the files of gpu/touch.h. */
#ifndef ABUT_GPU_TOUCH_PARTS_H
#define ABUT_GPU_TOUCH_PARTS_H

#include "gpu/touch.h"

/* Numbers that the host decides by: they come in one piece. */
typedef struct abut_gpu_pulse {
    abut_least pair, plane, best;
    double size;                            /* largest coordinate */
    uint32_t n, n_plain, n_plane, pad;
} abut_gpu_pulse;

#define ABUT_PULSE(c, field) ((void *)((char *)(c)->pulse.at + offsetof(abut_gpu_pulse, field)))

/** y[3 nc] = W x. */
ABUT_MUST_USE abut_status abut_gpu_gather(abut_gpu_touch *c, const double *x, double *y, abut_err *err);
/** All candidates as one list. */
abut_near_view abut_gpu_near(const abut_gpu_touch *c);
/** Sizes and masses of bodies, on the device. */
abut_pair_scale abut_gpu_scale(const abut_gpu_touch *c);
/** Candidate k of all: its kind and its two primitives. */
ABUT_MUST_USE abut_status abut_gpu_candidate(abut_gpu_touch *c, size_t k, abut_stencil *s, int32_t ij[2], abut_err *err);
/** A copy of y[3 nc] for the host, malloc'ed. */
ABUT_MUST_USE abut_status abut_gpu_fetch(abut_gpu_touch *c, const double *y, double **host, abut_err *err);
/** The pulse; waits. */
ABUT_MUST_USE abut_status abut_gpu_pulse_get(abut_gpu_touch *c, abut_gpu_pulse *p, abut_err *err);

#endif

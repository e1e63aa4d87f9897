/* A small valid model for tests of streams and views: one tet above a triangle obstacle, a half-space, a motion. */
#ifndef ABUT_TESTS_SAMPLE_H
#define ABUT_TESTS_SAMPLE_H

#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_PUT(kind, set, name, type, rows, ...) \
    do { \
        const type values_[] = { __VA_ARGS__ }; \
        void *p_ = abut_##kind##_put((set), (name), (rows), NULL); \
        if (!p_) abort(); \
        memcpy(p_, values_, sizeof values_); \
    } while (0)

/* The numbers of an array, to change one. */
static inline double *f64(abut_arrays *s, const char *name) { return abut_arrays_find(s, name)->data; }
static inline int32_t *i32(abut_arrays *s, const char *name) { return abut_arrays_find(s, name)->data; }

/* Nodes 0-3: the tet, node 3 a handle; nodes 4-6: the obstacle. */
static inline void sample_model(abut_arrays *s)
{
    SAMPLE_PUT(model, s, "node/X", double, 7, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 2, 0, -3, 0, -3, 3, 0, -3, 0, 0, 3);
    SAMPLE_PUT(model, s, "node/mass", double, 7, 0.5, 0.5, 0.5, 0.5, 0, 0, 0);
    SAMPLE_PUT(model, s, "node/role", int32_t, 7, 0, 0, 0, 1, 2, 2, 2);
    SAMPLE_PUT(model, s, "node/object", int32_t, 7, 0, 0, 0, 0, 1, 1, 1);
    SAMPLE_PUT(model, s, "tet/node", int32_t, 1, 0, 2, 1, 3);
    SAMPLE_PUT(model, s, "tet/material", int32_t, 1, 0);
    SAMPLE_PUT(model, s, "material/model", int32_t, 1, 0);
    SAMPLE_PUT(model, s, "material/density", double, 1, 1000);
    SAMPLE_PUT(model, s, "material/young", double, 1, 1e5);
    SAMPLE_PUT(model, s, "material/poisson", double, 1, 0.4);
    SAMPLE_PUT(model, s, "object/friction", int32_t, 2, 0, 1);
    SAMPLE_PUT(model, s, "contact/node", int32_t, 7, 0, 1, 2, 3, 4, 5, 6);
    SAMPLE_PUT(model, s, "contact/edge", int32_t, 9, 0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 2, 3, 4, 5, 4, 6, 5, 6);
    SAMPLE_PUT(model, s, "contact/triangle", int32_t, 5, 0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2, 4, 6, 5);
    SAMPLE_PUT(model, s, "contact/mu", double, 2, 0.3, 0.1, 0.1, 0);
    SAMPLE_PUT(model, s, "half-space/point", double, 1, 0, -1, 0);
    SAMPLE_PUT(model, s, "half-space/normal", double, 1, 0, 1, 0);
    SAMPLE_PUT(model, s, "half-space/friction", int32_t, 1, 1);
    SAMPLE_PUT(model, s, "motion/kind", int32_t, 1, ABUT_MOTION_MOVE);
    SAMPLE_PUT(model, s, "motion/window", double, 1, 0, (double)INFINITY);
    SAMPLE_PUT(model, s, "motion/linear", double, 1, 0, 0.25, 0);
    SAMPLE_PUT(model, s, "motion/angular", double, 1, 0, 0, 0);
    SAMPLE_PUT(model, s, "motion/center", double, 1, 0, 0, 0);
    SAMPLE_PUT(model, s, "motion/first", int32_t, 1, 0, 1);
    SAMPLE_PUT(model, s, "motion/node", int32_t, 1, 3);
    SAMPLE_PUT(model, s, "world/gravity", double, 3, 0, -9.81, 0);
    SAMPLE_PUT(model, s, "time/step", double, 1, 0.01);
    SAMPLE_PUT(model, s, "scene/length", double, 1, 1.75);
    SAMPLE_PUT(model, s, "contact/dhat", double, 1, 0.00175);
    SAMPLE_PUT(model, s, "contact/eps-v", double, 1, 0.00175);
    SAMPLE_PUT(model, s, "contact/lags", int32_t, 1, 1);
    SAMPLE_PUT(model, s, "solve/tolerance", double, 1, 0.0175);
    SAMPLE_PUT(model, s, "contact/kappa-min", double, 1, 10);
    SAMPLE_PUT(model, s, "contact/kappa-max", double, 1, 1000);
    if (abut_arrays_put_text(s, "object/name", "ball\nfloor\n", NULL)) abort();
}

/* Frame k of a fall; one friction contact of node 0 with the half-space. */
static inline void sample_frame(abut_arrays *s, int k)
{
    const double y = -0.001 * k;
    SAMPLE_PUT(frame, s, "node/x", double, 7, 0, 1 + y, 0, 1, 1 + y, 0, 0, 1 + y, 1, 0, 2 + y, 0, -3, 0, -3, 3, 0, -3, 0, 0,
               3);
    SAMPLE_PUT(frame, s, "node/v", double, 7, 0, -0.1, 0, 1e-300, -0.1, 0, -0.0, -0.1, 0, 0, -0.1, 0, 0, 0, 0, 0, 0, 0, 0,
               0, 0);
    SAMPLE_PUT(frame, s, "contact/kappa", double, 1, 10. / 3);
    SAMPLE_PUT(frame, s, "lag/node", int32_t, 1, 0, -1, -1, -1);
    SAMPLE_PUT(frame, s, "lag/weight", double, 1, 1, 0, 0, 0);
    SAMPLE_PUT(frame, s, "lag/basis", double, 1, 1, 0, 0, 0, 0, 1);
    SAMPLE_PUT(frame, s, "lag/normal-force", double, 1, 4.9);
    SAMPLE_PUT(frame, s, "lag/mu", double, 1, 0.1);
}

#endif

/* Straight tets. */
#ifndef ABUT_GEOM_TET_H
#define ABUT_GEOM_TET_H

#include "math/vec3.h"

#include <stddef.h>
#include <stdint.h>

/** Six times the volume of the tet with corners v among points x[][3], m^3; negative where it is inverted. */
static inline double abut_tet_volume6(const double *x, const int32_t v[4])
{
    const double *o = x + 3 * (size_t)v[0];
    const abut_vec3 a = abut_v3_diff(x + 3 * (size_t)v[1], o), b = abut_v3_diff(x + 3 * (size_t)v[2], o);
    return abut_v3_dot(a, abut_v3_cross(b, abut_v3_diff(x + 3 * (size_t)v[3], o)));
}

#endif

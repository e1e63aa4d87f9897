/* Three numbers, by value; and the same operations on raw double[3] rows. */
#ifndef ABUT_MATH_VEC3_H
#define ABUT_MATH_VEC3_H

#include "base/fn.h"

#include <math.h>

typedef struct abut_vec3 {
    double x, y, z;
} abut_vec3;

ABUT_FN abut_vec3 abut_v3(double x, double y, double z) { return (abut_vec3){ x, y, z }; }
ABUT_FN abut_vec3 abut_v3_get(const double *p) { return (abut_vec3){ p[0], p[1], p[2] }; }
/** a - b of two rows */
ABUT_FN abut_vec3 abut_v3_diff(const double *a, const double *b) { return abut_v3(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }
ABUT_FN void abut_v3_put(double *p, abut_vec3 a) { p[0] = a.x; p[1] = a.y; p[2] = a.z; }
ABUT_FN abut_vec3 abut_v3_add(abut_vec3 a, abut_vec3 b) { return abut_v3(a.x + b.x, a.y + b.y, a.z + b.z); }
ABUT_FN abut_vec3 abut_v3_sub(abut_vec3 a, abut_vec3 b) { return abut_v3(a.x - b.x, a.y - b.y, a.z - b.z); }
ABUT_FN abut_vec3 abut_v3_scale(double s, abut_vec3 a) { return abut_v3(s * a.x, s * a.y, s * a.z); }
/** a + s b */
ABUT_FN abut_vec3 abut_v3_axpy(abut_vec3 a, double s, abut_vec3 b)
{
    return abut_v3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
ABUT_FN double abut_v3_dot(abut_vec3 a, abut_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
ABUT_FN abut_vec3 abut_v3_cross(abut_vec3 a, abut_vec3 b)
{
    return abut_v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
ABUT_FN double abut_v3_norm2(abut_vec3 a) { return abut_v3_dot(a, a); }
ABUT_FN double abut_v3_norm(abut_vec3 a) { return sqrt(abut_v3_dot(a, a)); }

#endif

#include "math/rigid.h"

#include "math/mat3.h"
#include "math/vec3.h"

#include <math.h>

#define ON_A_LINE 1e-12     /* of the cube of the trace of the inertia, in its determinant */

abut_rigid abut_rigid_part(size_t n, const int32_t *node, const double *mass, const double *x, const double *p)
{
    abut_rigid r = { { 0 }, { 0 }, { 0 } };
    abut_vec3 centre = { 0, 0, 0 }, shift = { 0, 0, 0 }, momentum = { 0, 0, 0 };
    double total = 0, inertia[9] = { 0 }, inverse[9];
    for (size_t k = 0; k < n; k++) {
        const size_t i = (size_t)node[k];
        total += mass[i];
        centre = abut_v3_axpy(centre, mass[i], abut_v3_get(x + 3 * i));
        shift = abut_v3_axpy(shift, mass[i], abut_v3_get(p + 3 * i));
    }
    if (!(total > 0)) return r;
    centre = abut_v3_scale(1 / total, centre);
    shift = abut_v3_scale(1 / total, shift);
    abut_v3_put(r.centre, centre);
    abut_v3_put(r.shift, shift);
    for (size_t k = 0; k < n; k++) {
        const size_t i = (size_t)node[k];
        const abut_vec3 arm = abut_v3_sub(abut_v3_get(x + 3 * i), centre), move = abut_v3_sub(abut_v3_get(p + 3 * i), shift);
        const double d[3] = { arm.x, arm.y, arm.z }, d2 = abut_v3_norm2(arm);
        momentum = abut_v3_axpy(momentum, mass[i], abut_v3_cross(arm, move));
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) inertia[3 * a + b] += mass[i] * ((a == b ? d2 : 0) - d[a] * d[b]);
    }
    const double trace = inertia[0] + inertia[4] + inertia[8];
    if (!(abut_m3_det(inertia) > ON_A_LINE * trace * trace * trace)) return r;
    abut_m3_inverse(inverse, inertia);
    for (int a = 0; a < 3; a++)
        r.spin[a] = inverse[3 * a] * momentum.x + inverse[3 * a + 1] * momentum.y + inverse[3 * a + 2] * momentum.z;
    return r;
}

/* (R - 1) d for the rotation about w by |w| (Rodrigues 1840): sin|w|/|w| w x d + (1 - cos|w|)/|w|^2 w x (w x d). */
static abut_vec3 rotated_less(abut_vec3 w, abut_vec3 d)
{
    const double angle = abut_v3_norm(w), half = 0.5 * angle;
    const double s = angle > 0 ? sin(angle) / angle : 1, c = half > 0 ? sin(half) / half : 1;
    const abut_vec3 across = abut_v3_cross(w, d);
    return abut_v3_axpy(abut_v3_scale(s, across), 0.5 * c * c, abut_v3_cross(w, across));
}

void abut_rigid_rotate(const abut_rigid *r, const double *x, const double *p, double *q)
{
    const abut_vec3 w = abut_v3_get(r->spin), shift = abut_v3_get(r->shift), arm = abut_v3_diff(x, r->centre);
    const abut_vec3 rest = abut_v3_sub(abut_v3_sub(abut_v3_get(p), shift), abut_v3_cross(w, arm));
    const abut_vec3 turned = abut_v3_add(rest, rotated_less(w, rest));
    abut_v3_put(q, abut_v3_add(abut_v3_add(shift, rotated_less(w, arm)), turned));
}

#include "formats/result/bounds.h"

#include "math/vec3.h"

abut_bounds abut_bounds_empty(void)
{
    return (abut_bounds){ { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
}

void abut_bounds_add(abut_bounds *b, const float p[3])
{
    for (int d = 0; d < 3; d++) {
        if (p[d] < b->lo[d]) b->lo[d] = p[d];
        if (p[d] > b->hi[d]) b->hi[d] = p[d];
    }
}

void abut_bounds_center(const abut_bounds *b, double center[3])
{
    for (int d = 0; d < 3; d++) center[d] = b->lo[d] <= b->hi[d] ? 0.5 * ((double)b->lo[d] + b->hi[d]) : 0;
}

double abut_bounds_diagonal(const abut_bounds *b)
{
    double s = 0;
    for (int d = 0; d < 3; d++) {
        const double e = (double)b->hi[d] - b->lo[d];
        if (!(e >= 0)) return 0;
        s += e * e;
    }
    return sqrt(s);
}

int abut_up_axis(const abut_model *m, double *sign)
{
    int axis = 1;
    for (int d = 0; d < 3; d++)
        if (fabs(m->gravity[d]) > fabs(m->gravity[axis])) axis = d;
    *sign = m->gravity[axis] > 0 ? -1 : 1;
    return axis;
}

void abut_half_space_square(const abut_model *m, int32_t i, const double center[3], double r, double corner[12])
{
    const abut_vec3 n = abut_v3_get(m->hs_normal + 3 * i), p = abut_v3_get(m->hs_point + 3 * i), c = abut_v3_get(center);
    const abut_vec3 foot = abut_v3_axpy(c, -abut_v3_dot(abut_v3_sub(c, p), n), n);
    /* the axis least along n gives the first side */
    int axis = 0;
    const double a[3] = { fabs(n.x), fabs(n.y), fabs(n.z) };
    for (int d = 1; d < 3; d++)
        if (a[d] < a[axis]) axis = d;
    abut_vec3 u = abut_v3_cross(n, abut_v3(axis == 0, axis == 1, axis == 2));
    u = abut_v3_scale(1 / abut_v3_norm(u), u);
    const abut_vec3 w = abut_v3_cross(n, u);
    for (int k = 0; k < 4; k++) {
        const double su = k == 0 || k == 3 ? -r : r, sw = k < 2 ? -r : r;
        abut_v3_put(corner + 3 * k, abut_v3_axpy(abut_v3_axpy(foot, su, u), sw, w));
    }
}

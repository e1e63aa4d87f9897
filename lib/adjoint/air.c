#include "adjoint/parts.h"

#include "energy/pressure.h"
#include "math/vec3.h"
#include "model/motion.h"

#include <math.h>

/* dPsi/dx_k = -p x_{k+1} x x_{k+2} / 6 of a triangle, of a closed shell wherever it is seen from */
void abut_adjoint_pressure_back(const abut_model *m, double load_time, const double *z, const double *q, double scale,
                                abut_parameter_bar *bars)
{
    for (int32_t s = 0; s < m->nsh && m->obj_pressure; s++) {
        const int32_t *v = m->shell + 3 * (size_t)s;
        double sum = 0;
        for (int k = 0; k < 3; k++) {
            const abut_vec3 b = abut_v3_get(z + 3 * (size_t)v[(k + 1) % 3]), c = abut_v3_get(z + 3 * (size_t)v[(k + 2) % 3]);
            sum -= abut_v3_dot(abut_v3_get(q + 3 * (size_t)v[k]), abut_v3_cross(b, c)) / 6;
        }
        const int32_t o = m->body[v[0]];
        const abut_factor f = abut_pressure_factor(m, o, load_time);
        bars->pressure[o] += f.value * scale * sum;
        if (f.lo < 0) continue;
        bars->key_factor[f.lo] += (1 - f.u) * scale * sum * m->obj_pressure[o];
        bars->key_factor[f.hi] += f.u * scale * sum * m->obj_pressure[o];
    }
}

/* q.F of a triangle is -h^2 c/3 a |a| b / N.N with N the area vector at the start of the step, w the wind beside the triangle,
 * a = w.N, b = N.(sum of q). */
void abut_adjoint_drag_back(const abut_objective *o, const double *x, const double *q, double *x_bar, abut_parameter_bar *bars)
{
    const abut_model *m = o->model;
    const abut_air *air = abut_air_of(&o->terms);
    const double scale = o->w.h_force * o->w.h_force / 3;
    for (int32_t s = 0; s < m->nsh && air && air->drags; s++) {
        const int32_t *v = m->shell + 3 * (size_t)s;
        const abut_vec3 N = abut_v3_get(air->facing + 3 * (size_t)s);
        const double c = m->obj_drag[m->body[v[0]]], area2 = abut_v3_dot(N, N);
        if (!(area2 > 0)) continue;
        abut_vec3 w = m->wind ? abut_v3_get(m->wind) : abut_v3(0, 0, 0), Q = abut_v3(0, 0, 0);
        for (int k = 0; k < 3; k++) {
            const size_t at = 3 * (size_t)v[k];
            w = abut_v3_axpy(w, -1 / (3 * o->step.damp_time), abut_v3_sub(abut_v3_get(x + at), abut_v3_get(o->step.x_damp + at)));
            Q = abut_v3_add(Q, abut_v3_get(q + at));
        }
        const double a = abut_v3_dot(w, N), b = abut_v3_dot(N, Q), sign = -scale / area2;
        bars->drag[m->body[v[0]]] += sign * a * fabs(a) * b;
        const abut_vec3 by_w = abut_v3_scale(sign * c * 2 * fabs(a) * b, N);
        bars->wind[0] += by_w.x, bars->wind[1] += by_w.y, bars->wind[2] += by_w.z;
        const abut_vec3 ahead = abut_v3_axpy(abut_v3_scale(2 * fabs(a) * b, w), a * fabs(a), Q);
        const abut_vec3 by_N = abut_v3_scale(sign * c, abut_v3_axpy(ahead, -2 * a * fabs(a) * b / area2, N));
        /* N = (x1 - x0) x (x2 - x0) / 2 */
        for (int k = 0; k < 3; k++) {
            const abut_vec3 side = abut_v3_sub(abut_v3_get(o->xn + 3 * (size_t)v[(k + 2) % 3]),
                                               abut_v3_get(o->xn + 3 * (size_t)v[(k + 1) % 3]));
            const abut_vec3 by = abut_v3_scale(0.5, abut_v3_cross(by_N, side));
            x_bar[3 * v[k]] += by.x, x_bar[3 * v[k] + 1] += by.y, x_bar[3 * v[k] + 2] += by.z;
        }
    }
}

#include "model/motion.h"

#include "linalg/vec3.h"

#include <math.h>

static int active(const abut_model *m, int32_t k, double t)
{
    const double mid = t + 0.5 * m->h[0];
    return m->mo_window[2 * k] <= mid && mid < m->mo_window[2 * k + 1];
}

/* R(w) d, the rotation by the vector w (Rodrigues) */
static abut_vec3 rotate(abut_vec3 w, abut_vec3 d)
{
    const double angle = abut_v3_norm(w);
    if (angle == 0) return d;
    const abut_vec3 k = abut_v3_scale(1 / angle, w);
    const double c = cos(angle), s = sin(angle);
    abut_vec3 r = abut_v3_scale(c, d);
    r = abut_v3_axpy(r, s, abut_v3_cross(k, d));
    return abut_v3_axpy(r, (1 - c) * abut_v3_dot(k, d), k);
}

void abut_motion_targets(const abut_model *m, double t, const double *x, double *target, uint8_t *held)
{
    for (int32_t i = 0; i < m->nv; i++) {
        held[i] = m->role[i] == ABUT_NODE_OBSTACLE;
        for (int k = 0; k < 3; k++) target[3 * i + k] = x[3 * i + k];
    }
    for (int32_t k = 0; k < m->nmo; k++) {
        if (m->mo_kind[k] != ABUT_MOTION_MOVE || !active(m, k, t)) continue;
        const double since = t - fmax(m->mo_window[2 * k], 0), h = m->h[0];
        const abut_vec3 linear = abut_v3_get(m->mo_linear + 3 * k);
        const abut_vec3 turn = abut_v3_scale(h, abut_v3_get(m->mo_angular + 3 * k));
        const abut_vec3 c = abut_v3_axpy(abut_v3_get(m->mo_center + 3 * k), since, linear);
        for (int32_t j = m->mo_first[2 * k]; j < m->mo_first[2 * k + 1]; j++) {
            const int32_t i = m->mo_node[j];
            const abut_vec3 d = abut_v3_sub(abut_v3_get(x + 3 * i), c);
            abut_vec3 step = abut_v3_sub(rotate(turn, d), d);
            step = abut_v3_axpy(step, h, linear);
            abut_v3_put(target + 3 * i, abut_v3_add(abut_v3_get(target + 3 * i), step));
            held[i] = 1;
        }
    }
}

void abut_motion_acceleration(const abut_model *m, double t, double *acc)
{
    for (int32_t i = 0; i < m->nv; i++)
        for (int k = 0; k < 3; k++) acc[3 * i + k] = m->gravity[k];
    for (int32_t k = 0; k < m->nmo; k++) {
        if (m->mo_kind[k] != ABUT_MOTION_FORCE || !active(m, k, t)) continue;
        for (int32_t j = m->mo_first[2 * k]; j < m->mo_first[2 * k + 1]; j++)
            for (int d = 0; d < 3; d++) acc[3 * m->mo_node[j] + d] += m->mo_linear[3 * k + d];
    }
}

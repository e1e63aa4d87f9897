/* Springs, attachments and damping, one an item. */
#include "energy/spring_inline.h"
#include "gpu/kernel.h"
#include "sparse/packed_inline.h"

ABUT_KERNEL(spring_energy, abut_tie_args)
{
    const int32_t *v = a->node + 2 * i;
    double d[3];
    const double l = abut_spring_span(a->x + 3 * (size_t)v[0], a->x + 3 * (size_t)v[1], d), k = a->stiffness[i];
    const double longer = l - a->length[i], pull = l > 0 ? k - k * a->length[i] / l : 0;
    a->energy[i] = 0.5 * k * longer * longer;
    for (size_t c = 0; c < 3; c++) {
        a->force[6 * i + c] = pull * d[c];
        a->force[6 * i + 3 + c] = -(pull * d[c]);
    }
}

ABUT_KERNEL(spring_hessian, abut_tie_args)
{
    const int32_t *v = a->node + 2 * i;
    double d[3];
    const double l = abut_spring_span(a->x + 3 * (size_t)v[0], a->x + 3 * (size_t)v[1], d);
    abut_spring_hessian_one(a->scale * a->stiffness[i], a->length[i], d, l, 1, a->H + 27 * i);
}

ABUT_KERNEL(tie_energy, abut_tie_args)
{
    const int32_t *v = a->node + 5 * i;
    const double *w = a->weight + 4 * i, k = a->stiffness[i];
    double r[3];
    abut_attachment_stretch(v, w, a->offset + 3 * i, a->x, r);
    a->energy[i] = 0.5 * k * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    for (size_t c = 0; c < 5; c++)
        for (size_t d = 0; d < 3; d++) a->force[15 * i + 3 * c + d] = !c ? k * r[d] : v[c] < 0 ? 0 : -(k * w[c - 1] * r[d]);
}

ABUT_KERNEL(tie_hessian, abut_tie_args)
{
    abut_attachment_hessian_one(a->node + 5 * i, a->weight + 4 * i, a->scale * a->stiffness[i], a->H + 135 * i);
}

/* ---- damping ---- */

ABUT_KERNEL(damp_element, abut_damp_args)
{
    double u[12], f[12], work = 0;
    for (size_t c = 0; c < 4; c++) {
        const int32_t v = a->node[c * a->n + i];
        for (size_t k = 0; k < 3; k++) {
            u[3 * c + k] = v < 0 ? 0 : a->x[3 * (size_t)v + k] - a->from[3 * (size_t)v + k];
            f[3 * c + k] = 0;
        }
    }
    const double *K = a->K + abut_packed_size(4) * i;
    for (int p = 0; p < 4; p++)
        for (int q = p; q < 4; q++, K += 9)
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 3; s++) {
                    f[3 * p + r] += K[3 * r + s] * u[3 * q + s];
                    if (p != q) f[3 * q + s] += K[3 * r + s] * u[3 * p + r];
                }
    for (size_t k = 0; k < 12; k++) {
        work += u[k] * f[k];
        a->force[12 * i + k] = f[k];
    }
    a->energy[i] = 0.5 * work;
}

ABUT_KERNEL(damp_node, abut_damp_args)
{
    double sum = 0;
    for (size_t k = 3 * i; k < 3 * i + 3; k++) sum += (a->x[k] - a->from[k]) * (a->x[k] - a->from[k]);
    a->energy[i] = 0.5 * a->rate * (a->mass[i] * sum);
}

ABUT_KERNEL(damp_push, abut_damp_args)
{
    for (size_t k = 3 * i; k < 3 * i + 3; k++) a->out[k] += a->rate * a->mass[i] * (a->x[k] - a->from[k]);
}

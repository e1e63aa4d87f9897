#include "gpu/kernel.h"

ABUT_KERNEL(axpy, abut_axpy_args)
{
    const double scale = a->scale_at ? a->scale * *a->scale_at : a->scale;
    a->out[i] = a->x[i] + scale * a->y[i];
}

ABUT_KERNEL(between, abut_between_args)
{
    a->out[i] = a->from[i] + a->share * (a->to[i] - a->from[i]);
}

ABUT_KERNEL(gather, abut_gather_args)
{
    const size_t row = i / a->width, c = i % a->width;
    const uint32_t end = a->first[row + 1];
    double total = 0;
    for (uint32_t k = a->first[row]; k < end;) {
        const uint32_t stop = end - k > 64 ? k + 64 : end;
        double piece = 0;
        for (; k < stop; k++) piece += a->in[(size_t)a->width * (a->at ? a->at[k] : k) + c];
        total += piece;
    }
    a->out[i] = (a->add ? a->out[i] : 0) + a->scale * total;
}

ABUT_KERNEL(pick, abut_pick_args)
{
    const double *from = a->in + 3 * (size_t)a->at[i];
    for (int k = 0; k < 3; k++) a->out[3 * i + k] = from[k];
}

ABUT_KERNEL(narrow, abut_narrow_args)
{
    a->out[i] = (float)a->in[i];
}

ABUT_KERNEL(scale, abut_scale_args)
{
    a->v[i] *= a->by;
}

ABUT_KERNEL(coast, abut_coast_args)
{
    a->out[i] = a->held[i / 3] ? a->target[i] : a->x[i] + a->h * a->v[i];
}

ABUT_KERNEL(carry_direction, abut_carry_args)
{
    a->p[i] = a->held[i / 3] ? a->target[i] - a->x[i] : 0;
}

ABUT_KERNEL(carry_move, abut_carry_args)
{
    if (a->held[i / 3]) a->x[i] = a->alpha == 1 ? a->target[i] : a->x[i] + a->alpha * a->p[i];
}

ABUT_KERNEL(lagrangian, abut_lagrangian_args)
{
    double d2 = 0, ld = 0;
    for (size_t k = 3 * i; k < 3 * i + 3 && a->held[i]; k++) {
        const double d = a->x[k] - a->target[k];
        d2 += d * d;
        ld += a->lam[k] * d;
    }
    a->out[i] = 0.5 * a->kap * a->mass[i] * d2 - sqrt(a->mass[i]) * ld;
}

ABUT_KERNEL(lagrangian_push, abut_lagrangian_args)
{
    const double m = a->mass[i];
    for (size_t k = 3 * i; k < 3 * i + 3 && a->held[i]; k++)
        a->out[k] += a->kap * m * (a->x[k] - a->target[k]) - sqrt(m) * a->lam[k];
}

/* Arrays of numbers, one or a node an item; vectors of conjugate gradients, a row an item, in double and in single precision. */
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

/* ---- conjugate gradients ---- */

/* z = inverse r of row i */
#define PRECONDITION(T, R, Z) \
    for (size_t k = 0; a->inverse && k < 3; k++) { \
        const float *m = a->inverse + 3 * k * a->n + i; \
        a->Z[3 * i + k] = (T)m[0] * a->R[3 * i] + (T)m[a->n] * a->R[3 * i + 1] + (T)m[2 * a->n] * a->R[3 * i + 2]; \
    }

#define BEGIN(T, X, R, Z, P, AP) \
    { \
        for (size_t k = 3 * i; k < 3 * i + 3; k++) { \
            a->X[k] = a->P[k] = a->AP[k] = 0; \
            a->R[k] = (T)(a->scale * a->from[k]); \
        } \
        PRECONDITION(T, R, Z) \
    }

ABUT_KERNEL(cg_begin, abut_cg_args)
BEGIN(double, x, r, z, p, ap)

ABUT_KERNEL(cg_begin_single, abut_cg_args)
BEGIN(float, x_single, r_single, z_single, p_single, ap_single)

/* A step, and what becomes of it. */
typedef struct cg_move {
    double alpha, beta;
    uint32_t state;
} cg_move;

/* by the sums of this iteration and the last */
ABUT_FN cg_move next_move(const abut_cg_args *a)
{
    const abut_cg_scalars *s = a->s;
    const double *sum = s->sum[a->odd], beta = sum[0] / s->sum[!a->odd][0];
    const double curvature = sum[1] - beta * sum[0] / s->alpha[!a->odd];    /* p . A p */
    cg_move m = { sum[0] / curvature, beta, s->state[a->odd] };
    if (m.state == ABUT_CG_RUNS)
        m.state = sum[2] <= s->goal ? ABUT_CG_DONE : sum[0] > 0 && curvature > 0 ? ABUT_CG_RUNS : ABUT_CG_BROKEN;
    return m;
}

ABUT_FN void note_move(const abut_cg_args *a, const cg_move *m)
{
    a->s->alpha[a->odd] = m->alpha;
    a->s->state[!a->odd] = m->state;
    a->s->iterations += m->state == ABUT_CG_RUNS;
}

#define STEP(T, X, R, Z, P, Q, AP) \
    { \
        const cg_move move = next_move(a); \
        const T alpha = (T)move.alpha, beta = (T)move.beta; \
        if (i == 0) note_move(a, &move); \
        if (move.state != ABUT_CG_RUNS) return; \
        for (size_t k = 3 * i; k < 3 * i + 3; k++) { \
            const T p = a->Z[k] + beta * a->P[k], ap = a->Q[k] + beta * a->AP[k]; \
            a->P[k] = p; \
            a->AP[k] = ap; \
            a->X[k] += alpha * p; \
            a->R[k] -= alpha * ap; \
        } \
        PRECONDITION(T, R, Z) \
    }

ABUT_KERNEL(cg_step, abut_cg_args)
STEP(double, x, r, z, p, q, ap)

ABUT_KERNEL(cg_step_single, abut_cg_args)
STEP(float, x_single, r_single, z_single, p_single, q_single, ap_single)

ABUT_KERNEL(widen, abut_widen_args)
{
    a->out[i] += a->scale * (double)a->in[i];
}

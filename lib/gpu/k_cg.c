/* Vectors of conjugate gradients, a row an item, in double and in single precision. */
#include "gpu/kernel.h"

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

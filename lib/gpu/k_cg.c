/* Vectors of conjugate gradients, a row an item, in double and in single precision. */
#include "gpu/kernel.h"

/* z = inverse r of row i */
#define PRECONDITION(T, R, Z) \
    for (size_t k = 0; a->inverse && k < 3; k++) { \
        const float *m = a->inverse + 3 * k * a->n + i; \
        a->Z[3 * i + k] = (T)m[0] * a->R[3 * i] + (T)m[a->n] * a->R[3 * i + 1] + (T)m[2 * a->n] * a->R[3 * i + 2]; \
    }

#define BEGIN(T, X, R, Z) \
    { \
        for (size_t k = 3 * i; k < 3 * i + 3; k++) { \
            a->X[k] = 0; \
            a->R[k] = (T)(a->scale * a->from[k]); \
        } \
        PRECONDITION(T, R, Z) \
    }

ABUT_KERNEL(cg_begin, abut_cg_args)
BEGIN(double, x, r, z)

ABUT_KERNEL(cg_begin_single, abut_cg_args)
BEGIN(float, x_single, r_single, z_single)

#define STEP(T, X, R, Z, P, Q) \
    { \
        const double pq = a->s->pq; \
        if (a->s->state[a->even] || !(pq > 0)) return; \
        const T alpha = (T)(a->s->rz[a->even][0] / pq); \
        for (size_t k = 3 * i; k < 3 * i + 3; k++) { \
            a->X[k] += alpha * a->P[k]; \
            a->R[k] -= alpha * a->Q[k]; \
        } \
        PRECONDITION(T, R, Z) \
    }

ABUT_KERNEL(cg_step, abut_cg_args)
STEP(double, x, r, z, p, q)

ABUT_KERNEL(cg_step_single, abut_cg_args)
STEP(float, x_single, r_single, z_single, p_single, q_single)

/* What an iteration ends with. */
ABUT_FN void conclude(const abut_cg_args *a)
{
    abut_cg_scalars *s = a->s;
    const double rz = s->rz[!a->even][0], rr = s->rz[!a->even][1];
    uint32_t state = s->state[a->even];
    if (state == ABUT_CG_RUNS) {
        s->iterations++;
        state = rr <= s->goal ? ABUT_CG_DONE : rr > s->goal && rz > 0 ? ABUT_CG_RUNS : ABUT_CG_BROKEN;
        if (!(s->pq > 0)) state = ABUT_CG_BROKEN;
    }
    s->state[!a->even] = state;
}

#define DIRECT(T, Z, P) \
    { \
        if (i == 0) conclude(a); \
        if (a->s->state[a->even]) return; \
        const T beta = (T)(a->s->rz[!a->even][0] / a->s->rz[a->even][0]); \
        for (size_t k = 3 * i; k < 3 * i + 3; k++) a->P[k] = a->Z[k] + beta * a->P[k]; \
    }

ABUT_KERNEL(cg_direct, abut_cg_args)
DIRECT(double, z, p)

ABUT_KERNEL(cg_direct_single, abut_cg_args)
DIRECT(float, z_single, p_single)

ABUT_KERNEL(widen, abut_widen_args)
{
    a->out[i] += a->scale * (double)a->in[i];
}

#include "adjoint/recur.h"

#include <string.h>

enum { INPUTS = sizeof(abut_recur_row) / sizeof(double) };

/* All outputs of one node for the inputs `in`, along x. */
static void respond(const abut_model *m, int scheme, double force_scale, const abut_recur_row *in, double out[6])
{
    const abut_model one = { .nv = 1, .h = m->h, .newmark_beta = m->newmark_beta, .newmark_gamma = m->newmark_gamma };
    const double x[3] = { in->x }, v[3] = { in->v }, a[3] = { in->a }, acc[3] = { in->acc }, target[3] = { in->target },
                 end[3] = { in->end };
    double past[2 * ABUT_PAST][3] = { { 0 } }, *past_x[ABUT_PAST], *past_v[ABUT_PAST], xhat[3], to[3], after[3];
    for (int k = 0; k < ABUT_PAST; k++) {
        past[k][0] = in->past_x[k], past[ABUT_PAST + k][0] = in->past_v[k];
        past_x[k] = past[k], past_v[k] = past[ABUT_PAST + k];
    }
    const abut_start at = { x, v, acc, a, past_x, past_v };
    if (scheme == ABUT_QUASI_STATIC) xhat[0] = x[0] + force_scale * acc[0], xhat[1] = xhat[2] = 0;   /* T is of a whole model */
    else abut_integrator_predict(&one, scheme, &at, xhat);
    out[0] = xhat[0];
    for (uint8_t held = 0; held < 2; held++) {
        double changed[3] = { 0 };
        abut_integrator_still(&one, scheme, &at, &held, target, to);
        abut_integrator_finish(&one, scheme, &at, &held, xhat, end, after, changed);
        out[1 + held] = to[0];
        out[3 + held] = after[0];
        if (!held) out[5] = changed[0];
    }
}

void abut_recur_of(const abut_model *m, int scheme, double force_scale, abut_recur *r)
{
    double *const row[6] = { (double *)&r->xhat, (double *)&r->still[0], (double *)&r->still[1], (double *)&r->v[0],
                             (double *)&r->v[1], (double *)&r->a };
    memset(r, 0, sizeof *r);
    for (int k = 0; k < INPUTS; k++) {
        abut_recur_row in;
        double unit[INPUTS] = { 0 }, out[6];
        unit[k] = 1;
        memcpy(&in, unit, sizeof in);
        respond(m, scheme, force_scale, &in, out);
        for (int j = 0; j < 6; j++) row[j][k] = out[j];
    }
}

void abut_recur_give(const abut_recur_row *r, size_t i, double b, const abut_recur_bars *to)
{
    to->end[i] += r->end * b;
    to->acc[i] += r->acc * b;
    to->target[i] += r->target * b;
    to->start->x[i] += r->x * b;
    to->start->v[i] += r->v * b;
    to->start->a[i] += r->a * b;
    for (int k = 0; k < ABUT_PAST && to->start->past_x[k]; k++) {
        to->start->past_x[k][i] += r->past_x[k] * b;
        to->start->past_v[k][i] += r->past_v[k] * b;
    }
}

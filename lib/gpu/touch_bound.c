/* Step bound of a direction: CCD of the candidates, half-spaces. */
#include "gpu/touch_parts.h"

#include "geom/ccd/ccd_inline.h"

#include <stdlib.h>

static abut_status motions_need(abut_gpu_touch *c, int which, size_t m, abut_motions_view *v, abut_err *err)
{
    abut_buffer *b = c->motion[which];
    abut_status rc = abut_buffer_need(c->q, &b[0], "open motions", m, sizeof(uint32_t), err);
    for (int k = 1; k < 4 && !rc; k++) rc = abut_buffer_need(c->q, &b[k], "open motions", m, sizeof(double), err);
    *v = (abut_motions_view){ ABUT_AT(b[0], uint32_t), ABUT_AT(b[1], double), ABUT_AT(b[2], double), ABUT_AT(b[3], double) };
    return rc;
}

/* m open pairs in motion[0]: rounds of ever more steps, after each of which those that have ended are left out. */
static abut_status rounds(abut_gpu_touch *c, abut_steps_args *a, uint64_t m, size_t n, abut_err *err)
{
    abut_queue *q = c->q;
    int taken = 0, from = 0;
    abut_status rc = ABUT_OK;
    for (a->steps = 4; !rc && m; a->steps *= 4) {
        if (a->steps > ABUT_CCD_STEPS - taken) a->steps = ABUT_CCD_STEPS - taken;
        taken += a->steps;
        a->last = taken == ABUT_CCD_STEPS;
        rc = q->on->least(q, a->toi, n, ABUT_PULSE(c, best), err);
        if (!rc) rc = ABUT_RUN(q, ccd_steps, a, m, err);
        uint64_t left = 0;
        if (!rc && !a->last) rc = q->on->scan(q, a->open, m, ABUT_AT(c->first, uint32_t), &left, err);
        if (!rc && left) rc = motions_need(c, !from, left, &a->to, err);
        if (!rc && left) rc = ABUT_RUN(q, ccd_keep, a, m, err);
        a->from = a->to;
        from = !from;
        m = left;
    }
    return rc;
}

/* toi of all n candidates. */
static abut_status times(abut_gpu_touch *c, size_t n, double slack, double t_max, abut_err *err)
{
    abut_queue *q = c->q;
    const double *y0 = ABUT_AT(c->y0, double), *y1 = c->moves ? ABUT_AT(c->y1, double) : y0;
    uint64_t m = 0;
    abut_status rc = abut_buffer_need(q, &c->value, "times of candidates", n, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(q, &c->count, "open candidates", n, sizeof(uint32_t), err);
    if (!rc) rc = abut_buffer_need(q, &c->first, "open candidates", n + 1, sizeof(uint32_t), err);
    if (rc) return rc;
    abut_ccd_args a = { .near = abut_gpu_near(c), .y0 = y0, .y1 = y1, .slack = slack, .t_max = t_max,
                        .toi = ABUT_AT(c->value, double), .open = ABUT_AT(c->count, uint32_t),
                        .first = ABUT_AT(c->first, uint32_t) };
    rc = ABUT_RUN(q, ccd_first, &a, n, err);
    if (!rc) rc = q->on->scan(q, a.open, n, ABUT_AT(c->first, uint32_t), &m, err);
    if (!rc && m) rc = motions_need(c, 0, m, &a.to, err);
    if (!rc && m) rc = ABUT_RUN(q, ccd_enter, &a, n, err);
    abut_steps_args s = { .near = a.near, .y0 = y0, .y1 = y1, .t_max = t_max, .best = ABUT_PULSE(c, best), .from = a.to,
                          .toi = a.toi, .open = a.open, .first = a.first };
    return rc || !m ? rc : rounds(c, &s, m, n, err);
}

static abut_status too_close(abut_gpu_touch *c, abut_stencil s, const int32_t ij[2], abut_err *err)
{
    double *y = NULL;
    abut_status rc = abut_gpu_fetch(c, ABUT_AT(c->y0, double), &y, err);
    if (!rc) rc = abut_limit_too_close(c->cm, s, ij, y, err);
    free(y);
    return rc;
}

abut_status abut_gpu_touch_ccd(abut_gpu_touch *c, double slack, abut_limit *lim, abut_err *err)
{
    const size_t n = abut_gpu_candidates_count(c);
    abut_least least = { 0 };
    abut_stencil s;
    int32_t ij[2];
    if (!n) return ABUT_OK;
    abut_status rc = times(c, n, slack, lim->alpha, err);
    if (!rc) rc = c->q->on->least(c->q, ABUT_AT(c->value, double), n, ABUT_PULSE(c, best), err);
    if (!rc) rc = c->q->on->get(c->q, &least, ABUT_PULSE(c, best), sizeof least, err);
    if (rc || !(least.value < lim->alpha)) return rc;
    rc = abut_gpu_candidate(c, least.number, &s, ij, err);
    if (rc) return rc;
    if (least.value < 0) return too_close(c, s, ij, err);
    *lim = abut_limit_by_pair(c->cm, s, ij, least.value);
    return ABUT_OK;
}

abut_status abut_gpu_touch_planes(abut_gpu_touch *c, const double *x, const double *p, double slack, abut_limit *lim,
                                  abut_err *err)
{
    abut_queue *q = c->q;
    const size_t nc = (size_t)c->cm->nc, nh = (size_t)c->cm->model->nh, n3 = 3 * (size_t)c->cm->model->nv;
    abut_least least = { 0 };
    if (!nh || !nc) return ABUT_OK;
    abut_status rc = abut_buffer_need(q, &c->xt, "positions", n3, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(q, &c->y, "positions", 3 * nc, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(q, &c->side, "sides", 6 * nc, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(q, &c->value, "bounds of vertices", nc * nh, sizeof(double), err);
    if (rc) return rc;
    const abut_axpy_args step = { x, p, ABUT_AT(c->xt, double), 1, NULL };
    const abut_plane_bound_args a = { ABUT_AT(c->y, double), ABUT_AT(c->side, double), ABUT_AT(c->xi, double),
                                      ABUT_AT(c->fixed, uint8_t), ABUT_AT(c->hs_point, double), ABUT_AT(c->hs_normal, double),
                                      (uint32_t)nh, slack, ABUT_AT(c->value, double) };
    rc = ABUT_RUN(q, axpy, &step, n3, err);
    if (!rc) rc = abut_gpu_gather(c, x, ABUT_AT(c->y, double), err);
    if (!rc) rc = abut_gpu_gather(c, step.out, ABUT_AT(c->side, double), err);
    if (!rc) rc = ABUT_RUN(q, plane_bound, &a, nc * nh, err);
    if (!rc) rc = q->on->least(q, a.bound, nc * nh, ABUT_PULSE(c, best), err);
    if (!rc) rc = q->on->get(q, &least, ABUT_PULSE(c, best), sizeof least, err);
    if (rc || !(least.value < lim->alpha)) return rc;
    const int32_t v = c->cm->W.col[least.number / nh], h = (int32_t)(least.number % nh);
    *lim = (abut_limit){ least.value, ABUT_LIMIT_PLANE, { v, h, -1, -1 }, -1, NULL };
    return ABUT_OK;
}

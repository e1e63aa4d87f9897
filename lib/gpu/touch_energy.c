/* Energies, gradients and Hessians of contacts and of frozen friction contacts. */
#include "gpu/touch.h"

#include "energy/barrier_law_inline.h"
#include "sparse/packed_lanes.h"

/* ---- slots of elements to nodes ---- */

/* g += the 12 numbers of each of m elements, at its nodes; those of obstacles are left out unless they answer. */
static abut_status scatter(abut_gpu_touch *c, const int32_t *node, const double *slots, size_t m, double *g, abut_err *err)
{
    abut_queue *q = c->q;
    const size_t nv = (size_t)c->cm->model->nv, n = 4 * m;
    int bits = 1;
    while ((size_t)1 << bits <= nv) bits++;
    if (n > UINT32_MAX) return abut_fail(err, ABUT_E_NOMEM, "contact: %zu contacts, fewer than 2^30 can be summed here", m);
    abut_status rc = abut_buffer_need(q, &c->key, "keys of slots", n, sizeof(uint64_t), err);
    if (!rc) rc = abut_buffer_need(q, &c->order, "order of slots", n, sizeof(uint32_t), err);
    if (!rc) rc = abut_buffer_need(q, &c->slot_first, "slots of nodes", nv + 1, sizeof(uint32_t), err);
    if (rc) return rc;
    const abut_slots_args s = { node, c->answers ? NULL : ABUT_AT(c->drop, uint8_t), (uint32_t)nv, (uint32_t)n,
                                ABUT_AT(c->key, uint64_t), ABUT_AT(c->order, uint32_t), ABUT_AT(c->slot_first, uint32_t) };
    const abut_gather_args sum = { s.first, s.order, slots, g, 1, 3, 1 };
    rc = ABUT_RUN(q, slot_key, &s, n, err);
    if (!rc) rc = q->on->sort(q, s.key, s.order, n, bits, err);
    if (!rc) rc = ABUT_RUN(q, slot_first, &s, nv + 1, err);
    return rc ? rc : ABUT_RUN(q, gather, &sum, 3 * nv, err);
}

/* ---- barrier ---- */

static abut_status barrier_ready(abut_gpu_touch *c, const double *x, const abut_gpu_contacts *s, double kappa, abut_buffer *out,
                                 size_t width, abut_barrier_args *a, abut_err *err)
{
    const abut_model *m = c->cm->model;
    const size_t n = s->n + s->n_plane;
    abut_status rc = abut_buffer_need(c->q, &c->y, "positions", 3 * (size_t)c->cm->nc, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(c->q, out, "contacts", n, width * sizeof(double), err);
    if (!rc) rc = abut_buffer_need(c->q, &c->node_of, "nodes of contacts", n, 4 * sizeof(int32_t), err);
    if (!rc) rc = abut_gpu_gather(c, x, ABUT_AT(c->y, double), err);
    *a = (abut_barrier_args){
        .n = (uint32_t)s->n, .kind = ABUT_AT(s->kind, uint8_t),
        .vert = ABUT_AT(s->vert, int32_t), .mult = ABUT_AT(s->mult, double), .dist2 = ABUT_AT(s->dist2, double),
        .eps_x = ABUT_AT(s->eps_x, double),
        .plane_vert = ABUT_AT(s->plane_vert, int32_t), .plane = ABUT_AT(s->plane, int32_t),
        .plane_dist = ABUT_AT(s->plane_dist, double), .plane_mult = ABUT_AT(s->plane_mult, double),
        .normal = ABUT_AT(c->hs_normal, double), .y = ABUT_AT(c->y, double),
        .xi = ABUT_AT(c->xi, double), .node = ABUT_AT(c->node, int32_t), .scale = abut_gpu_scale(c), .kappa = kappa,
        .hessian = c->hessian, .least = c->least,
        .continuity = m->continuity ? m->continuity[0] : ABUT_BARRIER_IPC, .out = ABUT_AT(*out, double),
        .to = ABUT_AT(c->node_of, int32_t) };
    return rc;
}

abut_status abut_gpu_barrier_energy(abut_gpu_touch *c, const double *x, const abut_gpu_contacts *set, double kappa, double *out,
                                    abut_err *err)
{
    const size_t n = set->n + set->n_plane;
    abut_barrier_args a;
    abut_status rc = n ? barrier_ready(c, x, set, kappa, &c->value, 1, &a, err) : ABUT_OK;
    if (!rc && n) rc = ABUT_RUN(c->q, barrier_energy, &a, n, err);
    return rc ? rc : c->q->on->sum(c->q, ABUT_AT(c->value, double), n, out, err);
}

abut_status abut_gpu_barrier_gradient(abut_gpu_touch *c, const double *x, const abut_gpu_contacts *set, double kappa, double *g,
                                      abut_err *err)
{
    const size_t n = set->n + set->n_plane;
    abut_barrier_args a;
    if (!n) return ABUT_OK;
    abut_status rc = barrier_ready(c, x, set, kappa, &c->slots, 12, &a, err);
    if (!rc) rc = ABUT_RUN(c->q, barrier_nodes, &a, n, err);
    if (!rc) rc = ABUT_RUN(c->q, barrier_push, &a, n, err);
    return rc ? rc : scatter(c, a.to, a.out, n, g, err);
}

abut_status abut_gpu_barrier_hessian(abut_gpu_touch *c, const double *x, const abut_gpu_contacts *set, double kappa,
                                     abut_gpu_blocks *out, abut_err *err)
{
    const size_t n = set->n + set->n_plane;
    abut_barrier_args a;
    *out = (abut_gpu_blocks){ .n = 0 };
    if (!n) return ABUT_OK;
    abut_status rc = barrier_ready(c, x, set, kappa, &c->blocks, ABUT_PACKED, &a, err);
    if (!rc) rc = ABUT_RUN(c->q, barrier_nodes, &a, n, err);
    const int gn = c->hessian == ABUT_HESSIAN_GN || c->hessian == ABUT_HESSIAN_IPC_GN;
    if (!rc) rc = gn ? ABUT_RUN(c->q, barrier_gn, &a, n, err) : ABUT_RUN(c->q, barrier_hess, &a, n, err);
    if (!rc) *out = (abut_gpu_blocks){ n, a.to, a.out };
    return rc;
}

/* ---- friction ---- */

abut_status abut_gpu_friction_set(abut_gpu_touch *c, const abut_lag *lag, const abut_stiction *law, const double *xn,
                                  abut_err *err)
{
    struct abut_gpu_lag *l = &c->lag;
    const size_t n = lag->n;
    l->n = 0;
    const abut_status rc = ABUT_BUFFERS(c->q, "frozen contacts", err, { &l->node, lag->node, n, 4 * sizeof(int32_t) },
                                        { &l->weight, lag->weight, n, 4 * sizeof(double) },
                                        { &l->basis, lag->basis, n, 6 * sizeof(double) },
                                        { &l->force, lag->force, n, sizeof(double) }, { &l->mu, lag->mu, n, sizeof(double) });
    if (rc) return rc;
    l->n = n;
    l->h = law->h;
    l->w = law->eps_v * law->h;
    l->smoothing = law->smoothing;
    l->kinks = 0;
    l->xn = xn;
    return ABUT_OK;
}

static abut_friction_args friction_of(const abut_gpu_touch *c, const double *x, double *out)
{
    const struct abut_gpu_lag *l = &c->lag;
    return (abut_friction_args){
        .node = ABUT_AT(l->node, int32_t), .weight = ABUT_AT(l->weight, double), .basis = ABUT_AT(l->basis, double),
        .force = ABUT_AT(l->force, double), .mu = ABUT_AT(l->mu, double), .x = x, .xn = l->xn, .h = l->h, .w = l->w,
        .smoothing = l->smoothing, .above = l->kinks ? ABUT_AT(l->above, uint8_t) : NULL, .out = out };
}

abut_status abut_gpu_friction_energy(abut_gpu_touch *c, const double *x, double *out, abut_err *err)
{
    const size_t n = c->lag.n;
    abut_status rc = n ? abut_buffer_need(c->q, &c->value, "frozen contacts", n, sizeof(double), err) : ABUT_OK;
    const abut_friction_args a = friction_of(c, x, ABUT_AT(c->value, double));
    if (!rc && n) rc = ABUT_RUN(c->q, friction_energy, &a, n, err);
    return rc ? rc : c->q->on->sum(c->q, a.out, n, out, err);
}

abut_status abut_gpu_friction_gradient(abut_gpu_touch *c, const double *x, double *g, abut_err *err)
{
    const size_t n = c->lag.n;
    if (!n) return ABUT_OK;
    abut_status rc = abut_buffer_need(c->q, &c->slots, "frozen contacts", n, 12 * sizeof(double), err);
    if (rc) return rc;
    const abut_friction_args a = friction_of(c, x, ABUT_AT(c->slots, double));
    rc = ABUT_RUN(c->q, friction_push, &a, n, err);
    return rc ? rc : scatter(c, a.node, a.out, n, g, err);
}

abut_status abut_gpu_friction_hessian(abut_gpu_touch *c, const double *x, abut_gpu_blocks *out, abut_err *err)
{
    const size_t n = c->lag.n;
    *out = (abut_gpu_blocks){ .n = 0 };
    if (!n) return ABUT_OK;
    abut_status rc = abut_buffer_need(c->q, &c->lag.blocks, "frozen contacts", n, ABUT_PACKED * sizeof(double), err);
    if (rc) return rc;
    const abut_friction_args a = friction_of(c, x, ABUT_AT(c->lag.blocks, double));
    rc = ABUT_RUN(c->q, friction_hess, &a, n, err);
    if (!rc) *out = (abut_gpu_blocks){ n, a.node, a.out };
    return rc;
}

abut_status abut_gpu_friction_kinks(abut_gpu_touch *c, const double *x, const double *p, abut_err *err)
{
    const size_t n = c->lag.n;
    if (!n) return ABUT_OK;
    abut_status rc = abut_buffer_need(c->q, &c->lag.above, "frozen contacts", n, 1, err);
    if (rc) return rc;
    c->lag.kinks = 1;
    abut_friction_args a = friction_of(c, x, NULL);
    a.p = p;
    return ABUT_RUN(c->q, friction_kink, &a, n, err);
}

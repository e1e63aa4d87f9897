#include "gpu/tets.h"

#include <stdlib.h>
#include <string.h>

void abut_gpu_tets_clear(abut_gpu_tets *t)
{
    abut_buffer *const all[] = { &t->node,  &t->B,      &t->volume, &t->mu,    &t->lambda, &t->model,
                                 &t->first, &t->corner, &t->energy, &t->force, &t->scalar };
    for (size_t i = 0; i < sizeof all / sizeof *all && t->q; i++) abut_buffer_clear(t->q, all[i]);
    *t = (abut_gpu_tets){ 0 };
}

/* Materials that are a density of energy/material/density.h and nothing else. */
static abut_status check_materials(const abut_model *m, abut_err *err)
{
    for (int32_t i = 0; i < m->nm; i++) {
        const char *what = m->mat_model[i] == ABUT_SPLINE                              ? "a spline"
                           : m->mat_fibre && m->mat_fibre[i] > 0                       ? "fibres"
                           : m->mat_volume && m->mat_volume[i] > 0                     ? "a distance to volume 1"
                           : m->mat_stretch && m->mat_stretch[3 * (size_t)i] > 0       ? "a distance to a range of stretches"
                                                                                       : NULL;
        if (m->mat_model[i] > ABUT_SPLINE)
            return abut_fail(err, ABUT_E_FORMAT, "material %d is %s, which has no kernel; --device cpu takes it", i,
                             abut_material_names[m->mat_model[i]]);
        if (what) return abut_fail(err, ABUT_E_FORMAT, "material %d has %s, which only --device cpu takes", i, what);
    }
    return ABUT_OK;
}

/* Numbers of all tets, one after the other as kernels read them. */
typedef struct columns {
    int32_t *node, *model;
    double *B, *mu, *lambda;
} columns;

static void columns_free(columns *c)
{
    free(c->node);
    free(c->model);
    free(c->B);
    free(c->mu);
    free(c->lambda);
}

static int columns_make(const abut_elastic *e, columns *c)
{
    const abut_model *m = e->model;
    const size_t n = (size_t)m->nt;
    *c = (columns){ malloc(4 * n * sizeof *c->node + 1), malloc(n * sizeof *c->model + 1), malloc(9 * n * sizeof *c->B + 1),
                    malloc(n * sizeof *c->mu + 1), malloc(n * sizeof *c->lambda + 1) };
    if (!c->node || !c->model || !c->B || !c->mu || !c->lambda) return 0;
    for (size_t t = 0; t < n; t++) {
        for (size_t k = 0; k < 4; k++) c->node[k * n + t] = m->tet[4 * t + k];
        for (size_t k = 0; k < 9; k++) c->B[k * n + t] = e->B[9 * t + k];
        c->model[t] = m->mat_model[m->tet_mat[t]];
        c->mu[t] = e->lame[2 * t];
        c->lambda[t] = e->lame[2 * t + 1];
    }
    return 1;
}

static abut_status upload(abut_gpu_tets *t, const abut_elastic *e, const columns *c, abut_err *err)
{
    const size_t n = t->nt;
    abut_queue *q = t->q;
    abut_status rc = abut_buffer_put(q, &t->node, "tets", c->node, 4 * n, sizeof *c->node, err);
    if (!rc) rc = abut_buffer_put(q, &t->model, "tets", c->model, n, sizeof *c->model, err);
    if (!rc) rc = abut_buffer_put(q, &t->B, "tets", c->B, 9 * n, sizeof *c->B, err);
    if (!rc) rc = abut_buffer_put(q, &t->mu, "tets", c->mu, n, sizeof *c->mu, err);
    if (!rc) rc = abut_buffer_put(q, &t->lambda, "tets", c->lambda, n, sizeof *c->lambda, err);
    if (!rc) rc = abut_buffer_put(q, &t->volume, "tets", e->vol, n, sizeof *e->vol, err);
    if (!rc) rc = abut_buffer_put(q, &t->first, "tets", e->inc_first, t->nv + 1, sizeof *e->inc_first, err);
    if (!rc) rc = abut_buffer_put(q, &t->corner, "tets", e->inc, 4 * n, sizeof *e->inc, err);
    if (!rc) rc = abut_buffer_need(q, &t->energy, "tet energies", n, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(q, &t->force, "tet forces", 12 * n, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(q, &t->scalar, "tets", 1, sizeof(abut_least), err);
    return rc;
}

abut_status abut_gpu_tets_init(abut_gpu_tets *t, abut_queue *q, const abut_elastic *e, abut_err *err)
{
    columns c;
    *t = (abut_gpu_tets){ .q = q, .elastic = e, .nt = (size_t)e->model->nt, .nv = (size_t)e->model->nv };
    abut_status rc = check_materials(e->model, err);
    if (rc) return rc;
    rc = columns_make(e, &c) ? upload(t, e, &c, err) : abut_fail(err, ABUT_E_NOMEM, "tets of a device: %zu of them", t->nt);
    columns_free(&c);
    if (rc) abut_gpu_tets_clear(t);
    return rc;
}

static abut_tet_args args_of(const abut_gpu_tets *t, const double *x)
{
    return (abut_tet_args){ .node = t->node.at, .B = t->B.at, .volume = t->volume.at, .mu = t->mu.at, .lambda = t->lambda.at,
                            .model = t->model.at, .x = x, .energy = t->energy.at, .force = t->force.at, .nt = t->nt };
}

abut_status abut_gpu_tets_energy(abut_gpu_tets *t, const double *z, double *out, abut_err *err)
{
    const abut_tet_args a = args_of(t, z);
    const abut_status rc = ABUT_RUN(t->q, tet_energy, &a, t->nt, err);
    return rc ? rc : t->q->on->sum(t->q, t->energy.at, t->nt, out, err);
}

abut_status abut_gpu_tets_gradient(abut_gpu_tets *t, const double *z, double scale, double *g, abut_err *err)
{
    const abut_gather_args a = { t->first.at, t->corner.at, t->force.at, g, scale, 3, 1 };
    const abut_tet_args at = args_of(t, z);
    const abut_status rc = z ? ABUT_RUN(t->q, tet_energy, &at, t->nt, err) : ABUT_OK;
    return rc ? rc : ABUT_RUN(t->q, gather, &a, 3 * t->nv, err);
}

abut_status abut_gpu_tets_hessian(abut_gpu_tets *t, const double *z, double scale, double *H, abut_err *err)
{
    abut_tet_args a = args_of(t, z);
    a.scale = scale;
    a.H = H;
    return ABUT_RUN(t->q, tet_hessian, &a, t->nt, err);
}

/* The smallest of t->energy. */
static abut_status least_of(abut_gpu_tets *t, abut_least *least, abut_err *err)
{
    const abut_status rc = t->q->on->least(t->q, t->energy.at, t->nt, t->scalar.at, err);
    return rc ? rc : t->q->on->get(t->q, least, t->scalar.at, sizeof *least, err);
}

abut_status abut_gpu_tets_bound(abut_gpu_tets *t, const double *x, const double *p, double slack, abut_limit *lim, abut_err *err)
{
    abut_tet_args a = args_of(t, x);
    abut_least least;
    a.p = p;
    a.slack = slack;
    a.bound = t->energy.at;
    abut_status rc = ABUT_RUN(t->q, tet_bound, &a, t->nt, err);
    if (!rc) rc = least_of(t, &least, err);
    if (rc || !(least.value < lim->alpha)) return rc;
    *lim = (abut_limit){ .alpha = least.value, .kind = ABUT_LIMIT_TET, .tet = (int32_t)least.number };
    memcpy(lim->node, t->elastic->model->tet + 4 * least.number, sizeof lim->node);
    return ABUT_OK;
}

/* ---- nodes ---- */

static abut_node_args node_args(const abut_gpu_inertia *of, const double *x, double *out)
{
    return (abut_node_args){ of->mass, x, of->xn, of->xhat, of->held, out, of->inertia };
}

abut_status abut_gpu_nodes_energy(abut_queue *q, const abut_gpu_inertia *of, const double *x, double *part, double *out,
                                  abut_err *err)
{
    const abut_node_args a = node_args(of, x, part);
    const abut_status rc = ABUT_RUN(q, node_energy, &a, of->nv, err);
    return rc ? rc : q->on->sum(q, part, of->nv, out, err);
}

abut_status abut_gpu_nodes_gradient(abut_queue *q, const abut_gpu_inertia *of, const double *x, double *g, abut_err *err)
{
    const abut_node_args a = node_args(of, x, g);
    return ABUT_RUN(q, node_gradient, &a, of->nv, err);
}

abut_status abut_gpu_nodes_hold(abut_queue *q, const uint8_t *held, double *v, size_t nv, abut_err *err)
{
    const abut_hold_args a = { held, v };
    return ABUT_RUN(q, hold, &a, nv, err);
}

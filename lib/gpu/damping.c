#include "gpu/damping.h"

#include "sparse/packed_lanes.h"

void abut_gpu_damping_init(abut_gpu_damping *p, abut_queue *q, const abut_damping *d, abut_gpu_tets *t, abut_gpu_codim *codim,
                           const double *mass)
{
    *p = (abut_gpu_damping){ .q = q, .of = d, .tets = t, .codim = codim, .mass = mass };
}

void abut_gpu_damping_clear(abut_gpu_damping *p)
{
    abut_buffer *const all[] = { &p->K, &p->codim_K, &p->energy, &p->force };
    for (size_t i = 0; i < sizeof all / sizeof *all && p->q; i++) abut_buffer_clear(p->q, all[i]);
    *p = (abut_gpu_damping){ 0 };
}

/* Elements with matrices: their nodes, the corners at each node. */
typedef struct elements {
    size_t n;
    const abut_buffer *node, *first, *corner, *K;
} elements;

static void both_sets(const abut_gpu_damping *p, elements set[2])
{
    const abut_gpu_tets *t = p->tets;
    const abut_gpu_codim *c = p->codim;
    set[0] = (elements){ p->K.at ? t->nt : 0, &t->node, &t->first, &t->corner, &p->K };
    set[1] = (elements){ p->codim_K.at ? c->n : 0, &c->node, &c->first, &c->corner, &p->codim_K };
}

abut_status abut_gpu_damping_freeze(abut_gpu_damping *p, const double *x0, const double *from, double weight, abut_err *err)
{
    if (!p->of) return ABUT_OK;
    abut_queue *q = p->q;
    const size_t nt = p->tets->nt, n = p->codim->n, most = nt > n ? nt : n, nv = p->tets->nv;
    const double scale = weight * p->of->stiffness;
    p->rate = weight * p->of->mass;
    p->from = from;
    abut_status rc = abut_buffer_need(q, &p->energy, "damping", most > nv ? most : nv, sizeof(double), err);
    if (rc || !(scale > 0)) return rc;
    rc = abut_buffer_need(q, &p->force, "damping", 12 * most, sizeof(double), err);
    if (!rc && nt) rc = abut_buffer_need(q, &p->K, "damping of tets", ABUT_PACKED * nt, sizeof(double), err);
    if (!rc && nt) rc = abut_gpu_tets_hessian(p->tets, x0, scale, p->K.at, err);
    if (!rc && n) rc = abut_buffer_need(q, &p->codim_K, "damping of thin elements", ABUT_PACKED * n, sizeof(double), err);
    if (!rc && n) rc = abut_gpu_codim_frozen(p->codim, x0, scale, p->codim_K.at, err);
    return rc;
}

static abut_status set_forces(abut_gpu_damping *p, const elements *s, const double *x, abut_err *err)
{
    const abut_damp_args a = { .node = s->node->at, .K = s->K->at, .x = x, .from = p->from, .energy = p->energy.at,
                               .force = p->force.at, .n = s->n };
    return ABUT_RUN(p->q, damp_element, &a, s->n, err);
}

static abut_damp_args nodes(const abut_gpu_damping *p, const double *x, double *out)
{
    return (abut_damp_args){ .mass = p->mass, .x = x, .from = p->from, .energy = p->energy.at, .out = out, .rate = p->rate };
}

abut_status abut_gpu_damping_energy(abut_gpu_damping *p, const double *x, double *out, abut_err *err)
{
    elements set[2];
    abut_status rc = ABUT_OK;
    if (!p->of) return ABUT_OK;
    const abut_damp_args a = nodes(p, x, NULL);
    if (p->rate > 0) rc = ABUT_RUN(p->q, damp_node, &a, p->tets->nv, err);
    if (!rc && p->rate > 0) rc = p->q->on->sum(p->q, p->energy.at, p->tets->nv, out + ABUT_GPU_DAMP_MASS, err);
    both_sets(p, set);
    for (int k = 0; k < 2 && !rc; k++) {
        if (!set[k].n) continue;
        rc = set_forces(p, &set[k], x, err);
        if (!rc) rc = p->q->on->sum(p->q, p->energy.at, set[k].n, out + ABUT_GPU_DAMP_TETS + k, err);
    }
    return rc;
}

abut_status abut_gpu_damping_gradient(abut_gpu_damping *p, const double *x, double *g, abut_err *err)
{
    elements set[2];
    abut_status rc = ABUT_OK;
    if (!p->of) return ABUT_OK;
    const abut_damp_args a = nodes(p, x, g);
    if (p->rate > 0) rc = ABUT_RUN(p->q, damp_push, &a, p->tets->nv, err);
    both_sets(p, set);
    for (int k = 0; k < 2 && !rc; k++) {
        const abut_gather_args sum = { set[k].first->at, set[k].corner->at, p->force.at, g, 1, 3, 1 };
        if (!set[k].n) continue;
        rc = set_forces(p, &set[k], x, err);
        if (!rc) rc = ABUT_RUN(p->q, gather, &sum, 3 * p->tets->nv, err);
    }
    return rc;
}

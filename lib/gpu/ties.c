#include "gpu/ties.h"

#include "sparse/packed_inline.h"

#include <stdlib.h>

typedef struct abut_gpu_tie_set tie_set;

void abut_gpu_ties_clear(abut_gpu_ties *t)
{
    for (int k = 0; k < ABUT_GPU_TIES && t->q; k++) {
        tie_set *s = &t->set[k];
        abut_buffer *const all[] = { &s->node,  &s->weight, &s->offset, &s->stiffness, &s->length,
                                     &s->first, &s->corner, &s->energy, &s->force,     &s->H };
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) abut_buffer_clear(t->q, all[i]);
    }
    *t = (abut_gpu_ties){ 0 };
}

/* Corners at each node, ascending: first[nv + 1], corner[first[nv]]. */
static void corners_list(const int32_t *node, size_t corners, int32_t nv, uint32_t *first, uint32_t *corner)
{
    for (size_t c = 0; c < corners; c++)
        if (node[c] >= 0) first[node[c] + 1]++;
    for (int32_t i = 0; i < nv; i++) first[i + 1] += first[i];
    for (size_t c = 0; c < corners; c++)
        if (node[c] >= 0) corner[first[node[c]]++] = (uint32_t)c;
    for (int32_t i = nv; i > 0; i--) first[i] = first[i - 1];
    first[0] = 0;
}

static abut_status put_corners(abut_queue *q, tie_set *s, const int32_t *node, int32_t nv, abut_err *err)
{
    const size_t corners = (size_t)s->corners * s->n;
    uint32_t *first = calloc((size_t)nv + 1, sizeof *first), *corner = malloc(corners * sizeof *corner + 1);
    abut_status rc = first && corner ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "springs of a device: %zu corners", corners);
    if (!rc) {
        corners_list(node, corners, nv, first, corner);
        rc = abut_buffer_put(q, &s->first, "springs", first, (size_t)nv + 1, sizeof *first, err);
    }
    if (!rc) rc = abut_buffer_put(q, &s->corner, "springs", corner, first[nv], sizeof *corner, err);
    free(first);
    free(corner);
    return rc;
}

static abut_status bring(abut_queue *q, tie_set *s, const int32_t *node, const double *stiffness, int32_t nv, abut_err *err)
{
    const size_t size = (size_t)s->corners;
    abut_status rc = abut_buffer_put(q, &s->node, "springs", node, size * s->n, sizeof *node, err);
    if (!rc) rc = abut_buffer_put(q, &s->stiffness, "springs", stiffness, s->n, sizeof *stiffness, err);
    if (!rc) rc = abut_buffer_need(q, &s->energy, "springs", s->n, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(q, &s->force, "springs", 3 * size * s->n, sizeof(double), err);
    return rc ? rc : put_corners(q, s, node, nv, err);
}

abut_status abut_gpu_ties_init(abut_gpu_ties *t, abut_queue *q, const abut_model *m, abut_err *err)
{
    *t = (abut_gpu_ties){ .q = q, .model = m };
    tie_set *spring = &t->set[ABUT_GPU_SPRINGS], *tie = &t->set[ABUT_GPU_ATTACHMENTS];
    abut_status rc = ABUT_OK;
    *spring = (tie_set){ .n = (size_t)m->nsp, .corners = 2 };
    *tie = (tie_set){ .n = (size_t)m->na, .corners = 5 };
    if (spring->n) rc = bring(q, spring, m->spring, m->spring_stiffness, m->nv, err);
    if (!rc && spring->n) rc = abut_buffer_put(q, &spring->length, "springs", m->spring_length, spring->n, sizeof(double), err);
    if (!rc && tie->n) rc = bring(q, tie, m->attach_node, m->attach_stiffness, m->nv, err);
    if (!rc && tie->n) rc = abut_buffer_put(q, &tie->weight, "springs", m->attach_weight, 4 * tie->n, sizeof(double), err);
    if (!rc && tie->n) rc = abut_buffer_put(q, &tie->offset, "springs", m->tie_offset, 3 * tie->n, sizeof(double), err);
    if (rc) abut_gpu_ties_clear(t);
    return rc;
}

static abut_tie_args args_of(const tie_set *s, const double *x)
{
    return (abut_tie_args){ .node = s->node.at, .weight = s->weight.at, .offset = s->offset.at, .stiffness = s->stiffness.at,
                            .length = s->length.at, .x = x, .energy = s->energy.at, .force = s->force.at, .H = s->H.at };
}

static abut_status forces(abut_gpu_ties *t, int set, const double *x, abut_err *err)
{
    const tie_set *s = &t->set[set];
    const abut_tie_args a = args_of(s, x);
    return set == ABUT_GPU_SPRINGS ? ABUT_RUN(t->q, spring_energy, &a, s->n, err) : ABUT_RUN(t->q, tie_energy, &a, s->n, err);
}

abut_status abut_gpu_ties_energy(abut_gpu_ties *t, const double *z, double *out, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int k = 0; k < ABUT_GPU_TIES && !rc; k++) {
        const tie_set *s = &t->set[k];
        if (!s->n) continue;
        rc = forces(t, k, z, err);
        if (!rc) rc = t->q->on->sum(t->q, s->energy.at, s->n, out + k, err);
    }
    return rc;
}

abut_status abut_gpu_ties_gradient(abut_gpu_ties *t, const double *z, double scale, double *g, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int k = 0; k < ABUT_GPU_TIES && !rc; k++) {
        const tie_set *s = &t->set[k];
        const abut_gather_args a = { s->first.at, s->corner.at, s->force.at, g, scale, 3, 1 };
        if (!s->n) continue;
        if (z) rc = forces(t, k, z, err);
        if (!rc) rc = ABUT_RUN(t->q, gather, &a, 3 * (size_t)t->model->nv, err);
    }
    return rc;
}

abut_status abut_gpu_ties_hessian(abut_gpu_ties *t, const double *z, double scale, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int k = 0; k < ABUT_GPU_TIES && !rc; k++) {
        tie_set *s = &t->set[k];
        if (!s->n) continue;
        rc = abut_buffer_need(t->q, &s->H, "matrices of springs", s->n * abut_packed_size(s->corners), sizeof(double), err);
        abut_tie_args a = args_of(s, z);
        a.scale = scale;
        if (!rc) rc = k == ABUT_GPU_SPRINGS ? ABUT_RUN(t->q, spring_hessian, &a, s->n, err)
                                            : ABUT_RUN(t->q, tie_hessian, &a, s->n, err);
    }
    return rc;
}

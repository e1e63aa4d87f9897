#include "gpu/elements.h"

#include "base/arena.h"
#include "base/order.h"
#include "energy/membrane.h"
#include "energy/membrane_inline.h"
#include "energy/rod_inline.h"
#include "sparse/packed_lanes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* g += scale times the forces at the corners of each node. */
static abut_status add_forces(abut_queue *q, const abut_buffer *first, const abut_buffer *corner, const abut_buffer *force,
                              double scale, double *g, size_t nv, abut_err *err)
{
    const abut_gather_args a = { first->at, corner->at, force->at, g, scale, 3, 1 };
    return ABUT_RUN(q, gather, &a, 3 * nv, err);
}

/* to[k][n] = from[n][k] */
static void columns(double *to, const double *from, size_t n, size_t k)
{
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < k; d++) to[d * n + i] = from[k * i + d];
}

/* to[4][n] = from[n][4] */
static void node_columns(int32_t *to, const int32_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < 4; c++) to[c * n + i] = from[4 * i + c];
}

/* ---- tets ---- */

void abut_gpu_tets_clear(abut_gpu_tets *t)
{
    ABUT_BUFFERS_CLEAR(t->q, &t->node, &t->B, &t->volume, &t->mu, &t->lambda, &t->model, &t->first, &t->corner, &t->energy,
                       &t->force, &t->scalar);
    *t = (abut_gpu_tets){ 0 };
}

/* Materials that are a density of energy/material/materials.h and nothing else. */
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

/* Arrays of all tets as kernels read them. */
typedef struct tet_columns {
    int32_t *node, *model;
    double *B, *mu, *lambda;
} tet_columns;

static int tet_columns_make(const abut_elastic *e, tet_columns *c)
{
    const abut_model *m = e->model;
    const size_t n = (size_t)m->nt;
    *c = (tet_columns){ malloc(4 * n * sizeof *c->node + 1), malloc(n * sizeof *c->model + 1), malloc(9 * n * sizeof *c->B + 1),
                        malloc(n * sizeof *c->mu + 1), malloc(n * sizeof *c->lambda + 1) };
    if (!c->node || !c->model || !c->B || !c->mu || !c->lambda) return 0;
    node_columns(c->node, m->tet, n);
    columns(c->B, e->B, n, 9);
    for (size_t t = 0; t < n; t++) {
        c->model[t] = m->mat_model[m->tet_mat[t]];
        c->mu[t] = e->lame[2 * t];
        c->lambda[t] = e->lame[2 * t + 1];
    }
    return 1;
}

static abut_status tets_upload(abut_gpu_tets *t, const abut_elastic *e, const tet_columns *c, abut_err *err)
{
    const size_t n = t->nt;
    abut_status rc = ABUT_BUFFERS(t->q, "tets", err, { &t->node, c->node, 4 * n, sizeof *c->node },
                                  { &t->model, c->model, n, sizeof *c->model }, { &t->B, c->B, 9 * n, sizeof *c->B },
                                  { &t->mu, c->mu, n, sizeof *c->mu }, { &t->lambda, c->lambda, n, sizeof *c->lambda },
                                  { &t->volume, e->vol, n, sizeof *e->vol },
                                  { &t->first, e->inc_first, t->nv + 1, sizeof *e->inc_first },
                                  { &t->corner, e->inc, 4 * n, sizeof *e->inc });
    if (!rc) rc = abut_buffer_need(t->q, &t->energy, "tet energies", n, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(t->q, &t->force, "tet forces", 12 * n, sizeof(double), err);
    return rc ? rc : abut_buffer_need(t->q, &t->scalar, "tets", 1, sizeof(abut_least), err);
}

abut_status abut_gpu_tets_init(abut_gpu_tets *t, abut_queue *q, const abut_elastic *e, abut_err *err)
{
    tet_columns c;
    *t = (abut_gpu_tets){ .q = q, .elastic = e, .nt = (size_t)e->model->nt, .nv = (size_t)e->model->nv };
    abut_status rc = check_materials(e->model, err);
    if (rc) return rc;
    rc = tet_columns_make(e, &c) ? tets_upload(t, e, &c, err)
                                 : abut_fail(err, ABUT_E_NOMEM, "tets of a device: %zu of them", t->nt);
    ABUT_FREE(c.node, c.model, c.B, c.mu, c.lambda);
    if (rc) abut_gpu_tets_clear(t);
    return rc;
}

abut_tet_args abut_gpu_tets_args(const abut_gpu_tets *t, const double *x)
{
    return (abut_tet_args){ .node = t->node.at, .B = t->B.at, .volume = t->volume.at, .mu = t->mu.at, .lambda = t->lambda.at,
                            .model = t->model.at, .x = x, .energy = t->energy.at, .force = t->force.at, .nt = t->nt };
}

abut_status abut_gpu_tets_energy(abut_gpu_tets *t, const double *z, double *out, abut_err *err)
{
    const abut_tet_args a = abut_gpu_tets_args(t, z);
    const abut_status rc = ABUT_RUN(t->q, tet_energy, &a, t->nt, err);
    return rc ? rc : t->q->on->sum(t->q, t->energy.at, t->nt, out, err);
}

abut_status abut_gpu_tets_gradient(abut_gpu_tets *t, const double *z, double scale, double *g, abut_err *err)
{
    const abut_tet_args at = abut_gpu_tets_args(t, z);
    const abut_status rc = z ? ABUT_RUN(t->q, tet_energy, &at, t->nt, err) : ABUT_OK;
    return rc ? rc : add_forces(t->q, &t->first, &t->corner, &t->force, scale, g, t->nv, err);
}

/* H[90 nt] = scale times the Hessians at z. */
static abut_status gpu_tets_hessian(abut_gpu_tets *t, const double *z, double scale, double *H, abut_err *err)
{
    abut_tet_args a = abut_gpu_tets_args(t, z);
    a.scale = scale;
    a.H = H;
    return ABUT_RUN(t->q, tet_hessian, &a, t->nt, err);
}

abut_status abut_gpu_tets_bound(abut_gpu_tets *t, const double *x, const double *p, double slack, abut_limit *lim, abut_err *err)
{
    abut_tet_args a = abut_gpu_tets_args(t, x);
    abut_least least;
    a.p = p;
    a.slack = slack;
    a.bound = t->energy.at;
    abut_status rc = ABUT_RUN(t->q, tet_bound, &a, t->nt, err);
    if (!rc) rc = abut_least_get(t->q, t->energy.at, t->nt, t->scalar.at, &least, err);
    if (rc || !(least.value < lim->alpha)) return rc;
    *lim = (abut_limit){ .alpha = least.value, .kind = ABUT_LIMIT_TET, .tet = (int32_t)least.number };
    memcpy(lim->node, t->elastic->model->tet + 4 * least.number, sizeof lim->node);
    return ABUT_OK;
}

/* ---- shells, hinges, rod segments and bends ---- */

void abut_gpu_codim_clear(abut_gpu_codim *s)
{
    ABUT_BUFFERS_CLEAR(s->q, &s->node, &s->material, &s->model, &s->B, &s->volume, &s->law, &s->stiffness, &s->limit, &s->angle,
                       &s->first, &s->corner, &s->energy, &s->force, &s->H, &s->scalar, &s->rod_stiffness, &s->rod_length,
                       &s->bend_stiffness, &s->tension);
    *s = (abut_gpu_codim){ 0 };
}

/* Arrays of all thin elements as kernels read them. */
typedef struct codim_columns {
    int32_t *node, *model;
    double *B, *law, *limit, *rod;
} codim_columns;

static void law_put(const abut_membrane *law, int32_t *model, double *to)
{
    const double none[3] = { INFINITY, INFINITY, INFINITY };
    *model = law->fabric ? ABUT_PLANE_WOVEN : law->model;
    memset(to, 0, ABUT_PLANE_NUMBERS * sizeof *to);
    if (law->kind == ABUT_MEMBRANE_BARAFF_WITKIN) {
        *model = ABUT_PLANE_BARAFF_WITKIN;
        memcpy(to, law->bw, sizeof law->bw);
        return;
    }
    if (law->fabric) {
        memcpy(to, law->fabric, 4 * sizeof *to);
        memcpy(to + 4, law->strain ? law->strain : none, sizeof none);
        return;
    }
    to[0] = law->mu;
    to[1] = law->lambda;
}

static int codim_columns_make(const abut_codim *t, codim_columns *c)
{
    const abut_model *m = t->model;
    const size_t n = t->n, ns = (size_t)m->nsh, nm = (size_t)m->nm, nr = (size_t)m->nrd;
    *c = (codim_columns){ malloc(4 * n * sizeof *c->node + 1), malloc(nm * sizeof *c->model + 1),
                          malloc(4 * ns * sizeof *c->B + 1), malloc(ABUT_PLANE_NUMBERS * nm * sizeof *c->law + 1),
                          malloc(4 * ns * sizeof *c->limit + 1), malloc(nr * sizeof *c->rod + 1) };
    if (!c->node || !c->model || !c->B || !c->law || !c->limit || !c->rod) return 0;
    node_columns(c->node, t->node, n);
    columns(c->B, t->B, ns, 4);
    if (m->shell_limit) columns(c->limit, m->shell_limit, ns, 4);
    for (size_t i = 0; i < nr; i++)
        c->rod[i] = abut_rod_stretch_stiffness(m->mat_young[m->rod_mat[i]], m->rod_radius[i], m->rod_length[i]);
    for (size_t i = 0; i < nm && ns; i++) law_put(&t->membrane[i], &c->model[i], c->law + ABUT_PLANE_NUMBERS * i);
    return 1;
}

static size_t of_kind(const abut_codim *t, int kind) { return t->first[kind + 1] - t->first[kind]; }

static abut_status codim_upload(abut_gpu_codim *s, const codim_columns *c, abut_err *err)
{
    const abut_codim *t = s->codim;
    const abut_model *m = t->model;
    const size_t n = s->n, ns = s->shells, nh = of_kind(t, ABUT_CODIM_HINGE), nr = of_kind(t, ABUT_CODIM_ROD);
    const size_t nb = of_kind(t, ABUT_CODIM_BEND), nm = (size_t)m->nm, corners = (size_t)t->inc_first[s->nv];
    const abut_buffer_row all[] = { { &s->node, c->node, 4 * n, sizeof *c->node },
                                    { &s->material, m->shell_mat, ns, sizeof *m->shell_mat },
                                    { &s->model, c->model, nm, sizeof *c->model },
                                    { &s->B, c->B, 4 * ns, sizeof *c->B },
                                    { &s->limit, c->limit, m->shell_limit ? 4 * ns : 0, sizeof *c->limit },
                                    { &s->volume, t->vol, ns, sizeof *t->vol },
                                    { &s->law, c->law, ABUT_PLANE_NUMBERS * nm, sizeof *c->law },
                                    { &s->stiffness, m->hinge_stiffness, nh, sizeof *m->hinge_stiffness },
                                    { &s->angle, m->hinge_angle, nh, sizeof *m->hinge_angle },
                                    { &s->rod_stiffness, c->rod, nr, sizeof *c->rod },
                                    { &s->rod_length, m->rod_length, nr, sizeof *m->rod_length },
                                    { &s->bend_stiffness, m->bend_stiffness, nb, sizeof *m->bend_stiffness },
                                    { &s->first, t->inc_first, s->nv + 1, sizeof *t->inc_first },
                                    { &s->corner, t->inc, corners, sizeof *t->inc } };
    abut_status rc = ABUT_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && !rc; i++)
        if (all[i].n) rc = abut_buffer_put(s->q, all[i].to, "thin elements", all[i].from, all[i].n, all[i].size, err);
    if (!rc && nr) rc = abut_buffer_need(s->q, &s->tension, "tensions", nr, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(s->q, &s->energy, "energies of thin elements", n, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(s->q, &s->force, "forces of thin elements", 12 * n, sizeof(double), err);
    return rc ? rc : abut_buffer_need(s->q, &s->scalar, "thin elements", 1, sizeof(abut_least), err);
}

abut_status abut_gpu_codim_init(abut_gpu_codim *s, abut_queue *q, const abut_codim *thin, abut_err *err)
{
    codim_columns c;
    *s = (abut_gpu_codim){ 0 };
    if (!thin->n) return ABUT_OK;
    *s = (abut_gpu_codim){ .q = q, .codim = thin, .shells = (size_t)thin->model->nsh, .n = thin->n,
                            .nv = (size_t)thin->model->nv, .kappa = ABUT_STRAIN_KAPPA_MIN };
    const abut_status rc = codim_columns_make(thin, &c) ? codim_upload(s, &c, err)
                                                  : abut_fail(err, ABUT_E_NOMEM, "thin elements of a device: %zu", thin->n);
    ABUT_FREE(c.node, c.model, c.B, c.law, c.limit, c.rod);
    if (rc) abut_gpu_codim_clear(s);
    return rc;
}

static abut_codim_args codim_args(const abut_gpu_codim *s, const double *x)
{
    return (abut_codim_args){ .node = s->node.at, .material = s->material.at, .model = s->model.at, .B = s->B.at,
                              .volume = s->volume.at, .law = s->law.at, .stiffness = s->stiffness.at, .angle = s->angle.at,
                              .x = x, .energy = s->energy.at, .force = s->force.at, .limit = s->limit.at, .kappa = s->kappa,
                              .k = abut_strain_stiffening(s->kappa), .shells = s->shells, .n = s->n,
                             .rods = s->codim->first[ABUT_CODIM_ROD], .bends = s->codim->first[ABUT_CODIM_BEND],
                             .rod_stiffness = s->rod_stiffness.at, .rod_length = s->rod_length.at,
                             .bend_stiffness = s->bend_stiffness.at };
}

/* A kernel of each kind of elements. */
typedef abut_status (*kernel)(abut_queue *, const abut_codim_args *, size_t, abut_err *);

static abut_status run_all(abut_gpu_codim *s, const kernel of[ABUT_CODIM_KINDS], const abut_codim_args *a, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int k = 0; k < ABUT_CODIM_KINDS && !rc; k++) {
        const size_t n = of_kind(s->codim, k);
        if (n) rc = of[k](s->q, a, n, err);
    }
    return rc;
}

static abut_status codim_forces(abut_gpu_codim *s, const double *x, abut_err *err)
{
    const abut_machine *on = s->q->on;
    const kernel of[ABUT_CODIM_KINDS] = { on->shell_energy, on->hinge_energy, on->rod_energy, on->bend_energy };
    const abut_codim_args a = codim_args(s, x);
    return run_all(s, of, &a, err);
}

abut_status abut_gpu_codim_energy(abut_gpu_codim *s, const double *z, double *out, abut_err *err)
{
    if (!s->n) return ABUT_OK;
    const abut_status rc = codim_forces(s, z, err);
    return rc ? rc : s->q->on->sum(s->q, s->energy.at, s->n, out, err);
}

abut_status abut_gpu_codim_gradient(abut_gpu_codim *s, const double *z, double scale, double *g, abut_err *err)
{
    if (!s->n) return ABUT_OK;
    const abut_status rc = z ? codim_forces(s, z, err) : ABUT_OK;
    return rc ? rc : add_forces(s->q, &s->first, &s->corner, &s->force, scale, g, s->nv, err);
}

static abut_status codim_hessians(abut_gpu_codim *s, const abut_codim_args *a, abut_err *err)
{
    const abut_machine *on = s->q->on;
    const kernel of[ABUT_CODIM_KINDS] = { on->shell_hessian, on->hinge_hessian, on->rod_hessian, on->bend_hessian };
    return run_all(s, of, a, err);
}

abut_status abut_gpu_codim_hessian(abut_gpu_codim *s, const double *z, double scale, int ahead, abut_err *err)
{
    if (!s->n) return ABUT_OK;
    const abut_status rc = abut_buffer_need(s->q, &s->H, "matrices of thin elements", 90 * s->n, sizeof(double), err);
    abut_codim_args a = codim_args(s, z);
    a.scale = scale;
    a.H = s->H.at;
    a.tension = ahead ? s->tension.at : NULL;
    return rc ? rc : codim_hessians(s, &a, err);
}

abut_status abut_gpu_codim_forecast_start(abut_gpu_codim *s, const double *z, abut_err *err)
{
    if (!s->tension.at) return ABUT_OK;
    abut_codim_args a = codim_args(s, z);
    a.tension = s->tension.at;
    return ABUT_RUN(s->q, rod_tension, &a, of_kind(s->codim, ABUT_CODIM_ROD), err);
}

abut_status abut_gpu_codim_forecast_step(abut_gpu_codim *s, const double *z, const double *x0, const double *x1, double reach,
                                         double taken, abut_err *err)
{
    if (!s->tension.at) return ABUT_OK;
    abut_codim_args a = codim_args(s, z);
    a.tension = s->tension.at;
    a.from = x0;
    a.to = x1;
    a.reach = reach;
    a.taken = taken;
    return ABUT_RUN(s->q, rod_forecast, &a, of_kind(s->codim, ABUT_CODIM_ROD), err);
}

abut_status abut_gpu_codim_forecast_is_fair(abut_gpu_codim *s, const double *z, const double *mass, double inertia, double weight,
                                            int *fair, abut_err *err)
{
    const size_t n = s->tension.at ? of_kind(s->codim, ABUT_CODIM_ROD) : 0;
    abut_least least;
    *fair = 1;
    if (!n) return ABUT_OK;
    abut_codim_args a = codim_args(s, z);
    a.tension = s->tension.at;
    a.mass = mass;
    a.inertia = inertia;
    a.weight = weight;
    a.bound = s->energy.at;
    abut_status rc = ABUT_RUN(s->q, rod_fairness, &a, n, err);
    if (!rc) rc = abut_least_get(s->q, s->energy.at, n, s->scalar.at, &least, err);
    *fair = !rc && !(least.value < 0);
    return rc;
}

abut_status abut_gpu_codim_bound(abut_gpu_codim *s, const double *x, const double *p, double slack, abut_limit *lim,
                                  abut_err *err)
{
    abut_least least;
    if (!s->shells) return ABUT_OK;
    abut_codim_args a = codim_args(s, x);
    a.p = p;
    a.slack = slack;
    a.bound = s->energy.at;
    abut_status rc = ABUT_RUN(s->q, shell_bound, &a, s->shells, err);
    if (!rc) rc = abut_least_get(s->q, s->energy.at, s->shells, s->scalar.at, &least, err);
    if (rc || !(least.value < lim->alpha)) return rc;
    *lim = (abut_limit){ .alpha = least.value, .kind = ABUT_LIMIT_STRETCH, .tet = (int32_t)least.number, .node = { [3] = -1 } };
    memcpy(lim->node, s->codim->model->shell + 3 * least.number, 3 * sizeof *lim->node);
    return ABUT_OK;
}

abut_status abut_gpu_codim_room(abut_gpu_codim *s, const double *x, double *room, abut_err *err)
{
    abut_least least = { .value = 1 };
    *room = 1;
    if (!s->shells) return ABUT_OK;
    abut_codim_args a = codim_args(s, x);
    a.bound = s->energy.at;
    abut_status rc = ABUT_RUN(s->q, shell_room, &a, s->shells, err);
    if (!rc) rc = abut_least_get(s->q, s->energy.at, s->shells, s->scalar.at, &least, err);
    *room = least.value;
    return rc;
}

/* ---- springs and attachments ---- */

typedef struct abut_gpu_tie_set tie_set;

void abut_gpu_ties_clear(abut_gpu_ties *t)
{
    for (tie_set *s = t->set; s < t->set + ABUT_GPU_TIES; s++)
        ABUT_BUFFERS_CLEAR(t->q, &s->node, &s->weight, &s->offset, &s->stiffness, &s->length, &s->first, &s->corner, &s->energy,
                           &s->force, &s->H);
    *t = (abut_gpu_ties){ 0 };
}

static abut_status put_corners(abut_queue *q, tie_set *s, const int32_t *node, int32_t nv, abut_err *err)
{
    const size_t corners = (size_t)s->corners * s->n;
    int32_t *first = malloc(((size_t)nv + 1) * sizeof *first), *corner = malloc(corners * sizeof *corner + 1);
    abut_status rc = first && corner ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "springs of a device: %zu corners", corners);
    if (!rc) {
        abut_list_groups(node, corners, nv, first, corner);
        rc = abut_buffer_put(q, &s->first, "springs", first, (size_t)nv + 1, sizeof *first, err);
    }
    if (!rc) rc = abut_buffer_put(q, &s->corner, "springs", corner, (size_t)first[nv], sizeof *corner, err);
    ABUT_FREE(first, corner);
    return rc;
}

static abut_status bring(abut_queue *q, tie_set *s, const int32_t *node, const double *stiffness, int32_t nv, abut_err *err)
{
    const size_t n = s->n, size = (size_t)s->corners;
    const abut_status rc = ABUT_BUFFERS(q, "springs", err, { &s->node, node, size * n, sizeof *node },
                                        { &s->stiffness, stiffness, n, sizeof *stiffness },
                                        { &s->energy, NULL, n, sizeof(double) },
                                        { &s->force, NULL, 3 * size * n, sizeof(double) });
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

static abut_tie_args tie_args(const tie_set *s, const double *x)
{
    return (abut_tie_args){ .node = s->node.at, .weight = s->weight.at, .offset = s->offset.at, .stiffness = s->stiffness.at,
                            .length = s->length.at, .x = x, .energy = s->energy.at, .force = s->force.at, .H = s->H.at };
}

static abut_status tie_forces(abut_gpu_ties *t, int set, const double *x, abut_err *err)
{
    const tie_set *s = &t->set[set];
    const abut_tie_args a = tie_args(s, x);
    return set == ABUT_GPU_SPRINGS ? ABUT_RUN(t->q, spring_energy, &a, s->n, err) : ABUT_RUN(t->q, tie_energy, &a, s->n, err);
}

abut_status abut_gpu_ties_energy(abut_gpu_ties *t, const double *z, double *out, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int k = 0; k < ABUT_GPU_TIES && !rc; k++) {
        const tie_set *s = &t->set[k];
        if (!s->n) continue;
        rc = tie_forces(t, k, z, err);
        if (!rc) rc = t->q->on->sum(t->q, s->energy.at, s->n, out + k, err);
    }
    return rc;
}

abut_status abut_gpu_ties_gradient(abut_gpu_ties *t, const double *z, double scale, double *g, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int k = 0; k < ABUT_GPU_TIES && !rc; k++) {
        const tie_set *s = &t->set[k];
        if (!s->n) continue;
        if (z) rc = tie_forces(t, k, z, err);
        if (!rc) rc = add_forces(t->q, &s->first, &s->corner, &s->force, scale, g, (size_t)t->model->nv, err);
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
        abut_tie_args a = tie_args(s, z);
        a.scale = scale;
        if (!rc) rc = k == ABUT_GPU_SPRINGS ? ABUT_RUN(t->q, spring_hessian, &a, s->n, err)
                                            : ABUT_RUN(t->q, tie_hessian, &a, s->n, err);
    }
    return rc;
}

/* ---- damping ---- */

void abut_gpu_damping_init(abut_gpu_damping *p, abut_queue *q, const abut_damping *d, abut_gpu_tets *t, abut_gpu_codim *codim,
                           const double *mass)
{
    *p = (abut_gpu_damping){ .q = q, .of = d, .tets = t, .codim = codim, .mass = mass };
}

void abut_gpu_damping_clear(abut_gpu_damping *p)
{
    ABUT_BUFFERS_CLEAR(p->q, &p->K, &p->codim_K, &p->energy, &p->force);
    *p = (abut_gpu_damping){ 0 };
}

/* H[90 n] = Hessians for damping: with the tensions at z, and without the stiffening by bounds. */
static abut_status codim_frozen(abut_gpu_codim *s, const double *z, double scale, double *H, abut_err *err)
{
    abut_codim_args a = codim_args(s, z);
    a.scale = scale;
    a.H = H;
    a.kappa = a.k = 0;
    return codim_hessians(s, &a, err);
}

/* Elements with matrices: their nodes, the corners at each node. */
typedef struct damped {
    size_t n;
    const abut_buffer *node, *first, *corner, *K;
} damped;

static void both_sets(const abut_gpu_damping *p, damped set[2])
{
    const abut_gpu_tets *t = p->tets;
    const abut_gpu_codim *c = p->codim;
    set[0] = (damped){ p->K.at ? t->nt : 0, &t->node, &t->first, &t->corner, &p->K };
    set[1] = (damped){ p->codim_K.at ? c->n : 0, &c->node, &c->first, &c->corner, &p->codim_K };
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
    if (!rc && nt) rc = gpu_tets_hessian(p->tets, x0, scale, p->K.at, err);
    if (!rc && n) rc = abut_buffer_need(q, &p->codim_K, "damping of thin elements", ABUT_PACKED * n, sizeof(double), err);
    if (!rc && n) rc = codim_frozen(p->codim, x0, scale, p->codim_K.at, err);
    return rc;
}

static abut_status damping_forces(abut_gpu_damping *p, const damped *s, const double *x, abut_err *err)
{
    const abut_damp_args a = { .node = s->node->at, .K = s->K->at, .x = x, .from = p->from, .energy = p->energy.at,
                               .force = p->force.at, .n = s->n };
    return ABUT_RUN(p->q, damp_element, &a, s->n, err);
}

static abut_damp_args damped_nodes(const abut_gpu_damping *p, const double *x, double *out)
{
    return (abut_damp_args){ .mass = p->mass, .x = x, .from = p->from, .energy = p->energy.at, .out = out, .rate = p->rate };
}

abut_status abut_gpu_damping_energy(abut_gpu_damping *p, const double *x, double *out, abut_err *err)
{
    damped set[2];
    abut_status rc = ABUT_OK;
    if (!p->of) return ABUT_OK;
    const abut_damp_args a = damped_nodes(p, x, NULL);
    if (p->rate > 0) rc = ABUT_RUN(p->q, damp_node, &a, p->tets->nv, err);
    if (!rc && p->rate > 0) rc = p->q->on->sum(p->q, p->energy.at, p->tets->nv, out + ABUT_GPU_DAMP_MASS, err);
    both_sets(p, set);
    for (int k = 0; k < 2 && !rc; k++) {
        if (!set[k].n) continue;
        rc = damping_forces(p, &set[k], x, err);
        if (!rc) rc = p->q->on->sum(p->q, p->energy.at, set[k].n, out + ABUT_GPU_DAMP_TETS + k, err);
    }
    return rc;
}

abut_status abut_gpu_damping_gradient(abut_gpu_damping *p, const double *x, double *g, abut_err *err)
{
    damped set[2];
    abut_status rc = ABUT_OK;
    if (!p->of) return ABUT_OK;
    const abut_damp_args a = damped_nodes(p, x, g);
    if (p->rate > 0) rc = ABUT_RUN(p->q, damp_push, &a, p->tets->nv, err);
    both_sets(p, set);
    for (int k = 0; k < 2 && !rc; k++) {
        if (!set[k].n) continue;
        rc = damping_forces(p, &set[k], x, err);
        if (!rc) rc = add_forces(p->q, set[k].first, set[k].corner, &p->force, 1, g, p->tets->nv, err);
    }
    return rc;
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

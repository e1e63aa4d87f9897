#include "gpu/codim.h"

#include "energy/membrane.h"
#include "energy/membrane_inline.h"
#include "energy/rod.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void abut_gpu_codim_clear(abut_gpu_codim *s)
{
    abut_buffer *const all[] = { &s->node,      &s->material, &s->model, &s->B,      &s->volume, &s->law,   &s->stiffness,
                                 &s->limit,     &s->angle,    &s->first, &s->corner, &s->energy, &s->force, &s->H,
                                 &s->scalar,    &s->rod_stiffness, &s->rod_length, &s->bend_stiffness, &s->tension };
    for (size_t i = 0; i < sizeof all / sizeof *all && s->q; i++) abut_buffer_clear(s->q, all[i]);
    *s = (abut_gpu_codim){ 0 };
}

/* Data of the kernels as structure of arrays: each number of all elements together. */
typedef struct columns {
    int32_t *node, *model;
    double *B, *law, *limit, *rod;
} columns;

static void columns_free(columns *c)
{
    free(c->node);
    free(c->model);
    free(c->B);
    free(c->law);
    free(c->limit);
    free(c->rod);
}

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

static int columns_make(const abut_codim *t, columns *c)
{
    const abut_model *m = t->model;
    const size_t n = t->n, ns = (size_t)m->nsh, nm = (size_t)m->nm, nr = (size_t)m->nrd;
    *c = (columns){ malloc(4 * n * sizeof *c->node + 1), malloc(nm * sizeof *c->model + 1), malloc(4 * ns * sizeof *c->B + 1),
                    malloc(ABUT_PLANE_NUMBERS * nm * sizeof *c->law + 1), malloc(4 * ns * sizeof *c->limit + 1),
                    malloc(nr * sizeof *c->rod + 1) };
    if (!c->node || !c->model || !c->B || !c->law || !c->limit || !c->rod) return 0;
    for (size_t i = 0; i < nr; i++)
        c->rod[i] = abut_rod_stretch_stiffness(m->mat_young[m->rod_mat[i]], m->rod_radius[i], m->rod_length[i]);
    for (size_t e = 0; e < n; e++)
        for (size_t k = 0; k < 4; k++) c->node[k * n + e] = t->node[4 * e + k];
    for (size_t i = 0; i < ns; i++)
        for (size_t k = 0; k < 4; k++) {
            c->B[k * ns + i] = t->B[4 * i + k];
            c->limit[k * ns + i] = m->shell_limit ? m->shell_limit[4 * i + k] : 0;
        }
    for (size_t i = 0; i < nm && ns; i++) law_put(&t->membrane[i], &c->model[i], c->law + ABUT_PLANE_NUMBERS * i);
    return 1;
}

static size_t of_kind(const abut_codim *t, int kind) { return t->first[kind + 1] - t->first[kind]; }

static abut_status upload(abut_gpu_codim *s, const columns *c, abut_err *err)
{
    const abut_codim *t = s->codim;
    const abut_model *m = t->model;
    const size_t n = s->n, ns = s->shells, nh = of_kind(t, ABUT_CODIM_HINGE), nr = of_kind(t, ABUT_CODIM_ROD);
    const size_t nb = of_kind(t, ABUT_CODIM_BEND), nm = (size_t)m->nm, corners = (size_t)t->inc_first[s->nv];
    const struct {
        abut_buffer *to;
        const void *from;
        size_t n, size;
    } all[] = { { &s->node, c->node, 4 * n, sizeof *c->node },
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
    columns c;
    *s = (abut_gpu_codim){ 0 };
    if (!thin->n) return ABUT_OK;
    *s = (abut_gpu_codim){ .q = q, .codim = thin, .shells = (size_t)thin->model->nsh, .n = thin->n,
                            .nv = (size_t)thin->model->nv, .kappa = ABUT_STRAIN_KAPPA_MIN };
    const abut_status rc = columns_make(thin, &c) ? upload(s, &c, err)
                                                  : abut_fail(err, ABUT_E_NOMEM, "thin elements of a device: %zu", thin->n);
    columns_free(&c);
    if (rc) abut_gpu_codim_clear(s);
    return rc;
}

static abut_codim_args args_of(const abut_gpu_codim *s, const double *x)
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

static abut_status forces(abut_gpu_codim *s, const double *x, abut_err *err)
{
    const abut_machine *on = s->q->on;
    const kernel of[ABUT_CODIM_KINDS] = { on->shell_energy, on->hinge_energy, on->rod_energy, on->bend_energy };
    const abut_codim_args a = args_of(s, x);
    return run_all(s, of, &a, err);
}

abut_status abut_gpu_codim_energy(abut_gpu_codim *s, const double *z, double *out, abut_err *err)
{
    if (!s->n) return ABUT_OK;
    const abut_status rc = forces(s, z, err);
    return rc ? rc : s->q->on->sum(s->q, s->energy.at, s->n, out, err);
}

abut_status abut_gpu_codim_gradient(abut_gpu_codim *s, const double *z, double scale, double *g, abut_err *err)
{
    if (!s->n) return ABUT_OK;
    const abut_gather_args a = { s->first.at, s->corner.at, s->force.at, g, scale, 3, 1 };
    const abut_status rc = z ? forces(s, z, err) : ABUT_OK;
    return rc ? rc : ABUT_RUN(s->q, gather, &a, 3 * s->nv, err);
}

static abut_status hessians(abut_gpu_codim *s, const abut_codim_args *a, abut_err *err)
{
    const abut_machine *on = s->q->on;
    const kernel of[ABUT_CODIM_KINDS] = { on->shell_hessian, on->hinge_hessian, on->rod_hessian, on->bend_hessian };
    return run_all(s, of, a, err);
}

abut_status abut_gpu_codim_hessian(abut_gpu_codim *s, const double *z, double scale, int ahead, abut_err *err)
{
    if (!s->n) return ABUT_OK;
    const abut_status rc = abut_buffer_need(s->q, &s->H, "matrices of thin elements", 90 * s->n, sizeof(double), err);
    abut_codim_args a = args_of(s, z);
    a.scale = scale;
    a.H = s->H.at;
    a.tension = ahead ? s->tension.at : NULL;
    return rc ? rc : hessians(s, &a, err);
}

abut_status abut_gpu_codim_frozen(abut_gpu_codim *s, const double *z, double scale, double *H, abut_err *err)
{
    abut_codim_args a = args_of(s, z);
    a.scale = scale;
    a.H = H;
    a.kappa = a.k = 0;
    return hessians(s, &a, err);
}

/* ---- tensions ---- */

abut_status abut_gpu_codim_forecast_start(abut_gpu_codim *s, const double *z, abut_err *err)
{
    if (!s->tension.at) return ABUT_OK;
    abut_codim_args a = args_of(s, z);
    a.tension = s->tension.at;
    return ABUT_RUN(s->q, rod_tension, &a, of_kind(s->codim, ABUT_CODIM_ROD), err);
}

abut_status abut_gpu_codim_forecast_step(abut_gpu_codim *s, const double *z, const double *x0, const double *x1, double reach,
                                         double taken, abut_err *err)
{
    if (!s->tension.at) return ABUT_OK;
    abut_codim_args a = args_of(s, z);
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
    abut_codim_args a = args_of(s, z);
    a.tension = s->tension.at;
    a.mass = mass;
    a.inertia = inertia;
    a.weight = weight;
    a.bound = s->energy.at;
    abut_status rc = ABUT_RUN(s->q, rod_fairness, &a, n, err);
    if (!rc) rc = s->q->on->least(s->q, s->energy.at, n, s->scalar.at, err);
    if (!rc) rc = s->q->on->get(s->q, &least, s->scalar.at, sizeof least, err);
    *fair = !rc && !(least.value < 0);
    return rc;
}

/* ---- bounds ---- */

/* The smallest bound of args a, made by a kernel before. */
static abut_status least_of(abut_gpu_codim *s, abut_least *least, abut_err *err)
{
    const abut_status rc = s->q->on->least(s->q, s->energy.at, s->shells, s->scalar.at, err);
    return rc ? rc : s->q->on->get(s->q, least, s->scalar.at, sizeof *least, err);
}

abut_status abut_gpu_codim_bound(abut_gpu_codim *s, const double *x, const double *p, double slack, abut_limit *lim,
                                  abut_err *err)
{
    abut_least least;
    if (!s->shells) return ABUT_OK;
    abut_codim_args a = args_of(s, x);
    a.p = p;
    a.slack = slack;
    a.bound = s->energy.at;
    abut_status rc = ABUT_RUN(s->q, shell_bound, &a, s->shells, err);
    if (!rc) rc = least_of(s, &least, err);
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
    abut_codim_args a = args_of(s, x);
    a.bound = s->energy.at;
    abut_status rc = ABUT_RUN(s->q, shell_room, &a, s->shells, err);
    if (!rc) rc = least_of(s, &least, err);
    *room = least.value;
    return rc;
}

#include "gpu/shells.h"

#include "energy/membrane_inline.h"
#include "energy/stretch_limit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void abut_gpu_shells_clear(abut_gpu_shells *s)
{
    abut_buffer *const all[] = { &s->node,      &s->material, &s->model, &s->B,      &s->volume, &s->law,   &s->stiffness,
                                 &s->limit,     &s->angle,    &s->first, &s->corner, &s->energy, &s->force, &s->H,
                                 &s->scalar };
    for (size_t i = 0; i < sizeof all / sizeof *all && s->q; i++) abut_buffer_clear(s->q, all[i]);
    *s = (abut_gpu_shells){ 0 };
}

static abut_status check(const abut_codim *t, abut_err *err)
{
    if (t->first[ABUT_CODIM_ROD] != t->n) return abut_fail(err, ABUT_E_FORMAT, "rods, which only --device cpu takes");
    return ABUT_OK;
}

/* What kernels read, one number of all elements after the other. */
typedef struct columns {
    int32_t *node, *model;
    double *B, *law, *limit;
} columns;

static void columns_free(columns *c)
{
    free(c->node);
    free(c->model);
    free(c->B);
    free(c->law);
    free(c->limit);
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
    const size_t n = t->n, ns = (size_t)t->model->nsh, nm = (size_t)t->model->nm;
    *c = (columns){ malloc(4 * n * sizeof *c->node + 1), malloc(nm * sizeof *c->model + 1), malloc(4 * ns * sizeof *c->B + 1),
                    malloc(ABUT_PLANE_NUMBERS * nm * sizeof *c->law + 1), malloc(4 * ns * sizeof *c->limit + 1) };
    if (!c->node || !c->model || !c->B || !c->law || !c->limit) return 0;
    for (size_t e = 0; e < n; e++)
        for (size_t k = 0; k < 4; k++) c->node[k * n + e] = t->node[4 * e + k];
    for (size_t i = 0; i < ns; i++)
        for (size_t k = 0; k < 4; k++) {
            c->B[k * ns + i] = t->B[4 * i + k];
            c->limit[k * ns + i] = t->model->shell_limit ? t->model->shell_limit[4 * i + k] : 0;
        }
    for (size_t i = 0; i < nm; i++) law_put(&t->membrane[i], &c->model[i], c->law + ABUT_PLANE_NUMBERS * i);
    return 1;
}

static abut_status upload(abut_gpu_shells *s, const columns *c, abut_err *err)
{
    const abut_codim *t = s->codim;
    const abut_model *m = t->model;
    const size_t n = s->n, ns = s->shells, nh = n - ns, nm = (size_t)m->nm, corners = (size_t)t->inc_first[s->nv];
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
                { &s->first, t->inc_first, s->nv + 1, sizeof *t->inc_first },
                { &s->corner, t->inc, corners, sizeof *t->inc } };
    abut_status rc = ABUT_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && !rc; i++)
        if (all[i].n) rc = abut_buffer_put(s->q, all[i].to, "shells", all[i].from, all[i].n, all[i].size, err);
    if (!rc) rc = abut_buffer_need(s->q, &s->energy, "shell energies", n, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(s->q, &s->force, "shell forces", 12 * n, sizeof(double), err);
    return rc ? rc : abut_buffer_need(s->q, &s->scalar, "shells", 1, sizeof(abut_least), err);
}

abut_status abut_gpu_shells_init(abut_gpu_shells *s, abut_queue *q, const abut_codim *thin, abut_err *err)
{
    columns c;
    *s = (abut_gpu_shells){ 0 };
    if (!thin->n) return ABUT_OK;
    *s = (abut_gpu_shells){ .q = q, .codim = thin, .shells = (size_t)thin->model->nsh, .n = thin->n,
                            .nv = (size_t)thin->model->nv, .kappa = ABUT_STRAIN_KAPPA_MIN };
    abut_status rc = check(thin, err);
    if (!rc) {
        rc = columns_make(thin, &c) ? upload(s, &c, err)
                                    : abut_fail(err, ABUT_E_NOMEM, "shells of a device: %zu elements", thin->n);
        columns_free(&c);
    }
    if (rc) abut_gpu_shells_clear(s);
    return rc;
}

static abut_shell_args args_of(const abut_gpu_shells *s, const double *x)
{
    return (abut_shell_args){ .node = s->node.at, .material = s->material.at, .model = s->model.at, .B = s->B.at,
                              .volume = s->volume.at, .law = s->law.at, .stiffness = s->stiffness.at, .angle = s->angle.at,
                              .x = x, .energy = s->energy.at, .force = s->force.at, .limit = s->limit.at, .kappa = s->kappa,
                              .k = abut_strain_stiffening(s->kappa), .shells = s->shells, .n = s->n };
}

static abut_status forces(abut_gpu_shells *s, const double *x, abut_err *err)
{
    const abut_shell_args a = args_of(s, x);
    const abut_status rc = ABUT_RUN(s->q, shell_energy, &a, s->shells, err);
    return rc ? rc : ABUT_RUN(s->q, hinge_energy, &a, s->n - s->shells, err);
}

abut_status abut_gpu_shells_energy(abut_gpu_shells *s, const double *z, double *out, abut_err *err)
{
    if (!s->n) return ABUT_OK;
    const abut_status rc = forces(s, z, err);
    return rc ? rc : s->q->on->sum(s->q, s->energy.at, s->n, out, err);
}

abut_status abut_gpu_shells_gradient(abut_gpu_shells *s, const double *z, double scale, double *g, abut_err *err)
{
    if (!s->n) return ABUT_OK;
    const abut_gather_args a = { s->first.at, s->corner.at, s->force.at, g, scale, 3, 1 };
    const abut_status rc = z ? forces(s, z, err) : ABUT_OK;
    return rc ? rc : ABUT_RUN(s->q, gather, &a, 3 * s->nv, err);
}

abut_status abut_gpu_shells_hessian(abut_gpu_shells *s, const double *z, double scale, abut_err *err)
{
    if (!s->n) return ABUT_OK;
    abut_status rc = abut_buffer_need(s->q, &s->H, "shell matrices", 90 * s->n, sizeof(double), err);
    abut_shell_args a = args_of(s, z);
    a.scale = scale;
    a.H = s->H.at;
    if (!rc) rc = ABUT_RUN(s->q, shell_hessian, &a, s->shells, err);
    return rc ? rc : ABUT_RUN(s->q, hinge_hessian, &a, s->n - s->shells, err);
}

/* The smallest bound of args a, made by a kernel before. */
static abut_status least_of(abut_gpu_shells *s, abut_least *least, abut_err *err)
{
    const abut_status rc = s->q->on->least(s->q, s->energy.at, s->shells, s->scalar.at, err);
    return rc ? rc : s->q->on->get(s->q, least, s->scalar.at, sizeof *least, err);
}

abut_status abut_gpu_shells_bound(abut_gpu_shells *s, const double *x, const double *p, double slack, abut_limit *lim,
                                  abut_err *err)
{
    abut_shell_args a = args_of(s, x);
    abut_least least;
    if (!s->shells) return ABUT_OK;
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

abut_status abut_gpu_shells_room(abut_gpu_shells *s, const double *x, double *room, abut_err *err)
{
    abut_shell_args a = args_of(s, x);
    abut_least least = { .value = 1 };
    a.bound = s->energy.at;
    abut_status rc = s->shells ? ABUT_RUN(s->q, shell_room, &a, s->shells, err) : ABUT_OK;
    if (!rc && s->shells) rc = least_of(s, &least, err);
    *room = least.value;
    return rc;
}

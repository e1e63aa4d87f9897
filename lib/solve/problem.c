#include "solve/problem.h"

#include "base/par.h"
#include "energy/attachment.h"
#include "energy/rod.h"
#include "energy/stretch_limit.h"
#include "sparse/packed_lanes.h"
#include "model/contact_check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

abut_status abut_problem_init(abut_problem *p, const abut_model *model, abut_err *err)
{
    *p = (abut_problem){ .model = model };
    abut_status rc = abut_elastic_check(model, err);    /* names tets as they were given */
    if (!rc) rc = abut_contact_check(model, 1, err);
    if (!rc) rc = abut_reordered_new(&p->reordered, model, err);
    if (!rc) p->model = model = &p->reordered->model;
    if (!rc) rc = abut_collmesh_init(&p->cm, model, err);
    if (!rc) rc = abut_elastic_init(&p->elastic, model, err);
    if (!rc) rc = abut_springs_init(&p->springs, model, err);
    if (!rc) rc = abut_codim_init(&p->codim, model, err);
    if (!rc) rc = abut_air_init(&p->air, model, err);
    if (!rc) rc = abut_damping_init(&p->damping, model, &p->codim, err);
    if (rc) goto fail;

    const size_t nv = (size_t)model->nv, n3 = 3 * nv;
    p->obstacle = p->cm.obstacle;
    p->xn = calloc(n3, sizeof(double));
    p->xhat = calloc(n3, sizeof(double));
    p->target = calloc(n3, sizeof(double));
    p->al.lam = calloc(n3, sizeof(double));
    p->still = calloc(n3, sizeof(double));
    p->z = calloc(n3, sizeof(double));
    p->memo = calloc(1, sizeof *p->memo);
    p->tension = calloc((size_t)model->nrd + 1, sizeof(double));
    p->held = calloc(nv, 1);
    p->row = calloc(nv, sizeof(int32_t));
    if (!p->xn || !p->xhat || !p->target || !p->al.lam || !p->still || !p->z || !p->memo ||
        !p->tension || !p->held || !p->row) {
        rc = abut_fail(err, ABUT_E_NOMEM, "step: %d nodes", model->nv);
        goto fail;
    }

    /* psi of a stiff element at rest is a difference of numbers of the size of its moduli */
    abut_acc sum = { 0, 0 };
    for (int32_t t = 0; t < model->nt; t++)
        abut_acc_add(&sum, p->elastic.vol[t] * (p->elastic.lame[2 * t] + p->elastic.lame[2 * t + 1]));
    for (int32_t i = 0; i < model->nsp; i++)
        abut_acc_add(&sum, model->spring_stiffness[i] * model->spring_length[i] * model->spring_length[i]);
    p->stiffness = sum.hi + sum.lo + abut_codim_stiffness(&p->codim);
    p->strain_kappa = ABUT_STRAIN_KAPPA_MIN;
    p->w = abut_integrator_weights(model, ABUT_IMPLICIT_EULER);
    return ABUT_OK;
fail:
    abut_problem_clear(p);
    return rc;
}

void abut_problem_clear(abut_problem *p)
{
    abut_collmesh_clear(&p->cm);
    abut_elastic_clear(&p->elastic);
    abut_springs_clear(&p->springs);
    abut_codim_clear(&p->codim);
    abut_air_clear(&p->air);
    abut_damping_clear(&p->damping);
    abut_lag_clear(&p->lag);
    free(p->xn);
    free(p->xhat);
    free(p->target);
    free(p->al.lam);
    free(p->still);
    free(p->z);
    if (p->memo) abut_elastic_memo_clear(p->memo);
    free(p->memo);
    free(p->tension);
    free(p->held);
    free(p->row);
    abut_reordered_free(&p->reordered);   /* last: the others borrow it */
    *p = (abut_problem){ 0 };
}

int32_t abut_problem_tet_number(const abut_problem *p, int32_t t)
{
    const abut_model *m = p->model;
    const int32_t *number = p->reordered->number, object = m->body[m->tet[4 * (size_t)t]];
    int32_t before = 0;
    for (int32_t i = 0; i < m->nt; i++) before += number[i] < number[t] && m->body[m->tet[4 * (size_t)i]] == object;
    return before;
}

void abut_problem_number(abut_problem *p)
{
    p->nrow = 0;
    p->changes++;
    for (int32_t k = 0; k < p->model->nv; k++) {
        const int32_t i = p->reordered->node[k];
        p->row[i] = p->held[i] && !p->al.on ? -1 : p->nrow++;
    }
}

/* 1/2 m |x - xhat|^2 of a free node, and without inertia the work of its load, which is the part of that linear in x */
static double free_node_energy(const abut_problem *p, const double *x, int32_t i)
{
    double sum = 0;
    for (int k = 3 * i; k < 3 * i + 3; k++)
        sum += p->w.inertia ? 0.5 * ((x[k] - p->xhat[k]) * (x[k] - p->xhat[k])) : (p->xn[k] - p->xhat[k]) * (x[k] - p->xn[k]);
    return p->model->mass[i] * sum;
}

/* the inertia of the free nodes of r; of prescribed ones on their way the augmented Lagrangian (App. E, eq. 4) */
static void block_energy(const abut_problem *p, const double *x, abut_range r, double *sum_inertia, double *sum_al)
{
    abut_acc inertia = { 0, 0 }, al = { 0, 0 };
    for (int32_t i = (int32_t)r.lo; i < (int32_t)r.hi; i++) {
        const double m = p->model->mass[i];
        if (!p->held[i]) {
            abut_acc_add(&inertia, free_node_energy(p, x, i));
        } else if (p->al.on) {
            double d2 = 0, ld = 0;
            for (int k = 3 * i; k < 3 * i + 3; k++) {
                const double d = x[k] - p->target[k];
                d2 += d * d;
                ld += p->al.lam[k] * d;
            }
            abut_acc_add(&al, 0.5 * p->al.kap * m * d2 - sqrt(m) * ld);
        }
    }
    *sum_inertia = inertia.hi + inertia.lo;
    *sum_al = al.hi + al.lo;
}

static abut_status nodal_energy(const abut_problem *p, const double *x, abut_energy *e, abut_arena *scratch, abut_err *err)
{
    const size_t nv = (size_t)p->model->nv, nb = abut_blocks(nv);
    const abut_mark mark = abut_arena_mark(scratch);
    double *inertia = ABUT_ROOM(scratch, double, nb + 1), *al = ABUT_ROOM(scratch, double, nb + 1);
    if (!inertia || !al) return abut_fail(err, ABUT_E_NOMEM, "energy of nodes: %zu partial sums", 2 * nb);
    #pragma omp parallel for schedule(static) if (nv >= ABUT_PAR_MIN)
    for (size_t b = 0; b < nb; b++) block_energy(p, x, abut_block(nv, b), &inertia[b], &al[b]);
    e->inertia = abut_sum(inertia, nb);
    e->lagrangian = abut_sum(al, nb);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

abut_stiction abut_problem_stiction(const abut_problem *p)
{
    return (abut_stiction){ p->w.h_force, p->w.eps_v, p->model->smoothing ? p->model->smoothing[0] : ABUT_FRICTION_C1 };
}

const double *abut_problem_elastic_point(const abut_problem *p, const double *x)
{
    if (p->w.share == 1) return x;
    for (int32_t i = 0; i < 3 * p->model->nv; i++) p->z[i] = p->xn[i] + p->w.share * (x[i] - p->xn[i]);
    return p->z;
}

/* what a force in newtons weighs in the gradient */
static double force_scale(const abut_problem *p) { return p->w.h_force * p->w.h_force; }

static abut_status tet_energy(const abut_problem *p, const double *z, double *sum, abut_arena *scratch, abut_err *err)
{
    const abut_status rc = abut_elastic_recall(&p->elastic, z, p->memo, scratch, err);
    if (!rc) *sum = p->memo->energy;
    return rc;
}

/* terms of thin elements that are taken at the elastic point, and whether others are at the iterate, weighed by h_force^2 */
static int parts_there(const abut_problem *p) { return p->w.share == 1 ? ABUT_CODIM_ALL : ABUT_CODIM_ELASTIC; }
static int parts_here(const abut_problem *p) { return p->w.share < 1 && p->codim.bounded; }

static abut_status codim_energy(const abut_problem *p, const double *x, double *sum, abut_arena *scratch, abut_err *err)
{
    double there = 0, here = 0;
    abut_status rc = ABUT_OK;
    if (p->codim.n)
        rc = abut_codim_energy(&p->codim, abut_problem_elastic_point(p, x), parts_there(p), p->strain_kappa, &there, scratch,
                               err);
    if (!rc && parts_here(p)) rc = abut_codim_energy(&p->codim, x, ABUT_CODIM_BOUNDED, p->strain_kappa, &here, scratch, err);
    *sum = p->w.psi * there + force_scale(p) * here;
    return rc;
}

void abut_problem_codim_hessian(const abut_problem *p, const double *x, const double *tension, double *H)
{
    const double share = p->w.share, *z = abut_problem_elastic_point(p, x);
    abut_codim_hessian_ahead(&p->codim, z, parts_there(p), p->strain_kappa, p->w.psi * share * share, tension, H);
    if (parts_here(p)) abut_codim_hessian(&p->codim, x, ABUT_CODIM_BOUNDED, p->strain_kappa, force_scale(p), H);
    abut_air_hessian(&p->air, z, p->w.psi * share * share, H);
    if (abut_problem_drags(p))
        abut_air_drag_hessian(&p->air, x, abut_problem_undamped(p), abut_problem_damped_time(p), force_scale(p), H);
}

void abut_problem_tension(abut_problem *p, const double *x)
{
    if (p->model->nrd) abut_codim_tension(&p->codim, abut_problem_elastic_point(p, x), p->tension);
}

void abut_problem_tension_forecast(abut_problem *p, const double *x, const double *to, double alpha)
{
    const double *z = abut_problem_elastic_point(p, x);
    if (p->model->nrd) abut_codim_tension_forecast(&p->codim, z, x, to, p->w.share, fmin(alpha, 1), p->tension);
}

abut_status abut_problem_turn(const abut_problem *p, const double *x, const double *d, const double *meant, const double *H,
                              double *g, double *cost, abut_arena *scratch, abut_err *err)
{
    return abut_codim_turn(&p->codim, abut_problem_elastic_point(p, x), d, meant, p->w.share, H, g, cost, scratch, err);
}

int abut_problem_tension_fair(const abut_problem *p, const double *x)
{
    const abut_model *m = p->model;
    const double *z = abut_problem_elastic_point(p, x), scale = p->w.psi * p->w.share * p->w.share;
    for (int32_t i = 0; i < m->nrd; i++) {
        const int32_t *v = m->rod + 2 * (size_t)i;
        const double l = m->rod_length[i], *a = z + 3 * (size_t)v[0], *b = z + 3 * (size_t)v[1];
        const double x6[6] = { a[0], a[1], a[2], b[0], b[1], b[2] };
        const double w = abut_rod_stretch_stiffness(m->mat_young[m->rod_mat[i]], m->rod_radius[i], l);
        const double inertia = p->w.inertia * fmin(m->mass[v[0]], m->mass[v[1]]) * l / scale;
        if (p->tension[i] > 2 * fmax(0, abut_rod_tension(w, l, x6)) + inertia) return 0;
    }
    return 1;
}

abut_status abut_problem_potential(const abut_problem *p, const double *x, double *psi, abut_arena *scratch, abut_err *err)
{
    double springs = 0, thin = 0;
    abut_status rc = tet_energy(p, x, psi, scratch, err);
    if (!rc && p->model->nsp) rc = abut_spring_energy(&p->springs, x, &springs, scratch, err);
    if (!rc) rc = abut_codim_energy(&p->codim, x, ABUT_CODIM_ALL, p->strain_kappa, &thin, scratch, err);
    if (!rc) *psi += abut_attachment_energy(p->model, x) + springs + thin + abut_air_energy(&p->air, x);
    return rc;
}

abut_status abut_problem_potential_gradient(const abut_problem *p, const double *x, double scale, double *g, abut_arena *scratch,
                                            abut_err *err)
{
    const double *z = abut_problem_elastic_point(p, x);
    abut_status rc = abut_elastic_recall(&p->elastic, z, p->memo, scratch, err);
    if (!rc) abut_elastic_gather(&p->elastic, p->memo->f, scale, g);
    if (!rc) abut_spring_gradient(&p->springs, z, scale, g);
    if (!rc) abut_attachment_gradient(p->model, z, scale, g);
    if (!rc) abut_air_gradient(&p->air, z, scale, g);
    if (!rc) rc = abut_codim_gradient(&p->codim, z, parts_there(p), p->strain_kappa, scale, g, scratch, err);
    if (!rc && parts_here(p)) rc = abut_codim_gradient(&p->codim, x, ABUT_CODIM_BOUNDED, p->strain_kappa, scale, g, scratch, err);
    return rc;
}

const double *abut_problem_undamped(const abut_problem *p)
{
    return p->w.share < 1 ? p->xn : p->still;
}

double abut_problem_damped_time(const abut_problem *p) { return force_scale(p) / p->w.damping; }

int abut_problem_drags(const abut_problem *p) { return p->air.drags && p->w.inertia; }

abut_status abut_problem_energy(const abut_problem *p, const double *x, const double *y, const abut_pairs *pairs,
                                abut_energy *e, abut_arena *scratch, abut_err *err)
{
    double psi = 0;
    abut_energy out = { 0 };
    const abut_stiction law = abut_problem_stiction(p);
    abut_status rc = tet_energy(p, abut_problem_elastic_point(p, x), &psi, scratch, err);
    if (!rc && p->model->nsp)
        rc = abut_spring_energy(&p->springs, abut_problem_elastic_point(p, x), &out.spring, scratch, err);
    if (!rc) rc = codim_energy(p, x, &out.codim, scratch, err);
    if (!rc) rc = abut_barrier_energy(&p->cm, pairs, y, p->kappa, &out.barrier, scratch, err);
    if (!rc) rc = abut_friction_energy(&p->lag, &law, x, p->still, &out.friction, scratch, err);
    if (!rc && abut_damping_acts(&p->damping))
        rc = abut_damping_energy(&p->damping, &p->elastic, &p->codim, x, abut_problem_undamped(p), p->w.damping, &out.damping,
                                 scratch, err);
    if (rc) return rc;
    out.elastic = p->w.psi * psi;
    out.spring *= p->w.psi;
    if (p->air.presses) out.pressure = p->w.psi * abut_air_energy(&p->air, abut_problem_elastic_point(p, x));
    if (abut_problem_drags(p))
        out.drag = force_scale(p) * abut_air_drag_energy(&p->air, x, abut_problem_undamped(p), abut_problem_damped_time(p));
    if (p->model->na) out.attachment = p->w.psi * abut_attachment_energy(p->model, abut_problem_elastic_point(p, x));
    rc = nodal_energy(p, x, &out, scratch, err);
    if (!rc) *e = out;
    return rc;
}

double abut_energy_sum(const abut_energy *e)
{
    return abut_sum((const double[]){ e->inertia, e->elastic, e->barrier, e->friction, e->lagrangian, e->damping,
                                     e->attachment, e->spring, e->codim, e->pressure, e->drag }, 11);
}

double abut_energy_noise(const abut_problem *p, const abut_energy *e)
{
    return 4 * DBL_EPSILON * (p->w.psi * p->stiffness + fabs(e->inertia) + fabs(e->elastic) + fabs(e->barrier) +
                              fabs(e->friction) +
                              fabs(e->lagrangian) + e->damping + e->attachment + e->spring + fabs(e->codim) +
                              fabs(e->pressure) + e->drag);
}

static void nodal_gradient(const abut_problem *p, const double *x, double *g)
{
    #pragma omp parallel for schedule(static) if ((size_t)p->model->nv >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < p->model->nv; i++) {
        const double m = p->model->mass[i];
        for (int k = 3 * i; k < 3 * i + 3; k++) {
            if (!p->held[i])
                g[k] += m * ((p->w.inertia ? x[k] : p->xn[k]) - p->xhat[k]);
            else if (p->al.on)
                g[k] += p->al.kap * m * (x[k] - p->target[k]) - sqrt(m) * p->al.lam[k];
        }
    }
}

abut_status abut_problem_gradient(const abut_problem *p, const double *x, const double *y, const abut_pairs *pairs,
                                  int terms, double *g, abut_arena *scratch, abut_err *err)
{
    const abut_model *m = p->model;
    abut_status rc = ABUT_OK;
    memset(g, 0, 3 * (size_t)m->nv * sizeof *g);
    if (terms & ABUT_TERM_SMOOTH) {
        const abut_stiction law = abut_problem_stiction(p);
        nodal_gradient(p, x, g);
        rc = abut_problem_potential_gradient(p, x, p->w.psi * p->w.share, g, scratch, err);
        if (!rc) rc = abut_friction_gradient(&p->lag, &law, m->nv, x, p->still, g, scratch, err);
        if (!rc && abut_damping_acts(&p->damping))
            rc = abut_damping_gradient(&p->damping, &p->elastic, &p->codim, x, abut_problem_undamped(p), p->w.damping, g, scratch,
                                       err);
        if (!rc && abut_problem_drags(p))
            abut_air_drag_gradient(&p->air, x, abut_problem_undamped(p), abut_problem_damped_time(p), force_scale(p), g);
    }
    if (!rc && (terms & ABUT_TERM_BARRIER)) rc = abut_barrier_gradient(&p->cm, pairs, y, p->kappa, g, scratch, err);
    if (rc) return rc;
    #pragma omp parallel for schedule(static) if ((size_t)m->nv >= 8 * ABUT_PAR_MIN)
    for (int32_t i = 0; i < m->nv; i++)
        if (p->row[i] < 0) g[3 * i] = g[3 * i + 1] = g[3 * i + 2] = 0;
    return ABUT_OK;
}

void abut_problem_diagonal(const abut_problem *p, double *diag)
{
    #pragma omp parallel for schedule(static) if ((size_t)p->model->nv >= 4 * ABUT_PAR_MIN)
    for (int32_t i = 0; i < p->model->nv; i++)
        if (p->row[i] >= 0)
            diag[p->row[i]] =
                p->model->mass[i] * ((p->held[i] ? p->al.kap : p->w.inertia + p->w.shift) + p->w.damping * p->damping.mass);
}

abut_status abut_problem_kappa(const abut_problem *p, const double *x, const double *y, const abut_pairs *pairs,
                               double *kappa, abut_arena *scratch, abut_err *err)
{
    const double lo = p->model->kappa_min[0], hi = p->model->kappa_max[0];
    const size_t n3 = 3 * (size_t)p->model->nv;
    *kappa = lo;
    if (pairs->n + pairs->n_plane == 0) return ABUT_OK;

    const abut_mark mark = abut_arena_mark(scratch);
    double *gc = ABUT_NEW(scratch, double, n3), *ge = ABUT_NEW(scratch, double, n3);
    if (!gc || !ge) return abut_fail(err, ABUT_E_NOMEM, "barrier stiffness: %zu numbers", 2 * n3);
    abut_problem unit = *p;   /* a view with kappa = 1: nothing in it is freed */
    unit.kappa = 1;
    abut_status rc = abut_problem_gradient(&unit, x, y, pairs, ABUT_TERM_BARRIER, gc, scratch, err);
    if (!rc) rc = abut_problem_gradient(&unit, x, y, pairs, ABUT_TERM_SMOOTH, ge, scratch, err);
    if (!rc) {
        abut_acc ce = { 0, 0 }, cc = { 0, 0 };
        for (size_t i = 0; i < n3; i++) {
            if (p->held[i / 3]) continue;
            abut_acc_add(&ce, gc[i] * ge[i]);
            abut_acc_add(&cc, gc[i] * gc[i]);
        }
        const double balance = cc.hi > 0 ? -(ce.hi + ce.lo) / (cc.hi + cc.lo) : 0;
        *kappa = fmin(hi, fmax(lo, balance));
    }
    abut_arena_release(scratch, mark);
    return rc;
}

#include "adjoint/parts.h"

#include "adjoint/script.h"
#include "energy/elastic.h"
#include "energy/pressure.h"

#include <math.h>
#include <string.h>

/* ---- sums over elements ---- */

static void sum_tets(abut_adjoint *a)
{
    const abut_objective *o = &a->s.solver.prob;
    const abut_elastic *e = abut_elastic_of(&o->terms);
    const abut_model *m = o->model;
    abut_parameter_bar *b = &a->bars;
    for (int32_t t = 0; t < e->n; t++) {
        const int32_t k = m->tet_mat[t], body = m->body[m->tet[4 * (size_t)t]], as_given = abut_objective_tet(o, t);
        const double E = m->mat_young[k], nu = m->mat_poisson[k], s = b->shear[as_given], l = b->lame[as_given];
        const double both = s * e->lame[2 * t] + l * e->lame[2 * t + 1], one = 1 + nu, two = 1 - 2 * nu;
        const double by_nu = -E / (2 * one * one) * s + E * (1 + 2 * nu * nu) / (one * one * two * two) * l;
        b->tet_young[as_given] = both;
        b->tet_poisson[as_given] = by_nu;
        b->young[k] += both / E;
        b->poisson[k] += by_nu;
        b->obj_young[body] += both;
        double mass = 0;
        for (int c = 0; c < 4; c++) mass += b->mass[m->tet[4 * (size_t)t + (size_t)c]];
        b->density[k] += e->vol[t] / 4 * (m->tet_density ? m->tet_density[t] : 1) * mass;
    }
}

/* the shape of bodies: with the masses of tets, dV/dX = V B^T, and with the start */
static void sum_shape(abut_adjoint *a, const double *x_bar)
{
    const abut_elastic *e = abut_elastic_of(&a->s.solver.prob.terms);
    const abut_model *m = a->s.solver.prob.model;
    abut_parameter_bar *b = &a->bars;
    for (int32_t i = 0; i < 3 * m->nv; i++) b->shape[i] = b->rest[i] + x_bar[i];
    for (size_t t = 0; t < (size_t)e->n; t++) {
        const int32_t *v = m->tet + 4 * t;
        const double density = m->mat_density[m->tet_mat[t]] * (m->tet_density ? m->tet_density[t] : 1);
        const double mass = b->mass[v[0]] + b->mass[v[1]] + b->mass[v[2]] + b->mass[v[3]];
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < 3; i++) {
                const double by = density * e->vol[t] / 4 * mass * e->B[9 * t + 3 * (size_t)c + (size_t)i];
                b->shape[3 * v[c + 1] + i] += by;
                b->shape[3 * v[0] + i] -= by;
            }
    }
}

static void sum_thin(abut_adjoint *a)
{
    const abut_model *m = a->model;
    abut_parameter_bar *b = &a->bars;
    for (int32_t i = 0; i < m->nsh; i++) {
        const int32_t k = m->shell_mat[i], *v = m->shell + 3 * (size_t)i;
        const double *R = m->shell_rest + 4 * (size_t)i, area = 0.5 * (R[0] * R[3] - R[1] * R[2]);
        if (!m->mat_membrane || m->mat_membrane[k] == ABUT_MEMBRANE_ISOTROPIC) b->young[k] += b->shell_young[i] / m->mat_young[k];
        b->obj_young[m->body[v[0]]] += b->shell_young[i];
        const double mass = area * m->shell_thick[i] / 3 * (b->mass[v[0]] + b->mass[v[1]] + b->mass[v[2]]);
        b->density[k] += mass;
        b->thickness[m->body[v[0]]] += b->shell_young[i] + m->mat_density[k] * mass;
    }
    for (int32_t i = 0; i < m->nrd; i++) {
        const int32_t k = m->rod_mat[i], *v = m->rod + 2 * (size_t)i;
        const double r = m->rod_radius[i];
        b->young[k] += b->rod_young[i] / m->mat_young[k];
        b->obj_young[m->body[v[0]]] += b->rod_young[i];
        const double mass = 3.14159265358979323846 * r * r * m->rod_length[i] / 2 * (b->mass[v[0]] + b->mass[v[1]]);
        b->density[k] += mass;
        b->thickness[m->body[v[0]]] += 2 * (b->rod_young[i] + m->mat_density[k] * mass);
    }
    /* the stiffness of hinges and bends is E times a shape, too */
    for (int32_t i = 0; i < m->nhg; i++) {
        const double by = b->hinge_k[i] * m->hinge_stiffness[i];
        b->obj_young[m->body[m->hinge[4 * i]]] += by;
        b->thickness[m->body[m->hinge[4 * i]]] += 3 * by;
    }
    for (int32_t i = 0; i < m->nbd; i++) {
        const double by = b->bend_k[i] * m->bend_stiffness[i];
        b->obj_young[m->body[m->bend[3 * i]]] += by;
        b->thickness[m->body[m->bend[3 * i]]] += 4 * by;
    }
}

void abut_adjoint_sum(abut_adjoint *a, const double *x_bar)
{
    const abut_model *m = a->model;
    sum_tets(a);
    sum_thin(a);
    sum_shape(a, x_bar);
    for (int32_t i = 0; i < m->nv; i++) a->bars.obj_density[m->body[i]] += m->mass[i] * a->bars.mass[i];
}

/* ---- accelerations of Newmark that no Newmark step has made ---- */

abut_status abut_adjoint_acceleration_back(abut_adjoint *a, const double *x, const double *v, double time, abut_state_bar *bar,
                                           abut_err *err)
{
    abut_objective *o = &a->s.solver.prob;
    const abut_model *m = a->model;
    const size_t n3 = 3 * (size_t)m->nv;
    const double rate = m->damp_mass ? m->damp_mass[0] : 0;
    double *q = a->work.p, *f = a->work.g, *acc = a->work.acc;
    abut_air *air = abut_air_of(&o->terms);
    o->step.load_time = time;
    if (air) abut_air_press(air, time);
    const abut_at at = { x, x, NULL, NULL, &o->step };
    memset(f, 0, n3 * sizeof *f);
    memset(acc, 0, n3 * sizeof *acc);
    abut_status rc = abut_objective_potential_gradient(o, &at, 1, f, &a->s.solver.scratch, err);
    for (size_t i = 0; i < n3; i++) {
        const double b = m->role[i / 3] == ABUT_NODE_OBSTACLE ? 0 : bar->a[i];
        acc[i] = b;
        bar->v[i] -= rate * b;
        a->bars.damp_mass[0] -= v[i] * b;
        q[i] = -b / m->mass[i / 3];
        a->bars.mass[i / 3] -= q[i] * f[i] / m->mass[i / 3];
        bar->a[i] = 0;
    }
    if (!rc) rc = abut_script_forces_back(m, time, time, acc, &a->bars, &a->s.solver.scratch, err);
    if (!rc) rc = abut_adjoint_forces_back(&a->forces, o, &at, q, 1, &a->bars, &a->s.solver.scratch, err);
    /* products have the weight of a step, and are projected but where a system was taken */
    const double weight = o->w.psi * o->w.share * o->w.share;
    const int as_is = o->step.as_is;
    o->step.as_is = 1;
    if (!rc) rc = abut_adjoint_product(o, &at, ABUT_KINDS_POTENTIAL, 1 / weight, q, bar->x, &a->s.solver.scratch, err);
    o->step.as_is = as_is;
    return rc;
}

abut_status abut_adjoint_finish(abut_adjoint *a, const abut_arrays *first, abut_instant at, abut_state_bar *bar, abut_err *err)
{
    const abut_model *m = a->model;
    abut_frame f;
    abut_status rc = abut_frame_view(first, m, &f, err);
    const int newmark = m->scheme && m->scheme[0] == ABUT_IMPLICIT_NEWMARK;
    if (!rc && newmark && !f.a) rc = abut_adjoint_acceleration_back(a, f.x, f.v, at.time, bar, err);
    if (!rc) abut_adjoint_sum(a, bar->x);
    return rc;
}

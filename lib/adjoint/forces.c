/* Products q^T d(dPsi/dx)/dtheta of an adjoint q with the derivative of forces by the parameters theta of every potential. */
#include "adjoint/adjoint_parts.h"

#include "energy/codim.h"
#include "energy/codim_elements.h"
#include "energy/hinge.h"
#include "energy/pressure.h"
#include "energy/spring_inline.h"
#include "math/svd3.h"
#include "model/motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void abut_adjoint_forces_clear(abut_adjoint_forces *f)
{
    abut_elastic_memo_clear(&f->memo);
    ABUT_FREE(f->lame, f->law_lame);
    *f = (abut_adjoint_forces){ 0 };
}

/* ---- tets ---- */

/* w[t] = sum over the corners of q.f, f the forces with modulus k of every tet and material raised by its mu; k -1: not raised.
 * Densities read the moduli of the tet or, if they depend on stretches, of the material. */
static abut_status work_of_tets(abut_adjoint_forces *f, abut_elastic *e, int k, const double *z, const double *q, double *w,
                                abut_arena *scratch, abut_err *err)
{
    double *const own[2] = { e->lame, e->laws.lame };
    double *const copy[2] = { f->lame, f->law_lame };
    const size_t n[2] = { (size_t)e->n, (size_t)e->model->nm };
    for (int s = 0; s < 2; s++) {
        memcpy(copy[s], own[s], 2 * n[s] * sizeof *copy[s]);
        for (size_t i = 0; i < n[s] && k >= 0; i++) copy[s][2 * i + (size_t)k] += own[s][2 * i];
    }
    f->memo.holds = 0;
    e->lame = copy[0], e->laws.lame = copy[1];
    const abut_status rc = abut_elastic_recall(e, z, &f->memo, scratch, err);
    e->lame = own[0], e->laws.lame = own[1];
    f->memo.holds = 0;
    for (int32_t t = 0; t < e->n && !rc; t++) {
        w[t] = 0;
        for (int c = 0; c < 12; c++)
            w[t] += q[3 * e->model->tet[4 * (size_t)t + (size_t)c / 3] + c % 3] * f->memo.f[12 * (size_t)t + (size_t)c];
    }
    return rc;
}

/* Stresses are linear in mu and lambda: their derivatives are differences over a change as large as mu. */
static abut_status tets(abut_adjoint *a, const double *z, const double *q, double scale, abut_err *err)
{
    const abut_objective *o = &a->s.solver.prob;
    abut_adjoint_forces *f = &a->forces;
    abut_arena *scratch = &a->s.solver.scratch;
    abut_elastic *e = abut_elastic_of(&o->terms);
    const size_t n = (size_t)e->n;
    if (!n) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(scratch);
    double *here = ABUT_NEW(scratch, double, n), *more = ABUT_NEW(scratch, double, n);
    if (!f->lame) f->lame = malloc(2 * n * sizeof *f->lame);
    if (!f->law_lame) f->law_lame = malloc(2 * (size_t)e->model->nm * sizeof *f->law_lame);
    if (!here || !more || !f->lame || !f->law_lame) return abut_fail(err, ABUT_E_NOMEM, "backward pass: %zu tets", n);
    abut_status rc = work_of_tets(f, e, -1, z, q, here, scratch, err);
    for (int k = 0; k < 2 && !rc; k++) {
        double *to = k ? a->bars.lame : a->bars.shear;
        rc = work_of_tets(f, e, k, z, q, more, scratch, err);
        for (size_t t = 0; t < n && !rc; t++)
            to[abut_objective_tet(o, (int32_t)t)] += scale * (more[t] - here[t]) / e->lame[2 * t];
    }
    abut_arena_release(scratch, mark);
    return rc;
}

/* S = V P:Q of one tet, Q = D_p B: dS/dX of its corners, V Z B^T with Z = (P:Q) I - F^T P_p - Q^T P and P_p = d2psi/dF2 : Q, as
 * dB = -B dD B and dV = V tr(B dD) for the rest edges D = B^-1 */
static void tet_shape(const abut_elastic *e, size_t t, const double *z, const double *q, double scale, double *bar)
{
    const int32_t *v = e->model->tet + 4 * t;
    const double *B = e->B + 9 * t;
    double F[9], U[9], s[3], V[9], P[9] = { 0 }, H[81], Q[9], Pp[9], Z[9], PQ = 0;
    abut_principal p;
    (void)abut_elastic_deformation(e, z, (int32_t)t, F);
    (void)abut_elastic_deformation(e, q, (int32_t)t, Q);
    abut_svd3(F, U, s, V);
    abut_elastic_principal(e, t, s, &p);
    abut_stress_principal(&p, U, V, P);
    abut_principal_hess(&p, U, V, H);
    for (int i = 0; i < 9; i++) {
        Pp[i] = 0;
        for (int j = 0; j < 9; j++) Pp[i] += H[9 * i + j] * Q[j];
        PQ += P[i] * Q[i];
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            Z[3 * i + j] = i == j ? PQ : 0;
            for (int k = 0; k < 3; k++) Z[3 * i + j] -= F[3 * k + i] * Pp[3 * k + j] + Q[3 * k + i] * P[3 * k + j];
        }
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 3; i++) {
            const double *z3 = Z + 3 * i, *b3 = B + 3 * c;
            const double by = scale * e->vol[t] * (z3[0] * b3[0] + z3[1] * b3[1] + z3[2] * b3[2]);
            bar[3 * v[c + 1] + i] += by;
            bar[3 * v[0] + i] -= by;
        }
}

/* ---- springs and attachments ---- */

static void springs(const abut_model *m, const double *z, const double *q, double scale, abut_parameter_bar *bars)
{
    for (int32_t i = 0; i < m->nsp; i++) {
        const size_t a = 3 * (size_t)m->spring[2 * i], b = 3 * (size_t)m->spring[2 * i + 1];
        double d[3], along = 0;
        const double l = abut_spring_span(z + a, z + b, d);
        if (!(l > 0)) continue;
        for (size_t k = 0; k < 3; k++) along += d[k] / l * (q[a + k] - q[b + k]);
        bars->spring_k[i] += scale * (l - m->spring_length[i]) * along;
        bars->spring_l[i] -= scale * m->spring_stiffness[i] * along;
    }
}

static void attachments(const abut_model *m, const double *z, const double *q, double scale, abut_parameter_bar *bars)
{
    static const double none[3] = { 0, 0, 0 };
    for (size_t i = 0; i < (size_t)m->na; i++) {
        const int32_t *v = m->attach_node + 5 * i;
        const double *w = m->attach_weight + 4 * i;
        double r[3], s[3];
        abut_attachment_stretch(v, w, m->tie_offset + 3 * i, z, r);
        abut_attachment_stretch(v, w, none, q, s);
        for (size_t d = 0; d < 3; d++) {
            bars->tie_k[i] += scale * r[d] * s[d];
            bars->tie_offset[3 * i + d] -= scale * m->attach_stiffness[i] * s[d];
        }
    }
}

/* ---- thin elements: each force is a coefficient times a shape ---- */

static double work_of(const abut_codim *t, size_t e, const double *f, const double *q)
{
    double w = 0;
    for (size_t c = 0; c < 12; c++) {
        const int32_t v = t->node[4 * e + c / 3];
        if (v >= 0) w += f[12 * e + c] * q[3 * (size_t)v + c % 3];
    }
    return w;
}

static void hinge_angle(const abut_codim *t, size_t e, size_t i, const double *z, const double *q, double scale,
                        abut_parameter_bar *bars)
{
    double x[12], grad[12] = { 0 }, along = 0;
    for (size_t c = 0; c < 12; c++) x[c] = z[3 * (size_t)t->node[4 * e + c / 3] + c % 3];
    (void)abut_hinge_theta(x, grad);
    for (size_t c = 0; c < 12; c++) along += grad[c] * q[3 * (size_t)t->node[4 * e + c / 3] + c % 3];
    bars->hinge_angle[i] -= scale * 2 * t->model->hinge_stiffness[i] * along;
}

/* Adds w of element e, scaled, to the bars of parameters in which it is linear. */
static void give_element(const abut_codim *t, int kind, size_t e, const double *z, const double *q, double scale, double w,
                         abut_parameter_bar *bars)
{
    const abut_model *m = t->model;
    const size_t i = e - t->first[kind];
    switch (kind) {
    case ABUT_CODIM_SHELL: bars->shell_young[i] += w; return;
    case ABUT_CODIM_ROD: bars->rod_young[i] += w; return;
    case ABUT_CODIM_BEND:
        if (m->bend_stiffness[i] > 0) bars->bend_k[i] += w / m->bend_stiffness[i];
        return;
    default:
        if (m->hinge_stiffness[i] > 0) bars->hinge_k[i] += w / m->hinge_stiffness[i];
        hinge_angle(t, e, i, z, q, scale, bars);
    }
}

/* f[12 n] of all elements, N */
static void corner_forces(const abut_codim *t, int parts, double kappa, const double *z, double *f)
{
    const abut_codim_ask ask = { .t = t, .x = z, .parts = parts, .kappa = kappa, .scale = 1 };
    memset(f, 0, 12 * t->n * sizeof *f);
    for (int kind = 0; kind < ABUT_CODIM_KINDS; kind++)
        abut_codim_elements_gradient(&ask, kind, t->first[kind], t->first[kind + 1], f);
}

/* Poisson's ratio of the materials of shells, which plane stress has inside: forces at nu + step and nu - step. */
static abut_status shell_poisson(const abut_codim *t, double kappa, const double *z, const double *q, double scale, double *f,
                                 abut_parameter_bar *bars, abut_arena *scratch, abut_err *err)
{
    const abut_model *m = t->model;
    const double step = 1e-5;
    abut_model changed = *m;
    abut_codim copy = *t;
    const abut_mark mark = abut_arena_mark(scratch);
    double *nu = ABUT_NEW(scratch, double, (size_t)m->nm);
    copy.membrane = ABUT_NEW(scratch, abut_membrane, (size_t)m->nm);
    if (!nu || !copy.membrane) return abut_fail(err, ABUT_E_NOMEM, "backward pass: %d materials", m->nm);
    changed.mat_poisson = nu;
    for (int side = -1; side <= 1; side += 2) {
        memcpy(copy.membrane, t->membrane, (size_t)m->nm * sizeof *copy.membrane);
        for (int32_t k = 0; k < m->nm; k++) nu[k] = m->mat_poisson[k] + side * step;
        for (int32_t i = 0; i < m->nsh; i++) abut_membrane_take(&changed, m->shell_mat[i], copy.membrane + m->shell_mat[i]);
        corner_forces(&copy, ABUT_CODIM_ELASTIC, kappa, z, f);
        for (int32_t i = 0; i < m->nsh; i++)
            if (t->membrane[m->shell_mat[i]].kind == ABUT_MEMBRANE_ISOTROPIC)
                bars->poisson[m->shell_mat[i]] += side * scale * work_of(t, (size_t)i, f, q) / (2 * step);
    }
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

/* limits of stretch, in proportion to the volume of a shell: by its thickness; f[12 n] is scratch */
static void limits(const abut_objective *o, const abut_at *at, const double *q, double scale, double *f, abut_parameter_bar *bars)
{
    const abut_codim_state *s = abut_codim_state_of(&o->terms);
    const abut_codim *t = &s->t;
    const double weight = at->z == at->x ? scale : o->w.h_force * o->w.h_force;
    if (!t->model->shell_limit) return;
    corner_forces(t, ABUT_CODIM_BOUNDED, s->strain_kappa, at->x, f);
    for (int32_t i = 0; i < t->model->nsh; i++)
        bars->thickness[t->model->body[t->model->shell[3 * i]]] += weight * work_of(t, (size_t)i, f, q);
}

static abut_status thin(abut_adjoint *a, const abut_at *at, const double *q, double scale, abut_err *err)
{
    const abut_objective *o = &a->s.solver.prob;
    abut_parameter_bar *bars = &a->bars;
    abut_arena *scratch = &a->s.solver.scratch;
    const abut_codim_state *s = abut_codim_state_of(&o->terms);
    const abut_codim *t = &s->t;
    if (!t->n) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(scratch);
    double *f = ABUT_NEW(scratch, double, 12 * t->n);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "backward pass: %zu thin elements", t->n);
    corner_forces(t, ABUT_CODIM_ELASTIC, s->strain_kappa, at->z, f);
    for (int kind = 0; kind < ABUT_CODIM_KINDS; kind++)
        for (size_t e = t->first[kind]; e < t->first[kind + 1]; e++)
            give_element(t, kind, e, at->z, q, scale, scale * work_of(t, e, f, q), bars);
    const abut_status rc = t->model->nsh ? shell_poisson(t, s->strain_kappa, at->z, q, scale, f, bars, scratch, err) : ABUT_OK;
    limits(o, at, q, scale, f, bars);
    abut_arena_release(scratch, mark);
    return rc;
}

/* ---- pressure and wind ---- */

/* dPsi/dx_k = -p x_{k+1} x x_{k+2} / 6 of a triangle, of a closed shell wherever it is seen from */
static void pressure_back(const abut_model *m, double load_time, const double *z, const double *q, double scale,
                                abut_parameter_bar *bars)
{
    for (int32_t s = 0; s < m->nsh && m->obj_pressure; s++) {
        const int32_t *v = m->shell + 3 * (size_t)s;
        double sum = 0;
        for (int k = 0; k < 3; k++) {
            const abut_vec3 b = abut_v3_get(z + 3 * (size_t)v[(k + 1) % 3]), c = abut_v3_get(z + 3 * (size_t)v[(k + 2) % 3]);
            sum -= abut_v3_dot(abut_v3_get(q + 3 * (size_t)v[k]), abut_v3_cross(b, c)) / 6;
        }
        const int32_t o = m->body[v[0]];
        const abut_factor f = abut_pressure_factor(m, o, load_time);
        bars->pressure[o] += f.value * scale * sum;
        if (f.lo < 0) continue;
        bars->key_factor[f.lo] += (1 - f.u) * scale * sum * m->obj_pressure[o];
        bars->key_factor[f.hi] += f.u * scale * sum * m->obj_pressure[o];
    }
}

/* q.F of a triangle is -h^2 c/3 on |on| b / N.N with N the area vector at the start of the step, w the wind beside the triangle,
 * on = w.N, b = N.(sum of q). */
void abut_adjoint_drag_back(abut_adjoint *a, const double *x)
{
    const abut_objective *o = &a->s.solver.prob;
    const double *q = a->work.p;
    double *x_bar = a->work.start.x;
    abut_parameter_bar *bars = &a->bars;
    const abut_model *m = o->model;
    const abut_air *air = abut_air_of(&o->terms);
    const double scale = o->w.h_force * o->w.h_force / 3;
    for (int32_t s = 0; s < m->nsh && air && air->drags; s++) {
        const int32_t *v = m->shell + 3 * (size_t)s;
        const abut_vec3 N = abut_v3_get(air->facing + 3 * (size_t)s);
        const double c = m->obj_drag[m->body[v[0]]], area2 = abut_v3_dot(N, N);
        if (!(area2 > 0)) continue;
        abut_vec3 w = m->wind ? abut_v3_get(m->wind) : abut_v3(0, 0, 0), Q = abut_v3(0, 0, 0);
        for (int k = 0; k < 3; k++) {
            const size_t at = 3 * (size_t)v[k];
            w = abut_v3_axpy(w, -1 / (3 * o->step.damp_time), abut_v3_sub(abut_v3_get(x + at), abut_v3_get(o->step.x_damp + at)));
            Q = abut_v3_add(Q, abut_v3_get(q + at));
        }
        const double on = abut_v3_dot(w, N), b = abut_v3_dot(N, Q), sign = -scale / area2;
        bars->drag[m->body[v[0]]] += sign * on * fabs(on) * b;
        const abut_vec3 by_w = abut_v3_scale(sign * c * 2 * fabs(on) * b, N);
        bars->wind[0] += by_w.x, bars->wind[1] += by_w.y, bars->wind[2] += by_w.z;
        const abut_vec3 ahead = abut_v3_axpy(abut_v3_scale(2 * fabs(on) * b, w), on * fabs(on), Q);
        const abut_vec3 by_N = abut_v3_scale(sign * c, abut_v3_axpy(ahead, -2 * on * fabs(on) * b / area2, N));
        /* N = (x1 - x0) x (x2 - x0) / 2 */
        for (int k = 0; k < 3; k++) {
            const abut_vec3 side = abut_v3_sub(abut_v3_get(o->xn + 3 * (size_t)v[(k + 2) % 3]),
                                               abut_v3_get(o->xn + 3 * (size_t)v[(k + 1) % 3]));
            const abut_vec3 by = abut_v3_scale(0.5, abut_v3_cross(by_N, side));
            x_bar[3 * v[k]] += by.x, x_bar[3 * v[k] + 1] += by.y, x_bar[3 * v[k] + 2] += by.z;
        }
    }
}

/* ---- all potentials ---- */

abut_status abut_adjoint_forces_back(abut_adjoint *a, const abut_at *at, const double *q, double scale, abut_err *err)
{
    const abut_objective *o = &a->s.solver.prob;
    abut_parameter_bar *bars = &a->bars;
    const abut_status rc = tets(a, at->z, q, scale, err);
    if (rc) return rc;
    const abut_elastic *e = abut_elastic_of(&o->terms);
    for (int32_t t = 0; t < e->n && !o->model->mat_fibre; t++) tet_shape(e, (size_t)t, at->z, q, scale, bars->rest);
    springs(o->model, at->z, q, scale, bars);
    attachments(o->model, at->z, q, scale, bars);
    pressure_back(o->model, at->step->load_time, at->z, q, scale, bars);
    return thin(a, at, q, scale, err);
}

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

/* ---- damping ---- */

/* Tets taken apart: corner c of tet t is node 4 t + c, so that each can be moved alone. */
typedef struct apart {
    abut_elastic e;
    abut_model model;
    int32_t *tet;           /* [4 n] */
    double *x, *p, *u;      /* [12 n] */
    double *lame, *law_lame;    /* [2 n], [2 nm] of tets and of materials */
    double *low, *high;     /* [n] p.K u of each */
    double *K;              /* of as many as are taken at once */
} apart;

enum { TETS_AT_ONCE = 256 };

/* w[t] = p.K u with the stiffness that damping takes, projected */
static void works(const apart *a, double *w)
{
    double *const K = a->K;
    const size_t n = (size_t)a->e.n, size = abut_packed_size(4);
    for (size_t lo = 0; lo < n; lo += TETS_AT_ONCE) {
        const size_t hi = lo + TETS_AT_ONCE < n ? lo + TETS_AT_ONCE : n;
        abut_elastic_hessian_some(&a->e, a->x, 1, lo, hi, K);
        for (size_t t = lo; t < hi; t++) {
            const double *k = K + size * (t - lo), *p = a->p + 12 * t, *u = a->u + 12 * t;
            w[t] = 0;
            for (size_t c = 0; c < 4; c++)
                for (size_t d = c; d < 4; d++, k += 9)
                    for (size_t i = 0; i < 9; i++) {
                        w[t] += k[i] * p[3 * c + i / 3] * u[3 * d + i % 3];
                        if (c != d) w[t] += k[i] * p[3 * d + i % 3] * u[3 * c + i / 3];
                    }
        }
    }
}

/* Sets the moduli of a: those of e, with modulus k raised by `by` times mu. */
static void set_moduli(apart *a, const abut_elastic *e, size_t k, double by)
{
    memcpy(a->lame, e->lame, 2 * (size_t)e->n * sizeof *a->lame);
    memcpy(a->law_lame, e->laws.lame, 2 * (size_t)e->model->nm * sizeof *a->law_lame);
    for (size_t t = 0; t < (size_t)e->n; t++) a->lame[2 * t + k] += by * e->lame[2 * t];
    for (size_t i = 0; i < (size_t)e->model->nm; i++) a->law_lame[2 * i + k] += by * e->laws.lame[2 * i];
}

static abut_status take_apart(apart *a, const abut_elastic *e, const double *x, const double *p, const double *u,
                              abut_arena *scratch, abut_err *err)
{
    const size_t n = (size_t)e->n;
    *a = (apart){ .e = *e, .model = *e->model, .tet = ABUT_NEW(scratch, int32_t, 4 * n), .x = ABUT_NEW(scratch, double, 12 * n),
                  .p = ABUT_NEW(scratch, double, 12 * n), .u = ABUT_NEW(scratch, double, 12 * n),
                  .lame = ABUT_NEW(scratch, double, 2 * n),
                  .law_lame = ABUT_NEW(scratch, double, 2 * (size_t)e->model->nm), .low = ABUT_NEW(scratch, double, n),
                  .high = ABUT_NEW(scratch, double, n),
                  .K = ABUT_NEW(scratch, double, TETS_AT_ONCE * abut_packed_size(4)) };
    if (!a->tet || !a->x || !a->p || !a->u || !a->lame || !a->law_lame || !a->low || !a->high || !a->K)
        return abut_fail(err, ABUT_E_NOMEM, "backward pass: damping of %zu tets", n);
    a->model.tet = a->tet;
    a->e.model = &a->model;
    a->e.lame = a->lame;
    a->e.laws.lame = a->law_lame;
    set_moduli(a, e, 0, 0);
    for (size_t c = 0; c < 12 * n; c++) {
        const size_t at = 3 * (size_t)e->model->tet[c / 3] + c % 3;
        a->tet[c / 3] = (int32_t)(c / 3);
        a->x[c] = x[at], a->p[c] = p[at], a->u[c] = u[at];
    }
    return ABUT_OK;
}

/* Central differences: by the coordinates of each tet, and by its moduli.  Projection has a kink where an eigenvalue is 0, as at
 * rest: there they are the mean of both sides. */
static void differences(apart *a, const abut_objective *o, const abut_elastic *e, double scale, double *x_bar,
                        abut_parameter_bar *bars)
{
    const size_t n = (size_t)e->n;
    for (size_t c = 0; c < 12; c++) {
        for (int side = -1; side <= 1; side += 2) {
            for (size_t t = 0; t < n; t++) a->x[12 * t + c] += side * 1e-6 * cbrt(e->vol[t]);
            works(a, side < 0 ? a->low : a->high);
            for (size_t t = 0; t < n; t++) a->x[12 * t + c] -= side * 1e-6 * cbrt(e->vol[t]);
        }
        for (size_t t = 0; t < n; t++)
            x_bar[3 * (size_t)e->model->tet[4 * t + c / 3] + c % 3] +=
                scale * (a->high[t] - a->low[t]) / (2e-6 * cbrt(e->vol[t]));
    }
    for (size_t k = 0; k < 2; k++) {
        for (int side = -1; side <= 1; side += 2) {
            set_moduli(a, e, k, side * 1e-6);
            works(a, side < 0 ? a->low : a->high);
        }
        set_moduli(a, e, k, 0);
        for (size_t t = 0; t < n; t++)
            (k ? bars->lame : bars->shear)[abut_objective_tet(o, (int32_t)t)] +=
                scale * (a->high[t] - a->low[t]) / (2e-6 * e->lame[2 * t]);
    }
}

abut_status abut_adjoint_damping_back(abut_adjoint *a, const double *u, abut_err *err)
{
    const abut_objective *o = &a->s.solver.prob;
    const abut_model *m = a->model;
    const double w = o->step.damping, *p = a->work.p, rate = m->damp_mass ? m->damp_mass[0] : 0;
    for (size_t i = 0; i < 3 * (size_t)m->nv; i++) {
        const double along = w * p[i] * u[i];
        a->bars.damp_mass[0] += m->mass[i / 3] * along;
        a->bars.mass[i / 3] += rate * along;
    }
    const abut_elastic *e = abut_elastic_of(&o->terms);
    const double b = m->damp_stiffness ? m->damp_stiffness[0] : 0;
    if (!(b > 0) || !e->n) return ABUT_OK;
    apart taken;
    const abut_mark mark = abut_arena_mark(&a->s.solver.scratch);
    const abut_status rc = take_apart(&taken, e, o->xn, p, u, &a->s.solver.scratch, err);
    if (!rc) {
        works(&taken, taken.low);
        for (size_t t = 0; t < (size_t)e->n; t++) a->bars.damp_stiffness[0] += w * taken.low[t];
        differences(&taken, o, e, w * b, a->work.start.x, &a->bars);
    }
    abut_arena_release(&a->s.solver.scratch, mark);
    return rc;
}

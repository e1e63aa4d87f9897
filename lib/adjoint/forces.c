#include "adjoint/forces.h"

#include "adjoint/parts.h"

#include "energy/codim.h"
#include "energy/codim_elements.h"
#include "energy/hinge.h"
#include "energy/spring.h"
#include "energy/spring_inline.h"
#include "math/svd3.h"

#include <stdlib.h>
#include <string.h>

void abut_adjoint_forces_clear(abut_adjoint_forces *f)
{
    abut_elastic_memo_clear(&f->memo);
    free(f->lame);
    free(f->law_lame);
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
static abut_status tets(abut_adjoint_forces *f, abut_objective *o, const double *z, const double *q, double scale,
                        abut_parameter_bar *bars, abut_arena *scratch, abut_err *err)
{
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
        double *to = k ? bars->lame : bars->shear;
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
    abut_codim_shell_gradient(&ask, 0, t->first[ABUT_CODIM_SHELL + 1], f);
    for (int kind = ABUT_CODIM_HINGE; kind < ABUT_CODIM_KINDS; kind++)
        abut_codim_bend_gradient(&ask, kind, t->first[kind], t->first[kind + 1], f);
}

/* Poisson's ratio of the materials of shells, which plane stress has inside: forces at nu + step and nu - step. */
static abut_status shell_poisson(const abut_codim *t, int parts, double kappa, const double *z, const double *q, double scale,
                                 double *f, abut_parameter_bar *bars, abut_arena *scratch, abut_err *err)
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
        corner_forces(&copy, parts, kappa, z, f);
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

static abut_status thin(const abut_objective *o, const abut_at *at, const double *q, double scale, abut_parameter_bar *bars,
                        abut_arena *scratch, abut_err *err)
{
    const abut_codim_state *s = abut_codim_state_of(&o->terms);
    const abut_codim *t = &s->t;
    const int parts = ABUT_CODIM_ELASTIC;
    if (!t->n) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(scratch);
    double *f = ABUT_NEW(scratch, double, 12 * t->n);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "backward pass: %zu thin elements", t->n);
    corner_forces(t, parts, s->strain_kappa, at->z, f);
    for (int kind = 0; kind < ABUT_CODIM_KINDS; kind++)
        for (size_t e = t->first[kind]; e < t->first[kind + 1]; e++)
            give_element(t, kind, e, at->z, q, scale, scale * work_of(t, e, f, q), bars);
    const abut_status rc = t->model->nsh ? shell_poisson(t, parts, s->strain_kappa, at->z, q, scale, f, bars, scratch,
                                                         err) : ABUT_OK;
    limits(o, at, q, scale, f, bars);
    abut_arena_release(scratch, mark);
    return rc;
}

abut_status abut_adjoint_forces_back(abut_adjoint_forces *f, abut_objective *o, const abut_at *at, const double *q, double scale,
                                     abut_parameter_bar *bars, abut_arena *scratch, abut_err *err)
{
    const abut_status rc = tets(f, o, at->z, q, scale, bars, scratch, err);
    if (rc) return rc;
    const abut_elastic *e = abut_elastic_of(&o->terms);
    for (int32_t t = 0; t < e->n && !o->model->mat_fibre; t++) tet_shape(e, (size_t)t, at->z, q, scale, bars->rest);
    springs(o->model, at->z, q, scale, bars);
    attachments(o->model, at->z, q, scale, bars);
    abut_adjoint_pressure_back(o->model, at->step->load_time, at->z, q, scale, bars);
    return thin(o, at, q, scale, bars, scratch, err);
}

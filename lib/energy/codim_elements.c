#include "energy/codim_elements.h"

#include "energy/hinge.h"
#include "energy/material/two_modes.h"
#include "energy/rod_inline.h"
#include "math/svd3.h"
#include "sparse/packed_lanes.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- shells ---- */

#include "math/forms_lanes.h"

#define FABRICS abut_fabrics
#include "energy/membrane_forms.h"
#undef FABRICS

#include "math/forms_end.h"

/* Four shells from number t on, of which n count; the others are copies of the first. */
typedef struct group {
    size_t t[ABUT_LANES], n;
    abut_lanes F[6], U[6], s[2], V[4];
} group;

void abut_shell_gradient_of(const abut_codim *t, const double *x, size_t shell, double F[6])
{
    const int32_t *v = t->node + 4 * shell;
    const double *x0 = x + 3 * (size_t)v[0], *x1 = x + 3 * (size_t)v[1], *x2 = x + 3 * (size_t)v[2], *B = t->B + 4 * shell;
    abut_shell_deform(x0, x1, x2, B, F);
}

static void group_at(const abut_codim_ask *a, size_t lo, size_t hi, group *g)
{
    g->n = hi - lo < ABUT_LANES ? hi - lo : ABUT_LANES;
    for (size_t l = 0; l < ABUT_LANES; l++) {
        double F[6];
        g->t[l] = l < g->n ? lo + l : lo;
        abut_shell_gradient_of(a->t, a->x, g->t[l], F);
        for (int i = 0; i < 6; i++) g->F[i][l] = F[i];
    }
    abut_svd32_lanes(g->F, g->U, g->s, g->V);
}

void abut_shell_deformation(const abut_codim *t, const double *x, int32_t shell, double F[6], double s[2])
{
    abut_lanes f[6], U[6], S[2], V[4];
    abut_shell_gradient_of(t, x, (size_t)shell, F);
    for (int i = 0; i < 6; i++) f[i] = ABUT_LANES_ALL(F[i]);
    abut_svd32_lanes(f, U, S, V);
    s[0] = S[0][0];
    s[1] = S[1][0];
}

/* Terms of one shell that the caller asks for: its membrane, in the member of its kind, and its row of limits; NULL: none. */
typedef struct terms {
    const abut_membrane *isotropic, *fabric, *bw;
    const double *limit;
} terms;

static terms terms_of(const abut_codim_ask *a, size_t shell)
{
    const abut_model *m = a->t->model;
    const abut_membrane *law = &a->t->membrane[m->shell_mat[shell]];
    const int asked = a->parts & (law->strain ? ABUT_CODIM_BOUNDED : ABUT_CODIM_ELASTIC);
    const int bw = law->kind == ABUT_MEMBRANE_BARAFF_WITKIN;
    return (terms){ asked && law->kind == ABUT_MEMBRANE_ISOTROPIC ? law : NULL, asked && law->fabric ? law : NULL,
                    asked && bw ? law : NULL,
                    a->parts & ABUT_CODIM_BOUNDED && m->shell_limit ? m->shell_limit + 4 * shell : NULL };
}

/* The fabrics of a group; 0: the group has none, or they are not evaluated. */
static int fabrics_of(const abut_codim_ask *a, const group *g, abut_fabrics *f)
{
    const abut_membrane *law[ABUT_LANES];
    int any = 0;
    for (int l = 0; l < ABUT_LANES; l++) any |= (law[l] = terms_of(a, g->t[l]).fabric) != NULL;
    if (any) abut_fabrics_take(law, f);
    return any;
}

/* Membrane and limits together, as far as they are functions of the principal stretches. */
static abut_plane_principal principal(const abut_codim_ask *a, const terms *w, const double s[2])
{
    abut_plane_principal p = { 0 };
    if (w->isotropic) abut_membrane_principal(w->isotropic, s, &p);
    if (w->limit) abut_stretch_limit_add(w->limit, a->kappa, s, &p);
    return p;
}

/* psi of shell l of the group by Baraff and Witkin, P += its stress; 0 if the shell has another membrane. */
static double stretch_and_shear(const terms *w, const group *g, size_t l, double P[4])
{
    if (!w->bw) return 0;
    const double s[2] = { g->s[0][l], g->s[1][l] }, V[4] = { g->V[0][l], g->V[1][l], g->V[2][l], g->V[3][l] };
    double T[4];
    const double psi = abut_bw_stress(w->bw->bw, s, V, T);
    for (int i = 0; i < 4; i++) P[i] += T[i];
    return psi;
}

static double shell_energy(const abut_codim_ask *a, size_t lo, size_t hi)
{
    double sum = 0;
    group g;
    for (; lo < hi; lo += g.n) {
        abut_lanes woven = ABUT_LANES_ALL(0.);
        abut_fabrics f;
        group_at(a, lo, hi, &g);
        if (fabrics_of(a, &g, &f)) abut_fabrics_psi(&f, abut_strain_stiffening(a->kappa), g.s, g.V, &woven);
        for (size_t l = 0; l < g.n; l++) {
            const double s[2] = { g.s[0][l], g.s[1][l] };
            const terms w = terms_of(a, g.t[l]);
            if (!(s[0] > 0 && s[1] > 0)) return INFINITY;
            double P[4] = { 0 };
            sum += a->t->vol[g.t[l]] * (principal(a, &w, s).psi + woven[l] + stretch_and_shear(&w, &g, l, P));
        }
    }
    return sum;
}

static void corner_forces(const group *g, size_t l, double w, const double *B, const double T[4], double f[12])
{
    double U[6], V[4];
    for (int i = 0; i < 6; i++) U[i] = g->U[i][l];
    for (int i = 0; i < 4; i++) V[i] = g->V[i][l];
    abut_shell_forces(U, V, w, B, T, f);
}

static void shell_gradient(const abut_codim_ask *a, size_t lo, size_t hi, double *f)
{
    group g;
    for (; lo < hi; lo += g.n) {
        abut_lanes woven[4] = { ABUT_LANES_ALL(0.), ABUT_LANES_ALL(0.), ABUT_LANES_ALL(0.), ABUT_LANES_ALL(0.) };
        abut_fabrics laws;
        group_at(a, lo, hi, &g);
        if (fabrics_of(a, &g, &laws)) abut_fabrics_stress(&laws, abut_strain_stiffening(a->kappa), g.s, g.V, woven);
        for (size_t l = 0; l < g.n; l++) {
            const size_t t = g.t[l];
            const double s[2] = { g.s[0][l], g.s[1][l] };
            const terms w = terms_of(a, t);
            const abut_plane_principal p = principal(a, &w, s);
            double P[4] = { p.d[0] + woven[0][l], woven[1][l], woven[2][l], p.d[1] + woven[3][l] };
            (void)stretch_and_shear(&w, &g, l, P);
            corner_forces(&g, l, a->scale * a->t->vol[t], a->t->B + 4 * t, P, f + 12 * (t - a->base));
        }
    }
}

/* Second derivatives of four shells in their frames, in the end scaled by volume. */
typedef struct frames {
    abut_lanes G[16], R[3];
} frames;

ABUT_LANES_CLONES
static void pack(const frames *h, const abut_lanes *U, const abut_lanes *B, const abut_lanes *V, abut_lanes *H)
{
    abut_shell_pack_lanes(h->G, h->R, U, B, V, H);
}

/* Writes all terms of shell l of the group but its fabric into lane l of out. */
static void frame_put(const abut_codim_ask *a, const group *g, int l, frames *out)
{
    const double s[2] = { g->s[0][l], g->s[1][l] };
    const terms w = terms_of(a, g->t[l]);
    abut_plane_frame f = { .P = { 0 } };
    if (w.isotropic || w.limit) {
        const abut_plane_principal p = principal(a, &w, s);
        if (a->as_is) abut_plane_as_is(&p, s, &f);
        else abut_plane_project(&p, s, &f);
    }
    const double V[4] = { g->V[0][l], g->V[1][l], g->V[2][l], g->V[3][l] };
    if (w.limit && a->limits && a->limits->any) abut_stretch_ahead_frame(&a->limits->of[g->t[l]], a->kappa, s, V, f.G);
    if (w.bw) {
        double G[16], R[3];
        abut_bw_hessian(w.bw->bw, s, V, !a->as_is, G, R);
        for (int k = 0; k < 16; k++) f.G[k] += G[k];
        for (int k = 0; k < 3; k++) f.R[k] += R[k];
    }
    for (int k = 0; k < 16; k++) out->G[k][l] = f.G[k];
    for (int k = 0; k < 3; k++) out->R[k][l] = f.R[k];
}

static void frames_of(const abut_codim_ask *a, const group *g, frames *out)
{
    abut_lanes scale;
    abut_fabrics f;
    for (int l = 0; l < ABUT_LANES; l++) {
        frame_put(a, g, l, out);
        scale[l] = a->scale * a->t->vol[g->t[l]];
    }
    if (fabrics_of(a, g, &f)) abut_fabrics_hessian(&f, abut_strain_stiffening(a->kappa), g->s, g->V, !a->as_is, out->G, out->R);
    for (int k = 0; k < 16; k++) out->G[k] *= scale;
    for (int k = 0; k < 3; k++) out->R[k] *= scale;
}

static void shell_hessian(const abut_codim_ask *a, size_t lo, size_t hi, double *H)
{
    static const size_t used[] = { 0, 9, 18, 36, 45, 63 };  /* of three corners */
    group g;
    for (; lo < hi; lo += g.n) {
        abut_lanes B[4];
        abut_packed_lanes K;
        frames h;
        group_at(a, lo, hi, &g);
        frames_of(a, &g, &h);
        for (int l = 0; l < ABUT_LANES; l++)
            for (int k = 0; k < 4; k++) B[k][l] = a->t->B[4 * g.t[l] + (size_t)k];
        pack(&h, g.U, B, g.V, K);
        for (size_t l = 0; l < g.n; l++) {
            double *to = H + abut_packed_size(4) * (lo + l - a->base);
            for (size_t b = 0; b < sizeof used / sizeof *used; b++)
                for (size_t k = used[b]; k < used[b] + 9; k++) to[k] = a->add ? to[k] + K[k][l] : K[k][l];
        }
    }
}

/* ---- hinges, rod segments, bends ---- */

/* One element: its corners at x, its stiffness, its rest length or angle. */
typedef struct element {
    double x[12], stiffness, rest;
} element;

/* stiffness and rest length or angle of element e */
static void numbers(const abut_codim *t, int kind, size_t e, double *stiffness, double *rest)
{
    const abut_model *m = t->model;
    const size_t i = e - t->first[kind];
    switch (kind) {
    case ABUT_CODIM_HINGE:
        *stiffness = m->hinge_stiffness[i];
        *rest = m->hinge_angle[i];
        return;
    case ABUT_CODIM_ROD:
        *rest = m->rod_length[i];
        *stiffness = abut_rod_stretch_stiffness(m->mat_young[m->rod_mat[i]], m->rod_radius[i], *rest);
        return;
    default:
        *stiffness = m->bend_stiffness[i];
        *rest = 0;
    }
}

static void element_at(const abut_codim_ask *a, int kind, size_t e, element *at)
{
    const int32_t *v = a->t->node + 4 * e;
    for (int c = 0; c < 4; c++)
        for (int d = 0; d < 3; d++) at->x[3 * c + d] = v[c] < 0 ? 0 : a->x[3 * (size_t)v[c] + (size_t)d];
    numbers(a->t, kind, e, &at->stiffness, &at->rest);
}

/* ---- four hinges ---- */

/* Hinges e, e + 1, ..., of which n count; the others are copies of the first. */
typedef struct bend_group {
    size_t n;
    abut_lanes x[12], stiffness, rest;
} bend_group;

static void bend_group_at(const abut_codim_ask *a, size_t e, size_t hi, bend_group *g)
{
    double x[12][ABUT_LANES], k[ABUT_LANES], rest[ABUT_LANES];
    g->n = hi - e < ABUT_LANES ? hi - e : ABUT_LANES;
    for (size_t l = 0; l < ABUT_LANES; l++) {
        const size_t which = l < g->n ? e + l : e;
        for (size_t c = 0; c < 4; c++)
            for (size_t d = 0; d < 3; d++) x[3 * c + d][l] = a->x[3 * (size_t)a->t->node[4 * which + c] + d];
        numbers(a->t, ABUT_CODIM_HINGE, which, &k[l], &rest[l]);
    }
    memcpy(g->x, x, sizeof x);
    memcpy(&g->stiffness, k, sizeof k);
    memcpy(&g->rest, rest, sizeof rest);
}

static double hinge_energies(const abut_codim_ask *a, size_t lo, size_t hi)
{
    double sum = 0;
    bend_group g;
    for (; lo < hi; lo += g.n) {
        abut_lanes E;
        bend_group_at(a, lo, hi, &g);
        abut_hinge_energy_lanes(&g.stiffness, &g.rest, g.x, &E);
        for (size_t l = 0; l < g.n; l++) sum += E[l];
    }
    return sum;
}

static void hinge_gradients(const abut_codim_ask *a, size_t lo, size_t hi, double *f)
{
    bend_group g;
    for (; lo < hi; lo += g.n) {
        abut_lanes F[12];
        bend_group_at(a, lo, hi, &g);
        const abut_lanes k = a->scale * g.stiffness;
        abut_hinge_gradient_lanes(&k, &g.rest, g.x, F);
        for (size_t l = 0; l < g.n; l++)
            for (size_t i = 0; i < 12; i++) f[12 * (lo + l - a->base) + i] = F[i][l];
    }
}

static void hinges_as_is(const abut_codim_ask *a, size_t lo, size_t hi, double *H)
{
    for (size_t e = lo; e < hi; e++) {
        element at;
        element_at(a, ABUT_CODIM_HINGE, e, &at);
        abut_hinge_hessian_as_is(a->scale * at.stiffness, at.rest, at.x, H + abut_packed_size(4) * (e - a->base));
    }
}

static void hinge_hessians(const abut_codim_ask *a, size_t lo, size_t hi, double *H)
{
    bend_group g;
    for (; lo < hi; lo += g.n) {
        abut_lanes squares[48];
        bend_group_at(a, lo, hi, &g);
        const abut_lanes k = a->scale * g.stiffness;
        abut_hinge_squares_lanes(&k, &g.rest, g.x, squares);
        for (size_t l = 0; l < g.n; l++) {
            double v[48];
            for (int i = 0; i < 48; i++) v[i] = squares[i][l];
            if (a->add) abut_add_squares4(v, H + abut_packed_size(4) * (lo + l - a->base));
            else abut_set_squares4(v, H + abut_packed_size(4) * (lo + l - a->base));
        }
    }
}

/* ---- all kinds ---- */

double abut_codim_elements_energy(const abut_codim_ask *a, int kind, size_t lo, size_t hi)
{
    double sum = 0, g[9];
    if (kind == ABUT_CODIM_SHELL) return shell_energy(a, lo, hi);
    if (!(a->parts & ABUT_CODIM_ELASTIC)) return 0;
    if (kind == ABUT_CODIM_HINGE) return hinge_energies(a, lo, hi);
    for (size_t e = lo; e < hi; e++) {
        element at;
        element_at(a, kind, e, &at);
        sum += kind == ABUT_CODIM_ROD ? abut_rod_stretch_of(at.stiffness, at.rest, at.x, g)
                                      : abut_rod_bend_of(at.stiffness, at.x, g);
    }
    return sum;
}

void abut_codim_elements_gradient(const abut_codim_ask *a, int kind, size_t lo, size_t hi, double *f)
{
    if (kind == ABUT_CODIM_SHELL) {
        shell_gradient(a, lo, hi, f);
        return;
    }
    memset(f + 12 * (lo - a->base), 0, 12 * (hi - lo) * sizeof *f);
    if (!(a->parts & ABUT_CODIM_ELASTIC)) return;
    if (kind == ABUT_CODIM_HINGE) {
        hinge_gradients(a, lo, hi, f);
        return;
    }
    for (size_t e = lo; e < hi; e++) {
        element at;
        element_at(a, kind, e, &at);
        const double k = a->scale * at.stiffness;
        if (kind == ABUT_CODIM_ROD) (void)abut_rod_stretch_of(k, at.rest, at.x, f + 12 * (e - a->base));
        else (void)abut_rod_bend_of(k, at.x, f + 12 * (e - a->base));
    }
}

/* tension of a segment for the Hessian */
static double tension_of(const abut_codim_ask *a, size_t e, const element *at)
{
    if (a->as_is) return abut_rod_tension_of(at->stiffness, at->rest, at->x);
    return fmax(0, a->tension ? a->tension[e - a->t->first[ABUT_CODIM_ROD]]
                              : abut_rod_tension_of(at->stiffness, at->rest, at->x));
}

static void bend_hessian(double k, const double x[9], int project, double *H)
{
    void (*const add)(int, double, double, const double *, const double *, double *) =
        project ? abut_two_modes_add_positive : abut_two_modes_add;
    abut_rod_modes m;
    const int n = abut_rod_modes_of(k, x, &m) ? 4 : 0;
    for (int i = 0; i < n; i++) add(3, m.d[i], m.o[i], m.u[i], m.w[i], H);
}

void abut_codim_elements_hessian(const abut_codim_ask *a, int kind, size_t lo, size_t hi, double *H)
{
    const int elastic = a->parts & ABUT_CODIM_ELASTIC;
    const size_t size = abut_packed_size(4);
    if (kind == ABUT_CODIM_SHELL) {
        shell_hessian(a, lo, hi, H);
        return;
    }
    if (!a->add && !(elastic && kind == ABUT_CODIM_HINGE && !a->as_is)) memset(H + size * (lo - a->base), 0,
                                                                               size * (hi - lo) * sizeof *H);
    if (!elastic) return;
    if (kind == ABUT_CODIM_HINGE) {
        if (a->as_is) hinges_as_is(a, lo, hi, H);
        else hinge_hessians(a, lo, hi, H);
        return;
    }
    for (size_t e = lo; e < hi; e++) {
        element at;
        element_at(a, kind, e, &at);
        const double k = a->scale * at.stiffness;
        if (kind == ABUT_CODIM_ROD)
            abut_rod_stretch_hessian_of(k, at.rest, a->scale * tension_of(a, e, &at), at.x, H + size * (e - a->base));
        else
            bend_hessian(k, at.x, !a->as_is, H + size * (e - a->base));
    }
}

void abut_codim_tension(const abut_codim *t, const double *x, double *tension)
{
    const abut_codim_ask ask = { .t = t, .x = x };
    for (size_t e = t->first[ABUT_CODIM_ROD]; e < t->first[ABUT_CODIM_ROD + 1]; e++) {
        element at;
        element_at(&ask, ABUT_CODIM_ROD, e, &at);
        tension[e - t->first[ABUT_CODIM_ROD]] = abut_rod_tension_of(at.stiffness, at.rest, at.x);
    }
}

void abut_codim_tension_forecast(const abut_codim *t, const double *z, const double *x0, const double *x1, double reach,
                                double share, double *tension)
{
    const abut_codim_ask ask = { .t = t, .x = z };
    for (size_t e = t->first[ABUT_CODIM_ROD]; e < t->first[ABUT_CODIM_ROD + 1]; e++) {
        const size_t a = 3 * (size_t)t->node[4 * e], b = 3 * (size_t)t->node[4 * e + 1];
        element at;
        element_at(&ask, ABUT_CODIM_ROD, e, &at);
        double before[6], after[6], *T = tension + (e - t->first[ABUT_CODIM_ROD]);
        for (size_t k = 0; k < 6; k++) {
            before[k] = x0[(k < 3 ? a : b) + k % 3];
            after[k] = x1[(k < 3 ? a : b) + k % 3];
        }
        *T = abut_rod_forecast_of(at.stiffness, at.rest, at.x, before, after, reach, share, *T);
    }
}

double abut_codim_bend_stiffness(const abut_codim *t, double *each)
{
    abut_acc sum = { 0, 0 };
    for (int kind = ABUT_CODIM_HINGE; kind < ABUT_CODIM_KINDS; kind++)
        for (size_t e = t->first[kind]; e < t->first[kind + 1]; e++) {
            double stiffness, rest;
            numbers(t, kind, e, &stiffness, &rest);
            abut_acc_add(&sum, stiffness);
            each[t->model->body[t->node[4 * e]]] += stiffness;
        }
    return sum.hi + sum.lo;
}

/* ---- edges ---- */

static double dot(const double *a, const double *b) { return abut_v3_dot(abut_v3_get(a), abut_v3_get(b)); }

/* e_i.d_j + d_i.e_j: twice an entry of the symmetric part of e^T d */
static double twice(const double *e, const double *d, int i, int j)
{
    return dot(e + 3 * i, d + 3 * j) + dot(d + 3 * i, e + 3 * j);
}

static void segment(const double *e, const double *d, const double *meant, double *u)
{
    const double C = dot(e, e), M = dot(e, meant);
    const double X = twice(e, d, 0, 0) + dot(d, d) - 2 * M - (C > 0 ? M * M / C : 0), half = C > 0 ? 0.5 * X / C : 0;
    for (int i = 0; i < 3; i++) u[i] = half * e[i];
}

/* Y = C^-1 X for C = (a b, b c), X = (X0 X1, X1 X2), both symmetric */
static void divide(double a, double b, double c, const double X[3], double Y[4])
{
    const double det = a * c - b * b, by = det > 16 * DBL_EPSILON * a * c ? 1 / det : 0;
    Y[0] = by * (c * X[0] - b * X[1]), Y[1] = by * (c * X[1] - b * X[2]);
    Y[2] = by * (a * X[1] - b * X[0]), Y[3] = by * (a * X[2] - b * X[1]);
}

static void triangle(const double *e, const double *d, const double *meant, double *u)
{
    const double a = dot(e, e), b = dot(e, e + 3), c = dot(e + 3, e + 3);
    double M[3], X[3], Y[4];
    for (int k = 0; k < 3; k++) {
        const int i = k / 2, j = (k + 1) / 2;
        M[k] = 0.5 * twice(e, meant, i, j);
        X[k] = twice(e, d, i, j) + dot(d + 3 * i, d + 3 * j) - 2 * M[k];
    }
    divide(a, b, c, M, Y);
    X[0] -= M[0] * Y[0] + M[1] * Y[2];
    X[1] -= M[0] * Y[1] + M[1] * Y[3];
    X[2] -= M[1] * Y[1] + M[2] * Y[3];
    divide(a, b, c, X, Y);
    for (int i = 0; i < 3; i++) {
        u[i] = 0.5 * (e[i] * Y[0] + e[3 + i] * Y[2]);
        u[3 + i] = 0.5 * (e[i] * Y[1] + e[3 + i] * Y[3]);
    }
}

void abut_turn_edges(int k, const double *e, const double *d, const double *meant, double *u)
{
    if (k == 2) triangle(e, d, meant, u);
    else segment(e, d, meant, u);
}

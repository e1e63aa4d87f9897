#include "energy/codim_bend.h"

#include "base/par.h"
#include "energy/hinge.h"
#include "energy/rod.h"
#include "energy/rod_inline.h"
#include "energy/material/two_modes.h"
#include "sparse/packed_inline.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

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
typedef struct group {
    size_t n;
    abut_lanes x[12], stiffness, rest;
} group;

static void group_at(const abut_codim_ask *a, size_t e, size_t hi, group *g)
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
    group g;
    for (; lo < hi; lo += g.n) {
        abut_lanes E;
        group_at(a, lo, hi, &g);
        abut_hinge_energy_lanes(&g.stiffness, &g.rest, g.x, &E);
        for (size_t l = 0; l < g.n; l++) sum += E[l];
    }
    return sum;
}

static void hinge_gradients(const abut_codim_ask *a, size_t lo, size_t hi, double *f)
{
    group g;
    for (; lo < hi; lo += g.n) {
        abut_lanes F[12];
        group_at(a, lo, hi, &g);
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
    group g;
    for (; lo < hi; lo += g.n) {
        abut_lanes squares[48];
        group_at(a, lo, hi, &g);
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

double abut_codim_bend_energy(const abut_codim_ask *a, int kind, size_t lo, size_t hi)
{
    double sum = 0;
    if (!(a->parts & ABUT_CODIM_ELASTIC)) return 0;
    if (kind == ABUT_CODIM_HINGE) return hinge_energies(a, lo, hi);
    for (size_t e = lo; e < hi; e++) {
        element at;
        element_at(a, kind, e, &at);
        sum += kind == ABUT_CODIM_ROD ? abut_rod_stretch_energy(at.stiffness, at.rest, at.x)
                                     : abut_rod_bend_energy(at.stiffness, at.x);
    }
    return sum;
}

void abut_codim_bend_gradient(const abut_codim_ask *a, int kind, size_t lo, size_t hi, double *f)
{
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
        if (kind == ABUT_CODIM_ROD) abut_rod_stretch_gradient(k, at.rest, at.x, f + 12 * (e - a->base));
        else abut_rod_bend_gradient(k, at.x, f + 12 * (e - a->base));
    }
}

/* tension of a segment for the Hessian */
static double tension_of(const abut_codim_ask *a, size_t e, const element *at)
{
    if (a->as_is) return abut_rod_tension(at->stiffness, at->rest, at->x);
    return fmax(0, a->tension ? a->tension[e - a->t->first[ABUT_CODIM_ROD]]
                              : abut_rod_tension(at->stiffness, at->rest, at->x));
}

void abut_codim_bend_hessian(const abut_codim_ask *a, int kind, size_t lo, size_t hi, double *H)
{
    const int elastic = a->parts & ABUT_CODIM_ELASTIC;
    const size_t size = abut_packed_size(4);
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
            abut_rod_stretch_hessian(k, at.rest, a->scale * tension_of(a, e, &at), at.x, H + size * (e - a->base));
        else
            abut_rod_bend_hessian(k, at.x, !a->as_is, H + size * (e - a->base));
    }
}

void abut_codim_tension(const abut_codim *t, const double *x, double *tension)
{
    const abut_codim_ask ask = { .t = t, .x = x };
    for (size_t e = t->first[ABUT_CODIM_ROD]; e < t->first[ABUT_CODIM_ROD + 1]; e++) {
        element at;
        element_at(&ask, ABUT_CODIM_ROD, e, &at);
        tension[e - t->first[ABUT_CODIM_ROD]] = abut_rod_tension(at.stiffness, at.rest, at.x);
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

double abut_codim_bend_stiffness(const abut_codim *t)
{
    abut_acc sum = { 0, 0 };
    for (int kind = ABUT_CODIM_HINGE; kind < ABUT_CODIM_KINDS; kind++)
        for (size_t e = t->first[kind]; e < t->first[kind + 1]; e++) {
            double stiffness, rest;
            numbers(t, kind, e, &stiffness, &rest);
            abut_acc_add(&sum, stiffness);
        }
    return sum.hi + sum.lo;
}

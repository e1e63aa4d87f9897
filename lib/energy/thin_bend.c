#include "energy/thin_bend.h"

#include "base/par.h"
#include "energy/hinge.h"
#include "energy/rod.h"
#include "linalg/bsr.h"
#include "linalg/vec3.h"

#include <math.h>
#include <string.h>

/* One element: its corners at x, and the two numbers of its energy. */
typedef struct element {
    double x[12], stiffness, rest;
} element;

/* stiffness and rest length or angle of element e */
static void numbers(const abut_thin *t, int kind, size_t e, double *stiffness, double *rest)
{
    const abut_model *m = t->model;
    const size_t i = e - t->first[kind];
    switch (kind) {
    case ABUT_THIN_HINGE:
        *stiffness = m->hinge_stiffness[i];
        *rest = m->hinge_angle[i];
        return;
    case ABUT_THIN_ROD:
        *rest = m->rod_length[i];
        *stiffness = abut_rod_stretch_stiffness(m->mat_young[m->rod_mat[i]], m->rod_radius[i], *rest);
        return;
    default:
        *stiffness = m->bend_stiffness[i];
        *rest = 0;
    }
}

static void element_at(const abut_thin_ask *a, int kind, size_t e, element *at)
{
    const int32_t *v = a->t->node + 4 * e;
    for (int c = 0; c < 4; c++)
        for (int d = 0; d < 3; d++) at->x[3 * c + d] = v[c] < 0 ? 0 : a->x[3 * (size_t)v[c] + (size_t)d];
    numbers(a->t, kind, e, &at->stiffness, &at->rest);
}

double abut_thin_bend_energy(const abut_thin_ask *a, int kind, size_t lo, size_t hi)
{
    double sum = 0;
    for (size_t e = a->parts & ABUT_THIN_ELASTIC ? lo : hi; e < hi; e++) {
        element at;
        element_at(a, kind, e, &at);
        switch (kind) {
        case ABUT_THIN_HINGE: sum += abut_hinge_energy(at.stiffness, at.rest, at.x); break;
        case ABUT_THIN_ROD: sum += abut_rod_stretch_energy(at.stiffness, at.rest, at.x); break;
        default: sum += abut_rod_bend_energy(at.stiffness, at.x);
        }
    }
    return sum;
}

void abut_thin_bend_gradient(const abut_thin_ask *a, int kind, size_t lo, size_t hi, double *f)
{
    memset(f + 12 * lo, 0, 12 * (hi - lo) * sizeof *f);
    for (size_t e = a->parts & ABUT_THIN_ELASTIC ? lo : hi; e < hi; e++) {
        element at;
        element_at(a, kind, e, &at);
        const double k = a->scale * at.stiffness;
        switch (kind) {
        case ABUT_THIN_HINGE: abut_hinge_gradient(k, at.rest, at.x, f + 12 * e); break;
        case ABUT_THIN_ROD: abut_rod_stretch_gradient(k, at.rest, at.x, f + 12 * e); break;
        default: abut_rod_bend_gradient(k, at.x, f + 12 * e);
        }
    }
}

/* what the Hessian takes for the tension of a segment */
static double tension_of(const abut_thin_ask *a, size_t e, const element *at)
{
    return a->tension ? a->tension[e - a->t->first[ABUT_THIN_ROD]] : abut_rod_tension(at->stiffness, at->rest, at->x);
}

void abut_thin_bend_hessian(const abut_thin_ask *a, int kind, size_t lo, size_t hi, double *H)
{
    for (size_t e = a->parts & ABUT_THIN_ELASTIC ? lo : hi; e < hi; e++) {
        element at;
        element_at(a, kind, e, &at);
        const double k = a->scale * at.stiffness;
        switch (kind) {
        case ABUT_THIN_HINGE: abut_hinge_hessian(k, at.rest, at.x, 1, H + ABUT_PACKED * e); break;
        case ABUT_THIN_ROD:
            abut_rod_stretch_hessian(k, at.rest, a->scale * fmax(0, tension_of(a, e, &at)), at.x, H + ABUT_PACKED * e);
            break;
        default: abut_rod_bend_hessian(k, at.x, 1, H + ABUT_PACKED * e);
        }
    }
}

void abut_thin_tension(const abut_thin *t, const double *x, double *tension)
{
    const abut_thin_ask ask = { .t = t, .x = x };
    for (size_t e = t->first[ABUT_THIN_ROD]; e < t->first[ABUT_THIN_ROD + 1]; e++) {
        element at;
        element_at(&ask, ABUT_THIN_ROD, e, &at);
        tension[e - t->first[ABUT_THIN_ROD]] = abut_rod_tension(at.stiffness, at.rest, at.x);
    }
}

void abut_thin_tension_forecast(const abut_thin *t, const double *z, const double *x0, const double *x1, double reach,
                                double share, double *tension)
{
    const abut_thin_ask ask = { .t = t, .x = z };
    for (size_t e = t->first[ABUT_THIN_ROD]; e < t->first[ABUT_THIN_ROD + 1]; e++) {
        const size_t a = 3 * (size_t)t->node[4 * e], b = 3 * (size_t)t->node[4 * e + 1];
        element at;
        element_at(&ask, ABUT_THIN_ROD, e, &at);
        const abut_vec3 along = abut_v3_sub(abut_v3_get(at.x + 3), abut_v3_get(at.x));
        const abut_vec3 before = abut_v3_sub(abut_v3_get(x0 + b), abut_v3_get(x0 + a));
        const abut_vec3 after = abut_v3_sub(abut_v3_get(x1 + b), abut_v3_get(x1 + a));
        const double l = abut_v3_norm(along), grown = reach * abut_v3_dot(along, abut_v3_sub(after, before)) / l;
        const double per_metre = 2 * at.stiffness / (at.rest * at.rest);
        double *T = tension + (e - t->first[ABUT_THIN_ROD]);
        *T = (1 - share) * *T + per_metre * (share * (l - at.rest) + grown);
    }
}

double abut_thin_bend_stiffness(const abut_thin *t)
{
    abut_acc sum = { 0, 0 };
    for (int kind = ABUT_THIN_HINGE; kind < ABUT_THIN_KINDS; kind++)
        for (size_t e = t->first[kind]; e < t->first[kind + 1]; e++) {
            double stiffness, rest;
            numbers(t, kind, e, &stiffness, &rest);
            abut_acc_add(&sum, stiffness);
        }
    return sum.hi + sum.lo;
}

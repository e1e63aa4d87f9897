#include "energy/rod.h"

#include "energy/material/two_modes.h"

#include <math.h>
#include <string.h>

#define FOLDED 1e-13        /* of |u + v|: below it the angle is rounding */

static const double PI = 3.14159265358979323846;

double abut_rod_stretch_stiffness(double young, double radius, double rest)
{
    return 0.5 * PI * radius * radius * rest * young;
}

/* ---- stretch ---- */

/* unit direction; returns the length */
static double direction(const double *from, const double *to, abut_vec3 *u)
{
    const abut_vec3 e = abut_v3_sub(abut_v3_get(to), abut_v3_get(from));
    const double l = abut_v3_norm(e);
    *u = abut_v3_scale(1 / l, e);
    return l;
}

double abut_rod_stretch_energy(double w, double rest, const double x[6])
{
    abut_vec3 u;
    const double l = direction(x, x + 3, &u), s = (l - rest) / rest;
    return l > 0 ? w * s * s : INFINITY;
}

void abut_rod_stretch_gradient(double w, double rest, const double x[6], double g[6])
{
    abut_vec3 u;
    const double l = direction(x, x + 3, &u), f = l > 0 ? 2 * w / rest * ((l - rest) / rest) : 0;
    if (!(l > 0)) u = abut_v3(0, 0, 0);
    abut_v3_put(g, abut_v3_scale(-f, u));
    abut_v3_put(g + 3, abut_v3_scale(f, u));
}

double abut_rod_tension(double w, double rest, const double x[6])
{
    abut_vec3 u;
    return 2 * w / rest * ((direction(x, x + 3, &u) - rest) / rest);
}

void abut_rod_stretch_hessian(double w, double rest, double tension, const double x[6], double *H)
{
    enum { B00 = 0, B01 = 9, B11 = 36 };
    abut_vec3 n;
    const double l = direction(x, x + 3, &n), along = 2 * w / (rest * rest), across = tension / l;
    if (!(l > 0)) return;
    const double u[3] = { n.x, n.y, n.z };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double h = along * u[i] * u[j] + across * ((i == j) - u[i] * u[j]);
            H[B00 + 3 * i + j] += h;
            H[B11 + 3 * i + j] += h;
            H[B01 + 3 * i + j] -= h;
        }
}

/* ---- bending ---- */

typedef struct bend {
    double le, lf;
    abut_vec3 u, v;         /* units of e and f */
    abut_vec3 diff;         /* v - u */
    double c1;              /* 1 + c */
    double tan2;            /* tan^2(phi/2) */
} bend;

/* 0: there is no angle */
static int bend_of(const double x[9], bend *b)
{
    b->le = direction(x, x + 3, &b->u);
    b->lf = direction(x + 3, x + 6, &b->v);
    const abut_vec3 sum = abut_v3_add(b->u, b->v);
    b->diff = abut_v3_sub(b->v, b->u);
    b->c1 = 0.5 * abut_v3_norm2(sum);
    b->tan2 = abut_v3_norm2(b->diff) / abut_v3_norm2(sum);
    return b->le > 0 && b->lf > 0 && abut_v3_norm2(sum) > FOLDED * FOLDED;
}

double abut_rod_bend_energy(double k, const double x[9])
{
    bend b;
    return bend_of(x, &b) ? 4 * k * b.tan2 : INFINITY;
}

void abut_rod_bend_gradient(double k, const double x[9], double g[9])
{
    bend b;
    memset(g, 0, 9 * sizeof *g);
    if (!bend_of(x, &b)) return;
    /* dc/de = (v - c u)/|e|, the part of v - u across u; nearly straight rods need it without cancellation */
    const double f = -8 * k / (b.c1 * b.c1);
    const abut_vec3 de = abut_v3_scale(f / b.le, abut_v3_axpy(b.diff, -abut_v3_dot(b.u, b.diff), b.u));
    const abut_vec3 df = abut_v3_scale(-f / b.lf, abut_v3_axpy(b.diff, -abut_v3_dot(b.v, b.diff), b.v));
    abut_v3_put(g, abut_v3_scale(-1, de));
    abut_v3_put(g + 3, abut_v3_sub(de, df));
    abut_v3_put(g + 6, df);
}

/* A unit vector across u and v; of a straight rod any that is across u. */
static abut_vec3 binormal(abut_vec3 u, abut_vec3 v)
{
    abut_vec3 n = abut_v3_cross(u, v);
    if (!(abut_v3_norm2(n) > 0)) {
        const double x = fabs(u.x), y = fabs(u.y), z = fabs(u.z);
        n = abut_v3_cross(u, abut_v3(x <= y && x <= z, y < x && y <= z, z < x && z < y));
    }
    n = abut_v3_axpy(n, -abut_v3_dot(n, u), u);     /* a cross product of two that are nearly parallel may lean */
    return abut_v3_scale(1 / abut_v3_norm(n), n);
}

/* both[9], apart[9]: sum and difference over sqrt 2 of the components of df/|f| along dv and of de/|e| along du */
static void edge_modes(const bend *b, abut_vec3 du, abut_vec3 dv, double *both, double *apart)
{
    static const double first[3] = { -1, 1, 0 }, second[3] = { 0, -1, 1 };
    const double half = sqrt(0.5);
    double rowe[9], rowf[9];
    abut_mode_row(3, first, du, half / b->le, rowe);
    abut_mode_row(3, second, dv, half / b->lf, rowf);
    for (int i = 0; i < 9; i++) {
        both[i] = rowf[i] + rowe[i];
        apart[i] = rowf[i] - rowe[i];
    }
}

void abut_rod_bend_hessian(double k, const double x[9], int project, double *H)
{
    void (*const add)(int, double, double, const double *, const double *, double *) =
        project ? abut_two_modes_add_positive : abut_two_modes_add;
    bend b;
    if (!bend_of(x, &b)) return;
    const double t = sqrt(b.tan2), t1 = 1 + b.tan2;
    const double d1 = 4 * k * t * t1, d2 = 2 * k * (1 + 3 * b.tan2) * t1;    /* of 4 k tan^2(phi/2) by phi */
    const abut_vec3 n = binormal(b.u, b.v);
    double alpha[2][9], beta[2][9], eta[2][9];
    edge_modes(&b, abut_v3_cross(n, b.u), abut_v3_cross(n, b.v), alpha[0], alpha[1]);
    edge_modes(&b, b.u, b.v, beta[0], beta[1]);
    edge_modes(&b, n, n, eta[0], eta[1]);
    add(3, 2 * d2, -d1, alpha[1], beta[0], H);
    add(3, 0, -d1, alpha[0], beta[1], H);
    add(3, 4 * k * t1, 0, eta[1], eta[1], H);
    add(3, -d1 * t, 0, eta[0], eta[0], H);
}

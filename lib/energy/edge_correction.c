#include "energy/edge_correction.h"

#include "math/vec3.h"

#include <float.h>

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

/* Elements of few corners with an energy, a gradient and a Hessian: checks of derivatives, projection and invariance. */
#ifndef ABUT_TESTS_STENCIL_H
#define ABUT_TESTS_STENCIL_H

#include "check.h"

#include "base/rng.h"
#include "math/spd_inline.h"
#include "math/vec3.h"
#include "sparse/packed_lanes.h"

#define PI 3.14159265358979323846

/* An element of some kind: corners, and its energy with the two numbers that it has. */
typedef struct kind {
    int corners;
    double (*energy)(double k, double rest, const double *x);
    void (*gradient)(double k, double rest, const double *x, double *g);
    void (*hessian)(double k, double rest, const double *x, int project, double *H);
} kind;

/* D[n x n], n = 3 corners, of a packed element matrix */
static inline void unpack(int corners, const double *H, double *D)
{
    const int n = 3 * corners;
    int k = 0;
    for (int a = 0; a < 4; a++)
        for (int c = a; c < 4; c++, k++)
            for (int i = 0; i < 9; i++) {
                const int p = 3 * a + i / 3, q = 3 * c + i % 3;
                if (c < corners) D[n * p + q] = D[n * q + p] = H[9 * k + i];
                else CHECK(H[9 * k + i] == 0);
            }
}

static inline double largest(const double *v, int n)
{
    double big = 0;
    for (int i = 0; i < n; i++) big = fmax(big, fabs(v[i]));
    return big;
}

/* Derivatives by central differences over t m of elements of about 1 m: they are off by t^2 of the next but one derivative, and
 * by rounding over t. */
static inline void check_derivatives(const kind *e, double k, double rest, const double *at, double t, double tol)
{
    const int n = 3 * e->corners;
    double x[12], g[12], H[ABUT_PACKED] = { 0 }, D[144], gu[12], gd[12];
    memcpy(x, at, (size_t)n * sizeof *x);
    e->gradient(k, rest, x, g);
    e->hessian(k, rest, x, 0, H);
    unpack(e->corners, H, D);
    const double force = largest(g, n), stiff = largest(D, n * n), E = e->energy(k, rest, x);
    for (int i = 0; i < n; i++) {
        x[i] = at[i] + t;
        const double more = e->energy(k, rest, x);
        e->gradient(k, rest, x, gu);
        x[i] = at[i] - t;
        const double less = e->energy(k, rest, x);
        e->gradient(k, rest, x, gd);
        x[i] = at[i];
        CHECK_NEAR((more - less) / (2 * t), g[i], tol * force + stiff * t * t + 1e-15 * E / t);
        for (int j = 0; j < n; j++) CHECK_NEAR((gu[j] - gd[j]) / (2 * t), D[n * j + i], 10 * tol * stiff + 1e-15 * force / t);
    }
}

/* The projected matrix is semidefinite, adds to the true one and only adds, and is the true one where that is semidefinite. */
static inline int check_projection(const kind *e, double k, double rest, const double *x)
{
    const int n = 3 * e->corners;
    double H[ABUT_PACKED] = { 0 }, T[144], P[144], M[144], w[12], Q[144];
    e->hessian(k, rest, x, 0, H);
    unpack(e->corners, H, T);
    memset(H, 0, sizeof H);
    e->hessian(k, rest, x, 1, H);
    unpack(e->corners, H, P);
    const double big = fmax(largest(P, n * n), largest(T, n * n));
    abut_sym_eigen(n, P, w, Q);
    for (int i = 0; i < n; i++) CHECK(w[i] >= -1e-12 * big);
    for (int i = 0; i < n * n; i++) M[i] = P[i] - T[i];
    abut_sym_eigen(n, M, w, Q);
    for (int i = 0; i < n; i++) CHECK(w[i] >= -1e-12 * big);
    abut_sym_eigen(n, T, w, Q);
    int negative = 0;
    for (int i = 0; i < n; i++) negative += w[i] < -1e-12 * big;
    if (!negative)
        for (int i = 0; i < n * n; i++) CHECK_NEAR(P[i], T[i], 1e-11 * big);
    return negative > 0;
}

/* A turn and a shift: y = R x + s, R from a random axis and angle. */
static inline void moved(abut_rng *r, int corners, const double *x, double *y, double R[9])
{
    const abut_vec3 v = abut_v3(abut_rng_real(r, -1, 1), abut_rng_real(r, -1, 1), abut_rng_real(r, -1, 1)),
                    a = abut_v3_scale(1 / abut_v3_norm(v), v);
    const double f = abut_rng_real(r, -3, 3), c = cos(f), s = sin(f), u[3] = { a.x, a.y, a.z };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double cross = i == j ? 0 : (j - i + 3) % 3 == 1 ? -u[3 - i - j] : u[3 - i - j];
            R[3 * i + j] = c * (i == j) + s * cross + (1 - c) * u[i] * u[j];
        }
    for (int p = 0; p < corners; p++)
        for (int i = 0; i < 3; i++)
            y[3 * p + i] = R[3 * i] * x[3 * p] + R[3 * i + 1] * x[3 * p + 1] + R[3 * i + 2] * x[3 * p + 2] + 0.3 * (i + 1);
}

/* Energy does not see a rigid motion, forces turn with it and balance in force and moment, and so does the projected matrix. */
static inline void check_invariance(const kind *e, abut_rng *r, double k, double rest, const double *x)
{
    const int n = 3 * e->corners;
    double y[12], R[9], g[12], q[12], H[ABUT_PACKED] = { 0 }, D[144], Q[144];
    moved(r, e->corners, x, y, R);
    const double E = e->energy(k, rest, x);
    CHECK_NEAR(e->energy(k, rest, y), E, 1e-12 * (E + k));
    e->gradient(k, rest, x, g);
    e->gradient(k, rest, y, q);
    const double force = largest(g, n) + k;
    double sum[3] = { 0 }, moment[3] = { 0 };
    for (int p = 0; p < e->corners; p++)
        for (int i = 0; i < 3; i++) {
            const double *gp = g + 3 * p;
            CHECK_NEAR(q[3 * p + i], R[3 * i] * gp[0] + R[3 * i + 1] * gp[1] + R[3 * i + 2] * gp[2], 1e-11 * force);
            sum[i] += gp[i];
            moment[i] += x[3 * p + (i + 1) % 3] * gp[(i + 2) % 3] - x[3 * p + (i + 2) % 3] * gp[(i + 1) % 3];
        }
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(sum[i], 0, 1e-13 * force);
        CHECK_NEAR(moment[i], 0, 1e-12 * force);
    }
    e->hessian(k, rest, x, 1, H);
    unpack(e->corners, H, D);
    memset(H, 0, sizeof H);
    e->hessian(k, rest, y, 1, H);
    unpack(e->corners, H, Q);
    const double big = largest(D, n * n);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            double s = 0;
            for (int i = 0; i < 9; i++) {
                const int row = a - a % 3 + i / 3, column = b - b % 3 + i % 3;
                s += R[3 * (a % 3) + i / 3] * D[n * row + column] * R[3 * (b % 3) + i % 3];
            }
            CHECK_NEAR(Q[n * a + b], s, 1e-10 * big);
        }
}

#endif

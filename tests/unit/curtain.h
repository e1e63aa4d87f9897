/* A curtain of springs as a MODEL and its first FRAME: for tests and benches of solvers with a constant matrix. */
#ifndef ABUT_TESTS_CURTAIN_H
#define ABUT_TESTS_CURTAIN_H

#include "fixture.h"

/* n x n nodes in the plane y = 0, 1 m wide, 1 kg, springs of k N/m along edges and both diagonals, two corners tied; h 1/30 s,
 * no contact */
static inline void curtain_arrays(int n, double k, double tolerance, abut_arrays *set, abut_arrays *frame)
{
    const int nv = n * n, ns = 2 * n * (n - 1) + 2 * (n - 1) * (n - 1);
    const double d = 1.0 / (n - 1), h = 1.0 / 30, one = 1, gravity[3] = { 0, -9.8, 0 }, length = sqrt(2), dhat = 1e-3, zero = 0;
    const int32_t lags = 1, none[1] = { 0 };
    double *X = calloc(3 * (size_t)nv, sizeof *X), *mass = calloc((size_t)nv, sizeof *mass),
           *rest = calloc((size_t)ns, sizeof *rest), *stiff = calloc((size_t)ns, sizeof *stiff);
    int32_t *ints = calloc((size_t)nv, sizeof *ints), *spring = calloc(2 * (size_t)ns, sizeof *spring);
    int s = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            static const int to[4][2] = { { 1, 0 }, { 0, 1 }, { 1, 1 }, { 1, -1 } };
            X[3 * (i * n + j)] = i * d, X[3 * (i * n + j) + 2] = j * d;
            mass[i * n + j] = 1.0 / nv;
            for (int q = 0; q < 4; q++) {
                const int a = i + to[q][0], b = j + to[q][1];
                if (a >= n || b < 0 || b >= n) continue;
                spring[2 * s] = i * n + j, spring[2 * s + 1] = a * n + b;
                rest[s] = q < 2 ? d : d * sqrt(2);
                stiff[s++] = k;
            }
        }
    CHECK(s == ns);
    const int32_t tie[10] = { 0, -1, -1, -1, -1, (n - 1) * n, -1, -1, -1, -1 };
    const double weight[8] = { 0 }, offset[6] = { 0, 0, 0, 1, 0, 0 }, strong[2] = { 100 * k, 100 * k };
    FIXTURE_PUT("node/X", nv, X);
    FIXTURE_PUT("node/mass", nv, mass);
    FIXTURE_PUT("node/role", nv, ints);
    FIXTURE_PUT("node/object", nv, ints);
    FIXTURE_PUT("object/friction", 1, none);
    FIXTURE_PUT("contact/mu", 1, &zero);
    FIXTURE_PUT("spring/node", ns, spring);
    FIXTURE_PUT("spring/length", ns, rest);
    FIXTURE_PUT("spring/stiffness", ns, stiff);
    FIXTURE_PUT("attachment/node", 2, tie);
    FIXTURE_PUT("attachment/weight", 2, weight);
    FIXTURE_PUT("attachment/offset", 2, offset);
    FIXTURE_PUT("attachment/stiffness", 2, strong);
    FIXTURE_PUT("world/gravity", 3, gravity);
    FIXTURE_PUT("time/step", 1, &h);
    FIXTURE_PUT("scene/length", 1, &length);
    FIXTURE_PUT("contact/dhat", 1, &dhat);
    FIXTURE_PUT("contact/eps-v", 1, &dhat);
    FIXTURE_PUT("contact/lags", 1, &lags);
    FIXTURE_PUT("solve/tolerance", 1, &tolerance);
    FIXTURE_PUT("contact/kappa-min", 1, &one);
    FIXTURE_PUT("contact/kappa-max", 1, &one);
    abut_err err = { 0 };
    double *x = abut_frame_put(frame, "node/x", nv, &err);
    memcpy(x, X, 3 * (size_t)nv * sizeof *x);
    CHECK(abut_frame_put(frame, "node/v", nv, &err) != NULL);
    free(X);
    free(mass);
    free(rest);
    free(stiff);
    free(ints);
    free(spring);
}

#endif

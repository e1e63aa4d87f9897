#include "energy/material/materials.h"

#include <math.h>

#define ROW(id, name, traits) &abut_material_##id,
const abut_material_ops *const abut_materials[] = { ABUT_MATERIALS(ROW) };

/* I = s0^2 + s1^2 + s2^2, J = det F, L = ln J */
const abut_material_ops abut_material_neo_hookean = {
    "mu/2 (I - 3) - mu L + lambda/2 L^2: Li 2020, 2.2", ABUT_NEEDS_F, NULL
};
const abut_material_ops abut_material_fixed_corotated = {
    "mu sum (s_i - 1)^2 + lambda/2 (J - 1)^2: Stomakhin 2012", ABUT_NEEDS_ROTATION, NULL
};
const abut_material_ops abut_material_stable_neo_hookean = {    /* less its value at rest */
    "m/2 (I - 3) + q/2 (J - a)^2 - m/2 ln(I + 1), m = 4/3 mu, q = lambda + 5/6 mu, a = 1 + 3/4 m/q: Smith 2018, eq. 14",
    ABUT_NEEDS_F, NULL
};
const abut_material_ops abut_material_stvk = { "mu E:E + lambda/2 tr(E)^2, E = (F^T F - 1)/2", ABUT_NEEDS_F, NULL };
const abut_material_ops abut_material_arap = { "mu sum (s_i - 1)^2", ABUT_NEEDS_ROTATION, NULL };
const abut_material_ops abut_material_linear_corotated = {
    "mu sum (s_i - 1)^2 + lambda/2 (sum (s_i - 1))^2", ABUT_NEEDS_ROTATION, NULL
};
const abut_material_ops abut_material_polynomial = { "mu sum (s_i - 1)^4: Liu 2018, 7.1", ABUT_NEEDS_STRETCHES, NULL };
const abut_material_ops abut_material_spline = { "curves of stretches, areas and J: Xu 2015", ABUT_NEEDS_STRETCHES, NULL };

void abut_invariants(const double s[3], double I[3])
{
    const double c[3] = { s[0] * s[0], s[1] * s[1], s[2] * s[2] };
    I[0] = c[0] + c[1] + c[2];
    I[1] = c[0] * c[1] + c[1] * c[2] + c[2] * c[0];
    I[2] = s[0] * s[1] * s[2];
}

void abut_principal_of_invariants(const double s[3], const abut_invariant_form *w, abut_principal *out)
{
    double g[3][3];     /* g[i]: of the invariants in s_i */
    out->psi = w->psi;
    for (int i = 0; i < 3; i++) {
        const double a = s[(i + 1) % 3], b = s[(i + 2) % 3];
        g[i][0] = 2 * s[i];
        g[i][1] = 2 * s[i] * (a * a + b * b);
        g[i][2] = a * b;
        out->d[i] = w->d[0] * g[i][0] + w->d[1] * g[i][1] + w->d[2] * g[i][2];
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double ab = s[j] * s[k];
        out->A[4 * i] = 2 * w->d[0] + 2 * w->d[1] * (s[j] * s[j] + s[k] * s[k]);
        out->A[3 * j + k] = out->A[3 * k + j] = 4 * w->d[1] * ab + w->d[2] * s[i];
        out->flip[i] = 2 * w->d[0] + 2 * w->d[1] * (s[i] * s[i] - ab) - w->d[2] * s[i];
        out->twist[i] = 2 * w->d[0] + 2 * w->d[1] * (s[i] * s[i] + ab) + w->d[2] * s[i];
    }
    for (int e = 0; e < 9; e++)
        for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++) out->A[e] += w->A[3 * p + q] * g[e / 3][p] * g[e % 3][q];
}

void abut_principal_of_stretches(abut_stretch_density f, double mu, double lambda, const double s[3], abut_principal *out)
{
    f(mu, lambda, s, &out->psi, out->d, out->A);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double t = s[j] - s[k], mean = 0.5 * (s[j] + s[k]);
        out->twist[i] = (out->d[j] + out->d[k]) / abut_stretch_sum(s[j], s[k]);
        out->flip[i] = (out->d[j] - out->d[k]) / t;
        if (fabs(t) > 1e-3) continue;
        /* psi_j - psi_k is odd in t; its derivative, at the points of Gauss's rule of -t .. t */
        double at[3] = { s[0], s[1], s[2] }, psi, d[3], A[9];
        at[j] = mean + t / sqrt(12);
        at[k] = mean - t / sqrt(12);
        f(mu, lambda, at, &psi, d, A);
        out->flip[i] = 0.5 * (A[4 * j] + A[4 * k]) - A[3 * j + k];
    }
}

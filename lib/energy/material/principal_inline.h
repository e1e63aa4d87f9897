/* Isotropic densities by principal stretches (energy/material/materials.h), and principal forms of densities that are given by
 * less: by invariants, or by stretches. */
#ifndef ABUT_ENERGY_MATERIAL_PRINCIPAL_INLINE_H
#define ABUT_ENERGY_MATERIAL_PRINCIPAL_INLINE_H

#include "base/fn.h"

#include <math.h>

/* Everything the second derivative of an isotropic density needs, at principal stretches s.
 * The nine eigenpairs of d2psi/dF2: three in the span of U diag(q) V^T, from the eigenvectors q of A; for each pair
 * i, j with third index k, a symmetric mode U (E_ij + E_ji) V^T / sqrt 2 with eigenvalue flip[k] =
 * (psi_i - psi_j)/(s_i - s_j) and a skew mode with eigenvalue twist[k] = (psi_i + psi_j)/(s_i + s_j). */
typedef struct abut_principal {
    double psi;         /* J/m^3 */
    double d[3];        /* psi_i = dpsi/ds_i */
    double A[9];        /* d2psi/ds_i ds_j, row major */
    double flip[3];
    double twist[3];
} abut_principal;

/** s_i + s_j kept away from zero, with its sign: beyond the flip of an inverted element the twist has no limit. */
ABUT_FN double abut_stretch_sum(double si, double sj)
{
    const double sum = si + sj;
    return sum >= 1e-6 || sum <= -1e-6 ? sum : sum < 0 ? -1e-6 : 1e-6;
}

/* An energy density of the invariants I[3] = tr C, (tr(C)^2 - tr(C^2))/2, det F, C = F^T F: value, first and second
 * derivatives (A symmetric, row major). */
typedef struct abut_invariant_form {
    double psi, d[3], A[9];
} abut_invariant_form;

static inline void abut_invariants(const double s[3], double I[3])
{
    const double c[3] = { s[0] * s[0], s[1] * s[1], s[2] * s[2] };
    I[0] = c[0] + c[1] + c[2];
    I[1] = c[0] * c[1] + c[1] * c[2] + c[2] * c[0];
    I[2] = s[0] * s[1] * s[2];
}

/** The principal form at s of the density w of invariants, without division by differences of stretches. */
static inline void abut_principal_of_invariants(const double s[3], const abut_invariant_form *w, abut_principal *out)
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

/** The principal form of an energy density f of stretches, symmetric in them: psi, d[3] = dpsi/ds, A[9].  Quotients of
 * differences of close stretches are integrals of A by Gauss's rule: within 1e-12 of their size. */
typedef void (*abut_stretch_density)(double mu, double lambda, const double s[3], double *psi, double d[3], double A[9]);
static inline void abut_principal_of_stretches(abut_stretch_density f, double mu, double lambda, const double s[3],
                                               abut_principal *out)
{
    f(mu, lambda, s, &out->psi, out->d, out->A);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double t = s[j] - s[k], mean = 0.5 * (s[j] + s[k]);
        out->twist[i] = (out->d[j] + out->d[k]) / abut_stretch_sum(s[j], s[k]);
        if (fabs(t) > 1e-3) {
            out->flip[i] = (out->d[j] - out->d[k]) / t;
            continue;
        }
        /* psi_j - psi_k is odd in t: the mean of its derivative over -t .. t, at both points of Gauss's rule alike */
        double at[3] = { s[0], s[1], s[2] }, psi, d[3], A[9];
        at[j] = mean + t / sqrt(12);
        at[k] = mean - t / sqrt(12);
        f(mu, lambda, at, &psi, d, A);
        out->flip[i] = 0.5 * (A[4 * j] + A[4 * k]) - A[3 * j + k];
    }
}

#endif

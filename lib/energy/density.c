#include "energy/density.h"

#include "linalg/mat3.h"
#include "linalg/spd.h"
#include "linalg/svd3.h"

#include <math.h>

typedef struct density {
    abut_density_needs needs;
    /* psi and P straight from F, NULL for a density that needs more even for its value */
    double (*direct)(double mu, double lambda, const double F[9], double *P);
    void (*principal)(double mu, double lambda, const double s[3], abut_principal *out);
} density;

/* ---- neo-Hookean ---- */

static double nh_direct(double mu, double lambda, const double F[9], double *P)
{
    double cof[9];
    abut_m3_cofactor(cof, F);
    const double J = F[0] * cof[0] + F[1] * cof[1] + F[2] * cof[2];
    if (!(J > 0)) return INFINITY;
    const double L = log(J);
    if (P) {
        const double p = (lambda * L - mu) / J;
        for (int i = 0; i < 9; i++) P[i] = mu * F[i] + p * cof[i];
    }
    return 0.5 * mu * (abut_m3_dot(F, F) - 3) + L * (0.5 * lambda * L - mu);
}

static void nh_principal(double mu, double lambda, const double s[3], abut_principal *out)
{
    const double L = log(s[0] * s[1] * s[2]), r[3] = { 1 / s[0], 1 / s[1], 1 / s[2] };
    const double c = mu - lambda * L;
    out->psi = 0.5 * mu * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2] - 3) + L * (0.5 * lambda * L - mu);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double rjk = r[j] * r[k];
        out->d[i] = mu * s[i] - c * r[i];
        out->A[4 * i] = mu + (c + lambda) * r[i] * r[i];
        out->A[3 * j + k] = out->A[3 * k + j] = lambda * rjk;
        out->flip[i] = mu + c * rjk;
        out->twist[i] = mu - c * rjk;
    }
}

/* ---- fixed corotated ---- */

static void fcr_principal(double mu, double lambda, const double s[3], abut_principal *out)
{
    const double J = s[0] * s[1] * s[2], pressure = lambda * (J - 1);
    out->psi = 0.5 * pressure * (J - 1);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double cof = s[j] * s[k];
        out->psi += mu * (s[i] - 1) * (s[i] - 1);
        out->d[i] = 2 * mu * (s[i] - 1) + pressure * cof;
        out->A[4 * i] = 2 * mu + lambda * cof * cof;
        out->A[3 * j + k] = out->A[3 * k + j] = lambda * (2 * J - 1) * s[i];
        out->flip[i] = 2 * mu - pressure * s[i];
        out->twist[i] = 2 * mu * (1 - 2 / abut_stretch_sum(s[j], s[k])) + pressure * s[i];
    }
}

/* ---- stable neo-Hookean ---- */

static double snh_direct(double mu, double lambda, const double F[9], double *P)
{
    const double m = 4.0 / 3.0 * mu, q = lambda + 5.0 / 6.0 * mu, a = 1 + 0.75 * m / q;
    double cof[9];
    abut_m3_cofactor(cof, F);
    const double J = F[0] * cof[0] + F[1] * cof[1] + F[2] * cof[2], I = abut_m3_dot(F, F);
    if (P) {
        const double f = m * (1 - 1 / (I + 1)), p = q * (J - a);
        for (int i = 0; i < 9; i++) P[i] = f * F[i] + p * cof[i];
    }
    return 0.5 * m * (I - 3 - log((I + 1) / 4)) + 0.5 * q * (J - 1) * (J + 1 - 2 * a);
}

static void snh_principal(double mu, double lambda, const double s[3], abut_principal *out)
{
    const double m = 4.0 / 3.0 * mu, q = lambda + 5.0 / 6.0 * mu, a = 1 + 0.75 * m / q;
    const double I = s[0] * s[0] + s[1] * s[1] + s[2] * s[2], J = s[0] * s[1] * s[2];
    const double f = m * (1 - 1 / (I + 1)), p = q * (J - a), g = 2 * m / ((I + 1) * (I + 1));
    out->psi = 0.5 * m * (I - 3 - log((I + 1) / 4)) + 0.5 * q * (J - 1) * (J + 1 - 2 * a);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double cof = s[j] * s[k];
        out->d[i] = f * s[i] + p * cof;
        out->A[4 * i] = f + g * s[i] * s[i] + q * cof * cof;
        out->A[3 * j + k] = out->A[3 * k + j] = g * s[j] * s[k] + q * (2 * J - a) * s[i];
        out->flip[i] = f - p * s[i];
        out->twist[i] = f + p * s[i];
    }
}

/* ---- St. Venant-Kirchhoff ---- */

static double stvk_direct(double mu, double lambda, const double F[9], double *P)
{
    double E[9], S[9];
    abut_m3_mul_tn(E, F, F);
    for (int i = 0; i < 9; i++) E[i] = 0.5 * (E[i] - (i % 4 == 0));
    const double tr = E[0] + E[4] + E[8];
    if (P) {
        for (int i = 0; i < 9; i++) S[i] = 2 * mu * E[i] + (i % 4 == 0 ? lambda * tr : 0);
        abut_m3_mul(P, F, S);
    }
    return mu * abut_m3_dot(E, E) + 0.5 * lambda * tr * tr;
}

static void stvk_principal(double mu, double lambda, const double s[3], abut_principal *out)
{
    const double I = s[0] * s[0] + s[1] * s[1] + s[2] * s[2], p = 0.5 * lambda * (I - 3);
    out->psi = 0.25 * p * (I - 3);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double e = s[i] * s[i] - 1, sum = s[j] * s[j] + s[k] * s[k] - 1, cross = s[j] * s[k];
        out->psi += 0.25 * mu * e * e;
        out->d[i] = (mu * e + p) * s[i];
        out->A[4 * i] = mu * (3 * e + 2) + p + lambda * s[i] * s[i];
        out->A[3 * j + k] = out->A[3 * k + j] = lambda * cross;
        out->flip[i] = mu * (sum + cross) + p;
        out->twist[i] = mu * (sum - cross) + p;
    }
}

/* ---- as rigid as possible, linear corotated ---- */

static void corotated_principal(double mu, double lambda, const double s[3], abut_principal *out)
{
    const double tr = s[0] - 1 + (s[1] - 1) + (s[2] - 1);
    out->psi = 0.5 * lambda * tr * tr;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        out->psi += mu * (s[i] - 1) * (s[i] - 1);
        out->d[i] = 2 * mu * (s[i] - 1) + lambda * tr;
        out->A[4 * i] = 2 * mu + lambda;
        out->A[3 * j + k] = out->A[3 * k + j] = lambda;
        out->flip[i] = 2 * mu;
        out->twist[i] = 2 * (mu * (s[j] - 1 + (s[k] - 1)) + lambda * tr) / abut_stretch_sum(s[j], s[k]);
    }
}

static void arap_principal(double mu, double lambda, const double s[3], abut_principal *out)
{
    (void)lambda;
    corotated_principal(mu, 0, s, out);
}

/* ---- polynomial ---- */

static void polynomial_principal(double mu, double lambda, const double s[3], abut_principal *out)
{
    (void)lambda;
    const double e[3] = { s[0] - 1, s[1] - 1, s[2] - 1 };
    out->psi = 0;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double square = e[i] * e[i], sum = e[j] * e[j] + e[k] * e[k], cross = e[j] * e[k];
        out->psi += mu * square * square;
        out->d[i] = 4 * mu * square * e[i];
        out->A[4 * i] = 12 * mu * square;
        out->A[3 * j + k] = out->A[3 * k + j] = 0;
        out->flip[i] = 4 * mu * (sum + cross);
        out->twist[i] = 4 * mu * (sum - cross) * (e[j] + e[k]) / abut_stretch_sum(s[j], s[k]);
    }
}

static const density densities[] = {
    [ABUT_NEO_HOOKEAN] = { ABUT_NEEDS_F, nh_direct, nh_principal },
    [ABUT_FIXED_COROTATED] = { ABUT_NEEDS_ROTATION, NULL, fcr_principal },
    [ABUT_STABLE_NEO_HOOKEAN] = { ABUT_NEEDS_F, snh_direct, snh_principal },
    [ABUT_STVK] = { ABUT_NEEDS_F, stvk_direct, stvk_principal },
    [ABUT_ARAP] = { ABUT_NEEDS_ROTATION, NULL, arap_principal },
    [ABUT_LINEAR_COROTATED] = { ABUT_NEEDS_ROTATION, NULL, corotated_principal },
    [ABUT_POLYNOMIAL] = { ABUT_NEEDS_STRETCHES, NULL, polynomial_principal },
    [ABUT_SPLINE] = { ABUT_NEEDS_STRETCHES, NULL, NULL },
};

int abut_density_known(int model)
{
    return model >= 0 && model < (int)(sizeof densities / sizeof *densities);
}

abut_density_needs abut_density_need(int model)
{
    return densities[model].needs;
}

/* lambda/2 (J - 1)^2 more */
ABUT_LANES_INLINE void add_volume_change(const abut_lanes *lambda, const abut_lanes *F, abut_lanes *psi, abut_lanes *P)
{
    abut_lanes C[9];
    for (int i = 0; i < 9; i++) {
        const int a = 3 * ((i / 3 + 1) % 3), b = 3 * ((i / 3 + 2) % 3), p = (i + 1) % 3, q = (i + 2) % 3;
        C[i] = F[a + p] * F[b + q] - F[a + q] * F[b + p];
    }
    const abut_lanes J = F[0] * C[0] + F[1] * C[1] + F[2] * C[2], pressure = *lambda * (J - 1);
    *psi += 0.5 * pressure * (J - 1);
    for (int i = 0; i < 9; i++) P[i] += pressure * C[i];
}

ABUT_LANES_CLONES
void abut_density_rotated(int model, const abut_lanes *mu, const abut_lanes *lambda, const abut_lanes *F, const abut_lanes *R,
                          abut_lanes *psi, abut_lanes *P)
{
    abut_lanes square = ABUT_LANES_ALL(0.), trace = ABUT_LANES_ALL(0.);
    for (int i = 0; i < 9; i++) {
        const abut_lanes D = F[i] - R[i];
        square += D * D;
        trace += R[i] * D;      /* sum (s_i - 1) */
        P[i] = 2 * *mu * D;
    }
    *psi = *mu * square;
    if (model == ABUT_FIXED_COROTATED) {
        add_volume_change(lambda, F, psi, P);
    } else if (model == ABUT_LINEAR_COROTATED) {
        *psi += 0.5 * *lambda * trace * trace;
        for (int i = 0; i < 9; i++) P[i] += *lambda * trace * R[i];
    }
}

double abut_psi(int model, double mu, double lambda, const double F[9], double *P)
{
    const density *d = &densities[model];
    if (d->direct) return d->direct(mu, lambda, F, P);
    double U[9], s[3], V[9];
    abut_principal p;
    abut_svd3(F, U, s, V);
    d->principal(mu, lambda, s, &p);
    if (P) abut_stress_principal(&p, U, V, P);
    return p.psi;
}

void abut_stress_principal(const abut_principal *p, const double U[9], const double V[9], double P[9])
{
    double Ud[9];
    for (int i = 0; i < 9; i++) Ud[i] = U[i] * p->d[i % 3];
    abut_m3_mul_nt(P, Ud, V);
}

void abut_density_principal(int model, double mu, double lambda, const double s[3], abut_principal *out)
{
    densities[model].principal(mu, lambda, s, out);
}

/* 1 when the pivots of the symmetric A[9] are positive: no eigenvalues are needed then */
static int is_definite(const double A[9])
{
    if (!(A[0] > 0)) return 0;
    const double l1 = A[3] / A[0], l2 = A[6] / A[0];
    const double d1 = A[4] - l1 * A[3], e = A[7] - l1 * A[6];
    return d1 > 0 && A[8] - l2 * A[6] - e * e / d1 > 0;
}

void abut_principal_project(abut_principal *p)
{
    if (!is_definite(p->A)) abut_psd_project(3, p->A);
    for (int i = 0; i < 3; i++) {
        if (p->flip[i] < 0) p->flip[i] = 0;
        if (p->twist[i] < 0) p->twist[i] = 0;
    }
}

#include "energy/density.h"

#include "linalg/log_lanes.h"
#include "linalg/mat3.h"
#include "linalg/spd.h"
#include "linalg/svd3.h"

#include <math.h>

/* ---- value and stress from F alone ---- */

ABUT_LANES_INLINE void nh_direct(const abut_lanes *mu, const abut_lanes *lambda, const abut_lanes *F, abut_lanes *psi,
                                 abut_lanes *P)
{
    abut_lanes C[9], L, I = ABUT_LANES_ALL(0.);
    abut_lanes_cofactors(F, C);
    const abut_lanes det = F[0] * C[0] + F[1] * C[1] + F[2] * C[2];
    const abut_lane_mask upright = det > 0;
    const abut_lanes J = ABUT_LANES_PICK(upright, det, ABUT_LANES_ALL(1.));
    abut_lanes_log(&J, &L);
    const abut_lanes p = (*lambda * L - *mu) / J;
    for (int i = 0; i < 9; i++) {
        I += F[i] * F[i];
        P[i] = ABUT_LANES_PICK(upright, *mu * F[i] + p * C[i], P[i]);
    }
    *psi = ABUT_LANES_PICK(upright, 0.5 * *mu * (I - 3) + L * (0.5 * *lambda * L - *mu), ABUT_LANES_ALL((double)INFINITY));
}

ABUT_LANES_INLINE void snh_direct(const abut_lanes *mu, const abut_lanes *lambda, const abut_lanes *F, abut_lanes *psi,
                                  abut_lanes *P)
{
    const abut_lanes m = 4.0 / 3.0 * *mu, q = *lambda + 5.0 / 6.0 * *mu, a = 1 + 0.75 * m / q;
    abut_lanes C[9], L, I = ABUT_LANES_ALL(0.);
    abut_lanes_cofactors(F, C);
    for (int i = 0; i < 9; i++) I += F[i] * F[i];
    const abut_lanes J = F[0] * C[0] + F[1] * C[1] + F[2] * C[2], grown = (I + 1) / 4;
    const abut_lanes f = m * (1 - 1 / (I + 1)), p = q * (J - a);
    abut_lanes_log(&grown, &L);
    for (int i = 0; i < 9; i++) P[i] = f * F[i] + p * C[i];
    *psi = 0.5 * m * (I - 3 - L) + 0.5 * q * (J - 1) * (J + 1 - 2 * a);
}

ABUT_LANES_INLINE void stvk_direct(const abut_lanes *mu, const abut_lanes *lambda, const abut_lanes *F, abut_lanes *psi,
                                   abut_lanes *P)
{
    abut_lanes E[9], S[9], square = ABUT_LANES_ALL(0.);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            E[3 * i + j] = 0.5 * (F[i] * F[j] + F[3 + i] * F[3 + j] + F[6 + i] * F[6 + j] - (i == j ? 1. : 0.));
    const abut_lanes tr = E[0] + E[4] + E[8];
    for (int i = 0; i < 9; i++) {
        square += E[i] * E[i];
        S[i] = 2 * *mu * E[i];
        if (i % 4 == 0) S[i] += *lambda * tr;
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) P[3 * i + j] = F[3 * i] * S[j] + F[3 * i + 1] * S[3 + j] + F[3 * i + 2] * S[6 + j];
    *psi = *mu * square + 0.5 * *lambda * tr * tr;
}

ABUT_LANES_CLONES
void abut_density_direct(int model, const abut_lanes *mu, const abut_lanes *lambda, const abut_lanes *F, abut_lanes *psi,
                         abut_lanes *P)
{
    if (model == ABUT_NEO_HOOKEAN) nh_direct(mu, lambda, F, psi, P);
    else if (model == ABUT_STABLE_NEO_HOOKEAN) snh_direct(mu, lambda, F, psi, P);
    else stvk_direct(mu, lambda, F, psi, P);
}

/* ---- principal forms ---- */

/* abut_stretch_sum */
ABUT_LANES_INLINE void stretch_sum(const abut_lanes *a, const abut_lanes *b, abut_lanes *sum)
{
    const abut_lanes s = *a + *b, least = ABUT_LANES_PICK(s < 0, ABUT_LANES_ALL(-1e-6), ABUT_LANES_ALL(1e-6));
    *sum = ABUT_LANES_PICK(ABUT_LANES_ABS(s) >= 1e-6, s, least);
}

ABUT_LANES_INLINE void nh_principal(const abut_lanes *mu, const abut_lanes *lambda, const abut_lanes *s, abut_principals *out)
{
    const abut_lanes J = s[0] * s[1] * s[2], r[3] = { 1 / s[0], 1 / s[1], 1 / s[2] };
    abut_lanes L;
    abut_lanes_log(&J, &L);
    const abut_lanes c = *mu - *lambda * L;
    out->psi = 0.5 * *mu * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2] - 3) + L * (0.5 * *lambda * L - *mu);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const abut_lanes rjk = r[j] * r[k];
        out->d[i] = *mu * s[i] - c * r[i];
        out->A[4 * i] = *mu + (c + *lambda) * r[i] * r[i];
        out->A[3 * j + k] = out->A[3 * k + j] = *lambda * rjk;
        out->flip[i] = *mu + c * rjk;
        out->twist[i] = *mu - c * rjk;
    }
}

ABUT_LANES_INLINE void fcr_principal(const abut_lanes *mu, const abut_lanes *lambda, const abut_lanes *s, abut_principals *out)
{
    const abut_lanes J = s[0] * s[1] * s[2], pressure = *lambda * (J - 1);
    out->psi = 0.5 * pressure * (J - 1);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const abut_lanes cof = s[j] * s[k];
        abut_lanes sum;
        stretch_sum(&s[j], &s[k], &sum);
        out->psi += *mu * (s[i] - 1) * (s[i] - 1);
        out->d[i] = 2 * *mu * (s[i] - 1) + pressure * cof;
        out->A[4 * i] = 2 * *mu + *lambda * cof * cof;
        out->A[3 * j + k] = out->A[3 * k + j] = *lambda * (2 * J - 1) * s[i];
        out->flip[i] = 2 * *mu - pressure * s[i];
        out->twist[i] = 2 * *mu * (1 - 2 / sum) + pressure * s[i];
    }
}

ABUT_LANES_INLINE void snh_principal(const abut_lanes *mu, const abut_lanes *lambda, const abut_lanes *s, abut_principals *out)
{
    const abut_lanes m = 4.0 / 3.0 * *mu, q = *lambda + 5.0 / 6.0 * *mu, a = 1 + 0.75 * m / q;
    const abut_lanes I = s[0] * s[0] + s[1] * s[1] + s[2] * s[2], J = s[0] * s[1] * s[2], grown = (I + 1) / 4;
    const abut_lanes f = m * (1 - 1 / (I + 1)), p = q * (J - a), g = 2 * m / ((I + 1) * (I + 1));
    abut_lanes L;
    abut_lanes_log(&grown, &L);
    out->psi = 0.5 * m * (I - 3 - L) + 0.5 * q * (J - 1) * (J + 1 - 2 * a);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const abut_lanes cof = s[j] * s[k];
        out->d[i] = f * s[i] + p * cof;
        out->A[4 * i] = f + g * s[i] * s[i] + q * cof * cof;
        out->A[3 * j + k] = out->A[3 * k + j] = g * s[j] * s[k] + q * (2 * J - a) * s[i];
        out->flip[i] = f - p * s[i];
        out->twist[i] = f + p * s[i];
    }
}

ABUT_LANES_INLINE void stvk_principal(const abut_lanes *mu, const abut_lanes *lambda, const abut_lanes *s, abut_principals *out)
{
    const abut_lanes I = s[0] * s[0] + s[1] * s[1] + s[2] * s[2], p = 0.5 * *lambda * (I - 3);
    out->psi = 0.25 * p * (I - 3);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const abut_lanes e = s[i] * s[i] - 1, sum = s[j] * s[j] + s[k] * s[k] - 1, cross = s[j] * s[k];
        out->psi += 0.25 * *mu * e * e;
        out->d[i] = (*mu * e + p) * s[i];
        out->A[4 * i] = *mu * (3 * e + 2) + p + *lambda * s[i] * s[i];
        out->A[3 * j + k] = out->A[3 * k + j] = *lambda * cross;
        out->flip[i] = *mu * (sum + cross) + p;
        out->twist[i] = *mu * (sum - cross) + p;
    }
}

/* linear corotated; as rigid as possible: that with lambda = 0 */
ABUT_LANES_INLINE void corotated_principal(const abut_lanes *mu, const abut_lanes *lambda, const abut_lanes *s,
                                           abut_principals *out)
{
    const abut_lanes tr = s[0] - 1 + (s[1] - 1) + (s[2] - 1);
    out->psi = 0.5 * *lambda * tr * tr;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        abut_lanes sum;
        stretch_sum(&s[j], &s[k], &sum);
        out->psi += *mu * (s[i] - 1) * (s[i] - 1);
        out->d[i] = 2 * *mu * (s[i] - 1) + *lambda * tr;
        out->A[4 * i] = 2 * *mu + *lambda;
        out->A[3 * j + k] = out->A[3 * k + j] = *lambda;
        out->flip[i] = 2 * *mu;
        out->twist[i] = 2 * (*mu * (s[j] - 1 + (s[k] - 1)) + *lambda * tr) / sum;
    }
}

ABUT_LANES_INLINE void polynomial_principal(const abut_lanes *mu, const abut_lanes *s, abut_principals *out)
{
    const abut_lanes e[3] = { s[0] - 1, s[1] - 1, s[2] - 1 };
    out->psi = ABUT_LANES_ALL(0.);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const abut_lanes square = e[i] * e[i], sum = e[j] * e[j] + e[k] * e[k], cross = e[j] * e[k];
        abut_lanes both;
        stretch_sum(&s[j], &s[k], &both);
        out->psi += *mu * square * square;
        out->d[i] = 4 * *mu * square * e[i];
        out->A[4 * i] = 12 * *mu * square;
        out->A[3 * j + k] = out->A[3 * k + j] = ABUT_LANES_ALL(0.);
        out->flip[i] = 4 * *mu * (sum + cross);
        out->twist[i] = 4 * *mu * (sum - cross) * (e[j] + e[k]) / both;
    }
}

ABUT_LANES_CLONES
void abut_density_principals(int model, const abut_lanes *mu, const abut_lanes *lambda, const abut_lanes *s,
                             abut_principals *out)
{
    const abut_lanes none = ABUT_LANES_ALL(0.);
    switch (model) {
    case ABUT_NEO_HOOKEAN: nh_principal(mu, lambda, s, out); break;
    case ABUT_FIXED_COROTATED: fcr_principal(mu, lambda, s, out); break;
    case ABUT_STABLE_NEO_HOOKEAN: snh_principal(mu, lambda, s, out); break;
    case ABUT_STVK: stvk_principal(mu, lambda, s, out); break;
    case ABUT_ARAP: corotated_principal(mu, &none, s, out); break;
    case ABUT_LINEAR_COROTATED: corotated_principal(mu, lambda, s, out); break;
    case ABUT_POLYNOMIAL: polynomial_principal(mu, s, out); break;
    }
}

static const abut_density_needs needs[] = {
    [ABUT_NEO_HOOKEAN] = ABUT_NEEDS_F,
    [ABUT_FIXED_COROTATED] = ABUT_NEEDS_ROTATION,
    [ABUT_STABLE_NEO_HOOKEAN] = ABUT_NEEDS_F,
    [ABUT_STVK] = ABUT_NEEDS_F,
    [ABUT_ARAP] = ABUT_NEEDS_ROTATION,
    [ABUT_LINEAR_COROTATED] = ABUT_NEEDS_ROTATION,
    [ABUT_POLYNOMIAL] = ABUT_NEEDS_STRETCHES,
    [ABUT_SPLINE] = ABUT_NEEDS_STRETCHES,
};

int abut_density_known(int model)
{
    return model >= 0 && model < (int)(sizeof needs / sizeof *needs);
}

abut_density_needs abut_density_need(int model)
{
    return needs[model];
}

/* lambda/2 (J - 1)^2 more */
ABUT_LANES_INLINE void add_volume_change(const abut_lanes *lambda, const abut_lanes *F, abut_lanes *psi, abut_lanes *P)
{
    abut_lanes C[9];
    abut_lanes_cofactors(F, C);
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
    double U[9], s[3], V[9];
    abut_principal p;
    if (needs[model] == ABUT_NEEDS_F) {
        const abut_lanes mus = ABUT_LANES_ALL(mu), lambdas = ABUT_LANES_ALL(lambda);
        abut_lanes Fs[9], Ps[9], psi;
        for (int i = 0; i < 9; i++) {
            Fs[i] = ABUT_LANES_ALL(F[i]);
            Ps[i] = ABUT_LANES_ALL(P ? P[i] : 0);
        }
        abut_density_direct(model, &mus, &lambdas, Fs, &psi, Ps);
        for (int i = 0; P && i < 9; i++) P[i] = Ps[i][0];
        return psi[0];
    }
    abut_svd3(F, U, s, V);
    abut_density_principal(model, mu, lambda, s, &p);
    if (P) abut_stress_principal(&p, U, V, P);
    return p.psi;
}

void abut_stress_principal(const abut_principal *p, const double U[9], const double V[9], double P[9])
{
    double Ud[9];
    for (int i = 0; i < 9; i++) Ud[i] = U[i] * p->d[i % 3];
    abut_m3_mul_nt(P, Ud, V);
}

void abut_principals_set(abut_principals *all, size_t l, const abut_principal *p)
{
    all->psi[l] = p->psi;
    for (int i = 0; i < 9; i++) all->A[i][l] = p->A[i];
    for (int i = 0; i < 3; i++) {
        all->d[i][l] = p->d[i];
        all->flip[i][l] = p->flip[i];
        all->twist[i][l] = p->twist[i];
    }
}

static void get_lane(const abut_principals *all, size_t l, abut_principal *p)
{
    p->psi = all->psi[l];
    for (int i = 0; i < 9; i++) p->A[i] = all->A[i][l];
    for (int i = 0; i < 3; i++) {
        p->d[i] = all->d[i][l];
        p->flip[i] = all->flip[i][l];
        p->twist[i] = all->twist[i][l];
    }
}

void abut_density_principal(int model, double mu, double lambda, const double s[3], abut_principal *out)
{
    const abut_lanes mus = ABUT_LANES_ALL(mu), lambdas = ABUT_LANES_ALL(lambda);
    const abut_lanes four[3] = { ABUT_LANES_ALL(s[0]), ABUT_LANES_ALL(s[1]), ABUT_LANES_ALL(s[2]) };
    abut_principals all;
    abut_density_principals(model, &mus, &lambdas, four, &all);
    get_lane(&all, 0, out);
}

/* set where the pivots of the symmetric A[9] are positive: no eigenvalues are needed there */
ABUT_LANES_INLINE void are_definite(const abut_lanes *A, abut_lane_mask *definite)
{
    const abut_lanes l1 = A[3] / A[0], l2 = A[6] / A[0];
    const abut_lanes d1 = A[4] - l1 * A[3], e = A[7] - l1 * A[6];
    *definite = (A[0] > 0) & (d1 > 0) & (A[8] - l2 * A[6] - e * e / d1 > 0);
}

/* A[9] of lane l */
static void project_lane(abut_lanes *A, size_t l)
{
    double a[9];
    for (int i = 0; i < 9; i++) a[i] = A[i][l];
    abut_psd_project(3, a);
    for (int i = 0; i < 9; i++) A[i][l] = a[i];
}

ABUT_LANES_CLONES
void abut_principals_project(abut_principals *p)
{
    abut_lane_mask definite;
    are_definite(p->A, &definite);
    const abut_lane_mask not = ~definite;
    for (size_t l = 0; l < ABUT_LANES && abut_lanes_any(&not); l++)
        if (not[l]) project_lane(p->A, l);
    for (int i = 0; i < 3; i++) {
        p->flip[i] = ABUT_LANES_PICK(p->flip[i] < 0, ABUT_LANES_ALL(0.), p->flip[i]);
        p->twist[i] = ABUT_LANES_PICK(p->twist[i] < 0, ABUT_LANES_ALL(0.), p->twist[i]);
    }
}

void abut_principal_project(abut_principal *p)
{
    abut_principals all;
    for (size_t l = 0; l < ABUT_LANES; l++) abut_principals_set(&all, l, p);
    abut_principals_project(&all);
    get_lane(&all, 0, p);
}

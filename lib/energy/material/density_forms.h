/* The formulas of energy/material/materials.h for one number or four at a time: included between math/forms_one.h or
 * math/forms_lanes.h, which define REAL, and math/forms_end.h; PRINCIPAL is abut_principal or abut_principals. */

/* ---- value and stress from F alone ---- */

FORM void NAME(abut_nh_direct)(const REAL *mu, const REAL *lambda, const REAL *F, REAL *psi, REAL *P)
{
    REAL C[9], L, I = ALL(0.);
    COFACTORS(F, C);
    const REAL det = F[0] * C[0] + F[1] * C[1] + F[2] * C[2];
    const MASK upright = det > 0;
    const REAL J = PICK(upright, det, ALL(1.));
    LOG(&J, &L);
    const REAL p = (*lambda * L - *mu) / J;
    for (int i = 0; i < 9; i++) {
        I += F[i] * F[i];
        P[i] = PICK(upright, *mu * F[i] + p * C[i], P[i]);
    }
    *psi = PICK(upright, 0.5 * *mu * (I - 3) + L * (0.5 * *lambda * L - *mu), ALL((double)INFINITY));
}

FORM void NAME(abut_snh_direct)(const REAL *mu, const REAL *lambda, const REAL *F, REAL *psi, REAL *P)
{
    const REAL m = 4.0 / 3.0 * *mu, q = *lambda + 5.0 / 6.0 * *mu, a = 1 + 0.75 * m / q;
    REAL C[9], L, I = ALL(0.);
    COFACTORS(F, C);
    for (int i = 0; i < 9; i++) I += F[i] * F[i];
    const REAL J = F[0] * C[0] + F[1] * C[1] + F[2] * C[2], grown = (I + 1) / 4;
    const REAL f = m * (1 - 1 / (I + 1)), p = q * (J - a);
    LOG(&grown, &L);
    for (int i = 0; i < 9; i++) P[i] = f * F[i] + p * C[i];
    *psi = 0.5 * m * (I - 3 - L) + 0.5 * q * (J - 1) * (J + 1 - 2 * a);
}

FORM void NAME(abut_stvk_direct)(const REAL *mu, const REAL *lambda, const REAL *F, REAL *psi, REAL *P)
{
    REAL E[9], S[9], square = ALL(0.);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            E[3 * i + j] = 0.5 * (F[i] * F[j] + F[3 + i] * F[3 + j] + F[6 + i] * F[6 + j] - (i == j ? 1. : 0.));
    const REAL tr = E[0] + E[4] + E[8];
    for (int i = 0; i < 9; i++) {
        square += E[i] * E[i];
        S[i] = 2 * *mu * E[i];
        if (i % 4 == 0) S[i] += *lambda * tr;
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) P[3 * i + j] = F[3 * i] * S[j] + F[3 * i + 1] * S[3 + j] + F[3 * i + 2] * S[6 + j];
    *psi = *mu * square + 0.5 * *lambda * tr * tr;
}

/* ---- principal forms ---- */

/* abut_stretch_sum */
FORM void NAME(abut_stretch_sum)(const REAL *a, const REAL *b, REAL *sum)
{
    const REAL s = *a + *b, least = PICK(s < 0, ALL(-1e-6), ALL(1e-6));
    *sum = PICK(ABS(s) >= 1e-6, s, least);
}

FORM void NAME(abut_nh_principal)(const REAL *mu, const REAL *lambda, const REAL *s, PRINCIPAL *out)
{
    const REAL J = s[0] * s[1] * s[2], r[3] = { 1 / s[0], 1 / s[1], 1 / s[2] };
    REAL L;
    LOG(&J, &L);
    const REAL c = *mu - *lambda * L;
    out->psi = 0.5 * *mu * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2] - 3) + L * (0.5 * *lambda * L - *mu);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const REAL rjk = r[j] * r[k];
        out->d[i] = *mu * s[i] - c * r[i];
        out->A[4 * i] = *mu + (c + *lambda) * r[i] * r[i];
        out->A[3 * j + k] = out->A[3 * k + j] = *lambda * rjk;
        out->flip[i] = *mu + c * rjk;
        out->twist[i] = *mu - c * rjk;
    }
}

FORM void NAME(abut_fcr_principal)(const REAL *mu, const REAL *lambda, const REAL *s, PRINCIPAL *out)
{
    const REAL J = s[0] * s[1] * s[2], pressure = *lambda * (J - 1);
    out->psi = 0.5 * pressure * (J - 1);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const REAL cof = s[j] * s[k];
        REAL sum;
        NAME(abut_stretch_sum)(&s[j], &s[k], &sum);
        out->psi += *mu * (s[i] - 1) * (s[i] - 1);
        out->d[i] = 2 * *mu * (s[i] - 1) + pressure * cof;
        out->A[4 * i] = 2 * *mu + *lambda * cof * cof;
        out->A[3 * j + k] = out->A[3 * k + j] = *lambda * (2 * J - 1) * s[i];
        out->flip[i] = 2 * *mu - pressure * s[i];
        out->twist[i] = 2 * *mu * (1 - 2 / sum) + pressure * s[i];
    }
}

FORM void NAME(abut_snh_principal)(const REAL *mu, const REAL *lambda, const REAL *s, PRINCIPAL *out)
{
    const REAL m = 4.0 / 3.0 * *mu, q = *lambda + 5.0 / 6.0 * *mu, a = 1 + 0.75 * m / q;
    const REAL I = s[0] * s[0] + s[1] * s[1] + s[2] * s[2], J = s[0] * s[1] * s[2], grown = (I + 1) / 4;
    const REAL f = m * (1 - 1 / (I + 1)), p = q * (J - a), g = 2 * m / ((I + 1) * (I + 1));
    REAL L;
    LOG(&grown, &L);
    out->psi = 0.5 * m * (I - 3 - L) + 0.5 * q * (J - 1) * (J + 1 - 2 * a);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const REAL cof = s[j] * s[k];
        out->d[i] = f * s[i] + p * cof;
        out->A[4 * i] = f + g * s[i] * s[i] + q * cof * cof;
        out->A[3 * j + k] = out->A[3 * k + j] = g * s[j] * s[k] + q * (2 * J - a) * s[i];
        out->flip[i] = f - p * s[i];
        out->twist[i] = f + p * s[i];
    }
}

FORM void NAME(abut_stvk_principal)(const REAL *mu, const REAL *lambda, const REAL *s, PRINCIPAL *out)
{
    const REAL I = s[0] * s[0] + s[1] * s[1] + s[2] * s[2], p = 0.5 * *lambda * (I - 3);
    out->psi = 0.25 * p * (I - 3);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const REAL e = s[i] * s[i] - 1, sum = s[j] * s[j] + s[k] * s[k] - 1, cross = s[j] * s[k];
        out->psi += 0.25 * *mu * e * e;
        out->d[i] = (*mu * e + p) * s[i];
        out->A[4 * i] = *mu * (3 * e + 2) + p + *lambda * s[i] * s[i];
        out->A[3 * j + k] = out->A[3 * k + j] = *lambda * cross;
        out->flip[i] = *mu * (sum + cross) + p;
        out->twist[i] = *mu * (sum - cross) + p;
    }
}

/* linear corotated; as rigid as possible: that with lambda = 0 */
FORM void NAME(abut_corotated_principal)(const REAL *mu, const REAL *lambda, const REAL *s, PRINCIPAL *out)
{
    const REAL tr = s[0] - 1 + (s[1] - 1) + (s[2] - 1);
    out->psi = 0.5 * *lambda * tr * tr;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        REAL sum;
        NAME(abut_stretch_sum)(&s[j], &s[k], &sum);
        out->psi += *mu * (s[i] - 1) * (s[i] - 1);
        out->d[i] = 2 * *mu * (s[i] - 1) + *lambda * tr;
        out->A[4 * i] = 2 * *mu + *lambda;
        out->A[3 * j + k] = out->A[3 * k + j] = *lambda;
        out->flip[i] = 2 * *mu;
        out->twist[i] = 2 * (*mu * (s[j] - 1 + (s[k] - 1)) + *lambda * tr) / sum;
    }
}

FORM void NAME(abut_polynomial_principal)(const REAL *mu, const REAL *s, PRINCIPAL *out)
{
    const REAL e[3] = { s[0] - 1, s[1] - 1, s[2] - 1 };
    out->psi = ALL(0.);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const REAL square = e[i] * e[i], sum = e[j] * e[j] + e[k] * e[k], cross = e[j] * e[k];
        REAL both;
        NAME(abut_stretch_sum)(&s[j], &s[k], &both);
        out->psi += *mu * square * square;
        out->d[i] = 4 * *mu * square * e[i];
        out->A[4 * i] = 12 * *mu * square;
        out->A[3 * j + k] = out->A[3 * k + j] = ALL(0.);
        out->flip[i] = 4 * *mu * (sum + cross);
        out->twist[i] = 4 * *mu * (sum - cross) * (e[j] + e[k]) / both;
    }
}

/* value and stress of a model that needs F alone */
FORM void NAME(abut_form_direct)(int model, const REAL *mu, const REAL *lambda, const REAL *F, REAL *psi, REAL *P)
{
    if (model == ABUT_NEO_HOOKEAN) NAME(abut_nh_direct)(mu, lambda, F, psi, P);
    else if (model == ABUT_STABLE_NEO_HOOKEAN) NAME(abut_snh_direct)(mu, lambda, F, psi, P);
    else NAME(abut_stvk_direct)(mu, lambda, F, psi, P);
}

FORM void NAME(abut_form_principal)(int model, const REAL *mu, const REAL *lambda, const REAL *s, PRINCIPAL *out)
{
    const REAL none = ALL(0.);
    switch (model) {
    case ABUT_NEO_HOOKEAN: NAME(abut_nh_principal)(mu, lambda, s, out); break;
    case ABUT_FIXED_COROTATED: NAME(abut_fcr_principal)(mu, lambda, s, out); break;
    case ABUT_STABLE_NEO_HOOKEAN: NAME(abut_snh_principal)(mu, lambda, s, out); break;
    case ABUT_STVK: NAME(abut_stvk_principal)(mu, lambda, s, out); break;
    case ABUT_ARAP: NAME(abut_corotated_principal)(mu, &none, s, out); break;
    case ABUT_LINEAR_COROTATED: NAME(abut_corotated_principal)(mu, lambda, s, out); break;
    case ABUT_POLYNOMIAL: NAME(abut_polynomial_principal)(mu, s, out); break;
    }
}

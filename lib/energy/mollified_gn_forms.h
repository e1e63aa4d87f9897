/* The Gauss-Newton matrix of a mollified edge pair (energy/mollified_gn.h).  The including file defines HYPOT(a, b), the length
 * of a vector, GN_FN, the specifiers of a function, and GN(name), its name. */

/* fraction of |e1|^2 |e2|^2: below it c is rounding */
#define ABUT_GN_PARALLEL 1e-30

GN_FN double GN(gn_dot)(const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += a[i] * b[i];
    return sum;
}

/* |x_q - x_p|^2 */
GN_FN double GN(gn_length2)(const double *x, int p, int q)
{
    const abut_vec3 e = abut_v3_diff(x + 3 * q, x + 3 * p);
    return abut_v3_dot(e, e);
}

/** abut_mollified_gn_of from c and d^2 with their gradients in m->a and m->v, the mollifier e with its derivatives and the
 * barrier b with its derivative; along: m22 over e. */
GN_FN void GN(gn_put)(const double *x, double c, double d2, const double e[3], double b, double db, double along,
                      abut_mollified_gn *m)
{
    const double s = sqrt(c), d = sqrt(d2);
    if (!(c > ABUT_GN_PARALLEL * GN(gn_length2)(x, 0, 1) * GN(gn_length2)(x, 2, 3))) {
        for (int i = 0; i < 12; i++) m->a[i] = m->v[i] = 0;
        m->m11 = m->m12 = m->m22 = 0;
        return;
    }
    for (int i = 0; i < 12; i++) {
        m->a[i] /= 2 * s;
        m->v[i] /= 2 * d;
    }
    m->m11 = 2 * b * (e[1] + 2 * c * e[2]);
    m->m12 = 2 * s * e[1] * (2 * d * db);
    m->m22 = e[0] * along;
}

/* (p q, q r) = Q^T diag(mu) Q; Q = (co si, -si co). */
GN_FN void GN(gn_eigen2)(double p, double q, double r, double mu[2], double *co, double *si)
{
    const double half = 0.5 * (p - r), sign = half < 0 ? -1 : 1, radius = HYPOT(half, q), big = half + sign * radius;
    const double norm = HYPOT(big, q), mean = 0.5 * (p + r);
    *co = norm > 0 ? fabs(big) / norm : 1;
    *si = norm > 0 ? sign * q / norm : 0;
    mu[0] = mean + sign * radius;
    mu[1] = mean - sign * radius;
}

/** abut_mollified_gn_in_space. */
GN_FN void GN(gn_in_space)(const abut_mollified_gn *m, double mu[2], double z[2][12])
{
    double q1[12], q2[12], co, si;
    const double na = sqrt(GN(gn_dot)(m->a, m->a));
    for (int i = 0; i < 12; i++) q1[i] = na > 0 ? m->a[i] / na : 0;
    const double r12 = GN(gn_dot)(q1, m->v);
    for (int i = 0; i < 12; i++) q2[i] = m->v[i] - r12 * q1[i];
    const double r22 = sqrt(GN(gn_dot)(q2, q2));
    for (int i = 0; i < 12; i++) q2[i] = r22 > 0 ? q2[i] / r22 : 0;
    const double T11 = na * na * m->m11 + 2 * na * r12 * m->m12 + r12 * r12 * m->m22;
    GN(gn_eigen2)(T11, r22 * (na * m->m12 + r12 * m->m22), r22 * r22 * m->m22, mu, &co, &si);
    for (int i = 0; i < 12; i++) {
        z[0][i] = co * q1[i] + si * q2[i];
        z[1][i] = -si * q1[i] + co * q2[i];
    }
    for (int k = 0; k < 2; k++) mu[k] = mu[k] > 0 ? mu[k] : 0;
}

#include "energy/mollified_gn.h"

#include "geom/mollify.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

#define PARALLEL 1e-30  /* of |e1|^2 |e2|^2: there c is rounding */

static double dot12(const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += a[i] * b[i];
    return sum;
}

/* |x_q - x_p|^2 */
static double length2(const double *x, int p, int q)
{
    const abut_vec3 e = abut_v3_diff(x + 3 * q, x + 3 * p);
    return abut_v3_dot(e, e);
}

void abut_mollified_gn_of(abut_barrier_law law, double least, int squared, const double *x, double eps_x, abut_mollified_gn *m)
{
    double de, dde, db;
    *m = (abut_mollified_gn){ .dhat = sqrt(law.dhat2 + law.xi * law.xi) - law.xi };
    const double c = abut_cross2(x, m->a, NULL), e = abut_mollify(c, eps_x, &de, &dde), s = sqrt(c);
    const double d2 = abut_pair_edges_dist2(x, m->v), d = sqrt(d2);
    if (!(c > PARALLEL * length2(x, 0, 1) * length2(x, 2, 3))) {
        memset(m->a, 0, sizeof m->a);
        memset(m->v, 0, sizeof m->v);
        return;
    }
    const double b = abut_barrier(law, abut_beyond2(d2, law.xi), &db, NULL);
    for (int i = 0; i < 12; i++) {
        m->a[i] /= 2 * s;
        m->v[i] /= 2 * d;
    }
    m->m11 = 2 * b * (de + 2 * c * dde);
    m->m12 = 2 * s * de * (2 * d * db);
    m->m22 = e * abut_barrier_along(law, d, least, squared);
}

/* (p q, q r) = Q^T diag(mu) Q; Q = (co si, -si co). */
static void eigen2(double p, double q, double r, double mu[2], double *co, double *si)
{
    const double half = 0.5 * (p - r), radius = hypot(half, q), big = half + copysign(radius, half);
    const double norm = hypot(big, q), mean = 0.5 * (p + r);
    *co = norm > 0 ? fabs(big) / norm : 1;
    *si = norm > 0 ? copysign(1, half) * q / norm : 0;
    mu[0] = mean + copysign(radius, half);
    mu[1] = mean - copysign(radius, half);
}

void abut_mollified_gn_in_space(const abut_mollified_gn *m, double mu[2], double z[2][12])
{
    double q1[12], q2[12], co, si;
    const double na = sqrt(dot12(m->a, m->a));
    for (int i = 0; i < 12; i++) q1[i] = na > 0 ? m->a[i] / na : 0;
    const double r12 = dot12(q1, m->v);
    for (int i = 0; i < 12; i++) q2[i] = m->v[i] - r12 * q1[i];
    const double r22 = sqrt(dot12(q2, q2));
    for (int i = 0; i < 12; i++) q2[i] = r22 > 0 ? q2[i] / r22 : 0;
    const double T11 = na * na * m->m11 + 2 * na * r12 * m->m12 + r12 * r12 * m->m22;
    eigen2(T11, r22 * (na * m->m12 + r12 * m->m22), r22 * r22 * m->m22, mu, &co, &si);
    for (int i = 0; i < 12; i++) {
        z[0][i] = co * q1[i] + si * q2[i];
        z[1][i] = -si * q1[i] + co * q2[i];
    }
    for (int k = 0; k < 2; k++) mu[k] = fmax(mu[k], 0);
}

void abut_mollified_gn_in_variables(const abut_mollified_gn *m, double mu[2], double z[2][12])
{
    double co, si;
    eigen2(m->m11, m->m12 * m->dhat, m->m22 * m->dhat * m->dhat, mu, &co, &si);
    for (int i = 0; i < 12; i++) {
        z[0][i] = co * m->a[i] + si * m->v[i] / m->dhat;
        z[1][i] = -si * m->a[i] + co * m->v[i] / m->dhat;
    }
    for (int k = 0; k < 2; k++) mu[k] = fmax(mu[k], 0);
}

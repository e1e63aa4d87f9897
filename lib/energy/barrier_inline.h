/* The barrier of one contact (energy/barrier_pair.h), for a GPU, with the logarithm of math/elementary_inline.h.  The
 * results are those of the functions for four at a time, except the projection, which uses other rotations. */
#ifndef ABUT_ENERGY_BARRIER_INLINE_H
#define ABUT_ENERGY_BARRIER_INLINE_H

#include "energy/barrier_law_inline.h"
#include "geom/dist.h"
#include "geom/dist_inline.h"
#include "math/spd_inline.h"

/* Bases over the points of a stencil, in which projected Hessians of contacts are small matrices. */

#define ABUT_ROOT_HALF 0.70710678118654752440
#define ABUT_ROOT_6TH 0.40824829046386301637
#define ABUT_ROOT_12TH 0.28867513459481288225

/** Orthonormal vectors c_l over the points a of a stencil, sum c = 0: they span w and the columns of W_beta. */
ABUT_FN_LITERAL double abut_zero_sum(abut_stencil kind, int l, int a)
{
    const double r2 = ABUT_ROOT_HALF, r6 = ABUT_ROOT_6TH, r12 = ABUT_ROOT_12TH;
    if (kind == ABUT_EE) {
        if (l == 2) return a < 2 ? 0.5 : -0.5;
        return a / 2 != l ? 0 : a % 2 ? -r2 : r2;
    }
    if (l == 0) return a == 1 ? r2 : a == 2 ? -r2 : 0;
    if (kind == ABUT_PE) return a == 0 ? 2 * r6 : a < 3 ? -r6 : 0;
    if (l == 1) return a == 0 ? 0 : a < 3 ? r6 : -2 * r6;
    return a == 0 ? 3 * r12 : -r12;
}

/** Column j of W_beta has +1 at one point and -1 at another, and A_j = dr/dbeta_j = x[plus] - x[minus]. */
ABUT_FN_LITERAL int abut_beta_plus(abut_stencil kind, int j) { return kind == ABUT_EE ? 1 + j : 1; }
ABUT_FN_LITERAL int abut_beta_minus(abut_stencil kind, int j) { return kind == ABUT_EE ? 3 * j : 2 + j; }
/** c_l . column j of W_beta */
ABUT_FN_LITERAL double abut_zero_sum_beta(abut_stencil kind, int l, int j)
{
    return abut_zero_sum(kind, l, abut_beta_plus(kind, j)) - abut_zero_sum(kind, l, abut_beta_minus(kind, j));
}

/* ---- one contact ---- */

/** Separation, weights and squared distance of a stencil as its own active feature; NaN if it spans none. */
ABUT_FN_LITERAL void abut_dist2_one(abut_stencil kind, double x[4][3], double w[4], double r[3], double *d2)
{
    abut_dist_solved f;
    for (int i = 0; i < 4; i++) f.w[i] = 0;
    if (!dist_solve(kind, x[0], &f)) {
        for (int i = 0; i < abut_stencil_size(kind); i++) f.w[i] = (double)NAN;
        f.r = abut_v3((double)NAN, (double)NAN, (double)NAN);
        f.d2 = (double)NAN;
    }
    for (int i = 0; i < 4; i++) w[i] = f.w[i];
    abut_v3_put(r, f.r);
    *d2 = f.d2;
}

ABUT_FN_LITERAL void abut_psd_project_one(int n, double *S)
{
    double w[9], Q[81];
    abut_sym_eigen_of(n, S, w, Q);
    (void)abut_psd_lift(n, w, Q, S);
}

#include "math/forms_one.h"
#define DIST2(kind, x, w, r, d2) abut_dist2_one(kind, x, w, r, d2)
#define SUB3(a, b, d) abut_v3_put(d, abut_v3_diff(a, b))
#define CROSS3(a, b, c) abut_v3_put(c, abut_v3_cross(abut_v3_get(a), abut_v3_get(b)))
#define DOT3(a, b) abut_v3_dot(abut_v3_get(a), abut_v3_get(b))
#define PROJECT9(S) abut_psd_project_one(9, S)

#include "energy/contact_forms.h"

#include "math/forms_end.h"

/** abut_barrier of a law that has forms; db and ddb are not NULL. */
ABUT_FN double abut_barrier_fn(abut_barrier_law law, double D, double *db, double *ddb)
{
    double b;
    abut_barrier_of_one(law.number, &law.dhat2, &D, &b, db, ddb);
    return b;
}

/* ---- mollified edge pairs ---- */

/* d^2 of the active feature of an edge pair, its gradient g[12] and Hessian H[144] (NULL to skip) in the four points */
ABUT_FN double abut_edges_dist2(const double *x, double g[12], double *H)
{
    double d2, y[12], gf[12], Hf[81];
    const abut_feature f = abut_nearest_fn(ABUT_EE, x, &d2);
    if (f.kind == ABUT_EE) return abut_dist2_all_fn(ABUT_EE, x, NULL, g, H);
    const int k = abut_stencil_size(f.kind), n = 3 * k;
    for (int i = 0; i < n; i++) y[i] = x[3 * f.idx[i / 3] + i % 3];
    d2 = abut_dist2_all_fn(f.kind, y, NULL, gf, H ? Hf : NULL);
    for (int i = 0; i < 12; i++) g[i] = 0;
    for (int i = 0; i < n; i++) g[3 * f.idx[i / 3] + i % 3] = gf[i];
    if (!H) return d2;
    for (int i = 0; i < 144; i++) H[i] = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) H[12 * (3 * f.idx[i / 3] + i % 3) + 3 * f.idx[j / 3] + j % 3] = Hf[n * i + j];
    return d2;
}

/* Hess(e b) = e (b'' gD gD^T + b' Hess D) + b' e' (gc gD^T + gD gc^T) + b (e'' gc gc^T + e' Hess c); HD: Hess D comes, this
 * leaves */
ABUT_FN void abut_mollified_dense(const double *x, double eps_x, double b, double db, double ddb, const double gD[12],
                                  double HD[144])
{
    double gc[12], Hc[144], de, dde;
    const double e = abut_mollify_fn(abut_cross2_fn(x, gc, Hc), eps_x, &de, &dde);
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++)
            HD[12 * i + j] = e * (ddb * (gD[i] * gD[j]) + db * HD[12 * i + j]) + db * de * (gc[i] * gD[j] + gD[i] * gc[j]) +
                             b * (dde * (gc[i] * gc[j]) + de * Hc[12 * i + j]);
}

/** abut_pair_mollified_hess of one. */
ABUT_FN void abut_pair_mollified_hess_fn(abut_barrier_law law, const double *x, double eps_x, double scale, double *H)
{
    double g[12], A[144], db, ddb;
    const double d2 = abut_edges_dist2(x, g, A), b = abut_barrier_fn(law, abut_beyond2(d2, law.xi), &db, &ddb);
    abut_mollified_dense(x, eps_x, b, db, ddb, g, A);
    abut_edges_project_one(A, &scale, H);
}

/* ---- gradient ---- */

/* The kind is a literal. */
ABUT_FN_LITERAL void barrier_plain_grad(abut_stencil kind, abut_barrier_law law, double *x, double *g)
{
    double w[4], r[3], d2, db, ddb;
    abut_dist2_one(kind, (double (*)[3])x, w, r, &d2);
    (void)abut_barrier_fn(law, abut_beyond2(d2, law.xi), &db, &ddb);
    for (int i = 0; i < 3 * abut_stencil_size(kind); i++) g[i] = db * (2 * w[i / 3] * r[i % 3]);
}

/** g[12]: the gradient in the points x[12] of a contact; entries of unused points are not written. */
ABUT_FN void abut_pair_barrier_grad_fn(abut_barrier_law law, abut_stencil kind, double *x, double eps_x, double *g)
{
    if (eps_x > 0) {
        double gc[12], db, ddb, de;
        const double d2 = abut_edges_dist2(x, g, NULL);
        const double b = abut_barrier_fn(law, abut_beyond2(d2, law.xi), &db, &ddb);
        const double e = abut_mollify_fn(abut_cross2_fn(x, gc, NULL), eps_x, &de, NULL);
        for (int i = 0; i < 12; i++) g[i] = e * db * g[i] + b * de * gc[i];
        return;
    }
    ABUT_OF_KIND(kind, barrier_plain_grad, law, x, g);
}

/* ---- Hessian ---- */

/* The kind is a literal; q: dimension of c x n, m: of w x t. */
ABUT_FN_LITERAL void barrier_plain_hess(abut_stencil kind, abut_barrier_law law, double *x, double scale, double *H)
{
    const int q = kind == ABUT_PP ? 1 : kind == ABUT_PE ? 2 : 3, m = q - 1;
    abut_contact_frame_one f;
    double S[25], db, ddb;
    abut_contact_frame_of_one(kind, q, m, (double (*)[3])x, &f);
    (void)abut_barrier_fn(law, abut_beyond2(f.d2, law.xi), &db, &ddb);
    const double normal = scale * (4 * f.d2 * ddb + 2 * db), beta = -2 * scale * db, alpha = normal > 0 ? normal : 0;
    if (m == 0) {
        abut_contact_point_pair_one(&f, &alpha, H);
        return;
    }
    abut_contact_small_one(&f, q, m, &alpha, &beta, S);
    abut_psd_project_one(q + m, S);
    abut_contact_expand_one(kind, &f, q, m, S, H);
}

/** abut_pair_barrier_hess of one: H[90]. */
ABUT_FN void abut_pair_barrier_hess_fn(abut_barrier_law law, abut_stencil kind, double *x, double scale, double *H)
{
    ABUT_OF_KIND(kind, barrier_plain_hess, law, x, scale, H);
}

/* ---- Hessian by Gauss and Newton (energy/barrier.h) ---- */

/* fraction of |e1|^2 |e2|^2: below it c is rounding */
#define ABUT_GN_PARALLEL 1e-30

ABUT_FN double abut_gn_dot(const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += a[i] * b[i];
    return sum;
}

/* |x_q - x_p|^2 */
ABUT_FN double abut_gn_length2(const double *x, int p, int q)
{
    const abut_vec3 e = abut_v3_diff(x + 3 * q, x + 3 * p);
    return abut_v3_dot(e, e);
}

/** abut_mollified_gn_of (energy/barrier_pair.h) from c and d^2 with their gradients in m->a and m->v, the mollifier e with its
 * derivatives and the barrier b with its derivative; along: m22 over e. */
ABUT_FN void abut_gn_put(const double *x, double c, double d2, const double e[3], double b, double db, double along,
                      abut_mollified_gn *m)
{
    const double s = sqrt(c), d = sqrt(d2);
    if (!(c > ABUT_GN_PARALLEL * abut_gn_length2(x, 0, 1) * abut_gn_length2(x, 2, 3))) {
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

/* Length of (a, b); libm, a literal: by the C library. */
ABUT_FN_LITERAL double abut_gn_length(int libm, double a, double b) { return libm ? hypot(a, b) : sqrt(a * a + b * b); }

/* (p q, q r) = Q^T diag(mu) Q; Q = (co si, -si co). */
ABUT_FN_LITERAL void abut_gn_eigen2(int libm, double p, double q, double r, double mu[2], double *co, double *si)
{
    const double half = 0.5 * (p - r), sign = half < 0 ? -1 : 1, radius = abut_gn_length(libm, half, q);
    const double big = half + sign * radius, norm = abut_gn_length(libm, big, q), mean = 0.5 * (p + r);
    *co = norm > 0 ? fabs(big) / norm : 1;
    *si = norm > 0 ? sign * q / norm : 0;
    mu[0] = mean + sign * radius;
    mu[1] = mean - sign * radius;
}

/** abut_mollified_gn_in_space. */
ABUT_FN_LITERAL void abut_gn_in_space(int libm, const abut_mollified_gn *m, double mu[2], double z[2][12])
{
    double q1[12], q2[12], co, si;
    const double na = sqrt(abut_gn_dot(m->a, m->a));
    for (int i = 0; i < 12; i++) q1[i] = na > 0 ? m->a[i] / na : 0;
    const double r12 = abut_gn_dot(q1, m->v);
    for (int i = 0; i < 12; i++) q2[i] = m->v[i] - r12 * q1[i];
    const double r22 = sqrt(abut_gn_dot(q2, q2));
    for (int i = 0; i < 12; i++) q2[i] = r22 > 0 ? q2[i] / r22 : 0;
    const double T11 = na * na * m->m11 + 2 * na * r12 * m->m12 + r12 * r12 * m->m22;
    abut_gn_eigen2(libm, T11, r22 * (na * m->m12 + r12 * m->m22), r22 * r22 * m->m22, mu, &co, &si);
    for (int i = 0; i < 12; i++) {
        z[0][i] = co * q1[i] + si * q2[i];
        z[1][i] = -si * q1[i] + co * q2[i];
    }
    for (int k = 0; k < 2; k++) mu[k] = mu[k] > 0 ? mu[k] : 0;
}

/** abut_barrier_along at d^2. */
ABUT_FN double abut_barrier_along_fn(abut_barrier_law law, double d2, double least, int squared)
{
    double db, ddb;
    const double floor = law.xi + least, at2 = least > 0 && d2 < floor * floor ? floor * floor : d2;
    (void)abut_barrier_fn(law, abut_beyond2(at2, law.xi), &db, &ddb);
    return 4 * at2 * ddb + (squared ? 0 : 2 * db);
}

/** H[90] of four corners (+)= mu z z^T, packed (sparse/elements.h). */
ABUT_FN void abut_rank_one_put(double mu, const double z[12], int more, double *H)
{
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++, H += 9)
            for (int k = 0; k < 9; k++) H[k] = (more ? H[k] : 0) + mu * z[3 * a + k / 3] * z[3 * b + k % 3];
}

/* The kind is a literal. */
ABUT_FN_LITERAL void barrier_plain_gn(abut_stencil kind, abut_barrier_law law, double least, int squared, double *x, double scale,
                                      double *H)
{
    double w[4], r[3], d2, z[12];
    abut_dist2_one(kind, (double (*)[3])x, w, r, &d2);
    const double d = sqrt(d2);
    for (int i = 0; i < 12; i++) z[i] = i < 3 * abut_stencil_size(kind) ? w[i / 3] * (r[i % 3] / d) : 0;
    abut_rank_one_put(scale * abut_barrier_along_fn(law, d2, least, squared), z, 0, H);
}

/** A plain contact of points x[12]: H[90] of rank one, 0 at corners that it does not have. */
ABUT_FN void abut_pair_gn_fn(abut_barrier_law law, double least, int squared, abut_stencil kind, double *x, double scale,
                             double *H)
{
    ABUT_OF_KIND(kind, barrier_plain_gn, law, least, squared, x, scale, H);
}

/** A mollified edge pair: H[90] of rank 2, projected in space. */
ABUT_FN void abut_pair_mollified_gn_fn(abut_barrier_law law, double least, int squared, const double *x, double eps_x,
                                       double scale, double *H)
{
    abut_mollified_gn m;
    double e[3], db, ddb, mu[2], z[2][12];
    const double c = abut_cross2_fn(x, m.a, NULL), d2 = abut_edges_dist2(x, m.v, NULL);
    e[0] = abut_mollify_fn(c, eps_x, &e[1], &e[2]);
    const double b = abut_barrier_fn(law, abut_beyond2(d2, law.xi), &db, &ddb);
    abut_gn_put(x, c, d2, e, b, db, abut_barrier_along_fn(law, d2, least, squared), &m);
    abut_gn_in_space(0, &m, mu, z);
    for (int k = 0; k < 2; k++) abut_rank_one_put(scale * mu[k], z[k], k, H);
}

#endif

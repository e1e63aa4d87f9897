/* The law of Signorini and Coulomb for one contact with a full Delassus block, u = W r + b, normal first: what exact solvers with
 * blocks that are no multiple of the identity have to do for each contact (Daviet et al. 2011, appendix B and section 4).
 *
 * By enumeration: open, stick, or slide with a quartic in alpha (u_T = -alpha r_T); and by Newton's method on the function of
 * Fischer and Burmeister on cones, which is what one does first, because it starts from the impulse at hand. */
#ifndef ABUT_BENCH_COULOMB_GENERAL_H
#define ABUT_BENCH_COULOMB_GENERAL_H

#include <float.h>
#include <math.h>
#include <string.h>

static inline void general_apply(const double W[9], const double r[3], const double b[3], double u[3])
{
    for (int i = 0; i < 3; i++) u[i] = W[3 * i] * r[0] + W[3 * i + 1] * r[1] + W[3 * i + 2] * r[2] + b[i];
}

/* x = A^-1 b by cofactors; 0: singular */
static inline int general_solve(const double A[9], const double b[3], double x[3])
{
    const double c[9] = { A[4] * A[8] - A[5] * A[7], A[2] * A[7] - A[1] * A[8], A[1] * A[5] - A[2] * A[4],
                          A[5] * A[6] - A[3] * A[8], A[0] * A[8] - A[2] * A[6], A[2] * A[3] - A[0] * A[5],
                          A[3] * A[7] - A[4] * A[6], A[1] * A[6] - A[0] * A[7], A[0] * A[4] - A[1] * A[3] };
    const double det = A[0] * c[0] + A[1] * c[3] + A[2] * c[6];
    if (!(fabs(det) > 0)) return 0;
    for (int i = 0; i < 3; i++) x[i] = (c[3 * i] * b[0] + c[3 * i + 1] * b[1] + c[3 * i + 2] * b[2]) / det;
    return 1;
}

static inline double general_value(const double *c, int n, double x)
{
    double v = c[n];
    for (int k = n; k-- > 0;) v = v * x + c[k];
    return v;
}

/* Real roots, ascending, of c[0] + c[1] x + .. + c[n] x^n, c[n] 1, within [-R, R]: those of the derivative cut it into monotone
 * pieces, each of which is bisected. */
static inline int general_roots(const double *c, int n, double R, double *root)
{
    double d[5], cut[6];
    int m = 0, found = 0;
    if (n == 1) return root[0] = -c[0], fabs(root[0]) <= R;
    for (int k = 1; k <= n; k++) d[k - 1] = k * c[k] / n;
    m = general_roots(d, n - 1, R, cut + 1);
    cut[0] = -R;
    cut[m + 1] = R;
    for (int k = 0; k <= m; k++) {
        double lo = cut[k], hi = cut[k + 1];
        const double flo = general_value(c, n, lo), fhi = general_value(c, n, hi);
        if (flo == 0) {
            root[found++] = lo;
            continue;
        }
        if (flo * fhi > 0 || lo == hi) continue;
        for (int i = 0; i < 200; i++) {
            const double mid = 0.5 * (lo + hi), f = general_value(c, n, mid);
            if (mid == lo || mid == hi) break;
            if (f * flo > 0) lo = mid;
            else hi = mid;
        }
        root[found++] = 0.5 * (lo + hi);
    }
    return found;
}

/* r where the contact slides; 0: there is no admissible root. */
static inline int general_slide(const double W[9], const double b[3], double mu, double r[3])
{
    const double wn = W[0], w[2] = { W[3], W[6] };
    double T[4] = { W[4] - w[0] * w[0] / wn, W[5] - w[0] * w[1] / wn, W[7] - w[1] * w[0] / wn, W[8] - w[1] * w[1] / wn };
    double g[2] = { b[1] / b[0] - w[0] / wn, b[2] / b[0] - w[1] / wn };
    const double scale = T[0] + T[3];
    for (int k = 0; k < 4; k++) T[k] /= scale;
    const double ws[2] = { w[0] / scale, w[1] / scale }, D = wn / scale * wn / scale / (mu * mu);
    const double B[2] = { T[3] * g[0] - T[1] * g[1], -T[2] * g[0] + T[0] * g[1] };     /* adj(T) g */
    const double gw = g[0] * ws[0] + g[1] * ws[1], Bw = B[0] * ws[0] + B[1] * ws[1];
    const double A = T[0] + T[3] - gw, C = T[0] * T[3] - T[1] * T[2] - Bw;
    const double gg = g[0] * g[0] + g[1] * g[1], gB = g[0] * B[0] + g[1] * B[1], BB = B[0] * B[0] + B[1] * B[1];
    const double c[5] = { C * C - D * BB, 2 * (C * A - D * gB), 2 * C + A * A - D * gg, 2 * A, 1 };
    double R = 1, root[5];
    for (int k = 0; k < 4; k++) R = fmax(R, 1 + fabs(c[k]));
    const int n = general_roots(c, 4, R, root);
    for (int k = 0; k < n; k++) {
        const double a = root[k];
        if (!(a > 0) || !(a * a + A * a + C > 0)) continue;
        const double M[4] = { T[0] + a, T[1], T[2], T[3] + a }, det = M[0] * M[3] - M[1] * M[2];
        r[1] = -b[0] / scale * (M[3] * g[0] - M[1] * g[1]) / det;
        r[2] = -b[0] / scale * (-M[2] * g[0] + M[0] * g[1]) / det;
        r[0] = hypot(r[1], r[2]) / mu;
        return 1;
    }
    return 0;
}

/* r by enumeration: open, stick, slide; 0: no case holds. */
static inline int general_enumerate(const double W[9], const double b[3], double mu, double r[3])
{
    const double minus[3] = { -b[0], -b[1], -b[2] };
    r[0] = r[1] = r[2] = 0;
    if (b[0] >= 0) return 1;
    if (general_solve(W, minus, r) && mu * r[0] >= hypot(r[1], r[2])) return 1;
    if (mu > 0) return general_slide(W, b, mu, r);
    r[0] = -b[0] / W[0];
    r[1] = r[2] = 0;
    return 1;
}

/* F(r) of Fischer and Burmeister, its derivative J[9] (NULL: not wanted); returns |F|^2. */
static inline double general_function(const double W[9], const double b[3], double mu, double s, const double r[3], double F[3],
                                      double *J)
{
    double u[3];
    general_apply(W, r, b, u);
    const double slip = hypot(u[1], u[2]);
    const double x[3] = { s * mu * r[0], s * r[1], s * r[2] }, y[3] = { u[0] + mu * slip, mu * u[1], mu * u[2] };
    const double q[2] = { x[0] * x[1] + y[0] * y[1], x[0] * x[2] + y[0] * y[2] }, qn = hypot(q[0], q[1]);
    double z2 = 0;
    for (int i = 0; i < 3; i++) z2 += x[i] * x[i] + y[i] * y[i];
    const double l1 = sqrt(fmax(0, z2 - 2 * qn)), l2 = sqrt(z2 + 2 * qn);
    const double d[2] = { qn > 0 ? q[0] / qn : 1, qn > 0 ? q[1] / qn : 0 };
    const double z[3] = { 0.5 * (l1 + l2), 0.5 * (l2 - l1) * d[0], 0.5 * (l2 - l1) * d[1] };
    for (int i = 0; i < 3; i++) F[i] = x[i] + y[i] - z[i];
    const double size = F[0] * F[0] + F[1] * F[1] + F[2] * F[2];
    if (!J) return size;
    double X[9] = { 0 }, Y[9] = { 0 };      /* dF/dx, dF/dy */
    if (l1 > 1e-14 * l2 && l2 > 0) {
        const double p = 1 / (l1 * l2);
        const double L[9] = { p * z[0], -p * z[1], -p * z[2],
                              -p * z[1], p * (l1 * l2 + z[1] * z[1]) / z[0], p * z[1] * z[2] / z[0],
                              -p * z[2], p * z[1] * z[2] / z[0], p * (l1 * l2 + z[2] * z[2]) / z[0] };
        const double *of[2] = { x, y };
        double *to[2] = { X, Y };
        for (int k = 0; k < 2; k++) {
            const double *a = of[k];
            const double M[9] = { a[0], a[1], a[2], a[1], a[0], 0, a[2], 0, a[0] };
            for (int i = 0; i < 9; i++) {
                double v = i % 4 == 0;
                for (int j = 0; j < 3; j++) v -= L[3 * (i / 3) + j] * M[3 * j + i % 3];
                to[k][i] = v;
            }
        }
    } else if (l2 > 0) {
        const double h = hypot(x[0], y[0]);
        for (int i = 0; i < 3; i++) {
            X[4 * i] = h > 0 ? 1 - x[0] / h : 0;
            Y[4 * i] = h > 0 ? 1 - y[0] / h : 0;
        }
    }
    const double t[2] = { slip > 0 ? u[1] / slip : 0, slip > 0 ? u[2] / slip : 0 };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double wu[3] = { W[j] + mu * (t[0] * W[3 + j] + t[1] * W[6 + j]), W[3 + j], W[6 + j] };
            J[3 * i + j] = s * X[3 * i + j] * (j ? 1 : mu) + Y[3 * i] * wu[0];
            J[3 * i + j] += mu * (Y[3 * i + 1] * wu[1] + Y[3 * i + 2] * wu[2]);
        }
    return size;
}

/* r from r by Newton's method with halving; 0: it does not converge. */
static inline int general_newton(const double W[9], const double b[3], double mu, double r[3])
{
    const double s = (W[0] + W[4] + W[8]) / 3, scale = fmax(fabs(b[0]), fmax(fabs(b[1]), fabs(b[2])));
    const double enough = 1.8e-12 * scale * 1.8e-12 * scale;
    double F[3], J[9], step[3];
    double size = general_function(W, b, mu, s, r, F, J);
    for (int k = 0; k < 30; k++) {
        if (size <= enough) return 1;
        if (!general_solve(J, F, step)) return 0;
        double a = 1, next = INFINITY, trial[3], G[3];
        for (; a > 1e-3; a /= 2) {
            for (int i = 0; i < 3; i++) trial[i] = r[i] - a * step[i];
            next = general_function(W, b, mu, s, trial, G, NULL);
            if (next < (1 - 1e-4 * a) * size) break;
        }
        if (!(next < size)) return 0;
        memcpy(r, trial, sizeof trial);
        size = general_function(W, b, mu, s, r, F, J);
    }
    return 0;
}

/* Solves for r, from r as a start, cheap cases first.  Returns 0 if no case holds; r is then unchanged. */
static inline int general_coulomb(const double W[9], const double b[3], double mu, double r[3])
{
    double first[3] = { r[0], r[1], r[2] };
    if (b[0] >= 0) return r[0] = r[1] = r[2] = 0, 1;
    if (mu > 0 && general_newton(W, b, mu, first)) return memcpy(r, first, sizeof first), 1;
    if (!general_enumerate(W, b, mu, first)) return 0;
    return memcpy(r, first, sizeof first), 1;
}

/* Rows of E: the normal n and two unit vectors across it. */
static inline void general_frame(const double *n, double *E)
{
    const double a[3] = { fabs(n[0]) < 0.9, fabs(n[0]) >= 0.9, 0 }, an = a[0] * n[0] + a[1] * n[1];
    double t[3], size = 0;
    for (int d = 0; d < 3; d++) t[d] = a[d] - an * n[d], size += t[d] * t[d];
    for (int d = 0; d < 3; d++) {
        E[d] = n[d];
        E[3 + d] = t[d] / sqrt(size);
    }
    for (int d = 0; d < 3; d++) E[6 + d] = n[(d + 1) % 3] * E[3 + (d + 2) % 3] - n[(d + 2) % 3] * E[3 + (d + 1) % 3];
}

/* E M F^T */
static inline void general_rotated(const double *E, const double *M, const double *F, double *out)
{
    for (int i = 0; i < 9; i++) {
        out[i] = 0;
        for (int k = 0; k < 9; k++) out[i] += E[3 * (i / 3) + k / 3] * M[k] * F[3 * (i % 3) + k % 3];
    }
}

#endif

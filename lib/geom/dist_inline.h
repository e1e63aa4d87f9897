/* geom/dist.h, for the processor and for a GPU. */
#ifndef ABUT_GEOM_DIST_INLINE_H
#define ABUT_GEOM_DIST_INLINE_H

#include "geom/dist.h"
#include "math/vec3.h"

#include <stddef.h>

/* A stencil solved for its closest points: separation r = sum_i w_i x_i, and A = dr/dbeta for the m free parameters. */
typedef struct abut_dist_solved {
    double d2;
    abut_vec3 r;
    double w[4];
    abut_vec3 A[2];
    double gram11, gram12, det;     /* A^T A, and its determinant |A_0 x A_1|^2 */
} abut_dist_solved;

ABUT_FN double dist_solve_pp(const double *a, const double *b, abut_dist_solved *f)
{
    f->r = abut_v3_diff(a, b);
    f->w[0] = 1, f->w[1] = -1;
    return f->d2 = abut_v3_norm2(f->r);
}

/* Distance to a line, the offset taken from the nearer end so that a long edge does not cost digits.  e1 != e0. */
ABUT_FN double dist_solve_pe(const double *p, const double *e0, const double *e1, abut_dist_solved *f)
{
    const abut_vec3 e = abut_v3_diff(e1, e0), r0 = abut_v3_diff(p, e0), r1 = abut_v3_diff(p, e1);
    const double ee = abut_v3_norm2(e), h0 = abut_v3_dot(r0, e), h1 = abut_v3_dot(r1, e);
    const int near0 = fabs(h0) <= fabs(h1);
    const abut_vec3 c = abut_v3_cross(near0 ? r0 : r1, e);
    const double eta = near0 ? h0 / ee : 1 + h1 / ee;

    f->r = abut_v3_scale(1 / ee, abut_v3_cross(e, c));
    f->w[0] = 1, f->w[1] = eta - 1, f->w[2] = -eta;
    f->A[0] = abut_v3_scale(-1, e);
    f->gram11 = ee;
    return f->d2 = abut_v3_norm2(c) / ee;
}

/* The offset r0 = q - origin against the plane through origin spanned by u and v: r = its normal part,
 * q's coordinates in the plane are (b, c).  0 when u and v span no plane. */
ABUT_FN int dist_solve_plane(abut_vec3 r0, abut_vec3 u, abut_vec3 v, abut_dist_solved *f, double *b, double *c)
{
    const abut_vec3 n = abut_v3_cross(u, v);
    const double nn = abut_v3_norm2(n), uu = abut_v3_norm2(u), vv = abut_v3_norm2(v);
    if (!(nn > ABUT_SINE2_MIN * uu * vv)) return 0;

    const double inv = 1 / nn, h = abut_v3_dot(r0, n);
    *b = abut_v3_dot(abut_v3_cross(r0, v), n) * inv;
    *c = abut_v3_dot(abut_v3_cross(u, r0), n) * inv;
    f->r = abut_v3_scale(h * inv, n);
    f->d2 = h * h * inv;
    f->gram11 = uu;
    f->det = nn;
    return 1;
}

ABUT_FN int dist_solve_pt(const double *x, abut_dist_solved *f)
{
    const abut_vec3 u = abut_v3_diff(x + 6, x + 3), v = abut_v3_diff(x + 9, x + 3);
    double b, c;
    if (!dist_solve_plane(abut_v3_diff(x, x + 3), u, v, f, &b, &c)) return 0;
    f->w[0] = 1, f->w[1] = b + c - 1, f->w[2] = -b, f->w[3] = -c;
    f->A[0] = abut_v3_scale(-1, u), f->A[1] = abut_v3_scale(-1, v);
    f->gram12 = abut_v3_dot(u, v);
    return 1;
}

ABUT_FN int dist_solve_ee(const double *x, abut_dist_solved *f)
{
    const abut_vec3 u = abut_v3_diff(x + 3, x), v = abut_v3_diff(x + 9, x + 6);
    double b, c;
    if (!dist_solve_plane(abut_v3_diff(x, x + 6), u, v, f, &b, &c)) return 0;
    const double g = -b;    /* a0 + g u is nearest to b0 + c v */
    f->w[0] = 1 - g, f->w[1] = g, f->w[2] = c - 1, f->w[3] = -c;
    f->A[0] = u, f->A[1] = abut_v3_scale(-1, v);
    f->gram12 = -abut_v3_dot(u, v);
    return 1;
}

/* Solves the stencil as its own active feature; 0 when its points span no such feature. */
ABUT_FN int dist_solve(abut_stencil s, const double *x, abut_dist_solved *f)
{
    switch (s) {
    case ABUT_PP: dist_solve_pp(x, x + 3, f); return 1;
    case ABUT_PE: return abut_v3_norm2(abut_v3_diff(x + 6, x + 3)) > 0 ? (dist_solve_pe(x, x + 3, x + 6, f), 1) : 0;
    case ABUT_PT: return dist_solve_pt(x, f);
    default: return dist_solve_ee(x, f);
    }
}

/* Remaining feature of a stencil whose points span none of its own kind: the line through its longest edge, or a point. */
ABUT_FN abut_feature dist_reduce(abut_stencil s, const double *x)
{
    if (s == ABUT_PE) return (abut_feature){ ABUT_PP, { 0, 1, -1, -1 } };
    if (s == ABUT_EE) {
        const double a2 = abut_v3_norm2(abut_v3_diff(x + 3, x)), b2 = abut_v3_norm2(abut_v3_diff(x + 9, x + 6));
        if (!(a2 > 0 || b2 > 0)) return (abut_feature){ ABUT_PP, { 0, 2, -1, -1 } };
        return a2 > b2 ? (abut_feature){ ABUT_PE, { 2, 0, 1, -1 } } : (abut_feature){ ABUT_PE, { 0, 2, 3, -1 } };
    }
    double best = 0;
    abut_feature f = { ABUT_PP, { 0, 1, -1, -1 } };
    for (int k = 0; k < 3; k++) {       /* edges 1 2, 1 3, 2 3 */
        const int e0 = k < 2 ? 1 : 2, e1 = k > 0 ? 3 : 2;
        const double l2 = abut_v3_norm2(abut_v3_diff(x + 3 * e1, x + 3 * e0));
        if (l2 > best) best = l2, f = (abut_feature){ ABUT_PE, { 0, e0, e1, -1 } };
    }
    return f;
}

ABUT_FN void dist_gather(const abut_feature *f, const double *x, double *y)
{
    for (int i = 0; i < abut_stencil_size(f->kind); i++)
        for (int c = 0; c < 3; c++) y[3 * i + c] = x[3 * f->idx[i] + c];
}

/* -- nearest feature ---------------------------------------------------------------------------------------------- */

/* Keeps in *best the nearer of itself and point p against edge (e0, e1) of x. */
ABUT_FN void dist_try_point_edge(const double *x, int p, int e0, int e1, abut_feature *best, double *d2)
{
    const abut_vec3 e = abut_v3_diff(x + 3 * e1, x + 3 * e0);
    const abut_vec3 r0 = abut_v3_diff(x + 3 * p, x + 3 * e0), r1 = abut_v3_diff(x + 3 * p, x + 3 * e1);
    abut_feature f = { ABUT_PE, { p, e0, e1, -1 } };
    abut_dist_solved s;
    double d;
    if (!(abut_v3_dot(r0, e) > 0)) f = (abut_feature){ ABUT_PP, { p, e0, -1, -1 } }, d = abut_v3_norm2(r0);
    else if (!(abut_v3_dot(r1, e) < 0)) f = (abut_feature){ ABUT_PP, { p, e1, -1, -1 } }, d = abut_v3_norm2(r1);
    else d = dist_solve_pe(x + 3 * p, x + 3 * e0, x + 3 * e1, &s);
    if (!(d < *d2)) return;
    *best = f;
    /* a point pair names the lower point first, whichever edge found it */
    if (f.kind == ABUT_PP && p > f.idx[1]) best->idx[0] = f.idx[1], best->idx[1] = p;
    *d2 = d;
}

/* The foot of the perpendicular is inside, or the nearest point is on one of the edges: no third case, and the second
 * one never divides by the area. */
ABUT_FN abut_feature abut_nearest_fn(abut_stencil s, const double *x, double *dist2)
{
    abut_feature best = { s, { 0, 1, 2, 3 } };
    abut_dist_solved f;
    double d2 = INFINITY;
    if (s == ABUT_PP) {
        best = (abut_feature){ ABUT_PP, { 0, 1, -1, -1 } };
        d2 = dist_solve_pp(x, x + 3, &f);
    } else if (s == ABUT_PE) {
        best = (abut_feature){ ABUT_PP, { 0, 1, -1, -1 } };
        dist_try_point_edge(x, 0, 1, 2, &best, &d2);
    } else if (s == ABUT_PT) {
        if (dist_solve_pt(x, &f) && f.w[1] < 0 && f.w[2] < 0 && f.w[3] < 0) d2 = f.d2;
        else {
            best = (abut_feature){ ABUT_PP, { 0, 1, -1, -1 } };
            dist_try_point_edge(x, 0, 1, 2, &best, &d2);
            dist_try_point_edge(x, 0, 1, 3, &best, &d2);
            dist_try_point_edge(x, 0, 2, 3, &best, &d2);
        }
    } else {
        if (dist_solve_ee(x, &f) && f.w[0] > 0 && f.w[1] > 0 && f.w[2] < 0 && f.w[3] < 0) d2 = f.d2;
        else {
            best = (abut_feature){ ABUT_PP, { 0, 2, -1, -1 } };
            dist_try_point_edge(x, 0, 2, 3, &best, &d2);
            dist_try_point_edge(x, 1, 2, 3, &best, &d2);
            dist_try_point_edge(x, 2, 0, 1, &best, &d2);
            dist_try_point_edge(x, 3, 0, 1, &best, &d2);
        }
    }
    if (dist2) *dist2 = d2;
    return best;
}

/* -- value and derivatives ---------------------------------------------------------------------------------------- */

ABUT_FN void dist_put_gradient(int k, const abut_dist_solved *f, double *g)
{
    for (int i = 0; i < k; i++) abut_v3_put(g + 3 * i, abut_v3_scale(2 * f->w[i], f->r));
}

/* Adds 2 W_beta r to rows i (sign +) and j (sign -) of a column of Pm. */
ABUT_FN void dist_add_pair(double *q, int i, int j, abut_vec3 r2)
{
    q[3 * i] += r2.x, q[3 * i + 1] += r2.y, q[3 * i + 2] += r2.z;
    q[3 * j] -= r2.x, q[3 * j + 1] -= r2.y, q[3 * j + 2] -= r2.z;
}

/* Columns of Pm: block i of column j is 2 (w_i A_j + dw_i/dbeta_j r), where dw/dbeta_j is 1 at one point and -1 at another; then
 * orthogonalised so that Pm (2 A^T A)^-1 Pm^T = q0 q0^T + q1 q1^T. */
ABUT_FN void dist_columns(abut_stencil s, const abut_dist_solved *f, double q[2][12])
{
    const int k = abut_stencil_size(s), m = s == ABUT_PP ? 0 : s == ABUT_PE ? 1 : 2;
    const abut_vec3 r2 = abut_v3_scale(2, f->r);
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < k; i++) abut_v3_put(q[j] + 3 * i, abut_v3_scale(2 * f->w[i], f->A[j]));
        dist_add_pair(q[j], s == ABUT_EE ? 1 + j : 1, s == ABUT_EE ? 3 * j : 2 + j, r2);
    }
    if (m == 0) return;
    const double s0 = 1 / sqrt(2 * f->gram11);
    if (m == 2) {
        const double l = f->gram12 / f->gram11, s1 = sqrt(f->gram11 / (2 * f->det));
        for (int i = 0; i < 12; i++) q[1][i] = (q[1][i] - l * q[0][i]) * s1;
    }
    for (int i = 0; i < 3 * k; i++) q[0][i] *= s0;
}

/* H = 2 w w^T x I - sum_j q_j q_j^T; n and m are literals at every call.  Whole rows first: they vectorise. */
ABUT_FN_LITERAL void dist_put_hessian(int n, int m, const double *w, double q[2][12], double *ABUT_RESTRICT H)
{
    for (int i = 0; i < n; i++) {
        const double a = -q[0][i], b = m > 1 ? -q[1][i] : 0;
        double *ABUT_RESTRICT row = H + n * i;
        if (m == 2) for (int j = 0; j < n; j++) row[j] = a * q[0][j] + b * q[1][j];
        else for (int j = 0; j < n; j++) row[j] = m ? a * q[0][j] : 0;
    }
    for (int i = 0; i < n / 3; i++)
        for (int j = 0; j < n / 3; j++) {
            const double d = 2 * (w[i] * w[j]);
            for (int c = 0; c < 3; c++) H[n * (3 * i + c) + 3 * j + c] += d;
        }
}

ABUT_FN void dist_hessian(abut_stencil s, const abut_dist_solved *f, double *H)
{
    double q[2][12];
    dist_columns(s, f, q);
    if (s == ABUT_PP) dist_put_hessian(6, 0, f->w, q, H);
    else if (s == ABUT_PE) dist_put_hessian(9, 1, f->w, q, H);
    else dist_put_hessian(12, 2, f->w, q, H);
}

/* The derivatives of the remaining feature of a stencil, 0 for points outside the feature. */
ABUT_FN double dist_reduced(abut_stencil s, const double *x, double *w, double *g, double *H)
{
    double y[12], gf[12], Hf[81];
    abut_dist_solved part;
    abut_feature f = dist_reduce(s, x);
    dist_gather(&f, x, y);
    for (int i = 0; i < 4; i++) part.w[i] = 0;
    if (!dist_solve(f.kind, y, &part)) {    /* not a number */
        f = (abut_feature){ ABUT_PP, { f.idx[0], f.idx[1], -1, -1 } };
        dist_gather(&f, x, y);
        dist_solve_pp(y, y + 3, &part);
    }
    const int n = 3 * abut_stencil_size(s), kf = abut_stencil_size(f.kind), nf = 3 * kf;
    if (g) dist_put_gradient(kf, &part, gf);
    if (H) dist_hessian(f.kind, &part, Hf);
    for (int i = 0; w && i < 4; i++) w[i] = 0;
    for (int i = 0; g && i < n; i++) g[i] = 0;
    for (int i = 0; H && i < n * n; i++) H[i] = 0;
    for (int i = 0; i < kf; i++) {
        if (w) w[f.idx[i]] = part.w[i];
        for (int a = 0; a < 3; a++) {
            if (g) g[3 * f.idx[i] + a] = gf[3 * i + a];
            for (int j = 0; H && j < nf; j++)
                H[n * (3 * f.idx[i] + a) + 3 * f.idx[j / 3] + j % 3] = Hf[nf * (3 * i + a) + j];
        }
    }
    return part.d2;
}

ABUT_FN double abut_dist2_all_fn(abut_stencil s, const double *x, double *w, double *g, double *H)
{
    abut_dist_solved f;
    for (int i = 0; i < 4; i++) f.w[i] = 0;
    if (!dist_solve(s, x, &f)) return dist_reduced(s, x, w, g, H);
    for (int i = 0; w && i < 4; i++) w[i] = f.w[i];
    if (g) dist_put_gradient(abut_stencil_size(s), &f, g);
    if (H) dist_hessian(s, &f, H);
    return f.d2;
}

ABUT_FN double abut_closest_fn(abut_stencil s, const double *x, double w[4])
{
    const abut_feature f = abut_nearest_fn(s, x, NULL);
    double y[12], wf[4];
    dist_gather(&f, x, y);
    const double d2 = abut_dist2_all_fn(f.kind, y, wf, NULL, NULL);
    for (int i = 0; i < 4; i++) w[i] = 0;
    for (int i = 0; i < abut_stencil_size(f.kind); i++) w[f.idx[i]] = wf[i];
    /* r runs from the second primitive to the first: point b against edge a has it reversed */
    if (s == ABUT_EE && f.kind == ABUT_PE && f.idx[0] > 1)
        for (int i = 0; i < 4; i++) w[i] = -w[i];
    return d2;
}

/* -- the edge-edge mollifier --------------------------------------------------------------------------------------- */

/* Puts the block B of d2c/(du or dv)(du or dv) for edges p, q (0: a, 1: b) to the four corner blocks it chains to:
 * u = a1 - a0 and v = b1 - b0 give the signs -, +. */
ABUT_FN void mollify_add_block(double *H, int p, int q, double B[3][3])
{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    H[12 * (6 * p + 3 * i + a) + 6 * q + 3 * j + b] = i == j ? B[a][b] : -B[a][b];
}

ABUT_FN void mollify_cross2_hess(const double u[3], const double v[3], double *H)
{
    const double uu = u[0] * u[0] + u[1] * u[1] + u[2] * u[2], vv = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    const double uv = u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
    double Huu[3][3], Hvv[3][3], Huv[3][3], Hvu[3][3];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            const double I = a == b;
            Huu[a][b] = 2 * (vv * I - v[a] * v[b]);
            Hvv[a][b] = 2 * (uu * I - u[a] * u[b]);
            Huv[a][b] = Hvu[b][a] = 2 * (2 * (u[a] * v[b]) - uv * I - v[a] * u[b]);
        }
    mollify_add_block(H, 0, 0, Huu);
    mollify_add_block(H, 1, 1, Hvv);
    mollify_add_block(H, 0, 1, Huv);
    mollify_add_block(H, 1, 0, Hvu);
}

ABUT_FN double abut_cross2_fn(const double *x, double *g, double *H)
{
    const abut_vec3 u = abut_v3_sub(abut_v3_get(x + 3), abut_v3_get(x));
    const abut_vec3 v = abut_v3_sub(abut_v3_get(x + 9), abut_v3_get(x + 6));
    const abut_vec3 n = abut_v3_cross(u, v);
    if (g) {
        /* dc/du = 2 v x n, dc/dv = 2 n x u: no cancellation when the edges are nearly parallel */
        const abut_vec3 gu = abut_v3_scale(2, abut_v3_cross(v, n)), gv = abut_v3_scale(2, abut_v3_cross(n, u));
        abut_v3_put(g, abut_v3_scale(-1, gu));
        abut_v3_put(g + 3, gu);
        abut_v3_put(g + 6, abut_v3_scale(-1, gv));
        abut_v3_put(g + 9, gv);
    }
    if (H) {
        const double a[3] = { u.x, u.y, u.z }, b[3] = { v.x, v.y, v.z };
        mollify_cross2_hess(a, b, H);
    }
    return abut_v3_norm2(n);
}

ABUT_FN double abut_mollify_eps_fn(double rest2_a, double rest2_b)
{
    return 1e-3 * rest2_a * rest2_b;
}

ABUT_FN double abut_mollify_fn(double c, double eps, double *d1, double *d2)
{
    if (!(c < eps)) {
        if (d1) *d1 = 0;
        if (d2) *d2 = 0;
        return 1;
    }
    const double q = c / eps;
    if (d1) *d1 = 2 * (1 - q) / eps;
    if (d2) *d2 = -2 / eps / eps;
    return q * (2 - q);
}

#endif

/* The barrier of one contact (energy/barrier_pair.h), for a GPU, with the logarithm of math/elementary_inline.h.  The
 * results are those of the functions for four at a time, except the projection, which uses other rotations. */
#ifndef ABUT_ENERGY_BARRIER_INLINE_H
#define ABUT_ENERGY_BARRIER_INLINE_H

#include "energy/barrier_law_inline.h"
#include "energy/contact_basis_inline.h"
#include "geom/dist_inline.h"
#include "math/spd_inline.h"

/** Separation, weights and squared distance of a stencil as its own active feature; NaN if it spans none. */
ABUT_FN_LITERAL void abut_dist2_one(abut_stencil kind, double x[4][3], double w[4], double r[3], double *d2)
{
    abut_solved f;
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
            HD[12 * i + j] = e * (ddb * (gD[i] * gD[j]) + db * HD[12 * i + j]) +
                             db * de * (gc[i] * gD[j] + gD[i] * gc[j]) +
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
ABUT_FN_LITERAL void barrier_plain_grad(abut_barrier_law law, abut_stencil kind, double *x, double *g)
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
    switch (kind) {
    case ABUT_PP: barrier_plain_grad(law, ABUT_PP, x, g); break;
    case ABUT_PE: barrier_plain_grad(law, ABUT_PE, x, g); break;
    case ABUT_PT: barrier_plain_grad(law, ABUT_PT, x, g); break;
    default: barrier_plain_grad(law, ABUT_EE, x, g);
    }
}

/* ---- Hessian ---- */

/* q: dimension of c x n, m: of w x t; literals, as the kind. */
ABUT_FN_LITERAL void barrier_plain_hess(abut_stencil kind, int q, int m, abut_barrier_law law, double *x, double scale, double *H)
{
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
    switch (kind) {
    case ABUT_PP: barrier_plain_hess(ABUT_PP, 1, 0, law, x, scale, H); break;
    case ABUT_PE: barrier_plain_hess(ABUT_PE, 2, 1, law, x, scale, H); break;
    case ABUT_PT: barrier_plain_hess(ABUT_PT, 3, 2, law, x, scale, H); break;
    default: barrier_plain_hess(ABUT_EE, 3, 2, law, x, scale, H);
    }
}

#endif

#include "energy/barrier_pair.h"

#include "geom/mollify.h"
#include "linalg/spd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double abut_barrier(abut_barrier_law law, double D, double *db, double *ddb)
{
    const double Dhat = law.dhat2;
    if (!(D > 0)) {
        if (db) *db = -INFINITY;
        if (ddb) *ddb = INFINITY;
        return INFINITY;
    }
    if (D >= Dhat) {
        if (db) *db = 0;
        if (ddb) *ddb = 0;
        return 0;
    }
    const double gap = Dhat - D;   /* exact where the logarithm needs it, from Dhat / 2 up */
    const double L = gap < 0.5 * Dhat ? log1p(-gap / Dhat) : log(D / Dhat);
    switch (law.continuity) {
    case ABUT_C0:
        if (db) *db = -Dhat * (Dhat / D);
        if (ddb) *ddb = (Dhat / D) * (Dhat / D);
        return -Dhat * Dhat * L;
    case ABUT_C1:
        if (db) *db = Dhat * (L - gap / D);
        if (ddb) *ddb = Dhat / D * ((D + Dhat) / D);
        return -Dhat * gap * L;
    default:
        if (db) *db = gap * (2 * L - gap / D);
        if (ddb) *ddb = -2 * L + gap / D * ((Dhat + 3 * D) / D);
        return -gap * gap * L;
    }
}

double abut_kappa_min(double length, abut_barrier_law law, double mean_mass)
{
    const double xi = law.xi, D = 2 * xi * (1e-8 * length) + 1e-16 * length * length;
    double ddb;
    (void)abut_barrier(law, D, NULL, &ddb);
    return 1e11 * mean_mass / (4 * (xi * xi + D) * ddb);
}

static int by_size(const void *p, const void *q)
{
    const double a = *(const double *)p, b = *(const double *)q;
    return (a > b) - (a < b);
}

abut_status abut_kappa_min_of(double length, double dhat, int continuity, double mean_mass, const double *xi, int32_t n,
                              int half_spaces, double *kappa, abut_err *err)
{
    const size_t room = (size_t)n + 1;
    double *each = malloc(room * sizeof *each);
    if (!each) return abut_fail(err, ABUT_E_NOMEM, "barrier stiffness: thickness of %d objects", n);
    size_t m = 0, distinct = 0;
    for (int32_t i = 0; i < (xi ? n : 0); i++) each[m++] = xi[i];
    if (half_spaces || !m) each[m++] = 0;
    qsort(each, m, sizeof *each, by_size);
    for (size_t i = 0; i < m; i++)
        if (!i || each[i] > each[distinct - 1]) each[distinct++] = each[i];
    *kappa = 0;
    for (size_t i = 0; i < distinct; i++)
        for (size_t j = i; j < distinct; j++)
            *kappa =
                fmax(*kappa, abut_kappa_min(length, abut_barrier_law_of(dhat, continuity, 0.5 * (each[i] + each[j])), mean_mass));
    free(each);
    return ABUT_OK;
}

double abut_pair_barrier(abut_barrier_law law, const double *x, double dist2, double eps_x)
{
    const double b = abut_barrier(law, abut_beyond2(dist2, law.xi), NULL, NULL);
    if (!(eps_x > 0) || b == 0 || isinf(b)) return b;
    return b * abut_mollify(abut_cross2(x, NULL, NULL), eps_x, NULL, NULL);
}

/* ---- mollified edge pairs ---- */

/* d^2 of the active feature of an edge pair, its gradient g[12] and Hessian H[144] (NULL to skip) in the four points */
static double nearest_derivatives(const double *x, double g[12], double *H)
{
    double d2, y[12], gf[12], Hf[81];
    const abut_feature f = abut_nearest(ABUT_EE, x, &d2);
    if (f.kind == ABUT_EE) return abut_dist2_all(ABUT_EE, x, NULL, g, H);
    const int k = abut_stencil_size(f.kind), n = 3 * k;
    for (int i = 0; i < n; i++) y[i] = x[3 * f.idx[i / 3] + i % 3];
    d2 = abut_dist2_all(f.kind, y, NULL, gf, H ? Hf : NULL);
    memset(g, 0, 12 * sizeof *g);
    for (int i = 0; i < n; i++) g[3 * f.idx[i / 3] + i % 3] = gf[i];
    if (!H) return d2;
    memset(H, 0, 144 * sizeof *H);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) H[12 * (3 * f.idx[i / 3] + i % 3) + 3 * f.idx[j / 3] + j % 3] = Hf[n * i + j];
    return d2;
}

static void pack(const double D[144], double scale, double *H)
{
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) *H++ = scale * D[12 * (3 * a + i) + 3 * b + j];
}

/* abut_psd_project for a matrix that takes no notice of translations: its eigenvectors are those of the 9 x 9 matrix in an
 * orthonormal basis c_l of the weights that sum to 0. */
static void project_without_translation(double H[144])
{
    const double r = 0.70710678118654752440;
    const double c[3][4] = { { r, -r, 0, 0 }, { 0, 0, r, -r }, { 0.5, 0.5, -0.5, -0.5 } };
    double half[9][12], A[81], w[9], Q[81];
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 12; j++) {
            const double *h = H + 12 * (i % 3) + j, *ci = c[i / 3];
            half[i][j] = ci[0] * h[0] + ci[1] * h[36] + ci[2] * h[72] + ci[3] * h[108];
        }
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++) {
            const double *h = half[i] + j % 3, *cj = c[j / 3];
            A[9 * i + j] = cj[0] * h[0] + cj[1] * h[3] + cj[2] * h[6] + cj[3] * h[9];
        }
    abut_sym_eigen(9, A, w, Q);
    for (int k = 0; k < 9; k++) {
        double v[12];
        if (!(w[k] < 0)) continue;
        for (int i = 0; i < 12; i++)
            v[i] = c[0][i / 3] * Q[9 * k + i % 3] + c[1][i / 3] * Q[9 * k + 3 + i % 3] + c[2][i / 3] * Q[9 * k + 6 + i % 3];
        for (int i = 0; i < 12; i++)
            for (int j = 0; j < 12; j++) H[12 * i + j] -= w[k] * (v[i] * v[j]);
    }
}

/* Hess(e b) = e (b'' gD gD^T + b' Hess D) + b' e' (gc gD^T + gD gc^T) + b (e'' gc gc^T + e' Hess c), projected as a
 * dense matrix of what is left without translations */
void abut_pair_mollified_hess(abut_barrier_law law, const double *x, double eps_x, double scale, double *H)
{
    double gD[12], HD[144], gc[12], Hc[144], db, ddb, de, dde;
    const double b = abut_barrier(law, abut_beyond2(nearest_derivatives(x, gD, HD), law.xi), &db, &ddb);
    const double e = abut_mollify(abut_cross2(x, gc, Hc), eps_x, &de, &dde);
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++)
            HD[12 * i + j] = e * (ddb * (gD[i] * gD[j]) + db * HD[12 * i + j]) +
                             db * de * (gc[i] * gD[j] + gD[i] * gc[j]) +
                             b * (dde * (gc[i] * gc[j]) + de * Hc[12 * i + j]);
    project_without_translation(HD);
    pack(HD, scale, H);
}

/* ---- gradient ---- */

void abut_pair_barrier_grad(abut_barrier_law law, abut_stencil kind, const double *x, double eps_x, double *g)
{
    double db;
    if (!(eps_x > 0)) {
        (void)abut_barrier(law, abut_beyond2(abut_dist2_all(kind, x, NULL, g, NULL), law.xi), &db, NULL);
        for (int i = 0; i < 3 * abut_stencil_size(kind); i++) g[i] *= db;
        return;
    }
    double gc[12], de;
    const double b = abut_barrier(law, abut_beyond2(nearest_derivatives(x, g, NULL), law.xi), &db, NULL);
    const double e = abut_mollify(abut_cross2(x, gc, NULL), eps_x, &de, NULL);
    for (int i = 0; i < 12; i++) g[i] = e * db * g[i] + b * de * gc[i];
}

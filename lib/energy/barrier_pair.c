#include "energy/barrier_pair.h"

#include "geom/mollify.h"
#include "linalg/packed_lanes.h"
#include "linalg/spd_lanes.h"

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

/* Coordinates of the numbers p[0], p[stride], ... of four points in an orthonormal basis of what sums to 0, and back. */
#define R2 0.70710678118654752440
ABUT_LANES_INLINE void differences(const abut_lanes *p, int stride, abut_lanes q[3])
{
    const abut_lanes a = p[0], b = p[stride], c = p[2 * stride], d = p[3 * stride];
    q[0] = R2 * (a - b);
    q[1] = R2 * (c - d);
    q[2] = 0.5 * ((a + b) - (c + d));
}

ABUT_LANES_INLINE void points(const abut_lanes *q, int stride, abut_lanes p[4])
{
    const abut_lanes a = R2 * q[0], b = R2 * q[stride], c = 0.5 * q[2 * stride];
    p[0] = c + a;
    p[1] = c - a;
    p[2] = b - c;
    p[3] = -b - c;
}

/* scale times the matrices of n <= ABUT_LANES edge pairs, which take no notice of translations, projected and packed: what is
 * left without translations has nine rows */
ABUT_LANES_CLONES
static void project_dense(size_t n, const double (*D)[144], const double *scale, double *H)
{
    abut_lanes A[144], half[9 * 12], S[81], part[12 * 9], K[ABUT_PACKED], q[3], p[4], weight;
    for (int k = 0; k < 144; k += 4) {
        abut_lanes v[ABUT_LANES];
        for (size_t l = 0; l < ABUT_LANES; l++) v[l] = *(const abut_lanes_anywhere *)(D[l < n ? l : 0] + k);
        abut_lanes_transpose(v, A + k);
    }
    for (size_t l = 0; l < ABUT_LANES; l++) weight[l] = scale[l < n ? l : 0];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 12; j++) {
            differences(A + 12 * i + j, 36, q);
            for (int l = 0; l < 3; l++) half[12 * (3 * l + i) + j] = q[l];
        }
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 3; j++) {
            differences(half + 12 * i + j, 3, q);
            for (int l = 0; l < 3; l++) S[9 * i + 3 * l + j] = q[l];
        }
    abut_psd_project9_lanes(S);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 9; j++) {
            points(S + 9 * i + j, 27, p);
            for (int a = 0; a < 4; a++) part[9 * (3 * a + i) + j] = p[a];
        }
    for (int a = 0, block = 0; a < 4; block += 4 - a, a++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                points(part + 9 * (3 * a + i) + j, 3, p);
                for (int b = a; b < 4; b++) K[9 * (block + b - a) + 3 * i + j] = weight * p[b];
            }
    abut_packed_spread(K, n, H);
}

/* Hess(e b) = e (b'' gD gD^T + b' Hess D) + b' e' (gc gD^T + gD gc^T) + b (e'' gc gc^T + e' Hess c) */
static void mollified_dense(abut_barrier_law law, const double *x, double eps_x, double HD[144])
{
    double gD[12], gc[12], Hc[144], db, ddb, de, dde;
    const double b = abut_barrier(law, abut_beyond2(nearest_derivatives(x, gD, HD), law.xi), &db, &ddb);
    const double e = abut_mollify(abut_cross2(x, gc, Hc), eps_x, &de, &dde);
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++)
            HD[12 * i + j] = e * (ddb * (gD[i] * gD[j]) + db * HD[12 * i + j]) +
                             db * de * (gc[i] * gD[j] + gD[i] * gc[j]) +
                             b * (dde * (gc[i] * gc[j]) + de * Hc[12 * i + j]);
}

void abut_pair_mollified_hess(const abut_barrier_law *law, size_t n, const double (*x)[12], const double *eps_x,
                              const double *scale, double *H)
{
    double D[ABUT_LANES][144];
    for (size_t i = 0; i < n; i++) mollified_dense(law[i], x[i], eps_x[i], D[i]);
    project_dense(n, (const double (*)[144])D, scale, H);
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

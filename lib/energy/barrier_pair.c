#include "energy/barrier_pair.h"

#include "geom/mollify.h"
#include "linalg/spd.h"
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

static void pack(const double D[144], double scale, double *H)
{
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) *H++ = scale * D[12 * (3 * a + i) + 3 * b + j];
}

/* Hess(e b) = e (b'' gD gD^T + b' Hess D) + b' e' (gc gD^T + gD gc^T) + b (e'' gc gc^T + e' Hess c), projected as a
 * dense matrix: such pairs are rare */
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
    abut_psd_project(12, HD);
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

/* ---- plain stencils: the projection in closed form, for a function f of D = d^2 (less a constant: xi^2) ----
 *
 * With separation r = d n, closest-point weights w and an orthonormal basis T of the plane of the feature, A = T R,
 * Z = W_beta R^-1 (geom/dist.h), the Hessian of D is 2 (w w^T) x I - 2 sum_j p_j p_j^T with p_j = w x t_j + d z_j x n, so
 *
 *   f'' gD gD^T + f' Hess D = (4 D f'' + 2 f') (w x n)(w x n)^T
 *                           - 2 f' sum_j [ d (w x t_j)(z_j x n)^T + transposed + D (z_j x n)(z_j x n)^T ]
 *                           + 2 f' (w x t)(w x t)^T    for directions t normal to n and to the feature (PE: 1, PP: 2)
 *
 * The last line is negative and orthogonal to the rest: it vanishes.  The rest acts on c x n with sum c = 0 and on
 * w x t_j: 5 dimensions for PT and EE, 3 for PE, 1 for PP.  That small matrix is projected. */

/* orthonormal vectors c over the points of a stencil, sum c = 0: they span w and the columns of W_beta */
#define R2 0.70710678118654752440
#define R6 0.40824829046386301637
#define R12 0.28867513459481288225
static const double zero_sum[4][3][4] = {
    [ABUT_PE] = { { 0, R2, -R2, 0 }, { 2 * R6, -R6, -R6, 0 } },
    [ABUT_PT] = { { 0, R2, -R2, 0 }, { 0, R6, R6, -2 * R6 }, { 3 * R12, -R12, -R12, -R12 } },
    [ABUT_EE] = { { R2, -R2, 0, 0 }, { 0, 0, R2, -R2 }, { 0.5, 0.5, -0.5, -0.5 } },
};

/* column j of W_beta has +1 at plus[j] and -1 at minus[j], and A_j = dr/dbeta_j = x[plus] - x[minus] */
static const int plus[4][2] = { [ABUT_PE] = { 1 }, [ABUT_PT] = { 1, 1 }, [ABUT_EE] = { 1, 2 } };
static const int minus[4][2] = { [ABUT_PE] = { 2 }, [ABUT_PT] = { 2, 3 }, [ABUT_EE] = { 0, 3 } };

/* A contact in its own frame: unit vectors w = |w| what, n, t_j, and z_j in zero_sum coordinates. */
typedef struct frame {
    int q, m;               /* dimensions: of c x n, of w x t */
    double d, w_norm, what[4], n[3], t[2][3];
    double omega[3], zeta[2][3];
} frame;

static double dot3(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void frame_of(abut_stencil kind, const double *x, frame *f)
{
    const int k = abut_stencil_size(kind);
    double w[4], g[12];
    f->d = sqrt(abut_dist2_all(kind, x, w, g, NULL));
    f->w_norm = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2] + w[3] * w[3]);
    const int i = kind == ABUT_EE && w[1] > w[0];   /* g_i = 2 w_i r; this weight is at least 1/2 */
    for (int c = 0; c < 3; c++) f->n[c] = g[3 * i + c] / (2 * w[i] * f->d);
    for (int a = 0; a < 4; a++) f->what[a] = w[a] / f->w_norm;
    f->q = k - 1;
    f->m = kind == ABUT_PP ? 0 : kind == ABUT_PE ? 1 : 2;
    if (f->m == 0) return;

    double A[2][3], r01 = 0, r11 = 1;
    for (int j = 0; j < f->m; j++)
        for (int c = 0; c < 3; c++) A[j][c] = x[3 * plus[kind][j] + c] - x[3 * minus[kind][j] + c];
    const double r00 = sqrt(dot3(A[0], A[0]));
    for (int c = 0; c < 3; c++) f->t[0][c] = A[0][c] / r00;
    if (f->m == 2) {
        for (int c = 0; c < 3; c++)
            f->t[1][c] = f->n[(c + 1) % 3] * f->t[0][(c + 2) % 3] - f->n[(c + 2) % 3] * f->t[0][(c + 1) % 3];
        r01 = dot3(A[1], f->t[0]), r11 = dot3(A[1], f->t[1]);
    }
    for (int l = 0; l < f->q; l++) {
        const double *c = zero_sum[kind][l];
        f->omega[l] = c[0] * w[0] + c[1] * w[1] + c[2] * w[2] + c[3] * w[3];
        f->zeta[0][l] = (c[plus[kind][0]] - c[minus[kind][0]]) / r00;
        f->zeta[1][l] = (c[plus[kind][1]] - c[minus[kind][1]] - r01 * f->zeta[0][l]) / r11;
    }
}

/* blocks of sum_kl S_kl c_k c_l^T x n n^T + (c_k what^T x n t_j^T + transposed) S_kj + what what^T x t_i t_j^T S_ij;
 * q and m are literals in the calls */
static inline __attribute__((always_inline)) void expand(const double zero[3][4], const frame *f, int q, int m,
                                                         const double *S, double *H)
{
    const int k = q + 1, dim = q + m;
    double y[4][3] = { { 0 } }, cS[4][3] = { { 0 } }, T[9] = { 0 };   /* y_a = sum_kj c_k[a] S_kj t_j, cS_a = c[a] S */
    for (int a = 0; a < k; a++) {
        for (int j = 0; j < m; j++) {
            double s = 0;
            for (int l = 0; l < q; l++) s += zero[l][a] * S[dim * l + q + j];
            for (int c = 0; c < 3; c++) y[a][c] += s * f->t[j][c];
        }
        for (int p = 0; p < q; p++)
            for (int l = 0; l < q; l++) cS[a][p] += zero[l][a] * S[dim * l + p];
    }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            for (int c = 0; c < 9; c++) T[c] += S[dim * (q + i) + q + j] * (f->t[i][c / 3] * f->t[j][c % 3]);
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++, H += 9) {
            if (b >= k) {
                memset(H, 0, 9 * sizeof *H);
                continue;
            }
            double e = 0;
            for (int l = 0; l < q; l++) e += cS[a][l] * zero[l][b];
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    H[3 * i + j] = f->n[i] * (e * f->n[j] + f->what[b] * y[a][j]) +
                                   f->what[a] * (y[b][i] * f->n[j] + f->what[b] * T[3 * i + j]);
        }
}

/* the small matrix of one contact in the basis c_l x n (q of them), what x t_j (m of them) */
static inline __attribute__((always_inline)) void small_matrix(const frame *f, int q, int m, double alpha, double beta,
                                                               size_t lane, abut_lanes *S)
{
    const int dim = q + m;
    const double bd = beta * f->d * f->w_norm, bdd = beta * f->d * f->d;
    for (int l = 0; l < q; l++) {
        for (int p = 0; p < q; p++) {
            double zz = f->zeta[0][l] * f->zeta[0][p];
            if (m == 2) zz += f->zeta[1][l] * f->zeta[1][p];
            S[dim * l + p][lane] = alpha * f->omega[l] * f->omega[p] + bdd * zz;
        }
        for (int j = 0; j < m; j++) S[dim * (q + j) + l][lane] = S[dim * l + q + j][lane] = bd * f->zeta[j][l];
    }
    for (int i = q; i < dim; i++)
        for (int j = q; j < dim; j++) S[dim * i + j][lane] = 0;
}

/* PP: the normal direction alone */
static void point_pair(const frame *f, double alpha, double *H)
{
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++)
            for (int i = 0; i < 9; i++) *H++ = b > 1 ? 0 : (a == b ? alpha : -alpha) * (f->n[i / 3] * f->n[i % 3]);
}

/* n <= ABUT_LANES contacts of one kind; their small matrices are projected together */
static inline __attribute__((always_inline)) void project(abut_stencil kind, int q, int m, size_t n, const double (*x)[12],
                                                          const double *db, const double *ddb, double *H)
{
    frame f[ABUT_LANES];
    abut_lanes S[25];
    for (size_t l = 0; l < ABUT_LANES; l++) {
        const size_t i = l < n ? l : 0;
        frame_of(kind, x[i], &f[l]);
        small_matrix(&f[l], q, m, fmax(0, 4 * f[l].d * f[l].d * ddb[i] + 2 * db[i]), -2 * db[i], l, S);
    }
    if (q + m == 5) abut_psd_project5_lanes(S);
    else abut_psd_project3_lanes(S);
    for (size_t l = 0; l < n; l++) {
        double s[25];
        for (int i = 0; i < (q + m) * (q + m); i++) s[i] = S[i][l];
        expand(zero_sum[kind], &f[l], q, m, s, H + ABUT_PACKED * l);
    }
}

void abut_pair_project(abut_stencil kind, size_t n, const double (*x)[12], const double *db, const double *ddb, double *H)
{
    if (kind == ABUT_PE) project(kind, 2, 1, n, x, db, ddb, H);
    else if (kind != ABUT_PP) project(kind, 3, 2, n, x, db, ddb, H);
    for (size_t i = 0; i < n && kind == ABUT_PP; i++) {
        frame f;
        frame_of(kind, x[i], &f);
        point_pair(&f, fmax(0, 4 * f.d * f.d * ddb[i] + 2 * db[i]), H + ABUT_PACKED * i);
    }
}

void abut_pair_barrier_hess(abut_barrier_law law, abut_stencil kind, size_t n, const double (*x)[12], const double *scale,
                            double *H)
{
    double db[ABUT_LANES], ddb[ABUT_LANES];
    for (size_t i = 0; i < n; i++) {
        (void)abut_barrier(law, abut_beyond2(abut_dist2(kind, x[i], NULL), law.xi), &db[i], &ddb[i]);
        db[i] *= scale[i];
        ddb[i] *= scale[i];
    }
    abut_pair_project(kind, n, x, db, ddb, H);
}

/* Four at a time: barriers, and gradients and Hessians of plain contacts. */
#include "energy/barrier_pair.h"

#include "geom/dist_lanes.h"
#include "linalg/log_lanes.h"
#include "linalg/packed_lanes.h"
#include "linalg/spd_lanes.h"

#include <math.h>

#define INLINE ABUT_LANES_INLINE
#define ALL ABUT_LANES_ALL
#define PICK ABUT_LANES_PICK
#define DOT ABUT_LANES_DOT

/* ---- the barrier ---- */

/* As abut_barrier has it, case by case. */
INLINE void barrier(int continuity, const abut_lanes *Dhat, const abut_lanes *D, abut_lanes *b, abut_lanes *db, abut_lanes *ddb)
{
    const abut_lanes gap = *Dhat - *D, share = *D / *Dhat, close = -gap / *Dhat;
    const abut_lane_mask out = *D >= *Dhat, in = *D > 0;
    abut_lanes far, L;
    abut_lanes_log(&share, &far);
    abut_lanes_log1p(&close, &L);
    L = PICK(gap < 0.5 * *Dhat, L, far);
    if (continuity == ABUT_C0) {
        const abut_lanes q = *Dhat / *D;
        *b = -*Dhat * *Dhat * L;
        *db = -*Dhat * q;
        *ddb = q * q;
    } else if (continuity == ABUT_C1) {
        *b = -*Dhat * gap * L;
        *db = *Dhat * (L - gap / *D);
        *ddb = *Dhat / *D * ((*D + *Dhat) / *D);
    } else {
        *b = -gap * gap * L;
        *db = gap * (2 * L - gap / *D);
        *ddb = -2 * L + gap / *D * ((*Dhat + 3 * *D) / *D);
    }
    *b = PICK(out, ALL(0.), PICK(in, *b, ALL((double)INFINITY)));
    *db = PICK(out, ALL(0.), PICK(in, *db, ALL(-(double)INFINITY)));
    *ddb = PICK(out, ALL(0.), PICK(in, *ddb, ALL((double)INFINITY)));
}

ABUT_LANES_CLONES
void abut_barrier_four(const abut_barrier_law law[ABUT_LANES], const double D[ABUT_LANES], double b[ABUT_LANES])
{
    const abut_lanes at = { D[0], D[1], D[2], D[3] }, Dhat = { law[0].dhat2, law[1].dhat2, law[2].dhat2, law[3].dhat2 };
    abut_lanes value, db, ddb;
    barrier(law[0].continuity, &Dhat, &at, &value, &db, &ddb);
    for (int l = 0; l < ABUT_LANES; l++) b[l] = value[l];
}

/* ---- contacts ---- */

/* Points p[4][3] of n <= ABUT_LANES contacts x, with the first one again in lanes without one; the kind is a literal. */
INLINE void load(abut_stencil kind, size_t n, const double (*x)[12], abut_lanes p[4][3])
{
    const double *at[ABUT_LANES];
    const int points = kind == ABUT_PP ? 2 : kind == ABUT_PE ? 3 : 4;
    for (int k = 0; k < points; k++) {
        for (size_t l = 0; l < ABUT_LANES; l++) at[l] = x[l < n ? l : 0] + 3 * k;
        abut_lanes_gather3(at, p[k]);
    }
}

/* b' and b'' of the same contacts at squared distances d2. */
INLINE void slopes(const abut_barrier_law *law, size_t n, const abut_lanes *d2, abut_lanes *db, abut_lanes *ddb)
{
    abut_lanes D, Dhat, b;
    for (size_t l = 0; l < ABUT_LANES; l++) {
        const size_t i = l < n ? l : 0;
        D[l] = abut_beyond2((*d2)[l], law[i].xi);
        Dhat[l] = law[i].dhat2;
    }
    barrier(law->continuity, &Dhat, &D, &b, db, ddb);
}

/* b' times grad d^2, 2 w_i r at point i. */
INLINE void grad_of(abut_stencil kind, const abut_barrier_law *law, size_t n, const double (*x)[12], double (*g)[12])
{
    const int points = kind == ABUT_PP ? 2 : kind == ABUT_PE ? 3 : 4;
    abut_lanes p[4][3], w[4], r[3], G[12], d2, db, ddb;
    load(kind, n, x, p);
    abut_dist2_lanes(kind, p, w, r, &d2);
    slopes(law, n, &d2, &db, &ddb);
    for (int i = 0; i < 12; i++) G[i] = i < 3 * points ? db * (2 * w[i / 3] * r[i % 3]) : ALL(0.);
    for (size_t l = 0; l < n; l++)
        for (int i = 0; i < 3 * points; i++) g[l][i] = G[i][l];
}

#define GRAD_OF(name, kind)                                                                                     \
    ABUT_LANES_CLONES                                                                                           \
    static void name(const abut_barrier_law *law, size_t n, const double (*x)[12], double (*g)[12])             \
    {                                                                                                           \
        grad_of(kind, law, n, x, g);                                                                            \
    }
GRAD_OF(grad_pp, ABUT_PP)
GRAD_OF(grad_pe, ABUT_PE)
GRAD_OF(grad_pt, ABUT_PT)
GRAD_OF(grad_ee, ABUT_EE)

void abut_pair_barrier_grads(const abut_barrier_law *law, abut_stencil kind, size_t n, const double (*x)[12], double (*g)[12])
{
    switch (kind) {
    case ABUT_PP: grad_pp(law, n, x, g); return;
    case ABUT_PE: grad_pe(law, n, x, g); return;
    case ABUT_PT: grad_pt(law, n, x, g); return;
    default: grad_ee(law, n, x, g);
    }
}

/* ---- the projection in closed form, for a function f of D = d^2 (less a constant: xi^2) ----
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

/* Contacts in their own frames: unit vectors w = |w| what, n, t_j, and z_j in zero_sum coordinates. */
typedef struct frame {
    abut_lanes d, d2, w_norm, what[4], n[3], t[2][3];
    abut_lanes omega[3], zeta[2][3];
} frame;

/* q: dimension of c x n, m: of w x t; literals, as the kind. */
INLINE void frame_of(abut_stencil kind, int q, int m, abut_lanes x[4][3], frame *f)
{
    abut_lanes w[4], r[3], A[2][3], r01 = ALL(0.), r11 = ALL(1.);
    abut_dist2_lanes(kind, x, w, r, &f->d2);
    f->d = f->d2;
    f->w_norm = w[0] * w[0] + w[1] * w[1] + w[2] * w[2] + w[3] * w[3];
    abut_lanes_sqrt(&f->d);
    abut_lanes_sqrt(&f->w_norm);
    for (int c = 0; c < 3; c++) f->n[c] = r[c] / f->d;
    for (int a = 0; a < 4; a++) f->what[a] = w[a] / f->w_norm;
    if (m == 0) return;

    for (int j = 0; j < m; j++) abut_lanes3_sub(x[plus[kind][j]], x[minus[kind][j]], A[j]);
    abut_lanes r00 = DOT(A[0], A[0]);
    abut_lanes_sqrt(&r00);
    for (int c = 0; c < 3; c++) f->t[0][c] = A[0][c] / r00;
    if (m == 2) {
        abut_lanes3_cross(f->n, f->t[0], f->t[1]);
        r01 = DOT(A[1], f->t[0]), r11 = DOT(A[1], f->t[1]);
    }
    for (int l = 0; l < q; l++) {
        const double *c = zero_sum[kind][l];
        f->omega[l] = c[0] * w[0] + c[1] * w[1] + c[2] * w[2] + c[3] * w[3];
        f->zeta[0][l] = (c[plus[kind][0]] - c[minus[kind][0]]) / r00;
        if (m == 2) f->zeta[1][l] = (c[plus[kind][1]] - c[minus[kind][1]] - r01 * f->zeta[0][l]) / r11;
    }
}

/* the small matrix in the basis c_l x n (q of them), what x t_j (m of them) */
INLINE void small_matrix(const frame *f, int q, int m, const abut_lanes *alpha, const abut_lanes *beta, abut_lanes *S)
{
    const int dim = q + m;
    const abut_lanes bd = *beta * f->d * f->w_norm, bdd = *beta * f->d * f->d;
    for (int l = 0; l < q; l++) {
        for (int p = 0; p < q; p++) {
            abut_lanes zz = f->zeta[0][l] * f->zeta[0][p];
            if (m == 2) zz += f->zeta[1][l] * f->zeta[1][p];
            S[dim * l + p] = *alpha * f->omega[l] * f->omega[p] + bdd * zz;
        }
        for (int j = 0; j < m; j++) S[dim * (q + j) + l] = S[dim * l + q + j] = bd * f->zeta[j][l];
    }
    for (int i = q; i < dim; i++)
        for (int j = q; j < dim; j++) S[dim * i + j] = ALL(0.);
}

/* blocks of sum_kl S_kl c_k c_l^T x n n^T + (c_k what^T x n t_j^T + transposed) S_kj + what what^T x t_i t_j^T S_ij;
 * q and m are literals in the calls */
INLINE void expand(abut_stencil kind, const frame *f, int q, int m, const abut_lanes *S, abut_lanes *H)
{
    const int k = q + 1, dim = q + m;
    abut_lanes y[4][3], cS[4][3], T[9], nn[9];     /* y_a = sum_kj c_k[a] S_kj t_j, cS_a = c[a] S */
    for (int a = 0; a < k; a++) {
        for (int c = 0; c < 3; c++) y[a][c] = cS[a][c] = ALL(0.);
        for (int j = 0; j < m; j++) {
            abut_lanes s = ALL(0.);
            for (int l = 0; l < q; l++) s += zero_sum[kind][l][a] * S[dim * l + q + j];
            for (int c = 0; c < 3; c++) y[a][c] += s * f->t[j][c];
        }
        for (int p = 0; p < q; p++)
            for (int l = 0; l < q; l++) cS[a][p] += zero_sum[kind][l][a] * S[dim * l + p];
    }
    for (int c = 0; c < 9; c++) {
        T[c] = ALL(0.);
        nn[c] = f->n[c / 3] * f->n[c % 3];
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++) T[c] += S[dim * (q + i) + q + j] * (f->t[i][c / 3] * f->t[j][c % 3]);
    }
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++, H += 9) {
            if (b >= k) continue;
            const abut_lanes ww = f->what[a] * f->what[b];
            abut_lanes e = ALL(0.);
            for (int l = 0; l < q; l++) e += cS[a][l] * zero_sum[kind][l][b];
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    H[3 * i + j] = e * nn[3 * i + j] + f->what[b] * (f->n[i] * y[a][j]) + f->what[a] * (y[b][i] * f->n[j]) +
                                   ww * T[3 * i + j];
        }
}

/* PP: the normal direction alone */
INLINE void point_pair(const frame *f, const abut_lanes *alpha, abut_lanes *H)
{
    for (int i = 0; i < 9; i++) {
        H[i] = H[36 + i] = *alpha * (f->n[i / 3] * f->n[i % 3]);
        H[9 + i] = -H[i];
    }
}

/* n <= ABUT_LANES contacts of one kind; their small matrices are projected together */
INLINE void hess_of(abut_stencil kind, int q, int m, const abut_barrier_law *law, size_t n, const double (*x)[12],
                    const double *scale, double *H)
{
    abut_lanes p[4][3], S[25], K[ABUT_PACKED], weight, db, ddb;
    frame f;
    load(kind, n, x, p);
    frame_of(kind, q, m, p, &f);
    slopes(law, n, &f.d2, &db, &ddb);
    for (size_t l = 0; l < ABUT_LANES; l++) weight[l] = scale[l < n ? l : 0];
    const abut_lanes normal = weight * (4 * f.d2 * ddb + 2 * db), beta = -2 * weight * db;
    const abut_lanes alpha = PICK(normal > 0, normal, ALL(0.));
    if (m == 0) point_pair(&f, &alpha, K);
    else {
        small_matrix(&f, q, m, &alpha, &beta, S);
        if (m == 2) abut_psd_project5_lanes(S);
        else abut_psd_project3_lanes(S);
        expand(kind, &f, q, m, S, K);
    }
    abut_packed_spread_corners(K, q + 1, n, H);
}

#define HESS_OF(name, kind, q, m)                                                                                            \
    ABUT_LANES_CLONES                                                                                                        \
    static void name(const abut_barrier_law *law, size_t n, const double (*x)[12], const double *scale, double *H)           \
    {                                                                                                                        \
        hess_of(kind, q, m, law, n, x, scale, H);                                                                            \
    }
HESS_OF(hess_pp, ABUT_PP, 1, 0)
HESS_OF(hess_pe, ABUT_PE, 2, 1)
HESS_OF(hess_pt, ABUT_PT, 3, 2)
HESS_OF(hess_ee, ABUT_EE, 3, 2)

void abut_pair_barrier_hess(const abut_barrier_law *law, abut_stencil kind, size_t n, const double (*x)[12], const double *scale,
                            double *H)
{
    switch (kind) {
    case ABUT_PP: hess_pp(law, n, x, scale, H); return;
    case ABUT_PE: hess_pe(law, n, x, scale, H); return;
    case ABUT_PT: hess_pt(law, n, x, scale, H); return;
    default: hess_ee(law, n, x, scale, H);
    }
}

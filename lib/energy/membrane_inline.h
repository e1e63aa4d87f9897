/* One membrane (energy/membrane.h) and the shell that is made of it: forces, projected second derivative. */
#ifndef ABUT_ENERGY_MEMBRANE_INLINE_H
#define ABUT_ENERGY_MEMBRANE_INLINE_H

#include "energy/stretch_step_inline.h"
#include "math/elementary_inline.h"
#include "math/spd_inline.h"
#include "math/svd3_inline.h"
#include "model/laws.h"
#include "sparse/packed_inline.h"

/* A function of the principal stretches and its derivatives. */
typedef struct abut_plane_principal {
    double psi;         /* J/m^3 */
    double d[2];        /* dpsi/ds_i, Pa */
    double A[3];        /* d2psi/ds_i ds_j: 00, 01, 11 */
    double flip;        /* (d_0 - d_1) / (s_0 - s_1) */
    double twist;       /* (d_0 + d_1) / (s_0 + s_1) */
} abut_plane_principal;

/* A law in the frame of the singular vectors: u_i v_p^T is number 2 i + p. */
typedef struct abut_plane_frame {
    double P[4];        /* dpsi/dF, Pa */
    double G[16];       /* d2psi/dF2 in the plane */
    double R[3];        /* d2psi/dF2 of n v_p^T, n v_q^T: 00, 01, 11 */
} abut_plane_frame;

/* ---- isotropic laws ---- */

ABUT_FN void abut_plane_stvk(double mu, double lambda, const double s[2], abut_plane_principal *p)
{
    const double e[2] = { 0.5 * (s[0] - 1) * (s[0] + 1), 0.5 * (s[1] - 1) * (s[1] + 1) }, tr = e[0] + e[1];
    p->psi = mu * (e[0] * e[0] + e[1] * e[1]) + 0.5 * lambda * tr * tr;
    for (int i = 0; i < 2; i++) {
        p->d[i] = (2 * mu * e[i] + lambda * tr) * s[i];
        p->A[2 * i] = 2 * mu * e[i] + lambda * tr + (2 * mu + lambda) * s[i] * s[i];
    }
    p->A[1] = lambda * s[0] * s[1];
    p->flip = mu * (2 * tr + 1 + s[0] * s[1]) + lambda * tr;
    p->twist = mu * (2 * tr + 1 - s[0] * s[1]) + lambda * tr;
}

/* L = ln(s_0 s_1) */
ABUT_FN void abut_plane_neo_hookean(double mu, double lambda, const double s[2], double L, abut_plane_principal *p)
{
    const double c = mu - lambda * L, r[2] = { 1 / s[0], 1 / s[1] };
    p->psi = 0.5 * mu * ((s[0] - 1) * (s[0] + 1) + (s[1] - 1) * (s[1] + 1)) + L * (0.5 * lambda * L - mu);
    for (int i = 0; i < 2; i++) {
        p->d[i] = mu * s[i] - c * r[i];
        p->A[2 * i] = mu + (c + lambda) * r[i] * r[i];
    }
    p->A[1] = lambda * r[0] * r[1];
    p->flip = mu + c * r[0] * r[1];
    p->twist = mu - c * r[0] * r[1];
}

ABUT_FN void abut_plane_fixed_corotated(double mu, double lambda, const double s[2], abut_plane_principal *p)
{
    const double J = s[0] * s[1], pressure = lambda * (J - 1);
    p->psi = mu * ((s[0] - 1) * (s[0] - 1) + (s[1] - 1) * (s[1] - 1)) + 0.5 * pressure * (J - 1);
    for (int i = 0; i < 2; i++) {
        p->d[i] = 2 * mu * (s[i] - 1) + pressure * s[1 - i];
        p->A[2 * i] = 2 * mu + lambda * s[1 - i] * s[1 - i];
    }
    p->A[1] = lambda * (2 * J - 1);
    p->flip = 2 * mu - pressure;
    p->twist = 2 * mu * (s[0] - 1 + (s[1] - 1)) / (s[0] + s[1]) + pressure;
}

/** An isotropic law at s[2] > 0; L = ln(s_0 s_1), which only the neo-Hookean one reads. */
ABUT_FN void abut_plane_principal_of(int model, double mu, double lambda, const double s[2], double L, abut_plane_principal *p)
{
    switch (model) {
    case ABUT_STVK: abut_plane_stvk(mu, lambda, s, p); break;
    case ABUT_NEO_HOOKEAN: abut_plane_neo_hookean(mu, lambda, s, L, p); break;
    default: abut_plane_fixed_corotated(mu, lambda, s, p);
    }
}

/** Whether [a b; b c] of A[3] = a, b, c is positive semidefinite. */
ABUT_FN int abut_plane_is_semidefinite(const double A[3])
{
    return 0.5 * (A[0] + A[2]) >= 0 && A[0] * A[2] - A[1] * A[1] >= 0;
}

/** A less its negative eigenvalues: the nearest that is.  root = |((a - c)/2, b)|. */
ABUT_FN void abut_plane_lift(double root, double A[3])
{
    const double a = A[0], b = A[1], c = A[2], high = 0.5 * (a + c) + root;
    if (high <= 0) {
        A[0] = A[1] = A[2] = 0;
        return;
    }
    /* high q q^T, q = (b, high - a) or (high - c, b), whichever is the longer */
    const double q[2] = { a < c ? b : high - c, a < c ? high - a : b }, w = high / (q[0] * q[0] + q[1] * q[1]);
    A[0] = w * q[0] * q[0];
    A[1] = w * q[0] * q[1];
    A[2] = w * q[1] * q[1];
}

/** f = p with A in place of p->A, and with negative flip, twist and d_i / s_i set to 0 in the second derivative. */
ABUT_FN void abut_plane_frame_of(const abut_plane_principal *p, const double A[3], const double s[2], abut_plane_frame *f)
{
    const double flip = p->flip > 0 ? p->flip : 0, twist = p->twist > 0 ? p->twist : 0;
    for (int k = 0; k < 16; k++) f->G[k] = 0;
    for (int k = 0; k < 2; k++) {
        const double across = p->d[k] / s[k];
        f->P[3 * k] = p->d[k];
        f->R[2 * k] = across > 0 ? across : 0;
    }
    f->P[1] = f->P[2] = f->R[1] = 0;
    f->G[0] = A[0];
    f->G[3] = f->G[12] = A[1];
    f->G[15] = A[2];
    f->G[5] = f->G[10] = 0.5 * (flip + twist);
    f->G[6] = f->G[9] = 0.5 * (flip - twist);
}

/* ---- stretch limits ---- */

/* remaining fraction of the width below which a difference quotient of b' is no better than its derivative */
#define ABUT_STRETCH_SAME 1e-4

/** abut_stretch_barrier; db and d2b are not NULL.  libm, a literal: with the logarithms of the C library. */
ABUT_FN_LITERAL double abut_stretch_barrier_of(int libm, double s, double begins, double limit, double *db, double *d2b)
{
    const double w = limit - begins, q = limit - s, y = (begins - s) / w;     /* on the lower side w, q change sign */
    if (!(y < 0)) return *db = *d2b = 0;
    if (!(q / w > 0)) return (double)INFINITY;
    const double r = y * w / q;     /* (t - s)/(u - s) */
    const double l = y > -0.5 ? libm ? log1p(y) : abut_log1p(y) : libm ? log(q / w) : abut_log(q / w);
    *db = (2 * y * l + y * r) / w;
    *d2b = (-2 * l - 4 * r + r * r) / (w * w);
    return -y * y * l;
}

/* b of both stretches on one side */
ABUT_FN_LITERAL void abut_stretch_side_add(int libm, double begins, double limit, double kappa, const double s[2],
                                           abut_plane_principal *p)
{
    double b[2], d[2], dd[2], mid = 0, none;
    for (int i = 0; i < 2; i++) {
        b[i] = abut_stretch_barrier_of(libm, s[i], begins, limit, &d[i], &dd[i]);
        if (!(b[i] < (double)INFINITY)) {
            p->psi = (double)INFINITY;
            return;
        }
    }
    if (b[0] == 0 && b[1] == 0) return;
    const double far[2] = { fabs(limit - s[0]), fabs(limit - s[1]) }, left = far[0] < far[1] ? far[0] : far[1];
    const double apart = s[0] - s[1];
    if (fabs(apart) > ABUT_STRETCH_SAME * left) mid = (d[0] - d[1]) / apart;
    else (void)abut_stretch_barrier_of(libm, 0.5 * (s[0] + s[1]), begins, limit, &none, &mid);
    p->psi += kappa * (b[0] + b[1]);
    for (int i = 0; i < 2; i++) {
        p->d[i] += kappa * d[i];
        p->A[2 * i] += kappa * dd[i];
    }
    p->flip += kappa * mid;
    p->twist += kappa * (d[0] + d[1]) / (s[0] + s[1]);
}

/** abut_stretch_limit_add. */
ABUT_FN_LITERAL void abut_stretch_limit_add_of(int libm, const double row[4], double kappa, const double s[2],
                                               abut_plane_principal *p)
{
    if (abut_stretch_acts(row, 1))
        abut_stretch_side_add(libm, row[ABUT_STRETCH_HIGH_BEGINS], row[ABUT_STRETCH_HIGH], kappa, s, p);
    if (abut_stretch_acts(row, 0)) abut_stretch_side_add(libm, row[ABUT_STRETCH_LOW_BEGINS], row[ABUT_STRETCH_LOW], kappa, s, p);
}

/* A row of limits, NULL: none, and their stiffness, Pa. */
typedef struct abut_plane_limit {
    const double *row;
    double kappa;
} abut_plane_limit;

/* ---- fabrics ---- */

typedef struct abut_fabrics_one {
    double a[4], m[3];      /* abut_fabrics */
} abut_fabrics_one;

#include "math/forms_one.h"
#define FABRICS abut_fabrics_one
#include "energy/membrane_forms.h"
#undef FABRICS

#include "math/forms_end.h"

/* ---- Baraff and Witkin ---- */

/* The membrane of Baraff and Witkin as a finite element (Kim 2020): stretch along warp and weft
 * and shear between them, each by itself.  With f_u, f_v the columns of F, what unit lengths along warp and weft become,
 *
 *     psi = sum k_c w(|f_c|) (|f_c| - 1)^2 + k_s (f_u . f_v)^2,   w(s) = 1 for s >= 1, else the factor in compression.
 *
 * Eigenvalues of the second derivative of a stretch: 2 k w along f, 2 k w (1 - 1/|f|) twice across it, which are negative in
 * compression.  For the shear, over 2 k_s, with I = f_u . f_v, N = |f_u|^2 + |f_v|^2, g = (f_v, f_u), S that swaps the halves of
 * a 6-vector: (N +- sqrt(N^2 + 12 I^2))/2 with lambda g + I S g, and +-|I| twice each in the spaces of S, orthogonal to g.  Each
 * is projected by itself, so that the sum lies above the nearest semidefinite matrix. */
/* Numbers of a law: stiffness of both stretches, Pa; its factor in compression, in (0, 1]; stiffness of the shear, Pa. */
enum { ABUT_BW_WARP, ABUT_BW_WEFT, ABUT_BW_COMPRESSION, ABUT_BW_SHEAR, ABUT_BW_NUMBERS };

/* A deformation in the plane of the singular vectors. */
typedef struct abut_bw_plane {
    double f[2][2];         /* f_u, f_v */
    double length[2];       /* of these */
    double beyond[2];       /* length - 1, exact near rest */
    double weight[2];       /* k_c w */
    double dot;             /* f_u . f_v */
} abut_bw_plane;

ABUT_FN void abut_bw_plane_of(const double *law, const double s[2], const double V[4], abut_bw_plane *q)
{
    const double e[2] = { (s[0] - 1) * (s[0] + 1), (s[1] - 1) * (s[1] + 1) };
    /* V0 V2 + V1 V3 is 0: of both forms the one of smaller terms */
    const int near_rest = fabs(e[0]) + fabs(e[1]) < s[0] * s[0] + s[1] * s[1];
    q->dot = (near_rest ? e[0] : s[0] * s[0]) * V[0] * V[2] + (near_rest ? e[1] : s[1] * s[1]) * V[1] * V[3];
    for (int c = 0; c < 2; c++) {
        for (int i = 0; i < 2; i++) q->f[c][i] = s[i] * V[2 * c + i];
        q->length[c] = sqrt(q->f[c][0] * q->f[c][0] + q->f[c][1] * q->f[c][1]);
        q->beyond[c] = (e[0] * V[2 * c] * V[2 * c] + e[1] * V[2 * c + 1] * V[2 * c + 1]) / (q->length[c] + 1);
        q->weight[c] = law[c] * (q->beyond[c] < 0 ? law[ABUT_BW_COMPRESSION] : 1);
    }
}

/** psi at F = U diag(s) V^T, s > 0, J/m^3; P[4] its derivative in the frame of the singular vectors (abut_plane_frame). */
ABUT_FN double abut_bw_stress(const double *law, const double s[2], const double V[4], double P[4])
{
    abut_bw_plane q;
    double psi, d[2][2];
    abut_bw_plane_of(law, s, V, &q);
    psi = law[ABUT_BW_SHEAR] * q.dot * q.dot;
    for (int c = 0; c < 2; c++) {
        psi += q.weight[c] * q.beyond[c] * q.beyond[c];
        for (int i = 0; i < 2; i++)
            d[c][i] = 2 * (q.weight[c] * q.beyond[c] / q.length[c] * q.f[c][i] + law[ABUT_BW_SHEAR] * q.dot * q.f[1 - c][i]);
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) P[2 * i + j] = d[0][i] * V[j] + d[1][i] * V[2 + j];
    return psi;
}

/* d2psi/df_c df_d of the stretches, projected: H[4][4] in the plane, number 2 c + i; N[2][2] across it */
ABUT_FN void abut_bw_stretch_hessian(const abut_bw_plane *q, int project, double H[4][4], double N[2][2])
{
    for (int c = 0; c < 2; c++) {
        const double across = q->beyond[c] > 0 || !project ? 2 * q->weight[c] * q->beyond[c] / q->length[c] : 0;
        const double along = (2 * q->weight[c] - across) / (q->length[c] * q->length[c]);
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                H[2 * c + i][2 * c + j] = along * q->f[c][i] * q->f[c][j] + (i == j ? across : 0);
        N[c][c] = across;
    }
}

/* Adds d2psi/df_c df_d of the shear, projected, to H and N. */
ABUT_FN void abut_bw_shear_hessian(const abut_bw_plane *q, double k, double H[4][4], double N[2][2])
{
    const double I = q->dot, size = fabs(I), sign = I < 0 ? -1 : 1;
    const double *u = q->f[0], *v = q->f[1], g[4] = { v[0], v[1], u[0], u[1] };
    const double sum = g[0] * g[0] + g[1] * g[1] + g[2] * g[2] + g[3] * g[3];
    const double high = 0.5 * (sum + sqrt(sum * sum + 12 * I * I)), t2 = 0.5 * sum + size;
    double w[4], t[4], w2 = 0;
    for (int i = 0; i < 4; i++) {
        const double other = g[(i + 2) % 4];
        w[i] = high * g[i] + I * other;
        t[i] = 0.5 * (g[i] + sign * other);
        w2 += w[i] * w[i];
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const double mean = i == j ? 0.5 : (i + 2) % 4 == j ? 0.5 * sign : 0;
            H[i][j] += 2 * k * (high / w2 * w[i] * w[j] + size * (mean - t[i] * t[j] / t2));
        }
    for (int c = 0; c < 2; c++)
        for (int d = 0; d < 2; d++) N[c][d] += k * size * (c == d ? 1 : sign);
}

/* Adds d2psi/df_c df_d of the shear, not projected: 2 k (g g^T + I d2I/df2), g = (f_v, f_u) the derivative of I = f_u . f_v. */
ABUT_FN void abut_bw_shear_as_is(const abut_bw_plane *q, double k, double H[4][4], double N[2][2])
{
    const double *u = q->f[0], *v = q->f[1], g[4] = { v[0], v[1], u[0], u[1] };
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) H[i][j] += 2 * k * (g[i] * g[j] + ((i + 2) % 4 == j ? q->dot : 0));
    N[0][1] += 2 * k * q->dot;
    N[1][0] += 2 * k * q->dot;
}

/** G[16] and R[3] (abut_plane_frame): d2psi/dF2 at s > 0; project: stretches and shear each by itself. */
ABUT_FN void abut_bw_hessian(const double *law, const double s[2], const double V[4], int project, double G[16], double R[3])
{
    abut_bw_plane q;
    double H[4][4] = { { 0 } }, N[2][2] = { { 0 } };
    abut_bw_plane_of(law, s, V, &q);
    abut_bw_stretch_hessian(&q, project, H, N);
    if (project) abut_bw_shear_hessian(&q, law[ABUT_BW_SHEAR], H, N);
    else abut_bw_shear_as_is(&q, law[ABUT_BW_SHEAR], H, N);
    for (int a = 0; a < 4; a++)         /* from warp and weft to the columns of V: u_i v_p^T is number 2 i + p */
        for (int b = 0; b < 4; b++) {
            const int i = a / 2, p = a % 2, j = b / 2, r = b % 2;
            G[4 * a + b] = V[p] * (H[i][j] * V[r] + H[i][2 + j] * V[2 + r]) +
                           V[2 + p] * (H[2 + i][j] * V[r] + H[2 + i][2 + j] * V[2 + r]);
        }
    for (int a = 0; a < 3; a++) {
        const int p = a / 2, r = (a + 1) / 2;
        R[a] = V[p] * (N[0][0] * V[r] + N[0][1] * V[2 + r]) + V[2 + p] * (N[1][0] * V[r] + N[1][1] * V[2 + r]);
    }
}

/* ---- any law ---- */

/* Numbers of a law: mu and lambda; or a11, a22, a12, G12, m11, m22, m12 (INFINITY: no bound); or those of ABUT_BW_*. */
enum { ABUT_PLANE_WOVEN = -1 /* no constitutive model, but a fabric */, ABUT_PLANE_BARAFF_WITKIN = -2, ABUT_PLANE_NUMBERS = 7 };

/* ---- one shell: x[9] of its corners, B[4] inverse rest edges ---- */

/** F[6] = [x1 - x0, x2 - x0] B, row major. */
ABUT_FN void abut_shell_deform(const double *x0, const double *x1, const double *x2, const double *B, double F[6])
{
    for (int i = 0; i < 3; i++) {
        const double a = x1[i] - x0[i], b = x2[i] - x0[i];
        F[2 * i] = a * B[0] + b * B[2];
        F[2 * i + 1] = a * B[1] + b * B[3];
    }
}

/** f = weight V P g_c at the corners, g_1 and g_2 the rows of B and g_0 = -(g_1 + g_2); P = U T V^T; 0 at a fourth. */
ABUT_FN void abut_shell_forces(const double U[6], const double V[4], double weight, const double *B, const double T[4],
                               double f[12])
{
    double UT[6];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) UT[2 * i + j] = weight * (U[2 * i] * T[j] + U[2 * i + 1] * T[2 + j]);
    for (int c = 0; c < 2; c++) {
        const double y0 = V[0] * B[2 * c] + V[2] * B[2 * c + 1];
        const double y1 = V[1] * B[2 * c] + V[3] * B[2 * c + 1];
        for (int i = 0; i < 3; i++) f[3 * c + 3 + i] = UT[2 * i] * y0 + UT[2 * i + 1] * y1;
    }
    for (int i = 0; i < 3; i++) {
        f[i] = -(f[3 + i] + f[6 + i]);
        f[9 + i] = 0;
    }
}

#endif

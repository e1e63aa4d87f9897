/* Fabrics (energy/membrane.h) for one number or four at a time, as energy/material/density_forms.h; FABRICS is abut_fabrics or
 * abut_fabrics_one: moduli a[4] and bounds m[3]. */

/* z: the squares of the strains, and the product of the first two; those of their bounds; z over that, less than 1 where the
 * bounds are kept */
typedef struct NAME(abut_fabric_squares) {
    REAL z[4], bound[4], share[4];
} NAME(abut_fabric_squares);

FORM void NAME(abut_fabric_squares_of)(const FABRICS *f, const REAL *e, NAME(abut_fabric_squares) *q)
{
    for (int i = 0; i < 4; i++) {
        const int a = i == 3 ? 2 : i / 2, b = i == 3 ? 2 : (i + 1) / 2;
        q->z[i] = e[a] * e[b];
        q->bound[i] = f->m[a] * f->m[b];
        q->share[i] = q->z[i] / q->bound[i];
    }
}

/* b(z, m) = -m ln(1 - z/m), z without a bound; c(y) = -ln(1 - y^2) - y^2 */
FORM void NAME(abut_fabric_psi)(const FABRICS *f, double k, const REAL *e, REAL *psi)
{
    NAME(abut_fabric_squares) q;
    REAL b[4], c[4];
    NAME(abut_fabric_squares_of)(f, e, &q);
    const MASK inside = (ABS(e[0]) < f->m[0]) & (ABS(e[1]) < f->m[1]) & (ABS(e[2]) < f->m[2]);
    for (int i = 0; i < 4; i++) {
        const REAL minus = PICK(inside, -q.share[i], ALL(0.));
        REAL ln;
        LOG1P(&minus, &ln);
        b[i] = PICK(q.bound[i] < (double)INFINITY, -q.bound[i] * ln, q.z[i]);
        c[i] = minus - ln;
    }
    *psi = 0.5 * f->a[0] * b[0] + f->a[2] * b[1] + 0.5 * f->a[1] * b[2] + f->a[3] * b[3] + k * (c[0] + c[2] + c[3]);
    *psi = PICK(inside, *psi, ALL((double)INFINITY));
}

/* S = dpsi/de, C = d2psi/de2 */
FORM void NAME(abut_fabric_derivatives)(const FABRICS *f, double k, const REAL *e, REAL *S, REAL *C)
{
    NAME(abut_fabric_squares) q;
    REAL db[4], ddb[4];
    NAME(abut_fabric_squares_of)(f, e, &q);
    for (int i = 0; i < 4; i++) {
        db[i] = 1 / (1 - q.share[i]);
        ddb[i] = db[i] * db[i] / q.bound[i];
    }
    S[0] = f->a[0] * db[0] * e[0] + f->a[2] * db[1] * e[1];
    S[1] = f->a[1] * db[2] * e[1] + f->a[2] * db[1] * e[0];
    S[2] = 2 * f->a[3] * db[3] * e[2];
    C[0] = f->a[0] * (2 * ddb[0] * q.z[0] + db[0]) + f->a[2] * ddb[1] * q.z[2];
    C[1] = f->a[2] * (ddb[1] * q.z[1] + db[1]);
    C[2] = f->a[1] * (2 * ddb[2] * q.z[2] + db[2]) + f->a[2] * ddb[1] * q.z[0];
    C[3] = f->a[3] * (4 * ddb[3] * q.z[3] + 2 * db[3]);
    for (int j = 0; j < 3; j++) {
        const int i = j ? j + 1 : 0;    /* 11, 22, 12 among 11,11; 11,22; 22,22; 12,12 */
        const REAL per = 2 * k / q.bound[i] * q.share[i] * db[i];     /* c' over e */
        S[j] += per * e[j];
        C[i] += per * (3 - q.share[i]) * db[i];
    }
}

/* e = (V diag(s^2) V^T - I)/2 */
FORM void NAME(abut_fabric_green)(const REAL *s, const REAL *V, REAL *e)
{
    const REAL w[2] = { 0.5 * (s[0] - 1) * (s[0] + 1), 0.5 * (s[1] - 1) * (s[1] + 1) };
    e[0] = w[0] * V[0] * V[0] + w[1] * V[1] * V[1];
    e[1] = w[0] * V[2] * V[2] + w[1] * V[3] * V[3];
    e[2] = w[0] * V[0] * V[2] + w[1] * V[1] * V[3];
}

/* T = V^T S V of the second Piola-Kirchhoff stress [S0 S2/2; S2/2 S1] */
FORM void NAME(abut_fabric_turn_stress)(const REAL *S, const REAL *V, REAL *T)
{
    const REAL h = 0.5 * S[2];
    T[0] = S[0] * V[0] * V[0] + 2 * h * V[0] * V[2] + S[1] * V[2] * V[2];
    T[1] = S[0] * V[0] * V[1] + h * (V[0] * V[3] + V[1] * V[2]) + S[1] * V[2] * V[3];
    T[2] = S[0] * V[1] * V[1] + 2 * h * V[1] * V[3] + S[1] * V[3] * V[3];
}

/* P[4] += dpsi/dF in the frame of the singular vectors */
FORM void NAME(abut_fabric_stress)(const FABRICS *f, double k, const REAL *s, const REAL *V, REAL *P)
{
    REAL e[3], S[3], T[3], C[4];
    NAME(abut_fabric_green)(s, V, e);
    NAME(abut_fabric_derivatives)(f, k, e, S, C);
    NAME(abut_fabric_turn_stress)(S, V, T);
    P[0] += s[0] * T[0];
    P[1] += s[0] * T[1];
    P[2] += s[1] * T[1];
    P[3] += s[1] * T[2];
}

FORM void NAME(abut_plane_semidefinite)(const REAL *A, MASK *is)
{
    *is = (A[0] >= 0) & (A[2] >= 0) & (A[0] * A[2] >= A[1] * A[1]);
}

/* Second derivative at finite psi: M[16] in the plane and T[3] across it, neither of them projected.  T is semidefinite where
 * *taut, M where *stiff, too. */
FORM void NAME(abut_fabric_frame)(const FABRICS *f, double k, const REAL *s, const REAL *V, REAL *M, REAL *T, MASK *taut,
                                  MASK *stiff)
{
    REAL e[3], S[3], C[4], D[3][4];
    NAME(abut_fabric_green)(s, V, e);
    NAME(abut_fabric_derivatives)(f, k, e, S, C);
    NAME(abut_fabric_turn_stress)(S, V, T);
    for (int i = 0; i < 2; i++)     /* de/dF along u_i v_p^T */
        for (int p = 0; p < 2; p++) {
            D[0][2 * i + p] = s[i] * V[i] * V[p];
            D[1][2 * i + p] = s[i] * V[2 + i] * V[2 + p];
            D[2][2 * i + p] = 0.5 * s[i] * (V[i] * V[2 + p] + V[2 + i] * V[p]);
        }
    for (int j = 0; j < 4; j++)
        for (int l = 0; l < 4; l++) {
            M[4 * j + l] = C[0] * D[0][j] * D[0][l] + C[1] * (D[0][j] * D[1][l] + D[1][j] * D[0][l]) + C[2] * D[1][j] * D[1][l] +
                           C[3] * D[2][j] * D[2][l];
            if (j / 2 == l / 2) M[4 * j + l] += T[j % 2 + l % 2];
        }
    NAME(abut_plane_semidefinite)(T, taut);
    NAME(abut_plane_semidefinite)(C, stiff);
}

/* ---- Hessians of shells (energy/codim.h).  G[16] and R[3]: the second derivative in the frame of the singular vectors
 * (abut_plane_frame) ---- */

/* K = sum d2psi/dF_mi dF_kj a_i b_j with a, b given in the frame: U M U^T + N n n^T */
FORM void NAME(abut_shell_block)(const REAL *G, const REAL *R, const REAL *U, const REAL *n, const REAL *a, const REAL *b,
                                 REAL *K)
{
    REAL M[4];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const REAL *g = G + 8 * i + 2 * j;
            M[2 * i + j] = a[0] * (g[0] * b[0] + g[1] * b[1]) + a[1] * (g[4] * b[0] + g[5] * b[1]);
        }
    const REAL N = a[0] * (R[0] * b[0] + R[1] * b[1]) + a[1] * (R[1] * b[0] + R[2] * b[1]);
    for (int j = 0; j < 3; j++) {
        const REAL c0 = M[0] * U[2 * j] + M[1] * U[2 * j + 1], c1 = M[2] * U[2 * j] + M[3] * U[2 * j + 1], c2 = N * n[j];
        for (int i = 0; i < 3; i++) K[3 * i + j] = U[2 * i] * c0 + U[2 * i + 1] * c1 + n[i] * c2;
    }
}

/* the packed blocks H[ABUT_PACKED] from the gradients of corners 1, 2 (rows of B, in the frame); corner 0 by translation
 * invariance */
FORM void NAME(abut_shell_pack)(const REAL *G, const REAL *R, const REAL *U, const REAL *B, const REAL *V, REAL *H)
{
    enum { B00 = 0, B01 = 9, B02 = 18, B11 = 36, B12 = 45, B22 = 63 };
    REAL g[4], n[3];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) g[2 * i + j] = B[2 * i] * V[j] + B[2 * i + 1] * V[2 + j];
    n[0] = U[2] * U[5] - U[4] * U[3];
    n[1] = U[4] * U[1] - U[0] * U[5];
    n[2] = U[0] * U[3] - U[2] * U[1];
    NAME(abut_shell_block)(G, R, U, n, g, g, H + B11);
    NAME(abut_shell_block)(G, R, U, n, g, g + 2, H + B12);
    NAME(abut_shell_block)(G, R, U, n, g + 2, g + 2, H + B22);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int ij = 3 * i + j, ji = 3 * j + i;
            H[B01 + ij] = -(H[B11 + ij] + H[B12 + ji]);
            H[B02 + ij] = -(H[B12 + ij] + H[B22 + ij]);
        }
    for (int k = 0; k < 9; k++) H[B00 + k] = -(H[B01 + k] + H[B02 + k]);
}

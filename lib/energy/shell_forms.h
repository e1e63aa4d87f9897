/* Hessians of shells (energy/codim.h) for one number or four at a time, as energy/material/density_forms.h.  G[16] and R[3]: the
 * second derivative in the frame of the singular vectors (abut_plane_frame). */

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

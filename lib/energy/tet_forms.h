/* Hessians of tetrahedra for one number or four at a time, as energy/material/density_forms.h. */

/* Second derivative in the frame of the singular vectors: scaling, and for each pair of axes (third index k) the entries
 * d2/dF_ij dF_ij = same[k] and d2/dF_ij dF_ji = swap[k]. */
typedef struct NAME(abut_modes) {
    REAL A[9], same[3], swap[3];
} NAME(abut_modes);

/* from principal forms and weights */
FORM void NAME(abut_modes_of)(const PRINCIPAL *p, const REAL *weight, NAME(abut_modes) *out)
{
    const REAL half = 0.5 * *weight;
    for (int i = 0; i < 9; i++) out->A[i] = *weight * p->A[i];
    for (int i = 0; i < 3; i++) {
        out->same[i] = half * (p->flip[i] + p->twist[i]);
        out->swap[i] = half * (p->flip[i] - p->twist[i]);
    }
}

/* K[m,k] = sum_ij a_i d2psi/dF_mi dF_kj b_j with a, b given in the frame of V */
FORM void NAME(abut_mode_block)(const NAME(abut_modes) *h, const REAL *U, const REAL *a, const REAL *b, REAL *K)
{
    REAL M[9], T[9];
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        M[4 * i] = h->A[4 * i] * a[i] * b[i] + h->same[k] * a[j] * b[j] + h->same[j] * a[k] * b[k];
        M[3 * i + j] = h->A[3 * i + j] * a[i] * b[j] + h->swap[k] * a[j] * b[i];
        M[3 * j + i] = h->A[3 * i + j] * a[j] * b[i] + h->swap[k] * a[i] * b[j];
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            T[3 * i + j] = M[3 * i] * U[3 * j] + M[3 * i + 1] * U[3 * j + 1] + M[3 * i + 2] * U[3 * j + 2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) K[3 * i + j] = U[3 * i] * T[j] + U[3 * i + 1] * T[3 + j] + U[3 * i + 2] * T[6 + j];
}

/* the packed blocks H[90] from g = B V, the gradients of corners 1, 2, 3; corner 0 by translation invariance */
FORM void NAME(abut_mode_pack)(const NAME(abut_modes) *h, const REAL *U, const REAL *B, const REAL *V, REAL *H)
{
    enum { B00 = 0, B01 = 9, B11 = 36, B12 = 45, B13 = 54, B22 = 63, B23 = 72, B33 = 81 };
    REAL g[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) g[3 * i + j] = B[3 * i] * V[j] + B[3 * i + 1] * V[3 + j] + B[3 * i + 2] * V[6 + j];
    NAME(abut_mode_block)(h, U, g, g, H + B11);
    NAME(abut_mode_block)(h, U, g, g + 3, H + B12);
    NAME(abut_mode_block)(h, U, g, g + 6, H + B13);
    NAME(abut_mode_block)(h, U, g + 3, g + 3, H + B22);
    NAME(abut_mode_block)(h, U, g + 3, g + 6, H + B23);
    NAME(abut_mode_block)(h, U, g + 6, g + 6, H + B33);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int ij = 3 * i + j, ji = 3 * j + i;
            REAL *to = H + B01 + ij;
            to[0] = -(H[B11 + ij] + H[B12 + ji] + H[B13 + ji]);
            to[9] = -(H[B12 + ij] + H[B22 + ij] + H[B23 + ji]);
            to[18] = -(H[B13 + ij] + H[B23 + ij] + H[B33 + ij]);
            H[B00 + ij] = -(to[0] + to[9] + to[18]);
        }
}

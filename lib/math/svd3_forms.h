/* Steps of the decompositions of math/svd3.h, of one matrix or of four at a time, by forms_one.h or forms_lanes.h. */

/* Cosine and sine, where `need`, of the smaller rotation that makes [app apq; apq aqq] diagonal; elsewhere 1 and 0. */
FORM void NAME(abut_svd3_jacobi)(const MASK *need, const REAL *app, const REAL *apq, const REAL *aqq, REAL *c, REAL *s)
{
    const REAL x = *aqq - *app, y = 2 * *apq;
    REAL h = x * x + y * y;
    SQRT(&h);
    h = ABS(x) + h;
    REAL n = h * h + y * y;
    SQRT(&n);
    *c = PICK(*need, h / n, ALL(1.));
    *s = PICK(*need, PICK(x < 0, -y, y) / n, ALL(0.));
}

/* Columns p and q of A[9] rotated: a_p = c a_p - s a_q, a_q = s a_p + c a_q. */
FORM void NAME(abut_svd3_turn)(REAL *A, int p, int q, const REAL *c, const REAL *s)
{
    for (int i = 0; i < 3; i++) {
        const REAL ap = A[3 * i + p], aq = A[3 * i + q];
        A[3 * i + p] = *c * ap - *s * aq;
        A[3 * i + q] = *s * ap + *c * aq;
    }
}

/* One Jacobi rotation on the symmetric matrix with diagonal d[3] and off-diagonal o[3], o[r] = S_pq, r the third index; none if
 * the entry is already rounding.  Adds to *turned where it turns. */
FORM void NAME(abut_svd3_turn_symmetric)(REAL *d, REAL *o, REAL *V, int p, int q, int r, MASK *turned)
{
    const REAL apq = o[r], size = ABS(apq), sum = d[p] + d[q];
    const MASK need = NOT((size <= DBL_EPSILON * ABS(sum)) | (size < ABUT_SVD3_TINY));
    if (!ANY_OF(need)) return;
    REAL c, s;
    NAME(abut_svd3_jacobi)(&need, &d[p], &apq, &d[q], &c, &s);
    const REAL app = d[p], aqq = d[q], apr = o[q], aqr = o[p];
    d[p] = c * c * app - 2 * c * s * apq + s * s * aqq;
    d[q] = s * s * app + 2 * c * s * apq + c * c * aqq;
    o[r] = PICK(need, ALL(0.), apq);
    o[q] = c * apr - s * aqr;
    o[p] = s * apr + c * aqr;
    NAME(abut_svd3_turn)(V, p, q, &c, &s);
    *turned |= need;
}

/* V[9] with V^T F^T F V diagonal up to the rounding of F^T F */
FORM void NAME(abut_svd3_right_vectors)(const REAL *F, REAL *V)
{
    REAL d[3] = { ABUT_SVD3_DOT(F, 0, 0), ABUT_SVD3_DOT(F, 1, 1), ABUT_SVD3_DOT(F, 2, 2) };
    REAL o[3] = { ABUT_SVD3_DOT(F, 1, 2), ABUT_SVD3_DOT(F, 0, 2), ABUT_SVD3_DOT(F, 0, 1) };
    for (int i = 0; i < 9; i++) V[i] = i % 4 ? ALL(0.) : ALL(1.);
    for (int sweep = 0; sweep < 8; sweep++) {
        MASK turned = { 0 };
        NAME(abut_svd3_turn_symmetric)(d, o, V, 0, 1, 2, &turned);
        NAME(abut_svd3_turn_symmetric)(d, o, V, 0, 2, 1, &turned);
        NAME(abut_svd3_turn_symmetric)(d, o, V, 1, 2, 0, &turned);
        if (!ANY_OF(turned)) return;
    }
}

/* One-sided Jacobi on two columns of B = F V, where they are not orthogonal to rounding (and none of them vanishes). */
FORM void NAME(abut_svd3_turn_one_sided)(REAL *B, REAL *V, int p, int q, MASK *turned)
{
    const REAL apq = ABUT_SVD3_DOT(B, p, q), app = ABUT_SVD3_DOT(B, p, p), aqq = ABUT_SVD3_DOT(B, q, q);
    const double tol = 4 * DBL_EPSILON;
    const MASK need = NOT(apq * apq <= tol * tol * app * aqq);
    if (!ANY_OF(need)) return;
    REAL c, s;
    NAME(abut_svd3_jacobi)(&need, &app, &apq, &aqq, &c, &s);
    NAME(abut_svd3_turn)(B, p, q, &c, &s);
    NAME(abut_svd3_turn)(V, p, q, &c, &s);
    *turned |= need;
}

/* Swaps two columns of A and reverses one, where m: a rotation, too. */
FORM void NAME(abut_svd3_swap)(const MASK *m, REAL *A, int p, int q)
{
    for (int i = 0; i < 3; i++) {
        const REAL ap = A[3 * i + p], aq = A[3 * i + q];
        A[3 * i + p] = PICK(*m, aq, ap);
        A[3 * i + q] = PICK(*m, -ap, aq);
    }
}

/* B = F V: rotates its columns, and those of V, until they are orthogonal to rounding; the longest first. */
FORM void NAME(abut_svd3_columns)(REAL *B, REAL *V)
{
    for (int sweep = 0; sweep < 12; sweep++) {
        MASK turned = { 0 };
        NAME(abut_svd3_turn_one_sided)(B, V, 0, 1, &turned);
        NAME(abut_svd3_turn_one_sided)(B, V, 0, 2, &turned);
        NAME(abut_svd3_turn_one_sided)(B, V, 1, 2, &turned);
        if (!ANY_OF(turned)) break;
    }
    REAL n[3] = { ABUT_SVD3_DOT(B, 0, 0), ABUT_SVD3_DOT(B, 1, 1), ABUT_SVD3_DOT(B, 2, 2) };
    for (int k = 0; k < 3; k++) {
        const int p = k == 1, q = p + 1;
        const REAL np = n[p];
        const MASK m = NOT(np >= n[q]);
        if (!ANY_OF(m)) continue;
        n[p] = PICK(m, n[q], np);
        n[q] = PICK(m, np, n[q]);
        NAME(abut_svd3_swap)(&m, B, p, q);
        NAME(abut_svd3_swap)(&m, V, p, q);
    }
}

/* F[6] = U diag(s) V^T of a 3x2 matrix (abut_svd32_lanes). */
FORM void NAME(abut_thin_svd)(const REAL *F, REAL *U, REAL *s, REAL *V)
{
    for (int i = 0; i < 6; i++) U[i] = F[i];
    V[0] = V[3] = ALL(1.);
    V[1] = V[2] = ALL(0.);
    for (int round = 0; round < 2; round++) {
        REAL pp = ALL(0.), pq = ALL(0.), qq = ALL(0.), c, w;
        for (int i = 0; i < 6; i += 2) {
            pp += U[i] * U[i];
            pq += U[i] * U[i + 1];
            qq += U[i + 1] * U[i + 1];
        }
        const MASK need = pq * pq > 1e-34 * pp * qq;
        if (!ANY_OF(need)) break;
        NAME(abut_svd3_jacobi)(&need, &pp, &pq, &qq, &c, &w);
        for (int i = 0; i < 10; i += 2) {
            REAL *a = i < 6 ? U + i : V + i - 6;
            const REAL p = a[0], q = a[1];
            a[0] = c * p - w * q;
            a[1] = w * p + c * q;
        }
    }
    for (int j = 0; j < 2; j++) {
        s[j] = U[j] * U[j] + U[2 + j] * U[2 + j] + U[4 + j] * U[4 + j];
        SQRT(&s[j]);
        for (int i = j; i < 6; i += 2) U[i] = U[i] / s[j];
    }
}

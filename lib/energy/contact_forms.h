/* The barrier, and projected Hessians of contacts, for one number or four at a time: see math/forms_one.h and forms_lanes.h.
 * The including file also defines
 *     DIST2(kind, x, w, r, d2)            a stencil as its own active feature (geom/dist_lanes.h)
 *     SUB3(a, b, d), CROSS3(a, b, c), DOT3(a, b)
 *     PROJECT9(S)                         the positive semidefinite part of a matrix of nine rows */

/* ---- the barrier ---- */

/* A law that has forms at 0 < D < Dhat, case by case; L = ln(D / Dhat). */
FORM void NAME(abut_barrier_by)(int number, const REAL *Dhat, const REAL *D, const REAL *L, REAL *b, REAL *db, REAL *ddb)
{
    const REAL gap = *Dhat - *D;
    if (number == ABUT_BARRIER_IPC_C0) {
        const REAL q = *Dhat / *D;
        *b = -*Dhat * *Dhat * *L;
        *db = -*Dhat * q;
        *ddb = q * q;
    } else if (number == ABUT_BARRIER_IPC_C1) {
        *b = -*Dhat * gap * *L;
        *db = *Dhat * (*L - gap / *D);
        *ddb = *Dhat / *D * ((*D + *Dhat) / *D);
    } else if (number == ABUT_BARRIER_LOG2) {
        const REAL q = gap / *D;
        *b = gap * gap * *L * *L;
        *db = 2 * gap * *L * (q - *L);
        *ddb = 2 * *L * *L - 8 * q * *L + 2 * q * q * (1 - *L);
    } else {
        *b = -gap * gap * *L;
        *db = gap * (2 * *L - gap / *D);
        *ddb = -2 * *L + gap / *D * ((*Dhat + 3 * *D) / *D);
    }
}

/* abut_barrier of a law that has forms. */
FORM void NAME(abut_barrier_of)(int number, const REAL *Dhat, const REAL *D, REAL *b, REAL *db, REAL *ddb)
{
    const REAL gap = *Dhat - *D, share = *D / *Dhat, close = -gap / *Dhat;
    const MASK out = *D >= *Dhat, in = *D > 0;
    REAL far, L;
    LOG(&share, &far);
    LOG1P(&close, &L);
    L = PICK(gap < 0.5 * *Dhat, L, far);
    NAME(abut_barrier_by)(number, Dhat, D, &L, b, db, ddb);
    *b = PICK(out, ALL(0.), PICK(in, *b, ALL((double)INFINITY)));
    *db = PICK(out, ALL(0.), PICK(in, *db, ALL(-(double)INFINITY)));
    *ddb = PICK(out, ALL(0.), PICK(in, *ddb, ALL((double)INFINITY)));
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
 * The last line is orthogonal to the rest; it is negative and vanishes, unless f is multiplied by a negative number.  The
 * rest acts on c x n with sum c = 0 and on w x t_j: 5 dimensions for PT and EE, 3 for PE, 1 for PP.  That small matrix is
 * projected. */

/* Contacts in their own frames: unit vectors w = |w| what, n, t_j, and z_j in zero_sum coordinates. */
typedef struct NAME(abut_contact_frame) {
    REAL d, d2, w_norm, what[4], n[3], t[2][3];
    REAL omega[3], zeta[2][3];
} NAME(abut_contact_frame);

/* q: dimension of c x n, m: of w x t; literals, as the kind. */
FORM void NAME(abut_contact_frame_of)(abut_stencil kind, int q, int m, REAL x[4][3], NAME(abut_contact_frame) *f)
{
    REAL w[4], r[3], A[2][3], r01 = ALL(0.), r11 = ALL(1.);
    DIST2(kind, x, w, r, &f->d2);
    f->d = f->d2;
    f->w_norm = w[0] * w[0] + w[1] * w[1] + w[2] * w[2] + w[3] * w[3];
    SQRT(&f->d);
    SQRT(&f->w_norm);
    for (int c = 0; c < 3; c++) f->n[c] = r[c] / f->d;
    for (int a = 0; a < 4; a++) f->what[a] = w[a] / f->w_norm;
    if (m == 0) return;

    for (int j = 0; j < m; j++) SUB3(x[abut_beta_plus(kind, j)], x[abut_beta_minus(kind, j)], A[j]);
    REAL r00 = DOT3(A[0], A[0]);
    SQRT(&r00);
    for (int c = 0; c < 3; c++) f->t[0][c] = A[0][c] / r00;
    if (m == 2) {
        CROSS3(f->n, f->t[0], f->t[1]);
        r01 = DOT3(A[1], f->t[0]), r11 = DOT3(A[1], f->t[1]);
    }
    for (int l = 0; l < q; l++) {
        f->omega[l] = abut_zero_sum(kind, l, 0) * w[0] + abut_zero_sum(kind, l, 1) * w[1] + abut_zero_sum(kind, l, 2) * w[2] +
                      abut_zero_sum(kind, l, 3) * w[3];
        f->zeta[0][l] = abut_zero_sum_beta(kind, l, 0) / r00;
        if (m == 2) f->zeta[1][l] = (abut_zero_sum_beta(kind, l, 1) - r01 * f->zeta[0][l]) / r11;
    }
}

/* the small matrix in the basis c_l x n (q of them), what x t_j (m of them) */
FORM void NAME(abut_contact_small)(const NAME(abut_contact_frame) *f, int q, int m, const REAL *alpha, const REAL *beta, REAL *S)
{
    const int dim = q + m;
    const REAL bd = *beta * f->d * f->w_norm, bdd = *beta * f->d * f->d;
    for (int l = 0; l < q; l++) {
        for (int p = 0; p < q; p++) {
            REAL zz = f->zeta[0][l] * f->zeta[0][p];
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
FORM void NAME(abut_contact_expand)(abut_stencil kind, const NAME(abut_contact_frame) *f, int q, int m, const REAL *S, REAL *H)
{
    const int k = q + 1, dim = q + m;
    REAL y[4][3], cS[4][3], T[9], nn[9];     /* y_a = sum_kj c_k[a] S_kj t_j, cS_a = c[a] S */
    for (int a = 0; a < k; a++) {
        for (int c = 0; c < 3; c++) y[a][c] = cS[a][c] = ALL(0.);
        for (int j = 0; j < m; j++) {
            REAL s = ALL(0.);
            for (int l = 0; l < q; l++) s += abut_zero_sum(kind, l, a) * S[dim * l + q + j];
            for (int c = 0; c < 3; c++) y[a][c] += s * f->t[j][c];
        }
        for (int p = 0; p < q; p++)
            for (int l = 0; l < q; l++) cS[a][p] += abut_zero_sum(kind, l, a) * S[dim * l + p];
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
            const REAL ww = f->what[a] * f->what[b];
            REAL e = ALL(0.);
            for (int l = 0; l < q; l++) e += cS[a][l] * abut_zero_sum(kind, l, b);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    H[3 * i + j] = e * nn[3 * i + j] + f->what[b] * (f->n[i] * y[a][j]) + f->what[a] * (y[b][i] * f->n[j]) +
                                   ww * T[3 * i + j];
        }
}

/* PP: the normal direction alone */
FORM void NAME(abut_contact_point_pair)(const NAME(abut_contact_frame) *f, const REAL *alpha, REAL *H)
{
    for (int i = 0; i < 9; i++) {
        H[i] = H[36 + i] = *alpha * (f->n[i / 3] * f->n[i % 3]);
        H[9 + i] = -H[i];
    }
}

/* ---- mollified edge pairs ---- */

/* Coordinates of the numbers p[0], p[stride], ... of four points in an orthonormal basis of vectors of sum 0, and back. */
FORM void NAME(abut_four_differences)(const REAL *p, int stride, REAL q[3])
{
    const REAL a = p[0], b = p[stride], c = p[2 * stride], d = p[3 * stride];
    q[0] = ABUT_ROOT_HALF * (a - b);
    q[1] = ABUT_ROOT_HALF * (c - d);
    q[2] = 0.5 * ((a + b) - (c + d));
}

FORM void NAME(abut_four_points)(const REAL *q, int stride, REAL p[4])
{
    const REAL a = ABUT_ROOT_HALF * q[0], b = ABUT_ROOT_HALF * q[stride], c = 0.5 * q[2 * stride];
    p[0] = c + a;
    p[1] = c - a;
    p[2] = b - c;
    p[3] = -b - c;
}

/* weight times the matrix A[144] of an edge pair, projected and packed; A is invariant to translations, without which it has nine
 * rows */
FORM void NAME(abut_edges_project)(const REAL *A, const REAL *weight, REAL *K)
{
    REAL half[9 * 12], S[81], part[12 * 9], q[3], p[4];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 12; j++) {
            NAME(abut_four_differences)(A + 12 * i + j, 36, q);
            for (int l = 0; l < 3; l++) half[12 * (3 * l + i) + j] = q[l];
        }
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 3; j++) {
            NAME(abut_four_differences)(half + 12 * i + j, 3, q);
            for (int l = 0; l < 3; l++) S[9 * i + 3 * l + j] = q[l];
        }
    PROJECT9(S);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 9; j++) {
            NAME(abut_four_points)(S + 9 * i + j, 27, p);
            for (int a = 0; a < 4; a++) part[9 * (3 * a + i) + j] = p[a];
        }
    for (int a = 0, block = 0; a < 4; block += 4 - a, a++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                NAME(abut_four_points)(part + 9 * (3 * a + i) + j, 3, p);
                for (int b = a; b < 4; b++) K[9 * (block + b - a) + 3 * i + j] = *weight * p[b];
            }
}

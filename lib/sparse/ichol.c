#include "sparse/ichol.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Factors D in place, into its lower triangle; returns 0 if a pivot is not positive. */
static int cholesky3(double D[9])
{
    for (int j = 0; j < 3; j++) {
        double d = D[4 * j];
        for (int k = 0; k < j; k++) d -= D[3 * j + k] * D[3 * j + k];
        if (!(d > 0)) return 0;
        D[4 * j] = sqrt(d);
        for (int i = j + 1; i < 3; i++) {
            double v = D[3 * i + j];
            for (int k = 0; k < j; k++) v -= D[3 * i + k] * D[3 * j + k];
            D[3 * i + j] = v / D[4 * j];
        }
    }
    D[1] = D[2] = D[5] = 0;
    return 1;
}

/* B = B D^-T, D lower triangular */
static void divide(double B[9], const double D[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double v = B[3 * i + j];
            for (int k = 0; k < j; k++) v -= B[3 * i + k] * D[3 * j + k];
            B[3 * i + j] = v / D[4 * j];
        }
}

/* C -= A B^T */
static void subtract(const double A[9], const double B[9], double C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] -= A[3 * i] * B[3 * j] + A[3 * i + 1] * B[3 * j + 1] + A[3 * i + 2] * B[3 * j + 2];
}

/* Subtracts the finished column c from later ones: block (i, j) -= L_ic L_jc^T for each such block of the pattern. */
static void update(abut_bsr *L, int32_t c)
{
    const size_t end = L->ptr[c + 1];
    for (size_t b = L->ptr[c] + 1; b < end; b++) {
        const int32_t j = L->row[b];
        size_t to = L->ptr[j];
        for (size_t a = b; a < end; a++) {
            while (to < L->ptr[j + 1] && L->row[to] < L->row[a]) to++;
            if (to == L->ptr[j + 1]) break;
            if (L->row[to] == L->row[a]) subtract(L->val + 9 * a, L->val + 9 * b, L->val + 9 * to);
        }
    }
}

static int factor(abut_bsr *L, const abut_bsr *A, double shift)
{
    memcpy(L->val, A->val, 9 * A->nnz * sizeof *L->val);
    for (int32_t c = 0; c < A->n; c++) {
        double *D = L->val + 9 * L->ptr[c];
        for (int k = 0; k < 9; k += 4) D[k] += shift * A->val[9 * A->ptr[c] + (size_t)k];
    }
    for (int32_t c = 0; c < L->n; c++) {
        double *D = L->val + 9 * L->ptr[c];
        if (!cholesky3(D)) return 0;
        for (size_t b = L->ptr[c] + 1; b < L->ptr[c + 1]; b++) divide(L->val + 9 * b, D);
        update(L, c);
    }
    return 1;
}

static abut_status copy_pattern(abut_bsr *L, const abut_bsr *A, abut_err *err)
{
    *L = (abut_bsr){ .n = A->n, .nnz = A->nnz, .ptr = malloc(((size_t)A->n + 1) * sizeof *L->ptr),
                     .row = malloc((A->nnz + 1) * sizeof *L->row), .val = malloc((9 * A->nnz + 1) * sizeof *L->val) };
    if (!L->ptr || !L->row || !L->val) return abut_fail(err, ABUT_E_NOMEM, "incomplete Cholesky: %zu blocks", A->nnz);
    memcpy(L->ptr, A->ptr, ((size_t)A->n + 1) * sizeof *L->ptr);
    memcpy(L->row, A->row, A->nnz * sizeof *L->row);
    return ABUT_OK;
}

abut_status abut_ichol_factor(abut_ichol *f, const abut_bsr *A, abut_err *err)
{
    abut_ichol_clear(f);
    abut_status rc = copy_pattern(&f->L, A, err);
    if (!rc && factor(&f->L, A, 0)) return ABUT_OK;
    for (f->shift = 1e-3; !rc && f->shift < 1; f->shift *= 2)
        if (factor(&f->L, A, f->shift)) return ABUT_OK;
    abut_ichol_clear(f);
    return rc ? rc : abut_fail(err, ABUT_E_NUMERIC, "incomplete Cholesky: no shift of the diagonal makes it positive definite");
}

/* L y = r, then L^T z = y, in z. */
static abut_status apply(void *of, const double *r, double *z, abut_err *err)
{
    (void)err;
    const abut_bsr *L = &((abut_ichol *)of)->L;
    memcpy(z, r, 3 * (size_t)L->n * sizeof *z);
    for (int32_t c = 0; c < L->n; c++) {
        const double *D = L->val + 9 * L->ptr[c];
        double *y = z + 3 * (size_t)c;
        y[0] /= D[0];
        y[1] = (y[1] - D[3] * y[0]) / D[4];
        y[2] = (y[2] - D[6] * y[0] - D[7] * y[1]) / D[8];
        for (size_t b = L->ptr[c] + 1; b < L->ptr[c + 1]; b++) {
            const double *B = L->val + 9 * b;
            double *to = z + 3 * (size_t)L->row[b];
            for (int i = 0; i < 3; i++) to[i] -= B[3 * i] * y[0] + B[3 * i + 1] * y[1] + B[3 * i + 2] * y[2];
        }
    }
    for (int32_t c = L->n - 1; c >= 0; c--) {
        const double *D = L->val + 9 * L->ptr[c];
        double *y = z + 3 * (size_t)c;
        for (size_t b = L->ptr[c] + 1; b < L->ptr[c + 1]; b++) {
            const double *B = L->val + 9 * b, *x = z + 3 * (size_t)L->row[b];
            for (int j = 0; j < 3; j++) y[j] -= B[j] * x[0] + B[3 + j] * x[1] + B[6 + j] * x[2];
        }
        y[2] /= D[8];
        y[1] = (y[1] - D[7] * y[2]) / D[4];
        y[0] = (y[0] - D[3] * y[1] - D[6] * y[2]) / D[0];
    }
    return ABUT_OK;
}

abut_precond abut_ichol_precond(abut_ichol *f)
{
    return (abut_precond){ apply, f, f->L.n };
}

void abut_ichol_clear(abut_ichol *f)
{
    abut_bsr_clear(&f->L);
    *f = (abut_ichol){ 0 };
}

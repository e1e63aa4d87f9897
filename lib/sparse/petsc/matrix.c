#include "sparse/petsc/matrix.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- PETSc itself ---- */

static void finish(void)
{
    PetscBool done = PETSC_FALSE;
    if (!PetscFinalized(&done) && !done) PetscFinalize();
}

/* State of the process, as PETSc and MPI are. */
abut_status abut_petsc_start(abut_err *err)
{
    static char name[] = "abut", no_file[] = "-skip_petscrc", no_signals[] = "-no_signal_handler";
    char *words[] = { name, no_file, no_signals, NULL }, **argv = words;
    int argc = 3;
    PetscBool is_ready = PETSC_FALSE;
    if (PetscInitialized(&is_ready)) return abut_fail(err, ABUT_E_IO, "PETSc does not answer");
    if (is_ready) return ABUT_OK;
    if (PetscInitialize(&argc, &argv, NULL, NULL)) return abut_fail(err, ABUT_E_IO, "PETSc does not start");
    atexit(finish);
    /* failures are returned, not printed; what PETSC_OPTIONS says is forgotten */
    PetscErrorCode code = PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
    if (!code) code = PetscOptionsClear(NULL);
    if (!code) code = PetscOptionsSetValue(NULL, "-mat_no_inode", "1");
    return abut_petsc_check(code, "the start", err);
}

abut_status abut_petsc_check(PetscErrorCode code, const char *what, abut_err *err)
{
    const char *text = NULL;
    if (!code) return ABUT_OK;
    if (code == PETSC_ERR_MEM) return abut_fail(err, ABUT_E_NOMEM, "PETSc: %s: out of memory", what);
    if (code == PETSC_ERR_MAT_CH_ZRPVT || code == PETSC_ERR_MAT_LU_ZRPVT)
        return abut_fail(err, ABUT_E_NUMERIC, "PETSc: %s: a pivot is not positive", what);
    if (PetscErrorMessage(code, &text, NULL) || !text) text = "no message";
    return abut_fail(err, ABUT_E_NUMERIC, "PETSc: %s failed with code %d: %s", what, (int)code, text);
}

/* ---- the matrix ---- */

void abut_petsc_matrix_clear(abut_petsc_matrix *m)
{
    MatDestroy(&m->mat);
    free(m->ptr);
    free(m->row);
    free(m->first);
    free(m->col);
    free(m->val);
    free(m->slot);
    *m = (abut_petsc_matrix){ 0 };
}

int abut_petsc_matrix_fits(const abut_petsc_matrix *m, const abut_bsr *A)
{
    return m->mat && m->n == A->n && m->nnz == A->nnz && !memcmp(m->ptr, A->ptr, ((size_t)A->n + 1) * sizeof *A->ptr) &&
           !memcmp(m->row, A->row, A->nnz * sizeof *A->row);
}

static abut_status reserve(abut_petsc_matrix *m, const abut_bsr *A, size_t blocks)
{
    const size_t n = (size_t)A->n;
    m->ptr = malloc((n + 1) * sizeof *m->ptr);
    m->row = malloc((A->nnz + 1) * sizeof *m->row);
    m->first = malloc((3 * n + 1) * sizeof *m->first);
    m->col = malloc((9 * blocks + 1) * sizeof *m->col);
    m->val = calloc(9 * blocks + 1, sizeof *m->val);
    m->slot = calloc(n + 1, sizeof *m->slot);
    return m->ptr && m->row && m->first && m->col && m->val && m->slot ? ABUT_OK : ABUT_E_NOMEM;
}

/* Where entry (d, 0) of the next block of block row r is, and that it is taken. */
static PetscInt take(abut_petsc_matrix *m, int32_t r, PetscInt *row)
{
    *row = (m->first[3 * r + 1] - m->first[3 * r]);
    return m->first[3 * r] + 3 * m->slot[r]++;
}

/* Columns ascend, so each block row gets its blocks left of the diagonal first, then its own column from the diagonal on. */
static void each_block(abut_petsc_matrix *m, const abut_bsr *A, void (*put)(abut_petsc_matrix *m, PetscInt at, PetscInt row,
                       int32_t column, const double *v, int transposed))
{
    PetscInt row;
    memset(m->slot, 0, (size_t)A->n * sizeof *m->slot);
    for (int32_t c = 0; c < A->n; c++)
        for (size_t b = A->ptr[c]; b < A->ptr[c + 1]; b++) {
            const int32_t r = A->row[b];
            const PetscInt own = take(m, r, &row);
            put(m, own, row, c, A->val + 9 * b, 0);
            if (r == c) continue;
            const PetscInt other = take(m, c, &row);
            put(m, other, row, r, A->val + 9 * b, 1);
        }
}

static void put_columns(abut_petsc_matrix *m, PetscInt at, PetscInt row, int32_t column, const double *v, int transposed)
{
    (void)v, (void)transposed;
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++) m->col[at + d * row + e] = 3 * column + e;
}

static void put_values(abut_petsc_matrix *m, PetscInt at, PetscInt row, int32_t column, const double *v, int transposed)
{
    (void)column;
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++) m->val[at + d * row + e] = transposed ? v[3 * e + d] : v[3 * d + e];
}

static void set_pattern(abut_petsc_matrix *m, const abut_bsr *A)
{
    PetscInt *blocks = m->slot, at = 0;
    memcpy(m->ptr, A->ptr, ((size_t)A->n + 1) * sizeof *m->ptr);
    memcpy(m->row, A->row, A->nnz * sizeof *m->row);
    for (int32_t c = 0; c < A->n; c++)
        for (size_t b = A->ptr[c]; b < A->ptr[c + 1]; b++) blocks[A->row[b]]++, blocks[c] += A->row[b] != c;
    for (int32_t r = 0; r < A->n; r++)
        for (int d = 0; d < 3; d++, at += 3 * blocks[r]) m->first[3 * r + d] = at;
    m->first[3 * A->n] = at;
    m->n = A->n;
    m->nnz = A->nnz;
    each_block(m, A, put_columns);
}

abut_status abut_petsc_matrix_set(abut_petsc_matrix *m, const abut_bsr *A, abut_err *err)
{
    const size_t blocks = 2 * A->nnz - (size_t)A->n;
    abut_petsc_matrix_clear(m);
    if (9 * blocks >= INT_MAX || A->n > (INT_MAX - 1) / 3)
        return abut_fail(err, ABUT_E_ARG, "PETSc: %zu entries: its numbers have 32 bits, want less than 2^31", 9 * blocks);
    if (reserve(m, A, blocks)) return abut_petsc_matrix_clear(m), abut_fail(err, ABUT_E_NOMEM, "PETSc: %zu entries", 9 * blocks);
    set_pattern(m, A);
    PetscErrorCode code = MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 3 * A->n, 3 * A->n, m->first, m->col, m->val, &m->mat);
    if (!code) code = MatSetBlockSize(m->mat, 3);
    if (!code) code = MatSetOption(m->mat, MAT_SPD, PETSC_TRUE);
    const abut_status rc = abut_petsc_check(code, "the matrix", err);
    if (rc) abut_petsc_matrix_clear(m);
    return rc;
}

abut_status abut_petsc_matrix_fill(abut_petsc_matrix *m, const abut_bsr *A, abut_err *err)
{
    PetscScalar *val;       /* m->val; that it was lent tells the library of new values */
    const abut_status rc = abut_petsc_check(MatSeqAIJGetArray(m->mat, &val), "the values", err);
    if (rc) return rc;
    each_block(m, A, put_values);
    return abut_petsc_check(MatSeqAIJRestoreArray(m->mat, &val), "the values", err);
}

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
    /* failures are returned, not printed; PETSC_OPTIONS is cleared */
    PetscErrorCode code = PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
    if (!code) code = PetscOptionsClear(NULL);
    if (!code) code = PetscOptionsSetValue(NULL, "-mat_no_inode", "1");
    if (!code) code = PetscOptionsSetValue(NULL, "-mat_cholmod_print", "0");
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
    const size_t n = m->rows.hi - m->rows.lo;
    m->ptr = malloc(((size_t)A->n + 1) * sizeof *m->ptr);
    m->row = malloc((A->nnz + 1) * sizeof *m->row);
    m->first = malloc((3 * n + 1) * sizeof *m->first);
    m->col = malloc((9 * blocks + 1) * sizeof *m->col);
    m->val = calloc(9 * blocks + 1, sizeof *m->val);
    m->slot = calloc(n + 1, sizeof *m->slot);
    return m->ptr && m->row && m->first && m->col && m->val && m->slot ? ABUT_OK : ABUT_E_NOMEM;
}

static int is_here(const abut_petsc_matrix *m, int32_t r)
{
    return (size_t)r >= m->rows.lo && (size_t)r < m->rows.hi;
}

/* Takes the next free block of the r-th local block row: returns the index of its entry (0, 0); *row: entries of a scalar row. */
static PetscInt take(abut_petsc_matrix *m, size_t r, PetscInt *row)
{
    *row = (m->first[3 * r + 1] - m->first[3 * r]);
    return m->first[3 * r] + 3 * m->slot[r]++;
}

/* Columns ascend, so each block row gets its blocks left of the diagonal first, then its own column from the diagonal on. */
static void each_block(abut_petsc_matrix *m, const abut_bsr *A, void (*put)(abut_petsc_matrix *m, PetscInt at, PetscInt row,
                       int32_t column, const double *v, int transposed))
{
    const size_t lo = m->rows.lo;
    PetscInt row;
    memset(m->slot, 0, (m->rows.hi - lo) * sizeof *m->slot);
    for (int32_t c = 0; c < A->n; c++)
        for (size_t b = A->ptr[c]; b < A->ptr[c + 1]; b++) {
            const int32_t r = A->row[b];
            if (is_here(m, r)) {
                const PetscInt own = take(m, (size_t)r - lo, &row);
                put(m, own, row, c, A->val + 9 * b, 0);
            }
            if (r == c || !is_here(m, c)) continue;
            const PetscInt other = take(m, (size_t)c - lo, &row);
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
    const size_t lo = m->rows.lo, n = m->rows.hi - lo;
    PetscInt *blocks = m->slot, at = 0;
    memcpy(m->ptr, A->ptr, ((size_t)A->n + 1) * sizeof *m->ptr);
    memcpy(m->row, A->row, A->nnz * sizeof *m->row);
    for (int32_t c = 0; c < A->n; c++)
        for (size_t b = A->ptr[c]; b < A->ptr[c + 1]; b++) {
            if (is_here(m, A->row[b])) blocks[(size_t)A->row[b] - lo]++;
            if (is_here(m, c)) blocks[(size_t)c - lo] += A->row[b] != c;
        }
    for (size_t r = 0; r < n; r++)
        for (size_t d = 0; d < 3; d++, at += 3 * blocks[r]) m->first[3 * r + d] = at;
    m->first[3 * n] = at;
    m->n = A->n;
    m->nnz = A->nnz;
    each_block(m, A, put_columns);
}

/* Blocks of the rows that are here. */
static size_t count_blocks(const abut_petsc_matrix *m, const abut_bsr *A)
{
    size_t n = 0;
    for (int32_t c = 0; c < A->n; c++)
        for (size_t b = A->ptr[c]; b < A->ptr[c + 1]; b++)
            n += (size_t)is_here(m, A->row[b]) + (size_t)(A->row[b] != c && is_here(m, c));
    return n;
}

/* PETSc copies what it gets of a part. */
static PetscErrorCode create(abut_petsc_matrix *m, const abut_bsr *A)
{
    const PetscInt n = (PetscInt)(3 * (m->rows.hi - m->rows.lo)), all = 3 * A->n;
    if (!m->is_part) return MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, m->first, m->col, m->val, &m->mat);
    const PetscErrorCode code =
        MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, n, n, all, all, m->first, m->col, m->val, &m->mat);
    free(m->col);
    free(m->val);
    m->col = NULL;
    m->val = NULL;
    return code;
}

abut_status abut_petsc_matrix_set(abut_petsc_matrix *m, const abut_bsr *A, const abut_ranks *ranks, abut_err *err)
{
    abut_petsc_matrix_clear(m);
    m->is_part = ranks && ranks->size > 1;
    m->rows = abut_ranks_part(ranks, (size_t)A->n);
    const size_t blocks = count_blocks(m, A);
    if (9 * blocks >= INT_MAX || A->n > (INT_MAX - 1) / 3)
        return abut_fail(err, ABUT_E_ARG, "PETSc: %zu entries: its numbers have 32 bits, want less than 2^31", 9 * blocks);
    if (reserve(m, A, blocks)) return abut_petsc_matrix_clear(m), abut_fail(err, ABUT_E_NOMEM, "PETSc: %zu entries", 9 * blocks);
    set_pattern(m, A);
    PetscErrorCode code = create(m, A);
    if (!code) code = MatSetBlockSize(m->mat, 3);
    if (!code) code = MatSetOption(m->mat, MAT_SPD, PETSC_TRUE);
    const abut_status rc = abut_petsc_check(code, "the matrix", err);
    if (rc) abut_petsc_matrix_clear(m);
    return rc;
}

/* PETSc copies them: they are here only meanwhile. */
static abut_status fill_part(abut_petsc_matrix *m, const abut_bsr *A, abut_err *err)
{
    const size_t entries = (size_t)m->first[3 * (m->rows.hi - m->rows.lo)];
    m->val = malloc((entries + 1) * sizeof *m->val);
    if (!m->val) return abut_fail(err, ABUT_E_NOMEM, "PETSc: %zu values", entries);
    each_block(m, A, put_values);
    const abut_status rc = abut_petsc_check(MatUpdateMPIAIJWithArray(m->mat, m->val), "the values", err);
    free(m->val);
    m->val = NULL;
    return rc;
}

abut_status abut_petsc_matrix_fill(abut_petsc_matrix *m, const abut_bsr *A, abut_err *err)
{
    PetscScalar *val;       /* m->val; that it was lent tells the library of new values */
    if (m->is_part) return fill_part(m, A, err);
    const abut_status rc = abut_petsc_check(MatSeqAIJGetArray(m->mat, &val), "the values", err);
    if (rc) return rc;
    each_block(m, A, put_values);
    return abut_petsc_check(MatSeqAIJRestoreArray(m->mat, &val), "the values", err);
}

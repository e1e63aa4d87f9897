#include "sparse/petsc/motions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOTIONS = 6, SETS_OF_PART = 2, SETS = 2000 };    /* of a part at most; in all, as long as a part is one at least */
#define DEPENDENT 1e-12     /* least squared part of a motion orthogonal to the others, over its square */

/* Entries of the rows of Z that are here. */
typedef struct columns {
    PetscInt lo, rows, wide, own;   /* first scalar row, and how many; columns, and those of this rank */
    PetscInt *first, *count, *col;  /* [rows + 1], [rows], [MOTIONS rows] */
    PetscScalar *val;               /* likewise */
} columns;

/* v[3 m]: motion q, translations first, of rows about the point c.  Returns its square. */
static double motion(const int32_t *row, int32_t m, const double *where, const double c[3], int q, double *v)
{
    const int r = q % 3, s = (q + 1) % 3, t = (q + 2) % 3;
    double sum = 0;
    for (int32_t i = 0; i < m; i++, v += 3) {
        const double *x = where + 3 * (size_t)row[i];
        v[r] = q < 3;
        v[s] = q < 3 ? 0 : c[t] - x[t];
        v[t] = q < 3 ? 0 : x[s] - c[s];
        sum += v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    }
    return sum;
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Orthonormal motions of m rows into b[3 m] of each, by Gram and Schmidt, twice.  Returns how many there are. */
static int motions_of(const int32_t *row, int32_t m, const double *where, double *b)
{
    const size_t size = 3 * (size_t)m;
    double c[3] = { 0 };
    int kept = 0;
    for (int32_t i = 0; i < m; i++)
        for (int d = 0; d < 3; d++) c[d] += where[3 * (size_t)row[i] + (size_t)d] / m;
    for (int q = 0; q < MOTIONS; q++) {
        double *v = b + (size_t)kept * size;
        const double whole = motion(row, m, where, c, q, v);
        for (int k = 0; k < 2 * kept; k++) {
            const double *u = b + (size_t)(k % kept) * size, a = dot(u, v, size);
            for (size_t i = 0; i < size; i++) v[i] -= a * u[i];
        }
        const double left = dot(v, v, size);
        if (!(left > DEPENDENT * whole)) continue;
        for (size_t i = 0; i < size; i++) v[i] /= sqrt(left);
        kept++;
    }
    return kept;
}

/* The columns of a set. */
static void add_set(columns *z, const int32_t *row, int32_t m, const double *where, int is_own, double *b)
{
    const int kept = motions_of(row, m, where, b);
    for (int32_t i = 0; i < 3 * m; i++) {
        const PetscInt r = 3 * row[i / 3] + i % 3 - z->lo;
        if (r < 0 || r >= z->rows) continue;
        for (int q = 0; q < kept; q++) {
            const PetscInt at = MOTIONS * r + z->count[r]++;
            z->col[at] = z->wide + q;
            z->val[at] = b[(size_t)q * 3 * (size_t)m + (size_t)i];
        }
    }
    z->wide += kept;
    z->own += is_own ? kept : 0;
}

static void add_parts(columns *z, const abut_strong_parts *p, const double *where, abut_range own, double *b)
{
    const int32_t fit = SETS / p->k, sets = fit < 1 ? 1 : fit > SETS_OF_PART ? SETS_OF_PART : fit;
    for (int32_t j = 0; j < p->k; j++) {
        const int32_t *row = p->row + p->first[j], m = p->first[j + 1] - p->first[j], k = m < sets ? m : sets;
        for (int32_t s = 0; s < k; s++) {
            const int32_t lo = (int32_t)((int64_t)m * s / k), hi = (int32_t)((int64_t)m * (s + 1) / k);
            add_set(z, row + lo, hi - lo, where, (size_t)j >= own.lo && (size_t)j < own.hi, b);
        }
    }
}

/* Rows without gaps. */
static void close_up(columns *z)
{
    PetscInt at = 0;
    for (PetscInt r = 0; r < z->rows; r++) {
        z->first[r] = at;
        for (PetscInt q = 0; q < z->count[r]; q++, at++) {
            z->col[at] = z->col[MOTIONS * r + q];
            z->val[at] = z->val[MOTIONS * r + q];
        }
    }
    z->first[z->rows] = at;
}

PetscErrorCode abut_petsc_motions(const abut_strong_parts *parts, const abut_petsc_matrix *A, const double *where,
                                  const abut_ranks *ranks, Mat *Z)
{
    columns z = { .lo = (PetscInt)(3 * A->rows.lo), .rows = (PetscInt)(3 * (A->rows.hi - A->rows.lo)) };
    const size_t rows = (size_t)z.rows + 1;
    int32_t most = 0;
    for (int32_t j = 0; j < parts->k; j++)
        if (parts->first[j + 1] - parts->first[j] > most) most = parts->first[j + 1] - parts->first[j];
    double *b = malloc(((size_t)MOTIONS * 3 * (size_t)most + 1) * sizeof *b);
    z.first = malloc(rows * sizeof *z.first);
    z.count = calloc(rows, sizeof *z.count);
    z.col = malloc(MOTIONS * rows * sizeof *z.col);
    z.val = malloc(MOTIONS * rows * sizeof *z.val);
    PetscErrorCode code = b && z.first && z.count && z.col && z.val ? 0 : PETSC_ERR_MEM;
    if (!code) {
        add_parts(&z, parts, where, abut_ranks_part(ranks, (size_t)parts->k), b);
        close_up(&z);
        code = MatCreate(PetscObjectComm((PetscObject)A->mat), Z);
    }
    if (!code) code = MatSetSizes(*Z, z.rows, z.own, 3 * parts->n, z.wide);
    if (!code) code = MatSetType(*Z, A->is_part ? MATMPIAIJ : MATSEQAIJ);
    if (!code) code = MatSeqAIJSetPreallocationCSR(*Z, z.first, z.col, z.val);
    if (!code) code = MatMPIAIJSetPreallocationCSR(*Z, z.first, z.col, z.val);
    free(b);
    free(z.first);
    free(z.count);
    free(z.col);
    free(z.val);
    return code;
}

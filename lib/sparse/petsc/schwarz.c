#include "base/arena.h"
#include "sparse/petsc/petsc.h"

#include <math.h>
#include <stdlib.h>

/* ---- the rigid motions of sets of rows as columns of a matrix: a coarse space (Toselli and Widlund 2005, 6.2.3) ---- */

enum { MOTIONS = 6, SETS_OF_PART = 2, SETS = 2000 };    /* of a part at most; in all, as long as a part is one at least */
#define DEPENDENT 1e-12     /* least squared part of a motion orthogonal to the others, over its square */

/* Entries of the rows of Z that are here. */
typedef struct columns {
    PetscInt lo, rows, wide, own;   /* first scalar row, and how many; columns, and those of this rank */
    PetscInt *first, *count, *col;  /* [rows + 1], [rows], [MOTIONS rows] */
    PetscScalar *val;               /* [MOTIONS rows] */
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

/* *Z: [3 n] rows as A has them.  Each part is cut into sets of rows that follow each other, some hundred of them, or of more
 * where that would be too many sets for one matrix of their motions; the columns of a set are its motions at where[3 n], m, made
 * orthonormal: six, or fewer where its rows lie on a line.  Those of a part belong to the rank that has it by abut_ranks_part. */
static PetscErrorCode motions_make(const abut_strong_parts *parts, const abut_petsc_matrix *A, const double *where,
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
    ABUT_FREE(b, z.first, z.count, z.col, z.val);
    return code;
}

/* ---- the preconditioner ---- */

void abut_petsc_schwarz_clear(abut_petsc_schwarz *s)
{
    MatDestroy(&s->Z);
    MatDestroy(&s->E);
    *s = (abut_petsc_schwarz){ 0 };
}

/* The parts of this rank; one without any gets an empty one, as PETSc wants one at least. */
static PetscErrorCode set_parts(PC blocks, const abut_strong_parts *p, const abut_ranks *ranks)
{
    const abut_range own = abut_ranks_part(ranks, (size_t)p->k);
    const PetscInt parts = (PetscInt)(own.hi - own.lo), n = parts > 0 ? parts : 1;
    IS *rows = calloc((size_t)n, sizeof(IS));
    PetscErrorCode code = rows ? 0 : PETSC_ERR_MEM;
    for (PetscInt i = 0; i < n && !code; i++) {
        const int32_t first = parts ? p->first[own.lo + (size_t)i] : 0, end = parts ? p->first[own.lo + (size_t)i + 1] : 0;
        code = ISCreateBlock(PETSC_COMM_SELF, 3, end - first, p->row + first, PETSC_COPY_VALUES, &rows[i]);
    }
    if (!code) code = PCASMSetType(blocks, PC_ASM_BASIC);
    if (!code) code = PCASMSetLocalSubdomains(blocks, n, rows, NULL);
    if (!code) code = PCASMSetOverlap(blocks, 0);
    for (PetscInt i = 0; i < n && rows; i++) ISDestroy(&rows[i]);
    free(rows);
    return code;
}

PetscErrorCode abut_petsc_schwarz_create(abut_petsc_schwarz *s, PC pc, const abut_petsc_matrix *A, const abut_strong_parts *parts,
                                         const double *where, const abut_ranks *ranks)
{
    PetscErrorCode code = PCSetType(pc, PCCOMPOSITE);
    if (!code) code = PCCompositeSetType(pc, PC_COMPOSITE_SYMMETRIC_MULTIPLICATIVE);
    if (!code) code = PCCompositeAddPCType(pc, PCGALERKIN);
    if (!code) code = PCCompositeAddPCType(pc, PCASM);
    if (!code) code = PCCompositeGetPC(pc, 0, &s->coarse);
    if (!code) code = PCCompositeGetPC(pc, 1, &s->blocks);
    if (!code) code = PCSetOperators(s->coarse, A->mat, A->mat);
    if (!code) code = PCSetOperators(s->blocks, A->mat, A->mat);
    if (!code) code = motions_make(parts, A, where, ranks, &s->Z);
    if (!code) code = PCGalerkinSetInterpolation(s->coarse, s->Z);
    if (!code) code = PCGalerkinSetRestriction(s->coarse, s->Z);
    return code ? code : set_parts(s->blocks, parts, ranks);
}

static PetscErrorCode use_cholmod(PC pc)
{
    PetscErrorCode code = PCSetType(pc, PCCHOLESKY);
    if (!code) code = PCFactorSetMatSolverType(pc, MATSOLVERCHOLMOD);
    return code ? code : PCFactorSetMatOrderingType(pc, MATORDERINGEXTERNAL);
}

/* Each rank factors E whole. */
static PetscErrorCode configure_coarse(KSP ksp)
{
    static const char *const options[][2] = {
        { "-abut_coarse_redundant_pc_type", "cholesky" },
        { "-abut_coarse_redundant_pc_factor_mat_solver_type", "cholmod" },
        { "-abut_coarse_redundant_pc_factor_mat_ordering_type", "external" },
    };
    PC pc;
    PetscErrorCode code = KSPSetType(ksp, KSPPREONLY);
    if (!code) code = KSPGetPC(ksp, &pc);
    if (!code) code = PCSetType(pc, PCREDUNDANT);
    for (size_t i = 0; i < sizeof options / sizeof *options && !code; i++)
        code = PetscOptionsSetValue(NULL, options[i][0], options[i][1]);
    if (!code) code = PCSetOptionsPrefix(pc, "abut_coarse_");
    return code ? code : PCSetFromOptions(pc);
}

static PetscErrorCode configure_blocks(PC blocks)
{
    PetscInt n = 0, rows = 0;
    KSP *ksp;
    PetscErrorCode code = PCASMGetSubKSP(blocks, &n, NULL, &ksp);
    for (PetscInt i = 0; i < n && !code; i++) {
        PC pc;
        Mat part;
        code = KSPSetType(ksp[i], KSPPREONLY);
        if (!code) code = KSPGetPC(ksp[i], &pc);
        if (!code) code = PCGetOperators(pc, &part, NULL);
        if (!code) code = MatGetSize(part, &rows, NULL);
        if (!code) code = rows ? use_cholmod(pc) : PCSetType(pc, PCNONE);
    }
    return code;
}

/* Does the collective work first; then each rank factors its own parts. */
PetscErrorCode abut_petsc_schwarz_set_up(abut_petsc_schwarz *s, PC pc, const abut_petsc_matrix *A)
{
    const int is_new = !s->E;
    KSP ksp;
    PetscErrorCode code = MatDestroy(&s->E);
    if (!code) code = MatPtAP(A->mat, s->Z, MAT_INITIAL_MATRIX, 1, &s->E);
    if (!code) code = MatProductClear(s->E);    /* saves 10 % of the memory of A; the next product is slower */
    if (!code) code = PCGalerkinGetKSP(s->coarse, &ksp);
    if (!code) code = KSPSetOperators(ksp, s->E, s->E);
    if (!code && is_new) code = configure_coarse(ksp);
    if (!code) code = KSPSetUp(ksp);
    if (!code) code = PCSetUp(s->coarse);
    if (!code) code = PCSetUp(s->blocks);
    if (!code && is_new) code = configure_blocks(s->blocks);
    if (!code) code = PCSetUp(pc);
    if (code) return code;
    PCFailedReason why = PC_NOERROR;
    code = PCSetUpOnBlocks(s->blocks);
    if (!code) code = PCGetFailedReason(s->blocks, &why);
    s->failed = code == PETSC_ERR_MAT_CH_ZRPVT || why != PC_NOERROR;
    return s->failed ? 0 : code;
}

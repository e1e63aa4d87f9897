#include "sparse/petsc/schwarz.h"

#include "sparse/petsc/motions.h"

#include <stdlib.h>

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
    if (!code) code = abut_petsc_motions(parts, A, where, ranks, &s->Z);
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

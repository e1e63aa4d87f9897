#include "sparse/petsc/gamg.h"

#include <stdio.h>

#define DAMPED "0.4"        /* sweeps of ranks: below a half, as an element of four corners touches no more than four of them */

static PetscErrorCode set_option(const char *name, const char *value)
{
    return PetscOptionsSetValue(NULL, name, value);
}

/* Smoothed aggregation of nodes; symmetric Gauss-Seidel sweeps, which converge for every positive definite matrix, so that the
 * cycle is positive definite.  Chebyshev's, PETSc's default, need a bound on eigenvalues: its estimate is too low where contacts
 * are stiff.  An aggregate of one or two nodes has fewer unknowns than rigid motions, hence rows of zeros on the coarse level:
 * the shift, too small to be seen elsewhere, lets the sweeps divide there, 0 by it (abut_petsc_start switches inodes off, of
 * which blocks would be inverted).
 *
 * Ranks sweep side by side, each by its own rows, and with more than two of them such sweeps need not converge.  So theirs are
 * accelerated by Chebyshev's polynomials, with more steps for the bound, which few rows between ranks exceed; where the estimate
 * turns out too low all the same, they are damped. */
PetscErrorCode abut_petsc_gamg_configure(PC pc, Mat A, int polynomials, int damped)
{
    char shift[32];
    PetscReal most = 0;
    Vec diagonal = NULL;
    PetscErrorCode code = MatCreateVecs(A, &diagonal, NULL);
    if (!code) code = MatGetDiagonal(A, diagonal);
    if (!code) code = VecMax(diagonal, NULL, &most);
    VecDestroy(&diagonal);
    snprintf(shift, sizeof shift, "%.3e", 1e-13 * (most > 0 ? most : 1));
    if (!code) code = PCSetType(pc, PCGAMG);
    if (!code) code = set_option("-abut_mg_levels_pc_sor_diagonal_shift", shift);
    if (!code) code = PCSetOptionsPrefix(pc, "abut_");
    if (!code) code = set_option("-abut_pc_gamg_agg_nsmooths", "1");
    if (!code) code = set_option("-abut_mg_levels_ksp_type", polynomials ? "chebyshev" : "richardson");
    if (!code) code = set_option("-abut_mg_levels_ksp_chebyshev_esteig", "0,0.1,0,1.2");
    if (!code) code = set_option("-abut_mg_levels_esteig_ksp_max_it", "20");
    if (!code) code = set_option("-abut_mg_levels_ksp_richardson_scale", damped ? DAMPED : "1");
    if (!code) code = set_option("-abut_mg_levels_pc_type", "sor");
    if (!code) code = PCGAMGSetReuseInterpolation(pc, PETSC_TRUE);
    return code ? code : PCSetFromOptions(pc);
}

#include "sparse/linear_solvers.h"

#ifdef ABUT_PETSC
#include "sparse/petsc/petsc.h"
#define MORE ""
#else
#define MORE "; this build has no PETSc, whose solvers are in one by make PETSC=1"
#endif

#include <stdio.h>
#include <string.h>

const abut_linear_solver_ops *const abut_linear_solvers[] = {
    &abut_linear_own,
    &abut_linear_cholmod,
    &abut_linear_cg_schwarz,
    &abut_linear_mas,
    &abut_linear_mas_rigid,
    &abut_linear_cg,
    &abut_linear_ic,
    &abut_linear_ic_rigid,
#ifdef ABUT_PETSC
    &abut_linear_petsc_schwarz,
    &abut_linear_petsc_gamg,
    &abut_linear_petsc_cholmod,
    &abut_linear_petsc_mumps,
#endif
    NULL,
};

abut_status abut_linear_solver_find(const char *name, const abut_linear_solver_ops **ops, abut_err *err)
{
    char known[256] = "";
    size_t n = 0;
    for (int i = 0; abut_linear_solvers[i]; i++) {
        if (!strcmp(name, abut_linear_solvers[i]->name)) return *ops = abut_linear_solvers[i], ABUT_OK;
        const int wrote = snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", abut_linear_solvers[i]->name);
        n += wrote > 0 && (size_t)wrote < sizeof known - n ? (size_t)wrote : 0;
    }
    return abut_fail(err, ABUT_E_ARG, "linear solver %s: know %s%s", name, known, strncmp(name, "petsc", 5) ? "" : MORE);
}

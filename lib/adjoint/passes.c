#include "adjoint/parts.h"

#include "energy/codim.h"

#include <string.h>

abut_adjoint_pass abut_adjoint_last_pass(abut_adjoint *a, const abut_frame *end, double *x)
{
    const abut_objective *o = &a->s.solver.prob;
    memcpy(x, end->x, 3 * (size_t)a->model->nv * sizeof *x);
    return (abut_adjoint_pass){ .x = x, .kappa = end->kappa[0] / abut_step_end_weight(o),
                                .strain_kappa = end->strain_kappa ? end->strain_kappa[0]
                                                                  : abut_codim_state_of(&o->terms)->strain_kappa };
}

abut_status abut_adjoint_take_passes(abut_adjoint *a, const abut_frame *end, int most, double kappa, abut_err *err)
{
    const abut_objective *o = &a->s.solver.prob;
    const size_t n3 = 3 * (size_t)a->model->nv;
    abut_adjoint_pass *of = a->passes.of;
    const int n = end->passes[0];
    if (most < 2)
        return abut_fail(err, ABUT_E_FORMAT, "pass/count is %d: the run had several friction passes, expected %s; --lags is that "
                         "of the run", n, most ? "1" : "that they converge");
    if (n > most || n > ABUT_ADJOINT_PASSES)
        return abut_fail(err, ABUT_E_FORMAT, "pass/count is %d, expected at most %d friction passes; --lags is that of the run",
                         n, most < ABUT_ADJOINT_PASSES ? most : (int)ABUT_ADJOINT_PASSES);
    for (int k = 0; k < n; k++) {
        of[k] = abut_adjoint_last_pass(a, end, of[k].x);
        of[k].from = k ? of[k - 1].x : o->xn;
        of[k].from_kappa = k ? of[k - 1].kappa : kappa;
        if (k == n - 1) break;
        memcpy(of[k].x, end->pass_x + (size_t)k * n3, n3 * sizeof *of[k].x);
        of[k].kappa = end->pass_kappa[k] / abut_step_end_weight(o);
        if (end->pass_strain_kappa) of[k].strain_kappa = end->pass_strain_kappa[k];
    }
    a->passes.n = n;
    return ABUT_OK;
}

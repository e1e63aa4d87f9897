#include "adjoint/parts.h"

#include "base/par.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 4, ROUNDS_CONVERGED = 60 };
#define CLOSER 1e-3     /* fraction of the first |F| that suffices */
#define EXACT 1e-3      /* fraction of the tolerance: a smaller error of an end is rounding */

/* pass->x -= H^-1 F until |F| is small relative to the first; converged: friction is frozen at the new x each time */
static abut_status go_closer(abut_adjoint *a, abut_adjoint_pass *pass, int converged, abut_err *err)
{
    const size_t n3 = 3 * (size_t)a->model->nv;
    const int most = converged ? ROUNDS_CONVERGED : ROUNDS;
    double first = 0, before = INFINITY, moved = 0;
    for (int k = 0; ; k++) {
        abut_at at;
        abut_adjoint_solution how;
        abut_status rc = converged ? abut_adjoint_freeze(a, pass->from, pass->from_kappa, err) : ABUT_OK;
        if (!rc) rc = abut_adjoint_arrive(a, pass, &at, err);
        if (rc) return rc;
        const double F = abut_largest(a->work.g, n3);
        if (k == 0) first = F;
        if (!(F < before)) {
            if (moved <= EXACT * a->model->tolerance[0] * a->model->h[0]) break;
            return abut_fail(err, ABUT_E_NUMERIC, "Newton's method from the recorded end moves a node by %.3g m, and forces "
                             "balance worse there: %.3g after %.3g kg m", moved, F, before);
        }
        if (F <= CLOSER * first && k > 0) break;
        if (k == most && moved <= EXACT * a->model->tolerance[0] * a->model->h[0]) break;
        if (k == most)
            return abut_fail(err, ABUT_E_NUMERIC, "%d iterations of Newton's method from the recorded end leave %.3g of %.3g "
                             "kg m, expected %.0e of that", most, F, first, CLOSER);
        before = F;
        rc = abut_adjoint_system_take(&a->system, &at, err);
        if (!rc) rc = abut_adjoint_system_solve(&a->system, a->work.g, a->work.u, &how, err);
        if (rc) return rc;
        moved = abut_largest(a->work.u, n3);
        for (size_t i = 0; i < n3; i++) pass->x[i] -= a->work.u[i];
    }
    return ABUT_OK;
}

/* replaces the recorded state after the step and the recorded results of its passes */
static abut_status put_state(abut_adjoint *a, abut_arrays *end, abut_err *err)
{
    abut_arrays state = { 0 };
    abut_at at;
    abut_status rc = abut_adjoint_arrive(a, a->passes.of + a->passes.n - 1, &at, err);
    if (!rc) rc = abut_step_finish(&a->s, err);
    if (!rc) rc = abut_step_put_state(&a->s, a->s.v_end, 0, &state, err);
    for (int i = 0; i < state.n && !rc; i++)
        if (!strncmp(state.a[i].name, "node/", 5)) rc = abut_arrays_copy(end, &state.a[i], err);
    abut_arrays_clear(&state);
    abut_array *kept = abut_arrays_find(end, "pass/x");
    const size_t n3 = 3 * (size_t)a->model->nv;
    for (int k = 0; k + 1 < a->passes.n && kept && !rc; k++)
        memcpy((double *)kept->data + (size_t)k * n3, a->passes.of[k].x, n3 * sizeof(double));
    return rc;
}

abut_status abut_adjoint_closer(abut_adjoint *a, abut_err *err)
{
    const int frozen = abut_friction_acts(a->model), converged = frozen && a->passes.of[0].from == a->passes.of[0].x;
    abut_status rc = ABUT_OK;
    for (int k = 0; k < a->passes.n && !rc; k++) {
        abut_adjoint_pass *pass = a->passes.of + k;
        if (frozen && !converged) rc = abut_adjoint_freeze(a, pass->from, pass->from_kappa, err);
        if (!rc) rc = go_closer(a, pass, converged, err);
    }
    return rc;
}

abut_status abut_adjoint_refine(abut_adjoint *a, const abut_arrays *start, abut_instant at, const abut_arrays *recorded,
                                abut_arrays *end, abut_err *err)
{
    abut_frame f0;
    abut_arrays_clear(end);
    abut_status rc = abut_adjoint_begin(a, start, at, recorded, &f0, err);
    if (!rc) rc = abut_adjoint_closer(a, err);
    for (int i = 0; i < recorded->n && !rc; i++) rc = abut_arrays_copy(end, &recorded->a[i], err);
    if (!rc) rc = put_state(a, end, err);
    return rc ? abut_wrap(err, "frames %lld and %lld", (long long)at.step, (long long)at.step + 1) : ABUT_OK;
}

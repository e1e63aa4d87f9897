#include "adjoint/parts.h"

#include "base/words.h"
#include "energy/barrier.h"
#include "energy/codim.h"
#include "energy/friction.h"
#include "model/naming.h"

#include <math.h>
#include <string.h>

/* Keeps the end of a pass. */
static void keep(abut_adjoint *a, double from_kappa)
{
    const abut_search *so = &a->s.solver;
    abut_adjoint_pass *p = a->passes.of + a->passes.n;
    memcpy(p->x, so->here.x, 3 * (size_t)a->model->nv * sizeof *p->x);
    p->kappa = abut_barrier_state_of(&so->prob.terms)->kappa;
    p->strain_kappa = abut_codim_state_of(&so->prob.terms)->strain_kappa;
    p->from = a->passes.n ? a->passes.of[a->passes.n - 1].x : so->prob.xn;
    p->from_kappa = from_kappa;
    a->passes.n++;
}

static abut_status agrees(const abut_adjoint *a, const abut_frame *end, abut_err *err)
{
    const double *x = a->passes.of[a->passes.n - 1].x, most = 10 * a->model->tolerance[0] * a->model->h[0];
    for (int32_t i = 0; i < 3 * a->model->nv; i++) {
        if (fabs(x[i] - end->x[i]) <= most) continue;
        return abut_fail(err, ABUT_E_FORMAT,
                         "%s: solved again with %d friction %s it ends %.3g m from where the run has it, expected at most %.3g "
                         "m; --tolerance and --lags are those of the run",
                         abut_nodes_words(a->model, &(int32_t){ i / 3 }, 1, (char[ABUT_NODES_WORDS]){ 0 }), a->passes.n,
                         abut_plural(a->passes.n, "pass", "passes"), fabs(x[i] - end->x[i]), most);
    }
    return ABUT_OK;
}

abut_status abut_adjoint_replay(abut_adjoint *a, const abut_arrays *start, abut_instant at, const abut_frame *end, int most,
                                abut_err *err)
{
    abut_stepper *s = &a->s;
    const abut_barrier_state *b = abut_barrier_state_of(&s->solver.prob.terms);
    abut_frame f;
    int settled = 0;
    if (most > ABUT_ADJOINT_PASSES)
        return abut_fail(err, ABUT_E_FORMAT, "%d friction %s without their frames, expected at most %d (step --keep-passes keeps "
                         "them), or that they converge (--lags converged)", most, abut_plural(most, "pass", "passes"),
                         (int)ABUT_ADJOINT_PASSES);
    double kappa = b->kappa;
    const int has = abut_arrays_find(start, "lag/node") || abut_arrays_find(start, "lag/vertex");
    if (has) kappa = b->in_frame;
    a->passes.n = 0;
    abut_adjoint_system_leave(&a->system);
    s->start_checked = 1;
    abut_report_clear(&a->report);
    abut_status rc = abut_step_begin(s, start, at, &a->report, err);
    while (!rc && !settled) {
        rc = abut_step_solve(s, &a->report, err);
        if (rc) break;
        keep(a, kappa);
        kappa = b->kappa;
        rc = abut_step_refresh(s, 1, &a->report, err);
        if (!rc) rc = abut_step_settled(s, &a->report, most, a->model->tolerance[0], &settled, err);
    }
    if (!rc && !a->opt.refined) rc = agrees(a, end, err);
    /* take the end of the last pass from the frame: a replay from another start ends within the tolerance of it */
    if (!rc) memcpy(a->passes.of[a->passes.n - 1].x, end->x, 3 * (size_t)a->model->nv * sizeof *end->x);
    if (!rc) rc = abut_step_load(s, start, NULL, at, &f, err);
    if (rc) return rc;
    return abut_step_first_friction(s, start, &a->report, err);
}

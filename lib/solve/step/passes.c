/* Results of the friction passes of a step, for `adjoint`. */
#include "solve/step/step_parts.h"

#include "energy/barrier_term.h"
#include "energy/codim_term.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int abut_step_keeps_passes(const abut_stepper *s)
{
    const abut_model *m = s->solver.prob.model;
    return s->kept.on && m->lags[0] > 1 && abut_friction_acts(m);
}

static abut_status reserve(struct abut_stepper_kept *k, size_t n3, abut_err *err)
{
    if (k->n < k->room) return ABUT_OK;
    const size_t room = 2 * (size_t)k->room + 2;
    double **const field[] = { &k->x, &k->kappa, &k->strain_kappa };
    for (int i = 0; i < 3; i++) {
        double *const to = realloc(*field[i], room * (i ? 1 : n3) * sizeof *to);
        if (!to) return abut_fail(err, ABUT_E_NOMEM, "results of %zu friction passes", room);
        *field[i] = to;
    }
    k->room = (int)room;
    return ABUT_OK;
}

abut_status abut_step_keep_pass(abut_stepper *s, abut_err *err)
{
    struct abut_stepper_kept *k = &s->kept;
    const abut_objective *o = &s->solver.prob;
    const size_t n3 = 3 * (size_t)o->model->nv;
    const abut_status rc = reserve(k, n3, err);
    if (rc) return rc;
    memcpy(k->x + (size_t)k->n * n3, s->solver.here.x, n3 * sizeof *k->x);
    k->kappa[k->n] = abut_barrier_state_of(&o->terms)->kappa;
    k->strain_kappa[k->n] = abut_codim_state_of(&o->terms)->strain_kappa;
    k->n++;
    return ABUT_OK;
}

abut_status abut_step_put_passes(const abut_stepper *s, abut_arrays *out, abut_err *err)
{
    const struct abut_stepper_kept *k = &s->kept;
    const abut_objective *o = &s->solver.prob;
    const double weight = abut_step_end_weight(o);
    const int n = k->n - 1;
    assert(k->n == s->pass);
    int32_t *count = abut_frame_put(out, "pass/count", 1, err);
    if (!count) return err->code;
    *count = k->n;
    if (n == 0) return ABUT_OK;
    double *x = abut_frame_put(out, "pass/x", (int64_t)n * o->model->nv, err);
    if (x) memcpy(x, k->x, (size_t)n * 3 * (size_t)o->model->nv * sizeof *x);
    double *kappa = x ? abut_frame_put(out, "pass/kappa", n, err) : NULL;
    for (int i = 0; i < n && kappa; i++) kappa[i] = k->kappa[i] * weight;
    if (!kappa) return err->code;
    if (!abut_arrays_find(out, "strain/kappa")) return ABUT_OK;
    double *strain = abut_frame_put(out, "pass/strain-kappa", n, err);
    if (!strain) return err->code;
    memcpy(strain, k->strain_kappa, (size_t)n * sizeof *strain);
    return ABUT_OK;
}

#include "tools/strain-limit/split.h"
#include "base/words.h"

#include <math.h>
#include <string.h>

abut_status abut_strain_split_model(abut_strain_split *p, const abut_stream *s, abut_err *err)
{
    abut_strain_split_clear(p);
    abut_status rc = abut_split_model(&s->model_set, &p->model_set, err);
    if (!rc) rc = abut_model_view(&p->model_set, &p->model, err);
    p->solve = abut_solve_defaults;
    p->solve.names = &p->model_set;
    p->solve.linear.threads = abut_stream_cli(s)->threads;
    return rc ? rc : abut_stepper_init(&p->stepper, &p->model, NULL, &p->solve, err);
}

static double furthest(const double *a, const double *b, int32_t nv)
{
    double most = 0;
    for (size_t i = 0; i < 3 * (size_t)nv; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static abut_status copy(const abut_arrays *from, abut_arrays *to, abut_err *err)
{
    abut_status rc = ABUT_OK;
    abut_arrays_clear(to);
    for (int i = 0; i < from->n && !rc; i++) rc = abut_arrays_copy(to, &from->a[i], err);
    return rc;
}

abut_status abut_strain_split_release(abut_strain_split *p, abut_stream *s, abut_err *err)
{
    return p->frames ? abut_stream_write_frame(s, &p->held_head, &p->held, err) : ABUT_OK;
}

abut_status abut_strain_split_frame(abut_strain_split *p, abut_stream *s, abut_err *err)
{
    const abut_status rc = abut_strain_split_release(p, s, err);
    if (rc) return rc;
    if (p->frames++) {
        const abut_arrays swap = p->last;
        p->last = p->held, p->held = swap;
        p->last_head = p->held_head;
    }
    p->held_head = s->head;
    return copy(&s->frame_set, &p->held, err);
}

abut_status abut_strain_split_finish(abut_strain_split *p, abut_stream *s, abut_err *err)
{
    abut_report rep = { .lag_residual = -1, .min_gap = -1, .min_jacobian_tet = -1 };
    const abut_frame_head *a = &p->last_head, *b = &p->held_head;
    if (p->frames < 2)
        return abut_fail(err, ABUT_E_FORMAT, "%d frame%s: the projection needs a start and its next step", p->frames,
                         abut_s(p->frames));
    if (a->phase != ABUT_COMMITTED || b->phase != ABUT_COMMITTED || b->step != a->step + 1)
        return abut_fail(err, ABUT_E_FORMAT, "step %lld after step %lld: the projection needs two in a row, COMMITTED",
                         (long long)b->step, (long long)a->step);
    abut_arrays_clear(&s->frame_set);
    const abut_instant at = { a->step, a->time };
    abut_status rc = abut_split_project(&p->stepper, &p->last, at, &p->held, &s->frame_set, &rep, err);
    p->iterations = rep.newton;
    abut_report_clear(&rep);
    if (!rc) rc = abut_frame_view(&s->frame_set, &s->model, &s->frame, err);
    if (rc) return rc;
    s->head = *b;
    const abut_array *x = abut_arrays_find(&p->held, "node/x");
    p->moved = furthest(x->data, s->frame.x, s->model.nv);
    return ABUT_OK;
}

void abut_strain_split_clear(abut_strain_split *p)
{
    abut_stepper_clear(&p->stepper);
    abut_arrays_clear(&p->model_set);
    abut_arrays_clear(&p->last);
    abut_arrays_clear(&p->held);
    *p = (abut_strain_split){ 0 };
}

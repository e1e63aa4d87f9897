/* The path of a step (solve/search/path.h) on a device: most steps end where one straight line leads from their start, and of
 * these the host needs no point but the last. */
#include "solve/device/parts.h"

#include <string.h>

static abut_status go_to(abut_search *s, const double *x, abut_err *err)
{
    return abut_path_add(&s->path, &s->prob.cm, s->prob.cm.obstacle, x, &s->near, err);
}

/* Copies all points of the trail to the path of the host. */
static abut_status fetch_trail(abut_search *s, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const size_t n3 = 3 * (size_t)s->prob.model->nv;
    const abut_mark mark = abut_arena_mark(&s->scratch);
    double *x = ABUT_ROOM(&s->scratch, double, n3);
    abut_status rc = x ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "path of a step: %zu numbers", n3);
    for (int i = 0; i < d->n_trail && !rc; i++) {
        rc = d->q.on->get(&d->q, x, d->trail[i].at, n3 * sizeof *x, err);
        if (!rc) rc = go_to(s, x, err);
    }
    d->n_trail = 0;
    abut_arena_release(&s->scratch, mark);
    return rc;
}

abut_status abut_device_record(abut_search *s, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const size_t n3 = 3 * (size_t)s->prob.model->nv;
    abut_status rc = d->n_trail == ABUT_DEVICE_TRAIL ? fetch_trail(s, err) : ABUT_OK;
    if (rc) return rc;
    abut_buffer *to = &d->trail[d->n_trail++];
    rc = abut_buffer_need(&d->q, to, "path of the step", n3, sizeof(double), err);
    return rc ? rc : d->q.on->copy(&d->q, to->at, d->x.at, n3 * sizeof(double), err);
}

abut_status abut_device_end_trail(abut_search *s, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    int is_free = 0;
    if (!d->n_trail) return ABUT_OK;
    abut_status rc = abut_path_leap(&s->path, &s->prob.cm, s->prob.cm.obstacle, s->here.x, &s->near, &is_free, err);
    if (!rc && !is_free) rc = fetch_trail(s, err);
    d->n_trail = 0;
    return rc;
}

#include "formats/html/contact_points.h"

#include "energy/barrier.h"
#include "math/vec3.h"
#include "solve/integrator.h"

#include <math.h>
#include <stdlib.h>

static abut_status room(abut_contact_points *p, size_t n, abut_err *err)
{
    p->n = 0;
    if (n <= (size_t)p->cap) return ABUT_OK;
    void *grown = n <= INT32_MAX ? realloc(p->at, n * sizeof *p->at) : NULL;
    if (!grown) return abut_fail(err, ABUT_E_NOMEM, "no memory for %zu contacts", n);
    p->at = grown;
    p->cap = (int32_t)n;
    return ABUT_OK;
}

static void add(abut_contact_points *p, abut_vec3 at, abut_vec3 force)
{
    abut_v3_put(p->at[p->n], at);
    abut_v3_put(p->at[p->n++] + 3, force);
}

static void add_pair(abut_contact_points *out, const abut_fields *f, size_t i, double newton)
{
    double x[12], w[4];
    const abut_stencil kind = abut_pairs_get(f->pairs, i, f->y, x);
    abut_vec3 middle = { 0 }, r = { 0 };
    abut_closest(kind, x, w);
    for (int k = 0; k < abut_stencil_size(kind); k++) {
        middle = abut_v3_axpy(middle, 0.5 * fabs(w[k]), abut_v3_get(x + 3 * k));
        r = abut_v3_axpy(r, w[k], abut_v3_get(x + 3 * k));
    }
    add(out, middle, abut_v3_scale(newton / abut_v3_norm(r), r));
}

static void add_plane(abut_contact_points *out, const abut_shot *s, size_t i, double newton)
{
    const abut_pairs *p = s->fields->pairs;
    const abut_vec3 n = abut_v3_get(s->model->hs_normal + 3 * p->plane[i]);
    const abut_vec3 y = abut_v3_get(s->fields->y + 3 * p->plane_vert[i]);
    add(out, abut_v3_axpy(y, -0.5 * p->plane_dist[i], n), abut_v3_scale(newton, n));
}

abut_status abut_contact_points_find(const abut_shot *s, abut_contact_points *out, abut_err *err)
{
    const abut_frame *f = s->frame;
    const abut_pairs *p = s->fields->pairs;
    if (f->touch_point && f->touch_impulse) {
        const abut_status rc = room(out, (size_t)f->ntc, err);
        for (int32_t i = 0; i < f->ntc && !rc; i++)
            add(out, abut_v3_get(f->touch_point + 3 * i),
                abut_v3_scale(1 / s->model->h[0], abut_v3_get(f->touch_impulse + 3 * i)));
        return rc;
    }
    const size_t n = p ? p->n + p->n_plane : 0;
    const abut_status rc = room(out, n, err);
    const double kappa = f->kappa && s->head->phase == ABUT_COMMITTED ? f->kappa[0] : NAN;
    const double h = sqrt(abut_integrator_force_scale(s->model, f));
    for (size_t i = 0; i < n && !rc; i++) {
        const double newton = abut_barrier_force(s->fields->cm, p, s->fields->y, kappa, h, i);
        if (i < p->n) add_pair(out, s->fields, i, newton);
        else add_plane(out, s, i - p->n, newton);
    }
    return rc;
}

void abut_contact_points_clear(abut_contact_points *p)
{
    free(p->at);
    *p = (abut_contact_points){ 0 };
}

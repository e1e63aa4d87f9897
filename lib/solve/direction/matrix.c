#include "solve/direction/newton_parts.h"

#include "base/par.h"
#include "base/timer.h"
#include "energy/attachment.h"
#include "sparse/packed_lanes.h"

#include <stdlib.h>
#include <string.h>

static abut_status touch_reserve(struct abut_touching *t, size_t n, abut_err *err)
{
    if (t->cap && n <= t->cap) return ABUT_OK;
    const size_t cap = n + n / 2 + 64;
    free(t->node);
    free(t->row);
    free(t->H);
    t->node = malloc(4 * cap * sizeof *t->node);
    t->row = malloc(4 * cap * sizeof *t->row);
    t->H = malloc(cap * ABUT_PACKED * sizeof *t->H);
    t->cap = t->node && t->row && t->H ? cap : 0;
    return t->cap ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "Newton direction: %zu contact Hessians", n);
}

/* As many flags as there are friction contacts, none of them set unless they are those of the last direction. */
static abut_status kinks_reserve(struct abut_kinks *k, size_t n, abut_err *err)
{
    if (n > k->cap) {
        free(k->above);
        k->cap = 0;
        k->above = malloc(2 * n);
        if (!k->above) return abut_fail(err, ABUT_E_NOMEM, "Newton direction: %zu friction contacts", n);
        k->cap = 2 * n;
        k->n = 0;
    }
    if (k->n != n && n) memset(k->above, 0, n);
    k->n = n;
    return ABUT_OK;
}

int abut_direction_none_above(const abut_direction *d)
{
    const struct abut_kinks *k = &d->kinks;
    return !k->n || !memchr(k->above, 1, k->n);
}

static void rows_of(const abut_problem *p, size_t n, const int32_t *node, int32_t *row)
{
    #pragma omp parallel for schedule(static) if (n >= 8 * ABUT_PAR_MIN)
    for (size_t i = 0; i < n; i++) row[i] = node[i] < 0 ? -1 : p->row[node[i]];
}

abut_status abut_direction_touching(abut_direction *d, const abut_problem *p, const double *x, const double *y,
                                    const abut_pairs *pairs, abut_elements *set, abut_err *err)
{
    const size_t n_contact = pairs->n + pairs->n_plane;
    const abut_stiction law = abut_problem_stiction(p);
    struct abut_touching *t = &d->touch;
    abut_status rc = touch_reserve(t, n_contact + p->lag.n, err);
    if (!rc) rc = kinks_reserve(&d->kinks, p->lag.n, err);
    if (rc) return rc;
    d->exact = abut_direction_none_above(d);
    t->n = n_contact + p->lag.n;
    abut_barrier_hessian(&p->cm, pairs, y, p->kappa, t->node, t->H);
    abut_friction_hessian(&p->lag, &law, x, p->still, d->kinks.above, t->node + 4 * n_contact, t->H + ABUT_PACKED * n_contact);
    rows_of(p, 4 * t->n, t->node, t->row);
    *set = (abut_elements){ .name = "contacts", .corners = 4, .n = t->n, .row = t->row, .val = t->H };
    return ABUT_OK;
}

/* Where the Hessians of the tets are taken, and their weight. */
typedef struct tets_at {
    const abut_problem *p;
    const double *z;
    double scale;
} tets_at;

static void tet_hessians(void *ctx, size_t lo, size_t hi, double *H)
{
    const tets_at *t = ctx;
    abut_elastic_hessian_some(&t->p->elastic, t->z, t->scale, lo, hi, H);
    abut_damping_tet_hessian(&t->p->damping, lo, hi, t->p->w.damping, H);
}

static void sets_of(const abut_direction *d, const abut_problem *p, tets_at *at, abut_elements *sets)
{
    const abut_model *m = p->model;
    sets[SET_TETS] = (abut_elements){ .name = "tets", .corners = 4, .lasting = 1, .n = (size_t)m->nt, .row = d->tet_row,
                                      .make = tet_hessians, .ctx = at };
    sets[SET_ATTACHMENTS] = (abut_elements){ .name = "attachments", .corners = 5, .lasting = 1, .n = (size_t)m->na,
                                             .row = d->attach_row, .val = d->attach_H };
    sets[SET_SPRINGS] = (abut_elements){ .name = "springs", .corners = 2, .lasting = 1, .n = (size_t)m->nsp,
                                         .row = d->spring_row, .val = d->spring_H };
    sets[SET_CODIM] = (abut_elements){ .name = "codimensional elements", .corners = 4, .lasting = 1, .n = p->codim.n,
                                       .row = d->codim_row, .val = d->codim_H };
}

abut_status abut_direction_matrix(abut_direction *d, const abut_problem *p, const double *x, const double *y,
                                  const abut_pairs *pairs, abut_report *rep, abut_err *err)
{
    const abut_model *m = p->model;
    tets_at at = { p, abut_problem_elastic_point(p, x), p->w.psi * p->w.share * p->w.share };
    abut_elements sets[SETS];
    double clock = abut_time_wall();

    d->bad_node = -1;
    abut_status rc = abut_direction_touching(d, p, x, y, pairs, &sets[SET_TOUCH], err);
    if (rc) return rc;
    rows_of(p, 4 * (size_t)m->nt, m->tet, d->tet_row);
    abut_attachment_hessian(m, at.scale, d->attach_H);
    rows_of(p, 5 * (size_t)m->na, m->attach_node, d->attach_row);
    abut_spring_hessian(&p->springs, at.z, at.scale, d->spring_H);
    rows_of(p, 2 * (size_t)m->nsp, m->spring, d->spring_row);
    abut_problem_codim_hessian(p, x, p->tension, d->codim_H);
    abut_damping_codim_hessian(&p->damping, &p->codim, p->w.damping, d->codim_H);
    rows_of(p, 4 * p->codim.n, p->codim.node, d->codim_row);
    rep->seconds.hessian += abut_time_lap(&clock);

    sets_of(d, p, &at, sets);
    rc = abut_direction_analyse(d, p, x, sets, err);
    rep->seconds.analyse += abut_time_lap(&clock);
    if (rc) return rc;
    abut_problem_diagonal(p, d->diag);
    abut_bsr_assemble(&d->A, d->diag, sets, SETS);
    rep->seconds.assemble += abut_time_lap(&clock);
    return ABUT_OK;
}

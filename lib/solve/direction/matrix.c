#include "solve/direction/newton_parts.h"

#include "base/par.h"
#include "base/timer.h"
#include "energy/attachment.h"

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

static void rows_of(const abut_problem *p, size_t n4, const int32_t *node, int32_t *row)
{
    #pragma omp parallel for schedule(static) if (n4 >= 8 * ABUT_PAR_MIN)
    for (size_t i = 0; i < n4; i++) row[i] = node[i] < 0 ? -1 : p->row[node[i]];
}

static void sets_of(const abut_direction *d, const abut_problem *p, abut_elems *sets)
{
    const abut_model *m = p->model;
    sets[SET_TETS] = (abut_elems){ (size_t)m->nt, d->tet_row, NULL };   /* made where they are summed */
    sets[SET_ATTACHMENTS] = (abut_elems){ (size_t)m->na * ABUT_ATTACHMENT_PARTS, d->attach_row, d->attach_H };
    sets[SET_SPRINGS] = (abut_elems){ (size_t)m->nsp, d->spring_row, d->spring_H };
    sets[SET_CODIM] = (abut_elems){ abut_codim_of(&p->terms)->n, d->codim_row, d->codim_H };
    sets[SET_TOUCH] = (abut_elems){ d->touch.n, d->touch.row, d->touch.H };
}

abut_status abut_direction_touching(abut_direction *d, const abut_problem *p, const double *x, const double *y,
                                    const abut_pairs *pairs, abut_elems *set, abut_err *err)
{
    const size_t n_contact = pairs->n + pairs->n_plane;
    const abut_stiction law = abut_problem_stiction(p);
    struct abut_touching *t = &d->touch;
    abut_friction_state *f = abut_friction_state_of(&p->terms);
    abut_status rc = touch_reserve(t, n_contact + f->lag.n, err);
    if (!rc) rc = abut_friction_reserve(f, err);
    if (rc) return rc;
    d->exact = abut_objective_majorant_is_exact(p);
    t->n = n_contact + f->lag.n;
    abut_barrier_hessian(&p->cm, pairs, y, abut_barrier_state_of(&p->terms)->kappa, t->node, t->H);
    abut_friction_hessian(&f->lag, &law, x, p->still, f->above, t->node + 4 * n_contact, t->H + ABUT_PACKED * n_contact);
    rows_of(p, 4 * t->n, t->node, t->row);
    *set = (abut_elems){ t->n, t->row, t->H };
    return ABUT_OK;
}

/* Where the Hessians of the tets are taken, and their weight. */
typedef struct tets_at {
    const abut_problem *p;
    const double *z;
    double scale;
} tets_at;

static void tet_hessians(const void *of, size_t lo, size_t hi, double *H)
{
    const tets_at *t = of;
    const abut_damping *damping = abut_damping_of(&t->p->terms);
    abut_elastic_hessian_some(abut_elastic_of(&t->p->terms), t->z, t->scale, lo, hi, H);
    if (damping) abut_damping_tet_hessian(damping, lo, hi, t->p->w.damping, H);
}

abut_status abut_direction_matrix(abut_direction *d, const abut_problem *p, const double *x, const double *y,
                                  const abut_pairs *pairs, abut_report *rep, abut_err *err)
{
    const abut_model *m = p->model;
    const size_t n_tie = (size_t)m->na * ABUT_ATTACHMENT_PARTS;
    const tets_at at = { p, abut_problem_elastic_point(p, x), p->w.psi * p->w.share * p->w.share };
    const abut_maker maker = { tet_hessians, &at };
    abut_elems sets[SETS];
    double clock = abut_time_wall();

    d->bad_node = -1;
    abut_status rc = abut_direction_touching(d, p, x, y, pairs, &sets[SET_TOUCH], err);
    if (rc) return rc;
    rows_of(p, 4 * (size_t)m->nt, m->tet, d->tet_row);
    abut_attachment_hessian(m, at.scale, d->attach_node, d->attach_H);
    rows_of(p, 4 * n_tie, d->attach_node, d->attach_row);
    if (m->nsp) abut_spring_hessian(abut_springs_of(&p->terms), at.z, at.scale, d->spring_node, d->spring_H);
    rows_of(p, 4 * (size_t)m->nsp, d->spring_node, d->spring_row);
    abut_objective_codim_hessian(p, x, abut_codim_state_of(&p->terms)->tension, d->codim_H);
    const abut_damping *damping = abut_damping_of(&p->terms);
    if (damping) abut_damping_codim_hessian(damping, abut_codim_of(&p->terms), p->w.damping, d->codim_H);
    rows_of(p, 4 * abut_codim_of(&p->terms)->n, abut_codim_of(&p->terms)->node, d->codim_row);
    rep->seconds.hessian += abut_time_lap(&clock);

    sets_of(d, p, sets);
    rc = abut_direction_analyse(d, p, x, sets, err);
    rep->seconds.analyse += abut_time_lap(&clock);
    if (rc) return rc;
    abut_problem_diagonal(p, d->diag);
    rc = abut_bsr_assemble_made(&d->A, d->diag, sets, SETS, &maker, err);
    rep->seconds.assemble += abut_time_lap(&clock);
    return rc;
}

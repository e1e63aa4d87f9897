#include "energy/barrier_term.h"

#include "energy/terms.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define STIFFEN_BELOW 1e-9  /* fraction of the length of the scene (Li 2020, App. F) */

abut_barrier_state *abut_barrier_state_of(const abut_terms *terms) { return abut_terms_find(terms, "barrier"); }

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    abut_barrier_state *b = *self = malloc(sizeof *b);
    if (!b) return abut_fail(err, ABUT_E_NOMEM, "barrier");
    *b = (abut_barrier_state){ .model = w->model, .cm = w->cm, .curvature = { abut_barrier_hessians[0], 0 } };
    return ABUT_OK;
}

static abut_status load(void *self, const abut_frame *f, const abut_term_frame *as, abut_err *err)
{
    abut_barrier_state *b = self;
    (void)err;
    if (as->pending) return ABUT_OK;
    b->in_frame = f->kappa ? f->kappa[0] / as->weight : NAN;
    if (f->kappa) b->kappa = b->in_frame;
    return ABUT_OK;
}

static abut_status store(const void *self, const abut_term_frame *as, abut_arrays *out, abut_err *err)
{
    if (as->pending) return ABUT_OK;
    double *kappa = abut_frame_put(out, "contact/kappa", 1, err);
    if (!kappa) return err->code;
    *kappa = ((const abut_barrier_state *)self)->kappa * as->weight;
    return ABUT_OK;
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    const abut_barrier_state *b = self;
    return abut_barrier_energy(b->cm, at->pairs, at->y, scale * b->kappa, e, scratch, err);
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const abut_barrier_state *b = self;
    return abut_barrier_gradient(b->cm, at->pairs, at->y, scale * b->kappa, g, scratch, err);
}

static abut_status elements(void *self, const abut_at *at, abut_elements *set, abut_err *err)
{
    abut_barrier_state *b = self;
    const size_t n = at->pairs ? abut_barrier_elements(&b->curvature, at->pairs) : 0;
    if (n > b->cap) {
        free(b->slot);
        b->cap = n + n / 2 + 64;
        b->slot = malloc(4 * b->cap * sizeof *b->slot);
        if (!b->slot) return b->cap = 0, abut_fail(err, ABUT_E_NOMEM, "barrier: %zu contacts", n);
    }
    if (n) abut_barrier_slots(b->cm, at->pairs, &b->curvature, b->slot);
    set->corners = 4, set->rank = b->curvature.ops->rank, set->n = n, set->row = b->slot;
    set->map = abut_collmesh_selects(b->cm) ? NULL : &b->cm->W;
    return ABUT_OK;
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    const abut_barrier_state *b = self;
    (void)lo, (void)hi;
    if (at->pairs) abut_barrier_hessian_by(b->cm, at->pairs, &b->curvature, at->y, scale * b->kappa, val);
}

static void destroy(void *self)
{
    free(((abut_barrier_state *)self)->slot);
    free(self);
}

abut_status abut_barrier_choose(abut_barrier_state *b, const abut_barrier_hessian_ops *ops, abut_err *err)
{
    const double filter = b->model->barrier_filter ? b->model->barrier_filter[0] : 0;
    if (!ops) ops = abut_barrier_hessians[0];
    if (filter > 0 && !ops->filters)
        return abut_fail(err, ABUT_E_FORMAT, "contact.barrier.filter is %g: --barrier-hessian %s takes none; gn, ipc-gn and "
                         "shi-kim do", filter, ops->name);
    b->curvature = (abut_barrier_curvature){ ops, filter * abut_least_dhat(b->model) };
    return ABUT_OK;
}

abut_status abut_barrier_unit_gradient(const abut_barrier_state *b, const abut_at *at, double *g, abut_arena *scratch,
                                       abut_err *err)
{
    assert(b && at);
    return abut_barrier_gradient(b->cm, at->pairs, at->y, 1, g, scratch, err);
}

double abut_barrier_stiffer(double kappa, double most, double below, double gap_before, double gap_after)
{
    const int shrinks = gap_before < below && gap_after < below && gap_after < gap_before;
    return shrinks ? fmin(most, 2 * kappa) : kappa;
}

int abut_barrier_stiffen(abut_barrier_state *b, double gap_before, double gap_after)
{
    const abut_model *m = b->model;
    const double below = m->stiffen_below ? m->stiffen_below[0] : STIFFEN_BELOW * m->length[0], kappa = b->kappa;
    b->kappa = abut_barrier_stiffer(kappa, m->kappa_max[0], below, gap_before, gap_after);
    return b->kappa > kappa;
}

static abut_status stiffen(void *self, const abut_at *from, const abut_at *to, int *raised, abut_arena *scratch, abut_err *err)
{
    abut_barrier_state *b = self;
    (void)scratch, (void)err;
    *raised |= abut_barrier_stiffen(b, abut_pairs_smallest_gap(b->cm, from->pairs, NULL),
                                    abut_pairs_smallest_gap(b->cm, to->pairs, NULL));
    return ABUT_OK;
}

const abut_term_ops abut_term_barrier = { .name = "barrier", .kind = ABUT_TERM_CONTACT, .weight = ABUT_TERM_WEIGHED, .make = make,
                                          .load = load, .store = store, .energy = energy, .gradient = gradient,
                                          .set = "contacts", .elements = elements, .hessian = hessian, .stiffen = stiffen,
                                          .free = destroy };

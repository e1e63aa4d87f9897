/* Rods that are curved at rest as a term; where the model has them, the bends of energy/codim.h are its bends. */
#include "energy/curved_rod.h"
#include "energy/term.h"

#include <string.h>

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    if (!w->model->rod_curvature) return ABUT_OK;
    abut_curved_rods *r = malloc(sizeof *r);
    if (!r) return abut_fail(err, ABUT_E_NOMEM, "curved rods: %d segments", w->model->nrd);
    const abut_status rc = abut_curved_rods_init(r, w->model, err);
    if (rc) free(r);
    else *self = r;
    return rc;
}

static void free_it(void *self)
{
    abut_curved_rods_clear(self);
    free(self);
}

static double stiffness(const void *self)
{
    const abut_model *m = ((const abut_curved_rods *)self)->model;
    double sum = 0;
    for (int32_t i = 0; i < m->nbd; i++) sum += m->bend_stiffness[i];
    return sum;
}

/* Keeps the directions of the frame for `begin`, which gets the positions. */
static abut_status load(void *self, const abut_frame *f, const abut_term_frame *as, abut_err *err)
{
    abut_curved_rods *r = self;
    (void)err;
    if (as->pending) return ABUT_OK;
    r->has_frame = f->rod_frame != NULL;
    if (r->has_frame) memcpy(r->frame, f->rod_frame, 3 * (size_t)r->model->nrd * sizeof(double));
    return ABUT_OK;
}

static abut_status begin(void *self, const abut_term_step *step, abut_err *err)
{
    abut_curved_rods *r = self;
    (void)err;
    abut_curved_rods_start(r, step->x0, step->held, r->has_frame ? r->frame : NULL);
    if (step->target) abut_curved_rods_turn(r, step->time);
    return ABUT_OK;
}

/* Stores the directions at the positions of the frame.  For a PENDING frame, which comes second, stores the directions at the
 * start of its step, as read, or none. */
static abut_status store(const void *self, const abut_term_frame *as, abut_arrays *out, abut_err *err)
{
    abut_curved_rods r = *(const abut_curved_rods *)self;   /* shares the arrays that it works in */
    const int32_t nrd = r.model->nrd;
    if (as->pending && !r.has_frame) return abut_arrays_remove(out, "rod/frame"), ABUT_OK;
    double *to = abut_frame_put(out, "rod/frame", nrd, err);
    if (!to) return err->code;
    abut_arrays_find(out, "rod/frame")->flags |= ABUT_A_CARRY | ABUT_A_REQUIRED;
    r.part = 1;
    if (!as->pending) return abut_curved_rods_frame(&r, abut_arrays_find(out, "node/x")->data, to, err);
    memcpy(to, r.frame, 3 * (size_t)nrd * sizeof *to);
    return ABUT_OK;
}

abut_status abut_curved_rods_load(const abut_terms *terms, const abut_frame *f, abut_err *err)
{
    const abut_term_frame as = { 0, 1, NULL };
    void *rods = abut_terms_find(terms, abut_term_curved_rods.name);
    return rods ? load(rods, f, &as, err) : ABUT_OK;
}

abut_status abut_curved_rods_store(const abut_terms *terms, abut_arrays *out, abut_err *err)
{
    const abut_term_frame as = { 0, 1, NULL };
    const void *rods = abut_terms_find(terms, abut_term_curved_rods.name);
    return rods ? store(rods, &as, out, err) : ABUT_OK;
}

/* Returns the rods at a point: clamps are rotated with the motions of their nodes. */
static abut_curved_rods *rods_at(void *self, const abut_at *at)
{
    abut_curved_rods *r = self;
    r->part = at->x == at->step->x0 ? 0 : at->z == at->x ? 1 : at->step->reach;
    return r;
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    (void)scratch;
    const abut_status rc = abut_curved_rods_energy(rods_at(self, at), at->z, e, err);
    *e *= scale;
    return rc;
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    (void)scratch;
    return abut_curved_rods_gradient(rods_at(self, at), at->z, scale, g, err);
}

abut_status abut_curved_rods_reaction(const abut_terms *terms, const abut_at *at, double *work, abut_err *err)
{
    void *rods = abut_terms_find(terms, abut_term_curved_rods.name);
    *work = 0;
    return rods ? abut_curved_rods_work(rods_at(rods, at), at->z, work, err) : ABUT_OK;
}

static abut_status elements(void *self, const abut_at *at, abut_elements *set, abut_err *err)
{
    const abut_model *m = ((const abut_curved_rods *)self)->model;
    (void)at, (void)err;
    set->corners = 3, set->n = (size_t)m->nbd, set->row = m->bend;
    return ABUT_OK;
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    (void)lo, (void)hi;
    abut_curved_rods_hessian(rods_at(self, at), at->z, scale, val);
}

/* Matrices of nearly straight rods: k |x0 - 2 x1 + x2|^2 / l^2, l the length of a segment. */
static abut_status constant(void *self, const double fit[2], double scale, double *val, abut_err *err)
{
    const abut_curved_rods *r = self;
    const abut_model *m = r->model;
    static const double c[3] = { 1, -2, 1 };
    (void)fit, (void)err;
    for (int32_t k = 0; k < m->nrd; k++) {
        const int32_t i = r->bend[k];
        if (i < 0) continue;
        const double l = m->rod_length[r->edge[k]], s = 2 * scale * m->bend_stiffness[i] / (l * l);
        double *to = val + abut_packed_size(3) * (size_t)i;
        for (int p = 0; p < 3; p++)
            for (int q = p; q < 3; q++, to += 9) to[0] = to[4] = to[8] = s * c[p] * c[q];
    }
    return ABUT_OK;
}

const abut_term_ops abut_term_curved_rods = { .name = "curved rods", .kind = ABUT_TERM_POTENTIAL, .weight = ABUT_TERM_AT_Z,
                                              .make = make, .stiffness = stiffness, .load = load, .store = store,
                                              .begin = begin, .energy = energy, .gradient = gradient, .set = "curved rods",
                                              .set_is = ABUT_SET_LASTS, .elements = elements, .hessian = hessian,
                                              .constant = constant, .free = free_it };

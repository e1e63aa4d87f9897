/* The barriers of det F in tets of each order from 2 on, as terms. */
#include "energy/jacobian_barrier.h"

#include "energy/terms.h"

#include <stdlib.h>
#include <string.h>

typedef struct barrier {
    abut_jacobian_barriers b;   /* first */
    const int32_t *number;      /* [nt] of tets in frames; NULL: as they are in the model */
    int loaded;                 /* 1: the points come from a step that has begun */
} barrier;

static void destroy(void *self)
{
    abut_jacobian_barriers_clear(self);
    free(self);
}

static abut_status make(void **self, const abut_term_world *w, int order, abut_err *err)
{
    const abut_elastic_high *tets = abut_elastic_high_of(w->before, order);
    if (!tets) return ABUT_OK;
    barrier *t = calloc(1, sizeof *t);
    if (!t) return abut_fail(err, ABUT_E_NOMEM, "barrier of det F: %d tets of order %d", tets->n, order);
    const abut_status rc = abut_jacobian_barriers_init(&t->b, tets, err);
    t->number = w->reordered ? w->reordered->number : NULL;
    if (rc) destroy(t);
    else *self = t;
    return rc;
}

static int32_t number_of(const barrier *t, int32_t tet)
{
    const int32_t of = t->b.tets->first + tet;
    return t->number ? t->number[of] : of;
}

/* Adds the points of the frame that are in tets of this order, in the order of the frame: by tets, as found. */
static abut_status load_points(barrier *t, const abut_frame *f, abut_err *err)
{
    const int32_t nt = t->b.tets->model->nt;
    int32_t *tet = malloc(((size_t)nt + 1) * sizeof *tet);
    if (!tet) return abut_fail(err, ABUT_E_NOMEM, "barrier of det F: %d tets", nt);
    memset(tet, -1, ((size_t)nt + 1) * sizeof *tet);
    for (int32_t i = 0; i < t->b.tets->n; i++) tet[number_of(t, i)] = i;
    abut_status rc = ABUT_OK;
    for (int32_t k = 0; k < f->njp && !rc; k++) {
        const int32_t i = tet[f->point_tet[k]];
        if (i >= 0) rc = abut_jacobian_barriers_add(&t->b, i, f->point_at + 4 * (size_t)k, err);
    }
    free(tet);
    return rc;
}

static abut_status load(void *self, const abut_frame *f, const abut_term_frame *as, abut_err *err)
{
    barrier *t = self;
    t->b.n = 0;
    t->loaded = as->pending;
    return as->pending && f->njp ? load_points(t, f, err) : ABUT_OK;
}

/* Appends rows to an array, which terms of lower order may have begun; returns them. */
static void *more_rows(abut_arrays *out, const char *name, size_t more, abut_err *err)
{
    const abut_array *a = abut_arrays_find(out, name);
    const size_t rows = a ? (size_t)a->shape[0] : 0, bytes = a ? abut_array_bytes(a) : 0;
    void *before = malloc(bytes + 1);
    if (!before) return (void)abut_fail(err, ABUT_E_NOMEM, "array '%s': %zu rows", name, rows), NULL;
    if (a) memcpy(before, a->data, bytes);
    char *data = abut_frame_put(out, name, (int64_t)(rows + more), err);
    if (data) memcpy(data, before, bytes);
    free(before);
    return data ? data + bytes : NULL;
}

static abut_status store(const void *self, const abut_term_frame *as, abut_arrays *out, abut_err *err)
{
    const barrier *t = self;
    if (!as->pending || !t->b.n) return ABUT_OK;
    int32_t *tet = more_rows(out, "step/jacobian-tet", (size_t)t->b.n, err);
    double *at = tet ? more_rows(out, "step/jacobian-point", (size_t)t->b.n, err) : NULL;
    if (!at) return err->code;
    for (int32_t k = 0; k < t->b.n; k++) {
        tet[k] = number_of(t, t->b.point[k].tet);
        memcpy(at + 4 * (size_t)k, t->b.point[k].L, 4 * sizeof *at);
    }
    return ABUT_OK;
}

/* The points where the step starts, unless it has begun. */
static abut_status begin(void *self, const abut_term_step *step, abut_err *err)
{
    barrier *t = self;
    int32_t added;
    if (t->loaded) return t->loaded = 0, ABUT_OK;
    t->b.n = 0;
    return abut_jacobian_barriers_look(&t->b, step->x0, &added, err);
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    (void)scratch, (void)err;
    *e = scale * abut_jacobian_barriers_energy(self, at->x);
    return ABUT_OK;
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    (void)scratch, (void)err;
    abut_jacobian_barriers_gradient(self, at->x, scale, g);
    return ABUT_OK;
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    abut_jacobian_barriers_hessian(self, at->x, scale, at->step->as_is, lo, hi, val);
}

static abut_status stiffen(void *self, const abut_at *from, const abut_at *to, int *raised, abut_arena *scratch, abut_err *err)
{
    int32_t added;
    (void)from, (void)scratch;
    const abut_status rc = abut_jacobian_barriers_look(self, to->x, &added, err);
    *raised |= added > 0;
    return rc;
}

#define TERM_OF_ORDER(k) \
    static abut_status make_##k(void **self, const abut_term_world *w, abut_err *err) { return make(self, w, k, err); } \
    const abut_term_ops abut_term_jacobian_barrier_##k = { .name = "barrier of det F, order " #k, .kind = ABUT_TERM_POTENTIAL, \
                                                           .weight = ABUT_TERM_AT_X, .make = make_##k, .load = load, \
                                                           .store = store, .begin = begin, .energy = energy, \
                                                           .gradient = gradient, .set = "tets of order " #k, .hessian = hessian, \
                                                           .stiffen = stiffen, .free = destroy };
TERM_OF_ORDER(2)
TERM_OF_ORDER(3)
TERM_OF_ORDER(4)

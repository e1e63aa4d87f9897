#include "energy/element_term.h"

#include "base/par.h"
#include "math/spd.h"

#include <math.h>
#include <string.h>

enum { SIDE = 3 * ABUT_ELEMENT_CORNERS };   /* unknowns of an element at most */
_Static_assert((int)SIDE <= (int)ABUT_SYM_MAX, "element matrices are projected");

/* Corners at each node: node i has corner[first[i]] .. corner[first[i + 1] - 1], ascending. */
typedef struct element_term {
    const abut_element_energy *e;
    int32_t nv, *first;
    int32_t *corner;    /* [n * corners] */
} element_term;

static abut_status check(const abut_element_energy *e, int32_t nv, abut_err *err)
{
    if (!e->value) return abut_fail(err, ABUT_E_ARG, "energy '%s': no function gives its value", e->name);
    if (e->corners < 1 || e->corners > ABUT_ELEMENT_CORNERS)
        return abut_fail(err, ABUT_E_ARG, "energy '%s': elements of %d nodes, expected 1 to %d", e->name, e->corners,
                         ABUT_ELEMENT_CORNERS);
    if (e->n < 0 || e->n > INT32_MAX / ABUT_ELEMENT_CORNERS || (e->n && !e->node))
        return abut_fail(err, ABUT_E_ARG, "energy '%s': %d elements%s", e->name, e->n, e->node ? "" : " without nodes");
    for (int32_t k = 0; k < e->n * e->corners; k++) {
        if (e->node[k] < 0 || e->node[k] >= nv)
            return abut_fail(err, ABUT_E_ARG, "energy '%s': element %d has node %d, expected 0 to %d", e->name, k / e->corners,
                             e->node[k], nv - 1);
        for (int32_t j = k - k % e->corners; j < k; j++)
            if (e->node[j] == e->node[k])
                return abut_fail(err, ABUT_E_ARG, "energy '%s': element %d has node %d twice", e->name, k / e->corners,
                                 e->node[k]);
    }
    return ABUT_OK;
}

/* Fails for the first element with a NaN among its numbers v[width n]. */
static abut_status not_a_number(const abut_element_energy *e, const char *what, const double *v, size_t width, abut_err *err)
{
    for (size_t i = 0; i < width * (size_t)e->n; i++)
        if (isnan(v[i]))
            return abut_fail(err, ABUT_E_NUMERIC, "energy '%s', element %zu: its %s is not a number", e->name, i / width, what);
    return ABUT_OK;
}

static void release(void *self)
{
    element_term *t = self;
    free(t->first);
    free(t->corner);
    free(t);
}

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    const abut_element_energy *e = w->own;
    const int32_t nv = w->model->nv;
    const abut_status rc = check(e, nv, err);
    if (rc) return rc;
    const size_t all = (size_t)e->n * (size_t)e->corners;
    element_term *t = calloc(1, sizeof *t);
    if (!t) return abut_fail(err, ABUT_E_NOMEM, "energy '%s'", e->name);
    *t = (element_term){ .e = e, .nv = nv, .first = calloc((size_t)nv + 2, sizeof *t->first),
                         .corner = malloc((all + 1) * sizeof *t->corner) };
    if (!t->first || !t->corner) {
        release(t);
        return abut_fail(err, ABUT_E_NOMEM, "energy '%s': %d elements", e->name, e->n);
    }
    /* counted one place further, so that filling moves each beginning to its place */
    for (size_t k = 0; k < all; k++) t->first[e->node[k] + 2]++;
    for (int32_t i = 0; i < nv; i++) t->first[i + 2] += t->first[i + 1];
    for (size_t k = 0; k < all; k++) t->corner[t->first[e->node[k] + 1]++] = (int32_t)k;
    *self = t;
    return ABUT_OK;
}

/* The energy of element i at z, and its derivatives that are not NULL. */
static double of_element(const abut_element_energy *e, int32_t i, const double *z, double *g, double *H)
{
    const size_t side = 3 * (size_t)e->corners;
    double x[SIDE];
    for (int k = 0; k < e->corners; k++)
        memcpy(x + 3 * k, z + 3 * (size_t)e->node[(size_t)i * (size_t)e->corners + (size_t)k], 3 * sizeof *x);
    if (g) memset(g, 0, side * sizeof *g);
    if (H) memset(H, 0, side * side * sizeof *H);
    return e->value(e->own, i, x, g, H);
}

static abut_status energy(void *self, const abut_at *at, double scale, double *sum, abut_arena *scratch, abut_err *err)
{
    const abut_element_energy *e = ((element_term *)self)->e;
    const size_t n = (size_t)e->n, nb = abut_blocks(n);
    const abut_mark mark = abut_arena_mark(scratch);
    double *part = ABUT_NEW(scratch, double, nb);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "energy '%s': %zu partial sums", e->name, nb);
    #pragma omp parallel for schedule(static) if (n >= ABUT_PAR_MIN)
    for (size_t b = 0; b < nb; b++) {
        const abut_range r = abut_block(n, b);
        for (size_t i = r.lo; i < r.hi; i++) part[b] += of_element(e, (int32_t)i, at->z, NULL, NULL);
    }
    *sum = 0;
    for (size_t b = 0; b < nb; b++) *sum += part[b];    /* may be infinite, which a compensated sum is not made for */
    *sum *= scale;
    abut_arena_release(scratch, mark);
    return isnan(*sum) ? abut_fail(err, ABUT_E_NUMERIC, "energy '%s' is not a number", e->name) : ABUT_OK;
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const element_term *t = self;
    const abut_element_energy *e = t->e;
    const size_t n = (size_t)e->n, side = 3 * (size_t)e->corners;
    const abut_mark mark = abut_arena_mark(scratch);
    double *all = ABUT_ROOM(scratch, double, n * side);
    if (!all) return abut_fail(err, ABUT_E_NOMEM, "energy '%s': the gradients of %zu elements", e->name, n);
    #pragma omp parallel for schedule(static) if (n >= ABUT_PAR_MIN)
    for (size_t i = 0; i < n; i++) of_element(e, (int32_t)i, at->z, all + i * side, NULL);
    const abut_status rc = not_a_number(e, "gradient", all, side, err);
    #pragma omp parallel for schedule(static) if (n >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < t->nv; i++)
        for (int32_t k = t->first[i]; k < t->first[i + 1]; k++)
            for (size_t d = 0; d < 3; d++) g[3 * (size_t)i + d] += scale * all[3 * (size_t)t->corner[k] + d];
    abut_arena_release(scratch, mark);
    return rc;
}

static abut_status elements(void *self, const abut_at *at, abut_elements *set, abut_err *err)
{
    const abut_element_energy *e = ((element_term *)self)->e;
    (void)at, (void)err;
    set->corners = e->corners, set->n = (size_t)e->n, set->row = e->node;
    return ABUT_OK;
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    const abut_element_energy *e = ((element_term *)self)->e;
    const int c = e->corners, side = 3 * c;
    const size_t size = abut_packed_size(c);
    #pragma omp parallel for schedule(static) if (hi - lo >= ABUT_PAR_MIN)
    for (size_t i = lo; i < hi; i++) {
        double g[SIDE], H[SIDE * SIDE], *to = val + (i - lo) * size;
        of_element(e, (int32_t)i, at->z, g, H);
        abut_psd_project(side, H);
        for (int a = 0; a < c; a++)
            for (int b = a; b < c; b++, to += 9)
                for (int k = 0; k < 9; k++) to[k] = scale * H[side * (3 * a + k / 3) + 3 * b + k % 3];
    }
}

void abut_element_term(const abut_element_energy *e, abut_term_ops *ops, abut_own_term *row)
{
    *ops = (abut_term_ops){ .name = e->name, .kind = ABUT_TERM_POTENTIAL, .weight = ABUT_TERM_AT_Z, .make = make,
                            .energy = energy, .gradient = gradient, .set = e->name, .set_is = ABUT_SET_LASTS,
                            .elements = elements, .hessian = hessian, .free = release };
    /* the solver never writes through it */
    *row = (abut_own_term){ ops, (void *)(uintptr_t)e };
}

#include "base/order.h"
#include "base/par.h"
#include "energy/element_energy.h"
#include "energy/term.h"
#include "math/spd_inline.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The table: a row for each term.  Gradients are summed in this order. */
#define ROWS(TERM) \
    TERM(inertia) \
    TERM(prescribed) \
    TERM(elastic) \
    TERM(elastic_2) \
    TERM(elastic_3) \
    TERM(elastic_4) \
    TERM(jacobian_barrier_2) \
    TERM(jacobian_barrier_3) \
    TERM(jacobian_barrier_4) \
    TERM(inertia_2) \
    TERM(inertia_3) \
    TERM(inertia_4) \
    TERM(spring) \
    TERM(attachment) \
    TERM(joints) \
    TERM(drives) \
    TERM(pressure) \
    TERM(codim) \
    TERM(codim_bounds) \
    TERM(curved_rods) \
    TERM(friction) \
    TERM(damping) \
    TERM(damping_2) \
    TERM(damping_3) \
    TERM(damping_4) \
    TERM(codim_damping) \
    TERM(drag) \
    TERM(barrier) \
    TERM(barrier_factors)

#define DECLARED(name) extern const abut_term_ops abut_term_##name;
#define ROW(name) &abut_term_##name,
ROWS(DECLARED)
const abut_term_ops *const abut_term_table[] = { ROWS(ROW) NULL };

static abut_status add(abut_terms *terms, const abut_term_ops *ops, const abut_term_world *w, abut_err *err)
{
    abut_term t = { .ops = ops };
    const abut_status rc = ops->make(&t.self, w, err);
    if (rc || !t.self) return rc;
    const int twice = abut_terms_number(terms, ops->name) >= 0;
    if (!twice && terms->n < ABUT_TERMS_MAX) return terms->term[terms->n++] = t, ABUT_OK;
    if (ops->free) ops->free(t.self);
    if (twice) return abut_fail(err, ABUT_E_ARG, "term '%s' is there twice, expected a name of its own", ops->name);
    return abut_fail(err, ABUT_E_ARG, "term '%s': more than %d terms", ops->name, (int)ABUT_TERMS_MAX);
}

/* Rows are found by their names, even where a model has none of them. */
static abut_status add_own(abut_terms *terms, const abut_term_ops *ops, const abut_term_world *w, abut_err *err)
{
    for (int i = 0; abut_term_table[i]; i++)
        if (!strcmp(abut_term_table[i]->name, ops->name))
            return abut_fail(err, ABUT_E_ARG, "term '%s': the table has one, expected a name of its own", ops->name);
    return add(terms, ops, w, err);
}

abut_status abut_terms_init(abut_terms *terms, const abut_term_world *w, const abut_own_term *own, abut_err *err)
{
    abut_term_world world = *w;
    abut_status rc = ABUT_OK;
    *terms = (abut_terms){ 0 };
    world.before = terms;
    for (int i = 0; abut_term_table[i] && !rc; i++) rc = add(terms, abut_term_table[i], &world, err);
    for (; own && own->ops && !rc; own++) {
        world.own = own->own;
        rc = add_own(terms, own->ops, &world, err);
    }
    if (rc) abut_terms_clear(terms);
    return rc;
}

void abut_terms_clear(abut_terms *terms)
{
    for (int i = terms->n; i-- > 0;)    /* later ones borrow earlier ones */
        if (terms->term[i].ops->free) terms->term[i].ops->free(terms->term[i].self);
    *terms = (abut_terms){ 0 };
}

int abut_terms_number(const abut_terms *terms, const char *name)
{
    for (int i = 0; i < terms->n; i++)
        if (!strcmp(terms->term[i].ops->name, name)) return i;
    return -1;
}

void *abut_terms_find(const abut_terms *terms, const char *name)
{
    const int i = abut_terms_number(terms, name);
    return i < 0 ? NULL : terms->term[i].self;
}

/* ---- energies of a program ---- */

enum { SIDE = 3 * ABUT_ELEMENT_CORNERS };   /* unknowns of an element at most */
_Static_assert((int)SIDE <= (int)ABUT_SYM_MAX, "element matrices are projected");

/* Corners at each node: abut_list_groups. */
typedef struct element_term {
    const abut_element_energy *e;
    int32_t nv, *first;
    int32_t *corner;    /* [n * corners] */
} element_term;

static abut_status check_numbers(const abut_element_energy *e, int32_t nv, abut_err *err)
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
    ABUT_FREE(t->first, t->corner, t);
}

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    const abut_element_energy *e = w->own;
    const int32_t nv = w->model->nv;
    const abut_status rc = check_numbers(e, nv, err);
    if (rc) return rc;
    const size_t all = (size_t)e->n * (size_t)e->corners;
    element_term *t = calloc(1, sizeof *t);
    if (!t) return abut_fail(err, ABUT_E_NOMEM, "energy '%s'", e->name);
    *t = (element_term){ .e = e, .nv = nv, .first = calloc((size_t)nv + 1, sizeof *t->first),
                         .corner = malloc((all + 1) * sizeof *t->corner) };
    if (!t->first || !t->corner) {
        release(t);
        return abut_fail(err, ABUT_E_NOMEM, "energy '%s': %d elements", e->name, e->n);
    }
    abut_list_groups(e->node, all, nv, t->first, t->corner);
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

/* ---- check of derivatives ---- */

static const double NEAR = 1e-4, AGREE = 1e-6;  /* differences over this part of the size; of the largest entry */

/* An element and the results of its function. */
typedef struct probe {
    const abut_element_energy *e;
    int32_t element;
    int side;
    double x[SIDE], value, g[SIDE], H[SIDE * SIDE];
} probe;

/* A derivative by two central differences. */
typedef struct slope {
    double is, unsure;
} slope;

static slope extrapolated(double far, double near, double rounding)
{
    return (slope){ (4 * near - far) / 3, 2 * fabs(near - far) + rounding };
}

/* The size of the element: the larger of its extent and a thousandth of its distance to the origin. */
static double size_of(const probe *p)
{
    double extent = 0, away = 0;
    for (int d = 0; d < p->side; d++) {
        extent = fmax(extent, fabs(p->x[d] - p->x[d % 3]));
        away = fmax(away, fabs(p->x[d]));
    }
    const double size = fmax(extent, 1e-3 * away);
    return size > 0 ? size : 1e-3;
}

static double value_at(const probe *p, const double *x, double *g, double *H)
{
    const size_t side = (size_t)p->side;
    if (g) memset(g, 0, side * sizeof *g);
    if (H) memset(H, 0, side * side * sizeof *H);
    return p->e->value(p->e->own, p->element, x, g, H);
}

static double largest(const double *v, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(v[i]));
    return most;
}

/* Differences along unknown d: of the value, and of the gradient.  0 where the energy is not finite there. */
static int differences(const probe *p, int d, slope *value, slope *gradient)
{
    double by[2], of[2][SIDE], x[SIDE], ahead[SIDE], behind[SIDE];
    const double h = NEAR * size_of(p);
    memcpy(x, p->x, sizeof x);
    for (int s = 0; s < 2; s++) {
        x[d] = p->x[d] + h / (1 << s);
        const double hi = x[d], above = value_at(p, x, ahead, NULL);
        x[d] = p->x[d] - h / (1 << s);
        const double below = value_at(p, x, behind, NULL);
        if (!isfinite(above) || !isfinite(below)) return 0;
        by[s] = (above - below) / (hi - x[d]);
        for (int k = 0; k < p->side; k++) of[s][k] = (ahead[k] - behind[k]) / (hi - x[d]);
    }
    const double rounding = 64 * DBL_EPSILON / h;
    *value = extrapolated(by[0], by[1], rounding * fabs(p->value));
    for (int k = 0; k < p->side; k++) gradient[k] = extrapolated(of[0][k], of[1][k], rounding * largest(p->g, p->side));
    return 1;
}

static int agree(double said, slope s, double most)
{
    return fabs(said - s.is) <= s.unsure + AGREE * most;
}

static abut_status fail(const probe *p, const char *what, int a, int b, double said, double is, abut_err *err)
{
    const int32_t *node = p->e->node + (size_t)p->element * (size_t)p->e->corners;
    char and[48] = "";
    if (b >= 0) snprintf(and, sizeof and, " and %c of node %d", "xyz"[b % 3], node[b / 3]);
    return abut_fail(err, ABUT_E_ARG, "energy '%s', element %d: its %s by %c of node %d%s is %.8g, differences give %.8g",
                     p->e->name, p->element, what, "xyz"[a % 3], node[a / 3], and, said, is);
}

static abut_status check_element(probe *p, abut_err *err)
{
    p->value = value_at(p, p->x, p->g, p->H);
    if (isinf(p->value)) return ABUT_OK;
    if (isnan(p->value))
        return abut_fail(err, ABUT_E_ARG, "energy '%s', element %d: its value is not a number", p->e->name, p->element);
    const double force = largest(p->g, p->side), stiffness = largest(p->H, p->side * p->side);
    for (int d = 0; d < p->side; d++) {
        slope value, gradient[SIDE];
        if (!differences(p, d, &value, gradient)) continue;
        if (!agree(p->g[d], value, force)) return fail(p, "derivative", d, -1, p->g[d], value.is, err);
        for (int k = 0; k < p->side; k++)
            if (!agree(p->H[p->side * d + k], gradient[k], stiffness))
                return fail(p, "second derivative", d, k, p->H[p->side * d + k], gradient[k].is, err);
    }
    return ABUT_OK;
}

abut_status abut_element_check(const abut_element_energy *e, const double *z, abut_err *err)
{
    abut_status rc = ABUT_OK;
    probe p = { .e = e, .side = 3 * e->corners };
    for (p.element = 0; p.element < e->n && !rc; p.element++) {
        for (int k = 0; k < p.side; k++)
            p.x[k] = z[3 * (size_t)e->node[(size_t)p.element * (size_t)e->corners + (size_t)(k / 3)] + (size_t)(k % 3)];
        rc = check_element(&p, err);
    }
    return rc;
}

/* Springs between two nodes, Hookean in their length (Liu 2018, 3.3 and 5):
 *     E = sum k/2 (|x_a - x_b| - l)^2                                                      J
 * and each is the smallest k/2 |x_a - x_b - p|^2 over all p of length l: a squared distance, so E lies below the quadratic
 * with the constant matrix k [1 -1; -1 1] that touches it at any x.  A spring of length 0 at an instant has no direction: its
 * force is 0 there.
 *
 * Attachments: springs that tie a node to a place which other nodes carry, quadratic in the positions:
 *     E = sum k/2 |r|^2,     r = x_i - sum_j w_j x_j - o                                  J
 * With sum w = 1 and o = 0 the place moves affinely with the tet that carries it, also if it lies outside of the tet: E is then
 * invariant to rigid motions of both bodies together, and its forces balance in moment, too.  Without carriers o is a point in
 * space.  The Hessian is k c c^T x I, c = (1, -w): constant and positive semidefinite.
 * Attached bodies have contact as all other bodies. */
#include "energy/spring_inline.h"
#include "energy/term.h"
#include "math/lanes.h"
#include "sparse/elements.h"

#include <stdlib.h>
#include <string.h>

/* The springs at each node, those of a node filled up to a multiple of ABUT_LANES by ones without stiffness to itself. */
typedef struct springs {
    const abut_model *model;
    int32_t *first;         /* [nv + 1] */
    int32_t *other;         /* [first[nv]] node at the other end, springs ascending */
    double *stiffness, *length;
} springs;

/* Lists of the springs at each node: count, round up, fill in the order of the springs. */
static void fill_lists(springs *s, int32_t *at)
{
    const abut_model *m = s->model;
    for (int32_t i = 0; i < m->nv; i++) {
        at[i] = s->first[i];
        for (int32_t k = s->first[i]; k < s->first[i + 1]; k++) {
            s->other[k] = i;
            s->stiffness[k] = s->length[k] = 0;
        }
    }
    for (int32_t e = 0; e < 2 * m->nsp; e++) {
        const int32_t k = at[m->spring[e]]++;
        s->other[k] = m->spring[e ^ 1];
        s->stiffness[k] = m->spring_stiffness[e / 2];
        s->length[k] = m->spring_length[e / 2];
    }
}

static void springs_clear(springs *s)
{
    ABUT_FREE(s->first, s->other, s->stiffness, s->length);
    *s = (springs){ 0 };
}

static abut_status springs_init(springs *s, const abut_model *m, abut_err *err)
{
    *s = (springs){ .model = m };
    if (!m->nsp) return ABUT_OK;
    if (m->nsp > INT32_MAX / 8 || m->nv > INT32_MAX / 8)
        return abut_fail(err, ABUT_E_FORMAT, "%d springs: more than %d", m->nsp, INT32_MAX / 8);
    s->first = calloc((size_t)m->nv + 1, sizeof *s->first);
    int32_t *at = malloc(((size_t)m->nv + 1) * sizeof *at);
    for (int32_t e = 0; s->first && e < 2 * m->nsp; e++) s->first[m->spring[e] + 1]++;
    for (int32_t i = 0; s->first && i < m->nv; i++)
        s->first[i + 1] = s->first[i] + (s->first[i + 1] + ABUT_LANES - 1) / ABUT_LANES * ABUT_LANES;
    const size_t n = s->first ? (size_t)s->first[m->nv] + 1 : 1;
    s->other = malloc(n * sizeof *s->other);
    s->stiffness = malloc(n * sizeof *s->stiffness);
    s->length = malloc(n * sizeof *s->length);
    const int ok = s->first && at && s->other && s->stiffness && s->length;
    if (ok) fill_lists(s, at);
    else springs_clear(s);
    free(at);
    return ok ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "%d springs", m->nsp);
}

static inline double span(const abut_model *m, size_t s, const double *x, double d[3])
{
    return abut_spring_span(x + 3 * (size_t)m->spring[2 * s], x + 3 * (size_t)m->spring[2 * s + 1], d);
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    const abut_model *m = ((const springs *)self)->model;
    const size_t n = (size_t)m->nsp, nb = abut_blocks(n);
    const abut_mark mark = abut_arena_mark(scratch);
    double *part = ABUT_NEW(scratch, double, nb);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "spring energy: %zu partial sums", nb);

    #pragma omp parallel for schedule(static) if (n >= ABUT_PAR_MIN)
    for (size_t b = 0; b < nb; b++) {
        const abut_range r = abut_block(n, b);
        double sum = 0, d[3];
        for (size_t i = r.lo; i < r.hi; i++) {
            const double longer = span(m, i, at->z, d) - m->spring_length[i];
            sum += 0.5 * m->spring_stiffness[i] * longer * longer;
        }
        part[b] = sum;
    }
    *e = scale * abut_sum(part, nb);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

/* g[3] += scale times the pull of the springs [lo, hi) of node i, a whole number of groups */
ABUT_LANES_CLONES
static void pull_of(const springs *s, const double *x, int32_t i, int32_t lo, int32_t hi, double scale, double *g)
{
    const double *xi = x + 3 * (size_t)i;
    abut_lanes sum[3] = { { 0 } };
    for (int32_t k = lo; k < hi; k += ABUT_LANES) {
        const double *a = x + 3 * (size_t)s->other[k], *b = x + 3 * (size_t)s->other[k + 1], *c = x + 3 * (size_t)s->other[k + 2],
                     *e = x + 3 * (size_t)s->other[k + 3];
        abut_lanes d[3], stiffness, length;
        for (int q = 0; q < 3; q++) d[q] = xi[q] - (abut_lanes){ a[q], b[q], c[q], e[q] };
        memcpy(&stiffness, s->stiffness + k, sizeof stiffness);
        memcpy(&length, s->length + k, sizeof length);
        abut_lanes l = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        abut_lanes_sqrt(&l);
        const abut_lanes force = ABUT_LANES_PICK(l > 0, stiffness - stiffness * length / l, ABUT_LANES_ALL(0.));
        for (int q = 0; q < 3; q++) sum[q] += force * d[q];
    }
    for (int q = 0; q < 3; q++) g[q] += scale * ((sum[q][0] + sum[q][1]) + (sum[q][2] + sum[q][3]));
}

/* The forces at the two ends of a spring are opposite to the last bit. */
static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const springs *s = self;
    const abut_model *m = s->model;
    (void)scratch, (void)err;
    #pragma omp parallel for schedule(static) if ((size_t)m->nsp >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < m->nv; i++)
        if (s->first[i] < s->first[i + 1]) pull_of(s, at->z, i, s->first[i], s->first[i + 1], scale, g + 3 * (size_t)i);
    return ABUT_OK;
}

/* Projected, a spring that is shorter than at rest does not push sideways. */
static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    const abut_model *m = ((const springs *)self)->model;
    const size_t n = (size_t)m->nsp;
    (void)lo, (void)hi;
    #pragma omp parallel for schedule(static) if (n >= ABUT_PAR_MIN)
    for (size_t i = 0; i < n; i++) {
        double d[3];
        const double l = span(m, i, at->z, d);
        abut_spring_hessian_one(scale * m->spring_stiffness[i], m->spring_length[i], d, l, !at->step->as_is,
                                val + abut_packed_size(2) * i);
    }
}

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    if (!w->model->nsp) return ABUT_OK;
    springs *s = malloc(sizeof *s);
    const abut_status rc = s ? springs_init(s, w->model, err) : abut_fail(err, ABUT_E_NOMEM, "springs");
    if (rc) return free(s), rc;
    *self = s;
    return ABUT_OK;
}

static void destroy(void *self)
{
    springs_clear(self);
    free(self);
}

static double stiffness(const void *self, double *each)
{
    const abut_model *m = ((const springs *)self)->model;
    abut_acc sum = { 0, 0 };
    for (int32_t i = 0; i < m->nsp; i++) {
        const double k = m->spring_stiffness[i] * m->spring_length[i] * m->spring_length[i];
        abut_acc_add(&sum, k);
        each[m->body[m->spring[2 * i]]] += k;
    }
    return sum.hi + sum.lo;
}

static abut_status elements(void *self, const abut_at *at, abut_elements *set, abut_err *err)
{
    const abut_model *m = ((const springs *)self)->model;
    (void)at, (void)err;
    set->corners = 2, set->n = (size_t)m->nsp, set->row = m->spring;
    return ABUT_OK;
}

static abut_status constant(void *self, const double fit[2], double scale, double *val, abut_err *err)
{
    const abut_model *m = ((const springs *)self)->model;
    (void)fit, (void)err;
    for (int32_t s = 0; s < m->nsp; s++, val += abut_packed_size(2))
        for (int d = 0; d < 9; d += 4) {
            const double k = scale * m->spring_stiffness[s];
            val[d] = val[18 + d] = k;
            val[9 + d] = -k;
        }
    return ABUT_OK;
}

const abut_term_ops abut_term_spring = { .name = "spring", .kind = ABUT_TERM_POTENTIAL, .weight = ABUT_TERM_AT_Z, .make = make,
                                         .stiffness = stiffness, .energy = energy, .gradient = gradient, .set = "springs",
                                         .set_is = ABUT_SET_LASTS, .elements = elements, .hessian = hessian,
                                         .constant = constant, .free = destroy };

/* ---- attachments ---- */

static void stretch(const abut_model *m, int32_t a, const double *x, double r[3])
{
    const size_t at = (size_t)a;
    abut_attachment_stretch(m->attach_node + 5 * at, m->attach_weight + 4 * at, m->tie_offset + 3 * at, x, r);
}

static abut_status attachment_energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    const abut_model *m = ((const abut_term_world *)self)->model;
    abut_acc sum = { 0, 0 };
    (void)scratch, (void)err;
    for (int32_t a = 0; a < m->na; a++) {
        double r[3];
        stretch(m, a, at->z, r);
        abut_acc_add(&sum, 0.5 * m->attach_stiffness[a] * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]));
    }
    *e = scale * (sum.hi + sum.lo);
    return ABUT_OK;
}

/* In the order of the attachments. */
static abut_status attachment_gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const abut_model *m = ((const abut_term_world *)self)->model;
    (void)scratch, (void)err;
    for (int32_t a = 0; a < m->na; a++) {
        const int32_t *v = m->attach_node + 5 * (size_t)a;
        const double k = scale * m->attach_stiffness[a];
        double r[3];
        stretch(m, a, at->z, r);
        for (int d = 0; d < 3; d++) {
            g[3 * (size_t)v[0] + (size_t)d] += k * r[d];
            for (int j = 0; j < 4; j++)
                if (v[1 + j] >= 0) g[3 * (size_t)v[1 + j] + (size_t)d] -= k * m->attach_weight[4 * (size_t)a + (size_t)j] * r[d];
        }
    }
    return ABUT_OK;
}

static abut_status attachment_constant(void *self, const double fit[2], double scale, double *val, abut_err *err)
{
    const abut_model *m = ((const abut_term_world *)self)->model;
    (void)fit, (void)err;
    for (size_t a = 0; a < (size_t)m->na; a++)
        abut_attachment_hessian_one(m->attach_node + 5 * a, m->attach_weight + 4 * a, scale * m->attach_stiffness[a],
                                    val + abut_packed_size(5) * a);
    return ABUT_OK;
}

static abut_status attachment_make(void **self, const abut_term_world *w, abut_err *err)
{
    return w->model->na ? abut_term_make_plain(self, w, err) : ABUT_OK;
}

static abut_status attachment_elements(void *self, const abut_at *at, abut_elements *set, abut_err *err)
{
    const abut_model *m = ((const abut_term_world *)self)->model;
    (void)at, (void)err;
    set->corners = 5, set->n = (size_t)m->na, set->row = m->attach_node;
    return ABUT_OK;
}

static void attachment_hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    (void)at, (void)lo, (void)hi;
    (void)attachment_constant(self, NULL, scale, val, NULL);
}

const abut_term_ops abut_term_attachment = { .name = "attachment", .kind = ABUT_TERM_POTENTIAL, .weight = ABUT_TERM_AT_Z,
                                             .make = attachment_make, .energy = attachment_energy,
                                             .gradient = attachment_gradient, .set = "attachments", .set_is = ABUT_SET_LASTS,
                                             .elements = attachment_elements, .hessian = attachment_hessian,
                                             .constant = attachment_constant, .free = free };

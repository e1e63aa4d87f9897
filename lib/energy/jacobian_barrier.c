#include "energy/elastic_high.h"

#include "base/arena.h"
#include "base/order.h"
#include "contact/step_bound.h"
#include "energy/elastic.h"
#include "energy/material/density_inline.h"
#include "energy/term.h"
#include "math/mat3.h"
#include "math/svd3.h"
#include "model/tets.h"
#include "sparse/packed_inline.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Clearly less: at a further point of a tet det F is at most this fraction of the least value at earlier points. */
#define CLEARLY 0.9

double abut_jacobian_barrier(double J, double *d)
{
    const double u = J / ABUT_JACOBIAN_HAT, v = 1 - u, ln = log(u);
    assert(u > 0 && u < 1);
    if (d) {
        d[0] = (2 * v * ln - v * v / u) / ABUT_JACOBIAN_HAT;
        d[1] = (-2 * ln + 4 * v / u + v * v / (u * u)) / (ABUT_JACOBIAN_HAT * ABUT_JACOBIAN_HAT);
    }
    return -v * v * ln;
}

abut_status abut_jacobian_barriers_init(abut_jacobian_barriers *b, const abut_elastic_high *tets, abut_err *err)
{
    *b = (abut_jacobian_barriers){ .tets = tets };
    b->least = malloc((5 * (size_t)tets->n + 1) * sizeof *b->least);
    return b->least ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "barrier of det F: %d tets of order %d", tets->n, tets->order);
}

void abut_jacobian_barriers_clear(abut_jacobian_barriers *b)
{
    ABUT_FREE(b->point, b->least);
    *b = (abut_jacobian_barriers){ 0 };
}

/* ---- points ---- */

/* Index of the first point of tet t, or the index at which it is inserted. */
static int32_t first_of(const abut_jacobian_barriers *b, int32_t t)
{
    return (int32_t)abut_place_of(&t, b->point, (size_t)b->n, sizeof *b->point, abut_by_one);
}

static void fill(const abut_elastic_high *e, int32_t t, const double L[4], abut_jacobian_point *p)
{
    const int32_t of = e->first + t;
    const double *lame = e->laws.lame + 2 * e->model->tet_mat[of], volume = abut_elastic_high_volume(e, t);
    double X[3 * ABUT_TET_NODES_MAX], dphi[ABUT_TET_NODES_MAX][3], J[9], Ji[9];
    *p = (abut_jacobian_point){ .tet = t, .weight = ABUT_JACOBIAN_WEIGHT * volume * (lame[0] + lame[1]) };
    memcpy(p->L, L, sizeof p->L);
    abut_tet_geometry(e->model, of, X);
    (void)abut_tet_point(abut_tet_geometry_order(e->model, of), (const double(*)[3])X, L, NULL, J);
    (void)abut_m3_inverse(Ji, J);
    abut_tet_basis(e->order, L, NULL, dphi);
    for (int a = 0; a < e->nodes; a++)
        for (int j = 0; j < 3; j++) p->B[3 * a + j] = dphi[a][0] * Ji[j] + dphi[a][1] * Ji[3 + j] + dphi[a][2] * Ji[6 + j];
}

abut_status abut_jacobian_barriers_add(abut_jacobian_barriers *b, int32_t tet, const double L[4], abut_err *err)
{
    if (!ABUT_GROW(b->point, b->n + 1, b->cap)) return abut_fail(err, ABUT_E_NOMEM, "barrier of det F: %d points", b->n + 1);
    const int32_t at = first_of(b, tet + 1);
    memmove(b->point + at + 1, b->point + at, (size_t)(b->n - at) * sizeof *b->point);
    fill(b->tets, tet, L, &b->point[at]);
    b->n++;
    return ABUT_OK;
}

/* F and its determinant at a point. */
static double deformation(const abut_elastic_high *e, const abut_jacobian_point *p, const double *x, double F[9])
{
    const int32_t *node = e->node + (size_t)p->tet * (size_t)e->nodes;
    const double *X = e->model->X;
    for (int i = 0; i < 9; i++) F[i] = i % 4 == 0;
    for (int a = 0; a < e->nodes; a++)
        for (int d = 0; d < 3; d++) {
            const size_t i = 3 * (size_t)node[a] + (size_t)d, i0 = 3 * (size_t)node[0] + (size_t)d;
            const double u = (x[i] - x[i0]) - (X[i] - X[i0]);
            for (int j = 0; j < 3; j++) F[3 * d + j] += u * p->B[3 * a + j];
        }
    return abut_m3_det(F);
}

/* The certificate's least det F of tet t where a further point is due, +inf elsewhere; at: where. */
static double look_at(const abut_jacobian_barriers *b, int32_t t, const double *x, double L[4])
{
    const abut_elastic_high *e = b->tets;
    const abut_model *m = e->model;
    double seen = ABUT_JACOBIAN_HAT, F[9];
    abut_jacobian_at at;
    if (!abut_material_injective(m->mat_model[m->tet_mat[e->first + t]])) return INFINITY;
    (void)abut_curved_jacobian(m, e->first + t, x, ABUT_JACOBIAN_HAT, &at);
    if (!(at.det < seen)) return INFINITY;
    for (int32_t k = first_of(b, t); k < b->n && b->point[k].tet == t; k++)
        seen = fmin(seen, CLEARLY * deformation(e, &b->point[k], x, F));
    memcpy(L, at.L, sizeof at.L);
    return at.det < seen ? at.det : INFINITY;
}

abut_status abut_jacobian_barriers_look(abut_jacobian_barriers *b, const double *x, int32_t *added, abut_err *err)
{
    const int32_t n = b->tets->n;
    abut_status rc = ABUT_OK;
    *added = 0;
    #pragma omp parallel for schedule(dynamic, 16) if (abut_elastic_high_is_large(b->tets))
    for (int32_t t = 0; t < n; t++) b->least[5 * (size_t)t] = look_at(b, t, x, b->least + 5 * (size_t)t + 1);
    for (int32_t t = 0; t < n && !rc; t++) {
        if (!(b->least[5 * (size_t)t] < INFINITY)) continue;
        rc = abut_jacobian_barriers_add(b, t, b->least + 5 * (size_t)t + 1, err);
        ++*added;
    }
    return rc;
}

/* ---- energy and derivatives ---- */

double abut_jacobian_barriers_energy(const abut_jacobian_barriers *b, const double *x)
{
    double sum = 0;
    for (int32_t k = 0; k < b->n; k++) {
        double F[9];
        const double J = deformation(b->tets, &b->point[k], x, F);
        if (!(J > 0)) return INFINITY;
        if (J < ABUT_JACOBIAN_HAT) sum += b->point[k].weight * abut_jacobian_barrier(J, NULL);
    }
    return sum;
}

void abut_jacobian_barriers_gradient(const abut_jacobian_barriers *b, const double *x, double scale, double *g)
{
    const int nodes = b->tets->nodes;
    for (int32_t k = 0; k < b->n; k++) {
        const abut_jacobian_point *p = &b->point[k];
        const int32_t *node = b->tets->node + (size_t)p->tet * (size_t)nodes;
        double F[9], C[9], d[2];
        const double J = deformation(b->tets, p, x, F);
        if (!(J < ABUT_JACOBIAN_HAT)) continue;
        (void)abut_jacobian_barrier(J, d);
        abut_m3_cofactor(C, F);
        for (int a = 0; a < nodes; a++)
            for (int i = 0; i < 3; i++) {
                const double *B = p->B + 3 * a, *row = C + 3 * i;
                g[3 * (size_t)node[a] + (size_t)i] += scale * p->weight * d[0] * (row[0] * B[0] + row[1] * B[1] + row[2] * B[2]);
            }
    }
}

/* weight d2b/dF2 at F = U diag(s) V^T, by the principal form of b(s0 s1 s2). */
static void point_hessian(const double F[9], double weight, int as_is, double M[81])
{
    double U[9], s[3], V[9], d[2];
    abut_principal p;
    abut_svd3(F, U, s, V);
    const double J = s[0] * s[1] * s[2], c[3] = { s[1] * s[2], s[0] * s[2], s[0] * s[1] };
    p.psi = weight * abut_jacobian_barrier(J, d);
    for (int i = 0; i < 3; i++) {
        p.d[i] = weight * d[0] * c[i];
        p.twist[i] = weight * d[0] * s[i];
        p.flip[i] = -p.twist[i];
        for (int j = 0; j < 3; j++) p.A[3 * i + j] = weight * (d[1] * c[i] * c[j] + (i == j ? 0 : d[0] * s[3 - i - j]));
    }
    if (!as_is) abut_principal_project_one(&p);
    abut_principal_hess(&p, U, V, M);
}

/* H += sum over F of dF/dx_a M dF/dx_b */
static void add_point(int nodes, const double *B, const double M[81], double *H)
{
    for (int a = 0; a < nodes; a++) {
        double T[27];   /* [d][3 k + j]: sum over i of B_ai M_(d i, k j) */
        for (int d = 0; d < 3; d++)
            for (int k = 0; k < 9; k++)
                T[9 * d + k] = B[3 * a] * M[9 * (3 * d) + k] + B[3 * a + 1] * M[9 * (3 * d + 1) + k] +
                               B[3 * a + 2] * M[9 * (3 * d + 2) + k];
        for (int c = a; c < nodes; c++) {
            double *to = H + 9 * abut_packed_block(nodes, a, c);
            for (int d = 0; d < 3; d++)
                for (int k = 0; k < 3; k++)
                    to[3 * d + k] += T[9 * d + 3 * k] * B[3 * c] + T[9 * d + 3 * k + 1] * B[3 * c + 1] +
                                     T[9 * d + 3 * k + 2] * B[3 * c + 2];
        }
    }
}

void abut_jacobian_barriers_hessian(const abut_jacobian_barriers *b, const double *x, double scale, int as_is, size_t lo,
                                    size_t hi, double *H)
{
    const abut_elastic_high *e = b->tets;
    for (int32_t k = first_of(b, (int32_t)lo); k < b->n && (size_t)b->point[k].tet < hi; k++) {
        const abut_jacobian_point *p = &b->point[k];
        double F[9], M[81];
        const double J = deformation(e, p, x, F);
        if (!(J > 0 && J < ABUT_JACOBIAN_HAT)) continue;
        point_hessian(F, scale * p->weight, as_is, M);
        add_point(e->nodes, p->B, M, H + abut_packed_size(e->nodes) * ((size_t)p->tet - lo));
    }
}

/* ---- terms: tets of each order from 2 on ---- */

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

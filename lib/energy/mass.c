#include "energy/mass.h"

#include "base/order.h"
#include "base/par.h"
#include "energy/term.h"
#include "geom/quadrature.h"
#include "model/tets.h"
#include "sparse/packed_inline.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one tet ---- */

/* M += weight phi phi^T, a <= b */
static void add_point(int nodes, const double *phi, double weight, double *M)
{
    for (int a = 0; a < nodes; a++)
        for (int b = a; b < nodes; b++) *M++ += weight * phi[a] * phi[b];
}

/* M[nodes (nodes + 1)/2]: matrix of a tet of order `order` with density 1, by the quadrature of degree `degree`, 0: that which
 * is exact.  geometry: order of its rest shape X, at least `order`. */
static abut_status mass_tet(int order, int geometry, const double (*X)[3], int degree, double *M, abut_err *err)
{
    const int nodes = abut_tet_nodes(order), least = abut_tet_least_order(geometry, X);
    abut_quadrature q;
    const abut_status rc = abut_quadrature_tet(degree ? degree : abut_degree_mass(order, least), &q, err);
    if (rc) return rc;
    for (int k = 0; k < nodes * (nodes + 1) / 2; k++) M[k] = 0;
    for (int i = 0; i < q.n; i++) {
        double phi[ABUT_TET_NODES_MAX], J[9];
        abut_tet_basis(order, q.L + 4 * i, phi, NULL);
        const double det = abut_tet_point(least == 1 ? 1 : geometry, X, q.L + 4 * i, NULL, J);
        add_point(nodes, phi, q.w[i] * det / 6, M);
    }
    abut_quadrature_clear(&q);
    return ABUT_OK;
}

/* ---- elements ---- */

/* Mass matrices of straight tets by order, for density 1 and volume 1; computed when first needed. */
typedef struct unit_matrices {
    double of[ABUT_ORDER_MAX + 1][ABUT_TET_NODES_MAX * (ABUT_TET_NODES_MAX + 1) / 2];
    int there[ABUT_ORDER_MAX + 1];
} unit_matrices;

static abut_status element(const abut_model *m, int32_t t, unit_matrices *unit, double *M, abut_err *err)
{
    static const double corner[35][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    const int order = abut_tet_order(m, t), nodes = abut_tet_nodes(order), g = abut_tet_geometry_order(m, t);
    const int32_t material = m->tet_mat[t];
    const int degree = m->mat_quadrature ? m->mat_quadrature[2 * material + 1] : 0;
    const double part = (m->tet_density ? m->tet_density[t] : 1) * (m->tet_fill ? m->tet_fill[t] : 1);
    const double density = m->mat_density[material] * part;
    double X[3 * ABUT_TET_NODES_MAX], J[9], scale = density;
    const double centre[4] = { 0.25, 0.25, 0.25, 0.25 };
    abut_status rc = ABUT_OK;
    if (degree && degree < 2 * order)
        return abut_fail(err, ABUT_E_FORMAT, "array 'material/quadrature' row %d: degree %d of the mass of tets of order %d, "
                         "expected at least %d", material, degree, order, 2 * order);
    abut_tet_geometry(m, t, X);
    const double (*place)[3] = (const double(*)[3])X;
    if (abut_tet_least_order(g, place) == 1) {
        if (!unit->there[order]) rc = mass_tet(order, 1, corner, 0, unit->of[order], err);
        unit->there[order] = !rc;
        scale *= abut_tet_point(1, place, centre, NULL, J);
        memcpy(M, unit->of[order], sizeof *M * (size_t)(nodes * (nodes + 1) / 2));
    } else {
        rc = mass_tet(order, g, place, degree, M, err);
    }
    for (int k = 0; k < nodes * (nodes + 1) / 2; k++) M[k] *= scale;
    return rc;
}

static abut_status elements(abut_mass *M, abut_err *err)
{
    const abut_model *m = M->model;
    unit_matrices *unit = calloc(1, sizeof *unit);
    abut_status rc = unit ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "mass of %d tets", m->nt);
    for (int32_t t = abut_linear_tets_first(m), end; t < m->nt && !rc; t = end) {
        const int order = abut_tet_order(m, t);
        const size_t size = (size_t)(abut_tet_nodes(order) * (abut_tet_nodes(order) + 1) / 2);
        for (end = t; end < m->nt && abut_tet_order(m, end) == order;) end++;
        assert(order > 1 && !M->element[order]);
        M->begin[order] = t;
        M->element[order] = malloc(size * (size_t)(end - t) * sizeof(double));
        if (!M->element[order]) rc = abut_fail(err, ABUT_E_NOMEM, "mass of %d tets of order %d", end - t, order);
        for (int32_t i = t; i < end && !rc; i++) rc = element(m, i, unit, M->element[order] + size * (size_t)(i - t), err);
    }
    free(unit);
    return rc;
}

/* ---- rows ---- */

/* Tets of order 2 and more at each node: list[first[i]] .. list[first[i + 1]]. */
typedef struct tets_at {
    int32_t *first, *list;
} tets_at;

static abut_status find_tets(const abut_model *m, tets_at *at, abut_err *err)
{
    int32_t node[ABUT_TET_NODES_MAX];
    size_t corners = 1;
    for (int32_t t = 0; t < m->nt; t++) corners += (size_t)abut_tet_nodes(abut_tet_order(m, t));
    if (!ABUT_ARRAYS(ABUT_ZEROS(at->first, (size_t)m->nv + 2), ABUT_ITEMS(at->list, corners)))
        return abut_fail(err, ABUT_E_NOMEM, "mass of %d nodes", m->nv);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t t = 0; t < m->nt; t++) {
            const int n = abut_tet_order(m, t) > 1 ? abut_tet_corners(m, t, node) : 0;
            for (int c = 0; c < n; c++)
                if (pass == 0) at->first[node[c] + 2]++;
                else at->list[at->first[node[c] + 1]++] = t;
        }
        for (int32_t i = 0; i < m->nv && pass == 0; i++) at->first[i + 2] += at->first[i + 1];
    }
    return ABUT_OK;
}

/* Columns of row i, ascending, into col (room for all corners around); returns how many. */
static int32_t columns(const abut_model *m, const tets_at *at, int32_t i, int32_t *col)
{
    int32_t n = 0, kept = 0;
    for (int32_t k = at->first[i]; k < at->first[i + 1]; k++) n += abut_tet_corners(m, at->list[k], col + n);
    qsort(col, (size_t)n, sizeof *col, abut_by_one);
    for (int32_t k = 0; k < n; k++)
        if (kept == 0 || col[k] != col[kept - 1]) col[kept++] = col[k];
    return kept;
}

/* Returns the index in val of an entry that the matrix has. */
static int32_t entry(const abut_mass *M, int32_t row, int32_t col)
{
    const int32_t first = M->first[row], n = M->first[row + 1] - first;
    return first + (int32_t)abut_place_of(&col, M->col + first, (size_t)n, sizeof col, abut_by_one);
}

static void add_tet(abut_mass *M, int32_t t)
{
    int32_t node[ABUT_TET_NODES_MAX];
    const int order = abut_tet_order(M->model, t), n = abut_tet_corners(M->model, t, node);
    const double *e = M->element[order] + (size_t)(n * (n + 1) / 2) * (size_t)(t - M->begin[order]);
    for (int a = 0; a < n; a++) {
        M->order[node[a]] = (uint8_t)order;
        for (int b = a; b < n; b++, e++) {
            M->val[entry(M, node[a], node[b])] += *e;
            if (a != b) M->val[entry(M, node[b], node[a])] += *e;
        }
    }
}

static abut_status rows(abut_mass *M, abut_err *err)
{
    const abut_model *m = M->model;
    tets_at at = { 0 };
    abut_status rc = find_tets(m, &at, err);
    int32_t most = 0, *around = NULL;
    for (int32_t i = 0; i < m->nv && !rc; i++) most = at.first[i + 1] - at.first[i] > most ? at.first[i + 1] - at.first[i] : most;
    if (!rc && !(around = malloc(((size_t)most * ABUT_TET_NODES_MAX + 1) * sizeof *around)))
        rc = abut_fail(err, ABUT_E_NOMEM, "mass: %d tets at a node", most);
    M->order = calloc((size_t)m->nv + 1, 1);
    M->first = calloc((size_t)m->nv + 1, sizeof *M->first);
    size_t n = 0;
    if (!rc && M->order && M->first)
        for (int32_t i = 0; i < m->nv; i++) n += (size_t)columns(m, &at, i, around), M->first[i + 1] = (int32_t)n;
    if (!rc && n > INT32_MAX) rc = abut_fail(err, ABUT_E_FORMAT, "mass: %zu entries, at most %d", n, INT32_MAX);
    M->col = malloc((n + 1) * sizeof *M->col);
    M->val = calloc(n + 1, sizeof *M->val);
    if (!rc && (!M->order || !M->first || !M->col || !M->val))
        rc = abut_fail(err, ABUT_E_NOMEM, "mass of %d nodes: %zu entries", m->nv, n);
    for (int32_t i = 0; i < m->nv && !rc; i++) {
        const int32_t k = columns(m, &at, i, around);
        memcpy(M->col + M->first[i], around, (size_t)k * sizeof *around);
    }
    for (int32_t t = 0; t < m->nt && !rc; t++)
        if (abut_tet_order(m, t) > 1) add_tet(M, t);
    free(around), free(at.first), free(at.list);
    return rc;
}

abut_status abut_mass_init(abut_mass *M, const abut_model *m, abut_err *err)
{
    assert(m);
    *M = (abut_mass){ .model = m };
    if (abut_model_order(m) == 1) return ABUT_OK;
    abut_status rc = elements(M, err);
    if (!rc) rc = rows(M, err);
    if (rc) abut_mass_clear(M);
    return rc;
}

void abut_mass_clear(abut_mass *M)
{
    for (int k = 0; k <= ABUT_ORDER_MAX; k++) free(M->element[k]);
    ABUT_FREE(M->order, M->first, M->col, M->val);
    *M = (abut_mass){ 0 };
}

/* ---- products and solutions ---- */

void abut_mass_row(const abut_mass *M, const double *u, int32_t i, double out[3])
{
    if (!abut_mass_order(M, i)) {
        for (int d = 0; d < 3; d++) out[d] = M->model->mass[i] * u[3 * (size_t)i + (size_t)d];
        return;
    }
    double sum[3] = { 0, 0, 0 };
    for (int32_t k = M->first[i]; k < M->first[i + 1]; k++)
        for (int d = 0; d < 3; d++) sum[d] += M->val[k] * u[3 * (size_t)M->col[k] + (size_t)d];
    memcpy(out, sum, sizeof sum);
}

void abut_mass_multiply(const abut_mass *M, const double *u, double *f)
{
    const int32_t nv = M->model->nv;
    #pragma omp parallel for schedule(static) if ((size_t)nv >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < nv; i++) abut_mass_row(M, u, i, f + 3 * (size_t)i);
}

void abut_mass_add_elements(const abut_mass *M, int order, double scale, size_t lo, size_t hi, double *val)
{
    const size_t blocks = abut_packed_size(abut_tet_nodes(order)) / 9;
    const double *m = M->element[order] + blocks * lo;
    for (size_t k = 0; k < blocks * (hi - lo); k++)
        for (size_t i = 0; i < 9; i += 4) val[9 * k + i] += scale * m[k];
}

void abut_mass_total(const abut_mass *M, const double *u, double total[3])
{
    abut_acc sum[3] = { { 0, 0 } };
    for (int32_t i = 0; i < M->model->nv; i++) {
        double f[3];
        if (M->model->role[i] == ABUT_NODE_OBSTACLE) continue;
        abut_mass_row(M, u, i, f);
        for (int k = 0; k < 3; k++) abut_acc_add(&sum[k], f[k]);
    }
    for (int k = 0; k < 3; k++) total[k] = sum[k].hi + sum[k].lo;
}

/* Returns a.b over the nodes that are solved for. */
static double dot(const abut_mass *M, const uint8_t *sought, const double *a, const double *b)
{
    abut_acc sum = { 0, 0 };
    for (int32_t i = 0; i < M->model->nv; i++)
        for (size_t k = 3 * (size_t)i; k < 3 * (size_t)i + 3 && sought[i]; k++) abut_acc_add(&sum, a[k] * b[k]);
    return sum.hi + sum.lo;
}

/* Vectors [3 nv] of conjugate gradients, 0 beside the nodes that are solved for. */
typedef struct vectors {
    double *x, *r, *p, *q;
    double *diagonal;       /* [nv] */
    uint8_t *sought;        /* [nv] */
} vectors;

static abut_status conjugate_gradients(const abut_mass *M, const vectors *v, abut_err *err)
{
    enum { MOST = 1000 };
    const size_t n3 = 3 * (size_t)M->model->nv;
    const double enough = 1e-30 * dot(M, v->sought, v->r, v->r);
    double rz = 0, before;
    for (int k = 0; k <= MOST; k++) {
        if (!(dot(M, v->sought, v->r, v->r) > enough)) return ABUT_OK;
        for (size_t i = 0; i < n3; i++)
            if (v->sought[i / 3]) v->q[i] = v->r[i] / v->diagonal[i / 3];
        before = rz;
        rz = dot(M, v->sought, v->r, v->q);
        for (size_t i = 0; i < n3; i++)
            if (v->sought[i / 3]) v->p[i] = v->q[i] + (k ? rz / before * v->p[i] : 0);
        abut_mass_multiply(M, v->p, v->q);
        const double alpha = rz / dot(M, v->sought, v->p, v->q);
        for (size_t i = 0; i < n3; i++)
            if (v->sought[i / 3]) v->x[i] += alpha * v->p[i], v->r[i] -= alpha * v->q[i];
    }
    return abut_fail(err, ABUT_E_NUMERIC, "mass matrix: conjugate gradients do not converge in %d iterations", MOST);
}

abut_status abut_mass_solve(const abut_mass *M, const uint8_t *known, double *f, abut_arena *scratch, abut_err *err)
{
    const abut_model *m = M->model;
    const size_t nv = (size_t)m->nv, n3 = 3 * nv;
    for (size_t i = 0; i < n3; i++)
        if (!abut_mass_order(M, (int32_t)(i / 3)) && m->role[i / 3] != ABUT_NODE_OBSTACLE) f[i] /= m->mass[i / 3];
    if (!M->order) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(scratch);
    const vectors v = { ABUT_NEW(scratch, double, n3), ABUT_NEW(scratch, double, n3), ABUT_NEW(scratch, double, n3),
                        ABUT_NEW(scratch, double, n3), ABUT_NEW(scratch, double, nv), ABUT_NEW(scratch, uint8_t, nv) };
    if (!v.x || !v.r || !v.p || !v.q || !v.diagonal || !v.sought)
        return abut_fail(err, ABUT_E_NOMEM, "mass matrix: %zu nodes", nv);
    for (int32_t i = 0; i < m->nv; i++) {
        v.sought[i] = M->order[i] && !(known && known[i]);
        if (v.sought[i]) v.diagonal[i] = M->val[entry(M, i, i)];
        for (size_t k = 3 * (size_t)i; k < 3 * (size_t)i + 3; k++)
            if (M->order[i] && !v.sought[i]) v.p[k] = f[k];
    }
    if (known) abut_mass_multiply(M, v.p, v.r);
    for (size_t i = 0; i < n3; i++) {
        v.r[i] = v.sought[i / 3] ? f[i] - v.r[i] : 0;
        v.p[i] = 0;
    }
    const abut_status rc = conjugate_gradients(M, &v, err);
    for (size_t i = 0; i < n3 && !rc; i++)
        if (v.sought[i / 3]) f[i] = v.x[i];
    abut_arena_release(scratch, mark);
    return rc;
}

abut_status abut_mass_accelerate(const abut_mass *M, double *f, double *acc, abut_arena *scratch, abut_err *err)
{
    const abut_model *m = M->model;
    const abut_status rc = abut_mass_solve(M, NULL, f, scratch, err);
    for (int32_t i = 0; i < 3 * m->nv && !rc; i++)
        if (m->role[i / 3] != ABUT_NODE_OBSTACLE) acc[i] += f[i];
    return rc;
}

/* ---- inertia ---- */

/* Inertia of the nodes that are not prescribed, 1/2 sum m |x - x_hat|^2; in quasi-static steps the work of the loads in its
 * place, which is the part of that linear in x: -sum m (x_hat - x_0).(x - x_0).  Nodes of tets of order 2 and more have terms
 * of their own. */

const abut_mass *abut_mass_of(const abut_terms *terms) { return abut_terms_find(terms, "inertia"); }

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    abut_mass *M = malloc(sizeof *M);
    if (!M) return abut_fail(err, ABUT_E_NOMEM, "inertia of %d nodes", w->model->nv);
    const abut_status rc = abut_mass_init(M, w->model, err);
    if (rc) return free(M), rc;
    *self = M;
    return ABUT_OK;
}

static void destroy(void *self)
{
    abut_mass_clear(self);
    free(self);
}

/* *e = scale times the sum of what `add` adds for every node. */
static abut_status sum_nodes(const void *self, const abut_at *at, int32_t nv,
                             void (*add)(const void *self, const abut_at *at, int32_t i, abut_acc *sum), double scale, double *e,
                             abut_arena *scratch, abut_err *err)
{
    const size_t nb = abut_blocks((size_t)nv);
    const abut_mark mark = abut_arena_mark(scratch);
    double *part = ABUT_ROOM(scratch, double, nb + 1);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "inertia: %zu partial sums", nb);
    #pragma omp parallel for schedule(static) if (nb > 2)
    for (size_t b = 0; b < nb; b++) {
        const abut_range r = abut_block((size_t)nv, b);
        abut_acc sum = { 0, 0 };
        for (int32_t i = (int32_t)r.lo; i < (int32_t)r.hi; i++) add(self, at, i, &sum);
        part[b] = sum.hi + sum.lo;
    }
    *e = scale * abut_sum(part, nb);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

static void node_energy(const void *self, const abut_at *at, int32_t i, abut_acc *total)
{
    const abut_mass *M = self;
    const abut_term_step *s = at->step;
    const double *x = at->x;
    double sum = 0;
    if (s->held[i] || abut_mass_order(M, i)) return;
    for (int k = 3 * i; k < 3 * i + 3; k++)
        sum += s->inertia ? 0.5 * ((x[k] - s->x_hat[k]) * (x[k] - s->x_hat[k])) : (s->x0[k] - s->x_hat[k]) * (x[k] - s->x0[k]);
    abut_acc_add(total, M->model->mass[i] * sum);
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    return sum_nodes(self, at, ((const abut_mass *)self)->model->nv, node_energy, scale, e, scratch, err);
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const abut_mass *M = self;
    const abut_model *m = M->model;
    const abut_term_step *s = at->step;
    (void)scratch, (void)err;
    #pragma omp parallel for schedule(static) if ((size_t)m->nv >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < m->nv; i++)
        for (int k = 3 * i; k < 3 * i + 3 && !s->held[i] && !abut_mass_order(M, i); k++)
            g[k] += scale * (m->mass[i] * ((s->inertia ? at->x[k] : s->x0[k]) - s->x_hat[k]));
    return ABUT_OK;
}

static void diagonal(const void *self, const abut_term_step *s, double scale, double *diag)
{
    const abut_mass *M = self;
    const abut_model *m = M->model;
    for (int32_t i = 0; i < m->nv; i++)
        if (!s->held[i]) diag[i] += scale * (m->mass[i] * ((abut_mass_order(M, i) ? 0 : s->inertia) + s->shift));
}

const abut_term_ops abut_term_inertia = { .name = "inertia", .kind = ABUT_TERM_INERTIA, .weight = ABUT_TERM_WEIGHED,
                                          .make = make, .energy = energy, .gradient = gradient,
                                          .diagonal = diagonal, .free = destroy };

/* ---- prescribed nodes ---- */

typedef struct prescribed {
    abut_lagrangian al;     /* first: abut_lagrangian_of */
    const abut_model *model;
} prescribed;

abut_lagrangian *abut_lagrangian_of(const abut_terms *terms) { return abut_terms_find(terms, "lagrangian"); }

static abut_status held_make(void **self, const abut_term_world *w, abut_err *err)
{
    prescribed *p = *self = calloc(1, sizeof *p);
    if (p) *p = (prescribed){ { .lam = calloc(3 * (size_t)w->model->nv + 1, sizeof(double)) }, w->model };
    if (p && p->al.lam) return ABUT_OK;
    free(p);
    return *self = NULL, abut_fail(err, ABUT_E_NOMEM, "prescribed nodes: %d nodes", w->model->nv);
}

static void held_destroy(void *self)
{
    prescribed *p = self;
    ABUT_FREE(p->al.lam, p);
}

static abut_status held_load(void *self, const abut_frame *f, const abut_term_frame *as, abut_err *err)
{
    prescribed *p = self;
    (void)err;
    p->al.on = as->pending && f->penalty;
    if (!p->al.on) return ABUT_OK;
    p->al.kap = f->penalty[0];
    memcpy(p->al.lam, f->multiplier, 3 * (size_t)p->model->nv * sizeof *p->al.lam);
    return ABUT_OK;
}

static abut_status held_store(const void *self, const abut_term_frame *as, abut_arrays *out, abut_err *err)
{
    const prescribed *p = self;
    if (!as->pending || !p->al.on) return ABUT_OK;
    double *kap = abut_frame_put(out, "step/penalty", 1, err);
    if (!kap) return err->code;
    *kap = p->al.kap;
    double *lam = abut_frame_put(out, "step/multiplier", p->model->nv, err);
    if (!lam) return err->code;
    memcpy(lam, p->al.lam, 3 * (size_t)p->model->nv * sizeof *lam);
    return ABUT_OK;
}

static void held_node(const void *self, const abut_at *at, int32_t i, abut_acc *sum)
{
    const prescribed *p = self;
    const double m = p->model->mass[i];
    double d2 = 0, ld = 0;
    if (!at->step->held[i]) return;
    for (int k = 3 * i; k < 3 * i + 3; k++) {
        const double d = at->x[k] - at->step->target[k];
        d2 += d * d;
        ld += p->al.lam[k] * d;
    }
    abut_acc_add(sum, 0.5 * p->al.kap * m * d2 - sqrt(m) * ld);
}

static abut_status held_energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    const prescribed *p = self;
    *e = 0;
    return p->al.on ? sum_nodes(p, at, p->model->nv, held_node, scale, e, scratch, err) : ABUT_OK;
}

static abut_status held_gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const prescribed *p = self;
    const abut_model *m = p->model;
    (void)scratch, (void)err;
    #pragma omp parallel for schedule(static) if ((size_t)m->nv >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < m->nv; i++)
        for (int k = 3 * i; k < 3 * i + 3 && p->al.on && at->step->held[i]; k++)
            g[k] += scale * (p->al.kap * m->mass[i] * (at->x[k] - at->step->target[k]) - sqrt(m->mass[i]) * p->al.lam[k]);
    return ABUT_OK;
}

static void held_diagonal(const void *self, const abut_term_step *s, double scale, double *diag)
{
    const prescribed *p = self;
    for (int32_t i = 0; i < p->model->nv && p->al.on; i++)
        if (s->held[i]) diag[i] += scale * (p->model->mass[i] * p->al.kap);
}

const abut_term_ops abut_term_prescribed = { .name = "lagrangian", .kind = ABUT_TERM_CONSTRAINT, .weight = ABUT_TERM_WEIGHED,
                                             .make = held_make, .load = held_load, .store = held_store,
                                             .energy = held_energy, .gradient = held_gradient, .diagonal = held_diagonal,
                                             .free = held_destroy };

/* ---- inertia of tets of higher order ---- */

/* Inertia of the tets of one order, 1/2 (x - x_hat)^T M (x - x_hat) with their part M of the mass matrix; in
 * quasi-static steps -(x_hat - x_0)^T M (x - x_0).  Prescribed nodes are in it: they pull their neighbours along. */
typedef struct inertia_high {
    const abut_mass *mass;
    int order;
    double *d;          /* [3 nv] x - x_hat, or x_0 - x_hat */
} inertia_high;

static abut_status high_make(void **self, const abut_term_world *w, int order, abut_err *err)
{
    const abut_mass *mass = abut_mass_of(w->before);
    if (!mass->element[order]) return ABUT_OK;
    inertia_high *t = malloc(sizeof *t);
    if (t) *t = (inertia_high){ mass, order, malloc(3 * (size_t)w->model->nv * sizeof(double)) };
    if (t && t->d) return *self = t, ABUT_OK;
    free(t);
    return abut_fail(err, ABUT_E_NOMEM, "inertia of %d nodes", w->model->nv);
}

static void high_destroy(void *self)
{
    ABUT_FREE(((inertia_high *)self)->d, self);
}

/* x - x_hat; without inertia x_0 - x_hat */
static const double *difference(const inertia_high *t, const abut_at *at)
{
    const double *from = at->step->inertia ? at->x : at->step->x0, *to = at->step->x_hat;
    for (size_t i = 0; i < 3 * (size_t)t->mass->model->nv; i++) t->d[i] = from[i] - to[i];
    return t->d;
}

static void high_node(const void *self, const abut_at *at, int32_t i, abut_acc *sum)
{
    const inertia_high *t = self;
    const double *x0 = at->step->x0;
    double f[3];
    if (t->mass->order[i] != t->order) return;
    abut_mass_row(t->mass, t->d, i, f);
    for (int k = 0; k < 3; k++) {
        const size_t at_k = 3 * (size_t)i + (size_t)k;
        abut_acc_add(sum, at->step->inertia ? 0.5 * f[k] * t->d[at_k] : f[k] * (at->x[at_k] - x0[at_k]));
    }
}

static abut_status high_energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    const inertia_high *t = self;
    (void)difference(t, at);
    return sum_nodes(t, at, t->mass->model->nv, high_node, scale, e, scratch, err);
}

static abut_status high_gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const inertia_high *t = self;
    const abut_mass *M = t->mass;
    const double *d = difference(t, at);
    (void)scratch, (void)err;
    #pragma omp parallel for schedule(static) if ((size_t)M->model->nv >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < M->model->nv; i++) {
        double f[3];
        if (M->order[i] != t->order) continue;
        abut_mass_row(M, d, i, f);
        for (int k = 0; k < 3; k++) g[3 * (size_t)i + (size_t)k] += scale * f[k];
    }
    return ABUT_OK;
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    const inertia_high *t = self;
    if (at->step->inertia) abut_mass_add_elements(t->mass, t->order, scale, lo, hi, val);
}

#define TERM_OF_ORDER(k) \
    static abut_status make_##k(void **self, const abut_term_world *w, abut_err *err) { return high_make(self, w, k, err); } \
    const abut_term_ops abut_term_inertia_##k = { .name = "inertia of order " #k, .kind = ABUT_TERM_INERTIA, \
                                                  .weight = ABUT_TERM_WEIGHED, .make = make_##k, .energy = high_energy, \
                                                  .gradient = high_gradient, .set = "tets of order " #k, .hessian = hessian, \
                                                  .free = high_destroy };
TERM_OF_ORDER(2)
TERM_OF_ORDER(3)
TERM_OF_ORDER(4)

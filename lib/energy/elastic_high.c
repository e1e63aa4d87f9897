#include "energy/elastic_high.h"

#include "base/par.h"
#include "energy/elastic.h"
#include "energy/elastic_high_lanes.h"
#include "energy/term.h"
#include "geom/lagrange.h"
#include "geom/quadrature.h"
#include "math/mat3.h"
#include "math/svd3.h"
#include "model/tets.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void fill(abut_basis_table *b, const abut_quadrature *q)
{
    for (int i = 0; i < ABUT_LANES * b->groups; i++) {
        const int from = i < q->n ? i : i / ABUT_LANES * ABUT_LANES, g = i / ABUT_LANES, l = i % ABUT_LANES;
        double dphi[ABUT_TET_NODES_MAX][3];
        b->w[i] = i < q->n ? q->w[i] : 0;
        memcpy(b->L + 4 * i, q->L + 4 * from, 4 * sizeof *b->L);
        abut_tet_basis(b->order, q->L + 4 * from, b->phi + (size_t)i * (size_t)b->nodes, dphi);
        for (int a = 0; a < b->nodes; a++)
            for (int c = 0; c < 3; c++) {
                b->by_node[ABUT_LANES * (3 * (g * b->nodes + a) + c) + l] = dphi[a][c];
                b->by_point[(3 * i + c) * b->wide + a] = dphi[a][c];
            }
    }
}

abut_status abut_basis_table_init(abut_basis_table *b, int order, int degree, abut_err *err)
{
    assert(order >= 1 && order <= ABUT_ORDER_MAX);
    abut_quadrature q;
    *b = (abut_basis_table){ .order = order, .nodes = abut_tet_nodes(order) };
    const abut_status rc = abut_quadrature_tet(degree, &q, err);
    if (rc) return rc;
    b->n = q.n;
    b->groups = (q.n + ABUT_LANES - 1) / ABUT_LANES;
    b->wide = (b->nodes + ABUT_LANES - 1) / ABUT_LANES * ABUT_LANES;
    const size_t points = (size_t)(ABUT_LANES * b->groups), nodes = (size_t)b->nodes;
    b->w = malloc(points * sizeof *b->w);
    b->L = malloc(points * 4 * sizeof *b->L);
    b->phi = malloc(points * nodes * sizeof *b->phi);
    b->by_node = malloc(points * nodes * 3 * sizeof *b->by_node);
    b->by_point = calloc(points * 3 * (size_t)b->wide, sizeof *b->by_point);
    const int ok = b->w && b->L && b->phi && b->by_node && b->by_point;
    if (ok) fill(b, &q);
    else abut_basis_table_clear(b);
    abut_quadrature_clear(&q);
    return ok ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "bases of order %d at %zu points", order, points);
}

void abut_basis_table_clear(abut_basis_table *b)
{
    free(b->w);
    free(b->L);
    free(b->phi);
    free(b->by_node);
    free(b->by_point);
    *b = (abut_basis_table){ 0 };
}

/* ---- rest shape ---- */

/* The degree at which energies of tet t are integrated, whose map has order g. */
static abut_status degree_of(const abut_elastic_high *e, int32_t t, int g, int32_t number, int *degree, abut_err *err)
{
    const abut_model *m = e->model;
    const int least = abut_degree_elastic(e->order, g), asked = m->mat_quadrature ? m->mat_quadrature[2 * m->tet_mat[t]] : 0;
    *degree = asked ? asked : least;
    if (*degree >= least) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "array 'material/quadrature' row %d: degree %d for tet %d of order %d with a map of "
                     "order %d, expected at least %d", m->tet_mat[t], asked, number, e->order, g, least);
}

static abut_status inverted(int32_t number, int point, double det, abut_err *err)
{
    return abut_fail(err, ABUT_E_GEOM, "tet %d: det J %g m^3 at rest at its quadrature point %d, expected > 0", number, det,
                     point);
}

/* One row of shape[] for a straight tet. */
static abut_status straight_shape(const double (*X)[3], double fill, int32_t number, double *s, abut_err *err)
{
    const double centre[4] = { 0.25, 0.25, 0.25, 0.25 };
    double J[9];
    const double det = abut_tet_point(1, X, centre, NULL, J);
    if (!(det > 0)) return inverted(number, 0, det, err);
    (void)abut_m3_inverse(s, J);
    s[9] = fill * det / 6;
    return ABUT_OK;
}

/* Ten rows of four for each group of points of a curved one, whose map has order g. */
static abut_status curved_shape(const abut_basis_table *b, int g, const double (*X)[3], double fill, int32_t number, double *s,
                                abut_err *err)
{
    for (int i = 0; i < ABUT_LANES * b->groups; i++) {
        double J[9], Ji[9], *row = s + 10 * ABUT_LANES * (i / ABUT_LANES) + i % ABUT_LANES;
        const double det = abut_tet_point(g, X, b->L + 4 * i, NULL, J);
        if (!(det > 0)) return inverted(number, i, det, err);
        (void)abut_m3_inverse(Ji, J);
        for (int k = 0; k < 9; k++) row[ABUT_LANES * k] = Ji[k];
        row[ABUT_LANES * 9] = fill * b->w[i] * det / 6;
    }
    return ABUT_OK;
}

static size_t shape_size(const abut_elastic_high *e, int32_t t)
{
    return e->straight[t] ? 10 : 10 * ABUT_LANES * (size_t)e->table[e->degree[t]].groups;
}

/* Degrees, tables and places in shape[]; *room: how much that is. */
static abut_status rules(abut_elastic_high *e, const int32_t *number, size_t *room, abut_err *err)
{
    abut_status rc = ABUT_OK;
    *room = 0;
    for (int32_t t = 0; t < e->n && !rc; t++) {
        double X[3 * ABUT_TET_NODES_MAX];
        const int32_t of = e->first + t;
        abut_tet_geometry(e->model, of, X);
        const int g = abut_tet_least_order(abut_tet_geometry_order(e->model, of), (const double(*)[3])X);
        int degree = 1;
        rc = degree_of(e, of, g, number ? number[of] : of, &degree, err);
        if (!rc && !e->table[degree].n) rc = abut_basis_table_init(&e->table[degree], e->order, degree, err);
        if (rc) break;
        e->degree[t] = (uint8_t)degree;
        e->straight[t] = g == 1;
        e->rest[t] = *room;
        *room += shape_size(e, t);
        (void)abut_tet_corners(e->model, of, e->node + (size_t)t * (size_t)e->nodes);
    }
    return rc;
}

static abut_status shapes(abut_elastic_high *e, const int32_t *number, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int32_t t = 0; t < e->n && !rc; t++) {
        double X[3 * ABUT_TET_NODES_MAX];
        const int32_t of = e->first + t, name = number ? number[of] : of;
        const double fill = e->model->tet_fill ? e->model->tet_fill[of] : 1;
        double *s = e->shape + e->rest[t];
        abut_tet_geometry(e->model, of, X);
        const int g = abut_tet_geometry_order(e->model, of);
        if (e->straight[t]) rc = straight_shape((const double(*)[3])X, fill, name, s, err);
        else rc = curved_shape(&e->table[e->degree[t]], g, (const double(*)[3])X, fill, name, s, err);
    }
    return rc;
}

/* corners by node, in the order of corners */
static void incidence(abut_elastic_high *e)
{
    const int32_t corners = e->n * e->nodes, nv = e->model->nv;
    int32_t *first = e->inc_first;
    for (int32_t c = 0; c < corners; c++) first[e->node[c] + 1]++;
    for (int32_t i = 0; i < nv; i++) first[i + 1] += first[i];
    for (int32_t c = 0; c < corners; c++) e->inc[first[e->node[c]]++] = c;
    for (int32_t i = nv; i > 0; i--) first[i] = first[i - 1];
    first[0] = 0;
}

/* The tets of the order, which are neighbours. */
static void range_of(abut_elastic_high *e)
{
    const abut_model *m = e->model;
    while (e->first < m->nt && abut_tet_order(m, e->first) != e->order) e->first++;
    while (e->first + e->n < m->nt && abut_tet_order(m, e->first + e->n) == e->order) e->n++;
    for (int32_t t = e->first + e->n; t < m->nt; t++) assert(abut_tet_order(m, t) != e->order);
}

abut_status abut_elastic_high_init(abut_elastic_high *e, const abut_model *m, int order, const int32_t *number, abut_err *err)
{
    assert(m && order > 1);
    *e = (abut_elastic_high){ .model = m, .order = order, .nodes = abut_tet_nodes(order) };
    range_of(e);
    if (e->n > INT32_MAX / e->nodes)
        return abut_fail(err, ABUT_E_FORMAT, "%d tets of order %d: more than %d", e->n, order, INT32_MAX / e->nodes);
    const size_t n = (size_t)e->n + 1, corners = n * (size_t)e->nodes;
    size_t room = 0;
    e->node = malloc(corners * sizeof *e->node);
    e->degree = malloc(n);
    e->straight = malloc(n);
    e->rest = malloc(n * sizeof *e->rest);
    e->inc_first = calloc((size_t)m->nv + 1, sizeof *e->inc_first);
    e->inc = malloc(corners * sizeof *e->inc);
    abut_status rc = ABUT_OK;
    if (!e->node || !e->degree || !e->straight || !e->rest || !e->inc_first || !e->inc)
        rc = abut_fail(err, ABUT_E_NOMEM, "rest shapes of %d tets of order %d", e->n, order);
    if (!rc) rc = abut_model_laws_init(&e->laws, m, err);
    if (!rc) rc = rules(e, number, &room, err);
    if (!rc && !(e->shape = malloc((room + 1) * sizeof *e->shape)))
        rc = abut_fail(err, ABUT_E_NOMEM, "rest shapes of %d tets of order %d: %zu numbers", e->n, order, room);
    if (!rc) rc = shapes(e, number, err);
    if (!rc) incidence(e);
    if (rc) abut_elastic_high_clear(e);
    return rc;
}

void abut_elastic_high_clear(abut_elastic_high *e)
{
    abut_model_laws_clear(&e->laws);
    for (int k = 0; k <= ABUT_QUADRATURE_MAX; k++) abut_basis_table_clear(&e->table[k]);
    free(e->node);
    free(e->degree);
    free(e->straight);
    free(e->rest);
    free(e->shape);
    free(e->inc_first);
    free(e->inc);
    *e = (abut_elastic_high){ 0 };
}

double abut_elastic_high_volume(const abut_elastic_high *e, int32_t t)
{
    const double *s = e->shape + e->rest[t];
    double sum = 0;
    if (e->straight[t]) return s[9];
    for (int g = 0; g < e->table[e->degree[t]].groups; g++)
        for (int l = 0; l < ABUT_LANES; l++) sum += s[ABUT_LANES * (10 * g + 9) + l];
    return sum;
}

double abut_elastic_high_stiffness(const abut_elastic_high *e)
{
    abut_acc sum = { 0, 0 };
    for (int32_t t = 0; t < e->n; t++) {
        const double *lame = e->laws.lame + 2 * e->model->tet_mat[e->first + t];
        abut_acc_add(&sum, abut_elastic_high_volume(e, t) * (lame[0] + lame[1]));
    }
    return sum.hi + sum.lo;
}

/* ---- energy and gradient ---- */

/* S[point][3 d + c] = w sum over j of P_dj J^-1_cj */
ABUT_LANES_INLINE void pulled_back(const abut_lanes *P, const abut_lanes *Ji, const abut_lanes *w, double (*S)[9])
{
    for (int d = 0; d < 3; d++)
        for (int c = 0; c < 3; c++) {
            const abut_lanes s = *w * (P[3 * d] * Ji[3 * c] + P[3 * d + 1] * Ji[3 * c + 1] + P[3 * d + 2] * Ji[3 * c + 2]);
            for (int l = 0; l < ABUT_LANES; l++) S[l][3 * d + c] = s[l];
        }
}

/* J, and f[3 nodes]; nodes is a literal at every call */
ABUT_LANES_INLINE double evaluate_tet(const abut_elastic_high *e, int nodes, int32_t t, const double *x, double *f)
{
    const abut_basis_table *b = &e->table[e->degree[t]];
    const int32_t material = e->model->tet_mat[e->first + t];
    const double *fibre = e->model->tet_fibre ? e->model->tet_fibre + 3 * (size_t)(e->first + t) : NULL;
    double u[3 * ABUT_TET_NODES_MAX], sum = 0;
    abut_high_displacements(e, t, x, u);
    for (int i = 0; i < 3 * nodes; i++) f[i] = 0;
    for (int g = 0; g < b->groups; g++) {
        const int n = b->n - ABUT_LANES * g < ABUT_LANES ? b->n - ABUT_LANES * g : ABUT_LANES;
        abut_lanes G[9], Ji[9], F[9], P[9], psi, w;
        double S[ABUT_LANES][9];
        abut_high_gradients(b, nodes, g, u, G);
        abut_high_rest(e, t, g, Ji, &w);
        abut_high_deformation(G, Ji, F);
        abut_model_law_stress(&e->laws, material, fibre, F, &psi, P);
        pulled_back(P, Ji, &w, S);
        abut_high_spread(b, nodes, g, n, (const double(*)[9])S, f);
        for (int l = 0; l < n; l++) sum += w[l] * psi[l];
    }
    return sum;
}

ABUT_LANES_CLONES
static double evaluate_one(const abut_elastic_high *e, int32_t t, const double *x, double *f)
{
    switch (e->order) {
    case 2: return evaluate_tet(e, 10, t, x, f);
    case 3: return evaluate_tet(e, 20, t, x, f);
    default: return evaluate_tet(e, 35, t, x, f);
    }
}

abut_status abut_elastic_high_evaluate(const abut_elastic_high *e, const double *x, double *energy, double *f,
                                       abut_arena *scratch, abut_err *err)
{
    const abut_mark mark = abut_arena_mark(scratch);
    double *part = ABUT_NEW(scratch, double, (size_t)e->n + 1);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "elastic energy: %d tets of order %d", e->n, e->order);
    #pragma omp parallel for schedule(static) if (abut_elastic_high_is_large(e))
    for (int32_t t = 0; t < e->n; t++) part[t] = evaluate_one(e, t, x, f + 3 * (size_t)t * (size_t)e->nodes);
    const double total = abut_sum(part, (size_t)e->n);
    abut_arena_release(scratch, mark);
    *energy = isfinite(total) ? total : INFINITY;
    return ABUT_OK;
}

void abut_elastic_high_gather(const abut_elastic_high *e, const double *f, double scale, double *g)
{
    const int32_t nv = e->model->nv;
    #pragma omp parallel for schedule(static) if ((size_t)nv >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < nv; i++) {
        double sum[3] = { 0, 0, 0 };
        for (int32_t k = e->inc_first[i]; k < e->inc_first[i + 1]; k++)
            for (int d = 0; d < 3; d++) sum[d] += f[3 * (size_t)e->inc[k] + (size_t)d];
        for (int d = 0; d < 3; d++) g[3 * (size_t)i + (size_t)d] += scale * sum[d];
    }
}

/* ---- points ---- */

/* F and volumes of the points of group g. */
static void deformations(const abut_elastic_high *e, const double *u, int32_t t, int g, abut_lanes *F, abut_lanes *w)
{
    abut_lanes G[9], Ji[9];
    abut_high_gradients(&e->table[e->degree[t]], e->nodes, g, u, G);
    abut_high_rest(e, t, g, Ji, w);
    abut_high_deformation(G, Ji, F);
}

/* sigma = P F^T / J; NaN where there is no stress.  Returns J. */
static double cauchy(const double P[9], const double F[9], double psi, double sigma[9])
{
    const double J = abut_m3_det(F);
    abut_m3_mul_nt(sigma, P, F);
    for (int i = 0; i < 9; i++) sigma[i] = isfinite(psi) && J != 0 ? sigma[i] / J : NAN;
    return J;
}

double abut_elastic_high_stress(const abut_elastic_high *e, const double *x, int32_t t, double *stress, double *mean_F,
                                double *mean_sigma)
{
    const abut_basis_table *b = &e->table[e->degree[t]];
    const abut_model *m = e->model;
    double u[3 * ABUT_TET_NODES_MAX], least = INFINITY, sum = 0, volume = 0, mean[18] = { 0 };
    abut_high_displacements(e, t, x, u);
    for (int i = 0; i < b->n; i++) {
        abut_lanes F[9], P[9], psi, w;
        double f[9], p[9], s[9];
        const int l = i % ABUT_LANES;
        deformations(e, u, t, i / ABUT_LANES, F, &w);
        abut_model_law_stress(&e->laws, m->tet_mat[e->first + t], m->tet_fibre ? m->tet_fibre + 3 * (size_t)(e->first + t) : NULL,
                              F, &psi, P);
        for (int k = 0; k < 9; k++) f[k] = F[k][l], p[k] = P[k][l];
        least = fmin(least, cauchy(p, f, psi[l], s));
        sum += w[l] * abut_von_mises(s);
        volume += w[l];
        for (int k = 0; k < 9; k++) mean[k] += w[l] * f[k], mean[9 + k] += w[l] * s[k];
    }
    for (int k = 0; k < 9 && mean_F; k++) mean_F[k] = mean[k] / volume, mean_sigma[k] = mean[9 + k] / volume;
    *stress = sum / volume;
    return least;
}

void abut_elastic_high_stretch(const abut_elastic_high *e, const double *x, int32_t t, double *least, double *largest)
{
    const abut_basis_table *b = &e->table[e->degree[t]];
    double u[3 * ABUT_TET_NODES_MAX];
    abut_high_displacements(e, t, x, u);
    *least = INFINITY, *largest = -INFINITY;
    for (int g = 0; g < b->groups; g++) {
        abut_lanes F[9], U[9], s[3], V[9], w;
        deformations(e, u, t, g, F, &w);
        abut_svd3_lanes(F, U, s, V);
        for (int l = 0; l < ABUT_LANES; l++) *least = fmin(*least, s[2][l]), *largest = fmax(*largest, s[0][l]);
    }
}

/* ---- terms ---- */

/* The tets of each order from 2 on as terms; their step bound is in the term "elastic". */
typedef struct elastic_high {
    abut_elastic_high e;    /* first: abut_elastic_high_of */
    double *x, *f, energy;  /* energy and forces at the last point: a search asks for the energy of a trial point and then,
                             * mostly, for the gradient there */
    int holds;
} elastic_high;

abut_elastic_high *abut_elastic_high_of(const abut_terms *terms, int order)
{
    static const char *const name[] = { [2] = "elastic of order 2", [3] = "elastic of order 3", [4] = "elastic of order 4" };
    return abut_terms_find(terms, name[order]);
}

static void destroy(void *self)
{
    elastic_high *t = self;
    abut_elastic_high_clear(&t->e);
    free(t->x);
    free(t->f);
    free(t);
}

static abut_status make(void **self, const abut_term_world *w, int order, abut_err *err)
{
    elastic_high *t = calloc(1, sizeof *t);
    if (!t) return abut_fail(err, ABUT_E_NOMEM, "elasticity: %d tets", w->model->nt);
    const abut_status rc = abut_elastic_high_init(&t->e, w->model, order, w->reordered ? w->reordered->number : NULL, err);
    if (rc || !t->e.n) return destroy(t), rc;
    t->x = malloc(3 * (size_t)w->model->nv * sizeof *t->x);
    t->f = malloc(3 * (size_t)t->e.n * (size_t)t->e.nodes * sizeof *t->f);
    if (t->x && t->f) return *self = t, ABUT_OK;
    destroy(t);
    return abut_fail(err, ABUT_E_NOMEM, "elasticity: forces of %d tets of order %d", w->model->nt, order);
}

static double stiffness(const void *self) { return abut_elastic_high_stiffness(self); }

static abut_status recall(elastic_high *t, const double *x, abut_arena *scratch, abut_err *err)
{
    const size_t bytes = 3 * (size_t)t->e.model->nv * sizeof *x;
    if (t->holds && !memcmp(t->x, x, bytes)) return ABUT_OK;
    t->holds = 0;
    const abut_status rc = abut_elastic_high_evaluate(&t->e, x, &t->energy, t->f, scratch, err);
    if (rc) return rc;
    memcpy(t->x, x, bytes);
    t->holds = 1;
    return ABUT_OK;
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    elastic_high *t = self;
    const abut_status rc = recall(t, at->z, scratch, err);
    if (!rc) *e = scale * t->energy;
    return rc;
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    elastic_high *t = self;
    const abut_status rc = recall(t, at->z, scratch, err);
    if (!rc) abut_elastic_high_gather(&t->e, t->f, scale, g);
    return rc;
}

static abut_status elements(void *self, const abut_at *at, abut_elements *set, abut_err *err)
{
    const abut_elastic_high *e = self;
    (void)at, (void)err;
    set->corners = e->nodes, set->n = (size_t)e->n, set->row = e->node;
    return ABUT_OK;
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    abut_elastic_high_hessian(self, at->z, scale, lo, hi, val);
}

#define TERM_OF_ORDER(k) \
    static abut_status make_##k(void **self, const abut_term_world *w, abut_err *err) { return make(self, w, k, err); } \
    const abut_term_ops abut_term_elastic_##k = { .name = "elastic of order " #k, .kind = ABUT_TERM_POTENTIAL, \
                                                  .weight = ABUT_TERM_AT_Z, .make = make_##k, .stiffness = stiffness, \
                                                  .energy = energy, .gradient = gradient, .set = "tets of order " #k, \
                                                  .set_is = ABUT_SET_LASTS | ABUT_SET_FUSED, .elements = elements, \
                                                  .hessian = hessian, .free = destroy };
TERM_OF_ORDER(2)
TERM_OF_ORDER(3)
TERM_OF_ORDER(4)

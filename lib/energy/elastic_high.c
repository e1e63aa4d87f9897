#include "energy/elastic_high.h"

#include "base/order.h"
#include "base/par.h"
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

static void basis_table_clear(abut_basis_table *b)
{
    ABUT_FREE(b->w, b->L, b->phi, b->by_node, b->by_point);
    *b = (abut_basis_table){ 0 };
}

/* Tabulates the bases of `order` at the points of a quadrature of at least `degree`. */
static abut_status basis_table_init(abut_basis_table *b, int order, int degree, abut_err *err)
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
    const int ok = ABUT_ARRAYS(ABUT_ITEMS(b->w, points), ABUT_ITEMS(b->L, points * 4), ABUT_ITEMS(b->phi, points * nodes),
                               ABUT_ITEMS(b->by_node, points * nodes * 3), ABUT_ZEROS(b->by_point, points * 3 * (size_t)b->wide));
    if (ok) fill(b, &q);
    else basis_table_clear(b);
    abut_quadrature_clear(&q);
    return ok ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "bases of order %d at %zu points", order, points);
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
        if (!rc && !e->table[degree].n) rc = basis_table_init(&e->table[degree], e->order, degree, err);
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
    if (!rc) abut_list_groups(e->node, (size_t)e->n * (size_t)e->nodes, m->nv, e->inc_first, e->inc);
    if (rc) abut_elastic_high_clear(e);
    return rc;
}

void abut_elastic_high_clear(abut_elastic_high *e)
{
    abut_model_laws_clear(&e->laws);
    for (int k = 0; k <= ABUT_QUADRATURE_MAX; k++) basis_table_clear(&e->table[k]);
    ABUT_FREE(e->node, e->degree, e->straight, e->rest, e->shape, e->inc_first, e->inc);
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

/* ---- four points at a time ---- */

/* Displacements of the nodes of tet t, less that of its first: u[3 nodes]. */
ABUT_LANES_INLINE void displacements(const abut_elastic_high *e, int32_t t, const double *x, double *u)
{
    const int32_t *node = e->node + (size_t)t * (size_t)e->nodes;
    const double *X = e->model->X, *x0 = x + 3 * (size_t)node[0], *X0 = X + 3 * (size_t)node[0];
    for (int a = 0; a < e->nodes; a++)
        for (int d = 0; d < 3; d++) {
            const size_t i = 3 * (size_t)node[a] + (size_t)d;
            u[3 * a + d] = (x[i] - x0[d]) - (X[i] - X0[d]);
        }
}

/* J^-1 and volumes of the points of group g of tet t. */
ABUT_LANES_INLINE void rest_of(const abut_elastic_high *e, int32_t t, int g, abut_lanes *Ji, abut_lanes *w)
{
    const double *s = e->shape + e->rest[t], *four = s + 10 * ABUT_LANES * g;
    const int straight = e->straight[t];
    for (int k = 0; k < 10; k++) {
        abut_lanes v = ABUT_LANES_ALL(s[k]);
        if (!straight) v = *(const abut_lanes_anywhere *)(four + ABUT_LANES * k);
        *(k < 9 ? Ji + k : w) = v;
    }
    if (straight) *w *= *(const abut_lanes_anywhere *)(e->table[e->degree[t]].w + ABUT_LANES * g);
}

/* G[3 d + c] = du_d/dxi_c at the points of group g. */
ABUT_LANES_INLINE void gradients_at(const abut_basis_table *b, int nodes, int g, const double *u, abut_lanes *G)
{
    const double *D = b->by_node + (size_t)(ABUT_LANES * 3 * nodes) * (size_t)g;
    for (int k = 0; k < 9; k++) G[k] = ABUT_LANES_ALL(0.);
    for (int a = 0; a < nodes; a++, D += 3 * ABUT_LANES)
        for (int c = 0; c < 3; c++) {
            const abut_lanes dphi = *(const abut_lanes_anywhere *)(D + ABUT_LANES * c);
            for (int d = 0; d < 3; d++) G[3 * d + c] += u[3 * a + d] * dphi;
        }
}

/* F = I + G J^-1, J^-1 and volumes of the points of group g. */
ABUT_LANES_INLINE void deformations(const abut_elastic_high *e, int nodes, const double *u, int32_t t, int g, abut_lanes *F,
                                    abut_lanes *Ji, abut_lanes *w)
{
    abut_lanes G[9];
    gradients_at(&e->table[e->degree[t]], nodes, g, u, G);
    rest_of(e, t, g, Ji, w);
    for (int d = 0; d < 3; d++)
        for (int j = 0; j < 3; j++)
            F[3 * d + j] = G[3 * d] * Ji[j] + G[3 * d + 1] * Ji[3 + j] + G[3 * d + 2] * Ji[6 + j] + (d == j ? 1. : 0.);
}

/* f[3 nodes] += sum over the points of S[point][3 d + c] dphi_a/dxi_c, of points 4 g .. 4 g + n - 1. */
ABUT_LANES_INLINE void spread(const abut_basis_table *b, int nodes, int g, int n, const double (*S)[9], double *f)
{
    enum { MOST = 9 };
    const int wide = (nodes + ABUT_LANES - 1) / ABUT_LANES;
    const double *D = b->by_point + (size_t)(3 * ABUT_LANES * g) * (size_t)b->wide;
    for (int d = 0; d < 3; d++) {
        abut_lanes sum[MOST];
        for (int v = 0; v < wide; v++) sum[v] = ABUT_LANES_ALL(0.);
        for (int q = 0; q < n; q++)
            for (int c = 0; c < 3; c++) {
                const double s = S[q][3 * d + c], *row = D + (3 * q + c) * b->wide;
                for (int v = 0; v < wide; v++) sum[v] += s * *(const abut_lanes_anywhere *)(row + ABUT_LANES * v);
            }
        for (int a = 0; a < nodes; a++) f[3 * a + d] += sum[a / ABUT_LANES][a % ABUT_LANES];
    }
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
    displacements(e, t, x, u);
    for (int i = 0; i < 3 * nodes; i++) f[i] = 0;
    for (int g = 0; g < b->groups; g++) {
        const int n = b->n - ABUT_LANES * g < ABUT_LANES ? b->n - ABUT_LANES * g : ABUT_LANES;
        abut_lanes Ji[9], F[9], P[9], psi, w;
        double S[ABUT_LANES][9];
        deformations(e, nodes, u, t, g, F, Ji, &w);
        abut_model_law_stress(&e->laws, material, fibre, F, &psi, P);
        pulled_back(P, Ji, &w, S);
        spread(b, nodes, g, n, (const double(*)[9])S, f);
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

/* ---- projected Hessians ----
 *
 * At a point the modulus A_dc,ke = w J^-1_ci (d2psi/dF_di dF_kj) J^-1_ej (d, k in space; c, e axes of xi) is independent of the
 * bases.  The block of nodes a, b is K_dk = sum over points and axes of dphi_a/dxi_c A_dc,ke dphi_b/dxi_e: for each d, k a
 * product of two matrices with (point, axis) inside. */

#include "math/forms_lanes.h"
#define PRINCIPAL abut_principals
#include "energy/tet_forms.h"
#undef PRINCIPAL
#include "math/forms_end.h"

enum { BLOCKS = 6, MODULI = BLOCKS * 9 * ABUT_LANES,     /* numbers of a group of points */
       AT_ONCE = 8,                                      /* groups whose products are summed before they are added */
       INSIDE = 3 * ABUT_LANES * AT_ONCE, WIDEST = (ABUT_TET_NODES_MAX + ABUT_LANES - 1) / ABUT_LANES * ABUT_LANES };

/* Number of the block of axes c <= e. */
static inline int block_of(int c, int e) { return c * (5 - c) / 2 + e; }

size_t abut_elastic_high_moduli_size(const abut_elastic_high *e, int32_t t)
{
    return (size_t)MODULI * (size_t)e->table[e->degree[t]].groups;
}

/* Adds the moduli of fibres along d at the points of a group: (J^-1 d)_c (J^-1 d)_e M */
static void add_fibres(double kappa, const double d[3], const abut_lanes F[9], const abut_lanes Ji[9], const abut_lanes *w,
                       abut_lanes *A)
{
    for (int l = 0; l < ABUT_LANES; l++) {
        double f[9], M[9], along[3];
        for (int i = 0; i < 9; i++) f[i] = F[i][l];
        for (int c = 0; c < 3; c++) along[c] = Ji[3 * c][l] * d[0] + Ji[3 * c + 1][l] * d[1] + Ji[3 * c + 2][l] * d[2];
        abut_fibre_hessian((*w)[l] * kappa, d, f, 1, M);
        for (int c = 0; c < 3; c++)
            for (int e = c; e < 3; e++)
                for (int i = 0; i < 9; i++) A[9 * block_of(c, e) + i][l] += along[c] * along[e] * M[i];
    }
}

/* Moduli of groups [g, end) into A, of the first of them on; u: displacements of the nodes. */
ABUT_LANES_CLONES
static void moduli(const abut_elastic_high *e, int32_t t, const double *u, double scale, int g, int end, double *A)
{
    const int32_t material = e->model->tet_mat[e->first + t];
    const double kappa = e->model->mat_fibre ? e->model->mat_fibre[material] : 0;
    for (; g < end; g++, A += MODULI) {
        abut_lanes Ji[9], F[9], U[9], s[3], V[9], w, axes[9], K[BLOCKS * 9];
        abut_principals p;
        abut_modes_lanes h;
        deformations(e, e->nodes, u, t, g, F, Ji, &w);
        abut_svd3_lanes(F, U, s, V);
        abut_model_law_principals(&e->laws, material, s, &p);
        abut_principals_project(&p);
        w = scale * w;
        abut_modes_of_lanes(&p, &w, &h);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) axes[3 * i + j] = Ji[3 * i] * V[j] + Ji[3 * i + 1] * V[3 + j] + Ji[3 * i + 2] * V[6 + j];
        for (int c = 0; c < 3; c++)
            for (int d = c; d < 3; d++) abut_mode_block_lanes(&h, U, axes + 3 * c, axes + 3 * d, K + 9 * block_of(c, d));
        if (kappa > 0) add_fibres(kappa, e->model->tet_fibre + 3 * (size_t)(e->first + t), F, Ji, &w, K);
        for (int i = 0; i < BLOCKS * 9; i++) *(abut_lanes_anywhere *)(A + ABUT_LANES * i) = K[i];
    }
}

void abut_elastic_high_moduli(const abut_elastic_high *e, int32_t t, const double *x, double scale, double *A)
{
    double u[3 * ABUT_TET_NODES_MAX];
    displacements(e, t, x, u);
    moduli(e, t, u, scale, 0, e->table[e->degree[t]].groups, A);
}

/* T[(3 q + c) wide + b] = sum over e of A_dc,ke dphi_b/dxi_e for n points from group g on, whose moduli are A */
ABUT_LANES_INLINE void half_product(const abut_basis_table *b, int wide, int g, int n, const double *A, int d, int k, double *T)
{
    const double *D = b->by_point + (size_t)(3 * ABUT_LANES * g * wide);
    for (int q = 0; q < n; q++) {
        const double *at = A + MODULI * (q / ABUT_LANES) + q % ABUT_LANES, *row = D + 3 * q * wide;
        double *to = T + 3 * q * wide;
        double a[9];
        for (int c = 0; c < 3; c++)
            for (int e = 0; e < 3; e++)
                a[3 * c + e] = at[ABUT_LANES * (c <= e ? 9 * block_of(c, e) + 3 * d + k : 9 * block_of(e, c) + 3 * k + d)];
        for (int v = 0; v < wide; v += ABUT_LANES) {
            const abut_lanes x = *(const abut_lanes_anywhere *)(row + v), y = *(const abut_lanes_anywhere *)(row + wide + v);
            const abut_lanes z = *(const abut_lanes_anywhere *)(row + 2 * wide + v);
            for (int c = 0; c < 3; c++)
                *(abut_lanes_anywhere *)(to + c * wide + v) = a[3 * c] * x + a[3 * c + 1] * y + a[3 * c + 2] * z;
        }
    }
}

/* Blocks (a, b), a <= b, of four rows from a0 on and `two` times four columns from b0 on: the entry d, k of each. */
ABUT_LANES_INLINE void tile(int nodes, int wide, int inside, const double *D, const double *T, int a0, int b0, int two, int entry,
                            int add, double *H)
{
    abut_lanes sum[ABUT_LANES][2];
    for (int r = 0; r < ABUT_LANES; r++) sum[r][0] = sum[r][1] = ABUT_LANES_ALL(0.);
    for (int m = 0; m < inside; m++) {
        const double *row = D + m * wide + a0, *col = T + m * wide + b0;
        const abut_lanes lo = *(const abut_lanes_anywhere *)col;
        const abut_lanes hi = *(const abut_lanes_anywhere *)(col + (two ? ABUT_LANES : 0));
        for (int r = 0; r < ABUT_LANES; r++) {
            sum[r][0] += row[r] * lo;
            if (two) sum[r][1] += row[r] * hi;
        }
    }
    for (int r = 0; r < ABUT_LANES && a0 + r < nodes; r++)
        for (int c = 0; c < ABUT_LANES * (1 + two) && b0 + c < nodes; c++) {
            if (b0 + c < a0 + r) continue;
            double *to = H + 9 * abut_packed_block(nodes, a0 + r, b0 + c) + entry;
            const double v = sum[r][c / ABUT_LANES][c % ABUT_LANES];
            *to = add ? *to + v : v;
        }
}

/* H, = or += by `add`: sums over the points of at most AT_ONCE groups from g on, with their moduli A. */
ABUT_LANES_INLINE void pack(const abut_basis_table *b, int nodes, const double *A, int g, int add, double *H)
{
    const int wide = (nodes + ABUT_LANES - 1) / ABUT_LANES * ABUT_LANES;
    const int rest = b->n - ABUT_LANES * g, n = rest < ABUT_LANES * AT_ONCE ? rest : ABUT_LANES * AT_ONCE;
    const double *D = b->by_point + (size_t)(3 * ABUT_LANES * g * wide);
    double T[INSIDE * WIDEST] __attribute__((aligned(32)));
    for (int entry = 0; entry < 9; entry++) {
        half_product(b, wide, g, n, A, entry / 3, entry % 3, T);
        for (int a = 0; a < wide; a += ABUT_LANES)
            for (int c = a; c < wide; c += 2 * ABUT_LANES) {
                if (c + ABUT_LANES < wide) tile(nodes, wide, 3 * n, D, T, a, c, 1, entry, add, H);
                else tile(nodes, wide, 3 * n, D, T, a, c, 0, entry, add, H);
            }
    }
}

ABUT_LANES_CLONES
static void pack_groups(const abut_elastic_high *e, int32_t t, const double *A, int g, int add, double *H)
{
    const abut_basis_table *b = &e->table[e->degree[t]];
    switch (e->order) {
    case 2: pack(b, 10, A, g, add, H); break;
    case 3: pack(b, 20, A, g, add, H); break;
    default: pack(b, 35, A, g, add, H);
    }
}

void abut_elastic_high_pack(const abut_elastic_high *e, int32_t t, const double *A, double *H)
{
    const int groups = e->table[e->degree[t]].groups;
    for (int g = 0; g < groups; g += AT_ONCE) pack_groups(e, t, A + (size_t)MODULI * (size_t)g, g, g > 0, H);
}

void abut_elastic_high_hessian(const abut_elastic_high *e, const double *x, double scale, size_t lo, size_t hi, double *H)
{
    double A[MODULI * AT_ONCE], u[3 * ABUT_TET_NODES_MAX];
    for (size_t i = lo; i < hi; i++, H += abut_packed_size(e->nodes)) {
        const int32_t t = (int32_t)i;
        const int groups = e->table[e->degree[t]].groups;
        displacements(e, t, x, u);
        for (int g = 0; g < groups; g += AT_ONCE) {
            moduli(e, t, u, scale, g, g + AT_ONCE < groups ? g + AT_ONCE : groups, A);
            pack_groups(e, t, A, g, g > 0, H);
        }
    }
}

ABUT_LANES_CLONES
void abut_elastic_high_product(const abut_elastic_high *e, int32_t t, const double *A, const double *u, double *f)
{
    const abut_basis_table *b = &e->table[e->degree[t]];
    for (int i = 0; i < 3 * e->nodes; i++) f[i] = 0;
    for (int g = 0; g < b->groups; g++, A += MODULI) {
        const int n = b->n - ABUT_LANES * g < ABUT_LANES ? b->n - ABUT_LANES * g : ABUT_LANES;
        const abut_lanes_anywhere *K = (const abut_lanes_anywhere *)A;
        abut_lanes G[9];
        double S[ABUT_LANES][9];
        gradients_at(b, e->nodes, g, u, G);
        for (int d = 0; d < 3; d++)
            for (int c = 0; c < 3; c++) {
                abut_lanes s = ABUT_LANES_ALL(0.);
                for (int k = 0; k < 3; k++)
                    for (int a = 0; a < 3; a++)
                        s += K[c <= a ? 9 * block_of(c, a) + 3 * d + k : 9 * block_of(a, c) + 3 * k + d] * G[3 * k + a];
                for (int l = 0; l < ABUT_LANES; l++) S[l][3 * d + c] = s[l];
            }
        spread(b, e->nodes, g, n, (const double(*)[9])S, f);
    }
}

/* ---- points ---- */

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
    displacements(e, t, x, u);
    for (int i = 0; i < b->n; i++) {
        abut_lanes F[9], Ji[9], P[9], psi, w;
        double f[9], p[9], s[9];
        const int l = i % ABUT_LANES;
        deformations(e, e->nodes, u, t, i / ABUT_LANES, F, Ji, &w);
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
    displacements(e, t, x, u);
    *least = INFINITY, *largest = -INFINITY;
    for (int g = 0; g < b->groups; g++) {
        abut_lanes F[9], Ji[9], U[9], s[3], V[9], w;
        deformations(e, e->nodes, u, t, g, F, Ji, &w);
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
    ABUT_FREE(t->x, t->f, t);
}

static abut_status make(void **self, const abut_term_world *w, int order, abut_err *err)
{
    elastic_high *t = calloc(1, sizeof *t);
    if (!t) return abut_fail(err, ABUT_E_NOMEM, "elasticity: %d tets", w->model->nt);
    const abut_status rc = abut_elastic_high_init(&t->e, w->model, order, w->reordered ? w->reordered->number : NULL, err);
    if (rc || !t->e.n) return destroy(t), rc;
    if (ABUT_ARRAYS(ABUT_ITEMS(t->x, 3 * (size_t)w->model->nv), ABUT_ITEMS(t->f, 3 * (size_t)t->e.n * (size_t)t->e.nodes)))
        return *self = t, ABUT_OK;
    destroy(t);
    return abut_fail(err, ABUT_E_NOMEM, "elasticity: forces of %d tets of order %d", w->model->nt, order);
}

static double stiffness(const void *self, double *each)
{
    const abut_elastic_high *e = self;
    abut_acc sum = { 0, 0 };
    for (int32_t t = 0; t < e->n; t++) {
        const double *lame = e->laws.lame + 2 * e->model->tet_mat[e->first + t];
        const double k = abut_elastic_high_volume(e, t) * (lame[0] + lame[1]);
        abut_acc_add(&sum, k);
        each[e->model->body[e->node[t * e->nodes]]] += k;
    }
    return sum.hi + sum.lo;
}

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

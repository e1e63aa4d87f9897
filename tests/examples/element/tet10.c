/* An element of one's own: tetrahedra of ten nodes with quadratic shape functions, isoparametric, of the materials of the stream
 * (those that have moduli).  It goes to lib/energy; rows.diff names it, and its array tet10/node: a row of material/, four
 * corners, the middles of the edges 01 12 02 03 13 23.
 *
 *     E = sum_e sum_q w_q psi(F_q),  F_q = sum_a x_a (dN_a/dX)^T at four Gauss points q, w_q of volume 1/4 each
 *
 * Source: Zienkiewicz and Taylor, The Finite Element Method, vol. 1: shape functions 8.8, points table 9.2 (degree 2). */
#include "base/par.h"
#include "energy/elastic.h"
#include "energy/term.h"
#include "math/mat3.h"
#include "model/laws.h"

enum { NODES = 10, POINTS = 4, ROW = 1 + NODES };

typedef struct tet10 {
    const abut_model *m;
    int32_t *node;          /* [n * 10] */
    double (*dN)[NODES][3]; /* [n * 4] 1/m: dN_a/dX */
    double *weight;         /* [n * 4] m^3 */
} tet10;

/* ---- rest shape ---- */

/* dN_a by the local coordinates, at barycentric L */
static void derivatives(const double L[4], double d[NODES][3])
{
    static const int edge[6][2] = { { 0, 1 }, { 1, 2 }, { 0, 2 }, { 0, 3 }, { 1, 3 }, { 2, 3 } };
    static const double dL[4][3] = { { -1, -1, -1 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    for (int k = 0; k < 3; k++) {
        for (int a = 0; a < 4; a++) d[a][k] = (4 * L[a] - 1) * dL[a][k];
        for (int e = 0; e < 6; e++) {
            const int a = edge[e][0], b = edge[e][1];
            d[4 + e][k] = 4 * (L[a] * dL[b][k] + L[b] * dL[a][k]);
        }
    }
}

/* D[9] = sum_a x_a d_a^T */
static void sum(const int32_t *node, const double *x, double (*d)[3], double D[9])
{
    for (int i = 0; i < 9; i++) {
        D[i] = 0;
        for (int a = 0; a < NODES; a++) D[i] += x[3 * (size_t)node[a] + (size_t)(i / 3)] * d[a][i % 3];
    }
}

static abut_status rest(tet10 *t, int32_t e, abut_err *err)
{
    const double far = 0.58541019662496845446, near = 0.13819660112501051518;   /* (5 + 3 sqrt 5)/20, (5 - sqrt 5)/20 */
    const int32_t *row = t->m->tet10 + ROW * (size_t)e;
    int32_t *node = t->node + NODES * (size_t)e;
    for (int i = 0; i < ROW; i++) {
        const int32_t most = i ? t->m->nv : t->m->nm;
        if (row[i] < 0 || row[i] >= most)
            return abut_fail(err, ABUT_E_FORMAT, "array 'tet10/node' row %d: %d, expected 0 <= value < %d", e, row[i], most);
        if (i) node[i - 1] = row[i];
        else if (t->m->mat_model[row[0]] == ABUT_SPLINE)
            return abut_fail(err, ABUT_E_FORMAT, "array 'tet10/node' row %d: material %d is a spline, expected moduli", e,
                             row[0]);
    }
    for (int q = 0; q < POINTS; q++) {
        const size_t at = POINTS * (size_t)e + (size_t)q;
        double L[4] = { near, near, near, near }, d[NODES][3], D[9], B[9];
        L[q] = far;
        derivatives(L, d);
        sum(node, t->m->X, d, D);
        t->weight[at] = abut_m3_inverse(B, D) / 24;
        if (!(t->weight[at] > 0)) return abut_fail(err, ABUT_E_GEOM, "array 'tet10/node' row %d: rest volume %g m^3 at Gauss "
                                                   "point %d, expected > 0", e, 4 * t->weight[at], q);
        for (int a = 0; a < NODES; a++)
            for (int k = 0; k < 3; k++) t->dN[at][a][k] = d[a][0] * B[k] + d[a][1] * B[3 + k] + d[a][2] * B[6 + k];
    }
    return ABUT_OK;
}

static void destroy(void *self)
{
    tet10 *t = self;
    free(t->node);
    free(t->dN);
    free(t->weight);
    free(t);
}

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    const size_t n = (size_t)w->model->ntt;
    if (!n) return ABUT_OK;
    tet10 *t = calloc(1, sizeof *t);
    if (!t) return abut_fail(err, ABUT_E_NOMEM, "%zu tets of ten nodes", n);
    *t = (tet10){ w->model, malloc(n * NODES * sizeof *t->node), malloc(n * POINTS * sizeof *t->dN),
                  malloc(n * POINTS * sizeof *t->weight) };
    abut_status rc = t->node && t->dN && t->weight ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "%zu tets of ten nodes", n);
    for (int32_t e = 0; e < w->model->ntt && !rc; e++) rc = rest(t, e, err);
    if (rc) destroy(t);
    else *self = t;
    return rc;
}

/* ---- one element ---- */

/* the material's number, and Lame's parameters */
static int material(const tet10 *t, size_t e, double *mu, double *lambda)
{
    const int32_t i = t->m->tet10[ROW * e];
    abut_lame(t->m->mat_young[i], t->m->mat_poisson[i], mu, lambda);
    return t->m->mat_model[i];
}

/* J; f[30], N, unless NULL */
static double one(const tet10 *t, const double *x, size_t e, double *f)
{
    double mu, lambda, psi = 0, F[9], P[9];
    const int model = material(t, e, &mu, &lambda);
    for (int i = 0; f && i < 3 * NODES; i++) f[i] = 0;
    for (size_t q = POINTS * e; q < POINTS * (e + 1); q++) {
        sum(t->node + NODES * e, x, t->dN[q], F);
        psi += t->weight[q] * abut_psi(model, mu, lambda, F, f ? P : NULL);
        for (int i = 0; f && i < 3 * NODES; i++) {
            const double *d = t->dN[q][i / 3], *p = P + 3 * (i % 3);
            f[i] += t->weight[q] * (p[0] * d[0] + p[1] * d[1] + p[2] * d[2]);
        }
    }
    return psi;
}

/* K, packed: sum_q w dN_a (d2psi/dF2) dN_b */
static void stiffness_of(const tet10 *t, const double *x, size_t e, double scale, double *K)
{
    double mu, lambda, F[9], H[81];
    const int model = material(t, e, &mu, &lambda);
    memset(K, 0, abut_packed_size(NODES) * sizeof *K);
    for (size_t q = POINTS * e; q < POINTS * (e + 1); q++) {
        double *block = K;
        sum(t->node + NODES * e, x, t->dN[q], F);
        abut_psi_hess(model, mu, lambda, F, H, 1);
        for (int a = 0; a < NODES; a++)
            for (int b = a; b < NODES; b++, block += 9)
                for (int i = 0; i < 81; i++)    /* entry (3 m + k, 3 n + l) of H: dF_mk, dF_nl */
                    block[i / 27 * 3 + i % 9 / 3] += scale * t->weight[q] * H[i] * t->dN[q][a][i / 9 % 3] * t->dN[q][b][i % 3];
    }
}

/* ---- the term ---- */

static double stiffness(const void *self, double *each)
{
    const tet10 *t = self;
    double mu, lambda, total = 0;
    for (size_t q = 0; q < POINTS * (size_t)t->m->ntt; q++) {
        (void)material(t, q / POINTS, &mu, &lambda);
        total += t->weight[q] * (mu + lambda);
        each[t->m->body[t->node[NODES * (q / POINTS)]]] += t->weight[q] * (mu + lambda);
    }
    return total;
}

/* E, and g unless NULL: elements side by side, then their sums in order */
static abut_status all(const tet10 *t, const double *x, double scale, double *e, double *g, abut_arena *scratch, abut_err *err)
{
    const size_t n = (size_t)t->m->ntt;
    const abut_mark mark = abut_arena_mark(scratch);
    double *psi = ABUT_NEW(scratch, double, n), *f = g ? ABUT_NEW(scratch, double, 3 * NODES * n) : NULL;
    if (!psi || (g && !f)) return abut_fail(err, ABUT_E_NOMEM, "%zu tets of ten nodes", n);
    #pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) psi[i] = one(t, x, i, g ? f + 3 * NODES * i : NULL);
    for (size_t i = 0; g && i < 3 * NODES * n; i++) g[3 * (size_t)t->node[i / 3] + i % 3] += scale * f[i];
    *e = scale * abut_sum(psi, n);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    return all(self, at->z, scale, e, NULL, scratch, err);
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    double e;
    return all(self, at->z, scale, &e, g, scratch, err);
}

static abut_status elements(void *self, const abut_at *at, abut_elements *set, abut_err *err)
{
    const tet10 *t = self;
    (void)at, (void)err;
    set->corners = NODES, set->n = (size_t)t->m->ntt, set->row = t->node;
    return ABUT_OK;
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    #pragma omp parallel for schedule(static)
    for (size_t i = lo; i < hi; i++) stiffness_of(self, at->z, i, scale, val + abut_packed_size(NODES) * (i - lo));
}

const abut_term_ops abut_term_tet10 = { .name = "tet10", .kind = ABUT_TERM_POTENTIAL, .weight = ABUT_TERM_AT_Z, .make = make,
                                        .stiffness = stiffness, .energy = energy, .gradient = gradient,
                                        .set = "tets of ten nodes", .set_is = ABUT_SET_LASTS, .elements = elements,
                                        .hessian = hessian, .free = destroy };

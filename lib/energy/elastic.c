#include "energy/elastic.h"

#include "base/order.h"
#include "contact/step_bound.h"
#include "energy/elastic_high.h"
#include "energy/material/density_inline.h"
#include "energy/term.h"
#include "math/mat3.h"
#include "math/svd3.h"
#include "math/vec3.h"
#include "model/naming.h"
#include "model/tets.h"
#include "sparse/packed_inline.h"
#include "sparse/packed_lanes.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rest shape ---- */

static void edge_matrix(const int32_t node[4], const double *x, double D[9])
{
    const double *x0 = x + 3 * (size_t)node[0];
    for (int c = 0; c < 3; c++) {
        const double *xc = x + 3 * (size_t)node[c + 1];
        for (int i = 0; i < 3; i++) D[3 * i + c] = xc[i] - x0[i];
    }
}

/* B of tet t; returns its volume */
static double rest_shape(const abut_model *m, int32_t t, double B[9])
{
    double D[9];
    edge_matrix(m->tet + 4 * (size_t)t, m->X, D);
    return abut_m3_inverse(B, D) / 6;
}

abut_status abut_elastic_check(const abut_model *m, abut_err *err)
{
    assert(m);
    if (m->nt > INT32_MAX / 4) return abut_fail(err, ABUT_E_FORMAT, "%d tets: more than %d", m->nt, INT32_MAX / 4);
    const abut_status rc = abut_model_laws_check(m, err);
    if (rc) return rc;
    for (int32_t t = 0; t < m->nt; t++) {
        double B[9];
        if (abut_tet_order(m, t) > 1) continue;
        const double volume = rest_shape(m, t, B);
        if (!(volume > 0)) return abut_fail(err, ABUT_E_GEOM, "tet %d: rest volume %g m^3, expected > 0", t, volume);
    }
    return ABUT_OK;
}

/* 1: tet t is a rigid object. */
static int is_rigid(const abut_elastic *e, int32_t t)
{
    return e->rigid && e->model->rigid_range[2 * e->model->body[e->model->tet[4 * t]]] > 0;
}

/* K of rigid objects: K[no], NULL: those of the model; no less than e->rigid asks for. */
static void set_rigid(abut_elastic *e, const double *K)
{
    const abut_model *m = e->model;
    if (!e->rigid) return;
    for (int32_t o = 0; o < m->no; o++) e->rigid[o] = fmax(K ? K[o] : m->rigid_range[2 * o], e->rigid[m->no + o]);
    for (int32_t t = 0; t < e->n; t++)
        if (is_rigid(e, t)) e->lame[2 * t] = 4 * e->rigid[m->body[m->tet[4 * t]]] / e->vol[t], e->lame[2 * t + 1] = 0;
}

static void rest_shapes(abut_elastic *e)
{
    const abut_model *m = e->model;
    for (int32_t t = 0; t < e->n; t++) {
        const int32_t mat = m->tet_mat[t];
        e->vol[t] = rest_shape(m, t, e->B + 9 * (size_t)t) * (m->tet_fill ? m->tet_fill[t] : 1);
        abut_lame(m->mat_young[mat], m->mat_poisson[mat], &e->lame[2 * (size_t)t], &e->lame[2 * (size_t)t + 1]);
    }
    set_rigid(e, NULL);
}

abut_status abut_elastic_init(abut_elastic *e, const abut_model *m, abut_err *err)
{
    assert(m);
    *e = (abut_elastic){ .model = m, .n = abut_linear_tets_first(m) };
    abut_status rc = abut_elastic_check(m, err);
    for (int32_t t = e->n; t < m->nt && !rc; t++)
        if (abut_tet_order(m, t) == 1)
            rc = abut_fail(err, ABUT_E_ARG, "tet %d of order 1 comes after others, expected before", t);
    if (rc) return rc;
    const size_t nt = e->n ? (size_t)e->n : 1;
    e->B = malloc(nt * 9 * sizeof *e->B);
    e->vol = malloc(nt * sizeof *e->vol);
    e->lame = malloc(nt * 2 * sizeof *e->lame);
    e->inc_first = calloc((size_t)m->nv + 1, sizeof *e->inc_first);
    e->inc = malloc(nt * 4 * sizeof *e->inc);
    if (m->rigid_range && !(e->rigid = calloc(2 * (size_t)m->no + 1, sizeof *e->rigid)))
        rc = abut_fail(err, ABUT_E_NOMEM, "rigid objects: %d", m->no);
    if (!e->B || !e->vol || !e->lame || !e->inc_first || !e->inc)
        rc = abut_fail(err, ABUT_E_NOMEM, "rest shapes of %d tets", e->n);
    if (!rc) rc = abut_model_laws_init(&e->laws, m, err);
    if (rc) return abut_elastic_clear(e), rc;
    rest_shapes(e);
    abut_list_groups(m->tet, 4 * (size_t)e->n, m->nv, e->inc_first, e->inc);
    return ABUT_OK;
}

void abut_elastic_clear(abut_elastic *e)
{
    ABUT_FREE(e->B, e->vol, e->lame, e->rigid, e->inc_first, e->inc);
    abut_model_laws_clear(&e->laws);
    *e = (abut_elastic){ 0 };
}

/* ---- energy and gradient ---- */

#define AHEAD 16    /* corners between the one that is added and the one that is fetched */

static inline void deformation(const abut_elastic *e, const double *x, size_t t, double F[9])
{
    double D[9];
    edge_matrix(e->model->tet + 4 * t, x, D);
    abut_m3_mul(F, D, e->B + 9 * t);
}

void abut_elastic_principal(const abut_elastic *e, size_t t, const double s[3], abut_principal *out)
{
    const int32_t material = e->model->tet_mat[t];
    if (!is_rigid(e, (int32_t)t)) abut_model_law_principal(&e->laws, material, s, out);
    else abut_density_principal(e->model->mat_model[material], e->lame[2 * t], e->lame[2 * t + 1], s, out);
}

/* 1 when the tets have one material, of a density that has moduli and nothing added. */
static int are_plain(const abut_elastic *e, size_t t, size_t n)
{
    const abut_model *m = e->model;
    const int32_t i = m->tet_mat[t];
    for (size_t l = 1; l < n; l++)
        if (m->tet_mat[t + l] != i) return 0;
    return abut_model_law_is_plain(&e->laws, i);
}

void abut_elastic_principals(const abut_elastic *e, size_t t, size_t n, const abut_lanes *s, abut_principals *out)
{
    if (are_plain(e, t, n)) {
        abut_lanes mu, lambda;
        abut_elastic_moduli(e, t, n, &mu, &lambda);
        abut_density_principals(e->model->mat_model[e->model->tet_mat[t]], &mu, &lambda, s, out);
        return;
    }
    for (size_t l = 0; l < ABUT_LANES; l++) {
        const double stretch[3] = { s[0][l], s[1][l], s[2][l] };
        abut_principal one;
        abut_elastic_principal(e, t + (l < n ? l : 0), stretch, &one);
        abut_principals_set(out, l, &one);
    }
}

/* Adds the fibres of tet t to *psi and P, if *psi is finite. */
static inline void add_fibre(const abut_elastic *e, size_t t, const double F[9], double *psi, double *P)
{
    const double kappa = e->model->mat_fibre[e->model->tet_mat[t]];
    if (kappa > 0 && *psi < INFINITY) *psi += abut_fibre_psi(kappa, e->model->tet_fibre + 3 * t, F, P);
}

static double psi_of(const abut_elastic *e, size_t t, const double F[9], double *P)
{
    double U[9], s[3], V[9], psi;
    abut_principal p;
    if (e->laws.needs[e->model->tet_mat[t]] == ABUT_NEEDS_F) {
        psi = abut_psi(e->model->mat_model[e->model->tet_mat[t]], e->lame[2 * t], e->lame[2 * t + 1], F, P);
    } else {
        abut_svd3(F, U, s, V);
        abut_elastic_principal(e, t, s, &p);
        abut_stress_principal(&p, U, V, P);
        psi = p.psi;
    }
    if (e->model->mat_fibre) add_fibre(e, t, F, &psi, P);
    return psi;
}

/* Tets t .. t + n - 1, n <= ABUT_LANES, with the first one again in lanes without one. */
typedef struct group {
    size_t t, n;
    abut_lanes B[9], F[9], P[9], psi;
} group;

static inline size_t tet_of(const group *g, size_t l)
{
    return g->t + (l < g->n ? l : 0);
}

static abut_density_needs need_of(const abut_elastic *e, const group *g, size_t l)
{
    return e->laws.needs[e->model->tet_mat[g->t + l]];
}

static void entries_of(const abut_lanes A[9], size_t l, double a[9])
{
    for (int i = 0; i < 9; i++) a[i] = A[i][l];
}

static void set_lane(group *g, size_t l, double psi, const double P[9])
{
    g->psi[l] = psi;
    for (int i = 0; i < 9; i++) g->P[i][l] = P[i];
}

/* P and psi are 0 */
ABUT_LANES_CLONES
static void load_group(const abut_elastic *e, const double *x, size_t t, size_t n, group *g)
{
    g->t = t;
    g->n = n;
    g->psi = ABUT_LANES_ALL(0.);
    for (int i = 0; i < 9; i++) g->P[i] = ABUT_LANES_ALL(0.);
    abut_elastic_load(e, x, t, n, g->B, g->F);
}

/* psi and P of the tets whose density depends on F alone or on the rotation: one material model after the other */
ABUT_LANES_CLONES
static void modelled_group(const abut_elastic *e, abut_density_needs need, group *g)
{
    const abut_model *m = e->model;
    abut_lanes R[9], P[9], psi, mu, lambda;
    abut_lane_mask done = { 0 };
    if (need == ABUT_NEEDS_ROTATION) abut_polar3_lanes(g->F, R);
    abut_elastic_moduli(e, g->t, g->n, &mu, &lambda);
    for (size_t l = 0; l < g->n; l++) {
        const int model = m->mat_model[m->tet_mat[g->t + l]];
        abut_lane_mask alike = { 0 };
        if (done[l] || need_of(e, g, l) != need) continue;
        for (int i = 0; i < 9; i++) P[i] = ABUT_LANES_ALL(0.);
        if (need == ABUT_NEEDS_F) abut_density_direct(model, &mu, &lambda, g->F, &psi, P);
        else abut_density_rotated(model, &mu, &lambda, g->F, R, &psi, P);
        for (size_t k = l; k < g->n; k++)
            if (m->mat_model[m->tet_mat[g->t + k]] == model && need_of(e, g, k) == need) alike[k] = -1;
        g->psi = ABUT_LANES_PICK(alike, psi, g->psi);
        for (int i = 0; i < 9; i++) g->P[i] = ABUT_LANES_PICK(alike, P[i], g->P[i]);
        done |= alike;
    }
}

/* Energy and stress of the tets of a group that are evaluated by their singular values */
static void spectral_group(const abut_elastic *e, group *g)
{
    abut_lanes U[9], s[3], V[9];
    abut_svd3_lanes(g->F, U, s, V);
    for (size_t l = 0; l < g->n; l++) {
        const double stretch[3] = { s[0][l], s[1][l], s[2][l] };
        double u[9], v[9], P[9];
        abut_principal p;
        if (need_of(e, g, l) != ABUT_NEEDS_STRETCHES) continue;
        abut_elastic_principal(e, g->t + l, stretch, &p);
        entries_of(U, l, u);
        entries_of(V, l, v);
        abut_stress_principal(&p, u, v, P);
        set_lane(g, l, p.psi, P);
    }
}

static void add_fibres(const abut_elastic *e, group *g)
{
    for (size_t l = 0; l < g->n; l++) {
        double F[9], P[9], psi = g->psi[l];
        entries_of(g->F, l, F);
        entries_of(g->P, l, P);
        add_fibre(e, g->t + l, F, &psi, P);
        set_lane(g, l, psi, P);
    }
}

/* psi and P at x */
static void evaluate_group(const abut_elastic *e, const double *x, size_t t, size_t n, group *g)
{
    int needs[ABUT_NEEDS_STRETCHES + 1] = { 0 };
    load_group(e, x, t, n, g);
    for (size_t l = 0; l < n; l++) needs[need_of(e, g, l)] = 1;
    if (needs[ABUT_NEEDS_F]) modelled_group(e, ABUT_NEEDS_F, g);
    if (needs[ABUT_NEEDS_ROTATION]) modelled_group(e, ABUT_NEEDS_ROTATION, g);
    if (needs[ABUT_NEEDS_STRETCHES]) spectral_group(e, g);
    if (e->model->mat_fibre) add_fibres(e, g);
}

/* f[12 n]: dE/dx at the corners of the tets; dE/dF_mi g_a[i] with g_a the rows of B and g_0 = -(g_1 + g_2 + g_3) */
ABUT_LANES_CLONES
static void corner_gradients(const abut_elastic *e, const group *g, double *f)
{
    const abut_lanes *P = g->P, *B = g->B;
    abut_lanes w, c[12];
    for (size_t l = 0; l < ABUT_LANES; l++) w[l] = e->vol[tet_of(g, l)];
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++)
            c[3 * a + 3 + i] = w * (P[3 * i] * B[3 * a] + P[3 * i + 1] * B[3 * a + 1] + P[3 * i + 2] * B[3 * a + 2]);
    for (int i = 0; i < 3; i++) c[i] = -(c[3 + i] + c[6 + i] + c[9 + i]);
    for (int k = 0; k < 12 && g->n == ABUT_LANES; k += 4) abut_lanes_spread(c + k, f + k, 12);
    for (size_t l = 0; l < g->n && g->n < ABUT_LANES; l++)
        for (size_t k = 0; k < 12; k++) f[12 * l + k] = c[k][l];
}

/* Marks the blocks of tets that a rank evaluates: its part, for the energy, and the blocks with corners at its nodes. */
static abut_status divide(const abut_elastic *e, struct abut_elastic_division *by, abut_err *err)
{
    const size_t nb = abut_blocks((size_t)e->n);
    if (!by->ranks || by->wanted) return ABUT_OK;
    const abut_range blocks = abut_ranks_part(by->ranks, nb), nodes = abut_ranks_part(by->ranks, (size_t)e->model->nv);
    by->wanted = calloc(nb + 1, 1);
    if (!by->wanted) return abut_fail(err, ABUT_E_NOMEM, "elastic energy: %zu blocks", nb);
    for (size_t b = blocks.lo; b < blocks.hi; b++) by->wanted[b] = 1;
    for (size_t i = nodes.lo; i < nodes.hi; i++)
        for (int32_t k = e->inc_first[by->node[i]]; k < e->inc_first[by->node[i] + 1]; k++)
            by->wanted[(size_t)e->inc[k] / 4 / ABUT_BLOCK] = 1;
    return ABUT_OK;
}

/* *energy and f[12 n] */
static abut_status evaluate(const abut_elastic *e, const double *x, const struct abut_elastic_division *by, double *energy,
                            double *f, abut_arena *scratch, abut_err *err)
{
    const size_t n = (size_t)e->n, nb = abut_blocks(n);
    const abut_mark mark = abut_arena_mark(scratch);
    double *part = ABUT_NEW(scratch, double, nb);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "elastic energy: %zu partial sums", nb);

    #pragma omp parallel for schedule(static) if (nb > 2)
    for (size_t b = 0; b < nb; b++) {
        const abut_range r = abut_block(n, b);
        double sum = 0;
        group g;
        if (by->wanted && !by->wanted[b]) continue;
        for (size_t t = r.lo; t < r.hi; t += ABUT_LANES) {
            evaluate_group(e, x, t, r.hi - t < ABUT_LANES ? r.hi - t : ABUT_LANES, &g);
            for (size_t l = 0; l < g.n; l++) sum += e->vol[t + l] * g.psi[l];
            corner_gradients(e, &g, f + 12 * t);
        }
        part[b] = sum;
    }

    abut_ranks_join(by->ranks, part, nb, sizeof *part);
    const double total = abut_sum(part, nb);
    abut_arena_release(scratch, mark);
    *energy = isfinite(total) ? total : INFINITY;   /* inf - inf in the compensated sum is NaN */
    return ABUT_OK;
}

/* sum[3] of the corners of node i */
static inline void gather_node(const abut_elastic *e, const double *f, int32_t i, double sum[3])
{
    sum[0] = sum[1] = sum[2] = 0;
    for (int32_t k = e->inc_first[i]; k < e->inc_first[i + 1]; k++)
        for (int d = 0; d < 3; d++) sum[d] += f[3 * (size_t)e->inc[k] + d];
}

/* Each rank gathers for the nodes of its part. */
static abut_status gather_divided(const abut_elastic *e, const abut_elastic_memo *memo, double scale, double *g,
                                  abut_arena *scratch, abut_err *err)
{
    const size_t nv = (size_t)e->model->nv;
    const int32_t *node = memo->by.node;
    const abut_range mine = abut_ranks_part(memo->by.ranks, nv);
    const abut_mark mark = abut_arena_mark(scratch);
    double *sum = ABUT_ROOM(scratch, double, 3 * nv);
    if (!sum) return abut_fail(err, ABUT_E_NOMEM, "elastic forces on %zu nodes", nv);
    #pragma omp parallel for schedule(static) if (nv >= ABUT_PAR_MIN)
    for (size_t k = mine.lo; k < mine.hi; k++) gather_node(e, memo->f, node[k], sum + 3 * k);
    abut_ranks_join(memo->by.ranks, sum, nv, 3 * sizeof *sum);
    #pragma omp parallel for schedule(static) if (nv >= ABUT_PAR_MIN)
    for (size_t k = 0; k < nv; k++)
        for (size_t d = 0; d < 3; d++) g[3 * (size_t)node[k] + d] += scale * sum[3 * k + d];
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

abut_status abut_elastic_gather(const abut_elastic *e, const abut_elastic_memo *memo, double scale, double *g,
                                abut_arena *scratch, abut_err *err)
{
    const int32_t nv = e->model->nv, corners = e->inc_first[nv];
    const double *f = memo->f;
    if (!corners) return ABUT_OK;
    if (memo->by.ranks) return gather_divided(e, memo, scale, g, scratch, err);
    /* corners of a node lie anywhere: those to come are fetched early */
    #pragma omp parallel for schedule(static) if ((size_t)nv >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < nv; i++) {
        double sum[3] = { 0, 0, 0 };
        for (int32_t k = e->inc_first[i]; k < e->inc_first[i + 1]; k++) {
            if (k + AHEAD < corners) __builtin_prefetch(f + 3 * (size_t)e->inc[k + AHEAD]);
            for (int d = 0; d < 3; d++) sum[d] += f[3 * (size_t)e->inc[k] + d];
        }
        for (int d = 0; d < 3; d++) g[3 * (size_t)i + d] += scale * sum[d];
    }
    return ABUT_OK;
}

abut_status abut_elastic_recall(const abut_elastic *e, const double *x, abut_elastic_memo *memo, abut_arena *scratch,
                                abut_err *err)
{
    const size_t bytes = 3 * (size_t)e->model->nv * sizeof *x, nt = (size_t)e->n;
    if (!nt || (memo->holds && !memcmp(memo->x, x, bytes))) return ABUT_OK;
    memo->holds = 0;
    if (!memo->x) memo->x = malloc(bytes + 1);
    if (!memo->f) memo->f = malloc(12 * nt * sizeof *memo->f + 1);
    if (!memo->x || !memo->f) return abut_fail(err, ABUT_E_NOMEM, "elastic energy: corner forces of %zu tets", nt);
    abut_status rc = divide(e, &memo->by, err);
    if (!rc) rc = evaluate(e, x, &memo->by, &memo->energy, memo->f, scratch, err);
    if (rc) return rc;
    memcpy(memo->x, x, bytes);
    memo->holds = 1;
    return ABUT_OK;
}

void abut_elastic_memo_clear(abut_elastic_memo *memo)
{
    ABUT_FREE(memo->x, memo->f, memo->by.wanted);
    *memo = (abut_elastic_memo){ 0 };
}

/* ---- projected Hessians, four at a time ---- */

#include "math/forms_lanes.h"
#define PRINCIPAL abut_principals
#include "energy/tet_forms.h"
#undef PRINCIPAL
#include "math/forms_end.h"

/* tets [t0, t1), at most ABUT_LANES of them, into H, packed */
ABUT_LANES_CLONES
static void hessian_group(const abut_elastic *e, const double *x, double scale, int project, size_t t0, size_t t1, double *H)
{
    abut_lanes F[9], B[9], U[9], s[3], V[9], weight;
    abut_packed_lanes K;
    abut_principals p;
    abut_modes_lanes h;
    abut_elastic_load(e, x, t0, t1 - t0, B, F);
    abut_svd3_lanes(F, U, s, V);
    abut_elastic_principals(e, t0, t1 - t0, s, &p);
    if (project) abut_principals_project(&p);
    for (size_t l = 0; l < ABUT_LANES; l++) weight[l] = scale * e->vol[t0 + l < t1 ? t0 + l : t0];
    abut_modes_of_lanes(&p, &weight, &h);
    abut_mode_pack_lanes(&h, U, B, V, K);
    abut_packed_spread(K, t1 - t0, H);
}

/* The fibres of tets [t0, t1), added to their packed blocks: (g_a . d)(g_b . d) M */
static void add_fibre_hessians(const abut_elastic *e, const double *x, double scale, int project, size_t t0, size_t t1, double *H)
{
    const abut_model *m = e->model;
    for (size_t t = t0; t < t1; t++) {
        const double kappa = m->mat_fibre[m->tet_mat[t]], *d = m->tet_fibre + 3 * t, *B = e->B + 9 * t;
        double F[9], M[9], g[4] = { 0 }, *K = H + abut_packed_size(4) * (t - t0);
        if (kappa == 0) continue;
        (void)abut_elastic_deformation(e, x, (int32_t)t, F);
        abut_fibre_hessian(scale * e->vol[t] * kappa, d, F, project, M);
        for (int a = 1; a < 4; a++) {
            g[a] = B[3 * a - 3] * d[0] + B[3 * a - 2] * d[1] + B[3 * a - 1] * d[2];
            g[0] -= g[a];
        }
        for (int a = 0; a < 4; a++)
            for (int b = a; b < 4; b++, K += 9)
                for (int i = 0; i < 9; i++) K[i] += g[a] * g[b] * M[i];
    }
}

static void hessians(const abut_elastic *e, const double *x, double scale, int project, size_t lo, size_t hi, double *H)
{
    for (size_t t = lo; t < hi; t += ABUT_LANES, H += ABUT_LANES * abut_packed_size(4)) {
        const size_t end = t + ABUT_LANES < hi ? t + ABUT_LANES : hi;
        hessian_group(e, x, scale, project, t, end, H);
        if (e->model->mat_fibre) add_fibre_hessians(e, x, scale, project, t, end, H);
    }
}

void abut_elastic_hessian_some(const abut_elastic *e, const double *x, double scale, size_t lo, size_t hi, double *H)
{
    hessians(e, x, scale, 1, lo, hi, H);
}

/* Hessians of tets [lo, hi), H[(hi - lo) * ABUT_PACKED], not projected. */
static void elastic_hessian_as_is(const abut_elastic *e, const double *x, double scale, size_t lo, size_t hi, double *H)
{
    hessians(e, x, scale, 0, lo, hi, H);
}

void abut_elastic_hessian(const abut_elastic *e, const double *x, double scale, double *H)
{
    const size_t n = (size_t)e->n;
    #pragma omp parallel for schedule(static) if (n >= ABUT_PAR_MIN / 4)
    for (size_t b = 0; b < abut_blocks(n); b++) {
        const abut_range r = abut_block(n, b);
        abut_elastic_hessian_some(e, x, scale, r.lo, r.hi, H + abut_packed_size(4) * r.lo);
    }
}

void abut_principal_hess(const abut_principal *p, const double u[9], const double v[9], double H[81])
{
    const abut_lanes one = ABUT_LANES_ALL(1.);
    abut_lanes U[9], a[3], b[3], K[9];
    abut_principals four;
    abut_modes_lanes h;
    for (size_t l = 0; l < ABUT_LANES; l++) abut_principals_set(&four, l, p);
    for (int i = 0; i < 9; i++) U[i] = ABUT_LANES_ALL(u[i]);
    abut_modes_of_lanes(&four, &one, &h);
    for (int j = 0; j < 3; j++)   /* unit vector j in the frame of V is row j of V: one in each lane */
        for (int c = 0; c < 3; c++) b[c][j] = b[c][3] = v[3 * j + c];
    for (int i = 0; i < 3; i++) {
        for (int c = 0; c < 3; c++) a[c] = ABUT_LANES_ALL(v[3 * i + c]);
        abut_mode_block_lanes(&h, U, a, b, K);
        for (int j = 0; j < 3; j++)
            for (int m = 0; m < 3; m++)
                for (int k = 0; k < 3; k++) H[9 * (3 * m + i) + 3 * k + j] = K[3 * m + k][j];
    }
}

void abut_psi_hess(int model, double mu, double lambda, const double F[9], double H[81], int project)
{
    double U[9], s[3], V[9];
    abut_principal p;
    abut_svd3(F, U, s, V);
    abut_density_principal(model, mu, lambda, s, &p);
    if (project) abut_principal_project_one(&p);
    abut_principal_hess(&p, U, V, H);
}

/* ---- single elements ---- */

double abut_elastic_deformation(const abut_elastic *e, const double *x, int32_t t, double F[9])
{
    deformation(e, x, (size_t)t, F);
    return abut_m3_det(F);
}

double abut_elastic_stress(const abut_elastic *e, const double *x, int32_t t, double sigma[9])
{
    double F[9], P[9];
    const double J = abut_elastic_deformation(e, x, t, F), psi = psi_of(e, (size_t)t, F, P);
    if (!isfinite(psi) || J == 0) {
        for (int i = 0; i < 9; i++) sigma[i] = NAN;
        return J;
    }
    abut_m3_mul_nt(sigma, P, F);
    for (int i = 0; i < 9; i++) sigma[i] /= J;
    return J;
}

double abut_von_mises(const double s[9])
{
    const double a = s[0] - s[4], b = s[4] - s[8], c = s[8] - s[0];
    return sqrt(0.5 * (a * a + b * b + c * c) + 3 * (s[1] * s[1] + s[2] * s[2] + s[5] * s[5]));
}

/* ---- rigid objects ---- */

static double strain_of(const abut_elastic *e, const double *x, int32_t t)
{
    double F[9], U[9], s[3], V[9];
    (void)abut_elastic_deformation(e, x, t, F);
    abut_svd3(F, U, s, V);
    return fmax(fabs(s[0] - 1), fabs(s[2] - 1));
}

double abut_rigid_strain(const abut_elastic *e, const double *x, int32_t *object, double *excess)
{
    double most = 0, worst = 0;
    if (object) *object = -1;
    for (int32_t t = 0; t < e->n && e->rigid; t++) {
        const int32_t o = e->model->body[e->model->tet[4 * t]];
        if (!is_rigid(e, t)) continue;
        const double strain = strain_of(e, x, t), over = strain / e->model->rigid_strain[o];
        most = fmax(most, strain);
        if (over > worst && object) *object = o;
        worst = fmax(worst, over);
    }
    if (excess) *excess = worst;
    return most;
}

int abut_rigid_raise(abut_elastic *e, const double *x, int32_t *object)
{
    assert(e && object);
    const abut_model *m = e->model;
    int raised = 0;
    for (int32_t t = 0; t < e->n && e->rigid; t++) {
        if (!is_rigid(e, t)) continue;
        const int32_t o = m->body[m->tet[4 * t]];
        const double over = strain_of(e, x, t) / m->rigid_strain[o], most = m->rigid_range[2 * o + 1];
        if (!(over > 1)) continue;
        *object = o;
        if (e->rigid[o] >= most) return -1;
        e->rigid[m->no + o] = fmin(most, e->rigid[o] * fmax(4, 2 * over));
        raised++;
    }
    return raised;
}

abut_status abut_rigid_refuse(const abut_elastic *e, const double *x, int32_t object, const char *advice, abut_err *err)
{
    const abut_model *m = e->model;
    char name[ABUT_OBJECT_WORDS];
    double over;
    const double strain = abut_rigid_strain(e, x, NULL, &over);
    return abut_fail(err, ABUT_E_NUMERIC, "%s is rigid, and strained by %.3g, %.3g of what it may be; its stiffness is %.3g J, "
                     "at most %.3g J in this time step; expected %s", abut_object_words(m, object, name), strain, over,
                     e->rigid[object], m->rigid_range[2 * object + 1], advice);
}

void abut_rigid_lower(abut_elastic *e)
{
    if (e->rigid) memset(e->rigid + e->model->no, 0, (size_t)e->model->no * sizeof *e->rigid);
}

/* ---- stiffness of a body ---- */

/* |d2psi/dF2|_F of all terms of tet t at F = I: A, flip and twist are the entries of d2psi/dF2 in an orthonormal basis. */
static double stiffness_at_rest(const abut_elastic *e, size_t t)
{
    const double rest[3] = { 1, 1, 1 };
    abut_principal p;
    double sum = 0;
    abut_elastic_principal(e, t, rest, &p);
    for (int i = 0; i < 9; i++) sum += p.A[i] * p.A[i];
    for (int i = 0; i < 3; i++) sum += p.flip[i] * p.flip[i] + p.twist[i] * p.twist[i];
    return sqrt(sum);
}

static double face_area(const double *X, const int32_t tet[4], int opposite)
{
    abut_vec3 v[3];
    for (int k = 0, n = 0; k < 4; k++)
        if (k != opposite) v[n++] = abut_v3_get(X + 3 * (size_t)tet[k]);
    return 0.5 * sqrt(abut_v3_norm2(abut_v3_cross(abut_v3_sub(v[1], v[0]), abut_v3_sub(v[2], v[0]))));
}

double abut_characteristic_force(const abut_elastic *e, const uint8_t *held, double *node)
{
    const abut_model *m = e->model;
    memset(node, 0, (size_t)m->nv * sizeof *node);
    for (int32_t t = 0; t < m->nt; t++) {
        const int32_t *tet = m->tet + 4 * (size_t)t;
        const double W = stiffness_at_rest(e, (size_t)t);
        for (int k = 0; k < 4; k++) node[tet[k]] += W * face_area(m->X, tet, k);
    }
    double sum = 0;
    int32_t n = 0, n_free = 0;
    for (int32_t i = 0; i < m->nv; i++) {
        sum += node[i] * node[i];
        n += node[i] > 0;
        n_free += node[i] > 0 && !held[i];
    }
    return n ? sqrt(sum * n_free / n) : 0;
}

#define SPACING 0.01

/* f(x) by the principal form, which wants its stretches in descending order */
static double axial_stress(const abut_spline *spline, int model, double mu, double lambda, double x)
{
    abut_principal p;
    const double s[3] = { x > 1 ? x : 1, 1, x > 1 ? 1 : x };
    if (spline) abut_spline_principal(spline, s, &p);
    else abut_density_principal(model, mu, lambda, s, &p);
    return x > 1 ? p.d[0] : p.d[2];
}

static double fit(const abut_spline *spline, int model, double mu, double lambda, double lo, double hi)
{
    const long n = (long)fmax(1, round((hi - lo) / SPACING));
    double stress = 0, square = 0;
    for (long i = 0; i <= n; i++) {
        const double x = lo + (hi - lo) * (double)i / (double)n;
        stress += axial_stress(spline, model, mu, lambda, x) * (x - 1);
        square += (x - 1) * (x - 1);
    }
    return stress / square;
}

abut_status abut_stiffness_fit_materials(const abut_elastic *e, double lo, double hi, double *k, abut_err *err)
{
    assert(e);
    const abut_model *m = e->model;
    if (!(lo > 0 && lo < 1 && hi > 1 && hi < INFINITY))
        return abut_fail(err, ABUT_E_ARG, "stiffness over stretches %g .. %g: expected 0 < low < 1 < high", lo, hi);
    for (int32_t i = 0; i < m->nm; i++) {
        double mu, lambda;
        abut_lame(m->mat_young[i], m->mat_poisson[i], &mu, &lambda);
        k[i] = fit(m->mat_model[i] == ABUT_SPLINE ? &e->laws.spline[i] : NULL, m->mat_model[i], mu, lambda, lo, hi);
        if (m->mat_volume) k[i] += m->mat_volume[i];
        if (m->mat_stretch) k[i] += m->mat_stretch[3 * i];
        if (!(k[i] > 0 && k[i] < INFINITY))
            return abut_fail(err, ABUT_E_FORMAT, "material %d: its mean stiffness over stretches %g .. %g is %g Pa, expected > 0",
                             i, lo, hi, k[i]);
    }
    return ABUT_OK;
}

/* ---- term ---- */

typedef struct elastic {
    abut_elastic e;         /* first: abut_elastic_of */
    abut_elastic_memo memo; /* at the last point */
    const abut_reordered *reordered;
    const abut_terms *terms;    /* among them those of tets of higher order */
} elastic;

abut_elastic *abut_elastic_of(const abut_terms *terms) { return abut_terms_find(terms, "elastic"); }

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    elastic *t = calloc(1, sizeof *t);
    if (!t) return abut_fail(err, ABUT_E_NOMEM, "elasticity: %d tets", w->model->nt);
    t->reordered = w->reordered;
    t->terms = w->before;
    const abut_status rc = abut_elastic_init(&t->e, w->model, err);
    if (rc) return free(t), rc;
    *self = t;
    return ABUT_OK;
}

static void destroy(void *self)
{
    elastic *t = self;
    abut_elastic_clear(&t->e);
    abut_elastic_memo_clear(&t->memo);
    free(t);
}

/* psi of a stiff element at rest is a difference of numbers of the size of its moduli */
static double stiffness(const void *self, double *each)
{
    const abut_elastic *e = self;
    abut_acc sum = { 0, 0 };
    for (int32_t t = 0; t < e->n; t++) {
        const int32_t o = e->model->body[e->model->tet[4 * t]];
        const double part = is_rigid(e, t) ? 4 * e->model->rigid_strain[o] : 1;     /* the energy is its square */
        const double k = part * e->vol[t] * (e->lame[2 * t] + e->lame[2 * t + 1]);
        abut_acc_add(&sum, k);
        each[o] += k;
    }
    return sum.hi + sum.lo;
}

void abut_rigid_load(abut_elastic *e, const abut_frame *f)
{
    if (!e->rigid) return;
    set_rigid(e, f->rigid_stiffness);
    ((elastic *)e)->memo.holds = 0;
}

abut_status abut_rigid_store(const abut_elastic *e, abut_arrays *out, abut_err *err)
{
    if (!e->rigid) return ABUT_OK;
    double *K = abut_frame_put(out, "rigid/stiffness", e->model->no, err);
    if (!K) return err ? err->code : ABUT_E_NOMEM;
    memcpy(K, e->rigid, (size_t)e->model->no * sizeof *K);
    abut_arrays_find(out, "rigid/stiffness")->flags |= ABUT_A_REQUIRED;
    return ABUT_OK;
}

static abut_status load(void *self, const abut_frame *f, const abut_term_frame *as, abut_err *err)
{
    (void)err;
    if (!as->pending) abut_rigid_load(self, f);
    return ABUT_OK;
}

static abut_status store(const void *self, const abut_term_frame *as, abut_arrays *out, abut_err *err)
{
    return as->pending ? ABUT_OK : abut_rigid_store(self, out, err);
}

/* The memo at a point. */
static abut_status recall(elastic *t, const abut_at *at, abut_arena *scratch, abut_err *err)
{
    t->memo.by.ranks = at->step->ranks;
    t->memo.by.node = t->reordered ? t->reordered->node : NULL;      /* asked for where ranks divide the work alone */
    return abut_elastic_recall(&t->e, at->z, &t->memo, scratch, err);
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    elastic *t = self;
    const abut_status rc = recall(t, at, scratch, err);
    if (!rc) *e = scale * t->memo.energy;
    return rc;
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    elastic *t = self;
    const abut_status rc = recall(t, at, scratch, err);
    return rc ? rc : abut_elastic_gather(&t->e, &t->memo, scale, g, scratch, err);
}

static abut_status elements(void *self, const abut_at *at, abut_elements *set, abut_err *err)
{
    const abut_elastic *e = &((const elastic *)self)->e;
    (void)at, (void)err;
    set->corners = 4, set->n = (size_t)e->n, set->row = e->model->tet;
    return ABUT_OK;
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    if (at->step->as_is) elastic_hessian_as_is(self, at->z, scale, lo, hi, val);
    else abut_elastic_hessian_some(self, at->z, scale, lo, hi, val);
}

/* constant matrices of tets, from the stiffness k[nm] of their materials, Pa (Liu 2018, 8.1) */
static void constant_tets(const abut_elastic *e, const double *k, double scale, double *H)
{
    const abut_model *m = e->model;
    for (size_t t = 0; t < (size_t)e->n; t++) {
        const double *B = e->B + 9 * t, rigid = is_rigid(e, (int32_t)t) ? 2 * e->lame[2 * t] / m->mat_young[m->tet_mat[t]] : 1;
        const double w = scale * e->vol[t] * k[m->tet_mat[t]] * rigid;
        double g[12];
        for (int d = 0; d < 3; d++) {
            for (int a = 0; a < 3; a++) g[3 * (a + 1) + d] = B[3 * a + d];
            g[d] = -(B[d] + B[3 + d] + B[6 + d]);
        }
        const double kappa = m->mat_fibre ? scale * e->vol[t] * m->mat_fibre[m->tet_mat[t]] : 0;
        double along[4] = { 0 };    /* the fibre */
        for (int a = 0; a < 4 && kappa > 0; a++)
            for (int d = 0; d < 3; d++) along[a] += g[3 * a + d] * m->tet_fibre[3 * t + (size_t)d];
        for (int a = 0; a < 4; a++)
            for (int b = a; b < 4; b++, H += 9)
                H[0] = H[4] = H[8] = kappa * along[a] * along[b] +
                    w * (g[3 * a] * g[3 * b] + g[3 * a + 1] * g[3 * b + 1] + g[3 * a + 2] * g[3 * b + 2]);
    }
}

static abut_status constant(void *self, const double fit[2], double scale, double *val, abut_err *err)
{
    const abut_elastic *e = &((const elastic *)self)->e;
    if (!e->n) return ABUT_OK;
    double *k = malloc(((size_t)e->model->nm + 1) * sizeof *k);
    const abut_status rc = k ? abut_stiffness_fit_materials(e, fit[0], fit[1], k, err)
                             : abut_fail(err, ABUT_E_NOMEM, "constant matrix: %d materials", e->model->nm);
    if (!rc) constant_tets(e, k, scale, val);
    free(k);
    return rc;
}

static void limit(void *self, const abut_at *at, const double *p, abut_limit *lim)
{
    abut_limit_inversion(((const elastic *)self)->e.model, at->x, p, ABUT_VOLUME_LEFT, lim);
}

/* Words for a tet of order 2 or more, whose elastic energy depends on det F at the points of quadrature alone. */
static void words_of_order(const elastic *t, const double *x, int32_t tet, abut_bound_words *w)
{
    const abut_model *m = t->e.model;
    const abut_elastic_high *e = abut_elastic_high_of(t->terms, abut_tet_order(m, tet));
    const double least = abut_curved_jacobian(m, tet, x, INFINITY, NULL);
    double stress, seen = least;
    if (e) seen = abut_elastic_high_stress(e, x, tet - e->first, &stress, NULL, NULL);
    if (!(seen > 2 * least)) snprintf(w->detail, sizeof w->detail, "det F at least %.3g", least);
    else
        snprintf(w->detail, sizeof w->detail, "det F at least %.3g, %.3g at its points of quadrature: raise 'quadrature'",
                 least, seen);
}

static void limit_words(const void *self, const double *x, const abut_limit *lim, abut_bound_words *w)
{
    const elastic *t = self;
    const abut_model *m = t->e.model;
    double F[9];
    *w = (abut_bound_words){ .what = "element", .number = abut_reordered_tet_number(t->reordered, lim->tet),
                             .object = m->body[m->tet[4 * lim->tet]] };
    if (lim->tet < t->e.n)
        snprintf(w->detail, sizeof w->detail, "%.3g of its rest volume left", abut_elastic_deformation(&t->e, x, lim->tet, F));
    else words_of_order(t, x, lim->tet, w);
}

const abut_term_ops abut_term_elastic = { .name = "elastic", .kind = ABUT_TERM_POTENTIAL, .weight = ABUT_TERM_AT_Z, .make = make,
                                          .stiffness = stiffness, .load = load, .store = store, .energy = energy,
                                          .gradient = gradient, .set = "tets",
                                          .set_is = ABUT_SET_LASTS | ABUT_SET_FUSED, .elements = elements,
                                          .hessian = hessian, .constant = constant, .limit = limit,
                                          .limit_words = limit_words, .free = destroy };

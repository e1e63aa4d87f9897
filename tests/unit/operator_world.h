/* A body of tets with held nodes and random contact matrices, as an operator of a machine and as a matrix of the processor. */
#ifndef ABUT_TESTS_OPERATOR_WORLD_H
#define ABUT_TESTS_OPERATOR_WORLD_H

#include "box_tets.h"
#include "check.h"
#include "gpu/operator.h"
#include "kuhn.h"
#include "machine_open.h"

typedef struct operator_world {
    kuhn_box box;
    abut_elastic e;
    abut_queue q;
    abut_gpu_tets t;
    abut_gpu_operator A;
    size_t nv, n;               /* nodes; numbers of rows */
    double *x, *diag;
    int32_t *row;               /* [nv] backwards, -1: held */
    size_t touching[2];
    int32_t *node[2];
    double *H[2];
    abut_buffer dx, ddiag, dnode[2], dH[2], b, y, bs, ys;
    abut_bsr matrix;
} operator_world;

static abut_err err;

/* packed: the sum of three z z^T, none of whose blocks is symmetric but the diagonal ones */
static inline void touching_matrix(abut_rng *r, double *H)
{
    double z[3][12];
    for (int k = 0; k < 36; k++) z[k / 12][k % 12] = abut_rng_real(r, -1, 1);
    for (int a = 0, k = 0; a < 4; a++)
        for (int c = a; c < 4; c++, k++)
            for (int d = 0; d < 9; d++) {
                H[9 * k + d] = 0;
                for (int m = 0; m < 3; m++) H[9 * k + d] += z[m][3 * a + d / 3] * z[m][3 * c + d % 3];
            }
}

/* n matrices between random nodes: of three corners now and then, with node 5 often */
static inline void touching_make(operator_world *w, int set, size_t n, double size, uint64_t seed)
{
    abut_rng r = { seed };
    w->touching[set] = n;
    w->node[set] = malloc(4 * n * sizeof(int32_t) + 1);
    w->H[set] = malloc(ABUT_PACKED * n * sizeof(double) + 1);
    for (size_t i = 0; i < n; i++) {
        int32_t *v = w->node[set] + 4 * i;
        double *H = w->H[set] + ABUT_PACKED * i;
        const int corners = i % 3 ? 4 : 1 + (int)abut_rng_below(&r, 3);
        for (int c = 0; c < 4; c++) {
            int again = 1;
            while (again) {
                v[c] = i % 2 && !c ? 5 : (int32_t)abut_rng_below(&r, (uint32_t)w->nv);
                again = 0;
                for (int k = 0; k < c; k++) again |= v[k] == v[c];
            }
        }
        touching_matrix(&r, H);
        for (int k = 0; k < ABUT_PACKED; k++) H[k] *= size;
        for (int c = corners; c < 4; c++) v[c] = -1;
        for (int a = 0, k = 0; a < 4; a++)
            for (int c = a; c < 4; c++, k++)
                for (int d = 0; d < 9 && c >= corners; d++) H[9 * k + d] = NAN;     /* is not read */
    }
}

static inline void world_make(operator_world *w, int cells, size_t touching)
{
    *w = (operator_world){ 0 };
    kuhn_build(&w->box, cells, 0.1, 0.15, 6);
    w->nv = (size_t)w->box.model.nv;
    w->x = malloc(3 * w->nv * sizeof *w->x), w->diag = malloc(w->nv * sizeof *w->diag), w->row = malloc(w->nv * sizeof *w->row);
    abut_rng r = { 5 };
    for (size_t i = 0; i < 3 * w->nv; i++) w->x[i] = w->box.X[i] * (i % 3 ? 1.1 : 0.95) + abut_rng_real(&r, -0.01, 0.01);
    int32_t n = 0;
    for (size_t i = w->nv; i-- > 0;) {
        w->diag[i] = abut_rng_real(&r, 0.1, 0.2);
        w->row[i] = i % 11 == 3 ? -1 : n++;
    }
    w->n = 3 * (size_t)n;
    CHECK(!abut_elastic_init(&w->e, &w->box.model, NULL));
    CHECK(!machine_open(&w->q, &err) && !abut_gpu_tets_init(&w->t, &w->q, &w->e, &err));
    CHECK(!abut_buffer_put(&w->q, &w->dx, "x", w->x, 3 * w->nv, sizeof(double), &err));
    CHECK(!abut_buffer_put(&w->q, &w->ddiag, "diag", w->diag, w->nv, sizeof(double), &err));
    CHECK(!abut_buffer_need(&w->q, &w->b, "b", 3 * w->nv, sizeof(double), &err));
    CHECK(!abut_buffer_need(&w->q, &w->y, "y", 3 * w->nv, sizeof(double), &err));
    CHECK(!abut_buffer_need(&w->q, &w->bs, "bs", 3 * w->nv, sizeof(float), &err));
    CHECK(!abut_buffer_need(&w->q, &w->ys, "ys", 3 * w->nv, sizeof(float), &err));
    touching_make(w, 0, touching, 3, 21);
    touching_make(w, 1, touching / 3, 0.1, 22);
    for (int s = 0; s < 2; s++) {
        CHECK(!abut_buffer_put(&w->q, &w->dnode[s], "node", w->node[s], 4 * w->touching[s], sizeof(int32_t), &err));
        CHECK(!abut_buffer_put(&w->q, &w->dH[s], "H", w->H[s], ABUT_PACKED * w->touching[s], sizeof(double), &err));
    }
}

/* the operator with tets in pieces of at_once */
static inline void world_operator(operator_world *w, size_t at_once, double scale)
{
    CHECK(!abut_gpu_operator_init_with(&w->A, &w->q, &w->t, w->row, NULL, 0, at_once, &err));
    CHECK(!abut_gpu_operator_tets(&w->A, w->dx.at, scale, w->ddiag.at, &err));
    for (int s = 0; s < 2; s++)
        abut_gpu_operator_blocks(&w->A, s, (abut_gpu_blocks){ w->touching[s], w->dnode[s].at, w->dH[s].at });
    CHECK(!abut_gpu_operator_ready(&w->A, &err));
}

/* the same matrix on the processor */
static inline void world_matrix(operator_world *w, double scale)
{
    const size_t nt = (size_t)w->box.model.nt;
    double *K = malloc(nt * ABUT_PACKED * sizeof *K), *diag = malloc((w->n / 3 + 1) * sizeof *diag);
    int32_t *rows[3];
    const size_t count[3] = { nt, w->touching[0], w->touching[1] };
    const int32_t *const nodes[3] = { w->box.tet, w->node[0], w->node[1] };
    abut_elastic_hessian(&w->e, w->x, scale, K);
    abut_elements sets[3];
    for (int s = 0; s < 3; s++) {
        rows[s] = malloc(4 * count[s] * sizeof(int32_t) + 1);
        for (size_t i = 0; i < 4 * count[s]; i++) rows[s][i] = nodes[s][i] < 0 ? -1 : w->row[nodes[s][i]];
        sets[s] = (abut_elements){ .corners = 4, .n = count[s], .row = rows[s], .val = s ? w->H[s - 1] : K };
    }
    for (size_t i = 0; i < w->nv; i++)
        if (w->row[i] >= 0) diag[w->row[i]] = w->diag[i];
    CHECK(!abut_bsr_pattern(&w->matrix, (int32_t)(w->n / 3), sets, 3, NULL));
    abut_bsr_assemble(&w->matrix, diag, sets, 3);
    for (int s = 0; s < 3; s++) free(rows[s]);
    free(K), free(diag);
}

static inline void world_free(operator_world *w)
{
    abut_buffer *const all[] = { &w->dx, &w->ddiag,    &w->b,        &w->y,     &w->bs,
                                 &w->ys, &w->dnode[0], &w->dnode[1], &w->dH[0], &w->dH[1] };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) abut_buffer_clear(&w->q, all[i]);
    abut_gpu_operator_clear(&w->A);
    abut_gpu_tets_clear(&w->t);
    CHECK(w->q.bytes == 0);
    abut_queue_close(&w->q);
    abut_bsr_clear(&w->matrix);
    abut_elastic_clear(&w->e);
    kuhn_free(&w->box);
    for (int s = 0; s < 2; s++) free(w->node[s]), free(w->H[s]);
    free(w->x), free(w->diag), free(w->row);
}

static inline double *world_random(size_t n, uint64_t seed)
{
    abut_rng r = { seed };
    double *v = malloc((n + 1) * sizeof *v);
    for (size_t i = 0; i < n; i++) v[i] = abut_rng_real(&r, -1, 1);
    return v;
}

static inline double world_length(const double *v, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++) s += v[i] * v[i];
    return sqrt(s);
}

#endif

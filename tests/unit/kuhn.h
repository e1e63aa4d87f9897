/* A jittered box of tets as an abut_model, for tests of energies: 6 tets a cell along the main diagonal. */
#ifndef ABUT_TESTS_KUHN_H
#define ABUT_TESTS_KUHN_H

#include "base/rng.h"
#include "model/model.h"

#include <stdlib.h>

typedef struct kuhn_box {
    abut_model model;
    double *X;
    int32_t *tet, *tet_mat;
    int32_t mat_model[6];
    double density[6], young[6], poisson[6];
} kuhn_box;

/* n^3 cells of edge `cell` m, interior and boundary nodes moved by up to jitter * cell; tet t has material t % nm */
static inline void kuhn_build(kuhn_box *b, int n, double cell, double jitter, int nm)
{
    static const int perm[6][3] = { { 0, 1, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 0, 2, 1 }, { 2, 1, 0 }, { 1, 0, 2 } };
    const int p = n + 1, step[3] = { 1, p, p * p };
    abut_rng r = { 77 };
    *b = (kuhn_box){ 0 };
    b->X = malloc(sizeof *b->X * 3 * (size_t)(p * p * p));
    b->tet = malloc(sizeof *b->tet * 24 * (size_t)(n * n * n));
    b->tet_mat = malloc(sizeof *b->tet_mat * 6 * (size_t)(n * n * n));
    for (int i = 0; i < p * p * p; i++) {
        const int at[3] = { i % p, i / p % p, i / (p * p) };
        for (int d = 0; d < 3; d++) b->X[3 * i + d] = cell * (at[d] + abut_rng_real(&r, -jitter, jitter));
    }
    int nt = 0;
    for (int c = 0; c < n * n * n; c++) {
        const int base = c % n + c / n % n * p + c / (n * n) * p * p;
        for (int k = 0; k < 6; k++, nt++) {
            int32_t *t = b->tet + 4 * nt;
            t[0] = base;
            for (int d = 0; d < 3; d++) t[d + 1] = t[d] + step[perm[k][d]];
            if (k > 2) {   /* odd permutations are mirror images */
                const int32_t swap = t[1];
                t[1] = t[2];
                t[2] = swap;
            }
            b->tet_mat[nt] = nt % nm;
        }
    }
    for (int i = 0; i < nm; i++) {
        b->mat_model[i] = i;
        b->density[i] = 1000;
        b->young[i] = 1e5;
        b->poisson[i] = 0.4;
    }
    b->model = (abut_model){ .nv = p * p * p, .nt = nt, .nm = nm, .X = b->X, .tet = b->tet, .tet_mat = b->tet_mat,
                             .mat_model = b->mat_model, .mat_density = b->density, .mat_young = b->young,
                             .mat_poisson = b->poisson };
}

static inline void kuhn_free(kuhn_box *b)
{
    free(b->X);
    free(b->tet);
    free(b->tet_mat);
}

#endif

/* Fixture: a box of nx * ny * nz cells, six tetrahedra each, with element matrices like those of springs: symmetric,
 * positive semidefinite, random.  With a positive diagonal the assembled matrix is definite. */
#ifndef ABUT_TESTS_BOX_TETS_H
#define ABUT_TESTS_BOX_TETS_H

#include "base/rng.h"
#include "sparse/bsr.h"
#include "sparse/packed_lanes.h"

#include <stdlib.h>

typedef struct box_tets {
    int32_t nv, nt;
    int32_t *tet;       /* [4 nt] */
    double *val;        /* [ABUT_PACKED nt] */
} box_tets;

static inline void box_tets_free(box_tets *b)
{
    free(b->tet);
    free(b->val);
    *b = (box_tets){ 0 };
}

/* H = sum over the edges of one tet of s * outer(d, d) on the difference of two corners, packed */
static inline void spring_matrix(abut_rng *r, double *H)
{
    static const int pair[4][4] = { { 0, 1, 2, 3 }, { 1, 4, 5, 6 }, { 2, 5, 7, 8 }, { 3, 6, 8, 9 } };
    for (int k = 0; k < ABUT_PACKED; k++) H[k] = 0;
    for (int a = 0; a < 4; a++)
        for (int b = a + 1; b < 4; b++) {
            double d[3];
            for (int i = 0; i < 3; i++) d[i] = abut_rng_real(r, -1, 1);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    H[9 * pair[a][a] + 3 * i + j] += d[i] * d[j];
                    H[9 * pair[b][b] + 3 * i + j] += d[i] * d[j];
                    H[9 * pair[a][b] + 3 * i + j] -= d[i] * d[j];
                }
        }
}

static inline box_tets box_tets_make(int nx, int ny, int nz, uint64_t seed)
{
    static const int path[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    const int step[3] = { 1, nx + 1, (nx + 1) * (ny + 1) };
    box_tets b = { (nx + 1) * (ny + 1) * (nz + 1), 6 * nx * ny * nz, NULL, NULL };
    b.tet = malloc((size_t)b.nt * 4 * sizeof *b.tet);
    b.val = malloc((size_t)b.nt * ABUT_PACKED * sizeof *b.val);
    if (!b.tet || !b.val) abort();
    abut_rng r = { seed };
    int32_t *t = b.tet;
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++)
                for (int p = 0; p < 6; p++) {
                    int32_t v = x + y * step[1] + z * step[2];
                    *t++ = v;
                    for (int k = 0; k < 3; k++) *t++ = v += step[path[p][k]];
                }
    for (int32_t e = 0; e < b.nt; e++) spring_matrix(&r, b.val + (size_t)e * ABUT_PACKED);
    return b;
}

#endif

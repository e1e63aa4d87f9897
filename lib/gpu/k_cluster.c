/* Clusters of 16 rows: their matrices, inverses, and products with these. */
#include "gpu/invert48.h"
#include "gpu/touching.h"

enum { MEMBERS = 16, NUMBERS = WIDE * WIDE };

/* M[3 l + ..][3 m + ..] of the cluster += the blocks of the element matrices between rows l, which is `row`, and m */
ABUT_FN void add_touching(const abut_cluster_args *a, size_t row, double *M, size_t slot)
{
    const abut_touch_args *t = &a->touch;
    const size_t n = t->n[0] + t->n[1], l = slot % MEMBERS;
    for (uint32_t at = t->first[row]; n && at < t->first[row + 1]; at++) {
        const size_t e = t->slot[at] / 4, c = t->slot[at] % 4;
        const double *H = touch_matrix(t, e);
        for (size_t b = 0; b < 4; b++) {
            const int32_t other = t->row[b * n + e];
            if (other < 0 || (size_t)a->slot[other] / MEMBERS != slot / MEMBERS) continue;
            const double *h = H + touch_pair(c, b);
            double *to = M + 3 * l * WIDE + 3 * ((size_t)a->slot[other] % MEMBERS);
            for (size_t i = 0; i < 3; i++)
                for (size_t j = 0; j < 3; j++) to[i * WIDE + j] += h[c <= b ? 3 * i + j : 3 * j + i];
        }
    }
}

ABUT_KERNEL(cluster_rows, abut_cluster_args)
{
    const size_t slot = MEMBERS * a->lo + i, l = slot % MEMBERS;
    const int32_t row = a->row[slot];
    double *M = a->matrix + NUMBERS * (i / MEMBERS);
    for (size_t k = 3 * l; k < 3 * l + 3; k++)
        for (size_t j = 0; j < WIDE; j++) M[k * WIDE + j] = row < 0 && j == k;
    if (row < 0) return;
    const size_t first = a->A.first[(size_t)row / CHUNK], lane = (size_t)row % CHUNK;
    for (size_t k = 0; k < a->A.length[row]; k++) {
        const int32_t other = a->slot[a->A.col[CHUNK * (first + k) + lane]];
        if ((size_t)other / MEMBERS != slot / MEMBERS) continue;
        for (size_t d = 0; d < 9; d++)
            M[(3 * l + d / 3) * WIDE + 3 * ((size_t)other % MEMBERS) + d % 3] = a->A.val[(9 * (first + k) + d) * CHUNK + lane];
    }
    add_touching(a, (size_t)row, M, slot);
}

/* number (i, j) of the inverse of the cluster's diagonal blocks */
ABUT_FN float diagonal_of(const abut_cluster_args *a, size_t cluster, uint32_t i, uint32_t j)
{
    const int32_t row = a->row[MEMBERS * cluster + i / 3];
    if (i / 3 != j / 3) return 0;
    return row < 0 ? (float)(i == j) : a->jacobi[(3 * (i % 3) + j % 3) * a->A.n + (size_t)row];
}

ABUT_GROUP_KERNEL(cluster_invert, abut_cluster_args, WORKERS, INVERT_PHASES, invert48)
{
    double *M = &shared->M[0][0];
    if (phase == 0) {
        if (lane == 0) shared->bad = 0;
        for (uint32_t e = lane; e < NUMBERS; e += WORKERS) M[e] = a->matrix[NUMBERS * i + e];
    } else if (phase < INVERT_PHASES - 1) {
        invert48_phase(shared, lane, phase);
    } else {
        float *to = a->inverse + NUMBERS * (a->lo + i);
        for (uint32_t e = lane; e < NUMBERS; e += WORKERS) {
            const uint32_t k = e / WIDE, j = e % WIDE;
            to[e] = shared->bad ? diagonal_of(a, a->lo + i, k, j) : (float)(0.5 * (M[e] + M[WIDE * j + k]));
        }
        if (lane == 0) a->fallen[a->lo + i] = shared->bad;
    }
}

#define APPLY(T, R, Z) \
    { \
        const size_t cluster = i / WIDE, k = i % WIDE; \
        const int32_t *row = a->row + MEMBERS * cluster, mine = row[k / 3]; \
        const float *inverse = a->inverse + NUMBERS * cluster + k; \
        if (mine < 0 || (a->stop && *a->stop)) return; \
        T sum = 0; \
        for (size_t l = 0; l < MEMBERS && row[l] >= 0; l++) { \
            const T *r = a->R + 3 * (size_t)row[l]; \
            const float *m = inverse + 3 * WIDE * l; \
            sum += (T)m[0] * r[0] + (T)m[WIDE] * r[1] + (T)m[2 * WIDE] * r[2]; \
        } \
        if (a->part) { \
            const float *w = a->w + 6 * (size_t)a->part[mine], *arm = a->arm + 3 * (size_t)mine; \
            const size_t d = k % 3, e = (d + 1) % 3, f = (d + 2) % 3; \
            sum += (T)(w[d] + (w[3 + e] * arm[f] - w[3 + f] * arm[e])); \
        } \
        a->Z[3 * (size_t)mine + k % 3] = sum; \
    }

ABUT_KERNEL(cluster_apply, abut_cluster_args)
APPLY(double, r, z)

ABUT_KERNEL(cluster_apply_single, abut_cluster_args)
APPLY(float, r_single, z_single)

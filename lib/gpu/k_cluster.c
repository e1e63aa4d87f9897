/* Clusters of 16 rows: their matrices, inverses, and products with these. */
#include "gpu/invert48.h"
#include "gpu/touching.h"

enum { MEMBERS = 16, NUMBERS = WIDE * WIDE };

/* ---- an order that keeps near rows together ---- */

enum { AXIS_BITS = 16 };

/* Place on Hilbert's curve of a cube, by numbers of 16 bits along the axes (Skilling 2004, "Programming the Hilbert curve"). */
ABUT_FN uint64_t hilbert_place(uint32_t v[3])
{
    uint32_t turned = 0;
    for (uint32_t bit = 1u << (AXIS_BITS - 1); bit > 1; bit >>= 1)
        for (int k = 0; k < 3; k++) {
            const uint32_t low = bit - 1, swapped = v[k] & bit ? low : (v[0] ^ v[k]) & low;
            v[0] ^= swapped;
            if (!(v[k] & bit)) v[k] ^= swapped;
        }
    v[1] ^= v[0];
    v[2] ^= v[1];
    for (uint32_t bit = 1u << (AXIS_BITS - 1); bit > 1; bit >>= 1)
        if (v[2] & bit) turned ^= bit - 1;
    uint64_t place = 0;
    for (int b = AXIS_BITS - 1; b >= 0; b--)
        for (int k = 0; k < 3; k++) place = place << 1 | ((v[k] ^ turned) >> b & 1);
    return place;
}

ABUT_KERNEL(cluster_key, abut_cluster_args)
{
    const double *x = a->x + 3 * (size_t)a->node[i], half = 1 << (AXIS_BITS - 1);
    uint32_t v[3];
    for (int k = 0; k < 3; k++) {
        const double at = floor((x[k] - a->origin[k]) / a->unit) + half;
        v[k] = at > 0 ? at < 2 * half ? (uint32_t)at : 2 * (uint32_t)half - 1 : 0;
    }
    a->key[i] = hilbert_place(v);
    a->row[i] = (int32_t)i;
}

ABUT_KERNEL(cluster_slot, abut_cluster_args)
{
    a->slot[a->row[i]] = (int32_t)i;
}

/* ---- their matrices ---- */

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

/* ---- their use ---- */

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

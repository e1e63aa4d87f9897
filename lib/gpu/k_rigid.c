/* Rigid motions of parts: Z, E = Z^T A Z, its inverse, and products with these. */
#include "gpu/invert48.h"
#include "gpu/touching.h"

enum { MOTIONS = 6, LANES = 64, HALVINGS = 6, TILE = WIDE * WIDE };
#define ROTATION_FLOOR 1e-9     /* parts in a line or a point have rotations that move nothing */

/* ---- arms ---- */

typedef struct lanes3 {
    double v[LANES][3], mean[3];
} lanes3;

/* Phases 1 .. HALVINGS: v[0] becomes the sum of all lanes' or, of v[.][0], the largest. */
ABUT_FN void fold3(lanes3 *s, uint32_t lane, uint32_t phase, int largest)
{
    const uint32_t half = LANES >> phase;
    if (lane >= half) return;
    if (largest) s->v[lane][0] = s->v[lane + half][0] > s->v[lane][0] ? s->v[lane + half][0] : s->v[lane][0];
    for (int d = 0; d < 3 && !largest; d++) s->v[lane][d] += s->v[lane + half][d];
}

ABUT_GROUP_KERNEL(rigid_arms, abut_rigid_args, LANES, 2 * HALVINGS + 4, lanes3)
{
    const uint32_t lo = a->first[i], hi = a->first[i + 1];
    if (phase == 0) {
        for (int d = 0; d < 3; d++) shared->v[lane][d] = 0;
        for (uint32_t m = lo + lane; m < hi; m += LANES)
            for (int d = 0; d < 3; d++) shared->v[lane][d] += a->x[3 * (size_t)a->node[a->member[m]] + (size_t)d];
    } else if (phase <= HALVINGS) {
        fold3(shared, lane, phase, 0);
    } else if (phase == HALVINGS + 1) {
        if (lane < 3) shared->mean[lane] = shared->v[0][lane] / (hi - lo);
    } else if (phase == HALVINGS + 2) {
        double far2 = 0;
        for (uint32_t m = lo + lane; m < hi; m += LANES) {
            const double *x = a->x + 3 * (size_t)a->node[a->member[m]];
            double r2 = 0;
            for (int d = 0; d < 3; d++) r2 += (x[d] - shared->mean[d]) * (x[d] - shared->mean[d]);
            far2 = r2 > far2 ? r2 : far2;
        }
        shared->v[lane][0] = far2;
    } else if (phase <= 2 * HALVINGS + 2) {
        fold3(shared, lane, phase - HALVINGS - 2, 1);
    } else {
        const double far = sqrt(shared->v[0][0]), unit = far > 0 ? 1 / far : 1;
        for (uint32_t m = lo + lane; m < hi; m += LANES) {
            const size_t row = (size_t)a->member[m], node = (size_t)a->node[row];
            for (size_t d = 0; d < 3; d++) a->arm[3 * row + d] = (float)((a->x[3 * node + d] - shared->mean[d]) * unit);
        }
    }
}

/* ---- E ---- */

ABUT_KERNEL(rigid_key, abut_rigid_args)
{
    const abut_touch_args *t = &a->touch;
    const size_t n = t->n[0] + t->n[1], e = i / 16;
    const int32_t r = t->row[i / 4 % 4 * n + e], c = t->row[i % 4 * n + e];
    uint64_t pair = (uint64_t)a->parts * a->parts;
    if (r >= 0 && c >= 0 && a->part[r] >= a->part[c]) pair = (uint64_t)a->parts * (uint64_t)a->part[r] + (uint64_t)a->part[c];
    a->key[i] = pair;
    a->slot[i] = (uint32_t)i;
}

/* s[6][6] += [1, S_r]^T B [1, S_c], where S w = w x arm; B[stride d] or its transpose */
ABUT_FN void add_motions(const abut_rigid_args *a, int32_t r, int32_t c, const double *B, size_t stride, int across, double *s)
{
    const float *ar = a->arm + 3 * (size_t)r, *ac = a->arm + 3 * (size_t)c;
    double q[3][MOTIONS];
    for (size_t i = 0; i < 3; i++) {
        double b[3];
        for (size_t j = 0; j < 3; j++) q[i][j] = b[j] = B[stride * (across ? 3 * j + i : 3 * i + j)];
        q[i][3] = b[2] * (double)ac[1] - b[1] * (double)ac[2];
        q[i][4] = b[0] * (double)ac[2] - b[2] * (double)ac[0];
        q[i][5] = b[1] * (double)ac[0] - b[0] * (double)ac[1];
    }
    for (int d = 0; d < MOTIONS; d++) {
        for (int i = 0; i < 3; i++) s[MOTIONS * i + d] += q[i][d];
        s[18 + d] += (double)ar[1] * q[2][d] - (double)ar[2] * q[1][d];
        s[24 + d] += (double)ar[2] * q[0][d] - (double)ar[0] * q[2][d];
        s[30 + d] += (double)ar[0] * q[1][d] - (double)ar[1] * q[0][d];
    }
}

/* Number of keys below `key`. */
ABUT_FN size_t below(const abut_rigid_args *a, uint64_t key)
{
    size_t lo = 0, hi = a->count;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (a->key[mid] < key) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

typedef struct lanes36 {
    double v[LANES][MOTIONS * MOTIONS];
} lanes36;

/* contribution of a lane to the block of a pair */
ABUT_FN void add_pair(const abut_rigid_args *a, size_t pair, uint32_t lane, double *s)
{
    const size_t n = a->touch.n[0] + a->touch.n[1], end = a->count ? below(a, pair + 1) : 0;
    for (uint32_t b = a->pair_first[pair] + lane; b < a->pair_first[pair + 1]; b += LANES)
        add_motions(a, a->block_row[b], a->block_col[b], a->val + a->block_at[b], CHUNK, 0, s);
    for (size_t k = (a->count ? below(a, pair) : 0) + lane; k < end; k += LANES) {
        const size_t e = a->slot[k] / 16, p = a->slot[k] / 4 % 4, q = a->slot[k] % 4;
        const double *H = touch_matrix(&a->touch, e) + touch_pair(p, q);
        add_motions(a, a->touch.row[p * n + e], a->touch.row[q * n + e], H, 1, p > q, s);
    }
}

/* number (k, d) of a pair, as it goes into E */
ABUT_FN double pair_number(const lanes36 *s, uint32_t k, uint32_t d, int same)
{
    const double *v = s->v[0];
    if (!same) return v[MOTIONS * k + d];
    const double floor = k == d && k >= 3 ? ROTATION_FLOOR * (v[0] + v[7] + v[14]) : 0;
    return 0.5 * (v[MOTIONS * k + d] + v[MOTIONS * d + k]) + floor;
}

ABUT_GROUP_KERNEL(rigid_matrix, abut_rigid_args, LANES, HALVINGS + 2, lanes36)
{
    const size_t p = i / a->parts, q = i % a->parts;
    if (p < q) return;
    if (phase == 0) {
        double s[MOTIONS * MOTIONS];
        for (int k = 0; k < MOTIONS * MOTIONS; k++) s[k] = 0;
        add_pair(a, i, lane, s);
        for (int k = 0; k < MOTIONS * MOTIONS; k++) shared->v[lane][k] = s[k];
    } else if (phase <= HALVINGS) {
        const uint32_t half = LANES >> phase;
        for (int k = 0; k < MOTIONS * MOTIONS && lane < half; k++) shared->v[lane][k] += shared->v[lane + half][k];
    } else if (lane < MOTIONS * MOTIONS) {
        const uint32_t k = lane / MOTIONS, d = lane % MOTIONS;
        const double v = pair_number(shared, k, d, p == q);
        a->E[(MOTIONS * p + k) * a->wide + MOTIONS * q + d] = v;
        if (p != q) a->E[(MOTIONS * q + d) * a->wide + MOTIONS * p + k] = v;
    }
}

/* ---- E^-1, by blocks of 48 numbers: Gauss-Jordan ---- */

/* number e of block (r, c) of E */
ABUT_FN double *block_of(const abut_rigid_args *a, size_t r, size_t c, uint32_t e)
{
    return a->E + (WIDE * r + e / WIDE) * a->wide + WIDE * c + e % WIDE;
}

ABUT_GROUP_KERNEL(rigid_pivot, abut_rigid_args, WORKERS, INVERT_PHASES, invert48)
{
    double *M = &shared->M[0][0];
    if (phase == 0) {
        if (lane == 0) shared->bad = 0;
        for (uint32_t e = lane; e < TILE; e += WORKERS) {
            const uint32_t row = WIDE * a->step + e / WIDE;
            M[e] = row < MOTIONS * a->parts ? *block_of(a, a->step, a->step, e) : e / WIDE == e % WIDE;
        }
    } else if (phase < INVERT_PHASES - 1) {
        invert48_phase(shared, lane, phase);
    } else {
        for (uint32_t e = lane; e < TILE; e += WORKERS) a->pivot[e] = M[e];
        if (lane == 0 && shared->bad) *a->bad = 1;
    }
    (void)i;
}

typedef struct tiles {
    double left[WIDE][WIDE], right[WIDE][WIDE];
} tiles;

/* number (k, j) of left times right */
ABUT_FN double tile_product(const tiles *s, uint32_t k, uint32_t j)
{
    double sum = 0;
    for (uint32_t m = 0; m < WIDE; m++) sum += s->left[k][m] * s->right[m][j];
    return sum;
}

/* Block i of the pivot's row times the pivot's inverse, into across; that of its column into down. */
ABUT_GROUP_KERNEL(rigid_panel, abut_rigid_args, WORKERS, 2, tiles)
{
    for (uint32_t e = lane; e < TILE; e += WORKERS) {
        if (phase == 0) {
            shared->left[e / WIDE][e % WIDE] = a->pivot[e];
            shared->right[e / WIDE][e % WIDE] = *block_of(a, a->step, i, e);
            a->down[TILE * i + e] = *block_of(a, i, a->step, e);
        } else {
            a->across[TILE * i + e] = tile_product(shared, e / WIDE, e % WIDE);
        }
    }
}

/* Block (r, c) after the step. */
ABUT_GROUP_KERNEL(rigid_update, abut_rigid_args, WORKERS, 2, tiles)
{
    const size_t n = a->wide / WIDE, r = i / n, c = i % n;
    const int in_row = r == a->step, in_col = c == a->step;
    for (uint32_t e = lane; e < TILE; e += WORKERS) {
        double *to = block_of(a, r, c, e);
        if (phase == 0) {
            shared->left[e / WIDE][e % WIDE] = a->down[TILE * r + e];
            shared->right[e / WIDE][e % WIDE] = in_col ? a->pivot[e] : a->across[TILE * c + e];
        } else if (in_row) {
            *to = shared->right[e / WIDE][e % WIDE];
        } else {
            *to = (in_col ? 0 : *to) - tile_product(shared, e / WIDE, e % WIDE);
        }
    }
}

ABUT_KERNEL(rigid_narrow, abut_rigid_args)
{
    const size_t n = MOTIONS * (size_t)a->parts, r = i / n, c = i % n;
    a->inverse[i] = *a->bad ? 0 : (float)(0.5 * (a->E[r * a->wide + c] + a->E[c * a->wide + r]));
}

/* ---- its use ---- */

typedef struct lanes6 {
    double v[LANES][MOTIONS];
} lanes6;

#define RESTRICT(R) \
    { \
        if (a->stop && *a->stop) return; \
        if (phase == 0) { \
            double t[MOTIONS] = { 0, 0, 0, 0, 0, 0 }; \
            for (uint32_t m = a->first[i] + lane; m < a->first[i + 1]; m += LANES) { \
                const size_t row = (size_t)a->member[m]; \
                const double f[3] = { (double)a->R[3 * row], (double)a->R[3 * row + 1], (double)a->R[3 * row + 2] }; \
                const float *arm = a->arm + 3 * row; \
                for (int d = 0; d < 3; d++) t[d] += f[d]; \
                t[3] += (double)arm[1] * f[2] - (double)arm[2] * f[1]; \
                t[4] += (double)arm[2] * f[0] - (double)arm[0] * f[2]; \
                t[5] += (double)arm[0] * f[1] - (double)arm[1] * f[0]; \
            } \
            for (int d = 0; d < MOTIONS; d++) shared->v[lane][d] = t[d]; \
        } else if (phase <= HALVINGS) { \
            const uint32_t half = LANES >> phase; \
            for (int d = 0; d < MOTIONS && lane < half; d++) shared->v[lane][d] += shared->v[lane + half][d]; \
        } else if (lane < MOTIONS) { \
            a->v[MOTIONS * i + lane] = (float)shared->v[0][lane]; \
        } \
    }

ABUT_GROUP_KERNEL(rigid_restrict, abut_rigid_args, LANES, HALVINGS + 2, lanes6)
RESTRICT(r)

ABUT_GROUP_KERNEL(rigid_restrict_single, abut_rigid_args, LANES, HALVINGS + 2, lanes6)
RESTRICT(r_single)

typedef struct lanes1 {
    double v[LANES];
} lanes1;

ABUT_GROUP_KERNEL(rigid_solve, abut_rigid_args, LANES, HALVINGS + 2, lanes1)
{
    const uint32_t n = MOTIONS * a->parts;
    if (a->stop && *a->stop) return;
    if (phase == 0) {
        double sum = 0;
        for (uint32_t j = lane; j < n; j += LANES) sum += (double)a->inverse[(size_t)n * i + j] * (double)a->v[j];
        shared->v[lane] = sum;
    } else if (phase <= HALVINGS) {
        const uint32_t half = LANES >> phase;
        if (lane < half) shared->v[lane] += shared->v[lane + half];
    } else if (lane == 0) {
        a->w[i] = (float)shared->v[0];
    }
}

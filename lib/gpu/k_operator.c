/* The operator (gpu/operator.h): products with a block matrix and with element matrices, diagonal blocks, preconditioners. */
#include "gpu/kernel.h"
#include "math/elementary_inline.h"
#include "math/mat3.h"

enum { CHUNK = 32 /* rows of the operator */, PIECE = 16 /* terms that are summed apart */ };

/* Returns the offset of block (a, b) in a packed matrix; of its transpose if b < a. */
ABUT_FN size_t touch_pair(size_t a, size_t b)
{
    const size_t lo = a < b ? a : b, hi = a < b ? b : a;
    return 9 * (lo * 4 - lo * (lo - 1) / 2 + hi - lo);
}

/* of element e of both sets: its four nodes, its matrix */
ABUT_FN const int32_t *touch_nodes(const abut_touch_args *a, size_t e)
{
    return e < a->n[0] ? a->node[0] + 4 * e : a->node[1] + 4 * (e - a->n[0]);
}

ABUT_FN const double *touch_matrix(const abut_touch_args *a, size_t e)
{
    return e < a->n[0] ? a->val[0] + 90 * e : a->val[1] + 90 * (e - a->n[0]);
}

/* ---- the matrix of the tets ---- */

ABUT_KERNEL(assemble, abut_assemble_args)
{
    const size_t part = i / 9, d = i % 9, across = 3 * (d % 3) + d / 3;
    double sum = 0;
    for (uint32_t k = a->first[part]; k < a->first[part + 1]; k++) {
        const uint32_t item = a->item[k];
        sum += a->H[9 * (size_t)(item >> 1) + (item & 1 ? across : d)];
    }
    const size_t at = a->at[part], mirror = a->mirror[part];
    a->val[at + CHUNK * d] += sum;
    if (mirror != at) a->val[mirror + CHUNK * across] += sum;
}

ABUT_KERNEL(diagonal, abut_diagonal_args)
{
    const double v = a->diag[a->node[i]];
    for (size_t d = 0; d < 9; d += 4) a->val[a->at[i] + CHUNK * d] += v;
}

/* item 96 c + 32 k + l: number k of row 32 c + l */
#define MULTIPLY(T, VAL, X, Y, SUM) \
    { \
        const size_t chunk = i / (3 * CHUNK), k = i % (3 * CHUNK) / CHUNK, lane = i % CHUNK, row = CHUNK * chunk + lane; \
        if (row >= a->n || (a->stop && *a->stop)) return; \
        const T *ABUT_RESTRICT v = a->VAL + 9 * CHUNK * (size_t)a->first[chunk] + 3 * CHUNK * k + lane; \
        const int32_t *ABUT_RESTRICT col = a->col + CHUNK * (size_t)a->first[chunk] + lane; \
        T sum = 0; \
        for (uint32_t b = a->length[row]; b; b--, v += 9 * CHUNK, col += CHUNK) { \
            const T *x = a->X + 3 * (size_t)*col; \
            sum += v[0] * x[0] + v[CHUNK] * x[1] + v[2 * CHUNK] * x[2]; \
        } \
        const uint32_t end = a->pieces ? a->piece_first[row + 1] : 0; \
        for (uint32_t p = a->pieces ? a->piece_first[row] : 0; p < end; p++) sum += a->SUM[k * a->pieces + p]; \
        a->Y[3 * row + k] = sum; \
    }

ABUT_KERNEL(multiply, abut_multiply_args)
MULTIPLY(double, val, x, y, sum)

ABUT_KERNEL(multiply_single, abut_multiply_args)
MULTIPLY(float, val_single, x_single, y_single, sum_single)

/* ---- element matrices that come and go ---- */

ABUT_KERNEL(touch_key, abut_touch_args)
{
    const size_t e = i / 4, corner = i % 4;
    const int32_t node = touch_nodes(a, e)[corner], row = node < 0 ? -1 : a->row_of[node];
    a->row[corner * (a->n[0] + a->n[1]) + e] = row;
    a->key[i] = row < 0 ? a->rows : (uint64_t)row;
    a->slot[i] = (uint32_t)i;
}

ABUT_KERNEL(touch_first, abut_touch_args)
{
    a->first[i] = (uint32_t)abut_keys_below(a->key, a->count, i);
}

ABUT_KERNEL(touch_narrow, abut_touch_args)
{
    const size_t n = a->n[0] + a->n[1];
    const double *H = touch_matrix(a, i);
    for (size_t c = 0; c < 4; c++)
        for (size_t b = c; b < 4; b++) {
            const size_t at = touch_pair(c, b);
            const int used = a->row[c * n + i] >= 0 && a->row[b * n + i] >= 0;
            for (size_t d = at; d < at + 9; d++) a->single[d * n + i] = used ? (float)H[d] : 0;
        }
}

ABUT_KERNEL(touch_pieces, abut_touch_args)
{
    a->pieces[i] = (a->first[i + 1] - a->first[i] + PIECE - 1) / PIECE;
}

ABUT_KERNEL(touch_piece, abut_touch_args)
{
    for (uint32_t p = a->piece_first[i]; p < a->piece_first[i + 1]; p++) a->piece_row[p] = (int32_t)i;
}

/* s = rows of corner c of the product of an element matrix, number d of which is H[d * stride] */
#define TOUCH_MULTIPLY(T, H, STRIDE, X, OUT) \
    { \
        const size_t n = a->n[0] + a->n[1], c = i / n, e = i % n; \
        if (a->row[i] < 0 || (a->stop && *a->stop)) return; \
        T s[3] = { 0, 0, 0 }; \
        for (size_t b = 0; b < 4; b++) { \
            const int32_t row = a->row[b * n + e]; \
            if (row < 0) continue; \
            const T *x = a->X + 3 * (size_t)row, *h = (H) + (STRIDE) * touch_pair(c, b); \
            for (size_t k = 0; k < 3; k++) \
                for (size_t j = 0; j < 3; j++) s[k] += h[(STRIDE) * (c <= b ? 3 * k + j : 3 * j + k)] * x[j]; \
        } \
        for (size_t k = 0; k < 3; k++) a->OUT[(3 * c + k) * n + e] = s[k]; \
    }

ABUT_KERNEL(touch_multiply, abut_touch_args)
TOUCH_MULTIPLY(double, touch_matrix(a, e), 1, x, t)

ABUT_KERNEL(touch_multiply_single, abut_touch_args)
TOUCH_MULTIPLY(float, a->single + e, n, x_single, t_single)

#define TOUCH_GATHER(T, IN, OUT) \
    { \
        const size_t k = i / a->n_pieces, p = i % a->n_pieces, row = (size_t)a->piece_row[p], n = a->n[0] + a->n[1]; \
        if (a->stop && *a->stop) return; \
        const uint32_t lo = a->first[row] + PIECE * ((uint32_t)p - a->piece_first[row]), end = a->first[row + 1]; \
        const uint32_t hi = end - lo > PIECE ? lo + PIECE : end; \
        T sum = 0; \
        for (uint32_t at = lo; at < hi; at++) sum += a->IN[(3 * (a->slot[at] % 4) + k) * n + a->slot[at] / 4]; \
        a->OUT[i] = sum; \
    }

ABUT_KERNEL(touch_gather, abut_touch_args)
TOUCH_GATHER(double, t, sum)

ABUT_KERNEL(touch_gather_single, abut_touch_args)
TOUCH_GATHER(float, t_single, sum_single)

/* ---- diagonal blocks ---- */

/* D += those of the element matrices at a row */
ABUT_FN void diagonal_touching(const abut_touch_args *t, size_t row, double D[9])
{
    const uint32_t end = t->first[row + 1];
    for (uint32_t at = t->first[row]; at < end;) {
        const uint32_t stop = end - at > PIECE ? at + PIECE : end;
        double piece[9] = { 0, 0, 0, 0, 0, 0, 0, 0, 0 };
        for (; at < stop; at++) {
            const size_t slot = t->slot[at];
            const double *H = touch_matrix(t, slot / 4) + touch_pair(slot % 4, slot % 4);
            for (int d = 0; d < 9; d++) piece[d] += H[d];
        }
        for (int d = 0; d < 9; d++) D[d] += piece[d];
    }
}

ABUT_KERNEL(jacobi, abut_jacobi_args)
{
    double D[9], inverse[9];
    for (size_t d = 0; d < 9; d++) D[d] = a->val[a->at[i] + CHUNK * d];
    if (a->touch.n[0] + a->touch.n[1]) diagonal_touching(&a->touch, i, D);
    for (int d = 1; d < 3; d++) D[d] = D[3 * d] = 0.5 * (D[d] + D[3 * d]);
    D[5] = D[7] = 0.5 * (D[5] + D[7]);
    for (size_t d = 0; a->block && d < 9; d++) a->block[9 * i + d] = D[d];
    const double det = abut_m3_inverse(inverse, D);
    const int definite = D[0] > 0 && D[0] * D[4] - D[1] * D[3] > 0 && det > 0;
    for (size_t d = 0; d < 9; d++)
        a->inverse[d * a->n + i] = definite ? (float)inverse[d] : d % 4 ? 0 : (float)(1 / (fabs(D[0]) + fabs(D[4]) + fabs(D[8])));
}

ABUT_KERNEL(spread, abut_spread_args)
{
    const int32_t row = a->row_of[i];
    for (size_t k = 0; k < 3; k++) a->out[3 * i + k] = row < 0 ? 0 : a->scale * a->in[3 * (size_t)row + k];
}

/* ---- the inverse of a symmetric matrix of 48 rows by a group of 192 lanes: Gauss-Jordan without pivots ---- */

enum { WIDE = 48, WORKERS = 192 /* lanes: each has a quarter of a column */,
       INVERT_PHASES = 2 * WIDE + 2 /* phase 0 fills M, the last one takes it */ };

typedef struct invert48 {
    double M[WIDE][WIDE], row[WIDE], col[WIDE];
    uint32_t bad;       /* a pivot was not positive */
} invert48;

/* Phases 1 .. 2 WIDE; phase 0 has set bad to 0. */
ABUT_FN void invert48_phase(invert48 *s, uint32_t lane, uint32_t phase)
{
    const uint32_t k = (phase - 1) / 2;
    if (phase % 2) {
        if (lane < WIDE) s->row[lane] = s->M[k][lane];
        else if (lane < 2 * WIDE) s->col[lane - WIDE] = s->M[lane - WIDE][k];
        else if (lane == 2 * WIDE && !(s->M[k][k] > 0)) s->bad = 1;
        return;
    }
    const uint32_t j = lane % WIDE;
    const double p = 1 / s->col[k], across = s->row[j] * p;
    for (uint32_t i = lane / WIDE; i < WIDE; i += WORKERS / WIDE) {
        double *m = &s->M[i][j];
        if (i == k) *m = j == k ? p : across;
        else *m = j == k ? -s->col[i] * p : *m - s->col[i] * across;
    }
}

/* ---- clusters of 16 rows: an order that keeps near rows together ---- */

enum { MEMBERS = 16, NUMBERS = WIDE * WIDE };

/* ---- an order that keeps near rows together ---- */

enum { AXIS_BITS = 16 };

ABUT_KERNEL(cluster_key, abut_cluster_args)
{
    const double *x = a->x + 3 * (size_t)a->node[i], half = 1 << (AXIS_BITS - 1);
    uint32_t v[3];
    for (int k = 0; k < 3; k++) {
        const double at = floor((x[k] - a->origin[k]) / a->unit) + half;
        v[k] = at > 0 ? at < 2 * half ? (uint32_t)at : 2 * (uint32_t)half - 1 : 0;
    }
    a->key[i] = abut_hilbert(v, AXIS_BITS);
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

enum { MOTIONS = 6, LANES = 64, HALVINGS = 6, TILE = WIDE * WIDE };
#define ROTATION_FLOOR 1e-9     /* parts in a line or a point have rotations that move nothing */

/* ---- arms ---- */

typedef struct lanes3 {
    double v[LANES][3], mean[3];
} lanes3;

/* Phases 1 .. HALVINGS: the numbers v[n] of lane 0 become the sums over all lanes. */
ABUT_FN void fold(double *v, uint32_t n, uint32_t lane, uint32_t phase)
{
    const uint32_t half = LANES >> phase;
    for (uint32_t d = 0; d < n && lane < half; d++) v[n * lane + d] += v[n * (lane + half) + d];
}

ABUT_GROUP_KERNEL(rigid_arms, abut_rigid_args, LANES, 2 * HALVINGS + 4, lanes3)
{
    const uint32_t lo = a->first[i], hi = a->first[i + 1];
    if (phase == 0) {
        for (int d = 0; d < 3; d++) shared->v[lane][d] = 0;
        for (uint32_t m = lo + lane; m < hi; m += LANES)
            for (int d = 0; d < 3; d++) shared->v[lane][d] += a->x[3 * (size_t)a->node[a->member[m]] + (size_t)d];
    } else if (phase <= HALVINGS) {
        fold(shared->v[0], 3, lane, phase);
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
        const uint32_t half = LANES >> (phase - HALVINGS - 2);
        if (lane < half && shared->v[lane + half][0] > shared->v[lane][0]) shared->v[lane][0] = shared->v[lane + half][0];
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

typedef struct lanes36 {
    double v[LANES][MOTIONS * MOTIONS];
} lanes36;

/* contribution of a lane to the block of a pair */
ABUT_FN void add_pair(const abut_rigid_args *a, size_t pair, uint32_t lane, double *s)
{
    const size_t n = a->touch.n[0] + a->touch.n[1], end = a->count ? abut_keys_below(a->key, a->count, pair + 1) : 0;
    for (uint32_t b = a->pair_first[pair] + lane; b < a->pair_first[pair + 1]; b += LANES)
        add_motions(a, a->block_row[b], a->block_col[b], a->val + a->block_at[b], CHUNK, 0, s);
    for (size_t k = (a->count ? abut_keys_below(a->key, a->count, pair) : 0) + lane; k < end; k += LANES) {
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
        fold(shared->v[0], MOTIONS * MOTIONS, lane, phase);
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
            fold(shared->v[0], MOTIONS, lane, phase); \
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
        fold(shared->v, 1, lane, phase);
    } else if (lane == 0) {
        a->w[i] = (float)shared->v[0];
    }
}

/* Products with a block matrix and with element matrices, and their diagonal blocks. */
#include "gpu/kernel.h"
#include "gpu/touching.h"
#include "math/mat3.h"

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
    size_t lo = 0, hi = a->count;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (a->key[mid] < i) lo = mid + 1;
        else hi = mid;
    }
    a->first[i] = (uint32_t)lo;
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
ABUT_FN void add_touching(const abut_touch_args *t, size_t row, double D[9])
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
    if (a->touch.n[0] + a->touch.n[1]) add_touching(&a->touch, i, D);
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

/* Boxes of moving vertices, and trees over primitives made of them (geom/broad_phase.h). */
#include "geom/broad_phase_inline.h"

#include "gpu/kernel.h"

ABUT_KERNEL(vertex_boxes, abut_boxes_args)
{
    const double *p = a->y0 + 3 * i, *q = a->y1 ? a->y1 + 3 * i : p;
    const double pad = 0.5 * a->reach + (a->xi ? 0.5 * a->xi[i] : 0);
    float *box = a->box + ABUT_ROWS * i;
    double row[6], most = 0;
    for (int d = 0; d < 3; d++) {
        abut_broad_vertex_rows(p[d], q[d], pad, row);
        for (int k = 0; k < 6; k++) box[3 * k + d] = abut_broad_below(row[k]);
        for (int k = 4; k < 6; k++)     /* NaN is kept */
            most = fabs(row[k]) <= most || most != most ? most : fabs(row[k]);
    }
    a->size[i] = most;
}

ABUT_KERNEL(vertex_sides, abut_sides_args)
{
    for (size_t c = 0; c < 3; c++) {
        a->side[i + c * a->n] = a->y[3 * i + c];
        a->side[i + (3 + c) * a->n] = -a->y[3 * i + c];
    }
}

enum { CURVE_BITS = 14 };

/* Every third bit from the lowest on. */
ABUT_FN uint64_t spread3(uint64_t v)
{
    v = (v | v << 32) & 0x001f00000000ffffULL;
    v = (v | v << 16) & 0x001f0000ff0000ffULL;
    v = (v | v << 8) & 0x100f00f00f00f00fULL;
    v = (v | v << 4) & 0x10c30c30c30c30c3ULL;
    return (v | v << 2) & 0x1249249249249249ULL;
}

ABUT_KERNEL(tree_curve, abut_curve_args)
{
    uint64_t key = 0;
    for (int c = 0; c < 3; c++) {
        const double lo = a->least[2 * c], hi = -a->least[2 * (3 + c)];
        double at = 0;
        for (uint32_t k = 0; k < a->k; k++) at += a->y[3 * (size_t)(a->vert ? a->vert[a->k * i + k] : (int32_t)i) + (size_t)c];
        const double t = (at / a->k - lo) / (hi - lo) * (1 << CURVE_BITS);
        const uint64_t cell = t > 0 ? t < (1 << CURVE_BITS) - 1 ? (uint64_t)t : (1 << CURVE_BITS) - 1 : 0;
        key |= spread3(cell) << c;
    }
    a->key[i] = key;
    a->order[i] = (uint32_t)i;
}

ABUT_KERNEL(tree_leaf, abut_leaf_args)
{
    const size_t item = a->order[i];
    float *row = a->row + ABUT_TREE_ROW * i, low[ABUT_ROWS], extent = 0;
    int moves = 0;
    for (uint32_t k = 0; k < a->k; k++) {
        const size_t v = a->vert ? (size_t)a->vert[a->k * item + k] : item;
        const float *box = a->box + ABUT_ROWS * v;
        for (int r = 0; r < ABUT_ROWS; r++) low[r] = k && low[r] < box[r] ? low[r] : box[r];
        moves |= !(a->fixed && a->fixed[v]);
    }
    for (int d = 0; d < 3; d++) {
        const float e = -low[ABUT_AT_HI + d] - low[ABUT_AT_LO + d];
        extent = e > extent ? e : extent;
    }
    for (int r = 0; r < ABUT_ROWS; r++) row[r] = low[r];
    row[ABUT_TREE_EXTENT] = extent;
    row[ABUT_TREE_MOVES] = moves ? 1.0f : 0.0f;
}

ABUT_KERNEL(tree_level, abut_level_args)
{
    const uint32_t lo = (uint32_t)i * ABUT_TREE_WIDE, hi = lo + ABUT_TREE_WIDE < a->n ? lo + ABUT_TREE_WIDE : a->n;
    float *row = a->row + ABUT_TREE_ROW * i, all[ABUT_TREE_ROW];
    for (uint32_t k = lo; k < hi; k++) {
        const float *below = a->below + ABUT_TREE_ROW * (size_t)k;
        for (int r = 0; r < ABUT_ROWS; r++) all[r] = k > lo && all[r] < below[r] ? all[r] : below[r];
        for (int r = ABUT_ROWS; r < ABUT_TREE_ROW; r++) all[r] = k > lo && all[r] > below[r] ? all[r] : below[r];
    }
    for (int r = 0; r < ABUT_TREE_ROW; r++) row[r] = all[r];
}

/* Broad phase (geom/broad_phase.h): boxes of moving vertices, trees over primitives made of them, queries of primitives. */
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

/* ---- queries: which primitives may come close ---- */

enum { TREE_STACK = (ABUT_TREE_WIDE - 1) * ABUT_TREE_LEVELS + 1 };

/* A query: its rows with their sign changed, its primitive. */
typedef struct abut_query {
    float q[ABUT_ROWS], extent;
    int32_t item, v[2];
    uint32_t found;
    int moves;
} abut_query;

ABUT_FN int32_t vertex_of(const int32_t *vert, uint32_t k, size_t item, uint32_t corner)
{
    return vert ? vert[k * item + corner] : (int32_t)item;
}

ABUT_FN void query_make(const abut_walk_args *a, size_t item, abut_query *s)
{
    float low[ABUT_ROWS];
    s->item = (int32_t)item;
    s->moves = 0;
    s->found = 0;
    s->extent = 0;
    s->v[1] = -1;
    for (uint32_t k = 0; k < a->k; k++) {
        const int32_t v = s->v[k] = vertex_of(a->vert, a->k, item, k);
        const float *box = a->box + ABUT_ROWS * (size_t)v;
        for (int r = 0; r < ABUT_ROWS; r++) low[r] = k && low[r] < box[r] ? low[r] : box[r];
        s->moves |= !(a->fixed && a->fixed[v]);
    }
    for (int d = 0; d < 3; d++) {
        const float e = -low[ABUT_AT_HI + d] - low[ABUT_AT_LO + d];
        s->extent = e > s->extent ? e : s->extent;
    }
    for (int r = 0; r < ABUT_ROWS; r++) s->q[r] = -low[r];
}

/* Whether a row of the tree may have a partner of the query. */
ABUT_FN int row_meets(const abut_walk_args *a, const abut_query *s, const float *row)
{
    if (!s->moves && !(row[ABUT_TREE_MOVES] > 0)) return 0;
    if (a->same && row[ABUT_TREE_EXTENT] < s->extent) return 0;
    if (!abut_broad_paths_meet(row, 1, 0, s->q)) return 0;
    return !abut_broad_far(abut_broad_gap2(row, 1, 0, s->q), abut_broad_span2(row, 1, 0, s->q), a->times2);
}

/* Tests the pair by the slab along the line of centroids; ka, kb are literals. */
ABUT_FN_LITERAL int pair_apart(const abut_walk_args *a, int ka, int kb, const abut_query *s, const int32_t *u, float span2)
{
    double p[12];
    for (int k = 0; k < ka + kb; k++) {
        const double *y = a->y0 + 3 * (size_t)(k < ka ? s->v[k] : u[k - ka]);
        for (int d = 0; d < 3; d++) p[3 * k + d] = y[d];
    }
    const double xi = a->xi ? 0.5 * (a->xi[s->v[0]] + a->xi[u[0]]) : 0;
    const double need = abut_broad_need(a->reach, xi, a->rounding, a->times, span2);
    return abut_broad_apart(abut_broad_slab(ka, kb, p, 1, 0), need);
}

/* Returns the sort key of the pair of a query and a primitive. */
ABUT_FN uint64_t pair_key(const abut_walk_args *a, int32_t query, int32_t item)
{
    const int swaps = a->same && item < query;
    const uint64_t one = (uint64_t)(swaps ? item : query), two = (uint64_t)(swaps ? query : item);
    return one << a->shift | two;
}

/* Primitive number `at` in the order of the tree, whose row meets the query. */
ABUT_FN void leaf_meet(const abut_walk_args *a, size_t i, abut_query *s, size_t at, const float *row)
{
    const abut_tree_view *t = &a->tree;
    const int32_t item = (int32_t)t->order[at];
    int32_t u[3];
    if (a->same && (item == s->item || (row[ABUT_TREE_EXTENT] == s->extent && item < s->item))) return;
    if (a->passes && a->passes[s->v[0]] && a->passes[vertex_of(t->vert, t->k, (size_t)item, 0)]) return;
    for (uint32_t k = 0; k < t->k; k++) {
        u[k] = vertex_of(t->vert, t->k, (size_t)item, k);
        if (u[k] == s->v[0] || u[k] == s->v[1]) return;
    }
    const float span2 = abut_broad_span2(row, 1, 0, s->q);
    const int apart = a->k == 2 ? pair_apart(a, 2, 2, s, u, span2) : t->k == 3 ? pair_apart(a, 1, 3, s, u, span2)
                      : t->k == 2 ? pair_apart(a, 1, 2, s, u, span2) : pair_apart(a, 1, 1, s, u, span2);
    if (apart) return;
    if (a->first) a->key[(size_t)a->first[i] + s->found] = pair_key(a, s->item, item);
    else if (s->found < ABUT_WALK_KEPT) a->kept[s->found * a->n + i] = (uint32_t)item;
    s->found++;
}

/* The keys of a query all of whose pairs were kept. */
ABUT_FN void walk_again(const abut_walk_args *a, size_t i, int32_t query, uint32_t pairs)
{
    for (uint32_t k = 0; k < pairs; k++)
        a->key[(size_t)a->first[i] + k] = pair_key(a, query, (int32_t)a->kept[k * a->n + i]);
}

ABUT_KERNEL(tree_walk, abut_walk_args)
{
    const abut_tree_view *t = &a->tree;
    abut_query s;
    uint32_t node[TREE_STACK];
    uint8_t level[TREE_STACK];
    int depth = 0;
    const size_t query = a->order ? a->order[i] : i;
    const uint32_t pairs = a->first ? a->first[i + 1] - a->first[i] : 0;
    if (a->first && pairs <= ABUT_WALK_KEPT) {
        walk_again(a, i, (int32_t)query, pairs);
        return;
    }
    query_make(a, query, &s);
    node[depth] = 0;
    level[depth++] = (uint8_t)t->levels;    /* above the root, whose only child it is */
    while (depth) {
        const uint32_t at = node[--depth], l = level[depth] - 1u;
        const uint32_t n = (l + 1 < t->levels ? t->first[l + 1] : t->first[l] + 1) - t->first[l];
        const uint32_t lo = at * ABUT_TREE_WIDE, hi = lo + ABUT_TREE_WIDE < n ? lo + ABUT_TREE_WIDE : n;
        for (uint32_t k = lo; k < hi; k++) {
            const float *row = t->row + ABUT_TREE_ROW * (size_t)(t->first[l] + k);
            if (!row_meets(a, &s, row)) continue;
            if (l) {
                node[depth] = k;
                level[depth++] = (uint8_t)l;
            } else {
                leaf_meet(a, i, &s, k, row);
            }
        }
    }
    if (!a->first) a->count[i] = s.found;
}

ABUT_KERNEL(pair_unpack, abut_unpack_args)
{
    const uint64_t one = a->key[i] >> a->shift, two = a->key[i] & (((uint64_t)1 << a->shift) - 1);
    a->ij[2 * i] = a->name_first ? a->name_first[one] : (int32_t)one;
    a->ij[2 * i + 1] = a->name_second ? a->name_second[two] : (int32_t)two;
}

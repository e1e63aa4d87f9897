#include "gpu/operator.h"

#include "base/arena.h"
#include "sparse/packed_inline.h"
#include "sparse/packed_lanes.h"

#include <stdlib.h>

enum { CHUNK = 32, TETS_AT_ONCE = 1 << 18 };

void abut_gpu_operator_clear(abut_gpu_operator *A)
{
    if (A->q) abut_gpu_precond_clear(A);
    ABUT_BUFFERS_CLEAR(A->q, &A->row_of, &A->node, &A->first, &A->length, &A->col, &A->val, &A->val_single, &A->part_first,
                       &A->item, &A->at, &A->mirror, &A->diagonal, &A->H, &A->key, &A->slot, &A->touch_first, &A->touch_row,
                       &A->touch_single, &A->t, &A->t_single, &A->pieces, &A->piece_first, &A->piece_row, &A->sum,
                       &A->sum_single, &A->inverse);
    abut_bsr_clear(&A->pattern);
    ABUT_FREE(A->piece, A->chunk);
    *A = (abut_gpu_operator){ 0 };
}

/* Arrays made on the host, to be copied to the machine. */
typedef struct layout {
    int32_t *corner_row, *node, *col;
    uint32_t *first, *length, *below, *across /* of each block of the pattern */, *diagonal;
    uint32_t *part_first, *item, *at, *mirror;
    size_t parts;
} layout;

static void layout_free(layout *l)
{
    ABUT_FREE(l->corner_row, l->node, l->col, l->first, l->length, l->below, l->across, l->diagonal, l->part_first, l->item,
              l->at, l->mirror);
}

static void *array(size_t n, size_t size) { return calloc(n + 1, size); }

/* ---- the pattern ---- */

static abut_status pattern_make(abut_gpu_operator *A, const int32_t *row, const abut_gpu_lasting *more, layout *l, abut_err *err)
{
    const abut_model *m = A->tets->elastic->model;
    size_t corners = 4 * A->tets->nt, at = 0;
    abut_elements sets[1 + ABUT_GPU_LASTING];
    for (int s = 0; s < A->lasting; s++) corners += (size_t)more[s].corners * more[s].n;
    int32_t n = 0;
    for (size_t i = 0; i < A->nv; i++) n = row[i] >= n ? row[i] + 1 : n;
    l->corner_row = array(corners, sizeof *l->corner_row);
    l->node = array((size_t)n, sizeof *l->node);
    if (!l->corner_row || !l->node) return abut_no_memory("operator of a device", err);
    for (int s = -1; s < A->lasting; s++) {
        const int32_t *node = s < 0 ? m->tet : more[s].node;
        sets[s + 1] = (abut_elements){ .corners = s < 0 ? 4 : more[s].corners, .n = s < 0 ? A->tets->nt : more[s].n,
                                       .row = l->corner_row + at };
        for (size_t c = 0; c < (size_t)sets[s + 1].corners * sets[s + 1].n; c++, at++)
            l->corner_row[at] = node[c] < 0 ? -1 : row[node[c]];
    }
    for (size_t i = 0; i < A->nv; i++)
        if (row[i] >= 0) l->node[row[i]] = (int32_t)i;
    A->n = (size_t)n;
    A->chunks = (A->n + CHUNK - 1) / CHUNK;
    return abut_bsr_pattern(&A->pattern, n, sets, 1 + A->lasting, err);
}

/* Returns the index of number 0 of block k of row r in the values. */
static uint32_t place(const layout *l, size_t r, size_t k)
{
    return (uint32_t)((l->first[r / CHUNK] + k) * 9 * CHUNK + r % CHUNK);
}

static void rows_fill(const abut_bsr *P, layout *l)
{
    const struct abut_bsr_plan *plan = P->plan;
    for (size_t r = 0; r < (size_t)P->n; r++) {
        const size_t left = plan->tptr[r + 1] - plan->tptr[r];
        int32_t *col = l->col + CHUNK * (size_t)l->first[r / CHUNK] + r % CHUNK;
        for (size_t k = 0; k < left; k++) {
            l->below[plan->tslot[plan->tptr[r] + k]] = place(l, r, k);
            col[CHUNK * k] = plan->tcol[plan->tptr[r] + k];
        }
        for (size_t s = P->ptr[r]; s < P->ptr[r + 1]; s++) {
            const size_t k = left + s - P->ptr[r];
            l->across[s] = place(l, r, k);
            col[CHUNK * k] = P->row[s];
        }
        l->diagonal[r] = l->below[P->ptr[r]] = place(l, r, left);
    }
}

/* Rows of both triangles, those of a chunk as wide as the longest. */
static abut_status rows_make(abut_gpu_operator *A, layout *l, abut_err *err)
{
    const abut_bsr *P = &A->pattern;
    l->first = array(A->chunks, sizeof *l->first);
    l->length = array(A->n, sizeof *l->length);
    l->below = array(P->nnz, sizeof *l->below);
    l->across = array(P->nnz, sizeof *l->across);
    l->diagonal = array(A->n, sizeof *l->diagonal);
    if (!l->first || !l->length || !l->below || !l->across || !l->diagonal) return abut_no_memory("operator of a device", err);
    size_t width = 0, sum = 0;
    for (size_t r = 0; r < A->n; r++) {
        l->length[r] = (uint32_t)(P->plan->tptr[r + 1] - P->plan->tptr[r] + P->ptr[r + 1] - P->ptr[r]);
        width = l->length[r] > width ? l->length[r] : width;
        if (r % CHUNK != CHUNK - 1 && r + 1 != A->n) continue;
        l->first[r / CHUNK] = (uint32_t)sum;
        sum += width;
        width = 0;
    }
    l->first[A->chunks] = (uint32_t)sum;
    A->blocks = CHUNK * sum;
    if (9 * A->blocks > UINT32_MAX)
        return abut_fail(err, ABUT_E_NOMEM, "operator of a device: %zu blocks, at most %u", A->blocks, UINT32_MAX / 9);
    l->col = array(A->blocks, sizeof *l->col);
    if (!l->col) return abut_no_memory("operator of a device", err);
    rows_fill(P, l);
    return ABUT_OK;
}

/* ---- the plan: which blocks of which elements add to a block, piece by piece of the tets, then set by set ---- */

/* Visits the parts of all blocks of a set: counts the parts of each piece of `blocks` element blocks, and their items; with fill,
 * writes them at part[] and item[]. */
static void parts_visit(const abut_set_plan *s, size_t blocks, layout *l, size_t *part, size_t *item, int fill)
{
    const size_t items = 2 * blocks;
    for (size_t b = 0; b < s->nb; b++)
        for (uint32_t k = s->ptr[b]; k < s->ptr[b + 1];) {
            const size_t p = s->item[k] / items, at = part[p]++;
            if (fill) {
                l->part_first[at] = (uint32_t)item[p];
                l->at[at] = l->below[s->slot[b]];
                l->mirror[at] = l->across[s->slot[b]];
            }
            for (; k < s->ptr[b + 1] && s->item[k] / items == p; k++, item[p]++)
                if (fill) l->item[item[p]] = (uint32_t)(s->item[k] - p * items);
        }
}

static void all_parts_visit(const abut_gpu_operator *A, const abut_gpu_lasting *more, layout *l, size_t *part, size_t *item,
                            int fill)
{
    const abut_set_plan *s = A->pattern.plan->set;
    parts_visit(s, ABUT_PAIRS * A->at_once, l, part, item, fill);
    for (int k = 0; k < A->lasting; k++)
        parts_visit(&s[1 + k], abut_packed_size(more[k].corners) / 9 * more[k].n, l, part + A->n_pieces + k,
                    item + A->n_pieces + k, fill);
}

static abut_status parts_make(abut_gpu_operator *A, const abut_gpu_lasting *more, layout *l, abut_err *err)
{
    const size_t at_once = A->at_once, nt = A->tets->nt, n = (nt + at_once - 1) / at_once + (size_t)A->lasting;
    size_t items = 0;
    A->n_pieces = n - (size_t)A->lasting;
    for (int k = 0; k <= A->lasting; k++) items += A->pattern.plan->set[k].ptr[A->pattern.plan->set[k].nb];
    size_t *part = array(n, sizeof *part), *item = array(n, sizeof *item), parts = 0, sum = 0;
    A->piece = array(n, sizeof *A->piece);
    int ok = part && item && A->piece;
    if (ok) all_parts_visit(A, more, l, part, item, 0);
    for (size_t p = 0; ok && p < n; p++) {
        const size_t here = part[p], its = item[p];
        const size_t left = p < A->n_pieces ? nt - p * at_once : 0;
        A->piece[p] = (abut_gpu_piece){ parts, parts + here, p * at_once, left < at_once ? left : at_once };
        part[p] = parts;
        item[p] = sum;
        parts += here;
        sum += its;
    }
    l->part_first = array(parts, sizeof *l->part_first);
    l->at = array(parts, sizeof *l->at);
    l->mirror = array(parts, sizeof *l->mirror);
    l->item = array(items, sizeof *l->item);
    ok = ok && l->part_first && l->at && l->mirror && l->item;
    if (ok) {
        all_parts_visit(A, more, l, part, item, 1);
        l->part_first[parts] = (uint32_t)items;
        l->parts = parts;
    }
    ABUT_FREE(part, item);
    return ok ? ABUT_OK : abut_no_memory("operator of a device", err);
}

static abut_status upload(abut_gpu_operator *A, const int32_t *row, const layout *l, abut_err *err)
{
    const size_t n = A->n, parts = l->parts, most = A->tets->nt < A->at_once ? A->tets->nt : A->at_once;
    const abut_status rc = ABUT_BUFFERS(
        A->q, "operator", err, { &A->row_of, row, A->nv, 4 }, { &A->node, l->node, n, 4 },
        { &A->first, l->first, A->chunks + 1, 4 }, { &A->length, l->length, n, 4 }, { &A->col, l->col, A->blocks, 4 },
        { &A->part_first, l->part_first, parts + 1, 4 }, { &A->item, l->item, l->part_first[parts], 4 },
        { &A->at, l->at, parts, 4 }, { &A->mirror, l->mirror, parts, 4 }, { &A->diagonal, l->diagonal, n, 4 },
        { &A->val, NULL, 9 * A->blocks, sizeof(double) }, { &A->val_single, NULL, 9 * A->blocks, sizeof(float) },
        { &A->inverse, NULL, 9 * n, sizeof(float) },
        { &A->touch_first, NULL, n + 1, sizeof(uint32_t) }, { &A->pieces, NULL, n, sizeof(uint32_t) },
        { &A->piece_first, NULL, n + 1, sizeof(uint32_t) });
    return rc ? rc : abut_buffer_need(A->q, &A->H, "tet matrices", ABUT_PACKED * most, sizeof(double), err);
}

abut_status abut_gpu_operator_init_with(abut_gpu_operator *A, abut_queue *q, abut_gpu_tets *t, const int32_t *row,
                                        const abut_gpu_lasting *more, int n_more, size_t at_once, abut_err *err)
{
    layout l = { 0 };
    abut_gpu_operator_clear(A);
    if (n_more > ABUT_GPU_LASTING)
        return abut_fail(err, ABUT_E_ARG, "operator of a device: %d element sets, at most %d", n_more, (int)ABUT_GPU_LASTING);
    A->at_once = at_once ? at_once : TETS_AT_ONCE;
    A->lasting = n_more;
    A->q = q;
    A->tets = t;
    A->nv = t->nv;
    abut_status rc = pattern_make(A, row, more, &l, err);
    if (!rc) rc = rows_make(A, &l, err);
    if (!rc) rc = parts_make(A, more, &l, err);
    if (!rc) rc = upload(A, row, &l, err);
    A->chunk = l.first;
    l.first = NULL;
    layout_free(&l);
    if (rc) abut_gpu_operator_clear(A);
    return rc;
}

/* ---- values ---- */

static abut_assemble_args assemble_args(const abut_gpu_operator *A, const abut_gpu_piece *of, const double *H)
{
    return (abut_assemble_args){ ABUT_AT(A->part_first, uint32_t) + of->lo, A->item.at, ABUT_AT(A->at, uint32_t) + of->lo,
                                 ABUT_AT(A->mirror, uint32_t) + of->lo, H, A->val.at };
}

abut_status abut_gpu_operator_tets(abut_gpu_operator *A, const double *z, double scale, const double *diag, abut_err *err)
{
    abut_queue *q = A->q;
    abut_tet_args tet = abut_gpu_tets_args(A->tets, z);
    const abut_diagonal_args d = { A->node.at, A->diagonal.at, diag, A->val.at };
    abut_status rc = q->on->fill(q, A->val.at, 0, 9 * A->blocks * sizeof(double), err);
    tet.H = A->H.at;
    tet.scale = scale;
    A->z = z;
    for (size_t p = 0; p < A->n_pieces && !rc; p++) {
        const abut_gpu_piece *of = &A->piece[p];
        const abut_assemble_args a = assemble_args(A, of, A->H.at);
        tet.first = of->tet;
        rc = ABUT_RUN(q, tet_hessian, &tet, of->tets, err);
        if (!rc) rc = ABUT_RUN(q, assemble, &a, 9 * (of->hi - of->lo), err);
    }
    return rc ? rc : ABUT_RUN(q, diagonal, &d, A->n, err);
}

abut_status abut_gpu_operator_add(abut_gpu_operator *A, int set, const double *H, abut_err *err)
{
    const abut_gpu_piece *of = &A->piece[A->n_pieces + (size_t)set];
    const abut_assemble_args a = assemble_args(A, of, H);
    return ABUT_RUN(A->q, assemble, &a, 9 * (of->hi - of->lo), err);
}

abut_status abut_gpu_operator_add_tets(abut_gpu_operator *A, const double *H, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (size_t p = 0; p < A->n_pieces && !rc; p++) {
        const abut_gpu_piece *of = &A->piece[p];
        const abut_assemble_args a = assemble_args(A, of, H + ABUT_PACKED * of->tet);
        rc = ABUT_RUN(A->q, assemble, &a, 9 * (of->hi - of->lo), err);
    }
    return rc;
}

void abut_gpu_operator_blocks(abut_gpu_operator *A, int set, abut_gpu_blocks blocks)
{
    A->set[set] = blocks;
}

static size_t touching(const abut_gpu_operator *A) { return A->set[0].n + A->set[1].n; }

abut_touch_args abut_gpu_operator_touch(const abut_gpu_operator *A)
{
    return (abut_touch_args){ .n = { A->set[0].n, A->set[1].n }, .node = { A->set[0].node, A->set[1].node },
                              .val = { A->set[0].val, A->set[1].val }, .row_of = A->row_of.at, .key = A->key.at,
                              .slot = A->slot.at, .first = A->touch_first.at, .row = A->touch_row.at, .rows = (uint32_t)A->n,
                              .count = 4 * touching(A), .single = A->touch_single.at, .t = A->t.at, .t_single = A->t_single.at,
                              .pieces = A->pieces.at, .piece_first = A->piece_first.at, .piece_row = A->piece_row.at,
                              .n_pieces = A->touch_pieces, .sum = A->sum.at, .sum_single = A->sum_single.at };
}

/* Pieces of the element matrices that touch a row. */
static abut_status pieces_ready(abut_gpu_operator *A, abut_err *err)
{
    abut_queue *q = A->q;
    uint64_t n = 0;
    abut_touch_args a = abut_gpu_operator_touch(A);
    abut_status rc = ABUT_RUN(q, touch_pieces, &a, A->n, err);
    if (!rc) rc = q->on->scan(q, a.pieces, A->n, a.piece_first, &n, err);
    A->touch_pieces = (size_t)n;
    if (!rc)
        rc = ABUT_BUFFERS(q, "contact matrices", err, { &A->piece_row, NULL, n, sizeof(int32_t) },
                          { &A->sum, NULL, 3 * n, sizeof(double) }, { &A->sum_single, NULL, 3 * n, sizeof(float) });
    if (rc) return rc;
    a = abut_gpu_operator_touch(A);
    return ABUT_RUN(q, touch_piece, &a, A->n, err);
}

/* Which element matrices touch a row, ascending; their numbers in single precision. */
static abut_status touch_ready(abut_gpu_operator *A, abut_err *err)
{
    abut_queue *q = A->q;
    const size_t n = touching(A);
    A->touch_pieces = 0;
    if (!n) return ABUT_OK;
    if (n > INT32_MAX / 4)
        return abut_fail(err, ABUT_E_NOMEM, "operator of a device: %zu contacts, at most %d", n, INT32_MAX / 4);
    abut_status rc = ABUT_BUFFERS(q, "contact matrices", err, { &A->key, NULL, 4 * n, sizeof(uint64_t) },
                                  { &A->slot, NULL, 4 * n, sizeof(uint32_t) }, { &A->touch_row, NULL, 4 * n, sizeof(int32_t) },
                                  { &A->touch_single, NULL, ABUT_PACKED * n, sizeof(float) },
                                  { &A->t, NULL, 12 * n, sizeof(double) }, { &A->t_single, NULL, 12 * n, sizeof(float) });
    if (rc) return rc;
    const abut_touch_args a = abut_gpu_operator_touch(A);
    rc = ABUT_RUN(q, touch_key, &a, 4 * n, err);
    if (!rc) rc = q->on->sort(q, a.key, a.slot, 4 * n, abut_bits_of(A->n), err);
    if (!rc) rc = ABUT_RUN(q, touch_first, &a, A->n + 1, err);
    if (!rc) rc = ABUT_RUN(q, touch_narrow, &a, n, err);
    return rc ? rc : pieces_ready(A, err);
}

abut_status abut_gpu_operator_ready(abut_gpu_operator *A, abut_err *err)
{
    abut_queue *q = A->q;
    const abut_narrow_args narrow = { A->val.at, A->val_single.at };
    abut_status rc = touch_ready(A, err);
    if (!rc) rc = ABUT_RUN(q, narrow, &narrow, 9 * A->blocks, err);
    const abut_jacobi_args j = { A->diagonal.at, A->val.at, abut_gpu_operator_touch(A), A->inverse.at, NULL, A->n };
    if (!rc) rc = ABUT_RUN(q, jacobi, &j, A->n, err);
    return rc ? rc : abut_gpu_precond_renew(A, err);
}

/* ---- products ---- */

static abut_multiply_args multiply_args(const abut_gpu_operator *A)
{
    return (abut_multiply_args){ .first = A->first.at, .length = A->length.at, .col = A->col.at, .val = A->val.at,
                                 .val_single = A->val_single.at, .n = A->n, .pieces = A->touch_pieces,
                                 .piece_first = A->piece_first.at, .sum = A->sum.at, .sum_single = A->sum_single.at };
}

/* Kernels of contact elements write their products to A->sum; `multiply` adds them to the rows. */
abut_status abut_gpu_operator_multiply(abut_gpu_operator *A, const double *x, double *y, abut_err *err)
{
    abut_touch_args t = abut_gpu_operator_touch(A);
    abut_multiply_args m = multiply_args(A);
    abut_status rc = ABUT_OK;
    t.x = m.x = x;
    m.y = y;
    if (A->touch_pieces) rc = ABUT_RUN(A->q, touch_multiply, &t, 4 * touching(A), err);
    if (!rc && A->touch_pieces) rc = ABUT_RUN(A->q, touch_gather, &t, 3 * A->touch_pieces, err);
    return rc ? rc : ABUT_RUN(A->q, multiply, &m, 3 * CHUNK * A->chunks, err);
}

abut_status abut_gpu_operator_multiply_single(abut_gpu_operator *A, const float *x, float *y, const uint32_t *stop, abut_err *err)
{
    abut_touch_args t = abut_gpu_operator_touch(A);
    abut_multiply_args m = multiply_args(A);
    abut_status rc = ABUT_OK;
    t.x_single = m.x_single = x;
    t.stop = m.stop = stop;
    m.y_single = y;
    if (A->touch_pieces) rc = ABUT_RUN(A->q, touch_multiply_single, &t, 4 * touching(A), err);
    if (!rc && A->touch_pieces) rc = ABUT_RUN(A->q, touch_gather_single, &t, 3 * A->touch_pieces, err);
    return rc ? rc : ABUT_RUN(A->q, multiply_single, &m, 3 * CHUNK * A->chunks, err);
}

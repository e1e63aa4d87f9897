/* Assembly of a set whose element matrices are made piece by piece and never stand in memory as a whole. */
#include "sparse/bsr_plan.h"

#include "base/par.h"
#include "base/simd.h"

#include <stdlib.h>
#include <string.h>

/* Elements of a piece, whose matrices stay in the processor's second cache; columns that a thread takes at a time. */
enum { PIECE = 256, COLUMNS = 64 };
static const uint32_t WHOLE = UINT32_MAX;

/* Pieces of consecutive elements, the parts of blocks that each adds, and for each part its element blocks.  A block of which one
 * piece has all is written at once; the parts of the others are kept and added in the order of the pieces. */
struct abut_pieces {
    size_t n, nparts, nkept;
    uint32_t *first;    /* [n + 1] first part of each piece */
    uint32_t *block;    /* [nparts] of the set; ascending in a piece */
    uint32_t *keep;     /* [nparts] where the part is kept; WHOLE */
    uint32_t *ptr;      /* [nparts + 1] first item of each part */
    uint32_t *turn;     /* [nparts] its first item that goes in transposed: those come last */
    uint16_t *item;     /* ABUT_ITEM(element of the piece, ...), ascending but for that */
    uint32_t *kept;     /* [nb + 1] first kept part of each block */
    double *sum;        /* [9 * nkept] */
};

void abut_pieces_free(struct abut_pieces **p)
{
    if (!*p) return;
    free((*p)->first);
    free((*p)->block);
    free((*p)->keep);
    free((*p)->ptr);
    free((*p)->turn);
    free((*p)->item);
    free((*p)->kept);
    free((*p)->sum);
    free(*p);
    *p = NULL;
}

static uint32_t piece_of(uint32_t item) { return (item >> 1) / ABUT_PAIRS / PIECE; }

/* End of the items from k on that are of the same piece. */
static uint32_t end_of_part(const abut_set_plan *s, uint32_t k, uint32_t end)
{
    const uint32_t piece = piece_of(s->item[k]);
    while (k < end && piece_of(s->item[k]) == piece) k++;
    return k;
}

/* kept[nb + 1], and the parts and items of each piece in first and items[n] */
static void count_parts(const abut_set_plan *s, struct abut_pieces *p, uint32_t *items)
{
    for (uint32_t b = 0; b < s->nb; b++) {
        uint32_t parts = 0;
        for (uint32_t k = s->ptr[b], end; k < s->ptr[b + 1]; k = end, parts++) {
            const uint32_t piece = piece_of(s->item[k]);
            end = end_of_part(s, k, s->ptr[b + 1]);
            p->first[piece]++;
            items[piece] += end - k;
        }
        p->kept[b] = (uint32_t)p->nkept;
        p->nkept += parts > 1 ? parts : 0;
    }
    p->kept[s->nb] = (uint32_t)p->nkept;
}

/* counts to sums of those before; returns the sum of all */
static uint32_t sum_up(uint32_t *v, size_t n)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t count = v[i];
        v[i] = sum;
        sum += count;
    }
    return sum;
}

/* next[n], items[n]: first part and item of each piece, moved to the end of both */
static void fill_parts(const abut_set_plan *s, struct abut_pieces *p, uint32_t *next, uint32_t *items)
{
    for (uint32_t b = 0; b < s->nb; b++) {
        uint32_t keep = p->kept[b];
        for (uint32_t k = s->ptr[b], end; k < s->ptr[b + 1]; k = end) {
            const uint32_t piece = piece_of(s->item[k]), part = next[piece]++;
            end = end_of_part(s, k, s->ptr[b + 1]);
            p->block[part] = b;
            p->keep[part] = p->kept[b + 1] > p->kept[b] ? keep++ : WHOLE;
            p->ptr[part] = items[piece];
            for (uint32_t turned = 0; turned < 2; turned++) {
                if (turned) p->turn[part] = items[piece];
                for (uint32_t i = k; i < end; i++) {
                    if ((s->item[i] & 1) != turned) continue;
                    p->item[items[piece]++] = (uint16_t)(s->item[i] - ABUT_ITEM(piece * PIECE, 0, 0));
                }
            }
        }
    }
}

static void *array(size_t n, size_t size) { return malloc((n + 1) * size); }

static abut_status pieces_make(abut_set_plan *s, size_t nelems, abut_err *err)
{
    const size_t n = (nelems + PIECE - 1) / PIECE;
    struct abut_pieces *p = calloc(1, sizeof *p);
    uint32_t *items = calloc(n + 1, sizeof *items), *next = array(n, sizeof *next);
    int ok = p && items && next;
    if (ok) {
        p->n = n;
        p->first = calloc(n + 1, sizeof *p->first);
        p->kept = array(s->nb, sizeof *p->kept);
        ok = p->first && p->kept;
    }
    if (ok) {
        count_parts(s, p, items);
        p->nparts = p->first[n] = sum_up(p->first, n);
        memcpy(next, p->first, n * sizeof *next);
        p->block = array(p->nparts, sizeof *p->block);
        p->keep = array(p->nparts, sizeof *p->keep);
        p->ptr = array(p->nparts, sizeof *p->ptr);
        p->turn = array(p->nparts, sizeof *p->turn);
        p->item = array(sum_up(items, n), sizeof *p->item);
        p->sum = array(p->nkept, 9 * sizeof *p->sum);
        ok = p->block && p->keep && p->ptr && p->turn && p->item && p->sum;
    }
    if (ok) {
        fill_parts(s, p, next, items);
        p->ptr[p->nparts] = s->ptr[s->nb];
        s->pieces = p;
    } else {
        abut_pieces_free(&p);
    }
    free(items);
    free(next);
    return ok ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "matrix: pieces of %zu elements: out of memory", nelems);
}

/* The parts of piece i, from its element matrices. */
ABUT_SIMD
static void add_piece(const abut_bsr *A, const abut_set_plan *s, const double *restrict val, size_t i)
{
    const struct abut_pieces *p = s->pieces;
    for (uint32_t part = p->first[i]; part < p->first[i + 1]; part++) {
        double sum[2][9] = { { 0 }, { 0 } };
        for (uint32_t k = p->ptr[part]; k < p->turn[part]; k++)
            for (int d = 0; d < 9; d++) sum[0][d] += val[9 * (size_t)(p->item[k] >> 1) + (size_t)d];
        for (uint32_t k = p->turn[part]; k < p->ptr[part + 1]; k++)
            for (int d = 0; d < 9; d++) sum[1][d] += val[9 * (size_t)(p->item[k] >> 1) + (size_t)d];
        const uint32_t keep = p->keep[part];
        abut_bsr_join(sum, keep == WHOLE ? A->val + 9 * (size_t)s->slot[p->block[part]] : p->sum + 9 * (size_t)keep);
    }
}

/* Blocks of column c that are no block of the set */
static void clear_others(const abut_bsr *A, const abut_set_plan *s, int32_t c)
{
    size_t k = A->ptr[c];
    for (uint32_t b = s->col[c]; b <= s->col[c + 1]; b++) {
        const size_t slot = b < s->col[c + 1] ? s->slot[b] : A->ptr[c + 1];
        memset(A->val + 9 * k, 0, 9 * (slot - k) * sizeof *A->val);
        k = slot + 1;
    }
}

/* Columns [lo, hi), of which pieces have written what is whole. */
ABUT_SIMD
static void finish_columns(const abut_bsr *A, const double *diag, const abut_elems *sets, int nsets, int32_t lo, int32_t hi)
{
    const abut_set_plan *s = A->plan->set;
    const struct abut_pieces *p = s->pieces;
    for (int32_t c = lo; c < hi; c++) {
        if (s->col[c + 1] - s->col[c] < A->ptr[c + 1] - A->ptr[c]) clear_others(A, s, c);
        for (uint32_t b = s->col[c]; b < s->col[c + 1]; b++) {
            double S[9] = { 0 };
            if (p->kept[b] == p->kept[b + 1]) continue;
            for (uint32_t k = p->kept[b]; k < p->kept[b + 1]; k++)
                for (int d = 0; d < 9; d++) S[d] += p->sum[9 * (size_t)k + (size_t)d];
            memcpy(A->val + 9 * (size_t)s->slot[b], S, sizeof S);
        }
        for (int d = 0; diag && d < 9; d += 4) A->val[9 * A->ptr[c] + (size_t)d] += diag[c];
        for (int k = 1; k < nsets; k++) abut_bsr_add_set(A, &A->plan->set[k], sets[k].val, c);
    }
}

abut_status abut_bsr_assemble_made(abut_bsr *A, const double *diag, const abut_elems *sets, int nsets, const abut_maker *maker,
                                   abut_err *err)
{
    const size_t n = sets[0].n;
    abut_set_plan *s = A->plan->set;
    if (!n) {
        abut_bsr_assemble(A, diag, sets, nsets);
        return ABUT_OK;
    }
    const abut_status rc = s->pieces ? ABUT_OK : pieces_make(s, n, err);
    if (rc) return rc;
    #pragma omp parallel if (n >= ABUT_PAR_MIN / 4)
    {
        #pragma omp for schedule(dynamic, 1)
        for (size_t i = 0; i < s->pieces->n; i++) {
            double val[PIECE * ABUT_PACKED] __attribute__((aligned(64)));
            const size_t lo = i * PIECE, hi = lo + PIECE < n ? lo + PIECE : n;
            maker->make(maker->of, lo, hi, val);
            add_piece(A, s, val, i);
        }
        #pragma omp for schedule(dynamic, 1)
        for (int32_t c = 0; c < A->n; c += COLUMNS)
            finish_columns(A, diag, sets, nsets, c, A->n - c < COLUMNS ? A->n : c + COLUMNS);
    }
    return ABUT_OK;
}

/* Assembly of a set whose element matrices are packed chunk by chunk and are never in memory as a whole. */
#include "sparse/bsr_plan.h"

#include "base/par.h"
#include "base/simd.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t WHOLE = UINT32_MAX;

/* Chunks of consecutive elements, whose matrices stay in the second-level cache; the parts of blocks that each adds, and for each
 * part its element blocks.  A block within one chunk is written at once; parts of other blocks are kept and added in the order of
 * the chunks. */
struct abut_chunks {
    size_t n, nparts, nkept;
    size_t elements;    /* of a chunk */
    uint32_t blocks;    /* element blocks of a chunk */
    uint32_t *first;    /* [n + 1] first part of each chunk */
    uint32_t *block;    /* [nparts] of the set; ascending in a chunk */
    uint32_t *keep;     /* [nparts] where the part is kept; WHOLE */
    uint32_t *ptr;      /* [nparts + 1] first item of each part */
    uint32_t *transposed;   /* [nparts] its first item that is transposed: those come last */
    uint16_t *item;     /* ABUT_ITEM(element of the chunk, ...), ascending but for that */
    uint32_t *kept;     /* [nb + 1] first kept part of each block */
    double *sum;        /* [9 * nkept] */
};

void abut_chunks_free(struct abut_chunks **p)
{
    if (!*p) return;
    free((*p)->first);
    free((*p)->block);
    free((*p)->keep);
    free((*p)->ptr);
    free((*p)->transposed);
    free((*p)->item);
    free((*p)->kept);
    free((*p)->sum);
    free(*p);
    *p = NULL;
}

/* End of the items from k on that are of the same chunk. */
static uint32_t end_of_part(const abut_set_plan *s, uint32_t blocks, uint32_t k, uint32_t end)
{
    const uint32_t chunk = (s->item[k] >> 1) / blocks, beyond = (chunk + 1) * blocks;
    while (k < end && s->item[k] >> 1 < beyond) k++;
    return k;
}

/* kept[nb + 1], and the parts and items of each chunk in first and items[n] */
static void count_parts(const abut_set_plan *s, struct abut_chunks *p, uint32_t *items)
{
    for (uint32_t b = 0; b < s->nb; b++) {
        uint32_t parts = 0;
        for (uint32_t k = s->ptr[b], end; k < s->ptr[b + 1]; k = end, parts++) {
            const uint32_t chunk = (s->item[k] >> 1) / p->blocks;
            end = end_of_part(s, p->blocks, k, s->ptr[b + 1]);
            p->first[chunk]++;
            items[chunk] += end - k;
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

/* next[n], items[n]: first part and item of each chunk, moved to the end of both */
static void fill_parts(const abut_set_plan *s, struct abut_chunks *p, uint32_t *next, uint32_t *items)
{
    for (uint32_t b = 0; b < s->nb; b++) {
        uint32_t keep = p->kept[b];
        for (uint32_t k = s->ptr[b], end; k < s->ptr[b + 1]; k = end) {
            const uint32_t chunk = (s->item[k] >> 1) / p->blocks, part = next[chunk]++;
            end = end_of_part(s, p->blocks, k, s->ptr[b + 1]);
            p->block[part] = b;
            p->keep[part] = p->kept[b + 1] > p->kept[b] ? keep++ : WHOLE;
            p->ptr[part] = items[chunk];
            for (uint32_t transposed = 0; transposed < 2; transposed++) {
                if (transposed) p->transposed[part] = items[chunk];
                for (uint32_t i = k; i < end; i++) {
                    if ((s->item[i] & 1) != transposed) continue;
                    p->item[items[chunk]++] = (uint16_t)(s->item[i] - 2 * p->blocks * chunk);
                }
            }
        }
    }
}

static void *array(size_t n, size_t size) { return malloc((n + 1) * size); }

abut_status abut_chunks_make(abut_set_plan *s, const abut_elements *set, abut_err *err)
{
    const size_t each = abut_elements_at_once(set), n = (set->n + each - 1) / each;
    struct abut_chunks *p = calloc(1, sizeof *p);
    uint32_t *items = calloc(n + 1, sizeof *items), *next = array(n, sizeof *next);
    int ok = p && items && next;
    if (ok) {
        p->n = n;
        p->elements = each;
        p->blocks = (uint32_t)(each * abut_packed_size(set->corners) / 9);
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
        p->transposed = array(p->nparts, sizeof *p->transposed);
        p->item = array(sum_up(items, n), sizeof *p->item);
        p->sum = array(p->nkept, 9 * sizeof *p->sum);
        ok = p->block && p->keep && p->ptr && p->transposed && p->item && p->sum;
    }
    if (ok) {
        fill_parts(s, p, next, items);
        p->ptr[p->nparts] = s->ptr[s->nb];
        s->chunks = p;
    } else {
        abut_chunks_free(&p);
    }
    free(items);
    free(next);
    return ok ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "matrix: chunks of %zu elements: out of memory", set->n);
}

/* The parts of chunk i, from its element matrices. */
ABUT_SIMD
static void add_chunk(const abut_bsr *A, const abut_set_plan *s, const double *restrict val, size_t i, int add)
{
    const struct abut_chunks *p = s->chunks;
    for (uint32_t part = p->first[i]; part < p->first[i + 1]; part++) {
        double sum[2][9] = { { 0 }, { 0 } }, S[9];
        for (uint32_t k = p->ptr[part]; k < p->transposed[part]; k++)
            for (int d = 0; d < 9; d++) sum[0][d] += val[9 * (size_t)(p->item[k] >> 1) + (size_t)d];
        for (uint32_t k = p->transposed[part]; k < p->ptr[part + 1]; k++)
            for (int d = 0; d < 9; d++) sum[1][d] += val[9 * (size_t)(p->item[k] >> 1) + (size_t)d];
        const uint32_t keep = p->keep[part];
        double *to = keep == WHOLE ? A->val + 9 * (size_t)s->slot[p->block[part]] : p->sum + 9 * (size_t)keep;
        if (keep != WHOLE || !add) {
            abut_bsr_join(sum, to);
        } else {
            abut_bsr_join(sum, S);
            for (int d = 0; d < 9; d++) to[d] += S[d];
        }
    }
}

void abut_chunks_add(const abut_bsr *A, const abut_set_plan *s, const abut_elements *set, int add)
{
    const struct abut_chunks *p = s->chunks;
    #pragma omp parallel for schedule(dynamic, 1) if (set->n >= ABUT_PAR_MIN / 4)
    for (size_t i = 0; i < p->n; i++) {
        double room[ABUT_ELEMENTS_ROOM] __attribute__((aligned(64)));
        const size_t lo = i * p->elements, hi = lo + p->elements < set->n ? lo + p->elements : set->n;
        add_chunk(A, s, abut_elements_packed(set, lo, hi, room), i, add);
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

void abut_chunks_finish(const abut_bsr *A, const abut_set_plan *s, int add, int32_t c)
{
    const struct abut_chunks *p = s->chunks;
    if (!add && s->col[c + 1] - s->col[c] < A->ptr[c + 1] - A->ptr[c]) clear_others(A, s, c);
    for (uint32_t b = s->col[c]; b < s->col[c + 1]; b++) {
        double S[9] = { 0 }, *to = A->val + 9 * (size_t)s->slot[b];
        if (p->kept[b] == p->kept[b + 1]) continue;
        for (uint32_t k = p->kept[b]; k < p->kept[b + 1]; k++)
            for (int d = 0; d < 9; d++) S[d] += p->sum[9 * (size_t)k + (size_t)d];
        for (int d = 0; d < 9; d++) to[d] = add ? to[d] + S[d] : S[d];
    }
}

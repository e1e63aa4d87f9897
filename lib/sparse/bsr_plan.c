#include "base/arena.h"
#include "sparse/bsr.h"

#include "base/fn.h"
#include "base/order.h"
#include "base/par.h"

#include <stdlib.h>
#include <string.h>

/* ---- sets whose rows are vertices y = W x: W^T H W column by column, H the set's sum on vertices ---- */

/* Whether an element has vertex j: a matrix has every block of its diagonal. */
static int is_used(const abut_bsr *H, int32_t j)
{
    const abut_set_plan *s = H->plan->set;
    return s->col[j] < s->col[j + 1] && s->row[s->col[j]] == j;
}

/* Rows of column c of W^T H W, from c on: each once, in the order of finding, into out[n].  seen[n] holds no mark yet;
 * afterwards it holds it for the rows that were found. */
static size_t find_rows(const abut_bsr *H, const abut_row_map *W, int32_t c, int32_t *seen, int32_t mark, int32_t *out)
{
    size_t n = 0;
    for (int32_t e = W->back_first[c]; e < W->back_first[c + 1]; e++) {
        const int32_t j = W->back_row[e];
        if (!is_used(H, j)) continue;
        const size_t left = H->plan->tptr[j + 1] - H->plan->tptr[j], all = left + H->ptr[j + 1] - H->ptr[j];
        for (size_t k = 0; k < all; k++) {
            const int32_t i = k < left ? H->plan->tcol[H->plan->tptr[j] + k] : H->row[H->ptr[j] + k - left];
            for (int32_t f = W->first[i]; f < W->first[i + 1]; f++) {
                const int32_t r = W->col[f];
                if (r < c || seen[r] == mark) continue;
                seen[r] = mark;
                out[n++] = r;
            }
        }
    }
    return n;
}

/* Appends the rows found[n] to s->row, whose room is `room`; 0 when memory or numbers are out. */
static int append_rows(abut_set_plan *s, const int32_t *found, size_t n, size_t *room)
{
    if (!ABUT_GROW(s->row, s->nb + n, *room)) return 0;
    memcpy(s->row + s->nb, found, n * sizeof *found);
    s->nb += n;
    return s->nb < UINT32_MAX;
}

/* Writes the pattern of W^T H W to s->col and s->row, rows ascending.  s->vertices must have its pattern. */
static abut_status map_plan_make(abut_set_plan *s, const abut_elements *set, abut_err *err)
{
    const abut_row_map *W = set->map;
    const size_t n = (size_t)W->cols;
    size_t room = n + 1;
    int32_t *seen = calloc(n + 1, sizeof *seen), *found = malloc((n + 1) * sizeof *found);
    s->nb = 0;
    s->col = malloc((n + 1) * sizeof *s->col);
    s->row = malloc(room * sizeof *s->row);
    int ok = seen && found && s->col && s->row;
    for (int32_t c = 0; ok && c < W->cols; c++) {
        const size_t k = find_rows(s->vertices, W, c, seen, 1 + c, found);
        qsort(found, k, sizeof *found, abut_by_one);
        s->col[c] = (uint32_t)s->nb;
        ok = append_rows(s, found, k, &room);
    }
    if (ok) s->col[n] = (uint32_t)s->nb;
    s->slot = ok ? malloc((s->nb + 1) * sizeof *s->slot) : NULL;
    ABUT_FREE(seen, found);
    return s->slot ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "matrix: %zu blocks of a mapped set", s->nb);
}

/* B += w H, w H^T, or w (H + H^T) */
enum { PLAIN, TRANSPOSED, BOTH };
static void add_block(double *B, double w, const double *H, int how)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double h = H[3 * i + j], t = H[3 * j + i];
            B[3 * i + j] += w * (how == BOTH ? h + t : how == TRANSPOSED ? t : h);
        }
}

/* Returns the index of r in ascending rows that contain it. */
static size_t find_row(const int32_t *row, size_t n, int32_t r)
{
    const int32_t *from = row;
    while (n > 1) {
        const size_t half = n / 2;
        from += from[half] <= r ? half : 0;
        n -= half;
    }
    return (size_t)(from - row);
}

/* Block (i, j) of H, of weight w at corner j, to the rows of vertex i in column c.  The block on the diagonal of the matrix takes
 * (i, j) and (j, i) at once, so that it is symmetric to the last bit. */
static void add_vertex(const abut_bsr *A, const abut_set_plan *s, const abut_row_map *W, int32_t c, int32_t i, int32_t j,
                       double w, const double *H, int how)
{
    const int32_t *row = s->row + s->col[c];
    const size_t n = s->col[c + 1] - s->col[c];
    for (int32_t f = W->first[i]; f < W->first[i + 1]; f++) {
        const int32_t r = W->col[f];
        if (r < c || (r == c && i < j)) continue;
        double *B = A->val + 9 * (size_t)s->slot[s->col[c] + find_row(row, n, r)];
        add_block(B, w * W->weight[f], H, r == c && i > j ? BOTH : how);
    }
}

void abut_map_add(const abut_bsr *A, const abut_set_plan *s, const abut_row_map *W, int32_t c)
{
    const abut_bsr *H = s->vertices;
    for (int32_t e = W->back_first[c]; e < W->back_first[c + 1]; e++) {
        const int32_t j = W->back_row[e];
        const double w = W->back_weight[e];
        if (!is_used(H, j)) continue;
        for (size_t k = H->plan->tptr[j]; k < H->plan->tptr[j + 1]; k++)
            add_vertex(A, s, W, c, H->plan->tcol[k], j, w, H->val + 9 * (size_t)H->plan->tslot[k], TRANSPOSED);
        for (size_t k = H->ptr[j]; k < H->ptr[j + 1]; k++) add_vertex(A, s, W, c, H->row[k], j, w, H->val + 9 * k, PLAIN);
    }
}

/* ---- sets whose element matrices are packed chunk by chunk and are never in memory as a whole ---- */

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

static void chunks_free(struct abut_chunks **p)
{
    if (!*p) return;
    ABUT_FREE((*p)->first, (*p)->block, (*p)->keep, (*p)->ptr, (*p)->transposed, (*p)->item, (*p)->kept, (*p)->sum, *p);
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

/* Makes s->chunks; the other members of *s must be made.  Fails  ABUT_E_NOMEM */
static abut_status chunks_make(abut_set_plan *s, const abut_elements *set, abut_err *err)
{
    const size_t each = abut_elements_at_once(set), n = (set->n + each - 1) / each;
    struct abut_chunks *p = calloc(1, sizeof *p);
    uint32_t *items = calloc(n + 1, sizeof *items), *next = abut_array_new(n, sizeof *next);
    int ok = p && items && next;
    if (ok) {
        p->n = n;
        p->elements = each;
        p->blocks = (uint32_t)(each * abut_packed_size(set->corners) / 9);
        ok = ABUT_ARRAYS(ABUT_ZEROS(p->first, n + 1), ABUT_ITEMS(p->kept, s->nb));
    }
    if (ok) {
        count_parts(s, p, items);
        p->nparts = p->first[n] = sum_up(p->first, n);
        memcpy(next, p->first, n * sizeof *next);
        p->block = abut_array_new(p->nparts, sizeof *p->block);
        p->keep = abut_array_new(p->nparts, sizeof *p->keep);
        p->ptr = abut_array_new(p->nparts, sizeof *p->ptr);
        p->transposed = abut_array_new(p->nparts, sizeof *p->transposed);
        p->item = abut_array_new(sum_up(items, n), sizeof *p->item);
        p->sum = abut_array_new(p->nkept, 9 * sizeof *p->sum);
        ok = p->block && p->keep && p->ptr && p->transposed && p->item && p->sum;
    }
    if (ok) {
        fill_parts(s, p, next, items);
        p->ptr[p->nparts] = s->ptr[s->nb];
        s->chunks = p;
    } else {
        chunks_free(&p);
    }
    ABUT_FREE(items, next);
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

/* ---- plans ---- */

/* Code for a set of four corners, where the compiler divides by shifts, and for any other number. */
#define FIXED static inline __attribute__((always_inline))
#define BY_CORNERS(f, set, ...) ((set)->corners == 4 ? f(__VA_ARGS__, set, 4) : f(__VA_ARGS__, set, (uint32_t)(set)->corners))

void abut_set_plan_clear(abut_set_plan *p)
{
    ABUT_FREE(p->col, p->row, p->slot, p->ptr, p->item);
    chunks_free(&p->chunks);
    if (p->vertices) abut_bsr_clear(p->vertices);
    free(p->vertices);
    *p = (abut_set_plan){ 0 };
}

typedef struct entry {
    int32_t row;
    uint32_t item;
} entry;

/* number[corners a + b]: block (a, b), a <= b, or (b, a), with its last bit set if it is transposed. */
static void number_blocks(int corners, uint16_t *number)
{
    for (int a = 0; a < corners; a++)
        for (int b = 0; b < corners; b++)
            number[corners * a + b] = (uint16_t)(abut_packed_block(corners, a < b ? a : b, a < b ? b : a) << 1 | (a > b));
}

/* All element blocks of the lower triangle by columns: rows ascending in a column, elements ascending in a block.
 * Rows are visited in order, so appending to columns sorts both.  end[c]: end of column c. */
FIXED void entries_by_column(int32_t n, const int32_t *first, const int32_t *corner, const uint16_t *number, uint32_t *end,
                             entry *ent, const abut_elements *set, const uint32_t corners)
{
    const uint32_t blocks = corners * (corners + 1) / 2;
    for (int32_t r = 0; r < n; r++)
        for (int32_t i = first[r]; i < first[r + 1]; i++) {     /* corners at row r, ascending */
            const uint32_t e = (uint32_t)corner[i] / corners, a = (uint32_t)corner[i] % corners;
            const int32_t *row = set->row + corners * (size_t)e;
            for (uint32_t b = 0; b < corners; b++)
                if (row[b] >= 0 && row[b] <= r) {
                    const uint32_t k = number[corners * a + b];
                    ent[end[row[b]]++] = (entry){ r, ABUT_ITEM(e, k >> 1, blocks, k & 1) };
                }
        }
}

FIXED void count_entries(uint32_t *start, const abut_elements *set, const uint32_t corners)
{
    for (size_t e = 0; e < set->n; e++) {
        const int32_t *row = set->row + corners * e;
        for (uint32_t a = 0; a < corners; a++)
            for (uint32_t b = 0; b < corners; b++)
                if (row[b] >= 0 && row[b] <= row[a]) start[row[b]]++;
    }
}

/* start[c] = number of element blocks in the columns before c; returns the number of all */
static uint32_t column_starts(int32_t n, const abut_elements *set, uint32_t *start)
{
    memset(start, 0, ((size_t)n + 1) * sizeof *start);
    BY_CORNERS(count_entries, set, start);
    uint32_t sum = 0;
    for (int32_t c = 0; c <= n; c++) {
        const uint32_t k = c < n ? start[c] : 0;
        start[c] = sum;
        sum += k;
    }
    return sum;
}

/* Joins entries of the same row to blocks.  end[c] as entries_by_column leaves it. */
static abut_status set_plan_fill(abut_set_plan *p, int32_t n, const uint32_t *end, const entry *ent, abut_err *err)
{
    const uint32_t total = n ? end[n - 1] : 0;
    size_t nb = 0;
    for (int32_t c = 0; c < n; c++) {
        int32_t last = -1;
        for (uint32_t k = c ? end[c - 1] : 0; k < end[c]; k++) nb += ent[k].row != last, last = ent[k].row;
    }
    p->nb = nb;
    if (!ABUT_ARRAYS(ABUT_ITEMS(p->col, n), ABUT_ITEMS(p->row, nb), ABUT_ITEMS(p->slot, nb), ABUT_ITEMS(p->ptr, nb),
                     ABUT_ITEMS(p->item, total))) return abut_no_memory("matrix", err);
    size_t b = 0;
    for (int32_t c = 0; c < n; c++) {
        int32_t last = -1;
        p->col[c] = (uint32_t)b;
        for (uint32_t k = c ? end[c - 1] : 0; k < end[c]; k++) {
            if (ent[k].row != last) {
                last = p->row[b] = ent[k].row;
                p->ptr[b++] = k;
            }
            p->item[k] = ent[k].item;
        }
    }
    p->col[n] = (uint32_t)b;
    p->ptr[b] = total;
    return ABUT_OK;
}

/* The plan of a set whose rows are rows of the matrix. */
static abut_status rows_plan_make(abut_set_plan *p, int32_t n, const abut_elements *set, int s, abut_err *err)
{
    const size_t blocks = abut_packed_size(set->corners) / 9, most = blocks ? UINT32_MAX / (2 * blocks) - 1 : 0;
    if (set->n > most)
        return abut_fail(err, ABUT_E_ARG, "matrix: element set %d has %zu elements, at most %zu fit", s, set->n, most);
    uint16_t number[ABUT_CORNERS_MAX * ABUT_CORNERS_MAX];
    uint32_t *end = abut_array_new((size_t)n, sizeof *end);
    int32_t *first = abut_array_new((size_t)n, sizeof *first);
    int32_t *corner = abut_array_new((size_t)set->corners * set->n, sizeof *corner);
    entry *ent = NULL;
    abut_status rc;
    if (first && end && corner) ent = abut_array_new(column_starts(n, set, end), sizeof *ent);
    if (ent) {
        number_blocks(set->corners, number);
        abut_list_groups(set->row, (size_t)set->corners * set->n, n, first, corner);
        BY_CORNERS(entries_by_column, set, n, first, corner, number, end, ent);
        rc = set_plan_fill(p, n, end, ent, err);
    } else {
        rc = abut_no_memory("matrix", err);
    }
    ABUT_FREE(first, end, corner, ent);
    if (!rc && set->n && (set->make || set->rank)) rc = chunks_make(p, set, err);
    return rc;
}

/* Makes the plan of a set whose map selects rows of the matrix. */
static abut_status selected_plan_make(abut_set_plan *p, int32_t n, const abut_elements *set, int s, abut_err *err)
{
    const size_t corners = (size_t)set->corners * set->n;
    int32_t *row = abut_array_new(corners, sizeof *row);
    if (!row) return abut_no_memory("matrix", err);
    for (size_t k = 0; k < corners; k++) row[k] = set->row[k] < 0 ? -1 : set->map->col[set->row[k]];
    abut_elements selected = *set;
    selected.row = row;
    selected.map = NULL;
    abut_status rc = abut_elements_check(&selected, s, n, err);
    if (!rc) rc = rows_plan_make(p, n, &selected, s, err);
    free(row);
    return rc;
}

static abut_status mapped_plan_make(abut_set_plan *p, const abut_elements *set, abut_err *err)
{
    abut_elements on_vertices = *set;
    on_vertices.map = NULL;
    p->vertices = calloc(1, sizeof *p->vertices);
    if (!p->vertices) return abut_no_memory("matrix", err);
    const abut_status rc = abut_bsr_pattern(p->vertices, set->map->rows, &on_vertices, 1, err);
    return rc ? rc : map_plan_make(p, set, err);
}

abut_status abut_set_plan_make(abut_set_plan *p, int32_t n, const abut_elements *set, int s, abut_err *err)
{
    abut_status rc = abut_elements_check(set, s, n, err);
    if (!rc && !set->map) rc = rows_plan_make(p, n, set, s, err);
    else if (!rc) rc = set->map->first ? mapped_plan_make(p, set, err) : selected_plan_make(p, n, set, s, err);
    if (rc) abut_set_plan_clear(p);
    return rc;
}

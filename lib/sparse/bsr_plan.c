#include "sparse/bsr_plan.h"

#include <stdlib.h>
#include <string.h>

/* Code for a set of four corners, where the compiler divides by shifts, and for any other number. */
#define FIXED static inline __attribute__((always_inline))
#define BY_CORNERS(f, set, ...) ((set)->corners == 4 ? f(__VA_ARGS__, set, 4) : f(__VA_ARGS__, set, (uint32_t)(set)->corners))

static abut_status no_memory(abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "matrix: out of memory");
}

static void *new_array(size_t n, size_t size)
{
    return n > SIZE_MAX / size - 1 ? NULL : malloc((n + 1) * size);
}

void abut_set_plan_clear(abut_set_plan *p)
{
    free(p->col);
    free(p->row);
    free(p->slot);
    free(p->ptr);
    free(p->item);
    abut_chunks_free(&p->chunks);
    if (p->vertices) abut_bsr_clear(p->vertices);
    free(p->vertices);
    *p = (abut_set_plan){ 0 };
}

/* corner[first[r] .. first[r+1]) = corners e + a of the corners at row r, ascending */
static void corners_by_row(int32_t n, const abut_elements *set, uint32_t *first, uint32_t *corner)
{
    const size_t corners = (size_t)set->corners * set->n;
    memset(first, 0, ((size_t)n + 1) * sizeof *first);
    for (size_t k = 0; k < corners; k++)
        if (set->row[k] >= 0) first[set->row[k]]++;
    uint32_t sum = 0;
    for (int32_t r = 0; r <= n; r++) {
        const uint32_t c = r < n ? first[r] : 0;
        first[r] = sum;
        sum += c;
    }
    for (size_t k = 0; k < corners; k++)
        if (set->row[k] >= 0) corner[first[set->row[k]]++] = (uint32_t)k;
    for (int32_t r = n; r > 0; r--) first[r] = first[r - 1];
    if (n > 0) first[0] = 0;
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
FIXED void entries_by_column(int32_t n, const uint32_t *first, const uint32_t *corner, const uint16_t *number, uint32_t *end,
                             entry *ent, const abut_elements *set, const uint32_t corners)
{
    const uint32_t blocks = corners * (corners + 1) / 2;
    for (int32_t r = 0; r < n; r++)
        for (uint32_t i = first[r]; i < first[r + 1]; i++) {
            const uint32_t e = corner[i] / corners, a = corner[i] % corners;
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
    p->col = new_array((size_t)n, sizeof *p->col);
    p->row = new_array(nb, sizeof *p->row);
    p->slot = new_array(nb, sizeof *p->slot);
    p->ptr = new_array(nb, sizeof *p->ptr);
    p->item = new_array(total, sizeof *p->item);
    if (!p->col || !p->row || !p->slot || !p->ptr || !p->item) return no_memory(err);
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
    uint32_t *first = new_array((size_t)n, sizeof *first), *end = new_array((size_t)n, sizeof *end);
    uint32_t *corner = new_array((size_t)set->corners * set->n, sizeof *corner);
    entry *ent = NULL;
    abut_status rc;
    if (first && end && corner) ent = new_array(column_starts(n, set, end), sizeof *ent);
    if (ent) {
        number_blocks(set->corners, number);
        corners_by_row(n, set, first, corner);
        BY_CORNERS(entries_by_column, set, n, first, corner, number, end, ent);
        rc = set_plan_fill(p, n, end, ent, err);
    } else {
        rc = no_memory(err);
    }
    free(first);
    free(end);
    free(corner);
    free(ent);
    if (!rc && set->n && (set->make || set->rank)) rc = abut_chunks_make(p, set, err);
    return rc;
}

/* Makes the plan of a set whose map selects rows of the matrix. */
static abut_status selected_plan_make(abut_set_plan *p, int32_t n, const abut_elements *set, int s, abut_err *err)
{
    const size_t corners = (size_t)set->corners * set->n;
    int32_t *row = new_array(corners, sizeof *row);
    if (!row) return no_memory(err);
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
    if (!p->vertices) return no_memory(err);
    const abut_status rc = abut_bsr_pattern(p->vertices, set->map->rows, &on_vertices, 1, err);
    return rc ? rc : abut_map_plan_make(p, set, err);
}

abut_status abut_set_plan_make(abut_set_plan *p, int32_t n, const abut_elements *set, int s, abut_err *err)
{
    abut_status rc = abut_elements_check(set, s, n, err);
    if (!rc && !set->map) rc = rows_plan_make(p, n, set, s, err);
    else if (!rc) rc = set->map->first ? mapped_plan_make(p, set, err) : selected_plan_make(p, n, set, s, err);
    if (rc) abut_set_plan_clear(p);
    return rc;
}

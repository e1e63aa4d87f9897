/* Contribution W^T H W of a set whose rows are vertices y = W x, column by column; H is the set's sum on vertices. */
#include "sparse/bsr_plan.h"

#include "base/order.h"

#include <stdlib.h>
#include <string.h>

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
    if (s->nb + n > *room) {
        *room = 2 * *room + n;
        int32_t *row = realloc(s->row, *room * sizeof *row);
        if (!row) return 0;
        s->row = row;
    }
    memcpy(s->row + s->nb, found, n * sizeof *found);
    s->nb += n;
    return s->nb < UINT32_MAX;
}

abut_status abut_map_plan_make(abut_set_plan *s, const abut_elements *set, abut_err *err)
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
    free(seen);
    free(found);
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

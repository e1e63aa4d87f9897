#include "sparse/elements.h"

#include "base/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- maps of rows ---- */

static abut_status map_check_entries(const abut_row_map *W, abut_err *err)
{
    if (W->first && W->first[0] != 0)
        return abut_fail(err, ABUT_E_ARG, "row map: the first row begins at %d, want 0", W->first[0]);
    for (int32_t i = 0; W->first && i < W->rows; i++)
        if (W->first[i + 1] < W->first[i])
            return abut_fail(err, ABUT_E_ARG, "row map: row %d ends at %d, before its begin %d", i, W->first[i + 1], W->first[i]);
    const int32_t n = W->first ? W->first[W->rows] : W->rows;
    for (int32_t k = 0; k < n; k++)
        if (W->col[k] < -1 || W->col[k] >= W->cols)
            return abut_fail(err, ABUT_E_ARG, "row map: entry %d: column %d is not in -1 .. %d", k, W->col[k], W->cols - 1);
    return ABUT_OK;
}

static void back_clear(abut_row_map *W)
{
    ABUT_FREE(W->back_first, W->back_row, W->back_weight);
    W->back_first = W->back_row = NULL;
    W->back_weight = NULL;
}

static void back_fill(abut_row_map *W)
{
    int32_t *at = W->back_first;
    for (int32_t k = 0; k < W->first[W->rows]; k++)
        if (W->col[k] >= 0) at[W->col[k] + 1]++;
    for (int32_t c = 0; c < W->cols; c++) at[c + 1] += at[c];
    for (int32_t i = 0; i < W->rows; i++)
        for (int32_t k = W->first[i]; k < W->first[i + 1]; k++) {
            if (W->col[k] < 0) continue;
            const int32_t to = at[W->col[k]]++;
            W->back_row[to] = i;
            W->back_weight[to] = W->weight[k];
        }
    for (int32_t c = W->cols; c > 0; c--) at[c] = at[c - 1];
    at[0] = 0;
}

abut_status abut_row_map_transpose(abut_row_map *W, abut_err *err)
{
    const abut_status rc = map_check_entries(W, err);
    if (rc) return rc;
    back_clear(W);
    if (!W->first) return ABUT_OK;
    const size_t n = (size_t)W->first[W->rows];
    if (!ABUT_ARRAYS(ABUT_ZEROS(W->back_first, (size_t)W->cols + 2), ABUT_ITEMS(W->back_row, n), ABUT_ITEMS(W->back_weight, n))) {
        back_clear(W);
        return abut_fail(err, ABUT_E_NOMEM, "row map: %zu entries", n);
    }
    back_fill(W);
    return ABUT_OK;
}

void abut_row_map_apply(const abut_row_map *W, const double *x, double *y)
{
    #pragma omp parallel for schedule(static) if ((size_t)W->rows >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < W->rows; i++) {
        double s[3] = { 0, 0, 0 };
        for (int32_t k = W->first ? W->first[i] : i, end = W->first ? W->first[i + 1] : i + 1; k < end; k++) {
            const int32_t c = W->col[k];
            for (int d = 0; c >= 0 && d < 3; d++) s[d] += W->first ? W->weight[k] * x[3 * c + d] : x[3 * c + d];
        }
        for (int d = 0; d < 3; d++) y[3 * i + d] = s[d];
    }
}

void abut_row_map_apply_transposed(const abut_row_map *W, const double *y, double *x)
{
    for (int32_t i = 0; !W->first && i < W->rows; i++)
        for (int d = 0; W->col[i] >= 0 && d < 3; d++) x[3 * W->col[i] + d] += y[3 * i + d];
    if (!W->first) return;
    #pragma omp parallel for schedule(static) if ((size_t)W->cols >= ABUT_PAR_MIN)
    for (int32_t c = 0; c < W->cols; c++)
        for (int32_t k = W->back_first[c]; k < W->back_first[c + 1]; k++)
            for (int d = 0; d < 3; d++) x[3 * c + d] += W->back_weight[k] * y[3 * W->back_row[k] + d];
}

void abut_row_map_clear(abut_row_map *W)
{
    ABUT_FREE(W->first, W->col, W->weight);
    back_clear(W);
    *W = (abut_row_map){ 0 };
}

/* ---- sets of elements ---- */

static abut_status map_check(const abut_elements *e, int s, int32_t n, abut_err *err)
{
    const abut_row_map *W = e->map;
    if (W->cols != n) return abut_fail(err, ABUT_E_ARG, "matrix: element set %d: its map has %d columns, want %d", s, W->cols, n);
    if (W->first && !W->back_first) return abut_fail(err, ABUT_E_ARG, "matrix: element set %d: its map has no transpose", s);
    return ABUT_OK;
}

abut_status abut_elements_check(const abut_elements *e, int s, int32_t n, abut_err *err)
{
    assert(e && n >= 0);
    if (e->n && (e->corners < 1 || e->corners > ABUT_CORNERS_MAX))
        return abut_fail(err, ABUT_E_ARG, "matrix: element set %d has %d corners, want 1 .. %d", s, e->corners,
                         (int)ABUT_CORNERS_MAX);
    if (e->rank < 0 || (e->n && e->rank > 3 * e->corners))
        return abut_fail(err, ABUT_E_ARG, "matrix: element set %d of rank %d, want 0 .. %d", s, e->rank, 3 * e->corners);
    const abut_status rc = e->map ? map_check(e, s, n, err) : ABUT_OK;
    if (rc) return rc;
    const int32_t rows = e->map ? e->map->rows : n;
    const size_t corners = (size_t)e->corners;
    for (size_t k = 0; k < corners * e->n; k++)
        if (e->row[k] < -1 || e->row[k] >= rows)
            return abut_fail(err, ABUT_E_ARG, "matrix: element set %d, element %zu, corner %d: row %d is not in -1 .. %d", s,
                             k / corners, (int)(k % corners), e->row[k], rows - 1);
    return ABUT_OK;
}

size_t abut_elements_at_once(const abut_elements *e)
{
    const size_t n = ABUT_ELEMENTS_ROOM / (abut_packed_size(e->corners) + (e->rank ? abut_element_size(e) : 0));
    return n > 4 ? n / 4 * 4 : n;
}

/* Expands one term s v v^T on four corners, as a contact has. */
ABUT_SIMD
static void expand_contact(const double *term, double *H)
{
    const double s = term[0], *v = term + 1;
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++, H += 9)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) H[3 * i + j] = s * (v[3 * a + i] * v[3 * b + j]);
}

/* H, packed, of one element: the sum of s v v^T over its terms.  (v_i v_j) s has the same bits as (v_j v_i) s. */
static void expand(int corners, int rank, const double *term, double *H)
{
    if (corners == 4 && rank == 1) {
        expand_contact(term, H);
        return;
    }
    memset(H, 0, abut_packed_size(corners) * sizeof *H);
    for (int r = 0; r < rank; r++, term += 3 * corners + 1) {
        const double s = term[0], *v = term + 1;
        double *block = H;
        for (int a = 0; a < corners; a++)
            for (int b = a; b < corners; b++, block += 9)
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++) block[3 * i + j] += s * (v[3 * a + i] * v[3 * b + j]);
    }
}

const double *abut_elements_packed(const abut_elements *e, size_t lo, size_t hi, double *room)
{
    const size_t size = abut_element_size(e), packed = abut_packed_size(e->corners);
    if (!e->rank && e->val) return e->val + size * lo;
    double *raw = e->rank ? room + packed * (hi - lo) : room;
    if (!e->val) e->make(e->ctx, lo, hi, raw);
    const double *from = e->val ? e->val + size * lo : raw;
    for (size_t k = 0; e->rank && k < hi - lo; k++) expand(e->corners, e->rank, from + size * k, room + packed * k);
    return room;
}

/* ---- the elements of a rank ---- */

enum { FOUR = 4 };

void abut_owned_elements_clear(abut_owned_elements *o)
{
    for (int k = 0; k < ABUT_SETS_MAX; k++) {
        ABUT_FREE(o->set[k].group, o->set[k].row);
    }
    *o = (abut_owned_elements){ 0 };
}

static int touches(const abut_elements *e, size_t k, abut_range rows)
{
    const int32_t *row = e->row + k * (size_t)e->corners;
    for (int c = 0; c < e->corners; c++)
        if (row[c] >= 0 && (size_t)row[c] >= rows.lo && (size_t)row[c] < rows.hi) return 1;
    return 0;
}

/* Elements of group g of four. */
static abut_range of_group(size_t n, size_t g)
{
    return (abut_range){ FOUR * g, FOUR * g + FOUR < n ? FOUR * g + FOUR : n };
}

static int any_touches(const abut_elements *e, size_t g, abut_range rows)
{
    const abut_range r = of_group(e->n, g);
    for (size_t k = r.lo; k < r.hi; k++)
        if (touches(e, k, rows)) return 1;
    return 0;
}

/* Values of elements [lo, hi) of a whole set. */
static void values_of(const abut_elements *e, size_t lo, size_t hi, double *val)
{
    const size_t size = abut_element_size(e);
    if (e->val) memcpy(val, e->val + size * lo, (hi - lo) * size * sizeof *val);
    else e->make(e->ctx, lo, hi, val);
}

/* Values of the rank's elements [lo, hi): groups that follow each other in the whole set are asked for at once. */
static void make_groups(void *ctx, size_t lo, size_t hi, double *val)
{
    const struct abut_owned_set *s = ctx;
    const abut_elements *of = s->of;
    const size_t size = abut_element_size(of), last = (hi + FOUR - 1) / FOUR;
    for (size_t g = lo / FOUR, end; g < last; g = end) {
        for (end = g + 1; end < last && s->group[end] == s->group[end - 1] + 1;) end++;
        const size_t from = FOUR * (size_t)s->group[g], to = of_group(of->n, (size_t)s->group[end - 1]).hi;
        values_of(of, from, to, val + size * (FOUR * g - lo));
    }
}

static abut_status reserve(struct abut_owned_set *s, size_t groups, size_t corners, abut_err *err)
{
    if (groups > s->cap) {
        ABUT_FREE(s->group, s->row);
        s->cap = groups + groups / 4;
        if (!ABUT_ARRAYS(ABUT_ITEMS(s->group, s->cap), ABUT_ITEMS(s->row, s->cap * FOUR * corners))) s->cap = 0;
    }
    return groups <= s->cap ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "elements of a rank: %zu groups", groups);
}

static abut_status take_set(struct abut_owned_set *s, abut_range rows, abut_elements *e, abut_err *err)
{
    const size_t corners = (size_t)e->corners, groups = (e->n + FOUR - 1) / FOUR;
    size_t n = 0, at = 0;
    for (size_t g = 0; g < groups; g++) n += (size_t)any_touches(e, g, rows);
    const abut_status rc = reserve(s, n, corners, err);
    if (rc) return rc;
    s->n = 0;
    for (size_t g = 0; g < groups; g++) {
        if (!any_touches(e, g, rows)) continue;
        const abut_range r = of_group(e->n, g);
        s->group[s->n++] = (int32_t)g;
        memcpy(s->row + corners * at, e->row + corners * r.lo, (r.hi - r.lo) * corners * sizeof *s->row);
        for (size_t k = r.lo; k < r.hi; k++)    /* other elements would add only to rows of other ranks */
            for (size_t c = 0; c < corners && !touches(e, k, rows); c++) s->row[corners * (at + k - r.lo) + c] = -1;
        at += r.hi - r.lo;
    }
    e->n = at;
    e->row = s->row;
    e->val = NULL;
    e->make = make_groups;
    e->ctx = s;
    return ABUT_OK;
}

abut_status abut_owned_elements_take(abut_owned_elements *o, const abut_ranks *r, int32_t n, abut_elements *sets, int nsets,
                                     abut_err *err)
{
    assert(r && nsets <= ABUT_SETS_MAX);
    const abut_range rows = abut_ranks_part(r, (size_t)n);
    for (int k = 0; k < nsets; k++) {
        if (sets[k].map) return abut_fail(err, ABUT_E_ARG, "elements of %s on a map of rows: not for ranks", sets[k].name);
        o->all[k] = sets[k];
        o->set[k].of = &o->all[k];
        const abut_status rc = take_set(&o->set[k], rows, &sets[k], err);
        if (rc) return rc;
    }
    return ABUT_OK;
}

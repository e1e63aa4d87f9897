#include "sparse/elements.h"

#include "base/simd.h"

#include <assert.h>
#include <string.h>

static abut_status map_check(const abut_elements *e, int s, int32_t n, abut_err *err)
{
    const abut_row_map *W = e->map;
    if (W->cols != n)
        return abut_fail(err, ABUT_E_ARG, "matrix: element set %d: its map has %d columns, want %d", s, W->cols, n);
    if (W->first && !W->back_first)
        return abut_fail(err, ABUT_E_ARG, "matrix: element set %d: its map has no transpose", s);
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

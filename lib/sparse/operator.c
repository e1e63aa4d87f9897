#include "sparse/operator.h"

#include "base/arena.h"
#include "math/mat3.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The corners of one set by the rows of the matrix, or of vertices that its map has. */
typedef struct set_corners {
    int32_t rows;
    const abut_row_map *map;    /* NULL: rows of the matrix; a map that selects is not kept either */
    int32_t *row;               /* [n * corners] */
    size_t *first;              /* [rows + 1] */
    uint32_t *corner;           /* of row r: first[r] .. first[r+1], ascending */
    double *force;              /* [3 n corners] of each corner; of stored terms of rank one s v . x, [n rank] */
    double *x, *y;              /* [3 rows] on vertices; NULL without a map */
} set_corners;

struct abut_product {
    int32_t n;
    int nsets, summed;          /* sets; those before number `summed` are in S */
    abut_bsr S;                 /* the diagonal with them; summed 0: empty */
    set_corners set[ABUT_SETS_MAX];     /* of those in S rows alone */
    abut_elements elements[ABUT_SETS_MAX];
    const double *diag;         /* diagonal not in S */
};

static void corners_clear(set_corners *c)
{
    ABUT_FREE(c->row, c->first, c->corner, c->force, c->x, c->y);
    *c = (set_corners){ 0 };
}

void abut_product_free(abut_product **p)
{
    for (int s = 0; *p && s < (*p)->nsets; s++) corners_clear(&(*p)->set[s]);
    if (*p) abut_bsr_clear(&(*p)->S);
    free(*p);
    *p = NULL;
}

static void corners_fill(set_corners *c, size_t corners)
{
    for (size_t k = 0; k < corners; k++)
        if (c->row[k] >= 0) c->first[c->row[k] + 1]++;
    for (int32_t r = 0; r < c->rows; r++) c->first[r + 1] += c->first[r];
    for (size_t k = 0; k < corners; k++)
        if (c->row[k] >= 0) c->corner[c->first[c->row[k]]++] = (uint32_t)k;
    for (int32_t r = c->rows; r > 0; r--) c->first[r] = c->first[r - 1];
    c->first[0] = 0;
}

static abut_status corners_make(set_corners *c, int32_t n, const abut_elements *e, int s, abut_err *err)
{
    const size_t corners = (size_t)e->corners * e->n;
    if (corners > UINT32_MAX) return abut_fail(err, ABUT_E_ARG, "product: element set %d has %zu corners", s, corners);
    c->map = e->map && e->map->first ? e->map : NULL;
    c->rows = c->map ? c->map->rows : n;
    c->row = abut_array_new(corners, sizeof *c->row);
    c->first = calloc((size_t)c->rows + 1, sizeof *c->first);
    c->corner = abut_array_new(corners, sizeof *c->corner);
    c->force = abut_array_new(corners, 3 * sizeof *c->force);
    c->x = c->map ? abut_array_new((size_t)c->rows, 3 * sizeof *c->x) : NULL;
    c->y = c->map ? abut_array_new((size_t)c->rows, 3 * sizeof *c->y) : NULL;
    if (!c->row || !c->first || !c->corner || !c->force || (c->map && (!c->x || !c->y)))
        return abut_fail(err, ABUT_E_NOMEM, "product: %zu corners of element set %d", corners, s);
    const int32_t *selected = e->map && !c->map ? e->map->col : NULL;
    for (size_t k = 0; k < corners; k++) c->row[k] = e->row[k] >= 0 && selected ? selected[e->row[k]] : e->row[k];
    abut_elements known = *e;
    known.row = c->row;
    known.map = c->map;
    const abut_status rc = selected ? abut_elements_check(&known, s, n, err) : ABUT_OK;
    if (!rc) corners_fill(c, corners);
    return rc;
}

/* Keeps the rows of a summed set, for comparison with the next call. */
static abut_status rows_keep(set_corners *c, const abut_elements *e, abut_err *err)
{
    const size_t corners = (size_t)e->corners * e->n;
    c->row = abut_array_new(corners, sizeof *c->row);
    if (!c->row) return abut_fail(err, ABUT_E_NOMEM, "product: %zu corners", corners);
    if (corners) memcpy(c->row, e->row, corners * sizeof *c->row);
    return ABUT_OK;
}

static abut_status sets_take(abut_product *p, const abut_elements *sets, int first, int nsets, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int s = first; s < p->nsets; s++) corners_clear(&p->set[s]);
    for (p->nsets = first; p->nsets < nsets && !rc;) {
        const int s = p->nsets++;
        rc = abut_elements_check(&sets[s], s, p->n, err);
        p->elements[s] = sets[s];
        if (!rc) rc = s < p->summed ? rows_keep(&p->set[s], &sets[s], err) : corners_make(&p->set[s], p->n, &sets[s], s, err);
    }
    return rc;
}

abut_status abut_product_make(abut_product **out, int32_t n, const abut_elements *sets, int nsets, int summed, abut_err *err)
{
    assert(out && n >= 0 && summed <= nsets);
    if (nsets < 0 || nsets > ABUT_SETS_MAX)
        return abut_fail(err, ABUT_E_ARG, "product: %d element sets, at most %d", nsets, (int)ABUT_SETS_MAX);
    abut_product *p = calloc(1, sizeof *p);
    if (!p) return abut_fail(err, ABUT_E_NOMEM, "product: out of memory");
    p->n = n;
    p->summed = summed;
    abut_status rc = sets_take(p, sets, 0, nsets, err);
    if (!rc && summed) rc = abut_bsr_pattern(&p->S, n, sets, summed, err);
    if (rc) abut_product_free(&p);
    *out = p;
    return rc;
}

static int has_rows(const set_corners *c, const abut_elements *was, const abut_elements *e)
{
    return was->n == e->n && was->corners == e->corners && was->map == e->map &&
           (!e->n || !memcmp(c->row, e->row, (size_t)e->corners * e->n * sizeof *c->row));
}

abut_status abut_product_renew(abut_product **out, int32_t n, const abut_elements *sets, int nsets, int summed, int *lasted,
                               abut_err *err)
{
    abut_product *p = *out;
    *lasted = p && p->n == n && p->summed == summed && nsets >= summed && nsets <= ABUT_SETS_MAX;
    for (int s = 0; s < summed && *lasted; s++) *lasted = has_rows(&p->set[s], &p->elements[s], &sets[s]);
    if (!*lasted) {
        abut_product_free(out);
        return abut_product_make(out, n, sets, nsets, summed, err);
    }
    const abut_status rc = sets_take(p, sets, summed, nsets, err);
    if (rc) abut_product_free(out);
    return rc;
}

/* f[3 corners] = H x of a packed element on its rows. */
ABUT_SIMD
static void element_force(int corners, const double *H, const int32_t *row, const double *x, double *f)
{
    memset(f, 0, 3 * (size_t)corners * sizeof *f);
    for (int a = 0; a < corners; a++)
        for (int b = a; b < corners; b++, H += 9) {
            if (row[a] < 0 || row[b] < 0) continue;
            abut_m3_add_times(f + 3 * a, H, x + 3 * (size_t)row[b]);
            if (b > a) abut_m3_add_t_times(f + 3 * b, H, x + 3 * (size_t)row[a]);
        }
}

/* f[3 corners] of terms s v v^T; at: their s v . x. */
static inline double term_at(int corners, const double *term, const int32_t *row, const double *x)
{
    double sum = 0;
    for (int a = 0; a < corners; a++) {
        if (row[a] < 0) continue;
        const double *v = term + 1 + 3 * a, *u = x + 3 * (size_t)row[a];
        sum += v[0] * u[0] + v[1] * u[1] + v[2] * u[2];
    }
    return term[0] * sum;
}

static void terms_force(const abut_elements *e, const double *term, const int32_t *row, const double *x, double *f)
{
    const int n = 3 * e->corners;
    memset(f, 0, (size_t)n * sizeof *f);
    for (int r = 0; r < e->rank; r++, term += n + 1) {
        const double t = term_at(e->corners, term, row, x);
        for (int i = 0; i < n; i++) f[i] += t * term[1 + i];
    }
}

/* t = s v . x of element k's terms. */
static inline void element_terms(const abut_elements *e, int corners, size_t rank, const int32_t *row, size_t k, const double *x,
                                 double *t)
{
    const size_t each = 3 * (size_t)corners + 1;
    for (size_t r = 0; r < rank; r++)
        t[rank * k + r] = term_at(corners, e->val + each * (rank * k + r), row + (size_t)corners * k, x);
}

/* t[n rank] = s v . x of all terms. */
static void all_terms(const set_corners *c, const abut_elements *e, const double *x)
{
    const int is_contact = e->corners == 4 && e->rank == 1;     /* the most frequent: numbers that the compiler knows */
    #pragma omp parallel for schedule(static) if (e->n >= ABUT_PAR_MIN)
    for (size_t k = 0; k < e->n; k++)
        if (is_contact) element_terms(e, 4, 1, c->row, k, x, c->force);
        else element_terms(e, e->corners, (size_t)e->rank, c->row, k, x, c->force);
}

/* Whether the products of a set are those of its terms, which lie in memory. */
static int has_terms(const abut_elements *e) { return e->rank && e->val; }

/* y[3] += t v of the terms of row i's corners. */
static inline void row_terms(const set_corners *c, const abut_elements *e, uint32_t corners, size_t rank, int32_t i, double *y)
{
    const size_t each = 3 * (size_t)corners + 1;
    double sum[3] = { y[0], y[1], y[2] };
    for (size_t k = c->first[i]; k < c->first[i + 1]; k++) {
        const uint32_t element = c->corner[k] / corners, a = c->corner[k] % corners;
        const double *v = e->val + rank * each * element + 1 + 3 * a, *t = c->force + rank * element;
        for (size_t r = 0; r < rank; r++, v += each)
            for (size_t d = 0; d < 3; d++) sum[d] += t[r] * v[d];
    }
    for (size_t d = 0; d < 3; d++) y[d] = sum[d];
}

static void gather_terms(const set_corners *c, const abut_elements *e, double *y)
{
    const int is_contact = e->corners == 4 && e->rank == 1;
    #pragma omp parallel for schedule(static) if ((size_t)c->rows >= ABUT_PAR_MIN / 2)
    for (int32_t i = 0; i < c->rows; i++)
        if (is_contact) row_terms(c, e, 4, 1, i, y + 3 * (size_t)i);
        else row_terms(c, e, (uint32_t)e->corners, (size_t)e->rank, i, y + 3 * (size_t)i);
}

/* Computes forces of elements and sums of rows at once, on one thread, with the order of additions of the two passes. */
static inline void scatter_terms(const set_corners *c, const abut_elements *e, int corners, size_t rank, const double *x,
                                 double *y)
{
    const size_t each = 3 * (size_t)corners + 1;
    for (size_t k = 0; k < e->n; k++) {
        const int32_t *row = c->row + (size_t)corners * k;
        element_terms(e, corners, rank, c->row, k, x, c->force);
        for (int a = 0; a < corners; a++) {
            const double *v = e->val + rank * each * k + 1 + 3 * a;
            for (size_t r = 0; r < rank && row[a] >= 0; r++, v += each)
                for (int d = 0; d < 3; d++) y[3 * (size_t)row[a] + (size_t)d] += c->force[rank * k + r] * v[d];
        }
    }
}

static void terms_multiply(const set_corners *c, const abut_elements *e, const double *x, double *y)
{
    if (abut_threads() > 1) {
        all_terms(c, e, x);
        gather_terms(c, e, y);
    } else if (e->corners == 4 && e->rank == 1) {
        scatter_terms(c, e, 4, 1, x, y);
    } else {
        scatter_terms(c, e, e->corners, (size_t)e->rank, x, y);
    }
}

/* f[3 corners]: row d of what the element adds to the diagonal block of each corner's row, once for each row. */
static void element_diagonal(int corners, const double *H, const int32_t *row, size_t d, double *f)
{
    memset(f, 0, 3 * (size_t)corners * sizeof *f);
    for (int a = 0; a < corners; a++)
        for (int b = a; b < corners; b++, H += 9) {
            if (row[a] < 0 || row[a] != row[b]) continue;
            for (size_t j = 0; j < 3; j++) f[3 * a + (int)j] += a == b ? H[3 * d + j] : H[3 * d + j] + H[3 * j + d];
        }
}

enum { FORCES = -1 };

/* Returns the numbers of elements [lo, hi), in room[ABUT_ELEMENTS_ROOM] or e->val; *size: numbers of each.  FORCES reads terms if
 * the set has them. */
static const double *elements_of(const abut_elements *e, size_t lo, size_t hi, int what, double *room, size_t *size)
{
    *size = e->rank && what == FORCES ? abut_element_size(e) : abut_packed_size(e->corners);
    if (!e->rank || what != FORCES) return abut_elements_packed(e, lo, hi, room);
    e->make(e->ctx, lo, hi, room);
    return room;
}

/* The forces of all elements at x, or row `what` of their diagonal blocks. */
static void all_elements(set_corners *c, const abut_elements *e, const double *x, int what)
{
    const size_t each = e->n ? abut_elements_at_once(e) : 1, chunks = (e->n + each - 1) / each, corners = (size_t)e->corners;
    #pragma omp parallel for schedule(dynamic, 1) if (e->n >= ABUT_PAR_MIN / 4)
    for (size_t i = 0; i < chunks; i++) {
        double room[ABUT_ELEMENTS_ROOM] __attribute__((aligned(64)));
        const size_t lo = i * each, hi = lo + each < e->n ? lo + each : e->n;
        size_t size;
        const double *H = elements_of(e, lo, hi, what, room, &size);
        for (size_t k = lo; k < hi; k++, H += size) {
            const int32_t *row = c->row + corners * k;
            double *f = c->force + 3 * corners * k;
            if (what == FORCES && e->rank) terms_force(e, H, row, x, f);
            else if (what == FORCES) element_force(e->corners, H, row, x, f);
            else element_diagonal(e->corners, H, row, (size_t)what, f);
        }
    }
}

/* y += what the corners of each row have; y[stride r + at ..] */
static void gather(const set_corners *c, size_t stride, size_t at, double *y)
{
    #pragma omp parallel for schedule(static) if ((size_t)c->rows >= ABUT_PAR_MIN / 2)
    for (int32_t r = 0; r < c->rows; r++)
        for (size_t k = c->first[r]; k < c->first[r + 1]; k++)
            for (size_t d = 0; d < 3; d++) y[stride * (size_t)r + at + d] += c->force[3 * (size_t)c->corner[k] + d];
}

/* y += H x of the elements of a set. */
static void elements_multiply(set_corners *c, const abut_elements *e, const double *x, double *y)
{
    if (has_terms(e)) {
        terms_multiply(c, e, x, y);
    } else {
        all_elements(c, e, x, FORCES);
        gather(c, 3, 0, y);
    }
}

void abut_product_multiply(abut_product *p, const double *x, double *y)
{
    if (p->summed) abut_bsr_multiply(&p->S, x, y);
    #pragma omp parallel for schedule(static) if ((size_t)p->n >= ABUT_PAR_MIN && !p->summed)
    for (int32_t r = 0; r < (p->summed ? 0 : p->n); r++)
        for (int d = 0; d < 3; d++) y[3 * r + d] = p->diag ? p->diag[r] * x[3 * r + d] : 0;
    for (int s = p->summed; s < p->nsets; s++) {
        set_corners *c = &p->set[s];
        if (c->map) abut_row_map_apply(c->map, x, c->x);
        if (c->map) memset(c->y, 0, 3 * (size_t)c->rows * sizeof *c->y);
        elements_multiply(c, &p->elements[s], c->map ? c->x : x, c->map ? c->y : y);
        if (c->map) abut_row_map_apply_transposed(c->map, c->y, y);
    }
}

/* D += sum of w_a w_b H over the entries of vertices a and b in the same column. */
static void add_mapped_block(const abut_row_map *W, int32_t a, int32_t b, int same, const double *H, double *D)
{
    for (int32_t k = W->first[a]; k < W->first[a + 1]; k++)
        for (int32_t l = W->first[b]; l < W->first[b + 1]; l++) {
            if (W->col[k] < 0 || W->col[k] != W->col[l]) continue;
            const double w = W->weight[k] * W->weight[l];
            double *to = D + 9 * (size_t)W->col[k];
            for (int i = 0; i < 9; i++) to[i] += w * (same ? H[i] : H[i] + H[3 * (i % 3) + i / 3]);
        }
}

/* Element by element, on one thread: a column of W meets many of them. */
static void add_mapped_diagonal(const set_corners *c, const abut_elements *e, double *D)
{
    const size_t each = e->n ? abut_elements_at_once(e) : 1, corners = (size_t)e->corners;
    double room[ABUT_ELEMENTS_ROOM];
    for (size_t lo = 0; lo < e->n; lo += each) {
        const size_t hi = lo + each < e->n ? lo + each : e->n;
        const double *H = abut_elements_packed(e, lo, hi, room);
        for (size_t k = lo; k < hi; k++)
            for (size_t a = 0; a < corners; a++)
                for (size_t b = a; b < corners; b++, H += 9) {
                    const int32_t r = c->row[corners * k + a], s = c->row[corners * k + b];
                    if (r >= 0 && s >= 0) add_mapped_block(c->map, r, s, a == b, H, D);
                }
    }
}

void abut_product_diagonal(abut_product *p, double *D)
{
    for (size_t i = 0; i < 9 * (size_t)p->n && !p->summed; i++) D[i] = p->diag && i % 9 % 4 == 0 ? p->diag[i / 9] : 0;
    if (p->summed) abut_operator_diagonal(&(abut_operator){ .matrix = &p->S }, D);
    for (int s = p->summed; s < p->nsets; s++) {
        if (p->set[s].map) add_mapped_diagonal(&p->set[s], &p->elements[s], D);
        for (int d = 0; d < 3 && !p->set[s].map; d++) {
            all_elements(&p->set[s], &p->elements[s], NULL, d);
            gather(&p->set[s], 9, 3 * (size_t)d, D);
        }
    }
}

static abut_status read_all(void *self, int values, const abut_operator_reader *to, abut_err *err)
{
    return abut_product_read(self, values, to, err);
}

static void multiply(void *self, const double *x, double *y) { abut_product_multiply(self, x, y); }
static void diagonal(void *self, double *D) { abut_product_diagonal(self, D); }

abut_operator abut_product_operator(abut_product *p)
{
    return (abut_operator){ .n = p->n, .multiply = multiply, .diagonal = diagonal, .read = read_all, .self = p };
}

abut_operator abut_product_set(abut_product *p, const double *diag, const abut_elements *sets)
{
    if (p->summed) abut_bsr_assemble(&p->S, diag, sets, p->summed);
    p->diag = p->summed ? NULL : diag;
    for (int s = 0; s < p->nsets; s++) p->elements[s] = sets[s];
    return abut_product_operator(p);
}

void abut_operator_diagonal(const abut_operator *A, double *D)
{
    if (!A->matrix) A->diagonal(A->self, D);
    for (int32_t c = 0; A->matrix && c < A->matrix->n; c++)
        memcpy(D + 9 * (size_t)c, A->matrix->val + 9 * A->matrix->ptr[c], 9 * sizeof *D);
}

/* ---- handing over ---- */

enum { CHUNKS = 32 };   /* made side by side, then read */

/* Elements of a set, packed, some chunks at a time; buffer[CHUNKS * ABUT_ELEMENTS_ROOM]. */
static void read_packed(const set_corners *c, const abut_elements *e, const abut_operator_reader *to, double *buffer)
{
    const size_t each = abut_elements_at_once(e), size = abut_packed_size(e->corners), corners = (size_t)e->corners;
    for (size_t lo = 0; lo < e->n; lo += CHUNKS * each) {
        const size_t most = e->n - lo, n = most < CHUNKS * each ? most : CHUNKS * each, chunks = (n + each - 1) / each;
        #pragma omp parallel for schedule(dynamic, 1) if (n >= ABUT_PAR_MIN / 4)
        for (size_t i = 0; i < chunks; i++) {
            double room[ABUT_ELEMENTS_ROOM] __attribute__((aligned(64)));
            const size_t from = lo + i * each, past = from + each < lo + n ? from + each : lo + n;
            const double *H = abut_elements_packed(e, from, past, room);
            memcpy(buffer + i * each * size, H, (past - from) * size * sizeof *H);
        }
        to->elements(to->ctx, &(abut_operator_elements){ .corners = e->corners, .n = n, .row = c->row + corners * lo,
                                                         .val = buffer, .map = c->map });
    }
}

abut_status abut_product_read(abut_product *p, int values, const abut_operator_reader *to, abut_err *err)
{
    double *buffer = values ? malloc((size_t)CHUNKS * ABUT_ELEMENTS_ROOM * sizeof *buffer) : NULL;
    if (values && !buffer) return abut_fail(err, ABUT_E_NOMEM, "product: room for element matrices");
    if (p->diag && values) to->diagonal(to->ctx, p->diag);
    if (p->summed) to->matrix(to->ctx, &p->S);
    for (int s = p->summed; s < p->nsets; s++) {
        const set_corners *c = &p->set[s];
        const abut_elements *e = &p->elements[s];
        if (!e->n) continue;
        if (values && !e->val) read_packed(c, e, to, buffer);
        else to->elements(to->ctx, &(abut_operator_elements){ .corners = e->corners, .rank = values ? e->rank : 0, .n = e->n,
                                                              .row = c->row, .val = values ? e->val : NULL, .map = c->map });
    }
    free(buffer);
    return ABUT_OK;
}

/* Sums element matrices into the coarse matrix E = Z^T A Z. */
#include "sparse/schwarz/coarse_parts.h"

#include "base/par.h"

#include <stdlib.h>
#include <string.h>

/* The rows of a corner: itself, or the columns of its vertex. */
typedef struct corner {
    int32_t lo, hi;         /* entries of the map; without one 0, 1 */
    int32_t row;
} corner;

static inline corner corner_of(const abut_operator_elements *e, size_t k, int a)
{
    const int32_t r = e->row[(size_t)e->corners * k + (size_t)a];
    if (r < 0) return (corner){ 0, 0, -1 };
    return e->map ? (corner){ e->map->first[r], e->map->first[r + 1], r } : (corner){ 0, 1, r };
}

static inline int32_t row_of(const abut_operator_elements *e, corner c, int32_t i) { return e->map ? e->map->col[i] : c.row; }
static inline double weight_of(const abut_operator_elements *e, int32_t i) { return e->map ? e->map->weight[i] : 1; }

/* ---- which sets are joined ---- */

typedef struct finding {
    abut_coarse_space *c;
    int failed;
    uint64_t last;          /* elements that follow each other often join the same */
} finding;

static void pair_add(finding *f, int32_t p, int32_t q)
{
    struct set_pairs *s = &f->c->pairs;
    const uint64_t key = (uint64_t)(p < q ? p : q) * (uint64_t)f->c->k + (uint64_t)(p < q ? q : p);
    if (p == q || key == f->last || f->failed) return;
    if (s->n == s->cap) {
        const size_t cap = 2 * s->cap + 256;
        uint64_t *grown = realloc(s->key, cap * sizeof *grown);
        f->failed = !grown;
        if (!grown) return;
        s->key = grown;
        s->cap = cap;
    }
    f->last = s->key[s->n++] = key;
}

static void join_rows(finding *f, int32_t r, int32_t s)
{
    const abut_coarse_space *c = f->c;
    for (int32_t i = c->at[r]; i < c->at[r + 1]; i++)
        for (int32_t j = c->at[s]; j < c->at[s + 1]; j++) pair_add(f, c->in[c->of[i]].set, c->in[c->of[j]].set);
}

static void find_pairs(void *ctx, const abut_operator_elements *e)
{
    for (size_t k = 0; k < e->n; k++)
        for (int a = 0; a < e->corners; a++)
            for (int b = a; b < e->corners; b++) {
                const corner p = corner_of(e, k, a), q = corner_of(e, k, b);
                for (int32_t i = p.lo; i < p.hi; i++)
                    for (int32_t j = q.lo; j < q.hi; j++)
                        if (row_of(e, p, i) >= 0 && row_of(e, q, j) >= 0) join_rows(ctx, row_of(e, p, i), row_of(e, q, j));
            }
}

static int by_key(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void ignore_matrix(void *ctx, const abut_bsr *S) { (void)ctx, (void)S; }

abut_status abut_coarse_pairs_find(abut_coarse_space *c, const abut_operator *A, abut_err *err)
{
    struct set_pairs *s = &c->pairs;
    finding f = { c, 0, UINT64_MAX };
    s->n = 0;
    if (A->matrix) return ABUT_OK;
    const abut_operator_reader to = { .elements = find_pairs, .ctx = &f, .matrix = ignore_matrix };
    const abut_status rc = A->read(A->self, 0, &to, err);
    if (rc) return rc;
    if (f.failed) return abut_fail(err, ABUT_E_NOMEM, "coarse space: %zu pairs of sets", s->n);
    if (s->n) qsort(s->key, s->n, sizeof *s->key, by_key);
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (!n || s->key[n - 1] != s->key[i]) s->key[n++] = s->key[i];
    s->n = n;
    return ABUT_OK;
}

/* ---- what they add ---- */

/* Each thread has sets of its own and looks at all elements: so a block of E is summed in their order. */
typedef struct adding {
    abut_coarse_space *c;
    int stripes;
} adding;

/* The blocks of sets p >= q += w X, X[6][6] or its transpose. */
static void add_motions_block(abut_coarse_space *c, int32_t p, int32_t q, const double *X, double w, int transposed)
{
    abut_bsr *E = &c->E;
    const size_t left = E->ptr[2 * q], right = E->ptr[2 * q + 1];
    size_t lo = left, hi = right;
    while (hi - lo > 2) {           /* rows 2 p, 2 p + 1 follow each other */
        const size_t mid = lo + (hi - lo) / 4 * 2;
        if (E->row[mid] <= 2 * p) lo = mid;
        else hi = mid;
    }
    for (int i = 0; i < MOTIONS; i++)
        for (int j = 0; j < MOTIONS; j++) {
            if (p == q && i < 3 && j >= 3) continue;
            const size_t column = j < 3 ? lo : right - 1 + (lo - left);
            E->val[9 * (column + (size_t)(i / 3)) + 3 * (size_t)(i % 3) + (size_t)(j % 3)] +=
                w * (transposed ? X[MOTIONS * j + i] : X[MOTIONS * i + j]);
        }
}

/* X[6][6] = Z^T H Z for members a and b */
static void motions_of(const member *a, const member *b, const double *H, double *X)
{
    double q[3 * MOTIONS] = { 0 };
    add_motions(b, H, q);
    for (int d = 0; d < MOTIONS; d++) {
        const double f[3] = { q[d], q[MOTIONS + d], q[2 * MOTIONS + d] };
        double t[MOTIONS] = { 0 };
        add_resultant(a, f, t);
        for (int i = 0; i < MOTIONS; i++) X[MOTIONS * i + d] = t[i];
    }
}

/* w H between rows r and s, and w H^T between s and r; alone: that is the same block, once. */
static void add_rows(const adding *t, int mine, int32_t r, int32_t s, const double *H, double w, int alone)
{
    abut_coarse_space *c = t->c;
    double X[MOTIONS * MOTIONS];
    for (int32_t i = c->at[r]; i < c->at[r + 1]; i++)
        for (int32_t j = c->at[s]; j < c->at[s + 1]; j++) {
            const member *a = &c->in[c->of[i]], *b = &c->in[c->of[j]];
            const int32_t lower = a->set < b->set ? a->set : b->set;
            if (lower % t->stripes != mine || (alone && a->set < b->set)) continue;
            motions_of(a, b, H, X);
            if (a->set >= b->set) add_motions_block(c, a->set, b->set, X, w, 0);
            if (a->set < b->set || (a->set == b->set && !alone)) add_motions_block(c, b->set, a->set, X, w, 1);
        }
}

static void add_element(const adding *t, int mine, const abut_operator_elements *e, size_t k)
{
    double room[9];
    for (int a = 0; a < e->corners; a++)
        for (int b = a; b < e->corners; b++) {
            const corner p = corner_of(e, k, a), q = corner_of(e, k, b);
            if (p.row < 0 || q.row < 0) continue;
            const double *H = abut_operator_block(e, k, a, b, room);
            for (int32_t i = p.lo; i < p.hi; i++)
                for (int32_t j = a == b ? i : q.lo; j < q.hi; j++) {
                    const int32_t r = row_of(e, p, i), s = row_of(e, q, j);
                    const double w = weight_of(e, i) * weight_of(e, j);
                    if (r >= 0 && s >= 0) add_rows(t, mine, r, s, H, w, a == b && i == j);
                }
        }
}

static void add_elements(void *ctx, const abut_operator_elements *e)
{
    const adding *t = ctx;
    #pragma omp parallel for schedule(static, 1) if (e->n >= ABUT_PAR_MIN / 4)
    for (int mine = 0; mine < t->stripes; mine++)
        for (size_t k = 0; k < e->n; k++) add_element(t, mine, e, k);
}

static void add_diagonal(void *ctx, const double *diag)
{
    const adding *t = ctx;
    for (int32_t r = 0; r < t->c->n; r++) {
        const double H[9] = { diag[r], 0, 0, 0, diag[r], 0, 0, 0, diag[r] };
        for (int mine = 0; mine < t->stripes; mine++) add_rows(t, mine, r, r, H, 1, 1);
    }
}

abut_status abut_coarse_elements_add(abut_coarse_space *c, const abut_operator *A, abut_err *err)
{
    adding t = { c, abut_threads() };
    return A->read(A->self, 1, &(abut_operator_reader){ add_diagonal, add_elements, &t, ignore_matrix }, err);
}

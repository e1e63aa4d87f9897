#include "sparse/schwarz/coarse_space.h"

#include "base/arena.h"
#include "base/order.h"
#include "sparse/own/cholesky.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOTIONS = 6 };
/* A row of a set: motions of the set displace it by weight [I, w -> w x arm]. */
typedef struct member {
    int32_t row, set;
    double weight;
    double arm[3];      /* from the middle of the set, in units of its radius */
} member;

/* A row near a set: its place in `near`. */
typedef struct nearness {
    int32_t place, set;
} nearness;

struct abut_coarse_space {
    int32_t n, k;
    int32_t *first;     /* [k + 1] members of set j: first[j] .. first[j+1] */
    member *in;
    int32_t *at, *of;   /* [n + 1]; of[at[i] .. at[i+1]): the members that are row i, by sets */
    int32_t *reach;     /* [k + 1] rows that A joins with those of set j, its own among them: near[reach[j] .. reach[j+1]) */
    int32_t *near;
    int32_t *near_at;   /* [n + 1]; near_of[near_at[i] .. near_at[i+1]): the sets that row i is near, ascending */
    nearness *near_of;
    double (*AZ)[3 * MOTIONS];  /* [reach[k]] what A makes of the motions of the set there, row major */
    struct set_pairs {  /* of different sets that elements join, ascending: lower number * k + higher */
        size_t n, cap;
        uint64_t *key;
    } pairs;
    abut_bsr E;         /* two block rows a set: translations, rotations */
    abut_chol *chol;
    double *v;          /* [6 k] */
};

/* q[3][6] += weight B [I, S], S w = w x arm */
static inline void add_motions(const member *m, const double B[9], double q[3 * MOTIONS])
{
    const double *a = m->arm, w = m->weight;
    for (int i = 0; i < 3; i++) {
        const double *b = B + 3 * i;
        double *to = q + MOTIONS * i;
        for (int j = 0; j < 3; j++) to[j] += w * b[j];
        to[3] += w * (b[2] * a[1] - b[1] * a[2]);
        to[4] += w * (b[0] * a[2] - b[2] * a[0]);
        to[5] += w * (b[1] * a[0] - b[0] * a[1]);
    }
}

/* t[6] += weight [I, S]^T f */
static inline void add_resultant(const member *m, const double f[3], double t[MOTIONS])
{
    const double *a = m->arm, w = m->weight;
    for (int d = 0; d < 3; d++) t[d] += w * f[d];
    t[3] += w * (a[1] * f[2] - a[2] * f[1]);
    t[4] += w * (a[2] * f[0] - a[0] * f[2]);
    t[5] += w * (a[0] * f[1] - a[1] * f[0]);
}

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

/* ---- element matrices: which sets they join ---- */

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
    f->failed = !ABUT_GROW(s->key, s->n + 1, s->cap);
    if (f->failed) return;
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

static abut_status find_element_pairs(abut_coarse_space *c, const abut_operator *A, abut_err *err)
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

/* E += Z^T H Z of the elements of A.  Fails  as A->read */
static abut_status sum_elements(abut_coarse_space *c, const abut_operator *A, abut_err *err)
{
    adding t = { c, abut_threads() };
    return A->read(A->self, 1, &(abut_operator_reader){ add_diagonal, add_elements, &t, ignore_matrix }, err);
}

/* ---- analysis ---- */

static void pattern_clear(abut_bsr *E)
{
    ABUT_FREE(E->ptr, E->row, E->val);
    *E = (abut_bsr){ 0 };
}

static void layout_clear(abut_coarse_space *c)
{
    ABUT_FREE(c->first, c->in, c->at, c->of, c->reach, c->near, c->near_at, c->near_of, c->AZ, c->v);
    c->first = c->at = c->of = c->reach = c->near = c->near_at = NULL;
    c->in = NULL;
    c->near_of = NULL;
    c->AZ = NULL;
    c->v = NULL;
}

void abut_coarse_space_free(abut_coarse_space **out)
{
    abut_coarse_space *c = *out;
    if (!c) return;
    layout_clear(c);
    pattern_clear(&c->E);
    abut_chol_free(&c->chol);
    ABUT_FREE(c->pairs.key, c);
    *out = NULL;
}

/* ---- which row is where ---- */

static abut_status members_make(abut_coarse_space *c, const int32_t *first, const int32_t *row, abut_err *err)
{
    const size_t m = (size_t)first[c->k];
    if (!ABUT_ARRAYS(ABUT_ITEMS(c->first, (size_t)c->k), ABUT_ITEMS(c->in, m), ABUT_ITEMS(c->at, (size_t)c->n),
                     ABUT_ITEMS(c->of, m))) return abut_no_memory("coarse space", err);
    memcpy(c->first, first, ((size_t)c->k + 1) * sizeof *first);
    abut_list_groups(row, m, c->n, c->at, c->of);
    for (int32_t j = 0; j < c->k; j++)
        for (int32_t e = first[j]; e < first[j + 1]; e++)
            c->in[e] = (member){ .row = row[e], .set = j, .weight = 1.0 / (c->at[row[e] + 1] - c->at[row[e]]) };
    return ABUT_OK;
}

/* Lists the rows of set j and their neighbours, next[first[i]] .. of row i, in the order of the search; mark[n] < j on entry.
 * Returns their number; near NULL: counts only. */
static int32_t reach_of(const abut_coarse_space *c, const size_t *first, const int32_t *next, int32_t j, int32_t *mark,
                        int32_t *near)
{
    int32_t n = 0;
    for (int32_t e = c->first[j]; e < c->first[j + 1]; e++) {
        const int32_t i = c->in[e].row;
        for (size_t a = first[i]; a <= first[i + 1]; a++) {
            const int32_t r = a < first[i + 1] ? next[a] : i;
            if (mark[r] == j) continue;
            mark[r] = j;
            if (near) near[n] = r;
            n++;
        }
    }
    return n;
}

static abut_status reach_make(abut_coarse_space *c, const abut_bsr *A, abut_err *err)
{
    size_t *first;
    int32_t *next, *mark = abut_array_new((size_t)c->n, sizeof *mark);
    c->reach = abut_array_new((size_t)c->k, sizeof *c->reach);
    abut_status rc = abut_graph_neighbours(abut_bsr_graph(A), &first, &next, err);
    if (!rc && mark && c->reach) {
        c->reach[0] = 0;
        memset(mark, -1, (size_t)c->n * sizeof *mark);
        for (int32_t j = 0; j < c->k; j++) c->reach[j + 1] = c->reach[j] + reach_of(c, first, next, j, mark, NULL);
        c->near = abut_array_new((size_t)c->reach[c->k], sizeof *c->near);
        c->AZ = abut_array_new((size_t)c->reach[c->k], sizeof *c->AZ);
        memset(mark, -1, (size_t)c->n * sizeof *mark);
        for (int32_t j = 0; j < c->k && c->near; j++) (void)reach_of(c, first, next, j, mark, c->near + c->reach[j]);
    }
    if (!rc && !(c->near && c->AZ)) rc = abut_no_memory("coarse space", err);
    ABUT_FREE(first, next, mark);
    return rc;
}

/* Near sets by rows. */
static abut_status near_by_rows(abut_coarse_space *c, abut_err *err)
{
    if (!ABUT_ARRAYS(ABUT_ZEROS(c->near_at, (size_t)c->n + 1), ABUT_ITEMS(c->near_of, (size_t)c->reach[c->k])))
        return abut_no_memory("coarse space", err);
    for (int32_t r = 0; r < c->reach[c->k]; r++) c->near_at[c->near[r] + 1]++;
    for (int32_t i = 0; i < c->n; i++) c->near_at[i + 1] += c->near_at[i];
    for (int32_t j = 0; j < c->k; j++)
        for (int32_t r = c->reach[j]; r < c->reach[j + 1]; r++) c->near_of[c->near_at[c->near[r]]++] = (nearness){ r, j };
    for (int32_t i = c->n; i > 0; i--) c->near_at[i] = c->near_at[i - 1];
    c->near_at[0] = 0;
    return ABUT_OK;
}

/* Sets from j on that have a row near set j, or are joined with it, ascending, j first; mark[k] < j on entry, *pair is behind the
 * pairs of lower sets.  Returns how many, at most k. */
static int32_t partners(const abut_coarse_space *c, int32_t j, size_t *pair, int32_t *mark, int32_t *set)
{
    int32_t n = 0;
    for (; *pair < c->pairs.n && c->pairs.key[*pair] / (uint64_t)c->k == (uint64_t)j; (*pair)++) {
        set[n++] = (int32_t)(c->pairs.key[*pair] % (uint64_t)c->k);
        mark[set[n - 1]] = j;
    }
    for (int32_t r = c->reach[j]; r < c->reach[j + 1]; r++)
        for (int32_t o = c->at[c->near[r]]; o < c->at[c->near[r] + 1]; o++) {
            const int32_t q = c->in[c->of[o]].set;
            if (q < j || mark[q] == j) continue;
            mark[q] = j;
            set[n++] = q;
        }
    qsort(set, (size_t)n, sizeof *set, abut_by_one);
    return n;
}

/* Block columns 2 j and 2 j + 1 of E; of the diagonal pair the upper right block is not stored. */
static abut_status pattern_make(const abut_coarse_space *c, abut_bsr *E, abut_err *err)
{
    int32_t *mark = abut_array_new((size_t)c->k, sizeof *mark), *set = abut_array_new((size_t)c->k, sizeof *set);
    size_t cap = 0, pair = 0;
    *E = (abut_bsr){ .n = 2 * c->k, .ptr = abut_array_new(2 * (size_t)c->k, sizeof *E->ptr) };
    int ok = mark && set && E->ptr;
    if (ok) memset(mark, -1, (size_t)c->k * sizeof *mark);
    for (int32_t j = 0; j < c->k && ok; j++) {
        const int32_t n = partners(c, j, &pair, mark, set);
        ok = ABUT_GROW(E->row, E->nnz + 4 * (size_t)n, cap);
        if (!ok) break;
        for (int half = 0; half < 2; half++) {
            E->ptr[2 * j + half] = E->nnz;
            for (int32_t i = half; i < 2 * n; i++) E->row[E->nnz++] = 2 * set[i / 2] + i % 2;
        }
    }
    if (ok) E->ptr[E->n] = E->nnz;
    ABUT_FREE(mark, set);
    return ok ? ABUT_OK : abut_no_memory("coarse space", err);
}

static int same_pattern(const abut_bsr *a, const abut_bsr *b)
{
    return a->n == b->n && a->nnz == b->nnz && !memcmp(a->ptr, b->ptr, ((size_t)a->n + 1) * sizeof *a->ptr) &&
           !memcmp(a->row, b->row, a->nnz * sizeof *a->row);
}

/* Makes E in its present pattern and analyses it, unless the pattern is unchanged. */
static abut_status renew(abut_coarse_space *c, abut_err *err)
{
    abut_bsr E;
    abut_status rc = pattern_make(c, &E, err);
    if (!rc && c->chol && same_pattern(&E, &c->E)) return pattern_clear(&E), ABUT_OK;
    pattern_clear(&c->E);
    c->E = E;
    c->E.val = abut_array_new(9 * E.nnz, sizeof *E.val);
    if (!rc && !c->E.val) rc = abut_no_memory("coarse space", err);
    if (rc) return rc;
    return c->chol ? abut_chol_renew(c->chol, &c->E, NULL, err) : abut_chol_new(&c->chol, &c->E, NULL, 1, err);
}

/* Summed blocks of A; a pattern without blocks if A sums none. */
static void note_blocks(void *ctx, const abut_bsr *S) { *(abut_bsr *)ctx = *S; }
static void skip_elements(void *ctx, const abut_operator_elements *e) { (void)ctx, (void)e; }

static abut_status blocks_of(const abut_operator *A, abut_bsr *S, size_t **none, abut_err *err)
{
    *S = (abut_bsr){ .n = abut_operator_rows(A) };
    *none = NULL;
    if (A->matrix) return *S = *A->matrix, ABUT_OK;
    const abut_operator_reader to = { .elements = skip_elements, .ctx = S, .matrix = note_blocks };
    const abut_status rc = A->read(A->self, 0, &to, err);
    if (rc || S->ptr) return rc;
    S->ptr = *none = calloc((size_t)S->n + 1, sizeof **none);
    return *none ? ABUT_OK : abut_no_memory("coarse space", err);
}

abut_status abut_coarse_space_analyse(abut_coarse_space **out, const abut_operator *A, int32_t k, const int32_t *first,
                                      const int32_t *row, abut_err *err)
{
    abut_coarse_space *c = *out ? *out : calloc(1, sizeof *c);
    if (!c) return abut_no_memory("coarse space", err);
    *out = c;
    layout_clear(c);
    c->n = abut_operator_rows(A);
    c->k = k;
    abut_bsr S;
    size_t *none;
    abut_status rc = blocks_of(A, &S, &none, err);
    if (!rc) rc = members_make(c, first, row, err);
    if (!rc) rc = reach_make(c, &S, err);
    if (!rc) rc = near_by_rows(c, err);
    if (!rc) rc = find_element_pairs(c, A, err);
    if (!rc) rc = renew(c, err);
    free(none);
    c->v = abut_array_new(MOTIONS * (size_t)k, sizeof *c->v);
    if (!rc && !c->v) rc = abut_no_memory("coarse space", err);
    if (rc) abut_coarse_space_free(out);
    return rc;
}

/* ---- A Z and E ---- */

/* Lever arms of the rotations of set j: positions relative to the mean, over the largest distance from it. */
static void arms_fill(abut_coarse_space *c, int32_t j, const double *x)
{
    const int32_t lo = c->first[j], hi = c->first[j + 1];
    double mean[3] = { 0, 0, 0 }, far = 0;
    for (int32_t e = lo; e < hi; e++)
        for (int d = 0; d < 3; d++) mean[d] += x[3 * (size_t)c->in[e].row + (size_t)d] / (hi - lo);
    for (int32_t e = lo; e < hi; e++) {
        double *arm = c->in[e].arm, r2 = 0;
        for (int d = 0; d < 3; d++) arm[d] = x[3 * (size_t)c->in[e].row + (size_t)d] - mean[d], r2 += arm[d] * arm[d];
        far = fmax(far, sqrt(r2));
    }
    for (int32_t e = lo; e < hi; e++)
        for (int d = 0; d < 3; d++) c->in[e].arm[d] /= far > 0 ? far : 1;
}

/* A Z for the motions of set j.  Blocks with an end in the set are in columns near it, for A is symmetric.  place[n]: for rows
 * near the set their place in near, own[n]: the member of the set that a row is, or -1; -1 on entry and return. */
static void columns_fill(abut_coarse_space *c, const abut_bsr *A, int32_t j, int32_t *place, int32_t *own)
{
    const int32_t lo = c->reach[j], hi = c->reach[j + 1];
    memset(c->AZ + lo, 0, (size_t)(hi - lo) * sizeof *c->AZ);
    for (int32_t r = lo; r < hi; r++) place[c->near[r]] = r;
    for (int32_t e = c->first[j]; e < c->first[j + 1]; e++) own[c->in[e].row] = e;
    for (int32_t i = lo; i < hi; i++) {
        const int32_t col = c->near[i], mc = own[col];
        for (size_t b = A->ptr[col]; b < A->ptr[col + 1]; b++) {
            const int32_t row = A->row[b], mr = own[row];
            const double *B = A->val + 9 * b, T[9] = { B[0], B[3], B[6], B[1], B[4], B[7], B[2], B[5], B[8] };
            if (mc >= 0) add_motions(&c->in[mc], B, c->AZ[place[row]]);
            if (mr >= 0 && row != col) add_motions(&c->in[mr], T, c->AZ[i]);
        }
    }
    for (int32_t r = lo; r < hi; r++) place[c->near[r]] = -1;
    for (int32_t e = c->first[j]; e < c->first[j + 1]; e++) own[c->in[e].row] = -1;
}

/* Added to the diagonal of rotations, as a fraction of the trace of translations: a rotation may move nothing. */
#define ROTATION_FLOOR 1e-9

/* Adds the resultants of AZ[3][6], the forces on row m of set q by the motions of set j, to their block: translations over
 * rotations of q, T for the translations of j and R for its rotations.  same: q is j, whose upper right block is not stored. */
static void add_block(const member *m, const double *AZ, int same, double *T, double *R)
{
    for (int d = 0; d < MOTIONS; d++) {
        const double f[3] = { AZ[d], AZ[MOTIONS + d], AZ[2 * MOTIONS + d] };
        double t[MOTIONS] = { 0 }, *to = d < 3 ? T : R;
        add_resultant(m, f, t);
        for (int i = d < 3 || !same ? 0 : 3; i < MOTIONS; i++) to[9 * (i / 3) + 3 * (i % 3) + d % 3] += t[i];
    }
}

/* Block columns of set j: Z_q^T A Z_j for the sets q >= j near it.  at[k]: scratch. */
static void blocks_fill(abut_coarse_space *c, int32_t j, size_t *at)
{
    abut_bsr *E = &c->E;
    const size_t left = E->ptr[2 * j], right = E->ptr[2 * j + 1], end = E->ptr[2 * j + 2];
    memset(E->val + 9 * left, 0, 9 * (end - left) * sizeof *E->val);
    for (size_t b = left; b < right; b += 2) at[E->row[b] / 2] = b;
    for (int32_t r = c->reach[j]; r < c->reach[j + 1]; r++)
        for (int32_t o = c->at[c->near[r]]; o < c->at[c->near[r] + 1]; o++) {
            const member *m = &c->in[c->of[o]];
            if (m->set < j) continue;
            add_block(m, c->AZ[r], m->set == j, E->val + 9 * at[m->set], E->val + 9 * (right - 1 + at[m->set] - left));
        }
}

static abut_status fill(abut_coarse_space *c, const abut_bsr *A, const double *x, abut_err *err)
{
    int failed = 0;
    #pragma omp parallel reduction(|| : failed)
    {
        int32_t *place = abut_array_new((size_t)c->n, sizeof *place), *own = abut_array_new((size_t)c->n, sizeof *own);
        size_t *at = abut_array_new((size_t)c->k, sizeof *at);
        failed = !place || !own || !at;
        if (place) memset(place, -1, (size_t)c->n * sizeof *place);
        if (own) memset(own, -1, (size_t)c->n * sizeof *own);
        #pragma omp for schedule(dynamic)
        for (int32_t j = 0; j < c->k; j++) arms_fill(c, j, x);
        #pragma omp for schedule(dynamic)
        for (int32_t j = 0; j < c->k; j++)
            if (!failed) columns_fill(c, A, j, place, own), blocks_fill(c, j, at);
        ABUT_FREE(place, own, at);
    }
    return failed ? abut_no_memory("coarse space", err) : ABUT_OK;
}

/* Sets in a line or a point have rotations that move nothing. */
static void hold_rotations(abut_coarse_space *c)
{
    for (int32_t j = 0; j < c->k; j++) {
        const double *T = c->E.val + 9 * c->E.ptr[2 * j];
        double *R = c->E.val + 9 * c->E.ptr[2 * j + 1];
        for (int d = 0; d < 9; d += 4) R[d] += ROTATION_FLOOR * (T[0] + T[4] + T[8]);
    }
}

abut_status abut_coarse_space_factor(abut_coarse_space *c, const abut_operator *A, const double *x, abut_err *err)
{
    assert(c);
    abut_bsr S;
    size_t *none;
    abut_status rc = blocks_of(A, &S, &none, err);
    if (!rc) rc = fill(c, &S, x, err);
    if (!rc && !A->matrix) rc = sum_elements(c, A, err);
    free(none);
    if (rc) return rc;
    hold_rotations(c);
    return abut_chol_factor(c->chol, &c->E, err);
}

/* ---- its use ---- */

/* v = E^-1 (Z^T r - (A Z)^T z); z NULL: 0 */
static abut_status solve(abut_coarse_space *c, const double *r, const double *z, abut_err *err)
{
    #pragma omp parallel for schedule(dynamic) if (c->n >= (int32_t)ABUT_PAR_MIN)
    for (int32_t j = 0; j < c->k; j++) {
        double t[MOTIONS] = { 0 };
        for (int32_t e = c->first[j]; e < c->first[j + 1]; e++) add_resultant(&c->in[e], r + 3 * (size_t)c->in[e].row, t);
        for (int32_t i = c->reach[j]; i < c->reach[j + 1] && z; i++) {
            const double *q = c->AZ[i], *w = z + 3 * (size_t)c->near[i];
            for (int d = 0; d < MOTIONS; d++) t[d] -= q[d] * w[0] + q[MOTIONS + d] * w[1] + q[2 * MOTIONS + d] * w[2];
        }
        memcpy(c->v + MOTIONS * (size_t)j, t, sizeof t);
    }
    return abut_chol_solve(c->chol, c->v, c->v, err);
}

/* z += Z v */
static void prolong(const abut_coarse_space *c, double *z)
{
    #pragma omp parallel for schedule(static) if (c->n >= (int32_t)ABUT_PAR_MIN)
    for (int32_t i = 0; i < c->n; i++)
        for (int32_t o = c->at[i]; o < c->at[i + 1]; o++) {
            const member *m = &c->in[c->of[o]];
            const double *t = c->v + MOTIONS * (size_t)m->set, *w = t + 3, *a = m->arm, f = m->weight;
            double *to = z + 3 * (size_t)i;
            to[0] += f * (t[0] + w[1] * a[2] - w[2] * a[1]);
            to[1] += f * (t[1] + w[2] * a[0] - w[0] * a[2]);
            to[2] += f * (t[2] + w[0] * a[1] - w[1] * a[0]);
        }
}

abut_status abut_coarse_space_add(abut_coarse_space *c, const double *r, double *z, abut_err *err)
{
    const abut_status rc = solve(c, r, NULL, err);
    if (!rc) prolong(c, z);
    return rc;
}

abut_status abut_coarse_space_correct(abut_coarse_space *c, const double *r, double *z, abut_err *err)
{
    const abut_status rc = solve(c, r, z, err);
    if (!rc) prolong(c, z);
    return rc;
}

abut_status abut_coarse_space_project(abut_coarse_space *c, const double *r, double *q, abut_err *err)
{
    const abut_status rc = solve(c, r, NULL, err);
    if (rc) return rc;
    #pragma omp parallel for schedule(static) if (c->n >= (int32_t)ABUT_PAR_MIN)
    for (int32_t i = 0; i < c->n; i++) {
        double *to = q + 3 * (size_t)i;
        memcpy(to, r + 3 * (size_t)i, 3 * sizeof *r);
        for (int32_t o = c->near_at[i]; o < c->near_at[i + 1]; o++) {
            const double *az = c->AZ[c->near_of[o].place], *t = c->v + MOTIONS * (size_t)c->near_of[o].set;
            for (int d = 0; d < 3; d++)
                for (int e = 0; e < MOTIONS; e++) to[d] -= az[MOTIONS * d + e] * t[e];
        }
    }
    return ABUT_OK;
}

abut_coarse_space_stats abut_coarse_space_get_stats(const abut_coarse_space *c)
{
    const abut_chol_stats s = abut_chol_get_stats(c->chol);
    return (abut_coarse_space_stats){ s.factor_nnz, s.factor_flops, s.bytes + (size_t)c->reach[c->k] * sizeof *c->AZ };
}

/* Conjugate gradients of a device, and their preconditioners. */
#include "gpu/operator.h"

#include "base/arena.h"
#include "base/order.h"
#include "sparse/bsr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CORRECTIONS = 12, MOST = 3000 /* iterations of one */, MOST_DOUBLE = 10000,
       LOOK = 16 /* iterations between two looks, even */ };
enum { X, R, Z, P, Q, AP, VECTORS };
#define NEAR 1e-4       /* residual of a correction, relative, that single precision surely reaches */

void abut_gpu_cg_clear(abut_gpu_cg *c, abut_queue *q)
{
    ABUT_BUFFERS_CLEAR(q, &c->b, &c->x, &c->r, &c->q, &c->p, &c->z, &c->scalars);
    for (int k = 0; k < VECTORS && q; k++) abut_buffer_clear(q, &c->single[k]);
    *c = (abut_gpu_cg){ 0 };
}

/* A run of conjugate gradients from 0; wide: in double. */
typedef struct run {
    abut_gpu_cg *c;
    abut_gpu_operator *A;
    int wide, fresh;        /* fresh: nothing has run yet, so that not all scratch may have been wanted */
    abut_cg_args args;
    abut_cg_scalars *s;     /* the machine's */
    size_t n;               /* numbers of a vector */
} run;

/* z = M^-1 r, unless cg_begin and cg_step have made it */
static abut_status precondition(const run *u, const uint32_t *stop, abut_err *err)
{
    const abut_cg_args *a = &u->args;
    if (a->inverse) return ABUT_OK;
    return u->wide ? abut_gpu_precond_apply(u->A, a->r, a->z, NULL, NULL, stop, err)
                   : abut_gpu_precond_apply(u->A, NULL, NULL, a->r_single, a->z_single, stop, err);
}

/* r . z, q . z and r . r into sum[at] */
static abut_status measure(const run *u, uint32_t at, abut_err *err)
{
    const abut_cg_args *a = &u->args;
    abut_queue *q = u->A->q;
    double *out = u->s->sum[at];
    if (!u->wide) return q->on->dots_single(q, a->r_single, a->z_single, a->q_single, u->n, out, err);
    abut_status rc = q->on->dot(q, a->r, a->z, u->n, out, err);
    if (!rc) rc = q->on->dot(q, a->q, a->z, u->n, out + 1, err);
    return rc ? rc : q->on->dot(q, a->r, a->r, u->n, out + 2, err);
}

/* z = M^-1 r, q = A z and their sums; nothing but these where *stop is not 0 */
static abut_status follow(const run *u, uint32_t at, const uint32_t *stop, abut_err *err)
{
    const abut_cg_args *a = &u->args;
    abut_status rc = precondition(u, stop, err);
    if (!rc)
        rc = u->wide ? abut_gpu_operator_multiply(u->A, a->z, a->q, err)
                     : abut_gpu_operator_multiply_single(u->A, a->z_single, a->q_single, stop, err);
    return rc ? rc : measure(u, at, err);
}

static abut_status iterate(run *u, uint32_t k, abut_err *err)
{
    abut_queue *q = u->A->q;
    abut_cg_args *a = &u->args;
    const size_t rows = u->A->n;
    a->odd = k % 2;
    const abut_status rc = u->wide ? ABUT_RUN(q, cg_step, a, rows, err) : ABUT_RUN(q, cg_step_single, a, rows, err);
    return rc ? rc : follow(u, !a->odd, &u->s->state[!a->odd], err);
}

/* x = 0, r = scale c->r and what follows from it */
static abut_status begin(run *u, double scale, double goal, abut_err *err)
{
    abut_queue *q = u->A->q;
    abut_cg_args *a = &u->args;
    const abut_cg_scalars start = { .sum = { [1] = { INFINITY } }, .alpha = { [1] = 1 }, .goal = goal * goal };
    a->from = u->c->r.at;
    a->scale = scale;
    abut_status rc = q->on->put(q, u->s, &start, sizeof start, err);
    if (!rc) rc = u->wide ? ABUT_RUN(q, cg_begin, a, u->A->n, err) : ABUT_RUN(q, cg_begin_single, a, u->A->n, err);
    return rc ? rc : follow(u, 0, NULL, err);
}

/* The iterations between two looks, which are the same every time; kept: 1 when the machine has them as one. */
static abut_status batch(run *u, int *kept, abut_err *err)
{
    abut_queue *q = u->A->q;
    if (*kept) return q->on->replay(q, err);
    abut_status rc = u->wide || u->fresh ? ABUT_OK : q->on->record(q, kept, err);
    for (uint32_t k = 0; k < LOOK && !rc; k++) rc = iterate(u, k, err);
    u->fresh = 0;
    const abut_status end = q->on->recorded(q, *kept, rc ? NULL : err);
    return rc ? rc : end;
}

/* Batches before the first look at a run to a residual of `goal`: most of the expected number, by the last run.  Only time
 * depends on it: batches after convergence change nothing. */
static int first_look(const abut_gpu_cg *c, double goal)
{
    const double expected = 0.9 * c->decade * -log10(goal) / LOOK;
    return expected > 1 ? (int)fmin(expected, MOST / LOOK) : 1;
}

/* until |r| <= goal or `most` iterations */
static abut_status run_to(run *u, double scale, double goal, int most, abut_cg_scalars *end, abut_err *err)
{
    abut_queue *q = u->A->q;
    int kept = 0, ahead = first_look(u->c, goal);
    abut_status rc = begin(u, scale, goal, err);
    *end = (abut_cg_scalars){ 0 };
    for (int k = 0; k < most && !rc && end->state[0] == ABUT_CG_RUNS; ahead = 1) {
        for (int i = 0; i < ahead && !rc; i++, k += LOOK) rc = batch(u, &kept, err);
        if (!rc) rc = q->on->get(q, end, u->s, sizeof *end, err);
    }
    u->c->decade = goal < 0.5 ? end->iterations / -log10(goal) : u->c->decade;
    return rc;
}

static abut_status reserve(abut_gpu_cg *c, const abut_gpu_operator *A, int wide, abut_err *err)
{
    const size_t n = 3 * A->n;
    abut_buffer *const doubles[] = { &c->b, &c->x, &c->r, &c->q, &c->p, &c->z };
    abut_status rc = abut_buffer_need(A->q, &c->scalars, "conjugate gradients", 1, sizeof(abut_cg_scalars), err);
    for (int k = 0; k < (wide ? 6 : 4) && !rc; k++)
        rc = abut_buffer_need(A->q, doubles[k], "conjugate gradients", n, sizeof(double), err);
    for (int k = 0; k < VECTORS && !rc; k++)
        rc = abut_buffer_need(A->q, &c->single[k], "conjugate gradients", n, sizeof(float), err);
    return rc;
}

static run run_of(abut_gpu_cg *c, abut_gpu_operator *A, int wide)
{
    return (run){ c, A, wide, 1,
                  { .s = c->scalars.at, .inverse = A->precond.kind == ABUT_GPU_JACOBI ? A->inverse.at : NULL, .n = A->n,
                    .x_single = c->single[X].at, .r_single = c->single[R].at, .z_single = c->single[Z].at,
                    .p_single = c->single[P].at, .q_single = c->single[Q].at, .ap_single = c->single[AP].at },
                  c->scalars.at, 3 * A->n };
}

/* |r| */
static abut_status length(abut_gpu_cg *c, abut_gpu_operator *A, double *out, abut_err *err)
{
    abut_queue *q = A->q;
    double square = 0;
    abut_status rc = q->on->dot(q, c->r.at, c->r.at, 3 * A->n, c->scalars.at, err);
    if (!rc) rc = q->on->get(q, &square, c->scalars.at, sizeof square, err);
    *out = sqrt(square);
    return rc;
}

/* r = b - A x and its length */
static abut_status residual(abut_gpu_cg *c, abut_gpu_operator *A, double *out, abut_err *err)
{
    const abut_axpy_args a = { c->b.at, c->q.at, c->r.at, -1, NULL };
    abut_status rc = abut_gpu_operator_multiply(A, c->x.at, c->q.at, err);
    if (!rc) rc = ABUT_RUN(A->q, axpy, &a, 3 * A->n, err);
    return rc ? rc : length(c, A, out, err);
}

/* A correction of x in single precision, of the residual of length r to about `goal` of it. */
static abut_status correct(abut_gpu_cg *c, abut_gpu_operator *A, double r, double goal, abut_cg_scalars *end, abut_err *err)
{
    run u = run_of(c, A, 0);
    const abut_widen_args add = { c->single[X].at, c->x.at, r };
    const abut_status rc = run_to(&u, 1 / r, goal, MOST, end, err);
    return rc ? rc : ABUT_RUN(A->q, widen, &add, 3 * A->n, err);
}

enum { EXTRA = 3 };

/* The rest in double: c->x += what solves for c->r.  p, z and c->q are its vectors; x, r and A p are extra. */
static abut_status finish_in_double(abut_gpu_cg *c, abut_gpu_operator *A, double r, double goal, abut_cg_scalars *end,
                                    abut_buffer *extra, abut_err *err)
{
    const size_t n = 3 * A->n;
    abut_status rc = reserve(c, A, 1, err);
    for (int k = 0; k < EXTRA && !rc; k++) rc = abut_buffer_need(A->q, &extra[k], "conjugate gradients", n, sizeof(double), err);
    if (rc) return rc;
    run u = run_of(c, A, 1);
    u.args.x = extra[0].at;
    u.args.r = extra[1].at;
    u.args.ap = extra[2].at;
    u.args.z = c->z.at;
    u.args.p = c->p.at;
    u.args.q = c->q.at;
    rc = run_to(&u, 1 / r, goal, MOST_DOUBLE, end, err);
    const abut_axpy_args add = { c->x.at, extra[0].at, c->x.at, r, NULL };
    return rc ? rc : ABUT_RUN(A->q, axpy, &add, n, err);
}

static abut_status in_double(abut_gpu_cg *c, abut_gpu_operator *A, double r, double goal, abut_cg_scalars *end, abut_err *err)
{
    abut_buffer extra[EXTRA] = { { 0 } };
    const abut_status rc = finish_in_double(c, A, r, goal, end, extra, err);
    for (int k = 0; k < EXTRA; k++) abut_buffer_clear(A->q, &extra[k]);
    return rc;
}

/* x = 0, r = b and its length: what single precision has made worse is forgotten */
static abut_status restart(abut_gpu_cg *c, abut_gpu_operator *A, double *left, abut_err *err)
{
    const size_t bytes = 3 * A->n * sizeof(double);
    abut_status rc = A->q->on->fill(A->q, c->x.at, 0, bytes, err);
    if (!rc) rc = A->q->on->copy(A->q, c->r.at, c->b.at, bytes, err);
    return rc ? rc : length(c, A, left, err);
}

/* solves for x until |r| <= want; r: residual at x = 0 */
static abut_status approach(abut_gpu_cg *c, abut_gpu_operator *A, double r, double want, abut_gpu_solve_report *rep, double *left,
                            abut_err *err)
{
    abut_cg_scalars end;
    abut_status rc = ABUT_OK;
    *left = r;
    for (int k = 0; k < CORRECTIONS && !rc && *left > want && !rep->in_double; k++) {
        const double before = *left, aim = fmin(0.3, 0.7 * want / before);
        rc = correct(c, A, before, fmax(aim, NEAR), &end, err);
        if (!rc) rc = residual(c, A, left, err);
        rep->iterations += (int)end.iterations;
        rep->corrections++;
        rep->in_double = !(*left < 0.5 * before || *left <= want);
        if (!rc && !(*left < before)) rc = restart(c, A, left, err);
    }
    for (int k = 0; k < 2 && !rc && !(*left <= want) && isfinite(*left); k++) {
        rep->in_double = 1;
        rc = in_double(c, A, *left, 0.7 * want / *left, &end, err);
        if (!rc) rc = residual(c, A, left, err);
        rep->iterations += (int)end.iterations;
    }
    return rc;
}

abut_status abut_gpu_solve(abut_gpu_cg *c, abut_gpu_operator *A, const double *b, double *p, double tolerance,
                           abut_gpu_solve_report *rep, abut_err *err)
{
    abut_queue *q = A->q;
    double size = 0, left = 0;
    *rep = (abut_gpu_solve_report){ 0 };
    abut_status rc = reserve(c, A, 0, err);
    if (rc) return rc;
    const abut_pick_args take = { A->node.at, b, c->b.at };
    rc = ABUT_RUN(q, pick, &take, A->n, err);
    if (!rc) rc = restart(c, A, &size, err);
    if (!rc && !isfinite(size)) rc = abut_fail(err, ABUT_E_NUMERIC, "conjugate gradients: |b| is %g", size);
    if (!rc) rc = approach(c, A, size, tolerance * size, rep, &left, err);
    if (rc) return rc;
    rep->residual = size > 0 ? left / size : 0;
    abut_gpu_precond_learn(A, rep->iterations, rep->residual);
    if (!(left <= tolerance * size))
        return abut_fail(err, ABUT_E_NUMERIC,
                         "conjugate gradients: residual %.3g of the right-hand side after %d iterations, want %.3g",
                         rep->residual, rep->iterations, tolerance);
    const abut_spread_args s = { A->row_of.at, c->x.at, p, -1 };
    return ABUT_RUN(q, spread, &s, A->nv, err);
}

/* ---- preconditioners ---- */

enum { CLUSTER = 16, WIDE = 3 * CLUSTER, CLUSTERS_AT_ONCE = 4096, PLACE_BITS = 48, MOTIONS = 6, ROWS_OF_A_PART = 200,
       PARTS_MOST = 340, AGE_MOST = 8 };
#define SERVES 1.3      /* as many times the iterations that it took at first */

/* ---- parts: by halving along the longest side ---- */

void abut_bisection_clear(abut_bisection *b)
{
    ABUT_FREE(b->part, b->first, b->member);
    *b = (abut_bisection){ 0 };
}

/* The longest side of the box about row[n]. */
static int longest_side(const double *x, const int32_t *row, int32_t n)
{
    double longest = -1;
    int side = 0;
    for (int d = 0; d < 3; d++) {
        double lo = x[3 * (size_t)row[0] + (size_t)d], hi = lo;
        for (int32_t i = 1; i < n; i++) {
            const double v = x[3 * (size_t)row[i] + (size_t)d];
            lo = v < lo ? v : lo;
            hi = v > hi ? v : hi;
        }
        if (hi - lo > longest) longest = hi - lo, side = d;
    }
    return side;
}

static int is_before(const double *x, int side, int32_t a, int32_t b)
{
    const double u = x[3 * (size_t)a + (size_t)side], v = x[3 * (size_t)b + (size_t)side];
    return u < v || (u == v && a < b);
}

static void swap(int32_t *a, int32_t *b)
{
    const int32_t t = *a;
    *a = *b;
    *b = t;
}

/* Brings the k rows of row[n] that come first along a side to the front (Hoare's selection). */
static void select_first(const double *x, int side, int32_t *row, int32_t n, int32_t k)
{
    int32_t lo = 0, hi = n - 1;
    while (lo < hi) {
        const int32_t mid = lo + (hi - lo) / 2;
        if (is_before(x, side, row[mid], row[lo])) swap(&row[mid], &row[lo]);
        if (is_before(x, side, row[hi], row[lo])) swap(&row[hi], &row[lo]);
        if (is_before(x, side, row[hi], row[mid])) swap(&row[hi], &row[mid]);
        const int32_t pivot = row[mid];
        int32_t i = lo, j = hi;
        while (i <= j) {
            while (is_before(x, side, row[i], pivot)) i++;
            while (is_before(x, side, pivot, row[j])) j--;
            if (i <= j) swap(&row[i++], &row[j--]);
        }
        if (k <= j) hi = j;
        else if (k >= i) lo = i;
        else return;
    }
}

/* Ends of pieces, as halving puts them. */
typedef struct pieces {
    const double *x;
    int32_t size;       /* rows of a piece at most */
    int32_t *end, n;    /* end[n]: of each piece in the rows, ascending */
} pieces;

/* Rows row[n], the first of which is number `at`, into as few pieces as there can be. */
static void halve(pieces *p, int32_t *row, int32_t at, int32_t n)
{
    const int64_t m = ((int64_t)n + p->size - 1) / p->size;
    if (m <= 1) {
        if (n) p->end[p->n++] = at + n;
        return;
    }
    const int32_t left = (int32_t)(n * (m / 2) / m);
    select_first(p->x, longest_side(p->x, row, n), row, n, left);
    halve(p, row, at, left);
    halve(p, row + left, at + left, n - left);
}

/* Lists all rows in member[n] by sets that A joins, in the order of their lowest: set j from first[j] on.  Returns how many there
 * are.  set[n]: scratch */
static int32_t joined_rows(const abut_bsr *A, int32_t *set, int32_t *member, int32_t *first)
{
    for (int32_t i = 0; i < A->n; i++) set[i] = i;
    for (int32_t j = 0; j < A->n; j++)
        for (size_t b = A->ptr[j] + 1; b < A->ptr[j + 1]; b++) abut_set_join(set, j, A->row[b]);
    const int32_t k = abut_set_numbers(set, A->n);
    abut_list_groups(set, (size_t)A->n, k, first, member);
    return k;
}

static void *array(size_t n) { return malloc((n + 1) * sizeof(int32_t)); }

static int64_t parts_of(const int32_t *first, int32_t k, int32_t size)
{
    int64_t parts = 0;
    for (int32_t j = 0; j < k; j++) parts += (first[j + 1] - first[j] + size - 1) / size;
    return parts;
}

/* first[n + 1]: scratch */
static void bisect(abut_bisection *b, const abut_bsr *A, const double *x, int32_t rows, int32_t most, int32_t *first)
{
    int32_t k = joined_rows(A, b->part, b->member, first);
    const int32_t least = (A->n + most - 1) / most;
    pieces p = { x, rows > least ? rows : least, b->first + 1, 0 };
    if (parts_of(first, k, p.size) > most && p.size == least) p.size += least / 8;      /* remainders of large pieces */
    if (parts_of(first, k, p.size) > most) k = 1, first[1] = A->n;
    for (int32_t j = 0; j < k; j++) halve(&p, b->member + first[j], first[j], first[j + 1] - first[j]);
    b->first[0] = 0;
    b->parts = p.n;
    for (int32_t j = 0; j < p.n; j++)
        for (int32_t i = b->first[j]; i < b->first[j + 1]; i++) b->part[b->member[i]] = j;
}

abut_status abut_bisect(abut_bisection *b, const abut_bsr *A, const double *x, int32_t rows, int32_t most, abut_err *err)
{
    const size_t n = (size_t)A->n;
    int32_t *first = array(n);
    abut_bisection_clear(b);
    b->part = array(n);
    b->first = array(n + 1);
    b->member = array(n);
    const int ok = first && b->part && b->first && b->member;
    if (ok) bisect(b, A, x, rows, most, first);
    free(first);
    if (ok) return ABUT_OK;
    abut_bisection_clear(b);
    return abut_fail(err, ABUT_E_NOMEM, "parts of %zu rows: out of memory", n);
}

/* ---- which blocks of the operator lie between two parts ---- */

typedef struct pairs {
    uint32_t *first, *at;
    int32_t *row, *col;
    size_t n;
} pairs;

static void pairs_free(pairs *p)
{
    ABUT_FREE(p->first, p->at, p->row, p->col);
}

/* Visits all blocks, row by row: counts those of each pair of parts behind first[], or fills from there on. */
static void pairs_visit(const abut_gpu_operator *A, const abut_bisection *b, pairs *p, int fill)
{
    const abut_bsr *blocks = &A->pattern;
    const struct abut_bsr_plan *plan = blocks->plan;
    for (int32_t r = 0; r < blocks->n; r++) {
        const size_t left = plan->tptr[r + 1] - plan->tptr[r], length = left + blocks->ptr[r + 1] - blocks->ptr[r];
        for (size_t k = 0; k < length; k++) {
            const int32_t c = k < left ? plan->tcol[plan->tptr[r] + k] : blocks->row[blocks->ptr[r] + k - left];
            if (b->part[r] < b->part[c]) continue;
            uint32_t *at = &p->first[(size_t)b->parts * (size_t)b->part[r] + (size_t)b->part[c]];
            if (fill) {
                p->at[*at] = (uint32_t)((A->chunk[r / 32] + k) * 9 * 32 + (size_t)r % 32);
                p->row[*at] = r;
                p->col[*at] = c;
            }
            (*at)++;
        }
    }
}

static abut_status pairs_make(const abut_gpu_operator *A, const abut_bisection *b, pairs *p, abut_err *err)
{
    const size_t n = (size_t)b->parts * (size_t)b->parts;
    uint32_t sum = 0;
    p->first = calloc(n + 1, sizeof *p->first);
    if (p->first) {
        pairs_visit(A, b, p, 0);
        for (size_t i = 0; i <= n; i++) {
            const uint32_t here = p->first[i];
            p->first[i] = sum;
            sum += here;
        }
        p->n = sum;
        p->at = malloc((p->n + 1) * sizeof *p->at);
        p->row = malloc((p->n + 1) * sizeof *p->row);
        p->col = malloc((p->n + 1) * sizeof *p->col);
    }
    if (!p->first || !p->at || !p->row || !p->col)
        return abut_fail(err, ABUT_E_NOMEM, "preconditioner: blocks of %d parts: out of memory", b->parts);
    pairs_visit(A, b, p, 1);
    memmove(p->first + 1, p->first, n * sizeof *p->first);
    p->first[0] = 0;
    return ABUT_OK;
}

/* ---- what lasts ---- */

static abut_status upload_rigid(abut_gpu_operator *A, const abut_bisection *b, const pairs *p, abut_err *err)
{
    abut_gpu_precond *m = &A->precond;
    const size_t k = m->parts, wide = m->wide, n = A->n;
    return ABUT_BUFFERS(
        A->q, "preconditioner", err, { &m->part, b->part, n, 4 }, { &m->member, b->member, n, 4 },
        { &m->part_first, b->first, k + 1, 4 }, { &m->pair_first, p->first, k * k + 1, 4 }, { &m->block_at, p->at, p->n, 4 },
        { &m->block_row, p->row, p->n, 4 }, { &m->block_col, p->col, p->n, 4 }, { &m->arm, NULL, 3 * n, sizeof(float) },
        { &m->E, NULL, wide * wide, sizeof(double) },
        { &m->pivot, NULL, WIDE * WIDE, sizeof(double) }, { &m->across, NULL, WIDE * wide, sizeof(double) },
        { &m->down, NULL, WIDE * wide, sizeof(double) }, { &m->coarse, NULL, MOTIONS * k * MOTIONS * k, sizeof(float) },
        { &m->v, NULL, MOTIONS * k, sizeof(float) }, { &m->w, NULL, MOTIONS * k, sizeof(float) });
}

static abut_status precond_reserve(abut_gpu_operator *A, abut_err *err)
{
    abut_gpu_precond *m = &A->precond;
    const size_t c = m->clusters, together = c < CLUSTERS_AT_ONCE ? c : CLUSTERS_AT_ONCE;
    return ABUT_BUFFERS(A->q, "preconditioner", err, { &m->row, NULL, CLUSTER * c, sizeof(int32_t) },
                        { &m->slot, NULL, A->n, sizeof(int32_t) }, { &m->place, NULL, A->n, sizeof(uint64_t) },
                        { &m->matrix, NULL, WIDE * WIDE * together, sizeof(double) },
                        { &m->inverse, NULL, WIDE * WIDE * c, sizeof(float) }, { &m->fallen, NULL, c, sizeof(uint32_t) },
                        { &m->bad, NULL, 1, sizeof(uint32_t) });
}

/* Parts of about so many rows, which are at x[3 n]. */
static abut_status parts_make(abut_gpu_operator *A, const double *x, int32_t rows, abut_err *err)
{
    abut_bisection b = { 0 };
    pairs p = { 0 };
    abut_status rc = abut_bisect(&b, &A->pattern, x, rows, PARTS_MOST, err);
    A->precond.parts = (uint32_t)b.parts;
    A->precond.wide = (MOTIONS * (uint32_t)b.parts + WIDE - 1) / WIDE * WIDE;
    if (!rc) rc = pairs_make(A, &b, &p, err);
    if (!rc) rc = upload_rigid(A, &b, &p, err);
    pairs_free(&p);
    abut_bisection_clear(&b);
    return rc;
}

/* The curve goes through a cube of four times the longest side of the box about x[3 n], around its middle. */
static void curve_set(abut_gpu_precond *m, const double *x, size_t n)
{
    double longest = 0;
    for (size_t d = 0; d < 3; d++) {
        double lo = x[d], hi = lo;
        for (size_t i = 1; i < n; i++) {
            lo = fmin(lo, x[3 * i + d]);
            hi = fmax(hi, x[3 * i + d]);
        }
        m->origin[d] = 0.5 * (lo + hi);
        longest = fmax(longest, hi - lo);
    }
    m->unit = longest > 0 ? 4 * longest / (1 << PLACE_BITS / 3) : 1;
}

void abut_gpu_precond_clear(abut_gpu_operator *A)
{
    abut_gpu_precond *m = &A->precond;
    ABUT_BUFFERS_CLEAR(A->q, &m->row, &m->slot, &m->place, &m->matrix, &m->inverse, &m->fallen, &m->part, &m->member,
                       &m->part_first, &m->arm, &m->pair_first, &m->block_at, &m->block_row, &m->block_col, &m->key,
                       &m->key_slot, &m->E, &m->pivot, &m->across, &m->down, &m->bad, &m->coarse, &m->v, &m->w);
    *m = (abut_gpu_precond){ 0 };
}

abut_status abut_gpu_precond_init_by(abut_gpu_operator *A, abut_gpu_precond_kind kind, const double *x, int32_t rows,
                                     abut_err *err)
{
    abut_gpu_precond_clear(A);
    if (kind == ABUT_GPU_JACOBI || !A->n) return ABUT_OK;
    double *where = malloc(3 * A->n * sizeof *where);
    int32_t *row = malloc(A->nv * sizeof *row);
    abut_status rc = where && row ? A->q->on->get(A->q, row, A->row_of.at, A->nv * sizeof *row, err)
                                  : abut_fail(err, ABUT_E_NOMEM, "preconditioner: %zu rows", A->n);
    for (size_t i = 0; i < A->nv && !rc; i++)
        if (row[i] >= 0) memcpy(where + 3 * (size_t)row[i], x + 3 * i, 3 * sizeof *x);
    A->precond.kind = kind;
    A->precond.clusters = (uint32_t)((A->n + CLUSTER - 1) / CLUSTER);
    if (!rc) curve_set(&A->precond, where, A->n);
    if (!rc) rc = precond_reserve(A, err);
    if (!rc && kind == ABUT_GPU_RIGID) rc = parts_make(A, where, rows, err);
    if (rc) abut_gpu_precond_clear(A);
    ABUT_FREE(where, row);
    return rc;
}

abut_status abut_gpu_precond_init(abut_gpu_operator *A, abut_gpu_precond_kind kind, const double *x, abut_err *err)
{
    return abut_gpu_precond_init_by(A, kind, x, ROWS_OF_A_PART, err);
}

/* ---- values ---- */

static abut_cluster_args cluster_args(const abut_gpu_operator *A)
{
    const abut_gpu_precond *m = &A->precond;
    return (abut_cluster_args){ .row = m->row.at, .slot = m->slot.at, .key = m->place.at, .x = A->z, .node = A->node.at,
                                .origin = { m->origin[0], m->origin[1], m->origin[2] }, .unit = m->unit,
                                .A = { .first = A->first.at, .length = A->length.at, .col = A->col.at, .val = A->val.at,
                                       .n = A->n },
                                .touch = abut_gpu_operator_touch(A), .matrix = m->matrix.at, .jacobi = A->inverse.at,
                                .inverse = m->inverse.at, .fallen = m->fallen.at,
                                .part = m->kind == ABUT_GPU_RIGID ? m->part.at : NULL, .arm = m->arm.at, .w = m->w.at };
}

/* Rows in clusters as they lie now. */
static abut_status gather_clusters(abut_gpu_operator *A, abut_err *err)
{
    const abut_cluster_args a = cluster_args(A);
    abut_status rc = A->q->on->fill(A->q, a.row, 0xff, CLUSTER * A->precond.clusters * sizeof *a.row, err);
    if (!rc) rc = ABUT_RUN(A->q, cluster_key, &a, A->n, err);
    if (!rc) rc = A->q->on->sort(A->q, a.key, A->precond.row.at, A->n, PLACE_BITS, err);
    return rc ? rc : ABUT_RUN(A->q, cluster_slot, &a, A->n, err);
}

static abut_status renew_clusters(abut_gpu_operator *A, abut_err *err)
{
    abut_cluster_args a = cluster_args(A);
    abut_status rc = gather_clusters(A, err);
    for (size_t lo = 0; lo < A->precond.clusters && !rc; lo += CLUSTERS_AT_ONCE) {
        const size_t left = A->precond.clusters - lo, n = left < CLUSTERS_AT_ONCE ? left : CLUSTERS_AT_ONCE;
        a.lo = lo;
        rc = ABUT_RUN(A->q, cluster_rows, &a, CLUSTER * n, err);
        if (!rc) rc = ABUT_RUN(A->q, cluster_invert, &a, n, err);
    }
    return rc;
}

static abut_rigid_args rigid_args(const abut_gpu_operator *A)
{
    const abut_gpu_precond *m = &A->precond;
    const abut_touch_args touch = abut_gpu_operator_touch(A);
    return (abut_rigid_args){ .parts = m->parts, .wide = m->wide, .first = m->part_first.at, .member = m->member.at,
                              .part = m->part.at, .x = A->z, .node = A->node.at, .arm = m->arm.at, .pair_first = m->pair_first.at,
                              .block_at = m->block_at.at, .block_row = m->block_row.at, .block_col = m->block_col.at,
                              .val = A->val.at, .touch = touch, .key = m->key.at, .slot = m->key_slot.at,
                              .count = 16 * (touch.n[0] + touch.n[1]), .E = m->E.at, .pivot = m->pivot.at,
                              .across = m->across.at, .down = m->down.at, .bad = m->bad.at, .inverse = m->coarse.at,
                              .v = m->v.at, .w = m->w.at };
}

/* Which element matrices lie between two parts. */
static abut_status sort_touching(abut_gpu_operator *A, abut_err *err)
{
    abut_gpu_precond *m = &A->precond;
    const size_t n = 16 * (A->set[0].n + A->set[1].n);
    if (!n) return ABUT_OK;
    if (n > INT32_MAX) return abut_fail(err, ABUT_E_NOMEM, "preconditioner: %zu contacts, at most %d", n / 16, INT32_MAX / 16);
    abut_status rc = abut_buffer_need(A->q, &m->key, "contacts between parts", n, sizeof(uint64_t), err);
    if (!rc) rc = abut_buffer_need(A->q, &m->key_slot, "contacts between parts", n, sizeof(uint32_t), err);
    if (rc) return rc;
    const abut_rigid_args a = rigid_args(A);
    rc = ABUT_RUN(A->q, rigid_key, &a, n, err);
    return rc ? rc : A->q->on->sort(A->q, a.key, a.slot, n, abut_bits_of((uint64_t)m->parts * m->parts), err);
}

/* E^-1 */
static abut_status invert(abut_gpu_operator *A, abut_err *err)
{
    abut_rigid_args a = rigid_args(A);
    const size_t blocks = a.wide / WIDE, n = MOTIONS * (size_t)a.parts;
    abut_status rc = A->q->on->fill(A->q, a.bad, 0, sizeof *a.bad, err);
    for (a.step = 0; a.step < blocks && !rc; a.step++) {
        rc = ABUT_RUN(A->q, rigid_pivot, &a, 1, err);
        if (!rc) rc = ABUT_RUN(A->q, rigid_panel, &a, blocks, err);
        if (!rc) rc = ABUT_RUN(A->q, rigid_update, &a, blocks * blocks, err);
    }
    return rc ? rc : ABUT_RUN(A->q, rigid_narrow, &a, n * n, err);
}

static abut_status renew_rigid(abut_gpu_operator *A, abut_err *err)
{
    abut_status rc = sort_touching(A, err);
    const abut_rigid_args a = rigid_args(A);
    if (!rc) rc = ABUT_RUN(A->q, rigid_arms, &a, a.parts, err);
    if (!rc) rc = A->q->on->fill(A->q, a.E, 0, (size_t)a.wide * a.wide * sizeof *a.E, err);
    if (!rc) rc = ABUT_RUN(A->q, rigid_matrix, &a, (size_t)a.parts * a.parts, err);
    return rc ? rc : invert(A, err);
}

static int is_due(const abut_gpu_precond *m)
{
    return !m->lags || !m->made || m->age >= AGE_MOST || m->last > SERVES * m->first;
}

abut_status abut_gpu_precond_renew(abut_gpu_operator *A, abut_err *err)
{
    abut_gpu_precond *m = &A->precond;
    if (m->kind == ABUT_GPU_JACOBI) return ABUT_OK;
    abut_status rc = renew_clusters(A, err);
    m->age++;
    if (rc || m->kind != ABUT_GPU_RIGID || !is_due(m)) return rc;
    m->made = m->age = 0;
    m->first = m->last = 0;
    rc = renew_rigid(A, err);
    m->made = !rc;
    return rc;
}

void abut_gpu_precond_learn(abut_gpu_operator *A, int iterations, double residual)
{
    abut_gpu_precond *m = &A->precond;
    if (!(residual > 0 && residual < 0.5)) return;
    m->last = -iterations / log10(residual);
    if (m->first == 0) m->first = m->last;
}

/* ---- its use ---- */

abut_status abut_gpu_precond_apply(abut_gpu_operator *A, const double *r, double *z, const float *r_single, float *z_single,
                                   const uint32_t *stop, abut_err *err)
{
    abut_queue *q = A->q;
    abut_cluster_args c = cluster_args(A);
    abut_status rc = ABUT_OK;
    if (A->precond.kind == ABUT_GPU_RIGID) {
        abut_rigid_args a = rigid_args(A);
        a.r = r;
        a.r_single = r_single;
        a.stop = stop;
        rc = r_single ? ABUT_RUN(q, rigid_restrict_single, &a, a.parts, err) : ABUT_RUN(q, rigid_restrict, &a, a.parts, err);
        if (!rc) rc = ABUT_RUN(q, rigid_solve, &a, MOTIONS * (size_t)a.parts, err);
    }
    c.r = r;
    c.z = z;
    c.r_single = r_single;
    c.z_single = z_single;
    c.stop = stop;
    if (rc) return rc;
    const size_t n = WIDE * (size_t)A->precond.clusters;
    return r_single ? ABUT_RUN(q, cluster_apply_single, &c, n, err) : ABUT_RUN(q, cluster_apply, &c, n, err);
}

#include "gpu/operator.h"

#include <math.h>

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

/* The linear problem of bench_nodal.c: one step of hard contact, read from a stream, and what solvers of it are measured by. */
#ifndef ABUT_BENCH_NODAL_PROBLEM_H
#define ABUT_BENCH_NODAL_PROBLEM_H

#include "base/par.h"
#include "base/timer.h"
#include "math/spd_inline.h"
#include "read_frame.h"
#include "solve/nodal/coulomb.h"
#include "solve/nodal/coulomb_inline.h"
#include "solve/nodal/nodal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1000, SWEEPS = 5 };
static const double WANTED = 1e-5, SLEEP = 0.01;

/* Blocks are kept as a projection with them needs them. */
typedef struct blocks {
    double *inv_w;          /* [9 nodes] */
    double *S, *E, *r;      /* [9 n] Delassus block in the frame of the contact, that frame; [3 n] impulses, N s */
    uint8_t *asleep;
} blocks;

typedef struct bench {
    const char *name;
    abut_arrays model_set, frame;
    abut_model model;
    abut_solve_options user;
    abut_nodal s;
    abut_report rep;
    double *v_free, *W;     /* [3 nodes]; [9 nodes] weights of the nodes of contacts, as blocks */
    double h;
    int threads;
    double solving;         /* s, of solutions with the matrix */
    blocks b;
} bench;

typedef struct outcome {
    double at_25, seconds_25, seconds, all, residual, law;
    int iterations;
    size_t visits;
} outcome;

static void *take(size_t n, size_t size)
{
    void *p = calloc(n + 1, size);
    if (!p) exit(5);
    return p;
}

/* Processor time of one thread, the clock of several. */
static double now(const bench *b)
{
    return b->threads > 1 ? abut_time_wall() : abut_time_cpu();
}

static abut_status timed_solve(void *ctx, const double *rhs, double *v, abut_err *err)
{
    bench *b = ctx;
    const double clock = now(b);
    const abut_status rc = abut_nodal_solve_iteration(&b->s, rhs, v, err);
    b->solving += now(b) - clock;
    return rc;
}

/* ---- the problem ---- */

/* W on the diagonal blocks of the matrix, or off it. */
static void add_weights(bench *b, double sign, const double *W)
{
    const abut_objective *p = &b->s.objective;
    const abut_bsr *A = &b->s.matrix.A;
    for (int32_t i = 0; i < p->model->nv; i++)
        for (int k = 0; k < 9 && p->row[i] >= 0; k++) A->val[9 * A->ptr[p->row[i]] + (size_t)k] += sign * W[9 * i + k];
}

static void factor(bench *b)
{
    abut_err err = { 0 };
    fail_on(abut_newton_factor(&b->s.solve, &b->s.matrix, &b->s.objective, &b->rep, &err), &err);
}

static void solve(bench *b, const double *rhs, double *v)
{
    abut_err err = { 0 };
    const abut_objective *p = &b->s.objective;
    abut_newton_solve *q = &b->s.solve;
    const abut_operator of = abut_newton_solve_operator(q, &b->s.matrix);
    abut_rows_gather(p, rhs, 1, q->rhs);
    fail_on(abut_linear_solve(abut_reuse_inner(&q->linear), &of, q->rhs, NULL, q->sol, &err), &err);
    for (int32_t i = 0; i < p->model->nv; i++)
        if (p->row[i] >= 0) memcpy(v + 3 * (size_t)i, q->sol + 3 * (size_t)p->row[i], 3 * sizeof *v);
}

static void open_problem(bench *b, const char *path, long step, int threads)
{
    abut_err err = { 0 };
    abut_instant at = { 0 };
    abut_nodal_options o = abut_nodal_defaults();
    o.newton = 1;
    b->user = abut_solve_defaults;
    b->user.linear.threads = threads;
    o.user = &b->user;
    b->name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    fail_on(read_frame(path, step, &b->model_set, &b->frame, &at, &err), &err);
    fail_on(abut_model_view(&b->model_set, &b->model, &err), &err);
    fail_on(abut_nodal_init(&b->s, &b->model, &o, &err), &err);
    fail_on(abut_nodal_begin(&b->s, &b->frame, at, &err), &err);
    fail_on(abut_nodal_solve(&b->s, &b->rep, &err), &err);
    if (!b->s.contacts.n) {
        fprintf(stderr, "bench_nodal: %s: no contact in the step after frame %lld\n", path, (long long)at.step);
        exit(1);
    }
    const size_t nv = (size_t)b->model.nv;
    b->h = b->model.h[0];
    b->W = take(9 * nv, sizeof(double));
    b->v_free = take(3 * nv, sizeof(double));
    for (size_t i = 0; i < nv; i++)
        for (int k = 0; k < 3; k++) b->W[9 * i + 4 * (size_t)k] = b->s.of.w[i];
    memcpy(b->v_free, b->s.of.v0, 3 * nv * sizeof(double));
    add_weights(b, -1, b->W);
    factor(b);
    solve(b, b->s.of.f, b->v_free);
    add_weights(b, 1, b->W);
    factor(b);
}

#endif

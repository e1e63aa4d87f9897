/* Hard contact on one frozen linear problem, and what others do with it: TSV.
 *
 *     bench_nodal FILE.abut [THREADS [STEP]]
 *
 * The problem is the first linearisation of the step after frame STEP (default: the last), with the contacts that `step --solver
 * nodal` finds for it.  Every solver starts from the velocities without contact and from impulses of 0.
 *
 *     full          the projection of lib/solve/nodal: scalar weights, closed form, sleeping
 *     awake         the same without sleeping
 *     accelerated   the same as full with Nesterov's extrapolation
 *     in order      the same as full without colours: contacts one after the other in the order of their vertices
 *     everywhere    the same as full with weights at every node, as published: nothing sleeps
 *     general       scalar weights, but a local solver for full blocks (coulomb_general.h), sleeping
 *     blocks        weights by 3x3 blocks, which need such a solver
 *     position based    the law is asked with velocities that the contact itself has changed, and impulses are not kept
 *     ica           iterative constraint anticipation (Otaduy et al. 2009) with that local solver
 *     vertices      the same as full on another problem: each contact between the vertex that has most of it on either side
 *     copies        Gauss-Seidel over the nodes of that problem, copied for each contact (Li et al. 2018; coulomb_copies.h)
 *
 * Columns: residual after 25 iterations, mm, and seconds of projections until then; iterations until the residual is below
 * 0.01 mm (at most MOST), seconds of projections, and of all; ns a visit of a contact, loops over nodes included; what p and the
 * impulses lack of Coulomb's law at the end, m/s; visits of contacts until the residual is below 0.01 mm.  Seconds are processor
 * time of one thread, the clock of several.  The residual is h (|change of v| + |v - p|), of ica h (|change of v| + residual of
 * the law), of copies h (|change of v| + |copies - their mean|). */
#include "base/par.h"
#include "base/timer.h"
#include "coulomb_copies.h"
#include "coulomb_general.h"
#include "math/spd.h"
#include "read_frame.h"
#include "solve/nodal/coulomb_inline.h"
#include "solve/nodal/nodal.h"
#include "solve/nodal/weights.h"

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
    o.threads = threads;
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

/* ---- ADMM with the projection of the library ---- */

/* From the velocities without contact and impulses of 0. */
static void iterate(bench *b, const abut_coulomb_options *o, double *all, double *projecting)
{
    abut_err err = { 0 };
    abut_nodal *s = &b->s;
    abut_coulomb_state *q = &s->state;
    const size_t n3 = 3 * (size_t)b->model.nv;
    const abut_coulomb_system y = { .nodes = b->model.nv, .h = b->h, .f = s->of.f, .w = s->of.w, .inv_w = s->of.inv_w,
                                    .awake = &s->parts.awake, .solve = timed_solve, .ctx = b };
    memset(s->contacts.rbar, 0, 3 * s->contacts.n * sizeof(double));
    memset(q->lambda, 0, n3 * sizeof(double));
    memcpy(q->v, b->v_free, n3 * sizeof(double));
    abut_coulomb_begin(q);
    b->solving = 0;
    const double clock = now(b);
    fail_on(abut_coulomb_iterate(q, &y, &s->contacts, o, &err), &err);
    *all = now(b) - clock;
    *projecting = *all - b->solving;
}

static outcome scalar(bench *b, double freeze, int accelerated)
{
    const abut_coulomb_state *q = &b->s.state;
    outcome r = { 0 };
    double unused;
    abut_coulomb_options o = { .iterations = 25, .sweeps = SWEEPS, .freeze = freeze, .accelerated = accelerated };
    iterate(b, &o, &unused, &r.seconds_25);
    r.at_25 = q->delta;
    o.iterations = MOST;
    o.tolerance = WANTED;
    b->s.state.projection.visits = 0;
    iterate(b, &o, &r.all, &r.seconds);
    r.visits = q->projection.visits;
    r.iterations = q->iterations;
    r.residual = q->delta;
    r.law = abut_coulomb_quality_at(&b->s.contacts, q->p).residual;
    return r;
}

/* Sweeps alone, from impulses of 0: ns a visit, the best of RUNS; those of contacts that sleep are counted in. */
static void time_sweeps(bench *b, double freeze, double *nominal)
{
    enum { RUNS = 40 };
    abut_err err = { 0 };
    abut_nodal *s = &b->s;
    const size_t n3 = 3 * (size_t)b->model.nv;
    double *p = take(n3, sizeof *p);
    *nominal = INFINITY;
    for (int k = 0; k < RUNS; k++) {
        const abut_project_options o = { .sweeps = 10 * SWEEPS, .asleep = freeze, .moved = s->state.moved,
                                         .n_moved = s->state.n_moved };
        memset(s->contacts.rbar, 0, 3 * s->contacts.n * sizeof(double));
        const double clock = now(b);
        fail_on(abut_project(&s->state.projection, &s->contacts, s->of.inv_w, b->v_free, &o, p, &err), &err);
        const double t = now(b) - clock;
        *nominal = fmin(*nominal, 1e9 * t / (10. * SWEEPS * (double)s->contacts.n));
    }
    free(p);
}

/* The same contacts without colours: all are swept in their order. */
static outcome in_order(bench *b)
{
    const abut_touching *t = &b->s.contacts;
    abut_touching plain = { 0 };
    abut_err err = { 0 };
    fail_on(abut_touching_begin(&plain, t->nodes, &err), &err);
    memset(plain.taken, 0xff, (size_t)t->nodes * sizeof *plain.taken);
    for (size_t i = 0; i < t->n; i++) {
        abut_touch c = { .key = t->key[i], .n = t->first[i + 1] - t->first[i], .node = t->node + t->first[i],
                         .b = t->b + t->first[i], .mu = t->mu[i], .cohesion = t->cohesion[i], .give = t->give[i] };
        memcpy(c.normal, t->normal + 3 * i, sizeof c.normal);
        memcpy(c.k, t->k + 3 * i, sizeof c.k);
        fail_on(abut_touching_append(&plain, &c, &err), &err);
    }
    fail_on(abut_touching_settle(&plain, b->s.of.inv_w, &err), &err);
    const abut_touching coloured = b->s.contacts;
    b->s.contacts = plain;
    const outcome r = scalar(b, SLEEP, 0);
    abut_touching_clear(&b->s.contacts);
    b->s.contacts = coloured;
    return r;
}

/* Weights at every node from here on. */
static void weigh_everywhere(bench *b)
{
    const abut_objective *p = &b->s.objective;
    for (int32_t i = 0; i < b->model.nv; i++) {
        if (p->row[i] < 0 || b->s.of.w[i] > 0) continue;
        double *block = b->s.matrix.A.val + 9 * b->s.matrix.A.ptr[p->row[i]];
        const double w = abut_nodal_weight(block, b->model.mass[i], b->s.opt.beta, b->s.opt.sigma);
        b->s.of.w[i] = w;
        b->s.of.inv_w[i] = 1 / w;
        for (int k = 0; k < 3; k++) block[4 * k] += w;
    }
    factor(b);
}

/* ---- ADMM with blocks ---- */

static int invert3(const double *A, double *out)
{
    for (int j = 0; j < 3; j++) {
        const double e[3] = { j == 0, j == 1, j == 2 };
        double x[3];
        if (!general_solve(A, e, x)) return 0;
        for (int i = 0; i < 3; i++) out[3 * i + j] = x[i];
    }
    return 1;
}

/* Weights as blocks: by eigenvalue (Daviet 2020, table 3, anisotropic), or the scalars. */
static void make_blocks(bench *b, double *W, int anisotropic)
{
    const abut_objective *p = &b->s.objective;
    const abut_touching *t = &b->s.contacts;
    for (int32_t i = 0; i < b->model.nv; i++) {
        double *B = W + 9 * (size_t)i, A[9], e[3], Q[9];
        memcpy(B, b->W + 9 * (size_t)i, 9 * sizeof *B);
        memset(b->b.inv_w + 9 * (size_t)i, 0, 9 * sizeof *B);
        if (!(b->s.of.w[i] > 0)) continue;
        if (anisotropic) {
            memcpy(A, b->s.matrix.A.val + 9 * b->s.matrix.A.ptr[p->row[i]], sizeof A);
            for (int k = 0; k < 3; k++) A[4 * k] -= b->s.of.w[i];
            abut_sym_eigen(3, A, e, Q);
            memset(B, 0, 9 * sizeof *B);
            for (int k = 0; k < 3; k++) {
                const double w = fmax(b->s.opt.sigma * e[k], fmin(b->s.opt.beta * b->model.mass[i], e[k]));
                for (int l = 0; l < 9; l++) B[l] += w * Q[3 * k + l / 3] * Q[3 * k + l % 3];
            }
        }
        if (!invert3(B, b->b.inv_w + 9 * (size_t)i)) exit(1);
    }
    for (size_t c = 0; c < t->n; c++) {
        double S[9] = { 0 };
        for (int32_t e = t->first[c]; e < t->first[c + 1]; e++)
            for (int k = 0; k < 9; k++) S[k] += t->b[e] * t->b[e] * b->b.inv_w[9 * (size_t)t->node[e] + (size_t)k];
        general_frame(t->normal + 3 * c, b->b.E + 9 * c);
        general_rotated(b->b.E + 9 * c, S, b->b.E + 9 * c, b->b.S + 9 * c);
    }
}

static void push(const bench *b, size_t c, const double d[3], double *p)
{
    const abut_touching *t = &b->s.contacts;
    for (int32_t e = t->first[c]; e < t->first[c + 1]; e++) {
        const double *w = b->b.inv_w + 9 * (size_t)t->node[e];
        for (int i = 0; i < 3; i++)
            p[3 * (size_t)t->node[e] + (size_t)i] += t->b[e] * (w[3 * i] * d[0] + w[3 * i + 1] * d[1] + w[3 * i + 2] * d[2]);
    }
}

/* One visit in the frame of the contact; returns |change of u|^2. */
static double visit(bench *b, size_t c, double *p)
{
    const double *E = b->b.E + 9 * c, *S = b->b.S + 9 * c;
    double u[3], rest[3], old[3], r[3], d[3], out[3], du[3];
    abut_touching_velocity(&b->s.contacts, c, p, u);
    for (int i = 0; i < 3; i++) {
        old[i] = E[3 * i] * b->b.r[3 * c] + E[3 * i + 1] * b->b.r[3 * c + 1] + E[3 * i + 2] * b->b.r[3 * c + 2];
        rest[i] = E[3 * i] * u[0] + E[3 * i + 1] * u[1] + E[3 * i + 2] * u[2];
        r[i] = old[i];
    }
    for (int i = 0; i < 3; i++) rest[i] -= S[3 * i] * old[0] + S[3 * i + 1] * old[1] + S[3 * i + 2] * old[2];
    if (!general_coulomb(S, rest, b->s.contacts.mu[c], r)) return INFINITY;
    for (int i = 0; i < 3; i++) d[i] = r[i] - old[i];
    for (int i = 0; i < 3; i++) {
        out[i] = E[i] * d[0] + E[3 + i] * d[1] + E[6 + i] * d[2];
        du[i] = S[3 * i] * d[0] + S[3 * i + 1] * d[1] + S[3 * i + 2] * d[2];
        b->b.r[3 * c + (size_t)i] += out[i];
    }
    push(b, c, out, p);
    return du[0] * du[0] + du[1] * du[1] + du[2] * du[2];
}

/* The update of position based dynamics: the law is asked with the velocity that the contact itself has changed, and nothing is
 * kept from one projection to the next (Daviet 2020, 5.2.5). */
static double visit_position_based(bench *b, size_t c, double *p)
{
    const abut_touching *t = &b->s.contacts;
    double u[3], now_u[3], d[3];
    abut_touching_velocity(t, c, p, u);
    (void)abut_coulomb_velocity(u, t->normal + 3 * c, t->mu[c], now_u);
    for (size_t i = 0; i < 3; i++) {
        u[i] = now_u[i] - u[i];
        d[i] = u[i] / t->s[c];
        b->b.r[3 * c + i] += d[i];
    }
    push(b, c, d, p);
    return u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
}

enum visits { GENERAL, BLOCKS, POSITION_BASED };

/* How far impulses r and velocities are from Coulomb's law, m/s. */
static double law_of(const bench *b, const double *p, const double *r)
{
    const abut_touching *t = &b->s.contacts;
    double most = 0;
    for (size_t c = 0; c < t->n; c++) {
        double u[3], rbar[3];
        abut_touching_velocity(t, c, p, u);
        for (size_t d = 0; d < 3; d++) rbar[d] = t->s[c] * r[3 * c + d];
        most = fmax(most, abut_coulomb_residual(u, rbar, t->normal + 3 * c, t->mu[c]));
    }
    return most;
}

static outcome by_blocks(bench *b, enum visits kind)
{
    double (*const of_kind)(bench *, size_t, double *) = kind == POSITION_BASED ? visit_position_based : visit;
    const size_t nv = (size_t)b->model.nv, n3 = 3 * nv, n = b->s.contacts.n;
    double *W = take(9 * nv, sizeof *W), *v = take(n3, sizeof *v), *p = take(n3, sizeof *p), *last = take(n3, sizeof *last),
           *lambda = take(n3, sizeof *lambda), *rhs = take(n3, sizeof *rhs);
    outcome r = { 0 };
    make_blocks(b, W, kind == BLOCKS);
    add_weights(b, -1, b->W);
    add_weights(b, 1, W);
    factor(b);
    memset(b->b.r, 0, 3 * n * sizeof(double));
    memcpy(v, b->v_free, n3 * sizeof *v);
    memcpy(p, v, n3 * sizeof *v);
    const double clock = now(b);
    double delta = INFINITY;
    int reached = 0;
    while (r.iterations < MOST) {
        memcpy(last, v, n3 * sizeof *v);
        for (size_t i = 0; i < n3; i++) {
            rhs[i] = b->s.of.f[i];
            for (size_t k = 0; k < 3; k++) rhs[i] += W[3 * i + k] * (p[i / 3 * 3 + k] + lambda[i / 3 * 3 + k]);
        }
        solve(b, rhs, v);
        const double start = now(b), asleep = r.iterations ? SLEEP * delta / b->h : 0;
        for (size_t i = 0; i < n3; i++) p[i] = v[i] - lambda[i];
        if (kind == POSITION_BASED) memset(b->b.r, 0, 3 * n * sizeof(double));
        for (size_t c = 0; c < n; c++) push(b, c, b->b.r + 3 * c, p);
        memset(b->b.asleep, 0, n);
        for (int k = 0; k < SWEEPS; k++)
            for (size_t c = 0; c < n; c++) {
                if (b->b.asleep[c]) continue;
                b->b.asleep[c] = of_kind(b, c, p) < asleep * asleep;
                r.visits += !reached;
            }
        double most[2] = { 0, 0 };
        for (size_t i = 0; i < n3; i++) {
            if (!(b->s.of.w[i / 3] > 0)) p[i] = v[i];
            lambda[i] += p[i] - v[i];
            most[0] = fmax(most[0], fabs(v[i] - last[i]));
            most[1] = fmax(most[1], fabs(v[i] - p[i]));
        }
        delta = b->h * (most[0] + most[1]);
        if (!reached) r.seconds += now(b) - start, r.all = now(b) - clock;
        r.seconds_25 += r.iterations < 25 ? now(b) - start : 0;
        if (++r.iterations == 25) r.at_25 = delta;
        if (delta < WANTED && !reached) reached = r.iterations;
        if (reached && r.iterations >= 25) break;
    }
    if (reached) r.iterations = reached;
    r.residual = delta;
    r.law = law_of(b, p, b->b.r);
    add_weights(b, -1, W);
    add_weights(b, 1, b->W);
    free(W), free(v), free(p), free(last), free(lambda), free(rhs);
    return r;
}

/* ---- iterative constraint anticipation ---- */

/* Rows of a symmetric matrix with all their blocks; and of contacts with all that share a node. */
typedef struct rows {
    size_t *ptr;
    int32_t *col;
    double *val;            /* [9] each */
} rows;

static rows full_rows(const abut_bsr *A)
{
    rows r = { take((size_t)A->n + 1, sizeof *r.ptr), take(2 * A->nnz, sizeof *r.col), take(18 * A->nnz, sizeof *r.val) };
    for (int32_t j = 0; j < A->n; j++)
        for (size_t e = A->ptr[j]; e < A->ptr[j + 1]; e++) {
            r.ptr[A->row[e] + 1]++;
            if (A->row[e] != j) r.ptr[j + 1]++;
        }
    for (int32_t j = 0; j < A->n; j++) r.ptr[j + 1] += r.ptr[j];
    size_t *at = take((size_t)A->n + 1, sizeof *at);
    memcpy(at, r.ptr, (size_t)A->n * sizeof *at);
    for (int32_t j = 0; j < A->n; j++)
        for (size_t e = A->ptr[j]; e < A->ptr[j + 1]; e++) {
            const int32_t i = A->row[e];
            size_t k = at[i]++;
            r.col[k] = j;
            memcpy(r.val + 9 * k, A->val + 9 * e, 9 * sizeof *r.val);
            if (i == j) continue;
            k = at[j]++;
            r.col[k] = i;
            for (int l = 0; l < 9; l++) r.val[9 * k + (size_t)l] = A->val[9 * e + (size_t)(3 * (l % 3) + l / 3)];
        }
    free(at);
    return r;
}

static void clear_rows(rows *r)
{
    free(r->ptr), free(r->col), free(r->val);
}

/* W = H D^-1 H^T, inv[9] of a node; H rotates to the frames of contacts. */
static rows contact_rows(const bench *b, const double *inv)
{
    const abut_touching *t = &b->s.contacts;
    const size_t nv = (size_t)b->model.nv, n = t->n;
    size_t *first = take(nv + 1, sizeof *first), cap = 0, used = 0;
    for (size_t e = 0; e < t->m; e++) first[t->node[e] + 1]++;
    for (size_t i = 0; i < nv; i++) first[i + 1] += first[i];
    int32_t *of = take(t->m, sizeof *of), *seen = take(n, sizeof *seen);
    size_t *at = take(nv, sizeof *at);
    memcpy(at, first, nv * sizeof *at);
    for (size_t c = 0; c < n; c++)
        for (int32_t e = t->first[c]; e < t->first[c + 1]; e++) of[at[t->node[e]]++] = (int32_t)c;
    for (size_t c = 0; c < n; c++)
        for (int32_t e = t->first[c]; e < t->first[c + 1]; e++) cap += first[t->node[e] + 1] - first[t->node[e]];
    rows r = { take(n + 1, sizeof *r.ptr), take(cap, sizeof *r.col), take(9 * cap, sizeof *r.val) };
    for (size_t c = 0; c < n; c++) {
        const size_t begin = used;
        for (int32_t e = t->first[c]; e < t->first[c + 1]; e++)
            for (size_t k = first[t->node[e]]; k < first[t->node[e] + 1]; k++) {
                const int32_t d = of[k];
                size_t where = (size_t)seen[d];
                if (where < begin + 1 || where > used || r.col[where - 1] != d) {
                    where = ++used;
                    seen[d] = (int32_t)where;
                    r.col[where - 1] = d;
                }
                double bd = 0, block[9];
                for (int32_t f = t->first[d]; f < t->first[d + 1]; f++) bd += t->node[f] == t->node[e] ? t->b[f] : 0;
                general_rotated(b->b.E + 9 * c, inv + 9 * (size_t)t->node[e], b->b.E + 9 * (size_t)d, block);
                for (int l = 0; l < 9; l++) r.val[9 * (where - 1) + (size_t)l] += t->b[e] * bd * block[l];
            }
        r.ptr[c + 1] = used;
    }
    free(first), free(of), free(seen), free(at);
    return r;
}

/* out[3 n] = H x (+ the constant part of contacts, if any) in the frames of contacts */
static void to_contacts(const bench *b, const double *x, int constant, double *out)
{
    const abut_touching *t = &b->s.contacts;
    for (size_t c = 0; c < t->n; c++) {
        double u[3];
        abut_touching_velocity(t, c, x, u);
        for (size_t d = 0; d < 3 && !constant; d++) u[d] -= t->k[3 * c + d];
        for (size_t i = 0; i < 3; i++)
            out[3 * c + i] = b->b.E[9 * c + 3 * i] * u[0] + b->b.E[9 * c + 3 * i + 1] * u[1] + b->b.E[9 * c + 3 * i + 2] * u[2];
    }
}

static void to_nodes(const bench *b, const double *r, double *out)
{
    const abut_touching *t = &b->s.contacts;
    memset(out, 0, 3 * (size_t)b->model.nv * sizeof *out);
    for (size_t c = 0; c < t->n; c++) {
        const double *E = b->b.E + 9 * c, *of = r + 3 * c;
        for (int32_t e = t->first[c]; e < t->first[c + 1]; e++)
            for (size_t i = 0; i < 3; i++)
                out[3 * (size_t)t->node[e] + i] += t->b[e] * (E[i] * of[0] + E[3 + i] * of[1] + E[6 + i] * of[2]);
    }
}

/* The residual of the law at v with impulses r, m/s. */
static double law(const bench *b, const double *v, const double *r)
{
    static const double n[3] = { 1, 0, 0 };
    const abut_touching *t = &b->s.contacts;
    double *u = take(3 * t->n, sizeof *u), worst = 0;
    to_contacts(b, v, 1, u);
    for (size_t c = 0; c < t->n; c++) {
        const double *S = b->b.S + 9 * c, s = (S[0] + S[4] + S[8]) / 3;
        const double rbar[3] = { s * r[3 * c], s * r[3 * c + 1], s * r[3 * c + 2] };
        worst = fmax(worst, abut_coulomb_residual(u + 3 * c, rbar, n, t->mu[c]));
    }
    free(u);
    return worst;
}

/* sum -= what row i of A has beside the diagonal, times dv */
static void subtract_others(const rows *A, int32_t i, const int32_t *node, const double *dv, double sum[3])
{
    for (size_t e = A->ptr[i]; e < A->ptr[i + 1]; e++) {
        const double *block = A->val + 9 * e, *other = dv + 3 * (size_t)node[A->col[e]];
        for (int k = 0; k < 9 && A->col[e] != i; k++) sum[k / 3] -= block[k] * other[k % 3];
    }
}

static outcome anticipate(bench *b)
{
    const abut_objective *o = &b->s.objective;
    const abut_touching *t = &b->s.contacts;
    const size_t nv = (size_t)b->model.nv, n = t->n, n3 = 3 * nv;
    double *dv = take(n3, sizeof *dv), *v = take(n3, sizeof *v), *x = take(n3, sizeof *x), *g = take(n3, sizeof *g),
           *inv = take(9 * nv, sizeof *inv), *r = take(3 * n, sizeof *r), *w = take(3 * n, sizeof *w),
           *rest = take(3 * n, sizeof *rest);
    outcome out = { 0 };
    add_weights(b, -1, b->W);
    rows A = full_rows(&b->s.matrix.A);
    for (size_t i = 0; i < nv; i++)
        if (o->row[i] >= 0 && !invert3(b->s.matrix.A.val + 9 * b->s.matrix.A.ptr[o->row[i]], inv + 9 * i)) exit(1);
    add_weights(b, 1, b->W);
    int32_t *node = take((size_t)o->nrow, sizeof *node);
    for (int32_t i = 0; i < b->model.nv; i++)
        if (o->row[i] >= 0) node[o->row[i]] = i;
    double *scalars = take(9 * nv, sizeof *scalars);
    make_blocks(b, scalars, 0);     /* for the frames */
    free(scalars);
    rows W = contact_rows(b, inv);
    for (size_t c = 0; c < n; c++)
        for (size_t e = W.ptr[c]; e < W.ptr[c + 1]; e++)
            if (W.col[e] == (int32_t)c) memcpy(b->b.S + 9 * c, W.val + 9 * e, 9 * sizeof(double));
    to_contacts(b, b->v_free, 1, w);
    const double clock = now(b);
    for (out.iterations = 0; out.iterations < MOST;) {
        const double start = now(b);
        double change = 0;
        for (int32_t i = 0; i < o->nrow; i++) {     /* x = D^-1 (D - A) dv */
            double sum[3] = { 0, 0, 0 };
            subtract_others(&A, i, node, dv, sum);
            general_apply(inv + 9 * node[i], sum, (const double[3]){ 0, 0, 0 }, x + 3 * node[i]);
        }
        to_contacts(b, x, 0, rest);
        for (size_t i = 0; i < 3 * n; i++) rest[i] += w[i];
        for (int k = 0; k < SWEEPS; k++)
            for (size_t c = 0; c < n; c++) {
                double own[3] = { rest[3 * c], rest[3 * c + 1], rest[3 * c + 2] };
                for (size_t e = W.ptr[c]; e < W.ptr[c + 1]; e++) {
                    const double *block = W.val + 9 * e, *other = r + 3 * (size_t)W.col[e];
                    for (size_t l = 0; l < 9 && W.col[e] != (int32_t)c; l++) own[l / 3] += block[l] * other[l % 3];
                }
                (void)general_coulomb(b->b.S + 9 * c, own, t->mu[c], r + 3 * c);
            }
        to_nodes(b, r, g);
        for (int32_t i = 0; i < o->nrow; i++) {
            double sum[3], next[3];
            memcpy(sum, g + 3 * node[i], sizeof sum);
            subtract_others(&A, i, node, dv, sum);
            general_apply(inv + 9 * node[i], sum, (const double[3]){ 0, 0, 0 }, next);
            for (int d = 0; d < 3; d++) {
                change = fmax(change, fabs(next[d] - dv[3 * node[i] + d]));
                dv[3 * node[i] + d] = next[d];
            }
        }
        out.seconds += now(b) - start;
        for (size_t i = 0; i < n3; i++) v[i] = b->v_free[i] + dv[i];
        out.visits += SWEEPS * n;
        out.law = law(b, v, r);
        out.residual = b->h * (change + out.law);
        if (++out.iterations == 25) out.at_25 = out.residual, out.seconds_25 = out.seconds;
        if (out.residual < WANTED || !isfinite(out.residual)) break;
    }
    out.all = now(b) - clock;
    clear_rows(&A), clear_rows(&W);
    free(dv), free(v), free(x), free(g), free(inv), free(r), free(w), free(rest), free(node);
    return out;
}

/* ---- contacts of vertices ---- */

/* The node that has most of contact c on the side of that sign, -1: none. */
static int32_t heaviest(const abut_touching *t, size_t c, double sign)
{
    int32_t node = -1;
    double most = 0;
    for (int32_t e = t->first[c]; e < t->first[c + 1]; e++)
        if (sign * t->b[e] > most) most = sign * t->b[e], node = t->node[e];
    return node;
}

/* The contacts of the problem, moved to vertices. */
static abut_touching to_vertices(const bench *b)
{
    const abut_touching *t = &b->s.contacts;
    abut_touching out = { 0 };
    abut_err err = { 0 };
    fail_on(abut_touching_begin(&out, t->nodes, &err), &err);
    for (size_t i = 0; i < t->n; i++) {
        const int32_t one = heaviest(t, i, 1), two = heaviest(t, i, -1);
        const int32_t node[2] = { one < 0 ? two : one, two };
        const double coefficient[2] = { one < 0 ? -1 : 1, -1 };
        abut_touch c = { .key = t->key[i], .n = 1 + (one >= 0 && two >= 0), .node = node, .b = coefficient, .mu = t->mu[i],
                         .cohesion = t->cohesion[i], .give = t->give[i] };
        memcpy(c.normal, t->normal + 3 * i, sizeof c.normal);
        memcpy(c.k, t->k + 3 * i, sizeof c.k);
        fail_on(abut_touching_append(&out, &c, &err), &err);
    }
    fail_on(abut_touching_settle(&out, b->s.of.inv_w, &err), &err);
    return out;
}

/* The contacts of b->s.contacts, all of vertices; *off, m: how far the ends of the velocities are from those of the state. */
static outcome by_copies(bench *b, double *off)
{
    const abut_objective *o = &b->s.objective;
    const abut_touching *t = &b->s.contacts;
    const size_t n = t->n, nrow = (size_t)o->nrow;
    double *f = take(3 * nrow, sizeof *f), *v = take(3 * nrow, sizeof *v), *k = take(3 * n, sizeof *k),
           *E = take(9 * n, sizeof *E);
    int32_t *node = take(2 * n, sizeof *node);
    outcome r = { 0 };
    add_weights(b, -1, b->W);
    rows A = full_rows(&b->s.matrix.A);
    add_weights(b, 1, b->W);
    abut_rows_gather(o, b->s.of.f, 1, f);
    abut_rows_gather(o, b->v_free, 1, v);
    for (size_t c = 0; c < n; c++) {
        const int32_t e = t->first[c];
        const double sign = t->b[e];    /* of a lone node on the other side all is turned round */
        double normal[3];
        node[2 * c] = o->row[t->node[e]];
        node[2 * c + 1] = t->first[c + 1] - e > 1 ? o->row[t->node[e + 1]] : -1;
        for (size_t d = 0; d < 3; d++) {
            k[3 * c + d] = sign * t->k[3 * c + d];
            normal[d] = sign * t->normal[3 * c + d];
        }
        general_frame(normal, E + 9 * c);
    }
    copies s = { .n = o->nrow, .contacts = (int32_t)n, .ptr = A.ptr, .col = A.col, .val = A.val, .f = f, .node = node, .E = E,
                 .k = k, .mu = t->mu };
    if (!copies_begin(&s, v)) exit(5);
    const double clock = now(b);
    for (r.iterations = 0; r.iterations < MOST;) {
        const double change = copies_sweep(&s);
        r.residual = b->h * (change + copies_spread(&s));
        if (++r.iterations == 25) r.at_25 = r.residual, r.seconds_25 = now(b) - clock;
        if (r.residual < WANTED || !isfinite(r.residual)) break;
    }
    r.seconds = r.all = now(b) - clock;
    *off = 0;
    abut_rows_gather(o, b->s.state.p, 1, v);
    for (size_t i = 0; i < 3 * nrow; i++) *off = fmax(*off, b->h * fabs(v[i] - s.v[i]));
    copies_clear(&s);
    clear_rows(&A);
    free(f), free(v), free(k), free(E), free(node);
    return r;
}

/* ---- */

static void say(const bench *b, const char *solver, const outcome *r)
{
    printf("%s\t%d\t%zu\t%s\t%.4g\t%.4f\t%s%d\t%.4f\t%.3f\t%.1f\t%.2g\t%zu\n", b->name, b->model.nv, b->s.contacts.n, solver,
           1e3 * r->at_25, r->seconds_25, r->residual < WANTED ? "" : ">", r->iterations, r->seconds, r->all,
           r->seconds_25 > 0 ? 1e9 * r->seconds_25 / (25. * SWEEPS * (double)b->s.contacts.n) : 0, r->law,
           r->visits);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const int threads = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1;
    bench b = { .threads = threads };
    if (argc < 2 || argc > 4 || threads < 1) return fprintf(stderr, "usage: bench_nodal FILE.abut [THREADS [STEP]]\n"), 2;
    abut_threads_set(threads);
    open_problem(&b, argv[1], argc > 3 ? strtol(argv[3], NULL, 10) : LAST_FRAME, threads);
    const size_t n = b.s.contacts.n, nv = (size_t)b.model.nv;
    b.b = (blocks){ take(9 * nv, sizeof(double)), take(9 * n, sizeof(double)), take(9 * n, sizeof(double)),
                    take(3 * n, sizeof(double)), take(n, 1) };
    double awake, asleep;
    outcome r = scalar(&b, SLEEP, 0);
    time_sweeps(&b, 0, &awake);
    time_sweeps(&b, SLEEP * WANTED / b.h, &asleep);
    printf("# %d threads, %d colours: %.1f ns a visit; %.1f ns where contacts that change by less than %g mm sleep\n",
           threads, abut_touching_colours(&b.s.contacts), awake, asleep, 1e3 * SLEEP * WANTED);
    printf("file\tnodes\tcontacts\tsolver\tresidual_25_mm\tproject_25_s\titerations\tproject_s\tall_s\tns_visit\t"
           "law_m_s\tvisits\n");
    say(&b, "full", &r);
    r = scalar(&b, 0, 0);
    say(&b, "awake", &r);
    r = scalar(&b, SLEEP, 1);
    say(&b, "accelerated", &r);
    r = in_order(&b);
    say(&b, "in order", &r);
    r = by_blocks(&b, GENERAL);
    say(&b, "general", &r);
    r = by_blocks(&b, BLOCKS);
    say(&b, "blocks", &r);
    r = by_blocks(&b, POSITION_BASED);
    say(&b, "position based", &r);
    r = anticipate(&b);
    say(&b, "ica", &r);
    const abut_touching edges = b.s.contacts;
    double off;
    b.s.contacts = to_vertices(&b);
    r = scalar(&b, SLEEP, 0);
    say(&b, "vertices", &r);
    r = by_copies(&b, &off);
    say(&b, "copies", &r);
    printf("# copies end %.3g mm from vertices\n", 1e3 * off);
    abut_touching_clear(&b.s.contacts);
    b.s.contacts = edges;
    weigh_everywhere(&b);
    r = scalar(&b, SLEEP, 0);
    say(&b, "everywhere", &r);
    free(b.b.inv_w), free(b.b.S), free(b.b.E), free(b.b.r), free(b.b.asleep), free(b.W), free(b.v_free);
    abut_nodal_clear(&b.s);
    abut_arrays_clear(&b.model_set);
    abut_arrays_clear(&b.frame);
    abut_report_clear(&b.rep);
    return 0;
}

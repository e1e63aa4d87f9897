/* ADMM with weights by 3x3 blocks, or the local solver that these need, on the problem of nodal_problem.h. */
#ifndef ABUT_BENCH_NODAL_BLOCKS_H
#define ABUT_BENCH_NODAL_BLOCKS_H

#include "coulomb_general.h"
#include "nodal_problem.h"

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

/* The update of position based dynamics: the law is evaluated with the velocity that the contact itself has changed, and no
 * impulse is kept from one projection to the next (Daviet 2020, 5.2.5). */
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

#endif

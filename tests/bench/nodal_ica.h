/* Iterative constraint anticipation (Otaduy et al. 2009) on the problem of nodal_problem.h. */
#ifndef ABUT_BENCH_NODAL_ICA_H
#define ABUT_BENCH_NODAL_ICA_H

#include "nodal_blocks.h"

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

#endif

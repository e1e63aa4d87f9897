#include "solve/baselines/qp.h"

#include "base/order.h"
#include "base/words.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TO_BOUNDARY 0.995       /* the part of the path to s = 0 or lambda = 0 that a step takes */
#define SLIGHT 1e-12            /* of the compliance of a row */

/* Rows are scaled to |a_i| = 1, so that s is in m. */
typedef struct program {
    struct given {
        abut_bsr *K;
        const double *g, *w;
        const abut_qp_rows *rows;
        abut_linear_solver *linear;
    } of;
    size_t n3, m;
    double *H;              /* [9 nnz] of the matrix that was given */
    size_t (*block)[10];    /* [m] where the blocks (k, l), k <= l, of a row are in K */
    double *a, *c, *size;   /* [12 m], [m], [m] scaled; |a_i| as it was */
    double *give;           /* [m] 1/kg: how far a multiplier of 1 moves a row at most */
    double *s, *ds, *dl, *rp, *rc, *d;  /* [m] */
    double *rd, *rhs, *dp;  /* [3 n] */
    void *room;
} program;

static const double *row_block(const program *q, size_t i, int k) { return q->a + 12 * i + 3 * k; }

/* out[m] = A p */
static void times(const program *q, const double *p, double *out)
{
    for (size_t i = 0; i < q->m; i++) {
        double sum = 0;
        for (int k = 0; k < 4; k++) {
            const int32_t r = q->of.rows->row[4 * i + k];
            for (int d = 0; d < 3 && r >= 0; d++) sum += row_block(q, i, k)[d] * p[3 * r + d];
        }
        out[i] = sum;
    }
}

/* out[3 n] += A^T l */
static void times_back(const program *q, const double *l, double factor, double *out)
{
    for (size_t i = 0; i < q->m; i++)
        for (int k = 0; k < 4; k++) {
            const int32_t r = q->of.rows->row[4 * i + k];
            for (int d = 0; d < 3 && r >= 0; d++) out[3 * r + d] += factor * l[i] * row_block(q, i, k)[d];
        }
}

/* Returns the index of block (i, j), i >= j, of the lower triangle of K. */
static size_t find_block(const abut_bsr *K, int32_t i, int32_t j)
{
    const int32_t *at = bsearch(&i, K->row + K->ptr[j], K->ptr[j + 1] - K->ptr[j], sizeof i, abut_by_one);
    assert(at);
    return (size_t)(at - K->row);
}

static void scale_rows(program *q)
{
    for (size_t i = 0; i < q->m; i++) {
        double size2 = 0, give = 0;
        for (int k = 0; k < 4; k++)
            for (int d = 0; d < 3 && q->of.rows->row[4 * i + k] >= 0; d++) {
                const double v = q->of.rows->a[12 * i + 3 * k + d];
                size2 += v * v;
                give += v * v / q->of.w[q->of.rows->row[4 * i + k]];
            }
        const double f = size2 > 0 ? 1 / sqrt(size2) : 1;
        for (int j = 0; j < 12; j++) q->a[12 * i + j] = q->of.rows->row[4 * i + j / 3] < 0 ? 0 : f * q->of.rows->a[12 * i + j];
        q->c[i] = f * q->of.rows->c[i];
        q->size[i] = 1 / f;
        q->give[i] = f * f * give;
        for (int k = 0, at = 0; k < 4; k++)
            for (int l = k; l < 4; l++, at++) {
                const int32_t r = q->of.rows->row[4 * i + k], t = q->of.rows->row[4 * i + l];
                q->block[i][at] = r < 0 || t < 0 ? SIZE_MAX : find_block(q->of.K, r > t ? r : t, r > t ? t : r);
            }
    }
}

/* K = H + A^T D A */
static void sum_matrix(program *q)
{
    memcpy(q->of.K->val, q->H, 9 * q->of.K->nnz * sizeof *q->H);
    for (size_t i = 0; i < q->m; i++)
        for (int k = 0, at = 0; k < 4; k++)
            for (int l = k; l < 4; l++, at++) {
                if (q->block[i][at] == SIZE_MAX) continue;
                const int first = q->of.rows->row[4 * i + k] > q->of.rows->row[4 * i + l] ? k : l;     /* has the block's row */
                const double *u = row_block(q, i, first), *v = row_block(q, i, k + l - first);
                double *to = q->of.K->val + 9 * q->block[i][at];
                for (int e = 0; e < 9; e++) to[e] += q->d[i] * u[e / 3] * v[e % 3];
            }
}

/* Newton's step of rd, rp, rc: H dp - A^T dl = -rd, A dp - ds + slight dl = -rp, l ds + s dl = -rc, with
 * d = 1 / (s / l + slight).  `slight` bounds d relative to H, within the precision of a factor; residuals do not contain it, so
 * the solution is not changed (Friedlander and Orban 2012). */
static abut_status solve_linear(program *q, const double *lambda, abut_err *err)
{
    const abut_operator K = { .matrix = q->of.K };
    for (size_t i = 0; i < q->n3; i++) q->rhs[i] = -q->rd[i];
    for (size_t i = 0; i < q->m; i++) q->dl[i] = -q->d[i] * (q->rp[i] + q->rc[i] / lambda[i]);
    times_back(q, q->dl, 1, q->rhs);
    const abut_status rc = abut_linear_solve(q->of.linear, &K, q->rhs, NULL, q->dp, err);
    if (rc) return rc;
    times(q, q->dp, q->ds);
    for (size_t i = 0; i < q->m; i++) {
        q->dl[i] -= q->d[i] * q->ds[i];
        q->ds[i] = (-q->rc[i] - q->s[i] * q->dl[i]) / lambda[i];
    }
    return ABUT_OK;
}

/* Largest step along ds and dl, at most `most`, that keeps s and lambda from becoming negative. */
static double step_bound(const program *q, const double *lambda, double most)
{
    double t = most;
    for (size_t i = 0; i < q->m; i++) {
        if (q->ds[i] < 0) t = fmin(t, -q->s[i] / q->ds[i]);
        if (q->dl[i] < 0) t = fmin(t, -lambda[i] / q->dl[i]);
    }
    return t;
}

static double mean_product(const program *q, const double *lambda, double t)
{
    double sum = 0;
    for (size_t i = 0; i < q->m; i++) sum += (q->s[i] + t * q->ds[i]) * (lambda[i] + t * q->dl[i]);
    return sum / (double)(q->m ? q->m : 1);
}

/* rd, rp at (p, s, lambda), and what they amount to. */
static void look(program *q, const double *p, const double *lambda, abut_qp_result *r)
{
    double l1 = 0, work = 0;
    memset(q->rd, 0, q->n3 * sizeof *q->rd);
    times_back(q, lambda, -1, q->rd);
    for (size_t i = 0; i < q->n3; i++) l1 += fabs(q->rd[i]);
    abut_bsr H = *q->of.K;
    H.val = q->H;
    abut_bsr_multiply(&H, p, q->dp);
    double nothing = 0;     /* NaN once a number is not finite */
    r->stationary = r->feasible = r->complementary = 0;
    for (size_t i = 0; i < q->n3; i++) {
        q->rd[i] += q->dp[i] + q->of.g[i];
        r->stationary = fmax(r->stationary, fabs(q->rd[i]) / q->of.w[i / 3]);
        nothing += 0 * q->rd[i];
    }
    times(q, p, q->rp);
    for (size_t i = 0; i < q->m; i++) {
        const double value = q->rp[i] + q->c[i];
        work -= q->c[i] * lambda[i];
        r->feasible = fmax(r->feasible, -value);
        r->complementary = fmax(r->complementary, fmin(fmax(q->s[i], value), lambda[i] * q->give[i]));
        q->rp[i] = value - q->s[i];
        nothing += 0 * value * lambda[i];
    }
    if (isnan(nothing)) r->stationary = r->feasible = r->complementary = INFINITY;
    /* every feasible p has lambda^T A p >= -lambda^T c, so work <= |A^T lambda|_1 max |p_i| */
    r->reach = work > 0 ? work / l1 : 0;
}

/* Makes a predictor and a corrector step from (p, s, lambda), whose residuals are known. */
static abut_status iterate(program *q, double *p, double *lambda, abut_err *err)
{
    const abut_operator K = { .matrix = q->of.K };
    for (size_t i = 0; i < q->m; i++) q->d[i] = 1 / (q->s[i] / lambda[i] + SLIGHT * q->give[i]);
    sum_matrix(q);
    abut_status rc = abut_linear_factor(q->of.linear, &K, ABUT_DOUBLE, err);
    double mu = 0;
    for (size_t i = 0; i < q->m; i++) mu += q->rc[i] = q->s[i] * lambda[i];
    mu /= (double)(q->m ? q->m : 1);
    if (!rc) rc = solve_linear(q, lambda, err);
    if (rc) return rc;
    double t = step_bound(q, lambda, 1);
    const double ratio = mu > 0 ? mean_product(q, lambda, t) / mu : 0;
    for (size_t i = 0; i < q->m; i++) q->rc[i] += q->ds[i] * q->dl[i] - ratio * ratio * ratio * mu;
    if (q->m) rc = solve_linear(q, lambda, err);
    if (rc) return rc;
    t = TO_BOUNDARY * step_bound(q, lambda, 1 / TO_BOUNDARY);
    for (size_t i = 0; i < q->n3; i++) p[i] += t * q->dp[i];
    for (size_t i = 0; i < q->m; i++) q->s[i] += t * q->ds[i], lambda[i] += t * q->dl[i];
    return ABUT_OK;
}

/* p without inequalities; s no smaller than they are violated there, and lambda so that all products are the same. */
static abut_status start(program *q, double within, double *p, double *lambda, abut_err *err)
{
    const abut_operator K = { .matrix = q->of.K };
    double violated = within, stiff = 0;
    size_t n = 0;
    for (size_t i = 0; i < q->n3; i++) q->rhs[i] = -q->of.g[i];
    abut_status rc = abut_linear_factor(q->of.linear, &K, ABUT_DOUBLE, err);
    if (!rc) rc = abut_linear_solve(q->of.linear, &K, q->rhs, NULL, p, err);
    if (rc) return rc;
    times(q, p, q->s);
    for (size_t i = 0; i < q->m; i++) {
        double give = 0;
        for (int k = 0; k < 4; k++) {
            const int32_t r = q->of.rows->row[4 * i + k];
            const double *H = r < 0 ? NULL : q->H + 9 * q->of.K->ptr[r];
            for (int d = 0; d < 3 && H; d++) give += row_block(q, i, k)[d] * row_block(q, i, k)[d] / H[4 * d];
        }
        violated = fmax(violated, -(q->s[i] += q->c[i]));
        if (give > 0) stiff += 1 / give, n++;
    }
    for (size_t i = 0; i < q->m; i++) {
        q->s[i] = fmax(q->s[i], violated);
        lambda[i] = violated * violated * (n ? stiff / (double)n : 1) / q->s[i];
    }
    return ABUT_OK;
}

static abut_status make_room(program *q, abut_err *err)
{
    const size_t n3 = q->n3, m = q->m, nnz = 9 * q->of.K->nnz;
    double *at = q->room = malloc((nnz + 3 * n3 + 21 * m + 1) * sizeof *at);
    q->block = malloc((m + 1) * sizeof *q->block);
    if (!at || !q->block) return abut_fail(err, ABUT_E_NOMEM, "quadratic program: %zu unknowns, %zu inequalities", n3, m);
    double **const of_m[] = { &q->c, &q->size, &q->give, &q->s, &q->ds, &q->dl, &q->rp, &q->rc, &q->d };
    double **const of_n[] = { &q->rd, &q->rhs, &q->dp };
    q->H = at;
    at += nnz;
    for (size_t i = 0; i < sizeof of_n / sizeof *of_n; i++, at += n3) *of_n[i] = at;
    for (size_t i = 0; i < sizeof of_m / sizeof *of_m; i++, at += m) *of_m[i] = at;
    q->a = at;
    return ABUT_OK;
}

static abut_status run(program *q, const abut_qp_options *o, double *p, double *lambda, abut_qp_result *r, abut_err *err)
{
    abut_status rc = start(q, o->within, p, lambda, err);
    for (;;) {
        if (rc) return rc;
        look(q, p, lambda, r);
        if (!isfinite(r->stationary))
            return abut_fail(err, ABUT_E_NUMERIC, "quadratic program: numbers that are not finite after %d iteration%s",
                             r->iterations, abut_s(r->iterations));
        if (fmax(r->stationary, fmax(r->feasible, r->complementary)) <= o->within) return r->answer = ABUT_QP_SOLVED, ABUT_OK;
        if (r->reach >= o->far) return r->answer = ABUT_QP_INFEASIBLE, ABUT_OK;
        if (r->iterations == o->iterations) return r->answer = ABUT_QP_LIMIT, ABUT_OK;
        r->iterations++;
        rc = iterate(q, p, lambda, err);
    }
}

abut_status abut_qp_solve(abut_bsr *H, const double *g, const double *w, const abut_qp_rows *rows, const abut_qp_options *o,
                          abut_linear_solver *linear, double *p, double *lambda, abut_qp_result *result, abut_err *err)
{
    assert(o->within > 0 && o->far > 0);
    program q = { .of = { H, g, w, rows, linear }, .n3 = 3 * (size_t)H->n, .m = rows->n };
    *result = (abut_qp_result){ .iterations = 0 };
    abut_status rc = make_room(&q, err);
    if (!rc) {
        memcpy(q.H, H->val, 9 * H->nnz * sizeof *q.H);
        scale_rows(&q);
        rc = run(&q, o, p, lambda, result, err);
    }
    for (size_t i = 0; i < q.m && !rc; i++) lambda[i] /= q.size[i];
    free(q.room);
    free(q.block);
    return rc;
}

#include "geom/jacobian.h"

#include "geom/cubic_inline.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { COLUMN = 20 /* coefficients of dx/dxi of a tet of order 4 */, CROSS = 84 /* of products of two */,
       MOST = ABUT_BERNSTEIN_MOST, LEVELS = 4 /* coefficients in time */,
       DEPTH = 28 /* halvings of one cell */, CELLS = 4000 /* cells of one tet, until it is left open */ };

/* ---- coefficients ---- */

/* Columns of dx/dxi, in Bernstein coefficients of degree order - 1 times their weights (abut_bernstein_weight). */
typedef struct columns {
    double g[3][COLUMN][3];
    double size[3], error[3];   /* of the coefficients themselves, by axis: |g| at most, error at most */
} columns;

/* Tuples of a degree and their weights, in order. */
typedef struct tuples {
    int n, a[CROSS][4];
    double weight[CROSS];
} tuples;

static void list(int degree, tuples *t)
{
    int a[4] = { degree, 0, 0, 0 };
    t->n = 0;
    do {
        memcpy(t->a[t->n], a, sizeof a);
        t->weight[t->n++] = abut_bernstein_weight(a);
    } while (abut_bernstein_next(degree, a));
}

static void columns_of(int order, const tuples *t, const double (*x)[3], columns *out)
{
    double b[ABUT_TET_NODES_MAX][3], bound[3];
    abut_bernstein_of_nodes(order, x, b, bound);
    memset(out->size, 0, sizeof out->size);
    for (int i = 0; i < t->n; i++)
        for (int c = 0; c < 3; c++) {
            const int *a = t->a[i], k = abut_bernstein_index(a[1] + (c == 0), a[2] + (c == 1), a[3] + (c == 2));
            for (int d = 0; d < 3; d++) {
                const double g = order * (b[k][d] - b[i][d]);   /* a0 + 1 has the number that a has one degree below */
                out->size[d] = fmax(out->size[d], fabs(g));
                out->g[c][i][d] = t->weight[i] * g;
            }
        }
    for (int d = 0; d < 3; d++) {
        out->error[d] = order * 2 * bound[d] + 0x1p-51 * out->size[d];
        out->size[d] += out->error[d];
    }
}

static void add_cross(const tuples *t, const double (*u)[3], const double (*v)[3], double (*out)[3])
{
    for (int i = 0; i < t->n; i++)
        for (int j = 0; j < t->n; j++) {
            const int *a = t->a[i], *b = t->a[j];
            double *o = out[abut_bernstein_index(a[1] + b[1], a[2] + b[2], a[3] + b[3])];
            o[0] += u[i][1] * v[j][2] - u[i][2] * v[j][1];
            o[1] += u[i][2] * v[j][0] - u[i][0] * v[j][2];
            o[2] += u[i][0] * v[j][1] - u[i][1] * v[j][0];
        }
}

static void add_dot(const tuples *t, const tuples *s, const double (*u)[3], double (*v)[3], double *out)
{
    for (int i = 0; i < t->n; i++)
        for (int j = 0; j < s->n; j++) {
            const int *a = t->a[i], *b = s->a[j];
            out[abut_bernstein_index(a[1] + b[1], a[2] + b[2], a[3] + b[3])] +=
                u[i][0] * v[j][0] + u[i][1] * v[j][1] + u[i][2] * v[j][2];
        }
}

/* The polynomial det(A + B) by powers of B: c[k][] has those with k columns of B.  B NULL: c[0] alone. */
static void determinant(int order, const tuples *t, const columns *A, const columns *B, double (*c)[MOST])
{
    const int degree = 3 * (order - 1), n = abut_bernstein_count(degree);
    double cross[3][CROSS][3];
    tuples two;
    list(2 * (order - 1), &two);
    memset(cross, 0, sizeof cross);
    add_cross(t, A->g[1], A->g[2], cross[0]);
    for (int k = 0; k < (B ? LEVELS : 1); k++) memset(c[k], 0, (size_t)n * sizeof *c[k]);
    if (B) {
        add_cross(t, A->g[1], B->g[2], cross[1]);
        add_cross(t, B->g[1], A->g[2], cross[1]);
        add_cross(t, B->g[1], B->g[2], cross[2]);
    }
    for (int k = 0; k < (B ? 3 : 1); k++) {
        add_dot(t, &two, A->g[0], cross[k], c[k]);
        if (B) add_dot(t, &two, B->g[0], cross[k], c[k + 1]);
    }
    int a[4] = { degree, 0, 0, 0 }, i = 0;
    do {
        const double weight = abut_bernstein_weight(a);
        for (int k = 0; k < (B ? LEVELS : 1); k++) c[k][i] /= weight;
        i++;
    } while (abut_bernstein_next(degree, a));
}

/* How far a coefficient may be from the true one: a sum of 6 products of a component of each axis with weights of sum 1.  At most
 * 200 roundings lie between the columns and a coefficient. */
static double error_of(const double size[3], const double error[3])
{
    const double product = size[0] * size[1] * size[2];
    return 6.1 * (error[0] * size[1] * size[2] + size[0] * error[1] * size[2] + size[0] * size[1] * error[2]) +
           6 * 256 * 0x1p-53 * product + 0x1p-1000;
}

/* ---- cells ---- */

/* A part of the tet and of the time, and the polynomial on it. */
typedef struct cell {
    int degree, levels;         /* levels 1: one instant; 4: coefficients in time, of degree 3 */
    double c[LEVELS][MOST];
    double corner[4][4];        /* barycentric coordinates */
    double t[2];
} cell;

/* Ends of the longest edge, the first of several: halving it over and over keeps the shape of cells in bounds. */
static void longest(const cell *s, int *i, int *j)
{
    double most = 0;
    for (int a = 0; a < 4; a++)
        for (int b = a + 1; b < 4; b++) {
            double d2 = 0;
            for (int k = 0; k < 4; k++) d2 += (s->corner[a][k] - s->corner[b][k]) * (s->corner[a][k] - s->corner[b][k]);
            if (d2 > most) most = d2, *i = a, *j = b;
        }
}

static void halve_space(cell *s, cell *other)
{
    int i = 0, j = 1;
    longest(s, &i, &j);
    memcpy(other->corner, s->corner, sizeof s->corner);
    memcpy(other->t, s->t, sizeof s->t);
    other->degree = s->degree, other->levels = s->levels;
    for (int k = 0; k < 4; k++) s->corner[j][k] = other->corner[i][k] = 0.5 * (s->corner[i][k] + s->corner[j][k]);
    for (int k = 0; k < s->levels; k++) abut_bernstein_halve(s->degree, s->c[k], i, j, other->c[k]);
}

static void halve_time(cell *s, cell *other)
{
    const int n = abut_bernstein_count(s->degree);
    memcpy(other->corner, s->corner, sizeof s->corner);
    other->degree = s->degree, other->levels = s->levels;
    other->t[1] = s->t[1];
    s->t[1] = other->t[0] = 0.5 * (s->t[0] + s->t[1]);
    for (int i = 0; i < n; i++) {
        double w[LEVELS];
        for (int k = 0; k < LEVELS; k++) w[k] = s->c[k][i];
        other->c[3][i] = w[3];
        for (int m = 1; m < LEVELS; m++) {
            for (int k = 0; k < LEVELS - m; k++) w[k] = 0.5 * (w[k] + w[k + 1]);
            s->c[m][i] = w[0];
            other->c[3 - m][i] = w[3 - m];
        }
    }
}

static double least_coefficient(const cell *s)
{
    const int n = abut_bernstein_count(s->degree);
    double least = INFINITY;
    for (int k = 0; k < s->levels; k++)
        for (int i = 0; i < n; i++) least = s->c[k][i] < least ? s->c[k][i] : least;
    return least;
}

/* The least value at a corner, at an end of the time, and where. */
static double least_corner(const cell *s, abut_jacobian_at *at)
{
    double least = INFINITY;
    for (int k = 0; k < s->levels; k += LEVELS - 1)
        for (int v = 0; v < 4; v++) {
            const double value = s->c[k][abut_bernstein_corner(s->degree, v)];
            if (!(value < least)) continue;
            least = value;
            *at = (abut_jacobian_at){ .t = s->t[k > 0], .det = value };
            memcpy(at->L, s->corner[v], sizeof at->L);
        }
    return least;
}

typedef struct search {
    double error, step;     /* of the coefficients; what halving adds to it */
    int cells;              /* cells that may still be tested */
    abut_jacobian_at at;
} search;

static abut_jacobian_sign decide(search *q, cell *s, int depth)
{
    const double e = q->error + depth * q->step;
    if (least_coefficient(s) > e) return ABUT_JACOBIAN_POSITIVE;
    const double corner = least_corner(s, &q->at);
    if (corner <= -e) return ABUT_JACOBIAN_NOT_POSITIVE;
    if (corner <= e || depth == DEPTH || q->cells-- <= 0) return ABUT_JACOBIAN_UNDECIDED;
    cell other;
    if (s->levels > 1 && depth % 4 == 3) halve_time(s, &other);
    else halve_space(s, &other);
    const abut_jacobian_sign sign = decide(q, s, depth + 1);
    return sign == ABUT_JACOBIAN_POSITIVE ? decide(q, &other, depth + 1) : sign;
}

static const double whole[4][4] = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 } };

static search search_of(const double size[3], const double error[3])
{
    search q = { .error = error_of(size, error), .cells = CELLS };
    q.step = 10 * 0x1p-53 * (6 * size[0] * size[1] * size[2] + q.error);
    return q;
}

/* The whole tet at one instant. */
static search cell_of(int order, const double (*x)[3], cell *s)
{
    tuples t;
    columns A;
    list(order - 1, &t);
    columns_of(order, &t, x, &A);
    *s = (cell){ .degree = 3 * (order - 1), .levels = 1 };
    memcpy(s->corner, whole, sizeof whole);
    determinant(order, &t, &A, NULL, s->c);
    return search_of(A.size, A.error);
}

abut_jacobian_sign abut_jacobian_check(int order, const double (*x)[3], abut_jacobian_at *at)
{
    assert(order >= 1 && order <= ABUT_ORDER_MAX);
    cell s;
    search q = cell_of(order, x, &s);
    const abut_jacobian_sign sign = decide(&q, &s, 0);
    if (at && sign != ABUT_JACOBIAN_POSITIVE) *at = q.at;
    return sign;
}

abut_jacobian_sign abut_jacobian_check_motion(int order, const double (*x0)[3], const double (*x1)[3], abut_jacobian_at *at)
{
    tuples t;
    columns A, B;
    cell s = { .degree = 3 * (order - 1), .levels = LEVELS, .t = { 0, 1 } };
    memcpy(s.corner, whole, sizeof whole);
    list(order - 1, &t);
    columns_of(order, &t, x0, &A);
    columns_of(order, &t, x1, &B);
    determinant(order, &t, &A, &B, s.c);
    for (int i = 0; i < abut_bernstein_count(s.degree); i++) s.c[1][i] /= 3, s.c[2][i] /= 3;
    for (int d = 0; d < 3; d++) A.size[d] = fmax(A.size[d], B.size[d]), A.error[d] = fmax(A.error[d], B.error[d]);
    search q = search_of(A.size, A.error);
    const abut_jacobian_sign sign = decide(&q, &s, 0);
    if (at && sign != ABUT_JACOBIAN_POSITIVE) *at = q.at;
    return sign;
}

/* ---- the least value ---- */

/* Lowers *seen to values at corners, and *least to the bounds of cells that are not halved further. */
static void narrow(search *q, cell *s, int depth, double *least, double *seen)
{
    abut_jacobian_at at;
    const double e = q->error + depth * q->step, bound = least_coefficient(s) - e;
    *seen = fmin(*seen, least_corner(s, &at));
    if (bound >= *seen - 0.01 * fabs(*seen) || depth == DEPTH || q->cells-- <= 0) {
        *least = fmin(*least, bound);
        return;
    }
    cell other;
    halve_space(s, &other);
    narrow(q, s, depth + 1, least, seen);
    narrow(q, &other, depth + 1, least, seen);
}

double abut_jacobian_least(int order, const double (*x)[3], double *attained)
{
    cell s;
    search q = cell_of(order, x, &s);
    double least = INFINITY, seen = INFINITY;
    narrow(&q, &s, 0, &least, &seen);
    if (attained) *attained = seen;
    return least;
}

/* `narrow` for the ratio of level 0 to level 3.  If all coefficients of level 3 are positive, the ratio at a point is a mean of
 * the ratios of coefficients. */
static void narrow_ratio(search *q, const search *Q, cell *s, int depth, double enough, double *least)
{
    const double e = q->error + depth * q->step, E = Q->error + depth * Q->step;
    double bound = INFINITY;
    for (int i = 0; i < abut_bernstein_count(s->degree); i++) {
        const double over = s->c[0][i] - e, under = s->c[3][i];
        bound = fmin(bound, !(under > E) ? -INFINITY : over / (over < 0 ? under - E : under + E));
    }
    for (int v = 0; v < 4; v++) {
        const int i = abut_bernstein_corner(s->degree, v);
        const double ratio = s->c[0][i] / s->c[3][i];
        if (!(s->c[3][i] > E)) q->cells = 0;    /* the rest shape is not proven here, however small the parts */
        else if (ratio < q->at.det) {
            q->at.det = ratio;
            memcpy(q->at.L, s->corner[v], sizeof q->at.L);
        }
    }
    if (bound >= fmin(enough, q->at.det - 0.01 * fabs(q->at.det)) || depth == DEPTH || q->cells-- <= 0) {
        *least = fmin(*least, bound);
        return;
    }
    cell other;
    halve_space(s, &other);
    narrow_ratio(q, Q, s, depth + 1, enough, least);
    narrow_ratio(q, Q, &other, depth + 1, enough, least);
}

double abut_jacobian_least_ratio(int order, const double (*x)[3], const double (*X)[3], double enough, abut_jacobian_at *at)
{
    cell s, rest;
    search q = cell_of(order, x, &s), Q = cell_of(order, X, &rest);
    double least = INFINITY;
    s.levels = LEVELS;
    q.at.det = INFINITY;
    memcpy(s.c[3], rest.c[0], sizeof rest.c[0]);
    narrow_ratio(&q, &Q, &s, 0, enough, &least);
    if (at) *at = q.at;
    return least;
}

/* ---- the largest step ---- */

/* Returns the largest t <= alpha with the cubic c0 (1 - slack) + c1 t + c2 t^2 + c3 t^3 positive on [0, t]; 0: none. */
static double until(const cell *s, int i, double keep, double e, double alpha)
{
    const double a0 = keep * s->c[0][i] - e, a1 = s->c[1][i] * alpha, a2 = s->c[2][i] * alpha * alpha,
                 a3 = s->c[3][i] * alpha * alpha * alpha;
    if (!(a0 > 0)) return 0;
    if (a0 > fabs(a1) + fabs(a2) + fabs(a3)) return alpha;
    return alpha * abut_cubic_positive_until((double[4]){ 1, a1 / a0, a2 / a0, a3 / a0 });
}

/* Lowers *alpha to the bound of coefficients if halving does not help, and at once to the bound of corners. */
static void shorten(search *q, cell *s, int depth, double keep, double *alpha)
{
    enum { DEEP = 9 };
    const double e = q->error + depth * q->step;
    const int n = abut_bernstein_count(s->degree);
    double least = *alpha;
    for (int v = 0; v < 4; v++) *alpha = until(s, abut_bernstein_corner(s->degree, v), keep, e, *alpha);
    for (int i = 0; i < n && least > 0; i++) least = fmin(least, until(s, i, keep, e, *alpha));
    if (least >= *alpha) return;
    /* halving continues below a tenth of the bound of corners, so that a start that is proven at this depth has a step */
    if ((depth >= DEEP && least > 0.1 * *alpha) || depth == DEPTH || q->cells-- <= 0) {
        *alpha = least;
        return;
    }
    cell other;
    halve_space(s, &other);
    shorten(q, s, depth + 1, keep, alpha);
    if (*alpha > 0) shorten(q, &other, depth + 1, keep, alpha);
}

double abut_jacobian_max_step(int order, const double (*x)[3], const double (*p)[3], double slack)
{
    assert(slack > 0 && slack < 1);
    const int n = abut_tet_nodes(order);
    tuples t;
    columns A, B;
    cell s = { .degree = 3 * (order - 1), .levels = LEVELS };
    double moved[ABUT_TET_NODES_MAX][3], alpha = 1;
    memcpy(s.corner, whole, sizeof whole);
    list(order - 1, &t);
    columns_of(order, &t, x, &A);
    columns_of(order, &t, p, &B);
    determinant(order, &t, &A, &B, s.c);
    for (int d = 0; d < 3; d++) A.size[d] += B.size[d], A.error[d] += B.error[d];
    search q = search_of(A.size, A.error);
    shorten(&q, &s, 0, 1 - (slack + 1e-7 * (1 - slack)), &alpha);
    while (alpha > 0 && alpha < 1) {
        for (int i = 0; i < n; i++)
            for (int d = 0; d < 3; d++) moved[i][d] = x[i][d] + alpha * p[i][d];
        if (abut_jacobian_check_motion(order, x, (const double(*)[3])moved, NULL) == ABUT_JACOBIAN_POSITIVE) break;
        alpha = alpha > 0x1p-60 ? 0.5 * alpha : 0;
    }
    return alpha;
}

/* Thin elements taken apart, each with corners of its own: weights, forces, the nearest point of least energy. */
#include "energy/codim_elements.h"

#include "sparse/packed_inline.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 2000, UNKNOWNS = 9, PACKED = 9 * ABUT_CODIM_PAIRS };
#define STILL 1e-11         /* fraction of an edge: a step of Newton's method below this is the last */
#define NEAR 1e-7           /* fraction of an edge: steps below this need no line search */
#define SLOWER 0.9          /* a step above this fraction of the last one is rounding */
/* K of hinges and bends: TIMES the trace, and PAIRS times its mean diagonal spread over all pairs of corners. */
#define TIMES 4.
#define PAIRS 2.

static int corners_of(const abut_codim_apart *a, size_t e)
{
    int n = 4;
    while (a->t.node[4 * e + (size_t)n - 1] < 0) n--;
    return n;
}

static int kind_of(const abut_codim_apart *a, size_t e)
{
    int kind = 0;
    while (e >= a->t.first[kind + 1]) kind++;
    return kind;
}

static int bends(int kind)
{
    return kind == ABUT_CODIM_HINGE || kind == ABUT_CODIM_BEND;
}

/* Returns the weight that each pair of corners gets; diagonal: the sum of the trace's diagonal. */
static double of_pairs(int kind, int corners, double diagonal)
{
    return bends(kind) ? PAIRS * diagonal / corners / (corners - 1) : 0;
}

/* ---- the weights ---- */

static void weigh(const abut_codim_apart *a, size_t e, const double *H, double *K)
{
    const int n = corners_of(a, e);
    double diagonal = 0;
    for (int p = 0; p < ABUT_CODIM_PAIRS; p++) K[p] = H[9 * p] + H[9 * p + 4] + H[9 * p + 8];
    for (int c = 0; c < n; c++) diagonal += K[abut_packed_block(4, c, c)];
    const double pair = of_pairs(kind_of(a, e), n, diagonal);
    for (int c = 0; c < n; c++)
        for (int d = c; d < n; d++) {
            double *k = K + abut_packed_block(4, c, d);
            *k = (bends(kind_of(a, e)) ? TIMES : 1) * *k + (c == d ? (n - 1) * pair : -pair);
        }
}

abut_status abut_codim_apart_init(abut_codim_apart *a, const abut_codim *t, double scale, abut_err *err)
{
    const size_t n = t->n;
    *a = (abut_codim_apart){ .t = *t, .scale = scale };
    if (!ABUT_ARRAYS(ABUT_ITEMS(a->t.node, 4 * n), ABUT_ITEMS(a->K, ABUT_CODIM_PAIRS * n))) {
        abut_codim_apart_clear(a);
        return abut_fail(err, ABUT_E_NOMEM, "%zu thin elements taken apart", n);
    }
    for (size_t i = 0; i < 4 * n; i++) a->t.node[i] = t->node[i] < 0 ? -1 : (int32_t)i;
    #pragma omp parallel for schedule(static) if (n > 256)
    for (size_t e = 0; e < n; e++) {
        double H[PACKED] = { 0 };
        const abut_codim_ask ask = { .t = t, .x = t->model->X, .parts = ABUT_CODIM_ALL, .kappa = ABUT_STRAIN_KAPPA_MIN,
                                     .scale = scale, .add = 1, .base = e };
        abut_codim_elements_hessian(&ask, kind_of(a, e), e, e + 1, H);
        weigh(a, e, H, a->K + ABUT_CODIM_PAIRS * e);
    }
    return ABUT_OK;
}

void abut_codim_apart_clear(abut_codim_apart *a)
{
    ABUT_FREE(a->t.node, a->K);
    *a = (abut_codim_apart){ 0 };
}

void abut_codim_apart_beyond(const abut_codim_apart *a, double *H)
{
    memset(H, 0, PACKED * a->t.n * sizeof *H);
    for (size_t e = a->t.first[ABUT_CODIM_HINGE]; e < a->t.n; e++) {
        const int n = corners_of(a, e), kind = kind_of(a, e);
        const double *K = a->K + ABUT_CODIM_PAIRS * e;
        double diagonal = 0;
        if (!bends(kind)) continue;
        for (int c = 0; c < n; c++) diagonal += K[abut_packed_block(4, c, c)];
        const double pair = of_pairs(kind, n, diagonal / (TIMES + PAIRS));
        for (int c = 0; c < n; c++)
            for (int d = c; d < n; d++) {
                const size_t block = abut_packed_block(4, c, d);
                const double trace = (K[block] - (c == d ? (n - 1) * pair : -pair)) / TIMES;
                for (size_t i = 0; i < 9; i += 4) H[PACKED * e + 9 * block + i] = K[block] - trace;
            }
    }
}

void abut_codim_apart_force(const abut_codim_apart *a, size_t e, const double d[12], double f[12])
{
    const int n = corners_of(a, e);
    memset(f, 0, 12 * sizeof *f);
    for (int p = 0; p < n; p++)
        for (int q = 0; q < n; q++) {
            const double k = a->K[ABUT_CODIM_PAIRS * e + abut_packed_block(4, p < q ? p : q, p < q ? q : p)];
            for (int i = 0; i < 3; i++) f[3 * p + i] += k * d[3 * q + i];
        }
}

/* ---- one element at z ---- */

static abut_codim_ask ask_at(const abut_codim_apart *a, size_t e, const double *z)
{
    return (abut_codim_ask){ .t = &a->t, .x = z, .parts = ABUT_CODIM_ALL, .kappa = ABUT_STRAIN_KAPPA_MIN, .scale = a->scale,
                             .add = 1, .base = e };
}

static void gradient_at(const abut_codim_apart *a, size_t e, const double *z, double f[12])
{
    const abut_codim_ask ask = ask_at(a, e, z);
    memset(f, 0, 12 * sizeof *f);
    abut_codim_elements_gradient(&ask, kind_of(a, e), e, e + 1, f);
}

/* Longest edge at z: the unit of STILL and NEAR. */
static double edge_of(const double *z, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(z[3 + i] - z[i % 3]));
    return most;
}

/* The function that z minimises; +inf if it has no value.  *noise: its rounding error.  Strains have a rounding error of one
 * epsilon, so E = K l^2 strain^2 has an error of epsilon sqrt(E K l^2). */
static double value_at(const abut_codim_apart *a, size_t e, const double y[12], const double *z, double *noise)
{
    const abut_codim_ask ask = ask_at(a, e, z);
    const double E = a->scale * abut_codim_elements_energy(&ask, kind_of(a, e), e, e + 1);
    double d[12], f[12], far = 0;
    for (int i = 0; i < 12; i++) d[i] = z[12 * e + (size_t)i] - y[i];
    abut_codim_apart_force(a, e, d, f);
    for (int i = 0; i < 12; i++) far += 0.5 * d[i] * f[i];
    const double stiff = a->K[ABUT_CODIM_PAIRS * e] * pow(edge_of(z + 12 * e, 3 * corners_of(a, e) - 3), 2);
    *noise = 8 * DBL_EPSILON * (E + far + sqrt((E + far) * stiff));
    return isfinite(E + far) ? E + far : INFINITY;
}

/* The Hessian of it over the corners from 1 on, n unknowns. */
static void hessian_at(const abut_codim_apart *a, size_t e, const double *z, int n, double *A)
{
    double H[PACKED] = { 0 };
    const abut_codim_ask ask = ask_at(a, e, z);
    abut_codim_elements_hessian(&ask, kind_of(a, e), e, e + 1, H);
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            const size_t block = abut_packed_block(4, i / 3 + 1, j / 3 + 1);
            A[n * i + j] = A[n * j + i] = H[9 * block + (size_t)(3 * (i % 3) + j % 3)]
                                          + (i % 3 == j % 3 ? a->K[ABUT_CODIM_PAIRS * e + block] : 0);
        }
}

/* x = A^-1 b by Cholesky's factor, A overwritten; 0: A is not positive definite. */
static int solve(int n, double *A, const double *b, double *x)
{
    for (int i = 0; i < n; i++) {
        double sum = b[i];
        for (int j = 0; j <= i; j++) {
            double h = A[n * i + j];
            for (int k = 0; k < j; k++) h -= A[n * i + k] * A[n * j + k];
            if (i == j && !(h > 0)) return 0;
            A[n * i + j] = i == j ? sqrt(h) : h / A[n * j + j];
            if (j < i) sum -= A[n * i + j] * x[j];
        }
        x[i] = sum / A[n * i + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) x[i] -= A[n * j + i] * x[j];
        x[i] /= A[n * i + i];
    }
    return 1;
}

void abut_codim_apart_balance(const abut_codim_apart *a, size_t e, const double *z, double d[12])
{
    const int n = 3 * (corners_of(a, e) - 1);
    double f[12], A[UNKNOWNS * UNKNOWNS];
    gradient_at(a, e, z, f);
    memset(d, 0, 12 * sizeof *d);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const int p = i / 3 + 1, q = j / 3 + 1;
            const size_t block = abut_packed_block(4, p < q ? p : q, p < q ? q : p);
            A[n * i + j] = i % 3 == j % 3 ? a->K[ABUT_CODIM_PAIRS * e + block] : 0;
        }
    if (!solve(n, A, f + 3, d + 3)) memset(d, 0, 12 * sizeof *d);     /* no stiffness: nothing to balance */
}

/* ---- the nearest ---- */

/* dx = -A^-1 g, *slope g.dx and *most the largest entry; 0: there is none. */
static int newton_step(const abut_codim_apart *a, size_t e, const double y[12], const double *z, int n, double *dx,
                       double *slope, double *most)
{
    double A[UNKNOWNS * UNKNOWNS], d[12], f[12], g[12];
    for (int i = 0; i < 12; i++) d[i] = z[12 * e + (size_t)i] - y[i];
    gradient_at(a, e, z, g);
    abut_codim_apart_force(a, e, d, f);
    for (int i = 0; i < n; i++) g[i] = -g[i + 3] - f[i + 3];
    hessian_at(a, e, z, n, A);
    if (!solve(n, A, g, dx)) return 0;
    *slope = *most = 0;
    for (int i = 0; i < n; i++) *slope -= g[i] * dx[i], *most = fmax(*most, fabs(dx[i]));
    return isfinite(*most);
}

/* Along dx as far as the function falls; 0: it does not. */
static int go_down(const abut_codim_apart *a, size_t e, const double y[12], int n, const double *dx, double slope, double *here,
                   double *z)
{
    double *at = z + 12 * e, from[12], noise, there;
    memcpy(from, at, sizeof from);
    for (double alpha = 1; alpha > 0x1p-40; alpha /= 2) {
        for (int i = 0; i < n; i++) at[3 + i] = from[3 + i] + alpha * dx[i];
        there = value_at(a, e, y, z, &noise);
        if (there <= *here + 1e-4 * alpha * slope + noise) return *here = there, 1;
    }
    memcpy(at, from, sizeof from);
    return 0;
}

int abut_codim_apart_nearest(const abut_codim_apart *a, size_t e, const double y[12], double *z)
{
    const int n = 3 * (corners_of(a, e) - 1);
    double *at = z + 12 * e, dx[UNKNOWNS], noise, slope, most, last = INFINITY, shift[3];
    assert(e < a->t.n);
    if (!(a->K[ABUT_CODIM_PAIRS * e] > 0)) return memcpy(at, y, 12 * sizeof *at), 1;     /* no stiffness */
    for (int i = 0; i < 3; i++) shift[i] = y[i] - at[i];
    for (int i = 0; i < n + 3; i++) at[i] += shift[i % 3];
    double here = value_at(a, e, y, z, &noise);
    for (int k = 0; k < ITERATIONS; k++) {
        if (!newton_step(a, e, y, z, n, dx, &slope, &most)) return 0;
        const double edge = edge_of(at, n);
        if (most > NEAR * edge) {
            if (!go_down(a, e, y, n, dx, slope, &here, z)) return 0;
            last = INFINITY;
            continue;
        }
        /* below rounding of the function, stop when steps no longer shrink */
        if (most <= STILL * edge || !(most < SLOWER * last)) return 1;
        for (int i = 0; i < n; i++) at[3 + i] += dx[i];
        here = value_at(a, e, y, z, &noise);
        last = most;
    }
    return 0;
}

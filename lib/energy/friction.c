#include "energy/friction.h"

#include "base/par.h"
#include "linalg/bsr.h"
#include "linalg/lanes.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* A model may lie below its law by this part of f0 at the stiction threshold: small kinks are best left to the exact one. */
#define KINK 0.1

double abut_friction_f0(int smoothing, double y, double w, double *f1_over_y, double *f2)
{
    if (y >= w) {
        if (f1_over_y) *f1_over_y = 1 / y;
        if (f2) *f2 = 0;
        return y;
    }
    const double q = y / w;
    double a, b, c;     /* f0 / w, w f1 / y, w f1' */
    switch (smoothing) {
    case ABUT_C0: a = 0.5 * (q * q + 1), b = 1, c = 1; break;
    case ABUT_C2: a = q * q * (1.5 - q * (1 - q / 4)) + 0.25, b = 3 - q * (3 - q), c = 3 * (1 - q) * (1 - q); break;
    default: a = q * q * (1 - q / 3) + 1.0 / 3.0, b = 2 - q, c = 2 * (1 - q);
    }
    if (f1_over_y) *f1_over_y = b / w;
    if (f2) *f2 = c / w;
    return w * a;
}

/* coordinates of the relative motion x - xn (xn NULL: of the motion x itself) in the frozen plane */
static inline void slide(const abut_lag *lag, size_t i, const double *x, const double *xn, double u[2])
{
    double r[3] = { 0, 0, 0 };
    for (int c = 0; c < 4 && lag->node[i][c] >= 0; c++) {
        const size_t at = 3 * (size_t)lag->node[i][c];
        for (size_t d = 0; d < 3; d++) r[d] += lag->weight[i][c] * (x[at + d] - (xn ? xn[at + d] : 0));
    }
    const double *P = lag->basis[i];
    u[0] = P[0] * r[0] + P[1] * r[1] + P[2] * r[2];
    u[1] = P[3] * r[0] + P[4] * r[1] + P[5] * r[2];
}

double abut_friction_slid(const abut_lag *lag, size_t i, const double *x, const double *xn)
{
    double u[2];
    slide(lag, i, x, xn, u);
    return sqrt(u[0] * u[0] + u[1] * u[1]);
}

abut_status abut_friction_energy(const abut_lag *lag, const abut_stiction *law, const double *x, const double *xn, double *energy,
                                 abut_arena *scratch, abut_err *err)
{
    const double w = law->eps_v * law->h;
    const size_t nb = abut_blocks(lag->n);
    const abut_mark mark = abut_arena_mark(scratch);
    double *part = ABUT_NEW(scratch, double, nb);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "friction: %zu partial sums", nb);

    #pragma omp parallel for schedule(static) if (nb > 2)
    for (size_t b = 0; b < nb; b++) {
        const abut_range r = abut_block(lag->n, b);
        double sum = 0;
        for (size_t i = r.lo; i < r.hi; i++) {
            double u[2];
            slide(lag, i, x, xn, u);
            sum += lag->mu[i] * lag->force[i] * abut_friction_f0(law->smoothing, sqrt(u[0] * u[0] + u[1] * u[1]), w, NULL, NULL);
        }
        part[b] = sum;
    }
    const double total = law->h * law->h * abut_sum(part, nb);
    abut_arena_release(scratch, mark);
    *energy = isfinite(total) ? total : INFINITY;
    return ABUT_OK;
}

abut_status abut_friction_gradient(const abut_lag *lag, const abut_stiction *law, int32_t nv, const double *x, const double *xn,
                                   double *g, abut_arena *scratch, abut_err *err)
{
    const double h = law->h, w = law->eps_v * h;
    const size_t n = lag->n;
    const abut_mark mark = abut_arena_mark(scratch);
    double *pull = ABUT_NEW(scratch, double, 3 * n);
    if (!pull) return abut_fail(err, ABUT_E_NOMEM, "friction: forces of %zu contacts", n);

    #pragma omp parallel for schedule(static) if (n >= ABUT_PAR_MIN)
    for (size_t i = 0; i < n; i++) {
        double u[2], f1_over_y;
        slide(lag, i, x, xn, u);
        (void)abut_friction_f0(law->smoothing, sqrt(u[0] * u[0] + u[1] * u[1]), w, &f1_over_y, NULL);
        const double f = lag->mu[i] * lag->force[i] * h * h * f1_over_y;
        for (size_t d = 0; d < 3; d++) pull[3 * i + d] = f * (lag->basis[i][d] * u[0] + lag->basis[i][3 + d] * u[1]);
    }
    /* one thread adds them up, in their order */
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 4 && lag->node[i][c] >= 0; c++) {
            assert(lag->node[i][c] < nv);
            for (size_t d = 0; d < 3; d++) g[3 * (size_t)lag->node[i][c] + d] += lag->weight[i][c] * pull[3 * i + d];
        }
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

/* K = P (f0'' uhat uhat^T + f0'/y vhat vhat^T) P^T with vhat normal to uhat, or f0'/y for both: sums of squares, so rounding
 * cannot make it indefinite */
static void sliding_stiffness(const double P[6], const double u[2], int smoothing, double w, int above, double K[9])
{
    double f1_over_y, f2, along[3], across[3];
    const double y = sqrt(u[0] * u[0] + u[1] * u[1]), c = y > 0 ? u[0] / y : 1, s = y > 0 ? u[1] / y : 0;
    (void)abut_friction_f0(smoothing, y, w, &f1_over_y, &f2);
    if (above) f2 = f1_over_y;
    for (int d = 0; d < 3; d++) {
        along[d] = P[d] * c + P[3 + d] * s;
        across[d] = P[3 + d] * c - P[d] * s;
    }
    for (int i = 0; i < 9; i++) K[i] = f2 * (along[i / 3] * along[i % 3]) + f1_over_y * (across[i / 3] * across[i % 3]);
}

/* Where block (a, b) of a packed matrix begins, a <= b. */
static inline size_t packed_block(size_t a, size_t b) { return 9 * (a * (7 - a) / 2 + b); }

/* contacts r: f w_a w_b K in the blocks of the corners that are used */
ABUT_LANES_CLONES
static void hessian_block(const abut_lag *lag, const abut_stiction *law, const double *x, const double *xn, const uint8_t *above,
                          abut_range r, double *H)
{
    const double h = law->h, w = law->eps_v * h;
    for (size_t i = r.lo; i < r.hi; i++) {
        double u[2], K[9], *to = H + ABUT_PACKED * i;
        const double *weight = lag->weight[i];
        size_t n = 4;
        while (n > 1 && lag->node[i][n - 1] < 0) n--;
        slide(lag, i, x, xn, u);
        sliding_stiffness(lag->basis[i], u, law->smoothing, w, above && above[i], K);
        const double f = lag->mu[i] * lag->force[i] * h * h;
        for (size_t a = 0; a < n; a++)
            for (size_t b = a; b < n; b++) {
                const double ww = f * (weight[a] * weight[b]);
                double *restrict block = to + packed_block(a, b);
                for (int k = 0; k < 9; k++) block[k] = ww * K[k];
            }
    }
}

void abut_friction_hessian(const abut_lag *lag, const abut_stiction *law, const double *x, const double *xn, const uint8_t *above,
                           int32_t *node, double *H)
{
    const size_t nb = abut_blocks(lag->n);
    if (lag->n) memcpy(node, lag->node, lag->n * sizeof *lag->node);
    #pragma omp parallel for schedule(static) if (nb > 2)
    for (size_t b = 0; b < nb; b++) hessian_block(lag, law, x, xn, above, abut_block(lag->n, b), H);
}

/* f0(|u|) + grad . v + 1/2 v^T H v, the model at u of f0(|u + v|) */
static double second_order(int smoothing, double w, const double u[2], const double v[2])
{
    double f1_over_y, f2;
    const double y = sqrt(u[0] * u[0] + u[1] * u[1]), c = y > 0 ? u[0] / y : 1, s = y > 0 ? u[1] / y : 0;
    const double along = c * v[0] + s * v[1], across = c * v[1] - s * v[0];
    const double f0 = abut_friction_f0(smoothing, y, w, &f1_over_y, &f2);
    return f0 + f1_over_y * y * along + 0.5 * (f2 * along * along + f1_over_y * across * across);
}

void abut_friction_kinks(const abut_lag *lag, const abut_stiction *law, const double *x, const double *xn, const double *p,
                         uint8_t *above)
{
    const double w = law->eps_v * law->h;
    #pragma omp parallel for schedule(static) if (lag->n >= ABUT_PAR_MIN)
    for (size_t i = 0; i < lag->n; i++) {
        double u[2], v[2];
        slide(lag, i, x, xn, u);
        slide(lag, i, p, NULL, v);
        const double model = second_order(law->smoothing, w, u, v), a = u[0] + v[0], b = u[1] + v[1], y = sqrt(a * a + b * b);
        above[i] = abut_friction_f0(law->smoothing, y, w, NULL, NULL) > model + KINK * w;
    }
}

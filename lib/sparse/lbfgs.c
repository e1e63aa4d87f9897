#include "sparse/lbfgs.h"

#include "base/arena.h"
#include "sparse/pcg.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define CURVED 1e-12    /* least y . s over |y| |s| of a pair */

abut_status abut_lbfgs_size(abut_lbfgs *l, size_t size, int most, abut_err *err)
{
    if (most < 0) return abut_fail(err, ABUT_E_ARG, "L-BFGS: %d pairs, want 0 or more", most);
    const size_t need = size * (size_t)most;
    if (need > l->cap || most != l->most) {
        abut_lbfgs_clear(l);
        l->s = malloc((need + 1) * sizeof *l->s);
        l->y = malloc((need + 1) * sizeof *l->y);
        l->ys = malloc(((size_t)most + 1) * 2 * sizeof *l->ys);     /* with the coefficients of an application */
        l->part = malloc((abut_blocks(size) + 1) * sizeof *l->part);
        if (!l->s || !l->y || !l->ys || !l->part) {
            abut_lbfgs_clear(l);
            return abut_fail(err, ABUT_E_NOMEM, "L-BFGS: %d pairs of %zu numbers", most, size);
        }
        l->cap = need;
    }
    l->size = size;
    l->most = most;
    abut_lbfgs_forget(l);
    return ABUT_OK;
}

void abut_lbfgs_clear(abut_lbfgs *l)
{
    ABUT_FREE(l->s, l->y, l->ys, l->part);
    *l = (abut_lbfgs){ 0 };
}

void abut_lbfgs_forget(abut_lbfgs *l)
{
    l->n = 0;
    l->newest = -1;
}

static void subtract(const double *a, const double *b, double *c, size_t n)
{
    #pragma omp parallel for schedule(static) if (n >= 8 * ABUT_PAR_MIN)
    for (size_t i = 0; i < n; i++) c[i] = a[i] - b[i];
}

int abut_lbfgs_push(abut_lbfgs *l, const double *x0, const double *x1, const double *g0, const double *g1)
{
    const size_t n = l->size;
    if (!l->most) return 0;
    const int at = (l->newest + 1) % l->most;
    double *s = l->s + (size_t)at * n, *y = l->y + (size_t)at * n;
    /* overwrites the oldest pair of a full history, which is lost even if the new pair is refused */
    subtract(x1, x0, s, n);
    subtract(g1, g0, y, n);
    const double ys = abut_dot(y, s, n, l->part), yy = abut_dot(y, y, n, l->part), ss = abut_dot(s, s, n, l->part);
    if (!(ys > CURVED * sqrt(yy * ss))) {
        if (l->n == l->most) l->n--;
        return 0;
    }
    l->ys[at] = ys;
    l->newest = at;
    if (l->n < l->most) l->n++;
    return 1;
}

static void axpy(size_t n, double a, const double *x, double *y)
{
    #pragma omp parallel for schedule(static) if (n >= 8 * ABUT_PAR_MIN)
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

abut_status abut_lbfgs_apply(const abut_lbfgs *l, const abut_precond *D, double *q, double *r, abut_err *err)
{
    assert(l);
    const size_t n = l->size;
    double *coef = l->ys + l->most;
    for (int k = 0; k < l->n; k++) {                    /* newest to oldest */
        const int a = (l->newest - k + l->most) % l->most;
        coef[a] = abut_dot(l->s + (size_t)a * n, q, n, l->part) / l->ys[a];
        axpy(n, -coef[a], l->y + (size_t)a * n, q);
    }
    const abut_status rc = D->apply(D->of, q, r, err);
    if (rc) return rc;
    for (int k = l->n - 1; k >= 0; k--) {               /* and back */
        const int a = (l->newest - k + l->most) % l->most;
        axpy(n, coef[a] - abut_dot(l->y + (size_t)a * n, r, n, l->part) / l->ys[a], l->s + (size_t)a * n, r);
    }
    return ABUT_OK;
}

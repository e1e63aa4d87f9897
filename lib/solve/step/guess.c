/* First iterate of a step (--guess): one of the six points of the public code of Li 2020, whose scenes use the first.  Each is a
 * guess of the end of the step, given by velocities of the nodes. */
#include "solve/direction/matrix.h"
#include "solve/search/search_ops.h"
#include "solve/step/step_parts.h"

#include "math/mat3.h"

#include <string.h>

/* One iteration of Jacobi's method on 3x3 blocks, from the start: v = -D^-1 g / h. */
static abut_status jacobi(abut_search *s, double *v, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->prob;
    abut_newton_matrix H = { 0 };
    abut_ordering order = { 0 };
    abut_status rc = s->ops->points.evaluate(s, &s->here, ABUT_HAS_GRADIENT, rep, err);
    if (!rc) rc = abut_newton_matrix_init(&H, p, ABUT_WITHOUT_MAJORANT, err);
    if (!rc) rc = abut_ordering_init(&order, p->model->nv, NULL, err);
    if (!rc) rc = abut_newton_matrix_sum(&H, &order, p, &s->here, rep, err);
    memset(v, 0, 3 * (size_t)p->model->nv * sizeof *v);
    for (int32_t i = 0; i < p->model->nv && !rc; i++) {
        const int32_t row = p->row[i];
        double inverse[9];
        if (row < 0) continue;
        if (!(abut_m3_inverse(inverse, H.A.val + 9 * H.A.ptr[row]) > 0))
            rc = abut_fail(err, ABUT_E_NUMERIC, "guess: the diagonal block of node %d is not positive definite", i);
        for (int k = 0; k < 9 && !rc; k++) v[3 * i + k / 3] -= inverse[k] * s->here.g[3 * i + k % 3] / p->model->h[0];
    }
    abut_ordering_clear(&order);
    abut_newton_matrix_clear(&H);
    return rc;
}

abut_status abut_step_guess(abut_stepper *s, double *v, int *none, abut_report *rep, abut_err *err)
{
    abut_search *so = &s->solver;
    const abut_objective *p = &so->prob;
    const double h = p->model->h[0];
    const int32_t n3 = 3 * p->model->nv;
    abut_status rc = ABUT_OK;
    *none = 0;
    switch (so->opt.line.guess) {
    case ABUT_GUESS_COAST: memcpy(v, s->v, (size_t)n3 * sizeof *v); return ABUT_OK;
    case ABUT_GUESS_JACOBI: return jacobi(so, v, rep, err);
    case ABUT_GUESS_START: *none = 1; return ABUT_OK;
    }
    if (!p->w.inertia) return *none = 1, ABUT_OK;
    if (so->opt.line.guess == ABUT_GUESS_INERTIA) {
        for (int32_t i = 0; i < n3; i++) v[i] = (p->xhat[i] - p->xn[i]) / h;
        return ABUT_OK;
    }
    const double part = so->opt.line.guess == ABUT_GUESS_SYMPLECTIC ? h : h / 2;
    rc = abut_step_free_acceleration(s, p->xn, s->v, s->acc, v, err);
    for (int32_t i = 0; i < n3 && !rc; i++) v[i] = s->v[i] + part * v[i];
    return rc;
}

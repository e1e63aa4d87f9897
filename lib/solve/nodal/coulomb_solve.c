#include "solve/nodal/coulomb_solve.h"

#include "base/par.h"
#include "base/timer.h"
#include "solve/nodal/coulomb_inline.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

abut_status abut_coulomb_state_init(abut_coulomb_state *s, int32_t nodes, abut_err *err)
{
    *s = (abut_coulomb_state){ .nodes = nodes, .delta = NAN, .delta_2 = NAN };
    double **field[] = { &s->v, &s->p, &s->lambda, &s->v_old, &s->rhs, &s->p_hat, &s->lambda_hat, &s->next };
    for (int i = 0; i < 8; i++) {
        *field[i] = calloc(3 * (size_t)nodes + 1, sizeof(double));
        if (*field[i]) continue;
        abut_coulomb_state_clear(s);
        return abut_fail(err, ABUT_E_NOMEM, "contacts of %d nodes", nodes);
    }
    return ABUT_OK;
}

void abut_coulomb_state_clear(abut_coulomb_state *s)
{
    double *field[] = { s->v, s->p, s->lambda, s->v_old, s->rhs, s->p_hat, s->lambda_hat, s->next };
    for (int i = 0; i < 8; i++) free(field[i]);
    abut_projection_clear(&s->projection);
    *s = (abut_coulomb_state){ 0 };
}

void abut_coulomb_begin(abut_coulomb_state *s)
{
    const size_t bytes = 3 * (size_t)s->nodes * sizeof(double);
    memcpy(s->p, s->v, bytes);
    memcpy(s->p_hat, s->v, bytes);
    memcpy(s->lambda_hat, s->lambda, bytes);
    s->delta = s->delta_2 = NAN;
    s->smallest_delta = INFINITY;
    s->theta = 1;
    s->iterations = 0;
}

/* h (|v - v_old| + |v - p|): its largest entries and root mean squares. */
static void measure(abut_coulomb_state *s, const abut_coulomb_system *y, const double *p)
{
    double most[2] = { 0, 0 };
    abut_acc sum[2] = { { 0, 0 }, { 0, 0 } };
    size_t n = 0;
    for (int32_t i = 0; i < s->nodes; i++) {
        n += 3;
        for (size_t d = 3 * (size_t)i; d < 3 * (size_t)i + 3; d++) {
            const double e[2] = { fabs(s->v[d] - s->v_old[d]), fabs(s->v[d] - p[d]) };
            for (int k = 0; k < 2; k++) {
                most[k] = e[k] > most[k] || isnan(e[k]) ? e[k] : most[k];
                abut_acc_add(&sum[k], e[k] * e[k]);
            }
        }
    }
    s->delta = y->h * (most[0] + most[1]);
    s->delta_2 = n ? y->h * (sqrt((sum[0].hi + sum[0].lo) / (double)n) + sqrt((sum[1].hi + sum[1].lo) / (double)n)) : 0;
}

/* p_hat and lambda_hat for the next iteration, from p and lambda of this one (next, rhs) and of the one before. */
static void extrapolate(abut_coulomb_state *s, const double *p, const double *lambda)
{
    const int restart = s->delta > s->smallest_delta;
    const double theta = restart ? 1 : (1 + sqrt(1 + 4 * s->theta * s->theta)) / 2, share = restart ? 0 : (s->theta - 1) / theta;
    for (size_t i = 0; i < 3 * (size_t)s->nodes; i++) {
        s->p_hat[i] = p[i] + share * (p[i] - s->p[i]);
        s->lambda_hat[i] = lambda[i] + share * (lambda[i] - s->lambda[i]);
    }
    s->theta = theta;
    s->smallest_delta = s->delta;
}

static abut_status one_iteration(abut_coulomb_state *s, const abut_coulomb_system *y, abut_touching *t,
                                 const abut_coulomb_options *o, abut_err *err)
{
    const size_t n3 = 3 * (size_t)s->nodes;
    const double *p = o->accelerated ? s->p_hat : s->p, *lambda = o->accelerated ? s->lambda_hat : s->lambda;
    const double asleep = s->iterations && o->freeze > 0 ? o->freeze * s->delta / y->h : 0;
    double clock = abut_time_wall();
    s->iterations++;
    memcpy(s->v_old, s->v, n3 * sizeof *s->v);
    #pragma omp parallel for schedule(static) if (n3 >= ABUT_PAR_MIN)
    for (size_t i = 0; i < n3; i++) s->rhs[i] = y->f[i] + y->w[i / 3] * (p[i] + lambda[i]);
    abut_status rc = y->solve(y->ctx, s->rhs, s->v, err);
    s->solve_seconds += abut_time_lap(&clock);
    if (!rc && y->append && o->refresh && s->iterations % o->refresh == 0) {
        rc = y->append(y->ctx, s->v, s->iterations, t, err);
        if (!rc) rc = abut_touching_settle(t, y->inv_w, err);
        s->append_seconds += abut_time_lap(&clock);
    }
    if (rc) return rc;
    #pragma omp parallel for schedule(static) if (n3 >= ABUT_PAR_MIN)
    for (size_t i = 0; i < n3; i++) s->next[i] = s->v[i] - lambda[i];
    const abut_project_options po = { .sweeps = o->sweeps, .asleep = asleep };
    rc = abut_project(&s->projection, t, y->inv_w, s->next, &po, s->next, err);
    if (rc) return rc;
    #pragma omp parallel for schedule(static) if (n3 >= ABUT_PAR_MIN)
    for (size_t i = 0; i < n3; i++) {
        s->next[i] = y->w[i / 3] > 0 ? s->next[i] : s->v[i];
        s->rhs[i] = y->w[i / 3] > 0 ? lambda[i] + s->next[i] - s->v[i] : 0;
    }
    measure(s, y, s->next);
    if (o->accelerated) extrapolate(s, s->next, s->rhs);
    memcpy(s->p, s->next, n3 * sizeof *s->p);
    memcpy(s->lambda, s->rhs, n3 * sizeof *s->lambda);
    s->project_seconds += abut_time_lap(&clock);
    return ABUT_OK;
}

abut_status abut_coulomb_iterate(abut_coulomb_state *s, const abut_coulomb_system *y, abut_touching *t,
                                 const abut_coulomb_options *o, abut_err *err)
{
    assert(s->nodes == y->nodes && t->nodes == y->nodes);
    abut_status rc = ABUT_OK;
    for (int k = 0; k < o->iterations && !rc; k++) {
        rc = one_iteration(s, y, t, o, err);
        if (!rc && !isfinite(s->delta))
            rc = abut_fail(err, ABUT_E_NUMERIC, "iteration %d of the contacts: a velocity is not finite", s->iterations);
        if (!rc && s->delta < o->tolerance) break;
    }
    return rc;
}

abut_coulomb_quality abut_coulomb_quality_at(const abut_touching *t, const double *p)
{
    abut_coulomb_quality q = { 0 };
    abut_acc friction = { 0, 0 }, normal = { 0, 0 };
    for (size_t c = 0; c < t->n; c++) {
        const double *n = t->normal + 3 * c, *rbar = t->rbar + 3 * c;
        double u[3], r[3], uN = 0, rN = 0, dot = 0, most = 0;
        abut_touching_velocity(t, c, p, u);
        abut_touching_impulse(t, c, r);
        for (int d = 0; d < 3; d++) {
            u[d] += t->give[c] * r[d];
            uN += u[d] * n[d];
            rN += rbar[d] * n[d];
        }
        for (int d = 0; d < 3; d++) {
            const double uT = u[d] - uN * n[d], rT = rbar[d] - rN * n[d];
            dot += uT * rT;
            most += rT * rT;
        }
        const double res = abut_coulomb_residual(u, rbar, n, t->mu[c]);
        q.penetration = fmax(q.penetration, -uN);
        q.residual = fmax(q.residual, res);
        if (!(rN > 0)) q.open++;
        else if (sqrt(most) < t->mu[c] * rN * (1 - 1e-9)) q.stick++;
        else q.slide++;
        abut_acc_add(&friction, dot / t->s[c]);
        abut_acc_add(&normal, uN * rN / t->s[c]);
    }
    q.friction_work = friction.hi + friction.lo;
    q.normal_work = normal.hi + normal.lo;
    return q;
}

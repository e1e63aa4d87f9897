#include "solve/nodal/coulomb_solve.h"

#include "base/par.h"
#include "base/timer.h"
#include "solve/nodal/coulomb_inline.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 8 };
static void fields_of(abut_coulomb_state *s, double **field[FIELDS])
{
    double **const all[FIELDS] = { &s->v, &s->p, &s->lambda, &s->v_old, &s->rhs, &s->p_hat, &s->lambda_hat, &s->next };
    memcpy(field, all, sizeof all);
}

abut_status abut_coulomb_state_init(abut_coulomb_state *s, int32_t nodes, abut_err *err)
{
    double **field[FIELDS];
    *s = (abut_coulomb_state){ .nodes = nodes, .delta = NAN, .delta_2 = NAN };
    fields_of(s, field);
    int ok = (s->moved = malloc(((size_t)nodes + 1) * sizeof *s->moved)) != NULL;
    for (int i = 0; i < FIELDS; i++) ok &= (*field[i] = calloc(3 * (size_t)nodes + 1, sizeof(double))) != NULL;
    if (ok) return ABUT_OK;
    abut_coulomb_state_clear(s);
    return abut_fail(err, ABUT_E_NOMEM, "contacts of %d nodes", nodes);
}

void abut_coulomb_state_clear(abut_coulomb_state *s)
{
    double **field[FIELDS];
    fields_of(s, field);
    for (int i = 0; i < FIELDS; i++) free(*field[i]);
    free(s->moved);
    abut_projection_clear(&s->projection);
    *s = (abut_coulomb_state){ 0 };
}

void abut_coulomb_begin(abut_coulomb_state *s)
{
    const size_t bytes = 3 * (size_t)s->nodes * sizeof(double);
    memcpy(s->p, s->v, bytes);
    memcpy(s->p_hat, s->v, bytes);
    memcpy(s->v_old, s->v, bytes);
    memcpy(s->lambda_hat, s->lambda, bytes);
    s->delta = s->delta_2 = NAN;
    s->left = 0;
    s->smallest_delta = INFINITY;
    s->theta = 1;
    s->iterations = 0;
}

/* The nodes with weights. */
static void list_moved(abut_coulomb_state *s, const abut_coulomb_system *y)
{
    int32_t n = 0;
    for (int32_t i = 0; i < s->nodes; i++)
        if (y->w[i] > 0) s->moved[n++] = i;
    s->n_moved = n;
}

/* Difference of two fields of velocities. */
typedef struct difference {
    double most, sum;       /* the largest of one coordinate, NAN where one is not finite; the sum of squares */
} difference;

/* At the nodes list[n], NULL: 0 .. n-1; by blocks, in each of which every coordinate has its sum. */
static abut_status measure(const double *a, const double *b, const int32_t *list, int32_t n, difference *d, abut_err *err)
{
    const size_t blocks = abut_blocks((size_t)n);
    double *part = malloc((2 * blocks + 1) * sizeof *part);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "%zu blocks of velocities", blocks);
    #pragma omp parallel for schedule(static) if ((size_t)n >= 8 * ABUT_PAR_MIN)
    for (size_t k = 0; k < blocks; k++) {
        const abut_range r = abut_block((size_t)n, k);
        double top[3] = { 0 }, squares[3] = { 0 };
        for (size_t j = r.lo; j < r.hi; j++) {
            const size_t at = 3 * (list ? (size_t)list[j] : j);
            for (size_t c = 0; c < 3; c++) {
                const double e = fabs(a[at + c] - b[at + c]);
                top[c] = e > top[c] ? e : top[c];
                squares[c] += e * e;
            }
        }
        const double sum = squares[0] + squares[1] + squares[2];
        part[k] = isfinite(sum) ? fmax(top[0], fmax(top[1], top[2])) : NAN;
        part[blocks + k] = sum;
    }
    d->most = 0;
    for (size_t k = 0; k < blocks; k++) d->most = part[k] > d->most || isnan(part[k]) ? part[k] : d->most;
    d->sum = abut_sum(part + blocks, blocks);
    free(part);
    return ABUT_OK;
}

/* The change of v since the last iteration, of nodes that sleep in the first iterations alone. */
static abut_status measure_change(const abut_coulomb_state *s, const abut_coulomb_system *y, difference *change, abut_err *err)
{
    const abut_node_list *awake = s->iterations > ABUT_COULOMB_ALL ? y->awake : NULL;
    return measure(s->v, s->v_old, awake ? awake->node : NULL, awake ? awake->n : s->nodes, change, err);
}

/* delta and delta_2, where s->next is the new p. */
static abut_status measure_step(abut_coulomb_state *s, const abut_coulomb_system *y, abut_err *err)
{
    const double n3 = fmax(1, 3. * s->nodes);
    difference change, off;
    abut_status rc = measure_change(s, y, &change, err);
    if (!rc) rc = measure(s->v, s->next, s->moved, s->n_moved, &off, err);
    if (rc) return rc;
    s->delta = y->h * (change.most + off.most) + s->left;
    s->delta_2 = y->h * (sqrt(change.sum / n3) + sqrt(off.sum / n3));
    return ABUT_OK;
}

/* p and lambda after an iteration, from s->next, the new p. */
static void take_over(abut_coulomb_state *s)
{
    #pragma omp parallel for schedule(static) if ((size_t)s->n_moved >= 8 * ABUT_PAR_MIN)
    for (int32_t k = 0; k < s->n_moved; k++)
        for (size_t i = 3 * (size_t)s->moved[k], end = i + 3; i < end; i++) {
            s->lambda[i] = s->lambda[i] + s->next[i] - s->v[i];
            s->p[i] = s->next[i];
        }
}

/* The same of an iteration from p_hat and lambda_hat, and these for the next one. */
static void extrapolate(abut_coulomb_state *s)
{
    const int restart = s->delta > s->smallest_delta;
    const double theta = restart ? 1 : (1 + sqrt(1 + 4 * s->theta * s->theta)) / 2, part = restart ? 0 : (s->theta - 1) / theta;
    for (int32_t k = 0; k < s->n_moved; k++)
        for (size_t i = 3 * (size_t)s->moved[k], end = i + 3; i < end; i++) {
            const double p = s->next[i], lambda = s->lambda_hat[i] + p - s->v[i];
            s->p_hat[i] = p + part * (p - s->p[i]);
            s->lambda_hat[i] = lambda + part * (lambda - s->lambda[i]);
            s->p[i] = p;
            s->lambda[i] = lambda;
        }
    s->theta = theta;
    s->smallest_delta = s->delta;
}

/* v: the dynamics, with p and lambda. */
static abut_status solve(abut_coulomb_state *s, const abut_coulomb_system *y, const double *p, const double *lambda,
                         abut_err *err)
{
    double *const last = s->v;
    #pragma omp parallel for schedule(static) if ((size_t)s->n_moved >= 8 * ABUT_PAR_MIN)
    for (int32_t k = 0; k < s->n_moved; k++) {
        const size_t node = (size_t)s->moved[k];
        for (size_t i = 3 * node; i < 3 * node + 3; i++) s->rhs[i] = y->f[i] + y->w[node] * (p[i] + lambda[i]);
    }
    s->v = s->v_old;
    s->v_old = last;
    return y->solve(y->ctx, s->rhs, s->v, err);
}

/* f for where v leads. */
static abut_status split(abut_coulomb_state *s, const abut_coulomb_system *y, abut_err *err)
{
    const abut_status rc = y->local(y->ctx, s->v, &s->left, err);
    if (!rc) memcpy(s->rhs, y->f, 3 * (size_t)s->nodes * sizeof *s->rhs);
    return rc;
}

/* p where no contact has the node: v. */
static void complete(abut_coulomb_state *s, const abut_coulomb_system *y)
{
    for (int32_t i = 0; i < s->nodes; i++)
        if (!(y->w[i] > 0)) memcpy(s->p + 3 * (size_t)i, s->v + 3 * (size_t)i, 3 * sizeof *s->p);
}

/* Contacts that v meets, of nodes that may have had none: these begin at p = v. */
static abut_status append(abut_coulomb_state *s, const abut_coulomb_system *y, abut_touching *t, abut_err *err)
{
    complete(s, y);
    abut_status rc = y->append(y->ctx, s->v, s->iterations, t, err);
    if (!rc) rc = abut_touching_settle(t, y->inv_w, err);
    if (!rc) list_moved(s, y);
    return rc;
}

static abut_status one_iteration(abut_coulomb_state *s, const abut_coulomb_system *y, abut_touching *t,
                                 const abut_coulomb_options *o, abut_err *err)
{
    const double *p = o->accelerated ? s->p_hat : s->p, *lambda = o->accelerated ? s->lambda_hat : s->lambda;
    const double asleep = s->iterations && o->freeze > 0 ? o->freeze * s->delta / y->h : 0;
    double clock = abut_time_wall();
    s->iterations++;
    abut_status rc = y->local ? split(s, y, err) : ABUT_OK;
    s->seconds.local += abut_time_lap(&clock);
    if (!rc) rc = solve(s, y, p, lambda, err);
    s->seconds.solve += abut_time_lap(&clock);
    if (!rc && y->append && o->refresh && s->iterations % o->refresh == 0) {
        rc = append(s, y, t, err);
        s->seconds.append += abut_time_lap(&clock);
    }
    const abut_project_options po = { .sweeps = o->sweeps, .less = lambda, .moved = s->moved, .n_moved = s->n_moved,
                                      .asleep = asleep };
    if (!rc) rc = abut_project(&s->projection, t, y->inv_w, s->v, &po, s->next, err);
    if (!rc) rc = measure_step(s, y, err);
    if (rc) return rc;
    if (o->accelerated) extrapolate(s);
    else take_over(s);
    s->seconds.project += abut_time_lap(&clock);
    return ABUT_OK;
}

abut_status abut_coulomb_iterate(abut_coulomb_state *s, const abut_coulomb_system *y, abut_touching *t,
                                 const abut_coulomb_options *o, abut_err *err)
{
    assert(s->nodes == y->nodes && t->nodes == y->nodes);
    abut_status rc = ABUT_OK;
    memcpy(s->rhs, y->f, 3 * (size_t)s->nodes * sizeof *s->rhs);
    list_moved(s, y);
    for (int k = 0; k < o->iterations && !rc; k++) {
        rc = one_iteration(s, y, t, o, err);
        if (!rc && !isfinite(s->delta))
            rc = abut_fail(err, ABUT_E_NUMERIC, "iteration %d of the contacts: a velocity is not finite", s->iterations);
        if (!rc && s->delta < o->tolerance) break;
    }
    complete(s, y);
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

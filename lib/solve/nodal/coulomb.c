#include "solve/nodal/coulomb.h"

#include "base/arena.h"
#include "base/par.h"
#include "base/timer.h"
#include "math/lanes.h"
#include "math/mat3.h"
#include "solve/nodal/coulomb_inline.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- weights ---- */

double abut_smallest_eigenvalue3(const double A[9])
{
    const double mean = (A[0] + A[4] + A[8]) / 3, off = A[1] * A[1] + A[2] * A[2] + A[5] * A[5];
    const double d[3] = { A[0] - mean, A[4] - mean, A[8] - mean };
    const double p = sqrt((d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 2 * off) / 6);
    if (!(p > 0)) return mean;
    const double B[9] = { d[0] / p, A[1] / p, A[2] / p, A[3] / p, d[1] / p, A[5] / p, A[6] / p, A[7] / p, d[2] / p };
    const double half = fmax(-1, fmin(1, abut_m3_det(B) / 2));
    /* the largest is mean + 2 p cos(acos(half)/3), the smallest a third of a turn further */
    return mean + 2 * p * cos(acos(half) / 3 + 2 * 3.14159265358979323846 / 3);
}

double abut_nodal_weight(const double A[9], double mass, double body, double beta, double sigma)
{
    const double eta = fmax(abut_smallest_eigenvalue3(A), mass);    /* A has at least the masses; the rest is rounding */
    return fmin(body / 2, fmax(sigma * eta, fmin(beta * mass, eta)));
}

/* ---- the projection onto the law, and how far contacts are from it ---- */

/* Contacts that one thread takes at a time, of fewer one takes all; and in sets that pay for the waiting at each colour. */
enum { CHUNK = 64, LARGE = 8192 };

void abut_projection_clear(abut_projection *q)
{
    ABUT_FREE(q->block, q->asleep);
    *q = (abut_projection){ 0 };
}

static abut_status reserve(abut_projection *q, const abut_touching *t, abut_err *err)
{
    if (!q->block) {
        q->block = malloc(((size_t)t->nodes + 1) * 4 * sizeof(double) + 32);
        q->p = q->block ? (double *)(((uintptr_t)q->block + 31) / 32 * 32) : NULL;
    }
    if (q->cap < t->n || !q->asleep) {
        free(q->asleep);
        q->cap = t->n + t->n / 4 + 1;
        q->asleep = malloc(q->cap);
    }
    if (q->block && q->asleep) return ABUT_OK;
    abut_projection_clear(q);
    return abut_fail(err, ABUT_E_NOMEM, "projection of %d nodes and %zu contacts", t->nodes, t->n);
}

/* Changes p of the n nodes of contact c by an impulse of d / s on it. */
ABUT_LANES_INLINE void scatter(const abut_touching *t, double *p, size_t c, int n, const double d[3])
{
    const double inv_s = 1 / t->s[c];
    const abut_lanes change = { d[0] * inv_s, d[1] * inv_s, d[2] * inv_s, 0 };
    const int32_t *node = t->node + t->first[c];
    const double *b = t->b + t->first[c];
    for (int j = 0; j < n; j++) {
        abut_lanes *at = (abut_lanes *)(p + 4 * (size_t)node[j]);
        const double weight = b[j] * (*at)[3];
        *at += ABUT_LANES_ALL(weight) * change;
    }
}

/* One visit; returns |change of u|^2. */
ABUT_LANES_INLINE double visit(abut_touching *t, double *p, size_t c, int n)
{
    const int32_t *node = t->node + t->first[c];
    const double *b = t->b + t->first[c], *normal = t->normal + 3 * c, *k = t->k + 3 * c;
    double *rbar = t->rbar + 3 * c;
    abut_lanes sum = { k[0], k[1], k[2], 0 };
    for (int j = 0; j < n; j++) sum += ABUT_LANES_ALL(b[j]) * *(const abut_lanes *)(p + 4 * (size_t)node[j]);
    double u[3] = { sum[0], sum[1], sum[2] }, ustar[3], now[3], d[3];
    if (t->give[c] > 0)
        for (int i = 0; i < 3; i++) u[i] += t->give[c] * (rbar[i] / t->s[c] - t->cohesion[c] * normal[i]);
    for (int i = 0; i < 3; i++) ustar[i] = u[i] - rbar[i];
    (void)abut_coulomb_velocity(ustar, normal, t->mu[c], now);
    for (int i = 0; i < 3; i++) {
        d[i] = now[i] - u[i];
        rbar[i] = now[i] - ustar[i];
    }
    scatter(t, p, c, n, d);
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

/* Visits contacts [lo, hi), which have no node in common or belong to one thread; returns how many slept. */
ABUT_LANES_CLONES
static size_t sweep(abut_projection *q, abut_touching *t, size_t lo, size_t hi, double asleep2)
{
    size_t skipped = 0;
    for (size_t c = lo; c < hi; c++) {
        if (q->asleep[c]) {
            skipped++;
            continue;
        }
        const int n = t->first[c + 1] - t->first[c];
        const double d2 = n == 4 ? visit(t, q->p, c, 4) : n == 2 ? visit(t, q->p, c, 2) : visit(t, q->p, c, n);
        q->asleep[c] = d2 < asleep2;
    }
    return skipped;
}

/* The impulses that contacts have, on p. */
ABUT_LANES_CLONES
static size_t reapply(abut_projection *q, abut_touching *t, size_t lo, size_t hi, double unused)
{
    (void)unused;
    for (size_t c = lo; c < hi; c++) {
        double d[3];
        for (size_t i = 0; i < 3; i++) d[i] = t->rbar[3 * c + i] - t->s[c] * t->cohesion[c] * t->normal[3 * c + i];
        scatter(t, q->p, c, t->first[c + 1] - t->first[c], d);
    }
    return 0;
}

/* Runs `work` on the contacts, colour after colour; all threads of a team call it.  Returns the sum over the calls of this
 * thread. */
static size_t by_colours(abut_projection *q, abut_touching *t, double asleep2,
                         size_t (*work)(abut_projection *, abut_touching *, size_t, size_t, double))
{
    size_t sum = 0;
    for (int k = 0; k <= ABUT_TOUCH_COLOURS; k++) {
        const size_t lo = t->start[k], hi = t->start[k + 1], chunks = k < ABUT_TOUCH_COLOURS ? (hi - lo) / CHUNK : 0;
        if (lo == hi) continue;
        if (chunks < 2) {
            #pragma omp single
            sum += work(q, t, lo, hi, asleep2);
            continue;
        }
        #pragma omp for schedule(static)
        for (size_t b = 0; b < chunks; b++)
            sum += work(q, t, lo + b * CHUNK, b + 1 < chunks ? lo + (b + 1) * CHUNK : hi, asleep2);
    }
    return sum;
}

abut_status abut_project(abut_projection *q, abut_touching *t, const double *inv_w, const double *v,
                         const abut_project_options *o, double *p, abut_err *err)
{
    assert(t->n == t->settled);
    const abut_status rc = reserve(q, t, err);
    if (rc) return rc;
    const int32_t n = o->moved ? o->n_moved : t->nodes;
    const double asleep2 = o->asleep * o->asleep;
    size_t skipped = 0;
    memset(q->asleep, 0, t->n);
    #pragma omp parallel for schedule(static) if ((size_t)n >= 8 * ABUT_PAR_MIN)
    for (int32_t k = 0; k < n; k++) {
        const int32_t i = o->moved ? o->moved[k] : k;
        for (size_t d = 0, at = 3 * (size_t)i; d < 3; d++)
            q->p[4 * (size_t)i + d] = o->less ? v[at + d] - o->less[at + d] : v[at + d];
        q->p[4 * (size_t)i + 3] = inv_w[i];
    }
    #pragma omp parallel if (t->n >= LARGE)
    {
        size_t mine = 0;
        (void)by_colours(q, t, 0, reapply);
        for (int k = 0; k < o->sweeps; k++) mine += by_colours(q, t, asleep2, sweep);
        #pragma omp atomic
        skipped += mine;
    }
    #pragma omp parallel for schedule(static) if ((size_t)n >= 8 * ABUT_PAR_MIN)
    for (int32_t k = 0; k < n; k++) {
        const int32_t i = o->moved ? o->moved[k] : k;
        memcpy(p + 3 * (size_t)i, q->p + 4 * (size_t)i, 3 * sizeof *p);
    }
    q->skipped += skipped;
    q->visits += t->n * (size_t)o->sweeps - skipped;
    return ABUT_OK;
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

/* ---- the state ---- */

enum { FIELDS = 13, MIXED = FIELDS - 2 };   /* fields from MIXED on are those of all columns */
static void fields_of(abut_coulomb_state *s, double **field[FIELDS])
{
    double **const all[FIELDS] = { &s->v, &s->p, &s->lambda, &s->v_old, &s->rhs, &s->q, &s->next, &s->fit.pull, &s->fit.sum,
                                       &s->mix.q, &s->mix.f, &s->mix.dq, &s->mix.df };
    memcpy(field, all, sizeof all);
}

abut_status abut_coulomb_state_init(abut_coulomb_state *s, int32_t nodes, abut_err *err)
{
    double **field[FIELDS];
    *s = (abut_coulomb_state){ .nodes = nodes, .delta = NAN, .delta_2 = NAN, .unbalanced = NAN };
    fields_of(s, field);
    int ok = (s->moved.node = malloc(((size_t)nodes + 1) * sizeof *s->moved.node)) != NULL;
    for (int i = 0; i < FIELDS; i++)
        ok &= (*field[i] = calloc((i < MIXED ? 3 : 3 * ABUT_MIXED) * (size_t)nodes + 1, sizeof(double))) != NULL;
    if (ok) return ABUT_OK;
    abut_coulomb_state_clear(s);
    return abut_fail(err, ABUT_E_NOMEM, "contacts of %d nodes", nodes);
}

void abut_coulomb_state_clear(abut_coulomb_state *s)
{
    double **field[FIELDS];
    fields_of(s, field);
    for (int i = 0; i < FIELDS; i++) free(*field[i]);
    free(s->moved.node);
    abut_projection_clear(&s->projection);
    *s = (abut_coulomb_state){ 0 };
}

/* Drops the results of iterations with other contacts. */
static void forget(abut_coulomb_state *s)
{
    s->projected = s->mix.n = s->mix.next = 0;
    s->laws.times = 1;
    s->fit.changes = 0;
    s->unbalanced = NAN;
}

enum { SOONEST = 5, LATER = 2 };    /* changes until weights are compared first; times as many until they are again: late changes
                                     * are those of the slowest modes, and weights that follow them would never settle */

void abut_coulomb_begin(abut_coulomb_state *s)
{
    const size_t bytes = 3 * (size_t)s->nodes * sizeof(double);
    memcpy(s->p, s->v, bytes);
    memcpy(s->v_old, s->v, bytes);
    s->delta = s->delta_2 = NAN;
    s->left = 0;
    s->iterations = 0;
    s->fit.next = SOONEST;
    forget(s);
}

/* Lists the nodes with weights. */
static void list_moved(abut_coulomb_state *s, const abut_coulomb_system *y)
{
    int32_t n = 0;
    for (int32_t i = 0; i < s->nodes; i++)
        if (y->w[i] > 0) s->moved.node[n++] = i;
    s->moved.n = n;
}

/* Difference of two fields of velocities. */
typedef struct difference {
    double most, sum;       /* the largest of one coordinate, NAN where one is not finite; the sum of squares */
} difference;

/* Measures the difference at the nodes list[n], NULL: 0 .. n-1; by blocks, with a sum for each coordinate in each. */
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

/* Measures the change of v since the last iteration; sleeping nodes count in the first iterations alone. */
static abut_status measure_change(const abut_coulomb_state *s, const abut_coulomb_system *y, difference *change, abut_err *err)
{
    const abut_node_list *awake = s->iterations > ABUT_COULOMB_ALL ? y->awake : NULL;
    return measure(s->v, s->v_old, awake ? awake->node : NULL, awake ? awake->n : s->nodes, change, err);
}

/* Computes delta and delta_2 of v. */
static abut_status measure_step(abut_coulomb_state *s, const abut_coulomb_system *y, abut_err *err)
{
    const double n3 = fmax(1, 3. * s->nodes);
    difference change, off;
    abut_status rc = measure_change(s, y, &change, err);
    if (!rc) rc = measure(s->v, s->p, s->moved.node, s->moved.n, &off, err);
    if (rc) return rc;
    s->delta = y->h * (change.most + off.most) + s->left;
    s->delta_2 = y->h * (sqrt(change.sum / n3) + sqrt(off.sum / n3));
    return ABUT_OK;
}

/* ---- residuals of momentum and of the law of contact ---- */

/* Sums over the nodes of one body, N s. */
typedef struct body_sums {
    double momentum, law;   /* residuals */
    double impulse;         /* of its contacts */
    double motion;          /* W p, by the first weights */
    double apart, nodes;    /* m/s: |v - p|; of contacts */
} body_sums;

enum { MOST_TIMES = 16 };
#define LAW 0.1             /* of the changes by single visits: contacts that share nodes would share the change */
#define STILL 1e-3          /* impulses below this part of W p hardly change the motion: residuals are compared with it instead */

static double length3(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

static body_sums *sums_of(const abut_coulomb_system *y, body_sums *sum, int32_t node)
{
    return &sum[y->body ? y->body[node] : 0];
}

static void sum_momentum(const abut_coulomb_state *s, const abut_coulomb_system *y, body_sums *sum)
{
    for (int32_t k = 0; k < s->moved.n; k++) {
        const size_t i = 3 * (size_t)s->moved.node[k];
        const double w = y->w[s->moved.node[k]], *v = s->v + i, *p = s->p + i;
        body_sums *to = sums_of(y, sum, s->moved.node[k]);
        const double apart = length3((double[3]){ v[0] - p[0], v[1] - p[1], v[2] - p[2] });
        to->momentum += w * apart;
        to->apart += apart;
        to->nodes++;
        to->impulse += w * length3(s->lambda + i);
        to->motion += w * length3(p) / (y->times ? y->times[y->body[s->moved.node[k]]] : 1);
    }
}

/* Adds the cohesion of contacts to the impulses of their bodies: it pulls as much as the contact bears beyond what shows at the
 * nodes. */
static void add_cohesion(const abut_coulomb_system *y, const abut_touching *t, body_sums *sum)
{
    for (size_t c = 0; c < t->n; c++)
        for (int32_t e = t->first[c]; t->cohesion[c] > 0 && e < t->first[c + 1]; e++)
            sums_of(y, sum, t->node[e])->impulse += fabs(t->b[e]) * t->cohesion[c];
}

/* Forces on the affine motions of a body. */
typedef struct affine_sums {
    double nodes, middle[3];    /* m */
    double spread;              /* m^2: sum of squared distances from the middle */
    double force[3], moment[9]; /* N s, N s m */
} affine_sums;

static void find_middles(const abut_coulomb_system *y, affine_sums *sum, size_t n)
{
    for (int32_t k = 0; k < y->awake->n; k++) {
        affine_sums *b = &sum[y->body[y->awake->node[k]]];
        b->nodes++;
        for (size_t d = 0; d < 3; d++) b->middle[d] += y->x[3 * (size_t)y->awake->node[k] + d];
    }
    for (size_t b = 0; b < n; b++)
        for (int d = 0; d < 3; d++) sum[b].middle[d] /= fmax(1, sum[b].nodes);
}

/* Adds the force r at x. */
static void add_force(affine_sums *to, const double *x, const double *r)
{
    for (int i = 0; i < 3; i++) {
        const double off = x[i] - to->middle[i];
        to->spread += off * off;
        to->force[i] += r[i];
        for (int j = 0; j < 3; j++) to->moment[3 * i + j] += off * r[j];
    }
}

static double affine_size(const affine_sums *b)
{
    double moment2 = 0;
    for (int k = 0; k < 9; k++) moment2 += b->moment[k] * b->moment[k];
    return length3(b->force) + (b->spread > 0 ? sqrt(moment2 / (b->spread / b->nodes)) : 0);
}

static int are_apart(const abut_coulomb_system *y, const body_sums *b)
{
    return y->h * b->apart > y->near * b->nodes;
}

/* Raises the residual of momentum to that at p, (A + W) (p - v), by forces on the affine motions of each body whose v and p lead
 * apart.  Summed node by node it would be noise of stiff elements, which no motion of the body follows. */
static abut_status sum_affine(abut_coulomb_state *s, const abut_coulomb_system *y, body_sums *sum, size_t n, abut_err *err)
{
    size_t first = 0;
    while (first < n && !are_apart(y, &sum[first])) first++;
    if (first == n) return ABUT_OK;
    double *off = s->next, *lacks = malloc((3 * (size_t)s->nodes + 1) * sizeof *lacks);
    affine_sums *affine = calloc(n + 1, sizeof *affine);
    if (!affine || !lacks) return free(affine), free(lacks), abut_fail(err, ABUT_E_NOMEM, "forces of contacts on %zu bodies", n);
    memset(off, 0, 3 * (size_t)s->nodes * sizeof *off);
    for (int32_t k = 0; k < s->moved.n; k++)
        for (size_t i = 3 * (size_t)s->moved.node[k], end = i + 3; i < end; i++) off[i] = s->p[i] - s->v[i];
    y->multiply(y->ctx, off, lacks);
    find_middles(y, affine, n);
    for (int32_t k = 0; k < y->awake->n; k++) {
        const size_t i = 3 * (size_t)y->awake->node[k];
        add_force(&affine[y->body[y->awake->node[k]]], y->x + i, lacks + i);
    }
    for (size_t b = first; b < n; b++)
        if (are_apart(y, &sum[b])) sum[b].momentum = fmax(sum[b].momentum, affine_size(&affine[b]));
    ABUT_FREE(affine, lacks);
    return ABUT_OK;
}

/* Adds to each body's law the change of impulse by one more visit of each contact alone. */
static void sum_law(const abut_coulomb_state *s, const abut_coulomb_system *y, const abut_touching *t, body_sums *sum)
{
    for (size_t c = 0; c < t->n; c++) {
        const double *rbar = t->rbar + 3 * c;
        double u[3], r[3], ustar[3], now[3];
        abut_touching_velocity(t, c, s->p, u);
        abut_touching_impulse(t, c, r);
        for (int d = 0; d < 3; d++) {
            u[d] += t->give[c] * r[d];
            ustar[d] = u[d] - rbar[d];
        }
        (void)abut_coulomb_velocity(ustar, t->normal + 3 * c, t->mu[c], now);
        const double off = length3((double[3]){ now[0] - u[0], now[1] - u[1], now[2] - u[2] }) / t->s[c];
        for (int32_t k = t->first[c]; k < t->first[c + 1]; k++) sums_of(y, sum, t->node[k])->law += fabs(t->b[k]) * off;
    }
}

static double largest_part(const body_sums *sum, size_t n)
{
    double most = 0;
    for (size_t b = 0; b < n; b++) {
        const double off = sum[b].momentum + LAW * sum[b].law, of = fmax(sum[b].impulse, STILL * sum[b].motion);
        if (off > 0) most = fmax(most, off / of);
    }
    return most;
}

/* Sets s->unbalanced: by momentum at v alone, unless that is balanced well enough; then by momentum at p and the law too. */
static abut_status measure_balance(abut_coulomb_state *s, const abut_coulomb_system *y, const abut_touching *t,
                                   const abut_coulomb_options *o, abut_err *err)
{
    const double balance = o->balance;
    const size_t n = y->body ? (size_t)y->bodies : 1;
    if (!s->projected || !(balance > 0)) return ABUT_OK;
    body_sums *sum = calloc(n + 1, sizeof *sum);
    if (!sum) return abut_fail(err, ABUT_E_NOMEM, "forces of contacts on %zu bodies", n);
    abut_status rc = ABUT_OK;
    sum_momentum(s, y, sum);
    add_cohesion(y, t, sum);
    s->unbalanced = largest_part(sum, n);
    const int exact = s->unbalanced <= balance && !o->rough;
    if (exact && y->multiply) {
        rc = sum_affine(s, y, sum, n, err);
        s->unbalanced = largest_part(sum, n);
    }
    if (exact && s->unbalanced <= balance && !rc) {
        sum_law(s, y, t, sum);
        s->unbalanced = largest_part(sum, n);
        if (s->unbalanced > balance && s->laws.times < MOST_TIMES) s->laws.times *= 2;
    }
    free(sum);
    return rc;
}

enum { EARLIEST = 64 };     /* iterations before impulses are compared */
#define GROWN 1.6           /* times what they were at half of the iterations */
#define CANCEL 10           /* times what they add up to at the nodes */

/* Sets s->laws.contradict at iterations 64, 128, 256, ... if impulses of contacts grow with the number of sweeps, and cancel
 * each other at their nodes: the impulses of laws that exclude each other have no bound. */
static void find_contradiction(abut_coulomb_state *s, const abut_coulomb_system *y, const abut_touching *t, int k)
{
    if (2 * k < EARLIEST || k & (k - 1)) return;
    double sum = 0, net = 0;
    for (size_t c = 0; c < t->n; c++) {
        double r[3];
        abut_touching_impulse(t, c, r);
        sum += length3(r);
    }
    for (int32_t i = 0; i < s->moved.n; i++) net += y->w[s->moved.node[i]] * length3(s->lambda + 3 * (size_t)s->moved.node[i]);
    s->laws.contradict = k >= EARLIEST && sum > GROWN * s->laws.impulses && sum > CANCEL * net;
    s->laws.impulses = sum;
}

ptrdiff_t abut_coulomb_strongest(const abut_touching *t)
{
    ptrdiff_t best = -1;
    double most = -1;
    for (size_t c = 0; c < t->n; c++) {
        double r[3];
        abut_touching_impulse(t, c, r);
        if (length3(r) > most) most = length3(r), best = (ptrdiff_t)c;
    }
    return best;
}

int abut_coulomb_converged(const abut_coulomb_state *s, const abut_coulomb_options *o)
{
    return (o->balance > 0 || o->tolerance > 0) && (!(o->balance > 0) || s->unbalanced <= o->balance) &&
           (!(o->tolerance > 0) || s->delta < o->tolerance);
}

/* ---- q of the next iteration ---- */

enum { PRODUCTS = ABUT_MIXED + 1 };
#define RIDGE 1e-10     /* of the sum of all squares: regularises dependent columns */

/* product[j] = sum over nodes of w a . b_j for the columns b of `df`, the last one a itself; by blocks. */
static abut_status products(const abut_coulomb_state *s, const abut_coulomb_system *y, const double *a, double *product,
                            abut_err *err)
{
    const size_t blocks = abut_blocks((size_t)s->moved.n), stride = 3 * (size_t)s->nodes;
    double *part = malloc((PRODUCTS * blocks + 1) * sizeof *part);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "%zu blocks of velocities", blocks);
    #pragma omp parallel for schedule(static) if ((size_t)s->moved.n >= ABUT_PAR_MIN)
    for (size_t k = 0; k < blocks; k++) {
        const abut_range r = abut_block((size_t)s->moved.n, k);
        for (int j = 0; j <= s->mix.n; j++) {
            const double *b = j < s->mix.n ? s->mix.df + stride * (size_t)j : a;
            double sum = 0;
            for (size_t i = r.lo; i < r.hi; i++) {
                const size_t at = 3 * (size_t)s->moved.node[i];
                sum += y->w[s->moved.node[i]] * (a[at] * b[at] + a[at + 1] * b[at + 1] + a[at + 2] * b[at + 2]);
            }
            part[(size_t)j * blocks + k] = sum;
        }
    }
    for (int j = 0; j <= s->mix.n; j++) product[j] = abut_sum(part + (size_t)j * blocks, blocks);
    free(part);
    return ABUT_OK;
}

/* x = G^-1 x by Cholesky's factor, of the first n; 0: G is not positive. */
static int solve_gram(int n, double G[ABUT_MIXED][ABUT_MIXED], double *x)
{
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = G[i][j];
            for (int k = 0; k < j; k++) sum -= G[i][k] * G[j][k];
            if (i == j && !(sum > 0)) return 0;
            G[i][j] = i == j ? sqrt(sum) : sum / G[j][j];
        }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) x[i] -= G[i][k] * x[k];
        x[i] /= G[i][i];
    }
    for (int i = n; i-- > 0;) {
        for (int k = i + 1; k < n; k++) x[i] -= G[k][i] * x[k];
        x[i] /= G[i][i];
    }
    return 1;
}

#define LATE 100    /* iterations */

/* Growth of the square of f beyond which the columns are dropped: any at first, where contacts change their states; later what
 * grows shrinks again, and columns are what a slow end lacks. */
static double most_growth(const abut_coulomb_state *s)
{
    const double late = (double)s->iterations / LATE;
    return 1 + late * late;
}

/* Adds a column, the changes since the last iteration; drops all if the square of f has grown too much, to `size`. */
static abut_status add_column(abut_coulomb_state *s, const abut_coulomb_system *y, const double *f, double size, abut_err *err)
{
    struct abut_mixing *m = &s->mix;
    const int c = m->next, n = m->n < ABUT_MIXED ? m->n + 1 : m->n;
    double *dq = m->dq + 3 * (size_t)s->nodes * (size_t)c, *df = m->df + 3 * (size_t)s->nodes * (size_t)c, dot[PRODUCTS];
    if (size > most_growth(s) * m->size) return m->n = m->next = 0, ABUT_OK;
    for (int32_t k = 0; k < s->moved.n; k++)
        for (size_t i = 3 * (size_t)s->moved.node[k], end = i + 3; i < end; i++) {
            dq[i] = s->q[i] - m->q[i];
            df[i] = f[i] - m->f[i];
        }
    m->n = n;
    m->next = (c + 1) % ABUT_MIXED;
    const abut_status rc = products(s, y, df, dot, err);
    for (int j = 0; j < n && !rc; j++) m->gram[c][j] = m->gram[j][c] = dot[j];
    return rc;
}

/* Finds the coefficients that minimise f less the columns, from its products product[]; returns their number. */
static int fit(const struct abut_mixing *m, double *product)
{
    double G[ABUT_MIXED][ABUT_MIXED], trace = 0;
    memcpy(G, m->gram, sizeof G);
    for (int j = 0; j < m->n; j++) trace += G[j][j];
    for (int j = 0; j < m->n; j++) G[j][j] += RIDGE * trace;
    return solve_gram(m->n, G, product) ? m->n : 0;
}

/* s->q = q + f, f = v - p; less the part that the columns predict, if q is mixed. */
static abut_status advance(abut_coulomb_state *s, const abut_coulomb_system *y, int mixes, abut_err *err)
{
    struct abut_mixing *m = &s->mix;
    const size_t stride = 3 * (size_t)s->nodes;
    double *f = s->next, c[PRODUCTS] = { 0 };
    abut_status rc = ABUT_OK;
    for (int32_t k = 0; k < s->moved.n; k++)
        for (size_t i = 3 * (size_t)s->moved.node[k], end = i + 3; i < end; i++) {
            f[i] = s->v[i] - s->p[i];
            s->q[i] = s->p[i] - s->lambda[i];
        }
    if (mixes) rc = products(s, y, f, c, err);
    const double size = c[m->n];
    if (!rc && mixes && s->projected > 1) rc = add_column(s, y, f, size, err);
    if (!rc && m->n) rc = products(s, y, f, c, err);
    if (rc) return rc;
    m->size = size;
    const int n = fit(m, c);
    #pragma omp parallel for schedule(static) if ((size_t)s->moved.n >= ABUT_PAR_MIN)
    for (int32_t k = 0; k < s->moved.n; k++)
        for (size_t i = 3 * (size_t)s->moved.node[k], end = i + 3; i < end; i++) {
            m->q[i] = s->q[i];
            m->f[i] = f[i];
            double to = s->q[i] + f[i];
            for (int j = 0; j < n; j++) to -= c[j] * (m->dq[stride * (size_t)j + i] + m->df[stride * (size_t)j + i]);
            s->q[i] = to;
        }
    return ABUT_OK;
}

/* Projects q: p and lambda. */
static abut_status project(abut_coulomb_state *s, const abut_coulomb_system *y, abut_touching *t, int sweeps, double asleep,
                           abut_err *err)
{
    const abut_project_options po = { .sweeps = sweeps, .moved = s->moved.node, .n_moved = s->moved.n, .asleep = asleep };
    const abut_status rc = abut_project(&s->projection, t, y->inv_w, s->q, &po, s->next, err);
    if (rc) return rc;
    #pragma omp parallel for schedule(static) if ((size_t)s->moved.n >= 8 * ABUT_PAR_MIN)
    for (int32_t k = 0; k < s->moved.n; k++)
        for (size_t i = 3 * (size_t)s->moved.node[k], end = i + 3; i < end; i++) {
            s->lambda[i] = s->next[i] - s->q[i];
            s->p[i] = s->next[i];
        }
    s->projected++;
    return ABUT_OK;
}

/* Solves the dynamics for v, with p and lambda. */
static abut_status solve(abut_coulomb_state *s, const abut_coulomb_system *y, abut_err *err)
{
    const double *p = s->p, *lambda = s->lambda;
    double *const last = s->v;
    #pragma omp parallel for schedule(static) if ((size_t)s->moved.n >= 8 * ABUT_PAR_MIN)
    for (int32_t k = 0; k < s->moved.n; k++) {
        const size_t node = (size_t)s->moved.node[k];
        for (size_t i = 3 * node; i < 3 * node + 3; i++) s->rhs[i] = y->f[i] + y->w[node] * (p[i] + lambda[i]);
    }
    s->v = s->v_old;
    s->v_old = last;
    return y->solve(y->ctx, s->rhs, s->v, err);
}

/* Applies `local` at v, which writes f. */
static abut_status split(abut_coulomb_state *s, const abut_coulomb_system *y, abut_err *err)
{
    const abut_status rc = y->local(y->ctx, s->v, &s->left, err);
    if (!rc) memcpy(s->rhs, y->f, 3 * (size_t)s->nodes * sizeof *s->rhs);
    return rc;
}

/* Sets p to v at nodes without contacts. */
static void complete(abut_coulomb_state *s, const abut_coulomb_system *y)
{
    for (int32_t i = 0; i < s->nodes; i++)
        if (!(y->w[i] > 0)) memcpy(s->p + 3 * (size_t)i, s->v + 3 * (size_t)i, 3 * sizeof *s->p);
}

/* Appends contacts that v meets; nodes without contacts so far begin at p = v. */
static abut_status append(abut_coulomb_state *s, const abut_coulomb_system *y, abut_touching *t, abut_err *err)
{
    const size_t had = t->n;
    complete(s, y);
    abut_status rc = y->append(y->ctx, s->v, s->iterations, t, err);
    if (!rc) rc = abut_touching_settle(t, y->inv_w, err);
    if (!rc) list_moved(s, y);
    if (!rc && t->n != had) forget(s);
    return rc;
}

/* ---- weights that fit the dynamics ---- */

#define LIGHT 1.5       /* times the weights of a body: above it they follow, */
#define HEAVY 0.25      /* and below this */

/* Adds the changes since the last iteration to the sums of their bodies. */
static void sum_changes(abut_coulomb_state *s, const abut_coulomb_system *y)
{
    if (!s->fit.changes) memset(s->fit.sum, 0, 2 * (size_t)s->nodes * sizeof *s->fit.sum);
    for (int32_t k = 0; k < s->moved.n; k++) {
        const int32_t node = s->moved.node[k];
        double *sum = s->fit.sum + 2 * (size_t)(y->body ? y->body[node] : 0);
        for (size_t i = 3 * (size_t)node; i < 3 * (size_t)node + 3; i++) {
            const double pull = y->w[node] * (s->p[i] + s->lambda[i] - s->v[i]);
            const double dF = pull - s->fit.pull[i], dv = s->v[i] - s->v_old[i];
            s->fit.pull[i] = pull;
            if (!s->fit.changes) continue;
            sum[0] += dF * dF * y->inv_w[node];
            sum[1] += dv * dv * y->w[node];
        }
    }
    s->fit.changes++;
}

/* times[b] = inertia of body b over its weights, 1 where these fit; returns how many do not. */
static int find_unfit(const abut_coulomb_state *s, size_t n, double *times)
{
    int unfit = 0;
    for (size_t b = 0; b < n; b++) {
        const double *sum = s->fit.sum + 2 * b, of = sum[0] > 0 && sum[1] > 0 ? sqrt(sum[0] / sum[1]) : 1;
        times[b] = of > LIGHT || of < HEAVY ? of : 1;
        unfit += times[b] != 1;
    }
    return unfit;
}

/* Gives bodies weights that fit; impulses stay, and q begins anew at v.  *changed 1: it has. */
static abut_status fit_weights(abut_coulomb_state *s, const abut_coulomb_system *y, abut_touching *t, int *changed,
                               abut_err *err)
{
    s->fit.next *= LATER;
    if (!find_unfit(s, y->body ? (size_t)y->bodies : 1, s->next)) return ABUT_OK;
    for (int32_t k = 0; k < s->moved.n; k++)
        for (size_t i = 3 * (size_t)s->moved.node[k], end = i + 3; i < end; i++)
            s->rhs[i] = y->w[s->moved.node[k]] * s->lambda[i];
    const abut_status rc = y->reweigh(y->ctx, s->next, changed, err);
    if (rc || !*changed) return rc;
    for (int32_t k = 0; k < s->moved.n; k++)
        for (size_t i = 3 * (size_t)s->moved.node[k], end = i + 3; i < end; i++) {
            s->lambda[i] = y->inv_w[s->moved.node[k]] * s->rhs[i];
            s->p[i] = s->v[i];
        }
    abut_touching_weigh(t, y->inv_w);
    forget(s);
    return ABUT_OK;
}

enum { FIRST = 4 };     /* factor of the sweeps of the first projection, which begins without impulses of contacts */

/* Solves for v with p and lambda, after their projection of q if it is missing, and computes the residuals. */
static abut_status iteration(abut_coulomb_state *s, const abut_coulomb_system *y, abut_touching *t, const abut_coulomb_options *o,
                             abut_err *err)
{
    double clock = abut_time_wall();
    s->iterations++;
    abut_status rc = y->local ? split(s, y, err) : ABUT_OK;
    s->seconds.local += abut_time_lap(&clock);
    if (!rc && !s->projected) {
        for (int32_t k = 0; k < s->moved.n; k++)
            for (size_t i = 3 * (size_t)s->moved.node[k], end = i + 3; i < end; i++) s->q[i] = s->p[i] - s->lambda[i];
        rc = project(s, y, t, FIRST * o->sweeps, 0, err);
    }
    s->seconds.project += abut_time_lap(&clock);
    if (!rc) rc = solve(s, y, err);
    s->seconds.solve += abut_time_lap(&clock);
    if (!rc) rc = measure_step(s, y, err);
    if (!rc && !isfinite(s->delta))
        rc = abut_fail(err, ABUT_E_NUMERIC, "iteration %d of the contacts: a velocity is not finite", s->iterations);
    if (!rc && y->reweigh) sum_changes(s, y);
    return rc ? rc : measure_balance(s, y, t, o, err);
}

/* Computes p and lambda of the next iteration. */
static abut_status go_on(abut_coulomb_state *s, const abut_coulomb_system *y, abut_touching *t, const abut_coulomb_options *o,
                         abut_err *err)
{
    const double asleep = s->iterations > 1 && o->freeze > 0 ? o->freeze * s->delta / y->h : 0;
    const double clock = abut_time_wall();
    abut_status rc = advance(s, y, o->accelerated && !y->local, err);
    if (!rc) rc = project(s, y, t, s->laws.times * o->sweeps, asleep, err);
    s->seconds.project += abut_time_wall() - clock;
    return rc;
}

abut_status abut_coulomb_iterate(abut_coulomb_state *s, const abut_coulomb_system *y, abut_touching *t,
                                 const abut_coulomb_options *o, abut_err *err)
{
    assert(s->nodes == y->nodes && t->nodes == y->nodes);
    abut_status rc = ABUT_OK;
    memcpy(s->rhs, y->f, 3 * (size_t)s->nodes * sizeof *s->rhs);
    list_moved(s, y);
    forget(s);
    s->laws.contradict = 0;
    for (int k = 1; k <= o->iterations && !rc; k++) {
        const double clock = abut_time_wall();
        rc = iteration(s, y, t, o, err);
        if (rc || k == o->iterations) break;
        int done = abut_coulomb_converged(s, o);
        if (!y->local) find_contradiction(s, y, t, k);
        if (s->laws.contradict && !done) break;
        if (y->append && o->refresh && (done || s->iterations % o->refresh == 0)) {
            rc = append(s, y, t, err);
            s->seconds.append += abut_time_wall() - clock;
            done = done && s->projected;
        }
        if (done || rc) break;
        int changed = 0;
        if (s->fit.changes >= SOONEST && s->iterations >= s->fit.next) rc = fit_weights(s, y, t, &changed, err);
        if (!rc && !changed) rc = go_on(s, y, t, o, err);
    }
    complete(s, y);
    return rc;
}

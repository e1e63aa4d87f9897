/* The law of contact at given velocities: the projection onto it, and how far contacts are from it. */
#include "solve/nodal/coulomb.h"

#include "base/par.h"
#include "math/lanes.h"
#include "solve/nodal/coulomb_inline.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Contacts that one thread takes at a time, of fewer one takes all; and in sets that pay for the waiting at each colour. */
enum { CHUNK = 64, LARGE = 8192 };

void abut_projection_clear(abut_projection *q)
{
    free(q->block);
    free(q->asleep);
    *q = (abut_projection){ 0 };
}

static abut_status reserve(abut_projection *q, const abut_touching *t, abut_err *err)
{
    if (q->nodes != t->nodes || !q->block) {
        free(q->block);
        q->nodes = t->nodes;
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

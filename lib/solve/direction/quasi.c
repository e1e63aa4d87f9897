#include "solve/direction/quasi.h"

#include "energy/friction.h"
#include "solve/direction/newton_solve.h"
#include "sparse/pcg.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* as contacts change the initial matrix becomes stale: it is replaced when this many iterations have not reduced the decrement
 * by this factor; */
#define PATIENCE 5
#define PROGRESS 0.1
/* or this many, if the curvature of the last step is BENT times larger or smaller than that of the matrix: strong deformation in
 * one step makes the Hessian of its start obsolete */
#define PATIENCE_BENT 3
#define BENT 2
#define SAME_GAP 1.25       /* barriers whose smallest gap has changed by less are as stiff as they were */

void abut_quasi_begin(abut_quasi *q)
{
    abut_lbfgs_forget(&q->pairs);
    q->started = q->has_last = q->required = 0;
    q->trust = 1;
}

void abut_quasi_clear(abut_quasi *q)
{
    abut_lbfgs_clear(&q->pairs);
    free(q->x0);
    free(q->g0);
    free(q->x1);
    free(q->g1);
}

static abut_status reserve(abut_quasi *q, int32_t nrow, abut_err *err)
{
    const size_t n = 3 * (size_t)nrow;
    if (n > q->cap) {
        double **const field[] = { &q->x0, &q->g0, &q->x1, &q->g1 };
        q->cap = 0;
        for (int i = 0; i < 4; i++) {
            free(*field[i]);
            *field[i] = malloc(n * sizeof(double));
            if (!*field[i]) return abut_fail(err, ABUT_E_NOMEM, "quasi-Newton direction: %d nodes", nrow);
        }
        q->cap = n;
    }
    return abut_lbfgs_size(&q->pairs, n, q->history, err);
}

/* Curvature along the youngest pair, over the squared length. */
static double curvature_met(const abut_lbfgs *l)
{
    const double *s = l->s + (size_t)l->newest * l->size;
    return l->ys[l->newest] / abut_dot(s, s, l->size, l->part);
}

abut_status abut_quasi_learn(abut_quasi *q, const abut_objective *p, const abut_point *at, abut_report *rep, abut_err *err)
{
    assert(q && p);
    if (!q->started || q->nrow != p->nrow || q->changes != p->changes) {
        const abut_status rc = reserve(q, p->nrow, err);
        if (rc) return rc;
        q->started = q->has_last = 0;
        q->nrow = p->nrow;
        q->changes = p->changes;
    }
    abut_rows_gather(p, at->x, 1, q->x1);
    abut_rows_gather(p, at->g, 1, q->g1);
    q->bend = 1;
    if (q->has_last) {
        const int kept = abut_lbfgs_push(&q->pairs, q->x0, q->x1, q->g0, q->g1);
        if (kept && q->curvature > 0) q->bend = curvature_met(&q->pairs) / q->curvature;
        rep->pairs_skipped += !kept && q->history;
    }
    q->curvature = 0;
    double *const x0 = q->x0, *const g0 = q->g0;
    q->x0 = q->x1;
    q->g0 = q->g1;
    q->x1 = x0;
    q->g1 = g0;
    q->has_last = 1;
    return ABUT_OK;
}

static uint64_t mix(uint64_t key, int32_t value)
{
    return (key ^ (uint32_t)value) * 0x100000001b3;     /* FNV-1a, by numbers */
}

static struct abut_contacts_seen contacts_at(const abut_objective *p, const abut_pairs *pairs)
{
    uint64_t key = 0xcbf29ce484222325;
    for (size_t i = 0; i < pairs->n; i++)
        for (int k = 0; k < 4; k++) key = mix(key, pairs->vert[i][k]);
    for (size_t i = 0; i < pairs->n_plane; i++) key = mix(key, pairs->plane_vert[i]);
    return (struct abut_contacts_seen){ key, abut_pairs_smallest_gap(&p->cm, pairs, NULL) };
}

/* Returns 1 with friction, or if the contacts differ from those that the initial matrix was found with. */
static int contacts_changed(const abut_quasi *q, const abut_objective *p, const abut_pairs *pairs)
{
    if (abut_lag_of(&p->terms)->n) return 1;
    if (pairs->n + pairs->n_plane == 0) return 0;
    const struct abut_contacts_seen now = contacts_at(p, pairs);
    return now.key != q->contacts.key || now.gap > SAME_GAP * q->contacts.gap || q->contacts.gap > SAME_GAP * now.gap;
}

void abut_quasi_renew(abut_quasi *q, const abut_objective *p, const abut_pairs *pairs)
{
    abut_lbfgs_forget(&q->pairs);
    q->started = 1;
    q->contacts = contacts_at(p, pairs);
    q->age = q->mark_age = 0;
    q->mark_slope = INFINITY;
}

int abut_quasi_is_stale(abut_quasi *q, const abut_objective *p, const abut_pairs *pairs, double slope)
{
    q->age++;
    if (!(slope > PROGRESS * q->mark_slope)) {
        q->mark_slope = slope;
        q->mark_age = q->age;
    }
    const int idle = q->age - q->mark_age, bent = !(q->bend * BENT >= 1 && q->bend <= BENT);
    return (bent && idle >= PATIENCE_BENT) || (idle >= PATIENCE && contacts_changed(q, p, pairs));
}

/* Contacts that a direction runs into, taken into it before it is followed.
 *
 * Where bodies hit, the matrix knows nothing of what they are about to touch: CCD bounds direction after direction at a few
 * hundredths, each time by a pair that the direction after it knows.  Here the pairs that the direction meets, all the way to its
 * end, are put on top of the quadratic model as barriers of gaps that are linear in the step, along the normal at the impact
 * (solve/direction/contact_subproblem.h), and the direction becomes the minimiser of that: with the factor that there is, for
 * half a substitution a pair.  Contacts that it closes are among them: the quadratic that the matrix has of a barrier is much too
 * soft for that.  What the new direction still meets is added, a few times.
 *
 * Not with shells and rods, where bounds on stretch and turns follow those of contact (a sheet on a ball, 8 steps: 248
 * iterations, not 233).  Only where the factor is of the matrix itself, and never for a direction that ends a step: convergence
 * is judged by Newton's. */

#include "solve/search/search_parts.h"

#include "base/timer.h"
#include "geom/dist.h"
#include "solve/direction/contact_subproblem.h"

#include <math.h>
#include <string.h>

#define ROUNDS 4            /* of a direction at most */
#define AS_FAR 8            /* times its bound: what it meets beyond that is left to later rounds */
#define LONG_ENOUGH 0.9     /* a bound that nothing is done about */
#define FURTHER 1.2         /* times the bound before: what a round has to bring for another */
#define WORTH 2             /* times Newton's bound: less was in vain */
#define LONGEST_WAIT 9
enum { MOST = ABUT_COLUMNS_MAX };

/* A pair met on the way, as the model has it: the points that carry its distance, and how its gap follows from theirs. */
typedef struct met {
    int kind, plane;        /* abut_stencil of its feature; half-space or -1 */
    int32_t vert[4];        /* collision vertices, -1 unused */
    double normal[12];      /* d gap / d position, by corner */
    int round;              /* that met it last */
} met;

typedef struct foresight {
    size_t n;
    met pair[MOST];
    abut_gap gap[MOST];
    double s0[MOST], lambda[MOST];
    int32_t row[4 * MOST];
    double *G;              /* [MOST * MOST] */
    double *Y;              /* [MOST][3 nrow] */
    double *p0, *g;         /* [3 nv] Newton's direction, a gradient with contact forces */
} foresight;

/* Change of the gap along p. */
static double along(const abut_search *s, const met *m, const double *p)
{
    double sum = 0;
    for (int k = 0; k < 4 && m->vert[k] >= 0; k++) {
        double q[3];
        abut_collmesh_motion(&s->prob.cm, p, m->vert[k], q);
        for (int d = 0; d < 3; d++) sum += m->normal[3 * k + d] * q[d];
    }
    return sum;
}

/* The gap of an impact at the share t of s->p: what carries it there, its normal, and its distance. */
static double look_at(const abut_search *s, const abut_impact *hit, double t, met *m)
{
    const abut_model *model = s->prob.model;
    double x[12], f[12];
    *m = (met){ .kind = ABUT_PP, .plane = hit->plane, .vert = { hit->vert[0], -1, -1, -1 } };
    const int n = hit->plane >= 0 ? 1 : abut_stencil_size(hit->kind);
    for (int k = 0; k < n; k++) {
        double q[3];
        abut_collmesh_motion(&s->prob.cm, s->p, hit->vert[k], q);
        for (int d = 0; d < 3; d++) x[3 * k + d] = s->here.y[3 * (size_t)hit->vert[k] + (size_t)d] + t * q[d];
    }
    if (hit->plane >= 0) {
        const double *o = model->hs_point + 3 * hit->plane, *normal = model->hs_normal + 3 * hit->plane;
        memcpy(m->normal, normal, 3 * sizeof *normal);
        return normal[0] * (x[0] - o[0]) + normal[1] * (x[1] - o[1]) + normal[2] * (x[2] - o[2]);
    }
    const abut_feature feature = abut_nearest(hit->kind, x, NULL);
    m->kind = (int)feature.kind;
    for (int k = 0; k < abut_stencil_size(feature.kind); k++) {
        m->vert[k] = hit->vert[feature.idx[k]];
        memcpy(f + 3 * k, x + 3 * feature.idx[k], 3 * sizeof *f);
    }
    const double d = sqrt(abut_dist2_all(feature.kind, f, NULL, m->normal, NULL));
    for (int k = 0; k < 12; k++) m->normal[k] = d > 0 ? m->normal[k] / (2 * d) : 0;
    return d;
}

static double thickness(const abut_search *s, const abut_impact *hit)
{
    const abut_collmesh *cm = &s->prob.cm;
    return hit->plane >= 0 ? abut_collmesh_plane_xi(cm, hit->vert[0]) : abut_collmesh_xi(cm, hit->kind, hit->vert);
}

/* The place of a pair among those that are known, n: none. */
static size_t place(const foresight *f, const met *m, int known)
{
    size_t i = 0;
    while (i < f->n && (f->pair[i].kind != m->kind || f->pair[i].plane != m->plane || f->gap[i].known != known ||
                        memcmp(f->pair[i].vert, m->vert, sizeof m->vert)))
        i++;
    return i;
}

/* Multiplicity of a contact of the matrix; 0: it is none, or a mollified one. */
static double multiplicity(const abut_search *s, const met *m)
{
    if (m->plane >= 0) return 1;
    const abut_pairs *q = &s->here.pairs;
    for (size_t i = 0; i < q->n_plain; i++)
        if (q->kind[i] == m->kind && !memcmp(q->vert[i], m->vert, sizeof m->vert)) return q->mult[i];
    return 0;
}

/* Takes a pair that is met into the model; one that was met before at what it is now.  A contact stands there as it is in the
 * matrix; where that is not enough, at its impact too. */
static void add(const abut_search *s, foresight *f, const abut_impact *hit, double t, int round)
{
    const abut_model *model = s->prob.model;
    const double xi = thickness(s, hit);
    const abut_barrier_law law = abut_model_barrier(model, xi);
    met m;
    double gap = look_at(s, hit, 0, &m) - xi, mult = gap < model->dhat[0] ? multiplicity(s, &m) : 0;
    int known = mult > 0;
    if (known && place(f, &m, 1) < f->n) known = f->pair[place(f, &m, 1)].round == round;
    if (!known) {
        gap = look_at(s, hit, t, &m) - xi - t * along(s, &m, s->p);
        mult = 1;
    }
    const size_t at = place(f, &m, known);
    if (!(gap > 0) || at == MOST || (at < f->n && f->pair[at].round == round)) return;
    m.round = round;
    f->pair[at] = m;
    f->gap[at] = (abut_gap){ law, s->prob.kappa * mult, gap, known };
    f->n = at == f->n ? at + 1 : f->n;
}

/* What s->p, bounded, meets up to the share `swept`, among s->cand. */
static abut_status meet(abut_search *s, foresight *f, double swept, double bound, int round, abut_err *err)
{
    const abut_problem *p = &s->prob;
    abut_impact hit[MOST];
    size_t n;
    s->ops->points.try_at(s, swept);
    const double until = fmin(1, AS_FAR * bound / swept);
    const abut_status rc = abut_impacts_find(&p->cm, &s->cand, s->here.y, s->trial.y, s->opt.slack_ccd, until, p->obstacle, MOST,
                                             hit, &n, &s->scratch, err);
    for (size_t i = 0; i < n && !rc; i++) add(s, f, &hit[i], swept * hit[i].toi, round);
    return rc;
}

/* f->G and f->s0, after the round that met some of the pairs. */
static abut_status compliance(abut_search *s, foresight *f, int round, abut_err *err)
{
    const abut_problem *p = &s->prob;
    double normal[12 * MOST];
    int which[MOST], fresh = 0;
    for (size_t i = 0; i < f->n; i++) {
        const met *m = &f->pair[i];
        memcpy(normal + 12 * i, m->normal, sizeof m->normal);
        for (size_t c = 0; c < 4; c++) f->row[4 * i + c] = m->vert[c] < 0 ? -1 : p->row[abut_collmesh_slot(&p->cm, m->vert[c])];
        if (m->round != round) continue;
        f->s0[i] = along(s, m, f->p0);
        which[fresh++] = (int)i;
    }
    abut_columns B = { .k = (int)f->n, .row = f->row, .val = normal, .fresh = fresh, .which = which, .Y = f->Y };
    const abut_operator A = { .matrix = &s->dir.A };
    return abut_linear_compliance(&s->dir.linear, &A, &B, f->G, err);
}

/* s->p: the minimiser of the model. */
static abut_status respond(abut_search *s, foresight *f, abut_err *err)
{
    memcpy(f->g, s->here.g, 3 * (size_t)s->prob.model->nv * sizeof *f->g);
    for (size_t i = 0; i < f->n; i++)
        for (int k = 0; k < 4 && f->pair[i].vert[k] >= 0; k++) {
            double *to = f->g + 3 * (size_t)abut_collmesh_slot(&s->prob.cm, f->pair[i].vert[k]);
            for (int d = 0; d < 3; d++) to[d] += f->lambda[i] * f->pair[i].normal[3 * k + d];
        }
    return abut_direction_by_factor(&s->dir, &s->prob, f->g, s->p, err);
}

static int descends(const abut_search *s)
{
    double slope = 0;
    for (size_t i = 0; i < 3 * (size_t)s->prob.model->nv; i++) slope += s->here.g[i] * s->p[i];
    return slope < 0;
}

/* Whether contact bounds the direction so early that something is to be done. */
static int contact_binds(const abut_limit *lim)
{
    return lim->alpha < LONG_ENOUGH && (lim->kind == ABUT_LIMIT_PLANE || abut_limit_stencil(lim->kind) >= 0);
}

static abut_status bound(abut_search *s, abut_limit *lim, double *swept, abut_report *rep, abut_err *err)
{
    const double most = abut_search_longest(s, abut_search_speed(s));
    return abut_search_bound(s, fmin(most, abut_search_further(lim)), most, lim, swept, rep, err);
}

/* One round: s->p and its bound anew; *better 0: the direction is the one before, or Newton's again. */
static abut_status look_ahead(abut_search *s, foresight *f, int round, abut_limit *lim, double *swept, int *better,
                              abut_report *rep, abut_err *err)
{
    const double clock = abut_time_wall();
    *better = 0;
    abut_status rc = meet(s, f, *swept, lim->alpha, round, err);
    rep->seconds.ccd += abut_time_wall() - clock;
    if (rc || !f->n) return rc;
    const double solving = abut_time_wall();
    rc = compliance(s, f, round, err);
    if (!rc) rc = abut_contact_subproblem_minimise(f->n, f->gap, f->G, f->s0, f->lambda, better, &s->scratch, err);
    if (!rc && *better) rc = respond(s, f, err);
    rep->seconds.solve += abut_time_wall() - solving;
    if (rc || !*better) return rc;
    if (!descends(s)) *better = 0;
    if (*better) rc = bound(s, lim, swept, rep, err);
    if (rc == ABUT_E_GEOM) *better = 0;     /* so long that CCD cannot tell gaps of contacts from rounding */
    else if (rc || *better) return rc;
    memcpy(s->p, f->p0, 3 * (size_t)s->prob.model->nv * sizeof *s->p);
    return bound(s, lim, swept, rep, err);
}

abut_status abut_look_ahead(abut_search *s, double *swept, abut_limit *lim, abut_report *rep, abut_err *err)
{
    if ((s->opt.without & ABUT_WITHOUT_LOOK_AHEAD) || abut_second_order_applies(s)) return ABUT_OK;
    if (!contact_binds(lim) || !abut_direction_has_factor(&s->dir) || !abut_collmesh_selects(&s->prob.cm)) return ABUT_OK;
    if (!abut_rule_is_due(&s->look_ahead)) return ABUT_OK;
    const size_t n3 = 3 * (size_t)s->prob.model->nv;
    const abut_mark mark = abut_arena_mark(&s->scratch);
    foresight *f = ABUT_NEW(&s->scratch, foresight, 1);
    abut_status rc = f ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "contacts ahead");
    if (f) {
        f->p0 = ABUT_ROOM(&s->scratch, double, n3);
        f->g = ABUT_ROOM(&s->scratch, double, n3);
        f->G = ABUT_ROOM(&s->scratch, double, MOST * MOST);
        f->Y = ABUT_ROOM(&s->scratch, double, MOST * 3 * (size_t)s->prob.nrow);
        if (!f->p0 || !f->g || !f->G || !f->Y) rc = abut_fail(err, ABUT_E_NOMEM, "contacts ahead: %d nodes", s->prob.model->nv);
    }
    if (!rc) memcpy(f->p0, s->p, n3 * sizeof *s->p);
    const double newton = lim->alpha;
    int better = 1;
    for (int k = 1; k <= ROUNDS && !rc && better && contact_binds(lim); k++) {
        const double before = lim->alpha;
        rc = look_ahead(s, f, k, lim, swept, &better, rep, err);
        better &= lim->alpha >= FURTHER * before;
    }
    abut_rule_tried(&s->look_ahead, lim->alpha >= fmin(LONG_ENOUGH, WORTH * newton), LONGEST_WAIT);
    abut_arena_release(&s->scratch, mark);
    return rc;
}

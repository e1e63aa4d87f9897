#include "solve/direction/look_ahead.h"

#include "base/arena.h"
#include "base/par.h"
#include "base/timer.h"
#include "contact/area.h"
#include "contact/step_bound.h"
#include "energy/barrier.h"
#include "geom/dist.h"
#include "solve/direction/newton.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the quadratic model with barriers ---- */

#define RIDGE 1e-6          /* of the largest diagonal entry */
#define BELOW 0.999         /* largest part of the curvature along a gap that H may have */
#define OPEN 0.95           /* fraction of a gap that may be closed in one iteration */
#define SMALL 1e-13         /* of the model: a decrease that ends it */
#define ROUNDING 1e-9       /* of it: one that may be lost to rounding */
#define MOST_ITERATIONS 100
#define OFF 1e3             /* times gaps and s0: no minimum lies beyond */

/* weight b(gap) and its derivatives in the gap */
static double barrier(const abut_gap *a, double gap, double *d1, double *d2)
{
    const double d = gap + a->law.xi;
    double db, ddb;
    const double b = abut_barrier(a->law, gap * (gap + 2 * a->law.xi), &db, &ddb);
    *d1 = a->weight * db * 2 * d;
    *d2 = a->weight * (4 * d * d * ddb + 2 * db);
    return a->weight * b;
}

double abut_gap_extra(const abut_gap *a, double s, double *d1, double *d2)
{
    *d1 = *d2 = 0;
    if (!(a->gap + s > 0)) return INFINITY;
    double value = barrier(a, a->gap + s, d1, d2), e1, e2;
    if (!a->known) return value;
    const double known = barrier(a, a->gap, &e1, &e2);
    e2 += a->excess;
    value -= known + e1 * s + 0.5 * e2 * s * s;
    *d1 -= e1 + e2 * s;
    *d2 -= e2;
    return value;
}

/* Lower Cholesky factor of A [n * n], row major, in place; 0 when it has none. */
static int factor_gaps(size_t n, double *A)
{
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++)
            for (size_t k = 0; k < j; k++) A[i * n + j] -= A[i * n + k] * A[j * n + k];
        const double d = A[j * n + j];
        if (!(d > 0)) return 0;
        for (size_t i = j; i < n; i++) A[i * n + j] /= sqrt(d);
    }
    return 1;
}

static void solve(size_t n, const double *L, double *b)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) b[i] -= L[i * n + k] * b[k];
        b[i] /= L[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++) b[i] -= L[k * n + i] * b[k];
        b[i] /= L[i * n + i];
    }
}

/* The model of n gaps, and scratch. */
typedef struct reduced {
    size_t n;
    abut_gap *gap;
    const double *s0;
    double *K, *L;              /* [n * n] G^-1, a factor */
    double *s, *trial;          /* [n] iterate, trial point */
    double *pull, *g, *h, *d;   /* [n] K (s - s0), gradient, second derivatives of phi, direction */
} reduced;

/* Makes G definite: adds RIDGE of its largest diagonal entry to all of them, or of each its own. */
static double ridge(const reduced *r, const double *G, size_t i, int own)
{
    double big = G[i * r->n + i];
    for (size_t j = 0; j < r->n && !own; j++) big = fmax(big, G[j * r->n + j]);
    return RIDGE * big;
}

/* K = (G + ridge)^-1 */
static int invert(const reduced *r, const double *G, int own)
{
    const size_t n = r->n;
    memcpy(r->L, G, n * n * sizeof *G);
    for (size_t i = 0; i < n; i++) r->L[i * n + i] += ridge(r, G, i, own);
    if (!factor_gaps(n, r->L)) return 0;
    memset(r->K, 0, n * n * sizeof *r->K);
    for (size_t j = 0; j < n; j++) {
        r->K[j * n + j] = 1;
        solve(n, r->L, r->K + j * n);
    }
    return 1;
}

/* Returns 1 if K less `part` of r->h, the curvature of known contacts in H, is definite. */
static int is_convex(const reduced *r, double part)
{
    const size_t n = r->n;
    memcpy(r->L, r->K, n * n * sizeof *r->L);
    for (size_t i = 0; i < n; i++) r->L[i * n + i] -= part * r->h[i];
    return factor_gaps(n, r->L);
}

/* Makes K, less the known contacts in H, definite.  H less its known contacts is, but K may have lost that: if a contact is much
 * stiffer than the bodies, the ridge and rounding exceed the compliance along its gap.  Then each gap has its own ridge and, if
 * that is not enough, a smaller part of the contacts counts as in H. */
static int make_convex(reduced *r, const double *G)
{
    static const double parts[] = { 1, BELOW, 0.9, 0.5, 0 };
    const size_t n = r->n;
    double e1, e2;
    int k = 0;
    if (!invert(r, G, 1)) return 0;
    for (size_t i = 0; i < n; i++) {
        r->h[i] = r->d[i] = 0;
        if (!r->gap[i].known) continue;
        (void)barrier(&r->gap[i], r->gap[i].gap, &e1, &e2);
        r->d[i] = e2 + r->gap[i].excess;
        r->h[i] = fmin(r->d[i], BELOW / (G[i * n + i] + ridge(r, G, i, 1)));
    }
    while (k < 4 && !is_convex(r, parts[k])) k++;
    for (size_t i = 0; i < n; i++) r->gap[i].excess -= r->d[i] - parts[k] * r->h[i];
    return 1;
}

/* The model at s; r->pull, r->g and r->h there. */
static double model(const reduced *r, const double *s)
{
    double sum = 0;
    for (size_t i = 0; i < r->n; i++) {
        double d1, pull = 0;
        for (size_t j = 0; j < r->n; j++) pull += r->K[i * r->n + j] * (s[j] - r->s0[j]);
        r->pull[i] = pull;
        sum += 0.5 * pull * (s[i] - r->s0[i]) + abut_gap_extra(&r->gap[i], s[i], &d1, &r->h[i]);
        r->g[i] = pull + d1;
    }
    return sum;
}

/* r->d: Newton's direction; the diagonal is increased until the matrix is definite. */
static int aim(const reduced *r)
{
    const size_t n = r->n;
    double stiff = 0;
    for (size_t i = 0; i < n; i++) stiff = fmax(stiff, r->K[i * n + i]);
    for (double shift = 0; shift < 1e12; shift = shift > 0 ? 100 * shift : 1e-8) {
        memcpy(r->L, r->K, n * n * sizeof *r->L);
        for (size_t i = 0; i < n; i++) r->L[i * n + i] += r->h[i] + shift * stiff;
        if (!factor_gaps(n, r->L)) continue;
        for (size_t i = 0; i < n; i++) r->d[i] = -r->g[i];
        solve(n, r->L, r->d);
        return 1;
    }
    return 0;
}

/* Returns the longest step along r->d that keeps gaps open. */
static double longest(const reduced *r)
{
    double most = 1;
    for (size_t i = 0; i < r->n; i++)
        if (r->d[i] < 0) most = fmin(most, OPEN * (r->gap[i].gap + r->s[i]) / -r->d[i]);
    return most;
}

/* Starts between 0 and s0, where every gap is open. */
static void start_gaps(const reduced *r)
{
    double part = 1;
    for (size_t i = 0; i < r->n; i++)
        if (r->s0[i] < 0) part = fmin(part, OPEN * r->gap[i].gap / -r->s0[i]);
    for (size_t i = 0; i < r->n; i++) r->s[i] = part * r->s0[i];
}

static int minimise(reduced *r)
{
    start_gaps(r);
    double now = model(r, r->s);
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        double slope = 0, next = INFINITY;
        if (!aim(r)) return 0;
        for (size_t i = 0; i < r->n; i++) slope -= r->g[i] * r->d[i];
        if (!(slope > SMALL * fabs(now))) return 1;
        for (double alpha = longest(r); alpha > 0x1p-40 && !(next <= now); alpha /= 2) {
            for (size_t i = 0; i < r->n; i++) r->trial[i] = r->s[i] + alpha * r->d[i];
            next = model(r, r->trial);
        }
        if (!(next <= now)) return slope <= ROUNDING * fabs(now);
        memcpy(r->s, r->trial, r->n * sizeof *r->s);
        now = next;
    }
    return 1;
}

/* Returns 1 if the iterations have followed a direction in which the model is unbounded. */
static int is_off(const reduced *r)
{
    double far = 0, most = 0;
    for (size_t i = 0; i < r->n; i++) {
        far = fmax(far, r->gap[i].gap + fabs(r->s0[i]));
        most = fmax(most, fabs(r->s[i]));
    }
    return most > OFF * far;
}

abut_status abut_contact_subproblem_minimise(size_t n, const abut_gap *gap, const double *G, const double *s0, double *lambda,
                                             int *solved, abut_arena *scratch, abut_err *err)
{
    const abut_mark mark = abut_arena_mark(scratch);
    double *room = ABUT_ROOM(scratch, double, 2 * n * n + 6 * n + 1);
    abut_gap *own = ABUT_ROOM(scratch, abut_gap, n + 1);
    if (!room || !own) return abut_fail(err, ABUT_E_NOMEM, "model of %zu gaps", n);
    double *v = room + 2 * n * n;
    memcpy(own, gap, n * sizeof *gap);
    reduced r = { n, own, s0, room, room + n * n, v, v + n, v + 2 * n, v + 3 * n, v + 4 * n, v + 5 * n };
    *solved = invert(&r, G, 0) && minimise(&r);
    if (*solved && is_off(&r)) *solved = make_convex(&r, G) && minimise(&r) && !is_off(&r);
    /* equal to phi', whose rounding is large for small gaps */
    for (size_t i = 0; i < n && *solved; i++) lambda[i] = -r.pull[i];
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

/* ---- the decorator ---- */

#define ROUNDS 4            /* of a direction at most */
#define AS_FAR 8            /* times the bound of a direction: impacts beyond that are left to later rounds */
#define LONG_ENOUGH 0.9     /* a bound that nothing is done about */
#define FURTHER 1.2         /* times the bound before, which a round has to reach for another one */
#define WORTH 2             /* times Newton's bound, from which on a round was worth its cost */
#define LONGEST_WAIT 9
enum { MOST = ABUT_COLUMNS_MAX };

/* A pair that is met, in the model: the vertices of its distance, and the derivative of its gap. */
typedef struct met {
    int kind, plane;        /* abut_stencil of its feature; half-space or -1 */
    int32_t vert[4];        /* collision vertices, -1 unused */
    double normal[12];      /* d gap / d position, by corner */
    int round;              /* that met it last */
} met;

/* The pairs of one direction. */
typedef struct met_pairs {
    size_t n;
    met pair[MOST];
    abut_gap gap[MOST];
    double s0[MOST], lambda[MOST];
    int32_t row[4 * MOST];
    double *G;              /* [MOST * MOST] */
    double *Y;              /* [MOST][3 nrow] */
    double *p0, *g;         /* [3 nv] Newton's direction, a gradient with contact forces */
    double *xt, *yt;        /* [3 nv], [3 nc] where the sweep ends */
    double *rows;           /* [3 nrow] */
} met_pairs;

typedef struct look_ahead {
    abut_direction_ops ops; /* operations of inner, and refine */
    abut_direction inner;
    const abut_objective *p;
    int wait, patience;     /* directions still without look-ahead; their last number, 0: the last rounds were good */
    met_pairs *met;         /* of the direction at hand; NULL: none was met */
    int round;              /* of it */
    int better;             /* the last round has improved the bound */
    double newton, before;  /* bounds of Newton's direction and of the one before the last round */
    abut_mark mark;
    abut_arena scratch;
} look_ahead;

/* Start of a round: the direction and its bound. */
typedef struct bounded {
    const abut_point *at;
    const abut_direction_bound *bound;
    double *dir;            /* [3 nv] */
} bounded;

/* Change of the gap along dir. */
static double along(const abut_objective *p, const met *m, const double *dir)
{
    double sum = 0;
    for (int k = 0; k < 4 && m->vert[k] >= 0; k++) {
        double q[3];
        abut_collmesh_motion(&p->cm, dir, m->vert[k], q);
        for (int d = 0; d < 3; d++) sum += m->normal[3 * k + d] * q[d];
    }
    return sum;
}

/* Gap of an impact at the fraction t of the direction: its vertices, its normal, and its distance. */
static double look_at(const abut_objective *p, const bounded *b, const abut_impact *hit, double t, met *m)
{
    const abut_model *model = p->model;
    double x[12], f[12];
    *m = (met){ .kind = ABUT_PP, .plane = hit->plane, .vert = { hit->vert[0], -1, -1, -1 } };
    const int n = hit->plane >= 0 ? 1 : abut_stencil_size(hit->kind);
    for (int k = 0; k < n; k++) {
        double q[3];
        abut_collmesh_motion(&p->cm, b->dir, hit->vert[k], q);
        for (int d = 0; d < 3; d++) x[3 * k + d] = b->at->y[3 * (size_t)hit->vert[k] + (size_t)d] + t * q[d];
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

static double thickness(const abut_objective *p, const abut_impact *hit)
{
    const abut_collmesh *cm = &p->cm;
    return hit->plane >= 0 ? abut_collmesh_plane_xi(cm, hit->vert[0]) : abut_collmesh_xi(cm, hit->kind, hit->vert);
}

/* Returns the index of a pair in the model; n: not in it. */
static size_t place(const met_pairs *f, const met *m, int known)
{
    size_t i = 0;
    while (i < f->n && (f->pair[i].kind != m->kind || f->pair[i].plane != m->plane || f->gap[i].known != known ||
                        memcmp(f->pair[i].vert, m->vert, sizeof m->vert)))
        i++;
    return i;
}

/* Multiplicity of a contact of the matrix, times its share; 0: it is none, or a mollified one. */
static double multiplicity(const abut_pairs *pairs, const met *m, double share)
{
    if (m->plane >= 0) return share;
    for (size_t i = 0; i < pairs->n_plain; i++)
        if (pairs->kind[i] == m->kind && !memcmp(pairs->vert[i], m->vert, sizeof m->vert)) return pairs->mult[i];
    return 0;
}

/* Curvature of a contact at d along its normal in the matrix, over kappa, beyond that of the barrier. */
static double excess(const abut_objective *p, abut_barrier_law law, double d)
{
    const abut_barrier_curvature *c = &abut_barrier_state_of(&p->terms)->curvature;
    return c->ops->normal ? abut_barrier_normal(c, law, d) - abut_barrier_along(law, d, 0, 0) : 0;
}

/* Adds a pair that is met to the model, or updates it.  A contact enters with its gap in the matrix; if an earlier round has
 * done that, at its impact too. */
static void add(const abut_objective *p, const bounded *b, met_pairs *f, const abut_impact *hit, double t, int round)
{
    const abut_collmesh *cm = &p->cm;
    const int32_t second = hit->plane >= 0 ? -1 : hit->vert[abut_stencil_second(hit->kind)];
    const double xi = thickness(p, hit);
    const double dhat = second < 0 ? abut_collmesh_plane_dhat(cm, hit->vert[0]) : abut_collmesh_dhat(cm, hit->kind, hit->vert);
    const double share = !cm->area   ? abut_pair_weight(&cm->scale, hit->vert[0], second, xi)
                         : second < 0 ? abut_area_plane_weight(cm, hit->vert[0], -1)
                                      : abut_area_weight_met(cm, hit->vert[0], second);
    const abut_barrier_law law = abut_model_barrier(p->model, dhat, xi);
    met m;
    double gap = look_at(p, b, hit, 0, &m) - xi, mult = gap < dhat ? multiplicity(&b->at->pairs, &m, share) : 0;
    int known = mult > 0;
    if (known && place(f, &m, 1) < f->n) known = f->pair[place(f, &m, 1)].round == round;
    if (!known) {
        gap = look_at(p, b, hit, t, &m) - xi - t * along(p, &m, b->dir);
        mult = share;
    }
    const size_t at = place(f, &m, known);
    if (!(gap > 0) || at == MOST || (at < f->n && f->pair[at].round == round)) return;
    m.round = round;
    f->pair[at] = m;
    const double weight = abut_barrier_state_of(&p->terms)->kappa * mult;
    f->gap[at] = (abut_gap){ law, weight, gap, known, known ? weight * excess(p, law, gap + xi) : 0 };
    f->n = at == f->n ? at + 1 : f->n;
}

/* Adds the pairs that the direction meets among the candidates of its sweep. */
static abut_status meet(look_ahead *a, const bounded *b, abut_err *err)
{
    const abut_objective *p = a->p;
    met_pairs *f = a->met;
    const size_t n3 = 3 * (size_t)p->model->nv;
    const double swept = b->bound->swept, until = fmin(1, AS_FAR * b->bound->limit.alpha / swept);
    abut_impact hit[MOST];
    size_t n;
    #pragma omp parallel for schedule(static) if (n3 >= 8 * ABUT_PAR_MIN)
    for (size_t i = 0; i < n3; i++) f->xt[i] = b->at->x[i] + swept * b->dir[i];
    abut_collmesh_positions(&p->cm, f->xt, f->yt);
    const abut_status rc = abut_impacts_find(&p->cm, b->bound->cand, b->at->y, f->yt, b->bound->slack, until, p->cm.obstacle,
                                             MOST, hit, &n, &a->scratch, err);
    for (size_t i = 0; i < n && !rc; i++) add(p, b, f, &hit[i], swept * hit[i].toi, a->round);
    return rc;
}

/* met->G and met->s0, after the round that met some of the pairs. */
static abut_status compliance(look_ahead *a, abut_linear_solver *linear, const abut_operator *A, abut_err *err)
{
    const abut_objective *p = a->p;
    met_pairs *f = a->met;
    double normal[12 * MOST];
    int which[MOST], fresh = 0;
    for (size_t i = 0; i < f->n; i++) {
        const met *m = &f->pair[i];
        memcpy(normal + 12 * i, m->normal, sizeof m->normal);
        for (size_t c = 0; c < 4; c++) f->row[4 * i + c] = m->vert[c] < 0 ? -1 : p->row[abut_collmesh_slot(&p->cm, m->vert[c])];
        if (m->round != a->round) continue;
        f->s0[i] = along(p, m, f->p0);
        which[fresh++] = (int)i;
    }
    abut_columns B = { .k = (int)f->n, .row = f->row, .val = normal, .fresh = fresh, .which = which, .Y = f->Y };
    return abut_linear_compliance(linear, A, &B, f->G, err);
}

/* dir: the minimiser of the model, -H^-1 of the gradient with contact forces. */
static abut_status respond(look_ahead *a, const bounded *b, abut_linear_solver *linear, const abut_operator *A, abut_err *err)
{
    const abut_objective *p = a->p;
    met_pairs *f = a->met;
    const abut_at here = abut_point_at(b->at, p);
    memcpy(f->g, b->at->g, 3 * (size_t)p->model->nv * sizeof *f->g);
    abut_objective_ahead_gradient(p, &here, f->g);
    for (size_t i = 0; i < f->n; i++)
        for (int k = 0; k < 4 && f->pair[i].vert[k] >= 0; k++) {
            double *to = f->g + 3 * (size_t)abut_collmesh_slot(&p->cm, f->pair[i].vert[k]);
            for (int d = 0; d < 3; d++) to[d] += f->lambda[i] * f->pair[i].normal[3 * k + d];
        }
    abut_rows_gather(p, f->g, -1, f->rows);
    const abut_status rc = abut_linear_solve(linear, A, f->rows, NULL, f->rows, err);
    if (!rc) abut_rows_scatter(p, f->rows, 1, b->dir);
    return rc;
}

/* Returns 1 if a contact bounds the direction below LONG_ENOUGH. */
static int contact_binds(const abut_limit *lim)
{
    return lim->alpha < LONG_ENOUGH && (lim->kind == ABUT_LIMIT_PLANE || abut_limit_stencil(lim->kind) >= 0);
}

/* One round: *changed 1 and a new dir, or Newton's again; 0: dir is unchanged. */
static abut_status look(look_ahead *a, const bounded *b, int *changed, abut_report *rep, abut_err *err)
{
    met_pairs *f = a->met;
    abut_operator A;
    abut_linear_solver *linear = a->inner.ops->factor(a->inner.self, &A);
    double clock = abut_time_wall();
    a->round++;
    a->before = b->bound->limit.alpha;
    a->better = 0;
    abut_status rc = meet(a, b, err);
    rep->seconds.ccd += abut_time_lap(&clock);
    if (rc || !f->n) return rc;
    rc = compliance(a, linear, &A, err);
    if (!rc) rc = abut_contact_subproblem_minimise(f->n, f->gap, f->G, f->s0, f->lambda, changed, &a->scratch, err);
    if (!rc && *changed) rc = respond(a, b, linear, &A, err);
    rep->seconds.solve += abut_time_lap(&clock);
    if (rc || !*changed) return rc;
    a->better = abut_descends(a->p, b->at->g, b->dir);
    if (!a->better) memcpy(b->dir, f->p0, 3 * (size_t)a->p->model->nv * sizeof *b->dir);
    return ABUT_OK;
}

/* Begins the first round of a direction. */
static abut_status start(look_ahead *a, const bounded *b, abut_err *err)
{
    const size_t n3 = 3 * (size_t)a->p->model->nv, nrow3 = 3 * (size_t)a->p->nrow + 1;
    a->mark = abut_arena_mark(&a->scratch);
    met_pairs *f = a->met = ABUT_NEW(&a->scratch, met_pairs, 1);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "contacts ahead");
    f->p0 = ABUT_ROOM(&a->scratch, double, n3);
    f->g = ABUT_ROOM(&a->scratch, double, n3);
    f->xt = ABUT_ROOM(&a->scratch, double, n3);
    f->yt = ABUT_ROOM(&a->scratch, double, 3 * (size_t)a->p->model->nc + 1);
    f->rows = ABUT_ROOM(&a->scratch, double, nrow3);
    f->G = ABUT_ROOM(&a->scratch, double, MOST * MOST);
    f->Y = ABUT_ROOM(&a->scratch, double, MOST * nrow3);
    if (!f->p0 || !f->g || !f->xt || !f->yt || !f->rows || !f->G || !f->Y)
        return abut_fail(err, ABUT_E_NOMEM, "contacts ahead: %d nodes", a->p->model->nv);
    memcpy(f->p0, b->dir, n3 * sizeof *f->p0);
    a->newton = b->bound->limit.alpha;
    a->better = 1;
    return ABUT_OK;
}

static void finish(look_ahead *a)
{
    if (a->met) abut_arena_release(&a->scratch, a->mark);
    a->met = NULL;
    a->round = 0;
}

/* Skips the rounds of some directions after rounds with little gain. */
static void learn(look_ahead *a, double bound)
{
    if (bound >= fmin(LONG_ENOUGH, WORTH * a->newton)) a->patience = 0;
    else a->wait = a->patience = a->patience ? (int)fmin(3 * a->patience, LONGEST_WAIT) : 1;
}

static abut_status refine(void *self, const abut_point *at, const abut_direction_bound *bound, double *dir, int *changed,
                          abut_report *rep, abut_err *err)
{
    look_ahead *a = self;
    const abut_limit *lim = &bound->limit;
    const bounded b = { at, bound, dir };
    abut_operator A;
    abut_status rc = ABUT_OK;
    *changed = 0;
    if (!a->met) {
        if (!contact_binds(lim) || !a->inner.ops->factor(a->inner.self, &A) || !abut_collmesh_selects(&a->p->cm)) return ABUT_OK;
        if (a->wait) return a->wait--, ABUT_OK;
        rc = start(a, &b, err);
    } else if (lim->alpha < 0 && a->better) {    /* too long: CCD cannot distinguish gaps of contacts from rounding */
        memcpy(dir, a->met->p0, 3 * (size_t)a->p->model->nv * sizeof *dir);
        a->better = 0;
        *changed = 1;
    } else if (lim->alpha < FURTHER * a->before) {
        a->better = 0;
    }
    if (!rc && a->better && a->round < ROUNDS && contact_binds(lim)) rc = look(a, &b, changed, rep, err);
    if (!rc && *changed) return ABUT_OK;
    if (!rc) learn(a, lim->alpha);
    finish(a);
    return rc;
}

/* ---- operations of the inner direction ---- */

static void begin_step(void *self)
{
    look_ahead *a = self;
    a->inner.ops->begin_step(a->inner.self);
}

static void begin_minimisation(void *self)
{
    look_ahead *a = self;
    a->wait = a->patience = 0;
    if (a->inner.ops->begin_minimisation) a->inner.ops->begin_minimisation(a->inner.self);
}

static abut_status find(void *self, const abut_point *at, double *dir, abut_direction_info *info, abut_report *rep,
                        abut_err *err)
{
    look_ahead *a = self;
    finish(a);
    return a->inner.ops->find(a->inner.self, at, dir, info, rep, err);
}

static void require_exact(void *self)
{
    look_ahead *a = self;
    a->inner.ops->require_exact(a->inner.self);
}

static abut_status resolve(void *self, const double *g, double *dir, abut_report *rep, abut_err *err)
{
    look_ahead *a = self;
    return a->inner.ops->resolve(a->inner.self, g, dir, rep, err);
}

static abut_linear_solver *factor(void *self, abut_operator *A)
{
    look_ahead *a = self;
    return a->inner.ops->factor(a->inner.self, A);
}

static void release(void *self)
{
    look_ahead *a = self;
    abut_direction_clear(&a->inner);
    abut_arena_clear(&a->scratch);
    free(a);
}

abut_status abut_look_ahead_make(abut_direction *out, abut_direction *inner, const abut_objective *p, abut_err *err)
{
    assert(inner);
    const abut_direction_ops *of = inner->ops;
    look_ahead *a = calloc(1, sizeof *a);
    if (!a) return abut_fail(err, ABUT_E_NOMEM, "contacts ahead");
    a->ops = (abut_direction_ops){ .name = of->name, .make = of->make, .begin_step = begin_step,
                                   .begin_minimisation = begin_minimisation, .find = find, .require_exact = require_exact,
                                   .resolve = of->resolve ? resolve : NULL, .factor = factor, .refine = refine,
                                   .free = release };
    a->p = p;
    a->inner = *inner;
    *inner = (abut_direction){ 0 };
    *out = (abut_direction){ &a->ops, a };
    return ABUT_OK;
}

/* The stepper of hard contact with its failsafe: every step is judged before it is committed (abut_guard).  A refused step gets
 * rounds of detection on its motion; if they fail, the barrier takes it (mender_step), or it fails. */
#include "solve/nodal/failsafe.h"

#include "base/timer.h"
#include "base/words.h"
#include "contact/touching.h"
#include "energy/elastic.h"
#include "energy/friction.h"
#include "solve/nodal/nodal.h"
#include "solve/search/path.h"
#include "solve/solvers.h"
#include "solve/step/barrier_stepper.h"
#include "solve/step/measures.h"
#include "solve/step/step_parts.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the judge ---- */

abut_status abut_guard_init(abut_guard *g, const abut_model *m, const abut_collmesh *cm, abut_err *err)
{
    *g = (abut_guard){ .model = m, .cm = cm };
    const abut_status rc = abut_judge_shape_model(&g->shape, m, err);
    if (rc) return rc;
    g->room0 = malloc(3 * ((size_t)g->shape.nv + 1) * sizeof *g->room0);
    g->room1 = malloc(3 * ((size_t)g->shape.nv + 1) * sizeof *g->room1);
    if (g->room0 && g->room1) return ABUT_OK;
    abut_guard_clear(g);
    return abut_fail(err, ABUT_E_NOMEM, "judge of a step: %d points", m->nv);
}

void abut_guard_clear(abut_guard *g)
{
    abut_judge_shape_clear(&g->shape);
    abut_hits_clear(&g->hits);
    ABUT_FREE(g->room0, g->room1);
    *g = (abut_guard){ 0 };
}

/* *clean: a simulation may start at x[3 nv].  No pair touches, crosses or is within its thickness, and every tet that forbids
 * inversion has a positive volume.  Violations are in g->hits.
 * Fails  ABUT_E_GEOM a position is not finite; ABUT_E_NOMEM */
static abut_status guard_place(abut_guard *g, const double *x, int *clean, abut_err *err)
{
    assert(g->model);
    const abut_judge_opts opts = abut_judge_defaults();
    const double *y;
    *clean = 0;
    abut_status rc = abut_judge_points(&g->shape, x, g->room0, &y, err);
    if (!rc) rc = abut_judge_static(&g->shape, y, &g->hits, err);
    if (!rc) rc = abut_judge_near(&g->shape, y, &opts, &g->hits, err);
    if (!rc) rc = abut_judge_inverted(&g->shape, y, 1, &g->hits, err);
    *clean = !rc && g->hits.n == 0;
    return rc;
}

abut_status abut_guard_motion(abut_guard *g, const double *x0, const double *x1, int *clean, abut_err *err)
{
    assert(g->model);
    const abut_judge_opts opts = abut_judge_defaults();
    const double *y0, *y1;
    *clean = 0;
    abut_status rc = abut_judge_points(&g->shape, x0, g->room0, &y0, err);
    if (!rc) rc = abut_judge_points(&g->shape, x1, g->room1, &y1, err);
    if (!rc) rc = abut_judge_motion(&g->shape, y0, y1, &opts, &g->hits, err);
    if (!rc) rc = abut_judge_inverting(&g->shape, y0, y1, 1, &g->hits, err);
    if (!rc) abut_hits_sort(&g->hits);
    *clean = !rc && g->hits.n == 0;
    return rc;
}

/* n points of the shape by the nodes of the model that they are, or are sums of. */
static const char *points(const abut_guard *g, const int32_t *point, int n, char buf[ABUT_NODES_WORDS])
{
    int32_t node[5] = { -1, -1, -1, -1, -1 };
    const int32_t nv = g->model->nv;
    for (int k = 0; k < n; k++) node[k] = point[k] < nv ? point[k] : abut_collmesh_node(g->cm, point[k] - nv);
    return abut_nodes_words(g->model, node, n, buf);
}

const char *abut_guard_words(const abut_guard *g, char text[ABUT_GUARD_WORDS])
{
    char one[ABUT_NODES_WORDS], two[ABUT_NODES_WORDS], more[48] = "";
    if (!g->hits.n) return snprintf(text, ABUT_GUARD_WORDS, "nothing meets"), text;
    const abut_hit *h = &g->hits.hit[0];
    int first;
    const int n = abut_hit_nodes(h->kind, &first);
    if (g->hits.n > 1) snprintf(more, sizeof more, " (and %zu more)", g->hits.n - 1);
    if (h->kind == ABUT_HIT_INVERTED) {
        snprintf(text, ABUT_GUARD_WORDS, "tet %d of %s inverts after %.3g of the step%s",
                 abut_element_number(g->model, g->model->tet, 4, h->item),
                 abut_object_words(g->model, g->model->body[h->node[0]], one), h->t_lo, more);
        return text;
    }
    points(g, h->node, first, one);
    if (h->kind == ABUT_HIT_PLANE) (void)abut_half_space_words(g->model, h->item, two);
    else if (h->kind == ABUT_HIT_POINT_BODY) (void)abut_object_words(g->model, h->item, two);
    else points(g, h->node + first, n - first, two);
    snprintf(text, ABUT_GUARD_WORDS, "%s and %s meet after %.3g of the step%s", one, two, h->t_lo, more);
    return text;
}

/* ---- the barrier in place of a refused step ---- */

/* The barrier step in place of a step that the judge refused: the same start, the same end of the scripts, Newton's method, and
 * friction frozen from the impulses of hard contact (Li 2020, 4.5, in one pass).  Zero-filled is empty; the barrier's stepper is
 * made when it is needed and stays. */
typedef struct mender {
    const abut_model *model;    /* borrowed, as all pointers of o */
    abut_solve_options o;
    void *barrier;              /* abut_barrier_stepper_ops; NULL: none yet */
    abut_arrays start;          /* the frame that it starts from */
    abut_lag lag;
} mender;

/* o: of hard contact, whose linear solver may not be for a barrier. */
static void mender_init(mender *r, const abut_model *m, const abut_solve_options *o)
{
    *r = (mender){ .model = m, .o = *o };
    r->o.linear.solver = NULL;
    r->o.passes.lags = 1;
}

static void mender_clear(mender *r)
{
    if (r->barrier) abut_barrier_stepper_ops.free(r->barrier);
    abut_arrays_clear(&r->start);
    abut_lag_clear(&r->lag);
    *r = (mender){ 0 };
}

static abut_status make_barrier(mender *r, abut_err *err)
{
    if (r->barrier) return ABUT_OK;
    const abut_solver_row *newton = abut_solver_find("newton", NULL, err);
    return newton ? abut_barrier_stepper_ops.make(&r->barrier, r->model, newton, &r->o, err) : err->code;
}

static abut_status lag_reserve(abut_lag *l, size_t n, abut_err *err)
{
    abut_lag_clear(l);
    l->node = malloc((n + 1) * sizeof *l->node);
    l->weight = malloc((n + 1) * sizeof *l->weight);
    l->basis = malloc((n + 1) * sizeof *l->basis);
    l->force = malloc((n + 1) * sizeof *l->force);
    l->mu = malloc((n + 1) * sizeof *l->mu);
    l->cap = n + 1;
    if (l->node && l->weight && l->basis && l->force && l->mu) return ABUT_OK;
    abut_lag_clear(l);
    return abut_fail(err, ABUT_E_NOMEM, "friction of %zu contacts", n);
}

/* Contacts with normal force and friction: weights of their nearest features at the start, planes of their normals. */
static abut_status freeze(mender *r, const abut_touching *t, const abut_collmesh *cm, const double *y, double h, abut_err *err)
{
    abut_lag *l = &r->lag;
    const abut_status rc = lag_reserve(l, t->n, err);
    if (rc) return rc;
    l->map = abut_collmesh_selects(cm) ? NULL : &cm->W;
    for (size_t c = 0; c < t->n; c++) {
        const abut_touch_key *key = &t->key[c];
        const double *n = t->normal + 3 * c, *rbar = t->rbar + 3 * c;
        const double normal = (n[0] * rbar[0] + n[1] * rbar[1] + n[2] * rbar[2]) / t->s[c];
        double x[12], *w = l->weight[l->n];
        if (!(normal > 0 && t->mu[c] > 0)) continue;
        for (int k = 0; k < 4; k++) l->node[l->n][k] = abut_collmesh_slot(cm, key->vert[k]);
        memset(w, 0, 4 * sizeof *w);
        for (int k = 0; k < 4 && key->vert[k] >= 0; k++) memcpy(x + 3 * k, y + 3 * (size_t)key->vert[k], 3 * sizeof *x);
        if (key->plane >= 0) w[0] = 1;
        else (void)abut_closest((abut_stencil)key->kind, x, w);
        abut_tangent_plane(n, l->basis[l->n]);
        l->force[l->n] = normal / h;
        l->mu[l->n++] = t->mu[c];
    }
    return ABUT_OK;
}

/* Copies the frame for the barrier: with that friction, or with none, so that the barrier freezes its own. */
static abut_status start_from(mender *r, const abut_arrays *frame, int frozen, abut_err *err)
{
    abut_status rc = ABUT_OK;
    abut_arrays_clear(&r->start);
    for (int i = 0; i < frame->n && !rc; i++)
        if (strncmp(frame->a[i].name, "lag/", 4)) rc = abut_arrays_copy(&r->start, &frame->a[i], err);
    return rc || !frozen ? rc : abut_lag_to_frame(&r->lag, &r->start, err);
}

/* Takes the step from `frame`, at that instant.
 *
 * t    contacts with their impulses, settled, of a step of h (s); NULL: friction is frozen from the contacts at the start
 * cm   collision mesh of these contacts, of the same model; y[3 nc] its vertices at the start, m
 * Fails  as abut_step_begin, abut_step_solve: ABUT_E_NUMERIC the barrier failed, too */
static abut_status mender_step(mender *r, const abut_arrays *frame, abut_instant at, const abut_touching *t,
                           const abut_collmesh *cm, const double *y, double h, int *written, abut_report *rep, abut_err *err)
{
    assert(r->model && frame);
    int again = 0;
    abut_status rc = make_barrier(r, err);
    if (!rc && t) rc = freeze(r, t, cm, y, h, err);
    if (!rc) rc = start_from(r, frame, t != NULL, err);
    if (!rc) rc = abut_barrier_stepper_ops.begin(r->barrier, &r->start, at, written, rep, err);
    if (!rc) rc = abut_barrier_stepper_ops.solve(r->barrier, rep, err);
    return rc ? rc : abut_barrier_stepper_ops.settle(r->barrier, &again, rep, err);
}

/* Writes the next frame after that step, as `commit` of the barrier's stepper. */
static abut_status mender_commit(mender *r, const abut_arrays *carry, int record, abut_arrays *out, abut_instant *at,
                             abut_report *rep, abut_err *err)
{
    assert(r->barrier);
    return abut_barrier_stepper_ops.commit(r->barrier, carry, record, out, at, rep, err);
}

/* Writes a failed step as a PENDING frame, at the barrier's first iterate, from which `step --solver newton` can continue.
 * stuck/why: the message; stuck/x [nv, 3] m: the end of the refused step.  out is cleared first.
 * x  [3 nv] that end
 * Fails  as abut_step_begin */
static abut_status mender_stuck(mender *r, const abut_arrays *frame, abut_instant at, const double *x, const char *why,
                            abut_arrays *out, abut_err *err)
{
    abut_report rep = { 0 };
    int written = 1;
    abut_status rc = make_barrier(r, err);
    if (!rc) rc = start_from(r, frame, 0, err);
    if (!rc) rc = abut_barrier_stepper_ops.begin(r->barrier, &r->start, at, &written, &rep, err);
    if (!rc) rc = abut_barrier_stepper_ops.suspend(r->barrier, frame, out, err);
    if (!rc) rc = abut_arrays_put_text(out, "stuck/why", why, err);
    double *to = rc ? NULL : abut_arrays_put_rows(out, "stuck/x", ABUT_F64, r->model->nv, 3, "m", err);
    if (to) memcpy(to, x, 3 * (size_t)r->model->nv * sizeof *to);
    abut_report_clear(&rep);
    return rc ? rc : to ? ABUT_OK : err->code;
}

/* ---- the stepper ---- */

#define SPLIT 1e-5      /* m: how far elements that are split off may be from their mesh, and move */
enum { ROUNDS = 5, ITERATIONS = 5 };    /* of detection after the judge refused; of ADMM in each */
enum { PATIENCE = 4 };  /* times the iterations of the last linearisation: more that may follow while forces do not balance */

/* An instance. */
typedef struct failsafe {
    abut_nodal nodal;
    abut_model model;           /* as the options change it */
    abut_guard guard;
    mender mend;
    const abut_hard_options *hard;
    int sweeps;                 /* of a projection */
    const abut_arrays *frame;   /* that the step starts from; borrowed until it is committed */
    abut_instant at;
    double *x1;                 /* [3 nv] m: end of the step */
    int start_checked;
    int refused;                /* the present step was, and nothing takes its place */
    struct failsafe_path {      /* of steps whose frames are not written (solve/search/path.h) */
        abut_path points;
        abut_candidate_search near;
        int end_unwritten;      /* no frame will show the end of the present step */
        int continues;          /* that was so in the step before: its path continues */
    } path;
} failsafe;

static void free_it(void *self)
{
    failsafe *f = self;
    abut_nodal_clear(&f->nodal);
    abut_guard_clear(&f->guard);
    mender_clear(&f->mend);
    abut_path_clear(&f->path.points);
    abut_candidate_search_clear(&f->path.near);
    ABUT_FREE(f->x1, f);
}

/* Options by the scene, the command line and the solver's defaults. */
static abut_nodal_options options_of(const abut_model *m, const abut_solve_options *o)
{
    abut_nodal_options n = abut_nodal_defaults();
    if (m->nodal_newton) n.newton = m->nodal_newton[0];
    if (m->nodal_iterations) n.admm.iterations = m->nodal_iterations[0];
    if (m->nodal_sweeps) n.admm.sweeps = m->nodal_sweeps[0];
    if (m->nodal_freeze) n.admm.freeze = m->nodal_freeze[0];
    if (m->nodal_accelerated) n.admm.accelerated = m->nodal_accelerated[0];
    if (m->nodal_gap) n.reserve = m->nodal_gap[0];
    if (m->nodal_beta) n.beta = m->nodal_beta[0];
    if (m->nodal_sigma) n.sigma = m->nodal_sigma[0];
    if (m->nodal_return) n.elastic = m->nodal_return[0];
    if (m->nodal_integrator) n.split = m->nodal_integrator[0];
    if (m->nodal_tolerance) n.admm.tolerance = m->nodal_tolerance[0];
    else if (n.split) n.admm.tolerance = SPLIT;
    if (m->nodal_compliance) n.compliance = m->nodal_compliance[0];
    n.keeps = o->hard.lenient;
    n.user = o;
    return n;
}

static abut_status make(void **self, const abut_model *m, const struct abut_solver_row *row, const abut_solve_options *o,
                        abut_err *err)
{
    (void)row;
    failsafe *f = calloc(1, sizeof *f);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "step: a stepper");
    abut_solve_view(&f->model, m, o);
    const abut_nodal_options n = options_of(&f->model, o);
    f->hard = &o->hard;
    f->sweeps = n.admm.sweeps;
    f->x1 = malloc(3 * ((size_t)m->nv + 1) * sizeof *f->x1);
    abut_status rc = f->x1 ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "step: %d nodes", m->nv);
    if (!rc) rc = abut_nodal_init(&f->nodal, &f->model, &n, err);
    if (!rc) rc = abut_guard_init(&f->guard, &f->model, &f->nodal.objective.cm, err);
    mender_init(&f->mend, m, o);
    if (rc) free_it(f);
    else *self = f;
    return rc;
}

/* ---- a step ---- */

/* Judges the first frame of a process, which may come from any program; later frames are the end of a judged step. */
static abut_status check_start(failsafe *f, const abut_arrays *frame, abut_err *err)
{
    abut_frame view;
    char words[ABUT_GUARD_WORDS];
    int clean;
    abut_status rc = abut_frame_view(frame, &f->model, &view, err);
    if (!rc) rc = guard_place(&f->guard, view.x, &clean, err);
    if (!rc && !clean) rc = abut_fail(err, ABUT_E_GEOM, "%s", abut_guard_words(&f->guard, words));
    if (rc) return abut_wrap(err, "frame %lld: hard contact cannot start from it", (long long)f->at.step), rc;
    f->start_checked = 1;
    return ABUT_OK;
}

/* ---- the path over steps whose frames are not written ---- */

/* Returns 1 if the path needs points: a single step to a written frame is straight and judged, or has the barrier's path. */
static int is_joined(const failsafe *f)
{
    return f->path.end_unwritten || f->path.continues;
}

static abut_status begin_path(failsafe *f, abut_err *err)
{
    const abut_objective *p = &f->nodal.objective;
    if (!is_joined(f)) return ABUT_OK;
    return f->path.continues ? abut_path_next_step(&f->path.points, &p->cm, p->cm.obstacle, err)
                             : abut_path_start(&f->path.points, &p->cm, p->xn, err);
}

/* Continues the step to x, along a straight line that is free. */
static abut_status go_on_to(failsafe *f, const double *x, abut_err *err)
{
    const abut_collmesh *cm = &f->nodal.objective.cm;
    return is_joined(f) ? abut_path_add(&f->path.points, cm, cm->obstacle, x, &f->path.near, err) : ABUT_OK;
}

/* Follows the path of the barrier's step. */
static abut_status follow(failsafe *f, abut_err *err)
{
    const abut_path *barrier = abut_barrier_stepper_ops.path(f->mend.barrier);
    abut_status rc = barrier->n > 1 ? ABUT_OK : go_on_to(f, barrier->point[0], err);
    for (int i = 1; i < barrier->n && !rc; i++) rc = go_on_to(f, barrier->point[i], err);
    return rc;
}

/* Writes the path from the last written frame into the frame `out`. */
static abut_status end_path(failsafe *f, abut_arrays *out, abut_report *rep, abut_err *err)
{
    const abut_collmesh *cm = &f->nodal.objective.cm;
    abut_path *p = &f->path.points;
    const double clock = abut_time_wall();
    if (!is_joined(f)) return ABUT_OK;
    abut_status rc = f->path.end_unwritten ? ABUT_OK : abut_path_join(p, cm, cm->obstacle, err);
    abut_arrays_remove(out, "step/waypoints");
    if (!rc) rc = abut_step_put_waypoints(p, f->model.nv, out, err);
    rep->waypoints = p->n - p->step > 2 ? p->n - p->step - 2 : 0;
    rep->seconds.check += abut_time_wall() - clock;
    f->path.continues = f->path.end_unwritten;
    return rc;
}

/* ---- stepping ---- */

static abut_status begin(void *self, const abut_arrays *frame, abut_instant at, int *written, abut_report *rep, abut_err *err)
{
    failsafe *f = self;
    const double clock = abut_time_wall();
    f->frame = frame;
    f->at = at;
    f->refused = 0;
    abut_rigid_lower(abut_elastic_of(&f->nodal.objective.terms));
    *written |= abut_path_is_full(&f->path.points);
    f->path.end_unwritten = !*written;
    abut_status rc = f->start_checked ? ABUT_OK : check_start(f, frame, err);
    if (!rc) rc = abut_step_name(f->at, abut_nodal_begin(&f->nodal, frame, at, err), err);
    if (!rc) rc = begin_path(f, err);
    rep->seconds.predict += abut_time_wall() - clock;
    return rc;
}

/* Judges the motion of the step.  An end that is no minimum of the step is refused without a judge. */
static abut_status judge(failsafe *f, int *clean, abut_report *rep, abut_err *err)
{
    const double clock = abut_time_wall();
    abut_nodal_end(&f->nodal, f->x1);
    *clean = 0;
    abut_status rc = f->nodal.rising ? ABUT_OK : abut_guard_motion(&f->guard, f->nodal.objective.xn, f->x1, clean, err);
    if (!rc && *clean) rc = abut_nodal_check(&f->nodal, err);
    *clean &= !f->nodal.rising;
    rep->nodal.rising = f->nodal.rising;
    rep->nodal.judge += abut_time_wall() - clock;
    return rc;
}

/* Adds the pairs that the step runs into to the contacts, and iterates on with them. */
static abut_status another_round(failsafe *f, int round, abut_report *rep, abut_err *err)
{
    const double clock = abut_time_wall();
    const abut_touch_step step = abut_nodal_touch_step(&f->nodal);
    abut_nodal *n = &f->nodal;
    size_t found;
    abut_collmesh_positions(step.cm, f->x1, n->of.y1);
    abut_status rc = abut_touch_find_hits(&n->search, &step, n->of.y1, n->opt.admm.iterations + round, &n->contacts, &found, err);
    rep->nodal.detect += abut_time_wall() - clock;
    return rc ? rc : abut_nodal_go_on(n, ITERATIONS, f->sweeps << round, rep, err);
}

/* Words of the strongest of the contacts whose laws exclude each other. */
static const char *words_of_contradiction(const failsafe *f, char words[ABUT_GUARD_WORDS])
{
    const abut_touching *t = &f->nodal.contacts;
    const abut_touch_key *key = &t->key[abut_coulomb_strongest(t)];
    char one[ABUT_NODES_WORDS], two[ABUT_NODES_WORDS];
    const abut_stencil kind = (abut_stencil)key->kind;
    const int n = abut_stencil_size(kind), first = key->plane >= 0 ? 1 : abut_stencil_second(kind);
    int32_t point[4];
    for (int k = 0; k < 4; k++) point[k] = f->guard.model->nv + key->vert[k];
    points(&f->guard, point, first, one);
    if (key->plane >= 0) (void)abut_half_space_words(f->guard.model, key->plane, two);
    else points(&f->guard, point + first, n - first, two);
    snprintf(words, ABUT_GUARD_WORDS, "the laws of some contacts exclude each other, most of all %s and %s", one, two);
    return words;
}

/* Words of the residual of the last linear problem. */
static const char *words_of_residual(const failsafe *f, char words[ABUT_GUARD_WORDS])
{
    const abut_nodal *n = &f->nodal;
    const abut_coulomb_options *o = &n->opt.admm;
    if (n->state.laws.contradict) return words_of_contradiction(f, words);
    if (o->tolerance > 0 && !(n->state.delta < o->tolerance))
        snprintf(words, ABUT_GUARD_WORDS, "velocities still change by %.3g m in the step, expected less than nodal.tolerance, "
                 "%.3g m", n->state.delta, o->tolerance);
    else
        snprintf(words, ABUT_GUARD_WORDS, "momentum and the law of contact lack %.3g of the contact forces of a body, expected "
                 "at most %.3g", n->state.unbalanced, o->balance);
    return words;
}

/* Words of the reason for a refused step. */
static const char *words_of(const failsafe *f, int clean, int linearisations, char words[ABUT_GUARD_WORDS])
{
    if (clean) return words_of_residual(f, words);
    if (!f->nodal.rising && f->nodal.state.laws.contradict) return words_of_residual(f, words);
    if (!f->nodal.rising) return abut_guard_words(&f->guard, words);
    snprintf(words, ABUT_GUARD_WORDS, "after %d linearisations the last still leads to more energy, less the work of contacts",
             linearisations);
    return words;
}

/* The message of a step that is refused. */
static abut_status refuse(failsafe *f, int clean, const abut_report *rep, abut_err *err)
{
    char words[ABUT_GUARD_WORDS];
    f->refused = 1;
    if (f->nodal.state.laws.contradict)
        return abut_fail(err, ABUT_E_NUMERIC, "%s: a smaller time step, nodal.compliance, --repair barrier or --lenient may help",
                         words_of_residual(f, words));
    if (clean)
        return abut_fail(err, ABUT_E_NUMERIC, "%s, after %d iteration%s: more nodal.iterations, a smaller time step, --repair "
                         "barrier or --lenient may help", words_of_residual(f, words), rep->nodal.iterations,
                         abut_s(rep->nodal.iterations));
    if (f->nodal.rising)
        return abut_fail(err, ABUT_E_NUMERIC, "%s: more nodal.newton, a smaller time step or --repair barrier may help",
                         words_of(f, clean, rep->nodal.linearisations, words));
    return abut_fail(err, ABUT_E_NUMERIC, "%s, after %d more rounds of detection (velocities still changed by %.3g m in the "
                     "step): more nodal.iterations or nodal.sweeps, a smaller time step or --repair barrier may help",
                     abut_guard_words(&f->guard, words), ROUNDS, f->nodal.state.delta);
}

static abut_status mend(failsafe *f, int clean, abut_report *rep, abut_err *err)
{
    char words[ABUT_GUARD_WORDS];
    const abut_touch_step step = abut_nodal_touch_step(&f->nodal);
    int written = 1;
    (void)words_of(f, clean, rep->nodal.linearisations, words);
    rep->nodal.balance_residual = NAN;
    abut_status rc = mender_step(&f->mend, f->frame, f->at, &f->nodal.contacts, step.cm, step.y, step.h, &written, rep, err);
    if (!rc) return rep->nodal.repaired = 2, follow(f, err);
    f->refused = rc == ABUT_E_NUMERIC;
    return abut_wrap(err, "%s; the barrier's step in its place", words), rc;
}

static int has_converged(const failsafe *f)
{
    const abut_nodal *n = &f->nodal;
    return (!n->contacts.n && !n->opt.split) || abut_coulomb_converged(&n->state, &n->opt.admm);
}

static int balances(const failsafe *f)
{
    return !f->nodal.contacts.n || f->nodal.state.unbalanced <= f->nodal.opt.admm.balance;
}

/* Continues the iterations of the last linearisation while forces do not balance. */
static abut_status go_on_iterating(failsafe *f, abut_report *rep, abut_err *err)
{
    abut_nodal *n = &f->nodal;
    abut_status rc = ABUT_OK;
    for (int k = 0; k < PATIENCE && !rc && !n->rising && !n->state.laws.contradict && !balances(f); k++)
        rc = abut_nodal_go_on(n, n->opt.admm.iterations, f->sweeps, rep, err);
    return rc;
}

static abut_status check_tolerance(failsafe *f, const abut_report *rep, abut_err *err)
{
    char words[ABUT_GUARD_WORDS];
    if (!f->hard->strict || has_converged(f)) return ABUT_OK;
    abut_nodal_end(&f->nodal, f->x1);
    f->refused = 1;
    return abut_fail(err, ABUT_E_NUMERIC, "%s, after %d iteration%s (--strict)", words_of_residual(f, words),
                     rep->nodal.iterations, abut_s(rep->nodal.iterations));
}

/* Returns 1 if steps above their tolerance are kept: by the options, or because elements are split off. */
static int is_lenient(const failsafe *f) { return f->hard->lenient || f->nodal.opt.split; }

/* Takes the step by hard contact; *clean: the judge finds nothing. */
static abut_status attempt(failsafe *f, int *clean, abut_report *rep, abut_err *err)
{
    *clean = 0;
    const int patient = !f->hard->strict && !is_lenient(f);
    abut_status rc = abut_nodal_solve(&f->nodal, rep, err);
    if (!rc && patient) rc = go_on_iterating(f, rep, err);
    if (!rc) rc = check_tolerance(f, rep, err);
    if (!rc) rc = judge(f, clean, rep, err);
    const int hopeless = patient && f->nodal.state.laws.contradict;  /* such a step is not kept */
    for (int round = 1; round <= ROUNDS && !rc && !*clean && !f->nodal.rising && !hopeless; round++) {
        rep->nodal.rounds = round;
        rep->nodal.repaired = 1;
        rc = another_round(f, round, rep, err);
        if (!rc) rc = judge(f, clean, rep, err);
        if (rc || !*clean || !patient || balances(f)) continue;
        rc = go_on_iterating(f, rep, err);
        if (!rc) rc = judge(f, clean, rep, err);
    }
    if (!rc && *clean && rep->nodal.rounds) rc = check_tolerance(f, rep, err);
    return rc;
}

static abut_status solve(void *self, abut_report *rep, abut_err *err)
{
    failsafe *f = self;
    abut_elastic *e = abut_elastic_of(&f->nodal.objective.terms);
    int clean, raised = 0;
    int32_t object;
    rep->contact = ABUT_CONTACT_HARD;
    abut_status rc = attempt(f, &clean, rep, err);
    while (!rc && clean && (raised = abut_rigid_raise(e, f->x1, &object)) > 0) {
        rep->stiffened++;
        rc = abut_nodal_begin(&f->nodal, f->frame, f->at, err);
        if (!rc) rc = attempt(f, &clean, rep, err);
    }
    if (!rc && raised < 0 && f->hard->repair == ABUT_REPAIR_NONE)
        f->refused = 1,
        rc = abut_rigid_refuse(e, f->x1, object, "a smaller time step, --repair barrier, or a larger strain", err);
    clean &= raised >= 0;
    rep->nodal.unconverged = clean && !has_converged(f);
    const int kept = clean && (is_lenient(f) || balances(f));
    if (!rc && kept) rc = go_on_to(f, f->x1, err);
    if (!rc && !kept) rc = f->hard->repair == ABUT_REPAIR_NONE ? refuse(f, clean, rep, err) : mend(f, clean, rep, err);
    return abut_step_name(f->at, rc, err);
}

static abut_status commit(void *self, const abut_arrays *carry, int record, abut_arrays *out, abut_instant *at, abut_report *rep,
                          abut_err *err)
{
    failsafe *f = self;
    if (rep->nodal.repaired == 2) {
        const int known = record & (ABUT_WITH_FORCES | ABUT_WITH_ENERGIES);
        const abut_status done = mender_commit(&f->mend, carry, known, out, at, rep, err);
        return done ? done : end_path(f, out, rep, err);
    }
    abut_status rc = abut_nodal_put_frame(&f->nodal, carry, out, rep, err);
    if (!rc) rc = end_path(f, out, rep, err);
    if (!rc) rc = abut_nodal_put_record(&f->nodal, record, out, err);
    if (!rc && record & ABUT_WITH_FORCES && !f->path.end_unwritten) rc = abut_nodal_put_error(&f->nodal, out, rep, err);
    if (rc) return abut_step_name(f->at, rc, err);
    *at = abut_instant_next(f->at, f->model.h[0]);
    rep->step = at->step;
    rep->time = at->time;
    return ABUT_OK;
}

static abut_status stuck(void *self, const abut_arrays *carry, const abut_report *rep, const char *why, abut_arrays *out,
                         int *kept, abut_err *err)
{
    failsafe *f = self;
    (void)rep;
    *kept = f->refused;
    return *kept ? mender_stuck(&f->mend, carry, f->at, f->x1, why, out, err) : ABUT_OK;
}

const abut_stepper_ops abut_failsafe_stepper_ops = {
    .make = make, .begin = begin, .solve = solve, .commit = commit, .stuck = stuck, .free = free_it,
};

/* From frame to frame: the passes that led to the end of a step, runs refined, a step backwards. */
#include "adjoint/adjoint_parts.h"

#include "base/timer.h"
#include "base/words.h"
#include "energy/barrier.h"
#include "energy/codim.h"
#include "energy/pressure.h"
#include "model/motion.h"
#include "model/naming.h"
#include "model/tets.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The terms that are differentiated. */
static const char *const covered[] = { "inertia", "lagrangian", "elastic", "spring", "attachment", "codim", "codim bounds",
                                       "friction", "damping", "barrier", "barrier factors", "pressure", "drag", NULL };

/* Words for users about terms that are not differentiated; a term that a program adds keeps its own name. */
static const struct refused {
    const char *term, *words;
} refused[] = { { "codim damping", "damping.stiffness of shells and rods is not differentiated" },
                { "curved rods", "rods that are curved at rest are not differentiated" } };

static int accelerates(const abut_model *m) { return abut_scheme_is(abut_scheme_of(m), ABUT_SCHEME_ACCELERATION); }

static abut_status refuse_term(const char *name, abut_err *err)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (!strcmp(refused[i].term, name)) return abut_fail(err, ABUT_E_FORMAT, "%s", refused[i].words);
    return abut_fail(err, ABUT_E_FORMAT, "the energy '%s' is not differentiated", name);
}

static abut_status refuse(const abut_model *m, const abut_terms *terms, abut_err *err)
{
    const int order = abut_model_order(m);
    if (order != 1) return abut_fail(err, ABUT_E_FORMAT, "tets of order %d are not differentiated, expected order 1", order);
    if (m->nlk) return abut_fail(err, ABUT_E_FORMAT, "locks (array 'lock/node') are not differentiated, expected none");
    if (m->njo) return abut_fail(err, ABUT_E_FORMAT, "joints (array 'joint/node') are not differentiated, expected none");
    if (m->mo_torque) return abut_fail(err, ABUT_E_FORMAT,
                                       "torques (array 'motion/torque') are not differentiated, expected none");
    if (m->solver && m->solver[0] == ABUT_SOLVED_BY_NODAL)
        return abut_fail(err, ABUT_E_FORMAT, "hard contact (solver nodal) is not differentiated, expected the barrier");
    if (m->rigid_range) return abut_fail(err, ABUT_E_FORMAT, "rigid objects are not differentiated, expected `frame`");
    const int scheme = abut_scheme_of(m);
    if (accelerates(m) && m->damp_stiffness && m->damp_stiffness[0] > 0)
        return abut_fail(err, ABUT_E_FORMAT, "damping.stiffness is %g s: it is not differentiated in %s",
                         m->damp_stiffness[0], abut_scheme_names[scheme]);
    const abut_air *air = abut_air_of(terms);
    if (air && air->open)
        return abut_fail(err, ABUT_E_FORMAT, "pressure on an open shell is not differentiated: its rim has a load");
    if (air && air->drags && (accelerates(m) || !abut_scheme_is(scheme, ABUT_SCHEME_INERTIA)))
        return abut_fail(err, ABUT_E_FORMAT, "the drag of wind is not differentiated in %s: it is a load there",
                         abut_scheme_names[scheme]);
    for (int i = 0; i < terms->n; i++) {
        const char *name = terms->term[i].ops->name;
        int k = 0;
        while (covered[k] && strcmp(covered[k], name)) k++;
        if (!covered[k]) return refuse_term(name, err);
    }
    return ABUT_OK;
}

static abut_status allocate(abut_adjoint *a, abut_err *err)
{
    const size_t nv = (size_t)a->model->nv;
    double **field[] = { &a->work.end, &a->work.next, &a->work.acc, &a->work.target, &a->work.p, &a->work.q, &a->work.g,
                         &a->work.u };
    abut_status rc = abut_state_bar_init(&a->work.start, a->model, err);
    for (size_t i = 0; i < sizeof field / sizeof *field && !rc; i++)
        if (!(*field[i] = calloc(3 * nv + 1, sizeof(double)))) rc = abut_fail(err, ABUT_E_NOMEM, "backward pass: %zu nodes", nv);
    for (int i = 0; i < ABUT_ADJOINT_PASSES && !rc; i++)
        if (!(a->passes.of[i].x = calloc(3 * nv + 1, sizeof(double))))
            rc = abut_fail(err, ABUT_E_NOMEM, "backward pass: %zu nodes", nv);
    a->passes.start_part = calloc((size_t)a->model->no + 1, sizeof(double));
    if (!rc && !a->passes.start_part) rc = abut_fail(err, ABUT_E_NOMEM, "backward pass: %d objects", a->model->no);
    return rc ? rc : abut_parameter_bar_init(&a->bars, a->model, err);
}

abut_status abut_adjoint_open(abut_adjoint **out, const abut_model *m, const abut_adjoint_options *o, abut_err *err)
{
    abut_adjoint *a = *out = calloc(1, sizeof *a);
    if (!a) return abut_fail(err, ABUT_E_NOMEM, "backward pass");
    a->opt = *o;
    a->solve = abut_solve_defaults;
    a->solve.search.tolerance = o->tolerance;
    a->solve.passes.lags = o->lags;
    a->solve.linear.threads = o->threads;
    abut_solve_view(&a->with, m, &a->solve);
    a->model = &a->with;
    abut_status rc = abut_stepper_init(&a->s, a->model, NULL, &a->solve, err);
    if (!rc) rc = refuse(m, &a->s.solver.prob.terms, err);
    if (!rc) rc = abut_adjoint_system_init(&a->system, &a->s.solver.prob, o->threads, err);
    if (!rc) rc = allocate(a, err);
    if (rc) abut_adjoint_free(out);
    return rc;
}

void abut_adjoint_free(abut_adjoint **out)
{
    abut_adjoint *a = *out;
    if (!a) return;
    abut_adjoint_system_clear(&a->system);
    abut_adjoint_forces_clear(&a->forces);
    abut_frozen_clear(&a->frozen);
    abut_parameter_bar_clear(&a->bars);
    abut_state_bar_clear(&a->work.start);
    double *field[] = { a->work.end, a->work.next, a->work.acc, a->work.target, a->work.p, a->work.q, a->work.g, a->work.u };
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) free(field[i]);
    for (int i = 0; i < ABUT_ADJOINT_PASSES; i++) free(a->passes.of[i].x);
    free(a->passes.start_part);
    abut_report_clear(&a->report);
    abut_stepper_clear(&a->s);
    free(a);
    *out = NULL;
}

void abut_adjoint_take(abut_adjoint **a, abut_parameter_bar *bars)
{
    *bars = (*a)->bars;
    (*a)->bars = (abut_parameter_bar){ 0 };
    abut_adjoint_free(a);
}

/* ---- friction passes of a step ---- */

/* Returns the end of a step as its last pass, with the stiffnesses of the frame; fills x[3 nv]. */
static abut_adjoint_pass last_pass(abut_adjoint *a, const abut_frame *end, double *x)
{
    const abut_objective *o = &a->s.solver.prob;
    memcpy(x, end->x, 3 * (size_t)a->model->nv * sizeof *x);
    return (abut_adjoint_pass){ .x = x, .kappa = end->kappa[0] / abut_step_end_weight(o), .part = end->kappa_part,
                                .from_part = end->kappa_part, .strain_kappa = end->strain_kappa ? end->strain_kappa[0]
                                                                  : abut_codim_state_of(&o->terms)->strain_kappa };
}

/* Takes a->passes from the frame `end` (pass/), for a run of at most `most`; kappa: stiffness at which the first was frozen. */
static abut_status take_passes(abut_adjoint *a, const abut_frame *end, int most, double kappa, abut_err *err)
{
    const abut_objective *o = &a->s.solver.prob;
    const size_t n3 = 3 * (size_t)a->model->nv;
    abut_adjoint_pass *of = a->passes.of;
    const int n = end->passes[0];
    if (most < 2)
        return abut_fail(err, ABUT_E_FORMAT, "pass/count is %d: the run had several friction passes, expected %s; --lags is that "
                         "of the run", n, most ? "1" : "that they converge");
    if (n > most || n > ABUT_ADJOINT_PASSES)
        return abut_fail(err, ABUT_E_FORMAT, "pass/count is %d, expected at most %d friction passes; --lags is that of the run",
                         n, most < ABUT_ADJOINT_PASSES ? most : (int)ABUT_ADJOINT_PASSES);
    for (int k = 0; k < n; k++) {
        of[k] = last_pass(a, end, of[k].x);
        of[k].from = k ? of[k - 1].x : o->xn;
        of[k].from_kappa = k ? of[k - 1].kappa : kappa;
        if (!k) of[k].from_part = a->passes.start_part;
        if (k == n - 1) break;
        memcpy(of[k].x, end->pass_x + (size_t)k * n3, n3 * sizeof *of[k].x);
        of[k].kappa = end->pass_kappa[k] / abut_step_end_weight(o);
        if (end->pass_strain_kappa) of[k].strain_kappa = end->pass_strain_kappa[k];
    }
    a->passes.n = n;
    return ABUT_OK;
}

/* Keeps the end of a pass. */
static void keep(abut_adjoint *a, const abut_frame *end, double from_kappa)
{
    const abut_search *so = &a->s.solver;
    abut_adjoint_pass *p = a->passes.of + a->passes.n;
    memcpy(p->x, so->here.x, 3 * (size_t)a->model->nv * sizeof *p->x);
    p->kappa = abut_barrier_state_of(&so->prob.terms)->kappa;
    p->strain_kappa = abut_codim_state_of(&so->prob.terms)->strain_kappa;
    p->from = a->passes.n ? a->passes.of[a->passes.n - 1].x : so->prob.xn;
    p->from_kappa = from_kappa;
    p->part = end->kappa_part;
    p->from_part = a->passes.n ? end->kappa_part : a->passes.start_part;
    a->passes.n++;
}

static abut_status agrees(const abut_adjoint *a, const abut_frame *end, abut_err *err)
{
    const double *x = a->passes.of[a->passes.n - 1].x, most = 10 * a->model->tolerance[0] * a->model->h[0];
    for (int32_t i = 0; i < 3 * a->model->nv; i++) {
        if (fabs(x[i] - end->x[i]) <= most) continue;
        return abut_fail(err, ABUT_E_FORMAT,
                         "%s: solved again with %d friction %s it ends %.3g m from where the run has it, expected at most %.3g "
                         "m; --tolerance and --lags are those of the run",
                         abut_nodes_words(a->model, &(int32_t){ i / 3 }, 1, (char[ABUT_NODES_WORDS]){ 0 }), a->passes.n,
                         abut_plural(a->passes.n, "pass", "passes"), fabs(x[i] - end->x[i]), most);
    }
    return ABUT_OK;
}

/* Solves the step from `start` again, with its passes; the last of them must end as the frame `end` does. */
static abut_status replay(abut_adjoint *a, const abut_arrays *start, abut_instant at, const abut_frame *end, int most,
                          double kappa, abut_err *err)
{
    abut_stepper *s = &a->s;
    const abut_barrier_state *b = abut_barrier_state_of(&s->solver.prob.terms);
    abut_frame f;
    int settled = 0;
    if (most > ABUT_ADJOINT_PASSES)
        return abut_fail(err, ABUT_E_FORMAT, "%d friction %s without their frames, expected at most %d (step --keep-passes keeps "
                         "them), or that they converge (--lags converged)", most, abut_plural(most, "pass", "passes"),
                         (int)ABUT_ADJOINT_PASSES);
    a->passes.n = 0;
    abut_adjoint_system_leave(&a->system);
    s->start_checked = 1;
    abut_report_clear(&a->report);
    abut_status rc = abut_step_begin(s, start, at, &a->report, err);
    while (!rc && !settled) {
        rc = abut_step_solve(s, &a->report, err);
        if (rc) break;
        keep(a, end, kappa);
        kappa = b->kappa;
        rc = abut_step_refresh(s, 1, &a->report, err);
        if (!rc) rc = abut_step_settled(s, &a->report, most, a->model->tolerance[0], &settled, err);
    }
    if (!rc && !a->opt.refined) rc = agrees(a, end, err);
    /* take the end of the last pass from the frame: a replay from another start ends within the tolerance of it */
    if (!rc) memcpy(a->passes.of[a->passes.n - 1].x, end->x, 3 * (size_t)a->model->nv * sizeof *end->x);
    if (!rc) rc = abut_step_load(s, start, NULL, at, &f, err);
    if (rc) return rc;
    return abut_step_first_friction(s, start, &a->report, err);
}

/* the stiffness of the barrier where the friction of the first pass was frozen; the contacts of frame `start` are known */
static abut_status start_friction(abut_adjoint *a, const abut_arrays *start, double *kappa, abut_err *err)
{
    const abut_objective *o = &a->s.solver.prob;
    const abut_barrier_state *b = abut_barrier_state_of(&o->terms);
    const int first = !abut_arrays_find(start, "lag/node") && !abut_arrays_find(start, "lag/vertex");
    abut_status rc = abut_step_first_friction(&a->s, start, &a->report, err);
    *kappa = first ? b->kappa : b->in_frame;
    memcpy(a->passes.start_part, o->object.kappa_part, (size_t)a->model->no * sizeof(double));
    return rc;
}

/* a->passes of the step to frame `end` */
static abut_status find_passes(abut_adjoint *a, const abut_arrays *start, abut_instant at, const abut_frame *end, double kappa,
                               abut_err *err)
{
    const int lags = abut_friction_acts(a->model) ? a->model->lags[0] : 1;
    abut_adjoint_pass *of = a->passes.of;
    a->passes.n = 1;
    a->passes.again = lags > 1 && !end->passes;
    if (end->passes) return take_passes(a, end, lags, kappa, err);
    if (lags > 1) return replay(a, start, at, end, lags, kappa, err);
    of[0] = last_pass(a, end, of[0].x);
    of[0].from = lags ? a->s.solver.prob.xn : of[0].x;
    of[0].from_kappa = lags ? kappa : of[0].kappa;
    if (lags) of[0].from_part = a->passes.start_part;
    return ABUT_OK;
}

/* Loads the step from frame `start` to frame `end`: f0 becomes its start, and a->passes the passes that led to the end. */
static abut_status begin(abut_adjoint *a, const abut_arrays *start, abut_instant at, const abut_arrays *end, abut_frame *f0,
                               abut_err *err)
{
    abut_frame f1;
    double kappa = 0;
    abut_status rc = abut_frame_view(end, a->model, &f1, err);
    if (!rc && !f1.kappa) rc = abut_fail(err, ABUT_E_FORMAT, "the end has no contact/kappa: no step has made it");
    if (!rc) rc = abut_frame_view(start, a->model, f0, err);
    a->s.damping.again = !rc && abut_integrator_rebounds(a->model) && abut_integrator_damped(f0, &f1);
    if (!rc) rc = abut_step_load(&a->s, start, NULL, at, f0, err);
    if (!rc) rc = start_friction(a, start, &kappa, err);
    return rc ? rc : find_passes(a, start, at, &f1, kappa, err);
}

/* ---- refined runs ---- */

enum { ROUNDS = 4, ROUNDS_CONVERGED = 60 };
#define CLOSER 1e-3     /* fraction of the first |F| that suffices */
#define EXACT 1e-3      /* fraction of the tolerance: a smaller error of an end is rounding */

/* pass->x -= H^-1 F until |F| is small relative to the first; converged: friction is frozen at the new x each time */
static abut_status go_closer(abut_adjoint *a, abut_adjoint_pass *pass, int converged, abut_err *err)
{
    const size_t n3 = 3 * (size_t)a->model->nv;
    const int most = converged ? ROUNDS_CONVERGED : ROUNDS;
    double first = 0, before = INFINITY, moved = 0;
    for (int k = 0; ; k++) {
        abut_at at;
        abut_adjoint_solution how;
        abut_status rc = converged ? abut_adjoint_freeze(a, pass, err) : ABUT_OK;
        if (!rc) rc = abut_adjoint_arrive(a, pass, &at, err);
        if (rc) return rc;
        const double F = abut_largest(a->work.g, n3);
        if (k == 0) first = F;
        if (!(F < before)) {
            if (moved <= EXACT * a->model->tolerance[0] * a->model->h[0]) break;
            return abut_fail(err, ABUT_E_NUMERIC, "Newton's method from the recorded end moves a node by %.3g m, and forces "
                             "balance worse there: %.3g after %.3g kg m", moved, F, before);
        }
        if (F <= CLOSER * first && k > 0) break;
        if (k == most && moved <= EXACT * a->model->tolerance[0] * a->model->h[0]) break;
        if (k == most)
            return abut_fail(err, ABUT_E_NUMERIC, "%d iterations of Newton's method from the recorded end leave %.3g of %.3g "
                             "kg m, expected %.0e of that", most, F, first, CLOSER);
        before = F;
        rc = abut_adjoint_system_take(&a->system, &at, err);
        if (!rc) rc = abut_adjoint_system_solve(&a->system, a->work.g, a->work.u, &how, err);
        if (rc) return rc;
        moved = abut_largest(a->work.u, n3);
        for (size_t i = 0; i < n3; i++) pass->x[i] -= a->work.u[i];
    }
    return ABUT_OK;
}

/* replaces the recorded state after the step and the recorded results of its passes */
static abut_status put_state(abut_adjoint *a, abut_arrays *end, abut_err *err)
{
    abut_arrays state = { 0 };
    abut_at at;
    abut_status rc = abut_adjoint_arrive(a, a->passes.of + a->passes.n - 1, &at, err);
    if (!rc) rc = abut_step_finish(&a->s, err);
    if (!rc) rc = abut_step_put_state(&a->s, a->s.v_end, 0, &state, err);
    for (int i = 0; i < state.n && !rc; i++)
        if (!strncmp(state.a[i].name, "node/", 5)) rc = abut_arrays_copy(end, &state.a[i], err);
    abut_arrays_clear(&state);
    abut_array *kept = abut_arrays_find(end, "pass/x");
    const size_t n3 = 3 * (size_t)a->model->nv;
    for (int k = 0; k + 1 < a->passes.n && kept && !rc; k++)
        memcpy((double *)kept->data + (size_t)k * n3, a->passes.of[k].x, n3 * sizeof(double));
    return rc;
}

/* Moves the ends of a->passes so that forces balance better. */
static abut_status closer(abut_adjoint *a, abut_err *err)
{
    const int frozen = abut_friction_acts(a->model), converged = frozen && a->passes.of[0].from == a->passes.of[0].x;
    abut_status rc = ABUT_OK;
    for (int k = 0; k < a->passes.n && !rc; k++) {
        abut_adjoint_pass *pass = a->passes.of + k;
        if (frozen && !converged) rc = abut_adjoint_freeze(a, pass, err);
        if (!rc) rc = go_closer(a, pass, converged, err);
    }
    return rc;
}

abut_status abut_adjoint_refine(abut_adjoint *a, const abut_arrays *start, abut_instant at, const abut_arrays *recorded,
                                abut_arrays *end, abut_err *err)
{
    abut_frame f0;
    abut_arrays_clear(end);
    abut_status rc = begin(a, start, at, recorded, &f0, err);
    if (!rc) rc = closer(a, err);
    for (int i = 0; i < recorded->n && !rc; i++) rc = abut_arrays_copy(end, &recorded->a[i], err);
    if (!rc) rc = put_state(a, end, err);
    return rc ? abut_wrap(err, "frames %lld and %lld", (long long)at.step, (long long)at.step + 1) : ABUT_OK;
}

/* ---- one step backwards ---- */

/* bars of the end beside x': of velocities, accelerations, the past */
static abut_status end_back(abut_adjoint *a, const abut_state_bar *bar, abut_err *err)
{
    const abut_objective *o = &a->s.solver.prob;
    const abut_model *m = a->model;
    const abut_recur_bars to = { &a->work.start, a->work.end, a->work.acc, a->work.target };
    for (size_t i = 0; i < 3 * (size_t)m->nv; i++) {
        const int held = o->held[i / 3];
        a->work.end[i] += bar->x[i];
        abut_recur_give(&a->recur.v[held], i, bar->v[i], &to);
        a->work.q[i] = held || o->w.late_contact != 1 ? 0 : bar->a[i] / (m->mass[i / 3] * o->w.smooth);
        if (!held) abut_recur_give(&a->recur.a, i, bar->a[i], &to);
        else if (bar->a[i] != 0)
            return abut_fail(err, ABUT_E_FORMAT, "%s is let go after this step, and its acceleration is not differentiated",
                             abut_nodes_words(m, &(int32_t){ (int32_t)(i / 3) }, 1, (char[ABUT_NODES_WORDS]){ 0 }));
        for (int k = 0; k < ABUT_PAST && bar->past_x[k]; k++) {
            *(k ? a->work.start.past_x[k - 1] + i : a->work.start.x + i) += bar->past_x[k][i];
            *(k ? a->work.start.past_v[k - 1] + i : a->work.start.v + i) += bar->past_v[k][i];
        }
    }
    return ABUT_OK;
}

/* frozen contacts of a pass; the frame at the start of the step has the contacts of the first pass; NULL: not checked */
static abut_status freeze(abut_adjoint *a, const abut_adjoint_pass *pass, const abut_frame *start, abut_err *err)
{
    const abut_objective *o = &a->s.solver.prob;
    abut_lag in_frame = { 0 };
    if (!abut_friction_acts(a->model)) return ABUT_OK;
    abut_status rc = abut_adjoint_freeze(a, pass, err);
    if (!rc && o->cm.area && start && !start->lag_node && !start->lag_vertex && a->frozen.n)
        return abut_fail(err, ABUT_E_FORMAT, "contact.formulation is area: the friction of a first frame that touches has normal "
                         "forces that balance, which are not differentiated; expected --from a later frame, or "
                         "contact.friction.lags: converged");
    if (rc || a->opt.refined || !start || !(start->lag_node || start->lag_vertex)) return rc;
    rc = abut_lag_from_frame(&o->cm, start, &in_frame, err);
    if (!rc) rc = abut_frozen_agree(&a->frozen, &o->cm, &in_frame, err);
    abut_lag_clear(&in_frame);
    return rc ? abut_wrap(err, "lag/") : ABUT_OK;
}

/* Adds to bars of x, v, masses, forces and loads through a = acc - M^-1 dPsi/dx(x) - damping.mass v of nodes that are no
 * obstacles, under loads at that time; bar->a becomes 0.  Overwrites work.p, g, acc. */
static abut_status acceleration_back(abut_adjoint *a, const double *x, const double *v, double time, abut_state_bar *bar,
                                           abut_err *err)
{
    abut_objective *o = &a->s.solver.prob;
    const abut_model *m = a->model;
    const size_t n3 = 3 * (size_t)m->nv;
    const double rate = m->damp_mass ? m->damp_mass[0] : 0;
    double *q = a->work.p, *f = a->work.g, *acc = a->work.acc;
    abut_air *air = abut_air_of(&o->terms);
    o->step.load_time = time;
    if (air) abut_air_press(air, time);
    const abut_at at = { x, x, NULL, NULL, &o->step };
    memset(f, 0, n3 * sizeof *f);
    memset(acc, 0, n3 * sizeof *acc);
    abut_status rc = abut_objective_potential_gradient(o, &at, 1, f, &a->s.solver.scratch, err);
    for (size_t i = 0; i < n3; i++) {
        const double b = m->role[i / 3] == ABUT_NODE_OBSTACLE ? 0 : bar->a[i];
        acc[i] = b;
        bar->v[i] -= rate * b;
        a->bars.damp_mass[0] -= v[i] * b;
        q[i] = -b / m->mass[i / 3];
        a->bars.mass[i / 3] -= q[i] * f[i] / m->mass[i / 3];
        bar->a[i] = 0;
    }
    if (!rc) rc = abut_script_forces_back(m, time, time, acc, &a->bars, &a->s.solver.scratch, err);
    if (!rc) rc = abut_adjoint_forces_back(a, &at, q, 1, err);
    /* products have the weight of a step, and are projected but where a system was taken */
    const double weight = o->w.psi * o->w.share * o->w.share;
    const int as_is = o->step.as_is;
    o->step.as_is = 1;
    if (!rc) rc = abut_adjoint_product(o, &at, ABUT_KINDS_POTENTIAL, 1 / weight, q, bar->x, &a->s.solver.scratch, err);
    o->step.as_is = as_is;
    return rc;
}

/* Implicit Euler took a step of Newmark: its end has the acceleration by all forces but contact (motion.c of the stepper). */
static abut_status damped_back(abut_adjoint *a, const abut_arrays *end, abut_state_bar *bar, abut_err *err)
{
    const abut_objective *o = &a->s.solver.prob;
    const abut_adjoint_pass *last = a->passes.of + a->passes.n - 1;
    abut_frame f;
    const int scheme = abut_scheme_of(a->model);
    if (!accelerates(a->model) || o->w.scheme == scheme) return ABUT_OK;
    if (abut_integrator_weights(a->model, scheme).late_contact != 1)
        return abut_fail(err, ABUT_E_FORMAT, "implicit Euler took this step, which is not differentiated if time.newmark.beta is "
                         "above gamma / 2; a smaller time step may need no such steps");
    const abut_status rc = abut_frame_view(end, a->model, &f, err);
    abut_codim_state_of(&o->terms)->strain_kappa = last->strain_kappa;
    return rc ? rc : acceleration_back(a, last->x, f.v, o->step.load_time, bar, err);
}

static abut_status go_back(abut_adjoint *a, const abut_arrays *start, abut_instant at, const abut_arrays *end,
                           abut_state_bar *bar, abut_adjoint_report *rep, abut_err *err)
{
    abut_objective *o = &a->s.solver.prob;
    const size_t n3 = 3 * (size_t)a->model->nv;
    abut_frame f0;
    abut_status rc = begin(a, start, at, end, &f0, err);
    if (!rc && a->opt.refined && a->passes.again && a->passes.n > 1) rc = closer(a, err);
    if (rc) return rc;
    abut_recur_of(a->model, o->w.scheme, o->w.h_force * o->w.h_force, &a->recur);
    abut_state_bar_zero(&a->work.start, a->model);
    if ((rc = damped_back(a, end, bar, err))) return rc;
    memset(a->work.end, 0, n3 * sizeof(double));
    memset(a->work.acc, 0, n3 * sizeof(double));
    memset(a->work.target, 0, n3 * sizeof(double));
    rc = end_back(a, bar, err);
    const int converged = a->passes.of[0].from == a->passes.of[0].x;
    for (int k = a->passes.n - 1; k >= 0 && !rc; k--) {
        rc = freeze(a, a->passes.of + k, k || converged ? NULL : &f0, err);
        if (!rc) rc = abut_adjoint_pass_back(a, a->passes.of + k, converged, rep, err);
        memcpy(a->work.end, a->work.next, n3 * sizeof(double));
    }
    for (size_t i = 0; i < n3 && !rc; i++) a->work.start.x[i] += a->work.end[i];
    rep->passes = a->passes.n;
    if (!rc) rc = abut_script_back(a->model, at.time, f0.x, o->held, a->work.target, a->work.start.x, &a->bars,
                                   &a->s.solver.scratch, err);
    if (!rc) rc = abut_script_forces_back(a->model, at.time, abut_motion_load_time(a->model, at.time), a->work.acc, &a->bars,
                                          &a->s.solver.scratch, err);
    const abut_state_bar spare = *bar;
    if (!rc) *bar = a->work.start, a->work.start = spare;
    return rc;
}

abut_status abut_adjoint_step(abut_adjoint *a, const abut_arrays *start, abut_instant at, const abut_arrays *end,
                              abut_state_bar *bar, abut_adjoint_report *rep, abut_err *err)
{
    assert(a && bar && rep);
    const double clock = abut_time_wall();
    *rep = (abut_adjoint_report){ .bad_node = -1 };
    const abut_status rc = go_back(a, start, at, end, bar, rep, err);
    rep->seconds = abut_time_wall() - clock;
    return rc ? abut_wrap(err, "frames %lld and %lld", (long long)at.step, (long long)at.step + 1) : ABUT_OK;
}

abut_status abut_adjoint_finish(abut_adjoint *a, const abut_arrays *first, abut_instant at, abut_state_bar *bar, abut_err *err)
{
    const abut_model *m = a->model;
    abut_frame f;
    abut_status rc = abut_frame_view(first, m, &f, err);
    if (!rc && accelerates(m) && !f.a) rc = acceleration_back(a, f.x, f.v, at.time, bar, err);
    if (!rc) abut_adjoint_sum(a, bar->x);
    return rc;
}

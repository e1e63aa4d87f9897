/* The stepper of hard contact with its failsafe: every step is judged before it is committed (solve/nodal/guard.h).  A refused
 * step gets rounds of detection on its motion; if they fail, the barrier takes it (solve/nodal/mend.h), or it fails. */
#include "solve/nodal/failsafe.h"

#include "base/timer.h"
#include "base/words.h"
#include "solve/nodal/guard.h"
#include "solve/nodal/mend.h"
#include "solve/nodal/nodal.h"
#include "solve/nodal/touch_record.h"
#include "solve/step/step_parts.h"
#include "solve/solvers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SPLIT 1e-5      /* m: how far elements that are split off may be from their mesh, and move */
enum { ROUNDS = 5, ITERATIONS = 5 };    /* of detection after the judge refused; of ADMM in each */
enum { PATIENCE = 4 };  /* times the iterations of the last linearisation: more that may follow while forces do not balance */

/* An instance. */
typedef struct failsafe {
    abut_nodal nodal;
    abut_step_model model;
    abut_guard guard;
    abut_mend mend;
    int repair, strict, lenient;    /* of the options */
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
    abut_mend_clear(&f->mend);
    abut_path_clear(&f->path.points);
    abut_candidate_search_clear(&f->path.near);
    free(f->x1);
    free(f);
}

/* Options by the scene, the command line and the solver's defaults. */
static abut_nodal_options options_of(const abut_model *m, const abut_step_options *o)
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
    n.linear = o->linear;
    n.threads = o->threads;
    n.terms = o->terms;
    return n;
}

static abut_status make(void **self, const abut_model *m, const struct abut_solver_row *row, const abut_step_options *o,
                        abut_err *err)
{
    (void)row;
    failsafe *f = calloc(1, sizeof *f);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "step: a stepper");
    abut_step_model_view(&f->model, m, o);
    const abut_nodal_options n = options_of(&f->model.view, o);
    f->repair = o->hard.repair;
    f->strict = o->hard.strict;
    f->lenient = o->hard.lenient || n.split;
    f->sweeps = n.admm.sweeps;
    f->x1 = malloc(3 * ((size_t)m->nv + 1) * sizeof *f->x1);
    abut_status rc = f->x1 ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "step: %d nodes", m->nv);
    if (!rc) rc = abut_nodal_init(&f->nodal, &f->model.view, &n, err);
    if (!rc) rc = abut_guard_init(&f->guard, &f->model.view, &f->nodal.objective.cm, err);
    abut_mend_init(&f->mend, m, o);
    if (rc) free_it(f);
    else *self = f;
    return rc;
}

/* ---- a step ---- */

static abut_status name_step(const failsafe *f, abut_status rc, abut_err *err)
{
    return rc ? abut_wrap(err, "step %lld (t = %g s)", (long long)f->at.step + 1, f->at.time), rc : ABUT_OK;
}

/* Judges the first frame of a process, which may come from any program; later frames are the end of a judged step. */
static abut_status check_start(failsafe *f, const abut_arrays *frame, abut_err *err)
{
    abut_frame view;
    char words[ABUT_GUARD_WORDS];
    int clean;
    abut_status rc = abut_frame_view(frame, &f->model.view, &view, err);
    if (!rc) rc = abut_guard_place(&f->guard, view.x, &clean, err);
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
    const abut_path *barrier = abut_mend_path(&f->mend);
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
    if (!rc) rc = abut_step_put_waypoints(p, f->model.view.nv, out, err);
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
    *written |= abut_path_is_full(&f->path.points);
    f->path.end_unwritten = !*written;
    abut_status rc = f->start_checked ? ABUT_OK : check_start(f, frame, err);
    if (!rc) rc = name_step(f, abut_nodal_begin(&f->nodal, frame, at, err), err);
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

/* Words of the residual of the last linear problem. */
static const char *words_of_residual(const failsafe *f, char words[ABUT_GUARD_WORDS])
{
    const abut_nodal *n = &f->nodal;
    const abut_coulomb_options *o = &n->opt.admm;
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
    abut_status rc = abut_mend_step(&f->mend, f->frame, f->at, &f->nodal.contacts, step.cm, step.y, step.h, &written, rep, err);
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
    for (int k = 0; k < PATIENCE && !rc && !n->rising && !balances(f); k++)
        rc = abut_nodal_go_on(n, n->opt.admm.iterations, f->sweeps, rep, err);
    return rc;
}

static abut_status check_tolerance(failsafe *f, const abut_report *rep, abut_err *err)
{
    char words[ABUT_GUARD_WORDS];
    if (!f->strict || has_converged(f)) return ABUT_OK;
    abut_nodal_end(&f->nodal, f->x1);
    f->refused = 1;
    return abut_fail(err, ABUT_E_NUMERIC, "%s, after %d iteration%s (--strict)", words_of_residual(f, words),
                     rep->nodal.iterations, abut_s(rep->nodal.iterations));
}

static abut_status solve(void *self, abut_report *rep, abut_err *err)
{
    failsafe *f = self;
    int clean = 0;
    rep->contact = ABUT_CONTACT_HARD;
    abut_status rc = abut_nodal_solve(&f->nodal, rep, err);
    if (!rc && !f->strict && !f->lenient) rc = go_on_iterating(f, rep, err);
    if (!rc) rc = check_tolerance(f, rep, err);
    if (!rc) rc = judge(f, &clean, rep, err);
    for (int round = 1; round <= ROUNDS && !rc && !clean && !f->nodal.rising; round++) {
        rep->nodal.rounds = round;
        rep->nodal.repaired = 1;
        rc = another_round(f, round, rep, err);
        if (!rc) rc = judge(f, &clean, rep, err);
    }
    if (!rc && clean && rep->nodal.rounds) rc = check_tolerance(f, rep, err);
    rep->nodal.unconverged = clean && !has_converged(f);
    const int kept = clean && (f->lenient || balances(f));
    if (!rc && kept) rc = go_on_to(f, f->x1, err);
    if (!rc && !kept) rc = f->repair == ABUT_REPAIR_NONE ? refuse(f, clean, rep, err) : mend(f, clean, rep, err);
    return name_step(f, rc, err);
}

static abut_status commit(void *self, const abut_arrays *carry, int record, abut_arrays *out, abut_instant *at, abut_report *rep,
                          abut_err *err)
{
    failsafe *f = self;
    if (rep->nodal.repaired == 2) {
        const int known = record & (ABUT_WITH_FORCES | ABUT_WITH_ENERGIES);
        const abut_status done = abut_mend_commit(&f->mend, carry, known, out, at, rep, err);
        return done ? done : end_path(f, out, rep, err);
    }
    abut_status rc = abut_nodal_put_frame(&f->nodal, carry, out, rep, err);
    if (!rc) rc = end_path(f, out, rep, err);
    if (!rc) rc = abut_touch_record_put(&f->nodal, record, out, err);
    if (rc) return name_step(f, rc, err);
    *at = abut_instant_next(f->at, f->model.view.h[0]);
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
    return *kept ? abut_mend_stuck(&f->mend, carry, f->at, f->x1, why, out, err) : ABUT_OK;
}

const abut_stepper_ops abut_failsafe_stepper_ops = {
    .make = make, .begin = begin, .solve = solve, .commit = commit, .stuck = stuck, .free = free_it,
};

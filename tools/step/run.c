#include "tools/step/run.h"

#include "base/timer.h"
#include "base/words.h"
#include "formats/result/out_file.h"
#include "formats/result/results.h"
#include "model/motion.h"
#include "solve/step/measures.h"

#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <string.h>

/* ---- the tally of a run, and the remarks at its end ---- */

#define ROUGH 0.05      /* of the largest impulse on a node */
#define SLOWED 0.05     /* of the angular momentum */
#define SLIGHT 0.01     /* of the error of contact forces: parts that are not said */
#define MANY 50         /* iterations of a step of which the cause is said */

static void tally_add(abut_step_tally *t, const abut_step_command *c, const abut_model *m, const abut_report *rep)
{
    const double *want = c->o.search.stop == ABUT_STOP_NEWTON ? m->force_tolerance : NULL;
    if (!t->steps++) t->min_gap = INFINITY;
    t->iterations += rep->newton;
    if (rep->newton > t->longest.newton) {
        t->longest.step = rep->step, t->longest.newton = rep->newton;
        memcpy(t->longest.held, rep->held, sizeof t->longest.held);
    }
    if (rep->min_gap >= 0) t->min_gap = fmin(t->min_gap, rep->min_gap);
    t->damped += rep->damped;
    t->spin = 1 - (1 - t->spin) * (1 - rep->spin_taken);
    t->worst_balance = fmax(t->worst_balance, rep->force_residual);
    if (abut_error_sum(rep->contact_error) > abut_error_sum(t->error)) {
        memcpy(t->error, rep->contact_error, sizeof t->error);
        t->error_is_hard = rep->contact == ABUT_CONTACT_HARD;
    }
    t->worst_momentum = fmax(t->worst_momentum, rep->nodal.balance_residual);   /* fmax leaves NAN out */
    t->balanced += rep->force_largest > 0;
    const int replaced = rep->nodal.unconverged && rep->nodal.repaired == 2;
    if (rep->nodal.repaired > 0 && !rep->nodal.rising && !replaced) t->mended[rep->nodal.repaired - 1]++;
    t->rising += rep->nodal.rising;
    t->replaced += replaced;
    t->unconverged += rep->nodal.unconverged && !replaced;
    if (rep->nodal.unconverged) t->worst_law = fmax(t->worst_law, rep->nodal.unbalanced);
    t->meeting += rep->sqp.hits > 0;
    const int cut = rep->fixed_iterations || rep->sqp.solved;
    t->cut += cut && rep->force_largest > 0;
    t->unbalanced += want && !cut && rep->force_residual > *want;
    t->divided += rep->lags.parts > 1;
    t->lagging += m->lags[0] == 1 && rep->lags.speed > m->tolerance[0];
    if (rep->lags.speed > t->lagged.speed) t->lagged = rep->lags;
    if (!(rep->lag_residual > m->tolerance[0])) return;
    t->unsettled++;
    t->worst_lag = fmax(t->worst_lag, rep->lag_residual);
}

/* Says the promises that the solver does not make. */
static void say_promises(const abut_step_command *c, abut_cli *cli)
{
    char text[160] = "";
    size_t used = 0;
    const unsigned kept = abut_solver_promises(c->solver, &c->o);
    for (int k = 0; k < ABUT_PROMISES; k++)
        if (!(kept & 1u << k))
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "", abut_promise_names[k]);
    if (used) abut_cli_say(cli, "solver %s guarantees nothing about %s", c->solver->name, text);
}

/* Says the error of contact forces with those of its parts that count. */
static void say_error(const abut_step_tally *t, abut_cli *cli)
{
    const double *error = t->error;
    const double sum = abut_error_sum(error);
    char text[96] = "";
    size_t used = 0;
    for (int k = 0; k < ABUT_ERRORS && sum > 0; k++)
        if (error[k] > SLIGHT * sum)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %.2g", used ? ", " : "",
                                     t->error_is_hard && k == ABUT_ERROR_PASSES ? "law" : abut_error_names[k], 100 * error[k]);
    if (used) abut_cli_say(cli, "contact forces within %.2g %% of the largest force on a body (%s)", 100 * sum, text);
}

/* Says what held up the iterations of the longest step, what held up most of them first. */
static void say_longest(const abut_step_tally *t, abut_cli *cli)
{
    static const char *const words[ABUT_HOLDS] = {
        "contacts blocked prescribed motion in %d", "contacts bounded %d", "elements bounded %d",
        "%d went less far, as energy rose",
        "%d were lengthened, as the matrix is stiffer than what folds or crumples" };
    int held[ABUT_HOLDS];
    char text[320] = "";
    size_t used = 0;
    memcpy(held, t->longest.held, sizeof held);
    for (int n = 0, most = 0; n < ABUT_HOLDS && t->longest.newton > MANY; n++) {
        for (int k = most = 0; k < ABUT_HOLDS; k++) most = held[k] > held[most] ? k : most;
        if (held[most] <= 0) break;
        used += (size_t)snprintf(text + used, sizeof text - used, used ? ", " : "");
        used += (size_t)snprintf(text + used, sizeof text - used, words[most], held[most]);
        held[most] = 0;
    }
    if (t->longest.newton > MANY)
        abut_cli_say(cli, "step %" PRId64 " took %d iterations: %s", t->longest.step, t->longest.newton,
                     used ? text : "all took their whole directions");
}

static void tally_say(const abut_step_tally *t, const abut_step_command *c, const abut_model *m, abut_cli *cli)
{
    if (t->unbalanced)
        abut_cli_say(
            cli,
            "rounding kept the forces of %d of %d step%s from balancing: up to %.3g of the largest on a body is left (want %.3g)",
            t->unbalanced, t->steps, abut_s(t->steps), t->worst_balance, m->force_tolerance[0]);
    else if (t->cut)
        abut_cli_say(cli, "no test of convergence ended the steps: up to %.2g of the largest force on a body is left",
                     t->worst_balance);
    else if (t->steps && t->balanced && (c->record & ABUT_WITH_FORCES))
        abut_cli_say(cli, "forces balance to %.2g of the largest on a body, or better", t->worst_balance);
    say_error(t, cli);
    say_longest(t, cli);
    if (t->worst_momentum > ROUGH && (c->record & ABUT_WITH_FORCES))
        abut_cli_say(cli, "contact forces are rough: momentum of a node balances to %.2g of the largest impulse in the worst "
                     "step; a nodal.tolerance, a length, or more nodal.iterations better it", t->worst_momentum);
    if (t->unconverged)
        abut_cli_say(cli, "hard contact had not converged in %d of %d step%s: momentum and Coulomb's law lack up to %.2g of the "
                     "contact forces of a body; more nodal.iterations or a smaller time step better it, --strict gives such "
                     "a step up", t->unconverged, t->steps, abut_s(t->steps), t->worst_law);
    if (t->replaced)
        abut_cli_say(cli, "the barrier took %d of %d step%s in which hard contact had not converged: momentum and Coulomb's law "
                     "lacked up to %.2g of the contact forces of a body; more nodal.iterations or a smaller time step better it",
                     t->replaced, t->steps, abut_s(t->steps), t->worst_law);
    if (t->more_frames)
        abut_cli_say(cli, "%d frame%s more than --every asks for: the path to the next one had too many waypoints",
                     t->more_frames, abut_s(t->more_frames));
    if (t->unsettled)
        abut_cli_say(cli, "friction had not converged in %d of %d step%s after %d %s: lag residual up to %.3g m/s (want %.3g)",
                     t->unsettled, t->steps, abut_s(t->steps), m->lags[0], abut_plural(m->lags[0], "pass", "passes"),
                     t->worst_lag, m->tolerance[0]);
    if (t->lagging)
        abut_cli_say(cli, "one friction pass is not enough in %d of %d step%s: normal forces still changed by up to %.3g N of "
                     "%.3g N, and friction with them by %.3g N, which is %.3g m/s of a body in a step (tolerance %.3g); --lags "
                     "converged or --lags 5 follows them", t->lagging, t->steps, abut_s(t->steps), t->lagged.change,
                     t->lagged.largest, t->lagged.friction, t->lagged.speed, m->tolerance[0]);
    if (t->divided)
        abut_cli_say(cli, "friction passes of %d of %d step%s did not converge: these steps were taken in parts", t->divided,
                     t->steps, abut_s(t->steps));
    if (t->damped)
        abut_cli_say(cli, "implicit Euler took %d of %d step%s of %s, which created energy%s: %g s is too long for it here",
                     t->damped, t->steps, abut_s(t->steps), abut_scheme_names[m->scheme[0]],
                     abut_schemes[m->scheme[0]].share < 1 ? " or let volumes swing" : "", m->h[0]);
    if (t->mended[0] || t->mended[1])
        abut_cli_say(cli, "the judge refused %d of %d step%s: %d passed after more rounds of detection, the barrier took %d",
                     t->mended[0] + t->mended[1], t->steps, abut_s(t->steps), t->mended[0], t->mended[1]);
    if (t->rising)
        abut_cli_say(cli, "the barrier took %d of %d step%s whose linearisations led to more energy, less the work of contacts",
                     t->rising, t->steps, abut_s(t->steps));
    if (t->meeting)
        abut_cli_say(cli, "%d of %d step%s %s something: the frames at their ends are not free of it (sqp/hits)", t->meeting,
                     t->steps, abut_s(t->steps), abut_plural(t->meeting, "intersects or inverts", "intersect or invert"));
    say_promises(c, cli);
}

/* Who says no end gets one step; a scene may have one. */
static void say_end(const abut_step_run *r, const abut_step_command *c, abut_cli *cli)
{
    const abut_array *end = abut_arrays_find(&r->s.model_set, "time/end");
    const double until = end && end->type == ABUT_F64 && end->rank == 0 ? *(const double *)end->data : 0;
    if (c->steps >= 0 || isfinite(c->until) || c->rest > 0 || c->one_pass || !(until > r->now.head.time)) return;
    abut_cli_say(cli, "one step was made, as neither -n nor --until says more; the scene's end is --until %g", until);
}

/* A measure of lost spin proportional to the step: for a rigid body 1/(1 - taken)^2 = 1 + 2 omega^2 h t. */
static double rate_of(double taken) { return 1 / ((1 - taken) * (1 - taken)) - 1; }

static void tally_sum(const abut_step_run *r, const abut_step_command *c, abut_cli *cli, abut_status rc)
{
    const abut_step_tally *t = &r->tally;
    char gap[48] = "no contact", spin[120] = "";
    if (!t->steps) return;
    if (isfinite(t->min_gap)) snprintf(gap, sizeof gap, "smallest gap %.3g m", t->min_gap);
    const int converged = (abut_solver_promises(c->solver, &c->o) & ABUT_KEEPS_CONVERGED) && !t->unbalanced && !t->unsettled &&
                          !t->meeting && !t->unconverged;
    const char *verdict = rc ? ", stopped" : c->rest > 0 ? r->rests ? ", at rest" : ", not at rest" :
                          converged ? ", all converged" : "";
    if (t->spin > SLOWED)
        snprintf(spin, sizeof spin, ", %s took %.2g %% of the spin of what nothing touched (half with steps of %.2g s)",
                 abut_scheme_names[abut_scheme_of(&r->model)], 100 * t->spin,
                 r->model.h[0] * rate_of(t->spin / 2) / rate_of(t->spin));
    abut_cli_sum(cli, "%d step%s to %.6g s, %d frame%s written: %" PRId64 " iteration%s, %s%s%s", t->steps, abut_s(t->steps),
                 r->now.head.time, t->frames, abut_s(t->frames), t->iterations, abut_s(t->iterations), gap, verdict, spin);
    if (!rc) say_end(r, c, cli);
}

/* Bytes of the arrays of a frame, names and checksums left out. */
static double frame_bytes(const abut_arrays *set)
{
    double sum = 0;
    for (int i = 0; i < set->n; i++) sum += (double)abut_array_bytes(&set->a[i]);
    return sum;
}

/* Seconds in the unit that one would say. */
static const char *duration(double s, char *buf, size_t size)
{
    if (s < 120) snprintf(buf, size, "%.3g s", s);
    else if (s < 7200) snprintf(buf, size, "%.3g min", s / 60);
    else snprintf(buf, size, "%.3g h", s / 3600);
    return buf;
}

static void dry_say(const abut_step_run *r, const abut_step_command *c, const abut_report *rep, int64_t steps, abut_cli *cli)
{
    const double frame = frame_bytes(&r->now.set), frames = ceil((double)steps / c->every);
    char one[32], all[32];
    abut_cli_say(
        cli, "dry run: step %" PRId64 " took %s (%d iteration%s, %d contact%s) and %.3g MB of memory; a frame has %.3g MB",
        rep->step, duration(rep->seconds.total, one, sizeof one), rep->newton, abut_s(rep->newton), rep->contacts + rep->planes,
        abut_s(rep->contacts + rep->planes), 1e-6 * (double)abut_memory_peak(), 1e-6 * frame);
    if (c->rest > 0 && c->steps < 0 && !isfinite(c->until)) return;    /* the number of steps is unknown */
    abut_cli_say(cli, "dry run: %" PRId64 " %s %s and a stream of %.3g MB; steps with more contacts take longer", steps,
                 abut_plural(steps, "step at that rate is", "steps at that rate are"),
                 duration((double)steps * rep->seconds.total, all, sizeof all), 1e-6 * frame * frames);
}

/* ---- --dump-stuck: a step that was given up, as a stream of its own ---- */

/* A step that started from a PENDING frame: the COMMITTED one before it comes first. */
static abut_status put_frames(abut_writer *w, const abut_last *start, const abut_arrays *stuck, abut_err *err)
{
    abut_frame_head head = start->head;
    abut_status rc = ABUT_OK;
    if (head.phase == ABUT_COMMITTED) rc = abut_writer_frame(w, &head, &start->set, err);
    else if (start->before.n) rc = abut_writer_frame(w, &start->before_head, &start->before, err);
    head.phase = ABUT_PENDING;
    return rc ? rc : abut_writer_frame(w, &head, stuck, err);
}

/* Writes history and MODEL of s, the frame that the step started from, and the stuck PENDING frame; the file appears when it is
 * whole. */
static abut_status write_stuck(const char *path, const abut_stream *s, const char *history, const abut_last *start,
                                  const abut_arrays *stuck, abut_err *err)
{
    abut_out_file f;
    abut_writer *w = NULL;
    int n;
    const abut_prov *prov = abut_reader_prov(s->reader, &n);
    abut_status rc = abut_out_open(&f, path, abut_stream_cli(s)->no_clobber, err);
    if (rc) return rc;
    f.synced = !abut_stream_cli(s)->no_sync;
    rc = abut_writer_open(f.f, s->io.compress, &w, err);
    for (int i = 0; i < n && !rc; i++) rc = abut_writer_prov(w, prov[i].tool, prov[i].version, prov[i].options, err);
    if (!rc) rc = abut_writer_prov(w, s->io.tool, s->io.version, history, err);
    if (!rc) rc = abut_writer_model(w, &s->model_set, err);
    if (!rc) rc = put_frames(w, start, stuck, err);
    if (!rc) rc = abut_writer_close(w, err);
    abut_writer_free(&w);
    if (rc) abut_wrap(err, "%s", path);
    return abut_out_close(&f, err);
}

/* ---- the run ---- */

enum { SLOW_ENOUGH = 10 };  /* steps in a row at whose end all is slow: nothing rests at the top of a throw for so long */

void abut_step_keep_memory(void)
{
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, 64 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 512 << 20);
#endif
}

/* goal: the last step; it may be far away where a run is to go on until rest. */
static void progress(abut_cli *cli, const abut_report *rep, int64_t goal, int64_t done, double t0)
{
    const double left = (abut_time_wall() - t0) / (double)done * (double)(goal - rep->step);
    char gap[32] = "-", last[64] = "";
    const int is_known = goal < ABUT_STEP_MOST;
    if (rep->min_gap >= 0) snprintf(gap, sizeof gap, "%.2g m", rep->min_gap);
    if (is_known) snprintf(last, sizeof last, "/%lld", (long long)goal);
    abut_cli_progress(cli, is_known ? "frame %lld%s  t %.4g s  newton %d  contacts %d  gap %s  left %.0f s" :
                      "frame %lld%s  t %.4g s  newton %d  contacts %d  gap %s", (long long)rep->step, last, rep->time,
                      rep->newton, rep->contacts + rep->planes, gap, left);
}

/* The next frame, or with --one-pass the PENDING one, in the place of r->now. */
static abut_status advance_one(abut_step_run *r, const abut_step_command *c, int *written, abut_report *rep, abut_err *err)
{
    const int pending = r->now.head.phase == ABUT_PENDING;
    abut_instant at = { r->now.head.step, r->now.head.time };
    abut_status rc;
    if (c->one_pass) {
        rc = abut_stepper_pass(r->ops, r->stepper, &r->now.set, pending, at, written, rep, err);
        if (!rc) rc = r->ops->suspend(r->stepper, &r->now.set, &r->next, err);
    } else {
        rc = abut_stepper_advance(r->ops, r->stepper, &r->now.set, pending, &at, written, (int)c->record, &r->next, rep, err);
    }
    if (rc) return rc;
    const abut_arrays swap = r->now.set;
    r->now.set = r->next;
    r->now.head = (abut_frame_head){ at.step, at.time, c->one_pass ? ABUT_PENDING : ABUT_COMMITTED };
    r->next = swap;
    return ABUT_OK;
}

/* The report of a failed step shows why; a failure to write it comes second. */
static abut_status write_report(const abut_step_run *r, const abut_report *rep, abut_status rc, abut_err *err)
{
    if (!r->report) return rc;
    abut_err late = { 0 };
    const abut_status wrote = abut_report_write(rep, &r->s.model, r->report, &late);
    if (rc || !wrote) return rc;
    *err = late;
    return wrote;
}

/* The state of a step that was given up.  That it could not be written is said after why the step was given up. */
static void dump_stuck(abut_step_run *r, const abut_step_command *c, const abut_report *rep, abut_cli *cli, abut_err *err)
{
    abut_err late = { 0 };
    int kept = 0;
    if (!c->dump_stuck || !r->ops->stuck) return;
    abut_status rc = r->ops->stuck(r->stepper, &r->now.set, rep, err->msg, &r->next, &kept, &late);
    if (!rc && !kept) return;
    if (!rc) rc = write_stuck(c->dump_stuck, &r->s, c->history, &r->now, &r->next, &late);
    if (!rc) {
        abut_cli_say(cli, "%s keeps the stuck state; step goes on from it", c->dump_stuck);
        return;
    }
    const size_t used = strlen(err->msg);
    snprintf(err->msg + used, sizeof err->msg - used, "; the stuck state is not kept: %.300s", late.msg);
}

/* *n: number of steps to make; 0 if the time of --until has passed. */
static abut_status count_steps(const abut_step_run *r, const abut_step_command *c, int64_t *n, abut_err *err)
{
    const abut_frame_head *now = &r->now.head;
    const double left = ceil((c->until - now->time) / r->s.model.h[0] - 1e-9);
    *n = c->one_pass ? 1 : c->steps >= 0 ? c->steps : c->rest > 0 ? ABUT_STEP_MOST - now->step : 1;
    if (isfinite(c->until) && left > (double)(ABUT_STEP_MOST - now->step))
        return abut_fail(err, ABUT_E_ARG, "--until %g s is %.3g steps of %g s from step %lld at %g s: expected a time before "
                         "step 2^53", c->until, left, r->s.model.h[0], (long long)now->step, now->time);
    if (isfinite(c->until) && (c->steps < 0 || left < (double)*n)) *n = left > 0 ? (int64_t)left : 0;
    if (*n <= ABUT_STEP_MOST - now->step) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "%s: no %lld steps can follow step %lld: the largest number is 2^53", r->s.io.in_name,
                     (long long)*n, (long long)now->step);
}

/* --checkpoint-every: what was written is on the disk. */
static abut_status keep_checkpoint(abut_step_run *r, const abut_step_command *c, const abut_cli *cli, abut_err *err)
{
    const double now = abut_time_wall();
    if (!(c->checkpoint > 0) || !cli->out || now - r->synced < c->checkpoint) return ABUT_OK;
    r->synced = now;
    return abut_out_sync(cli->out, cli->out_path ? cli->out_path : "output", err);
}

/* --until-rest: whether this step ends slowly enough, after all that the script has to begin or to change, and so many did. */
static void look_for_rest(abut_step_run *r, const abut_step_command *c)
{
    const abut_model *m = &r->s.model;
    const abut_array *v = abut_array_named(&r->now.set, "node/v");
    double fastest = 0;
    for (int32_t i = 0; i < m->nv; i++) {
        const double *u = (const double *)v->data + 3 * (size_t)i;
        if (m->role[i] == ABUT_NODE_FREE) fastest = fmax(fastest, u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    }
    const int is_over = r->now.head.time - 0.5 * m->h[0] >= abut_motion_last_event(m);
    r->slow = is_over && sqrt(fastest) <= c->rest ? r->slow + 1 : 0;
    r->rests = r->slow >= SLOW_ENOUGH;
}

static abut_status make_step(abut_step_run *r, const abut_step_command *c, int due, abut_report *rep, abut_cli *cli,
                             abut_err *err)
{
    int written = due;
    abut_status rc = advance_one(r, c, &written, rep, err);
    r->tally.more_frames += written && !due;
    if (rc == ABUT_E_NUMERIC) dump_stuck(r, c, rep, cli, err);
    rc = write_report(r, rep, rc, err);
    if (!rc) tally_add(&r->tally, c, &r->model, rep);
    if (!rc && c->rest > 0) look_for_rest(r, c);
    if (rc || !written) return rc;
    rc = abut_stream_write_frame(&r->s, &r->now.head, &r->now.set, err);
    r->tally.frames += !rc && r->s.io.out;
    return rc ? rc : keep_checkpoint(r, c, cli, err);
}

static abut_status simulate(abut_step_run *r, const abut_step_command *c, abut_cli *cli, abut_err *err)
{
    const double t0 = r->synced = abut_time_wall();
    int64_t n;
    abut_status rc = count_steps(r, c, &n, err);
    if (rc) return rc;
    if (n < 1 && isfinite(c->until) && c->steps)
        abut_cli_say(cli, "--until %g s: the stream is at %g s already, no step was made", c->until, r->now.head.time);
    const int64_t goal = r->now.head.step + n;
    for (int64_t k = 1; k <= n && !rc && !r->rests && !(c->dry && k > 1); k++) {
        abut_report rep = { .step = r->now.head.step + 1, .lag_residual = -1, .min_gap = -1, .min_jacobian_tet = -1,
                            .max_stretch_shell = -1, .promises = abut_solver_promises(c->solver, &c->o) };
        /* the step that may be the last of --until-rest is written, too */
        const int due = c->one_pass || (r->now.head.step + 1) % c->every == 0 || k == n || r->slow >= SLOW_ENOUGH - 1;
        rc = make_step(r, c, due, &rep, cli, err);
        if (!rc && !c->one_pass) progress(cli, &rep, goal, k, t0);
        if (!rc && c->dry) {
            dry_say(r, c, &rep, n, cli);
            rc = abut_cli_said("--dry-run", err);
        }
        abut_report_clear(&rep);
    }
    if (rc != ABUT_E_IO) tally_say(&r->tally, c, &r->model, cli);   /* a reader that has gone asks for nothing */
    if (!c->dry && !c->one_pass) tally_sum(r, c, cli, rc);
    return rc;
}

/* The solver, once the scene is known. */
static abut_status options_of(void *ctx, const abut_model *m, const char **options, abut_err *err)
{
    abut_step_command *c = ctx;
    const abut_status rc = abut_step_choose_solver(c, m, err);
    *options = c->history;
    return rc;
}

abut_status abut_step_run_all(abut_step_run *r, abut_step_command *c, abut_cli *cli, abut_err *err)
{
    abut_status rc = abut_stream_open_asking(&r->s, cli, options_of, c, err);
    if (!rc) rc = abut_last_read(&r->now, &r->s, c->from, err);
    if (rc == ABUT_E_ARG && r->s.item == ABUT_ITEM_END) abut_wrap(err, "--from %d", c->from);
    if (rc) return rc;
    c->o.names = &r->s.model_set;
    abut_solve_view(&r->model, &r->s.model, &c->o);
    r->ops = c->solver->stepper;
    rc = abut_solver_make(&r->stepper, &r->s.model, c->solver, &c->o, err);
    if (rc == ABUT_E_FORMAT || rc == ABUT_E_GEOM) abut_wrap(err, "%s: MODEL", cli->in_name);
    if (!rc) rc = simulate(r, c, cli, err);
    if ((rc == ABUT_E_FORMAT || rc == ABUT_E_GEOM) && !r->tally.steps) abut_cli_keep_nothing(cli);
    return rc ? rc : abut_stream_close(&r->s, err);
}

void abut_step_run_clear(abut_step_run *r)
{
    if (r->stepper) r->ops->free(r->stepper);
    abut_last_clear(&r->now);
    abut_arrays_clear(&r->next);
    abut_stream_clear(&r->s);
    *r = (abut_step_run){ 0 };
}

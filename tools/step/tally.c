#include "tools/step/run.h"

#include "base/timer.h"
#include "base/words.h"
#include "model/schemes.h"
#include "solve/step/record.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define ROUGH 0.05      /* of the largest impulse on a node */
#define SLOWED 0.05     /* of the angular momentum */
#define SLIGHT 0.01     /* of the error of contact forces: parts that are not said */

void abut_step_tally_add(abut_step_tally *t, const abut_step_command *c, const abut_model *m, const abut_report *rep)
{
    const double *want = c->o.search.stop == ABUT_STOP_NEWTON ? m->force_tolerance : NULL;
    if (!t->steps++) t->min_gap = INFINITY;
    t->iterations += rep->newton;
    if (rep->min_gap >= 0) t->min_gap = fmin(t->min_gap, rep->min_gap);
    t->damped += rep->damped;
    t->spin = 1 - (1 - t->spin) * (1 - rep->spin_taken);
    t->worst_balance = fmax(t->worst_balance, rep->force_residual);
    if (abut_error_sum(rep->contact_error) > abut_error_sum(t->error)) memcpy(t->error, rep->contact_error, sizeof t->error);
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
static void say_error(const double *error, abut_cli *cli)
{
    const double sum = abut_error_sum(error);
    char text[96] = "";
    size_t used = 0;
    for (int k = 0; k < ABUT_ERRORS && sum > 0; k++)
        if (error[k] > SLIGHT * sum)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %.2g", used ? ", " : "", abut_error_names[k],
                                     100 * error[k]);
    if (used) abut_cli_say(cli, "contact forces within %.2g %% of the largest force on a body (%s)", 100 * sum, text);
}

void abut_step_tally_say(const abut_step_tally *t, const abut_step_command *c, const abut_model *m, abut_cli *cli)
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
    say_error(t->error, cli);
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
        abut_cli_say(cli,
                     "implicit Euler took %d of %d step%s of %s, which created energy%s: %g s is too long for it here",
                     t->damped, t->steps, abut_s(t->steps), abut_scheme_names[m->scheme[0]],
                     abut_schemes[m->scheme[0]].share < 1 ? " or let volumes swing" : "", m->h[0]);
    if (t->mended[0] || t->mended[1])
        abut_cli_say(cli, "the judge refused %d of %d step%s: %d passed after more rounds of detection, the barrier took %d",
                     t->mended[0] + t->mended[1], t->steps, abut_s(t->steps), t->mended[0], t->mended[1]);
    if (t->rising)
        abut_cli_say(cli, "the barrier took %d of %d step%s whose linearisations led to more energy, less the work of contacts",
                     t->rising, t->steps, abut_s(t->steps));
    if (t->meeting)
        abut_cli_say(cli, "%d of %d step%s %s something: the frames at their ends are not free of it (sqp/hits)",
                     t->meeting, t->steps, abut_s(t->steps),
                     abut_plural(t->meeting, "intersects or inverts", "intersect or invert"));
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

void abut_step_tally_sum(const abut_step_run *r, const abut_step_command *c, abut_cli *cli, abut_status rc)
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

void abut_step_dry_say(const abut_step_run *r, const abut_step_command *c, const abut_report *rep, int64_t steps, abut_cli *cli)
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

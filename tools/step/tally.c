#include "tools/step/run.h"

#include "solve/step/record.h"

#include <math.h>

void abut_step_tally_add(abut_step_tally *t, const abut_step_command *c, const abut_model *m, const abut_report *rep)
{
    const double *want = c->o.stop == ABUT_STOP_NEWTON ? m->force_tolerance : NULL;
    t->steps++;
    t->damped += rep->damped;
    t->worst_balance = fmax(t->worst_balance, rep->force_residual);
    t->balanced += rep->force_largest > 0;
    t->mended[rep->nodal.repaired > 0 ? rep->nodal.repaired - 1 : 0] += rep->nodal.repaired > 0;
    t->unbalanced += want && rep->force_residual > *want;
    if (!(rep->lag_residual > m->tolerance[0])) return;
    t->unsettled++;
    t->worst_lag = fmax(t->worst_lag, rep->lag_residual);
}

/* What the solver does not promise. */
static void say_promises(const abut_step_command *c, abut_cli *cli)
{
    char text[160] = "";
    size_t used = 0;
    for (int k = 0; k < ABUT_PROMISES; k++)
        if (!(c->solver->promises & 1u << k))
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "", abut_promise_names[k]);
    if (used) abut_cli_say(cli, "solver %s guarantees nothing about %s", c->solver->name, text);
}

void abut_step_tally_say(const abut_step_tally *t, const abut_step_command *c, const abut_model *m, abut_cli *cli)
{
    if (t->unbalanced)
        abut_cli_say(cli, "rounding kept the forces of %d of %d steps from balancing: up to %.3g of the largest on a body is "
                     "left (want %.3g)", t->unbalanced, t->steps, t->worst_balance, m->force_tolerance[0]);
    else if (t->steps && t->balanced && (c->record & ABUT_WITH_FORCES))
        abut_cli_say(cli, "forces balance to %.2g of the largest on a body, or better", t->worst_balance);
    if (t->more_frames)
        abut_cli_say(cli, "%d frames more than --every asks for: the path to the next one had too many waypoints",
                     t->more_frames);
    if (t->unsettled)
        abut_cli_say(cli, "friction had not converged in %d of %d steps after %d passes: lag residual up to %.3g m/s (want %.3g)",
                     t->unsettled, t->steps, m->lags[0], t->worst_lag, m->tolerance[0]);
    if (t->damped)
        abut_cli_say(cli, "implicit Euler took %d of %d steps of the midpoint scheme, which created energy or let volumes swing: "
                     "%g s is too long for it here", t->damped, t->steps, m->h[0]);
    if (t->mended[0] || t->mended[1])
        abut_cli_say(cli, "the judge refused %d of %d steps: %d passed after more rounds of detection, the barrier took %d",
                     t->mended[0] + t->mended[1], t->steps, t->mended[0], t->mended[1]);
    say_promises(c, cli);
}

/* step: advances the state.  Frames already in the stream pass through; new ones follow. */
#include "tools/step/run.h"

#include <errno.h>
#include <string.h>

#define SUMMARY \
    "Advances the state by implicit time steps without intersections.\n\n" \
    "    step -n 100 start.abut -o run.abut                       100 steps\n" \
    "    mesh-prep scene.yaml | step --until 2 | ccd-check        two seconds, judged\n" \
    "    step --from 10 -n 5 --lags 4 run.abut -o branch.abut     from frame 10 on\n" \
    "    step --solver lbfgs-h --report steps.jsonl run.abut      another solver, reported\n" \
    "    step --help all                                          every option\n" \
    "    step --help solvers                                      which solver for what"

int main(int argc, char **argv)
{
    abut_step_keep_memory();
    abut_step_line line;
    abut_step_command c;
    abut_cli cli;
    abut_step_run r = { 0 };
    abut_err err = { 0 };
    abut_step_line_init(&line);
    abut_cli_begin(&cli, argc, argv, SUMMARY, "[FILE]", line.opts, ABUT_CLI_IN | ABUT_CLI_OUT_MAY);
    abut_status rc = abut_step_line_read(&line, &cli, &c, &err);
    if (!rc && !cli.out && !c.dry) rc = abut_cli_refuse_terminal(&err);
    if (!rc) {
        if (c.dry) abut_cli_drop_output(&cli);
        if (c.report) r.report = abut_cli_create(&cli, c.report, &err);
        if (!err.code && abut_step_run_all(&r, &c, &cli, &err) == ABUT_OK) err = (abut_err){ 0 };
    }
    if (r.report && fclose(r.report) && !err.code) abut_fail(&err, ABUT_E_IO, "%s: %s", c.report, strerror(errno));
    const int moves = c.rest > 0 && !c.dry && !r.rests;
    abut_step_run_clear(&r);
    return abut_cli_end(&cli, moves, &err);
}

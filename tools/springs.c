/* springs: puts springs on the edges of each MODEL; frames pass through. */
#include "base/words.h"
#include "model/edge_springs.h"
#include "tools/cli/cli.h"

#include <math.h>

static abut_status check(const abut_edge_springs_opts *o, abut_err *err)
{
    if (!(o->stiffness > 0))
        return abut_fail(err, ABUT_E_ARG,
                         isnan(o->stiffness) ? "--stiffness N/m must be given" : "--stiffness %g: want more than 0",
                         o->stiffness);
    if (o->across < 0) return abut_fail(err, ABUT_E_ARG, "--across %g: want 0 or more", o->across);
    return ABUT_OK;
}

static abut_status run(abut_stream *s, abut_cli *cli, const abut_edge_springs_opts *o, abut_err *err)
{
    char history[160];
    snprintf(history, sizeof history, "{\"stiffness\":%.17g,\"across\":%.17g,\"replace\":%s}", o->stiffness, o->across,
             o->replace ? "true" : "false");
    abut_status rc = abut_stream_open(s, cli, history, err);
    while (!rc && !(rc = abut_stream_next(s, err)) && s->item != ABUT_ITEM_END) {
        int32_t added = 0;
        if (s->item == ABUT_ITEM_MODEL) {
            rc = abut_edge_springs_add(&s->model_set, o, &added, err);
            if (!rc) rc = abut_model_view(&s->model_set, &s->model, err);
            if (!rc)
                abut_cli_say(cli, "%d spring%s added%s", added, abut_s(added), o->replace ? ", in place of the elements" : "");
        }
        if (!rc) rc = abut_stream_write(s, err);
    }
    return rc ? rc : abut_stream_close(s, err);
}

int main(int argc, char **argv)
{
    abut_edge_springs_opts o = { .stiffness = NAN };
    const abut_opt opts[] = { { 0, "stiffness", ABUT_OPT_REAL, &o.stiffness, "N/m",
                                "of a spring on each edge of a tet, shell or rod; must be given" },
                              { 0, "across", ABUT_OPT_REAL, &o.across, "N/m",
                                "also springs that resist bending: between corners that face each other across the "
                                "edge of two shells, and two rod segments on (default: none)" },
                              { 0, "replace", ABUT_OPT_FLAG, &o.replace, NULL, "the elements go, their mass and contact stay" },
                              { 0 } };
    abut_cli cli;
    abut_err err = { 0 };
    abut_cli_begin(&cli, argc, argv, "Puts springs on the edges of a model.", "[FILE]", opts, ABUT_CLI_IN | ABUT_CLI_OUT);
    abut_stream s = { 0 };
    abut_status rc = check(&o, &err);
    if (!rc) rc = run(&s, &cli, &o, &err);
    abut_stream_clear(&s);
    return abut_cli_end(&cli, 0, rc ? &err : NULL);
}

/* tear: the first frame with elements that are stretched too far is followed by a MODEL and FRAME without them. */
#include "base/words.h"
#include "tear/tear.h"
#include "tools/cli/cli.h"

#include <math.h>
#include <stdlib.h>

typedef struct request {
    double stretch;
    int tears;              /* the last frame has elements to tear; done unless a new model follows, made of it before */
    int torn;               /* a frame was torn: later frames are dropped */
    int64_t dropped;
} request;

/* Whether something tears in a frame. */
static abut_status look(request *r, const abut_model *m, const double *x, uint8_t **gone, abut_torn *torn, abut_err *err)
{
    *gone = calloc((size_t)m->nt + (size_t)m->nsh + (size_t)m->nsp + (size_t)m->nrd + 1, 1);
    if (!*gone) return abut_fail(err, ABUT_E_NOMEM, "marks of %d tets", m->nt);
    const abut_status rc = abut_tear_find(m, x, r->stretch, *gone, torn, err);
    r->tears = !rc && torn->tets + torn->shells + torn->springs + torn->rods > 0;
    return rc;
}

/* Writes the new model and frame after a frame that tears. */
static abut_status tear_frame(request *r, abut_stream *s, const abut_arrays *set, const abut_frame *f,
                              const abut_frame_head *head, abut_err *err)
{
    abut_arrays model = { 0 }, frame = { 0 };
    abut_torn torn;
    uint8_t *gone = NULL;
    abut_status rc = look(r, &s->model, f->x, &gone, &torn, err);
    if (!rc) rc = abut_tear_apply(&s->model_set, set, gone, &model, &frame, &torn, err);
    if (rc) abut_wrap(err, "frame %lld", (long long)head->step);
    if (!rc) rc = abut_writer_model(s->writer, &model, err);
    if (!rc) rc = abut_writer_frame(s->writer, head, &frame, err);
    if (!rc)
        abut_cli_say(abut_stream_cli(s),
                     "frame %lld: %d tet%s, %d shell%s, %d spring%s, %d rod%s tear (stretch up to %.4g); %d node%s split off",
                     (long long)head->step, torn.tets, abut_s(torn.tets), torn.shells, abut_s(torn.shells), torn.springs,
                     abut_s(torn.springs), torn.rods, abut_s(torn.rods), torn.worst, torn.copies, abut_s(torn.copies));
    r->tears = 0;
    r->torn = 1;
    abut_arrays_clear(&model);
    abut_arrays_clear(&frame);
    free(gone);
    return rc;
}

static abut_status pass_frame(request *r, abut_stream *s, abut_err *err)
{
    abut_torn torn;
    uint8_t *gone = NULL;
    abut_status rc = r->tears ? tear_frame(r, s, &s->before_set, &s->before, &s->before_head, err) : ABUT_OK;
    if (r->torn) {
        r->dropped++;
        return rc;
    }
    rc = abut_stream_write(s, err);
    if (!rc && s->head.phase == ABUT_COMMITTED) rc = look(r, &s->model, s->frame.x, &gone, &torn, err);
    free(gone);
    return rc;
}

static abut_status run(request *r, abut_stream *s, abut_cli *cli, abut_err *err)
{
    char history[64];
    snprintf(history, sizeof history, "{\"stretch\":%.17g}", r->stretch);
    abut_status rc = abut_stream_open(s, cli, history, err);
    while (!rc && !(rc = abut_stream_next(s, err)) && s->item != ABUT_ITEM_END) {
        if (s->item == ABUT_ITEM_FRAME) {
            rc = pass_frame(r, s, err);
        } else {
            r->tears = r->torn = 0;
            rc = abut_stream_write(s, err);
        }
    }
    if (!rc && r->tears) rc = tear_frame(r, s, &s->frame_set, &s->frame, &s->head, err);
    if (!rc && r->dropped)
        abut_cli_say(cli, "%lld %s dropped: they were made without it", (long long)r->dropped,
                     abut_plural(r->dropped, "frame after the tear is", "frames after the tear are"));
    return rc ? rc : abut_stream_close(s, err);
}

int main(int argc, char **argv)
{
    request r = { .stretch = NAN };
    const abut_opt opts[] = {
        { 0, "stretch", ABUT_OPT_REAL, &r.stretch, "S", "elements tear beyond this principal stretch, above 1; must be given" },
        { 0 }
    };
    abut_cli cli;
    abut_err err = { 0 };
    abut_cli_begin(&cli, argc, argv, "Tears what is stretched too far: a new model follows the first frame that has any.",
                   "[FILE]", opts, ABUT_CLI_IN | ABUT_CLI_OUT);
    abut_stream s = { 0 };
    abut_status rc =
        r.stretch > 1 ? ABUT_OK
                      : abut_fail(&err, ABUT_E_ARG,
                                  isnan(r.stretch) ? "--stretch S must be given" : "--stretch %g: want more than 1", r.stretch);
    if (!rc) rc = run(&r, &s, &cli, &err);
    abut_stream_clear(&s);
    return abut_cli_end(&cli, 0, rc ? &err : NULL);
}

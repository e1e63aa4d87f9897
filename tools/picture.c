/* picture: draws frames, off screen. */
#include "base/words.h"
#include "formats/picture/image.h"
#include "formats/picture/picture.h"
#include "formats/result/shots.h"
#include "tools/cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
    abut_picture_opts to;
    int panels, no_label;
    const char *frames, *size, *camera, *color, *range;
    abut_opt_list objects;
} options;

/* "A:B", either may be left out. */
static abut_status parse_range(const char *text, double range[2], abut_err *err)
{
    char *end;
    const double a = strtod(text, &end);
    if (end != text) range[0] = a;
    const int colon = *end == ':';
    const char *second = end + colon;
    const double b = strtod(second, &end);
    if (end != second) range[1] = b;
    if (!colon || *end || range[0] >= range[1]) return abut_fail(err, ABUT_E_ARG, "'%.40s': expected LOW:HIGH", text);
    return ABUT_OK;
}

/* Names the option in the message of a value that it does not take. */
static abut_status value_of(const char *option, abut_status rc, abut_err *err)
{
    return rc ? abut_wrap(err, "--%s", option) : ABUT_OK;
}

static abut_status check_options(options *o, abut_shots_opts *so, abut_err *err)
{
    abut_picture_opts *p = &o->to;
    abut_status rc = ABUT_OK;
    if (!p->dir && !p->strip && !p->film)
        return abut_fail(err, ABUT_E_ARG, "nothing to draw: expected --png DIR, --strip FILE, --film FILE, or several");
    if (!isnan(p->per_second) && !p->film) return abut_fail(err, ABUT_E_ARG, "--fps belongs to --film");
    if (!isnan(p->per_second) && !(p->per_second >= 0.1 && p->per_second <= 240))
        return abut_fail(err, ABUT_E_ARG, "--fps %g: want 0.1 to 240", p->per_second);
    if (o->panels != ABUT_NOT_GIVEN && !p->strip) return abut_fail(err, ABUT_E_ARG, "--panels belongs to --strip");
    if (o->panels != ABUT_NOT_GIVEN && (o->panels < 1 || o->panels > 64))
        return abut_fail(err, ABUT_E_ARG, "--panels %d: want 1 to 64", o->panels);
    if (o->panels != ABUT_NOT_GIVEN) p->panels = o->panels;
    if (p->film) rc = value_of("film", abut_film_check(p->film, err), err);
    if (!rc && o->size) rc = value_of("size", abut_size_parse(o->size, &p->w, &p->h, err), err);
    if (!rc && o->size) p->strip_w = p->w, p->strip_h = p->h;
    if (!rc && o->camera) rc = value_of("camera", abut_view_parse(o->camera, &p->view, err), err);
    if (o->color && strcmp(o->color, "object")) p->field = o->color;
    if (!rc && o->range) rc = value_of("range", parse_range(o->range, p->range, err), err);
    if (!rc && o->range && !p->field)
        rc = abut_fail(err, ABUT_E_ARG, "--range %s: expected --color with a field, which has a scale", o->range);
    p->label = !o->no_label;
    *so = (abut_shots_opts){ .names = o->objects.item, .n_names = o->objects.n, .want = abut_picture_want(p) };
    return !rc && o->frames ? value_of("frames", abut_pick_parse(o->frames, &so->pick, err), err) : rc;
}

static abut_status take_frames(abut_cli *cli, abut_shots *shots, abut_picture *p, abut_err *err)
{
    const abut_shot *s;
    abut_status rc;
    int n = 0;
    for (; !(rc = abut_shots_next(shots, &s, err)) && s; n++) {
        abut_cli_progress(cli, "frame %d  t %.4g s  %d taken", s->index, s->head->time, n);
        if ((rc = abut_picture_frame(p, s, err))) return rc == ABUT_E_ARG ? abut_wrap(err, "--color") : rc;
    }
    if (n || !rc) abut_cli_sum(cli, "%d frame%s taken", n, abut_s(n));
    return rc;
}

static abut_status work(abut_cli *cli, const options *o, const abut_shots_opts *so, abut_err *err)
{
    abut_shots shots = { 0 };
    abut_picture *p = NULL;
    abut_reader *reader = NULL;
    abut_status rc = abut_reader_open(cli->in, cli->in_name, &reader, err);
    if (!rc) rc = abut_picture_open(&o->to, &p, err);
    if (!rc) {
        abut_shots_open(&shots, reader, so);
        rc = take_frames(cli, &shots, p, err);
        if (rc && abut_reader_cut(reader, NULL)) abut_unfinished_advise(cli, err);
        if (*shots.note) abut_cli_say(cli, "%s", shots.note);
    }
    for (int left = 1; left && !rc;) {
        rc = abut_picture_draw(p, &left, err);
        if (left) abut_cli_progress(cli, "%d picture%s left", left, abut_s(left));
    }
    abut_picture_free(&p);
    abut_shots_clear(&shots);
    abut_reader_free(&reader);
    return rc;
}

int main(int argc, char **argv)
{
    options o = { .to = abut_picture_defaults(), .panels = ABUT_NOT_GIVEN };
    const abut_opt opts[] = {
        { 0, "png", ABUT_OPT_FOLDER, &o.to.dir, "DIR", "a PNG per frame" },
        { 0, "strip", ABUT_OPT_OUTPUT, &o.to.strip, "FILE", "one PNG with several frames side by side" },
        { 0, "film", ABUT_OPT_OUTPUT, &o.to.film, "FILE",
          "a film of all pictures: .gif, or, where the program ffmpeg is, .mp4, .mov, .mkv, .webm" },
        { 0, "fps", ABUT_OPT_REAL, &o.to.per_second, "X",
          "--film: pictures a second (default: real time where that is 5 to 60, else 25)" },
        { 0, "panels", ABUT_OPT_INT, &o.panels, "N",
          "--strip: this many of the frames, evenly spread (default: all up to 12, "
          "else 5)" },
        { 0, "size", ABUT_OPT_TEXT, &o.size, "WxH", "of a picture (default 960x720, in a strip 360x360)" },
        { 0, "camera", ABUT_OPT_TEXT, &o.camera, "YAW,PITCH,ZOOM",
          "degrees around the scene and above the horizon; 1: just fits (default 30,18,1)" },
        { 0, "color", ABUT_OPT_TEXT, &o.color, "FIELD",
          "colour by object (default), displacement, speed, stress, J, stretch, contact-force, gap, or an array of "
          "another program with one number a node (formats/EXPORT.md, under 'A page')" },
        { 0, "range", ABUT_OPT_TEXT, &o.range, "LOW:HIGH",
          "--color: ends of its scale, in the unit of the field (default: from the frames)" },
        { 0, "wireframe", ABUT_OPT_FLAG, &o.to.wireframe, NULL, "show the edges of the triangles" },
        { 0, "no-label", ABUT_OPT_FLAG, &o.no_label, NULL, "neither time nor colour scale in the picture" },
        { 'f', "frames", ABUT_OPT_TEXT, &o.frames, "A:B:C", "frames by place in the stream, as in Python; or a list: 0,10,-1" },
        { 0, "object", ABUT_OPT_LIST, &o.objects, "NAME", "only this object (may be given again)" },
        { 0 }
    };
    abut_cli cli;
    abut_cli_begin(&cli, argc, argv, "Draws the frames of a state stream, off screen.", "[FILE]", opts, ABUT_CLI_IN);
    abut_err err = { 0 };
    abut_shots_opts so;
    o.to.keep = cli.no_clobber;
    if (!check_options(&o, &so, &err) && work(&cli, &o, &so, &err) == ABUT_OK) err = (abut_err){ 0 };
    return abut_cli_end(&cli, 0, &err);
}

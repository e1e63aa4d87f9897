/* export: files that other programs read, tables, pictures, text. */
#include "formats/dump.h"
#include "formats/results.h"
#include "formats/shots.h"
#include "formats/summary.h"
#include "tools/cli.h"
#include "tools/cli_unfinished.h"

#include <stdlib.h>
#include <string.h>

enum { NOT_GIVEN = -0x7fffffff };

typedef struct options {
    abut_results_opts to;
    int panels;
    const char *frames, *size, *camera, *color, *range;
    abut_opt_list objects, arrays;
    int summary, dump, no_data, no_label;
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
    if (!colon || *end || range[0] >= range[1]) return abut_fail(err, ABUT_E_ARG, "range '%.40s': expected LOW:HIGH", text);
    return ABUT_OK;
}

static abut_status check_pictures(options *o, abut_err *err)
{
    abut_picture_opts *p = &o->to.picture;
    const char *given = o->size ? "size" : o->camera ? "camera" : o->color ? "color" : o->range ? "range" :
                        o->panels != NOT_GIVEN ? "panels" : p->wireframe ? "wireframe" : o->no_label ? "no-label" : NULL;
    if (given && !p->dir && !p->strip) return abut_fail(err, ABUT_E_ARG, "--%s belongs to --png and --strip", given);
    abut_status rc = ABUT_OK;
    if (o->panels != NOT_GIVEN && (o->panels < 1 || o->panels > 64))
        rc = abut_fail(err, ABUT_E_ARG, "--panels %d: want 1 to 64", o->panels);
    if (o->panels != NOT_GIVEN) p->panels = o->panels;
    if (!rc && o->size) rc = abut_size_parse(o->size, &p->w, &p->h, err);
    if (!rc && o->size) p->strip_w = p->w, p->strip_h = p->h;
    if (!rc && o->camera) rc = abut_view_parse(o->camera, &p->view, err);
    if (!rc && o->color) rc = abut_paint_parse(o->color, &p->paint, err);
    if (!rc && o->range) rc = parse_range(o->range, p->range, err);
    p->label = !o->no_label;
    return rc;
}

/* What writes to the one text output. */
static int texts(const options *o)
{
    return (o->to.csv && !strcmp(o->to.csv, "-")) + (o->to.json && !strcmp(o->to.json, "-")) + o->summary + o->dump;
}

static abut_status check_options(options *o, const abut_cli *cli, abut_err *err)
{
    const abut_results_opts *to = &o->to;
    const int files = to->vtu || to->obj || to->ply || to->gltf || to->nodes || to->csv || to->json || to->picture.dir ||
                      to->picture.strip;
    if (!files && !o->dump) o->summary = 1;
    if (o->dump && (files || o->summary || o->frames || o->objects.n))
        return abut_fail(err, ABUT_E_ARG, "--dump writes the whole stream as text and goes with no other output or choice");
    if (!o->dump && (o->arrays.n || o->no_data))
        return abut_fail(err, ABUT_E_ARG, "--%s belongs to --dump", o->arrays.n ? "array" : "no-data");
    if (texts(o) > 1) return abut_fail(err, ABUT_E_ARG, "only one of --csv -, --json - and --summary can go to the text output");
    if (cli->out_path && !texts(o))
        return abut_fail(err, ABUT_E_ARG, "-o %s: nothing goes there; it takes --dump, --summary, --csv - or --json -",
                         cli->out_path);
    return check_pictures(o, err);
}

static abut_status dump(abut_cli *cli, const options *o, abut_reader *reader, abut_err *err)
{
    const abut_dump_opts d = { .arrays = o->arrays.item, .narrays = o->arrays.n, .no_data = o->no_data };
    return abut_dump(reader, cli->out, &d, err);
}

static abut_status take_frames(abut_cli *cli, const options *o, abut_shots *shots, abut_results *results, abut_err *err)
{
    const abut_shot *s;
    abut_summary summary = { 0 };
    abut_status rc;
    for (int n = 0; !(rc = abut_shots_next(shots, &s, err)) && s; n++) {
        abut_cli_progress(cli, "frame %d  t %.4g s  %d taken", s->index, s->head->time, n);
        if (o->summary) abut_summary_frame(&summary, cli->out, s);
        if ((rc = abut_results_frame(results, s, err))) return rc;
    }
    if (!rc && o->summary) abut_summary_end(&summary, cli->out);
    return rc;
}

static abut_status finish(abut_cli *cli, abut_results *results, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int left = 1; left && !rc;) {
        rc = abut_results_draw(results, &left, err);
        if (left) abut_cli_progress(cli, "%d pictures left", left);
    }
    const int morphs = results->gltf ? abut_gltf_count(results->gltf) : 0;
    if (!rc && morphs > ABUT_GLTF_FRAMES_SAFE)
        abut_cli_say(cli, "%s: some viewers cannot play %d frames; --frames ::%d would make it %d", results->opt.gltf, morphs,
                     morphs / ABUT_GLTF_FRAMES_SAFE + 1, (morphs - 1) / (morphs / ABUT_GLTF_FRAMES_SAFE + 1) + 1);
    return rc ? rc : abut_results_close(results, err);
}

static abut_status work(abut_cli *cli, const options *o, abut_reader *reader, abut_err *err)
{
    abut_shots_opts so = { .names = o->objects.item, .n_names = o->objects.n, .want = abut_results_want(&o->to) };
    abut_shots shots = { 0 };
    abut_results results = { 0 };
    abut_status rc = o->frames ? abut_pick_parse(o->frames, &so.pick, err) : ABUT_OK;
    if (!rc) rc = abut_results_open(&results, &o->to, cli->out, err);
    if (!rc && o->summary) {
        int n;
        const abut_prov *prov = abut_reader_prov(reader, &n);
        abut_summary_history(cli->out, prov, n);
    }
    abut_shots_open(&shots, reader, &so);
    if (!rc) rc = take_frames(cli, o, &shots, &results, err);
    if (*shots.note) abut_cli_say(cli, "%s", shots.note);
    if (!rc) rc = finish(cli, &results, err);
    abut_results_clear(&results);
    abut_shots_clear(&shots);
    return rc;
}

int main(int argc, char **argv)
{
    options o = { .to.picture = abut_picture_defaults(), .panels = NOT_GIVEN };
    const abut_opt opts[] = {
        { 0, "vtu", ABUT_OPT_TEXT, &o.to.vtu, "DIR",
          "VTK grids with displacement, velocity, contact force, J, stress; scene.pvd" },
        { 0, "obj", ABUT_OPT_TEXT, &o.to.obj, "DIR", "OBJ surfaces, a file per frame" },
        { 0, "ply", ABUT_OPT_TEXT, &o.to.ply, "DIR", "binary PLY surfaces, a file per frame" },
        { 0, "gltf", ABUT_OPT_TEXT, &o.to.gltf, "FILE", "one .glb with the animation in it" },
        { 0, "csv", ABUT_OPT_TEXT, &o.to.csv, "FILE",
          "table of energies, momenta, forces, contacts, a row per frame; -: standard output" },
        { 0, "json", ABUT_OPT_TEXT, &o.to.json, "FILE", "the same table as JSON" },
        { 0, "nodes", ABUT_OPT_TEXT, &o.to.nodes, "DIR",
          "CSV with a row per node: position, velocity, forces; a file per frame" },
        { 0, "png", ABUT_OPT_TEXT, &o.to.picture.dir, "DIR", "pictures, a PNG per frame" },
        { 0, "strip", ABUT_OPT_TEXT, &o.to.picture.strip, "FILE", "one PNG with several frames side by side" },
        { 0, "panels", ABUT_OPT_INT, &o.panels, "N",
          "--strip: this many of the frames, evenly spread (default: all up to 12, "
          "else 5)" },
        { 0, "size", ABUT_OPT_TEXT, &o.size, "WxH", "of a picture (default 960x720, in a strip 360x360)" },
        { 0, "camera", ABUT_OPT_TEXT, &o.camera, "YAW,PITCH,ZOOM",
          "degrees around the scene and above the horizon; 1: just fits "
          "(default 30,18,1)" },
        { 0, "color", ABUT_OPT_TEXT, &o.color, "FIELD", "colour by object (default), speed, stress, J, or stretch of shells" },
        { 0, "range", ABUT_OPT_TEXT, &o.range, "LOW:HIGH", "of the colour scale, in m/s, Pa or 1 (default: from the frames)" },
        { 0, "wireframe", ABUT_OPT_FLAG, &o.to.picture.wireframe, NULL, "show the edges of the triangles" },
        { 0, "no-label", ABUT_OPT_FLAG, &o.no_label, NULL, "neither time nor colour scale in the picture" },
        { 0, "summary", ABUT_OPT_FLAG, &o.summary, NULL, "what the stream holds, as text (default without other output)" },
        { 0, "dump", ABUT_OPT_FLAG, &o.dump, NULL, "the whole stream as text, exact and made for diff" },
        { 0, "array", ABUT_OPT_LIST, &o.arrays, "PATTERN",
          "--dump: only arrays of such names, as 'node/*' (may be given again)" },
        { 0, "no-data", ABUT_OPT_FLAG, &o.no_data, NULL, "--dump: names, types and shapes only" },
        { 'f', "frames", ABUT_OPT_TEXT, &o.frames, "A:B:C", "frames by place in the stream, as in Python; or a list: 0,10,-1" },
        { 0, "object", ABUT_OPT_LIST, &o.objects, "NAME", "only this object (may be given again)" },
        { 0 }
    };
    abut_cli cli;
    abut_cli_begin(&cli, argc, argv, "Writes a state stream as files that other programs read, tables and pictures.", "[FILE]",
                   opts, ABUT_CLI_IN | ABUT_CLI_OUT_TEXT);
    abut_err err = { 0 };
    abut_reader *reader = NULL;
    if (!check_options(&o, &cli, &err) && !abut_reader_open(cli.in, cli.in_name, &reader, &err)) {
        const abut_status rc = o.dump ? dump(&cli, &o, reader, &err) : work(&cli, &o, reader, &err);
        if (rc && abut_reader_cut(reader, NULL)) abut_unfinished_advise(&cli, &err);
    }
    abut_reader_free(&reader);
    return abut_cli_end(&cli, 0, &err);
}

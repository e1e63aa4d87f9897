/* export: files that other programs read, tables, text. */
#include "base/words.h"
#include "formats/html/page_data.h"
#include "formats/result/shots.h"
#include "formats/result/results.h"
#include "formats/result/table_write.h"
#include "formats/stream/dump.h"
#include "mesh/proxy.h"
#include "tools/cli/cli.h"

#include <stdlib.h>
#include <string.h>

typedef struct options {
    abut_results_opts to;
    const char *html, *frames;
    abut_opt_list objects, arrays;
    int summary, dump, no_data, smooth, thick;
} options;

/* Returns the number of outputs to the one text stream. */
static int texts(const options *o)
{
    return (o->to.csv && !strcmp(o->to.csv, "-")) + (o->to.json && !strcmp(o->to.json, "-")) + o->summary + o->dump;
}

static abut_status check_options(options *o, const abut_cli *cli, abut_err *err)
{
    const abut_results_opts *to = &o->to;
    const struct {
        const char *name, *given;
    } files[] = { { "vtu", to->vtu }, { "msh", to->msh }, { "msh-text", to->msh_text }, { "obj", to->obj }, { "ply", to->ply },
                  { "gltf", to->gltf }, { "html", o->html }, { "nodes", to->nodes }, { "csv", to->csv }, { "json", to->json } };
    const char *beside = NULL;
    for (size_t i = 0; i + 2 < sizeof files / sizeof *files; i++)
        if (files[i].given && !strcmp(files[i].given, "-"))
            return abut_fail(err, ABUT_E_ARG, "--%s -: expected the name of a file or folder; --csv and --json write to standard "
                             "output", files[i].name);
    for (size_t i = 0; i < sizeof files / sizeof *files && !beside; i++)
        if (files[i].given) beside = files[i].name;
    if (!beside && !o->dump) o->summary = 1;
    if (!beside) beside = o->summary ? "summary" : o->frames ? "frames" : o->objects.n ? "object" : NULL;
    if (o->dump && beside)
        return abut_fail(err, ABUT_E_ARG, "--dump writes the whole stream as text and does not go with --%s", beside);
    if (!o->dump && (o->arrays.n || o->no_data))
        return abut_fail(err, ABUT_E_ARG, "--%s belongs to --dump", o->arrays.n ? "array" : "no-data");
    if (o->smooth == ABUT_NOT_GIVEN) o->smooth = 0;
    else if (o->smooth < 1 || o->smooth > ABUT_SEGMENTS_MOST)
        return abut_fail(err, ABUT_E_ARG, "--smooth %d: expected 1 to %d segments", o->smooth, ABUT_SEGMENTS_MOST);
    if (o->smooth && !(to->vtu || to->obj || to->ply || to->gltf || o->html))
        return abut_fail(err, ABUT_E_ARG, "--smooth: expected --gltf, --html, --obj, --ply or --vtu, which show surfaces");
    const int others = to->vtu || to->msh || to->msh_text || to->nodes || to->csv || to->json || o->summary;
    if (o->thick && (others || !(to->obj || to->ply || to->gltf || o->html)))
        return abut_fail(err, ABUT_E_ARG, "--thick: expected --gltf, --html, --obj and --ply alone, which show surfaces");
    if (to->tensors && !to->vtu) return abut_fail(err, ABUT_E_ARG, "--tensors: expected --vtu, which writes them");
    if (texts(o) > 1) return abut_fail(err, ABUT_E_ARG, "only one of --csv -, --json - and --summary can go to the text output");
    if (cli->out_path && !texts(o))
        return abut_fail(err, ABUT_E_ARG, "-o %s: nothing goes there; it takes --dump, --summary, --csv - or --json -",
                         cli->out_path);
    return ABUT_OK;
}

static abut_status dump(abut_cli *cli, const options *o, abut_reader *reader, abut_err *err)
{
    const abut_dump_opts d = { .arrays = o->arrays.item, .narrays = o->arrays.n, .no_data = o->no_data };
    const abut_status rc = abut_dump(reader, cli->out, &d, err);
    return rc == ABUT_E_ARG ? abut_wrap(err, "--array"), rc : rc;
}

static abut_status take_frames(abut_cli *cli, const options *o, abut_shots *shots, abut_results *results,
                               abut_html *html, abut_err *err)
{
    const abut_shot *s;
    abut_summary summary = { 0 };
    abut_status rc;
    int taken = 0;
    for (; !(rc = abut_shots_next(shots, &s, err)) && s; taken++) {
        abut_cli_progress(cli, "frame %d  t %.4g s  %d taken", s->index, s->head->time, taken);
        if (o->summary) rc = abut_summary_frame(&summary, cli->out, s, err);
        if (!rc) rc = abut_results_frame(results, s, err);
        if (!rc && html) rc = abut_html_frame(html, s, err);
        if (rc) break;
    }
    if (!rc && o->summary) abut_summary_end(&summary, cli->out);
    if (taken || !rc) abut_cli_sum(cli, "%d frame%s taken", taken, abut_s(taken));
    abut_summary_clear(&summary);
    return rc;
}

static abut_status finish(abut_cli *cli, abut_results *results, abut_err *err)
{
    const int morphs = results->gltf ? abut_gltf_count(results->gltf) : 0;
    if (morphs > ABUT_GLTF_FRAMES_SAFE)
        abut_cli_say(cli, "%s: some viewers cannot play %d frame%s; --frames ::%d would make it %d", results->opt.gltf, morphs,
                     abut_s(morphs), morphs / ABUT_GLTF_FRAMES_SAFE + 1, (morphs - 1) / (morphs / ABUT_GLTF_FRAMES_SAFE + 1) + 1);
    return abut_results_close(results, err);
}

static abut_status work(abut_cli *cli, const options *o, abut_reader *reader, abut_err *err)
{
    abut_shots_opts so = { .names = o->objects.item, .n_names = o->objects.n, .segments = o->smooth, .thick = o->thick,
                           .want = abut_results_want(&o->to) | (o->html ? ABUT_PAGE_WANT : 0) };
    abut_shots shots = { 0 };
    abut_results results = { 0 };
    abut_html *html = NULL;
    int stages;
    const abut_prov *prov = abut_reader_prov(reader, &stages);
    abut_status rc = o->frames && abut_pick_parse(o->frames, &so.pick, err) ? abut_wrap(err, "--frames") : ABUT_OK;
    if (!rc) rc = abut_results_open(&results, &o->to, cli->out, err);
    if (!rc && o->html) rc = abut_html_open(o->html, cli->no_clobber, prov, stages, &html, err);
    if (!rc && o->summary) abut_summary_history(cli->out, prov, stages);
    abut_shots_open(&shots, reader, &so);
    if (!rc) rc = take_frames(cli, o, &shots, &results, html, err);
    if (*shots.note) abut_cli_say(cli, "%s", shots.note);
    if (!rc && o->smooth && !shots.smoothed) abut_cli_say(cli, "--smooth %d: no curved tets", o->smooth);
    if (!rc && o->thick && !shots.thickened) abut_cli_say(cli, "--thick: no shells, rods or particles with a contact thickness");
    if (!rc) rc = finish(cli, &results, err);
    if (!rc && html) rc = abut_html_close(html, err);
    abut_html_free(&html);
    abut_results_clear(&results);
    abut_shots_clear(&shots);
    return rc;
}

int main(int argc, char **argv)
{
    options o = { .smooth = ABUT_NOT_GIVEN };
    const abut_opt opts[] = {
        { 0, "vtu", ABUT_OPT_FOLDER, &o.to.vtu, "DIR",
          "VTK grids with displacement, velocity, contact force, J and stress; scene.pvd lists them" },
        { 0, "tensors", ABUT_OPT_FLAG, &o.to.tensors, NULL,
          "--vtu: also Cauchy's stress and the deformation gradient of every tet, nine numbers each" },
        { 0, "msh", ABUT_OPT_FOLDER, &o.to.msh, "DIR",
          "Gmsh 4.1: tets of any order at rest with displacement and velocity, a file per frame" },
        { 0, "msh-text", ABUT_OPT_FOLDER, &o.to.msh_text, "DIR", "the files of --msh as text" },
        { 0, "obj", ABUT_OPT_FOLDER, &o.to.obj, "DIR", "OBJ surfaces, a file per frame" },
        { 0, "ply", ABUT_OPT_FOLDER, &o.to.ply, "DIR", "binary PLY surfaces, a file per frame" },
        { 0, "gltf", ABUT_OPT_OUTPUT, &o.to.gltf, "FILE", "animation in one file: x.glb binary, x.gltf JSON" },
        { 0, "html", ABUT_OPT_OUTPUT, &o.html, "FILE",
          "one self-contained page that plays the run in a browser" },
        { 0, "csv", ABUT_OPT_OUTPUT_TEXT, &o.to.csv, "FILE",
          "table of energies, momenta, forces and contacts, a row per frame; FILE -: standard output" },
        { 0, "json", ABUT_OPT_OUTPUT_TEXT, &o.to.json, "FILE", "the table of --csv as JSON" },
        { 0, "nodes", ABUT_OPT_FOLDER, &o.to.nodes, "DIR",
          "CSV with a row per node: position, velocity, forces; a file per frame" },
        { 0, "smooth", ABUT_OPT_INT, &o.smooth, "N",
          "--gltf, --html, --obj, --ply, --vtu: the boundary of curved tets with N segments on a side, in place of their "
          "contact surface" },
        { 0, "thick", ABUT_OPT_FLAG, &o.thick, NULL,
          "--gltf, --html, --obj, --ply: shells, rods and particles with the surface of their thickness" },
        { 0, "summary", ABUT_OPT_FLAG, &o.summary, NULL, "what the stream holds, as text (default without other output)" },
        { 0, "dump", ABUT_OPT_FLAG, &o.dump, NULL, "the whole stream as exact text, for diff" },
        { 0, "array", ABUT_OPT_LIST, &o.arrays, "PATTERN",
          "--dump: only arrays whose names match, as 'node/*' (may be given again)" },
        { 0, "no-data", ABUT_OPT_FLAG, &o.no_data, NULL, "--dump: names, types and shapes only" },
        { 'f', "frames", ABUT_OPT_TEXT, &o.frames, "A:B:C", "frames by place in the stream: a Python slice, or a list: 0,10,-1" },
        { 0, "object", ABUT_OPT_LIST, &o.objects, "NAME", "only this object (may be given again)" },
        { 0, "png", ABUT_OPT_ELSEWHERE, NULL, "picture", "draws pictures" },
        { 0, "strip", ABUT_OPT_ELSEWHERE, NULL, "picture", "draws pictures" },
        { 0, "film", ABUT_OPT_ELSEWHERE, NULL, "picture", "draws pictures" },
        { 0, "panels", ABUT_OPT_ELSEWHERE, NULL, "picture", "draws pictures" },
        { 0, "size", ABUT_OPT_ELSEWHERE, NULL, "picture", "draws pictures" },
        { 0, "camera", ABUT_OPT_ELSEWHERE, NULL, "picture", "draws pictures" },
        { 0, "color", ABUT_OPT_ELSEWHERE, NULL, "picture", "draws pictures" },
        { 0, "range", ABUT_OPT_ELSEWHERE, NULL, "picture", "draws pictures" },
        { 0, "wireframe", ABUT_OPT_ELSEWHERE, NULL, "picture", "draws pictures" },
        { 0, "no-label", ABUT_OPT_ELSEWHERE, NULL, "picture", "draws pictures" },
        { 0 }
    };
    abut_cli cli;
    abut_cli_begin(&cli, argc, argv, "Writes a state stream as files that other programs read, and tables.", "[FILE]",
                   opts, ABUT_CLI_IN | ABUT_CLI_OUT_TEXT);
    abut_err err = { 0 };
    abut_reader *reader = NULL;
    o.to.keep = cli.no_clobber;
    if (!check_options(&o, &cli, &err) && !abut_reader_open(cli.in, cli.in_name, &reader, &err)) {
        const abut_status rc = o.dump ? dump(&cli, &o, reader, &err) : work(&cli, &o, reader, &err);
        if (rc && abut_reader_cut(reader, NULL)) abut_unfinished_advise(&cli, &err);
    }
    abut_reader_free(&reader);
    return abut_cli_end(&cli, 0, &err);
}

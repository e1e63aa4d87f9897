/* mesh-prep: a scene or mesh files -> MODEL and first FRAME; refuses what cannot be simulated, and names it. */
#include "contact/start_check.h"
#include "energy/barrier_pair.h"
#include "formats/explain.h"
#include "formats/ipc_script.h"
#include "formats/mesh_io.h"
#include "formats/scene_read.h"
#include "formats/state_io.h"
#include "formats/yaml.h"
#include "mesher/tetra.h"
#include "model/build.h"
#include "model/model.h"
#include "tools/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LISTED = 20 };

/* Everything the program holds. */
typedef struct prep {
    abut_cli cli;
    abut_opt_list set;
    const char *ipc_script, *report;
    int explain;

    abut_arena arena;       /* of the tree */
    abut_bytes source;
    char base[4096];        /* folder of relative paths in the scene */
    abut_tree *tree;
    abut_scene scene;
    abut_arrays model, frame;
    abut_built built;
    abut_offenders bad;
    abut_explain facts;
} prep;

static abut_status no_memory(abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "no memory for the scene");
}

/* The folder of a path, with its last '/'. */
static abut_status folder_of(const char *path, char *base, size_t size, abut_err *err)
{
    const char *slash = strrchr(path, '/');
    const size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    if (n >= size) return abut_fail(err, ABUT_E_FORMAT, "a path of %zu letters: expected less than %zu", n, size);
    memcpy(base, path, n);
    base[n] = 0;
    return ABUT_OK;
}

static abut_status read_yaml(prep *p, const char *path, abut_err *err)
{
    abut_status rc = abut_bytes_load(path, &p->source, err);
    if (!rc) rc = folder_of(path, p->base, sizeof p->base, err);
    return rc ? rc : abut_yaml_read(&p->arena, p->source.name, p->source.data, p->source.size, &p->tree, err);
}

/* Mesh files alone: the scene that has them as its objects, named like the files, and defaults for all else. */
static abut_status scene_of_meshes(prep *p, abut_err *err)
{
    abut_tree *objects = abut_tree_new(&p->arena, ABUT_TREE_MAP, "command line", 0, 0, NULL);
    p->tree = abut_tree_new(&p->arena, ABUT_TREE_MAP, "command line", 0, 0, NULL);
    if (!objects || !p->tree || !abut_tree_add(&p->arena, p->tree, "objects", objects)) return no_memory(err);
    for (int i = 0; i < p->cli.nargs; i++) {
        const char *path = p->cli.args[i], *slash = strrchr(path, '/');
        const char *name = slash ? slash + 1 : path;
        if (!abut_mesh_is_file(path))
            return abut_fail(err, ABUT_E_ARG, "%s: expected one scene, or mesh files alone (.msh .obj .ply .stl .node .ele "
                             ".seg .pt)", path);
        if (abut_tree_find(objects, name)) return abut_fail(err, ABUT_E_ARG, "%s: two files of this name", name);
        abut_tree *object = abut_tree_new(&p->arena, ABUT_TREE_MAP, path, 0, 0, NULL);
        abut_tree *mesh = abut_tree_new(&p->arena, ABUT_TREE_TEXT, path, 0, 0, path);
        if (!object || !mesh || !abut_tree_add(&p->arena, object, "mesh", mesh) ||
            !abut_tree_add(&p->arena, objects, name, object))
            return no_memory(err);
    }
    return ABUT_OK;
}

/* --set key.key=value: the value is YAML. */
static abut_status apply_set(prep *p, const char *item, abut_err *err)
{
    const char *eq = strchr(item, '=');
    const size_t n = eq ? (size_t)(eq - item) : 0;
    abut_tree *value = NULL;
    char *name = abut_arena_alloc(&p->arena, n + sizeof "--set ", 1);
    if (n == 0) return abut_fail(err, ABUT_E_ARG, "--set %s: expected key.key=value", item);
    if (!name) return no_memory(err);
    memcpy(name, "--set ", 6);
    memcpy(name + 6, item, n);
    const abut_status rc = abut_yaml_read(&p->arena, name, eq + 1, strlen(eq + 1), &value, err);
    return rc ? rc : abut_tree_set(&p->arena, p->tree, name + 6, value, err);
}

/* The folder above the script that holds `input/`: base gets one "../" after another until it is there. */
static abut_status find_input(prep *p, const char *script, abut_err *err)
{
    enum { LEVELS = 32 };
    char probe[sizeof p->base + 8];
    abut_status rc = folder_of(script, p->base, sizeof p->base - 3 * LEVELS, err);
    for (int level = 0; level < LEVELS && !rc; level++) {
        snprintf(probe, sizeof probe, "%sinput", p->base);
        if (!access(probe, F_OK)) return ABUT_OK;
        strcat(p->base, "../");
    }
    return rc ? rc : abut_fail(err, ABUT_E_FORMAT, "%s: no folder above it holds 'input', where its meshes are", script);
}

static abut_status read_ipc_script(prep *p, abut_err *err)
{
    const char *notes = "";
    if (p->cli.nargs) return abut_fail(err, ABUT_E_ARG, "--ipc-script and %s: expected one of them", p->cli.args[0]);
    abut_status rc = abut_bytes_load(p->ipc_script, &p->source, err);
    if (!rc) rc = find_input(p, p->ipc_script, err);
    if (!rc) rc = abut_ipc_script_read(&p->arena, &p->source, p->base, &p->tree, &notes, err);
    if (!rc && *notes) abut_cli_say(&p->cli, "commands without effect: %s", notes);
    return rc;
}

static abut_status read_scene(prep *p, abut_err *err)
{
    abut_status rc = ABUT_OK;
    if (p->ipc_script) rc = read_ipc_script(p, err);
    else if (p->cli.nargs == 0) rc = read_yaml(p, "-", err);
    else if (p->cli.nargs == 1 && !abut_mesh_is_file(p->cli.args[0])) rc = read_yaml(p, p->cli.args[0], err);
    else rc = scene_of_meshes(p, err);
    for (int i = 0; i < p->set.n && !rc; i++) rc = apply_set(p, p->set.item[i], err);
    return rc ? rc : abut_scene_read(p->tree, p->base, &p->scene, err);
}

/* Closed surfaces that ask for it become solids. */
static abut_status fill_surfaces(prep *p, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < p->scene.nobjects && !rc; i++) {
        abut_scene_object *o = &p->scene.object[i];
        abut_mesh solid = { 0 };
        if (!(o->max_volume > 0)) continue;
        rc = abut_tetrahedralize(&o->mesh, o->max_volume, o->keep_surface, &solid, err);
        if (rc) {
            abut_wrap(err, "%s: object '%s'", o->from, o->name);
            break;
        }
        abut_mesh_clear(&o->mesh);
        o->mesh = solid;
    }
    return rc;
}

static abut_status build(prep *p, abut_err *err)
{
    abut_status rc = fill_surfaces(p, err);
    if (rc) return rc;
    abut_scene_fit(&p->scene);
    rc = abut_scene_build(&p->scene, &p->model, &p->frame, &p->built, &p->bad, err);
    if (rc) return rc;
    p->facts.kappa_min = abut_kappa_min(p->built.length, p->built.dhat, p->built.mean_mass);
    p->facts.kappa_max = 100 * p->facts.kappa_min;
    double *lo = abut_model_put(&p->model, "contact/kappa-min", 1, err);
    double *hi = lo ? abut_model_put(&p->model, "contact/kappa-max", 1, err) : NULL;
    if (!hi) return err->code;
    *lo = p->facts.kappa_min;
    *hi = p->facts.kappa_max;
    return ABUT_OK;
}

/* The views check what was built as any later stage would; then nothing may touch. */
static abut_status check(prep *p, abut_err *err)
{
    abut_model m;
    abut_frame f;
    abut_start_gap gap;
    abut_status rc = abut_model_view(&p->model, &m, err);
    if (!rc) rc = abut_frame_view(&p->frame, &m, &f, err);
    if (!rc) rc = abut_start_check(&m, &p->model, f.x, p->built.dhat, &p->bad, &gap, err);
    if (rc) return rc;
    p->facts.gap = gap.gap;
    p->facts.reach = p->built.dhat;
    memcpy(p->facts.closest, gap.text, sizeof p->facts.closest);
    return ABUT_OK;
}

static abut_status write_stream(prep *p, abut_err *err)
{
    abut_writer *w = NULL;
    const abut_frame_head head = { 0, 0, ABUT_COMMITTED };
    abut_status rc = abut_writer_open(p->cli.out, p->cli.compress, &w, err);
    if (!rc) rc = abut_writer_prov(w, "mesh-prep", ABUT_VERSION, "{}", err);
    if (!rc) rc = abut_writer_model(w, &p->model, err);
    if (!rc) rc = abut_writer_frame(w, &head, &p->frame, err);
    if (!rc) rc = abut_writer_close(w, err);
    abut_writer_free(&w);
    return rc;
}

/* One primitive: its points and what joins them.  Tets are written as their faces. */
static void write_primitive(FILE *f, int size, const double *x, int *first)
{
    static const int FACES[4][3] = { { 1, 2, 3 }, { 0, 3, 2 }, { 0, 1, 3 }, { 0, 2, 1 } };
    for (int k = 0; k < size; k++) fprintf(f, "v %.17g %.17g %.17g\n", x[3 * k], x[3 * k + 1], x[3 * k + 2]);
    if (size == 1) fprintf(f, "p %d\n", *first);
    if (size == 2) fprintf(f, "l %d %d\n", *first, *first + 1);
    if (size == 3) fprintf(f, "f %d %d %d\n", *first, *first + 1, *first + 2);
    for (int k = 0; size == 4 && k < 4; k++)
        fprintf(f, "f %d %d %d\n", *first + FACES[k][0], *first + FACES[k][1], *first + FACES[k][2]);
    *first += size;
}

static abut_status write_report(const prep *p, abut_err *err)
{
    FILE *f = fopen(p->report, "w");
    if (!f) return abut_fail(err, ABUT_E_IO, "cannot write %s", p->report);
    int first = 1;
    fprintf(f, "# %lld unusable primitives, %d listed\n", (long long)p->bad.total, p->bad.n);
    for (int i = 0; i < p->bad.n; i++) {
        const abut_offender *o = &p->bad.item[i];
        fprintf(f, "# %s\no %d\n", o->text, i + 1);
        write_primitive(f, o->size[0], o->x, &first);
        write_primitive(f, o->size[1], o->x + 3 * o->size[0], &first);
    }
    const int failed = ferror(f);
    if (fclose(f) || failed) return abut_fail(err, ABUT_E_IO, "cannot write %s", p->report);
    return ABUT_OK;
}

/* Lists what was refused; the error that stopped the program stays in err. */
static void refuse(prep *p, abut_err *err)
{
    abut_err other = { 0 };
    for (int i = 0; i < p->bad.n && i < LISTED; i++) fprintf(stderr, "mesh-prep: %s\n", p->bad.item[i].text);
    if (p->bad.total > LISTED) fprintf(stderr, "mesh-prep: ... and %lld more\n", (long long)p->bad.total - LISTED);
    if (p->report && write_report(p, &other)) *err = other;
}

static void clear(prep *p)
{
    abut_scene_clear(&p->scene);
    abut_built_clear(&p->built);
    abut_offenders_clear(&p->bad);
    abut_arrays_clear(&p->model);
    abut_arrays_clear(&p->frame);
    abut_bytes_clear(&p->source);
    abut_arena_clear(&p->arena);
}

int main(int argc, char **argv)
{
    static prep p;
    const abut_opt opts[] = {
        { 's', "set", ABUT_OPT_LIST, &p.set, "KEY=VALUE", "set a key of the scene by its dotted path: time.step=0.005" },
        { 'e', "explain", ABUT_OPT_FLAG, &p.explain, NULL, "say every derived parameter with its unit and why" },
        { 0, "ipc-script", ABUT_OPT_TEXT, &p.ipc_script, "FILE", "read a scene script of the public IPC code" },
        { 0, "report", ABUT_OPT_TEXT, &p.report, "FILE", "write unusable primitives as an OBJ mesh" },
        { 0 }
    };
    abut_err err = { 0 };
    abut_cli_begin(&p.cli, argc, argv, "Turn a scene or mesh files into a model and its first frame.",
                   "[SCENE.yaml | MESH ...]", opts, ABUT_CLI_OUT_MAY);
    abut_status rc = read_scene(&p, &err);
    if (!rc) rc = build(&p, &err);
    if (!rc) rc = check(&p, &err);
    if (!rc && p.explain) abut_explain_write(stderr, &p.scene, &p.built, &p.facts);
    if (!rc && p.cli.out) rc = write_stream(&p, &err);
    if (p.bad.total) refuse(&p, &err);
    clear(&p);
    return abut_cli_end(&p.cli, 0, &err);
}

#define _XOPEN_SOURCE 700   /* realpath */
#include "tools/mesh-prep/source.h"

#include "formats/ipc/script.h"
#include "formats/mesh/mesh_io.h"
#include "formats/result/out_file.h"
#include "formats/scene/scene_read.h"
#include "formats/stream/state_wire.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define _XOPEN_SOURCE 700   /* realpath */

static abut_status no_memory(abut_err *err) { return abut_fail(err, ABUT_E_NOMEM, "no memory for the scene"); }

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

/* The text of a scene or script.  Read, it takes some hundred times its size in memory. */
static abut_status load_text(abut_prep_source *p, const char *path, abut_err *err)
{
    static const size_t most = (size_t)64 << 20;
    const abut_status rc = abut_bytes_load(path, &p->text, err);
    if (!rc && abut_is_state_stream(p->text.data, p->text.size))
        return abut_fail(err, ABUT_E_FORMAT, "%s is an abut state stream: expected a scene or meshes, of which mesh-prep makes "
                         "one; `step` goes on from its last frame, `export --summary` says what is in it", p->text.name);
    if (rc || p->text.size <= most) return rc;
    return abut_fail(err, ABUT_E_FORMAT, "%s: %.3g MiB of text, expected at most %zu", p->text.name,
                     (double)p->text.size / (1 << 20), most >> 20);
}

/* Explains that a file is neither a scene nor a known mesh format, unless its name ends like that of a scene. */
static abut_status unknown_kind(const char *path, abut_status rc, abut_err *err)
{
    static const char *const scenes[] = { ".yaml", ".yml", ".json" };
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    char said[400] = "";
    for (size_t i = 0; dot && i < sizeof scenes / sizeof *scenes; i++)
        if (!strcmp(dot, scenes[i])) dot = NULL;
    if (!dot) return rc;
    if (rc) snprintf(said, sizeof said, " (%.396s)", err->msg);
    return abut_fail(err, ABUT_E_FORMAT, "%s: no mesh format %s; known are " ABUT_MESH_KINDS ". It is no scene either%s", path,
                     dot, said);
}

static abut_status read_yaml(abut_prep_source *p, const char *path, abut_err *err)
{
    abut_status rc = load_text(p, path, err);
    if (!rc) rc = folder_of(path, p->base, sizeof p->base, err);
    if (rc) return rc;
    rc = abut_yaml_read(&p->arena, p->text.name, p->text.data, p->text.size, &p->tree, err);
    return rc == ABUT_E_FORMAT || (!rc && p->tree->kind != ABUT_TREE_MAP) ? unknown_kind(path, rc, err) : rc;
}

/* Mesh files alone: the scene that has them as its objects, named like the files, and defaults for all else. */
static abut_status scene_of_meshes(abut_prep_source *p, const abut_cli *cli, abut_err *err)
{
    abut_tree *objects = abut_tree_new(&p->arena, ABUT_TREE_MAP, "command line", 0, 0, NULL);
    p->tree = abut_tree_new(&p->arena, ABUT_TREE_MAP, "command line", 0, 0, NULL);
    if (!objects || !p->tree || !abut_tree_add(&p->arena, p->tree, "objects", objects)) return no_memory(err);
    for (int i = 0; i < cli->nargs; i++) {
        const char *path = cli->args[i], *slash = strrchr(path, '/');
        const char *name = slash ? slash + 1 : path;
        if (!abut_mesh_is_file(path))
            return abut_fail(err, ABUT_E_ARG, "%s: expected one scene, or mesh files alone (" ABUT_MESH_KINDS ")", path);
        if (abut_tree_find(objects, name)) return abut_fail(err, ABUT_E_ARG, "%s: two files of this name", name);
        abut_tree *object = abut_tree_new(&p->arena, ABUT_TREE_MAP, path, 0, 0, NULL);
        abut_tree *mesh = abut_tree_new(&p->arena, ABUT_TREE_TEXT, path, 0, 0, path);
        if (!object || !mesh || !abut_tree_add(&p->arena, object, "mesh", mesh) ||
            !abut_tree_add(&p->arena, objects, name, object))
            return no_memory(err);
    }
    return ABUT_OK;
}

static int is_urdf(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && !strcmp(dot, ".urdf");
}

/* A URDF file alone: the scene that has this robot, named like the file; z is up. */
static abut_status scene_of_robot(abut_prep_source *p, const char *path, abut_err *err)
{
    abut_tree_maker m = { &p->arena, "command line", 0, 0 };
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char stem[ABUT_SCENE_NAME];
    const abut_status rc = folder_of(path, p->base, sizeof p->base, err);
    if (rc) return rc;
    snprintf(stem, sizeof stem, "%.*s", (int)(strlen(name) - strlen(".urdf")), name);
    p->tree = abut_make_map(&m, NULL, NULL);
    abut_make_numbers(&m, p->tree, "gravity", (double[3]){ 0, 0, -9.81 }, 3);
    abut_make_text(&m, abut_make_map(&m, abut_make_map(&m, p->tree, "robots"), stem), "urdf", "%s", name);
    return m.failed ? no_memory(err) : ABUT_OK;
}

/* --set key.key=value: the value is YAML. */
static abut_status apply_set(abut_prep_source *p, const char *item, abut_err *err)
{
    const char *eq = strchr(item, '=');
    const size_t n = eq ? (size_t)(eq - item) : 0;
    abut_tree *value = NULL;
    char *name = abut_arena_alloc(&p->arena, n + sizeof "--set ", 1);
    if (n == 0) return abut_fail(err, ABUT_E_ARG, "--set %s: expected key.key=value", item);
    if (!eq[1 + strspn(eq + 1, " ")]) return abut_fail(err, ABUT_E_ARG, "--set %s: expected a value after '='", item);
    if (!name) return no_memory(err);
    memcpy(name, "--set ", 6);
    memcpy(name + 6, item, n);
    const abut_status rc = abut_yaml_read(&p->arena, name, eq + 1, strlen(eq + 1), &value, err);
    return rc ? rc : abut_tree_set(&p->arena, p->tree, name + 6, value, err);
}

/* The folder above the script that holds the folder `input`: base gets one "../" after another until it is there. */
static abut_status find_input(abut_prep_source *p, const char *script, const char *input, abut_err *err)
{
    enum { LEVELS = 32 };
    char probe[sizeof p->base + 16];
    abut_status rc = folder_of(script, p->base, sizeof p->base - 3 * LEVELS, err);
    for (int level = 0; level < LEVELS && !rc; level++) {
        snprintf(probe, sizeof probe, "%s%s", p->base, input);
        if (!access(probe, F_OK)) return ABUT_OK;
        strcat(p->base, "../");
    }
    return rc ? rc : abut_fail(err, ABUT_E_FORMAT, "%s: no folder above it holds '%s', where its meshes are", script, input);
}

/* Writes a line on stderr for each assumed value; with --explain, also under -q. */
static void say_assumed(abut_cli *cli, const char *lines, int explain)
{
    const int quiet = cli->quiet;
    cli->quiet = quiet && !explain;
    for (const char *line = lines; *line;) {
        const size_t n = strcspn(line, "\n");
        abut_cli_say(cli, "assumed: %.*s", (int)n, line);
        line += n + (line[n] == '\n');
    }
    cli->quiet = quiet;
}

static abut_status read_ipc_script(abut_prep_source *p, abut_cli *cli, const char *script, int explain, abut_err *err)
{
    abut_ipc_notes notes = { "", "" };
    if (cli->nargs) return abut_fail(err, ABUT_E_ARG, "--ipc-script and %s: expected one of them", cli->args[0]);
    abut_status rc = load_text(p, script, err);
    if (!rc) rc = find_input(p, script, "input", err);
    if (!rc) rc = abut_ipc_script_read(&p->arena, &p->text, p->base, &p->tree, &notes, err);
    if (rc) return rc;
    if (*notes.unused) abut_cli_say(cli, "commands without effect: %s", notes.unused);
    say_assumed(cli, notes.assumed, explain);
    return ABUT_OK;
}

/* A scene of the public rigid code, read as YAML, becomes the scene that it means. */
static abut_status read_rigid_scene(abut_prep_source *p, abut_cli *cli, const char *path, int published, int explain,
                                    abut_err *err)
{
    abut_ipc_notes notes = { "", "" };
    abut_status rc = find_input(p, path, "meshes", err);
    if (!rc && strlen(p->base) + sizeof "meshes/" > sizeof p->base)
        rc = abut_fail(err, ABUT_E_FORMAT, "%s: a path too long", path);
    if (!rc) strcat(p->base, "meshes/");
    if (!rc) rc = abut_rigid_scene_read(&p->arena, p->tree, p->base, published, &p->tree, &notes, err);
    if (rc) return rc;
    if (*notes.unused) abut_cli_say(cli, "keys without effect: %s", notes.unused);
    say_assumed(cli, notes.assumed, explain);
    return ABUT_OK;
}

abut_status abut_prep_source_read(abut_prep_source *p, abut_cli *cli, const char *script, int published, const abut_opt_list *set,
                                  int explain, abut_err *err)
{
    const abut_tree *notes = NULL;
    abut_status rc;
    if (script) rc = read_ipc_script(p, cli, script, explain, err);
    else if (cli->nargs == 0 && isatty(STDIN_FILENO))
        rc = abut_fail(err, ABUT_E_ARG, "no scene: expected a file, or a scene on standard input");
    else if (cli->nargs == 0) rc = read_yaml(p, "-", err);
    else if (cli->nargs == 1 && is_urdf(cli->args[0])) rc = scene_of_robot(p, cli->args[0], err);
    else if (cli->nargs == 1 && !abut_mesh_is_file(cli->args[0])) rc = read_yaml(p, cli->args[0], err);
    else rc = scene_of_meshes(p, cli, err);
    const int is_rigid = !rc && abut_rigid_scene_is(p->tree);
    if (is_rigid) rc = read_rigid_scene(p, cli, cli->nargs ? cli->args[0] : "", published, explain, err);
    else if (!rc && published)
        rc = abut_fail(err, ABUT_E_ARG, "--as-published: of scenes of the public rigid code, which have a rigid_body_problem");
    for (int after = 0; after < 2 && !rc; after++) {    /* keys of robots, then those of their objects and joints */
        for (int i = 0; i < set->n && !rc; i++)
            if (after == !!strncmp(set->item[i], "robots.", strlen("robots."))) rc = apply_set(p, set->item[i], err);
        if (!rc && !after) rc = abut_scene_robots(&p->arena, p->tree, p->base, &notes, err);
    }
    for (const abut_tree *t = notes && !rc ? notes->child : NULL; t; t = t->next) abut_cli_say(cli, "%s", t->text);
    return rc;
}

/* The path of a file as seen from the root; a pattern of a sequence is no file, its folder is one. */
static abut_status absolute(abut_prep_source *p, const char *folder, abut_tree *t, abut_err *err)
{
    if (!t || t->kind != ABUT_TREE_TEXT || *t->text == '/') return ABUT_OK;
    char *path = abut_arena_alloc(&p->arena, strlen(folder) + strlen(t->text) + 2, 1);
    if (!path) return no_memory(err);
    sprintf(path, "%s/%s", folder, t->text);
    t->text = path;
    return ABUT_OK;
}

/* The files of a `sequence`: a pattern, or a list. */
static abut_status absolute_sequence(abut_prep_source *p, const char *folder, const abut_tree *owner, abut_err *err)
{
    abut_tree *sequence = abut_tree_find(owner, "sequence"), *files = sequence ? abut_tree_find(sequence, "files") : NULL;
    abut_status rc = absolute(p, folder, files, err);
    for (abut_tree *c = files && files->kind == ABUT_TREE_LIST ? files->child : NULL; c && !rc; c = c->next)
        rc = absolute(p, folder, c, err);
    return rc;
}

/* All files of an object. */
static abut_status absolute_object(abut_prep_source *p, const char *folder, const abut_tree *object, abut_err *err)
{
    static const char *const keys[][3] = { { "mesh" }, { "match-mass" }, { "rest", "mesh" }, { "proxy", "mesh" },
                                           { "surface", "snap" }, { "generate", "cage", "mesh" } };
    const abut_tree *parts = abut_tree_find(object, "union");
    abut_status rc = absolute_sequence(p, folder, object, err);
    for (const abut_tree *c = parts && parts->kind == ABUT_TREE_LIST ? parts->child : NULL; c && !rc; c = c->next)
        rc = absolute(p, folder, abut_tree_find(c, "mesh"), err);
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !rc; i++) {
        abut_tree *t = abut_tree_find(object, keys[i][0]);
        for (int k = 1; k < 3 && t && keys[i][k]; k++) t = abut_tree_find(t, keys[i][k]);
        const int is_word = t && t->kind == ABUT_TREE_TEXT && !strcmp(t->key, "snap") && !strcmp(t->text, "none");
        if (!is_word) rc = absolute(p, folder, t, err);
    }
    return rc;
}

/* ---- a scene as JSON, for programs that read no YAML ---- */

static const char *digits(const char *s)
{
    if (!isdigit((unsigned char)*s)) return NULL;
    while (isdigit((unsigned char)*s)) s++;
    return s;
}

/* A number by the grammar of JSON (RFC 8259, 6) that a double holds. */
static int is_number(const char *text)
{
    const char *s = text + (*text == '-');
    s = *s == '0' ? s + 1 : digits(s);
    if (s && *s == '.') s = digits(s + 1);
    if (s && (*s == 'e' || *s == 'E')) s = digits(s + 1 + (s[1] == '-' || s[1] == '+'));
    return s && !*s && isfinite(strtod(text, NULL));
}

static void put_text(FILE *f, const char *text)
{
    if (is_number(text) || !strcmp(text, "true") || !strcmp(text, "false")) fputs(text, f);
    else abut_json_string(f, text);
}

/* A value in one line: a text, or a list of texts. */
static int is_short(const abut_tree *t)
{
    if (t->kind == ABUT_TREE_MAP) return !t->child;
    for (const abut_tree *c = t->kind == ABUT_TREE_LIST ? t->child : NULL; c; c = c->next)
        if (c->kind != ABUT_TREE_TEXT) return 0;
    return 1;
}

static void put_value(FILE *f, const abut_tree *t, int depth)
{
    if (t->kind == ABUT_TREE_TEXT) {
        put_text(f, t->text);
        return;
    }
    const int is_map = t->kind == ABUT_TREE_MAP, in_line = is_short(t);
    fputc(is_map ? '{' : '[', f);
    for (const abut_tree *c = t->child; c; c = c->next) {
        if (!in_line) fprintf(f, "\n%*s", depth + 1, "");
        if (is_map) {
            abut_json_string(f, c->key);
            fputs(": ", f);
        }
        put_value(f, c, depth + 1);
        if (c->next) fputs(in_line ? ", " : ",", f);
    }
    if (!in_line) fprintf(f, "\n%*s", depth, "");
    fputc(is_map ? '}' : ']', f);
}

/* Writes a tree as JSON text, which abut_yaml_read reads back as the same scene.  A text that is a number, true or false of JSON
 * is written as that, every other one as a string.
 * Fails  ABUT_E_FORMAT a text is not UTF-8, with its place */
static abut_status write_json(FILE *f, const abut_tree *root, abut_err *err)
{
    abut_status rc = abut_yaml_check_text(root, "JSON", err);
    if (rc) return rc;
    put_value(f, root, 0);
    fputc('\n', f);
    return ABUT_OK;
}

/* ---- writing ---- */

abut_status abut_prep_source_write(abut_prep_source *p, FILE *f, int json, abut_err *err)
{
    const abut_tree *objects = abut_tree_find(p->tree, "objects"), *motion = abut_tree_find(p->tree, "motion");
    char *folder = realpath(*p->base ? p->base : ".", NULL);
    if (!folder) return abut_fail(err, ABUT_E_IO, "%s: %s", *p->base ? p->base : ".", strerror(errno));
    abut_status rc = ABUT_OK;
    for (abut_tree *o = objects && objects->kind == ABUT_TREE_MAP ? objects->child : NULL; o && !rc; o = o->next)
        rc = absolute_object(p, folder, o, err);
    for (abut_tree *m = motion && motion->kind == ABUT_TREE_LIST ? motion->child : NULL; m && !rc; m = m->next)
        rc = absolute_sequence(p, folder, m, err);
    free(folder);
    return rc ? rc : json ? write_json(f, p->tree, err) : abut_yaml_write(f, p->tree, err);
}

void abut_prep_source_clear(abut_prep_source *p)
{
    abut_bytes_clear(&p->text);
    abut_arena_clear(&p->arena);
    p->tree = NULL;
}

/* ---- scenes to begin with ---- */

/* The texts, in the order of the names. */
static const char *const NAME[] = { "drop", "cloth", "rope", "beam", "slope", "curved", "hard", NULL };

static const char *const TEXT[] = {
    /* drop */
    "# A ball falls on a bar on a floor.\n"
    "abut: 1                                   # version of this language\n"
    "time: {step: 0.01 s, end: 1 s}            # `step` without -n or --until takes one step\n"
    "gravity: [0, -9.81, 0]                    # m/s^2; y points upwards\n"
    "contact:\n"
    "  dhat: 1 mm                              # contact acts within this distance\n"
    "  friction: {mu: 0.3, eps_v: 1e-3 m/s}    # slower than eps_v counts as sticking\n"
    "materials:\n"
    "  rubber: {model: neo-hookean, density: 1000, young: 100 kPa, poisson: 0.4}\n"
    "objects:\n"
    "  # `mesh: FILE` in place of `generate` reads .msh .vtk .obj .ply .stl; `tetrahedralize` makes closed triangles solid.\n"
    "  ball:  {generate: {sphere: {radius: 0.1, cells: 8}}, translate: [0, 0.25, 0], velocity: [0, -1, 0]}\n"
    "  bar:   {generate: {box: {size: [0.5, 0.08, 0.1], cells: [20, 3, 4]}}, translate: [0.1, 0.05, 0]}\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}, mu: 0.5}\n",
    /* cloth */
    "# A cloth falls on a ball that does not move, and drapes it.\n"
    "abut: 1\n"
    "time: {step: 0.02 s, end: 2 s}\n"
    "contact: {dhat: 1 mm, friction: {mu: 0.4}}\n"
    "materials:\n"
    "  # Young's modulus of the membrane; bending-young that of the hinges between triangles\n"
    "  cotton: {density: 472.6, young: 80 kPa, poisson: 0.243, bending-young: 0.8 MPa}\n"
    "objects:\n"
    "  cloth:\n"
    "    generate: {cloth: {size: [0.6, 0.6], edge: 3 cm, layout: rows}}   # edge: 1 cm has finer folds\n"
    "    translate: [0, 0.35, 0]\n"
    "    shell: {thickness: 0.3 mm, stretch-limit: 1.06}                   # no direction is ever 6 % longer\n"
    "  ball:  {generate: {icosphere: {radius: 0.15, divisions: 8}}, obstacle: true, translate: [0, 0.16, 0]}\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n",
    /* rope */
    "# A rope, held at one end, swings down onto a pole.\n"
    "abut: 1\n"
    "time: {step: 0.01 s, end: 1 s}\n"
    "contact: {dhat: 1 mm, friction: {mu: 0.3}}\n"
    "materials:\n"
    "  hemp: {density: 500, young: 5 MPa, poisson: 0.3, bending-young: 0.5 MPa}\n"
    "objects:\n"
    "  rope:\n"
    "    generate: {rod: {length: 1, cells: 40}}     # along x, around the origin\n"
    "    translate: [0, 0.5, 0]\n"
    "    rod: {radius: 5 mm}                         # mass and stiffness\n"
    "    contact-thickness: 10 mm                    # what it keeps from itself: its diameter; segments are longer\n"
    "  pole:\n"
    "    generate: {cylinder: {radius: 0.05, height: 0.3, cells: [8, 4]}}\n"
    "    obstacle: true\n"
    "    rotate: {axis: [1, 0, 0], angle: 90 deg}\n"
    "    translate: [0, 0.3, 0]\n"
    "motion:\n"
    "  # boxes are fractions of the bounding box of the object; two nodes are held, so that the end is clamped\n"
    "  - {select: {object: rope, relative-box: [[0, 0, 0], [0.03, 1, 1]]}, fix: true}\n",
    /* beam */
    "# A beam, clamped at its left end, bends under its own weight: its equilibrium.\n"
    "# Euler and Bernoulli: its end sinks by 12 density g length^4 / (8 young height^2), here 36.8 mm.\n"
    "abut: 1\n"
    "time: {step: 1 s, end: 1 s, scheme: quasi-static}   # one step from equilibrium to equilibrium\n"
    "gravity: [0, -9.81, 0]\n"
    "contact: {dhat: 1 mm}\n"
    "materials:\n"
    "  rubber: {model: neo-hookean, density: 1000, young: 40 MPa, poisson: 0.3}\n"
    "objects:\n"
    "  beam:\n"
    "    generate: {box: {size: [1, 0.1, 0.1], cells: [10, 1, 1]}}\n"
    "    order: 2    # of the tets.  Order 1 needs four or more cells through the height, or the beam is far too stiff\n"
    "motion:\n"
    "  - {select: {object: beam, relative-box: [[0, 0, 0], [0.001, 1, 1]]}, fix: true}\n",
    /* slope */
    "# A block on a slope of tangent 0.5: it stays at a friction coefficient of 0.52 and slides on at 0.48.\n"
    "abut: 1\n"
    "time: {step: 0.01 s, end: 1 s}\n"
    "gravity: [4.387165, -8.774331, 0]         # 9.81 m/s^2; the gravity is tilted, the floor is level\n"
    "contact:\n"
    "  dhat: 1e-3 l                            # l: the diagonal of what is simulated\n"
    "  friction:\n"
    "    mu: 0.52\n"
    "    eps_v: 1e-5 m/s                       # what sticks creeps up to this fast\n"
    "    lags: 20                              # normal forces in step with friction, in up to 20 passes\n"
    "tolerance: 1e-6 m/s                       # well below eps_v: else the friction that holds is not resolved\n"
    "materials:\n"
    "  stiff: {model: fixed-corotated, density: 1000, young: 10 MPa, poisson: 0.4}\n"
    "objects:\n"
    "  block: {generate: {box: {size: [0.4, 0.2, 0.4], cells: [2, 1, 2]}}, translate: [0, 0.1003, 0]}\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n",
    /* curved */
    "# A round ball of 20 curved tets falls on a bar.  Contact sees triangles that are finer than the tets.\n"
    "abut: 1\n"
    "time: {step: 5 ms, end: 0.5 s}\n"
    "contact: {dhat: 1 mm, friction: {mu: 0.3}}\n"
    "materials:\n"
    "  rubber: {model: neo-hookean, density: 1000, young: 100 kPa, poisson: 0.4}\n"
    "objects:\n"
    "  ball:\n"
    "    generate: {ball: {radius: 0.1, divisions: 1}}\n"
    "    order: 2                              # 10 nodes a tet; 3: 20, 4: 35\n"
    "    proxy: {tolerance: 0.5 mm}            # contact triangles no further than this from the curved boundary\n"
    "    translate: [0, 0.22, 0]\n"
    "    velocity: [0, -1, 0]\n"
    "  bar:                                    # straight tets and curved ones may be in one scene\n"
    "    generate: {box: {size: [0.5, 0.08, 0.1], cells: [10, 2, 2]}}\n"
    "    translate: [0.1, 0.05, 0]\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n"
    "# `mesh-prep --explain` says how far the contact surface is from the boundary.\n",
    /* hard */
    "# A ball falls on a block on a slope of tangent 0.5, by hard contact with Coulomb's law itself: no barrier, no smoothing.\n"
    "abut: 1\n"
    "solver: nodal                             # `newton`, or step --solver newton: the barrier; a run may change between them\n"
    "time: {step: 0.01 s, end: 1 s}\n"
    "gravity: [4.387165, -8.774331, 0]         # 9.81 m/s^2; the gravity is tilted, the floor is level\n"
    "contact:\n"
    "  dhat: 1 mm                              # of the barrier, which takes steps that the judge refuses\n"
    "  friction: {mu: 0.52}\n"
    "nodal:\n"
    "  iterations: 50                          # of ADMM in a step, at most\n"
    "  tolerance: 1e-3 mm                      # they end when nothing would move further in the step\n"
    "materials:\n"
    "  rubber: {model: neo-hookean, density: 1000, young: 100 kPa, poisson: 0.4}\n"
    "objects:\n"
    "  block: {generate: {box: {size: [0.2, 0.1, 0.2], cells: [4, 2, 4]}}, translate: [0, 0.051, 0]}\n"
    "  ball:  {generate: {sphere: {radius: 0.05, cells: 6}}, translate: [0, 0.16, 0]}\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n",
};

_Static_assert(sizeof NAME == sizeof TEXT + sizeof *NAME, "a text for each name");

abut_status abut_prep_first_scene(const char *name, FILE *f, abut_err *err)
{
    int i;
    const abut_status rc = abut_name_find("--new", name, NAME, &i, err);
    if (!rc) fputs(TEXT[i], f);
    return rc;
}

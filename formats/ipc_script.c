#include "formats/ipc_script.h"

#include "formats/ipc_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words and numbers of a command ---- */

abut_word ipc_word(ipc_script *s)
{
    abut_word w = abut_scan_word(&s->scan);
    while (w.n == 1 && *w.s == '\\' && abut_scan_next_line(&s->scan)) w = abut_scan_word(&s->scan);
    return w;
}

abut_status ipc_reals(ipc_script *s, const char *what, int n, double *v, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int i = 0; i < n && !rc; i++) rc = abut_scan_real(&s->scan, ipc_word(s), what, &v[i], err);
    return rc;
}

abut_status ipc_text(ipc_script *s, const char *what, char *buf, size_t size, abut_err *err)
{
    const abut_word w = ipc_word(s);
    if (!w.n) return abut_scan_fail(&s->scan, err, "%s is missing", what);
    if (w.n >= size) return abut_scan_fail(&s->scan, err, "%s: %zu letters, expected less than %zu", what, w.n, size);
    memcpy(buf, w.s, w.n);
    buf[w.n] = 0;
    return ABUT_OK;
}

/* ---- parameters ---- */

static abut_status set_time(ipc_script *s, abut_err *err)
{
    double v[2];
    const abut_status rc = ipc_reals(s, "time: duration and step", 2, v, err);
    if (!rc) s->end = v[0], s->step = v[1], s->time_line = (int)s->scan.line;
    return rc;
}

static abut_status set_density(ipc_script *s, abut_err *err)
{
    return ipc_reals(s, "density", 1, &s->density, err);
}

static abut_status set_stiffness(ipc_script *s, abut_err *err)
{
    double v[2];
    const abut_status rc = ipc_reals(s, "stiffness: Young's modulus and Poisson ratio", 2, v, err);
    if (!rc) s->young = v[0], s->poisson = v[1];
    return rc;
}

static abut_status set_energy(ipc_script *s, abut_err *err)
{
    const abut_word w = ipc_word(s);
    if (abut_word_is(w, "NH")) s->energy = "neo-hookean";
    else if (abut_word_is(w, "FCR")) s->energy = "fixed-corotated";
    else return abut_scan_fail(&s->scan, err, "energy '%.*s': expected NH or FCR", (int)(w.n < 40 ? w.n : 40), w.s);
    return ABUT_OK;
}

static abut_status set_scheme(ipc_script *s, abut_err *err)
{
    const abut_word w = ipc_word(s);
    if (abut_word_is(w, "BE")) s->scheme = "implicit-euler";
    else if (abut_word_is(w, "NM")) s->scheme = "implicit-newmark";
    else return abut_scan_fail(&s->scan, err, "timeIntegration '%.*s': expected BE (implicit Euler) or NM (Newmark)",
                               (int)(w.n < 40 ? w.n : 40), w.s);
    return ABUT_OK;
}

static abut_status set_damping(ipc_script *s, abut_err *err)
{
    double v = 0;
    const abut_status rc = ipc_reals(s, "damping", 1, &v, err);
    if (rc || v == 0) return rc;
    return abut_scan_fail(&s->scan, err, "damping %g is not supported yet: expected 0", v);
}

/* Fraction of the length that the handles of a script take. */
static abut_status set_handle_ratio(ipc_script *s, abut_err *err)
{
    const abut_status rc = ipc_reals(s, "handleRatio", 1, &s->handle_ratio, err);
    if (rc || (s->handle_ratio > 0 && s->handle_ratio < 1)) return rc;
    return abut_scan_fail(&s->scan, err, "handleRatio %g: expected more than 0 and less than 1", s->handle_ratio);
}

/* All shapes as one, about the origin, before `size`. */
static abut_status rotate_model(ipc_script *s, abut_err *err)
{
    double v[4];
    const abut_status rc = ipc_reals(s, "rotateModel: axis and angle in degrees", 4, v, err);
    if (rc || s->make.failed) return rc;
    if (abut_tree_find(s->root, "rotate")) return abut_scan_fail(&s->scan, err, "rotateModel a second time: expected one");
    s->make.line = (int)s->scan.line;
    abut_tree *r = abut_make_map(&s->make, s->root, "rotate");
    abut_make_numbers(&s->make, r, "axis", v, 3);
    abut_make_number(&s->make, r, "angle", v[3], "deg");
    return ABUT_OK;
}

static abut_status set_solver(ipc_script *s, abut_err *err)
{
    const abut_word w = ipc_word(s);
    if (abut_word_is(w, "interiorPoint")) return ABUT_OK;
    return abut_scan_fail(&s->scan, err, "constraintSolver '%.*s': expected interiorPoint", (int)(w.n < 40 ? w.n : 40), w.s);
}

static abut_status set_size(ipc_script *s, abut_err *err)
{
    s->size_line = (int)s->scan.line;
    return ipc_reals(s, "size", 1, &s->size, err);
}

static abut_status set_self_friction(ipc_script *s, abut_err *err)
{
    return ipc_reals(s, "selfFric", 1, &s->mu, err);
}

static abut_status set_no_gravity(ipc_script *s, abut_err *err)
{
    (void)err;
    s->gravity = 0;
    return ABUT_OK;
}

static abut_status set_dhat(ipc_script *s, abut_err *err)
{
    return ipc_reals(s, "dHat", 1, &s->dhat, err);
}

static abut_status set_eps_v(ipc_script *s, abut_err *err)
{
    return ipc_reals(s, "epsv", 1, &s->eps_v, err);
}

static abut_status set_lags(ipc_script *s, abut_err *err)
{
    int64_t n;
    const abut_status rc = abut_scan_int(&s->scan, ipc_word(s), "fricIterAmt", INT32_MIN, 1000000, &n, err);
    if (!rc) s->lags = n > 0 ? (int)n : 1000000;    /* not positive: until it converges */
    return rc;
}

/* The numbers of a list command stand on lines of their own: "tol 1", then one value. */
static abut_status list_values(ipc_script *s, const char *what, double *v, int most, int *n, abut_err *err)
{
    int64_t count;
    abut_status rc = abut_scan_int(&s->scan, ipc_word(s), what, 1, most, &count, err);
    for (int i = 0; !rc && i < count; i++) rc = abut_scan_real(&s->scan, abut_scan_token(&s->scan), what, &v[i], err);
    if (!rc) *n = (int)count;
    return rc;
}

static abut_status set_tolerance(ipc_script *s, abut_err *err)
{
    double v[1];
    int n;
    const abut_status rc = list_values(s, "tol: one number that follows", v, 1, &n, err);
    if (!rc) s->tolerance = v[0];
    return rc;
}

/* stiffness of the start (0: automatic), dhat at the start and at the end, smallest dhat, eps_v at the start and at the
 * end: values "at the end" are those of every step but the first solve of old versions. */
static abut_status set_tuning(ipc_script *s, abut_err *err)
{
    double v[6];
    int n;
    const abut_status rc = list_values(s, "tuning: up to 6 numbers that follow", v, 6, &n, err);
    if (rc) return rc;
    if (v[0] != 0) return abut_scan_fail(&s->scan, err, "tuning: a fixed stiffness %g is not supported yet: expected 0", v[0]);
    if (n > 2) s->dhat = v[2];
    if (n > 5) s->eps_v = v[5];
    return ABUT_OK;
}

/* ---- planes ---- */

static void add_plane(ipc_script *s, const double point[3], const double normal[3], double mu)
{
    char name[32];
    snprintf(name, sizeof name, "half-space-%d", ++s->nplanes);
    s->make.line = (int)s->scan.line;
    abut_tree *o = abut_make_map(&s->make, s->objects, name), *h = abut_make_map(&s->make, o, "half-space");
    abut_make_numbers(&s->make, h, "point", point, 3);
    abut_make_numbers(&s->make, h, "normal", normal, 3);
    abut_make_number(&s->make, o, "mu", mu, NULL);
}

static abut_status ground(ipc_script *s, abut_err *err)
{
    double v[2];
    const abut_status rc = ipc_reals(s, "ground: friction and height", 2, v, err);
    if (!rc) add_plane(s, (double[3]){ 0, v[1], 0 }, (double[3]){ 0, 1, 0 }, v[0]);
    return rc;
}

/* origin, normal, stiffness (of no meaning to a barrier), friction */
static abut_status half_space(ipc_script *s, abut_err *err)
{
    double v[8];
    const abut_status rc = ipc_reals(s, "halfSpace: origin, normal, stiffness, friction", 8, v, err);
    if (!rc) add_plane(s, v, v + 3, v[7]);
    return rc;
}

/* ---- sections ---- */

/* "section SQP QP" ... "section end" (or a bare "section") holds commands for the solvers it names; ours is none. */
static abut_status section(ipc_script *s, abut_err *err)
{
    const long line = s->scan.line;
    abut_word w = ipc_word(s);
    if (!w.n || abut_word_is(w, "end")) return abut_scan_fail(&s->scan, err, "the end of a section that did not begin");
    for (; w.n; w = ipc_word(s))
        if (abut_word_is(w, "interiorPoint")) {
            s->open_section = line;
            return ABUT_OK;
        }
    while (abut_scan_next_line(&s->scan))
        if (abut_word_is(abut_scan_word(&s->scan), "section")) {
            abut_scan_rest(&s->scan);
            return ABUT_OK;
        }
    return abut_fail(err, ABUT_E_FORMAT, "%s:%ld: this section has no end", s->scan.name, line);
}

static abut_status section_end(ipc_script *s, abut_err *err)
{
    if (!s->open_section) return section(s, err);
    s->open_section = 0;
    abut_scan_rest(&s->scan);
    return ABUT_OK;
}

/* ---- the table of commands ---- */

static const struct command {
    const char *name;
    abut_status (*run)(ipc_script *s, abut_err *err);   /* NULL: changes nothing here */
} COMMANDS[] = {
    { "shapes", ipc_shapes }, { "shapeMatrix", ipc_shape_matrix }, { "ground", ground }, { "halfSpace", half_space },
    { "selfFric", set_self_friction }, { "time", set_time }, { "density", set_density }, { "stiffness", set_stiffness },
    { "energy", set_energy }, { "size", set_size }, { "timeIntegration", set_scheme }, { "dampingRatio", set_damping },
    { "dampingStiff", set_damping }, { "script", ipc_script_command }, { "section", section_end },
    { "turnOffGravity", set_no_gravity }, { "dHat", set_dhat }, { "epsv", set_eps_v }, { "fricIterAmt", set_lags },
    { "tol", set_tolerance }, { "tuning", set_tuning }, { "constraintSolver", set_solver },
    { "shape", ipc_one_shape }, { "meshCO", ipc_mesh_obstacle }, { "rotateModel", rotate_model },
    { "handleRatio", set_handle_ratio },
    { "zoom", NULL }, { "view", NULL }, { "cameraTracking", NULL }, { "playBackSpeed", NULL }, { "appendStr", NULL },
    { "warmStart", NULL }, { "CCDMethod", NULL }, { "selfCollisionOn", NULL },
};
enum { NCOMMANDS = sizeof COMMANDS / sizeof *COMMANDS };

static abut_status unknown(const ipc_script *s, abut_word w, abut_err *err)
{
    const char *names[NCOMMANDS + 1];
    char word[41];
    const size_t n = w.n < 40 ? w.n : 40;
    memcpy(word, w.s, n);
    word[n] = 0;
    for (int i = 0; i < NCOMMANDS; i++) names[i] = COMMANDS[i].name;
    names[NCOMMANDS] = NULL;
    const char *near = abut_name_nearest(word, names);
    if (near) return abut_scan_fail(&s->scan, err, "unsupported command '%s'; the nearest known one is '%s'", word, near);
    return abut_scan_fail(&s->scan, err, "unsupported command '%s'", word);
}

/* Remembers a command without effect: "zoom (line 7), view (line 9)". */
static void note(ipc_script *s, const char *name)
{
    char *more = abut_arena_alloc(s->make.arena, strlen(s->notes) + strlen(name) + 40, 1);
    if (!more) {
        s->make.failed = 1;
        return;
    }
    sprintf(more, "%s%s%s (line %ld)", s->notes, *s->notes ? ", " : "", name, s->scan.line);
    s->notes = more;
}

static abut_status command(ipc_script *s, abut_err *err)
{
    const abut_word w = ipc_word(s);
    if (!w.n || *w.s == '#') return ABUT_OK;
    for (int i = 0; i < NCOMMANDS; i++) {
        if (!abut_word_is(w, COMMANDS[i].name)) continue;
        if (!COMMANDS[i].run) {
            note(s, COMMANDS[i].name);
            return ABUT_OK;
        }
        const abut_status rc = COMMANDS[i].run(s, err);
        const abut_word rest = rc ? (abut_word){ 0 } : ipc_word(s);
        if (rest.n && *rest.s != '#')
            return abut_scan_fail(&s->scan, err, "%s: '%.*s' at the end of the line", COMMANDS[i].name,
                                  (int)(rest.n < 40 ? rest.n : 40), rest.s);
        return rc;
    }
    return unknown(s, w, err);
}

/* ---- the tree ---- */

/* What was collected, after the objects, which stand in the tree already. */
static void finish(ipc_script *s)
{
    abut_tree_maker *m = &s->make;
    m->line = s->time_line;
    abut_tree *time = abut_make_map(m, s->root, "time");
    abut_make_number(m, time, "step", s->step, "s");
    abut_make_number(m, time, "end", s->end, "s");
    abut_make_text(m, time, "scheme", "%s", s->scheme);
    m->line = s->size_line;
    if (s->size > 0) abut_make_number(m, s->root, "fit", s->size, NULL);
    m->line = 0;
    abut_make_numbers(m, s->root, "gravity", (double[3]){ 0, s->gravity, 0 }, 3);
    abut_tree *contact = abut_make_map(m, s->root, "contact");
    abut_make_number(m, contact, "dhat", s->dhat, "l");
    abut_tree *friction = abut_make_map(m, contact, "friction");
    abut_make_number(m, friction, "mu", s->mu, NULL);
    abut_make_number(m, friction, "eps_v", s->eps_v, "l/s");
    abut_make_text(m, friction, "lags", "%d", s->lags);
    abut_make_number(m, s->root, "tolerance", s->tolerance, "l/s");
    abut_tree *common = abut_make_map(m, s->materials, "script");
    abut_make_number(m, common, "density", s->density, NULL);
    abut_make_number(m, common, "young", s->young, NULL);
    abut_make_number(m, common, "poisson", s->poisson, NULL);
    for (abut_tree *c = m->failed ? NULL : s->materials->child; c; c = c->next) abut_make_text(m, c, "model", "%s", s->energy);
    for (abut_tree *c = m->failed ? NULL : s->objects->child; c; c = c->next) {
        abut_tree *sequence = abut_tree_find(c, "sequence");
        if (sequence) abut_make_number(m, sequence, "step", s->step, "s");
    }
}

abut_status abut_ipc_script_read(abut_arena *arena, const abut_bytes *in, const char *base, abut_tree **root,
                                 const char **notes, abut_err *err)
{
    ipc_script s = { .base = base, .step = 0.025, .end = 5, .density = 1000, .young = 1e5, .poisson = 0.4,
                     .energy = "neo-hookean", .scheme = "implicit-euler", .size = -1, .gravity = -9.80665, .dhat = 1e-3,
                     .eps_v = 1e-3, .tolerance = 1e-2, .lags = 1, .notes = "", .script = "null", .handle_ratio = 0.01 };
    s.make = (abut_tree_maker){ arena, in->name, 1, 0 };
    abut_scan_init(&s.scan, in);
    s.root = abut_make_map(&s.make, NULL, NULL);
    abut_make_text(&s.make, s.root, "abut", "1");
    s.objects = abut_make_map(&s.make, s.root, "objects");
    s.materials = abut_make_map(&s.make, s.root, "materials");
    s.motion = abut_make_list(&s.make, s.root, "motion");
    abut_status rc;
    do rc = command(&s, err);
    while (!rc && abut_scan_next_line(&s.scan));
    if (!rc) rc = ipc_script_run(&s, err);
    if (!rc) finish(&s);
    if (!rc && s.make.failed) rc = abut_fail(err, ABUT_E_NOMEM, "%s: no memory for the scene", in->name);
    if (!rc) *root = s.root, *notes = s.notes;
    return rc;
}

#include "formats/ipc/script.h"
#include "model/schemes.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double KAPPA_MULTIPLIER = 1e11;    /* of the smallest barrier stiffness (Li 2020, App. F) */

/* ---- words and numbers of a command ---- */

abut_word abut_ipc_word(abut_ipc_script *s)
{
    abut_word w = abut_scan_word(&s->scan);
    while (w.n == 1 && *w.s == '\\' && abut_scan_next_line(&s->scan)) w = abut_scan_word(&s->scan);
    return w;
}

/* Next word of a command that may end here: n = 0 at its end or before a comment, which is not consumed. */
static abut_word optional_word(abut_ipc_script *s)
{
    const char *at = s->scan.p;
    const long line = s->scan.line;
    const abut_word w = abut_ipc_word(s);
    if (!w.n || *w.s != '#') return w;
    s->scan.p = at, s->scan.line = line;
    return (abut_word){ 0 };
}

abut_status abut_ipc_reals(abut_ipc_script *s, const char *what, int n, double *v, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int i = 0; i < n && !rc; i++) rc = abut_scan_real(&s->scan, abut_ipc_word(s), what, &v[i], err);
    return rc;
}

abut_status abut_ipc_text(abut_ipc_script *s, const char *what, char *buf, size_t size, abut_err *err)
{
    const abut_word w = abut_ipc_word(s);
    if (!w.n) return abut_scan_fail(&s->scan, err, "%s is missing", what);
    if (w.n >= size) return abut_scan_fail(&s->scan, err, "%s: %zu letters, expected less than %zu", what, w.n, size);
    memcpy(buf, w.s, w.n);
    buf[w.n] = 0;
    return ABUT_OK;
}

/* ---- remarks ---- */

/* Adds to a list of remarks; between goes in front of all but the first. */
static void remark(abut_ipc_script *s, const char **list, const char *between, const char *text)
{
    char *more = abut_arena_alloc(s->make.arena, strlen(*list) + strlen(between) + strlen(text) + 1, 1);
    if (!more) {
        s->make.failed = 1;
        return;
    }
    sprintf(more, "%s%s%s", *list, **list ? between : "", text);
    *list = more;
}

void abut_ipc_assume(abut_ipc_script *s, const char *text) { remark(s, &s->notes.assumed, "\n", text); }

void abut_ipc_unused(abut_ipc_script *s, const char *command, long line)
{
    char text[80];
    snprintf(text, sizeof text, "%s (line %ld)", command, line);
    remark(s, &s->notes.unused, ", ", text);
}

/* ---- parameters ---- */

static abut_status set_time(abut_ipc_script *s, abut_err *err)
{
    double v[2];
    const abut_status rc = abut_ipc_reals(s, "time: duration and step", 2, v, err);
    if (!rc) s->end = v[0], s->step = v[1], s->time_line = (int)s->scan.line;
    return rc;
}

static abut_status set_stiffness(abut_ipc_script *s, abut_err *err)
{
    double v[2];
    const abut_status rc = abut_ipc_reals(s, "stiffness: Young's modulus and Poisson ratio", 2, v, err);
    if (!rc) s->young = v[0], s->poisson = v[1];
    return rc;
}

static abut_status set_energy(abut_ipc_script *s, abut_err *err)
{
    const abut_word w = abut_ipc_word(s);
    if (abut_word_is(w, "NH")) s->energy = "neo-hookean";
    else if (abut_word_is(w, "FCR")) s->energy = "fixed-corotated";
    else return abut_scan_expected(&s->scan, "energy ", w, "NH or FCR", err);
    return ABUT_OK;
}

/* NM may be followed by Newmark's beta and gamma; which of them are stable the scene says (time.newmark). */
static abut_status set_scheme(abut_ipc_script *s, abut_err *err)
{
    static const char *const name[2] = { "NM: Newmark's beta", "NM: Newmark's gamma" };
    double *const number_of[2] = { &s->newmark_beta, &s->newmark_gamma };
    const abut_word w = abut_ipc_word(s);
    const int newmark = abut_word_is(w, "NM");
    if (!newmark && !abut_word_is(w, "BE"))
        return abut_scan_expected(&s->scan, "timeIntegration ", w, "BE (implicit Euler) or NM (Newmark)", err);
    s->scheme = newmark ? abut_scheme_with(ABUT_SCHEME_BETA_GAMMA) : ABUT_FIRST_SCHEME;
    for (int k = 0; k < 2 && newmark; k++) {
        const abut_word number = optional_word(s);
        if (!number.n) break;
        const abut_status rc = abut_scan_real(&s->scan, number, name[k], number_of[k], err);
        if (rc) return rc;
    }
    return ABUT_OK;
}

/* All shapes as one, about the origin, before `size`. */
static abut_status rotate_model(abut_ipc_script *s, abut_err *err)
{
    double v[4];
    const abut_status rc = abut_ipc_reals(s, "rotateModel: axis and angle in degrees", 4, v, err);
    if (rc || s->make.failed) return rc;
    if (abut_tree_find(s->root, "rotate")) return abut_scan_fail(&s->scan, err, "rotateModel a second time: expected one");
    s->make.line = (int)s->scan.line;
    abut_tree *r = abut_make_map(&s->make, s->root, "rotate");
    abut_make_numbers(&s->make, r, "axis", v, 3);
    abut_make_number(&s->make, r, "angle", v[3], "deg");
    return ABUT_OK;
}

static abut_status set_size(abut_ipc_script *s, abut_err *err)
{
    s->size_line = (int)s->scan.line;
    return abut_ipc_reals(s, "size", 1, &s->size, err);
}

static abut_status set_no_gravity(abut_ipc_script *s, abut_err *err)
{
    (void)err;
    s->gravity = 0;
    return ABUT_OK;
}

static abut_status set_lags(abut_ipc_script *s, abut_err *err)
{
    int64_t n;
    const abut_status rc = abut_scan_int(&s->scan, abut_ipc_word(s), "fricIterAmt", INT32_MIN, 1000000, &n, err);
    if (!rc) s->lags = n > 0 ? (int)n : 0;
    return rc;
}

/* The numbers of a list command are on lines of their own: "tol 1", then one value. */
static abut_status list_values(abut_ipc_script *s, const char *what, double *v, int most, int *n, abut_err *err)
{
    int64_t count;
    abut_status rc = abut_scan_int(&s->scan, abut_ipc_word(s), what, 1, most, &count, err);
    for (int i = 0; !rc && i < count; i++) rc = abut_scan_real(&s->scan, abut_scan_token(&s->scan), what, &v[i], err);
    if (!rc) *n = (int)count;
    return rc;
}

/* Reads tolerances, one for each of the first steps, the last for all others; here all must be equal. */
static abut_status set_tolerance(abut_ipc_script *s, abut_err *err)
{
    double v[64];
    int n;
    const abut_status rc = list_values(s, "tol: up to 64 numbers that follow", v, 64, &n, err);
    if (rc) return rc;
    for (int i = 1; i < n; i++)
        if (v[i] != v[0])
            return abut_scan_fail(&s->scan, err, "tol: %g for the first step and %g for step %d: expected one tolerance",
                                  v[0], v[i], i + 1);
    s->tolerance = v[0];
    return ABUT_OK;
}

/* barrier stiffness of the start (0: automatic), dhat at the start and at the end, smallest dhat, eps_v at the start and at the
 * end: values "at the end" are those of every step but the first solve of old versions. */
static abut_status set_tuning(abut_ipc_script *s, abut_err *err)
{
    double v[6];
    int n;
    const long line = s->scan.line;
    const abut_status rc = list_values(s, "tuning: up to 6 numbers that follow", v, 6, &n, err);
    if (rc) return rc;
    if (!(v[0] >= 0)) return abut_scan_fail(&s->scan, err, "tuning: a barrier stiffness %g: expected at least 0", v[0]);
    if (v[0] > 0) {
        char text[240];
        snprintf(text, sizeof text, "tuning (line %ld): the barrier stiffness starts at %g, clamped to its bounds; here every "
                 "step finds it within the same bounds; --set contact.kappa-scale moves them", line, v[0]);
        abut_ipc_assume(s, text);
    }
    if (n > 2) s->dhat = v[2];
    if (n > 5) s->eps_v = v[5];
    return ABUT_OK;
}

/* Commands that set one number, and what it must be. */
static const struct number {
    const char *name;
    size_t at;                      /* in abut_ipc_script */
    double least, most;
    int open;                       /* the bounds themselves are not allowed */
} NUMBERS[] = {
    { "density", offsetof(abut_ipc_script, density), 0, INFINITY, 1 },
    { "dHat", offsetof(abut_ipc_script, dhat), 0, INFINITY, 1 },
    { "epsv", offsetof(abut_ipc_script, eps_v), 0, INFINITY, 1 },
    { "selfFric", offsetof(abut_ipc_script, mu), 0, INFINITY, 0 },
    { "handleRatio", offsetof(abut_ipc_script, handle_ratio), 0, 1, 1 },
    { "dampingRatio", offsetof(abut_ipc_script, damping_ratio), 0, INFINITY, 0 },
    { "dampingStiff", offsetof(abut_ipc_script, damping_stiff), 0, INFINITY, 0 },
    { "kappaMinMultiplier", offsetof(abut_ipc_script, kappa_multiplier), 0, INFINITY, 1 },
};
enum { NNUMBERS = sizeof NUMBERS / sizeof *NUMBERS };

/* Commands without a number that set a flag.  Absolute: dHat and epsv in m and m/s instead of fractions of l; tol has its own. */
static const struct flag {
    const char *name;
    size_t at;                      /* in abut_ipc_script */
    int value;
} FLAGS[] = { { "useAbsParameters", offsetof(abut_ipc_script, is_absolute), 1 },
              { "useAbsTol", offsetof(abut_ipc_script, has_absolute_tolerance), 1 },
              { "selfCollisionOff", offsetof(abut_ipc_script, no_self), 1 },
              { "selfCollisionOn", offsetof(abut_ipc_script, no_self), 0 } };
enum { NFLAGS = sizeof FLAGS / sizeof *FLAGS };

static abut_status set_number(abut_ipc_script *s, const struct number *n, abut_err *err)
{
    double v;
    const abut_status rc = abut_ipc_reals(s, n->name, 1, &v, err);
    if (rc) return rc;
    if ((v > n->least && v < n->most) || (!n->open && (v == n->least || v == n->most))) {
        memcpy((char *)s + n->at, &v, sizeof v);
        return ABUT_OK;
    }
    if (isinf(n->most))
        return abut_scan_fail(&s->scan, err, "%s %g: expected %s %g", n->name, v, n->open ? "more than" : "at least", n->least);
    return abut_scan_fail(&s->scan, err, "%s %g: expected more than %g and less than %g", n->name, v, n->least, n->most);
}

/* ---- planes ---- */

static void add_plane(abut_ipc_script *s, const double point[3], const double normal[3], double mu)
{
    char name[32];
    do snprintf(name, sizeof name, "half-space-%d", ++s->nplanes);
    while (s->objects && abut_tree_find(s->objects, name));
    s->make.line = (int)s->scan.line;
    abut_tree *o = abut_make_map(&s->make, s->objects, name), *h = abut_make_map(&s->make, o, "half-space");
    abut_make_numbers(&s->make, h, "point", point, 3);
    abut_make_numbers(&s->make, h, "normal", normal, 3);
    abut_make_number(&s->make, o, "mu", mu, NULL);
}

/* friction, height, and perhaps a stiffness of no meaning to a barrier */
static abut_status ground(abut_ipc_script *s, abut_err *err)
{
    double v[2], stiffness;
    abut_status rc = abut_ipc_reals(s, "ground: friction and height", 2, v, err);
    const abut_word third = rc ? (abut_word){ 0 } : optional_word(s);
    if (third.n) rc = abut_scan_real(&s->scan, third, "ground: stiffness", &stiffness, err);
    if (!rc) add_plane(s, (double[3]){ 0, v[1], 0 }, (double[3]){ 0, 1, 0 }, v[0]);
    return rc;
}

/* origin, normal, stiffness (of no meaning to a barrier), friction */
static abut_status half_space(abut_ipc_script *s, abut_err *err)
{
    double v[8];
    const abut_status rc = abut_ipc_reals(s, "halfSpace: origin, normal, stiffness, friction", 8, v, err);
    if (!rc) add_plane(s, v, v + 3, v[7]);
    return rc;
}

/* ---- the solvers SQP and QP, and what they need: the solvers sqp and qp here ---- */

static const struct solver {
    const char *word, *alias, *name;    /* name: in a scene; NULL: what happens anyway */
} SOLVERS[] = { { "interiorPoint", "IP", NULL }, { "SQP", NULL, "sqp" }, { "QP", NULL, "qp" } };
enum { NSOLVERS = sizeof SOLVERS / sizeof *SOLVERS };

/* Why several published forms of constraints become one of ours. */
static const struct form {
    const char *word, *name, *because;
} FORMS[] = {
    { "volume", "volume", NULL }, { "nonsmoothNewmark", "volume", NULL }, { "gapFunction", "gap", NULL },
    { "graphics", "impact", NULL },
    { "STIV", "impact", "a space-time interference volume with a fixed normal has the linear part of the gap, times an area" },
    { "CMR", "impact", "pairs stay in the active set of a step, as there" },
    { "Verschoor", "impact", "what that code changes of constraints at impacts is not known here" },
};
enum { NFORMS = sizeof FORMS / sizeof *FORMS };

static int is_solver(abut_word w, int i)
{
    return abut_word_is(w, SOLVERS[i].word) || (SOLVERS[i].alias && abut_word_is(w, SOLVERS[i].alias));
}

static abut_status set_solver(abut_ipc_script *s, abut_err *err)
{
    const abut_word w = abut_ipc_word(s);
    for (int i = 0; i < NSOLVERS; i++)
        if (is_solver(w, i)) return s->solver = i, ABUT_OK;
    return abut_scan_expected(&s->scan, "constraintSolver ", w, "interiorPoint or IP, SQP or QP", err);
}

static abut_status set_constraint_type(abut_ipc_script *s, abut_err *err)
{
    const abut_word w = abut_ipc_word(s);
    for (int i = 0; i < NFORMS; i++)
        if (abut_word_is(w, FORMS[i].word)) return s->form = i + 1, s->form_line = s->scan.line, ABUT_OK;
    return abut_scan_expected(&s->scan, "constraintType ", w, "volume, nonsmoothNewmark, gapFunction, graphics, STIV, CMR or "
                              "Verschoor", err);
}

static abut_status set_constraint_offset(abut_ipc_script *s, abut_err *err)
{
    const abut_status rc = abut_ipc_reals(s, "constraintOffset", 1, &s->offset, err);
    s->offset_line = s->scan.line;
    return rc || s->offset >= 0 ? rc : abut_scan_fail(&s->scan, err, "constraintOffset %g: expected at least 0", s->offset);
}

static void finish_solver(abut_ipc_script *s)
{
    char text[240];
    const char *name = SOLVERS[s->solver].name;
    if (!name) {
        if (s->form) abut_ipc_unused(s, "constraintType", s->form_line);
        if (s->offset >= 0) abut_ipc_unused(s, "constraintOffset", s->offset_line);
        return;
    }
    const struct form *form = &FORMS[s->form ? s->form - 1 : 0];
    abut_make_text(&s->make, s->root, "solver", "%s", name);
    abut_tree *sqp = abut_make_map(&s->make, s->root, "sqp");
    abut_make_text(&s->make, sqp, "constraints", "%s", form->name);
    abut_make_number(&s->make, sqp, "offset", s->offset >= 0 ? s->offset : 0, "m");
    if (form->because) {
        snprintf(text, sizeof text, "constraintType %s: sqp.constraints %s; %s", form->word, form->name, form->because);
        abut_ipc_assume(s, text);
    }
    if (s->offset < 0) abut_ipc_assume(s, "sqp.offset 0 m: the script has no constraintOffset");
}

/* ---- sections ---- */

/* "section SQP QP" ... "section end" (or a bare "section") holds commands for the solvers it names. */
static abut_status section(abut_ipc_script *s, abut_err *err)
{
    const long line = s->scan.line;
    abut_word w = abut_ipc_word(s);
    if (!w.n || abut_word_is(w, "end")) return abut_scan_fail(&s->scan, err, "the end of a section that did not begin");
    for (; w.n; w = abut_ipc_word(s))
        if (is_solver(w, s->solver)) {
            s->open_section = line;
            abut_scan_rest(&s->scan);
            return ABUT_OK;
        }
    while (abut_scan_next_line(&s->scan))
        if (abut_word_is(abut_scan_word(&s->scan), "section")) {
            abut_scan_rest(&s->scan);
            return ABUT_OK;
        }
    return abut_fail(err, ABUT_E_FORMAT, "%s:%ld: this section has no end", s->scan.name, line);
}

static abut_status section_end(abut_ipc_script *s, abut_err *err)
{
    if (!s->open_section) return section(s, err);
    s->open_section = 0;
    abut_scan_rest(&s->scan);
    return ABUT_OK;
}

/* ---- the table of commands ---- */

static const struct command {
    const char *name;
    abut_status (*run)(abut_ipc_script *s, abut_err *err);   /* NULL: changes nothing here, or is refused */
    const char *refused;                                /* the reason, and the alternative */
} COMMANDS[] = {
    { "shapes", abut_ipc_shapes, NULL }, { "shapeMatrix", abut_ipc_shape_matrix, NULL }, { "shape", abut_ipc_one_shape, NULL },
    { "meshCO", abut_ipc_mesh_obstacle, NULL }, { "ground", ground, NULL }, { "halfSpace", half_space, NULL },
    { "time", set_time, NULL }, { "stiffness", set_stiffness, NULL }, { "energy", set_energy, NULL },
    { "size", set_size, NULL }, { "rotateModel", rotate_model, NULL }, { "timeIntegration", set_scheme, NULL },
    { "script", abut_ipc_script_command, NULL }, { "section", section_end, NULL }, { "turnOffGravity", set_no_gravity, NULL },
    { "fricIterAmt", set_lags, NULL }, { "tol", set_tolerance, NULL }, { "tuning", set_tuning, NULL },
    { "constraintSolver", set_solver, NULL }, { "constraintType", set_constraint_type, NULL },
    { "constraintOffset", set_constraint_offset, NULL },
    /* display and files */
    { "zoom", NULL, NULL }, { "view", NULL, NULL }, { "cameraTracking", NULL, NULL }, { "playBackSpeed", NULL, NULL },
    { "appendStr", NULL, NULL }, { "disableCout", NULL, NULL },
    /* methods of the reference code to reach the same result, and parameters of its other solvers */
    { "warmStart", NULL, NULL }, { "CCDMethod", NULL, NULL }, { "CCDTolerance", NULL, NULL },
    { "partitionAmt", NULL, NULL }, { "blockSize", NULL, NULL }, { "QPSolver", NULL, NULL },
    { "useActiveSetConvergence", NULL, NULL },
    { "restart", NULL, "a status file of the other code is not read; a frame of a stream is a checkpoint (step --from)" },
};
enum { NCOMMANDS = sizeof COMMANDS / sizeof *COMMANDS };

static abut_status unknown(const abut_ipc_script *s, abut_word w, abut_err *err)
{
    const char *names[NCOMMANDS + NNUMBERS + NFLAGS + 1];
    char word[41];
    const size_t n = w.n < 40 ? w.n : 40;
    memcpy(word, w.s, n);
    word[n] = 0;
    for (int i = 0; i < NCOMMANDS; i++) names[i] = COMMANDS[i].name;
    for (int i = 0; i < NNUMBERS; i++) names[NCOMMANDS + i] = NUMBERS[i].name;
    for (int i = 0; i < NFLAGS; i++) names[NCOMMANDS + NNUMBERS + i] = FLAGS[i].name;
    names[NCOMMANDS + NNUMBERS + NFLAGS] = NULL;
    const char *near = abut_name_nearest(word, names);
    if (near) return abut_scan_fail(&s->scan, err, "unsupported command '%s'; the nearest known one is '%s'", word, near);
    return abut_scan_fail(&s->scan, err, "unsupported command '%s'", word);
}

static abut_status without_effect(abut_ipc_script *s, const struct command *c, abut_err *err)
{
    if (c->refused) return abut_scan_fail(&s->scan, err, "%s is not supported: %s", c->name, c->refused);
    abut_ipc_unused(s, c->name, s->scan.line);
    return ABUT_OK;
}

static abut_status nothing_follows(abut_ipc_script *s, const char *name, abut_err *err)
{
    const abut_word rest = abut_ipc_word(s);
    if (!rest.n || *rest.s == '#') return ABUT_OK;
    return abut_scan_fail(&s->scan, err, "%s: '%.*s' at the end of the line", name, (int)(rest.n < 40 ? rest.n : 40), rest.s);
}

static abut_status command(abut_ipc_script *s, abut_err *err)
{
    const abut_word w = abut_ipc_word(s);
    if (!w.n || *w.s == '#') return ABUT_OK;
    for (int i = 0; i < NNUMBERS; i++) {
        if (!abut_word_is(w, NUMBERS[i].name)) continue;
        const abut_status rc = set_number(s, &NUMBERS[i], err);
        return rc ? rc : nothing_follows(s, NUMBERS[i].name, err);
    }
    for (int i = 0; i < NFLAGS; i++) {
        if (!abut_word_is(w, FLAGS[i].name)) continue;
        memcpy((char *)s + FLAGS[i].at, &FLAGS[i].value, sizeof FLAGS[i].value);
        return nothing_follows(s, FLAGS[i].name, err);
    }
    for (int i = 0; i < NCOMMANDS; i++) {
        if (!abut_word_is(w, COMMANDS[i].name)) continue;
        if (!COMMANDS[i].run) return without_effect(s, &COMMANDS[i], err);
        const abut_status rc = COMMANDS[i].run(s, err);
        return rc ? rc : nothing_follows(s, COMMANDS[i].name, err);
    }
    return unknown(s, w, err);
}

/* ---- the tree ---- */

/* Stiffness damping in seconds (energy/damping.c).  The reference code adds (c / h) 1/2 u^T K u to the potential of a
 * step of displacement u, with K the elastic stiffness at its start and c, in s^3, dampingStiff or 3/4 dampingRatio h^3; it
 * minimises s_I h^2 times energies (Li 2020, 2.1; s_I is 1 for implicit Euler, Newmark's beta 1/4), so that the force
 * is -c / (s_I h^3) K u = -b_K K (u / h).  With a ratio of 1 Newmark's 1/4 and these 3/4 make the stiffness of implicit Euler. */
static double damping_time(const abut_ipc_script *s)
{
    const double h = s->step, weight = abut_scheme_is(s->scheme, ABUT_SCHEME_BETA_GAMMA) ? s->newmark_beta : 1;
    return s->damping_ratio > 0 ? 0.75 * s->damping_ratio * h / weight : s->damping_stiff / (weight * h * h);
}

/* Adds the collected parameters to the tree, which has the objects already. */
static void finish(abut_ipc_script *s)
{
    abut_tree_maker *m = &s->make;
    const double damping = damping_time(s);
    m->line = s->time_line;
    abut_tree *time = abut_make_map(m, s->root, "time");
    abut_make_number(m, time, "step", s->step, "s");
    abut_make_number(m, time, "end", s->end, "s");
    abut_make_text(m, time, "scheme", "%s", abut_scheme_names[s->scheme]);
    if (s->newmark_beta != 0.25 || s->newmark_gamma != 0.5) {
        abut_tree *newmark = abut_make_map(m, time, "newmark");
        abut_make_number(m, newmark, "beta", s->newmark_beta, NULL);
        abut_make_number(m, newmark, "gamma", s->newmark_gamma, NULL);
    }
    abut_make_text(m, s->root, "length", "bounding-box");
    m->line = s->size_line;
    if (s->size > 0) abut_make_number(m, s->root, "fit", s->size, NULL);
    m->line = 0;
    abut_make_numbers(m, s->root, "gravity", (double[3]){ 0, s->gravity, 0 }, 3);
    if (damping > 0) abut_make_number(m, abut_make_map(m, s->root, "damping"), "stiffness", damping, "s");
    abut_tree *contact = abut_make_map(m, s->root, "contact");
    abut_make_number(m, contact, "dhat", s->dhat, s->is_absolute ? "m" : "l");
    if (s->kappa_multiplier != KAPPA_MULTIPLIER)
        abut_make_number(m, contact, "kappa-scale", s->kappa_multiplier / KAPPA_MULTIPLIER, NULL);
    abut_make_text(m, abut_make_map(m, contact, "barrier"), "stiffen-below", "1e-9 l");
    if (s->no_self) abut_make_text(m, contact, "bodies", "off");
    abut_make_text(m, contact, "start", "pressed");
    abut_tree *friction = abut_make_map(m, contact, "friction");
    abut_make_number(m, friction, "mu", s->mu, NULL);
    abut_make_number(m, friction, "eps_v", s->eps_v, s->is_absolute ? "m/s" : "l/s");
    if (s->lags > 0) abut_make_text(m, friction, "lags", "%d", s->lags);
    else abut_make_text(m, friction, "lags", "converged");
    abut_make_number(m, s->root, "tolerance", s->tolerance, s->has_absolute_tolerance ? "m/s" : "l/s");
    finish_solver(s);
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

/* Checks conditions on the whole script. */
static abut_status check(const abut_ipc_script *s, abut_err *err)
{
    if (!(s->step > 0) || !(s->end > 0))
        return abut_fail(err, ABUT_E_FORMAT, "%s:%d: time: %g s in steps of %g s: expected more than 0", s->scan.name,
                         s->time_line, s->end, s->step);
    if (s->damping_ratio > 0 && s->damping_stiff > 0)
        return abut_fail(err, ABUT_E_FORMAT, "%s: dampingRatio and dampingStiff: expected one of them", s->scan.name);
    return ABUT_OK;
}

abut_status abut_ipc_script_read(abut_arena *arena, const abut_bytes *in, const char *base, abut_tree **root,
                                 abut_ipc_notes *notes, abut_err *err)
{
    abut_ipc_script s = { .base = base, .step = 0.025, .end = 5, .density = 1000, .young = 1e5, .poisson = 0.4,
                     .energy = "neo-hookean", .newmark_beta = 0.25, .newmark_gamma = 0.5,
                     .size = -1, .gravity = -9.80665, .dhat = 1e-3,
                     .eps_v = 1e-3, .tolerance = 1e-2, .lags = 1, .notes = { "", "" }, .script = "null", .handle_ratio = 0.01,
                     .kappa_multiplier = KAPPA_MULTIPLIER, .offset = -1 };
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
    if (!rc) rc = check(&s, err);
    if (!rc) rc = abut_ipc_script_run(&s, err);
    if (!rc) finish(&s);
    if (!rc && s.make.failed) rc = abut_fail(err, ABUT_E_NOMEM, "%s: no memory for the scene", in->name);
    if (!rc) *root = s.root, *notes = s.notes;
    return rc;
}

/* The animation scripts of the IPC code: `script NAME` moves something, chosen by where it is or by its place in the file.
 *
 * What a name means stands in formats/SCENE.md with the reason for every choice.  A number that neither the script nor any
 * publication holds is not made up: the command is refused, or the value stands in the scene as SAY_IT, which no quantity
 * reads, so that mesh-prep names the place and --set can fill it in. */
#include "formats/ipc_parts.h"

#include "formats/tree_value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAY_IT "not said in the script (give it with --set)"

static abut_status fail(const ipc_script *s, abut_err *err, const char *why)
{
    return abut_fail(err, ABUT_E_FORMAT, "%s:%d: script '%s': %s", s->scan.name, s->script_line, s->script, why);
}

/* ---- what is there ---- */

static int is_shape(const abut_tree *o)
{
    return !abut_tree_find(o, "half-space") && !abut_tree_find(o, "fit");
}

/* Obstacle i of the shapes; NULL: there are fewer. */
static abut_tree *obstacle(const ipc_script *s, int i)
{
    for (abut_tree *o = s->objects->child; o; o = o->next)
        if (is_shape(o) && abut_tree_find(o, "obstacle") && i-- == 0) return o;
    return NULL;
}

/* A motion of the bodies' nodes between two fractions of their common box along x; 2 and -1 lie beyond it, so that rounding
 * leaves no node out. */
static abut_tree *strip(ipc_script *s, double lo, double hi)
{
    abut_tree *m = abut_make_map(&s->make, s->motion, NULL), *select = abut_make_map(&s->make, m, "select");
    abut_tree *box = abut_make_list(&s->make, select, "relative-box");
    abut_make_numbers(&s->make, box, NULL, (double[3]){ lo, -1, -1 }, 3);
    abut_make_numbers(&s->make, box, NULL, (double[3]){ hi, 2, 2 }, 3);
    return m;
}

static void slide(ipc_script *s, abut_tree *o, double vy)
{
    abut_tree *m = abut_make_map(&s->make, s->motion, NULL), *select = abut_make_map(&s->make, m, "select");
    abut_make_text(&s->make, select, "object", "%s", o->key);
    abut_make_numbers(&s->make, m, "translate", (double[3]){ 0, vy, 0 }, 3);
}

/* ---- the scripts ---- */

static abut_status nothing(ipc_script *s, abut_err *err)
{
    (void)s, (void)err;
    return ABUT_OK;
}

static abut_status fall(ipc_script *s, abut_err *err)
{
    (void)err;
    abut_make_text(&s->make, s->root, "lift", "0.5 l");
    return ABUT_OK;
}

/* The ends of all bodies turn against each other about x (Li 2020, Fig. 4.13). */
static abut_status twist(ipc_script *s, abut_err *err)
{
    (void)err;
    for (int end = 0; end < 2; end++) {
        abut_tree *m = end ? strip(s, 1 - s->handle_ratio, 2) : strip(s, -1, s->handle_ratio);
        abut_tree *rotate = abut_make_map(&s->make, m, "rotate");
        abut_make_numbers(&s->make, rotate, "axis", (double[3]){ end ? -1 : 1, 0, 0 }, 3);
        abut_make_text(&s->make, rotate, "rate", "72 deg/s");
    }
    return ABUT_OK;
}

/* The foremost 4 % of the length is pulled along x (Li 2020, Fig. 4.12). */
static abut_status drag_right(ipc_script *s, abut_err *err)
{
    abut_tree *m = strip(s, 0.96, 2);
    abut_make_numbers(&s->make, m, "translate", (double[3]){ 0.5, 0, 0 }, 3);
    return fall(s, err);
}

/* The node furthest along x (Li 2020, Fig. 4.19). */
static abut_status push_rightmost(ipc_script *s, abut_err *err)
{
    (void)err;
    abut_tree *m = strip(s, 1 - 1e-6, 2);
    abut_make_numbers(&s->make, m, "translate", (double[3]){ 0.15, 0, 0 }, 3);
    return ABUT_OK;
}

static abut_status ball_hits_wall(ipc_script *s, abut_err *err)
{
    if (s->script_args != 2) return fail(s, err, "expected two numbers, 1 and a speed");
    if (s->script_arg[0] != 1) return fail(s, err, "the first number is not 1, whose meaning alone is known: one ball");
    for (abut_tree *o = s->objects->child; o; o = o->next) {
        if (!is_shape(o) || abut_tree_find(o, "obstacle")) continue;
        if (abut_tree_find(o, "velocity")) return fail(s, err, "initVel and the script both give a velocity");
        abut_make_numbers(&s->make, o, "velocity", (double[3]){ s->script_arg[1], 0, 0 }, 3);
    }
    return ABUT_OK;
}

/* Two cylinders side by side turn against each other about the level line across the way from one to the other, so that
 * the gap between them draws downwards. */
static abut_status turn_pair(ipc_script *s, abut_tree *one, abut_tree *other, abut_err *err)
{
    double a[3] = { 0 }, b[3] = { 0 };
    if (!abut_tree_find(one, "translate") || !abut_tree_find(other, "translate"))
        return fail(s, err, "a shape follows a sequence of meshes");
    abut_status rc = abut_tree_vector(abut_tree_find(one, "translate"), "translate", ABUT_Q_LENGTH, 3, a, err);
    if (!rc) rc = abut_tree_vector(abut_tree_find(other, "translate"), "translate", ABUT_Q_LENGTH, 3, b, err);
    if (rc) return rc;
    if (a[1] != b[1] || (a[0] == b[0] && a[2] == b[2]))
        return fail(s, err, "expected the shapes of a pair side by side at one height");
    for (int k = 0; k < 2; k++) {
        const double sign = k ? -1 : 1, axis[3] = { sign * (b[2] - a[2]), 0, -sign * (b[0] - a[0]) };
        abut_tree *w = abut_make_map(&s->make, k ? other : one, "angular-velocity");
        abut_make_numbers(&s->make, w, "axis", axis, 3);
        abut_make_text(&s->make, w, "rate", "90 deg/s");
    }
    return ABUT_OK;
}

static abut_status turn_cylinders(ipc_script *s, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int pair = 0; pair < 2 && !rc; pair++) {
        abut_tree *one = obstacle(s, 2 * pair), *other = obstacle(s, 2 * pair + 1);
        if (!one || !other) return fail(s, err, "expected four obstacles among the shapes");
        if (abut_tree_find(one, "velocity") || abut_tree_find(other, "velocity"))
            return fail(s, err, "a shape has a velocity of its own");
        rc = turn_pair(s, one, other, err);
    }
    return rc;
}

static abut_status squeeze_out(ipc_script *s, abut_err *err)
{
    abut_tree *plate = obstacle(s, 0);
    if (!plate) return fail(s, err, "expected an obstacle among the shapes, the plate");
    slide(s, plate, -0.3);
    return ABUT_OK;
}

/* The upper bed, which is the last obstacle, comes down; nobody says how long. */
static abut_status squash(ipc_script *s, abut_err *err)
{
    abut_tree *bed = NULL;
    for (int i = 0; obstacle(s, i); i++) bed = obstacle(s, i);
    if (!bed) return fail(s, err, "expected an obstacle among the shapes, the upper bed");
    slide(s, bed, -1);
    if (!s->make.failed) abut_make_text(&s->make, s->motion->last, "until", SAY_IT);
    return ABUT_OK;
}

static const struct script {
    const char *name;
    abut_status (*run)(ipc_script *s, abut_err *err);
    const char *unknown;    /* why it is refused, when it is */
} SCRIPTS[] = {
    { "null", nothing, NULL }, { "DCOFix", nothing, NULL }, { "fall", fall, NULL }, { "twist", twist, NULL },
    { "dragright", drag_right, NULL }, { "pushRightMost1", push_rightmost, NULL }, { "DCOBallHitWall", ball_hits_wall, NULL },
    { "DCORotCylinders", turn_cylinders, NULL }, { "DCOSqueezeOut", squeeze_out, NULL }, { "DCOSegBedSquash", squash, NULL },
    { "stretchAndPause", NULL, "how fast the ends move and when they pause is not published; write 'script null' and DBC "
      "motions of the shape" },
    { "DCOVerschoorRoller", NULL, "which roller turns which way and how fast is not published; write 'script DCOFix' and an "
      "angularVelocity for each roller" },
};
enum { NSCRIPTS = sizeof SCRIPTS / sizeof *SCRIPTS };

abut_status ipc_script_command(ipc_script *s, abut_err *err)
{
    s->script_line = (int)s->scan.line;
    s->script_args = 0;
    abut_status rc = ipc_text(s, "the name of a script", s->script, sizeof s->script, err);
    for (;;) {
        const char *at = s->scan.p;
        const abut_word w = rc ? (abut_word){ 0 } : ipc_word(s);
        if (!w.n || *w.s == '#') break;
        if (s->script_args == 2) {
            s->scan.p = at;
            break;
        }
        rc = abut_scan_real(&s->scan, w, "script: a number", &s->script_arg[s->script_args++], err);
    }
    return rc;
}

abut_status ipc_script_run(ipc_script *s, abut_err *err)
{
    const char *names[NSCRIPTS + 1];
    char text[160];
    if (s->make.failed) return ABUT_OK;     /* reported by the caller */
    s->make.line = s->script_line;
    for (int i = 0; i < NSCRIPTS; i++) {
        const struct script *one = &SCRIPTS[i];
        names[i] = one->name;
        if (strcmp(one->name, s->script)) continue;
        if (one->unknown) return fail(s, err, one->unknown);
        if (s->script_args && one->run != ball_hits_wall) return fail(s, err, "expected no number after it");
        return one->run(s, err);
    }
    names[NSCRIPTS] = NULL;
    const char *near = abut_name_nearest(s->script, names);
    snprintf(text, sizeof text, near ? "not known; the nearest known one is '%s'" : "not known%s", near ? near : "");
    return fail(s, err, text);
}

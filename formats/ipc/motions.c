/* The animation scripts of the IPC code: `script NAME` moves something, chosen by where it is or by its place in the file.
 *
 * formats/IPC.md explains each name, with the reason for every choice.  Numbers are from the publications if these have them;
 * abut_ipc_assume says every other number chosen here, with the key that changes it.  A script with an unknown motion is refused
 * by name. */
#include "formats/ipc/script.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static abut_status fail(const abut_ipc_script *s, abut_err *err, const char *why)
{
    return abut_fail(err, ABUT_E_FORMAT, "%s:%d: script '%s': %s", s->scan.name, s->script_line, s->script, why);
}

/* ---- what is there ---- */

static int is_shape(const abut_tree *o) { return !abut_tree_find(o, "half-space") && !abut_tree_find(o, "fit"); }

/* Obstacle i of the shapes; NULL: there are fewer. */
static abut_tree *obstacle(const abut_ipc_script *s, int i)
{
    for (abut_tree *o = s->objects->child; o; o = o->next)
        if (is_shape(o) && abut_tree_find(o, "obstacle") && i-- == 0) return o;
    return NULL;
}

/* A motion of the bodies' nodes inside a box in fractions of their common one; 2 and -1 lie beyond it, so that rounding
 * leaves no node out. */
static abut_tree *strip(abut_ipc_script *s, const double lo[3], const double hi[3])
{
    abut_tree *m = abut_make_map(&s->make, s->motion, NULL), *select = abut_make_map(&s->make, m, "select");
    abut_tree *box = abut_make_list(&s->make, select, "relative-box");
    abut_make_numbers(&s->make, box, NULL, lo, 3);
    abut_make_numbers(&s->make, box, NULL, hi, 3);
    return m;
}

static abut_tree *foremost(abut_ipc_script *s, double fraction)
{
    return strip(s, (double[3]){ 1 - fraction, -1, -1 }, (double[3]){ 2, 2, 2 });
}

/* A motion of one end of all bodies along an axis (0: x, 1: y), `ratio` of their common box; high: the upper end. */
static abut_tree *end_strip(abut_ipc_script *s, int axis, int high)
{
    double lo[3] = { -1, -1, -1 }, hi[3] = { 2, 2, 2 };
    if (high) lo[axis] = 1 - s->handle_ratio;
    else hi[axis] = s->handle_ratio;
    return strip(s, lo, hi);
}

/* A motion of a whole object. */
static abut_tree *carry(abut_ipc_script *s, const abut_tree *o)
{
    abut_tree *m = abut_make_map(&s->make, s->motion, NULL), *select = abut_make_map(&s->make, m, "select");
    abut_make_text(&s->make, select, "object", "%s", o->key);
    return m;
}

/* ... down at a speed, until something: the key and the name of another object. */
static abut_tree *lower(abut_ipc_script *s, const abut_tree *o, double speed, const char *key, const abut_tree *other)
{
    abut_tree *m = carry(s, o);
    abut_make_numbers(&s->make, m, "translate", (double[3]){ 0, -speed, 0 }, 3);
    abut_tree *until = abut_make_map(&s->make, m, "until");
    abut_make_text(&s->make, until, key, "%s", other->key);
    return until;
}

/* ---- the scripts ---- */

static abut_status nothing(abut_ipc_script *s, abut_err *err)
{
    (void)s, (void)err;
    return ABUT_OK;
}

static abut_status fall(abut_ipc_script *s, abut_err *err)
{
    (void)err;
    abut_make_text(&s->make, s->root, "lift", "0.5 l");
    return ABUT_OK;
}

/* ---- the ends of all bodies ---- */

/* Motion of the lower end along x; the upper end moves oppositely. */
typedef struct act {
    double out;         /* m/s: away from each other */
    double rate[3];     /* deg/s, about the middle of the end ... */
    int about_box;      /* ... or of all bodies' box */
} act;

static void rotate_about(abut_ipc_script *s, abut_tree *m, const double w[3], double sign, int about_box)
{
    const double rate = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    if (rate == 0) return;
    abut_tree *rotate = abut_make_map(&s->make, m, "rotate");
    double axis[3];
    for (int k = 0; k < 3; k++) axis[k] = w[k] == 0 ? 0 : sign * w[k] / rate;
    abut_make_numbers(&s->make, rotate, "axis", axis, 3);
    abut_make_number(&s->make, rotate, "rate", rate, "deg/s");
    if (about_box) abut_make_text(&s->make, rotate, "center", "box");
}

static void move_ends(abut_ipc_script *s, const act *a)
{
    for (int end = 0; end < 2; end++) {
        abut_tree *m = end_strip(s, 0, end);
        if (a->out != 0) abut_make_numbers(&s->make, m, "translate", (double[3]){ end ? a->out : -a->out, 0, 0 }, 3);
        rotate_about(s, m, a->rate, end ? -1 : 1, a->about_box);
    }
}

static void fix_ends(abut_ipc_script *s, int axis)
{
    for (int end = 0; end < 2; end++) abut_make_text(&s->make, end_strip(s, axis, end), "fix", "true");
}

/* Notes that the last n motions are chosen here: "script 'stretch' (line 3): <what>; --set motion.0 or motion.1". */
static void assume(abut_ipc_script *s, const char *what, int n)
{
    char text[320], first[40] = "";
    if (s->make.failed) return;
    const int last = s->motion->n - 1;
    if (n > 1) snprintf(first, sizeof first, "motion.%d to ", last - n + 1);
    snprintf(text, sizeof text, "script '%s' (line %d): %s; --set %smotion.%d", s->script, s->script_line, what, first, last);
    abut_ipc_assume(s, text);
}

/* Motions of the two ends; what NULL: as published (Li 2020, Fig. 4.13; direction and centre are the reference code's). */
static const struct ends {
    const char *name;
    act act;
    const char *what;
} ENDS[] = {
    { "twist", { .rate = { -72, 0, 0 }, .about_box = 1 }, NULL },
    { "stretch", { .out = 0.1 }, "the ends along x move apart, each at 0.1 m/s" },
    { "squash", { .out = -0.03 }, "the ends along x move together, each at 0.03 m/s" },
    { "bend", { .rate = { 0, 0, -9 } },
      "the ends along x turn about z against each other, the upper one by 9 degrees per second" },
    { "twistnstretch", { .out = 0.1, .rate = { -18, 0, 0 }, .about_box = 1 },
      "the ends along x turn about x against each other at 18 degrees per second and move apart, each at 0.1 m/s" },
};

static abut_status both_ends(abut_ipc_script *s, abut_err *err)
{
    const struct ends *e = ENDS;
    (void)err;
    while (strcmp(e->name, s->script)) e++;
    move_ends(s, &e->act);
    if (e->what) assume(s, e->what, 2);
    return ABUT_OK;
}

static abut_status hold_top_and_bottom(abut_ipc_script *s, abut_err *err)
{
    (void)err;
    fix_ends(s, 1);
    return ABUT_OK;
}

/* The ends are drawn apart until the lower one is at x = -0.28 m, and then held (Li 2020, Fig. 4.11: a mat that is suspended
 * carries a ball). */
static abut_status stretch_and_pause(abut_ipc_script *s, abut_err *err)
{
    (void)err;
    for (int end = 0; end < 2; end++) {
        abut_tree *m = end_strip(s, 0, end);
        abut_make_numbers(&s->make, m, "translate", (double[3]){ end ? 1 : -1, 0, 0 }, 3);
        abut_tree *until = abut_make_map(&s->make, m, "until");
        if (end) abut_make_text(&s->make, until, "motion", "%d", s->make.failed ? 0 : s->motion->n - 2);
        else abut_make_number(&s->make, until, "coordinate", -0.28, "m");
        abut_make_text(&s->make, m, "hold", "true");
    }
    return ABUT_OK;
}

static abut_status hold_left(abut_ipc_script *s, abut_err *err)
{
    (void)err;
    abut_make_text(&s->make, end_strip(s, 0, 0), "fix", "true");
    assume(s, "the lower end along x stays where it is", 1);
    return ABUT_OK;
}

static abut_status hold_lower_half(abut_ipc_script *s, abut_err *err)
{
    (void)err;
    abut_make_text(&s->make, strip(s, (double[3]){ -1, -1, -1 }, (double[3]){ 2, 0.5, 2 }), "fix", "true");
    assume(s, "the lower half of the bodies' box along y stays where it is", 1);
    return ABUT_OK;
}

/* ---- what is moved ---- */

/* The foremost 4 % of the length is pulled along x (Li 2020, Fig. 4.12) and is free behind the funnel. */
static abut_status drag_right(abut_ipc_script *s, abut_err *err)
{
    abut_tree *m = foremost(s, 0.04);
    const abut_tree *funnel = s->objects ? s->objects->child : NULL;
    while (funnel && !abut_tree_find(funnel, "obstacle")) funnel = funnel->next;
    abut_make_numbers(&s->make, m, "translate", (double[3]){ 0.5, 0, 0 }, 3);
    if (funnel) abut_make_text(&s->make, abut_make_map(&s->make, m, "until"), "past", "%s", funnel->key);
    else assume(s, "there is no obstacle to pull the tip through: it is pulled for ever", 1);
    return fall(s, err);
}

/* The node furthest along x (Li 2020, Fig. 4.19). */
static abut_status push_rightmost(abut_ipc_script *s, abut_err *err)
{
    (void)err;
    abut_tree *m = foremost(s, 1e-6);
    abut_make_numbers(&s->make, m, "translate", (double[3]){ -0.15, 0, 0 }, 3);
    return ABUT_OK;
}

static abut_status ball_hits_wall(abut_ipc_script *s, abut_err *err)
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

/* Two cylinders side by side rotate against each other about horizontal axes across the line between them, so that the
 * gap draws downwards. */
static abut_status rotate_pair(abut_ipc_script *s, abut_tree *one, abut_tree *other, abut_err *err)
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
        const double *own = k ? b : a, *its = k ? a : b, axis[3] = { its[2] - own[2], 0, own[0] - its[0] };
        abut_tree *w = abut_make_map(&s->make, k ? other : one, "angular-velocity");
        abut_make_numbers(&s->make, w, "axis", axis, 3);
        abut_make_text(&s->make, w, "rate", "90 deg/s");
    }
    return ABUT_OK;
}

static abut_status turn_cylinders(abut_ipc_script *s, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int pair = 0; pair < 2 && !rc; pair++) {
        abut_tree *one = obstacle(s, 2 * pair), *other = obstacle(s, 2 * pair + 1);
        if (!one || !other) return fail(s, err, "expected four obstacles among the shapes");
        if (abut_tree_find(one, "velocity") || abut_tree_find(other, "velocity"))
            return fail(s, err, "a shape has a velocity of its own");
        rc = rotate_pair(s, one, other, err);
    }
    return rc;
}

static abut_status squeeze_out(abut_ipc_script *s, abut_err *err)
{
    const abut_tree *plate = obstacle(s, 0), *tube = obstacle(s, 1);
    if (!tube) return fail(s, err, "expected two obstacles among the shapes, the plate and the tube");
    abut_make_number(&s->make, lower(s, plate, 0.3, "past", tube), "share", 0.9, NULL);
    assume(s, "the plate stops when it has done 90 % of its way to the lower end of the tube", 1);
    return ABUT_OK;
}

/* The upper bed, which is the last obstacle, comes down (Li 2020, Fig. 4.16: "a stable compressed rest"). */
static abut_status press(abut_ipc_script *s, abut_err *err)
{
    const abut_tree *under = obstacle(s, 0), *upper = NULL;
    for (int i = 1; obstacle(s, i); i++) upper = obstacle(s, i);
    if (!upper) return fail(s, err, "expected two obstacles among the shapes, the lower and the upper bed");
    abut_make_text(&s->make, lower(s, upper, 1, "to", under), "gap", "0.1 m");
    return ABUT_OK;
}

/* Six walls come together and part again (Li 2020, Fig. 4.14), each towards the middle of all six along the axis on which it
 * is further from it. */
static abut_status squash_in_six(abut_ipc_script *s, abut_err *err)
{
    const double inwards = 0.8;     /* s */
    double at[6][3], middle[3] = { 0 };
    for (int i = 0; i < 6; i++) {
        const abut_tree *wall = obstacle(s, i), *t = wall ? abut_tree_find(wall, "translate") : NULL;
        if (!wall) return fail(s, err, "expected six obstacles among the shapes, the walls");
        if (!t) return fail(s, err, "a shape follows a sequence of meshes");
        const abut_status rc = abut_tree_vector(t, "translate", ABUT_Q_LENGTH, 3, at[i], err);
        if (rc) return rc;
        for (int k = 0; k < 3; k++) middle[k] += at[i][k] / 6;
    }
    for (int i = 0; i < 6; i++) {
        int axis = 0;
        for (int k = 1; k < 3; k++)
            if (fabs(at[i][k] - middle[k]) > fabs(at[i][axis] - middle[axis])) axis = k;
        const double d = at[i][axis] - middle[axis];
        if (fabs(d) < 1e-9) return fail(s, err, "two walls or more are at one place: expected them around the bodies");
        abut_tree *keys = abut_make_list(&s->make, carry(s, obstacle(s, i)), "keyframes");
        for (int k = 1; k <= 2; k++) {
            double shift[3] = { 0 };
            abut_tree *key = abut_make_map(&s->make, keys, NULL);
            shift[axis] = k == 1 ? (d > 0 ? -inwards : inwards) : 0;
            abut_make_number(&s->make, key, "time", k * inwards, "s");
            abut_make_numbers(&s->make, key, "translate", shift, 3);
        }
    }
    assume(s, "the six obstacles move inwards at 1 m/s for 0.8 s and back at the same speed", 6);
    return ABUT_OK;
}

/* Six rollers (Li 2020, Fig. 4.15): four in a row along x, which turn about z, over two along z, which turn about x and take
 * over what comes through the middle. */
static abut_status turn_six_rollers(abut_ipc_script *s, abut_err *err)
{
    static const double rate[6] = { -4, -2, 2, 4, 2, -2 };    /* rad/s */
    for (int i = 0; i < 6; i++) {
        abut_tree *roller = obstacle(s, i);
        if (!roller) return fail(s, err, "expected six obstacles among the shapes, the rollers");
        if (abut_tree_find(roller, "velocity")) return fail(s, err, "a shape has a velocity of its own");
        abut_tree *w = abut_make_map(&s->make, roller, "angular-velocity");
        const double sign = rate[i] < 0 ? -1 : 1, axis[3] = { i < 4 ? 0 : sign, 0, i < 4 ? sign : 0 };
        abut_make_numbers(&s->make, w, "axis", axis, 3);
        abut_make_number(&s->make, w, "rate", fabs(rate[i]), "rad/s");
    }
    return ABUT_OK;
}

#define USE_DBC "; write 'script null' and DBC motions of the shapes"
#define NOT_KNOWN "what it moves and how fast is not known here" USE_DBC
#define STARTS_INVERTED "it starts from inverted tets, which nothing here accepts"

static const struct script {
    const char *name;
    abut_status (*run)(abut_ipc_script *s, abut_err *err);
    const char *refused;    /* why, when it is */
} SCRIPTS[] = {
    { "null", nothing, NULL }, { "DCOFix", nothing, NULL }, { "fall", fall, NULL }, { "fallNoShift", nothing, NULL },
    { "twist", both_ends, NULL }, { "stretch", both_ends, NULL }, { "squash", both_ends, NULL }, { "bend", both_ends, NULL },
    { "twistnstretch", both_ends, NULL }, { "topbottomfix", hold_top_and_bottom, NULL },
    { "stretchAndPause", stretch_and_pause, NULL }, { "dragright", drag_right, NULL },
    { "pushRightMost1", push_rightmost, NULL }, { "DCOBallHitWall", ball_hits_wall, NULL },
    { "DCORotCylinders", turn_cylinders, NULL }, { "DCOSqueezeOut", squeeze_out, NULL }, { "DCOSegBedSquash", press, NULL },
    { "DCOVerschoorRoller", turn_six_rollers, NULL }, { "DCOSquash6", squash_in_six, NULL }, { "hangLeft", hold_left, NULL },
    { "fixLowerHalf", hold_lower_half, NULL },
    { "onepoint", NULL, STARTS_INVERTED }, { "random", NULL, STARTS_INVERTED },
    { "stretchnsquash", NULL, "where the ends turn back is not known here" USE_DBC },
    { "twistnsns", NULL, "where the ends turn back is not known here" USE_DBC },
    { "twistnsns_old", NULL, "where the ends turn back is not known here" USE_DBC },
    { "scaleF", NULL, NOT_KNOWN }, { "hang", NULL, NOT_KNOWN }, { "hang2", NULL, NOT_KNOWN }, { "swing", NULL, NOT_KNOWN },
    { "stamp", NULL, NOT_KNOWN }, { "undstamp", NULL, NOT_KNOWN }, { "stand", NULL, NOT_KNOWN }, { "slip", NULL, NOT_KNOWN },
    { "corner", NULL, NOT_KNOWN }, { "push", NULL, NOT_KNOWN }, { "tear", NULL, NOT_KNOWN }, { "upndown", NULL, NOT_KNOWN },
    { "rubberBandPull", NULL, NOT_KNOWN }, { "fourLegPull", NULL, NOT_KNOWN }, { "headTailPull", NULL, NOT_KNOWN },
    { "dragdown", NULL, NOT_KNOWN }, { "toggleTop", NULL, NOT_KNOWN },
};
enum { NSCRIPTS = sizeof SCRIPTS / sizeof *SCRIPTS };

abut_status abut_ipc_script_command(abut_ipc_script *s, abut_err *err)
{
    s->script_line = (int)s->scan.line;
    s->script_args = 0;
    abut_status rc = abut_ipc_text(s, "the name of a script", s->script, sizeof s->script, err);
    for (;;) {
        const char *at = s->scan.p;
        const abut_word w = rc ? (abut_word){ 0 } : abut_ipc_word(s);
        if (!w.n || *w.s == '#') break;
        if (s->script_args == 2) {
            s->scan.p = at;
            break;
        }
        rc = abut_scan_real(&s->scan, w, "script: a number", &s->script_arg[s->script_args++], err);
    }
    return rc;
}

abut_status abut_ipc_script_run(abut_ipc_script *s, abut_err *err)
{
    const char *names[NSCRIPTS + 1];
    char text[160];
    if (s->make.failed) return ABUT_OK;     /* reported by the caller */
    s->make.line = s->script_line;
    for (int i = 0; i < NSCRIPTS; i++) {
        const struct script *one = &SCRIPTS[i];
        names[i] = one->name;
        if (strcmp(one->name, s->script)) continue;
        if (one->refused) return fail(s, err, one->refused);
        if (s->script_args && one->run != ball_hits_wall) return fail(s, err, "expected no number after it");
        return one->run(s, err);
    }
    names[NSCRIPTS] = NULL;
    const char *near = abut_name_nearest(s->script, names);
    snprintf(text, sizeof text, near ? "not known; the nearest known one is '%s'" : "not known%s", near ? near : "");
    return fail(s, err, text);
}

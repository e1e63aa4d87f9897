/* Shapes of IPC scripts.
 *
 * A shape line is a path, a translation, three angles (degrees), three scales, then keywords.  A point goes through the
 * scales, the angles about z, then y, then x, and the translation, all about the origin of the mesh file: only so are the
 * scenes of the release as described (blades upright under the mat, the ball over the points).
 * A .pt or .seg file that does not exist means the points or the edges of the .obj file of that name. */
#include "formats/ipc/script.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 2048, NAME_SIZE = 48 };

/* One shape line. */
typedef struct shape {
    char path[PATH_SIZE], name[NAME_SIZE], sequence[PATH_SIZE];
    double translate[3], angle[3], scale[3];
    double velocity[3], spin[3];        /* of linearVelocity, angularVelocity, initVel */
    int is_moving, is_thrown, has_material;
    abut_tree *object;
} shape;

static int ends_in(const char *path, const char *extension)
{
    const size_t n = strlen(path), e = strlen(extension);
    return n > e && !strcmp(path + n - e, extension);
}

/* "cube-1" for the first shape of the script, made from input/tetMeshes/cube.msh. */
static void name_shape(abut_ipc_script *s, shape *sh)
{
    const char *slash = strrchr(sh->path, '/'), *stem = slash ? slash + 1 : sh->path;
    const size_t n = strcspn(stem, ".");
    do snprintf(sh->name, sizeof sh->name, "%.*s-%d", (int)(n < 32 ? n : 32), stem, ++s->nshapes);
    while (s->objects && abut_tree_find(s->objects, sh->name));     /* a mesh called half-space */
}

static int exists(const abut_ipc_script *s, const char *path)
{
    char full[2 * PATH_SIZE];
    const int n = snprintf(full, sizeof full, "%s%s", *path == '/' ? "" : s->base, path);
    return n < (int)sizeof full && !access(full, F_OK);
}

/* mesh: path; or the points or edges of the OBJ file beside a .pt or .seg that is not there. */
static void put_mesh(abut_ipc_script *s, shape *sh)
{
    const char *use = ends_in(sh->path, ".pt") ? "points" : ends_in(sh->path, ".seg") ? "edges" : NULL;
    if (use && !exists(s, sh->path)) {
        const int stem = (int)(strrchr(sh->path, '.') - sh->path);
        abut_make_text(&s->make, sh->object, "mesh", "%.*s.obj", stem, sh->path);
        abut_make_text(&s->make, sh->object, "use", "%s", use);
    } else {
        abut_make_text(&s->make, sh->object, "mesh", "%s", sh->path);
    }
}

static void put_placement(abut_ipc_script *s, shape *sh, const double *offset)
{
    static const char *const axis[3] = { "z", "y", "x" };
    double at[3];
    abut_make_numbers(&s->make, sh->object, "scale", sh->scale, 3);
    if (sh->angle[0] != 0 || sh->angle[1] != 0 || sh->angle[2] != 0) {
        abut_tree *list = abut_make_list(&s->make, sh->object, "rotate");
        for (int k = 0; k < 3; k++) {
            if (sh->angle[2 - k] == 0) continue;
            const double e[3] = { *axis[k] == 'x', *axis[k] == 'y', *axis[k] == 'z' };
            abut_tree *one = abut_make_map(&s->make, list, NULL);
            abut_make_numbers(&s->make, one, "axis", e, 3);
            abut_make_number(&s->make, one, "angle", sh->angle[2 - k], "deg");
        }
    }
    for (int k = 0; k < 3; k++) at[k] = offset ? offset[k] : sh->translate[k];
    abut_make_numbers(&s->make, sh->object, "translate", at, 3);
}

static void put_rotation(abut_ipc_script *s, abut_tree *parent, const char *key, const double w[3])
{
    const double rate = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    if (rate == 0) return;
    abut_tree *r = abut_make_map(&s->make, parent, key);
    abut_make_numbers(&s->make, r, "axis", w, 3);
    abut_make_number(&s->make, r, "rate", rate, "deg/s");
}

/* ---- keywords ---- */

static abut_status own_material(abut_ipc_script *s, shape *sh, abut_err *err)
{
    double v[3];
    abut_status rc = abut_ipc_reals(s, "material: density, Young's modulus, Poisson ratio", 3, v, err);
    if (!rc && sh->has_material) rc = abut_scan_fail(&s->scan, err, "material a second time: expected one");
    if (rc) return rc;
    abut_tree *m = abut_make_map(&s->make, s->materials, sh->name);
    abut_make_number(&s->make, m, "density", v[0], NULL);
    abut_make_number(&s->make, m, "young", v[1], NULL);
    abut_make_number(&s->make, m, "poisson", v[2], NULL);
    sh->has_material = 1;
    return ABUT_OK;
}

static abut_status velocity(abut_ipc_script *s, shape *sh, int linear, int angular, const char *what, abut_err *err)
{
    abut_status rc = linear ? abut_ipc_reals(s, what, 3, sh->velocity, err) : ABUT_OK;
    return rc || !angular ? rc : abut_ipc_reals(s, what, 3, sh->spin, err);
}

static int is_number(abut_word w) { return w.n && strchr("+-.0123456789", *w.s) != NULL; }

/* Optional numbers before the next keyword: start and end of a window. */
static abut_status window(abut_ipc_script *s, abut_tree *motion, abut_word *next, abut_err *err)
{
    static const char *const key[2] = { "from", "until" };
    abut_status rc = ABUT_OK;
    *next = abut_ipc_word(s);
    for (int k = 0; k < 2 && is_number(*next) && !rc; k++) {
        double t;
        rc = abut_scan_real(&s->scan, *next, "the start or end of a time window", &t, err);
        if (!rc) abut_make_number(&s->make, motion, key[k], t, "s");
        *next = abut_ipc_word(s);
    }
    return rc;
}

/* DBC: box, linear velocity, angular velocity, window.  NBC: box, acceleration, window. */
static abut_status boundary(abut_ipc_script *s, shape *sh, int dirichlet, abut_word *next, abut_err *err)
{
    double box[6], act[6];
    abut_status rc = abut_ipc_reals(s, "DBC or NBC: smallest and largest corner of a box", 6, box, err);
    if (!rc && dirichlet) rc = abut_ipc_reals(s, "DBC: linear and angular velocity", 6, act, err);
    if (!rc && !dirichlet) rc = abut_ipc_reals(s, "NBC: acceleration", 3, act, err);
    if (rc) return rc;
    abut_tree *m = abut_make_map(&s->make, s->motion, NULL), *select = abut_make_map(&s->make, m, "select");
    abut_make_text(&s->make, select, "object", "%s", sh->name);
    abut_tree *corners = abut_make_list(&s->make, select, "relative-box");
    abut_make_numbers(&s->make, corners, NULL, box, 3);
    abut_make_numbers(&s->make, corners, NULL, box + 3, 3);
    abut_make_numbers(&s->make, m, dirichlet ? "translate" : "acceleration", act, 3);
    if (dirichlet) put_rotation(s, m, "rotate", act + 3);
    return window(s, m, next, err);
}

static abut_status keyword(abut_ipc_script *s, shape *sh, abut_word w, abut_word *next, abut_err *err)
{
    abut_status rc;
    if (abut_word_is(w, "DBC")) return boundary(s, sh, 1, next, err);
    if (abut_word_is(w, "NBC")) return boundary(s, sh, 0, next, err);
    if (abut_word_is(w, "material")) rc = own_material(s, sh, err);
    else if (abut_word_is(w, "initVel")) rc = velocity(s, sh, 1, 1, "initVel: velocity and spin", err), sh->is_thrown = 1;
    else if (abut_word_is(w, "linearVelocity")) rc = velocity(s, sh, 1, 0, "linearVelocity", err), sh->is_moving = 1;
    else if (abut_word_is(w, "angularVelocity")) rc = velocity(s, sh, 0, 1, "angularVelocity", err), sh->is_moving = 1;
    else if (abut_word_is(w, "meshSeq")) rc = abut_ipc_text(s, "meshSeq: a folder", sh->sequence, sizeof sh->sequence, err);
    else return abut_scan_expected(&s->scan, "", w, "material, initVel, DBC, NBC, linearVelocity, angularVelocity or meshSeq",
                                   err);
    *next = rc ? (abut_word){ 0 } : abut_ipc_word(s);
    return rc;
}

/* Reads the meshes 0.ext, 1.ext, ... of a folder, one per time step: they place the obstacle, so that the shape's own placement
 * has no effect.  The step is set when the whole script is read. */
static abut_status put_sequence(abut_ipc_script *s, shape *sh, abut_err *err)
{
    static const char *const extension[] = { ".seg", ".obj", ".pt", ".ply", ".stl", ".msh" };
    char first[PATH_SIZE + 16];
    for (size_t i = 0; i < sizeof extension / sizeof *extension; i++) {
        snprintf(first, sizeof first, "%s/0%s", sh->sequence, extension[i]);
        if (!exists(s, first)) continue;
        sh->object = abut_make_map(&s->make, s->objects, sh->name);
        abut_tree *q = abut_make_map(&s->make, sh->object, "sequence");
        abut_make_text(&s->make, q, "files", "%s/%%d%s", sh->sequence, extension[i]);
        abut_make_text(&s->make, sh->object, "obstacle", "true");
        return ABUT_OK;
    }
    return abut_scan_fail(&s->scan, err, "meshSeq %s: no mesh 0.seg, 0.obj, ... in it", sh->sequence);
}

/* The object of a shape whose line has been read. */
static abut_status put_shape(abut_ipc_script *s, shape *sh, const double *offset, abut_err *err)
{
    const int is_obstacle = !ends_in(sh->path, ".msh") || sh->is_moving;
    if (sh->is_thrown && (is_obstacle || *sh->sequence))
        return abut_scan_fail(&s->scan, err, "initVel: an obstacle does not start with a velocity, it keeps one");
    if (*sh->sequence) return put_sequence(s, sh, err);
    sh->object = abut_make_map(&s->make, s->objects, sh->name);
    put_mesh(s, sh);
    put_placement(s, sh, offset);
    if (is_obstacle) abut_make_text(&s->make, sh->object, "obstacle", "true");
    else abut_make_text(&s->make, sh->object, "material", "%s", sh->has_material ? sh->name : "script");
    if (sh->is_moving || sh->is_thrown) {
        abut_make_numbers(&s->make, sh->object, "velocity", sh->velocity, 3);
        put_rotation(s, sh->object, "angular-velocity", sh->spin);
    }
    return ABUT_OK;
}

static abut_status expect_input(abut_ipc_script *s, const char *command, abut_err *err)
{
    const abut_word w = abut_ipc_word(s);
    if (abut_word_is(w, "input")) return ABUT_OK;
    return abut_scan_expected(&s->scan, command, w, "input", err);
}

abut_status abut_ipc_one_shape(abut_ipc_script *s, abut_err *err)
{
    shape sh = { .scale = { 1, 1, 1 } };
    abut_status rc = expect_input(s, "shape ", err);
    if (!rc) rc = abut_ipc_text(s, "the mesh of a shape", sh.path, sizeof sh.path, err);
    if (rc) return rc;
    s->make.line = (int)s->scan.line;
    name_shape(s, &sh);
    return put_shape(s, &sh, NULL, err);
}

/* The mesh, divided by its longest side, scaled and rotated about the mean of its points, comes to the point with that mean.
 * A stiffness has no meaning to a barrier. */
abut_status abut_ipc_mesh_obstacle(abut_ipc_script *s, abut_err *err)
{
    shape sh = { 0 };
    double v[3];
    abut_status rc = abut_ipc_text(s, "meshCO: a mesh", sh.path, sizeof sh.path, err);
    if (!rc) rc = abut_ipc_reals(s, "meshCO: a point", 3, sh.translate, err);
    if (!rc) rc = abut_ipc_reals(s, "meshCO: scale, stiffness, friction", 3, v, err);
    const abut_word w = rc ? (abut_word){ 0 } : abut_ipc_word(s);
    if (abut_word_is(w, "rotate")) rc = abut_ipc_reals(s, "meshCO: angles", 3, sh.angle, err);
    else if (w.n && *w.s != '#') rc = abut_scan_expected(&s->scan, "meshCO: ", w, "rotate", err);
    if (rc) return rc;
    for (int k = 0; k < 3; k++) sh.scale[k] = v[0];
    s->make.line = (int)s->scan.line;
    name_shape(s, &sh);
    sh.object = abut_make_map(&s->make, s->objects, sh.name);
    put_mesh(s, &sh);
    abut_make_text(&s->make, sh.object, "origin", "vertex-mean");
    abut_make_text(&s->make, sh.object, "unit-size", "true");
    put_placement(s, &sh, NULL);
    abut_make_text(&s->make, sh.object, "obstacle", "true");
    abut_make_text(&s->make, sh.object, "fit", "false");
    abut_make_number(&s->make, sh.object, "mu", v[2], NULL);
    return ABUT_OK;
}

/* Path and placement; the rest of the line follows. */
static abut_status read_line(abut_ipc_script *s, shape *sh, abut_err *err)
{
    memset(sh, 0, sizeof *sh);
    while (abut_scan_next_line(&s->scan)) {
        const char *at = s->scan.p;
        const abut_word w = abut_scan_word(&s->scan);
        if (!w.n || *w.s == '#') continue;
        s->scan.p = at;
        s->make.line = (int)s->scan.line;
        abut_status rc = abut_ipc_text(s, "the mesh of a shape", sh->path, sizeof sh->path, err);
        if (!rc) rc = abut_ipc_reals(s, "a shape's translation", 3, sh->translate, err);
        if (!rc) rc = abut_ipc_reals(s, "a shape's angles", 3, sh->angle, err);
        if (!rc) rc = abut_ipc_reals(s, "a shape's scales", 3, sh->scale, err);
        if (!rc) name_shape(s, sh);
        return rc;
    }
    return abut_scan_fail(&s->scan, err, "the script ends where a shape is expected");
}

abut_status abut_ipc_shapes(abut_ipc_script *s, abut_err *err)
{
    int64_t n;
    abut_status rc = expect_input(s, "shapes ", err);
    if (!rc) rc = abut_scan_int(&s->scan, abut_ipc_word(s), "the number of shapes", 1, 100000, &n, err);
    for (int64_t i = 0; !rc && i < n; i++) {
        shape sh;
        abut_word w = { 0 };
        rc = read_line(s, &sh, err);
        if (!rc) w = abut_ipc_word(s);
        while (!rc && w.n && *w.s != '#') rc = keyword(s, &sh, w, &w, err);
        if (!rc) rc = put_shape(s, &sh, NULL, err);
    }
    return rc;
}

/* The first three numbers of the line are the spacing; the whole matrix may be shifted. */
abut_status abut_ipc_shape_matrix(abut_ipc_script *s, abut_err *err)
{
    double offset[3] = { 0 };
    int64_t n[3];
    shape sh;
    abut_status rc = expect_input(s, "shapeMatrix ", err);
    for (int k = 0; k < 3 && !rc; k++)
        rc = abut_scan_int(&s->scan, abut_ipc_word(s), "shapeMatrix: shapes along each axis", 1, 4096, &n[k], err);
    if (rc) return rc;
    const abut_word w = abut_ipc_word(s);
    if (w.n && *w.s != '#') {
        rc = abut_scan_real(&s->scan, w, "shapeMatrix: the offset", &offset[0], err);
        if (!rc) rc = abut_ipc_reals(s, "shapeMatrix: the offset", 2, offset + 1, err);
    }
    if (!rc) rc = read_line(s, &sh, err);
    if (!rc) rc = put_shape(s, &sh, offset, err);
    if (rc) return rc;
    abut_tree *r = abut_make_map(&s->make, sh.object, "repeat"), *count = abut_make_list(&s->make, r, "count");
    for (int k = 0; k < 3; k++) abut_make_text(&s->make, count, NULL, "%d", (int)n[k]);
    abut_make_numbers(&s->make, r, "spacing", sh.translate, 3);
    return ABUT_OK;
}

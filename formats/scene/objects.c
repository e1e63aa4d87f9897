/* Objects of a scene: bodies, obstacles and half-spaces; what their shells, rods and particles are; affine frames. */
#include "formats/scene/keys.h"

#include "base/order.h"
#include "math/mat3.h"
#include "math/svd3.h"
#include "model/schemes.h"

#include <stdlib.h>
#include <string.h>

/* ---- shells, rods, particles ---- */

/* stretch-limit as a map: the barrier begins at the thresholds. */
static const abut_key LIMIT_KEYS[] = {
    { ABUT_NUMBER(abut_scene_shell, "upper", limit[3], PURE, NULL) },
    { ABUT_NUMBER(abut_scene_shell, "upper-threshold", limit[2], PURE, NULL), .fallback = "1" },
    { ABUT_NUMBER(abut_scene_shell, "lower", limit[0], PURE, NULL) },
    { ABUT_NUMBER(abut_scene_shell, "lower-threshold", limit[1], PURE, NULL), .fallback = "1" },
    { 0 }
};
static const abut_keys LIMIT = { "stretch-limit", NULL, LIMIT_KEYS, 0, NULL };

/* Checks the limits of a map; a threshold is 1 unless the map says another, and 0 without a limit. */
static abut_status check_limits(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    double *const limit = ((abut_scene_shell *)to)->limit;
    const abut_tree *const said[2] = { abut_tree_find(t, "lower"), abut_tree_find(t, "upper") };
    const abut_tree *const begin[2] = { abut_tree_find(t, "lower-threshold"), abut_tree_find(t, "upper-threshold") };
    (void)r;
    for (int k = 1; k >= 0; k--) {
        double *const l = &limit[3 * k], *const from = &limit[1 + k];
        if (!said[k] && begin[k]) return abut_tree_fail_key(begin[k], err, "%s without %s", begin[k]->key, k ? "upper" : "lower");
        if (!begin[k]) *from = said[k] != NULL;
        if (k && said[k] && !(*from >= 1 && *l > *from))
            return abut_tree_fail(begin[k] ? begin[k] : said[k], err,
                                  "upper %g, its threshold %g: expected 1 <= threshold < upper", *l, *from);
        if (!k && said[k] && !(*l >= 0 && *l < *from && *from <= 1))
            return abut_tree_fail(begin[k] ? begin[k] : said[k], err,
                                  "lower %g, its threshold %g: expected 0 <= lower < threshold <= 1", *l, *from);
    }
    return said[0] || said[1] ? ABUT_OK : abut_tree_fail(t, err, "stretch-limit: expected upper or lower");
}

static const abut_key STRETCH = { ABUT_NUMBER(abut_scene_shell, "stretch-limit", limit[3], PURE, "(1,)"),
                                  .form = "the length at rest" };

static const abut_key PRESSURE_KEYS[] = {
    { ABUT_NUMBER(abut_scene_shell, "value", pressure, PRESSURE, NULL) },
    { .name = "ramp", .kind = ABUT_KEY_LATER, .form = "time" },
    { .name = "factor", .kind = ABUT_KEY_LATER, .keys = &abut_scene_factor_keys },
    { 0 }
};
static const abut_keys PRESSURE = { "pressure", NULL, PRESSURE_KEYS, 1,
                                    "{value: pressure, ramp: time or factor: {times, values}}" };

static const abut_key CONSTANT = { ABUT_NUMBER(abut_scene_shell, "pressure", pressure, PRESSURE, NULL) };

static abut_status read_factor(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    return abut_scene_factor(r, t, &((abut_scene_shell *)to)->factor, err);
}

static const abut_key SHELL_KEYS[] = {
    { ABUT_NUMBER(abut_scene_shell, "thickness", thickness, LENGTH, "(0,)") },
    { ABUT_WORD(abut_scene_shell, "bending", plate, ABUT_WORDS("parity", "plate")), .fallback = "parity" },
    { ABUT_WORD(abut_scene_shell, "rest-angle", flat, ABUT_WORDS("mesh", "flat")), ABUT_HAS(abut_scene_shell, has_angle) },
    { ABUT_CHECKED("stretch-limit", &LIMIT, check_limits), .instead = &STRETCH, .form = "number, or map" },
    { ABUT_NUMBER(abut_scene_shell, "warp", warp, PURE, NULL), .fallback = "[1, 0, 0]" },
    { ABUT_CHECKED("pressure", &PRESSURE, read_factor), .instead = &CONSTANT, .form = "pressure, or map", .fallback = "0" },
    { ABUT_NUMBER(abut_scene_shell, "drag", drag, DENSITY, "[0,)") },
    { 0 }
};
static const abut_keys SHELL = { "shell", NULL, SHELL_KEYS, 1, "{thickness: length}" };

static abut_status check_shell(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    (void)r;
    return abut_scene_nonzero(abut_tree_find(t, "warp"), "warp", ((const abut_scene_shell *)to)->warp, err);
}

static const abut_key ROD_KEYS[] = {
    { ABUT_NUMBER(abut_scene_object, "radius", rod_radius, LENGTH, "(0,)") },
    { ABUT_FLAG(abut_scene_object, "curved", rod_curved), .fallback = "false" },
    { 0 }
};
static const abut_key PARTICLE_KEYS[] = { { ABUT_NUMBER(abut_scene_object, "radius", particle_radius, LENGTH, "(0,)") }, { 0 } };
static const abut_keys ROD = { .row = ROD_KEYS, .needs = 1 }, PARTICLE = { .row = PARTICLE_KEYS, .needs = 1 };

/* ---- a body that moves as one affine frame ---- */

#define OUTSIDE 1e3         /* coordinates of the surface in the tet of a frame are exact, however far outside it is */

static const abut_key RIGID_KEYS[] = {
    { ABUT_NUMBER(abut_scene_object, "mass", rigid.mass, MASS, "(0,)"), ABUT_HAS(abut_scene_object, rigid.has_mass) },
    { ABUT_NUMBER(abut_scene_object, "center", rigid.center, LENGTH, NULL), ABUT_HAS(abut_scene_object, rigid.has_center) },
    { ABUT_NUMBER(abut_scene_object, "inertia", rigid.inertia, INERTIA, NULL), ABUT_HAS(abut_scene_object, rigid.has_inertia) },
    { ABUT_NUMBER(abut_scene_object, "strain", rigid.strain, PURE, "(0,)"), .fallback = "1e-4" },
    { ABUT_NUMBER(abut_scene_object, "stiffness", rigid.stiffness, PRESSURE, "(0,)") },
    { 0 }
};
static const abut_keys RIGID = { "rigid", NULL, RIGID_KEYS, 0, NULL };
static const abut_key RIGID_FLAG = { ABUT_FLAG(abut_scene_object, "rigid", rigid.is) };

static abut_status check_rigid(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    (void)r, (void)t, (void)err;
    ((abut_scene_object *)to)->rigid.is = 1;
    return ABUT_OK;
}

/* The frame of a rigid body; a given centre and tensor are placed as the mesh was.  From then on its mass says what it is made
 * of. */
static abut_status stiff_frame(const abut_scene_reader *r, int32_t copy, abut_object_said *said, abut_mesh *frame,
                               abut_err *err)
{
    abut_scene_object *const o = &said->o;
    const double *A = said->place.A;
    const abut_scene_rigid *g = &o->rigid;
    const double density = r->scene->material[o->material].density, s = o->particle_radius, det = abut_m3_det(A);
    const double *v = g->inertia, I[9] = { v[0], v[3], v[4], v[3], v[1], v[5], v[4], v[5], v[2] };
    double U[9], stretch[3], V[9], R[9], RI[9], at[3];
    abut_body b = { .thickness = o->shell.thickness, .section = 3.14159265358979 * o->rod_radius * o->rod_radius,
                    .point = 4. / 3 * 3.14159265358979 * s * s * s, .has_mass = g->has_mass, .has_center = g->has_center,
                    .has_inertia = g->has_inertia, .density = density, .mass = g->mass };
    abut_scene_copy_at(&said->repeat, copy, at);
    abut_svd3(A, U, stretch, V);
    abut_m3_mul_nt(R, U, V);
    for (int i = 0; i < 9 && det < 0; i++) R[i] = -R[i];   /* a mirrored tensor */
    abut_m3_mul(RI, R, I);
    abut_m3_mul_nt(b.inertia, RI, R);
    for (int i = 0; i < 3; i++)
        b.center[i] = A[3 * i] * g->center[0] + A[3 * i + 1] * g->center[1] + A[3 * i + 2] * g->center[2] + said->place.b[i] +
            at[i];
    const abut_status rc = abut_mesh_stiff_frame(&o->mesh, &b, frame, &o->proxy.surface, o->fill, &o->rigid.ratio, err);
    o->shell.thickness = o->rod_radius = o->particle_radius = 0;
    return rc;
}

static abut_status check_frame(const abut_tree *object, const abut_tree *t, const abut_scene_object *o, abut_err *err)
{
    static const char *const others[] = { "tetrahedralize", "proxy", "match-mass", "rest", "shell", "rod", "particle", NULL };
    const abut_tree *copies = abut_tree_find(object, "repeat");
    const abut_mesh *m = &o->mesh;
    for (int i = 0; others[i] && !(o->rigid.is && i > 3); i++)
        if (abut_tree_find(object, others[i]))
            return abut_tree_fail_key(t, err, "%s: a body of four control points has its own surface and mass: expected no %s",
                                      t->key, others[i]);
    if (o->obstacle) return abut_tree_fail_key(t, err, "%s: of a body; an obstacle moves as its motion says", t->key);
    if (abut_scene_order_of(o) > 1) return abut_tree_fail_key(t, err, "%s: expected tets of order 1, these have order %d",
                                                              t->key, abut_scene_order_of(o));
    if (o->fill) return abut_tree_fail_key(t, err, "%s: a cage is partly solid: expected the surface that it is around", t->key);
    if (copies && !abut_tree_find(copies, "objects"))
        return abut_tree_fail_key(copies, err, "repeat: of a frame: expected objects: true");
    if (o->rigid.is ? !m->nt && !m->nf && !m->ns && !m->np : (m->nt != 0) == (m->nf != 0) || m->ns || m->np)
        return abut_tree_fail_key(
            t, err,
            "%s: expected tets alone or triangles alone, this mesh has %d tet%s, %d triangle%s, %d segment%s, %d point%s",
            t->key, m->nt, abut_s(m->nt), m->nf, abut_s(m->nf), m->ns, abut_s(m->ns), m->np, abut_s(m->np));
    return ABUT_OK;
}

/* The mesh becomes one tet of control points, with the surface that it had.  After `proxy`. */
static abut_status make_frame(const abut_scene_reader *r, const abut_tree *object, int32_t copy, abut_object_said *said,
                              abut_err *err)
{
    abut_scene_object *const o = &said->o;
    const abut_tree *t = abut_tree_find(object, o->rigid.is ? "rigid" : "frame");
    abut_status rc = check_frame(object, t, o, err);
    if (rc) return rc;
    abut_mesh frame = { 0 };
    if (!(o->fill = malloc(sizeof *o->fill))) return abut_fail(err, ABUT_E_NOMEM, "frame: no memory");
    if (o->rigid.is) rc = stiff_frame(r, copy, said, &frame, err);
    else rc = abut_mesh_frame(&o->mesh, &frame, &o->proxy.surface, o->fill, err);
    rc = abut_scene_placed(t, rc, err);
    if (rc) return abut_mesh_clear(&frame), rc;
    abut_mesh_clear(&o->mesh);
    o->mesh = frame;
    o->is_frame = 1;
    o->proxy.extrapolation = o->rigid.is ? 1e3 * OUTSIDE : OUTSIDE;     /* given moments may be those of a much smaller one */
    abut_scene_copy_place(t, o->proxy.from);
    return ABUT_OK;
}

/* ---- locks ---- */

static const char *const LOCK_NAMES[] = { "translate", "rotate" };
static const abut_key LOCK_KEYS[] = { { .name = "translate", .kind = ABUT_KEY_LATER, .form = "[true or false, ..., ...]" },
                                      { .name = "rotate", .kind = ABUT_KEY_LATER, .form = "[true or false, ..., ...]" }, { 0 } };
static const abut_keys LOCK = { "lock", NULL, LOCK_KEYS, 0, NULL };

/* `all`, or {translate: three flags, rotate: three flags}. */
static abut_status read_lock(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    int *const lock = ((abut_scene_object *)to)->lock;
    if (t->kind == ABUT_TREE_TEXT && !strcmp(t->text, "all")) {
        for (int k = 0; k < 6; k++) lock[k] = 1;
        return ABUT_OK;
    }
    if (t->kind != ABUT_TREE_MAP)
        return abut_tree_fail_kind(t, "lock", err, "all, or {translate: [true, false, true], rotate: [true, true, false]}");
    abut_status rc = abut_keys_read(r, &LOCK, t, to, err);
    for (int k = 0; k < 2 && !rc; k++) {
        const abut_tree *flags = abut_tree_find(t, LOCK_NAMES[k]);
        if (!flags) continue;
        rc = abut_tree_list(flags, LOCK_NAMES[k], 3, "true", err);
        int *flag = lock + 3 * k;
        for (const abut_tree *c = flags->child; c && !rc; c = c->next)
            rc = abut_tree_choice(c, LOCK_NAMES[k], abut_false_true, flag++, err);
    }
    if (rc || lock[3] + lock[4] + lock[5] != 1) return rc;
    return abut_tree_fail(abut_tree_find(t, "rotate"), err, "lock.rotate: one rotation alone is no linear condition, a universal "
                          "joint holds it; expected none, two (the body turns about the third axis) or three");
}

/* Checks a lock against its object: locked is what does not move at the start. */
static abut_status check_lock(const abut_tree *object, const abut_scene_object *o, abut_err *err)
{
    const abut_tree *t = abut_tree_find(object, "lock");
    static const char axis[] = "xyz";
    if (!t) return ABUT_OK;
    if (!o->is_frame) return abut_tree_fail_key(t, err,
                                                "lock: of a body with `frame` or `rigid: true`; a motion fixes nodes of others");
    for (int k = 0; k < 3; k++) {
        if (o->lock[k] && o->velocity[k] != 0)
            return abut_tree_fail(abut_tree_find(object, "velocity"), err, "velocity along %c, which is locked: expected 0",
                                  axis[k]);
        if (o->lock[3 + k] && o->spin[k] != 0)
            return abut_tree_fail(abut_tree_find(object, "angular-velocity"), err, "angular-velocity about %c, which is locked: "
                                  "expected none about it", axis[k]);
    }
    return ABUT_OK;
}

/* ---- objects ---- */

/* {axis, rate, center} */
static abut_status read_spin(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    abut_scene_object *const o = to;
    const abut_tree *center = NULL;
    const abut_status rc = abut_scene_axis(r, &abut_scene_rate, t, o->spin, &center, err);
    if (rc || !center) return rc;
    o->has_center = 1;
    return abut_tree_vector(center, "center", ABUT_Q_LENGTH, 3, o->center, err);
}

static const abut_key FILL_KEYS[] = {
    { ABUT_NUMBER(abut_scene_object, "max-volume", max_volume, VOLUME, "(0,)") },
    { ABUT_FLAG(abut_scene_object, "keep-surface", keep_surface), .fallback = "false" },
    { 0 }
};
static const abut_keys FILL = { "tetrahedralize", NULL, FILL_KEYS, 1, "{max-volume: number (m^3)}" };

#define LATER(k, words) { .name = k, .kind = ABUT_KEY_LATER, .form = words }
static const abut_key OBJECT_KEYS[] = {
    LATER("mesh", "file"),
    { .name = "generate", .kind = ABUT_KEY_LATER, .keys = &abut_scene_generators },
    { .name = "union", .kind = ABUT_KEY_LATER, .keys = &abut_scene_union, .form = "a list of maps" },
    { .name = "sequence", .kind = ABUT_KEY_LATER, .keys = &abut_scene_sequence },
    { .name = "half-space", .kind = ABUT_KEY_LATER, .keys = &abut_scene_half_space },
    { ABUT_FLAG(abut_scene_object, "obstacle", obstacle), .fallback = "false" },
    { ABUT_WORD(abut_object_said, "use", use, ABUT_WORDS("points", "edges")), ABUT_HAS(abut_object_said, has_use) },
    { ABUT_FLAG(abut_object_said, "flip", flip), .fallback = "false" },
    { ABUT_WORD(abut_object_said, "origin", origin, ABUT_WORDS("file", "box-center", "vertex-mean")), .fallback = "file" },
    { ABUT_FLAG(abut_object_said, "unit-size", unit), .fallback = "false" },
    LATER("material", "name"),
    ABUT_TRANSFORM_KEYS(abut_object_said, place.),
    { ABUT_MAP("repeat", &abut_scene_repeat), .at = offsetof(abut_object_said, repeat) },
    { ABUT_WORD(abut_scene_object, "fit", in_place, ABUT_WORDS("true", "false")), .fallback = "true" },
    { ABUT_NUMBER(abut_scene_object, "mu", mu, PURE, "[0,)"), ABUT_HAS(abut_scene_object, has_mu) },
    { ABUT_NUMBER(abut_scene_object, "velocity", velocity, SPEED, NULL), .fallback = "[0, 0, 0]" },
    { .name = "angular-velocity", .kind = ABUT_KEY_READ, .read = read_spin, .keys = &abut_scene_rate },
    { ABUT_NUMBER(abut_scene_object, "center", center, LENGTH, NULL), ABUT_HAS(abut_scene_object, has_center) },
    { ABUT_CHECKED("shell", &SHELL, check_shell), .at = offsetof(abut_scene_object, shell) },
    { ABUT_MAP("rod", &ROD) }, { ABUT_MAP("particle", &PARTICLE) },
    { .name = "rest", .kind = ABUT_KEY_LATER, .keys = &abut_scene_rest },
    LATER("groups", "[name, ...]"),
    { ABUT_NUMBER(abut_scene_object, "contact-thickness", contact_thickness, LENGTH, "[0,)"), .fallback = "0" },
    { ABUT_NUMBER(abut_object_said, "weld", weld, LENGTH, "(0,)") },
    { ABUT_MAP("tetrahedralize", &FILL) },
    { ABUT_WHOLE(abut_scene_object, "order", order.order, "[1,4]") },
    { ABUT_WHOLE(abut_scene_object, "geometry", order.geometry, "[1,4]") },
    { ABUT_READ(abut_scene_object, "surface", order, abut_scene_read_surface), .keys = &abut_scene_surface },
    { .name = "proxy", .kind = ABUT_KEY_LATER, .keys = &abut_scene_proxy_keys },
    LATER("match-mass", "file"),
    { ABUT_FLAG(abut_object_said, "frame", frame), .fallback = "false" },
    { ABUT_CHECKED("rigid", &RIGID, check_rigid), .instead = &RIGID_FLAG, .form = "true or false, or map", .fallback = "false" },
    { .name = "lock", .kind = ABUT_KEY_READ, .read = read_lock, .keys = &LOCK, .form = "all, or a map" },
    { 0 }
};
_Static_assert(offsetof(abut_object_said, o) == 0, "rows name members of the object");
_Static_assert(ABUT_ORDER_MAX == 4, "the range of order and geometry");
static const abut_keys BODY = { "object", NULL, OBJECT_KEYS, 0, NULL };
static const abut_key NAME_KEYS[] = { { .name = "NAME", .kind = ABUT_KEY_LATER, .keys = &BODY }, { 0 } };
const abut_keys abut_scene_object_names = { .row = NAME_KEYS };

/* The material an object names; of a body the only one there is, when it names none. */
static abut_status find_material(const abut_scene_reader *r, const abut_tree *object, int body, int32_t *row, abut_err *err)
{
    const abut_tree *t = abut_tree_find(object, "material");
    *row = body ? 0 : -1;
    if (t) return abut_scene_find_material(r, t, row, err);
    if (!body || r->scene->nmaterials == 1) return ABUT_OK;
    return abut_tree_fail_key(object, err, "object '%s' names no material, and there are %d", object->key, r->scene->nmaterials);
}

/* ---- half-spaces ---- */

static const abut_key HALF_SPACE_KEYS[] = {
    { ABUT_NUMBER(abut_scene_plane, "normal", normal, PURE, NULL) },
    { ABUT_NUMBER(abut_scene_plane, "point", point, LENGTH, NULL), .fallback = "[0, 0, 0]" },
    { 0 }
};
const abut_keys abut_scene_half_space = { "half-space", NULL, HALF_SPACE_KEYS, 1, "{point: [x, y, z], normal: [x, y, z]}" };
static const abut_key PLANE_KEYS[] = {
    { ABUT_MAP("half-space", &abut_scene_half_space) }, LATER("material", "name"),
    { ABUT_NUMBER(abut_scene_plane, "mu", mu, PURE, "[0,)"), ABUT_HAS(abut_scene_plane, has_mu) },
    { 0 }
};
static const abut_keys PLANE = { "half-space object", NULL, PLANE_KEYS, 0, NULL };

static abut_status read_plane(const abut_scene_reader *r, const abut_tree *t, abut_scene_plane *p, abut_err *err)
{
    abut_status rc = abut_scene_name(t, p->name, err);
    abut_scene_copy_place(t, p->from);
    if (!rc) rc = abut_keys_read(r, &PLANE, t, p, err);
    if (rc) return rc;
    rc = abut_scene_nonzero(abut_tree_find(abut_tree_find(t, "half-space"), "normal"), "normal", p->normal, err);
    const double n = abut_tree_norm(p->normal, 3);
    for (int k = 0; k < 3; k++) p->normal[k] /= n;
    return rc ? rc : find_material(r, t, 0, &p->material, err);
}

/* ---- bodies and obstacles ---- */

/* A center needs a rotation; an equilibrium has no velocity to start with, obstacles move as the scene says. */
static abut_status check_velocity(const abut_scene_reader *r, const abut_tree *t, const abut_scene_object *o, abut_err *err)
{
    const abut_tree *v = abut_tree_find(t, "velocity"), *w = abut_tree_find(t, "angular-velocity");
    if (abut_tree_find(t, "center") && !w)
        return abut_tree_fail_key(abut_tree_find(t, "center"), err, "center without angular-velocity");
    if (o->obstacle || (!v && !w) || abut_scheme_is(r->scene->scheme, ABUT_SCHEME_INERTIA)) return ABUT_OK;
    return abut_tree_fail_key(v ? v : w, err, "a body without inertia has no velocity: expected a motion, or another time.scheme "
                              "than %s", abut_scheme_names[r->scene->scheme]);
}

/* An obstacle has no material; an isotropic shell is of a model that is known in plane stress. */
static abut_status check_kinds(const abut_scene_reader *r, const abut_tree *t, const abut_scene_object *o, abut_err *err)
{
    static const char *const of_bodies[] = { "shell", "rod", "particle", "rest", NULL };
    const abut_tree *shell = abut_tree_find(t, "shell");
    char list[200];
    for (int k = 0; of_bodies[k] && o->obstacle; k++)
        if (abut_tree_find(t, of_bodies[k]))
            return abut_tree_fail_key(abut_tree_find(t, of_bodies[k]), err,
                                      "%s: an obstacle is made of no material; expected a body", of_bodies[k]);
    const abut_scene_material *m = shell ? &r->scene->material[o->material] : NULL;
    if (!m || m->membrane != ABUT_MEMBRANE_ISOTROPIC || abut_material_is(m->model, ABUT_MATERIAL_PLANE)) return ABUT_OK;
    return abut_tree_fail_key(shell, err, "shell of material '%s', which is %s: expected %s, or an orthotropic membrane", m->name,
                              abut_material_names[m->model], abut_materials_with(ABUT_MATERIAL_PLANE, list, sizeof list));
}

/* The mesh, which is there by now, is one that can be filled with tets. */
static abut_status check_fill(const abut_tree *t, const abut_scene_object *o, abut_err *err)
{
    const abut_tree *fill = abut_tree_find(t, "tetrahedralize");
    if (fill && o->obstacle) return abut_tree_fail_key(fill, err, "tetrahedralize: an obstacle needs no inside");
    if (!fill || !(o->mesh.nt || !o->mesh.nf || o->mesh.ns || o->mesh.np)) return ABUT_OK;
    return abut_tree_fail_key(
        fill, err,
        "tetrahedralize: expected a mesh of triangles alone, this one has %d tet%s, %d triangle%s, %d segment%s, %d point%s",
        o->mesh.nt, abut_s(o->mesh.nt), o->mesh.nf, abut_s(o->mesh.nf), o->mesh.ns, abut_s(o->mesh.ns), o->mesh.np,
        abut_s(o->mesh.np));
}

/* "wall.3": the name of a copy; no other object may have it. */
static abut_status name_copy(const abut_scene_reader *r, const abut_tree *t, int32_t copy, abut_scene_object *o, abut_err *err)
{
    char number[16];
    const size_t n = strlen(o->name), k = (size_t)snprintf(number, sizeof number, ".%d", copy);
    if (n + k >= sizeof o->name)
        return abut_tree_fail_key(t, err, "'%s%s' is a name of %zu letter%s: expected less than %zu", o->name, number, n + k,
                                  abut_s(n + k), sizeof o->name);
    memcpy(o->name + n, number, k + 1);
    const abut_tree *other = abut_tree_find(abut_tree_find(r->root, "objects"), o->name);
    return other ? abut_tree_fail_key(other, err, "object '%s': a copy of '%s' has this name, too (repeat)", o->name, t->key)
                 : ABUT_OK;
}

/* copy: of an object whose copies are objects; -1: it is one. */
static abut_status read_object(const abut_scene_reader *r, const abut_tree *t, int32_t copy, abut_scene_object *row,
                               abut_err *err)
{
    abut_object_said s = { .place = ABUT_NO_TRANSFORM, .repeat = { .count = { 1, 1, 1 } } };
    abut_scene_object *const o = &s.o;
    const int32_t number = copy < 0 ? 0 : copy;
    o->shell.warp[0] = 1;
    o->rigid.strain = ABUT_RIGID_STRAIN;
    abut_status rc = abut_scene_name(t, o->name, err);
    if (!rc && copy >= 0) rc = name_copy(r, t, copy, o, err);
    abut_scene_copy_place(t, o->from);
    if (!rc) rc = abut_keys_read(r, &BODY, t, &s, err);
    if (o->shell.limit[3] > 0 && !(o->shell.limit[2] > 0)) o->shell.limit[2] = 1;
    if (!rc) rc = abut_scene_transform_check(t, &s.place, err);
    if (!rc) rc = find_material(r, t, !o->obstacle, &o->material, err);
    if (!rc) rc = check_velocity(r, t, o, err);
    if (!rc) rc = check_kinds(r, t, o, err);
    if (!rc) rc = abut_scene_check_surface(t, &o->order, err);
    if (!rc) rc = abut_scene_mesh(r, t, number, &s, err);
    if (!rc) rc = check_fill(t, o, err);
    if (!rc) rc = abut_scene_read_proxy(r, t, number, &s, err);
    if (!rc && s.frame && o->rigid.is) rc = abut_tree_fail_key(abut_tree_find(t, "frame"), err, "frame: and rigid: expected one");
    if (!rc && (s.frame || o->rigid.is)) rc = make_frame(r, t, number, &s, err);
    if (!rc) rc = check_lock(t, o, err);
    o->rigid.overlaps = o->rigid.is && abut_tree_find(t, "union");
    *row = s.o;     /* also on failure: the scene owns its arrays */
    return rc;
}

/* A group that an object is in. */
typedef struct member {
    const char *group;
    int32_t object;
} member;

/* Sums over all objects read so far. */
typedef struct total {
    double points, elements;
    member *member;
    size_t members, room;
} total;

/* ---- groups: objects with a name in common do not meet ---- */

/* Adds the groups of an object. */
static abut_status join_groups(const abut_tree *object, int32_t row, total *all, abut_err *err)
{
    const abut_tree *t = abut_tree_find(object, "groups");
    if (t && t->kind != ABUT_TREE_LIST) return abut_tree_fail_kind(t, "groups", err, "a list of names, [links, frame]");
    for (const abut_tree *c = t ? t->child : NULL; c; c = c->next) {
        if (c->kind != ABUT_TREE_TEXT) return abut_tree_fail_kind(c, "groups", err, "a name");
        if (all->members == all->room) {
            member *more = realloc(all->member, (2 * all->room + 16) * sizeof *more);
            if (!more) return abut_fail(err, ABUT_E_NOMEM, "groups: no memory for %zu objects", all->members);
            all->member = more, all->room = 2 * all->room + 16;
        }
        all->member[all->members++] = (member){ c->text, row };
    }
    return ABUT_OK;
}

static int by_group(const void *a, const void *b)
{
    const member *p = a, *q = b;
    const int by = strcmp(p->group, q->group);
    return by ? by : (p->object > q->object) - (p->object < q->object);
}

/* The pairs of objects in one group, each once; rigid unions with themselves. */
static abut_status exclude(abut_scene *s, const total *all, abut_err *err)
{
    enum { PAIRS_MOST = 10000000 };
    double pairs = 0;
    const member *m = all->member;
    if (all->members) qsort(all->member, all->members, sizeof *m, by_group);
    for (size_t i = 0, k = 0; i < all->members; i++) {
        while (strcmp(m[k].group, m[i].group)) k++;
        pairs += (double)(i - k);
    }
    for (int32_t i = 0; i < s->nobjects; i++) pairs += s->object[i].rigid.overlaps;
    if (pairs > PAIRS_MOST)
        return abut_fail(err, ABUT_E_FORMAT, "groups: %.0f pairs of objects in one group, expected at most %d", pairs,
                         PAIRS_MOST);
    if (!(pairs > 0)) return ABUT_OK;
    int32_t (*e)[2] = malloc((size_t)pairs * sizeof *e);
    if (!e) return abut_fail(err, ABUT_E_NOMEM, "groups: no memory for %.0f pairs", pairs);
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < all->members; i++)
        for (size_t k = i; k > 0 && !strcmp(m[k - 1].group, m[i].group); k--) e[n][0] = m[k - 1].object, e[n++][1] = m[i].object;
    for (int32_t i = 0; i < s->nobjects; i++)
        if (s->object[i].rigid.overlaps) e[n][0] = i, e[n++][1] = i;
    qsort(e, n, sizeof *e, abut_by_two);
    for (size_t i = 0; i < n; i++)
        if ((e[i][0] != e[i][1] || s->object[e[i][0]].rigid.overlaps) && (!kept || abut_by_two(e[kept - 1], e[i])))
            memmove(e[kept++], e[i], sizeof *e);
    s->excluded = e, s->nexcluded = (int32_t)kept;
    return ABUT_OK;
}

/* The object, or all objects that its `repeat` makes of it, at the rows from *row. */
static abut_status read_copies(const abut_scene_reader *r, const abut_tree *t, abut_scene_object *object, int32_t *row,
                               total *all, abut_err *err)
{
    int32_t n;
    abut_status rc = abut_scene_copies(r, t, &n, err);
    for (int32_t i = 0; i < (n ? n : 1) && !rc; i++) {
        abut_scene_object *o = &object[*row];
        rc = read_object(r, t, n ? i : -1, o, err);
        if (!rc) rc = join_groups(t, *row, all, err);
        ++*row;
        if (rc) break;
        all->points += o->mesh.nv;
        all->elements += abut_mesh_elements(&o->mesh);
        rc = abut_scene_placed(t, abut_mesh_bound(all->points, all->elements, "all objects up to this one", err), err);
    }
    return rc;
}

/* Counts objects and half-spaces, so that each table is made once. */
static abut_status reserve(const abut_scene_reader *r, const abut_tree *objects, abut_err *err)
{
    enum { OBJECTS_MOST = 1000000 };
    int32_t planes = 0, n = 0;
    for (const abut_tree *c = objects->child; c; c = c->next) {
        int32_t copies = 0;
        const int is_plane = abut_tree_find(c, "half-space") != NULL;
        const abut_status rc = is_plane ? ABUT_OK : abut_scene_copies(r, c, &copies, err);
        if (rc) return rc;
        planes += is_plane;
        n += is_plane ? 0 : copies ? copies : 1;
        if (n > OBJECTS_MOST)
            return abut_tree_fail_key(c, err, "objects: %d up to '%s': expected at most %d", n, c->key, OBJECTS_MOST);
    }
    abut_scene *const s = r->scene;
    const abut_status rc = abut_scene_rows(&s->object, &s->nobjects, n, sizeof *s->object, err);
    return rc ? rc : abut_scene_rows(&s->plane, &s->nplanes, planes, sizeof *s->plane, err);
}

abut_status abut_scene_objects(const abut_scene_reader *r, const abut_tree *objects, abut_err *err)
{
    int32_t body = 0, plane = 0;
    total all = { 0 };
    if (!objects) return abut_tree_fail(r->root, err, "expected 'objects: {name: {...}, ...}'");
    if (objects->kind != ABUT_TREE_MAP)
        return abut_tree_fail_kind(objects, "objects", err, "a map of names, {ball: {mesh: ball.msh}, ...}");
    abut_status rc = reserve(r, objects, err);
    for (const abut_tree *c = objects->child; c && !rc; c = c->next) {
        if (c->kind != ABUT_TREE_MAP)
            return abut_tree_fail_kind(c, c->key, err, "a map, {mesh: ball.msh} or {generate: {sphere: {radius: 1, cells: 8}}}");
        if (abut_tree_find(c, "half-space")) rc = read_plane(r, c, &r->scene->plane[plane++], err);
        else rc = read_copies(r, c, r->scene->object, &body, &all, err);
    }
    if (!rc) rc = exclude(r->scene, &all, err);
    free(all.member);
    return rc ? rc : abut_scene_rigid_materials(r->scene, err);
}

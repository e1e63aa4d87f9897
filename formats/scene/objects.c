/* Objects of a scene: bodies, obstacles and half-spaces; shells, rods and particles with their rest; affine frames; seams. */
#include "formats/scene/scene_parts.h"

#include "base/words.h"
#include "formats/mesh/mesh_io.h"
#include "mesh/moments.h"
#include "model/schemes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- materials of shells ---- */

/* Positive numbers of a map {warp: .., weft: .., ...}, all of them said. */
static abut_status read_moduli(const abut_tree *t, const char *const *keys, abut_quantity q, double *out, abut_err *err)
{
    abut_status rc = abut_scene_need(t, keys, err);
    for (int k = 0; keys[k] && !rc; k++)
        rc = abut_tree_real(abut_tree_find(t, keys[k]), keys[k], q, &out[k], NULL, err);
    return rc;
}

static abut_status read_fabric(const abut_tree *t, double a[4], abut_err *err)
{
    static const char *const keys[] = { "warp", "weft", "coupling", "shear", NULL };
    const abut_status rc = read_moduli(t, keys, ABUT_Q_PRESSURE, a, err);
    if (rc || (a[0] > 0 && a[1] > 0 && a[3] > 0 && a[2] * a[2] < a[0] * a[1])) return rc;
    return abut_tree_fail(
        t, err,
        "fabric: warp %g, weft %g, coupling %g, shear %g Pa: expected warp, weft and shear more than 0, and "
        "coupling^2 less than warp times weft",
        a[0], a[1], a[2], a[3]);
}

/* {warp, weft, shear} of Baraff and Witkin, and perhaps compression. */
static abut_status read_stretch_shear(const abut_tree *t, double a[4], double *compression, abut_err *err)
{
    static const char *const keys[] = { "warp", "weft", "shear", "compression", NULL };
    static const int place[] = { 0, 1, 3 };
    const abut_tree *left = abut_tree_find(t, "compression");
    abut_status rc = abut_tree_keys(t, "fabric", keys, err);
    for (int k = 0; k < 3 && !rc; k++) {
        const abut_tree *m = abut_tree_find(t, keys[k]);
        if (!m)
            return abut_tree_fail(t, err, "fabric: %s is missing: expected warp, weft, shear, and perhaps compression", keys[k]);
        rc = abut_tree_positive(m, keys[k], ABUT_Q_PRESSURE, &a[place[k]], NULL, err);
    }
    if (!rc && left) rc = abut_tree_real(left, "compression", ABUT_Q_PURE, compression, NULL, err);
    if (rc || (*compression > 0 && *compression <= 1)) return rc;
    return abut_tree_fail(left, err, "compression is %g: expected more than 0, at most 1", *compression);
}

static abut_status read_strain_limit(const abut_tree *t, double limit[3], abut_err *err)
{
    static const char *const keys[] = { "warp", "weft", "shear", NULL };
    const abut_status rc = read_moduli(t, keys, ABUT_Q_PURE, limit, err);
    if (rc || (limit[0] > 0 && limit[1] > 0 && limit[2] > 0)) return rc;
    return abut_tree_fail(t, err, "strain-limit: %g, %g, %g: expected more than 0", limit[0], limit[1], limit[2]);
}

abut_status abut_scene_fabric(const abut_tree *t, abut_scene_material *m, abut_err *err)
{
    static const char *const names[] = { "isotropic", "orthotropic", "cloth", "baraff-witkin", NULL };
    const abut_tree *membrane = abut_tree_find(t, "membrane"), *fabric = abut_tree_find(t, "fabric");
    const abut_tree *limit = abut_tree_find(t, "strain-limit"), *bending = abut_tree_find(t, "bending-young");
    abut_status rc = ABUT_OK;
    if (bending) rc = abut_tree_positive(bending, "bending-young", ABUT_Q_PRESSURE, &m->bending_young, NULL, err);
    if (!rc && membrane) rc = abut_tree_choice(membrane, "membrane", names, &m->membrane, err);
    m->compression = 1;
    if (!rc && fabric && m->membrane == ABUT_MEMBRANE_BARAFF_WITKIN)
        rc = read_stretch_shear(fabric, m->fabric, &m->compression, err);
    else if (!rc && fabric)
        rc = read_fabric(fabric, m->fabric, err);
    if (!rc && limit) rc = read_strain_limit(limit, m->strain_limit, err);
    if (rc) return rc;
    if ((m->membrane != ABUT_MEMBRANE_ISOTROPIC) != (fabric != NULL))
        return abut_tree_fail_key(fabric ? fabric : membrane, err,
                                  fabric ? "fabric: of a membrane that is %s; expected orthotropic, cloth or baraff-witkin"
                                         : m->membrane == ABUT_MEMBRANE_BARAFF_WITKIN
                                             ? "membrane: %s needs fabric: {warp: .., weft: .., shear: ..}"
                                         : "membrane: %s needs fabric: {warp: .., weft: .., coupling: .., shear: ..}",
                                  names[m->membrane]);
    if ((m->membrane == ABUT_MEMBRANE_CLOTH) != (limit != NULL))
        return abut_tree_fail_key(limit ? limit : membrane, err,
                                  limit ? "strain-limit: of a membrane that is %s; expected cloth"
                                        : "membrane: %s needs strain-limit: {warp: .., weft: .., shear: ..}",
                                  names[m->membrane]);
    return ABUT_OK;
}

/* ---- what the elements of a body are ---- */

/* Reads the upper or lower limit: the barrier begins at the threshold, and no stretch reaches the limit. */
static abut_status read_limit_pair(const abut_tree *t, int upper, double *limit, double *threshold, abut_err *err)
{
    const char *const key = upper ? "upper" : "lower", *const begin = upper ? "upper-threshold" : "lower-threshold";
    const abut_tree *l = abut_tree_find(t, key), *b = abut_tree_find(t, begin);
    abut_status rc = ABUT_OK;
    if (!l) return b ? abut_tree_fail_key(b, err, "%s without %s", begin, key) : ABUT_OK;
    *threshold = 1;
    rc = abut_tree_real(l, key, ABUT_Q_PURE, limit, NULL, err);
    if (!rc && b) rc = abut_tree_real(b, begin, ABUT_Q_PURE, threshold, NULL, err);
    if (rc) return rc;
    if (upper && !(*threshold >= 1 && *limit > *threshold))
        return abut_tree_fail(b ? b : l, err, "upper %g, its threshold %g: expected 1 <= threshold < upper", *limit,
                              *threshold);
    if (!upper && !(*limit >= 0 && *limit < *threshold && *threshold <= 1))
        return abut_tree_fail(b ? b : l, err, "lower %g, its threshold %g: expected 0 <= lower < threshold <= 1", *limit,
                              *threshold);
    return ABUT_OK;
}

/* A number, the largest stretch; or a map. */
static abut_status read_limit(const abut_tree *t, double limit[4], abut_err *err)
{
    static const char *const keys[] = { "upper", "upper-threshold", "lower", "lower-threshold", NULL };
    if (t->kind != ABUT_TREE_MAP) {
        const abut_status rc = abut_tree_real(t, "stretch-limit", ABUT_Q_PURE, &limit[3], NULL, err);
        limit[2] = 1;
        if (rc || limit[3] > 1) return rc;
        return abut_tree_fail(t, err, "stretch-limit is %g: expected more than 1, the length at rest", limit[3]);
    }
    abut_status rc = abut_tree_keys(t, "stretch-limit", keys, err);
    if (!rc) rc = read_limit_pair(t, 1, &limit[3], &limit[2], err);
    if (!rc) rc = read_limit_pair(t, 0, &limit[0], &limit[1], err);
    if (!rc && !(limit[1] > 0 || limit[3] > 0)) rc = abut_tree_fail(t, err, "stretch-limit: expected upper or lower");
    return rc;
}

/* A number, or {value, ramp or factor}. */
static abut_status read_pressure(const abut_tree *t, abut_scene_shell *s, abut_err *err)
{
    static const char *const keys[] = { "value", "ramp", "factor", NULL };
    if (t->kind != ABUT_TREE_MAP) return abut_tree_real(t, "pressure", ABUT_Q_PRESSURE, &s->pressure, NULL, err);
    abut_status rc = abut_tree_keys(t, "pressure", keys, err);
    const abut_tree *value = rc ? NULL : abut_tree_find(t, "value");
    if (!rc && !value) rc = abut_tree_fail(t, err, "pressure: expected {value: pressure, ramp: time or factor: {times, values}}");
    if (!rc) rc = abut_tree_real(value, "value", ABUT_Q_PRESSURE, &s->pressure, NULL, err);
    return rc ? rc : abut_scene_factor(t, &s->factor, err);
}

static abut_status read_shell(const abut_tree *t, abut_scene_shell *s, abut_err *err)
{
    static const char *const keys[] = { "thickness", "bending",  "rest-angle", "stretch-limit",
                                        "warp",      "pressure", "drag",       NULL };
    static const char *const bending[] = { "parity", "plate", NULL };
    abut_status rc = abut_tree_keys(t, "shell", keys, err);
    const abut_tree *c[7];
    for (int k = 0; k < 7; k++)
        c[k] = rc ? NULL : abut_tree_find(t, keys[k]);
    if (!rc && !c[0]) rc = abut_tree_fail(t, err, "shell: expected {thickness: length}");
    if (!rc) rc = abut_tree_positive(c[0], "thickness", ABUT_Q_LENGTH, &s->thickness, NULL, err);
    if (!rc && c[1]) rc = abut_tree_choice(c[1], "bending", bending, &s->plate, err);
    if (!rc && c[3]) rc = read_limit(c[3], s->limit, err);
    s->warp[0] = 1;
    if (!rc && c[4]) rc = abut_tree_vector(c[4], "warp", ABUT_Q_PURE, 3, s->warp, err);
    if (!rc && s->warp[0] == 0 && s->warp[1] == 0 && s->warp[2] == 0)
        rc = abut_tree_fail(c[4], err, "warp: expected a vector that is not zero");
    if (!rc && c[5]) rc = read_pressure(c[5], s, err);
    if (!rc && c[6]) rc = abut_tree_not_negative(c[6], "drag", ABUT_Q_DENSITY, &s->drag, err);
    return rc;
}

/* {radius: length} of particles. */
static abut_status read_radius(const abut_tree *t, double *radius, abut_err *err)
{
    const abut_status rc = abut_scene_need(t, (const char *const[]){ "radius", NULL }, err);
    return rc ? rc : abut_tree_positive(abut_tree_find(t, "radius"), "radius", ABUT_Q_LENGTH, radius, NULL, err);
}

/* {radius: length, curved: true or false} */
static abut_status read_rod(const abut_tree *t, abut_scene_object *o, abut_err *err)
{
    static const char *const keys[] = { "radius", "curved", NULL };
    const abut_tree *curved = abut_tree_find(t, "curved");
    abut_status rc = abut_tree_keys(t, "rod", keys, err);
    if (!rc) rc = abut_scene_all_there(t, (const char *const[]){ "radius", NULL }, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "radius"), "radius", ABUT_Q_LENGTH, &o->rod_radius, NULL, err);
    return rc || !curved ? rc : abut_tree_flag(curved, "curved", &o->rod_curved, err);
}

/* `shell`, `rod`, `particle`, `contact-thickness` of an object: before its mesh. */
static abut_status read_codim(const abut_tree *t, abut_scene_object *o, abut_err *err)
{
    static const char *const of_bodies[] = { "shell", "rod", "particle", "rest", NULL };
    const abut_tree *shell = abut_tree_find(t, "shell"), *rod = abut_tree_find(t, "rod"),
                    *particle = abut_tree_find(t, "particle");
    const abut_tree *thick = abut_tree_find(t, "contact-thickness");
    abut_status rc = ABUT_OK;
    for (int k = 0; of_bodies[k] && o->obstacle; k++)
        if (abut_tree_find(t, of_bodies[k]))
            return abut_tree_fail_key(abut_tree_find(t, of_bodies[k]), err,
                                      "%s: an obstacle is made of no material; expected a body", of_bodies[k]);
    if (shell) rc = read_shell(shell, &o->shell, err);
    if (!rc && rod) rc = read_rod(rod, o, err);
    if (!rc && particle) rc = read_radius(particle, &o->particle_radius, err);
    if (!rc && thick) rc = abut_tree_not_negative(thick, "contact-thickness", ABUT_Q_LENGTH, &o->contact_thickness, err);
    return rc;
}

/* ---- the shape at rest ---- */

static abut_status new_rest(abut_scene_object *o, abut_err *err)
{
    o->shell.rest = calloc(9 * (size_t)o->mesh.nf + 1, sizeof *o->shell.rest);
    o->rod_length = calloc((size_t)o->mesh.ns + 1, sizeof *o->rod_length);
    if (o->shell.rest && o->rod_length) return ABUT_OK;
    return abut_fail(err, ABUT_E_NOMEM, "no memory for the rest shape of %d triangles", o->mesh.nf);
}

/* Makes the rest shape of the points x[3 nv] of a mesh with as many triangles and segments. */
static abut_status rest_of_points(const abut_tree *t, abut_scene_object *o, const abut_mesh *m, const double *x,
                                  abut_err *err)
{
    for (size_t i = 0; i < 3 * (size_t)m->nf; i++)
        memcpy(o->shell.rest + 3 * i, x + 3 * (size_t)m->tri[i], 3 * sizeof *x);
    for (int32_t s = 0; s < m->ns; s++) {
        const double *p = x + 3 * (size_t)m->seg[2 * (size_t)s], *q = x + 3 * (size_t)m->seg[2 * (size_t)s + 1];
        const double d[3] = { q[0] - p[0], q[1] - p[1], q[2] - p[2] };
        o->rod_length[s] = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        if (!(o->rod_length[s] > 0) && o->rod_radius > 0)
            return abut_tree_fail_key(t, err, "segment %d of '%s' has no length at rest", s, o->name);
    }
    return ABUT_OK;
}

static abut_status rest_of_file(const abut_scene_reader *r, const abut_tree *t, const double scale[3], int flipped,
                                abut_scene_object *o, abut_err *err)
{
    const double A[9] = { scale[0], 0, 0, 0, scale[1], 0, 0, 0, scale[2] };
    abut_mesh m = { 0 };
    if (o->rod_curved && o->mesh.ns)
        return abut_tree_fail(t, err, "rest: rods of '%s' are at rest as curved as their mesh: expected `rest` or rod.curved",
                              o->name);
    abut_status rc = abut_scene_load(r, t, &m, err);
    if (!rc && (m.nf != o->mesh.nf || m.ns != o->mesh.ns))
        rc = abut_tree_fail(t, err, "rest: a mesh of %d triangle%s and %d segment%s, expected %d and %d as '%s' has", m.nf,
                            abut_s(m.nf), m.ns, abut_s(m.ns), o->mesh.nf, o->mesh.ns, o->name);
    if (!rc) {
        if (flipped) abut_mesh_flip(&m);
        abut_mesh_transform(&m, A, (const double[3]){ 0 });
        rc = rest_of_points(t, o, &m, m.x, err);
    }
    abut_mesh_clear(&m);
    return rc;
}

/* Corners at (u, v, 0) of the mesh's pattern, u and v in units of `unit`. */
static abut_status rest_of_pattern(const abut_tree *t, double unit, abut_scene_object *o, abut_err *err)
{
    if (!o->mesh.uv && o->mesh.nf)
        return abut_tree_fail_key(t, err, "'%s' has no pattern: not every corner of its triangles has a place (vt) in it",
                                  o->name);
    for (size_t i = 0; i < 3 * (size_t)o->mesh.nf; i++) {
        const double corner[3] = { unit * o->mesh.uv[2 * i], unit * o->mesh.uv[2 * i + 1], 0 };
        memcpy(o->shell.rest + 3 * i, corner, sizeof corner);
    }
    o->shell.has_pattern = 1;
    return ABUT_OK;
}

static abut_status read_rest(const abut_scene_reader *r, const abut_tree *t, const double scale[3], int flipped,
                             abut_scene_object *o, abut_err *err)
{
    double unit = 0;
    if (t->kind != ABUT_TREE_MAP) return abut_tree_fail_kind(t, "rest", err, "{uv: length of a unit} or {mesh: file}");
    abut_status rc = abut_tree_keys(t, "rest", (const char *const[]){ "uv", "mesh", NULL }, err);
    const abut_tree *uv = rc ? NULL : abut_tree_find(t, "uv"), *mesh = rc ? NULL : abut_tree_find(t, "mesh");
    if (!rc && !uv == !mesh) rc = abut_tree_fail(t, err, "rest: expected {uv: length of a unit} or {mesh: file}");
    if (rc) return rc;
    if (mesh) return rest_of_file(r, mesh, scale, flipped, o, err);
    rc = abut_tree_positive(uv, "uv", ABUT_Q_LENGTH, &unit, NULL, err);
    return rc ? rc : rest_of_pattern(uv, unit, o, err);
}

/* `rest-angle`: flat where there is a pattern, else of the rest shape. */
static abut_status read_rest_angle(const abut_tree *t, abut_scene_shell *s, abut_err *err)
{
    static const char *const names[] = { "mesh", "flat", NULL };
    const abut_tree *shell = abut_tree_find(t, "shell"), *angle = shell ? abut_tree_find(shell, "rest-angle") : NULL;
    s->flat = s->has_pattern;
    return angle ? abut_tree_choice(angle, "rest-angle", names, &s->flat, err) : ABUT_OK;
}

abut_status abut_scene_rest(const abut_scene_reader *r, const abut_tree *t, const double *x, const double scale[3], int flipped,
                            abut_scene_object *o, abut_err *err)
{
    const abut_tree *rest = abut_tree_find(t, "rest"), *gen = abut_tree_find(t, "generate");
    if (!(o->shell.thickness > 0 || o->rod_radius > 0))
        return rest ? abut_tree_fail_key(rest, err, "rest: '%s' is neither a shell nor a rod", o->name) : ABUT_OK;
    abut_status rc = new_rest(o, err);
    if (!rc) rc = rest_of_points(t, o, &o->mesh, x, err);
    if (!rc && rest) rc = read_rest(r, rest, scale, flipped, o, err);
    if (!rc && !rest && gen && o->mesh.uv && o->shell.thickness > 0) {
        const double s = fabs(scale[0]);
        if (s != fabs(scale[1]) || s != fabs(scale[2]))
            return abut_tree_fail_key(abut_tree_find(t, "scale"), err,
                                      "scale: '%s' has a pattern, which is scaled by one number only", o->name);
        rc = rest_of_pattern(gen, s, o, err);
    }
    return rc ? rc : read_rest_angle(t, &o->shell, err);
}

/* n copies of rows of `width` numbers. */
static int copied(double **p, size_t rows, size_t width, size_t n)
{
    if (!*p) return 1;
    const size_t one = rows * width;
    double *all = malloc((one * n + 1) * sizeof *all);
    if (!all) return 0;
    for (size_t i = 0; i < n; i++)
        memcpy(all + i * one, *p, one * sizeof *all);
    free(*p);
    *p = all;
    return 1;
}

abut_status abut_scene_rest_repeat(abut_scene_object *o, int32_t nf, int32_t ns, abut_err *err)
{
    const size_t n = nf ? (size_t)(o->mesh.nf / nf) : ns ? (size_t)(o->mesh.ns / ns) : 1;
    if (copied(&o->shell.rest, (size_t)nf, 9, n) && copied(&o->rod_length, (size_t)ns, 1, n)) return ABUT_OK;
    return abut_fail(err, ABUT_E_NOMEM, "no memory for the rest shape of %zu copies", n);
}

/* ---- seams ---- */

static abut_status read_seam(const abut_scene_reader *r, const abut_tree *t, abut_scene_seam *s, abut_err *err)
{
    abut_status rc = abut_tree_keys(t, "seam", (const char *const[]){ "from", "to", "stiffness", NULL }, err);
    if (rc) return rc;
    const abut_tree *side[2] = { abut_tree_find(t, "from"), abut_tree_find(t, "to") }, *k = abut_tree_find(t, "stiffness");
    if (!side[0] || !side[1]) return abut_tree_fail(t, err, "seam: expected {from: conditions, to: conditions}");
    abut_scene_from(t, s->from);
    for (int i = 0; i < 2 && !rc; i++) {
        rc = abut_read_scene_select(r, side[i], &s->side[i], err);
        const int32_t o = s->side[i].object;
        if (!rc && (o < 0 || !(r->scene->object[o].shell.thickness > 0)))
            rc = abut_tree_fail(side[i], err, "seam: expected one object that is a shell");
    }
    return rc || !k ? rc : abut_tree_positive(k, "stiffness", ABUT_Q_STIFFNESS, &s->stiffness, NULL, err);
}

abut_status abut_scene_seams(abut_scene_reader *r, const abut_tree *seams, abut_err *err)
{
    int32_t i = 0;
    if (!seams) return ABUT_OK;
    abut_status rc = abut_tree_list(seams, "seams", 0, "{from: {object: front}, to: {object: back}}", err);
    if (!rc) rc = abut_scene_reserve_seams(r->scene, seams->n, err);
    for (const abut_tree *c = seams->child; c && !rc; c = c->next)
        rc = read_seam(r, c, &r->scene->seam[i++], err);
    return rc;
}

/* ---- a body that moves as one affine frame ---- */

#define OUTSIDE 1e3         /* coordinates of the surface in the tet of a frame are exact, however far outside it is */

static abut_status check_frame(const abut_tree *object, const abut_tree *t, const abut_scene_object *o, abut_err *err)
{
    static const char *const others[] = { "tetrahedralize", "proxy", "match-mass", "shell", "rod", "particle", "rest", NULL };
    const abut_tree *copies = abut_tree_find(object, "repeat");
    for (int i = 0; others[i]; i++)
        if (abut_tree_find(object, others[i]))
            return abut_tree_fail_key(t, err, "frame: a body of four control points has its own surface and mass: expected no %s",
                                      others[i]);
    if (o->obstacle) return abut_tree_fail_key(t, err, "frame: of a body; an obstacle moves as its motion says");
    if (abut_scene_order_of(o) > 1) return abut_tree_fail_key(t, err, "frame: expected tets of order 1, these have order %d",
                                                              abut_scene_order_of(o));
    if (o->fill) return abut_tree_fail_key(t, err, "frame: a cage is partly solid: expected the surface that it is around");
    if (copies && !abut_tree_find(copies, "objects"))
        return abut_tree_fail_key(copies, err, "repeat: of a frame: expected objects: true");
    if ((o->mesh.nt != 0) == (o->mesh.nf != 0) || o->mesh.ns || o->mesh.np)
        return abut_tree_fail_key(
            t, err,
            "frame: expected tets alone or triangles alone, this mesh has %d tet%s, %d triangle%s, %d segment%s, %d point%s",
            o->mesh.nt, abut_s(o->mesh.nt), o->mesh.nf, abut_s(o->mesh.nf), o->mesh.ns, abut_s(o->mesh.ns), o->mesh.np,
            abut_s(o->mesh.np));
    return ABUT_OK;
}

/* `frame` of an object: its mesh becomes one tet of control points, with the surface that it had.  After `proxy`. */
static abut_status read_frame(const abut_tree *object, abut_scene_object *o, abut_err *err)
{
    const abut_tree *t = abut_tree_find(object, "frame");
    int is_frame = 0;
    if (!t) return ABUT_OK;
    abut_status rc = abut_tree_flag(t, "frame", &is_frame, err);
    if (rc || !is_frame) return rc;
    rc = check_frame(object, t, o, err);
    if (rc) return rc;
    abut_mesh frame = { 0 };
    if (!(o->fill = malloc(sizeof *o->fill))) return abut_fail(err, ABUT_E_NOMEM, "frame: no memory");
    rc = abut_scene_placed(t, abut_mesh_frame(&o->mesh, &frame, &o->proxy.surface, o->fill, err), err);
    if (rc) return abut_mesh_clear(&frame), rc;
    abut_mesh_clear(&o->mesh);
    o->mesh = frame;
    o->is_frame = 1;
    o->proxy.extrapolation = OUTSIDE;
    abut_scene_from(t, o->proxy.from);
    return ABUT_OK;
}

/* ---- objects ---- */

/* a half-space has keys of its own, and is here for who spells it otherwise */
static const char *const BODY_KEYS[] = {
    "mesh", "use", "generate", "half-space", "sequence", "flip", "origin", "unit-size", "obstacle", "material", "scale",
    "rotate", "translate", "repeat", "fit", "velocity", "angular-velocity", "center", "mu", "tetrahedralize", "shell",
    "rod", "particle", "rest", "weld", "contact-thickness", "order", "geometry", "surface", "proxy", "match-mass",
    "frame", NULL
};

abut_status abut_scene_axis(const abut_tree *t, const char *word, abut_quantity q, double out[3], abut_err *err)
{
    const char *const keys[] = { "axis", word, strcmp(word, "rate") ? NULL : "center", NULL };
    double a[3] = { 0 }, v = 0;
    abut_status rc = abut_tree_keys(t, "rotation", keys, err);
    if (rc) return rc;
    const abut_tree *axis = abut_tree_find(t, "axis"), *value = abut_tree_find(t, word);
    if (!axis || !value) return abut_tree_fail(t, err, "expected {axis: [x, y, z], %s: number and unit}", word);
    rc = abut_tree_vector(axis, "axis", ABUT_Q_PURE, 3, a, err);
    if (!rc) rc = abut_tree_real(value, word, q, &v, NULL, err);
    const double n = abut_tree_norm(a, 3);
    if (!rc && !(n > 0)) rc = abut_tree_fail(axis, err, "axis: expected a vector that is not zero");
    for (int k = 0; k < 3 && !rc; k++) out[k] = v * a[k] / n;
    return rc;
}

abut_status abut_read_scene_material(const abut_scene_reader *r, const abut_tree *t, int32_t *row, abut_err *err)
{
    const abut_scene *s = r->scene;
    const char *word = NULL;
    abut_status rc = abut_tree_word(t, "the name of a material", "rubber", &word, err);
    if (rc) return rc;
    for (int32_t i = 0; i < s->nmaterials; i++)
        if (!strcmp(s->material[i].name, word)) {
            *row = i;
            return ABUT_OK;
        }
    const char **names = calloc((size_t)s->nmaterials + 1, sizeof *names);
    if (!names) return abut_fail(err, ABUT_E_NOMEM, "no memory for %d names", s->nmaterials);
    for (int32_t i = 0; i < s->nmaterials; i++) names[i] = s->material[i].name;
    const char *near = abut_name_nearest(word, names);
    char there[240];
    rc = near ? abut_tree_fail(t, err, "no material is called '%s'; did you mean '%s'?", word, near)
              : abut_tree_fail(t, err, "no material is called '%s': expected one of %s", word,
                               abut_names_join(names, there, sizeof there));
    free(names);
    return rc;
}

/* The material an object names; of a body the only one there is, when it names none. */
static abut_status find_material(const abut_scene_reader *r, const abut_tree *object, int body, int32_t *row, abut_err *err)
{
    const abut_tree *t = abut_tree_find(object, "material");
    *row = body ? 0 : -1;
    if (t) return abut_read_scene_material(r, t, row, err);
    if (!body || r->scene->nmaterials == 1) return ABUT_OK;
    return abut_tree_fail_key(object, err, "object '%s' names no material, and there are %d", object->key,
                              r->scene->nmaterials);
}

static abut_status read_mu(const abut_tree *object, int *has, double *mu, abut_err *err)
{
    const abut_tree *t = abut_tree_find(object, "mu");
    if (!t) return ABUT_OK;
    *has = 1;
    const abut_status rc = abut_tree_real(t, "mu", ABUT_Q_PURE, mu, NULL, err);
    if (rc || *mu >= 0) return rc;
    return abut_tree_fail(t, err, "mu is %g: expected 0 or more", *mu);
}

static abut_status read_plane(const abut_scene_reader *r, const abut_tree *t, abut_scene_plane *p, abut_err *err)
{
    static const char *const keys[] = { "half-space", "material", "mu", NULL }, *const own[] = { "point", "normal", NULL };
    const abut_tree *h = abut_tree_find(t, "half-space");
    abut_status rc = abut_tree_keys(t, "half-space object", keys, err);
    if (!rc) rc = abut_tree_keys(h, "half-space", own, err);
    if (!rc) rc = abut_scene_name(t, p->name, err);
    if (rc) return rc;
    const abut_tree *point = abut_tree_find(h, "point"), *normal = abut_tree_find(h, "normal");
    if (!normal) return abut_tree_fail(h, err, "expected {point: [x, y, z], normal: [x, y, z]}");
    abut_scene_from(t, p->from);
    if (point) rc = abut_tree_vector(point, "point", ABUT_Q_LENGTH, 3, p->point, err);
    if (!rc) rc = abut_tree_vector(normal, "normal", ABUT_Q_PURE, 3, p->normal, err);
    const double n = abut_tree_norm(p->normal, 3);
    if (!rc && !(n > 0)) rc = abut_tree_fail(normal, err, "normal: expected a vector that is not zero");
    for (int k = 0; k < 3; k++) p->normal[k] /= n;
    if (!rc) rc = find_material(r, t, 0, &p->material, err);
    return rc ? rc : read_mu(t, &p->has_mu, &p->mu, err);
}

static abut_status read_velocity(const abut_tree *t, abut_scene_object *o, abut_err *err)
{
    const abut_tree *v = abut_tree_find(t, "velocity"), *w = abut_tree_find(t, "angular-velocity");
    const abut_tree *center = abut_tree_find(t, "center");
    abut_status rc = ABUT_OK;
    if (v) rc = abut_tree_vector(v, "velocity", ABUT_Q_SPEED, 3, o->velocity, err);
    if (!rc && w) rc = abut_scene_axis(w, "rate", ABUT_Q_RATE, o->spin, err);
    if (!rc && w && !center) center = abut_tree_find(w, "center");
    if (!rc && center && !w) rc = abut_tree_fail_key(center, err, "center without angular-velocity");
    if (!rc && center) {
        rc = abut_tree_vector(center, "center", ABUT_Q_LENGTH, 3, o->center, err);
        o->has_center = 1;
    }
    return rc;
}

/* An equilibrium has no velocity to start with; obstacles move as the scene says. */
static abut_status check_velocity(const abut_scene_reader *r, const abut_tree *t, const abut_scene_object *o, abut_err *err)
{
    const abut_tree *v = abut_tree_find(t, "velocity"), *w = abut_tree_find(t, "angular-velocity");
    if (o->obstacle || (!v && !w) || abut_scheme_is(r->scene->scheme, ABUT_SCHEME_INERTIA)) return ABUT_OK;
    return abut_tree_fail_key(v ? v : w, err, "a body without inertia has no velocity: expected a motion, or another time.scheme "
                              "than %s", abut_scheme_names[r->scene->scheme]);
}

static abut_status read_fill(const abut_tree *t, abut_scene_object *o, abut_err *err)
{
    static const char *const keys[] = { "max-volume", "keep-surface", NULL };
    const abut_tree *fill = abut_tree_find(t, "tetrahedralize");
    if (!fill) return ABUT_OK;
    abut_status rc = abut_tree_keys(fill, "tetrahedralize", keys, err);
    const abut_tree *most = rc ? NULL : abut_tree_find(fill, "max-volume");
    if (!rc && !most) rc = abut_tree_fail(fill, err, "tetrahedralize: expected {max-volume: number (m^3)}");
    if (!rc) rc = abut_tree_positive(most, "max-volume", ABUT_Q_VOLUME, &o->max_volume, NULL, err);
    const abut_tree *keep = rc ? NULL : abut_tree_find(fill, "keep-surface");
    if (keep) rc = abut_tree_flag(keep, "keep-surface", &o->keep_surface, err);
    if (!rc && o->obstacle) rc = abut_tree_fail_key(fill, err, "tetrahedralize: an obstacle needs no inside");
    if (!rc && (o->mesh.nt || !o->mesh.nf || o->mesh.ns || o->mesh.np))
        rc = abut_tree_fail_key(
            fill, err,
            "tetrahedralize: expected a mesh of triangles alone, this one has %d tet%s, %d triangle%s, %d segment%s, %d point%s",
            o->mesh.nt, abut_s(o->mesh.nt), o->mesh.nf, abut_s(o->mesh.nf), o->mesh.ns, abut_s(o->mesh.ns), o->mesh.np,
            abut_s(o->mesh.np));
    return rc;
}

/* An isotropic shell is of a model that is known in plane stress. */
static abut_status check_shell(const abut_scene_reader *r, const abut_tree *t, const abut_scene_object *o, abut_err *err)
{
    const abut_tree *shell = abut_tree_find(t, "shell");
    const abut_scene_material *m = &r->scene->material[o->material];
    char list[200];
    if (!shell || m->membrane != ABUT_MEMBRANE_ISOTROPIC || abut_material_is(m->model, ABUT_MATERIAL_PLANE)) return ABUT_OK;
    return abut_tree_fail_key(shell, err, "shell of material '%s', which is %s: expected %s, or an orthotropic membrane", m->name,
                              abut_material_names[m->model], abut_materials_with(ABUT_MATERIAL_PLANE, list, sizeof list));
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
static abut_status read_object(const abut_scene_reader *r, const abut_tree *t, int32_t copy, abut_scene_object *o, abut_err *err)
{
    abut_status rc = abut_tree_keys(t, "object", BODY_KEYS, err);
    if (!rc) rc = abut_scene_name(t, o->name, err);
    if (!rc && copy >= 0) rc = name_copy(r, t, copy, o, err);
    if (rc) return rc;
    const abut_tree *obstacle = abut_tree_find(t, "obstacle");
    abut_scene_from(t, o->from);
    if (obstacle) rc = abut_tree_flag(obstacle, "obstacle", &o->obstacle, err);
    const abut_tree *fit = rc ? NULL : abut_tree_find(t, "fit");
    int is_fitted = 1;
    if (fit) rc = abut_tree_flag(fit, "fit", &is_fitted, err);
    o->in_place = !is_fitted;
    if (!rc) rc = find_material(r, t, !o->obstacle, &o->material, err);
    if (!rc) rc = read_mu(t, &o->has_mu, &o->mu, err);
    if (!rc) rc = read_velocity(t, o, err);
    if (!rc) rc = check_velocity(r, t, o, err);
    if (!rc) rc = read_codim(t, o, err);
    if (!rc) rc = check_shell(r, t, o, err);
    if (!rc) rc = abut_scene_order_keys(r, t, &o->order, err);
    if (!rc) rc = abut_scene_mesh(r, t, copy < 0 ? 0 : copy, o, err);
    if (!rc) rc = read_fill(t, o, err);
    if (!rc) rc = abut_scene_read_proxy(r, t, copy < 0 ? 0 : copy, o, err);
    return rc ? rc : read_frame(t, o, err);
}

/* Sums over all objects read so far. */
typedef struct total {
    double points, elements;
} total;

/* The object, or all objects that its `repeat` makes of it, at the rows from *row. */
static abut_status read_copies(const abut_scene_reader *r, const abut_tree *t, abut_scene_object *object, int32_t *row,
                               total *all, abut_err *err)
{
    int32_t n;
    abut_status rc = abut_scene_copies(t, &n, err);
    for (int32_t i = 0; i < (n ? n : 1) && !rc; i++) {
        abut_scene_object *o = &object[(*row)++];
        rc = read_object(r, t, n ? i : -1, o, err);
        if (rc) break;
        all->points += o->mesh.nv;
        all->elements += abut_mesh_elements(&o->mesh);
        rc = abut_scene_placed(t, abut_mesh_bound(all->points, all->elements, "all objects up to this one", err), err);
    }
    return rc;
}

abut_status abut_scene_objects(abut_scene_reader *r, const abut_tree *objects, abut_err *err)
{
    abut_scene *s = r->scene;
    int32_t body = 0, plane = 0;
    total all = { 0, 0 };
    abut_status rc = ABUT_OK;
    for (const abut_tree *c = objects->child; c && !rc; c = c->next) {
        if (c->kind != ABUT_TREE_MAP)
            return abut_tree_fail_kind(c, c->key, err, "a map, {mesh: ball.msh} or {generate: {sphere: {radius: 1, cells: 8}}}");
        if (abut_tree_find(c, "half-space")) rc = read_plane(r, c, &s->plane[plane++], err);
        else rc = read_copies(r, c, s->object, &body, &all, err);
    }
    return rc;
}

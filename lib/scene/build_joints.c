/* Joints: the rows u . w - c = 0 (energy/joint.h) of each kind.  a is the first object, or the world, b the second; o, n1, n2 and
 * the direction t belong to a, y_i to b, at the same places at the start; d is the larger distance of a point of both from its
 * centre, so that all rows are lengths.
 *
 *     ball        y - o                                       in x, y, z
 *     hinge       two points on the axis, d apart             six rows, of which one repeats another: equal stretch
 *     fixed       four points
 *     pin-slot    n1, n2 . (y - o)
 *     cylinder    n1, n2 . (y_i - o)                          at two points on the axis, d apart
 *     slider      those of the cylinder, d n1 . n2'           n2' belongs to b
 *     planar      t . (y_i - o)                               at three points
 *     universal   y - o in x, y, z, d t . s                   s, across t at the start, belongs to b
 *     distance    (|y - o|^2 - l^2) / 2l                      two places, l apart
 *
 * Rows whose directions are those of the world are linear. */
#include "scene/build_parts.h"

#include "math/mat3.h"
#include "math/vec3.h"

#include <assert.h>
#include <math.h>

const char *const abut_joint_names[ABUT_JOINTS] = {
    [ABUT_JOINT_BALL] = "ball", [ABUT_JOINT_HINGE] = "hinge", [ABUT_JOINT_FIXED] = "fixed", [ABUT_JOINT_CYLINDER] = "cylinder",
    [ABUT_JOINT_SLIDER] = "slider", [ABUT_JOINT_PLANAR] = "planar", [ABUT_JOINT_PIN_SLOT] = "pin-slot",
    [ABUT_JOINT_UNIVERSAL] = "universal", [ABUT_JOINT_DISTANCE] = "distance",
};

enum { ROWS_MOST = 12 };

/* The rows of a joint while they are made. */
typedef struct maker {
    const double *X[2];     /* of the four nodes of each body at rest; NULL: the world */
    abut_vec3 center[2];
    double inverse[2][9];   /* of the axes L (mesh/mesh.h) */
    int n;
    double along[ROWS_MOST][11], apart[ROWS_MOST][12];
} maker;

static void add_body(maker *k, int side, const double *X)
{
    double L[9] = { 0 };
    k->X[side] = X;
    if (!X) return;
    for (int i = 0; i < 4; i++) k->center[side] = abut_v3_axpy(k->center[side], 0.25, abut_v3_get(X + 3 * i));
    for (int i = 0; i < 9; i++)
        for (int c = 0; c < 4; c++) L[i] += 0.25 * X[3 * c + i / 3] * abut_frame_corners[c][i % 3];
    (void)abut_m3_inverse(k->inverse[side], L);
}

/* sum[11] += scale times direction n (whole 0), or point n (whole 1), of a side. */
static void add(const maker *k, int side, int whole, double scale, abut_vec3 n, double *sum)
{
    if (!k->X[side]) {
        abut_v3_put(sum + 8, abut_v3_axpy(abut_v3_get(sum + 8), scale, n));
        return;
    }
    double from[3];
    abut_v3_put(from, whole ? abut_v3_sub(n, k->center[side]) : n);
    for (int c = 0; c < 4; c++) {
        double weight = whole;
        for (int i = 0; i < 9; i++) weight += abut_frame_corners[c][i / 3] * k->inverse[side][i] * from[i % 3];
        sum[4 * side + c] += scale * weight / 4;
    }
}

/* A row n . (y - o), n a direction of `of` (-1: the world), y and o at the same place. */
static void add_row(maker *k, int of, abut_vec3 n, abut_vec3 at)
{
    double *u = k->along[k->n], *w = k->apart[k->n++];
    if (of < 0) abut_v3_put(u + 8, n);
    else add(k, of, 0, 1, n, u);
    add(k, 1, 1, 1, at, w);
    add(k, 0, 1, -1, at, w);
}

static void add_point(maker *k, abut_vec3 at)
{
    add_row(k, -1, abut_v3(1, 0, 0), at);
    add_row(k, -1, abut_v3(0, 1, 0), at);
    add_row(k, -1, abut_v3(0, 0, 1), at);
}

static void make_rows(maker *k, const abut_scene_joint *j, double d)
{
    const abut_vec3 o = abut_v3_get(j->at), t = abut_v3_get(j->direction);
    const abut_vec3 least = fabs(t.x) <= fabs(t.y) && fabs(t.x) <= fabs(t.z) ? abut_v3(1, 0, 0)
                            : fabs(t.y) <= fabs(t.z) ? abut_v3(0, 1, 0) : abut_v3(0, 0, 1);
    const abut_vec3 across = abut_v3_cross(t, least);
    const double length = abut_v3_norm(across);
    const abut_vec3 n1 = length > 0 ? abut_v3_scale(1 / length, across) : across, n2 = abut_v3_cross(t, n1);
    const abut_vec3 low = abut_v3_axpy(o, -0.5 * d, t), high = abut_v3_axpy(o, 0.5 * d, t);
    switch (j->kind) {
    case ABUT_JOINT_BALL: add_point(k, o); break;
    case ABUT_JOINT_HINGE: add_point(k, low), add_point(k, high); break;
    case ABUT_JOINT_FIXED: {
        const abut_vec3 c = k->center[1];
        add_point(k, c);
        add_point(k, abut_v3_add(c, abut_v3(d, 0, 0)));
        add_point(k, abut_v3_add(c, abut_v3(0, d, 0)));
        add_point(k, abut_v3_add(c, abut_v3(0, 0, d)));
        break;
    }
    case ABUT_JOINT_PIN_SLOT: add_row(k, 0, n1, o), add_row(k, 0, n2, o); break;
    case ABUT_JOINT_CYLINDER:
    case ABUT_JOINT_SLIDER:
        add_row(k, 0, n1, low), add_row(k, 0, n2, low), add_row(k, 0, n1, high), add_row(k, 0, n2, high);
        if (j->kind == ABUT_JOINT_CYLINDER) break;
        add(k, 0, 0, 1, n1, k->along[k->n]);
        add(k, 1, 0, d, n2, k->apart[k->n++]);
        break;
    case ABUT_JOINT_PLANAR:
        add_row(k, 0, t, o), add_row(k, 0, t, abut_v3_axpy(o, d, n1)), add_row(k, 0, t, abut_v3_axpy(o, d, n2));
        break;
    case ABUT_JOINT_UNIVERSAL:
        add_point(k, o);
        add(k, 0, 0, 1, t, k->along[k->n]);
        add(k, 1, 0, d, abut_v3_get(j->second), k->apart[k->n++]);
        break;
    case ABUT_JOINT_DISTANCE: {
        const abut_vec3 to = abut_v3_get(j->to);
        const double l = abut_v3_norm(abut_v3_sub(to, o));
        add(k, 1, 1, 0.5 / l, to, k->along[k->n]), add(k, 0, 1, -0.5 / l, o, k->along[k->n]);
        add(k, 1, 1, 1, to, k->apart[k->n]), add(k, 0, 1, -1, o, k->apart[k->n]);
        k->apart[k->n++][11] = 0.5 * l;
        break;
    }
    default: assert(0);
    }
}

/* The first node of a rigid object and the largest distance of its surface from its centre; the world has -1, 0. */
static int32_t first_of(const abut_build *b, int32_t object, double *r)
{
    if (object < 0) return -1;
    const abut_part *p = &b->part[object];
    const abut_mesh *surface = &p->object->proxy.surface;
    abut_vec3 c = abut_v3(0, 0, 0);
    for (int32_t k = 0; k < 4; k++) c = abut_v3_axpy(c, 0.25, abut_v3_get(b->X + 3 * (size_t)(p->first + k)));
    for (int32_t i = 0; i < surface->nv; i++)
        *r = fmax(*r, abut_v3_norm(abut_v3_sub(abut_v3_get(surface->x + 3 * (size_t)i), c)));
    return p->first;
}

/* The rows of joint i; *reach: d. */
static abut_status make_joint(const abut_build *b, int32_t i, maker *k, int32_t node[8], double *reach, abut_err *err)
{
    const abut_scene_joint *j = &b->scene->joint[i];
    double d = 0;
    *k = (maker){ .n = 0 };
    for (int side = 0; side < 2; side++) {
        const int32_t first = first_of(b, j->body[side], &d);
        if (first >= 0 && b->role[first] != ABUT_NODE_FREE)
            return abut_fail(err, ABUT_E_FORMAT, "%s: '%s' joins '%s', which a motion moves: expected one that moves freely",
                             j->from, j->name, b->scene->object[j->body[side]].name);
        add_body(k, side, first < 0 ? NULL : b->X + 3 * (size_t)first);
        for (int32_t c = 0; c < 4; c++) node[4 * side + c] = first < 0 ? -1 : first + c;
    }
    make_rows(k, j, *reach = d);
    return ABUT_OK;
}

/* limit[4] of a joint.  Stops are a degree, or a thousandth of d, wide; half of that bears a thousand times the weight of the
 * second body, at the distance d. */
static void set_limit(const abut_build *b, const abut_scene_joint *j, double d, double limit[4])
{
    const int turns = j->kind == ABUT_JOINT_HINGE;
    const double g = abut_v3_norm(abut_v3_get(b->scene->gravity)), width = turns ? acos(-1) / 180 : 1e-3 * d;
    double mass = 0;
    for (int32_t k = 0; k < 4; k++) mass += b->mass[b->part[j->body[1]].first + k];
    limit[0] = -INFINITY, limit[1] = INFINITY;
    if (!j->has_limits) return;
    memcpy(limit, j->limit, sizeof j->limit);
    limit[2] = width;
    limit[3] = 1e3 * mass * (g > 0 ? g : 9.81) * (turns ? d : 1) / ((0.5 + log(2)) * width);
}

abut_status abut_build_joints(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    maker k;
    int32_t rows = 0, unused[8];
    double reach = 0;
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < s->njoints && !rc; i++, rows += k.n) rc = make_joint(b, i, &k, unused, &reach, err);
    if (rc || !rows) return rc;
    int32_t *kind = abut_build_required(b, "joint/kind", s->njoints, err);
    int32_t *node = kind ? abut_build_required(b, "joint/node", s->njoints, err) : NULL;
    int32_t *first = node ? abut_build_required(b, "joint/first", s->njoints, err) : NULL;
    double *along = first ? abut_build_required(b, "joint/along", rows, err) : NULL;
    double *apart = along ? abut_build_required(b, "joint/apart", rows, err) : NULL;
    double *axis = apart ? abut_build_required(b, "joint/axis", s->njoints, err) : NULL;
    double *point = axis ? abut_build_required(b, "joint/point", s->njoints, err) : NULL;
    int driven = 0, stops = 0;
    for (int32_t i = 0; i < s->njoints; i++) {
        stops |= s->joint[i].has_limits;
        for (int c = 0; c < 4; c++) driven |= s->joint[i].drive[c] != 0;
    }
    double *drive = point && driven ? abut_build_required(b, "joint/drive", s->njoints, err) : NULL;
    double *limit = point && stops ? abut_build_required(b, "joint/limit", s->njoints, err) : NULL;
    if (!point || (driven && !drive) || (stops && !limit)) return err ? err->code : ABUT_E_NOMEM;
    for (int32_t i = 0; i < s->njoints && drive; i++) memcpy(drive + 4 * (size_t)i, s->joint[i].drive, 4 * sizeof *drive);
    for (int32_t i = 0, row = 0; i < s->njoints && !rc; i++, row += k.n) {
        rc = make_joint(b, i, &k, node + 8 * (size_t)i, &reach, err);
        if (limit) set_limit(b, &s->joint[i], reach, limit + 4 * (size_t)i);
        kind[i] = s->joint[i].kind;
        first[2 * i] = row, first[2 * i + 1] = row + k.n;
        memcpy(along + 11 * (size_t)row, k.along, (size_t)k.n * sizeof *k.along);
        memcpy(apart + 12 * (size_t)row, k.apart, (size_t)k.n * sizeof *k.apart);
        memcpy(axis + 3 * (size_t)i, s->joint[i].direction, 3 * sizeof *axis);
        const double *at = kind[i] == ABUT_JOINT_DISTANCE ? s->joint[i].to : s->joint[i].at;
        abut_v3_put(point + 3 * (size_t)i, kind[i] == ABUT_JOINT_FIXED ? k.center[1] : abut_v3_get(at));
    }
    return rc;
}

#include "mesh/snap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

abut_status abut_snap_begin(abut_snap *s, abut_err *err)
{
    if (s->kind != ABUT_SNAP_MESH || s->tree) return ABUT_OK;
    return abut_triangle_tree_new(&s->tree, s->mesh.x, s->mesh.tri, s->mesh.nf, err);
}

void abut_snap_clear(abut_snap *s)
{
    abut_triangle_tree_free(&s->tree);
    abut_mesh_clear(&s->mesh);
    free(s->capsule);
    memset(s, 0, sizeof *s);
}

/* p at the distance r from the origin in the plane of its coordinates other than y, or in space. */
static int to_radius(abut_vec3 *p, int in_space, double r)
{
    const double d = sqrt(p->x * p->x + p->z * p->z + (in_space ? p->y * p->y : 0));
    if (!(d > 0)) return 0;
    const double s = r / d;
    p->x *= s, p->z *= s;
    if (in_space) p->y *= s;
    return 1;
}

static int to_cylinder(const abut_snap *s, abut_vec3 *p, const abut_vec3 *normal, int k)
{
    int side = 0, end = 0;
    for (int i = 0; i < k; i++)
        if (fabs(normal[i].y) > 0.7071067811865476) end = 1;
        else side = 1;
    if (end) p->y = p->y < 0 ? -s->size / 2 : s->size / 2;
    return !side || to_radius(p, 0, s->radius);
}

static int to_torus(const abut_snap *s, abut_vec3 *p)
{
    const double out = sqrt(p->x * p->x + p->z * p->z);
    abut_vec3 q = { out - s->radius, p->y, 0 };         /* in the plane of the axis and p, from the middle of the section */
    if (!(out > 0) || !to_radius(&q, 1, s->size)) return 0;
    const double f = (s->radius + q.x) / out;
    *p = abut_v3(p->x * f, q.y, p->z * f);
    return 1;
}

/* Newton along the gradient of the implicit shape. */
static int to_capsules(const abut_snap *s, abut_vec3 *p)
{
    const abut_capsules f = { s->capsule, s->ncapsules, s->blend };
    double x[3], g[3];
    abut_v3_put(x, *p);
    for (int it = 0; it < 40; it++) {
        const double value = abut_capsules_value(&f, x, g), g2 = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
        if (!(g2 > 1e-12)) return 0;
        for (int k = 0; k < 3; k++) x[k] -= value * g[k] / g2;
        if (fabs(value) < 1e-14 * (fabs(x[0]) + fabs(x[1]) + fabs(x[2]) + s->capsule[0].radius)) break;
    }
    *p = abut_v3_get(x);
    return 1;
}

int abut_snap_point(const abut_snap *s, abut_vec3 x, const abut_vec3 *normal, int k, double reach, abut_vec3 *y)
{
    const abut_vec3 c = abut_v3_get(s->center);
    abut_vec3 p = abut_v3_sub(x, c);
    int found = 0;
    switch (s->kind) {
    case ABUT_SNAP_SPHERE: found = to_radius(&p, 1, s->radius); break;
    case ABUT_SNAP_CYLINDER: found = to_cylinder(s, &p, normal, k); break;
    case ABUT_SNAP_TORUS: found = to_torus(s, &p); break;
    case ABUT_SNAP_CAPSULES: found = to_capsules(s, &x), p = abut_v3_sub(x, c); break;
    case ABUT_SNAP_MESH: return abut_triangle_nearest(s->tree, x, normal, k, 0.5, reach, y) >= 0;
    default: break;
    }
    if (found) *y = abut_v3_add(p, c);
    return found;
}

#include "scene/build_parts.h"

#include "geom/dist.h"
#include "math/mat3.h"
#include "math/vec3.h"
#include "model/model.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

abut_status abut_attachments_add(abut_attachments *t, const abut_attachment *tie, abut_err *err)
{
    if (t->n == t->cap) {
        const int32_t cap = t->cap ? 2 * t->cap : 64;
        abut_attachment *grown = cap > INT32_MAX / 4 ? NULL : realloc(t->tie, (size_t)cap * sizeof *grown);
        if (!grown) return abut_fail(err, ABUT_E_NOMEM, "attachments: no memory for %d springs", cap);
        t->tie = grown;
        t->cap = cap;
    }
    t->tie[t->n++] = *tie;
    return ABUT_OK;
}

static const double *point_of(const abut_part *p, int32_t i) { return p->object->mesh.x + 3 * (size_t)i; }

static abut_vec3 middle(const abut_part *p, const int32_t *tri, double *radius)
{
    abut_vec3 c = abut_v3(0, 0, 0);
    for (int k = 0; k < 3; k++) c = abut_v3_axpy(c, 1.0 / 3, abut_v3_get(point_of(p, tri[k])));
    *radius = 0;
    for (int k = 0; k < 3; k++) *radius = fmax(*radius, abut_v3_norm(abut_v3_sub(abut_v3_get(point_of(p, tri[k])), c)));
    return c;
}

/* The triangle of the surface that is nearest to x, the first one of several; -1: there is none.  w[3]: the closest point. */
static int32_t nearest_triangle(const abut_part *p, const double *x, double *distance, double w[3])
{
    int32_t best = -1;
    double least2 = INFINITY;
    for (int32_t t = 0; t < p->ntri; t++) {
        const int32_t *tri = p->tri + 3 * (size_t)t;
        double pt[12], all[4], radius;
        const abut_vec3 c = middle(p, tri, &radius);
        const double away = abut_v3_norm(abut_v3_sub(abut_v3_get(x), c)) - radius;
        if (away > 0 && away * away > least2 * (1 + 1e-12)) continue;
        memcpy(pt, x, 3 * sizeof *pt);
        for (int k = 0; k < 3; k++) memcpy(pt + 3 + 3 * k, point_of(p, tri[k]), 3 * sizeof *pt);
        const double d2 = abut_closest(ABUT_PT, pt, all);
        if (d2 >= least2) continue;
        least2 = d2;
        best = t;
        for (int k = 0; k < 3; k++) w[k] = -all[1 + k];
    }
    *distance = sqrt(least2);
    return best;
}

static int32_t nearest_point(const abut_part *p, const double *x, double *distance)
{
    int32_t best = -1;
    double least2 = INFINITY;
    for (int32_t i = 0; i < p->object->mesh.nv; i++) {
        const double d2 = abut_v3_norm2(abut_v3_sub(abut_v3_get(x), abut_v3_get(point_of(p, i))));
        if (p->node[i] < 0 || d2 >= least2) continue;
        least2 = d2;
        best = i;
    }
    *distance = sqrt(least2);
    return best;
}

/* The tet behind a triangle of the surface. */
static const int32_t *tet_behind(const abut_part *p, const int32_t *tri)
{
    for (int32_t t = 0; t < p->object->mesh.nt; t++) {
        const int32_t *v = p->object->mesh.tet + 4 * (size_t)t;
        int shared = 0;
        for (int k = 0; k < 4; k++) shared += v[k] == tri[0] || v[k] == tri[1] || v[k] == tri[2];
        if (shared == 3) return v;
    }
    return NULL;
}

/* x = sum w X over the corners of a tet, sum w = 1; outside of it some are negative. */
static void affine_weights(const abut_part *p, const int32_t *tet, const double *x, double w[4])
{
    double D[9], C[9], b[3];
    const double *o = point_of(p, tet[0]);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) D[3 * i + k] = point_of(p, tet[1 + k])[i] - o[i];
        b[k] = x[k] - o[k];
    }
    abut_m3_cofactor(C, D);
    const double det = abut_m3_det(D);
    for (int k = 0; k < 3; k++) w[1 + k] = (C[k] * b[0] + C[3 + k] * b[1] + C[6 + k] * b[2]) / det;
    w[0] = 1 - w[1] - w[2] - w[3];
}

/* The place of a rod nearest to x: between its two ends; without rods the nearest node. */
static void carry_by_rod(const abut_part *p, const double *x, abut_attachment *t, double *distance)
{
    int32_t best = -1;
    double least2 = INFINITY;
    for (int32_t s = 0; s < p->object->mesh.ns; s++) {
        const int32_t *v = p->object->mesh.seg + 2 * (size_t)s;
        const abut_vec3 a = abut_v3_get(point_of(p, v[0])), e = abut_v3_sub(abut_v3_get(point_of(p, v[1])), a);
        const abut_vec3 d = abut_v3_sub(abut_v3_get(x), a);
        const double w = fmin(1, fmax(0, abut_v3_dot(d, e) / abut_v3_norm2(e)));
        const double d2 = abut_v3_norm2(abut_v3_axpy(d, -w, e));
        if (d2 >= least2) continue;
        least2 = d2, best = s;
        t->weight[0] = 1 - w, t->weight[1] = w;
    }
    *distance = sqrt(least2);
    for (int k = 0; k < 2 && best >= 0; k++) t->node[1 + k] = p->node[p->object->mesh.seg[2 * (size_t)best + (size_t)k]];
    if (best >= 0) return;
    t->node[1] = p->node[nearest_point(p, x, distance)];
    t->weight[0] = 1;
}

/* Attaches a point to a body: to the tet behind the nearest point of its surface.  If that point is on a shell, or the body has
 * only rods or particles, attaches to the nearest point itself, as thin elements carry no points beside them. */
static void carry_by_body(const abut_part *p, const double *x, abut_attachment *t, double *distance)
{
    double closest[3];
    const int32_t tri = nearest_triangle(p, x, distance, closest);
    if (tri < 0) {
        carry_by_rod(p, x, t, distance);
        return;
    }
    const int32_t *v = p->tri + 3 * (size_t)tri, *tet = tet_behind(p, v);
    if (tet) affine_weights(p, tet, x, t->weight);
    else memcpy(t->weight, closest, sizeof closest);
    for (int k = 0; k < (tet ? 4 : 3); k++) t->node[1 + k] = p->node[tet ? tet[k] : v[k]];
}

/* A place of an obstacle: the nearest point of its surface (without one: its nearest node), and the offset from there. */
static void carry_by_obstacle(const abut_part *p, const double *x, abut_attachment *t, double *distance)
{
    const int32_t tri = nearest_triangle(p, x, distance, t->weight);
    int32_t point[3] = { -1, -1, -1 };
    if (tri >= 0) {
        memcpy(point, p->tri + 3 * (size_t)tri, sizeof point);
    } else {
        point[0] = nearest_point(p, x, distance);
        t->weight[0] = 1;
    }
    memcpy(t->offset, x, sizeof t->offset);
    for (int k = 0; k < 3 && point[k] >= 0; k++) {
        t->node[1 + k] = p->node[point[k]];
        for (int d = 0; d < 3; d++) t->offset[d] -= t->weight[k] * point_of(p, point[k])[d];
    }
}

static void carry_by_point(const double point[3], const double *x, abut_attachment *t, double *distance)
{
    memcpy(t->offset, point, sizeof t->offset);
    *distance = abut_v3_norm(abut_v3_sub(abut_v3_get(x), abut_v3_get(point)));
}

static abut_status attach_nodes(abut_build *b, abut_attachments *all, const abut_scene_attachment *s, int32_t *attached,
                                abut_err *err)
{
    abut_listed *list = NULL;
    int32_t n = 0;
    double nearest = INFINITY;
    char what[ABUT_SCENE_FROM + 20];
    const abut_part *to = s->to >= 0 ? &b->part[s->to] : NULL;
    snprintf(what, sizeof what, "%s: this attachment", s->from);
    abut_status rc = abut_build_select(b, &s->select, what, &list, &n, err);
    for (int32_t i = 0; i < n && !rc; i++) {
        const double *x = b->X + 3 * (size_t)list[i].node;
        abut_attachment t = { .node = { list[i].node, -1, -1, -1, -1 }, .stiffness = s->stiffness };
        double distance = 0;
        if (to && b->role[list[i].node] == ABUT_NODE_OBSTACLE)
            rc = abut_fail(err, ABUT_E_FORMAT, "%s: node %d of '%s' is of an obstacle: expected a body", s->from,
                           list[i].node - abut_part_of(b, list[i].node)->first, abut_part_of(b, list[i].node)->object->name);
        if (!to) carry_by_point(s->point, x, &t, &distance);
        else if (to->object->obstacle) carry_by_obstacle(to, x, &t, &distance);
        else carry_by_body(to, x, &t, &distance);
        nearest = fmin(nearest, distance);
        if (rc || distance > s->within) continue;
        rc = abut_attachments_add(all, &t, err);
        ++*attached;
    }
    if (!rc && !*attached)
        rc = abut_fail(err, ABUT_E_FORMAT, "%s: this attachment ties no node: the nearest of %d is %g m away, expected one "
                       "within %g m",
                       s->from, n, nearest, s->within);
    free(list);
    return rc;
}

static abut_status put(abut_build *b, const abut_attachments *all, abut_err *err)
{
    static const char *const name[] = { "attachment/node", "attachment/weight", "attachment/offset", "attachment/stiffness" };
    void *data[4];
    if (!all->n) return ABUT_OK;
    for (int i = 0; i < 4; i++) {
        data[i] = abut_model_put(b->model, name[i], all->n, err);
        if (!data[i]) return err ? err->code : ABUT_E_NOMEM;
        abut_arrays_find(b->model, name[i])->flags |= ABUT_A_REQUIRED;
    }
    int32_t *node = data[0];
    double *weight = data[1], *offset = data[2], *stiffness = data[3];
    for (int32_t i = 0; i < all->n; i++) {
        const abut_attachment *t = &all->tie[i];
        memcpy(node + 5 * (size_t)i, t->node, sizeof t->node);
        memcpy(weight + 4 * (size_t)i, t->weight, sizeof t->weight);
        memcpy(offset + 3 * (size_t)i, t->offset, sizeof t->offset);
        stiffness[i] = t->stiffness;
    }
    return ABUT_OK;
}

abut_status abut_build_attachments(abut_build *b, abut_err *err)
{
    assert(b);
    abut_attachments all = { 0 };
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < b->scene->nattachments && !rc; i++)
        rc = attach_nodes(b, &all, &b->scene->attachment[i], &b->out->attached[i], err);
    for (int32_t i = 0; i < b->scene->nseams && !rc; i++)
        rc = abut_build_seam(b, &b->scene->seam[i], &all, &b->out->sewn[i], err);
    if (!rc) rc = put(b, &all, err);
    free(all.tie);
    return rc;
}

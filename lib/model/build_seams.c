#include "model/build_parts.h"

#include "linalg/vec3.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A chain of points of a mesh along its border, and the way to each of them at rest. */
typedef struct chain {
    const abut_part *part;
    int32_t n, *point;
    double *way;            /* [n] m */
} chain;

static void chain_clear(chain *c)
{
    free(c->point), free(c->way);
    *c = (chain){ 0 };
}

/* A side of a triangle, smaller point first. */
typedef struct border_side { int32_t a, b, tri; } border_side;

static int by_points(const void *x, const void *y)
{
    const border_side *p = x, *q = y;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    if (p->b != q->b) return p->b < q->b ? -1 : 1;
    return (p->tri > q->tri) - (p->tri < q->tri);
}

/* Sides of one triangle alone whose ends both have a mark. */
static abut_status marked_border(const abut_mesh *m, const uint8_t *mark, border_side **out, int32_t *n, abut_err *err)
{
    const size_t sides = 3 * (size_t)m->nf;
    border_side *s = malloc((sides + 1) * sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "seam: no memory for %zu sides", sides);
    for (size_t i = 0; i < sides; i++) {
        const int32_t a = m->tri[i], b = m->tri[i - i % 3 + (i + 1) % 3];
        s[i] = (border_side){ a < b ? a : b, a < b ? b : a, (int32_t)(i / 3) };
    }
    qsort(s, sides, sizeof *s, by_points);
    *n = 0;
    for (size_t i = 0, end; i < sides; i = end) {
        end = i + 1;
        while (end < sides && s[end].a == s[i].a && s[end].b == s[i].b) end++;
        if (end == i + 1 && mark[s[i].a] && mark[s[i].b]) s[(*n)++] = s[i];
    }
    *out = s;
    return ABUT_OK;
}

/* The one of n sides that goes on from a point; -1: none.  *two: there is another one. */
static int32_t next_side(const border_side *s, int32_t n, int32_t point, int32_t from, int *two)
{
    int32_t found = -1;
    *two = 0;
    for (int32_t i = 0; i < n; i++) {
        if (i == from || (s[i].a != point && s[i].b != point)) continue;
        if (found >= 0) *two = 1;
        else found = i;
    }
    return found;
}

/* Walks from one end to the other; the first end is the one with the smaller number. */
static abut_status walk(const border_side *s, int32_t n, int32_t selected, const char *from, chain *c, abut_err *err)
{
    int32_t start = -1, side = -1, two = 0;
    for (int32_t i = 0; i < 2 * n; i++) {
        const int32_t p = i % 2 ? s[i / 2].b : s[i / 2].a;
        if (next_side(s, n, p, i / 2, &two) < 0 && (start < 0 || p < start)) start = p, side = i / 2;
    }
    if (start < 0)
        return abut_fail(err, ABUT_E_FORMAT, "%s: %s: expected points of the border that form a line with two ends", from,
                         n ? "the selected border is closed" : "no side of a triangle at the border has both ends selected");
    c->point[c->n] = start, c->way[c->n++] = 0;
    while (side >= 0) {
        const int32_t at = c->point[c->n - 1], to = s[side].a == at ? s[side].b : s[side].a;
        c->way[c->n] = c->way[c->n - 1] + abut_rest_edge(c->part->object, s[side].tri, at, to);
        c->point[c->n++] = to;
        side = next_side(s, n, to, side, &two);
        if (two)
            return abut_fail(err, ABUT_E_FORMAT, "%s: the border branches at point %d of '%s': expected a line with two ends",
                             from, to, c->part->object->name);
    }
    if (c->n != selected)
        return abut_fail(err, ABUT_E_FORMAT, "%s: %d of the %d selected points of '%s' lie on one line of its border: "
                         "expected all", from, c->n, selected, c->part->object->name);
    return ABUT_OK;
}

static abut_status find_chain(abut_build *b, const abut_scene_select *s, const char *from, chain *c, abut_err *err)
{
    char what[ABUT_SCENE_FROM + 20];
    abut_listed *list = NULL;
    border_side *side = NULL;
    int32_t n = 0, sides = 0;
    c->part = &b->part[s->object];
    const abut_mesh *m = &c->part->object->mesh;
    snprintf(what, sizeof what, "%s: this seam", from);
    abut_status rc = abut_build_select(b, s, what, &list, &n, err);
    uint8_t *mark = rc ? NULL : calloc((size_t)m->nv + 1, 1);
    c->point = malloc(((size_t)m->nv + 2) * sizeof *c->point);
    c->way = malloc(((size_t)m->nv + 2) * sizeof *c->way);
    if (!rc && (!mark || !c->point || !c->way)) rc = abut_fail(err, ABUT_E_NOMEM, "seam: no memory for %d points", m->nv);
    for (int32_t i = 0; i < n && !rc; i++) mark[list[i].point] = 1;
    if (!rc) rc = marked_border(m, mark, &side, &sides, err);
    if (!rc) rc = walk(side, sides, n, s->from, c, err);
    free(list), free(mark), free(side);
    return rc;
}

static abut_vec3 place(const chain *c, int32_t i)
{
    return abut_v3_get(c->part->object->mesh.x + 3 * (size_t)c->point[i]);
}

/* Turns b around when its other end is nearer to the start of a. */
static void face(const chain *a, chain *b)
{
    const abut_vec3 a0 = place(a, 0), a1 = place(a, a->n - 1), b0 = place(b, 0), b1 = place(b, b->n - 1);
    const double along = abut_v3_norm2(abut_v3_sub(a0, b0)) + abut_v3_norm2(abut_v3_sub(a1, b1));
    const double across = abut_v3_norm2(abut_v3_sub(a0, b1)) + abut_v3_norm2(abut_v3_sub(a1, b0));
    if (across >= along) return;
    const double length = b->way[b->n - 1];
    for (int32_t i = 0, k = b->n - 1; i <= k; i++, k--) {
        const int32_t p = b->point[i];
        const double w = b->way[i];
        b->point[i] = b->point[k], b->point[k] = p;
        b->way[i] = length - b->way[k], b->way[k] = length - w;
    }
}

/* The node at the share of a's length, tied to the place at the same share of b's. */
static abut_tie tie_at(const chain *a, int32_t i, const chain *b, double stiffness)
{
    const double s = a->way[i] / a->way[a->n - 1] * b->way[b->n - 1];
    int32_t k = 0;
    while (k < b->n - 2 && b->way[k + 1] <= s) k++;
    double w = (s - b->way[k]) / (b->way[k + 1] - b->way[k]);
    w = w < 1e-6 ? 0 : w > 1 - 1e-6 ? 1 : w;        /* rounding of the ways is no place between two nodes */
    const int32_t lo = b->part->node[b->point[k]], hi = b->part->node[b->point[k + 1]];
    abut_tie t = { .node = { a->part->node[a->point[i]], -1, -1, -1, -1 }, .stiffness = stiffness };
    int n = 0;
    if (w < 1) t.node[1 + n] = lo, t.weight[n++] = 1 - w;
    if (w > 0) t.node[1 + n] = hi, t.weight[n++] = w;
    return t;
}

abut_status abut_build_seam(abut_build *b, const abut_scene_seam *s, abut_ties *all, int32_t *sewn, abut_err *err)
{
    chain side[2] = { 0 };
    abut_status rc = ABUT_OK;
    for (int k = 0; k < 2 && !rc; k++) rc = find_chain(b, &s->side[k], s->from, &side[k], err);
    const abut_scene_object *o = &b->scene->object[s->side[0].object];
    const double stiffness = s->stiffness > 0 ? s->stiffness : b->scene->material[o->material].young * o->shell.thickness;
    if (!rc) face(&side[0], &side[1]);
    for (int32_t i = 0; i < side[0].n && !rc; i++) {
        const abut_tie t = tie_at(&side[0], i, &side[1], stiffness);
        if (t.node[1] == t.node[0] || t.node[2] == t.node[0]) continue;     /* they share this point */
        rc = abut_ties_add(all, &t, err);
        ++*sewn;
    }
    if (!rc && !*sewn) rc = abut_fail(err, ABUT_E_FORMAT, "%s: both sides of this seam are the same points", s->from);
    chain_clear(&side[0]), chain_clear(&side[1]);
    return rc;
}

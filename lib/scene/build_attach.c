#include "scene/build_parts.h"

#include "base/arena.h"
#include "base/order.h"
#include "base/words.h"
#include "geom/dist.h"
#include "math/mat3.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Attachments as they are found, before their number is known; rows of the attachment/ arrays. */
typedef struct attachment {
    int32_t node[5];
    double weight[4], offset[3], stiffness;
} attachment;

typedef struct attachments {
    int32_t n;
    size_t cap;
    attachment *tie;
} attachments;

/* ---- attachments ---- */

static abut_status add_attachment(attachments *t, const attachment *tie, abut_err *err)
{
    if (t->n >= INT32_MAX / 4 || !ABUT_GROW(t->tie, t->n + 1, t->cap))
        return abut_fail(err, ABUT_E_NOMEM, "attachments: no memory for %d springs", t->n + 1);
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
static void carry_by_rod(const abut_part *p, const double *x, attachment *t, double *distance)
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
static void carry_by_body(const abut_part *p, const double *x, attachment *t, double *distance)
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
static void carry_by_obstacle(const abut_part *p, const double *x, attachment *t, double *distance)
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

static void carry_by_point(const double point[3], const double *x, attachment *t, double *distance)
{
    memcpy(t->offset, point, sizeof t->offset);
    *distance = abut_v3_norm(abut_v3_sub(abut_v3_get(x), abut_v3_get(point)));
}

static abut_status attach_nodes(abut_build *b, attachments *all, const abut_scene_attachment *s, int32_t *attached, abut_err *err)
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
        attachment t = { .node = { list[i].node, -1, -1, -1, -1 }, .stiffness = s->stiffness };
        double distance = 0;
        if (to && b->role[list[i].node] == ABUT_NODE_OBSTACLE)
            rc = abut_fail(err, ABUT_E_FORMAT, "%s: node %d of '%s' is of an obstacle: expected a body", s->from,
                           list[i].node - abut_part_of(b, list[i].node)->first, abut_part_of(b, list[i].node)->object->name);
        if (!to) carry_by_point(s->point, x, &t, &distance);
        else if (to->object->obstacle) carry_by_obstacle(to, x, &t, &distance);
        else carry_by_body(to, x, &t, &distance);
        nearest = fmin(nearest, distance);
        if (rc || distance > s->within) continue;
        rc = add_attachment(all, &t, err);
        ++*attached;
    }
    if (!rc && !*attached)
        rc = abut_fail(err, ABUT_E_FORMAT, "%s: this attachment ties no node: the nearest of %d is %g m away, expected one "
                       "within %g m",
                       s->from, n, nearest, s->within);
    free(list);
    return rc;
}

/* ---- seams ---- */

/* A chain of points of a mesh along sides of its triangles, and the length to each of them at rest.  A closed one comes back to
 * its first point, which is its last as well. */
typedef struct chain {
    const abut_part *part;
    int32_t n, *point;
    double *arc;            /* [n] m */
    double begins;          /* m: the length to where the seam begins; 0 of one with two ends */
    int closed;
} chain;

static void chain_clear(chain *c)
{
    free(c->point), free(c->arc);
    *c = (chain){ 0 };
}

/* A side of a triangle, smaller point first. */
typedef struct tri_side { int32_t a, b, tri; } tri_side;

/* Sides whose ends both have a mark; border: those of one triangle alone. */
static abut_status marked_sides(const abut_mesh *m, const uint8_t *mark, int border, tri_side **out, int32_t *n, abut_err *err)
{
    const size_t sides = 3 * (size_t)m->nf;
    tri_side *s = malloc((sides + 1) * sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "seam: no memory for %zu sides", sides);
    for (size_t i = 0; i < sides; i++) {
        const int32_t a = m->tri[i], b = m->tri[i - i % 3 + (i + 1) % 3];
        s[i] = (tri_side){ a < b ? a : b, a < b ? b : a, (int32_t)(i / 3) };
    }
    qsort(s, sides, sizeof *s, abut_by_three);
    *n = 0;
    for (size_t i = 0, end; i < sides; i = end) {
        end = i + 1;
        while (end < sides && s[end].a == s[i].a && s[end].b == s[i].b) end++;
        if ((end == i + 1 || !border) && mark[s[i].a] && mark[s[i].b]) s[(*n)++] = s[i];
    }
    *out = s;
    return ABUT_OK;
}

/* The one of n sides that continues from a point; -1: none.  *two: there is another one. */
static int32_t next_side(const tri_side *s, int32_t n, int32_t point, int32_t from, int *two)
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

/* Walks a chain from the end with the smaller number to the other; a closed chain around, from its point with the smallest
 * number. */
static abut_status walk(const tri_side *s, int32_t n, int32_t selected, const char *from, chain *c, abut_err *err)
{
    const char *const line = "expected a line along sides of its triangles";
    int32_t start = INT32_MAX, side = n > 0 ? 0 : -1, two = 0;
    for (int32_t i = 0; i < 2 * n; i++) {
        const int32_t p = i % 2 ? s[i / 2].b : s[i / 2].a;
        if (next_side(s, n, p, i / 2, &two) < 0 && p < start) start = p, side = i / 2;
    }
    if (side < 0)
        return abut_fail(err, ABUT_E_FORMAT, "%s: no side of a triangle of '%s' has both ends selected: %s", from,
                         c->part->object->name, line);
    if ((c->closed = start == INT32_MAX)) start = s[0].a;
    c->point[0] = start, c->arc[0] = 0, c->n = 1;
    while (side >= 0) {
        const int32_t at = c->point[c->n - 1], to = s[side].a == at ? s[side].b : s[side].a;
        c->arc[c->n] = c->arc[c->n - 1] + abut_rest_edge(c->part->object, s[side].tri, at, to);
        c->point[c->n++] = to;
        side = next_side(s, n, to, side, &two);
        if (two)
            return abut_fail(err, ABUT_E_FORMAT, "%s: the line branches at node %d of '%s': %s", from,
                             abut_part_number(c->part, to),                             c->part->object->name, line);
        if (c->closed && to == start) break;
    }
    if (c->n - c->closed != selected)
        return abut_fail(err, ABUT_E_FORMAT, "%s: %d of the %d selected node%s of '%s' %s on one line: expected all", from,
                         c->n - c->closed, selected, abut_s(selected), c->part->object->name,
                         abut_plural(c->n - c->closed, "lies", "lie"));
    return ABUT_OK;
}

static abut_status walk_marked(const uint8_t *mark, int border, int32_t selected, const char *from, chain *c, abut_err *err)
{
    tri_side *side = NULL;
    int32_t sides = 0;
    abut_status rc = marked_sides(&c->part->object->mesh, mark, border, &side, &sides, err);
    if (!rc) rc = walk(side, sides, selected, from, c, err);
    free(side);
    return rc;
}

static abut_status find_chain(abut_build *b, const abut_scene_select *s, const char *from, chain *c, abut_err *err)
{
    char what[ABUT_SCENE_FROM + 20];
    abut_listed *list = NULL;
    int32_t n = 0;
    c->part = &b->part[s->object];
    const int32_t nv = c->part->object->mesh.nv;
    snprintf(what, sizeof what, "%s: this seam", from);
    abut_status rc = abut_build_select(b, s, what, &list, &n, err);
    uint8_t *mark = rc ? NULL : calloc((size_t)nv + 1, 1);
    c->point = malloc(((size_t)nv + 2) * sizeof *c->point);
    c->arc = malloc(((size_t)nv + 2) * sizeof *c->arc);
    if (!rc && (!mark || !c->point || !c->arc)) rc = abut_fail(err, ABUT_E_NOMEM, "seam: no memory for %d points", nv);
    if (!rc) {
        for (int32_t i = 0; i < n; i++) mark[list[i].point] = 1;
        abut_err no_border = { 0 };     /* the border first: at its corners there are other sides with both ends selected */
        rc = walk_marked(mark, 1, n, s->from, c, &no_border);
        if (rc == ABUT_E_FORMAT) rc = walk_marked(mark, 0, n, s->from, c, err);
        else if (rc && err) *err = no_border;
    }
    free(list), free(mark);
    return rc;
}

static abut_vec3 place(const chain *c, int32_t i)
{
    return abut_v3_get(c->part->object->mesh.x + 3 * (size_t)c->point[i]);
}

static void reverse(chain *b)
{
    const double length = b->arc[b->n - 1];
    for (int32_t i = 0, k = b->n - 1; i <= k; i++, k--) {
        const int32_t p = b->point[i];
        const double w = b->arc[i];
        b->point[i] = b->point[k], b->point[k] = p;
        b->arc[i] = length - b->arc[k], b->arc[k] = length - w;
    }
}

/* The points k and k + 1 of b between which the fraction of its length lies that point i of a has; returns how far between. */
static double opposite(const chain *a, int32_t i, const chain *b, int32_t *k)
{
    const double length = b->arc[b->n - 1], share = a->arc[i] / a->arc[a->n - 1] * length + b->begins;
    const double s = share < length ? share : share - b->closed * length;
    for (*k = 0; *k < b->n - 2 && b->arc[*k + 1] <= s;) ++*k;
    const double w = (s - b->arc[*k]) / (b->arc[*k + 1] - b->arc[*k]);
    return w < 1e-6 ? 0 : w > 1 - 1e-6 ? 1 : w;     /* rounding of lengths is no place between two nodes */
}

/* Sum of the squared lengths of all springs from a to b, m^2. */
static double apart2(const chain *a, const chain *b)
{
    double sum = 0;
    for (int32_t i = 0, k; i < a->n - a->closed; i++) {
        const double w = opposite(a, i, b, &k);
        const abut_vec3 to = abut_v3_axpy(abut_v3_scale(1 - w, place(b, k)), w, place(b, k + 1));
        sum += abut_v3_norm2(abut_v3_sub(place(a, i), to));
    }
    return sum;
}

/* The length along b to its place nearest to p. */
static double nearest_way(const chain *b, abut_vec3 p)
{
    double least = INFINITY, arc = 0;
    for (int32_t k = 0; k + 1 < b->n; k++) {
        const abut_vec3 e = abut_v3_sub(place(b, k + 1), place(b, k)), d = abut_v3_sub(p, place(b, k));
        const double w = fmin(1, fmax(0, abut_v3_dot(d, e) / abut_v3_norm2(e)));
        const double d2 = abut_v3_norm2(abut_v3_axpy(d, -w, e));
        if (d2 < least) least = d2, arc = b->arc[k] + w * (b->arc[k + 1] - b->arc[k]);
    }
    return arc;
}

/* Chooses begin and direction of chain b: its end nearest to the begin of a, a closed chain its nearest place; the direction with
 * shorter springs. */
static void face(const chain *a, chain *b)
{
    double apart[2];
    for (int reversed = 0; reversed < 2; reversed++) {
        if (reversed) reverse(b);
        if (b->closed) b->begins = nearest_way(b, place(a, 0));
        const abut_vec3 begin = abut_v3_sub(place(a, 0), place(b, 0)), end = abut_v3_sub(place(a, a->n - 1), place(b, b->n - 1));
        apart[reversed] = b->closed ? apart2(a, b) : abut_v3_norm2(begin) + abut_v3_norm2(end);
    }
    if (apart[1] < apart[0]) return;
    reverse(b);
    if (b->closed) b->begins = nearest_way(b, place(a, 0));
}

/* The node at the fraction of a's length, tied to the place at the same fraction of b's. */
static attachment attach_at(const chain *a, int32_t i, const chain *b, double stiffness)
{
    int32_t k;
    const double w = opposite(a, i, b, &k);
    const int32_t lo = b->part->node[b->point[k]], hi = b->part->node[b->point[k + 1]];
    attachment t = { .node = { a->part->node[a->point[i]], -1, -1, -1, -1 }, .stiffness = stiffness };
    int n = 0;
    if (w < 1) t.node[1 + n] = lo, t.weight[n++] = 1 - w;
    if (w > 0) t.node[1 + n] = hi, t.weight[n++] = w;
    return t;
}

/* Adds the springs of a seam.
 * sewn  out: += how many
 * Fails  ABUT_E_FORMAT a side that is no line along sides of triangles, or a closed one with one that has ends; ABUT_E_NOMEM */
static abut_status sew(abut_build *b, const abut_scene_seam *s, attachments *all, int32_t *sewn, abut_err *err)
{
    assert(b && s);
    chain side[2] = { 0 };
    abut_status rc = ABUT_OK;
    for (int k = 0; k < 2 && !rc; k++) rc = find_chain(b, &s->side[k], s->from, &side[k], err);
    const abut_scene_object *o = &b->scene->object[s->side[0].object];
    const double stiffness = s->stiffness > 0 ? s->stiffness : b->scene->material[o->material].young * o->shell.thickness;
    if (!rc && side[0].closed != side[1].closed)
        rc = abut_fail(err, ABUT_E_FORMAT, "%s: the line of '%s' is closed, that of '%s' has two ends: expected both alike",
                       s->from, side[side[1].closed].part->object->name, side[side[0].closed].part->object->name);
    if (!rc) face(&side[0], &side[1]);
    for (int32_t i = 0; i < side[0].n - side[0].closed && !rc; i++) {
        const attachment t = attach_at(&side[0], i, &side[1], stiffness);
        if (t.node[1] == t.node[0] || t.node[2] == t.node[0]) continue;     /* they share this point */
        rc = add_attachment(all, &t, err);
        ++*sewn;
    }
    if (!rc && !*sewn) rc = abut_fail(err, ABUT_E_FORMAT, "%s: both sides of this seam are the same points", s->from);
    chain_clear(&side[0]), chain_clear(&side[1]);
    return rc;
}

/* ---- arrays of both ---- */

static abut_status put(abut_build *b, const attachments *all, abut_err *err)
{
    static const abut_column columns[] = {
        ABUT_COLUMN(attachment, node, "attachment/node"), ABUT_COLUMN(attachment, weight, "attachment/weight"),
        ABUT_COLUMN(attachment, offset, "attachment/offset"), ABUT_COLUMN(attachment, stiffness, "attachment/stiffness")
    };
    return all->n ? abut_build_columns(b, columns, 4, all->tie, sizeof *all->tie, all->n, ABUT_A_REQUIRED, err) : ABUT_OK;
}

abut_status abut_build_attachments(abut_build *b, abut_err *err)
{
    assert(b);
    attachments all = { 0 };
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < b->scene->nattachments && !rc; i++)
        rc = attach_nodes(b, &all, &b->scene->attachment[i], &b->out->attached[i], err);
    for (int32_t i = 0; i < b->scene->nseams && !rc; i++)
        rc = sew(b, &b->scene->seam[i], &all, &b->out->sewn[i], err);
    if (!rc) rc = put(b, &all, err);
    free(all.tie);
    return rc;
}

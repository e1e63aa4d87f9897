#include "mesh/triangle_tree.h"

#include "geom/boxes.h"
#include "geom/dist.h"

#include <assert.h>
#include <stdlib.h>

enum { LEAF = 4 };

/* Items lo .. hi - 1; children follow: left at once, right at `right`, 0 for a leaf.  Of its triangles, for their solid angle
 * from afar: the sum of their areas as vectors, the mean of their middles by area, and how far a corner is from that. */
struct node {
    abut_box box;
    int32_t lo, hi, right;
    abut_vec3 area, middle;
    double radius;
};

struct abut_triangle_tree {
    const double *x;
    const int32_t *tri;
    int32_t n, nodes;
    int32_t *item;
    struct node *node;
};

static abut_vec3 corner(const abut_triangle_tree *t, int32_t i, int k)
{
    return abut_v3_get(t->x + 3 * (size_t)t->tri[3 * (size_t)i + (size_t)k]);
}

static double center(const abut_triangle_tree *t, int32_t i, int axis)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += t->x[3 * (size_t)t->tri[3 * (size_t)i + (size_t)k] + (size_t)axis];
    return sum;
}

/* Moves the item that would be at `mid` in order of centres there, the smaller ones before it. */
static void select_median(abut_triangle_tree *t, int32_t lo, int32_t hi, int32_t mid, int axis)
{
    int32_t *v = t->item;
    while (hi - lo > 1) {
        const double pivot = center(t, v[lo + (hi - lo) / 2], axis);
        int32_t i = lo, j = hi - 1;
        while (i <= j) {
            while (center(t, v[i], axis) < pivot) i++;
            while (center(t, v[j], axis) > pivot) j--;
            if (i > j) break;
            const int32_t s = v[i];
            v[i++] = v[j], v[j--] = s;
        }
        if (mid <= j) hi = j + 1;
        else if (mid >= i) lo = i;
        else return;
    }
}

static abut_vec3 area_vector(const abut_triangle_tree *t, int32_t i)
{
    const abut_vec3 a = corner(t, i, 0);
    return abut_v3_scale(0.5, abut_v3_cross(abut_v3_sub(corner(t, i, 1), a), abut_v3_sub(corner(t, i, 2), a)));
}

/* Computes area vector, centre and radius of the triangles of a node. */
static void summarise(const abut_triangle_tree *t, struct node *n)
{
    double total = 0, far2 = 0;
    n->area = n->middle = abut_v3(0, 0, 0);
    for (int32_t k = n->lo; k < n->hi; k++) {
        const abut_vec3 a = area_vector(t, t->item[k]);
        const double size = abut_v3_norm(a);
        n->area = abut_v3_add(n->area, a);
        for (int c = 0; c < 3; c++) n->middle = abut_v3_axpy(n->middle, size / 3, corner(t, t->item[k], c));
        total += size;
    }
    n->middle = total > 0 ? abut_v3_scale(1 / total, n->middle) : corner(t, t->item[n->lo], 0);
    for (int32_t k = n->lo; k < n->hi; k++)
        for (int c = 0; c < 3; c++) far2 = fmax(far2, abut_v3_norm2(abut_v3_sub(corner(t, t->item[k], c), n->middle)));
    n->radius = sqrt(far2);
}

static int32_t build(abut_triangle_tree *t, int32_t lo, int32_t hi)
{
    const int32_t at = t->nodes++;
    abut_box box = abut_box_of(t->x, t->tri + 3 * (size_t)t->item[lo], 3);
    for (int32_t k = lo + 1; k < hi; k++) {
        const abut_box b = abut_box_of(t->x, t->tri + 3 * (size_t)t->item[k], 3);
        box = abut_box_join(box, &b);
    }
    t->node[at] = (struct node){ .box = box, .lo = lo, .hi = hi };
    summarise(t, &t->node[at]);
    if (hi - lo <= LEAF) return at;
    int axis = 0;
    for (int d = 1; d < 3; d++)
        if (box.hi[d] - box.lo[d] > box.hi[axis] - box.lo[axis]) axis = d;
    const int32_t mid = lo + (hi - lo) / 2;
    select_median(t, lo, hi, mid, axis);
    build(t, lo, mid);
    const int32_t right = build(t, mid, hi);
    t->node[at].right = right;
    return at;
}

abut_status abut_triangle_tree_new(abut_triangle_tree **out, const double *x, const int32_t *tri, int32_t n, abut_err *err)
{
    if (n < 1) return abut_fail(err, ABUT_E_ARG, "a surface without triangles: expected one or more");
    abut_triangle_tree *t = calloc(1, sizeof *t);
    if (t)
        *t = (abut_triangle_tree){ x, tri, n, 0, malloc((size_t)n * sizeof *t->item), malloc(2 * (size_t)n * sizeof *t->node) };
    if (!t || !t->item || !t->node) {
        abut_triangle_tree_free(&t);
        return abut_fail(err, ABUT_E_NOMEM, "surface: no memory for a tree of %d triangles", n);
    }
    for (int32_t i = 0; i < n; i++) t->item[i] = i;
    build(t, 0, n);
    *out = t;
    return ABUT_OK;
}

void abut_triangle_tree_free(abut_triangle_tree **t)
{
    if (!*t) return;
    free((*t)->item), free((*t)->node), free(*t);
    *t = NULL;
}

/* Query of abut_triangle_nearest, and its best triangle so far. */
typedef struct search {
    abut_vec3 p;
    const abut_vec3 *normal;
    int k;
    double least, best2;
    int32_t best;
    abut_vec3 y;
} search;

static int faces_it(const abut_triangle_tree *t, int32_t i, const search *s)
{
    if (!s->k) return 1;
    const abut_vec3 n = area_vector(t, i);
    const double size = abut_v3_norm(n);
    for (int k = 0; k < s->k; k++)
        if (abut_v3_dot(n, s->normal[k]) > s->least * size) return 1;
    return 0;
}

static void try_triangle(const abut_triangle_tree *t, int32_t i, search *s)
{
    double x[12], w[4];
    if (!faces_it(t, i, s)) return;
    abut_v3_put(x, s->p);
    for (int k = 0; k < 3; k++) abut_v3_put(x + 3 + 3 * k, corner(t, i, k));
    const double d2 = abut_closest(ABUT_PT, x, w);
    if (d2 > s->best2 || (d2 >= s->best2 && (s->best < 0 || i > s->best))) return;
    s->best2 = d2, s->best = i;
    s->y = abut_v3(0, 0, 0);
    for (int k = 0; k < 3; k++) s->y = abut_v3_axpy(s->y, -w[1 + k], corner(t, i, k));
}

static void descend(const abut_triangle_tree *t, int32_t at, const abut_box *p, search *s)
{
    const struct node *n = &t->node[at];
    if (abut_box_gap2(&n->box, p) > s->best2) return;
    if (!n->right) {
        for (int32_t k = n->lo; k < n->hi; k++) try_triangle(t, t->item[k], s);
        return;
    }
    const double left = abut_box_gap2(&t->node[at + 1].box, p), right = abut_box_gap2(&t->node[n->right].box, p);
    descend(t, left <= right ? at + 1 : n->right, p, s);
    descend(t, left <= right ? n->right : at + 1, p, s);
}

int32_t abut_triangle_nearest(const abut_triangle_tree *t, abut_vec3 p, const abut_vec3 *normal, int k, double least,
                              double reach, abut_vec3 *y)
{
    assert(t && y);
    search s = { .p = p, .normal = normal, .k = k, .least = least, .best2 = reach * reach, .best = -1 };
    double at[3];
    abut_v3_put(at, p);
    const abut_box box = abut_box_point(at);
    descend(t, 0, &box, &s);
    if (s.best >= 0) *y = s.y;
    return s.best;
}

/* Solid angle of a triangle from p: tan(angle/2) = a.(b x c) / (abc + (a.b) c + (b.c) a + (c.a) b). */
static double solid_angle(const abut_triangle_tree *t, int32_t i, abut_vec3 p)
{
    const abut_vec3 a = abut_v3_sub(corner(t, i, 0), p), b = abut_v3_sub(corner(t, i, 1), p);
    const abut_vec3 c = abut_v3_sub(corner(t, i, 2), p);
    const double la = abut_v3_norm(a), lb = abut_v3_norm(b), lc = abut_v3_norm(c);
    return 2 * atan2(abut_v3_dot(a, abut_v3_cross(b, c)),
                     la * lb * lc + abut_v3_dot(a, b) * lc + abut_v3_dot(b, c) * la + abut_v3_dot(c, a) * lb);
}

/* Winding number: a distant cluster has the solid angle of its area at its middle, to a few (radius/distance)^2 of itself. */
static double winding(const abut_triangle_tree *t, int32_t at, abut_vec3 p)
{
    const struct node *n = &t->node[at];
    const abut_vec3 d = abut_v3_sub(n->middle, p);
    const double far = abut_v3_norm(d);
    if (far > 4 * n->radius) return abut_v3_dot(n->area, d) / (far * far * far);
    if (n->right) return winding(t, at + 1, p) + winding(t, n->right, p);
    double sum = 0;
    for (int32_t k = n->lo; k < n->hi; k++) sum += solid_angle(t, t->item[k], p);
    return sum;
}

int abut_triangles_inside(const abut_triangle_tree *t, abut_vec3 p)
{
    return winding(t, 0, p) > 6.283185307179586;
}

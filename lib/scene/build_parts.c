/* Helpers of all steps of abut_scene_build: columns, parts, selected nodes. */
#include "scene/build_parts.h"

#include "base/order.h"
#include "base/words.h"

#include <math.h>
#include <stdlib.h>

void *abut_build_required(abut_build *b, const char *name, int64_t rows, abut_err *err)
{
    void *p = abut_model_put(b->model, name, rows, err);
    if (p) abut_arrays_find(b->model, name)->flags |= ABUT_A_REQUIRED;
    return p;
}

abut_status abut_build_columns(abut_build *b, const abut_column *c, int n, const void *first, size_t stride, int64_t rows,
                               uint32_t flags, abut_err *err)
{
    for (; n--; c++) {
        char *to;
        const char *from = (const char *)first + c->at;
        const abut_status rc = abut_build_put(b->model, c->array, rows, &to, err);
        if (rc) return rc;
        for (int64_t i = 0; i < rows; i++, to += c->size, from += stride) memcpy(to, from, c->size);
        abut_arrays_find(b->model, c->array)->flags |= flags;
    }
    return ABUT_OK;
}

const abut_part *abut_part_of(const abut_build *b, int32_t node)
{
    const abut_part *p = b->part;
    while (node >= p->first + p->nodes) p++;
    return p;
}

/* ---- selected nodes ---- */

static int inside(const double *x, const double lo[3], const double hi[3])
{
    for (int k = 0; k < 3; k++)
        if (!(x[k] >= lo[k] && x[k] <= hi[k])) return 0;
    return 1;
}

static int in_cylinder(const abut_scene_select *s, abut_vec3 x)
{
    const abut_vec3 a = abut_v3_get(s->axis[0]), u = abut_v3_sub(abut_v3_get(s->axis[1]), a), d = abut_v3_sub(x, a);
    const double along = abut_v3_dot(d, u) / abut_v3_norm2(u);
    const abut_vec3 across = abut_v3_axpy(d, -along, u);
    return along >= 0 && along <= 1 && abut_v3_norm2(across) <= s->axis_radius * s->axis_radius;
}

static int selected(const abut_scene_select *s, const abut_part *p, const double box[2][3], int32_t i)
{
    const double *x = p->object->mesh.x + 3 * (size_t)i;
    const abut_vec3 v = abut_v3_get(x);
    if (p->node[i] < 0 || (s->on_surface && !p->surface[i])) return 0;
    if (s->in_box && !inside(x, s->box[0], s->box[1])) return 0;
    if (s->in_relative_box && !inside(x, box[0], box[1])) return 0;
    if (s->in_sphere && abut_v3_norm2(abut_v3_sub(v, abut_v3_get(s->center))) > s->radius * s->radius) return 0;
    if (s->in_half_space && abut_v3_dot(abut_v3_get(s->normal), abut_v3_sub(v, abut_v3_get(s->point))) > 0) return 0;
    if (s->in_cylinder && !in_cylinder(s, v)) return 0;
    const int32_t number = abut_part_number(p, i);
    return !s->npoints || bsearch(&number, s->points, (size_t)s->npoints, sizeof number, abut_by_one) != NULL;
}

static int chosen(const abut_scene_select *s, const abut_build *b, int32_t i)
{
    for (int32_t k = 0; k < s->nobjects; k++)
        if (s->objects[k] == i) return 1;
    return !s->nobjects && (s->object == i || (s->object < 0 && !b->part[i].object->obstacle));
}

/* The box around all chosen objects. */
static void whole_box(const abut_scene_select *s, const abut_build *b, double lo[3], double hi[3])
{
    for (int k = 0; k < 3; k++) {
        lo[k] = INFINITY, hi[k] = -INFINITY;
        for (int32_t i = 0; i < b->scene->nobjects; i++) {
            if (!chosen(s, b, i)) continue;
            lo[k] = fmin(lo[k], b->out->object[i].lo[k]);
            hi[k] = fmax(hi[k], b->out->object[i].hi[k]);
        }
    }
}

/* The fraction 1 is the end itself: the largest coordinate is inside, however the sum would round. */
static double at_fraction(double lo, double hi, double r) { return r == 1 ? hi : lo + r * (hi - lo); }

static void relative_box(const abut_scene_select *s, const abut_build *b, double box[2][3])
{
    double lo[3], hi[3];
    whole_box(s, b, lo, hi);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 2; i++) box[i][k] = at_fraction(lo[k], hi[k], s->relative[i][k]);
    }
}

void abut_build_select_center(const abut_build *b, const abut_scene_select *s, double center[3])
{
    double lo[3], hi[3];
    whole_box(s, b, lo, hi);
    for (int k = 0; k < 3; k++) center[k] = 0.5 * (lo[k] + hi[k]);
}

/* Numbers of nodes that are there; points that no element uses have none. */
static abut_status check_numbers(const abut_scene_select *s, const abut_build *b, abut_err *err)
{
    if (!s->npoints || s->points[s->npoints - 1] < b->part[s->object].nodes) return ABUT_OK;
    const abut_part *p = &b->part[s->object];
    return abut_fail(err, ABUT_E_FORMAT, "%s: nodes: '%s' has no node %d: expected 0 to %d (points of its mesh that no "
                     "element uses are left out: %d)", s->from, p->object->name, s->points[s->npoints - 1], p->nodes - 1,
                     p->object->mesh.nv - p->nodes);
}

abut_status abut_build_select(const abut_build *b, const abut_scene_select *s, const char *what, abut_listed **list, int32_t *n,
                              abut_err *err)
{
    double box[2][3];
    int32_t asked = 0, found = 0;
    const abut_status rc = check_numbers(s, b, err);
    if (rc) return rc;
    for (int32_t o = 0; o < b->scene->nobjects; o++) asked += chosen(s, b, o) ? b->part[o].nodes : 0;
    abut_listed *to = malloc(((size_t)asked + 1) * sizeof *to);
    if (!to) return abut_fail(err, ABUT_E_NOMEM, "selection: no memory for %d nodes", asked);
    relative_box(s, b, box);
    for (int32_t o = 0; o < b->scene->nobjects; o++) {
        const abut_part *p = &b->part[o];
        if (!chosen(s, b, o)) continue;
        for (int32_t i = 0; i < p->object->mesh.nv; i++)
            if (selected(s, p, (const double(*)[3])box, i)) to[found++] = (abut_listed){ p->node[i], i };
    }
    if (!found) {
        char words[160];
        free(to);
        return abut_fail(err, ABUT_E_FORMAT, "%s selects no node: none of the %d node%s of %s satisfies %s", what, asked,
                         abut_s(asked), abut_scene_select_words(b->scene, s, words, sizeof words), s->from);
    }
    *list = to;
    *n = found;
    return ABUT_OK;
}

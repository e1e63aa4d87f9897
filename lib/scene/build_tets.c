#include "scene/build_parts.h"

#include "geom/jacobian.h"
#include "geom/quadrature.h"
#include "math/vec3.h"
#include "mesh/tet_nodes.h"
#include "model/model.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* abut_model_put; what 1.1 did not have must be understood. */
static void *put(abut_build *b, const char *name, int64_t rows, int is_old, abut_err *err)
{
    void *p = abut_model_put(b->model, name, rows, err);
    if (p && !is_old) abut_arrays_find(b->model, name)->flags |= ABUT_A_REQUIRED;
    return p;
}

/* The arrays of tets; those of higher order are NULL in a scene without any. */
typedef struct tets {
    int32_t *tet, *mat, *order, *first, *more, *geo_order, *geo_first;
    double *geo_X, *fill, *density;
    int32_t row, nmore, ngx;    /* rows that are filled */
} tets;

static abut_status make_room(abut_build *b, tets *t, abut_err *err)
{
    int64_t more = 0, shape = 0;
    int cages = 0, matched = 0;
    for (int32_t o = 0; o < b->scene->nobjects; o++) {
        const abut_scene_object *s = &b->scene->object[o];
        const int64_t n = b->out->object[o].tets;
        more += n * abut_mesh_more(&s->mesh);
        cages |= n && s->fill;
        matched |= n && s->density;
        if (s->order.kept) shape += n * abut_tet_nodes(s->order.kept);
    }
    int ok = (t->tet = put(b, "tet/node", b->out->tets, 1, err)) && (t->mat = put(b, "tet/material", b->out->tets, 1, err));
    if (ok && more)
        ok = (t->order = put(b, "tet/order", b->out->tets, 0, err)) && (t->first = put(b, "tet/first", b->out->tets, 0, err)) &&
             (t->more = put(b, "tet/more", more, 0, err));
    if (ok && shape)
        ok = (t->geo_order = put(b, "geometry/order", b->out->tets, 0, err)) &&
             (t->geo_first = put(b, "geometry/first", b->out->tets, 0, err)) && (t->geo_X = put(b, "geometry/X", shape, 0, err));
    if (ok && cages) ok = (t->fill = put(b, "tet/fill", b->out->tets, 0, err)) != NULL;
    if (ok && matched) ok = (t->density = put(b, "tet/density-scale", b->out->tets, 0, err)) != NULL;
    return ok ? ABUT_OK : err ? err->code : ABUT_E_NOMEM;
}

/* The part of tet t that counts as solid: one without any would have no mass. */
static double fill_of(const abut_scene_object *s, int32_t t)
{
    return s->fill ? fmax(s->fill[t], 1e-3) : 1;
}

/* Returns the ratio of the mass of tet t to its volume times the material's density. */
static double weight_of(const abut_scene_object *s, int32_t t) { return fill_of(s, t) * (s->density ? s->density[t] : 1); }

/* Adds a tet of order 1, a quarter of its mass to each corner. */
static void straight(abut_build *b, const abut_scene_object *s, const int32_t *v, double weight, abut_object_facts *f)
{
    abut_vec3 p[4];
    for (int k = 0; k < 4; k++) p[k] = abut_v3_get(b->X + 3 * (size_t)v[k]);
    const double V = abut_v3_dot(abut_v3_sub(p[1], p[0]), abut_v3_cross(abut_v3_sub(p[2], p[0]), abut_v3_sub(p[3], p[0]))) / 6;
    const double m = V * b->scene->material[s->material].density * weight;
    f->volume += V, f->mass += m;
    f->least_volume = fmin(f->least_volume, V);
    for (int k = 0; k < 4; k++) b->mass[v[k]] += m / 4;
}

/* Places of the rest shape of tet t of an object; returns its order. */
static int shape_of(const abut_scene_object *s, int32_t t, double X[ABUT_TET_NODES_MAX][3])
{
    if (!s->order.kept) return abut_mesh_tet_places(&s->mesh, t, X), abut_mesh_order(&s->mesh);
    const size_t n = 3 * (size_t)abut_tet_nodes(s->order.kept);
    memcpy(X, s->order.rest + n * (size_t)t, n * sizeof(double));
    return s->order.kept;
}

/* Adds a tet of order k, per density: volume, mass, and the diagonal of its consistent mass at its nodes. */
static void curved(const abut_scene_object *s, int32_t t, const abut_quadrature *q, const int32_t *node, double *diagonal,
                   abut_object_facts *f)
{
    const int order = abut_mesh_order(&s->mesh), n = abut_tet_nodes(order);
    double X[ABUT_TET_NODES_MAX][3], phi[ABUT_TET_NODES_MAX], J[9], volume = 0;
    const int shape = shape_of(s, t, X);
    for (int i = 0; i < q->n; i++) {
        const double w = q->w[i] / 6 * abut_tet_point(shape, (const double(*)[3])X, q->L + 4 * i, NULL, J);
        abut_tet_basis(order, q->L + 4 * i, phi, NULL);
        for (int c = 0; c < n; c++) diagonal[node[c]] += w * weight_of(s, t) * phi[c] * phi[c];
        volume += w;
    }
    f->volume += volume;
    f->mass += volume * weight_of(s, t);
    f->least_volume = fmin(f->least_volume, volume);
    f->least_ratio = fmin(f->least_ratio, abut_jacobian_least(shape, (const double(*)[3])X, NULL) / (6 * volume));
}

/* The masses of a body of order k > 1.  Nodes of its mesh as those of the model are p->node. */
static abut_status put_masses(abut_build *b, const abut_part *p, abut_object_facts *f, abut_err *err)
{
    const abut_scene_object *s = p->object;
    const int order = abut_mesh_order(&s->mesh), shape = s->order.kept ? s->order.kept : order;
    const double density = b->scene->material[s->material].density;
    abut_quadrature q = { 0 };
    double *diagonal = calloc((size_t)s->mesh.nv + 1, sizeof *diagonal), sum = 0;
    abut_status rc = diagonal ? abut_quadrature_tet(abut_degree_mass(order, shape), &q, err)
                              : abut_fail(err, ABUT_E_NOMEM, "building the model: no memory for masses");
    for (int32_t t = 0; t < f->tets && !rc; t++) {
        int32_t node[ABUT_TET_NODES_MAX];
        abut_mesh_tet_nodes(&s->mesh, t, node);
        curved(s, t, &q, node, diagonal, f);
    }
    f->mass *= density;
    for (int32_t i = 0; i < s->mesh.nv && !rc; i++) sum += diagonal[i];
    for (int32_t i = 0; i < s->mesh.nv && !rc; i++)
        if (p->node[i] >= 0) b->mass[p->node[i]] += f->mass * diagonal[i] / sum;
    abut_quadrature_clear(&q);
    free(diagonal);
    return rc;
}

/* The tets of an object into the rows that follow. */
static void put_rows(const abut_part *p, int32_t n, tets *to)
{
    const abut_scene_object *s = p->object;
    for (int32_t t = 0; t < n; t++, to->row++) {
        int32_t node[ABUT_TET_NODES_MAX];
        const int nodes = abut_mesh_tet_nodes(&s->mesh, t, node);
        for (int c = 0; c < 4; c++) to->tet[4 * (size_t)to->row + (size_t)c] = p->node[node[c]];
        to->mat[to->row] = s->material;
        if (to->fill) to->fill[to->row] = fill_of(s, t);
        if (to->density) to->density[to->row] = s->density ? s->density[t] : 1;
        if (to->order) to->order[to->row] = abut_mesh_order(&s->mesh), to->first[to->row] = to->nmore;
        for (int c = 4; c < nodes; c++) to->more[to->nmore++] = p->node[node[c]];
        if (!to->geo_order) continue;
        to->geo_order[to->row] = s->order.kept ? s->order.kept : abut_mesh_order(&s->mesh);
        to->geo_first[to->row] = to->ngx;
        const size_t rows = s->order.kept ? (size_t)abut_tet_nodes(s->order.kept) : 0;
        if (rows) memcpy(to->geo_X + 3 * (size_t)to->ngx, s->order.rest + 3 * rows * (size_t)t, 3 * rows * sizeof(double));
        to->ngx += (int32_t)rows;
    }
}

abut_status abut_build_tets(abut_build *b, abut_err *err)
{
    tets all = { 0 };
    if (!b->out->tets) return ABUT_OK;
    abut_status rc = make_room(b, &all, err);
    for (int32_t o = 0; o < b->scene->nobjects && !rc; o++) {
        const abut_part *p = &b->part[o];
        abut_object_facts *f = &b->out->object[o];
        const int32_t first = all.row;
        if (!f->tets) continue;
        f->order = abut_mesh_order(&p->object->mesh);
        f->shape = p->object->order.kept ? p->object->order.kept : f->order;
        f->least_volume = INFINITY, f->least_ratio = 1;
        for (int32_t t = 0; p->object->density && t < f->tets; t++) {
            f->density[0] = t ? fmin(f->density[0], p->object->density[t]) : p->object->density[t];
            f->density[1] = fmax(f->density[1], p->object->density[t]);
        }
        put_rows(p, f->tets, &all);
        if (f->shape > 1) rc = put_masses(b, p, f, err);
        for (int32_t t = first; t < all.row && f->shape == 1; t++)
            straight(b, p->object, all.tet + 4 * (size_t)t, weight_of(p->object, t - first), f);
    }
    return rc;
}

/* ---- properties of their materials beside moduli ---- */

static abut_status put_splines(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    int32_t n = 0;
    for (int32_t i = 0; i < s->nmaterials; i++) n += s->material[i].nknots;
    if (!n) return ABUT_OK;
    int32_t *rows = put(b, "material/spline", s->nmaterials, 0, err);
    double *knot = rows ? put(b, "spline/knot", n, 0, err) : NULL, *slope = knot ? put(b, "spline/slope", n, 0, err) : NULL;
    if (!slope) return err->code;
    n = 0;
    for (int32_t i = 0; i < s->nmaterials; i++) {
        const abut_scene_material *m = &s->material[i];
        rows[2 * i] = n;
        if (m->nknots) {
            memcpy(knot + n, m->knot, (size_t)m->nknots * sizeof *knot);
            memcpy(slope + 3 * (size_t)n, m->slope, 3 * (size_t)m->nknots * sizeof *slope);
        }
        rows[2 * i + 1] = n += m->nknots;
    }
    return ABUT_OK;
}

/* The direction of every tet: that of its material, in the axes of the scene at the start; any other tet has one to no effect. */
static abut_status put_fibres(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    const abut_array *of = abut_arrays_find(b->model, "tet/material");
    int some = 0;
    for (int32_t i = 0; i < s->nmaterials; i++) some |= s->material[i].fibre > 0;
    if (!some || !of) return ABUT_OK;
    const int64_t nt = of->shape[0];
    const int32_t *material = of->data;     /* stays where it is when arrays are added; *of does not */
    double *kappa = put(b, "material/fibre", s->nmaterials, 0, err);
    double *d = kappa ? put(b, "tet/fibre", nt, 0, err) : NULL;
    if (!d) return err->code;
    for (int32_t i = 0; i < s->nmaterials; i++) kappa[i] = s->material[i].fibre;
    for (int64_t t = 0; t < nt; t++) {
        const abut_scene_material *m = &s->material[material[t]];
        d[3 * t] = 1;
        if (m->fibre > 0) memcpy(d + 3 * t, m->fibre_direction, 3 * sizeof *d);
    }
    return ABUT_OK;
}

/* Puts the quadrature degrees of elastic energies; masses are exact. */
static abut_status put_degrees(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    int some = 0;
    for (int32_t i = 0; i < s->nmaterials; i++) some |= s->material[i].quadrature > 0;
    if (!some) return ABUT_OK;
    int32_t *degree = put(b, "material/quadrature", s->nmaterials, 0, err);
    if (!degree) return err->code;
    for (int32_t i = 0; i < s->nmaterials; i++) degree[2 * i] = s->material[i].quadrature;
    return ABUT_OK;
}

/* Fails if shells or rods have a material with these terms, which are terms of volumes. */
static abut_status check_codim(const abut_build *b, abut_err *err)
{
    static const char *const name[2] = { "shell/material", "rod/material" };
    for (int k = 0; k < 2; k++) {
        const abut_array *of = abut_arrays_find(b->model, name[k]);
        for (int64_t i = 0; of && i < of->shape[0]; i++) {
            const abut_scene_material *m = &b->scene->material[((const int32_t *)of->data)[i]];
            if (m->fibre > 0 || m->volume > 0 || m->stretch[0] > 0 || m->quadrature > 0)
                return abut_fail(err, ABUT_E_FORMAT,
                                 "%s: material '%s' has fibre, volume, stretch or quadrature, which are of tets: expected none "
                                 "of them for %s",
                                 m->from, m->name, k ? "rods" : "shells");
        }
    }
    return ABUT_OK;
}

abut_status abut_build_terms(abut_build *b, abut_err *err)
{
    assert(b);
    const abut_scene *s = b->scene;
    const abut_status unfit = check_codim(b, err);
    if (unfit) return unfit;
    int volume = 0, stretch = 0;
    for (int32_t i = 0; i < s->nmaterials; i++) {
        volume |= s->material[i].volume > 0;
        stretch |= s->material[i].stretch[0] > 0;
    }
    double *v = volume ? put(b, "material/volume", s->nmaterials, 0, err) : NULL;
    double *r = stretch && (v || !volume) ? put(b, "material/stretch", s->nmaterials, 0, err) : NULL;
    if ((volume && !v) || (stretch && !r)) return err->code;
    for (int32_t i = 0; i < s->nmaterials; i++) {
        if (v) v[i] = s->material[i].volume;
        if (r) r[3 * i + 2] = 1;
        if (r && s->material[i].stretch[0] > 0) memcpy(r + 3 * (size_t)i, s->material[i].stretch, 3 * sizeof *r);
    }
    abut_status rc = put_splines(b, err);
    if (!rc) rc = put_fibres(b, err);
    return rc ? rc : put_degrees(b, err);
}

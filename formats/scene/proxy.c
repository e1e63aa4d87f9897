/* `proxy` and `match-mass` of an object: how finely contact sees its boundary, or by which surface; and whose mass it has. */
#include "formats/scene/scene_parts.h"

#include "base/words.h"
#include "mesh/proxy.h"
#include "scene/orders.h"

#include <stdlib.h>
#include <string.h>

/* Points that no triangle has would be vertices of nothing. */
static abut_status keep_triangles(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    if (!m->nf || m->nt || m->ns || m->np)
        return abut_tree_fail(t, err,
                              "mesh: expected triangles alone, this one has %d tet%s, %d triangle%s, %d segment%s, %d point%s",
                              m->nt, abut_s(m->nt), m->nf, abut_s(m->nf), m->ns, abut_s(m->ns), m->np, abut_s(m->np));
    int32_t *number = malloc(((size_t)m->nv + 1) * sizeof *number), n = 0;
    if (!number) return abut_fail(err, ABUT_E_NOMEM, "no memory for %d points", m->nv);
    for (int32_t i = 0; i < m->nv; i++) number[i] = -1;
    for (size_t i = 0; i < 3 * (size_t)m->nf; i++) number[m->tri[i]] = 0;
    for (int32_t i = 0; i < m->nv; i++) {
        if (number[i] < 0) continue;
        memmove(m->x + 3 * (size_t)n, m->x + 3 * (size_t)i, 3 * sizeof *m->x);
        number[i] = n++;
    }
    for (size_t i = 0; i < 3 * (size_t)m->nf; i++) m->tri[i] = number[m->tri[i]];
    m->nv = n;
    free(number);
    return ABUT_OK;
}

/* A mesh that is placed as the body is. */
static abut_status read_placed(const abut_scene_reader *r, const abut_tree *object, const abut_tree *t, int32_t copy,
                               abut_mesh *m, abut_err *err)
{
    static const char *const away[] = { "origin", "unit-size", "use", NULL };
    static const double I[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    const abut_tree *repeat = abut_tree_find(object, "repeat");
    double A[9], b[3], at[3] = { 0 };
    int objects = 1;
    for (int i = 0; away[i]; i++)
        if (abut_tree_find(object, away[i]))
            return abut_tree_fail_key(t, err, "%s: the mesh is where its file says, as the body is: expected no %s", t->key,
                                      away[i]);
    abut_status rc = repeat ? abut_scene_copy_at(repeat, copy, at, &objects, err) : ABUT_OK;
    if (!rc && !objects)
        return abut_tree_fail_key(t, err, "%s: of one body: expected no repeat, or one with objects: true", t->key);
    if (!rc) rc = abut_scene_load(r, t, m, err);
    if (!rc) rc = abut_scene_placement(object, A, b, err);
    if (rc) return rc;
    abut_mesh_transform(m, A, b);
    abut_mesh_transform(m, I, at);
    return ABUT_OK;
}

static abut_status read_extrapolation(const abut_tree *t, const abut_scene_object *o, double *most, abut_err *err)
{
    const int order = abut_scene_order_of(o);
    const double limit = order > 1 ? 0.5 : 10;
    const abut_status rc = abut_tree_not_negative(t, "max-extrapolation", ABUT_Q_PURE, most, err);
    if (rc || *most <= limit) return rc;
    return abut_tree_fail(t, err, "max-extrapolation: %g, expected at most %g for tets of order %d, whose polynomials grow fast "
                          "outside of them", *most, limit, order);
}

static abut_status read_proxy(const abut_scene_reader *r, const abut_tree *object, int32_t copy, abut_scene_object *o,
                              abut_err *err)
{
    static const char *const keys[] = { "segments", "edge", "tolerance", "mesh", "max-extrapolation", NULL };
    const abut_tree *t = abut_tree_find(object, "proxy");
    abut_scene_proxy *p = &o->proxy;
    p->extrapolation = -1;
    if (!t) return ABUT_OK;
    abut_scene_from(t, p->from);
    abut_status rc = abut_tree_keys(t, "proxy", keys, err);
    if (rc) return rc;
    const abut_tree *n = abut_tree_find(t, "segments"), *edge = abut_tree_find(t, "edge"), *tol = abut_tree_find(t, "tolerance");
    const abut_tree *mesh = abut_tree_find(t, "mesh"), *most = abut_tree_find(t, "max-extrapolation");
    if ((n != NULL) + (edge != NULL) + (tol != NULL) + (mesh != NULL) != 1)
        return abut_tree_fail(t, err, "proxy: expected one of segments, edge, tolerance, mesh");
    if (o->obstacle) return abut_tree_fail_key(t, err, "proxy: of a body of tets; an obstacle is its surface");
    if (!o->mesh.nt && !abut_tree_find(object, "tetrahedralize"))
        return abut_tree_fail_key(t, err, "proxy: expected a body of tets");
    if (most && !mesh) return abut_tree_fail_key(most, err, "max-extrapolation: without a mesh nothing is outside of the tets");
    if (n) rc = abut_tree_int(n, "segments", 1, ABUT_SEGMENTS_MOST, &p->segments, err);
    if (edge) rc = abut_tree_positive(edge, "edge", ABUT_Q_LENGTH, &p->edge, NULL, err);
    if (tol) rc = abut_tree_positive(tol, "tolerance", ABUT_Q_LENGTH_OR_L, &p->tolerance.value, &p->tolerance.per_length, err);
    if (mesh) rc = read_placed(r, object, mesh, copy, &p->surface, err);
    if (!rc && mesh) rc = keep_triangles(mesh, &p->surface, err);
    return rc || !most ? rc : read_extrapolation(most, o, &p->extrapolation, err);
}

abut_status abut_scene_read_proxy(const abut_scene_reader *r, const abut_tree *object, int32_t copy, abut_scene_object *o,
                                  abut_err *err)
{
    const abut_tree *t = abut_tree_find(object, "match-mass");
    const abut_status rc = read_proxy(r, object, copy, o, err);
    if (rc || !t) return rc;
    if (o->obstacle || (!o->mesh.nt && !abut_tree_find(object, "tetrahedralize")))
        return abut_tree_fail_key(t, err, "match-mass: expected a body of tets");
    return read_placed(r, object, t, copy, &o->reference, err);
}

/* The surface of an object, as contact sees it. */
#include "scene/build_parts.h"

#include "base/order.h"
#include "mesh/surface.h"

#include <stdlib.h>
#include <string.h>

static abut_status no_memory(abut_err *err, const char *what)
{
    return abut_fail(err, ABUT_E_NOMEM, "building the model: no memory for %s", what);
}

/* The nodes of a triangle, ascending. */
typedef struct face_key {
    int32_t node[3];
} face_key;

static face_key face_key_of(const int32_t *v)
{
    const int32_t a = v[0] < v[1] ? v[0] : v[1], b = v[0] < v[1] ? v[1] : v[0];
    return v[2] < a ? (face_key){ { v[2], a, b } } : v[2] < b ? (face_key){ { a, v[2], b } } : (face_key){ { a, b, v[2] } };
}

/* The mesh's own triangles beside the surface of its tets; one that lines a face of that is there already. */
static abut_status add_triangles(abut_part *p, const abut_mesh *m, abut_err *err)
{
    const size_t n = (size_t)p->ntri;
    int32_t *all = realloc(p->tri, 3 * (n + (size_t)m->nf) * sizeof *all);
    if (all) p->tri = all;
    face_key *face = malloc((n + 1) * sizeof *face);
    if (!all || !face) {
        free(face);
        return no_memory(err, "triangles");
    }
    for (size_t i = 0; i < n; i++) face[i] = face_key_of(all + 3 * i);
    qsort(face, n, sizeof *face, abut_by_three);
    for (int32_t i = 0; i < m->nf; i++) {
        const face_key own = face_key_of(m->tri + 3 * (size_t)i);
        if (bsearch(&own, face, n, sizeof *face, abut_by_three)) continue;
        memcpy(all + 3 * (size_t)p->ntri++, m->tri + 3 * (size_t)i, 3 * sizeof *all);
    }
    free(face);
    return ABUT_OK;
}

abut_status abut_build_surface(abut_part *p, abut_err *err)
{
    const abut_mesh *m = &p->object->mesh;
    abut_status rc = abut_surface_triangles(m->tet, m->nt, m->nv, &p->tri, &p->ntri, err);
    if (rc) return rc;
    if (m->nf && (rc = add_triangles(p, m, err))) return rc;
    return abut_surface_edges(p->tri, p->ntri, m->seg, m->ns, m->nv, &p->edge, &p->nedge, err);
}

abut_status abut_build_mark_surface(abut_part *p, abut_err *err)
{
    const abut_mesh *m = &p->object->mesh;
    const int order = abut_mesh_order(m);
    int64_t *face = NULL;
    int32_t n = 0;
    p->surface = calloc((size_t)m->nv + 1, 1);
    if (!p->surface) return no_memory(err, "nodes");
    for (int32_t i = 0; i < m->nv; i++) p->surface[i] = p->vertex[i] == 0;
    abut_status rc = order > 1 ? abut_surface_faces(m->tet, m->nt, m->nv, &face, &n, err) : ABUT_OK;
    for (int32_t i = 0; i < n && !rc; i++) {
        int32_t node[ABUT_TET_NODES_MAX];
        int of_face[ABUT_FACE_NODES_MAX];
        abut_mesh_tet_nodes(m, (int32_t)(face[i] / 4), node);
        abut_tet_face_nodes(order, (int)(face[i] % 4), of_face);
        for (int k = 0; k < abut_triangle_nodes(order); k++) p->surface[node[of_face[k]]] = 1;
    }
    free(face);
    return rc;
}

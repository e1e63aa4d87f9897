#include "model/contact_check.h"

#include "mesh/surface.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* Rows of `width` vertices, found by their smallest one: list[first[v] .. first[v + 1]) are the rows of v. */
typedef struct lookup {
    const int32_t *row;
    int width;
    int32_t *first, *list;
} lookup;

/* Data shared by the checks. */
typedef struct job {
    const abut_model *m;
    int32_t *vertex;        /* [nv] collision vertex of a node, -1: it has none */
    lookup edge, triangle;
} job;

static int32_t smallest(const int32_t *v, int width)
{
    int32_t least = v[0];
    for (int k = 1; k < width; k++)
        if (v[k] < least) least = v[k];
    return least;
}

static abut_status lookup_make(lookup *l, const int32_t *row, int32_t n, int width, int32_t nc, abut_err *err)
{
    *l = (lookup){ row, width, calloc((size_t)nc + 2, sizeof *l->first), malloc(((size_t)n + 1) * sizeof *l->list) };
    if (!l->first || !l->list) return abut_fail(err, ABUT_E_NOMEM, "collision mesh: no memory for the check of %d rows", n);
    for (int32_t i = 0; i < n; i++) l->first[smallest(row + (size_t)width * (size_t)i, width) + 2]++;
    for (int32_t v = 0; v < nc; v++) l->first[v + 2] += l->first[v + 1];
    for (int32_t i = 0; i < n; i++) l->list[l->first[smallest(row + (size_t)width * (size_t)i, width) + 1]++] = i;
    return ABUT_OK;
}

/* Whether two rows of distinct vertices hold equal sets. */
static int same(const int32_t *a, const int32_t *b, int width)
{
    int found = 0;
    for (int i = 0; i < width; i++)
        for (int k = 0; k < width; k++) found += a[i] == b[k];
    return found == width;
}

static int has(const lookup *l, const int32_t *v)
{
    const int32_t low = smallest(v, l->width);
    for (int32_t k = l->first[low]; k < l->first[low + 1]; k++)
        if (same(l->row + (size_t)l->width * (size_t)l->list[k], v, l->width)) return 1;
    return 0;
}

/* Elements of `width` nodes have their row in contact/. */
static abut_status covered(const job *j, const char *what, const int32_t *node, int32_t n, int width, abut_err *err)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t *e = node + (size_t)width * (size_t)i;
        int32_t v[3] = { 0, 0, 0 };
        int missing = 0;
        for (int k = 0; k < width; k++) missing |= (v[k] = j->vertex[e[k]]) < 0;
        if (!missing && (width == 1 || has(width == 2 ? &j->edge : &j->triangle, v))) continue;
        static const char *const array[] = { "contact/node", "contact/edge", "contact/triangle" };
        char nodes[48];
        size_t used = 0;
        for (int k = 0; k < width; k++) used += (size_t)snprintf(nodes + used, sizeof nodes - used, " %d", e[k]);
        return abut_fail(err, ABUT_E_FORMAT, "array '%s' lacks %s %d (nodes%s): the collision mesh is not whole",
                         array[width - 1], what, i, nodes);
    }
    return ABUT_OK;
}

static abut_status check_sides(const job *j, abut_err *err)
{
    const abut_model *m = j->m;
    for (size_t i = 0; i < 3 * (size_t)m->nct; i++) {
        const int32_t side[2] = { m->coll_tri[i], m->coll_tri[i % 3 == 2 ? i - 2 : i + 1] };
        if (has(&j->edge, side)) continue;
        return abut_fail(err, ABUT_E_FORMAT, "array 'contact/edge' lacks a side of row %zu of 'contact/triangle' (%s %d %d): "
                         "the collision mesh is not whole", i / 3, m->coll_node ? "nodes" : "vertices",
                         m->coll_node ? m->coll_node[side[0]] : side[0], m->coll_node ? m->coll_node[side[1]] : side[1]);
    }
    return ABUT_OK;
}

static abut_status check_faces(const job *j, abut_err *err)
{
    int32_t *face = NULL, n = 0;
    if (!j->m->nt) return ABUT_OK;
    abut_status rc = abut_surface_triangles(j->m->tet, j->m->nt, j->m->nv, &face, &n, err);
    if (!rc) rc = covered(j, "outer face", face, n, 3, err);
    free(face);
    return rc;
}

abut_status abut_contact_check(const abut_model *m, int sides, abut_err *err)
{
    assert(m);
    if (!m->nc) return ABUT_OK;
    const int nodes = !m->map_first;    /* elements determine primitives of nodes alone */
    job j = { .m = m, .vertex = malloc(((size_t)m->nv + 1) * sizeof *j.vertex) };
    abut_status rc = j.vertex ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "collision mesh: no memory for %d nodes", m->nv);
    for (int32_t i = 0; i < m->nv && !rc; i++) j.vertex[i] = -1;
    for (int32_t i = 0; i < m->nc && !rc && nodes; i++) j.vertex[m->coll_node[i]] = i;
    if (!rc) rc = lookup_make(&j.edge, m->coll_edge, m->nce, 2, m->nc, err);
    if (!rc) rc = lookup_make(&j.triangle, m->coll_tri, m->nct, 3, m->nc, err);
    if (!rc && sides) rc = check_sides(&j, err);
    if (!rc && nodes) rc = check_faces(&j, err);
    if (!rc && nodes) rc = covered(&j, "shell", m->shell, m->nsh, 3, err);
    if (!rc && nodes) rc = covered(&j, "rod segment", m->rod, m->nrd, 2, err);
    if (!rc && nodes) rc = covered(&j, "particle", m->particle, m->np, 1, err);
    free(j.vertex);
    free(j.edge.first);
    free(j.edge.list);
    free(j.triangle.first);
    free(j.triangle.list);
    return rc;
}

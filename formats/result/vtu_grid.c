#include "formats/result/vtu_grid.h"

#include "model/tets.h"

#include <stdlib.h>
#include <string.h>

enum { VTK_VERTEX = 1, VTK_LINE = 3, VTK_TRIANGLE = 5, VTK_TETRA = 10, VTK_QUADRATIC_TETRA = 24, VTK_LAGRANGE_TETRAHEDRON = 71 };

void abut_vtu_grid_clear(abut_vtu_grid *g)
{
    free(g->node);
    free(g->lead);
    free(g->conn);
    free(g->offset);
    free(g->type);
    free(g->row);
    *g = (abut_vtu_grid){ 0 };
}

static abut_status grid_room(abut_vtu_grid *g, size_t points, size_t cells, size_t corners, abut_err *err)
{
    g->node = malloc((points + 1) * sizeof *g->node);
    g->lead = malloc((points + 1) * sizeof *g->lead);
    g->conn = malloc((corners + 1) * sizeof *g->conn);
    g->offset = malloc((cells + 1) * sizeof *g->offset);
    g->type = malloc(cells + 1);
    g->row = malloc((cells + 1) * sizeof *g->row);
    if (g->node && g->lead && g->conn && g->offset && g->type && g->row) return ABUT_OK;
    return abut_fail(err, ABUT_E_NOMEM, "no memory for a grid of %zu cells", cells);
}

static void add_cell(abut_vtu_grid *g, int type, const int32_t *point, int n, int32_t first)
{
    int64_t at = g->nc ? g->offset[g->nc - 1] : 0;
    for (int k = 0; k < n; k++) g->conn[at++] = first + point[k];
    g->offset[g->nc] = at;
    g->type[g->nc++] = (uint8_t)type;
}

/* Elements of a model, of any number of nodes. */
typedef struct elements {
    int32_t n;
    int most;               /* nodes of one, at most */
    /* Nodes of element e in VTK's order, the first of them its first in the model; returns how many, and the type of the cell. */
    int (*read)(const abut_model *m, int32_t e, int32_t *node, int *type);
} elements;

static int read_shell(const abut_model *m, int32_t e, int32_t *node, int *type)
{
    *type = VTK_TRIANGLE;
    memcpy(node, m->shell + 3 * (size_t)e, 3 * sizeof *node);
    return 3;
}

/* VTK orders the edges of a tet 01, 12, 20, 03, 13, 23, and has orders of its own of faces and their nodes: VTK's node i is
 * node place[i] of ours, by order. */
static const signed char place2[] = { 0, 1, 2, 3, 4, 5, 6, 7, 9, 8 };
static const signed char place3[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 10, 15, 14, 13, 12, 17, 19, 18, 16 };
static const signed char place4[] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 15, 14, 13, 21, 20,
                                      19, 18, 17, 16, 25, 26, 27, 33, 31, 32, 28, 29, 30, 22, 23, 24, 34 };

static int read_tet(const abut_model *m, int32_t e, int32_t *node, int *type)
{
    static const signed char *const place[] = { NULL, NULL, place2, place3, place4 };
    int32_t ours[ABUT_TET_NODES_MAX];
    const int order = abut_tet_order(m, e), n = abut_tet_corners(m, e, ours);
    *type = order == 1 ? VTK_TETRA : order == 2 ? VTK_QUADRATIC_TETRA : VTK_LAGRANGE_TETRAHEDRON;
    for (int i = 0; i < n; i++) node[i] = ours[place[order] ? place[order][i] : i];
    return n;
}

/* Makes the grid of the elements of chosen objects, and their nodes. */
static abut_status make_elements(const abut_shot *s, const char *stem, elements all, abut_vtu_grid *g, abut_err *err)
{
    const abut_model *m = s->model;
    int32_t *local = malloc(((size_t)m->nv + 1) * sizeof *local), node[ABUT_TET_NODES_MAX];
    abut_status rc = local ? grid_room(g, (size_t)m->nv, (size_t)all.n, (size_t)all.most * (size_t)all.n, err)
                           : abut_fail(err, ABUT_E_NOMEM, "no memory for a grid of %d points", m->nv);
    int type;
    g->stem = stem;
    if (!rc) {
        for (int32_t i = 0; i < m->nv; i++) local[i] = -1;
        for (int32_t e = 0; e < all.n; e++) {
            const int n = all.read(m, e, node, &type);
            for (int k = 0; k < n && s->parts->chosen[node[0]]; k++) local[node[k]] = 0;
        }
        for (int32_t i = 0; i < m->nv; i++)
            if (local[i] == 0) {
                local[i] = g->np;
                g->node[g->np] = g->lead[g->np] = i;
                g->np++;
            }
        for (int32_t e = 0; e < all.n; e++) {
            const int n = all.read(m, e, node, &type);
            if (!s->parts->chosen[node[0]]) continue;
            for (int k = 0; k < n; k++) node[k] = local[node[k]];
            g->row[g->nc] = e;
            add_cell(g, type, node, n, 0);
        }
    }
    free(local);
    return rc;
}

abut_status abut_vtu_tets(const abut_shot *s, const char *stem, abut_vtu_grid *g, abut_err *err)
{
    const elements tets = { s->model->nt, abut_tet_nodes(abut_model_order(s->model)), read_tet };
    return make_elements(s, stem, tets, g, err);
}

abut_status abut_vtu_shells(const abut_shot *s, const char *stem, abut_vtu_grid *g, abut_err *err)
{
    return make_elements(s, stem, (elements){ s->model->nsh, 3, read_shell }, g, err);
}

static int32_t other_triangles(const abut_part *p)
{
    return p->obstacle || p->proxy ? p->ntri : 0;
}

abut_status abut_vtu_others(const abut_shot *s, const char *stem, abut_vtu_grid *g, abut_err *err)
{
    size_t np = 0, nc = 0;
    for (int32_t k = 0; k < s->parts->n; k++) {
        const abut_part *p = &s->parts->part[k];
        if (!other_triangles(p) && !p->nseg && !p->npoint) continue;
        np += (size_t)p->nv;
        nc += (size_t)other_triangles(p) + (size_t)p->nseg + (size_t)p->npoint;
    }
    const abut_status rc = grid_room(g, np, nc, 3 * nc, err);
    g->stem = stem;
    if (rc) return rc;
    free(g->row);
    g->row = NULL;
    for (int32_t k = 0; k < s->parts->n; k++) {
        const abut_part *p = &s->parts->part[k];
        if (!other_triangles(p) && !p->nseg && !p->npoint) continue;
        for (int32_t i = 0; i < other_triangles(p); i++) add_cell(g, VTK_TRIANGLE, p->tri + 3 * i, 3, g->np);
        for (int32_t i = 0; i < p->nseg; i++) add_cell(g, VTK_LINE, p->seg + 2 * i, 2, g->np);
        for (int32_t i = 0; i < p->npoint; i++) add_cell(g, VTK_VERTEX, p->point + i, 1, g->np);
        for (int32_t i = 0; i < p->nv; i++, g->np++) {
            g->node[g->np] = p->node[i];
            g->lead[g->np] = s->parts->lead[p->node[i]];
        }
    }
    return ABUT_OK;
}

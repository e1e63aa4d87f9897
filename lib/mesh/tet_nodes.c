#include "mesh/tet_nodes.h"

#include "base/words.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys ---- */

abut_node_key abut_node_key_of(const int32_t corner[4], const signed char a[4])
{
    abut_node_key k = { { -1, -1, -1, -1 }, { 0 } };
    int n = 0;
    for (int c = 0; c < 4; c++) {
        if (!a[c]) continue;
        int at = n++;
        for (; at > 0 && k.corner[at - 1] > corner[c]; at--) {
            k.corner[at] = k.corner[at - 1];
            k.weight[at] = k.weight[at - 1];
        }
        k.corner[at] = corner[c];
        k.weight[at] = a[c];
    }
    return k;
}

int abut_node_key_size(const abut_node_key *k)
{
    int n = 0;
    while (n < 4 && k->weight[n]) n++;
    return n;
}

int abut_node_key_compare(const abut_node_key *a, const abut_node_key *b)
{
    const int na = abut_node_key_size(a), nb = abut_node_key_size(b);
    if (na != nb) return na - nb;
    for (int c = 0; c < na; c++)
        if (a->corner[c] != b->corner[c]) return a->corner[c] < b->corner[c] ? -1 : 1;
    for (int c = 0; c < na; c++)
        if (a->weight[c] != b->weight[c]) return b->weight[c] - a->weight[c];     /* along the edge from its lower corner */
    return 0;
}

/* ---- conforming tets ---- */

/* A node, its key, and the first tet that has it; -1: none. */
typedef struct known_node {
    abut_node_key key;
    int32_t tet, node;
} known_node;

static int by_key_and_node(const void *a, const void *b)
{
    const known_node *p = a, *q = b;
    const int by = abut_node_key_compare(&p->key, &q->key);
    return by ? by : (p->node > q->node) - (p->node < q->node);
}

static int order_of(int nodes)
{
    int order = 1;
    while (abut_tet_nodes(order) < nodes) order++;
    return order;
}

/* Finds the key of each node, list[nv], which must be the same in all its tets. */
static abut_status keys_of_nodes(const void *of, abut_tet_reader *read, int32_t nt, known_node *list, abut_err *err)
{
    for (int32_t t = 0; t < nt; t++) {
        int32_t node[ABUT_TET_NODES_MAX];
        const int n = read(of, t, node);
        const signed char(*lattice)[4] = abut_tet_lattice(order_of(n));
        for (int c = 0; c < n; c++) {
            const known_node p = { abut_node_key_of(node, lattice[c]), t, node[c] };
            known_node *known = list + node[c];
            if (known->tet < 0) *known = p;
            if (abut_node_key_compare(&known->key, &p.key) != 0)
                return abut_fail(err, ABUT_E_FORMAT, "node %d is at two places, one in tet %d and another in tet %d: expected "
                                 "one", node[c], known->tet, t);
        }
    }
    return ABUT_OK;
}

abut_status abut_tets_conforming(const void *of, abut_tet_reader *read, int32_t nt, int32_t nv, abut_err *err)
{
    known_node *list = malloc(((size_t)nv + 1) * sizeof *list);
    if (!list) return abut_fail(err, ABUT_E_NOMEM, "no memory for the places of %d nodes", nv);
    for (int32_t i = 0; i < nv; i++) list[i].tet = -1;
    abut_status rc = keys_of_nodes(of, read, nt, list, err);
    size_t n = 0;
    for (int32_t i = 0; i < nv && !rc; i++)
        if (list[i].tet >= 0) list[n++] = list[i];
    if (!rc) qsort(list, n, sizeof *list, by_key_and_node);
    for (size_t i = 1; i < n && !rc; i++)
        if (!abut_node_key_compare(&list[i - 1].key, &list[i].key))
            rc = abut_fail(err, ABUT_E_FORMAT, "tets %d and %d have the nodes %d and %d at one place of what they have in "
                           "common: expected one node", list[i - 1].tet, list[i].tet, list[i - 1].node, list[i].node);
    free(list);
    return rc;
}

/* ---- orders ---- */

/* A node of a tet beyond its corners. */
typedef struct place {
    abut_node_key key;
    int32_t tet, slot;      /* number of the node in the lattice of the tet */
} place;

static int by_key(const void *a, const void *b)
{
    const place *p = a, *q = b;
    const int by = abut_node_key_compare(&p->key, &q->key);
    if (by) return by;
    if (p->tet != q->tet) return p->tet < q->tet ? -1 : 1;
    return p->slot - q->slot;
}

int abut_mesh_tet_places(const abut_mesh *m, int32_t t, double X[ABUT_TET_NODES_MAX][3])
{
    int32_t node[ABUT_TET_NODES_MAX];
    const int n = abut_mesh_tet_nodes(m, t, node);
    for (int i = 0; i < n; i++) memcpy(X[i], m->x + 3 * (size_t)node[i], sizeof X[i]);
    return n;
}

/* Lists the nodes beyond corners of all tets at that order, by their keys.  The caller frees *list. */
static abut_status list_places(const abut_mesh *m, int order, place **list, size_t *n, abut_err *err)
{
    const int nodes = abut_tet_nodes(order);
    const signed char(*a)[4] = abut_tet_lattice(order);
    place *p = malloc(((size_t)m->nt * (size_t)(nodes - 4) + 1) * sizeof *p);
    if (!p) return abut_fail(err, ABUT_E_NOMEM, "order %d: no memory for the nodes of %d tets", order, m->nt);
    size_t k = 0;
    for (int32_t t = 0; t < m->nt; t++)
        for (int i = 4; i < nodes; i++) p[k++] = (place){ abut_node_key_of(m->tet + 4 * (size_t)t, a[i]), t, i };
    qsort(p, k, sizeof *p, by_key);
    *list = p;
    *n = k;
    return ABUT_OK;
}

/* Position of a place.  For straight tets, sums over the corners in the order of the key: the result is equal for all tets. */
static void locate(const abut_mesh *m, int order, const place *p, double x[3])
{
    if (abut_mesh_order(m) == 1) {
        x[0] = x[1] = x[2] = 0;
        for (int c = 0; c < 4 && p->key.weight[c]; c++)
            for (int d = 0; d < 3; d++) x[d] += p->key.weight[c] * m->x[3 * (size_t)p->key.corner[c] + (size_t)d];
        for (int d = 0; d < 3; d++) x[d] /= order;
        return;
    }
    double X[ABUT_TET_NODES_MAX][3], L[4];
    const signed char *a = abut_tet_lattice(order)[p->slot];
    for (int c = 0; c < 4; c++) L[c] = (double)a[c] / order;
    abut_mesh_tet_places(m, p->tet, X);
    abut_tet_point(abut_mesh_order(m), (const double(*)[3])X, L, x, NULL);
}

static void mark(uint8_t *named, const int32_t *e, size_t n)
{
    for (size_t i = 0; i < n; i++) named[e[i]] = 1;
}

static void renumber(int32_t *e, size_t n, const int32_t *number)
{
    for (size_t i = 0; i < n; i++) e[i] = number[e[i]];
}

/* Removes points listed in `more` (inner nodes of tets) that no element refers to any longer. */
static abut_status drop_inner(abut_mesh *m, const int32_t *more, size_t nmore, abut_err *err)
{
    uint8_t *inner = calloc((size_t)m->nv + 1, 1);
    int32_t *number = malloc(((size_t)m->nv + 1) * sizeof *number), n = 0;
    if (!inner || !number) {
        free(inner), free(number);
        return abut_fail(err, ABUT_E_NOMEM, "mesh: no memory for %d numbers", m->nv);
    }
    mark(inner, more, nmore);
    const struct {
        int32_t *e;
        size_t n;
    } list[] = { { m->tet, 4 * (size_t)m->nt }, { m->more, (size_t)abut_mesh_more(m) * (size_t)m->nt },
                 { m->tri, 3 * (size_t)m->nf }, { m->seg, 2 * (size_t)m->ns }, { m->point, (size_t)m->np } };
    enum { LISTS = sizeof list / sizeof *list };
    for (int k = 0; k < LISTS; k++)
        for (size_t i = 0; i < list[k].n; i++) inner[list[k].e[i]] = 0;
    for (int32_t i = 0; i < m->nv; i++) {
        number[i] = n;
        if (!inner[i]) memmove(m->x + 3 * (size_t)n++, m->x + 3 * (size_t)i, 3 * sizeof *m->x);
    }
    m->nv = n;
    for (int k = 0; k < LISTS; k++) renumber(list[k].e, list[k].n, number);
    free(inner), free(number);
    return ABUT_OK;
}

/* Adds a point for each distinct key, and writes its number into more[nt * inner]. */
static abut_status number_places(abut_mesh *m, int order, const place *list, size_t n, int32_t *more, abut_err *err)
{
    const size_t inner = (size_t)abut_tet_nodes(order) - 4;
    abut_status rc = ABUT_OK;
    const abut_mesh shape = *m;         /* its tets as they were; its points may move in memory */
    for (size_t i = 0; i < n && !rc; i++) {
        double x[3];
        if (i == 0 || abut_node_key_compare(&list[i - 1].key, &list[i].key) != 0) {
            abut_mesh now = shape;
            now.x = m->x;
            locate(&now, order, &list[i], x);
            rc = abut_mesh_add_vertex(m, x, err);
        }
        more[inner * (size_t)list[i].tet + (size_t)list[i].slot - 4] = m->nv - 1;
    }
    return rc;
}

abut_status abut_mesh_order_bound(const abut_mesh *m, int order, double *points, abut_err *err)
{
    const int inner = order - 1, face = inner * (order - 2) / 2, tet = face * (order - 3) / 3, before = abut_mesh_order(m);
    const double corners = before == 1 ? m->nv : 0, new_ones = (double)m->nt * (inner + 2 * face + tet);
    const char *const others = *points > 0 ? " with all objects before this one" : "";
    *points += order == before ? m->nv : corners + new_ones;
    if (*points <= ABUT_POINTS_MOST) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "order %d of %d tet%s: about %.3g points%s: expected at most %g", order, m->nt,
                     abut_s(m->nt), *points, others, ABUT_POINTS_MOST);
}

abut_status abut_mesh_set_order(abut_mesh *m, int order, abut_err *err)
{
    assert(order >= 1 && order <= ABUT_ORDER_MAX);
    const int before = abut_mesh_order(m);
    if (!m->nt || order == before) return ABUT_OK;
    double points = 0;
    abut_status rc = abut_mesh_order_bound(m, order, &points, err);
    if (rc) return rc;
    const size_t inner = (size_t)abut_tet_nodes(order) - 4;
    place *list = NULL;
    size_t n = 0;
    int32_t *more = malloc(((size_t)m->nt * inner + 1) * sizeof *more), *old = m->more;
    rc = more ? list_places(m, order, &list, &n, err)
              : abut_fail(err, ABUT_E_NOMEM, "order %d: no memory for the nodes of %d tets", order, m->nt);
    if (!rc) rc = number_places(m, order, list, n, more, err);
    if (!rc) {
        const size_t nold = (size_t)abut_mesh_more(m) * (size_t)m->nt;
        m->more = more;
        m->order = order;
        m->cap[5] = m->nt;
        more = NULL;
        rc = drop_inner(m, old, nold, err);
        free(old);
    }
    free(more);
    free(list);
    return rc;
}

static int read_tet(const void *mesh, int32_t t, int32_t node[ABUT_TET_NODES_MAX])
{
    return abut_mesh_tet_nodes(mesh, t, node);
}

abut_status abut_mesh_conforming(const abut_mesh *m, abut_err *err)
{
    return abut_tets_conforming(m, read_tet, m->nt, m->nv, err);
}

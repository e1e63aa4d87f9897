#include "mesh/conforming.h"

#include "mesh/node_key.h"

#include <stdlib.h>

/* Place of a node by its key in the first tet that has it; tet -1: no tet has it. */
typedef struct place {
    abut_node_key key;
    int32_t tet, node;
} place;

static int by_key(const void *a, const void *b)
{
    const place *p = a, *q = b;
    const int by = abut_node_key_compare(&p->key, &q->key);
    return by ? by : (p->node > q->node) - (p->node < q->node);
}

static int order_of(int nodes)
{
    int order = 1;
    while (abut_tet_nodes(order) < nodes) order++;
    return order;
}

/* One key for each node, over all tets: list[nv]. */
static abut_status keys_of_nodes(const void *of, abut_tet_reader *read, int32_t nt, place *list, abut_err *err)
{
    for (int32_t t = 0; t < nt; t++) {
        int32_t node[ABUT_TET_NODES_MAX];
        const int n = read(of, t, node);
        const signed char(*lattice)[4] = abut_tet_lattice(order_of(n));
        for (int c = 0; c < n; c++) {
            const place p = { abut_node_key_of(node, lattice[c]), t, node[c] };
            place *known = list + node[c];
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
    place *list = malloc(((size_t)nv + 1) * sizeof *list);
    if (!list) return abut_fail(err, ABUT_E_NOMEM, "no memory for the places of %d nodes", nv);
    for (int32_t i = 0; i < nv; i++) list[i].tet = -1;
    abut_status rc = keys_of_nodes(of, read, nt, list, err);
    size_t n = 0;
    for (int32_t i = 0; i < nv && !rc; i++)
        if (list[i].tet >= 0) list[n++] = list[i];
    if (!rc) qsort(list, n, sizeof *list, by_key);
    for (size_t i = 1; i < n && !rc; i++)
        if (!abut_node_key_compare(&list[i - 1].key, &list[i].key))
            rc = abut_fail(err, ABUT_E_FORMAT, "tets %d and %d have the nodes %d and %d at one place of what they have in "
                           "common: expected one node", list[i - 1].tet, list[i].tet, list[i - 1].node, list[i].node);
    free(list);
    return rc;
}

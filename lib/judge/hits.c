/* The list of hits. */
#include "judge/judge.h"

#include "base/order.h"

#include <stdlib.h>

static const struct {
    const char *name;
    int nodes, first;
} kinds[] = {
    [ABUT_HIT_POINT_POINT] = { "vertex-vertex", 2, 1 },  [ABUT_HIT_POINT_EDGE] = { "vertex-edge", 3, 1 },
    [ABUT_HIT_POINT_TRI] = { "vertex-triangle", 4, 1 },  [ABUT_HIT_EDGE_EDGE] = { "edge-edge", 4, 2 },
    [ABUT_HIT_EDGE_TRI] = { "edge-triangle", 5, 2 },     [ABUT_HIT_POINT_TET] = { "vertex in tet", 5, 1 },
    [ABUT_HIT_POINT_BODY] = { "vertex in body", 1, 1 },
    [ABUT_HIT_PLANE] = { "vertex-half-space", 1, 1 },    [ABUT_HIT_FOLD] = { "folded triangles", 4, 2 },
    [ABUT_HIT_DUPLICATE] = { "duplicate triangle", 3, 3 }, [ABUT_HIT_INVERTED] = { "inverted tet", 4, 4 },
    [ABUT_HIT_FLAT_TRI] = { "triangle without area", 3, 3 }, [ABUT_HIT_FLAT_EDGE] = { "edge without length", 2, 2 },
};

const char *abut_hit_name(abut_hit_kind kind) { return kinds[kind].name; }

int abut_hit_nodes(abut_hit_kind kind, int *first)
{
    *first = kinds[kind].first;
    return kinds[kind].nodes;
}

abut_status abut_hits_add(abut_hits *h, const abut_hit *hit, abut_err *err)
{
    if (h->n == h->cap) {
        const size_t cap = h->cap ? 2 * h->cap : 64;
        abut_hit *more = realloc(h->hit, cap * sizeof *more);
        if (!more) return abut_fail(err, ABUT_E_NOMEM, "judge: a list of %zu collisions", cap);
        h->hit = more;
        h->cap = cap;
    }
    h->hit[h->n++] = *hit;
    return ABUT_OK;
}

static int in_order(const void *pa, const void *pb)
{
    const abut_hit *const a = pa, *const b = pb;
    if (a->t_lo != b->t_lo) return a->t_lo < b->t_lo ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    const int by = abut_compare(a->node, b->node, 5);
    return by ? by : (a->item > b->item) - (a->item < b->item);
}

void abut_hits_sort(abut_hits *h)
{
    if (h->n) qsort(h->hit, h->n, sizeof *h->hit, in_order);
}

void abut_hits_clear(abut_hits *h)
{
    free(h->hit);
    *h = (abut_hits){ .n = 0 };
}

#include "mesh/node_key.h"

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

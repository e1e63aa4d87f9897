/* Candidate i of all lists together. */
#ifndef ABUT_GPU_NEAR_INLINE_H
#define ABUT_GPU_NEAR_INLINE_H

#include "contact/near_inline.h"
#include "gpu/kernels_contact.h"

typedef struct abut_near_pair {
    abut_stencil kind;
    int32_t i, j, v[4];
    double xi;
} abut_near_pair;

ABUT_FN abut_near_pair abut_near_at(const abut_near_view *n, size_t i)
{
    abut_near_pair p;
    uint32_t l = 0;
    while (l + 1 < ABUT_NEAR_LISTS && i >= n->end[l]) l++;
    const int32_t *ij = n->ij[l] + 2 * (i - (l ? n->end[l - 1] : 0));
    p.kind = l == 0 ? ABUT_PT : l == 1 ? ABUT_EE : l == 2 ? ABUT_PE : ABUT_PP;     /* as abut_candidates_kind */
    p.i = ij[0];
    p.j = ij[1];
    abut_near_vertices(p.kind, n->edge, n->tri, p.i, p.j, p.v);
    p.xi = abut_near_xi(p.kind, n->xi, p.v);
    return p;
}

#endif

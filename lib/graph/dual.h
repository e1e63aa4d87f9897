/* The dual graph of a tetrahedral mesh: elements are neighbours if they share a face.  Quality of its partitions. */
#ifndef ABUT_GRAPH_DUAL_H
#define ABUT_GRAPH_DUAL_H

#include "base/err.h"

#include <stdint.h>

/* Neighbours of element e: adj[ptr[e] .. ptr[e+1]).  Zero-filled is empty. */
typedef struct abut_dual {
    int32_t nt;
    int32_t *ptr;   /* [nt + 1] */
    int32_t *adj;   /* every shared face twice, once from each side */
} abut_dual;

/** Matches the faces of nt tets (tet[4 nt] of nv nodes).  If more than 2 tets have a common face, each is linked to the next.
 * Fails  ABUT_E_ARG a node outside 0 .. nv-1, nt of 2^29 or more; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_dual_make(abut_dual *d, int32_t nv, int32_t nt, const int32_t *tet, abut_err *err);

/** Labels the connected pieces of each part: piece[nt] in 0 .. return-1, numbered by their first element. */
int32_t abut_dual_pieces(const abut_dual *d, const int32_t *part, int32_t *piece, int32_t *stack);

/** Gives each piece of a part other than its largest to the neighbouring part with most common faces.  Pieces without
 * neighbours (separate bodies) stay. */
ABUT_MUST_USE abut_status abut_dual_mend(const abut_dual *d, int32_t k, int32_t *part, abut_err *err);

/** Dual edges between different parts. */
int64_t abut_dual_cut(const abut_dual *d, const int32_t *part);

void abut_dual_clear(abut_dual *d);

#endif

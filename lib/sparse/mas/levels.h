/* Levels of nodes for a multilevel Schwarz preconditioner (Wu, Wang and Wang 2022).  Nodes of level 0 are the rows of a matrix
 * along a Hilbert curve through their positions.  Each ABUT_MAS_ROWS consecutive nodes are a domain.  Nodes that the matrix
 * connects within a domain, directly or by other nodes of it, become one node of the next level.  So bodies in one domain that do
 * not touch stay separate nodes.  Equal for every thread count. */
#ifndef ABUT_SPARSE_MAS_LEVELS_H
#define ABUT_SPARSE_MAS_LEVELS_H

#include "sparse/operator.h"

enum { ABUT_MAS_ROWS = 16 /* nodes of a domain */, ABUT_MAS_LEVELS = 8 };

typedef struct abut_mas_level {
    int32_t n;
    int32_t *up;            /* [n] their nodes of the next level; NULL in the last */
    int32_t *first, *child; /* [n + 1], [first[n]] nodes of the level below, ascending; NULL in level 0 */
} abut_mas_level;

/* Zero-filled is empty. */
typedef struct abut_mas_levels {
    int32_t n;              /* rows */
    int32_t *row, *place;   /* [n] the row that is node k of level 0, and the reverse */
    int levels;
    abut_mas_level level[ABUT_MAS_LEVELS];
} abut_mas_levels;

/** Makes at most `most` levels, 1 .. ABUT_MAS_LEVELS; fewer if one domain holds a level, or if no nodes of a level are connected.
 * Reads of A its pattern, or the rows of its elements, and `where`; without `where` nodes are in the order of their rows.
 * Fails  ABUT_E_ARG neither a matrix nor its elements are known; ABUT_E_NOMEM.  *s is then empty */
ABUT_MUST_USE abut_status abut_mas_levels_make(abut_mas_levels *s, const abut_operator *A, int most, abut_err *err);
void abut_mas_levels_clear(abut_mas_levels *s);

/** Domains of n nodes. */
static inline int32_t abut_mas_domains(int32_t n)
{
    return (n + ABUT_MAS_ROWS - 1) / ABUT_MAS_ROWS;
}

#endif

/* Graphs of nodes and elements, ordered and cut by METIS.  The only file that includes metis.h is graph.c. */
#ifndef ABUT_PART_GRAPH_H
#define ABUT_PART_GRAPH_H

#include "linalg/bsr.h"

/** Nested-dissection ordering of the block rows of A: perm[k] = row eliminated k-th.  The same bits for every thread count. */
ABUT_MUST_USE abut_status abut_graph_order(const abut_bsr *A, int32_t *perm, abut_err *err);

typedef struct abut_partition_stats {
    int64_t cut;            /* dual edges (shared faces) between parts */
    double balance;         /* largest part / mean part */
    int32_t smallest, largest;
    int32_t interface_nodes;/* nodes whose elements lie in more than one part */
} abut_partition_stats;

/** Cuts nt tets (node[4 nt] of nv nodes) into k parts along few faces: part[nt] in 0 .. k-1. */
ABUT_MUST_USE abut_status abut_partition_tets(int32_t nv, int32_t nt, const int32_t *tet, int32_t k, int32_t *part,
                                              abut_partition_stats *stats, abut_err *err);

#endif

/* Graphs of nodes and elements, ordered and cut by METIS, or ordered by AMD; points ordered along a curve.  The only file that
 * includes metis.h and amd.h is graph.c.
 *
 * The seed is fixed and METIS runs on one thread: the same input gives the same answer, always.  METIS draws from the C
 * library's rand and, while it runs, catches SIGABRT and SIGTERM: one call at a time in a process. */
#ifndef ABUT_GRAPH_GRAPH_H
#define ABUT_GRAPH_GRAPH_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* A graph of n vertices by rows: vertex i itself, then its neighbours of higher number, ascending.  So an edge is in the row of
 * its lower end alone.  Borrows its arrays. */
typedef struct abut_graph {
    int32_t n;
    const size_t *first;    /* [n + 1] */
    const int32_t *col;     /* [first[n]] */
} abut_graph;

/** Both directions of each edge of a graph whose rows may be empty here: neighbours of vertex i, ascending, i not among them, are
 * next[first[i]] .. next[first[i + 1] - 1].  The caller frees both.  Fails  ABUT_E_NOMEM; both are then NULL */
ABUT_MUST_USE abut_status abut_graph_neighbours(abut_graph G, size_t **first, int32_t **next, abut_err *err);

/** Nested-dissection ordering of the vertices, rows of a symmetric matrix: perm[k] = row eliminated k-th.  The same bits for
 * every thread count.
 * Fails  ABUT_E_ARG more than 2^31 neighbours; ABUT_E_NOMEM; ABUT_E_NUMERIC METIS gives up */
ABUT_MUST_USE abut_status abut_graph_order_nested_dissection(abut_graph G, int32_t *perm, abut_err *err);

typedef struct abut_graph_fill {
    double nnz, flops;      /* of the factor of a matrix of 3x3 blocks on the graph; flops: multiplications and additions */
} abut_graph_fill;

/** Ordering by approximate minimum degree (Amestoy, Davis and Duff 1996): faster, and as good for many small bodies in contact,
 * but not for large bodies.  fill: size and cost of a factor in that order, before small supernodes are merged.
 * Fails  ABUT_E_ARG more than 2^31 edges; ABUT_E_NOMEM; ABUT_E_NUMERIC AMD gives up */
ABUT_MUST_USE abut_status abut_graph_order_amd(abut_graph G, int32_t *perm, abut_graph_fill *fill, abut_err *err);

/** order[n]: the points x[3 n] group by group; a group is ordered along a Hilbert curve through the cube around it, and points of
 * one cell keep their order.  The same for any thread count.
 *
 * group    [n] in 0 .. ngroups - 1
 * Fails    ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_curve_order(size_t n, const double *x, const int32_t *group, int32_t ngroups, int32_t *order,
                                           abut_err *err);

/** Cuts the vertices into k parts of about the same size along few edges: part[n] in 0 .. k-1, none empty.
 * Multilevel k-way cut of the graph (Karypis and Kumar 1998).  weight[first[n]], by rows as G.col: weights > 0 of edges, of which
 * those cut have a small sum (entries of a vertex itself are not read); NULL: all equal.
 * Fails  ABUT_E_ARG k < 1, k > n, more than 2^31 neighbours; ABUT_E_NOMEM; ABUT_E_NUMERIC METIS gives up */
ABUT_MUST_USE abut_status abut_graph_cut(abut_graph G, const int32_t *weight, int32_t k, int32_t *part, abut_err *err);

typedef struct abut_partition_stats {
    int64_t faces;          /* dual edges: faces that two tets share */
    int64_t cut;            /* dual edges between parts */
    double balance;         /* largest part / mean part, by weight */
    int32_t smallest, largest;
    int32_t interface_nodes;/* nodes whose elements lie in more than one part */
    int32_t split;          /* parts in more than one piece: only where bodies are separate */
} abut_partition_stats;

/* How a mesh is cut.  Zero-filled is the default. */
typedef struct abut_cut_opts {
    int recursive;          /* 1: by repeated bisection, 0: into k parts at once */
    int by_nodes;           /* 1: the nodes are cut, along few edges of tets; a tet is in the part of most of its nodes, of equals
                             * in the lowest */
    const double *weight;   /* [nt], or [nv] by nodes: parts have about the same sum; NULL: the same number */
} abut_cut_opts;

/** Cuts a mesh as abut_partition_tets, by the method `how`.
 *
 * node     [nv], with by_nodes: parts of nodes, -1 for nodes without tets; NULL: not wanted
 * Fails    as abut_partition_tets; ABUT_E_ARG a weight that is negative or not finite, or all of them 0 */
ABUT_MUST_USE abut_status abut_partition_mesh(int32_t nv, int32_t nt, const int32_t *tet, int32_t k, const abut_cut_opts *how,
                                              int32_t *part, int32_t *node, abut_partition_stats *stats, abut_err *err);

/** Cuts nt tets (node[4 nt] of nv nodes) into k parts along few faces: part[nt] in 0 .. k-1.
 *
 * No part is empty.  A piece that METIS cut off its part is given to the neighbour with most common faces, so a part is
 * connected through faces unless it holds separate bodies.  Multilevel k-way cut of the dual graph (Karypis and Kumar 1998).
 * Fails  ABUT_E_ARG k < 1, k > nt, a node outside 0 .. nv-1; ABUT_E_NOMEM; ABUT_E_NUMERIC METIS gives up; ABUT_E_ARG
 *        it leaves a part empty */
ABUT_MUST_USE abut_status abut_partition_tets(int32_t nv, int32_t nt, const int32_t *tet, int32_t k, int32_t *part,
                                              abut_partition_stats *stats, abut_err *err);

/* Dual graph of a tetrahedral mesh: elements are neighbours if they share a face.  Those of element e are
 * adj[ptr[e] .. ptr[e+1]).  Zero-filled is empty. */
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

void abut_dual_clear(abut_dual *d);

#endif

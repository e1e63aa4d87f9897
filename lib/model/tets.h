/* Tets of a model with all their nodes.
 *
 * A tet of order k has (k + 1)(k + 2)(k + 3)/6 nodes, in the order of MSH files: its corners, then edges, faces and interior.
 * `tet/node` has the corners of every tet, `tet/more` the others, tet by tet, from the row `tet/first` of each.  A model without
 * `tet/order` has tets of order 1 alone.  m->tet has the corners of tets of every order. */
#ifndef ABUT_MODEL_TETS_H
#define ABUT_MODEL_TETS_H

#include "geom/lagrange.h"
#include "model/model.h"

static inline int abut_tet_order(const abut_model *m, int32_t t)
{
    return m->tet_order ? (int)m->tet_order[t] : 1;
}

/** All nodes of tet t, corners first; returns how many. */
static inline int abut_tet_corners(const abut_model *m, int32_t t, int32_t node[ABUT_TET_NODES_MAX])
{
    const int n = abut_tet_nodes(abut_tet_order(m, t));
    for (int c = 0; c < 4; c++) node[c] = m->tet[4 * (size_t)t + (size_t)c];
    for (int c = 4; c < n; c++) node[c] = m->tet_more[(size_t)m->tet_first[t] + (size_t)c - 4];
    return n;
}

/** Positions out[n][3] of all nodes of tet t at x[3 nv], or what p[3 nv] is there; returns its order. */
int abut_tet_gather(const abut_model *m, int32_t t, const double *x, double out[ABUT_TET_NODES_MAX][3]);

/** Nodes of the shape of tet t at x[3 nv], and their displacement if nodes move by p[3 nv].  The nodes are those of
 * abut_tet_gather, or of the tet's geometry if that has a higher order, moved by the displacement there.  Both return the order
 * of the shape. */
int abut_tet_shape(const abut_model *m, int32_t t, const double *x, double out[ABUT_TET_NODES_MAX][3]);
int abut_tet_motion(const abut_model *m, int32_t t, const double *p, double out[ABUT_TET_NODES_MAX][3]);

/** Order of the rest shape of tet t: at least that of its displacement. */
static inline int abut_tet_geometry_order(const abut_model *m, int32_t t)
{
    return m->geo_order && m->geo_order[t] > abut_tet_order(m, t) ? (int)m->geo_order[t] : abut_tet_order(m, t);
}

/** Rest places of the nodes of its geometry, m, in the same order; returns how many. */
int abut_tet_geometry(const abut_model *m, int32_t t, double X[3 * ABUT_TET_NODES_MAX]);

/** Number of tets of order 1 before the first of another order; in a solver's order (model/tets.h), all of order 1. */
int32_t abut_linear_tets_first(const abut_model *m);

/** The highest order among the tets; 1 without tets. */
int abut_model_order(const abut_model *m);

/** ABUT_OK when all tets have order 1; else fails for a program or a solver that knows no others.
 * who  "solver pd", "tear", ...
 * Fails  ABUT_E_FORMAT "WHO: tets of order 2, expected order 1" */
ABUT_MUST_USE abut_status abut_linear_tets(const abut_model *m, const char *who, abut_err *err);

/* A partition of the tets: part/count and part/element of the MODEL (formats/STATE.md), made by decompose.  Zero-filled is
 * none. */
typedef struct abut_partition {
    int32_t k;              /* parts */
    const int32_t *part;    /* [nt] in 0 .. k-1; borrowed */
} abut_partition;

/** The partition of nt tets among the arrays of a model; none (part NULL) when there is none.
 * Fails  ABUT_E_FORMAT one of the two arrays alone, of another type or length, a part outside 0 .. k-1 */
ABUT_MUST_USE abut_status abut_partition_view(const abut_arrays *model, int32_t nt, abut_partition *out, abut_err *err);

/** Checks the arrays of tets of order 2 and more, after the corners of tets are in range: tet/order, tet/first and tet/more
 * agree, the nodes of a tet are of one object and its tets of one order; degrees of quadrature suffice.
 * Fails  ABUT_E_FORMAT naming the array, the row, the value and what was expected; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_tets_check(const abut_model *m, abut_err *err);

/* A model with its tets reordered for solvers.
 *
 * Mesh generators leave nodes and tets in no order: a thousand consecutive tets have some 2800 different nodes instead of 300.
 * Loops over them wait for memory.  Here tets follow a curve through the rest shape, object by object, those of order 1 first.
 * Nodes keep their numbers, which frames, messages and contacts use; `node` is an order for a solver's own numbering. */
enum { ABUT_REORDERED_ROWS = 9 };
typedef struct abut_reordered {
    abut_model model;       /* arrays with a row for each tet are in row[]; all others are borrowed from the given model.
                             * tet_first and geo_first do not ascend */
    int32_t *number;        /* [nt] number of a tet there */
    int32_t *node;          /* [nv] nodes as the tets come to them, then those without tets, ascending */
    void *row[ABUT_REORDERED_ROWS];
} abut_reordered;

/** Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_reordered_new(abut_reordered **a, const abut_model *m, abut_err *err);
/** The number of tet t of a->model within its object, in the order of the model that was given. */
int32_t abut_reordered_tet_number(const abut_reordered *a, int32_t t);
void abut_reordered_free(abut_reordered **a);

#endif

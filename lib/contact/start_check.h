/* May a simulation start here?  Contact needs every distance to be more than the thickness of the pair. */
#ifndef ABUT_CONTACT_START_CHECK_H
#define ABUT_CONTACT_START_CHECK_H

#include "contact/collision_mesh.h"
#include "model/naming.h"

#include <stddef.h>

/* Smallest gaps of a scene. */
typedef struct abut_start_gap {
    double gap;         /* m: smallest distance less thickness within reach; +inf: none is within reach */
    char text[400];     /* the two primitives with this gap */
    int64_t fine;       /* pairs of one object with gaps that small: contact would push the object apart at rest */
    double fine_gap;    /* m: smallest gap of these pairs; fine_text: its two primitives */
    char fine_text[400];
    int is_short;       /* 1: the failure reports an edge too short for its thickness (abut_start_short_edge) */
} abut_start_gap;

/** text[size]: words for the shortest segment or side of a triangle at y[3 nc], among those with a neighbour, that is no longer
 * than the contact thickness of its object: no start can keep the neighbour at that distance.  Returns 1 if there is one; else 0
 * and text "", also if memory is lacking. */
int abut_start_short_edge(const abut_collmesh *cm, const abut_arrays *set, const double *y, char *text, size_t size);

/** Finds primitives that touch or cross at the node positions x[3 nv].  Edges and triangles are tested by exact predicates.
 * Pairs of all kinds are also tested by the distance that the solver computes, which must exceed their thickness.  Also finds
 * vertices on or under half-spaces or within their thickness, and vertices inside a body.  Pairs of obstacles are not tested.
 *
 * set    the arrays of the model, for the names in messages
 * reach  m; smallest gaps are searched up to here
 * bad    out: primitives that touch or are too near, with object, nodes and positions
 * gap    out
 * Fails  ABUT_E_GEOM vertices of one object coincide (nothing is listed then), primitives without a gap (listed in bad);
 *        ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_start_check(const abut_model *model, const abut_arrays *set, const double *x, double reach,
                                           abut_offenders *bad, abut_start_gap *gap, abut_err *err);

enum { ABUT_PRIMITIVE_NAME = 190 };     /* letters that every name of a primitive fits in, with the final 0 */

/** "edge of 'ball' (nodes 4, 9) at (0.1, 0.2, 0.3)": a point, an edge or a triangle, nodes counted
 * within their object.
 *
 * set   the arrays of the model: object/name
 * y     [3 nc] m, collision vertices; the place is that of the first vertex
 * v     [n] collision vertices of one object, n = 1, 2, 3 */
void abut_primitive_name(const abut_collmesh *cm, const abut_arrays *set, const double *y, const int32_t *v, int n,
                         char name[ABUT_PRIMITIVE_NAME]);

#endif

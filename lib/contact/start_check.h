/* May a simulation start here?  Contact needs every distance to be more than the thickness of the pair. */
#ifndef ABUT_CONTACT_START_CHECK_H
#define ABUT_CONTACT_START_CHECK_H

#include "contact/collision_mesh.h"

#include <stddef.h>

/* Primitives that cannot be simulated: the fault and the position of each. */
enum { ABUT_OFFENDERS_KEPT = 1000 };

/* One element, or two primitives that touch. */
typedef struct abut_offender {
    char text[400];
    int size[2];        /* points of the first and the second primitive (0: none): 1 point, 2 edge, 3 triangle, 4 tet */
    double x[21];       /* their positions, one primitive after the other, m */
} abut_offender;

/* Zero-filled is empty.  All are counted, the first ABUT_OFFENDERS_KEPT are kept. */
typedef struct abut_offenders {
    abut_offender *item;
    int n, cap;
    int64_t total;
} abut_offenders;

/** Whether the list is full: texts of further offenders are not kept and need not be made. */
static inline int abut_offenders_full(const abut_offenders *list) { return list->n == ABUT_OFFENDERS_KEPT; }

/** Counts one more and keeps it while there is room.  x: 3 (size0 + size1) numbers, size0 + size1 <= 7. */
ABUT_MUST_USE abut_status abut_offenders_add(abut_offenders *list, int size0, int size1, const double *x, abut_err *err,
                                             const char *fmt, ...) ABUT_PRINTF(6, 7);
void abut_offenders_clear(abut_offenders *list);

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

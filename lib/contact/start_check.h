/* May a simulation start here?  Contact needs every distance to be more than the thickness of the pair. */
#ifndef ABUT_CONTACT_START_CHECK_H
#define ABUT_CONTACT_START_CHECK_H

#include "contact/collision_mesh.h"
#include "model/offender.h"

/* How close the scene is to itself. */
typedef struct abut_start_gap {
    double gap;         /* m: smallest distance less thickness found within reach; +inf: none is so small */
    char text[400];     /* which two primitives have it */
    int64_t fine;       /* pairs within one object, thin or thick, so near: contact would part it where it lies at rest */
    double fine_gap;    /* the smallest gap of those, m, and whose it is */
    char fine_text[400];
    int is_short;       /* the failure tells of an edge that is too short for its thickness (abut_start_short_edge) */
} abut_start_gap;

/** Says in text[size] which segment or side of a triangle at y[3 nc] is no longer than the contact thickness of its object, the
 * shortest of those that have a neighbour: no start can keep that neighbour as far away.  "" where there is none, or no memory.
 * Returns 1 when there is one. */
int abut_start_short_edge(const abut_collmesh *cm, const abut_arrays *set, const double *y, char *text, size_t size);

/** Looks for primitives that touch or cross at the node positions x[3 nv]: edges and triangles by exact predicates, pairs of
 * all kinds also by the distance that the solver will compute, which has to be more than their thickness, vertices on or
 * under half-spaces or within their thickness; and for vertices inside a body, which no surface need show.  Pairs of
 * obstacles are not looked at.
 *
 * set    the arrays of the model, for the names in messages
 * reach  m; smallest gaps are looked for up to here
 * bad    out: what touches or is too near, named with object, nodes and positions
 * gap    out
 * Fails  ABUT_E_GEOM vertices of one object are at one place (nothing is listed then), something has no gap (listed in bad);
 *        ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_start_check(const abut_model *model, const abut_arrays *set, const double *x, double reach,
                                           abut_offenders *bad, abut_start_gap *gap, abut_err *err);

#endif

/* Springs along the edges of elements, for solvers that want a net of them (energy/spring.h). */
#ifndef ABUT_MODEL_EDGE_SPRINGS_H
#define ABUT_MODEL_EDGE_SPRINGS_H

#include "model/model.h"

typedef struct abut_edge_springs_opts {
    double stiffness;       /* N/m, of each edge of a tet, a shell or a rod */
    double across;          /* N/m, between the two corners that face each other across an edge of two shells, and between the far
                               ends of two segments in a row: what resists bending.  0: none */
    int replace;            /* the elements themselves go: the springs take their place */
} abut_edge_springs_opts;

/** Adds a spring with the rest length of the edge (node/X) for each edge; *added: their number.  An edge whose nodes all
 * belong to obstacles gets none.  With replace the arrays of tets, shells, hinges, rods, bends, of their fibres and parts are
 * removed; masses, contact and materials stay.  Views of the set are stale afterwards.
 * Fails  ABUT_E_FORMAT no element has an edge; an edge of no length (names its nodes); ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_edge_springs_add(abut_arrays *model_set, const abut_edge_springs_opts *o, int32_t *added,
                                                abut_err *err);

#endif

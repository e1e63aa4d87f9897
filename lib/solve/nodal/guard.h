/* What a step has to pass before it is written: the judge of trajectories, who finds his pairs by himself and decides in exact
 * arithmetic, as `ccd-check` does.  Hard contact promises nothing by construction: normals are frozen in a step, gaps are linear
 * in it, and a projection ends after a number of sweeps. */
#ifndef ABUT_SOLVE_NODAL_GUARD_H
#define ABUT_SOLVE_NODAL_GUARD_H

#include "contact/collision_mesh.h"
#include "judge/judge.h"

enum { ABUT_GUARD_WORDS = 448 };

/* Zero-filled is empty. */
typedef struct abut_guard {
    const abut_model *model;    /* borrowed, as the next */
    const abut_collmesh *cm;    /* names of collision vertices */
    abut_judge_shape shape;
    abut_hits hits;             /* of the last question, the first in time first */
    double *room0, *room1;      /* [3 shape.nv] collision vertices that are sums of nodes */
} abut_guard;

/** cm: of m, or of m with its tets in another order.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_guard_init(abut_guard *g, const abut_model *m, const abut_collmesh *cm, abut_err *err);
void abut_guard_clear(abut_guard *g);

/** Whether a simulation may start at x[3 nv]: nothing touches or crosses, no pair is within its thickness, every tet that forbids
 * inversion has a positive volume.  The offenders are in g->hits.
 * Fails  ABUT_E_GEOM a position is not finite; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_guard_place(abut_guard *g, const double *x, int *clean, abut_err *err);
/** Whether a step may move all nodes along straight lines x0 -> x1, [3 nv] each: every pair stays further apart than its
 * thickness, and those tets keep a positive volume.  x0 is clean.  The same failures. */
ABUT_MUST_USE abut_status abut_guard_motion(abut_guard *g, const double *x0, const double *x1, int *clean, abut_err *err);
/** The first of g->hits in words, and how many there are: "edge 3 4 of 'rope' and triangle ... meet after 0.31 of the step (and 4
 * more)"; returns text. */
const char *abut_guard_words(const abut_guard *g, char text[ABUT_GUARD_WORDS]);

#endif

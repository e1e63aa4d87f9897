/* Hard contact as a stepper (solve/nodal/nodal.h), with a judge of its steps:
 *
 *     1  the judge tests the motion from start to end of the step: if every pair keeps its thickness, and no tet that forbids it
 *        inverts, the step is committed
 *     2  else the pairs that meet become contacts, and five more iterations follow, with twice the sweeps in each of five rounds
 *     3  else the barrier takes the step from the same start, or
 *     4  the step fails, ABUT_E_NUMERIC with the first pair by name, if the options forbid the barrier or it fails too
 *
 * abut_nodal_report.repaired is 0, 1, 2 after cases 1, 2, 3.  Over unwritten frames, the straight lines of hard contact
 * and the path of the barrier make one path, which the next frame has (solve/search/path.h). */
#ifndef ABUT_SOLVE_NODAL_FAILSAFE_H
#define ABUT_SOLVE_NODAL_FAILSAFE_H

#include "contact/collision_mesh.h"
#include "judge/judge.h"
#include "solve/stepper.h"

/* Test of a step before it is written, by the judge of trajectories: it finds its own pairs and decides in exact arithmetic, as
 * `ccd-check` does.  Hard contact guarantees nothing by construction: in a step, normals are fixed and gaps linearised, and a
 * projection ends after a number of sweeps. */

enum { ABUT_GUARD_WORDS = 448 };

/* Zero-filled is empty. */
typedef struct abut_guard {
    const abut_model *model;    /* borrowed, as the next */
    const abut_collmesh *cm;    /* names of collision vertices */
    abut_judge_shape shape;
    abut_hits hits;             /* of the last test, the first in time first */
    double *room0, *room1;      /* [3 shape.nv] collision vertices that are sums of nodes */
} abut_guard;

/** cm: of m, or of m with its tets in another order.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_guard_init(abut_guard *g, const abut_model *m, const abut_collmesh *cm, abut_err *err);
void abut_guard_clear(abut_guard *g);

/** *clean: a step may move all nodes along straight lines x0 -> x1, [3 nv] each.  Every pair stays further apart than its
 * thickness, and those tets keep a positive volume.  x0 is clean.  Violations are in g->hits.
 * Fails  ABUT_E_GEOM a position is not finite; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_guard_motion(abut_guard *g, const double *x0, const double *x1, int *clean, abut_err *err);
/** Writes the first of g->hits in words, and the number of the others; returns text: "edge 3 4 of 'rope' and triangle ... meet
 * after 0.31 of the step (and 4 more)". */
const char *abut_guard_words(const abut_guard *g, char text[ABUT_GUARD_WORDS]);

extern const abut_stepper_ops abut_failsafe_stepper_ops;

#endif

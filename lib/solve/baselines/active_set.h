/* The active set of quadratic programs: pairs of primitives, and vertices above half-spaces, that have an
 * inequality c(x) >= 0 in the programs of a step.  It grows within a step and ends with it.
 *
 * Proximity finds pairs nearer than dhat beyond the offset; CCD finds pairs that lose all but a tenth of their gap on the motion
 * from the start of the step to the iterate.  A pair is the stencil of its nearest features when it was found, so nearly parallel
 * edges become vertex-edge pairs; in the form `volume` it keeps its four points.  Pairs of fewer points have frozen normals in
 * all forms, and half-spaces are equal in all. */
#ifndef ABUT_SOLVE_BASELINES_ACTIVE_SET_H
#define ABUT_SOLVE_BASELINES_ACTIVE_SET_H

#include "contact/step_bound.h"
#include "geom/dist.h"

typedef struct abut_active_pair {
    int32_t vert[4];        /* collision vertices, -1 unused */
    int32_t plane;          /* half-space, -1: none; then kind is ABUT_PP and vert[0] alone is used */
    int32_t kind;           /* abut_stencil */
    double w[4], n[3];      /* frozen where the pair was found */
} abut_active_pair;

/* Owns its arrays.  The owner sets form, by and offset.  Zero-filled is empty; the memory is kept from step to step. */
typedef struct abut_active_set {
    int form, by;               /* ABUT_CONSTRAINT_*, ABUT_ACTIVE_* (model/model.h) */
    double offset;              /* m: least gaps beyond the thickness, 0 or more */
    size_t n, cap;
    abut_active_pair *pair;     /* [n] ascending in (plane, kind, vert) */
    int32_t *row;               /* [4 cap] nodes of the pairs, -1: unused, or held: abut_active_set_evaluate */
    double *a, *c;              /* [12 cap], [cap] */
    uint8_t *fixed;             /* [nc] vertices whose nodes are held */
    abut_candidates cand;
    abut_candidate_search search;
    abut_arena scratch;
} abut_active_set;

/** Begins a step without pairs.  held[nv]: prescribed nodes.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_active_set_begin(abut_active_set *s, const abut_collmesh *cm, const uint8_t *held, abut_err *err);
/** Adds the pairs found at y1 and on the motion y0 -> y1, y0 the start of the step.  A pair whose impact is found again takes the
 * frozen normal of the last impact.  *fresh: number of new pairs.
 * Fails  ABUT_E_GEOM a position is not finite (names it); ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_active_set_extend(abut_active_set *s, const abut_collmesh *cm, const double *y0, const double *y1,
                                                 size_t *fresh, abut_err *err);
/** Computes s->c, s->a of all pairs at y[3 nc], and s->row: nodes.  A pair without a normal at y has a = 0 and c = 0. */
void abut_active_set_evaluate(abut_active_set *s, const abut_collmesh *cm, const double *y0, const double *y);
/** Returns the smallest distance less thickness of all pairs at y, m, below 0 under half-spaces, and *which; +inf: no pair. */
double abut_active_set_gap(const abut_active_set *s, const abut_collmesh *cm, const double *y, size_t *which);
/** "edge 3 4 of 'rope' and triangle 1 2 5 of 'floor'"; returns text. */
const char *abut_active_set_words(const abut_active_set *s, const abut_collmesh *cm, size_t i, char *text, size_t size);
void abut_active_set_clear(abut_active_set *s);

#endif

/* All collisions along a straight motion, not the first alone. */
#ifndef ABUT_CONTACT_IMPACTS_H
#define ABUT_CONTACT_IMPACTS_H

#include "base/arena.h"
#include "contact/candidates.h"

/* A pair of primitives that does not keep its slack, or a vertex and a half-space. */
typedef struct abut_impact {
    double toi;             /* time up to which it keeps its slack, in [0, 1) */
    abut_stencil kind;      /* of the primitives; ABUT_PP with half-spaces */
    int32_t vert[4];        /* collision vertices, -1 unused */
    int32_t plane;          /* half-space, -1: none */
} abut_impact;

/** Finds the pairs among the candidates, and of vertices with half-spaces, that along y -> y1 lose more than `1 - slack` of their
 * gap (as in abut_limit_ccd) before `until` <= 1.  The result is ascending in time; of more than `most` it has the first.
 * Half-spaces do not meet fixed vertices (NULL: none is fixed).  The same for every thread count.
 *
 * out      [most]; *n: how many
 * scratch  a number for each candidate and the impacts, given back before return
 * Fails    ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_impacts_find(const abut_collmesh *cm, const abut_candidates *cand, const double *y,
                                            const double *y1, double slack, double until, const uint8_t *fixed, size_t most,
                                            abut_impact *out, size_t *n, abut_arena *scratch, abut_err *err);
/** Finds all impacts, *out[*n] in scratch. */
ABUT_MUST_USE abut_status abut_impacts_all(const abut_collmesh *cm, const abut_candidates *cand, const double *y,
                                           const double *y1, double slack, double until, const uint8_t *fixed,
                                           abut_impact **out, size_t *n, abut_arena *scratch, abut_err *err);

#endif

/* Static check of a configuration by exact predicates: what touches, what is inverted. */
#ifndef ABUT_CONTACT_CROSS_H
#define ABUT_CONTACT_CROSS_H

#include "contact/candidates.h"

typedef struct abut_cross {
    int32_t edge, tri;      /* an edge touches a triangle that has no vertex of it; tri -1: see below */
    int32_t vert, plane;    /* a vertex on or under a half-space; plane -1 otherwise */
} abut_cross;

/** Lists touching edge-triangle pairs (then vertices at or below half-spaces) at y, at most `max`; *found is the full count.
 * Pairs whose vertices are all fixed are not looked at (fixed NULL: none is). */
ABUT_MUST_USE abut_status abut_cross_find(const abut_collmesh *cm, const double *y, const uint8_t *fixed, size_t max,
                                          abut_cross *list, size_t *found, abut_err *err);
/** First tet with no positive volume (exact sign), -1 when all are positive. */
int32_t abut_inverted_find(const abut_model *m, const double *x);
/** Smallest J = det F over all tets, and which. */
double abut_smallest_jacobian(const abut_model *m, const double *x, int32_t *tet);

#endif

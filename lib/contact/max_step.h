/* How far a direction may be followed: collisions, half-spaces, inversions (Li 2020, 4.4.4, App. D). */
#ifndef ABUT_CONTACT_MAX_STEP_H
#define ABUT_CONTACT_MAX_STEP_H

#include "contact/candidates.h"

/* What limits a step: names it in nodes. */
typedef enum abut_limit_kind { ABUT_LIMIT_NONE = 0, ABUT_LIMIT_VT, ABUT_LIMIT_EE, ABUT_LIMIT_PLANE, ABUT_LIMIT_TET } abut_limit_kind;
typedef struct abut_limit {
    double alpha;           /* the bound, in (0, 1] */
    abut_limit_kind kind;
    int32_t node[4];        /* vertex, triangle | edge, edge | node, plane, -1, -1 | tet corners */
    int32_t tet;            /* for ABUT_LIMIT_TET */
} abut_limit;

/** Lowers lim->alpha to the largest step along y -> y + alpha (y1 - y) that keeps `slack` of every candidate's gap. */
ABUT_MUST_USE abut_status abut_limit_ccd(const abut_collmesh *cm, const abut_candidates *cand, const double *y,
                                         const double *y1, double slack, abut_limit *lim, abut_err *err);
/** The same against the half-spaces, keeping `slack` of every gap. */
void abut_limit_planes(const abut_collmesh *cm, const double *y, const double *y1, const uint8_t *fixed, double slack,
                       abut_limit *lim);
/** The same for the volume of every tet whose material is injective (neo-Hookean): keeps `slack` of its current volume. */
void abut_limit_inversion(const abut_model *m, const double *x, const double *p, double slack, abut_limit *lim);

/** Largest alpha in [0, 1] with det(d + alpha p) >= slack det(d) for the tet x[12] moving by p[12]; 1 when none binds. */
double abut_tet_max_step(const double x[12], const double p[12], double slack);

#endif

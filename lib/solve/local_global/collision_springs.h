/* Springs that answer collisions after the fact (Liu 2018, 8.5): fast, and without any guarantee.  A vertex that has gone
 * through a half-space, or a little behind a triangle, is pulled back along the normal, with the triangle's corners pushed
 * in the opposite direction.  Behind a triangle that bounds a body of tets is its inside; behind any other, the side that the
 * vertex was not on at the start of the step:
 *     E = h^2 sum k/2 d^2,   d = n . (x_v - sum w_j x_j) - o < 0                               kg m^2
 * A spring keeps its normal and weights w for the rest of the step.  It stays in the set at d >= 0, without a force, so that the
 * next iteration cannot go back in.
 * Edges that pass through edges, self-collisions of bodies of tets, and penetrations deeper than `reach` are not found.  No
 * friction. */
#ifndef ABUT_SOLVE_LOCAL_GLOBAL_COLLISION_SPRINGS_H
#define ABUT_SOLVE_LOCAL_GLOBAL_COLLISION_SPRINGS_H

#include "contact/candidates.h"
#include "solve/objective.h"

typedef struct abut_collision_spring {
    int32_t node[4];        /* -1 unused */
    double weight[4];       /* 1, then -w */
    double normal[3], offset;   /* unit; m */
} abut_collision_spring;

/* Zero-filled is empty. */
typedef struct abut_collision_springs {
    double stiffness;       /* k, N/m */
    abut_collision_spring *spring;
    size_t n, cap;
    abut_candidates near;   /* of this step */
    uint8_t *seen;          /* has a spring: vertex and half-space [nc * nh], then candidates */
    size_t seen_cap;
    double *y0, *y1;        /* [3 nc] */
    uint8_t *outward;       /* [nct] the triangle bounds a body of tets */
    double reach;           /* m: the furthest behind a triangle that counts, half a mean edge */
} abut_collision_springs;

ABUT_MUST_USE abut_status abut_collision_springs_init(abut_collision_springs *c, const abut_objective *p, abut_err *err);
void abut_collision_springs_clear(abut_collision_springs *c);
/** Starts a step at p->xn: finds the pairs that can meet on the straight motion to x[3 nv]. */
ABUT_MUST_USE abut_status abut_collision_springs_start(abut_collision_springs *c, const abut_objective *p, const double *x,
                                                       abut_err *err);
/** Adds the vertices that have penetrated at x to the set. */
ABUT_MUST_USE abut_status abut_collision_springs_find(abut_collision_springs *c, const abut_objective *p, const double *x,
                                                      abut_err *err);
double abut_collision_springs_energy(const abut_collision_springs *c, const abut_objective *p, const double *x);
/** g[3 nv] += the gradient; rows of nodes that do not move stay unchanged. */
void abut_collision_springs_gradient(const abut_collision_springs *c, const abut_objective *p, const double *x, double *g);

#endif

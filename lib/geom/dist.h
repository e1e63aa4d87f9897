/* Squared distances between points, edges and triangles, their closest points, gradients and Hessians.
 *
 * A stencil is up to four points, 3 numbers each, in one array x:
 *     PP  a, b              PE  p, e0, e1          PT  p, t0, t1, t2         EE  a0, a1, b0, b1
 * Closest points are affine weights: the separation r = sum_i w_i x_i, sum w = 0, distance = |r|. */
#ifndef ABUT_GEOM_DIST_H
#define ABUT_GEOM_DIST_H

typedef enum abut_stencil { ABUT_PP = 0, ABUT_PE = 1, ABUT_PT = 2, ABUT_EE = 3 } abut_stencil;

/** Points of a stencil: 2, 3, 4, 4. */
static inline int abut_stencil_size(abut_stencil s) { return s == ABUT_PP ? 2 : s == ABUT_PE ? 3 : 4; }

/* Which primitives of a stencil carry the closest points: the active feature, a stencil of its own. */
typedef struct abut_feature {
    abut_stencil kind;
    int idx[4];         /* points of the outer stencil that make the feature, in the feature's own order */
} abut_feature;

/** The active feature of an outer stencil (PE, PT, EE; a PP is its own) and the squared distance, m^2.
 * Right and finite for degenerate input: zero-length edges, zero-area triangles, parallel edges, coincident points.
 * Edges nearer to parallel than a sine of 1e-10 never give EE (Li 2020, App. G).  Ties go to the lower index. */
abut_feature abut_nearest(abut_stencil s, const double *x, double *dist2);

/** Squared distance of the stencil taken as its own active feature: PE is the distance to the line, PT to the plane,
 * EE between the lines.  w[4] (NULL to skip): closest-point weights, unused ones 0.  (Li 2020, 2.9-2.10, 4.18-4.23) */
double abut_dist2(abut_stencil s, const double *x, double *w);
/** g[3k]: gradient, m.   H[(3k)^2], row major, symmetric: Hessian, dimensionless.  k = abut_stencil_size(s). */
void abut_dist2_grad(abut_stencil s, const double *x, double *g);
void abut_dist2_hess(abut_stencil s, const double *x, double *H);

#endif

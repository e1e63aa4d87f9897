/* Normals of surfaces, and not of primitives alone.
 *
 * Points of two surfaces are locally nearest to each other only if the separation r, from the second to the first, lies in the
 * normal cones of both: r . t <= 0 for each direction t in which the second surface continues at its point,
 * and r . t >= 0 for the first (Rockafellar and Wets 1998, 6.A).  So an inner edge or vertex of a flat region has the two
 * normals of that region; a convex edge the arc between the normals of its faces; the edge of a groove none within the groove;
 * the rim of a shell a half-plane; a rod the plane across it; a point all directions.
 *
 * If r . t > 0, the triangle or edge along t is nearer than the feature, and a contact there must take its normal.  A linear law
 * with the normal r would stop a motion that only slides along the triangle. */
#ifndef ABUT_CONTACT_NORMAL_CONE_H
#define ABUT_CONTACT_NORMAL_CONE_H

#include "contact/collision_mesh.h"

/* The edges and triangles around each vertex.  Zero-filled is empty; owns its arrays. */
typedef struct abut_rings {
    int32_t *edge_first, *edge;     /* [nc + 2], other ends of edges */
    int32_t *tri_first, *tri;       /* [nc + 2], numbers of triangles */
} abut_rings;

/* Positions of vertices at time t of a straight motion. */
typedef struct abut_moving {
    const double *y, *y1;       /* [3 nc] m: at times 0 and 1 */
    double t;
} abut_moving;

/** Lists the rings of all vertices.  Fails  ABUT_E_NOMEM; then rings is empty */
ABUT_MUST_USE abut_status abut_rings_init(abut_rings *rings, const abut_collmesh *cm, abut_err *err);
void abut_rings_clear(abut_rings *rings);

/** Turns r[3], the separation of a stencil of vertices v[4] with closest-point weights w[4], towards its cones, and returns the
 * sine of the turn; 0 if r is in both.  The cone that r leaves further counts: r becomes normal to the edge along which it leads
 * furthest, then to the triangle of that edge, and is shortened by the cosine.  The normal of a triangle stays, and only the sine
 * says that r leaves the cone of the other feature.
 *
 * Triangles and edges with a vertex of the other primitive are left out: they make no pair with it. */
double abut_cone_turn(const abut_rings *rings, const abut_collmesh *cm, const abut_moving *m, abut_stencil kind,
                      const int32_t v[4], const double w[4], double r[3]);

#endif

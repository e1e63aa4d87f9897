/* Contacts of a step with hard contact: which pairs of primitives, and which vertices above half-spaces, may meet in it, each as
 * one linear law whose weights and normal are frozen (Daviet 2020, 4.1 to 4.3; contact/touching.h).
 *
 * Two kinds.  Near: pairs that are close at the start, by their nearest features there.  Hits: pairs that meet on the motion
 * y -> y1, by their nearest features at the time of impact.  The gap is that of the start,
 *
 *     gap = n . sum w y - xi - reserve,         at least -reserve / 4
 *
 * xi the thickness of the pair.  The reserve is the distance that errors of the linear law may use up before the thickness is
 * touched; a pair that starts nearer than the reserve opens by a quarter of it in a step.
 *
 * A pair whose separation leaves the normal cones of its features gets the normal of the face to which it leads.  If that turns
 * it far, the pair is no contact, because others are nearer (abut_cone_turn).  So a flat surface has one normal for every
 * division into triangles.
 *
 * If the model has cohesion, a contact is attracted by force (1 - gap / range) with the gap of the start, 0 beyond the range. */
#ifndef ABUT_CONTACT_TOUCH_FIND_H
#define ABUT_CONTACT_TOUCH_FIND_H

#include "contact/candidates.h"
#include "contact/collision_mesh.h"
#include "contact/pairs.h"
#include "contact/step_bound.h"
#include "contact/touching.h"

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

/* Near contacts are searched up to this many reserves beyond the reserve itself. */
#define ABUT_TOUCH_REACH 4
/* Boxes of ends of motions are enlarged by so many reserves: a larger margin finds more pairs, a smaller one searches more. */
#define ABUT_TOUCH_MARGIN 1
/* The largest sine of the turn of a normal into its cones. */
#define ABUT_TOUCH_TURN 0.5
/* The part of a gap that a motion must leave: less is a hit. */
#define ABUT_TOUCH_SLACK 0.1

/* The step that contacts are for.  Borrows everything. */
typedef struct abut_touch_step {
    const abut_collmesh *cm;
    const double *y;            /* [3 nc] m: vertices at the start; every pair is further apart than its thickness */
    const uint8_t *held;        /* [nv] nodes whose motion is prescribed, obstacles among them */
    const double *v_held;       /* [3 nv] m/s: their velocities; others are not read */
    double h;                   /* s */
    double reserve;             /* m, above 0 */
    double compliance;          /* N/m: stiffness of contacts that scripts or a gap below the reserve would close; 0: rigid */
} abut_touch_step;

/* Memory of a search for the next search of the same collision mesh.  Zero-filled is empty.  Does not change results. */
typedef struct abut_touch_search {
    abut_candidates cand;       /* pairs near at the start */
    abut_pairs pairs;           /* nearest features of cand */
    abut_repeated_search motions;   /* pairs that may meet in the motion */
    abut_rings rings;           /* of the collision mesh */
    abut_arena scratch;
    size_t opening;             /* near contacts of the last search that were within the reserve at the start */
    struct abut_touch_start {   /* the start for which `pairs` and `fixed` hold */
        double *y, reach;       /* [3 nc] m; m: of the pairs, below 0: there are none yet */
        uint8_t *held;          /* [nv] */
        size_t n3, nv;
        int known;              /* 0: `pairs` and `fixed` are not valid */
    } start;
    uint8_t *fixed;             /* [nc] vertices of nodes that are held, all of them */
    int32_t *node;              /* nodes of one contact, and their coefficients */
    double *b;
    size_t cap_node;
} abut_touch_search;

/** Appends near contacts to `out` as round 0, in the order of abut_pairs, half-spaces last.  These are nearest features with a
 * gap at the start below one reserve, or within the range of cohesion.  Features less than ABUT_TOUCH_REACH reserves further away
 * are added if the motion y -> y1 leaves less than a reserve of their gap; so are vertices at any height above half-spaces.
 * y1  [3 nc] m: end of the expected motion
 * Fails  ABUT_E_GEOM a pair is no further apart than its thickness, or a position is not finite (names it);  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_touch_find_near(abut_touch_search *s, const abut_touch_step *step, const double *y1,
                                               abut_touching *out, abut_err *err);
/** Appends hits to `out` with that round, ascending in time: pairs that meet on the motion y -> y1, with less than
 * ABUT_TOUCH_SLACK of their gap left, and vertices above half-spaces that do.
 * *n: how many were found, with contacts of `out` that are found again (abut_touching_settle drops these)
 * Fails  as abut_touch_find_near */
ABUT_MUST_USE abut_status abut_touch_find_hits(abut_touch_search *s, const abut_touch_step *step, const double *y1, int round,
                                               abut_touching *out, size_t *n, abut_err *err);
/** Appends one pair of vertices vert[4] of that kind, frozen at time toi of the motion step->y -> y1[3 nc] m.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_touch_find_one(abut_touch_search *s, const abut_touch_step *step, const double *y1,
                                              abut_stencil kind, const int32_t vert[4], double toi, int round,
                                              abut_touching *out, abut_err *err);
void abut_touch_search_clear(abut_touch_search *s);

#endif

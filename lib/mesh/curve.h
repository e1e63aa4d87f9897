/* The surface of a mesh of tets put onto the smooth shape that it approximates, and the tets curved after it.
 *
 * 1. Corners on the surface move to the shape, half as far where a tet would keep less than a fifth of its volume, and so on.
 * 2. Nodes of edges and faces of the surface move from the straight element to the shape.
 * 3. Every other node with barycentric coordinates L moves by the sum over the surface's edges (a, b) of its tet of
 *    (L_a + L_b)^2 d_ab(L_b / (L_a + L_b)), d_ab(t) how far the edge has moved at t (cf. W. Gordon and C. Hall, "Construction of
 *    curvilinear co-ordinate systems", Int. J. Numer. Methods Eng. 7, 1973): faces of two tets agree, and straight edges give
 *    nothing.
 * 4. Where the Jacobian determinant of a tet is not proven positive in all of it (geom/jacobian.h), its edges and faces on the
 *    surface move half as far, up to six times, then not at all. */
#ifndef ABUT_MESH_CURVE_H
#define ABUT_MESH_CURVE_H

#include "math/vec3.h"
#include "mesh/mesh.h"
#include "mesh/triangle_tree.h"

/* Points within `radius` of the segment from a to b. */
typedef struct abut_capsule { double a[3], b[3], radius; } abut_capsule;

/* Capsules joined smoothly, an implicit shape: f = -blend ln sum_i exp(-f_i / blend) of the distances f_i to
 * n capsules (blend 0: the least f_i), m; inside f < 0. */
typedef struct abut_capsules { const abut_capsule *capsule; int32_t n; double blend; } abut_capsules;

/** f and its gradient. */
double abut_capsules_value(const abut_capsules *f, const double p[3], double grad[3]);

/* Smooth shapes that the surface of a mesh approximates. */
enum { ABUT_SNAP_NONE = 0, ABUT_SNAP_SPHERE = 1, ABUT_SNAP_CYLINDER = 2 /* about y, with flat ends */,
       ABUT_SNAP_TORUS = 3 /* about y */, ABUT_SNAP_CAPSULES = 4, ABUT_SNAP_MESH = 5 /* a finer surface of triangles */ };

/* Owns its arrays; zero-filled is none.  m. */
typedef struct abut_snap {
    int kind;                   /* ABUT_SNAP_* */
    double center[3];           /* of sphere, cylinder, torus */
    double radius;              /* of those three */
    double size;                /* cylinder: height; torus: radius of its round section */
    abut_capsule *capsule;      /* [ncapsules] */
    int32_t ncapsules;
    double blend;
    abut_mesh mesh;             /* triangles */
    abut_triangle_tree *tree;   /* of those, from abut_snap_begin */
} abut_snap;

/** Builds the search tree of a mesh.  Fails  ABUT_E_ARG a mesh without triangles; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_snap_begin(abut_snap *s, abut_err *err);
void abut_snap_clear(abut_snap *s);

/* Result of curving a surface. */
typedef struct abut_curved {
    int32_t corners, held;      /* corners that moved; number of them that did not reach the shape */
    int32_t eased;              /* tets whose surface moved less, so that their Jacobian determinant is positive */
    int32_t first;              /* the first of these tets */
    double gap;                 /* m: largest distance of the curved surface to the shape, sampled */
    double least;               /* least det J over mean det J of a tet: 1 where all are straight */
} abut_curved;

/** Turns straight tets (order 1) into tets of that order whose surface lies on the shape.  For order 1, step 1 alone is done.
 *
 * s     abut_snap_begin has been called
 * Fails  ABUT_E_GEOM a straight tet without volume, a surface that is none; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mesh_curve(abut_mesh *m, const abut_snap *s, int order, abut_curved *out, abut_err *err);

#endif

/* Smooth shapes that the surface of a mesh approximates: where a point of the surface is on them. */
#ifndef ABUT_MESH_SNAP_H
#define ABUT_MESH_SNAP_H

#include "math/vec3.h"
#include "mesh/capsules.h"
#include "mesh/mesh.h"
#include "mesh/triangle_tree.h"

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

/** Finds the point y of the shape for a point x on a surface.
 *
 * normal  [k] unit normals of the faces that meet at x: they decide whether x is on the side, an end or the rim of a cylinder;
 *         of a mesh, only triangles within 60 degrees of one of them are considered
 * reach   m: largest distance to a mesh
 * y       out
 * returns 0: there is no such point, and x stays */
int abut_snap_point(const abut_snap *s, abut_vec3 x, const abut_vec3 *normal, int k, double reach, abut_vec3 *y);

#endif

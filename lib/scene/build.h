/* Makes the arrays of a MODEL and its first FRAME from a scene. */
#ifndef ABUT_SCENE_BUILD_H
#define ABUT_SCENE_BUILD_H

#include "base/array.h"
#include "mesh/proxy.h"
#include "model/naming.h"
#include "scene/scene.h"

/* The contact surface of an object that has one of its own. */
typedef struct abut_proxy_facts {
    int32_t vertices;           /* 0: its contact surface is the faces of its elements */
    int segments;               /* of the boundary; 0: another surface is in its place */
    double altitude;            /* m, the smallest of its triangles */
    int low;                    /* 1: no more than dhat: contact pushes neighbours apart at rest */
    abut_chord chord;           /* of the boundary */
    abut_embedding embedding;   /* of another surface */
} abut_proxy_facts;

/* A rigid body: its stiffness, and the strains that loads would cause. */
typedef struct abut_rigid_facts {
    double stiffness, most, kappa;          /* J: K at the start, and at most; Pa: K over the volume */
    double spin, weight, stop;              /* strains: of the rotation at the start, its weight, a stop in one time step */
    double angle;                           /* rad: largest rotation in a time step that is known at the start */
} abut_rigid_facts;

/* Facts about one object as built. */
typedef struct abut_object_facts {
    int32_t nodes, tets, triangles, edges, points;  /* triangles, edges: of its surface; points: isolated ones */
    int32_t shells, hinges, rods, bends, particles;
    int32_t dropped;            /* points of the mesh that no element needs: not in the model */
    double mass, volume;        /* kg, m^3 of tets; 0 for an obstacle */
    double area, length;        /* m^2 of shells, m of rods, at rest */
    double least_volume;        /* m^3, of a tet */
    int order, shape;           /* of its tets: displacement, rest shape; 0 without tets */
    int32_t inner;              /* nodes that are no corners */
    double least_ratio;         /* least det J over its mean in a tet, J of the rest shape */
    double least_edge;          /* m, of the surface */
    double lo[3], hi[3];        /* m, bounding box */
    abut_proxy_facts proxy;
    double extent, node_mass;   /* of a body: l, m; mean mass of its nodes, kg; 0: an obstacle, or there is one l of all */
    double dhat;                /* m: within which its contact acts */
    abut_rigid_facts rigid;     /* stiffness 0: it is not */
    double density[2];          /* least and largest factor on the material's density, of a body with a reference; else 0 */
} abut_object_facts;

/* The speed of a scene is sqrt(g l), the largest at the start, or a part of the speed of sound. */
typedef enum abut_speed_of { ABUT_SPEED_OF_FALL, ABUT_SPEED_OF_START, ABUT_SPEED_OF_SOUND } abut_speed_of;

/* Derived quantities; zero-filled is empty. */
typedef struct abut_built {
    double length, dhat, eps_v, tolerance;  /* m, m, m/s, m/s; of the smallest body */
    double longest;                         /* m: length of the largest body */
    int32_t smallest;                       /* object whose length l is; -1: none, l is the extent of all nodes */
    double mean_mass, heavy_mass;           /* kg: mean of a body's nodes, the least and the largest of all bodies */
    double speed;                           /* m/s: what bounds default speeds */
    abut_speed_of speed_of;
    int is_bounded;                         /* 1: default speeds are fractions of `speed`; 0: of l in a time step */
    double pressure;                        /* Pa, stiffness of contact weighed by area; else 0 */
    double kappa_min, kappa_max;            /* kg/m^2, bounds of the barrier's stiffness for the least lengths and masses */
    double stiffen_below;                   /* m: smallest gap below which it is doubled; 0: the bounds are equal */
    int32_t shells, hinges, rods, bends, particles;
    int32_t nodes, tets, collision_vertices, edges, triangles, handles, friction_classes;
    int32_t motions;                        /* of the scene and of its obstacles; rests that `hold` adds do not count */
    abut_object_facts *object;              /* [nobjects] */
    int32_t *attached;                      /* [nattachments] springs */
    int32_t *sewn;                          /* [nseams] springs */
    int32_t *selected;                      /* [nmotions] nodes that the motion selects */
} abut_built;

/** Makes every array of the MODEL, the texts object/name, material/name, half-space/name, and time/end (s) when the scene says
 * how long it lasts; and the arrays of the FRAME at time 0.
 *
 * Nodes stand object by object in the order of their meshes; points that no element needs, and the inside of obstacles,
 * are left out.  An obstacle's node gets mean_mass.
 * bad  out: elements that cannot be simulated (inverted, flat); its items are named by object
 * Fails  ABUT_E_GEOM bad elements (listed in bad), surfaces that are not the boundary of a solid
 *        ABUT_E_FORMAT nothing to simulate; a body without tets; a motion that selects no node or one that another
 *        motion moves at the same time; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_scene_build(const abut_scene *s, abut_arrays *model, abut_arrays *frame,
                                           abut_built *built, abut_offenders *bad, abut_err *err);
void abut_built_clear(abut_built *b);

#endif

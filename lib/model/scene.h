/* A scene: what the user asked for, as plain data, before it becomes the arrays of a MODEL.  The readers in formats/ fill
 * it; abut_scene_build (model/build.h) turns it into arrays. */
#ifndef ABUT_MODEL_SCENE_H
#define ABUT_MODEL_SCENE_H

#include "model/mesh.h"

enum { ABUT_SCENE_NAME = 64, ABUT_SCENE_FROM = 96 };

/* A number and where it was said. */
typedef struct abut_param {
    double value;
    int per_length;                 /* value is to be multiplied by the scene's length l */
    char from[ABUT_SCENE_FROM];     /* "default", or file:line:column */
} abut_param;

typedef struct abut_scene_material {
    char name[ABUT_SCENE_NAME];
    int model;                      /* ABUT_NEO_HOOKEAN, ... */
    double density, young, poisson; /* kg/m^3, Pa, 1 */
    char from[ABUT_SCENE_FROM];
} abut_scene_material;

/* A body or an obstacle; the mesh stands where the scene starts. */
typedef struct abut_scene_object {
    char name[ABUT_SCENE_NAME], from[ABUT_SCENE_FROM];
    abut_mesh mesh;                 /* m */
    int obstacle;                   /* all its nodes are prescribed; its tets only serve to find the surface */
    int in_place;                   /* the scene's turn, fit and lift leave it where it is and do not count it */
    int32_t material;               /* row of the scene's materials; -1 for an obstacle */
    double velocity[3], spin[3];    /* m/s, rad/s: a body starts with them, an obstacle keeps them */
    int has_center;
    double center[3];               /* m, of the spin; otherwise the centre of the bounding box */
    int has_mu;
    double mu;
    double max_volume;              /* m^3: fill the closed surface with tets no larger than this; 0: leave it */
    int keep_surface;               /* ... without dividing its triangles */
    int32_t nkeys;                  /* positions the obstacle passes through in straight lines, key_step apart, or 0 */
    double key_step;                /* s */
    double *key;                    /* [nkeys * nv * 3] m */
} abut_scene_object;

typedef struct abut_scene_plane {
    char name[ABUT_SCENE_NAME], from[ABUT_SCENE_FROM];
    double point[3], normal[3];     /* m; unit, out of the solid */
    int has_mu;
    double mu;
} abut_scene_plane;

/* Nodes that satisfy every condition that is set. */
typedef struct abut_scene_select {
    int32_t object;                 /* row of the scene's objects; -1: all simulated ones */
    int in_box, in_relative_box, in_sphere, on_surface;
    double lo[3], hi[3];            /* m: the box */
    double rlo[3], rhi[3];          /* the box in fractions of the bounding box of the object, or of all bodies */
    double center[3], radius;       /* m: the sphere */
} abut_scene_select;

enum { ABUT_ACT_MOVE = 0, ABUT_ACT_ACCELERATE = 1, ABUT_ACT_FORCE = 2 /* N over all nodes, shared out by mass */ };

typedef struct abut_scene_motion {
    char from[ABUT_SCENE_FROM];
    abut_scene_select select;
    int act;
    double linear[3];               /* m/s, m/s^2 or N */
    double angular[3];              /* rad/s */
    int has_center;
    double center[3];               /* m, of the rotation at t0; otherwise the centre of the selected nodes' bounding box */
    double window[2];               /* s: active in [t0, t1) */
    int stops;                      /* t1 is when the foremost selected node is `gap` before ... */
    int32_t to;                     /* ... the first node of this object, both along the way and at their places of t = 0 */
    abut_param gap;                 /* m */
} abut_scene_motion;

/* Friction of two things: objects first, then half-spaces (row + number of objects). */
typedef struct abut_scene_pair {
    int32_t a, b;
    double mu;
} abut_scene_pair;

/* Owns everything in it; zero-filled is a valid empty scene without defaults. */
typedef struct abut_scene {
    abut_param step, end;           /* s; end 0: not said */
    int scheme;                     /* ABUT_IMPLICIT_EULER, ... */
    abut_param damp_mass, damp_stiffness;   /* 1/s, s */
    double gravity[3];              /* m/s^2 */
    abut_param dhat;                /* m */
    abut_param kappa_scale;         /* of the bounds of the barrier stiffness */
    abut_param eps_v, tolerance;    /* m/s */
    abut_param mu;
    abut_param lags;                /* friction lag iterations per step */
    int is_turned;                  /* before fit, the scene is turned about the origin by ... */
    double turn[9];                 /* ... this rotation, row-major */
    double fit;                     /* m: the scene is scaled so that its longest side is this, and moved to the positive
                                       octant; 0: left as it is */
    abut_param lift;                /* m: after fit, the scene is raised by this along y.  Half-spaces stay in all three. */
    abut_scene_material *material;
    abut_scene_object *object;
    abut_scene_plane *plane;
    abut_scene_motion *motion;
    abut_scene_pair *pair;
    int32_t nmaterials, nobjects, nplanes, nmotions, npairs;
} abut_scene;

/** The defaults: 0.01 s, gravity -9.81 m/s^2 along y, dhat 1e-3 l, eps_v 1e-3 l/s, tolerance 1e-2 l/s, no friction, 1 lag. */
abut_scene abut_scene_defaults(void);

/** Room for n rows, zero-filled; returns ABUT_E_NOMEM when there is none. */
ABUT_MUST_USE abut_status abut_scene_reserve(abut_scene *s, int32_t nmaterials, int32_t nobjects, int32_t nplanes,
                                             int32_t nmotions, int32_t npairs, abut_err *err);

/** Places the scene as a whole, but for objects that stay in_place: turned about the origin; then scaled and moved as `fit`
 * says (longest side of the common bounding box = fit, its lower corner at 0); then raised by `lift`, a fraction of it in
 * the diagonal of the bounding box of the simulated nodes. */
void abut_scene_place(abut_scene *s);

void abut_scene_clear(abut_scene *s);

#endif

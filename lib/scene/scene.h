/* A scene: what the user asked for, as plain data, before it becomes the arrays of a MODEL.  The readers in formats/ fill
 * it; abut_scene_build (scene/build.h) makes it arrays. */
#ifndef ABUT_SCENE_SCENE_H
#define ABUT_SCENE_SCENE_H

#include "mesh/tet_nodes.h"
#include "mesh/mesh.h"
#include "model/model.h"

#define ABUT_TURN 6.283185307179586     /* rad */
#define ABUT_TURNS_MOST 1e6             /* of an angle, of a rate of rotation in a second, of a motion in a time step */

enum { ABUT_SCENE_NAME = 64, ABUT_SCENE_FROM = 96 };

/* A number and its place in the scene. */
typedef struct abut_param {
    double value;
    int per_length;                 /* value is to be multiplied by the scene's length l */
    char from[ABUT_SCENE_FROM];     /* "default", or file:line:column */
} abut_param;

typedef struct abut_scene_material {
    char name[ABUT_SCENE_NAME];
    int model;                      /* ABUT_NEO_HOOKEAN, ... */
    double density, young, poisson; /* kg/m^3, Pa, 1 */
    double bending_young;           /* Pa, of hinges and bends; 0: young */
    int membrane;                   /* ABUT_MEMBRANE_ISOTROPIC, ... */
    double fabric[4];               /* Pa: a11, a22, a12, G12; of ABUT_MEMBRANE_BARAFF_WITKIN k_u, k_v, 0, k_s */
    double compression;             /* of ABUT_MEMBRANE_BARAFF_WITKIN: what is left of k_u, k_v */
    double strain_limit[3];         /* of ABUT_MEMBRANE_CLOTH: E11, E22, E12 */
    int32_t nknots;                 /* of a spline; 0: it is none */
    double *knot, *slope;           /* [nknots], [3 nknots] Pa: a', b', c' */
    double fibre, fibre_direction[3];   /* Pa, 0: none; unit, in the scene's axes at the start */
    int32_t quadrature;             /* degree at which energies in tets of order 2 and more are integrated; 0: by the order */
    double volume, stretch[3];      /* Pa, 0: none; Pa, low, high: squared distances (energy/material/model_laws.h) */
    char from[ABUT_SCENE_FROM];
} abut_scene_material;

/* Positions of all points of a mesh at ascending times, which they pass through in straight lines.  n 0: none. */
typedef struct abut_scene_path {
    int32_t n;
    double *time;                   /* [n] s */
    double *x;                      /* [n * nv * 3] m */
} abut_scene_path;

/* A factor, or the value of a motor, at ascending times, in straight lines between them; outside, that of the first and the last.
 * n 0: 1 at all times. */
typedef struct abut_scene_table {
    int32_t n;
    double *time, *value;           /* [n] s, 1; of a motor SI */
} abut_scene_table;

/* Shell properties of a body's triangles; thickness 0: it has none. */
typedef struct abut_scene_shell {
    double thickness;               /* m, of the material */
    double limit[4];                /* of principal stretches, as shell/stretch-limit; 0: none */
    int plate;                      /* hinges bend like a plate; otherwise as published, three times as stiff */
    int flat;                       /* hinges are flat at rest; otherwise as the rest shape is */
    int has_angle;                  /* the scene says which; otherwise they are flat in a pattern */
    int has_pattern;                /* rest is flat: corners at (u, v, 0) */
    double warp[3];                 /* direction in the coordinates of rest */
    double pressure, drag;          /* Pa, kg/m^3 */
    abut_scene_table factor;        /* of the pressure */
    double *rest;                   /* [nf * 9] corners of the triangles at rest, m */
} abut_scene_shell;

/* Orders of the tets of an object, and the shape that its surface approximates (abut_scene_orders). */
typedef struct abut_scene_order {
    int order, geometry;            /* of displacement and of the rest shape, 1 to 4; 0: not said */
    int surface;                    /* 1: the scene sets the snap; 0: the generator sets it, for orders above 1 */
    abut_snap snap;                 /* in the coordinates of the mesh until it is placed; a mesh is placed with it */
    int curved;                     /* 1: the surface was put onto it */
    abut_curved facts;
    int found;                      /* order of the tets as they were said */
    int kept;                       /* 0, or the order of the rest shape, which is above that of displacement */
    double *rest;                   /* [3 nt abut_tet_nodes(kept)] m: places of its nodes, tet by tet */
} abut_scene_order;

/* The contact surface of a body of tets; zero-filled, with extrapolation -1: the faces of its tets, or the default for their
 * order (scene/build_tets.c). */
typedef struct abut_scene_proxy {
    char from[ABUT_SCENE_FROM];     /* "": the scene does not say */
    int segments;                   /* on a side of a face; 0: by edge, then by tolerance */
    double edge;                    /* m: no longer than that is a segment; 0: not said */
    abut_param tolerance;           /* m: between the boundary and its flat triangles; 0: not said */
    abut_mesh surface;              /* that represents the boundary; empty: the boundary does */
    double extrapolation;           /* how far it may be outside of the tets (mesh/proxy.h); below 0: not said */
} abut_scene_proxy;

/* A body that does not bend: a frame with the orthogonality energy, whose stiffness follows from its loads. */
typedef struct abut_scene_rigid {
    int is;                         /* 1: the object is rigid */
    int overlaps;                   /* 1: of parts that may overlap */
    int has_mass, has_center, has_inertia;
    double mass, center[3];         /* kg, m: in the place of those of the mesh */
    double inertia[6];              /* kg m^2 about the centre: xx, yy, zz, xy, xz, yz */
    double strain;                  /* largest |stretch - 1| at the end of a step */
    double stiffness;               /* Pa: kappa at the start; 0: by the loads */
    double ratio;                   /* of given principal moments of inertia to those of the mesh, or its inverse */
    int32_t material;               /* row of the scene's materials that has the orthogonality energy */
} abut_scene_rigid;
#define ABUT_RIGID_STRAIN 1e-4

/* A body or an obstacle; the mesh is where the scene starts. */
typedef struct abut_scene_object {
    char name[ABUT_SCENE_NAME], from[ABUT_SCENE_FROM];
    abut_mesh mesh;                 /* m */
    int obstacle;                   /* all its nodes are prescribed; its tets only serve to find the surface */
    int in_place;                   /* the scene's rotation, fit and lift leave it where it is and do not count it */
    int32_t material;               /* row of the scene's materials; -1: none (an obstacle); of an obstacle for friction alone */
    double velocity[3], spin[3];    /* m/s, rad/s: a body starts with them, an obstacle keeps them */
    int has_center;
    double center[3];               /* m, of the spin; otherwise the centre of the bounding box */
    int has_mu;
    double mu;
    double max_volume;              /* m^3: fill the closed surface with tets no larger than this; 0: leave it */
    int keep_surface;               /* ... without dividing its triangles */
    abut_scene_order order;         /* of its tets */
    double *fill;                   /* [nt] part of each tet that is solid, of a cage; more than 1, of a frame; NULL: 1 */
    abut_mesh reference;            /* whose mass, at the material's density, and centre the body shall have; empty: its own */
    double *density;                /* [nt] factor on the material's density for that (abut_scene_match); NULL: 1 */
    abut_scene_path path;           /* of an obstacle */
    abut_scene_shell shell;         /* of a body's triangles */
    double rod_radius;              /* m: a body's segments are rods; 0: it has none */
    int rod_curved;                 /* they are at rest as curved as their mesh; else straight */
    double *rod_length;             /* [ns] at rest, m */
    double particle_radius;         /* m: a body's isolated points are particles; 0: it has none */
    double contact_thickness;       /* m */
    int is_frame;                   /* its mesh is the tet of an affine frame (mesh/mesh.h) */
    abut_scene_rigid rigid;
    int lock[6];                    /* of a frame: translation of its centre along x, y, z, rotation about them */
    abut_scene_proxy proxy;
} abut_scene_object;

typedef struct abut_scene_plane {
    char name[ABUT_SCENE_NAME], from[ABUT_SCENE_FROM];
    double point[3], normal[3];     /* m; unit, out of the solid */
    int32_t material;               /* row of the scene's materials, for friction alone; -1: none */
    int has_mu;
    double mu;
} abut_scene_plane;

/* Nodes that satisfy every condition that is set. */
typedef struct abut_scene_select {
    char from[ABUT_SCENE_FROM];     /* the conditions */
    int32_t object;                 /* row of the scene's objects; -1: several, or all simulated ones */
    int32_t nobjects, *objects;     /* rows of the objects in a list; 0: `object` holds */
    int in_box, in_relative_box, in_sphere, in_half_space, in_cylinder, on_surface;
    double box[2][3];               /* m: smallest and largest corner */
    double relative[2][3];          /* corners of a box in fractions of the bounding box of the object, or of all bodies */
    double center[3], radius;       /* m: the sphere */
    double point[3], normal[3];     /* m; unit: the half-space on or behind the plane, as in an object */
    double axis[2][3], axis_radius; /* m: the cylinder around a segment, with flat ends */
    int32_t npoints;                /* points of the object's mesh by number, ascending; 0: all */
    int32_t *points;
} abut_scene_select;

/* Springs from selected nodes to the places that an object carries where they are at the start, or to a point. */
typedef struct abut_scene_attachment {
    char from[ABUT_SCENE_FROM];
    abut_scene_select select;
    int32_t to;                     /* object; -1: the point */
    double point[3];                /* m */
    double stiffness;               /* N/m, of each spring */
    double within;                  /* m: nodes further from the object's surface (or the point) are not tied */
} abut_scene_attachment;

/* Springs along two chains of edges, from the nodes of one to the places of the other with the same fraction of its
 * length. */
typedef struct abut_scene_seam {
    char from[ABUT_SCENE_FROM];
    abut_scene_select side[2];
    double stiffness;               /* N/m, of each spring; 0: Young's modulus times thickness of the first side */
} abut_scene_seam;

/* End of a motion.  Positions of nodes and objects are those at t = 0; before and behind are along the motion. */
enum { ABUT_STOP_TIME = 0,
       ABUT_STOP_GAP = 1 /* the foremost selected node is `gap` before the first node of `to` */,
       ABUT_STOP_PAST = 2 /* the last selected node has covered the fraction `gap` of the distance to the last node of `to` */,
       ABUT_STOP_AT = 3 /* the foremost selected node has the coordinate `gap` on the axis of the motion */,
       ABUT_STOP_WITH = 4 /* another motion ends */ };

enum { ABUT_ACT_MOVE = 0, ABUT_ACT_ACCELERATE = 1, ABUT_ACT_FORCE = 2 /* N over all nodes, divided by mass */,
       ABUT_ACT_KEYS = 3, ABUT_ACT_PATH = 4, ABUT_ACT_DENSITY = 5 /* force per volume at rest */,
       ABUT_ACT_TRACTION = 6 /* force per area at rest */, ABUT_ACT_PRESSURE = 7 /* the same, inwards */,
       ABUT_ACT_TORQUE = 8 /* N m about the centre of mass */ };

/** 1 if the act prescribes positions of nodes, 0 if it acts on them by a force. */
static inline int abut_act_moves(int act) { return act == ABUT_ACT_MOVE || act == ABUT_ACT_KEYS || act == ABUT_ACT_PATH; }

/* A pose at a time: where the nodes are then, seen from where they were at the start of the motion. */
typedef struct abut_scene_pose {
    double time;                    /* s, from the start of the motion */
    double shift[3];                /* m */
    double rotation[4];             /* unit quaternion, real part first, about the centre */
    double scale[3];                /* > 0, about the centre; first scaled, then rotated, then shifted */
    double factor;                  /* of a load, which has no pose */
} abut_scene_pose;

typedef struct abut_scene_motion {
    char from[ABUT_SCENE_FROM];
    abut_scene_select select;
    int act;
    double linear[3];               /* m/s, m/s^2, N, N m, N/m^3 or Pa; a pressure is the first */
    double angular[3];              /* rad/s */
    double scale[3];                /* 1/s: growth along each axis about the centre */
    int has_center, center_of_box;  /* ... of the box that a relative one is a fraction of */
    double center[3];               /* m, of rotation and scaling at t0; otherwise that of the selected nodes' bounding box */
    int32_t nposes;
    abut_scene_pose *pose;          /* ABUT_ACT_KEYS: the first one is where the nodes are, at time 0 */
    abut_scene_path path;           /* ABUT_ACT_PATH: of the points of the one object selected; times from t0 */
    abut_scene_table factor;        /* of a load; times from t0 */
    int smooth;                     /* rests at every key */
    double window[2];               /* s: active in [t0, t1) */
    int stop;                       /* ABUT_STOP_*: rule for t1 */
    int32_t to;                     /* object of _GAP and _PAST, earlier motion of _WITH */
    abut_param gap;                 /* m of _GAP and _AT; of _PAST the fraction of the distance */
    int hold;                       /* 1: after t1 the nodes stay fixed until another motion moves them */
} abut_scene_motion;

/* A joint of two rigid objects, of the world and one, or of a rigid and a soft one. */
typedef struct abut_scene_joint {
    char name[ABUT_SCENE_NAME], from[ABUT_SCENE_FROM];
    int kind, has[ABUT_JOINTS];     /* ABUT_JOINT_*; the kinds that are said */
    int32_t body[2];                /* rows of the objects; the first -1: the world */
    int has_axis, has_at, has_direction, contact;
    double axis[2][3];              /* m: two points; at and direction are made of them */
    double at[3], direction[3];     /* m; unit */
    double second[3], to[3];        /* unit, of a universal joint; m, of a distance */
    double drive[4];                /* of a hinge or slider: stiffness, rest, damper, load; SI */
    int has_limits;
    double limit[2];                /* rad or m */
    double friction;                /* N m or N */
    abut_scene_select select;       /* of a weld: nodes of the second body */
    int32_t of[2], held;            /* of a gear: rows of two joints; the object of both, which does not move freely; -1: none */
    double ratio;                   /* of a gear: coordinate of the first over that of the second */
} abut_scene_joint;

/* A motor of a hinge or slider. */
typedef struct abut_scene_motor {
    char from[ABUT_SCENE_FROM];
    int32_t joint;
    int kind;                       /* ABUT_MOTOR_* */
    abut_scene_table value;         /* times from t0 */
    int smooth;
    double stiffness, damper, most; /* SI; both 0: exact; largest torque or force, infinite without */
    double window[2];               /* s: active in [t0, t1) */
} abut_scene_motor;

extern const char *const abut_joint_names[ABUT_JOINTS];

/* Friction of two things, objects first, then half-spaces (row + number of objects); or of two materials. */
typedef struct abut_scene_pair {
    int of_materials;
    int32_t a, b;                   /* rows of things or of materials, in any order */
    double mu;
    char from[ABUT_SCENE_FROM];
} abut_scene_pair;

/* Attraction of two things by a linear fall-off: things as in abut_scene_pair. */
typedef struct abut_scene_cohesion {
    int32_t a, b;
    double force, range;            /* N at no gap, m */
    char from[ABUT_SCENE_FROM];
} abut_scene_cohesion;

/* Keys of a scene whose value is a number or a word, by the map that they are in: each row makes a member of abut_scene, its
 * default, and the row of the reader (formats/scene/scene_read.c).  REAL: type, member, key, quantity, range, default, label;
 * WORD: type, member, key, words, default, label.  --explain writes values other than the default under the label; NULL: it has
 * its own words for them. */
#define ABUT_TIME_KEYS(REAL, WORD) \
    REAL(abut_param, step, "step", TIME, "(0,)", 0.01, NULL)  /* s */ \
    REAL(abut_param, end, "end", TIME, "(0,)", 0, "end")  /* s; 0: not said */ \
    WORD(int, scheme, "scheme", abut_scheme_names, 0, NULL)  /* row of model/schemes.h */
#define ABUT_NEWMARK_KEYS(REAL) \
    REAL(abut_param, newmark_beta, "beta", PURE, "(0,)", ABUT_NEWMARK_BETA, NULL) \
    REAL(abut_param, newmark_gamma, "gamma", PURE, "(0,)", ABUT_NEWMARK_GAMMA, NULL)
#define ABUT_DAMPING_KEYS(REAL) \
    REAL(abut_param, damp_mass, "mass", PER_TIME, "[0,)", 0, "mass damping")  /* 1/s */ \
    REAL(abut_param, damp_stiffness, "stiffness", TIME, "[0,)", 0, "stiffness damping")  /* s */
#define ABUT_CONTACT_KEYS(REAL, WORD) \
    WORD(int, bodies_off, "bodies", ABUT_WORDS("on", "off"), 0, NULL)  /* 1: bodies meet no body */ \
    WORD(int, start_pressed, "start", ABUT_WORDS("apart", "pressed"), 0, NULL)  /* 1: a start may part bodies */ \
    REAL(abut_param, dhat, "dhat", LENGTH_OR_L, "(0,)", 1e-3, NULL)  /* m */ \
    WORD(int, formulation, "formulation", ABUT_WORDS("ipc", "area"), 0, "formulation")  /* ABUT_CONTACT_*: weights */ \
    REAL(abut_param, edge_share, "edge-share", PURE, "(0,1)", ABUT_EDGE_SHARE, "edge share")  /* of contact weighed by area */ \
    WORD(int, fixed_reach, "reach", ABUT_WORDS("adaptive", "fixed"), 0, "reach")  /* 1: a surface meets itself within dhat */ \
    REAL(abut_param, kappa_scale, "kappa-scale", PURE, "(0,)", 1, "kappa scale")  /* of the bounds of the barrier stiffness */ \
    REAL(abut_param, kappa_range, "kappa-range", PURE, "[1,)", 100, NULL)  /* the upper of these over the lower */
#define ABUT_BARRIER_KEYS(REAL, WORD) \
    REAL(abut_param, stiffen_below, "stiffen-below", LENGTH_OR_L, "(0,)", 0, NULL)  /* m; 0: derived */ \
    REAL(abut_param, barrier_filter, "filter", PURE, "[0,1)", 0, NULL)  /* of dhat; 0: none */ \
    WORD(int, barrier_kappa, "kappa", ABUT_WORDS("own", "ipc"), 0, NULL)  /* 1: bounds by ipc, for every law */ \
    REAL(abut_param, pressure, "pressure", PRESSURE, "(0,)", 0, NULL)  /* Pa, of contact weighed by area; 0: derived */ \
    REAL(abut_param, fixed_kappa, "fixed-kappa", PURE, "(0,)", 0, NULL)  /* kg/m^2, in all steps; 0: between its bounds */ \
    WORD(int, mollifier_off, "mollifier", ABUT_WORDS("on", "off"), 0, NULL)  /* 1: nearly parallel edges are contacts as others */
#define ABUT_FRICTION_KEYS(REAL, WORD) \
    REAL(abut_param, mu, "mu", PURE, "[0,)", 0, NULL) \
    REAL(abut_param, eps_v, "eps_v", SPEED_OR_L, "(0,)", 0, NULL)  /* m/s; 0: derived (scene/build_parameters.c) */ \
    WORD(int, friction_law, "smoothing", abut_friction_names, ABUT_FRICTION_C1, NULL)
#define ABUT_TOP_KEYS(REAL, WORD) \
    REAL(abut_param, tolerance, "tolerance", SPEED_OR_L, "(0,)", 0, NULL)  /* m/s; 0: derived */ \
    REAL(abut_param, force_tolerance, "force-tolerance", PURE, "(0,)", 0.1, NULL) /* of the largest force; 0: not tested */ \
    WORD(int, length_of_box, "length", ABUT_WORDS("bodies", "bounding-box"), 0, NULL) /* 1: l: the diagonal of all */ \
    WORD(int, solver, "solver", ABUT_WORDS("newton", "nodal", "sqp", "qp"), 0, NULL)  /* ABUT_SOLVED_BY_* */ \
    REAL(double, fit, "fit", LENGTH, "(0,)", 0, NULL)  /* m: longest side, the lower corner goes to 0; 0: none */ \
    REAL(abut_param, lift, "lift", LENGTH_OR_L, NULL, 0, NULL)  /* m: after fit, along y; half-spaces stay */
/* Keys that become an array of the model where the scene has them; the last column is its name.  WHOLE: a whole number. */
#define ABUT_NODAL_KEYS(REAL, WORD, WHOLE) \
    WHOLE(abut_param, newton, "newton", "[1,100000]", "nodal/newton") \
    WHOLE(abut_param, iterations, "iterations", "[1,100000]", "nodal/iterations") \
    WHOLE(abut_param, sweeps, "sweeps", "[1,100000]", "nodal/sweeps") \
    REAL(abut_param, tolerance, "tolerance", LENGTH_OR_L, "(0,)", "nodal/tolerance") \
    REAL(abut_param, gap, "gap", LENGTH_OR_L, "(0,)", "nodal/gap") \
    REAL(abut_param, beta, "beta", PURE, "(0,)", "nodal/beta") \
    REAL(abut_param, sigma, "sigma", PURE, "(0,)", "nodal/sigma") \
    REAL(abut_param, freeze, "freeze", PURE, "[0,)", "nodal/freeze") \
    WORD(abut_param, returned, "return", ABUT_WORDS("feasible", "elastic"), "nodal/return") \
    WORD(abut_param, integrator, "integrator", ABUT_WORDS("newton", "admm"), "nodal/integrator") \
    WORD(abut_param, accelerated, "accelerated", abut_false_true, "nodal/accelerated") \
    REAL(abut_param, compliance, "compliance", STIFFNESS, "(0,)", "nodal/compliance")
#define ABUT_SQP_KEYS(REAL, WORD, WHOLE) \
    WORD(abut_param, constraints, "constraints", abut_constraint_names, "sqp/constraints") \
    WORD(abut_param, active_set, "active-set", abut_active_set_names, "sqp/active-set") \
    REAL(abut_param, offset, "offset", LENGTH_OR_L, "[0,)", "sqp/offset")
#define ABUT_MEMBER(type, member, ...) type member;

/* Owns everything in it; zero-filled is a valid empty scene without defaults. */
typedef struct abut_scene {
    ABUT_TIME_KEYS(ABUT_MEMBER, ABUT_MEMBER)
    ABUT_NEWMARK_KEYS(ABUT_MEMBER)
    ABUT_DAMPING_KEYS(ABUT_MEMBER)
    ABUT_CONTACT_KEYS(ABUT_MEMBER, ABUT_MEMBER)
    ABUT_BARRIER_KEYS(ABUT_MEMBER, ABUT_MEMBER)
    ABUT_FRICTION_KEYS(ABUT_MEMBER, ABUT_MEMBER)
    ABUT_TOP_KEYS(ABUT_MEMBER, ABUT_MEMBER)
    struct abut_scene_nodal { ABUT_NODAL_KEYS(ABUT_MEMBER, ABUT_MEMBER, ABUT_MEMBER) } nodal;    /* from "": not said */
    struct abut_scene_sqp { ABUT_SQP_KEYS(ABUT_MEMBER, ABUT_MEMBER, ABUT_MEMBER) } sqp;          /* from "": not said */
    double gravity[3];              /* m/s^2 */
    double wind[3];                 /* m/s */
    int contact_off;                /* nothing has a collision surface */
    int barrier_law;                /* ABUT_BARRIER_IPC, ... */
    abut_param lags;                /* friction lag iterations per step; 0: until they converge */
    int is_rotated;                 /* before fit, the scene is rotated about the origin by ... */
    double rotation[9];             /* ... this matrix, row-major */
    abut_scene_material *material;
    abut_scene_object *object;
    abut_scene_plane *plane;
    abut_scene_motion *motion;
    abut_scene_pair *pair;
    abut_scene_attachment *attachment;
    int32_t nattachments;
    abut_scene_seam *seam;
    int32_t nseams;
    abut_scene_joint *joint;
    abut_scene_motor *motor;
    int32_t njoints, nmotors;
    abut_scene_cohesion *cohesion;
    int32_t ncohesions;
    int32_t nmaterials, nobjects, nplanes, nmotions, npairs, nexcluded;
    int32_t (*excluded)[2];         /* objects that do not meet: ascending pairs, the smaller first */
} abut_scene;

/** The defaults: 0.01 s, gravity -9.81 m/s^2 along y, dhat 1e-3 l, speeds derived, no friction, 1 lag. */
abut_scene abut_scene_defaults(void);

/** *rows: n zero-filled rows of `size` bytes in place of those that were there; *count: n.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_scene_rows(void *rows, int32_t *count, int32_t n, size_t size, abut_err *err);

/** Places the scene as a whole, without objects that stay in_place.  Rotates it about the origin; then scales and moves it by
 * `fit` (longest side of the common bounding box = fit, its lower corner at 0); then raises it by `lift`, which may be a fraction
 * of the diagonal of the bounding box of the simulated nodes. */
void abut_scene_place(abut_scene *s);

/** Adds materials with the orthogonality energy for rigid objects, of which they have the names and densities; once, after the
 * objects.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_scene_rigid_materials(abut_scene *s, abut_err *err);

/** x -> A x + b for all positions of nv points each. */
void abut_scene_path_transform(abut_scene_path *path, int32_t nv, const double A[9], const double b[3]);

void abut_scene_clear(abut_scene *s);
void abut_scene_select_clear(abut_scene_select *s);
/** The objects of a selection: "ball, bar", or "all bodies".  Returns buf. */
const char *abut_scene_select_words(const abut_scene *s, const abut_scene_select *select, char *buf, size_t size);

/* ---- orders of tets: from the given mesh to the nodes of displacement ----
 *
 * A straight mesh whose surface approximates a smooth one (mesh/tet_nodes.h) gets the order of its rest shape before it is
 * placed; so curved tets are placed, scaled and repeated.  Last, tets get the nodes of the order of displacement.  Rigid motions
 * and linear fields are sums of the bases of order k on a shape of order g only if g <= k.  So the shape gets the order min(g, k)
 * unless the scene sets more (Ferguson et al. 2023 have shapes of order 4 with k = 1 and 2). */

/** Makes the rest shape of an object: once, when its mesh has all its tets and before it is placed (a surface filled with tets:
 * after it is placed).
 * Fails  ABUT_E_FORMAT an order above 1 for an obstacle or an object without tets, a shape of an order above the mesh's, a
 *        surface for a mesh of order 2 or more; ABUT_E_GEOM as abut_mesh_curve; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_scene_shape(abut_scene_object *o, abut_err *err);

/** Makes the nodes of displacement of all placed objects, once.  Fails  ABUT_E_FORMAT too many points; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_scene_orders(abut_scene *s, abut_err *err);

/** Order of displacement: as given, else of the mesh. */
int abut_scene_order_of(const abut_scene_object *o);

/** Fills `density` of the objects that have a reference: once, when all are placed and have their orders.
 * Fails  ABUT_E_GEOM a reference without volume, tets that cannot have its mass; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_scene_match(abut_scene *s, abut_err *err);

#endif

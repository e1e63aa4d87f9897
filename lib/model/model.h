/* The simulated system (MODEL) and its state (FRAME), as plain arrays.
 *
 * The arrays live in an abut_arrays set, under the names of the tables below (formats/STATE.md describes each);
 * abut_model and abut_frame are views: typed pointers into the set, checked once, owning nothing.  A pointer
 * in a view is good as long as its set lives unchanged.  A new array is one line in a table. */
#ifndef ABUT_MODEL_MODEL_H
#define ABUT_MODEL_MODEL_H

#include "base/array.h"
#include "model/laws.h"

/* Largest coordinate, velocity or acceleration of a stream. */
#define ABUT_FARTHEST 1e50
/* Distances are less, m: pairs are looked for in boxes of floats. */
#define ABUT_DISTANCE_MOST 1e30

enum { ABUT_NODAL_MOST = 100000 };  /* nodal/newton, nodal/iterations, nodal/sweeps at most */

/* Roles of nodes.  Only FREE and HANDLE nodes carry mass in the objective. */
enum { ABUT_NODE_FREE = 0, ABUT_NODE_HANDLE = 1 /* of a body, some motion moves it */, ABUT_NODE_OBSTACLE = 2 };

/* Membranes of shells; formulas in energy/membrane.h.  The numbers stand in streams: append only. */
enum { ABUT_MEMBRANE_ISOTROPIC = 0 /* the constitutive model in plane stress */,
       ABUT_MEMBRANE_ORTHOTROPIC = 1 /* StVK along warp and weft */, ABUT_MEMBRANE_CLOTH = 2 /* that, bounded in strain */,
       ABUT_MEMBRANE_BARAFF_WITKIN = 3 /* stretch along warp and weft, and shear */, ABUT_MEMBRANES = 4 /* how many */ };

/* Newmark's beta and gamma where a model says none: the trapezoidal rule.  Steps of any length are stable for gamma >= 1/2 and
 * beta >= gamma / 2 (Hughes 1987, 9.1). */
#define ABUT_NEWMARK_BETA 0.25
#define ABUT_NEWMARK_GAMMA 0.5

/* States before the start of a step that a scheme may know: node/x1 and node/v1 one step earlier, ... */
enum { ABUT_PAST = 5 };

/* Solver that a scene chooses.  The numbers stand in streams: append only. */
enum { ABUT_SOLVED_BY_BARRIER = 0, ABUT_SOLVED_BY_NODAL = 1 /* exact Coulomb friction on nodes */,
       ABUT_SOLVED_BY_SQP = 2 /* linearised inequalities */, ABUT_SOLVED_BY_QP = 3 /* as one quadratic program */,
       ABUT_SOLVED_BY = 4 /* how many */ };

/* The inequality that solvers sqp and qp have for a pair (geom/dist.h).  The numbers stand in streams: append only. */
enum { ABUT_CONSTRAINT_GAP = 0, ABUT_CONSTRAINT_VOLUME = 1, ABUT_CONSTRAINT_IMPACT = 2 /* frozen there */, ABUT_CONSTRAINTS };
/* Pairs that solvers sqp and qp take.  The numbers stand in streams: append only. */
enum { ABUT_ACTIVE_BOTH = 0, ABUT_ACTIVE_IMPACTS = 1, ABUT_ACTIVE_NEAR = 2, ABUT_ACTIVE_SETS };

/* Contacts are weighed by the number of their pairs, or the area that they stand for (contact/area.h).  The numbers stand in
 * streams: append only. */
enum { ABUT_CONTACT_IPC = 0, ABUT_CONTACT_AREA = 1, ABUT_CONTACT_FORMULATIONS };
#define ABUT_EDGE_SHARE 0.1

/* Kinds of motions (model/motion.h).  The numbers stand in streams: append only. */
enum { ABUT_MOTION_MOVE = 0 /* prescribed velocity */, ABUT_MOTION_FORCE = 1 /* acceleration added to gravity */,
       ABUT_MOTION_KEYS = 2 /* poses at given times */, ABUT_MOTION_PATH = 3 /* positions at given times */,
       ABUT_MOTION_KINDS = 4 /* how many */ };

/* Origin of the accelerations of a FORCE motion.  The numbers stand in streams: append only. */
enum { ABUT_BY_FORCE_NONE = 0, ABUT_BY_FORCE_ON_ALL = 1 /* a force over the mass of all its nodes */,
       ABUT_BY_FORCE_ON_EACH = 2 /* forces, each over the mass of its node */, ABUT_BY_FORCES = 3 /* how many */ };

/* Counts of the MODEL: nodes, tets, materials, objects; collision vertices, edges, triangles; friction classes,
 * half-spaces, motions, nodes listed by motions; times of keys, positions of paths; attachments; shell triangles, hinges between
 * them, rod segments, bends between those, particles, springs, knots of splines; entries of the map of collision vertices; nodes of
 * tets beyond their corners, nodes of the geometry of tets (model/tets.h); pairs of objects that do not meet;
 * locked combinations; joints, rows of them, keys of their motors. */
#define ABUT_MODEL_COUNTS(C) C(nv) C(nt) C(nm) C(no) C(nc) C(nce) C(nct) C(ng) C(nh) C(nmo) C(nmn) C(nk) C(npx) C(na) \
    C(nsh) C(nhg) C(nrd) C(nbd) C(np) C(nsp) C(nkn) C(nmap) C(nmore) C(ngx) C(nex) C(nlk) \
    C(njo) C(njr) C(njk)

/* Kinds of joints (scene/build_rigid.c).  The numbers stand in streams: append only. */
enum { ABUT_JOINT_BALL, ABUT_JOINT_HINGE, ABUT_JOINT_FIXED, ABUT_JOINT_CYLINDER, ABUT_JOINT_SLIDER, ABUT_JOINT_PLANAR,
       ABUT_JOINT_PIN_SLOT, ABUT_JOINT_UNIVERSAL, ABUT_JOINT_DISTANCE, ABUT_JOINT_GEAR, ABUT_JOINT_WELD,
       ABUT_JOINTS };

/* Values of the keys of a motor: the coordinate of its joint, the rate of that, or the torque or force.  Append only. */
enum { ABUT_MOTOR_NONE, ABUT_MOTOR_PLACE, ABUT_MOTOR_RATE, ABUT_MOTOR_EFFORT, ABUT_MOTORS };

/* The MODEL.  F(member, array name, C type, dtype, rows, width, unit, rule, range)
 *   rows   count that all arrays with this entry share, n3 for exactly 3, or 1 with width 0 for a number (rank 0)
 *   width  numbers per row, or a count; 0: a plain vector
 *   rule   NEED: must be there; OPT: if absent, its pointer is NULL and its count is 0;
 *          MAY: may be absent (pointer NULL) with any count;
 *          SIDE: as MAY, used by one program alone; other programs export it as an unknown array.
 *   range  numbers that it may have, all of them finite:
 *          ANY; ENDLESS: infinite ones, too; ABOVE(x): more than x; FROM(x): x or more; IN(x, y): x <= number < y;
 *          WITHIN(x, y): x < number < y; PART: in (0, 1]; NAMES(list): number of a name; NEAR: at most ABUT_FARTHEST, so that
 *          products of six are finite; UNIT(e): vectors of three or four numbers have length 1 within e;
 *          ROW(n): row of the arrays with n rows, of MODEL or FRAME; ROW_OR_NONE(n): -1, too; CORNERS(n), CORNERS_OR_NONE(n): each
 *          at most once in a row.
 * Relations between arrays are in check.c, motion.c, tets.c, and those of frames in model.c. */
#define ABUT_MODEL_FIELDS(F) \
    F(X,             "node/X",             double,  F64, nv, 3, "m",      NEED, NEAR) /* rest positions                         */ \
    F(mass,          "node/mass",          double,  F64, nv, 0, "kg",     NEED, ANY) /* lumped; > 0, of obstacles >= 0         */ \
    F(role,          "node/role",          int32_t, I32, nv, 0, "",       NEED, IN(0, ABUT_NODE_OBSTACLE + 1)) /* ABUT_NODE_*                            */ \
    F(body,          "node/object",        int32_t, I32, nv, 0, "",       NEED, ROW(no)) /* row of object/                         */ \
    F(tet,           "tet/node",           int32_t, I32, nt, 4, "",       OPT, CORNERS(nv))  /* positively oriented at rest            */ \
    F(tet_mat,       "tet/material",       int32_t, I32, nt, 0, "",       OPT, ROW(nm))  /* row of material/                       */ \
    F(tet_order,     "tet/order",          int32_t, I32, nt, 0, "",       MAY, ANY)  /* 1 to 4 (model/tets.h); absent: 1 */ \
    F(tet_first,     "tet/first",          int32_t, I32, nt, 0, "",       MAY, ANY)  /* first row of tet/more; needed by tet/order */ \
    F(tet_more,      "tet/more",           int32_t, I32, nmore, 0, "",    OPT, ROW(nv))  /* nodes after the corners, tet by tet */ \
    F(tet_density,   "tet/density-scale",  double,  F64, nt, 0, "",       MAY, ABOVE(0))  /* factor on the density of the material; absent: 1 */ \
    F(tet_fill,      "tet/fill",           double,  F64, nt, 0, "",       MAY, ABOVE(0))  /* factor on mass and elastic energy: volume of the body over that of the tet; absent: 1 */ \
    F(mat_quadrature, "material/quadrature", int32_t, I32, nm, 2, "",     MAY, ANY)  /* degrees for tets of order 2 and more: elastic energy, mass; 0: by order */ \
    F(geo_order,     "geometry/order",     int32_t, I32, nt, 0, "",       MAY, ANY)  /* of the rest shape where it exceeds tet/order; absent: the same */ \
    F(geo_first,     "geometry/first",     int32_t, I32, nt, 0, "",       MAY, ANY)  /* first row of geometry/X; needed by geometry/order */ \
    F(geo_X,         "geometry/X",         double,  F64, ngx, 3, "m",     OPT, NEAR)  /* places of those nodes, tet by tet */ \
    F(mat_model,     "material/model",     int32_t, I32, nm, 0, "",       OPT, NAMES(abut_material_names))  /* ABUT_NEO_HOOKEAN, ...                  */ \
    F(mat_density,   "material/density",   double,  F64, nm, 0, "kg/m^3", OPT, ABOVE(0))  \
    F(mat_young,     "material/young",     double,  F64, nm, 0, "Pa",     OPT, ABOVE(0))  \
    F(mat_poisson,   "material/poisson",   double,  F64, nm, 0, "",       OPT, WITHIN(-1, 0.5))  \
    F(obj_friction,  "object/friction",    int32_t, I32, no, 0, "",       NEED, ROW(ng)) /* row and column of contact/mu           */ \
    F(coll_node,     "contact/node",       int32_t, I32, nc, 0, "",       MAY, ROW(nv))  /* node of each collision vertex; needed, or map-first */ \
    F(map_first,     "contact/map-first",  int32_t, I32, nc, 2, "",       MAY, ANY)  /* [lo, hi) rows of the next two: a vertex is the weighted sum of its nodes */ \
    F(map_node,      "contact/map-node",   int32_t, I32, nmap, 0, "",     OPT, ROW(nv))  \
    F(map_weight,    "contact/map-weight", double,  F64, nmap, 0, "",     OPT, ANY)  \
    F(map_offset,    "contact/offset",     double,  F64, nc, 3, "m",      MAY, NEAR)  /* added to that                          */ \
    F(coll_edge,     "contact/edge",       int32_t, I32, nce, 2, "",      OPT, ROW(nc))  /* collision vertices; unique, a < b      */ \
    F(coll_tri,      "contact/triangle",   int32_t, I32, nct, 3, "",      OPT, CORNERS(nc))  /* collision vertices, outward            */ \
    F(excluded,      "contact/excluded",   int32_t, I32, nex, 2, "",      OPT, ROW(no))  /* objects that do not meet; ascending, the smaller first; one: its parts */ \
    F(mu,            "contact/mu",         double,  F64, ng, ng, "",      NEED, FROM(0)) /* friction coefficient of two classes    */ \
    F(hs_point,      "half-space/point",   double,  F64, nh, 3, "m",      OPT, ANY)  \
    F(hs_normal,     "half-space/normal",  double,  F64, nh, 3, "",       OPT, UNIT(1e-9))  /* unit, out of the solid                 */ \
    F(hs_friction,   "half-space/friction", int32_t, I32, nh, 0, "",      OPT, ROW(ng))  /* row of contact/mu                      */ \
    F(mo_kind,       "motion/kind",        int32_t, I32, nmo, 0, "",      OPT, IN(0, ABUT_MOTION_KINDS))  /* ABUT_MOTION_*                          */ \
    F(mo_window,     "motion/window",      double,  F64, nmo, 2, "s",     OPT, ENDLESS)  /* active in [t0, t1); may be infinite    */ \
    F(mo_linear,     "motion/linear",      double,  F64, nmo, 3, "m/s",   OPT, ANY)  /* MOVE: velocity; FORCE: m/s^2           */ \
    F(mo_angular,    "motion/angular",     double,  F64, nmo, 3, "rad/s", OPT, ANY)  /* MOVE: rotation vector rate             */ \
    F(mo_center,     "motion/center",      double,  F64, nmo, 3, "m",     OPT, ANY)  /* of rotation, at max(t0, 0); moves with linear */ \
    F(mo_first,      "motion/first",       int32_t, I32, nmo, 2, "",      OPT, ANY)  /* [lo, hi) rows of motion/node           */ \
    F(mo_node,       "motion/node",        int32_t, I32, nmn, 0, "",      OPT, ROW(nv))  \
    F(mo_scale,      "motion/scale",       double,  F64, nmo, 3, "1/s",   MAY, ANY)  /* MOVE: growth along each axis about the center */ \
    F(mo_share,      "motion/share",       double,  F64, nmn, 3, "",      MAY, ANY)  /* FORCE: what a node gets of linear; absent: 1 */ \
    F(mo_newtons,    "motion/newtons",     int32_t, I32, nmo, 0, "",      MAY, IN(0, 2))  /* FORCE: 1: linear times share is a force, N; absent: 0 */ \
    F(mo_by_force,   "motion/by-force",    int32_t, I32, nmo, 0, "",      MAY, IN(0, ABUT_BY_FORCES))  /* ABUT_BY_FORCE_*: what FORCE in m/s^2 was made of; absent: 0 */ \
    F(mo_entry,      "motion/entry",       int32_t, I32, nmo, 0, "",      MAY, IN(-1, INT32_MAX))  /* place in the list `motion` of the scene, from 0; -1: in none; absent: the row */ \
    F(mo_key,        "motion/key",         int32_t, I32, nmo, 2, "",      MAY, ANY)  /* KEYS, PATH, FORCE with factors: [lo, hi) rows of key/ */ \
    F(mo_smooth,     "motion/smooth",      int32_t, I32, nmo, 0, "",      MAY, IN(0, 2))  /* with keys: 1 rests at every key        */ \
    F(mo_path,       "motion/path",        int32_t, I32, nmo, 0, "",      MAY, ANY)  /* PATH: its first row of path/x, a row for each node, key by key */ \
    F(key_time,      "key/time",           double,  F64, nk, 0, "s",      OPT, ANY)  /* ascending in each motion               */ \
    F(key_shift,     "key/translation",    double,  F64, nk, 3, "m",      MAY, ANY)  /* KEYS; needed then, as are the next two */ \
    F(key_turn,      "key/rotation",       double,  F64, nk, 4, "",       MAY, UNIT(1e-9))  /* unit quaternion, real part first       */ \
    F(key_scale,     "key/scale",          double,  F64, nk, 3, "",       MAY, ABOVE(0))  /* > 0                                    */ \
    F(key_factor,    "key/factor",         double,  F64, nk, 0, "",       MAY, ANY)  /* of loads: what is multiplied by it at that time; absent: 1 */ \
    F(path_x,        "path/x",             double,  F64, npx, 3, "m",     OPT, ANY)  \
    F(mo_torque,     "motion/torque",      double,  F64, nmo, 3, "N m",   MAY, ANY)  /* FORCE: of accelerations that turn its nodes about their centre of mass; absent: 0 */ \
    F(lock_node,     "lock/node",          int32_t, I32, nlk, 4, "",      OPT, CORNERS(nv))  /* nodes of a frame, a combination of which does not change */ \
    F(lock_row,      "lock/row",           double,  F64, nlk, 12, "",     OPT, ANY)  /* of their coordinates, node by node; unit rows, orthogonal to others of these nodes */ \
    F(joint_kind,    "joint/kind",         int32_t, I32, njo, 0, "",      OPT, IN(0, ABUT_JOINTS))  /* ABUT_JOINT_* */ \
    F(joint_node,    "joint/node",         int32_t, I32, njo, 8, "",      OPT, CORNERS_OR_NONE(nv))  /* of two rigid objects, four each; first -1: the world; of a weld a rigid object and one node */ \
    F(joint_first,   "joint/first",        int32_t, I32, njo, 2, "",      OPT, ANY)  /* [lo, hi) rows of the next two */ \
    F(joint_along,   "joint/along",        double,  F64, njr, 11, "1/m",  OPT, ANY)  /* u of a row u . w - c = 0: weights of the nodes, a constant without unit */ \
    F(joint_apart,   "joint/apart",        double,  F64, njr, 12, "m",    OPT, ANY)  /* w: weights without unit, a constant; c */ \
    F(joint_axis,    "joint/axis",         double,  F64, njo, 3, "",      OPT, ANY)  /* unit, at rest; 0, 0, 0: it has none */ \
    F(joint_point,   "joint/point",        double,  F64, njo, 3, "m",     OPT, NEAR)  /* where it is at rest */ \
    F(joint_drive,   "joint/drive",        double,  F64, njo, 4, "",      MAY, ANY)  /* of its coordinate: stiffness, rest, damper, load; in rad or m, and N m or N of them; 0: none */ \
    F(joint_limit,   "joint/limit",        double,  F64, njo, 4, "",      MAY, ENDLESS)  /* of its coordinate: least, largest, width of the stops, their stiffness, N m/rad or N/m */ \
    F(joint_friction, "joint/friction",    double,  F64, njo, 2, "",      MAY, FROM(0))  /* of its coordinate: N m or N; rate, in a second, below which it sticks */ \
    F(joint_gear,    "joint/gear",         int32_t, I32, njo, 2, "",      MAY, ROW_OR_NONE(njo))  /* of a gear: two hinges or sliders; else -1 */ \
    F(joint_ratio,   "joint/ratio",        double,  F64, njo, 2, "",      MAY, ANY)  /* of a gear: r of q_1 - r q_2 = 0; what that is multiplied by, m or 1 */ \
    F(joint_weld,    "joint/weld",         int32_t, I32, njo, 0, "",      MAY, ROW_OR_NONE(njo))  /* of a weld: the first row of its nodes; else -1 */ \
    F(joint_motor,   "joint/motor",        int32_t, I32, njo, 4, "",      MAY, ANY)  /* ABUT_MOTOR_*; [lo, hi) rows of joint/key; 1: smooth between them */ \
    F(joint_motor_law, "joint/motor-law",  double,  F64, njo, 5, "",      MAY, ENDLESS)  /* from, until, s; stiffness, damper, both 0: exact; largest torque or force */ \
    F(joint_key,     "joint/key",          double,  F64, njk, 2, "",      OPT, ANY)  /* s since `from`, ascending in each motor; value */ \
    F(attach_node,      "attachment/node",    int32_t, I32, na, 5, "",       OPT, CORNERS_OR_NONE(nv))  /* a node, and up to four that carry the place it is tied to; -1 unused */ \
    F(attach_weight,    "attachment/weight",  double,  F64, na, 4, "",       OPT, ANY)  /* of the four                            */ \
    F(tie_offset,    "attachment/offset",  double,  F64, na, 3, "m",      OPT, ANY)  /* added to their weighted sum            */ \
    F(attach_stiffness, "attachment/stiffness", double, F64, na, 0, "N/m",   OPT, ABOVE(0))  /* > 0                                    */ \
    F(shell,         "shell/node",         int32_t, I32, nsh, 3, "",      OPT, CORNERS(nv))  /* a triangle with a membrane            */ \
    F(shell_mat,     "shell/material",     int32_t, I32, nsh, 0, "",      OPT, ROW(nm))  /* row of material/                      */ \
    F(shell_thick,   "shell/thickness",    double,  F64, nsh, 0, "m",     OPT, ABOVE(0))  /* of the material, tau; > 0             */ \
    F(shell_rest,    "shell/rest",         double,  F64, nsh, 4, "m",     OPT, ANY)  /* rest edges X1 - X0, X2 - X0 as the columns of a 2x2 matrix, row major; rows: warp, weft */ \
    F(shell_limit,   "shell/stretch-limit", double, F64, nsh, 4, "",      MAY, ANY)  /* principal stretches stay in (low, high), barrier beyond (low', high'): low, low', high', high; 0, 0: no lower, no upper one */ \
    F(hinge,         "hinge/node",         int32_t, I32, nhg, 4, "",      OPT, CORNERS(nv))  /* edge, then what is opposite in (0, 1, 2) and (1, 0, 3) */ \
    F(hinge_angle,   "hinge/angle",        double,  F64, nhg, 0, "rad",   OPT, ANY)  /* at rest                               */ \
    F(hinge_stiffness, "hinge/stiffness",  double,  F64, nhg, 0, "J",     OPT, FROM(0))  /* k of k (theta - angle)^2; >= 0        */ \
    F(rod,           "rod/node",           int32_t, I32, nrd, 2, "",      OPT, CORNERS(nv))  /* a segment                             */ \
    F(rod_mat,       "rod/material",       int32_t, I32, nrd, 0, "",      OPT, ROW(nm))  /* row of material/                      */ \
    F(rod_radius,    "rod/radius",         double,  F64, nrd, 0, "m",     OPT, ABOVE(0))  /* of the material; > 0                  */ \
    F(rod_length,    "rod/length",         double,  F64, nrd, 0, "m",     OPT, ABOVE(0))  /* at rest; > 0                          */ \
    F(bend,          "bend/node",          int32_t, I32, nbd, 3, "",      OPT, CORNERS(nv))  /* two segments in a row; straight at rest */ \
    F(bend_stiffness, "bend/stiffness",    double,  F64, nbd, 0, "J",     OPT, FROM(0))  /* k of k |curvature binormal|^2; >= 0   */ \
    F(rod_curvature, "rod/curvature",      double,  F64, nbd, 2, "1/m",   MAY, ANY)  /* of bends at rest, in the material frames of energy/curved_rod.h */ \
    F(rod_twist,     "rod/twist",          double,  F64, nbd, 0, "rad",   MAY, ANY)  /* of bends at rest; needs rod/curvature */ \
    F(particle,      "particle/node",      int32_t, I32, np, 0, "",       OPT, ROW(nv))  /* a node without elements               */ \
    F(particle_radius, "particle/radius",  double,  F64, np, 0, "m",      OPT, ABOVE(0))  /* of the material; > 0                  */ \
    F(spring,        "spring/node",        int32_t, I32, nsp, 2, "",      OPT, CORNERS(nv))  /* energy/spring.c                       */ \
    F(spring_length, "spring/length",      double,  F64, nsp, 0, "m",     OPT, ABOVE(0))  /* at rest; > 0                          */ \
    F(spring_stiffness, "spring/stiffness", double, F64, nsp, 0, "N/m",   OPT, ABOVE(0))  /* > 0                                   */ \
    F(tet_fibre,     "tet/fibre",          double,  F64, nt, 3, "",       MAY, UNIT(5e-10))  /* unit direction at rest; needed by material/fibre */ \
    F(mat_fibre,     "material/fibre",     double,  F64, nm, 0, "Pa",     MAY, FROM(0))  /* stiffness along it (energy/material/model_laws.h); >= 0 */ \
    F(mat_volume,    "material/volume",    double,  F64, nm, 0, "Pa",     MAY, FROM(0))  /* of the squared distance to volume 1 (energy/material/model_laws.h); >= 0 */ \
    F(mat_stretch,   "material/stretch",   double,  F64, nm, 3, "",       MAY, ANY)  /* of that to stretches in [low, high]: stiffness in Pa >= 0, low, high */ \
    F(mat_spline,    "material/spline",    int32_t, I32, nm, 2, "",       MAY, ANY)  /* SPLINE: [lo, hi) rows of spline/; needed then */ \
    F(spline_knot,   "spline/knot",        double,  F64, nkn, 0, "",      OPT, ANY)  /* ascending in each material            */ \
    F(spline_slope,  "spline/slope",       double,  F64, nkn, 3, "Pa",    OPT, ANY)  /* a', b', c' there (energy/material/model_laws.h)    */ \
    F(mat_membrane,  "material/membrane",  int32_t, I32, nm, 0, "",       MAY, IN(0, ABUT_MEMBRANES))  /* ABUT_MEMBRANE_*; absent: isotropic    */ \
    F(mat_fabric,    "material/fabric",    double,  F64, nm, 4, "Pa",     MAY, ANY)  /* of one that is not isotropic, needed then: a11, a22, a12, G12; BARAFF_WITKIN: k_u, k_v, 0, k_s */ \
    F(mat_compression, "material/compression", double, F64, nm, 0, "",    MAY, ANY)  /* BARAFF_WITKIN: what is left of k_u, k_v in compression, in (0, 1]; needed then */ \
    F(mat_strain,    "material/strain-limit", double, F64, nm, 3, "",     MAY, ANY)  /* CLOTH: |E11|, |E22|, |E12| stay below; needed then */ \
    F(obj_length,    "object/length",      double,  F64, no, 0, "m",      MAY, IN(0, ABUT_DISTANCE_MOST))  /* l of each body, 0: an obstacle; with the next. Absent: all are alike (contact/pair_scale_inline.h) */ \
    F(obj_node_mass, "object/node-mass",   double,  F64, no, 0, "kg",     MAY, FROM(0))  /* mean of its nodes; 0: an obstacle */ \
    F(obj_dhat,      "object/dhat-part",   double,  F64, no, 0, "",       MAY, PART)  /* its part of contact/dhat, at most 1; absent: 1 */ \
    F(obj_thick,     "object/thickness",   double,  F64, no, 0, "m",      MAY, IN(0, ABUT_DISTANCE_MOST))  /* contact thickness xi: a pair keeps more than the mean of its two apart; absent: 0 */ \
    F(rigid_range,   "rigid/range",        double,  F64, no, 2, "J",      MAY, FROM(0))  /* with the next. Of a rigid object: stiffness K of its one tet at the start, and at most; 0, 0: not rigid */ \
    F(rigid_strain,  "rigid/strain",       double,  F64, no, 0, "",       MAY, FROM(0))  /* largest |stretch - 1| at the end of a step; 0: not rigid */ \
    F(obj_pressure,  "object/pressure",    double,  F64, no, 0, "Pa",     MAY, ANY)  /* pushes the shells of the object along their normals */ \
    F(obj_pressure_key, "object/pressure-key", int32_t, I32, no, 2, "",   MAY, ANY)  /* [lo, hi) rows of key/ with its factors; lo = hi: none. Absent: none */ \
    F(obj_drag,      "object/drag",        double,  F64, no, 0, "kg/m^3", MAY, FROM(0))  /* of shells in the wind: half the density of air times the coefficient */ \
    F(wind,          "world/wind",         double,  F64, n3, 0, "m/s",    MAY, ANY)  /* absent: still air                     */ \
    F(gravity,       "world/gravity",      double,  F64, n3, 0, "m/s^2",  NEED, ANY) \
    F(h,             "time/step",          double,  F64, 1, 0, "s",       NEED, ABOVE(0)) \
    F(scheme,        "time/scheme",        int32_t, I32, 1, 0, "",        MAY, IN(0, ABUT_ALL_SCHEMES))  /* row of model/schemes.h; absent: the first   */ \
    F(newmark_beta,  "time/newmark-beta",  double,  F64, 1, 0, "",        MAY, ANY)  /* Newmark: absent: ABUT_NEWMARK_BETA      */ \
    F(newmark_gamma, "time/newmark-gamma", double,  F64, 1, 0, "",        MAY, FROM(ABUT_NEWMARK_GAMMA))  /* Newmark: absent: ABUT_NEWMARK_GAMMA     */ \
    F(damp_mass,     "damping/mass",       double,  F64, 1, 0, "1/s",     MAY, FROM(0))  /* Rayleigh damping; absent: 0                 */ \
    F(damp_stiffness, "damping/stiffness", double,  F64, 1, 0, "s",       MAY, FROM(0))  \
    F(length,        "scene/length",       double,  F64, 1, 0, "m",       NEED, ABOVE(0)) /* l: length of the scene (scene/build.c) */ \
    F(dhat,          "contact/dhat",       double,  F64, 1, 0, "m",       NEED, WITHIN(0, ABUT_DISTANCE_MOST)) /* activation distance, of the object that has the largest */ \
    F(continuity,    "contact/barrier-continuity", int32_t, I32, 1, 0, "", MAY, NAMES(abut_barrier_names))  /* absent: ABUT_BARRIER_IPC                */ \
    F(barrier_filter, "contact/barrier-filter", double, F64, 1, 0, "",    MAY, IN(0, 1))  /* of dhat: see energy/barrier.h; absent: 0 */ \
    F(mollifier,     "contact/mollifier",  int32_t, I32, 1, 0, "",        MAY, IN(0, 2))  /* 0: nearly parallel edges are contacts as others; absent: 1 */ \
    F(bodies_meet,   "contact/bodies",     int32_t, I32, 1, 0, "",        MAY, IN(0, 2))  /* 0: bodies pass through themselves and each other; absent: 1 */ \
    F(eps_v,         "contact/eps-v",      double,  F64, 1, 0, "m/s",     NEED, ABOVE(0)) /* stiction speed                         */ \
    F(smoothing,     "contact/friction-smoothing", int32_t, I32, 1, 0, "", MAY, NAMES(abut_friction_names))  /* absent: ABUT_FRICTION_C1                */ \
    F(lags,          "contact/lags",       int32_t, I32, 1, 0, "",        NEED, IN(0, INT32_MAX)) /* friction lag iterations per step at most; 0: until they converge */ \
    F(tolerance,     "solve/tolerance",    double,  F64, 1, 0, "m/s",     NEED, ABOVE(0)) /* Newton: |p|_inf / h                    */ \
    F(stiffen_below, "contact/stiffen-below", double, F64, 1, 0, "m",     MAY, ABOVE(0))  /* the barrier is stiffened at gaps below that still shrink; absent: 1e-9 l */ \
    F(force_tolerance, "solve/force-tolerance", double, F64, 1, 0, "",    MAY, ABOVE(0))  /* tolerance of the force balance, a fraction of the largest force; absent: not tested */ \
    F(solver,        "solve/solver",       int32_t, I32, 1, 0, "",        MAY, IN(0, ABUT_SOLVED_BY))  /* ABUT_SOLVED_BY_*: the scene's choice; absent: the first */ \
    F(nodal_newton,  "nodal/newton",       int32_t, I32, 1, 0, "",        MAY, IN(1, ABUT_NODAL_MOST + 1))  /* this and the rest of nodal/: solve/nodal, whose defaults hold where one is absent */ \
    F(nodal_iterations, "nodal/iterations", int32_t, I32, 1, 0, "",       MAY, IN(1, ABUT_NODAL_MOST + 1))  \
    F(nodal_sweeps,  "nodal/sweeps",       int32_t, I32, 1, 0, "",        MAY, IN(1, ABUT_NODAL_MOST + 1))  \
    F(nodal_tolerance, "nodal/tolerance",  double,  F64, 1, 0, "m",       MAY, ABOVE(0))  \
    F(nodal_gap,     "nodal/gap",          double,  F64, 1, 0, "m",       MAY, WITHIN(0, ABUT_DISTANCE_MOST))  /* reserve that contacts keep beyond their thickness */ \
    F(nodal_beta,    "nodal/beta",         double,  F64, 1, 0, "",        MAY, ABOVE(0))  \
    F(nodal_sigma,   "nodal/sigma",        double,  F64, 1, 0, "",        MAY, ABOVE(0))  \
    F(nodal_freeze,  "nodal/freeze",       double,  F64, 1, 0, "",        MAY, FROM(0))  \
    F(nodal_return,  "nodal/return",       int32_t, I32, 1, 0, "",        MAY, IN(0, 2))  /* 0: feasible velocities, 1: elastic ones */ \
    F(nodal_integrator, "nodal/integrator", int32_t, I32, 1, 0, "",       MAY, IN(0, 2))  /* of elasticity, 0: Newton, 1: ADMM */ \
    F(nodal_accelerated, "nodal/accelerated", int32_t, I32, 1, 0, "",     MAY, IN(0, 2))  \
    F(nodal_compliance, "nodal/compliance", double, F64, 1, 0, "N/m",     MAY, ABOVE(0))  /* stiffness of contacts that close too fast; absent: none yields */ \
    F(cohesion_force, "nodal/cohesion-force", double, F64, ng, ng, "N",   MAY, FROM(0))  /* of two classes at no gap; with the next */ \
    F(cohesion_range, "nodal/cohesion-range", double, F64, ng, ng, "m",   MAY, IN(0, ABUT_DISTANCE_MOST))  /* gap at which it is 0 */ \
    F(sqp_constraints, "sqp/constraints",  int32_t, I32, 1, 0, "",        MAY, IN(0, ABUT_CONSTRAINTS))  /* ABUT_CONSTRAINT_*; absent: the first     */ \
    F(sqp_active_set, "sqp/active-set",    int32_t, I32, 1, 0, "",        MAY, IN(0, ABUT_ACTIVE_SETS))  /* ABUT_ACTIVE_*; absent: the first         */ \
    F(sqp_offset,    "sqp/offset",         double,  F64, 1, 0, "m",       MAY, IN(0, ABUT_DISTANCE_MOST))  /* that gaps keep beyond their thickness; absent: dhat */ \
    F(formulation,   "contact/formulation", int32_t, I32, 1, 0, "",       MAY, IN(0, ABUT_CONTACT_FORMULATIONS)) /* ABUT_CONTACT_*; absent: the first */ \
    F(pressure,      "contact/pressure",   double,  F64, 1, 0, "Pa",      MAY, ABOVE(0)) /* stiffness of the barrier of ABUT_CONTACT_AREA */ \
    F(edge_share,    "contact/edge-share", double,  F64, 1, 0, "",        MAY, WITHIN(0, 1)) /* share of the edges; absent: ABUT_EDGE_SHARE */ \
    F(fixed_reach,   "contact/fixed-reach", int32_t, I32, 1, 0, "",       MAY, IN(0, 2)) /* 1: dhat within a surface, however near it is to itself at rest */ \
    F(kappa_min,     "contact/kappa-min",  double,  F64, 1, 0, "kg/m^2",  NEED, FROM(0)) /* barrier stiffness, lower bound         */ \
    F(kappa_max,     "contact/kappa-max",  double,  F64, 1, 0, "kg/m^2",  NEED, ANY)

/* The FRAME: all that changes; a frame is a checkpoint.  nv, nrd, nh and no are the model's; nl: friction contacts; nw: rows of the
 * waypoints; ntc, ntn: hard contacts and the nodes of all of them; njr: rows of joints of the model; njp: points of the barrier of det F; nip, nix: friction passes
 * before the last, rows of their positions. */
#define ABUT_FRAME_COUNTS(C) C(nv) C(nrd) C(nh) C(no) C(njo) C(njr) C(nl) C(nw) C(ntc) C(ntn) C(njp) C(nip) C(nix)
#define ABUT_FRAME_FIELDS(F) \
    F(x,          "node/x",           double,  F64, nv, 3, "m",    NEED, NEAR) /* positions at the frame's time          */ \
    F(v,          "node/v",           double,  F64, nv, 3, "m/s",  NEED, NEAR) /* velocities                             */ \
    F(a,          "node/a",           double,  F64, nv, 3, "m/s^2", MAY, NEAR) /* Newmark: accelerations by all forces   */ \
    F(x1,         "node/x1",          double,  F64, nv, 3, "m",    MAY, NEAR)  /* BDF2 and up: positions one step earlier */ \
    F(v1,         "node/v1",          double,  F64, nv, 3, "m/s",  MAY, NEAR)  /* velocities there                       */ \
    F(x2,         "node/x2",          double,  F64, nv, 3, "m",    MAY, NEAR)  /* BDF3 and up: two steps earlier; and so on */ \
    F(v2,         "node/v2",          double,  F64, nv, 3, "m/s",  MAY, NEAR)  \
    F(x3,         "node/x3",          double,  F64, nv, 3, "m",    MAY, NEAR)  \
    F(v3,         "node/v3",          double,  F64, nv, 3, "m/s",  MAY, NEAR)  \
    F(x4,         "node/x4",          double,  F64, nv, 3, "m",    MAY, NEAR)  \
    F(v4,         "node/v4",          double,  F64, nv, 3, "m/s",  MAY, NEAR)  \
    F(x5,         "node/x5",          double,  F64, nv, 3, "m",    MAY, NEAR)  \
    F(v5,         "node/v5",          double,  F64, nv, 3, "m/s",  MAY, NEAR)  \
    F(kappa,      "contact/kappa",    double,  F64, 1, 0, "kg/m^2", OPT, FROM(0)) /* barrier stiffness at the end of the step */ \
    F(kappa_part, "object/kappa-part", double, F64, no, 0, "",    MAY, PART)  /* its part of contact/kappa; a contact has the larger part of its two bodies; absent: 1 */ \
    F(rigid_stiffness, "rigid/stiffness", double, F64, no, 0, "J", MAY, FROM(0)) /* K of rigid objects at the end of the step; absent: that of the start */ \
    F(joint_multiplier, "joint/multiplier", double, F64, njr, 0, "N", MAY, ANY) /* of rows of joints at the end of the step; absent: 0 */ \
    F(joint_coordinate, "joint/coordinate", double, F64, njo, 0, "", MAY, ANY) /* at the end of the step, turns counted, with joint/drive; absent: less than half a turn */ \
    F(joint_target, "joint/target",   double,  F64, njo, 0, "",    MAY, ANY) /* of exact motors and those with a rate, at the end of the step; absent: 0 */ \
    F(joint_effort, "joint/effort",   double,  F64, njo, 0, "",    MAY, ANY) /* of motors in the step, N m or N */ \
    F(strain_kappa, "strain/kappa",   double,  F64, 1, 0, "Pa",   MAY, ABOVE(0))  /* stiffness of the stretch limits at the end of the step */ \
    F(gain,       "midpoint/gain",    double,  F64, 1, 0, "J",    MAY, FROM(0))  /* of midpoint and Newmark: energy created since a step was damped */ \
    F(euler_left, "midpoint/damped-steps", int32_t, I32, 1, 0, "", MAY, IN(0, 65))  /* steps that implicit Euler takes from here */ \
    F(euler_bout, "midpoint/bout",    int32_t, I32, 1, 0, "",      MAY, IN(0, 65))  /* how many it took last; 0 after a while without */ \
    F(waypoints,  "step/waypoints",   double,  F64, nw, 3, "m",    OPT, NEAR)  /* nv rows each: from the frame before through them to x, every straight line is free; absent: one line */ \
    F(rod_frame,  "rod/frame",        double,  F64, nrd, 3, "",    MAY, UNIT(1e-6))  /* first material direction of each segment, where rods are curved at rest */ \
    F(lag_node,   "lag/node",         int32_t, I32, nl, 4, "",     MAY, ROW_OR_NONE(nv))  /* nodes of a friction contact, -1 unused; half-space: node, -1, -1, -1 */ \
    F(lag_vertex, "lag/vertex",       int32_t, I32, nl, 4, "",     MAY, ROW_OR_NONE(nc))  /* in place of them where contact/map-first is: collision vertices */ \
    F(lag_weight, "lag/weight",       double,  F64, nl, 4, "",     OPT, ANY)  /* closest-point weights: r = sum w_i x_i */ \
    F(lag_basis,  "lag/basis",        double,  F64, nl, 6, "",     OPT, UNIT(1e-6))  /* two unit tangents, one after the other */ \
    F(lag_force,  "lag/normal-force", double,  F64, nl, 0, "N",    OPT, FROM(0))  /* magnitude                              */ \
    F(lag_mu,     "lag/mu",           double,  F64, nl, 0, "",     OPT, FROM(0))  \
    F(passes,     "pass/count",       int32_t, I32, 1, 0, "",      MAY, IN(1, 1 << 20))  /* friction passes of the step that ends here, whose results are kept */ \
    F(pass_x,     "pass/x",           double,  F64, nix, 3, "m",   MAY, NEAR)  /* results of all but the last, nv rows each */ \
    F(pass_kappa, "pass/kappa",       double,  F64, nip, 0, "kg/m^2", MAY, FROM(0)) /* barrier stiffness at the end of each of those */ \
    F(pass_strain_kappa, "pass/strain-kappa", double, F64, nip, 0, "Pa", MAY, ABOVE(0)) /* stiffness of the stretch limits there */ \
    F(impulse,    "node/contact-impulse", double, F64, nv, 3, "N s", MAY, NEAR) /* of hard contact in the step that ends here */ \
    F(nodal_step, "nodal/step",       int64_t, I64, 1, 0, "",      MAY, ANY)  /* the number of the frame that node/contact-impulse is of */ \
    F(sqp_hits,   "sqp/hits",         int32_t, I32, 1, 0, "",      MAY, ANY)  /* findings of the judge on the motion of solver sqp or qp to this frame */ \
    F(touch_first, "touch/first",     int32_t, I32, ntc, 2, "",    MAY, ANY)  /* [lo, hi) rows of touch/node: the nodes of a hard contact that move */ \
    F(touch_node, "touch/node",       int32_t, I32, ntn, 0, "",    MAY, ROW(nv))  \
    F(touch_weight, "touch/weight",   double,  F64, ntn, 0, "",    MAY, ANY)  /* of their velocities in that of the contact */ \
    F(touch_point, "touch/point",     double,  F64, ntc, 3, "m",   MAY, ANY)  /* where its first primitive is nearest at the end of the step */ \
    F(touch_normal, "touch/normal",   double,  F64, ntc, 3, "",    MAY, UNIT(1e-6))  /* unit, to the first primitive            */ \
    F(touch_impulse, "touch/impulse", double,  F64, ntc, 3, "N s", MAY, ANY)  /* on the first primitive in the step      */ \
    F(touch_mu,   "touch/mu",         double,  F64, ntc, 0, "",    MAY, FROM(0))  \
    F(touch_state, "touch/state",     int32_t, I32, ntc, 0, "",    MAY, IN(0, 3))  /* 0 open, 1 sticks, 2 slides              */ \
    F(x0,         "step/x0",          double,  F64, nv, 3, "m",    SIDE, NEAR) /* PENDING: positions at the start of the step */ \
    F(pass,       "step/pass",        int32_t, I32, 1, 0, "",      SIDE, IN(0, 1 << 30)) /* PENDING: friction passes solved so far */ \
    F(strain_kappa0, "step/strain-kappa", double, F64, 1, 0, "Pa", SIDE, ABOVE(0)) /* PENDING: stiffness of the stretch limits at its start */ \
    F(penalty,    "step/penalty",     double,  F64, 1, 0, "",      SIDE, WITHIN(0, 1e12)) /* PENDING: of the augmented Lagrangian, with the next one */ \
    F(multiplier, "step/multiplier",  double,  F64, nv, 3, "kg^(1/2) m", SIDE, NEAR) \
    F(point_tet,  "step/jacobian-tet", int32_t, I32, njp, 0, "",   SIDE, ROW(nt)) /* PENDING: tets of the points of the barrier of det F */ \
    F(point_at,   "step/jacobian-point", double, F64, njp, 4, "",  SIDE, ANY) /* barycentric coordinates of those */ \
    ABUT_FRAME_FORCES(F) ABUT_FRAME_ENERGIES(F)

/* Arrays that `step --with forces` and `step --with energies` add (solve/step/measures.h). */
#define ABUT_FRAME_FORCES(F) \
    F(f_contact,  "node/contact-force",  double, F64, nv, 3, "N",   MAY, ANY) /* of the barrier, at the end of the step  */ \
    F(f_friction, "node/friction-force", double, F64, nv, 3, "N",   MAY, ANY) \
    F(f_plane_contact, "half-space/contact-force", double, F64, nh, 3, "N", MAY, ANY) /* of hard contact, on half-spaces */ \
    F(f_plane_friction, "half-space/friction-force", double, F64, nh, 3, "N", MAY, ANY) \
    F(contact_error, "object/contact-error", double, F64, no, 3, "N", MAY, ANY) /* of their sums: balance, passes, newton */ \
    F(f_damping,  "node/damping-force",  double, F64, nv, 3, "N",   MAY, ANY) /* absent: nothing is damped               */ \
    F(f_air,      "node/air-force",     double, F64, nv, 3, "N",   MAY, ANY) /* of wind and at rims under pressure; absent: none */ \
    F(f_reaction, "node/reaction-force", double, F64, nv, 3, "N",   MAY, ANY) /* force that moves or holds prescribed nodes */ \
    F(sticking,   "contact/sticking",    int32_t, I32, 1, 0, "",    MAY, IN(0, INT32_MAX)) /* friction contacts slower than eps-v     */ \
    F(sliding,    "contact/sliding",     int32_t, I32, 1, 0, "",    MAY, IN(0, INT32_MAX)) /* the others                              */ \
    F(creep_max,  "contact/creep-max",   double, F64, 1, 0, "m/s",  MAY, ANY) /* speed of those that stick: largest, mean */ \
    F(creep_mean, "contact/creep-mean",  double, F64, 1, 0, "m/s",  MAY, ANY) \
    F(force_residual, "step/force-residual", double, F64, 1, 0, "", MAY, ANY) /* of the largest force on a body: what is left */ \
    F(iterations, "step/iterations",     int32_t, I32, 1, 0, "",    MAY, IN(0, 1 << 30)) /* of Newton, over all friction passes     */

#define ABUT_FRAME_ENERGIES(F) \
    F(kinetic,    "energy/kinetic",      double, F64, 1, 0, "J",    MAY, ANY) \
    F(elastic,    "energy/elastic",      double, F64, 1, 0, "J",    MAY, ANY) \
    F(gravitation, "energy/gravity",     double, F64, 1, 0, "J",    MAY, ANY) /* -sum m g.x                              */ \
    F(barrier,    "energy/barrier",      double, F64, 1, 0, "J",    MAY, ANY) /* of the contacts                         */ \
    F(w_friction, "work/friction",       double, F64, 1, 0, "J",    MAY, ANY) /* in this step                            */ \
    F(w_damping,  "work/damping",        double, F64, 1, 0, "J",    MAY, ANY) \
    F(w_reaction, "work/reaction",       double, F64, 1, 0, "J",    MAY, ANY) /* of what drives prescribed nodes         */ \
    F(w_load,     "work/load",           double, F64, 1, 0, "J",    MAY, ANY) /* of scripted FORCE                       */ \
    F(w_stiffness, "work/stiffness",     double, F64, 1, 0, "J",    MAY, ANY) /* of changing the barrier stiffness       */ \
    F(w_numerical, "work/numerical",     double, F64, 1, 0, "J",    MAY, ANY) /* the rest: what the time scheme adds     */ \
    F(t_friction, "work/friction-total", double, F64, 1, 0, "J",    MAY, ANY) /* the same, summed up                     */ \
    F(t_damping,  "work/damping-total",  double, F64, 1, 0, "J",    MAY, ANY) \
    F(t_reaction, "work/reaction-total", double, F64, 1, 0, "J",    MAY, ANY) \
    F(t_load,     "work/load-total",     double, F64, 1, 0, "J",    MAY, ANY) \
    F(t_stiffness, "work/stiffness-total", double, F64, 1, 0, "J",  MAY, ANY) \
    F(t_numerical, "work/numerical-total", double, F64, 1, 0, "J",  MAY, ANY) \
    F(linear,     "momentum/linear",     double, F64, n3, 0, "kg m/s",   MAY, ANY) \
    F(angular,    "momentum/angular",    double, F64, n3, 0, "kg m^2/s", MAY, ANY) /* about the origin                    */ \
    F(center,     "mass/center",         double, F64, n3, 0, "m",   MAY, ANY) /* of the simulated nodes                  */

/* Former names of arrays: A(then, now).  Views take such an array where one of the present name is missing, and
 * abut_frame_carry renames; readers and writers of streams never do. */
#define ABUT_ARRAY_ALIASES(A) \
    A("step/way", "step/waypoints")

#define ABUT_COUNT_MEMBER(n) int32_t n;
#define ABUT_FIELD_MEMBER(m, name, ctype, dtype, rows, width, unit, rule, range) const ctype *m;

/* A borrowed text; lines end with '\n'.  Zero-filled: there is none. */
typedef struct abut_text {
    const char *data;
    int64_t size;
} abut_text;

typedef struct abut_model {
    ABUT_MODEL_COUNTS(ABUT_COUNT_MEMBER)
    ABUT_MODEL_FIELDS(ABUT_FIELD_MEMBER)
    abut_text object_name, half_space_name;     /* a line per row, where the stream has them (model/naming.h) */
} abut_model;

typedef struct abut_frame {
    ABUT_FRAME_COUNTS(ABUT_COUNT_MEMBER)
    ABUT_FRAME_FIELDS(ABUT_FIELD_MEMBER)
} abut_frame;

/** Views a set as a model: every array of the table has its type, shape and unit, and no other array says that it must
 * be understood (ABUT_A_REQUIRED); every index is in range; every number is finite; masses, h, dhat positive.  view is untouched on failure; its pointers live as long as set.
 * Fails  ABUT_E_FORMAT naming the array, the row, the value and what was expected; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_model_view(const abut_arrays *set, abut_model *view, abut_err *err);

/** Checks the relations between the arrays of a model, whose numbers are in range; for model.c.  Fails  ABUT_E_FORMAT naming the
 * array, the row, the values and what was expected; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_model_check(const abut_model *m, abut_err *err);

/** Checks that the collision mesh of a checked model is complete: a triangle for each outer face of the tets and each shell; an
 * edge for each rod segment and, unless sides is 0 (the reader finds them itself), for each side of a triangle; a vertex for each
 * particle.  Contact uses these arrays alone: where they lack a face, a side or a segment, a body would penetrate without a
 * message.  If contact is off (no vertices), nothing is checked; if vertices are sums of nodes, sides alone.  Obstacles have no
 * other elements.
 * Fails  ABUT_E_FORMAT naming the array, the missing item and its nodes; ABUT_E_GEOM three tets share a face; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_contact_check(const abut_model *m, int sides, abut_err *err);

/** Views and checks a set as a frame of that model; an optional array with a count of its own is absent if it has no rows. */
ABUT_MUST_USE abut_status abut_frame_view(const abut_arrays *set, const abut_model *model, abut_frame *view, abut_err *err);

/** A node of the object of a collision vertex: its own, or the first that it is a sum of. */
static inline int32_t abut_model_contact_node(const abut_model *m, int32_t vertex)
{
    return m->map_first ? m->map_node[m->map_first[2 * (size_t)vertex]] : m->coll_node[vertex];
}

/** 1: contact/excluded has the pair of objects a and b, in any order. */
int abut_model_excludes(const abut_model *m, int32_t a, int32_t b);

/** Empties a view whose arrays are freed.  Builds with ABUT_POISON (DEBUG, SANITIZE) fill it with numbers that no reader gets far
 * with. */
void abut_model_forget(abut_model *m);

/** The array of that name in set, or the one of its former name; NULL: neither is there. */
const abut_array *abut_array_named(const abut_arrays *set, const char *name);

/** Makes room in set for the array of a table (found by its name) with that many rows; returns its zero-filled data.
 * For writers: type, width and unit come from the table, so they cannot disagree with the reader.
 * rows  1 for a single number; contact/mu is rows x rows
 * NULL with err set when the name is in no table, rows does not suit it, or memory is out. */
void *abut_model_put(abut_arrays *set, const char *name, int64_t rows, abut_err *err);
void *abut_frame_put(abut_arrays *set, const char *name, int64_t rows, abut_err *err);

/** Puts the arrays of a new frame from number `first` on into the order of the table, the others behind them. */
void abut_frame_sort(abut_arrays *set, int first);

/** 1 when one of the tables has an array of that name, or had, that is not SIDE. */
int abut_array_known(const char *name);

/** Copies into a new frame what it does not have yet of the arrays that ask to be carried along (ABUT_A_CARRY), by their present
 * names. */
ABUT_MUST_USE abut_status abut_frame_carry(const abut_arrays *from, abut_arrays *to, abut_err *err);

/** Line i of a text, copied to buf[size]; "?" when there is none. */
const char *abut_text_line(const abut_text *text, int i, char *buf, size_t size);
/** Row i of a text array ("object/name", "material/name"), copied to buf[size]; "?" when there is none. */
const char *abut_text_row(const abut_arrays *set, const char *name, int i, char *buf, size_t size);

#endif

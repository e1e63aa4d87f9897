/* Derivatives of a loss L, as arrays.  The bar of a quantity is the total derivative of L by it, with the shape of the quantity
 * and the unit of L over its unit.
 *
 * A state is the start of a step: x, v; with Newmark also a; with BDF also earlier x and v.  A parameter is an array of the
 * MODEL. */
#ifndef ABUT_ADJOINT_BARS_H
#define ABUT_ADJOINT_BARS_H

#include "base/arena.h"
#include "model/model.h"

/* Owns its arrays, [3 nv] each; arrays of the past that the model's scheme does not read are NULL.  Zero-filled is empty. */
typedef struct abut_state_bar {
    double *x, *v, *a;
    double *past_x[ABUT_PAST], *past_v[ABUT_PAST];
} abut_state_bar;

/** All 0.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_state_bar_init(abut_state_bar *s, const abut_model *m, abut_err *err);
void abut_state_bar_zero(abut_state_bar *s, const abut_model *m);
void abut_state_bar_clear(abut_state_bar *s);

/* Parameters of a run.  F(member, array of the MODEL or a name like one, rows, width, unit of the parameter)
 *   tet/shear, tet/lame    mu and lambda of each tet
 *   tet/young, tet/poisson  a factor on Young's modulus, and an amount added to Poisson's ratio, of the material in one tet
 *   material/young         of tets, and of stretch of shells and rods: bending is hinge/stiffness, bend/stiffness
 *   object/young           a factor on all moduli of an object, also for bending; object/density: a factor on its masses
 *   object/thickness       a factor on the thickness of shells and the radius of rods of an object; masses and bending of shells
 *                          have its powers 1 and 3, of rods 2 and 4; contact keeps its thickness
 *   contact/mu             both entries of a pair of classes hold the sum of the two
 *   contact/kappa-scale    a factor on the barrier stiffness of every step
 *   node/X                 rest positions alone: the strain of tets
 *   mesh/X                 rest positions with the masses of tets and the start, which move along: the shape of a body
 *   force                  N, on a node in every step; motion/linear of FORCE motions follows from it */
#define ABUT_PARAMETER_BARS(F) \
    F(mass,        "node/mass",           nv,  1, "kg") \
    F(force,       "node/force",          nv,  3, "N") \
    F(shear,       "tet/shear",           nt,  1, "Pa") \
    F(lame,        "tet/lame",            nt,  1, "Pa") \
    F(tet_young,   "tet/young",           nt,  1, "") \
    F(tet_poisson, "tet/poisson",         nt,  1, "") \
    F(young,       "material/young",      nm,  1, "Pa") \
    F(poisson,     "material/poisson",    nm,  1, "") \
    F(density,     "material/density",    nm,  1, "kg/m^3") \
    F(obj_young,   "object/young",        no,  1, "") \
    F(obj_density, "object/density",      no,  1, "") \
    F(thickness,   "object/thickness",    no,  1, "") \
    F(pressure,    "object/pressure",     no,  1, "Pa") \
    F(drag,        "object/drag",         no,  1, "kg/m^3") \
    F(wind,        "world/wind",          one, 3, "m/s") \
    F(mu,          "contact/mu",          ngg, 1, "") \
    F(gravity,     "world/gravity",       one, 3, "m/s^2") \
    F(eps_v,       "contact/eps-v",       one, 1, "m/s") \
    F(dhat,        "contact/dhat",        one, 1, "m") \
    F(kappa,       "contact/kappa-scale", one, 1, "") \
    F(damp_mass,   "damping/mass",        one, 1, "1/s") \
    F(damp_stiffness, "damping/stiffness", one, 1, "s") \
    F(spring_k,    "spring/stiffness",    nsp, 1, "N/m") \
    F(spring_l,    "spring/length",       nsp, 1, "m") \
    F(tie_k,       "attachment/stiffness", na, 1, "N/m") \
    F(tie_offset,  "attachment/offset",   na,  3, "m") \
    F(hinge_k,     "hinge/stiffness",     nhg, 1, "J") \
    F(hinge_angle, "hinge/angle",         nhg, 1, "rad") \
    F(bend_k,      "bend/stiffness",      nbd, 1, "J") \
    F(shell_young, "shell/young",         nsh, 1, "") \
    F(rod_young,   "rod/young",           nrd, 1, "") \
    F(linear,      "motion/linear",       nmo, 3, "m/s") \
    F(angular,     "motion/angular",      nmo, 3, "rad/s") \
    F(center,      "motion/center",       nmo, 3, "m") \
    F(growth,      "motion/scale",        nmo, 3, "1/s") \
    F(key_shift,   "key/translation",     nk,  3, "m") \
    F(key_size,    "key/scale",           nk,  3, "") \
    F(key_factor,  "key/factor",          nk,  1, "") \
    F(path_x,      "path/x",              npx, 3, "m") \
    F(rest,        "node/X",              nv,  3, "m") \
    F(shape,       "mesh/X",              nv,  3, "m")

#define ABUT_BAR_MEMBER(member, name, rows, width, unit) double *member;
/* Owns its arrays; NULL where the model has no rows.  Zero-filled is empty. */
typedef struct abut_parameter_bar {
    ABUT_PARAMETER_BARS(ABUT_BAR_MEMBER)
} abut_parameter_bar;

/* One array of an abut_parameter_bar. */
typedef struct abut_bar_row {
    const char *name, *unit;
    double **data;
    int64_t rows;
    int width;
} abut_bar_row;
enum { ABUT_BARS = 0
#define ABUT_BAR_COUNT(member, name, rows, width, unit) + 1
    ABUT_PARAMETER_BARS(ABUT_BAR_COUNT)
#undef ABUT_BAR_COUNT
};
/** row[ABUT_BARS] of p for a model. */
void abut_parameter_bar_rows(abut_parameter_bar *p, const abut_model *m, abut_bar_row *row);
/** Why the model has no derivative by the array of that name, or NULL: words after "is not differentiated: ". */
const char *abut_parameter_bar_lacks(const abut_model *m, const char *name);
/** Allocates the arrays, all 0.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_parameter_bar_init(abut_parameter_bar *p, const abut_model *m, abut_err *err);
void abut_parameter_bar_clear(abut_parameter_bar *p);

/* Targets of prescribed nodes (model/motion.h), backwards.  A target is an affine map of the node's position at the start of the
 * step, so differences over the length of the scene give the derivative to rounding.  The derivative by the numbers of a motion
 * is taken by central differences with two step lengths, extrapolated. */

/** x_bar[3 nv] += (dt/dx)^T tb of prescribed nodes; bars of the motions += (dt/dtheta)^T tb.
 *
 * time, x[3 nv]  start of the step;  tb[3 nv]  bars of targets, read at held[nv] alone
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_script_back(const abut_model *m, double time, const double *x, const uint8_t *held,
                                           const double *tb, double *x_bar, abut_parameter_bar *bars, abut_arena *scratch,
                                           abut_err *err);
/** Adds to bars of gravity, FORCE motions, their factors and forces in newtons, from bars acc_bar[3 nv] of the accelerations of
 * free nodes, with factors at the time `at`; also to bars of node/mass, by which forces are divided.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_script_forces_back(const abut_model *m, double time, double at, const double *acc_bar,
                                                  abut_parameter_bar *bars, abut_arena *scratch, abut_err *err);

#endif

/* Air on shells: a pressure difference and the drag of wind, both potentials, and at rims a load.
 *
 * Pressure p of an object pushes its shells along their normals n (counter-clockwise seen from where n points to) with p A / 3 at
 * each corner of a triangle of area A.  At a node whose triangles surround it this is the derivative of
 *
 *     Psi = -p V,     V = sum over the triangles of (x0 - o).((x1 - o) x (x2 - o)) / 6                 J
 *
 * for every point o.  V of a closed shell is the volume that it encloses.  An open shell has a rim, where the derivative depends
 * on o and differs from that force.  A load at the rim, computed at the start of the step, is the difference: a step starts with
 * p A / 3 at every corner.  A rim that is held needs no load.  o is the mean of the object's shell nodes at the start of the
 * step.
 *
 * Drag c (half the density of air times the drag coefficient) with w the wind less the mean velocity of a triangle is the force
 *
 *     c A |w.n| (w.n) n                                                                        N
 *
 * a third at each corner: minus the derivative by the velocities of
 *
 *     R(v) = sum c A |w.n|^3 / 3,                                                              W
 *
 * which is convex.  With A n of the start of the step, and v = (x - c)/tau, tau R is a potential of the positions x: drag is
 * implicit, hence stable for every c.  In equilibria, which have no velocities, drag is a load. */
#ifndef ABUT_ENERGY_PRESSURE_H
#define ABUT_ENERGY_PRESSURE_H

#include "model/model.h"

/* Zero-filled is still air. */
typedef struct abut_air {
    const abut_model *model;    /* borrowed */
    int presses, drags;         /* some object has a pressure, a drag */
    int open;                   /* a shell under pressure has a rim */
    uint8_t *rim;               /* [nv] of these */
    double *origin;             /* [3 no] o of each object */
    double *pressure;           /* [no] Pa: of each object now; NULL: as the model says, at all times */
    double *facing;             /* [3 nsh] m^2: A n of each shell at the start of the step, for the drag */
} abut_air;

struct abut_terms;
/** Returns the air of the list, which "pressure" and "drag" share; NULL: still air. */
abut_air *abut_air_of(const struct abut_terms *terms);

/** 1 when there are loads or drag: forces besides those of a potential of the positions alone.  NULL is still air. */
static inline int abut_air_acts(const abut_air *a) { return a && (a->drags || a->open); }

/** Sets the pressures of time `at`, s. */
void abut_air_press(abut_air *a, double at);
/** f[3 nv] += the loads at rims of a step that starts at x, N. */
void abut_air_load(const abut_air *a, const double *x, double *f);

/** g[3 nv] += scale d(tau R)/dx of v = (x - c)/tau: minus scale times the force; tau, s.  c NULL: v = x/tau. */
void abut_air_drag_gradient(const abut_air *a, const double *x, const double *c, double tau, double scale, double *g);

#endif

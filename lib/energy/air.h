/* Air on shells: a pressure difference, which is a potential, and the drag of wind, which is a load.
 *
 * Pressure p of an object pushes its shells along their normals n (counter-clockwise seen from where n points to) with p A / 3 at
 * each corner of a triangle of area A.  At a node whose triangles surround it this is the derivative of
 *
 *     Psi = -p V,     V = sum over the triangles of (x0 - o).((x1 - o) x (x2 - o)) / 6                 J
 *
 * whatever the point o.  V of a closed shell is the volume that it encloses.  An open shell has a rim, where the derivative
 * depends on o and is not that force: there a load, taken at the start of the step, makes up for the difference, so that a step
 * starts with p A / 3 at every corner.  A rim that is held loses nothing by that.  o is the mean of the object's shell nodes at
 * the start of the step.
 *
 * Drag c (half the density of air times the drag coefficient) with w the wind less the mean velocity of a triangle:
 *
 *     c A |w.n| (w.n) n                                                                        N
 *
 * a third at each corner, with positions and velocities at the start of the step.  It is explicit: stable while c |w.n| h stays
 * below the mass per area. */
#ifndef ABUT_ENERGY_AIR_H
#define ABUT_ENERGY_AIR_H

#include "model/model.h"

/* Zero-filled is still air. */
typedef struct abut_air {
    const abut_model *model;    /* borrowed */
    int presses, drags;         /* some object has a pressure, a drag */
    int open;                   /* a shell under pressure has a rim */
    uint8_t *rim;               /* [nv] of these */
    double *origin;             /* [3 no] o of each object */
} abut_air;

/** Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_air_init(abut_air *a, const abut_model *m, abut_err *err);
void abut_air_clear(abut_air *a);

/** 1 when there may be loads. */
static inline int abut_air_loads(const abut_air *a) { return a->drags || a->open; }

/** A step starts at x[3 nv]: where volumes are measured from. */
void abut_air_start(abut_air *a, const double *x);
/** f[3 nv] += the loads of a step that starts at x with velocities v, N. */
void abut_air_load(const abut_air *a, const double *x, const double *v, double *f);

/** Psi of all pressures, J. */
double abut_air_energy(const abut_air *a, const double *x);
/** g[3 nv] += scale dPsi/dx. */
void abut_air_gradient(const abut_air *a, const double *x, double scale, double *g);
/** H[nsh * ABUT_PACKED] (linalg/bsr.h) += scale d2Psi/dx2 by triangles: each takes its own centroid for o, which changes nothing
 * in the sum but at rims, and is made positive semidefinite. */
void abut_air_hessian(const abut_air *a, const double *x, double scale, double *H);

#endif

/* A point at which the objective is evaluated: positions, contacts, energies, gradient, each computed once and kept.  A search
 * has three (here, trial, kept) and exchanges them.
 *
 * Cached values belong to one stamp (positions) and one version (objective): setting positions drops all of them, a change of
 * the objective drops energies and gradient. */
#ifndef ABUT_SOLVE_POINT_H
#define ABUT_SOLVE_POINT_H

#include "solve/objective.h"

enum { ABUT_HAS_CONTACTS = 1, ABUT_HAS_ENERGY = 2, ABUT_HAS_GRADIENT = 4, ABUT_IS_TOUCHING = 8 /* its energy is +inf */ };
enum { ABUT_POINTS = 8 /* of one objective at most */ };

/* Owns its arrays.  Zero-filled is empty. */
typedef struct abut_point {
    uint64_t stamp;         /* new after each abut_point_set; differs from stamps of other points of the objective */
    uint64_t version;       /* of the objective, for energies and gradient */
    unsigned has;           /* ABUT_HAS_* */
    double *x, *z, *y;      /* [3 nv], [3 nv], [3 nc] m; z: for elasticity, if that is not at x; y = y0 + W x */
    abut_pairs pairs;       /* contacts at y */
    abut_energy e;          /* kg m^2; its sum is +inf if the point is infeasible */
    double *g;              /* [3 nv] kg m, 0 where nodes do not move */
} abut_point;

/** which: 0 .. ABUT_POINTS - 1, another for each point of the objective.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_point_init(abut_point *p, const abut_objective *o, int which, abut_err *err);
void abut_point_clear(abut_point *p);

/** x = from + alpha d (d NULL: from, which may be p->x, written to by the caller), z and y with it; has = 0. */
void abut_point_set(abut_point *p, const abut_objective *o, const double *from, double alpha, const double *d);

/** Drops values of an earlier version of the objective, and returns the bits of `what` that are missing. */
unsigned abut_point_missing(abut_point *p, const abut_objective *o, unsigned what);

/** Finds the contacts at p, unless they are known, among the candidates of a sweep along a line through p.
 * Fails  ABUT_E_GEOM something touches (names it); ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_point_contacts(abut_point *p, const abut_objective *o, const abut_candidates *cand, abut_err *err);

/** Computes the missing values of `what`, and contacts for energies and gradients.  cand: as above; NULL: contacts are known.
 * If a pair touches, the sum is +inf, without a failure, and the point has no gradient.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_point_evaluate(abut_point *p, const abut_objective *o, unsigned what, const abut_candidates *cand,
                                              abut_arena *scratch, abut_err *err);
/** Sets missing energies to e, computed elsewhere (solve/device/device.h); NULL: a pair touches. */
void abut_point_put_energy(abut_point *p, const abut_energy *e);

/** Returns the point for the terms. */
abut_at abut_point_at(const abut_point *p, const abut_objective *o);
/** Exchanges all values of two points. */
void abut_point_swap(abut_point *a, abut_point *b);

#endif

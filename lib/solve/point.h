/* A point at which the objective is evaluated: positions, contacts, energies, gradient, each computed once and kept.  A search
 * has three (here, trial, kept) and exchanges them.
 *
 * What a point has is of its positions (the stamp) and of the objective as it was then (the version): positions that are set
 * take everything, a change of the objective takes energies and gradient. */
#ifndef ABUT_SOLVE_POINT_H
#define ABUT_SOLVE_POINT_H

#include "solve/objective.h"

enum { ABUT_HAS_CONTACTS = 1, ABUT_HAS_ENERGY = 2, ABUT_HAS_GRADIENT = 4, ABUT_IS_TOUCHING = 8 /* its energy is +inf */ };
enum { ABUT_POINTS = 8 /* of one objective at most */ };

/* Owns its arrays.  Zero-filled is empty. */
typedef struct abut_point {
    uint64_t stamp;         /* new after each abut_point_set, and never that of another point of the objective */
    uint64_t version;       /* of the objective that energies and gradient are of */
    unsigned has;           /* ABUT_HAS_* */
    double *x, *z, *y;      /* [3 nv], [3 nv], [3 nc] m; where elasticity is taken, if that is not x; y = y0 + W x */
    abut_pairs pairs;       /* contacts at y */
    abut_energy e;          /* kg m^2; its sum is +inf where the point is infeasible */
    double *g;              /* [3 nv] kg m, 0 where nodes do not move */
} abut_point;

/** which: 0 .. ABUT_POINTS - 1, another for each point of the objective.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_point_init(abut_point *p, const abut_objective *o, int which, abut_err *err);
void abut_point_clear(abut_point *p);

/** x = from + alpha d (d NULL: from, which may be p->x, written to by the caller), z and y with it; has = 0. */
void abut_point_set(abut_point *p, const abut_objective *o, const double *from, double alpha, const double *d);

/** Those of `what` that are missing, after what is no longer true of the objective is dropped. */
unsigned abut_point_missing(abut_point *p, const abut_objective *o, unsigned what);

/** The contacts at p among the candidates of a sweep on whose line p lies, unless they are known.
 * Fails  ABUT_E_GEOM something touches (names it); ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_point_contacts(abut_point *p, const abut_objective *o, const abut_candidates *cand, abut_err *err);

/** Computes what of `what` is missing; energies and gradients ask for contacts.  cand: as above; NULL: contacts are known.
 * Where something touches the sum is +inf, and that is no failure; such a point has no gradient.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_point_evaluate(abut_point *p, const abut_objective *o, unsigned what, const abut_candidates *cand,
                                              abut_arena *scratch, abut_err *err);
/** Energies that someone else has computed (solve/device/device.h), which were missing: e, or NULL where something touches. */
void abut_point_put_energy(abut_point *p, const abut_energy *e);

/** As terms see it. */
abut_at abut_point_at(const abut_point *p, const abut_objective *o);
/** Each gets what the other has. */
void abut_point_swap(abut_point *a, abut_point *b);

#endif

/* Lagged smoothed Coulomb friction (Li 2020, 4.5, App. H, I): D(x) = sum mu lambda h^2 f0(|u|), u = P^T sum w_i (x_i - x_n,i).
 *
 * Normal forces lambda, weights w and sliding planes P are frozen, so D is an ordinary potential, and a convex one.
 * h is the time step, s; a scheme that weighs forces with s h^2 passes h sqrt(s) to everything that takes lambda, and
 * an eps_v scaled by 1 / sqrt(s), so that the stiction threshold eps_v h stays. */
#ifndef ABUT_ENERGY_FRICTION_H
#define ABUT_ENERGY_FRICTION_H

#include "base/arena.h"
#include "contact/pairs.h"

/** f0, m; f1_over_y = f0'/y, 1/m, finite at y = 0; f2 = f0'', 1/m (NULL to skip).  w = eps_v h > 0, m; C1 smoothing:
 * f0 = -y^3/(3 w^2) + y^2/w + w/3 for y < w, y beyond (Li 2020, App. I). */
double abut_friction_f0(double y, double w, double *f1_over_y, double *f2);

/* Frozen contacts: what the FRAME keeps under lag/.  Owned here; zero-filled is empty. */
typedef struct abut_lag {
    size_t n, cap;
    int32_t (*node)[4];     /* nodes, -1 unused */
    double (*weight)[4];    /* closest-point weights */
    double (*basis)[6];     /* two unit tangents */
    double *force;          /* N */
    double *mu;
} abut_lag;

/** Freezes the plain contacts and half-space contacts of pairs at y; those with mu = 0 are left out, and so are edge
 * pairs under the mollifier (their plane of sliding is not defined).  The coefficient is that of the friction classes
 * of the objects of the two primitives, or of the object and the half-space.
 * lag is replaced; on failure (ABUT_E_NOMEM) it is empty. */
ABUT_MUST_USE abut_status abut_lag_freeze(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, double kappa,
                                          double h, abut_lag *lag, abut_err *err);
/** Copies the lag/ arrays of a frame, and puts them into the set of a new one. */
ABUT_MUST_USE abut_status abut_lag_from_frame(const abut_frame *f, abut_lag *lag, abut_err *err);
ABUT_MUST_USE abut_status abut_lag_to_frame(const abut_lag *lag, abut_arrays *set, abut_err *err);
void abut_lag_clear(abut_lag *lag);

/** |u| of contact i, m: how far it has slid. */
double abut_friction_slid(const abut_lag *lag, size_t i, const double *x, const double *xn);

/** D(x), kg m^2, with x_n the positions at the start of the step.  scratch: one double per block of contacts. */
ABUT_MUST_USE abut_status abut_friction_energy(const abut_lag *lag, const double *x, const double *xn, double h,
                                               double eps_v, double *energy, abut_arena *scratch, abut_err *err);
/** g[3 nv] += dD/dx; same bits for any thread count.  scratch: 3 doubles per contact. */
ABUT_MUST_USE abut_status abut_friction_gradient(const abut_lag *lag, int32_t nv, const double *x, const double *xn,
                                                 double h, double eps_v, double *g, abut_arena *scratch, abut_err *err);
/** node[n * 4], H[n * ABUT_PACKED] (linalg/bsr.h): positive semidefinite by construction, eigenvalues f0'' along u and
 * f0'/y across it. */
void abut_friction_hessian(const abut_lag *lag, const double *x, const double *xn, double h, double eps_v, int32_t *node,
                           double *H);

#endif

/* Lagged smoothed Coulomb friction (Li 2020, 4.5, App. H, I): D(x) = sum mu lambda h^2 f0(|u|), u = P^T sum w_i (x_i - x_n,i). */
#ifndef ABUT_ENERGY_FRICTION_H
#define ABUT_ENERGY_FRICTION_H

#include "base/arena.h"
#include "contact/pairs.h"

/** f0, m; f1_over_y, 1/m, finite at y = 0; f2 = f1', 1/m (NULL to skip).  w = eps_v h, m; C1 smoothing. */
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

/** Freezes the plain contacts and half-space contacts of pairs at y; those with mu = 0 are left out. */
ABUT_MUST_USE abut_status abut_lag_freeze(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, double kappa,
                                          double h, abut_lag *lag, abut_err *err);
ABUT_MUST_USE abut_status abut_lag_from_frame(const abut_frame *f, abut_lag *lag, abut_err *err);
ABUT_MUST_USE abut_status abut_lag_to_frame(const abut_lag *lag, abut_arrays *set, abut_err *err);
void abut_lag_clear(abut_lag *lag);

/** D(x), kg m^2, with x_n the positions at the start of the step. */
ABUT_MUST_USE abut_status abut_friction_energy(const abut_lag *lag, const double *x, const double *xn, double h,
                                               double eps_v, double *energy, abut_arena *scratch, abut_err *err);
ABUT_MUST_USE abut_status abut_friction_gradient(const abut_lag *lag, int32_t nv, const double *x, const double *xn,
                                                 double h, double eps_v, double *g, abut_arena *scratch, abut_err *err);
/** node[n * 4], H[n * ABUT_PACKED]: positive semidefinite by construction. */
void abut_friction_hessian(const abut_lag *lag, const double *x, const double *xn, double h, double eps_v, int32_t *node,
                           double *H);

#endif

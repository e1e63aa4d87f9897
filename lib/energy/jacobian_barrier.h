/* A barrier of det F in tets of order 2 to 4 that must not invert.
 *
 * Their elastic energy is a sum over points of quadrature, and even as an integral it stays finite if det F reaches 0 at one
 * point.  Alone it does not prevent iterates at which the certificate (contact/step_bound.h) stops all further steps; this energy
 * is infinite there.  At points q, with J = det F, V the volume of the tet at rest and Lame parameters mu, lambda,
 *     E = sum ABUT_JACOBIAN_WEIGHT V (mu + lambda) b(J_q),     b(J) = -(1 - J/Jhat)^2 ln(J/Jhat) for 0 < J < Jhat,
 * 0 beyond, +inf at J <= 0; b is twice continuously differentiable: the barrier of contacts (Li et al. 2020, eq. 6) of a ratio of
 * volumes in place of a distance.
 *
 * The points come from an exchange method for constraints at infinitely many points (R. Hettich, K. O. Kortanek, "Semi-infinite
 * programming", SIAM Review 35, 1993, 7.1).  If the certificate finds det F less than Jhat at an iterate, and clearly less than
 * at all points of that tet so far, the point of its least value is added.  The points do not change between two iterates, so
 * that each search has one objective, and none is removed before the next time step. */
#ifndef ABUT_ENERGY_JACOBIAN_BARRIER_H
#define ABUT_ENERGY_JACOBIAN_BARRIER_H

#include "energy/elastic_high.h"
#include "geom/lagrange.h"

/* Jhat: tets that keep this part of their volume everywhere are left alone.  Weight: part of the volume that a point has. */
#define ABUT_JACOBIAN_HAT 0.3
#define ABUT_JACOBIAN_WEIGHT 0.01

/** b(J) and its derivatives in d[2]; d NULL to skip.  J in (0, ABUT_JACOBIAN_HAT). */
double abut_jacobian_barrier(double J, double *d);

/* A point of the barrier. */
typedef struct abut_jacobian_point {
    int32_t tet;                        /* counted from the first tet of its order */
    double L[4];                        /* barycentric coordinates */
    double weight;                      /* J */
    double B[3 * ABUT_TET_NODES_MAX];   /* dphi_a/dX_j at 3 a + j, 1/m */
} abut_jacobian_point;

/* Barriers of the tets of one order; borrows the tets.  Zero-filled is empty. */
typedef struct abut_jacobian_barriers {
    const abut_elastic_high *tets;
    abut_jacobian_point *point;     /* by tets; points of a tet in the order in which they were found */
    int32_t n, cap;
    double *least;                  /* [5 tets->n] scratch: results of the certificate */
} abut_jacobian_barriers;

/** Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_jacobian_barriers_init(abut_jacobian_barriers *b, const abut_elastic_high *tets, abut_err *err);
void abut_jacobian_barriers_clear(abut_jacobian_barriers *b);

/** A further point of a tet.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_jacobian_barriers_add(abut_jacobian_barriers *b, int32_t tet, const double L[4], abut_err *err);
/** Adds the points of the least det F at x[3 nv] as above; *added: how many.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_jacobian_barriers_look(abut_jacobian_barriers *b, const double *x, int32_t *added, abut_err *err);

/** E, J; +inf: some point has det F <= 0. */
double abut_jacobian_barriers_energy(const abut_jacobian_barriers *b, const double *x);
/** g[3 nv] += scale dE/dx, where E is finite. */
void abut_jacobian_barriers_gradient(const abut_jacobian_barriers *b, const double *x, double scale, double *g);
/** H, packed matrices of tets [lo, hi), += scale d2E/dx2, projected at each point unless as_is. */
void abut_jacobian_barriers_hessian(const abut_jacobian_barriers *b, const double *x, double scale, int as_is, size_t lo,
                                    size_t hi, double *H);

#endif

/* The barrier function b(D) of D = d^2 - xi^2, the squared distance beyond the thickness xi of a pair (Li 2020, 4.6, 5.5,
 * App. B, J), and the barrier of one contact: value, gradient, projected Hessian of e(c) b(D) in the points of its stencil.
 * As grad D = grad d^2, thickness changes the argument of b and nothing else.
 *
 * A plain contact is its own active feature (geom/dist.h) and has e = 1.  A mollified one is an edge pair with the
 * mollifier e(c), c = |u x v|^2 (geom/dist.h), whose closest points may lie on any feature of the two edges. */
#ifndef ABUT_ENERGY_BARRIER_PAIR_H
#define ABUT_ENERGY_BARRIER_PAIR_H

#include "base/err.h"
#include "energy/barrier_law_inline.h"
#include "geom/dist.h"
#include "math/lanes.h"
#include "model/model.h"
#include "sparse/packed_lanes.h"

/** b, m^4, and its first and second derivative in D (NULL to skip), of a law of energy/contact_laws.h: 0 from Dhat = dhat2 on;
 * +inf for D <= 0 or not a number, with derivatives -inf and +inf. */
double abut_barrier(abut_barrier_law law, double D, double *db, double *ddb);

/** d2b/dd2, m^2, at the distance d > xi, thickness included: 4 d^2 b'' + 2 b', or squared: 4 d^2 b'' alone.  If the gap of d is
 * smaller than `least`, m, the gap is `least`. */
double abut_barrier_along(abut_barrier_law law, double d, double least, int squared);

/** b of four at once, each within a few units in the last place of abut_barrier's; the laws have one number. */
void abut_barrier_four(const abut_barrier_law law[ABUT_LANES], const double D[ABUT_LANES], double b[ABUT_LANES]);

/** The law of the model for a pair of thickness xi that acts within dhat, m. */
static inline abut_barrier_law abut_model_barrier(const abut_model *m, double dhat, double xi)
{
    return abut_barrier_law_of(dhat, m->continuity ? m->continuity[0] : ABUT_BARRIER_IPC, xi);
}

/** Lower bound of the stiffness, kg/m^2, for length l (m) and mean nodal mass (kg): 1e11 mass / (4 d^2 b''(D)) at the distance
 * d = xi + 1e-8 l, so that a pair with that gap has a Hessian entry of 1e11 mass.  The upper bound is 100 times it (Li 2020,
 * App. F, where xi = 0). */
double abut_kappa_min(double length, abut_barrier_law law, double mean_mass);
/** The largest abut_kappa_min over the thicknesses of all pairs of objects of thickness xi[n] (m; NULL: 0), and of objects with
 * half-spaces if there are any.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_kappa_min_of(double length, double dhat, int law, double mean_mass, const double *xi,
                                            int32_t n, int half_spaces, double *kappa, abut_err *err);

/** g[3k], m^3, k = abut_stencil_size(kind): the gradient of e(c) b(D), m^4.  x[12], m; eps_x the mollifier's threshold, m^4, 0:
 * plain. */
void abut_pair_barrier_grad(abut_barrier_law law, abut_stencil kind, const double *x, double eps_x, double *g);
/** Gradients g[n][12] of n <= ABUT_LANES plain contacts of one kind at once, x[n][12], laws of one number.  Entries of unused
 * points are not written.  The result of a contact does not depend on the other contacts. */
void abut_pair_barrier_grads(const abut_barrier_law *law, abut_stencil kind, size_t n, const double (*x)[12], double (*g)[12]);
/** H[n * ABUT_PACKED], m^2 (sparse/elements.h): for n <= ABUT_LANES plain contacts of one kind at once, x[n][12], laws of one
 * number, the positive semidefinite matrix nearest to scale[n] times the Hessian.  Blocks of unused corners are not written, or
 * set to 0.  The result of a contact does not depend on the other contacts. */
void abut_pair_barrier_hess(const abut_barrier_law *law, abut_stencil kind, size_t n, const double (*x)[12], const double *scale,
                            double *H);
enum { ABUT_RANK_ONE = 13 /* numbers s, v[12] of a term s v v^T of four corners (sparse/elements.h) */ };
/** val[n * ABUT_RANK_ONE]: for n <= ABUT_LANES plain contacts as above, s = scale times abut_barrier_along, v the gradient of the
 * distance, 0 at unused corners. */
void abut_pair_barrier_rank_one(const abut_barrier_law *law, double least, int squared, abut_stencil kind, size_t n,
                                const double (*x)[12], const double *scale, double *val);
/** H[144]: the Hessian of one mollified edge pair, not projected. */
void abut_pair_mollified_full(abut_barrier_law law, const double *x, double eps_x, double *H);
/** Projected Hessians of n mollified edge pairs. */
void abut_pair_mollified_hess(const abut_barrier_law *law, size_t n, const double (*x)[12], const double *eps_x,
                              const double *scale, double *H);

/* The Gauss-Newton matrix of a mollified edge pair, e(c) b(d), c = |e1 x e2|^2 (geom/dist.h), in the variables s = sqrt(c)
 * and d (Huang et al. 2024, GIPC, 6):
 *
 *     [a v] M [a v]^T,   a = grad s, v = grad d, M = (m11 m12, m12 m22) the second derivatives of e b in s and d,
 *
 * of rank 2 at most.  M is indefinite: its projection depends on the variables. */
/** Computes m of the edges x[12]; squared: m22 from the curvature in d^2, 4 d^2 b'', in place of b_dd.  If the gap is smaller
 * than `least`, m, its curvature is that at `least`.  All 0 if the edges are parallel to rounding. */
void abut_mollified_gn_of(abut_barrier_law law, double least, int squared, const double *x, double eps_x, abut_mollified_gn *m);

/** mu[k], z[k][12], k = 0, 1: the positive semidefinite part is sum mu z z^T, mu >= 0.
 * In space: of the matrix of 12 rows, which does not depend on units of length. */
void abut_mollified_gn_in_space(const abut_mollified_gn *m, double mu[2], double z[2][12]);
/** In (s, d/dhat), as published: it depends on the unit of length. */
void abut_mollified_gn_in_variables(const abut_mollified_gn *m, double mu[2], double z[2][12]);

#endif

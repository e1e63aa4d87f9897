/* Look-ahead: a decorator of directions that takes contacts into account before a direction is followed.
 *
 * At an impact of bodies, the matrix does not contain the contacts that are about to form: CCD bounds direction after direction
 * at a few hundredths, each time by a pair that only the next direction contains.  Here, the pairs that the direction meets along
 * its whole length are added to the quadratic model, as barriers of gaps that are linear in the step, along the normal at the
 * impact (abut_gap).  The direction becomes the minimiser of that model, by the factor at hand, for
 * half a substitution a pair.  Contacts that it closes are included, because the quadratic of a barrier in the matrix is much too
 * soft for them.  Pairs that the new direction meets are added, a few times.
 * It needs a factor of the matrix itself.  Directions that may end a step are not refined: Newton's direction judges the end. */
#ifndef ABUT_SOLVE_DIRECTION_LOOK_AHEAD_H
#define ABUT_SOLVE_DIRECTION_LOOK_AHEAD_H

#include "base/arena.h"
#include "energy/barrier_pair.h"
#include "solve/direction.h"

/** Forwards to inner, which must have `factor`, and adds `refine`.  On success *out owns it and *inner is empty; out may be
 * inner.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_look_ahead_make(abut_direction *out, abut_direction *inner, const abut_objective *p,
                                                abut_err *err);

/* A quadratic model of an objective with a few barriers on top of it, exact along gaps that are linear in the step:
 *
 *     m(p) = g.p + 1/2 p.Hp + sum_i phi_i(J_i p).
 *
 * Its minimiser is p = p0 - H^-1 J^T lambda with p0 = -H^-1 g and lambda_i = phi_i'(s_i), and the steps of the gaps, s = J p, are
 * where
 *
 *     1/2 (s - s0).G^-1 (s - s0) + sum_i phi_i(s_i),     G = J H^-1 J^T, s0 = J p0,
 *
 * is least: as many unknowns as gaps.  phi is the barrier at the new gap; if H contains the contact already, less its quadratic
 * in H.  m is convex and m'(0) = g, so p is a descent direction. */

typedef struct abut_gap {
    abut_barrier_law law;
    double weight;          /* kg/m^2: kappa times multiplicity */
    double gap;             /* m, where the step begins, > 0 */
    int known;              /* its quadratic is a part of H */
    double excess;          /* kg: its curvature in H beyond that of the barrier */
} abut_gap;

/** phi, kg m^2, and its first two derivatives in the step s of the gap; +inf where gap + s <= 0. */
double abut_gap_extra(const abut_gap *a, double s, double *d1, double *d2);

/** Finds lambda[n], kg m, by Newton's method with a search that keeps gaps open.  1e-6 of its largest diagonal entry makes G
 * definite, since several pairs may have the same gap.  If no minimum exists then, each gap gets 1e-6 of its own entry instead,
 * and a smaller part of the known contacts counts as in H if needed.  After 100 iterations lambda is the last iterate: its
 * direction is still judged by the search.
 *
 * G        [n * n] symmetric, 1/kg;  s0 [n] m
 * *solved  0: there is no minimum, or none to rounding; lambda is undefined
 * scratch  given back before return
 * Fails    ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_contact_subproblem_minimise(size_t n, const abut_gap *gap, const double *G, const double *s0,
                                                  double *lambda, int *solved, abut_arena *scratch, abut_err *err);

#endif

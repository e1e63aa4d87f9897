/* Is det dx/dxi positive everywhere in a tet of order 1 to 4?  It is a polynomial of degree 3 (order - 1) on the tet, and of
 * degree 3 in time if nodes move on straight lines.  It is positive if all its Bernstein coefficients are; otherwise the tet,
 * and the time, are halved recursively (A. Johnen, J.-F. Remacle, C. Geuzaine, "Geometrical validity of curvilinear finite
 * elements", J. Comput. Phys. 233, 2013).
 *
 * Coefficients are products of differences of Bernstein coefficients of the map, summed with positive weights of sum 1, and
 * each answer allows for their rounding: POSITIVE is a proof in real arithmetic on the stored doubles, for all points of the
 * closed tet and all times in [0, 1]. */
#ifndef ABUT_GEOM_JACOBIAN_H
#define ABUT_GEOM_JACOBIAN_H

#include "geom/lagrange.h"

typedef enum abut_jacobian_sign {
    ABUT_JACOBIAN_POSITIVE,         /* proven */
    ABUT_JACOBIAN_NOT_POSITIVE,     /* proven: there is a point where it is 0 or less */
    ABUT_JACOBIAN_UNDECIDED         /* too near to 0 for rounding or for the number of halves */
} abut_jacobian_sign;

/* A point that proves an answer. */
typedef struct abut_jacobian_at {
    double L[4], t;     /* barycentric coordinates, time */
    double det;         /* det dx/dxi there, m^3: six times the volume where the order is 1 */
} abut_jacobian_at;

/** det dx/dxi in all of the tet with nodes x[n][3], at one instant.  at  out unless POSITIVE; NULL to skip */
abut_jacobian_sign abut_jacobian_check(int order, const double (*x)[3], abut_jacobian_at *at);
/** det dx/dxi in all of the tet on the straight motion x0 -> x1, both ends included. */
abut_jacobian_sign abut_jacobian_check_motion(int order, const double (*x0)[3], const double (*x1)[3], abut_jacobian_at *at);

/** Lower bound of det dx/dxi over the tet, m^3, within 1 % of the least value unless that is near 0.
 * attained  out: the least of the values seen, an upper bound of the minimum; NULL to skip */
double abut_jacobian_least(int order, const double (*x)[3], double *attained);

/** Lower bound of det dx/dxi / det dX/dxi over the tet; -inf if det dX/dxi > 0 is not proven.  Within 1 % of the least value
 * unless that is near 0, or the bound is at least `enough`, which saves work (INFINITY: always within 1 %).
 * at  out: the point of the least ratio seen, with the ratio in `det`; +inf: none was seen; NULL to skip */
double abut_jacobian_least_ratio(int order, const double (*x)[3], const double (*X)[3], double enough, abut_jacobian_at *at);

/** Largest alpha in [0, 1], or somewhat less, up to which det d(x + t p)/dxi >= slack det dx/dxi in all of the tet, slack in
 * (0, 1); 0 if det dx/dxi > 0 is not proven.  If alpha < 1, it is halved until abut_jacobian_check_motion proves the motion to
 * the rounded x + alpha p. */
double abut_jacobian_max_step(int order, const double (*x)[3], const double (*p)[3], double slack);

#endif

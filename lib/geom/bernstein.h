/* Polynomials on a tet by Bernstein coefficients.  A polynomial of degree d is the sum of c_a B_a over whole numbers a >= 0 of
 * sum d, B_a(L) = d!/(a0! a1! a2! a3!) L0^a0 L1^a1 L2^a2 L3^a3.  Inside of the tet it lies between the least and the largest
 * coefficient, and at a corner it is the coefficient of the corner.
 *
 * Coefficients stand in the order of abut_bernstein_index.  (G. Farin, "Triangular Bernstein-Bezier patches", CAGD 3, 1986.) */
#ifndef ABUT_GEOM_BERNSTEIN_H
#define ABUT_GEOM_BERNSTEIN_H

#include "geom/lagrange.h"

/* The degree of the Jacobian determinant of a tet of order 4, and its coefficients. */
enum { ABUT_BERNSTEIN_DEGREE = 9, ABUT_BERNSTEIN_MOST = 220 };

/** Coefficients of a polynomial of degree d: (d + 1)(d + 2)(d + 3)/6. */
static inline int abut_bernstein_count(int d) { return (d + 1) * (d + 2) * (d + 3) / 6; }
/** Index of the coefficient of a, for every degree d: a0 = d - a1 - a2 - a3 does not matter. */
static inline int abut_bernstein_index(int a1, int a2, int a3)
{
    const int t = a2 + a3, s = a1 + t;
    return s * (s + 1) * (s + 2) / 6 + t * (t + 1) / 2 + a3;
}
/** Index of the coefficient of corner c = 0 .. 3, which is the value at that corner. */
static inline int abut_bernstein_corner(int d, int c)
{
    return c == 0 ? 0 : abut_bernstein_index(c == 1 ? d : 0, c == 2 ? d : 0, c == 3 ? d : 0);
}
/** a0 .. a3 of the coefficients of degree d, one after the other: start with a = (d, 0, 0, 0); 0: there is no further one. */
static inline int abut_bernstein_next(int d, int a[4])
{
    if (a[2]) a[2]--, a[3]++;
    else if (a[1]) a[1]--, a[2] = a[3] + 1, a[3] = 0;
    else if (a[0]) a[1] = d - --a[0], a[2] = a[3] = 0;
    else return 0;
    return 1;
}
/** d!/(a0! a1! a2! a3!) for d <= ABUT_BERNSTEIN_DEGREE. */
double abut_bernstein_weight(const int a[4]);

/** Bernstein coefficients b[n][3] of the map of a tet of order 1 to 4 from its nodes x[n][3], less x[0]: how far the coefficients
 * are from the first corner.  The tet lies in the hull of x[0] + b.
 * bound  out: |error| of b by axis, rounding included; NULL to skip */
void abut_bernstein_of_nodes(int order, const double (*x)[3], double (*b)[3], double bound[3]);

/** Halves the tet at the middle of its edge (i, j): c becomes the polynomial on the half with corner i, other[] that on the half
 * with corner j; the middle takes the place of the corner that is lost.  Rounding: at most d 2^-53 max |c|. */
void abut_bernstein_halve(int d, double *c, int i, int j, double *other);

#endif

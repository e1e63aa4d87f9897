/* Symmetric quadrature on tets and triangles: every point inside, every weight positive.
 *
 * Tets to degree 9 by rules of 1, 4, 8, 14, 14, 24, 35, 46 and 62 points (L. Shunn and F. Ham, J. Comput. Appl. Math. 236, 2012;
 * P. Keast, Comput. Methods Appl. Mech. Eng. 55, 1986; F. Witherden and P. Vincent, Comput. Math. Appl. 69, 2015; degree 9: 18
 * equations of symmetric polynomials in 18 unknowns), triangles to degree 8 by 1, 3, 6, 6, 7, 12, 16 and 16 points
 * (D. Dunavant, Int. J. Numer. Methods Eng. 21, 1985).  Beyond that the conical product of Gauss-Jacobi rules (A. Stroud,
 * "Approximate Calculation of Multiple Integrals", 1971, section 2.5). */
#ifndef ABUT_GEOM_QUADRATURE_H
#define ABUT_GEOM_QUADRATURE_H

#include "base/err.h"

enum { ABUT_QUADRATURE_MAX = 40 };   /* the largest degree */

/* Zero-filled is empty. */
typedef struct abut_quadrature {
    int degree;     /* polynomials up to it are integrated exactly; at least the degree that was asked for */
    int corners;    /* 4 a tet, 3 a triangle */
    int n;
    double *L;      /* [n * corners] barycentric coordinates */
    double *w;      /* [n] weights of sum 1: fractions of the volume or area */
} abut_quadrature;

/** Rules of at least `degree`, 0 .. ABUT_QUADRATURE_MAX; freed by abut_quadrature_clear.  Fails ABUT_E_NOMEM. */
ABUT_MUST_USE abut_status abut_quadrature_tet(int degree, abut_quadrature *q, abut_err *err);
ABUT_MUST_USE abut_status abut_quadrature_triangle(int degree, abut_quadrature *q, abut_err *err);
void abut_quadrature_clear(abut_quadrature *q);

/** Degree at which energies of elements of order `order` on geometry of order `geometry` are integrated: the degree of linear
 * elasticity on a straight tet, plus a part for curved geometry. */
static inline int abut_degree_elastic(int order, int geometry)
{
    const int degree = 2 * (order - 1) + geometry - 1;
    return degree > 1 ? degree : 1;
}
/** Degree at which the mass matrix is exact. */
static inline int abut_degree_mass(int order, int geometry) { return 2 * order + 3 * (geometry - 1); }

#endif

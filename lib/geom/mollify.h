/* The edge-edge mollifier: fades an edge-edge barrier out where the edges become parallel (Li 2020, 4.24, App. A). */
#ifndef ABUT_GEOM_MOLLIFY_H
#define ABUT_GEOM_MOLLIFY_H

/** c = |u x v|^2 of the edges a0 a1, b0 b1 in x[12], m^4; g[12], H[144] its gradient and Hessian (NULL to skip). */
double abut_cross2(const double x[12], double *g, double *H);
/** Threshold eps_x = 1e-3 |U|^2 |V|^2 from squared rest lengths, m^4. */
double abut_mollify_eps(double rest2_a, double rest2_b);
/** e(c) in [0, 1]; d1, d2 its derivatives in c (NULL to skip).  1 for c >= eps. */
double abut_mollify(double c, double eps, double *d1, double *d2);

#endif

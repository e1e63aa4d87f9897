/* Fibres: a direction at rest along which a material is stiffer (Liu 2018, 8.3),
 *     psi = kappa/2 (|F d| - 1)^2,     P = kappa (1 - 1/|F d|) F d d^T,                      J/m^3
 * added to the isotropic density of a tet.  It is the squared distance of F d to the unit sphere, so kappa (g_a . d)(g_b . d)
 * bounds its Hessian.  If F d = 0, the stress has no direction and is 0. */
#ifndef ABUT_ENERGY_MATERIAL_FIBRE_H
#define ABUT_ENERGY_MATERIAL_FIBRE_H

/** psi(F), and P[9] += dpsi/dF (NULL to skip); F row major, d[3] unit, kappa Pa. */
double abut_fibre_psi(double kappa, const double d[3], const double F[9], double *P);
/** M[9], symmetric: the second derivative of psi by F d, d2psi/dF_ij dF_kl = M_ik d_j d_l; project: to positive semidefinite,
 * so that a compressed fibre does not push sideways. */
void abut_fibre_hessian(double kappa, const double d[3], const double F[9], int project, double M[9]);

#endif

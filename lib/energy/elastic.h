/* Hyperelastic tetrahedra: energy, gradient, projected Hessian (Li 2020, 2.2). */
#ifndef ABUT_ENERGY_ELASTIC_H
#define ABUT_ENERGY_ELASTIC_H

#include "base/arena.h"
#include "model/model.h"

/* Rest shape of every tet, precomputed; owned here.  Borrows the model. */
typedef struct abut_elastic {
    const abut_model *model;
    double *B;          /* [nt * 9] inverse of the rest edge matrix, row major */
    double *vol;        /* [nt] m^3 */
    double *lame;       /* [nt * 2] mu, lambda, Pa */
    int32_t *inc_first; /* [nv + 1], inc [4 nt]: tet corners at each node, ascending (4 * tet + corner) */
    int32_t *inc;
} abut_elastic;

ABUT_MUST_USE abut_status abut_elastic_init(abut_elastic *e, const abut_model *m, abut_err *err);
void abut_elastic_clear(abut_elastic *e);

/** Sum of volume * psi(F), J.  +inf when a neo-Hookean tet is not positive (that is no failure: the trial is infeasible). */
ABUT_MUST_USE abut_status abut_elastic_energy(const abut_elastic *e, const double *x, double *energy, abut_arena *scratch,
                                              abut_err *err);
/** g[3 nv] += scale * dE/dx. */
ABUT_MUST_USE abut_status abut_elastic_gradient(const abut_elastic *e, const double *x, double scale, double *g,
                                                abut_arena *scratch, abut_err *err);
/** H[nt * ABUT_PACKED] (linalg/bsr.h): scale * d2E/dx2 of each tet, projected to positive semidefinite. */
void abut_elastic_hessian(const abut_elastic *e, const double *x, double scale, double *H);
/** Cauchy stress sigma[9] and J of tet t at x (for export); von Mises stress of a stress tensor, Pa. */
double abut_elastic_stress(const abut_elastic *e, const double *x, int32_t t, double sigma[9]);
double abut_von_mises(const double sigma[9]);

/** psi(F), J/m^3; P[9] = dpsi/dF and H[81] = its projected derivative (NULL to skip).  F row major; model ABUT_NEO_HOOKEAN, ... */
double abut_psi(int model, double mu, double lambda, const double F[9], double *P);
void abut_psi_hess(int model, double mu, double lambda, const double F[9], double H[81], int project);

#endif

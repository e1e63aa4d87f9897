/* ADMM on the deformation gradients of tets, the vectors of springs and, on request, the corners of thin elements: generalises
 * projective dynamics to nonlinear materials (Narain et al. 2016; Overby et al. 2017).  With D_e x = F_e (or the vector of a
 * spring) and w_e^2 = k_e V_e,
 *
 *     z_e = argmin V_e psi(z) + w_e^2/2 |z - (D_e x + u_e)|^2       in the space of singular values; three unknowns
 *     u_e = u_e + D_e x - z_e
 *     (M + h^2 sum w_e^2 D_e^T D_e) x = M xhat + h^2 sum w_e^2 D_e^T (z_e - u_e)
 *
 * from x = xhat, z_e = D_e x, and u_e = 0 or multipliers that balance the forces there.  The matrix is that of
 * solve/direction/initial_laplacian.h, with the additions of energy/codim_elements.h for thin elements.  The
 * objective may rise between iterations, and convergence is not guaranteed for energies that are not convex. */
#ifndef ABUT_SOLVE_LOCAL_GLOBAL_ADMM_H
#define ABUT_SOLVE_LOCAL_GLOBAL_ADMM_H

#include "energy/codim_elements.h"
#include "energy/elastic.h"
#include "solve/objective.h"

/* Local variables; zero-filled is empty. */
typedef struct abut_admm {
    double *k;              /* [nm] Pa, as in the matrix */
    double *z, *u;          /* [9 nt + 3 nsp + 12 of each thin element] */
    double *side;           /* [nt] m: cube roots of the volumes */
    abut_codim_apart thin;  /* t.n 0: none are split */
    double apart, moved;    /* m: of the last step, the largest |D x - z| and change of z; for tets, times the cube root of
                               the volume */
} abut_admm;

ABUT_MUST_USE abut_status abut_admm_init(abut_admm *a, const abut_objective *p, double fit_low, double fit_high, abut_err *err);
/** abut_admm_init with variables of thin elements, weighed by the time scheme of p (abut_objective_weigh). */
ABUT_MUST_USE abut_status abut_admm_init_thin(abut_admm *a, const abut_objective *p, double fit_low, double fit_high,
                                              abut_err *err);
void abut_admm_clear(abut_admm *a);
/** z = D x, u = 0. */
void abut_admm_start(abut_admm *a, const abut_objective *p, const double *x);
/** z = D x, and u that balances the forces of all element energies at x, which are finite. */
void abut_admm_start_balanced(abut_admm *a, const abut_objective *p, const double *x);
/** Takes the local step and updates the multipliers at x.  r[3 nv], kg m: residual of the global step, which is x - A^-1 r; zero
 * for nodes that do not move.
 * Fails  ABUT_E_NUMERIC an element has no minimum of finite energy; ABUT_E_NOMEM scratch */
ABUT_MUST_USE abut_status abut_admm_step(abut_admm *a, const abut_objective *p, const double *x, double *r, abut_arena *scratch,
                                         abut_err *err);

/** s[3]: stretches that minimise psi(s) + k/2 |s - s0|^2 of tet t, by Newton from s0; k > 0.  Returns 0 if that fails. */
int abut_admm_project(const abut_elastic *e, size_t t, double k, const double s0[3], double s[3]);

/** Projects tets t .. t + n - 1, n <= ABUT_LANES, by whole steps of Newton with the unprojected second derivative.  A lane whose
 * second derivative is not positive definite, or whose whole step does not descend, is left to abut_admm_project.
 * Returns the number of lanes before the first that fails; n: all have converged. */
size_t abut_admm_project_lanes(const abut_elastic *e, size_t t, size_t n, const abut_lanes *k, const abut_lanes s0[3],
                               abut_lanes s[3]);

#endif

/* Rayleigh damping with a lagged stiffness: forces -C v with C = a_M M + b_K K, K the elastic Hessian at the start of the
 * step, projected to positive semidefinite, so that the damping is a convex quadratic of the positions (stretch limits are no
 * part of K: they are no material; nor are springs and attachments):
 *     D(x) = scale/2 (x - c)^T C (x - c),     v = rate (x - c) / h.
 * Tets of order 2 and more have terms of their own.
 * Source: Rayleigh 1877, 81 (forces proportional to mass and stiffness). */
#ifndef ABUT_ENERGY_DAMPING_H
#define ABUT_ENERGY_DAMPING_H

#include "energy/codim.h"
#include "energy/elastic.h"
#include "energy/mass.h"

/* Zero-filled: no damping.  K is owned here. */
typedef struct abut_damping {
    const abut_mass *M;
    double mass;        /* a_M, 1/s */
    double stiffness;   /* b_K, s */
    double *K;          /* [nt * ABUT_PACKED] b_K K of each tet, N s/m; NULL when b_K is 0 */
    double *codim_K;     /* [thin elements * ABUT_PACKED] */
} abut_damping;

struct abut_terms;
/** Returns the damping of the list, which "damping" (mass and tets) and "codim damping" share; NULL: none. */
abut_damping *abut_damping_of(const struct abut_terms *terms);

/** Computes K at the start of a step, x[3 nv] of finite energy. */
void abut_damping_freeze(abut_damping *d, const abut_elastic *e, const abut_codim *t, const double *x);

/* Parts that are damped; a mask. */
enum { ABUT_DAMPING_TETS = 1 /* and masses */, ABUT_DAMPING_CODIM = 2, ABUT_DAMPING_ALL = 3 };
/** D(x) of `parts`; scale s, result kg m^2.  scratch: one double per block of elements. */
ABUT_MUST_USE abut_status abut_damping_energy(const abut_damping *d, const abut_elastic *e, const abut_codim *t, int parts,
                                              const double *x, const double *c, double scale, double *energy,
                                              abut_arena *scratch, abut_err *err);
/** g[3 nv] += dD/dx; same bits for any thread count.  scratch: 12 doubles per element. */
ABUT_MUST_USE abut_status abut_damping_gradient(const abut_damping *d, const abut_elastic *e, const abut_codim *t, int parts,
                                                const double *x, const double *c, double scale, double *g,
                                                abut_arena *scratch, abut_err *err);
/** Add the stiffness part of the Hessian, to H[(hi - lo) * ABUT_PACKED] of tets [lo, hi), and to H[t->n * ABUT_PACKED] of thin
 * elements.  The mass part is scale * a_M * m on the diagonal. */
void abut_damping_tet_hessian(const abut_damping *d, size_t lo, size_t hi, double scale, double *H);
void abut_damping_codim_hessian(const abut_damping *d, const abut_codim *t, double scale, double *H);

#endif

/* Thin elements (energy/codim.h) taken apart, each with corners of its own: the proximal operator of every one, for methods that
 * split an energy into its elements (Overby et al. 2017; Daviet 2020, 6.1).
 *
 *     z_e = argmin scale E_e(z) + 1/2 sum_ab K_ab (z_a - y_a).(z_b - y_b),     z_0 = y_0
 *
 * K is equal for x, y and z and has rows that sum to 0: the trace of each block of the Hessian at rest.  For hinges and bends the
 * trace depends on one combination of corners alone, and not on large angles: their K is four times the trace, plus twice its
 * mean diagonal spread over all pairs of corners. */
#ifndef ABUT_ENERGY_CODIM_APART_H
#define ABUT_ENERGY_CODIM_APART_H

#include "energy/codim.h"

enum { ABUT_CODIM_PAIRS = 10 };     /* of four corners, a <= b */

/* Owns node and K, borrows the rest.  Zero-filled is empty. */
typedef struct abut_codim_apart {
    abut_codim t;           /* corner c of element e is node 4 e + c */
    double scale;
    double *K;              /* [10 t.n] in the order of packed blocks (sparse/elements.h) */
} abut_codim_apart;

/** Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_codim_apart_init(abut_codim_apart *a, const abut_codim *t, double scale, abut_err *err);
void abut_codim_apart_clear(abut_codim_apart *a);

/** H[ABUT_PACKED * t.n] = K of each element less the trace, as blocks of a matrix (sparse/elements.h). */
void abut_codim_apart_beyond(const abut_codim_apart *a, double *H);
/** Solves for z of element e at y[12], from its values in z[12 t.n]; 0: Newton's method does not converge. */
int abut_codim_apart_nearest(const abut_codim_apart *a, size_t e, const double y[12], double *z);
/** f[12] = K d of element e: a force at its corners where d[12] are lengths. */
void abut_codim_apart_force(const abut_codim_apart *a, size_t e, const double d[12], double f[12]);
/** d[12], d_0 = 0, with K d = scale dE/dx of element e at z[12 t.n]. */
void abut_codim_apart_balance(const abut_codim_apart *a, size_t e, const double *z, double d[12]);

#endif

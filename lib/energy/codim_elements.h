/* The kinds of thin elements (energy/codim.h), lo .. hi - 1 of each: shells, four at a time; hinges, rod segments, bends.  Then
 * elements taken apart from each other, for methods that split an energy. */
#ifndef ABUT_ENERGY_CODIM_ELEMENTS_H
#define ABUT_ENERGY_CODIM_ELEMENTS_H

#include "energy/stretch.h"

/* Arguments of one evaluation, as in the functions of energy/codim.h. */
typedef struct abut_codim_ask {
    const abut_codim *t;
    const double *x;        /* [3 nv] m */
    int parts;              /* ABUT_CODIM_* */
    double kappa;           /* Pa */
    double scale;
    const double *tension;  /* [nrd] N, for Hessians; NULL: tension at x */
    const abut_stretch_ahead *limits;   /* for Hessians; NULL: limits at x */
    int add;                /* Hessians are added to H */
    int as_is;              /* Hessians are not projected */
    size_t base;            /* forces and Hessians begin with those of this element */
} abut_codim_ask;

/** Energy of the elements lo .. hi - 1, all of one kind, J; not finite when one is infeasible.  Only shells have bounds: all
 * results of other kinds are 0 without ABUT_CODIM_ELASTIC in a->parts. */
double abut_codim_elements_energy(const abut_codim_ask *a, int kind, size_t lo, size_t hi);
/** f[12 * (element - base) + 3 * corner + axis] = scale * dE/dx; 0 at unused corners. */
void abut_codim_elements_gradient(const abut_codim_ask *a, int kind, size_t lo, size_t hi, double *f);
/** H[ABUT_PACKED * (element - base)] = scale * d2E/dx2, projected unless a->as_is; += if a->add.  Blocks of the unused corner of
 * shells are not written. */
void abut_codim_elements_hessian(const abut_codim_ask *a, int kind, size_t lo, size_t hi, double *H);
/** Sum of the stiffnesses of the elements that are no shells, J, each added to each[no] of its object, too. */
double abut_codim_bend_stiffness(const abut_codim *t, double *each);

/* Stretch of an element by a displacement d beyond the first-order strain of an intended displacement: mainly that of a rotation.
 *
 * An element of k + 1 corners has edges e_i = x_i - x_0 and their products C = e^T e.  A displacement d of the edges changes the
 * products to (e + d)^T (e + d).  The intended displacement `meant` has the first-order strain M = (e^T meant + meant^T e)/2.
 * Without a rotation, M gives the products C + 2 M + M C^-1 M.  The difference
 *
 *     X = e^T d + d^T e + d^T d - 2 M - M C^-1 M                                               m^2
 *
 * is, to first order, due to u = e C^-1 X / 2, a motion of the edges in their plane. */

/** Computes u[3 k], edge after edge as in e[3 k]; k = 1 (segment) or 2 (triangle).  u = 0 if edges are dependent to rounding. */
void abut_turn_edges(int k, const double *e, const double *d, const double *meant, double *u);

/* ---- elements taken apart ---- */

/* Thin elements (energy/codim.h) taken apart, each with corners of its own: the proximal operator of every one, for methods that
 * split an energy into its elements (Overby et al. 2017; Daviet 2020, 6.1).
 *
 *     z_e = argmin scale E_e(z) + 1/2 sum_ab K_ab (z_a - y_a).(z_b - y_b),     z_0 = y_0
 *
 * K is equal for x, y and z and has rows that sum to 0: the trace of each block of the Hessian at rest.  For hinges and bends the
 * trace depends on one combination of corners alone, and not on large angles: their K is four times the trace, plus twice its
 * mean diagonal spread over all pairs of corners. */
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

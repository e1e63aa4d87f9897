/* The kinds of thin elements (energy/codim.h), lo .. hi - 1 of each: shells, four at a time; hinges, rod segments, bends. */
#ifndef ABUT_ENERGY_CODIM_ELEMENTS_H
#define ABUT_ENERGY_CODIM_ELEMENTS_H

#include "energy/codim_bound.h"

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

/** Each for the shells lo .. hi - 1, which are the elements of the same numbers.  Energy: J, not finite when one is
 * infeasible. */
double abut_codim_shell_energy(const abut_codim_ask *a, size_t lo, size_t hi);
/** f[12 * (element - base) + 3 * corner + axis] = scale * dE/dx; 0 at the unused corner. */
void abut_codim_shell_gradient(const abut_codim_ask *a, size_t lo, size_t hi, double *f);
/** H[ABUT_PACKED * (element - base)] = scale * d2E/dx2, projected unless a->as_is; += if a->add.  Blocks of the unused corner are
 * not written. */
void abut_codim_shell_hessian(const abut_codim_ask *a, size_t lo, size_t hi, double *H);

/** All for the elements lo .. hi - 1, of one kind that is no shell.  These have no bounds: results are 0 without
 * ABUT_CODIM_ELASTIC in a->parts.  Energy: J, +inf if an element is infeasible. */
double abut_codim_bend_energy(const abut_codim_ask *a, int kind, size_t lo, size_t hi);
/** f[12 * (element - base) + 3 * corner + axis] = scale * dE/dx; 0 at unused corners. */
void abut_codim_bend_gradient(const abut_codim_ask *a, int kind, size_t lo, size_t hi, double *f);
/** H[ABUT_PACKED * (element - base)] = scale * d2E/dx2, projected; += where a->add. */
void abut_codim_bend_hessian(const abut_codim_ask *a, int kind, size_t lo, size_t hi, double *H);
/** Sum of their stiffnesses, J. */
double abut_codim_bend_stiffness(const abut_codim *t);

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

#endif

/* The shells among the thin elements (energy/codim.h), four at a time: not for use outside of lib/energy. */
#ifndef ABUT_ENERGY_CODIM_SHELL_H
#define ABUT_ENERGY_CODIM_SHELL_H

#include "energy/codim.h"
#include "energy/stretch_ahead.h"

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

#endif

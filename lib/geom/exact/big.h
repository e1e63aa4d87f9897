/* Doubles as big integers: a set of doubles, multiplied by one power of two, becomes integers without loss. */
#ifndef ABUT_GEOM_EXACT_BIG_H
#define ABUT_GEOM_EXACT_BIG_H

#include <gmp.h>

/** Smallest e (as in m 2^e, m an odd integer) over the nonzero ones of n finite doubles; 0 when all are zero. */
int abut_big_exponent(const double *v, int n);
/** z = v 2^-e, exact for e <= abut_big_exponent(&v, 1); z is initialised. */
void abut_big_set(mpz_t z, double v, int e);

#endif

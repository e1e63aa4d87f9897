/* Polynomials in t with big integer coefficients, and their real roots in [0, 1], without rounding.
 *
 * A root is a dyadic number a / 2^k, or the only root of a square-free polynomial in an open dyadic interval
 * (a / 2^k, (a + 1) / 2^k).  Signs of other polynomials there are decided by subdivision, and zeros by a common divisor, so
 * no bound on the separation of roots is needed. */
#ifndef ABUT_GEOM_EXACT_ZPOLY_H
#define ABUT_GEOM_EXACT_ZPOLY_H

#include <gmp.h>

enum { ABUT_ZPOLY_MAX = 6 /* degree */ };

/* sum c[i] t^i, i <= deg; deg -1 is the zero polynomial; c[deg] is not 0.  All coefficients are initialised. */
typedef struct abut_zpoly {
    int deg;
    mpz_t c[ABUT_ZPOLY_MAX + 1];
} abut_zpoly;

void abut_zpoly_init(abut_zpoly *p);
void abut_zpoly_clear(abut_zpoly *p);
void abut_zpoly_set(abut_zpoly *p, const abut_zpoly *q);
/** p += s q r, s = +1 or -1; p is neither q nor r; the sum of their degrees stays within ABUT_ZPOLY_MAX. */
void abut_zpoly_addmul(abut_zpoly *p, int s, const abut_zpoly *q, const abut_zpoly *r);
/** p = q - r; p may be q or r. */
void abut_zpoly_sub(abut_zpoly *p, const abut_zpoly *q, const abut_zpoly *r);
/** Divides by the content and makes the leading coefficient positive: roots stay, the sign may not. */
void abut_zpoly_primitive(abut_zpoly *p);
/** Equal coefficients. */
int abut_zpoly_equal(const abut_zpoly *p, const abut_zpoly *q);
/** Sign of p(a / 2^k). */
int abut_zpoly_sign(const abut_zpoly *p, const mpz_t a, mp_bitcnt_t k);

typedef struct abut_root {
    int dyadic;     /* 1: the root is a / 2^k;  0: it lies in the open interval (a, a + 1) / 2^k */
    mpz_t a;
    mp_bitcnt_t k;
} abut_root;

/* The roots of one polynomial in [0, 1], in no order; f is that polynomial without square factors and dyadic roots. */
typedef struct abut_roots {
    abut_zpoly f;
    int n;
    abut_root root[ABUT_ZPOLY_MAX];
} abut_roots;

/** All distinct real roots of p (not zero) in [0, 1].  r is cleared by abut_roots_clear. */
void abut_roots_find(abut_roots *r, const abut_zpoly *p);
void abut_roots_clear(abut_roots *r);
/** Sign of q at root i.  The interval may shrink: later questions about the same root start from there. */
int abut_roots_sign(abut_roots *r, int i, const abut_zpoly *q);
/** Doubles lo <= root i <= hi within [0, 1]: equal when the root is a double, else at most a few ulps apart. */
void abut_roots_bracket(abut_roots *r, int i, double *lo, double *hi);

#endif

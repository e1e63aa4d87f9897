/* Polynomials in t with big integer coefficients, and their real roots in [0, 1], without rounding.
 *
 * A root is a dyadic number a / 2^k, or the only root of a square-free polynomial in an open dyadic interval
 * (a / 2^k, (a + 1) / 2^k).  Signs of other polynomials there are decided by subdivision, and zeros by a common divisor, so
 * no bound on the separation of roots is needed. */
#ifndef ABUT_GEOM_EXACT_ZPOLY_H
#define ABUT_GEOM_EXACT_ZPOLY_H

#include <gmp.h>
#include <math.h>
#include <stddef.h>

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

/* Doubles as big integers: a set of doubles, multiplied by one power of two, becomes integers without loss. */

/** Smallest e (as in m 2^e, m an odd integer) over the nonzero ones of n finite doubles; 0 when all are zero. */
int abut_big_exponent(const double *v, int n);
/** z = v 2^-e, exact for e <= abut_big_exponent(&v, 1); z is initialised. */
void abut_big_set(mpz_t z, double v, int e);

/** 1 when none of v[n] is infinite or NaN. */
static inline int abut_all_finite(const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(v[i])) return 0;
    return 1;
}

/* The earliest instant of a motion at which something holds, gathered from the roots of polynomials in t. */

/* The answer so far, and an enclosure of the earliest instant found; { 0, want_time, 0, 1 } at first. */
typedef struct abut_first_time {
    int hit;
    int want_time;      /* 0: whether suffices */
    double lo, hi;
} abut_first_time;

/** 1 when no further root changes the answer. */
static inline int abut_first_time_done(const abut_first_time *a) { return a->hit && (!a->want_time || a->lo == 0); }
/** It holds at root i: the smallest of several enclosures encloses the smallest time. */
void abut_first_time_take(abut_first_time *a, abut_roots *r, int i);
/** Writes the enclosure (NULL: not wanted) of a hit; returns hit. */
int abut_first_time_give(const abut_first_time *a, double *t_lo, double *t_hi);
/** p = t^2 - t, initialised: its roots are the ends of the motion. */
void abut_zpoly_ends(abut_zpoly *p);

#endif

/* Numbers as sums of doubles that do not overlap (Shewchuk 1997, sections 2.2-2.5): arithmetic without rounding.
 *
 * e[n] is an expansion: components ordered by growing magnitude, non-overlapping, zeros left out; n = 0 is zero.
 * Exact as long as no operation overflows and no product has a bit below 2^-1074: the caller keeps to that range. */
#ifndef ABUT_GEOM_EXACT_EXPANSION_H
#define ABUT_GEOM_EXACT_EXPANSION_H

/** e = a - b, exactly; returns its length, 0 to 2. */
int abut_expansion_diff(double a, double b, double e[2]);
/** h = e + f; h[m + n] must not overlap e or f.  Returns its length. */
int abut_expansion_sum(const double *e, int m, const double *f, int n, double *h);
/** h = e f for f of at most two components; h[4 m], scratch[4 m].  Returns its length. */
int abut_expansion_times2(const double *e, int m, const double *f, int n, double *h, double *scratch);
/** Negates in place. */
void abut_expansion_negate(double *e, int n);
/** Sign of the number: that of its largest component. */
int abut_expansion_sign(const double *e, int n);

#endif

/* Logarithms and angles, of one number or of four at a time, by forms_one.h or forms_lanes.h.
 *
 * Logarithms by the polynomial of FreeBSD's e_log.c and s_log1p.c (Ng 1993): ln(1 + f) = 2 atanh(f/(2 + f)) for f from
 * sqrt(1/2) - 1 to sqrt 2 - 1.  The rational function of angles, for |t| < tan(pi/8), is that of the Cephes library (Moshier
 * 1989). */

/* *bits: n + 1023, *n as many powers of 2 as bring u > 0 times sqrt(1/2) below 1. */
FORM void NAME(abut_log_power)(const REAL *u, BITS *bits, REAL *n)
{
    *bits = (AS_BITS(*u) + (0x3ff0000000000000ULL - 0x3fe6a09e667f3bcdULL)) >> 52;
    *n = AS_REAL(*bits | 0x4330000000000000ULL) - (0x1p52 + 1023);
}

/* *y = ln(2^n (1 + f)) + c */
FORM void NAME(abut_log_of)(const REAL *n, const REAL *f, const REAL *c, REAL *y)
{
    const REAL half = 0.5 * *f * *f, s = *f / (2 + *f), z = s * s;
    REAL r = ALL(1.479819860511658591e-01);
    r = r * z + 1.531383769920937332e-01;
    r = r * z + 1.818357216161805012e-01;
    r = r * z + 2.222219843214978396e-01;
    r = r * z + 2.857142874366239149e-01;
    r = r * z + 3.999999999940941908e-01;
    r = r * z + 6.666666666666735130e-01;
    *y = *n * 6.93147180369123816490e-01 - ((half - (s * (half + z * r) + (*n * 1.90821492927058770002e-10 + *c))) - *f);
}

/** *y = ln x within 2 units in the last place; where x is not positive or not finite, NaN. */
FORM void NAME(abut_log)(const REAL *x, REAL *y)
{
    const MASK small = *x < DBL_MIN, known = (*x > 0) & (*x <= DBL_MAX);
    const REAL u = PICK(small, 0x1p54 * *x, *x), none = ALL(0.);
    BITS bits;
    REAL n;
    NAME(abut_log_power)(&u, &bits, &n);
    const REAL f = AS_REAL(AS_BITS(u) - ((bits - 1023) << 52)) - 1;
    n = PICK(small, n - 54, n);
    NAME(abut_log_of)(&n, &f, &none, y);
    *y = PICK(known, *y, ALL((double)NAN));
}

/** *y = ln(1 + x) within 2 units in the last place, for -1 < x <= 1; the rounding of 1 + x is corrected. */
FORM void NAME(abut_log1p)(const REAL *x, REAL *y)
{
    const REAL u = 1 + *x, lost = (*x - (u - 1)) / u;
    BITS bits;
    REAL n;
    NAME(abut_log_power)(&u, &bits, &n);
    const MASK same = (MASK)(bits == 1023);
    const REAL f = PICK(same, *x, AS_REAL(AS_BITS(u) - ((bits - 1023) << 52)) - 1), c = PICK(same, ALL(0.), lost);
    NAME(abut_log_of)(&n, &f, &c, y);
}

/** *angle = atan2(y, x) in [-pi, pi], within 2 units in the last place; NaN where both are 0, both are infinite or one is NaN. */
FORM void NAME(abut_atan2)(const REAL *y, const REAL *x, REAL *angle)
{
    const double P[5] = { -8.750608600031904122785e-1, -1.615753718733365076637e1, -7.500855792314704667340e1,
                          -1.228866684490136173410e2, -6.485021904942025371773e1 };
    const double Q[5] = { 2.485846490142306297962e1, 1.650270098316988542046e2, 4.328810604912902668951e2,
                          4.853903996359136964868e2, 1.945506571482613964425e2 };
    const double half_pi = 1.57079632679489661923, rest_of_it = 6.123233995736765886130e-17, eighth = 0.41421356237309504880;
    const REAL ay = ABS(*y), ax = ABS(*x), zero = ALL(0.);
    const MASK steep = ay > ax;
    const REAL a = PICK(steep, ax, ay), b = PICK(steep, ay, ax);
    /* atan(a/b), of 1 - a/b over 1 + a/b where that is smaller */
    const MASK high = a > eighth * b;
    const REAL t = PICK(high, a - b, a) / PICK(high, a + b, b), z = t * t;
    REAL p = ALL(P[0]), q = z + Q[0];
    for (int i = 1; i < 5; i++) {
        p = p * z + P[i];
        q = q * z + Q[i];
    }
    REAL r = t + t * (z * p / q) + PICK(high, ALL(0.5 * rest_of_it), zero);
    r = r + PICK(high, ALL(0.5 * half_pi), zero);
    r = PICK(steep, half_pi - (r - rest_of_it), r);
    r = PICK(*x < 0, 2 * half_pi - (r - 2 * rest_of_it), r);
    *angle = AS_REAL(AS_BITS(r) | (AS_BITS(*y) & 0x8000000000000000ULL));
}

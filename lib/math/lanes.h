/* Four numbers at a time: the arithmetic of one element written once, done for four (GNU vector types, so that any
 * target can hold them).  Every operation is that of the scalar code, lane by lane, with the same bits.
 * Functions that work on lanes are compiled for several instruction sets; ABUT_LANES_CLONES picks one at run time.
 * Lanes travel by pointer or inside macros, never by value: how a register that wide is passed depends on the target. */
#ifndef ABUT_MATH_LANES_H
#define ABUT_MATH_LANES_H

#include <float.h>
#include <math.h>
#include <stddef.h>

enum { ABUT_LANES = 4 };

typedef double abut_lanes __attribute__((vector_size(8 * ABUT_LANES)));
typedef double abut_lanes_anywhere __attribute__((vector_size(8 * ABUT_LANES), aligned(8), may_alias));   /* in an array */
typedef double abut_two_anywhere __attribute__((vector_size(16), aligned(8), may_alias));
typedef long long abut_lane_mask __attribute__((vector_size(8 * ABUT_LANES)));  /* 0 or -1 each */

/* not under a sanitizer, which is not initialised when the choice is made, nor with clang, whose symbols for it do not link, nor
 * if the command line defines it */
#if defined(ABUT_LANES_CLONES)
#elif defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
#define ABUT_LANES_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define ABUT_LANES_CLONES
#endif
#define ABUT_LANES_INLINE static inline __attribute__((always_inline))

/** Four times the same number. */
#define ABUT_LANES_ALL(v) ((abut_lanes){ (v), (v), (v), (v) })
/** yes where the mask is set, no elsewhere. */
#define ABUT_LANES_PICK(m, yes, no) \
    ((abut_lanes)(((m) & (abut_lane_mask)(yes)) | (~(m) & (abut_lane_mask)(no))))
#define ABUT_LANES_ABS(v) ((abut_lanes)((abut_lane_mask)(v) & 0x7fffffffffffffffLL))

ABUT_LANES_INLINE void abut_lanes_sqrt(abut_lanes *v)
{
    double a[ABUT_LANES] __attribute__((aligned(8 * ABUT_LANES)));
    *(abut_lanes *)a = *v;
    #pragma omp simd
    for (int i = 0; i < ABUT_LANES; i++) a[i] = sqrt(a[i]);
    *v = *(abut_lanes *)a;
}

/** C[9] = cofactors of A[9], row major. */
ABUT_LANES_INLINE void abut_lanes_cofactors(const abut_lanes *A, abut_lanes *C)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int a = 3 * ((i + 1) % 3), b = 3 * ((i + 2) % 3), p = (j + 1) % 3, q = (j + 2) % 3;
            C[3 * i + j] = A[a + p] * A[b + q] - A[a + q] * A[b + p];
        }
}

/** v[j][l] = a[l][j], j < 3: three numbers from each of four places. */
ABUT_LANES_INLINE void abut_lanes_gather3(const double *const a[ABUT_LANES], abut_lanes *v)
{
    const abut_two_anywhere p = *(const abut_two_anywhere *)a[0], q = *(const abut_two_anywhere *)a[1];
    const abut_two_anywhere r = *(const abut_two_anywhere *)a[2], s = *(const abut_two_anywhere *)a[3];
    const abut_lanes pr = __builtin_shufflevector(p, r, 0, 1, 2, 3), qs = __builtin_shufflevector(q, s, 0, 1, 2, 3);
    v[0] = __builtin_shufflevector(pr, qs, 0, 4, 2, 6);
    v[1] = __builtin_shufflevector(pr, qs, 1, 5, 3, 7);
    v[2] = (abut_lanes){ a[0][2], a[1][2], a[2][2], a[3][2] };
}

/** r[i][j] = v[j][i]. */
ABUT_LANES_INLINE void abut_lanes_transpose(const abut_lanes v[ABUT_LANES], abut_lanes r[ABUT_LANES])
{
    const abut_lanes a = __builtin_shufflevector(v[0], v[1], 0, 4, 2, 6), b = __builtin_shufflevector(v[0], v[1], 1, 5, 3, 7);
    const abut_lanes c = __builtin_shufflevector(v[2], v[3], 0, 4, 2, 6), d = __builtin_shufflevector(v[2], v[3], 1, 5, 3, 7);
    r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    r[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    r[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

/** to[stride j + i] = v[i][j]. */
ABUT_LANES_INLINE void abut_lanes_spread(const abut_lanes v[ABUT_LANES], double *to, size_t stride)
{
    abut_lanes r[ABUT_LANES];
    abut_lanes_transpose(v, r);
    for (size_t j = 0; j < ABUT_LANES; j++) *(abut_lanes_anywhere *)(to + stride * j) = r[j];
}

/** 1 when some lane is set. */
ABUT_LANES_INLINE int abut_lanes_any(const abut_lane_mask *m)
{
    long long any = 0;
    for (int i = 0; i < ABUT_LANES; i++) any |= (*m)[i];
    return any != 0;
}

/* Logarithms by the polynomial of FreeBSD's e_log.c and s_log1p.c (Ng 1993):
 * ln(1 + f) = 2 atanh(f/(2 + f)) for f from sqrt(1/2) - 1 to sqrt 2 - 1. */

typedef unsigned long long abut_lane_bits __attribute__((vector_size(8 * ABUT_LANES)));

/** *n + 1023, as many powers of 2 as bring u > 0 times sqrt(1/2) below 1: as the bits of an integer, and *n as a number. */
ABUT_LANES_INLINE void abut_lanes_power(const abut_lanes *u, abut_lane_bits *bits, abut_lanes *n)
{
    *bits = ((abut_lane_bits)*u + (0x3ff0000000000000ULL - 0x3fe6a09e667f3bcdULL)) >> 52;
    *n = (abut_lanes)(*bits | 0x4330000000000000ULL) - (0x1p52 + 1023);
}

/** *y = ln(2^n (1 + f)) + c. */
ABUT_LANES_INLINE void abut_lanes_log_of(const abut_lanes *n, const abut_lanes *f, const abut_lanes *c, abut_lanes *y)
{
    static const double L[7] = { 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                                 2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                                 1.479819860511658591e-01 };
    const double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
    const abut_lanes half = 0.5 * *f * *f, s = *f / (2 + *f), z = s * s;
    abut_lanes r = ABUT_LANES_ALL(L[6]);
    for (int i = 5; i >= 0; i--) r = r * z + L[i];
    *y = *n * ln2_high - ((half - (s * (half + z * r) + (*n * ln2_low + *c))) - *f);
}

/** *y = ln x within 2 units in the last place; where x is not positive or not finite, NaN. */
ABUT_LANES_INLINE void abut_lanes_log(const abut_lanes *x, abut_lanes *y)
{
    const abut_lane_mask small = *x < DBL_MIN, known = (*x > 0) & (*x <= DBL_MAX);
    const abut_lanes u = ABUT_LANES_PICK(small, 0x1p54 * *x, *x), none = ABUT_LANES_ALL(0.);
    abut_lane_bits bits;
    abut_lanes n;
    abut_lanes_power(&u, &bits, &n);
    const abut_lanes f = (abut_lanes)((abut_lane_bits)u - ((bits - 1023) << 52)) - 1;
    n = ABUT_LANES_PICK(small, n - 54, n);
    abut_lanes_log_of(&n, &f, &none, y);
    *y = ABUT_LANES_PICK(known, *y, ABUT_LANES_ALL((double)NAN));
}

/** *y = ln(1 + x) within 2 units in the last place, for -1 < x <= 1; the rounding of 1 + x is corrected. */
ABUT_LANES_INLINE void abut_lanes_log1p(const abut_lanes *x, abut_lanes *y)
{
    const abut_lanes u = 1 + *x, lost = (*x - (u - 1)) / u;
    abut_lane_bits bits;
    abut_lanes n;
    abut_lanes_power(&u, &bits, &n);
    const abut_lane_mask same = (abut_lane_mask)(bits == 1023);
    const abut_lanes f = ABUT_LANES_PICK(same, *x, (abut_lanes)((abut_lane_bits)u - ((bits - 1023) << 52)) - 1);
    const abut_lanes c = ABUT_LANES_PICK(same, ABUT_LANES_ALL(0.), lost);
    abut_lanes_log_of(&n, &f, &c, y);
}

/** *angle = atan2(y, x) in [-pi, pi], within 2 units in the last place; NaN where both are 0, both are infinite or one is NaN.
 * The rational function on |t| < tan(pi/8) is that of the Cephes library (Moshier 1989). */
ABUT_LANES_INLINE void abut_lanes_atan2(const abut_lanes *y, const abut_lanes *x, abut_lanes *angle)
{
    static const double P[5] = { -8.750608600031904122785e-1, -1.615753718733365076637e1, -7.500855792314704667340e1,
                                 -1.228866684490136173410e2, -6.485021904942025371773e1 };
    static const double Q[5] = { 2.485846490142306297962e1, 1.650270098316988542046e2, 4.328810604912902668951e2,
                                 4.853903996359136964868e2, 1.945506571482613964425e2 };
    const double half_pi = 1.57079632679489661923, rest_of_it = 6.123233995736765886130e-17, eighth = 0.41421356237309504880;
    const abut_lanes ay = ABUT_LANES_ABS(*y), ax = ABUT_LANES_ABS(*x), zero = ABUT_LANES_ALL(0.);
    const abut_lane_mask steep = ay > ax;
    const abut_lanes a = ABUT_LANES_PICK(steep, ax, ay), b = ABUT_LANES_PICK(steep, ay, ax);
    /* atan(a/b), of 1 - a/b over 1 + a/b where that is smaller */
    const abut_lane_mask high = a > eighth * b;
    const abut_lanes t = ABUT_LANES_PICK(high, a - b, a) / ABUT_LANES_PICK(high, a + b, b), z = t * t;
    abut_lanes p = ABUT_LANES_ALL(P[0]), q = z + Q[0];
    for (int i = 1; i < 5; i++) p = p * z + P[i], q = q * z + Q[i];
    abut_lanes r = t + t * (z * p / q) + ABUT_LANES_PICK(high, ABUT_LANES_ALL(0.5 * rest_of_it), zero);
    r = r + ABUT_LANES_PICK(high, ABUT_LANES_ALL(0.5 * half_pi), zero);
    r = ABUT_LANES_PICK(steep, half_pi - (r - rest_of_it), r);
    r = ABUT_LANES_PICK(*x < 0, 2 * half_pi - (r - 2 * rest_of_it), r);
    *angle = (abut_lanes)((abut_lane_mask)r | ((abut_lane_mask)*y & (abut_lane_mask)ABUT_LANES_ALL(-0.)));
}

/* ---- four small symmetric matrices (spd.c) ---- */

/** Project four symmetric matrices of three, four, five or nine rows as abut_psd_project (math/spd.h) does, with its algorithm in
 * lockstep.  A[n * n], each entry of all four; the lower triangle is read, all entries are written.  The result of a lane does
 * not depend on the others.  Entries below 1e-140 count as zero. */
void abut_psd_project3_lanes(abut_lanes *A);
void abut_psd_project4_lanes(abut_lanes *A);
void abut_psd_project5_lanes(abut_lanes *A);
void abut_psd_project9_lanes(abut_lanes *A);

#endif

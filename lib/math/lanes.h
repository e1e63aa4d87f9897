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

typedef unsigned long long abut_lane_bits __attribute__((vector_size(8 * ABUT_LANES)));

#include "math/forms_lanes.h"
#include "math/elementary_forms.h"
#include "math/forms_end.h"

/* ---- four small symmetric matrices (spd.c) ---- */

/** Project four symmetric matrices of three, four, five or nine rows as abut_psd_project (math/spd_inline.h) does, with its
 * algorithm in lockstep.  A[n * n], each entry of all four; the lower triangle is read, all entries are written.  The result of a
 * lane does not depend on the others.  Entries below 1e-140 count as zero. */
void abut_psd_project3_lanes(abut_lanes *A);
void abut_psd_project4_lanes(abut_lanes *A);
void abut_psd_project5_lanes(abut_lanes *A);
void abut_psd_project9_lanes(abut_lanes *A);

#endif

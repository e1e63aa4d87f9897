/* Functions of one item, for the processor and for a GPU: the same arithmetic in the same order on both.  Their files are
 * *_inline.h, include nothing but each other, this file and <math.h>, and use no vector types.  They are C11 and C++17 at
 * once: no variable-length arrays, no `restrict`, casts from void *, designators in the order of the fields. */
#ifndef ABUT_BASE_FN_H
#define ABUT_BASE_FN_H

/* ABUT_FN_LITERAL: one that gets literals, by which its loops unroll */
#ifdef __CUDACC__
#define ABUT_FN static __host__ __device__ __forceinline__
#define ABUT_FN_LITERAL ABUT_FN
#define ABUT_RESTRICT __restrict__
#else
#define ABUT_FN static inline
#define ABUT_FN_LITERAL static inline __attribute__((always_inline))
#define ABUT_RESTRICT restrict
#endif

/* Loops compiled several times, for the instruction sets of newer processors; the loader picks one.  Contraction stays off,
 * so every version gives the same bits. */

/* Sanitizers run their own start-up code after the loader has to choose: they get the plain version. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ABUT_SIMD __attribute__((target_clones("default", "avx2", "avx512f")))
/* For files that are compiled with contraction (Makefile): a multiplication and an addition are fused if the processor can.  Bits
 * then depend on the processor, as those of BLAS do. */
#define ABUT_SIMD_FUSED __attribute__((target_clones("default", "fma")))
#else
#define ABUT_SIMD
#define ABUT_SIMD_FUSED
#endif

#endif

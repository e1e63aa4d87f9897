/* Loops compiled several times, for the instruction sets of newer processors; the loader picks one.  Contraction stays off,
 * so every version gives the same bits. */
#ifndef ABUT_BASE_SIMD_H
#define ABUT_BASE_SIMD_H

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

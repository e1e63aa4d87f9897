/* A kernel is a body over (arguments a, number i of an item) that writes only what belongs to that item:
 *     ABUT_KERNEL(axpy, abut_axpy_args)
 *     {
 *         a->out[i] = a->x[i] + a->scale * a->y[i];
 *     }
 * gcc makes a loop of it for the twin, nvcc a function of the GPU; both have the same arithmetic (no contraction, no function
 * of the mathematical library but sqrt, fma, floor and fabs).  Items come in any order, many at once: integers that several
 * items share are changed by abut_arrive and abut_mark alone, by operations whose outcome no order changes. */
#ifndef ABUT_GPU_KERNEL_H
#define ABUT_GPU_KERNEL_H

#ifdef __CUDACC__
extern "C" {
#endif
#include "base/err.h"
#include "gpu/machine.h"
#ifdef __CUDACC__
}
#endif
#include "base/fn.h"

#include <math.h>

#ifdef __CUDACC__

#include <cuda_runtime.h>

#define ABUT_K(name, args) extern "C" abut_status abut_cuda_##name(abut_queue *q, const args *a, size_t n, abut_err *err);
ABUT_KERNELS(ABUT_K)
#undef ABUT_K
/* cuda.cu: the queue's stream, and what has become of the launch of kernel `name` */
extern "C" cudaStream_t abut_cuda_stream(abut_queue *q);
extern "C" abut_status abut_cuda_launched(abut_queue *q, const char *name, abut_err *err);

#define ABUT_KERNEL(NAME, ARGS) \
    static __device__ __forceinline__ void NAME##_at(const ARGS *a, size_t i); \
    static __global__ void __launch_bounds__(256) NAME##_all(const __grid_constant__ ARGS a, size_t n) \
    { \
        const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; \
        if (i < n) NAME##_at(&a, i); \
    } \
    extern "C" abut_status abut_cuda_##NAME(abut_queue *q, const ARGS *a, size_t n, abut_err *err) \
    { \
        if (n && !q->broken) NAME##_all<<<(unsigned)((n + 255) / 256), 256, 0, abut_cuda_stream(q)>>>(*a, n); \
        return abut_cuda_launched(q, #NAME, err); \
    } \
    static __device__ __forceinline__ void NAME##_at(const ARGS *a, size_t i)

/** Adds 1 to *at and returns its former value.  Threads that arrive later see all writes before the call. */
static __device__ __forceinline__ uint32_t abut_arrive(uint32_t *at)
{
    __threadfence();
    const uint32_t before = atomicAdd(at, 1u);
    __threadfence();
    return before;
}
/** Sets bits of *at. */
static __device__ __forceinline__ void abut_mark_bits(uint32_t *at, uint32_t bits) { atomicOr(at, bits); }

#else

#define ABUT_K(name, args) abut_status abut_twin_##name(abut_queue *q, const args *a, size_t n, abut_err *err);
ABUT_KERNELS(ABUT_K)
#undef ABUT_K

/* Item number k of the order in which the twin goes through n: by default k; else a permutation by a prime above every n. */
static inline size_t abut_twin_item(const abut_queue *q, size_t k, size_t n)
{
    return q->shuffle ? (k * 4294967291u + q->shuffle) % n : k;
}

/* twin.c: a kernel has failed, as one with an illegal address would */
abut_status abut_twin_fault(abut_queue *q, abut_err *err);

#define ABUT_KERNEL(NAME, ARGS) \
    static inline void NAME##_at(const ARGS *a, size_t i); \
    abut_status abut_twin_##NAME(abut_queue *q, const ARGS *a, size_t n, abut_err *err) \
    { \
        q->launches++; \
        q->last = #NAME; \
        if (q->faults_after && !--q->faults_after) return abut_twin_fault(q, err); \
        _Pragma("omp parallel for schedule(static) if (n >= 256)") \
        for (size_t k = 0; k < n; k++) NAME##_at(a, abut_twin_item(q, k, n)); \
        if (q->watch.look) q->watch.look(q, #NAME, q->watch.of); \
        return ABUT_OK; \
    } \
    static inline void NAME##_at(const ARGS *a, size_t i)

static inline uint32_t abut_arrive(uint32_t *at) { return __atomic_fetch_add(at, 1u, __ATOMIC_ACQ_REL); }
static inline void abut_mark_bits(uint32_t *at, uint32_t bits) { (void)__atomic_fetch_or(at, bits, __ATOMIC_RELAXED); }

#endif

#endif

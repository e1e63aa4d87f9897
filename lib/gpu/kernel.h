/* A kernel is a body over (arguments a, number i of an item) that writes only what belongs to that item:
 *     ABUT_KERNEL(axpy, abut_axpy_args)
 *     {
 *         a->out[i] = a->x[i] + a->scale * a->y[i];
 *     }
 * gcc makes a loop of it for the twin, nvcc a function of the GPU; both have the same arithmetic (no contraction, no function
 * of the mathematical library but sqrt, fma, floor and fabs).  Items come in any order, many at once.
 *
 * A kernel of groups: an item is LANES lanes that go through PHASES phases in step, over memory that they share (a struct SHARED,
 * not cleared).  In a phase a lane writes what no other lane of the group reads or writes in it:
 *     ABUT_GROUP_KERNEL(total, abut_total_args, 64, 7, struct lanes)
 *     {
 *         if (phase == 0) shared->v[lane] = ...;
 *         else if (lane < 64u >> phase) shared->v[lane] += shared->v[lane + (64 >> phase)];
 *     } */
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
#include <string.h>

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

#define ABUT_GROUP_KERNEL(NAME, ARGS, LANES, PHASES, SHARED) \
    static __device__ __forceinline__ void NAME##_at(const ARGS *a, size_t i, uint32_t lane, uint32_t phase, SHARED *shared); \
    static __global__ void __launch_bounds__(LANES) NAME##_all(const __grid_constant__ ARGS a) \
    { \
        __shared__ SHARED shared; \
        for (uint32_t phase = 0; phase < (PHASES); phase++) { \
            NAME##_at(&a, blockIdx.x, threadIdx.x, phase, &shared); \
            __syncthreads(); \
        } \
    } \
    extern "C" abut_status abut_cuda_##NAME(abut_queue *q, const ARGS *a, size_t n, abut_err *err) \
    { \
        if (n && !q->broken) NAME##_all<<<(unsigned)n, LANES, 0, abut_cuda_stream(q)>>>(*a); \
        return abut_cuda_launched(q, #NAME, err); \
    } \
    static __device__ __forceinline__ void NAME##_at(const ARGS *a, size_t i, uint32_t lane, uint32_t phase, SHARED *shared)

#else

#define ABUT_K(name, args) abut_status abut_twin_##name(abut_queue *q, const args *a, size_t n, abut_err *err);
ABUT_KERNELS(ABUT_K)
#undef ABUT_K

/* Item number k of the order in which the twin goes through n: by default k; else a permutation by a prime above every n. */
static inline size_t abut_twin_item(const abut_queue *q, size_t k, size_t n)
{
    return q->shuffle ? (k * 4294967291u + q->shuffle) % n : k;
}

/* A kernel has failed, as one with an illegal address would. */
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

#define ABUT_GROUP_KERNEL(NAME, ARGS, LANES, PHASES, SHARED) \
    static inline void NAME##_at(const ARGS *a, size_t i, uint32_t lane, uint32_t phase, SHARED *shared); \
    abut_status abut_twin_##NAME(abut_queue *q, const ARGS *a, size_t n, abut_err *err) \
    { \
        (void)err; \
        q->launches++; \
        q->last = #NAME; \
        _Pragma("omp parallel for schedule(static) if (n >= 4)") \
        for (size_t k = 0; k < n; k++) { \
            SHARED shared; \
            memset(&shared, 0xff, sizeof shared); \
            for (uint32_t phase = 0; phase < (PHASES); phase++) \
                for (uint32_t l = 0; l < (LANES); l++) \
                    NAME##_at(a, abut_twin_item(q, k, n), (uint32_t)abut_twin_item(q, l, LANES), phase, &shared); \
        } \
        if (q->watch.look) q->watch.look(q, #NAME, q->watch.of); \
        return ABUT_OK; \
    } \
    static inline void NAME##_at(const ARGS *a, size_t i, uint32_t lane, uint32_t phase, SHARED *shared)

#endif

/** Returns the number of keys below `bound` among key[n], ascending. */
ABUT_FN size_t abut_keys_below(const uint64_t *key, size_t n, uint64_t bound)
{
    size_t lo = 0;
    while (lo < n) {
        const size_t mid = lo + (n - lo) / 2;
        if (key[mid] < bound) lo = mid + 1;
        else n = mid;
    }
    return lo;
}

#endif

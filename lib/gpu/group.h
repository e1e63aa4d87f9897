/* Kernels of groups of items that work together: LANES lanes a group go through PHASES phases in step, over memory that they
 * share (a struct SHARED, not cleared):
 *     ABUT_GROUP_KERNEL(total, abut_total_args, 64, 7, struct lanes)
 *     {
 *         if (phase == 0) shared->v[lane] = ...;
 *         else if (lane < 64u >> phase) shared->v[lane] += shared->v[lane + (64 >> phase)];
 *     }
 * In a phase a lane writes what no other lane of the group reads or writes in it.  A group is an item of gpu/kernel.h. */
#ifndef ABUT_GPU_GROUP_H
#define ABUT_GPU_GROUP_H

#include "gpu/kernel.h"

#include <string.h>

#ifdef __CUDACC__

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

#endif

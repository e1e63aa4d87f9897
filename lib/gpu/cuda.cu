/* A GPU: memory, sums, scans and sorts by the definitions of gpu/machine.h.  CUB sorts and scans integers, nothing else. */
#include "gpu/kernel.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace {

constexpr int THREADS = 128, WARP = 32, BLOCK = 512;
enum { STAMPS = 4096 };

struct stamp {
    cudaEvent_t at;
    abut_stage stage;
};

struct device {
    int sync;               /* ABUT_GPU_SYNC: wait after every launch */
    cudaStream_t stream;
    double *part;           /* sums of blocks, and room for the next level */
    size_t cap;
    unsigned *arrived;      /* one counter, 0 between launches */
    uint64_t *total;        /* of a scan */
    void *temp;             /* of CUB */
    size_t temp_bytes;
    uint64_t *key;
    uint32_t *val;
    size_t sort_cap;
    stamp *stamps;          /* [STAMPS] */
    int n_stamps;
    cudaGraphExec_t graph;  /* what was recorded last */
};

device *of(abut_queue *q) { return (device *)q->own; }

abut_status failed(abut_queue *q, cudaError_t e, abut_err *err)
{
    if (e == cudaSuccess) return ABUT_OK;
    q->broken = 1;
    return abut_fail(err, ABUT_E_IO, "%s: %s: %s", q->name, q->last ? q->last : "start", cudaGetErrorString(e));
}

abut_status ready(abut_queue *q, const char *what, abut_err *err)
{
    if (q->broken) return abut_fail(err, ABUT_E_IO, "%s: %s: refused after an earlier failure", q->name, what);
    q->last = what;
    return ABUT_OK;
}

/* for a test: to where there is no memory */
__global__ void illegal(int *at) { *at = 1; }

abut_status launched(abut_queue *q, abut_err *err)
{
    q->launches++;
    if (q->faults_after && !--q->faults_after) illegal<<<1, 1, 0, of(q)->stream>>>((int *)16);
    cudaError_t e = cudaGetLastError();
    if (e == cudaSuccess && of(q)->sync) e = cudaStreamSynchronize(of(q)->stream);
    return failed(q, e, err);
}

abut_status watched(abut_queue *q, const char *name)
{
    if (q->watch.look) q->watch.look(q, name, q->watch.of);
    return ABUT_OK;
}

/* ---- memory ---- */

abut_status take(abut_queue *q, size_t bytes, void **at, abut_err *err)
{
    *at = NULL;
    if (q->broken) return ready(q, "alloc", err);
    cudaError_t e = q->limit && q->bytes + bytes > q->limit ? cudaErrorMemoryAllocation
                                                           : cudaMallocAsync(at, bytes ? bytes : 1, of(q)->stream);
    if (e == cudaErrorMemoryAllocation) {
        size_t room = 0, all = 0;
        cudaGetLastError();
        cudaMemGetInfo(&room, &all);
        return abut_fail(err, ABUT_E_NOMEM, "gpu memory: %s wants %.3g GB, %.3g GB are free of %.3g", q->last, 1e-9 * (double)bytes,
                         1e-9 * (double)room, 1e-9 * (double)all);
    }
    if (e == cudaSuccess && q->watch.look) e = cudaMemsetAsync(*at, 0xff, bytes, of(q)->stream);   /* as the twin's */
    if (e == cudaSuccess) {
        q->bytes += bytes;
        if (q->bytes > q->bytes_peak) q->bytes_peak = q->bytes;
    }
    return failed(q, e, err);
}

void give(abut_queue *q, void *at, size_t bytes)
{
    if (!at) return;
    q->bytes -= bytes;
    if (!q->broken) cudaFreeAsync(at, of(q)->stream);
}

/* *at has room for n items of `size` bytes, half more than before when it grows */
template <class T> abut_status room(abut_queue *q, T **at, size_t *cap, size_t n, abut_err *err)
{
    if (n <= *cap && *at) return ABUT_OK;
    const size_t more = *cap + *cap / 2, want = n > more ? n : more;
    void *fresh;
    const abut_status rc = take(q, want * sizeof(T), &fresh, err);
    if (rc) return rc;
    q->bytes -= want * sizeof(T);   /* counted are buffers alone */
    if (*at) cudaFreeAsync(*at, of(q)->stream);
    *at = (T *)fresh;
    *cap = want;
    return ABUT_OK;
}

abut_status put(abut_queue *q, void *to, const void *host, size_t bytes, abut_err *err)
{
    abut_status rc = ready(q, "put", err);
    if (!rc && bytes) rc = failed(q, cudaMemcpyAsync(to, host, bytes, cudaMemcpyHostToDevice, of(q)->stream), err);
    return rc;
}

abut_status wait(abut_queue *q, abut_err *err)
{
    if (q->broken) return ready(q, "wait", err);
    q->waits++;
    return failed(q, cudaStreamSynchronize(of(q)->stream), err);
}

abut_status get(abut_queue *q, void *host, const void *from, size_t bytes, abut_err *err)
{
    if (q->broken) return ready(q, "get", err);
    abut_status rc = ABUT_OK;
    if (bytes) rc = failed(q, cudaMemcpyAsync(host, from, bytes, cudaMemcpyDeviceToHost, of(q)->stream), err);
    return rc ? rc : wait(q, err);
}

abut_status copy(abut_queue *q, void *to, const void *from, size_t bytes, abut_err *err)
{
    abut_status rc = ready(q, "copy", err);
    if (!rc && bytes) rc = failed(q, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, of(q)->stream), err);
    return rc;
}

abut_status fill(abut_queue *q, void *at, int byte, size_t bytes, abut_err *err)
{
    abut_status rc = ready(q, "fill", err);
    if (!rc && bytes) rc = failed(q, cudaMemsetAsync(at, byte, bytes, of(q)->stream), err);
    return rc;
}

void pin(abut_queue *q, void *host, size_t bytes)
{
    if (!q->broken && bytes && cudaHostRegister(host, bytes, cudaHostRegisterDefault) != cudaSuccess) cudaGetLastError();
}

void unpin(abut_queue *, void *host)
{
    if (cudaHostUnregister(host) != cudaSuccess) cudaGetLastError();
}

/* ---- reductions: the blocks of one launch make their parts, and the last of them to arrive joins these ---- */

struct sum_rule {
    typedef double value;
    static __device__ value none() { return 0; }
    static __device__ value join(value a, value b) { return a + b; }
    static __device__ value from(value v, int lanes) { return __shfl_down_sync(0xffffffffu, v, lanes); }
};

struct three {
    double a, b, c;
};

struct three_rule {
    typedef three value;
    static __device__ value none() { return three{ 0, 0, 0 }; }
    static __device__ value join(value a, value b) { return three{ a.a + b.a, a.b + b.b, a.c + b.c }; }
    static __device__ value from(value v, int lanes)
    {
        return three{ sum_rule::from(v.a, lanes), sum_rule::from(v.b, lanes), sum_rule::from(v.c, lanes) };
    }
};

struct largest_rule : sum_rule {
    static __device__ value join(value a, value b) { return b > a ? b : a; }
};

struct least_rule {
    typedef abut_least value;
    static __device__ value none() { return abut_least{ INFINITY, UINT64_MAX }; }
    static __device__ value join(value a, value b)
    {
        return b.value < a.value || (b.value == a.value && b.number < a.number) ? b : a;
    }
    static __device__ value from(value v, int lanes)
    {
        return abut_least{ __shfl_down_sync(0xffffffffu, v.value, lanes),
                           __shfl_down_sync(0xffffffffu, (unsigned long long)v.number, lanes) };
    }
};

struct term_one {
    const double *v;
    __device__ double operator()(size_t i) const { return v[i]; }
};
struct term_product {
    const double *a, *b;
    __device__ double operator()(size_t i) const { return a[i] * b[i]; }
};
struct term_three {
    const float *r, *z, *q;
    __device__ three operator()(size_t i) const
    {
        const double here = (double)r[i], to = (double)z[i];
        return three{ here * to, (double)q[i] * to, here * here };
    }
};
struct term_size {
    const double *v;
    __device__ double operator()(size_t i) const { return isfinite(v[i]) ? fabs(v[i]) : INFINITY; }
};
struct term_numbered {
    const double *v;
    __device__ abut_least operator()(size_t i) const { return abut_least{ isnan(v[i]) ? -INFINITY : v[i], i }; }
};
/* what other blocks have written: not from a cache of this one */
template <class V> struct term_part {
    const V *v;
    __device__ V operator()(size_t i) const { return __ldcg(v + i); }
};
template <> struct term_part<three> {
    const three *v;
    __device__ three operator()(size_t i) const { return three{ __ldcg(&v[i].a), __ldcg(&v[i].b), __ldcg(&v[i].c) }; }
};
template <> struct term_part<abut_least> {
    const abut_least *v;
    __device__ abut_least operator()(size_t i) const
    {
        return abut_least{ __ldcg(&v[i].value), __ldcg((const unsigned long long *)&v[i].number) };
    }
};

enum { AHEAD = 8 };     /* terms that a lane reads at once */

/* one warp joins terms [lo, hi): lane l the terms l, l + 32, .. in order, then lanes by halves; lane 0 has the result */
template <class Rule, class Term> __device__ typename Rule::value block_join(const Term &term, size_t lo, size_t hi)
{
    typename Rule::value v = Rule::none(), t[AHEAD];
    for (size_t i = lo + threadIdx.x % WARP; i < hi; i += AHEAD * WARP) {
        #pragma unroll
        for (int k = 0; k < AHEAD; k++) t[k] = i + k * WARP < hi ? term(i + k * WARP) : Rule::none();
        #pragma unroll
        for (int k = 0; k < AHEAD; k++) v = Rule::join(v, t[k]);
    }
    __syncwarp();
    for (int half = WARP / 2; half; half /= 2) v = Rule::join(v, Rule::from(v, half));
    return v;
}

template <class Rule, class Term>
__global__ void __launch_bounds__(THREADS) reduce(Term term, size_t n, typename Rule::value *part, unsigned *arrived,
                                                  typename Rule::value *out)
{
    typedef typename Rule::value value;
    __shared__ int last;
    const size_t nb = (n + BLOCK - 1) / BLOCK, warps = THREADS / WARP, warp = threadIdx.x / WARP;
    const size_t b = blockIdx.x * warps + warp;
    if (b < nb) {
        const size_t lo = b * BLOCK, hi = lo + BLOCK < n ? lo + BLOCK : n;
        const value v = block_join<Rule>(term, lo, hi);
        if (threadIdx.x % WARP == 0) part[b] = v;
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(arrived, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    value *from = part, *to = part + nb;
    size_t m = nb;
    while (m > 1) {
        const size_t parts = (m + BLOCK - 1) / BLOCK;
        const term_part<value> t = { from };
        for (size_t c = warp; c < parts; c += warps) {
            const size_t lo = c * BLOCK, hi = lo + BLOCK < m ? lo + BLOCK : m;
            const value v = block_join<Rule>(t, lo, hi);
            if (threadIdx.x % WARP == 0) to[c] = v;
        }
        __threadfence();
        __syncthreads();
        value *swap = from;
        from = to;
        to = swap;
        m = parts;
    }
    if (threadIdx.x == 0) {
        const term_part<value> t = { from };
        *out = nb ? t(0) : Rule::none();
        *arrived = 0;
    }
}

template <class Rule, class Term>
abut_status reduce_all(abut_queue *q, const char *what, Term term, size_t n, typename Rule::value *out, abut_err *err)
{
    abut_status rc = ready(q, what, err);
    if (rc) return rc;
    device *d = of(q);
    const size_t nb = (n + BLOCK - 1) / BLOCK, grid = (nb + THREADS / WARP - 1) / (THREADS / WARP);
    /* the widest value has three doubles */
    rc = room(q, &d->part, &d->cap, 3 * (2 * nb + 2), err);
    if (rc) return rc;
    reduce<Rule><<<grid ? (unsigned)grid : 1, THREADS, 0, d->stream>>>(term, n, (typename Rule::value *)d->part, d->arrived, out);
    rc = launched(q, err);
    return rc ? rc : watched(q, what);
}

abut_status sum(abut_queue *q, const double *v, size_t n, double *out, abut_err *err)
{
    return reduce_all<sum_rule>(q, "sum", term_one{ v }, n, out, err);
}

abut_status dot(abut_queue *q, const double *a, const double *b, size_t n, double *out, abut_err *err)
{
    return reduce_all<sum_rule>(q, "sum", term_product{ a, b }, n, out, err);
}

abut_status dots_single(abut_queue *on, const float *r, const float *z, const float *q, size_t n, double *out, abut_err *err)
{
    return reduce_all<three_rule>(on, "dots", term_three{ r, z, q }, n, (three *)out, err);
}

abut_status largest(abut_queue *q, const double *v, size_t n, double *out, abut_err *err)
{
    return reduce_all<largest_rule>(q, "largest", term_size{ v }, n, out, err);
}

abut_status least(abut_queue *q, const double *v, size_t n, abut_least *out, abut_err *err)
{
    return reduce_all<least_rule>(q, "least", term_numbered{ v }, n, out, err);
}

/* ---- integers ---- */

template <class Call> abut_status with_temp(abut_queue *q, Call call, abut_err *err)
{
    device *d = of(q);
    size_t bytes = 0;
    abut_status rc = failed(q, call(NULL, bytes), err);
    if (rc) return rc;
    char *temp = (char *)d->temp;
    rc = room(q, &temp, &d->temp_bytes, bytes ? bytes : 1, err);
    d->temp = temp;
    if (rc) return rc;
    bytes = d->temp_bytes;
    rc = failed(q, call(d->temp, bytes), err);
    return rc ? rc : launched(q, err);
}

struct add64 {
    __host__ __device__ uint64_t operator()(uint64_t a, uint64_t b) const { return a + b; }
};

abut_status scan(abut_queue *q, const uint32_t *count, size_t n, uint32_t *first, uint64_t *total, abut_err *err)
{
    abut_status rc = ready(q, "scan", err);
    if (rc) return rc;
    device *d = of(q);
    const cudaStream_t s = d->stream;
    rc = failed(q, cudaMemsetAsync(first, 0, sizeof *first, s), err);
    if (!rc && n)
        rc = with_temp(q, [&](void *t, size_t &b) { return cub::DeviceScan::InclusiveSum(t, b, count, first + 1, n, s); }, err);
    if (rc || !total) return rc ? rc : watched(q, "scan");
    *total = 0;
    if (n)
        rc = with_temp(q, [&](void *t, size_t &b) {
            return cub::DeviceReduce::Reduce(t, b, count, d->total, n, add64(), (uint64_t)0, s);
        }, err);
    if (!rc && n) rc = get(q, total, d->total, sizeof *total, err);
    return rc ? rc : watched(q, "scan");
}

abut_status sort(abut_queue *q, uint64_t *key, uint32_t *val, size_t n, int bits, abut_err *err)
{
    abut_status rc = ready(q, "sort", err);
    if (rc || n < 2) return rc ? rc : watched(q, "sort");
    device *d = of(q);
    const cudaStream_t s = d->stream;
    size_t cap = d->sort_cap;
    rc = room(q, &d->key, &cap, n, err);
    if (!rc) rc = room(q, &d->val, &d->sort_cap, n, err);
    if (rc) return rc;
    cub::DoubleBuffer<uint64_t> keys(key, d->key);
    cub::DoubleBuffer<uint32_t> vals(val, d->val);
    if (val)
        rc = with_temp(q, [&](void *t, size_t &b) {
            return cub::DeviceRadixSort::SortPairs(t, b, keys, vals, n, 0, bits, s);
        }, err);
    else
        rc = with_temp(q, [&](void *t, size_t &b) { return cub::DeviceRadixSort::SortKeys(t, b, keys, n, 0, bits, s); }, err);
    if (!rc && keys.Current() != key) rc = copy(q, key, keys.Current(), n * sizeof *key, err);
    if (!rc && val && vals.Current() != val) rc = copy(q, val, vals.Current(), n * sizeof *val, err);
    return rc ? rc : watched(q, "sort");
}

/* ---- what goes as one ---- */

abut_status record(abut_queue *q, int *kept, abut_err *err)
{
    device *d = of(q);
    *kept = 0;
    if (q->broken || d->sync || q->watch.look) return q->broken ? ready(q, "record", err) : ABUT_OK;
    const abut_status rc = failed(q, cudaStreamBeginCapture(d->stream, cudaStreamCaptureModeThreadLocal), err);
    *kept = !rc;
    return rc;
}

abut_status replay(abut_queue *q, abut_err *err)
{
    const abut_status rc = ready(q, "replay", err);
    q->launches++;
    return rc ? rc : failed(q, cudaGraphLaunch(of(q)->graph, of(q)->stream), err);
}

abut_status recorded(abut_queue *q, int kept, abut_err *err)
{
    device *d = of(q);
    cudaGraph_t graph = NULL;
    cudaGraphExecUpdateResultInfo info;
    if (!kept) return ABUT_OK;
    abut_status rc = failed(q, cudaStreamEndCapture(d->stream, &graph), err);
    if (!rc && d->graph && cudaGraphExecUpdate(d->graph, graph, &info) != cudaSuccess) {    /* of another shape */
        cudaGetLastError();
        cudaGraphExecDestroy(d->graph);
        d->graph = NULL;
    }
    if (!rc && !d->graph) rc = failed(q, cudaGraphInstantiate(&d->graph, graph, 0), err);
    if (graph) cudaGraphDestroy(graph);
    return rc ? rc : replay(q, err);
}

/* ---- times ---- */

abut_status times(abut_queue *q, abut_err *err)
{
    device *d = of(q);
    if (q->broken || d->n_stamps < 1) return ABUT_OK;
    cudaEventRecord(d->stamps[d->n_stamps].at, d->stream);
    abut_status rc = failed(q, cudaStreamSynchronize(d->stream), err);
    for (int i = 0; i < d->n_stamps && !rc; i++) {
        float ms = 0;
        rc = failed(q, cudaEventElapsedTime(&ms, d->stamps[i].at, d->stamps[i + 1].at), err);
        q->seconds[d->stamps[i].stage] += 1e-3 * (double)ms;
    }
    d->n_stamps = 0;
    if (!rc) rc = failed(q, cudaEventRecord(d->stamps[0].at, d->stream), err);
    d->stamps[0].stage = q->stage;
    d->n_stamps = 1;
    return rc;
}

abut_status set_stamp(abut_queue *q, abut_stage stage, abut_err *err)
{
    device *d = of(q);
    abut_status rc = ready(q, "stamp", err);
    if (!rc && d->n_stamps >= STAMPS) rc = times(q, err);
    if (rc || (stage == q->stage && d->n_stamps)) return rc;
    q->stage = stage;
    d->stamps[d->n_stamps].stage = stage;
    return failed(q, cudaEventRecord(d->stamps[d->n_stamps++].at, d->stream), err);
}

/* ---- start and end ---- */

void close_device(abut_queue *q)
{
    device *d = of(q);
    if (d->stream) cudaStreamSynchronize(d->stream);
    if (d->graph) cudaGraphExecDestroy(d->graph);
    void *const kept[] = { d->part, d->arrived, d->total, d->temp, d->key, d->val };
    for (void *at : kept)
        if (at) cudaFreeAsync(at, d->stream);
    for (int i = 0; d->stamps && i <= STAMPS; i++)
        if (d->stamps[i].at) cudaEventDestroy(d->stamps[i].at);
    free(d->stamps);
    if (d->stream) {
        cudaStreamSynchronize(d->stream);
        cudaStreamDestroy(d->stream);
    }
    free(d);
}

const abut_machine machine = {
#define ABUT_K(name, args) abut_cuda_##name,
    ABUT_KERNELS(ABUT_K)
#undef ABUT_K
    take, give, put, get, copy, fill, wait, pin, unpin, sum, dot, dots_single, least, largest, scan, sort,
    record, recorded, replay, set_stamp, times, close_device
};

abut_status find_device(abut_queue *q, int which, abut_err *err)
{
    int n = 0;
    const cudaError_t e = cudaGetDeviceCount(&n);
    if (e != cudaSuccess) return abut_fail(err, ABUT_E_IO, "no device: %s", cudaGetErrorString(e));
    if (which < 0 || which >= n) return abut_fail(err, ABUT_E_IO, "no device %d: there are %d", which, n);
    cudaDeviceProp p;
    abut_status rc = failed(q, cudaGetDeviceProperties(&p, which), err);
    if (rc) return rc;
    if (p.major < 8) return abut_fail(err, ABUT_E_IO, "%s: compute capability %d.%d; want 8.0 or later", p.name, p.major, p.minor);
    snprintf(q->name, sizeof q->name, "%.70s (sm_%d%d)", p.name, p.major, p.minor);
    return failed(q, cudaSetDevice(which), err);
}

abut_status open_device(abut_queue *q, int which, abut_err *err)
{
    device *d = of(q);
    const char *sync = getenv("ABUT_GPU_SYNC");
    d->sync = sync && *sync && strcmp(sync, "0");
    cudaMemPool_t pool;
    uint64_t keep = UINT64_MAX;
    abut_status rc = failed(q, cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking), err);
    if (!rc) rc = failed(q, cudaDeviceGetDefaultMemPool(&pool, which), err);
    if (!rc) rc = failed(q, cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep), err);
    if (!rc) rc = failed(q, cudaMallocAsync((void **)&d->arrived, sizeof *d->arrived, d->stream), err);
    if (!rc) rc = failed(q, cudaMallocAsync((void **)&d->total, sizeof *d->total, d->stream), err);
    if (!rc) rc = failed(q, cudaMemsetAsync(d->arrived, 0, sizeof *d->arrived, d->stream), err);
    d->stamps = (stamp *)calloc(STAMPS + 1, sizeof *d->stamps);
    if (!rc && !d->stamps) rc = abut_fail(err, ABUT_E_NOMEM, "gpu: %d time stamps", STAMPS);
    for (int i = 0; i <= STAMPS && !rc; i++) rc = failed(q, cudaEventCreate(&d->stamps[i].at), err);
    return rc;
}

}

extern "C" cudaStream_t abut_cuda_stream(abut_queue *q) { return of(q)->stream; }

extern "C" abut_status abut_cuda_launched(abut_queue *q, const char *name, abut_err *err)
{
    abut_status rc = ready(q, name, err);
    if (!rc) rc = launched(q, err);
    return rc ? rc : watched(q, name);
}

extern "C" abut_status abut_queue_cuda(abut_queue *q, int which, abut_err *err)
{
    memset(q, 0, sizeof *q);
    q->fails_after = -1;
    snprintf(q->name, sizeof q->name, "gpu:%d", which);
    abut_status rc = find_device(q, which, err);
    if (rc) return rc;
    q->own = calloc(1, sizeof(device));
    if (!q->own) return abut_fail(err, ABUT_E_NOMEM, "gpu");
    q->on = &machine;
    rc = open_device(q, which, err);
    if (rc) abut_queue_close(q);
    else abut_queue_trials(q);
    return rc;
}

/* A small seeded generator (SplitMix64), the same on every machine: generators and tests use no other. */
#ifndef ABUT_BASE_RNG_H
#define ABUT_BASE_RNG_H

#include <stdint.h>

typedef struct abut_rng {
    uint64_t state;
} abut_rng;

static inline uint64_t abut_rng_next(abut_rng *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/** Uniform in [lo, hi). */
static inline double abut_rng_real(abut_rng *r, double lo, double hi)
{
    return lo + (hi - lo) * ((double)(abut_rng_next(r) >> 11) * 0x1p-53);
}

/** Uniform in [0, n), n >= 1. */
static inline uint32_t abut_rng_below(abut_rng *r, uint32_t n)
{
    return (uint32_t)(((abut_rng_next(r) >> 32) * n) >> 32);
}

#endif

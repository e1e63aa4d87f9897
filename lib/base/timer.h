/* Clocks.  Times are written to reports, never into a stream. */
#ifndef ABUT_BASE_TIMER_H
#define ABUT_BASE_TIMER_H

#include <stddef.h>
#include <sys/resource.h>
#include <time.h>

static inline double abut_time_of(clockid_t clock)
{
    struct timespec t;
    return clock_gettime(clock, &t) ? 0 : (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
/** Seconds of wall clock (monotonic) and of CPU over all threads of this process. */
static inline double abut_time_wall(void) { return abut_time_of(CLOCK_MONOTONIC); }
static inline double abut_time_cpu(void) { return abut_time_of(CLOCK_PROCESS_CPUTIME_ID); }
/** Wall-clock seconds since *since, which becomes now. */
static inline double abut_time_lap(double *since)
{
    const double now = abut_time_wall(), lap = now - *since;
    *since = now;
    return lap;
}
/** Largest resident set of this process so far, bytes. */
static inline size_t abut_memory_peak(void)
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) ? 0 : (size_t)u.ru_maxrss * 1024;
}

#endif

#include "base/timer.h"

#include <sys/resource.h>
#include <time.h>

static double seconds(clockid_t clock)
{
    struct timespec t;
    return clock_gettime(clock, &t) ? 0 : (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double abut_time_wall(void)
{
    return seconds(CLOCK_MONOTONIC);
}

double abut_time_cpu(void)
{
    return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

double abut_time_lap(double *since)
{
    const double now = abut_time_wall(), lap = now - *since;
    *since = now;
    return lap;
}

size_t abut_memory_peak(void)
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) ? 0 : (size_t)u.ru_maxrss * 1024;
}

/* Clocks.  Times are written to reports, never into a stream. */
#ifndef ABUT_BASE_TIMER_H
#define ABUT_BASE_TIMER_H

#include <stddef.h>

/** Seconds of wall clock (monotonic) and of CPU over all threads of this process. */
double abut_time_wall(void);
double abut_time_cpu(void);
/** Wall-clock seconds since *since, which becomes now. */
double abut_time_lap(double *since);
/** Largest resident set of this process so far, bytes. */
size_t abut_memory_peak(void);

#endif

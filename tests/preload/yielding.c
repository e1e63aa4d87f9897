/* Processes of MPI that wait for each other yield the processor and ask again at once.  Where others use it, that costs a time
 * slice at each message: here they sleep a moment instead. */
#define _POSIX_C_SOURCE 200809L
#include <sched.h>
#include <time.h>

int sched_yield(void)
{
    const struct timespec moment = { 0, 20000 };
    return nanosleep(&moment, NULL);
}

/* How long threads that wait for each other spin before they sleep.
 *
 * A thread that sleeps is late for the next parallel region: on a machine with nothing else to do it had better spin for as
 * long as GOMP_SPINCOUNT says.  But on cores that other programs want, each turn of a spin is taken from the thread that is
 * waited for.  libgomp spins 100 turns, whatever GOMP_SPINCOUNT says, while more of its threads exist than there are cores: a
 * crowd of threads that sleep makes it brief, and long again when they end.  A watcher does so by what share of the time the
 * main thread, ready to run, waits for a core.  With another runtime than libgomp all this does nothing.  No result depends on
 * it. */
#ifndef ABUT_BASE_SPIN_H
#define ABUT_BASE_SPIN_H

#include "base/err.h"

typedef struct abut_spin abut_spin;

/** Brief at first; a watcher then decides every 50 ms.  Where the kernel does not tell how long threads wait for cores
 * (/proc/self/schedstat) it stays brief.
 *
 * threads  of the program's parallel regions; with 1, *out is NULL: nobody waits
 * Fails    ABUT_E_NOMEM; ABUT_E_IO a thread cannot be started; *out is then NULL */
ABUT_MUST_USE abut_status abut_spin_begin(abut_spin **out, int threads, abut_err *err);
/** Ends the watcher and the crowd; NULL is fine. */
void abut_spin_end(abut_spin **spin);

/** The decision: whether to be brief when that share of the last period was spent on waiting for a core. */
int abut_spin_is_brief(int was_brief, double share);

/** The means, for tests: a crowd of so many threads that sleep.  NULL when none can be started. */
typedef struct abut_crowd abut_crowd;
abut_crowd *abut_crowd_begin(int threads);
void abut_crowd_end(abut_crowd **crowd);

#endif

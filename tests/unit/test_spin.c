#define _XOPEN_SOURCE 700   /* setenv */

#include "base/spin.h"
#include "base/timer.h"

#include "check.h"

#include <dirent.h>
#include <omp.h>
#include <time.h>
#include <unistd.h>

#ifndef __clang__   /* whose runtime spins by rules of its own */
static void sleep_ms(long ms)
{
    const struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
    nanosleep(&t, NULL);
}

/* Processor seconds of a team of two while its master sleeps: ten gaps of 20 ms between regions. */
static double spent_in_gaps(void)
{
    int seen[2] = { 0, 0 };
    double spent = 0;
    for (int i = 0; i < 10; i++) {
        #pragma omp parallel num_threads(2)
        seen[omp_get_thread_num()]++;
        const double before = abut_time_cpu();
        sleep_ms(20);
        spent += abut_time_cpu() - before;
    }
    CHECK(seen[0] == 10 && seen[1] == 10);
    return spent;
}

/* Brief spins take a tenth of it; long ones a fiftieth of the gaps on a crowded machine, half of them on an idle one.  What else
 * a thread does there, as to leave a region late under a sanitizer, comes and goes: one of a few tries must be without. */
#define LONG 2e-3
enum { TRIES = 8 };

static int spins_are_long(void)
{
    int found = 0;
    for (int i = 0; i < TRIES && !found; i++) found = spent_in_gaps() > LONG;
    return found;
}

static int spins_are_brief(void)
{
    int found = 0;
    for (int i = 0; i < TRIES && !found; i++) found = spent_in_gaps() < LONG;
    return found;
}

static int count_tasks(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e; d && (e = readdir(d));) n += e->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}

/* libgomp tells the two apart by the number of its threads, one more than there are cores; here the team must fit them. */
TEST(a_crowd_makes_a_long_spin_brief_and_its_end_makes_it_long_again)
{
    if (omp_get_num_procs() < 2) return;
    CHECK(spins_are_long());
    for (int round = 0; round < 2; round++) {
        abut_crowd *crowd = abut_crowd_begin(omp_get_num_procs());
        CHECK(crowd);
        CHECK(spins_are_brief());   /* not the first try: a spin that has begun goes on */
        abut_crowd_end(&crowd);
        CHECK(!crowd);
        CHECK(spins_are_long());
    }
}

TEST(the_watcher_is_there_until_the_end)
{
    abut_spin *s = NULL;
    const int before = count_tasks();
    for (int i = 0; i < 3; i++) {
        CHECK(abut_spin_begin(&s, 2, NULL) == ABUT_OK && s);
        CHECK(count_tasks() > before);
        sleep_ms(i == 1 ? 120 : 0);     /* long enough for the watcher to look; not at all */
        abut_spin_end(&s);
        CHECK(!s);
        for (int wait = 0; wait < 100 && count_tasks() > before; wait++) sleep_ms(10);
        CHECK(count_tasks() == before);
    }
}
#endif

TEST(two_programs_on_the_same_cores_are_brief_and_one_alone_is_not)
{
    CHECK(abut_spin_is_brief(0, 0.5) && abut_spin_is_brief(1, 0.5));
    CHECK(!abut_spin_is_brief(0, 0.05) && !abut_spin_is_brief(1, 0.05));
    CHECK(abut_spin_is_brief(1, 0.2) && !abut_spin_is_brief(0, 0.2));    /* in between it stays as it is */
}

TEST(one_thread_is_not_watched)
{
    abut_spin *s = NULL;
    CHECK(abut_spin_begin(&s, 1, NULL) == ABUT_OK && !s);
    abut_spin_end(&s);
}

int main(int argc, char **argv)
{
    /* the runtime reads it before main */
    if (!getenv("ABUT_TEST_SPIN") && !setenv("ABUT_TEST_SPIN", "1", 1) && !setenv("GOMP_SPINCOUNT", "3000000", 1)) {
        unsetenv("OMP_WAIT_POLICY");
        execv("/proc/self/exe", argv);
    }
    check_begin(argc, argv);
#ifndef __clang__
    RUN(a_crowd_makes_a_long_spin_brief_and_its_end_makes_it_long_again);
    RUN(the_watcher_is_there_until_the_end);
#endif
    RUN(two_programs_on_the_same_cores_are_brief_and_one_alone_is_not);
    RUN(one_thread_is_not_watched);
    return check_done();
}

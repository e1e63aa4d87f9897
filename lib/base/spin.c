#include "base/spin.h"

#include "base/timer.h"

#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PERIOD 50000000     /* ns between two looks */
/* Shares of waiting that two runs on the same cores are above, and one run alone is below, with a margin on both sides:
 * 0.5 to 1 and 0.01 to 0.15 were measured. */
#define BUSY 0.3
#define FREE 0.15

/* A thread that no signal of the program is delivered to, nor to those that it starts. */
static int start(pthread_t *thread, void *(*run)(void *), void *of)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(thread, NULL, run, of);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !failed;
}

/* ---- the crowd ---- */

struct abut_crowd {
    pthread_t leader;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int threads, is_there, goes;    /* under the lock */
};

/* The threads of a team stay, asleep, for as long as the thread that led it. */
static void *lead(void *of)
{
    abut_crowd *c = of;
    #pragma omp parallel num_threads(c->threads)
    (void)*(volatile int *)&c->threads;     /* an empty region would start nobody */
    pthread_mutex_lock(&c->lock);
    c->is_there = 1;
    pthread_cond_broadcast(&c->changed);
    while (!c->goes) pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static void crowd_free(abut_crowd *c)
{
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

abut_crowd *abut_crowd_begin(int threads)
{
    abut_crowd *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->threads = threads;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    if (!start(&c->leader, lead, c)) {
        crowd_free(c);
        return NULL;
    }
    pthread_mutex_lock(&c->lock);
    while (!c->is_there) pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
    return c;
}

void abut_crowd_end(abut_crowd **crowd)
{
    abut_crowd *c = *crowd;
    if (!c) return;
    pthread_mutex_lock(&c->lock);
    c->goes = 1;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->leader, NULL);
    crowd_free(c);
    *crowd = NULL;
}

/* ---- the watcher ---- */

struct abut_spin {
    pthread_t watcher;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int ends;               /* under the lock */
    int wait_file;          /* -1: the kernel does not tell */
    int threads;            /* of a crowd that is large enough */
    abut_crowd *crowd;      /* while brief */
};

int abut_spin_is_brief(int was_brief, double share)
{
    return share > (was_brief ? FREE : BUSY);
}

/* What the kernel tells of the main thread: how often it was given a core, and seconds that it, ready to run, waited for one. */
typedef struct turns {
    double n, waited;
} turns;

static turns turns_of(int file)
{
    char text[96], *at;
    const ssize_t n = pread(file, text, sizeof text - 1, 0);
    if (n <= 0) return (turns){ 0, 0 };
    text[n] = 0;
    (void)strtoull(text, &at, 10);      /* time on a core comes first, and may still be 0 */
    const double waited = 1e-9 * (double)strtoull(at, &at, 10);
    return (turns){ (double)strtoull(at, NULL, 10), waited };
}

/* -1: the kernel does not tell; one that does not count says 0. */
static int turns_open(void)
{
    const int file = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
    if (file < 0 || turns_of(file).n > 0) return file;
    close(file);
    return -1;
}

/* Sleeps for a period; whether the watcher goes on.  Takes and keeps the lock. */
static int goes_on(abut_spin *s)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PERIOD;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    if (!s->ends) pthread_cond_timedwait(&s->changed, &s->lock, &until);
    return !s->ends;
}

static void *watch(void *of)
{
    abut_spin *s = of;
    double then = abut_time_wall(), before = turns_of(s->wait_file).waited;
    pthread_mutex_lock(&s->lock);
    while (goes_on(s)) {
        const double now = abut_time_wall(), all = turns_of(s->wait_file).waited;
        const int brief = abut_spin_is_brief(s->crowd != NULL, (all - before) / (now - then));
        if (brief && !s->crowd) s->crowd = abut_crowd_begin(s->threads);
        else if (!brief) abut_crowd_end(&s->crowd);
        then = now;
        before = all;
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* Frees what is left without the watcher. */
static void spin_free(abut_spin *s)
{
    abut_crowd_end(&s->crowd);
    if (s->wait_file >= 0) close(s->wait_file);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

abut_status abut_spin_begin(abut_spin **out, int threads, abut_err *err)
{
    *out = NULL;
#ifdef __clang__    /* whose runtime has rules of its own */
    threads = 1;
#endif
    if (threads == 1) return ABUT_OK;
    abut_spin *s = calloc(1, sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "threads: no memory to watch them");
    const int cores = omp_get_num_procs(), more = cores + 1 - threads;
    s->threads = 1 + (more > 1 ? more : 1);     /* all but the leader count */
    s->wait_file = turns_open();
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->crowd = abut_crowd_begin(s->threads);
    if (!s->crowd || (s->wait_file >= 0 && !start(&s->watcher, watch, s))) {
        spin_free(s);
        return abut_fail(err, ABUT_E_IO, "threads: a thread that watches them cannot be started");
    }
    *out = s;
    return ABUT_OK;
}

void abut_spin_end(abut_spin **spin)
{
    abut_spin *s = *spin;
    if (!s) return;
    if (s->wait_file >= 0) {
        pthread_mutex_lock(&s->lock);
        s->ends = 1;
        pthread_cond_broadcast(&s->changed);
        pthread_mutex_unlock(&s->lock);
        pthread_join(s->watcher, NULL);
    }
    spin_free(s);
    *spin = NULL;
}

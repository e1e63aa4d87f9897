/* The engine without libFuzzer: the same mutations in the same order on every machine, until the time is up.
 *
 *     fuzz_x SECONDS FILE ...         mutates the seeds that the files make
 *     fuzz_x --seeds FOLDER FILE ...  only writes those seeds, for libFuzzer's corpus
 *     fuzz_x --again INPUT            runs one input
 * An input that crashes, or takes more than 20 s, is left in fuzz-crash. */
#include "base/rng.h"
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SEEDS_MAX = 64, ROOM = (1 << 20) + 4096, PATIENCE = 20 };

typedef struct input {
    unsigned char *p;
    size_t n;
} input;

static unsigned char now[ROOM];     /* the input that runs; the handler writes it */
static volatile size_t now_size;

static void keep_and_die(int signal_number)
{
    const int fd = open("fuzz-crash", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd >= 0 && write(fd, now, now_size) == (ssize_t)now_size) close(fd);
    static const char text[] = "the input is in fuzz-crash\n";
    if (write(2, text, sizeof text - 1) < 0) _exit(98);
    signal(signal_number, SIG_DFL);
    _exit(99);
}

static size_t cut(size_t n)
{
    return n < ROOM ? n : ROOM;
}

static void mutate(const input *seeds, int nseeds, abut_rng *rng)
{
    static const unsigned char extremes[][9] = { "\xff\xff\xff\xff\xff\xff\xff\xff", "\0\0\0\0\0\0\0\x80", "\xff\xff\xff\x7f",
                                                 "99999999", "-1      ", "1e999   ", "nan     ", "0x10    " };
    if (now_size < 2) return;
    const size_t at = 1 + abut_rng_below(rng, (uint32_t)now_size - 1), left = now_size - at;
    const size_t k = 1 + abut_rng_below(rng, (uint32_t)(left < 64 ? left : 64));
    switch (abut_rng_below(rng, 8)) {
    case 0: now[at] ^= (unsigned char)(1u << abut_rng_below(rng, 8)); break;
    case 1: now[at] = (unsigned char)abut_rng_next(rng); break;
    case 2: memcpy(now + at, extremes[abut_rng_below(rng, 8)], left < 8 ? left : 8); break;
    case 3: now[at] = (unsigned char)(now[at] + (abut_rng_below(rng, 2) ? 1 : -1)); break;
    case 4:     /* lose a piece */
        memmove(now + at, now + at + k, left - k);
        now_size -= k;
        break;
    case 5: {   /* a piece twice */
        const size_t n = cut(now_size + k) - now_size;
        memmove(now + at + n, now + at, left);
        now_size += n;
        break;
    }
    case 6: {   /* the end of another seed */
        const input *other = &seeds[abut_rng_below(rng, (uint32_t)nseeds)];
        const size_t from = abut_rng_below(rng, (uint32_t)other->n), n = cut(at + other->n - from) - at;
        memcpy(now + at, other->p + from, n);
        now_size = at + n;
        break;
    }
    case 7: now_size = at; break;
    }
}

static int write_seeds(const char *folder, const input *seeds, int n)
{
    for (int i = 0; i < n; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/seed-%d", folder, i);
        FILE *f = fopen(path, "wb");
        if (!f || fwrite(seeds[i].p, 1, seeds[i].n, f) != seeds[i].n || fclose(f)) return 5;
    }
    return 0;
}

static void run_input(void)
{
    /* a block of the exact size, so that a read past its end is seen */
    unsigned char *p = malloc(now_size ? now_size : 1);
    if (!p) abort();
    memcpy(p, now, now_size);
    alarm(PATIENCE);
    LLVMFuzzerTestOneInput(p, now_size);
    alarm(0);
    free(p);
}

static void hunt(const input *seeds, int n, double seconds)
{
    abut_rng rng = { 20 };
    const clock_t start = clock();
    long runs = 0;
    while ((double)(clock() - start) < seconds * CLOCKS_PER_SEC) {
        const input *seed = &seeds[abut_rng_below(&rng, (uint32_t)n)];
        memcpy(now, seed->p, seed->n);
        now_size = seed->n;
        for (uint32_t k = runs < n ? 0 : 1 + abut_rng_below(&rng, 5); k > 0; k--) mutate(seeds, n, &rng);
        run_input();
        runs++;
    }
    printf("%ld runs, nothing found\n", runs);
}

int main(int argc, char **argv)
{
    input seeds[SEEDS_MAX];
    int n = 0;
    if (argc < 3) return 2;
    const int caught[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGALRM };
    for (int i = 0; i < 5; i++) signal(caught[i], keep_and_die);
    if (!strcmp(argv[1], "--again")) {
        if (!fuzz_load(&seeds[0].p, &seeds[0].n, argv[2], 0)) return 3;
        memcpy(now, seeds[0].p + 1, now_size = seeds[0].n - 1);
        run_input();
        return 0;
    }
    const int writing = !strcmp(argv[1], "--seeds");
    for (int i = writing ? 3 : 2; i < argc && n < SEEDS_MAX; i++) n += fuzz_seed(&seeds[n].p, &seeds[n].n, argv[i]);
    if (!n) {
        fprintf(stderr, "%s: no seed among the files\n", argv[0]);
        return 3;
    }
    const int rc = writing ? write_seeds(argv[2], seeds, n) : (hunt(seeds, n, strtod(argv[1], NULL)), 0);
    for (int i = 0; i < n; i++) free(seeds[i].p);
    return rc;
}

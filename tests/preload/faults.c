/* Loaded before a program (LD_PRELOAD), it lets the system fail: for tests of what programs then say.
 *
 *   FAULT_MALLOC=N       the N-th allocation fails, counted from 0
 *   FAULT_MALLOC_FROM=N  it and all after it
 *   FAULT_EXIT=N         the N-th allocation ends the program with exit(1), as some libraries do
 *   FAULT_READ=N         the N-th read of a stream (fread, getc) fails with EIO, and all after it
 *   FAULT_COUNT=FILE     at the end FILE gets a line: allocations, reads
 *
 * Allocations during dlopen neither fail nor count: the start of Fortran's runtime, which OpenBLAS loads, calls itself without
 * end when it has no memory.
 *
 * glibc only: allocations go to __libc_malloc and its kin, and a failed read sets the error flag of the FILE. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

enum { NEVER = -1, ERROR_FLAG = 0x20 /* _IO_ERR_SEEN */ };

static atomic_long allocations, reads;
static long one = NEVER, from = NEVER, exit_at = NEVER, read_from = NEVER;
static int ready;
static _Thread_local int loading;     /* within dlopen */

static long number(const char *name)
{
    const char *v = getenv(name);
    return v && *v ? atol(v) : NEVER;
}

__attribute__((constructor)) static void begin(void)
{
    one = number("FAULT_MALLOC");
    from = number("FAULT_MALLOC_FROM");
    exit_at = number("FAULT_EXIT");
    read_from = number("FAULT_READ");
    ready = 1;
}

__attribute__((destructor)) static void end(void)
{
    char line[64];
    const char *file = getenv("FAULT_COUNT");
    const int fd = file ? open(file, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (fd < 0) return;
    const int n = snprintf(line, sizeof line, "%ld %ld\n", atomic_load(&allocations), atomic_load(&reads));
    if (write(fd, line, (size_t)n) != n) abort();
    close(fd);
}

static int refuses(void)
{
    if (!ready || loading) return 0;
    const long k = atomic_fetch_add(&allocations, 1);
    if (k == exit_at) exit(1);
    if (k != one && (from == NEVER || k < from)) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t n) { return refuses() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return refuses() ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return refuses() ? NULL : __libc_realloc(p, n); }
void *memalign(size_t align, size_t n) { return refuses() ? NULL : __libc_memalign(align, n); }
void *aligned_alloc(size_t align, size_t n) { return refuses() ? NULL : __libc_memalign(align, n); }
int posix_memalign(void **p, size_t align, size_t n)
{
    void *got = refuses() ? NULL : __libc_memalign(align, n);
    if (!got) return ENOMEM;
    *p = got;
    return 0;
}

void *dlopen(const char *name, int flags)
{
    static void *(*next)(const char *, int);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    loading++;
    void *library = next(name, flags);
    loading--;
    return library;
}

/* A read of f that fails leaves it in error. */
static int breaks(FILE *f)
{
    const long k = atomic_fetch_add(&reads, 1);
    if (read_from == NEVER || k < read_from) return 0;
    f->_flags |= ERROR_FLAG;
    errno = EIO;
    return 1;
}

size_t fread(void *to, size_t size, size_t n, FILE *f)
{
    static size_t (*next)(void *, size_t, size_t, FILE *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "fread");
    return breaks(f) ? 0 : next(to, size, n, f);
}

int getc(FILE *f)
{
    static int (*next)(FILE *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "getc");
    return breaks(f) ? EOF : next(f);
}

#define _DEFAULT_SOURCE      /* MAP_ANONYMOUS */
#include "math/blas.h"

#include <dlfcn.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LIBRARY "libopenblas.so.0"

/* OpenBLAS maps a buffer of address space for each of its threads at loading, one for calls, its code and CHOLMOD's.  If
 * the system refuses a buffer, OpenBLAS tries again for ever. */
static const size_t buffer = (size_t)128 << 20, code = (size_t)64 << 20;
enum { THREADS = 256 };

/* The threads that OpenBLAS will have: of the environment, at most as many as there are processors. */
static int threads_of_library(void)
{
    static const char *const name[] = { "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS" };
    int most = 0;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const char *const s = getenv(name[i]);
        const long n = s ? strtol(s, NULL, 10) : 0;
        if (n > most) most = n < THREADS ? (int)n : THREADS;
    }
    const int processors = omp_get_num_procs() < THREADS ? omp_get_num_procs() : THREADS;
    return most && most < processors ? most : processors;
}

/* Can n buffers and the code be mapped?  They are unmapped again. */
static int can_map(int n)
{
    void *at[THREADS + 2];
    int done = 0, ok = 1;
    while (ok && done <= n) {
        at[done] = mmap(NULL, done < n ? buffer : code, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ok = at[done] != MAP_FAILED;
        done += ok;
    }
    for (int i = 0; i < done; i++) munmap(at[i], i < n ? buffer : code);
    return ok;
}

abut_status abut_library_function(void *library, const char *name, void *function, abut_err *err)
{
    void *const at = dlsym(library, name);
    if (!at) return abut_fail(err, ABUT_E_IO, "the library that was loaded has no function %s", name);
    memcpy(function, &at, sizeof at);
    return ABUT_OK;
}

abut_status abut_library_open(void **library, const char *name, int all, const char *package, abut_err *err)
{
    *library = dlopen(name, RTLD_NOW | (all ? RTLD_GLOBAL : RTLD_LOCAL));
    if (*library) return ABUT_OK;
    const char *const why = dlerror();
    const int absent = !why || strstr(why, "No such file");
    return abut_fail(err, ABUT_E_IO, "%.150s%s%s", why ? why : name, absent ? ": install Debian's " : "", absent ? package : "");
}

/* The first call maps the buffer of calls: here, where it is known to fit. */
static void first_call(const abut_blas *b)
{
    const int n = 1;
    const double one = 1;
    double c = 1;
    #pragma omp parallel num_threads(1)
    {
        omp_set_num_threads(1);
        b->syrk("L", "T", &n, &n, &one, &one, &n, &one, &c, &n);
    }
}

abut_status abut_blas_open(abut_blas *b, abut_err *err)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
    const int loaded = library != NULL, threads = threads_of_library();
    if (!loaded && !can_map(threads + 1))
        return abut_fail(err, ABUT_E_NOMEM, "no memory for OpenBLAS, which maps %d MiB for each thread (%d) and for calls: raise "
                         "the limit of address space (ulimit -v)%s", (int)(buffer >> 20), threads,
                         threads > 1 ? ", or set OMP_NUM_THREADS=1" : "");
    abut_status rc = loaded ? ABUT_OK : abut_library_open(&library, LIBRARY, 1, "libopenblas0-openmp", err);
    if (!rc) rc = abut_library_function(library, "dgemm_", &b->gemm, err);
    if (!rc) rc = abut_library_function(library, "dsyrk_", &b->syrk, err);
    if (!rc) rc = abut_library_function(library, "dtrsm_", &b->trsm, err);
    if (!rc) rc = abut_library_function(library, "dtrsv_", &b->trsv, err);
    if (!rc) rc = abut_library_function(library, "dpotrf_", &b->potrf, err);
    if (!rc && !loaded) first_call(b);
    return rc;
}

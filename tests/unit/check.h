/* A unit test program: TEST(name) { CHECK(...); }  int main(int c, char **v) { check_begin(c, v); RUN(name); return
 * check_done(); }
 * TAP on stdout; an argument runs only the tests whose name contains it.  A name is a claim. */
#ifndef ABUT_TESTS_CHECK_H
#define ABUT_TESTS_CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_bad, check_count, check_failed;
static const char *check_filter;

#define TEST(name) static void name(void)
#define CHECK(cond) \
    do { \
        if (!(cond)) check_bad++, printf("# %s:%d: %s\n", __FILE__, __LINE__, #cond); \
    } while (0)
/* |a - b| <= tol, which a NaN never is */
#define CHECK_NEAR(a, b, tol) \
    do { \
        const double va_ = (a), vb_ = (b), vt_ = (tol); \
        if (!(fabs(va_ - vb_) <= vt_)) \
            check_bad++, printf("# %s:%d: %s = %.17g, %s = %.17g, off by %.3g > %.3g\n", __FILE__, __LINE__, #a, va_, \
                                #b, vb_, fabs(va_ - vb_), vt_); \
    } while (0)
#define RUN(name) check_run(#name, name)

static inline void check_run(const char *name, void (*test)(void))
{
    if (check_filter && !strstr(name, check_filter)) return;
    check_bad = 0;
    test();
    printf("%sok %d - %s\n", check_bad ? "not " : "", ++check_count, name);
    check_failed += check_bad > 0;
    fflush(stdout);
}

static inline void check_begin(int argc, char **argv)
{
    check_filter = argc > 1 ? argv[1] : NULL;
}

/* How often a random claim is tried: `few` times, `many` when ABUT_LONG is set (make check-long). */
static inline int check_runs(int few, int many)
{
    const char *v = getenv("ABUT_LONG");
    return v && *v && strcmp(v, "0") ? many : few;
}

static inline int check_done(void)
{
    printf("1..%d\n", check_count);
    return check_failed > 0;
}

#endif

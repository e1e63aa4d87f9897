/* A unit test program is a list of TEST(name) { CHECK(...); }, each of which runs by being there, in the order of the file.
 * SETUP { ... } and TEARDOWN { ... } run before and after all of them.  main is here; with CHECK_OWN_MAIN defined before this is
 * included it is the program's, and calls check_all.
 * SLOW_TEST(name) takes more than about a second: `make check`, which sets ABUT_FAST, leaves it to `make check-all`.
 * TAP on stdout; an argument runs only the tests whose name contains it.  A name is a claim.  What cannot be tried here is left
 * by SKIP("why"), and counts as skipped. */
#ifndef ABUT_TESTS_CHECK_H
#define ABUT_TESTS_CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_bad, check_count, check_failed;
static const char *check_filter;
static char check_skipped[1100];     /* why the test is skipped */

enum { CHECK_MOST = 256 };
static struct check_test {
    const char *name;
    void (*run)(void);
    int line, slow;
} check_list[CHECK_MOST];
static int check_tests;
static void (*check_before)(void), (*check_after)(void);

static inline void check_enter(const char *name, void (*run)(void), int line, int slow)
{
    if (check_tests == CHECK_MOST) abort();
    int at = check_tests++;     /* constructors run in no order that a standard promises */
    for (; at > 0 && check_list[at - 1].line > line; at--) check_list[at] = check_list[at - 1];
    check_list[at] = (struct check_test){ name, run, line, slow };
}

#define CHECK_AT_START __attribute__((constructor)) static void
#define CHECK_ENTER(name, slow) \
    static void name(void); \
    CHECK_AT_START name##_enter(void) { check_enter(#name, name, __LINE__, slow); } \
    static void name(void)
#define TEST(name)      CHECK_ENTER(name, 0)
#define SLOW_TEST(name) CHECK_ENTER(name, 1)
#define SETUP \
    static void check_setup(void); \
    CHECK_AT_START check_setup_enter(void) { check_before = check_setup; } \
    static void check_setup(void)
#define TEARDOWN \
    static void check_teardown(void); \
    CHECK_AT_START check_teardown_enter(void) { check_after = check_teardown; } \
    static void check_teardown(void)
#define SKIP(...) \
    do { \
        snprintf(check_skipped, sizeof check_skipped, __VA_ARGS__); \
        return; \
    } while (0)
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
static inline void check_run(const struct check_test *t)
{
    if (check_filter && !strstr(t->name, check_filter)) return;
    check_bad = 0;
    check_skipped[0] = 0;
    t->run();
    printf("%sok %d - %s%s%s\n", check_bad ? "not " : "", ++check_count, t->name, check_skipped[0] ? " # SKIP " : "",
           check_skipped);
    check_failed += check_bad > 0;
    fflush(stdout);
}

/* Whether the variable of the environment is set, to another value than 0. */
static inline int check_is_set(const char *variable)
{
    const char *v = getenv(variable);
    return v && *v && strcmp(v, "0");
}

/* How often a random claim is tried: `few` times, `many` when ABUT_LONG is set (make check-long). */
static inline int check_runs(int few, int many) { return check_is_set("ABUT_LONG") ? many : few; }

/* Runs all tests; returns the exit status of the program. */
static inline int check_all(int argc, char **argv)
{
    check_filter = argc > 1 ? argv[1] : NULL;
    if (check_before) check_before();
    for (int i = 0; i < check_tests; i++)
        if (!check_list[i].slow || !check_is_set("ABUT_FAST")) check_run(&check_list[i]);
    if (check_after) check_after();
    printf("1..%d\n", check_count);
    return check_failed > 0;
}

#ifndef CHECK_OWN_MAIN
int main(int argc, char **argv) { return check_all(argc, argv); }
#endif

#endif

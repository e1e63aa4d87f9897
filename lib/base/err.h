/* Status and message of a call that can fail.  Every fallible function returns an abut_status and takes
 * an abut_err last; the message names what failed, where, the number found and what was expected. */
#ifndef ABUT_BASE_ERR_H
#define ABUT_BASE_ERR_H

#if defined(__GNUC__)
#define ABUT_MUST_USE __attribute__((warn_unused_result))
#define ABUT_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define ABUT_MUST_USE
#define ABUT_PRINTF(f, a)
#endif

/* Between these two a header declares the public functions, for C and C++; the shared library exports no other names. */
#if defined(__GNUC__)
#define ABUT_VISIBLE _Pragma("GCC visibility push(default)")
#define ABUT_HIDDEN _Pragma("GCC visibility pop")
#else
#define ABUT_VISIBLE
#define ABUT_HIDDEN
#endif
#ifdef __cplusplus
#define ABUT_PUBLIC_BEGIN ABUT_VISIBLE extern "C" {
#define ABUT_PUBLIC_END } ABUT_HIDDEN
#else
#define ABUT_PUBLIC_BEGIN ABUT_VISIBLE
#define ABUT_PUBLIC_END ABUT_HIDDEN
#endif

ABUT_PUBLIC_BEGIN

typedef enum abut_status {
    ABUT_OK = 0,
    ABUT_E_ARG,     /* a caller's option or argument is wrong: exit code 2      */
    ABUT_E_NOMEM,   /* no memory left: exit code 5                              */
    ABUT_E_IO,      /* the system refused to read or write: exit code 5         */
    ABUT_E_FORMAT,  /* a file or stream says something unusable: exit code 3    */
    ABUT_E_GEOM,    /* geometry that cannot be simulated (inverted, touching): exit code 3 */
    ABUT_E_NUMERIC  /* a solver gave up: exit code 4                            */
} abut_status;

/* The caller's, one per thread; zero-filled is "no error". */
typedef struct abut_err {
    abut_status code;
    char msg[1024];
} abut_err;

/** Records code and message (printf-style) in err (NULL to skip) and returns code. */
abut_status abut_fail(abut_err *err, abut_status code, const char *fmt, ...) ABUT_PRINTF(3, 4);

/** Fails with ABUT_E_NOMEM: "what: out of memory". */
abut_status abut_no_memory(const char *what, abut_err *err);

/** The status of a file that cannot be opened, by errno: ABUT_E_IO where the system lacks memory or descriptors, ABUT_E_FORMAT
 * where the file is not there, not readable, or no file. */
abut_status abut_open_status(int number);

/** Puts "context: " before the message already in err and returns its code, unchanged. */
abut_status abut_wrap(abut_err *err, const char *fmt, ...) ABUT_PRINTF(2, 3);

ABUT_PUBLIC_END

#endif

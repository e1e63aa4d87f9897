/* The little of HTTP/1.1 (RFC 9112) that a page on the loopback address needs: requests without a body, GET and HEAD alone. */
#ifndef ABUT_TOOLS_WATCH_HTTP_H
#define ABUT_TOOLS_WATCH_HTTP_H

#include <stddef.h>
#include <stdio.h>

enum { ABUT_HTTP_REQUEST_MAX = 8192, ABUT_HTTP_TARGET_MAX = 256 };

typedef struct abut_http_request {
    int head_only;                              /* HEAD */
    char target[ABUT_HTTP_TARGET_MAX];          /* "/status?frames=3", 0-terminated */
} abut_http_request;

/** Reads the n bytes received so far.  Returns 0 if more must come, 200 if the request is complete and valid, else the status of
 * the refusal: 400 no HTTP request, or no host; 403 a host other than 127.0.0.1 or localhost at this port, as in requests of
 * pages of other sites whose names lead here; 405 another method; 413 a body; 414, 431 target or head too long; 505 another
 * version. */
int abut_http_read(const char *bytes, size_t n, int port, abut_http_request *r);

/** Returns the value of `key` in the query of a target, a decimal number from 0 to 2^31 - 1; -1 if there is no such number. */
long abut_http_number(const char *target, const char *key);

/** Status line and headers of an answer with a body of n bytes; the connection ends with it. */
void abut_http_head(FILE *f, int status, const char *type, size_t n);

#endif

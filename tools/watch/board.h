/* Data that a page may request, written by one thread and read by another: models, frames, lines of the report, the end.
 * Texts are kept in memory, blocks in a temporary file without a name. */
#ifndef ABUT_TOOLS_WATCH_BOARD_H
#define ABUT_TOOLS_WATCH_BOARD_H

#include "formats/html/page_data.h"

typedef struct abut_board abut_board;

/** page: borrowed.  Fails  ABUT_E_IO no temporary file; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_board_open(const abut_text_file *page, abut_board **b, abut_err *err);
void abut_board_free(abut_board **b);

/* Functions for the thread that reads the stream. */
/** Takes a copy of a model (is_model) or frame.  Fails  ABUT_E_IO the disk is full; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_board_put(abut_board *b, int is_model, const abut_page_item *item, abut_err *err);
/** Sets the JSON of abut_page_head, once the history of the stream is known.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_board_head(abut_board *b, const char *json, abut_err *err);
/** Adds a line of the report.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_board_report(abut_board *b, const char *line, abut_err *err);
/** Marks the board as complete, with the reason: "ended: 100 frames". */
void abut_board_end(abut_board *b, const char *message);

/* Functions for the thread that answers. */
/** Returns the answer to a valid request, head and body, malloc'ed; *n: its length; NULL: no memory. */
char *abut_board_answer(abut_board *b, const char *target, int head_only, size_t *n);
/** Returns a short answer that says why a request is refused. */
char *abut_board_refuse(int status, size_t *n);

/* The little of HTTP/1.1 (RFC 9112) that a page on the loopback address needs: requests without a body, GET and HEAD alone. */

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

#endif

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

#endif
